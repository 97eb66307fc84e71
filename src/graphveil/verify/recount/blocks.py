"""Chances of blocks computed again from what a release states of them, as whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from graphveil.claims.flips import BlockFlips
from graphveil.verify.recount.thresholds import FULL, factor_of


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
