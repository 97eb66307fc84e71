"""Fewer edits, and a proof that no fewer are possible, by integer programs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.methods.k_degree import block_program, node_program
from graphveil.methods.k_degree.edit_state import edges_of, sealed
from graphveil.methods.k_degree.integer_programs import Program, solved, whole_bound
from graphveil.methods.k_degree.realize import EditKind, Realization, planned_run, realization_of
from graphveil.methods.k_degree.sequence import Ints, Nodes, Plan
from graphveil.methods.k_degree.task import DegreeTask, KDegreeOutcome

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
    if block_program.number_of_moves(degrees, k, known.cost, additions=additions) > MOST_MOVES:
        return known
    blocks = block_program.blocks_of(degrees, edges_of(*lists))
    program = block_program.block_program(blocks, k, known.cost, additions=additions)
    bound = _bound(program, known, integer=False)[0]
    if bound >= known.cost or program.size > MOST_VARIABLES[prove]:
        return known._replace(lower_bound=bound)
    task = DegreeTask(sealed(lists[0]), sealed(lists[1]), degrees, k, near)
    best = None
    with stage("fewest edits"):
        further, values = _bound(program, known, integer=True)
        bound = max(bound, further)
        if values is not None:
            model = node_program.PlannedProgram(
                blocks, program, node_program.planned(program, values)
            )
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
    model: node_program.PlannedProgram,
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
            outcome = node_program.carried_out(task, model, rng, free=free)
            useless |= {free} if outcome is None else set()
        if outcome is not None and outcome.cost < least:
            best, least = outcome, outcome.cost
    return best


def _plan_of(model: node_program.PlannedProgram) -> Plan:
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
