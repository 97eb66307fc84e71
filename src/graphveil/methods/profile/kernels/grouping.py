"""Groups of nodes with similar profiles: cut from an order, then improved move by move.

A *point* is the profile of a node: d integers, such as (out-degree, in-degree). A group of at least
k nodes is brought to one point. In each coordinate a unit of rise costs `up` and a unit of fall
`down`; the best common value is then a quantile of the members' values (the median at equal prices,
the maximum if values may only rise). A node outside all groups joins a cell of k nodes that stays,
at the cost `alone`.

To find the cheapest groups is microaggregation under the L1 norm, NP-hard in two dimensions.
Casas-Roma et al. (KAIS 2019) group all nodes by the heuristic MDAV. Here, after an order of the
nodes is given (see `graphveil.methods.profile.targets`):

1. `best_cuts`: the cheapest cut of the order into groups of k to 2k - 1 and single nodes, exactly,
   by dynamic programming. O(p k**2 d) for p nodes at most.
2. `improve`: moves, exchanges and dissolutions, each made only if it lowers the total cost. A group
   keeps its values sorted with prefix sums, so that a move is priced in O(d), and the exchanges of
   one node with all members of a group in O(d) each.
3. `cut_anew`: a few nearby groups are pooled, sorted along a random direction, and cut again by the
   same dynamic program.

Nodes of different colors (known attributes) never share a group. All sums are integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Ints
from graphveil.core.kernels.arrays import below
from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered

NEVER = 1 << 60
"""The cost of what is not possible; far above any sum of costs."""


class Costs(NamedTuple):
    """What groups and single nodes cost. Read only.

    Parameters
    ----------
    points
        int64, shape (n, d).
    colors
        int64, shape (n,): only nodes of one color may share a group.
    alone
        int64, shape (n,): what it costs a node to join the nearest cell that stays, or `NEVER`.
    up, down
        The cost of a unit of rise and of fall; `down` below 0: values may only rise.
    """

    points: Ints
    colors: Ints
    alone: Ints
    up: int
    down: int


class Cuts(NamedTuple):
    """Where an order of p nodes is cut, and room for the search. All int64, written by `best_cuts`.

    Parameters
    ----------
    least
        Shape (p + 1,): the least cost of the first i nodes, or `NEVER`.
    size_at
        Shape (p + 1,): the size of the last group of these, 0 if the last node is single.
    rest
        Shape (p + 1,): a lower bound on the cost of the nodes from the i-th on.
    windows
        Shape (d, k + 1): the last k values of each coordinate, sorted, and one place of room.
    sorted_values
        Shape (2k,): room for the sorted values of one group.
    spent
        Shape (2k,): the cost of the last nodes as one group, by size.
    """

    least: Ints
    size_at: Ints
    rest: Ints
    windows: Ints
    sorted_values: Ints
    spent: Ints


@leaf
def rank_of_least(size: int, up: int, down: int) -> int:
    """Return the rank of the cheapest common value in a sorted list; of several the lowest.

    The cost is least at the quantile down / (up + down); if values may only rise, at the maximum.
    At rank r, one step up costs ``up`` for each of the r + 1 values up to it, and saves ``down``
    for each of the others. So the lowest best rank is the first at which (r + 1) (up + down) is at
    least size x down.
    """
    if down < 0:
        return size - 1
    return int((size * down - 1) // (up + down))


@leaf
def _bound_rest(costs: Costs, order: Ints, k: int, rest: Ints) -> None:
    """Write a lower bound on what the nodes from the i-th on cost.

    Every group of consecutive nodes splits into consecutive pairs and at most one triple. To bring
    these to one value each costs no more than to bring the group to one. So the least cost over
    all ways to divide the rest into single nodes, pairs and triples is a bound, found from the end.
    """
    points, _, alone, up, down = costs
    unit = up if down < 0 else min(up, down)
    rest[order.size] = 0
    for i in range(order.size - 1, -1, -1):
        # A single node; for k = 1 a group of one costs nothing.
        rest[i] = min(rest[i + 1] + alone[order[i]], NEVER) if k > 1 else 0
        pair = triple = 0
        if i + 1 < order.size:
            for c in range(points.shape[1]):
                first, second = points[order[i], c], points[order[i + 1], c]
                # The spread of two values costs at least the cheaper direction.
                pair += unit * abs(first - second)
                if i + 2 < order.size:
                    third = points[order[i + 2], c]
                    triple += unit * (max(first, second, third) - min(first, second, third))
            rest[i] = min(rest[i], pair + rest[i + 2])
        if i + 2 < order.size:
            rest[i] = min(rest[i], triple + rest[i + 3])


@leaf
def _put(values: Ints, at: int, value: int) -> int:
    """Insert a value into the sorted values[:at], which move up for it; return its rank."""
    while at > 0 and values[at - 1] > value:
        values[at] = values[at - 1]
        at -= 1
    values[at] = value
    return at


@leaf
def _slide(costs: Costs, order: Ints, i: int, windows: Ints) -> None:
    """Replace the oldest value of each sorted window by that of the i-th node of the order.

    The loops have no branches, which is faster: they run for every node.
    """
    k = windows.shape[1] - 1
    for c in range(windows.shape[0]):
        values, value = windows[c], costs.points[order[i], c]
        if i < k:
            _put(values, i, value)
            continue
        gone = costs.points[order[i - k], c]
        # Drop the value that leaves: all above it move down by one place.
        values[k] = NEVER
        for at in range(k):
            values[at] = values[at] if values[at] < gone else values[at + 1]
        # Insert the new one: all above it move up by one place.
        for at in range(k - 1, 0, -1):
            values[at] = max(values[at - 1], min(value, values[at]))
        values[0] = min(value, values[0])


@leaf
def _spread(values: Ints, rank: int, up: int, down: int) -> int:
    """Return what it costs to bring these sorted values to the one at a rank."""
    total = 0
    for value in values:
        step = values[rank] - value
        total += up * step if step > 0 else -down * step
    return int(total)


@leaf
def _spend(costs: Costs, last: Ints, cuts: Cuts, limit: int) -> int:
    """Write what the last nodes cost as one group, for each size; return the largest that may pay.

    Parameters
    ----------
    costs
        Read.
    last
        int64: the last nodes of the order, as many as the largest size to consider.
    cuts
        `spent` and `sorted_values` are written, `windows` are read.
    limit
        A group must cost less than this. The cost does not fall as the group grows.
    """
    up, down, spent, k = costs.up, costs.down, cuts.spent, cuts.windows.shape[1] - 1
    values, first = cuts.sorted_values, rank_of_least(k, up, down)
    # Size k: from the windows. All larger sizes start with it as a lower bound.
    spent[k] = 0
    for c in range(costs.points.shape[1]):
        spent[k] += _spread(cuts.windows[c, :k], first, up, down)
    most = last.size if spent[k] < limit else 0
    for size in range(k + 1, most + 1):
        spent[size] = spent[k]
    # One coordinate after the other is made exact for all larger sizes, by inserting one value at a
    # time. `low` and `high` are the sums of the values below the rank, and from it on.
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
            # A larger group may have its best value one rank higher.
            if rank_of_least(size, up, down) > rank:
                low += values[rank]
                high -= values[rank]
                rank += 1
            cost = up * (rank * values[rank] - low) + down * (high - (size - rank) * values[rank])
            spent[size] += cost - before
            # The other coordinates can only add: no size from here on pays.
            if spent[size] >= limit:
                most = size - 1
                break
    return int(most)


@tiered(lambda _costs, order, k, *_: 8 * order.size * k * k)
@leaf
def best_cuts(costs: Costs, order: Ints, k: int, cuts: Cuts, bound: int) -> int:
    """Cut an order of nodes into groups of k to 2k - 1 and single nodes, at the least cost.

    Dynamic programming over prefixes. A group of 2k or more need not be considered, since it splits
    into two that cost no more. Returns the least cost of all, or NEVER if it is not below `bound`.

    Parameters
    ----------
    costs
        Read.
    order
        int64, shape (p,): the nodes. Read.
    k
        The smallest size of a group.
    cuts
        Written: `least` and `size_at` are the result.
    bound
        Prefixes that cannot lead to less are dropped.
    """
    least, size_at = cuts.least, cuts.size_at
    _bound_rest(costs, order, k, cuts.rest)
    least[0] = 0
    dead = run = 0
    for i in range(1, order.size + 1):
        _slide(costs, order, i - 1, cuts.windows)
        # Nodes of the same color up to here: a group does not reach across colors.
        run = run + 1 if costs.colors[order[i - 1]] == costs.colors[order[max(i - 2, 0)]] else 1
        limit = bound - cuts.rest[i]
        # Choice 1: the node stays single.
        alone = least[i - 1] + costs.alone[order[i - 1]]
        least[i] = alone if alone < limit else NEVER
        size_at[i] = 0
        # Choice 2: it ends a group. Only sizes whose prefix is possible are priced: `most` is the
        # largest of them, `floor` the least cost of such a prefix.
        most, floor = 0, NEVER
        for size in range(k, min(2 * k - 1, run) + 1):
            if least[i - size] < limit:
                most, floor = size, min(floor, least[i - size])
        if most > 0:
            most = _spend(costs, order[i - most : i], cuts, min(limit, least[i]) - floor)
        for size in range(k, most + 1):
            cost = least[i - size] + cuts.spent[size]
            if cost < min(limit, least[i]):
                least[i], size_at[i] = cost, size
        # After 2k - 1 impossible prefixes in a row every group, of at most 2k - 1 nodes, would
        # begin after one of them: no cut of the order is below the bound.
        dead = dead + 1 if least[i] >= NEVER else 0
        if dead == 2 * k - 1:
            return NEVER
    return int(least[order.size])


class Groups(NamedTuple):
    """Nodes in groups, each group with its values sorted. All int64.

    Parameters
    ----------
    members
        Shape (groups, most): group g has ``members[g, :sizes[g]]``, in any order.
    sizes, costs
        Shape (groups,): the size and the cost of each; an empty group has 0 and 0.
    group_of
        Shape (n,): the group of each node, -1 for single nodes and those that stay.
    values
        Shape (groups, d, most + 1): the values of the members in each coordinate, ascending.
    sums
        Shape (groups, d, most + 2): ``sums[g, c, i]`` is the sum of the first i of these.
    """

    members: Ints
    sizes: Ints
    costs: Ints
    group_of: Ints
    values: Ints
    sums: Ints


def _steps_near(_costs: Costs, groups: Groups, near: Ints, people: Ints, k: int, *_: object) -> int:
    """Return about how many steps it takes to try all nodes in all groups near them."""
    return int(8 * people.size * near.shape[1] * groups.members.shape[1] * k)


@tiered(lambda _points, _colors, cells, people, _out: people.size * cells.size)
@leaf
def nearest_above(points: Ints, colors: Ints, cells: Ints, people: Ints, out: Ints) -> None:
    """Write for each node the first of these cells that is nowhere below it; -1 if there is none.

    Used if values may only rise: with cells by ascending sum, the first is the cheapest.

    Parameters
    ----------
    points, colors
        As in `Costs`. Read.
    cells
        int64: one node of each cell that stays, by ascending sum of its point. Read.
    people
        int64: the nodes that look for a cell. Read.
    out
        int64, as long as `people`. Written.
    """
    for i in range(people.size):
        v = people[i]
        out[i] = -1
        for x in cells:
            above = colors[x] == colors[v]
            for c in range(points.shape[1]):
                above = above and points[x, c] >= points[v, c]
            if above:
                out[i] = x
                break


@leaf
def _at(values: Ints, sums: Ints, gone: int, i: int) -> tuple[int, int]:
    """Return the i-th of sorted values, one of them taken out, and the sum of those before it.

    `gone` is the value taken out, or `NEVER` to take out none.
    """
    value = values[i] if values[i] < gone else values[i + 1]
    if i == 0 or values[i - 1] < gone:
        return value, sums[i]
    return value, sums[i + 1] - gone


@leaf
def _cost(costs: Costs, groups: Groups, g: int, without: int, joining: int) -> int:
    """Return what a group costs without one member and with one more node; -1 for neither. O(d)."""
    rest = groups.sizes[g] - (1 if without >= 0 else 0)
    size = rest + (1 if joining >= 0 else 0)
    rank = rank_of_least(size, costs.up, costs.down)
    total = 0
    for c in range(costs.points.shape[1] if size > 0 else 0):
        values, sums = groups.values[g, c], groups.sums[g, c]
        gone = costs.points[without, c] if without >= 0 else NEVER
        # The best value among those that stay, and the sums below it and from it on.
        center, low = _at(values, sums, gone, rank)
        high = sums[groups.sizes[g]] - low - (gone if without >= 0 else 0)
        if joining >= 0:
            # With one more value the best one moves by at most one place: it is the value before
            # the rank, the new value, or still the one at the rank.
            value = costs.points[joining, c]
            high += value
            before, low_before = _at(values, sums, gone, rank - 1) if rank > 0 else (-1, low)
            if value < before:
                center = before
                high += low - low_before - value
                low = low_before + value
            elif rank == rest or value < center:
                center = value
        total += costs.up * (rank * center - low)
        if costs.down > 0:
            total += costs.down * (high - (size - rank) * center)
    return int(total)


@leaf
def _leave(costs: Costs, groups: Groups, person: int, cost: int) -> None:
    """Take a node out of its group, which then costs this much."""
    g = groups.group_of[person]
    last = groups.sizes[g] - 1
    for i in range(last):
        if groups.members[g, i] == person:
            groups.members[g, i] = groups.members[g, last]
            break
    for c in range(costs.points.shape[1]):
        values, sums = groups.values[g, c], groups.sums[g, c]
        # Shift the values above it down, and add up the sums again from there on.
        at = last
        above = values[last]
        while above > costs.points[person, c]:
            at -= 1
            above, values[at] = values[at], above
        for i in range(at, last):
            sums[i + 1] = sums[i] + values[i]
    groups.sizes[g], groups.costs[g] = last, cost
    groups.group_of[person] = -1


@leaf
def _join(costs: Costs, groups: Groups, person: int, g: int, cost: int) -> None:
    """Put a single node into a group, which then costs this much."""
    size = groups.sizes[g]
    groups.members[g, size] = person
    for c in range(costs.points.shape[1]):
        values, sums = groups.values[g, c], groups.sums[g, c]
        # Insert the value into the sorted ones, and add up the sums again from there on.
        at = _put(values, size, costs.points[person, c])
        for i in range(at, size + 1):
            sums[i + 1] = sums[i] + values[i]
    groups.sizes[g] = size + 1
    groups.costs[g], groups.group_of[person] = cost, g


@tiered()
@leaf
def fill(costs: Costs, groups: Groups, order: Ints, size_at: Ints) -> None:
    """Put nodes into groups, all empty before, as `best_cuts` cut their order.

    Parameters
    ----------
    costs
        Read.
    groups
        Written.
    order, size_at
        int64, shapes (p,) and (p + 1,): the order, and the cuts of it. Read.
    """
    end, g = wide(order.size), wide(0)
    while end > 0:
        size = size_at[end]
        for i in range(end - size, end):
            _join(costs, groups, order[i], g, 0)
        if size > 0:
            groups.costs[g] = _cost(costs, groups, g, -1, -1)
            g += 1
        end -= max(size, 1)


@tiered()
@leaf
def ranges(costs: Costs, groups: Groups, low: Ints, high: Ints) -> None:
    """Write into low[g] and high[g] between which points a group costs the same.

    An even split of the prices leaves a choice between two neighboring values; else both are equal.

    Parameters
    ----------
    costs, groups
        Read.
    low, high
        int64, shape (groups, d). Written.
    """
    for g in range(groups.sizes.size):
        size = groups.sizes[g]
        rank = rank_of_least(size, costs.up, costs.down)
        free = costs.down >= 0 and (size * costs.down) % (costs.up + costs.down) == 0
        for c in range(costs.points.shape[1] if size > 0 else 0):
            low[g, c] = groups.values[g, c, rank]
            high[g, c] = groups.values[g, c, rank + 1 if free and rank + 1 < size else rank]


@leaf
def _moved(costs: Costs, groups: Groups, person: int, near: Ints, k: int) -> int:
    """Move a node to another group, or out of its group, if that pays; return what it gains.

    A group of k nodes cannot lose one. Groups of different colors are not among those near.
    """
    g = groups.group_of[person]
    rest = 0
    if g >= 0:
        if groups.sizes[g] <= k:
            return 0
        rest = _cost(costs, groups, g, person, -1)
        gain = groups.costs[g] - rest
    else:
        gain = costs.alone[person]
    best, where, cost_there = 0, g, 0
    # Out of the group, to the nearest cell that stays.
    if g >= 0 and gain - costs.alone[person] > best:
        best, where = gain - costs.alone[person], -1
    # Into the group near it where it adds least.
    for h in near:
        if h < 0 or h == g or groups.sizes[h] == 0 or groups.sizes[h] == groups.members.shape[1]:
            continue
        cost = _cost(costs, groups, h, -1, person)
        if gain - (cost - groups.costs[h]) > best:
            best, where, cost_there = gain - (cost - groups.costs[h]), h, cost
    if best > 0:
        if g >= 0:
            _leave(costs, groups, person, rest)
        if where >= 0:
            _join(costs, groups, person, where, cost_there)
    return int(best)


@leaf
def _entering(costs: Costs, groups: Groups, person: int, lines: Ints) -> None:
    """Write what the group of a node costs if another node takes its place.

    In each coordinate this is a function of the other's value, with three linear pieces that meet
    at the two values that can be best. `lines` is int64, shape (d, 6): the lower and the upper of
    these; the intercept below (slope -up), above (slope down) and between; and the slope between.
    """
    g = groups.group_of[person]
    size, up, down = groups.sizes[g], costs.up, max(costs.down, 0)
    rank = rank_of_least(size, costs.up, costs.down)
    for c in range(costs.points.shape[1]):
        values, sums, gone = groups.values[g, c], groups.sums[g, c], costs.points[person, c]
        whole = sums[size] - gone
        above, low = _at(values, sums, gone, rank)
        # Without a value on one side there is no such piece.
        lines[c, 0], lines[c, 1] = -1, NEVER
        if rank > 0:
            below, lower = _at(values, sums, gone, rank - 1)
            lines[c, 0] = below
            lines[c, 2] = up * (rank * below - lower)
            lines[c, 2] += down * (whole - lower - (size - rank) * below)
        if rank < size - 1:
            lines[c, 1] = above
            lines[c, 3] = up * (rank * above - low) + down * (whole - low - (size - rank) * above)
        lines[c, 4] = down * (whole - low) - up * low
        lines[c, 5] = up * rank - down * (size - rank - 1)


@leaf
def _leaving(costs: Costs, groups: Groups, h: int, person: int, lines: Ints) -> None:
    """Write what a group costs if a node takes the place of a member, by the member's value.

    Two linear pieces in each coordinate. `lines` is int64, shape (d, 6), of which three are
    written: the best value of all with the node; the intercept for members up to it (slope up) and
    above it (slope -down).
    """
    size, up, down = groups.sizes[h], costs.up, max(costs.down, 0)
    rank = rank_of_least(size, costs.up, costs.down)
    for c in range(costs.points.shape[1]):
        values, sums, value = groups.values[h, c], groups.sums[h, c], costs.points[person, c]
        whole = sums[size] + value
        # If a value above the best one leaves, the best keeps its rank; else it is one rank higher.
        for i in range(2):
            at = rank + i
            center, low = value, sums[at]
            if at > 0 and value < values[at - 1]:
                center, low = values[at - 1], sums[at - 1] + value
            elif at < size and value > values[at]:
                center = values[at]
            if i == 0:
                lines[c, 0] = center
            lines[c, 2 - i] = up * (rank * center - low)
            lines[c, 2 - i] += down * (whole - low - (size - rank) * center)


@leaf
def _exchanged(costs: Costs, other: int, entering: Ints, leaving: Ints) -> int:
    """Return what two groups cost once two of their nodes have changed places. O(d).

    `entering` is of the group that the other node enters, `leaving` of the one that it leaves.
    """
    up, down = costs.up, max(costs.down, 0)
    total = 0
    for c in range(costs.points.shape[1]):
        value = costs.points[other, c]
        # The group of the node, which the other one enters: below, above or between its two best
        # values.
        if value < entering[c, 0]:
            total += entering[c, 2] - up * value
        elif value > entering[c, 1]:
            total += entering[c, 3] + down * value
        else:
            total += entering[c, 4] + entering[c, 5] * value
        # The group that the other one leaves.
        if value > leaving[c, 0]:
            total += leaving[c, 2] - down * value
        else:
            total += leaving[c, 1] + up * value
    return int(total)


@leaf
def _swapped(costs: Costs, groups: Groups, person: int, near: Ints, lines: Ints) -> int:
    """Exchange a node with the member of a near group where that gains most; return the gain."""
    g = groups.group_of[person]
    best, partner = 0, -1
    # Step 1: price all exchanges with the members of near groups, each in O(d).
    if g >= 0:
        _entering(costs, groups, person, lines[0])
    for h in near:
        if g < 0 or h < 0 or h == g or groups.sizes[h] == 0:
            continue
        _leaving(costs, groups, h, person, lines[1])
        before = groups.costs[g] + groups.costs[h]
        for i in range(groups.sizes[h]):
            other = groups.members[h, i]
            gain = before - _exchanged(costs, other, lines[0], lines[1])
            if gain > best:
                best, partner = gain, other
    # Step 2: make the best one.
    if best > 0:
        h = groups.group_of[partner]
        here = _cost(costs, groups, g, person, partner)
        there = _cost(costs, groups, h, partner, person)
        _leave(costs, groups, person, 0)
        _leave(costs, groups, partner, 0)
        _join(costs, groups, partner, g, here)
        _join(costs, groups, person, h, there)
    return int(best)


@leaf
def _dissolved(costs: Costs, groups: Groups, g: int, near: Ints, undo: Ints) -> int:
    """Send all members of a group elsewhere if that pays; return what it gains.

    Each goes where it adds least, one after the other. `undo` (int64, room for one group) lists
    them.
    """
    size, before = groups.sizes[g], groups.costs[g]
    spent = 0
    for i in range(size):
        undo[i] = groups.members[g, i]
    for i in range(size):
        person = undo[i]
        cheapest, where, cost_there = costs.alone[person], -1, 0
        for h in near[person]:
            full = groups.members.shape[1]
            if h < 0 or h == g or groups.sizes[h] == 0 or groups.sizes[h] == full:
                continue
            cost = _cost(costs, groups, h, -1, person)
            if cost - groups.costs[h] < cheapest:
                cheapest, where, cost_there = cost - groups.costs[h], h, cost
        spent += cheapest
        # It does not pay: take back those already sent.
        if spent >= before:
            for j in range(i - 1, -1, -1):
                other = undo[j]
                h = groups.group_of[other]
                if h >= 0:
                    _leave(costs, groups, other, _cost(costs, groups, h, other, -1))
                groups.group_of[other] = g
            return 0
        groups.group_of[person] = -1
        if where >= 0:
            _join(costs, groups, person, where, cost_there)
    groups.sizes[g], groups.costs[g] = 0, 0
    return int(before - spent)


@tiered(_steps_near)
@allocating
def improve(costs: Costs, groups: Groups, near: Ints, order: Ints, k: int) -> int:
    """Try moves, exchanges and dissolutions once for each node; return the total gain.

    Parameters
    ----------
    costs
        Read.
    groups
        Written.
    near
        int64, shape (n, near groups): the groups near each node, -1 for none. Read.
    order
        int64: the nodes, in the order in which they are tried. Read.
    k
        The smallest size of a group.
    """
    undo = np.empty(groups.members.shape[1], dtype=np.int64)
    lines = np.empty((2, costs.points.shape[1], 6), dtype=np.int64)
    gain = 0
    for person in order:
        gain += _moved(costs, groups, person, near[person], k)
        gain += _swapped(costs, groups, person, near[person], lines)
        g = groups.group_of[person]
        if g >= 0 and groups.members[g, 0] == person:
            gain += _dissolved(costs, groups, g, near, undo)
    return gain


class Trial(NamedTuple):
    """Room to cut a few groups again. All int64.

    Parameters
    ----------
    order, keys
        The nodes of these groups, and their positions along a direction.
    old
        The groups.
    cuts
        Room for `best_cuts`.
    """

    order: Ints
    keys: Ints
    old: Ints
    cuts: Cuts


@leaf
def _gather(groups: Groups, near: Ints, trial: Trial) -> tuple[int, int]:
    """Write the distinct groups near a node, and their members; return how many of each."""
    n_groups = people = 0
    for g in near:
        if g < 0 or groups.sizes[g] == 0:
            continue
        # Each group once, and only while there is room for its members.
        seen = False
        for i in range(n_groups):
            seen = seen or trial.old[i] == g
        if seen or people + groups.sizes[g] > trial.order.size:
            continue
        trial.old[n_groups] = g
        n_groups += 1
        for i in range(groups.sizes[g]):
            trial.order[people] = groups.members[g, i]
            people += 1
    return n_groups, people


@leaf
def _sort_along(costs: Costs, trial: Trial, people: int, rng: Generator) -> None:
    """Sort nodes along a random direction, by insertion: they are few."""
    trial.keys[:people] = 0
    for c in range(costs.points.shape[1]):
        # A direction with integer slopes from -100 to 100.
        slope = below(rng, 201) - 100
        for i in range(people):
            trial.keys[i] += slope * costs.points[trial.order[i], c]
    for i in range(1, people):
        key, person, at = trial.keys[i], trial.order[i], i
        while at > 0 and trial.keys[at - 1] > key:
            trial.keys[at], trial.order[at] = trial.keys[at - 1], trial.order[at - 1]
            at -= 1
        trial.keys[at], trial.order[at] = key, person


@leaf
def _regroup(
    costs: Costs, groups: Groups, trial: Trial, sizes: tuple[int, int], empty: Ints
) -> None:
    """Put nodes into groups as they were cut.

    `sizes` are the numbers of old groups and of nodes. ``empty[1 : empty[0] + 1]`` lists the empty
    groups; it is written.
    """
    n_groups, people = sizes
    # The old groups become empty.
    for i in range(n_groups):
        empty[0] += 1
        empty[empty[0]] = trial.old[i]
        groups.sizes[trial.old[i]], groups.costs[trial.old[i]] = 0, 0
    end = people
    # Each new group takes an empty row, from the end of the order.
    while end > 0:
        size = trial.cuts.size_at[end]
        g = wide(-1)
        if size > 0:
            g = empty[empty[0]]
            empty[0] -= 1
        for i in range(end - max(size, 1), end):
            groups.group_of[trial.order[i]] = -1
            if g >= 0:
                _join(costs, groups, trial.order[i], g, 0)
        if g >= 0:
            groups.costs[g] = _cost(costs, groups, g, -1, -1)
        end -= max(size, 1)


@tiered(_steps_near)
@allocating
def cut_anew(costs: Costs, groups: Groups, near: Ints, people: Ints, k: int, rng: Generator) -> int:
    """Cut the groups near each node in turn again, along a random direction; return the total gain.

    Parameters
    ----------
    costs
        Read.
    groups
        Written.
    near
        int64, shape (n, near groups): the groups near each node, -1 for none. Read.
    people
        int64: the nodes. Read.
    k
        The smallest size of a group.
    rng
        The random directions.
    """
    most = near.shape[1] * groups.members.shape[1]
    trial = Trial(
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(near.shape[1], dtype=np.int64),
        Cuts(
            np.empty(most + 1, dtype=np.int64),
            np.empty(most + 1, dtype=np.int64),
            np.empty(most + 1, dtype=np.int64),
            np.empty((costs.points.shape[1], k + 1), dtype=np.int64),
            np.empty(2 * k, dtype=np.int64),
            np.empty(2 * k, dtype=np.int64),
        ),
    )
    empty = np.zeros(groups.sizes.size + 1, dtype=np.int64)
    for g in range(groups.sizes.size):
        if groups.sizes[g] == 0:
            empty[0] += 1
            empty[empty[0]] = g
    gain = 0
    for person in people:
        n_groups, count = _gather(groups, near[person], trial)
        before = 0
        for i in range(n_groups):
            before += groups.costs[trial.old[i]]
        # Nothing near, or nothing to gain.
        if before == 0:
            continue
        _sort_along(costs, trial, count, rng)
        spent = best_cuts(costs, trial.order[:count], k, trial.cuts, before)
        if spent < before:
            gain += before - spent
            _regroup(costs, groups, trial, (n_groups, count), empty)
    return gain
