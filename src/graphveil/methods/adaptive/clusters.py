"""Clusters of rows whose common values are published: merged, then improved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.adaptive.forest import trees
from graphveil.methods.adaptive.kernels import exchange, merging
from graphveil.methods.adaptive.kernels.planes import Packed
from graphveil.methods.adaptive.problem import Codes, differing_columns
from graphveil.methods.equivalence_classes.masks import MOST_COLUMNS, MaskedStart, masked_classes

Ints = NDArray[np.int64]
Labels = NDArray[np.int64]

Search = Literal["plain", "agglomerative", "local", "forest"]
_PLAIN = ((merging.PLAIN, 0.0, 0), (merging.PLAIN, merging.SMALL_FIRST, 0))
_STARTS = (
    *_PLAIN,
    (merging.BY_SIZE, merging.SMALL_FIRST, 0),
    (merging.PLAIN, 0.0, 1),
    (merging.BY_SIZE, 0.0, 1),
    (merging.BY_LOGARITHM, 0.0, 1),
)
"""What a cost is divided by, what a row more counts for, and whether clusters are shrunk to k."""

PASSES = 30
PLAIN_ORDERS = 3


def clusters(
    rows: Packed, k: int, search: Search, rng: np.random.Generator
) -> exchange.ClusterMembers:
    """Return clusters of at least k rows each that suppress few cells.

    ``"plain"`` merges the two whose union costs least; equal costs are decided in eight ways.
    ``"agglomerative"`` also merges under other costs, in six ways. ``"local"`` improves each of the
    six first, and clusters that masks make. ``"forest"`` merges nothing: see `trees`.
    """
    passes, n = PASSES if search == "local" else 0, rows.stars.shape[0]
    if search == "forest":
        return _improved(rows, trees(rows, k), np.full(n, k), _visits(n, 0, rng))
    levels = np.full(n, k)
    merged = (
        _merged(rows, merging.MergeRule(k, *start), order)
        for order in _orders(n, search, rng)
        for start in (_PLAIN if search == "plain" else _STARTS)
    )
    tried = (_improved(rows, each, levels, _visits(n, passes, rng)) for each in merged)
    best = min(tried, key=stars_of)
    masked = masked_start(differing_columns(rows), k) if search == "local" else None
    if masked is None:
        return best
    grouped = _improved(rows, masked.labels, levels, _visits(n, passes, rng))
    return min(best, grouped, key=stars_of)


MOST_TIERS = 4
"""Up to so many different levels each is a tier; of more, their quartiles are."""


def clusters_by_level(rows: Packed, levels: Ints, rng: np.random.Generator) -> Labels:
    """Return the cluster of every row: as many rows as the largest level in it, or more.

    Each run of levels is clustered for itself: merged all at once, people of high levels would pull
    everybody into clusters of their size. Then all clusters are improved together.
    """
    made = dict[tuple[int, int], Labels]()

    def grouped(runs: tuple[tuple[int, int], ...]) -> exchange.ClusterMembers:
        labels = np.empty(levels.size, dtype=np.int64)
        for number, (least, most) in enumerate(runs):
            some = np.flatnonzero((least < levels) & (levels <= most))
            if (least, most) not in made:
                made[least, most] = _of_one_level(rows, some, most, rng)
            labels[some] = made[least, most] + number * levels.size
        return _improved(rows, labels, levels, _visits(levels.size, PASSES, rng))

    best = min(map(grouped, _ways_to_cut(levels)), key=stars_of)
    return np.unique(best.labels, return_inverse=True)[1]


def _of_one_level(rows: Packed, some: Ints, level: int, rng: np.random.Generator) -> Labels:
    """Return the clusters of some rows of at least so many each, by the order of the rows."""
    if level == 1:
        return np.arange(some.size)
    chosen = Packed(rows.planes[some], rows.stars[some], rows.offsets)
    return clusters(chosen, level, "local", rng).labels


def _ways_to_cut(levels: Ints) -> list[tuple[tuple[int, int], ...]]:
    """Return every way to cut levels into runs of enough rows: above the one, up to the other."""
    tiers = np.unique(levels)
    if tiers.size > MOST_TIERS:
        shares = np.arange(1, MOST_TIERS + 1) / MOST_TIERS
        tiers = np.unique(np.quantile(levels, shares, method="higher"))
    *inner, top = tiers.tolist()
    ways = dict[tuple[tuple[int, int], ...], None]()
    for choice in range(1 << len(inner)):
        ends = [level for bit, level in enumerate(inner) if choice >> bit & 1] + [top]
        runs, most = list[tuple[int, int]](), top
        for least in [*ends[-2::-1], 0]:
            if np.count_nonzero((least < levels) & (levels <= most)) >= most:
                runs.append((least, most))
                most = least
        if most > 0:
            runs[-1] = (0, runs[-1][1])
        ways[tuple(runs)] = None
    return list(ways)


def masked_start(codes: Codes, k: int) -> MaskedStart | None:
    """Return clusters of rows put together by the columns that they publish, the finest first."""
    if not 0 < codes.shape[1] <= MOST_COLUMNS:
        return None
    distinct, kinds, copies = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    masked = masked_classes(distinct, copies.astype(np.int64), k=k)
    labels = np.empty_like(masked.labels)
    labels[np.argsort(kinds.ravel(), kind="stable")] = masked.labels
    return masked._replace(labels=labels)


def hidden_by(codes: Codes, labels: Labels) -> NDArray[np.bool_]:
    """Return the cells that clusters suppress: where their rows differ, or a cell is missing."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(int(labels.max()) + 1))
    least = np.minimum.reduceat(codes[order], starts, axis=0)
    most = np.maximum.reduceat(codes[order], starts, axis=0)
    return np.asarray(((least != most) | (least < 0))[labels])


def _orders(n: int, search: Search, rng: np.random.Generator) -> Iterator[Labels]:
    """Yield orders of the rows: the plain search, which is quick, tries some."""
    yield np.arange(n)
    for _ in range(PLAIN_ORDERS if search == "plain" else 0):
        yield rng.permutation(n)


def _merged(rows: Packed, rule: merging.MergeRule, order: Labels) -> Labels:
    """Return the cluster of every row; of unions of the same cost the first in this order wins."""
    ordered = Packed(rows.planes[order], rows.stars[order], rows.offsets)
    equal = identical(ordered)
    work = merging.merging(ordered, in_chunks(equal, rule.k) if rule.shrink else equal)
    merging.merge(ordered, work, rule)
    labels = np.empty_like(work.labels)
    labels[order] = work.labels
    return labels


def identical(rows: Packed) -> Labels:
    """Return for every row the first one that equals it."""
    words = np.concatenate([rows.planes, rows.stars], axis=1)
    _, first, kind = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return first[kind]


def in_chunks(labels: Labels, size: int) -> Labels:
    """Return clusters divided, in the order of their rows, into chunks of at most so many rows."""
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
    """Return the order in which rows are visited in every pass."""
    return rng.permuted(np.tile(np.arange(n, dtype=np.int32), (passes, 1)), axis=1)


def _improved(
    rows: Packed, labels: Labels, levels: Ints, orders: NDArray[np.int32]
) -> exchange.ClusterMembers:
    grouped = exchange.clusters_of(rows, np.unique(labels, return_inverse=True)[1])
    exchange.improve(rows, grouped, levels, orders)
    return grouped
