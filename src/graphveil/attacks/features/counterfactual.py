"""Releases of a part of the people: what these tell about the others is not a leak.

An attacker who learns something about a person from a release learns most of it even if the person
is not in the data. To tell the two apart, the method is run again on data without some people, and
the attack is repeated on them. `membership` uses the same for releases of random halves.

Cost: one run of the method per release.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphveil.attacks.attack import AttackInput
from graphveil.attacks.features.released_classes import People, people_of
from graphveil.core.array_types import Ints
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.text import counted
from graphveil.data import Bipartite, Data, Table
from graphveil.data.ids import Ids
from graphveil.data.kinds import encoded
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.release import Release

TWIN = "a release without some people"
"""How the missing second release is named where it cannot be made."""

FEWEST_FEATURES, ONE_OUT_IN = 3, 20
"""People with fewer features are not sampled: there is little to learn about them. At most one
person in `ONE_OUT_IN` is excluded, so that the release stays like the published one."""

_PEOPLE_ARE_ITEMS = "items are people, so no one can be excluded without changing the others"


class MethodRerun:
    """The method, run again on the original: a table if features are its one-hot ones.

    Raises
    ------
    NotMeasuredError
        If the method cannot be run again.
    """

    def __init__(self, situation: AttackInput[BipartiteComparison]) -> None:
        """Keep the original and the method."""
        if situation.rerun is None:
            raise NotMeasuredError(f"the run cannot be repeated: {situation.not_again}")
        tables = situation.tables
        self.original: Table | Bipartite = (tables or situation.comparison).original
        self._rerun = situation.rerun

    def __call__(self, data: Data, seed: int) -> Release[Any]:
        """Return the release of other data under a seed."""
        return self._rerun(data, seed)


def features_of(data: Any) -> Bipartite:
    """Return released data as users by features."""
    features: Bipartite = encoded(data, Bipartite)
    return features


def without_people(situation: AttackInput[BipartiteComparison], out: Ints, seed: int) -> People:
    """Return the people of the original next to a release that excludes some of them."""
    # The method on everybody who is not excluded.
    again = MethodRerun(situation)
    pair = situation.comparison
    refuse_people(pair)
    inside = np.setdiff1d(np.arange(pair.original.n_users), out)
    with stage("running the method again"):
        return release_of_some(again, pair, inside, seed)


def refuse_people(pair: BipartiteComparison) -> None:
    """Refuse items that are people: excluding a person would change the rows of others."""
    if pair.original.items == "people":
        raise NotMeasuredError(_PEOPLE_ARE_ITEMS)


def release_of_some(
    again: MethodRerun, pair: BipartiteComparison, inside: Ints, seed: int
) -> People:
    """Return the people of the original next to a new release of those `inside`.

    `inside`: int64 array of positions in the original; People.own is -1 for the others.
    """
    # The rows of these people alone, under their own ids.
    labels = again.original.labels()[inside]
    release = again(again.original.permuted(inside, ids=labels), seed)
    return people_of_run(release, pair.original, inside, labels, pair.randomness)


def people_of_run(
    release: Release[Any], rows: Bipartite, inside: Ints, labels: Ids, randomness: Randomness
) -> People:
    """Return rows next to a release of some of them, linked by the linkage of that run."""
    linkage = release.private.linkage if release.private else None
    if linkage is None:
        raise TypeError("a run of a method must return its linkage")
    # The linkage of the run says whose released row is whose; -1 for people who are not in it.
    position = np.full(rows.n_users, -1, dtype=np.int64)
    position[inside] = linkage.positions_of(labels, release.data.labels())
    pair = BipartiteComparison.of(rows, features_of(release.data), None, randomness)
    return people_of(pair, position)


def people_to_exclude(people: People, most: int, rng: np.random.Generator) -> Ints:
    """Return whom the second release excludes, int64, sorted: few of those with enough features."""
    # Few people, and none with hardly any items: the release must stay like the published one.
    known = np.nonzero(people.numbers >= FEWEST_FEATURES)[0]
    number = min(most, people.own.size // ONE_OUT_IN, known.size // 2)
    if number < 1:
        raise NotMeasuredError(
            f"too few rows to exclude some ({counted(people.own.size, 'row')}, {known.size} with "
            f"at least {FEWEST_FEATURES} features)"
        )
    return np.asarray(np.sort(rng.choice(known, number, replace=False)))
