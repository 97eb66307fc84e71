"""Targets of profiles: which nodes get the same in- and out-degrees, at a small total change.

Cells of at least k nodes stay. All others join such a cell, or a group of at least k: groups are
cut from space-filling curves by dynamic programming, and improved by moves, exchanges, dissolutions
and new cuts of nearby groups. Nothing here is claimed to be optimal: two-dimensional
microaggregation is NP-hard.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.methods.profile.kernels import grouping
from graphveil.methods.profile.kernels.arcs import LESS, LESS_BACK, MORE, MORE_BACK, Cells

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

PASSES = 12
"""Groups are improved so many times, or until nothing gains."""

WORTHWHILE = 1_000
"""Groups are improved again while a pass gains more than this part of what they cost."""

CUTS = 3
"""Everyone's nearest groups are cut anew so many times a pass."""

NEAREST = 7
"""So many groups count as near, the own one among them."""

BITS = 16
LOGARITHMS = 300
SHIFTED_WORK = 500_000
"""Curves are shifted at random and tried again while people times k are below."""


class Prices(NamedTuple):
    """What a unit more and a unit less cost; below 0, nothing may become less."""

    up: int = 1
    down: int = 1

    @property
    def rises(self) -> bool:
        """Whether numbers of edges may only rise."""
        return self.down < 0

    def of(self, change: Ints) -> Ints:
        """Return what these changes cost, a row each."""
        cost: Ints = np.where(change > 0, self.up * change, -self.down * change).sum(axis=1)
        return cost


ADDITIONS = Prices(1, -1)


class ProfilePlan(NamedTuple):
    """Where everyone shall stand; up to `high` the target of a group costs the same."""

    target: Ints
    high: Ints
    group: Ints

    def change(self, points: Ints) -> Ints:
        """Return by how much all numbers of everyone change, shape (n,)."""
        change: Ints = np.abs(self.target - points).sum(axis=1)
        return change


def classes(*columns: Ints) -> tuple[Ints, Ints]:
    """Return the class of everyone, equal rows being one class, and the size of every class."""
    order = np.lexsort(columns[::-1])
    differs = np.zeros(order.size, dtype=np.bool_)
    for column in columns:
        differs[1:] |= np.diff(column[order]) != 0
    labels = np.empty(order.size, dtype=np.int64)
    labels[order] = np.cumsum(differs)
    return labels, np.bincount(labels).astype(np.int64)


def hilbert(x: Ints, y: Ints) -> Ints:
    """Return the position of points along a Hilbert curve; coordinates are below 2**16."""
    x, y = x.astype(np.int64), y.astype(np.int64)
    position = np.zeros(x.size, dtype=np.int64)
    for bit in reversed(range(BITS)):
        side = 1 << bit
        right, above = (x & side) > 0, (y & side) > 0
        position += side * side * ((3 * right) ^ above)
        x, y = x & (side - 1), y & (side - 1)
        turned = right & ~above
        x, y = np.where(turned, side - 1 - x, x), np.where(turned, side - 1 - y, y)
        x, y = np.where(above, x, y), np.where(above, y, x)
    return position


def plan_of_profiles(
    points: Ints, colors: Ints, k: int, prices: Prices, rng: Generator
) -> ProfilePlan:
    """Return targets that at least k people of one color share, at a small total price.

    Casas-Roma, Salas, Malliaros and Vazirgiannis, *k-degree anonymity on directed networks*, KAIS
    61 (2019), group all people by the heuristic MDAV; here people in cells of k stay.
    """
    labels, sizes = classes(colors, *points.T)
    target, group = points.copy(), labels.copy()
    whole = sizes[labels] >= k
    if whole.all():
        return ProfilePlan(target, target.copy(), group)
    alone, nearest = _joining(points, colors, whole, labels, prices)
    whole &= ~_needed(points, colors, (whole, alone), labels, k)
    alone[~whole & (nearest < 0)] = grouping.NEVER
    few = np.flatnonzero(~whole)
    costs = grouping.Costs(points, colors, alone, prices.up, prices.down)
    groups = _cheapest(costs, few, k, rng)
    high = target.copy()
    loners = few[groups.group_of[few] < 0]
    target[loners], group[loners] = points[nearest[loners]], labels[nearest[loners]]
    high[loners] = target[loners]
    joined = few[groups.group_of[few] >= 0]
    low_of, high_of = (np.zeros((groups.sizes.size, points.shape[1]), np.int64) for _ in range(2))
    grouping.ranges(costs, groups, low_of, high_of)
    target[joined] = low_of[groups.group_of[joined]]
    high[joined] = high_of[groups.group_of[joined]]
    group[joined] = sizes.size + groups.group_of[joined]
    return ProfilePlan(target, high, group)


def _joining(
    points: Ints, colors: Ints, whole: Flags, labels: Ints, prices: Prices
) -> tuple[Ints, Ints]:
    """Return what it costs everyone to join a cell of at least k, and who stands for that cell."""
    alone = np.where(whole, 0, grouping.NEVER)
    nearest = np.full(labels.size, -1, dtype=np.int64)
    nearest[whole] = np.flatnonzero(whole)
    few, inside = np.flatnonzero(~whole), np.flatnonzero(whole)
    cells = inside[np.unique(labels[inside], return_index=True)[1]]
    if not cells.size:
        return alone, nearest
    if prices.rises:
        cells = cells[np.argsort(points[cells].sum(axis=1), kind="stable")]
        nearest_few = np.empty(few.size, dtype=np.int64)
        grouping.nearest_above(points, colors, cells, few, nearest_few)
    else:
        reached, at = _neighbors((points[cells], colors[cells]), (points[few], colors[few]), 1)
        nearest_few = np.where(reached[:, 0], cells[at[:, 0]], -1)
    nearest[few] = nearest_few
    some = few[nearest_few >= 0]
    alone[some] = prices.of(points[nearest[some]] - points[some])
    return alone, nearest


def _needed(points: Ints, colors: Ints, cells: tuple[Flags, Ints], labels: Ints, k: int) -> Flags:
    """Return who of the whole cells, the nearest, must help others of their color, fewer than k."""
    whole, alone = cells
    helps = np.zeros(whole.size, dtype=np.bool_)
    for color in np.unique(colors[~whole & (alone >= grouping.NEVER)]).tolist():
        of_color = colors == color
        few = np.flatnonzero(of_color & ~whole)
        stuck = few[alone[few] >= grouping.NEVER]
        missing = k - few.size
        others = np.flatnonzero(of_color & whole)
        away = np.abs(points[others] - points[stuck].max(axis=0)).sum(axis=1)
        for person in others[np.argsort(away, kind="stable")].tolist():
            if missing <= 0:
                break
            if not helps[person]:
                cell = of_color & (labels == labels[person])
                helps |= cell
                missing -= int(np.count_nonzero(cell))
    return helps


def _neighbors(
    there: tuple[NDArray[np.integer], Ints], here: tuple[Ints, Ints], most: int
) -> tuple[Flags, Ints]:
    """Return the nearest points there, of the same color, and whether each is; shape (n, most)."""
    from scipy.spatial import KDTree  # noqa: PLC0415  a network without directions needs none

    apart = 2 * int(max(there[0].sum(axis=1).max(), here[0].sum(axis=1).max())) + 1
    tree = KDTree(np.column_stack([there[0], there[1] * apart]))
    asked = np.column_stack([here[0], here[1] * apart])
    distance, at = tree.query(asked, k=range(1, most + 1), p=1)
    reached: Flags = distance < apart
    return reached, np.where(reached, at, 0)


def _orders(points: Ints, colors: Ints, shifts: int, rng: Generator) -> list[Ints]:
    """Return orders in which neighbors are near, color by color."""
    logs = (LOGARITHMS * np.log1p(points)).astype(np.int64)
    planes = [_plane(points), _plane(logs)]
    planes += [plane + rng.integers(0, plane.max(axis=0) + 1) for plane in planes * shifts]
    orders = []
    for plane in planes:
        spare = max(int(plane.max(initial=0)).bit_length() - BITS, 0)
        key = hilbert(plane[:, 0] >> spare, plane[:, 1] >> spare)
        orders.append(np.lexsort((points.sum(axis=1), key, colors)))
    return orders


def _plane(points: Ints) -> Ints:
    """Return points in the plane: of more coordinates than two, along their principal axes."""
    if points.shape[1] == 2:
        return points
    centered = points - points.mean(axis=0)
    axes = np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :2]
    axes *= np.where(axes.sum(axis=0) < 0, -1, 1)
    along = np.zeros((points.shape[0], 2))
    along[:, : axes.shape[1]] = centered @ axes
    plane: Ints = (along - along.min(axis=0, initial=0)).astype(np.int64)
    return plane


def _cheapest(costs: grouping.Costs, few: Ints, k: int, rng: Generator) -> grouping.Groups:
    """Return the cheapest groups that any of the curves led to."""

    def spent(groups: grouping.Groups) -> int:
        return int(groups.costs.sum() + costs.alone[few[groups.group_of[few] < 0]].sum())

    shifts = int(few.size * k < SHIFTED_WORK)
    orders = _orders(costs.points[few], costs.colors[few], shifts, rng)
    cut = (_groups_of(costs, few[order], k) for order in orders)
    return min((_improved(costs, groups, few, k, rng) for groups in cut), key=spent)


def _groups_of(costs: grouping.Costs, order: Ints, k: int) -> grouping.Groups:
    """Return the groups that an order of people is cut into."""
    n, coordinates = costs.points.shape
    least, rest = (np.empty(order.size + 1, dtype=np.int64) for _ in range(2))
    size_at = np.zeros(order.size + 1, dtype=np.int64)
    windows, room = np.empty((coordinates, k + 1), np.int64), np.empty((2, 2 * k), np.int64)
    cuts = grouping.Cuts(least, size_at, rest, windows, room[0], room[1])
    grouping.best_cuts(costs, order, k, cuts, grouping.NEVER)
    rows, most = max(order.size // k, 1), 3 * k + 2
    members, group_of = np.full((rows, most), -1, np.int64), np.full(n, -1, np.int64)
    sizes, spent = (np.zeros(rows, np.int64) for _ in range(2))
    values, sums = (np.zeros((rows, coordinates, most + i), np.int64) for i in (1, 2))
    groups = grouping.Groups(members, sizes, spent, group_of, values, sums)
    grouping.fill(costs, groups, order, size_at)
    return groups


def _improved(
    costs: grouping.Costs, groups: grouping.Groups, few: Ints, k: int, rng: Generator
) -> grouping.Groups:
    """Improve groups in place, pass by pass, and return them."""
    near = np.full((costs.colors.size, NEAREST), -1, dtype=np.int64)
    low, high = (np.zeros((groups.sizes.size, costs.points.shape[1]), np.int64) for _ in range(2))
    for _ in range(PASSES):
        used = np.flatnonzero(groups.sizes)
        if not used.size:
            break
        grouping.ranges(costs, groups, low, high)
        centers = (low[used] + high[used]) // 2, costs.colors[groups.members[used, 0]]
        most = min(NEAREST, used.size)
        reached, at = _neighbors(centers, (costs.points[few], costs.colors[few]), most)
        near[few, :most] = np.where(reached, used[at], -1)
        gain = grouping.improve(costs, groups, near, rng.permutation(few), k)
        for _again in range(CUTS):
            gain += grouping.cut_anew(costs, groups, near, rng.permutation(few), k, rng)
        if gain * WORTHWHILE <= int(groups.costs.sum()):
            break
    return groups


OUT, IN = 0, 1
STEPS = ((OUT, 1), (OUT, -1), (IN, 1), (IN, -1))
"""By how much which number changes: more out, less out, more in, less in."""


def cells_of(targets: Ints, colors: Ints) -> Cells:
    """Return the cells of people with these targets, and which lie one step from each other."""
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
    """Targets that are leveled, next to what they were planned for; written in place."""

    target: Ints
    points: Ints

    @property
    def excess(self) -> int:
        """By how much more arcs leave than come in."""
        out, into = self.target.sum(axis=0).tolist()
        return int(out - into)


def leveled(
    plan: ProfilePlan, points: Ints, colors: Ints, k: int, prices: Prices, rng: Generator
) -> Ints:
    """Return targets near a plan's under which as many arcs leave as come in, shape (n, 2).

    Free targets are the highest that are, since arcs that come are easier to find; they are lowered
    first. Then people leave cells of more than k for a next one, then whole groups move; where they
    cannot, all arcs come, or all go.
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


def _lower_free(level: _Level, plan: ProfilePlan, rng: Generator) -> None:
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
    level: _Level, colors: Ints, k: int, prices: Prices, rng: Generator
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

    A cell of s people changes the excess by s; the cheapest moves are sought by Dijkstra's
    algorithm.
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
    """Return the cheapest amounts whose sum with the excess is 0; none where there are none."""
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
