from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Graph
from graphveil.measures import MEASURES, class_sizes_of_nodes, partition
from graphveil.methods.annealing.kernels import classes
from graphveil.methods.annealing.kernels import pooled as pools
from graphveil.methods.annealing.kernels import values as values_kernel
from graphveil.methods.annealing.kernels.anneal import anneal, attempt, find_mate, more_edits
from graphveil.methods.annealing.kernels.pooled import BEST_CHANGED, BEST_UNPROTECTED, go_to
from graphveil.methods.annealing.schedule import paying, within_budget
from graphveil.methods.annealing.state import work_of
from graphveil.methods.annealing.task import Task, counted_by_codes
from graphveil.methods.structural.search import search
from graphveil.methods.structural.walk_state import annealing_state_of

ALWAYS, NEVER = 1e9, -1e9


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def graph_of(n, edges):
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


@st.composite
def graphs(draw, smallest=4, largest=10):
    n = draw(st.integers(smallest, largest))
    pairs = list(combinations(range(n), 2))
    likely = draw(st.sampled_from([2, 4, 6]))
    kept = draw(st.lists(st.integers(0, 8), min_size=len(pairs), max_size=len(pairs)))
    return graph_of(n, [pair for pair, drawn in zip(pairs, kept, strict=True) if drawn < likely])


WHERE = [
    (name, d) for name in sorted(MEASURES) for d in (1, 2, 3) if (name, d > 1) != ("degree", 1)
]
PLACES = st.sampled_from(WHERE)
EDITS = ("delete", "add", "any", "rewire")


def tasks(edits=EDITS):
    """Tasks that the counts alone do not follow."""
    made = st.builds(
        lambda graph, place, k, kind, budget: Task(graph, *place, k, kind, budget, 0),
        graphs(),
        PLACES,
        st.integers(2, 4),
        st.sampled_from(edits),
        st.integers(1, 6),
    )
    return made.filter(lambda task: not counted_by_codes(task))


def edges_in(state):
    start, length, neighbor, _ = state.rows
    rows = [neighbor[start[v] : start[v] + length[v]].tolist() for v in range(length.size)]
    assert all(row == sorted(set(row)) for row in rows)
    arcs = {(v, w) for v, row in enumerate(rows) for w in row}
    assert arcs == {(w, v) for v, w in arcs}
    return {(v, w) for v, w in arcs if v < w}


def present_graph(task, state):
    return graph_of(task.graph.n_nodes, edges_in(state))


def codes_in(state):
    return state.classes.table[state.classes.node[:, 0], 0].copy()


def same_partition(one, other):
    pairs = {*zip(one.tolist(), other.tolist(), strict=True)}
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


def assert_counted(task, annealing):
    """Compare the classes and every number of the state with a recount of its neighbor lists."""
    state = annealing.state
    codes = codes_in(state)
    labels = partition(present_graph(task, state), measure=task.measure, distance=task.distance)
    assert same_partition(codes, labels)
    sizes = class_sizes_of_nodes(labels)
    assert np.count_nonzero(sizes < task.k) == state.classes.tally[classes.UNPROTECTED]
    lack = int((2 * task.k - 1 - sizes[sizes < task.k]).sum())
    assert lack == state.classes.tally[classes.LACK]
    fresh = np.empty_like(codes)
    values_kernel.evaluate(state.rows, annealing.values, fresh)
    assert fresh.tolist() == codes.tolist()


def a_changed_pair(state, rng):
    changed = int(state.pool.tally[pools.CHANGED])
    return int(state.pool.order[rng.integers(0, changed)]) if changed else pools.NONE


def new_edit(annealing, rng):
    """Return an unchanged pair, with a mate where edges are rewired, or NONE."""
    state, pool = annealing.state, annealing.state.pool
    for pair in rng.permutation(pool.order[pool.tally[pools.CHANGED] :]).tolist():
        if find_mate(pool, pool.mates, state.rows, pair, rng):
            return pair
    return pools.NONE


def try_pairs(task, annealing, pairs, bar):
    """Flip one or two pairs, and keep that if the energy rises by at most the bar."""
    pairs = [pair for pair in pairs if pair != pools.NONE]
    annealing.trial[: len(pairs)] = pairs
    more = more_edits(annealing.state.pool, annealing.trial, len(pairs))
    assert more == sum(1 - 2 * pools.is_changed(annealing.state.pool, pair) for pair in pairs)
    attempt(annealing, None, len(pairs), more, within_budget(task, 1).plan, bar)


def edit(task, annealing, rng):
    """Make one edit, or take one back, whatever it does; return whether there was one."""
    state = annealing.state
    pair = a_changed_pair(state, rng) if rng.random() < 0.4 else pools.NONE
    pair = new_edit(annealing, rng) if pair == pools.NONE else pair
    if pair == pools.NONE:
        return False
    try_pairs(task, annealing, (pair,), ALWAYS)
    return True


@given(tasks(), st.integers(0, 2**32), st.integers(0, 12))
@settings(deadline=None, max_examples=150)
def test_the_states_equal_a_recount_after_any_edits(task, seed, steps):
    annealing, rng = annealing_state_of(task, generator()), generator(seed)
    assert_counted(task, annealing)
    for _ in range(steps):
        edit(task, annealing, rng)
    assert_counted(task, annealing)


@given(tasks(edits=("delete", "add")), st.integers(0, 2**32))
@settings(deadline=None, max_examples=150)
def test_states_change_only_where_the_measure_says(task, seed):
    annealing, rng = annealing_state_of(task, generator()), generator(seed)
    for _ in range(4):
        before, edges = codes_in(annealing.state), edges_in(annealing.state)
        if not edit(task, annealing, rng):
            return
        after = edges_in(annealing.state)
        ((u, v),) = edges ^ after
        with_edge = graph_of(task.graph.n_nodes, edges | after)
        allowed = MEASURES[task.measure].affected(with_edge, task.distance, u, v)
        moved = np.flatnonzero(before != codes_in(annealing.state))
        assert set(moved.tolist()) <= set(allowed.tolist())


def snapshot(annealing):
    """Everything but the codes that no node has any more: these may be dropped at any time."""
    state, values = annealing.state, annealing.values
    codes = codes_in(state)
    sizes = state.classes.table[state.classes.node[:, 0], 1]
    arrays = [codes, sizes, state.classes.tally[:2], state.rows.length, *state.pool]
    arrays += [values.value, values.pending]
    arrays += [] if values.reach is None else [values.reach.hops]
    arrays = [array for array in arrays if array is not None]
    return [*(array.copy() for array in arrays), np.array(sorted(edges_in(state)))]


@given(tasks(), st.integers(0, 2**32), st.booleans())
@settings(deadline=None, max_examples=100)
def test_a_rejected_trial_changes_nothing_at_all(task, seed, two):
    annealing, rng = annealing_state_of(task, generator()), generator(seed)
    for _ in range(4):
        edit(task, annealing, rng)
    state = annealing.state
    first, second = new_edit(annealing, rng), a_changed_pair(state, rng)
    if first == pools.NONE:
        return
    second = second if two else pools.NONE
    before = snapshot(annealing)
    try_pairs(task, annealing, (first, second), NEVER)
    for then, now in zip(before, snapshot(annealing), strict=True):
        assert np.array_equal(then, now)


@given(tasks(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=100)
def test_both_edits_of_a_swap_are_made(task, seed):
    annealing, rng = annealing_state_of(task, generator()), generator(seed)
    state = annealing.state
    for _ in range(6):
        edit(task, annealing, rng)
        pairs = (new_edit(annealing, rng), a_changed_pair(state, rng))
        if pools.NONE in pairs:
            return
        pairs = pairs if rng.random() < 0.5 else pairs[::-1]
        try_pairs(task, annealing, pairs, ALWAYS)
        assert_counted(task, annealing)


@given(tasks(), st.integers(0, 2**32), st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_the_best_state_can_be_gone_back_to(task, seed, log):
    annealing = annealing_state_of(task, generator())
    annealing = annealing._replace(best=annealing.best._replace(log=np.empty(log, dtype=np.int32)))
    state, values, best, _, trial = annealing
    plan, odds = paying(within_budget(task, 100), task.k, 0.3)
    anneal(annealing, None, plan._replace(hot=2.0), odds, generator(seed), 0, 100)
    assert_counted(task, annealing)
    go_to(state, values, best, trial, best.changed.copy())
    assert_counted(task, annealing)
    assert best.tally[BEST_UNPROTECTED] == state.classes.tally[classes.UNPROTECTED]
    assert best.tally[BEST_CHANGED] == state.pool.tally[pools.CHANGED]
    go_to(state, values, best, trial, np.zeros_like(best.changed))
    assert edges_in(state) == set(map(tuple, task.graph.edges().tolist()))


def unprotected_in(graph, task):
    labels = partition(graph, measure=task.measure, distance=task.distance)
    return int(np.count_nonzero(class_sizes_of_nodes(labels) < task.k))


@given(tasks(), st.booleans(), st.integers(0, 3), st.integers(0, 2**32))
@settings(deadline=None, max_examples=120)
def test_a_search_is_never_worse_than_the_start_and_says_what_it_leaves(task, by_budget, few, seed):
    graph = task.graph
    task = task._replace(budget=min(task.budget, graph.n_edges), allowed=0 if by_budget else few)
    edited = search(task._replace(by_budget=by_budget), iterations=150, rng=generator(seed))
    edges = set(map(tuple, graph.edges().tolist()))
    added, deleted = (set(map(tuple, pairs.tolist())) for pairs in (edited.added, edited.deleted))
    assert (len(added), len(deleted)) == (len(edited.added), len(edited.deleted))
    assert deleted <= edges
    assert not added & edges
    after = graph_of(graph.n_nodes, (edges - deleted) | added)
    start, unprotected = unprotected_in(graph, task), unprotected_in(after, task)
    assert unprotected == edited.unprotected
    assert max(unprotected, task.allowed) <= max(start, task.allowed)
    if start <= task.allowed:
        assert 0 == edited.cost
    if task.edits == "rewire":
        assert graph.degrees().tolist() == after.degrees().tolist()
        assert 2 * len(added) == 2 * len(deleted) == edited.cost <= 4 * task.budget
    else:
        assert edited.cost <= task.budget
    if task.edits == "delete":
        assert set() == added
    if task.edits == "add":
        assert set() == deleted


@given(tasks(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=20)
def test_the_same_seed_gives_the_same_edits(task, seed):
    one, other = (
        search(task._replace(by_budget=True), iterations=150, rng=generator(seed)) for _ in range(2)
    )
    assert one.unprotected == other.unprotected
    assert one.deleted.tolist() == other.deleted.tolist()
    assert one.added.tolist() == other.added.tolist()


@given(tasks())
@settings(deadline=None, max_examples=40)
def test_to_ask_for_the_work_changes_nothing(task):
    annealing = annealing_state_of(task, generator())
    before = snapshot(annealing)
    assert work_of(annealing) > 0
    for then, now in zip(before, snapshot(annealing), strict=True):
        assert np.array_equal(then, now)
