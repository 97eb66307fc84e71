"""Neighborhoods of any distance, one node at a time: the nodes within some hops of a center."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import allocating, leaf
from graphveil.kernels.neighborhoods.triangles import Indices, Indptr
from graphveil.kernels.tiers import for_each_call, tiered


class Ball(NamedTuple):
    """Room for one neighborhood at a time.

    ``nodes`` holds its nodes in the order they are met, by rising distance from the center;
    ``place[x]`` is the position of node x in it, -1 outside. ``hops`` holds the distances.
    """

    nodes: Indices
    hops: Indices
    place: Indices


@tiered(for_each_call(10))
@allocating
def make_ball(n: int) -> Ball:
    """Return room for a neighborhood in a graph of n nodes."""
    place = np.empty(n, dtype=np.int32)
    place[:] = -1
    return Ball(np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), place)


@leaf
def fill_ball(indptr: Indptr, indices: Indices, center: int, distance: int, ball: Ball) -> int:
    """Write the nodes within this distance of the center into the ball; return how many."""
    ball.nodes[0] = center
    ball.hops[0] = 0
    ball.place[center] = 0
    size = 1
    head = 0
    while head < size and ball.hops[head] < distance:
        x = ball.nodes[head]
        for arc in range(indptr[x], indptr[x + 1]):
            y = indices[arc]
            if ball.place[y] < 0:
                ball.nodes[size] = y
                ball.hops[size] = ball.hops[head] + 1
                ball.place[y] = size
                size += 1
        head += 1
    return size


@leaf
def clear_ball(ball: Ball, size: int) -> None:
    """Forget the neighborhood of this size."""
    for i in range(size):
        ball.place[ball.nodes[i]] = -1


@leaf
def inner_degree(indptr: Indptr, indices: Indices, i: int, distance: int, ball: Ball) -> int:
    """Return how many neighbors the node at position i of the ball has inside it."""
    x = ball.nodes[i]
    if ball.hops[i] < distance:
        return int(indptr[x + 1] - indptr[x])
    inside = 0
    for arc in range(indptr[x], indptr[x + 1]):
        if ball.place[indices[arc]] >= 0:
            inside += 1
    return inside


def steps_of_balls(degrees: NDArray[np.int64], distance: int) -> int:
    """Return about how many steps it takes to walk over the neighborhoods of all nodes."""
    entries = int(degrees.sum())
    return degrees.size * entries if distance > 1 else int((degrees * degrees).sum()) + entries


@tiered(lambda indptr, _indices, distance: steps_of_balls(np.diff(indptr), distance))
@allocating
def ball_sizes(
    indptr: Indptr, indices: Indices, distance: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of nodes and of edges of the neighborhood of every node."""
    n = indptr.size - 1
    nodes = np.empty(n, dtype=np.int64)
    edges = np.empty(n, dtype=np.int64)
    ball = make_ball(n)
    for v in range(n):
        size = fill_ball(indptr, indices, v, distance, ball)
        ends = np.int64(0)
        for i in range(size):
            ends += inner_degree(indptr, indices, i, distance, ball)
        nodes[v] = size
        edges[v] = ends // 2
        clear_ball(ball, size)
    return nodes, edges
