"""Matching two graphs by marks: pairs that are matched vouch for the pairs of their neighbors.

A pair of a node x of one graph and y of the other is the number ``x * n + y``, n nodes being in the
other, below 2**38. The value of a pair is twice its number of marks, and one more once it was
spread. The table is one of open addressing as in `hashing`, with ``pair * 2**25 + value`` in one
number: there are hundreds of millions of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import FREE, MULTIPLIER
from graphveil.core.kernels.leaf import leaf, wide

Ints = NDArray[np.int64]

DONE, NO_ROOM, TOO_MANY = 0, 1, 2
"""How `percolate` ends: nothing is to be done, table or heap must grow, or marks are too many."""

ENTRIES, QUEUED, MARKS, SPREAD, NEXT, MOST_MARKS = 0, 1, 2, 3, 4, 5
"""What a tally counts: pairs in the table and in the heap, marks, fresh pairs done, marks of the
pair that had no room; the limit."""

TALLIES = 6
_DEGREES = 1 << 24
VALUE_BITS = 25
_VALUE = (1 << VALUE_BITS) - 1


class CandidateLists(NamedTuple):
    """A network: neighbors of v in list r are ``indices[indptr[r, v]:indptr[r, v + 1]]``.

    `degrees` counts them in all lists; `rows`, int32, shape (n, d), has the attributes that are
    known, below 0 where one is not.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    degrees: Ints
    rows: NDArray[np.int32]


class PercolationMatch(NamedTuple):
    """Whom every node of either graph is matched with, or -1."""

    one: Ints
    two: Ints


def new_table(pairs: int) -> tuple[Ints, int]:
    """Return an empty table with room for so many pairs, at most three quarters full; its shift.

    Examples
    --------
    >>> table, shift = new_table(5)
    >>> table.shape, shift
    ((8,), 61)
    """
    bits = max((pairs + pairs // 3).bit_length(), 1)
    return np.full(1 << bits, FREE, dtype=np.int64), 64 - bits


@leaf
def _row_of(table: Ints, shift: int, pair: int) -> int:
    """Return the row of a pair, or the empty row where it belongs; write nothing."""
    mask = len(table) - 1
    row = np.int64((np.uint64(pair) * MULTIPLIER) >> np.uint64(shift))
    while table[row] != FREE and table[row] >> VALUE_BITS != pair:
        row = (row + 1) & mask
    return int(row)


@leaf
def _before(heap: Ints, a: int, b: int) -> bool:
    """Return whether an entry comes out first: of larger rank, then of smaller number."""
    if heap[a, 0] != heap[b, 0]:
        return bool(heap[a, 0] > heap[b, 0])
    return bool(heap[a, 1] < heap[b, 1])


@leaf
def _exchange(heap: Ints, a: int, b: int) -> None:
    heap[a, 0], heap[b, 0] = heap[b, 0], heap[a, 0]
    heap[a, 1], heap[b, 1] = heap[b, 1], heap[a, 1]


@leaf
def _push(heap: Ints, size: int, rank: int, pair: int) -> None:
    """Write an entry into the heap, which has this size before."""
    at = size
    heap[at, 0], heap[at, 1] = rank, pair
    while at > 0 and _before(heap, at, (at - 1) >> 1):
        _exchange(heap, at, (at - 1) >> 1)
        at = (at - 1) >> 1


@leaf
def _drop_first(heap: Ints, size: int) -> None:
    """Take the first entry out of the heap, which has this size before."""
    last = size - 1
    _exchange(heap, 0, last)
    at = wide(0)
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last and _before(heap, child + 1, child):
            child += 1
        if not _before(heap, child, at):
            break
        _exchange(heap, child, at)
        at = child


@leaf
def fits(one: CandidateLists, two: CandidateLists, x: int, y: int) -> bool:
    """Return whether no attribute that both are known by says that two nodes differ."""
    for column in range(one.rows.shape[1]):
        own, shown = one.rows[x, column], two.rows[y, column]
        if own >= 0 and shown >= 0 and own != shown:
            return False
    return True


@leaf
def _spread(
    one: CandidateLists,
    two: CandidateLists,
    pair: int,
    match: PercolationMatch,
    table: Ints,
    shift: int,
    heap: Ints,
    tally: Ints,
) -> None:
    """Mark every pair of free neighbors of a pair; with a second mark it enters the heap.

    Neighbors are paired within each list, where their attributes do not differ.
    """
    n = two.degrees.size
    i, j = pair // n, pair % n
    for r in range(one.indptr.shape[0]):
        for a in range(one.indptr[r, i], one.indptr[r, i + 1]):
            x = wide(one.indices[a])
            if match.one[x] >= 0:
                continue
            for b in range(two.indptr[r, j], two.indptr[r, j + 1]):
                y = wide(two.indices[b])
                if match.two[y] >= 0 or not fits(one, two, x, y):
                    continue
                row = _row_of(table, shift, x * n + y)
                if table[row] == FREE:
                    table[row] = (x * n + y) << VALUE_BITS
                    tally[ENTRIES] += 1
                table[row] += 2
                tally[MARKS] += 1
                marks = (table[row] & _VALUE) >> 1
                if marks >= 2:
                    apart = abs(one.degrees[x] - two.degrees[y])
                    _push(heap, tally[QUEUED], marks * _DEGREES - apart, x * n + y)
                    tally[QUEUED] += 1


@leaf
def _work(one: CandidateLists, two: CandidateLists, i: int, j: int) -> int:
    """Return how many marks a pair spreads at most."""
    marks = wide(0)
    for r in range(one.indptr.shape[0]):
        first = one.indptr[r, i + 1] - one.indptr[r, i]
        marks += first * (two.indptr[r, j + 1] - two.indptr[r, j])
    return marks


@leaf
def percolate(
    one: CandidateLists,
    two: CandidateLists,
    fresh: Ints,
    match: PercolationMatch,
    table: Ints,
    shift: int,
    heap: Ints,
    tally: Ints,
) -> int:
    """Spread marks from fresh pairs, and match free pairs by their marks; return how it ended.

    Of the pairs with two marks or more the one with most is matched, the one with the nearest
    degrees where several have them, and spreads marks unless it has before. It writes into all
    arrays after `fresh`, and goes on where it ended when it is called again with more room.
    """
    n = two.degrees.size
    while True:
        is_fresh = tally[SPREAD] < fresh.size
        if not is_fresh and tally[QUEUED] == 0:
            return DONE
        if tally[MARKS] >= tally[MOST_MARKS]:
            return TOO_MANY
        pair = fresh[tally[SPREAD]] if is_fresh else heap[0, 1]
        i, j = pair // n, pair % n
        new = _work(one, two, i, j)
        if 4 * (tally[ENTRIES] + new + 1) > 3 * len(table) or tally[QUEUED] + new + 1 > len(heap):
            tally[NEXT] = new + 1
            return NO_ROOM
        if is_fresh:
            tally[SPREAD] += 1
        else:
            _drop_first(heap, tally[QUEUED])
            tally[QUEUED] -= 1
            if match.one[i] >= 0 or match.two[j] >= 0:
                continue
            match.one[i], match.two[j] = j, i
        row = _row_of(table, shift, pair)
        if table[row] == FREE:
            table[row] = pair << VALUE_BITS
            tally[ENTRIES] += 1
        if table[row] & 1:
            continue
        table[row] += 1
        _spread(one, two, pair, match, table, shift, heap, tally)


@leaf
def _is_free(match: PercolationMatch, pair: int) -> bool:
    """Return whether neither node of a pair is matched."""
    n = match.two.size
    return bool(match.one[pair // n] < 0 and match.two[pair % n] < 0)


@leaf
def free_pairs(table: Ints, match: PercolationMatch) -> int:
    """Return how many pairs in the table could still be matched."""
    number = 0
    for row in range(len(table)):
        if table[row] != FREE and _is_free(match, table[row] >> VALUE_BITS):
            number += 1
    return number


@leaf
def refill(old: Ints, match: PercolationMatch, table: Ints, shift: int) -> int:
    """Write every free pair of an old table, with its value, into an empty one; return how many.

    The new one has room. No other pair is asked for again.
    """
    number = 0
    for row in range(len(old)):
        if old[row] != FREE and _is_free(match, old[row] >> VALUE_BITS):
            table[_row_of(table, shift, old[row] >> VALUE_BITS)] = old[row]
            number += 1
    return number


@leaf
def compact(heap: Ints, size: int, match: PercolationMatch, table: Ints, shift: int) -> int:
    """Keep in the heap one entry of every free pair, that of its last mark; return its new size."""
    kept = wide(0)
    for at in range(size):
        rank, pair = heap[at, 0], heap[at, 1]
        if not _is_free(match, pair):
            continue
        marks = (rank + _DEGREES - 1) // _DEGREES
        if marks == (table[_row_of(table, shift, pair)] & _VALUE) >> 1:
            _push(heap, kept, rank, pair)
            kept += 1
    return int(kept)
