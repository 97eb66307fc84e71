"""Assignments of one network's nodes to another's that keep ties, step by step."""

from __future__ import annotations

import numpy as np

from graphveil.attacks.networks.ties import Match, Plan, Ties

STEPS, LEAST_GAIN = 30, 1e-4
"""Steps of `faq` at most; it ends where a step promises a smaller share of what is reached."""

REPEATS = 40
"""How often `climbed` assigns at most."""

_OWN = 0.01


def faq(ties: Ties, plan: Plan) -> Match:
    """Return an assignment that keeps many ties, from a smooth plan on.

    Parameters
    ----------
    ties
        The two networks, and who is known.
    plan
        float32, shape (n, n): where it starts; rows and columns add up to 1.

    Notes
    -----
    FAQ: Vogelstein et al., *Fast approximate quadratic programming for graph matching*, PLOS ONE
    2015; with known pairs: Fishkind et al., *Seeded graph matching*, Pattern Recognition 2019. A
    step of Frank and Wolfe maximizes the linear part, which is an assignment, and goes as far
    towards it as the quadratic one rises. The gradient is linear in the plan, so a step adds the
    gradient of an assignment, a product of sparse matrices.
    """
    plan = ties.with_seeds(plan)
    worth = ties.gradient(plan)
    everybody = np.arange(plan.shape[0])
    for _ in range(STEPS):
        match = ties.assigned(worth)
        of_match = ties.gradient_of(match)
        here = float(np.einsum("ij,ij->", worth, plan, dtype=np.float64))
        across = float(worth[everybody, match].sum(dtype=np.float64))
        there = float(of_match[everybody, match].sum(dtype=np.float64))
        slope, curve = across - here, there - 2 * across + here
        if slope <= LEAST_GAIN * abs(here):
            break
        length = np.float32(min(1.0, -slope / curve) if curve < 0 else 1.0)
        plan *= 1 - length
        plan[everybody, match] += length
        worth += length * (of_match - worth)
    return ties.assigned(plan)


def climbed(ties: Ties, match: Match) -> tuple[Match, float]:
    """Return the best of repeated assignments, and what it keeps.

    Everybody is assigned the node of which most neighbors are assigned to their neighbors, again
    and again until what is kept no longer rises.
    """
    most = ties.kept(match)
    everybody = np.arange(match.size)
    for _ in range(REPEATS):
        worth = ties.gradient_of(match)
        worth[everybody, match] += np.float32(_OWN)
        following = ties.assigned(worth)
        kept = ties.kept(following)
        if kept <= most:
            break
        match, most = following, kept
    return match, most
