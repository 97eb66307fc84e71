"""Simulated annealing over edits: the loop of all walks, the proposals over a pool, and the starts.

The paper's heuristics draw batches of edges and never look back (section 5.3; see
`graphveil.methods.structural.paper`). A walk proposes one or two edits, counts exactly what they do
to the classes, and accepts or refuses them by the rule of Metropolis. Like the paper's Algorithm 1
it returns the best state on its way, not the last one. Constants were tuned on networks of the
paper.

The module has four parts, in this order:

- Proposals over a pool of pairs (`propose`, `find_mate`). Those of walks with aims are in `target`.
- `anneal`, the loop of all walks. Which walk it is, over a pool or with aims, is known when it is
  compiled: the other argument is None, and the code for it is dropped.
- Starts for the goals full and partial, by deletion. CUT: `two_sides`, `cut_triangles` and
  `lower_to` leave no triangle, and few degrees, so that a neighborhood is a star. STRIP: `strip`
  deletes edges of unprotected hubs. `thin_out` deletes the edges in the most triangles.
- The start of MIRROR (`pair_up`), for k = 2: every node gets a partner, such that most edges lead
  to edges when all partners change places; without the other edges partners are indistinguishable.

Cost per proposal: O(deg v + deg w) over codes, more over values. Starts state theirs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Flags, Ints, Nodes
from graphveil.core.kernels.arrays import first_not_below
from graphveil.core.kernels.leaf import MINUS_ONE, ZERO, leaf
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.annealing.kernels import pooled
from graphveil.methods.annealing.kernels import target as aimed
from graphveil.methods.annealing.kernels.classes import LEAST as K
from graphveil.methods.annealing.kernels.classes import (
    SLOT,
    UNPROTECTED,
    NeighborRows,
    Odds,
    Schedule,
    adjacent,
    begin,
    common_of,
    energy_of,
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
"""Chance that a pair is the best of `DRAWS` draws, by the fewest common neighbors.

A flip of a pair with few common neighbors moves few nodes. Near 1, edges in many triangles would
hardly be proposed.
"""
DRAWS = 3
"""Draws for such a pair; also the mates that are tried for one edge."""
NEAR = 0.5
"""Chance that a mate is looked for within three steps, rather than among all edges."""
MOST_FLIPS = 2
"""The most pairs of a trial: an edit, and the revert of another."""


@leaf
def any_of(pairs: Nodes, first: int, last: int, rng: Generator) -> int:
    """Return a random one of pairs[first..last - 1], or NONE if there are none."""
    return (
        int(np.int64(pairs[first + int(rng.random() * (last - first))])) if first < last else NONE
    )


@leaf
def quiet_of(pool: Pool, pairs: Nodes, first: int, last: int, rng: Generator) -> int:
    """Return a random one of these pairs; at times that of three with fewest common neighbors."""
    chosen = any_of(pairs, first, last, rng)
    if chosen != NONE and rng.random() < QUIET:
        for _ in range(DRAWS - 1):
            another = any_of(pairs, first, last, rng)
            if pool.common[another] < pool.common[chosen]:
                chosen = another
    return chosen


@leaf
def _first_of(pool: Pool, unprotected: Ints, listed: int, odds: Odds, rng: Generator) -> int:
    """Return the first pair of a trial, or NONE.

    With chance `focus` a pair at, or one step from, an unprotected node; else with chance `undo` an
    edit to revert; else any unchanged pair.
    """
    pairs, changed = pool.order, pool.tally[CHANGED]
    first, last = changed, int(np.int64(pool.order.size))
    if listed > 0 and rng.random() < odds.focus:
        v = unprotected[int(rng.random() * listed)]
        # Half of the time one step away: those pairs change the triangles of the node.
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

    Parameters
    ----------
    pool
        Read; with rewiring, the mates of the pair to be edited are written.
    rows
        Read.
    trial
        int64, shape (2,): written.
    near
        Unprotected nodes (int64, shape (n,)), and how many of the first entries are valid.
    odds
        How likely each kind of proposal is. At the budget an edit needs a revert.
    rng
        Advanced by a varying number of draws.
    """
    first, second = _first_of(pool, near[0], near[1], odds, rng), NONE
    if first == NONE:
        return 0
    changed = pool.tally[CHANGED]
    # The first pair is an edit to revert: at times make a new one with it. Else it is a new edit:
    # revert one with it, by chance or because the budget is used up.
    if pool.position[first] < changed:
        if rng.random() < odds.swap_back:
            second = quiet_of(pool, pool.order, changed, int(np.int64(pool.order.size)), rng)
    elif changed >= odds.budget or rng.random() < odds.swap:
        second = any_of(pool.order, ZERO, changed, rng)
        if second == NONE and changed >= odds.budget:
            return 0
    trial[0], trial[1] = first, second
    size = 1 if second == NONE else 2
    # The pair that is edited, at most one, needs a mate when edges are rewired.
    for i in range(size):
        if pool.position[trial[i]] >= changed:
            return size if find_mate(pool, pool.mates, rows, trial[i], rng) else 0
    return size


@leaf
def more_edits(pool: Pool, trial: Ints, size: int) -> int:
    """Return how much the cost of the edits rises once the pairs of a trial are flipped."""
    more = 0
    for i in range(size):
        price = price_of(pool.cost, trial[i])
        more += -price if pool.position[trial[i]] < pool.tally[CHANGED] else price
    return more


@leaf
def find_mate(
    pool: Pool, mates: Ints | None, rows: NeighborRows, pair: int, rng: Generator
) -> bool:
    """Give an unchanged edge {v, w} a mate {x, y} to be rewired with; return whether one was found.

    The four nodes are distinct, and {v, y} and {x, w} are edges neither now nor in the input. So no
    rewiring gets in the way of another one, and each can be taken back at any time. Without
    rewiring returns True.
    """
    if mates is None:
        return True
    v, w = int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair]))
    for _ in range(DRAWS):
        if rng.random() < 0.5:
            v, w = w, v
        # Near: three random steps from v, so that {v, y} closes a triangle. Else any unchanged
        # edge.
        if rng.random() < NEAR:
            other, x, y = _beyond(pool, v, rng)
        else:
            other = any_of(pool.order, pool.tally[CHANGED], int(np.int64(pool.order.size)), rng)
            x, y = int(np.int64(pool.one[other])), int(np.int64(pool.other[other]))
        if pool.position[other] < pool.tally[CHANGED] or v in (x, y) or w in (x, y):
            continue
        if _is_free(pool, rows, v, y) and _is_free(pool, rows, x, w):
            # Whether the mate is taken the other way round than the pool lists it, seen from
            # `one[pair]`.
            turned = (v == pool.one[pair]) == (y == pool.one[other])
            mates[NOW, pair] = 2 * other + turned
            return True
    return False


@leaf
def _beyond(pool: Pool, v: int, rng: Generator) -> tuple[int, int, int]:
    """Return an edge {x, y} that is the third of three random steps from v, and x and y.

    The steps go along edges of the input. The last one leads from y to x.
    """
    x, y, pair = v, v, NONE
    for _ in range(3):
        y = x
        pair = any_of(pool.around, pool.start[y], pool.start[y + 1], rng)
        x = int(np.int64(pool.one[pair])) + int(np.int64(pool.other[pair])) - y
    return pair, x, y


@leaf
def _is_free(pool: Pool, rows: NeighborRows, v: int, w: int) -> bool:
    """Return whether v and w are joined neither now nor in the input."""
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
"""Proposals, at least, between two lists of the unprotected nodes.

The list takes O(n), and is renewed at most every n / 256 proposals, so that it adds O(256) steps to
each. In between, `focus` may look near nodes that are protected by now.
"""


@leaf
def attempt(
    annealing: AnnealingState | None,
    target_state: TargetState | None,
    size: int,
    more: int,
    plan: Schedule,
    bar: float,
) -> None:
    """Make the trial, and take it back if the energy rises by more than `bar`.

    Parameters
    ----------
    annealing, target_state
        The walk over a pool, or with aims; the other is None. Written.
    size
        Pairs of the trial.
    more
        By how much the cost of the edits rises with it.
    plan
        The energy.
    bar
        The most by which the energy may rise.
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
    # The energy without edits is read before and after; `more` prices the difference in edits.
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
    """Make proposals first..last - 1 of the schedule; ends early at the goal, if the plan says so.

    Parameters
    ----------
    annealing, target_state
        The walk over a pool, or with aims; the other is None. Written.
    plan
        Temperatures and energy. A segment may be run in several calls: the temperature continues.
    odds
        How likely each kind of proposal is.
    rng
        The random numbers of the walk.
    first, last
        Which proposals of the segment to make.
    """
    if annealing is not None:
        classes, unprotected = annealing.state.classes, annealing.unprotected
    if target_state is not None:
        classes, unprotected = target_state.state.classes, target_state.unprotected
    renewal = since = max(RENEWAL, len(classes.node) >> 8)
    cooling = (plan.cold / plan.hot) ** (1.0 / plan.steps)
    # Step 1: the temperature at proposal `first`; it falls by the same factor at every proposal.
    temperature = plan.hot * cooling**first
    listed = 0
    for _ in range(first, last):
        # Step 2, at every proposal: stop once the goal is reached, if nothing more is wanted.
        if plan.stop and unprotected_of(classes) <= plan.allowed:
            return
        # Step 3: renew the list of unprotected nodes now and then.
        if since >= renewal:
            since = 0
            listed = list_unprotected(classes, unprotected)
        since += 1
        temperature *= cooling
        # Step 4: propose a trial, and compute by how much its edits cost more.
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
            # Step 5: Metropolis. A rise by d is accepted with probability exp(-d / T), that is, if
            # d is at most -T log(u) for uniform u: drawn before the trial, so that one comparison
            # decides.
            bar = -temperature * math.log(1.0 - rng.random())
            attempt(annealing, target_state, size, more, plan, bar)


LOOKS = 64
"""About how many edges of a hub are looked at, evenly spread, before one of them is deleted.

It bounds a deletion of `strip` to fewer than 128 trial shifts of codes, whatever the degree.
"""

# Sweeps of `two_sides` at falling temperature, and greedy ones after them. More sweeps find larger
# cuts, and take longer in proportion; the greedy ones end as soon as one changes nothing. The
# numbers come from the prototype of CUT.
WARM_SWEEPS = 50
GREEDY_SWEEPS = 10


@tiered(lambda _indptr, indices, _rng, _side: (WARM_SWEEPS + GREEDY_SWEEPS) * indices.size)
@leaf
def two_sides(indptr: Ints, indices: Nodes, rng: Generator, side: Flags) -> int:
    """Write the half of each node in a large cut into `side`; return the edges inside a half.

    Maximum cut by annealing: every edge inside a half may have to be deleted. O(60 m).

    Parameters
    ----------
    indptr, indices
        The neighbor lists: int64 (n + 1,), int32 (2m,). Read.
    rng
        The random numbers.
    side
        bool, shape (n,): written.
    """
    n = side.size
    for v in range(n):
        side[v] = rng.random() < 0.5
    # A node changes sides if that cuts more of its edges; in a warm sweep, over random nodes, also
    # at times if it cuts fewer. The temperature is in edges: 2 at first, 7% lower at each sweep.
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
        # No node wants to change sides.
        if not turned:
            break
    # Each edge inside a half is counted from both ends.
    inside = 0
    for v in range(n):
        for j in range(indptr[v], indptr[v + 1]):
            inside += side[indices[j]] == side[v]
    return inside // 2


@leaf
def delete(state: PoolState, best: AnnealingBest, trial: Ints, pair: int, allowed: int) -> None:
    """Delete an edge, and make the state the best if it is better.

    Parameters
    ----------
    state, best
        Written.
    trial
        int64, shape (2,): room.
    pair
        The number of the edge, which is present.
    allowed
        The unprotected nodes that the goal allows.
    """
    flip(state, None, best, trial, pair)
    keep_if_better(state, best, allowed, ZERO)


@tiered(steps_over_pairs)
@leaf
def cut_triangles(
    state: PoolState, best: AnnealingBest, trial: Ints, side: Flags, allowed: int
) -> None:
    """Delete the edges inside a half that are in a triangle; no triangle remains.

    Every triangle has an edge with both ends in one half. O(sum over edges of the degrees of its
    ends).

    Parameters
    ----------
    state, best, trial
        Written.
    side
        bool, shape (n,): the halves. Read.
    allowed
        The unprotected nodes that the goal allows.
    """
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
    """Delete this many edges, each time one in the most triangles; return how many were deleted.

    Parameters
    ----------
    state, best, trial
        Written.
    heads
        int64, shape (n,): room. The first edge of the list for each number of triangles.
    following
        int64, shape (p,): room. The next edge of the same list. An edge's number may have fallen
        since it was listed: it is then moved to the right list when it is met.
    wanted
        How many edges to delete.
    allowed
        The unprotected nodes that the goal allows.
    """
    present = state.pool.present
    heads[:] = NONE
    # Step 1: list the edges by their triangles.
    for pair in range(following.size):
        if present[pair]:
            common = _common(state, pair)
            following[pair] = heads[common]
            heads[common] = pair
    gone, most = 0, heads.size - 1
    # Step 2: from the fullest list down, delete edges whose number still holds.
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
    """Delete edges of nodes with excess degree, the highest first; return whether any is left.

    The excess comes from the optimal k-degree sequence (the dynamic program of Liu and Terzi,
    mirrored for deletion). At each node the edge is deleted whose other end has excess too, then
    the one with the fewest common neighbors, then the one to a node of lowest degree. O(n) per
    deletion, plus the edges at the node.

    Parameters
    ----------
    state, best, trial
        Written.
    excess
        int64, shape (n,): by how much each degree is to fall. Written: below 0 where a node lost
        more edges than wanted.
    allowed
        The unprotected nodes that the goal allows.
    steps
        The most deletions of this call, so that the caller can look in between.
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
            # Compared in this order: the smallest is deleted.
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
    """Return the node of lowest degree that has an edge, or NONE."""
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
    """Return the edge at v whose deletion leaves the fewest nodes unprotected.

    Among equals the one in the fewest triangles. At a hub only about `LOOKS` edges are tried. Each
    deletion is made in the codes and undone.
    """
    pool, classes = state.pool, state.classes
    # Every so many edges of a hub, so that about `LOOKS` of them are tried.
    before, every, seen = tallies(classes), max(state.rows.length[v] // LOOKS, 1), 0
    chosen, rank = NONE, (0, 0)
    for i in range(pool.start[v], pool.start[v + 1]):
        pair = int(np.int64(pool.around[i]))
        if not pool.present[pair]:
            continue
        seen += 1
        if seen % every != 0:
            continue
        # Try the deletion in the codes alone, read the result, and undo it.
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
    """Delete edges of unprotected hubs until the goal is reached; return whether more is to do.

    Each time one edge of the unprotected node of highest degree, whose deletion leaves the fewest
    nodes unprotected. O(n) per deletion, plus at most 2 `LOOKS` trial shifts.

    Parameters
    ----------
    state, best, trial
        Written.
    allowed
        The unprotected nodes that the goal allows.
    steps
        The most deletions of this call, so that the caller can look in between.
    """
    for _ in range(steps):
        if state.classes.tally[UNPROTECTED] <= allowed:
            return False
        v = _highest(state)
        # All unprotected nodes are isolated: isolate the node of lowest degree, which joins their
        # class.
        if state.rows.length[v] == 0:
            v = _least(state)
        if v == NONE:
            return False
        delete(state, best, trial, _best_deletion(state, v), allowed)
    return True


HOT, COLD = 4.0, 0.3
"""Temperatures of `pair_up` at the start and at the end: kept edges lost in a change of partners
that is made one time in e.
"""

BEYOND = 0.5
"""Chance that the node to change partners with is two steps away, rather than any node.

Nodes near each other have similar neighbors more often. Near 0, fewer proposals would keep edges;
near 1, distant nodes would never become partners. How it was chosen is not recorded.
"""


@leaf
def _joined(indptr: Ints, indices: Nodes, v: int, w: int) -> bool:
    """Return whether v and w are neighbors: a binary search."""
    end = indptr[v + 1]
    at = first_not_below(indices, indptr[v], end, w)
    return bool(at < end and indices[at] == w)


@leaf
def kept_at(indptr: Ints, indices: Nodes, partner: Ints, marks: Ints, v: int) -> int:
    """Return how many edges at v are kept: those whose image under the partners is an edge.

    Parameters
    ----------
    indptr, indices
        The neighbor lists. Read.
    partner
        int64, shape (n,): the partner of each node. Read.
    marks
        int64, shape (n,): zeros before and after. Written in between.
    v
        The node.
    """
    image = partner[v]
    # Mark the neighbors of v's partner; count neighbors of v whose partners are marked; unmark.
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
    """Return how many edges at two pairs of partners are kept, given one node of each pair.

    Parameters
    ----------
    indptr, indices, partner, marks
        As for `kept_at`.
    ends
        One node of each pair.
    """
    v, w = ends
    x, y = partner[v], partner[w]
    # An edge at v is kept exactly if its image, at v's partner, is: so each pair is counted twice
    # from one of its nodes.
    kept = 2 * kept_at(indptr, indices, partner, marks, v)
    kept += 2 * kept_at(indptr, indices, partner, marks, w)
    # Edges between the four nodes were counted at both of their ends.
    kept -= _joined(indptr, indices, v, x)
    kept -= _joined(indptr, indices, w, y)
    if _joined(indptr, indices, v, w) and _joined(indptr, indices, x, y):
        kept -= 2
    if _joined(indptr, indices, v, y) and _joined(indptr, indices, x, w):
        kept -= 2
    return kept


@leaf
def _another(indptr: Ints, indices: Nodes, v: int, rng: Generator) -> int:
    """Return a node two random steps from v, or any node."""
    first, last = indptr[v], indptr[v + 1]
    if first < last and rng.random() < BEYOND:
        middle = np.int64(indices[first + int(rng.random() * (last - first))])
        first, last = indptr[middle], indptr[middle + 1]
        return int(np.int64(indices[first + int(rng.random() * (last - first))]))
    return int(rng.random() * (indptr.size - 1))


@leaf
def _exchange(partner: Ints, v: int, w: int) -> None:
    """Make v and w partners, and the two partners that they had."""
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
    """Anneal the partners of all nodes, within colors, so that most edges are kept.

    An edge is kept if the partners of its ends are joined too. Partners are indistinguishable once
    all other edges are deleted, since changing places maps the graph to itself. Cost: O(proposals *
    mean degree).

    Parameters
    ----------
    indptr, indices
        The neighbor lists: int64 (n + 1,), int32 (2m,). Read.
    colors
        int64, shape (n,): the color of every node. Read.
    partner
        int64, shape (n,): an involution without fixed points, within colors. Written.
    marks
        int64, shape (n,): zeros. Room.
    proposals
        Changes of partners that are tried.
    rng
        The random numbers.
    """
    cooling = (COLD / HOT) ** (1.0 / proposals)
    temperature = HOT
    for _ in range(proposals):
        temperature *= cooling
        v = int(rng.random() * (indptr.size - 1))
        w = _another(indptr, indices, v, rng)
        # Proposal: v and w become partners, and so do their former ones.
        x = partner[v]
        if w in (v, x) or colors[v] != colors[w]:
            continue
        # Only edges at these four nodes are affected; compare how many are kept before and after.
        lost = kept_of_pairs(indptr, indices, partner, marks, (v, w))
        _exchange(partner, v, w)
        lost -= kept_of_pairs(indptr, indices, partner, marks, (v, x))
        # Metropolis, with the kept edges as the energy. If refused, v and its former partner x
        # become partners again, which brings back the former partner of w, too.
        if lost > 0 and lost > -temperature * math.log(1.0 - rng.random()):
            _exchange(partner, v, x)
