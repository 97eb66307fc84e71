"""Graduated assignment: a soft plan that hardens while edges weigh ever more.

After Gold and Rangarajan, *A graduated assignment algorithm for graph matching*, IEEE TPAMI 1996. A
plan P says how much of every node is each node of the other network. In every step it moves half
way towards the plan that optimal transport with entropy gives for the cost D - w A P B: distances D
of surroundings, less w times the edges that a pair keeps under the present plan. The weight w grows
from step to step, which hardens the plan.

Departures: the distances D, as in FUGAL; moves go half way (damped); scaling is stopped early, and
its factors go on from step to step; known pairs are fixed. Cost: 45 steps, each n times edges and n
squared times rounds of scaling.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.assignment.frank_wolfe import Match, Plan, Ties
from graphveil.attacks.networks.assignment.fugal import sinkhorn
from graphveil.attacks.networks.assignment.surroundings import Distances
from graphveil.core.progress import in_time

WEIGHTS = np.linspace(0.5, 4.0, 45, dtype=np.float32)
"""What an edge in common is worth, step by step, in the unit of distances (a log-likelihood). 45
moves replaced 60 (two at each of 30 weights) when the work of `one_to_one.py` was halved: on 48
copies of synthetic networks and 27 of real ones as many people were named."""

ENTROPIC_ROUNDS, ENTROPIC_TOLERANCE = 50, 1e-2
"""How long rows and columns are scaled in turn in each step: rounds at most, and how near to 1 sums
are then. The next step scales on, so that this may be rough."""

LAST_WEIGHT, LAST_SHARE, LAST_STEPS = 5.0, 0.3, 10
"""What an edge is worth (`LAST_WEIGHT`), how much of the distances counts (`LAST_SHARE`) and how
many steps there are when `likeliest` softens an assignment and hardens it again."""

_IMPOSSIBLE = 1e4
"""The cost of a pair that contradicts a known one."""

_HALF = np.float32(0.5)
"""How far the plan moves in a step; whole steps may swing between two plans."""


def graduated(ties: Ties, far: Distances) -> Plan:
    """Return how likely every node is every other, by edges in common and by distances.

    Parameters
    ----------
    ties : Ties
        Both networks, and known pairs.
    far : float32, shape (n, n)
        How unlike the surroundings of each pair are, about minus a log-likelihood.

    Returns
    -------
    float32, shape (n, n)
        The plan after the last step.
    """
    cost = _with_seeds(ties, far)
    n = len(far)
    # Begin in the middle: every free person is every free node equally.
    plan = ties.with_seeds(np.full((n, n), 1 / max(n, 1), dtype=np.float32))
    columns = np.ones(n, dtype=np.float32)
    for weight in in_time(WEIGHTS):
        plan = _moved(ties, plan, cost, weight, columns)
    return plan


def likeliest(ties: Ties, match: Match, far: Distances) -> Match:
    """Return the assignment of the likeliest nodes, in place of the one that keeps most edges.

    Where many assignments keep about as many edges, what they have in common is likelier than what
    one of them says.

    Parameters
    ----------
    ties : Ties
        Both networks, and known pairs.
    match : int64, shape (n,)
        The assignment that keeps most edges.
    far : float32, shape (n, n)
        Distances of surroundings.

    Returns
    -------
    int64, shape (n,)
        The assignment.
    """
    cost = _with_seeds(ties, np.float32(LAST_SHARE) * far)
    n = match.size
    # Nine tenths on the assignment, one tenth anywhere: nearby assignments can take over.
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
    """Return the plan moved half way to what it says about every pair of nodes.

    `columns`, float32, shape (n,), are Sinkhorn's factors of columns: they are updated in place and
    go on from step to step, since a step changes them little.
    """
    # The cost: distances, less what each pair keeps under the plan.
    target = ties.gradient(plan)
    target *= -weight
    target += cost
    transported = sinkhorn(
        target, rounds=ENTROPIC_ROUNDS, tolerance=ENTROPIC_TOLERANCE, columns=columns
    )
    transported += plan
    transported *= _HALF
    return transported
