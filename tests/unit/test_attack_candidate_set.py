"""Candidates for people in networks, against distances by brute force."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.networks import candidate_set
from graphveil.attacks.networks.signatures import SIGNATURES, Signatures, candidates
from graphveil.core.errors import ParameterError, ResourceError
from graphveil.verbs.attack import attack_release as attack
from networks_data import attacked, cycle, figures, random_graph, release_of, rng_of


def distance_by_hand(known, node, released, other):
    """Return the three distances between a known node and a released one, from NetworkX."""
    one, two = known.to_networkx(), released.to_networkx()
    degree = abs(one.degree[node] - two.degree[other])
    corners = abs(nx.triangles(one, node) - nx.triangles(two, other))
    lists = [
        sorted((graph.degree[v] for v in graph[u]), reverse=True)
        for graph, u in ((one, node), (two, other))
    ]
    length = max(map(len, lists))
    padded = [near + [0] * (length - len(near)) for near in lists]
    around = sum(abs(x - y) for x, y in zip(*padded, strict=True))
    return [degree, degree + corners, degree + around]


@pytest.mark.parametrize("sizes", [(12, 30, 25), (9, 4, 30), (6, 0, 3), (5, 20, 0)])
def test_distances_are_those_of_sorted_lists_with_zeros_behind(sizes):
    n, before, after = sizes
    known, released = random_graph(n, before), random_graph(n, after, seed=2)
    for node in range(n):
        by_hand = [distance_by_hand(known, node, released, other) for other in range(n)]
        one = Signatures.of(known)
        assert by_hand == Signatures.of(released).distances_to(one, node).T.tolist()


def test_candidates_are_counted_as_by_hand():
    known, released = random_graph(14, 30), random_graph(14, 34, seed=2)
    position = rng_of(3).permutation(14)
    near = candidates(Signatures.of(known), Signatures.of(released), position, np.arange(14))
    for node in range(14):
        away = np.array([distance_by_hand(known, node, released, v) for v in range(14)])
        own = away[position[node]]
        assert (away < own).sum(axis=0).tolist() == near.nearer[:, node].tolist()
        assert (away == own).sum(axis=0).tolist() == near.ties[:, node].tolist()
        assert (away == away.min(axis=0)).sum(axis=0).tolist() == near.nearest[:, node].tolist()
        right = np.where((away < own).any(axis=0), 0, 1 / (away == own).sum(axis=0))
        assert right.tolist() == near.right[:, node].tolist()


def test_a_release_of_nodes_that_all_look_alike_gives_one_in_n():
    told = figures("candidate-set", random_graph(20, 40), cycle(20))
    for name in SIGNATURES:
        assert 1 / 20 == pytest.approx(told[f"{name}, right guess"])
        assert 20 == told[f"{name}, candidates, median"]
        assert 20 == told[f"{name}, nearest, fewest"]
        assert 0 == told[f"{name}, at most 10 candidates"]


def test_an_unprotected_network_without_nodes_alike_gives_everybody_away():
    graph = next(g for g in (random_graph(9, 22, seed) for seed in range(99)) if all_differ(g))
    told = attacked("candidate-set", graph, order=rng_of().permutation(9))
    assert {} == told.not_measured
    values = {row.part: row.value for row in told}
    assert [1, 1] == [values["vrq, right guess"], values["vrq, candidates, median"]]


def all_differ(graph):
    network = graph.to_networkx()
    lists = [tuple(sorted(network.degree[v] for v in network[u])) for u in network]
    return len(set(lists)) == len(lists)


def test_who_stands_where_changes_nothing():
    original, published = random_graph(30, 70), random_graph(30, 60, seed=2)
    order = rng_of(5).permutation(30)
    straight = figures("candidate-set", original, published)
    assert straight == figures("candidate-set", original, published, order=order, seed=9)
    renamed = original.permuted(order), published.permuted(order)
    assert straight == pytest.approx(figures("candidate-set", *renamed, seed=4))


def test_all_people_are_counted_exactly_and_some_are_a_sample_around_the_same():
    original, published = random_graph(80, 200), random_graph(80, 190, seed=2)
    whole = attacked("candidate-set", original, published)
    assert {"exact"} == {row.known for row in whole}
    some = attacked("candidate-set", original, published, targets=40)
    assert {("sampled", 40)} == {(row.known, row.sample_size) for row in some}
    exact = {row.part: row.value for row in whole}
    for row in some:
        if row.low is not None:
            assert row.low <= row.value <= row.high + 1e-12
            assert row.low <= exact[row.part] <= row.high + 1e-12, row.part


def test_everybody_has_a_risk_of_their_own_and_those_not_looked_for_have_none(tmp_path):
    from pyarrow import parquet  # noqa: PLC0415

    original = random_graph(20, 40)
    folder = release_of(original).write(tmp_path / "out")
    attack(folder, original=original, seed=1, options={"candidate-set": {"targets": 5}})
    risks = parquet.read_table(tmp_path / "out.private" / "attacks" / "candidate-set.parquet")
    risk, baseline = (risks[name].to_numpy() for name in ("risk", "baseline"))
    assert 15 == np.isnan(risk).sum() == np.isnan(baseline).sum()
    signatures = Signatures.of(original)
    every = candidates(signatures, signatures, np.arange(20), np.arange(20)).right.max(axis=0)
    asked = ~np.isnan(risk)
    assert every[asked].tolist() == risk[asked].tolist()
    assert {1 / 20} == set(baseline[asked].tolist())


def test_odd_networks_are_measured_or_not_with_a_reason():
    empty = gv.Graph.from_edges([], [], n=0)
    assert {"candidate-set": "the network has no nodes"} == attacked(
        "candidate-set", empty
    ).not_measured
    alone = figures("candidate-set", gv.Graph.from_edges([], [], n=1))
    assert {1.0} == {alone[f"{name}, right guess"] for name in SIGNATURES}
    edgeless = figures("candidate-set", random_graph(10, 20), gv.Graph.from_edges([], [], n=10))
    assert 1 / 10 == pytest.approx(edgeless["vrq, right guess"])
    assert 10 == edgeless["vrq, nearest, fewest"]


def test_too_many_nodes_are_refused_and_without_linkage_nothing_is_counted(monkeypatch):
    graph = random_graph(12, 20)
    missing = attacked("candidate-set", graph, linkage=False).not_measured
    assert "linkage" in missing["candidate-set"]
    monkeypatch.setattr(candidate_set, "MOST_NODES", 11)
    with pytest.raises(
        ResourceError, match=r"candidate-set: 12 nodes exceed the limit of 11\. Use"
    ):
        attacked("candidate-set", graph)


def test_how_many_are_looked_for_is_by_size_unless_it_is_said():
    options = candidate_set.CandidateSetOptions
    assert [7, 1000, 300, 300] == [options().of_nodes(n) for n in (7, 3000, 3001, 99_999)]
    assert [7, 50, 50] == [options(targets=50).of_nodes(n) for n in (7, 3000, 3001)]
    with pytest.raises(ParameterError, match="targets=0"):
        options(targets=0)
