"""Metrics of users by features."""

from __future__ import annotations

from functools import partial

from graphveil.core.rows import Rows
from graphveil.core.text import number
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import Metric, Said, percent_of_others, value_of

TOP_PAIRS = 100


def _of_released(rows: Rows, created: float) -> float:
    """Return the share of released entries that are false, from shares of the original's."""
    released = 1 - (value_of(rows, "entries-suppressed", "share") or 0.0) + created
    return created / released if released else 0.0


_features = partial(Metric[BipartiteComparison], kind=Bipartite, direction="lower is better")

SMOOTH = "Esfandiari et al., Smooth Anonymity for Sparse Graphs"

BIPARTITE_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    _features(
        name="entry-jaccard",
        direction="higher is better",
        definition="entries (user, feature) in both divided by entries in either; 1 if there are "
        "none",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.user_items.jaccard",
        as_sample="every part",
    ),
    _features(
        name="entries-suppressed",
        definition="original entries that are not released",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.user_items.suppressed",
        as_sample="every part",
        said=Said(
            "entries kept",
            "share",
            "of the original entries",
            place=1,
            ending=" are kept",
            spelled=percent_of_others,
            headline=True,
        ),
    ),
    _features(
        name="entries-created",
        definition="released entries that are not in the original: false statements about people",
        source=SMOOTH,
        needs_linkage=True,
        compute="metrics.user_items.created",
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
        compute="metrics.user_items.user_jaccard",
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
        compute="metrics.user_items.feature_jaccard",
        as_sample=("mean",),
    ),
    _features(
        name="feature-frequency",
        definition="number of users who have a feature: the largest difference between the "
        "cumulative distributions over features, and the mean and largest change of "
        "a single feature; features missing on one side count as 0 users there",
        source="Kolmogorov-Smirnov distance",
        compute="metrics.user_items.frequency",
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
        compute="metrics.user_items.pair_frequency",
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
        compute="metrics.user_items.empty_rows",
        said=Said(
            "items per person",
            {"released": "original"},
            "people have no item",
            place=3,
            spelled=number,
        ),
    ),
)
