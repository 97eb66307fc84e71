"""Trees over the nodes of a graph, walked towards those that describe it well."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.kernels.hierarchy import Dendrogram, count_edges, walk
from graphveil.progress import stage

LEAST, MOST = 10, 30
"""Windows of the walk: at least, and at most."""

WINDOW = 100
"""Steps of a window, for every node."""


def paired_tree(graph: Graph, order: NDArray[np.int64]) -> Dendrogram:
    """Return the tree that pairs neighbors in an order, then pairs of these, and so on.

    Examples
    --------
    >>> tree = paired_tree(Graph.from_edges([0, 1], [1, 2], n=4), np.arange(4))
    >>> tree.left.tolist(), tree.right.tolist(), tree.edges.tolist()
    ([-1, -1, -1, -1, 0, 2, 4], [-1, -1, -1, -1, 1, 3, 5], [0, 0, 0, 0, 1, 0, 1])
    """
    n = graph.n_nodes
    left, right, parent = (np.full(2 * n - 1, -1, dtype=np.int32) for _ in range(3))
    size = np.ones(2 * n - 1, dtype=np.int64)
    row, new = order.astype(np.int32), n
    while row.size > 1:
        pairs = row[: row.size // 2 * 2].reshape(-1, 2)
        made = np.arange(new, new + len(pairs), dtype=np.int32)
        left[made], right[made] = pairs.T
        parent[pairs] = made[:, None]
        size[made] = size[pairs].sum(axis=1)
        row, new = np.concatenate([made, row[2 * len(pairs) :]]), new + len(pairs)
    leaves = order.astype(np.int32)
    position = np.empty(n, dtype=np.int32)
    position[leaves] = np.arange(n)
    edges = np.zeros(2 * n - 1, dtype=np.int64)
    tree = Dendrogram(left, right, parent, size, edges, leaves, position, np.empty_like(leaves))
    count_edges(tree, graph.indptr, graph.indices)
    return tree


def largest_change(n: int) -> float:
    """Return by how much one edge changes the log-likelihood at most, for n nodes from 3 on.

    Examples
    --------
    >>> round(largest_change(3), 6)
    1.386294
    """
    pairs = -(-n // 2) * (n // 2)
    return math.log(pairs) + (pairs - 1) * math.log1p(1 / (pairs - 1))


def settled(graph: Graph, epsilon: float, rng: np.random.Generator) -> Dendrogram:
    """Return the tree at which the walk stops, from one that reads no edge.

    It stops after 1,000 steps a node or later, once 100 steps a node have no larger mean
    log-likelihood than the 100 before, and after 3,000 at the latest.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> settled(path, 1.0, np.random.Generator(np.random.PCG64DXSM(1))).size.tolist()
    [1, 1, 1, 2, 3]
    """
    n = graph.n_nodes
    tree = paired_tree(graph, rng.permutation(n))
    if n < 3:
        return tree
    rate, before = epsilon / (2 * largest_change(n)), -math.inf
    with stage("walking through trees", total=MOST) as advance:
        for window in range(1, MOST + 1):
            mean = walk(tree, graph.indptr, graph.indices, WINDOW * n, rate, rng)
            advance(1)
            if window >= LEAST and mean <= before:
                break
            before = mean
    return tree
