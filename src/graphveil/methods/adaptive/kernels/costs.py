"""What it costs that a record fits a person, and how many pairs need a cell suppressed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import leaf

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]


@leaf
def pair_costs(columns: Shorts, prices: Ints, costs: Ints) -> None:
    """Write into costs[i, j] the prices of record i's cells in which persons i and j differ.

    Parameters
    ----------
    columns
        The codes by column, shape (d, n); -1 is missing, and agrees with nothing.
    prices
        Shape (n, d): the price of a star, by the record's row.
    costs
        Shape (n, n), overwritten; 0 on the diagonal.
    """
    d, n = columns.shape
    for i in range(n):
        row = costs[i]
        row[:] = 0
        for k in range(d):
            price, code = prices[i, k], columns[k, i]
            if price != 0:
                codes = columns[k]
                for j in range(n):
                    row[j] += price if codes[j] != code or code < 0 else np.int64(0)
        row[i] = 0


def count_needs(columns: Shorts, pairs: NDArray[np.int8], needs: Ints) -> None:
    """Write into needs[i, k] how many pairs of record i need a star in column k.

    Parameters
    ----------
    columns
        As in `pair_costs`.
    pairs
        1 where record i is to fit person j.
    needs
        Shape (n, d), overwritten.
    """
    i, j = np.nonzero(pairs)
    i, j = i[i != j], j[i != j]
    for k, codes in enumerate(columns):
        is_needed = (codes[i] != codes[j]) | (codes[i] < 0)
        needs[:, k] = np.bincount(i[is_needed], minlength=codes.size)
