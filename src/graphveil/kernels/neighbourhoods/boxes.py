"""How many nodes have a pair of values inside a box, for many boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Pairs(NamedTuple):
    """Distinct pairs by (first, second) value, and how many nodes have each.

    The pairs of the a-th smallest first value are at ``start[a] .. start[a + 1] - 1``; ``second``
    holds their second values, ``before[i]`` the number of nodes with an earlier pair than pair i.
    """

    start: Ints
    second: Ints
    before: Ints


class Boxes(NamedTuple):
    """A box each: places ``first_from .. first_to - 1`` of the first value, and bounds, both in."""

    first_from: Ints
    first_to: Ints
    second_from: Ints
    second_to: Ints


@njit(cache=True, nogil=True)
def nodes_in_boxes(pairs: Pairs, boxes: Boxes) -> Ints:
    """Return for every box the number of nodes whose pair is in it."""
    out = np.zeros(boxes.first_from.size, dtype=np.int64)
    for box in range(out.size):
        for a in range(boxes.first_from[box], boxes.first_to[box]):
            row = pairs.second[pairs.start[a] : pairs.start[a + 1]]
            low = np.searchsorted(row, boxes.second_from[box], side="left")
            high = np.searchsorted(row, boxes.second_to[box], side="right")
            out[box] += pairs.before[pairs.start[a] + high] - pairs.before[pairs.start[a] + low]
    return out
