"""Kernels of `degree-triangle-model` beside slow counts, and beside the checker's own drawing."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.kernels.arrays import FREE
from graphveil.core.randomness import public_words
from graphveil.methods.random_graphs.kernels.triangle_exchanges import (
    Marks,
    Tally,
    add_common,
    approach,
    connected,
    deal,
    exchange,
    fill,
    repair_edges,
    wired,
)
from graphveil.methods.random_graphs.kernels.triangles import most_in_common, triangles_by_class
from graphveil.methods.random_graphs.placement import Cuts
from graphveil.methods.random_graphs.triangle_model import ODDS, Shape, generated_graph
from graphveil.methods.random_graphs.triangle_statistics import Statistics
from graphveil.verify.recount.noise.triangle_graph import Model, redrawn


def graph_of(n, mask):
    pairs = [pair for k, pair in enumerate(itertools.combinations(range(n), 2)) if mask >> k & 1]
    return gv.Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], n=n)


def neighbors_of(graph):
    near = [set() for _ in range(graph.n_nodes)]
    for u, v in graph.edges().tolist():
        near[u].add(v)
        near[v].add(u)
    return near


def triangles(near, classes, number):
    out = [0] * number
    for three in itertools.combinations(range(len(near)), 3):
        if all(b in near[a] for a, b in itertools.combinations(three, 2)):
            out[min(classes[u] for u in three)] += 1
    return out


GRAPHS = st.builds(lambda mask: graph_of(7, mask), st.integers(0, 2**21 - 1))


@given(GRAPHS, st.lists(st.integers(0, 2), min_size=7, max_size=7))
@settings(deadline=None)
def test_triangles_by_class_and_shared_neighbors_are_those_of_a_slow_count(graph, classes):
    near, parts = neighbors_of(graph), np.array(classes)
    counted = triangles_by_class(graph.indptr, graph.indices, parts, 3)
    assert triangles(near, classes, 3) == counted.tolist()
    shared = [len(near[u] & near[v]) for u, v in itertools.combinations(range(7), 2)]
    assert max(shared) == most_in_common(graph.indptr, graph.indices)


@given(GRAPHS)
@settings(deadline=None)
def test_an_exchange_changes_four_edges_and_the_triangles_as_was_said(graph):
    edges, classes = graph.edges().astype(np.int64), np.arange(7) % 3
    wiring = wired(7, edges)
    near = neighbors_of(graph)
    assert all(
        connected(wiring, u, v) == (v in near[u]) for u, v in itertools.permutations(range(7), 2)
    )
    arcs = [arc for u, v in edges.tolist() for arc in ((u, v), (v, u))]
    for (u, x), (v, y) in itertools.product(arcs, arcs):
        if len({u, x, v, y}) == 4 and v not in near[u] and y not in near[x]:
            change = np.zeros(3, dtype=np.int64)
            add_common(wiring, classes, (u, x), (-1, -1), change)
            add_common(wiring, classes, (v, y), (-1, -1), change)
            add_common(wiring, classes, (u, v), (x, y), change)
            add_common(wiring, classes, (x, y), (u, v), change)
            before = np.array(triangles(near, classes, 3))
            exchange(wiring, u, x, v, y)
            for a, b in ((u, x), (v, y)):
                near[a].remove(b)
                near[b].remove(a)
            for a, b in ((u, v), (x, y)):
                near[a].add(b)
                near[b].add(a)
            after = np.array(triangles(near, classes, 3))
            assert change.tolist() == (after - before).tolist()
            first = wiring.pointers
            slots = [set(wiring.slots[first[w] : first[w + 1]].tolist()) for w in range(7)]
            assert near == slots
            break


def test_stubs_are_dealt_as_often_as_asked_and_mended_to_a_simple_graph():
    rng = np.random.Generator(np.random.PCG64DXSM(1))
    stubs = np.repeat(np.arange(8), 4)
    starts, between = np.array([0, 16, 32]), np.array([[5, 6], [0, 5]])
    ends = np.zeros((16, 2), dtype=np.int64)
    deal(stubs, starts, between, ends, rng)
    assert [4] * 8 == np.bincount(ends.ravel()).tolist()
    groups = np.sort(ends // 4, axis=1)
    assert [5, 6, 5] == [int((groups.sum(axis=1) == kind).sum()) for kind in range(3)]
    good, wiring = np.zeros(16, dtype=bool), wired(8, ends, filled=False)
    blocks = np.array([[0, 5]] * 5 + [[5, 11]] * 6 + [[11, 16]] * 5)
    repair_edges(ends, blocks, wiring, good, rng)
    simple = {tuple(sorted(edge)) for edge in ends[good].tolist()}
    assert len(simple) == int(good.sum())
    assert all(u != v for u, v in simple)
    assert [4] * 8 == np.bincount(ends.ravel()).tolist()
    assert len(simple) == int((wiring.table[:, 0] != FREE).sum())
    fill(wiring, ends[:1])
    assert connected(wiring, *ends[0])


def test_triangles_come_near_the_aim_while_degrees_stay():
    rng = np.random.default_rng(2)
    n = 120
    mask = np.triu(rng.random((n, n)) < 0.08, 1)
    ends = np.argwhere(mask)
    wiring, zeros = wired(n, ends), np.zeros(n, dtype=np.int64)
    there = triangles(neighbors_of(gv.Graph.from_edges(*ends.T, n=n)), zeros, 1)
    tally = Tally(np.array(there), np.array([600]), np.zeros(1, dtype=np.int64), np.array(ODDS))
    marks = Marks(zeros, zeros, wiring.owners, np.array([0, wiring.owners.size]))
    off = approach(wiring, marks, tally, 60_000, 1, np.random.Generator(np.random.PCG64DXSM(3)))
    pairs = np.column_stack([wiring.owners, wiring.slots])
    after = gv.Graph.from_edges(*pairs[pairs[:, 0] < pairs[:, 1]].T, n=n)
    assert np.bincount(ends.ravel(), minlength=n).tolist() == after.degrees().tolist()
    assert triangles(neighbors_of(after), zeros, 1) == tally.counts.tolist()
    assert abs(tally.counts[0] - 600) == off < 10


def cuts_of(parts):
    values = np.unique(parts)
    return Cuts(values, np.searchsorted(values, parts))


@pytest.mark.parametrize("seed", range(6))
def test_the_checker_draws_the_same_graph_by_code_of_its_own(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    degrees = rng.integers(0, min(n, 7), n)
    degrees[0] += degrees.sum() % 2
    groups, classes = cuts_of(rng.integers(0, 3, n)), cuts_of(rng.integers(0, 2, n))
    ends = np.bincount(groups.of_node, weights=degrees, minlength=groups.least.size).astype(int)
    between = np.diag(ends // 2)
    odd = np.flatnonzero(ends % 2)
    if odd.size:
        between[odd[0], odd[1]] = 1
    aims = rng.integers(-5, 30, classes.least.size)
    noisy = Statistics(9, degrees, groups, classes, between, 1, Fraction(2), aims)
    graph = generated_graph(noisy, Shape(degrees, between), seed)
    second = max(int(np.sort(degrees)[-2]), 0)
    scale = max(second * Fraction(3, 5), Fraction(12, 5)) / 2
    upper = between[np.triu_indices(groups.least.size)].tolist()
    parts = (groups.of_node.tolist(), classes.of_node.tolist())
    again = redrawn(
        Model(*parts, degrees.tolist(), upper, aims.tolist(), scale), public_words(seed, 1 << 10)
    )
    assert {tuple(sorted(edge)) for edge in graph.ends.tolist()} == again.edges
    assert (graph.aims.tolist(), graph.unmended) == (again.aims, again.unmended)
