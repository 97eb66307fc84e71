"""Loops of the method `mondrian`: rows are cut in two, again and again, along one feature each.

LeFevre, DeWitt and Ramakrishnan (ICDE 2006) on binary features. A part is cut along a feature, its
smaller side is put aside, and the larger one is cut further. The counts of the features are carried
along: only the rows that leave are read. A row is thus read at most log2(n) + 1 times, however deep
the cuts go: whenever it is put aside, its part is at most half as large as before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.arrays import sort
from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.core.kernels.tiers import for_each_entry, tiered

Shorts = NDArray[np.int32]

FIRST, BALANCED = 0, 1
"""Which cut is taken: the first that is allowed, or the one with the largest smaller side."""


class Distinct(NamedTuple):
    """Distinct rows: their features, numbered in the order in which they are tried, and copies.

    Row r has the features ``indices[indptr[r]:indptr[r + 1]]`` (int32, ascending is not needed) and
    stands for ``weights[r]`` equal rows; `indptr` and `weights` are int64. No kernel writes them.
    """

    indptr: Ints
    indices: Shorts
    weights: Ints


class Work(NamedTuple):
    """What is known of the part that is being cut; the kernels write all of it.

    Rows stand in `order`, row r at `position[r]`. Of feature f, `counts[f]` copies in the part have
    it; the `lengths[f]` rows that had it when the part was loaded are
    ``listed[first[f]:first[f] + lengths[f]]``. The features that may still cut are chained in order
    by `following`, from its last cell on to -1. The features of the part are in `touched`. Counts
    are int64, rows and features int32.
    """

    order: Shorts
    position: Shorts
    counts: Ints
    lengths: Ints
    first: Ints
    listed: Shorts
    following: Shorts
    touched: Shorts


def work_for(rows: Distinct, n_features: int) -> Work:
    """Return the arrays for rows over so many features, all rows in one part."""
    n = rows.weights.size
    return Work(
        order=np.arange(n, dtype=np.int32),
        position=np.arange(n, dtype=np.int32),
        counts=np.zeros(n_features, dtype=np.int64),
        lengths=np.zeros(n_features, dtype=np.int64),
        first=np.zeros(n_features, dtype=np.int64),
        listed=np.empty(rows.indices.size, dtype=np.int32),
        following=np.empty(n_features + 1, dtype=np.int32),
        touched=np.empty(n_features, dtype=np.int32),
    )


@tiered(for_each_entry(4))
@allocating
def divide(rows: Distinct, work: Work, k: int, choice: int, parts: Shorts) -> int:
    """Write into parts[r] the part of row r; return the number of parts.

    Parameters
    ----------
    rows
        The rows.
    work
        From `work_for`; overwritten.
    k
        The fewest copies in a part.
    choice
        `FIRST` or `BALANCED`.
    parts
        Shape (rows,), numbered from 0.
    """
    # A stack of the parts that are still to be cut: rows lows[i] to highs[i] - 1 of the order.
    lows = np.empty(rows.weights.size + 1, dtype=np.int64)
    highs = np.empty(rows.weights.size + 1, dtype=np.int64)
    lows[0], highs[0] = 0, rows.weights.size
    waiting, n_parts = 1, 0
    while waiting:
        waiting -= 1
        low, high = lows[waiting], highs[waiting]
        # Step 1: count the features of the part once.
        size, n_touched = _load(rows, work, low, high, k)
        feature = _cut(work, size, k, choice)
        # Step 2: cut as long as a feature is allowed. The smaller side goes onto the stack and its
        # features are counted out; the larger one is cut further.
        while feature >= 0:
            middle = _partition(work, low, high, feature, size)
            size -= _count_out(rows, work, middle, high)
            lows[waiting], highs[waiting] = middle, high
            waiting += 1
            high = middle
            feature = _cut(work, size, k, choice)
        # Step 3: what cannot be cut is a part of the release. Clear its counts.
        for i in range(low, high):
            parts[work.order[i]] = n_parts
        n_parts += 1
        for i in range(n_touched):
            work.counts[work.touched[i]] = 0
            work.lengths[work.touched[i]] = 0
    return n_parts


@leaf
def _load(rows: Distinct, work: Work, low: int, high: int, k: int) -> tuple[int, int]:
    """Count the features of the rows at low..high-1; list the rows of those of at least k copies.

    Return the number of copies, and of features.
    """
    # Copies and rows of every feature; the features in the order in which they are tried.
    size, n_touched = 0, 0
    for i in range(low, high):
        r = work.order[i]
        size += rows.weights[r]
        for j in range(rows.indptr[r], rows.indptr[r + 1]):
            f = rows.indices[j]
            if work.lengths[f] == 0:
                work.touched[n_touched] = f
                n_touched += 1
            work.lengths[f] += 1
            work.counts[f] += rows.weights[r]
    touched = work.touched[:n_touched]
    sort(touched)
    # Only features of at least k copies can cut the part, now or later: chain them, and reserve
    # their places in the lists.
    total, last = 0, work.following.size - 1
    for f in touched:
        work.first[f] = -1
        if work.counts[f] >= k:
            work.first[f] = total
            total += work.lengths[f]
            work.following[last] = f
            last = f
    work.following[last] = -1
    # List their rows. Meanwhile first[f] is the next free place of feature f, and is set back
    # after.
    for i in range(low, high):
        r = work.order[i]
        for j in range(rows.indptr[r], rows.indptr[r + 1]):
            f = rows.indices[j]
            if work.first[f] >= 0:
                work.listed[work.first[f]] = r
                work.first[f] += 1
    for f in touched:
        work.first[f] -= work.lengths[f]
    return size, n_touched


@leaf
def _cut(work: Work, size: int, k: int, choice: int) -> int:
    """Return the feature along which a part of `size` copies is cut, or -1.

    `FIRST`: the first that at least k copies have and at least k have not, where those that have
    not are at least half (rounded down) and this half is at least k: in the order of the values 0
    and 1, half of the copies is then reached at 0, the median at which the paper cuts. `BALANCED`:
    the one with the largest smaller side of at least k, the first of equals. Features below k are
    unchained for good, since counts only fall while a part is cut.
    """
    half = size // 2
    best, most = -1, k - 1
    before = work.following.size - 1
    f = int(work.following[before])
    while f >= 0:
        ones = work.counts[f]
        zeros = size - ones
        if ones < k:
            work.following[before] = work.following[f]
        else:
            if choice == BALANCED:
                if min(ones, zeros) > most:
                    best, most = f, min(ones, zeros)
            elif half >= k and zeros >= k and zeros >= half:
                return f
            before = f
        f = int(work.following[f])
    return best


@leaf
def _partition(work: Work, low: int, high: int, feature: int, size: int) -> int:
    """Reorder the rows at low..high-1 so that the smaller side comes last; return its start.

    Only the rows that have the feature are moved: to the end if they are the smaller side, to the
    front otherwise. Rows of the list that left the part before are passed over.
    """
    ones_leave = 2 * work.counts[feature] <= size
    front, back = low, high
    start = work.first[feature]
    for i in range(start, start + work.lengths[feature]):
        r = work.listed[i]
        if low <= work.position[r] < high:
            if ones_leave:
                back -= 1
                target = back
            else:
                target = front
                front += 1
            other = work.order[target]
            work.order[work.position[r]] = other
            work.position[other] = work.position[r]
            work.order[target] = r
            work.position[r] = target
    return back if ones_leave else front


@leaf
def _count_out(rows: Distinct, work: Work, low: int, high: int) -> int:
    """Subtract the features of the rows at low..high-1 from the counts; return their copies."""
    size = 0
    for i in range(low, high):
        r = work.order[i]
        size += rows.weights[r]
        for j in range(rows.indptr[r], rows.indptr[r + 1]):
            work.counts[rows.indices[j]] -= rows.weights[r]
    return size
