"""A second release of the same people: the classes of the first are put together, never parted.

Two independent releases leave a person in the part that both classes have in common, which may be
the person alone. Where the second's classes are unions of the first's, that part is the first
class. What a class has in common may still become more certain by the second release.
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


def nested_clusters(
    rows: rules.CollapsedRows,
    first: rules.Labels,
    *,
    k: int,
    rule: rules.Rule,
    rng: np.random.Generator,
) -> rules.Labels:
    """Return clusters of at least k rows, each a union of the first release's classes."""
    profiles = rules.profiles_of(rows, first)
    units = _units(profiles, rule, rows.n_features)
    n = profiles.sizes.size
    price = rules.kept(rows, first, rule).jaccard
    chains = _no_chains(n, rows.n_features)
    shuffled = rng.permutation(n).astype(np.int32)
    order = shuffled[np.argsort(-units.published[shuffled], kind="stable")]
    nesting.grow(units, chains, _threshold(rule, price), order, k)
    for _ in range(PASSES):
        price = rules.kept(rows, chains.cluster[first], rule).jaccard
        order = rng.permutation(n).astype(np.int32)
        if not nesting.improve(units, chains, _threshold(rule, price), order, k):
            break
    _, numbered = np.unique(chains.cluster, return_inverse=True)
    return numbered.astype(np.int32)[first]


def first_classes(first: Release[Any], data: Bipartite | Table) -> rules.Labels:
    """Return the class of every row in an earlier release of the same people, by its linkage."""
    linkage = first.private.linkage if first.private else None
    if linkage is None or not isinstance(first.data, Bipartite | Table):
        raise UsageError(
            "nesting needs a release of user-item data or a table with its private record and "
            "linkage. Keep the linkage of the first release."
        )
    labels = data.labels()
    same_kind = labels.dtype.kind == linkage.original.dtype.kind
    if not same_kind or not np.array_equal(np.sort(labels), np.sort(linkage.original)):
        raise UsageError(
            f"the first release is of {counted(linkage.original.size, 'person')}, but they are not "
            f"the {labels.size} given now. Nest releases of the same people only."
        )
    return rules.collapse(encoded(first.data, Bipartite)).kinds[
        linkage.positions_of(labels, first.data.labels())
    ]


def _threshold(rule: rules.Rule, price: float) -> nesting.Threshold:
    theta = rule.theta
    return nesting.Threshold(theta.numerator, theta.denominator, rule.ties == "drop", price)


def _no_chains(n_units: int, n_features: int) -> nesting.Chains:
    """Return the state in which no unit has a cluster."""
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
