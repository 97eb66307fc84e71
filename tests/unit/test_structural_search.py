from __future__ import annotations

import numpy as np
import pytest

from graphveil.data import Graph
from graphveil.errors import ParameterError
from graphveil.kernels.structural import counts
from graphveil.methods.structural import search as module
from graphveil.methods.structural.cut import cut
from graphveil.methods.structural.search import default_iterations, search
from graphveil.methods.structural.state import arena_of, count_left, edited_of
from graphveil.methods.structural.strip import strip
from graphveil.methods.structural.task import Task


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def random_graph(n=40, density=0.2, seed=0):
    u, v = np.triu_indices(n, 1)
    chosen = generator(seed).random(u.size) < density
    return Graph.from_edges(u[chosen], v[chosen], n=n)


def task_of(graph, *, measure="count", distance=1, edits="delete", allowed=0, budget=None):
    most = graph.n_edges if budget is None else budget
    return Task(graph, measure, distance, 2, edits, most, allowed)


FLAG = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
"""A triangle with a tail: the corner with the tail and the tail's end are alone."""

HEURISTICS = {
    "search": lambda task, **more: search(task, by_budget=False, **more),
    "cut": cut,
    "strip": strip,
}


def test_one_deletion_turns_a_flag_into_a_path():
    edited = search(task_of(FLAG, budget=1), iterations=500, by_budget=True, rng=generator())
    assert 0 == edited.left
    assert edited.deleted.tolist() in ([[0, 2]], [[1, 2]])


def test_one_addition_makes_a_flag_anonymous():
    task = task_of(FLAG, edits="add", budget=1)
    edited = search(task, iterations=500, by_budget=True, rng=generator())
    assert 0 == edited.left
    assert 1 == len(edited.added)


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_goal_is_reached_with_few_deletions(name):
    edited = HEURISTICS[name](task_of(FLAG), iterations=500, rng=generator())
    assert (0, 1) == (edited.left, edited.cost)


@pytest.mark.parametrize("name", HEURISTICS)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_graphs_without_edges_need_no_edit(name, n):
    empty = Graph.from_edges(np.empty(0, dtype=int), np.empty(0, dtype=int), n=n)
    edited = HEURISTICS[name](task_of(empty, allowed=1), iterations=50, rng=generator())
    assert (int(n == 1), 0) == (edited.left, edited.cost)


@pytest.mark.parametrize("edits", ["delete", "add", "any"])
def test_a_complete_graph_is_left_alone(edits):
    u, v = np.triu_indices(6, 1)
    task = task_of(Graph.from_edges(u, v, n=6), edits=edits)
    assert 0 == search(task, iterations=50, by_budget=False, rng=generator()).cost


def test_nothing_is_spent_where_nothing_may_be_spent():
    edited = search(task_of(FLAG, budget=0), iterations=200, by_budget=True, rng=generator())
    assert (2, 0) == (edited.left, edited.cost)


@pytest.mark.parametrize("name", HEURISTICS)
def test_whoever_watches_can_stop_a_run_with_the_best_so_far(name, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 100)
    seen = []
    task = task_of(random_graph())

    def watch(left, edits):
        seen.append((left, edits))
        return len(seen) == 3

    edited = HEURISTICS[name](task, iterations=100_000, rng=generator(), watch=watch)
    assert 3 == len(seen)
    assert (edited.left, edited.cost) == seen[-1]


def test_a_watched_run_gives_what_an_unwatched_one_gives():
    task = task_of(random_graph(), budget=20)
    alone, watched = (
        search(task, iterations=3000, by_budget=True, rng=generator(), watch=watch)
        for watch in (None, lambda _left, _edits: False)
    )
    assert alone.deleted.tolist() == watched.deleted.tolist()


@pytest.mark.parametrize("name", ["cut", "strip"])
@pytest.mark.parametrize(("measure", "distance"), [("vrq", 1), ("dk", 1), ("count", 2)])
def test_a_measure_that_the_kernel_does_not_know_is_refused(name, measure, distance):
    task = task_of(FLAG, measure=measure, distance=distance)
    with pytest.raises(ParameterError, match=f"'{name}' does not know measure='{measure}'"):
        HEURISTICS[name](task, iterations=50, rng=generator())


@pytest.mark.parametrize(
    ("name", "edits"),
    [("cut", "add"), ("cut", "any"), ("strip", "any"), ("strip", "rewire")],
)
def test_edits_that_a_heuristic_does_not_know_are_refused(name, edits):
    with pytest.raises(ParameterError, match=f"'{name}' does not know edits='{edits}'"):
        HEURISTICS[name](task_of(FLAG, edits=edits), iterations=50, rng=generator())


def test_empty_classes_are_dropped_before_the_table_is_full():
    task = task_of(random_graph(n=60, density=0.3))
    state, _ = arena_of(task, generator())
    pairs = generator(1).integers(0, task.graph.n_edges, 4000)
    most = 0
    for pair in pairs.tolist():
        before = state.cells.tally[counts.USED]
        counts.flip(state, pair)
        most = max(most, before - state.cells.tally[counts.USED])
        assert state.cells.tally[counts.USED] < len(state.cells.table)
    fresh = np.empty(task.graph.n_nodes, dtype=np.int64)
    pool = state.pool
    kept = np.stack((pool.left, pool.right), axis=1)[pool.present].astype(np.int64)
    counts.count(state, kept, fresh)
    assert fresh.tolist() == state.cells.table[state.cells.slot, 0].tolist()
    assert most > 0, "the table was never emptied"


def test_a_wrong_count_does_not_leave_the_search():
    task = task_of(FLAG)
    arena = arena_of(task, generator())
    arena.best.tally[1] += 1
    with pytest.raises(AssertionError, match="a recount 2"):
        edited_of(task, arena)


def test_nodes_left_are_counted_after_additions_and_deletions():
    none = np.empty((0, 2), dtype=np.int32)
    tail, chord = np.array([[2, 3]], dtype=np.int32), np.array([[1, 3]], dtype=np.int32)
    assert 2 == count_left(task_of(FLAG), none, none)
    assert 1 == count_left(task_of(FLAG), none, tail)
    assert 0 == count_left(task_of(FLAG), chord, none)


@pytest.mark.parametrize(("edges", "proposals"), [(10, 100_000), (10_000, 500_000), (10**6, 5e6)])
def test_proposals_grow_with_the_edges_within_bounds(edges, proposals):
    assert proposals == default_iterations(edges)
