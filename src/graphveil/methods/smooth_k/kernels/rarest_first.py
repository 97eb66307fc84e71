"""Greedy growth where features are popular: rows are met through their rarest features.

The clusters are those of `growth.grow`, step by step. But where a feature is on many rows, counting
all overlaps costs its squared degree; here rows are bounded before they are compared:

1. The features of the growing cluster are read from the rarest on. A row that is met for the first
time in a list has none of the features read before, so the unread features bound its overlap, by
its degree alone. Rows are sorted by degree, so a suffix of every list is skipped.
2. The 32 most popular features of a row are bits of a word. What they add is looked up exactly in
four tables of 256 entries; only the other features are bounded.
3. A row is compared in full only if it can win by that bound.

`CollapsedRows.has_popular_features` decides which of the two kernels runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.arrays import first_not_below
from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.smooth_k.kernels.feature_lists import Indices
from graphveil.methods.smooth_k.kernels.growth import CLUSTER, COPIES, KIND

POPULAR = 32
"""How many of the most popular features are bits of a word: those that fit one of 32 bits. More
bits would make bounds tighter and words longer."""

PART_BITS = 8
"""The bits of a word that one table of weights covers: four tables of 256 numbers stay in the
cache."""

NUMBER_BITS = 8
"""The low bits of a weight that hold the number of popular features, at most 32; the rest is the
sum."""

NUMBER = (1 << NUMBER_BITS) - 1
"""The mask of these low bits."""


class RareFirst(NamedTuple):
    """The distinct rows, shorter ones first, their features numbered and sorted from the rarest.

    Parameters
    ----------
    indptr, indices
        int64 and int32: the features of every row, ascending, so the rarest come first.
    unused
        int64, shape (distinct,): copies still to be put into clusters. Overwritten.
    firsts
        int64, shape (largest degree + 2,): ``firsts[d]`` is the first row of at least d features.
    starts, lengths
        int64, shape (n_features,): the rows of feature f are ``members[starts[f]:starts[f] +
        lengths[f]]``, ascending. `lengths` is overwritten.
    gone
        int64, shape (n_features,): how many rows of each list are used up. Overwritten.
    members, words
        int32 and uint32: the rows of all lists, and which popular features each of them has, one
        bit each. Overwritten as lists shrink.
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
    """A cluster that grows: how many of its rows have each feature, and what follows from that.

    Parameters
    ----------
    counts
        int64, shape (n_features,): c(f), 0 for features of no row.
    features
        int32: the features with a count, the rarest first.
    every, rare
        int64, shape (k + 1,): how many features have count x; the same for features that are not
        popular.
    weights
        int64, shape (4, 256): for every byte of a word four times the sum of the counts of its
        features, shifted by `NUMBER_BITS`, and their number in the low bits.
    """

    counts: Ints
    features: Indices
    every: Ints
    rare: Ints
    weights: Ints


class PendingLists(NamedTuple):
    """The features whose lists are not read yet, and the largest sums that they allow.

    Parameters
    ----------
    every, rare
        int64, shape (k + 1,): how many unread features have count x; the same for those not
        popular.
    tops, rare_tops
        int64, shape (largest degree + 1,): the largest sum of the counts of d such features.
    """

    every: Ints
    rare: Ints
    tops: Ints
    rare_tops: Ints


@leaf
def _use_up(rows: RareFirst, row: int) -> None:
    """Note in its lists that a row is used up; rewrite lists of which more than a quarter is.

    Rewriting keeps the order, which deletion by swapping would not; at a quarter, each member is
    moved a bounded number of times on average.
    """
    for f in rows.indices[rows.indptr[row] : rows.indptr[row + 1]]:
        rows.gone[f] += 1
        if 4 * rows.gone[f] > rows.lengths[f]:
            # Keep the members that still have copies, in order, with their words.
            first = at = rows.starts[f]
            for i in range(first, first + rows.lengths[f]):
                if rows.unused[rows.members[i]] > 0:
                    rows.members[at], rows.words[at] = rows.members[i], rows.words[i]
                    at += 1
            rows.lengths[f], rows.gone[f] = at - first, 0


@leaf
def _weigh(weights: Ints, bit: int, step: int) -> None:
    """Add `step` to the weight of every byte that contains a bit of the word."""
    part, bit = bit // PART_BITS, bit % PART_BITS
    for low in range(1 << bit):
        for high in range(1 << bit, 1 << PART_BITS, 2 << bit):
            weights[part, high + low] += step


@leaf
def _take_in(rows: RareFirst, cluster: Growing, width: int, row: int, copies: int) -> int:
    """Count copies of a row into the cluster; return how many features the cluster now has."""
    counts, features, every, rare, weights = cluster
    first_popular = counts.size - POPULAR
    for f in rows.indices[rows.indptr[row] : rows.indptr[row + 1]]:
        before, after = counts[f], counts[f] + copies
        if before == 0:
            # A new feature is inserted in order, so that `features` stays sorted from the rarest.
            at = width
            while at > 0 and features[at - 1] > f:
                features[at] = features[at - 1]
                at -= 1
            features[at] = f
            width += 1
        counts[f] = after
        # The histograms of counts, and for popular features the tables of weights.
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
    """Remove all rows from a cluster of `width` features."""
    counts, features, every, rare, weights = cluster
    first_popular = counts.size - POPULAR
    for i in range(width):
        f = features[i]
        # The tables of weights keep the number of bits of each byte; only the sums go back to 0.
        if f >= first_popular:
            _weigh(weights, wide(f - first_popular), -((4 * counts[f]) << NUMBER_BITS))
        counts[f] = 0
    every[:] = 0
    rare[:] = 0


@leaf
def _sum_tops(histogram: Ints, tops: Ints) -> None:
    """Write into tops[d] the sum of the d largest counts of a histogram, as far as it has them."""
    x, used, total = histogram.size - 1, 0, 0
    for d in range(1, tops.size):
        while x > 0 and used >= histogram[x]:
            x, used = x - 1, 0
        total += x
        used += 1
        tops[d] = total


@leaf
def _first_out_of_reach(
    rows: RareFirst, unread: PendingLists, price: int, least: int, most: int
) -> int:
    """Return the first row that cannot reach the score `most` by the unread lists, nor any after.

    A row of d features shares at most d unread ones, so it scores ``4 tops[d] - price d`` at most.
    Rows are sorted by degree. 0 if no row can; all rows have at least `least` features.
    """
    d = rows.firsts.size - 2
    while d >= least and 4 * unread.tops[d] - price * d < most:
        d -= 1
    return wide(rows.firsts[d + 1]) if d >= least else 0


@leaf
def _end_of(rows: RareFirst, feature: int, limit: int) -> int:
    """Return the position in a list of the first member that is not before row `limit`."""
    start = rows.starts[feature]
    return wide(first_not_below(rows.members, start, start + rows.lengths[feature], limit))


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
    """Return the row of largest score and the score: `best` or a member of the list.

    Members from position `end` on cannot win. Of equal scores the last row wins. The bound holds
    for rows that are first met in this list. It may be too low for a row of an earlier list, whose
    features have been read; such a row was judged there, by a bound that held.
    """
    counts, weights, firsts = cluster.counts, cluster.weights, rows.firsts
    # The feature of the list itself is known to be shared. A popular one is in the word already.
    is_rare = feature < counts.size - POPULAR
    own, n_own = (4 * counts[feature], 1) if is_rare else (0, 0)
    d = firsts.size - 2
    # Longer rows first. `d` follows the degree of the row downwards.
    for i in range(end - 1, rows.starts[feature] - 1, -1):
        v = rows.members[i]
        while v < firsts[d]:
            d -= 1
        # What the popular features add, exactly: one look-up per byte, with their number in the low
        # bits.
        word = wide(rows.words[i])
        popular = weights[0, word & 255] + weights[1, (word >> 8) & 255]
        popular += weights[2, (word >> 16) & 255] + weights[3, word >> 24]
        # The other features of the row can add the largest unread counts at most.
        n_rare = d - (popular & NUMBER) - n_own
        bound = (popular >> NUMBER_BITS) + own + 4 * unread.rare_tops[n_rare] - price * d
        if bound < most or (bound == most and v <= best) or rows.unused[v] == 0:
            continue
        # Only a row that can win is compared in full.
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
    """Return the row of largest ``4 overlap - price degree``; of equal ones the last.

    Only rows with unused copies count: those that have an overlap, and `lowest`, the row of lowest
    degree, whatever its overlap. `price` is `quarters` times the rows of the cluster so far, and
    `width` the number of its features.
    """
    counts = cluster.counts
    # At first no list is read.
    for x in range(unread.every.size):
        unread.every[x], unread.rare[x] = cluster.every[x], cluster.rare[x]
    least = rows.indptr[lowest + 1] - rows.indptr[lowest]
    best, most = lowest, _score(rows, counts, lowest, price)
    for j in range(width):
        f = wide(cluster.features[j])
        # Step 1: rows first met from here on share unread features only. Stop if none can win.
        _sum_tops(unread.every, unread.tops)
        limit = _first_out_of_reach(rows, unread, price, least, most)
        if limit == 0:
            break
        # Step 2: this list is read now; what is left bounds the rare features of its members.
        unread.every[counts[f]] -= 1
        if f < counts.size - POPULAR:
            unread.rare[counts[f]] -= 1
        _sum_tops(unread.rare, unread.rare_tops)
        # Step 3: the best of its members.
        end = _end_of(rows, f, limit)
        best, most = _best_of_list(rows, cluster, unread, f, price, best, most, end)
    return best


def _steps_by_rarest(rows: RareFirst, *_others: object) -> int:
    """Return about how many steps it takes to read a part of the lists of every row."""
    return int(np.sqrt(rows.lengths).sum()) * 100 + 50 * rows.members.size


@tiered(_steps_by_rarest)
@allocating
def grow_rarest_first(rows: RareFirst, seeds: Ints, k: int, quarters: int) -> Ints:
    """Return steps (row, cluster, copies) that fill clusters of exactly k rows around the seeds.

    The steps are those of `growth.grow`; for the parameters and what is returned see there.
    ``rows.unused`` keeps the last copies, fewer than k; the lists of `rows` shrink.
    """
    # Step 1: rows without copies to place are marked as used up.
    unused, n_features = rows.unused, rows.starts.size
    n, widest, remaining = unused.size, rows.firsts.size - 2, 0
    for u in range(n):
        remaining += unused[u]
        if unused[u] == 0:
            _use_up(rows, u)
    steps = np.empty((n + remaining // k + 1, 3), dtype=np.int64)
    # A cluster of k rows has at most k times the largest degree features.
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
    # Every byte counts its bits from the beginning; sums are added as rows join.
    for bit in range(POPULAR):
        _weigh(cluster.weights, wide(bit), 1)
    made, number, lowest = 0, 0, 0
    for u in seeds:
        # Step 2: clusters around the seeds, exactly as in `growth.grow`.
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
