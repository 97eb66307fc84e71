"""Simulated annealing: one loop for all walks.

Which walk it is, over a pool of pairs or with aims, is known when the loop is compiled: the other
argument is None, and with it goes all that asks for it.
"""

from __future__ import annotations

import numpy as np

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.annealing import walk as pooled
from graphveil.kernels.structural.annealing.walk import Arena, Schedule
from graphveil.kernels.structural.classes import UNPROTECTED, list_unprotected
from graphveil.kernels.structural.target import moves as aimed
from graphveil.kernels.structural.target.moves import Field, Plan

RENEWAL = 256
"""Proposals at least between two lists of the unprotected nodes."""


@leaf
def anneal_walk(
    arena: Arena, plan: Schedule, rng: np.random.Generator, first: int, last: int
) -> None:
    """Make proposals first..last - 1 of the schedule; without a price stop at the allowed nodes.

    Writes what `annealing.walk.step` writes.
    """
    _anneal((arena, plan), None, rng, first, last)


@leaf
def anneal_field(field: Field, plan: Plan, rng: np.random.Generator, first: int, last: int) -> None:
    """Make proposals first..last - 1 of the plan; with `stop` only until the allowed nodes.

    Writes what `target.moves.step` writes.
    """
    _anneal(None, (field, plan), rng, first, last)


@leaf
def _anneal(
    over_pool: tuple[Arena, Schedule] | None,
    with_aims: tuple[Field, Plan] | None,
    rng: np.random.Generator,
    first: int,
    last: int,
) -> None:
    """Cool geometrically, list the unprotected nodes now and then, and make one step a proposal."""
    if over_pool is not None:
        arena, schedule = over_pool
        classes, unprotected = arena.state.classes, arena.unprotected
        hot, cold, steps = schedule.hot, schedule.cold, schedule.steps
        stop, allowed = schedule.price == 0.0, schedule.allowed
    if with_aims is not None:
        field, plan = with_aims
        classes, unprotected = field.state.classes, field.unprotected
        hot, cold, steps = plan.hot, plan.cold, plan.steps
        stop, allowed = plan.stop, plan.allowed
    renewal = since = max(RENEWAL, len(classes.node) >> 8)
    cooling = (cold / hot) ** (1.0 / steps)
    temperature = hot * cooling**first
    listed = 0
    for _ in range(first, last):
        if stop and classes.tally[UNPROTECTED] <= allowed:
            return
        if since >= renewal:
            since = 0
            if over_pool is not None:
                listed = list_unprotected(classes, None, unprotected)
            if with_aims is not None:
                listed = list_unprotected(classes, field.state.weight, unprotected)
        since += 1
        temperature *= cooling
        if over_pool is not None:
            pooled.step(arena, listed, schedule, temperature, rng)
        if with_aims is not None:
            aimed.step(field, listed, plan, temperature, rng)
