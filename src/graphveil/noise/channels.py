"""The channel: with which probability a cell of 1 and a cell of 0 are published as 1."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from graphveil.noise.counts import binomial
from graphveil.noise.uniform import FULL, Cells, Words, bernoulli, distinct, union, without

_DIGITS = Context(prec=90, rounding=ROUND_FLOOR)


class Channel(NamedTuple):
    """Two thresholds: T / 2**64 is the chance that a cell is published as 1.

    Parameters
    ----------
    zero
        T of a cell that is 0.
    one
        T of a cell that is 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> coin = channel(Fraction(1, 2), Fraction(2))
    >>> round(coin.zero / FULL, 6), round(coin.one / FULL, 6)
    (0.119203, 0.880797)
    """

    zero: int
    one: int


def channel(prior: Fraction, epsilon: Fraction) -> Channel:
    """Return thresholds under which no cell changes any probability by more than e^epsilon.

    Of all such channels it publishes most of the cells that are 1, for the expected size of the
    release; if a share `prior` of the cells is 1, that size is theirs. At 1/2 it is randomized
    response: both kinds of cells are flipped with probability 1/(1 + e^epsilon).

    Parameters
    ----------
    prior
        The assumed share of ones, strictly between 0 and 1.
    epsilon
        From 0 to 40.

    Notes
    -----
    Both ratios, one/zero and (1-zero)/(1-one), are at most L as fractions of integers, and L is a
    fraction that is at most e^epsilon: the claim needs no slack. The threshold of a zero is rounded
    up: rounded down, the largest epsilon would lose one in 200 of the cells that are 1.
    """
    return thresholds(prior.numerator, prior.denominator, exp_below(epsilon))


def thresholds(ones: int, of: int, largest: Fraction) -> Channel:
    """Return the channel of a prior ``ones / of`` and a largest factor: for many priors at once.

    Examples
    --------
    >>> thresholds(1, 2, Fraction(3)) == Channel(FULL // 4, 3 * (FULL // 4))
    True
    """
    if 2 * ones > of:
        zero, one = thresholds(of - ones, of, largest)
        return Channel(FULL - one, FULL - zero)
    above, beneath = largest.numerator, largest.denominator
    zero = _divided_up(FULL * ones * beneath, (of - ones) * beneath + ones * above)
    lost = _divided_up((FULL - zero) * beneath, above)
    return Channel(zero, min(above * zero // beneath, FULL - lost))


def _divided_up(number: int, by: int) -> int:
    return -(-number // by)


def exp_below(epsilon: Fraction) -> Fraction:
    """Return a fraction that is at most e^epsilon, by no more than one part in 10^80.

    Examples
    --------
    >>> exp_below(Fraction(0))
    Fraction(1, 1)
    >>> float(exp_below(Fraction(1)))
    2.718281828459045
    """
    rounded = _DIGITS.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    beneath = rounded.exp(_DIGITS).next_minus(_DIGITS)
    return max(Fraction(1), Fraction(beneath))


def flipped(words: Words, ones: Cells, n_cells: int, through: Channel) -> tuple[Cells, int]:
    """Return the cells that are published as 1, in order, and how many of them truly are 1.

    The cells are independent of each other; only as many words are drawn as there are ones, before
    and after.

    Parameters
    ----------
    words
        Where the randomness comes from.
    ones
        int64: the cells that are 1, sorted, of 0..n_cells-1.
    n_cells
        The number of all cells.
    through
        The chances of either kind of cell.

    Notes
    -----
    Each one passes a draw of its own. Independently, the number of successes among *all* cells
    that are tried with the chance of a zero is drawn, and as many distinct cells: those that are
    ones have had their own draw and are dropped. So every zero is published with its chance,
    independently of all others, and no parameter of any draw depends on the ones.

    Examples
    --------
    >>> import numpy as np
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> flipped(words_from(Randomness(), "flips"), np.array([1]), 3, Channel(0, FULL))
    (array([1]), 1)
    """
    kept = ones[bernoulli(words, through.one, ones.size)]
    count = binomial(words, n_cells, through.zero)
    background = distinct(words, n_cells, count)
    return union(kept, without(background, ones)), int(kept.size)
