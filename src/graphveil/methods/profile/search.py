"""Edits for a share of the nodes, or for a budget.

Deletions are planned and realized by flows, or made one by one; the walk is that of the method
structural, whose kernels move the ends of an arc by steps of its own here. From a network that
protects everybody, it searches for edits that can be reverted.
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

from graphveil.data import Layer
from graphveil.methods.annealing.kernels.classes import SLOT, UNPROTECTED
from graphveil.methods.annealing.kernels.pooled import Pool, go_to, keep
from graphveil.methods.annealing.schedule import goal_iterations, shortened, within_budget
from graphveil.methods.annealing.task import ChangedTies, ProfileTask, better, proposals
from graphveil.methods.annealing.walk import AnnealingWalk, towards_goal, with_fewer
from graphveil.methods.profile import pool as pools
from graphveil.methods.profile.pool import Pairs
from graphveil.methods.profile.realize import columns_of_layers
from graphveil.methods.profile.targets import ADDITIONS, Flags, Ints, classes, plan_of_profiles

ROUNDS = 12
"""Profiles are planned again from what is left so many times, while edges go."""

SIDES = (0, 1)


class _Side(NamedTuple):
    """How many edges each person may lose at one end, and each group of people together."""

    room: Ints
    group: Ints | None = None
    most: Ints | None = None


def falling(task: ProfileTask, rng: Generator) -> Ints:
    """Return edges without which all, or nearly all, profiles are shared by k people of a color.

    The plan is that of profiles that only rise, seen from above. Of each directed layer a maximum
    flow deletes as many planned edges as there are between people who have too many; the rest falls
    to people of classes above k who step down into another one of k. What still lacks is planned
    again.
    """
    network, n = task.network, task.n_nodes
    ends = [tuple(end.astype(np.int64) for end in layer.ties()) for layer in network.layers]
    stay = [np.ones(source.size, dtype=np.bool_) for source, _ in ends]
    columns = columns_of_layers(network)
    for _ in range(ROUNDS):
        points = _points(ends, stay, columns, n)
        _, sizes = labels = classes(task.colors, *points.T)
        if np.count_nonzero(sizes[labels[0]] < task.k) <= task.allowed:
            break
        mirrored = points.max(axis=0) - points
        plan = plan_of_profiles(mirrored, task.colors, task.k, ADDITIONS, rng)
        excess = plan.target - mirrored
        gone = 0
        for at, layer in enumerate(network.layers):
            if layer.directed:
                gone += _lower(task, (ends, stay, columns), at, excess)
        if gone == 0:
            break
    gone_ones: Ints = pools.keys_of(network.layers)[~np.concatenate(stay)]
    return gone_ones


def _points(
    ends: list[tuple[Ints, ...]], stay: list[Flags], columns: list[list[int]], n: int
) -> Ints:
    """Return the numbers of edges of everyone, of the edges that stay."""
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
    """Delete arcs of a layer by what everyone has too many; return how many."""
    ends, stay, columns = state
    n, of_layer = task.n_nodes, columns[at]
    rooms = [_Side(excess[:, column]) for column in of_layer]
    arcs = _flow(ends[at], stay[at], rooms, n)
    stay[at][arcs] = False
    for side in SIDES:
        excess[:, of_layer[side]] -= np.bincount(ends[at][side][arcs], minlength=n)
    gone = arcs.size
    for side in SIDES[::-1]:
        points = _points(ends, stay, columns, n)
        rooms = [_Side(excess[:, column]) for column in of_layer]
        rooms[side] = _spare(points, task, of_layer[side], np.max(excess, axis=1) == 0)
        arcs = _flow(ends[at], stay[at], rooms, n)
        stay[at][arcs] = False
        paying = 1 - side
        excess[:, of_layer[paying]] -= np.bincount(ends[at][paying][arcs], minlength=n)
        gone += arcs.size
    return gone


def _spare(points: Ints, task: ProfileTask, column: int, idle: Flags) -> _Side:
    """Return who may lose an edge and stand in a class of k again, and how many of each class."""
    lower = points.copy()
    lower[:, column] -= 1
    n = task.n_nodes
    both, _ = classes(np.tile(task.colors, 2), *np.concatenate([points, lower]).T)
    now, then = both[:n], both[n:]
    size = np.bincount(now, minlength=int(both.max(initial=0)) + 1)
    able = idle & (points[:, column] > 0) & (size[now] > task.k) & (size[then] >= task.k)
    return _Side(able.astype(np.int64), now, np.maximum(size - task.k, 0))


def _flow(ends: tuple[Ints, ...], stay: Flags, sides: list[_Side], n: int) -> Ints:
    """Return as many arcs as can go, none beyond what tails and heads may lose."""
    source, target = ends
    tails, heads = sides
    arcs = np.flatnonzero(stay & (tails.room[source] > 0) & (heads.room[target] > 0))
    if not arcs.size:
        return arcs
    groups = [0 if side.most is None else side.most.size for side in sides]
    first, last = 2 * n + sum(groups), 2 * n + sum(groups) + 1
    parts = [(source[arcs], n + target[arcs], np.ones(arcs.size, dtype=np.int64))]
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
    """Return edges from the source's side inwards, or from inside to the sink's."""
    return (outer, inner, most) if at == 0 else (inner, outer, most)


Move = tuple[int, int]
"""A person, and what is added to the code."""


class _People(NamedTuple):
    """The code of everyone, who has each code, and who is unprotected; all change in place.

    ``queue`` is a heap of unprotected people by minus the number of edges; what is no longer so is
    skipped when its turn comes.
    """

    codes: list[int]
    members: defaultdict[int, set[int]]
    unprotected: set[int]
    ties: list[set[int]]
    queue: list[tuple[int, int]]
    k: int

    def delete(self, tie: int, moves: tuple[Move, Move]) -> None:
        """Delete an edge, whose ends move so."""
        for person, by in moves:
            self._move(person, by)
            self.ties[person].discard(tie)
        for person, _ in moves:
            if person in self.unprotected:
                heappush(self.queue, (-len(self.ties[person]), person))

    def _move(self, person: int, by: int) -> None:
        """Add to a person's code."""
        for code, enters in ((self.codes[person], False), (self.codes[person] + by, True)):
            members = self.members[code]
            if enters:
                members.add(person)
            else:
                members.discard(person)
                self.unprotected.discard(person)
            if 0 < len(members) < self.k:
                for one in members - self.unprotected:
                    self.unprotected.add(one)
                    heappush(self.queue, (-len(self.ties[one]), one))
            else:
                self.unprotected.difference_update(members)
        self.codes[person] += by

    def next(self) -> int:
        """Return the unprotected person with most edges, the first of them."""
        while True:
            minus, person = self.queue[0]
            if person in self.unprotected and -minus == len(self.ties[person]):
                return person
            heappop(self.queue)

    def change(self, moves: tuple[Move, Move]) -> int:
        """Return how many more people are unprotected once two people have moved."""
        (one, by), (other, by_other) = moves
        here, there = self.codes[one], self.codes[other]
        if len({here, there, here + by, there + by_other}) == 2 * len(moves):
            return (
                self._more(here, -1)
                + self._more(there, -1)
                + self._more(here + by, 1)
                + self._more(there + by_other, 1)
            )
        sizes: Counter[int] = Counter()
        for person, step in moves:
            sizes[self.codes[person]] -= 1
            sizes[self.codes[person] + step] += 1
        return sum(self._more(code, more) for code, more in sizes.items())

    def _more(self, code: int, by: int) -> int:
        """Return how many more are unprotected if so many more have a code."""
        before = len(self.members[code]) if code in self.members else 0
        after, k = before + by, self.k
        return (after if after < k else 0) - (before if before < k else 0)


def stripped(walk: AnnealingWalk[ProfileTask], pairs: Pairs, most: int) -> Ints:
    """Return edges whose deletion reaches the goal, those of a walk's best state among them.

    One edge after another of an unprotected person with most edges goes, each time the one that
    leaves the fewest people unprotected; none is looked for once more than `most` are gone.
    """
    walk.back_to_best()
    state = walk.annealing.state
    classes, pool = state.classes, state.pool
    gone = ~pool.present
    people = _people(classes.table[classes.node[:, SLOT], 0], _present_ties(pool), walk.task.k)
    moves = _moves(pool)
    left = most - int(np.count_nonzero(gone))
    while left >= 0 and len(people.unprotected) > walk.task.allowed:
        ties = people.ties[people.next()]
        if not ties:
            return pairs.keys
        tie = min(ties, key=lambda one: (people.change(moves[one]), one))
        people.delete(tie, moves[tie])
        gone[tie] = True
        left -= 1
    return pairs.keys[gone]


def _people(codes: Ints, ties: list[set[int]], k: int) -> _People:
    members: defaultdict[int, set[int]] = defaultdict(set)
    for person, code in enumerate(codes.tolist()):
        members[code].add(person)
    rare = {one for some in members.values() if len(some) < k for one in some}
    queue = [(-len(ties[one]), one) for one in rare]
    heapify(queue)
    return _People(codes.tolist(), members, rare, ties, queue, k)


def _present_ties(pool: Pool) -> list[set[int]]:
    """Return the edges at everyone."""
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
    ones = zip(pool.one.tolist(), tails, strict=True)
    others = zip(pool.other.tolist(), heads, strict=True)
    return list(zip(ones, others, strict=True))


A_TIE, MOST_STEPS = 200, 5_000_000
"""Proposals of a walk within a budget: so many an edge, and no more than these."""

FOCUS = 0.8
"""How often such a walk looks near an unprotected person."""

BISECTIONS = 5
"""A budget is met from a plan by so many goals, each between one too dear and one that it pays."""

HOPELESS = 4
"""Planned deletions of more than so many budgets are given up: less than that is given back."""

NEAR = 0.01
"""As a share of the people: goals so near each other are not distinguished."""


def search(
    task: ProfileTask, *, plans: list[tuple[Layer, ...]], effort: float = 1.0, rng: Generator
) -> ChangedTies:
    """Return the best state of walks from the network, and from what was planned for everybody.

    Where edges come and go, a walk towards a goal starts from plans alone; where they may only go,
    from planned deletions, too. A walk within a budget starts from the network, and from plans by
    way of goals: as few people are given up as the budget allows.
    """
    none = np.empty(0, dtype=np.int64)
    best = ChangedTies(none, none, pools.unprotected_in(task.network, task.colors, task.k).size)
    if best.unprotected <= task.allowed:
        return best
    changes = _distinct(pools.changes_to(task.network, layers) for layers in plans)
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
    """Looks for edits: from the network, or from a plan."""

    task: ProfileTask
    effort: float
    rng: Generator

    def from_network(self) -> ChangedTies:
        """Return the best state of a walk that starts at the network as it is."""
        task = self.task
        pairs = pools.pairs_of(task, np.empty(0, dtype=np.int64), self.rng)
        walk = pools.walk_of(task, pairs, self.rng)
        usual = min(max(A_TIE * task.n_edges, 2 * A_TIE * 1_000), MOST_STEPS)
        stretch = within_budget(task, proposals(usual, None, self.effort))
        stretch = stretch._replace(odds=stretch.odds._replace(focus=FOCUS))
        walk.anneal(stretch)
        if not task.by_budget and not walk.missed():
            with_fewer(walk, shortened(stretch), 0)
            towards_goal(walk, self._steps)
        return pools.checked(task, pairs, walk)

    def from_fall(self, most: int | None = None) -> ChangedTies | None:
        """Return the best state of a walk that takes back deletions; None beyond `most`."""
        most = self.task.n_edges if most is None else most
        pairs = pools.pairs_of(self.task, np.empty(0, dtype=np.int64), self.rng)
        walk = pools.walk_of(self.task, pairs, self.rng)
        self._start_at(walk, pairs, falling(self.task, self.rng))
        gone = stripped(walk, pairs, most)
        if gone.size > most:
            return None
        self._start_at(walk, pairs, gone)
        towards_goal(walk, self._steps)
        return pools.checked(self.task, pairs, walk)

    def from_plan(self, plan: ChangedTies) -> ChangedTies:
        """Return the best state of a walk that takes edits of a plan back while the goal holds."""
        pairs = pools.pairs_of(self.task, plan.added, self.rng)
        walk = pools.walk_of(self.task, pairs, self.rng)
        self._start_at(walk, pairs, np.concatenate([plan.added, plan.deleted]))
        towards_goal(walk, self._steps)
        return pools.checked(self.task, pairs, walk)

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
