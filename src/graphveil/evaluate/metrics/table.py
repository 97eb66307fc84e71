"""METRICS: every metric with its kind of data, unit, direction, definition and source."""

from __future__ import annotations

from functools import partial
from typing import Any

from graphveil.core.rows import Rows
from graphveil.core.text import number, per_hundred, percent
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.evaluate.comparison import (
    EXACT_UP_TO_NODES,
    SAMPLED_SOURCES,
    BipartiteComparison,
    GraphComparison,
    NetworkComparison,
    TableComparison,
)
from graphveil.evaluate.metric import Metric, Said, value_of

TOP_PAIRS = 100

GRAPHLET_PATHS = 200_000
"""How many 3-paths are drawn; where a graph has no more, all are looked at."""

DAMPING = 0.85

BETWEENNESS_TOP, BETWEENNESS_EXACT_UP_TO, BETWEENNESS_PIVOTS = 100, 100_000_000, 1_024
"""Who is most central; the most nodes times edges up to which scores are exact; above, pivots."""

COMMUNITY_RUNS, MODULARITY_RUNS = 10, 10

HIDDEN_UNITS = 10
"""Hidden units of the perceptron."""
CLASSIFIERS = ("perceptron", "logistic regression", "gradient boosting")

FACTORS, RECOMMENDED = 50, 10

PROBLEM = "de Jong et al., The anonymization problem in social networks"
TOP_M = "Nguyen, Imine & Rusinowitch, Top-m Filter"


def _percent_of_others(share: float) -> str:
    """Return the rest of a share as a percentage."""
    return percent(1 - share)


def _of_released(rows: Rows, created: float) -> float:
    """Return the share of released entries that are false, from shares of the original's."""
    released = 1 - (value_of(rows, "entries-suppressed", "share") or 0.0) + created
    return created / released if released else 0.0


_graph = partial(Metric[GraphComparison], kind=Graph, direction="lower is better")
_network = partial(Metric[NetworkComparison], kind=Network, direction="lower is better")
_features = partial(Metric[BipartiteComparison], kind=Bipartite, direction="lower is better")
_table = partial(Metric[TableComparison], kind=Table, direction="lower is better")

GRAPH_METRICS: tuple[Metric[GraphComparison], ...] = (
    _graph(
        name="edges-kept",
        direction="higher is better",
        definition="original edges that are also in the release",
        source=PROBLEM,
        needs_linkage=True,
        compute="metrics.networks.kept",
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
        compute="metrics.networks.added",
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
        compute="metrics.networks.removed",
        as_sample="every part",
    ),
    _graph(
        name="edge-jaccard",
        direction="higher is better",
        definition="edges in both graphs divided by edges in either; 1 if there are none",
        source="Jaccard 1912",
        needs_linkage=True,
        compute="metrics.networks.jaccard",
        as_sample="every part",
    ),
    _graph(
        name="edge-edit-distance",
        definition="number of edges to add and to delete to get from the original to the "
        "release; a rewiring of two edges counts 4",
        source=PROBLEM,
        needs_linkage=True,
        compute="metrics.networks.edit_distance",
        as_sample="every part",
    ),
    _graph(
        name="degree-distribution",
        definition="distance between the degree distributions: half the sum of absolute "
        "differences, and the largest difference of the cumulative ones",
        source="Nguyen, Imine & Rusinowitch (half L1)",
        cost="linear",
        compute="metrics.networks.degree_distribution",
        compute_mean="metrics.networks.mean_degree_distribution",
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
        compute="metrics.networks.mean_degree",
        as_sample="every part",
    ),
    _graph(
        name="largest-degree",
        definition="largest degree, before and after",
        source=TOP_M,
        cost="linear",
        compute="metrics.networks.largest_degree",
        as_sample="every part",
    ),
    _graph(
        name="degree-variance",
        definition="population variance of degrees, before and after",
        source=TOP_M,
        cost="linear",
        compute="metrics.networks.degree_variance",
        as_sample="every part",
    ),
    _graph(
        name="power-law",
        definition="exponent of the power law that best fits the degrees above 0 "
        "(Kolmogorov-Smirnov, over all minimum degrees), before and after",
        source=TOP_M,
        compute="metrics.networks.power_law",
    ),
    _graph(
        name="transitivity",
        definition="three times the number of triangles divided by the number of wedges, before "
        "and after",
        source=TOP_M,
        compute="metrics.networks.transitivity",
    ),
    _graph(
        name="triangles",
        definition="number of triangles, before and after",
        source="Watts & Strogatz 1998",
        compute="metrics.networks.triangles",
    ),
    _graph(
        name="wedges",
        definition="number of pairs of edges that share a node, before and after",
        source="Seshadhri, Pinar & Kolda 2014",
        cost="linear",
        compute="metrics.networks.wedges",
        as_sample="every part",
    ),
    _graph(
        name="graphlets",
        definition="shares of the six connected graphs on four nodes among all connected sets of "
        "four nodes, before and after; also half the sum of absolute differences. Exact up to "
        f"{GRAPHLET_PATHS:,} 3-paths, above that estimated from that many sampled uniformly",
        source="Jha, Seshadhri & Pinar 2015",
        compute="metrics.communities.compared",
        compute_mean="metrics.communities.mean_compared",
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
        compute="metrics.centrality.radius",
    ),
    _graph(
        name="spectral-gap",
        definition="second-smallest eigenvalue of the normalized Laplacian of the largest "
        "component, before and after",
        source="Chung 1997",
        compute="metrics.centrality.gap",
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
        compute="metrics.networks.assortativity",
    ),
    _graph(
        name="clustering",
        definition="average local clustering coefficient (degree below 2 counts as 0), before "
        "and after",
        source="Watts & Strogatz 1998",
        compute="metrics.networks.clustering",
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
        compute="metrics.networks.largest_component",
        as_sample="every part",
        said=Said(
            "connectivity",
            {"released": "original"},
            "of the nodes are outside the largest connected component",
            place=10,
            spelled=_percent_of_others,
        ),
    ),
    _graph(
        name="shortest-path",
        definition="average length of a shortest path over all connected pairs of nodes, before "
        f"and after; exact up to {EXACT_UP_TO_NODES:,} nodes, above that from "
        f"{SAMPLED_SOURCES:,} sampled sources, with a 95% interval",
        source=PROBLEM,
        compute="metrics.networks.shortest_path",
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
        compute="metrics.networks.characteristic_length",
    ),
    _graph(
        name="effective-diameter",
        definition="smallest integer distance that covers 90% of the connected pairs of nodes, "
        "before and after; sampled as in shortest-path",
        source=TOP_M,
        compute="metrics.networks.effective_diameter",
    ),
    _graph(
        name="diameter",
        definition="largest distance between two connected nodes, before and after; a lower "
        "bound if sampled as in shortest-path",
        source=TOP_M,
        compute="metrics.networks.diameter",
    ),
    _graph(
        name="distance-distribution",
        definition="half the sum of absolute differences between the distributions of distances "
        "over connected pairs of nodes; sampled as in shortest-path",
        source=TOP_M,
        compute="metrics.networks.distance_distribution",
        compute_mean="metrics.networks.mean_distance_distribution",
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
        compute="metrics.centrality.overlap",
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

SMOOTH = "Esfandiari et al., Smooth Anonymity for Sparse Graphs"

BIPARTITE_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    _features(
        name="entry-jaccard",
        direction="higher is better",
        definition="entries (user, feature) in both divided by entries in either; 1 if there are "
        "none",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.cells.jaccard",
        as_sample="every part",
    ),
    _features(
        name="entries-suppressed",
        definition="original entries that are not released",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.cells.suppressed",
        as_sample="every part",
        said=Said(
            "entries kept",
            "share",
            "of the original entries",
            place=1,
            ending=" are kept",
            spelled=_percent_of_others,
            headline=True,
        ),
    ),
    _features(
        name="entries-created",
        definition="released entries that are not in the original: false statements about people",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.cells.created",
        said=Said(
            "false entries",
            "share",
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
        definition="the Jaccard index of each user's features before and after (1 if both are "
        "empty), and its distribution over users",
        source="Jaccard 1912",
        needs_linkage=True,
        compute="metrics.cells.user_jaccard",
        as_sample=("mean",),
        said=Said(
            "each person's items",
            "mean",
            "of a person's items (before or after) are the same on average",
            place=6,
        ),
    ),
    _features(
        name="feature-jaccard",
        direction="higher is better",
        definition="the Jaccard index of each feature's users before and after, and its "
        "distribution over the features that at least one user has before or after",
        source="Jaccard 1912",
        needs_linkage=True,
        compute="metrics.cells.feature_jaccard",
        as_sample=("mean",),
    ),
    _features(
        name="feature-frequency",
        definition="number of users who have a feature: the largest difference between the "
        "cumulative distributions over features, and the mean and largest change of "
        "a single feature; features missing on one side count as 0 users there",
        source="Kolmogorov-Smirnov distance",
        compute="metrics.cells.frequency",
        as_sample="every part",
        said=Said(
            "item popularity",
            {"mean change": "largest change"},
            "of the people: mean change in how many have an item",
            place=4,
            beside="; at most {}",
        ),
    ),
    _features(
        name="pair-frequency",
        definition="number of users who have both features of a pair: relative error for the "
        f"{TOP_PAIRS} pairs most frequent in the original (equal counts ordered by "
        "name), counted exactly",
        source="ours",
        cost="heavy",
        compute="metrics.cells.pair_frequency",
        said=Said(
            "item pairs",
            "mean relative error",
            "mean error in how many people have both items of a popular pair",
            place=5,
        ),
    ),
    _features(
        name="empty-rows",
        definition="number of users without any feature",
        source=SMOOTH,
        cost="linear",
        compute="metrics.cells.empty_rows",
        said=Said(
            "items per person",
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
        definition="directed edges of the original that are in the release with the same "
        "direction; if there are several edge types, also for each type",
        source="edges-kept, for directed edges",
        needs_linkage=True,
        compute="metrics.networks.arcs_kept",
        said=Said(
            "edges kept with their direction",
            "share",
            "of the original edges, with their direction",
            place=3,
            ending=" are kept",
        ),
    ),
    _network(
        name="profile-distribution",
        definition="distance between the out-degree distributions and between the in-degree "
        "distributions: half the sum of absolute differences, and the largest "
        "difference of the cumulative ones",
        source="degree-distribution, for both directions",
        cost="linear",
        compute="metrics.networks.profile_distribution",
    ),
    _network(
        name="reciprocity",
        definition="share of directed edges that are reciprocated, before and after",
        source="Garlaschelli & Loffredo, Phys. Rev. Lett. 93 (2004), eq. 1",
        compute="metrics.networks.reciprocity",
        said=Said(
            "reciprocated edges", {"released": "original"}, "of the edges are reciprocated", place=4
        ),
    ),
    _network(
        name="suppressed-attributes",
        definition="attribute cells that the original has and the release does not, for each "
        "attribute",
        source="Sweeney, IJUFKS 10 (2002), applied to networks",
        cost="linear",
        compute="metrics.networks.suppressed",
    ),
    _network(
        name="homophily",
        definition="excess over chance of edges between nodes with the same value of an "
        "attribute, relative to the maximum possible, before and after; edges of "
        "nodes without a value are not counted",
        source=NEWMAN,
        compute="metrics.networks.homophily",
    ),
    _network(
        name="mixing-matrix",
        definition="half the sum of absolute differences between the shares of edges that "
        "connect each pair of values of an attribute; suppressed counts as a value",
        source=NEWMAN,
        compute="metrics.networks.mixing_matrix",
    ),
    _network(
        name="kept-by-group",
        direction="higher is better",
        definition="share of kept edges among those of nodes with one value of an attribute: "
        "for the group that keeps the smallest share, and for all edges",
        source="ours",
        needs_linkage=True,
        compute="metrics.networks.kept_by_group",
    ),
)

ADAPTIVE = "Choromanski, Jebara and Tang, Adaptive Anonymity via b-Matching"

TABLE_METRICS: tuple[Metric[TableComparison], ...] = (
    _table(
        name="stars",
        definition="number of suppressed cells in the released columns, before and after",
        source=ADAPTIVE,
        cost="linear",
        compute="metrics.cells.stars",
        as_sample="every part",
        said=Said(
            "suppressed cells",
            {"released": "original"},
            "cells are suppressed (*)",
            place=2,
            spelled=number,
        ),
    ),
    _table(
        name="stars-added",
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
        definition="utility: 1 - stars / (rows x columns), where stars are suppressed cells; 1 "
        "if there are no cells",
        source=ADAPTIVE,
        cost="linear",
        compute="metrics.cells.utility",
        as_sample="every part",
        said=Said(
            "cells shown",
            "all",
            "of the cells",
            place=1,
            ending=" are published; the others are suppressed (*)",
            headline=True,
        ),
    ),
    _table(
        name="cells-replaced",
        definition="cells of the release with a different value in the original; filled: cells "
        "with a value where the original has none",
        source="ours",
        needs_linkage=True,
        cost="linear",
        compute="metrics.cells.replaced",
        said=Said(
            "cells replaced",
            {"share": "filled share"},
            "of the published cells have a different value in the original",
            place=2,
            beside="; {} have none there",
        ),
    ),
    _table(
        name="stars-by-column",
        definition="share of each released column that is suppressed",
        source="ours",
        cost="linear",
        compute="metrics.cells.stars_by_column",
        as_sample="every part",
        said=Said(
            "values of each column",
            {},
            "of the cells of {part} are suppressed, the most of all columns",
            place=6,
        ),
    ),
    _table(
        name="stars-by-row",
        definition="number of suppressed cells per row, and its distribution over rows",
        source="ours",
        compute="metrics.cells.stars_by_row",
        said=Said(
            "rows with all cells suppressed",
            "nothing shown",
            ("of the rows are entirely suppressed"),
            place=3,
        ),
    ),
    _table(
        name="class-sizes",
        definition="sizes of the equivalence classes of rows that are equal in the columns of "
        "the guarantee, with `*` as a value of its own; discernibility is the sum of their squares",
        source="Bayardo and Agrawal 2005 (discernibility); LeFevre et al. 2006 (average)",
        compute="metrics.cells.class_sizes",
        said=Said(
            "equal rows",
            {"released average": "original average"},
            "rows are equal on average",
            place=4,
            spelled=number,
        ),
    ),
    _table(
        name="column-entropy",
        definition="mean loss of information per cell of a column, in bits: the entropy of the "
        "values that the column shows, times the share of its cells that show one, "
        "before minus after",
        source="Shannon 1948",
        cost="linear",
        compute="metrics.cells.column_entropy",
        as_sample="every part",
        said=Said(
            "information in columns",
            "mean of columns",
            "bits of information are lost per column on average",
            place=5,
            spelled=number,
        ),
    ),
    _table(
        name="granularity",
        direction="higher is better",
        definition="1 minus the mean loss of the published known cells: a node loses the share of "
        "the other values below it, an interval its width as a share of the range, `*` everything",
        source="Iyengar, Transforming data to satisfy privacy constraints, KDD 2002",
        compute="metrics.cells.granularity",
    ),
    _table(
        name="granularity-bound",
        direction="higher is better",
        definition="proved bound for classes of k rows whose known cells are true nodes: the "
        "least loss at levels where k rows agree",
        source="ours",
        cost="heavy",
        compute="metrics.cells.granularity_bound",
        by_name=True,
    ),
    _table(
        name="reidentification-risk",
        definition="chance of picking the right row: of a person in the table (prosecutor) or the "
        "--population, of which it is taken as a random sample (journalist); on average (marketer)",
        source="El Emam 2013; Benedetti and Franconi 1998 (population)",
        compute="metrics.cells.risks",
    ),
)

TASK_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    _features(
        name="classification",
        direction="higher is better",
        definition="share of labels of test people predicted correctly from their features by "
        f"three classifiers trained on the release: a perceptron with {HIDDEN_UNITS} "
        "hidden units, logistic regression and gradient boosting; compared with the "
        "same classifiers trained on the original, and with its most common label",
        source="Esfandiari et al., Smooth Anonymity for Sparse Graphs (perceptron, census income)",
        cost="heavy",
        compute="metrics.tasks.classification",
        by_name=True,
        reads_tables=True,
        said=Said(
            "prediction",
            {f"{name}, released": f"{name}, original" for name in CLASSIFIERS},
            "of the test people are predicted correctly",
            place=7,
            beside="; learned from the original {}",
        ),
    ),
    _features(
        name="recommendation",
        direction="higher is better",
        definition=f"share of test people whose held-out item is among the first {RECOMMENDED} "
        f"recommended by the {FACTORS} leading singular vectors of the release; "
        "compared with those of the original, and with popularity in the original",
        source="PureSVD: Cremonesi, Koren and Turrin, RecSys 2010",
        cost="heavy",
        compute="metrics.tasks.recommendation",
        by_name=True,
        reads_tables=True,
        said=Said(
            "recommendation",
            {"factors, released": "factors, original"},
            "of the held-out items are among the ten recommended",
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

PRESETS: dict[str, tuple[str, ...]] = {
    "top-m-filter": (
        *("mean-degree", "largest-degree", "degree-variance", "power-law", "shortest-path"),
        *("effective-diameter", "characteristic-length", "diameter", "transitivity"),
        *("degree-distribution", "distance-distribution"),
    )
}
"""Metrics that are asked for by one name: the eleven of the Top-m Filter, S_AD to S_PDD."""
