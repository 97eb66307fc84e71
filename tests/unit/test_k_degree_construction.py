from __future__ import annotations

import numpy as np
import pytest

from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.data import Graph
from graphveil.methods.k_degree.paper import construct_graph
from textbook.graph_constructions import (
    greedy_swap,
    priority,
    probing,
    supergraph,
    supergraph_ruled_out,
)


def path(n):
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)


def star(n):
    return Graph.from_edges(np.zeros(n - 1, dtype=np.int64), np.arange(1, n), n=n)


@pytest.mark.parametrize(
    "degrees",
    [[1], [1, 0], [2, 2, 1], [3, 3, 1, 1], [4, 1, 1, 1, 1, -2], [10**15, 10**15], [-1, 1]],
)
def test_a_sequence_of_no_graph_is_answered_with_none(degrees):
    assert construct_graph(degrees) is None


@pytest.mark.parametrize("degrees", [[], [0], [0, 0, 0]])
def test_no_degrees_give_a_graph_without_edges(degrees):
    graph = construct_graph(degrees)
    assert (len(degrees), 0) == (graph.n_nodes, graph.n_edges)


def test_a_complete_and_a_star_sequence_have_one_graph_each():
    assert construct_graph([4] * 5).n_edges == 10
    assert star(5) == construct_graph([4, 1, 1, 1, 1])


def test_construction_ignores_the_edges_that_there_were():
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 2000, size=(2, 6000))
    graph = Graph.assemble(ends[0], ends[1], n=2000)[0]
    built = construct_graph(graph.degrees(), seed=1)
    before, after = (set(map(tuple, g.edges().tolist())) for g in (graph, built))
    assert len(before & after) < 0.05 * len(before)


def test_priority_keeps_far_more_edges_than_construction():
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 300, size=(2, 900))
    graph = Graph.assemble(ends[0], ends[1], n=300)[0]
    before = set(map(tuple, graph.edges().tolist()))
    kept = [
        len(before & set(map(tuple, built.edges().tolist())))
        for built in (
            priority(graph, graph.degrees(), seed=2),
            construct_graph(graph.degrees(), seed=2),
        )
    ]
    assert kept[0] > 5 * kept[1]


def test_a_supergraph_of_a_path_closes_the_ring():
    ring = supergraph(path(5), [2] * 5, seed=1)
    assert [[0, 1], [0, 4], [1, 2], [2, 3], [3, 4]] == ring.edges().tolist()


def test_a_degree_below_the_present_one_has_no_supergraph():
    assert supergraph(path(3), [1, 1, 2]) is None
    assert supergraph_ruled_out(path(3), [1, 1, 2])


def test_two_neighbors_that_need_an_edge_each_and_have_nobody_are_ruled_out():
    assert supergraph_ruled_out(path(2), [2, 2])
    assert supergraph(path(2), [2, 2]) is None


def test_ids_stay_with_their_nodes():
    named = Graph.from_edges(["a", "b"], ["b", "c"])
    ring = supergraph(named, [2, 2, 2])
    assert ["a", "b", "c"] == ring.ids.tolist()
    assert ["a", "b", "c"] == greedy_swap(named, ring).ids.tolist()


def test_probing_a_star_for_all_alike_ends_in_the_complete_graph():
    assert probing(star(6), 6, seed=1).n_edges == 15


def test_probing_refuses_fewer_nodes_than_k():
    with pytest.raises(InfeasibleError, match=r"k=4 needs at least 4 nodes; the graph has 3"):
        probing(path(3), 4)
    with pytest.raises(ParameterError, match="k=0 is below 1"):
        probing(path(3), 0)


def test_one_swap_gives_a_path_its_edges_back():
    original = Graph.from_edges([0, 2], [1, 3], n=4)
    crossed = Graph.from_edges([0, 1], [2, 3], n=4)
    assert original == greedy_swap(original, crossed, rounds=1, seed=1)


def test_swaps_between_graphs_of_other_sizes_are_refused():
    with pytest.raises(DataError, match="the graph has 3 nodes, but its realization has 4"):
        greedy_swap(path(3), path(4))
    with pytest.raises(ParameterError, match="sample_size=0"):
        greedy_swap(path(3), path(3), sample_size=0)
    with pytest.raises(ParameterError, match="rounds=0"):
        greedy_swap(path(3), path(3), rounds=0)


@pytest.mark.parametrize("degrees", [[1.5, 0.5], ["a"], [[1], [1]]])
def test_degrees_that_are_no_list_of_integers_are_refused(degrees):
    with pytest.raises(DataError, match="Give integers"):
        construct_graph(degrees)


def test_a_wrong_number_of_degrees_is_refused_with_both_numbers():
    for build in (supergraph, priority, supergraph_ruled_out):
        with pytest.raises(DataError, match="2 degrees for 3 nodes"):
            build(path(3), [1, 1])
