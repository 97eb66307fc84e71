"""The paper's five heuristics: their weights, the law of the draw, and the trajectory."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.annealing.bounds import lower_bound, unprotected_by_rewiring
from graphveil.methods.annealing.task import Task
from graphveil.methods.structural.kernels.paper import missing_from
from graphveil.methods.structural.paper import (
    LAST,
    arrival_times,
    candidates,
    one_round,
    ranked,
    sample_edits,
    state_of,
    weights,
)

HEURISTICS = ("es", "degree", "affected", "unique", "ua", "ua-only")
KITE = ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5))
"""Two triangles on one edge, and a tail of two edges; only 0 and 4 have the degree 2."""


def graph_of(edges, n):
    ends = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=n)


def task_of(edges=KITE, n=6, **changes):
    graph = graph_of(edges, n)
    task = Task(graph, "count", 1, k=2, edits="delete", budget=graph.n_edges, allowed=0)
    return task._replace(**changes)


def run(task, heuristic="ua", *, gap=1, by_budget=False, seed=1, watch=None):
    rng = Randomness(seed=seed).stream("test")
    return sample_edits(
        task._replace(by_budget=by_budget), heuristic, gap=gap, rng=rng, watch=watch
    )


def neighbors(edges):
    near = {}
    for v, w in edges:
        near.setdefault(v, set()).add(w)
        near.setdefault(w, set()).add(v)
    return near


def twin_exposed(edges, n, k):
    """The nodes in classes of (degree, triangles) below k."""
    near = neighbors(edges)
    values = {}
    for v in range(n):
        around = near.get(v, set())
        triangles = sum(b in near[a] for a, b in combinations(sorted(around), 2))
        values[v] = (len(around), triangles)
    sizes = Counter(values.values())
    return {v for v in range(n) if sizes[values[v]] < k}


def twin_weights(edges, n, k, heuristic, most):
    """Equations 5 to 9 for every edge; those of `unique` for a batch of this size."""
    near = neighbors(edges)
    exposed = twin_exposed(edges, n, k)
    affected = {(v, w): {v, w} | (near[v] & near[w]) for v, w in edges}
    touching = [edge for edge in edges if exposed & set(edge)]
    if heuristic == "es":
        return dict.fromkeys(edges, 1)
    if heuristic == "degree":
        return {(v, w): min(len(near[v]), len(near[w])) for v, w in edges}
    if heuristic == "affected":
        return {edge: len(affected[edge]) for edge in edges}
    if heuristic == "ua":
        return {edge: len(affected[edge] & exposed) + 1 / len(edges) for edge in edges}
    score = {edge: len(affected[edge] & exposed) if "ua" in heuristic else 1 for edge in edges}
    if len(touching) >= most:
        return {edge: score[edge] * (edge in touching) for edge in edges}
    return {edge: 1e9 * score[edge] if edge in touching else 1 for edge in edges}


def roulette(weight, draws):
    """The chance of every set that a roulette without replacement draws."""
    chances = Counter()
    for sequence in permutations(weight, draws):
        left = sum(weight.values())
        chance = 1.0
        for edge in sequence:
            chance *= weight[edge] / left if left else 0.0
            left -= weight[edge]
        chances[frozenset(sequence)] += chance
    return chances


def chances_after(edges, n, k, heuristic, *, gap, rounds):
    """The chance of every set of edges that these many batches delete."""
    chances = {frozenset(): 1.0}
    for _ in range(rounds):
        after = Counter()
        for gone, chance in chances.items():
            alive = tuple(edge for edge in edges if edge not in gone)
            drawn = roulette(twin_weights(alive, n, k, heuristic, gap), gap)
            for batch, share in drawn.items():
                after[gone | batch] += chance * share
        chances = after
    return chances


def misfit(observed, chances):
    """The p-value of a chi-square test; sets expected fewer than five times are put together."""
    draws = sum(observed.values())
    assert set(observed) <= {key for key, chance in chances.items() if chance > 0}
    common = [key for key, chance in chances.items() if chance * draws >= 5]
    seen = [observed[key] for key in common]
    expected = [chances[key] * draws for key in common]
    if draws - sum(expected) > 1e-6:
        seen.append(draws - sum(seen))
        expected.append(draws - sum(expected))
    return 1.0 if len(seen) == 1 else chisquare(seen, expected).pvalue


def deleted_after(task, heuristic, rng, *, gap, rounds):
    order, forward = ranked(task.graph)
    before = {tuple(edge) for edge in task.graph.edges().tolist()}
    for _ in range(rounds):
        forward, _done = one_round(state_of(forward, task), heuristic, task, gap, rng)
    u = np.repeat(order, np.diff(forward.start))
    v = order[forward.ends]
    alive = {(int(min(a, b)), int(max(a, b))) for a, b in zip(u, v, strict=True)}
    return frozenset(before - alive)


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize(("gap", "rounds"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_batches_are_drawn_as_by_a_roulette_that_only_recounts_turn_anew(heuristic, gap, rounds):
    task = task_of()
    rng = Randomness(seed=5).stream(f"{heuristic} {gap} {rounds}")
    observed = Counter(
        deleted_after(task, heuristic, rng, gap=gap, rounds=rounds) for _ in range(2500)
    )
    chances = chances_after(KITE, 6, 2, heuristic, gap=gap, rounds=rounds)
    assert misfit(observed, chances) > 1e-3


def test_the_earliest_arrivals_follow_the_law_of_roulette_without_replacement():
    weight = {0: 1.0, 1: 2.0, 2: 4.0, 3: 0.25, 4: 0.0, 5: 3.0}
    rates = np.array(list(weight.values()))
    rng = Randomness(seed=3).stream("arrivals")
    observed = Counter(
        frozenset(np.argpartition(arrival_times(rates, rng), 3)[:3].tolist()) for _ in range(20000)
    )
    assert misfit(observed, roulette(weight, 3)) > 1e-3


def test_a_weight_of_zero_never_arrives():
    rng = Randomness(seed=3).stream("arrivals")
    assert np.isinf(arrival_times(np.zeros(4), rng)).all()


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_weights_on_the_kite_are_those_of_the_equations(heuristic):
    task = task_of()
    order, forward = ranked(task.graph)
    state = state_of(forward, task)
    (pool,) = candidates(forward, "delete", Randomness(seed=1).stream("none"))
    found = weights(heuristic, state, pool, task)
    ends = np.sort(order[np.stack(pool.nodes, axis=1)], axis=1)
    expected = twin_weights(KITE, 6, 2, heuristic, 1)
    last = LAST if heuristic == "unique" else 0
    for edge, weight in zip(ends.tolist(), found.tolist(), strict=True):
        assert weight == pytest.approx(max(expected[tuple(edge)], last))


def test_unique_takes_every_edge_at_an_exposed_node_before_any_other():
    edges = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (9, 10), (9, 11), (9, 12)]
    exposed = set(edges[4:])
    for seed in range(20):
        rng = Randomness(seed=seed).stream("unique")
        assert exposed < deleted_after(task_of(edges, 13), "unique", rng, gap=6, rounds=1)
        rng = Randomness(seed=seed).stream("unique")
        assert exposed > deleted_after(task_of(edges, 13), "unique", rng, gap=3, rounds=1)


def test_a_gap_of_all_edges_deletes_them_all_at_once():
    seen = []
    found = run(task_of(), gap=7, watch=lambda left, edits: seen.append((left, edits)))
    assert [(0, 7)] == seen
    assert [list(edge) for edge in KITE] == found.deleted.tolist()
    assert 0 == found.unprotected


@pytest.mark.parametrize("edits", ["delete", "add", "rewire", "any"])
def test_a_round_does_as_many_edits_as_the_gap_and_the_budget_allow(edits):
    ring = [(i, (i + 1) % 30) for i in range(30)] + [(0, 15), (0, 9), (4, 20)]
    seen = []
    task = task_of([tuple(sorted(edge)) for edge in ring], 30, edits=edits, budget=10)
    run(task, gap=4, by_budget=True, watch=lambda left, done: seen.append((left, done)))
    reached = [done for _, done in seen]
    assert [4, 8, 10][: len(reached)] == reached
    assert 10 == reached[-1] or 0 == seen[-1][0]


def test_a_watch_that_says_so_stops_the_run_with_the_best_so_far():
    task = task_of(k=3)
    whole, seen = [], []
    run(task, "es", watch=lambda left, edits: whole.append((left, edits)))
    found = run(task, "es", watch=lambda left, edits: not seen.append((left, edits)))
    assert 1 < len(whole)
    assert whole[:1] == seen
    assert len(found.deleted) <= 1


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_the_input_is_returned_where_every_edit_makes_it_worse(heuristic):
    two_triangles_and_two_nodes = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    task = task_of(two_triangles_and_two_nodes, 8, k=6, budget=2)
    seen = []
    found = run(task, heuristic, by_budget=True, watch=lambda left, _: seen.append(left))
    assert (0, 2) == (found.cost, found.unprotected)
    assert [8, 8] == seen


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize("edits", ["delete", "add", "rewire", "any"])
def test_a_goal_that_is_already_met_needs_no_edit(heuristic, edits):
    task = task_of([(0, 1), (2, 3)], 6, edits=edits)
    found = run(task, heuristic)
    assert (0, 0, 0) == (len(found.added), len(found.deleted), found.unprotected)


@pytest.mark.parametrize("edits", ["add", "rewire"])
def test_a_complete_graph_leaves_nothing_to_add_or_rewire(edits):
    complete = list(combinations(range(5), 2))
    task = task_of(complete, 5, edits=edits, k=6, budget=10)
    assert 0 == run(task, by_budget=True).cost


@pytest.mark.parametrize("edits", ["delete", "add", "rewire", "any"])
@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_a_graph_without_edges_can_be_given(heuristic, edits):
    assert 0 == run(task_of([], 4, edits=edits, budget=3), heuristic).unprotected
    nobody = run(task_of([], 0, edits=edits, budget=3), heuristic)
    assert ((0, 2), (0, 2)) == (nobody.added.shape, nobody.deleted.shape)


def test_an_isolated_node_can_be_joined():
    found = run(task_of([(0, 1)], 3, edits="add", budget=2), "es", by_budget=True)
    assert [[0, 2], [1, 2]] == found.added.tolist()
    assert (0, 0) == (len(found.deleted), found.unprotected)


def test_rewiring_changes_edges_and_keeps_every_degree():
    edges = [(0, i) for i in range(1, 6)] + [(1, 2), (3, 6), (6, 7), (7, 8), (2, 5), (4, 8)]
    task = task_of(edges, 10, edits="rewire")
    _, forward = ranked(task.graph)
    state = state_of(forward, task)
    after, done = one_round(state, "es", task, 2, Randomness(seed=2).stream("rewire"))
    assert 2 == done
    assert 4 == len(missing_from(forward, after)) == len(missing_from(after, forward))
    assert state.degrees.tolist() == state_of(after, task).degrees.tolist()


def test_runs_beside_each_other_find_what_they_find_alone():
    rng = Randomness(seed=8).stream("graph")
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, 300, size=(1500, 2)).tolist()}
    task = task_of([pair for pair in pairs if pair[0] != pair[1]], 300)
    alone = [run(task, gap=15, seed=seed).deleted.tolist() for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        beside = pool.map(lambda seed: run(task, gap=15, seed=seed).deleted.tolist(), range(4))
    assert alone == list(beside)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 1),
        ({"edits": "any"}, 1),
        ({"edits": "add"}, 1),
        ({"edits": "rewire"}, 0),
        ({"measure": "edge-count"}, None),
        ({"distance": 2}, None),
        ({"measure": "dk", "distance": 2}, 1),
        ({"allowed": 1}, None),
        ({"k": 8}, None),
    ],
)
def test_the_bound_is_given_where_the_measure_fixes_the_degree_and_all_must_be_alike(
    changes, expected
):
    """Degrees 2 3 3 3 2 1: the 1 must rise, or a 2 and the 1 become alike."""
    assert expected == lower_bound(task_of(**changes))


def test_rewiring_leaves_the_nodes_of_rare_degrees():
    assert 1 == unprotected_by_rewiring(task_of(edits="rewire"))
    assert 3 == unprotected_by_rewiring(task_of(edits="rewire", k=3))
    assert 0 == unprotected_by_rewiring(task_of(edits="rewire", measure="edge-count"))
