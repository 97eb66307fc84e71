"""Turn an anonymous degree sequence into edge edits of the graph, and bound how few can do.

The steps are numbered as in the method's description, and none fails. 1-3 match nodes that are
owed the same sign, 4-6 pay the rest with other nodes' help, 7 raises the targets and starts again:
at the latest the complete graph will do. A relaxed run that does not end falls back on it, too.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree.assignment import roles
from graphveil.methods.k_degree.cells import CellSpace, plan_of_cells
from graphveil.methods.k_degree.edit_state import (
    by_need,
    check,
    outcome_of,
    pairs_of,
    sealed,
    start,
)
from graphveil.methods.k_degree.kernels import absorb
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.medians import settled_plans
from graphveil.methods.k_degree.parity import settle_parity
from graphveil.methods.k_degree.raising import made_even, raised, raised_at_random
from graphveil.methods.k_degree.sequence import (
    Ints,
    Nodes,
    Plan,
    bound_for_targets,
    lower_bound_edits,
)
from graphveil.methods.k_degree.task import DegreeTask, KDegreeOutcome

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
    if colors is not None:
        numbering = CellSpace.of(degrees, int(colors.max()) + 1, k)
        task = task._replace(colors=colors, numbering=numbering)
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


def _optimum(task: DegreeTask, edits: EditKind) -> Plan:
    return plan_of_cells(task.degrees, task.colors, task.space, task.k, edits=edits)


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
        target_bound=bound_for_targets(best.targets - task.degrees),
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
    additions_floor = lower_bound_edits(additions.cost)
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
