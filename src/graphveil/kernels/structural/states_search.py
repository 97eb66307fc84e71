"""Simulated annealing over edits of any kind, for any measure: the loop of `structural_search`.

An edit flips a pair, or rewires an edge with another one, its mate. A trial makes the edits, looks
at the states of all nodes that they touch, and takes the edits back where Metropolis says so.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphveil.kernels.structural.counts import (
    CHANGED,
    LACK,
    LEFT,
    Pool,
    State,
    ends,
    record,
)
from graphveil.kernels.structural.search import (
    DRAWS,
    LOGGED,
    NONE,
    SINCE,
    Best,
    Schedule,
    any_of,
    beats,
    energy_of,
    keep,
    list_waiting,
    log_flip,
    propose,
    second_of,
)
from graphveil.kernels.structural.states import BEST, NOW, Reach, carry_out, take_back

NEAR = 0.5


@njit(cache=True, nogil=True)
def keep_edits(state: State, reach: Reach, best: Best) -> None:
    """Make the present state the best one, in the time of the flips since the last."""
    mates, logged = reach.mates, best.tally[LOGGED]
    if mates.size > 0 and logged <= best.log.size:
        for i in range(logged):
            mates[BEST, best.log[i]] = mates[NOW, best.log[i]]
    elif mates.size > 0:
        mates[BEST] = mates[NOW]
    keep(state, best)


@njit(cache=True, nogil=True)
def go_to_edits(state: State, reach: Reach, best: Best, changed: NDArray[np.bool_]) -> None:
    """Make, or take back, the edits in which the present state differs from these changed pairs.

    Edges that are rewired get the mates of the best state.
    """
    pool, mates = state.pool, reach.mates
    for pair in range(changed.size):
        astray = mates.size > 0 and mates[NOW, pair] != mates[BEST, pair]
        if pool.place[pair] < pool.tally[CHANGED] and (astray or not changed[pair]):
            _make(state, reach, best, pair)
    for pair in range(changed.size):
        if changed[pair] and pool.place[pair] >= pool.tally[CHANGED]:
            if mates.size > 0:
                mates[NOW, pair] = mates[BEST, pair]
            _make(state, reach, best, pair)


@njit(cache=True, nogil=True)
def _make(state: State, reach: Reach, best: Best, pair: int) -> None:
    carry_out(state, reach, (pair, NONE))
    _enter(state.pool, reach, best, pair)


@njit(cache=True, nogil=True)
def _enter(pool: Pool, reach: Reach, best: Best, pair: int) -> None:
    """List the pair, and its mate, as changed or as unchanged."""
    record(pool, pair)
    log_flip(best, pair)
    if reach.mates.size > 0:
        mate = reach.mates[NOW, pair]
        other = int(mate >> 1)
        reach.mates[NOW, other] = 2 * pair + (mate & 1)
        record(pool, other)
        log_flip(best, other)


@njit(cache=True, nogil=True)
def try_edits(
    state: State, reach: Reach, best: Best, pairs: tuple[int, int], plan: Schedule, bar: float
) -> None:
    """Make one or two edits if the energy rises by at most `bar`; else change nothing."""
    cells, pool = state.cells, state.pool
    left, lack, changed = cells.tally[LEFT], cells.tally[LACK], pool.tally[CHANGED]
    energy = energy_of(cells, plan)
    more = 0
    for pair in pairs:
        if pair != NONE:
            more += 1 if pool.place[pair] >= changed else -1
    carry_out(state, reach, pairs)
    if energy_of(cells, plan) - energy + plan.price * more > bar:
        take_back(state, reach, pairs, left, lack)
        return
    for pair in pairs:
        if pair != NONE:
            _enter(pool, reach, best, pair)
    if beats(cells.tally[LEFT], pool.tally[CHANGED], best, plan.allowed):
        keep_edits(state, reach, best)


@njit(cache=True, nogil=True)
def find_mate(state: State, reach: Reach, pair: int, rng: np.random.Generator) -> bool:
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
            other = any_of(pool.order, int(pool.tally[CHANGED]), pool.order.size, rng)
            x, y = ends(pool, other)
        if pool.place[other] < pool.tally[CHANGED] or v in (x, y) or w in (x, y):
            continue
        if _is_free(state, v, y) and _is_free(state, x, w):
            turned = (v == ends(pool, pair)[0]) == (y == ends(pool, other)[0])
            reach.mates[NOW, pair] = 2 * other + turned
            return True
    return False


@njit(cache=True, nogil=True)
def _beyond(pool: Pool, v: int, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return an edge of the input {x, y} by which a walk of three steps from v leaves y for x."""
    x, y = v, v
    pair = NONE
    for _ in range(3):
        y = x
        pair = any_of(pool.around, int(pool.start[y]), int(pool.start[y + 1]), rng)
        one, other = ends(pool, pair)
        x = one + other - y
    return pair, x, y


@njit(cache=True, nogil=True)
def _is_free(state: State, v: int, w: int) -> bool:
    """Return whether v and w are joined neither now nor at the start."""
    pool, rows = state.pool, state.rows
    if pool.start[v + 1] - pool.start[v] > pool.start[w + 1] - pool.start[w]:
        v, w = w, v
    for i in range(rows.start[v], rows.start[v] + rows.length[v]):
        if rows.neighbour[i] == w:
            return False
    for i in range(pool.start[v], pool.start[v + 1]):
        one, other = ends(pool, int(np.int64(pool.around[i])))
        if w in (one, other):
            return False
    return True


@njit(cache=True, nogil=True)
def _are_ready(
    state: State, reach: Reach, pairs: tuple[int, int], rng: np.random.Generator
) -> bool:
    """Return whether these edits can be made, once an edge to rewire has a mate."""
    if reach.mates.size == 0:
        return True
    for pair in pairs:
        if pair != NONE and state.pool.place[pair] >= state.pool.tally[CHANGED]:
            return find_mate(state, reach, pair, rng)
    return True


@njit(cache=True, nogil=True)
def anneal_edits(
    state: State,
    reach: Reach,
    best: Best,
    plan: Schedule,
    rng: np.random.Generator,
    first: int,
    last: int,
) -> None:
    """Make proposals first..last - 1 of the schedule; a price of 0 stops at the allowed nodes.

    Writes the state, and into `best` the best state on the way.
    """
    renewal = max(256, state.cells.slot.size >> 8)
    cooling = (plan.cold / plan.hot) ** (1.0 / plan.steps)
    temperature = plan.hot * cooling**first
    list_waiting(state, best)
    for _ in range(first, last):
        if plan.price == 0.0 and state.cells.tally[LEFT] <= plan.allowed:
            return
        if best.tally[SINCE] >= renewal:
            list_waiting(state, best)
        best.tally[SINCE] += 1
        temperature *= cooling
        pair = propose(state, best, plan, rng)
        if pair == NONE:
            continue
        second = second_of(state, pair, plan, rng)
        full = state.pool.tally[CHANGED] >= plan.budget
        if full and second == NONE and state.pool.place[pair] >= state.pool.tally[CHANGED]:
            continue
        if _are_ready(state, reach, (pair, second), rng):
            bar = -temperature * math.log(1.0 - rng.random())
            try_edits(state, reach, best, (pair, second), plan, bar)
