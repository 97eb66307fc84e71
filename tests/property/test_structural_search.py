from __future__ import annotations

from collections import Counter
from itertools import combinations
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.kernels.arrays import FREE
from graphveil.data import Graph
from graphveil.evaluate.metrics.betweenness import betweenness, overlap_of_top
from graphveil.methods.annealing.kernels import classes
from graphveil.methods.annealing.kernels import pooled as pools
from graphveil.methods.annealing.kernels.anneal import anneal, attempt
from graphveil.methods.annealing.kernels.pooled import BEST_CHANGED, BEST_UNPROTECTED, flip, go_to
from graphveil.methods.annealing.schedule import paying, within_budget
from graphveil.methods.annealing.task import CODES, Task
from graphveil.methods.structural.search import search, walk_of
from graphveil.methods.structural.settings import Until
from graphveil.methods.structural.starts import cut, strip, without_triangles
from graphveil.methods.structural.utility import compared, shape_of
from graphveil.methods.structural.walk_state import annealing_state_of, candidates

ALWAYS, NEVER = 1e9, -1e9


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def graph_of(n, edges):
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


@st.composite
def graphs(draw, smallest=4, largest=11):
    n = draw(st.integers(smallest, largest))
    pairs = list(combinations(range(n), 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return graph_of(n, [pair for pair, keep in zip(pairs, kept, strict=True) if keep])


def task_of(graph, *, measure="count", k=2, edits="delete", budget=None, allowed=0):
    return Task(graph, measure, 1, k, edits, graph.n_edges if budget is None else budget, allowed)


def values(n, edges, measure):
    """The measure of every node, by looking at every pair and triple."""
    degree = Counter(end for edge in edges for end in edge)
    triangle = Counter(
        corner
        for three in combinations(range(n), 3)
        if all(pair in edges for pair in combinations(three, 2))
        for corner in three
    )
    return [
        {
            "count": (degree[v], triangle[v]),
            "edge-count": degree[v] + triangle[v],
            "degree": degree[v],
        }[measure]
        for v in range(n)
    ]


def unprotected_of(n, edges, measure, k):
    return sum(size for size in Counter(values(n, edges, measure)).values() if size < k)


def edges_of(graph):
    return set(map(tuple, graph.edges().tolist()))


def edited_edges(graph, edited):
    """The edges after the edits, each of which must change something."""
    edges = edges_of(graph)
    added, deleted = (set(map(tuple, pairs.tolist())) for pairs in (edited.added, edited.deleted))
    assert len(added) == len(edited.added)
    assert len(deleted) == len(edited.deleted)
    assert deleted <= edges
    assert not added & edges
    return (edges - deleted) | added


def pairs_of(pool):
    return list(zip(pool.one.tolist(), pool.other.tolist(), strict=True))


def edges_in(state):
    start, length, neighbor, _ = state.rows
    rows = [neighbor[start[v] : start[v] + length[v]].tolist() for v in range(length.size)]
    assert all(row == sorted(set(row)) for row in rows)
    arcs = {(v, w) for v, row in enumerate(rows) for w in row}
    assert arcs == {(w, v) for v, w in arcs}
    return {(v, w) for v, w in arcs if v < w}


def assert_counted(task, state):
    """Compare every number of the state with a recount of its neighbor lists."""
    n, edges, pool = task.graph.n_nodes, edges_in(state), state.pool
    present = {pair for pair, here in zip(pairs_of(pool), pool.present, strict=True) if here}
    original = edges_of(task.graph)
    assert edges == present | (original - set(pairs_of(pool)))
    by_degree, by_triangle = CODES[task.measure]
    degree, triangle = np.array(values(n, edges, "count")).reshape(-1, 2).T
    codes = (degree * by_degree + triangle * by_triangle).tolist()
    assert codes == state.classes.table[state.classes.node[:, 0], 0].tolist()
    sizes = Counter(codes)
    assert sizes == {code: size for code, size in state.classes.table.tolist() if size > 0}
    small = [size for size in sizes.values() if size < task.k]
    assert sum(small) == state.classes.tally[classes.UNPROTECTED]
    lack = sum(size * (2 * task.k - 1 - size) for size in small)
    assert lack == state.classes.tally[classes.LACK]
    used = np.count_nonzero(state.classes.table[:, 0] != FREE)
    assert used == state.classes.tally[classes.USED]
    changed = set(pool.order[: pool.tally[pools.CHANGED]].tolist())
    differs = {
        i for i, pair in enumerate(pairs_of(pool)) if (pair in present) != (pair in original)
    }
    assert differs == changed
    assert np.arange(pool.order.size).tolist() == pool.position[pool.order].tolist()


def snapshot(state):
    arrays = [*state.classes[:2], state.classes.tally[:4], state.rows.length, *state.pool[:-3]]
    return [*(array.copy() for array in arrays), np.array(sorted(edges_in(state)))]


MEASURES = st.sampled_from(sorted(CODES))


@given(graphs(), MEASURES, st.integers(2, 5), st.sampled_from(["delete", "add", "any"]), st.data())
@settings(deadline=None, max_examples=60)
def test_the_kernel_equals_a_recount_after_any_flips(graph, measure, k, edits, data):
    task = task_of(graph, measure=measure, k=k, edits=edits)
    state, _, best, _, trial = annealing_state_of(task, generator())
    size = state.pool.one.size
    chosen = st.lists(st.integers(0, size - 1), max_size=30) if size else st.just([])
    assert_counted(task, state)
    for pair in data.draw(chosen):
        flip(state, None, best, trial, pair)
    assert_counted(task, state)


@given(graphs(), MEASURES, st.integers(2, 4), st.integers(0, 2**32), st.booleans())
@settings(deadline=None, max_examples=60)
def test_a_rejected_trial_changes_nothing_at_all(graph, measure, k, seed, two):
    task = task_of(graph, measure=measure, k=k, edits="any")
    annealing, rng = annealing_state_of(task, generator()), generator(seed)
    size = annealing.state.pool.one.size
    if size < 2:
        return
    for pair in rng.integers(0, size, 8).tolist():
        flip(*annealing[:3], annealing.trial, pair)
    before = snapshot(annealing.state)
    first, second = rng.permutation(size)[:2].tolist()
    annealing.trial[:] = first, second
    attempt(annealing, None, 2 if two else 1, 1, within_budget(task, 1).plan, NEVER)
    for then, now in zip(before, snapshot(annealing.state), strict=True):
        assert np.array_equal(then, now)


@given(graphs(), MEASURES, st.integers(2, 4), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_the_second_flip_of_a_swap_sees_the_first(graph, measure, k, seed):
    task = task_of(graph, measure=measure, k=k, edits="any")
    annealing, rng = annealing_state_of(task, generator()), generator(seed)
    size = annealing.state.pool.one.size
    if size < 2:
        return
    for _ in range(5):
        annealing.trial[:] = rng.permutation(size)[:2]
        attempt(annealing, None, 2, 1, within_budget(task, 1).plan, ALWAYS)
        assert_counted(task, annealing.state)


@given(graphs(), st.integers(2, 4), st.integers(0, 2**32), st.integers(1, 8))
@settings(deadline=None, max_examples=40)
def test_the_best_state_can_be_gone_back_to(graph, k, seed, log):
    task = task_of(graph, k=k)
    annealing = annealing_state_of(task, generator())
    annealing = annealing._replace(best=annealing.best._replace(log=np.empty(log, dtype=np.int32)))
    state, values, best, _, trial = annealing
    plan, odds = paying(within_budget(task, 300), k, 0.3)
    anneal(annealing, None, plan._replace(hot=2.0), odds, generator(seed), 0, 300)
    go_to(state, values, best, trial, best.changed.copy())
    assert_counted(task, state)
    assert best.tally[BEST_UNPROTECTED] == state.classes.tally[classes.UNPROTECTED]
    assert best.tally[BEST_CHANGED] == state.pool.tally[pools.CHANGED]


def found_by(heuristic, task, seed, *, by_budget):
    if heuristic is search:
        return search(task._replace(by_budget=by_budget), iterations=400, rng=generator(seed))
    return heuristic(task, iterations=400, rng=generator(seed))


RUNS = st.sampled_from([(search, True), (search, False), (cut, False), (strip, False)])


@given(graphs(), MEASURES, st.integers(2, 4), RUNS, st.integers(0, 3), st.integers(0, 2**32))
@settings(deadline=None, max_examples=80)
def test_a_run_is_never_worse_than_the_start(graph, measure, k, run, allowed, seed):
    heuristic, by_budget = run
    allowed = 0 if by_budget else allowed
    budget = max(1, graph.n_edges // 4) if by_budget else graph.n_edges
    task = task_of(graph, measure=measure, k=k, budget=budget, allowed=allowed)
    edited = found_by(heuristic, task, seed, by_budget=by_budget)
    start = unprotected_of(graph.n_nodes, edges_of(graph), measure, k)
    unprotected = unprotected_of(graph.n_nodes, edited_edges(graph, edited), measure, k)
    assert unprotected == edited.unprotected
    assert max(unprotected, allowed) <= max(start, allowed)
    assert edited.cost <= budget
    if start <= allowed:
        assert 0 == edited.cost


@given(graphs(), st.integers(2, 4), st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_strip_reaches_the_goal_wherever_there_are_k_nodes(graph, k, seed):
    task = task_of(graph, k=k)
    edited = strip(task, iterations=50, rng=generator(seed))
    assert 0 == edited.unprotected


@given(graphs(), st.sampled_from(["add", "any"]), st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_edits_are_of_the_kind_that_was_asked_for(graph, edits, seed):
    task = task_of(graph, edits=edits, budget=3)
    edited = search(task._replace(by_budget=True), iterations=400, rng=generator(seed))
    unprotected = unprotected_of(graph.n_nodes, edited_edges(graph, edited), "count", 2)
    assert unprotected == edited.unprotected
    assert edited.cost <= 3
    if edits == "add":
        assert 0 == len(edited.deleted)


@given(graphs(), RUNS, st.integers(0, 2**32))
@settings(deadline=None, max_examples=20)
def test_the_same_seed_gives_the_same_edits(graph, run, seed):
    heuristic, by_budget = run
    one, other = (found_by(heuristic, task_of(graph), seed, by_budget=by_budget) for _ in range(2))
    assert one.unprotected == other.unprotected
    assert one.deleted.tolist() == other.deleted.tolist()


@given(graphs(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_cut_leaves_no_triangle(graph, seed):
    walk = walk_of(task_of(graph), generator(seed), None)
    without_triangles(walk, walk.task.graph.indptr, walk.task.graph.indices)
    edges = edges_in(walk.annealing.state)
    assert not any(triangle for _, triangle in values(graph.n_nodes, edges, "count"))
    assert_counted(walk.task, walk.annealing.state)


@given(graphs(smallest=1), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_candidates_are_distinct_pairs_without_an_edge(graph, seed):
    found = list(map(tuple, candidates(graph, generator(seed)).tolist()))
    assert len(set(found)) == len(found) <= graph.n_edges
    assert all(0 <= u < v < graph.n_nodes for u, v in found)
    assert not set(found) & edges_of(graph)


@given(graphs(largest=14), graphs(smallest=14, largest=14), st.integers(1, 14))
@settings(deadline=None, max_examples=40)
def test_what_bounds_are_on_is_what_other_code_measures(one, other, top):
    one = Graph.from_edges(*one.edges().T, n=14)
    bounds = Until.parse("betweenness: overlap >= 0 and shortest-path: released >= 0")
    bounds = Until([*bounds, *Until.parse("largest-component: released >= 0")])
    with mock.patch("graphveil.methods.structural.utility.TOP", top):
        shapes = [shape_of(each, bounds) for each in (one, other)]
        overlap, mean_path, share = compared(*shapes, bounds).values()
    scores = [betweenness(each) for each in (one, other)]
    assert overlap == pytest.approx(overlap_of_top(*scores, top))
    drawn = other.to_networkx()
    paths = [d for _, of in nx.all_pairs_shortest_path_length(drawn) for d in of.values() if d]
    assert mean_path == pytest.approx(sum(paths) / max(len(paths), 1))
    assert share == max(map(len, nx.connected_components(drawn))) / 14


def priced(task, cost):
    here = annealing_state_of(task, generator())
    pool = here.state.pool._replace(cost=cost)
    return here._replace(state=here.state._replace(pool=pool))


@given(graphs(), st.integers(0, 2), st.integers(0, 2**32))
@settings(deadline=None, max_examples=40)
def test_what_is_spent_is_the_price_of_the_changed_pairs_and_the_cheapest_is_best(
    graph, allowed, seed
):
    task, rng = task_of(graph, allowed=allowed), generator(seed)
    cost = rng.integers(1, 9, graph.n_edges)
    state, _, best, _, trial = priced(task, cost)
    seen = [(max(int(best.tally[BEST_UNPROTECTED]) - allowed, 0), 0)]
    for pair in rng.integers(0, max(graph.n_edges, 1), 20 if graph.n_edges else 0).tolist():
        flip(state, None, best, trial, pair)
        pools.keep_if_better(state, best, allowed, 0)
        spent = int(cost[~state.pool.present].sum())
        assert spent == state.pool.tally[pools.SPENT]
        seen.append((max(classes.unprotected_of(state.classes) - allowed, 0), spent))
    assert min(seen)[1] == best.tally[pools.BEST_SPENT] == cost[best.changed].sum()


@given(graphs(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=20)
def test_equal_prices_are_the_number_of_edits(graph, seed):
    task = task_of(graph)
    plan, odds = paying(within_budget(task, 200), 2, 0.1)
    walks = annealing_state_of(task, generator()), priced(task, np.full(graph.n_edges, 7))
    for here, price in zip(walks, (0.1, 0.1 / 7), strict=True):
        anneal(here, None, plan._replace(price=price), odds, generator(seed), 0, 200)
    one, other = (here.best for here in walks)
    assert one.changed.tolist() == other.changed.tolist()
    assert 7 * one.tally[pools.BEST_SPENT] == other.tally[pools.BEST_SPENT]
