"""Arcs into sorted neighbor lists, within three times the memory of the lists.

Everything that is as long as the arcs is made a block at a time or freed before the next such
array is made: 10^8 edges take 0.8 GB as lists, and must be built within 2.4 GB.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import DroppedWarning

BLOCK = 1 << 19
"""How many arcs are processed at a time: temporary arrays have this length, 4 MB each."""

HALF = 31
"""The bits of the lower half of a packed edge."""

MASK = 0x7FFFFFFF
"""The lower half of a packed edge: an edge is packed into 62 bits, one end above, the other
below."""


class Dropped(NamedTuple):
    """What building a simple undirected graph from arcs omitted."""

    self_loops: int
    duplicates: int
    reciprocal_pairs: int


class SortedLists(NamedTuple):
    """Neighbor lists: those of node v are ``indices[indptr[v]:indptr[v + 1]]``, sorted."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]


def neighbor_lists(arcs: list[NDArray[np.int32]], n: int) -> tuple[SortedLists, Dropped]:
    """Return the lists of the simple undirected graph of these arcs, and what was dropped.

    `arcs`: the sources and the targets, int32, shape (arcs,) each. The list is emptied, so that
    they can be freed early. O(m log m) time.
    """
    # Step 1: every arc as one integer (smaller end, larger end, direction), without self-loops.
    keys, loops = _keys(arcs)
    # Step 2: sorted, repeats are neighbors; the distinct edges overwrite the keys.
    keys.sort()
    edges, duplicates, reciprocal = _distinct_edges(keys)
    del keys
    # Step 3: edges by their smaller end give every node its larger neighbors.
    later = _lists(edges, n)
    # Step 4: edges by their larger end give every node its smaller neighbors.
    edges = _turned(edges)
    edges.sort()
    earlier = _lists(edges, n)
    del edges
    # Step 5: both parts of each list are sorted, and the smaller neighbors come first.
    return _joined(earlier, later), Dropped(loops, duplicates, reciprocal)


def sorted_lists(row: NDArray[Any], column: NDArray[Any], n: int) -> SortedLists:
    """Return the lists of n rows that have these columns, sorted and without repeats.

    `row`, `column`: integers below 2^31, shape (entries,) each.
    """
    # One integer per entry, row above column: sorting these sorts the rows and each list.
    keys = row.astype(np.int64)
    keys <<= HALF
    keys |= column
    keys.sort()
    # Repeated entries are neighbors now: keep the first of each.
    first = np.ones(keys.size, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    if not first.all():
        keys = keys[first]
    indptr = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) << HALF)
    keys &= MASK
    return SortedLists(indptr, keys.astype(np.int32))


def permuted_lists(lists: Any, order: NDArray[np.int64]) -> SortedLists:
    """Return the lists with node ``order[j]`` at position j."""
    n = order.size
    new = np.empty(n, dtype=np.int32)
    new[order] = np.arange(n, dtype=np.int32)
    return sorted_lists(np.repeat(new, np.diff(lists.indptr)), new[lists.indices], n)


def taken(indptr: NDArray[np.int64], rows: NDArray[Any]) -> tuple[NDArray[np.int64], Any]:
    """Return where some lists start if they are put one after the other, and their entries.

    Both int64: the starts, shape (rows + 1,), and the place of every entry in the given lists.

    >>> starts, entries = taken(np.array([0, 2, 3, 6]), np.array([2, 0]))
    >>> starts.tolist(), entries.tolist()
    ([0, 3, 5], [3, 4, 5, 0, 1])
    """
    sizes = np.diff(indptr)[rows]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return starts, np.repeat(indptr[rows] - starts[:-1], sizes) + np.arange(starts[-1])


def lists_among(lists: Any, people: NDArray[np.int64]) -> SortedLists:
    """Return the lists of some nodes, with these nodes alone in them; positions, ascending."""
    number = np.full(lists.indptr.size - 1, -1, dtype=np.int64)
    number[people] = np.arange(people.size)
    row, column = np.repeat(number, np.diff(lists.indptr)), number[lists.indices]
    inside = (row >= 0) & (column >= 0)
    return sorted_lists(row[inside], column[inside], people.size)


def _keys(arcs: list[NDArray[np.int32]]) -> tuple[NDArray[np.int64], int]:
    """Return (smaller end, larger end, direction) packed into one integer an arc; no loops."""
    target, source = arcs.pop(), arcs.pop()
    keys = np.empty(source.size, dtype=np.int64)
    filled = 0
    for part in blocks(source.size):
        u, v = source[part].astype(np.int64), target[part].astype(np.int64)
        packed = (np.minimum(u, v) << 32) | (np.maximum(u, v) << 1) | (u > v)
        packed = packed[u != v]
        keys[filled : filled + packed.size] = packed
        filled += packed.size
    return keys[:filled], int(source.size - filled)


def _distinct_edges(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], int, int]:
    """Overwrite sorted keys by the distinct edges; count repeated arcs and two-way edges."""
    arcs = edges = 0
    last_arc = last_edge = -1
    for part in blocks(keys.size):
        block = keys[part].copy()
        # The last bit is the direction: keys that differ there alone are both directions of one
        # edge.
        arcs += int(np.count_nonzero(np.diff(block, prepend=last_arc)))
        last_arc = int(block[-1])
        # The edge without its direction; the last one of the block before is remembered.
        block >>= 1
        distinct = block[np.diff(block, prepend=last_edge) != 0]
        last_edge = int(block[-1])
        keys[edges : edges + distinct.size] = distinct
        edges += distinct.size
    return keys[:edges], int(keys.size - arcs), arcs - edges


def _lists(edges: NDArray[np.int64], n: int) -> SortedLists:
    """Return for every node the second ends of sorted edges that begin with it."""
    indptr = np.searchsorted(edges, np.arange(n + 1, dtype=np.int64) << HALF)
    indices = np.empty(edges.size, dtype=np.int32)
    for part in blocks(edges.size):
        indices[part] = edges[part] & MASK
    return SortedLists(indptr, indices)


def _turned(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Swap the ends of packed edges, in place."""
    for part in blocks(edges.size):
        edges[part] = ((edges[part] & MASK) << HALF) | (edges[part] >> HALF)
    return edges


def _joined(earlier: SortedLists, later: SortedLists) -> SortedLists:
    """Return lists in which the smaller neighbors stand before the larger ones."""
    indptr = earlier.indptr + later.indptr
    indices = np.empty(earlier.indices.size + later.indices.size, dtype=np.int32)
    # The place of every entry: its node's list starts at the sum of both starts, and the larger
    # neighbors come after the smaller ones.
    for lists, offset in ((earlier, later.indptr[:-1]), (later, earlier.indptr[1:])):
        for rows in _row_blocks(lists.indptr):
            ends = lists.indptr[rows.start : rows.stop + 1]
            position = np.repeat(offset[rows], np.diff(ends))
            position += np.arange(ends[0], ends[-1])
            indices[position] = lists.indices[ends[0] : ends[-1]]
    return SortedLists(indptr, indices)


def in_both(one: Any, other: Any, *, above: bool = False) -> int:
    """Return how many entries two sets of sorted, distinct lists have in common, row by row.

    `above` counts only entries above their row: every edge of an undirected graph once.
    """
    count = 0
    for rows in _row_blocks(one.indptr + other.indptr):
        keys = np.concatenate([_keys_of(lists, rows, above=above) for lists in (one, other)])
        keys.sort(kind="stable")  # which merges the two runs
        count += int(np.count_nonzero(keys[1:] == keys[:-1]))
    return count


def _keys_of(lists: Any, rows: slice, *, above: bool) -> NDArray[np.int64]:
    """Return the entries of some rows as ascending integers."""
    ends = lists.indptr[rows.start : rows.stop + 1]
    row = np.repeat(np.arange(rows.start, rows.stop, dtype=np.int32), np.diff(ends))
    column = lists.indices[ends[0] : ends[-1]]
    if above:
        later = column > row
        row, column = row[later], column[later]
    return _packed(row, column)


def check_lists(lists: SortedLists) -> None:
    """Refuse lists that are not a simple undirected graph."""
    indptr, indices = lists
    n = indptr.size - 1
    if n < 0 or indptr[0] != 0 or indptr[-1] != indices.size or np.any(np.diff(indptr) < 0):
        raise DataError("indptr must rise from 0 to the number of indices. Build with from_edges.")
    if indices.size == 0:
        return
    if indices.min() < 0 or indices.max() >= n:
        raise DataError(f"a neighbor is outside 0..{n - 1}. Build the graph with from_edges.")
    # Entries to smaller neighbors, as packed edges (neighbor, node): every edge as seen from above.
    turned = np.empty(indices.size // 2, dtype=np.int64)
    filled = 0
    for row, here in _entries(lists):
        _check_order(row, here)
        back = here < row
        filled += _put(turned, filled, _packed(here[back], row[back]))
    # Entries to larger neighbors come in the order of packed edges: both must be the same edges.
    _sort_by_first(turned)
    compared = 0
    for row, here in _entries(lists):
        on = here > row
        edges = _packed(row[on], here[on])
        if not np.array_equal(edges, turned[compared : compared + edges.size]):
            compared = -1
            break
        compared += edges.size
    if filled != compared or 2 * filled != indices.size:
        raise DataError("an edge is stored in one direction only. Build the graph with from_edges.")


def _sort_by_first(edges: NDArray[np.int64]) -> None:
    """Sort packed edges in place, whose second ends ascend; few of them by counting."""
    if edges.size > BLOCK:
        edges.sort()
        return
    order = np.argsort((edges >> HALF).astype(np.uint16), kind="stable")  # 16 bits are counted
    edges[:] = edges[order]
    high = (edges >> (HALF + 16)).astype(np.uint16)
    if high.any():
        edges[:] = edges[np.argsort(high, kind="stable")]


def _put(target: NDArray[np.int64], start: int, values: NDArray[np.int64]) -> int:
    """Write as many values as fit from a position on, and return how many there were."""
    target[start : start + values.size] = values[: max(target.size - start, 0)]
    return int(values.size)


def _packed(first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.int64]:
    return (first.astype(np.int64) << HALF) | second


def _entries(lists: SortedLists) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield (node, neighbor) of every entry, a block of rows at a time."""
    for rows in _row_blocks(lists.indptr):
        ends = lists.indptr[rows.start : rows.stop + 1]
        row = np.repeat(np.arange(rows.start, rows.stop, dtype=np.int32), np.diff(ends))
        yield row, lists.indices[ends[0] : ends[-1]]


def _check_order(row: NDArray[np.int32], here: NDArray[np.int32]) -> None:
    if np.any(row == here):
        node = int(row[row == here][0])
        raise DataError(f"node {node} is its own neighbor. Drop self-loops: use from_edges.")
    unsorted = (here[1:] <= here[:-1]) & (row[1:] == row[:-1])
    if unsorted.any():
        node = int(row[1:][unsorted][0])
        raise DataError(f"the neighbors of node {node} are not sorted and distinct.")


def blocks(size: int) -> Iterator[slice]:
    """Yield slices that cover 0..size-1 in order."""
    return (slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK))


def _row_blocks(indptr: NDArray[np.int64]) -> Iterator[slice]:
    """Yield slices of rows that together hold about a block of entries each."""
    n = indptr.size - 1
    cuts = np.searchsorted(indptr, np.arange(BLOCK, int(indptr[-1]), BLOCK))
    cuts = np.unique(np.concatenate([[0], np.minimum(cuts, n), [n]]))
    return (slice(int(a), int(b)) for a, b in pairwise(cuts))


def warn_dropped(dropped: Dropped) -> None:
    """Warn of self-loops and repeated edges that are omitted."""
    if dropped.self_loops or dropped.duplicates:
        loops = f"dropped {dropped.self_loops} self-loops"
        warn(f"{loops} and {dropped.duplicates} repeated edges", DroppedWarning)
