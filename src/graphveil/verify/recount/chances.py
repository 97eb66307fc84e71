"""Probabilities of published cells and of blocks, recomputed from what a release states of them.

Cells: in decimal arithmetic with bounds on its error. Blocks: as integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from graphveil.claims.conditions import BlockFlips

FULL = 1 << 64

_DIGITS = Context(prec=120, rounding=ROUND_FLOOR)
_RELATIVE_ERROR = Fraction(1, 10**100)

IMPOSSIBLE = 1e-12
"""A number of flips that far out, or farther, has at most this probability."""


class Factor(NamedTuple):
    """Two fractions with e^epsilon between them."""

    low: Fraction
    high: Fraction


def factor_of(epsilon: Fraction) -> Factor:
    """Return bounds on e^epsilon that are closer than one part in 10^99.

    Examples
    --------
    >>> low, high = factor_of(Fraction(1))
    >>> float(low), float(high)
    (2.718281828459045, 2.718281828459045)
    """
    rounded = Decimal(epsilon.numerator) / 1
    power = Fraction(_DIGITS.exp(_DIGITS.divide(rounded, Decimal(epsilon.denominator))))
    return Factor(power * (1 - _RELATIVE_ERROR), power * (1 + _RELATIVE_ERROR))


def keeps_its_claim(zero: int, one: int, epsilon: Fraction) -> bool:
    """Whether no cell's value changes any probability by a factor above e^epsilon, exactly.

    Parameters
    ----------
    zero, one
        The chances of a cell of 0 and of 1 to be published as 1, times 2^64.
    epsilon
        The part of epsilon that one cell has.

    Examples
    --------
    >>> keeps_its_claim(FULL // 4, FULL // 2, Fraction(1)), keeps_its_claim(0, 1, Fraction(9))
    (True, False)
    """
    largest = factor_of(epsilon).low
    return one <= largest * zero and FULL - zero <= largest * (FULL - one)


def thresholds(prior: Fraction, epsilon: Fraction) -> tuple[int, int]:
    """Return the two chances, times 2^64, that publish most ones for the expected size.

    Parameters
    ----------
    prior
        The assumed share of ones, strictly between 0 and 1.
    epsilon
        The part of epsilon that one cell has.

    Notes
    -----
    With L = e^epsilon a cell of 0 has prior / (1 - prior + prior L), rounded up; a cell of 1 has L
    times that, or the most that keeps the chances of not being published within L where that is
    less. Of a prior above 1/2 zeros and ones swap roles. They may be off by one.

    Examples
    --------
    >>> zero, one = thresholds(Fraction(1, 2), Fraction(2))
    >>> round(zero / FULL, 6), round(one / FULL, 6)
    (0.119203, 0.880797)
    """
    if prior > Fraction(1, 2):
        zero, one = thresholds(1 - prior, epsilon)
        return FULL - one, FULL - zero
    largest = factor_of(epsilon).low
    zero = math.ceil(FULL * prior / (1 - prior + prior * largest))
    return zero, min(math.floor(largest * zero), FULL - math.ceil((FULL - zero) / largest))


def filter_thresholds(cells: int, count: int, epsilon: Fraction) -> tuple[int, int]:
    """Return the two chances, times 2^64, that the thresholds of the Top-m Filter give.

    Parameters
    ----------
    cells, count
        The number of cells, and the noisy number of ones.
    epsilon
        The part of epsilon that one cell has.

    Notes
    -----
    Where epsilon > x = ln(cells/count - 1), the threshold x/(2 epsilon) + 1/2 lies between both
    kinds of cells: a zero passes with exp(-(x + epsilon)/2)/2 and a one fails with
    exp((x - epsilon)/2)/2. Else both pass with tails, of cells/count - 1 + exp(epsilon). A one
    passes at least as often as a zero, whatever rounding does.

    Examples
    --------
    >>> zero, one = filter_thresholds(100, 10, Fraction(3))
    >>> round(zero / FULL, 6), round(one / FULL, 6)
    (0.037188, 0.665305)
    """
    odds, factor = Fraction(cells, count) - 1, factor_of(epsilon).low
    if factor > odds:
        root = _square_root(odds / factor)
        zero, one = root / odds / 2, 1 - root / 2
    else:
        zero = 1 / (odds + factor)
        one = factor * zero
    rounded = math.ceil(FULL * zero)
    most = min(math.floor(factor * rounded), FULL - math.ceil((FULL - rounded) / factor))
    return rounded, max(rounded, min(math.floor(FULL * one), most))


def _square_root(value: Fraction) -> Fraction:
    """Return the square root to some 10^-90."""
    unit = 1 << 600
    return Fraction(math.isqrt(math.floor(value * unit)), 1 << 300)


def is_unbelievable(count: int, trials: int, chance: float) -> bool:
    """Whether so many of independent events, or farther from their mean, are too rare to believe.

    Parameters
    ----------
    count
        How many happened.
    trials
        How many there are.
    chance
        Of each; their mean where it is not the same of all. By Hoeffding (On the distribution of
        the number of successes in independent trials, 1956, theorem 5) tails farther than 1 from
        the mean are then at most those of the binomial distribution, which are computed exactly.

    Examples
    --------
    >>> is_unbelievable(500, 1000, 0.5), is_unbelievable(900, 1000, 0.5)
    (False, True)
    >>> is_unbelievable(1, 10, 0.0), is_unbelievable(9, 10, 1.0)
    (True, True)
    """
    mean = trials * chance
    usual = 4 * math.sqrt(mean * max(1 - chance, 0.0)) + 1
    if abs(count - mean) <= max(usual, 1e-12 * trials) and 0 < chance < 1:
        return False
    return 2 * tail(count, trials, chance) < IMPOSSIBLE


def tail(count: int, trials: int, chance: float) -> float:
    """Return how likely a binomial number is so far to its side of the mean, or farther.

    Both tails are incomplete beta functions, which take any number of trials: SciPy's own binomial
    tails take 2^31 at most, and pairs of 65,537 people are more.

    Examples
    --------
    >>> tail(2, 2, 0.5), tail(0, 2, 0.5), tail(3, 2, 0.5)
    (0.25, 0.25, 0.0)
    """
    from scipy.special import betainc  # noqa: PLC0415  where something looks wrong alone

    if not 0 <= count <= trials:
        return 0.0
    if count > trials * chance:
        return float(betainc(count, trials - count + 1, chance)) if count else 1.0
    return float(betainc(trials - count, count + 1, 1 - chance)) if count < trials else 1.0


class CellBlock(NamedTuple):
    """The pairs of nodes of two classes.

    Parameters
    ----------
    cells
        How many there are.
    zero, one
        The chances of a pair that is no edge, or one, to be published, times 2^64.
    """

    cells: int
    zero: int
    one: int


def blocks_of(flips: BlockFlips) -> Iterator[CellBlock]:
    """Yield every block, of the classes a <= b.

    Examples
    --------
    >>> flips = BlockFlips(cells="6", epsilon_cells="2", noisy_count="3", sizes=(4,),
    ...                    weights=("1000000000000",))
    >>> [(block.cells, round(block.one / FULL, 6)) for block in blocks_of(flips)]
    [(6, 0.880797)]
    """
    largest = factor_of(Fraction(flips.epsilon_cells)).low
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
    """Return the two chances for a share of edges, times 2^64; above 1/2 the two swap roles."""
    if 2 * prior > FULL:
        zero, one = _chances(FULL - prior, largest)
        return FULL - one, FULL - zero
    up, down = largest.as_integer_ratio()
    zero = 1 + (FULL * prior * down - 1) // ((FULL - prior) * down + prior * up)
    lost = 1 + ((FULL - zero) * down - 1) // up
    return zero, min(up * zero // down, FULL - lost)
