"""Heuristic SEARCH: simulated annealing over flips, each looked at exactly before it is made."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.structural.kernels.anneal import anneal
from graphveil.methods.structural.kernels.classes import unprotected_of
from graphveil.methods.structural.kernels.pooled import (
    BEST_CHANGED,
    BEST_UNPROTECTED,
    AnnealingState,
    go_to,
    keep,
)
from graphveil.methods.structural.outcome import keys_of
from graphveil.methods.structural.paper import sample_edits
from graphveil.methods.structural.task import Edited, Goals, Task, Watch, proposals
from graphveil.methods.structural.walk_state import (
    MOST_STEPS,
    MOST_WARM,
    Stretch,
    Visited,
    annealing_state_of,
    edited_of,
    paying,
    remember,
    shortened,
    usual_steps,
    within_budget,
    work_of,
)

CHUNK = 100_000

LONGER, SLOPE = 3, 0.05
"""How much longer the next stretch within a budget is, and what share of the nodes the last one
must have protected.
"""

SHRINKS = 3
"""No walk that was seen took back more than two thirds of the edits with which all were anonymous.
"""

AT_ONCE = 50_000_000
"""Steps of work between two looks at a walk over values: well under a second."""

GAIN = 0.001
"""The share of edits that a first backfill takes back where another one follows, if that is one."""

LAST_FEW = 20
"""A goal that another heuristic reaches is given up where more nodes miss it after a search."""

HALVINGS = 4
"""Searches with fewer edits than those with which a search has reached a goal."""

FAR = 0.25
"""The share of the nodes from which on a goal is missed by too many for another warm stretch."""


AnyTask = TypeVar("AnyTask", bound=Goals)


class AnnealingWalk(NamedTuple, Generic[AnyTask]):
    """A walk under way: its task, its state, its randomness, and who watches it.

    ``work`` is about the steps of a proposal, ``visited`` lists the best states at the last looks.
    """

    task: AnyTask
    annealing: AnnealingState
    rng: np.random.Generator
    watch: Watch | None
    work: int
    visited: list[Visited]

    def anneal(self, stretch: Stretch) -> bool:
        """Follow the schedule; return whether whoever watches has seen enough."""
        plan, odds = stretch
        chunk = min(max(AT_ONCE // self.work, 1), CHUNK)
        for first in range(0, plan.steps, chunk):
            last = min(first + chunk, plan.steps)
            anneal(self.annealing, None, plan, odds, self.rng, first, last)
            if self.annealing.values is not None:
                remember(self.visited, self.annealing)
            if self.seen_enough():
                return True
            if plan.stop and unprotected_of(self.annealing.state.classes) <= plan.allowed:
                return False
        return False

    def seen_enough(self) -> bool:
        """Give the best state to whoever watches; return whether to stop with it."""
        return self.watch is not None and self.watch(*self.reached())

    def reached(self) -> tuple[int, int]:
        """Return the unprotected nodes and the edits of the best state; a rewiring changes two."""
        tally = self.annealing.best.tally
        pairs_an_edit = 2 if self.task.edits == "rewire" else 1
        unprotected, changed = tally[BEST_UNPROTECTED], tally[BEST_CHANGED]
        return int(unprotected), int(changed) // pairs_an_edit

    def missed(self) -> bool:
        """Return whether more nodes than allowed are unprotected in the best state."""
        return self.reached()[0] > self.task.allowed

    def misses_by_far(self) -> bool:
        """Return whether sampled deletions are nearer the goal: too many nodes are unprotected."""
        can_sample = self.annealing.values is not None and self.task.edits == "delete"
        too_many = self.reached()[0] - self.task.allowed
        return can_sample and too_many > FAR * self.task.n_nodes

    def cannot_win(self) -> bool:
        """Return whether all are anonymous, with more than thrice the edits that are to be beaten.

        Where some may stay unprotected, a walk may take nearly all edits back. A walk over codes
        that more than the last few nodes keep from the goal is not expected to reach it.
        """
        task, (unprotected, edits) = self.task, self.reached()
        if task.to_beat is None:
            return False
        if unprotected > task.allowed:
            return self.annealing.values is None and unprotected - task.allowed > LAST_FEW
        return not task.allowed and edits > SHRINKS * task.to_beat

    def start_where_edges_were_sampled(self) -> None:
        """Make the present state that where unique-affected reaches the goal, if it does.

        So the values of any measure get a start from which edges can be put back; walks over codes
        have better ones.
        """
        task, (state, values, best, _, _) = self.task, self.annealing
        if values is None or task.edits != "delete" or not isinstance(task, Task):
            return
        gap = max(1, -(-task.graph.n_edges // 100))
        sampled = sample_edits(task, "ua", gap=gap, rng=self.rng, watch=self.watch)
        n, pairs = task.graph.n_nodes, np.stack((state.pool.one, state.pool.other), axis=1)
        self.go_to(np.isin(keys_of(pairs, n), keys_of(sampled.deleted, n)))
        if sampled.unprotected <= task.allowed < self.reached()[0]:
            keep(state.pool, state.pool.mates, best, unprotected_of(state.classes))

    def back_to_input(self) -> None:
        """Make the state without edits the present one."""
        self.go_to(np.zeros_like(self.annealing.best.changed))

    def back_to_best(self) -> None:
        """Make the best state the present one."""
        self.go_to(self.annealing.best.changed.copy())

    def go_to(self, changed: NDArray[np.bool_]) -> None:
        """Make the state in which these pairs are changed the present one."""
        state, values, best, _, trial = self.annealing
        go_to(state, values, best, trial, changed)


def walk_of(task: Task, rng: np.random.Generator, watch: Watch | None) -> AnnealingWalk[Task]:
    """Return a walk that stands at the input."""
    annealing = annealing_state_of(task, rng)
    return AnnealingWalk(task, annealing, rng, watch, work_of(annealing), [])


def search(
    task: Task,
    *,
    iterations: int | None,
    effort: float = 1.0,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best state of an annealing walk from the input, the input included.

    Parameters
    ----------
    task
        Any measure and distance; edits ``"delete"``, ``"add"``, ``"rewire"`` or ``"any"`` (the
        edges, and m pairs that may be added). A rewiring is one edit of the budget.
    iterations
        The proposals of one stretch; where None `default_iterations`, or `goal_iterations`, and
        fewer where a proposal is slow: as many as take about half a minute, for a goal a quarter of
        that. A goal takes up to four stretches, of half, one and two times this length. A budget
        takes others of thrice this length, and so on, while the last gained a twentieth.
    effort
        What the usual proposals are multiplied by, where none are asked for.
    rng
        The randomness.
    watch
        Called every 100,000 proposals or more often, at least every second or so.

    Returns
    -------
    Edited
        Its unprotected nodes are counted again from the edited graph, exactly.

    Notes
    -----
    Every proposal makes one or two edits and is judged by the nodes that it leaves unprotected. For
    count, edge-count and degree at distance 1 a flip takes O(degree). For the other measures, and
    where edges are rewired, a flip takes what it takes to look again at the nodes that it affects.
    There their number is exact for sums of sizes and rests on hashes for the other measures; the
    best state is counted again exactly, and the exact number returned.

    Only edges of the input are rewired, each at most once, and no edge of the input is joined
    anew: so every rewiring can be taken back at any time, and their number is the edits made.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> task = Task(flag, "count", 1, 2, "delete", 1, 0, by_budget=True)
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> search(task, iterations=1000, rng=rng).unprotected
    0
    """
    walk = walk_of(task, rng, watch)
    work = None if walk.annealing.values is None else walk.work
    steps = proposals(usual_steps(task, work), iterations, effort)
    stretch = within_budget(task, steps)
    if task.by_budget and iterations is None and walk.annealing.values is None:
        while_it_gains(walk, stretch, round(MOST_STEPS * max(effort, 1.0)))
        return edited_of(task, walk.annealing, walk.visited)
    if walk.missed() and not walk.anneal(stretch) and not task.by_budget:
        missed = walk.reached()[0] > stretch.plan.allowed
        if missed or walk.cannot_win() or not with_fewer(walk, shortened(stretch), 0):
            towards_goal(walk, steps)
    return edited_of(task, walk.annealing, walk.visited)


def while_it_gains(walk: AnnealingWalk[Any], stretch: Stretch, most: int) -> None:
    """Search, then from the input with thrice as many proposals, and so on, up to the most.

    Ends, too, where the last search left hardly fewer nodes unprotected than those before.
    """
    steps = stretch.plan.steps
    while walk.missed():
        before = walk.reached()[0]
        plan = stretch.plan._replace(steps=steps)
        if search_from_input(walk, Stretch(plan, stretch.odds), walk.task.budget):
            return
        steps *= LONGER
        gained = before - walk.reached()[0]
        if steps > most or (steps > LONGER * stretch.plan.steps and gained < SLOPE * before):
            return


def search_from_input(walk: AnnealingWalk[Any], stretch: Stretch, edits: int) -> bool:
    """Search with at most so many edits; return whether whoever watches has seen enough."""
    budget = 2 * edits if walk.task.edits == "rewire" else edits
    walk.back_to_input()
    return walk.anneal(stretch._replace(odds=stretch.odds._replace(budget=budget)))


def with_fewer(walk: AnnealingWalk[Any], stretch: Stretch, too_few: int) -> bool:
    """Search with half as many edits more than are too few, and so on; end at the best state.

    Returns whether whoever watches has seen enough.
    """
    for _ in range(HALVINGS):
        edits = (too_few + walk.reached()[1]) // 2
        if edits <= too_few:
            break
        if search_from_input(walk, stretch, edits):
            return True
        if unprotected_of(walk.annealing.state.classes) > stretch.plan.allowed:
            too_few = edits
    walk.back_to_best()
    return False


def towards_goal(walk: AnnealingWalk[Any], steps: int, *, always: bool = False) -> None:
    """Look for the fewest edits that reach the goal, from where the walk stands.

    Anneals where the goal is missed or `always`; if it still is, or is missed by far, goes where
    sampled deletions reach it. Then backfills from the best state: cold with many swaps and, unless
    that took back nearly none of many edits, warmer. All stretches pay for edits. Ends early where
    another heuristic has reached the goal and this one will not do so with fewer edits: see
    `AnnealingWalk.cannot_win`.
    """
    full, half = walk.task.allowed == 0, -(-steps // 2)
    warmed = max(min(2 * steps, MOST_WARM), steps)
    plan, odds = paying(within_budget(walk.task, warmed), walk.task.k, 0.15)
    plan = plan._replace(hot=0.3, cold=0.05, ease=1.0 if full else 0.5)
    warm = Stretch(plan, odds._replace(swap=0.3, swap_back=0.3))
    odds = odds._replace(swap=0.5, swap_back=0.5)
    cold = Stretch(plan._replace(steps=half, hot=0.05, cold=0.005, price=0.1), odds)
    plan = plan._replace(steps=steps, hot=0.1, cold=0.01, price=0.1, ease=1.0 if full else 0.0)
    fine = Stretch(plan, warm.odds)
    for stretch in (warm, cold, fine):
        if stretch is warm and not (always or walk.missed()):
            continue
        skips = stretch is warm and walk.misses_by_far()
        before = walk.reached()[1]
        if walk.cannot_win() or (not skips and walk.anneal(stretch)):
            return
        if stretch is cold and before - walk.reached()[1] < int(GAIN * before):
            return
        walk.back_to_best()
        if stretch is warm and walk.missed():
            walk.start_where_edges_were_sampled()
            if walk.task.to_beat is not None and walk.annealing.values is None:
                return
