"""Degree sequences that are k-anonymous, at the least total change.

Liu and Terzi (SIGMOD 2008) choose groups of at least k nodes in the descending order of degrees
and give each group one degree. The nodes of one degree are alike, so everything here works on
*runs* (a degree and how many nodes have it), not on nodes.

Notes
-----
======= ====================================================================
d       the degrees, descending; ``DegreeRuns``
d̂       the targets; ``Plan.target``
L1*     the least possible sum of ``|d̂ - d|``; ``Plan.cost``
I(t,i)  the cost of making positions t..i-1 one group
r       the residual ``d̂ - d`` per node
======= ====================================================================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import DataError, InfeasibleError, ParameterError
from graphveil.kernels.k_degree import sequence as kernels
from graphveil.methods.k_degree.parity import settle_parity
from graphveil.methods.k_degree.plan import (
    AllowedEdits,
    DegreeRuns,
    Ints,
    Plan,
    bound_for_targets,
    lower_bound_edits,
    runs_of,
)

__all__ = [
    "AllowedEdits",
    "Choices",
    "DegreeRuns",
    "Plan",
    "bound_for_targets",
    "choices_of",
    "greedy_plan",
    "lower_bound_edits",
    "optimal_plan",
    "runs_of",
    "settle_parity",
    "targets_per_node",
]

SORTED_AT_ONCE = 1 << 14
"""Up to so many nodes whose degree has several targets are sorted: selecting takes longer."""


class _Positions(NamedTuple):
    """Where the runs start in the descending order, with a closing entry at n."""

    first: Ints
    degree: Ints
    prefix: Ints


def _positions(runs: DegreeRuns, k: int) -> _Positions:
    n = int(runs.count.sum())
    if k < 1:
        raise ParameterError(f"k={k} is below 1. Give an integer k >= 1.")
    if n < k:
        raise InfeasibleError(
            f"k={k} needs at least {k} nodes, the data has {n}. Lower k, or add data."
        )
    largest = int(runs.degree[0])
    if largest * n >= 2**62:
        raise DataError(
            f"{n} nodes with degrees up to {largest} have sums beyond 64 bits. "
            "Degrees must be below the number of nodes."
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

    Parameters
    ----------
    runs
        The degrees of n nodes; ``degree * n`` must stay below 2**62.
    k
        The least number of nodes per target, 1 <= k <= n.
    edits
        ``"add"``: no target is below the degree. ``"any"``: targets on both sides; a group gets
        its median, and where it has two middles, any target between them (`Plan.low` and
        `Plan.high`; `Plan.target` is the lower one).
    parts
        Where no group may have nodes of several parts of the runs: the run behind each part's last
        one, ascending. Every part has at least k nodes.

    Returns
    -------
    Plan
        With `Plan.cost` = L1*. Targets lie between the smallest and the largest degree.

    Raises
    ------
    InfeasibleError
        There are fewer than k nodes.

    Notes
    -----
    The dynamic program of Liu and Terzi, section 5, over few positions: a group starts among
    the first k nodes of a run, for medians also among the last k - 1. With C such positions and D
    runs, ``"add"`` takes O(D + C), ``"any"`` O(C log C log D).

    Examples
    --------
    >>> plan = optimal_plan(runs_of(np.array([3, 2, 2, 2, 1, 1])), 3, edits="add")
    >>> plan.cost, plan.target.tolist(), plan.count.tolist()
    (4, [3, 3, 2, 2], [1, 2, 1, 2])
    """
    if edits not in {"add", "any"}:
        raise ParameterError(f'edits={edits!r} is unknown. Give "add" or "any".')
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

    Parameters
    ----------
    runs
        The degrees of n nodes; ``degree * n`` must stay below 2**62.
    k
        The least number of nodes per target, 1 <= k <= n.

    Returns
    -------
    Plan
        With `Plan.cost` the greedy's cost, at least L1*.

    Raises
    ------
    InfeasibleError
        There are fewer than k nodes.

    Notes
    -----
    The greedy of Liu and Terzi, section 5: a node joins the current group unless that costs more
    than a new group starting there. Windows are cut at n, fewer than k last nodes join the last
    group, ties merge.

    Examples
    --------
    >>> greedy_plan(runs_of(np.array([3, 2, 2, 2, 1, 1])), 3).cost
    7
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


def targets_per_node(
    degrees: NDArray[np.integer], plan: Plan, keys: NDArray[np.integer | np.floating]
) -> Ints:
    """Every node gets a target of its degree, each target as often as the plan says.

    Parameters
    ----------
    degrees
        Integer array of n entries, the degrees that the plan was made for, in any order.
    plan
        The plan.
    keys
        Array of n numbers. Among the nodes of one degree the lower key gets the higher target;
        equal keys are taken by node number. A random permutation gives random roles.

    Returns
    -------
    Ints
        int64 array of n targets.

    Notes
    -----
    O(n) through a table by degree. Only nodes whose degree has several targets are looked at
    twice: few of them are sorted, of many those of each degree are selected.

    Examples
    --------
    >>> degrees = np.array([1, 2, 3, 2, 1, 2])
    >>> plan = optimal_plan(runs_of(degrees), 3, edits="add")
    >>> targets_per_node(degrees, plan, np.array([0, 3, 1, 4, 2, 5])).tolist()
    [2, 3, 3, 3, 2, 2]
    """
    choices = choices_of(degrees, plan)
    return choices.taken(keys[choices.nodes])


class Choices(NamedTuple):
    """The targets that a plan gives nodes, and the nodes that it leaves a choice.

    Attributes
    ----------
    settled
        int64 array of n targets: those of the nodes whose degree has one target.
    nodes
        The nodes whose degree has several targets, degree by degree as the plan has them, each
        degree's in ascending order.
    sizes
        How many nodes each of these degrees has.
    pieces
        For every piece of the plan whether its degree has several targets.
    first
        The first piece of each of these degrees.
    plan
        The plan.
    """

    settled: Ints
    nodes: Ints
    sizes: Ints
    pieces: NDArray[np.bool_]
    first: Ints
    plan: Plan

    def taken(self, keys: NDArray[np.integer | np.floating]) -> Ints:
        """Return everyone's target; `keys` has one for each of `nodes`, lower ones go up."""
        target, count = self.plan.target[self.pieces], self.plan.count[self.pieces]
        out = self.settled.copy()
        if self.nodes.size <= SORTED_AT_ONCE:
            order = np.lexsort((keys, np.repeat(np.arange(self.sizes.size), self.sizes)))
            out[self.nodes[order]] = np.repeat(target, count)
            return out
        ends = np.cumsum(self.sizes)
        parts = [*np.searchsorted(np.flatnonzero(self.pieces), self.first).tolist(), target.size]
        for b, end in enumerate(ends.tolist()):
            members = slice(end - int(self.sizes[b]), end)
            mine = slice(parts[b], parts[b + 1])
            _by_key(self.nodes[members], keys[members], target[mine], count[mine], out)
        return out

    def any_piece(self, such: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for each of `nodes` whether its degree has such a piece."""
        if self.nodes.size == 0:
            return np.empty(0, dtype=np.bool_)
        starts = np.searchsorted(np.flatnonzero(self.pieces), self.first)
        return np.repeat(np.logical_or.reduceat(such[self.pieces], starts), self.sizes)


def choices_of(degrees: NDArray[np.integer], plan: Plan) -> Choices:
    """Return what the plan leaves to choose.

    Parameters
    ----------
    degrees, plan
        As `targets_per_node` takes them.

    Examples
    --------
    >>> degrees = np.array([1, 2, 3, 2, 1, 2])
    >>> choices_of(degrees, optimal_plan(runs_of(degrees), 3, edits="add")).nodes.tolist()
    [1, 3, 5]
    """
    first = np.flatnonzero(np.diff(plan.degree, prepend=-1))
    last = np.append(first[1:], plan.degree.size) - 1
    label, table = _labels(degrees, plan.degree[first])
    several = plan.target[first] != plan.target[last]
    sizes = np.add.reduceat(plan.count, first)[several]
    edges = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    bucket = np.full(first.size, -1, dtype=np.int64)
    bucket[several] = np.arange(sizes.size)
    nodes = np.empty(int(edges[-1]), dtype=np.int64)
    out = np.empty(degrees.size, dtype=np.int64)
    free = edges[:-1].copy()
    kernels.hand_out(label, plan.target[first][table], bucket[table], free, nodes, out)
    pieces = np.repeat(several, last - first + 1)
    return Choices(out, nodes, sizes, pieces, first[several], plan)


def _labels(
    degrees: NDArray[np.integer], run_degree: Ints
) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """Return a label per node and the run of each label: the degree itself if a table fits."""
    largest = int(run_degree[0])
    if largest > 8 * degrees.size + 1024:
        ascending = np.searchsorted(run_degree[::-1], degrees)
        return run_degree.size - 1 - ascending, np.arange(run_degree.size)
    table = np.zeros(largest + 1, dtype=np.intp)
    table[run_degree] = np.arange(run_degree.size)
    return degrees, table


def _by_key(
    members: Ints, keys: NDArray[np.integer | np.floating], target: Ints, count: Ints, out: Ints
) -> None:
    """Write the targets of one run's members into out, the higher targets to the lower keys."""
    for piece in range(target.size - 1):
        take = int(count[piece])
        bar = np.partition(keys, take - 1)[take - 1]
        chosen = keys < bar
        tied = np.flatnonzero(keys == bar)
        chosen[tied[: take - int(chosen.sum())]] = True
        out[members[chosen]] = target[piece]
        members, keys = members[~chosen], keys[~chosen]
    out[members] = target[-1]
