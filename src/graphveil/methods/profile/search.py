"""Edits for a share of the nodes, or for a budget, of profiles.

The kernels of profile protect every node (`graphveil.methods.profile.realize`). For a partial goal,
a budget, or deletions alone this module searches for fewer edits, in three ways:

1. `EditSearch.from_network`: the annealing walk of `graphveil.methods.annealing`, from the network.
2. `EditSearch.from_plan`: the same walk from edits that protect every node, which are taken back
   while the goal holds.
3. `EditSearch.from_deletions`, for deletions alone: a plan by maximum flows (`planned_deletions`),
   completed edge by edge (`completed_deletions`), then taken back by the walk.

A budget is met from 2 and 3 by bisection: the fewest nodes that must stay unprotected so that the
edits fit (`EditSearch.part_of_plan`). The walk moves the codes of the two ends of an edge;
see `pool`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from graphveil.core.array_types import Flags, Ints
from graphveil.data import Layer
from graphveil.methods.annealing.kernels.classes import SLOT, UNPROTECTED
from graphveil.methods.annealing.kernels.pooled import Pool, go_to, keep
from graphveil.methods.annealing.schedule import goal_iterations, shortened, within_budget
from graphveil.methods.annealing.task import ChangedTies, ProfileTask, better, proposals
from graphveil.methods.annealing.walk import AnnealingWalk, towards_goal, with_fewer
from graphveil.methods.profile import pool as pools
from graphveil.methods.profile.pool import Pairs
from graphveil.methods.profile.realize import columns_of_layers
from graphveil.methods.profile.targets import ADDITIONS, classes, plan_of_profiles

ROUNDS = 12
"""How often profiles are planned again from what is left, while edges are deleted.

Each round costs a plan and three maximum flows for each directed layer. The rounds end earlier if
one deletes nothing.
"""

SIDES = (0, 1)
"""The two ends of an arc: tail and head."""


class _Side(NamedTuple):
    """How many edges nodes may lose at one end of the arcs.

    Parameters
    ----------
    room
        int64, shape (n,): of each node.
    group
        int64, shape (n,): the class of each node, or None.
    most
        int64: how many nodes of each class may lose one, or None.
    """

    room: Ints
    group: Ints | None = None
    most: Ints | None = None


def planned_deletions(task: ProfileTask, rng: Generator) -> Ints:
    """Return edges (keys) without which all, or nearly all, nodes are protected.

    Only degrees that rise can be planned exactly, so the plan is made for the mirrored degrees:
    largest minus present. In each directed layer a maximum flow deletes as many planned edges as
    lead between nodes with excess. For the rest, the other end is a node of a class above k that
    moves to another class of k. What is still missing is planned again.
    """
    network, n = task.network, task.n_nodes
    ends = [tuple(end.astype(np.int64) for end in layer.ties()) for layer in network.layers]
    stay = [np.ones(source.size, dtype=np.bool_) for source, _ in ends]
    columns = columns_of_layers(network)
    for _ in range(ROUNDS):
        # Step 1: the profiles of what is left; done if the goal is reached.
        points = _points(ends, stay, columns, n)
        labels, sizes = classes(task.colors, *points.T)
        if np.count_nonzero(sizes[labels] < task.k) <= task.allowed:
            break
        # Step 2: plan rises of the mirrored degrees: the excess of each node.
        mirrored = points.max(axis=0) - points
        plan = plan_of_profiles(mirrored, task.colors, task.k, ADDITIONS, rng)
        excess = plan.target - mirrored
        # Step 3: delete edges of nodes with excess, layer by layer.
        deleted = 0
        for at, layer in enumerate(network.layers):
            if layer.directed:
                deleted += _lower(task, (ends, stay, columns), at, excess)
        if deleted == 0:
            break
    deleted_keys: Ints = pools.keys_of(network.layers)[~np.concatenate(stay)]
    return deleted_keys


def _points(
    ends: list[tuple[Ints, ...]], stay: list[Flags], columns: list[list[int]], n: int
) -> Ints:
    """Return the profiles of all nodes, int64, shape (n, d), by the edges that stay."""
    points = np.zeros((n, columns[-1][-1] + 1), dtype=np.int64)
    for pair, here, of_layer in zip(ends, stay, columns, strict=True):
        for end, side in zip(pair, (of_layer[0], of_layer[-1]), strict=True):
            points[:, side] += np.bincount(end[here], minlength=n)
    return points


def _lower(
    task: ProfileTask,
    state: tuple[list[tuple[Ints, ...]], list[Flags], list[list[int]]],
    at: int,
    excess: Ints,
) -> int:
    """Delete arcs of one layer by the excess of their ends, in place; return how many."""
    ends, stay, columns = state
    n, of_layer = task.n_nodes, columns[at]
    # Step 1: arcs between two nodes with excess.
    rooms = [_Side(excess[:, column]) for column in of_layer]
    arcs = _flow(ends[at], stay[at], rooms, n)
    stay[at][arcs] = False
    for side in SIDES:
        excess[:, of_layer[side]] -= np.bincount(ends[at][side][arcs], minlength=n)
    deleted = arcs.size
    # Step 2: arcs between a node with excess and a spare one, on either side.
    for side in SIDES[::-1]:
        points = _points(ends, stay, columns, n)
        rooms = [_Side(excess[:, column]) for column in of_layer]
        rooms[side] = _spare(points, task, of_layer[side], np.max(excess, axis=1) == 0)
        arcs = _flow(ends[at], stay[at], rooms, n)
        stay[at][arcs] = False
        paying = 1 - side
        excess[:, of_layer[paying]] -= np.bincount(ends[at][paying][arcs], minlength=n)
        deleted += arcs.size
    return deleted


def _spare(points: Ints, task: ProfileTask, column: int, idle: Flags) -> _Side:
    """Return which nodes may move to a class of k by losing an edge, and how many per class.

    `column`: the degree that falls; `idle`: bool, shape (n,): the nodes without excess. A class of
    s nodes can spare s - k of them.
    """
    lower = points.copy()
    lower[:, column] -= 1
    n = task.n_nodes
    # Classes now and with one edge less, numbered together.
    both, _ = classes(np.tile(task.colors, 2), *np.concatenate([points, lower]).T)
    old, new = both[:n], both[n:]
    size = np.bincount(old, minlength=int(both.max(initial=0)) + 1)
    able = idle & (points[:, column] > 0) & (size[old] > task.k) & (size[new] >= task.k)
    return _Side(able.astype(np.int64), old, np.maximum(size - task.k, 0))


def _flow(ends: tuple[Ints, ...], stay: Flags, sides: list[_Side], n: int) -> Ints:
    """Return the positions of as many arcs as can go, none beyond what both ends may lose.

    A maximum flow: source, (class,) tail, head, (class,) sink; arcs of the layer have capacity 1.
    """
    source, target = ends
    tails, heads = sides
    arcs = np.flatnonzero(stay & (tails.room[source] > 0) & (heads.room[target] > 0))
    if not arcs.size:
        return arcs
    groups = [0 if side.most is None else side.most.size for side in sides]
    # Nodes of the flow network: tails, heads, classes of both sides, source and sink.
    first, last = 2 * n + sum(groups), 2 * n + sum(groups) + 1
    parts = [(source[arcs], n + target[arcs], np.ones(arcs.size, dtype=np.int64))]
    # From the source to tails, or from heads to the sink. If a class may lose only so many nodes,
    # the flow of its nodes passes through one node for the class, whose capacity is this limit.
    for at, side in enumerate(sides):
        people, outer = np.flatnonzero(side.room > 0), (first, last)[at]
        inner: Ints = np.full(people.size, outer, dtype=np.int64)
        if side.group is not None and side.most is not None:
            base = 2 * n + at * groups[0]
            inner = base + side.group[people]
            each = base + np.arange(side.most.size)
            parts.append(_towards(at, np.full(each.size, outer), each, side.most))
        parts.append(_towards(at, inner, at * n + people, side.room[people]))
    row, column, most = (np.concatenate(part) for part in zip(*parts, strict=True))
    shape = (last + 1, last + 1)
    network = csr_array((most.astype(np.int32), (row, column)), shape=shape)
    flow = maximum_flow(network, first, last).flow
    going: Flags = np.asarray(flow[parts[0][0], parts[0][1]]).ravel() > 0
    return arcs[going]


def _towards(at: int, outer: Ints, inner: Ints, most: Ints) -> tuple[Ints, Ints, Ints]:
    """Return edges of the flow network, turned for the side of the sink."""
    return (outer, inner, most) if at == 0 else (inner, outer, most)


Move = tuple[int, int]
"""A node, and what is added to its code."""


class _People(NamedTuple):
    """The codes of all nodes, who has each code, and which are unprotected; changed in place.

    ``codes`` is the code of each node, ``members`` the nodes that have each code, ``unprotected``
    the nodes in classes below k, and ``ties`` the positions of the present edges at each node.
    ``queue`` is a heap of unprotected nodes by minus the number of edges; outdated entries are
    skipped.
    """

    codes: list[int]
    members: defaultdict[int, set[int]]
    unprotected: set[int]
    ties: list[set[int]]
    queue: list[tuple[int, int]]
    k: int

    def delete(self, tie: int, moves: tuple[Move, Move]) -> None:
        """Delete an edge, given what it does to the codes of its two ends."""
        for person, by in moves:
            self._move(person, by)
            self.ties[person].discard(tie)
        for person, _ in moves:
            if person in self.unprotected:
                heappush(self.queue, (-len(self.ties[person]), person))

    def _move(self, person: int, by: int) -> None:
        """Add to the code of a node, and update who is unprotected."""
        for code, enters in ((self.codes[person], False), (self.codes[person] + by, True)):
            members = self.members[code]
            if enters:
                members.add(person)
            else:
                members.discard(person)
                self.unprotected.discard(person)
            # All members of a class below k are unprotected, else none is.
            if 0 < len(members) < self.k:
                for member in members - self.unprotected:
                    self.unprotected.add(member)
                    heappush(self.queue, (-len(self.ties[member]), member))
            else:
                self.unprotected.difference_update(members)
        self.codes[person] += by

    def next(self) -> int:
        """Return the unprotected node with the most edges, the first of equals."""
        while True:
            minus, person = self.queue[0]
            if person in self.unprotected and -minus == len(self.ties[person]):
                return person
            heappop(self.queue)

    def change(self, moves: tuple[Move, Move]) -> int:
        """Return how many more nodes are unprotected once two nodes have moved."""
        (u, step_u), (v, step_v) = moves
        code_u, code_v = self.codes[u], self.codes[v]
        # The usual case, four different codes: each changes by one.
        if len({code_u, code_v, code_u + step_u, code_v + step_v}) == 2 * len(moves):
            return (
                self._more(code_u, -1)
                + self._more(code_v, -1)
                + self._more(code_u + step_u, 1)
                + self._more(code_v + step_v, 1)
            )
        sizes: Counter[int] = Counter()
        for person, step in moves:
            sizes[self.codes[person]] -= 1
            sizes[self.codes[person] + step] += 1
        return sum(self._more(code, more) for code, more in sizes.items())

    def _more(self, code: int, by: int) -> int:
        """Return how many more nodes are unprotected if a code gains or loses this many."""
        before = len(self.members[code]) if code in self.members else 0
        after, k = before + by, self.k
        return (after if after < k else 0) - (before if before < k else 0)


def completed_deletions(walk: AnnealingWalk[ProfileTask], pairs: Pairs, most: int) -> Ints:
    """Return edges (keys) whose deletion reaches the goal, with those of the walk's best state.

    Repeatedly the unprotected node with the most edges loses one: the one whose deletion leaves the
    fewest nodes unprotected. Ends early once more than `most` edges are gone.
    """
    walk.back_to_best()
    state = walk.annealing.state
    classes, pool = state.classes, state.pool
    deleted = ~pool.present
    # Work on copies of the codes and the edges: the walk keeps its state.
    people = _people(classes.table[classes.node[:, SLOT], 0], _present_ties(pool), walk.task.k)
    moves = _moves(pool)
    left = most - int(np.count_nonzero(deleted))
    while left >= 0 and len(people.unprotected) > walk.task.allowed:
        ties = people.ties[people.next()]
        if not ties:
            return pairs.keys
        # Among all edges at that node, the one whose deletion helps most.
        tie = min(ties, key=lambda tie: (people.change(moves[tie]), tie))
        people.delete(tie, moves[tie])
        deleted[tie] = True
        left -= 1
    return pairs.keys[deleted]


def _people(codes: Ints, ties: list[set[int]], k: int) -> _People:
    """Return the state of `completed_deletions` for these codes and edges."""
    members: defaultdict[int, set[int]] = defaultdict(set)
    for person, code in enumerate(codes.tolist()):
        members[code].add(person)
    rare = {node for some in members.values() if len(some) < k for node in some}
    queue = [(-len(ties[node]), node) for node in rare]
    heapify(queue)
    return _People(codes.tolist(), members, rare, ties, queue, k)


def _present_ties(pool: Pool) -> list[set[int]]:
    """Return the positions of the present edges at each node."""
    ties: list[set[int]] = [set() for _ in range(pool.start.size - 1)]
    for tie in np.flatnonzero(pool.present).tolist():
        ties[pool.one[tie]].add(tie)
        ties[pool.other[tie]].add(tie)
    return ties


def _moves(pool: Pool) -> list[tuple[Move, Move]]:
    """Return what the deletion of every edge does to the codes of its two ends."""
    if pool.steps is None:
        raise TypeError("these pairs have no steps of their own")
    tails, heads = (-pool.steps.T).tolist()
    of_tails = zip(pool.one.tolist(), tails, strict=True)
    of_heads = zip(pool.other.tolist(), heads, strict=True)
    return list(zip(of_tails, of_heads, strict=True))


PER_EDGE, MOST_PROPOSALS = 200, 5_000_000
"""Proposals per edge of a walk from the network, and the most of such a walk.

Networks of fewer than 2,000 edges get as many as one of 2,000; `effort` multiplies all of it. More
proposals find fewer edits; their number bounds the run time.
"""

FOCUS = 0.8
"""The probability that such a walk proposes near an unprotected node.

Otherwise it reverts an edit, or proposes one anywhere.
"""

BISECTIONS = 5
"""The most goals that are tried to meet a budget from a plan. Each costs a walk of half the effort.

Five halve the range of possible goals to a 32nd part.
"""

MOST_BUDGETS = 4
"""Planned deletions of more than this many budgets are dropped: the walk takes back less."""

LEAST_GOAL_STEP = 0.01
"""Goals that differ by less than this share of the nodes are not distinguished.

A smaller one spends walks on differences of few nodes.
"""


def search(
    task: ProfileTask, *, plans: list[tuple[Layer, ...]], effort: float = 1.0, rng: Generator
) -> ChangedTies:
    """Return the best edits of walks from the network, and from plans that protect every node.

    Parameters
    ----------
    task
        The network, the goal and the allowed edits.
    plans
        Layers in which every node is protected; none if edges may only be deleted.
    effort
        A multiple of the usual proposals.
    rng
        The random numbers.
    """
    none = np.empty(0, dtype=np.int64)
    best = ChangedTies(none, none, pools.unprotected_in(task.network, task.colors, task.k).size)
    if best.unprotected <= task.allowed:
        return best
    # Step 1: the plans themselves, as far as the budget allows.
    changes = _distinct(pools.changes_to(task.network, layers) for layers in plans)
    for plan in changes:
        if plan.cost <= task.budget and better(plan, best, task):
            best = plan
    if task.by_budget and best.unprotected == 0:
        return best
    # Step 2: a walk from the network, for a budget or without a plan; from planned deletions if
    # edges may only be deleted.
    searches = EditSearch(task, effort, rng)
    if task.by_budget or not changes:
        best = _best_of(best, searches.from_network(), task)
    if task.edits == "delete" and not task.by_budget:
        best = _best_of(best, searches.from_deletions() or best, task)
    # Step 3: walks from the plans, which take edits back; with a budget by bisection.
    for plan in changes:
        found = searches.part_of_plan(plan, best) if task.by_budget else searches.from_plan(plan)
        best = _best_of(best, found, task)
    if task.edits == "delete" and task.by_budget and best.unprotected:
        best = searches.part_of_deletions(best)
    return best


def _distinct(changes: Iterable[ChangedTies]) -> list[ChangedTies]:
    """Return each change once."""
    seen = {(change.added.tobytes(), change.deleted.tobytes()): change for change in changes}
    return [*seen.values()]


def _best_of(first: ChangedTies, second: ChangedTies, task: ProfileTask) -> ChangedTies:
    """Return the better of two changes; the first of equals."""
    return second if better(second, first, task) else first


class EditSearch(NamedTuple):
    """Searches for edits of one task: from the network, from a plan, or from deletions.

    Parameters
    ----------
    task
        The network, the goal and the allowed edits.
    effort
        A multiple of the usual proposals.
    rng
        The random numbers.
    """

    task: ProfileTask
    effort: float
    rng: Generator

    def from_network(self) -> ChangedTies:
        """Return the best state of a walk that starts at the network as it is."""
        task = self.task
        pairs = pools.pairs_of(task, np.empty(0, dtype=np.int64), self.rng)
        walk = pools.walk_of(task, pairs, self.rng)
        usual = min(PER_EDGE * max(task.n_edges, 2_000), MOST_PROPOSALS)
        stretch = within_budget(task, proposals(usual, None, self.effort))
        stretch = stretch._replace(odds=stretch.odds._replace(focus=FOCUS))
        walk.anneal(stretch)
        # A goal that is reached: try with fewer edits, then take edits back.
        if not task.by_budget and not walk.missed():
            with_fewer(walk, shortened(stretch), 0)
            towards_goal(walk, self._steps)
        return pools.checked(task, pairs, walk)

    def from_deletions(self, most: int | None = None) -> ChangedTies | None:
        """Return the best state of a walk that takes deletions back; None beyond `most` of them."""
        most = self.task.n_edges if most is None else most
        pairs = pools.pairs_of(self.task, np.empty(0, dtype=np.int64), self.rng)
        walk = pools.walk_of(self.task, pairs, self.rng)
        self._start_at(walk, pairs, planned_deletions(self.task, self.rng))
        deleted = completed_deletions(walk, pairs, most)
        if deleted.size > most:
            return None
        self._start_at(walk, pairs, deleted)
        towards_goal(walk, self._steps)
        return pools.checked(self.task, pairs, walk)

    def from_plan(self, plan: ChangedTies) -> ChangedTies:
        """Return the best state of a walk that takes edits of a plan back while the goal holds."""
        pairs = pools.pairs_of(self.task, plan.added, self.rng)
        walk = pools.walk_of(self.task, pairs, self.rng)
        self._start_at(walk, pairs, np.concatenate([plan.added, plan.deleted]))
        towards_goal(walk, self._steps)
        return pools.checked(self.task, pairs, walk)

    def part_of_plan(self, plan: ChangedTies, best: ChangedTies) -> ChangedTies:
        """Return what a budget pays of a plan, with as few unprotected nodes as possible."""
        return self._bisect(lambda aim: aim.from_plan(plan), best)

    def part_of_deletions(self, best: ChangedTies) -> ChangedTies:
        """Return what a budget pays of planned deletions, if it can pay for clearly more nodes.

        It is tried once for a goal that is just clearly better than `best`. Only if that fits the
        budget, the bisection looks for a better one.
        """
        more = max(best.unprotected - max(round(LEAST_GOAL_STEP * self.task.n_nodes), 1), 0)
        most = MOST_BUDGETS * self.task.budget
        tried = self._with_goal(more).from_deletions(most)
        if tried is None or tried.cost > self.task.budget:
            return best
        return self._bisect(lambda aim: aim.from_deletions(most), _best_of(best, tried, self.task))

    def _bisect(
        self, run: Callable[[EditSearch], ChangedTies | None], best: ChangedTies
    ) -> ChangedTies:
        """Return the best of what walks reach within the budget, by bisection over the goal.

        The goal is the number of nodes that may stay unprotected: the fewer, the more edits a walk
        needs. `run` searches for one goal; None if it does not reach it.
        """
        task, few, many = self.task, 0, best.unprotected
        for _ in range(BISECTIONS):
            # Too dear with `few` unprotected nodes, affordable with `many`.
            allowed = (few + many) // 2
            if many - few <= max(LEAST_GOAL_STEP * task.n_nodes, 1):
                break
            tried = run(self._with_goal(allowed))
            if tried is not None and tried.cost <= task.budget:
                best = _best_of(best, tried, task)
                many = min(tried.unprotected, allowed)
            else:
                few = allowed
        return best

    def _with_goal(self, allowed: int) -> EditSearch:
        """Return a shorter look for the fewest edits that leave this many nodes unprotected."""
        aim = self.task._replace(allowed=allowed, by_budget=False, budget=self.task.n_edges)
        return self._replace(task=aim, effort=self.effort / 2)

    @property
    def _steps(self) -> int:
        return proposals(goal_iterations(self.task.n_edges), None, self.effort)

    def _start_at(self, walk: AnnealingWalk[ProfileTask], pairs: Pairs, changed: Ints) -> None:
        """Make the state with these edits the present one and the best one.

        `changed`: int64: the keys of the edges to be added or deleted.
        """
        state, values, best, _, trial = walk.annealing
        go_to(state, values, best, trial, np.isin(pairs.keys, changed))
        keep(state.pool, state.pool.mates, best, state.classes.tally[UNPROTECTED])
