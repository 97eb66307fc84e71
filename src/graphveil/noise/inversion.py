"""Whole numbers of any law, exactly: inversion of the distribution function in integers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.noise.uniform import FULL, Words

FIRST_BITS = 384
"""Fractional bits of the first table; it is made again with twice as many where these do not do."""


class InversionTable(NamedTuple):
    """Bounds of a distribution function, P[X <= k] for k = 0, 1, ..., in units of 2^-bits.

    The true value lies between the two of the same index. Where `whole`, every k is listed but the
    largest, at which the distribution function is 1; else further ones are in the tail.
    """

    lower: list[int]
    upper: list[int]
    bits: int
    whole: bool


Tables = Callable[[int], InversionTable]
"""A function from fractional bits to the table of a law with as many."""


def inverted(words: Words, tables: Tables, bits: int, count: int) -> NDArray[np.int64]:
    """Return independent numbers of exactly this law.

    Parameters
    ----------
    words
        Where the randomness comes from.
    tables
        Bounds of the distribution function of the law, which starts at 0; at least one entry.
    bits
        The fractional bits of the first table.
    count
        How many numbers.

    Notes
    -----
    X is the number of k with P[X <= k] <= U, for a real number U that is uniform on [0, 1) and
    whose bits are drawn as they are needed. P[X <= k] is enclosed between two integers. Where the
    bits of U drawn so far do not decide on which side of that value it lies, further bits are
    drawn, and the enclosure is narrowed; with 64 bits this happens about once in 2**56 numbers.

    Examples
    --------
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> certain = InversionTable([1 << 384], [1 << 384], 384, whole=True)
    >>> inverted(words_from(Randomness(), "noise"), lambda bits: certain, 384, 3).tolist()
    [0, 0, 0]
    """
    table = tables(bits)
    lower, upper = (_top_words(values, table.bits) for values in (table.lower, table.upper))
    drawn = words(count)
    least = np.searchsorted(upper, drawn, side="left")
    beyond = least == lower.size
    decided = beyond | (lower[np.where(beyond, 0, least)] > drawn)
    for position in np.flatnonzero(~decided).tolist():
        least[position] = _extended(words, tables, table, int(drawn[position]))
    return least


def _top_words(values: list[int], bits: int) -> NDArray[np.uint64]:
    return np.array([min(value >> (bits - 64), FULL - 1) for value in values], dtype=np.uint64)


def _extended(words: Words, tables: Tables, table: InversionTable, first: int) -> int:
    """Return the value for a uniform number whose first word does not decide it."""
    number, width = first, 64
    while True:
        number, width = (number << 64) | int(words(1)[0]), width + 64
        if width > table.bits:
            table = tables(2 * table.bits)
        shift = table.bits - width
        least = bisect_right(table.upper, number << shift)
        most = bisect_left(table.lower, (number + 1) << shift)
        if least == most and (table.whole or least < len(table.lower)):
            return least
