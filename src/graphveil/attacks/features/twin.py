"""A release of the same method that some people are not in: what it tells of them is no leak."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import AttackInput
from graphveil.attacks.features.classes import People, people_of
from graphveil.data import Bipartite, Data, Table
from graphveil.data.ids import Ids
from graphveil.data.kinds import encoded
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.progress import stage
from graphveil.randomness import Randomness
from graphveil.release import Release

FEWEST_FEATURES, ONE_OUT_IN = 3, 20
"""People with fewer features are not drawn: about them there is little to learn."""

_PEOPLE_ARE_ITEMS = "items are people, so nobody can be left out without changing the others"


class Again:
    """The method, run again on what the original was: a table where features are its one-hot ones.

    Parameters
    ----------
    situation
        What the attack is computed from.

    Raises
    ------
    NotMeasuredError
        Where this version does not know the method, or its parameters lie with an owner's record
        that is not there.
    """

    def __init__(self, situation: AttackInput[BipartiteComparison]) -> None:
        """Keep the original and the method."""
        if situation.rerun is None:
            raise NotMeasuredError(
                "this version does not know the method, or the owner's record is not there"
            )
        self.original: Table | Bipartite = situation.table or situation.comparison.original
        self._rerun = situation.rerun

    def __call__(self, data: Data, seed: int) -> Release[Any]:
        """Return the release of other data under a seed."""
        return self._rerun(data, seed)


def features_of(data: Any) -> Bipartite:
    """Return released data as users by features."""
    features: Bipartite = encoded(data, Bipartite)
    return features


def twin(situation: AttackInput[BipartiteComparison], out: NDArray[np.int64], seed: int) -> People:
    """Return the people of the original beside a release that some of them are not in.

    Parameters
    ----------
    situation
        What the attack is computed from.
    out
        Who is not in it.
    seed
        Of the run.

    Raises
    ------
    NotMeasuredError
        Where the method cannot be run again, or items are people.
    GraphveilError
        Where it refuses the smaller data.
    """
    again = Again(situation)
    pair = situation.comparison
    refuse_people(pair)
    inside = np.setdiff1d(np.arange(pair.original.n_users), out)
    with stage("running the method again"):
        return beside_without(again, pair, inside, seed)


def refuse_people(pair: BipartiteComparison) -> None:
    """Refuse items that are people.

    Raises
    ------
    NotMeasuredError
        Where they are.
    """
    if pair.original.items == "people":
        raise NotMeasuredError(_PEOPLE_ARE_ITEMS)


def beside_without(
    again: Again, pair: BipartiteComparison, inside: NDArray[np.int64], seed: int
) -> People:
    """Return the people of the original beside a release of some of them.

    Parameters
    ----------
    again
        The method.
    pair
        The original, beside its release.
    inside
        int64: who is in the new release.
    seed
        Of the run.

    Raises
    ------
    GraphveilError
        Where the method refuses the smaller data.
    """
    labels = again.original.labels()[inside]
    release = again(again.original.permuted(inside, ids=labels), seed)
    return people_of_run(release, pair.original, inside, labels, pair.randomness)


def people_of_run(
    release: Release[Any],
    rows: Bipartite,
    inside: NDArray[np.int64],
    labels: Ids,
    randomness: Randomness,
) -> People:
    """Return rows beside a release of some of them.

    Parameters
    ----------
    release
        The release, with its linkage.
    rows
        Features of all rows.
    inside, labels
        int64, shape (people,): which rows are in the release, and under which ids they were given.
    randomness
        Of the comparison.
    """
    linkage = release.private.linkage if release.private else None
    if linkage is None:
        raise TypeError("a run of a method comes with its linkage")
    position = np.full(rows.n_users, -1, dtype=np.int64)
    position[inside] = linkage.positions_of(labels, release.data.labels())
    beside = BipartiteComparison(
        original=rows,
        released=features_of(release.data),
        position=None,
        randomness=randomness,
    )
    return people_of(beside, position)


def people_to_leave_out(people: People, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return whom the twin leaves out: few of those with three features or more.

    Parameters
    ----------
    people
        The people of the release.
    most
        The most to draw.
    rng
        Draws them.

    Raises
    ------
    NotMeasuredError
        Where there are too few.
    """
    known = np.nonzero(people.numbers >= FEWEST_FEATURES)[0]
    number = min(most, people.own.size // ONE_OUT_IN, known.size // 2)
    if number < 1:
        raise NotMeasuredError(
            f"{people.own.size} people, {known.size} of them with {FEWEST_FEATURES} features or "
            "more, are too few to leave some out"
        )
    drawn: NDArray[np.int64] = np.sort(rng.choice(known, number, replace=False))
    return drawn
