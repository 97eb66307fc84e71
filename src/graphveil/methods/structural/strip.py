"""Heuristic STRIP: start where risky hubs were worn down edge by edge; put edges back."""

from __future__ import annotations

import math

import numpy as np

from graphveil.kernels import structural_starts as kernel
from graphveil.methods.structural.search import (
    Walk,
    Watch,
    goal_iterations,
    towards_goal,
    walk_of,
    within_budget,
)
from graphveil.methods.structural.state import edited_of
from graphveil.methods.structural.task import Edited, Task

SHARES = (0.01, 0.02, 0.035, 0.05)
CHUNK = 1_000


def strip(
    task: Task, *, iterations: int | None, rng: np.random.Generator, watch: Watch | None = None
) -> Edited:
    """Return the best state of a walk that starts where risky hubs were worn down to the goal.

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
    After a search with few edits the riskiest node of highest degree loses the edge whose deletion
    leaves the fewest nodes, until the goal is reached. It suits sparse graphs with few such nodes.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> task = Task(flag, "count", 1, 2, "delete", 4, 0)
    >>> found = strip(task, iterations=1000, rng=np.random.Generator(np.random.PCG64(1)))
    >>> found.left, found.cost
    (0, 1)
    """
    walk = walk_of(task, rng, watch, name="strip", edits=("delete",))
    steps = goal_iterations(task.graph.n_edges) if iterations is None else iterations
    if walk.missed() and not wear_down(walk, steps):
        towards_goal(walk, steps)
    return edited_of(task, walk.arena)


PRICE = 0.15


def wear_down(walk: Walk, steps: int) -> bool:
    """Search with few edits, then delete edges of risky hubs until the goal is reached.

    Does so from the input for every share of `SHARES`, since the results differ by chance. Returns
    whether whoever watches has seen enough.
    """
    task = walk.task
    short = within_budget(task, -(-steps // len(SHARES)))
    for share in SHARES:
        walk.back_to_input()
        few = min(math.ceil(share * task.graph.n_edges), task.budget)
        if walk.anneal(short._replace(budget=few)):
            return True
        while kernel.strip(*walk.arena, task.allowed, CHUNK):
            if walk.seen_enough():
                return True
    walk.back_to_best()
    return False
