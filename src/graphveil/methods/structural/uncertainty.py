"""The search under inexact knowledge (`phi`): k nodes that are similar protect each other.

De Jong, van der Loo and Takes, *Fuzzy k-anonymity in complex networks*, has the notion; the
definition and the search are graphveil's. A node with d edges and t triangles has k candidates if
so many nodes have numbers within phi percent of d and t. Similarity is not symmetric, so the
kernels keep, for each (d, t) that occurs, the number of nodes in its box. A flip looks at the cells
within phi of the nodes that it moves: more steps than exact classes need, in proportion to the
cells.

Counting such boxes alone can be gamed: nodes at the rim of a box are lost to an attacker whose
numbers are off the other way. Within a budget, nodes therefore count in part if they are
unprotected at half of phi, or exactly (`task.NEARLY`).
"""

from __future__ import annotations

from typing import Any

from graphveil.methods.annealing import schedule as schedules
from graphveil.methods.annealing.kernels import classes as node_classes
from graphveil.methods.annealing.kernels import pooled
from graphveil.methods.annealing.schedule import AnnealingSegment
from graphveil.methods.annealing.task import Task
from graphveil.methods.annealing.walk import AnnealingWalk
from graphveil.methods.structural.search import heuristic

LADDER = ((0.1, 0.01, 0.1), (0.15, 0.01, 0.1), (0.1, 0.01, 0.05), (0.2, 0.005, 0.05))
"""For a goal: the first and last temperature, and the price of an edit, attempt by attempt.

The next attempt follows if the goal was missed. The higher the temperature relative to the price,
the more edits are made, and the more nodes are protected.
"""


@heuristic
def search_under_uncertainty(walk: AnnealingWalk[Task]) -> None:
    """Return the best state of a walk that counts the similar nodes of every node (`phi`).

    Proposals: 50 for each edge, within a budget from 300,000 to 1,000,000, towards a goal from
    400,000 to 1,500,000.
    """
    task, m = walk.task, walk.task.n_edges
    if task.by_budget:
        stretch = spending(task, walk.proposals(min(max(50 * m, 300_000), 1_000_000)))
        walk.tally[pooled.BEST_NEARLY] = node_classes.nearly_unprotected(walk.classes, stretch.plan)
        walk.anneal(stretch)
    elif walk.missed():
        _towards_goal(walk, walk.proposals(min(max(50 * m, 400_000), 1_500_000)))


def spending(task: Task, steps: int) -> AnnealingSegment:
    """Return the stretch that uses a budget up."""
    # No stop at 0 unprotected at phi: the rest of the budget helps against better knowledge.
    plan, odds = schedules.within_budget(task, steps)
    half, exact = task.nearly
    ease = 0.0 if task.k == 2 else 0.3
    plan = plan._replace(hot=0.3, cold=0.02, ease=ease, stop=False, half=half, exact=exact)
    return AnnealingSegment(plan, odds)


def _towards_goal(walk: AnnealingWalk[Any], steps: int) -> None:
    """Look for the fewest edits that reach the goal; warmer as long as it is missed."""
    for hot, cold, price in LADDER:
        # A stretch from the input, whose edits cost; warmer or cheaper on each rung of the ladder.
        stretch = _paying(walk.task, steps, hot=hot, cold=cold, price=price)
        if walk.anneal(stretch):
            return
        walk.back_to_best()
        # Then a cold one from the best state, most of whose proposals take edits back or swap them.
        fine = _paying(walk.task, -(-steps // 2), hot=0.03, cold=0.003, price=0.1)
        odds = fine.odds._replace(focus=0.1, undo=0.6, swap=0.5)
        if walk.anneal(fine._replace(odds=odds)) or not walk.missed():
            return
        walk.back_to_input()


def _paying(task: Task, steps: int, *, hot: float, cold: float, price: float) -> AnnealingSegment:
    """Return a stretch in which edits have a price, and nodes that may stay unprotected none."""
    plan, odds = schedules.paying(schedules.within_budget(task, steps), task.k, price)
    ease = 0.0 if task.k == 2 else 0.3
    return AnnealingSegment(plan._replace(hot=hot, cold=cold, ease=ease), odds._replace(swap=0.1))
