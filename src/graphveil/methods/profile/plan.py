"""Targets of profiles: which people get the same numbers of ties, at a small total change.

Cells of at least k people stay as they are. Everybody else joins such a cell, or a group of at
least k: groups are cut from curves that fill the plane, by dynamic programming, and improved by
moves, exchanges, dissolutions and new cuts of those that are near. Two-dimensional
microaggregation is NP-hard; nothing here is claimed to be the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.profile.cuts import NEVER, Costs, Cuts, best_cuts
from graphveil.kernels.profile.grouping import (
    Groups,
    cut_anew,
    fill,
    improve,
    nearest_above,
    ranges,
)

Ints = NDArray[np.int64]

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
    """What a unit costs.

    Attributes
    ----------
    up, down
        The price of a unit more, and of a unit less; below 0, nothing may become less.
    """

    up: int = 1
    down: int = 1

    @property
    def rises(self) -> bool:
        """Whether numbers of ties may only rise."""
        return self.down < 0

    def of(self, change: Ints) -> Ints:
        """Return what these changes cost, a row each."""
        cost: Ints = np.where(change > 0, self.up * change, -self.down * change).sum(axis=1)
        return cost


ADDITIONS = Prices(1, -1)


class ProfilePlan(NamedTuple):
    """Where everyone shall stand.

    Attributes
    ----------
    target
        int64, shape (n, c): the numbers of ties that everyone shall have.
    high
        The same shape: up to here the target of a group costs the same.
    group
        int64, shape (n,): equal where people share a target.
    """

    target: Ints
    high: Ints
    group: Ints

    def change(self, points: Ints) -> Ints:
        """Return by how much all numbers of everyone change, shape (n,)."""
        change: Ints = np.abs(self.target - points).sum(axis=1)
        return change


def classes(*columns: Ints) -> tuple[Ints, Ints]:
    """Return the class of everyone, equal rows being one class, and the size of every class.

    Examples
    --------
    >>> labels, sizes = classes(np.array([1, 0, 1]), np.array([2, 2, 2]))
    >>> labels.tolist(), sizes.tolist()
    ([1, 0, 1], [1, 2])
    """
    order = np.lexsort(columns[::-1])
    differs = np.zeros(order.size, dtype=np.bool_)
    for column in columns:
        differs[1:] |= np.diff(column[order]) != 0
    labels = np.empty(order.size, dtype=np.int64)
    labels[order] = np.cumsum(differs)
    return labels, np.bincount(labels).astype(np.int64)


def hilbert(x: Ints, y: Ints) -> Ints:
    """Return the position of points along a Hilbert curve; coordinates are below 2**16.

    Examples
    --------
    >>> hilbert(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])).tolist()
    [0, 1, 2, 3]
    """
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
    points: Ints, colors: Ints, k: int, prices: Prices, rng: np.random.Generator
) -> ProfilePlan:
    """Return targets that at least k people of one color share, at a small total price.

    Parameters
    ----------
    points
        int64, shape (n, c): the numbers of ties of everyone.
    colors
        int64, shape (n,), from 0 on: people of different colors never share; each has at least k.
    k
        The least number of people who share a target.
    prices
        What a unit more and a unit less cost.
    rng
        Where curves are shifted, and in which order groups are improved.

    Notes
    -----
    Casas-Roma, Salas, Malliaros and Vazirgiannis, *k-degree anonymity on directed networks*, KAIS
    61 (2019), group all people by the heuristic MDAV; here people in cells of k stay.

    Examples
    --------
    >>> points = np.array([[0, 1], [0, 1], [3, 3], [3, 5], [0, 1]])
    >>> plan = plan_of_profiles(points, np.zeros(5, dtype=np.int64), 2, Prices(),
    ...                         np.random.default_rng(1))
    >>> plan.target.tolist(), plan.high.tolist()[3]
    ([[0, 1], [0, 1], [3, 3], [3, 3], [0, 1]], [3, 5])
    """
    labels, sizes = classes(colors, *points.T)
    target, group = points.copy(), labels.copy()
    whole = sizes[labels] >= k
    if whole.all():
        return ProfilePlan(target, target.copy(), group)
    alone, nearest = _joining(points, colors, whole, labels, prices)
    whole &= ~_needed(points, colors, (whole, alone), labels, k)
    alone[~whole & (nearest < 0)] = NEVER
    few = np.flatnonzero(~whole)
    costs = Costs(points, colors, alone, prices.up, prices.down)
    groups = _cheapest(costs, few, k, rng)
    high = target.copy()
    loners = few[groups.group_of[few] < 0]
    target[loners], group[loners] = points[nearest[loners]], labels[nearest[loners]]
    high[loners] = target[loners]
    joined = few[groups.group_of[few] >= 0]
    low_of, high_of = (np.zeros((groups.sizes.size, points.shape[1]), np.int64) for _ in range(2))
    ranges(costs, groups, low_of, high_of)
    target[joined] = low_of[groups.group_of[joined]]
    high[joined] = high_of[groups.group_of[joined]]
    group[joined] = sizes.size + groups.group_of[joined]
    return ProfilePlan(target, high, group)


def _joining(
    points: Ints, colors: Ints, whole: NDArray[np.bool_], labels: Ints, prices: Prices
) -> tuple[Ints, Ints]:
    """Return what it costs everyone to join a cell of at least k, and who stands for that cell."""
    alone = np.where(whole, 0, NEVER)
    nearest = np.full(labels.size, -1, dtype=np.int64)
    nearest[whole] = np.flatnonzero(whole)
    few, inside = np.flatnonzero(~whole), np.flatnonzero(whole)
    cells = inside[np.unique(labels[inside], return_index=True)[1]]
    if not cells.size:
        return alone, nearest
    if prices.rises:
        cells = cells[np.argsort(points[cells].sum(axis=1), kind="stable")]
        nearest_few = np.empty(few.size, dtype=np.int64)
        nearest_above(points, colors, cells, few, nearest_few)
    else:
        reached, at = _neighbors((points[cells], colors[cells]), (points[few], colors[few]), 1)
        nearest_few = np.where(reached[:, 0], cells[at[:, 0]], -1)
    nearest[few] = nearest_few
    some = few[nearest_few >= 0]
    alone[some] = prices.of(points[nearest[some]] - points[some])
    return alone, nearest


def _needed(
    points: Ints,
    colors: Ints,
    cells: tuple[NDArray[np.bool_], Ints],
    labels: Ints,
    k: int,
) -> NDArray[np.bool_]:
    """Return who of the whole cells must help others of their color, who are fewer than k.

    Those stand where no cell may be joined; the cells that lie nearest are grouped with them.
    """
    whole, alone = cells
    helps = np.zeros(whole.size, dtype=np.bool_)
    for color in np.unique(colors[~whole & (alone >= NEVER)]).tolist():
        of_color = colors == color
        few = np.flatnonzero(of_color & ~whole)
        stuck = few[alone[few] >= NEVER]
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
) -> tuple[NDArray[np.bool_], Ints]:
    """Return the nearest points there, of the same color, and whether each is; shape (n, most)."""
    from scipy.spatial import KDTree  # noqa: PLC0415  a network without directions needs none

    apart = 2 * int(max(there[0].sum(axis=1).max(), here[0].sum(axis=1).max())) + 1
    tree = KDTree(np.column_stack([there[0], there[1] * apart]))
    asked = np.column_stack([here[0], here[1] * apart])
    distance, at = tree.query(asked, k=range(1, most + 1), p=1)
    reached: NDArray[np.bool_] = distance < apart
    return reached, np.where(reached, at, 0)


def _orders(points: Ints, colors: Ints, shifts: int, rng: np.random.Generator) -> list[Ints]:
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
    """Return points in the plane: of more coordinates than two, along their principal axes.

    Examples
    --------
    >>> _plane(np.array([[0, 0, 0], [9, 9, 9], [2, 2, 2]])).tolist()
    [[0, 0], [15, 0], [3, 0]]
    """
    if points.shape[1] == 2:
        return points
    centered = points - points.mean(axis=0)
    axes = np.linalg.eigh(centered.T @ centered)[1][:, ::-1][:, :2]
    axes *= np.where(axes.sum(axis=0) < 0, -1, 1)
    along = np.zeros((points.shape[0], 2))
    along[:, : axes.shape[1]] = centered @ axes
    plane: Ints = (along - along.min(axis=0, initial=0)).astype(np.int64)
    return plane


def _cheapest(costs: Costs, few: Ints, k: int, rng: np.random.Generator) -> Groups:
    """Return the cheapest groups that any of the curves led to."""
    best, least = None, NEVER
    shifts = int(few.size * k < SHIFTED_WORK)
    for order in _orders(costs.points[few], costs.colors[few], shifts, rng):
        groups = _improved(costs, _groups_of(costs, few[order], k), few, k, rng)
        spent = int(groups.costs.sum() + costs.alone[few[groups.group_of[few] < 0]].sum())
        if best is None or spent < least:
            best, least = groups, spent
    if best is None:
        raise AssertionError("no curve was tried")
    return best


def _groups_of(costs: Costs, order: Ints, k: int) -> Groups:
    """Return the groups that an order of people is cut into."""
    n, coordinates = costs.points.shape
    least, rest = (np.empty(order.size + 1, dtype=np.int64) for _ in range(2))
    size_at = np.zeros(order.size + 1, dtype=np.int64)
    windows, room = np.empty((coordinates, k + 1), np.int64), np.empty((2, 2 * k), np.int64)
    cuts = Cuts(least, size_at, rest, windows, room[0], room[1])
    best_cuts(costs, order, k, cuts, NEVER)
    rows, most = max(order.size // k, 1), 3 * k + 2
    groups = Groups(
        members=np.full((rows, most), -1, dtype=np.int64),
        sizes=np.zeros(rows, dtype=np.int64),
        costs=np.zeros(rows, dtype=np.int64),
        group_of=np.full(n, -1, dtype=np.int64),
        values=np.zeros((rows, coordinates, most + 1), dtype=np.int64),
        sums=np.zeros((rows, coordinates, most + 2), dtype=np.int64),
    )
    fill(costs, groups, order, size_at)
    return groups


def _improved(costs: Costs, groups: Groups, few: Ints, k: int, rng: np.random.Generator) -> Groups:
    """Improve groups in place, pass by pass, and return them."""
    near = np.full((costs.colors.size, NEAREST), -1, dtype=np.int64)
    low, high = (np.zeros((groups.sizes.size, costs.points.shape[1]), np.int64) for _ in range(2))
    for _ in range(PASSES):
        used = np.flatnonzero(groups.sizes)
        if not used.size:
            break
        ranges(costs, groups, low, high)
        centers = (low[used] + high[used]) // 2, costs.colors[groups.members[used, 0]]
        most = min(NEAREST, used.size)
        reached, at = _neighbors(centers, (costs.points[few], costs.colors[few]), most)
        near[few, :most] = np.where(reached, used[at], -1)
        gain = improve(costs, groups, near, rng.permutation(few), k)
        for _again in range(CUTS):
            gain += cut_anew(costs, groups, near, rng.permutation(few), k, rng)
        if gain * WORTHWHILE <= int(groups.costs.sum()):
            break
    return groups
