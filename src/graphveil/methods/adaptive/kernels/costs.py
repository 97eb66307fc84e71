"""What it costs that a record fits a person, and how many pairs need a cell suppressed.

Both sums of Algorithms 1 and 2 of Choromanski, Jebara & Tang over columns: the cost of a pair,
``sum over k of W_ik [X_ik != X_jk]``, and the number of chosen pairs of record i that need its cell
k, from which the next prices follow. The price belongs to the record's row, so costs are not
symmetric. A missing cell agrees with nothing. Time is O(n n d) and O(pairs d); no array has more
than n n or n d elements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import leaf

Shorts = NDArray[np.int32]


@leaf
def pair_costs(columns: Shorts, prices: Ints, costs: Ints) -> None:
    """Write into costs[i, j] the prices of record i's cells in which persons i and j differ.

    Parameters
    ----------
    columns
        int32, shape (d, n): the codes by column; -1 is missing, and agrees with nothing.
    prices
        int64, shape (n, d): the price of a star, by the record's row.
    costs
        int64, shape (n, n), overwritten; 0 on the diagonal.
    """
    d, n = columns.shape
    for i in range(n):
        row = costs[i]
        row[:] = 0
        # Column by column, so that the inner loop reads two arrays in order; free cells cost
        # nothing.
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
        int8, shape (n, n): 1 if record i is to fit person j. The diagonal does not count.
    needs
        int64, shape (n, d), overwritten.
    """
    i, j = np.nonzero(pairs)
    i, j = i[i != j], j[i != j]
    for k, codes in enumerate(columns):
        is_needed = (codes[i] != codes[j]) | (codes[i] < 0)
        needs[:, k] = np.bincount(i[is_needed], minlength=codes.size)
