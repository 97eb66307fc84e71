"""Where a search may start: the input without triangles, or with its risky hubs worn down."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphveil.kernels.structural.counts import (
    LACK,
    LEFT,
    Ints,
    State,
    begin,
    ends,
    move_common,
    record,
    rewrite,
    shift,
    undo,
)
from graphveil.kernels.structural.search import NONE, Best, keep_if_better, log_flip

WARM_SWEEPS = 50
GREEDY_SWEEPS = 10


@njit(cache=True, nogil=True)
def two_sides(
    indptr: Ints,
    indices: NDArray[np.int32],
    rng: np.random.Generator,
    side: NDArray[np.bool_],
) -> int:
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


@njit(cache=True, nogil=True)
def cut_triangles(state: State, best: Best, side: NDArray[np.bool_], allowed: int) -> None:
    """Delete the edges inside a half that lie in a triangle; no triangle is left."""
    pool = state.pool
    for pair in range(pool.left.size):
        v, w = ends(pool, pair)
        if side[v] == side[w] and pool.present[pair] and move_common(state, v, w, 0) > 0:
            _delete(state, best, pair, allowed)


@njit(cache=True, nogil=True)
def _delete(state: State, best: Best, pair: int, allowed: int) -> None:
    begin(state.cells)
    shift(state, pair)
    rewrite(state, pair)
    record(state.pool, pair)
    log_flip(best, pair)
    keep_if_better(state, best, allowed)


@njit(cache=True, nogil=True)
def lowered_degrees(degree: Ints, k: int, out: Ints) -> None:
    """Write into `out` the k-anonymous degrees, none above those given, of the largest sum.

    The degrees descend. Groups of k to 2k - 1 nodes get their lowest degree: O(nk).
    """
    n = degree.size
    cost = np.full(n + 1, np.iinfo(np.int64).max, dtype=np.int64)
    last = np.zeros(n + 1, dtype=np.int64)
    cost[0] = 0
    for i in range(k, n + 1):
        floor = degree[i - 1]
        spent = np.int64(0)
        for j in range(i - 1, max(i - 2 * k, -1), -1):
            spent += degree[j] - floor
            if i - j >= k and (j == 0 or j >= k) and cost[j] + spent < cost[i]:
                cost[i] = cost[j] + spent
                last[i] = j
    i = n
    while i > 0:
        out[last[i] : i] = degree[i - 1]
        i = last[i]


@njit(cache=True, nogil=True)
def lower_to(state: State, best: Best, excess: Ints, allowed: int, steps: int) -> bool:
    """Delete edges of nodes with excess degree, the highest first; return whether any has more.

    Makes at most `steps` deletions. Of its edges a node loses one to another node with excess, then
    one with few common neighbours, then one to a node of low degree. The excess is used up, and may
    fall below 0.
    """
    pool, rows = state.pool, state.rows
    for _ in range(steps if excess.size > 0 else 0):
        v = int(np.argmax(excess))
        if excess[v] <= 0:
            return False
        chosen, rank = NONE, (1, 0, 0)
        for i in range(pool.start[v], pool.start[v + 1]):
            pair = int(np.int64(pool.around[i]))
            if not pool.present[pair]:
                continue
            one, other = ends(pool, pair)
            w = one + other - v
            here = (0 if excess[w] > 0 else 1, move_common(state, v, w, 0), rows.length[w])
            if chosen == NONE or here < rank:
                chosen, rank = pair, here
        excess[pool.left[chosen]] -= 1
        excess[pool.right[chosen]] -= 1
        _delete(state, best, chosen, allowed)
    return excess.size > 0


@njit(cache=True, nogil=True)
def _riskiest(state: State) -> int:
    """Return the node of highest degree among those in classes below k."""
    cells, length = state.cells, state.rows.length
    chosen = NONE
    for v in range(length.size):
        if cells.table[cells.slot[v], 1] < cells.rule[0] and (
            chosen == NONE or length[v] > length[chosen]
        ):
            chosen = v
    return chosen


@njit(cache=True, nogil=True)
def _least(state: State) -> int:
    """Return the node of lowest degree that has an edge."""
    length = state.rows.length
    chosen = NONE
    for v in range(length.size):
        if length[v] > 0 and (chosen == NONE or length[v] < length[chosen]):
            chosen = v
            if length[v] == 1:
                break
    return chosen


@njit(cache=True, nogil=True)
def _best_deletion(state: State, v: int) -> int:
    """Return the edge at v whose deletion leaves fewest nodes, ties to fewest common neighbours."""
    pool, cells = state.pool, state.cells
    left, lack = cells.tally[LEFT], cells.tally[LACK]
    chosen, rank = NONE, (0, 0)
    for i in range(pool.start[v], pool.start[v + 1]):
        pair = int(np.int64(pool.around[i]))
        if not pool.present[pair]:
            continue
        begin(cells)
        common = shift(state, pair)
        here = (cells.tally[LEFT], common)
        undo(cells, left, lack)
        if chosen == NONE or here < rank:
            chosen, rank = pair, here
    return chosen


@njit(cache=True, nogil=True)
def strip(state: State, best: Best, allowed: int, steps: int) -> bool:
    """Wear down risky nodes, the highest degree first; return whether there is more to do.

    Makes at most `steps` deletions; stops where at most `allowed` nodes are in classes below k.
    """
    for _ in range(steps):
        if state.cells.tally[LEFT] <= allowed:
            return False
        v = _riskiest(state)
        if state.rows.length[v] == 0:
            v = _least(state)
        if v == NONE:
            return False
        _delete(state, best, _best_deletion(state, v), allowed)
    return True
