"""The kernels of neighborhoods against slow twins: NetworkX, and sets of nodes."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Graph
from graphveil.measures.kernels import neighborhoods as balls
from graphveil.measures.kernels import neighborhoods as boxes
from graphveil.measures.kernels import neighborhoods as cascade
from graphveil.measures.kernels import neighborhoods as multisets
from graphveil.measures.kernels import neighborhoods as refinement
from graphveil.measures.kernels import neighborhoods as triangles

DISTANCES = st.integers(1, 4)


@st.composite
def graphs(draw, smallest=1, largest=10):
    n = draw(st.integers(smallest, largest))
    pairs = list(combinations(range(n), 2))
    likely = draw(st.sampled_from([2, 4, 7]))
    kept = draw(st.lists(st.integers(0, 8), min_size=len(pairs), max_size=len(pairs)))
    edges = [pair for pair, drawn in zip(pairs, kept, strict=True) if drawn < likely]
    return Graph.from_edges(*np.array(edges, dtype=np.int64).reshape(-1, 2).T, n=n)


def plain(graph):
    other = nx.empty_graph(graph.n_nodes)
    other.add_edges_from(graph.edges().tolist())
    return other


def around(graph, v, distance):
    """The neighborhood of v as NetworkX has it."""
    return nx.ego_graph(plain(graph), v, radius=distance)


@given(graphs())
@settings(deadline=None, max_examples=60)
def test_triangles_and_common_neighbors_are_those_of_networkx(graph):
    twin = plain(graph)
    expected = [nx.triangles(twin)[v] for v in range(graph.n_nodes)]
    assert expected == triangles.triangles(graph.indptr, graph.indices).tolist()
    sources = np.repeat(np.arange(graph.n_nodes), graph.degrees()).tolist()
    shared = [
        len(list(nx.common_neighbors(twin, u, v)))
        for u, v in zip(sources, graph.indices.tolist(), strict=True)
    ]
    assert shared == triangles.common_neighbors(graph.indptr, graph.indices).tolist()


@given(graphs(), DISTANCES)
@settings(deadline=None, max_examples=60)
def test_a_ball_holds_the_nodes_within_the_distance_and_is_emptied(graph, distance):
    where = (graph.indptr, graph.indices)
    ball = balls.make_ball(graph.n_nodes)
    for v in range(graph.n_nodes):
        size = balls.fill_ball(*where, v, distance, ball)
        hops = dict(nx.single_source_shortest_path_length(plain(graph), v, cutoff=distance))
        nodes = ball.nodes[:size].tolist()
        assert hops == dict(zip(nodes, ball.hops[:size].tolist(), strict=True))
        assert list(range(size)) == ball.place[nodes].tolist()
        inside = around(graph, v, distance)
        for i, x in enumerate(nodes):
            assert inside.degree(x) == balls.inner_degree(*where, i, distance, ball)
        balls.clear_ball(ball, size)
        assert (ball.place == -1).all()
    sizes = [around(graph, v, distance) for v in range(graph.n_nodes)]
    nodes, edges = balls.ball_sizes(*where, distance)
    assert [len(ball) for ball in sizes] == nodes.tolist()
    assert [ball.number_of_edges() for ball in sizes] == edges.tolist()


def multiset_of(graph, v, distance, *, inside):
    nodes = around(graph, v, distance)
    return Counter(dict((nodes if inside else plain(graph)).degree())[x] for x in nodes)


@given(graphs(), st.integers(2, 3), st.booleans(), st.randoms())
@settings(deadline=None, max_examples=60)
def test_multisets_and_their_hashes_are_those_of_the_degrees_around(
    graph, distance, inside, random
):
    n = graph.n_nodes
    empty = np.empty(0, dtype=np.int32)
    rows = multisets.MultisetRows(graph.indptr, graph.indices, empty, empty, distance, inside, n)
    twins = [multiset_of(graph, v, distance, inside=inside) for v in range(n)]
    hashes = multisets.row_hashes(rows)
    for u, v in combinations(range(n), 2):
        assert (twins[u] == twins[v]) == (hashes[u] == hashes[v])
    order = list(range(n))
    random.shuffle(order)
    start, values = multisets.rows_of(rows, np.array(order, dtype=np.int64))
    for i, v in enumerate(order):
        assert sorted(twins[v].elements()) == values[start[i] : start[i + 1]].tolist()
    first = np.array(sorted({0, n, random.randrange(n)}), dtype=np.int64)
    equal = np.empty(n, dtype=np.bool_)
    multisets.same_as_first(rows, np.array(order, dtype=np.int64), first, equal)
    for start_of, stop in pairwise(first.tolist()):
        for at in range(start_of, stop):
            assert (twins[order[at]] == twins[order[start_of]]) == equal[at]


def test_stirred_values_are_those_of_the_published_finalizer():
    """SplitMix64 from seed 0: its first outputs are the finalizer at multiples of the step."""
    first = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    steps = [np.uint64((i * 0x9E3779B97F4A7C15) % 2**64) for i in range(3)]
    assert first == [int(multisets.mixed(step)) for step in steps]


@given(graphs(), st.integers(1, 3), st.randoms())
@settings(deadline=None, max_examples=60)
def test_hashes_and_colors_are_equal_under_new_numbers_and_edges_are_those_inside(
    graph, distance, random
):
    n = graph.n_nodes
    number = list(range(n))
    random.shuffle(number)
    ends = np.array(number)[graph.edges().reshape(-1, 2)] if graph.n_edges else graph.edges()
    other = Graph.from_edges(ends[:, 0], ends[:, 1], n=n)
    room = refinement.new_color_buffers(n, graph.indices.size)
    nodes = np.arange(n, dtype=np.int64)
    one = refinement.neighborhood_hashes(graph.indptr, graph.indices, distance, nodes, room)
    renamed = np.array(number, dtype=np.int64)
    two = refinement.neighborhood_hashes(other.indptr, other.indices, distance, renamed, room)
    assert one.tolist() == two.tolist()
    for u, v in combinations(range(n), 2):
        if one[u] != one[v]:
            continue
        balls_of = [around(graph, w, distance) for w in (u, v)]
        assert (
            len(
                {
                    (len(b), b.number_of_edges(), b.degree(w))
                    for b, w in zip(balls_of, (u, v), strict=True)
                }
            )
            == 1
        )
    for v in range(n):
        colors, edges = refinement.neighborhood(graph.indptr, graph.indices, distance, v, room)
        inside = around(graph, v, distance)
        assert (len(inside), inside.number_of_edges()) == (colors.size, len(edges))
        made = nx.empty_graph(colors.size)
        made.add_edges_from(edges.tolist())
        nx.set_node_attributes(made, {0: True}, "center")
        nx.set_node_attributes(inside, {v: True}, "center")
        same = nx.algorithms.isomorphism.categorical_node_match("center", default=False)
        assert nx.is_isomorphic(made, inside, node_match=same)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=25), st.data())
@settings(deadline=None, max_examples=60)
def test_nodes_in_boxes_are_counted_one_by_one(values, data):
    distinct = sorted(set(values))
    firsts = sorted({a for a, _ in distinct})
    start = [sum(a < x for a, _ in distinct) for x in firsts] + [len(distinct)]
    before = np.cumsum([0, *(values.count(pair) for pair in distinct)])
    pairs = boxes.NeighborPairs(
        np.array(start, dtype=np.int64),
        np.array([b for _, b in distinct], dtype=np.int64),
        before.astype(np.int64),
    )
    span = st.lists(st.integers(0, len(firsts)), min_size=2, max_size=2).map(sorted)
    bounds = st.lists(st.integers(-1, 6), min_size=2, max_size=2).map(sorted)
    bound = st.tuples(span, bounds).map(lambda two: (*two[0], *two[1]))
    drawn = data.draw(st.lists(bound, max_size=6))
    columns = np.array(drawn, dtype=np.int64).reshape(-1, 4).T
    counts = boxes.nodes_in_boxes(pairs, boxes.Boxes(*(column.copy() for column in columns)))
    for (low, high, least, most), count in zip(drawn, counts.tolist(), strict=True):
        inside = [a in firsts[low:high] and least <= b <= most for a, b in values]
        assert sum(inside) == count


@given(graphs(), st.data())
@settings(deadline=None, max_examples=60)
def test_the_cascade_identifies_level_by_level(graph, data):
    n = graph.n_nodes
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    start = data.draw(st.sets(st.integers(0, n - 1)))
    levels = np.array([0 if v in start else -1 for v in range(n)], dtype=np.int64)
    cascade.follow(graph.indptr, graph.indices, np.array(labels, dtype=np.int64), levels)
    twin, level, new = dict.fromkeys(start, 0), 0, set(start)
    while new:
        level += 1
        reached = set()
        for v in new:
            near = graph.neighbors(v).tolist()
            alone = [w for w in near if sum(labels[x] == labels[w] for x in near) == 1]
            reached |= {w for w in alone if w not in twin}
        twin |= dict.fromkeys(reached, level)
        new = reached
    assert [twin.get(v, -1) for v in range(n)] == levels.tolist()
