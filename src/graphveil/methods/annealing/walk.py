"""Walks by simulated annealing over flips, and the courses that several stretches make.

A stretch proposes flips while its temperature falls. A flip that lowers the energy is made, another
one by chance (Metropolis). The energy counts the unprotected nodes, what their classes lack to k,
and a price for each edit; see `kernels.classes.Schedule`. The best state seen is always kept.

Three courses are made of stretches:

- `search_until_no_gain`, for a budget: from the input, longer each time while that protects more.
- `with_fewer`, for a goal that is reached: the same with ever smaller budgets.
- `towards_goal`, for a goal: reach it (warm), then take edits back (cold, and warmer once more).

A flip costs O(degree) over codes, the work of a reevaluation over values; see `schedule`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Flags, Ints
from graphveil.methods.annealing import schedule as schedules
from graphveil.methods.annealing import state as states
from graphveil.methods.annealing.kernels import classes as node_classes
from graphveil.methods.annealing.kernels import pooled
from graphveil.methods.annealing.kernels.anneal import anneal
from graphveil.methods.annealing.kernels.pooled import go_to
from graphveil.methods.annealing.kernels.target import TargetState
from graphveil.methods.annealing.schedule import AnnealingSegment
from graphveil.methods.annealing.state import Visited
from graphveil.methods.annealing.task import Goals, Watch, proposals

AnyTask = TypeVar("AnyTask", bound=Goals)


@dataclass(eq=False)
class Walk(Generic[AnyTask]):
    """A walk under way; the kernel moves ``annealing`` or ``target_state``, the other is None.

    Parameters
    ----------
    task
        What is looked for, in which network.
    rng
        The source of all draws of this walk.
    watch
        Called with the best state's unprotected nodes and edits after every chunk; if it returns
        True, the walk ends.
    iterations
        Proposals of a stretch; if None, ``effort`` times the usual ones.
    effort
        A multiple of the usual proposals.
    """

    task: AnyTask
    rng: Generator
    watch: Watch | None = None
    iterations: int | None = None
    effort: float = 1.0
    annealing: pooled.AnnealingState | None = field(default=None, init=False)
    target_state: TargetState | None = field(default=None, init=False)
    classes: node_classes.NodeClasses = field(init=False)
    tally: Ints = field(init=False)
    chunk: int = field(init=False)

    def proposals(self, usual: int) -> int:
        """Return the proposals asked for, or a multiple of these."""
        return proposals(usual, self.iterations, self.effort)

    def anneal(
        self, stretch: AnnealingSegment, prepare: Callable[[int], None] | None = None
    ) -> bool:
        """Follow the schedule; return whether the watch asked to stop."""
        plan, odds = stretch
        # In chunks: between two of them the caller sees the best state and may stop the walk.
        for first in range(0, plan.steps, self.chunk):
            if prepare is not None:
                prepare(first)
            last = min(first + self.chunk, plan.steps)
            anneal(self.annealing, self.target_state, plan, odds, self.rng, first, last)
            self.note()
            if self.should_stop():
                return True
            if plan.stop and node_classes.unprotected_of(self.classes) <= plan.allowed:
                return False
        return False

    def note(self) -> None:
        """Note the best state after a chunk, if hashes may have merged different values."""

    def should_stop(self) -> bool:
        """Show the watch the best state; return whether it asks to stop."""
        return self.watch is not None and self.watch(*self.reached())

    def here(self) -> tuple[int, int]:
        """Return the unprotected nodes and the edits of the best state; a rewiring changes two."""
        pairs_an_edit = 2 if self.task.edits == "rewire" else 1
        return int(self.tally[pooled.BEST_UNPROTECTED]), int(
            self.tally[pooled.BEST_CHANGED]
        ) // pairs_an_edit

    def reached(self) -> tuple[int, int]:
        """Return the unprotected nodes and the edits of the best state from any start."""
        return self.here()

    def missed(self) -> int:
        """Return how many nodes more than allowed are unprotected in the best state."""
        return max(self.here()[0] - self.task.allowed, 0)


CHUNK = 100_000
"""Proposals between two looks at a walk, at most: a fraction of a second over codes."""

LONGER, SLOPE = 3, 0.05
"""How much longer the next stretch within a budget is, and what share of the nodes the last one
must have protected.
"""

WORK_OF_A_CHUNK = 50_000_000
"""About how many steps of work a walk over values makes between two looks: under a second."""

GAIN = 0.001
"""The cold backfill is followed by the fine one only if it took back this share of the edits."""

HALVINGS = 4
"""The most searches of `with_fewer`: each halves the range that holds the number of edits."""

FAR = 0.25
"""If more than this share of the nodes misses the goal, no warm stretch over values is tried."""


@dataclass(eq=False)
class AnnealingWalk(Walk[AnyTask]):
    """A walk over a pool of pairs; `work` estimates the steps of a proposal (1 over codes).

    `visited` lists best states of walks over values, whose hashes an exact count may refute.
    """

    annealing: pooled.AnnealingState = field(kw_only=True)
    visited: list[Visited] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """See how slow a proposal is: look more often the slower it is."""
        self.classes, self.tally = self.annealing.state.classes, self.annealing.best.tally
        self.work = states.work_of(self.annealing)
        self.chunk = min(max(WORK_OF_A_CHUNK // self.work, 1), CHUNK)

    def note(self) -> None:
        """Put the best state on the list unless it is the last there; it keeps the last eight."""
        if self.annealing.values is not None:
            states.remember(self.visited, self.annealing)

    def goal_steps(self) -> int:
        """Return the proposals of a stretch towards a goal."""
        return self.proposals(schedules.goal_iterations(self.task.n_edges))

    def misses_by_far(self) -> bool:
        """Return whether sampled deletions are nearer the goal: too many nodes are unprotected."""
        can_sample = self.annealing.values is not None and self.task.edits == "delete"
        return can_sample and self.missed() > FAR * self.task.n_nodes

    def start_where_edges_were_sampled(self) -> None:
        """Make the present state that where sampled edits reach the goal; here none are known."""

    def back_to_input(self) -> None:
        """Make the state without edits the present one."""
        self.go_to(np.zeros_like(self.annealing.best.changed))

    def back_to_best(self) -> None:
        """Make the best state the present one."""
        self.go_to(self.annealing.best.changed.copy())

    def go_to(self, changed: Flags) -> None:
        """Make the state in which these pairs are changed the present one."""
        state, values, best, _, trial = self.annealing
        go_to(state, values, best, trial, changed)


def search_until_no_gain(walk: AnnealingWalk[Any], stretch: AnnealingSegment) -> None:
    """Search from the input with thrice as many proposals each time, while that gains."""
    # Each search starts at the input with three times the proposals of the last. The first two
    # always run if the goal is missed; another follows while the last protected 5% of those left
    # before it.
    steps, most = stretch.plan.steps, round(schedules.MOST_STEPS * max(walk.effort, 1.0))
    while walk.missed():
        before = walk.reached()[0]
        plan = stretch.plan._replace(steps=steps)
        if search_from_input(walk, AnnealingSegment(plan, stretch.odds), walk.task.budget):
            return
        steps *= LONGER
        gained = before - walk.reached()[0]
        if steps > most or (steps > LONGER * stretch.plan.steps and gained < SLOPE * before):
            return


def search_from_input(walk: AnnealingWalk[Any], stretch: AnnealingSegment, edits: int) -> bool:
    """Search with at most so many edits; return whether the watch asked to stop."""
    # A rewiring changes two of the pool's pairs, which are edges of the input.
    budget = 2 * edits if walk.task.edits == "rewire" else edits
    walk.back_to_input()
    return walk.anneal(stretch._replace(odds=stretch.odds._replace(budget=budget)))


def with_fewer(walk: AnnealingWalk[Any], stretch: AnnealingSegment, too_few: int) -> bool:
    """Bisect the number of edits a search needs for the goal; end at the best state.

    `too_few` edits are known not to suffice, those of the best state are known to. Return whether
    the watch asked to stop.
    """
    for _ in range(HALVINGS):
        edits = (too_few + walk.reached()[1]) // 2
        if edits <= too_few:
            break
        if search_from_input(walk, stretch, edits):
            return True
        # If this search reached the goal, its state is the new best, and the upper end falls.
        if node_classes.unprotected_of(walk.classes) > stretch.plan.allowed:
            too_few = edits
    walk.back_to_best()
    return False


def towards_goal(walk: AnnealingWalk[Any], steps: int, *, always: bool = False) -> None:
    """Look for the fewest edits that reach the goal, from where the walk stands.

    Warm: anneals if the goal is missed, or `always`. If it then still is missed, goes where sampled
    deletions reach it. Backfill: takes edits back from the best state, which costs nothing as long
    as the goal stays reached. A cold stretch, then a fine one unless the cold one took back nearly
    none.
    """
    # Warm: look for the goal. The price 0.15 of an edit is well below that of a node, which is 1.
    # `ease` mixes in what classes lack to k, so that a walk sees progress before a class is full.
    full, half = walk.task.allowed == 0, -(-steps // 2)
    warmed = max(min(2 * steps, schedules.MOST_WARM), steps)
    plan, odds = schedules.paying(schedules.within_budget(walk.task, warmed), walk.task.k, 0.15)
    plan = plan._replace(hot=0.3, cold=0.05, ease=1.0 if full else 0.5)
    warm = AnnealingSegment(plan, odds._replace(swap=0.3, swap_back=0.3))
    # Cold backfill: half of the proposals swap an edit for another, which frees edits to take back.
    odds = odds._replace(swap=0.5, swap_back=0.5)
    cold = AnnealingSegment(plan._replace(steps=half, hot=0.05, cold=0.005, price=0.1), odds)
    # Fine backfill: longer and a little warmer than the cold one.
    plan = plan._replace(steps=steps, hot=0.1, cold=0.01, price=0.1, ease=1.0 if full else 0.0)
    fine = AnnealingSegment(plan, warm.odds)
    for stretch in (warm, cold, fine):
        # The warm stretch is for states that miss the goal, or if the start is far from the best.
        if stretch is warm and not (always or walk.missed()):
            continue
        skips = stretch is warm and walk.misses_by_far()
        before = walk.reached()[1]
        if not skips and walk.anneal(stretch):
            return
        # If the cold backfill took back nearly nothing, the fine one is not worth its time.
        if stretch is cold and before - walk.reached()[1] < int(GAIN * before):
            return
        walk.back_to_best()
        # Annealing did not reach the goal: try where the paper's heuristic reaches it.
        if stretch is warm and walk.missed():
            walk.start_where_edges_were_sampled()
