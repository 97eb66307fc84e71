"""Heuristic STRIP: start where risky hubs were worn down edge by edge; put edges back."""

from __future__ import annotations

import math

import numpy as np

from graphveil.kernels.structural import starts as kernel
from graphveil.methods.structural.search import Walk, Watch, within_budget
from graphveil.methods.structural.start import from_start
from graphveil.methods.structural.task import Edited, Task

SHARES = (0.01, 0.02, 0.035, 0.05)
CHUNK = 1_000


def strip(
    task: Task, *, iterations: int | None, rng: np.random.Generator, watch: Watch | None = None
) -> Edited:
    """Return the best state of a walk that starts where risky hubs were worn down to the goal.

    The arguments are those of `from_start`.

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
    return from_start(
        task, wear_down, name="strip", iterations=iterations, rng=rng, watch=watch, always=False
    )


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
