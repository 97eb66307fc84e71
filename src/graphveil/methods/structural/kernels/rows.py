"""Neighbor lists that change: sorted rows in place, with room for edges to come."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import leaf

Ints = NDArray[np.int64]
Nodes = NDArray[np.int32]

GALLOP = 8


class NeighborRows(NamedTuple):
    """Sorted neighbors: ``neighbor[start[v] : start[v] + length[v]]``.

    ``common`` is room for the common neighbors of two nodes.
    """

    start: Ints
    length: Ints
    neighbor: Nodes
    common: Nodes


def new_rows(indptr: Ints, indices: Nodes, room: Ints) -> NeighborRows:
    """Return the neighbor lists of a graph, with room for so many more neighbors of every node.

    Examples
    --------
    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], dtype=np.int32)
    >>> new_rows(*path, room=np.array([1, 0, 0])).neighbor.tolist()
    [1, -1, 0, 2, 1]
    """
    degrees = np.diff(indptr)
    shift = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(room)))
    start = indptr + shift
    neighbor = np.full(int(start[-1]), -1, dtype=np.int32)
    neighbor[np.arange(indices.size) + np.repeat(shift[:-1], degrees)] = indices
    widest = int(np.diff(start).max(initial=0))
    return NeighborRows(start, degrees, neighbor, np.empty(widest, dtype=np.int32))


@leaf
def first_not_below(values: NDArray[np.integer], low: int, high: int, value: int) -> int:
    """Return the first position in low..high - 1 whose entry is not below the value, or high."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@leaf
def adjacent(rows: NeighborRows, v: int, w: int) -> bool:
    """Return whether v and w are joined."""
    if rows.length[v] > rows.length[w]:
        v, w = w, v
    end = rows.start[v] + rows.length[v]
    at = first_not_below(rows.neighbor, rows.start[v], end, w)
    return bool(at < end and rows.neighbor[at] == w)


@leaf
def _toggle(rows: NeighborRows, v: int, w: int) -> None:
    """Put w into the row of v, which has room, or take it out where it is there."""
    start, length, neighbor = rows.start[v], rows.length[v], rows.neighbor
    end = start + length
    at = first_not_below(neighbor, start, end, w)
    if at < end and neighbor[at] == w:
        for i in range(at, end - 1):
            neighbor[i] = neighbor[i + 1]
        rows.length[v] = length - 1
    else:
        for i in range(end, at, -1):
            neighbor[i] = neighbor[i - 1]
        neighbor[at] = w
        rows.length[v] = length + 1


@leaf
def toggle(rows: NeighborRows, v: int, w: int) -> None:
    """Join v and w, whose rows have room, or part them where they are joined."""
    _toggle(rows, v, w)
    _toggle(rows, w, v)


@leaf
def common_of(rows: NeighborRows, v: int, w: int) -> int:
    """Write the common neighbors of v and w, sorted, into ``common``; return how many."""
    start, length, near, out = rows
    if length[v] > length[w]:
        v, w = w, v
    i, i_end = start[v], start[v] + length[v]
    j, j_end = start[w], start[w] + length[w]
    gallop = length[w] > GALLOP * length[v]
    filled = 0
    while i < i_end and j < j_end:
        if gallop:
            j = first_not_below(near, j, j_end, int(np.int64(near[i])))
            if j == j_end:
                break
        one, other = near[i], near[j]
        if one == other:
            out[filled] = one
            filled += 1
        i += one <= other
        j += other <= one
    return filled
