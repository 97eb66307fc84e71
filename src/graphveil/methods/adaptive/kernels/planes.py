"""Rows as bits, so that comparing two rows takes a few words.

Columns are 64 to a word. The codes of the columns of word w are stored by bit (as bit planes): bit
p of each code is in the word ``planes[row, offsets[w] + p]``. Two rows agree in a column if all
their bit planes agree there and neither cell is suppressed. So the columns in which two rows
differ, D_ij in the terms of Choromanski, Jebara & Tang, are a few exclusive ors: O(words times
bits) for a pair of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints, Words
from graphveil.core.kernels.arrays import count_bits
from graphveil.core.kernels.leaf import ZERO, leaf, wide


class Packed(NamedTuple):
    """Rows, or what is common to some of them, as bits.

    Parameters
    ----------
    planes
        uint64, shape (n, planes): bit p of the codes of word w is in column ``offsets[w] + p``. 0
        in suppressed cells.
    stars
        uint64, shape (n, words): one bit per suppressed or missing cell.
    offsets
        int64, shape (words + 1,): the first bit plane of each word.
    """

    planes: Words
    stars: Words
    offsets: Ints


@leaf
def differing(one: Packed, i: int, other: Packed, j: int, w: int) -> np.uint64:
    """Return the columns of word w in which row i of `one` and row j of `other` do not agree."""
    bits: np.uint64 = one.stars[i, w] | other.stars[j, w]
    for p in range(one.offsets[w], one.offsets[w + 1]):
        bits |= one.planes[i, p] ^ other.planes[j, p]
    return bits


@leaf
def distance(one: Packed, i: int, other: Packed, j: int) -> int:
    """Return in how many columns row i of `one` and row j of `other` do not agree.

    A suppressed cell agrees with nothing. So if row i is what a cluster has in common, these are
    the columns that the cluster suppresses once row j joins it, and not only those in addition.
    """
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
    """Write row j of `other` into row i of `one`."""
    for w in range(one.stars.shape[1]):
        one.stars[i, w] = other.stars[j, w]
    for p in range(one.planes.shape[1]):
        one.planes[i, p] = other.planes[j, p]


@leaf
def meet(one: Packed, i: int, other: Packed, j: int) -> None:
    """Suppress in row i of `one` what row j of `other` does not agree with.

    Row i then is what both have in common: of a cluster, what it may publish. Its bit planes stay,
    as suppressed cells are never compared by them.
    """
    for w in range(one.stars.shape[1]):
        one.stars[i, w] = differing(one, i, other, j, w)


@leaf
def meets_without(rows: Packed, members: Ints, size: int, without: Packed, before: Packed) -> None:
    """Write into row r of `without`, for every member r, what all the other members have in common.

    Meets from both ends: what the members before and those after have in common, then both
    together. This takes O(size) meets instead of O(size squared).

    Parameters
    ----------
    rows
        The rows.
    members, size
        int64: the first `size` elements, two or more, are rows.
    without
        As many rows as `rows`; those of members are overwritten.
    before
        Scratch: the first `size` rows are overwritten.
    """
    # Step 1, forwards: row i of `before` is what members 0 to i have in common.
    put(before, ZERO, rows, members[0])
    for number in range(1, size):
        put(before, number, before, number - 1)
        meet(before, number, rows, members[number])
    # Step 2, backwards: row `after` of `before` now collects what the members behind have in
    # common.
    after = wide(size - 1)
    put(without, members[after], before, after - 1)
    put(before, after, rows, members[after])
    for number in range(after - 1, -1, -1):
        row = members[number]
        put(without, row, before, after)
        if number > 0:
            meet(without, row, before, number - 1)
        meet(before, after, rows, row)
