"""Ties that the release gives away, and added ties that are told from real ones, by hand."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.networks import edge_gain, edge_similarity, fake_edge
from graphveil.attacks.networks.assignment import mutual_best
from graphveil.attacks.networks.copies.paired_copy import pairing
from graphveil.attacks.networks.propagation import Guess
from networks_data import attacked, compared, cycle, figures, random_graph, rng_of

NAMES = ("candidate-set", "fake-edge", "edge-gain", "seed-propagation", "alignment")


def with_more(graph, pairs):
    ends = np.concatenate([graph.edges(), np.array(pairs, dtype=np.int32).reshape(-1, 2)])
    return gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=graph.n_nodes)


@pytest.mark.parametrize("work", [1, 30, 10**6])
def test_what_the_ends_of_edges_have_in_common_is_as_by_hand(monkeypatch, work):
    monkeypatch.setattr(mutual_best, "FLOPS", work)
    monkeypatch.setattr(edge_similarity, "CELLS", 20 * work)
    graph = random_graph(20, 60)
    near = graph.to_networkx()
    number, weight = edge_similarity.common_neighbors(graph)
    alike, paths = edge_similarity.jaccard(graph, number), edge_similarity.three_paths(graph)
    jaccard = {(u, v): value for u, v, value in nx.jaccard_coefficient(near, near.edges())}
    allocated = {(u, v): value for u, v, value in nx.resource_allocation_index(near, near.edges())}
    for place, (u, v) in enumerate(graph.edges().tolist()):
        assert len(set(near[u]) & set(near[v])) == number[place]
        assert jaccard[u, v] == pytest.approx(alike[place])
        assert allocated[u, v] == pytest.approx(weight[place])
        three = [p for p in nx.all_simple_paths(near, u, v, cutoff=3) if len(p) == 4]
        root = np.sqrt(near.degree[u] * near.degree[v])
        assert len(three) / root == pytest.approx(paths[place])


def test_the_spectral_cosine_is_that_of_the_dense_decomposition(monkeypatch):
    graph = random_graph(80, 400)
    dense = edge_similarity.spectral_cosine(graph, rng_of())
    monkeypatch.setattr(edge_similarity, "SMALL", 10)
    assert edge_similarity.spectral_cosine(graph, rng_of()) == pytest.approx(dense, abs=0.01)
    assert np.abs(dense).max() <= 1 + 1e-9


def test_the_area_is_the_share_of_pairs_in_the_right_order():
    scores, fake = rng_of().integers(0, 6, 40).astype(float), rng_of(2).random(40) < 0.4
    pairs = [(a > b) + (a == b) / 2 for a in scores[~fake] for b in scores[fake]]
    assert np.mean(pairs) == pytest.approx(fake_edge.area(scores, fake))


def test_as_many_edges_are_flagged_as_were_added_those_with_the_least_ranks():
    scores = (np.array([5.0, 1, 4, 2]), np.array([9.0, 1, 1, 3]))
    assert [False, True, True, False] == fake_edge.flag(scores, 2, rng_of()).tolist()
    ties = (np.zeros(50),)
    assert 7 == fake_edge.flag(ties, 7, rng_of()).sum()
    assert fake_edge.flag(ties, 7, rng_of()).tolist() != fake_edge.flag(ties, 7, rng_of(2)).tolist()


def cliques(n_cliques, size):
    ends = [
        (first + a, first + b)
        for first in range(0, n_cliques * size, size)
        for a in range(size)
        for b in range(a)
    ]
    return gv.Graph.from_edges(*np.array(ends).T, n=n_cliques * size)


def test_edges_between_groups_that_share_nothing_are_all_told_and_dropped():
    original = cliques(6, 6)
    published = with_more(original, [(6 * v, 6 * v + 7) for v in range(5)])
    told = figures("fake-edge", original, published, order=rng_of().permutation(36))
    assert 1 == told["AUC, Jaccard"] == told["AUC, best in hindsight"]
    assert 1 == told["flagged, precision"]
    assert 1 / 36 == pytest.approx(told["vrq once flagged edges are dropped, right guess"])
    assert 0.5 > told["AUC, product of degrees"] - 0.5


def test_the_guess_without_the_release_is_the_share_of_added_edges():
    original = cliques(6, 6)
    published = with_more(original, [(6 * v, 6 * v + 7) for v in range(5)])
    rows = {row.part: row for row in attacked("fake-edge", original, published)}
    assert 5 / published.n_edges == rows["flagged, precision"].guess
    assert {0.5} == {row.guess for part, row in rows.items() if part.startswith("AUC")}


def test_where_hardly_an_edge_or_every_edge_was_added_nothing_is_told():
    original = cliques(6, 6)
    few = attacked("fake-edge", original, with_more(original, [(0, 7)]))
    assert {"fake-edge": "only 1 edge was added; 5 are needed"} == few.not_measured
    every = attacked("fake-edge", random_graph(12, 0), random_graph(12, 20))
    assert {"fake-edge": "all released edges were added"} == every.not_measured


def test_likeliest_pairs_are_those_with_the_largest_index():
    graph = random_graph(18, 40)
    near = graph.to_networkx()
    index = {tuple(sorted((u, v))): value for u, v, value in nx.resource_allocation_index(near)}
    best = sorted((value for value in index.values() if value), reverse=True)[:15]
    chosen = [tuple(pair) for pair in edge_gain.likeliest_pairs(graph, 15).tolist()]
    assert best == pytest.approx([index[pair] for pair in chosen])
    assert len(set(chosen)) == len(chosen)
    assert [] == edge_gain.likeliest_pairs(random_graph(5, 0), 3).tolist()


def test_what_is_learned_are_released_edges_between_matched_nodes_that_were_not_known():
    original, published = random_graph(20, 60), random_graph(20, 50, 2)
    two = pairing(compared(original, published, rng_of(3).permutation(20)), 0.6, rng_of(),
                  filled=False)  # fmt: skip
    match = two.truth.copy()
    match[two.person >= 15] = -1  # five people were not matched
    learned = edge_gain.learned(original, Guess(two, np.array([], dtype=np.int64), match, False))
    edges = {u * 20 + v for u, v in original.edges().tolist()}
    copied = set(edge_gain.pair_numbers(two.person[two.copy.edges()], 20).tolist())
    assert edges - copied == set(learned.hidden.tolist())
    shown = {u * 20 + v for u, v in published.edges().tolist() if v < 15} - copied
    assert shown == set(learned.shown.tolist())
    assert len(shown) >= learned.predicted.size
    assert not copied & set(learned.predicted.tolist())


def test_an_unprotected_network_shows_every_unknown_tie():
    told = attacked("edge-gain", random_graph(60, 400), overlap=0.8, known=10, draws=10)
    rows = {row.part: row for row in told}
    assert rows["precision"].value > 0.95
    assert rows["recall"].value > 0.95
    assert rows["recall"].guess < 0.5
    assert rows["recall"].low <= rows["recall"].value <= rows["recall"].high


def test_a_release_of_another_network_shows_ties_no_better_than_by_chance():
    told = figures("edge-gain", random_graph(30, 120), cycle(30), known=3, draws=10)
    assert told["precision"] < 0.6
    assert told["recall"] < 0.2


def test_everybodys_risk_is_the_share_of_their_own_unknown_ties():
    drawn = [
        edge_gain.Learned(np.array([1, 2]), np.array([1]), np.array([], dtype=np.int64)),
        edge_gain.Learned(np.array([1]), np.array([1]), np.array([1])),
    ]  # of 4 people: pairs 0-1 and 0-2
    risk = edge_gain._revealed(4, drawn, "shown")
    assert [2 / 3, 1.0, 0.0] == pytest.approx(risk[:3].tolist())
    assert np.isnan(risk[3])
    assert [1 / 3, 1 / 2, 0.0] == pytest.approx(edge_gain._revealed(4, drawn, "predicted")[:3])


def test_where_all_ties_are_known_there_is_nothing_to_gain():
    why = attacked("edge-gain", random_graph(20, 60), overlap=1.0, known=2, draws=1).not_measured
    assert {"edge-gain": "the attacker already knows every edge of the original"} == why


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_people_are_measured_or_not_with_a_reason(name, n):
    told = attacked(name, gv.Graph.from_edges([], [], n=n))
    assert len(told) > 0 or set(told.not_measured) >= {name}
    assert all(np.isfinite(row.value) for row in told)


@pytest.mark.parametrize("name", NAMES)
def test_networks_in_pieces_and_releases_without_edges_are_measured_or_not(name):
    pieces = cliques(3, 5)
    options = {"draws": 1} if name not in ("candidate-set", "fake-edge") else {}
    for published in (pieces, random_graph(15, 0), random_graph(15, 20)):
        told = attacked(name, pieces, published, **options)
        assert all(np.isfinite(row.value) for row in told)
        assert all(told.not_measured.values())
        assert len(told) + len(told.not_measured)
