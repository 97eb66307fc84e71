"""The probabilities of randomized response, recomputed in exact fractions.

A cell that is 0 in the original is published with probability T0 / 2^64, a cell that is 1 with T1
/ 2^64. The guarantee of one cell holds if and only if both T1 / T0 and (1 - T0) / (1 - T1) are at
most e^epsilon; with integers and a certified bound on e^epsilon that is decided exactly.

Cost: a few big-integer operations per threshold; for blocks O(classes^2) of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from graphveil.claims.conditions import BlockFlips

FULL = 1 << 64
"""Probabilities are whole numbers of 64 bits: so many are certainty."""

_DIGITS = Context(prec=120, rounding=ROUND_FLOOR)
"""Decimal digits of e^epsilon; far more than the 64 bits of a threshold need."""

_RELATIVE_ERROR = Fraction(1, 10**100)


class Factor(NamedTuple):
    """A lower and an upper bound on e^epsilon, as fractions."""

    low: Fraction
    high: Fraction


def factor_of(epsilon: Fraction) -> Factor:
    """Return bounds on e^epsilon that are closer than one part in 10^99.

    An epsilon of at least 0 has a factor of at least 1, however few digits it has left.

    >>> factor_of(Fraction(1, 10**300)).low, factor_of(Fraction(-1)).high < 1
    (Fraction(1, 1), True)
    """
    # 120 digits, rounded down; widened by 10^-100 to certain bounds on both sides.
    rounded = Decimal(epsilon.numerator) / 1
    power = Fraction(_DIGITS.exp(_DIGITS.divide(rounded, Decimal(epsilon.denominator))))
    low = power * (1 - _RELATIVE_ERROR)
    return Factor(max(low, Fraction(1)) if epsilon >= 0 else low, power * (1 + _RELATIVE_ERROR))


def keeps_its_claim(zero: int, one: int, epsilon: Fraction) -> bool:
    """Whether both likelihood ratios of a cell are at most e^epsilon, decided exactly."""
    # The lower bound on e^epsilon, so that only a true inequality passes.
    largest = factor_of(epsilon).low
    return one <= largest * zero and FULL - zero <= largest * (FULL - one)


def response_thresholds(prior: Fraction, epsilon: Fraction) -> tuple[int, int]:
    """Return the two probabilities, times 2^64, that keep most ones at the expected size.

    With L = e^epsilon a cell of 0 has prior / (1 - prior + prior L), rounded up; a cell of 1 has L
    times that, or the most that keeps the chances of not being published within L where that is
    less. Of a prior above 1/2 zeros and ones swap roles. They may be off by one.
    """
    # By symmetry only sparse data, with a prior of at most 1/2, needs a formula.
    if prior > Fraction(1, 2):
        zero, one = response_thresholds(1 - prior, epsilon)
        return FULL - one, FULL - zero
    largest = factor_of(epsilon).low
    zero = math.ceil(FULL * prior / (1 - prior + prior * largest))
    return zero, min(math.floor(largest * zero), FULL - math.ceil((FULL - zero) / largest))


def filter_thresholds(cells: int, count: int, epsilon: Fraction) -> tuple[int, int]:
    """Return the two probabilities, times 2^64, of the thresholds of the Top-m Filter.

    Where epsilon > x = ln(cells/count - 1), the threshold x/(2 epsilon) + 1/2 lies between both
    kinds of cells: a zero passes with exp(-(x + epsilon)/2)/2 and a one fails with
    exp((x - epsilon)/2)/2. Else both pass with tails, of cells/count - 1 + exp(epsilon). A one
    passes at least as often as a zero, whatever rounding does.
    """
    odds, factor = Fraction(cells, count) - 1, factor_of(epsilon).low
    # The threshold lies between both kinds of cells; square roots to 300 bits.
    if factor > odds:
        root = Fraction(math.isqrt(math.floor(odds / factor * (1 << 600))), 1 << 300)
        zero, one = root / odds / 2, 1 - root / 2
    else:
        zero = 1 / (odds + factor)
        one = factor * zero
    # Round such that the pair of probabilities still keeps epsilon exactly.
    rounded = math.ceil(FULL * zero)
    most = min(math.floor(factor * rounded), FULL - math.ceil((FULL - rounded) / factor))
    return rounded, max(rounded, min(math.floor(FULL * one), most))


class CellBlock(NamedTuple):
    """The pairs of nodes of two classes."""

    cells: int
    zero: int
    one: int


def blocks_of(flips: BlockFlips) -> Iterator[CellBlock]:
    """Yield every block, of the classes a <= b."""
    largest = factor_of(Fraction(flips.epsilon_cells)).low
    # Each pair of classes a <= b has one prior and so one pair of probabilities.
    for a, size in enumerate(flips.sizes):
        for b in range(a, len(flips.sizes)):
            cells = size * (size - 1) // 2 if a == b else size * flips.sizes[b]
            yield CellBlock(cells, *_chances(_prior(flips, a, b), largest))


def _prior(flips: BlockFlips, a: int, b: int) -> int:
    """Return the share of edges that is assumed between two classes, times 2^64."""
    odds = Fraction(int(flips.weights[a]) * int(flips.weights[b]), flips.UNIT**2)
    share = odds / (1 + odds) * _factor(flips, a, b)
    return max(1, min(int(FULL * share), FULL * 999 // 1000))


def _factor(flips: BlockFlips, a: int, b: int) -> Fraction:
    if not flips.groups:
        return Fraction(1)
    g, h = sorted((flips.groups[a], flips.groups[b]))
    size = max(flips.groups) + 1
    row = g * size - g * (g - 1) // 2
    return Fraction(int(flips.factors[row + h - g]), flips.UNIT)


def _chances(prior: int, largest: Fraction) -> tuple[int, int]:
    """Return the two probabilities for a prior, times 2^64; above 1/2 they swap roles."""
    if 2 * prior > FULL:
        zero, one = _chances(FULL - prior, largest)
        return FULL - one, FULL - zero
    up, down = largest.as_integer_ratio()
    zero = 1 + (FULL * prior * down - 1) // ((FULL - prior) * down + prior * up)
    lost = 1 + ((FULL - zero) * down - 1) // up
    return zero, min(up * zero // down, FULL - lost)
