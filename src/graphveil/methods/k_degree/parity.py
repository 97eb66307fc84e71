"""Make the sum of the planned degrees even: a graph has an even sum of degrees.

Liu and Terzi leave this to their Probing scheme, which raises the lowest degrees until
a graph can be constructed. Here the cheapest of three kinds of moves changes the parity of an
optimal plan, so that every target still has at least k nodes:

1. one node goes to the neighboring class, if that is at an odd distance and k nodes stay;
2. a whole class of odd size moves by one;
3. k nodes (k + 1 if k is even) leave a class for a new one next to it, and k stay.

Costs: one pass over the pieces of the plan and a sort of the classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.errors import InfeasibleError
from graphveil.methods.k_degree.sequence import AllowedEdits, Plan


class _Moves(NamedTuple):
    """Ways to change the parity of the sum: `nodes` of a class go up or down by `step`, at `cost`.

    All columns are int64 with one entry per move; `klass` indexes the classes. A cost may be
    negative: a node that goes back towards its own degree saves a unit.
    """

    cost: Ints
    klass: Ints
    step: Ints
    nodes: Ints


class _Classes(NamedTuple):
    """The classes of a plan, ascending by target; int64, one entry per class.

    `size` is the number of nodes of a class, `above` and `below` how many of them have a degree
    above and below the target, `highest` and `lowest` their extreme degrees.
    """

    target: Ints
    size: Ints
    above: Ints
    below: Ints
    highest: Ints
    lowest: Ints


def settle_parity(
    plan: Plan, k: int, n: int, *, edits: AllowedEdits, span: int | None = None
) -> Plan:
    """Every target is held by at least k nodes, and the targets' sum is even.

    An odd sum is made even by the cheapest of: one node goes to the neighboring class at an odd
    distance, if k stay; a whole class of odd size moves by one; or k (k + 1 if k is even) nodes
    leave for a new class one degree away, if k stay. Some move always exists. If the plan is
    optimal and its cost odd, a move of cost 1 is optimal; a dearer one is not proven to be. With
    ``any``, groups with a free target first choose so that deletions balance additions. `Plan.cost`
    is unchanged, `Plan.distance` is the cost after the move.
    """
    most = int(plan.target.max())
    span = max(n, most) + 1 if span is None else span
    highest = int((plan.target % span).max())
    if highest > n - 1:
        raise InfeasibleError(
            f"A target of {highest} needs more than {n} nodes. Use degrees below {n}."
        )
    # With deletions, groups of even size choose between their middles: additions and deletions
    # that balance pay each other by one edge that moves.
    if edits == "any":
        plan = _balance(plan)
    # An odd sum is changed by the cheapest move of an odd number of nodes by an odd step.
    if plan.count @ plan.target % 2 == 1:
        plan = _cheapest_move(plan, k, n, edits, span)
    return _as_classes(plan)


def _balance(plan: Plan) -> Plan:
    """Choose each group's target from low to high so that the plan's surplus is near zero."""
    group, head, of_piece = np.unique(plan.group, return_index=True, return_inverse=True)
    size = np.zeros(group.size, dtype=np.int64)
    np.add.at(size, of_piece, plan.count)
    low, room = plan.low[head], (plan.high - plan.low)[head]
    missing = -int(plan._replace(target=plan.low).surplus)
    rise = np.zeros_like(size)
    # From their lowest targets, groups rise, the largest first, as far as the deficit covers.
    for g in np.flatnonzero(room)[np.argsort(-size[room > 0], kind="stable")]:
        rise[g] = min(int(room[g]), max(missing, 0) // int(size[g]))
        missing -= int(rise[g] * size[g])
    # One more step of one group, if that brings the sum nearer to zero.
    free = np.flatnonzero(rise < room)
    if free.size:
        best = free[np.argmin(np.abs(missing - size[free]))]
        if abs(missing - int(size[best])) < abs(missing):
            rise[best] += 1
    return plan._replace(target=(low + rise)[of_piece])


def _classes(plan: Plan) -> tuple[_Classes, Ints]:
    """Describe the classes; also return the class of each piece."""
    target, klass = np.unique(plan.target, return_inverse=True)
    counts = np.zeros((3, target.size), dtype=np.int64)
    np.add.at(counts[0], klass, plan.count)
    np.add.at(counts[1], klass, plan.count * (plan.degree > plan.target))
    np.add.at(counts[2], klass, plan.count * (plan.degree < plan.target))
    highest = np.full(target.size, -1, dtype=np.int64)
    lowest = np.full(target.size, np.iinfo(np.int64).max)
    np.maximum.at(highest, klass, plan.degree)
    np.minimum.at(lowest, klass, plan.degree)
    return _Classes(target, counts[0], counts[1], counts[2], highest, lowest), klass


def _cheapest_move(plan: Plan, k: int, n: int, edits: AllowedEdits, span: int) -> Plan:
    """Carry out the move of least cost that changes the parity of the sum."""
    classes, klass = _classes(plan)
    upward = _moves(classes, k, 1, n - 1, span)
    downward = _moves(classes, k, -1, 0, span)
    # With additions alone only nodes that were raised may go down, and none below its own degree.
    if edits == "add":
        allowed = downward.nodes <= classes.below[downward.klass]
        reached = classes.target[downward.klass] + downward.step
        allowed &= reached >= classes.lowest[downward.klass]
        downward = _Moves(*(column[allowed] for column in downward))
    moves = _Moves(*(np.concatenate(pair) for pair in zip(upward, downward, strict=True)))
    # The cheapest; of equals the one that balances additions and deletions best, then that of the
    # largest class.
    surplus = np.abs(plan.surplus + moves.step * moves.nodes)
    best = np.lexsort((-classes.size[moves.klass], surplus, moves.cost))[0]
    _, c, step, nodes = (int(column[best]) for column in moves)
    return _move(plan, np.flatnonzero(klass == c), step, nodes)


def _moves(classes: _Classes, k: int, way: int, limit: int, span: int) -> _Moves:
    """List the moves of an odd number of nodes by an odd step upward (way 1) or downward (-1).

    `limit` is the last degree that a move in this direction may reach.
    """
    every = np.arange(classes.target.size, dtype=np.int64)
    # Nodes whose own degree is in the direction of the move go back towards it: each saves a unit
    # instead of costing one.
    returning = classes.above if way == 1 else classes.below
    outermost = classes.highest if way == 1 else classes.lowest
    color, degree = np.divmod(classes.target, span)
    room = (limit - degree) * way > 0
    part = k | 1  # the least odd number of nodes that may be a class of their own

    # Move 1: a single node, the one that is farthest in this direction, joins the next class.
    neighbor = every[:-1] if way == 1 else every[1:]
    step = classes.target[neighbor + way] - classes.target[neighbor]
    fits = (classes.size[neighbor] > k) & (step % 2 == 1)
    fits &= color[neighbor] == color[neighbor + way]
    neighbor, step = neighbor[fits], step[fits]
    away = classes.target[neighbor] - outermost[neighbor]

    # Moves 2 and 3: a whole class of odd size, or an odd part of a class that keeps k nodes.
    whole = every[room & (classes.size % 2 == 1)]
    split = every[room & (classes.size >= part + k)]
    nodes = np.concatenate((classes.size[whole], np.full(split.size, part)))
    shifted = np.concatenate((whole, split))
    single = (np.abs(away + step) - np.abs(away), neighbor, step, np.ones_like(neighbor))
    cost = nodes - 2 * np.minimum(nodes, returning[shifted])
    several = (cost, shifted, np.full(shifted.size, way), nodes)
    return _Moves(*(np.concatenate(both) for both in zip(single, several, strict=True)))


def _move(plan: Plan, pieces: Ints, step: int, nodes: int) -> Plan:
    """Move this many nodes of these pieces by step: the highest degrees up, the lowest down."""
    order = pieces[np.argsort(-plan.degree[pieces] if step > 0 else plan.degree[pieces])]
    before = np.cumsum(plan.count[order]) - plan.count[order]
    moved = np.clip(nodes - before, 0, plan.count[order])
    count = plan.count.copy()
    count[order] -= moved
    return plan._replace(
        degree=np.concatenate((plan.degree, plan.degree[order])),
        target=np.concatenate((plan.target, plan.target[order] + step)),
        count=np.concatenate((count, moved)),
    )


def _as_classes(plan: Plan) -> Plan:
    """Order and merge the pieces, with one group per target and no freedom left."""
    order = np.lexsort((-plan.target, -plan.degree))
    order = order[plan.count[order] > 0]
    degree, target, count = plan.degree[order], plan.target[order], plan.count[order]
    new = np.ones(degree.size, dtype=bool)
    new[1:] = (np.diff(degree) != 0) | (np.diff(target) != 0)
    start = np.flatnonzero(new)
    target = target[start]
    _, group = np.unique(-target, return_inverse=True)
    return Plan(
        cost=plan.cost,
        degree=degree[start],
        target=target,
        count=np.add.reduceat(count, start),
        low=target,
        high=target,
        group=group.astype(np.int64, copy=False),
    )
