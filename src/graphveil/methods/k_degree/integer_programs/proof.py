"""Fewer edits, and a proof that no fewer are possible, by integer programs.

Step 8 of k-degree anonymity, after the realization, unless attributes are known; not in Liu and
Terzi.

1. Solve the linear relaxation of the block program: a bound on the edits of every graph with the
   guarantee, in seconds. Stop if it reaches the known edits, or if the program is too large.
2. Solve the block program itself: a higher bound, and perhaps a plan with fewer edits.
3. Carry the plan out: by the usual steps with its targets, and by the node program on samples, with
   its targets and with free ones. The fewest edits win.

Bounds and plans are those of HiGHS, to its tolerance of 1e-6; no certificate is kept. The edits are
checked like those of any run. All limits are numbers of variables and of nodes of the search
tree, never seconds, so that a seed gives the same release on every machine.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints, Nodes
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.methods.k_degree.edit_state import edges_of, sealed
from graphveil.methods.k_degree.integer_programs import block_program, node_program
from graphveil.methods.k_degree.integer_programs.solver import Program, solved, whole_bound
from graphveil.methods.k_degree.realize import EditKind, Realization, planned_run, realization_of
from graphveil.methods.k_degree.sequence import Plan
from graphveil.methods.k_degree.task import DegreeTask, KDegreeOutcome

Prove = Literal["auto", "always", "never"]
"""Whether integer programs look for fewer edits and a proof; auto: on small networks only."""

MOST_MOVES = 20_000
"""Above this number of x not even the relaxation is solved (more than some 10,000 edges)."""

MOST_VARIABLES: dict[Prove, int] = {"auto": 2_000, "always": 1 << 62}
"""Above this number of variables only the relaxation is solved, which takes seconds at most.

More lets larger networks be searched, in more time; how 2,000 was chosen is not recorded.
"""

RUNS = 8
"""How often a plan is carried out by the usual steps, each time with other random numbers."""

TRIES = 3
"""How often it is carried out by the node program, for each kind of targets (planned and free)."""


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

    Parameters
    ----------
    lists
        The neighbor lists of the graph, `indptr` (int64) and `indices` (int32).
    known
        The best realization so far; returned if there is nothing to gain.
    k, edits, near
        As in `realize.realize`.
    prove
        ``"never"`` returns `known`; ``"auto"`` solves the program itself only if it is small;
        ``"always"`` solves it up to `MOST_MOVES` of x.
    randomness
        The root of the random numbers that choose samples and carry out plans.

    Returns
    -------
    Realization
        With `lower_bound` raised where a higher bound was proved.
    """
    # L1*/2 is reached already: nothing to find and nothing to prove.
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
    # Steps 2 and 3.
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
    """Return the higher of two bounds, and the best point if it has fewer edits than known."""
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
    """Return the fewest edits of several ways to carry out a plan; None if none has fewer.

    `known` is the number of edits to beat, and `enough` the bound below which none can be.
    """
    # None: by the steps of the realization. False and True: by the node program with tight or with
    # free targets.
    targets, best, least = _plan_of(model), None, known
    ways: list[bool | None] = [None] * RUNS
    # Without deletions, free targets take minutes to solve, and are not tried.
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
