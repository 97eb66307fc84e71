"""Uniform random words, and exact integers of any distribution by inversion."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.randomness import Randomness

Words: TypeAlias = Callable[[int], "NDArray[np.uint64]"]
"""A function from a count to as many independent uniform words of 64 bits."""

Cells: TypeAlias = "NDArray[np.int64]"
"""Sorted distinct cells."""

FULL = 1 << 64
"""The threshold of certainty."""

DENSE = 16
"""Sets of at least one in so many integers are marked on all of them, not sorted."""


def words_from(randomness: Randomness, purpose: str) -> Words:
    """Return the words of this purpose: the operating system's, or a seeded generator's.

    Parameters
    ----------
    randomness
        Without a seed every word comes from the operating system: no generator's state stands
        between its entropy and the noise.
    purpose
        A name that nothing else in the same run uses.

    Examples
    --------
    >>> words = words_from(Randomness(), "noise")
    >>> words(3).dtype.name, words(3).size
    ('uint64', 3)
    """
    if not randomness.seeded:
        return _system_words
    stream = randomness.stream(purpose)
    return lambda count: stream.integers(0, FULL - 1, size=count, dtype=np.uint64, endpoint=True)


def _system_words(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def bernoulli(words: Words, threshold: int, count: int) -> NDArray[np.bool_]:
    """Return independent events, each of probability exactly ``threshold / 2**64``.

    Examples
    --------
    >>> bernoulli(words_from(Randomness(), "coins"), FULL, 3).tolist()
    [True, True, True]
    """
    if threshold == FULL:
        return np.ones(count, dtype=np.bool_)
    return words(count) < np.uint64(threshold)


def below(words: Words, n: int, count: int) -> NDArray[np.int64]:
    """Return independent integers, each exactly uniform on 0..n-1, for n from 1 to 2**63.

    The top bits of a word are taken as a number; one that is too large is drawn anew.

    Examples
    --------
    >>> below(words_from(Randomness(), "draws"), 1, 3).tolist()
    [0, 0, 0]
    """
    width = (n - 1).bit_length()
    if width == 0:
        return np.zeros(count, dtype=np.int64)
    integers = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        drawn = (words(count - filled) >> np.uint64(64 - width)).view(np.int64)
        accepted = drawn[drawn < n]
        integers[filled : filled + accepted.size] = accepted
        filled += accepted.size
    return integers


def distinct(words: Words, n: int, count: int) -> Cells:
    """Return a set of exactly `count` of the integers 0..n-1, every such set equally likely.

    Integers are drawn until enough of them differ, never more at a time than are still missing:
    the set is the one of drawing them one by one. Above half of all, the complement is drawn.

    Examples
    --------
    >>> distinct(words_from(Randomness(), "draws"), 3, 3).tolist()
    [0, 1, 2]
    """
    if 2 * count > n:
        return np.flatnonzero(~_marked(words, n, n - count))
    if n <= DENSE * count:
        return np.flatnonzero(_marked(words, n, count))
    chosen = np.empty(0, dtype=np.int64)
    while chosen.size < count:
        drawn = np.sort(below(words, n, count - chosen.size))
        drawn = drawn[np.diff(drawn, prepend=-1) != 0]
        chosen = union(chosen, without(drawn, chosen))
    return chosen


def _marked(words: Words, n: int, count: int) -> NDArray[np.bool_]:
    """Return the same set as marks on all integers: for a large share of them."""
    marked = np.zeros(n, dtype=np.bool_)
    missing = count
    while missing:
        marked[below(words, n, missing)] = True
        missing = count - int(np.count_nonzero(marked))
    return marked


def contains(cells: Cells, candidates: Cells) -> NDArray[np.bool_]:
    """Return which of the candidates are among the cells; both are sorted.

    Examples
    --------
    >>> contains(np.array([2, 5]), np.array([1, 2, 7])).tolist()
    [False, True, False]
    """
    if cells.size == 0:
        return np.zeros(candidates.size, dtype=np.bool_)
    positions = np.minimum(np.searchsorted(cells, candidates), cells.size - 1)
    return np.asarray(cells[positions] == candidates)


def without(cells: Cells, excluded: Cells) -> Cells:
    """Return the cells that are not excluded; both are sorted.

    Examples
    --------
    >>> without(np.array([1, 2, 7]), np.array([2, 5])).tolist()
    [1, 7]
    """
    return cells[~contains(excluded, cells)]


def union(cells: Cells, added: Cells) -> Cells:
    """Return the cells of both in order; both are sorted, and no cell is in both.

    Examples
    --------
    >>> union(np.array([1, 7]), np.array([2, 5])).tolist()
    [1, 2, 5, 7]
    """
    return np.sort(np.concatenate([cells, added]), kind="stable")


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
    >>> from graphveil.methods.noise import words_from
    >>> from graphveil.core.randomness import Randomness
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
