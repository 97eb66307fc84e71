"""Targets of profiles: which nodes get the same in- and out-degrees, at a small total change.

The guarantee is that of Casas-Roma, Salas, Malliaros and Vazirgiannis, *k-degree anonymity on
directed networks* (KAIS 2019). They group all nodes by the heuristic MDAV, and only add arcs. Here:

1. Cells, that is nodes of equal profile and color, of at least k nodes stay as they are
   (`plan_of_profiles`). This is the main departure: nodes of frequent profiles need no change.
2. Every other node joins the nearest such cell, or a group of at least k nodes. Groups are cut from
   orders along space-filling curves by dynamic programming, and improved by moves, exchanges,
   dissolutions and new cuts (the kernels in `grouping`). The cheapest result wins.
3. Targets are leveled (`leveled`): the out-degrees and the in-degrees must have the same sum.

Nothing here is claimed to be optimal: two-dimensional microaggregation is NP-hard. Cost for p nodes
outside cells of k: O(p k**2) for a curve, and the same again for each pass of improvements.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Flags, Ints
from graphveil.methods.profile.kernels import grouping
from graphveil.methods.profile.kernels.arcs import LESS, LESS_BACK, MORE, MORE_BACK, Cells

PASSES = 12
"""The most passes that improve the groups; they end earlier if a pass hardly gains."""

WORTHWHILE = 1_000
"""A pass is followed by another one if it gained more than this part (1/1000) of the total cost."""

CUTS = 3
"""How often a pass cuts the groups near each node again, along other random directions."""

NEAREST = 7
"""How many groups count as near a node, its own among them. The work of a pass grows with it."""

BITS = 16
"""Bits of a coordinate on the Hilbert curve; larger coordinates lose their lowest bits."""
LOGARITHMS = 300
"""One of the curves runs through ``300 log(1 + degree)``, where hubs are as dense as other nodes.

The factor makes integers of the logarithms with steps of a third of a percent.
"""
SHIFTED_WORK = 500_000
"""Below this product of nodes and k, each curve is tried again with a random shift.

It bounds run time: the shifts double the work.
"""


class Prices(NamedTuple):
    """What a unit of rise and a unit of fall cost in a plan.

    Parameters
    ----------
    up
        The cost of one edge more.
    down
        The cost of one edge less; below 0, degrees may only rise.
    """

    up: int = 1
    down: int = 1

    @property
    def rises(self) -> bool:
        """Whether degrees may only rise."""
        return self.down < 0

    def of(self, change: Ints) -> Ints:
        """Return the cost of these changes, one row per node."""
        cost: Ints = np.where(change > 0, self.up * change, -self.down * change).sum(axis=1)
        return cost


ADDITIONS = Prices(1, -1)


class ProfilePlan(NamedTuple):
    """The target profile of every node. All int64, n rows.

    Parameters
    ----------
    target
        Shape (n, d): where each node is to go.
    high
        Shape (n, d): up to here the target of its group costs the same.
    group
        Shape (n,): the number of its group or cell.
    """

    target: Ints
    high: Ints
    group: Ints

    def change(self, points: Ints) -> Ints:
        """Return by how much all degrees of each node change, int64, shape (n,)."""
        change: Ints = np.abs(self.target - points).sum(axis=1)
        return change


def classes(*columns: Ints) -> tuple[Ints, Ints]:
    """Return the class of every node, equal rows being one class, and the size of every class.

    Parameters
    ----------
    *columns
        int64, shape (n,) each.

    Returns
    -------
    labels
        int64, shape (n,), 0..C-1, in lexicographic order.
    sizes
        int64, shape (C,).
    """
    order = np.lexsort(columns[::-1])
    differs = np.zeros(order.size, dtype=np.bool_)
    for column in columns:
        differs[1:] |= np.diff(column[order]) != 0
    labels = np.empty(order.size, dtype=np.int64)
    labels[order] = np.cumsum(differs)
    return labels, np.bincount(labels).astype(np.int64)


def hilbert(x: Ints, y: Ints) -> Ints:
    """Return the position of points along a Hilbert curve, on which near positions are near points.

    Coordinates are 0 or more, and below 2**16.
    """
    x, y = x.astype(np.int64), y.astype(np.int64)
    position = np.zeros(x.size, dtype=np.int64)
    for bit in reversed(range(BITS)):
        side = 1 << bit
        # From the largest square to the smallest: which quadrant, and its number along the curve.
        right, above = (x & side) > 0, (y & side) > 0
        position += side * side * ((3 * right) ^ above)
        x, y = x & (side - 1), y & (side - 1)
        # The curve inside a quadrant is turned or mirrored.
        turned = right & ~above
        x, y = np.where(turned, side - 1 - x, x), np.where(turned, side - 1 - y, y)
        x, y = np.where(above, x, y), np.where(above, y, x)
    return position


def plan_of_profiles(
    points: Ints, colors: Ints, k: int, prices: Prices, rng: Generator
) -> ProfilePlan:
    """Return targets that at least k nodes of one color share, at a small total price.

    Parameters
    ----------
    points
        int64, shape (n, d): the profile of every node.
    colors
        int64, shape (n,): the known attributes of every node, by number.
    k
        The smallest size of a cell.
    prices
        What a rise and a fall cost.
    rng
        For shifts, orders and directions.

    Notes
    -----
    Casas-Roma, Salas, Malliaros and Vazirgiannis, *k-degree anonymity on directed networks*, KAIS
    61 (2019), group all nodes by the heuristic MDAV; here nodes in cells of k stay.
    """
    labels, sizes = classes(colors, *points.T)
    # Step 1: cells of at least k nodes stay.
    target, group = points.copy(), labels.copy()
    in_cell = sizes[labels] >= k
    if in_cell.all():
        return ProfilePlan(target, target.copy(), group)
    # Step 2: what it costs every other node to join such a cell. Some cells must be given up if
    # nodes of their color could otherwise not be placed: nobody stays in these, or joins them.
    alone, nearest = _joining(points, colors, in_cell, labels, prices)
    given_up = _needed(points, colors, (in_cell, alone), labels, k)
    if given_up.any():
        in_cell &= ~given_up
        alone, nearest = _joining(points, colors, in_cell, labels, prices)
    # Step 3: the cheapest groups and single nodes.
    outside = np.flatnonzero(~in_cell)
    costs = grouping.Costs(points, colors, alone, prices.up, prices.down)
    groups = _cheapest(costs, outside, k, rng)
    # Step 4: single nodes go to their cell, nodes of a group to its best common point.
    high = target.copy()
    loners = outside[groups.group_of[outside] < 0]
    target[loners], group[loners] = points[nearest[loners]], labels[nearest[loners]]
    high[loners] = target[loners]
    joined = outside[groups.group_of[outside] >= 0]
    low_of, high_of = (np.zeros((groups.sizes.size, points.shape[1]), np.int64) for _ in range(2))
    grouping.ranges(costs, groups, low_of, high_of)
    target[joined] = low_of[groups.group_of[joined]]
    high[joined] = high_of[groups.group_of[joined]]
    group[joined] = sizes.size + groups.group_of[joined]
    return ProfilePlan(target, high, group)


def _joining(
    points: Ints, colors: Ints, in_cell: Flags, labels: Ints, prices: Prices
) -> tuple[Ints, Ints]:
    """Return what it costs every node to join a cell of at least k, and one node of that cell.

    `NEVER` and -1 if there is no such cell; 0 and itself for nodes in one. `in_cell`: bool, shape
    (n,): the nodes of cells of at least k.
    """
    alone = np.where(in_cell, 0, grouping.NEVER)
    nearest = np.full(labels.size, -1, dtype=np.int64)
    nearest[in_cell] = np.flatnonzero(in_cell)
    outside, in_cells = np.flatnonzero(~in_cell), np.flatnonzero(in_cell)
    cells = in_cells[np.unique(labels[in_cells], return_index=True)[1]]
    if not cells.size:
        return alone, nearest
    # If degrees may only rise: the first cell nowhere below the node. Else the nearest one.
    if prices.rises:
        cells = cells[np.argsort(points[cells].sum(axis=1), kind="stable")]
        nearest_few = np.empty(outside.size, dtype=np.int64)
        grouping.nearest_above(points, colors, cells, outside, nearest_few)
    else:
        reached, at = _neighbors(
            (points[cells], colors[cells]), (points[outside], colors[outside]), 1
        )
        nearest_few = np.where(reached[:, 0], cells[at[:, 0]], -1)
    nearest[outside] = nearest_few
    some = outside[nearest_few >= 0]
    alone[some] = prices.of(points[nearest[some]] - points[some])
    return alone, nearest


def _needed(points: Ints, colors: Ints, cells: tuple[Flags, Ints], labels: Ints, k: int) -> Flags:
    """Return which nodes of cells of at least k must leave them, to form groups of k with others.

    In a color with nodes that can join no cell, and fewer than k nodes outside cells, the nearest
    cells are given up until there are k. `cells`: which nodes are in cells of at least k, and the
    costs of `_joining`.
    """
    in_cell, alone = cells
    given_up = np.zeros(in_cell.size, dtype=np.bool_)
    for color in np.unique(colors[~in_cell & (alone >= grouping.NEVER)]).tolist():
        of_color = colors == color
        outside = np.flatnonzero(of_color & ~in_cell)
        # Nodes that can join no cell, and how many more their color needs to form a group.
        stuck = outside[alone[outside] >= grouping.NEVER]
        missing = k - outside.size
        others = np.flatnonzero(of_color & in_cell)
        # Give up the nearest cells, one after the other.
        away = np.abs(points[others] - points[stuck].max(axis=0)).sum(axis=1)
        for person in others[np.argsort(away, kind="stable")].tolist():
            if missing <= 0:
                break
            if not given_up[person]:
                cell = of_color & (labels == labels[person])
                given_up |= cell
                missing -= int(np.count_nonzero(cell))
    return given_up


def _neighbors(
    known: tuple[NDArray[np.integer], Ints], asking: tuple[Ints, Ints], most: int
) -> tuple[Flags, Ints]:
    """Return the nearest points of the same color, and whether each exists; shape (n, most).

    Colors are a further coordinate, so far apart that no point of a different color is nearer.
    `known`: the points that are searched, shape (m, d), and their colors; `asking`: those whose
    neighbors are returned, shape (n, d), and theirs.
    """
    from scipy.spatial import KDTree  # noqa: PLC0415  a network without directions needs none

    color_step = 2 * int(max(known[0].sum(axis=1).max(), asking[0].sum(axis=1).max())) + 1
    tree = KDTree(np.column_stack([known[0], known[1] * color_step]))
    queries = np.column_stack([asking[0], asking[1] * color_step])
    distance, nearest = tree.query(queries, k=range(1, most + 1), p=1)
    reached: Flags = distance < color_step
    return reached, np.where(reached, nearest, 0)


def _orders(points: Ints, colors: Ints, shifts: int, rng: Generator) -> list[Ints]:
    """Return orders of the nodes in which neighbors are near, color by color.

    Along the Hilbert curves of the points and of their logarithms; if asked for, also of both
    shifted by a random vector.
    """
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
    """Return points in the plane; of more coordinates the two principal axes."""
    if points.shape[1] == 2:
        return points
    centered = points - points.mean(axis=0)
    axes = np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :2]
    # The sign of an axis is arbitrary: fix it, so that the result repeats.
    axes *= np.where(axes.sum(axis=0) < 0, -1, 1)
    along = np.zeros((points.shape[0], 2))
    along[:, : axes.shape[1]] = centered @ axes
    plane: Ints = (along - along.min(axis=0, initial=0)).astype(np.int64)
    return plane


def _cheapest(costs: grouping.Costs, outside: Ints, k: int, rng: Generator) -> grouping.Groups:
    """Return the cheapest groups that any of the orders led to."""

    def spent(groups: grouping.Groups) -> int:
        return int(groups.costs.sum() + costs.alone[outside[groups.group_of[outside] < 0]].sum())

    shifts = int(outside.size * k < SHIFTED_WORK)
    orders = _orders(costs.points[outside], costs.colors[outside], shifts, rng)
    cut = (_groups_of(costs, outside[order], k) for order in orders)
    return min((_improved(costs, groups, outside, k, rng) for groups in cut), key=spent)


def _groups_of(costs: grouping.Costs, order: Ints, k: int) -> grouping.Groups:
    """Return the groups that an order of nodes is cut into, by `best_cuts`."""
    n, coordinates = costs.points.shape
    least, rest = (np.empty(order.size + 1, dtype=np.int64) for _ in range(2))
    size_at = np.zeros(order.size + 1, dtype=np.int64)
    windows, room = np.empty((coordinates, k + 1), np.int64), np.empty((2, 2 * k), np.int64)
    cuts = grouping.Cuts(least, size_at, rest, windows, room[0], room[1])
    grouping.best_cuts(costs, order, k, cuts, grouping.NEVER)
    # A group starts with at most 2k - 1 nodes. It has room to grow to 3k + 2 while it is improved;
    # a full group takes no more.
    rows, most = max(order.size // k, 1), 3 * k + 2
    members, group_of = np.full((rows, most), -1, np.int64), np.full(n, -1, np.int64)
    sizes, spent = (np.zeros(rows, np.int64) for _ in range(2))
    values, sums = (np.zeros((rows, coordinates, most + i), np.int64) for i in (1, 2))
    groups = grouping.Groups(members, sizes, spent, group_of, values, sums)
    grouping.fill(costs, groups, order, size_at)
    return groups


def _improved(
    costs: grouping.Costs, groups: grouping.Groups, outside: Ints, k: int, rng: Generator
) -> grouping.Groups:
    """Improve groups in place, pass by pass, and return them."""
    near = np.full((costs.colors.size, NEAREST), -1, dtype=np.int64)
    low, high = (np.zeros((groups.sizes.size, costs.points.shape[1]), np.int64) for _ in range(2))
    for _ in range(PASSES):
        used = np.flatnonzero(groups.sizes)
        if not used.size:
            break
        # Step 1: the groups nearest to each node, by the middle of their best points.
        grouping.ranges(costs, groups, low, high)
        centers = (low[used] + high[used]) // 2, costs.colors[groups.members[used, 0]]
        most = min(NEAREST, used.size)
        reached, at = _neighbors(centers, (costs.points[outside], costs.colors[outside]), most)
        near[outside, :most] = np.where(reached, used[at], -1)
        # Step 2: moves, exchanges and dissolutions, in random order.
        gain = grouping.improve(costs, groups, near, rng.permutation(outside), k)
        # Step 3: new cuts of nearby groups.
        for _again in range(CUTS):
            gain += grouping.cut_anew(costs, groups, near, rng.permutation(outside), k, rng)
        if gain * WORTHWHILE <= int(groups.costs.sum()):
            break
    return groups


OUT, IN = 0, 1
STEPS = ((OUT, 1), (OUT, -1), (IN, 1), (IN, -1))
"""By how much which number changes: more out, less out, more in, less in.

The order is that of the columns `MORE`, `LESS`, `MORE_BACK` and `LESS_BACK` of the kernels.
"""


def cells_of(targets: Ints, colors: Ints) -> Cells:
    """Return the cells of nodes with these targets, and which cells are one step apart.

    Parameters
    ----------
    targets
        int64, shape (n, 2): out-degree and in-degree.
    colors
        int64, shape (n,).
    """
    labels, sizes = classes(colors, *targets.T)
    first = np.unique(labels, return_index=True)[1]
    rows = np.column_stack([colors, targets])[first]
    number = {tuple(row): at for at, row in enumerate(rows.tolist())}
    next_cell = np.full((first.size, len(STEPS)), -1, dtype=np.int64)
    for way, (side, by) in enumerate(STEPS):
        moved = rows.copy()
        moved[:, 1 + side] += by
        next_cell[:, way] = [number.get(tuple(row), -1) for row in moved.tolist()]
    return Cells(labels, sizes, next_cell)


class _Level(NamedTuple):
    """Targets that are being leveled (written in place), and the present profiles; both (n, 2)."""

    target: Ints
    points: Ints

    @property
    def excess(self) -> int:
        """The sum of the out-degrees minus the sum of the in-degrees."""
        out, into = self.target.sum(axis=0).tolist()
        return int(out - into)


def leveled(
    plan: ProfilePlan, points: Ints, colors: Ints, k: int, prices: Prices, rng: Generator
) -> Ints:
    """Return targets near a plan's, with equal sums of out-degrees and in-degrees, (n, 2).

    Groups with a free choice start at their highest target, since added arcs are easier to place
    than deleted ones. Then, until the sums agree: free targets are lowered; nodes leave cells of
    more than k for a neighboring cell; whole groups move. If none suffices, the target is the
    complete graph or, if arcs may be deleted, the empty one.

    Parameters
    ----------
    plan
        The targets of a plan, with two coordinates.
    points
        int64, shape (n, 2): the present profiles.
    colors
        int64, shape (n,).
    k
        The smallest size of a cell.
    prices
        Whether degrees may only rise, and what changes cost.
    rng
        In which order nodes and groups are looked at.
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
    """Lower the free targets of groups, in random order, on the side whose sum is too high."""
    excess = level.excess
    side, excess = (OUT, excess) if excess > 0 else (IN, -excess)
    room = plan.high[:, side] - plan.target[:, side]
    free = np.flatnonzero(room > 0)
    numbers, first, sizes = np.unique(plan.group[free], return_index=True, return_counts=True)
    lowered = dict.fromkeys(numbers.tolist(), 0)
    # As far as a group is free, and as the excess asks for.
    for at in rng.permutation(numbers.size).tolist():
        by = min(int(room[free[first[at]]]), excess // int(sizes[at]))
        lowered[int(numbers[at])] = by
        excess -= by * int(sizes[at])
    by_group = [lowered[group] for group in plan.group[free].tolist()]
    level.target[free, side] -= np.array(by_group, dtype=np.int64)


def _let_spare_people_step(
    level: _Level, colors: Ints, k: int, prices: Prices, rng: Generator
) -> None:
    """Let nodes of cells with more than k change to a neighboring cell, one unit each.

    The number of added arcs is the larger of the two sums of rises: a rise on the other side is
    free, and is tried first. Only nodes that do not change otherwise are taken.
    """
    change = level.target - level.points
    rises = np.maximum(change, 0).sum(axis=0)
    excess = level.excess
    up, down = (MORE_BACK, LESS) if excess > 0 else (MORE, LESS_BACK)
    up_is_free = rises[STEPS[up][0]] < rises[1 - STEPS[up][0]]
    # Raise the lower side (`up`), or lower the side that is too high (`down`).
    ways = [up] if prices.rises else ([up, down] if up_is_free else [down, up])
    cells, missing = cells_of(level.target, colors), abs(excess)
    still = rng.permutation(np.flatnonzero(~change.any(axis=1)))
    # Only nodes that are where they were, and whose cell keeps k.
    for way in ways:
        side, by = STEPS[way]
        for person in still[cells.next_cell[cells.of_person[still], way] >= 0].tolist():
            if missing == 0:
                return
            cell = cells.of_person[person]
            to = cells.next_cell[cell, way]
            if cells.members[cell] > k and to >= 0 and not change[person].any():
                cells.members[cell] -= 1
                cells.members[to] += 1
                cells.of_person[person] = to
                level.target[person, side] += by
                change[person, side] += by
                missing -= 1


def _move_groups(level: _Level, colors: Ints, prices: Prices) -> None:
    """Move whole cells by one unit each, as cheaply as possible, so that the sums agree.

    Moving a cell of s nodes changes the excess by s. The cheapest sequence of moves is a shortest
    path over values of the excess, found by Dijkstra's algorithm.
    """
    labels, sizes = classes(colors, *level.target.T)
    n = labels.size
    # Step 1: every possible move of a cell, by how much it changes the excess. Its price is the
    # change of the cost, plus its number of nodes. The cost falls by at most 1 per node, so no
    # price is negative, as Dijkstra's algorithm requires.
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
    # Step 2: make the moves along the path, the cheapest cell first for each amount.
    for amount in _path(level.excess, {amount: each[0][0] for amount, each in moves.items()}):
        _, cell, side, by = moves[amount].pop(0) if len(moves[amount]) > 1 else moves[amount][0]
        level.target[labels == cell, side] += by


def _path(excess: int, price: dict[int, int]) -> list[int]:
    """Return the cheapest amounts that bring the excess to 0; an empty list if there are none.

    `price`: the price of changing the excess by an amount. Values of the excess beyond its first
    size and two of the largest amounts are not visited: the moves of a path can be made in an order
    that stays within.
    """
    most = abs(excess) + 2 * max(map(abs, price), default=0)
    queue, before = [(0, excess)], {excess: (0, 0)}
    reached: dict[int, int] = {excess: 0}
    # Dijkstra: the cheapest known value of the excess first, until it is 0.
    while queue:
        spent, value = heapq.heappop(queue)
        if value == 0:
            break
        if spent > reached[value]:
            continue
        for amount, cost in price.items():
            after = value + amount
            if abs(after) <= most and spent + max(cost, 1) < reached.get(after, 1 << 60):
                reached[after] = spent + max(cost, 1)
                before[after] = value, amount
                heapq.heappush(queue, (reached[after], after))
    if 0 not in reached:
        return []
    # Back along the path.
    amounts, at = [], 0
    while at != excess:
        at, amount = before[at]
        amounts.append(amount)
    return amounts[::-1]
