from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Graph
from graphveil.methods.k_degree.paper import construct_graph
from textbook.graph_constructions import (
    greedy_swap,
    priority,
    probing,
    supergraph,
    supergraph_ruled_out,
)

seeds = st.integers(0, 2**40)


def graph_of(n, edges):
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


def edge_set(graph):
    return set(map(tuple, graph.edges().tolist()))


@st.composite
def graphs(draw, *, most=12):
    n = draw(st.integers(1, most))
    pairs = list(combinations(range(n), 2))
    return graph_of(n, draw(st.sets(st.sampled_from(pairs))) if pairs else [])


def is_graphical(degrees):
    """Erdős and Gallai."""
    d = sorted(degrees, reverse=True)
    if sum(d) % 2 or (d and d[-1] < 0):
        return False
    return all(
        sum(d[:r]) <= r * (r - 1) + sum(min(r, x) for x in d[r:]) for r in range(1, len(d) + 1)
    )


def supergraphs(graph, degrees):
    """Every graph with these degrees and every edge of this one."""
    n = graph.n_nodes
    kept = edge_set(graph)
    free = sorted(set(combinations(range(n), 2)) - kept)
    extra = (sum(degrees) - 2 * len(kept)) // 2
    if extra < 0 or sum(degrees) % 2:
        return []
    return [
        kept.union(added)
        for added in combinations(free, extra)
        if [sum(v in e for e in kept.union(added)) for v in range(n)] == list(degrees)
    ]


@settings(deadline=None, max_examples=300)
@given(degrees=st.lists(st.integers(-1, 9), max_size=10), seed=seeds)
def test_a_graph_is_constructed_exactly_when_erdos_and_gallai_allow_one(degrees, seed):
    graph = construct_graph(np.array(degrees, dtype=np.int64), seed=seed)
    assert is_graphical(degrees) == (graph is not None)
    if graph is not None:
        assert degrees == graph.degrees().tolist()


@settings(deadline=None, max_examples=100)
@given(graph=graphs(), seed=seeds)
def test_the_degrees_of_a_graph_are_constructed_whatever_the_draw(graph, seed):
    built = construct_graph(graph.degrees(), seed=seed)
    assert graph.degrees().tolist() == built.degrees().tolist()


@settings(deadline=None, max_examples=100)
@given(graph=graphs(most=5), data=st.data(), seed=seeds)
def test_a_supergraph_has_the_edges_and_the_degrees_and_no_means_no(graph, data, seed):
    n = graph.n_nodes
    rise = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    degrees = [int(d) + r for d, r in zip(graph.degrees(), rise, strict=True)]
    found = supergraph(graph, degrees, seed=seed)
    possible = supergraphs(graph, degrees)
    if found is not None:
        assert edge_set(found) in possible
    if supergraph_ruled_out(graph, degrees):
        assert possible == []


@settings(deadline=None, max_examples=100)
@given(graph=graphs(), seed=seeds)
def test_a_graph_is_its_own_supergraph(graph, seed):
    assert graph == supergraph(graph, graph.degrees(), seed=seed)
    assert not supergraph_ruled_out(graph, graph.degrees())


@settings(deadline=None, max_examples=100)
@given(graph=graphs(), other=graphs(), seed=seeds)
def test_a_graph_built_with_priority_has_the_degrees_if_it_is_built(graph, other, seed):
    if graph.n_nodes != other.n_nodes:
        other = graph
    found = priority(graph, other.degrees(), seed=seed)
    if found is not None:
        assert other.degrees().tolist() == found.degrees().tolist()


@settings(deadline=None, max_examples=60)
@given(graph=graphs(), data=st.data(), seed=seeds)
def test_probing_ends_in_a_supergraph_that_keeps_the_promise(graph, data, seed):
    k = data.draw(st.integers(1, graph.n_nodes))
    found = probing(graph, k, seed=seed)
    assert edge_set(graph) <= edge_set(found)
    degrees = found.degrees().tolist()
    assert min(map(degrees.count, degrees)) >= k


def helpful_swap(graph, realization):
    """Whether some swap of two edges keeps more edges of the graph."""
    old, new = edge_set(graph), edge_set(realization)
    for (i, j), (p, q) in combinations(sorted(new), 2):
        for a, b in ((p, q), (q, p)):
            one, two = tuple(sorted((i, a))), tuple(sorted((j, b)))
            if i == a or j == b or one in new or two in new:
                continue
            if len(old & {one, two}) > len(old & {(i, j), (p, q)}):
                return True
    return False


@settings(deadline=None, max_examples=60)
@given(graph=graphs(most=9), seed=seeds)
def test_swaps_of_all_edges_keep_degrees_and_end_where_no_swap_helps(graph, seed):
    start = construct_graph(graph.degrees(), seed=seed)
    found = greedy_swap(graph, start, sample_size=None, rounds=100, seed=seed)
    assert graph.degrees().tolist() == found.degrees().tolist()
    assert len(edge_set(graph) & edge_set(found)) >= len(edge_set(graph) & edge_set(start))
    assert not helpful_swap(graph, found)


@settings(deadline=None, max_examples=40)
@given(graph=graphs(), seed=seeds, size=st.integers(1, 6))
def test_swaps_of_sampled_edges_keep_degrees_and_never_lose_edges(graph, seed, size):
    start = construct_graph(graph.degrees(), seed=seed)
    found = greedy_swap(graph, start, sample_size=size, rounds=10, seed=seed)
    assert graph.degrees().tolist() == found.degrees().tolist()
    assert len(edge_set(graph) & edge_set(found)) >= len(edge_set(graph) & edge_set(start))


@settings(deadline=None, max_examples=30)
@given(graph=graphs(), seed=seeds)
def test_the_same_seed_builds_the_same_graphs(graph, seed):
    degrees = graph.degrees()
    for build in (
        lambda: construct_graph(degrees, seed=seed),
        lambda: supergraph(graph, degrees, seed=seed),
        lambda: priority(graph, degrees, seed=seed),
        lambda: probing(graph, 1, seed=seed),
    ):
        assert build() == build()
