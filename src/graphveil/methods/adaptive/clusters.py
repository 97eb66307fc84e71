"""Clusters of rows whose common values are published: merged, then improved, or grown as trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.adaptive.kernels import clusters as kernels
from graphveil.methods.adaptive.kernels.planes import Packed
from graphveil.methods.adaptive.problem import Codes, differing_columns
from graphveil.methods.equivalence_classes.masks import MOST_COLUMNS, MaskedStart, masked_classes

Ints = NDArray[np.int64]


def trees(rows: Packed, k: int) -> Ints:
    """Return the cluster of every row: k rows at least, and at most the larger of 2k-1 and 3k-5.

    Aggarwal et al., *Approximation Algorithms for k-Anonymity*, 2005: Forest and
    Decompose-Component, after a description of them. Where that joins what is cut by a vertex that
    is not a row, one of the cut rows takes its part.
    """
    return divided(_links(nearest_outside(rows, k)), k)


def divided(links: list[list[int]], k: int) -> Ints:
    """Return the cluster of every row once large trees are cut, as `trees` does."""
    labels = np.full(len(links), -1)
    for row in range(len(links)):
        while labels[row] < 0:
            tree = _rooted(links, row)
            if len(tree.order) > max(2 * k - 1, 3 * k - 5):
                _cut(links, *_to_cut(links, tree, k))
            else:
                labels[tree.order] = row
    return labels


def nearest_outside(rows: Packed, k: int) -> Ints:
    """Return for every row the row that it leads to, -1 for none: no tree has fewer than k rows.

    A tree that is too small grows by the one row of it that leads nowhere: to the nearest row of
    another tree, which is among the k-1 nearest of all. So all rows together differ from those that
    they lead to in no more cells than any clusters of k rows suppress.
    """
    n = rows.stars.shape[0]
    to, tree, last = np.full(n, -1), np.arange(n), np.arange(n)
    for row in range(n):
        while np.count_nonzero(tree == tree[row]) < k:
            own = tree[row]
            apart = np.where(tree == own, np.iinfo(np.int64).max, _distances(rows, last[own]))
            nearest = int(np.argmin(apart))
            to[last[own]] = nearest
            tree[tree == own] = tree[nearest]
    return to


def _distances(rows: Packed, row: int) -> Ints:
    """Return in how many columns every row and this one do not agree."""
    apart = np.zeros(rows.stars.shape[0], dtype=np.int64)
    for word, (start, end) in enumerate(zip(rows.offsets[:-1], rows.offsets[1:], strict=True)):
        bits = rows.stars[:, word] | rows.stars[row, word]
        for plane in range(start, end):
            bits |= rows.planes[:, plane] ^ rows.planes[row, plane]
        apart += np.bitwise_count(bits)
    return apart


def _links(to: Ints) -> list[list[int]]:
    """Return which rows are linked with each row, in either direction."""
    links: list[list[int]] = [[] for _ in to]
    for row, other in enumerate(to.tolist()):
        if other >= 0:
            links[row].append(other)
            links[other].append(row)
    return [sorted(rows) for rows in links]


class ClusterTree(NamedTuple):
    """A tree from one of its rows on: its rows in order, each one's parent, and what is below."""

    order: list[int]
    parent: dict[int, int]
    below: dict[int, int]


def _rooted(links: list[list[int]], root: int) -> ClusterTree:
    """Return the tree of a row, from that row on."""
    order, parent = [root], {root: -1}
    for row in order:
        for other in links[row]:
            if other != parent[row]:
                parent[other] = row
                order.append(other)
    below = dict.fromkeys(order, 1)
    for row in order[:0:-1]:
        below[parent[row]] += below[row]
    return ClusterTree(order, parent, below)


def _to_cut(links: list[list[int]], tree: ClusterTree, k: int) -> tuple[int, list[int]]:
    """Return a row, and which of its links to cut: k rows or more then are on either side."""
    size, row = len(tree.order), tree.order[0]
    parts = _parts(links, tree, row)
    largest = max(parts, key=parts.__getitem__)
    while size - parts[largest] < k - 1:
        row = largest
        parts = _parts(links, tree, row)
        largest = max(parts, key=parts.__getitem__)
    most = parts[largest]
    if min(most, size - most) >= k:
        return row, [largest]
    if size - most == k - 1:
        return largest, [other for other in links[largest] if other != row]
    if most == k - 1:
        return row, [other for other in parts if other != largest]
    up_to = np.cumsum(list(parts.values()))
    first = int(np.searchsorted(up_to, k - 1)) + 1
    rows = int(up_to[first - 1])
    row_goes_with_the_rest = size - 1 - rows == k - 1
    return row, list(parts)[:first] if row_goes_with_the_rest else list(parts)[first:]


def _parts(links: list[list[int]], tree: ClusterTree, row: int) -> dict[int, int]:
    """Return how many rows hang from a row by each of its links."""
    above = tree.parent[row]
    return {
        other: len(tree.order) - tree.below[row] if other == above else tree.below[other]
        for other in links[row]
    }


def _cut(links: list[list[int]], row: int, others: list[int]) -> None:
    """Cut a row's links to others; the first of these is then linked with the rest of them."""
    first, *rest = others
    links[row] = sorted(set(links[row]) - set(others))
    for other in others:
        links[other].remove(row)
    for other in rest:
        links[other] = sorted([*links[other], first])
    links[first] = sorted([*links[first], *rest])


Labels = NDArray[np.int64]
Search = Literal["plain", "agglomerative", "local", "forest"]

_PLAIN = ((kernels.PLAIN, 0.0, 0), (kernels.PLAIN, kernels.SMALL_FIRST, 0))
_STARTS = (
    *_PLAIN,
    (kernels.BY_SIZE, kernels.SMALL_FIRST, 0),
    (kernels.PLAIN, 0.0, 1),
    (kernels.BY_SIZE, 0.0, 1),
    (kernels.BY_LOGARITHM, 0.0, 1),
)
"""What a cost is divided by, what a row more counts for, and whether clusters are shrunk to k."""

PASSES = 30
PLAIN_ORDERS = 3


def clusters(
    rows: Packed, k: int, search: Search, rng: np.random.Generator
) -> kernels.ClusterMembers:
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
        _merged(rows, kernels.MergeRule(k, *start), order)
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

    def grouped(runs: tuple[tuple[int, int], ...]) -> kernels.ClusterMembers:
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


def _merged(rows: Packed, rule: kernels.MergeRule, order: Labels) -> Labels:
    """Return the cluster of every row; of unions of the same cost the first in this order wins."""
    ordered = Packed(rows.planes[order], rows.stars[order], rows.offsets)
    equal = identical(ordered)
    work = kernels.merging(ordered, in_chunks(equal, rule.k) if rule.shrink else equal)
    kernels.merge(ordered, work, rule)
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


def stars_of(grouped: kernels.ClusterMembers) -> int:
    """Return how many cells clusters suppress."""
    columns = np.bitwise_count(grouped.common.stars).sum(axis=1, dtype=np.int64)
    return int((grouped.sizes * columns).sum())


def _visits(n: int, passes: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return the order in which rows are visited in every pass."""
    return rng.permuted(np.tile(np.arange(n, dtype=np.int32), (passes, 1)), axis=1)


def _improved(
    rows: Packed, labels: Labels, levels: Ints, orders: NDArray[np.int32]
) -> kernels.ClusterMembers:
    grouped = kernels.clusters_of(rows, np.unique(labels, return_inverse=True)[1])
    kernels.improve(rows, grouped, levels, orders)
    return grouped
