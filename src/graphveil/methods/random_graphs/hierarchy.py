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
from numpy.random import Generator

from graphveil.core.progress import stage
from graphveil.data import Graph
from graphveil.methods.noise import Words, discrete_laplace
from graphveil.methods.noise.cells import ends_of
from graphveil.methods.random_graphs.baselines import Ints, distinct_in
from graphveil.methods.random_graphs.kernels.hierarchy import Dendrogram, count_edges, walk

LEAST, MOST = 10, 30
"""Windows of the walk: at least, and at most."""

WINDOW = 100
"""Steps of a window, for every node."""


def paired_tree(graph: Graph, order: Ints) -> Dendrogram:
    """Return the tree that pairs neighbors in an order, then pairs of these, and so on."""
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
    """Return by how much one edge changes the log-likelihood at most, for n nodes from 3 on."""
    pairs = -(-n // 2) * (n // 2)
    return math.log(pairs) + (pairs - 1) * math.log1p(1 / (pairs - 1))


def settled(graph: Graph, epsilon: float, rng: Generator) -> Dendrogram:
    """Return the tree at which the walk stops, from one that reads no edge.

    It stops after 1,000 steps a node or later, once 100 steps a node have no larger mean
    log-likelihood than the 100 before, and after 3,000 at the latest.
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
    """Blocks of pairs: where the leaves of two sides begin, how many they are, and the edges.

    Of a whole subtree both begin at its first leaf, and there are 0 columns.
    """

    first: Ints
    other: Ints
    rows: Ints
    columns: Ints
    edges: Ints

    @property
    def pairs(self) -> Ints:
        """How many pairs are in each."""
        within = self.rows * (self.rows - 1) // 2
        return np.where(self.columns == 0, within, self.rows * self.columns)


def blocks_of(tree: Dendrogram, epsilon: float) -> Blocks:
    """Return the blocks of a tree: the two sides of a node, and subtrees too small for noise."""
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
    tree: Dendrogram, blocks: Blocks, epsilon: Fraction, words: Words, rng: Generator
) -> Ints:
    """Return the edges of a random graph with the noisy density of each block, shape (edges, 2)."""
    pairs = blocks.pairs
    noisy = blocks.edges + discrete_laplace(words, epsilon, pairs.size)
    counts = rng.binomial(pairs, np.clip(noisy / pairs, 0, 1))
    block, cell = distinct_in(rng, pairs, counts)
    wide = np.maximum(blocks.columns[block], 1)
    apart = np.column_stack([blocks.first[block] + cell // wide, blocks.other[block] + cell % wide])
    together = blocks.first[block][:, None] + ends_of(cell, blocks.rows[block])
    places = np.where((blocks.columns[block] == 0)[:, None], together, apart)
    return tree.order[places].astype(np.int64)
