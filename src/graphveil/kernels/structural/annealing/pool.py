"""The pairs that a walk may flip, what it has flipped, and the best state on the way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.classes import BY_TRIANGLE, UNPROTECTED, Classes, move, shift
from graphveil.kernels.structural.rows import Nodes, Rows, common_of, toggle

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NONE = -1
CHANGED = 0
LOGGED, BEST_UNPROTECTED, BEST_CHANGED = range(3)
QUIET = 0.25
DRAWS = 3


class Pool(NamedTuple):
    """The pairs that may be flipped: the edges first, then the candidates to add.

    Pair i joins ``one[i]`` and ``other[i]``, and does so now where ``present[i]``.
    ``around[start[v] : start[v + 1]]`` are the pairs at v. ``order`` is a permutation of the pairs:
    the first ``tally[CHANGED]`` of them are changed; ``position`` is its inverse. ``common`` holds
    the common neighbours of every pair at the start, or another guess of what a flip moves.
    """

    one: Nodes
    other: Nodes
    start: Ints
    around: Nodes
    present: Flags
    order: Nodes
    position: Nodes
    tally: Ints
    common: Nodes


class State(NamedTuple):
    """Everything that a flip reads or writes."""

    classes: Classes
    rows: Rows
    pool: Pool


class Best(NamedTuple):
    """The best state seen, and what happened since.

    ``changed[pair]`` tells the best state's changed pairs, ``log`` the pairs flipped since, of
    which ``tally[LOGGED]`` are listed (more than fit are only counted). ``tally`` goes on with the
    best state's unprotected nodes and its changed pairs.
    """

    changed: Flags
    log: Nodes
    tally: Ints


@leaf
def ends(pool: Pool, pair: int) -> tuple[int, int]:
    """Return the two nodes of the pair."""
    return int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair]))


@leaf
def is_changed(pool: Pool, pair: int) -> bool:
    """Return whether the pair differs from the input."""
    return bool(pool.position[pair] < pool.tally[CHANGED])


@leaf
def shift_pair(state: State, pair: int) -> int:
    """Move the codes as flipping the pair does; return how many common neighbours moved along.

    The neighbour lists stay as they are. Where triangles count nothing, nobody moves along.
    """
    classes, rows, pool = state
    v, w = ends(pool, pair)
    sign = -1 if pool.present[pair] else 1
    common, by_triangle = 0, classes.rule[BY_TRIANGLE]
    if by_triangle != 0:
        common = common_of(rows, v, w)
        for i in range(common):
            move(classes, None, int(np.int64(rows.common[i])), sign * by_triangle)
    shift(classes, None, (v, w), common, sign)
    return common


@leaf
def rewrite(state: State, pair: int) -> None:
    """Flip the pair in the neighbour lists; twice changes nothing."""
    v, w = ends(state.pool, pair)
    toggle(state.rows, v, w)
    state.pool.present[pair] = not state.pool.present[pair]


@leaf
def record(pool: Pool, best: Best, pair: int) -> None:
    """Put an unchanged pair among the changed ones, a changed one among the others; log it."""
    at = pool.position[pair]
    if at < pool.tally[CHANGED]:
        pool.tally[CHANGED] -= 1
        border = pool.tally[CHANGED]
    else:
        border = pool.tally[CHANGED]
        pool.tally[CHANGED] += 1
    moved = pool.order[border]
    pool.order[border], pool.order[at] = pair, moved
    pool.position[pair], pool.position[moved] = border, at
    if best.tally[LOGGED] < best.log.size:
        best.log[best.tally[LOGGED]] = pair
    best.tally[LOGGED] += 1


@leaf
def count_common(state: State) -> None:
    """Write into the pool the common neighbours of every pair."""
    pool = state.pool
    for pair in range(pool.one.size):
        v, w = ends(pool, pair)
        pool.common[pair] = common_of(state.rows, v, w)


@leaf
def beats(state: State, best: Best, allowed: int) -> bool:
    """Return whether the state is better: nodes too many, then edits, then unprotected nodes."""
    unprotected, changed = state.classes.tally[UNPROTECTED], state.pool.tally[CHANGED]
    beyond = max(unprotected - allowed, 0)
    best_beyond = max(best.tally[BEST_UNPROTECTED] - allowed, 0)
    if beyond != best_beyond:
        return bool(beyond < best_beyond)
    if changed != best.tally[BEST_CHANGED]:
        return bool(changed < best.tally[BEST_CHANGED])
    return bool(unprotected < best.tally[BEST_UNPROTECTED])


@leaf
def any_of(pairs: Nodes, first: int, last: int, rng: np.random.Generator) -> int:
    """Return one of pairs[first..last - 1], or NONE where there is none."""
    return int(pairs[first + int(rng.random() * (last - first))]) if first < last else NONE


@leaf
def quiet_of(pool: Pool, pairs: Nodes, first: int, last: int, rng: np.random.Generator) -> int:
    """Return one of these pairs, at times that of three draws with the fewest common neighbours.

    Flipping such a pair moves few nodes.
    """
    chosen = any_of(pairs, first, last, rng)
    if chosen != NONE and rng.random() < QUIET:
        for _ in range(DRAWS - 1):
            another = any_of(pairs, first, last, rng)
            if pool.common[another] < pool.common[chosen]:
                chosen = another
    return chosen


@leaf
def any_changed(pool: Pool, rng: np.random.Generator) -> int:
    """Return a changed pair, or NONE."""
    return any_of(pool.order, 0, pool.tally[CHANGED], rng)


@leaf
def any_unchanged(pool: Pool, rng: np.random.Generator) -> int:
    """Return an unchanged pair as `quiet_of` draws it, or NONE."""
    return quiet_of(pool, pool.order, pool.tally[CHANGED], pool.order.size, rng)
