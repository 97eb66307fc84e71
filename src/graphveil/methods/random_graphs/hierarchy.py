"""Trees over the nodes of a graph, and the graphs sampled from them.

A Markov chain walks towards trees that describe the graph well. A tree divides the pairs into
blocks of one density each, to which noise is added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import stage
from graphveil.data import Graph
from graphveil.methods.noise import Words, discrete_laplace
from graphveil.methods.noise.cells import ends_of
from graphveil.methods.random_graphs.baselines import distinct_in
from graphveil.methods.random_graphs.kernels.hierarchy import Dendrogram, count_edges, walk

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


NOISE_OF_PAIRS, NOISE_OF_SUBTREE = 0.05, 0.01
"""The scales of noise, over the pairs, above which a subtree is one block: of its two sides, of all
pairs in it."""


class Blocks(NamedTuple):
    """Blocks of pairs.

    `first, other`: int64, shape (blocks,): the positions at which the leaves of the two sides
    begin; of a whole subtree both are its first; `rows, columns`: int64, shape (blocks,): the
    leaves of the two sides; of a whole subtree 0 columns; `edges`: int64, shape (blocks,): the
    edges in it.
    """

    first: NDArray[np.int64]
    other: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    edges: NDArray[np.int64]

    @property
    def pairs(self) -> NDArray[np.int64]:
        """How many pairs are in each."""
        within = self.rows * (self.rows - 1) // 2
        return np.where(self.columns == 0, within, self.rows * self.columns)


def blocks_of(tree: Dendrogram, epsilon: float) -> Blocks:
    """Return the blocks of a tree: the two sides of a node, and subtrees too small for noise.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> from graphveil.methods.random_graphs.hierarchy import paired_tree
    >>> tree = paired_tree(Graph.from_edges([0, 1], [1, 2], n=4), np.arange(4))
    >>> blocks_of(tree, 1.0).pairs.tolist(), sorted(blocks_of(tree, 1000.0).pairs.tolist())
    ([6], [1, 1, 4])
    """
    rows = list(_listed(tree, epsilon))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Blocks(*columns)


def _listed(tree: Dendrogram, epsilon: float) -> Iterator[tuple[int, int, int, int, int]]:
    n = tree.order.size
    waiting = [(2 * n - 2, 0)] if n > 1 else []
    while waiting:
        node, start = waiting.pop()
        left, right = int(tree.left[node]), int(tree.right[node])
        size, rows, columns = (int(tree.size[below]) for below in (node, left, right))
        noisy = 1 / (rows * columns * epsilon) >= NOISE_OF_PAIRS
        if noisy and 2 / (epsilon * size * (size - 1)) >= NOISE_OF_SUBTREE:
            yield start, start, size, 0, _edges_below(tree, node)
        else:
            yield start, start + rows, rows, columns, int(tree.edges[node])
            children = ((left, start), (right, start + rows))
            waiting += [child for child in children if child[0] >= n]


def _edges_below(tree: Dendrogram, node: int) -> int:
    waiting, total = [node], 0
    while waiting:
        inner = waiting.pop()
        total += int(tree.edges[inner])
        children = int(tree.left[inner]), int(tree.right[inner])
        waiting += [child for child in children if child >= tree.order.size]
    return total


def drawn(
    tree: Dendrogram, blocks: Blocks, epsilon: Fraction, words: Words, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the edges of a random graph, shape (edges, 2), with the noisy density of each block.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> from graphveil.methods.random_graphs.hierarchy import paired_tree
    >>> from graphveil.methods.noise import words_from
    >>> from graphveil.core.randomness import Randomness
    >>> tree = paired_tree(Graph.from_edges([0, 1], [1, 2], n=4), np.arange(4))
    >>> words, rng = words_from(Randomness(seed=1), "noise"), np.random.Generator(
    ...     np.random.PCG64DXSM(1)
    ... )
    >>> sorted(drawn(tree, blocks_of(tree, 30.0), Fraction(30), words, rng)[:1].tolist())
    [[0, 1]]
    """
    pairs = blocks.pairs
    noisy = blocks.edges + discrete_laplace(words, epsilon, pairs.size)
    counts = rng.binomial(pairs, np.clip(noisy / pairs, 0, 1))
    block, cell = distinct_in(rng, pairs, counts)
    wide = np.maximum(blocks.columns[block], 1)
    apart = np.column_stack([blocks.first[block] + cell // wide, blocks.other[block] + cell % wide])
    together = blocks.first[block][:, None] + ends_of(cell, blocks.rows[block])
    places = np.where((blocks.columns[block] == 0)[:, None], together, apart)
    return tree.order[places].astype(np.int64)
