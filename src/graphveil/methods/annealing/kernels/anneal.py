"""Simulated annealing: the loop of all walks, what those over a pool propose, and where they start.

Which walk it is, over a pool of pairs or with aims, is known when the loop is compiled: the other
argument is None, and with it goes all that asks for it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from graphveil.core.kernels.leaf import MINUS_ONE, ZERO, leaf
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.annealing.kernels import pooled
from graphveil.methods.annealing.kernels import target as aimed
from graphveil.methods.annealing.kernels.classes import LEAST as K
from graphveil.methods.annealing.kernels.classes import (
    SLOT,
    UNPROTECTED,
    Ints,
    NeighborRows,
    Nodes,
    Odds,
    Schedule,
    adjacent,
    begin,
    common_of,
    energy_of,
    first_not_below,
    list_unprotected,
    nearly_unprotected,
    tallies,
    undo,
    unprotected_of,
)
from graphveil.methods.annealing.kernels.pooled import (
    CHANGED,
    NONE,
    NOW,
    AnnealingBest,
    AnnealingState,
    Flags,
    Pool,
    PoolState,
    flip,
    keep_if_better,
    price_of,
    shift_pair,
    steps_over_pairs,
)
from graphveil.methods.annealing.kernels.target import TargetState

QUIET = 0.25
DRAWS = 3
NEAR = 0.5
MOST_FLIPS = 2


@leaf
def any_of(pairs: Nodes, first: int, last: int, rng: Generator) -> int:
    """Return one of pairs[first..last - 1], or NONE where there is none."""
    return (
        int(np.int64(pairs[first + int(rng.random() * (last - first))])) if first < last else NONE
    )


@leaf
def quiet_of(pool: Pool, pairs: Nodes, first: int, last: int, rng: Generator) -> int:
    """Return one of these pairs, at times that of three draws with the fewest common neighbors."""
    chosen = any_of(pairs, first, last, rng)
    if chosen != NONE and rng.random() < QUIET:
        for _ in range(DRAWS - 1):
            another = any_of(pairs, first, last, rng)
            if pool.common[another] < pool.common[chosen]:
                chosen = another
    return chosen


@leaf
def _first_of(pool: Pool, unprotected: Ints, listed: int, odds: Odds, rng: Generator) -> int:
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
    pool: Pool, rows: NeighborRows, trial: Ints, near: tuple[Ints, int], odds: Odds, rng: Generator
) -> int:
    """Write into the trial a pair to flip, or an edit and a revert; return how many pairs.

    `near` holds unprotected nodes, and how many. A full budget needs a revert.
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
    """Return how much more the edits cost once the pairs of a trial are flipped."""
    more = 0
    for i in range(size):
        price = price_of(pool.cost, trial[i])
        more += -price if pool.position[trial[i]] < pool.tally[CHANGED] else price
    return more


@leaf
def find_mate(
    pool: Pool, mates: Ints | None, rows: NeighborRows, pair: int, rng: Generator
) -> bool:
    """Give an unchanged edge a mate to be rewired with; return whether there is one.

    The new pairs are not edges, and were not at the start: so any rewiring can be taken back.
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
def _beyond(pool: Pool, v: int, rng: Generator) -> tuple[int, int, int]:
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
    """Make the trial of so many pairs; undo it if energy rises by more than `bar`."""
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
            keep_if_better(state, best, plan.allowed, nearly)
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
    rng: Generator,
    first: int,
    last: int,
) -> None:
    """Make proposals first..last - 1 of the schedule; one of annealing and target_state is None."""
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
            size = propose(pool, annealing.state.rows, annealing.trial, near, odds, rng)
            more = more_edits(pool, annealing.trial, size)
            possible = size > 0
        if target_state is not None:
            size = aimed.propose(target_state, listed, odds, rng)
            more = aimed.more_edits(target_state, size, odds.budget)
            possible = 0 < size >= more
        if possible:
            bar = -temperature * math.log(1.0 - rng.random())
            attempt(annealing, target_state, size, more, plan, bar)


LOOKS = 64
"""Edges of a hub that are looked at, about, before one of them is deleted."""

WARM_SWEEPS = 50
GREEDY_SWEEPS = 10


@tiered(lambda _indptr, indices, _rng, _side: (WARM_SWEEPS + GREEDY_SWEEPS) * indices.size)
@leaf
def two_sides(indptr: Ints, indices: Nodes, rng: Generator, side: Flags) -> int:
    """Write into side[v] the half of v in a large cut; return the edges inside a half."""
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
    """Delete the edges inside a half that are in a triangle; no triangle remains."""
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

    `heads` and `following` are lists of edges by a number of triangles, which may have fallen
    since.
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

    A node loses an edge to another with excess, then one with few common neighbors, then to a low
    one.
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
    """Return the edge at v whose deletion leaves fewest unprotected; skips some of a hub's."""
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
    """Wear down unprotected nodes, the highest degree first; return whether there is more to do."""
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


HOT, COLD = 4.0, 0.3
"""Edges that are lost for a change which is made one time in e, at the start and at the end."""

BEYOND = 0.5
"""How often the node to exchange comes from two steps away, not from everywhere."""


@leaf
def _joined(indptr: Ints, indices: Nodes, v: int, w: int) -> bool:
    """Return whether v and w are neighbors."""
    end = indptr[v + 1]
    at = first_not_below(indices, indptr[v], end, w)
    return bool(at < end and indices[at] == w)


@leaf
def kept_at(indptr: Ints, indices: Nodes, partner: Ints, marks: Ints, v: int) -> int:
    """Return how many neighbors of v have partners that are neighbors of v's partner."""
    image = partner[v]
    for i in range(indptr[image], indptr[image + 1]):
        marks[indices[i]] = 1
    kept = 0
    for i in range(indptr[v], indptr[v + 1]):
        kept += marks[partner[indices[i]]]
    for i in range(indptr[image], indptr[image + 1]):
        marks[indices[i]] = 0
    return kept


@leaf
def kept_of_pairs(
    indptr: Ints, indices: Nodes, partner: Ints, marks: Ints, ends: tuple[int, int]
) -> int:
    """Return how many edges at two pairs of partners, one end of each given, lead to edges.

    Those at a node and at its partner lead to each other, so one of the two is looked at.
    """
    v, w = ends
    x, y = partner[v], partner[w]
    kept = 2 * kept_at(indptr, indices, partner, marks, v)
    kept += 2 * kept_at(indptr, indices, partner, marks, w)
    kept -= _joined(indptr, indices, v, x)
    kept -= _joined(indptr, indices, w, y)
    if _joined(indptr, indices, v, w) and _joined(indptr, indices, x, y):
        kept -= 2
    if _joined(indptr, indices, v, y) and _joined(indptr, indices, x, w):
        kept -= 2
    return kept


@leaf
def _another(indptr: Ints, indices: Nodes, v: int, rng: Generator) -> int:
    """Return a node two steps from v, or any node."""
    first, last = indptr[v], indptr[v + 1]
    if first < last and rng.random() < BEYOND:
        middle = np.int64(indices[first + int(rng.random() * (last - first))])
        first, last = indptr[middle], indptr[middle + 1]
        return int(np.int64(indices[first + int(rng.random() * (last - first))]))
    return int(rng.random() * (indptr.size - 1))


@leaf
def _exchange(partner: Ints, v: int, w: int) -> None:
    """Make v and w partners, and those that they had."""
    x, y = partner[v], partner[w]
    partner[v], partner[w] = w, v
    partner[x], partner[y] = y, x


@tiered(
    lambda indptr, indices, _colors, _partner, _marks, proposals, _rng: (
        proposals * (20 + 8 * indices.size // max(indptr.size - 1, 1))
    )
)
@leaf
def pair_up(
    indptr: Ints,
    indices: Nodes,
    colors: Ints,
    partner: Ints,
    marks: Ints,
    proposals: int,
    rng: Generator,
) -> None:
    """Anneal who is whose partner, within colors, so that most edges are kept."""
    cooling = (COLD / HOT) ** (1.0 / proposals)
    temperature = HOT
    for _ in range(proposals):
        temperature *= cooling
        v = int(rng.random() * (indptr.size - 1))
        w = _another(indptr, indices, v, rng)
        x = partner[v]
        if w in (v, x) or colors[v] != colors[w]:
            continue
        lost = kept_of_pairs(indptr, indices, partner, marks, (v, w))
        _exchange(partner, v, w)
        lost -= kept_of_pairs(indptr, indices, partner, marks, (v, x))
        if lost > 0 and lost > -temperature * math.log(1.0 - rng.random()):
            _exchange(partner, v, x)
