"""The state of a walk over a pool of pairs: edits are tried, taken back, or made for good.

An edit flips a pair, or rewires an edge with another one, its mate. Where ``values`` is None the
walk follows codes of degrees and triangles, else the values of any measure: known when the kernels
are compiled. Here are also directed edges, and what a network loses with an edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import ONE, allocating, leaf
from graphveil.core.kernels.tiers import for_each_entry, tiered
from graphveil.methods.annealing.kernels.classes import (
    BY_TRIANGLE,
    GALLOP,
    NeighborRows,
    NodeClasses,
    begin,
    common_of,
    first_not_below,
    move,
    shift,
    toggle,
    undo,
    unprotected_of,
)
from graphveil.methods.annealing.kernels.values import Values, restore, settle, turn

Ints = NDArray[np.int64]
Ways = NDArray[np.int8]

AWAY, BACK = 1, 2
OUT, IN, NEIGHBOR, TIE = range(4)


class ArcRows(NamedTuple):
    """Which ways the neighbors in `NeighborRows` are connected, and what codes are made of.

    ``ways[i]`` is `AWAY` if the arc leads to the neighbor, `BACK` if it comes from there, or the
    sum. ``unit`` is what an arc out, an arc in, a neighbor and an arc among them all add to a code.
    """

    ways: Ways
    unit: Ints


@leaf
def _ways_of(rows: NeighborRows, ways: Ways, v: int, w: int) -> int:
    """Return which ways v is connected to w; 0 where it is not."""
    end = rows.start[v] + rows.length[v]
    at = first_not_below(rows.neighbor, rows.start[v], end, w)
    return int(ways[at]) if at < end and rows.neighbor[at] == w else 0


@leaf
def _turn(rows: NeighborRows, ways: Ways, v: int, w: int, way: int) -> None:
    """Turn one way of w in the row of v, which has room; w leaves the row with the last way."""
    start, length, neighbor = rows.start[v], rows.length[v], rows.neighbor
    end = start + length
    at = first_not_below(neighbor, start, end, w)
    if at == end or neighbor[at] != w:
        for i in range(end, at, -1):
            neighbor[i], ways[i] = neighbor[i - 1], ways[i - 1]
        neighbor[at], ways[at] = w, 0
        rows.length[v] = length + 1
    ways[at] ^= way
    if ways[at] == 0:
        for i in range(at, start + rows.length[v] - 1):
            neighbor[i], ways[i] = neighbor[i + 1], ways[i + 1]
        rows.length[v] -= 1


@leaf
def toggle_arc(rows: NeighborRows, ways: Ways, v: int, w: int) -> None:
    """Let an arc lead from v to w, whose rows have room, or take it away where it is there."""
    _turn(rows, ways, v, w, AWAY)
    _turn(rows, ways, w, v, BACK)


@leaf
def _shared(rows: NeighborRows, ways: Ways, v: int, w: int) -> tuple[int, int, int]:
    """Write the common neighbors of v and w; return how many, and their arcs with v and with w."""
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
        one, other = near[i], near[j]
        if one == other:
            rows.common[filled] = one
            filled += 1
            with_v += (ways[i] & AWAY) + (ways[i] >> 1)
            with_w += (ways[j] & AWAY) + (ways[j] >> 1)
        i += one <= other
        j += other <= one
    return filled, int(with_v), int(with_w)


@leaf
def shift_arc(
    classes: NodeClasses, rows: NeighborRows, arcs: ArcRows, v: int, w: int, sign: int
) -> int:
    """Move the codes as an arc from v to w does that comes (1) or goes (-1), lists unchanged.

    Where no arc leads back, arcs to common neighbors come or go for both.
    """
    ways, unit = arcs
    common, with_v, with_w = _shared(rows, ways, v, w)
    of_v, of_w = unit[OUT] + unit[TIE], unit[IN] + unit[TIE]
    if _ways_of(rows, ways, v, w) & BACK == 0:
        of_v += unit[NEIGHBOR] + with_w * unit[TIE]
        of_w += unit[NEIGHBOR] + with_v * unit[TIE]
    for i in range(common):
        move(classes, int(np.int64(rows.common[i])), sign * unit[TIE])
    move(classes, v, sign * of_v)
    move(classes, w, sign * of_w)
    return common


Flags = NDArray[np.bool_]

NONE = -1
CHANGED, SPENT = range(2)
NOW, BEST = range(2)


class Pool(NamedTuple):
    """The pairs that may be flipped: the edges first, then the candidates to add.

    ``around[start[v] : start[v + 1]]`` are the pairs at v. The first ``tally[CHANGED]`` pairs of
    the permutation ``order`` are changed; ``position`` is its inverse. ``common`` guesses what a
    flip moves. A changed edge {v, w} has exchanged ends with its mate, edge ``mates[NOW] >> 1``,
    {x, y}, for {v, y} and {x, w}; x and y change roles where ``mates[NOW] & 1``. ``steps[i]`` is
    what a directed pair adds to the codes of its ends; neighbor lists stay then. ``cost[i]`` is the
    price of a change, ``tally[SPENT]`` their sum. What a walk does not need is None.
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


LOGGED, BEST_UNPROTECTED, BEST_CHANGED, BEST_NEARLY, BEST_SPENT = range(5)


class AnnealingBest(NamedTuple):
    """The best state seen, and the pairs flipped since.

    Of ``log``, ``tally[LOGGED]`` are listed (more than fit are only counted). ``tally`` goes on
    with the best state's unprotected nodes, its changed pairs, what `nearly_unprotected` counts,
    and what the changed pairs cost.
    """

    changed: Flags
    log: Nodes
    tally: Ints


@leaf
def record(pool: Pool, mates: Ints | None, best: AnnealingBest, pair: int) -> None:
    """List a pair that was flipped, and its mate, as changed or as unchanged; log both."""
    _record(pool, best, pair)
    if mates is not None:
        mate = mates[NOW, pair]
        other = mate >> 1
        mates[NOW, other] = 2 * pair + (mate & 1)
        _record(pool, best, other)


@leaf
def _record(pool: Pool, best: AnnealingBest, pair: int) -> None:
    """Put an unchanged pair among the changed ones, a changed one among the others; log it."""
    at = pool.position[pair]
    if at < pool.tally[CHANGED]:
        pool.tally[CHANGED] -= 1
        pool.tally[SPENT] -= price_of(pool.cost, pair)
        border = pool.tally[CHANGED]
    else:
        border = pool.tally[CHANGED]
        pool.tally[CHANGED] += 1
        pool.tally[SPENT] += price_of(pool.cost, pair)
    moved = pool.order[border]
    pool.order[border], pool.order[at] = pair, moved
    pool.position[pair], pool.position[moved] = border, at
    if best.tally[LOGGED] < best.log.size:
        best.log[best.tally[LOGGED]] = pair
    best.tally[LOGGED] += 1


@leaf
def beats(one: tuple[int, int], other: tuple[int, int], allowed: int) -> bool:
    """Return whether one state is better: nodes too many, then cost, then unprotected nodes."""
    beyond, other_beyond = max(one[0] - allowed, 0), max(other[0] - allowed, 0)
    if beyond != other_beyond:
        return bool(beyond < other_beyond)
    if one[1] != other[1]:
        return bool(one[1] < other[1])
    return bool(one[0] < other[0])


@tiered(for_each_entry(0.1))
@leaf
def keep(pool: Pool, mates: Ints | None, best: AnnealingBest, unprotected: int) -> None:
    """Make the present state, which leaves so many nodes unprotected, the best one."""
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
    """The classes of the nodes, their neighbors (``arcs`` if directed), and the pairs to flip."""

    classes: NodeClasses
    rows: NeighborRows
    pool: Pool
    arcs: ArcRows | None = None


@leaf
def keep_if_better(state: PoolState, best: AnnealingBest, allowed: int, nearly: int) -> None:
    """Make the present state the best if it is better; `nearly` are tenths to add."""
    pool, tally, now = state.pool, best.tally, unprotected_of(state.classes)
    here, there = (now, pool.tally[SPENT]), (tally[BEST_UNPROTECTED], tally[BEST_SPENT])
    more = max(now - allowed, 0) - max(tally[BEST_UNPROTECTED] - allowed, 0)
    worse = 10 * more + nearly - tally[BEST_NEARLY]
    if worse < 0 or (worse == 0 and beats(here, there, allowed)):
        keep(pool, pool.mates, best, now)
        tally[BEST_NEARLY] = nearly


class AnnealingState(NamedTuple):
    """What a walk over a pool of pairs reads and writes, and who was unprotected not long ago."""

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
    """Write into the pool the common neighbors of every pair."""
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
    """Move the codes of the ends of a pair and of common neighbors, by what edges are."""
    if arcs is not None:
        return int(shift_arc(classes, rows, arcs, ends[0], ends[1], sign))
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
    """Move the codes of the ends of a pair: by steps of its own, or as an edge of a graph does."""
    if steps is None:
        shift(classes, ends, common, sign)
    else:
        move(classes, ends[0], sign * steps[pair, 0])
        move(classes, ends[1], sign * steps[pair, 1])


@leaf
def rewrite(state: PoolState, pair: int) -> None:
    """Flip the pair in the neighbor lists; twice changes nothing."""
    pool = state.pool
    ends = int(np.int64(pool.one[pair])), int(np.int64(pool.other[pair]))
    _rewrite_lists(state.rows, state.arcs, pool.steps, ends)
    pool.present[pair] = not pool.present[pair]


@leaf
def _rewrite_lists(
    rows: NeighborRows, arcs: ArcRows | None, steps: Ints | None, ends: tuple[int, int]
) -> None:
    """Flip a pair in the lists, where there are any."""
    if arcs is not None:
        toggle_arc(rows, arcs.ways, ends[0], ends[1])
    elif steps is None:
        toggle(rows, ends[0], ends[1])


@leaf
def _turns(pool: Pool, mates: Ints | None, turns: Ints, pair: int) -> int:
    """Write the pairs that the edit of this pair turns, first those it parts; return how many."""
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
    if not here:
        w, y = y, w
    turns[0, 0], turns[0, 1], turns[0, 2] = v, w, -1
    turns[1, 0], turns[1, 1], turns[1, 2] = x, y, -1
    turns[2, 0], turns[2, 1], turns[2, 2] = v, y, 1
    turns[3, 0], turns[3, 1], turns[3, 2] = x, w, 1
    return 4


@leaf
def make(state: PoolState, values: Values | None, trial: Ints, size: int) -> None:
    """Make the edits of a trial, or take them back; over codes the last flip is yet to settle."""
    begin(state.classes)
    if values is None:
        for i in range(size):
            shift_pair(state, trial[i])
            if i < size - 1:
                rewrite(state, trial[i])
        return
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
    """Undo what `make` did last, when these were the `tallies` before."""
    undo(state.classes, before)
    if values is None:
        for i in range(size - 1):
            rewrite(state, trial[i])
        return
    restore(values)
    turns = values.turns
    for i in range(size - 1, -1, -1):
        for j in range(_turns(state.pool, state.pool.mates, turns, trial[i])):
            toggle(state.rows, turns[j, 0], turns[j, 1])


@leaf
def settle_trial(
    state: PoolState, values: Values | None, best: AnnealingBest, trial: Ints, size: int
) -> None:
    """Make for good what `make` did last: list every pair, and its mate, as changed or not."""
    if values is None:
        rewrite(state, trial[size - 1])
    for i in range(size):
        record(state.pool, state.pool.mates, best, trial[i])


@leaf
def flip(
    state: PoolState, values: Values | None, best: AnnealingBest, trial: Ints, pair: int
) -> None:
    """Make the edit of this pair, or take it back, whatever it does."""
    trial[0] = pair
    make(state, values, trial, ONE)
    settle_trial(state, values, best, trial, ONE)


@tiered(steps_over_pairs)
@leaf
def go_to(
    state: PoolState, values: Values | None, best: AnnealingBest, trial: Ints, changed: Flags
) -> None:
    """Make, or take back, the edits in which the present state differs from these changed pairs."""
    pool = state.pool
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
    """Return whether the pair has another mate than in the best state."""
    if mates is not None:
        return bool(mates[NOW, pair] != mates[BEST, pair])
    return False


@leaf
def _mate_as_in_best(mates: Ints | None, pair: int) -> None:
    """Give the pair the mate that it has in the best state."""
    if mates is not None:
        mates[NOW, pair] = mates[BEST, pair]


Nodes = NDArray[np.int32]
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
    """Add to `over` the share of shortest paths over every edge (Brandes 2001), and their hops."""
    n = indptr.size - 1
    hops, queue = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    paths, load = np.empty(n, dtype=np.float64), np.empty(n, dtype=np.float64)
    for source in sources:
        hops[:] = -1
        paths[:] = 0.0
        load[:] = 0.0
        hops[source], paths[source], queue[0] = 0, 1.0, source
        first, last = 0, 1
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
    """Write for every bridge how many nodes are on its smaller side (Tarjan 1974)."""
    n = indptr.size - 1
    order, low = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    size, came = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    at, stack = indptr[:-1].copy(), np.empty(n, dtype=np.int64)
    listed = np.empty(n, dtype=np.int64)
    order[:] = -1
    seen = 0
    for root in range(n):
        if order[root] >= 0:
            continue
        begin, top = seen, 1
        order[root] = low[root] = seen
        size[root], came[root], stack[0], listed[seen] = 1, -1, root, root
        seen += 1
        while top > 0:
            v = stack[top - 1]
            if at[v] < indptr[v + 1]:
                arc = at[v]
                at[v] += 1
                w = np.int64(indices[arc])
                if order[w] < 0:
                    order[w] = low[w] = seen
                    size[w], came[w], stack[top], listed[seen] = 1, edge[arc], w, w
                    seen += 1
                    top += 1
                elif edge[arc] != came[v]:
                    low[v] = min(low[v], order[w])
            else:
                top -= 1
                if top > 0:
                    above = stack[top - 1]
                    low[above] = min(low[above], low[v])
                    size[above] += size[v]
        for i in range(begin + 1, seen):
            v = listed[i]
            if low[v] == order[v]:
                smaller[came[v]] = min(size[v], size[root] - size[v])


@leaf
def _local(triangles: int, degree: int) -> float:
    """Return the local clustering of a node; 0 with fewer than two neighbors."""
    return 2.0 * triangles / (degree * (degree - 1.0)) if degree > 1 else 0.0


@tiered()
@allocating
def clustering_lost(indptr: Ints, indices: Nodes, edge: Ints, triangles: Ints, out: Reals) -> None:
    """Write how much the sum of local clustering changes with the loss of every edge alone."""
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
            for further in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[further])
                if mark[w] == u:
                    common += 1
                    change -= _local(1, indptr[w + 1] - indptr[w])
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
    """Move nodes to neighboring communities while modularity rises (Blondel et al. 2008)."""
    n = indptr.size - 1
    inside, near = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    touched, all_ends = np.empty(n, dtype=np.int64), np.int64(0)
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
