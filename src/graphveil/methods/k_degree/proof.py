"""How far the edits are from the fewest that are possible, and fewer of them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
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
from graphveil.methods.k_degree.realize import (
    EditKind,
    Realization,
    planned_run,
    realization_of,
)
from graphveil.methods.k_degree.roles import DegreeTask, KDegreeOutcome, edges_of, sealed
from graphveil.methods.k_degree.sequence import Plan

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

    Parameters
    ----------
    lists, known, k, edits, near
        The graph, what `realize` returned for it, and how it was called. Its edges are read only
        where the program is small.
    prove
        Whether the integer program is solved: ``auto`` where it is small.
    randomness
        Draws candidates; no bound hangs on it.

    Notes
    -----
    The work is bounded by sizes and by nodes of the search, never by seconds, so that the same
    seed gives the same release. The bound is that of HiGHS, to its tolerance of 1e-6.

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
