"""The search for nodes that are similar to inexact knowledge (`phi`)."""

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
"""How warm a walk towards a goal starts and ends, and the price of an edit: the next one where the
goal was missed. The warmer over the price, the more edits, and the more are reached.
"""


@heuristic
def search_under_uncertainty(walk: AnnealingWalk[Task]) -> None:
    """Return the best state of a walk that counts who is similar to whom (`phi`).

    A walk that counts only whom inexact knowledge finds fills boxes at their rims, so with a budget
    nodes also count that are unprotected from knowledge off by half as much, and from exact
    knowledge.
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
    plan, odds = schedules.within_budget(task, steps)
    half, exact = task.nearly
    ease = 0.0 if task.k == 2 else 0.3
    plan = plan._replace(hot=0.3, cold=0.02, ease=ease, stop=False, half=half, exact=exact)
    return AnnealingSegment(plan, odds)


def _towards_goal(walk: AnnealingWalk[Any], steps: int) -> None:
    """Look for the fewest edits that reach the goal; warmer as long as it is missed."""
    for hot, cold, price in LADDER:
        stretch = _paying(walk.task, steps, hot=hot, cold=cold, price=price)
        if walk.anneal(stretch):
            return
        walk.back_to_best()
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
