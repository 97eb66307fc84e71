"""The discrete Laplace law, exactly and for whole arrays: the noise of a released count."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.epsilon import LARGEST_EPSILON
from graphveil.errors import ParameterError
from graphveil.noise.inversion import FIRST_BITS, InversionTable, inverted
from graphveil.noise.uniform import Words

LONGEST = 1 << 15
"""The most entries of a table; a law that needs more is drawn digit by digit."""

DIGIT = 1 << 12
"""The base of those digits."""


def discrete_laplace(words: Words, epsilon: Fraction, count: int) -> NDArray[np.int64]:
    """Return independent whole numbers, each k with probability proportional to e^(-epsilon |k|).

    A number that one neighbor changes by at most 1 is released under `epsilon` if such noise is
    added to it.

    Parameters
    ----------
    words
        Where the randomness comes from.
    epsilon
        Above 0, at most 40; time and memory grow with its digits, not with 1/epsilon.
    count
        How many numbers.

    Raises
    ------
    ParameterError
        Where epsilon is out of range: for a larger one the tables would hold 0 alone.

    Notes
    -----
    The difference of two geometric numbers of the same law.

    Examples
    --------
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> noise = discrete_laplace(words_from(Randomness(seed=1), "noise"), Fraction(1, 2), 1000)
    >>> noise.size, bool(abs(noise.mean()) < 1)
    (1000, True)
    """
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ParameterError(f"epsilon={epsilon} is outside (0, {LARGEST_EPSILON}]. Give less.")
    both = geometric(words, epsilon, 2 * count)
    return both[:count] - both[count:]


def geometric(words: Words, epsilon: Fraction, count: int) -> NDArray[np.int64]:
    """Return independent numbers, each k >= 0 with probability (1 - q) q^k for q = e^-epsilon.

    Parameters
    ----------
    words, epsilon, count
        As in `discrete_laplace`.

    Notes
    -----
    By inversion (`inverted`). Where a table would be too long, quotient and remainder by `DIGIT`
    are drawn: they are independent, the quotient is geometric with q^DIGIT, the remainder has the
    same law as the number, cut off.

    Examples
    --------
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> bool(geometric(words_from(Randomness(), "noise"), Fraction(1), 3).min() >= 0)
    True
    """
    if FIRST_BITS * math.log(2) <= LONGEST * epsilon:
        return inverted(words, partial(geometric_law, epsilon), FIRST_BITS, count)
    quotient = geometric(words, epsilon * DIGIT, count)
    remainders = partial(remainder_law, epsilon, DIGIT)
    return quotient * DIGIT + inverted(words, remainders, FIRST_BITS, count)


def geometric_law(epsilon: Fraction, bits: int) -> InversionTable:
    """Return integer bounds of 1 - q^(k+1), the distribution function of the geometric law.

    Examples
    --------
    >>> table = geometric_law(Fraction(1), 128)
    >>> round(table.lower[0] / 2**128, 6), table.upper[0] - table.lower[0] < 4, table.whole
    (0.632121, True, False)
    """
    low, high = power_bounds(epsilon, bits)
    lower: list[int] = []
    upper: list[int] = []
    least, most, before = low, high, 1 << bits
    while 1 < most < before:
        lower.append((1 << bits) - most)
        upper.append((1 << bits) - least)
        before, least, most = most, (least * low) >> bits, -((-most * high) >> bits)
    return InversionTable(lower, upper, bits, whole=False)


def remainder_law(epsilon: Fraction, base: int, bits: int) -> InversionTable:
    """Return integer bounds of (1 - q^(k+1)) / (1 - q^base): a geometric number modulo the base.

    Examples
    --------
    >>> table = remainder_law(Fraction(1), 2, 128)
    >>> round(table.lower[0] / 2**128, 6), len(table.lower), table.whole
    (0.731059, 1, True)
    """
    low, high = power_bounds(epsilon, bits)
    full = 1 << bits
    last_low, last_high = power_bounds(epsilon * base, bits)
    lower: list[int] = []
    upper: list[int] = []
    least, most = low, high
    for _ in range(base - 1):
        lower.append(max(full - most, 0) * full // (full - last_low))
        upper.append(min(-((least - full) * full // (full - last_high)), full))
        least, most = (least * low) >> bits, -((-most * high) >> bits)
    return InversionTable(lower, upper, bits, whole=True)


def power_bounds(epsilon: Fraction, bits: int) -> tuple[int, int]:
    """Return two integers with 2^bits e^-epsilon between them.

    Examples
    --------
    >>> low, high = power_bounds(Fraction(1), 64)
    >>> low / 2**64, high - low <= 2
    (0.36787944117144233, True)
    """
    digits = math.ceil(bits * math.log10(2)) + 10
    down, up = (Context(prec=digits, rounding=way) for way in (ROUND_FLOOR, ROUND_CEILING))
    numerator, denominator = Decimal(epsilon.numerator), Decimal(epsilon.denominator)
    low = down.next_minus(down.exp(up.divide(numerator, denominator).copy_negate()))
    high = up.next_plus(up.exp(down.divide(numerator, denominator).copy_negate()))
    return max(math.floor(Fraction(low) * (1 << bits)), 0), math.ceil(Fraction(high) * (1 << bits))
