"""Heuristic SEARCH: simulated annealing over flips, each looked at exactly before it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphveil.kernels import structural_search as kernel
from graphveil.methods.structural.state import Arena, arena_of, check_supported, edited_of
from graphveil.methods.structural.task import Edited, Task

Watch = Callable[[int, int], bool]

CHUNK = 100_000
LARGE_EDGES = 50_000


def default_iterations(n_edges: int) -> int:
    """Return 50 proposals an edge, at least 100,000 and at most 5,000,000.

    Examples
    --------
    >>> default_iterations(14_484)
    724200
    """
    return min(max(50 * n_edges, 100_000), 5_000_000)


def goal_iterations(n_edges: int) -> int:
    """Return the proposals of a stretch towards a goal: small graphs get four times the default.

    Examples
    --------
    >>> goal_iterations(923), goal_iterations(18_812)
    (400000, 1000000)
    """
    usual = default_iterations(n_edges)
    return max(usual, min(4 * usual, 1_000_000))


class Walk(NamedTuple):
    """A search under way: its task, its state, its randomness, and who watches it."""

    task: Task
    arena: Arena
    rng: np.random.Generator
    watch: Watch | None

    def anneal(self, plan: kernel.Schedule) -> bool:
        """Follow the schedule; return whether whoever watches has seen enough."""
        state, best = self.arena
        for first in range(0, plan.steps, CHUNK):
            last = min(first + CHUNK, plan.steps)
            kernel.anneal(state, best, plan, self.rng, first, last)
            if self.seen_enough():
                return True
            if plan.price == 0 and self.reached()[0] <= plan.allowed:
                return False
        return False

    def seen_enough(self) -> bool:
        """Tell whoever watches the best state; return whether to stop with it."""
        return self.watch is not None and self.watch(*self.reached())

    def reached(self) -> tuple[int, int]:
        """Return the nodes left and the edits of the best state."""
        tally = self.arena.best.tally
        return int(tally[kernel.BEST_LEFT]), int(tally[kernel.BEST_CHANGED])

    def missed(self) -> bool:
        """Return whether the best state leaves more nodes than are allowed."""
        return self.reached()[0] > self.task.allowed

    def back_to_input(self) -> None:
        """Make the state without edits the present one."""
        kernel.go_to(*self.arena, np.zeros_like(self.arena.best.changed))

    def back_to_best(self) -> None:
        """Make the best state the present one."""
        kernel.go_to(*self.arena, self.arena.best.changed.copy())


def walk_of(
    task: Task, rng: np.random.Generator, watch: Watch | None, *, name: str, edits: tuple[str, ...]
) -> Walk:
    """Return a walk that stands at the input.

    Raises
    ------
    ParameterError
        Where the heuristic of this name does not know the task's measure or edits.
    """
    check_supported(task, name=name, edits=edits)
    return Walk(task, arena_of(task, rng), rng, watch)


def search(
    task: Task,
    *,
    iterations: int | None,
    by_budget: bool,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best state of an annealing walk from the input, the input included.

    Parameters
    ----------
    task
        Measure count, edge-count or degree at distance 1; edits ``"delete"``, ``"add"`` or
        ``"any"`` (the edges, and m pairs that may be added).
    iterations
        The proposals of one stretch; where None `default_iterations`, or `goal_iterations`. A goal
        takes up to four stretches, of half, one and two times this length.
    by_budget
        Whether the fewest nodes left within the budget are wanted, or the fewest edits that leave
        the allowed nodes.
    rng
        The randomness.
    watch
        Called every 100,000 proposals with the best state's nodes left and edits; True stops.

    Returns
    -------
    Edited
        Its nodes left are counted again from the edited graph, without kernels.

    Raises
    ------
    ParameterError
        Where the measure or the edits are none of these.

    Notes
    -----
    Every proposal flips one or two pairs and is judged by the exact number of nodes that it leaves
    in small classes: O(degree) for a flip.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> task = Task(flag, "count", 1, 2, "delete", 1, 0)
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> search(task, iterations=1000, by_budget=True, rng=rng).left
    0
    """
    walk = walk_of(task, rng, watch, name="search", edits=("delete", "add", "any"))
    default = default_iterations if by_budget else goal_iterations
    steps = default(task.graph.n_edges) if iterations is None else iterations
    if walk.missed() and not walk.anneal(within_budget(task, steps)) and not by_budget:
        towards_goal(walk, steps)
    return edited_of(task, walk.arena)


def within_budget(task: Task, steps: int) -> kernel.Schedule:
    """Return the schedule that only counts nodes, and stops at those allowed.

    Larger classes to fill ask for more heat and more second flips; the constants were tuned on the
    networks of the paper.
    """
    pairs = task.k == 2
    return kernel.Schedule(
        steps=steps,
        hot=0.4 if pairs else 0.5,
        cold=0.05 if pairs else 0.07,
        price=0.0,
        ease=1.0,
        allowed=task.allowed,
        budget=task.budget,
        focus=0.8 if task.graph.n_edges > LARGE_EDGES else 0.5,
        swap=0.15 if pairs else 0.3,
        swap_back=0.1,
    )


def towards_goal(walk: Walk, steps: int, *, always: bool = False) -> None:
    """Look for the fewest edits that reach the goal, from where the walk stands.

    Anneals where the goal is missed or `always`, then backfills from the best state twice: cold
    with many swaps, and warmer. All stretches pay for edits.
    """
    full = walk.task.allowed == 0
    warm = within_budget(walk.task, 2 * steps)._replace(
        hot=0.3, cold=0.05, price=0.15, swap=0.3, ease=1.0 if full else 0.5, swap_back=0.3
    )
    half = -(-steps // 2)
    cold = warm._replace(steps=half, hot=0.05, cold=0.005, price=0.1, swap=0.5, swap_back=0.5)
    fine = warm._replace(steps=steps, hot=0.1, cold=0.01, price=0.1, ease=1.0 if full else 0.0)
    for plan in (warm, cold, fine):
        if plan is warm and not (always or walk.missed()):
            continue
        if walk.anneal(plan):
            return
        walk.back_to_best()
