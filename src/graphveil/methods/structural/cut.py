"""Heuristic CUT: start without triangles, where degree alone tells nodes apart; put edges back."""

from __future__ import annotations

import numpy as np

from graphveil.kernels.structural import starts as kernel
from graphveil.methods.structural.search import Walk, Watch
from graphveil.methods.structural.start import from_start
from graphveil.methods.structural.task import Edited, Task

RESTARTS = 2
ROUNDS = 3
CHUNK = 1_000


def cut(
    task: Task, *, iterations: int | None, rng: np.random.Generator, watch: Watch | None = None
) -> Edited:
    """Return the best state of a walk that starts where no triangle and few degrees are left.

    The arguments are those of `from_start`.

    Notes
    -----
    The nodes are put on two sides by a large cut, and the edges inside a side that lie in a
    triangle are deleted; then degrees are lowered to a k-anonymous sequence. It reaches the goal on
    dense graphs, and leaves little clustering.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> bow = Graph.from_edges([0, 0, 1, 2, 2, 3, 4], [1, 2, 2, 3, 4, 4, 5], n=6)
    >>> task = Task(bow, "count", 1, 2, "delete", 7, 0)
    >>> cut(task, iterations=1000, rng=np.random.Generator(np.random.PCG64(1))).left
    0
    """
    return from_start(
        task, _start, name="cut", iterations=iterations, rng=rng, watch=watch, always=True
    )


def _start(walk: Walk, steps: int) -> bool:
    del steps
    return without_triangles(walk) or lower_degrees(walk)


def without_triangles(walk: Walk) -> bool:
    """Delete the edges inside the halves of a large cut that lie in a triangle.

    Returns whether whoever watches has seen enough.
    """
    graph = walk.task.graph
    indptr, indices = graph.indptr.copy(), graph.indices.copy()
    sides = np.empty((RESTARTS, graph.n_nodes), dtype=np.bool_)
    inside = []
    for side in sides:
        inside.append(kernel.two_sides(indptr, indices, walk.rng, side))
        if walk.seen_enough():
            return True
    kernel.cut_triangles(*walk.arena, sides[int(np.argmin(inside))], walk.task.allowed)
    return walk.seen_enough()


def lower_degrees(walk: Walk) -> bool:
    """Delete edges until the degrees are k-anonymous, or nearly: three attempts.

    Returns whether whoever watches has seen enough.
    """
    for _ in range(ROUNDS):
        degree = walk.arena.state.rows.length
        order = np.argsort(-degree, kind="stable")
        target = np.empty_like(degree)
        kernel.lowered_degrees(degree[order], walk.task.k, target)
        excess = np.empty_like(degree)
        excess[order] = degree[order] - target
        if not np.any(excess > 0):
            return False
        while kernel.lower_to(*walk.arena, excess, walk.task.allowed, CHUNK):
            if walk.seen_enough():
                return True
    return False
