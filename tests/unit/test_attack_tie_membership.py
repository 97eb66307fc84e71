"""Which ties are there: against plain loops, and on releases that tell all or nothing."""

from __future__ import annotations

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.networks.tie_membership import seen_of
from graphveil.verbs.attack import attack_release as attack
from networks_data import cycle, random_graph

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N = 60


def told_of(release, original, **more):
    told = attack(release, original=original, attacks=["tie-membership"], seed=1, **more)
    return {row.part: row for row in told}, told.not_measured


def test_what_is_seen_of_a_pair_is_counted_one_by_one():
    graph = random_graph(20, 60)
    release = gv.KDegree(k=3).anonymize(graph, seed=1)
    place = release.private.linkage.positions_of(graph.labels(), release.data.labels())
    ties = release.data.to_scipy().toarray()
    pairs = np.array([[0, 1], [2, 5], [7, 3]], dtype=np.int32)
    expected = []
    for u, v in place[pairs]:
        common = sum(ties[u, w] * ties[v, w] for w in range(20))
        degrees = np.log1p(ties[u].sum()) + np.log1p(ties[v].sum())
        expected.append([ties[u, v], degrees, np.sqrt(common)])
    assert np.array(expected) == pytest.approx(seen_of(release, graph, pairs))


def test_of_a_release_that_changes_nothing_every_tie_is_told():
    graph = random_graph(N, 300)
    told, _ = told_of(gv.Rename().anonymize(graph, seed=1), graph)
    assert 1.0 == told["one tie"].value == told["one tie, found at 0.1% false alarms"].value


def test_of_a_release_of_another_network_no_tie_is_told():
    graph = random_graph(N, 300)

    def other(data, seed):
        ring = cycle(N).permuted(np.arange(N), ids=data.labels())
        return gv.Rename().anonymize(ring, seed=seed)

    told, _ = told_of(gv.Rename().anonymize(graph, seed=1), graph, rerun=other)
    for part in ("one tie", "one tie, by one score of the release"):
        assert told[part].low <= 0.5 <= told[part].high


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_what_few_false_alarms_find_stays_below_what_epsilon_allows(epsilon):
    graph = random_graph(150, 2_000)
    release = gv.RandomizedResponse(epsilon=epsilon).anonymize(graph, seed=1)
    told, _ = told_of(release, graph)
    least = told["one tie, found at 1% false alarms"].low
    assert least <= 1.5 * 0.01 * np.exp(epsilon)  # the threshold is drawn, too
    chance = np.exp(epsilon) / (1 + np.exp(epsilon))
    assert told["one tie"].low <= chance <= told["one tie, by one score of the release"].high


def test_few_ties_and_an_unknown_method_are_the_reason():
    small = random_graph(N, 150)
    missing = told_of(gv.Rename().anonymize(small, seed=1), small)[1]
    assert f"{small.n_edges} edges are too few" in missing["tie-membership"]
    missing = told_of(gv.Rename().anonymize(small, seed=1), small, rerun=None)[1]
    assert "does not know the method" in missing["tie-membership"]
