"""How much one edge changes releases, shown by running a method with it and without it."""

from __future__ import annotations

import dataclasses
from itertools import count

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.cell_membership import least_epsilon
from graphveil.attacks.edge_rerun import Event, RerunGraphs, bound_of, strongest_event, without_edge
from graphveil.claims.guarantees import EdgeDP
from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.verbs.attack import attack_release as attack
from graphveil.verbs.attack import rerun_of
from thorough import first_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

BOUND, CLAIMED = "epsilon, lower bound at 99.9%", "epsilon, claimed"


def network(n=12, m=20):
    rng = np.random.default_rng(1)
    source, target = np.triu_indices(n, k=1)
    some = np.sort(rng.permutation(source.size)[:m])
    return gv.Graph.from_edges(source[some], target[some], n=n)


def seeded(method):
    """Return what runs a method under one seed after the other: the same runs in every test run."""
    seeds = count()
    return lambda data, seed: method.anonymize(data, seed=next(seeds) if seed is None else seed)


def figures(method, *, rerun=None, runs=120, guarantee=None, **options):
    graph = network()
    release = method.anonymize(graph)
    if guarantee is not None:
        release = dataclasses.replace(release, guarantee=guarantee)
    told = attack(
        release,
        original=graph,
        attacks=["edge-re-run"],
        seed=1,
        rerun=rerun or seeded(method),
        options={"edge-re-run": {"runs": runs, **options}},
    )
    return {row.part: row for row in told}


@pytest.mark.parametrize(
    "method",
    first_of(
        [
            gv.MixingPriorResponse(epsilon=2.0),
            gv.DegreePriorResponse(epsilon=2.0),
            gv.OneKSeries(epsilon=2.0),
        ]
    ),
    ids=lambda method: method.name,
)
def test_the_bound_of_a_right_method_is_never_above_its_claim(method):
    rows = figures(method)
    assert 2.0 == rows[CLAIMED].value
    assert rows["epsilon, largest that so many runs can show"].value > 2.3
    assert 0 <= rows[BOUND].value <= 2.0
    assert (120, 0.0) == (rows[BOUND].sample_size, rows[BOUND].guess)


def test_a_method_that_publishes_every_true_edge_shows_more_than_it_claims():
    method = gv.AsymmetricResponse(epsilon=1.0)
    run = seeded(method)

    def flawed(data, seed):
        release = run(data, seed)
        order = release.private.linkage.positions_of(data.labels(), release.data.labels())
        ends = np.concatenate([release.data.edges(), order[data.edges()]])
        graph = gv.Graph.from_edges(*np.unique(np.sort(ends, axis=1), axis=0).T, n=data.n_nodes)
        return dataclasses.replace(release, data=graph)

    rows = figures(method, rerun=flawed)
    assert 1.0 == rows["published, with the edge"].value
    assert rows[BOUND].value > rows[CLAIMED].value


def test_a_method_that_keeps_the_number_of_edges_shows_more_than_it_claims():
    hidden = EdgeDP(epsilon=1.0)
    moved = figures(gv.Rename(), rerun=lambda data, _: shuffled(data), guarantee=hidden)
    assert moved[BOUND].value > 2.3
    assert moved["published, with the edge"].value < 0.5


SHUFFLES = count(100)


def shuffled(data):
    """Return a release of as many edges elsewhere."""
    seed = next(SHUFFLES)
    rng = np.random.default_rng(seed)
    source, target = np.triu_indices(data.n_nodes, k=1)
    some = np.sort(rng.permutation(source.size)[: data.n_edges])
    graph = gv.Graph.from_edges(source[some], target[some], n=data.n_nodes)
    release = gv.Rename().anonymize(data)
    return dataclasses.replace(release, data=graph)


def test_the_method_is_run_without_a_seed_as_for_a_release():
    seeds = []
    method = gv.AsymmetricResponse(epsilon=2.0)

    def watched(data, seed):
        seeds.append(seed)
        return method.anonymize(data, seed=seed)

    figures(method, rerun=watched, runs=8)
    assert {None} == set(seeds)
    release = rerun_of(method.anonymize(network()))(network(), None)
    assert "by construction" == release.guarantee.check_word


def test_a_method_that_claims_nothing_is_shown_beside_what_was_asked_for():
    rows = figures(gv.TopMFilter(epsilon=3.0, variant="published"), runs=40)
    assert 3.0 == rows["epsilon, asked for and not claimed"].value
    assert CLAIMED not in rows


def test_several_edges_share_the_doubt():
    runs = RerunGraphs(np.array([[1, 4, 9]] * 400)), RerunGraphs(np.array([[0, 4, 9]] * 400))
    assert least_epsilon((300, 300), (0, 300), 0.0005) == bound_of(*runs, 0.0005)
    assert bound_of(*runs, 0.0005) < bound_of(*runs, 0.001)
    rows = figures(gv.AsymmetricResponse(epsilon=2.0), runs=8, edges=3)
    assert 24 == rows[BOUND].sample_size


def test_the_event_is_chosen_by_other_runs_than_count_it():
    lucky = np.array([[1, 4, 9]] * 10 + [[0, 4, 9]] * 30)
    assert 0.0 == bound_of(RerunGraphs(lucky), RerunGraphs(np.array([[0, 4, 9]] * 40)), 0.001)


def test_the_event_may_be_that_something_is_not_seen():
    few, many = RerunGraphs(np.array([[0, 2, 9]] * 5)), RerunGraphs(np.array([[0, 6, 9]] * 5))
    event = strongest_event(few, many)
    assert Event(1, 6, above=False) == event
    assert (True, False) == (few.holds(event).all(), many.holds(event).any())


def test_what_happened_once_is_not_what_tells_most():
    """Of 40 runs 34 and 8 show the edge; a rare number of edges came with the edge alone."""
    with_it, without = (
        np.column_stack([np.arange(40) < shown, np.full(40, 4), np.full(40, 9)]).astype(int)
        for shown in (34, 8)
    )
    with_it[:6, 2] = 15
    assert Event(0, 1, above=True) == strongest_event(RerunGraphs(with_it), RerunGraphs(without))


def test_an_edge_less_is_one_edge_less_under_the_same_ids():
    graph = gv.Graph.from_edges(["ann", "bob"], ["bob", "cyd"])
    smaller = without_edge(graph, graph.edges()[1])
    assert (1, graph.labels().tolist()) == (smaller.n_edges, smaller.labels().tolist())


def test_what_cannot_be_run_again_says_why():
    graph = network()
    release = gv.AsymmetricResponse(epsilon=2.0).anonymize(graph)

    def reason(original, released, rerun):
        told = attack(released, original=original, attacks=["edge-re-run"], rerun=rerun)
        return told.not_measured["edge-re-run"]

    def refuse(*_):
        raise InfeasibleError("too few nodes")

    assert "does not know the method" in reason(graph, release, None)
    assert "too few nodes" == reason(graph, release, refuse)
    empty = gv.Graph.from_edges([], [], n=4)
    none = gv.AsymmetricResponse(epsilon=2.0).anonymize(empty)
    assert "no edge" in reason(empty, none, refuse)
    with pytest.raises(ParameterError, match="runs=7"):
        figures(gv.AsymmetricResponse(epsilon=2.0), runs=7)
