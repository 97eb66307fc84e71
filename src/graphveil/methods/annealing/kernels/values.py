"""The values of any measure, kept up to date as pairs are turned: joined or parted.

A node's code is its sum (sizes, or hashes of degrees) and its shape (a hash of inside degrees, or
of colors), cut to 63 bits. Equal neighborhoods have equal values; unequal ones likely unequal
hashes, not certainly. A turn changes lists, adds to sums and notes what must be made afresh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.measures.kernels.neighborhoods import (
    STEP,
    Ball,
    ColorBuffers,
    mixed,
    steps_of_balls,
)
from graphveil.methods.annealing.kernels.classes import (
    NeighborRows,
    NodeClasses,
    common_of,
    move,
    toggle,
)

Ints = NDArray[np.int64]

DISTANCE, SUMS, SHAPES, BY_NODE, BY_EDGE = range(5)
NOTHING, SIZES, DEGREES = range(3)
INSIDE, COLORS = 1, 2
SUM, SHAPE, WORK = range(3)
MOVED, SUM_AGAIN, SHAPE_AGAIN, WORK_AGAIN = 1, 2, 4, 8
ROUNDS = 2
STIR = np.uint64(0xD6E8FEB86659FD93)


@leaf
def fill_from_rows(rows: NeighborRows, center: int, distance: int, ball: Ball) -> int:
    """Write the nodes within this distance of the center into the ball; return how many."""
    start, length, neighbor, _ = rows
    nodes, hops, place = ball
    nodes[0], hops[0] = center, 0
    place[center] = 0
    size, head = 1, 0
    while head < size and hops[head] < distance:
        x = nodes[head]
        for at in range(start[x], start[x] + length[x]):
            y = neighbor[at]
            if place[y] < 0:
                nodes[size] = y
                hops[size] = hops[head] + 1
                place[y] = size
                size += 1
        head += 1
    return size


@leaf
def _degree_inside(rows: NeighborRows, i: int, distance: int, ball: Ball) -> int:
    """Return how many neighbors the node at position i of the ball has inside it."""
    x = ball.nodes[i]
    if ball.hops[i] < distance:
        return int(np.int64(rows.length[x]))
    inside = 0
    for at in range(rows.start[x], rows.start[x] + rows.length[x]):
        inside += ball.place[rows.neighbor[at]] >= 0
    return inside


@leaf
def hashed(degree: int) -> int:
    """Return what a degree adds to a sum."""
    return np.int64(mixed(np.uint64(degree)))  # type: ignore[return-value]  # it wraps round


@leaf
def look_at(
    rows: NeighborRows,
    rule: Ints,
    v: int,
    what: int,
    value: Ints,
    ball: Ball,
    room: ColorBuffers | None,
) -> None:
    """Write the sum of v, its shape, or its work (degrees of its neighborhood), made afresh."""
    size = fill_from_rows(rows, v, rule[DISTANCE], ball)
    if what & SUM_AGAIN:
        value[v, SUM] = _sum_of(rows, rule, size, ball)
    if what & WORK_AGAIN:
        value[v, WORK] = 0
        for i in range(size):
            value[v, WORK] += rows.length[ball.nodes[i]]
    if what & SHAPE_AGAIN:
        value[v, SHAPE] = _shape_of(rows, rule, size, ball, room)
    for i in range(size):
        ball.place[ball.nodes[i]] = -1


@leaf
def _sum_of(rows: NeighborRows, rule: Ints, size: int, ball: Ball) -> int:
    """Return the sum of the neighborhood in the ball."""
    total = np.int64(0)
    if rule[SUMS] != SIZES:
        for i in range(size):
            total += hashed(rows.length[ball.nodes[i]])
        return int(total)
    if rule[BY_EDGE] != 0:
        for i in range(size):
            total += _degree_inside(rows, i, rule[DISTANCE], ball)
    return int(rule[BY_NODE] * size + rule[BY_EDGE] * (total // 2))


@leaf
def _shape_of(
    rows: NeighborRows, rule: Ints, size: int, ball: Ball, room: ColorBuffers | None
) -> int:
    """Return the hash of the ball's neighborhood; at distance 1 without the center."""
    first = 1 if rule[DISTANCE] == 1 else 0
    if first == 1:
        ball.place[ball.nodes[0]] = -1
    if room is not None:
        _color(rows, first, size, room)
    total = mixed(np.uint64(size))
    for i in range(first, size):
        if room is not None:
            total += mixed(room.color[i])
        else:
            total += mixed(np.uint64(_degree_inside(rows, i, rule[DISTANCE], ball)))
    return int(np.int64(mixed(total) * STIR))


@leaf
def _color(rows: NeighborRows, first: int, size: int, room: ColorBuffers) -> None:
    """Color the positions first..size - 1 by distance, degree inside, and colors around."""
    ball, start, ends, color, before = room
    start[first] = 0
    filled = 0
    for i in range(first, size):
        x = ball.nodes[i]
        for at in range(rows.start[x], rows.start[x] + rows.length[x]):
            j = ball.place[rows.neighbor[at]]
            if j >= 0:
                ends[filled] = j
                filled += 1
        start[i + 1] = filled
        color[i] = (np.uint64(ball.hops[i]) << np.uint64(32)) + np.uint64(filled - start[i])
    for _ in range(ROUNDS if filled > 0 else 0):
        for i in range(first, size):
            before[i] = mixed(color[i])
        for i in range(first, size):
            total = before[i] * STEP
            for at in range(start[i], start[i + 1]):
                total += before[ends[at]]
            color[i] = total


LARGEST = np.int64(2**63 - 1)
FAR = 1 << 30
TOUCHED, SUM_BEFORE, SHAPE_BEFORE = range(3)
FLAGS, DELTA = range(2)


class Reach(NamedTuple):
    """Room for two searches around the ends of a pair: hops from them, and who was met."""

    hops: Ints
    queue: Ints


class Values(NamedTuple):
    """What the values of nodes are made of, and what a trial has touched.

    ``value[v]`` holds the sum and the shape of v, and about the work of making them afresh. Of the
    ``tally[0]`` nodes that a trial touched, ``before`` holds who they are and their values;
    ``pending[v]`` what is to be done with v, and what is added to its sum. The rest is room;
    ``reach`` is None at distance 1, ``room`` without colors.
    """

    rule: Ints
    value: Ints
    before: Ints
    pending: Ints
    tally: Ints
    turns: Ints
    ball: Ball
    room: ColorBuffers | None
    reach: Reach | None


@tiered(lambda rows, values, _codes: steps_of_balls(rows.length, values.rule[DISTANCE]))
@leaf
def evaluate(rows: NeighborRows, values: Values, codes: Ints) -> None:
    """Make every value and its work afresh; write the codes."""
    rule, value = values.rule, values.value
    what = WORK_AGAIN
    what |= SUM_AGAIN if rule[SUMS] != NOTHING else 0
    what |= SHAPE_AGAIN if rule[SHAPES] != NOTHING else 0
    for v in range(len(value)):
        look_at(rows, rule, v, what, value, values.ball, values.room)
        codes[v] = (value[v, SUM] + value[v, SHAPE]) & LARGEST


@leaf
def _add(values: Values, x: int, what: int, amount: int) -> None:
    """Note what is to be done with x, and that its sum changes by this amount."""
    pending = values.pending
    if pending[x, FLAGS] == 0:
        values.before[values.tally[0], TOUCHED] = x
        values.tally[0] += 1
    pending[x, FLAGS] |= what
    pending[x, DELTA] += amount


@leaf
def turn(rows: NeighborRows, values: Values, v: int, w: int, sign: int) -> None:
    """Join v and w (1), or part them (-1), in the lists; note what that does to the values."""
    if sign < 0:
        toggle(rows, v, w)
    _note_turn(rows, values, values.reach, v, w, sign)
    if sign > 0:
        toggle(rows, v, w)


@leaf
def _note_turn(
    rows: NeighborRows, values: Values, reach: Reach | None, v: int, w: int, sign: int
) -> None:
    """Note what the turn does to the values: what that is asks for the distance of the measure."""
    later = hashed(rows.length[v] + 1), hashed(rows.length[w] + 1)
    of_v = sign * (later[0] - hashed(rows.length[v]))
    of_w = sign * (later[1] - hashed(rows.length[w]))
    if reach is None:
        _note_beside(rows, values, (v, w), (of_v, of_w, sign), later)
    else:
        _note_around(rows, values, reach, (v, w), (of_v, of_w, sign))


@leaf
def _note_beside(
    rows: NeighborRows,
    values: Values,
    ends: tuple[int, int],
    steps: tuple[int, int, int],
    later: tuple[int, int],
) -> None:
    """Note the turn at distance 1: the ends see each other, and the others one edge more."""
    rule, (v, w), sign = values.rule, ends, steps[2]
    again = SHAPE_AGAIN if rule[SHAPES] != NOTHING else 0
    if rule[SUMS] == SIZES or again:
        what = again | (MOVED if rule[SUMS] == SIZES else 0)
        common = common_of(rows, v, w)
        for i in range(common):
            _add(values, int(np.int64(rows.common[i])), what, sign * rule[BY_EDGE])
        step = sign * (rule[BY_NODE] + (common + 1) * rule[BY_EDGE])
        _add(values, v, what, step)
        _add(values, w, what, step)
    if rule[SUMS] != NOTHING and rule[SUMS] != SIZES:
        for which in range(2):
            one, other = (v, w) if which == 0 else (w, v)
            here, step = rows.length[one], steps[0] if which == 0 else steps[1]
            _add(values, one, wide(MOVED), step)
            for at in range(rows.start[one], rows.start[one] + here):
                _add(values, int(np.int64(rows.neighbor[at])), wide(MOVED), step)
            _add(values, other, wide(MOVED), sign * (later[0] if which == 0 else later[1]))


@leaf
def _search(rows: NeighborRows, reach: Reach, which: int, center: int, distance: int) -> int:
    """Write the hops from the center, and who is within the distance; return how many."""
    hops, queue = reach
    hops[which, center], queue[which, 0] = 0, center
    size, head = 1, 0
    while head < size and hops[which, queue[which, head]] < distance:
        x = queue[which, head]
        for at in range(rows.start[x], rows.start[x] + rows.length[x]):
            y = rows.neighbor[at]
            if hops[which, y] == FAR:
                hops[which, y] = hops[which, x] + 1
                queue[which, size] = y
                size += 1
        head += 1
    return size


@leaf
def _note_around(
    rows: NeighborRows,
    values: Values,
    reach: Reach,
    ends: tuple[int, int],
    steps: tuple[int, int, int],
) -> None:
    """Note the turn at distance 2 or more: who is as far from v as from w, or one off, stays."""
    hops, queue = reach
    distance = values.rule[DISTANCE]
    from_v = _search(rows, reach, 0, ends[0], distance)
    from_w = _search(rows, reach, 1, ends[1], distance)
    for i in range(from_v + from_w):
        x = queue[0, i] if i < from_v else queue[1, i - from_v]
        to_v, to_w = hops[0, x], hops[1, x]
        if i < from_v or to_v == FAR:
            _note_far(values, x, (to_v, to_w), steps)
    for i in range(from_v + from_w):
        if i < from_v:
            hops[0, queue[0, i]] = FAR
        else:
            hops[1, queue[1, i - from_v]] = FAR


@leaf
def _note_far(values: Values, x: int, hops: tuple[int, int], steps: tuple[int, int, int]) -> None:
    """Note what a turn does to x, which sees the ends so far away without the edge."""
    rule, distance = values.rule, values.rule[DISTANCE]
    low, high = min(hops[0], hops[1]), max(hops[0], hops[1])
    crosses, both = low < distance and high > low + 1, high <= distance
    what, amount = 0, 0
    if rule[SHAPES] != NOTHING and (both or crosses):
        what |= SHAPE_AGAIN
    if rule[SUMS] != NOTHING and crosses:
        what |= SUM_AGAIN
    elif rule[SUMS] == SIZES:
        if both:
            what |= MOVED
            amount = steps[2] * rule[BY_EDGE]
    elif rule[SUMS] != NOTHING:
        what |= MOVED
        amount += steps[0] if hops[0] != FAR else 0
        amount += steps[1] if hops[1] != FAR else 0
    if what != 0:
        _add(values, x, what, amount)


@leaf
def settle(rows: NeighborRows, values: Values, classes: NodeClasses) -> None:
    """Move every node touched to the class of its new values, and be ready for another trial."""
    value, before, pending = values.value, values.before, values.pending
    for i in range(values.tally[0]):
        x = before[i, TOUCHED]
        before[i, SUM_BEFORE], before[i, SHAPE_BEFORE] = value[x, SUM], value[x, SHAPE]
        code = (value[x, SUM] + value[x, SHAPE]) & LARGEST
        if not pending[x, FLAGS] & SUM_AGAIN:
            value[x, SUM] += pending[x, DELTA]
        again = pending[x, FLAGS] & (SUM_AGAIN | SHAPE_AGAIN)
        if again:
            look_at(rows, values.rule, x, again, value, values.ball, values.room)
        pending[x, FLAGS], pending[x, DELTA] = 0, 0
        step = ((value[x, SUM] + value[x, SHAPE]) & LARGEST) - code
        if step != 0:
            move(classes, x, step)


@leaf
def restore(values: Values) -> None:
    """Give the nodes of the last trial the values that they had before."""
    for i in range(values.tally[0]):
        x = values.before[i, TOUCHED]
        values.value[x, SUM] = values.before[i, SUM_BEFORE]
        values.value[x, SHAPE] = values.before[i, SHAPE_BEFORE]


def _steps_of_work(rows: NeighborRows, values: Values, v: int, w: int, _sign: int) -> int:
    """Return about how many steps it takes to note what the turn of a pair does."""
    if values.rule[DISTANCE] > 1:
        return int(rows.length.sum())
    return 5 * int(rows.length[v] + rows.length[w]) + 50


@tiered(_steps_of_work)
@leaf
def work_of(rows: NeighborRows, values: Values, v: int, w: int, sign: int) -> int:
    """Return roughly how many steps it takes to turn the pair; everything stays as it is."""
    values.tally[0] = 0
    turn(rows, values, v, w, sign)
    toggle(rows, v, w)
    work = int(rows.length[v] + rows.length[w])
    for i in range(values.tally[0]):
        x = values.before[i, TOUCHED]
        again = values.pending[x, FLAGS] & (SUM_AGAIN | SHAPE_AGAIN)
        work += int(values.value[x, WORK]) if again else 1
        values.pending[x, FLAGS], values.pending[x, DELTA] = 0, 0
    return work
