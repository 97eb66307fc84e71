"""Marks and matches of two graphs, against a slow twin that keeps all of them in a dictionary."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.kernels import percolation
from graphveil.attacks.networks.assignment import expand_when_stuck, mutual_best, seedless_start
from graphveil.attacks.networks.copies.side_information import SideInformation
from graphveil.attacks.networks.signatures import KnownRows
from networks_data import random_graph, rng_of


class Twin:
    """The definition of ExpandWhenStuck, step by step, every maximum by a scan.

    `fit` says which nodes can be the same.
    """

    def __init__(self, one, two, seeds, most_marks=10**9, fit=lambda *_: True):
        self.one, self.two, self.most_marks, self.fit = one, two, most_marks, fit
        self.most_rest = 2 * self.nodes()
        self.match, self.back = dict(seeds), {j: i for i, j in seeds}
        self.marks, self.spread, self.total = {}, set(), 0
        fresh = list(seeds)
        while fresh and self.total < most_marks:
            self.round(fresh)
            fresh = self.not_spread()

    def free(self, pair):
        return pair[0] not in self.match and pair[1] not in self.back

    def lists(self, pair):
        return [
            [side.neighbors(node)] for side, node in zip((self.one, self.two), pair, strict=True)
        ]

    def degrees(self, pair):
        return [sum(map(len, lists)) for lists in self.lists(pair)]

    def nodes(self):
        return self.one.n_nodes

    def apart(self, pair):
        return abs(np.subtract(*self.degrees(pair)))

    def round(self, fresh):
        for pair in fresh:
            if self.total < self.most_marks:
                self.mark_around(pair)
        while self.total < self.most_marks:
            ready = [p for p, number in self.marks.items() if number >= 2 and self.free(p)]
            if not ready:
                return
            pair = min(ready, key=lambda p: (-self.marks[p], self.apart(p), p))
            self.match[pair[0]], self.back[pair[1]] = pair[1], pair[0]
            self.mark_around(pair)

    def mark_around(self, pair):
        if pair in self.spread:
            return
        self.spread.add(pair)
        around = [both for lists in zip(*self.lists(pair), strict=True) for both in product(*lists)]
        for other in [(int(x), int(y)) for x, y in around]:
            if self.free(other) and self.fit(*other):
                self.marks[other] = self.marks.get(other, 0) + 1
                self.total += 1

    def not_spread(self):
        rest = [p for p in self.marks if p not in self.spread and self.free(p)]
        assert len(rest) <= self.most_rest, "the choice of the nearest would depend on their order"
        return sorted(rest, key=lambda p: self.apart(p) / max(self.degrees(p)))


class TwinOfLayers(Twin):
    """The same where ties have directions: neighbors out and in are paired apart."""

    def nodes(self):
        return self.one[0].n_nodes

    def lists(self, pair):
        return [
            [layer.indices[slice(*layer.indptr[node : node + 2])], np.flatnonzero(into[:, node])]
            for (layer, into), node in zip((self.one, self.two), pair, strict=True)
        ]


@pytest.mark.parametrize("seed", range(12))
def test_a_matching_grown_from_known_pairs_is_that_of_the_definition(seed):
    one, two = random_graph(9, 16, seed), random_graph(9, 15, seed + 100)
    known = rng_of(seed).permutation(9)[:2]
    seeds = np.full(9, -1)
    seeds[known] = rng_of(seed + 1).permutation(9)[:2]
    pairs = [(int(i), int(seeds[i])) for i in sorted(known.tolist())]
    grown = expand_when_stuck.expand(seeds, SideInformation.of_graphs(one, two))
    expected = Twin(one, two, pairs).match
    matched = {i: j for i, j in enumerate(grown.match.tolist()) if j >= 0}
    assert expected == matched
    assert not grown.stopped
    assert sorted(matched.values()) == sorted(set(matched.values()))


@pytest.mark.parametrize("seed", range(8))
def test_directions_and_attributes_decide_which_neighbors_are_paired(seed):
    rng, n = rng_of(seed), 8
    matrices = [(rng.random((n, n)) < 0.25) & ~np.eye(n, dtype=bool) for _ in range(2)]
    layers = [gv.Layer.from_arcs(*np.nonzero(matrix), n=n) for matrix in matrices]
    rows = KnownRows(*(rng.integers(-1, 2, (n, 1)).astype(np.int32) for _ in range(2)))
    both = SideInformation.of_layers(*([layer] for layer in layers), rows)
    seeds = np.where(np.arange(n) < 2, rng.permutation(n), -1)
    grown = expand_when_stuck.expand(seeds, both).match

    def fit(x, y):
        own, shown = rows.known[x, 0], rows.shown[y, 0]
        return own < 0 or shown < 0 or own == shown

    pairs = [(i, int(seeds[i])) for i in range(2)]
    sides = list(zip(layers, matrices, strict=True))
    expected = TwinOfLayers(*sides, pairs, fit=fit).match
    assert expected == {i: j for i, j in enumerate(grown.tolist()) if j >= 0}


def test_a_matching_is_stopped_at_the_most_marks_and_says_so():
    graph = random_graph(9, 20)
    seeds = np.where(np.arange(9) < 2, np.arange(9), -1)
    both = SideInformation.of_graphs(graph, graph)
    stopped = expand_when_stuck.expand(seeds, both, most_marks=10)
    assert stopped.stopped
    expected = Twin(graph, graph, [(0, 0), (1, 1)], most_marks=10).match
    assert expected == {i: j for i, j in enumerate(stopped.match.tolist()) if j >= 0}


def pair_of(row):
    return row >> percolation.VALUE_BITS


def is_free(match, pair):
    return match.one[pair // match.two.size] < 0 and match.two[pair % match.two.size] < 0


def test_a_table_or_a_heap_that_is_full_goes_on_where_it_was_with_more_room():
    one, two = random_graph(40, 160), random_graph(40, 150, 2)
    seeds = np.where(np.arange(40) < 4, np.arange(40), -1)
    wide = expand_when_stuck.expand(seeds, SideInformation.of_graphs(one, two)).match
    lists = expand_when_stuck.candidate_lists(SideInformation.of_graphs(one, two))
    match = percolation.PercolationMatch(seeds.copy(), seeds.copy())
    fresh = np.arange(4) * 40 + np.arange(4)
    tally = np.zeros(percolation.TALLIES, dtype=np.int64)
    tally[percolation.MOST_MARKS] = 10**9
    table, shift = percolation.new_table(1)
    heap = np.empty((1, 2), dtype=np.int64)
    times = 0
    while (
        percolation.percolate(*lists, fresh, match, table, shift, heap, tally)
        == percolation.NO_ROOM
    ):
        times += 1
        assert times < 200
        needed = int(tally[percolation.ENTRIES] + tally[percolation.NEXT])
        if 4 * needed > 3 * len(table):
            free = {row for row in table.tolist() if row >= 0 and is_free(match, pair_of(row))}
            assert len(free) == percolation.free_pairs(table, match)
            larger, new_shift = percolation.new_table(needed)
            tally[percolation.ENTRIES] = percolation.refill(table, match, larger, new_shift)
            assert free == set(larger.tolist()) - {-1}
            table, shift = larger, new_shift
        else:
            last = {}
            for rank, pair in heap[: tally[percolation.QUEUED]].tolist():
                if is_free(match, pair):
                    last[pair] = max(last.get(pair, rank), rank)
            size = percolation.compact(heap, int(tally[percolation.QUEUED]), match, table, shift)
            kept = heap[:size].tolist()
            assert sorted(last.items()) == sorted((pair, rank) for rank, pair in kept)
            order = [(-rank, pair) for rank, pair in kept]
            assert all(order[(at - 1) // 2] <= order[at] for at in range(1, size))
            tally[percolation.QUEUED] = size
            if size + tally[percolation.NEXT] > len(heap):
                heap = np.concatenate([heap, np.empty((50, 2), dtype=np.int64)])
    assert times > 5
    assert tally[percolation.ENTRIES] == np.count_nonzero(table >= 0)
    first_round = match.one >= 0
    assert wide[first_round].tolist() == match.one[first_round].tolist()
    assert first_round.sum() > 4


def likeness_by_hand(one, two, match):
    """Return the dense matrix of matched common neighbors over the root of the degrees."""
    first, second = (graph.to_scipy().toarray().astype(float) for graph in (one, two))
    pairs = np.zeros((one.n_nodes, two.n_nodes))
    for i, j in enumerate(match):
        if j >= 0:
            pairs[i, j] = 1
    common = first @ pairs @ second
    root = np.sqrt(np.outer(one.degrees(), two.degrees()))
    return np.where(common >= 2, common / np.maximum(root, 1), 0)


@pytest.mark.parametrize("work", [1, 50, 10**6])
def test_how_like_nodes_are_does_not_depend_on_the_blocks(monkeypatch, work):
    monkeypatch.setattr(mutual_best, "FLOPS", work)
    one, two = random_graph(15, 50), random_graph(15, 45, 2)
    match = np.where(rng_of().random(15) < 0.7, rng_of(2).permutation(15), -1)
    both = SideInformation.of_graphs(one, two)
    dense = sum(block.toarray() for block in mutual_best._similarity_blocks(both, match))
    by_hand = likeness_by_hand(one, two, match.tolist())
    assert dense == pytest.approx(by_hand)
    mutual = mutual_best._mutual(both, match)
    for i, j in enumerate(mutual.tolist()):
        if j >= 0:
            assert by_hand[i, j] == pytest.approx(by_hand[i].max())
            assert by_hand[i, j] == pytest.approx(by_hand[:, j].max())
    best = by_hand == by_hand.max(axis=1, keepdims=True)
    best &= (by_hand == by_hand.max(axis=0)) & (by_hand > 0)
    alone = best & (best.sum(axis=1, keepdims=True) == 1) & (best.sum(axis=0) == 1)
    assert alone.any()
    assert all(mutual[i] == j for i, j in np.argwhere(alone).tolist())


def test_known_pairs_stay_and_nobody_else_is_given_their_nodes():
    one, two = random_graph(30, 120), random_graph(30, 110, 2)
    seeds = np.where(np.arange(30) < 5, np.arange(30), -1)
    both = SideInformation.of_graphs(one, two)
    start = expand_when_stuck.expand(seeds, both).match
    refined = mutual_best.refine(start, seeds, 6, both)
    assert list(range(5)) == refined[:5].tolist()
    given = refined[refined >= 0]
    assert given.size == np.unique(given).size


def test_with_nobody_known_the_surest_pairs_of_equal_graphs_are_right():
    graph = random_graph(60, 240)
    both = SideInformation.of_graphs(graph, graph)
    match = seedless_start.high_confidence_pairs(graph, graph, both)
    assert 1 <= np.count_nonzero(match >= 0) <= 9
    assert all(i == j for i, j in enumerate(match.tolist()) if j >= 0)
    assert (graph.degrees()[match >= 0] >= 3).all()


def test_surroundings_count_the_degrees_of_nodes_one_and_two_steps_away():
    kite = gv.Graph.from_edges([0, 0, 1, 1, 3], [1, 2, 2, 3, 4], n=5)
    near = kite.to_networkx()
    values = seedless_start._surroundings(kite)
    for node in range(5):
        steps = {1: set(near[node])}
        steps[2] = set().union(*(near[v] for v in near[node])) - steps[1] - {node}
        for power in range(34):
            for step, weight in ((1, 1), (2, 0.5)):
                number = sum(np.floor(2 * np.log2(near.degree[v])) >= power for v in steps[step])
                column = power + 34 * (step - 1)
                assert weight * np.log1p(number) == pytest.approx(values[node, column])
        assert 2 * np.log1p(near.degree[node]) == pytest.approx(values[node, 68])
    assert [np.log(2)] * 3 + [0, 0] == pytest.approx(values[:, 69].tolist())


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_hardly_any_nodes_are_matched_without_an_error(n):
    graph = gv.Graph.from_edges([0] if n > 1 else [], [1] if n > 1 else [], n=n)
    nobody = np.full(n, -1)
    both = SideInformation.of_graphs(graph, graph)
    assert nobody.tolist() == expand_when_stuck.expand(nobody, both).match.tolist()
    assert nobody.tolist() == mutual_best.refine(nobody, nobody, 3, both).tolist()
    if n:
        assert nobody.tolist() == seedless_start.high_confidence_pairs(graph, graph, both).tolist()
