"""The heuristic `search`: simulated annealing from the input, and how a heuristic runs a walk.

`heuristic` turns a course (a function that moves a walk) into what `run` calls. The stretches and
courses are those of `annealing.walk`. `search` is graphveil's own; the paper deletes edges at
random only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np
from numpy.random import Generator

from graphveil.methods.annealing import schedule as schedules
from graphveil.methods.annealing import walk as walks
from graphveil.methods.annealing.kernels import classes as node_classes
from graphveil.methods.annealing.kernels import pooled
from graphveil.methods.annealing.task import Edited, Task, Watch
from graphveil.methods.structural import recount, walk_state
from graphveil.methods.structural.paper import sample_edits


class GraphWalk(walks.AnnealingWalk[Task]):
    """A walk over the edges of a graph, which may restart where the paper's heuristic ends."""

    def start_where_edges_were_sampled(self) -> None:
        """Make the present state that where unique-affected reaches the goal, if it does."""
        # Over codes annealing reaches goals itself; only deletions of the pool can be made one by
        # one.
        task, (state, values, best, _, _) = self.task, self.annealing
        if values is None or task.edits != "delete":
            return
        gap = max(1, -(-task.graph.n_edges // 100))
        sampled = sample_edits(task, "ua", gap=gap, rng=self.rng, watch=self.watch)
        n, pairs = task.graph.n_nodes, np.stack((state.pool.one, state.pool.other), axis=1)
        self.go_to(np.isin(recount.keys_of(pairs, n), recount.keys_of(sampled.deleted, n)))
        # The sampled state reaches what the walk missed: it is the best now, and backfills start
        # there.
        if sampled.unprotected <= task.allowed < self.reached()[0]:
            pooled.keep(
                state.pool, state.pool.mates, best, node_classes.unprotected_of(state.classes)
            )


def walk_of(task: Task, rng: Generator, watch: Watch | None = None) -> walks.AnnealingWalk[Task]:
    """Return a walk that stands at the input."""
    return GraphWalk(task, rng, watch, annealing=walk_state.annealing_state_of(task, rng))


Heuristic = Callable[..., Edited]
"""Returns the best state of a walk: see `heuristic`."""


def heuristic(follow: Callable[[walks.AnnealingWalk[Task]], None]) -> Heuristic:
    """Return the heuristic that follows a course from the input, if the input misses the goal.

    Parameters
    ----------
    follow
        The course: moves the walk; what it leaves as the best state is the result.

    Returns
    -------
    Heuristic
        A function of a task and, by name, ``iterations`` (proposals of a stretch, or None for the
        default times ``effort``), ``rng`` and ``watch``. It returns `Edited`: the best state, its
        unprotected nodes counted exactly.
    """

    @wraps(follow)
    def from_input(
        task: Task,
        *,
        iterations: int | None,
        effort: float = 1.0,
        rng: Generator,
        watch: Watch | None = None,
    ) -> Edited:
        walk = walk_of(task, rng, watch)
        walk.iterations, walk.effort = iterations, effort
        if walk.missed() or any(task.nearly):
            follow(walk)
        return walk_state.edited_of(task, walk.annealing, walk.visited)

    return from_input


@heuristic
def search(walk: walks.AnnealingWalk[Task]) -> None:
    """Return the best state of an annealing walk from the input, the input included.

    Within a budget: `search_until_no_gain` over codes, one stretch over values or with
    `iterations`. Towards a goal: one stretch that counts nodes only; if it reaches the goal,
    searches with fewer edits (`with_fewer`); then `towards_goal`.

    Only edges of the input are rewired, each at most once, and none of them is joined anew: so
    every rewiring can be taken back at any time.
    """
    task, steps = walk.task, walk.proposals(schedules.usual_steps(walk.task, walk.work))
    stretch = schedules.within_budget(task, steps)
    if task.by_budget and walk.iterations is None and walk.annealing.values is None:
        walks.search_until_no_gain(walk, stretch)
    elif not walk.anneal(stretch) and not task.by_budget:
        missed = walk.reached()[0] > stretch.plan.allowed
        if missed or not walks.with_fewer(walk, schedules.shortened(stretch), 0):
            walks.towards_goal(walk, steps)
