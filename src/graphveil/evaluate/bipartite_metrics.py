"""The metrics of user-feature data."""

from __future__ import annotations

from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import Metric
from graphveil.evaluate.sizes import TOP_PAIRS

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
        compute="entries.jaccard",
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
        compute="entries.suppressed",
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
        compute="entries.created",
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
        compute="entries.user_jaccard",
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
        compute="entries.feature_jaccard",
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
        compute="features.frequency",
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
        compute="features.pair_frequency",
    ),
    Metric(
        name="empty-rows",
        kind=Bipartite,
        direction="lower is better",
        definition="users without any feature",
        source=SMOOTH,
        needs_linkage=False,
        cost="linear",
        compute="entries.empty_rows",
    ),
)
