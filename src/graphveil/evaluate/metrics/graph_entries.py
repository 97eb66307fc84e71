"""Metrics of graphs: definition, unit, direction and source of each."""

from __future__ import annotations

from functools import partial

from graphveil.core.text import number, per_hundred
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.distances import EXACT_UP_TO_NODES, SAMPLED_SOURCES
from graphveil.evaluate.metric import Metric, Said, percent_of_others

GRAPHLET_PATHS = 200_000
"""How many 3-paths are drawn; where a graph has no more, all are looked at."""

DAMPING = 0.85

BETWEENNESS_TOP, BETWEENNESS_EXACT_UP_TO, BETWEENNESS_PIVOTS = 100, 100_000_000, 1_024
"""Who is most central; the most nodes times edges up to which scores are exact; above, pivots."""

COMMUNITY_RUNS, MODULARITY_RUNS = 10, 10

PROBLEM = "de Jong et al., The anonymization problem in social networks"
TOP_M = "Nguyen, Imine & Rusinowitch, Top-m Filter"

_graph = partial(Metric[GraphComparison], kind=Graph, direction="lower is better")

GRAPH_METRICS: tuple[Metric[GraphComparison], ...] = (
    _graph(
        name="edges-kept",
        direction="higher is better",
        definition="original edges that are also in the release",
        source=PROBLEM,
        needs_linkage=True,
        compute="metrics.edges.kept",
        as_sample="every part",
        said=Said(
            "edges kept",
            "share",
            "of the original edges",
            place=1,
            ending=" are kept",
            headline=True,
        ),
    ),
    _graph(
        name="edges-added",
        definition="released edges that are not in the original",
        source="Liu & Terzi, SIGMOD 2008",
        needs_linkage=True,
        compute="metrics.edges.added",
        said=Said(
            "false edges",
            "share",
            "of the released edges",
            place=2,
            ending=" are false",
            headline=True,
        ),
    ),
    _graph(
        name="edges-removed",
        definition="original edges that are not in the release",
        source=PROBLEM,
        needs_linkage=True,
        compute="metrics.edges.removed",
        as_sample="every part",
    ),
    _graph(
        name="edge-jaccard",
        direction="higher is better",
        definition="edges in both graphs divided by edges in either; 1 if there are none",
        source="Jaccard 1912",
        needs_linkage=True,
        compute="metrics.edges.jaccard",
        as_sample="every part",
    ),
    _graph(
        name="edge-edit-distance",
        definition="number of edges to add and to delete to get from the original to the "
        "release; a rewiring of two edges counts 4",
        source=PROBLEM,
        needs_linkage=True,
        compute="metrics.edges.edit_distance",
        as_sample="every part",
    ),
    _graph(
        name="degree-distribution",
        definition="distance between the degree distributions: half the sum of absolute "
        "differences, and the largest difference of the cumulative ones",
        source="Nguyen, Imine & Rusinowitch (half L1)",
        cost="linear",
        compute="metrics.degrees.degree_distribution",
        compute_mean="metrics.degrees.mean_degree_distribution",
        as_sample="every part",
        said=Said(
            "degrees",
            "half L1",
            "of the nodes, at least, have a different degree than before",
            place=5,
        ),
    ),
    _graph(
        name="mean-degree",
        definition="mean degree, nodes without edges included, before and after",
        source=TOP_M,
        cost="linear",
        compute="metrics.degrees.mean_degree",
        as_sample="every part",
    ),
    _graph(
        name="largest-degree",
        definition="largest degree, before and after",
        source=TOP_M,
        cost="linear",
        compute="metrics.degrees.largest_degree",
        as_sample="every part",
    ),
    _graph(
        name="degree-variance",
        definition="population variance of degrees, before and after",
        source=TOP_M,
        cost="linear",
        compute="metrics.degrees.degree_variance",
        as_sample="every part",
    ),
    _graph(
        name="power-law",
        definition="exponent of the power law that best fits the degrees above 0 "
        "(Kolmogorov-Smirnov, over all minimum degrees), before and after",
        source=TOP_M,
        compute="metrics.degrees.power_law",
    ),
    _graph(
        name="transitivity",
        definition="three times the number of triangles divided by the number of wedges, before "
        "and after",
        source=TOP_M,
        compute="metrics.structure.transitivity",
    ),
    _graph(
        name="triangles",
        definition="number of triangles, before and after",
        source="Watts & Strogatz 1998",
        compute="metrics.structure.triangles",
    ),
    _graph(
        name="wedges",
        definition="number of pairs of edges that share a node, before and after",
        source="Seshadhri, Pinar & Kolda 2014",
        cost="linear",
        compute="metrics.structure.wedges",
        as_sample="every part",
    ),
    _graph(
        name="graphlets",
        definition="shares of the six connected graphs on four nodes among all connected sets of "
        "four nodes, before and after; also half the sum of absolute differences. Exact up to "
        f"{GRAPHLET_PATHS:,} 3-paths, above that estimated from that many sampled uniformly",
        source="Jha, Seshadhri & Pinar 2015",
        compute="metrics.graphlets.compared",
        compute_mean="metrics.graphlets.mean_compared",
    ),
    _graph(
        name="core-numbers",
        definition="distance between the distributions of core numbers: the largest difference of "
        "the cumulative ones",
        source="Seidman 1983; Kolmogorov-Smirnov distance",
        compute="metrics.centrality.core_distribution",
        compute_mean="metrics.centrality.mean_core_distribution",
    ),
    _graph(
        name="core-correlation",
        direction="higher is better",
        definition="rank correlation of the nodes' core numbers before and after",
        source="Seidman 1983; Spearman 1904",
        needs_linkage=True,
        compute="metrics.centrality.core_correlation",
    ),
    _graph(
        name="spectral-radius",
        definition="largest eigenvalue of the adjacency matrix, before and after",
        source="Ying & Wu, SDM 2008",
        compute="metrics.spectra.radius",
    ),
    _graph(
        name="spectral-gap",
        definition="second-smallest eigenvalue of the normalized Laplacian of the largest "
        "component, before and after",
        source="Chung 1997",
        compute="metrics.spectra.gap",
    ),
    _graph(
        name="pagerank-correlation",
        direction="higher is better",
        definition=f"rank correlation of the nodes' PageRank (damping {DAMPING}) before and after",
        source="Page et al. 1999; Spearman 1904",
        needs_linkage=True,
        compute="metrics.centrality.pagerank_correlation",
    ),
    _graph(
        name="eigenvector-correlation",
        direction="higher is better",
        definition="rank correlation of the nodes' entries in the leading eigenvector of the "
        "adjacency matrix before and after",
        source="Bonacich 1972; Spearman 1904",
        needs_linkage=True,
        compute="metrics.centrality.eigenvector_correlation",
    ),
    _graph(
        name="assortativity",
        definition="correlation of the degrees at the two ends of an edge, before and after",
        source="Newman 2002",
        cost="linear",
        compute="metrics.degrees.assortativity",
    ),
    _graph(
        name="clustering",
        definition="average local clustering coefficient (degree below 2 counts as 0), before "
        "and after",
        source="Watts & Strogatz 1998",
        compute="metrics.structure.clustering",
        said=Said(
            "clustering",
            {"released": "original"},
            "of pairs of neighbors of a node are connected",
            place=6,
        ),
    ),
    _graph(
        name="largest-component",
        definition="share of nodes in the largest connected component, before and after",
        source=PROBLEM,
        cost="linear",
        compute="metrics.structure.largest_component",
        as_sample="every part",
        said=Said(
            "connectivity",
            {"released": "original"},
            "of the nodes are outside the largest connected component",
            place=10,
            spelled=percent_of_others,
        ),
    ),
    _graph(
        name="shortest-path",
        definition="average length of a shortest path over all connected pairs of nodes, before "
        f"and after; exact up to {EXACT_UP_TO_NODES:,} nodes, above that from "
        f"{SAMPLED_SOURCES:,} sampled sources, with a 95% interval",
        source=PROBLEM,
        compute="metrics.path_lengths.shortest_path",
        said=Said(
            "distances",
            {"released": "original"},
            "hops between two nodes on average",
            place=9,
            spelled=number,
        ),
    ),
    _graph(
        name="characteristic-length",
        definition="harmonic mean of the distances between all connected pairs of nodes, before "
        "and after; sampled as in shortest-path",
        source=TOP_M,
        compute="metrics.path_lengths.characteristic_length",
    ),
    _graph(
        name="effective-diameter",
        definition="smallest integer distance that covers 90% of the connected pairs of nodes, "
        "before and after; sampled as in shortest-path",
        source=TOP_M,
        compute="metrics.path_lengths.effective_diameter",
    ),
    _graph(
        name="diameter",
        definition="largest distance between two connected nodes, before and after; a lower "
        "bound if sampled as in shortest-path",
        source=TOP_M,
        compute="metrics.path_lengths.diameter",
    ),
    _graph(
        name="distance-distribution",
        definition="half the sum of absolute differences between the distributions of distances "
        "over connected pairs of nodes; sampled as in shortest-path",
        source=TOP_M,
        compute="metrics.path_lengths.distance_distribution",
        compute_mean="metrics.path_lengths.mean_distance_distribution",
    ),
    _graph(
        name="betweenness",
        direction="higher is better",
        definition=f"overlap of the {BETWEENNESS_TOP} nodes of highest betweenness, with equal "
        "values for the last ranks shared evenly; exact if nodes times edges is at most "
        f"{BETWEENNESS_EXACT_UP_TO:,}, above that estimated from {BETWEENNESS_PIVOTS:,} pivots",
        source=f"{PROBLEM}; Brandes 2001; Geisberger, Sanders & Schultes 2008",
        needs_linkage=True,
        cost="heavy",
        compute="metrics.betweenness.overlap",
        said=Said(
            "betweenness",
            {"overlap": "by chance"},
            "of the {top:,} most central people still are",
            place=8,
            beside="; by chance {}",
        ),
    ),
    _graph(
        name="communities",
        direction="higher is better",
        definition="normalized mutual information (NMI) of the communities before and after; "
        f"each is the consensus of {COMMUNITY_RUNS} Leiden runs",
        source=f"{PROBLEM}; Traag et al. 2019; Lancichinetti & Fortunato 2012",
        needs_linkage=True,
        cost="heavy",
        compute="metrics.communities.agreement",
        said=Said(
            "communities",
            {"released against original": "original against itself"},
            "of 100: agreement (NMI) with the original",
            place=7,
            beside="; two runs on the original: {}",
            spelled=per_hundred,
        ),
    ),
    _graph(
        name="modularity",
        definition="modularity of each graph's own communities, before and after; median of "
        f"{MODULARITY_RUNS} Leiden runs",
        source="Newman & Girvan 2004; Traag et al. 2019",
        cost="heavy",
        compute="metrics.communities.of_own_communities",
    ),
)
