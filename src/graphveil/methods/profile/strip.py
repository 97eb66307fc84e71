"""Ties deleted one by one until enough people are protected, each time where that is best now."""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from graphveil.kernels.structural.annealing.state import Pool
from graphveil.kernels.structural.classes import SLOT
from graphveil.methods.profile.plan import Ints
from graphveil.methods.profile.pool import Pairs, ProfileTask
from graphveil.methods.structural.annealing.walk import AnnealingWalk

Move = tuple[int, int]
"""A person, and what is added to the code."""


class _People(NamedTuple):
    """The code of everyone, who has each code, and who is unprotected; all change in place.

    ``queue`` is a heap in which every unprotected person stands with minus the number of ties; what
    is no longer so is skipped when its turn comes.
    """

    codes: list[int]
    members: defaultdict[int, set[int]]
    unprotected: set[int]
    ties: list[set[int]]
    queue: list[tuple[int, int]]
    k: int

    def delete(self, tie: int, moves: tuple[Move, Move]) -> None:
        """Delete a tie, whose ends move so."""
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
        """Return the unprotected person with most ties, the first of them."""
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
    """Return ties whose deletion reaches the goal, those of the best state of a walk among them.

    One tie after another of an unprotected person with most ties goes, each time the one that
    leaves the fewest people unprotected; where these have none left, all ties go.

    Parameters
    ----------
    walk
        One that deletes ties, at its best state.
    pairs
        What it may flip.
    most
        Once more ties than these are gone, no more are looked for.
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
    """Return the ties at everyone."""
    ties: list[set[int]] = [set() for _ in range(pool.start.size - 1)]
    for tie in np.flatnonzero(pool.present).tolist():
        ties[pool.one[tie]].add(tie)
        ties[pool.other[tie]].add(tie)
    return ties


def _moves(pool: Pool) -> list[tuple[Move, Move]]:
    """Return what the deletion of every tie does to the codes of its two ends."""
    if pool.steps is None:
        raise TypeError("these pairs have no steps of their own")
    tails, heads = (-pool.steps.T).tolist()
    ones = zip(pool.one.tolist(), tails, strict=True)
    others = zip(pool.other.tolist(), heads, strict=True)
    return list(zip(ones, others, strict=True))
