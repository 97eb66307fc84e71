"""Directed ties that come and go: who is tied to whom which ways, and whose codes a tie moves.

The code of a node is a sum: what an arc out and one in add, a neighbor (a node that an arc leads
to, or comes from), and an arc between any two of the node and its neighbors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.classes import NodeClasses, move
from graphveil.kernels.structural.rows import GALLOP, NeighborRows, first_not_below

Ints = NDArray[np.int64]
Ways = NDArray[np.int8]

AWAY, BACK = 1, 2
OUT, IN, NEIGHBOR, TIE = range(4)


class ArcRows(NamedTuple):
    """Which ways the neighbors are tied that stand in `NeighborRows`, and what codes are made of.

    ``ways[i]`` belongs to ``neighbor[i]``: `AWAY` if the arc leads there from the node whose row it
    is, `BACK` if one comes from there, or the sum of both. ``unit`` is what an arc out, an arc in,
    a neighbor and an arc among them all add to a code.
    """

    ways: Ways
    unit: Ints


@leaf
def _ways_of(rows: NeighborRows, ways: Ways, v: int, w: int) -> int:
    """Return which ways v is tied to w; 0 where it is not."""
    end = rows.start[v] + rows.length[v]
    at = first_not_below(rows.neighbor, rows.start[v], end, w)
    return int(ways[at]) if at < end and rows.neighbor[at] == w else 0


@leaf
def _turn(rows: NeighborRows, ways: Ways, v: int, w: int, way: int) -> None:
    """Turn one way of w in the row of v, which has room; w leaves the row with the last way."""
    start, length, neighbor = rows.start[v], rows.length[v], rows.neighbor
    end = start + length
    at = first_not_below(neighbor, start, end, w)
    if at == end or neighbor[at] != w:
        for i in range(end, at, -1):
            neighbor[i], ways[i] = neighbor[i - 1], ways[i - 1]
        neighbor[at], ways[at] = w, 0
        rows.length[v] = length + 1
    ways[at] ^= way
    if ways[at] == 0:
        for i in range(at, start + rows.length[v] - 1):
            neighbor[i], ways[i] = neighbor[i + 1], ways[i + 1]
        rows.length[v] -= 1


@leaf
def toggle_arc(rows: NeighborRows, ways: Ways, v: int, w: int) -> None:
    """Let an arc lead from v to w, whose rows have room, or take it away where it is there."""
    _turn(rows, ways, v, w, AWAY)
    _turn(rows, ways, w, v, BACK)


@leaf
def _shared(rows: NeighborRows, ways: Ways, v: int, w: int) -> tuple[int, int, int]:
    """Write the common neighbors of v and w into ``common``; return how many, and their arcs.

    Those with v, then those with w.
    """
    i, i_end = rows.start[v], rows.start[v] + rows.length[v]
    j, j_end = rows.start[w], rows.start[w] + rows.length[w]
    near, filled, with_v, with_w = rows.neighbor, 0, 0, 0
    gallop_v = rows.length[v] > GALLOP * rows.length[w]
    gallop_w = rows.length[w] > GALLOP * rows.length[v]
    while i < i_end and j < j_end:
        if gallop_v:
            i = first_not_below(near, i, i_end, int(np.int64(near[j])))
        if gallop_w:
            j = first_not_below(near, j, j_end, int(np.int64(near[i])))
        if i == i_end or j == j_end:
            break
        one, other = near[i], near[j]
        if one == other:
            rows.common[filled] = one
            filled += 1
            with_v += (ways[i] & AWAY) + (ways[i] >> 1)
            with_w += (ways[j] & AWAY) + (ways[j] >> 1)
        i += one <= other
        j += other <= one
    return filled, int(with_v), int(with_w)


@leaf
def shift_arc(
    classes: NodeClasses, rows: NeighborRows, arcs: ArcRows, v: int, w: int, sign: int
) -> int:
    """Move the codes as an arc from v to w does that comes (1) or goes (-1).

    Returns how many common neighbors moved along. The lists stay as they are. Where no arc leads
    back, the two are neighbors with it alone, and arcs to common ones come or go for both.
    """
    ways, unit = arcs
    common, with_v, with_w = _shared(rows, ways, v, w)
    of_v, of_w = unit[OUT] + unit[TIE], unit[IN] + unit[TIE]
    if _ways_of(rows, ways, v, w) & BACK == 0:
        of_v += unit[NEIGHBOR] + with_w * unit[TIE]
        of_w += unit[NEIGHBOR] + with_v * unit[TIE]
    for i in range(common):
        move(classes, int(np.int64(rows.common[i])), sign * unit[TIE])
    move(classes, v, sign * of_v)
    move(classes, w, sign * of_w)
    return common
