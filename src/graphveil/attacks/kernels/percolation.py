"""Matching two graphs by marks: pairs that are matched vouch for the pairs of their neighbors.

The inner loop of ExpandWhenStuck (Kazemi, Hassani and Grossglauser, PVLDB 2015); the
outer loop, which decides what to spread when nothing is left to match, is `expand` in
``networks/assignment/expand_when_stuck.py``. A matched pair (i, j) gives one mark to every pair (x,
y) of a neighbor x of i and a neighbor y of j, both free. Of all pairs with at least two marks the
one with most marks is matched next.

Departures from the paper: marks are spread within one list of neighbors at a time (edge type and
direction), and pairs whose known attributes differ get no marks.

A pair of a node x of one graph and y of the other is the number ``x * n + y``, n nodes being in the
other, below 2**38. The value of a pair is twice its number of marks, and one more once it was
spread. The table is one of open addressing as in `hashing`, with ``pair * 2**25 + value`` in one
number: there are hundreds of millions of pairs.

Time is the number of marks, sum over spread pairs of degree times degree: about the sum of squared
degrees in all. Memory is 8 bytes per row of the table and 16 per entry of the heap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.arrays import FREE, MULTIPLIER
from graphveil.core.kernels.leaf import leaf, wide

DONE, NO_ROOM, TOO_MANY = 0, 1, 2
"""How `percolate` ends: nothing is to be done, table or heap must grow, or marks are too many."""

ENTRIES, QUEUED, MARKS, SPREAD, NEXT, MOST_MARKS = 0, 1, 2, 3, 4, 5
"""Places of the tally: pairs in the table, entries in the heap, marks so far, fresh pairs done, the
marks that the next pair may need where there was no room for them, and the limit of marks."""

TALLIES = 6
"""The length of a tally."""
_DEGREES = 1 << 24
"""The weight of a mark in the rank of a heap entry: more than any difference of degrees, so that
marks decide first and near degrees among equal marks."""
VALUE_BITS = 25
"""Bits of a table entry below the pair's number: 24 of marks, and one for "has spread". With a pair
below 2**38 an entry fills 63 bits and stays positive; `FREE` is negative."""
_VALUE = (1 << VALUE_BITS) - 1


class CandidateLists(NamedTuple):
    """A network as kernels read it; no kernel writes it.

    Neighbors of v in list r are ``indices[indptr[r, v]:indptr[r, v + 1]]``. There is one list per
    edge type, two (out, in) where edges are directed.

    Parameters
    ----------
    indptr : int64, shape (lists, n + 1)
        Where in `indices` the neighbors of every node begin, one row per list.
    indices : int32, shape (ends,)
        Neighbors of all nodes, list after list.
    degrees : int64, shape (n,)
        How many neighbors a node has in all lists together.
    rows : int32, shape (n, d)
        Codes of the attributes that are known of a node; below 0 where one is not known.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    degrees: Ints
    rows: NDArray[np.int32]


class PercolationMatch(NamedTuple):
    """Whom every node of either graph is matched with, or -1; kernels write both sides together.

    Parameters
    ----------
    one : int64, shape (n_one,)
        For every node of the first graph, its node of the second.
    two : int64, shape (n_two,)
        The same seen from the second graph.
    """

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
    # Fibonacci hashing: the upper bits of the product with the golden ratio, then the next free row
    # (linear probing).
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
    # The table holds x * n + y, so that both nodes of a pair can be read from one number.
    n = two.degrees.size
    i, j = pair // n, pair % n
    # Only neighbors in the same list vouch for each other: an edge out of i for an edge out of j.
    for r in range(one.indptr.shape[0]):
        for a in range(one.indptr[r, i], one.indptr[r, i + 1]):
            x = wide(one.indices[a])
            if match.one[x] >= 0:
                continue
            for b in range(two.indptr[r, j], two.indptr[r, j + 1]):
                y = wide(two.indices[b])
                if match.two[y] >= 0 or not fits(one, two, x, y):
                    continue
                # A new pair enters the table with value 0; a mark adds two, as the lowest bit is
                # "has spread".
                row = _row_of(table, shift, x * n + y)
                if table[row] == FREE:
                    table[row] = (x * n + y) << VALUE_BITS
                    tally[ENTRIES] += 1
                table[row] += 2
                tally[MARKS] += 1
                marks = (table[row] & _VALUE) >> 1
                # From the second mark on every further mark pushes the pair again under its new
                # rank. Old entries stay in the heap: whichever comes out first is the latest, the
                # others find their nodes taken.
                if marks >= 2:
                    apart = abs(one.degrees[x] - two.degrees[y])
                    _push(heap, tally[QUEUED], marks * _DEGREES - apart, x * n + y)
                    tally[QUEUED] += 1


@leaf
def _work(one: CandidateLists, two: CandidateLists, i: int, j: int) -> int:
    """Return how many marks a pair spreads at most: degree times degree, summed over lists."""
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
    degrees where several have them, and spreads marks unless it has before. It goes on where it
    ended when it is called again with more room.

    Parameters
    ----------
    one, two : CandidateLists
        Both networks; read.
    fresh : int64, shape (pairs,)
        Pairs that spread marks without being matched here: the known pairs, or those that
        ExpandWhenStuck spreads when it is stuck; read.
    match : PercolationMatch
        Who is matched with whom; written, never unmatched.
    table : int64, shape (2**bits,)
        Marks of every pair met so far; written. It must have room, else the call ends.
    shift : int
        64 less the bits of the table's size.
    heap : int64, shape (entries, 2)
        Rank and number of pairs with two marks or more, the largest rank first; written.
    tally : int64, shape (TALLIES,)
        Counters, see `ENTRIES`; written. The caller sets the limit, and SPREAD to 0 for new pairs.

    Returns
    -------
    int
        `DONE`, `NO_ROOM` or `TOO_MANY`.
    """
    n = two.degrees.size
    while True:
        # Fresh pairs come first, in their order; then the heap, best pair first.
        is_fresh = tally[SPREAD] < fresh.size
        if not is_fresh and tally[QUEUED] == 0:
            return DONE
        if tally[MARKS] >= tally[MOST_MARKS]:
            return TOO_MANY
        pair = fresh[tally[SPREAD]] if is_fresh else heap[0, 1]
        i, j = pair // n, pair % n
        # Room is made sure of before a pair is taken, so that an interrupted call has changed
        # nothing of it. The table is at most three quarters full: in a fuller one probes are long.
        new = _work(one, two, i, j)
        if 4 * (tally[ENTRIES] + new + 1) > 3 * len(table) or tally[QUEUED] + new + 1 > len(heap):
            tally[NEXT] = new + 1
            return NO_ROOM
        # A fresh pair only spreads. A pair of the heap is matched if both of its nodes are still
        # free.
        if is_fresh:
            tally[SPREAD] += 1
        else:
            _drop_first(heap, tally[QUEUED])
            tally[QUEUED] -= 1
            if match.one[i] >= 0 or match.two[j] >= 0:
                continue
            match.one[i], match.two[j] = j, i
        # Every pair spreads once: the lowest bit of its value remembers it.
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
    """Return how many pairs in the table could still be matched; it reads `table` and `match`."""
    number = 0
    for row in range(len(table)):
        if table[row] != FREE and _is_free(match, table[row] >> VALUE_BITS):
            number += 1
    return number


@leaf
def refill(old: Ints, match: PercolationMatch, table: Ints, shift: int) -> int:
    """Write every free pair of an old table, with its value, into an empty one; return how many.

    `old` and `match` are read, `table` (int64, with room, all `FREE`) is written. Pairs with a
    matched node are dropped: their marks are never asked for again.
    """
    number = 0
    for row in range(len(old)):
        if old[row] != FREE and _is_free(match, old[row] >> VALUE_BITS):
            table[_row_of(table, shift, old[row] >> VALUE_BITS)] = old[row]
            number += 1
    return number


@leaf
def compact(heap: Ints, size: int, match: PercolationMatch, table: Ints, shift: int) -> int:
    """Keep in the heap one entry of every free pair, that of its last mark; return its new size.

    `heap` is written, its first `size` entries are read; `match` and `table` are read.
    """
    kept = wide(0)
    for at in range(size):
        rank, pair = heap[at, 0], heap[at, 1]
        if not _is_free(match, pair):
            continue
        # The rank is marks * _DEGREES less a difference below _DEGREES: rounding up gives the
        # marks. An entry is current if the table still counts as many.
        marks = (rank + _DEGREES - 1) // _DEGREES
        if marks == (table[_row_of(table, shift, pair)] & _VALUE) >> 1:
            _push(heap, kept, rank, pair)
            kept += 1
    return int(kept)
