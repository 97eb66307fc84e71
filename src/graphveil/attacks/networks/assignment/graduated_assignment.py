"""x."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.assignment.frank_wolfe import Match, Plan, Ties
from graphveil.attacks.networks.assignment.fugal import sinkhorn
from graphveil.attacks.networks.assignment.surroundings import Distances
from graphveil.core.progress import in_time

WEIGHTS = np.linspace(0.5, 4.0, 45, dtype=np.float32)
"""What an edge in common is worth, step by step, in the unit of distances."""

ENTROPIC_ROUNDS, ENTROPIC_TOLERANCE = 50, 1e-2
"""How long rows and columns are scaled in turn."""

LAST_WEIGHT, LAST_SHARE, LAST_STEPS = 5.0, 0.3, 10
"""What edges and distances are worth when everybody's likeliest node is asked for, and for how many
steps."""

_IMPOSSIBLE = 1e4

_HALF = np.float32(0.5)


def graduated(ties: Ties, far: Distances) -> Plan:
    """Return how likely every node is every other, by edges in common and by distances.

    After the graduated assignment of Gold and Rangarajan, *A graduated assignment algorithm for
    graph matching*, IEEE TPAMI 1996: the plan moves towards the one that a step of optimal
    transport with entropy gives, while edges weigh ever more. It has a term of distances, as FUGAL.
    """
    cost = _with_seeds(ties, far)
    n = len(far)
    plan = ties.with_seeds(np.full((n, n), 1 / max(n, 1), dtype=np.float32))
    columns = np.ones(n, dtype=np.float32)
    for weight in in_time(WEIGHTS):
        plan = _moved(ties, plan, cost, weight, columns)
    return plan


def likeliest(ties: Ties, match: Match, far: Distances) -> Match:
    """Return the assignment of the likeliest nodes, in place of the one that keeps most edges.

    Where many assignments keep about as many edges, what they have in common is likelier than what
    one of them says.
    """
    cost = _with_seeds(ties, np.float32(LAST_SHARE) * far)
    n = match.size
    plan = np.full((n, n), 0.1 / max(n, 1), dtype=np.float32)
    plan[np.arange(n), match] += np.float32(0.9)
    plan = ties.with_seeds(plan)
    columns = np.ones(n, dtype=np.float32)
    for _ in in_time(range(LAST_STEPS)):
        plan = _moved(ties, plan, cost, np.float32(LAST_WEIGHT), columns)
    return ties.assigned(plan)


def _with_seeds(ties: Ties, far: Distances) -> Distances:
    """Return distances by which known people are assigned to their nodes alone."""
    known = np.flatnonzero(ties.seeds >= 0)
    cost = far.copy()
    cost[known] = _IMPOSSIBLE
    cost[:, ties.seeds[known]] = _IMPOSSIBLE
    cost[known, ties.seeds[known]] = 0
    return cost


def _moved(
    ties: Ties, plan: Plan, cost: Distances, weight: np.float32, columns: NDArray[np.float32]
) -> Plan:
    """Return the plan moved half way to what it says of every pair of nodes.

    The factors of columns go on from step to step: a step changes them little.
    """
    target = ties.gradient(plan)
    target *= -weight
    target += cost
    transported = sinkhorn(
        target, rounds=ENTROPIC_ROUNDS, tolerance=ENTROPIC_TOLERANCE, columns=columns
    )
    transported += plan
    transported *= _HALF
    return transported
