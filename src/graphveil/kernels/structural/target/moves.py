"""What a walk with aims proposes: flips of any pairs, up to five at a time."""

from __future__ import annotations

import numpy as np

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.classes import AIM_TRIANGLES, SLOT, TRIANGLES, Ints
from graphveil.kernels.structural.schedule import Odds
from graphveil.kernels.structural.target.edits import (
    CHANGED,
    TargetEdits,
    TargetGraph,
    TargetState,
    adjacent,
    key_of,
)

NONE = -1
MOST_FLIPS = 5
TRIES = 4


@leaf
def _neighbor(state: TargetGraph, v: int, rng: np.random.Generator) -> int:
    """Return a random neighbor of v, or NONE."""
    start, length, neighbor, _ = state.rows
    if length[v] == 0:
        return NONE
    return int(np.int64(neighbor[start[v] + np.int64(rng.random() * length[v])]))


@leaf
def _stranger(state: TargetGraph, v: int, rng: np.random.Generator) -> int:
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
def _modest(state: TargetGraph, v: int, rng: np.random.Generator) -> int:
    """Return the neighbor of v with the lower degree of two draws; v has neighbors."""
    one, other = _neighbor(state, v, rng), _neighbor(state, v, rng)
    return one if state.rows.length[one] <= state.rows.length[other] else other


@leaf
def _toggle(state: TargetGraph, v: int, trial: Ints, rng: np.random.Generator) -> int:
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
def _join(state: TargetGraph, v: int, trial: Ints, size: int, rng: np.random.Generator) -> int:
    """Add to the trial an edge at v that is not there; return the size, 0 where none is drawn."""
    x = _stranger(state, v, rng)
    if x == NONE:
        return 0
    trial[size] = key_of(v, x)
    return size + 1


@leaf
def _two_switch(state: TargetGraph, v: int, a: int, trial: Ints, rng: np.random.Generator) -> int:
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
def _around(state: TargetGraph, v: int, trial: Ints, rng: np.random.Generator) -> int:
    """Propose flips near v; return how many, 0 where the draw leads nowhere.

    One in five each: a pair of neighbors toggled, an edge added, one deleted, one that leads from
    v elsewhere; one in ten: a neighbor's edge that leads elsewhere than to v, and a two-switch.
    """
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
def _anywhere(target_state: TargetState, odds: Odds, rng: np.random.Generator) -> int:
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
def _append_revert(edits: TargetEdits, trial: Ints, size: int, rng: np.random.Generator) -> int:
    """Add a random edit to the trial, to be reverted; return the new size."""
    changed = edits.tally[CHANGED]
    if changed == 0:
        return size
    trial[size] = edits.pairs[np.int64(rng.random() * changed)]
    return size + 1


@leaf
def propose(target_state: TargetState, listed: int, odds: Odds, rng: np.random.Generator) -> int:
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
