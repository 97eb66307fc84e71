"""What a walk over a pool of pairs proposes: an edit, a revert, or one of each."""

from __future__ import annotations

import numpy as np

from graphveil.kernels.leaf import ZERO, leaf
from graphveil.kernels.structural.annealing.state import CHANGED, NONE, NOW, Ints, Pool
from graphveil.kernels.structural.rows import NeighborRows, Nodes, adjacent
from graphveil.kernels.structural.schedule import Odds

QUIET = 0.25
DRAWS = 3
NEAR = 0.5
MOST_FLIPS = 2


@leaf
def any_of(pairs: Nodes, first: int, last: int, rng: np.random.Generator) -> int:
    """Return one of pairs[first..last - 1], or NONE where there is none."""
    return (
        int(np.int64(pairs[first + int(rng.random() * (last - first))])) if first < last else NONE
    )


@leaf
def quiet_of(pool: Pool, pairs: Nodes, first: int, last: int, rng: np.random.Generator) -> int:
    """Return one of these pairs, at times that of three draws with the fewest common neighbors.

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
def _first_of(
    pool: Pool, unprotected: Ints, listed: int, odds: Odds, rng: np.random.Generator
) -> int:
    """Return a pair to flip: near an unprotected node that is listed, or a revert, or an edit."""
    pairs, changed = pool.order, pool.tally[CHANGED]
    first, last = changed, int(np.int64(pool.order.size))
    if listed > 0 and rng.random() < odds.focus:
        v = unprotected[int(rng.random() * listed)]
        if rng.random() < 0.5:
            hop = any_of(pool.around, pool.start[v], pool.start[v + 1], rng)
            if hop == NONE:
                return NONE
            v = int(np.int64(pool.one[hop])) + int(np.int64(pool.other[hop])) - v
        pairs, first, last = pool.around, pool.start[v], pool.start[v + 1]
    elif rng.random() < odds.undo:
        return any_of(pool.order, ZERO, changed, rng)
    return quiet_of(pool, pairs, first, last, rng)


@leaf
def propose(
    pool: Pool,
    rows: NeighborRows,
    trial: Ints,
    near: tuple[Ints, int],
    odds: Odds,
    rng: np.random.Generator,
) -> int:
    """Write into the trial a pair to flip, or an edit and a revert; return how many pairs.

    `near` holds unprotected nodes, and how many of them are listed. A full budget needs a revert.
    Where edges are rewired an edit gets a mate. Where the draw leads nowhere 0 is returned.
    """
    first, second = _first_of(pool, near[0], near[1], odds, rng), NONE
    if first == NONE:
        return 0
    changed = pool.tally[CHANGED]
    if pool.position[first] < changed:
        if rng.random() < odds.swap_back:
            second = quiet_of(pool, pool.order, changed, int(np.int64(pool.order.size)), rng)
    elif changed >= odds.budget or rng.random() < odds.swap:
        second = any_of(pool.order, ZERO, changed, rng)
        if second == NONE and changed >= odds.budget:
            return 0
    trial[0], trial[1] = first, second
    size = 1 if second == NONE else 2
    for i in range(size):
        if pool.position[trial[i]] >= changed:
            return size if find_mate(pool, pool.mates, rows, trial[i], rng) else 0
    return size


@leaf
def more_edits(pool: Pool, trial: Ints, size: int) -> int:
    """Return how many pairs more are changed once those of a trial are flipped."""
    more = 0
    for i in range(size):
        more += -1 if pool.position[trial[i]] < pool.tally[CHANGED] else 1
    return more


@leaf
def find_mate(
    pool: Pool, mates: Ints | None, rows: NeighborRows, pair: int, rng: np.random.Generator
) -> bool:
    """Give an unchanged edge a mate to be rewired with; return whether there is one.

    The mate is any unchanged edge, or at times one by which an end of the edge is joined to a
    neighbor's neighbor. The new pairs are no edges, and were none at the start: so any
    rewiring can be taken back. Edges that are flipped alone need none.
    """
    if mates is None:
        return True
    v, w = int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair]))
    for _ in range(DRAWS):
        if rng.random() < 0.5:
            v, w = w, v
        if rng.random() < NEAR:
            other, x, y = _beyond(pool, v, rng)
        else:
            other = any_of(pool.order, pool.tally[CHANGED], int(np.int64(pool.order.size)), rng)
            x, y = int(np.int64(pool.one[other])), int(np.int64(pool.other[other]))
        if pool.position[other] < pool.tally[CHANGED] or v in (x, y) or w in (x, y):
            continue
        if _is_free(pool, rows, v, y) and _is_free(pool, rows, x, w):
            turned = (v == pool.one[pair]) == (y == pool.one[other])
            mates[NOW, pair] = 2 * other + turned
            return True
    return False


@leaf
def _beyond(pool: Pool, v: int, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return an edge of the input {x, y} by which a walk of three steps from v leaves y for x."""
    x, y, pair = v, v, NONE
    for _ in range(3):
        y = x
        pair = any_of(pool.around, pool.start[y], pool.start[y + 1], rng)
        x = int(np.int64(pool.one[pair])) + int(np.int64(pool.other[pair])) - y
    return pair, x, y


@leaf
def _is_free(pool: Pool, rows: NeighborRows, v: int, w: int) -> bool:
    """Return whether v and w are joined neither now nor at the start."""
    if adjacent(rows, v, w):
        return False
    start = pool.start
    if start[v + 1] - start[v] > start[w + 1] - start[w]:
        v, w = w, v
    for i in range(start[v], start[v + 1]):
        pair = pool.around[i]
        if w in (pool.one[pair], pool.other[pair]):
            return False
    return True
