"""Clusters of rows to what a method hands over: data, cost, and what the owner should know.

What the owner of classes of equal rows should know, by what was counted on them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.changes import EntryChanges
from graphveil.core import warnings as owner_warnings
from graphveil.data import Bipartite
from graphveil.methods.base import MethodResult
from graphveil.methods.equivalence_classes.rule import (
    Labels,
    Profiles,
    classes_of,
    kept_of,
    released,
)


class EntryCounts(NamedTuple):
    """What the advice on a release depends on.

    Parameters
    ----------
    rows
        The rows.
    empty
        The rows that are released without features.
    certain
        The published entries whose feature every row of the class has in the original.
    kept
        What the release shares with the original.
    """

    rows: int
    empty: int
    certain: int
    kept: EntryChanges


def advice_on(counts: EntryCounts, *, k: int) -> tuple[str, ...]:
    """Return what the owner should know, in the order in which it is said.

    Parameters
    ----------
    counts
        What was counted on the release and on the original.
    k
        The smallest class.

    Examples
    --------
    >>> advice_on(EntryCounts(10, 1, 4, EntryChanges(10, 8, 0)), k=2)
    ()
    >>> len(advice_on(EntryCounts(10, 2, 6, EntryChanges(10, 6, 1)), k=2))
    3
    """
    kept = counts.kept
    return (
        *owner_warnings.taking_part(k, kept.jaccard),
        *owner_warnings.MANY_CERTAIN.passed_by(counts.certain, kept.kept + kept.added),
        *owner_warnings.LARGE_EMPTY_CLASS.passed_by(counts.empty, counts.rows),
    )


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
        facts={"clusters": profiles.sizes.size, "classes": classes.sizes.size},
        advice=advice_on(_counts(data, classes, kept), k=k),
    )


def _counts(data: Bipartite, classes: Profiles, kept: EntryChanges) -> EntryCounts:
    sizes = classes.sizes[classes.clusters]
    filled = np.zeros(classes.sizes.size, dtype=np.bool_)
    filled[classes.clusters] = True
    return EntryCounts(
        rows=data.n_users,
        empty=int(classes.sizes[~filled].sum()),
        certain=int(sizes[classes.counts == sizes].sum()),
        kept=kept,
    )
