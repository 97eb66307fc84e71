"""Greedy growth: a seed and the rows that overlap most with its cluster, k rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule
from graphveil.methods.smooth_k.facility_location import nearest_sums
from graphveil.methods.smooth_k.kernels import facility as kernel
from graphveil.methods.smooth_k.kernels import feature_lists, growth, rarest_first
from graphveil.methods.smooth_k.kernels.search_state import NONE
from graphveil.methods.smooth_k.local_search import clusters_of

Ints = NDArray[np.int64]


def rarest_first_rows(rows: CollapsedRows, unused: Ints) -> rarest_first.RareFirst:
    """Return the rows with their features numbered from the rarest, and the lists of these."""
    counts = np.bincount(rows.indices, minlength=rows.n_features).astype(np.int64, copy=False)
    order = np.argsort(counts, kind="stable")
    numbers = np.empty(rows.n_features, dtype=np.int64)
    numbers[order] = np.arange(rows.n_features)
    degrees = rows.degrees()
    owners = np.repeat(np.arange(rows.n_distinct), degrees)
    entries = owners * rows.n_features + numbers[rows.indices]
    entries.sort()
    indices = entries - owners * rows.n_features
    by_feature = np.argsort(indices, kind="stable")
    members = owners[by_feature]
    lengths = counts[order]
    return rarest_first.RareFirst(
        indptr=rows.indptr,
        indices=indices.astype(np.int32),
        unused=unused,
        firsts=np.searchsorted(degrees, np.arange(degrees.max(initial=0) + 2)).astype(np.int64),
        starts=(np.cumsum(lengths) - lengths).astype(np.int64),
        lengths=lengths,
        gone=np.zeros_like(lengths),
        members=members.astype(np.int32),
        words=_words(indices, owners, rows)[members],
    )


def _words(indices: Ints, owners: Ints, rows: CollapsedRows) -> NDArray[np.uint32]:
    """Return which of the most popular features every row has, a bit each."""
    bits = indices - (rows.n_features - rarest_first.POPULAR)
    is_popular = bits >= 0
    values = np.int64(1) << bits[is_popular]
    sums = np.bincount(owners[is_popular], weights=values, minlength=rows.n_distinct)
    return sums.astype(np.uint32)


EVEN_DEGREES = 0.2
"""The standard deviation of the rows' degrees over their mean up to which they count as even."""

MOST_TRIED, SAMPLED = 20_000, 10_000
"""The distinct rows up to which both orders of seeds are tried, and those of which a sample has so
many."""

QUARTERS = {"degree": 1, "cost": 2}
"""What a feature of a row that may join costs it, in quarters of an overlap of one."""


def grown_clusters(
    rows: CollapsedRows, *, k: int, rule: Rule, seed_order: str, rng: np.random.Generator
) -> Labels:
    """Return clusters of at least k rows, most of them of exactly k.

    A distinct row of k copies or more is a cluster of its own. Around other seeds a cluster takes
    the row of largest mean overlap less a share of its degree. The last rows, fewer than k, go
    where most is kept.

    Time is O(sum of squared degrees of the features) among distinct rows; memory is O(entries +
    rows + features). Bounds on popular features change no cluster. `seed_order`: ``"degree"`` takes
    rows with most features first, ``"cost"`` those with the nearest k rows. ``"auto"`` is the
    first, or the better of both where rows have about as many features each; of over 20,000 rows a
    sample of 10,000 decides.
    """
    orders = ["degree", "cost"] if seed_order == "auto" else [seed_order]
    if seed_order == "auto" and not has_even_degrees(rows):
        orders = ["degree"]
    if len(orders) > 1 and rows.n_distinct > MOST_TRIED:
        sample = _sample(rows, rng)
        orders = [_first_of_most(sample, orders, k=k, rule=rule, rng=rng)[0]]
    return _first_of_most(rows, orders, k=k, rule=rule, rng=rng)[1]


def _first_of_most(
    rows: CollapsedRows, orders: list[str], *, k: int, rule: Rule, rng: np.random.Generator
) -> tuple[str, Labels]:
    """Return the order of seeds whose clusters keep most, the first of equals, and the clusters."""
    first, best, most = "", np.zeros(rows.n_rows, dtype=np.int32), -1.0
    for order in orders:
        with stage("growing clusters"):
            labels = _around(rows, seeds_by(rows, order, k=k, rng=rng), k, QUARTERS[order])
        clusters = clusters_of(rows, labels, rule)
        clusters.insert_unclustered()
        if clusters.jaccard > most:
            first, best, most = order, clusters.labels(), clusters.jaccard
    return first, best


def _sample(rows: CollapsedRows, rng: np.random.Generator) -> CollapsedRows:
    """Return a uniform sample of the distinct rows, each with its copies."""
    chosen = np.sort(rng.permutation(rows.n_distinct)[:SAMPLED])
    weights = rows.weights[chosen]
    kinds = np.repeat(np.arange(chosen.size, dtype=np.int32), weights)
    return CollapsedRows(*rows.lists_of(chosen), weights, kinds, rows.n_features)


def has_even_degrees(rows: CollapsedRows) -> bool:
    """Return whether all rows have about as many features: standard deviation / mean <= 0.2."""
    degrees = rows.degrees()[rows.kinds]
    return bool(degrees.std() <= EVEN_DEGREES * degrees.mean())


def seeds_by(rows: CollapsedRows, order: str, *, k: int, rng: np.random.Generator) -> Ints:
    """Return the distinct rows in the order of seeds, those of equal rank in a random order."""
    if order == "degree":
        keys = -rows.degrees()
    else:
        lists = feature_lists.lists_of(rows.indptr, rows.indices, rows.n_features)
        kinds = kernel.RowKinds(rows.indptr, rows.indices, rows.weights)
        keys = nearest_sums(kinds, lists, min(k, rows.n_rows))
    shuffled = rng.permutation(rows.n_distinct)
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


def _around(rows: CollapsedRows, seeds: Ints, k: int, quarters: int) -> Labels:
    """Return the clusters around these seeds; fewer than k rows are in none and have label -1."""
    is_core = rows.weights >= k
    cores = np.nonzero(is_core)[0]
    unused = np.where(is_core, 0, rows.weights)
    steps = _grown(rows, unused, seeds, k, quarters)
    n_grown = int(steps[:, growth.CLUSTER].max(initial=NONE)) + 1
    last = np.nonzero(unused)[0]
    kinds = np.concatenate([steps[:, growth.KIND], cores, last])
    clusters = np.concatenate(
        [steps[:, growth.CLUSTER], n_grown + np.arange(cores.size), np.full(last.size, NONE)]
    )
    copies = np.concatenate([steps[:, growth.COPIES], rows.weights[cores], unused[last]])
    in_order = np.argsort(kinds, kind="stable")
    labels = np.empty(rows.n_rows, dtype=np.int32)
    labels[rows.by_kind()] = np.repeat(clusters[in_order], copies[in_order])
    return labels


def _grown(rows: CollapsedRows, unused: Ints, seeds: Ints, k: int, quarters: int) -> Ints:
    """Return the steps of growth, by the kernel that is quicker: they are the same."""
    if rows.has_popular_features:
        return rarest_first.grow_rarest_first(rarest_first_rows(rows, unused), seeds, k, quarters)
    lists = feature_lists.lists_of(rows.indptr, rows.indices, rows.n_features)
    return growth.grow(rows.indptr, rows.indices, lists, unused, seeds, k, quarters)
