"""Heuristic TARGET: edges come and go, and nodes are pulled towards values that others share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.structural.anneal import anneal
from graphveil.kernels.structural.annealing.state import BEST_CHANGED, BEST_UNPROTECTED
from graphveil.kernels.structural.classes import (
    DEGREE_BITS,
    PULL,
    SLOT,
    TRIANGLES,
    K,
    NodeClasses,
    fill,
)
from graphveil.kernels.structural.schedule import Odds, Schedule
from graphveil.kernels.structural.target import edits as kernel
from graphveil.kernels.structural.target.assign import Free, assign
from graphveil.kernels.structural.target.edits import TargetState
from graphveil.methods.structural.target import phases
from graphveil.methods.structural.target.phases import Course, Phase
from graphveil.methods.structural.target.state import (
    begin_at,
    best,
    edited_of,
    go_to,
    target_state_of,
)
from graphveil.methods.structural.task import COLOR_BITS, Edited, Task, Watch, proposals

CHUNK = 25_000
LARGE_EDGES = 40_000
LARGE_DEGREE = 15
"""The mean degree from which a proposal takes so long that fewer are made."""

STARTS = 4
MOST_PROPOSALS = 30_000_000
"""Starts that miss the goal are tried again as long as their proposals are no more, up to four."""

FOR_LUCK = 10_000_000
"""A start that reaches the goal is tried again as long as their proposals are no more."""

SPARED = 0.8

IN_A_COLOR = (1 << COLOR_BITS["count"]) - 1
"""The bits of triangles where codes have colors."""

LEAVES = 0.5
"""The share of those who miss the goal that another round leaves, at best as a rule."""


def target(
    task: Task,
    *,
    iterations: int | None,
    effort: float = 1.0,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best state of an annealing walk towards values that k nodes can share.

    Parameters
    ----------
    task
        Measure count at distance 1; edits ``"any"``.
    iterations
        The proposals of one run through the phases; `target_iterations` where None. Backfilling
        comes on top, and graphs with few triangles get up to four runs.
    effort
        What these are multiplied by where None.
    rng
        The randomness.
    watch
        Called every 25,000 proposals.

    Returns
    -------
    Edited
        Its unprotected nodes are counted again from the edited graph, exactly.

    Notes
    -----
    The walk minimizes the unprotected nodes, plus a price an edit, plus the distance of
    nodes from their aims: the nearest class of k, or the middle of a group of likes. The distance
    falls step by step where the number of nodes does not, so that hubs and dense graphs move.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> task = Task(flag, "count", 1, 2, "any", 4, 0)
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> edited = target(task, iterations=1000, rng=rng)
    >>> edited.unprotected, edited.cost
    (0, 1)
    """
    usual = target_iterations(task.graph.n_nodes, task.graph.n_edges)
    steps = proposals(usual, iterations, effort)
    usual = usual if iterations is None else iterations
    walk = TargetWalk(task, target_state_of(task), rng, watch, steps, usual, [])
    if walk.missed():
        (_within_budget if task.by_budget else _towards_goal)(walk)
        walk.end()
    return edited_of(task, walk.target_state)


def target_iterations(n_nodes: int, n_edges: int) -> int:
    """Return 500 proposals an edge, at least 3,000,000 and at most 15,000,000.

    Beyond 40,000 edges, or a mean degree of 15, at most as many times fewer as there are more of
    them, and at least 3,000,000: runs are to end in half a minute. Below 1,000 edges 3,000 an edge,
    at least 1,000,000.

    Examples
    --------
    >>> target_iterations(100, 326), target_iterations(7_500, 18_812)
    (1000000, 9406000)
    >>> target_iterations(40_000, 100_000), target_iterations(2_000, 30_000)
    (6000000, 7500000)
    """
    mean_degree = 2 * n_edges / max(n_nodes, 1)
    most = int(15_000_000 / max(n_edges / LARGE_EDGES, mean_degree / LARGE_DEGREE, 1))
    fewest = min(max(3_000 * n_edges, 1_000_000), 3_000_000)
    return max(min(500 * n_edges, most), fewest)


class TargetBest(NamedTuple):
    """The best state from one start: its edits, its unprotected nodes and number of edits."""

    edits: NDArray[np.int64]
    reached: tuple[int, int]


class TargetWalk(NamedTuple):
    """A walk under way: its task, its state, its randomness, who watches it, and how long it is.

    It has ``usual`` proposals without more or less effort. ``before`` lists the best states from
    earlier starts.
    """

    task: Task
    target_state: TargetState
    rng: np.random.Generator
    watch: Watch | None
    steps: int
    usual: int
    before: list[TargetBest]

    def reached(self) -> tuple[int, int]:
        """Return the unprotected nodes and the edits of the best state from any start."""
        return min((self.here(), *(best.reached for best in self.before)), key=self._rank)

    def here(self) -> tuple[int, int]:
        """Return the unprotected nodes and the edits of the best state from this start."""
        tally = self.target_state.edits.tally
        return int(tally[BEST_UNPROTECTED]), int(tally[BEST_CHANGED])

    def _rank(self, reached: tuple[int, int]) -> tuple[int, int, int]:
        unprotected, edits = reached
        return max(unprotected - self.task.allowed, 0), edits, unprotected

    def missed(self) -> int:
        """Return how many nodes more than allowed the best state from this start has."""
        return max(self.here()[0] - self.task.allowed, 0)

    def follow(self, phase: Phase, *, highest: int | None = None, backfill: bool = False) -> bool:
        """Go through a phase; return whether whoever watches has seen enough.

        Degrees above the highest neither count nor have aims. A phase ends where the goal is
        reached; backfilling starts there.
        """
        state = self.target_state.state
        top = self.task.graph.n_nodes if highest is None else highest
        lowest = weigh(state, phase, top)
        plan, odds = _plan(self, phase, backfill=backfill)
        for first in range(0, plan.steps, CHUNK):
            if phase.pull and first % phase.every == 0:
                set_aims(state.classes, lowest, top, strength=int(phase.anchored))
            last = min(first + CHUNK, plan.steps)
            anneal(None, self.target_state, plan, odds, self.rng, first, last)
            if self.watch is not None and self.watch(*self.reached()):
                return True
            if plan.stop and not self.missed():
                return False
        return False

    def follow_all(self, course: Iterable[Phase], *, highest: int | None = None) -> bool:
        """Go through phases until the goal is reached; return whether to stop altogether."""
        return any(self.missed() and self.follow(phase, highest=highest) for phase in course)

    def back_to_best(self) -> None:
        """Make the best state the present one."""
        go_to(self.target_state, best(self.target_state))

    def begin_anew(self) -> None:
        """Put the best state from this start aside, and start from the input."""
        self.before.append(TargetBest(best(self.target_state), self.here()))
        begin_at(self.target_state, np.empty(0, dtype=np.int64))

    def end(self) -> None:
        """Make the best state from any start the best one."""
        other = min(self.before, key=lambda best: self._rank(best.reached), default=None)
        if other is not None and self._rank(other.reached) < self._rank(self.here()):
            begin_at(self.target_state, other.edits)


def _plan(walk: TargetWalk, phase: Phase, *, backfill: bool) -> tuple[Schedule, Odds]:
    """Return the phase as the kernel takes it; a backfill spares what the allowed nodes may lack.

    These are taken to stand in classes of all sizes 1..k - 1, equally many.
    """
    task = walk.task
    plan = Schedule(
        steps=max(round(phase.share * walk.steps), 1),
        hot=phase.hot,
        cold=phase.cold,
        price=phase.price,
        ease=1.0,
        pull=phase.pull,
        spared=0.0,
        spared_lack=0.5 * (3 * task.k - 2) * task.allowed if backfill else 0.0,
        allowed=task.allowed,
        stop=not backfill,
    )
    odds = Odds(
        focus=phase.focus,
        undo=phase.undo,
        swap=phase.revert,
        swap_back=0.0,
        add=0.3,
        budget=task.budget,
    )
    return plan, odds


def weigh(state: kernel.TargetGraph, phase: Phase, highest: int) -> int:
    """Let nodes count as the phase says, and forget all aims; return the lowest degree that counts.

    Degrees above the highest do not count.
    """
    classes, degree = state.classes, state.rows.length
    lowest = int(np.quantile(degree, phase.quantile)) if phase.quantile else 0
    hubs = int(np.quantile(degree, phases.HUBS))
    weight = classes.weight
    every = np.arange(weight.size)
    weight[:] = np.where(every >= hubs, phase.hub_weight, 1)
    weight[(every < lowest) | (every > highest)] = 0
    classes.node[:, PULL] = 0
    fill(classes)
    return lowest


def set_aims(classes: NodeClasses, lowest: int, highest: int, *, strength: int) -> None:
    """Pull nodes with degrees lowest..highest to where they can be anonymous: see `assign`."""
    table, rows, k = classes.table, classes.node[:, SLOT], int(classes.rule[K])
    codes, sizes = table[rows, 0], table[rows, 1]
    degrees = codes >> DEGREE_BITS
    nodes = np.flatnonzero((lowest <= degrees) & (degrees <= highest) & (sizes < k))
    nodes = nodes[np.argsort(-codes[nodes], kind="stable")]
    free = Free(
        nodes=nodes,
        codes=codes[nodes],
        assigned=np.zeros(nodes.size, dtype=np.int64),
        group=np.empty(k, dtype=np.int64),
        distance=np.empty(k, dtype=np.int64),
    )
    assign(classes, lowest, highest, strength, free, np.sort(table[table[:, 1] >= k, 0]))


def is_dense(target_state: TargetState, colors: NDArray[np.int64] | None = None) -> bool:
    """Whether an edge lies in more than 10 triangles on average, and a node has 30 neighbors."""
    classes = target_state.state.classes
    codes = classes.table[classes.node[:, SLOT], 0]
    edges = int(target_state.state.rows.length.sum()) / 2
    corners = int((codes & (TRIANGLES if colors is None else IN_A_COLOR)).sum())
    return corners > 10 * edges and edges > 15 * codes.size


def _towards_goal(walk: TargetWalk) -> None:
    """Look for the fewest edits that reach the goal: dense graphs from one start."""
    if not is_dense(walk.target_state, walk.task.colors):
        _from_several_starts(walk)
    elif not _run(walk, phases.DENSE, None):
        _backfill(walk)


def _from_several_starts(walk: TargetWalk) -> None:
    """Run from the input until the goal is reached, up to four times; small graphs more than once.

    Once where the goal, which another heuristic has reached, is missed by more than the last few.
    With a partial goal most of those who may stay unprotected are the nodes of highest degree.
    """
    highest = None
    if walk.task.allowed:
        degree = np.sort(walk.task.graph.degrees())[::-1]
        highest = int(degree[int(SPARED * walk.task.allowed)])
    wanted = FOR_LUCK // walk.usual
    most = 1 if walk.task.graph.n_edges > LARGE_EDGES else MOST_PROPOSALS // walk.usual
    for start in range(min(max(most, 1), STARTS)):
        course = phases.SPARSE[start % len(phases.SPARSE)]
        if highest is not None:
            course = course._replace(hubs=())
        if _run(walk, course, highest) or _backfill(walk):
            return
        if walk.task.to_beat is not None and walk.missed() > far_from(walk.task):
            return
        if start + 1 >= wanted and walk.reached()[0] <= walk.task.allowed:
            return
        walk.begin_anew()


def _run(walk: TargetWalk, course: Course, highest: int | None) -> bool:
    """Go through the phases of a course, then look for the last few from the best state."""
    if walk.follow_all((*course.hubs, course.everybody, *course.polish), highest=highest):
        return True
    for remaining in range(course.rounds if walk.missed() else 0, 0, -1):
        if _stays_far(walk, remaining):
            break
        walk.back_to_best()
        if walk.follow_all((course.again, *course.polish), highest=highest):
            return True
    for phase in phases.FINISH:
        if not 0 < walk.missed() <= phases.FINISHED:
            break
        walk.back_to_best()
        if walk.follow(phase, highest=highest):
            return True
    return False


def far_from(task: Task) -> int:
    """Return by how many nodes a start may miss the goal where another heuristic has reached it.

    Of colors it may be more: what deletes edges alone then leaves few of them, so to go on is worth
    its time.
    """
    return phases.FINISHED if task.colors is None else phases.FINISHED_OF_COLORS


def _stays_far(walk: TargetWalk, rounds: int) -> bool:
    """Return whether another heuristic reaches the goal, and this one hardly will in these rounds.

    Each is taken to leave half of those who miss it; the last few are left to other phases.
    """
    at_last = walk.missed() * LEAVES**rounds
    return walk.task.to_beat is not None and at_last > far_from(walk.task)


def _backfill(walk: TargetWalk) -> bool:
    """Take edits back, and others in their place, as long as it gains: the goal stays reached.

    It gains less from round to round. Where the rounds that remain would not bring it below what is
    to be beaten if each gained as much as the last one, it ends. Returns whether whoever watches
    has seen enough; where the goal is missed it does nothing.
    """
    to_beat, gained = walk.task.to_beat, 0
    for remaining in range(0 if walk.missed() else phases.MOST_BACKFILLS, 0, -1):
        before = walk.here()[1]
        if to_beat is not None and gained and before - remaining * gained > to_beat:
            break
        walk.back_to_best()
        if walk.follow(phases.BACKFILL, backfill=True):
            return True
        gained = before - walk.here()[1]
        if gained <= phases.GAIN * before:
            break
    return False


def _within_budget(walk: TargetWalk) -> None:
    """Look for the fewest unprotected nodes: by counting alone, and once more with aims."""
    if walk.follow(phases.COUNT):
        return
    walk.begin_anew()
    walk.follow_all(phases.BUDGET)
