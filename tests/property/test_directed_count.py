"""What is around a person where ties are directed: measured and moved as a slow count finds it."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.measures.values import directed_count, either_way
from graphveil.methods.annealing.kernels.classes import SLOT, UNPROTECTED, begin, tallies, undo
from graphveil.methods.annealing.kernels.pooled import (
    BACK,
    go_to,
    make,
    shift_arc,
    take_back,
    toggle_arc,
)
from graphveil.methods.annealing.kernels.pooled import settle_trial as settle
from graphveil.methods.profile.pool import (
    ChangedTies,
    ProfileTask,
    applied,
    keys_of,
    pairs_of,
    unprotected_in,
    walk_of,
)

NONE = np.empty(0, dtype=np.int64)
EDITS = ("delete", "add", "any")


def slow_count(n, arcs):
    """Return of everyone ties out, ties in, neighbors and ties among them all, pair by pair."""
    known = []
    for person in range(n):
        neighbors = {v for u, v in arcs if u == person} | {u for u, v in arcs if v == person}
        near = neighbors | {person}
        known.append(
            (
                sum(u == person for u, _ in arcs),
                sum(v == person for _, v in arcs),
                len(neighbors),
                sum(u in near and v in near for u, v in arcs),
            )
        )
    return known


def slow_unprotected(known, colors, k):
    cells = [*zip(colors.tolist(), known, strict=True)]
    sizes = Counter(cells)
    return [person for person, cell in enumerate(cells) if sizes[cell] < k]


def network_of(n, arcs):
    source, target = zip(*arcs, strict=True) if arcs else ((), ())
    return gv.Network((gv.Layer.from_arcs(source, target, n=n),))


def arcs_in(network):
    return [*zip(*(end.tolist() for end in network.layers[0].ties()), strict=True)]


def rng_of(seed):
    return np.random.Generator(np.random.PCG64(seed))


@st.composite
def drawn_arcs(draw):
    n = draw(st.integers(2, 9))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    return n, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=4 * n))


def walk_over(n, arcs, edits, colors, seed):
    task = ProfileTask(
        network=network_of(n, arcs),
        colors=colors,
        k=2,
        edits=edits,
        budget=99,
        allowed=0,
        by_budget=True,
        measure="directed-count",
    )
    pairs = pairs_of(task, NONE, rng_of(seed))
    return pairs, walk_of(task, pairs, rng_of(seed))


def codes_of(walk):
    classes = walk.annealing.state.classes
    return classes.table[classes.node[:, SLOT], 0].tolist()


def lists_of(state):
    """Return who stands in the lists, and which ways."""
    rows = state.rows
    return [
        [
            (int(rows.neighbor[at]), int(state.arcs.ways[at]))
            for at in range(rows.start[v], rows.start[v] + rows.length[v])
        ]
        for v in range(rows.length.size)
    ]


@settings(deadline=None)
@given(drawn_arcs())
def test_the_measure_is_what_a_slow_count_finds(case):
    n, arcs = case
    columns = directed_count(network_of(n, arcs).layers[0])
    assert ["out", "in", "neighbors", "ties"] == [*columns]
    assert slow_count(n, arcs) == [*zip(*(c.tolist() for c in columns.values()), strict=True)]


@settings(deadline=None)
@given(drawn_arcs(), st.integers(0, 9))
def test_unprotected_people_share_number_and_color_with_fewer_than_k(case, seed):
    n, arcs = case
    colors = rng_of(seed).integers(0, 2, size=n)
    found = unprotected_in(network_of(n, arcs), colors, 2, measure="directed-count")
    assert slow_unprotected(slow_count(n, arcs), colors, 2) == found.tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("edits", EDITS)
def test_codes_and_lists_are_those_of_the_arcs_after_some_flips(edits, seed):
    rng = rng_of(seed)
    arcs = [(v, w) for v in range(7) for w in range(7) if v != w and rng.random() < 0.4]
    after_flips((7, arcs), edits, seed)


@settings(deadline=None)
@given(drawn_arcs(), st.sampled_from(EDITS), st.integers(0, 99))
def test_codes_and_lists_are_those_of_the_arcs_after_any_flips_and_trials_taken_back(
    case, edits, seed
):
    after_flips(case, edits, seed)


def after_flips(case, edits, seed):
    """Flip arcs, take some flips back, and compare what is kept with a slow count."""
    n, arcs = case
    rng = rng_of(seed)
    colors = rng.integers(0, 2, size=n)
    if not (arcs and slow_unprotected(slow_count(n, arcs), colors, 2)):
        return
    pairs, walk = walk_over(n, arcs, edits, colors, seed)
    state, values, best, _, trial = walk.annealing
    size = pairs.keys.size
    if size == 0:
        return
    at_first = np.array(codes_of(walk)) - np.array(slow_count(n, arcs)) @ state.arcs.unit
    go_to(state, values, best, trial, rng.random(size) < 0.5)
    for _ in range(12):
        chosen = rng.permutation(size)[: min(2, size)]
        trial[: chosen.size] = chosen
        before, was, lists = tallies(state.classes), codes_of(walk), lists_of(state)
        make(state, values, trial, chosen.size)
        if rng.random() < 0.5:
            take_back(state, values, trial, chosen.size, before)
            assert (was, lists) == (codes_of(walk), lists_of(state))
            assert before == tallies(state.classes)
        else:
            settle(state, values, best, trial, chosen.size)
    flipped = state.pool.position < state.pool.tally[0]
    there = np.arange(size) < pairs.n_ties
    edited = ChangedTies(np.sort(pairs.keys[flipped & ~there]), pairs.keys[flipped & there], 0)
    layers = applied(walk.task.network, edited).layers
    after = gv.Network((layers[0].layer,))
    known = slow_count(n, arcs_in(after))
    assert (np.array(known) @ state.arcs.unit + at_first).tolist() == codes_of(walk)
    colored = {*zip(colors.tolist(), at_first.tolist(), strict=True)}
    assert len(colored) == len(set(colors.tolist())) == len(set(at_first.tolist()))
    room = np.append(state.arcs.unit, at_first.max() or 1 << 62)
    assert (np.array(known) * room[:-1] < room[1:]).all()
    assert len(slow_unprotected(known, colors, 2)) == state.classes.tally[UNPROTECTED]
    now = set(keys_of(after.layers).tolist())
    assert set(pairs.keys[state.pool.present].tolist()) == now & set(pairs.keys.tolist())
    rows = either_way(after.layers[0])
    flat = [entry for row in lists_of(state) for entry in row]
    assert flat == [*zip(rows.indices.tolist(), rows.ways.tolist(), strict=True)]


@settings(deadline=None)
@given(drawn_arcs(), st.integers(0, 99))
def test_an_arc_moves_those_alone_whose_numbers_change_and_the_lists_turn_back(case, seed):
    n, arcs = case
    if not arcs:
        return
    _, walk = walk_over(n, arcs, "delete", np.zeros(n, dtype=np.int64), seed)
    state = walk.annealing.state
    u, v = arcs[rng_of(seed).integers(len(arcs))]
    rest = [arc for arc in arcs if arc != (u, v)]
    before, was, lists = tallies(state.classes), codes_of(walk), lists_of(state)
    begin(state.classes)
    common = shift_arc(state.classes, state.rows, state.arcs, u, v, -1)
    moved = {
        p for p, (one, other) in enumerate(zip(was, codes_of(walk), strict=True)) if one - other
    }
    pairs = zip(slow_count(n, arcs), slow_count(n, rest), strict=True)
    assert {person for person, (one, other) in enumerate(pairs) if one != other} == moved
    assert common == len(moved) - 2
    undo(state.classes, before)
    toggle_arc(state.rows, state.arcs.ways, u, v)
    ways = dict(lists_of(state)[u]).get(v, 0)
    assert ways == (BACK if (v, u) in arcs else 0)
    toggle_arc(state.rows, state.arcs.ways, u, v)
    assert (was, lists) == (codes_of(walk), lists_of(state))


@pytest.mark.parametrize("scale", [3, 40])
def test_hubs_share_neighbors_with_everybody_however_long_their_lists_are(scale):
    hub = [(0, v) for v in range(1, scale)] + [(v, 1) for v in range(2, scale, 2)]
    columns = directed_count(network_of(scale, hub).layers[0])
    known = slow_count(scale, hub)
    assert known == [*zip(*(c.tolist() for c in columns.values()), strict=True)]
    _, walk = walk_over(scale, hub, "delete", np.zeros(scale, dtype=np.int64), 1)
    state, values, best, _, trial = walk.annealing
    go_to(state, values, best, trial, np.arange(len(hub)) % 3 == 0)
    after = slow_count(scale, [a for at, a in enumerate(sorted(hub)) if at % 3])
    assert (np.array(after) @ state.arcs.unit).tolist() == codes_of(walk)
