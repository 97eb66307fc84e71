"""Color refinement of neighborhoods: an invariant that tells most of them apart, and fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import allocating, leaf
from graphveil.kernels.neighborhoods.balls import (
    Ball,
    clear_ball,
    fill_ball,
    make_ball,
    steps_of_balls,
)
from graphveil.kernels.neighborhoods.multisets import STEP, Hashes, Ints, mixed
from graphveil.kernels.neighborhoods.triangles import Indices, Indptr
from graphveil.kernels.tiers import tiered

ROUNDS = 3


class ColorBuffers(NamedTuple):
    """Room for one neighborhood at a time, its edges and the colors of its nodes.

    Inside, nodes go by their positions in ``ball.nodes``; the center is at 0. The neighbors of
    position i are ``ends[start[i]:start[i + 1]]``.
    """

    ball: Ball
    start: Ints
    ends: Indices
    color: Hashes
    before: Hashes


def new_color_buffers(n: int, entries: int) -> ColorBuffers:
    """Return room for any neighborhood of a graph of n nodes and 2 m entries."""
    return ColorBuffers(
        make_ball(n),
        np.zeros(n + 1, dtype=np.int64),
        np.empty(entries, dtype=np.int32),
        np.empty(n, dtype=np.uint64),
        np.empty(n, dtype=np.uint64),
    )


@leaf
def _enter(indptr: Indptr, indices: Indices, center: int, distance: int, room: ColorBuffers) -> int:
    """Write the neighborhood of the center and its colors into the room; return its size.

    A color begins as the distance from the center; each round stirs in those of the neighbors.
    """
    ball = room.ball
    size = fill_ball(indptr, indices, center, distance, ball)
    filled = 0
    for i in range(size):
        x = ball.nodes[i]
        for arc in range(indptr[x], indptr[x + 1]):
            if ball.place[indices[arc]] >= 0:
                room.ends[filled] = ball.place[indices[arc]]
                filled += 1
        room.start[i + 1] = filled
    for i in range(size):
        room.color[i] = np.uint64(ball.hops[i])
    for _ in range(ROUNDS):
        for i in range(size):
            room.before[i] = mixed(room.color[i])
        for i in range(size):
            total = room.before[i] * STEP
            for at in range(room.start[i], room.start[i + 1]):
                total += room.before[room.ends[at]]
            room.color[i] = mixed(total)
    clear_ball(ball, size)
    return size


def _steps_of_hashes(
    indptr: Indptr, _indices: Indices, distance: int, _nodes: Ints, _room: ColorBuffers
) -> int:
    return steps_of_balls(np.diff(indptr), distance)


@tiered(_steps_of_hashes)
@allocating
def neighborhood_hashes(
    indptr: Indptr, indices: Indices, distance: int, nodes: Ints, room: ColorBuffers
) -> Hashes:
    """Return a hash of the neighborhood of every node given: equal where they are isomorphic."""
    out = np.empty(nodes.size, dtype=np.uint64)
    for at in range(nodes.size):
        size = _enter(indptr, indices, nodes[at], distance, room)
        total = np.uint64(0)
        for i in range(size):
            total += mixed(room.color[i])
        out[at] = total
    return out


def _steps_of_one(
    indptr: Indptr, indices: Indices, distance: int, center: int, _room: ColorBuffers
) -> int:
    """Return about how many steps it takes to walk over one neighborhood."""
    if distance > 1:
        return indices.size
    beside = indices[indptr[center] : indptr[center + 1]]
    return int((indptr[beside + 1] - indptr[beside]).sum()) + beside.size


@tiered(_steps_of_one)
@allocating
def neighborhood(
    indptr: Indptr, indices: Indices, distance: int, center: int, room: ColorBuffers
) -> tuple[Hashes, NDArray[np.int64]]:
    """Return the colors of a neighborhood, the center's first, and its edges by position."""
    size = _enter(indptr, indices, center, distance, room)
    edges = np.empty((room.start[size] // 2, 2), dtype=np.int64)
    filled = 0
    for i in range(size):
        for at in range(room.start[i], room.start[i + 1]):
            if i < room.ends[at]:
                edges[filled, 0] = i
                edges[filled, 1] = room.ends[at]
                filled += 1
    return room.color[:size].copy(), edges
