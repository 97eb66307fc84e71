"""Where a walk may start: the input without triangles, or with its unprotected hubs worn down."""

from __future__ import annotations

import math

import numpy as np

from graphveil.kernels.leaf import MINUS_ONE, ZERO, leaf
from graphveil.kernels.structural.annealing.state import (
    NONE,
    AnnealingBest,
    Flags,
    Ints,
    PoolState,
    flip,
    keep_if_better,
    shift_pair,
    steps_over_pairs,
)
from graphveil.kernels.structural.classes import SLOT, UNPROTECTED, K, begin, tallies, undo
from graphveil.kernels.structural.rows import Nodes, common_of
from graphveil.kernels.tiers import tiered

LOOKS = 64
"""Edges of a hub that are looked at, about, before one of them is deleted."""

WARM_SWEEPS = 50
GREEDY_SWEEPS = 10


@tiered(lambda _indptr, indices, _rng, _side: (WARM_SWEEPS + GREEDY_SWEEPS) * indices.size)
@leaf
def two_sides(indptr: Ints, indices: Nodes, rng: np.random.Generator, side: Flags) -> int:
    """Write into side[v] the half of v in a large cut; return the edges that lie inside a half.

    Annealing over nodes: 50 sweeps that cool down, then up to 10 that only improve.
    """
    n = side.size
    for v in range(n):
        side[v] = rng.random() < 0.5
    for sweep in range(WARM_SWEEPS + GREEDY_SWEEPS):
        warm = sweep < WARM_SWEEPS
        temperature = 2.0 * 0.93**sweep
        turned = False
        for step in range(n):
            v = int(rng.random() * n) if warm else step
            same = 0
            for j in range(indptr[v], indptr[v + 1]):
                same += side[indices[j]] == side[v]
            gain = 2 * same - (indptr[v + 1] - indptr[v])
            if gain > 0 or (warm and rng.random() < math.exp(gain / temperature)):
                side[v] = not side[v]
                turned = True
        if not turned:
            break
    inside = 0
    for v in range(n):
        for j in range(indptr[v], indptr[v + 1]):
            inside += side[indices[j]] == side[v]
    return inside // 2


@leaf
def delete(state: PoolState, best: AnnealingBest, trial: Ints, pair: int, allowed: int) -> None:
    """Delete the edge, and make the state the best if it is better."""
    flip(state, None, best, trial, pair)
    keep_if_better(state, best, allowed, ZERO)


@tiered(steps_over_pairs)
@leaf
def cut_triangles(
    state: PoolState, best: AnnealingBest, trial: Ints, side: Flags, allowed: int
) -> None:
    """Delete the edges inside a half that lie in a triangle; no triangle remains."""
    pool = state.pool
    for pair in range(pool.one.size):
        v, w = int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair]))
        if side[v] == side[w] and pool.present[pair] and common_of(state.rows, v, w) > 0:
            delete(state, best, trial, pair, allowed)


@leaf
def _common(state: PoolState, pair: int) -> int:
    """Return how many triangles an edge is in."""
    pool = state.pool
    return int(
        common_of(state.rows, int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair])))
    )


@tiered(steps_over_pairs)
@leaf
def thin_out(
    state: PoolState,
    best: AnnealingBest,
    trial: Ints,
    heads: Ints,
    following: Ints,
    wanted: int,
    allowed: int,
) -> int:
    """Delete so many edges, each time one in the most triangles; return how many there were.

    An edge in none stays. Writes over `heads`, an entry for each number of triangles that an edge
    may be in, and `following`, an entry a pair: edges in lists by a number of triangles, which may
    have fallen since.
    """
    present = state.pool.present
    heads[:] = NONE
    for pair in range(following.size):
        if present[pair]:
            common = _common(state, pair)
            following[pair] = heads[common]
            heads[common] = pair
    gone, most = 0, heads.size - 1
    while gone < wanted and most > 0:
        pair = heads[most]
        if pair == NONE:
            most -= 1
            continue
        heads[most] = following[pair]
        common = _common(state, pair)
        if common == most:
            delete(state, best, trial, pair, allowed)
            gone += 1
        else:
            following[pair] = heads[common]
            heads[common] = pair
    return gone


def _steps_of_deletions(state: PoolState, most: int) -> int:
    """Return about how many steps it takes to delete edges, each the best of those at its node."""
    length = state.rows.length
    highest = int(length.max(initial=0))
    return min(most, int(length.sum()) // 2) * (length.size + highest * highest) // 2


@tiered(
    lambda state, _best, _trial, excess, _allowed, steps: _steps_of_deletions(
        state, min(steps, int(np.maximum(excess, 0).sum()))
    )
)
@leaf
def lower_to(
    state: PoolState, best: AnnealingBest, trial: Ints, excess: Ints, allowed: int, steps: int
) -> bool:
    """Delete edges of nodes with excess degree, the highest first; return whether any has more.

    Makes at most `steps` deletions. Of its edges a node loses one to another node with excess, then
    one with few common neighbors, then one to a node of low degree. The excess is used up, and may
    fall below 0.
    """
    pool, rows = state.pool, state.rows
    for _ in range(steps if excess.size > 0 else 0):
        v = int(np.argmax(excess))
        if excess[v] <= 0:
            return False
        chosen, rank = MINUS_ONE, (1, 0, 0)
        for i in range(pool.start[v], pool.start[v + 1]):
            pair = int(np.int64(pool.around[i]))
            if not pool.present[pair]:
                continue
            w = int(np.int64(pool.one[pair]) + np.int64(pool.other[pair])) - v
            here = (0 if excess[w] > 0 else 1, common_of(rows, v, w), rows.length[w])
            if chosen == NONE or here < rank:
                chosen, rank = pair, here
        excess[pool.one[chosen]] -= 1
        excess[pool.other[chosen]] -= 1
        delete(state, best, trial, chosen, allowed)
    return excess.size > 0


@leaf
def _highest(state: PoolState) -> int:
    """Return the unprotected node of highest degree, or NONE."""
    classes, length = state.classes, state.rows.length
    chosen = NONE
    for v in range(length.size):
        if classes.table[classes.node[v, SLOT], 1] < classes.rule[K] and (
            chosen == NONE or length[v] > length[chosen]
        ):
            chosen = v
    return chosen


@leaf
def _least(state: PoolState) -> int:
    """Return the node of lowest degree that has an edge."""
    length = state.rows.length
    chosen = NONE
    for v in range(length.size):
        if length[v] > 0 and (chosen == NONE or length[v] < length[chosen]):
            chosen = v
            if length[v] == 1:
                break
    return chosen


@leaf
def _best_deletion(state: PoolState, v: int) -> int:
    """Return the edge at v whose deletion leaves fewest unprotected, ties to fewest common ones.

    Of a hub's edges every second, third... is looked at.
    """
    pool, classes = state.pool, state.classes
    before, every, seen = tallies(classes), max(state.rows.length[v] // LOOKS, 1), 0
    chosen, rank = NONE, (0, 0)
    for i in range(pool.start[v], pool.start[v + 1]):
        pair = int(np.int64(pool.around[i]))
        if not pool.present[pair]:
            continue
        seen += 1
        if seen % every != 0:
            continue
        begin(classes)
        common = shift_pair(state, pair)
        here = (classes.tally[UNPROTECTED], common)
        undo(classes, before)
        if chosen == NONE or here < rank:
            chosen, rank = pair, here
    return chosen


@tiered(lambda state, _best, _trial, _allowed, steps: _steps_of_deletions(state, steps))
@leaf
def strip(state: PoolState, best: AnnealingBest, trial: Ints, allowed: int, steps: int) -> bool:
    """Wear down unprotected nodes, the highest degree first; return whether there is more to do.

    Makes at most `steps` deletions; stops where at most `allowed` nodes are unprotected.
    """
    for _ in range(steps):
        if state.classes.tally[UNPROTECTED] <= allowed:
            return False
        v = _highest(state)
        if state.rows.length[v] == 0:
            v = _least(state)
        if v == NONE:
            return False
        delete(state, best, trial, _best_deletion(state, v), allowed)
    return True
