"""The values of any measure, kept up to date under flips of pairs and under rewirings.

The code of a node is its sum and its shape, added up and cut to 63 bits (`shapes` says what these
are). A trial turns pairs one after the other: each turn changes the neighbour lists, adds to the
sums what it is sure of, and notes whose values must be evaluated afresh. `settle` then moves the
nodes between classes, and `take_back` undoes it all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.neighbourhoods.balls import Ball, clear_ball
from graphveil.kernels.neighbourhoods.refinement import Room
from graphveil.kernels.structural.annealing.pool import (
    NONE,
    Ints,
    Pool,
    State,
    ends,
)
from graphveil.kernels.structural.annealing.shapes import (
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
from graphveil.kernels.structural.classes import begin, move
from graphveil.kernels.structural.rows import Rows, common_of, toggle

MOVED, SUM_AGAIN, SHAPE_AGAIN = 1, 2, 4
TOUCHED = 0
NOW, BEST = range(2)
LARGEST = np.int64(2**63 - 1)
FAR = 1 << 30


class Values(NamedTuple):
    """What the values of nodes are made of, and what a trial has touched.

    ``value[v]`` holds the sum and the shape of v. Of the nodes ``touched``, ``tally[0]`` of them,
    ``todo`` says what is to be done, ``delta`` what is added to the sum, and ``before`` in the same
    order what the values were. ``arcs[v]`` is about the work of evaluating v afresh.
    Where edges are rewired, ``mates`` is not empty: a changed edge {v, w} has exchanged ends with
    edge ``mates[NOW] >> 1``, {x, y}, for {v, y} and {x, w}; x and y change roles where
    ``mates[NOW] & 1``. ``mates[BEST]`` holds those of the best state.

    ``turns`` is room for the pairs of one edit, ``hops`` and ``queue`` for two searches, ``room``
    for one neighbourhood.
    """

    rule: Ints
    value: Ints
    before: Ints
    touched: Ints
    todo: NDArray[np.uint8]
    delta: Ints
    tally: Ints
    mates: Ints
    turns: Ints
    arcs: Ints
    hops: Ints
    queue: Ints
    room: Room


@leaf
def _code_of(values: Values, v: int) -> int:
    """Return the code of the node's values: no negative number."""
    return int((values.value[v, 0] + values.value[v, 1]) & LARGEST)


@leaf
def evaluate(state: State, values: Values, out: Ints) -> None:
    """Evaluate every node afresh: write its values, its work, and its code into out."""
    rows, rule = state.rows, values.rule
    for v in range(out.size):
        values.value[v, 0] = 0
        values.value[v, 1] = 0
        if rule[SUMS] != NOTHING:
            values.value[v, 0] = sum_of(rows, rule, v, values.room.ball)
        if rule[SHAPES] != NOTHING:
            values.value[v, 1] = shape_of(rows, rule, v, values.room)
        out[v] = _code_of(values, v)
        values.arcs[v] = _arcs_around(rows, rule[DISTANCE], v, values.room.ball)


@leaf
def _arcs_around(rows: Rows, distance: int, v: int, ball: Ball) -> int:
    """Return the sum of the degrees within the distance of v."""
    size = fill_from_rows(rows, v, distance, ball)
    total = np.int64(0)
    for i in range(size):
        total += rows.length[ball.nodes[i]]
    clear_ball(ball, size)
    return int(total)


@leaf
def _touch(values: Values, x: int, what: int) -> None:
    """Note what is to be done with x."""
    if values.todo[x] == 0:
        values.touched[values.tally[TOUCHED]] = x
        values.tally[TOUCHED] += 1
    values.todo[x] |= what


@leaf
def _add(values: Values, x: int, amount: int) -> None:
    """Note that the sum of x changes by this amount."""
    _touch(values, x, MOVED)
    values.delta[x] += amount


@leaf
def _turn(state: State, values: Values, v: int, w: int, sign: int) -> None:
    """Join v and w (1), or part them (-1), in the lists; note what that does to the values.

    What it does is seen in the graph without the edge, both ways.
    """
    rows = state.rows
    if sign < 0:
        toggle(rows, v, w)
    if values.rule[DISTANCE] == 1:
        _turn_beside(rows, values, v, w, sign)
    else:
        _turn_around(rows, values, v, w, sign)
    if sign > 0:
        toggle(rows, v, w)


@leaf
def _turn_beside(rows: Rows, values: Values, v: int, w: int, sign: int) -> None:
    """Note the turn at distance 1: the ends see each other, and the others one edge more."""
    rule = values.rule
    if rule[SUMS] == SIZES or rule[SHAPES] != NOTHING:
        common = common_of(rows, v, w)
        for i in range(common):
            _turn_one(values, int(np.int64(rows.common[i])), sign * rule[BY_EDGE])
        step = sign * (rule[BY_NODE] + (common + 1) * rule[BY_EDGE])
        _turn_one(values, v, step)
        _turn_one(values, w, step)
    if rule[SUMS] != NOTHING and rule[SUMS] != SIZES:
        for one, other in ((v, w), (w, v)):
            here = rows.length[one]
            step = sign * (hashed(here + 1) - hashed(here))
            _add(values, one, step)
            for at in range(rows.start[one], rows.start[one] + rows.length[one]):
                _add(values, int(np.int64(rows.neighbour[at])), step)
            _add(values, other, sign * hashed(here + 1))


@leaf
def _turn_one(values: Values, x: int, step: int) -> None:
    """Note that the edge lies in the neighbourhood of x, which gets or loses this by it."""
    if values.rule[SUMS] == SIZES:
        _add(values, x, step)
    if values.rule[SHAPES] != NOTHING:
        _touch(values, x, SHAPE_AGAIN)


@leaf
def _search(rows: Rows, values: Values, which: int, centre: int) -> int:
    """Write the hops from the centre, and who is within the distance; return how many."""
    hops, queue = values.hops[which], values.queue[which]
    hops[centre] = 0
    queue[0] = centre
    size = 1
    head = 0
    while head < size and hops[queue[head]] < values.rule[DISTANCE]:
        x = queue[head]
        for at in range(rows.start[x], rows.start[x] + rows.length[x]):
            y = rows.neighbour[at]
            if hops[y] == FAR:
                hops[y] = hops[x] + 1
                queue[size] = y
                size += 1
        head += 1
    return size


@leaf
def _turn_around(rows: Rows, values: Values, v: int, w: int, sign: int) -> None:
    """Note the turn at distance 2 or more.

    A node whose hops to v and w differ by at most one without the edge sees the same nodes with
    it. Others that reach the edge see more or fewer, and are looked at afresh.
    """
    hops, queue, distance = values.hops, values.queue, values.rule[DISTANCE]
    from_v, from_w = _search(rows, values, 0, v), _search(rows, values, 1, w)
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
            _turn_far(values, x, (to_v, to_w, crosses), (of_v, of_w, sign))
    for which, size in ((0, from_v), (1, from_w)):
        for i in range(size):
            hops[which, queue[which, i]] = FAR


@leaf
def _turn_far(
    values: Values, x: int, seen: tuple[int, int, bool], steps: tuple[int, int, int]
) -> None:
    """Note what a turn does to x, which sees v and w so far away, and more nodes if it crosses."""
    rule = values.rule
    to_v, to_w, crosses = seen
    both = max(to_v, to_w) <= rule[DISTANCE]
    if rule[SHAPES] != NOTHING and (both or crosses):
        _touch(values, x, SHAPE_AGAIN)
    if rule[SUMS] == NOTHING:
        return
    if crosses:
        _touch(values, x, SUM_AGAIN)
    elif rule[SUMS] == SIZES:
        if both:
            _add(values, x, steps[2] * rule[BY_EDGE])
    else:
        if to_v != FAR:
            _add(values, x, steps[0])
        if to_w != FAR:
            _add(values, x, steps[1])


@leaf
def _settle(state: State, values: Values) -> None:
    """Move every node touched to the class of its new values."""
    for i in range(values.tally[TOUCHED]):
        x = values.touched[i]
        before = _code_of(values, x)
        values.before[i, 0], values.before[i, 1] = values.value[x, 0], values.value[x, 1]
        if values.todo[x] & SUM_AGAIN:
            values.value[x, 0] = sum_of(state.rows, values.rule, x, values.room.ball)
        else:
            values.value[x, 0] += values.delta[x]
        if values.todo[x] & SHAPE_AGAIN:
            values.value[x, 1] = shape_of(state.rows, values.rule, x, values.room)
        values.todo[x] = 0
        values.delta[x] = 0
        step = _code_of(values, x) - before
        if step != 0:
            move(state.classes, None, x, step)


@leaf
def _turns(pool: Pool, values: Values, pair: int) -> int:
    """Write the pairs that the edit of this pair turns, first those it parts; return how many.

    The rows are the two ends, and 1 or -1: they are joined or parted. A pair that has a mate is
    rewired with it, or both are put back.
    """
    v, w = ends(pool, pair)
    here = pool.present[pair]
    turns, mates = values.turns, values.mates
    if mates.size == 0:
        _write(turns, 0, v, w, -1 if here else 1)
        return 1
    x, y = ends(pool, int(mates[NOW, pair] >> 1))
    if mates[NOW, pair] & 1:
        x, y = y, x
    if not here:
        w, y = y, w
    _write(turns, 0, v, w, -1)
    _write(turns, 1, x, y, -1)
    _write(turns, 2, v, y, 1)
    _write(turns, 3, x, w, 1)
    return 4


@leaf
def _write(turns: Ints, row: int, v: int, w: int, sign: int) -> None:
    turns[row, 0], turns[row, 1], turns[row, 2] = v, w, sign


@leaf
def _tick(pool: Pool, values: Values, pair: int) -> None:
    """Note that the edit of this pair was made, or taken back."""
    pool.present[pair] = not pool.present[pair]
    if values.mates.size > 0:
        other = values.mates[NOW, pair] >> 1
        pool.present[other] = not pool.present[other]


@leaf
def carry_out(state: State, values: Values, pairs: tuple[int, int]) -> None:
    """Make the edits of these pairs, or take them back: write the lists, values and classes."""
    begin(state.classes, None)
    values.tally[TOUCHED] = 0
    for pair in pairs:
        if pair != NONE:
            for i in range(_turns(state.pool, values, pair)):
                _turn(state, values, values.turns[i, 0], values.turns[i, 1], values.turns[i, 2])
            _tick(state.pool, values, pair)
    _settle(state, values)


@leaf
def take_back(state: State, values: Values, pairs: tuple[int, int]) -> None:
    """Undo in the lists and the values what `carry_out` did last; the classes are undone."""
    for i in range(values.tally[TOUCHED]):
        x = values.touched[i]
        values.value[x, 0], values.value[x, 1] = values.before[i, 0], values.before[i, 1]
    for pair in pairs[::-1]:
        if pair != NONE:
            for i in range(_turns(state.pool, values, pair)):
                toggle(state.rows, values.turns[i, 0], values.turns[i, 1])
            _tick(state.pool, values, pair)


@leaf
def work_of(state: State, values: Values, pair: int) -> int:
    """Return roughly how many steps it takes to flip the pair; everything stays as it is."""
    v, w = ends(state.pool, pair)
    sign = -1 if state.pool.present[pair] else 1
    values.tally[TOUCHED] = 0
    _turn(state, values, v, w, sign)
    toggle(state.rows, v, w)
    work = int(state.rows.length[v] + state.rows.length[w])
    for i in range(values.tally[TOUCHED]):
        x = values.touched[i]
        again = values.todo[x] & (SUM_AGAIN | SHAPE_AGAIN)
        work += int(values.arcs[x]) if again else 1
        values.todo[x] = 0
        values.delta[x] = 0
    return work
