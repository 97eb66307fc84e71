"""Which node takes which part of a plan, and the state of a realization.

Nodes are grouped into cells of one color (the published attributes) and one degree, numbered
``color * span + degree``: a step of one degree is a step of one number, and none leads from one
color to another, since the last number of every color stays empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import new_table
from graphveil.methods.k_degree import sequence
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.kernels.edits import pull_of_neighbors
from graphveil.methods.k_degree.sequence import AllowedEdits, Choices, Flags, Floats, Ints, Plan

Nodes = NDArray[np.int32]

ROOM = 64
"""So many degrees above the largest have a number, and k more, before colors are numbered anew."""


LOCKED = -(1 << 40)
"""So few nodes has a cell that no step may leave or join."""


class CellSpace(NamedTuple):
    """How cells are numbered; several colors have an even span, so that sums keep parity."""

    n: int
    span: int
    n_colors: int = 1

    @classmethod
    def plain(cls, n: int) -> CellSpace:
        """Return the numbering of nodes without attributes: every cell is a degree."""
        return cls(n, n + 1)

    @classmethod
    def of(cls, degrees: NDArray[np.integer], n_colors: int, k: int) -> CellSpace:
        """Return a numbering with room above the largest degree."""
        most = int(degrees.max(initial=0)) + k + ROOM
        return cls(degrees.size, _even(min(degrees.size, most) + 2), n_colors)

    @property
    def size(self) -> int:
        """The numbers there are."""
        return self.span * self.n_colors

    @property
    def top(self) -> int:
        """The largest degree that has a number."""
        return min(self.n - 1, self.span - 2)

    @property
    def is_whole(self) -> bool:
        """Whether every degree that a node can have has a number."""
        return self.top == self.n - 1

    def wider(self) -> CellSpace:
        """Return a numbering of four times as many degrees."""
        return self._replace(span=_even(min(self.n + 2, 4 * self.span)))

    def degree_of(self, cells: Ints) -> Ints:
        """Return the degree of every cell."""
        return cells % self.span

    def sizes(self, cells: Ints) -> Ints:
        """Return how many of these nodes stand in every cell."""
        return np.bincount(cells, minlength=self.size)

    def open_cells(self, sizes: Ints) -> Ints:
        """Return the cells with nodes that may rise, ascending by degree."""
        used = np.flatnonzero(sizes)
        degrees = self.degree_of(used)
        used, degrees = used[degrees < self.top], degrees[degrees < self.top]
        return used if self.n_colors == 1 else used[np.argsort(degrees, kind="stable")]


def planned_change(
    degrees: NDArray[np.integer], colors: Ints, k: int, *, edits: AllowedEdits
) -> Ints:
    """Return by how much an optimal plan changes the degree of everyone."""
    space = CellSpace.of(degrees, int(colors.max()) + 1, k)
    cells = colors * space.span + degrees
    plan = plan_of_cells(degrees, colors, space, k, edits=edits)
    return np.abs(sequence.targets_per_node(cells, plan, np.arange(cells.size)) - cells)


def _even(number: int) -> int:
    return number + number % 2


def plan_of_cells(
    degrees: NDArray[np.integer],
    colors: Ints | None,
    space: CellSpace,
    k: int,
    *,
    edits: AllowedEdits,
    greedy: bool = False,
) -> Plan:
    """Return a plan of cells, color by color: every cell has at least k nodes.

    Its cost is the sum over the colors, and so the least one where it is an optimal plan.
    """
    if colors is None:
        runs = sequence.runs_of(degrees)
        return (
            sequence.greedy_plan(runs, k) if greedy else sequence.optimal_plan(runs, k, edits=edits)
        )
    if not greedy:
        runs = sequence.runs_of(colors * space.span + degrees)
        parts = np.flatnonzero(np.diff(runs.degree // space.span, append=-1)) + 1
        return sequence.optimal_plan(runs, k, edits=edits, parts=parts)
    order = np.argsort(colors, kind="stable")
    ends = np.cumsum(np.bincount(colors, minlength=space.n_colors))
    plans, groups = [], 0
    for color, nodes in reversed([*enumerate(np.split(order, ends[:-1]))]):
        plan, shift = sequence.greedy_plan(sequence.runs_of(degrees[nodes]), k), color * space.span
        shifts = (shift, shift, 0, shift, shift, groups)
        plans.append(Plan(plan.cost, *map(np.add, plan[1:], shifts)))
        groups += int(plan.group.max()) + 1
    columns = [np.concatenate(column) for column in zip(*(p[1:] for p in plans), strict=True)]
    return Plan(sum(plan.cost for plan in plans), *columns)


class DegreeTask(NamedTuple):
    """What every run of one realization shares; without colors, all nodes have the same.

    Where `protected` says for whom degrees are shared, these have the first color, others the
    second; nodes of both count.
    """

    indptr: Ints
    indices: Nodes
    degrees: Ints
    k: int
    near: bool
    colors: Ints | None = None
    numbering: CellSpace | None = None
    protected: Flags | None = None

    @property
    def space(self) -> CellSpace:
        """How cells are numbered."""
        return self.numbering or CellSpace.plain(self.degrees.size)

    def first_cells(self) -> Ints:
        """Return the cell of degree 0 of every node's color."""
        if self.colors is None:
            return np.zeros_like(self.degrees)
        return self.colors * self.space.span

    def cells(self) -> Ints:
        """Return the cell of every node."""
        return self.first_cells() + self.degrees

    def members(self, goal: Ints) -> Ints:
        """Return how many nodes have each cell, as far as a node may leave it or join it.

        Protected nodes stay. Another may leave a degree that more than k nodes, or no protected
        one, have.
        """
        space, protected = self.space, self.protected
        sizes = space.sizes(goal).astype(np.int64)
        if protected is None:
            return sizes
        of_all = sizes.reshape(2, space.span).sum(axis=0)
        needed = np.bincount(goal[protected], minlength=space.span) > 0
        free = np.where(needed, np.maximum(of_all, self.k), self.k + goal.size + 1)
        free[space.top + 1 :] = 0
        return np.concatenate((np.full(space.span, LOCKED), free)).astype(np.int64)

    def roomy(self, goal: Ints) -> tuple[DegreeTask, Ints]:
        """Return the task and the targets with cells above the largest target, where any may be."""
        space = self.space
        if space.is_whole or int(space.degree_of(goal).max()) < space.top:
            return self, goal
        wider = self._replace(numbering=space.wider())
        return wider, goal - self.first_cells() + wider.first_cells()


class KDegreeOutcome(NamedTuple):
    """The edits of one run as sorted keys ``u * n + v``, and the degrees they lead to."""

    added: Ints
    deleted: Ints
    targets: Ints
    rounds: int

    @property
    def cost(self) -> int:
        """The number of edges added or deleted."""
        return self.added.size + self.deleted.size


def start(
    task: DegreeTask, goal: Ints, *, additions: bool
) -> tuple[kernel.DegreeEdits, kernel.DegreeClasses]:
    """Return the state without edits, with room for what a unit of need may write."""
    residual = goal - task.cells()
    units = int(np.abs(residual).sum())
    room = units * (1 if additions else 2) + 64
    edits = edits_over(task.indptr, task.indices, residual, room, additions=additions)
    return edits, kernel.DegreeClasses(goal.copy(), task.members(goal), task.space.span)


def edits_over(
    indptr: Ints, indices: Nodes, residual: Ints, room: int, *, additions: bool
) -> kernel.DegreeEdits:
    """Return no edits of a graph, and room for so many."""
    table, shift = new_table(room)
    added, tally = np.empty(room, dtype=np.int64), np.array([0, 0, 0, shift], dtype=np.int64)
    deleted, final = (
        np.empty(room if some else 0, np.int64) for some in (not additions, additions)
    )
    touched = np.zeros(residual.size, dtype=np.bool_)
    lists = indptr, indices, table
    return kernel.DegreeEdits(*lists, added, deleted, final, tally, residual, touched)


def outcome_of(
    task: DegreeTask, edits: kernel.DegreeEdits, classes: kernel.DegreeClasses, rounds: int
) -> KDegreeOutcome:
    """Return what the state came to."""
    added, deleted = (_distinct(kernel.changed_pairs(edits, sign)) for sign in (1, -1))
    return KDegreeOutcome(added, deleted, classes.target - task.first_cells(), rounds)


def _distinct(keys: Ints) -> Ints:
    ordered = np.sort(keys)
    distinct: Ints = ordered[np.diff(ordered, prepend=-1) != 0]
    return distinct


def pairs_of(keys: Ints, n: int) -> Nodes:
    """Return keys as node pairs u < v."""
    return np.stack(np.divmod(keys, n), axis=1).astype(np.int32)


def edges_of(indptr: Ints, indices: Nodes) -> Nodes:
    """Return every edge of sorted lists once, the smaller end first."""
    source = np.repeat(np.arange(indptr.size - 1, dtype=np.int32), np.diff(indptr))
    forward = source < indices
    return np.column_stack([source[forward], indices[forward]])


def by_need(residual: Ints, sign: int, rng: Generator) -> Ints:
    """Return the nodes whose residual has this sign, the largest need first, ties at random."""
    need = residual * sign
    nodes = rng.permutation(np.flatnonzero(need > 0))
    return nodes[np.argsort(-need[nodes], kind="stable")]


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that kernels are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def check(task: DegreeTask, outcome: KDegreeOutcome) -> None:
    """Count the promise again from the edits alone; AssertionError is a bug of ours."""
    n = task.degrees.size
    reached = task.degrees.copy()
    for keys, sign in ((outcome.added, 1), (outcome.deleted, -1)):
        ends = np.concatenate(np.divmod(keys, n))
        reached += sign * np.bincount(ends, minlength=n)
        present = kernel.pairs_in_graph(task.indptr, task.indices, keys)
        if np.any(np.diff(keys) <= 0) or np.any(present != (sign < 0)):
            raise AssertionError("an edit is repeated, or changes nothing in the graph")
    cells = reached
    if task.colors is not None and task.protected is None:
        cells = task.colors * (int(reached.max()) + 1) + reached
    classes = np.bincount(cells)
    used = classes > 0 if task.protected is None else cells[task.protected]
    if np.any(reached != outcome.targets) or classes[used].min() < task.k:
        raise AssertionError(
            f"the realized degrees are not {task.k}-anonymous, or differ from the targets"
        )


PASSES = 3
GATHERED = 8
"""An entry of a node with a choice takes as long as so many of nodes that change."""


def roles(task: DegreeTask, plan: Plan, rng: Generator) -> Ints:
    """Return a target per node: among equals, those with few changing neighbors are raised.

    Edges are added between strangers and deleted between neighbors, so a node should be lowered
    beside nodes that are lowered, and raised away from raised ones. A first assignment is random;
    each further one weighs a node's changing neighbors by the share of their edges that changes.
    """
    cells, first = task.cells(), task.first_cells()
    ties = rng.permutation(cells.size) / cells.size
    choices = sequence.choices_of(cells, plan)
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
        pull_of_neighbors(task.indptr, task.indices, goal, fall, rise, pull)
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


def settled_plans(optimum: Plan, k: int, space: CellSpace) -> list[Plan]:
    """Return the optimal relaxed plan with its free medians chosen in different ways.

    A group of even size costs the same at every integer between its two middles.
    """
    groups, plans = _groups(optimum), list[Plan]()
    along = [_along(groups, way) for way in (1, -1)]
    for target in (*along, _inward(groups), (optimum.low + optimum.high) // 2):
        fixed = optimum._replace(target=target, low=target, high=target)
        spared = _spare_node(fixed, k, space)
        plan = sequence.settle_parity(spared, k, space.n, edits="any", span=space.span)
        if not any(all(map(np.array_equal, plan[1:4], other[1:4])) for other in plans):
            plans.append(plan)
    return plans


class _Groups(NamedTuple):
    """The groups of a plan by descending degree, and the group of every piece."""

    size: Ints
    total: Ints
    low: Ints
    high: Ints
    of_piece: NDArray[np.intp]


def _groups(plan: Plan) -> _Groups:
    _, first, of_piece = np.unique(plan.group, return_index=True, return_inverse=True)
    size = np.bincount(of_piece, weights=plan.count).astype(np.int64)
    total = np.bincount(of_piece, weights=plan.count * plan.degree).astype(np.int64)
    return _Groups(size, total, plan.low[first], plan.high[first], of_piece)


def _inward(groups: _Groups) -> Ints:
    """Choose the lowest targets down to some group and the highest below it."""
    falls = np.append(0, np.cumsum(groups.low * groups.size - groups.total))
    rises = np.append(0, np.cumsum(groups.high * groups.size - groups.total))
    turn = int(np.argmin(np.abs(falls + rises[-1] - rises)))
    chosen = np.where(np.arange(groups.size.size) < turn, groups.low, groups.high)
    return chosen[groups.of_piece]


def _along(groups: _Groups, direction: int) -> Ints:
    """Choose in turn the targets that bring the sum so far nearest to the degrees' sum."""
    way = np.arange(groups.size.size)[::direction]
    columns = (groups.size, groups.total, groups.low, groups.high)
    targets, excess = [], 0
    for size, total, low, high in np.column_stack(columns)[way].tolist():
        target = min(max(round((total - excess) / size), low), high)
        targets.append(target)
        excess += target * size - total
    chosen = np.empty_like(groups.size)
    chosen[way] = targets
    return chosen[groups.of_piece]


def _spare_node(plan: Plan, k: int, space: CellSpace) -> Plan:
    """Return the plan with an even sum where one unchanged node can give it, at cost 1.

    It comes from the largest class that can spare it and goes to a class beside it.
    """
    if plan.surplus % 2 == 0:
        return plan
    size = np.bincount(plan.target, weights=plan.count, minlength=space.size).astype(np.int64)
    kept = np.flatnonzero((plan.degree == plan.target) & (size[plan.target] > k))
    kept = kept[np.argsort(-size[plan.target[kept]], kind="stable")]
    for way in (1, -1) if plan.surplus < 0 else (-1, 1):
        beside = plan.target[kept] + way
        degree = space.degree_of(beside)
        fits = np.flatnonzero((degree > 0) & (degree < space.n) & (size[beside] >= k))
        if fits.size:
            piece, to = int(kept[fits[0]]), int(beside[fits[0]])
            plan = plan._replace(count=plan.count - (np.arange(plan.count.size) == piece))
            moved = (plan.degree[piece], to, 1, to, to, plan.group.max() + 1)
            return Plan(plan.cost, *map(np.append, plan[1:], moved))
    return plan


def raised(
    target: Ints,
    left: Ints,
    units: int,
    keys: NDArray[np.floating],
    k: int,
    space: CellSpace | None = None,
) -> Ints:
    """Return raised targets so that at least `units` more edge ends are wanted.

    Whole classes rise by one, the highest first, while no larger than what is missing; the rest is
    drawn from the largest class. Classes with nodes in `left` rise only where there are no others.
    """
    space = space or CellSpace.plain(target.size)
    goal = target.copy()
    while units > 0:
        size = space.sizes(goal)
        open_classes = space.open_cells(size)
        if open_classes.size == 0:
            break
        free = open_classes[~np.isin(open_classes, goal[left])][::-1]
        if free.size == 0:
            rises = space.degree_of(goal) < space.top
            units -= int(np.count_nonzero(rises))
            goal += rises
            continue
        whole = free[np.cumsum(size[free]) <= units]
        if whole.size:
            step = np.zeros(space.size, dtype=np.int64)
            step[whole] = 1
            units -= int(size[whole].sum())
            goal += step[goal]
        else:
            units -= _raise_part(goal, size, free, units, keys, k)
    return goal


def _raise_part(
    goal: Ints, size: Ints, free: Ints, units: int, keys: NDArray[np.floating], k: int
) -> int:
    """Raise in place what is missing from the largest class, or the smallest class if none can."""
    need = np.where(size[free + 1] >= k, units, max(units, k))
    spare = free[size[free] - need >= k]
    if spare.size:
        chosen = spare[np.argmax(size[spare])]
        count = units if size[chosen + 1] >= k else max(units, k)
    else:
        enough = free[size[free] >= units]
        chosen = enough[np.argmin(size[enough])] if enough.size else free[np.argmax(size[free])]
        count = int(size[chosen])
    members = np.flatnonzero(goal == chosen)
    goal[members[np.argsort(keys[members], kind="stable")[:count]]] += 1
    return count


def raised_at_random(target: Ints, k: int, rng: Generator, space: CellSpace | None = None) -> Ints:
    """Return targets with some class, or as few of its nodes as may leave it, one higher."""
    space = space or CellSpace.plain(target.size)
    goal = target.copy()
    size = space.sizes(goal)
    open_classes = space.open_cells(size)
    if open_classes.size:
        chosen = rng.choice(open_classes)
        members = rng.permutation(np.flatnonzero(goal == chosen))
        part = 1 if size[chosen + 1] >= k else k
        goal[members[:part] if members.size >= part + k else members] += 1
    return goal


def made_even(
    target: Ints, k: int, rng: Generator, *, hurry: float = np.inf, space: CellSpace | None = None
) -> Ints:
    """Return targets of even sum, raised by one spare node or by a whole class of odd size.

    An odd sum has a class of odd size below n - 1: otherwise n is even and odd.
    """
    if target.sum() % 2 == 0:
        return target
    space = space or CellSpace.plain(target.size)
    goal = target.copy()
    size = space.sizes(goal)
    open_classes = space.open_cells(size)
    spare = open_classes[(size[open_classes] > k) & (size[open_classes + 1] >= k)]
    odd = open_classes[size[open_classes] % 2 == 1]
    chosen = np.concatenate((spare, odd))
    nodes = np.concatenate((np.ones_like(spare), size[odd]))
    best = int(np.argmin(nodes + rng.exponential(1 / hurry, size=nodes.size)))
    members = rng.permutation(np.flatnonzero(goal == chosen[best]))
    goal[members[: nodes[best]]] += 1
    return goal
