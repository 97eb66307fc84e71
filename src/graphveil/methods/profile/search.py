"""Edits for a share of the people, or for a price: walks over ties, each flip looked at exactly.

A walk is that of the method structural, whose kernels move the ends of a tie by steps of its own
here. From the network it looks for the edits that protect most people; from ties that protect
everybody, as they were grouped and realized, it looks for edits that can be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from graphveil.data import Layer
from graphveil.kernels.structural.annealing.state import go_to, keep
from graphveil.kernels.structural.classes import UNPROTECTED
from graphveil.methods.profile.fall import falling
from graphveil.methods.profile.plan import Ints
from graphveil.methods.profile.pool import (
    ChangedTies,
    Pairs,
    ProfileTask,
    changes_to,
    checked,
    pairs_of,
    unprotected_in,
    walk_of,
)
from graphveil.methods.profile.strip import stripped
from graphveil.methods.structural.annealing.stretches import (
    goal_iterations,
    shortened,
    within_budget,
)
from graphveil.methods.structural.annealing.walk import AnnealingWalk, towards_goal, with_fewer
from graphveil.methods.structural.task import better, proposals

A_TIE, MOST_STEPS = 200, 5_000_000
"""Proposals of a walk within a budget: so many a tie, and no more than these."""

FOCUS = 0.8
"""How often such a walk looks near an unprotected person."""

BISECTIONS = 5
"""A budget is met from a plan by so many goals, each between one too dear and one that it pays."""

HOPELESS = 4
"""Planned deletions of more than so many budgets are given up: less than that is given back."""

NEAR = 0.01
"""As a share of the people: goals so near each other are not told apart."""


def search(
    task: ProfileTask,
    *,
    plans: list[tuple[Layer, ...]],
    effort: float = 1.0,
    rng: np.random.Generator,
) -> ChangedTies:
    """Return the best state of walks from the network, and from what was planned for everybody.

    Parameters
    ----------
    task
        What may change, and the goal.
    plans
        Layers in which every profile is shared by k people of a color, reached by edits that the
        task allows: some of these are taken back.
    effort
        A multiple of the usual proposals.
    rng
        The randomness.

    Returns
    -------
    ChangedTies
        Its unprotected people are counted again from the edited ties.

    Notes
    -----
    From a network whose ties come and go, a walk towards a goal ends far from where a plan does: it
    starts from plans alone. Where ties may only go, a walk starts from deletions that are planned,
    too. A walk within a budget starts from the network, and from plans, planned deletions among
    them, by way of goals: as few people are given up as the budget allows.

    Examples
    --------
    >>> from graphveil.data import Network
    >>> star = Network((Layer.from_arcs([0, 0, 0, 0], [1, 2, 3, 4], n=6),))
    >>> task = ProfileTask(star, np.zeros(6, dtype=np.int64), 2, "delete", 3, 0, by_budget=True)
    >>> search(task, plans=[], rng=np.random.Generator(np.random.PCG64(1))).unprotected
    1
    """
    none = np.empty(0, dtype=np.int64)
    best = ChangedTies(none, none, unprotected_in(task.network, task.colors, task.k).size)
    if best.unprotected <= task.allowed:
        return best
    changes = _distinct(changes_to(task.network, layers) for layers in plans)
    for plan in changes:
        if plan.cost <= task.budget and better(plan, best, task):
            best = plan
    if task.by_budget and best.unprotected == 0:
        return best
    looks = Look(task, effort, rng)
    if task.by_budget or not changes:
        best = _best_of(best, looks.from_network(), task)
    if task.edits == "delete" and not task.by_budget:
        best = _best_of(best, looks.from_fall() or best, task)
    for plan in changes:
        tried = looks.paid_from(plan, best) if task.by_budget else looks.from_plan(plan)
        best = _best_of(best, tried, task)
    if task.edits == "delete" and task.by_budget and best.unprotected:
        best = looks.paid_by_falls(best)
    return best


def _distinct(changes: Iterable[ChangedTies]) -> list[ChangedTies]:
    """Return each change once."""
    seen = {(one.added.tobytes(), one.deleted.tobytes()): one for one in changes}
    return [*seen.values()]


def _best_of(one: ChangedTies, other: ChangedTies, task: ProfileTask) -> ChangedTies:
    return other if better(other, one, task) else one


class Look(NamedTuple):
    """Looks for edits: from the network, or from a plan.

    Attributes
    ----------
    task, effort, rng
        As `search` takes them.
    """

    task: ProfileTask
    effort: float
    rng: np.random.Generator

    def from_network(self) -> ChangedTies:
        """Return the best state of a walk that starts at the network as it is."""
        task = self.task
        pairs = pairs_of(task, np.empty(0, dtype=np.int64), self.rng)
        walk = walk_of(task, pairs, self.rng)
        usual = min(max(A_TIE * task.n_edges, 2 * A_TIE * 1_000), MOST_STEPS)
        stretch = within_budget(task, proposals(usual, None, self.effort))
        stretch = stretch._replace(odds=stretch.odds._replace(focus=FOCUS))
        walk.anneal(stretch)
        if not task.by_budget and not walk.missed():
            with_fewer(walk, shortened(stretch), 0)
            towards_goal(walk, self._steps)
        return checked(task, pairs, walk)

    def from_fall(self, most: int | None = None) -> ChangedTies | None:
        """Return the best state of a walk that takes back deletions: planned ones, and others.

        These go one by one, at unprotected people, until the goal holds. None where all together
        are more than `most`.
        """
        most = self.task.n_edges if most is None else most
        pairs = pairs_of(self.task, np.empty(0, dtype=np.int64), self.rng)
        walk = walk_of(self.task, pairs, self.rng)
        self._start_at(walk, pairs, falling(self.task, self.rng))
        gone = stripped(walk, pairs, most)
        if gone.size > most:
            return None
        self._start_at(walk, pairs, gone)
        towards_goal(walk, self._steps)
        return checked(self.task, pairs, walk)

    def from_plan(self, plan: ChangedTies) -> ChangedTies:
        """Return the best state of a walk that takes edits of a plan back while the goal holds."""
        pairs = pairs_of(self.task, plan.added, self.rng)
        walk = walk_of(self.task, pairs, self.rng)
        self._start_at(walk, pairs, np.concatenate([plan.added, plan.deleted]))
        towards_goal(walk, self._steps)
        return checked(self.task, pairs, walk)

    def paid_from(self, plan: ChangedTies, best: ChangedTies) -> ChangedTies:
        """Return what a budget pays of a plan: the fewest people are given up, by bisection."""
        return self._paid(lambda aim: aim.from_plan(plan), best)

    def paid_by_falls(self, best: ChangedTies) -> ChangedTies:
        """Return what a budget pays of planned deletions, if it pays for clearly more people."""
        more = max(best.unprotected - max(round(NEAR * self.task.n_nodes), 1), 0)
        most = HOPELESS * self.task.budget
        tried = self._aimed(more).from_fall(most)
        if tried is None or tried.cost > self.task.budget:
            return best
        return self._paid(lambda aim: aim.from_fall(most), _best_of(best, tried, self.task))

    def _paid(self, look: Callable[[Look], ChangedTies | None], best: ChangedTies) -> ChangedTies:
        """Return the best of what looks reach within the budget, each with another goal."""
        task, few, many = self.task, 0, best.unprotected
        for _ in range(BISECTIONS):
            allowed = (few + many) // 2
            if many - few <= max(NEAR * task.n_nodes, 1):
                break
            tried = look(self._aimed(allowed))
            if tried is not None and tried.cost <= task.budget:
                best = _best_of(best, tried, task)
                many = min(tried.unprotected, allowed)
            else:
                few = allowed
        return best

    def _aimed(self, allowed: int) -> Look:
        """Return a shorter look for the fewest edits that leave so many people unprotected."""
        aim = self.task._replace(allowed=allowed, by_budget=False, budget=self.task.n_edges)
        return self._replace(task=aim, effort=self.effort / 2)

    @property
    def _steps(self) -> int:
        return proposals(goal_iterations(self.task.n_edges), None, self.effort)

    def _start_at(self, walk: AnnealingWalk[ProfileTask], pairs: Pairs, changed: Ints) -> None:
        """Make the state with these edits the present one and the best."""
        state, values, best, _, trial = walk.annealing
        go_to(state, values, best, trial, np.isin(pairs.keys, changed))
        keep(state.pool, state.pool.mates, best, state.classes.tally[UNPROTECTED])
