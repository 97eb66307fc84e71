"""Pairs in which each side fits the other, rounded from a half-integral flow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import ONE, ZERO, leaf

Ints = NDArray[np.int64]
PairMatrix = NDArray[np.int8]

OPEN, PASSED = 2, 3
"""What stands in both cells of a pair that was chosen one way: not yet on a tour, and on one."""


class ClosedWalk(NamedTuple):
    """Room for a closed walk over every open pair that can be reached from some row."""

    nodes: Ints
    stack: Ints
    upcoming: Ints


def tour_for(pairs: PairMatrix) -> ClosedWalk:
    """Return room for any tour over pairs, and where the search for open pairs begins."""
    length = int(np.count_nonzero(pairs)) + 1
    return ClosedWalk(
        nodes=np.empty(length, dtype=np.int64),
        stack=np.empty(length, dtype=np.int64),
        upcoming=np.zeros(pairs.shape[0], dtype=np.int64),
    )


@leaf
def _walk(pairs: PairMatrix, tour: ClosedWalk, start: int) -> int:
    """Write a closed walk over all open pairs from a row on; return how many pairs it has."""
    n = pairs.shape[0]
    tour.stack[0] = start
    height, length = 1, 0
    while height > 0:
        node = tour.stack[height - 1]
        other = tour.upcoming[node]
        while other < n and pairs[node, other] != OPEN:
            other += 1
        tour.upcoming[node] = other
        if other < n:
            pairs[node, other] = PASSED
            pairs[other, node] = PASSED
            tour.stack[height] = other
            height += 1
        else:
            tour.nodes[length] = node
            length += 1
            height -= 1
    return length - 1


@leaf
def _price(costs: Ints, tour: ClosedWalk, position: int) -> int:
    one, other = tour.nodes[position], tour.nodes[position + 1]
    price: int = costs[one, other]
    return price


@leaf
def _set(pairs: PairMatrix, tour: ClosedWalk, position: int, value: int) -> None:
    one, other = tour.nodes[position], tour.nodes[position + 1]
    pairs[one, other] = value
    pairs[other, one] = value


@leaf
def _take_every_other(costs: Ints, pairs: PairMatrix, tour: ClosedWalk, length: int) -> None:
    """Keep every other pair of a tour, the cheapest way; of an odd tour one more than half.

    In steps of two an odd tour is walked over in `length` steps, an even one in half of them.
    """
    kept = (length + 1) // 2
    starts = length if length % 2 else 2
    price = ZERO
    for step in range(kept):
        price += _price(costs, tour, (2 * step) % length)
    best, lowest = ZERO, price
    for start in range(1, starts):
        if length % 2:
            price -= _price(costs, tour, (2 * (start - 1)) % length)
            price += _price(costs, tour, (2 * (start - 1 + kept)) % length)
        else:
            price = ZERO
            for step in range(kept):
                price += _price(costs, tour, 2 * step + 1)
        if price < lowest:
            best, lowest = start * ONE, price
    for position in range(length):
        _set(pairs, tour, position, ZERO)
    for step in range(kept):
        first = 2 * best if length % 2 else best
        _set(pairs, tour, (first + 2 * step) % length, ONE)


@leaf
def make_symmetric(costs: Ints, pairs: PairMatrix, tour: ClosedWalk) -> None:
    """Make every pair one both ways, such that no degree falls.

    Pairs both ways stay. The others form closed tours; every other pair of a tour stays.

    Parameters
    ----------
    costs
        Symmetric: what a pair costs both ways.
    pairs
        1 for a pair; as many in row i as in column i. Overwritten.
    tour
        From `tour_for`; overwritten.
    """
    n = pairs.shape[0]
    for i in range(n):
        for j in range(i):
            if pairs[i, j] != pairs[j, i]:
                pairs[i, j] = OPEN
                pairs[j, i] = OPEN
    for start in range(n):
        length = _walk(pairs, tour, start)
        if length > 0:
            _take_every_other(costs, pairs, tour, length)


@leaf
def drop(pairs: PairMatrix, edges: Ints, spare: Ints) -> None:
    """Give up pairs, in this order, where both sides have more than they need.

    Parameters
    ----------
    pairs
        Symmetric; overwritten.
    edges
        Shape (m, 2): pairs, the dearest first.
    spare
        By how many pairs everyone has more than needed; overwritten.
    """
    for number in range(edges.shape[0]):
        one, other = edges[number, 0], edges[number, 1]
        if spare[one] > 0 and spare[other] > 0:
            pairs[one, other] = 0
            pairs[other, one] = 0
            spare[one] -= 1
            spare[other] -= 1
