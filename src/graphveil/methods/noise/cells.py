"""Cells, each 1 or 0: with which probability each is published as 1, and how that is sampled.

A cell is a pair of nodes, or of a user and a feature.

The number of cells and their numbering depend on public numbers only: the number of nodes, or of
users and features. Cells whose probability follows from the classes of both nodes are sampled in
blocks, and blocks of similar probability in pools: there is no table and no call per block.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Data, Graph
from graphveil.data.kinds import kind_of
from graphveil.methods.noise.laws import (
    FULL,
    Cells,
    Words,
    bernoulli,
    binomial,
    distinct,
    union,
    without,
)

Ints = NDArray[np.int64]


def number_of_cells(data: Graph | Bipartite) -> int:
    """Return how many cells there are: pairs of nodes, or pairs of a user and a feature."""
    return kind_of(data).cells(data)


def cells_of_one(data: Data) -> int:
    """Return how many cells belong to one person: of a node, of a user, or of a row of a table.

    Where items are people, a person has a row and a column, which share one cell.
    """
    return kind_of(data).cells_of_one(data)


def cells_of(data: Graph | Bipartite) -> Cells:
    """Return the sorted cells that are 1: the edges, or the entries."""
    if isinstance(data, Bipartite):
        return data.rows().astype(np.int64) * data.n_features + data.indices
    return np.sort(cells_between(data.edges().astype(np.int64), data.n_nodes))


def with_cells(data: Graph | Bipartite, cells: Cells) -> Graph | Bipartite:
    """Return data of the same size and features in which these cells are 1, without ids."""
    if isinstance(data, Graph):
        ends = ends_of(cells, data.n_nodes)
        return Graph.from_edges(ends[:, 0], ends[:, 1], n=data.n_nodes)
    n, width = data.n_users, max(data.n_features, 1)
    indptr = np.searchsorted(cells, np.arange(n + 1, dtype=np.int64) * width)
    indices = (cells % width).astype(np.int32)
    return Bipartite(indptr, indices, data.n_features, features=data.features)


def cells_between(pairs: Ints, n: int) -> Ints:
    """Return the cell of every pair (u, v), u < v: on a circle of nodes, ordered by distance.

    The cell of nodes c and c + d around the circle, d at most n/2, is (d - 1) n + c.
    """
    first, second = pairs[:, 0], pairs[:, 1]
    onward = second - first
    back = 2 * onward > n
    distance = np.where(back, n - onward, onward)
    return (distance - 1) * n + np.where(back, second, first)


def ends_of(cells: Cells, n: int | Ints) -> Ints:
    """Return the two nodes of every cell, shape (cells, 2); `n` may differ from cell to cell."""
    around = np.maximum(n, 1)
    distance, first = np.divmod(cells, around)
    return np.column_stack([first, (first + distance + 1) % around])


_DIGITS = Context(prec=90, rounding=ROUND_FLOOR)


class Channel(NamedTuple):
    """Two thresholds: T / 2**64 is the chance that a cell is published as 1.

    `zero`: t of a cell that is 0; `one`: t of a cell that is 1.

    >>> from fractions import Fraction
    >>> coin = channel(Fraction(1, 2), Fraction(2))
    >>> round(coin.zero / FULL, 6), round(coin.one / FULL, 6)
    (0.119203, 0.880797)
    """

    zero: int
    one: int


def channel(prior: Fraction, epsilon: Fraction) -> Channel:
    """Return thresholds under which no cell changes any probability by more than e^epsilon.

    Of all such channels it publishes most of the cells that are 1, for the expected size of the
    release; if a share `prior` of the cells is 1, that size is theirs. At 1/2 it is randomized
    response: both kinds of cells are flipped with probability 1/(1 + e^epsilon).

    Both ratios, one/zero and (1-zero)/(1-one), are at most L as fractions of integers, and L is a
    fraction that is at most e^epsilon: the claim needs no slack. The threshold of a zero is rounded
    up: rounded down, the largest epsilon would lose one in 200 of the cells that are 1.

    `prior`: the assumed share of ones, strictly between 0 and 1; `epsilon`: from 0 to 40.
    """
    return thresholds(prior.numerator, prior.denominator, exp_below(epsilon))


def thresholds(ones: int, of: int, largest: Fraction) -> Channel:
    """Return the channel of a prior ``ones / of`` and a largest factor: for many priors at once."""
    if 2 * ones > of:
        zero, one = thresholds(of - ones, of, largest)
        return Channel(FULL - one, FULL - zero)
    above, beneath = largest.numerator, largest.denominator
    zero = _divided_up(FULL * ones * beneath, (of - ones) * beneath + ones * above)
    lost = _divided_up((FULL - zero) * beneath, above)
    return Channel(zero, min(above * zero // beneath, FULL - lost))


def _divided_up(number: int, by: int) -> int:
    return -(-number // by)


def exp_below(epsilon: Fraction) -> Fraction:
    """Return a fraction that is at most e^epsilon, by no more than one part in 10^80."""
    rounded = _DIGITS.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    beneath = rounded.exp(_DIGITS).next_minus(_DIGITS)
    return max(Fraction(1), Fraction(beneath))


def flipped(words: Words, ones: Cells, n_cells: int, through: Channel) -> tuple[Cells, int]:
    """Return the cells that are published as 1, in order, and how many of them truly are 1.

    Each of `ones`, sorted, passes a draw of its own. Independently, the number of successes among
    *all* cells at the chance of a zero is drawn, and as many distinct cells; ones among them are
    dropped. So cells are independent, and no parameter of any draw depends on the ones.
    """
    kept = ones[bernoulli(words, through.one, ones.size)]
    count = binomial(words, n_cells, through.zero)
    background = distinct(words, n_cells, count)
    return union(kept, without(background, ones)), int(kept.size)


class BlockChances(NamedTuple):
    """Symmetric chances T / 2**64, 0 < T < 2**64, that a 0, or a 1, of two classes is published."""

    zero: NDArray[np.uint64]
    one: NDArray[np.uint64]


def block_chances(channels: list[Channel], classes: int) -> BlockChances:
    """Return the chances of every pair of classes, from those of the pairs a <= b, row by row."""
    upper = np.triu_indices(classes)
    matrices = []
    for values in zip(*channels, strict=True):
        matrix = np.zeros((classes, classes), dtype=np.uint64)
        matrix[upper] = np.array(values, dtype=np.uint64)
        matrix.T[upper] = matrix[upper]
        matrices.append(matrix)
    return BlockChances(*matrices)


def block_sizes(sizes: Ints) -> Ints:
    """Return how many cells every pair of classes has, the pairs a <= b row by row."""
    a, b = np.triu_indices(sizes.size)
    return np.where(a == b, sizes[a] * (sizes[a] - 1) // 2, sizes[a] * sizes[b])


def places_of(blocks: Ints, cells: Ints, sizes: Ints) -> Ints:
    """Return the places of both nodes of these cells of blocks, where classes stand in a row."""
    first, second = (classes[blocks] for classes in np.triu_indices(sizes.size))
    firsts = np.cumsum(sizes) - sizes
    inside = ends_of(cells, sizes[first])
    across = np.column_stack(np.divmod(cells, sizes[second]))
    ends: Ints = np.where((first == second)[:, np.newaxis], inside, across)
    return ends + np.column_stack([firsts[first], firsts[second]])


def flipped_in_blocks(
    words: Words, graph: Graph, classes: Ints, chances: BlockChances
) -> tuple[Cells, int]:
    """Return the cells that are published as 1, in order, and how many of them truly are 1.

    As `graphveil.methods.noise.flipped`: edges have draws of their own, and edges are dropped from
    what is drawn of all cells with the chance of a zero.
    """
    ends = graph.edges()
    passing = words(ends.shape[0]) < chances.one[classes[ends[:, 0]], classes[ends[:, 1]]]
    kept = np.sort(cells_between(ends[passing].astype(np.int64), graph.n_nodes))
    tried = background(words, classes, chances.zero)
    return union(kept, without(tried, cells_of(graph))), int(kept.size)


def background(words: Words, classes: Ints, zero: NDArray[np.uint64]) -> Cells:
    """Return cells of which each is chosen by itself, with the chance of its two classes.

    Blocks with 2^(j-1) < T <= 2^j form pool j. So many of its cells are chosen as succeed with the
    chance 2^j / 2^64, and each is kept with T / 2^j.
    """
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes, minlength=zero.shape[0])
    a, b = np.triu_indices(sizes.size)
    chosen = [np.empty((0, 2), dtype=np.int64)]
    for blocks, cells in _pools(words, block_sizes(sizes), zero[a, b]):
        chosen.append(order[places_of(blocks, cells, sizes)])
    pairs = np.sort(np.concatenate(chosen), axis=1)
    return np.sort(cells_between(pairs, classes.size))


def _pools(words: Words, sizes: Ints, zero: NDArray[np.uint64]) -> Iterator[tuple[Ints, Ints]]:
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
