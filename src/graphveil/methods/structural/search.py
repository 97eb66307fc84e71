"""The walks that anneal over flips, each looked at exactly before it is made, and their starts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import ZERO
from graphveil.data import Graph
from graphveil.methods.k_degree.assignment import targets_per_node
from graphveil.methods.k_degree.sequence import optimal_plan, runs_of
from graphveil.methods.structural import walk_state as states
from graphveil.methods.structural.kernels import anneal as kernel
from graphveil.methods.structural.kernels import classes as node_classes
from graphveil.methods.structural.kernels import pooled
from graphveil.methods.structural.kernels.pooled import go_to
from graphveil.methods.structural.paper import sample_edits
from graphveil.methods.structural.task import CODES, Edited, Flags, Ints, Task, Watch
from graphveil.methods.structural.walk_state import AnnealingSegment, AnyTask, Visited, Walk

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


@dataclass(eq=False)
class AnnealingWalk(Walk[AnyTask]):
    """A walk over a pool of pairs; `work` is about the steps of a proposal."""

    annealing: pooled.AnnealingState = field(kw_only=True)
    visited: list[Visited] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """See how slow a proposal is: look more often the slower it is."""
        self.classes, self.tally = self.annealing.state.classes, self.annealing.best.tally
        self.work = states.work_of(self.annealing)
        self.chunk = min(max(AT_ONCE // self.work, 1), CHUNK)

    def note(self) -> None:
        """Put the best state on the list unless it is the last there; it keeps the last eight."""
        if self.annealing.values is not None:
            states.remember(self.visited, self.annealing)

    def goal_steps(self) -> int:
        """Return the proposals of a stretch towards a goal."""
        return self.proposals(states.goal_iterations(self.task.n_edges))

    def misses_by_far(self) -> bool:
        """Return whether sampled deletions are nearer the goal: too many nodes are unprotected."""
        can_sample = self.annealing.values is not None and self.task.edits == "delete"
        return can_sample and self.missed() > FAR * self.task.n_nodes

    def cannot_win(self) -> bool:
        """Return whether all are anonymous, with more than thrice the edits to be beaten.

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
        """Make the present state that where unique-affected reaches the goal, if it does."""
        task, (state, values, best, _, _) = self.task, self.annealing
        if values is None or task.edits != "delete" or not isinstance(task, Task):
            return
        gap = max(1, -(-task.graph.n_edges // 100))
        sampled = sample_edits(task, "ua", gap=gap, rng=self.rng, watch=self.watch)
        n, pairs = task.graph.n_nodes, np.stack((state.pool.one, state.pool.other), axis=1)
        self.go_to(np.isin(states.keys_of(pairs, n), states.keys_of(sampled.deleted, n)))
        if sampled.unprotected <= task.allowed < self.reached()[0]:
            pooled.keep(
                state.pool, state.pool.mates, best, node_classes.unprotected_of(state.classes)
            )

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


def walk_of(task: Task, rng: Generator, watch: Watch | None = None) -> AnnealingWalk[Task]:
    """Return a walk that stands at the input."""
    return AnnealingWalk(task, rng, watch, annealing=states.annealing_state_of(task, rng))


Heuristic = Callable[..., Edited]
"""Returns the best state of a walk: see `heuristic`."""


def heuristic(follow: Callable[[AnnealingWalk[Task]], None]) -> Heuristic:
    """Return the heuristic that begins a walk at the input and follows it, if there is need to."""

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
        return states.edited_of(task, walk.annealing, walk.visited)

    return from_input


@heuristic
def search(walk: AnnealingWalk[Task]) -> None:
    """Return the best state of an annealing walk from the input, the input included.

    A goal takes up to four stretches, of half, one and two times the usual length; a budget takes
    others of thrice this length, and so on, while the last gained a twentieth. Only edges of the
    input are rewired, each at most once, and none of them is joined anew: so every rewiring can be
    taken back at any time.
    """
    task, steps = walk.task, walk.proposals(states.usual_steps(walk.task, walk.work))
    stretch = states.within_budget(task, steps)
    if task.by_budget and walk.iterations is None and walk.annealing.values is None:
        search_until_no_gain(walk, stretch)
    elif not walk.anneal(stretch) and not task.by_budget:
        missed = walk.reached()[0] > stretch.plan.allowed
        if missed or walk.cannot_win() or not with_fewer(walk, states.shortened(stretch), 0):
            towards_goal(walk, steps)


def search_until_no_gain(walk: AnnealingWalk[Any], stretch: AnnealingSegment) -> None:
    """Search from the input with thrice as many proposals each time, while that gains."""
    steps, most = stretch.plan.steps, round(states.MOST_STEPS * max(walk.effort, 1.0))
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
    """Search with at most so many edits; return whether the caller has seen enough."""
    budget = 2 * edits if walk.task.edits == "rewire" else edits
    walk.back_to_input()
    return walk.anneal(stretch._replace(odds=stretch.odds._replace(budget=budget)))


def with_fewer(walk: AnnealingWalk[Any], stretch: AnnealingSegment, too_few: int) -> bool:
    """Search with half as many edits more than are too few, and so on; end at the best state."""
    for _ in range(HALVINGS):
        edits = (too_few + walk.reached()[1]) // 2
        if edits <= too_few:
            break
        if search_from_input(walk, stretch, edits):
            return True
        if node_classes.unprotected_of(walk.classes) > stretch.plan.allowed:
            too_few = edits
    walk.back_to_best()
    return False


def towards_goal(walk: AnnealingWalk[Any], steps: int, *, always: bool = False) -> None:
    """Look for the fewest edits that reach the goal, from where the walk stands.

    Anneals where the goal is missed or `always`; if it still is, or is missed by far, goes where
    sampled deletions reach it. Then backfills from the best state: cold, and warmer unless that
    took back nearly none. Ends early where it cannot win.
    """
    full, half = walk.task.allowed == 0, -(-steps // 2)
    warmed = max(min(2 * steps, states.MOST_WARM), steps)
    plan, odds = states.paying(states.within_budget(walk.task, warmed), walk.task.k, 0.15)
    plan = plan._replace(hot=0.3, cold=0.05, ease=1.0 if full else 0.5)
    warm = AnnealingSegment(plan, odds._replace(swap=0.3, swap_back=0.3))
    odds = odds._replace(swap=0.5, swap_back=0.5)
    cold = AnnealingSegment(plan._replace(steps=half, hot=0.05, cold=0.005, price=0.1), odds)
    plan = plan._replace(steps=steps, hot=0.1, cold=0.01, price=0.1, ease=1.0 if full else 0.0)
    fine = AnnealingSegment(plan, warm.odds)
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


RESTARTS = 2
ROUNDS = 3
SHARES = (0.01, 0.02, 0.035, 0.05)
MORE_SHARES = (0.08, 0.125, 0.2, 0.3, 0.45)
FEW, MANY = 10, 0.1
AT_A_TIME = 1_000
"""Edges that a start deletes between two looks."""

WORN_DOWN = LAST_FEW
"""The most nodes that keep CUT from the goal which are worn down as in STRIP."""

THINNINGS = 3
"""How often the number of edges with which `thinned` starts is halved."""

THINS_FROM = 0.05
"""The share of edges from which on it is tried: sparse graphs have had nothing to gain."""


@heuristic
def cut(walk: AnnealingWalk[Task]) -> None:
    """Return the best state of a walk that starts where no triangle and few degrees remain.

    Edges inside the sides of a large cut that are in a triangle go, then degrees are lowered.
    """
    task, steps = walk.task, walk.goal_steps()
    if without_triangles(walk, task.graph.indptr, task.graph.indices) or lower_degrees(walk):
        return
    towards_goal(walk, steps, always=True)
    if 0 < walk.missed() <= WORN_DOWN:
        walk.back_to_best()
        if not strip_hubs(walk) and not walk.missed():
            towards_goal(walk, steps)
    if task.allowed and CODES[task.measure][1]:
        thinned(walk, steps)


@heuristic
def strip(walk: AnnealingWalk[Task]) -> None:
    """Return the best state of a walk that starts where unprotected hubs were worn down."""
    from_hubs(walk)


def from_hubs(walk: AnnealingWalk[Any]) -> None:
    """Search with few edits, wear unprotected hubs down, and give back what is not needed."""
    steps = walk.goal_steps()
    if not delete_until_anonymous(walk, steps):
        towards_goal(walk, steps)


def without_triangles(
    walk: AnnealingWalk[AnyTask], indptr: Ints, indices: NDArray[np.int32]
) -> bool:
    """Delete the edges inside the halves of a large cut that are in a triangle."""
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

    How many is bisected; where the edits so far are few there is nothing to gain.
    """
    task, (state, _, best, _, trial) = walk.task, walk.annealing
    missed, edits = walk.missed(), walk.reached()[1]
    many = min(task.n_edges if missed else edits, task.to_beat or task.n_edges)
    if many < THINS_FROM * task.n_edges:
        return
    plan, odds = states.paying(states.within_budget(task, steps), task.k, 0.05)
    plan = plan._replace(hot=0.3, cold=0.05, ease=0.5)  # edits are cheap: some edges are to return
    few, warm = 0, AnnealingSegment(plan, odds._replace(swap=0.3, swap_back=0.3))
    heads = np.empty(task.n_nodes, dtype=np.int64)
    following = np.empty(state.pool.one.size, dtype=np.int64)
    for _ in range(THINNINGS):
        wanted = (few + many) // 2
        walk.back_to_input()
        kernel.thin_out(state, best, trial, heads, following, wanted, task.allowed)
        if walk.seen_enough() or walk.anneal(warm):
            return
        if walk.classes.tally[node_classes.UNPROTECTED] > task.allowed:
            few = wanted
        else:
            many = wanted
    walk.back_to_best()
    if not walk.missed() and (missed or walk.reached()[1] < edits):
        towards_goal(walk, steps)


def lower_degrees(walk: AnnealingWalk[Task]) -> bool:
    """Delete edges until the degrees are k-anonymous, or nearly: three attempts."""
    state, _, best, _, trial = walk.annealing
    for _ in range(ROUNDS):
        excess = _excess(state.rows.length, walk.task)
        if not np.any(excess > 0):
            return False
        while kernel.lower_to(state, best, trial, excess, walk.task.allowed, AT_A_TIME):
            if walk.seen_enough():
                return True
    return False


def _excess(degrees: Ints, task: Task) -> Ints:
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


def delete_until_anonymous(walk: AnnealingWalk[AnyTask], steps: int) -> bool:
    """Search with few edits, then delete edges of unprotected hubs until the goal is reached.

    Does so from the input for every share of `SHARES`, since the results differ by chance, and for
    those of `MORE_SHARES` while only a few nodes miss the goal.
    """
    task = walk.task
    short = states.shortened(states.within_budget(task, steps))
    too_few = 0
    for share in (*SHARES, *MORE_SHARES):
        edits = min(math.ceil(share * task.n_edges), task.budget)
        if search_from_input(walk, short, edits):
            return True
        missed = walk.classes.tally[node_classes.UNPROTECTED] - task.allowed
        if missed <= 0:
            return with_fewer(walk, short, too_few)
        too_few = edits
        if strip_hubs(walk):
            return True
        is_short = walk.classes.tally[node_classes.UNPROTECTED] > task.allowed
        if (is_short and missed > MANY * task.n_nodes) or (share >= SHARES[-1] and missed > FEW):
            break
    walk.back_to_best()
    return False


def strip_hubs(walk: AnnealingWalk[AnyTask]) -> bool:
    """Delete edges of unprotected hubs until the goal is reached, or another will do with fewer."""
    task, (state, _, best, _, trial) = walk.task, walk.annealing
    missed = walk.classes.tally[node_classes.UNPROTECTED] - task.allowed
    while kernel.strip(state, best, trial, task.allowed, AT_A_TIME):
        if walk.seen_enough():
            return True
        edits = state.pool.tally[pooled.CHANGED]
        gained = missed - (walk.classes.tally[node_classes.UNPROTECTED] - task.allowed)
        most = task.to_beat
        if most is not None and (edits > most or edits * missed > 2 * most * gained):
            return False
    return False


EXCHANGES = 4
"""Proposals of partners to one of a stretch of annealing over edges."""

FIRST_LOOK = 8
"""A first look takes so small a part of these."""

TAKES_BACK = 1.25
"""How many more deletions than are to be beaten a mirror may start with."""


@heuristic
def mirror(walk: AnnealingWalk[Task]) -> None:
    """Return the best state of a walk from where everybody has a partner whom nothing tells apart.

    Nodes are paired (k=2), and an edge is kept if it leads to an edge when all partners change
    places. The pairs are annealed for the most edges kept; then edges are given back as long as the
    measure does not tell partners apart. It suits dense graphs.
    """
    task = walk.task
    deleted = _deletions(task, EXCHANGES * walk.goal_steps(), walk.rng)
    if deleted is not None and not walk.seen_enough():
        state, _, best, _, _ = walk.annealing
        walk.go_to(deleted)
        pooled.keep_if_better(state, best, task.allowed, ZERO)
        usual = states.usual_steps(task._replace(by_budget=False), walk.work)
        towards_goal(walk, walk.proposals(usual))


def _deletions(task: Task, steps: int, rng: Generator) -> Flags | None:
    """Return the edges to delete; None where these are far more than another heuristic deletes."""
    for share in (FIRST_LOOK, 1):
        partner = partners(task.graph, task.colors, -(-steps // share), rng)
        deleted = without_image(task.graph, partner)
        most = task.graph.n_edges if task.to_beat is None else TAKES_BACK * task.to_beat
        if np.count_nonzero(deleted) > most:
            return None
    isolate_likes(task, partner, deleted)
    return deleted


def partners(graph: Graph, colors: Ints | None, steps: int, rng: Generator) -> Ints:
    """Return the partner of every node, of its color; -1 for one node of a color of odd size."""
    n = graph.n_nodes
    colors = np.zeros(n, dtype=np.int64) if colors is None else colors
    names, sizes = np.unique(colors, return_counts=True)
    colors = np.concatenate((colors, names[sizes % 2 == 1]))
    degrees = np.concatenate((graph.degrees(), np.zeros(colors.size - n, dtype=np.int64)))
    order = np.lexsort((degrees, colors))
    partner = np.empty(colors.size, dtype=np.int64)
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    indptr = np.concatenate((graph.indptr, np.repeat(graph.indptr[-1:], colors.size - n)))
    marks = np.zeros(colors.size, dtype=np.int64)
    kernel.pair_up(indptr, graph.indices.copy(), colors, partner, marks, steps, rng)
    return np.where(partner < n, partner, -1)[:n]


def without_image(graph: Graph, partner: Ints) -> Flags:
    """Return which edges lead to no edge when all partners change places; none at who has none."""
    n, edges = graph.n_nodes, graph.edges()
    images = np.sort(partner[edges], axis=1)
    here = images[:, 0] >= 0
    here[here] = np.isin(states.keys_of(images[here], n), states.keys_of(edges, n))
    return ~here


def isolate_likes(task: Task, partner: Ints, deleted: Flags) -> None:
    """Delete the edges of a pair, too, where a node without partner is alone without edges."""
    edges, n = task.graph.edges(), task.graph.n_nodes
    colors = np.zeros(n, dtype=np.int64) if task.colors is None else task.colors
    for alone in np.flatnonzero(partner < 0).tolist():
        degrees = np.bincount(edges[~deleted].ravel(), minlength=n)
        paired = np.flatnonzero((colors == colors[alone]) & (partner >= 0))
        if paired.size and degrees[paired].min() > 0:
            one = paired[np.argmin(degrees[paired])]
            deleted |= np.isin(edges, (one, partner[one])).any(axis=1)


LADDER = ((0.1, 0.01, 0.1), (0.15, 0.01, 0.1), (0.1, 0.01, 0.05), (0.2, 0.005, 0.05))
"""How warm a walk towards a goal starts and ends, and the price of an edit: the next one where the
goal was missed. The warmer over the price, the more edits, and the more are reached.
"""


@heuristic
def search_under_uncertainty(walk: AnnealingWalk[Task]) -> None:
    """Return the best state of a walk that counts who is similar to whom (`phi`).

    A walk that counts only whom inexact knowledge finds fills boxes at their rims, so with a budget
    nodes also count that are unprotected from knowledge off by half as much, and from exact
    knowledge.
    """
    task, m = walk.task, walk.task.n_edges
    if task.by_budget:
        stretch = spending(task, walk.proposals(min(max(50 * m, 300_000), 1_000_000)))
        walk.tally[pooled.BEST_NEARLY] = node_classes.nearly_unprotected(walk.classes, stretch.plan)
        walk.anneal(stretch)
    elif walk.missed():
        _towards_goal(walk, walk.proposals(min(max(50 * m, 400_000), 1_500_000)))


def spending(task: Task, steps: int) -> AnnealingSegment:
    """Return the stretch that uses a budget up."""
    plan, odds = states.within_budget(task, steps)
    half, exact = task.nearly
    ease = 0.0 if task.k == 2 else 0.3
    plan = plan._replace(hot=0.3, cold=0.02, ease=ease, stop=False, half=half, exact=exact)
    return AnnealingSegment(plan, odds)


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


def _paying(task: Task, steps: int, *, hot: float, cold: float, price: float) -> AnnealingSegment:
    """Return a stretch in which edits have a price, and nodes that may stay unprotected none."""
    plan, odds = states.paying(states.within_budget(task, steps), task.k, price)
    ease = 0.0 if task.k == 2 else 0.3
    return AnnealingSegment(plan._replace(hot=hot, cold=cold, ease=ease), odds._replace(swap=0.1))
