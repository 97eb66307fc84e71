from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.annealing import schedule as schedules
from graphveil.methods.annealing import walk as walks
from graphveil.methods.annealing.kernels import classes
from graphveil.methods.annealing.kernels.pooled import BEST_UNPROTECTED, flip
from graphveil.methods.annealing.schedule import default_iterations
from graphveil.methods.annealing.task import Edited, Task
from graphveil.methods.structural import run as runs
from graphveil.methods.structural import search as searches
from graphveil.methods.structural import starts
from graphveil.methods.structural.recount import applied, counted
from graphveil.methods.structural.search import search
from graphveil.methods.structural.settings import PROPERTIES, Kept, Settings, Until
from graphveil.methods.structural.starts import cut, strip
from graphveil.methods.structural.utility import given_up, with_prices, within_bounds
from graphveil.methods.structural.walk_state import annealing_state_of, codes_of, edited_of


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
    "search": search,
    "cut": cut,
    "strip": strip,
}


def test_one_deletion_turns_a_flag_into_a_path():
    edited = search(
        task_of(FLAG, budget=1)._replace(by_budget=True), iterations=500, rng=generator()
    )
    assert 0 == edited.unprotected
    assert edited.deleted.tolist() in ([[0, 2]], [[1, 2]])


def test_one_addition_makes_a_flag_anonymous():
    task = task_of(FLAG, edits="add", budget=1)
    edited = search(task._replace(by_budget=True), iterations=500, rng=generator())
    assert 0 == edited.unprotected
    assert 1 == len(edited.added)


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_goal_is_reached_with_few_deletions(name):
    edited = HEURISTICS[name](task_of(FLAG), iterations=500, rng=generator())
    assert (0, 1) == (edited.unprotected, edited.cost)


@pytest.mark.parametrize("name", HEURISTICS)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_graphs_without_edges_need_no_edit(name, n):
    empty = Graph.from_edges(np.empty(0, dtype=int), np.empty(0, dtype=int), n=n)
    edited = HEURISTICS[name](task_of(empty, allowed=1), iterations=50, rng=generator())
    assert (int(n == 1), 0) == (edited.unprotected, edited.cost)


@pytest.mark.parametrize("edits", ["delete", "add", "any"])
def test_a_complete_graph_is_left_alone(edits):
    u, v = np.triu_indices(6, 1)
    task = task_of(Graph.from_edges(u, v, n=6), edits=edits)
    assert 0 == search(task, iterations=50, rng=generator()).cost


def test_nothing_is_spent_where_nothing_may_be_spent():
    edited = search(
        task_of(FLAG, budget=0)._replace(by_budget=True), iterations=200, rng=generator()
    )
    assert (2, 0) == (edited.unprotected, edited.cost)


@pytest.mark.parametrize("name", HEURISTICS)
def test_whoever_watches_can_stop_a_run_with_the_best_so_far(name, monkeypatch):
    monkeypatch.setattr(walks, "CHUNK", 100)
    seen = []
    task = task_of(random_graph())

    def watch(unprotected, edits):
        seen.append((unprotected, edits))
        return len(seen) == 3

    edited = HEURISTICS[name](task, iterations=100_000, rng=generator(), watch=watch)
    assert 3 == len(seen)
    assert (edited.unprotected, edited.cost) == seen[-1]


def test_a_watched_run_gives_what_an_unwatched_one_gives():
    task = task_of(random_graph(), budget=20)
    alone, watched = (
        search(task._replace(by_budget=True), iterations=3000, rng=generator(), watch=watch)
        for watch in (None, lambda _left, _edits: False)
    )
    assert alone.deleted.tolist() == watched.deleted.tolist()


def watched(heuristic, task, **options):
    """Return what a heuristic gives, and how often somebody looked on."""
    looks = []
    edited = heuristic(
        task, rng=generator(), watch=lambda *best: bool(looks.append(best)), **options
    )
    return edited, len(looks)


@pytest.mark.parametrize("name", HEURISTICS)
def test_effort_multiplies_the_usual_proposals(name, monkeypatch):
    made = []
    monkeypatch.setattr(
        walks.AnnealingWalk, "anneal", lambda _, stretch: made.append(stretch.plan.steps)
    )
    task = task_of(random_graph())
    HEURISTICS[name](task, iterations=None, rng=generator())
    usual, made[:] = list(made), []
    HEURISTICS[name](task, iterations=None, effort=2.5, rng=generator())
    assert [2.5 * steps for steps in usual] == made


def friends_of_friends(n=100, seed=1):
    """Return a ring of near friends, some far ones, some hubs."""
    rng = np.random.default_rng(seed)
    ends = [(v, (v + step) % n) for v in range(n) for step in (1, 2)]
    ends += [(v, int(rng.integers(n))) for v in range(n)]
    ends += [(v, int(rng.integers(n // 10))) for v in range(0, n, 3)]
    simple = np.array(sorted({(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]}))
    return Graph.from_edges(*simple.T, n=n)


def test_no_seed_needs_much_more_edits_than_another():
    task = task_of(friends_of_friends())._replace(k=5)
    edits = [strip(task, iterations=50_000, rng=generator(seed)).cost for seed in range(6)]
    assert max(edits) < 1.5 * min(edits)


def test_a_search_that_reaches_the_goal_is_repeated_with_fewer_edits(monkeypatch):
    budgets = []

    def anneal(walk, stretch, plain=walks.AnnealingWalk.anneal):
        budgets.append((stretch.odds.budget, walk.reached()[1]))
        return plain(walk, stretch)

    monkeypatch.setattr(walks.AnnealingWalk, "anneal", anneal)
    task = task_of(friends_of_friends(n=40), measure="dk")
    edited = search(task, iterations=2_000, rng=generator())
    assert 0 == edited.unprotected
    (unlimited, _), (half, reached), *_ = budgets
    assert (task.graph.n_edges, reached // 2) == (unlimited, half)
    assert edited.cost < reached


@pytest.mark.parametrize("measure", ["count", "dk"])
def test_a_goal_is_missed_by_far_only_where_edges_can_be_sampled_instead(measure):
    task = task_of(random_graph(n=40, density=0.3), measure=measure)._replace(k=4)
    walk = searches.walk_of(task, generator(), None)
    assert (measure == "dk") == walk.misses_by_far()
    walk.task = task._replace(edits="rewire")
    assert not walk.misses_by_far()


def test_empty_classes_are_dropped_before_the_table_is_full():
    task = task_of(random_graph(n=60, density=0.3))
    state, _, best, _, trial = annealing_state_of(task, generator())
    pairs = generator(1).integers(0, task.graph.n_edges, 4000)
    most = 0
    for pair in pairs.tolist():
        before = state.classes.tally[classes.USED]
        flip(state, None, best, trial, pair)
        most = max(most, before - state.classes.tally[classes.USED])
        assert state.classes.tally[classes.USED] < len(state.classes.table)
    pool = state.pool
    kept = Graph.from_edges(pool.one[pool.present], pool.other[pool.present], n=60)
    fresh = codes_of(task._replace(graph=kept))
    assert fresh.tolist() == state.classes.table[state.classes.node[:, 0], 0].tolist()
    assert most > 0, "the table was never emptied"


def test_a_wrong_count_does_not_leave_the_search():
    task = task_of(FLAG)
    annealing = annealing_state_of(task, generator())
    annealing.best.tally[1] += 1
    with pytest.raises(AssertionError, match="a recount gives 2"):
        edited_of(task, annealing, [])


def test_unprotected_nodes_are_counted_after_additions_and_deletions():
    none = np.empty((0, 2), dtype=np.int32)
    tail, chord = np.array([[2, 3]], dtype=np.int32), np.array([[1, 3]], dtype=np.int32)
    assert 2 == counted(task_of(FLAG), Edited(none, none, 0)).unprotected
    assert 1 == counted(task_of(FLAG), Edited(none, tail, 0)).unprotected
    assert 0 == counted(task_of(FLAG), Edited(chord, none, 0)).unprotected


@pytest.mark.parametrize(("edges", "proposals"), [(10, 100_000), (10_000, 500_000), (10**6, 5e6)])
def test_proposals_grow_with_the_edges_within_bounds(edges, proposals):
    assert proposals == default_iterations(edges)


def stretches_of(monkeypatch, left, *, most=schedules.MOST_STEPS, effort=1.0):
    """Return the proposals of every stretch of a budget, when so many are left after each."""
    after, steps = iter(left), []

    def anneal(walk, stretch):
        walk.annealing.best.tally[BEST_UNPROTECTED] = next(after)
        steps.append(stretch.plan.steps)
        return False

    monkeypatch.setattr(walks.AnnealingWalk, "anneal", anneal)
    monkeypatch.setattr(searches.walk_state, "edited_of", lambda *_: None)
    monkeypatch.setattr(schedules, "MOST_STEPS", most)
    task = task_of(FLAG)._replace(by_budget=True)
    searches.search(task, iterations=None, effort=effort, rng=generator())
    return steps


def test_a_budget_takes_longer_stretches_while_the_last_gained(monkeypatch):
    assert [100_000] == stretches_of(monkeypatch, [0])
    assert [100_000, 300_000] == stretches_of(monkeypatch, [100, 96])
    gains = [100, 90, 80, 70, 60]
    assert [100_000 * 3**i for i in range(4)] == stretches_of(monkeypatch, gains)


def test_no_stretch_of_a_budget_is_longer_than_the_most_proposals(monkeypatch):
    gains = [100, 90, 80, 70]
    assert [100_000, 300_000] == stretches_of(monkeypatch, gains, most=800_000)
    longer = [200_000, 600_000]
    assert longer == stretches_of(monkeypatch, gains, most=800_000, effort=2.0)


def chosen_by_auto(monkeypatch, costs, **parameters):
    """The heuristics that `auto` runs where these reach everybody with so many deletions."""
    ran = []
    graph = random_graph(n=12, density=0.5)

    def stand_in(name):
        def walk(task, **_):
            ran.append(name)
            deleted = task.graph.edges()[: costs.get(name, 0)]
            left = 0 if name in costs else task.n_nodes
            return Edited(np.empty((0, 2), dtype=np.int32), deleted, left)

        return walk

    monkeypatch.setattr(runs, "WALKS", {name: stand_in(name) for name in runs.WALKS})
    task = task_of(graph)._replace(**parameters)
    settings = Settings("auto", None, None, 1.0, False, None, "stop")
    runs._try_all(task, settings, Randomness(1), 12, lambda: False)
    return ran


@pytest.mark.parametrize(
    ("k", "costs", "expected"),
    [
        (2, {"strip": 5, "cut": 5, "mirror": 5}, ["strip", "cut", "mirror"]),
        (3, {"strip": 5, "cut": 5}, ["strip", "cut"]),
        (3, {"cut": 25}, ["strip", "cut"]),
        (2, {}, ["strip", "cut", "mirror"]),
    ],
)
def test_mirrors_are_tried_for_pairs_whatever_the_others_reach(monkeypatch, k, costs, expected):
    assert expected == chosen_by_auto(monkeypatch, costs, k=k)


def test_where_some_may_stay_unprotected_cut_deletes_only_edges_in_most_triangles(monkeypatch):
    graph = random_graph(n=60, density=0.4)
    task = task_of(graph, allowed=12)
    thinned = cut(task, iterations=4_000, rng=generator(1))
    monkeypatch.setattr(starts, "THINNINGS", 0)
    whole = cut(task, iterations=4_000, rng=generator(1))
    assert max(thinned.unprotected, whole.unprotected) <= task.allowed
    assert thinned.cost < 0.8 * whole.cost


@pytest.mark.parametrize(("measure", "allowed"), [("degree", 1), ("count", 0)])
def test_edges_in_most_triangles_are_no_start_where_that_is_no_use(monkeypatch, measure, allowed):
    def thin_out(*_arguments):
        raise AssertionError("nothing is to be gained")

    monkeypatch.setattr(starts.kernel, "thin_out", thin_out)
    task = task_of(random_graph(n=40, density=0.5, seed=1), measure=measure, allowed=allowed)
    before = searches.walk_of(task, generator(), None).reached()[0]
    assert cut(task, iterations=1_000, rng=generator()).unprotected < before


NONE = np.empty((0, 2), dtype=np.int32)


def test_a_search_that_is_stopped_at_once_is_within_its_bounds_too():
    graph = random_graph(n=60, density=0.15, seed=4)
    task = task_of(graph, budget=30)._replace(by_budget=True)
    edited = Edited(NONE, graph.edges()[::9].astype(np.int32), 0)
    bounds = Until.parse("clustering: relative error <= 3%")
    settings = Settings("search", None, 500, 1.0, False, None, "stop", until=bounds)
    found = within_bounds(task, edited, 60, settings, generator(1), lambda *_: True)
    was, now = (
        nx.average_clustering(each.to_networkx()) for each in (graph, applied(graph, found))
    )
    assert abs(now - was) <= 0.03 * was
    assert 0 < found.cost < edited.cost
    assert counted(task, found).unprotected == found.unprotected
    assert 0 == within_bounds(task, edited, 0, settings, generator(1), lambda *_: True).cost


@pytest.mark.parametrize("keep", [*((name,) for name in PROPERTIES), PROPERTIES, ()])
def test_prices_give_up_no_more_nodes_than_may_be_and_no_other_edges_but_those_they_save(keep):
    graph = random_graph(n=150, density=0.05, seed=2)
    task = task_of(graph, budget=40)._replace(by_budget=True)
    plain = search(task, iterations=20_000, rng=generator(1))
    before = counted(task, Edited(NONE, NONE, 0)).unprotected
    settings = Settings("search", None, 20_000, 1.0, False, None, "stop", Kept(keep), 0.1, not keep)
    found = with_prices(task, plain, before, settings, generator(2))
    allowed = plain.unprotected + given_up(150, before, plain.unprotected, settings)
    assert plain.unprotected <= before / 2
    assert counted(task, found).unprotected == found.unprotected <= allowed
    assert 0 < found.cost < plain.cost
    assert not len(found.added)


def test_with_a_price_bridges_stay_that_would_cut_a_network_in_two():
    graph = random_graph(n=60, density=0.12, seed=3)
    two = Graph.from_edges(*np.concatenate((graph.edges(), graph.edges() + 60, [[0, 60]])).T, n=120)
    task = task_of(two, budget=30)._replace(by_budget=True)
    cut = Edited(NONE, np.array([[0, 60]], dtype=np.int32), 0)
    before = counted(task, Edited(NONE, NONE, 0)).unprotected
    settings = Settings("search", None, 5_000, 1.0, False, None, "stop", Kept(("component",)), 1.0)
    found = with_prices(task, counted(task, cut), before, settings, generator(1))
    assert [0, 60] not in found.deleted.tolist()
