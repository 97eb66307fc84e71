"""Exact random integers: uniform words, inversion, discrete Laplace, binomial, and the ladder.

The ladder mechanism is for vectors of counts that an edge changes by the number of common neighbors
of its ends, which differs from graph to graph. Noise of that size alone would reveal this number;
on the ladder, steps grow by one each, so that graphs that differ in one edge have steps that differ
by one place.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import partial
from math import comb
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import LARGEST_EPSILON
from graphveil.core.errors import DataError, ParameterError
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

    `randomness`: without a seed every word comes from the operating system: no generator's state
    stands between its entropy and the noise; `purpose`: a name that nothing else in the same run
    uses.

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

    The top bits of a word are taken as a number; one that is too large is sampled again.
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

    Integers are drawn until enough of them differ, never more at a time than are still missing: the
    set is the one of drawing them one by one. Above half of all, the complement is drawn.
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

    X is the number of k with P[X <= k] <= U, for U uniform on [0, 1), whose bits are drawn as
    needed. Where they do not decide on which side of an enclosed P[X <= k] it lies, more are drawn,
    and the enclosure is narrowed.
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


LONGEST = 1 << 15
"""The most entries of a table; a law that needs more is drawn digit by digit."""

DIGIT = 1 << 12
"""The base of those digits."""


def discrete_laplace(words: Words, epsilon: Fraction, count: int) -> NDArray[np.int64]:
    """Return independent whole numbers, each k with probability proportional to e^(-epsilon |k|).

    A number that one neighbor changes by at most 1 is released under `epsilon` with such noise. It
    is the difference of two geometric numbers. Time and memory grow with the digits of epsilon, at
    most 40: a larger one is refused with `ParameterError`, since tables would hold 0 alone.
    """
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ParameterError(
            f"epsilon={epsilon} is outside (0, {LARGEST_EPSILON}]. Choose a value in this range."
        )
    both = geometric(words, epsilon, 2 * count)
    return both[:count] - both[count:]


def geometric(words: Words, epsilon: Fraction, count: int) -> NDArray[np.int64]:
    """Return independent numbers, each k >= 0 with probability (1 - q) q^k for q = e^-epsilon.

    By inversion (`inverted`). Where a table would be too long, quotient and remainder by `DIGIT`
    are drawn: they are independent.
    """
    if FIRST_BITS * math.log(2) <= LONGEST * epsilon:
        return inverted(words, partial(geometric_law, epsilon), FIRST_BITS, count)
    quotient = geometric(words, epsilon * DIGIT, count)
    remainders = partial(remainder_law, epsilon, DIGIT)
    return quotient * DIGIT + inverted(words, remainders, FIRST_BITS, count)


def geometric_law(epsilon: Fraction, bits: int) -> InversionTable:
    """Return integer bounds of 1 - q^(k+1), the distribution function of the geometric law."""
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
    """Return integer bounds of (1 - q^(k+1)) / (1 - q^base): a geometric number modulo the base."""
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
    """Return two integers with 2^bits e^-epsilon between them."""
    digits = math.ceil(bits * math.log10(2)) + 10
    down, up = (Context(prec=digits, rounding=way) for way in (ROUND_FLOOR, ROUND_CEILING))
    numerator, denominator = Decimal(epsilon.numerator), Decimal(epsilon.denominator)
    low = down.next_minus(down.exp(up.divide(numerator, denominator).copy_negate()))
    high = up.next_plus(up.exp(down.divide(numerator, denominator).copy_negate()))
    return max(math.floor(Fraction(low) * (1 << bits)), 0), math.ceil(Fraction(high) * (1 << bits))


BLOCK_MEAN = 64
"""Trials are counted in blocks that expect about so many successes."""


def binomial(words: Words, trials: int, threshold: int) -> int:
    """Return how many of so many trials succeed, each with probability exactly T / 2**64.

    The law is exact: blocks of trials are sampled by inversion (`inverted`), with bounds rounded
    down and up. The cost grows with the expected count, not with the trials.
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

    `trials, threshold`: at least one trial; a threshold from 1 to 2**63; `bits`: the unit is
    2^-bits; at least 128 beyond those of P[X = 0].
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


LARGEST_RADIUS = 1 << 62
"""The largest sum of noise that is drawn; it is reached by no graph that fits into memory."""

GUARD_BITS = 64


class Steps(NamedTuple):
    """The steps of a ladder: step s is ``min(first + s, most)`` wide.

    `first, most`: at least 1, the first at most the second. By the first and less, one edge may
    change the sum of all counts; on graphs that differ in one edge it differs by one at most.
    """

    first: int
    most: int

    def radius(self, steps: int) -> int:
        """Return how far so many steps reach."""
        rising = min(steps, self.most - self.first)
        return rising * self.first + rising * (rising - 1) // 2 + (steps - rising) * self.most


def ladder(
    words: Words, counts: NDArray[np.int64], steps: Steps, rate: Fraction
) -> NDArray[np.int64]:
    """Return counts with noise: a vector at t steps from them has the chance e^(-rate t) / Z.

    t is the least number of steps that reach as far as the sum of all absolute differences. After
    Zhang et al., *Private Release of Graph Statistics using Ladder Functions*, for vectors.
    """
    tables = partial(ladder_law, steps, rate, counts.size)
    radius = steps.radius(int(inverted(words, tables, FIRST_BITS, 1)[0]))
    if radius > LARGEST_RADIUS:
        raise DataError(f"{steps.most + 2} nodes are too many for the noise on triangles.")
    return counts + point_within(words, counts.size, radius)


def rate_of(epsilon: Fraction, counts: int, floor: int) -> Fraction:
    """Return the rate that an epsilon buys for so many counts, where no first step is below floor.

    The chance of a vector changes by a factor of at most e^rate. Z does, too, and by at most
    e^(counts / (floor - counts + 1)).
    """
    if floor <= counts:
        return epsilon / 2
    return max(epsilon / 2, epsilon - Fraction(counts, floor - counts + 1))


def vectors_within(counts: int, radius: int) -> int:
    """Return how many vectors of whole numbers have absolute values that sum to at most radius."""
    return sum(2**i * comb(counts, i) * comb(radius, i) for i in range(counts + 1))


def point_within(words: Words, counts: int, radius: int) -> NDArray[np.int64]:
    """Return such a vector, each with the same chance."""
    drawn, some = _below(words, vectors_within(counts, radius)), 0
    while drawn >= (ways := 2**some * comb(counts, some) * comb(radius, some)):
        drawn, some = drawn - ways, some + 1
    point = np.zeros(counts, dtype=np.int64)
    if some:
        sums = np.sort(distinct(words, radius, some)) + 1
        signs = 1 - 2 * (words(some) >> np.uint64(63)).astype(np.int64)
        point[distinct(words, counts, some)] = signs * np.diff(sums, prepend=0)
    return point


def _below(words: Words, bound: int) -> int:
    """Return a whole number below a bound of any size, each with the same chance."""
    width = (bound - 1).bit_length()
    while True:
        number = 0
        for word in words(-(-width // 64)).tolist():
            number = number << 64 | word
        number >>= -width % 64
        if number < bound:
            return number


def ladder_law(steps: Steps, rate: Fraction, counts: int, bits: int) -> InversionTable:
    """Return bounds of the distribution function of tau, in proportion to e^(-rate tau) V(R_tau).

    V is `vectors_within`, R `Steps.radius`. A term's successor is at most q (1 + I / (R - counts +
    1))^counts of it, for the step I behind R, and this factor only falls. From where it is at most
    sqrt(q), all that follows is below ``term / (1 - sqrt(q))``; the table ends where that is below
    2^(-bits/4) of the sum.
    """
    fine = bits + GUARD_BITS
    low, high = power_bounds(rate, fine)
    root_low, root_high = power_bounds(rate / 2, fine)
    least = most = 1 << fine
    lower, upper, tau = [0], [0], 0
    while True:
        radius = steps.radius(tau)
        vectors = vectors_within(counts, radius)
        lower.append(lower[-1] + least * vectors)
        upper.append(upper[-1] + most * vectors)
        tail = -(-(most * vectors << fine) // ((1 << fine) - root_high))
        rest, width = radius - counts + 1, min(steps.first + tau, steps.most)
        falls = rest > 0 and high * (rest + width) ** counts <= root_low * rest**counts
        if falls and tail << (bits // 4) < lower[-1]:
            break
        tau += 1
        least, most = (least * low) >> fine, -((-most * high) >> fine)
    below, above = lower[-1], upper[-1] + tail
    return InversionTable(
        [(value << bits) // above for value in lower[1:]],
        [min(-((-value << bits) // below), 1 << bits) for value in upper[1:]],
        bits,
        whole=False,
    )
