"""Simulated annealing: one loop for all walks.

Which walk it is, over a pool of pairs or with aims, is known when the loop is compiled: the other
argument is None, and with it goes all that asks for it.
"""

from __future__ import annotations

import math

import numpy as np

from graphveil.core.kernels.leaf import leaf
from graphveil.methods.structural.kernels import pooled
from graphveil.methods.structural.kernels import starts as proposals
from graphveil.methods.structural.kernels import target as aimed
from graphveil.methods.structural.kernels import target as moves
from graphveil.methods.structural.kernels.classes import (
    Odds,
    Schedule,
    energy_of,
    list_unprotected,
    nearly_unprotected,
    tallies,
    unprotected_of,
)
from graphveil.methods.structural.kernels.pooled import AnnealingState
from graphveil.methods.structural.kernels.target import TargetState

RENEWAL = 256
"""Proposals at least between two lists of the unprotected nodes."""


@leaf
def attempt(
    annealing: AnnealingState | None,
    target_state: TargetState | None,
    size: int,
    more: int,
    plan: Schedule,
    bar: float,
) -> None:
    """Make the trial of so many pairs, whose edits cost so much more; undo it if energy rises much.

    At most `bar` is allowed. Writes the state, and the best state if the new one is better.
    """
    if annealing is not None:
        state, values, best, _, trial = annealing
        classes = state.classes
    if target_state is not None:
        with_aims, edits, trial, _ = target_state
        classes = with_aims.classes
    before, energy = tallies(classes), energy_of(classes, plan)
    if annealing is not None:
        pooled.make(state, values, trial, size)
    if target_state is not None:
        aimed.make(with_aims, trial, size)
    refused = energy_of(classes, plan) - energy + plan.price * more > bar
    if annealing is not None:
        if refused:
            pooled.take_back(state, values, trial, size, before)
        else:
            pooled.settle_trial(state, values, best, trial, size)
            nearly = nearly_unprotected(classes, plan)
            pooled.keep_if_better(state, best, plan.allowed, nearly)
    if target_state is not None:
        if refused:
            aimed.take_back(with_aims, trial, size, before)
        else:
            aimed.settle_trial(with_aims, edits, trial, size)
            aimed.keep_if_better(with_aims, edits, plan.allowed)


@leaf
def anneal(
    annealing: AnnealingState | None,
    target_state: TargetState | None,
    plan: Schedule,
    odds: Odds,
    rng: np.random.Generator,
    first: int,
    last: int,
) -> None:
    """Make proposals first..last - 1 of the schedule; one of annealing and target_state is None.

    Cools geometrically, and lists the unprotected nodes now and then. Writes what `attempt` writes.
    """
    if annealing is not None:
        classes, unprotected = annealing.state.classes, annealing.unprotected
    if target_state is not None:
        classes, unprotected = target_state.state.classes, target_state.unprotected
    renewal = since = max(RENEWAL, len(classes.node) >> 8)
    cooling = (plan.cold / plan.hot) ** (1.0 / plan.steps)
    temperature = plan.hot * cooling**first
    listed = 0
    for _ in range(first, last):
        if plan.stop and unprotected_of(classes) <= plan.allowed:
            return
        if since >= renewal:
            since = 0
            listed = list_unprotected(classes, unprotected)
        since += 1
        temperature *= cooling
        if annealing is not None:
            pool, near = annealing.state.pool, (unprotected, listed)
            size = proposals.propose(pool, annealing.state.rows, annealing.trial, near, odds, rng)
            more = proposals.more_edits(pool, annealing.trial, size)
            possible = size > 0
        if target_state is not None:
            size = moves.propose(target_state, listed, odds, rng)
            more = aimed.more_edits(target_state, size, odds.budget)
            possible = 0 < size >= more
        if possible:
            bar = -temperature * math.log(1.0 - rng.random())
            attempt(annealing, target_state, size, more, plan, bar)
