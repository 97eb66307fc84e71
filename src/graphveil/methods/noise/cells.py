"""Cells, each 1 or 0: with which probability each is published as 1, and how that is sampled.

A cell is a pair of nodes, or of a user and a feature. The number of cells and their numbering
depend on public numbers only: the number of nodes, or of users and features.

A *channel* publishes a cell that is 0 as 1 with probability p0, a cell that is 1 with p1, each cell
independently. Two data sets that differ in one cell differ in one factor of the probability of a
release: p1/p0 or (1-p0)/(1-p1). If both are at most e^epsilon, and at least e^-epsilon, the release
satisfies edge differential privacy. The thresholds are integers for which both inequalities hold
exactly (`channel`).

Sampling takes O(ones + published cells), never O(cells): the cells that are 1 are tried one by one,
the others by a binomial count and a uniform set of that many. If the channel depends on the classes
of both nodes, cells are sampled in blocks, and blocks of similar p0 in pools, of which there are at
most 65: no table and no call per block.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.data import Bipartite, Data, Graph
from graphveil.data.kinds import kind_of
from graphveil.methods.noise import laws


def number_of_cells(data: Graph | Bipartite) -> int:
    """Return how many cells there are: pairs of nodes, or pairs of a user and a feature."""
    return kind_of(data).cells(data)


def cells_of_one(data: Data) -> int:
    """Return how many cells belong to one person: of a node, of a user, or of a row of a table.

    If items are people as well, a person has a row and a column, which share one cell.
    """
    return kind_of(data).cells_of_one(data)


def cells_of(data: Graph | Bipartite) -> laws.Cells:
    """Return the sorted cells that are 1: the edges, or the entries."""
    if isinstance(data, Bipartite):
        return data.rows().astype(np.int64) * data.n_features + data.indices
    return np.sort(cells_between(data.edges().astype(np.int64), data.n_nodes))


def with_cells(data: Graph | Bipartite, cells: laws.Cells) -> Graph | Bipartite:
    """Return data of the same size and features in which these cells are 1, without ids."""
    if isinstance(data, Graph):
        ends = ends_of(cells, data.n_nodes)
        return Graph.from_edges(ends[:, 0], ends[:, 1], n=data.n_nodes)
    n, width = data.n_users, max(data.n_features, 1)
    indptr = np.searchsorted(cells, np.arange(n + 1, dtype=np.int64) * width)
    indices = (cells % width).astype(np.int32)
    return Bipartite(indptr, indices, data.n_features, features=data.features)


def cells_between(pairs: Ints, n: int) -> Ints:
    """Return the cell of every pair (u, v), u < v: int64, shape (pairs,).

    `pairs`: shape (pairs, 2). Nodes are on a circle, and cells are ordered by distance: the cell of
    nodes c and c + d around the circle, d at most n/2, is (d - 1) n + c. So the cells are exactly
    0 to n(n-1)/2 - 1, and both ends follow from a cell without a square root. (For even n, distance
    n/2 comes last. Both directions are equally far there, and c is the smaller node, below n/2.)
    """
    first, second = pairs[:, 0], pairs[:, 1]
    onward = second - first
    back = 2 * onward > n
    distance = np.where(back, n - onward, onward)
    return (distance - 1) * n + np.where(back, second, first)


def ends_of(cells: laws.Cells, n: int | Ints) -> Ints:
    """Return the two nodes of every cell, shape (cells, 2); `n` may differ from cell to cell."""
    around = np.maximum(n, 1)
    distance, first = np.divmod(cells, around)
    return np.column_stack([first, (first + distance + 1) % around])


_DIGITS = Context(prec=90, rounding=ROUND_FLOOR)
"""Decimal digits of e^epsilon: enough that rounding it down loses one part in 10^80 at most."""


class Channel(NamedTuple):
    """Two thresholds: T / 2**64 is the probability that a cell is published as 1.

    `zero`: T of a cell that is 0; `one`: T of a cell that is 1.

    >>> from fractions import Fraction
    >>> coin = channel(Fraction(1, 2), Fraction(2))
    >>> round(coin.zero / 2**64, 6), round(coin.one / 2**64, 6)
    (0.119203, 0.880797)
    """

    zero: int
    one: int


def channel(prior: Fraction, epsilon: Fraction) -> Channel:
    """Return thresholds under which no cell changes any probability by more than e^epsilon.

    With pi the prior, p0 = pi / (1 - pi + pi e^epsilon) and p1 = e^epsilon p0 for pi up to 1/2;
    above, 0 and 1 swap roles.

    Parameters
    ----------
    prior
        The assumed share of ones, strictly between 0 and 1. It must be public or released under its
        own part of epsilon.
    epsilon
        From 0 to 40.

    Returns
    -------
    Channel
        The two thresholds.

    Notes
    -----
    Of all channels with this guarantee it publishes most of the cells that are 1, for the expected
    size of the release. If a share `prior` of the cells is 1, that size is their number. At 1/2 it
    is randomized response: each cell is flipped with probability 1/(1 + e^epsilon).

    Why it is private: one cell changes one factor of the probability of a release. Both ratios,
    one/zero and (1-zero)/(1-one), are at most L as fractions of integers, and L is a fraction that
    is at most e^epsilon: the claim needs no slack. The threshold of a zero is rounded up: rounded
    down, the largest epsilon would lose one in 200 of the cells that are 1.
    """
    return thresholds(prior.numerator, prior.denominator, exp_below(epsilon))


def thresholds(ones: int, of: int, largest: Fraction) -> Channel:
    """Return the channel of a prior ``ones / of`` and a largest factor L, in whole numbers.

    `channel` for callers with many priors, which compute L once.
    """
    # Above 1/2 the channel is that of the complement, with both outcomes swapped.
    if 2 * ones > of:
        zero, one = thresholds(of - ones, of, largest)
        return Channel(laws.FULL - one, laws.FULL - zero)
    numerator, denominator = largest.numerator, largest.denominator
    # T0 = 2^64 pi / (1 - pi + pi L), rounded up. Then the largest T1 that keeps both ratios within
    # L: T1 <= L T0, and 2^64 - T0 <= L (2^64 - T1). L is at least 1, so T1 is at least T0, and the
    # ratios are at least 1.
    zero = _divided_up(laws.FULL * ones * denominator, (of - ones) * denominator + ones * numerator)
    one_as_zero = _divided_up((laws.FULL - zero) * denominator, numerator)
    return Channel(zero, min(numerator * zero // denominator, laws.FULL - one_as_zero))


def _divided_up(number: int, by: int) -> int:
    return -(-number // by)


def exp_below(epsilon: Fraction) -> Fraction:
    """Return a fraction L that is at most e^epsilon, and less by at most one part in 10^80."""
    # The exponent is rounded down; `exp` rounds to the nearest, so the next number down is a bound.
    # At epsilon 0 it is below 1, which is a bound as well, and no channel has a factor below 1.
    rounded = _DIGITS.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    below = rounded.exp(_DIGITS).next_minus(_DIGITS)
    return max(Fraction(1), Fraction(below))


def flipped(
    words: laws.Words, ones: laws.Cells, n_cells: int, through: Channel
) -> tuple[laws.Cells, int]:
    """Return the cells that are published as 1 through a channel, and how many of them truly are 1.

    The law is exact: every cell is published independently, with the threshold of its value.

    Parameters
    ----------
    words
        Uniform words.
    ones
        The cells that are 1, sorted.
    n_cells
        The number of all cells.
    through
        The thresholds.

    Returns
    -------
    tuple of int64 array and int
        The published cells in order, and how many of `ones` are among them.

    Notes
    -----
    A uniform set of B cells, for a binomial B, has every cell independently with p0. Its cells that
    are 1 are dropped, since they have a draw of their own. So no parameter of a draw depends on the
    data, not even on the number of ones.
    """
    # The cells that are 1: each by a word of its own.
    kept = ones[laws.bernoulli(words, through.one, ones.size)]
    # The cells that are 0: a binomial number among *all* cells, without those that are 1.
    count = laws.binomial(words, n_cells, through.zero)
    background = laws.distinct(words, n_cells, count)
    return laws.union(kept, laws.without(background, ones)), int(kept.size)


class BlockChances(NamedTuple):
    """The thresholds of every pair of classes: symmetric uint64 matrices, 0 < T < 2**64.

    `zero`, `one`: those of a cell that is 0, or 1, between nodes of two classes.
    """

    zero: NDArray[np.uint64]
    one: NDArray[np.uint64]


def block_chances(channels: list[Channel], classes: int) -> BlockChances:
    """Return the thresholds as matrices, from the channels of the pairs a <= b, row by row."""
    upper = np.triu_indices(classes)
    matrices = []
    for values in zip(*channels, strict=True):
        matrix = np.zeros((classes, classes), dtype=np.uint64)
        matrix[upper] = np.array(values, dtype=np.uint64)
        matrix.T[upper] = matrix[upper]
        matrices.append(matrix)
    return BlockChances(*matrices)


def block_sizes(sizes: Ints) -> Ints:
    """Return how many cells every pair of classes has, for the pairs a <= b row by row.

    `sizes`: int64, shape (classes,): the number of nodes of every class.
    """
    a, b = np.triu_indices(sizes.size)
    return np.where(a == b, sizes[a] * (sizes[a] - 1) // 2, sizes[a] * sizes[b])


def places_of(blocks: Ints, cells: Ints, sizes: Ints) -> Ints:
    """Return both nodes of cells of blocks, as positions in a list of all nodes class by class.

    `blocks`, `cells`: int64, shape (c,): the block of each cell, a pair of classes a <= b, and its
    number inside the block; `sizes`: of the classes. Returns shape (c, 2).
    """
    # A block inside one class has the cells of a graph, a block of two those of a rectangle.
    first, second = (classes[blocks] for classes in np.triu_indices(sizes.size))
    firsts = np.cumsum(sizes) - sizes
    inside = ends_of(cells, sizes[first])
    across = np.column_stack(np.divmod(cells, sizes[second]))
    ends: Ints = np.where((first == second)[:, np.newaxis], inside, across)
    return ends + np.column_stack([firsts[first], firsts[second]])


def flipped_in_blocks(
    words: laws.Words, graph: Graph, classes: Ints, chances: BlockChances
) -> tuple[laws.Cells, int]:
    """Return the cells that are published as 1, in order, and how many of them truly are 1.

    As `flipped`, with the channel of the classes of both nodes: exactly and independently for every
    cell.

    Parameters
    ----------
    words
        Uniform words.
    graph
        The graph.
    classes
        int64, shape (n,): the class of every node.
    chances
        The thresholds of every pair of classes.
    """
    # Edges: each by a word of its own, against the threshold of its classes.
    ends = graph.edges()
    passing = words(ends.shape[0]) < chances.one[classes[ends[:, 0]], classes[ends[:, 1]]]
    kept = np.sort(cells_between(ends[passing].astype(np.int64), graph.n_nodes))
    # Other pairs: sampled among all pairs, without the edges.
    chosen = background(words, classes, chances.zero)
    return laws.union(kept, laws.without(chosen, cells_of(graph))), int(kept.size)


def background(words: laws.Words, classes: Ints, zero: NDArray[np.uint64]) -> laws.Cells:
    """Return cells of which each is chosen independently, with the threshold of its two classes.

    `zero`: uint64, shape (classes, classes): symmetric thresholds T. Blocks with
    2^(j-1) < T <= 2^j form pool j. A cell of the pool is chosen with 2^j / 2^64, by a binomial
    count and a uniform set, and kept with T / 2^j: together with exactly T / 2^64. Less than twice
    as many cells are chosen as are kept, on average.
    """
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes, minlength=zero.shape[0])
    a, b = np.triu_indices(sizes.size)
    chosen = [np.empty((0, 2), dtype=np.int64)]
    for blocks, cells in _pools(words, block_sizes(sizes), zero[a, b]):
        chosen.append(order[places_of(blocks, cells, sizes)])
    pairs = np.sort(np.concatenate(chosen), axis=1)
    return np.sort(cells_between(pairs, classes.size))


def _pools(words: laws.Words, sizes: Ints, zero: NDArray[np.uint64]) -> Iterator[tuple[Ints, Ints]]:
    """Yield the chosen cells of every pool: their blocks, and their numbers inside these."""
    # The pool of a block is the number j of bits of T - 1: 2^(j-1) < T <= 2^j. T is from 1 to below
    # 2^64, so there are at most 65 pools.
    bits = np.array([(int(t) - 1).bit_length() for t in zero.tolist()])
    for pool in np.unique(bits[sizes > 0]).tolist():
        blocks = np.flatnonzero((bits == pool) & (sizes > 0))
        # Number the cells of the pool block after block, and choose among them with 2^j / 2^64.
        ends = np.cumsum(sizes[blocks])
        count = laws.binomial(words, int(ends[-1]), 1 << pool)
        cells = laws.distinct(words, int(ends[-1]), count)
        of_cell = np.searchsorted(ends, cells, side="right")
        # Keep each with T / 2^j: j bits of a word are below T. At j = 0, T is 1: all are kept.
        if pool:
            kept = words(count) >> np.uint64(64 - pool) < zero[blocks][of_cell]
            cells, of_cell = cells[kept], of_cell[kept]
        yield blocks[of_cell], cells - (ends[of_cell] - sizes[blocks][of_cell])
