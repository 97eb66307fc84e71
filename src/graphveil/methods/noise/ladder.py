"""The ladder mechanism for vectors of counts that one edge changes by a data-dependent amount.

One edge changes the number of triangles by the number of common neighbors of its ends, which
differs from graph to graph. Noise of that size alone would reveal the number. On a ladder (Zhang et
al., *Private Release of Graph Statistics using Ladder Functions*, SIGMOD 2015), the noise is a
number of steps, and the step s is as wide as the change could be after s edges were changed.

Departure: the paper releases one number; here a whole vector is released, whose L1 distance from
the true one is measured in steps. Write R_t for the reach of t steps, and t(x) for the least t with
|x - counts|_1 <= R_t. The law is P[x] = e^(-rate t(x)) / Z, exactly.

Why it is private: on graphs that differ in one edge, |counts - counts'|_1 is at most the first
step, and the first steps differ by at most 1, so step s of one graph is at most step s + 1 of the
other. Then t(x) differs by at most 1, and e^(-rate t(x)) by a factor e^rate. The normalization Z
differs too: see `rate_of`. The two factors together are e^epsilon.

Cost: one table of big integers, whose length grows as 1/rate, and a binary search.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError
from graphveil.methods.noise import laws

LARGEST_RADIUS = 1 << 62
"""The largest reach of a draw: integers below it are sampled in words of 64 bits.

The reach is at most the number of nodes times the number of steps, so a graph that fits into memory
stays far below it.
"""

GUARD_BITS = 64
"""Bits beyond those of a table in which its sums are computed: rounding hardly widens it."""


class Steps(NamedTuple):
    """The steps of a ladder: step s = 0, 1, ... is ``min(first + s, most)`` wide.

    Parameters
    ----------
    first
        At least 1: at least the L1 norm by which one edge may change the counts of this graph. On
        graphs that differ in one edge it must differ by at most 1: the proof needs both.
    most
        At least `first`: no edge of any graph of this size changes the counts by more.
    """

    first: int
    most: int

    def radius(self, steps: int) -> int:
        """Return how far so many steps reach: R_t, the sum of the first t steps."""
        rising = min(steps, self.most - self.first)
        return rising * self.first + rising * (rising - 1) // 2 + (steps - rising) * self.most


def ladder(
    words: laws.Words, counts: NDArray[np.int64], steps: Steps, rate: Fraction
) -> NDArray[np.int64]:
    """Return noisy counts: a vector at t steps from them has the probability e^(-rate t) / Z.

    The law is exact. Draw tau with probability proportional to q^tau V(R_tau), for q = e^-rate and
    V(R) the number of vectors of L1 norm at most R, then a uniform vector of norm at most R_tau. A
    vector at t steps then has a probability proportional to the sum of q^tau over tau >= t, which
    is q^t / (1 - q).

    Parameters
    ----------
    words
        Uniform words.
    counts
        int64, shape (K,): the true counts.
    steps
        The ladder of this graph.
    rate
        Of `rate_of`.

    Returns
    -------
    int64 array, shape (K,)
        The noisy counts, of any sign.

    Raises
    ------
    DataError
        If the noise could exceed `LARGEST_RADIUS`.
    """
    tables = partial(ladder_law, steps, rate, counts.size)
    radius = steps.radius(int(laws.inverted(words, tables, laws.FIRST_BITS, 1)[0]))
    if radius > LARGEST_RADIUS:
        raise DataError(f"{steps.most + 2} nodes are too many for the noise on triangles.")
    return counts + point_within(words, counts.size, radius)


def rate_of(epsilon: Fraction, counts: int, floor: int) -> Fraction:
    """Return the rate at which the ladder of `counts` numbers satisfies epsilon.

    `floor`: no first step is below it, on any graph; it must be public or already released.

    The probability of a vector has two factors that one edge changes. Its numerator e^(-rate t)
    changes by at most e^rate. Z changes by at most e^rate as well, for the same reason. So half of
    epsilon is always enough.

    A large floor leaves nearly all of it to the numerator. Up to a factor 1 - q, Z is the sum of
    q^tau V(R_tau) over all tau (`ladder`). An edge changes each step by at most 1, so R_tau by at
    most tau, while R_tau is at least tau x floor. V is a sum of multiples of C(R_tau, i), for i up
    to counts. Each of these changes by at most a factor (1 + 1/(floor - counts + 1))^counts, which
    is below e^(counts / (floor - counts + 1)), and so does Z. The rate is epsilon less this
    exponent.
    """
    if floor <= counts:
        return epsilon / 2
    return max(epsilon / 2, epsilon - Fraction(counts, floor - counts + 1))


def vectors_within(counts: int, radius: int) -> int:
    """Return how many vectors of whole numbers have an L1 norm of at most `radius`.

    With i coordinates that are not 0: which ones, their signs, and their partial sums, i distinct
    numbers from 1 to `radius`.
    """
    return sum(2**i * comb(counts, i) * comb(radius, i) for i in range(counts + 1))


def point_within(words: laws.Words, counts: int, radius: int) -> NDArray[np.int64]:
    """Return a vector of whole numbers with an L1 norm of at most `radius`, exactly uniform."""
    # How many coordinates are not 0, in proportion to the number of such vectors.
    index, nonzero = _below(words, vectors_within(counts, radius)), 0
    while index >= (ways := 2**nonzero * comb(counts, nonzero) * comb(radius, nonzero)):
        index, nonzero = index - ways, nonzero + 1
    # Their magnitudes are the differences of distinct partial sums; signs and places are uniform.
    point = np.zeros(counts, dtype=np.int64)
    if nonzero:
        sums = np.sort(laws.distinct(words, radius, nonzero)) + 1
        signs = 1 - 2 * (words(nonzero) >> np.uint64(63)).astype(np.int64)
        point[laws.distinct(words, counts, nonzero)] = signs * np.diff(sums, prepend=0)
    return point


def _below(words: laws.Words, bound: int) -> int:
    """Return a whole number below a bound of any size, exactly uniform, by rejection."""
    width = (bound - 1).bit_length()
    while True:
        number = 0
        for word in words(-(-width // 64)).tolist():
            number = number << 64 | word
        number >>= -width % 64
        if number < bound:
            return number


def ladder_law(steps: Steps, rate: Fraction, counts: int, bits: int) -> laws.InversionTable:
    """Return bounds of the distribution function of tau, in proportion to q^tau V(R_tau).

    V is `vectors_within`, R_tau `Steps.radius`, q = e^-rate. The sum over all tau has no closed
    form: terms are added up, and what follows is bounded. A term's successor is at most
    q (1 + I / (R - counts + 1))^counts of it, for the step I after R, and this factor only falls.
    From where it is at most sqrt(q), all that follows is below ``term / (1 - sqrt(q))``; the table
    ends where that is below 2^(-bits/4) of the sum. For the first table that is 2^-96, well below
    the 2^-64 that `InversionTable` asks for; a finer table ends later.
    """
    # Powers of q, and of its root, between integers with bits to spare. `least` and `most` enclose
    # q^tau, `lower` and `upper` the sums of the terms before tau.
    fine = bits + GUARD_BITS
    low, high = laws.power_bounds(rate, fine)
    root_low, root_high = laws.power_bounds(rate / 2, fine)
    least = most = 1 << fine
    lower, upper, tau = [0], [0], 0
    while True:
        radius = steps.radius(tau)
        vectors = vectors_within(counts, radius)
        lower.append(lower[-1] + least * vectors)
        upper.append(upper[-1] + most * vectors)
        # Bound what follows, and end where the factor is at most sqrt(q), so that the bound holds:
        # q ((R - counts + 1 + I) / (R - counts + 1))^counts <= sqrt(q), in whole numbers.
        tail = -(-(most * vectors << fine) // ((1 << fine) - root_high))
        base, width = radius - counts + 1, min(steps.first + tau, steps.most)
        bounded = base > 0 and high * (base + width) ** counts <= root_low * base**counts
        if bounded and tail << (bits // 4) < lower[-1]:
            break
        tau += 1
        least, most = (least * low) >> fine, -((-most * high) >> fine)
    # Divide by the total, which is between the sum so far and the sum with the bound.
    below, above = lower[-1], upper[-1] + tail
    return laws.InversionTable(
        [(value << bits) // above for value in lower[1:]],
        [min(-((-value << bits) // below), 1 << bits) for value in upper[1:]],
        bits,
        whole=False,
    )
