"""Clusters of rows to what a method hands over: data, cost, and what the owner should know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import Draft
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.data import Bipartite
from graphveil.methods.equal_rows.advising import Counts, advice_on
from graphveil.methods.equal_rows.rows import Labels
from graphveil.methods.equal_rows.rule import Kept, Profiles, cost_of, kept_of, merged, released


def draft_of(
    data: Bipartite,
    labels: Labels,
    found: Profiles,
    held: NDArray[np.bool_],
    guarantee: KAnonymity | SmoothKAnonymity,
) -> Draft:
    """Return what clusters publish, with its cost against the original and advice to the owner.

    Parameters
    ----------
    data
        The original.
    labels
        The cluster of every row.
    found
        The features of every cluster.
    held
        Which of them are published, shape (pairs,).
    guarantee
        What is promised.
    """
    kept = kept_of(found, held, data.n_entries)
    classes = merged(found, held)
    return Draft(
        data=released(data, found, held, labels),
        guarantee=guarantee,
        cost=cost_of(kept, clusters=found.sizes.size, classes=classes.sizes.size),
        advice=advice_on(_counts(data, classes, kept), k=guarantee.k),
    )


def named_as_features(data: Bipartite) -> int:
    """Return how many users' text ids are names of features too; numbers cannot be told apart.

    Examples
    --------
    >>> named_as_features(Bipartite.from_pairs(["ann", "bob"], ["bob", "tea"]))
    1
    """
    if data.users is None or data.features is None or data.users.dtype.kind == "i":
        return 0
    if data.features.dtype.kind == "i":
        return 0
    return len(set(data.users.tolist()).intersection(data.features.tolist()))


def _counts(data: Bipartite, classes: Profiles, kept: Kept) -> Counts:
    sizes = classes.sizes[classes.clusters]
    filled = np.zeros(classes.sizes.size, dtype=np.bool_)
    filled[classes.clusters] = True
    return Counts(
        rows=data.n_users,
        named_as_features=named_as_features(data),
        empty=int(classes.sizes[~filled].sum()),
        certain=int(sizes[classes.counts == sizes].sum()),
        kept=kept,
    )
