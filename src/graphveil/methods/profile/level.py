"""Targets under which as many arcs leave as come in."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.profile.arcs import LESS, LESS_BACK, MORE, MORE_BACK, Cells
from graphveil.methods.profile.plan import Ints, Prices, ProfilePlan, classes

OUT, IN = 0, 1
STEPS = ((OUT, 1), (OUT, -1), (IN, 1), (IN, -1))
"""By how much which number changes: more out, less out, more in, less in."""


def cells_of(targets: Ints, colors: Ints) -> Cells:
    """Return the cells of people with these targets, and which lie one step from each other.

    Examples
    --------
    >>> cells = cells_of(np.array([[1, 0], [2, 0], [1, 0]]), np.array([0, 0, 0]))
    >>> cells.of_person.tolist(), cells.members.tolist(), cells.beside.tolist()
    ([0, 1, 0], [2, 1], [[1, -1, -1, -1], [-1, 0, -1, -1]])
    """
    labels, sizes = classes(colors, *targets.T)
    first = np.unique(labels, return_index=True)[1]
    rows = np.column_stack([colors, targets])[first]
    number = {tuple(row): at for at, row in enumerate(rows.tolist())}
    beside = np.full((first.size, len(STEPS)), -1, dtype=np.int64)
    for way, (side, by) in enumerate(STEPS):
        moved = rows.copy()
        moved[:, 1 + side] += by
        beside[:, way] = [number.get(tuple(row), -1) for row in moved.tolist()]
    return Cells(labels, sizes, beside)


class _Level(NamedTuple):
    """Targets that are leveled, beside what they were planned for; written in place."""

    target: Ints
    points: Ints

    @property
    def excess(self) -> int:
        """By how much more arcs leave than come in."""
        out, into = self.target.sum(axis=0).tolist()
        return int(out - into)


def leveled(
    plan: ProfilePlan,
    points: Ints,
    colors: Ints,
    k: int,
    prices: Prices,
    rng: np.random.Generator,
) -> Ints:
    """Return targets near a plan's under which as many arcs leave as come in, shape (n, 2).

    Where targets are free they are the highest that are, since arcs that come are easier to find
    than arcs that go; they are lowered first. Then people leave cells of more than k for a next
    one. Whole groups move where neither is enough; where they cannot, all arcs come, or all go.
    """
    level = _Level(plan.high.copy(), points)
    _lower_free(level, plan, rng)
    if level.excess:
        _let_spare_people_step(level, colors, k, prices, rng)
    if level.excess:
        _move_groups(level, colors, prices)
    if level.excess:
        level.target[:] = points.shape[0] - 1 if prices.rises else 0
    return level.target


def _lower_free(level: _Level, plan: ProfilePlan, rng: np.random.Generator) -> None:
    """Lower the free targets of groups on the side that is too high."""
    excess = level.excess
    side, excess = (OUT, excess) if excess > 0 else (IN, -excess)
    room = plan.high[:, side] - plan.target[:, side]
    free = np.flatnonzero(room > 0)
    numbers, first, sizes = np.unique(plan.group[free], return_index=True, return_counts=True)
    lowered = dict.fromkeys(numbers.tolist(), 0)
    for at in rng.permutation(numbers.size).tolist():
        by = min(int(room[free[first[at]]]), excess // int(sizes[at]))
        lowered[int(numbers[at])] = by
        excess -= by * int(sizes[at])
    by_group = [lowered[group] for group in plan.group[free].tolist()]
    level.target[free, side] -= np.array(by_group, dtype=np.int64)


def _let_spare_people_step(
    level: _Level, colors: Ints, k: int, prices: Prices, rng: np.random.Generator
) -> None:
    """Let people into the next cell, the side first that has less to pay."""
    change = level.target - level.points
    rises = np.maximum(change, 0).sum(axis=0)
    excess = level.excess
    up, down = (MORE_BACK, LESS) if excess > 0 else (MORE, LESS_BACK)
    up_is_free = rises[STEPS[up][0]] < rises[1 - STEPS[up][0]]
    ways = [up] if prices.rises else ([up, down] if up_is_free else [down, up])
    cells, missing = cells_of(level.target, colors), abs(excess)
    still = rng.permutation(np.flatnonzero(~change.any(axis=1)))
    for way in ways:
        side, by = STEPS[way]
        for person in still[cells.beside[cells.of_person[still], way] >= 0].tolist():
            if missing == 0:
                return
            cell = cells.of_person[person]
            to = cells.beside[cell, way]
            if cells.members[cell] > k and to >= 0 and not change[person].any():
                cells.members[cell] -= 1
                cells.members[to] += 1
                cells.of_person[person] = to
                level.target[person, side] += by
                change[person, side] += by
                missing -= 1


def _move_groups(level: _Level, colors: Ints, prices: Prices) -> None:
    """Move whole cells by one unit each, as few and as cheap ones as level the targets.

    A cell of s people that moves by one changes the excess by s. Since the excess is a sum of such
    numbers, some moves lead to none unless numbers of ties are at their limits; the cheapest are
    sought by Dijkstra's algorithm.
    """
    labels, sizes = classes(colors, *level.target.T)
    n = labels.size
    moves: dict[int, list[tuple[int, int, int, int]]] = {}
    for side, by in STEPS:
        if by < 0 and prices.rises:
            continue
        moved = level.target[:, side] + by
        before = np.abs(level.target[:, side] - level.points[:, side])
        cost = np.bincount(labels, np.abs(moved - level.points[:, side]) - before)
        possible = np.bincount(labels, (moved < 0) | (moved > n - 1)) == 0
        gain = by if side == OUT else -by
        for cell in np.flatnonzero(possible).tolist():
            price = int(cost[cell]) + int(sizes[cell])
            moves.setdefault(gain * int(sizes[cell]), []).append((price, cell, side, by))
    for each in moves.values():
        each.sort()
    for amount in _path(level.excess, {amount: each[0][0] for amount, each in moves.items()}):
        _, cell, side, by = moves[amount].pop(0) if len(moves[amount]) > 1 else moves[amount][0]
        level.target[labels == cell, side] += by


def _path(excess: int, price: dict[int, int]) -> list[int]:
    """Return the cheapest amounts whose sum with the excess is 0; none where there are none.

    Examples
    --------
    >>> _path(1, {4: 4, -5: 5})
    [4, -5]
    """
    most = abs(excess) + 2 * max(map(abs, price), default=0)
    queue, before = [(0, excess)], {excess: (0, 0)}
    reached: dict[int, int] = {excess: 0}
    while queue:
        spent, now = heapq.heappop(queue)
        if now == 0:
            break
        if spent > reached[now]:
            continue
        for amount, cost in price.items():
            then = now + amount
            if abs(then) <= most and spent + max(cost, 1) < reached.get(then, 1 << 60):
                reached[then] = spent + max(cost, 1)
                before[then] = now, amount
                heapq.heappush(queue, (reached[then], then))
    if 0 not in reached:
        return []
    amounts, at = [], 0
    while at != excess:
        at, amount = before[at]
        amounts.append(amount)
    return amounts[::-1]


def unmet(owed: NDArray[np.int64], owed_back: NDArray[np.int64]) -> int:
    """Return how many units are owed, out and in."""
    return int(np.abs(owed).sum() + np.abs(owed_back).sum())
