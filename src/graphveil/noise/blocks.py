"""Cells of unequal chances: pairs of nodes whose chances follow from the classes of both nodes.

Blocks of like chances are drawn together, in pools: no table and no call a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.noise.cells import cells_between, cells_of, ends_of
from graphveil.noise.channels import Channel
from graphveil.noise.counts import binomial
from graphveil.noise.uniform import Cells, Words, distinct, union, without


class BlockChances(NamedTuple):
    """The chances of every pair of classes.

    Parameters
    ----------
    zero, one
        uint64, symmetric, shape (classes, classes): T / 2**64 is the chance that a cell of 0, or of
        1, is published; from 1 to 2**64 - 1.
    """

    zero: NDArray[np.uint64]
    one: NDArray[np.uint64]


def block_chances(channels: list[Channel], classes: int) -> BlockChances:
    """Return the chances of every pair of classes, from those of the pairs a <= b, row by row.

    Examples
    --------
    >>> chances = block_chances([Channel(1, 2), Channel(3, 4), Channel(5, 6)], 2)
    >>> chances.zero.tolist(), chances.one.tolist()
    ([[1, 3], [3, 5]], [[2, 4], [4, 6]])
    """
    upper = np.triu_indices(classes)
    matrices = []
    for values in zip(*channels, strict=True):
        matrix = np.zeros((classes, classes), dtype=np.uint64)
        matrix[upper] = np.array(values, dtype=np.uint64)
        matrix.T[upper] = matrix[upper]
        matrices.append(matrix)
    return BlockChances(*matrices)


def block_sizes(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many cells every pair of classes has, the pairs a <= b row by row.

    Examples
    --------
    >>> block_sizes(np.array([3, 2])).tolist()
    [3, 6, 1]
    """
    a, b = np.triu_indices(sizes.size)
    return np.where(a == b, sizes[a] * (sizes[a] - 1) // 2, sizes[a] * sizes[b])


def flipped_in_blocks(
    words: Words, graph: Graph, classes: NDArray[np.int64], chances: BlockChances
) -> tuple[Cells, int]:
    """Return the cells that are published as 1, in order, and how many of them truly are 1.

    Parameters
    ----------
    words
        Where the randomness comes from.
    graph
        Whose edges are the cells of 1.
    classes
        int64, shape (n,): the class of every node.
    chances
        The chances of every pair of classes.

    Notes
    -----
    As `graphveil.noise.flipped`: each edge passes a draw of its own, and independently all cells
    are tried with the chance of a zero; those of them that are edges are dropped.

    Examples
    --------
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> chances = block_chances([Channel(1, (1 << 64) - 1)], 1)
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> words = words_from(Randomness(seed=1), "cells")
    >>> flipped_in_blocks(words, path, np.zeros(3, dtype=np.int64), chances)
    (array([0, 1]), 2)
    """
    ends = graph.edges()
    passing = words(ends.shape[0]) < chances.one[classes[ends[:, 0]], classes[ends[:, 1]]]
    kept = np.sort(cells_between(ends[passing].astype(np.int64), graph.n_nodes))
    tried = background(words, classes, chances.zero)
    return union(kept, without(tried, cells_of(graph))), int(kept.size)


def background(words: Words, classes: NDArray[np.int64], zero: NDArray[np.uint64]) -> Cells:
    """Return cells of which each is chosen by itself, with the chance of its two classes.

    Parameters
    ----------
    words, classes
        As in `flipped_in_blocks`.
    zero
        uint64, symmetric: T / 2**64 is the chance of a cell of these classes.

    Notes
    -----
    Blocks with 2^(j-1) < T <= 2^j form pool j. So many of its cells are chosen as succeed with the
    chance 2^j / 2^64, and each is kept with T / 2^j.
    """
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes, minlength=zero.shape[0])
    firsts = np.cumsum(sizes) - sizes
    a, b = np.triu_indices(sizes.size)
    chosen = [np.empty((0, 2), dtype=np.int64)]
    for blocks, cells in _pools(words, block_sizes(sizes), zero[a, b]):
        first, second = a[blocks], b[blocks]
        inside = ends_of(cells, sizes[first])
        across = np.column_stack(np.divmod(cells, sizes[second]))
        places = np.where((first == second)[:, np.newaxis], inside, across)
        chosen.append(order[places + np.column_stack([firsts[first], firsts[second]])])
    pairs = np.sort(np.concatenate(chosen), axis=1)
    return np.sort(cells_between(pairs, classes.size))


def _pools(
    words: Words, sizes: NDArray[np.int64], zero: NDArray[np.uint64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield of every pool the chosen cells: their blocks, and their numbers inside these."""
    bits = np.array([(int(t) - 1).bit_length() for t in zero.tolist()])
    for pool in np.unique(bits[sizes > 0]).tolist():
        blocks = np.flatnonzero((bits == pool) & (sizes > 0))
        ends = np.cumsum(sizes[blocks])
        count = binomial(words, int(ends[-1]), 1 << pool)
        cells = distinct(words, int(ends[-1]), count)
        own = np.searchsorted(ends, cells, side="right")
        if pool:
            kept = words(count) >> np.uint64(64 - pool) < zero[blocks][own]
            cells, own = cells[kept], own[kept]
        yield blocks[own], cells - (ends[own] - sizes[blocks][own])
