"""The state of the heuristic target: classes, neighbors, edits, and the best state on the way.

The code of a node is its degree and its triangles, ``deg << 40 | t``. The energy of a state counts
three things: what the classes below k lack, weighted by the degree of their nodes; how far nodes
are from where they are pulled; and the edits. All are integers that a move changes in O(1), so that
a trial is taken back exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels import hashing
from graphveil.kernels.leaf import ONE, leaf
from graphveil.kernels.structural import rows as lists
from graphveil.kernels.structural.annealing.state import (
    BEST_CHANGED,
    BEST_UNPROTECTED,
    LOGGED,
    beats,
)
from graphveil.kernels.structural.classes import (
    UNPROTECTED,
    Ints,
    NodeClasses,
    begin,
    move,
    shift,
    undo,
)
from graphveil.kernels.structural.rows import NeighborRows
from graphveil.kernels.tiers import tiered

CHANGED, KEPT, SHIFT = range(3, 6)
OPEN = -1
WORD = 64
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_OF = np.zeros(WORD, dtype=np.int64)
BIT_OF[[(0x03F79D71B4CB0A89 << bit & 0xFFFFFFFFFFFFFFFF) >> 58 for bit in range(WORD)]] = range(
    WORD
)


class TargetGraph(NamedTuple):
    """What a flip reads or writes, but for the list of edits.

    ``bits`` holds the same as the
    rows, one row of bits a node; it has no columns on sparse graphs.
    """

    classes: NodeClasses
    rows: NeighborRows
    bits: NDArray[np.uint64]


class TargetEdits(NamedTuple):
    """The pairs in which the graph differs from the input, and how to get back to the best state.

    The first ``tally[CHANGED]`` of ``pairs`` are changed; ``table`` is a hash table of them and
    their positions in ``pairs``. ``log`` lists the pairs flipped since the best state, so that the
    best is the present with the log undone. Where the log is full, ``kept`` holds both. On the way
    from one state to another there may be the edits of both: ``pairs`` and ``kept`` have room.
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
    """Flip these pairs: codes, neighbors and edits; the keys are used up.

    Where a row has no room for another edge, the edge waits until others are parted.
    """
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
    """Return how many edits more the pairs of a trial make, or its size + 1 where it cannot be.

    It cannot where it names a pair twice, adds to a node whose row is full, or makes edits beyond
    the budget.
    """
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
    if beats(unprotected, tally[CHANGED], tally, allowed):
        tally[LOGGED] = 0
        tally[KEPT] = OPEN
        tally[BEST_UNPROTECTED] = unprotected
        tally[BEST_CHANGED] = tally[CHANGED]
