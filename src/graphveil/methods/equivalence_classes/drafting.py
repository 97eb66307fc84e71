"""Clusters of rows to what a method hands over: data, cost, and what the owner should know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import MethodResult
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rows import Labels
from graphveil.methods.equivalence_classes.rule import (
    Kept,
    Profiles,
    classes_of,
    cost_of,
    kept_of,
    released,
)
from graphveil.methods.equivalence_classes.warned import EntryCounts, advice_on


def draft_of(
    data: Bipartite,
    labels: Labels,
    profiles: Profiles,
    published: NDArray[np.bool_],
    k: int,
) -> MethodResult:
    """Return what clusters publish, with its cost against the original and advice to the owner.

    Parameters
    ----------
    data
        The original.
    labels
        The cluster of every row.
    profiles
        The features of every cluster.
    published
        Which of them are published, shape (pairs,).
    k
        The smallest class that is promised.
    """
    kept = kept_of(profiles, published, data.n_entries)
    classes = classes_of(profiles, published)
    return MethodResult(
        data=released(data, profiles, published, labels),
        cost=cost_of(kept, clusters=profiles.sizes.size, classes=classes.sizes.size),
        advice=advice_on(_counts(data, classes, kept), k=k),
    )


def _counts(data: Bipartite, classes: Profiles, kept: Kept) -> EntryCounts:
    sizes = classes.sizes[classes.clusters]
    filled = np.zeros(classes.sizes.size, dtype=np.bool_)
    filled[classes.clusters] = True
    return EntryCounts(
        rows=data.n_users,
        empty=int(classes.sizes[~filled].sum()),
        certain=int(sizes[classes.counts == sizes].sum()),
        kept=kept,
    )
