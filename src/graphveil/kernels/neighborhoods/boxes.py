"""How many nodes have a pair of values inside a box, for many boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import allocating, leaf

Ints = NDArray[np.int64]


class NeighborPairs(NamedTuple):
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


@leaf
def _first_from(pairs: NeighborPairs, a: int, bound: int) -> int:
    """Return the first pair of the a-th first value whose second value is not below the bound."""
    low, high = pairs.start[a], pairs.start[a + 1]
    while low < high:
        middle = (low + high) // 2
        if pairs.second[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return int(low)


@allocating
def nodes_in_boxes(pairs: NeighborPairs, boxes: Boxes) -> Ints:
    """Return for every box the number of nodes whose pair is in it."""
    out = np.zeros(boxes.first_from.size, dtype=np.int64)
    for box in range(out.size):
        for a in range(boxes.first_from[box], boxes.first_to[box]):
            low = _first_from(pairs, a, boxes.second_from[box])
            high = _first_from(pairs, a, boxes.second_to[box] + 1)
            out[box] += pairs.before[high] - pairs.before[low]
    return out
