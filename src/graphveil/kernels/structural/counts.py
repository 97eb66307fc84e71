"""The count kernel: classes of look-alike nodes, kept up to date under single flips of pairs.

The code of a node is ``deg * by_degree + t * by_triangle``, t being its triangles. With
``(2**40, 1)`` equal codes mean equal (deg, t): the measure count at distance 1; ``(1, 1)`` is
edge-count and ``(1, 0)`` is degree. A flip moves its two ends and their common neighbours; each
move takes O(1). `shift` moves the codes alone and logs it, so that a trial can be taken back
exactly; `rewrite` changes the neighbour lists and `record` the list of changed pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

FREE = -1
LEFT, LACK, USED, MOVED, FRESH = range(5)
CHANGED = 0
GALLOP = 8
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Cells(NamedTuple):
    """The classes: an open-addressing table of codes, and a log of the moves of one trial.

    Row s of ``table`` holds a code and how many nodes share it; ``slot[v]`` is the row of v's code.
    ``log`` lists the nodes moved, the slots they left and, in its last column, the slots first
    used. ``tally`` holds the nodes in classes below k, what these classes lack, the slots in use,
    and the lengths of both logs; ``rule`` holds k, what a degree and a triangle add to a code, and
    the shift of the hash.

    A class of c < k nodes lacks ``c (2k - 1 - c) / (2k - 2)``: a lone node counts 1, one of k - 1
    alike little more than a half, so that joining a larger class pays before it is full. At k = 2
    this is the number of nodes. It is held in units of ``1 / (2k - 2)``.
    """

    table: Ints
    slot: Ints
    log: Ints
    tally: Ints
    rule: Ints


class Rows(NamedTuple):
    """Sorted neighbours in place: ``neighbour[start[v] : start[v] + length[v]]``."""

    start: Ints
    length: Ints
    neighbour: NDArray[np.int32]


class Pool(NamedTuple):
    """The pairs that may be flipped: the edges first, then the candidates to add.

    ``around[start[v] : start[v + 1]]`` are the pairs at v. ``order`` is a permutation of the
    pairs: the first ``tally[0]`` of them are changed; ``place`` is its inverse. ``common`` holds
    the common neighbours of every pair at the start, or another guess of what a flip moves.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    start: Ints
    around: NDArray[np.int32]
    present: NDArray[np.bool_]
    order: NDArray[np.int32]
    place: NDArray[np.int32]
    tally: Ints
    common: NDArray[np.int32]


class State(NamedTuple):
    """Everything that a flip reads or writes."""

    cells: Cells
    rows: Rows
    pool: Pool


@njit(cache=True, nogil=True)
def _find(table: Ints, shift: int, code: int) -> int:
    """Return the slot that holds the code, or the free slot where it belongs."""
    mask = len(table) - 1
    slot = np.int64((np.uint64(code) * MULTIPLIER) >> np.uint64(shift))
    while table[slot, 0] != FREE and table[slot, 0] != code:
        slot = (slot + 1) & mask
    return int(slot)


@njit(cache=True, nogil=True)
def fill(cells: Cells, codes: Ints) -> None:
    """Write the classes of these codes, one a node, into an emptied table."""
    table, tally = cells.table, cells.tally
    k, shift = cells.rule[0], cells.rule[3]
    table[:, 0] = FREE
    table[:, 1] = 0
    tally[:] = 0
    for v in range(codes.size):
        slot = _find(table, shift, codes[v])
        tally[USED] += table[slot, 0] == FREE
        table[slot, 0] = codes[v]
        table[slot, 1] += 1
        cells.slot[v] = slot
    for slot in range(len(table)):
        if table[slot, 1] < k:
            tally[LEFT] += table[slot, 1]
            tally[LACK] += table[slot, 1] * (2 * k - 1 - table[slot, 1])


@njit(cache=True, nogil=True)
def begin(cells: Cells) -> None:
    """Start a trial: forget the log, and drop empty classes where the table is half full."""
    cells.tally[MOVED] = 0
    cells.tally[FRESH] = 0
    if 2 * cells.tally[USED] > len(cells.table):
        fill(cells, cells.table[cells.slot, 0])


@njit(cache=True, nogil=True)
def move(table: Ints, slot: Ints, log: Ints, tally: Ints, rule: Ints, v: int, step: int) -> None:
    """Change the code of v by `step`; the move is logged. The arrays are those of `Cells`.

    They come one by one, since taking them out of a tuple costs more than the move.
    """
    k = rule[0]
    old = slot[v]
    code = table[old, 0] + step
    new = _find(table, rule[3], code)
    if table[new, 0] == FREE:
        table[new, 0] = code
        log[tally[FRESH], 2] = new
        tally[FRESH] += 1
        tally[USED] += 1
    before, after = table[old, 1], table[new, 1] + 1
    if before < k:
        tally[LEFT] -= 1
        tally[LACK] -= 2 * (k - before)
    elif before == k:
        tally[LEFT] += k - 1
        tally[LACK] += k * (k - 1)
    if after < k:
        tally[LEFT] += 1
        tally[LACK] += 2 * (k - after)
    elif after == k:
        tally[LEFT] -= k - 1
        tally[LACK] -= k * (k - 1)
    table[old, 1] = before - 1
    table[new, 1] = after
    slot[v] = new
    log[tally[MOVED], 0] = v
    log[tally[MOVED], 1] = old
    tally[MOVED] += 1


@njit(cache=True, nogil=True)
def undo(cells: Cells, left: int, lack: int) -> None:
    """Take back every move since `begin`, when the tally said this of left and lack."""
    table, slot, log, tally, _ = cells
    for i in range(tally[MOVED] - 1, -1, -1):
        v, old = log[i, 0], log[i, 1]
        table[slot[v], 1] -= 1
        table[old, 1] += 1
        slot[v] = old
    for i in range(tally[FRESH]):
        table[log[i, 2], 0] = FREE
    tally[USED] -= tally[FRESH]
    tally[LEFT] = left
    tally[LACK] = lack
    tally[MOVED] = 0
    tally[FRESH] = 0


@njit(cache=True, nogil=True)
def _lower_bound(values: NDArray[np.int32], low: int, high: int, value: int) -> int:
    """Return the first position in low..high whose entry is not below the value."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def move_common(state: State, v: int, w: int, step: int) -> int:
    """Change the code of every common neighbour of v and w by `step`; return how many."""
    table, slot, log, tally, rule = state.cells
    start, length, near = state.rows
    if length[v] > length[w]:
        v, w = w, v
    i, i_end = start[v], start[v] + length[v]
    j, j_end = start[w], start[w] + length[w]
    gallop = length[w] > GALLOP * length[v]
    common = 0
    while i < i_end and j < j_end:
        if gallop:
            j = _lower_bound(near, j, j_end, near[i])
            if j == j_end:
                break
        one, other = near[i], near[j]
        if one == other:
            common += 1
            if step != 0:
                move(table, slot, log, tally, rule, int(np.int64(one)), step)
        i += one <= other
        j += other <= one
    return common


@njit(cache=True, nogil=True)
def ends(pool: Pool, pair: int) -> tuple[int, int]:
    """Return the two nodes of the pair."""
    return int(np.int64(pool.left[pair])), int(np.int64(pool.right[pair]))


@njit(cache=True, nogil=True)
def shift(state: State, pair: int) -> int:
    """Move the codes as flipping the pair does; return how many common neighbours moved along.

    The neighbour lists stay as they are.
    """
    table, slot, log, tally, rule = state.cells
    sign = -1 if state.pool.present[pair] else 1
    v, w = ends(state.pool, pair)
    common = 0
    if rule[2] != 0:
        common = move_common(state, v, w, sign * rule[2])
    step = sign * (rule[1] + common * rule[2])
    move(table, slot, log, tally, rule, v, step)
    move(table, slot, log, tally, rule, w, step)
    return common


@njit(cache=True, nogil=True)
def link(rows: Rows, v: int, w: int) -> None:
    """Put w into the row of v, which has room and does not hold it."""
    start, end = rows.start[v], rows.start[v] + rows.length[v]
    at = end
    while at > start and rows.neighbour[at - 1] > w:
        rows.neighbour[at] = rows.neighbour[at - 1]
        at -= 1
    rows.neighbour[at] = w
    rows.length[v] += 1


@njit(cache=True, nogil=True)
def unlink(rows: Rows, v: int, w: int) -> None:
    """Take w out of the row of v, which holds it."""
    end = rows.start[v] + rows.length[v] - 1
    at = _lower_bound(rows.neighbour, rows.start[v], end, w)
    while at < end:
        rows.neighbour[at] = rows.neighbour[at + 1]
        at += 1
    rows.neighbour[end] = -1
    rows.length[v] -= 1


@njit(cache=True, nogil=True)
def rewrite(state: State, pair: int) -> None:
    """Flip the pair in the neighbour lists; twice changes nothing."""
    rows, pool = state.rows, state.pool
    v, w = ends(pool, pair)
    if pool.present[pair]:
        unlink(rows, v, w)
        unlink(rows, w, v)
    else:
        link(rows, v, w)
        link(rows, w, v)
    pool.present[pair] = not pool.present[pair]


@njit(cache=True, nogil=True)
def record(pool: Pool, pair: int) -> None:
    """Put an unchanged pair among the changed ones, a changed one among the unchanged."""
    at = pool.place[pair]
    if at < pool.tally[CHANGED]:
        pool.tally[CHANGED] -= 1
        border = pool.tally[CHANGED]
    else:
        border = pool.tally[CHANGED]
        pool.tally[CHANGED] += 1
    other = pool.order[border]
    pool.order[border], pool.order[at] = pair, other
    pool.place[pair], pool.place[other] = border, at


@njit(cache=True, nogil=True)
def flip(state: State, pair: int) -> None:
    """Flip the pair: codes, neighbour lists and the list of changed pairs."""
    begin(state.cells)
    shift(state, pair)
    rewrite(state, pair)
    record(state.pool, pair)


@njit(cache=True, nogil=True)
def count_common(state: State) -> None:
    """Write into the pool the common neighbours of every pair."""
    pool = state.pool
    for pair in range(pool.left.size):
        v, w = ends(pool, pair)
        pool.common[pair] = move_common(state, v, w, 0)


@njit(cache=True, nogil=True)
def count(state: State, edges: Ints, out: Ints) -> None:
    """Write into out[v] the code of v, and into the pool the common neighbours of every pair.

    Both are counted from the neighbour lists, which hold these edges.
    """
    rule = state.cells.rule
    out[:] = 0
    if rule[2] != 0:
        for i in range(len(edges)):
            common = move_common(state, edges[i, 0], edges[i, 1], 0)
            out[edges[i, 0]] += common
            out[edges[i, 1]] += common
        count_common(state)
    for v in range(out.size):
        out[v] = out[v] // 2 * rule[2] + state.rows.length[v] * rule[1]
