"""The states of any measure, kept up to date under flips of pairs and under rewirings.

The code of a node is its sum and its shape, added up and cut to 63 bits (`structural_states_values`
says what these are). A trial turns pairs one after the other: each turn changes the neighbour
lists, adds to the sums what it is sure of, and notes whose values must be found afresh. `settle`
then moves the nodes between classes, and `take_back` undoes it all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphveil.kernels.neighbourhoods.balls import Ball, clear_ball
from graphveil.kernels.neighbourhoods.refinement import Room
from graphveil.kernels.structural.counts import (
    Ints,
    Pool,
    Rows,
    State,
    begin,
    ends,
    link,
    move,
    undo,
    unlink,
)
from graphveil.kernels.structural.states_values import (
    BY_EDGE,
    BY_NODE,
    DISTANCE,
    NOTHING,
    SHAPES,
    SIZES,
    SUMS,
    fill_from_rows,
    hashed,
    shape_of,
    sum_of,
)

MOVED, SUM_AGAIN, SHAPE_AGAIN = 1, 2, 4
TOUCHED = 0
NOW, BEST = range(2)
LARGEST = np.int64(2**63 - 1)
FAR = 1 << 30


class Reach(NamedTuple):
    """What the values of nodes are made of, and what a trial has touched.

    ``value[v]`` holds the sum and the shape of v. Of the nodes ``touched``, ``tally[0]`` of them,
    ``todo`` says what is to be done, ``delta`` what is added to the sum, and ``was`` in the same
    order what the values were. ``arcs[v]`` is about the work of finding the values of v afresh.
    Where edges are rewired, ``mates`` is not empty: a changed edge {v, w} has exchanged ends with
    edge ``mates[0] >> 1``, {x, y}, for {v, y} and {x, w}; x and y change roles where
    ``mates[0] & 1``. ``mates[1]`` holds those of the best state.

    ``legs`` is room for the pairs of one edit, ``hops`` and ``queue`` for two searches, ``room``
    for one neighbourhood.
    """

    rule: Ints
    value: Ints
    was: Ints
    touched: Ints
    todo: NDArray[np.uint8]
    delta: Ints
    tally: Ints
    mates: Ints
    legs: Ints
    arcs: Ints
    hops: Ints
    queue: Ints
    room: Room


@njit(cache=True, nogil=True)
def code_of(reach: Reach, v: int) -> int:
    """Return the code of the node's values: no negative number."""
    return int((reach.value[v, 0] + reach.value[v, 1]) & LARGEST)


@njit(cache=True, nogil=True)
def evaluate(state: State, reach: Reach, out: Ints) -> None:
    """Find the values of every node afresh, and write its code into out."""
    rows, rule = state.rows, reach.rule
    for v in range(out.size):
        reach.value[v, 0] = 0
        reach.value[v, 1] = 0
        if rule[SUMS] != NOTHING:
            reach.value[v, 0] = sum_of(rows, rule, v, reach.room.ball)
        if rule[SHAPES] != NOTHING:
            reach.value[v, 1] = shape_of(rows, rule, v, reach.room)
        out[v] = code_of(reach, v)
        reach.arcs[v] = _arcs_around(rows, rule[DISTANCE], v, reach.room.ball)


@njit(cache=True, nogil=True)
def _arcs_around(rows: Rows, distance: int, v: int, ball: Ball) -> int:
    """Return the sum of the degrees within the distance of v."""
    size = fill_from_rows(rows, v, distance, ball)
    total = np.int64(0)
    for i in range(size):
        total += rows.length[ball.nodes[i]]
    clear_ball(ball, size)
    return int(total)


@njit(cache=True, nogil=True)
def _touch(reach: Reach, x: int, what: int) -> None:
    """Note what is to be done with x."""
    if reach.todo[x] == 0:
        reach.touched[reach.tally[TOUCHED]] = x
        reach.tally[TOUCHED] += 1
    reach.todo[x] |= what


@njit(cache=True, nogil=True)
def _add(reach: Reach, x: int, amount: int) -> None:
    """Note that the sum of x changes by this amount."""
    _touch(reach, x, MOVED)
    reach.delta[x] += amount


@njit(cache=True, nogil=True)
def turn(state: State, reach: Reach, v: int, w: int, sign: int) -> None:
    """Join v and w (1), or part them (-1), in the lists; note what that does to the values.

    What it does is seen in the graph without the edge, both ways.
    """
    rows = state.rows
    if sign < 0:
        _relist(rows, v, w, sign)
    if reach.rule[DISTANCE] == 1:
        _turn_beside(rows, reach, v, w, sign)
    else:
        _turn_around(rows, reach, v, w, sign)
    if sign > 0:
        _relist(rows, v, w, sign)


@njit(cache=True, nogil=True)
def _turn_beside(rows: Rows, reach: Reach, v: int, w: int, sign: int) -> None:
    """Note the turn at distance 1: the ends see each other, and the others one edge more."""
    rule = reach.rule
    if rule[SUMS] == SIZES or rule[SHAPES] != NOTHING:
        common = 0
        i, i_end = rows.start[v], rows.start[v] + rows.length[v]
        j, j_end = rows.start[w], rows.start[w] + rows.length[w]
        while i < i_end and j < j_end:
            one, other = rows.neighbour[i], rows.neighbour[j]
            if one == other:
                common += 1
                _turn_one(reach, int(np.int64(one)), sign * rule[BY_EDGE])
            i += one <= other
            j += other <= one
        step = sign * (rule[BY_NODE] + (common + 1) * rule[BY_EDGE])
        _turn_one(reach, v, step)
        _turn_one(reach, w, step)
    if rule[SUMS] != NOTHING and rule[SUMS] != SIZES:
        for one, other in ((v, w), (w, v)):
            here = rows.length[one]
            step = sign * (hashed(here + 1) - hashed(here))
            _add(reach, one, step)
            for at in range(rows.start[one], rows.start[one] + rows.length[one]):
                _add(reach, int(np.int64(rows.neighbour[at])), step)
            _add(reach, other, sign * hashed(here + 1))


@njit(cache=True, nogil=True)
def _turn_one(reach: Reach, x: int, step: int) -> None:
    """Note that the edge lies in the neighbourhood of x, which gets or loses this by it."""
    if reach.rule[SUMS] == SIZES:
        _add(reach, x, step)
    if reach.rule[SHAPES] != NOTHING:
        _touch(reach, x, SHAPE_AGAIN)


@njit(cache=True, nogil=True)
def _search(rows: Rows, reach: Reach, which: int, centre: int) -> int:
    """Write the hops from the centre, and who is within the distance; return how many."""
    hops, queue = reach.hops[which], reach.queue[which]
    hops[centre] = 0
    queue[0] = centre
    size = 1
    head = 0
    while head < size and hops[queue[head]] < reach.rule[DISTANCE]:
        x = queue[head]
        for at in range(rows.start[x], rows.start[x] + rows.length[x]):
            y = rows.neighbour[at]
            if hops[y] == FAR:
                hops[y] = hops[x] + 1
                queue[size] = y
                size += 1
        head += 1
    return size


@njit(cache=True, nogil=True)
def _turn_around(rows: Rows, reach: Reach, v: int, w: int, sign: int) -> None:
    """Note the turn at distance 2 or more.

    A node whose hops to v and w differ by at most one without the edge sees the same nodes with
    it. Others that reach the edge see more or fewer, and are looked at afresh.
    """
    hops, queue, distance = reach.hops, reach.queue, reach.rule[DISTANCE]
    from_v, from_w = _search(rows, reach, 0, v), _search(rows, reach, 1, w)
    of_v = sign * (hashed(rows.length[v] + 1) - hashed(rows.length[v]))
    of_w = sign * (hashed(rows.length[w] + 1) - hashed(rows.length[w]))
    for which, size in ((0, from_v), (1, from_w)):
        for i in range(size):
            x = queue[which, i]
            to_v, to_w = hops[0, x], hops[1, x]
            if which == 1 and to_v != FAR:
                continue
            low, high = min(to_v, to_w), max(to_v, to_w)
            crosses = low < distance and high > low + 1
            _turn_far(reach, x, (to_v, to_w, crosses), (of_v, of_w, sign))
    for which, size in ((0, from_v), (1, from_w)):
        for i in range(size):
            hops[which, queue[which, i]] = FAR


@njit(cache=True, nogil=True)
def _turn_far(
    reach: Reach, x: int, seen: tuple[int, int, bool], steps: tuple[int, int, int]
) -> None:
    """Note what a turn does to x, which sees v and w so far away, and more nodes if it crosses."""
    rule = reach.rule
    to_v, to_w, crosses = seen
    both = max(to_v, to_w) <= rule[DISTANCE]
    if rule[SHAPES] != NOTHING and (both or crosses):
        _touch(reach, x, SHAPE_AGAIN)
    if rule[SUMS] == NOTHING:
        return
    if crosses:
        _touch(reach, x, SUM_AGAIN)
    elif rule[SUMS] == SIZES:
        if both:
            _add(reach, x, steps[2] * rule[BY_EDGE])
    else:
        if to_v != FAR:
            _add(reach, x, steps[0])
        if to_w != FAR:
            _add(reach, x, steps[1])


@njit(cache=True, nogil=True)
def settle(state: State, reach: Reach) -> None:
    """Move every node touched to the class of its new values."""
    table, slot, log, tally, rule = state.cells
    for i in range(reach.tally[TOUCHED]):
        x = reach.touched[i]
        before = code_of(reach, x)
        reach.was[i, 0], reach.was[i, 1] = reach.value[x, 0], reach.value[x, 1]
        if reach.todo[x] & SUM_AGAIN:
            reach.value[x, 0] = sum_of(state.rows, reach.rule, x, reach.room.ball)
        else:
            reach.value[x, 0] += reach.delta[x]
        if reach.todo[x] & SHAPE_AGAIN:
            reach.value[x, 1] = shape_of(state.rows, reach.rule, x, reach.room)
        reach.todo[x] = 0
        reach.delta[x] = 0
        step = code_of(reach, x) - before
        if step != 0:
            move(table, slot, log, tally, rule, x, step)


@njit(cache=True, nogil=True)
def _legs(pool: Pool, reach: Reach, pair: int) -> int:
    """Write the pairs that the edit of this pair turns, first those it parts; return how many.

    The rows are the two ends, and 1 or -1: they are joined or parted. A pair that has a mate is
    rewired with it, or both are put back.
    """
    v, w = ends(pool, pair)
    here = pool.present[pair]
    legs, mates = reach.legs, reach.mates
    if mates.size == 0:
        _write(legs, 0, v, w, -1 if here else 1)
        return 1
    x, y = ends(pool, int(mates[NOW, pair] >> 1))
    if mates[NOW, pair] & 1:
        x, y = y, x
    if not here:
        w, y = y, w
    _write(legs, 0, v, w, -1)
    _write(legs, 1, x, y, -1)
    _write(legs, 2, v, y, 1)
    _write(legs, 3, x, w, 1)
    return 4


@njit(cache=True, nogil=True)
def _write(legs: Ints, row: int, v: int, w: int, sign: int) -> None:
    legs[row, 0], legs[row, 1], legs[row, 2] = v, w, sign


@njit(cache=True, nogil=True)
def _tick(pool: Pool, reach: Reach, pair: int) -> None:
    """Note that the edit of this pair was made, or taken back."""
    pool.present[pair] = not pool.present[pair]
    if reach.mates.size > 0:
        other = reach.mates[NOW, pair] >> 1
        pool.present[other] = not pool.present[other]


@njit(cache=True, nogil=True)
def carry_out(state: State, reach: Reach, pairs: tuple[int, int]) -> None:
    """Make the edits of these pairs, or take them back, in the lists and in the classes."""
    begin(state.cells)
    reach.tally[TOUCHED] = 0
    for pair in pairs:
        if pair >= 0:
            for i in range(_legs(state.pool, reach, pair)):
                turn(state, reach, reach.legs[i, 0], reach.legs[i, 1], reach.legs[i, 2])
            _tick(state.pool, reach, pair)
    settle(state, reach)


@njit(cache=True, nogil=True)
def take_back(state: State, reach: Reach, pairs: tuple[int, int], left: int, lack: int) -> None:
    """Undo what `carry_out` did last, when the tally said this of left and lack."""
    undo(state.cells, left, lack)
    for i in range(reach.tally[TOUCHED]):
        x = reach.touched[i]
        reach.value[x, 0], reach.value[x, 1] = reach.was[i, 0], reach.was[i, 1]
    for pair in pairs[::-1]:
        if pair >= 0:
            for i in range(_legs(state.pool, reach, pair)):
                _relist(state.rows, reach.legs[i, 0], reach.legs[i, 1], reach.legs[i, 2])
            _tick(state.pool, reach, pair)


@njit(cache=True, nogil=True)
def _relist(rows: Rows, v: int, w: int, sign: int) -> None:
    """Join v and w (1), or part them (-1), in the neighbour lists."""
    if sign > 0:
        link(rows, v, w)
        link(rows, w, v)
    else:
        unlink(rows, v, w)
        unlink(rows, w, v)


@njit(cache=True, nogil=True)
def work_of(state: State, reach: Reach, pair: int) -> int:
    """Return roughly how many steps it takes to flip the pair; everything stays as it is."""
    v, w = ends(state.pool, pair)
    sign = -1 if state.pool.present[pair] else 1
    reach.tally[TOUCHED] = 0
    turn(state, reach, v, w, sign)
    _relist(state.rows, v, w, -sign)
    work = int(state.rows.length[v] + state.rows.length[w])
    for i in range(reach.tally[TOUCHED]):
        x = reach.touched[i]
        again = reach.todo[x] & (SUM_AGAIN | SHAPE_AGAIN)
        work += int(reach.arcs[x]) if again else 1
        reach.todo[x] = 0
        reach.delta[x] = 0
    return work
