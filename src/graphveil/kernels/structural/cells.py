"""Nodes that look alike to someone whose knowledge is off by some percent, kept up to date.

A cell is a degree and a number of triangles that some node has. The box of a cell holds the cells
whose degree and triangles are each within phi percent of its own: in whole numbers, at most
``numerator * value // denominator`` away. That is not symmetric: the box of a hub holds lesser
nodes whose boxes do not hold the hub.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.tiers import tiered

Ints = NDArray[np.int64]

TRIANGLES, REACH, COUNT, COVERED, NEXT, PREVIOUS = range(6)
BOX_LOW, BOX_HIGH, HOLDERS_LOW, HOLDERS_HIGH = range(4)
UNCOVERED, LACKING, SPARE = range(3)
K, NUMERATOR, DENOMINATOR = range(3)

NONE = -1
NOWHERE = -(1 << 60)
"""Triangles that no box holds."""


class FuzzyCells(NamedTuple):
    """The cells, in one list for each degree, and how many nodes are in the box of each.

    A row of ``cell`` has the triangles, how far its box reaches in triangles, the nodes in the cell
    (``COUNT``), those in its box, and the next and the last cell of the same degree. ``head[d]`` is
    the first one of degree d. ``near[d]`` gives the degrees in the box of a cell of degree d, and
    those of the cells whose boxes may hold it: both are intervals. ``cell_of[v]`` is the row of v.

    ``tally`` holds the nodes in boxes of fewer than k nodes, what these lack in units of ``1 / (2k
    - 2)``, as in classes, and the first row that is not used; ``rule`` k and phi percent as a
    fraction.
    """

    cell: Ints
    head: Ints
    near: Ints
    cell_of: Ints
    tally: Ints
    rule: Ints


def new_cells(n_nodes: int, highest: int, k: int, phi: Fraction) -> FuzzyCells:
    """Return no cells, with room for those of so many nodes of at most the highest degree.

    Examples
    --------
    >>> new_cells(8, 12, 2, Fraction(10)).near[10].tolist()  # 9 to 11; 10 and 11 hold it
    [9, 11, 10, 11]
    """
    share = phi / 100
    degrees = np.arange(highest + 1)
    reach = degrees * share.numerator // share.denominator
    low, high = degrees - reach, degrees + reach
    near = np.stack(
        (
            low,
            np.minimum(high, highest),
            np.searchsorted(high, degrees, side="left"),
            np.searchsorted(low, degrees, side="right") - 1,
        ),
        axis=1,
    )
    cell = np.full((max(n_nodes, 1), PREVIOUS + 1), NONE, dtype=np.int64)
    cell[:, NEXT] = np.append(np.arange(1, len(cell)), NONE)
    return FuzzyCells(
        cell=cell,
        head=np.full(highest + 1, NONE, dtype=np.int64),
        near=near.astype(np.int64),
        cell_of=np.full(n_nodes, NONE, dtype=np.int64),
        tally=np.zeros(SPARE + 1, dtype=np.int64),
        rule=np.array([k, share.numerator, share.denominator], dtype=np.int64),
    )


@leaf
def _lack(cells: FuzzyCells, covered: int) -> int:
    """Return what a node lacks in whose box are so many."""
    k = cells.rule[K]
    return int(2 * k - 1 - covered) if covered < k else 0


@leaf
def _count(cells: FuzzyCells, row: int, nodes: int) -> None:
    """Add so many nodes to a cell, and what they come to; its box stays as it is."""
    cell, tally = cells.cell, cells.tally
    cell[row, COUNT] += nodes
    if cell[row, COVERED] < cells.rule[K]:
        tally[UNCOVERED] += nodes
        tally[LACKING] += nodes * _lack(cells, cell[row, COVERED])


@leaf
def _cover(cells: FuzzyCells, row: int, nodes: int) -> None:
    """Add so many nodes to the box of a cell."""
    cell, tally, k = cells.cell, cells.tally, cells.rule[K]
    before = cell[row, COVERED]
    after = before + nodes
    cell[row, COVERED] = after
    if min(before, after) < k:
        tally[UNCOVERED] += cell[row, COUNT] * (int(after < k) - int(before < k))
        tally[LACKING] += cell[row, COUNT] * (_lack(cells, after) - _lack(cells, before))


@leaf
def _cover_all(cells: FuzzyCells, degree: int, left: int, entered: int) -> None:
    """Take a node of this degree with `left` triangles out of all boxes, one with `entered` in."""
    cell = cells.cell
    for near in range(cells.near[degree, HOLDERS_LOW], cells.near[degree, HOLDERS_HIGH] + 1):
        row = cells.head[near]
        while row != NONE:
            triangles, reach = cell[row, TRIANGLES], cell[row, REACH]
            more = int(abs(triangles - entered) <= reach) - int(abs(triangles - left) <= reach)
            if more != 0:
                _cover(cells, row, more)
            row = cell[row, NEXT]


@leaf
def _in_box(cells: FuzzyCells, degree: int, triangles: int, reach: int) -> int:
    """Return how many nodes are in this box."""
    cell, inside = cells.cell, 0
    for near in range(cells.near[degree, BOX_LOW], cells.near[degree, BOX_HIGH] + 1):
        row = cells.head[near]
        while row != NONE:
            if abs(cell[row, TRIANGLES] - triangles) <= reach:
                inside += cell[row, COUNT]
            row = cell[row, NEXT]
    return int(inside)


@leaf
def _row_of(cells: FuzzyCells, degree: int, triangles: int) -> int:
    """Return the row of a cell, or NONE where no node is in it."""
    row = cells.head[degree]
    while row != NONE and cells.cell[row, TRIANGLES] != triangles:
        row = cells.cell[row, NEXT]
    return int(row)


@leaf
def _join(cells: FuzzyCells, v: int, degree: int, triangles: int) -> None:
    """Put v into its cell, made where there is none; the boxes of the others know of it."""
    cell, head, _, cell_of, tally, rule = cells
    row = _row_of(cells, degree, triangles)
    if row == NONE:
        row = int(tally[SPARE])
        tally[SPARE] = cell[row, NEXT]
        reach = triangles * rule[NUMERATOR] // rule[DENOMINATOR]
        cell[row, TRIANGLES], cell[row, REACH], cell[row, COUNT] = triangles, reach, 0
        cell[row, COVERED] = _in_box(cells, degree, triangles, reach) + 1
        cell[row, NEXT], cell[row, PREVIOUS] = head[degree], NONE
        if head[degree] != NONE:
            cell[head[degree], PREVIOUS] = row
        head[degree] = row
    cell_of[v] = row
    _count(cells, row, 1)


@leaf
def _part(cells: FuzzyCells, v: int, degree: int) -> None:
    """Take v out of its cell, which goes where it becomes empty; no box knows of it yet."""
    cell, head, _, cell_of, tally, _ = cells
    row = cell_of[v]
    _count(cells, row, -1)
    if cell[row, COUNT] > 0:
        return
    after, before = cell[row, NEXT], cell[row, PREVIOUS]
    if after != NONE:
        cell[after, PREVIOUS] = before
    if before != NONE:
        cell[before, NEXT] = after
    else:
        head[degree] = after
    cell[row, NEXT] = tally[SPARE]
    tally[SPARE] = row


@leaf
def enter(cells: FuzzyCells, v: int, degree: int, triangles: int) -> None:
    """Put v, which is in no cell, into that of this degree and these triangles."""
    _cover_all(cells, degree, NOWHERE, triangles)
    _join(cells, v, degree, triangles)


@leaf
def change(cells: FuzzyCells, v: int, old: tuple[int, int], new: tuple[int, int]) -> None:
    """Move v from one degree and number of triangles to another."""
    degree, triangles = old
    _part(cells, v, degree)
    if degree == new[0]:
        _cover_all(cells, degree, triangles, new[1])
        _join(cells, v, degree, new[1])
        return
    _cover_all(cells, degree, triangles, NOWHERE)
    enter(cells, v, new[0], new[1])


@tiered(lambda cells, degrees, _triangles: 20 * degrees.size + cells.head.size)
@leaf
def fill_cells(cells: FuzzyCells, degrees: Ints, triangles: Ints) -> None:
    """Put every node into its cell; all were in none."""
    for v in range(degrees.size):
        enter(cells, v, degrees[v], triangles[v])


@leaf
def list_uncovered(cells: FuzzyCells, out: Ints) -> int:
    """Write into out the nodes in boxes of fewer than k nodes; return how many."""
    filled = 0
    for v in range(cells.cell_of.size):
        if cells.cell[cells.cell_of[v], COVERED] < cells.rule[K]:
            out[filled] = v
            filled += 1
    return filled
