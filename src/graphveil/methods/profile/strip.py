"""Ties deleted one by one until enough people are protected, each time where that is best now."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from graphveil.kernels.structural.annealing.state import Pool
from graphveil.kernels.structural.classes import SLOT
from graphveil.methods.profile.plan import Ints
from graphveil.methods.profile.pool import Pairs, ProfileTask
from graphveil.methods.structural.annealing.walk import AnnealingWalk


class _People(NamedTuple):
    """The code of everyone, who has each code, and who is unprotected; all change in place."""

    codes: list[int]
    members: defaultdict[int, set[int]]
    unprotected: set[int]
    k: int

    def move(self, person: int, by: int) -> None:
        """Add to a person's code."""
        for code, enters in ((self.codes[person], False), (self.codes[person] + by, True)):
            members = self.members[code]
            if enters:
                members.add(person)
            else:
                members.discard(person)
                self.unprotected.discard(person)
            if 0 < len(members) < self.k:
                self.unprotected.update(members)
            else:
                self.unprotected.difference_update(members)
        self.codes[person] += by

    def change(self, *moves: tuple[int, int]) -> int:
        """Return how many more people are unprotected once two people have moved."""
        sizes: Counter[int] = Counter()
        for person, by in moves:
            sizes[self.codes[person]] -= 1
            sizes[self.codes[person] + by] += 1
        more = 0
        for code, by in sizes.items():
            before = len(self.members[code]) if code in self.members else 0
            more += _unprotected(before + by, self.k) - _unprotected(before, self.k)
        return more


def _unprotected(size: int, k: int) -> int:
    return size if size < k else 0


def stripped(walk: AnnealingWalk[ProfileTask], pairs: Pairs) -> Ints:
    """Return ties whose deletion reaches the goal, those of the best state of a walk among them.

    One tie after another of an unprotected person with most ties goes, each time the one that
    leaves the fewest people unprotected; where these have none left, all ties go.

    Parameters
    ----------
    walk
        One that deletes ties, at its best state.
    pairs
        What it may flip.
    """
    walk.back_to_best()
    state = walk.annealing.state
    classes, pool = state.classes, state.pool
    gone = ~pool.present
    people = _people(classes.table[classes.node[:, SLOT], 0], walk.task.k)
    ties = _present_ties(pool)
    while len(people.unprotected) > walk.task.allowed:
        person = max(people.unprotected, key=lambda one: (len(ties[one]), -one))
        if not ties[person]:
            return pairs.keys
        tie = min(ties[person], key=lambda one: (people.change(*_moves(pool, one)), one))
        for end, by in _moves(pool, tie):
            people.move(end, by)
            ties[end].discard(tie)
        gone[tie] = True
    return pairs.keys[gone]


def _people(codes: Ints, k: int) -> _People:
    members: defaultdict[int, set[int]] = defaultdict(set)
    for person, code in enumerate(codes.tolist()):
        members[code].add(person)
    rare = {one for some in members.values() if len(some) < k for one in some}
    return _People(codes.tolist(), members, rare, k)


def _present_ties(pool: Pool) -> list[set[int]]:
    """Return the ties at everyone."""
    ties: list[set[int]] = [set() for _ in range(pool.start.size - 1)]
    for tie in np.flatnonzero(pool.present).tolist():
        ties[pool.one[tie]].add(tie)
        ties[pool.other[tie]].add(tie)
    return ties


def _moves(pool: Pool, tie: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return what the deletion of a tie does to the codes of its two ends."""
    if pool.steps is None:
        raise TypeError("these pairs have no steps of their own")
    tail, head = pool.steps[tie].tolist()
    return (int(pool.one[tie]), -tail), (int(pool.other[tie]), -head)
