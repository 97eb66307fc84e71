"""The heuristics that walk towards a goal from a start of their own: CUT and STRIP."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.structural.annealing import starts as kernel
from graphveil.kernels.structural.annealing.state import CHANGED
from graphveil.kernels.structural.classes import UNPROTECTED
from graphveil.methods.k_degree.sequence import optimal_plan, runs_of, targets_per_node
from graphveil.methods.structural.annealing.state import edited_of
from graphveil.methods.structural.annealing.stretches import (
    Stretch,
    goal_iterations,
    paying,
    shortened,
    within_budget,
)
from graphveil.methods.structural.annealing.walk import (
    LAST_FEW,
    AnnealingWalk,
    AnyTask,
    search_from_input,
    towards_goal,
    walk_of,
    with_fewer,
)
from graphveil.methods.structural.task import CODES, Edited, Task, Watch, proposals

RESTARTS = 2
ROUNDS = 3
SHARES = (0.01, 0.02, 0.035, 0.05)
MORE_SHARES = (0.08, 0.125, 0.2, 0.3, 0.45)
FEW, MANY = 10, 0.1
CHUNK = 1_000

THINNINGS = 3
"""How often the number of edges with which `thinned` starts is halved."""

THINS_FROM = 0.05
"""The share of edges from which on it is tried: sparse graphs have had nothing to gain."""


def cut(
    task: Task,
    *,
    iterations: int | None,
    effort: float = 1.0,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best state of a walk that starts where no triangle and few degrees remain.

    Parameters
    ----------
    task
        Measure count, edge-count or degree at distance 1; edits ``"delete"``.
    iterations
        The proposals of one stretch of annealing; `goal_iterations` where None.
    effort
        What these are multiplied by where None.
    rng
        The randomness.
    watch
        Called every 100,000 proposals, and between the steps of the start.

    Returns
    -------
    Edited
        Its unprotected nodes are counted again from the edited graph, exactly.

    Notes
    -----
    The nodes are put on two sides by a large cut, and the edges inside a side that lie in a
    triangle are deleted; then degrees are lowered to a k-anonymous sequence. If a last few nodes
    keep the walk from the goal, they are worn down as in `strip`. It reaches the goal on dense
    graphs, and leaves little clustering. Where some may stay unprotected, it starts besides where
    edges in the most triangles alone are deleted: see `thinned`.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> bow = Graph.from_edges([0, 0, 1, 2, 2, 3, 4], [1, 2, 2, 3, 4, 4, 5], n=6)
    >>> task = Task(bow, "count", 1, 2, "delete", 7, 0)
    >>> cut(task, iterations=1000, rng=np.random.Generator(np.random.PCG64(1))).unprotected
    0
    """
    walk = walk_of(task, rng, watch)
    if walk.missed() and not (
        without_triangles(walk, task.graph.indptr, task.graph.indices) or lower_degrees(walk)
    ):
        steps = proposals(goal_iterations(task.graph.n_edges), iterations, effort)
        towards_goal(walk, steps, always=True)
        if 0 < walk.reached()[0] - task.allowed <= LAST_FEW:
            walk.back_to_best()
            if not strip_hubs(walk) and not walk.missed():
                towards_goal(walk, steps)
        if task.allowed and CODES[task.measure][1]:
            thinned(walk, steps)
    return edited_of(task, walk.annealing, walk.visited)


def strip(
    task: Task,
    *,
    iterations: int | None,
    effort: float = 1.0,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best state of a walk that starts where unprotected hubs were worn down.

    The arguments are those of `cut`.

    Notes
    -----
    After a search with few edits the unprotected node of highest degree loses the edge whose
    deletion leaves the fewest unprotected, until the goal is reached. It suits sparse graphs with
    few such nodes.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> task = Task(flag, "count", 1, 2, "delete", 4, 0)
    >>> edited = strip(task, iterations=1000, rng=np.random.Generator(np.random.PCG64(1)))
    >>> edited.unprotected, edited.cost
    (0, 1)
    """
    walk = walk_of(task, rng, watch)
    steps = proposals(goal_iterations(task.graph.n_edges), iterations, effort)
    if walk.missed() and not wear_down(walk, steps):
        towards_goal(walk, steps)
    return edited_of(task, walk.annealing, walk.visited)


def without_triangles(
    walk: AnnealingWalk[AnyTask], indptr: NDArray[np.int64], indices: NDArray[np.int32]
) -> bool:
    """Delete the edges inside the halves of a large cut that lie in a triangle.

    The lists say who is tied to whom in the input. Returns whether whoever watches has seen enough.
    """
    state, _, best, _, trial = walk.annealing
    indptr, indices = indptr.copy(), indices.copy()
    sides = np.empty((RESTARTS, walk.task.n_nodes), dtype=np.bool_)
    inside = []
    for side in sides:
        inside.append(kernel.two_sides(indptr, indices, walk.rng, side))
        if walk.seen_enough():
            return True
    kernel.cut_triangles(state, best, trial, sides[int(np.argmin(inside))], walk.task.allowed)
    return walk.seen_enough()


def thinned(walk: AnnealingWalk[Task], steps: int) -> None:
    """Walk towards a goal from where edges in the most triangles are deleted, if that is better.

    How many of them is bisected, between none and the fewest edits that have reached the goal so
    far; where these are few there is nothing to gain. Ends at the best state.
    """
    task, (state, _, best, _, trial) = walk.task, walk.annealing
    missed, edits = walk.missed(), walk.reached()[1]
    many = min(task.n_edges if missed else edits, task.to_beat or task.n_edges)
    if many < THINS_FROM * task.n_edges:
        return
    few, warm = 0, _warm(task, steps)
    heads = np.empty(task.n_nodes, dtype=np.int64)
    following = np.empty(state.pool.one.size, dtype=np.int64)
    for _ in range(THINNINGS):
        wanted = (few + many) // 2
        walk.back_to_input()
        kernel.thin_out(state, best, trial, heads, following, wanted, task.allowed)
        if walk.seen_enough() or walk.anneal(warm):
            return
        if state.classes.tally[UNPROTECTED] > task.allowed:
            few = wanted
        else:
            many = wanted
    walk.back_to_best()
    if not walk.missed() and (missed or walk.reached()[1] < edits):
        towards_goal(walk, steps)


def _warm(task: Task, steps: int) -> Stretch:
    """Return a stretch in which edits are cheap: some edges are to go, and few to return."""
    plan, odds = paying(within_budget(task, steps), task.k, 0.05)
    plan = plan._replace(hot=0.3, cold=0.05, ease=0.5)
    return Stretch(plan, odds._replace(swap=0.3, swap_back=0.3))


def lower_degrees(walk: AnnealingWalk[Task]) -> bool:
    """Delete edges until the degrees are k-anonymous, or nearly: three attempts.

    The degrees aimed at are those of least change, none above the present: mirrored, the plan that
    only raises degrees. Returns whether whoever watches has seen enough.
    """
    state, _, best, _, trial = walk.annealing
    for _ in range(ROUNDS):
        excess = _excess(state.rows.length, walk.task)
        if not np.any(excess > 0):
            return False
        while kernel.lower_to(state, best, trial, excess, walk.task.allowed, CHUNK):
            if walk.seen_enough():
                return True
    return False


def _excess(degrees: NDArray[np.int64], task: Task) -> NDArray[np.int64]:
    """Return by how much every degree is to fall, by the plan of least change for each color."""
    excess = np.zeros(degrees.size, dtype=np.int64)
    colors = np.zeros(degrees.size, dtype=np.int64) if task.colors is None else task.colors
    for color in np.unique(colors).tolist():
        nodes = np.flatnonzero(colors == color)
        if nodes.size >= task.k:
            mirrored = degrees.max(initial=0) - degrees[nodes]
            plan = optimal_plan(runs_of(mirrored), task.k, edits="add")
            excess[nodes] = targets_per_node(mirrored, plan, -np.arange(nodes.size)) - mirrored
    return excess


def wear_down(walk: AnnealingWalk[AnyTask], steps: int) -> bool:
    """Search with few edits, then delete edges of unprotected hubs until the goal is reached.

    Does so from the input for every share of `SHARES`, since the results differ by chance, and for
    those of `MORE_SHARES` while only a few nodes miss the goal. Where a search alone reaches it, no
    larger share is tried, but smaller ones. Where many miss it and deleting would take more edits
    than are to be beaten, no other share is tried. Returns whether whoever watches has seen enough.
    """
    task, state = walk.task, walk.annealing.state
    short = shortened(within_budget(task, steps))
    too_few = 0
    for share in (*SHARES, *MORE_SHARES):
        edits = min(math.ceil(share * task.n_edges), task.budget)
        if search_from_input(walk, short, edits):
            return True
        missed = state.classes.tally[UNPROTECTED] - task.allowed
        if missed <= 0:
            return with_fewer(walk, short, too_few)
        too_few = edits
        if strip_hubs(walk):
            return True
        is_short = state.classes.tally[UNPROTECTED] > task.allowed
        if (is_short and missed > MANY * task.n_nodes) or (share >= SHARES[-1] and missed > FEW):
            break
    walk.back_to_best()
    return False


def strip_hubs(walk: AnnealingWalk[AnyTask]) -> bool:
    """Delete edges of unprotected hubs until the goal is reached, or another will do so with fewer.

    Starts where the walk stands. The second is where it is still missed with as many edits as are
    to be beaten, or at this pace would be with twice as many. Returns whether whoever watches has
    seen enough.
    """
    task, (state, _, best, _, trial) = walk.task, walk.annealing
    missed = state.classes.tally[UNPROTECTED] - task.allowed
    while kernel.strip(state, best, trial, task.allowed, CHUNK):
        if walk.seen_enough():
            return True
        edits = state.pool.tally[CHANGED]
        gained = missed - (state.classes.tally[UNPROTECTED] - task.allowed)
        most = task.to_beat
        if most is not None and (edits > most or edits * missed > 2 * most * gained):
            return False
    return False
