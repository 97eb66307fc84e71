"""Clusters of rows to what a method hands over: data, cost, and what the owner should know."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.advice import (
    ids_among_features,
    large_empty_class,
    many_certain,
    taking_part,
)
from graphveil.anonymizer import Draft
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.data import Bipartite
from graphveil.methods.equal_rows.rows import Labels
from graphveil.methods.equal_rows.rule import Kept, Profiles, classes_of, cost_of, kept_of, released


def draft_of(
    data: Bipartite,
    labels: Labels,
    profiles: Profiles,
    published: NDArray[np.bool_],
    guarantee: KAnonymity | SmoothKAnonymity,
) -> Draft:
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
    guarantee
        What is promised.
    """
    kept = kept_of(profiles, published, data.n_entries)
    classes = classes_of(profiles, published)
    return Draft(
        data=released(data, profiles, published, labels),
        guarantee=guarantee,
        cost=cost_of(kept, clusters=profiles.sizes.size, classes=classes.sizes.size),
        advice=(
            *ids_among_features(named_as_features(data), data.n_users),
            *_advice(classes, kept, guarantee.k, data.n_users),
        ),
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


def _advice(classes: Profiles, kept: Kept, k: int, n_rows: int) -> tuple[str, ...]:
    sizes = classes.sizes[classes.clusters]
    certain = int(sizes[classes.counts == sizes].sum())
    filled = np.zeros(classes.sizes.size, dtype=np.bool_)
    filled[classes.clusters] = True
    return (
        *taking_part(k, kept.jaccard),
        *many_certain(certain, int(sizes.sum())),
        *large_empty_class(int(classes.sizes[~filled].sum()), n_rows),
    )
