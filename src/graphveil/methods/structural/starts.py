"""The heuristics `strip`, `cut` and `mirror`: start where much is deleted, then restore edges.

Annealing from the input does not get past the many triangles of hubs and dense networks. These
starts do:

- STRIP searches with few edits, then deletes edges of unprotected hubs until the goal is reached.
- CUT deletes the edges inside the two sides of a large cut that are in a triangle. No triangle
  remains, so a node looks as its degree says, and the degrees are then lowered to k-anonymous ones.
- MIRROR (k=2) pairs nodes and keeps an edge only if the partners of its ends are connected too. So
  partners have the same surroundings at any distance.

From there `towards_goal` restores the edges that the goal does not need deleted. Costs: O(m) for
each sweep of the cut, near-linear for the plan of the degrees, O(n) for each deletion and the edges
at its node (of a hub only up to 128 are tried); then the proposals of the walk. The starts are
graphveil's own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Flags, Ints
from graphveil.core.kernels.leaf import ZERO
from graphveil.data import Graph
from graphveil.methods.annealing import schedule as schedules
from graphveil.methods.annealing import walk as walks
from graphveil.methods.annealing.kernels import anneal as kernel
from graphveil.methods.annealing.kernels import classes as node_classes
from graphveil.methods.annealing.kernels import pooled
from graphveil.methods.annealing.schedule import AnnealingSegment
from graphveil.methods.annealing.task import CODES, Task
from graphveil.methods.k_degree.assignment import targets_per_node
from graphveil.methods.k_degree.sequence import optimal_plan, runs_of
from graphveil.methods.structural import recount
from graphveil.methods.structural.search import heuristic

RESTARTS = 2
"""Cuts that are tried; the one with the fewest edges inside its sides is taken."""

ROUNDS = 3
"""Attempts to lower the degrees: deletions may leave some too high, or make new plans better."""

SHARES = (0.01, 0.02, 0.035, 0.05)
"""Budgets, as shares of the edges, of the searches that STRIP starts with."""

MORE_SHARES = (0.08, 0.125, 0.2, 0.3, 0.45)
"""Budgets of further searches, while at most `FEW` nodes miss the goal."""

FEW, MANY = 10, 0.1
"""When STRIP stops raising the budget of its searches.

From the last of `SHARES` on, as soon as a search misses the goal by more than `FEW` nodes. At any
share, if it misses the goal by more than the share `MANY` of all nodes, and wearing hubs down from
there does not reach it either.
"""

AT_A_TIME = 1_000
"""How many edges a start deletes before the watch is asked again whether to stop."""

WORN_DOWN = 20
"""CUT wears hubs down, as STRIP does, only if at most this many nodes still miss the goal."""

THINNINGS = 3
"""How often `thinned` bisects the number of edges that it deletes at the start."""

THINS_FROM = 0.05
"""`thinned` is tried only if the walk has deleted this share of the edges.

Sparse graphs have had nothing to gain.
"""


@heuristic
def cut(walk: walks.AnnealingWalk[Task]) -> None:
    """Return the best state of a walk that starts where no triangle and few degrees remain.

    Edges inside the sides of a large cut that are in a triangle go, then degrees are lowered.
    """
    # Step 1: no triangles, and degrees that at least k nodes share.
    task, steps = walk.task, walk.goal_steps()
    if without_triangles(walk, task.graph.indptr, task.graph.indices) or lower_degrees(walk):
        return
    # Step 2: anneal in any case: a state without triangles is far from the best that reaches the
    # goal.
    walks.towards_goal(walk, steps, always=True)
    # Step 3: the last few nodes that miss the goal are worn down as in STRIP.
    if 0 < walk.missed() <= WORN_DOWN:
        walk.back_to_best()
        if not strip_hubs(walk) and not walk.missed():
            walks.towards_goal(walk, steps)
    # Step 4: if some may stay unprotected, fewer deletions may do: start with part of the
    # triangles.
    if task.allowed and CODES[task.measure][1]:
        thinned(walk, steps)


@heuristic
def strip(walk: walks.AnnealingWalk[Task]) -> None:
    """Return the best state of a walk that starts where unprotected hubs were worn down."""
    from_hubs(walk)


def from_hubs(walk: walks.AnnealingWalk[Any]) -> None:
    """Search with few edits, wear unprotected hubs down, and give back what is not needed."""
    steps = walk.goal_steps()
    if not delete_until_anonymous(walk, steps):
        walks.towards_goal(walk, steps)


def without_triangles(
    walk: walks.AnnealingWalk[walks.AnyTask], indptr: Ints, indices: NDArray[np.int32]
) -> bool:
    """Delete the edges inside the halves of a large cut that are in a triangle.

    Every triangle has an edge inside a half, so none remains. Return whether the caller has seen
    enough.

    Parameters
    ----------
    walk
        A walk at the input.
    indptr, indices
        The lists of neighbors: those of v are ``indices[indptr[v]:indptr[v + 1]]``.
    """
    # Large cuts by annealing, from random halves; keep the one with the fewest edges inside.
    state, _, best, _, trial = walk.annealing
    indptr, indices = indptr.copy(), indices.copy()
    sides = np.empty((RESTARTS, walk.task.n_nodes), dtype=np.bool_)
    inside = []
    for side in sides:
        inside.append(kernel.two_sides(indptr, indices, walk.rng, side))
        if walk.should_stop():
            return True
    kernel.cut_triangles(state, best, trial, sides[int(np.argmin(inside))], walk.task.allowed)
    return walk.should_stop()


def thinned(walk: walks.AnnealingWalk[Task], steps: int) -> None:
    """Walk towards a goal from where edges in the most triangles are deleted, if that is better.

    How many is bisected between 0 and the edits of the walk so far (all edges if it misses the
    goal). If the edits so far are few there is nothing to gain.
    """
    task, (state, _, best, _, trial) = walk.task, walk.annealing
    missed, edits = walk.missed(), walk.reached()[1]
    many = task.n_edges if missed else edits
    if many < THINS_FROM * task.n_edges:
        return
    plan, odds = schedules.paying(schedules.within_budget(task, steps), task.k, 0.05)
    # Edits cost little, so that the walk restores only some edges of many.
    plan = plan._replace(hot=0.3, cold=0.05, ease=0.5)
    few, warm = 0, AnnealingSegment(plan, odds._replace(swap=0.3, swap_back=0.3))
    heads = np.empty(task.n_nodes, dtype=np.int64)
    following = np.empty(state.pool.one.size, dtype=np.int64)
    # Bisection: `few` deletions did not suffice to reach the goal by a warm stretch, `many` may.
    for _ in range(THINNINGS):
        wanted = (few + many) // 2
        walk.back_to_input()
        kernel.thin_out(state, best, trial, heads, following, wanted, task.allowed)
        if walk.should_stop() or walk.anneal(warm):
            return
        if walk.classes.tally[node_classes.UNPROTECTED] > task.allowed:
            few = wanted
        else:
            many = wanted
    # Go on only from a state that is better than what the walk had before.
    walk.back_to_best()
    if not walk.missed() and (missed or walk.reached()[1] < edits):
        walks.towards_goal(walk, steps)


def lower_degrees(walk: walks.AnnealingWalk[Task]) -> bool:
    """Delete edges until the degrees are k-anonymous, or nearly: three attempts.

    Return whether the watch asked to stop.
    """
    state, _, best, _, trial = walk.annealing
    for _ in range(ROUNDS):
        excess = _excess(state.rows.length, walk.task)
        if not np.any(excess > 0):
            return False
        while kernel.lower_to(state, best, trial, excess, walk.task.allowed, AT_A_TIME):
            if walk.should_stop():
                return True
    return False


def _excess(degrees: Ints, task: Task) -> Ints:
    """Return by how much every degree is to fall, by the plan of least change for each color."""
    excess = np.zeros(degrees.size, dtype=np.int64)
    colors = np.zeros(degrees.size, dtype=np.int64) if task.colors is None else task.colors
    for color in np.unique(colors).tolist():
        # Seen from the highest degree, degrees only rise: the plan of k-degree anonymity that only
        # adds.
        nodes = np.flatnonzero(colors == color)
        if nodes.size >= task.k:
            mirrored = degrees.max(initial=0) - degrees[nodes]
            plan = optimal_plan(runs_of(mirrored), task.k, edits="add")
            excess[nodes] = targets_per_node(mirrored, plan, -np.arange(nodes.size)) - mirrored
    return excess


def delete_until_anonymous(walk: walks.AnnealingWalk[walks.AnyTask], steps: int) -> bool:
    """Search with few edits, then delete edges of unprotected hubs until the goal is reached.

    Does so from the input for every share of `SHARES`, since the results differ by chance, and for
    those of `MORE_SHARES` while only a few nodes miss the goal.
    """
    task = walk.task
    short = schedules.shortened(schedules.within_budget(task, steps))
    too_few = 0
    for share in (*SHARES, *MORE_SHARES):
        # Step 1: a short search with this share of the edges. If it reaches the goal, use fewer.
        edits = min(math.ceil(share * task.n_edges), task.budget)
        if walks.search_from_input(walk, short, edits):
            return True
        missed = walk.classes.tally[node_classes.UNPROTECTED] - task.allowed
        if missed <= 0:
            return walks.with_fewer(walk, short, too_few)
        # Step 2: it did not; delete edges of unprotected hubs from there until the goal is reached.
        too_few = edits
        if strip_hubs(walk):
            return True
        # Step 3: stop where a larger budget has little hope.
        is_short = walk.classes.tally[node_classes.UNPROTECTED] > task.allowed
        if (is_short and missed > MANY * task.n_nodes) or (share >= SHARES[-1] and missed > FEW):
            break
    walk.back_to_best()
    return False


def strip_hubs(walk: walks.AnnealingWalk[walks.AnyTask]) -> bool:
    """Delete edges of unprotected hubs until the goal is reached, or none is left.

    Return whether the watch asked to stop.
    """
    state, _, best, _, trial = walk.annealing
    while kernel.strip(state, best, trial, walk.task.allowed, AT_A_TIME):
        if walk.should_stop():
            return True
    return False


EXCHANGES = 4
"""Proposals of partners for each proposal of a stretch of annealing over edges."""


@heuristic
def mirror(walk: walks.AnnealingWalk[Task]) -> None:
    """Return the best state of a walk from a state of pairs of nodes that no measure distinguishes.

    Nodes are paired (k=2), and an edge is kept if it leads to an edge when all partners change
    places. The pairs are annealed for the most edges kept; then edges are given back as long as the
    measure does not tell partners apart. It suits dense graphs.
    """
    # Step 1: pair the nodes so that most edges have an image, and delete those that have none.
    task = walk.task
    partner = partners(task.graph, task.colors, EXCHANGES * walk.goal_steps(), walk.rng)
    deleted = without_image(task.graph, partner)
    isolate_a_pair(task, partner, deleted)
    # Step 2: restore edges while the measure does not tell partners apart.
    if not walk.should_stop():
        state, _, best, _, _ = walk.annealing
        walk.go_to(deleted)
        pooled.keep_if_better(state, best, task.allowed, ZERO)
        usual = schedules.usual_steps(task._replace(by_budget=False), walk.work)
        walks.towards_goal(walk, walk.proposals(usual))


def partners(graph: Graph, colors: Ints | None, steps: int, rng: Generator) -> Ints:
    """Return the partner of every node, of its color; -1 for one node of a color of odd size."""
    # A color of odd size gets a node without edges, whose partner ends up without one.
    n = graph.n_nodes
    colors = np.zeros(n, dtype=np.int64) if colors is None else colors
    names, sizes = np.unique(colors, return_counts=True)
    colors = np.concatenate((colors, names[sizes % 2 == 1]))
    degrees = np.concatenate((graph.degrees(), np.zeros(colors.size - n, dtype=np.int64)))
    # Begin with neighbors in the order of degrees, then exchange partners by annealing.
    order = np.lexsort((degrees, colors))
    partner = np.empty(colors.size, dtype=np.int64)
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    indptr = np.concatenate((graph.indptr, np.repeat(graph.indptr[-1:], colors.size - n)))
    marks = np.zeros(colors.size, dtype=np.int64)
    kernel.pair_up(indptr, graph.indices.copy(), colors, partner, marks, steps, rng)
    return np.where(partner < n, partner, -1)[:n]


def without_image(graph: Graph, partner: Ints) -> Flags:
    """Return which edges lead to no edge when partners change places; all at nodes without one."""
    n, edges = graph.n_nodes, graph.edges()
    images = np.sort(partner[edges], axis=1)
    here = images[:, 0] >= 0
    here[here] = np.isin(recount.keys_of(images[here], n), recount.keys_of(edges, n))
    return ~here


def isolate_a_pair(task: Task, partner: Ints, deleted: Flags) -> None:
    """Isolate a pair too, if the node without a partner would be the only one without edges.

    Only a node without edges looks like it. The pair of lowest degree of its color is taken;
    `deleted` (bool, one per edge) is written.
    """
    edges, n = task.graph.edges(), task.graph.n_nodes
    colors = np.zeros(n, dtype=np.int64) if task.colors is None else task.colors
    for alone in np.flatnonzero(partner < 0).tolist():
        degrees = np.bincount(edges[~deleted].ravel(), minlength=n)
        paired = np.flatnonzero((colors == colors[alone]) & (partner >= 0))
        if paired.size and degrees[paired].min() > 0:
            lowest = paired[np.argmin(degrees[paired])]
            deleted |= np.isin(edges, (lowest, partner[lowest])).any(axis=1)
