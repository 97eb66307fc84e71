"""The steps of `hrg-mcmc`: a dendrogram by a Markov chain, noisy densities, and a graph from them.

Follows Xiao, Chen & Tan, *Differentially Private Network Data Release via Structural Inference*,
KDD 2014, and their public code:

1. `tree_of_walk`: a dendrogram is sampled by a Markov chain towards the exponential mechanism,
   whose score is the log-likelihood of the graph;
2. `blocks_of`: the pairs of nodes are divided into blocks, the two sides of an inner node each;
   subtrees so small that noise would outweigh their pairs are one block;
3. `sampled_edges`: each block gets a noisy number of edges, and as many uniform pairs as a binomial
   with that density gives.

Departures: the noise is discrete Laplace, and the graph is sampled block by block.

No guarantee: the chain is stopped after finitely many steps, and only approaches the exponential
mechanism. Cost: 1,000 to 3,000 steps per node, each with the edges of a small subtree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Ints
from graphveil.core.progress import stage
from graphveil.data import Graph
from graphveil.methods.noise.cells import ends_of
from graphveil.methods.noise.laws import Words, discrete_laplace
from graphveil.methods.random_graphs.block_sampling import distinct_in
from graphveil.methods.random_graphs.kernels.hierarchy import Dendrogram, count_edges, walk

FEWEST_WINDOWS, MOST_WINDOWS = 10, 30
"""Windows of the walk: at least 10 and at most 30, which are 1,000 to 3,000 steps per node."""

WINDOW = 100
"""Steps of a window, per node. The walk stops when a window has no larger mean than the one before.

Longer windows decide on less noisy means, and stop later.
"""


def paired_tree(graph: Graph, order: Ints) -> Dendrogram:
    """Return the balanced tree over an order: it pairs adjacent nodes, then pairs of these, and on.

    `order`: int64, shape (n,): the leaves from left to right. With a random order the start of the
    walk reads no edge.
    """
    # Level by level: pair adjacent subtrees; one without a partner waits for the next level. The
    # last inner node is the root.
    n = graph.n_nodes
    left, right, parent = (np.full(2 * n - 1, -1, dtype=np.int32) for _ in range(3))
    size = np.ones(2 * n - 1, dtype=np.int64)
    level, new = order.astype(np.int32), n
    while level.size > 1:
        pairs = level[: level.size // 2 * 2].reshape(-1, 2)
        inner = np.arange(new, new + len(pairs), dtype=np.int32)
        left[inner], right[inner] = pairs.T
        parent[pairs] = inner[:, None]
        size[inner] = size[pairs].sum(axis=1)
        level, new = np.concatenate([inner, level[2 * len(pairs) :]]), new + len(pairs)
    leaves = order.astype(np.int32)
    position = np.empty(n, dtype=np.int32)
    position[leaves] = np.arange(n)
    edges = np.zeros(2 * n - 1, dtype=np.int64)
    tree = Dendrogram(left, right, parent, size, edges, leaves, position, np.empty_like(leaves))
    count_edges(tree, graph.indptr, graph.indices)
    return tree


def largest_change(n: int) -> float:
    """Return the sensitivity of the log-likelihood: the most that one edge changes it, for n >= 3.

    Xiao, Chen & Tan: ln M + (M - 1) ln(1 + 1/(M - 1)), for the most pairs M of an inner node, those
    of two halves of the nodes. It is the change from no edge among M pairs to one.
    """
    pairs = -(-n // 2) * (n // 2)
    return math.log(pairs) + (pairs - 1) * math.log1p(1 / (pairs - 1))


def tree_of_walk(graph: Graph, epsilon: float, rng: Generator) -> Dendrogram:
    """Return the tree at which the walk stops, from a start that reads no edge.

    It stops after 1,000 steps per node or later: as soon as 100 steps per node have no larger mean
    log-likelihood than the 100 before, and after 3,000 at the latest. `epsilon`: the part for the
    tree.
    """
    n = graph.n_nodes
    tree = paired_tree(graph, rng.permutation(n))
    if n < 3:
        return tree
    # The exponential mechanism: a tree has a probability in proportion to e^(epsilon L / (2 D)),
    # for the sensitivity D of the log-likelihood L.
    rate, before = epsilon / (2 * largest_change(n)), -math.inf
    with stage("walking through trees", total=MOST_WINDOWS) as advance:
        for window in range(1, MOST_WINDOWS + 1):
            mean = walk(tree, graph.indptr, graph.indices, WINDOW * n, rate, rng)
            advance(1)
            if window >= FEWEST_WINDOWS and mean <= before:
                break
            before = mean
    return tree


NOISE_OF_PAIRS, NOISE_OF_SUBTREE = 0.05, 0.01
"""A subtree is one block if noise would change both densities by at least as much.

The scale of the noise over the pairs between its two sides, and over all pairs in it, as in the
public code of the paper.
"""


class Blocks(NamedTuple):
    """Blocks of pairs of leaves, with a density each: int64, shape (blocks,) each.

    Parameters
    ----------
    first, other
        The position of the first leaf of each side; the same for the pairs inside one subtree.
    rows, columns
        The number of leaves of each side; 0 columns for the pairs inside one subtree.
    edges
        The true number of edges.
    """

    first: Ints
    other: Ints
    rows: Ints
    columns: Ints
    edges: Ints

    @property
    def pairs(self) -> Ints:
        """The number of pairs of each block."""
        within = self.rows * (self.rows - 1) // 2
        return np.where(self.columns == 0, within, self.rows * self.columns)


def blocks_of(tree: Dendrogram, epsilon: float) -> Blocks:
    """Return the blocks of a tree: the two sides of an inner node, or a whole small subtree.

    `epsilon`: the part for the densities. Whether a subtree is one block depends on its size alone.
    """
    rows = list(_rows_of_blocks(tree, epsilon))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Blocks(*columns)


def _rows_of_blocks(tree: Dendrogram, epsilon: float) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield the fields of every block (`Blocks`), from the root of the tree down."""
    # `start` is the position of the first leaf below a node. The children of a subtree that is one
    # block are not visited.
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


def sampled_edges(
    tree: Dendrogram, blocks: Blocks, epsilon: Fraction, words: Words, rng: Generator
) -> Ints:
    """Return the edges of a random graph with the noisy density of each block, shape (edges, 2).

    `epsilon`: the part for the densities; `words`: for the noise; `rng`: for the graph, which is
    post-processing.
    """
    # Every pair of nodes is in one block: an edge changes one count by 1, so each has noise of the
    # whole part.
    pairs = blocks.pairs
    noisy = blocks.edges + discrete_laplace(words, epsilon, pairs.size)
    # A binomial number of edges of each density, clipped to 0..1, at uniform pairs of the block.
    counts = rng.binomial(pairs, np.clip(noisy / pairs, 0, 1))
    block, cell = distinct_in(rng, pairs, counts)
    # From cells to leaves: a rectangle of two sides, or the pairs inside one subtree.
    wide = np.maximum(blocks.columns[block], 1)
    apart = np.column_stack([blocks.first[block] + cell // wide, blocks.other[block] + cell % wide])
    together = blocks.first[block][:, None] + ends_of(cell, blocks.rows[block])
    places = np.where((blocks.columns[block] == 0)[:, None], together, apart)
    return tree.order[places].astype(np.int64)
