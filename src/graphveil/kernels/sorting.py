"""Sorting inside kernels: Numba's own takes ten times as long to compile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf


@leaf
def sort(values: NDArray[np.integer]) -> None:
    """Put the values into ascending order, in place, by a heap of those not yet in order."""
    end = values.size
    root = end // 2
    while end > 1:
        if root > 0:
            root -= 1
        else:
            end -= 1
            values[0], values[end] = values[end], values[0]
        value, at, child = values[root], root, 2 * root + 1
        while child < end:
            if child + 1 < end and values[child] < values[child + 1]:
                child += 1
            if values[child] <= value:
                break
            values[at] = values[child]
            at, child = child, 2 * child + 1
        values[at] = value
