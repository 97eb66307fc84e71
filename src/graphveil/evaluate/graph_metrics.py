"""The metrics of graphs."""

from __future__ import annotations

from graphveil.data import Graph
from graphveil.evaluate import betweenness, communities, degrees, edges, paths, searches, shape
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import Metric

PROBLEM = "de Jong et al., The anonymization problem in social networks"
TOP_M = "Nguyen, Imine & Rusinowitch, Top-m Filter"

GRAPH_METRICS: tuple[Metric[GraphComparison], ...] = (
    Metric(
        name="edges-kept",
        kind=Graph,
        direction="higher is better",
        definition="original edges that stand in the release, too",
        source=PROBLEM,
        needs_linkage=True,
        cost="near-linear",
        compute=edges.kept,
    ),
    Metric(
        name="edges-added",
        kind=Graph,
        direction="lower is better",
        definition="released edges that are not in the original",
        source="Liu & Terzi, SIGMOD 2008",
        needs_linkage=True,
        cost="near-linear",
        compute=edges.added,
    ),
    Metric(
        name="edges-removed",
        kind=Graph,
        direction="lower is better",
        definition="original edges that are not in the release",
        source=PROBLEM,
        needs_linkage=True,
        cost="near-linear",
        compute=edges.removed,
    ),
    Metric(
        name="edge-jaccard",
        kind=Graph,
        direction="higher is better",
        definition="edges in both graphs over edges in either; 1 if there are none",
        source="Jaccard 1912",
        needs_linkage=True,
        cost="near-linear",
        compute=edges.jaccard,
    ),
    Metric(
        name="edge-edit-distance",
        kind=Graph,
        direction="lower is better",
        definition="edges to add and to delete that lead from the original to the release; a "
        "rewiring of two edges is 4",
        source=PROBLEM,
        needs_linkage=True,
        cost="near-linear",
        compute=edges.edit_distance,
    ),
    Metric(
        name="degree-distribution",
        kind=Graph,
        direction="lower is better",
        definition="distance between the degree distributions: half the sum of absolute "
        "differences, and the largest difference of the cumulative ones",
        source="Nguyen, Imine & Rusinowitch (half L1)",
        needs_linkage=False,
        cost="linear",
        compute=shape.degree_distribution,
        compute_mean=shape.mean_degree_distribution,
    ),
    Metric(
        name="mean-degree",
        kind=Graph,
        direction="lower is better",
        definition="mean degree, nodes without edges included, before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="linear",
        compute=degrees.mean_degree,
    ),
    Metric(
        name="largest-degree",
        kind=Graph,
        direction="lower is better",
        definition="largest degree, before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="linear",
        compute=degrees.largest_degree,
    ),
    Metric(
        name="degree-variance",
        kind=Graph,
        direction="lower is better",
        definition="population variance of degrees, before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="linear",
        compute=degrees.degree_variance,
    ),
    Metric(
        name="power-law",
        kind=Graph,
        direction="lower is better",
        definition="exponent of the power law nearest to the degrees above 0 (Kolmogorov-Smirnov, "
        "over all least degrees), before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="near-linear",
        compute=degrees.power_law,
    ),
    Metric(
        name="transitivity",
        kind=Graph,
        direction="lower is better",
        definition="three times the triangles over the wedges, before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="near-linear",
        compute=degrees.transitivity,
    ),
    Metric(
        name="assortativity",
        kind=Graph,
        direction="lower is better",
        definition="correlation of the degrees at the two ends of an edge, before and after",
        source="Newman 2002",
        needs_linkage=False,
        cost="linear",
        compute=shape.assortativity,
    ),
    Metric(
        name="clustering",
        kind=Graph,
        direction="lower is better",
        definition="average local clustering coefficient (degree below 2 counts as 0), before "
        "and after",
        source="Watts & Strogatz 1998",
        needs_linkage=False,
        cost="near-linear",
        compute=shape.clustering,
    ),
    Metric(
        name="largest-component",
        kind=Graph,
        direction="lower is better",
        definition="share of nodes in the largest connected component, before and after",
        source=PROBLEM,
        needs_linkage=False,
        cost="linear",
        compute=shape.largest_component,
    ),
    Metric(
        name="shortest-path",
        kind=Graph,
        direction="lower is better",
        definition="average length of a shortest path over all pairs of nodes that a path joins, "
        f"before and after; exact up to {searches.EXACT_UP_TO_NODES:,} nodes, above from "
        f"{searches.SAMPLED_SOURCES:,} sampled sources, with a 95 % interval",
        source=PROBLEM,
        needs_linkage=False,
        cost="near-linear",
        compute=paths.shortest_path,
    ),
    Metric(
        name="characteristic-length",
        kind=Graph,
        direction="lower is better",
        definition="harmonic mean of the distances of all pairs of nodes that a path joins, "
        "before and after; sampled as shortest-path",
        source=TOP_M,
        needs_linkage=False,
        cost="near-linear",
        compute=paths.characteristic_length,
    ),
    Metric(
        name="effective-diameter",
        kind=Graph,
        direction="lower is better",
        definition="least whole distance within which 90 % of the pairs that a path joins are, "
        "before and after; sampled as shortest-path",
        source=TOP_M,
        needs_linkage=False,
        cost="near-linear",
        compute=paths.effective_diameter,
    ),
    Metric(
        name="diameter",
        kind=Graph,
        direction="lower is better",
        definition="largest distance of two nodes that a path joins, before and after; a lower "
        "bound where it is sampled as shortest-path",
        source=TOP_M,
        needs_linkage=False,
        cost="near-linear",
        compute=paths.diameter,
    ),
    Metric(
        name="distance-distribution",
        kind=Graph,
        direction="lower is better",
        definition="half the sum of absolute differences of the distributions of distances over "
        "pairs that a path joins; sampled as shortest-path",
        source=TOP_M,
        needs_linkage=False,
        cost="near-linear",
        compute=paths.distance_distribution,
        compute_mean=paths.mean_distance_distribution,
    ),
    Metric(
        name="betweenness",
        kind=Graph,
        direction="higher is better",
        definition=f"overlap of the {betweenness.TOP} nodes of highest betweenness, ties for the "
        f"last ranks shared evenly; exact where nodes times edges are at most "
        f"{betweenness.EXACT_UP_TO:,}, above estimated from {betweenness.PIVOTS:,} pivots",
        source=f"{PROBLEM}; Brandes 2001; Geisberger, Sanders & Schultes 2008",
        needs_linkage=True,
        cost="heavy",
        compute=betweenness.overlap,
    ),
    Metric(
        name="communities",
        kind=Graph,
        direction="higher is better",
        definition="normalized mutual information (NMI) of the communities before and after; "
        f"each the consensus of {communities.RUNS} Leiden runs",
        source=f"{PROBLEM}; Traag et al. 2019; Lancichinetti & Fortunato 2012",
        needs_linkage=True,
        cost="heavy",
        compute=communities.agreement,
    ),
)
