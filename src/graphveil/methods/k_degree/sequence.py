"""Degree sequences that are k-anonymous, at the least total change.

Liu and Terzi (SIGMOD 2008) choose groups of at least k nodes in the descending order of degrees and
give each group one degree. Nodes of one degree are interchangeable, so everything here works on
*runs* (a degree and how many nodes have it). L1* is the least possible total change.

Nodes with published attributes are grouped into cells of one color and one degree, numbered
``color * span + degree``: a step of one degree is a step of one number, and none leads from one
color to another, since the last number of every color stays empty.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, InfeasibleError
from graphveil.methods.k_degree.kernels import sequence as kernels

Ints = NDArray[np.int64]

Nodes = NDArray[np.int32]

Flags = NDArray[np.bool_]

Floats = NDArray[np.float64]

AllowedEdits = Literal["add", "any"]


class DegreeRuns(NamedTuple):
    """How many nodes have each distinct degree, the highest degree first."""

    degree: Ints
    count: Ints  # type: ignore[assignment]  # hides tuple.count, which no array of nodes needs


class Plan(NamedTuple):
    """Which degree every node shall get; every target is held by at least k nodes.

    A piece is a set of nodes of one degree that get one target; pieces are ordered by descending
    degree, then target. `cost` is that before `settle_parity`. The group of a piece may get any
    target from `low` to `high` at equal cost.
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
    """Return the runs by a histogram; by sorting if the largest degree is far above n."""
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
    """No graph of the guarantee is reached with fewer edits: ceil(L1* / 2).

    An edit changes two degrees by one, and the sum of the degrees is even on both sides.
    """
    return (plan_cost + 1) // 2


def bound_for_targets(residual: NDArray[np.integer]) -> int:
    """No graph with these targets is reached with fewer edits.

    The j nodes with the largest residuals share at most j(j-1)/2 of the edges they need.
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


class _Positions(NamedTuple):
    """Where the runs start in the descending order, with a closing entry at n."""

    first: Ints
    degree: Ints
    prefix: Ints


def _positions(runs: DegreeRuns, k: int) -> _Positions:
    n = int(runs.count.sum())
    if n < k:
        raise InfeasibleError(f"k={k} exceeds the {n} nodes of the network. Choose k <= {n}.")
    largest = int(runs.degree[0])
    if largest * n >= 2**62:
        raise DataError(
            f"{n} nodes with degrees up to {largest} have sums that exceed 64 bits. Degrees "
            "must be below the number of nodes."
        )
    zero = np.zeros(1, dtype=np.int64)
    return _Positions(
        np.concatenate((zero, np.cumsum(runs.count))),
        np.concatenate((runs.degree, zero)),
        np.concatenate((zero, np.cumsum(runs.count * runs.degree))),
    )


def optimal_plan(
    runs: DegreeRuns, k: int, *, edits: AllowedEdits, parts: Ints | None = None
) -> Plan:
    """Every target is held by at least k nodes, and no such plan has a lower cost.

    The dynamic program of Liu and Terzi, section 5, over few positions: a group starts among the
    first k nodes of a run, for medians also among the last k - 1. With C such positions and D runs,
    ``add`` takes O(D + C), ``any`` O(C log C log D). No group has nodes of several `parts`: the run
    behind each part's last one, ascending, each of at least k nodes.
    """
    at = _positions(runs, k)
    tail = k - 1 if edits == "any" else 0
    parts = np.array([runs.degree.size]) if parts is None else parts
    room = int(np.minimum(runs.count, k + tail).sum()) + 1 + parts.size
    cut, run = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    ends = np.empty_like(parts)
    filled = kernels.cuts_worth_trying(at.first, parts, k, tail, cut, run, ends)
    cut, run = cut[:filled], run[:filled]
    value, previous = np.empty_like(cut), np.empty_like(cut)
    slope = at.degree[run]
    begins = [0, *ends[:-1].tolist()]
    for begin, end in reversed([*zip(begins, ends.tolist(), strict=True)]):
        part = slice(begin, end + 1)
        if edits == "add":
            kernels.cheapest_raise(cut[part], slope[part], k, value[part], previous[part])
        else:
            kernels.cheapest_median(*at, cut[part], run[part], k, value[part], previous[part])
        previous[part] += begin
    cost = int(value[ends].sum()) - (int(at.prefix[-1]) if edits == "add" else 0)
    starts = np.empty(cut.size, dtype=np.int64)
    starts = starts[starts.size - kernels.trace_back(cut, previous, starts) :]
    return _plan(cost, runs, at, starts, edits)


def greedy_plan(runs: DegreeRuns, k: int) -> Plan:
    """Every target is held by at least k nodes and none is below the degree; cost not minimal.

    The greedy of Liu and Terzi, section 5. Windows are cut at n, fewer than k last nodes join the
    last group, equal costs merge.
    """
    at = _positions(runs, k)
    starts = np.empty(min(int(at.first[-1]) // k, 2 * runs.degree.size), dtype=np.int64)
    starts = starts[: kernels.greedy_starts(*at, k, starts)]
    plan = _plan(0, runs, at, starts, "add")
    return plan._replace(cost=plan.distance)


def _plan(cost: int, runs: DegreeRuns, at: _Positions, starts: Ints, edits: AllowedEdits) -> Plan:
    """Give each group its target and list the pieces that groups and runs cut each other into."""
    room = runs.degree.size + starts.size
    run, group, count = (np.empty(room, dtype=np.int64) for _ in range(3))
    filled = kernels.cut_runs(at.first, starts, run, group, count)
    run, group, count = run[:filled], group[:filled], count[:filled]
    if edits == "add":
        high = low = _degree_at(at, starts)
    else:
        ends = np.append(starts[1:], at.first[-1])
        high = _degree_at(at, (starts + ends - 1) // 2)
        low = _degree_at(at, (starts + ends) // 2)
    return Plan(cost, runs.degree[run], low[group], count, low[group], high[group], group)


def _degree_at(at: _Positions, position: Ints) -> Ints:
    """Return the degree at these positions of the descending order."""
    return at.degree[np.searchsorted(at.first, position, side="right") - 1]
