"""Components, triangles and wedges of a graph, counted once for all metrics of them.

Components and wedges take O(n + m) time, triangles at most O(m^1.5).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.libraries import csgraph, rx, sparse
from graphveil.data import Graph


def share_of_largest_component(graph: Graph) -> float | None:
    """Return the share of nodes in the largest connected component; None without nodes.

    >>> share_of_largest_component(Graph.from_edges([0, 1], [1, 2], n=4))
    0.75
    """
    if graph.n_nodes == 0:
        return None
    # every tie stands in both directions, so that strong is connected, and costs half as much
    _, component = csgraph.connected_components(graph.to_scipy(), connection="strong")
    return float(np.bincount(component).max() / graph.n_nodes)


STEPS = 20_000_000
"""The most pairs of edges that are followed at once, unless one node has more: it bounds the memory
of the products."""


def triangles_at(graph: Graph) -> Ints:
    """Return how many triangles every node is in, int64, shape (n,).

    Every edge points from the node of less degree to the other, so that a triangle has one lowest,
    one middle and one highest node. Pairs of edges are followed from the lowest node, and again
    from the middle one.
    """
    # Rank nodes by degree: then no node has more than about sqrt(2 m) neighbors of higher rank.
    rank = np.empty(graph.n_nodes, dtype=np.int64)
    rank[np.argsort(graph.degrees(), kind="stable")] = np.arange(graph.n_nodes)
    # The matrix has a one from the lower to the higher rank of each edge.
    ends = np.sort(rank[graph.edges()], axis=1)
    shape = (graph.n_nodes, graph.n_nodes)
    upward = sparse.csr_array((np.ones(len(ends), dtype=np.int64), tuple(ends.T)), shape=shape)
    found = np.zeros(graph.n_nodes, dtype=np.int64)
    # First pass: from the lowest node, which also finds the highest. Second: from the middle one.
    for first in (upward, sparse.csr_array(upward.T)):
        for start, end in _blocks(first, np.diff(upward.indptr)):
            # Paths of two edges that a third one closes; rows are processed in blocks to bound
            # memory.
            closed = (first[start:end] @ upward).multiply(upward[start:end])
            found[start:end] += closed.sum(axis=1)
            if first is upward:
                found += closed.sum(axis=0)
    return found[rank]


def wedges_of(graph: Graph) -> int:
    """Return the number of pairs of edges that share a node."""
    degrees = graph.degrees()
    return int((degrees * (degrees - 1)).sum()) // 2


def _blocks(matrix: sparse.csr_array, sizes: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows, each of about `STEPS` steps; an entry costs the size of its column."""
    of_entries = np.concatenate([[0], np.cumsum(sizes[matrix.indices], dtype=np.int64)])
    steps = of_entries[matrix.indptr]
    start = 0
    while start < sizes.size:
        end = int(np.searchsorted(steps, steps[start] + STEPS, side="right")) - 1
        end = max(end, start + 1)
        yield start, end
        start = end


def to_rustworkx(graph: Graph) -> rx.PyGraph[int, None]:
    """Return the same graph for rustworkx, whose nodes have the same numbers."""
    converted: rx.PyGraph[int, None] = rx.PyGraph()
    converted.add_nodes_from(range(graph.n_nodes))
    converted.add_edges_from_no_data(list(zip(*graph.edges().T.tolist(), strict=True)))
    return converted
