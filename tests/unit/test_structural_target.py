from __future__ import annotations

import signal

import networkx as nx
import numpy as np
import pytest

import graphveil as gv
from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.annealing.kernels.pooled import BEST_CHANGED, BEST_UNPROTECTED
from graphveil.methods.annealing.task import Edited, Task
from graphveil.methods.structural import run as runs
from graphveil.methods.structural import starts
from graphveil.methods.structural import target as module
from graphveil.methods.structural import target as phases
from graphveil.methods.structural.run import noted
from graphveil.methods.structural.starts import cut
from graphveil.methods.structural.target import (
    TargetWalk,
    edited_of,
    is_dense,
    target,
    target_state_of,
)

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAG = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
"""A triangle with a tail: the corner with the tail and the tail's end are alone."""


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def random_graph(n=40, density=0.2, seed=0):
    u, v = np.triu_indices(n, 1)
    chosen = generator(seed).random(u.size) < density
    return Graph.from_edges(u[chosen], v[chosen], n=n)


def complete_graph(n):
    return Graph.from_edges(*np.triu_indices(n, 1), n=n)


def task_of(graph, *, allowed=0, budget=None, k=2):
    return Task(graph, "count", 1, k, "any", graph.n_edges if budget is None else budget, allowed)


def pairs(*ends):
    return np.array(ends, dtype=np.int32).reshape(-1, 2)


@pytest.mark.parametrize("by_budget", [True, False])
def test_one_edit_makes_a_flag_anonymous(by_budget):
    edited = target(task_of(FLAG)._replace(by_budget=by_budget), iterations=500, rng=generator())
    assert 0 == edited.unprotected
    if not by_budget:
        assert 1 == edited.cost


def test_nothing_is_spent_where_nothing_may_be_spent():
    edited = target(
        task_of(FLAG, budget=0)._replace(by_budget=True), iterations=200, rng=generator()
    )
    assert (2, 0) == (edited.unprotected, edited.cost)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_graphs_without_edges_need_no_edit(n):
    empty = Graph.from_edges(np.empty(0, dtype=int), np.empty(0, dtype=int), n=n)
    task = task_of(empty, allowed=1, budget=3)
    edited = target(task, iterations=50, rng=generator())
    assert (int(n == 1), 0) == (edited.unprotected, edited.cost)


def test_a_graph_of_fewer_than_k_nodes_is_left_alone():
    edited = target(task_of(FLAG, k=5), iterations=50, rng=generator())
    assert (4, 0) == (edited.unprotected, edited.cost)


def test_a_graph_is_dense_by_its_triangles_and_its_degrees():
    assert not is_dense(target_state_of(task_of(complete_graph(31))))
    assert is_dense(target_state_of(task_of(complete_graph(33))))
    hub = Graph.from_edges(np.zeros(60, dtype=int), np.arange(1, 61), n=61)
    assert not is_dense(target_state_of(task_of(hub)))


def test_a_dense_graph_goes_through_all_its_stages():
    broken = complete_graph(40).edges()[3:]
    task = task_of(Graph.from_edges(broken[:, 0], broken[:, 1], n=40))
    assert is_dense(target_state_of(task))
    edited = target(task, iterations=20_000, rng=generator())
    assert 0 == edited.unprotected
    assert edited.cost <= 3


def test_the_best_of_several_starts_is_kept():
    task = task_of(random_graph())
    walk = TargetWalk(task, generator(), iterations=20_000)
    assert not walk.follow(phases.POLISH[0])
    reached = walk.reached()
    assert reached[0] < 40
    walk.begin_anew()
    assert (0, reached) == (walk.here()[1], walk.reached())
    walk.end()
    edited = edited_of(task, walk.target_state)
    assert reached == walk.here() == (edited.unprotected, edited.cost)


def test_a_start_that_misses_is_tried_again_and_a_small_graph_in_any_case(monkeypatch):
    starts = []

    def begin_anew(walk, plain=TargetWalk.begin_anew):
        starts.append(walk.reached())
        plain(walk)

    monkeypatch.setattr(TargetWalk, "begin_anew", begin_anew)
    for iterations, more in ((4_000_000, 1), (6_000_000, 0)):
        starts.clear()
        target(task_of(FLAG), iterations=iterations, rng=generator())
        assert more == len(starts)
    starts.clear()
    target(task_of(FLAG, k=5), iterations=200, rng=generator())
    assert [(4, 0)] * 4 == starts


def test_whoever_watches_can_stop_a_run_with_the_best_so_far(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 100)
    for by_budget in (True, False):
        seen = []

        def watch(unprotected, edits, seen=seen):
            seen.append((unprotected, edits))
            return len(seen) == 3

        task = task_of(random_graph())
        edited = target(
            task._replace(by_budget=by_budget), iterations=100_000, rng=generator(), watch=watch
        )
        assert 3 == len(seen)
        assert (edited.unprotected, edited.cost) == seen[-1]


def test_a_watched_run_gives_what_an_unwatched_one_gives():
    task = task_of(random_graph())
    alone, watched = (
        target(task, iterations=2000, rng=generator(), watch=watch)
        for watch in (None, lambda _left, _edits: False)
    )
    assert alone.added.tolist() == watched.added.tolist()
    assert alone.deleted.tolist() == watched.deleted.tolist()


def test_a_wrong_count_does_not_leave_the_heuristic():
    task = task_of(FLAG)
    target_state = target_state_of(task)
    target_state.edits.tally[BEST_UNPROTECTED] += 1
    with pytest.raises(AssertionError, match="a recount gives 2"):
        edited_of(task, target_state)


def test_effort_leaves_the_number_of_starts_as_it_is(monkeypatch):
    starts, steps = [], []
    monkeypatch.setattr(TargetWalk, "begin_anew", lambda walk: starts.append(walk.steps))
    monkeypatch.setattr(TargetWalk, "follow", lambda walk, *_, **__: steps.append(walk.steps))
    target(task_of(FLAG, k=5), iterations=None, effort=0.5, rng=generator())
    assert ([500_000] * 4, {500_000}) == (starts, set(steps))
    starts.clear()
    target(task_of(FLAG, k=5), iterations=None, effort=3, rng=generator())
    assert [3_000_000] * 4 == starts


@pytest.mark.parametrize(("gains", "last"), [(10, 600), (3, 879)])
def test_edits_are_taken_back_ten_times_while_that_gains_a_fiftieth(gains, last, monkeypatch):
    rounds = iter([1000 - 40 * min(n, gains) - max(n - gains, 0) for n in range(1, 11)])

    def follow(walk, *_, **__):
        walk.target_state.edits.tally[BEST_CHANGED] = next(rounds)
        return False

    monkeypatch.setattr(TargetWalk, "follow", follow)
    monkeypatch.setattr(TargetWalk, "back_to_best", lambda _: None)
    walk = TargetWalk(task_of(FLAG, k=1), generator(), iterations=1)
    walk.target_state.edits.tally[BEST_CHANGED] = 1000
    module._backfill(walk)
    assert last == walk.here()[1]


@pytest.mark.parametrize("wrong", [{"measure": "vrq"}, {"distance": 2}, {"edits": "delete"}])
def test_what_target_does_not_know_is_refused(wrong):
    with pytest.raises(ParameterError, match="heuristic=target supports measure=count"):
        gv.StructuralAnonymity(**{"heuristic": "target", "edits": "any"} | wrong)


def test_a_dense_graph_gets_all_rounds_while_nodes_miss_the_goal(monkeypatch):
    followed = []
    monkeypatch.setattr(TargetWalk, "missed", lambda _: 1000)
    monkeypatch.setattr(TargetWalk, "follow_all", lambda _, course, **__: followed.append(course))
    module._run(TargetWalk(task_of(FLAG), generator(), iterations=1), phases.DENSE, None)
    assert phases.DENSE.rounds == len(followed) - 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_heuristic_of_auto_depends_on_the_others(seed):
    method = gv.StructuralAnonymity(**QUICK, goal="partial:0.9")
    task, settings = method.task(random_graph()), method.settings()
    together = runs._try_all(task, settings, Randomness(seed), 40, lambda: False)
    for name, found in together.items():
        rng = Randomness(seed).stream(f"structural {name}")
        alone = runs._heuristic(name, task, settings, rng, lambda *_: False)
        assert alone.deleted.tolist() == found.deleted.tolist()
        assert alone.added.tolist() == found.added.tolist()


def test_effort_and_iterations_exclude_each_other():
    with pytest.raises(ParameterError, match=r"iterations=9 .* effort=2\.0 .* Give one"):
        gv.StructuralAnonymity(iterations=9, effort=2.0)


def test_the_starts_of_cut_can_be_stopped(monkeypatch):
    monkeypatch.setattr(starts, "AT_A_TIME", 1)
    task = task_of(random_graph())._replace(edits="delete")
    calls = {}
    for stop_at in (1, 3, 5):
        seen = []

        def watch(unprotected, edits, seen=seen, stop_at=stop_at):
            seen.append((unprotected, edits))
            return len(seen) == stop_at

        edited = cut(task, iterations=100_000, rng=generator(), watch=watch)
        calls[stop_at] = len(seen)
        assert (edited.unprotected, edited.cost) == seen[-1]
    assert {1: 1, 3: 3, 5: 5} == calls


QUICK = {"iterations": 2000, "edits": "any"}


@pytest.mark.parametrize(
    ("parameters", "tried"),
    [
        ({}, {"target", "search", "strip", "cut", "mirror"}),
        ({"goal": "partial:0.99"}, {"target", "search", "strip", "cut", "mirror"}),
        ({"preserve_triangles": True}, {"target", "search", "strip", "mirror"}),
        ({"goal": "budget:0.05"}, {"ua", "target", "search"}),
        ({"goal": "budget:0.1", "edits": "delete", "keep": "none"}, {"ua", "search"}),
        ({"goal": "budget:0.1", "edits": "delete"}, {"ua", "search", "plain"}),
        (
            {"goal": "budget:1", "edits": "delete"},
            {"ua", "search", "plain", "strip", "cut", "mirror"},
        ),
        ({"edits": "delete"}, {"strip", "cut", "mirror"}),
        ({"edits": "delete", "goal": "partial:0.9"}, {"search", "strip", "cut", "mirror"}),
        ({"edits": "add"}, {"search", "ua"}),
        ({"measure": "degree"}, {"search", "strip", "cut", "mirror"}),
        ({"heuristic": "target"}, {"target"}),
    ],
)
def test_auto_tries_what_may_win_and_takes_the_best(parameters, tried):
    release = gv.StructuralAnonymity(**QUICK | parameters).anonymize(random_graph(), seed=1)
    cost = release.private.cost
    others = {name.removesuffix("_clustering") for name in cost if name.endswith("_clustering")}
    assert others < tried
    assert len(others) == len(tried) - 1
    missed = max(cost["nodes_unprotected"] - cost["nodes_allowed_unprotected"], 0)
    by_budget = "budget" in str(parameters.get("goal"))
    for name in others:
        unprotected, edits = cost[f"{name}_nodes_unprotected"], cost[f"{name}_edits"]
        if by_budget:
            assert (cost["nodes_unprotected"], cost["edits"]) <= (unprotected, edits)
        else:
            other = max(unprotected - cost["nodes_allowed_unprotected"], 0)
            assert (missed, cost["edits"]) <= (other, edits)
        assert f"{name}_edges_kept_share" in cost


def test_the_record_shows_clustering_before_and_after():
    graph = random_graph()
    release = gv.StructuralAnonymity(**QUICK).anonymize(graph, seed=1)
    cost = release.private.cost
    before, after = (nx.average_clustering(g.to_networkx()) for g in (graph, release.data))
    assert before == pytest.approx(cost["clustering_before"])
    assert after == pytest.approx(cost["clustering"])


def test_an_interrupt_leaves_nothing_unless_the_best_is_asked_for(monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 100)
    watched = []

    def watch(*arguments):
        see = plain(*arguments)

        def interrupted(unprotected, edits):
            watched.append((unprotected, edits))
            if len(watched) == 3:
                signal.raise_signal(signal.SIGINT)
            return see(unprotected, edits)

        return interrupted

    plain = runs.watching
    monkeypatch.setattr(runs, "watching", watch)
    with pytest.raises(KeyboardInterrupt):
        gv.StructuralAnonymity(edits="any").anonymize(random_graph(), seed=1)
    watched.clear()
    release = gv.StructuralAnonymity(edits="any", on_interrupt="best").anonymize(
        random_graph(), seed=1
    )
    cost = release.private.cost
    assert 3 == len(watched)
    assert watched[-1] == (cost["nodes_unprotected"], cost["edits"])
    assert release.guarantee.share == pytest.approx(1 - cost["nodes_unprotected"] / 40)
    assert any("interrupted" in text for text in release.private.warnings)
    assert release.verify(random_graph()).ok


def test_a_second_interrupt_stops_and_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with noted(wanted=True) as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert before is signal.getsignal(signal.SIGINT)


def test_no_time_at_all_gives_the_best_of_one_look():
    method = gv.StructuralAnonymity(edits="any", time_limit_seconds=0, goal="partial:0.9")
    release = method.anonymize(random_graph(n=60), seed=1)
    assert release.verify(random_graph(n=60)).ok


def test_who_rewires_is_warned_of_degrees_that_are_too_rare():
    method = gv.StructuralAnonymity(edits="rewire", heuristic="ua", goal="partial:0.9")
    release = method.anonymize(random_graph(n=30), seed=1)
    sizes = np.bincount(random_graph(n=30).degrees())
    rare = int(sizes[sizes < 2].sum())
    rare_degrees = [text for text in release.private.warnings if "no rewiring can make" in text]
    assert (rare > 3) == bool(rare_degrees)
    assert all(f"make {rare} nodes" in text for text in rare_degrees)
    star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    with pytest.warns(gv.GraphveilWarning, match="make 1 node anonymous; 0 may stay unprotected"):
        gv.StructuralAnonymity(edits="rewire", heuristic="ua").anonymize(star)


def test_a_result_that_misses_the_goal_with_fewer_edits_is_shown_beside(monkeypatch):
    found = {
        "target": Edited(pairs(), pairs((0, 1)), 2),
        "strip": Edited(pairs(), pairs((0, 1), (0, 2), (1, 2), (2, 3)), 0),
    }
    monkeypatch.setattr(runs, "_try_all", lambda *_: found)
    method = gv.StructuralAnonymity(edits="any")
    with pytest.warns(gv.GraphveilWarning, match="With 1 edit, which keep triangles"):
        release = method.anonymize(FLAG)
    assert (4, 1) == (release.private.cost["edits"], release.private.cost["target_edits"])


def test_a_budget_too_small_for_anybody_is_an_error_for_target_too():
    star = [(0, i) for i in range(1, 4)] + [(4, i) for i in range(5, 9)] + [(0, 4), (1, 2), (5, 6)]
    graph = Graph.from_edges([u for u, _ in star], [v for _, v in star], n=9)
    method = gv.StructuralAnonymity(
        k=9, goal="budget:1edges", heuristic="target", edits="any", iterations=100
    )
    with pytest.raises(InfeasibleError, match="Raise the budget"):
        method.anonymize(graph)


def test_a_large_budget_that_suffices_for_everybody_is_not_missed():
    graph = random_graph()
    least = gv.StructuralAnonymity(iterations=2000).anonymize(graph, seed=1).private.cost["edits"]
    goal = gv.Budget(edges=max(least, round(0.2 * graph.n_edges) + 1))
    release = gv.StructuralAnonymity(iterations=2000, goal=goal).anonymize(graph, seed=1)
    assert 0 == release.private.cost["nodes_unprotected"]
    assert release.private.cost["edits"] <= goal.edges
