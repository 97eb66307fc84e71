"""Turn an anonymous degree sequence into edge edits of the graph, and bound how few can do.

Liu and Terzi construct a graph from the sequence alone (ConstructGraph), from the sequence and the
edges that must stay (Supergraph), or from the sequence and edges that should stay (Greedy_Swap and
Priority, for their relaxed problem). Here the graph itself is edited. Each node has
``target - degree`` *units*: positive ones are paid by added edges, negative ones by deleted edges.

    step      pays
    1 DELETE  negative units of neighbors by edges between them: Havel-Hakimi  (edits="any" only)
    2 ADD     positive units of nodes without an edge between them: Havel-Hakimi, like Supergraph
    3 SWAP    two units left over: one edit (x, y) is undone, (v, x) and (w, y) take its place
    4 ROTATE  a negative unit of u and a positive one of w: edge (u, x) moves to (w, x)  ("any")
    5 ABSORB  one unit: a node whose own units are paid takes the other end, and moves to the
              class next to its own, if at least k nodes stay and at least k are there
    6 PAIR    two units by three edits, or one of each sign by four  ("any")
    7 RAISE   what is left: targets rise, the sum is made even, and steps 2, 3, 5 start again
              ("add")

With additions alone (`_supergraph_run`) step 7 ends at the latest with the complete graph, so that
a result always exists. A relaxed run (`_relaxed_run`) that leaves units is given up; the supergraph
run is then its fallback, and is legal for ``edits="any"``, too. Several runs with different random
numbers and medians compete, and the fewest edits win.

Departures from the paper: the targets are met exactly by editing, never by constructing anew, and
single units are absorbed by nodes that change class, which the paper does not do. Its bound on
edits, L1*/2, is kept and sharpened for the targets at hand (`sequence.bound_for_targets`) and by
integer programs (`integer_programs/proof.py`).

Costs: near-linear in the edges for each run. Steps 1 and 2 look at neighborhoods of changing nodes,
3, 5 and 6 are bounded by the numbers of tries below and in the kernels.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Ints, Nodes
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree import edit_state, sequence
from graphveil.methods.k_degree.assignment import roles
from graphveil.methods.k_degree.cells import CellSpace, plan_of_cells
from graphveil.methods.k_degree.kernels import absorb
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.medians import settled_plans
from graphveil.methods.k_degree.parity import settle_parity
from graphveil.methods.k_degree.raising import made_even, raised, raised_at_random
from graphveil.methods.k_degree.task import DegreeTask, KDegreeOutcome

EditKind = Literal["add", "any"]

TargetKind = Literal["exact", "greedy"]

SWAP_TRIES = 256
"""Step 3: how many edits are looked at for one swap of two units, from a random one on.

More finds more swaps, and so fewer absorptions; each costs one look at a hash. How it was chosen is
not recorded.
"""
SWAP_BUDGET = 1 << 18
"""Step 3: how many looks without success end it; each failed swap counts SWAP_TRIES of them."""
NEAR_UNITS = 64
"""Step 5: for how many of a node's units a partner is sought near it.

Hubs soon have edges to all nodes near them: the rest of their units is not worth the search.
"""
PATIENT_ROUNDS = 12
"""How many rounds raise the targets by no more than what is missing, before they double it.

Doubling bounds the number of rounds; starting it earlier raises more than needed.
"""
FREE_ATTEMPTS = 32
"""The most attempts that a graph gets without being asked for."""
FREE_WORK = 500_000
"""A graph gets more attempts than asked for, as many as fit into this many entries.

An attempt counts its nodes, its neighbor list entries and 8 for each unit of L1*. Larger values
give larger networks more attempts, and so more time.
"""


class Realization(NamedTuple):
    """The edge edits, the degrees they lead to, and how far from the best they can be.

    `added` and `deleted` are node pairs u < v, int32, shape (edits, 2); `targets` the degrees after
    them, int64, shape (n,). `lower_bound` is the fewest edits of any graph with the guarantee,
    `target_bound` the fewest for these degrees, `l1` the least total change of degrees (L1*), and
    `rounds` how often the steps started (with variations: the attempt that won).
    """

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
    """Return few edge edits after which every degree is shared by at least k nodes (of a color).

    Parameters
    ----------
    lists
        The neighbor lists of the graph, `indptr` (int64, shape (n + 1,)) and `indices` (int32).
    k
        The least number of nodes per degree, at most n (and at most the nodes of each color).
    edits
        ``"add"`` or ``"any"``.
    target
        ``"exact"`` or ``"greedy"``, the latter with ``edits="add"`` only.
    near
        Whether step 5 first looks for nodes a few steps away.
    restarts
        The least number of relaxed runs.
    randomness
        The root of all random numbers; every run has a stream of its own.
    colors
        The combination of known attributes of every node, int64, shape (n,), or None.

    Returns
    -------
    Realization
        The fewest edits of all runs, checked, and the bounds.

    Raises
    ------
    InfeasibleError
        There are fewer than k nodes.
    """
    degrees = np.diff(lists[0])
    task = DegreeTask(edit_state.sealed(lists[0]), edit_state.sealed(lists[1]), degrees, k, near)
    if colors is not None:
        numbering = CellSpace.of(degrees, int(colors.max()) + 1, k)
        task = task._replace(colors=colors, numbering=numbering)
    # Step 0: the optimal sequence. L1*/2 bounds the edits from below, whatever the target.
    optimum = _optimum(task, edits)
    floor = sequence.lower_bound_edits(optimum.cost)
    if edits == "add":
        plan = optimum
        if target == "greedy":
            plan = plan_of_cells(task.degrees, colors, task.space, k, edits="add", greedy=True)
        best = _supergraph_best(task, plan, floor, randomness)
    else:
        best = _relaxed_best(task, optimum, floor, restarts, randomness)
    return realization_of(task, best, lower_bound=floor, l1=optimum.cost)


def _optimum(task: DegreeTask, edits: EditKind) -> sequence.Plan:
    return plan_of_cells(task.degrees, task.colors, task.space, task.k, edits=edits)


def realization_of(
    task: DegreeTask, best: KDegreeOutcome, *, lower_bound: int, l1: int
) -> Realization:
    """Return the edits of a run with their bounds, once its guarantee is recomputed.

    `lower_bound` holds for every graph with the guarantee; `l1` is L1* for the same kind of edits.
    """
    edit_state.check(task, best)
    n = task.degrees.size
    return Realization(
        added=edit_state.pairs_of(best.added, n),
        deleted=edit_state.pairs_of(best.deleted, n),
        targets=best.targets,
        lower_bound=lower_bound,
        target_bound=sequence.bound_for_targets(best.targets - task.degrees),
        l1=l1,
        rounds=best.rounds,
    )


def planned_run(
    task: DegreeTask, plan: sequence.Plan, edits: EditKind, rng: Generator
) -> KDegreeOutcome | None:
    """Carry out a plan of targets by the steps of these edits; None where units remain.

    With a list of protected people there is no step 7: other plans compete instead.
    """
    if edits == "any":
        return _relaxed_run(task, plan, rng)
    if task.protected is None:
        return _supergraph_run(task, _settled(task, plan), rng)
    state, classes = edit_state.start(task, roles(task, plan, rng), additions=True)
    left = _pay_by_additions(task, state, classes, rng)
    return None if left.size else edit_state.outcome_of(task, state, classes, rounds=1)


def _settled(task: DegreeTask, plan: sequence.Plan) -> sequence.Plan:
    space = task.space
    return settle_parity(plan, task.k, space.n, edits="add", span=space.span)


def _supergraph_best(
    task: DegreeTask, plan: sequence.Plan, floor: int, randomness: Randomness
) -> KDegreeOutcome:
    """Return the fewest edits of the supergraph run and, on small graphs, of its variations.

    `floor` is the bound on edits; a run that reaches it is not varied.
    """
    best = _supergraph_run(task, _settled(task, plan), randomness.stream("k-degree supergraph"))
    attempts = free_attempts(task, plan)
    if attempts and best.cost > floor:
        rng = randomness.stream("k-degree supergraph variations")
        best = _supergraph_variations(task, plan, best, attempts, rng)
    return best


def _supergraph_run(task: DegreeTask, plan: sequence.Plan, rng: Generator) -> KDegreeOutcome:
    """Run the steps with additions alone, raising targets until they can be met."""
    n = task.degrees.size
    goal = roles(task, plan, rng)
    # contacts[v]: how many neighbors of v still lack edges, written by the kernel.
    contacts = np.empty(n, dtype=np.float64)
    rounds = 1
    while True:
        # Steps 2, 3 and 5 from the original graph.
        edits, classes = edit_state.start(task, goal, additions=True)
        left = _pay_by_additions(task, edits, classes, rng)
        if left.size == 0:
            return edit_state.outcome_of(task, edits, classes, rounds)
        # Step 7: raise as many ends as are lacking, preferring nodes that few of the nodes in need
        # are joined to, since these can become their partners. Cells are numbered anew if targets
        # reach the end of their numbers.
        units = int(edits.residual[left].sum()) << max(0, rounds - PATIENT_ROUNDS)
        kernel.marked_neighbors(task.indptr, task.indices, left, contacts)
        task, goal = task.with_room(goal)
        goal = raised(goal, left, units, contacts + rng.random(n), task.k, task.space)
        task, goal = task.with_room(goal)
        goal = made_even(goal, task.k, rng, task.space)
        rounds += 1


def _supergraph_variations(
    task: DegreeTask, plan: sequence.Plan, best: KDegreeOutcome, attempts: int, rng: Generator
) -> KDegreeOutcome:
    """Look for fewer edits by other edges, another parity and other raises.

    With additions alone the edits are half of what the targets exceed the degrees by, so a try ends
    once its targets are no better than the best.
    """
    # `fresh`: the next attempt starts from the plan, otherwise from the last targets, raised.
    fresh, first = True, task
    for attempt in range(attempts):
        if fresh:
            task = first
            goal = roles(task, plan, rng)
        else:
            task, goal = task.with_room(goal)
            goal = raised_at_random(goal, task.k, rng, task.space)
        # Another parity: rate=1 lets a dearer move win now and then.
        task, goal = task.with_room(goal)
        goal = made_even(goal, task.k, rng, task.space, rate=1.0)
        # Targets that are no lower than the best ones (as cells) need as many edits: start again.
        most = best.targets.sum() + task.first_cells().sum()
        fresh = goal.sum() >= most
        if fresh:
            continue
        edits, classes = edit_state.start(task, goal, additions=True)
        fresh = _pay_by_additions(task, edits, classes, rng).size == 0
        if fresh and classes.target.sum() < most:
            best = edit_state.outcome_of(task, edits, classes, rounds=attempt + 2)
    return best


def free_attempts(task: DegreeTask, plan: sequence.Plan) -> int:
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
    return edit_state.by_need(edits.residual, 1, rng)


def _match(edits: kernel.DegreeEdits, sign: int, rng: Generator) -> None:
    """Step 1 (sign -1) or 2 (sign 1): match nodes whose units have this sign.

    A kernel that has nothing to do is not even compiled.
    """
    left = edit_state.by_need(edits.residual, sign, rng)
    if left.size:
        (kernel.match_additions if sign > 0 else kernel.match_deletions)(edits, left)


def _swap(edits: kernel.DegreeEdits, sign: int, rng: Generator) -> None:
    """Step 3 for the units of this sign."""
    left = edit_state.by_need(edits.residual, sign, rng)
    if left.size:
        kernel.swap(edits, left, sign, SWAP_TRIES, SWAP_BUDGET, rng)


def _absorb_owed(
    task: DegreeTask, edits: kernel.DegreeEdits, classes: kernel.DegreeClasses, rng: Generator
) -> Ints:
    """Step 5 for positive units; return the last absorption as (node, absorber, 1), or zeros."""
    left = edit_state.by_need(edits.residual, 1, rng)
    if left.size == 0:
        return np.zeros(3, dtype=np.int64)
    order = rng.permutation(task.degrees.size)
    near_units = NEAR_UNITS if task.near else 0
    return absorb.absorb_owed(edits, classes, left, task.k, near_units, order, rng)


def _relaxed_best(
    task: DegreeTask, optimum: sequence.Plan, floor: int, restarts: int, randomness: Randomness
) -> KDegreeOutcome:
    """Return the fewest edits of relaxed runs and, unless these reach its bound, of additions.

    `floor` is the bound on edits: a run that reaches it ends the search.
    """
    # Relaxed runs with the different medians in turn: at least `restarts`, more on small graphs.
    # While none has succeeded, until every choice of medians was tried once.
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
    # A supergraph is legal, too. It is not tried if no supergraph can have fewer edits.
    additions = _optimum(task, "add")
    additions_floor = sequence.lower_bound_edits(additions.cost)
    if best is not None and best.cost <= additions_floor:
        return best
    supergraph = _supergraph_best(task, additions, additions_floor, randomness)
    return supergraph if best is None or supergraph.cost < best.cost else best


def _relaxed_run(task: DegreeTask, plan: sequence.Plan, rng: Generator) -> KDegreeOutcome | None:
    """Take steps 1 to 6; return None if units remain.

    Negative units are absorbed before edges rotate: only a node's own neighbors can absorb them,
    while positive units can be absorbed by any node afterwards.
    """
    goal = roles(task, plan, rng)
    edits, classes = edit_state.start(task, goal, additions=False)
    units = edits.residual
    # Steps 1 to 3: units of the same sign pay each other.
    _match(edits, -1, rng)
    _match(edits, 1, rng)
    _swap(edits, -1, rng)
    _swap(edits, 1, rng)
    # Step 5, negative units: neighbors fall to the class below.
    last, left = np.zeros(3, dtype=np.int64), edit_state.by_need(units, -1, rng)
    if left.size:
        last = absorb.absorb_surplus(edits, classes, left, task.k, rng)
    # Step 4: what is still too much at one node moves to a node that lacks it.
    surplus, lacking = edit_state.by_need(units, -1, rng), edit_state.by_need(units, 1, rng)
    if surplus.size and lacking.size:
        absorb.rotate(edits, surplus, lacking, rng)
    # Step 5, positive units: other nodes rise to the class above.
    later = _absorb_owed(task, edits, classes, rng)
    # Step 6 pays two units at a time, so an odd remainder gives its last absorption back: that of a
    # positive unit if there was one (its sign is not 0), else that of a negative one.
    if np.abs(units).sum() % 2:
        absorb.undo_absorption(edits, classes, later if later[2] else last, task.k)
    left = rng.permutation(np.flatnonzero(units))
    if left.size:
        absorb.pair(edits, left, rng)
    return None if np.any(units) else edit_state.outcome_of(task, edits, classes, rounds=1)


def apply_edits(graph: Graph, realization: Realization) -> Graph:
    """Return the graph with the realization's edges added and deleted, under the same ids.

    O(n + m): the sorted neighbor lists of the graph and of the edits are merged.
    """
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
