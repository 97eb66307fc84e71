"""Groups of people whose numbers of ties are near: cut from an order, then improved move by move.

A point is what is counted of a person (ties out and ties in), one integer a coordinate. A group
costs what it costs to bring its points to one: `up` for every unit that a coordinate rises, `down`
for every unit that it falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.draws import below
from graphveil.kernels.leaf import allocating, leaf, wide
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


class Groups(NamedTuple):
    """People in groups: ``members[g, :sizes[g]]`` stand in group g, who stands alone has -1.

    ``costs`` holds the cost of every group.
    """

    members: Ints
    sizes: Ints
    costs: Ints
    group_of: Ints


def _steps_near(_costs: Costs, groups: Groups, near: Ints, people: Ints, k: int, *_: object) -> int:
    return int(8 * people.size * near.shape[1] * groups.members.shape[1] * k)


@leaf
def _insert(values: Ints, size: int, value: int) -> None:
    """Write a value into its rank of a sorted list with room for it."""
    at = size
    while at > 0 and values[at - 1] > value:
        values[at] = values[at - 1]
        at -= 1
    values[at] = value


@leaf
def _rank(size: int, up: int, down: int) -> int:
    """Return the rank of the value that costs least, the lowest of them, in a sorted list."""
    if down < 0:
        return size - 1
    return int((size * down - 1) // (up + down))


@leaf
def _spread(values: Ints, size: int, up: int, down: int) -> int:
    """Return the least cost at which these sorted values become one."""
    center = values[_rank(size, up, down)]
    total = 0
    for i in range(size):
        step = center - values[i]
        total += up * step if step > 0 else -down * step
    return int(total)


@tiered(lambda _points, _colors, cells, people, _out: people.size * cells.size)
@leaf
def nearest_above(points: Ints, colors: Ints, cells: Ints, people: Ints, out: Ints) -> None:
    """Write into out[i] the first of these cells that is nowhere below people[i]; -1 for none.

    `cells` are people who stand for their cell, by ascending sum of their points.
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


@tiered(lambda _costs, order, k, *_: 8 * order.size * k * k)
@leaf
def best_cuts(
    costs: Costs, order: Ints, k: int, sorted_values: Ints, least: Ints, size_at: Ints
) -> None:
    """Cut an order of people into groups of k to 2k-1 and single people, at the least cost.

    People of one color stand together in the order. Writes into least[i] the least cost of the
    first i people, and into size_at[i] how many of them the last group has; 0 for a single person.
    `sorted_values` has shape (coordinates, 2 k).
    """
    points, colors, alone, up, down = costs
    least[0] = 0
    for i in range(1, order.size + 1):
        person = order[i - 1]
        least[i] = min(least[i - 1] + alone[person], NEVER)
        size_at[i] = 0
        for size in range(1, min(2 * k - 1, i) + 1):
            other = order[i - size]
            if colors[other] != colors[person]:
                break
            cost = 0
            for c in range(points.shape[1]):
                _insert(sorted_values[c], size - 1, points[other, c])
                if size >= k:
                    cost += _spread(sorted_values[c], size, up, down)
            if size >= k and least[i - size] + cost < least[i]:
                least[i] = least[i - size] + cost
                size_at[i] = size


@leaf
def _cost(costs: Costs, groups: Groups, g: int, without: int, besides: int, values: Ints) -> int:
    """Return the cost of a group without one member and with somebody besides; -1 for nobody."""
    total = 0
    for c in range(costs.points.shape[1]):
        size = 0
        for i in range(groups.sizes[g]):
            member = groups.members[g, i]
            if member != without:
                _insert(values, size, costs.points[member, c])
                size += 1
        if besides >= 0:
            _insert(values, size, costs.points[besides, c])
            size += 1
        total += _spread(values, size, costs.up, costs.down)
    return int(total)


@leaf
def _leave(groups: Groups, person: int, cost: int) -> None:
    """Take a person out of the group, which then costs so much."""
    g = groups.group_of[person]
    last = groups.sizes[g] - 1
    for i in range(last):
        if groups.members[g, i] == person:
            groups.members[g, i] = groups.members[g, last]
            break
    groups.sizes[g] = last
    groups.costs[g] = cost
    groups.group_of[person] = -1


@leaf
def _join(groups: Groups, person: int, g: int, cost: int) -> None:
    """Put a person who stands alone into a group, which then costs so much."""
    groups.members[g, groups.sizes[g]] = person
    groups.sizes[g] += 1
    groups.costs[g] = cost
    groups.group_of[person] = g


@tiered()
@leaf
def fill(costs: Costs, groups: Groups, order: Ints, size_at: Ints, values: Ints) -> None:
    """Put people into groups, all empty, as `best_cuts` cut their order."""
    end, g = wide(order.size), wide(0)
    while end > 0:
        size = size_at[end]
        for i in range(end - size, end):
            _join(groups, order[i], g, 0)
        if size > 0:
            groups.costs[g] = _cost(costs, groups, g, -1, -1, values)
            g += 1
        end -= max(size, 1)


@tiered()
@leaf
def ranges(costs: Costs, groups: Groups, values: Ints, low: Ints, high: Ints) -> None:
    """Write into low[g] and high[g] between which points a group costs the same."""
    for g in range(groups.sizes.size):
        size = groups.sizes[g]
        for c in range(costs.points.shape[1]):
            if size == 0:
                continue
            for i in range(size):
                _insert(values, i, costs.points[groups.members[g, i], c])
            rank = _rank(size, costs.up, costs.down)
            low[g, c] = values[rank]
            free = costs.down >= 0 and (size * costs.down) % (costs.up + costs.down) == 0
            high[g, c] = values[rank + 1] if free and rank + 1 < size else values[rank]


@leaf
def _moved(costs: Costs, groups: Groups, person: int, near: Ints, k: int, values: Ints) -> int:
    """Let a person into another group or alone where that is cheapest; return what it gains."""
    g = groups.group_of[person]
    rest = 0
    if g >= 0:
        if groups.sizes[g] <= k:
            return 0
        rest = _cost(costs, groups, g, person, -1, values)
        gain = groups.costs[g] - rest
    else:
        gain = costs.alone[person]
    best, where, cost_there = 0, g, 0
    if g >= 0 and gain - costs.alone[person] > best:
        best, where = gain - costs.alone[person], -1
    for h in near:
        if h < 0 or h == g or groups.sizes[h] == 0 or groups.sizes[h] == groups.members.shape[1]:
            continue
        cost = _cost(costs, groups, h, -1, person, values)
        if gain - (cost - groups.costs[h]) > best:
            best, where, cost_there = gain - (cost - groups.costs[h]), h, cost
    if best > 0:
        if g >= 0:
            _leave(groups, person, rest)
        if where >= 0:
            _join(groups, person, where, cost_there)
    return int(best)


@leaf
def _swapped(costs: Costs, groups: Groups, person: int, near: Ints, values: Ints) -> int:
    """Exchange a person for the member of a near group with whom it gains most; return the gain."""
    g = groups.group_of[person]
    best, partner, here, there = 0, -1, 0, 0
    for h in near:
        if g < 0 or h < 0 or h == g:
            continue
        for i in range(groups.sizes[h]):
            other = groups.members[h, i]
            one = _cost(costs, groups, g, person, other, values)
            if one >= groups.costs[g] + groups.costs[h] - best:
                continue
            two = _cost(costs, groups, h, other, person, values)
            gain = groups.costs[g] + groups.costs[h] - one - two
            if gain > best:
                best, partner, here, there = gain, other, one, two
    if best > 0:
        h = groups.group_of[partner]
        _leave(groups, person, 0)
        _leave(groups, partner, 0)
        _join(groups, partner, g, here)
        _join(groups, person, h, there)
    return int(best)


@leaf
def _dissolved(costs: Costs, groups: Groups, g: int, near: Ints, values: Ints, undo: Ints) -> int:
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
            cost = _cost(costs, groups, h, -1, person, values)
            if cost - groups.costs[h] < cheapest:
                cheapest, where, cost_there = cost - groups.costs[h], h, cost
        spent += cheapest
        if spent >= before:
            for j in range(i - 1, -1, -1):
                other = undo[j]
                h = groups.group_of[other]
                if h >= 0:
                    _leave(groups, other, _cost(costs, groups, h, other, -1, values))
                groups.group_of[other] = g
            return 0
        groups.group_of[person] = -1
        if where >= 0:
            _join(groups, person, where, cost_there)
    groups.sizes[g] = 0
    groups.costs[g] = 0
    return int(before - spent)


@tiered(_steps_near)
@allocating
def improve(costs: Costs, groups: Groups, near: Ints, order: Ints, k: int) -> int:
    """Move, exchange and dissolve once for everyone in this order; return the gain in all.

    ``near[person]`` names groups that are near, -1 for none.
    """
    values = np.empty(groups.members.shape[1] + 1, dtype=np.int64)
    undo = np.empty(groups.members.shape[1], dtype=np.int64)
    gain = 0
    for person in order:
        gain += _moved(costs, groups, person, near[person], k, values)
        gain += _swapped(costs, groups, person, near[person], values)
        g = groups.group_of[person]
        if g >= 0 and groups.members[g, 0] == person:
            gain += _dissolved(costs, groups, g, near, values, undo)
    return gain


class Trial(NamedTuple):
    """Room for cutting a few groups anew: how many people these have at most."""

    order: Ints
    keys: Ints
    old: Ints
    least: Ints
    size_at: Ints
    sorted_values: Ints


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
def _sort_along(costs: Costs, trial: Trial, people: int, rng: np.random.Generator) -> None:
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
    costs: Costs, groups: Groups, trial: Trial, sizes: tuple[int, int], empty: Ints, values: Ints
) -> None:
    """Put people into groups as they were cut; `empty` lists empty groups, its first how many."""
    n_groups, people = sizes
    for i in range(n_groups):
        empty[0] += 1
        empty[empty[0]] = trial.old[i]
        groups.sizes[trial.old[i]] = 0
        groups.costs[trial.old[i]] = 0
    end = people
    while end > 0:
        size = trial.size_at[end]
        g = wide(-1)
        if size > 0:
            g = empty[empty[0]]
            empty[0] -= 1
        for i in range(end - max(size, 1), end):
            groups.group_of[trial.order[i]] = -1
            if g >= 0:
                _join(groups, trial.order[i], g, 0)
        if g >= 0:
            groups.costs[g] = _cost(costs, groups, g, -1, -1, values)
        end -= max(size, 1)


@tiered(_steps_near)
@allocating
def cut_anew(
    costs: Costs, groups: Groups, near: Ints, people: Ints, k: int, rng: np.random.Generator
) -> int:
    """Cut the groups near everyone in turn anew, along a random direction; return the gain.

    A cut is kept where it costs less. ``near[person]`` names groups that are near, -1 for none.
    """
    most = near.shape[1] * groups.members.shape[1]
    trial = Trial(
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(near.shape[1], dtype=np.int64),
        np.empty(most + 1, dtype=np.int64),
        np.zeros(most + 1, dtype=np.int64),
        np.empty((costs.points.shape[1], 2 * k), dtype=np.int64),
    )
    values = np.empty(groups.members.shape[1] + 1, dtype=np.int64)
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
        best_cuts(costs, trial.order[:count], k, trial.sorted_values, trial.least, trial.size_at)
        if trial.least[count] < before:
            gain += before - trial.least[count]
            _regroup(costs, groups, trial, (n_groups, count), empty, values)
    return gain
