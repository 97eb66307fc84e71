"""Kernels of assignments among candidates, against slow twins that hold all pairs of nodes."""

from __future__ import annotations

import numpy as np
import pytest

from graphveil.attacks.kernels import candidates, percolation
from graphveil.attacks.networks.assignment.expand_when_stuck import candidate_lists
from graphveil.attacks.networks.copies.side_information import SideInformation
from graphveil.attacks.networks.signatures import KnownRows
from graphveil.data import Layer
from networks_data import random_graph, rng_of

N, SIZE = 14, 5


def undirected():
    return SideInformation.of_graphs(random_graph(N, 40), random_graph(N, 40, 2))


def directed_with_attributes():
    rng = rng_of(3)
    layers = [
        Layer.from_arcs(*random_graph(N, 45, seed).edges().T[rng.permutation(2)], n=N)
        for seed in (4, 5)
    ]
    rows = KnownRows(*(rng.integers(-1, 2, (N, 2)).astype(np.int32) for _ in range(2)))
    return SideInformation.of_layers(layers[:1], layers[1:], rows)


KINDS = pytest.mark.parametrize("besides", [undirected(), directed_with_attributes()])


def drawn_candidates(seed):
    """Return different nodes for every node, some of them left out, and a number of each."""
    rng = rng_of(seed)
    nodes = np.stack([rng.permutation(N)[:SIZE] for _ in range(N)]).astype(np.int32)
    nodes[rng.random(nodes.shape) < 0.2] = -1
    plan = np.where(nodes >= 0, rng.random(nodes.shape), 0.7).astype(np.float32)
    return nodes, plan


def dense(nodes, values):
    whole = np.zeros((N, N))
    for u, c in zip(*np.nonzero(nodes >= 0), strict=True):
        whole[u, nodes[u, c]] = values[u, c]
    return whole


def at(nodes, whole):
    return np.where(nodes >= 0, whole[np.arange(N)[:, None], np.maximum(nodes, 0)], 0)


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_ties_of_candidates_are_the_products_of_whole_matrices(besides, seed):
    nodes, plan = drawn_candidates(seed)
    first, _, turned = besides.matrices(np.float64)
    whole = dense(nodes, plan)
    expected = sum(a @ whole @ b for a, b in zip(first, turned, strict=True))
    room, ties = np.zeros(N, dtype=np.float32), np.full(nodes.shape, 9, dtype=np.float32)
    candidates.ties_of_candidates(*candidate_lists(besides), nodes, plan, room, ties)
    assert at(nodes, expected) == pytest.approx(ties, abs=1e-4)
    assert not room.any()


@pytest.mark.parametrize("rounds", [1, 10])
@pytest.mark.parametrize("seed", range(3))
def test_a_transported_plan_is_that_of_its_formula_written_out(rounds, seed):
    nodes, worth = drawn_candidates(seed)
    worth *= 8
    whole = np.where(dense(nodes, np.ones_like(worth)) > 0, np.exp(dense(nodes, worth)), 0)
    columns = np.ones(N)
    for _ in range(rounds):
        rows = 1 / np.maximum((whole * columns).sum(axis=1), 1e-30)
        columns = 1 / np.maximum((whole * rows[:, None]).sum(axis=0), 1)
    expected = whole * rows[:, None] * columns
    plan = np.empty_like(worth)
    factors = candidates.Factors(*(np.empty(N, dtype=np.float32) for _ in range(3)))
    candidates.transported(nodes, worth, factors, rounds, plan)
    assert at(nodes, expected) == pytest.approx(plan, abs=1e-5)
    assert expected.sum(axis=0).max() <= 1 + 1e-9


@pytest.mark.parametrize(("rounds", "tolerance"), [(1, 0.0), (7, 0.0), (200, 1e-3)])
@pytest.mark.parametrize("begin", [0.2, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_scaled_plan_is_that_of_its_formula_written_out(rounds, tolerance, begin, seed):
    rng = rng_of(seed)
    plan = np.exp(-3 * rng.random((N, N + seed - 1))).astype(np.float32)
    whole, columns = plan.astype(np.float64), np.full(plan.shape[1], begin)
    for _ in range(rounds):
        rows = 1 / (whole * columns).sum(axis=1)
        sums = (whole * rows[:, None]).sum(axis=0)
        if np.abs(columns * sums - 1).max() < tolerance:
            break
        columns = 1 / sums
    first = np.full(plan.shape[1], begin, dtype=np.float32)
    factors = candidates.Factors(np.empty(N, dtype=np.float32), first, np.empty_like(first))
    candidates.scaled(plan, np.ascontiguousarray(plan.T), factors, rounds, tolerance, 1e-30)
    assert whole * rows[:, None] * columns == pytest.approx(plan, rel=2e-3 if tolerance else 1e-4)
    assert columns == pytest.approx(factors.columns, rel=2e-3 if tolerance else 1e-4)


@KINDS
@pytest.mark.parametrize("seed", range(3))
def test_most_votes_are_those_of_matched_neighbors_counted_one_by_one(besides, seed):
    rng = rng_of(seed)
    match = np.where(rng.random(N) < 0.7, rng.permutation(N), -1)
    one, two = candidate_lists(besides)
    nodes, shares = np.empty((N, 4), dtype=np.int32), np.empty((N, 4), dtype=np.float32)
    votes = candidates.Votes(np.zeros(N, dtype=np.int64), np.empty(N, dtype=np.int64))
    candidates.rank_by_matched_neighbors(one, two, match, votes, nodes, shares)
    assert not votes.number.any()
    for u in range(N):
        expected = np.zeros(N)
        for copy, released in zip(besides.copy, besides.released, strict=True):
            near = copy.indices[copy.indptr[u] : copy.indptr[u + 1]]
            for y in match[near]:
                if y >= 0:
                    expected[released.indices[released.indptr[y] : released.indptr[y + 1]]] += 1
        expected /= np.sqrt(np.maximum(one.degrees[u] * two.degrees, 1))
        if besides.rows is not None:
            expected[~besides.rows.fits(u)] = 0
        assert -np.sort(-expected)[:4] == pytest.approx(shares[u], abs=1e-6)
        there = nodes[u][shares[u] > 0]
        assert len(set(there.tolist())) == there.size
        assert expected[there] == pytest.approx(shares[u][: there.size], abs=1e-6)


def test_nodes_fit_where_no_attribute_that_both_say_differs():
    besides = directed_with_attributes()
    one, two = candidate_lists(besides)
    for u in range(N):
        said = [percolation.fits(one, two, u, v) for v in range(N)]
        assert besides.rows.fits(u).tolist() == said


def test_pairs_are_matched_in_their_order_where_both_are_free():
    nodes = np.array([[1, 0], [1, 2], [-1, 2], [0, 1]], dtype=np.int32)
    match = percolation.PercolationMatch(np.full(4, -1), np.full(3, -1))
    match.one[3], match.two[0] = 0, 3
    candidates.match_in_order(np.array([1, 2, 0, 4, 3, 5, 6]), nodes, match)
    assert [-1, 1, 2, 0] == match.one.tolist()
    assert [3, 1, 2] == match.two.tolist()


def test_ties_are_found_again_among_all_nodes_of_a_graph_and_itself():
    graph = random_graph(N, 40)
    lists = candidate_lists(SideInformation.of_graphs(graph, graph))
    nodes, ones = np.arange(N, dtype=np.int32)[:, None], np.ones((N, 1), dtype=np.float32)
    ties = np.empty_like(ones)
    candidates.ties_of_candidates(*lists, nodes, ones, np.zeros(N, dtype=np.float32), ties)
    assert graph.degrees().tolist() == ties[:, 0].tolist()
