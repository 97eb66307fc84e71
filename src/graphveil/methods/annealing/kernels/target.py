"""What a walk with aims proposes, flips of up to five pairs, its state, and where nodes are pulled.

A code is ``degree << 40 | triangles``. The energy counts what classes below k lack, how far nodes
are from where they are pulled, and the edits: integers that a move changes in O(1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.kernels import arrays as hashing
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
    Ints,
    NeighborRows,
    NodeClasses,
    Odds,
    begin,
    first_not_below,
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

CHANGED, KEPT, SHIFT = range(3, 6)
OPEN = -1
WORD = 64
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_OF = np.zeros(WORD, dtype=np.int64)
BIT_OF[[(0x03F79D71B4CB0A89 << bit & 0xFFFFFFFFFFFFFFFF) >> 58 for bit in range(WORD)]] = range(
    WORD
)


class TargetGraph(NamedTuple):
    """What a flip reads or writes; ``bits`` are the rows as bits, no columns on sparse graphs."""

    classes: NodeClasses
    rows: NeighborRows
    bits: NDArray[np.uint64]


class TargetEdits(NamedTuple):
    """The pairs in which the graph differs from the input, and the way back to the best state.

    ``table`` is a hash table of the first ``tally[CHANGED]`` of ``pairs`` and their positions.
    ``log`` lists the pairs flipped since the best state; where it is full, ``kept`` holds that
    state.
    """

    pairs: Ints
    table: Ints
    log: Ints
    kept: Ints
    tally: Ints


class TargetState(NamedTuple):
    """What a walk with aims reads and writes, the trial at hand, and who was unprotected lately."""

    state: TargetGraph
    edits: TargetEdits
    trial: Ints
    unprotected: Ints


@leaf
def key_of(v: int, w: int) -> int:
    """Return the number that stands for the pair."""
    return min(v, w) << 32 | max(v, w)


@leaf
def ends_of(key: int) -> tuple[int, int]:
    """Return the two nodes of the pair, the smaller first."""
    return int(key >> 32), int(key & 0xFFFFFFFF)


@leaf
def adjacent(state: TargetGraph, v: int, w: int) -> bool:
    """Return whether v and w are joined; within a trial, its flips so far included."""
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
            lowest = both & (~both + np.uint64(1))
            x = WORD * word + BIT_OF[np.int64((lowest * DE_BRUIJN) >> np.uint64(58))]
            move(classes, x, sign)
            both ^= lowest
            common += 1
    if bits.shape[1] > 0:
        return common
    common = lists.common_of(rows, v, w)
    for i in range(common):
        move(classes, int(np.int64(rows.common[i])), sign)
    return common


@leaf
def _shift(state: TargetGraph, v: int, w: int) -> None:
    """Move the codes as flipping the pair does; the neighbors stay as they are."""
    sign = -1 if adjacent(state, v, w) else 1
    common = _shift_common(state, v, w, sign)
    shift(state.classes, (v, w), common, sign)


@leaf
def _turn(state: TargetGraph, v: int, w: int) -> None:
    """Flip the pair where trials look: in the bits, or in the rows where there are none."""
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
    """Note that the pair was flipped; where the log is full, put the best state aside first."""
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
    """Flip these pairs, using the keys up; an edge waits until its row has room."""
    start, length = state.rows.start, state.rows.length
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
    """Return how many edits more a trial makes, or its size + 1 where it cannot be made."""
    state, edits, trial, _ = target_state
    start, length = state.rows.start, state.rows.length
    more = 0
    for i in range(size):
        for j in range(i):
            if trial[i] == trial[j]:
                return size + 1
        v, w = ends_of(trial[i])
        full = start[v + 1] - start[v] < length[v] + 2 or start[w + 1] - start[w] < length[w] + 2
        if full and not adjacent(state, v, w):
            return size + 1
        more += -1 if is_changed(edits, trial[i]) else 1
    return size + 1 if 0 < more > budget - edits.tally[CHANGED] else more


@leaf
def make(state: TargetGraph, trial: Ints, size: int) -> None:
    """Move the codes as the flips of a trial do, each seeing those before; the last unmade."""
    begin(state.classes)
    for i in range(size):
        v, w = ends_of(trial[i])
        _shift(state, v, w)
        if i < size - 1:
            _turn(state, v, w)


@leaf
def take_back(state: TargetGraph, trial: Ints, size: int, before: tuple[int, int, int]) -> None:
    """Undo what `make` did last, when these were the `tallies` before."""
    undo(state.classes, before)
    for i in range(size - 2, -1, -1):
        v, w = ends_of(trial[i])
        _turn(state, v, w)


@leaf
def settle_trial(state: TargetGraph, edits: TargetEdits, trial: Ints, size: int) -> None:
    """Make for good what `make` did last: list every pair as changed or not."""
    for i in range(size):
        v, w = ends_of(trial[i])
        if i == size - 1:
            _turn(state, v, w)
        if state.bits.shape[1] > 0:
            lists.toggle(state.rows, v, w)
        _record(edits, trial[i])


@leaf
def keep_if_better(state: TargetGraph, edits: TargetEdits, allowed: int) -> None:
    """Make the present state the best one if it is better."""
    tally, unprotected = edits.tally, state.classes.tally[UNPROTECTED]
    here, there = (unprotected, tally[CHANGED]), (tally[BEST_UNPROTECTED], tally[BEST_CHANGED])
    if beats(here, there, allowed):
        tally[LOGGED], tally[KEPT] = 0, OPEN
        tally[BEST_UNPROTECTED] = unprotected
        tally[BEST_CHANGED] = tally[CHANGED]


FAR = 1 << 62
FOREIGN = 1 << 23
"""Codes at least so far apart differ in their color, whose bits are above those of triangles."""

CLASS_REACH = 12
GROUP_REACH = 25
GROUP_LOOKS = 2_000


class Free(NamedTuple):
    """The unprotected nodes that are pulled, by descending code, and room to group them."""

    nodes: Ints
    codes: Ints
    assigned: Ints
    group: Ints
    distance: Ints


@leaf
def _nearest_class(codes: Ints, code: int) -> tuple[int, int]:
    """Return the distance to the nearest of these sorted codes, within reach, and the code."""
    best, chosen = FAR, code
    degree, triangles = code >> DEGREE_BITS, code & TRIANGLES
    for change in range(CLASS_REACH + 1):
        if DEGREE_GAP * change >= best:
            break
        for sign in range(-1, 2, 2):
            other = degree + sign * change
            if other < 0:
                continue
            at = first_not_below(codes, 0, codes.size, other << DEGREE_BITS | triangles)
            for i in range(max(at - 1, 0), min(at + 1, codes.size)):
                if codes[i] >> DEGREE_BITS == other:
                    here = gap(codes[i], degree, triangles)
                    if here < min(best, FOREIGN):
                        best, chosen = here, codes[i]
    return best, chosen


@leaf
def _gather(free: Free, first: int, limit: int) -> int:
    """Write the first and the nearest free positions behind; return how far, or FAR."""
    codes, assigned, group, distance = free.codes, free.assigned, free.group, free.distance
    degree, triangles = codes[first] >> DEGREE_BITS, codes[first] & TRIANGLES
    last = group.size - 1
    for i in range(group.size):
        distance[i] = FAR
    distance[0], group[0] = 0, first
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
    """Return the code of the group that is nearest to all others."""
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
    """Pull v to this code, and keep the sum of the gaps."""
    node, tally = classes.node, classes.tally
    now = classes.table[node[v, SLOT], 0]
    tally[GAP] -= node[v, PULL] * gap(now, node[v, AIM_DEGREE], node[v, AIM_TRIANGLES])
    node[v, PULL] = strength
    node[v, AIM_DEGREE], node[v, AIM_TRIANGLES] = code >> DEGREE_BITS, code & TRIANGLES
    tally[GAP] += strength * gap(now, code >> DEGREE_BITS, code & TRIANGLES)


def _steps_of_aims(
    classes: NodeClasses, _lowest: int, _highest: int, _strength: int, free: Free, _populated: Ints
) -> int:
    """Return about how many steps it takes to look at all nodes, and at the likes of the free."""
    return 8 * len(classes.node) + free.nodes.size * min(free.nodes.size, GROUP_LOOKS)


@tiered(_steps_of_aims)
@leaf
def assign(
    classes: NodeClasses, lowest: int, highest: int, strength: int, free: Free, populated: Ints
) -> None:
    """Pull nodes with degrees lowest..highest to where they can be anonymous; others are free.

    A protected node stays, with this strength. The others, by descending degree: to the nearest
    class of k, or together with their nearest likes, whichever is cheaper a node.
    """
    table, node, k = classes.table, classes.node, classes.rule[K]
    for v in range(len(node)):
        code, size = table[node[v, SLOT], 0], table[node[v, SLOT], 1]
        pulled = lowest <= code >> DEGREE_BITS <= highest and size >= k
        _pull(classes, v, strength if pulled else 0, code)
    nodes, codes, assigned, group, _ = free
    for i in range(nodes.size):
        if assigned[i] != 0:
            continue
        alone, target = _nearest_class(populated, codes[i])
        together = _gather(free, i, FAR if alone == FAR else k * alone)
        if together == FAR:
            assigned[i] = 1
            _pull(classes, nodes[i], 1 if alone < FAR else 0, target)
            continue
        target = _medoid(codes, group)
        for j in range(group.size):
            assigned[group[j]] = 1
            _pull(classes, nodes[group[j]], 1, target)


NONE = -1
MOST_FLIPS = 5
TRIES = 4


@leaf
def _neighbor(state: TargetGraph, v: int, rng: Generator) -> int:
    """Return a random neighbor of v, or NONE."""
    start, length, neighbor, _ = state.rows
    if length[v] == 0:
        return NONE
    return int(np.int64(neighbor[start[v] + np.int64(rng.random() * length[v])]))


@leaf
def _stranger(state: TargetGraph, v: int, rng: Generator) -> int:
    """Return a node that is not joined to v, two hops away as a rule, or NONE."""
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
    """Return the neighbor of v with the lower degree of two draws; v has neighbors."""
    one, other = _neighbor(state, v, rng), _neighbor(state, v, rng)
    return one if state.rows.length[one] <= state.rows.length[other] else other


@leaf
def _toggle(state: TargetGraph, v: int, trial: Ints, rng: Generator) -> int:
    """Propose to join or part two neighbors of v, which changes its triangles alone."""
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
    """Add to the trial an edge at v that is not there; return the size, 0 where none is drawn."""
    x = _stranger(state, v, rng)
    if x == NONE:
        return 0
    trial[size] = key_of(v, x)
    return size + 1


@leaf
def _two_switch(state: TargetGraph, v: int, a: int, trial: Ints, rng: Generator) -> int:
    """Propose (v, a), (x, y) -> (v, y), (x, a)."""
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
    """Propose flips near v; return how many, 0 where the draw leads nowhere."""
    kind = rng.random()
    if kind < 0.2:
        return _toggle(state, v, trial, rng)
    if kind < 0.4:
        return _join(state, v, trial, 0, rng)
    a = _neighbor(state, v, rng)
    if a == NONE:
        return 0
    if kind < 0.5:
        return _two_switch(state, v, a, trial, rng)
    trial[0] = key_of(v, a)
    if kind < 0.7:
        return 1
    return _join(state, v if kind < 0.9 else a, trial, 1, rng)


@leaf
def _anywhere(target_state: TargetState, odds: Odds, rng: Generator) -> int:
    """Propose to revert an edit, to add a random edge, or to delete one of the input's."""
    state, edits, trial, _ = target_state
    if rng.random() < odds.undo:
        return _append_revert(edits, trial, 0, rng)
    v = int(rng.random() * state.rows.length.size)
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
    """Add a random edit to the trial, to be reverted; return the new size."""
    changed = edits.tally[CHANGED]
    if changed == 0:
        return size
    trial[size] = edits.pairs[np.int64(rng.random() * changed)]
    return size + 1


@leaf
def propose(target_state: TargetState, listed: int, odds: Odds, rng: Generator) -> int:
    """Write a trial, near one of the nodes listed or anywhere; return its number of flips."""
    state, edits, trial, unprotected = target_state
    if listed > 0 and rng.random() < odds.focus:
        v = int(np.int64(unprotected[np.int64(rng.random() * listed)]))
        if rng.random() < 0.3:
            v = _neighbor(state, v, rng)
        size = 0 if v == NONE else _around(state, v, trial, rng)
    else:
        size = _anywhere(target_state, odds, rng)
    full = edits.tally[CHANGED] + size > odds.budget
    if size > 0 and (full or rng.random() < odds.swap):
        size = _append_revert(edits, trial, size, rng)
    return size
