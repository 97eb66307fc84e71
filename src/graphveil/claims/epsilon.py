"""Epsilon as a number: exact, and not too large."""

from __future__ import annotations

from fractions import Fraction

LARGEST_EPSILON = 40
"""Above it 64 bits do not hold the probabilities, and a claim would say nothing."""


def as_printed(epsilon: float) -> Fraction:
    """Return an epsilon as the decimal number that is printed, not as the double nearest to it.

    Examples
    --------
    >>> as_printed(0.1), Fraction(0.1) > as_printed(0.1)
    (Fraction(1, 10), True)
    """
    return Fraction(repr(epsilon))
