"""What one node of a changing graph looks like, as integers: sums, and shapes up to a hash.

The sum of a node adds up what its neighbourhood has: nodes and edges, or hashes of degrees. Its
shape is a hash of the neighbourhood: of the degrees inside, or of colours. Equal neighbourhoods
have equal values. Unequal ones have unequal sums of sizes where the measure tells them apart; that
their hashes are unequal is likely, not certain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.neighbourhoods.balls import Ball, clear_ball
from graphveil.kernels.neighbourhoods.multisets import STEP, mixed
from graphveil.kernels.neighbourhoods.refinement import Room
from graphveil.kernels.structural.rows import Rows

Ints = NDArray[np.int64]

DISTANCE, SUMS, SHAPES, BY_NODE, BY_EDGE = range(5)
NOTHING, SIZES, DEGREES = range(3)
INSIDE, COLOURS = 1, 2
ROUNDS = 2
SHAPE = np.uint64(0xD6E8FEB86659FD93)


@leaf
def fill_from_rows(rows: Rows, centre: int, distance: int, ball: Ball) -> int:
    """Write the nodes within this distance of the centre into the ball; return how many."""
    ball.nodes[0] = centre
    ball.hops[0] = 0
    ball.place[centre] = 0
    size = 1
    head = 0
    while head < size and ball.hops[head] < distance:
        x = ball.nodes[head]
        for at in range(rows.start[x], rows.start[x] + rows.length[x]):
            y = rows.neighbour[at]
            if ball.place[y] < 0:
                ball.nodes[size] = y
                ball.hops[size] = ball.hops[head] + 1
                ball.place[y] = size
                size += 1
        head += 1
    return size


@leaf
def _degree_inside(rows: Rows, i: int, distance: int, ball: Ball) -> int:
    """Return how many neighbours the node at position i of the ball has inside it."""
    x = ball.nodes[i]
    if ball.hops[i] < distance:
        return int(rows.length[x])
    inside = 0
    for at in range(rows.start[x], rows.start[x] + rows.length[x]):
        inside += ball.place[rows.neighbour[at]] >= 0
    return inside


@leaf
def hashed(degree: int) -> int:
    """Return what a degree adds to a sum."""
    return int(np.int64(mixed(np.uint64(degree))))


@leaf
def sum_of(rows: Rows, rule: Ints, centre: int, ball: Ball) -> int:
    """Return the sum of the centre's neighbourhood, counted afresh."""
    distance = rule[DISTANCE]
    size = fill_from_rows(rows, centre, distance, ball)
    total = np.int64(0)
    if rule[SUMS] == SIZES:
        ends = 0
        if rule[BY_EDGE] != 0:
            for i in range(size):
                ends += _degree_inside(rows, i, distance, ball)
        total = rule[BY_NODE] * size + rule[BY_EDGE] * (ends // 2)
    else:
        for i in range(size):
            total += hashed(rows.length[ball.nodes[i]])
    clear_ball(ball, size)
    return int(total)


@leaf
def shape_of(rows: Rows, rule: Ints, centre: int, room: Room) -> int:
    """Return the hash of the centre's neighbourhood, made afresh.

    At distance 1 the centre has an edge to everyone and is left out.
    """
    distance, ball = rule[DISTANCE], room.ball
    size = fill_from_rows(rows, centre, distance, ball)
    first = 1 if distance == 1 else 0
    if first == 1:
        ball.place[centre] = -1
    if rule[SHAPES] == INSIDE:
        for i in range(first, size):
            room.colour[i] = np.uint64(_degree_inside(rows, i, distance, ball))
    else:
        _colour(rows, first, size, room)
    total = mixed(np.uint64(size))
    for i in range(first, size):
        total += mixed(room.colour[i])
    clear_ball(ball, size)
    return int(np.int64(mixed(total) * SHAPE))


@leaf
def _colour(rows: Rows, first: int, size: int, room: Room) -> None:
    """Colour the positions first..size - 1 by distance, degree inside, and colours around."""
    ball, start, ends = room.ball, room.start, room.ends
    start[first] = 0
    filled = 0
    for i in range(first, size):
        x = ball.nodes[i]
        for at in range(rows.start[x], rows.start[x] + rows.length[x]):
            j = ball.place[rows.neighbour[at]]
            if j >= 0:
                ends[filled] = j
                filled += 1
        start[i + 1] = filled
        inside = np.uint64(filled - start[i])
        room.colour[i] = (np.uint64(ball.hops[i]) << np.uint64(32)) + inside
    if filled == 0:
        return
    for _ in range(ROUNDS):
        for i in range(first, size):
            room.before[i] = mixed(room.colour[i])
        for i in range(first, size):
            total = room.before[i] * STEP
            for at in range(start[i], start[i + 1]):
                total += room.before[ends[at]]
            room.colour[i] = total
