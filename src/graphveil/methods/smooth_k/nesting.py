"""A second release of the same people: the classes of the first are put together, never divided.

An attacker who sees two independent releases knows that a person is in the intersection of both
classes, which may be that person alone. If every class of the second release is a union of classes
of the first, the intersection is the class of the first. What a class has in common may still
become more certain by the second release.

graphveil's own; the paper (Esfandiari et al.) has one release. The classes of the first release are
the units of a greedy growth with moves and swaps (see the kernel of the same name), under the
objective of the local search. Time grows with the units times the features of a cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import UsageError
from graphveil.core.text import counted
from graphveil.data import Bipartite, Table
from graphveil.data.kinds import encoded
from graphveil.methods.equivalence_classes import rule as rules
from graphveil.methods.smooth_k.kernels import nesting
from graphveil.release import Release

PASSES = 6
"""Passes of moves and swaps at most; a pass without any change is the last."""


def nested_clusters(
    rows: rules.CollapsedRows,
    classes: rules.Labels,
    *,
    k: int,
    rule: rules.Rule,
    rng: np.random.Generator,
) -> rules.Labels:
    """Return clusters of at least k rows, each a union of the first release's classes.

    Parameters
    ----------
    rows
        The distinct rows of the original, and their copies.
    classes
        int32, shape (n,): the class of every row in the first release.
    k, rule
        The smallest cluster, and the keep rule of the second release.
    rng
        The random stream: the orders in which classes are visited.

    Returns
    -------
    ndarray
        int32, shape (n,): the cluster of every row, numbered from 0.
    """
    # Step 1: the classes as units. The first price of an entry of the union is the Jaccard index
    # that the classes have as they are, before any two are put together.
    profiles = rules.profiles_of(rows, classes)
    units = _units(profiles, rule, rows.n_features)
    n = profiles.sizes.size
    price = rules.kept(rows, classes, rule).jaccard
    # Step 2: grow clusters. Classes that publish most features start first; those that publish
    # equally many are in random order.
    chains = _no_chains(n, rows.n_features)
    shuffled = rng.permutation(n).astype(np.int32)
    order = shuffled[np.argsort(-units.published[shuffled], kind="stable")]
    nesting.grow(units, chains, _threshold(rule, price), order, k)
    # Step 3: move and swap classes, pass after pass, at the price of what is kept now (Dinkelbach).
    for _ in range(PASSES):
        price = rules.kept(rows, chains.cluster[classes], rule).jaccard
        order = rng.permutation(n).astype(np.int32)
        if not nesting.improve(units, chains, _threshold(rule, price), order, k):
            break
    _, numbered = np.unique(chains.cluster, return_inverse=True)
    return numbered.astype(np.int32)[classes]


def earlier_classes(earlier: Release[Any], data: Bipartite | Table) -> rules.Labels:
    """Return the class of every row in an earlier release of the same people, by its linkage.

    Raises
    ------
    UsageError
        If the release has no linkage, is of another kind, or is of other people.
    """
    linkage = earlier.private.linkage if earlier.private else None
    if linkage is None or not isinstance(earlier.data, Bipartite | Table):
        raise UsageError(
            "nesting needs a release of user-item data or a table with its private record and "
            "linkage. Keep the linkage of the first release."
        )
    # The linkage leads from the ids of the original to released rows; equal released rows are a
    # class.
    labels = data.labels()
    same_kind = labels.dtype.kind == linkage.original.dtype.kind
    if not same_kind or not np.array_equal(np.sort(labels), np.sort(linkage.original)):
        raise UsageError(
            f"the first release is of {counted(linkage.original.size, 'person')}, but they are not "
            f"the {labels.size} given now. Nest releases of the same people only."
        )
    return rules.collapse(encoded(earlier.data, Bipartite)).kinds[
        linkage.positions_of(labels, earlier.data.labels())
    ]


def _threshold(rule: rules.Rule, price: float) -> nesting.Threshold:
    theta = rule.theta
    return nesting.Threshold(theta.numerator, theta.denominator, rule.ties == "drop", price)


def _no_chains(n_units: int, n_features: int) -> nesting.Chains:
    """Return the state in which no unit has a cluster yet."""
    # There are at most as many clusters as units.
    cluster, after, head = np.full((3, n_units), -1, dtype=np.int32)
    total, shared = np.zeros((2, n_units), dtype=np.int64)
    return nesting.Chains(
        cluster=cluster,
        after=after,
        head=head,
        total=total,
        seen=np.zeros(n_features, dtype=np.int64),
        shared=shared,
        touched=np.empty(n_features, dtype=np.int32),
    )


def _units(profiles: rules.Profiles, rule: rules.Rule, n_features: int) -> nesting.Units:
    n = profiles.sizes.size
    # A unit counts as similar by the features that it publishes by itself; its counts are of all
    # features.
    is_kept = profiles.kept(rule)
    clusters, features = profiles.clusters[is_kept], profiles.features[is_kept]
    return nesting.Units(
        indptr=_starts(profiles.clusters, n),
        features=profiles.features,
        counts=profiles.counts,
        sizes=profiles.sizes,
        list_indptr=_starts(features, n_features),
        list_units=clusters[np.argsort(features, kind="stable")],
        published=np.bincount(clusters, minlength=n).astype(np.int64),
    )


def _starts(values: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(values, minlength=n))]).astype(np.int64)
