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

from graphveil.core.errors import DataError, InfeasibleError, ParameterError
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


class _Moves(NamedTuple):
    """Ways to make the sum odd or even: `nodes` of a class go up or down by `step`, at `cost`."""

    cost: Ints
    klass: Ints
    step: Ints
    nodes: Ints


class _Classes(NamedTuple):
    """The classes of a plan, ascending by target, and what their nodes' degrees are."""

    target: Ints
    size: Ints
    above: Ints
    below: Ints
    highest: Ints
    lowest: Ints


def settle_parity(
    plan: Plan, k: int, n: int, *, edits: AllowedEdits, span: int | None = None
) -> Plan:
    """Every target is held by at least k nodes, and the targets' sum is even.

    An odd sum is made even by the cheapest of: one node goes to the neighboring class at an odd
    distance, if k stay; a whole class of odd size moves by one; or k (k + 1 if k is even) nodes
    leave for a new class one off, if k stay. Some move always exists. If the plan is optimal and
    its cost odd, a move of cost 1 is optimal; a dearer one is not proven to be. With ``any``,
    groups with a free target first choose so that deletions balance additions. `Plan.cost` is
    unchanged, `Plan.distance` is the cost after the move.
    """
    most = int(plan.target.max())
    span = max(n, most) + 1 if span is None else span
    highest = int((plan.target % span).max())
    if highest > n - 1:
        raise InfeasibleError(
            f"A target of {highest} needs more than {n} nodes. Use degrees below {n}."
        )
    if edits == "any":
        plan = _balance(plan)
    if plan.count @ plan.target % 2 == 1:
        plan = _cheapest_move(plan, k, n, edits, span)
    return _as_classes(plan)


def _balance(plan: Plan) -> Plan:
    """Choose each group's target from low to high so that the plan's surplus is near zero."""
    group, head, of_piece = np.unique(plan.group, return_index=True, return_inverse=True)
    size = np.zeros(group.size, dtype=np.int64)
    np.add.at(size, of_piece, plan.count)
    low, room = plan.low[head], (plan.high - plan.low)[head]
    missing = -int(plan._replace(target=plan.low).surplus)
    rise = np.zeros_like(size)
    for g in np.flatnonzero(room)[np.argsort(-size[room > 0], kind="stable")]:
        rise[g] = min(int(room[g]), max(missing, 0) // int(size[g]))
        missing -= int(rise[g] * size[g])
    free = np.flatnonzero(rise < room)
    if free.size:
        best = free[np.argmin(np.abs(missing - size[free]))]
        if abs(missing - int(size[best])) < abs(missing):
            rise[best] += 1
    return plan._replace(target=(low + rise)[of_piece])


def _classes(plan: Plan) -> tuple[_Classes, Ints]:
    """Describe the classes; also return the class of each piece."""
    target, klass = np.unique(plan.target, return_inverse=True)
    counts = np.zeros((3, target.size), dtype=np.int64)
    np.add.at(counts[0], klass, plan.count)
    np.add.at(counts[1], klass, plan.count * (plan.degree > plan.target))
    np.add.at(counts[2], klass, plan.count * (plan.degree < plan.target))
    highest = np.full(target.size, -1, dtype=np.int64)
    lowest = np.full(target.size, np.iinfo(np.int64).max)
    np.maximum.at(highest, klass, plan.degree)
    np.minimum.at(lowest, klass, plan.degree)
    return _Classes(target, counts[0], counts[1], counts[2], highest, lowest), klass


def _cheapest_move(plan: Plan, k: int, n: int, edits: AllowedEdits, span: int) -> Plan:
    """Carry out the move of least cost that changes the parity of the sum."""
    classes, klass = _classes(plan)
    upward = _moves(classes, k, 1, n - 1, span)
    downward = _moves(classes, k, -1, 0, span)
    if edits == "add":
        allowed = downward.nodes <= classes.below[downward.klass]
        reached = classes.target[downward.klass] + downward.step
        allowed &= reached >= classes.lowest[downward.klass]
        downward = _Moves(*(column[allowed] for column in downward))
    moves = _Moves(*(np.concatenate(pair) for pair in zip(upward, downward, strict=True)))
    surplus = np.abs(plan.surplus + moves.step * moves.nodes)
    best = np.lexsort((-classes.size[moves.klass], surplus, moves.cost))[0]
    _, c, step, nodes = (int(column[best]) for column in moves)
    return _move(plan, np.flatnonzero(klass == c), step, nodes)


def _moves(classes: _Classes, k: int, way: int, limit: int, span: int) -> _Moves:
    """List the moves of an odd number of nodes by an odd step upward (way 1) or downward (-1)."""
    every = np.arange(classes.target.size, dtype=np.int64)
    eager = classes.above if way == 1 else classes.below
    outermost = classes.highest if way == 1 else classes.lowest
    color, degree = np.divmod(classes.target, span)
    room = (limit - degree) * way > 0
    part = k | 1

    neighbor = every[:-1] if way == 1 else every[1:]
    step = classes.target[neighbor + way] - classes.target[neighbor]
    fits = (classes.size[neighbor] > k) & (step % 2 == 1)
    fits &= color[neighbor] == color[neighbor + way]
    neighbor, step = neighbor[fits], step[fits]
    away = classes.target[neighbor] - outermost[neighbor]

    whole = every[room & (classes.size % 2 == 1)]
    split = every[room & (classes.size >= part + k)]
    nodes = np.concatenate((classes.size[whole], np.full(split.size, part)))
    shifted = np.concatenate((whole, split))
    single = (np.abs(away + step) - np.abs(away), neighbor, step, np.ones_like(neighbor))
    cost = nodes - 2 * np.minimum(nodes, eager[shifted])
    several = (cost, shifted, np.full(shifted.size, way), nodes)
    return _Moves(*(np.concatenate(both) for both in zip(single, several, strict=True)))


def _move(plan: Plan, pieces: Ints, step: int, nodes: int) -> Plan:
    """Move this many nodes of these pieces by step: the highest degrees up, the lowest down."""
    order = pieces[np.argsort(-plan.degree[pieces] if step > 0 else plan.degree[pieces])]
    before = np.cumsum(plan.count[order]) - plan.count[order]
    moved = np.clip(nodes - before, 0, plan.count[order])
    count = plan.count.copy()
    count[order] -= moved
    return plan._replace(
        degree=np.concatenate((plan.degree, plan.degree[order])),
        target=np.concatenate((plan.target, plan.target[order] + step)),
        count=np.concatenate((count, moved)),
    )


def _as_classes(plan: Plan) -> Plan:
    """Order and merge the pieces, with one group per target and no freedom left."""
    order = np.lexsort((-plan.target, -plan.degree))
    order = order[plan.count[order] > 0]
    degree, target, count = plan.degree[order], plan.target[order], plan.count[order]
    new = np.ones(degree.size, dtype=bool)
    new[1:] = (np.diff(degree) != 0) | (np.diff(target) != 0)
    start = np.flatnonzero(new)
    target = target[start]
    _, group = np.unique(-target, return_inverse=True)
    return Plan(
        cost=plan.cost,
        degree=degree[start],
        target=target,
        count=np.add.reduceat(count, start),
        low=target,
        high=target,
        group=group.astype(np.int64, copy=False),
    )


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
    return np.abs(targets_per_node(cells, plan, np.arange(cells.size)) - cells)


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
