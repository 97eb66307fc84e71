"""Turn an anonymous degree sequence into edge edits of the graph, and bound how few can do.

The steps are numbered as in the method's description, and none fails. 1-3 match nodes that are
owed the same sign, 4-6 pay the rest with other nodes' help, 7 raises the targets and starts again:
at the latest the complete graph will do. A relaxed run that does not end falls back on it, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.core.kernels.arrays import new_table
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree import integer_programs as programs
from graphveil.methods.k_degree import sequence
from graphveil.methods.k_degree.kernels import absorb
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.sequence import DegreeTask, Flags, Ints, KDegreeOutcome, Nodes, Plan

EditKind = Literal["add", "any"]
TargetKind = Literal["exact", "greedy"]

SWAP_TRIES = 256
SWAP_BUDGET = 1 << 18
NEAR_UNITS = 64
"""How many of a node's units are sought near it: around hubs nothing is near for long."""
PATIENT_ROUNDS = 12
"""How many rounds raise the targets by no more than what is missing, before they double it."""
FREE_ATTEMPTS = 32
FREE_WORK = 500_000
"""A graph gets more attempts than asked for, as many as fit into this many entries."""


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
    """Return the nodes whose residual has this sign, largest need first, equal ones at random."""
    need = residual * sign
    nodes = rng.permutation(np.flatnonzero(need > 0))
    return nodes[np.argsort(-need[nodes], kind="stable")]


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that kernels are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def check(task: DegreeTask, outcome: KDegreeOutcome) -> None:
    """Count the guarantee again from the edits alone; AssertionError is a bug of ours."""
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
    next to nodes that are lowered, and raised away from raised ones. A first assignment is random;
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


Pull = Callable[[Ints], sequence.Floats]


def _pull(task: DegreeTask, choices: sequence.Choices) -> Pull:
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

    def of_all(goal: Ints) -> sequence.Floats:
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

    def of_few(goal: Ints) -> sequence.Floats:
        share = (goal - task.degrees) / np.maximum(task.degrees, 1)
        share[task.degrees == 0] = 0.0
        change = share[neighbors]
        counted = np.abs(change) * np.where(change < 0, fall, rise)
        return np.bincount(of_entry, counted, nodes.size).astype(np.float64, copy=False)

    return of_few


def settled_plans(optimum: Plan, k: int, space: sequence.CellSpace) -> list[Plan]:
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


def _spare_node(plan: Plan, k: int, space: sequence.CellSpace) -> Plan:
    """Return the plan with an even sum where one unchanged node can give it, at cost 1.

    It comes from the largest class that can spare it and goes to a class next to it.
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
    space: sequence.CellSpace | None = None,
) -> Ints:
    """Return raised targets so that at least `units` more edge ends are wanted.

    Whole classes rise by one, the highest first, while no larger than what is missing; the rest is
    drawn from the largest class. Classes with nodes in `left` rise only where there are no others.
    """
    space = space or sequence.CellSpace.plain(target.size)
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


def raised_at_random(
    target: Ints, k: int, rng: Generator, space: sequence.CellSpace | None = None
) -> Ints:
    """Return targets with some class, or as few of its nodes as may leave it, one higher."""
    space = space or sequence.CellSpace.plain(target.size)
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
    target: Ints,
    k: int,
    rng: Generator,
    *,
    hurry: float = np.inf,
    space: sequence.CellSpace | None = None,
) -> Ints:
    """Return targets of even sum, raised by one spare node or by a whole class of odd size.

    An odd sum has a class of odd size below n - 1: otherwise n is even and odd.
    """
    if target.sum() % 2 == 0:
        return target
    space = space or sequence.CellSpace.plain(target.size)
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


class Realization(NamedTuple):
    """The edge edits, the degrees they lead to, and how far from the best they can be."""

    added: Nodes
    deleted: Nodes
    targets: Ints
    lower_bound: int
    target_bound: int
    l1: int
    rounds: int

    @property
    def cost(self) -> int:
        """The number of edges added or deleted."""
        return len(self.added) + len(self.deleted)


def realize(
    lists: tuple[Ints, Nodes],
    k: int,
    *,
    edits: EditKind,
    target: TargetKind,
    near: bool,
    restarts: int,
    randomness: Randomness,
    colors: Ints | None = None,
) -> Realization:
    """Return few edge edits after which every degree is shared by at least k nodes (of a color)."""
    degrees = np.diff(lists[0])
    task = DegreeTask(sealed(lists[0]), sealed(lists[1]), degrees, k, near)
    if degrees.size < k:
        raise InfeasibleError(
            f"k={k} needs at least {k} nodes; the graph has {degrees.size}. Lower k."
        )
    if colors is not None:
        sizes = np.bincount(colors)
        if sizes.min() < k:
            raise InfeasibleError(
                f"k={k} needs at least {k} nodes of each color; one has {sizes.min()}. Merge "
                "colors."
            )
        task = task._replace(colors=colors, numbering=sequence.CellSpace.of(degrees, sizes.size, k))
    if edits == "any" and target == "greedy":
        raise ParameterError("target='greedy' only works with edits='add'. Set edits='add'.")
    optimum = _optimum(task, edits)
    floor = sequence.lower_bound_edits(optimum.cost)
    if edits == "add":
        plan = optimum
        if target == "greedy":
            plan = sequence.plan_of_cells(
                task.degrees, colors, task.space, k, edits="add", greedy=True
            )
        best = _supergraph_best(task, plan, floor, randomness)
    else:
        best = _relaxed_best(task, optimum, floor, restarts, randomness)
    return realization_of(task, best, lower_bound=floor, l1=optimum.cost)


def _optimum(task: DegreeTask, edits: EditKind) -> Plan:
    return sequence.plan_of_cells(task.degrees, task.colors, task.space, task.k, edits=edits)


def realization_of(
    task: DegreeTask, best: KDegreeOutcome, *, lower_bound: int, l1: int
) -> Realization:
    """Return the edits of a run with their bounds, once its guarantee is recomputed."""
    check(task, best)
    n = task.degrees.size
    return Realization(
        added=pairs_of(best.added, n),
        deleted=pairs_of(best.deleted, n),
        targets=best.targets,
        lower_bound=lower_bound,
        target_bound=sequence.bound_for_targets(best.targets - task.degrees),
        l1=l1,
        rounds=best.rounds,
    )


def planned_run(
    task: DegreeTask, plan: Plan, edits: EditKind, rng: Generator
) -> KDegreeOutcome | None:
    """Carry out a plan of targets by the steps of these edits; None where units remain."""
    if edits == "any":
        return _relaxed_run(task, plan, rng)
    if task.protected is None:
        return _supergraph_run(task, _settled(task, plan), rng)
    state, classes = start(task, roles(task, plan, rng), additions=True)
    left = _pay_by_additions(task, state, classes, rng)
    return None if left.size else outcome_of(task, state, classes, rounds=1)


def _settled(task: DegreeTask, plan: Plan) -> Plan:
    space = task.space
    return sequence.settle_parity(plan, task.k, space.n, edits="add", span=space.span)


def _supergraph_best(
    task: DegreeTask, plan: Plan, floor: int, randomness: Randomness
) -> KDegreeOutcome:
    """Return the fewest edits of the supergraph run and, on small graphs, of its variations."""
    best = _supergraph_run(task, _settled(task, plan), randomness.stream("k-degree supergraph"))
    attempts = free_attempts(task, plan)
    if attempts and best.cost > floor:
        rng = randomness.stream("k-degree supergraph variations")
        best = _supergraph_variations(task, plan, best, attempts, rng)
    return best


def _supergraph_run(task: DegreeTask, plan: Plan, rng: Generator) -> KDegreeOutcome:
    """Run the steps with additions alone, raising targets until they can be met."""
    n = task.degrees.size
    goal = roles(task, plan, rng)
    contacts = np.empty(n, dtype=np.float64)
    rounds = 1
    while True:
        edits, classes = start(task, goal, additions=True)
        left = _pay_by_additions(task, edits, classes, rng)
        if left.size == 0:
            return outcome_of(task, edits, classes, rounds)
        units = int(edits.residual[left].sum()) << max(0, rounds - PATIENT_ROUNDS)
        kernel.marked_neighbors(task.indptr, task.indices, left, contacts)
        task, goal = task.roomy(goal)
        goal = raised(goal, left, units, contacts + rng.random(n), task.k, task.space)
        task, goal = task.roomy(goal)
        goal = made_even(goal, task.k, rng, space=task.space)
        rounds += 1


def _supergraph_variations(
    task: DegreeTask, plan: Plan, best: KDegreeOutcome, attempts: int, rng: Generator
) -> KDegreeOutcome:
    """Look for fewer edits by other edges, another parity and other raises.

    With additions alone the edits are half of what the targets exceed the degrees by, so a try ends
    once its targets are no better than the best.
    """
    fresh, first = True, task
    for attempt in range(attempts):
        if fresh:
            task = first
            goal = roles(task, plan, rng)
        else:
            task, goal = task.roomy(goal)
            goal = raised_at_random(goal, task.k, rng, task.space)
        task, goal = task.roomy(goal)
        goal = made_even(goal, task.k, rng, hurry=1.0, space=task.space)
        most = best.targets.sum() + task.first_cells().sum()
        fresh = goal.sum() >= most
        if fresh:
            continue
        edits, classes = start(task, goal, additions=True)
        fresh = _pay_by_additions(task, edits, classes, rng).size == 0
        if fresh and classes.target.sum() < most:
            best = outcome_of(task, edits, classes, rounds=attempt + 2)
    return best


def free_attempts(task: DegreeTask, plan: Plan) -> int:
    """Return how many more attempts a graph of this size gets unasked."""
    work = task.degrees.size + task.indices.size + 8 * plan.cost
    return min(FREE_ATTEMPTS, FREE_WORK // work)


def _pay_by_additions(
    task: DegreeTask, edits: kernel.DegreeEdits, classes: kernel.DegreeClasses, rng: Generator
) -> Ints:
    """Take steps 2, 3 and 5 with additions alone; return the nodes that are still owed edges."""
    _match(edits, 1, rng)
    _swap(edits, 1, rng)
    _absorb_owed(task, edits, classes, rng)
    return by_need(edits.residual, 1, rng)


def _match(edits: kernel.DegreeEdits, sign: int, rng: Generator) -> None:
    """Match nodes that are owed this sign; what has nothing to do is not even compiled."""
    left = by_need(edits.residual, sign, rng)
    if left.size:
        (kernel.match_additions if sign > 0 else kernel.match_deletions)(edits, left)


def _swap(edits: kernel.DegreeEdits, sign: int, rng: Generator) -> None:
    left = by_need(edits.residual, sign, rng)
    if left.size:
        kernel.swap(edits, left, sign, SWAP_TRIES, SWAP_BUDGET, rng)


def _absorb_owed(
    task: DegreeTask, edits: kernel.DegreeEdits, classes: kernel.DegreeClasses, rng: Generator
) -> Ints:
    left = by_need(edits.residual, 1, rng)
    if left.size == 0:
        return np.zeros(3, dtype=np.int64)
    order = rng.permutation(task.degrees.size)
    near_units = NEAR_UNITS if task.near else 0
    return absorb.absorb_owed(edits, classes, left, task.k, near_units, order, rng)


def _relaxed_best(
    task: DegreeTask, optimum: Plan, floor: int, restarts: int, randomness: Randomness
) -> KDegreeOutcome:
    """Return the fewest edits of the relaxed runs and, unless they beat its bound, of the other."""
    plans = settled_plans(optimum, task.k, task.space)
    best: KDegreeOutcome | None = None
    runs = max(restarts, free_attempts(task, optimum))
    for run in range(max(runs, len(plans))):
        if run >= runs and best is not None:
            break
        rng = randomness.stream(f"k-degree relaxed {run}")
        outcome = _relaxed_run(task, plans[run % len(plans)], rng)
        if outcome is not None and (best is None or outcome.cost < best.cost):
            best = outcome
            if best.cost <= floor:
                return best
    additions = _optimum(task, "add")
    additions_floor = sequence.lower_bound_edits(additions.cost)
    if best is not None and best.cost <= additions_floor:
        return best
    supergraph = _supergraph_best(task, additions, additions_floor, randomness)
    return supergraph if best is None or supergraph.cost < best.cost else best


def _relaxed_run(task: DegreeTask, plan: Plan, rng: Generator) -> KDegreeOutcome | None:
    """Take steps 1-6; return None where units remain.

    Surplus nodes are absorbed before edges rotate, since only their own neighbors can do that.
    """
    goal = roles(task, plan, rng)
    edits, classes = start(task, goal, additions=False)
    owed = edits.residual
    _match(edits, -1, rng)
    _match(edits, 1, rng)
    _swap(edits, -1, rng)
    _swap(edits, 1, rng)
    last, left = np.zeros(3, dtype=np.int64), by_need(owed, -1, rng)
    if left.size:
        last = absorb.absorb_surplus(edits, classes, left, task.k, rng)
    surplus, lacking = by_need(owed, -1, rng), by_need(owed, 1, rng)
    if surplus.size and lacking.size:
        absorb.rotate(edits, surplus, lacking, rng)
    later = _absorb_owed(task, edits, classes, rng)
    if np.abs(owed).sum() % 2:
        absorb.undo_absorption(edits, classes, later if later[2] else last, task.k)
    left = rng.permutation(np.flatnonzero(owed))
    if left.size:
        absorb.pair(edits, left, rng)
    return None if np.any(owed) else outcome_of(task, edits, classes, rounds=1)


def apply_edits(graph: Graph, realization: Realization) -> Graph:
    """Return the graph with the realization's edges added and deleted, under the same ids."""
    n = graph.n_nodes
    added, deleted = (_both_ways(edges, n) for edges in (realization.added, realization.deleted))
    indptr = np.empty(n + 1, dtype=np.int64)
    indices = np.empty(graph.indices.size + added[1].size - deleted[1].size, dtype=np.int32)
    kernel.edited_csr((graph.indptr, graph.indices), added, deleted, indptr, indices)
    return Graph(indptr, indices, graph.ids)


def _both_ways(edges: Nodes, n: int) -> tuple[Ints, Nodes]:
    """Return the sorted neighbor lists of these edges alone."""
    source = np.concatenate((edges[:, 0], edges[:, 1]))
    target = np.concatenate((edges[:, 1], edges[:, 0]))
    order = np.lexsort((target, source))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=n)))).astype(np.int64)
    return indptr, target[order]


Prove = Literal["auto", "always", "never"]
"""Whether an integer program looks for fewer edits and a proof."""

MOST_MOVES = 20_000
"""Of programs with more moves not even the relaxation is solved."""

MOST_VARIABLES: dict[Prove, int] = {"auto": 2_000, "always": 1 << 62}
"""Programs with more variables are solved as relaxations alone: those take seconds at most."""

RUNS = 8
TRIES = 3
"""So often a plan is carried out by the usual steps, and by each program over nodes."""


def proven(
    lists: tuple[Ints, Nodes],
    known: Realization,
    k: int,
    *,
    edits: EditKind,
    prove: Prove,
    near: bool,
    randomness: Randomness,
) -> Realization:
    """Return a realization with no more edits than this one, and a bound at least as high.

    The work is bounded by sizes and by nodes of the search, never by seconds, so that the same seed
    gives the same release. The bound is that of HiGHS, to its tolerance of 1e-6.
    """
    if prove == "never" or known.cost <= known.lower_bound:
        return known
    degrees, additions = np.diff(lists[0]), edits == "add"
    if programs.number_of_moves(degrees, k, known.cost, additions=additions) > MOST_MOVES:
        return known
    blocks = programs.blocks_of(degrees, edges_of(*lists))
    program = programs.block_program(blocks, k, known.cost, additions=additions)
    bound = _bound(program, known, integer=False)[0]
    if bound >= known.cost or program.size > MOST_VARIABLES[prove]:
        return known._replace(lower_bound=bound)
    task = DegreeTask(sealed(lists[0]), sealed(lists[1]), degrees, k, near)
    best = None
    with stage("fewest edits"):
        further, values = _bound(program, known, integer=True)
        bound = max(bound, further)
        if values is not None:
            model = programs.PlannedProgram(blocks, program, programs.planned(program, values))
            best = _fewer(task, known.cost, model, edits, bound, randomness)
    if best is None:
        return known._replace(lower_bound=bound)
    return realization_of(task, best, lower_bound=bound, l1=known.l1)


def _bound(
    program: programs.Program, known: Realization, *, integer: bool
) -> tuple[int, NDArray[np.float64] | None]:
    """Return the higher of two bounds, and the best point where it has fewer edits."""
    solution = programs.solved(program, integer=integer)
    bound = max(known.lower_bound, programs.whole_bound(solution.bound, known.cost))
    if solution.values is None or program.cost @ solution.values > known.cost - 0.5:
        return bound, None
    return bound, solution.values


def _fewer(
    task: DegreeTask,
    known: int,
    model: programs.PlannedProgram,
    edits: EditKind,
    enough: int,
    randomness: Randomness,
) -> KDegreeOutcome | None:
    """Return the fewest edits of several ways to carry out a plan; None where none has fewer."""
    targets, best, least = _plan_of(model), None, known
    ways: list[bool | None] = [None] * RUNS
    # targets that are free cost minutes where nothing may be deleted
    ways += ([False] if edits == "add" else [False, True]) * TRIES
    useless = set()
    for number, free in enumerate(ways):
        if free in useless or least <= enough:
            continue
        rng = randomness.stream(f"k-degree plan {number}")
        if free is None:
            outcome = planned_run(task, targets, edits, rng)
        else:
            outcome = programs.carried_out(task, model, rng, free=free)
            useless |= {free} if outcome is None else set()
        if outcome is not None and outcome.cost < least:
            best, least = outcome, outcome.cost
    return best


def _plan_of(model: programs.PlannedProgram) -> Plan:
    """Return the targets that the program plans, by descending degree and target."""
    blocks, program, plan = model
    made = np.flatnonzero(plan.nodes)
    of_class, target = program.moves[made].T
    degree, count = blocks.degree[of_class], plan.nodes[made]
    order = np.lexsort((-target, -degree))
    degree, target, count = degree[order], target[order], count[order]
    group = np.unique(-target, return_inverse=True)[1]
    cost = int((count * np.abs(target - degree)).sum())
    return Plan(cost, degree, target, count, target, target, group)
