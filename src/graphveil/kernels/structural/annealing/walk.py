"""A step of annealing over a pool of pairs: edits, each looked at exactly before it is made.

An edit flips a pair, or rewires an edge with another one, its mate. Where ``values`` is None the
walk follows codes of degrees and triangles, moved by every flip; else the values of any measure.
Which of the two it is is known when the kernels are compiled.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.annealing.pool import (
    BEST_CHANGED,
    BEST_UNPROTECTED,
    CHANGED,
    DRAWS,
    LOGGED,
    NONE,
    Best,
    Flags,
    Ints,
    Pool,
    State,
    any_changed,
    any_of,
    any_unchanged,
    beats,
    ends,
    is_changed,
    quiet_of,
    record,
    rewrite,
    shift_pair,
)
from graphveil.kernels.structural.annealing.values import (
    BEST,
    NOW,
    Values,
    carry_out,
    take_back,
)
from graphveil.kernels.structural.classes import (
    LACK,
    UNPROTECTED,
    Classes,
    K,
    begin,
    tallies,
    undo,
)
from graphveil.kernels.structural.rows import adjacent

NEAR = 0.5


class Schedule(NamedTuple):
    """How one stretch of annealing runs.

    The temperature falls from `hot` to `cold` geometrically over `steps` proposals. The energy is
    `price` an edit, and for the unprotected nodes a mean of their number and of what their classes
    lack, the latter with weight `ease`; with a price both count only beyond what is `allowed`, and
    without one the walk stops there. `focus` is the probability to look near an unprotected node,
    `swap` that of a second flip beside an edit; beside a revert it is `swap_back`. At most `budget`
    pairs change.
    """

    steps: int
    hot: float
    cold: float
    price: float
    ease: float
    allowed: int
    budget: int
    focus: float
    swap: float
    swap_back: float


class Arena(NamedTuple):
    """What a walk over a pool of pairs reads and writes, and who was unprotected not long ago."""

    state: State
    values: Values | None
    best: Best
    unprotected: Ints


@leaf
def _keep_pair(state: State, values: Values | None, best: Best, pair: int) -> None:
    best.changed[pair] = is_changed(state.pool, pair)
    if values is not None and values.mates.size > 0:
        values.mates[BEST, pair] = values.mates[NOW, pair]


@leaf
def keep(state: State, values: Values | None, best: Best) -> None:
    """Make the present state the best one, in the time of the flips since the last."""
    tally = best.tally
    if tally[LOGGED] <= best.log.size:
        for i in range(tally[LOGGED]):
            _keep_pair(state, values, best, int(np.int64(best.log[i])))
    else:
        for pair in range(best.changed.size):
            _keep_pair(state, values, best, pair)
    tally[LOGGED] = 0
    tally[BEST_UNPROTECTED] = state.classes.tally[UNPROTECTED]
    tally[BEST_CHANGED] = state.pool.tally[CHANGED]


@leaf
def _enter(state: State, values: Values | None, best: Best, pair: int) -> None:
    """List the pair of an edit, and its mate, as changed or as unchanged; log both."""
    record(state.pool, best, pair)
    if values is not None and values.mates.size > 0:
        mate = values.mates[NOW, pair]
        other = int(mate >> 1)
        values.mates[NOW, other] = 2 * pair + (mate & 1)
        record(state.pool, best, other)


@leaf
def make(state: State, values: Values | None, best: Best, pair: int) -> None:
    """Make the edit of this pair, or take it back, whatever it does."""
    if values is None:
        begin(state.classes, None)
        shift_pair(state, pair)
        rewrite(state, pair)
    else:
        carry_out(state, values, (pair, NONE))
    _enter(state, values, best, pair)


@leaf
def make_and_keep(state: State, best: Best, pair: int, allowed: int) -> None:
    """Flip the pair, and make the state the best if it is better."""
    make(state, None, best, pair)
    if beats(state, best, allowed):
        keep(state, None, best)


@leaf
def go_to(state: State, values: Values | None, best: Best, changed: Flags) -> None:
    """Make, or take back, the edits in which the present state differs from these changed pairs.

    Edges that are rewired get the mates of the best state.
    """
    pool = state.pool
    for pair in range(changed.size):
        astray = is_changed(pool, pair) != changed[pair]
        if values is not None:
            mates = values.mates
            strays = mates.size > 0 and mates[NOW, pair] != mates[BEST, pair]
            astray = is_changed(pool, pair) and (strays or not changed[pair])
        if astray:
            make(state, values, best, pair)
    if values is None:
        return
    for pair in range(changed.size):
        if changed[pair] and not is_changed(pool, pair):
            if values.mates.size > 0:
                values.mates[NOW, pair] = values.mates[BEST, pair]
            make(state, values, best, pair)


@leaf
def _propose(arena: Arena, listed: int, plan: Schedule, rng: np.random.Generator) -> int:
    """Return a pair to flip: near one of the nodes listed, or a revert, or an edit."""
    pool = arena.state.pool
    if listed > 0 and rng.random() < plan.focus:
        v = arena.unprotected[int(rng.random() * listed)]
        if rng.random() < 0.5:
            hop = any_of(pool.around, pool.start[v], pool.start[v + 1], rng)
            if hop == NONE:
                return NONE
            one, other = ends(pool, hop)
            v = one + other - v
        return quiet_of(pool, pool.around, pool.start[v], pool.start[v + 1], rng)
    if rng.random() < 0.3:
        return any_changed(pool, rng)
    return any_unchanged(pool, rng)


@leaf
def _second_of(state: State, pair: int, plan: Schedule, rng: np.random.Generator) -> int:
    """Return the pair to flip beside this one, or NONE; a full budget needs a revert."""
    pool = state.pool
    if is_changed(pool, pair):
        return any_unchanged(pool, rng) if rng.random() < plan.swap_back else NONE
    if pool.tally[CHANGED] >= plan.budget or rng.random() < plan.swap:
        return any_changed(pool, rng)
    return NONE


@leaf
def find_mate(state: State, values: Values, pair: int, rng: np.random.Generator) -> bool:
    """Give an unchanged edge a mate to be rewired with; return whether one was found.

    The mate is any unchanged edge, or at times one by which an end of the edge is joined to a
    neighbour's neighbour. The new pairs are no edges, and were none at the start: so any
    rewiring can be taken back.
    """
    pool = state.pool
    v, w = ends(pool, pair)
    for _ in range(DRAWS):
        if rng.random() < 0.5:
            v, w = w, v
        if rng.random() < NEAR:
            other, x, y = _beyond(pool, v, rng)
        else:
            other = any_of(pool.order, pool.tally[CHANGED], pool.order.size, rng)
            x, y = ends(pool, other)
        if is_changed(pool, other) or v in (x, y) or w in (x, y):
            continue
        if _is_free(state, v, y) and _is_free(state, x, w):
            turned = (v == ends(pool, pair)[0]) == (y == ends(pool, other)[0])
            values.mates[NOW, pair] = 2 * other + turned
            return True
    return False


@leaf
def _beyond(pool: Pool, v: int, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return an edge of the input {x, y} by which a walk of three steps from v leaves y for x."""
    x, y = v, v
    pair = NONE
    for _ in range(3):
        y = x
        pair = any_of(pool.around, pool.start[y], pool.start[y + 1], rng)
        one, other = ends(pool, pair)
        x = one + other - y
    return pair, x, y


@leaf
def _is_free(state: State, v: int, w: int) -> bool:
    """Return whether v and w are joined neither now nor at the start."""
    pool = state.pool
    if adjacent(state.rows, v, w):
        return False
    if pool.start[v + 1] - pool.start[v] > pool.start[w + 1] - pool.start[w]:
        v, w = w, v
    for i in range(pool.start[v], pool.start[v + 1]):
        one, other = ends(pool, int(np.int64(pool.around[i])))
        if w in (one, other):
            return False
    return True


@leaf
def _are_ready(
    state: State, values: Values | None, pairs: tuple[int, int], rng: np.random.Generator
) -> bool:
    """Return whether these edits can be made, once an edge to rewire has a mate."""
    if values is not None and values.mates.size > 0:
        for pair in pairs:
            if pair != NONE and not is_changed(state.pool, pair):
                return find_mate(state, values, pair, rng)
    return True


@leaf
def _energy_of(classes: Classes, plan: Schedule) -> float:
    """Return the energy of the unprotected nodes.

    The classes of n nodes of all sizes 1..k - 1, equally many, lack ``(3k - 2) n`` over
    ``2 (2k - 2)``: that is what the allowed nodes may lack.
    """
    k = classes.rule[K]
    unprotected, lack = float(classes.tally[UNPROTECTED]), float(classes.tally[LACK])
    if plan.price > 0.0:
        unprotected = max(unprotected, float(plan.allowed))
        lack = max(lack, 0.5 * (3 * k - 2) * plan.allowed)
    return float((1.0 - plan.ease) * unprotected + plan.ease * lack / (2 * k - 2))


@leaf
def attempt(
    state: State,
    values: Values | None,
    best: Best,
    pairs: tuple[int, int],
    plan: Schedule,
    bar: float,
) -> None:
    """Make one or two edits if the energy rises by at most `bar`; else change nothing.

    Writes the state, and into `best` the state if it is better. The second edit sees the first.
    """
    classes, (first, second) = state.classes, pairs
    before, energy = tallies(classes), _energy_of(classes, plan)
    more = 0
    for pair in pairs:
        if pair != NONE:
            more += -1 if is_changed(state.pool, pair) else 1
    if values is None:
        begin(classes, None)
        shift_pair(state, first)
        if second != NONE:
            rewrite(state, first)
            shift_pair(state, second)
    else:
        carry_out(state, values, pairs)
    if _energy_of(classes, plan) - energy + plan.price * more > bar:
        undo(classes, before)
        if values is not None:
            take_back(state, values, pairs)
        elif second != NONE:
            rewrite(state, first)
        return
    if values is None:
        rewrite(state, first if second == NONE else second)
    for pair in pairs:
        if pair != NONE:
            _enter(state, values, best, pair)
    if beats(state, best, plan.allowed):
        keep(state, values, best)


@leaf
def step(
    arena: Arena, listed: int, plan: Schedule, temperature: float, rng: np.random.Generator
) -> None:
    """Propose edits and judge them at this temperature; so many unprotected nodes are listed.

    Writes the state, and into `best` the state if it is better.
    """
    state, values, best, _ = arena
    pair = _propose(arena, listed, plan, rng)
    if pair == NONE:
        return
    second = _second_of(state, pair, plan, rng)
    full = state.pool.tally[CHANGED] >= plan.budget
    if full and second == NONE and not is_changed(state.pool, pair):
        return
    if _are_ready(state, values, (pair, second), rng):
        bar = -temperature * math.log(1.0 - rng.random())
        attempt(state, values, best, (pair, second), plan, bar)
