"""The binomial law, exactly: inversion of its distribution function in integers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

import numpy as np

from graphveil.noise.words import FULL, Words

BLOCK_MEAN = 64
"""Trials are counted in blocks that expect about so many successes."""

FIRST_BITS = 384
"""Fractional bits of the first table; it is made again with twice as many where these do not do."""


class Table(NamedTuple):
    """Bounds of a distribution function, P[X <= k] for k = 0, 1, ..., in units of 2^-bits.

    The true value lies between the two of the same index. Where `whole`, every k is listed but the
    largest, at which the distribution function is 1; else further ones are in the tail.
    """

    lower: list[int]
    upper: list[int]
    bits: int
    whole: bool


def binomial(words: Words, trials: int, threshold: int) -> int:
    """Return how many of so many trials succeed, each with probability exactly T / 2**64.

    Parameters
    ----------
    words
        Where the randomness comes from.
    trials
        Any number from 0 on; the cost grows with the expected count, not with it.
    threshold
        T, from 0 to 2**64.

    Notes
    -----
    The law is exact, not exact to some precision. A block of trials is sampled by inversion: X is
    the number of k with P[X <= k] <= U, for a real number U that is uniform on [0, 1) and whose
    bits are drawn as they are needed. P[X <= k] is enclosed between two integers (sums and
    products rounded down, and rounded up). Where the bits of U drawn so far do not decide on which
    side of that value it lies, further bits are drawn, and the enclosure is narrowed; with 64 bits
    this happens about once in 2**56 blocks.

    Examples
    --------
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> binomial(words_from(Randomness(), "count"), 1000, FULL)
    1000
    """
    if 2 * threshold > FULL:
        return trials - binomial(words, trials, FULL - threshold)
    if threshold == 0 or trials == 0:
        return 0
    size = min(trials, BLOCK_MEAN * FULL // threshold)
    blocks, rest = divmod(trials, size)
    return _total(words, size, threshold, blocks) + _total(words, rest, threshold, min(rest, 1))


def _total(words: Words, trials: int, threshold: int, blocks: int) -> int:
    """Return the successes of so many blocks of trials."""
    if blocks == 0:
        return 0
    table = distribution(trials, threshold, FIRST_BITS)
    lower, upper = (_top_words(values, table.bits) for values in (table.lower, table.upper))
    drawn = words(blocks)
    least = np.searchsorted(upper, drawn, side="left")
    most = np.searchsorted(lower, drawn, side="right")
    decided = least == most
    total = int(least[decided].sum())
    for word in drawn[~decided].tolist():
        total += _inverted(words, trials, threshold, word)
    return total


def _top_words(values: list[int], bits: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array([min(value >> (bits - 64), FULL - 1) for value in values], dtype=np.uint64)


def _inverted(words: Words, trials: int, threshold: int, first: int) -> int:
    """Return the value for a uniform number whose first word does not decide it."""
    number, width, table = first, 64, distribution(trials, threshold, FIRST_BITS)
    while True:
        number, width = (number << 64) | int(words(1)[0]), width + 64
        if width > table.bits:
            table = distribution(trials, threshold, 2 * table.bits)
        shift = table.bits - width
        least = bisect_right(table.upper, number << shift)
        most = bisect_left(table.lower, (number + 1) << shift)
        if least == most and (table.whole or least < len(table.lower)):
            return least


def distribution(trials: int, threshold: int, bits: int) -> Table:
    """Return integer bounds of the distribution function of the binomial law.

    Parameters
    ----------
    trials, threshold
        At least one trial; a threshold from 1 to 2**63.
    bits
        The unit is 2^-bits; at least 128 beyond those of P[X = 0].

    Examples
    --------
    >>> table = distribution(2, FULL // 2, 128)
    >>> [value / 2**128 for value in table.lower], table.lower == table.upper, table.whole
    ([0.25, 0.75], True, True)
    """
    failing = FULL - threshold
    low, high = _power(failing, trials, bits), _power(failing, trials, bits, up=True)
    lower, upper = [low], [high]
    for k in range(trials - 1):
        if high <= 1 and k * FULL > trials * threshold:
            return Table(lower, upper, bits, whole=False)
        above, beneath = (trials - k) * threshold, (k + 1) * failing
        low = low * above // beneath
        high = -(-high * above // beneath)
        lower.append(lower[-1] + low)
        upper.append(upper[-1] + high)
    return Table(lower, upper, bits, whole=True)


def _power(base: int, exponent: int, bits: int, *, up: bool = False) -> int:
    """Return ``2**bits * (base / 2**64)**exponent``, every product rounded down, or up."""
    sign = -1 if up else 1
    result, square = 1 << bits, base << (bits - 64)
    while exponent:
        if exponent & 1:
            result = sign * ((sign * result * square) >> bits)
        square = sign * ((sign * square * square) >> bits)
        exponent >>= 1
    return result
