"""Groups of people whose numbers of edges are near: cut from an order, improved move by move.

A point is what is counted of a person, one integer a coordinate. A group costs what it costs to
bring its points to one: `up` for every unit that a coordinate rises, `down` for every one it falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import below
from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered

Ints = NDArray[np.int64]

NEVER = 1 << 60
"""The cost of what cannot be."""


class Costs(NamedTuple):
    """What a group costs, and a person alone: to join the nearest cell of k, or NEVER."""

    points: Ints
    colors: Ints
    alone: Ints
    up: int
    down: int


class Cuts(NamedTuple):
    """Where an order of people is cut, and room: see `best_cuts`."""

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
    """Write what people from the i-th on cost at least: groups are pairs and at most one triple."""
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
    """Let the i-th of an order into the sorted windows, without a branch, which is faster."""
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
    """Write what the last people cost as a group, by size; return the largest that may pay."""
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

    Writes the least cost of the first i people, and the size of the last group, 0 for a single
    person. Returns the least cost of all, or NEVER where it is not below `bound`.
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
                least[i], size_at[i] = cost, size
        dead = dead + 1 if least[i] >= NEVER else 0
        if dead == 2 * k - 1:
            return NEVER
    return int(least[order.size])


class Groups(NamedTuple):
    """People in groups: ``members[g, :sizes[g]]`` are in group g, who is alone has -1.

    ``values[g, c]`` has coordinate c of the members ascending, ``sums[g, c, i]`` the sum of i of
    these.
    """

    members: Ints
    sizes: Ints
    costs: Ints
    group_of: Ints
    values: Ints
    sums: Ints


def _steps_near(_costs: Costs, groups: Groups, near: Ints, people: Ints, k: int, *_: object) -> int:
    return int(8 * people.size * near.shape[1] * groups.members.shape[1] * k)


@tiered(lambda _points, _colors, cells, people, _out: people.size * cells.size)
@leaf
def nearest_above(points: Ints, colors: Ints, cells: Ints, people: Ints, out: Ints) -> None:
    """Write the first of these cells, by ascending sum, nowhere below people[i]; -1 for none."""
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
    """Return the i-th of sorted values without one that is gone, and the sum of those before it."""
    value = values[i] if values[i] < gone else values[i + 1]
    if i == 0 or values[i - 1] < gone:
        return value, sums[i]
    return value, sums[i + 1] - gone


@leaf
def _cost(costs: Costs, groups: Groups, g: int, without: int, besides: int) -> int:
    """Return the cost of a group without one member and with one person more; -1 for nobody."""
    rest = groups.sizes[g] - (1 if without >= 0 else 0)
    size = rest + (1 if besides >= 0 else 0)
    rank = rank_of_least(size, costs.up, costs.down)
    total = 0
    for c in range(costs.points.shape[1] if size > 0 else 0):
        values, sums = groups.values[g, c], groups.sums[g, c]
        gone = costs.points[without, c] if without >= 0 else NEVER
        center, low = _at(values, sums, gone, rank)
        high = sums[groups.sizes[g]] - low - (gone if without >= 0 else 0)
        if besides >= 0:
            value = costs.points[besides, c]
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
    """Take a person out of the group, which then costs so much."""
    g = groups.group_of[person]
    last = groups.sizes[g] - 1
    for i in range(last):
        if groups.members[g, i] == person:
            groups.members[g, i] = groups.members[g, last]
            break
    for c in range(costs.points.shape[1]):
        values, sums = groups.values[g, c], groups.sums[g, c]
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
    """Put a person who stands alone into a group, which then costs so much."""
    size = groups.sizes[g]
    groups.members[g, size] = person
    for c in range(costs.points.shape[1]):
        values, sums = groups.values[g, c], groups.sums[g, c]
        at, value = size, costs.points[person, c]
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
        for i in range(at, size + 1):
            sums[i + 1] = sums[i] + values[i]
    groups.sizes[g] = size + 1
    groups.costs[g], groups.group_of[person] = cost, g


@tiered()
@leaf
def fill(costs: Costs, groups: Groups, order: Ints, size_at: Ints) -> None:
    """Put people into groups, all empty, as `best_cuts` cut their order."""
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
    """Write into low[g] and high[g] between which points a group costs the same."""
    for g in range(groups.sizes.size):
        size = groups.sizes[g]
        rank = rank_of_least(size, costs.up, costs.down)
        free = costs.down >= 0 and (size * costs.down) % (costs.up + costs.down) == 0
        for c in range(costs.points.shape[1] if size > 0 else 0):
            low[g, c] = groups.values[g, c, rank]
            high[g, c] = groups.values[g, c, rank + 1 if free and rank + 1 < size else rank]


@leaf
def _moved(costs: Costs, groups: Groups, person: int, near: Ints, k: int) -> int:
    """Let a person into another group or alone where that is cheapest; return what it gains."""
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
    if g >= 0 and gain - costs.alone[person] > best:
        best, where = gain - costs.alone[person], -1
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
    """Write what the group of a person costs with another person in place of that one, as lines."""
    g = groups.group_of[person]
    size, up, down = groups.sizes[g], costs.up, max(costs.down, 0)
    rank = rank_of_least(size, costs.up, costs.down)
    for c in range(costs.points.shape[1]):
        values, sums, gone = groups.values[g, c], groups.sums[g, c], costs.points[person, c]
        whole = sums[size] - gone
        above, low = _at(values, sums, gone, rank)
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
    """Write what a group costs with a person in place of a member, as lines."""
    size, up, down = groups.sizes[h], costs.up, max(costs.down, 0)
    rank = rank_of_least(size, costs.up, costs.down)
    for c in range(costs.points.shape[1]):
        values, sums, value = groups.values[h, c], groups.sums[h, c], costs.points[person, c]
        whole = sums[size] + value
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
    """Return what the groups of two people cost once these have changed places."""
    up, down = costs.up, max(costs.down, 0)
    total = 0
    for c in range(costs.points.shape[1]):
        value = costs.points[other, c]
        if value < entering[c, 0]:
            total += entering[c, 2] - up * value
        elif value > entering[c, 1]:
            total += entering[c, 3] + down * value
        else:
            total += entering[c, 4] + entering[c, 5] * value
        if value > leaving[c, 0]:
            total += leaving[c, 2] - down * value
        else:
            total += leaving[c, 1] + up * value
    return int(total)


@leaf
def _swapped(costs: Costs, groups: Groups, person: int, near: Ints, lines: Ints) -> int:
    """Exchange a person for the member of a near group with whom it gains most; return the gain."""
    g = groups.group_of[person]
    best, partner = 0, -1
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
    """Let all members of a group into others or alone where that gains; return what it gains."""
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
    """Move, exchange and dissolve once for everyone in this order; return the gain in all."""
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
    """Room for cutting a few groups anew: how many people these have at most."""

    order: Ints
    keys: Ints
    old: Ints
    cuts: Cuts


@leaf
def _gather(groups: Groups, near: Ints, trial: Trial) -> tuple[int, int]:
    """Write the distinct groups that are near, and their members; return how many of each."""
    n_groups = people = 0
    for g in near:
        if g < 0 or groups.sizes[g] == 0:
            continue
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
    """Sort people along a random direction."""
    trial.keys[:people] = 0
    for c in range(costs.points.shape[1]):
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
    """Put people into groups as they were cut; `empty` lists empty groups, its first how many."""
    n_groups, people = sizes
    for i in range(n_groups):
        empty[0] += 1
        empty[empty[0]] = trial.old[i]
        groups.sizes[trial.old[i]], groups.costs[trial.old[i]] = 0, 0
    end = people
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
    """Cut the groups near everyone in turn anew, along a random direction; return the gain."""
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
        if before == 0:
            continue
        _sort_along(costs, trial, count, rng)
        spent = best_cuts(costs, trial.order[:count], k, trial.cuts, before)
        if spent < before:
            gain += before - spent
            _regroup(costs, groups, trial, (n_groups, count), empty)
    return gain
