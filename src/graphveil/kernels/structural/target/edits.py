"""The edits of a walk: a set of pairs that can be drawn from, and the best state on the way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.kernels.structural.target.state import (
    FREE,
    GAP,
    LACK,
    LEFT,
    MULTIPLIER,
    Ints,
    State,
    adjacent,
    begin,
    leaf,
    settle,
    shift,
    take_back,
    turn,
)

CHANGED, LOGGED, BEST_LEFT, BEST_CHANGED, KEPT, SHIFT = range(6)
OPEN = -1


class Edits(NamedTuple):
    """The pairs in which the graph differs from the input, and how to get back to the best state.

    The first ``tally[CHANGED]`` of ``pairs`` are changed; row s of ``table`` holds a pair and its
    place in ``pairs``. ``log`` lists the pairs flipped since the best state, so that the best is
    the present with the log undone. Where the log is full, ``kept`` takes both.
    """

    pairs: Ints
    table: Ints
    log: Ints
    kept: Ints
    tally: Ints


@leaf
def key_of(v: int, w: int) -> int:
    """Return the number that stands for the pair."""
    return min(v, w) << 32 | max(v, w)


@leaf
def ends_of(key: int) -> tuple[int, int]:
    """Return the two nodes of the pair, the smaller first."""
    return int(key >> 32), int(key & 0xFFFFFFFF)


@leaf
def _home(edits: Edits, key: int) -> int:
    shifted = (np.uint64(key) * MULTIPLIER) >> np.uint64(edits.tally[SHIFT])
    return int(np.int64(shifted))


@leaf
def _slot(edits: Edits, key: int) -> int:
    """Return the row that holds the pair, or the free row where it belongs."""
    table, mask = edits.table, len(edits.table) - 1
    slot = _home(edits, key)
    while table[slot, 0] != FREE and table[slot, 0] != key:
        slot = (slot + 1) & mask
    return slot


@leaf
def is_changed(edits: Edits, key: int) -> bool:
    """Return whether the pair differs from the input."""
    return bool(edits.table[_slot(edits, key), 0] == key)


@leaf
def _forget(edits: Edits, slot: int) -> None:
    """Empty a row of the table, and close the gap behind it."""
    table, mask = edits.table, len(edits.table) - 1
    hole, at = slot, (slot + 1) & mask
    while table[at, 0] != FREE:
        home = _home(edits, table[at, 0])
        if ((at - home) & mask) >= ((at - hole) & mask):
            table[hole, 0], table[hole, 1] = table[at, 0], table[at, 1]
            hole = at
        at = (at + 1) & mask
    table[hole, 0] = FREE


@leaf
def record(edits: Edits, key: int) -> None:
    """Put an unchanged pair among the changed ones, or take a changed one out; log it."""
    pairs, table, tally = edits.pairs, edits.table, edits.tally
    slot = _slot(edits, key)
    if table[slot, 0] == key:
        place = table[slot, 1]
        tally[CHANGED] -= 1
        last = pairs[tally[CHANGED]]
        table[_slot(edits, last), 1] = place
        pairs[place] = last
        _forget(edits, _slot(edits, key))
    else:
        table[slot, 0], table[slot, 1] = key, tally[CHANGED]
        pairs[tally[CHANGED]] = key
        tally[CHANGED] += 1
    _log(edits, key)


@leaf
def _log(edits: Edits, key: int) -> None:
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


@leaf
def keep_if_better(state: State, edits: Edits, allowed: int) -> None:
    """Make the present state the best if it is better: nodes missing, then edits, then nodes."""
    tally, left = edits.tally, state.classes.tally[LEFT]
    missing, best_missing = max(left - allowed, 0), max(tally[BEST_LEFT] - allowed, 0)
    if missing != best_missing:
        better = missing < best_missing
    elif tally[CHANGED] != tally[BEST_CHANGED]:
        better = tally[CHANGED] < tally[BEST_CHANGED]
    else:
        better = left < tally[BEST_LEFT]
    if better:
        tally[LOGGED] = 0
        tally[KEPT] = OPEN
        tally[BEST_LEFT] = left
        tally[BEST_CHANGED] = tally[CHANGED]


@leaf
def flip(state: State, edits: Edits, key: int) -> None:
    """Flip the pair: codes, neighbours and edits."""
    v, w = ends_of(key)
    begin(state.classes)
    shift(state, v, w)
    turn(state.near, v, w)
    settle(state.near, v, w)
    record(edits, key)


@leaf
def flip_all(state: State, edits: Edits, keys: Ints) -> None:
    """Flip these pairs one after the other."""
    for i in range(keys.size):
        flip(state, edits, keys[i])


@leaf
def more_edits(state: State, edits: Edits, trial: Ints, size: int) -> int:
    """Return how many edits more the pairs of a trial make, or its size + 1 where it cannot be.

    It cannot where it names a pair twice, or adds to a node whose row is full.
    """
    start, length = state.near.start, state.near.length
    more = 0
    for i in range(size):
        for j in range(i):
            if trial[i] == trial[j]:
                return size + 1
        v, w = ends_of(trial[i])
        full = start[v + 1] - start[v] < length[v] + 2 or start[w + 1] - start[w] < length[w] + 2
        if full and not adjacent(state.near, v, w):
            return size + 1
        more += -1 if is_changed(edits, trial[i]) else 1
    return more


@leaf
def move_all(state: State, trial: Ints, size: int) -> None:
    """Move the codes as the flips of a trial do, each seeing those before; the last unmade."""
    begin(state.classes)
    for i in range(size):
        v, w = ends_of(trial[i])
        shift(state, v, w)
        if i < size - 1:
            turn(state.near, v, w)


@leaf
def reject(state: State, trial: Ints, size: int, before: tuple[int, int, int]) -> None:
    """Take a trial back, when left, lack and gap were these `before`."""
    take_back(state.classes, *before)
    for i in range(size - 2, -1, -1):
        v, w = ends_of(trial[i])
        turn(state.near, v, w)


@leaf
def accept(state: State, edits: Edits, trial: Ints, size: int, allowed: int) -> None:
    """Make the flips of a trial for good."""
    v, w = ends_of(trial[size - 1])
    turn(state.near, v, w)
    for i in range(size):
        v, w = ends_of(trial[i])
        settle(state.near, v, w)
        record(edits, trial[i])
    keep_if_better(state, edits, allowed)


@leaf
def tallies(state: State) -> tuple[int, int, int]:
    """Return the nodes left, what their classes lack, and the gap to the aims."""
    tally = state.classes.tally
    return int(tally[LEFT]), int(tally[LACK]), int(tally[GAP])
