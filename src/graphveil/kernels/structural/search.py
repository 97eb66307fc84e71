"""Simulated annealing over flips of pairs, with exact look-ahead."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphveil.kernels.structural.counts import (
    CHANGED,
    LACK,
    LEFT,
    Cells,
    Ints,
    State,
    begin,
    ends,
    flip,
    record,
    rewrite,
    shift,
    undo,
)

NONE = -1
QUIET = 0.25
DRAWS = 3
LOGGED, BEST_LEFT, BEST_CHANGED, WAITING, SINCE = range(5)


class Schedule(NamedTuple):
    """How one stretch of annealing runs.

    The temperature falls from `hot` to `cold` geometrically over `steps` proposals. The energy is
    `price` an edit, and for the nodes in classes below k a mean of their number and of what their
    classes lack, the latter with weight `ease`; with a price both count only beyond what is
    `allowed`. `focus` is the probability to look near a node in a class below k, `swap` that of a
    second flip beside an edit; beside a revert it is `swap_back`. At most `budget` pairs change.
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


class Best(NamedTuple):
    """The best state seen, and what happened since.

    ``changed[pair]`` tells the best state's changed pairs, ``log`` the pairs flipped since, of
    which ``tally[0]`` are listed (more than fit are only counted). ``tally`` goes on with the best
    state's nodes in classes below k and its changed pairs, and with how many nodes of ``waiting``
    count and how many proposals ago it was listed.
    """

    changed: NDArray[np.bool_]
    log: NDArray[np.int32]
    waiting: Ints
    tally: Ints


@njit(cache=True, nogil=True)
def beats(left: int, changed: int, best: Best, allowed: int) -> bool:
    """Return whether a state is better than the best: nodes missing, then edits, then nodes."""
    missing = max(left - allowed, 0)
    best_missing = max(best.tally[BEST_LEFT] - allowed, 0)
    if missing != best_missing:
        return bool(missing < best_missing)
    if changed != best.tally[BEST_CHANGED]:
        return bool(changed < best.tally[BEST_CHANGED])
    return bool(left < best.tally[BEST_LEFT])


@njit(cache=True, nogil=True)
def log_flip(best: Best, pair: int) -> None:
    """Note that the pair was flipped since the best state."""
    if best.tally[LOGGED] < best.log.size:
        best.log[best.tally[LOGGED]] = pair
    best.tally[LOGGED] += 1


@njit(cache=True, nogil=True)
def keep(state: State, best: Best) -> None:
    """Make the present state the best one, in the time of the flips since the last."""
    pool, tally = state.pool, best.tally
    if tally[LOGGED] <= best.log.size:
        for i in range(tally[LOGGED]):
            pair = best.log[i]
            best.changed[pair] = pool.place[pair] < pool.tally[CHANGED]
    else:
        for pair in range(best.changed.size):
            best.changed[pair] = pool.place[pair] < pool.tally[CHANGED]
    tally[LOGGED] = 0
    tally[BEST_LEFT] = state.cells.tally[LEFT]
    tally[BEST_CHANGED] = pool.tally[CHANGED]


@njit(cache=True, nogil=True)
def keep_if_better(state: State, best: Best, allowed: int) -> None:
    """Make the present state the best one if it is better."""
    if beats(state.cells.tally[LEFT], state.pool.tally[CHANGED], best, allowed):
        keep(state, best)


@njit(cache=True, nogil=True)
def go_to(state: State, best: Best, changed: NDArray[np.bool_]) -> None:
    """Flip the pairs in which the present state differs from these changed pairs."""
    pool = state.pool
    for pair in range(changed.size):
        if (pool.place[pair] < pool.tally[CHANGED]) != changed[pair]:
            flip(state, pair)
            log_flip(best, pair)


@njit(cache=True, nogil=True)
def list_waiting(state: State, best: Best) -> None:
    """List the nodes in classes below k."""
    cells = state.cells
    count = 0
    for v in range(cells.slot.size):
        if cells.table[cells.slot[v], 1] < cells.rule[0]:
            best.waiting[count] = v
            count += 1
    best.tally[WAITING] = count
    best.tally[SINCE] = 0


@njit(cache=True, nogil=True)
def any_of(pairs: NDArray[np.int32], first: int, last: int, rng: np.random.Generator) -> int:
    """Return one of pairs[first..last - 1], or NONE where there is none."""
    return int(pairs[first + int(rng.random() * (last - first))]) if first < last else NONE


@njit(cache=True, nogil=True)
def _quiet(
    state: State, pairs: NDArray[np.int32], first: int, last: int, rng: np.random.Generator
) -> int:
    """Return one of these pairs, at times that of three draws with the fewest common neighbours.

    Flipping such a pair moves few nodes.
    """
    chosen = any_of(pairs, first, last, rng)
    if chosen != NONE and rng.random() < QUIET:
        for _ in range(DRAWS - 1):
            other = any_of(pairs, first, last, rng)
            if state.pool.common[other] < state.pool.common[chosen]:
                chosen = other
    return chosen


@njit(cache=True, nogil=True)
def _any_changed(state: State, rng: np.random.Generator) -> int:
    return any_of(state.pool.order, 0, state.pool.tally[CHANGED], rng)


@njit(cache=True, nogil=True)
def _any_unchanged(state: State, rng: np.random.Generator) -> int:
    order = state.pool.order
    return _quiet(state, order, state.pool.tally[CHANGED], order.size, rng)


@njit(cache=True, nogil=True)
def propose(state: State, best: Best, plan: Schedule, rng: np.random.Generator) -> int:
    """Return a pair to flip: near a node in a class below k, or a revert, or an edit."""
    pool = state.pool
    waiting = best.tally[WAITING]
    if waiting > 0 and rng.random() < plan.focus:
        v = best.waiting[int(rng.random() * waiting)]
        if rng.random() < 0.5:
            hop = any_of(pool.around, pool.start[v], pool.start[v + 1], rng)
            if hop == NONE:
                return NONE
            one, other = ends(pool, hop)
            v = one + other - v
        return _quiet(state, pool.around, pool.start[v], pool.start[v + 1], rng)
    if rng.random() < 0.3:
        return _any_changed(state, rng)
    return _any_unchanged(state, rng)


@njit(cache=True, nogil=True)
def second_of(state: State, pair: int, plan: Schedule, rng: np.random.Generator) -> int:
    """Return the pair to flip beside this one, or NONE; a full budget needs a revert."""
    changed = state.pool.tally[CHANGED]
    if state.pool.place[pair] < changed:
        return _any_unchanged(state, rng) if rng.random() < plan.swap_back else NONE
    if changed >= plan.budget or rng.random() < plan.swap:
        return _any_changed(state, rng)
    return NONE


@njit(cache=True, nogil=True)
def energy_of(cells: Cells, plan: Schedule) -> float:
    """Return the energy of the nodes in classes below k.

    The classes of n nodes of all sizes 1..k - 1, equally many, lack ``(3k - 2) n`` over
    ``2 (2k - 2)``: that is what the allowed nodes may lack.
    """
    k = cells.rule[0]
    left, lack = float(cells.tally[LEFT]), float(cells.tally[LACK])
    if plan.price > 0.0:
        left = max(left, float(plan.allowed))
        lack = max(lack, 0.5 * (3 * k - 2) * plan.allowed)
    return float((1.0 - plan.ease) * left + plan.ease * lack / (2 * k - 2))


@njit(cache=True, nogil=True)
def _try(state: State, best: Best, pairs: tuple[int, int], plan: Schedule, bar: float) -> None:
    """Flip one or two pairs if the energy rises by at most `bar`; else change nothing."""
    cells, pool = state.cells, state.pool
    first, second = pairs
    left, lack, changed = cells.tally[LEFT], cells.tally[LACK], pool.tally[CHANGED]
    energy = energy_of(cells, plan)
    more = 1 if pool.place[first] >= changed else -1
    begin(cells)
    shift(state, first)
    if second != NONE:
        more += 1 if pool.place[second] >= changed else -1
        rewrite(state, first)
        shift(state, second)
    if energy_of(cells, plan) - energy + plan.price * more > bar:
        undo(cells, left, lack)
        if second != NONE:
            rewrite(state, first)
        return
    rewrite(state, first if second == NONE else second)
    record(pool, first)
    log_flip(best, first)
    if second != NONE:
        record(pool, second)
        log_flip(best, second)
    keep_if_better(state, best, plan.allowed)


@njit(cache=True, nogil=True)
def anneal(
    state: State,
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
        bar = -temperature * math.log(1.0 - rng.random())
        _try(state, best, (pair, second), plan, bar)
