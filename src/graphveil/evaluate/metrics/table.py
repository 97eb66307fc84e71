"""METRICS: every metric with its kind of data, unit, direction, definition and source."""

from __future__ import annotations

from functools import partial
from typing import Any

from graphveil.core.rows import Rows
from graphveil.core.text import number, of_hundred, percent
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.evaluate.comparison import (
    BETWEENNESS_EXACT_UP_TO,
    BETWEENNESS_PIVOTS,
    BETWEENNESS_TOP,
    CLASSIFIERS,
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
from graphveil.evaluate.metric import Metric, Said, value_of

PROBLEM = "de Jong et al., The anonymization problem in social networks"
TOP_M = "Nguyen, Imine & Rusinowitch, Top-m Filter"


def _percent_of_others(share: float) -> str:
    """Return the rest of a share as a percentage."""
    return percent(1 - share)


def _of_released(rows: Rows, created: float) -> float:
    """Return the share of released entries that are false, from shares of the original's."""
    released = 1 - (value_of(rows, "entries-suppressed", "share") or 0.0) + created
    return created / released if released else 0.0


_graph = partial(Metric[GraphComparison], kind=Graph)
_network = partial(Metric[NetworkComparison], kind=Network)
_features = partial(Metric[BipartiteComparison], kind=Bipartite)
_table = partial(Metric[TableComparison], kind=Table)

GRAPH_METRICS: tuple[Metric[GraphComparison], ...] = (
    _graph(
        name="edges-kept",
        direction="higher is better",
        definition="original edges that stand in the release, too",
        source=PROBLEM,
        needs_linkage=True,
        compute="metrics.shape.kept",
        as_sample="every part",
        said=Said(
            "ties kept",
            {"share": ""},
            "of the original ties",
            place=1,
            ending=" are kept",
            headline=True,
        ),
    ),
    _graph(
        name="edges-added",
        direction="lower is better",
        definition="released edges that are not in the original",
        source="Liu & Terzi, SIGMOD 2008",
        needs_linkage=True,
        compute="metrics.shape.added",
        said=Said(
            "ties that are false",
            {"share": ""},
            "of the released ties",
            place=2,
            ending=" are false",
            headline=True,
        ),
    ),
    _graph(
        name="edges-removed",
        direction="lower is better",
        definition="original edges that are not in the release",
        source=PROBLEM,
        needs_linkage=True,
        compute="metrics.shape.removed",
        as_sample="every part",
    ),
    _graph(
        name="edge-jaccard",
        direction="higher is better",
        definition="edges in both graphs over edges in either; 1 if there are none",
        source="Jaccard 1912",
        needs_linkage=True,
        compute="metrics.shape.jaccard",
        as_sample="every part",
    ),
    _graph(
        name="edge-edit-distance",
        direction="lower is better",
        definition="edges to add and to delete that lead from the original to the release; a "
        "rewiring of two edges is 4",
        source=PROBLEM,
        needs_linkage=True,
        compute="metrics.shape.edit_distance",
        as_sample="every part",
    ),
    _graph(
        name="degree-distribution",
        direction="lower is better",
        definition="distance between the degree distributions: half the sum of absolute "
        "differences, and the largest difference of the cumulative ones",
        source="Nguyen, Imine & Rusinowitch (half L1)",
        cost="linear",
        compute="metrics.shape.degree_distribution",
        compute_mean="metrics.shape.mean_degree_distribution",
        as_sample="every part",
        said=Said(
            "how many ties people have",
            {"half L1": ""},
            "of the people, at least, have another number of ties",
            place=5,
        ),
    ),
    _graph(
        name="mean-degree",
        direction="lower is better",
        definition="mean degree, nodes without edges included, before and after",
        source=TOP_M,
        cost="linear",
        compute="metrics.shape.mean_degree",
        as_sample="every part",
    ),
    _graph(
        name="largest-degree",
        direction="lower is better",
        definition="largest degree, before and after",
        source=TOP_M,
        cost="linear",
        compute="metrics.shape.largest_degree",
        as_sample="every part",
    ),
    _graph(
        name="degree-variance",
        direction="lower is better",
        definition="population variance of degrees, before and after",
        source=TOP_M,
        cost="linear",
        compute="metrics.shape.degree_variance",
        as_sample="every part",
    ),
    _graph(
        name="power-law",
        direction="lower is better",
        definition="exponent of the power law nearest to the degrees above 0 (Kolmogorov-Smirnov, "
        "over all least degrees), before and after",
        source=TOP_M,
        compute="metrics.shape.power_law",
    ),
    _graph(
        name="transitivity",
        direction="lower is better",
        definition="three times the triangles over the wedges, before and after",
        source=TOP_M,
        compute="metrics.shape.transitivity",
    ),
    _graph(
        name="triangles",
        direction="lower is better",
        definition="triangles, before and after",
        source="Watts & Strogatz 1998",
        compute="metrics.shape.triangles",
    ),
    _graph(
        name="wedges",
        direction="lower is better",
        definition="pairs of edges that share a node, before and after",
        source="Seshadhri, Pinar & Kolda 2014",
        cost="linear",
        compute="metrics.shape.wedges",
        as_sample="every part",
    ),
    _graph(
        name="graphlets",
        direction="lower is better",
        definition="the share of each of the six connected graphs of four nodes among all sets of "
        "four nodes that are connected, before and after, and half the sum of absolute "
        f"differences; exact up to {GRAPHLET_PATHS:,} 3-paths, above from so many drawn evenly",
        source="Jha, Seshadhri & Pinar 2015",
        compute="metrics.graphlets.compared",
        compute_mean="metrics.graphlets.mean_compared",
    ),
    _graph(
        name="core-numbers",
        direction="lower is better",
        definition="distance between the distributions of core numbers: the largest difference of "
        "the cumulative ones",
        source="Seidman 1983; Kolmogorov-Smirnov distance",
        compute="metrics.centrality.core_distribution",
        compute_mean="metrics.centrality.mean_core_distribution",
    ),
    _graph(
        name="core-correlation",
        direction="higher is better",
        definition="rank correlation of people's core numbers before and after",
        source="Seidman 1983; Spearman 1904",
        needs_linkage=True,
        compute="metrics.centrality.core_correlation",
    ),
    _graph(
        name="spectral-radius",
        direction="lower is better",
        definition="largest eigenvalue of the adjacency matrix, before and after",
        source="Ying & Wu, SDM 2008",
        compute="metrics.centrality.radius",
    ),
    _graph(
        name="spectral-gap",
        direction="lower is better",
        definition="second-smallest eigenvalue of the normalized Laplacian of the largest "
        "component, before and after",
        source="Chung 1997",
        compute="metrics.centrality.gap",
    ),
    _graph(
        name="pagerank-correlation",
        direction="higher is better",
        definition=f"rank correlation of people's PageRank (damping {DAMPING}) before and after",
        source="Page et al. 1999; Spearman 1904",
        needs_linkage=True,
        compute="metrics.centrality.pagerank_correlation",
    ),
    _graph(
        name="eigenvector-correlation",
        direction="higher is better",
        definition="rank correlation of people's entries in the leading eigenvector of the "
        "adjacency matrix before and after",
        source="Bonacich 1972; Spearman 1904",
        needs_linkage=True,
        compute="metrics.centrality.eigenvector_correlation",
    ),
    _graph(
        name="assortativity",
        direction="lower is better",
        definition="correlation of the degrees at the two ends of an edge, before and after",
        source="Newman 2002",
        cost="linear",
        compute="metrics.shape.assortativity",
    ),
    _graph(
        name="clustering",
        direction="lower is better",
        definition="average local clustering coefficient (degree below 2 counts as 0), before "
        "and after",
        source="Watts & Strogatz 1998",
        compute="metrics.shape.clustering",
        said=Said(
            "closed groups (clustering)",
            {"released": "original"},
            "of two friends of a person are friends too",
            place=6,
        ),
    ),
    _graph(
        name="largest-component",
        direction="lower is better",
        definition="share of nodes in the largest connected component, before and after",
        source=PROBLEM,
        cost="linear",
        compute="metrics.shape.largest_component",
        as_sample="every part",
        said=Said(
            "how many are cut off",
            {"released": "original"},
            "of people are outside the largest connected part",
            place=10,
            spelled=_percent_of_others,
        ),
    ),
    _graph(
        name="shortest-path",
        direction="lower is better",
        definition="average length of a shortest path over all pairs of nodes that a path joins, "
        f"before and after; exact up to {EXACT_UP_TO_NODES:,} nodes, above from "
        f"{SAMPLED_SOURCES:,} sampled sources, with a 95 % interval",
        source=PROBLEM,
        compute="metrics.paths.shortest_path",
        said=Said(
            "how far people are apart",
            {"released": "original"},
            "steps from person to person",
            place=9,
            spelled=number,
        ),
    ),
    _graph(
        name="characteristic-length",
        direction="lower is better",
        definition="harmonic mean of the distances of all pairs of nodes that a path joins, "
        "before and after; sampled as shortest-path",
        source=TOP_M,
        compute="metrics.paths.characteristic_length",
    ),
    _graph(
        name="effective-diameter",
        direction="lower is better",
        definition="least whole distance within which 90 % of the pairs that a path joins are, "
        "before and after; sampled as shortest-path",
        source=TOP_M,
        compute="metrics.paths.effective_diameter",
    ),
    _graph(
        name="diameter",
        direction="lower is better",
        definition="largest distance of two nodes that a path joins, before and after; a lower "
        "bound where it is sampled as shortest-path",
        source=TOP_M,
        compute="metrics.paths.diameter",
    ),
    _graph(
        name="distance-distribution",
        direction="lower is better",
        definition="half the sum of absolute differences of the distributions of distances over "
        "pairs that a path joins; sampled as shortest-path",
        source=TOP_M,
        compute="metrics.paths.distance_distribution",
        compute_mean="metrics.paths.mean_distance_distribution",
    ),
    _graph(
        name="betweenness",
        direction="higher is better",
        definition=f"overlap of the {BETWEENNESS_TOP} nodes of highest betweenness, ties for the "
        f"last ranks shared evenly; exact where nodes times edges are at most "
        f"{BETWEENNESS_EXACT_UP_TO:,}, above estimated from {BETWEENNESS_PIVOTS:,} pivots",
        source=f"{PROBLEM}; Brandes 2001; Geisberger, Sanders & Schultes 2008",
        needs_linkage=True,
        cost="heavy",
        compute="metrics.centrality.overlap",
        said=Said(
            "who is central",
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
        f"each the consensus of {COMMUNITY_RUNS} Leiden runs",
        source=f"{PROBLEM}; Traag et al. 2019; Lancichinetti & Fortunato 2012",
        needs_linkage=True,
        cost="heavy",
        compute="metrics.communities.agreement",
        said=Said(
            "groups (communities)",
            {"released against original": "original against itself"},
            "of 100 alike",
            place=7,
            beside="; the original with itself {}",
            spelled=of_hundred,
        ),
    ),
    _graph(
        name="modularity",
        direction="lower is better",
        definition="modularity of each graph's own communities, before and after: the median of "
        f"{MODULARITY_RUNS} Leiden runs",
        source="Newman & Girvan 2004; Traag et al. 2019",
        cost="heavy",
        compute="metrics.communities.of_own_communities",
    ),
)

SMOOTH = "Esfandiari et al., Smooth Anonymity for Sparse Graphs"

BIPARTITE_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    _features(
        name="entry-jaccard",
        direction="higher is better",
        definition="entries (user, feature) in both over entries in either; 1 if there are none",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.cells.jaccard",
        as_sample="every part",
    ),
    _features(
        name="entries-suppressed",
        direction="lower is better",
        definition="original entries that are not released",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.cells.suppressed",
        as_sample="every part",
        said=Said(
            "entries kept",
            {"share": ""},
            "of the original entries",
            place=1,
            ending=" are kept",
            spelled=_percent_of_others,
            headline=True,
        ),
    ),
    _features(
        name="entries-created",
        direction="lower is better",
        definition="released entries that are not in the original: false statements about people",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.cells.created",
        said=Said(
            "entries that are false",
            {"share": ""},
            "of the released entries",
            place=2,
            ending=" are false",
            value=_of_released,
            headline=True,
        ),
    ),
    _features(
        name="user-jaccard",
        direction="higher is better",
        definition="the Jaccard index of every user's features before and after (1 if both are "
        "empty), and how it is distributed over users",
        source="Jaccard 1912",
        needs_linkage=True,
        compute="metrics.cells.user_jaccard",
        as_sample=("mean",),
        said=Said(
            "a person's own items",
            {"mean": ""},
            "of a person's items, before or after, are the same, on average",
            place=6,
        ),
    ),
    _features(
        name="feature-jaccard",
        direction="higher is better",
        definition="the Jaccard index of every feature's users before and after, and how it is "
        "distributed over the features that anybody has before or after",
        source="Jaccard 1912",
        needs_linkage=True,
        compute="metrics.cells.feature_jaccard",
        as_sample=("mean",),
    ),
    _features(
        name="feature-frequency",
        direction="lower is better",
        definition="how many users have a feature: the largest difference of the cumulative "
        "distributions over features, and the mean and largest change of one feature; features "
        "that one side lacks count as 0 users there",
        source="Kolmogorov-Smirnov distance",
        compute="metrics.cells.frequency",
        as_sample="every part",
        said=Said(
            "how popular items are",
            {"mean change": "largest change"},
            "of people more or fewer have an item, on average",
            place=4,
            beside="; at most {}",
        ),
    ),
    _features(
        name="pair-frequency",
        direction="lower is better",
        definition=f"how many users have both features of a pair: relative error for the "
        f"{TOP_PAIRS} pairs most frequent in the original (ties by name), counted exactly",
        source="ours",
        cost="heavy",
        compute="metrics.cells.pair_frequency",
        said=Said(
            "items that go together",
            {"mean relative error": ""},
            "is the error of how many people have both of two popular items",
            place=5,
        ),
    ),
    _features(
        name="empty-rows",
        direction="lower is better",
        definition="users without any feature",
        source=SMOOTH,
        cost="linear",
        compute="metrics.cells.empty_rows",
        said=Said(
            "how many items people have",
            {"released": "original"},
            "people have no item",
            place=3,
            spelled=number,
        ),
    ),
)

NEWMAN = "Newman, Mixing patterns in networks, Phys. Rev. E 67 (2003)"

NETWORK_METRICS: tuple[Metric[NetworkComparison], ...] = (
    _network(
        name="arcs-kept",
        direction="higher is better",
        definition="directed ties of the original that stand in the release, in the same "
        "direction; where there are several kinds of ties, the ties of each",
        source="edges-kept, of arcs",
        needs_linkage=True,
        compute="metrics.networks.arcs_kept",
        said=Said(
            "ties kept as they lead",
            {"share": ""},
            "of the original ties, in their direction",
            place=3,
            ending=" are kept",
        ),
    ),
    _network(
        name="profile-distribution",
        direction="lower is better",
        definition="distance between the distributions of ties out, and of ties in: half the sum "
        "of absolute differences, and the largest difference of the cumulative ones",
        source="degree-distribution, of both directions",
        cost="linear",
        compute="metrics.networks.profile_distribution",
    ),
    _network(
        name="reciprocity",
        direction="lower is better",
        definition="share of directed ties with one the other way round, before and after",
        source="Garlaschelli & Loffredo, Phys. Rev. Lett. 93 (2004), eq. 1",
        compute="metrics.networks.reciprocity",
        said=Said(
            "ties both ways", {"released": "original"}, "of ties have one the other way", place=4
        ),
    ),
    _network(
        name="suppressed-attributes",
        direction="lower is better",
        definition="cells that the original has and the release has not, of each attribute",
        source="Sweeney, IJUFKS 10 (2002), of networks",
        cost="linear",
        compute="metrics.networks.suppressed",
    ),
    _network(
        name="homophily",
        direction="lower is better",
        definition="how much more often ties join people with the same value of an attribute than "
        "chance would have it, over the most that is possible, before and after; ties of people "
        "without a value do not count",
        source=NEWMAN,
        compute="metrics.networks.homophily",
    ),
    _network(
        name="mixing-matrix",
        direction="lower is better",
        definition="half the sum of absolute differences between the shares of ties that join each "
        "pair of values of an attribute; a suppressed one is a value",
        source=NEWMAN,
        compute="metrics.networks.mixing_matrix",
    ),
    _network(
        name="kept-by-group",
        direction="higher is better",
        definition="share of the ties that people of one value of an attribute keep: of the group "
        "that keeps the least, and of all",
        source="ours",
        needs_linkage=True,
        compute="metrics.networks.kept_by_group",
    ),
)

ADAPTIVE = "Choromanski, Jebara and Tang, Adaptive Anonymity via b-Matching"

TABLE_METRICS: tuple[Metric[TableComparison], ...] = (
    _table(
        name="stars",
        direction="lower is better",
        definition="suppressed cells of the released columns, before and after",
        source=ADAPTIVE,
        cost="linear",
        compute="metrics.cells.stars",
        as_sample="every part",
        said=Said(
            "cells with *",
            {"released": "original"},
            "cells are hidden by *",
            place=2,
            spelled=number,
        ),
    ),
    _table(
        name="stars-added",
        direction="lower is better",
        definition="cells that the original has and the release suppresses",
        source=ADAPTIVE,
        needs_linkage=True,
        cost="linear",
        compute="metrics.cells.stars_added",
        as_sample="every part",
    ),
    _table(
        name="cells-shown",
        direction="higher is better",
        definition="utility: 1 - stars / (rows x columns); 1 if there are no cells",
        source=ADAPTIVE,
        cost="linear",
        compute="metrics.cells.utility",
        as_sample="every part",
        said=Said(
            "cells kept",
            {"all": ""},
            "of the cells",
            place=1,
            ending=" are published, the others are hidden by *",
            headline=True,
        ),
    ),
    _table(
        name="stars-by-column",
        direction="lower is better",
        definition="the share of each released column that is suppressed",
        source="ours",
        cost="linear",
        compute="metrics.cells.stars_by_column",
        as_sample="every part",
        said=Said(
            "each column's values",
            {},
            "of the cells of {part} are hidden, the most of all columns",
            place=6,
        ),
    ),
    _table(
        name="stars-by-row",
        direction="lower is better",
        definition="suppressed cells of a row, and how they are distributed over rows",
        source="ours",
        compute="metrics.cells.stars_by_row",
        said=Said("rows with * alone", {"nothing shown": ""}, "of the rows show nothing", place=3),
    ),
    _table(
        name="class-sizes",
        direction="lower is better",
        definition="sizes of the classes of equal rows, `*` a value of its own; discernibility is "
        "the sum of their squares",
        source="Bayardo and Agrawal 2005 (discernibility); LeFevre et al. 2006 (average)",
        compute="metrics.cells.class_sizes",
        said=Said(
            "rows that are alike",
            {"released average": "original average"},
            "rows are equal, on average",
            place=4,
            spelled=number,
        ),
    ),
    _table(
        name="column-entropy",
        direction="lower is better",
        definition="by how many bits a cell of a column says less on average: the entropy of the "
        "values that it shows, times the share of its cells that show one, before less after",
        source="Shannon 1948",
        cost="linear",
        compute="metrics.cells.column_entropy",
        as_sample="every part",
        said=Said(
            "what columns still tell",
            {"mean of columns": ""},
            "bits of a column are lost, on average",
            place=5,
            spelled=number,
        ),
    ),
)

TASK_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    _features(
        name="classification",
        direction="higher is better",
        definition="how many labels of held-back people are predicted from their features, by "
        f"three classifiers that learned from the release: a perceptron of {HIDDEN_UNITS} "
        "hidden units, logistic regression, gradient boosting; beside the same classifiers that "
        "learned from the original, and the commonest label there",
        source="Esfandiari et al., Smooth Anonymity for Sparse Graphs (perceptron, census income)",
        cost="heavy",
        compute="metrics.tasks.classification",
        by_name=True,
        reads_tables=True,
        said=Said(
            "prediction",
            {f"{name}, released": f"{name}, original" for name in CLASSIFIERS},
            "of the test people are predicted rightly",
            place=7,
            beside="; learned from the original {}",
        ),
    ),
    _features(
        name="recommendation",
        direction="higher is better",
        definition="how many held-back people are recommended the one item of theirs that is hidden"
        f", among the first {RECOMMENDED}, by the {FACTORS} leading "
        "singular vectors of the release; beside those of the original, and by popularity there",
        source="PureSVD: Cremonesi, Koren and Turrin, RecSys 2010",
        cost="heavy",
        compute="metrics.tasks.recommendation",
        by_name=True,
        reads_tables=True,
        said=Said(
            "recommendation",
            {"factors, released": "factors, original"},
            "of the left-out items are among ten recommended",
            place=8,
            beside="; learned from the original {}",
        ),
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
