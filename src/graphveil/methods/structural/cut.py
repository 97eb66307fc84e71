"""Heuristic CUT: start without triangles, where degree alone tells nodes apart; put edges back."""

from __future__ import annotations

import numpy as np

from graphveil.kernels import structural_starts as kernel
from graphveil.methods.structural.search import (
    Walk,
    Watch,
    goal_iterations,
    towards_goal,
    walk_of,
)
from graphveil.methods.structural.state import edited_of
from graphveil.methods.structural.task import Edited, Task

RESTARTS = 2
ROUNDS = 3


def cut(
    task: Task, *, iterations: int | None, rng: np.random.Generator, watch: Watch | None = None
) -> Edited:
    """Return the best state of a walk that starts where no triangle and few degrees are left.

    Parameters
    ----------
    task
        Measure count, edge-count or degree at distance 1; edits ``"delete"``.
    iterations
        The proposals of one stretch of annealing; `goal_iterations` where None.
    rng
        The randomness.
    watch
        Called every 100,000 proposals with the best state's nodes left and edits; True stops.

    Returns
    -------
    Edited
        Its nodes left are counted again from the edited graph, without kernels.

    Raises
    ------
    ParameterError
        Where the measure or the edits are none of these.

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
    walk = walk_of(task, rng, watch, name="cut", edits=("delete",))
    steps = goal_iterations(task.graph.n_edges) if iterations is None else iterations
    if walk.missed():
        without_triangles(walk)
        lower_degrees(walk)
        towards_goal(walk, steps, always=True)
    return edited_of(task, walk.arena)


PRICE = 0.15


def without_triangles(walk: Walk) -> None:
    """Delete the edges inside the halves of a large cut that lie in a triangle."""
    graph = walk.task.graph
    indptr, indices = graph.indptr.copy(), graph.indices.copy()
    sides = np.empty((RESTARTS, graph.n_nodes), dtype=np.bool_)
    inside = [kernel.two_sides(indptr, indices, walk.rng, side) for side in sides]
    kernel.cut_triangles(*walk.arena, sides[int(np.argmin(inside))], walk.task.allowed)


def lower_degrees(walk: Walk) -> None:
    """Delete edges until the degrees are k-anonymous, or nearly: three attempts."""
    for _ in range(ROUNDS):
        degree = walk.arena.state.rows.length
        order = np.argsort(-degree, kind="stable")
        target = np.empty_like(degree)
        kernel.lowered_degrees(degree[order], walk.task.k, target)
        excess = np.empty_like(degree)
        excess[order] = degree[order] - target
        if not np.any(excess > 0):
            return
        kernel.lower_to(*walk.arena, excess, walk.task.allowed)
