"""An order of people, cut into groups and single people at the least cost.

A point is what is counted of a person (ties out and ties in), one integer a coordinate. A group
costs what it costs to bring its points to one: `up` for every unit that a coordinate rises, `down`
for every unit that it falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import leaf
from graphveil.kernels.tiers import tiered

Ints = NDArray[np.int64]

NEVER = 1 << 60
"""The cost of what cannot be."""


class Costs(NamedTuple):
    """What a group costs.

    ``points`` and ``colors`` are of all people, ``alone`` is what it costs a person to join the
    nearest cell of at least k, or NEVER. A unit up costs ``up``, a unit down ``down``; below 0
    nothing may fall.
    """

    points: Ints
    colors: Ints
    alone: Ints
    up: int
    down: int


class Cuts(NamedTuple):
    """Where an order of people is cut: see `best_cuts`.

    ``rest[i]`` is at most what people from the i-th on cost. The others are room: `windows` of
    shape (coordinates, k + 1), ``sorted_values`` and ``spent`` for 2 k numbers each.
    """

    least: Ints
    size_at: Ints
    rest: Ints
    windows: Ints
    sorted_values: Ints
    spent: Ints


@leaf
def rank_of_least(size: int, up: int, down: int) -> int:
    """Return the rank of the value that costs least, the lowest of them, in a sorted list."""
    if down < 0:
        return size - 1
    return int((size * down - 1) // (up + down))


@leaf
def _bound_rest(costs: Costs, order: Ints, k: int, rest: Ints) -> None:
    """Write into rest[i] what people from the i-th of an order on cost at least.

    Every group consists of pairs and at most one triple that stand one after another, and costs no
    less than these do by themselves.
    """
    points, _, alone, up, down = costs
    unit = up if down < 0 else min(up, down)
    rest[order.size] = 0
    for i in range(order.size - 1, -1, -1):
        rest[i] = min(rest[i + 1] + alone[order[i]], NEVER) if k > 1 else 0
        pair = triple = 0
        if i + 1 < order.size:
            for c in range(points.shape[1]):
                one, two = points[order[i], c], points[order[i + 1], c]
                pair += unit * abs(one - two)
                if i + 2 < order.size:
                    three = points[order[i + 2], c]
                    triple += unit * (max(one, two, three) - min(one, two, three))
            rest[i] = min(rest[i], pair + rest[i + 2])
        if i + 2 < order.size:
            rest[i] = min(rest[i], triple + rest[i + 3])


@leaf
def _put(values: Ints, at: int, value: int) -> int:
    """Let a value into sorted ones from above, where one is missing; return its rank."""
    while at > 0 and values[at - 1] > value:
        values[at] = values[at - 1]
        at -= 1
    values[at] = value
    return at


@leaf
def _slide(costs: Costs, order: Ints, i: int, windows: Ints) -> None:
    """Let the i-th of an order into windows[c], the sorted values of the last people.

    Every entry is the same few steps without a branch, which is faster than to look for a rank.
    """
    k = windows.shape[1] - 1
    for c in range(windows.shape[0]):
        values, value = windows[c], costs.points[order[i], c]
        if i < k:
            _put(values, i, value)
            continue
        gone = costs.points[order[i - k], c]
        values[k] = NEVER
        for at in range(k):
            values[at] = values[at] if values[at] < gone else values[at + 1]
        for at in range(k - 1, 0, -1):
            values[at] = max(values[at - 1], min(value, values[at]))
        values[0] = min(value, values[0])


@leaf
def _spread(values: Ints, rank: int, up: int, down: int) -> int:
    """Return what it costs to bring these values to the one of a rank."""
    total = 0
    for value in values:
        step = values[rank] - value
        total += up * step if step > 0 else -down * step
    return int(total)


@leaf
def _spend(costs: Costs, last: Ints, cuts: Cuts, limit: int) -> int:
    """Write into spent[size] what the last people cost as a group; return the largest that may pay.

    A group costs no less than a part of it: from one on that costs `limit`, none is looked at.
    """
    up, down, spent, k = costs.up, costs.down, cuts.spent, cuts.windows.shape[1] - 1
    values, first = cuts.sorted_values, rank_of_least(k, up, down)
    spent[k] = 0
    for c in range(costs.points.shape[1]):
        spent[k] += _spread(cuts.windows[c, :k], first, up, down)
    most = last.size if spent[k] < limit else 0
    for size in range(k + 1, most + 1):
        spent[size] = spent[k]
    for c in range(costs.points.shape[1] if most > k else 0):
        low, high, rank = 0, 0, first
        for i in range(k):
            values[i] = cuts.windows[c, i]
            low, high = (low + values[i], high) if i < rank else (low, high + values[i])
        before = _spread(cuts.windows[c, :k], first, up, down)
        for size in range(k + 1, most + 1):
            value = costs.points[last[last.size - size], c]
            high += value
            if _put(values, size - 1, value) < rank:
                low += value - values[rank]
                high += values[rank] - value
            if rank_of_least(size, up, down) > rank:
                low += values[rank]
                high -= values[rank]
                rank += 1
            cost = up * (rank * values[rank] - low) + down * (high - (size - rank) * values[rank])
            spent[size] += cost - before
            if spent[size] >= limit:
                most = size - 1
                break
    return int(most)


@tiered(lambda _costs, order, k, *_: 8 * order.size * k * k)
@leaf
def best_cuts(costs: Costs, order: Ints, k: int, cuts: Cuts, bound: int) -> int:
    """Cut an order of people into groups of k to 2k-1 and single people, at the least cost.

    A group is of people of one color who stand one after another. Writes into least[i] the least
    cost of the first i people, and into size_at[i] how many of them the last group has; 0 for a
    single person. Returns the least cost of all, or NEVER where it is not below `bound`: then it
    stops at the first people who show it, and what of them cannot lead below `bound` is NEVER.
    """
    least, size_at = cuts.least, cuts.size_at
    _bound_rest(costs, order, k, cuts.rest)
    least[0] = 0
    dead = run = 0
    for i in range(1, order.size + 1):
        _slide(costs, order, i - 1, cuts.windows)
        run = run + 1 if costs.colors[order[i - 1]] == costs.colors[order[max(i - 2, 0)]] else 1
        limit = bound - cuts.rest[i]
        alone = least[i - 1] + costs.alone[order[i - 1]]
        least[i] = alone if alone < limit else NEVER
        size_at[i] = 0
        most, floor = 0, NEVER
        for size in range(k, min(2 * k - 1, run) + 1):
            if least[i - size] < limit:
                most, floor = size, min(floor, least[i - size])
        if most > 0:
            most = _spend(costs, order[i - most : i], cuts, min(limit, least[i]) - floor)
        for size in range(k, most + 1):
            cost = least[i - size] + cuts.spent[size]
            if cost < min(limit, least[i]):
                least[i] = cost
                size_at[i] = size
        dead = dead + 1 if least[i] >= NEVER else 0
        if dead == 2 * k - 1:
            return NEVER
    return int(least[order.size])
