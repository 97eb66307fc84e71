"""Which node takes which part of a plan, and the state of a realization.

Targets that cannot be met are raised.

Nodes are grouped into cells of one color (the published attributes) and one degree. A cell has the
number ``color * span + degree``, so that a step of one degree is a step of one number, and no step
leads from one color to another: the last number of every color stays empty. A graph without
attributes has one color, and its cells are its degrees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import new_table
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.kernels.edits import pull_of_neighbors
from graphveil.methods.k_degree.sequence import (
    AllowedEdits,
    Choices,
    Ints,
    Plan,
    choices_of,
    greedy_plan,
    optimal_plan,
    runs_of,
    settle_parity,
    targets_per_node,
)

ROOM = 64
"""So many degrees above the largest have a number, and k more, before colors are numbered anew."""


LOCKED = -(1 << 40)
"""So few nodes has a cell that no step may leave or join."""


class CellSpace(NamedTuple):
    """How cells are numbered.

    `n`: the number of nodes: no degree is above n - 1; `span`: the numbers of one color, an even
    one where there are several: sums of numbers are then odd where those of degrees are;
    `n_colors`: the number of colors.
    """

    n: int
    span: int
    n_colors: int = 1

    @classmethod
    def plain(cls, n: int) -> CellSpace:
        """Return the numbering of nodes without attributes: every cell is a degree."""
        return cls(n, n + 1)

    @classmethod
    def of(cls, degrees: NDArray[np.integer], n_colors: int, k: int) -> CellSpace:
        """Return a numbering with room above the largest degree.

        Examples
        --------
        >>> CellSpace.of(np.array([1, 2, 1, 0, 0, 0]), 2, 2)
        CellSpace(n=6, span=8, n_colors=2)
        """
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
        degrees: Ints = cells % self.span
        return degrees

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
    """Return by how much an optimal plan changes the degree of everyone.

    `degrees, colors, k, edits`: as `plan_of_cells` takes them.

    Examples
    --------
    >>> planned_change(np.array([1, 1, 2, 5]), np.array([0, 0, 0, 0]), 2, edits="any").tolist()
    [0, 0, 0, 3]
    """
    space = CellSpace.of(degrees, int(colors.max()) + 1, k)
    cells = colors * space.span + degrees
    plan = plan_of_cells(degrees, colors, space, k, edits=edits)
    change: Ints = np.abs(targets_per_node(cells, plan, np.arange(cells.size)) - cells)
    return change


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

    Returns of cells in place of degrees. Its cost is the sum over the colors, and so the least one
    for these colors where it is an optimal plan.

    Parameters
    ----------
    degrees
        The degree of every node.
    colors
        The color of every node, 0 to n_colors - 1; None where there is one.
    space
        How cells are numbered.
    k
        The least number of nodes of a cell; every color has at least as many.
    edits, greedy
        Which plan: `optimal_plan` with these edits, or `greedy_plan`.
    """
    if colors is None:
        runs = runs_of(degrees)
        return greedy_plan(runs, k) if greedy else optimal_plan(runs, k, edits=edits)
    if not greedy:
        runs = runs_of(colors * space.span + degrees)
        parts = np.flatnonzero(np.diff(runs.degree // space.span, append=-1)) + 1
        return optimal_plan(runs, k, edits=edits, parts=parts)
    order = np.argsort(colors, kind="stable")
    ends = np.cumsum(np.bincount(colors, minlength=space.n_colors))
    plans, groups = [], 0
    for color, nodes in reversed([*enumerate(np.split(order, ends[:-1]))]):
        plan, shift = greedy_plan(runs_of(degrees[nodes]), k), color * space.span
        plans.append(
            plan._replace(
                degree=plan.degree + shift,
                target=plan.target + shift,
                low=plan.low + shift,
                high=plan.high + shift,
                group=plan.group + groups,
            )
        )
        groups += int(plan.group.max()) + 1
    columns = [np.concatenate(column) for column in zip(*(p[1:] for p in plans), strict=True)]
    return Plan(sum(plan.cost for plan in plans), *columns)


class DegreeTask(NamedTuple):
    """What every run of one realization shares; without colors, all nodes have the same.

    Where `protected` says for whom degrees are shared, these nodes have the first color and all
    others the second; nodes of both count.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    degrees: NDArray[np.int64]
    k: int
    near: bool
    colors: NDArray[np.int64] | None = None
    numbering: CellSpace | None = None
    protected: NDArray[np.bool_] | None = None

    @property
    def space(self) -> CellSpace:
        """How cells are numbered."""
        return self.numbering or CellSpace.plain(self.degrees.size)

    def first_cells(self) -> NDArray[np.int64]:
        """Return the cell of degree 0 of every node's color."""
        if self.colors is None:
            return np.zeros_like(self.degrees)
        return self.colors * self.space.span

    def cells(self) -> NDArray[np.int64]:
        """Return the cell of every node."""
        return self.first_cells() + self.degrees

    def members(self, goal: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many nodes have each cell, as far as a node may leave it or join it.

        Where some nodes are protected, these stay. Another one may leave a degree that more than k
        nodes have, or that no protected one has, and may join any.
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

    def roomy(self, goal: NDArray[np.int64]) -> tuple[DegreeTask, NDArray[np.int64]]:
        """Return the task and the targets with cells above the largest target, where any may be."""
        space = self.space
        if space.is_whole or int(space.degree_of(goal).max()) < space.top:
            return self, goal
        wider = self._replace(numbering=space.wider())
        return wider, goal - self.first_cells() + wider.first_cells()


class KDegreeOutcome(NamedTuple):
    """The edits of one run as sorted keys ``u * n + v``, and the degrees they lead to."""

    added: NDArray[np.int64]
    deleted: NDArray[np.int64]
    targets: NDArray[np.int64]
    rounds: int

    @property
    def cost(self) -> int:
        """The number of edges added or deleted."""
        return self.added.size + self.deleted.size


def start(
    task: DegreeTask, goal: NDArray[np.int64], *, additions: bool
) -> tuple[kernel.DegreeEdits, kernel.DegreeClasses]:
    """Return the state without edits, with room for what a unit of need may write."""
    residual = goal - task.cells()
    units = int(np.abs(residual).sum())
    room = units * (1 if additions else 2) + 64
    table, shift = new_table(room)
    edits = kernel.DegreeEdits(
        indptr=task.indptr,
        indices=task.indices,
        table=table,
        added=np.empty(room, dtype=np.int64),
        deleted=np.empty(0 if additions else room, dtype=np.int64),
        final=np.empty(room if additions else 0, dtype=np.int64),
        tally=np.array([0, 0, 0, shift], dtype=np.int64),
        residual=residual,
        touched=np.zeros(goal.size, dtype=np.bool_),
    )
    return edits, kernel.DegreeClasses(goal.copy(), task.members(goal), task.space.span)


def outcome_of(
    task: DegreeTask, edits: kernel.DegreeEdits, classes: kernel.DegreeClasses, rounds: int
) -> KDegreeOutcome:
    """Return what the state came to."""
    added, deleted = (_distinct(kernel.changed_pairs(edits, sign)) for sign in (1, -1))
    return KDegreeOutcome(added, deleted, classes.target - task.first_cells(), rounds)


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    ordered = np.sort(keys)
    distinct: NDArray[np.int64] = ordered[np.diff(ordered, prepend=-1) != 0]
    return distinct


def pairs_of(keys: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """Return keys as node pairs u < v."""
    return np.stack(np.divmod(keys, n), axis=1).astype(np.int32)


def edges_of(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return every edge of sorted lists once, the smaller end first."""
    source = np.repeat(np.arange(indptr.size - 1, dtype=np.int32), np.diff(indptr))
    forward = source < indices
    return np.column_stack([source[forward], indices[forward]])


def by_need(residual: NDArray[np.int64], sign: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the nodes whose residual has this sign, the largest need first, ties at random."""
    need = residual * sign
    nodes = rng.permutation(np.flatnonzero(need > 0))
    in_order: NDArray[np.int64] = nodes[np.argsort(-need[nodes], kind="stable")]
    return in_order


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that kernels are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def check(task: DegreeTask, outcome: KDegreeOutcome) -> None:
    """Count the promise again from the edits alone.

    Raises `AssertionError` where the final degrees are not k-anonymous or not the targets: a bug of
    ours.
    """
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


def roles(task: DegreeTask, plan: Plan, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a target per node: among equals, those with few changing neighbors are raised.

    Nodes of one cell are interchangeable. Edges are added between strangers and deleted between
    neighbors, so a node should be lowered beside nodes that are lowered, and raised away from
    nodes that are raised. A first assignment at random tells which nodes change; each further one
    weighs a node's changing neighbors by the share of their edges that changes.
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


Pull = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def _pull(task: DegreeTask, choices: Choices) -> Pull:
    """Return what tells of degrees to come how much neighbors of the nodes with a choice change.

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

    def of_all(goal: NDArray[np.int64]) -> NDArray[np.float64]:
        pull_of_neighbors(task.indptr, task.indices, goal, fall, rise, pull)
        return pull[choices.nodes]

    return of_all


def pull_of_few(
    task: DegreeTask, nodes: NDArray[np.int64], falls: NDArray[np.bool_], rises: NDArray[np.bool_]
) -> Pull:
    """Return `pull_of_neighbors` of these nodes, from their own lists."""
    sizes = task.degrees[nodes]
    of_entry = np.repeat(np.arange(nodes.size), sizes)
    start = task.indptr[nodes] - (np.cumsum(sizes) - sizes)
    neighbors = task.indices[np.arange(of_entry.size) + start[of_entry]]
    fall, rise = falls[of_entry], rises[of_entry]

    def of_few(goal: NDArray[np.int64]) -> NDArray[np.float64]:
        share = (goal - task.degrees) / np.maximum(task.degrees, 1)
        share[task.degrees == 0] = 0.0
        change = share[neighbors]
        counted = np.abs(change) * np.where(change < 0, fall, rise)
        return np.bincount(of_entry, counted, nodes.size).astype(np.float64, copy=False)

    return of_few


def settled_plans(optimum: Plan, k: int, space: CellSpace) -> list[Plan]:
    """Return the optimal relaxed plan with its free medians chosen in different ways.

    A group of even size costs the same at every integer between its two middles. Each way keeps
    the sum of degrees near: along the groups from the highest, from the lowest, inward (high groups
    fall, low ones rise, which no sequence of degrees forbids), and each by itself.
    """
    plans: list[Plan] = []
    for choose in (_from_the_highest, _from_the_lowest, _inward, _midway):
        target = choose(optimum)
        fixed = optimum._replace(target=target, low=target, high=target)
        spared = _spare_node(fixed, k, space)
        plan = settle_parity(spared, k, space.n, edits="any", span=space.span)
        if not any(_same(plan, other) for other in plans):
            plans.append(plan)
    return plans


def _same(plan: Plan, other: Plan) -> bool:
    return all(
        np.array_equal(mine, theirs) for mine, theirs in zip(plan[1:4], other[1:4], strict=True)
    )


def _midway(plan: Plan) -> NDArray[np.int64]:
    return (plan.low + plan.high) // 2


def _from_the_highest(plan: Plan) -> NDArray[np.int64]:
    return _along(plan, lambda groups: groups)


def _from_the_lowest(plan: Plan) -> NDArray[np.int64]:
    return _along(plan, lambda groups: groups[::-1])


class _Groups(NamedTuple):
    """The groups of a plan by descending degree, and the group of every piece."""

    size: NDArray[np.int64]
    total: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    of_piece: NDArray[np.intp]


def _groups(plan: Plan) -> _Groups:
    _, first, of_piece = np.unique(plan.group, return_index=True, return_inverse=True)
    size = np.bincount(of_piece, weights=plan.count).astype(np.int64)
    total = np.bincount(of_piece, weights=plan.count * plan.degree).astype(np.int64)
    return _Groups(size, total, plan.low[first], plan.high[first], of_piece)


def _inward(plan: Plan) -> NDArray[np.int64]:
    """Choose the lowest targets down to some group and the highest below it."""
    groups = _groups(plan)
    falls = np.append(0, np.cumsum(groups.low * groups.size - groups.total))
    rises = np.append(0, np.cumsum(groups.high * groups.size - groups.total))
    turn = int(np.argmin(np.abs(falls + rises[-1] - rises)))
    chosen = np.where(np.arange(groups.size.size) < turn, groups.low, groups.high)
    return chosen[groups.of_piece]


def _along(
    plan: Plan, order: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Choose group by group the target that brings the sum so far nearest to the degrees' sum."""
    groups = _groups(plan)
    way = order(np.arange(groups.size.size))
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

    The node comes from the largest class that can spare it and goes to the class beside it, on the
    side that brings the sum of targets nearer to that of the degrees.
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
            count = plan.count.copy()
            count[piece] -= 1
            return plan._replace(
                degree=np.append(plan.degree, plan.degree[piece]),
                target=np.append(plan.target, to),
                count=np.append(count, 1),
                low=np.append(plan.low, to),
                high=np.append(plan.high, to),
                group=np.append(plan.group, plan.group.max() + 1),
            )
    return plan


def raised(
    target: NDArray[np.int64],
    left: NDArray[np.int64],
    units: int,
    keys: NDArray[np.floating],
    k: int,
    space: CellSpace | None = None,
) -> NDArray[np.int64]:
    """Return raised targets so that at least `units` more edge ends are wanted.

    Whole classes rise by one, the highest first, while they are no larger than what is missing;
    the rest is drawn from the largest class, lower keys first. Classes with nodes in `left` rise
    only where there are no others.
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
    goal: NDArray[np.int64],
    size: NDArray[np.int64],
    free: NDArray[np.int64],
    units: int,
    keys: NDArray[np.floating],
    k: int,
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


def raised_at_random(
    target: NDArray[np.int64], k: int, rng: np.random.Generator, space: CellSpace | None = None
) -> NDArray[np.int64]:
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
    target: NDArray[np.int64],
    k: int,
    rng: np.random.Generator,
    *,
    hurry: float = np.inf,
    space: CellSpace | None = None,
) -> NDArray[np.int64]:
    """Return targets of even sum, raised by one spare node or by a whole class of odd size.

    The fewest nodes rise; with a low `hurry`, sometimes others. An odd sum has a class of odd size
    below n - 1: otherwise n is even and odd.
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
