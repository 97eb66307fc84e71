"""What is to be solved: rows, levels, prices of stars; and what a solution is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.adaptive.planes import Packed
from graphveil.methods.adaptive.packing import Codes, packed

LevelArray = NDArray[np.int64]
Prices = NDArray[np.float64]

UNIT = 1 << 26
"""The dearest star costs so much: prices are whole numbers, so that a solution is exact."""


class Problem(NamedTuple):
    """Rows that must fit each other.

    Parameters
    ----------
    codes
        int32, shape (n, d); -1 is missing.
    levels
        How many persons each record must fit, and each person records: 1 to n.
    prices
        What a star costs, shape (n, d), from 0 to 1.
    rows
        The codes as bits.
    """

    codes: Codes
    levels: LevelArray
    prices: Prices
    rows: Packed

    @property
    def columns(self) -> Codes:
        """The codes by column."""
        return np.ascontiguousarray(self.codes.T)


class Solution(NamedTuple):
    """Which pairs of record and person were chosen, and what that suppresses.

    Parameters
    ----------
    pairs
        int8, shape (n, n): 1 where record i was chosen to fit person j; 0 on the diagonal, which
        holds anyway.
    stars
        Shape (n, words): the suppressed cells of every row, as `Packed` has them.
    """

    pairs: NDArray[np.int8]
    stars: NDArray[np.uint64]


def problem_of(codes: Codes, levels: LevelArray, weights: Prices) -> Problem:
    """Return the problem of these rows.

    Parameters
    ----------
    codes, levels
        As in `Problem`.
    weights
        What a star costs, at least 0: one a column, or shape (n, d).

    Examples
    --------
    >>> rows = np.array([[0, 1], [-1, 1]], dtype=np.int32)
    >>> problem_of(rows, np.array([1, 2]), np.array([2.0, 1.0])).prices.tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    largest = max(float(weights.max(initial=0.0)), np.finfo(np.float64).tiny)
    prices = np.broadcast_to(weights / largest, codes.shape).copy()
    prices[codes < 0] = 0.0
    return Problem(codes, levels, prices, packed(codes))
