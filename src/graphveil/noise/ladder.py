"""A vector of counts under noise as large as the data at hand needs: the ladder law, exactly.

An edge may change the counts by as much as its ends have neighbors in common, which differs from
graph to graph. Noise of that size alone would tell how many these are; here its steps grow, each
by one, so that graphs that differ in one edge have steps that differ by one place.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import DataError
from graphveil.noise.inversion import FIRST_BITS, InversionTable, inverted
from graphveil.noise.laplace import power_bounds
from graphveil.noise.uniform import Words, distinct

LARGEST_RADIUS = 1 << 62
"""The largest sum of noise that is drawn; it is reached by no graph that fits into memory."""

GUARD_BITS = 64


class Steps(NamedTuple):
    """The steps of a ladder: step s is ``min(first + s, most)`` wide.

    Parameters
    ----------
    first, most
        At least 1, the first at most the second. By the first and less, one edge may change the
        sum of all counts; on graphs that differ in one edge it differs by one at most.
    """

    first: int
    most: int

    def radius(self, steps: int) -> int:
        """Return how far so many steps reach.

        Examples
        --------
        >>> [Steps(first=2, most=3).radius(steps) for steps in range(5)]
        [0, 2, 5, 8, 11]
        """
        rising = min(steps, self.most - self.first)
        return rising * self.first + rising * (rising - 1) // 2 + (steps - rising) * self.most


def ladder(
    words: Words, counts: NDArray[np.int64], steps: Steps, rate: Fraction
) -> NDArray[np.int64]:
    """Return counts with noise: a vector at t steps from them has the chance e^(-rate t) / Z.

    Parameters
    ----------
    words
        Where the randomness comes from.
    counts
        int64: whole numbers, at least one.
    steps
        The ladder of this graph.
    rate
        Above 0. `rate_of` says which one an epsilon buys.

    Notes
    -----
    t is the least number of steps that reach as far as the sum of all absolute differences. After
    Zhang et al., *Private Release of Graph Statistics using Ladder Functions*, for vectors: tau is
    drawn in proportion to e^(-rate tau) times the number of vectors within tau steps, then one of
    these evenly.

    Examples
    --------
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> words = words_from(Randomness(), "triangles")
    >>> ladder(words, np.array([3, 4]), Steps(first=1, most=9), Fraction(40)).tolist()
    [3, 4]
    """
    tables = partial(ladder_law, steps, rate, counts.size)
    radius = steps.radius(int(inverted(words, tables, FIRST_BITS, 1)[0]))
    if radius > LARGEST_RADIUS:
        raise DataError(f"{steps.most + 2} nodes are too many for the noise on triangles.")
    return counts + point_within(words, counts.size, radius)


def rate_of(epsilon: Fraction, counts: int, floor: int) -> Fraction:
    """Return the rate that an epsilon buys for so many counts, where no first step is below floor.

    Parameters
    ----------
    epsilon
        The part of it that is to be spent.
    counts
        How many counts there are.
    floor
        At least 1, at most the first step on every graph.

    Notes
    -----
    The chance of a vector changes by a factor of at most e^rate, and Z by at most e^rate, and by
    at most e^(counts / (floor - counts + 1)).

    Examples
    --------
    >>> rate_of(Fraction(1), 4, 4), rate_of(Fraction(1), 4, 103)
    (Fraction(1, 2), Fraction(24, 25))
    """
    if floor <= counts:
        return epsilon / 2
    return max(epsilon / 2, epsilon - Fraction(counts, floor - counts + 1))


def vectors_within(counts: int, radius: int) -> int:
    """Return how many vectors of whole numbers have absolute values that sum to at most radius.

    Examples
    --------
    >>> vectors_within(1, 3), vectors_within(2, 1)
    (7, 5)
    """
    return sum(2**i * comb(counts, i) * comb(radius, i) for i in range(counts + 1))


def point_within(words: Words, counts: int, radius: int) -> NDArray[np.int64]:
    """Return such a vector, each with the same chance.

    Examples
    --------
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> point_within(words_from(Randomness(), "triangles"), 3, 0).tolist()
    [0, 0, 0]
    """
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

    Notes
    -----
    V is `vectors_within`, R `Steps.radius`. A term's successor is at most q (1 + I / (R - counts +
    1))^counts of it, for the step I behind R, and this factor only falls. From where it is at most
    sqrt(q), all that follows is below ``term / (1 - sqrt(q))``; the table ends where that is below
    2^(-bits/4) of the sum.

    Examples
    --------
    >>> table = ladder_law(Steps(first=1, most=1), Fraction(1), 1, 384)
    >>> round(table.lower[0] / 2**384, 4), table.upper[0] - table.lower[0] < 2**300, table.whole
    (0.2921, True, False)
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
