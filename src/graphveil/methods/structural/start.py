"""The frame of the heuristics that walk towards a goal from a start of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphveil.methods.structural.search import (
    Walk,
    Watch,
    goal_iterations,
    towards_goal,
    walk_of,
)
from graphveil.methods.structural.state import edited_of
from graphveil.methods.structural.task import Edited, Task

Start = Callable[[Walk, int], bool]
"""Takes a walk to where it starts; told the proposals of a stretch, returns whether to stop."""


def from_start(
    task: Task,
    start: Start,
    *,
    name: str,
    iterations: int | None,
    rng: np.random.Generator,
    watch: Watch | None,
    always: bool,
) -> Edited:
    """Return the best state of a walk with deletions that anneals from this start.

    Parameters
    ----------
    task
        Measure count, edge-count or degree at distance 1; edits ``"delete"``.
    start
        Where the walk starts.
    name
        Of the heuristic, for errors.
    iterations
        The proposals of one stretch of annealing; `goal_iterations` where None.
    rng
        The randomness.
    watch
        Called every 100,000 proposals, and between the steps of the start, with the best state's
        nodes left and edits; True stops.
    always
        Whether to anneal where the start itself reaches the goal.

    Returns
    -------
    Edited
        Its nodes left are counted again from the edited graph, without kernels.

    Raises
    ------
    ParameterError
        Where the measure or the edits are none of these.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> task = Task(flag, "count", 1, 2, "delete", 4, 0)
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> def here(walk, steps):
    ...     return False
    >>> more = {"name": "here", "iterations": 1000, "rng": rng, "watch": None}
    >>> from_start(task, here, always=True, **more).left
    0
    """
    walk = walk_of(task, rng, watch, name=name, edits=("delete",))
    steps = goal_iterations(task.graph.n_edges) if iterations is None else iterations
    if walk.missed() and not start(walk, steps):
        towards_goal(walk, steps, always=always)
    return edited_of(task, walk.arena)
