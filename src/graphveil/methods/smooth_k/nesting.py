"""A second release of the same people: the classes of the first are put together, never parted.

Two independent releases leave a person in the part that both classes have in common, which may be
the person alone. Where the second's classes are unions of the first's, that part is the first
class. What a class has in common may still become more certain by the second release.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite
from graphveil.errors import UsageError
from graphveil.kernels.smooth_k import nesting as kernel
from graphveil.methods.equal_rows.rows import Labels, Rows, collapse
from graphveil.methods.equal_rows.rule import Profiles, Rule, kept, profiles
from graphveil.release import Release

PASSES = 6


def nested_clusters(
    rows: Rows, first: Labels, *, k: int, rule: Rule, rng: np.random.Generator
) -> Labels:
    """Return clusters of at least k rows, each a union of the first release's classes.

    Parameters
    ----------
    rows
        The data.
    first
        The class of every row in the first release, numbered from 0.
    k
        The smallest cluster.
    rule
        What a cluster publishes.
    rng
        The randomness.

    Notes
    -----
    Classes are joined greedily by the exact gain of the objective of local search, then moved and
    exchanged while that gains.

    Examples
    --------
    >>> rows = collapse(Bipartite.from_lists([[0, 1], [0, 1], [0], [0]]))
    >>> first = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> nested_clusters(rows, first, k=4, rule=Rule(), rng=np.random.Generator(np.random.PCG64(1)))
    array([0, 0, 0, 0], dtype=int32)
    """
    found = profiles(rows, first)
    units = _units(found, rule, rows.n_features)
    n = found.sizes.size
    price = kept(rows, first, rule).jaccard
    chains = kernel.Chains(
        cluster=np.full(n, -1, dtype=np.int32),
        after=np.full(n, -1, dtype=np.int32),
        head=np.full(n, -1, dtype=np.int32),
        total=np.zeros(n, dtype=np.int64),
        seen=np.zeros(rows.n_features, dtype=np.int64),
        shared=np.zeros(n, dtype=np.int64),
        touched=np.empty(rows.n_features, dtype=np.int32),
    )
    shuffled = rng.permutation(n).astype(np.int32)
    order = shuffled[np.argsort(-units.published[shuffled], kind="stable")]
    kernel.grow(units, chains, _threshold(rule, price), order, k)
    for _ in range(PASSES):
        price = kept(rows, chains.cluster[first], rule).jaccard
        order = rng.permutation(n).astype(np.int32)
        if not kernel.improve(units, chains, _threshold(rule, price), order, k):
            break
    _, numbered = np.unique(chains.cluster, return_inverse=True)
    return numbered.astype(np.int32)[first]


def classes_of(first: Release, data: Bipartite) -> Labels:
    """Return the class of every row in an earlier release of the same people, by its linkage.

    Parameters
    ----------
    first
        The earlier release, with its private part.
    data
        What is to be released now, under the same ids.

    Raises
    ------
    UsageError
        Where the linkage was not kept, or is of other people.
    """
    linkage = first.private.linkage if first.private else None
    if linkage is None or not isinstance(first.data, Bipartite):
        raise UsageError(
            "nesting needs a release of users by features with its private record and linkage. "
            "Keep the linkage of the first release."
        )
    labels = data.labels()
    same_kind = labels.dtype.kind == linkage.original.dtype.kind
    if not same_kind or not np.array_equal(np.sort(labels), np.sort(linkage.original)):
        raise UsageError(
            f"the first release is of {linkage.original.size} people, and they are not the "
            f"{labels.size} given now. Nest releases of the same people only."
        )
    return collapse(first.data).kinds[linkage.positions_of(labels, first.data.labels())]


def _threshold(rule: Rule, price: float) -> kernel.Threshold:
    theta = rule.theta
    return kernel.Threshold(theta.numerator, theta.denominator, rule.ties == "drop", price)


def _units(found: Profiles, rule: Rule, n_features: int) -> kernel.Units:
    n = found.sizes.size
    held = found.kept(rule)
    by_feature = np.argsort(found.features[held], kind="stable")
    return kernel.Units(
        indptr=_starts(found.clusters, n),
        features=found.features,
        counts=found.counts,
        sizes=found.sizes,
        list_indptr=_starts(found.features[held], n_features),
        list_units=found.clusters[held][by_feature],
        published=np.bincount(found.clusters[held], minlength=n).astype(np.int64),
    )


def _starts(values: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(values, minlength=n))]).astype(np.int64)
