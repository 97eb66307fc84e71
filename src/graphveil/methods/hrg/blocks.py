"""Blocks of pairs with one density each: what a tree says of a graph, with noise, and its draw."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.hierarchy import Dendrogram
from graphveil.methods.block_sampling import distinct_in
from graphveil.noise import Words, discrete_laplace
from graphveil.noise.cells import ends_of

NOISE_OF_PAIRS, NOISE_OF_SUBTREE = 0.05, 0.01
"""The scales of noise, over the pairs, above which a subtree is one block: of its two sides, of all
pairs in it."""


class Blocks(NamedTuple):
    """Blocks of pairs.

    Parameters
    ----------
    first, other
        int64, shape (blocks,): the positions at which the leaves of the two sides begin; of a
        whole subtree both are its first.
    rows, columns
        int64, shape (blocks,): the leaves of the two sides; of a whole subtree 0 columns.
    edges
        int64, shape (blocks,): the edges in it.
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
    >>> from graphveil.methods.hrg.tree import paired_tree
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
    >>> from graphveil.methods.hrg.tree import paired_tree
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
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
