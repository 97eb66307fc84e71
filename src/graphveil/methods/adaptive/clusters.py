"""Clusters of rows whose common values are published: merged, then improved.

The baseline of Choromanski, Jebara & Tang (section 5) is agglomerative clustering (the kernel
`merging`), which it says outperforms the forest algorithm. graphveil's own: several merging rules,
of which the best counts; local search on each (the kernel `exchange`); a start by masks, the
columns that a class publishes; and clusters for levels that differ. Time is O(n n) comparisons of
rows for each start and O(n) for each visit of a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.adaptive.forest import trees
from graphveil.methods.adaptive.kernels import exchange, merging
from graphveil.methods.adaptive.kernels.planes import Packed
from graphveil.methods.adaptive.problem import Codes, differing_columns
from graphveil.methods.equivalence_classes.masks import MOST_COLUMNS, MaskedStart, masked_classes

Labels = NDArray[np.int64]

Search = Literal["plain", "agglomerative", "local", "forest"]
_PLAIN = ((merging.PLAIN, 0.0, 0), (merging.PLAIN, merging.SMALL_FIRST, 0))
"""What a price is divided by, what a row more adds to it, and whether clusters are shrunk to k. The
plain rules decide equal prices by order, or for the smaller union."""

_STARTS = (
    *_PLAIN,
    (merging.BY_SIZE, merging.SMALL_FIRST, 0),
    (merging.PLAIN, 0.0, 1),
    (merging.BY_SIZE, 0.0, 1),
    (merging.BY_LOGARITHM, 0.0, 1),
)
"""All rules of merging: the plain ones, the increase per row of the union, and those that shrink
clusters above k rows."""

PASSES = 30
"""Passes of the local search at most; a pass that saves nothing is the last."""

PLAIN_ORDERS = 3
"""Random orders of the rows that the plain search tries in addition to the given one: equal prices
are decided by order, and plain merging is fast."""


def clusters(
    rows: Packed, k: int, search: Search, rng: np.random.Generator
) -> exchange.ClusterMembers:
    """Return clusters of at least k rows each that suppress few cells.

    Parameters
    ----------
    rows
        The rows as bits; at least k.
    k
        The smallest cluster.
    search
        ``"plain"`` merges the two whose union costs least; equal costs are decided in eight ways.
        ``"agglomerative"`` merges in six ways, under other costs too. ``"local"`` improves each of
        the six, and clusters by masks. ``"forest"`` merges nothing: see `forest`.
    rng
        The random stream.

    Returns
    -------
    ClusterMembers
        The labels, and what the rows of each cluster have in common.
    """
    passes, n = PASSES if search == "local" else 0, rows.stars.shape[0]
    if search == "forest":
        return _improved(rows, trees(rows, k), np.full(n, k), _visits(n, 0, rng))
    levels = np.full(n, k)
    # Step 1: clusters by merging, in several ways.
    merged = (
        _merged(rows, merging.MergeRule(k, *start), order)
        for order in _orders(n, search, rng)
        for start in (_PLAIN if search == "plain" else _STARTS)
    )
    # Step 2: improve each by local search (no pass unless ``search="local"``); the fewest stars
    # win.
    tried = (_improved(rows, each, levels, _visits(n, passes, rng)) for each in merged)
    best = min(tried, key=stars_of)
    # Step 3: one more start, by the columns that classes publish.
    masked = masked_start(differing_columns(rows), k) if search == "local" else None
    if masked is None:
        return best
    grouped = _improved(rows, masked.labels, levels, _visits(n, passes, rng))
    return min(best, grouped, key=stars_of)


MOST_TIERS = 4
"""Up to this many different levels each is a tier; of more, their quartiles are. There are 2^(tiers
- 1) ways to cut, each clustered and improved."""


def clusters_by_level(rows: Packed, levels: Ints, rng: np.random.Generator) -> Labels:
    """Return the cluster of every row: at least as many rows as the largest level in it.

    graphveil's own. Each run of levels is clustered by itself: if all were merged at once, people
    of high levels would pull everybody into clusters of their size. Then all clusters are improved
    together. The way to cut the levels into runs that suppresses least wins.

    Parameters
    ----------
    rows
        The rows as bits.
    levels
        int64, shape (n,).
    rng
        The random stream.

    Returns
    -------
    ndarray
        int64, shape (n,), numbered from 0.
    """
    # Runs that several ways have in common are clustered once. Adding `number * levels.size` keeps
    # the labels of different runs apart.
    clusters_of_run = dict[tuple[int, int], Labels]()

    def grouped(runs: tuple[tuple[int, int], ...]) -> exchange.ClusterMembers:
        labels = np.empty(levels.size, dtype=np.int64)
        for number, (least, most) in enumerate(runs):
            run = np.flatnonzero((least < levels) & (levels <= most))
            if (least, most) not in clusters_of_run:
                clusters_of_run[least, most] = _of_one_level(rows, run, most, rng)
            labels[run] = clusters_of_run[least, most] + number * levels.size
        return _improved(rows, labels, levels, _visits(levels.size, PASSES, rng))

    # The way with the fewest stars, clusters numbered without gaps.
    best = min(map(grouped, _ways_to_cut(levels)), key=stars_of)
    return np.unique(best.labels, return_inverse=True)[1]


def _of_one_level(rows: Packed, run: Ints, level: int, rng: np.random.Generator) -> Labels:
    """Return clusters of the rows of a run, at least `level` in each: int64, by position in `run`.

    A level of 1 asks for no other row, so every row is a cluster and nothing is suppressed.
    """
    if level == 1:
        return np.arange(run.size)
    chosen = Packed(rows.planes[run], rows.stars[run], rows.offsets)
    return clusters(chosen, level, "local", rng).labels


def _ways_to_cut(levels: Ints) -> list[tuple[tuple[int, int], ...]]:
    """Return every way to cut the levels into runs, each of as many rows as its largest level.

    A run is the levels above its first number, up to its second. Runs are listed from the top.

    >>> _ways_to_cut(np.array([1, 1, 2, 2, 2]))
    [((0, 2),), ((1, 2), (0, 1))]
    """
    # Step 1: the tiers: the levels themselves, or their quartiles.
    tiers = np.unique(levels)
    if tiers.size > MOST_TIERS:
        shares = np.arange(1, MOST_TIERS + 1) / MOST_TIERS
        tiers = np.unique(np.quantile(levels, shares, method="higher"))
    *inner, top = tiers.tolist()
    ways = dict[tuple[tuple[int, int], ...], None]()
    # Step 2: every set of borders: bit b of `choice` says whether inner tier b ends a run. From the
    # top down, a run with fewer rows than its largest level takes in the next lower one.
    for choice in range(1 << len(inner)):
        ends = [level for bit, level in enumerate(inner) if choice >> bit & 1] + [top]
        runs, most = list[tuple[int, int]](), top
        for least in [*ends[-2::-1], 0]:
            if np.count_nonzero((least < levels) & (levels <= most)) >= most:
                runs.append((least, most))
                most = least
        # The lowest rows, if they are too few, join the run above them.
        if most > 0:
            runs[-1] = (0, runs[-1][1])
        ways[tuple(runs)] = None
    return list(ways)


def masked_start(codes: Codes, k: int) -> MaskedStart | None:
    """Return clusters of rows put together by the columns that they publish, the finest first.

    None if there are no columns or too many. See `graphveil.methods.equivalence_classes.masks`.
    """
    if not 0 < codes.shape[1] <= MOST_COLUMNS:
        return None
    distinct, kinds, copies = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    masked = masked_classes(distinct, copies.astype(np.int64), k=k)
    labels = np.empty_like(masked.labels)
    labels[np.argsort(kinds.ravel(), kind="stable")] = masked.labels
    return masked._replace(labels=labels)


def hidden_by(codes: Codes, labels: Labels) -> NDArray[np.bool_]:
    """Return the cells that clusters suppress: rows differ or a cell is missing; bool, (n, d)."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(int(labels.max()) + 1))
    # In a column on which all agree the least and the largest code are equal; -1 is missing.
    least = np.minimum.reduceat(codes[order], starts, axis=0)
    most = np.maximum.reduceat(codes[order], starts, axis=0)
    return np.asarray(((least != most) | (least < 0))[labels])


def _orders(n: int, search: Search, rng: np.random.Generator) -> Iterator[Labels]:
    """Yield orders of the rows; the plain search, which is fast, tries several."""
    yield np.arange(n)
    for _ in range(PLAIN_ORDERS if search == "plain" else 0):
        yield rng.permutation(n)


def _merged(rows: Packed, rule: merging.MergeRule, order: Labels) -> Labels:
    """Return the cluster of every row; of unions of equal price the first in this order wins."""
    ordered = Packed(rows.planes[order], rows.stars[order], rows.offsets)
    # Equal rows start as one cluster, in chunks of at most k if clusters are to be shrunk.
    equal = identical(ordered)
    work = merging.merging(ordered, in_chunks(equal, rule.k) if rule.shrink else equal)
    merging.merge(ordered, work, rule)
    labels = np.empty_like(work.labels)
    labels[order] = work.labels
    return labels


def identical(rows: Packed) -> Labels:
    """Return for every row the first one that equals it: int64, shape (n,)."""
    words = np.concatenate([rows.planes, rows.stars], axis=1)
    _, first, kind = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return first[kind]


def in_chunks(labels: Labels, size: int) -> Labels:
    """Return clusters divided, in the order of their rows, into chunks of at most `size` rows."""
    order = np.argsort(labels, kind="stable")
    ascending = labels[order]
    within = np.arange(labels.size) - np.searchsorted(ascending, ascending)
    chunks = np.empty_like(labels)
    chunks[order] = order[np.arange(labels.size) - within % size]
    return chunks


def stars_of(grouped: exchange.ClusterMembers) -> int:
    """Return how many cells clusters suppress."""
    columns = np.bitwise_count(grouped.common.stars).sum(axis=1, dtype=np.int64)
    return int((grouped.sizes * columns).sum())


def _visits(n: int, passes: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the order in which rows are visited in every pass: int32, shape (passes, n)."""
    return rng.permuted(np.tile(np.arange(n, dtype=np.int32), (passes, 1)), axis=1)


def _improved(
    rows: Packed, labels: Labels, levels: Ints, orders: NDArray[np.int32]
) -> exchange.ClusterMembers:
    """Return these clusters after the local search; without passes as they are."""
    grouped = exchange.clusters_of(rows, np.unique(labels, return_inverse=True)[1])
    exchange.improve(rows, grouped, levels, orders)
    return grouped
