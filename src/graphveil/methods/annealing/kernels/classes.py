"""Equivalence classes and neighbor lists, kept up to date while a search flips single pairs.

De Jong, van der Loo and Takes, *The anonymization problem in social networks*, update the partition
of the nodes after every batch of edits (section 5.2, Algorithm 2, ``update_P_M``): for each
affected node they compute its new state M(v) and move it to the class of that state. The walks of
this package try one edit at a time, millions of times, so that the same update is made here in O(1)
for each affected node, and every update can be taken back.

The state of a node is one integer, its *code*: 0 or more, and equal for nodes that the measure
cannot distinguish. At distance 1 the code of ``count`` is ``degree << 40 | triangles``; other
measures pack or hash other values. The module has five parts:

- `FuzzyCells`: nodes that are similar within phi percent, instead of equivalent (own definition;
  the notion is from *Fuzzy k-anonymity in complex networks*, arXiv 2605.12062). A change of one
  node looks at the populated cells with a similar degree.
- `Schedule` and `Odds`: the parameters of one segment of simulated annealing.
- `NodeClasses`: a hash table from code to class size, with the number of unprotected nodes.
  `begin`, any number of `move`, then either nothing (the trial is kept) or `undo`.
- `energy_of`: the objective of the annealing, read from sums that `move` maintains, in O(1).
- `NeighborRows`: sorted neighbor lists with spare room, so that edges come and go in place.

Memory is O(n + m). Nothing here draws random numbers.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints, Nodes
from graphveil.core.kernels.arrays import FREE, find, first_not_below, new_table
from graphveil.core.kernels.leaf import leaf
from graphveil.core.kernels.tiers import for_each_entry, tiered

# Columns of `FuzzyCells.cell`; columns of `FuzzyCells.near`; entries of its `tally` and of its
# `rule`.
TRIANGLES, REACH, COUNT, COVERED, NEXT, PREVIOUS = range(6)
BOX_LOW, BOX_HIGH, HOLDERS_LOW, HOLDERS_HIGH = range(4)
UNCOVERED, LACKING, SPARE = range(3)
K, NUMERATOR, DENOMINATOR = range(3)

NONE = -1
"""No row: the end of a list, or a node in no cell."""
NOWHERE = -(1 << 60)
"""A number of triangles that is in no box: stands for a node that is in no cell before or after."""


class FuzzyCells(NamedTuple):
    """The cells of nodes, one list per degree, and how many nodes are in the box of each cell.

    A cell is a pair (degree, triangles) that at least one node has. Its box holds the cells whose
    degree is within phi percent of its degree, and whose triangles are within phi percent of its
    triangles. The relation is not symmetric: the box of a hub reaches farther than that of its
    lesser neighbors. A node is protected if at least k nodes, itself included, are in the box of
    its cell.

    All arrays are int64. `new_cells` makes them; `enter` and `change` write all but `near` and
    `rule`.

    Parameters
    ----------
    cell
        Shape (max(n, 1), 6), one row per cell: its ``TRIANGLES``; how far its box reaches in
        triangles (``REACH``); the nodes in the cell (``COUNT``) and in its box (``COVERED``); the
        rows ``NEXT`` and ``PREVIOUS`` of the same degree. Unused rows are linked by ``NEXT``.
    head
        Shape (highest degree + 1,): the first row of each degree, or `NONE`.
    near
        Shape (highest degree + 1, 4): the degrees ``BOX_LOW .. BOX_HIGH`` in the box of a cell of
        this degree, and the degrees ``HOLDERS_LOW .. HOLDERS_HIGH`` of the cells whose boxes may
        hold it. Both are intervals, since phi is below 100.
    cell_of
        Shape (n,): the row of each node.
    tally
        ``UNCOVERED``: nodes in boxes of fewer than k nodes; ``LACKING``: the sum over these nodes
        of 2k - 1 minus the nodes in their box; ``SPARE``: the first unused row.
    rule
        ``K``, and phi / 100 as ``NUMERATOR / DENOMINATOR``: boxes are computed with integers only.
    """

    cell: Ints
    head: Ints
    near: Ints
    cell_of: Ints
    tally: Ints
    rule: Ints


def new_cells(n_nodes: int, highest: int, k: int, phi: Fraction) -> FuzzyCells:
    """Return empty cells with room for n nodes whose degrees never exceed the highest."""
    share = phi / 100
    degrees = np.arange(highest + 1)
    reach = degrees * share.numerator // share.denominator
    low, high = degrees - reach, degrees + reach
    # The upper ends and the lower ends of boxes do not fall as the degree rises, so the degrees
    # whose boxes hold a given degree are found by two binary searches.
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
    # All rows are unused: a free list that starts at row 0.
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
    """Return what one node in a box of this many nodes lacks: 2k - 1 - covered, or 0 from k on."""
    k = cells.rule[K]
    return int(2 * k - 1 - covered) if covered < k else 0


@leaf
def _count(cells: FuzzyCells, row: int, nodes: int) -> None:
    """Add this many nodes (or, if negative, remove them) to a cell; its box stays as it is.

    The sums change by what these nodes count, given the nodes in the box now.
    """
    cell, tally = cells.cell, cells.tally
    cell[row, COUNT] += nodes
    if cell[row, COVERED] < cells.rule[K]:
        tally[UNCOVERED] += nodes
        tally[LACKING] += nodes * _lack(cells, cell[row, COVERED])


@leaf
def _cover(cells: FuzzyCells, row: int, nodes: int) -> None:
    """Add this many nodes to the box of a cell, and correct the sums if it was or is below k."""
    cell, tally, k = cells.cell, cells.tally, cells.rule[K]
    before = cell[row, COVERED]
    after = before + nodes
    cell[row, COVERED] = after
    if min(before, after) < k:
        tally[UNCOVERED] += cell[row, COUNT] * (int(after < k) - int(before < k))
        tally[LACKING] += cell[row, COUNT] * (_lack(cells, after) - _lack(cells, before))


@leaf
def _cover_all(cells: FuzzyCells, degree: int, left: int, entered: int) -> None:
    """Count one node less in all boxes that hold `left` triangles, one more in those of `entered`.

    Both are triangles of a node of this degree.

    `NOWHERE` for either means that no node leaves, or that none enters. Boxes that hold both are
    not written. Cost: the populated cells of the degrees whose boxes may hold this degree.
    """
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
    """Return how many nodes are within this reach of the triangles, and near enough in degree."""
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
    """Return the row of the cell (degree, triangles), or NONE if no node is in it."""
    row = cells.head[degree]
    while row != NONE and cells.cell[row, TRIANGLES] != triangles:
        row = cells.cell[row, NEXT]
    return int(row)


@leaf
def _join(cells: FuzzyCells, v: int, degree: int, triangles: int) -> None:
    """Put v into its cell, making the cell if needed; the boxes of other cells count v already."""
    cell, head, _, cell_of, tally, rule = cells
    row = _row_of(cells, degree, triangles)
    if row == NONE:
        # A new cell: take an unused row, count the nodes in its box, v included (+ 1), and link it
        # first in the list of its degree.
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
    """Take v out of its cell and drop the cell if it becomes empty; boxes still count v."""
    cell, head, _, cell_of, tally, _ = cells
    row = cell_of[v]
    _count(cells, row, -1)
    if cell[row, COUNT] > 0:
        return
    # Unlink an empty cell at once, so that loops over a degree only see populated cells.
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
    """Put v, which is in no cell, into the cell (degree, triangles)."""
    _cover_all(cells, degree, NOWHERE, triangles)
    _join(cells, v, degree, triangles)


@leaf
def change(cells: FuzzyCells, v: int, old: tuple[int, int], new: tuple[int, int]) -> None:
    """Move v from the cell of one (degree, triangles) to that of another."""
    degree, triangles = old
    _part(cells, v, degree)
    # The usual case, a common neighbor of a flipped pair: only triangles change, so one pass over
    # the boxes that may hold this degree does both directions.
    if degree == new[0]:
        _cover_all(cells, degree, triangles, new[1])
        _join(cells, v, degree, new[1])
        return
    _cover_all(cells, degree, triangles, NOWHERE)
    enter(cells, v, new[0], new[1])


@tiered(lambda cells, degrees, _triangles: 20 * degrees.size + cells.head.size)
@leaf
def fill_cells(cells: FuzzyCells, degrees: Ints, triangles: Ints) -> None:
    """Put every node into its cell; before, all were in none.

    Parameters
    ----------
    cells
        Empty cells, as `new_cells` makes them; written.
    degrees, triangles
        int64, shape (n,): the pair of each node; read.
    """
    for v in range(degrees.size):
        enter(cells, v, degrees[v], triangles[v])


@leaf
def list_uncovered(cells: FuzzyCells, out: Ints) -> int:
    """Write the nodes in boxes of fewer than k nodes; return how many.

    Parameters
    ----------
    cells
        Read.
    out
        int64, shape (n,): the first entries are written, in ascending order.
    """
    filled = 0
    for v in range(cells.cell_of.size):
        if cells.cell[cells.cell_of[v], COVERED] < cells.rule[K]:
            out[filled] = v
            filled += 1
    return filled


class Schedule(NamedTuple):
    """How one segment of annealing runs: its length, its temperatures and its energy.

    The temperature falls from `hot` to `cold` geometrically over `steps` proposals. The energy is::

        (1 - ease) * max(unprotected, spared)
        + ease * max(lack, spared_lack) / (2k - 2)
        + price * (cost of the edits) + pull * (sum of the gaps to the aims)
        + 0.1 * (half * unprotected at phi / 2 + exact * unprotected exactly)

    A missing node thus has the energy 1. `energy_of` computes all but the price, which the walk
    adds as a difference.

    Parameters
    ----------
    steps
        Proposals from `hot` to `cold`.
    hot, cold
        The first and the last temperature, in units of the energy.
    price
        The energy of one edit, or of one unit of cost if edits have costs.
    ease
        The weight of what classes lack against the number of unprotected nodes. Lack falls whenever
        a small class grows, so it leads to k step by step; the number changes only at k.
    pull
        The energy of one unit of gap between a node and its aim; 0 without aims.
    spared, spared_lack
        Unprotected nodes, and lack, below which the energy does not fall: a goal that allows some
        unprotected nodes gives no reward for fewer.
    allowed
        The unprotected nodes that the goal allows: states with fewer are compared by their edits.
    stop
        Whether the segment ends as soon as no more than these are unprotected.
    half, exact
        Tenths that a node counts in addition if it is unprotected from knowledge off by half of
        phi, and from exact knowledge. Only under phi; else 0.
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
    """How likely each kind of proposal is, and how many pairs may differ from the input.

    Parameters
    ----------
    focus
        Chance to look near an unprotected node.
    undo
        Chance, without focus, to revert an edit rather than to make one anywhere.
    swap
        Chance that an edit comes with the revert of another one in the same trial.
    swap_back
        Chance that a revert comes with a new edit. Not used by walks with aims.
    add
        Chance, in walks with aims, that an edit anywhere adds an edge; else it deletes one.
    budget
        The most pairs that may differ from the input.
    """

    focus: float
    undo: float
    swap: float
    swap_back: float
    add: float
    budget: int


# Entries of `NodeClasses.tally`; entries of its `rule` (LEAST is k); columns of its `node`.
UNPROTECTED, LACK, GAP, USED, MOVED, FRESH = range(6)
LEAST, SHIFT, BY_DEGREE, BY_TRIANGLE = range(4)
SLOT, PULL, AIM_DEGREE, AIM_TRIANGLES = range(4)

DEGREE_BITS = 40
"""The code of ``count`` is the degree above this bit, and the triangles below it.

40 bits hold the triangles of any node with fewer than a million neighbors. Colors of nodes, if any,
are between the two: see `COLOR_BITS`.
"""
ONE_DEGREE = 1 << DEGREE_BITS
TRIANGLES_OF_CLASSES = ONE_DEGREE - 1
DEGREE_GAP = 8
"""How many triangles one degree is worth in the distance between two codes.

It decides which class counts as near. A larger value makes walks with aims change triangles rather
than degrees. The value comes from the prototype of the heuristic.
"""


class NodeClasses(NamedTuple):
    """The classes: a hash table from code to class size, and the sums that the energy needs.

    A node is unprotected if fewer than k nodes share its code. A class of c < k nodes lacks ``c (2k
    - 1 - c) / (2k - 2)``: 1 for a class of one node, k / 2 for a class of k - 1, and 0 from k on.
    So each node of a small class lacks less as the class grows, and to join a larger class pays
    before it is full. Sums are kept as integers, in units of ``1 / (2k - 2)``.

    All arrays are int64. `new_classes` makes them; `fill`, `move` and `undo` write `table`, `node`,
    `log` and `tally`. Walks with aims set `weight` and the last three columns of `node` between
    segments.

    Parameters
    ----------
    table
        Shape (2**b, 2): a code, or `FREE`, and how many nodes have it. Classes that became empty
        keep their row until `begin` finds the table half full.
    node
        Shape (n, 1), or (n, 4) in walks with aims: ``SLOT``, the row of the node's code; ``PULL``,
        how strongly it is pulled (0: not); ``AIM_DEGREE`` and ``AIM_TRIANGLES``, where to.
    log
        Shape (most moves of a trial, 3). Columns 0 and 1 list the moves of the trial: a node and
        the row it left. Column 2 lists, separately, the rows first used in the trial.
    weight
        Shape (n + 1,), or empty: what an unprotected node of each degree counts. Empty: 1.
    tally
        ``UNPROTECTED`` nodes; ``LACK``, weighted; ``GAP``, the sum over nodes of pull times
        distance to the aim; ``USED`` rows of the table; ``MOVED`` and ``FRESH``, the lengths of the
        two logs.
    rule
        ``LEAST`` (k), ``SHIFT`` of the hash, and what a degree (``BY_DEGREE``) and a triangle
        (``BY_TRIANGLE``) add to a code.
    cells
        Similar nodes under phi, or None.
    inner
        The same for half of phi, or None. Kernels are compiled without what is None.
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
    """Return classes that hold the codes, but are not counted yet: call `fill` next.

    Parameters
    ----------
    codes
        int64, shape (n,): the code of every node.
    k
        The smallest size of a class whose nodes are protected.
    moves
        The most moves of one trial: the table and the log have room for them.
    steps
        What a degree and a triangle add to a code.
    weight
        What an unprotected node of each degree counts, for walks with aims; None for other walks.
    cells, inner
        Similar nodes under phi and under half of it, already filled; None without phi.
    """
    aims = 0 if weight is None else 3
    table, shift = new_table(3 * max(codes.size, moves, 1))
    node = np.zeros((codes.size, 1 + aims), dtype=np.int64)
    # The first n rows of the table only carry the codes over to `fill`.
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
    """Return the distance of a code from a degree and a number of triangles.

    It is the difference in triangles plus `DEGREE_GAP` times the difference in degrees.
    """
    return abs((code & TRIANGLES_OF_CLASSES) - triangles) + DEGREE_GAP * abs(
        (code >> DEGREE_BITS) - degree
    )


@leaf
def _worth(weight: Ints, code: int) -> int:
    """Return what an unprotected node of this code counts: the weight of its degree, or 1."""
    if weight.size > 0:
        return int(weight[code >> DEGREE_BITS])
    return 1


@tiered(for_each_entry(0.3))
@leaf
def fill(classes: NodeClasses) -> None:
    """Count all classes from the codes of the nodes, into an emptied table; drops empty classes.

    Called once at the start, again when aims or weights change, and by `begin`. O(n + table size).
    """
    table, node, _, weight, tally, rule, _, _ = classes
    k = rule[LEAST]
    # Step 1: carry the codes over in place of the row numbers, since the table is emptied.
    for v in range(len(node)):
        node[v, SLOT] = table[node[v, SLOT], 0]
    for row in range(len(table)):
        table[row, 0], table[row, 1] = FREE, 0
    for i in range(tally.size):
        tally[i] = 0
    # Step 2: enter every node under its code, and sum the distances to the aims.
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
    # Step 3: sum over the classes below k.
    for row in range(len(table)):
        size = table[row, 1]
        if 0 < size < k:
            tally[UNPROTECTED] += size
            tally[LACK] += _worth(weight, table[row, 0]) * size * (2 * k - 1 - size)


@leaf
def begin(classes: NodeClasses) -> None:
    """Start a trial: forget the log, and drop empty classes if the table is half full.

    After this, `undo` takes back all moves made since.
    """
    classes.tally[MOVED], classes.tally[FRESH] = 0, 0
    if 2 * classes.tally[USED] > len(classes.table):
        fill(classes)


@leaf
def _recode(cells: FuzzyCells | None, v: int, old: int, code: int) -> None:
    """Move v between the cells of two codes; without cells do nothing."""
    if cells is not None:
        change(
            cells,
            v,
            (old >> DEGREE_BITS, old & TRIANGLES_OF_CLASSES),
            (code >> DEGREE_BITS, code & TRIANGLES_OF_CLASSES),
        )


@leaf
def move(classes: NodeClasses, v: int, step: int) -> None:
    """Change the code of v by `step`: Algorithm 2 of the paper for one node, in O(1).

    Writes the table, the row of v, the tally, the log, and under phi the cells.
    """
    table, node, log, weight, tally, rule, cells, inner = classes
    k, row = rule[LEAST], node[v, SLOT]
    old = table[row, 0]
    code = old + step
    new = find(table, rule[SHIFT], code)
    # A code that no node had yet: note its row, so that `undo` can free it.
    if table[new, 0] == FREE:
        table[new, 0], log[tally[FRESH], 2] = code, new
        tally[FRESH] += 1
        tally[USED] += 1
    before, after = table[row, 1], table[new, 1] + 1
    # The class that v leaves. With f(c) = c (2k - 1 - c), a class below k loses f(c) - f(c - 1) = 2
    # (k - c); one of exactly k falls below, and its k - 1 other nodes become unprotected.
    if before < k:
        tally[UNPROTECTED] -= 1
        tally[LACK] -= _worth(weight, old) * 2 * (k - before)
    elif before == k:
        tally[UNPROTECTED] += k - 1
        tally[LACK] += _worth(weight, old) * k * (k - 1)
    # The class that v joins, the other way round: at k all its nodes become protected.
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
    """Move the codes of the two ends as joining (sign 1) or parting (-1) them does.

    Each end gains or loses one degree, and one triangle for each of the `common` neighbors. The
    codes of the common neighbors are moved by the caller.
    """
    step = sign * (classes.rule[BY_DEGREE] + common * classes.rule[BY_TRIANGLE])
    move(classes, ends[0], step)
    move(classes, ends[1], step)


@leaf
def tallies(classes: NodeClasses) -> tuple[int, int, int]:
    """Return the sums that a trial changes: unprotected nodes, what classes lack, gap to the aims.

    `undo` gets them back, so that it need not compute them.
    """
    tally = classes.tally
    return int(tally[UNPROTECTED]), int(tally[LACK]), int(tally[GAP])


@leaf
def _unprotected(cells: FuzzyCells | None, tally: Ints) -> tuple[int, int]:
    """Return the unprotected nodes and what they lack: by cells under phi, else by classes."""
    if cells is not None:
        return int(cells.tally[UNCOVERED]), int(cells.tally[LACKING])
    return int(tally[UNPROTECTED]), int(tally[LACK])


@leaf
def unprotected_of(classes: NodeClasses) -> int:
    """Return how many nodes are unprotected: by cells under phi, else by classes."""
    return _unprotected(classes.cells, classes.tally)[0]


@leaf
def nearly_unprotected(classes: NodeClasses, plan: Schedule) -> int:
    """Return the surcharge, in tenths of a node, for nodes that only inexact knowledge misses.

    Under phi a walk could fill boxes at their rims and leave nodes exactly unique. So nodes that
    are unprotected at half of phi, or exactly, count in addition: see `Schedule`.
    """
    inner = _unprotected(classes.inner, classes.tally)[0]
    return int(plan.half * inner + plan.exact * classes.tally[UNPROTECTED])


@leaf
def energy_of(classes: NodeClasses, plan: Schedule) -> float:
    """Return the energy of the present state without the price of its edits: see `Schedule`."""
    unprotected, lack = _unprotected(classes.cells, classes.tally)
    # Both terms stop falling at what the goal allows.
    nodes = (1.0 - plan.ease) * max(float(unprotected), plan.spared)
    lacking = plan.ease * max(float(lack), plan.spared_lack) / (2 * classes.rule[LEAST] - 2)
    closer = 0.1 * nearly_unprotected(classes, plan)
    return float(nodes + lacking + plan.pull * classes.tally[GAP] + closer)


@leaf
def undo(classes: NodeClasses, before: tuple[int, int, int]) -> None:
    """Take back every move since `begin`; `before` holds the `tallies` at that time."""
    table, node, log, _, tally, _, cells, inner = classes
    # Step 1: the moves in reverse. Cells go back by code, not by row: a row of `FuzzyCells` may
    # belong to a different cell by now.
    for i in range(tally[MOVED] - 1, -1, -1):
        v, row = log[i, 0], log[i, 1]
        table[node[v, SLOT], 1] -= 1
        table[row, 1] += 1
        _recode(cells, v, table[node[v, SLOT], 0], table[row, 0])
        _recode(inner, v, table[node[v, SLOT], 0], table[row, 0])
        node[v, SLOT] = row
    # Step 2: free the rows first used in the trial. They are the last that were entered, so no
    # other key was placed after them by probing.
    for i in range(tally[FRESH]):
        table[log[i, 2], 0] = FREE
    tally[USED] -= tally[FRESH]
    tally[UNPROTECTED], tally[LACK], tally[GAP] = before
    tally[MOVED], tally[FRESH] = 0, 0


@leaf
def list_unprotected(classes: NodeClasses, out: Ints) -> int:
    """Write the unprotected nodes of weight above 0 into out; return how many.

    Parameters
    ----------
    classes
        Read.
    out
        int64, shape (n,): the first entries are written, in ascending order.
    """
    return _list(classes, classes.cells, out)


@leaf
def _list(classes: NodeClasses, cells: FuzzyCells | None, out: Ints) -> int:
    """Write the nodes in boxes of fewer than k nodes, or without cells in classes below k."""
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


GALLOP = 8
"""From this ratio of lengths on, the longer of two lists is searched instead of merged.

A search costs about log2 of the length for each entry of the shorter list, a merge the length once.
The results are the same at any value.
"""


class NeighborRows(NamedTuple):
    """Sorted neighbor lists with room to grow in place, and room for common neighbors.

    Parameters
    ----------
    start
        int64, shape (n + 1,): node v has the places ``start[v] .. start[v + 1] - 1``. Fixed.
    length
        int64, shape (n,): how many of them are in use, the degree of v. Written by `toggle`.
    neighbor
        int32: ``neighbor[start[v] : start[v] + length[v]]`` are the neighbors of v, ascending.
        Written by `toggle`.
    common
        int32, as long as the largest row: `common_of` writes its result here.
    """

    start: Ints
    length: Ints
    neighbor: Nodes
    common: Nodes


def new_rows(indptr: Ints, indices: Nodes, room: Ints) -> NeighborRows:
    """Return the neighbor lists of a graph, with room for `room[v]` more neighbors of node v.

    Parameters
    ----------
    indptr, indices
        The sorted neighbor lists: int64 (n + 1,), int32 (2m,). Read.
    room
        int64, shape (n,). Read.
    """
    degrees = np.diff(indptr)
    # Each row starts later than in the input by the room of all rows before it.
    shift = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(room)))
    start = indptr + shift
    neighbor = np.full(int(start[-1]), -1, dtype=np.int32)
    neighbor[np.arange(indices.size) + np.repeat(shift[:-1], degrees)] = indices
    widest = int(np.diff(start).max(initial=0))
    return NeighborRows(start, degrees, neighbor, np.empty(widest, dtype=np.int32))


@leaf
def adjacent(rows: NeighborRows, v: int, w: int) -> bool:
    """Return whether v and w are joined: a binary search in the shorter of their rows."""
    if rows.length[v] > rows.length[w]:
        v, w = w, v
    end = rows.start[v] + rows.length[v]
    at = first_not_below(rows.neighbor, rows.start[v], end, w)
    return bool(at < end and rows.neighbor[at] == w)


@leaf
def _toggle(rows: NeighborRows, v: int, w: int) -> None:
    """Put w into the row of v, which has room, or take it out if it is in there."""
    start, length, neighbor = rows.start[v], rows.length[v], rows.neighbor
    end = start + length
    at = first_not_below(neighbor, start, end, w)
    # In there: close the gap. Else: make room at its place.
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
    """Join v and w, whose rows have room, or part them if they are joined. O(deg v + deg w)."""
    _toggle(rows, v, w)
    _toggle(rows, w, v)


@leaf
def common_of(rows: NeighborRows, v: int, w: int) -> int:
    """Write the common neighbors of v and w, ascending, into `rows.common`; return how many.

    A merge of two sorted rows; if one is much longer, a search in it for each entry of the other.
    """
    start, length, near, out = rows
    if length[v] > length[w]:
        v, w = w, v
    i, i_end = start[v], start[v] + length[v]
    j, j_end = start[w], start[w] + length[w]
    gallop = length[w] > GALLOP * length[v]
    filled = 0
    # Advance in the row with the smaller entry; from equal entries in both.
    while i < i_end and j < j_end:
        if gallop:
            j = first_not_below(near, j, j_end, int(np.int64(near[i])))
            if j == j_end:
                break
        from_v, from_w = near[i], near[j]
        if from_v == from_w:
            out[filled] = from_v
            filled += 1
        i += from_v <= from_w
        j += from_w <= from_v
    return filled
