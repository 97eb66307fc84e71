from __future__ import annotations

import numpy as np
import pytest

from graphveil.data import Graph
from graphveil.measures import class_sizes_of_nodes, partition
from graphveil.methods.annealing import walk as walks
from graphveil.methods.annealing.kernels.anneal import attempt
from graphveil.methods.annealing.kernels.pooled import BEST_UNPROTECTED
from graphveil.methods.annealing.schedule import within_budget
from graphveil.methods.annealing.state import Visited, remember
from graphveil.methods.annealing.task import Edited, Task, counted_by_codes
from graphveil.methods.structural.paper import sample_edits
from graphveil.methods.structural.recount import counted
from graphveil.methods.structural.search import search
from graphveil.methods.structural.walk_state import annealing_state_of, edited_of, edits_of

NONE = np.empty((0, 2), dtype=np.int32)


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def random_graph(n=40, density=0.15, seed=0):
    u, v = np.triu_indices(n, 1)
    chosen = generator(seed).random(u.size) < density
    return Graph.from_edges(u[chosen], v[chosen], n=n)


def task_of(graph, *, measure="vrq", distance=1, edits="delete", allowed=0, budget=None):
    most = graph.n_edges if budget is None else budget
    return Task(graph, measure, distance, 2, edits, most, allowed)


def unprotected_in(graph, task):
    labels = partition(graph, measure=task.measure, distance=task.distance)
    return int(np.count_nonzero(class_sizes_of_nodes(labels) < task.k))


FLAG = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
"""A triangle with a tail: the corner with the tail and the tail's end are alone."""

KNOWN = [
    ("vrq", 1),
    ("dk", 1),
    ("hybrid", 1),
    ("degree-distribution", 1),
    ("count", 2),
    ("edge-count", 2),
    ("vrq", 2),
    ("dk", 2),
]


@pytest.mark.parametrize(("measure", "distance"), [("vrq", 1), ("dk", 1), ("hybrid", 1)])
def test_one_deletion_makes_a_flag_anonymous_by_any_measure(measure, distance):
    task = task_of(FLAG, measure=measure, distance=distance, budget=1)
    edited = search(task._replace(by_budget=True), iterations=300, rng=generator())
    assert (0, 1) == (edited.unprotected, edited.cost)


def test_a_rewiring_is_one_edit_that_changes_four_pairs():
    graph = random_graph()
    task = task_of(graph, measure="count", edits="rewire", budget=1)
    edited = search(task._replace(by_budget=True), iterations=2000, rng=generator())
    assert (2, 2) == (len(edited.added), len(edited.deleted))
    assert edited.unprotected < unprotected_in(graph, task)


def test_rewiring_leaves_degrees_alone_and_stops_at_what_they_allow():
    star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    edited = search(
        task_of(star, measure="count", edits="rewire")._replace(by_budget=True),
        iterations=None,
        rng=generator(),
    )
    assert (1, 0) == (edited.unprotected, edited.cost)


@pytest.mark.parametrize("edits", ["delete", "add", "any", "rewire"])
@pytest.mark.parametrize(("measure", "distance"), KNOWN)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_edges_need_no_edit(measure, distance, edits, n):
    empty = Graph.from_edges(np.empty(0, dtype=int), np.empty(0, dtype=int), n=n)
    task = task_of(empty, measure=measure, distance=distance, edits=edits, allowed=1)
    edited = search(task, iterations=20, rng=generator())
    assert (int(n == 1), 0) == (edited.unprotected, edited.cost)


@pytest.mark.parametrize("edits", ["delete", "rewire"])
@pytest.mark.parametrize(("measure", "distance"), KNOWN)
def test_a_search_leaves_fewer_nodes_unprotected_than_the_input(measure, distance, edits):
    graph = random_graph()
    task = task_of(graph, measure=measure, distance=distance, edits=edits, budget=12)
    edited = search(task._replace(by_budget=True), iterations=1500, rng=generator())
    assert edited.unprotected < unprotected_in(graph, task)
    assert edited.unprotected == counted(task, edited).unprotected


def test_a_goal_is_reached_with_fewer_edits_than_there_are_edges():
    graph = random_graph(n=30, density=0.1)
    task = task_of(graph, measure="dk", allowed=3)
    edited = search(task, iterations=4000, rng=generator())
    assert edited.unprotected <= 3
    assert 0 < edited.cost < graph.n_edges // 2


@pytest.mark.parametrize("measure", ["vrq", "hybrid"])
def test_a_goal_that_no_short_walk_reaches_is_reached_from_sampled_deletions(measure):
    graph = random_graph(n=30, density=0.3)
    task = task_of(graph, measure=measure)
    edited = search(task, iterations=1000, rng=generator())
    sampled = sample_edits(task, "ua", gap=2, rng=generator())
    assert (0, 0) == (edited.unprotected, sampled.unprotected)
    assert edited.cost < sampled.cost


def test_whoever_watches_can_stop_a_run_with_the_best_so_far(monkeypatch):
    monkeypatch.setattr(walks, "WORK_OF_A_CHUNK", 100_000)
    seen = []
    task = task_of(random_graph(), budget=10)

    def watch(unprotected, edits):
        seen.append((unprotected, edits))
        return len(seen) == 3

    edited = search(task._replace(by_budget=True), iterations=100_000, rng=generator(), watch=watch)
    assert 3 == len(seen)
    assert (edited.unprotected, edited.cost) == seen[-1]


@pytest.mark.parametrize("edits", ["delete", "rewire"])
def test_a_watched_run_gives_what_an_unwatched_one_gives(edits):
    task = task_of(random_graph(), measure="hybrid", edits=edits, budget=10)
    alone, watched = (
        search(task._replace(by_budget=True), iterations=2000, rng=generator(), watch=watch)
        for watch in (None, lambda _left, _edits: False)
    )
    assert alone.deleted.tolist() == watched.deleted.tolist()
    assert alone.added.tolist() == watched.added.tolist()


SIX, TWO_THREES = (
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)],
    [
        (0, 1),
        (1, 2),
        (2, 0),
        (3, 4),
        (4, 5),
        (5, 3),
    ],
)


def wheels():
    """A hub around a ring of six, a hub around two rings of three: no refinement parts the hubs."""
    pairs = [(0, 1 + i) for i in range(6)] + [(1 + u, 1 + v) for u, v in SIX]
    pairs += [(7, 8 + i) for i in range(6)] + [(8 + u, 8 + v) for u, v in TWO_THREES]
    ends = np.sort(np.array(pairs, dtype=np.int64), axis=1)
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=14)


def test_what_hashes_merge_is_counted_exactly_in_the_end():
    task = task_of(wheels(), measure="dk", budget=3)
    annealing = annealing_state_of(task, generator())
    assert 0 == annealing.best.tally[BEST_UNPROTECTED]
    found = edited_of(task._replace(by_budget=True), annealing, [])
    assert 2 == found.unprotected == unprotected_in(task.graph, task)
    assert 2 == search(task._replace(by_budget=True), iterations=50, rng=generator()).unprotected


def test_a_state_met_before_wins_where_hashes_have_lied():
    task = task_of(wheels(), measure="dk", budget=12)
    annealing = annealing_state_of(task, generator())
    rings = np.flatnonzero((annealing.state.pool.one > 0) & (annealing.state.pool.one != 7))
    bare = np.zeros_like(annealing.best.changed)
    bare[rings] = True
    visited = [Visited(bare, np.empty(0, dtype=np.int64))]
    found = edited_of(task._replace(by_budget=True), annealing, visited)
    assert (0, 12) == (found.unprotected, found.cost)


def test_states_met_are_listed_once_and_the_oldest_forgotten():
    annealing = annealing_state_of(task_of(random_graph()), generator())
    visited = []
    for pair in (0, 0, *range(1, 12)):
        annealing.best.changed[pair] = True
        remember(visited, annealing)
    assert list(range(5, 13)) == [int(one.changed.sum()) for one in visited]


def test_a_rewiring_is_listed_by_the_pairs_it_parts_and_joins():
    square = Graph.from_edges([0, 2], [1, 3], n=4)
    annealing = annealing_state_of(task_of(square, edits="rewire"), generator())
    rows, mates = annealing.state.rows, annealing.state.pool.mates
    for turned, joined in ((0, [[0, 3], [1, 2]]), (1, [[0, 2], [1, 3]])):
        mates[0] = (2 + turned, turned)
        plan = within_budget(task_of(square, edits="rewire"), 1).plan
        annealing.trial[0] = 0
        attempt(annealing, None, 1, 1, plan, 1e9)
        edited = edits_of(annealing, Visited(np.ones(2, dtype=np.bool_), mates[0]))
        assert joined == edited.added.tolist()
        assert [[0, 1], [2, 3]] == edited.deleted.tolist()
        assert rows.neighbor[0] == (2 if turned else 3)
        annealing.trial[0] = 1
        attempt(annealing, None, 1, -1, plan, 1e9)
        assert [1, 0, 3, 2] == rows.neighbor.tolist()


def test_unprotected_nodes_are_counted_after_additions_and_deletions():
    tail, chord = np.array([[2, 3]], dtype=np.int32), np.array([[1, 3]], dtype=np.int32)
    task = task_of(FLAG, measure="dk")
    assert 2 == counted(task, Edited(NONE, NONE, 0)).unprotected
    assert 1 == counted(task, Edited(NONE, tail, 0)).unprotected
    assert 0 == counted(task, Edited(chord, NONE, 0)).unprotected


def test_only_counts_at_distance_one_without_rewiring_are_followed_by_counts_alone():
    assert counted_by_codes(task_of(FLAG, measure="count"))
    assert not counted_by_codes(task_of(FLAG, measure="count", distance=2))
    assert not counted_by_codes(task_of(FLAG, measure="count", edits="rewire"))
    assert not counted_by_codes(task_of(FLAG, measure="dk"))
