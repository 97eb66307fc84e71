"""The forest of `cluster-k` against a slow twin, and against the best clusters of small tables."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.methods.adaptive import forest
from graphveil.methods.adaptive.problem import packed


@st.composite
def tables(draw, most_rows=24, most_columns=6):
    """Return codes of rows, some cells of which are missing, and a k for them."""
    n = draw(st.integers(2, most_rows))
    d = draw(st.integers(1, most_columns))
    seed, missing = draw(st.integers(0, 10_000)), draw(st.sampled_from([0.0, 0.1]))
    rng = np.random.Generator(np.random.PCG64(seed))
    codes = rng.integers(0, 3, size=(n, d))
    codes = np.where(rng.random((n, d)) < missing, -1, codes).astype(np.int32)
    return codes, draw(st.integers(2, min(n, 7)))


def apart(codes, i, j):
    """Return in how many columns two rows do not agree: a missing cell agrees with nothing."""
    return int(((codes[i] != codes[j]) | (codes[i] < 0) | (codes[j] < 0)).sum())


def grown_slowly(codes, k):
    """Return where every row leads to, by looking at all trees anew for every link."""
    n = codes.shape[0]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    for row in range(n):
        while len(tree := nx.node_connected_component(graph.to_undirected(), row)) < k:
            (last,) = [one for one in tree if graph.out_degree(one) == 0]
            others = [other for other in range(n) if other not in tree]
            graph.add_edge(last, min(others, key=lambda other: apart(codes, last, other)))
    return graph


def parts_without(graph, tree, row):
    """Return the rows that hang from a row, by each of its neighbors."""
    rest = graph.subgraph(tree - {row})
    return {other: nx.node_connected_component(rest, other) for other in sorted(graph[row])}


def sides(graph, tree, k):
    """Return a row that stays and a side without it, as the algorithm's cases A to D have them."""
    row = min(tree)
    while True:
        parts = parts_without(graph, tree, row)
        largest = max(parts, key=lambda other: len(parts[other]))
        most = len(parts[largest])
        if len(tree) - most >= k - 1:
            break
        row = largest
    if most >= k and len(tree) - most >= k:
        return row, parts[largest]
    if len(tree) - most == k - 1:
        return largest, parts[largest] - {largest}
    if most == k - 1:
        return row, tree - parts[largest] - {row}
    one, other = set(), set()
    for part in parts.values():
        side = one if len(one) < k - 1 else other
        side |= part
    with_other = len(other) == k - 1 and len(one) != k - 1
    return row, one if with_other else other


def divided_slowly(graph, k):
    graph = graph.copy()
    while True:
        large = [
            tree
            for tree in nx.connected_components(graph)
            if len(tree) > 2 * k - 1 and len(tree) > 3 * k - 5
        ]
        if not large:
            return list(nx.connected_components(graph))
        row, side = sides(graph, large[0], k)
        first, *rest = sorted(set(graph[row]) & side)
        graph.remove_edges_from([(row, one) for one in (first, *rest)])
        graph.add_edges_from([(first, one) for one in rest])


@settings(max_examples=80)
@given(tables())
def test_trees_are_those_of_the_algorithm_step_by_step(given_table):
    codes, k = given_table
    rows = packed(codes)
    graph = grown_slowly(codes, k)
    to = forest.nearest_outside(rows, k)
    assert sorted(graph.edges) == [(i, j) for i, j in enumerate(to.tolist()) if j >= 0]
    labels = forest.trees(rows, k)
    clusters = [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
    expected = divided_slowly(graph.to_undirected(), k)
    assert sorted(map(sorted, expected)) == sorted(map(sorted, clusters))


@settings(max_examples=60)
@given(st.integers(2, 6), st.integers(0, 10_000))
def test_a_large_tree_of_any_shape_is_divided_into_trees_of_k_rows_or_more(k, seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    n, back = int(rng.integers(k, 60)), int(rng.integers(1, 60))
    links = [[] for _ in range(n)]
    for row in range(1, n):
        above = int(rng.integers(max(0, row - back), row))
        links[row].append(above)
        links[above].append(row)
    graph = nx.Graph([(i, j) for i in range(n) for j in links[i]])
    labels = forest.divided([sorted(one) for one in links], k)
    sizes = np.unique(labels, return_counts=True)[1]
    assert k <= sizes.min() <= sizes.max() <= max(2 * k - 1, 3 * k - 5)
    clusters = [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
    expected = divided_slowly(graph, k)
    assert sorted(map(sorted, expected)) == sorted(map(sorted, clusters))


def partitions(rows, k):
    """Yield every way to divide rows into groups of k or more."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for mask in range(1 << len(rest)):
        group = [first, *[row for at, row in enumerate(rest) if mask >> at & 1]]
        if len(group) >= k:
            for others in partitions([row for row in rest if row not in group], k):
                yield [group, *others]


def fewest_stars(codes, k):
    """Return the stars of the best clusters of at least k rows, by trying them all."""
    ways = partitions(list(range(codes.shape[0])), k)
    return min(
        sum(
            len(group) * ((codes[group] != codes[group[0]]) | (codes[group] < 0)).any(axis=0).sum()
            for group in way
        )
        for way in ways
    )


@settings(max_examples=25)
@given(tables(most_rows=7, most_columns=4))
def test_rows_differ_from_those_they_lead_to_in_no_more_cells_than_the_best_clusters_suppress(
    given_table,
):
    codes, k = given_table
    to = forest.nearest_outside(packed(codes), k)
    differing = sum(apart(codes, i, j) for i, j in enumerate(to.tolist()) if j >= 0)
    assert differing <= fewest_stars(codes, k)
