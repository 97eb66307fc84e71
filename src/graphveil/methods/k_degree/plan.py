"""The shapes of a degree sequence: runs of equal degrees, a plan of targets, and its bounds."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
AllowedEdits = Literal["add", "any"]


class DegreeRuns(NamedTuple):
    """How many nodes have each degree, the highest degree first.

    Attributes
    ----------
    degree
        int64 array of the D distinct degrees, strictly decreasing.
    count
        int64 array of D entries >= 1: the nodes of this degree.
    """

    degree: Ints
    count: Ints  # type: ignore[assignment]  # hides tuple.count, which no array of nodes needs


class Plan(NamedTuple):
    """Which degree every node shall get; every target is held by at least k nodes.

    A piece is a set of nodes of one degree that get one target. A run split over several groups
    gives several pieces. Pieces are ordered by descending degree, then descending target.

    Attributes
    ----------
    cost
        The plan's cost before `settle_parity`: L1* if it is an optimal plan.
    degree, target, count
        int64 arrays, one entry per piece: the nodes' degree, their target, how many they are.
    low, high
        int64 arrays: the group of this piece may get any target from low to high at equal cost.
    group
        int64 array: the group of this piece. Pieces of one group have one target.
    """

    cost: int
    degree: Ints
    target: Ints
    count: Ints  # type: ignore[assignment]  # hides tuple.count, which no array of nodes needs
    low: Ints
    high: Ints
    group: Ints

    @property
    def distance(self) -> int:
        """The sum of ``|target - degree|`` over the nodes, as the plan now stands."""
        return int(np.sum(self.count * np.abs(self.target - self.degree)))

    @property
    def surplus(self) -> int:
        """The sum of ``target - degree`` over the nodes: twice (edges added - edges deleted)."""
        return int(np.sum(self.count * (self.target - self.degree)))


def runs_of(degrees: NDArray[np.integer]) -> DegreeRuns:
    """Every distinct degree with its number of nodes, the highest first, without sorting nodes.

    Parameters
    ----------
    degrees
        Integer array of n entries >= 0, in any order.

    Returns
    -------
    Runs
        Found by a histogram in O(n + largest degree); by sorting if the largest degree is far
        above n, which no graph's is.

    Examples
    --------
    >>> runs_of(np.array([1, 2, 2, 0]))
    DegreeRuns(degree=array([2, 1, 0]), count=array([2, 1, 1]))
    """
    if degrees.size and int(degrees.max()) > 8 * degrees.size + 1024:
        values, counts = np.unique(degrees, return_counts=True)
    else:
        histogram = np.bincount(degrees)
        values = np.flatnonzero(histogram)
        counts = histogram[values]
    return DegreeRuns(
        np.ascontiguousarray(values[::-1], dtype=np.int64),
        np.ascontiguousarray(counts[::-1], dtype=np.int64),
    )


def lower_bound_edits(plan_cost: int) -> int:
    """No graph of the promise is reached with fewer edits.

    Parameters
    ----------
    plan_cost
        L1* of `optimal_plan` for the same edits.

    Returns
    -------
    int
        ceil(L1* / 2): an edit changes two degrees by one. An odd L1* cannot be met, since the
        sum of the degrees is even on both sides, so L1* + 1 changes are needed.

    Examples
    --------
    >>> lower_bound_edits(13)
    7
    """
    return (plan_cost + 1) // 2


def bound_for_targets(residual: NDArray[np.integer]) -> int:
    """No graph with these targets is reached with fewer edits.

    Parameters
    ----------
    residual
        Integer array of n entries, target minus degree per node.

    Returns
    -------
    int
        Additions plus deletions. The j nodes with the largest residuals share at most j(j-1)/2
        of the edges they need. It is a bound for these targets only.

    Examples
    --------
    >>> bound_for_targets(np.array([2, 2, 0, -1, -1]))
    4
    """
    return _one_sided_bound(residual[residual > 0]) + _one_sided_bound(-residual[residual < 0])


def _one_sided_bound(need: NDArray[np.integer]) -> int:
    if need.size == 0:
        return 0
    descending = np.sort(need.astype(np.int64))[::-1]
    j = np.arange(1, need.size + 1, dtype=np.int64)
    reached = np.cumsum(descending)
    star = int(np.max(reached - j * (j - 1) // 2))
    return max(star, (int(reached[-1]) + 1) // 2)
