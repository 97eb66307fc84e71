"""The table of metrics: each with kind of data, unit, direction, definition and source.

The metrics of graphs.

The metrics of user-feature data.

The metrics of networks: directions of ties, and attributes of people.

Metrics of tables: entries that say what each number is.

Metrics of tasks: what readers of a release can do with it, tested on held-back people.
"""

from __future__ import annotations

from typing import Any

from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.evaluate.comparison import (
    BETWEENNESS_EXACT_UP_TO,
    BETWEENNESS_PIVOTS,
    BETWEENNESS_TOP,
    COMMUNITY_RUNS,
    DAMPING,
    EXACT_UP_TO_NODES,
    FACTORS,
    GRAPHLET_PATHS,
    HIDDEN_UNITS,
    MODULARITY_RUNS,
    RECOMMENDED,
    SAMPLED_SOURCES,
    TOP_PAIRS,
    BipartiteComparison,
    GraphComparison,
    NetworkComparison,
    TableComparison,
)
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
        compute="metrics.shape.kept",
        as_sample="every part",
    ),
    Metric(
        name="edges-added",
        kind=Graph,
        direction="lower is better",
        definition="released edges that are not in the original",
        source="Liu & Terzi, SIGMOD 2008",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.shape.added",
    ),
    Metric(
        name="edges-removed",
        kind=Graph,
        direction="lower is better",
        definition="original edges that are not in the release",
        source=PROBLEM,
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.shape.removed",
        as_sample="every part",
    ),
    Metric(
        name="edge-jaccard",
        kind=Graph,
        direction="higher is better",
        definition="edges in both graphs over edges in either; 1 if there are none",
        source="Jaccard 1912",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.shape.jaccard",
        as_sample="every part",
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
        compute="metrics.shape.edit_distance",
        as_sample="every part",
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
        compute="metrics.shape.degree_distribution",
        compute_mean="metrics.shape.mean_degree_distribution",
        as_sample="every part",
    ),
    Metric(
        name="mean-degree",
        kind=Graph,
        direction="lower is better",
        definition="mean degree, nodes without edges included, before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="linear",
        compute="metrics.shape.mean_degree",
        as_sample="every part",
    ),
    Metric(
        name="largest-degree",
        kind=Graph,
        direction="lower is better",
        definition="largest degree, before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="linear",
        compute="metrics.shape.largest_degree",
        as_sample="every part",
    ),
    Metric(
        name="degree-variance",
        kind=Graph,
        direction="lower is better",
        definition="population variance of degrees, before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="linear",
        compute="metrics.shape.degree_variance",
        as_sample="every part",
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
        compute="metrics.shape.power_law",
    ),
    Metric(
        name="transitivity",
        kind=Graph,
        direction="lower is better",
        definition="three times the triangles over the wedges, before and after",
        source=TOP_M,
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.shape.transitivity",
    ),
    Metric(
        name="triangles",
        kind=Graph,
        direction="lower is better",
        definition="triangles, before and after",
        source="Watts & Strogatz 1998",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.shape.triangles",
    ),
    Metric(
        name="wedges",
        kind=Graph,
        direction="lower is better",
        definition="pairs of edges that share a node, before and after",
        source="Seshadhri, Pinar & Kolda 2014",
        needs_linkage=False,
        cost="linear",
        compute="metrics.shape.wedges",
        as_sample="every part",
    ),
    Metric(
        name="graphlets",
        kind=Graph,
        direction="lower is better",
        definition="the share of each of the six connected graphs of four nodes among all sets of "
        "four nodes that are connected, before and after, and half the sum of absolute "
        f"differences; exact up to {GRAPHLET_PATHS:,} 3-paths, above from so many drawn evenly",
        source="Jha, Seshadhri & Pinar 2015",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.graphlets.compared",
        compute_mean="metrics.graphlets.mean_compared",
    ),
    Metric(
        name="core-numbers",
        kind=Graph,
        direction="lower is better",
        definition="distance between the distributions of core numbers: the largest difference of "
        "the cumulative ones",
        source="Seidman 1983; Kolmogorov-Smirnov distance",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.centrality.core_distribution",
        compute_mean="metrics.centrality.mean_core_distribution",
    ),
    Metric(
        name="core-correlation",
        kind=Graph,
        direction="higher is better",
        definition="rank correlation of people's core numbers before and after",
        source="Seidman 1983; Spearman 1904",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.centrality.core_correlation",
    ),
    Metric(
        name="spectral-radius",
        kind=Graph,
        direction="lower is better",
        definition="largest eigenvalue of the adjacency matrix, before and after",
        source="Ying & Wu, SDM 2008",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.centrality.radius",
    ),
    Metric(
        name="spectral-gap",
        kind=Graph,
        direction="lower is better",
        definition="second-smallest eigenvalue of the normalized Laplacian of the largest "
        "component, before and after",
        source="Chung 1997",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.centrality.gap",
    ),
    Metric(
        name="pagerank-correlation",
        kind=Graph,
        direction="higher is better",
        definition=f"rank correlation of people's PageRank (damping {DAMPING}) before and after",
        source="Page et al. 1999; Spearman 1904",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.centrality.pagerank_correlation",
    ),
    Metric(
        name="eigenvector-correlation",
        kind=Graph,
        direction="higher is better",
        definition="rank correlation of people's entries in the leading eigenvector of the "
        "adjacency matrix before and after",
        source="Bonacich 1972; Spearman 1904",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.centrality.eigenvector_correlation",
    ),
    Metric(
        name="assortativity",
        kind=Graph,
        direction="lower is better",
        definition="correlation of the degrees at the two ends of an edge, before and after",
        source="Newman 2002",
        needs_linkage=False,
        cost="linear",
        compute="metrics.shape.assortativity",
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
        compute="metrics.shape.clustering",
    ),
    Metric(
        name="largest-component",
        kind=Graph,
        direction="lower is better",
        definition="share of nodes in the largest connected component, before and after",
        source=PROBLEM,
        needs_linkage=False,
        cost="linear",
        compute="metrics.shape.largest_component",
        as_sample="every part",
    ),
    Metric(
        name="shortest-path",
        kind=Graph,
        direction="lower is better",
        definition="average length of a shortest path over all pairs of nodes that a path joins, "
        f"before and after; exact up to {EXACT_UP_TO_NODES:,} nodes, above from "
        f"{SAMPLED_SOURCES:,} sampled sources, with a 95 % interval",
        source=PROBLEM,
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.paths.shortest_path",
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
        compute="metrics.paths.characteristic_length",
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
        compute="metrics.paths.effective_diameter",
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
        compute="metrics.paths.diameter",
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
        compute="metrics.paths.distance_distribution",
        compute_mean="metrics.paths.mean_distance_distribution",
    ),
    Metric(
        name="betweenness",
        kind=Graph,
        direction="higher is better",
        definition=f"overlap of the {BETWEENNESS_TOP} nodes of highest betweenness, ties for the "
        f"last ranks shared evenly; exact where nodes times edges are at most "
        f"{BETWEENNESS_EXACT_UP_TO:,}, above estimated from {BETWEENNESS_PIVOTS:,} pivots",
        source=f"{PROBLEM}; Brandes 2001; Geisberger, Sanders & Schultes 2008",
        needs_linkage=True,
        cost="heavy",
        compute="metrics.centrality.overlap",
    ),
    Metric(
        name="communities",
        kind=Graph,
        direction="higher is better",
        definition="normalized mutual information (NMI) of the communities before and after; "
        f"each the consensus of {COMMUNITY_RUNS} Leiden runs",
        source=f"{PROBLEM}; Traag et al. 2019; Lancichinetti & Fortunato 2012",
        needs_linkage=True,
        cost="heavy",
        compute="metrics.communities.agreement",
    ),
    Metric(
        name="modularity",
        kind=Graph,
        direction="lower is better",
        definition="modularity of each graph's own communities, before and after: the median of "
        f"{MODULARITY_RUNS} Leiden runs",
        source="Newman & Girvan 2004; Traag et al. 2019",
        needs_linkage=False,
        cost="heavy",
        compute="metrics.communities.of_own_communities",
    ),
)

SMOOTH = "Esfandiari et al., Smooth Anonymity for Sparse Graphs"

BIPARTITE_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    Metric(
        name="entry-jaccard",
        kind=Bipartite,
        direction="higher is better",
        definition="entries (user, feature) in both over entries in either; 1 if there are none",
        source=SMOOTH,
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.cells.jaccard",
        as_sample="every part",
    ),
    Metric(
        name="entries-suppressed",
        kind=Bipartite,
        direction="lower is better",
        definition="original entries that are not released",
        source=SMOOTH,
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.cells.suppressed",
        as_sample="every part",
    ),
    Metric(
        name="entries-created",
        kind=Bipartite,
        direction="lower is better",
        definition="released entries that are not in the original: false statements about people",
        source=SMOOTH,
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.cells.created",
    ),
    Metric(
        name="user-jaccard",
        kind=Bipartite,
        direction="higher is better",
        definition="the Jaccard index of every user's features before and after (1 if both are "
        "empty), and how it is distributed over users",
        source="Jaccard 1912",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.cells.user_jaccard",
        as_sample=("mean",),
    ),
    Metric(
        name="feature-jaccard",
        kind=Bipartite,
        direction="higher is better",
        definition="the Jaccard index of every feature's users before and after, and how it is "
        "distributed over the features that anybody has before or after",
        source="Jaccard 1912",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.cells.feature_jaccard",
        as_sample=("mean",),
    ),
    Metric(
        name="feature-frequency",
        kind=Bipartite,
        direction="lower is better",
        definition="how many users have a feature: the largest difference of the cumulative "
        "distributions over features, and the mean and largest change of one feature; features "
        "that one side lacks count as 0 users there",
        source="Kolmogorov-Smirnov distance",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.cells.frequency",
        as_sample="every part",
    ),
    Metric(
        name="pair-frequency",
        kind=Bipartite,
        direction="lower is better",
        definition=f"how many users have both features of a pair: relative error for the "
        f"{TOP_PAIRS} pairs most frequent in the original (ties by name), counted exactly",
        source="ours",
        needs_linkage=False,
        cost="heavy",
        compute="metrics.cells.pair_frequency",
    ),
    Metric(
        name="empty-rows",
        kind=Bipartite,
        direction="lower is better",
        definition="users without any feature",
        source=SMOOTH,
        needs_linkage=False,
        cost="linear",
        compute="metrics.cells.empty_rows",
    ),
)

NEWMAN = "Newman, Mixing patterns in networks, Phys. Rev. E 67 (2003)"

NETWORK_METRICS: tuple[Metric[NetworkComparison], ...] = (
    Metric(
        name="arcs-kept",
        kind=Network,
        direction="higher is better",
        definition="directed ties of the original that stand in the release, in the same "
        "direction; where there are several kinds of ties, the ties of each",
        source="edges-kept, of arcs",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.networks.arcs_kept",
    ),
    Metric(
        name="profile-distribution",
        kind=Network,
        direction="lower is better",
        definition="distance between the distributions of ties out, and of ties in: half the sum "
        "of absolute differences, and the largest difference of the cumulative ones",
        source="degree-distribution, of both directions",
        needs_linkage=False,
        cost="linear",
        compute="metrics.networks.profile_distribution",
    ),
    Metric(
        name="reciprocity",
        kind=Network,
        direction="lower is better",
        definition="share of directed ties with one the other way round, before and after",
        source="Garlaschelli & Loffredo, Phys. Rev. Lett. 93 (2004), eq. 1",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.networks.reciprocity",
    ),
    Metric(
        name="suppressed-attributes",
        kind=Network,
        direction="lower is better",
        definition="cells that the original has and the release has not, of each attribute",
        source="Sweeney, IJUFKS 10 (2002), of networks",
        needs_linkage=False,
        cost="linear",
        compute="metrics.networks.suppressed",
    ),
    Metric(
        name="homophily",
        kind=Network,
        direction="lower is better",
        definition="how much more often ties join people with the same value of an attribute than "
        "chance would have it, over the most that is possible, before and after; ties of people "
        "without a value do not count",
        source=NEWMAN,
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.networks.homophily",
    ),
    Metric(
        name="mixing-matrix",
        kind=Network,
        direction="lower is better",
        definition="half the sum of absolute differences between the shares of ties that join each "
        "pair of values of an attribute; a suppressed one is a value",
        source=NEWMAN,
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.networks.mixing_matrix",
    ),
    Metric(
        name="kept-by-group",
        kind=Network,
        direction="higher is better",
        definition="share of the ties that people of one value of an attribute keep: of the group "
        "that keeps the least, and of all",
        source="ours",
        needs_linkage=True,
        cost="near-linear",
        compute="metrics.networks.kept_by_group",
    ),
)

ADAPTIVE = "Choromanski, Jebara and Tang, Adaptive Anonymity via b-Matching"

TABLE_METRICS: tuple[Metric[TableComparison], ...] = (
    Metric(
        name="stars",
        kind=Table,
        direction="lower is better",
        definition="suppressed cells of the released columns, before and after",
        source=ADAPTIVE,
        needs_linkage=False,
        cost="linear",
        compute="metrics.cells.stars",
        as_sample="every part",
    ),
    Metric(
        name="stars-added",
        kind=Table,
        direction="lower is better",
        definition="cells that the original has and the release suppresses",
        source=ADAPTIVE,
        needs_linkage=True,
        cost="linear",
        compute="metrics.cells.stars_added",
        as_sample="every part",
    ),
    Metric(
        name="cells-shown",
        kind=Table,
        direction="higher is better",
        definition="utility: 1 - stars / (rows x columns); 1 if there are no cells",
        source=ADAPTIVE,
        needs_linkage=False,
        cost="linear",
        compute="metrics.cells.utility",
        as_sample="every part",
    ),
    Metric(
        name="stars-by-column",
        kind=Table,
        direction="lower is better",
        definition="the share of each released column that is suppressed",
        source="ours",
        needs_linkage=False,
        cost="linear",
        compute="metrics.cells.stars_by_column",
        as_sample="every part",
    ),
    Metric(
        name="stars-by-row",
        kind=Table,
        direction="lower is better",
        definition="suppressed cells of a row, and how they are distributed over rows",
        source="ours",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.cells.stars_by_row",
    ),
    Metric(
        name="class-sizes",
        kind=Table,
        direction="lower is better",
        definition="sizes of the classes of equal rows, `*` a value of its own; discernibility is "
        "the sum of their squares",
        source="Bayardo and Agrawal 2005 (discernibility); LeFevre et al. 2006 (average)",
        needs_linkage=False,
        cost="near-linear",
        compute="metrics.cells.class_sizes",
    ),
    Metric(
        name="column-entropy",
        kind=Table,
        direction="lower is better",
        definition="by how many bits a cell of a column says less on average: the entropy of the "
        "values that it shows, times the share of its cells that show one, before less after",
        source="Shannon 1948",
        needs_linkage=False,
        cost="linear",
        compute="metrics.cells.column_entropy",
        as_sample="every part",
    ),
)

TASK_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    Metric(
        name="classification",
        kind=Bipartite,
        direction="higher is better",
        definition="how many labels of held-back people are predicted from their features, by "
        f"three classifiers that learned from the release: a perceptron of {HIDDEN_UNITS} "
        "hidden units, logistic regression, gradient boosting; beside the same classifiers that "
        "learned from the original, and the commonest label there",
        source="Esfandiari et al., Smooth Anonymity for Sparse Graphs (perceptron, census income)",
        needs_linkage=False,
        cost="heavy",
        compute="metrics.tasks.classification",
        by_name=True,
        reads_tables=True,
    ),
    Metric(
        name="recommendation",
        kind=Bipartite,
        direction="higher is better",
        definition="how many held-back people are recommended the one item of theirs that is hidden"
        f", among the first {RECOMMENDED}, by the {FACTORS} leading "
        "singular vectors of the release; beside those of the original, and by popularity there",
        source="PureSVD: Cremonesi, Koren and Turrin, RecSys 2010",
        needs_linkage=False,
        cost="heavy",
        compute="metrics.tasks.recommendation",
        by_name=True,
        reads_tables=True,
    ),
)

_ALL: tuple[Metric[Any], ...] = (
    *GRAPH_METRICS,
    *NETWORK_METRICS,
    *BIPARTITE_METRICS,
    *TABLE_METRICS,
    *TASK_METRICS,
)

METRICS: dict[str, Metric[Any]] = {metric.name: metric for metric in _ALL}
"""Every metric by its name: an entry here appears in the command line, the report and the docs."""
