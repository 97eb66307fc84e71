"""Which node gets which of the targets that a plan gives its degree.

A plan says how many nodes of each degree get which target; the nodes of one degree are otherwise
interchangeable. The choice decides how many edits the targets need: an added edge raises both of
its ends, and they must not be neighbors; a deleted one lowers both, and they must be. So nodes next
to many lowered nodes should be lowered, and nodes next to many raised ones should not be raised.
In the reference prototype this saved 0 to 8% of the edits.

Not part of Liu and Terzi, who assign the targets in the order of the sorted degrees.

1. A random assignment.
2. For each node with a choice, its *pull* downwards: how much its neighbors change, each counted
   by the share of its edges that changes. Lowered and raised neighbors both speak for a low target.
3. A new assignment: the nodes with the lowest pull get the highest targets. Steps 2 and 3 repeat.

Costs: O(n) for the choices, and for each repetition O(edges of the nodes that change) or O(edges of
the nodes with a choice), whichever is less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Flags, Floats, Ints
from graphveil.methods.k_degree.cells import CellSpace, plan_of_cells
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.kernels import sequence as kernels
from graphveil.methods.k_degree.sequence import AllowedEdits, Plan
from graphveil.methods.k_degree.task import DegreeTask

SORTED_AT_ONCE = 1 << 14
"""Up to this number of nodes with a choice, one sort assigns them all.

Above it, a selection (`np.partition`) for each target is faster than sorting. The result is the
same. How 16,384 was chosen is not recorded.
"""

PASSES = 3
"""How often the assignment is repeated with the pull of the one before.

More passes cost one look at the changing neighborhoods each. How 3 was chosen is not recorded.
"""

GATHERED = 8
"""By how much a neighbor of a node with a choice costs more than a neighbor of a changing node.

The pull is computed from the side that has less work, counted in entries of the neighbor lists:
gathering the neighbors of the nodes with a choice in NumPy takes about 8 times as long per entry as
the compiled loop over the nodes that change. It decides the time alone, not the result.
"""


def targets_per_node(
    degrees: NDArray[np.integer], plan: Plan, keys: NDArray[np.integer | np.floating]
) -> Ints:
    """Return a target for every node, each target as often as the plan says.

    Among the nodes of one degree the lower key gets the higher target, equal keys by node number.

    Parameters
    ----------
    degrees
        The degree or cell of every node, shape (n,).
    plan
        How many nodes of each degree get which target.
    keys
        One number per node, shape (n,).

    Returns
    -------
    Ints
        The target of every node, int64, shape (n,).
    """
    choices = target_choices(degrees, plan)
    return choices.targets(keys[choices.nodes])


class TargetChoices(NamedTuple):
    """The targets that a plan gives nodes, and the nodes that it leaves a choice.

    `settled` has the target of every node without a choice (int64, shape (n,); a placeholder for
    the others). `nodes` are those whose degree has several targets, degree by degree; `sizes` how
    many each such degree has. `pieces` says of each piece of the plan whether it belongs to such a
    degree, and `first` is the first piece of each.
    """

    settled: Ints
    nodes: Ints
    sizes: Ints
    pieces: Flags
    first: Ints
    plan: Plan

    def targets(self, keys: NDArray[np.integer | np.floating]) -> Ints:
        """Return the target of every node: among equals, the lowest keys get the highest targets.

        `keys` has one number for each of `nodes`, shape (nodes,).
        """
        target, count = self.plan.target[self.pieces], self.plan.count[self.pieces]
        out = self.settled.copy()
        # Few nodes: sort them by degree, then key; the pieces follow in the same order.
        if self.nodes.size <= SORTED_AT_ONCE:
            order = np.lexsort((keys, np.repeat(np.arange(self.sizes.size), self.sizes)))
            out[self.nodes[order]] = np.repeat(target, count)
            return out
        # Many: select degree by degree which nodes get the highest target, the next one, and so on.
        ends = np.cumsum(self.sizes)
        parts = [*np.searchsorted(np.flatnonzero(self.pieces), self.first).tolist(), target.size]
        for b, end in enumerate(ends.tolist()):
            members = slice(end - int(self.sizes[b]), end)
            mine = slice(parts[b], parts[b + 1])
            _by_key(self.nodes[members], keys[members], target[mine], count[mine], out)
        return out

    def any_piece(self, wanted: Flags) -> Flags:
        """Return for each of `nodes` whether any piece of its degree is wanted, bool.

        `wanted` has one entry per piece of the plan.
        """
        if self.nodes.size == 0:
            return np.empty(0, dtype=np.bool_)
        starts = np.searchsorted(np.flatnonzero(self.pieces), self.first)
        return np.repeat(np.logical_or.reduceat(wanted[self.pieces], starts), self.sizes)


def target_choices(degrees: NDArray[np.integer], plan: Plan) -> TargetChoices:
    """Return what the plan leaves to choose among nodes of these degrees or cells."""
    # The first and the last piece of each run, and whether their targets differ.
    first = np.flatnonzero(np.diff(plan.degree, prepend=-1))
    last = np.append(first[1:], plan.degree.size) - 1
    label, table = _labels(degrees, plan.degree[first])
    several = plan.target[first] != plan.target[last]
    # Runs with a choice get a bucket each, and their nodes are listed bucket by bucket.
    sizes = np.add.reduceat(plan.count, first)[several]
    edges = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    bucket = np.full(first.size, -1, dtype=np.int64)
    bucket[several] = np.arange(sizes.size)
    nodes = np.empty(int(edges[-1]), dtype=np.int64)
    out = np.empty(degrees.size, dtype=np.int64)
    free = edges[:-1].copy()
    kernels.hand_out(label, plan.target[first][table], bucket[table], free, nodes, out)
    pieces = np.repeat(several, last - first + 1)
    return TargetChoices(out, nodes, sizes, pieces, first[several], plan)


def _labels(
    degrees: NDArray[np.integer], run_degree: Ints
) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """Return a label per node and the run of each label: the degree itself if a table fits.

    The limit is that of `sequence.runs_of`: cells of many colors may be far above n.
    """
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
    """Write the targets of one run's members into out, the higher targets to the lower keys.

    `members` (nodes) and `keys` have one entry per member, `target` (descending) and `count` one
    per piece of the run.
    """
    for piece in range(target.size - 1):
        # The `take` lowest keys of the rest; nodes with the last of these keys by node number.
        take = int(count[piece])
        last = np.partition(keys, take - 1)[take - 1]
        chosen = keys < last
        tied = np.flatnonzero(keys == last)
        chosen[tied[: take - int(chosen.sum())]] = True
        out[members[chosen]] = target[piece]
        members, keys = members[~chosen], keys[~chosen]
    out[members] = target[-1]


def planned_change(
    degrees: NDArray[np.integer], colors: Ints, k: int, *, edits: AllowedEdits
) -> Ints:
    """Return by how much an optimal plan changes the degree of every node, int64, shape (n,).

    `colors` has the known attributes of every node as a number. Within a degree, which nodes change
    is decided by the node number: this is an estimate, not a release.
    """
    space = CellSpace.of(degrees, int(colors.max()) + 1, k)
    cells = colors * space.span + degrees
    plan = plan_of_cells(degrees, colors, space, k, edits=edits)
    return np.abs(targets_per_node(cells, plan, np.arange(cells.size)) - cells)


def roles(task: DegreeTask, plan: Plan, rng: Generator) -> Ints:
    """Return a target per node: of one degree, those with few changing neighbors get the highest.

    Returns the target cell of every node, int64, shape (n,). The steps are those of the module.
    """
    cells, first = task.cells(), task.first_cells()
    # Step 1: a random order, which later decides between nodes of equal pull.
    tie_breaks = rng.permutation(cells.size) / cells.size
    choices = target_choices(cells, plan)
    tie_breaks = tie_breaks[choices.nodes]
    pull = _pull(task, choices)
    goal = choices.targets(tie_breaks)
    # Steps 2 and 3. Tie breaks of at most 1e-9 decide only between nodes of nearly equal pull.
    for _ in range(PASSES if choices.nodes.size else 0):
        goal = choices.targets(pull(goal - first) + 1e-9 * tie_breaks)
    return goal


Pull = Callable[[Ints], Floats]
"""From the degrees that all nodes shall have to the pull of every node with a choice."""


def _pull(task: DegreeTask, choices: TargetChoices) -> Pull:
    """Return the function that computes the pull of the nodes with a choice.

    If few nodes have a choice, it looks at their own neighbors, otherwise at the neighbors of all
    nodes that change: the same numbers, summed in the same order.
    """
    # Lowered neighbors count only for nodes that may be lowered themselves, raised ones likewise.
    plan = choices.plan
    falls = choices.any_piece(plan.target < plan.degree)
    rises = choices.any_piece(plan.target > plan.degree)
    # Compare the entries of both sides; those of the nodes with a choice weigh GATHERED times. Of
    # the nodes that change, only those without a choice are known before the first assignment.
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
    """Return `pull_of_neighbors` of these nodes, from their own lists.

    `nodes` are int64; `falls` and `rises` say of each whether its degree has a lower or a higher
    target.
    """
    # The neighbor lists of all the nodes in one array; of_entry says whose neighbor an entry is.
    sizes = task.degrees[nodes]
    of_entry = np.repeat(np.arange(nodes.size), sizes)
    start = task.indptr[nodes] - (np.cumsum(sizes) - sizes)
    neighbors = task.indices[np.arange(of_entry.size) + start[of_entry]]
    fall, rise = falls[of_entry], rises[of_entry]

    def of_few(goal: Ints) -> Floats:
        # The share of its edges that a neighbor loses (negative) or gains.
        share = (goal - task.degrees) / np.maximum(task.degrees, 1)
        share[task.degrees == 0] = 0.0
        change = share[neighbors]
        counted = np.abs(change) * np.where(change < 0, fall, rise)
        return np.bincount(of_entry, counted, nodes.size).astype(np.float64, copy=False)

    return of_few
