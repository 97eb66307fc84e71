"""The heuristic target against slow twins that look at every pair and triple."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.kernels.arrays import FREE
from graphveil.data import Graph
from graphveil.methods.annealing.kernels import classes as kernel
from graphveil.methods.annealing.kernels import target as edits_kernel
from graphveil.methods.annealing.kernels.anneal import anneal
from graphveil.methods.annealing.kernels.classes import Odds, Schedule
from graphveil.methods.annealing.kernels.pooled import BEST_CHANGED, BEST_UNPROTECTED
from graphveil.methods.annealing.task import Task
from graphveil.methods.structural.recount import applied
from graphveil.methods.structural.target import (
    best,
    go_to,
    present,
    set_aims,
    target,
    target_state_of,
)


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def graph_of(n, edges):
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


@st.composite
def graphs(draw, smallest=3, largest=11):
    n = draw(st.integers(smallest, largest))
    pairs = list(combinations(range(n), 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return graph_of(n, [pair for pair, keep in zip(pairs, kept, strict=True) if keep])


def task_of(graph, *, k=2, budget=None, allowed=0):
    budget = max(graph.n_edges, 4) if budget is None else budget
    return Task(graph, "count", 1, k, "any", budget, allowed)


def edges_of(graph):
    return set(map(tuple, graph.edges().tolist()))


def values(n, edges):
    """The degree and the triangles of every node."""
    degree = Counter(end for edge in edges for end in edge)
    triangle = Counter(
        corner
        for three in combinations(range(n), 3)
        if all(pair in edges for pair in combinations(three, 2))
        for corner in three
    )
    return [(degree[v], triangle[v]) for v in range(n)]


def unprotected_of(n, edges, k):
    return sum(size for size in Counter(values(n, edges)).values() if size < k)


def pairs_in(keys):
    return {edits_kernel.ends_of(key) for key in keys.tolist()}


def edges_in(state):
    (start, length, neighbor, _), bits = state.rows, state.bits
    rows = [neighbor[start[v] : start[v] + length[v]].tolist() for v in range(length.size)]
    assert all(row == sorted(set(row)) for row in rows)
    for v, row in enumerate(rows if bits.shape[1] else []):
        assert row == [w for w in range(len(rows)) if int(bits[v, w >> 6]) >> (w & 63) & 1]
    arcs = {(v, w) for v, row in enumerate(rows) for w in row}
    assert arcs == {(w, v) for v, w in arcs}
    return {(v, w) for v, w in arcs if v < w}


def assert_counted(task, target_state):
    """Compare every number of the state with a recount of its neighbor lists."""
    classes, edits = target_state.state.classes, target_state.edits
    n, k, edges = task.graph.n_nodes, task.k, edges_in(target_state.state)
    found = values(n, edges)
    codes = [degree << 40 | triangles for degree, triangles in found]
    assert codes == classes.table[classes.node[:, 0], 0].tolist()
    sizes = Counter(codes)
    assert sizes == {code: size for code, size in classes.table.tolist() if size > 0}
    small = {code: size for code, size in sizes.items() if size < k}
    assert sum(small.values()) == classes.tally[kernel.UNPROTECTED]
    lack = sum(classes.weight[code >> 40] * c * (2 * k - 1 - c) for code, c in small.items())
    assert lack == classes.tally[kernel.LACK]
    gaps = [
        strength * (abs(t - aim_t) + 8 * abs(d - aim_d))
        for (d, t), (_, strength, aim_d, aim_t) in zip(found, classes.node.tolist(), strict=True)
    ]
    assert sum(gaps) == classes.tally[kernel.GAP]
    changed = pairs_in(present(target_state))
    assert edges ^ edges_of(task.graph) == changed
    positions = {key: position for key, position in edits.table.tolist() if key != FREE}
    count = int(edits.tally[edits_kernel.CHANGED])
    assert {key: i for i, key in enumerate(edits.pairs[:count].tolist())} == positions


def shuffled(task, seed, *, flips=12):
    """A state after some flips, with weights and aims."""
    target_state, rng = target_state_of(task), generator(seed)
    classes, weight = target_state.state.classes, target_state.state.classes.weight
    weight[:] = rng.integers(0, 4, weight.size)
    kernel.fill(classes)
    set_aims(classes, 0, task.graph.n_nodes, strength=1)
    for _ in range(flips):
        v, w = rng.permutation(task.graph.n_nodes)[:2].tolist()
        edits_kernel.flip_all(
            target_state.state, target_state.edits, np.array([edits_kernel.key_of(v, w)])
        )
        if target_state.edits.tally[edits_kernel.CHANGED] >= task.budget:
            break
    return target_state


def plan_of(task, *, steps, hot=2.0, **more):
    plan = Schedule(steps, hot, 0.1, 0.1, 1.0, 0.2, 0.0, 0.0, 0, False)
    return plan._replace(**more), Odds(0.7, 0.4, 0.3, 0.0, 0.3, task.budget)


SEEDS = st.integers(0, 2**32)


@given(graphs(), st.integers(2, 5), SEEDS)
@settings(deadline=None, max_examples=50)
def test_the_state_equals_a_recount_after_any_flips(graph, k, seed):
    task = task_of(graph, k=k)
    assert_counted(task, target_state_of(task))
    assert_counted(task, shuffled(task, seed))


@given(graphs(), st.integers(2, 4), SEEDS, st.booleans())
@settings(deadline=None, max_examples=60)
def test_the_state_equals_a_recount_after_any_proposals(graph, k, seed, bits):
    task = task_of(graph, k=k)
    target_state = shuffled(task, seed, flips=3)
    if not bits:
        target_state = without_bits(target_state)
    for first in (0, 150):
        anneal(None, target_state, *plan_of(task, steps=300), generator(seed), first, first + 150)
        assert_counted(task, target_state)
        set_aims(target_state.state.classes, 1, 6, strength=first % 2)
        assert_counted(task, target_state)
    assert target_state.edits.tally[edits_kernel.CHANGED] <= task.budget


def without_bits(target_state):
    bare = np.zeros((target_state.state.rows.length.size, 0), dtype=np.uint64)
    return target_state._replace(state=target_state.state._replace(bits=bare))


def snapshot(target_state):
    classes, rows, bits = target_state.state
    arrays = [*classes[:2], classes.weight, classes.tally[: kernel.MOVED], rows.length, bits]
    rows = [array.copy() for array in (*arrays, *target_state.edits)]
    return [*rows, np.array(sorted(edges_in(target_state.state)))]


@given(graphs(), st.integers(2, 4), SEEDS, st.booleans())
@settings(deadline=None, max_examples=60)
def test_a_rejected_trial_changes_nothing_at_all(graph, k, seed, bits):
    task = task_of(graph, k=k)
    target_state, rng = shuffled(task, seed), generator(seed)
    target_state = target_state if bits else without_bits(target_state)
    pairs = [edits_kernel.key_of(v, w) for v, w in combinations(range(graph.n_nodes), 2)]
    trial = rng.permutation(np.array(pairs))[:5]
    target_state.trial[: trial.size] = trial
    before = snapshot(target_state)
    tallies = kernel.tallies(target_state.state.classes)
    edits_kernel.make(target_state.state, target_state.trial, trial.size)
    edits_kernel.take_back(target_state.state, target_state.trial, trial.size, tallies)
    for then, now in zip(before, snapshot(target_state), strict=True):
        assert then.tolist() == now.tolist()


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=40)
def test_the_flips_of_a_trial_see_those_before_them(graph, seed):
    task = task_of(graph, budget=60)
    target_state, rng = shuffled(task, seed), generator(seed)
    pairs = [edits_kernel.key_of(v, w) for v, w in combinations(range(graph.n_nodes), 2)]
    trial = rng.permutation(np.array(pairs))[:5]
    target_state.trial[: trial.size] = trial
    more = edits_kernel.more_edits(target_state, trial.size, task.budget)
    before = target_state.edits.tally[edits_kernel.CHANGED]
    edits_kernel.make(target_state.state, target_state.trial, trial.size)
    edits_kernel.settle_trial(
        target_state.state, target_state.edits, target_state.trial, trial.size
    )
    assert_counted(task, target_state)
    assert more == target_state.edits.tally[edits_kernel.CHANGED] - before


@given(graphs(), st.integers(2, 4), SEEDS, st.integers(1, 40))
@settings(deadline=None, max_examples=40)
def test_the_best_state_can_be_gone_back_to_from_far(graph, k, seed, log):
    task = task_of(graph, k=k)
    target_state = target_state_of(task)
    target_state = target_state._replace(
        edits=target_state.edits._replace(log=np.empty(log, dtype=np.int64))
    )
    anneal(None, target_state, *plan_of(task, steps=300), generator(seed), 0, 300)
    go_to(target_state, best(target_state))
    assert_counted(task, target_state)
    tally = target_state.edits.tally
    assert tally[BEST_UNPROTECTED] == target_state.state.classes.tally[kernel.UNPROTECTED]
    assert tally[BEST_CHANGED] == tally[edits_kernel.CHANGED]


@given(st.integers(12, 40), st.booleans(), SEEDS)
@settings(deadline=None, max_examples=30)
def test_on_the_way_from_one_state_to_another_nothing_is_written_beyond_its_room(n, back, seed):
    """The pairs of the second state come first, where they would be edits beside all the others."""
    rng = generator(seed)
    pairs = np.array([edits_kernel.key_of(v, w) for v, w in combinations(range(n), 2)])
    edges = np.sort(rng.permutation(pairs.size)[: pairs.size // 2])
    graph = graph_of(n, [edits_kernel.ends_of(key) for key in pairs[edges].tolist()])
    budget = pairs.size // 2
    task = task_of(graph, budget=budget)
    target_state = target_state_of(task)
    guarded = np.full(target_state.edits.pairs.size + pairs.size, -7)
    room = guarded[: target_state.edits.pairs.size]
    lists = target_state.state.rows
    neighbor = np.full(lists.neighbor.size + pairs.size, -7, dtype=np.int32)
    neighbor[: lists.neighbor.size] = lists.neighbor
    target_state = target_state._replace(
        edits=target_state.edits._replace(pairs=room),
        state=target_state.state._replace(
            rows=lists._replace(neighbor=neighbor[: lists.neighbor.size])
        ),
    )
    for changed in (pairs[-budget:], pairs[:budget])[:: -1 if back else 1]:
        go_to(target_state, changed)
        assert changed.tolist() == present(target_state).tolist()
        assert_counted(task, target_state)
    assert {-7} == set(guarded[room.size :].tolist())
    assert {-7} == set(neighbor[lists.neighbor.size :].tolist())


def gap(one, other):
    return abs(one[1] - other[1]) + 8 * abs(one[0] - other[0])


@given(graphs(), st.integers(2, 3))
@settings(deadline=None, max_examples=60)
def test_an_aim_is_the_nearest_class_or_shared_by_likes_at_no_higher_cost(graph, k):
    target_state = target_state_of(task_of(graph, k=k))
    set_aims(target_state.state.classes, 0, graph.n_nodes, strength=1)
    found = values(graph.n_nodes, edges_of(graph))
    sizes = Counter(found)
    shared = {}
    for mine, (_, strength, *aim) in zip(
        found, target_state.state.classes.node.tolist(), strict=True
    ):
        nearest = min((gap(mine, code) for code in sizes if sizes[code] >= k), default=None)
        cost = gap(mine, aim)
        if sizes[mine] >= k:
            assert (1, 0) == (strength, cost)
        elif strength and cost != nearest:
            shared.setdefault(tuple(aim), []).append((cost, nearest))
    for group in shared.values():
        assert len(group) >= k - 1
        if group[0][1] is not None:
            assert sum(cost for cost, _ in group) <= k * max(nearest for _, nearest in group)


def edited_edges(graph, edited):
    edges = edges_of(graph)
    added, deleted = (set(map(tuple, pairs.tolist())) for pairs in (edited.added, edited.deleted))
    assert (len(added), len(deleted)) == (len(edited.added), len(edited.deleted))
    assert deleted <= edges
    assert not added & edges
    return (edges - deleted) | added


@given(graphs(), st.integers(2, 4), st.booleans(), st.integers(0, 3), SEEDS)
@settings(deadline=None, max_examples=60)
def test_a_run_is_never_worse_than_the_start(graph, k, by_budget, allowed, seed):
    allowed = 0 if by_budget else allowed
    budget = max(1, graph.n_edges // 4) if by_budget else graph.n_edges
    task = task_of(graph, k=k, budget=budget, allowed=allowed)
    edited = target(task._replace(by_budget=by_budget), iterations=300, rng=generator(seed))
    start = unprotected_of(graph.n_nodes, edges_of(graph), k)
    after = edited_edges(graph, edited)
    assert unprotected_of(graph.n_nodes, after, k) == edited.unprotected
    assert max(edited.unprotected, allowed) <= max(start, allowed)
    assert edited.cost <= budget
    assert after == edges_of(applied(graph, edited))
    if start <= allowed:
        assert 0 == edited.cost


@given(graphs(), st.booleans(), SEEDS)
@settings(deadline=None, max_examples=15)
def test_the_same_seed_gives_the_same_edits(graph, by_budget, seed):
    one, other = (
        target(task_of(graph)._replace(by_budget=by_budget), iterations=300, rng=generator(seed))
        for _ in range(2)
    )
    assert one.unprotected == other.unprotected
    assert one.added.tolist() == other.added.tolist()
    assert one.deleted.tolist() == other.deleted.tolist()
