"""Greedy growth: a seed and the rows that overlap most with its cluster, k rows at a time.

graphveil's own algorithm; the paper (Esfandiari et al.) uses facility location. A distinct row of k
copies or more is a cluster of its own, which publishes exactly that row and loses nothing. Around
other seeds, in an order that is chosen here, a cluster takes the row of largest mean overlap less a
price for each of its features, until it has k rows (see the kernel `growth`). It stops at exactly
k, the fewest that the guarantee allows, since larger clusters tend to have less in common. The last
rows, fewer than k, join the clusters in which the objective gains most.

Time is O(sum of squared degrees of the features) among distinct rows; memory is O(entries + rows +
features). Where features are popular another kernel, `rarest_first`, finds the same clusters in
less time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.progress import stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule
from graphveil.methods.smooth_k.facility_location import nearest_sums
from graphveil.methods.smooth_k.kernels import facility as kernel
from graphveil.methods.smooth_k.kernels import feature_lists, growth, rarest_first
from graphveil.methods.smooth_k.kernels.search_state import NONE
from graphveil.methods.smooth_k.local_search import clusters_of


def rarest_first_rows(rows: CollapsedRows, unused: Ints) -> rarest_first.RareFirst:
    """Return the rows with their features numbered from the rarest, and the lists of these.

    `unused`: int64, shape (distinct,): the copies of each row that are to be put into clusters.
    """
    # Step 1: number the features from the rarest on, and sort every row by these numbers.
    counts = np.bincount(rows.indices, minlength=rows.n_features).astype(np.int64, copy=False)
    order = np.argsort(counts, kind="stable")
    numbers = np.empty(rows.n_features, dtype=np.int64)
    numbers[order] = np.arange(rows.n_features)
    degrees = rows.degrees()
    owners = np.repeat(np.arange(rows.n_distinct), degrees)
    entries = owners * rows.n_features + numbers[rows.indices]
    entries.sort()
    indices = entries - owners * rows.n_features
    # Step 2: the lists: stable sorting keeps the rows of a feature ascending.
    by_feature = np.argsort(indices, kind="stable")
    # Words are stored per member, so that reading a list reads both arrays in order.
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
    """Return the popular features of every row, one bit each: uint32, shape (distinct,)."""
    bits = indices - (rows.n_features - rarest_first.POPULAR)
    is_popular = bits >= 0
    values = np.int64(1) << bits[is_popular]
    sums = np.bincount(owners[is_popular], weights=values, minlength=rows.n_distinct)
    return sums.astype(np.uint32)


EVEN_DEGREES = 0.2
"""The standard deviation of the rows' degrees over their mean up to which they count as even: then
the order by degree means little, and the order by distances is tried as well. A choice of
graphveil's: a larger value tries both orders on more data, in twice the time."""

MOST_TRIED, SAMPLED = 20_000, 10_000
"""The number of distinct rows up to which both orders of seeds are tried on all of them, and the
number of rows in the sample that decides above it. They bound the time of the second try."""

QUARTERS = {"degree": 1, "cost": 2}
"""Four times gamma, by order of seeds. Each feature of a row that may join adds the share of the
cluster that has it, less gamma. So by degree a feature counts in favor of the row if more than a
quarter of the cluster has it, by cost if more than half has it. A larger value prefers shorter
rows. Whole quarters keep the scores exact. How both values were chosen is not recorded."""


def grown_clusters(
    rows: CollapsedRows, *, k: int, rule: Rule, seed_order: str, rng: np.random.Generator
) -> Labels:
    """Return clusters of at least k rows, most of them of exactly k.

    Parameters
    ----------
    rows
        The distinct rows and their copies; at least k rows in all.
    k
        The smallest cluster.
    rule
        The keep rule, by which the last rows are placed and two orders compared.
    seed_order
        ``"degree"``: seeds with most features first. ``"cost"``: seeds whose k nearest rows have
        the least sum of distances first; for facility location this sum is an opening cost.
        ``"auto"``: by degree, or the better of both if all rows have about as many features; of
        more than 20,000 distinct rows a sample of 10,000 decides.
    rng
        The random stream: the order of equal seeds, and the sample.

    Returns
    -------
    ndarray
        int32, shape (n,): the cluster of every row.
    """
    # Step 1: which orders of seeds compete.
    orders = ["degree", "cost"] if seed_order == "auto" else [seed_order]
    if seed_order == "auto" and not has_even_degrees(rows):
        orders = ["degree"]
    # Step 2: on large data, on a sample.
    if len(orders) > 1 and rows.n_distinct > MOST_TRIED:
        sample = _sample(rows, rng)
        orders = [_best_of(sample, orders, k=k, rule=rule, rng=rng)[0]]
    # Step 3: grow, and keep the better one.
    return _best_of(rows, orders, k=k, rule=rule, rng=rng)[1]


def _best_of(
    rows: CollapsedRows, orders: list[str], *, k: int, rule: Rule, rng: np.random.Generator
) -> tuple[str, Labels]:
    """Return the first order of seeds whose clusters keep most, and these clusters."""
    first, best, most = "", np.zeros(rows.n_rows, dtype=np.int32), -1.0
    for order in orders:
        with stage("growing clusters"):
            labels = _around(rows, seeds_by(rows, order, k=k, rng=rng), k, QUARTERS[order])
        # The rows without a cluster, fewer than k, go where the objective gains most.
        clusters = clusters_of(rows, labels, rule)
        clusters.insert_unclustered()
        if clusters.jaccard > most:
            first, best, most = order, clusters.labels(), clusters.jaccard
    return first, best


def _sample(rows: CollapsedRows, rng: np.random.Generator) -> CollapsedRows:
    """Return a uniform sample of the distinct rows, each with all of its copies."""
    chosen = np.sort(rng.permutation(rows.n_distinct)[:SAMPLED])
    weights = rows.weights[chosen]
    kinds = np.repeat(np.arange(chosen.size, dtype=np.int32), weights)
    return CollapsedRows(*rows.lists_of(chosen), weights, kinds, rows.n_features)


def has_even_degrees(rows: CollapsedRows) -> bool:
    """Return whether all rows have about as many features: standard deviation / mean <= 0.2."""
    degrees = rows.degrees()[rows.kinds]
    return bool(degrees.std() <= EVEN_DEGREES * degrees.mean())


def seeds_by(rows: CollapsedRows, order: str, *, k: int, rng: np.random.Generator) -> Ints:
    """Return the distinct rows in the order of seeds, int64; equal ranks in random order."""
    if order == "degree":
        keys = -rows.degrees()
    else:
        lists = feature_lists.lists_of(rows.indptr, rows.indices, rows.n_features)
        kinds = kernel.RowKinds(rows.indptr, rows.indices, rows.weights)
        keys = nearest_sums(kinds, lists, min(k, rows.n_rows))
    shuffled = rng.permutation(rows.n_distinct)
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


def _around(rows: CollapsedRows, seeds: Ints, k: int, quarters: int) -> Labels:
    """Return the clusters around these seeds; the last rows, fewer than k, have label -1.

    `quarters`: four times gamma, as in `QUARTERS`.
    """
    # Step 1: rows of k copies or more are clusters of their own, without growth.
    is_core = rows.weights >= k
    cores = np.nonzero(is_core)[0]
    unused = np.where(is_core, 0, rows.weights)
    # Step 2: grow clusters of exactly k around the seeds; what is left unused has no cluster.
    steps = _grown(rows, unused, seeds, k, quarters)
    n_grown = int(steps[:, growth.CLUSTER].max(initial=NONE)) + 1
    last = np.nonzero(unused)[0]
    # Step 3: put steps, cores and the rest together, and hand the copies of every distinct row out
    # to its clusters, in the order of the data.
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
    """Return the steps of growth, by the kernel that takes less time: both give the same steps."""
    if rows.has_popular_features:
        return rarest_first.grow_rarest_first(rarest_first_rows(rows, unused), seeds, k, quarters)
    lists = feature_lists.lists_of(rows.indptr, rows.indices, rows.n_features)
    return growth.grow(rows.indptr, rows.indices, lists, unused, seeds, k, quarters)
