"""ExpandWhenStuck: a matching that grows from known pairs by marks.

Kazemi, Hassani and Grossglauser, *Growing a graph matching from a handful of seeds*, PVLDB 2015.
Every matched pair gives a mark to all pairs of its neighbors; the pair with most marks, two at
least, is matched next and spreads marks in turn; of equal marks nearer degrees go first. When no
pair with two marks is left the algorithm is stuck: then pairs with one mark spread marks
themselves, without being matched.

Departures: when stuck, not all pairs with a mark spread, but as many as both graphs have nodes,
those of the nearest degrees; marks are kept within each edge type and direction; pairs with
different attributes get none; and the whole stops at `MOST_MARKS`.

The loop over marks is the kernel `percolate`. This module gives it room: the table of marks and the
heap grow when it asks for it, after entries of matched nodes were dropped. Cost: about the sum of
squared degrees in marks, each an operation of the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from graphveil.attacks.networks.copies import paired_copy
from graphveil.attacks.networks.copies.side_information import SideInformation, totals
from graphveil.core.array_types import Ints
from graphveil.core.lazy import lazy_module
from graphveil.core.progress import check_time

if TYPE_CHECKING:
    from graphveil.attacks.kernels import percolation
else:
    percolation = lazy_module("graphveil.attacks.kernels.percolation")

Match: TypeAlias = "Ints"
"""The node of the other graph that every node was given, or -1; int64, shape (n,)."""

MOST_MARKS = 400_000_000
"""After this many marks the matching stops as it is and is reported as capped: about four minutes
of work by the forecast of `propagation.py`."""

_ROWS_AT_ONCE = 1 << 20
"""Rows of the table that are looked through at once; it bounds memory alone."""


class Expanded(NamedTuple):
    """A matching, and whether it was stopped at the most marks."""

    match: Match
    stopped: bool


def expand(seeds: Match, more: SideInformation, most_marks: int = MOST_MARKS) -> Expanded:
    """Return a matching grown from known pairs.

    Parameters
    ----------
    seeds : int64, shape (n_one,)
        The released node of every known node of the copy, -1 for the others.
    more : SideInformation
        The edges of the copy and of the release, with types, directions and attributes.
    most_marks : int
        Where to stop.

    Returns
    -------
    Expanded
        The matching, which contains the seeds, and whether it was stopped.
    """
    first, second = candidate_lists(more)
    # Known pairs are matched from the start and are the first to spread marks.
    n_two = second.degrees.size
    match = percolation.PercolationMatch(seeds.copy(), inverse(seeds, n_two))
    known = np.flatnonzero(seeds >= 0)
    fresh = known * n_two + seeds[known]
    tally = np.zeros(percolation.TALLIES, dtype=np.int64)
    tally[percolation.MOST_MARKS] = most_marks
    table, shift = percolation.new_table(1 << 12)
    heap = np.empty((1 << 12, 2), dtype=np.int64)
    # Spread from fresh pairs and match until the kernel has nothing to do; give it room when it
    # asks.
    while fresh.size:
        check_time()
        tally[percolation.SPREAD] = 0
        while end := percolation.percolate(first, second, fresh, match, table, shift, heap, tally):
            if end == percolation.TOO_MANY:
                return Expanded(match.one, stopped=True)
            table, shift = _with_room(table, shift, match, tally)
            heap = _with_room_in_heap(heap, table, shift, match, tally)
            check_time()
        # Stuck: pairs with a mark that have not spread are the next to spread, unmatched.
        fresh = _not_spread(first.degrees, second.degrees, match, table)
    return Expanded(match.one, stopped=False)


def candidate_lists(
    more: SideInformation,
) -> tuple[percolation.CandidateLists, percolation.CandidateLists]:
    """Return two networks as kernels read them: lists one after another, and attributes.

    Each network's lists are concatenated; `indptr` has one row per list, shifted to where its list
    begins.
    """
    sides = []
    for at, relations in enumerate((more.copy, more.released)):
        # Where the neighbors of each list begin in the concatenated array.
        starts = np.cumsum([0, *(lists.indices.size for lists in relations)])
        indptr = np.stack(
            [lists.indptr + start for lists, start in zip(relations, starts[:-1], strict=True)]
        )
        n = indptr.shape[1] - 1
        rows = np.empty((n, 0), dtype=np.int32) if more.rows is None else more.rows[at]
        indices = np.concatenate([lists.indices for lists in relations])
        codes = np.ascontiguousarray(rows, dtype=np.int32)
        sides.append(percolation.CandidateLists(indptr, indices, totals(relations), codes))
    return sides[0], sides[1]


def _with_room(
    table: Match, shift: int, match: percolation.PercolationMatch, tally: Match
) -> tuple[Match, int]:
    """Return the table, or one of the pairs that are free with room for the next marks; its shift.

    It is up to three quarters full when it is copied, and up to half of that afterwards.
    """
    following = int(tally[percolation.NEXT])
    if 4 * (int(tally[percolation.ENTRIES]) + following) <= 3 * len(table):
        return table, shift
    free = percolation.free_pairs(table, match)
    new, new_shift = percolation.new_table(max(2 * free, free + following))
    tally[percolation.ENTRIES] = percolation.refill(table, match, new, new_shift)
    return new, new_shift


def _with_room_in_heap(
    heap: Match, table: Match, shift: int, match: percolation.PercolationMatch, tally: Match
) -> Match:
    """Return the heap with room for the next marks: without old entries, and larger if need be."""
    following = int(tally[percolation.NEXT])
    if int(tally[percolation.QUEUED]) + following <= len(heap):
        return heap
    size = percolation.compact(heap, int(tally[percolation.QUEUED]), match, table, shift)
    tally[percolation.QUEUED] = size
    if 2 * size + following <= len(heap):
        return heap
    larger = np.empty((2 * size + following, 2), dtype=np.int64)
    larger[:size] = heap[:size]
    return larger


def _not_spread(one: Ints, two: Ints, match: percolation.PercolationMatch, table: Match) -> Match:
    """Return marked pairs of free nodes that have not spread, those of the nearest degrees.

    As many as both graphs have nodes at most: the paper spreads all, which may be millions of
    pairs.
    """
    n = two.size
    waiting = [np.empty(0, dtype=np.int64)]
    for start in range(0, table.size, _ROWS_AT_ONCE):
        # An even value has not spread; both nodes must be free.
        rows = table[start : start + _ROWS_AT_ONCE]
        pairs = rows[(rows >= 0) & (rows & 1 == 0)] >> percolation.VALUE_BITS
        waiting.append(pairs[(match.one[pairs // n] < 0) & (match.two[pairs % n] < 0)])
    pairs = np.concatenate(waiting)
    both = one[pairs // n], two[pairs % n]
    # Differences of degrees in proportion to the larger one.
    apart = np.abs(both[0] - both[1]) / np.maximum(*both)
    most = one.size + two.size
    chosen: Match = pairs[np.argsort(apart, kind="stable")[:most]]
    return chosen


def inverse(match: Match, n: int) -> Match:
    """Return the same matching seen from the other graph, of n nodes.

    >>> inverse(np.array([2, -1]), 3).tolist()
    [-1, -1, 0]
    """
    back = np.full(n, paired_copy.NOBODY, dtype=np.int64)
    matched = np.flatnonzero(match >= 0)
    back[match[matched]] = matched
    return back
