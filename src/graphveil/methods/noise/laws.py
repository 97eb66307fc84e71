"""Exact samplers of whole numbers: uniform, discrete Laplace, geometric and binomial.

Differential privacy is proved for an exact law. A sampler that rounds real numbers has a different
law, and the difference has been used to break such releases (Mironov, *On significance of the least
significant bits for differential privacy*, CCS 2012). Everything here is made of independent
uniform 64-bit words by comparisons of integers, so the law is the one that is named, without error.

The central tool is inversion (`inverted`): X is the number of k with P[X <= k] <= U, for U uniform
on [0, 1). U is a word whose further bits are drawn only if needed. P[X <= k] is enclosed between
two integers over 2^bits; if the bits of U and the enclosure do not decide a comparison, both are
refined. So every comparison is that of the exact numbers, although neither is ever written in full.

Cost: a table per law, then a binary search per number.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import LARGEST_EPSILON
from graphveil.core.errors import ParameterError
from graphveil.core.randomness import Randomness

Words: TypeAlias = Callable[[int], "NDArray[np.uint64]"]
"""A function from a count to as many independent uniform words of 64 bits."""

Cells: TypeAlias = "NDArray[np.int64]"
"""Sorted distinct cells: int64, numbered as `graphveil.methods.noise.cells` does."""

FULL = 1 << 64
"""The threshold of probability 1: a threshold T stands for T / 2^64."""

DENSE = 16
"""A set of at least one in 16 integers is marked in an array of all of them, instead of sorted.

It decides between time and memory alone; the law of the set is the same.
"""


def words_from(randomness: Randomness, purpose: str) -> Words:
    """Return the words for one purpose: the operating system's, or a seeded generator's.

    Parameters
    ----------
    randomness
        Without a seed, every word comes from the operating system, without a generator in between.
        With a seed, the noise can be computed from it: such a run carries no guarantee.
    purpose
        A name that nothing else in the same run uses, so that the words are independent.

    Returns
    -------
    Words
        A function from a count to a uint64 array, shape (count,).

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
    """Return independent events, each of probability exactly ``threshold / 2**64``."""
    if threshold == FULL:
        return np.ones(count, dtype=np.bool_)
    return words(count) < np.uint64(threshold)


def below(words: Words, n: int, count: int) -> NDArray[np.int64]:
    """Return independent integers, each exactly uniform on 0..n-1, for n from 1 to 2**63.

    Rejection: the top bits of a word are a uniform number below the next power of two; one that is
    too large is sampled again. At least half of these numbers are below n, so that fewer than two
    words are expected per integer.
    """
    width = (n - 1).bit_length()
    if width == 0:
        return np.zeros(count, dtype=np.int64)
    integers = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        sampled = (words(count - filled) >> np.uint64(64 - width)).view(np.int64)
        accepted = sampled[sampled < n]
        integers[filled : filled + accepted.size] = accepted
        filled += accepted.size
    return integers


def distinct(words: Words, n: int, count: int) -> Cells:
    """Return a set of exactly `count` of the integers 0..n-1, every such set equally likely.

    Integers are sampled until enough of them differ, never more at a time than are still missing:
    so none has to be removed again, which would favor some. The set is that of sampling one by one
    and ignoring repetitions, which is uniform by symmetry. Above half of all integers, the
    complement is sampled.
    """
    if 2 * count > n:
        return np.flatnonzero(~_marked(words, n, n - count))
    if n <= DENSE * count:
        return np.flatnonzero(_marked(words, n, count))
    chosen = np.empty(0, dtype=np.int64)
    while chosen.size < count:
        sampled = np.sort(below(words, n, count - chosen.size))
        sampled = sampled[np.diff(sampled, prepend=-1) != 0]
        chosen = union(chosen, without(sampled, chosen))
    return chosen


def _marked(words: Words, n: int, count: int) -> NDArray[np.bool_]:
    """Return such a set as marks, bool, shape (n,): without sorting, for large sets."""
    marked = np.zeros(n, dtype=np.bool_)
    missing = count
    while missing:
        marked[below(words, n, missing)] = True
        missing = count - int(np.count_nonzero(marked))
    return marked


def contains(cells: Cells, candidates: Cells) -> NDArray[np.bool_]:
    """Return which of the candidates are among the cells; both are sorted."""
    if cells.size == 0:
        return np.zeros(candidates.size, dtype=np.bool_)
    positions = np.minimum(np.searchsorted(cells, candidates), cells.size - 1)
    return np.asarray(cells[positions] == candidates)


def without(cells: Cells, excluded: Cells) -> Cells:
    """Return the cells that are not excluded; both are sorted."""
    return cells[~contains(excluded, cells)]


def union(cells: Cells, added: Cells) -> Cells:
    """Return the cells of both in order; both are sorted, and no cell is in both."""
    return np.sort(np.concatenate([cells, added]), kind="stable")


FIRST_BITS = 384
"""Fractional bits of the first table of a law.

A word is compared with the top 64 of them; more are needed only if U agrees with a bound in all of
these. The rounding of a table grows with its length but stays far below 2^-64. If 384 bits do not
decide, the table is made again with twice as many.
"""


class InversionTable(NamedTuple):
    """Bounds of a distribution function, P[X <= k] for k = 0, 1, ..., in units of 2^-bits.

    Parameters
    ----------
    lower, upper
        Rising integers: the true value at each k is between the two.
    bits
        The unit is 2^-bits.
    whole
        Whether every k is listed but the largest, at which the distribution function is 1.
        Otherwise values beyond the last are possible, with a probability below 2^-64.
    """

    lower: list[int]
    upper: list[int]
    bits: int
    whole: bool


Tables = Callable[[int], InversionTable]
"""A function from fractional bits to the table of a law with as many."""


def inverted(words: Words, tables: Tables, bits: int, count: int) -> NDArray[np.int64]:
    """Return independent numbers of exactly this law, by inversion: int64, shape (count,).

    X is the number of k with P[X <= k] <= U, for U uniform on [0, 1): that is exactly the law with
    this distribution function. Bits of U are drawn as needed. If they do not decide on which side
    of an enclosed P[X <= k] it is, more are drawn, and the enclosure is narrowed.
    """
    # The first word w says that U is from w / 2^64 to below (w + 1) / 2^64.
    table = tables(bits)
    lower, upper = (_top_words(values, table.bits) for values in (table.lower, table.upper))
    first = words(count)
    # Values of k with an upper bound below w are certainly counted. If the lower bound of the next
    # is above w, the next is certainly not, and the number is decided. Beyond all listed values
    # it is the largest: a table that is not whole ends within 2^-64 of 1, and no word is beyond.
    least = np.searchsorted(upper, first, side="left")
    beyond = least == lower.size
    decided = beyond | (lower[np.where(beyond, 0, least)] > first)
    for position in np.flatnonzero(~decided).tolist():
        least[position] = _extended(words, tables, table, int(first[position]))
    return least


def _top_words(values: list[int], bits: int) -> NDArray[np.uint64]:
    return np.array([min(value >> (bits - 64), FULL - 1) for value in values], dtype=np.uint64)


def _extended(words: Words, tables: Tables, table: InversionTable, first: int) -> int:
    """Return the value for a uniform number whose first word does not decide it."""
    number, width = first, 64
    while True:
        # One more word: U is from number / 2^width to below (number + 1) / 2^width.
        number, width = (number << 64) | int(words(1)[0]), width + 64
        if width > table.bits:
            table = tables(2 * table.bits)
        # `least` values are certainly counted, values from `most` on certainly not.
        shift = table.bits - width
        least = bisect_right(table.upper, number << shift)
        most = bisect_left(table.lower, (number + 1) << shift)
        if least == most and (table.whole or least < len(table.lower)):
            return least


LONGEST = 1 << 15
"""The most entries of a table: epsilon from 0.0081 on. A smaller one is sampled digit by digit.

It bounds the memory of a table to a few megabytes.
"""

DIGIT = 1 << 12
"""The base of those digits: each digit multiplies epsilon by 4,096."""


def discrete_laplace(words: Words, epsilon: Fraction, count: int) -> NDArray[np.int64]:
    """Return independent whole numbers, each k with probability proportional to e^(-epsilon |k|).

    The law is P[X = k] = (1 - q)/(1 + q) q^|k|, for q = e^-epsilon, exactly. It is the difference
    of two independent geometric numbers of that q.

    Parameters
    ----------
    words
        Uniform words.
    epsilon
        Above 0, at most 40 (`LARGEST_EPSILON`). Time and memory grow with the digits of the
        fraction.
    count
        How many numbers.

    Returns
    -------
    int64 array, shape (count,)
        The noise.

    Raises
    ------
    ParameterError
        If `epsilon` is out of range.

    Notes
    -----
    Sensitivity: a number that neighboring data changes by at most 1 satisfies epsilon with this
    noise, since |k| changes by at most 1 for every published value. A vector whose L1 norm changes
    by at most s satisfies epsilon if each entry has the noise of epsilon / s. This is the geometric
    mechanism (Ghosh, Roughgarden and Sundararajan, STOC 2009).
    """
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ParameterError(
            f"epsilon={epsilon} is outside (0, {LARGEST_EPSILON}]. Choose a value in this range."
        )
    both = geometric(words, epsilon, 2 * count)
    return both[:count] - both[count:]


def geometric(words: Words, epsilon: Fraction, count: int) -> NDArray[np.int64]:
    """Return independent numbers, each k >= 0 with probability (1 - q) q^k for q = e^-epsilon.

    The law is exact, by inversion (`inverted`). If a table would be too long, the number k = aD + r
    is sampled by its quotient a and its remainder r, for D = `DIGIT`. Since q^k = (q^D)^a q^r, the
    two are independent: a is geometric with D epsilon, and r has a table of D - 1 entries.
    """
    # A table ends where q^k is below 2^-FIRST_BITS, after FIRST_BITS ln(2) / epsilon entries.
    if FIRST_BITS * math.log(2) <= LONGEST * epsilon:
        return inverted(words, partial(geometric_law, epsilon), FIRST_BITS, count)
    quotient = geometric(words, epsilon * DIGIT, count)
    remainders = partial(remainder_law, epsilon, DIGIT)
    return quotient * DIGIT + inverted(words, remainders, FIRST_BITS, count)


def geometric_law(epsilon: Fraction, bits: int) -> InversionTable:
    """Return integer bounds of 1 - q^(k+1), the distribution function of the geometric law."""
    low, high = power_bounds(epsilon, bits)
    # `least` and `most` enclose q^(k + 1): they are rounded down and up at every product. The table
    # ends if `most` is 1, or if rounding keeps it from falling: then q^(k + 1) is far below 2^-64.
    lower: list[int] = []
    upper: list[int] = []
    least, most, before = low, high, 1 << bits
    while 1 < most < before:
        lower.append((1 << bits) - most)
        upper.append((1 << bits) - least)
        before, least, most = most, (least * low) >> bits, -((-most * high) >> bits)
    return InversionTable(lower, upper, bits, whole=False)


def remainder_law(epsilon: Fraction, base: int, bits: int) -> InversionTable:
    """Return integer bounds of (1 - q^(k+1)) / (1 - q^base), for a geometric number modulo base."""
    # `least` and `most` enclose q^(k + 1), as in `geometric_law`. A lower bound of the quotient has
    # the lower bound of its numerator over the upper one of its denominator, an upper bound the
    # opposite.
    low, high = power_bounds(epsilon, bits)
    full = 1 << bits
    base_low, base_high = power_bounds(epsilon * base, bits)
    lower: list[int] = []
    upper: list[int] = []
    least, most = low, high
    for _ in range(base - 1):
        lower.append(max(full - most, 0) * full // (full - base_low))
        upper.append(min(-((least - full) * full // (full - base_high)), full))
        least, most = (least * low) >> bits, -((-most * high) >> bits)
    return InversionTable(lower, upper, bits, whole=True)


def power_bounds(epsilon: Fraction, bits: int) -> tuple[int, int]:
    """Return two integers with 2^bits e^-epsilon between them."""
    # Ten decimal digits more than the bits need keep the bounds at most two integers apart.
    # `Decimal.exp` rounds to the nearest in any context: the next number down, or up, is a bound.
    digits = math.ceil(bits * math.log10(2)) + 10
    down, up = (Context(prec=digits, rounding=way) for way in (ROUND_FLOOR, ROUND_CEILING))
    numerator, denominator = Decimal(epsilon.numerator), Decimal(epsilon.denominator)
    low = down.next_minus(down.exp(up.divide(numerator, denominator).copy_negate()))
    high = up.next_plus(up.exp(down.divide(numerator, denominator).copy_negate()))
    return max(math.floor(Fraction(low) * (1 << bits)), 0), math.ceil(Fraction(high) * (1 << bits))


BLOCK_MEAN = 64
"""Trials are counted in blocks that expect about this many successes.

With it, P[X = 0] in a block is from 2^-128 (128 trials of probability 1/2) to about e^-64 = 2^-92
(many trials of a small one), well inside the 384 bits of a table. Larger blocks need longer tables,
smaller ones more draws.
"""


def binomial(words: Words, trials: int, threshold: int) -> int:
    """Return how many of `trials` trials succeed, each with probability exactly threshold / 2**64.

    The law is exact: the trials are divided into blocks, whose counts are independent and sampled
    by inversion (`inverted`). The cost grows with the expected count, not with the trials.
    """
    # Above 1/2 count the failures.
    if 2 * threshold > FULL:
        return trials - binomial(words, trials, FULL - threshold)
    if threshold == 0 or trials == 0:
        return 0
    size = min(trials, BLOCK_MEAN * FULL // threshold)
    blocks, rest = divmod(trials, size)
    return _total(words, size, threshold, blocks) + _total(words, rest, threshold, min(rest, 1))


def _total(words: Words, trials: int, threshold: int, blocks: int) -> int:
    """Return the successes of `blocks` independent blocks of `trials` trials each."""
    if blocks == 0:
        return 0
    tables = partial(distribution, trials, threshold)
    return int(inverted(words, tables, FIRST_BITS, blocks).sum())


def distribution(trials: int, threshold: int, bits: int) -> InversionTable:
    """Return integer bounds of the distribution function of the binomial law.

    `trials`: at least one; `threshold`: from 1 to 2**63; `bits`: the unit is 2^-bits, with at least
    128 bits more than P[X = 0] needs.
    """
    # P[X = 0] by repeated squaring, then each probability from the one before:
    # P[X = k + 1] / P[X = k] = (trials - k) T / ((k + 1) (2^64 - T)).
    failing = FULL - threshold
    low, high = _power(failing, trials, bits), _power(failing, trials, bits, up=True)
    lower, upper = [low], [high]
    for k in range(trials - 1):
        # Beyond the mean, probabilities fall. One of at most a unit of 2^-bits ends the table.
        if high <= 1 and k * FULL > trials * threshold:
            return InversionTable(lower, upper, bits, whole=False)
        numerator, denominator = (trials - k) * threshold, (k + 1) * failing
        low = low * numerator // denominator
        high = -(-high * numerator // denominator)
        lower.append(lower[-1] + low)
        upper.append(upper[-1] + high)
    return InversionTable(lower, upper, bits, whole=True)


def _power(base: int, exponent: int, bits: int, *, up: bool = False) -> int:
    """Return ``2**bits * (base / 2**64)**exponent``, every product rounded down, or up."""
    # `>>` rounds down; of the negated product it rounds down, too, and so the product up.
    sign = -1 if up else 1
    result, square = 1 << bits, base << (bits - 64)
    while exponent:
        if exponent & 1:
            result = sign * ((sign * result * square) >> bits)
        square = sign * ((sign * square * square) >> bits)
        exponent >>= 1
    return result
