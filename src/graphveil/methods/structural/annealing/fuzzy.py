"""The heuristic search where what the adversary knows is off by some percent."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphveil.kernels.structural.annealing.state import BEST_NEARLY
from graphveil.kernels.structural.classes import nearly_unprotected
from graphveil.methods.structural.annealing.state import edited_of
from graphveil.methods.structural.annealing.stretches import Stretch, paying, within_budget
from graphveil.methods.structural.annealing.walk import AnnealingWalk, walk_of
from graphveil.methods.structural.task import Edited, Task, Watch, proposals

LADDER = ((0.1, 0.01, 0.1), (0.15, 0.01, 0.1), (0.1, 0.01, 0.05), (0.2, 0.005, 0.05))
"""How warm a walk towards a goal starts and ends, and the price of an edit: the next one where the
goal was missed. The warmer over the price, the more edits, and the more are reached.
"""


def search_under_uncertainty(
    task: Task,
    *,
    iterations: int | None,
    effort: float = 1.0,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best state of a walk from the input that counts who is similar to whom.

    Parameters
    ----------
    task
        Measure count at distance 1, with `phi`; edits ``"delete"``, ``"add"`` or ``"any"``.
    iterations, effort, rng, watch
        As of `search`.

    Returns
    -------
    Edited
        Its unprotected nodes are counted again from the edited graph, exactly.

    Notes
    -----
    A walk that counts only whom inexact knowledge finds fills boxes at their rims: everybody is
    protected from who knows at most phi percent too little or too much, as far as the box is drawn
    around what is true, and hardly anybody from who hears a number that is off. With a budget nodes
    count besides that are unprotected from knowledge that is off by half as much, and from exact
    knowledge, and the budget is used up. For a goal the fewest edits are wanted with which it is
    reached.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> fan = Graph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 2, 3, 5], n=6)
    >>> task = Task(fan, "count", 1, 3, "delete", 3, 0, by_budget=True, phi=50)
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> search_under_uncertainty(task, iterations=1000, rng=rng).unprotected
    0
    """
    walk = walk_of(task, rng, watch)
    m = task.graph.n_edges
    if task.by_budget:
        stretch = spending(
            task, proposals(min(max(50 * m, 300_000), 1_000_000), iterations, effort)
        )
        tally = walk.annealing.best.tally
        tally[BEST_NEARLY] = nearly_unprotected(walk.annealing.state.classes, stretch.plan)
        walk.anneal(stretch)
    elif walk.missed():
        steps = proposals(min(max(50 * m, 400_000), 1_500_000), iterations, effort)
        _towards_goal(walk, steps)
    return edited_of(task, walk.annealing, walk.visited)


def spending(task: Task, steps: int) -> Stretch:
    """Return the stretch that uses a budget up."""
    plan, odds = within_budget(task, steps)
    half, exact = task.nearly
    ease = 0.0 if task.k == 2 else 0.3
    plan = plan._replace(hot=0.3, cold=0.02, ease=ease, stop=False, half=half, exact=exact)
    return Stretch(plan, odds)


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


def _paying(task: Task, steps: int, *, hot: float, cold: float, price: float) -> Stretch:
    """Return a stretch in which edits have a price, and nodes that may stay unprotected none."""
    plan, odds = paying(within_budget(task, steps), task.k, price)
    ease = 0.0 if task.k == 2 else 0.3
    return Stretch(plan._replace(hot=hot, cold=cold, ease=ease), odds._replace(swap=0.1))
