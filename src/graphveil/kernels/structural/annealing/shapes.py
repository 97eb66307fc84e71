"""What one node of a changing graph looks like, as integers: sums, and shapes up to a hash.

The sum of a node adds up what its neighborhood has: nodes and edges, or hashes of degrees. Its
shape is a hash of the neighborhood: of the degrees inside, or of colors. Equal neighborhoods
have equal values. Unequal ones have unequal sums of sizes where the measure tells them apart; that
their hashes are unequal is likely, not certain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.neighborhoods.balls import Ball
from graphveil.kernels.neighborhoods.multisets import STEP, mixed
from graphveil.kernels.neighborhoods.refinement import ColorBuffers
from graphveil.kernels.structural.rows import NeighborRows

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
    nodes[0] = center
    hops[0] = 0
    place[center] = 0
    size = 1
    head = 0
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
    """Write the sum of v, its shape, or its work, made afresh from its neighborhood.

    The work is the sum of the degrees of the nodes in it. Measures without colors have no room.
    """
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
    """Return the hash of the neighborhood in the ball: of colors, or of degrees inside.

    At distance 1 the center has an edge to everyone and is left out, of the ball too.
    """
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
