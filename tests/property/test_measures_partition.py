"""Every measure against a slow twin that reads like its definition."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, permutations
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.errors import ParameterError
from graphveil.data import Graph
from graphveil.measures import MEASURES, divided, isomorphism, partition
from graphveil.measures import values as multisets
from graphveil.measures.kernels import neighborhoods as refinement
from networks_data import SMALL, cones, turned

AT = [(name, d) for name in MEASURES for d in (1, 2, 3) if name != "degree" or d == 1]
NO_INVARIANT = {"dk", "hybrid"}
"""Measures whose classes have no order that is free of the order of the nodes."""


@st.composite
def pairs(draw, largest):
    n = largest - draw(st.integers(0, largest - 1))
    edges = [(u, v) for u in range(n) for v in range(u)]
    chosen = draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges)))
    return n, [edge for edge, wanted in zip(edges, chosen, strict=True) if wanted]


def graph_of(n, edges):
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=n)


def slow_graph(n, edges):
    graph = nx.empty_graph(n)
    graph.add_edges_from(edges)
    return graph


def near(graph, v, distance):
    return set(nx.single_source_shortest_path_length(graph, v, cutoff=distance))


@cache
def least_form(size, edges):
    """Return the smallest of all ways to write a graph whose node 0 keeps its name."""
    return min(
        tuple(sorted(tuple(sorted((name[u], name[v]))) for u, v in edges))
        for name in ((0, *rest) for rest in permutations(range(1, size)))
    )


def rooted_form(inside, v):
    name = {x: i for i, x in enumerate([v, *(set(inside) - {v})])}
    edges = frozenset(tuple(sorted((name[x], name[y]))) for x, y in inside.edges)
    return len(inside), least_form(len(inside), edges)


def slow_value(graph, measure, v, distance):
    """Return the measure of node v, as section 2 of the specification defines it."""
    inside = graph.subgraph(near(graph, v, distance))
    around = sorted(graph.degree(x) for x in inside)
    return {
        "degree": lambda: graph.degree(v),
        "count": lambda: (len(inside), inside.number_of_edges()),
        "edge-count": inside.number_of_edges,
        "degree-distribution": lambda: sorted(d for _, d in inside.degree()),
        "dk": lambda: rooted_form(inside, v),
        "vrq": lambda: around,
        "hybrid": lambda: (rooted_form(inside, v), around),
    }[measure]()


def slow_affected(graph, measure, distance, u, v):
    if measure == "degree":
        return {u, v}
    of_u, of_v = near(graph, u, distance), near(graph, v, distance)
    return of_u | of_v if measure in ("vrq", "hybrid") else of_u & of_v


def groups(values):
    """Return for every node the first node that has its value."""
    listed = list(values)
    return [listed.index(value) for value in listed]


def finer(one, other):
    """Whether nodes that are alike in the first partition are alike in the second."""
    return len(set(zip(one.tolist(), other.tolist(), strict=True))) == len(set(one.tolist()))


@pytest.mark.parametrize(("measure", "distance"), AT)
@settings(deadline=None, max_examples=120)
@given(drawn=pairs(7))
def test_classes_are_those_of_equal_values_by_definition(measure, distance, drawn):
    slow = slow_graph(*drawn)
    expected = groups(slow_value(slow, measure, v, distance) for v in slow)
    labels = partition(graph_of(*drawn), measure=measure, distance=distance)
    assert expected == groups(labels.tolist())
    assert list(range(labels.max() + 1)) == sorted(set(labels.tolist()))


@pytest.mark.parametrize(("measure", "distance"), [at for at in AT if at[0] not in NO_INVARIANT])
@settings(deadline=None, max_examples=80)
@given(drawn=pairs(14))
def test_classes_are_right_on_larger_graphs_too(measure, distance, drawn):
    slow = slow_graph(*drawn)
    expected = groups(slow_value(slow, measure, v, distance) for v in slow)
    labels = partition(graph_of(*drawn), measure=measure, distance=distance)
    assert expected == groups(labels.tolist())


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("seed", [1, 2])
def test_dk_equals_comparing_all_pairs_of_neighborhoods(distance, seed):
    slow = nx.random_regular_graph(3, 18, seed=seed)
    slow = nx.disjoint_union(slow, nx.random_labeled_tree(18, seed=seed))
    shapes = []
    for v in slow:
        shapes.append(slow.subgraph(near(slow, v, distance)).copy())
        shapes[-1].nodes[v]["center"] = True
    first = [
        next(w for w in slow if nx.is_isomorphic(shapes[w], shape, node_match=dict.__eq__))
        for shape in shapes
    ]
    graph = graph_of(len(slow), list(slow.edges))
    assert first == groups(partition(graph, measure="dk", distance=distance).tolist())


def test_numbers_of_nodes_and_edges_settle_only_what_vf2_finds_alone_among_all_small_graphs():
    n, edges, centers = cones(SMALL)
    graph = graph_of(n, edges)
    edges = multisets.nodes_and_edges(graph, 1)["edges"]
    settled = isomorphism._settled(graph, 1, edges)[centers].tolist()
    of_size = {}
    for small in SMALL:
        of_size.setdefault((len(small), small.number_of_edges()), []).append(small)
    for small, without_a_look in zip(SMALL, settled, strict=True):
        n, m = len(small), small.number_of_edges()
        others = sum(not nx.is_isomorphic(small, one) for one in of_size[n, m])
        most = n * (n - 1) // 2
        # One edge, or all but one, settle it as well: these are compared, which takes no time.
        assert without_a_look is (others == 0 and (n <= 3 or m not in {1, most - 1}))
    assert not isomorphism._settled(graph, 2, edges).any()


def test_dk_tells_all_small_graphs_apart_and_none_from_a_copy_in_another_order():
    assert 1 + 1 + 2 + 4 + 11 + 34 + 156 == len(SMALL)  # OEIS A000088
    n, edges, centers = cones([*SMALL, *map(turned, SMALL)])
    labels = partition(graph_of(n, edges), measure="dk", distance=1)[centers].tolist()
    assert labels[:209] == labels[209:]
    assert 209 == len(set(labels))


@pytest.mark.parametrize("distance", [1, 2, 3])
@settings(deadline=None, max_examples=120)
@given(drawn=pairs(12))
def test_who_knows_more_tells_more_apart(distance, drawn):
    graph = graph_of(*drawn)
    names = [name for name in MEASURES if name != "degree"]
    classes = {name: partition(graph, measure=name, distance=distance) for name in names}
    classes["degree"] = partition(graph, measure="degree", distance=1)
    order = ["hybrid", "dk", "degree-distribution", "count", "edge-count"]
    known = [*pairwise(order), ("hybrid", "vrq"), ("dk", "degree")]
    if distance == 1:
        known += [("count", "degree"), ("vrq", "degree")]
    for more, less in known:
        assert finer(classes[more], classes[less]), (more, less)
    for name, labels in classes.items():
        if MEASURES[name].fixes_degree(distance):
            assert finer(labels, graph.degrees()), name


def test_which_measures_fix_the_degree():
    at_one = {name for name, entry in MEASURES.items() if entry.fixes_degree(1)}
    at_two = {name for name, entry in MEASURES.items() if entry.fixes_degree(2)}
    assert set(MEASURES) - {"edge-count"} == at_one
    assert {"degree", "dk", "hybrid"} == at_two


@pytest.mark.parametrize(("measure", "distance"), AT)
@settings(deadline=None, max_examples=40)
@given(drawn=pairs(10), data=st.data())
def test_new_names_change_no_class(measure, distance, drawn, data):
    graph = graph_of(*drawn)
    order = np.array(data.draw(st.permutations(range(graph.n_nodes))))
    before = partition(graph, measure=measure, distance=distance)[order]
    after = partition(graph.permuted(order), measure=measure, distance=distance)
    if measure in NO_INVARIANT:
        assert groups(before.tolist()) == groups(after.tolist())
    else:
        assert before.tolist() == after.tolist()


@pytest.mark.parametrize(("measure", "distance"), AT)
@settings(deadline=None, max_examples=80)
@given(drawn=pairs(7), data=st.data())
def test_values_change_only_where_an_edge_is_said_to_matter(measure, distance, drawn, data):
    n, edges = drawn
    if not edges:
        return
    u, v = data.draw(st.sampled_from(edges))
    before, after = slow_graph(n, edges), slow_graph(n, edges)
    after.remove_edge(u, v)
    changed = {
        x
        for x in before
        if slow_value(before, measure, x, distance) != slow_value(after, measure, x, distance)
    }
    said = MEASURES[measure].affected(graph_of(n, edges), distance, u, v)
    assert sorted(slow_affected(before, measure, distance, u, v)) == said.tolist()
    assert changed <= set(said.tolist())


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("measure", ["vrq", "degree-distribution"])
@settings(deadline=None, max_examples=80)
@given(drawn=pairs(8))
def test_a_hash_that_is_always_the_same_merges_nothing(measure, distance, drawn):
    graph = graph_of(*drawn)
    expected = groups(partition(graph, measure=measure, distance=distance).tolist())
    same = mock.Mock(return_value=np.zeros(graph.n_nodes, dtype=np.uint64))
    with mock.patch.object(multisets.kernels, "row_hashes", same):
        labels = partition(graph, measure=measure, distance=distance)
        order = np.arange(graph.n_nodes)[::-1]
        turned = partition(graph.permuted(order), measure=measure, distance=distance)
    assert expected == groups(labels.tolist())
    assert labels[order].tolist() == turned.tolist()
    assert same.called


@pytest.mark.parametrize("distance", [1, 2])
@settings(deadline=None, max_examples=80)
@given(drawn=pairs(8))
def test_colors_that_are_always_the_same_merge_no_neighborhoods(distance, drawn):
    graph = graph_of(*drawn)
    expected = groups(partition(graph, measure="dk", distance=distance).tolist())
    shape = refinement.neighborhood

    def colorless(*arguments):
        colors, edges = shape(*arguments)
        return np.zeros_like(colors), edges

    def hashes(*arguments):
        return np.zeros(arguments[3].size, dtype=np.uint64)

    with (
        mock.patch.object(refinement, "neighborhood", colorless),
        mock.patch.object(refinement, "neighborhood_hashes", hashes),
    ):
        labels = partition(graph, measure="dk", distance=distance)
    assert expected == groups(labels.tolist())


def hubs(*insides):
    """Return graphs side by side, each with a node tied to all its nodes, and these nodes."""
    whole, hubs_at = nx.Graph(), []
    for inside in insides:
        hubs_at.append(len(whole))
        names = dict(zip(inside, range(len(whole) + 1, len(whole) + 1 + len(inside)), strict=True))
        whole.add_edges_from((hubs_at[-1], name) for name in names.values())
        whole.add_edges_from((names[u], names[v]) for u, v in inside.edges)
    return graph_of(len(whole), list(whole.edges)), hubs_at


def shuffled(graph):
    """Return the graph with its nodes in another order; their number is no multiple of 7."""
    out = nx.empty_graph(len(graph))
    name = {v: (7 * i + 3) % len(graph) for i, v in enumerate(graph)}
    out.add_edges_from((name[u], name[v]) for u, v in graph.edges)
    return out


ALIKE_TO_REFINEMENT = {
    "a hexagon, two triangles": (
        nx.cycle_graph(6),
        nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)),
    ),
    "the prism, K3,3": (nx.circular_ladder_graph(3), nx.complete_bipartite_graph(3, 3)),
    "the rook's graph, Shrikhande's": (
        nx.line_graph(nx.complete_bipartite_graph(4, 4)),
        nx.Graph(
            ((a, b), ((a + x) % 4, (b + y) % 4))
            for a in range(4)
            for b in range(4)
            for x, y in ((0, 1), (1, 0), (1, 1))
        ),
    ),
}
"""Pairs of regular graphs that are not isomorphic, the last even strongly regular."""


@pytest.mark.parametrize("name", ALIKE_TO_REFINEMENT)
@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("measure", ["dk", "hybrid"])
def test_neighborhoods_that_no_coloring_tells_apart_are_told_apart(name, distance, measure):
    one, other = ALIKE_TO_REFINEMENT[name]
    graph, hubs_at = hubs(one, other, shuffled(one), shuffled(other))
    labels, undecided = divided(graph, measure=measure, distance=distance)
    assert [0, 1, 0, 1] == groups(labels[hubs_at].tolist())
    assert 0 == undecided


def test_dk_maps_the_center_to_the_center():
    path = graph_of(3, [(0, 1), (1, 2)])
    assert [0, 1, 0] == groups(partition(path, measure="dk", distance=2).tolist())


def test_what_is_given_up_counts_as_different_and_is_counted():
    cubic = nx.random_regular_graph(3, 30, seed=1)
    graph, hubs_at = hubs(cubic, shuffled(cubic))
    assert 1 == len(set(partition(graph, measure="dk")[hubs_at].tolist()))
    with mock.patch.object(isomorphism, "MOST_STEPS", 3):
        labels, undecided = divided(graph, measure="dk")
    assert 2 == len(set(labels[hubs_at].tolist()))
    assert undecided >= 1


@pytest.mark.parametrize("measure", MEASURES)
def test_a_distance_out_of_reach_is_refused(measure):
    graph = graph_of(2, [(0, 1)])
    with pytest.raises(ParameterError, match="distance=0"):
        partition(graph, measure=measure, distance=0)
    if MEASURES[measure].largest_distance is not None:
        with pytest.raises(ParameterError, match=r"distance=2 .*Use distance=1"):
            partition(graph, measure=measure, distance=2)


@pytest.mark.parametrize(("measure", "distance"), AT)
def test_nobody_is_in_no_class(measure, distance):
    assert [] == partition(graph_of(0, []), measure=measure, distance=distance).tolist()


@pytest.mark.parametrize(("measure", "distance"), AT)
def test_isolated_nodes_look_alike(measure, distance):
    labels = partition(graph_of(5, [(0, 1)]), measure=measure, distance=distance)
    assert [0, 0, 2, 2, 2] == groups(labels.tolist())
