"""Which node gets which of the targets that a plan gives its degree."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.methods.k_degree.cells import CellSpace, plan_of_cells
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.kernels import sequence as kernels
from graphveil.methods.k_degree.sequence import AllowedEdits, Flags, Floats, Ints, Plan
from graphveil.methods.k_degree.task import DegreeTask

SORTED_AT_ONCE = 1 << 14
"""Up to so many nodes whose degree has several targets are sorted: selecting takes longer."""

PASSES = 3

GATHERED = 8
"""An entry of a node with a choice takes as long as so many of nodes that change."""


def targets_per_node(
    degrees: NDArray[np.integer], plan: Plan, keys: NDArray[np.integer | np.floating]
) -> Ints:
    """Every node gets a target of its degree, each target as often as the plan says.

    Among the nodes of one degree the lower key gets the higher target, equal keys by node number.
    """
    choices = choices_of(degrees, plan)
    return choices.taken(keys[choices.nodes])


class Choices(NamedTuple):
    """The targets that a plan gives nodes, and the nodes that it leaves a choice.

    `nodes` are those whose degree has several targets, degree by degree; `sizes` how many each
    degree has, `pieces` and `first` which pieces of the plan belong to such degrees, and the first
    of each.
    """

    settled: Ints
    nodes: Ints
    sizes: Ints
    pieces: Flags
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

    def any_piece(self, such: Flags) -> Flags:
        """Return for each of `nodes` whether its degree has such a piece."""
        if self.nodes.size == 0:
            return np.empty(0, dtype=np.bool_)
        starts = np.searchsorted(np.flatnonzero(self.pieces), self.first)
        return np.repeat(np.logical_or.reduceat(such[self.pieces], starts), self.sizes)


def choices_of(degrees: NDArray[np.integer], plan: Plan) -> Choices:
    """Return what the plan leaves to choose."""
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


def planned_change(
    degrees: NDArray[np.integer], colors: Ints, k: int, *, edits: AllowedEdits
) -> Ints:
    """Return by how much an optimal plan changes the degree of everyone."""
    space = CellSpace.of(degrees, int(colors.max()) + 1, k)
    cells = colors * space.span + degrees
    plan = plan_of_cells(degrees, colors, space, k, edits=edits)
    return np.abs(targets_per_node(cells, plan, np.arange(cells.size)) - cells)


def roles(task: DegreeTask, plan: Plan, rng: Generator) -> Ints:
    """Return a target per node: among equals, those with few changing neighbors are raised.

    Edges are added between strangers and deleted between neighbors, so a node should be lowered
    next to nodes that are lowered, and raised away from raised ones. A first assignment is random;
    each further one weighs a node's changing neighbors by the share of their edges that changes.
    """
    cells, first = task.cells(), task.first_cells()
    ties = rng.permutation(cells.size) / cells.size
    choices = choices_of(cells, plan)
    ties = ties[choices.nodes]
    pull = _pull(task, choices)
    goal = choices.taken(ties)
    for _ in range(PASSES if choices.nodes.size else 0):
        goal = choices.taken(pull(goal - first) + 1e-9 * ties)
    return goal


Pull = Callable[[Ints], Floats]


def _pull(task: DegreeTask, choices: Choices) -> Pull:
    """Return what tells how much neighbors of the nodes with a choice change, for degrees to come.

    Where few have one, their own neighbors are looked at, otherwise those of all who change: the
    same numbers, summed in the same order.
    """
    plan = choices.plan
    falls = choices.any_piece(plan.target < plan.degree)
    rises = choices.any_piece(plan.target > plan.degree)
    settled = choices.settled.copy()
    settled[choices.nodes] = 0
    cells = task.cells()
    changing = task.degrees[(settled > 0) & (settled != cells)].sum()
    own = task.degrees[choices.nodes]
    if GATHERED * int(own.sum()) < int(changing):
        return pull_of_few(task, choices.nodes, falls, rises)
    fall, rise = np.zeros((2, task.degrees.size), dtype=np.bool_)
    fall[choices.nodes], rise[choices.nodes] = falls, rises
    pull = np.empty(task.degrees.size, dtype=np.float64)

    def of_all(goal: Ints) -> Floats:
        kernel.pull_of_neighbors(task.indptr, task.indices, goal, fall, rise, pull)
        return pull[choices.nodes]

    return of_all


def pull_of_few(task: DegreeTask, nodes: Ints, falls: Flags, rises: Flags) -> Pull:
    """Return `pull_of_neighbors` of these nodes, from their own lists."""
    sizes = task.degrees[nodes]
    of_entry = np.repeat(np.arange(nodes.size), sizes)
    start = task.indptr[nodes] - (np.cumsum(sizes) - sizes)
    neighbors = task.indices[np.arange(of_entry.size) + start[of_entry]]
    fall, rise = falls[of_entry], rises[of_entry]

    def of_few(goal: Ints) -> Floats:
        share = (goal - task.degrees) / np.maximum(task.degrees, 1)
        share[task.degrees == 0] = 0.0
        change = share[neighbors]
        counted = np.abs(change) * np.where(change < 0, fall, rise)
        return np.bincount(of_entry, counted, nodes.size).astype(np.float64, copy=False)

    return of_few
