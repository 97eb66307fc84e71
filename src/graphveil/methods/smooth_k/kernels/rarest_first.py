"""Greedy growth where features are popular: rows are met through their rarest features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.smooth_k.kernels.feature_lists import Indices, Ints
from graphveil.methods.smooth_k.kernels.growth import CLUSTER, COPIES, KIND

POPULAR = 32
"""The features of most rows that are bits of a word, the last of all."""

PART_BITS = 8
NUMBER_BITS = 8
NUMBER = (1 << NUMBER_BITS) - 1


class RareFirst(NamedTuple):
    """The distinct rows, shorter ones first, their features numbered and sorted from the rarest.

    ``unused[u]`` copies of row u are to be put into clusters; ``firsts[d]`` is the first row of at
    least d features. The rows of feature f ascend in ``members[starts[f] : starts[f] +
    lengths[f]]``; ``gone[f]`` of them are used up. ``words`` has the popular features of every
    member.
    """

    indptr: Ints
    indices: Indices
    unused: Ints
    firsts: Ints
    starts: Ints
    lengths: Ints
    gone: Ints
    members: Indices
    words: NDArray[np.uint32]


class Growing(NamedTuple):
    """A cluster that grows: how many of its rows have a feature, and what follows from that.

    ``features`` has the features counted, the rarest first. ``every[x]`` of them have count x,
    ``rare[x]`` of those that are not popular. ``weights`` has, for every byte of a word, four
    times the sum of the counts of its features, and their number in the lowest bits.
    """

    counts: Ints
    features: Indices
    every: Ints
    rare: Ints
    weights: Ints


class PendingLists(NamedTuple):
    """The features whose lists are not read yet, by count, and the sums of the largest counts.

    ``tops[d]`` is the most that d such features can sum to, ``rare_tops[d]`` of rare ones.
    """

    every: Ints
    rare: Ints
    tops: Ints
    rare_tops: Ints


@leaf
def _use_up(rows: RareFirst, row: int) -> None:
    """Note in its lists that a row is used up; those that hold many such rows are written anew."""
    for f in rows.indices[rows.indptr[row] : rows.indptr[row + 1]]:
        rows.gone[f] += 1
        if 4 * rows.gone[f] > rows.lengths[f]:
            first = at = rows.starts[f]
            for i in range(first, first + rows.lengths[f]):
                if rows.unused[rows.members[i]] > 0:
                    rows.members[at], rows.words[at] = rows.members[i], rows.words[i]
                    at += 1
            rows.lengths[f], rows.gone[f] = at - first, 0


@leaf
def _weigh(weights: Ints, bit: int, step: int) -> None:
    """Add `step` to what all bytes weigh that have the bit of a word."""
    part, bit = bit // PART_BITS, bit % PART_BITS
    for low in range(1 << bit):
        for high in range(1 << bit, 1 << PART_BITS, 2 << bit):
            weights[part, high + low] += step


@leaf
def _take_in(rows: RareFirst, cluster: Growing, width: int, row: int, copies: int) -> int:
    """Count copies of a row into the cluster that has `width` features; return how many it has."""
    counts, features, every, rare, weights = cluster
    first_popular = counts.size - POPULAR
    for f in rows.indices[rows.indptr[row] : rows.indptr[row + 1]]:
        before, after = counts[f], counts[f] + copies
        if before == 0:
            at = width
            while at > 0 and features[at - 1] > f:
                features[at] = features[at - 1]
                at -= 1
            features[at] = f
            width += 1
        counts[f] = after
        every[before] -= 1
        every[after] += 1
        if f < first_popular:
            rare[before] -= 1
            rare[after] += 1
        else:
            _weigh(weights, wide(f - first_popular), (4 * copies) << NUMBER_BITS)
    return width


@leaf
def _empty(cluster: Growing, width: int) -> None:
    """Count all rows of a cluster of so many features out."""
    counts, features, every, rare, weights = cluster
    first_popular = counts.size - POPULAR
    for i in range(width):
        f = features[i]
        if f >= first_popular:
            _weigh(weights, wide(f - first_popular), -((4 * counts[f]) << NUMBER_BITS))
        counts[f] = 0
    every[:] = 0
    rare[:] = 0


@leaf
def _sum_tops(histogram: Ints, tops: Ints) -> None:
    """Write into tops[d] the sum of the d largest numbers of a histogram, as far as there are."""
    x, used, total = histogram.size - 1, 0, 0
    for d in range(1, tops.size):
        while x > 0 and used >= histogram[x]:
            x, used = x - 1, 0
        total += x
        used += 1
        tops[d] = total


@leaf
def _readable(rows: RareFirst, unread: PendingLists, price: int, least: int, most: int) -> int:
    """Return the first row that cannot reach a score of `most` by the unread lists, nor any after.

    0 where none can. All rows have at least `least` features.
    """
    d = rows.firsts.size - 2
    while d >= least and 4 * unread.tops[d] - price * d < most:
        d -= 1
    return wide(rows.firsts[d + 1]) if d >= least else 0


@leaf
def _end_of(rows: RareFirst, feature: int, limit: int) -> int:
    """Return where the members of a list end that come before a row."""
    low = rows.starts[feature]
    high = low + rows.lengths[feature]
    while low < high:
        middle = (low + high) // 2
        if rows.members[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return wide(low)


@leaf
def _score(rows: RareFirst, counts: Ints, row: int, price: int) -> int:
    """Return ``4 overlap - price degree`` of a row."""
    first, last = rows.indptr[row], rows.indptr[row + 1]
    overlap = 0
    for i in range(first, last):
        overlap += counts[rows.indices[i]]
    return int(4 * overlap - price * (last - first))


@leaf
def _best_of_list(
    rows: RareFirst,
    cluster: Growing,
    unread: PendingLists,
    feature: int,
    price: int,
    best: int,
    most: int,
    end: int,
) -> tuple[int, int]:
    """Return the row of largest score, the last of equals, and the score: `best`, or a member.

    Members from position `end` on cannot win.
    """
    counts, weights, firsts = cluster.counts, cluster.weights, rows.firsts
    is_rare = feature < counts.size - POPULAR
    own, n_own = (4 * counts[feature], 1) if is_rare else (0, 0)
    d = firsts.size - 2
    for i in range(end - 1, rows.starts[feature] - 1, -1):
        v = rows.members[i]
        while v < firsts[d]:
            d -= 1
        word = wide(rows.words[i])
        popular = weights[0, word & 255] + weights[1, (word >> 8) & 255]
        popular += weights[2, (word >> 16) & 255] + weights[3, word >> 24]
        n_rare = d - (popular & NUMBER) - n_own
        bound = (popular >> NUMBER_BITS) + own + 4 * unread.rare_tops[n_rare] - price * d
        if bound < most or (bound == most and v <= best) or rows.unused[v] == 0:
            continue
        score = _score(rows, counts, wide(v), price)
        if score > most or (score == most and v > best):
            best, most = wide(v), score
    return best, most


@leaf
def _best_by_rarest(
    rows: RareFirst,
    cluster: Growing,
    unread: PendingLists,
    width: int,
    lowest: int,
    price: int,
) -> int:
    """Return the row of largest ``4 overlap - price degree``, the last of equals.

    Only rows with unused copies count: those that have an overlap, and `lowest`, which is of lowest
    degree, whatever its overlap.
    """
    counts = cluster.counts
    for x in range(unread.every.size):
        unread.every[x], unread.rare[x] = cluster.every[x], cluster.rare[x]
    least = rows.indptr[lowest + 1] - rows.indptr[lowest]
    best, most = lowest, _score(rows, counts, lowest, price)
    for j in range(width):
        f = wide(cluster.features[j])
        _sum_tops(unread.every, unread.tops)
        limit = _readable(rows, unread, price, least, most)
        if limit == 0:
            break
        unread.every[counts[f]] -= 1
        if f < counts.size - POPULAR:
            unread.rare[counts[f]] -= 1
        _sum_tops(unread.rare, unread.rare_tops)
        end = _end_of(rows, f, limit)
        best, most = _best_of_list(rows, cluster, unread, f, price, best, most, end)
    return best


def _steps_by_rarest(rows: RareFirst, *_others: object) -> int:
    """Return about how many steps it takes to read a part of the lists of every row."""
    return int(np.sqrt(rows.lengths).sum()) * 100 + 50 * rows.members.size


@tiered(_steps_by_rarest)
@allocating
def grow_rarest_first(rows: RareFirst, seeds: Ints, k: int, quarters: int) -> Ints:
    """Return steps (kind, cluster, copies) that fill clusters of exactly k rows around the seeds.

    They are those of `growth.grow`. The last copies, fewer than k, stay in ``rows.unused``; the
    lists of `rows` shrink.
    """
    unused, n_features = rows.unused, rows.starts.size
    n, widest, remaining = unused.size, rows.firsts.size - 2, 0
    for u in range(n):
        remaining += unused[u]
        if unused[u] == 0:
            _use_up(rows, u)
    steps = np.empty((n + remaining // k + 1, 3), dtype=np.int64)
    cluster = Growing(
        np.zeros(n_features, dtype=np.int64),
        np.empty(min(n_features, k * widest) + 1, dtype=np.int32),
        np.zeros(k + 1, dtype=np.int64),
        np.zeros(k + 1, dtype=np.int64),
        np.zeros((POPULAR // PART_BITS, 1 << PART_BITS), dtype=np.int64),
    )
    unread = PendingLists(
        np.zeros(k + 1, dtype=np.int64),
        np.zeros(k + 1, dtype=np.int64),
        np.zeros(widest + 1, dtype=np.int64),
        np.zeros(widest + 1, dtype=np.int64),
    )
    for bit in range(POPULAR):
        _weigh(cluster.weights, wide(bit), 1)
    made, number, lowest = 0, 0, 0
    for u in seeds:
        while unused[u] > 0 and remaining >= k:
            row, size, width = wide(u), 0, 0
            while size < k:
                if size > 0:
                    while unused[lowest] == 0:
                        lowest += 1
                    row = _best_by_rarest(
                        rows, cluster, unread, width, wide(lowest), quarters * size
                    )
                copies = min(unused[row], k - size)
                steps[made, KIND], steps[made, CLUSTER], steps[made, COPIES] = row, number, copies
                made += 1
                size += copies
                unused[row] -= copies
                if unused[row] == 0:
                    _use_up(rows, row)
                width = _take_in(rows, cluster, width, row, copies)
            _empty(cluster, width)
            number += 1
            remaining -= k
    return steps[:made]
