"""Clusters of at least k rows whose common values are published: merged, then improved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.adaptive import exchange, merging
from graphveil.kernels.adaptive.planes import Packed
from graphveil.methods.adaptive import forest
from graphveil.methods.adaptive.packing import Codes, differing_columns
from graphveil.methods.equivalence_classes.masks import MOST_COLUMNS, MaskedStart, masked_classes

Labels = NDArray[np.int64]
Search = Literal["plain", "agglomerative", "local", "forest"]

_PLAIN = (
    (merging.PLAIN, 0.0, 0),
    (merging.PLAIN, merging.SMALL_FIRST, 0),
)
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

    Parameters
    ----------
    rows
        At least k rows.
    k
        The fewest rows of a cluster, at least 2.
    search
        ``"plain"`` merges the two clusters whose union costs least; which of several is decided in
        eight ways, and the best is kept. ``"agglomerative"`` also merges under other notions of
        cost, in six ways, and ``"local"`` improves each of the six first, and clusters that are
        put together by masks. ``"forest"`` merges nothing: see `forest.trees`.
    rng
        Orders of rows.
    """
    passes = PASSES if search == "local" else 0
    n, best = rows.stars.shape[0], None
    if search == "forest":
        return _improved(rows, forest.trees(rows, k), k, np.empty((0, n), dtype=np.int32))
    for order in _orders(n, search, rng):
        for start in _PLAIN if search == "plain" else _STARTS:
            visits = np.tile(np.arange(n, dtype=np.int32), (passes, 1))
            labels = _merged(rows, merging.MergeRule(k, *start), order)
            grouped = _improved(rows, labels, k, rng.permuted(visits, axis=1))
            if best is None or stars_of(grouped) < stars_of(best):
                best = grouped
    if best is None:
        raise TypeError("there is at least one start")
    masked = masked_start(differing_columns(rows), k) if search == "local" else None
    if masked is None:
        return best
    visits = np.tile(np.arange(n, dtype=np.int32), (passes, 1))
    grouped = _improved(rows, masked.labels, k, rng.permuted(visits, axis=1))
    return grouped if stars_of(grouped) < stars_of(best) else best


def masked_start(codes: Codes, k: int) -> MaskedStart | None:
    """Return clusters of rows put together by the columns that they publish, the finest first.

    Parameters
    ----------
    codes
        int32, shape (n, d): -1 is a missing cell.
    k
        The fewest rows of a cluster.

    Returns
    -------
    MaskedStart or None
        None where there is no column, or there are more than a mask can name.

    Examples
    --------
    >>> masked_start(np.array([[1], [0], [1], [0]], dtype=np.int32), 2).labels.tolist()
    [1, 0, 1, 0]
    """
    if not 0 < codes.shape[1] <= MOST_COLUMNS:
        return None
    distinct, kinds, copies = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    masked = masked_classes(distinct, copies.astype(np.int64), k=k)
    labels = np.empty_like(masked.labels)
    labels[np.argsort(kinds.ravel(), kind="stable")] = masked.labels
    return masked._replace(labels=labels)


def hidden_by(codes: Codes, labels: Labels) -> NDArray[np.bool_]:
    """Return the cells that clusters suppress: where their rows differ, or a cell is missing.

    Parameters
    ----------
    codes
        int32, shape (n, d): -1 is a missing cell.
    labels
        The cluster of every row, numbered from 0 without gaps.

    Examples
    --------
    >>> codes = np.array([[1, 0], [1, 2], [-1, 3]], dtype=np.int32)
    >>> hidden_by(codes, np.array([0, 0, 1])).tolist()
    [[False, True], [False, True], [True, False]]
    """
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
    """Return clusters divided, in the order of their rows, into chunks of at most so many rows.

    Parameters
    ----------
    labels
        The cluster of every row.
    size
        The most rows of a chunk; one chunk of a cluster may have fewer.

    Returns
    -------
    Labels
        The first row of every row's chunk.

    Examples
    --------
    >>> in_chunks(np.array([0, 1, 0, 0, 1]), 2).tolist()
    [0, 1, 0, 3, 1]
    """
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


def _improved(
    rows: Packed, labels: Labels, k: int, orders: NDArray[np.int32]
) -> exchange.ClusterMembers:
    grouped = exchange.clusters_of(rows, np.unique(labels, return_inverse=True)[1])
    exchange.improve(rows, grouped, k, orders)
    return grouped
