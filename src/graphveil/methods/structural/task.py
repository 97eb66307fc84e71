"""What every heuristic is given, and what it gives back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph

SEARCHED = ("count", "edge-count", "degree")
"""The measures whose classes the search follows flip by flip, at distance 1."""


class Task(NamedTuple):
    """A graph, what may be changed in it, and when it is enough.

    Parameters
    ----------
    graph
        The input.
    measure, distance
        Which nodes look alike.
    k
        The smallest class of an anonymous node.
    edits
        ``"delete"``, ``"add"``, ``"rewire"`` or ``"any"``.
    budget
        The most edits; the number of edges (or pairs) where the goal sets none.
    allowed
        The most nodes that may stay in classes below k; the search stops there.
    """

    graph: Graph
    measure: str
    distance: int
    k: int
    edits: str
    budget: int
    allowed: int


def searchable(task: Task) -> bool:
    """Whether the search follows this task by counts alone, in O(degree) a flip.

    Other tasks it follows through the states of their measure, more slowly.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> task = Task(star, "count", 1, k=2, edits="delete", budget=3, allowed=0)
    >>> searchable(task), searchable(task._replace(measure="vrq"))
    (True, False)
    """
    return task.measure in SEARCHED and task.distance == 1 and task.edits != "rewire"


class Edited(NamedTuple):
    """The best state of a run: the edges changed, and how many nodes are left.

    Parameters
    ----------
    added, deleted
        int32, shapes (a, 2) and (b, 2), smaller end first.
    left
        The number of nodes in classes below k in the edited graph, recounted exactly.
    """

    added: NDArray[np.int32]
    deleted: NDArray[np.int32]
    left: int

    @property
    def cost(self) -> int:
        """The edge edit distance: edges that are in one of the two graphs only."""
        return len(self.added) + len(self.deleted)


def better(one: Edited, other: Edited, task: Task, *, by_budget: bool) -> bool:
    """Whether one result beats the other (the best of the trajectory).

    With a budget the fewest nodes left win, ties to fewer edits. With a goal a state that reaches
    it wins over one that does not, then fewer edits, then fewer nodes left.
    """
    if by_budget:
        return (one.left, one.cost) < (other.left, other.cost)
    return _rank(one, task) < _rank(other, task)


def _rank(edited: Edited, task: Task) -> tuple[int, int, int]:
    missed = max(edited.left - task.allowed, 0)
    return (missed, edited.cost, edited.left)
