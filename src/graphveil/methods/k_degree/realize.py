"""Turn an anonymous degree sequence into edge edits of the graph, and bound how few can do.

The seven steps are numbered as in the method's description, and none gives up. Steps 1-3 match
nodes that are owed the same sign among themselves, 4-6 pay the rest with other nodes' help, 7
raises the targets and starts again. A supergraph always exists at the latest as the complete graph;
a relaxed run that does not end falls back on the supergraph, which is legal there too.

`proven` gives a lower bound on the edits, and fewer edits if it finds them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree.integer_programs import (
    Blocks,
    PlannedMoves,
    Program,
    block_program,
    blocks_of,
    carried_out,
    number_of_moves,
    planned,
    solved,
    whole_bound,
)
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.kernels.absorb import (
    absorb_owed,
    absorb_surplus,
    pair,
    rotate,
    undo_absorption,
)
from graphveil.methods.k_degree.kernels.edits import match_additions, match_deletions, swap
from graphveil.methods.k_degree.roles import (
    CellSpace,
    DegreeTask,
    KDegreeOutcome,
    by_need,
    check,
    edges_of,
    made_even,
    outcome_of,
    pairs_of,
    plan_of_cells,
    raised,
    raised_at_random,
    roles,
    sealed,
    settled_plans,
    start,
)
from graphveil.methods.k_degree.sequence import (
    Plan,
    bound_for_targets,
    lower_bound_edits,
    settle_parity,
)

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


class Realization(NamedTuple):
    """The edge edits, the degrees they lead to, and how far from the best they can be."""

    added: NDArray[np.int32]
    deleted: NDArray[np.int32]
    targets: NDArray[np.int64]
    lower_bound: int
    target_bound: int
    l1: int
    rounds: int

    @property
    def cost(self) -> int:
        """The number of edges added or deleted."""
        return len(self.added) + len(self.deleted)


def realize(
    lists: tuple[NDArray[np.int64], NDArray[np.int32]],
    k: int,
    *,
    edits: EditKind,
    target: TargetKind,
    near: bool,
    restarts: int,
    randomness: Randomness,
    colors: NDArray[np.int64] | None = None,
) -> Realization:
    """Return few edge edits after which every degree is shared by at least k nodes.

    Raises `InfeasibleError` where the graph, or a color, has fewer than k nodes. `ParameterError`
    where ``target="greedy"`` meets ``edits="any"``.

    Parameters
    ----------
    lists
        The graph: `indptr`, int64, shape (n + 1,), and `indices`, int32, shape (2 m,), neighbors
        sorted.
    k
        1 <= k <= n.
    edits
        ``"add"`` gives a supergraph, ``"any"`` may delete edges too.
    target
        ``"exact"`` starts from the optimal degree sequence, ``"greedy"`` from the greedy one.
    near
        Whether an edge that no match gives goes to a node a few steps away where there is one.
    restarts
        The least number of random starts with ``"any"``; the fewest edits win. Small graphs get
        more.
    randomness
        The source of ties and absorbers.
    colors
        int64, shape (n,): the color of every node, from 0 on without a gap. Degrees are then shared
        by at least k nodes of the color. None where all have the same.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> found = realize((star.indptr, star.indices), 2, edits="add", target="exact", near=True,
    ...                 restarts=1, randomness=Randomness(seed=1))
    >>> found.cost, sorted(found.targets.tolist())
    (2, [2, 2, 3, 3])
    """
    task = _task(*lists, k, near=near, colors=colors)
    if edits == "any" and target == "greedy":
        raise ParameterError("target='greedy' only works with edits='add'. Set edits='add'.")
    optimum = _optimum(task, edits)
    floor = lower_bound_edits(optimum.cost)
    if edits == "add":
        plan = optimum
        if target == "greedy":
            plan = plan_of_cells(task.degrees, colors, task.space, k, edits="add", greedy=True)
        best = _supergraph_best(task, plan, floor, randomness)
    else:
        best = _relaxed_best(task, optimum, floor, restarts, randomness)
    return realization_of(task, best, lower_bound=floor, l1=optimum.cost)


def _task(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    k: int,
    *,
    near: bool,
    colors: NDArray[np.int64] | None,
) -> DegreeTask:
    """Return the task, unless there are too few nodes for it."""
    degrees = np.diff(indptr)
    task = DegreeTask(sealed(indptr), sealed(indices), degrees, k, near)
    if degrees.size < k:
        raise InfeasibleError(
            f"k={k} needs at least {k} nodes; the graph has {degrees.size}. Lower k."
        )
    if colors is None:
        return task
    sizes = np.bincount(colors)
    if sizes.min() < k:
        raise InfeasibleError(
            f"k={k} needs at least {k} nodes of each color; one has {sizes.min()}. Merge colors."
        )
    return task._replace(colors=colors, numbering=CellSpace.of(degrees, sizes.size, k))


def _optimum(task: DegreeTask, edits: EditKind) -> Plan:
    return plan_of_cells(task.degrees, task.colors, task.space, task.k, edits=edits)


def realization_of(
    task: DegreeTask, best: KDegreeOutcome, *, lower_bound: int, l1: int
) -> Realization:
    """Return the edits of a run with their bounds, once its promise is counted again."""
    check(task, best)
    n = task.degrees.size
    return Realization(
        added=pairs_of(best.added, n),
        deleted=pairs_of(best.deleted, n),
        targets=best.targets,
        lower_bound=lower_bound,
        target_bound=bound_for_targets(best.targets - task.degrees),
        l1=l1,
        rounds=best.rounds,
    )


def planned_run(
    task: DegreeTask, plan: Plan, edits: EditKind, rng: np.random.Generator
) -> KDegreeOutcome | None:
    """Carry out a plan of targets by the steps of these edits; None where units remain."""
    if edits == "any":
        return _relaxed_run(task, plan, rng)
    if task.protected is not None:
        return _one_round(task, plan, rng)
    return _supergraph_run(task, _settled(task, plan), rng)


def _one_round(task: DegreeTask, plan: Plan, rng: np.random.Generator) -> KDegreeOutcome | None:
    """Take the steps with additions alone, once; return None where units remain."""
    edits, classes = start(task, roles(task, plan, rng), additions=True)
    left = _pay_by_additions(task, edits, classes, rng)
    return None if left.size else outcome_of(task, edits, classes, rounds=1)


def _settled(task: DegreeTask, plan: Plan) -> Plan:
    space = task.space
    return settle_parity(plan, task.k, space.n, edits="add", span=space.span)


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


def _supergraph_run(task: DegreeTask, plan: Plan, rng: np.random.Generator) -> KDegreeOutcome:
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
    task: DegreeTask, plan: Plan, best: KDegreeOutcome, attempts: int, rng: np.random.Generator
) -> KDegreeOutcome:
    """Look for fewer edits by other ties, another parity and other raises.

    With additions alone the edits are half of what the targets exceed the degrees by, so a try
    ends once its targets are no better than the best.
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
    task: DegreeTask,
    edits: kernel.DegreeEdits,
    classes: kernel.DegreeClasses,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Take steps 2, 3 and 5 with additions alone; return the nodes that are still owed edges."""
    _match(edits, 1, rng)
    _swap(edits, 1, rng)
    _absorb_owed(task, edits, classes, rng)
    return by_need(edits.residual, 1, rng)


def _match(edits: kernel.DegreeEdits, sign: int, rng: np.random.Generator) -> None:
    """Match nodes that are owed this sign; what has nothing to do is not even compiled."""
    left = by_need(edits.residual, sign, rng)
    if left.size:
        (match_additions if sign > 0 else match_deletions)(edits, left)


def _swap(edits: kernel.DegreeEdits, sign: int, rng: np.random.Generator) -> None:
    left = by_need(edits.residual, sign, rng)
    if left.size:
        swap(edits, left, sign, SWAP_TRIES, SWAP_BUDGET, rng)


def _absorb_surplus(
    task: DegreeTask,
    edits: kernel.DegreeEdits,
    classes: kernel.DegreeClasses,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    left = by_need(edits.residual, -1, rng)
    if left.size == 0:
        return np.zeros(3, dtype=np.int64)
    return absorb_surplus(edits, classes, left, task.k, rng)


def _absorb_owed(
    task: DegreeTask,
    edits: kernel.DegreeEdits,
    classes: kernel.DegreeClasses,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    left = by_need(edits.residual, 1, rng)
    if left.size == 0:
        return np.zeros(3, dtype=np.int64)
    order = rng.permutation(task.degrees.size)
    near_units = NEAR_UNITS if task.near else 0
    return absorb_owed(edits, classes, left, task.k, near_units, order, rng)


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
    additions_floor = lower_bound_edits(additions.cost)
    if best is not None and best.cost <= additions_floor:
        return best
    supergraph = _supergraph_best(task, additions, additions_floor, randomness)
    return supergraph if best is None or supergraph.cost < best.cost else best


def _relaxed_run(task: DegreeTask, plan: Plan, rng: np.random.Generator) -> KDegreeOutcome | None:
    """Take steps 1-6; return None where units remain.

    Surplus nodes are absorbed before edges rotate, since only their own neighbors can do that,
    while almost any node can absorb for one that is owed an edge.
    """
    goal = roles(task, plan, rng)
    edits, classes = start(task, goal, additions=False)
    owed = edits.residual
    _match(edits, -1, rng)
    _match(edits, 1, rng)
    _swap(edits, -1, rng)
    _swap(edits, 1, rng)
    last = _absorb_surplus(task, edits, classes, rng)
    surplus, lacking = by_need(owed, -1, rng), by_need(owed, 1, rng)
    if surplus.size and lacking.size:
        rotate(edits, surplus, lacking, rng)
    later = _absorb_owed(task, edits, classes, rng)
    if np.abs(owed).sum() % 2:
        undo_absorption(edits, classes, later if later[2] else last, task.k)
    left = rng.permutation(np.flatnonzero(owed))
    if left.size:
        pair(edits, left, rng)
    return None if np.any(owed) else outcome_of(task, edits, classes, rounds=1)


def apply_edits(graph: Graph, realization: Realization) -> Graph:
    """Return the graph with the realization's edges added and deleted, under the same ids.

    `graph`: the graph that was realized; `realization`: what `realize` returned for it.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> found = realize((star.indptr, star.indices), 4, edits="add", target="exact", near=True,
    ...                 restarts=1, randomness=Randomness(seed=1))
    >>> apply_edits(star, found).n_edges
    6
    """
    n = graph.n_nodes
    added, deleted = (_both_ways(edges, n) for edges in (realization.added, realization.deleted))
    indptr = np.empty(n + 1, dtype=np.int64)
    indices = np.empty(graph.indices.size + added[1].size - deleted[1].size, dtype=np.int32)
    kernel.edited_csr((graph.indptr, graph.indices), added, deleted, indptr, indices)
    return Graph(indptr, indices, graph.ids)


def _both_ways(edges: NDArray[np.int32], n: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
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
    lists: tuple[NDArray[np.int64], NDArray[np.int32]],
    known: Realization,
    k: int,
    *,
    edits: EditKind,
    prove: Prove,
    near: bool,
    randomness: Randomness,
) -> Realization:
    """Return a realization with no more edits than this one, and a bound that is no lower.

    The work is bounded by sizes and by nodes of the search, never by seconds, so that the same
    seed gives the same release. The bound is that of HiGHS, to its tolerance of 1e-6.

    `lists, known, k, edits, near`: the graph, what `realize` returned for it, and how it was
    called. Its edges are read only where the program is small; `prove`: whether the integer program
    is solved: ``auto`` where it is small; `randomness`: draws candidates; no bound hangs on it.

    Examples
    --------
    >>> from graphveil import Graph
    >>> from graphveil.methods.k_degree.realize import realize
    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4], n=6)
    >>> lists = (star.indptr, star.indices)
    >>> call = {"edits": "any", "near": True, "randomness": Randomness(seed=1)}
    >>> first = realize(lists, 3, target="exact", restarts=1, **call)
    >>> found = proven(lists, first, 3, prove="always", **call)
    >>> first.lower_bound, found.lower_bound, found.cost
    (2, 3, 3)
    """
    if prove == "never" or known.cost <= known.lower_bound:
        return known
    degrees, additions = np.diff(lists[0]), edits == "add"
    if number_of_moves(degrees, k, known.cost, additions=additions) > MOST_MOVES:
        return known
    blocks = blocks_of(degrees, edges_of(*lists))
    program = block_program(blocks, k, known.cost, additions=additions)
    bound = _bound(program, known, integer=False)[0]
    if bound >= known.cost or program.size > MOST_VARIABLES[prove]:
        return known._replace(lower_bound=bound)
    task = DegreeTask(sealed(lists[0]), sealed(lists[1]), degrees, k, near)
    best = None
    with stage("fewest edits"):
        further, values = _bound(program, known, integer=True)
        bound = max(bound, further)
        if values is not None:
            model = (blocks, program, planned(program, values))
            best = _fewer(task, known.cost, model, edits, bound, randomness)
    if best is None:
        return known._replace(lower_bound=bound)
    return realization_of(task, best, lower_bound=bound, l1=known.l1)


def _bound(
    program: Program, known: Realization, *, integer: bool
) -> tuple[int, NDArray[np.float64] | None]:
    """Return the higher of two bounds, and the best point where it has fewer edits."""
    solution = solved(program, integer=integer)
    bound = max(known.lower_bound, whole_bound(solution.bound, known.cost))
    if solution.values is None or program.cost @ solution.values > known.cost - 0.5:
        return bound, None
    return bound, solution.values


def _fewer(
    task: DegreeTask,
    known: int,
    model: tuple[Blocks, Program, PlannedMoves],
    edits: EditKind,
    enough: int,
    randomness: Randomness,
) -> KDegreeOutcome | None:
    """Return the fewest edits of several ways to carry out a plan; None where none has fewer."""
    blocks, program, plan = model
    targets, best, least = _plan_of(blocks, program, plan), None, known
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
            outcome = carried_out(task, blocks, program, plan, rng, free=free)
            useless |= {free} if outcome is None else set()
        if outcome is not None and outcome.cost < least:
            best, least = outcome, outcome.cost
    return best


def _plan_of(blocks: Blocks, program: Program, plan: PlannedMoves) -> Plan:
    """Return the targets that the program plans, by descending degree and target."""
    made = np.flatnonzero(plan.nodes)
    of_class, target = program.moves[made].T
    degree, count = blocks.degree[of_class], plan.nodes[made]
    order = np.lexsort((-target, -degree))
    degree, target, count = degree[order], target[order], count[order]
    group = np.unique(-target, return_inverse=True)[1]
    cost = int((count * np.abs(target - degree)).sum())
    return Plan(cost, degree, target, count, target, target, group)
