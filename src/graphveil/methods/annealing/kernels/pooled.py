"""The state of an annealing walk over a fixed pool of pairs, and what a network loses with an edge.

The walk of `anneal` (heuristics search, cut, strip and mirror; not in the paper) flips pairs of a
pool that is fixed when it starts: the edges of the input, which may be deleted, and candidates,
which may be added. With rewiring the unit is an edge and its *mate*, which exchange ends: {v, w},
{x, y} become {v, y}, {x, w}, the paper's rewiring of section 3.2.1. A trial of one or two pairs is
made, its energy is compared, and it is kept or taken back.

How the codes of nodes follow a flip depends on the measure:

- ``values`` is None: codes of degrees and triangles (count, edge-count and degree, at distance 1).
  The codes of the two ends and of their common neighbors move, and the new code is exact.
- ``values`` is given: any measure at any distance, by sums and hashes; see the module `values`.
- ``arcs`` is given: a directed network under ``directed-count``.
- ``pool.steps`` is given: profiles of a network with several layers, where a flip adds fixed steps
  to the codes of its two ends, and neighbor lists are not needed.

What a walk does not need is None. Numba compiles one version for each combination, without the code
that the None would reach.

Cost of a trial: O(deg v + deg w) for the common neighbors. Memory: O(n + m + candidates).

The second half of the module prices edges for searches that keep properties of the network:
shortest paths over each edge (Brandes 2001), bridges (Tarjan 1974), clustering, and communities
(Blondel et al. 2008). They run once, or once per segment, not per proposal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Flags, Ints, Nodes
from graphveil.core.kernels.arrays import first_not_below
from graphveil.core.kernels.leaf import ONE, allocating, leaf
from graphveil.core.kernels.tiers import for_each_entry, tiered
from graphveil.methods.annealing.kernels.classes import (
    BY_TRIANGLE,
    GALLOP,
    NeighborRows,
    NodeClasses,
    begin,
    common_of,
    move,
    shift,
    toggle,
    undo,
    unprotected_of,
)
from graphveil.methods.annealing.kernels.values import Values, restore, settle, turn

Ways = NDArray[np.int8]

# Bits of `ArcRows.ways`; entries of `ArcRows.unit`.
AWAY, BACK = 1, 2
OUT, IN, NEIGHBOR, TIE = range(4)


class ArcRows(NamedTuple):
    """The directions of the edges in `NeighborRows`, and what the codes are made of.

    Parameters
    ----------
    ways
        int8, one per place of `NeighborRows.neighbor`: `AWAY` if an arc leads to that neighbor,
        `BACK` if one comes from it, or the sum of both. Written by `toggle_arc`.
    unit
        int64, shape (4,): what an arc out (``OUT``), an arc in (``IN``), a neighbor (``NEIGHBOR``)
        and an arc in the neighborhood (``TIE``) add to a code. Fixed.
    """

    ways: Ways
    unit: Ints


@leaf
def _ways_of(rows: NeighborRows, ways: Ways, v: int, w: int) -> int:
    """Return the ways in which v is connected to w, or 0 if they are not neighbors."""
    end = rows.start[v] + rows.length[v]
    at = first_not_below(rows.neighbor, rows.start[v], end, w)
    return int(ways[at]) if at < end and rows.neighbor[at] == w else 0


@leaf
def _turn(rows: NeighborRows, ways: Ways, v: int, w: int, way: int) -> None:
    """Flip one direction of w in the row of v, which has room.

    A new neighbor is inserted; one without any direction left leaves the row.
    """
    start, length, neighbor = rows.start[v], rows.length[v], rows.neighbor
    end = start + length
    at = first_not_below(neighbor, start, end, w)
    if at == end or neighbor[at] != w:
        # Insert w, with no direction yet; `ways` moves along with the neighbors.
        for i in range(end, at, -1):
            neighbor[i], ways[i] = neighbor[i - 1], ways[i - 1]
        neighbor[at], ways[at] = w, 0
        rows.length[v] = length + 1
    ways[at] ^= way
    if ways[at] == 0:
        # The last direction is gone: close the gap.
        for i in range(at, start + rows.length[v] - 1):
            neighbor[i], ways[i] = neighbor[i + 1], ways[i + 1]
        rows.length[v] -= 1


@leaf
def toggle_arc(rows: NeighborRows, ways: Ways, v: int, w: int) -> None:
    """Add the arc from v to w, whose rows have room, or remove it if it exists."""
    _turn(rows, ways, v, w, AWAY)
    _turn(rows, ways, w, v, BACK)


@leaf
def _shared(rows: NeighborRows, ways: Ways, v: int, w: int) -> tuple[int, int, int]:
    """Write the common neighbors of v and w into `rows.common`.

    Return how many there are, the number of arcs between v and them, and between w and them.
    """
    i, i_end = rows.start[v], rows.start[v] + rows.length[v]
    j, j_end = rows.start[w], rows.start[w] + rows.length[w]
    near, filled, with_v, with_w = rows.neighbor, 0, 0, 0
    gallop_v = rows.length[v] > GALLOP * rows.length[w]
    gallop_w = rows.length[w] > GALLOP * rows.length[v]
    while i < i_end and j < j_end:
        if gallop_v:
            i = first_not_below(near, i, i_end, int(np.int64(near[j])))
        if gallop_w:
            j = first_not_below(near, j, j_end, int(np.int64(near[i])))
        if i == i_end or j == j_end:
            break
        from_v, from_w = near[i], near[j]
        if from_v == from_w:
            rows.common[filled] = from_v
            filled += 1
            # One arc, or two if it goes both ways.
            with_v += (ways[i] & AWAY) + (ways[i] >> 1)
            with_w += (ways[j] & AWAY) + (ways[j] >> 1)
        i += from_v <= from_w
        j += from_w <= from_v
    return filled, int(with_v), int(with_w)


@leaf
def shift_arc(
    classes: NodeClasses, rows: NeighborRows, arcs: ArcRows, v: int, w: int, sign: int
) -> int:
    """Move the codes as adding (sign 1) or removing (-1) the arc from v to w does.

    Neighbor lists stay as they are. Return the number of common neighbors.
    """
    ways, unit = arcs
    common, with_v, with_w = _shared(rows, ways, v, w)
    # The arc itself: out of v, into w, and in the neighborhood of both.
    of_v, of_w = unit[OUT] + unit[TIE], unit[IN] + unit[TIE]
    # If no arc leads back, v and w become neighbors or cease to be: the arcs between one of them
    # and common neighbors are then in the neighborhood of the other, or no longer.
    if _ways_of(rows, ways, v, w) & BACK == 0:
        of_v += unit[NEIGHBOR] + with_w * unit[TIE]
        of_w += unit[NEIGHBOR] + with_v * unit[TIE]
    # Each common neighbor has one arc more or less in its neighborhood.
    for i in range(common):
        move(classes, int(np.int64(rows.common[i])), sign * unit[TIE])
    move(classes, v, sign * of_v)
    move(classes, w, sign * of_w)
    return common


NONE = -1
# Entries of `Pool.tally`; rows of `Pool.mates`.
CHANGED, SPENT = range(2)
NOW, BEST = range(2)


class Pool(NamedTuple):
    """The pairs that may be flipped: the edges of the input first, then the candidates to add.

    There are p pairs, each with its number. Only `present`, `order`, `position`, `tally`, `mates`
    and, between segments, `cost` are written during a walk.

    Parameters
    ----------
    one, other
        int32, shape (p,): the two ends of each pair; the source and the target if directed.
    start
        int64, shape (n + 1,): see `around`.
    around
        int32, shape (2p,): ``around[start[v] : start[v + 1]]`` are the numbers of the pairs at v.
    present
        bool, shape (p,): whether the pair is an edge now.
    order
        int32, shape (p,): a permutation of the pairs, of which the first ``tally[CHANGED]`` differ
        from the input. So a random edit, or a random pair without one, is one draw.
    position
        int32, shape (p,): the inverse of `order`.
    tally
        int64: ``CHANGED``, the pairs that differ from the input; ``SPENT``, the sum of their costs.
    common
        int32, shape (p,): about how many nodes a flip moves; counted at the start and not updated.
        Proposals prefer small values. Over values the sum of the degrees may stand in for it; it is
        negative if edges with many common neighbors are to be preferred.
    mates
        int64, shape (2, p), or None unless edges are rewired: twice the number of the edge with
        which a changed edge has exchanged ends, plus 1 if that edge is taken the other way round.
        Row ``NOW`` is of the present state, row ``BEST`` of the best one.
    steps
        int64, shape (p, 2), or None: what a pair adds to the codes of its two ends.
    cost
        int64, shape (p,), or None: the price of changing a pair; None: each costs 1.
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
    mates: Ints | None
    steps: Ints | None = None
    cost: Ints | None = None


@leaf
def price_of(cost: Ints | None, pair: int) -> int:
    """Return what the edit of a pair costs."""
    if cost is not None:
        return int(cost[pair])
    return 1


@leaf
def is_changed(pool: Pool, pair: int) -> bool:
    """Return whether the pair differs from the input."""
    return bool(pool.position[pair] < pool.tally[CHANGED])


# Entries of `AnnealingBest.tally`.
LOGGED, BEST_UNPROTECTED, BEST_CHANGED, BEST_NEARLY, BEST_SPENT = range(5)


class AnnealingBest(NamedTuple):
    """The best state seen so far, and the pairs flipped since.

    Most steps of a walk follow a better state closely, so that `keep` writes only what changed
    since the last one.

    Parameters
    ----------
    changed
        bool, shape (p,): whether each pair differs from the input in the best state.
    log
        int32, shape (max(p, 1),): the pairs flipped since; those beyond its size are only counted.
    tally
        int64: ``LOGGED``, and of the best state the unprotected nodes, the changed pairs, what
        `nearly_unprotected` counts, and the sum of costs.
    """

    changed: Flags
    log: Nodes
    tally: Ints


@leaf
def record(pool: Pool, mates: Ints | None, best: AnnealingBest, pair: int) -> None:
    """List a flipped pair, and its mate, as changed or unchanged, and log both.

    Parameters
    ----------
    pool
        `order`, `position` and `tally` are written.
    mates
        `pool.mates`, or None: passed by itself, so that kernels are compiled without it. Written.
    best
        The log is written.
    pair
        The pair, whose `present` is flipped already.
    """
    _record(pool, best, pair)
    if mates is not None:
        mate = mates[NOW, pair]
        other = mate >> 1
        # The mate gets this pair as its own mate, taken the same way round.
        mates[NOW, other] = 2 * pair + (mate & 1)
        _record(pool, best, other)


@leaf
def _record(pool: Pool, best: AnnealingBest, pair: int) -> None:
    """Move a pair across the border between changed and unchanged pairs in `order`; log it."""
    at = pool.position[pair]
    if at < pool.tally[CHANGED]:
        pool.tally[CHANGED] -= 1
        pool.tally[SPENT] -= price_of(pool.cost, pair)
        border = pool.tally[CHANGED]
    else:
        border = pool.tally[CHANGED]
        pool.tally[CHANGED] += 1
        pool.tally[SPENT] += price_of(pool.cost, pair)
    # Exchange it with the pair at the border.
    moved = pool.order[border]
    pool.order[border], pool.order[at] = pair, moved
    pool.position[pair], pool.position[moved] = border, at
    if best.tally[LOGGED] < best.log.size:
        best.log[best.tally[LOGGED]] = pair
    best.tally[LOGGED] += 1


@leaf
def beats(one: tuple[int, int], other: tuple[int, int], allowed: int) -> bool:
    """Return whether a state (unprotected nodes, cost) is better than another one.

    First fewer unprotected nodes beyond those allowed, then lower cost, then fewer unprotected
    nodes.
    """
    beyond, other_beyond = max(one[0] - allowed, 0), max(other[0] - allowed, 0)
    if beyond != other_beyond:
        return bool(beyond < other_beyond)
    if one[1] != other[1]:
        return bool(one[1] < other[1])
    return bool(one[0] < other[0])


@tiered(for_each_entry(0.1))
@leaf
def keep(pool: Pool, mates: Ints | None, best: AnnealingBest, unprotected: int) -> None:
    """Make the present state the best one.

    O(pairs flipped since the last best state), at most O(p).

    Parameters
    ----------
    pool
        Read.
    mates
        `pool.mates`, or None: row ``BEST`` is written.
    best
        Written.
    unprotected
        How many nodes the present state leaves unprotected.
    """
    tally = best.tally
    logged = tally[LOGGED] <= best.log.size
    for i in range(tally[LOGGED] if logged else best.changed.size):
        pair = best.log[i] if logged else i
        best.changed[pair] = pool.position[pair] < pool.tally[CHANGED]
        if mates is not None:
            mates[BEST, pair] = mates[NOW, pair]
    tally[LOGGED], tally[BEST_UNPROTECTED] = 0, unprotected
    tally[BEST_CHANGED] = pool.tally[CHANGED]
    tally[BEST_SPENT] = pool.tally[SPENT]


class PoolState(NamedTuple):
    """What a flip reads and writes: classes, neighbor lists, pairs, and directions if any."""

    classes: NodeClasses
    rows: NeighborRows
    pool: Pool
    arcs: ArcRows | None = None


@leaf
def keep_if_better(state: PoolState, best: AnnealingBest, allowed: int, nearly: int) -> None:
    """Make the present state the best if it is better; `nearly` is its surcharge in tenths.

    Under phi the unprotected nodes beyond those allowed and the surcharge are compared first, in
    tenths; elsewhere the surcharge is 0, and this is the order of `beats`.
    """
    pool, tally, now = state.pool, best.tally, unprotected_of(state.classes)
    here, there = (now, pool.tally[SPENT]), (tally[BEST_UNPROTECTED], tally[BEST_SPENT])
    more = max(now - allowed, 0) - max(tally[BEST_UNPROTECTED] - allowed, 0)
    worse = 10 * more + nearly - tally[BEST_NEARLY]
    if worse < 0 or (worse == 0 and beats(here, there, allowed)):
        keep(pool, pool.mates, best, now)
        tally[BEST_NEARLY] = nearly


class AnnealingState(NamedTuple):
    """What a walk over a pool of pairs reads and writes.

    Parameters
    ----------
    state
        Classes, neighbor lists and pairs.
    values
        The values of the measure, or None for codes.
    best
        The best state.
    unprotected
        int64, shape (n,): the nodes that were unprotected when the list was last renewed.
    trial
        int64, shape (2,): the pairs of the trial at hand, written by `propose`.
    """

    state: PoolState
    values: Values | None
    best: AnnealingBest
    unprotected: Ints
    trial: Ints


def steps_over_pairs(state: PoolState, *_others: object) -> int:
    """Return about how many steps it takes to look at all pairs with their common neighbors."""
    length = state.rows.length
    return int((length * length).sum()) // 2 + state.pool.one.size


@tiered(steps_over_pairs)
@leaf
def count_common(state: PoolState) -> None:
    """Write the number of common neighbors of every pair into `pool.common`."""
    pool = state.pool
    for pair in range(pool.one.size):
        pool.common[pair] = common_of(
            state.rows, int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair]))
        )


@leaf
def shift_pair(state: PoolState, pair: int) -> int:
    """Move the codes as flipping the pair does; return how many common neighbors moved along."""
    classes, rows, pool, arcs = state
    ends = int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair]))
    sign = -1 if pool.present[pair] else 1
    return _shift_all(classes, rows, arcs, pool.steps, pair, ends, sign)


@leaf
def _shift_all(
    classes: NodeClasses,
    rows: NeighborRows,
    arcs: ArcRows | None,
    steps: Ints | None,
    pair: int,
    ends: tuple[int, int],
    sign: int,
) -> int:
    """Move the codes of the ends of a pair and of its common neighbors; return how many."""
    if arcs is not None:
        return int(shift_arc(classes, rows, arcs, ends[0], ends[1], sign))
    # Each common neighbor gains or loses a triangle; measures without triangles skip this.
    common, by_triangle = 0, classes.rule[BY_TRIANGLE]
    if by_triangle != 0:
        common = common_of(rows, ends[0], ends[1])
        for i in range(common):
            move(classes, int(np.int64(rows.common[i])), sign * by_triangle)
    _shift_ends(classes, steps, pair, ends, common, sign)
    return common


@leaf
def _shift_ends(
    classes: NodeClasses,
    steps: Ints | None,
    pair: int,
    ends: tuple[int, int],
    common: int,
    sign: int,
) -> None:
    """Move the codes of the ends: by the steps of the pair if it has some, else as in a graph."""
    if steps is None:
        shift(classes, ends, common, sign)
    else:
        move(classes, ends[0], sign * steps[pair, 0])
        move(classes, ends[1], sign * steps[pair, 1])


@leaf
def rewrite(state: PoolState, pair: int) -> None:
    """Flip the pair in the neighbor lists and in `present`; done twice, nothing changes."""
    pool = state.pool
    ends = int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair]))
    _rewrite_lists(state.rows, state.arcs, pool.steps, ends)
    pool.present[pair] = not pool.present[pair]


@leaf
def _rewrite_lists(
    rows: NeighborRows, arcs: ArcRows | None, steps: Ints | None, ends: tuple[int, int]
) -> None:
    """Flip a pair in the neighbor lists; profiles have none."""
    if arcs is not None:
        toggle_arc(rows, arcs.ways, ends[0], ends[1])
    elif steps is None:
        toggle(rows, ends[0], ends[1])


@leaf
def _turns(pool: Pool, mates: Ints | None, turns: Ints, pair: int) -> int:
    """Write the pairs of nodes that the edit of this pair parts and joins; return how many.

    Also flips `present` of the pair and of its mate. Each row of `turns` (int64, shape (4, 3)) is
    two nodes, and -1 to part or 1 to join them; parted pairs come first.
    """
    v, w, here = pool.one[pair], pool.other[pair], pool.present[pair]
    pool.present[pair] = not here
    if mates is None:
        turns[0, 0], turns[0, 1], turns[0, 2] = v, w, -1 if here else 1
        return 1
    other = mates[NOW, pair] >> 1
    pool.present[other] = not here
    x, y = pool.one[other], pool.other[other]
    if mates[NOW, pair] & 1:
        x, y = y, x
    # The edit is taken back: exchange ends once more.
    if not here:
        w, y = y, w
    turns[0, 0], turns[0, 1], turns[0, 2] = v, w, -1
    turns[1, 0], turns[1, 1], turns[1, 2] = x, y, -1
    turns[2, 0], turns[2, 1], turns[2, 2] = v, y, 1
    turns[3, 0], turns[3, 1], turns[3, 2] = x, w, 1
    return 4


@leaf
def make(state: PoolState, values: Values | None, trial: Ints, size: int) -> None:
    """Make the edits of a trial in the classes and lists, or take them back.

    Over codes the last flip waits for `settle_trial` to enter the lists, so that a refused trial
    need not flip it back. Over values the lists are complete, and `values` holds what
    `take_back` needs.

    Parameters
    ----------
    state, values
        Written.
    trial
        int64: the pairs; the first `size` are read.
    size
        How many.
    """
    begin(state.classes)
    # Over codes: each flip sees the lists after those before it.
    if values is None:
        for i in range(size):
            shift_pair(state, trial[i])
            if i < size - 1:
                rewrite(state, trial[i])
        return
    # Over values: note what all turns do, then settle each node that they touched once.
    values.tally[0] = 0
    turns = values.turns
    for i in range(size):
        for j in range(_turns(state.pool, state.pool.mates, turns, trial[i])):
            turn(state.rows, values, turns[j, 0], turns[j, 1], turns[j, 2])
    settle(state.rows, values, state.classes)


@leaf
def take_back(
    state: PoolState, values: Values | None, trial: Ints, size: int, before: tuple[int, int, int]
) -> None:
    """Undo what `make` did last.

    Parameters
    ----------
    state, values
        Written: they are as before the trial.
    trial
        int64: the pairs; the first `size` are read.
    size
        How many.
    before
        The `tallies` from before the trial.
    """
    undo(state.classes, before)
    if values is None:
        for i in range(size - 1):
            rewrite(state, trial[i])
        return
    restore(values)
    turns = values.turns
    # In reverse; `_turns` flips `present` back, and gives the same pairs of nodes to toggle.
    for i in range(size - 1, -1, -1):
        for j in range(_turns(state.pool, state.pool.mates, turns, trial[i])):
            toggle(state.rows, turns[j, 0], turns[j, 1])


@leaf
def settle_trial(
    state: PoolState, values: Values | None, best: AnnealingBest, trial: Ints, size: int
) -> None:
    """Keep what `make` did last: complete the lists, and list every pair and its mate.

    Parameters
    ----------
    state, values, best
        Written.
    trial
        int64: the pairs; the first `size` are read.
    size
        How many.
    """
    if values is None:
        rewrite(state, trial[size - 1])
    for i in range(size):
        record(state.pool, state.pool.mates, best, trial[i])


@leaf
def flip(
    state: PoolState, values: Values | None, best: AnnealingBest, trial: Ints, pair: int
) -> None:
    """Make the edit of this pair, or take it back, whatever it does to the energy.

    Parameters
    ----------
    state, values, best
        Written.
    trial
        int64, shape (2,): room.
    pair
        The number of the pair. With rewiring it has a mate.
    """
    trial[0] = pair
    make(state, values, trial, ONE)
    settle_trial(state, values, best, trial, ONE)


@tiered(steps_over_pairs)
@leaf
def go_to(
    state: PoolState, values: Values | None, best: AnnealingBest, trial: Ints, changed: Flags
) -> None:
    """Make the state in which exactly these pairs are changed the present one.

    With rewiring, the mates are those of the best state.

    Parameters
    ----------
    state, values, best, trial
        Written; the best state stays the best.
    changed
        bool, shape (p,): whether each pair is to differ from the input. Read.
    """
    pool = state.pool
    # Over values, the first pass only takes edits back, those with the wrong mate too; the second
    # makes edits. Over codes the first pass does all, and the second finds nothing.
    for first_pass in (True, False):
        for pair in range(changed.size):
            here = pool.position[pair] < pool.tally[CHANGED]
            astray = here != changed[pair]
            if values is not None and first_pass:
                astray = here and (astray or _strays(pool.mates, pair))
            if astray:
                if not here:
                    _mate_as_in_best(pool.mates, pair)
                flip(state, values, best, trial, pair)


@leaf
def _strays(mates: Ints | None, pair: int) -> bool:
    """Return whether the pair has a different mate than in the best state."""
    if mates is not None:
        return bool(mates[NOW, pair] != mates[BEST, pair])
    return False


@leaf
def _mate_as_in_best(mates: Ints | None, pair: int) -> None:
    """Give the pair the mate that it has in the best state."""
    if mates is not None:
        mates[NOW, pair] = mates[BEST, pair]


Reals = NDArray[np.float64]


def _searches(indptr: Ints, indices: Nodes, edge: Ints, sources: Ints, *_others: object) -> int:
    """Return about how many steps it takes to search from all sources."""
    del edge
    return 2 * int(sources.size) * int(indptr.size + indices.size)


@tiered(_searches)
@allocating
def add_paths(
    indptr: Ints, indices: Nodes, edge: Ints, sources: Ints, over: Reals, reached: Ints
) -> None:
    """Add the shares of shortest paths over every edge, from these sources (Brandes 2001).

    O(sources * (n + m)).

    Parameters
    ----------
    indptr, indices
        The neighbor lists of a graph: int64 (n + 1,), int32 (2m,). Read.
    edge
        int64, shape (2m,): the number of the edge of each entry of `indices`. Read.
    sources
        int64: the nodes to search from. Read.
    over
        float64, shape (m,): for every edge, the sum over pairs (source, node) of the share of their
        shortest paths that use it is added.
    reached
        int64, shape (2,): the sum of all distances, and the number of pairs, are added.
    """
    n = indptr.size - 1
    hops, queue = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    paths, load = np.empty(n, dtype=np.float64), np.empty(n, dtype=np.float64)
    for source in sources:
        hops[:] = -1
        paths[:] = 0.0
        load[:] = 0.0
        hops[source], paths[source], queue[0] = 0, 1.0, source
        first, last = 0, 1
        # Step 1: breadth-first search; hops and number of shortest paths of every node reached.
        while first < last:
            v = queue[first]
            first += 1
            for arc in range(indptr[v], indptr[v + 1]):
                w = indices[arc]
                if hops[w] < 0:
                    hops[w] = hops[v] + 1
                    reached[0] += hops[w]
                    queue[last] = w
                    last += 1
                if hops[w] == hops[v] + 1:
                    paths[w] += paths[v]
        reached[1] += last - 1
        # Step 2: from the farthest node back, each passes its load, and itself, to the nodes before
        # it, in proportion to the shortest paths through them.
        for i in range(last - 1, 0, -1):
            w = queue[i]
            for arc in range(indptr[w], indptr[w + 1]):
                v = np.int64(indices[arc])
                if hops[v] == hops[w] - 1:
                    part = paths[v] / paths[w] * (1.0 + load[w])
                    over[edge[arc]] += part
                    load[v] += part


@tiered()
@allocating
def cut_off(indptr: Ints, indices: Nodes, edge: Ints, smaller: Ints) -> None:
    """Write for every bridge how many nodes are on its smaller side (Tarjan 1974). O(n + m).

    Parameters
    ----------
    indptr, indices, edge
        The graph, as for `add_paths`. Read.
    smaller
        int64, shape (m,), zeros: written at the numbers of the bridges only.
    """
    n = indptr.size - 1
    order, low = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    size, entered_by = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    at, stack = indptr[:-1].copy(), np.empty(n, dtype=np.int64)
    listed = np.empty(n, dtype=np.int64)
    order[:] = -1
    seen = 0
    for root in range(n):
        if order[root] >= 0:
            continue
        begin, top = seen, 1
        order[root] = low[root] = seen
        size[root], entered_by[root], stack[0], listed[seen] = 1, -1, root, root
        seen += 1
        while top > 0:
            v = stack[top - 1]
            # Step 1: depth-first search with a stack of its own. ``order`` numbers the nodes as
            # they are met; ``low`` is the least number reached from the subtree of a node by one
            # edge back.
            if at[v] < indptr[v + 1]:
                arc = at[v]
                at[v] += 1
                w = np.int64(indices[arc])
                if order[w] < 0:
                    order[w] = low[w] = seen
                    size[w], entered_by[w], stack[top], listed[seen] = 1, edge[arc], w, w
                    seen += 1
                    top += 1
                elif edge[arc] != entered_by[v]:
                    low[v] = min(low[v], order[w])
            else:
                # All neighbors of v are done: pass its low and its size on to the node above it.
                top -= 1
                if top > 0:
                    above = stack[top - 1]
                    low[above] = min(low[above], low[v])
                    size[above] += size[v]
        # Step 2: the edge by which v was entered is a bridge if no edge leads from below v to above
        # it.
        for i in range(begin + 1, seen):
            v = listed[i]
            if low[v] == order[v]:
                smaller[entered_by[v]] = min(size[v], size[root] - size[v])


@leaf
def _local(triangles: int, degree: int) -> float:
    """Return the local clustering coefficient of a node; 0 with fewer than two neighbors."""
    return 2.0 * triangles / (degree * (degree - 1.0)) if degree > 1 else 0.0


@tiered()
@allocating
def clustering_lost(indptr: Ints, indices: Nodes, edge: Ints, triangles: Ints, out: Reals) -> None:
    """Write how the sum of local clustering changes if each edge alone is deleted.

    Each edge is looked at from its end of higher degree, over the neighbors of the other: O(m
    sqrt(m)).

    Parameters
    ----------
    indptr, indices, edge
        The graph, as for `add_paths`. Read.
    triangles
        int64, shape (n,): the triangles at every node. Read.
    out
        float64, shape (m,): written.
    """
    n = indptr.size - 1
    mark = np.empty(n, dtype=np.int64)
    mark[:] = -1
    for u in range(n):
        du = indptr[u + 1] - indptr[u]
        for arc in range(indptr[u], indptr[u + 1]):
            mark[indices[arc]] = u
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            dv = indptr[v + 1] - indptr[v]
            if dv > du or (dv == du and v > u):
                continue
            common, change = 0, 0.0
            # Each common neighbor loses one triangle, and keeps its degree.
            for further in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[further])
                if mark[w] == u:
                    common += 1
                    change -= _local(1, indptr[w + 1] - indptr[w])
            # Both ends lose all triangles of the edge, and one neighbor.
            change += _local(triangles[u] - common, du - 1) - _local(triangles[u], du)
            change += _local(triangles[v] - common, dv - 1) - _local(triangles[v], dv)
            out[edge[arc]] = change


def _sweeps(indptr: Ints, indices: Nodes, *_others: object) -> int:
    """Return about how many steps ten sweeps over all nodes take."""
    return 10 * int(indptr.size + indices.size)


@tiered(_sweeps)
@allocating
def join_communities(
    indptr: Ints, indices: Nodes, weight: Ints, strength: Ints, order: Ints, community: Ints
) -> None:
    """Move nodes to neighboring communities while modularity rises (Blondel et al. 2008, phase 1).

    Modularity is compared in integers, times (2m)**2 / 2, so that the result is exact and repeats.

    Parameters
    ----------
    indptr, indices
        The graph, with an entry of a node in its own row for weight inside it. Read.
    weight
        int64: the weight of each entry. Read.
    strength
        int64, shape (n,): the sum of the weights at each node. Read.
    order
        int64, shape (n,): in which order nodes are looked at. Read.
    community
        int64, shape (n,): the community of each node. Written.
    """
    n = indptr.size - 1
    inside, near = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    touched, all_ends = np.empty(n, dtype=np.int64), np.int64(0)
    # ``inside[c]``: the strength of community c; ``near[c]``: the weight from the node at hand to
    # it.
    for v in range(n):
        inside[community[v]] += strength[v]
        all_ends += strength[v]
    moved = True
    while moved:
        moved = False
        for v in order:
            found = 0
            for arc in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[arc])
                if w != v:
                    if near[community[w]] == 0:
                        touched[found] = community[w]
                        found += 1
                    near[community[w]] += weight[arc]
            own = community[v]
            # Take v out, and find the community c in which ``near[c] - strength[v] * inside[c] /
            # 2m`` is largest; v stays where it is unless another gains strictly.
            inside[own] -= strength[v]
            best, most = own, near[own] * all_ends - strength[v] * inside[own]
            for i in range(found):
                other = touched[i]
                gain = near[other] * all_ends - strength[v] * inside[other]
                if gain > most:
                    best, most = other, gain
                near[other] = 0
            near[own] = 0
            inside[best] += strength[v]
            community[v] = best
            moved |= best != own
