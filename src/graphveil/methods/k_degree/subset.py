"""k-degree anonymity of some nodes: everyone on a list shares their degree with k - 1 others.

After Chester, Kapron, Srivastava and Venkatesh (*Complexity of social network anonymization*,
2013). In the descending order of degrees, protected nodes first among equals, an optimum cuts the
order into *regions*. The protected nodes of a region get one degree that some node has, and the
nearest others join them while they are fewer than k; the remaining others keep their degrees.

1. `cheapest_regions`: a dynamic program finds the regions of the least total change, for
   ``edits="any"`` and for ``"add"``. (`greedy_regions`: Liu and Terzi's greedy algorithm instead.)
2. `subset_plan`: a plan of targets from the regions. Protected nodes have color 0, others color 1,
   so that the steps of the realization keep them apart (`task.DegreeTask.members`).
3. `realize_subset`: the plan is carried out like any other, several times. The fewest edits win,
   those that protect everybody included.

Costs: O(S D k) for step 1, with D distinct degrees and S <= (5 k + 1) D steps; the other steps cost
what a run of the realization does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.randomness import Randomness
from graphveil.methods.k_degree import realize
from graphveil.methods.k_degree.cells import CellSpace
from graphveil.methods.k_degree.edit_state import sealed
from graphveil.methods.k_degree.sequence import AllowedEdits, Plan, lower_bound_edits
from graphveil.methods.k_degree.task import DegreeTask

BEYOND = 1 << 60
"""More than any total change: stands for infinity and may be added to without overflow."""


class SubsetRuns(NamedTuple):
    """How many protected nodes and others have each degree, the highest degree first.

    `degree`, `inside` (protected nodes) and `outside` (others) are int64, one entry per degree.
    """

    degree: Ints
    inside: Ints
    outside: Ints

    @classmethod
    def of(cls, degrees: NDArray[np.integer], protected: NDArray[np.bool_]) -> SubsetRuns:
        """Return the runs of some nodes."""
        present = np.flatnonzero(np.bincount(degrees))[::-1].astype(np.int64)
        sizes = [
            np.bincount(degrees[some], minlength=present.max(initial=0) + 1)[present]
            for some in (protected, ~protected)
        ]
        return cls(present, sizes[0].astype(np.int64), sizes[1].astype(np.int64))

    @property
    def first(self) -> Ints:
        """The first position of every run in the descending order, and its end."""
        return np.concatenate(([0], np.cumsum(self.inside + self.outside))).astype(np.int64)


class Regions(NamedTuple):
    """Where regions begin in the descending order, and the run whose degree each gets; int64."""

    start: Ints
    target: Ints


class _Step(NamedTuple):
    """Nodes of one run that a region takes together (`forced`), or one that it may omit.

    `position` is that of the first of the `nodes` in the descending order.
    """

    run: int
    nodes: int
    forced: bool
    position: int


def _steps(runs: SubsetRuns, k: int) -> list[_Step]:
    """Return the nodes in descending order, as few at a time as an optimum may part.

    Protected nodes of a run go to the region above, to one of the run's own degree, which costs
    nothing, and to the region below. The outer two need at most k of them each to fill up. Without
    the one between them, the cheaper of the two takes all that the other does not need. So the
    nodes between the first k and the last k never part. Each of the three regions needs at most k
    of the other nodes: more than 3 k of one degree are never taken.
    """
    steps = []
    for run, (inside, outside, first) in enumerate(
        zip(runs.inside.tolist(), runs.outside.tolist(), runs.first[:-1].tolist(), strict=True)
    ):
        # Protected nodes: k single ones at either end, and those between as one step.
        middle = inside - 2 * k
        sizes = [1] * inside if middle < 2 else [*[1] * k, middle, *[1] * k]
        at = first
        for nodes in sizes:
            steps.append(_Step(run, nodes, forced=True, position=at))
            at += nodes
        # Others of the same degree follow, one by one; a region takes them or leaves them.
        steps += [
            _Step(run, 1, forced=False, position=at + other) for other in range(min(outside, 3 * k))
        ]
    return steps


def cheapest_regions(runs: SubsetRuns, k: int, *, edits: AllowedEdits) -> tuple[int, Regions]:
    """Return the least total change of degrees, and regions that have it.

    A dynamic program over the nodes in descending order; its state is the degree of the region at
    hand, and how many of its k nodes it has. With D degrees and S <= (5 k + 1) D steps it takes
    O(S D k).

    ``value[r, j]`` is the least change with a region of run r's degree that has j nodes (k: at
    least k), `closed` that with no region at hand. ``origin[r, j]`` is the step and the run with
    which this region began, as one number, and ``before[step]`` the origin of the region that was
    closed before the step, so that the regions can be read off backwards.
    """
    steps, size = _steps(runs, k), runs.degree.size
    value = np.full((size, k + 1), BEYOND, dtype=np.int64)
    origin = np.full((size, k + 1), -1, dtype=np.int64)
    before = np.full(len(steps), -1, dtype=np.int64)
    closed, closed_by = 0, -1
    for number, step in enumerate(steps):
        # A region starts with its highest node, so that its degree is not higher than that of this
        # one ("add": nor lower). Only regions of a degree not below it may take a node ("any":
        # all).
        opened = slice(step.run, step.run + 1 if edits == "add" else size)
        takers = slice(0, step.run + 1 if edits == "add" else size)
        # Open a region of every degree for which that is cheaper than those at hand.
        better = np.flatnonzero(closed < value[opened, 0]) + step.run
        value[better, 0] = closed
        origin[better, 0] = number * size + better
        before[number] = closed_by
        # The step's nodes join the region at hand: all, or at most one if that helps it to k nodes.
        # Protected nodes cannot stay outside of regions.
        change = np.abs(runs.degree[takers, None] - runs.degree[step.run])
        if step.forced:
            _take_all(value[takers], origin[takers], step.nodes, change)
            closed = BEYOND
        else:
            _take_or_leave(value[takers], origin[takers], change)
        # Close the cheapest region that has its k nodes.
        full = int(np.argmin(value[takers, k]))
        if value[full, k] < closed:
            closed, closed_by = int(value[full, k]), int(origin[full, k])
    # Read the regions off backwards.
    start, target = [], []
    while closed_by >= 0:
        number, run = divmod(closed_by, size)
        start.append(steps[number].position)
        target.append(run)
        closed_by = int(before[number])
    return closed, Regions(*(np.array(each[::-1], dtype=np.int64) for each in (start, target)))


def _take_all(value: Ints, origin: Ints, nodes: int, change: Ints) -> None:
    """Let every region at hand take these nodes, in place.

    `value` and `origin` are rows of those of `cheapest_regions`; `change` (int64, shape (rows, 1))
    is what one of the nodes costs in each.
    """
    k = value.shape[1] - 1
    moved = np.minimum(value + nodes * change, BEYOND)
    previous_origin = origin.copy()
    value[:] = BEYOND
    # From j nodes to j + nodes, as long as these are fewer than k.
    if nodes < k:
        value[:, nodes:k] = moved[:, : k - nodes]
        origin[:, nodes:k] = previous_origin[:, : k - nodes]
    # From all others to "at least k".
    least = max(k - nodes, 0)
    best = least + np.argmin(moved[:, least:], axis=1)
    rows = np.arange(best.size)
    value[:, k] = moved[rows, best]
    origin[:, k] = previous_origin[rows, best]


def _take_or_leave(value: Ints, origin: Ints, change: Ints) -> None:
    """Let every region at hand that lacks nodes take one, if that is cheaper, in place."""
    taken = value[:, :-1] + change
    better = taken < value[:, 1:]
    previous_origin = origin[:, :-1].copy()
    value[:, 1:][better] = taken[better]
    origin[:, 1:][better] = previous_origin[better]


def greedy_regions(runs: SubsetRuns, k: int) -> Regions:
    """Return regions by Liu and Terzi's greedy algorithm, over the protected nodes; degrees rise.

    A protected node starts a region of its own if raising it and the k - 1 nodes after it to its
    degree (C_new) costs less than joining the region at hand and starting with the next protected
    node (C_merge), and the region at hand has k nodes of the order.
    """
    first, size = runs.first, runs.degree.size
    # The run and the position in the descending order of every protected node; `ends` are the sums
    # of all degrees before each run.
    ends = np.concatenate(([0], np.cumsum(runs.degree * (runs.inside + runs.outside))))
    inside = np.repeat(np.arange(size), runs.inside)
    position = (
        first[inside]
        + np.arange(inside.size)
        - np.repeat(np.cumsum(runs.inside) - runs.inside, runs.inside)
    )
    n = int(first[-1])

    def before(at: Ints) -> Ints:
        """Return the sum of the degrees before these positions."""
        run = np.minimum(np.searchsorted(first, at, side="right") - 1, size - 1)
        total: Ints = ends[run] + (at - first[run]) * runs.degree[run]
        return total

    # What the k nodes from each protected node on cost at its degree, if there are as many.
    fits = position + k <= n
    alone = k * runs.degree[inside] - (before(np.minimum(position + k, n)) - before(position))
    cost = np.append(np.where(fits, alone, BEYOND), 0)
    degree, places, run_of = runs.degree.tolist(), position.tolist(), inside.tolist()
    # A region that cannot fill up from its first protected node on begins further up.
    start = [min(places[0], n - k)]
    target = [int(np.searchsorted(first, start[0], side="right")) - 1]
    for i in range(1, len(places)):
        here, there = int(cost[i]), int(cost[i + 1])
        merged = degree[target[-1]] - degree[run_of[i]] + (there if there < BEYOND else 0)
        if here < merged and places[i] - start[-1] >= k:
            start.append(places[i])
            target.append(run_of[i])
    return Regions(np.array(start, dtype=np.int64), np.array(target, dtype=np.int64))


def subset_plan(runs: SubsetRuns, regions: Regions, k: int, space: CellSpace, cost: int) -> Plan:
    """Return the plan of cells that regions stand for; protected nodes have the first color.

    `cost` is recorded in the plan: the least total change, even if the regions are the greedy's.
    """
    pieces: dict[tuple[int, int], int] = {}
    left = runs.outside.copy()
    first, begins = runs.first, runs.first[:-1] + runs.inside
    ends = np.append(regions.start[1:], first[-1])
    for start, end, target in zip(regions.start, ends, regions.target, strict=True):
        some = np.arange(
            np.searchsorted(first, start, side="right") - 1, np.searchsorted(first, end)
        )
        # All protected nodes of the region get its degree, and as many of the nearest others as k
        # nodes lack.
        goal = int(runs.degree[target])
        inside = np.minimum(begins[some], end) - np.maximum(first[some], start)
        inside = np.maximum(inside, 0)
        others = np.minimum(first[some + 1], end) - np.maximum(begins[some], start)
        lacking = k - int(inside.sum())
        for at in np.argsort(np.abs(runs.degree[some] - goal), kind="stable").tolist():
            taken = max(min(int(others[at]), lacking), 0)
            lacking -= taken
            left[some[at]] -= taken
            degree = int(runs.degree[some[at]])
            for color, nodes in ((0, int(inside[at])), (1, taken)):
                if nodes:
                    cell = color * space.span + degree, color * space.span + goal
                    pieces[cell] = pieces.get(cell, 0) + nodes
    # All other nodes keep their degree.
    for degree, nodes in zip(runs.degree.tolist(), left.tolist(), strict=True):
        if nodes:
            cell = (space.span + degree,) * 2
            pieces[cell] = pieces.get(cell, 0) + nodes
    ordered = sorted(pieces, reverse=True)
    degree_of, target_of = np.array(ordered, dtype=np.int64).T
    count = np.array([pieces[cell] for cell in ordered], dtype=np.int64)
    group = np.unique(-target_of, return_inverse=True)[1].astype(np.int64)
    return Plan(cost, degree_of, target_of, count, target_of, target_of, group)


def subset_task(
    lists: tuple[Ints, NDArray[np.int32]], protected: NDArray[np.bool_], k: int, *, near: bool
) -> DegreeTask:
    """Return what every run shares if these nodes, at least one, are protected."""
    degrees, colors = np.diff(lists[0]), (~protected).astype(np.int64)
    space = CellSpace.of(degrees, 2, k)
    arrays = sealed(lists[0]), sealed(lists[1]), degrees
    return DegreeTask(*arrays, k, near, colors, space, protected)


def realize_subset(
    task: DegreeTask,
    whole: realize.Realization,
    *,
    edits: realize.EditKind,
    target: realize.TargetKind,
    restarts: int,
    randomness: Randomness,
) -> realize.Realization:
    """Return few edits after which the degree of every protected node is one of k nodes.

    `whole` are edits after which that is so for every node, returned unless fewer do. The other
    arguments are those of `realize.realize`; the result's `lower_bound` and `l1` are those for the
    protected nodes.
    """
    if task.protected is None:
        raise TypeError("a task of all nodes protects no subset")
    runs = SubsetRuns.of(task.degrees, task.protected)
    kinds: tuple[realize.EditKind, ...] = ("any", "add") if edits == "any" else ("add",)
    least, best = BEYOND, None
    # Plans with additions alone are legal for "any", too. Each plan is carried out several times,
    # until a run reaches the bound.
    for kind in kinds:
        cost, regions = cheapest_regions(runs, task.k, edits=kind)
        least = min(least, cost)
        if target == "greedy":
            regions = greedy_regions(runs, task.k)
        plan = subset_plan(runs, regions, task.k, task.space, cost)
        for run in range(max(restarts, realize.free_attempts(task, plan))):
            rng = randomness.stream(f"k-degree subset {kind} {run}")
            outcome = realize.planned_run(task, plan, kind, rng)
            if outcome is not None and (best is None or outcome.cost < best.cost):
                best = outcome
            if best is not None and best.cost <= lower_bound_edits(least):
                break
    bound = lower_bound_edits(least)
    if best is None or whole.cost <= best.cost:
        return whole._replace(lower_bound=bound, l1=least)
    return realize.realization_of(task, best, lower_bound=bound, l1=least)
