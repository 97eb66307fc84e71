"""Heuristic SEARCH: simulated annealing over flips, each looked at exactly before it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.structural import search as kernel
from graphveil.kernels.structural import states_search as states_kernel
from graphveil.methods.structural import states
from graphveil.methods.structural.bounds import nodes_left_by_rewiring
from graphveil.methods.structural.sampling import sample_edits
from graphveil.methods.structural.state import Arena, arena_of, check_supported, edited_of
from graphveil.methods.structural.task import Edited, Task, searchable

Watch = Callable[[int, int], bool]

CHUNK = 100_000
LARGE_EDGES = 50_000

AT_ONCE = 50_000_000
"""Steps of work between two looks at a walk over states: well under a second."""

AT_MOST = 5_000_000_000
"""Steps of work of a stretch over states, where no proposals are asked for; a quarter for a goal.
"""

FEWEST = 1_000
"""Proposals of such a stretch at least."""


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


class Others(NamedTuple):
    """What a walk over the states of any measure needs besides.

    ``work`` is about the steps of a proposal, ``met`` lists the best states at the last looks.
    """

    arena: states.Arena
    work: int
    met: list[states.Met]

    @property
    def chunk(self) -> int:
        """The number of proposals between two looks."""
        return min(max(AT_ONCE // self.work, 1), CHUNK)


class Walk(NamedTuple):
    """A search under way: its task, its state, its randomness, and who watches it.

    Where ``others`` is None the walk follows counts alone, else the states of any measure.
    """

    task: Task
    arena: Arena
    rng: np.random.Generator
    watch: Watch | None
    others: Others | None = None

    def anneal(self, plan: kernel.Schedule) -> bool:
        """Follow the schedule; return whether whoever watches has seen enough."""
        chunk = CHUNK if self.others is None else self.others.chunk
        for first in range(0, plan.steps, chunk):
            self._anneal(plan, first, min(first + chunk, plan.steps))
            if self.seen_enough():
                return True
            if plan.price == 0 and self.reached()[0] <= plan.allowed:
                return False
        return False

    def _anneal(self, plan: kernel.Schedule, first: int, last: int) -> None:
        state, best = self.arena
        if self.others is None:
            kernel.anneal(state, best, plan, self.rng, first, last)
        else:
            reach = self.others.arena.reach
            states_kernel.anneal_edits(state, reach, best, plan, self.rng, first, last)
            states.meet(self.others.met, self.others.arena)

    def seen_enough(self) -> bool:
        """Tell whoever watches the best state; return whether to stop with it."""
        return self.watch is not None and self.watch(*self.reached())

    def reached(self) -> tuple[int, int]:
        """Return the nodes left and the edits of the best state; a rewiring changes two edges."""
        tally = self.arena.best.tally
        pairs_an_edit = 2 if self.task.edits == "rewire" else 1
        return int(tally[kernel.BEST_LEFT]), int(tally[kernel.BEST_CHANGED]) // pairs_an_edit

    def missed(self) -> bool:
        """Return whether the best state leaves more nodes than are allowed."""
        return self.reached()[0] > self.task.allowed

    def start_where_edges_were_sampled(self) -> None:
        """Make the present state that where unique-affected reaches the goal, if it does.

        So the states of any measure get a start from which edges can be put back; those that
        counts alone follow have better ones.
        """
        task = self.task
        if self.others is None or task.edits != "delete":
            return
        gap = max(1, -(-task.graph.n_edges // 100))
        found = sample_edits(task, "ua", gap=gap, by_budget=False, rng=self.rng, watch=self.watch)
        pool, n = self.arena.state.pool, task.graph.n_nodes
        keys = pool.left.astype(np.int64) * n + pool.right
        self._go_to(np.isin(keys, found.deleted[:, 0].astype(np.int64) * n + found.deleted[:, 1]))
        if found.left <= task.allowed < self.reached()[0]:
            states_kernel.keep_edits(*self.others.arena)

    def back_to_input(self) -> None:
        """Make the state without edits the present one."""
        self._go_to(np.zeros_like(self.arena.best.changed))

    def back_to_best(self) -> None:
        """Make the best state the present one."""
        self._go_to(self.arena.best.changed.copy())

    def _go_to(self, changed: NDArray[np.bool_]) -> None:
        state, best = self.arena
        if self.others is None:
            kernel.go_to(state, best, changed)
        else:
            states_kernel.go_to_edits(state, self.others.arena.reach, best, changed)


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
        Any measure and distance; edits ``"delete"``, ``"add"``, ``"rewire"`` or ``"any"`` (the
        edges, and m pairs that may be added). A rewiring is one edit of the budget.
    iterations
        The proposals of one stretch; where None `default_iterations`, or `goal_iterations`, and
        fewer where a proposal is slow: as many as take about half a minute, for a goal a quarter of
        that. A goal takes up to four stretches, of half, one and two times this length.
    by_budget
        Whether the fewest nodes left within the budget are wanted, or the fewest edits that leave
        the allowed nodes.
    rng
        The randomness.
    watch
        Called every 100,000 proposals or more often, at least every second or so, with the best
        state's nodes left and edits; True stops.

    Returns
    -------
    Edited
        Its nodes left are counted again from the edited graph, exactly.

    Notes
    -----
    Every proposal makes one or two edits and is judged by the nodes that it leaves in small
    classes. For count, edge-count and degree at distance 1 a flip takes O(degree). For the other
    measures, and where edges are rewired, a flip takes what it takes to look again at the nodes
    that it affects. There the number of nodes left is exact for sums of sizes and rests on hashes
    for the other measures; the best state is counted again exactly, and the exact number returned.

    Only edges of the input are rewired, each at most once, and no edge of the input is joined
    anew: so every rewiring can be taken back at any time, and their number is the edits made.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> task = Task(flag, "count", 1, 2, "delete", 1, 0)
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> search(task, iterations=1000, by_budget=True, rng=rng).left
    0
    """
    walk = _walk(task, rng, watch)
    steps = _usual_steps(walk, by_budget=by_budget) if iterations is None else iterations
    if walk.missed() and not walk.anneal(within_budget(task, steps)) and not by_budget:
        towards_goal(walk, steps)
    if walk.others is None:
        return edited_of(task, walk.arena)
    return states.best_met(task, walk.others.arena, walk.others.met, by_budget=by_budget)


def _walk(task: Task, rng: np.random.Generator, watch: Watch | None) -> Walk:
    """Return a walk that stands at the input, whatever the measure and the edits."""
    if searchable(task):
        return Walk(task, arena_of(task, rng), rng, watch)
    arena = states.arena_of(task, rng)
    others = Others(arena, states.work_of(arena), [])
    return Walk(task, Arena(arena.state, arena.best), rng, watch, others)


def _usual_steps(walk: Walk, *, by_budget: bool) -> int:
    """Return the proposals where none are asked for: the default, or fewer where they are slow."""
    default = default_iterations if by_budget else goal_iterations
    steps = default(walk.task.graph.n_edges)
    if walk.others is None:
        return steps
    most = AT_MOST if by_budget else AT_MOST // 4
    return min(steps, max(most // walk.others.work, FEWEST))


def within_budget(task: Task, steps: int) -> kernel.Schedule:
    """Return the schedule that only counts nodes, and stops at those allowed.

    Larger classes to fill ask for more heat and more second flips; the constants were tuned on the
    networks of the paper.
    """
    pairs, rewire = task.k == 2, task.edits == "rewire"
    return kernel.Schedule(
        steps=steps,
        hot=0.4 if pairs else 0.5,
        cold=0.05 if pairs else 0.07,
        price=0.0,
        ease=1.0,
        allowed=max(task.allowed, nodes_left_by_rewiring(task)) if rewire else task.allowed,
        budget=2 * task.budget if rewire else task.budget,
        focus=0.8 if task.graph.n_edges > LARGE_EDGES else 0.5,
        swap=0.15 if pairs else 0.3,
        swap_back=0.1,
    )


def towards_goal(walk: Walk, steps: int, *, always: bool = False) -> None:
    """Look for the fewest edits that reach the goal, from where the walk stands.

    Anneals where the goal is missed or `always`; if it still is, goes where sampled deletions reach
    it. Then backfills from the best state twice: cold with many swaps, and warmer. All stretches
    pay for edits.
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
        if plan is warm and walk.missed():
            walk.start_where_edges_were_sampled()
