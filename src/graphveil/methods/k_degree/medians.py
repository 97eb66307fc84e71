"""The free medians of a relaxed plan, chosen in different ways.

In Liu and Terzi's variant with deletions a group of even size costs the same at every
integer between its two middle degrees, so the optimum leaves many plans. Which of them needs the
fewest edits depends on the edges: an addition pays two units of nodes that rise, a deletion two of
nodes that fall, and what remains is paid one unit at a time with the help of other nodes. A sum of
targets near the sum of degrees leaves less to pay that way. Neither the paper nor a formula says
which choice is best, so `realize.py` tries several:

1. group by group in descending order, each target such that the sum so far stays near that of the
   degrees (`_along`);
2. the same in ascending order;
3. the lowest medians down to some group, the highest below it, so that high and low degrees move
   inward (`_inward`);
4. the middle of each range.

Costs: O(pieces of the plan) for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.k_degree.cells import CellSpace
from graphveil.methods.k_degree.parity import settle_parity
from graphveil.methods.k_degree.sequence import Plan


def settled_plans(optimum: Plan, k: int, space: CellSpace) -> list[Plan]:
    """Return up to four plans, the free medians of each chosen in its own way, with even sums.

    `optimum` is the plan of `edits="any"`, with a range from `low` to `high` for each group. The
    plans cost as much as it; where the sum was odd, making it even may cost more.
    """
    groups, plans = _groups(optimum), list[Plan]()
    along = [_along(groups, way) for way in (1, -1)]
    for target in (*along, _inward(groups), (optimum.low + optimum.high) // 2):
        # An odd sum is made even by an unchanged node, at cost 1, or else by the cheapest move.
        fixed = optimum._replace(target=target, low=target, high=target)
        spared = _spare_node(fixed, k, space)
        plan = settle_parity(spared, k, space.n, edits="any", span=space.span)
        if not any(all(map(np.array_equal, plan[1:4], other[1:4])) for other in plans):
            plans.append(plan)
    return plans


class _Groups(NamedTuple):
    """The groups of a plan by descending degree, and the group of every piece.

    `size` is the number of nodes of a group, `total` the sum of their degrees, `low` and `high` the
    range of its targets; int64, one entry per group.
    """

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
    # The surplus of the lowest targets over the degrees up to each cut, and that of the highest
    # ones; the cut at which what is before it (lowest) and behind it (highest) is nearest to zero.
    falls = np.append(0, np.cumsum(groups.low * groups.size - groups.total))
    rises = np.append(0, np.cumsum(groups.high * groups.size - groups.total))
    turn = int(np.argmin(np.abs(falls + rises[-1] - rises)))
    chosen = np.where(np.arange(groups.size.size) < turn, groups.low, groups.high)
    return chosen[groups.of_piece]


def _along(groups: _Groups, direction: int) -> Ints:
    """Choose in turn the targets that bring the sum so far nearest to the degrees' sum.

    `direction` is 1 from the highest degrees on, -1 from the lowest.
    """
    order = np.arange(groups.size.size)[::direction]
    columns = (groups.size, groups.total, groups.low, groups.high)
    targets, excess = [], 0
    for size, total, low, high in np.column_stack(columns)[order].tolist():
        # The target that would make up for the excess so far, within the group's range.
        target = min(max(round((total - excess) / size), low), high)
        targets.append(target)
        excess += target * size - total
    chosen = np.empty_like(groups.size)
    chosen[order] = targets
    return chosen[groups.of_piece]


def _spare_node(plan: Plan, k: int, space: CellSpace) -> Plan:
    """Return the plan with an even sum where one unchanged node can give it, at cost 1.

    It comes from the largest class that can spare it and goes to a class of k nodes one degree
    away, but not to degree 0, which would isolate it.
    """
    if plan.surplus % 2 == 0:
        return plan
    size = np.bincount(plan.target, weights=plan.count, minlength=space.size).astype(np.int64)
    kept = np.flatnonzero((plan.degree == plan.target) & (size[plan.target] > k))
    kept = kept[np.argsort(-size[plan.target[kept]], kind="stable")]
    # First in the direction that brings the sum of the targets nearer to that of the degrees.
    for way in (1, -1) if plan.surplus < 0 else (-1, 1):
        neighbor = plan.target[kept] + way
        degree = space.degree_of(neighbor)
        fits = np.flatnonzero((degree > 0) & (degree < space.n) & (size[neighbor] >= k))
        if fits.size:
            piece, to = int(kept[fits[0]]), int(neighbor[fits[0]])
            plan = plan._replace(count=plan.count - (np.arange(plan.count.size) == piece))
            # A piece of its own, in a group of its own, whose target is no longer free.
            moved = (plan.degree[piece], to, 1, to, to, plan.group.max() + 1)
            return Plan(plan.cost, *map(np.append, plan[1:], moved))
    return plan
