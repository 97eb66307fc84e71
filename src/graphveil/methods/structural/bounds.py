"""How few edits can do: lower bounds from the degrees alone.

Where a measure fixes the degree, nodes that look alike have one degree, so the degrees of the
release form groups of at least k. An edit changes two degrees by one.
"""

from __future__ import annotations

import numpy as np

from graphveil.measures import MEASURES
from graphveil.methods.k_degree.sequence import lower_bound_edits, optimal_plan, runs_of
from graphveil.methods.structural.task import Task


def lower_bound(task: Task) -> int | None:
    """No graph in which every node is anonymous is reached with fewer edits.

    Parameters
    ----------
    task
        The graph, the measure, k and the edits allowed.

    Returns
    -------
    int or None
        None where there is no bound: some nodes may be left, the measure does not fix the
        degree, or there are fewer than k nodes. Rewirings keep every degree, so they alone get 0:
        see `nodes_left_by_rewiring`.

    Notes
    -----
    The least total change L of the degrees so that each is shared by k nodes, halved and rounded
    up, by the dynamic programme of k-degree anonymity. Deletions only lower degrees: mirrored,
    the programme that only raises them. A rewiring changes no degree, so the bound holds whether
    it counts as one edit or as four.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> lower_bound(Task(star, "count", 1, k=2, edits="delete", budget=3, allowed=0))
    1
    """
    degrees = task.graph.degrees()
    if (
        task.allowed
        or not task.k <= degrees.size
        or not MEASURES[task.measure].fixes_degree(task.distance)
    ):
        return None
    if task.edits == "rewire":
        return 0
    if task.edits == "delete":
        degrees = degrees.max() - degrees
    plan = optimal_plan(runs_of(degrees), task.k, edits="any" if task.edits == "any" else "add")
    return lower_bound_edits(plan.cost)


def nodes_left_by_rewiring(task: Task) -> int:
    """No rewiring leaves fewer nodes, since it keeps every degree: those whose degree is rare.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> nodes_left_by_rewiring(Task(star, "count", 1, k=2, edits="rewire", budget=3, allowed=0))
    1
    """
    if not MEASURES[task.measure].fixes_degree(task.distance):
        return 0
    sizes = np.bincount(task.graph.degrees())
    return int(sizes[sizes < task.k].sum())
