"""Equivalence classes of nodes, kept up to date as single nodes change their codes.

A code is a whole number from 0 on: nodes of one code are equivalent. A move takes O(1) and is
logged, so that a trial can be taken back exactly. Here are also fuzzy cells, schedules, and sorted
neighbor lists with room.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import FREE, find, new_table
from graphveil.core.kernels.leaf import leaf
from graphveil.core.kernels.tiers import for_each_entry, tiered

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

    The box of a cell, a degree and a number of triangles, holds the cells within phi percent of
    both; that is not symmetric. A row of ``cell`` has the triangles, how far its box reaches in
    triangles, the nodes in the cell (``COUNT``), those in its box, and the next and the last cell
    of the same degree. ``near[d]`` gives the degrees in the box of a cell of degree d, and those of
    the cells whose boxes may hold it. ``tally`` holds the nodes in boxes of fewer than k, what
    these lack in units of ``1 / (2k - 2)``, and the first free row; ``rule`` k and phi percent as a
    fraction.
    """

    cell: Ints
    head: Ints
    near: Ints
    cell_of: Ints
    tally: Ints
    rule: Ints


def new_cells(n_nodes: int, highest: int, k: int, phi: Fraction) -> FuzzyCells:
    """Return no cells, with room for those of so many nodes of at most the highest degree."""
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


class Schedule(NamedTuple):
    """How one stretch of annealing runs.

    The temperature falls from `hot` to `cold` geometrically. The energy is `price` an edit, `pull`
    a unit of gap, and for the unprotected nodes a mean of their number and of what their classes
    lack, the latter with weight `ease`; both count only beyond `spared` and `spared_lack`. With
    `stop` the walk ends at the nodes `allowed`. A node counts `half` tenths more if unprotected
    from knowledge off by half of phi, and `exact` if from an exact one.
    """

    steps: int
    hot: float
    cold: float
    price: float
    ease: float = 1.0
    pull: float = 0.0
    spared: float = 0.0
    spared_lack: float = 0.0
    allowed: int = 0
    stop: bool = True
    half: int = 0
    exact: int = 0


class Odds(NamedTuple):
    """How likely what is proposed is.

    `focus` looks near an unprotected node, else `undo` reverts an edit; `swap` reverts one with
    an edit, `swap_back` makes an edit with a revert; walks with aims `add` an edge. At most
    `budget` pairs change.
    """

    focus: float
    undo: float
    swap: float
    swap_back: float
    add: float
    budget: int


UNPROTECTED, LACK, GAP, USED, MOVED, FRESH = range(6)
LEAST, SHIFT, BY_DEGREE, BY_TRIANGLE = range(4)
SLOT, PULL, AIM_DEGREE, AIM_TRIANGLES = range(4)

DEGREE_BITS = 40
ONE_DEGREE = 1 << DEGREE_BITS
TRIANGLES_OF_CLASSES = ONE_DEGREE - 1
DEGREE_GAP = 8
"""Triangles that a degree is worth in the distance between two codes."""


class NodeClasses(NamedTuple):
    """The classes: a hash table of codes and how many nodes share each.

    ``node[v]`` holds the row of v's code; in walks with aims also how strongly v is pulled, and the
    degree and triangles it is pulled to. ``log`` lists the nodes moved in a trial, the rows they
    left and the rows first used. ``weight[d]`` is what an unprotected node of degree d counts in
    walks with aims; empty, each counts 1. ``tally`` holds the unprotected nodes, what their classes
    lack, the sum of the gaps, the rows in use and the lengths of both logs; ``rule`` k, the shift
    of the hash, and what a degree and a triangle add to a code.

    A class of c < k nodes lacks ``c (2k - 1 - c) / (2k - 2)``, held in units of ``1 / (2k - 2)``:
    joining a larger class pays before it is full. Under phi ``cells`` counts who is similar, and
    ``inner`` the same for half of phi; elsewhere both are None, and the kernels are compiled
    without them.
    """

    table: Ints
    node: Ints
    log: Ints
    weight: Ints
    tally: Ints
    rule: Ints
    cells: FuzzyCells | None
    inner: FuzzyCells | None


def new_classes(
    codes: Ints,
    k: int,
    *,
    moves: int,
    steps: tuple[int, int],
    weight: Ints | None = None,
    cells: FuzzyCells | None = None,
    inner: FuzzyCells | None = None,
) -> NodeClasses:
    """Return an unfilled table with room for the moves of one trial; aims come with weights."""
    aims = 0 if weight is None else 3
    table, shift = new_table(3 * max(codes.size, moves, 1))
    node = np.zeros((codes.size, 1 + aims), dtype=np.int64)
    node[:, SLOT] = np.arange(codes.size)
    table[: codes.size, 0] = codes
    return NodeClasses(
        table=table,
        node=node,
        log=np.empty((max(moves, 1), 3), dtype=np.int64),
        weight=np.empty(0, dtype=np.int64) if weight is None else weight,
        tally=np.zeros(FRESH + 1, dtype=np.int64),
        rule=np.array([k, shift, *steps], dtype=np.int64),
        cells=cells,
        inner=inner,
    )


@leaf
def gap(code: int, degree: int, triangles: int) -> int:
    """Return how far a code is from this degree and these triangles."""
    return abs((code & TRIANGLES_OF_CLASSES) - triangles) + DEGREE_GAP * abs(
        (code >> DEGREE_BITS) - degree
    )


@leaf
def _worth(weight: Ints, code: int) -> int:
    """Return what an unprotected node of this code counts."""
    if weight.size > 0:
        return int(weight[code >> DEGREE_BITS])
    return 1


@tiered(for_each_entry(0.3))
@leaf
def fill(classes: NodeClasses) -> None:
    """Enter every node by its code into the emptied table, and count anew; drops empty classes."""
    table, node, _, weight, tally, rule, _, _ = classes
    k = rule[LEAST]
    for v in range(len(node)):
        node[v, SLOT] = table[node[v, SLOT], 0]
    for row in range(len(table)):
        table[row, 0], table[row, 1] = FREE, 0
    for i in range(tally.size):
        tally[i] = 0
    for v in range(len(node)):
        code = node[v, SLOT]
        row = find(table, rule[SHIFT], code)
        tally[USED] += table[row, 0] == FREE
        table[row, 0] = code
        table[row, 1] += 1
        node[v, SLOT] = row
        if weight.size > 0:
            degree, triangles = node[v, AIM_DEGREE], node[v, AIM_TRIANGLES]
            tally[GAP] += node[v, PULL] * gap(code, degree, triangles)
    for row in range(len(table)):
        size = table[row, 1]
        if 0 < size < k:
            tally[UNPROTECTED] += size
            tally[LACK] += _worth(weight, table[row, 0]) * size * (2 * k - 1 - size)


@leaf
def begin(classes: NodeClasses) -> None:
    """Start a trial: forget the log, and drop empty classes where the table is half full."""
    classes.tally[MOVED], classes.tally[FRESH] = 0, 0
    if 2 * classes.tally[USED] > len(classes.table):
        fill(classes)


@leaf
def _recode(cells: FuzzyCells | None, v: int, old: int, code: int) -> None:
    """Move v between the cells of two codes, where there are any."""
    if cells is not None:
        change(
            cells,
            v,
            (old >> DEGREE_BITS, old & TRIANGLES_OF_CLASSES),
            (code >> DEGREE_BITS, code & TRIANGLES_OF_CLASSES),
        )


@leaf
def move(classes: NodeClasses, v: int, step: int) -> None:
    """Change the code of v by `step`; write the table, the tally and the log."""
    table, node, log, weight, tally, rule, cells, inner = classes
    k, row = rule[LEAST], node[v, SLOT]
    old = table[row, 0]
    code = old + step
    new = find(table, rule[SHIFT], code)
    if table[new, 0] == FREE:
        table[new, 0], log[tally[FRESH], 2] = code, new
        tally[FRESH] += 1
        tally[USED] += 1
    before, after = table[row, 1], table[new, 1] + 1
    if before < k:
        tally[UNPROTECTED] -= 1
        tally[LACK] -= _worth(weight, old) * 2 * (k - before)
    elif before == k:
        tally[UNPROTECTED] += k - 1
        tally[LACK] += _worth(weight, old) * k * (k - 1)
    if after < k:
        tally[UNPROTECTED] += 1
        tally[LACK] += _worth(weight, code) * 2 * (k - after)
    elif after == k:
        tally[UNPROTECTED] -= k - 1
        tally[LACK] -= _worth(weight, code) * k * (k - 1)
    if weight.size > 0 and node[v, PULL] != 0:
        degree, triangles = node[v, AIM_DEGREE], node[v, AIM_TRIANGLES]
        tally[GAP] += node[v, PULL] * (gap(code, degree, triangles) - gap(old, degree, triangles))
    table[row, 1] = before - 1
    table[new, 1], node[v, SLOT] = after, new
    log[tally[MOVED], 0], log[tally[MOVED], 1] = v, row
    tally[MOVED] += 1
    _recode(cells, v, old, code)
    _recode(inner, v, old, code)


@leaf
def shift(classes: NodeClasses, ends: tuple[int, int], common: int, sign: int) -> None:
    """Move the codes of two nodes and their common ones as joining (1) or parting (-1) does."""
    step = sign * (classes.rule[BY_DEGREE] + common * classes.rule[BY_TRIANGLE])
    move(classes, ends[0], step)
    move(classes, ends[1], step)


@leaf
def tallies(classes: NodeClasses) -> tuple[int, int, int]:
    """Return the unprotected nodes, what their classes lack, and the gap to the aims."""
    tally = classes.tally
    return int(tally[UNPROTECTED]), int(tally[LACK]), int(tally[GAP])


@leaf
def _unprotected(cells: FuzzyCells | None, tally: Ints) -> tuple[int, int]:
    """Return the unprotected nodes and what they lack, by the cells where there are any."""
    if cells is not None:
        return int(cells.tally[UNCOVERED]), int(cells.tally[LACKING])
    return int(tally[UNPROTECTED]), int(tally[LACK])


@leaf
def unprotected_of(classes: NodeClasses) -> int:
    """Return how many nodes are unprotected, by the cells where there are any."""
    return _unprotected(classes.cells, classes.tally)[0]


@leaf
def nearly_unprotected(classes: NodeClasses, plan: Schedule) -> int:
    """Return what nodes count, in tenths, that are protected from inexact knowledge alone."""
    inner = _unprotected(classes.inner, classes.tally)[0]
    return int(plan.half * inner + plan.exact * classes.tally[UNPROTECTED])


@leaf
def energy_of(classes: NodeClasses, plan: Schedule) -> float:
    """Return the energy but for the edits."""
    unprotected, lack = _unprotected(classes.cells, classes.tally)
    nodes = (1.0 - plan.ease) * max(float(unprotected), plan.spared)
    lacking = plan.ease * max(float(lack), plan.spared_lack) / (2 * classes.rule[LEAST] - 2)
    closer = 0.1 * nearly_unprotected(classes, plan)
    return float(nodes + lacking + plan.pull * classes.tally[GAP] + closer)


@leaf
def undo(classes: NodeClasses, before: tuple[int, int, int]) -> None:
    """Take back every move since `begin`, when these were the `tallies`."""
    table, node, log, _, tally, _, cells, inner = classes
    for i in range(tally[MOVED] - 1, -1, -1):
        v, row = log[i, 0], log[i, 1]
        table[node[v, SLOT], 1] -= 1
        table[row, 1] += 1
        _recode(cells, v, table[node[v, SLOT], 0], table[row, 0])
        _recode(inner, v, table[node[v, SLOT], 0], table[row, 0])
        node[v, SLOT] = row
    for i in range(tally[FRESH]):
        table[log[i, 2], 0] = FREE
    tally[USED] -= tally[FRESH]
    tally[UNPROTECTED], tally[LACK], tally[GAP] = before
    tally[MOVED], tally[FRESH] = 0, 0


@leaf
def list_unprotected(classes: NodeClasses, out: Ints) -> int:
    """Write into out the unprotected nodes that count; return how many."""
    return _list(classes, classes.cells, out)


@leaf
def _list(classes: NodeClasses, cells: FuzzyCells | None, out: Ints) -> int:
    """Write who is in a box of fewer than k nodes, or, without cells, in such a class."""
    if cells is not None:
        return list_uncovered(cells, out)
    filled = 0
    for v in range(len(classes.node)):
        row = classes.node[v, SLOT]
        listed = classes.table[row, 1] < classes.rule[LEAST]
        if listed and _worth(classes.weight, classes.table[row, 0]) > 0:
            out[filled] = v
            filled += 1
    return filled


Nodes = NDArray[np.int32]

GALLOP = 8


class NeighborRows(NamedTuple):
    """Sorted neighbors ``neighbor[start[v] : start[v] + length[v]]``, and room for common ones."""

    start: Ints
    length: Ints
    neighbor: Nodes
    common: Nodes


def new_rows(indptr: Ints, indices: Nodes, room: Ints) -> NeighborRows:
    """Return the neighbor lists of a graph, with room for so many more neighbors of every node."""
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
