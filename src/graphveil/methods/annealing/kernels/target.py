"""Heuristic TARGET: the state of a walk in which nodes have aims, what it proposes, and the aims.

Not in the paper. Deletion alone stalls on dense graphs, so this walk also adds edges, and pulls
nodes towards *aims*: a degree and a number of triangles that k nodes can share. The aim gives a
slope to follow where the number of unprotected nodes is flat. The driver, with the phases of a run,
is `graphveil.methods.structural.target`; the loop of annealing is in `anneal`.

Only ``count`` at distance 1: the code of a node is ``degree << 40 | triangles``, with its color, if
any, between the two. The energy (`energy_of`) counts what classes below k lack, weighted by degree;
the distance of nodes from their aims; and a price per edit.

The module has three parts, in this order:

- The state: `TargetGraph`, and `TargetEdits`, the pairs in which the graph differs from the input.
  A trial is a list of pairs to flip: `more_edits` checks it, `make` moves the codes, and then
  `settle_trial` keeps it or `take_back` undoes it.
- The aims: `assign` sends each unprotected node to the nearest class of k nodes, or groups it with
  its k - 1 nearest unprotected nodes, whichever is cheaper per node.
- The proposals: `propose` writes up to five flips, most of them near an unprotected node.

A flip of {v, w} costs one move for each common neighbor. On graphs of at most 20,000 nodes that are
dense enough, neighbors are also kept as bits, so that common neighbors are found 64 at a time.
Memory is O(n + m), plus n / 8 bytes per node for the bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels import arrays as hashing
from graphveil.core.kernels.arrays import first_not_below
from graphveil.core.kernels.leaf import ONE, leaf
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.annealing.kernels import classes as lists
from graphveil.methods.annealing.kernels.classes import (
    AIM_DEGREE,
    AIM_TRIANGLES,
    DEGREE_BITS,
    DEGREE_GAP,
    GAP,
    PULL,
    SLOT,
    UNPROTECTED,
    NeighborRows,
    NodeClasses,
    Odds,
    begin,
    gap,
    move,
    shift,
    undo,
)
from graphveil.methods.annealing.kernels.classes import LEAST as K
from graphveil.methods.annealing.kernels.classes import TRIANGLES_OF_CLASSES as TRIANGLES
from graphveil.methods.annealing.kernels.pooled import (
    BEST_CHANGED,
    BEST_UNPROTECTED,
    LOGGED,
    beats,
)

# Entries of `TargetEdits.tally`, after `LOGGED`, `BEST_UNPROTECTED` and `BEST_CHANGED`.
CHANGED, KEPT, SHIFT = range(3, 6)
OPEN = -1
"""Value of `KEPT` while the log reaches back to the best state."""
WORD = 64
"""Bits of one word of `TargetGraph.bits`."""
# The product of a power of two with this De Bruijn sequence has a different value in its six
# highest bits for each exponent; BIT_OF turns that value back into the exponent.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_OF = np.zeros(WORD, dtype=np.int64)
BIT_OF[[(0x03F79D71B4CB0A89 << bit & 0xFFFFFFFFFFFFFFFF) >> 58 for bit in range(WORD)]] = range(
    WORD
)


class TargetGraph(NamedTuple):
    """The graph and its classes: what a flip reads and writes.

    Parameters
    ----------
    classes
        The classes of the nodes, with weights and aims. Written by `make` and `take_back`.
    rows
        Sorted neighbor lists with room to grow. Written by `make` if there are no bits, else only
        by `settle_trial`: within a trial they are those before it.
    bits
        uint64, shape (n, words): bit ``w & 63`` of ``bits[v, w >> 6]`` is set if v and w are
        joined. Written within a trial. Shape (n, 0) on sparse or large graphs: then `rows` are used
        alone.
    """

    classes: NodeClasses
    rows: NeighborRows
    bits: NDArray[np.uint64]


class TargetEdits(NamedTuple):
    """The pairs in which the graph differs from the input, and the way back to the best state.

    Pairs are keys: see `key_of`. All arrays are int64, written by `settle_trial` and
    `keep_if_better`.

    Parameters
    ----------
    pairs
        The first ``tally[CHANGED]`` are the changed pairs, in any order.
    table
        A hash table from each of them to its position in `pairs`.
    log
        The pairs flipped since the best state, ``tally[LOGGED]`` of them.
    kept
        The changed pairs at the moment when the log was full, ``tally[KEPT]`` of them. The best
        state is the present one, or this one if there is one, with the logged flips taken back.
    tally
        ``LOGGED``; ``BEST_UNPROTECTED`` and ``BEST_CHANGED``, of the best state; ``CHANGED``;
        ``KEPT``, or `OPEN`; ``SHIFT`` of the hash table.
    """

    pairs: Ints
    table: Ints
    log: Ints
    kept: Ints
    tally: Ints


class TargetState(NamedTuple):
    """What a walk with aims reads and writes.

    Parameters
    ----------
    state
        The graph and its classes.
    edits
        How it differs from the input and from the best state.
    trial
        int64, shape (5,): the keys of the trial at hand, written by `propose`.
    unprotected
        int64, shape (n,): the nodes that were unprotected when the list was last renewed.
    """

    state: TargetGraph
    edits: TargetEdits
    trial: Ints
    unprotected: Ints


@leaf
def key_of(v: int, w: int) -> int:
    """Return the key of a pair: the smaller node in the upper 32 bits, the larger in the lower."""
    return min(v, w) << 32 | max(v, w)


@leaf
def ends_of(key: int) -> tuple[int, int]:
    """Return the two nodes of the pair, the smaller first."""
    return int(key >> 32), int(key & 0xFFFFFFFF)


@leaf
def adjacent(state: TargetGraph, v: int, w: int) -> bool:
    """Return whether v and w are joined, the flips made so far in this trial included."""
    if state.bits.shape[1] > 0:
        return bool(state.bits[v, w >> 6] >> np.uint64(w & 63) & np.uint64(1))
    return lists.adjacent(state.rows, v, w)


@leaf
def _shift_common(state: TargetGraph, v: int, w: int, sign: int) -> int:
    """Change the triangles of every common neighbor of v and w by one; return how many."""
    classes, rows, bits = state
    common = 0
    for word in range(bits.shape[1]):
        both = bits[v, word] & bits[w, word]
        while both != np.uint64(0):
            # The lowest bit that is set, and its number.
            lowest = both & (~both + np.uint64(1))
            x = WORD * word + BIT_OF[np.int64((lowest * DE_BRUIJN) >> np.uint64(58))]
            move(classes, x, sign)
            both ^= lowest
            common += 1
    if bits.shape[1] > 0:
        return common
    # Without bits: merge the two rows.
    common = lists.common_of(rows, v, w)
    for i in range(common):
        move(classes, int(np.int64(rows.common[i])), sign)
    return common


@leaf
def _shift(state: TargetGraph, v: int, w: int) -> None:
    """Move the codes of the ends and of their common neighbors as flipping the pair does.

    The neighbors stay as they are: `_turn` flips the pair itself.
    """
    sign = -1 if adjacent(state, v, w) else 1
    common = _shift_common(state, v, w, sign)
    shift(state.classes, (v, w), common, sign)


@leaf
def _turn(state: TargetGraph, v: int, w: int) -> None:
    """Flip the pair where trials look it up: in the bits or, if there are none, in the rows."""
    if state.bits.shape[1] > 0:
        state.bits[v, w >> 6] ^= np.uint64(1) << np.uint64(w & 63)
        state.bits[w, v >> 6] ^= np.uint64(1) << np.uint64(v & 63)
    else:
        lists.toggle(state.rows, v, w)


@leaf
def is_changed(edits: TargetEdits, key: int) -> bool:
    """Return whether the pair differs from the input."""
    row = hashing.find(edits.table, edits.tally[SHIFT], key)
    return bool(edits.table[row, 0] == key)


@leaf
def _record(edits: TargetEdits, key: int) -> None:
    """Put an unchanged pair among the changed ones, or take a changed one out; log it."""
    pairs, table, tally = edits.pairs, edits.table, edits.tally
    row = hashing.find(table, tally[SHIFT], key)
    if table[row, 0] == key:
        # The last pair takes the place of the one that leaves, so that the list has no gap.
        position = table[row, 1]
        tally[CHANGED] -= 1
        last = pairs[tally[CHANGED]]
        hashing.insert(table, tally[SHIFT], last, position)
        pairs[position] = last
        hashing.delete(table, tally[SHIFT], key)
    else:
        table[row, 0], table[row, 1] = key, tally[CHANGED]
        pairs[tally[CHANGED]] = key
        tally[CHANGED] += 1
    _log(edits, key)


@leaf
def _log(edits: TargetEdits, key: int) -> None:
    """Note that the pair was flipped; if the log is full, keep a copy of the present pairs instead.

    From then on the log is complete between the best state and that copy, and nothing is logged
    until a better state empties it.
    """
    tally = edits.tally
    if tally[KEPT] != OPEN:
        return
    edits.log[tally[LOGGED]] = key
    tally[LOGGED] += 1
    if tally[LOGGED] == edits.log.size:
        for i in range(tally[CHANGED]):
            edits.kept[i] = edits.pairs[i]
        tally[KEPT] = tally[CHANGED]


def _steps_of_flips(state: TargetGraph, _edits: TargetEdits, keys: Ints) -> int:
    """Return about how many steps it takes to flip pairs, which see all common neighbors."""
    return keys.size * (50 + 5 * int(state.rows.length.max(initial=0)))


@tiered(_steps_of_flips)
@leaf
def flip_all(state: TargetGraph, edits: TargetEdits, keys: Ints) -> None:
    """Flip these pairs, whatever it does to the energy.

    Parameters
    ----------
    state, edits
        Written.
    keys
        int64: the pairs. Written: each becomes its complement, below 0, when it is flipped.
    """
    start, length = state.rows.start, state.rows.length
    # Two passes: an edge to add waits while a row is full, until deletions have made room.
    for _ in range(2):
        for i in range(keys.size):
            if keys[i] < 0:
                continue
            v, w = ends_of(keys[i])
            full = start[v + 1] - start[v] == length[v] or start[w + 1] - start[w] == length[w]
            if full and not adjacent(state, v, w):
                continue
            make(state, keys[i:], ONE)
            settle_trial(state, edits, keys[i:], ONE)
            keys[i] = ~keys[i]


@leaf
def more_edits(target_state: TargetState, size: int, budget: int) -> int:
    """Return how many more pairs differ from the input after the trial; size + 1 if invalid.

    A trial is invalid if it flips a pair twice, adds to a row that may be full, or goes over the
    budget. No row gains more than two neighbors in one trial.
    """
    state, edits, trial, _ = target_state
    start, length = state.rows.start, state.rows.length
    more = 0
    for i in range(size):
        # A pair that is flipped twice would not be flipped at all.
        for j in range(i):
            if trial[i] == trial[j]:
                return size + 1
        v, w = ends_of(trial[i])
        # Rows cannot grow beyond their room.
        full = start[v + 1] - start[v] < length[v] + 2 or start[w + 1] - start[w] < length[w] + 2
        if full and not adjacent(state, v, w):
            return size + 1
        more += -1 if is_changed(edits, trial[i]) else 1
    return size + 1 if 0 < more > budget - edits.tally[CHANGED] else more


@leaf
def make(state: TargetGraph, trial: Ints, size: int) -> None:
    """Move the codes as the flips of a trial do, each seeing those before it.

    The last pair is flipped in the codes only, so that a refused trial need not flip it back.

    Parameters
    ----------
    state
        Written.
    trial
        int64: the keys; the first `size` are read.
    size
        How many.
    """
    begin(state.classes)
    for i in range(size):
        v, w = ends_of(trial[i])
        _shift(state, v, w)
        if i < size - 1:
            _turn(state, v, w)


@leaf
def take_back(state: TargetGraph, trial: Ints, size: int, before: tuple[int, int, int]) -> None:
    """Undo what `make` did last.

    Parameters
    ----------
    state
        Written: it is as before the trial.
    trial
        int64: the keys; the first `size` are read.
    size
        How many.
    before
        The `tallies` from before the trial.
    """
    undo(state.classes, before)
    for i in range(size - 2, -1, -1):
        v, w = ends_of(trial[i])
        _turn(state, v, w)


@leaf
def settle_trial(state: TargetGraph, edits: TargetEdits, trial: Ints, size: int) -> None:
    """Keep what `make` did last: flip the last pair too, and list every pair as changed or not.

    Parameters
    ----------
    state, edits
        Written.
    trial
        int64: the keys; the first `size` are read.
    size
        How many.
    """
    for i in range(size):
        v, w = ends_of(trial[i])
        if i == size - 1:
            _turn(state, v, w)
        if state.bits.shape[1] > 0:
            lists.toggle(state.rows, v, w)
        _record(edits, trial[i])


@leaf
def keep_if_better(state: TargetGraph, edits: TargetEdits, allowed: int) -> None:
    """Make the present state the best one if it is better: see `beats`.

    The log is emptied: a state is copied only if the log becomes full before a better one is found.
    """
    tally, unprotected = edits.tally, state.classes.tally[UNPROTECTED]
    here, there = (unprotected, tally[CHANGED]), (tally[BEST_UNPROTECTED], tally[BEST_CHANGED])
    if beats(here, there, allowed):
        tally[LOGGED], tally[KEPT] = 0, OPEN
        tally[BEST_UNPROTECTED] = unprotected
        tally[BEST_CHANGED] = tally[CHANGED]


FAR = 1 << 62
"""Distance of what cannot be reached; above any gap."""
FOREIGN = 1 << 23
"""From this gap on, two codes count as of different colors, and never share an aim.

The color of a node is above the lower 24 bits, which hold its triangles. So this separates colors
as long as no node has 2**23 triangles or more.
"""

CLASS_REACH = 12
"""The largest change of degree towards an existing class.

A larger value looks at more degrees for each unprotected node. The value comes from the prototype
of the heuristic.
"""
GROUP_REACH = 25
"""The largest difference in degree between the first node of a group and any other of it.

The value comes from the prototype of the heuristic.
"""
GROUP_LOOKS = 2_000
"""The most unprotected nodes that are looked at to group one of them.

It bounds `assign` to O(2000) per node on graphs in which most nodes are unprotected.
"""


class Free(NamedTuple):
    """The unprotected nodes that are to get an aim, and room to group them. All int64.

    Parameters
    ----------
    nodes
        The nodes, by descending code. Read.
    codes
        The code of each. Read.
    assigned
        1 for those that have an aim or none to be had; all 0 at first. Written by `assign`.
    group
        Shape (k,): room for the positions of one group.
    distance
        Shape (k,): room for their distances from the first of the group.
    """

    nodes: Ints
    codes: Ints
    assigned: Ints
    group: Ints
    distance: Ints


@leaf
def _nearest_class(codes: Ints, code: int) -> tuple[int, int]:
    """Return the distance to the nearest of these sorted codes within reach, and that code.

    If there is none: `FAR`, and the code itself.
    """
    best, chosen = FAR, code
    degree, triangles = code >> DEGREE_BITS, code & TRIANGLES
    # Degrees outwards from the node's own: no class at a larger change of degree can be nearer than
    # the degrees alone.
    for change in range(CLASS_REACH + 1):
        if DEGREE_GAP * change >= best:
            break
        for sign in range(-1, 2, 2):
            other = degree + sign * change
            if other < 0:
                continue
            at = first_not_below(codes, 0, codes.size, other << DEGREE_BITS | triangles)
            # At one degree, only the codes next to the node's triangles can be nearest.
            for i in range(max(at - 1, 0), min(at + 1, codes.size)):
                if codes[i] >> DEGREE_BITS == other:
                    here = gap(codes[i], degree, triangles)
                    if here < min(best, FOREIGN):
                        best, chosen = here, codes[i]
    return best, chosen


@leaf
def _gather(free: Free, first: int, limit: int) -> int:
    """Write `first` and the k - 1 nearest free positions after it into `group`.

    Return the sum of their distances from the first; `FAR` if there are fewer than k, or if the sum
    reaches the limit.
    """
    codes, assigned, group, distance = free.codes, free.assigned, free.group, free.distance
    degree, triangles = codes[first] >> DEGREE_BITS, codes[first] & TRIANGLES
    last = group.size - 1
    for i in range(group.size):
        distance[i] = FAR
    distance[0], group[0] = 0, first
    # Codes descend, so that degrees fall: stop where the degree alone is too far. The k - 1 nearest
    # so far are kept in order of distance, by insertion.
    for i in range(first + 1, min(codes.size, first + GROUP_LOOKS)):
        change = degree - (codes[i] >> DEGREE_BITS)
        if change > GROUP_REACH or DEGREE_GAP * change >= distance[last]:
            break
        here = gap(codes[i], degree, triangles)
        if assigned[i] != 0 or here >= min(distance[last], FOREIGN):
            continue
        at = last
        while at > 1 and distance[at - 1] > here:
            distance[at], group[at] = distance[at - 1], group[at - 1]
            at -= 1
        distance[at], group[at] = here, i
    total = np.int64(0)
    for i in range(group.size):
        if distance[i] == FAR:
            return FAR
        total += distance[i]
        if total >= limit:
            return FAR
    return int(total)


@leaf
def _medoid(codes: Ints, group: Ints) -> int:
    """Return the code of the group with the smallest sum of distances to all others. O(k**2)."""
    best, chosen = FAR, codes[group[0]]
    for i in range(group.size):
        code, total = codes[group[i]], np.int64(0)
        for j in range(group.size):
            total += gap(codes[group[j]], code >> DEGREE_BITS, code & TRIANGLES)
        if total < best:
            best, chosen = int(total), code
    return int(chosen)


@leaf
def _pull(classes: NodeClasses, v: int, strength: int, code: int) -> None:
    """Pull v to this code with this strength (0: not at all), and update the sum of the gaps."""
    node, tally = classes.node, classes.tally
    now = classes.table[node[v, SLOT], 0]
    tally[GAP] -= node[v, PULL] * gap(now, node[v, AIM_DEGREE], node[v, AIM_TRIANGLES])
    node[v, PULL] = strength
    node[v, AIM_DEGREE], node[v, AIM_TRIANGLES] = code >> DEGREE_BITS, code & TRIANGLES
    tally[GAP] += strength * gap(now, code >> DEGREE_BITS, code & TRIANGLES)


def _steps_of_aims(
    classes: NodeClasses, _lowest: int, _highest: int, _strength: int, free: Free, _populated: Ints
) -> int:
    """Return about how many steps `assign` takes: all nodes, and the free nodes looked at."""
    return 8 * len(classes.node) + free.nodes.size * min(free.nodes.size, GROUP_LOOKS)


@tiered(_steps_of_aims)
@leaf
def assign(
    classes: NodeClasses, lowest: int, highest: int, strength: int, free: Free, populated: Ints
) -> None:
    """Give every node with a degree in lowest..highest an aim; others get none.

    Cost: O(n), plus for each unprotected node O(log n) per degree within `CLASS_REACH`, and at most
    `GROUP_LOOKS` others.

    Parameters
    ----------
    classes
        Written: the pull and the aim of every node, and the sum of the gaps.
    lowest, highest
        The degrees of nodes that get an aim.
    strength
        The pull of protected nodes to where they are; 0: they move freely.
    free
        The unprotected nodes with these degrees; `assigned`, `group` and `distance` are written.
    populated
        int64: the codes of classes of at least k nodes, ascending. Read.
    """
    table, node, k = classes.table, classes.node, classes.rule[K]
    # Step 1: protected nodes are pulled to where they are. All others lose their aims.
    for v in range(len(node)):
        code, size = table[node[v, SLOT], 0], table[node[v, SLOT], 1]
        pulled = lowest <= code >> DEGREE_BITS <= highest and size >= k
        _pull(classes, v, strength if pulled else 0, code)
    nodes, codes, assigned, group, _ = free
    # Step 2: unprotected nodes by descending degree, each with those after it. Compare the nearest
    # class with a group of k, by distance per node.
    for i in range(nodes.size):
        if assigned[i] != 0:
            continue
        alone, target = _nearest_class(populated, codes[i])
        together = _gather(free, i, FAR if alone == FAR else k * alone)
        # To the nearest class; without a class in reach, no aim.
        if together == FAR:
            assigned[i] = 1
            _pull(classes, nodes[i], 1 if alone < FAR else 0, target)
            continue
        # Or together: the aim of all of them is the middle one.
        target = _medoid(codes, group)
        for j in range(group.size):
            assigned[group[j]] = 1
            _pull(classes, nodes[group[j]], 1, target)


NONE = -1
MOST_FLIPS = 5
"""The most flips of a trial: a two-switch has four, and a revert may come with it."""
TRIES = 4
"""How often two neighbors of a node are drawn to find a pair that can be flipped as wanted."""


@leaf
def _neighbor(state: TargetGraph, v: int, rng: Generator) -> int:
    """Return a random neighbor of v, or NONE if it has none."""
    start, length, neighbor, _ = state.rows
    if length[v] == 0:
        return NONE
    return int(np.int64(neighbor[start[v] + np.int64(rng.random() * length[v])]))


@leaf
def _stranger(state: TargetGraph, v: int, rng: Generator) -> int:
    """Return a random node that is not joined to v, or NONE if the draw fails.

    Four times in five it is two steps away, so that the edge closes a triangle.
    """
    x = NONE
    if rng.random() < 0.8:
        a = _neighbor(state, v, rng)
        if a != NONE:
            x = _neighbor(state, a, rng)
    else:
        x = int(rng.random() * state.rows.length.size)
    if x in (NONE, v) or adjacent(state, v, x):
        return NONE
    return x


@leaf
def _modest(state: TargetGraph, v: int, rng: Generator) -> int:
    """Return the neighbor of v with the lower degree of two random ones; v has neighbors.

    An edit at a hub changes the codes of more nodes as a rule.
    """
    a, b = _neighbor(state, v, rng), _neighbor(state, v, rng)
    return a if state.rows.length[a] <= state.rows.length[b] else b


@leaf
def _toggle(state: TargetGraph, v: int, trial: Ints, rng: Generator) -> int:
    """Propose to flip a pair of neighbors of v, which changes its triangles but not its degree.

    Parts two if v has at least the triangles of its aim, else joins two. Returns the number of
    flips.
    """
    if state.rows.length[v] < 2:
        return 0
    table, node = state.classes.table, state.classes.node
    part = table[node[v, SLOT], 0] & TRIANGLES >= node[v, AIM_TRIANGLES]
    for _ in range(TRIES):
        a, b = _modest(state, v, rng), _modest(state, v, rng)
        if a != b and adjacent(state, a, b) == part:
            trial[0] = key_of(a, b)
            return 1
    return 0


@leaf
def _join(state: TargetGraph, v: int, trial: Ints, size: int, rng: Generator) -> int:
    """Append a new edge at v to the trial; return the new size, or 0 if no draw fits."""
    x = _stranger(state, v, rng)
    if x == NONE:
        return 0
    trial[size] = key_of(v, x)
    return size + 1


@leaf
def _two_switch(state: TargetGraph, v: int, a: int, trial: Ints, rng: Generator) -> int:
    """Propose {v, a}, {x, y} -> {v, y}, {x, a}, which keeps all degrees; return 4, or 0."""
    y = _stranger(state, v, rng)
    if y in (NONE, a):
        return 0
    x = _neighbor(state, y, rng)
    if x == NONE or x in (v, a) or adjacent(state, x, a):
        return 0
    trial[0], trial[1] = key_of(v, a), key_of(x, y)
    trial[2], trial[3] = key_of(v, y), key_of(x, a)
    return 4


@leaf
def _around(state: TargetGraph, v: int, trial: Ints, rng: Generator) -> int:
    """Propose flips at v; return how many, or 0 if the draw leads nowhere.

    The shares are those of the prototype: a pair of neighbors .2, a new edge .2, a two-switch .1, a
    deletion .2, an edge led elsewhere at v .2 or at its other end .1.
    """
    kind = rng.random()
    if kind < 0.2:
        return _toggle(state, v, trial, rng)
    if kind < 0.4:
        return _join(state, v, trial, 0, rng)
    # The other kinds start with an edge at v, to its neighbor a.
    a = _neighbor(state, v, rng)
    if a == NONE:
        return 0
    if kind < 0.5:
        return _two_switch(state, v, a, trial, rng)
    # The edge is deleted; at times it is led to a third node, from v or from a.
    trial[0] = key_of(v, a)
    if kind < 0.7:
        return 1
    return _join(state, v if kind < 0.9 else a, trial, 1, rng)


@leaf
def _anywhere(target_state: TargetState, odds: Odds, rng: Generator) -> int:
    """Propose to revert an edit, to add a random edge, or to delete a random one; return 1 or 0."""
    state, edits, trial, _ = target_state
    if rng.random() < odds.undo:
        return _append_revert(edits, trial, 0, rng)
    v = int(rng.random() * state.rows.length.size)
    # A pair of random nodes that are not joined, or an edge of a random node.
    if rng.random() < odds.add:
        w = int(rng.random() * state.rows.length.size)
        if v == w or adjacent(state, v, w):
            return 0
    else:
        w = _neighbor(state, v, rng)
        if w == NONE:
            return 0
    trial[0] = key_of(v, w)
    return 1


@leaf
def _append_revert(edits: TargetEdits, trial: Ints, size: int, rng: Generator) -> int:
    """Append a random changed pair to the trial, to revert it; return the new size."""
    changed = edits.tally[CHANGED]
    if changed == 0:
        return size
    trial[size] = edits.pairs[np.int64(rng.random() * changed)]
    return size + 1


@leaf
def propose(target_state: TargetState, listed: int, odds: Odds, rng: Generator) -> int:
    """Write a trial, near one of the listed nodes or anywhere; return its number of flips.

    Parameters
    ----------
    target_state
        `trial` is written, all else read.
    listed
        How many nodes are in `target_state.unprotected`.
    odds
        How likely each kind of proposal is.
    rng
        Advanced by a varying number of draws.
    """
    state, edits, trial, unprotected = target_state
    if listed > 0 and rng.random() < odds.focus:
        v = int(np.int64(unprotected[np.int64(rng.random() * listed)]))
        # Three times in ten at a neighbor: its edges may change the triangles of the node itself.
        if rng.random() < 0.3:
            v = _neighbor(state, v, rng)
        size = 0 if v == NONE else _around(state, v, trial, rng)
    else:
        size = _anywhere(target_state, odds, rng)
    # Where the budget has no room left for the trial, or by chance, an edit is reverted with it.
    full = edits.tally[CHANGED] + size > odds.budget
    if size > 0 and (full or rng.random() < odds.swap):
        size = _append_revert(edits, trial, size, rng)
    return size
