"""Rows as bits: in which columns two rows differ takes a few words.

The columns stand 64 to a word. Bit p of the codes of word w's columns is the word
``planes[row, offsets[w] + p]``; a suppressed cell is a bit of ``stars[row, w]``. Rows that share a
cell's value, and neither of which is suppressed there, agree in it.

What it costs that a record fits a person, and how often a cell is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import count_bits
from graphveil.core.kernels.leaf import ZERO, leaf, wide

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


class Packed(NamedTuple):
    """Rows, or what is common to some: shape (n, words of codes), (n, words), (words + 1,)."""

    planes: Words
    stars: Words
    offsets: Ints


@leaf
def differing(one: Packed, i: int, other: Packed, j: int, w: int) -> np.uint64:
    """Return the columns of word w in which row i of one and row j of the other do not agree."""
    bits: np.uint64 = one.stars[i, w] | other.stars[j, w]
    for p in range(one.offsets[w], one.offsets[w + 1]):
        bits |= one.planes[i, p] ^ other.planes[j, p]
    return bits


@leaf
def distance(one: Packed, i: int, other: Packed, j: int) -> int:
    """Return in how many columns row i of one and row j of the other do not agree."""
    total = 0
    for w in range(one.stars.shape[1]):
        total += count_bits(differing(one, i, other, j, w))
    return total


@leaf
def starred(rows: Packed, i: int) -> int:
    """Return how many cells of row i are suppressed."""
    total = 0
    for w in range(rows.stars.shape[1]):
        total += count_bits(rows.stars[i, w])
    return total


@leaf
def put(one: Packed, i: int, other: Packed, j: int) -> None:
    """Write row j of the other into row i of one."""
    for w in range(one.stars.shape[1]):
        one.stars[i, w] = other.stars[j, w]
    for p in range(one.planes.shape[1]):
        one.planes[i, p] = other.planes[j, p]


@leaf
def meet(one: Packed, i: int, other: Packed, j: int) -> None:
    """Suppress in row i of one what row j of the other does not agree with."""
    for w in range(one.stars.shape[1]):
        one.stars[i, w] = differing(one, i, other, j, w)


@leaf
def meets_without(rows: Packed, members: Ints, size: int, without: Packed, before: Packed) -> None:
    """Write into row r of `without`, for every member r, what all the others have in common.

    Parameters
    ----------
    rows, members
        The first `size` of the members, two or more, are rows.
    without
        As many rows as `rows`; those of members are overwritten.
    before
        The first `size` rows are overwritten.
    """
    put(before, ZERO, rows, members[0])
    for number in range(1, size):
        put(before, number, before, number - 1)
        meet(before, number, rows, members[number])
    after = wide(size - 1)
    put(without, members[after], before, after - 1)
    put(before, after, rows, members[after])
    for number in range(after - 1, -1, -1):
        row = members[number]
        put(without, row, before, after)
        if number > 0:
            meet(without, row, before, number - 1)
        meet(before, after, rows, row)


Shorts = NDArray[np.int32]


@leaf
def pair_costs(columns: Shorts, prices: Ints, costs: Ints) -> None:
    """Write into costs[i, j] the prices of record i's cells in which persons i and j differ.

    Parameters
    ----------
    columns
        The codes by column, shape (d, n); -1 is missing, and agrees with nothing.
    prices
        Shape (n, d): the price of a star, by the record's row.
    costs
        Shape (n, n), overwritten; 0 on the diagonal.
    """
    d, n = columns.shape
    for i in range(n):
        row = costs[i]
        row[:] = 0
        for k in range(d):
            price, code = prices[i, k], columns[k, i]
            if price != 0:
                codes = columns[k]
                for j in range(n):
                    row[j] += price if codes[j] != code or code < 0 else np.int64(0)
        row[i] = 0


def count_needs(columns: Shorts, pairs: NDArray[np.int8], needs: Ints) -> None:
    """Write into needs[i, k] how many pairs of record i need a star in column k.

    Parameters
    ----------
    columns
        As in `pair_costs`.
    pairs
        1 where record i is to fit person j.
    needs
        Shape (n, d), overwritten.
    """
    i, j = np.nonzero(pairs)
    i, j = i[i != j], j[i != j]
    for k, codes in enumerate(columns):
        is_needed = (codes[i] != codes[j]) | (codes[i] < 0)
        needs[:, k] = np.bincount(i[is_needed], minlength=codes.size)
