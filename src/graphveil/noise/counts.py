"""The binomial law, exactly: inversion of its distribution function in integers."""

from __future__ import annotations

from functools import partial

from graphveil.noise.inversion import FIRST_BITS, InversionTable, inverted
from graphveil.noise.uniform import FULL, Words

BLOCK_MEAN = 64
"""Trials are counted in blocks that expect about so many successes."""


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
    The law is exact, not exact to some precision: a block of trials is sampled by inversion of its
    distribution function (`inverted`). Bounds are sums and products rounded down, and rounded up.

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
    tables = partial(distribution, trials, threshold)
    return int(inverted(words, tables, FIRST_BITS, blocks).sum())


def distribution(trials: int, threshold: int, bits: int) -> InversionTable:
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
            return InversionTable(lower, upper, bits, whole=False)
        above, beneath = (trials - k) * threshold, (k + 1) * failing
        low = low * above // beneath
        high = -(-high * above // beneath)
        lower.append(lower[-1] + low)
        upper.append(upper[-1] + high)
    return InversionTable(lower, upper, bits, whole=True)


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
