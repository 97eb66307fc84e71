"""The free medians of a relaxed plan, chosen in different ways."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.k_degree.cells import CellSpace
from graphveil.methods.k_degree.parity import settle_parity
from graphveil.methods.k_degree.sequence import Ints, Plan


def settled_plans(optimum: Plan, k: int, space: CellSpace) -> list[Plan]:
    """Return the optimal relaxed plan with its free medians chosen in different ways.

    A group of even size costs the same at every integer between its two middles.
    """
    groups, plans = _groups(optimum), list[Plan]()
    along = [_along(groups, way) for way in (1, -1)]
    for target in (*along, _inward(groups), (optimum.low + optimum.high) // 2):
        fixed = optimum._replace(target=target, low=target, high=target)
        spared = _spare_node(fixed, k, space)
        plan = settle_parity(spared, k, space.n, edits="any", span=space.span)
        if not any(all(map(np.array_equal, plan[1:4], other[1:4])) for other in plans):
            plans.append(plan)
    return plans


class _Groups(NamedTuple):
    """The groups of a plan by descending degree, and the group of every piece."""

    size: Ints
    total: Ints
    low: Ints
    high: Ints
    of_piece: NDArray[np.intp]


def _groups(plan: Plan) -> _Groups:
    _, first, of_piece = np.unique(plan.group, return_index=True, return_inverse=True)
    size = np.bincount(of_piece, weights=plan.count).astype(np.int64)
    total = np.bincount(of_piece, weights=plan.count * plan.degree).astype(np.int64)
    return _Groups(size, total, plan.low[first], plan.high[first], of_piece)


def _inward(groups: _Groups) -> Ints:
    """Choose the lowest targets down to some group and the highest below it."""
    falls = np.append(0, np.cumsum(groups.low * groups.size - groups.total))
    rises = np.append(0, np.cumsum(groups.high * groups.size - groups.total))
    turn = int(np.argmin(np.abs(falls + rises[-1] - rises)))
    chosen = np.where(np.arange(groups.size.size) < turn, groups.low, groups.high)
    return chosen[groups.of_piece]


def _along(groups: _Groups, direction: int) -> Ints:
    """Choose in turn the targets that bring the sum so far nearest to the degrees' sum."""
    way = np.arange(groups.size.size)[::direction]
    columns = (groups.size, groups.total, groups.low, groups.high)
    targets, excess = [], 0
    for size, total, low, high in np.column_stack(columns)[way].tolist():
        target = min(max(round((total - excess) / size), low), high)
        targets.append(target)
        excess += target * size - total
    chosen = np.empty_like(groups.size)
    chosen[way] = targets
    return chosen[groups.of_piece]


def _spare_node(plan: Plan, k: int, space: CellSpace) -> Plan:
    """Return the plan with an even sum where one unchanged node can give it, at cost 1.

    It comes from the largest class that can spare it and goes to a class next to it.
    """
    if plan.surplus % 2 == 0:
        return plan
    size = np.bincount(plan.target, weights=plan.count, minlength=space.size).astype(np.int64)
    kept = np.flatnonzero((plan.degree == plan.target) & (size[plan.target] > k))
    kept = kept[np.argsort(-size[plan.target[kept]], kind="stable")]
    for way in (1, -1) if plan.surplus < 0 else (-1, 1):
        beside = plan.target[kept] + way
        degree = space.degree_of(beside)
        fits = np.flatnonzero((degree > 0) & (degree < space.n) & (size[beside] >= k))
        if fits.size:
            piece, to = int(kept[fits[0]]), int(beside[fits[0]])
            plan = plan._replace(count=plan.count - (np.arange(plan.count.size) == piece))
            moved = (plan.degree[piece], to, 1, to, to, plan.group.max() + 1)
            return Plan(plan.cost, *map(np.append, plan[1:], moved))
    return plan
