"""What a class proves about its members: the attack `class-truth`.

The attacker knows a person's class. A published entry is certain if all members have it
(homogeneity, Machanavajjhala et al., 2007). With a rule that publishes what a share theta of the
members has, thresholds prove more (after Wong et al., 2007): an attacker who has the rows of all
other members sees an entry that exactly the required number have, and concludes that the last one
has it, too; and if one too few have an entry that is not published, that the last one lacks it.

Baselines: what holds of everybody in the original for certain entries, frequencies for true ones, 0
for thresholds. All classes are counted, so figures have no interval. A person's risk is the share
of their rare items that the class makes certain. Cost: entries of original and release.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.features.released_classes import People, people_of
from graphveil.attacks.features.scoring import RARE
from graphveil.attacks.wording import inferred
from graphveil.claims.conditions import TrueOfShare
from graphveil.claims.guarantees import SmoothKAnonymity
from graphveil.core.array_types import Floats, Ints
from graphveil.core.parameters import share_in
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison, Bools, sparse
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.release import Release

CERTAIN = "entries that the class makes certain"
"""Names of figures."""

THRESHOLD, ABSENT = "threshold", "threshold, absent items proved"


class ClassProfiles(NamedTuple):
    """How many members of every class truly have every feature that one of them has, or it shows.

    Parameters
    ----------
    group, feature : int64, shape (pairs,)
        The class, and the feature.
    having : int64, shape (pairs,)
        How many members have it.
    shown : bool, shape (pairs,)
        Whether the class publishes it.
    size : int64, shape (pairs,)
        How many members the class has.
    """

    group: Ints
    feature: Ints
    having: Ints
    shown: Bools
    size: Ints

    def only(self, some: Bools) -> ClassProfiles:
        """Return some of the pairs."""
        group, feature, having, shown, size = self
        return ClassProfiles(group[some], feature[some], having[some], shown[some], size[some])


def profiles_of(people: People) -> ClassProfiles:
    """Return what the members of every class truly have, and what it publishes."""
    classes = people.classes
    n, width = classes.sizes.size, people.before.shape[1]
    # Membership times features: how many members of each class have each feature.
    members = sparse.csr_array(
        (np.ones(people.own.size), (people.own, np.arange(people.own.size))),
        shape=(n, people.own.size),
    )
    having = sparse.coo_array(members @ people.before)
    shown = classes.rows.tocoo()
    # Pairs of class and feature as single numbers: those that members have, and those that are
    # shown.
    keys = having.row.astype(np.int64) * width + having.col
    of_shown = shown.row.astype(np.int64) * width + shown.col
    every = np.union1d(keys, of_shown)
    counts = np.zeros(every.size, dtype=np.int64)
    counts[np.searchsorted(every, keys)] = np.rint(having.data)
    group, feature = np.divmod(every, max(width, 1))
    return ClassProfiles(group, feature, counts, np.isin(every, of_shown), classes.sizes[group])


def class_truth(
    situation: attack.AttackInput[BipartiteComparison], _options: attack.AttackOptions
) -> attack.Outcome:
    """Return how true published entries are of their class, and what thresholds prove."""
    people = people_of(situation.comparison)
    profiles = profiles_of(people)
    shown = profiles.only(profiles.shown)
    if not shown.group.size:
        raise NotMeasuredError("no entries were published")
    # Entries count once per member: a class of s publishes s entries of each of its features.
    share = np.bincount(people.before.indices, minlength=people.before.shape[1]) / people.own.size
    of_all = shown.having == shown.size
    entries, unit = float(shown.size.sum()), "share of published entries"
    everybody = float(shown.size[share[shown.feature] == 1].sum() / entries)
    sure = float(shown.size[of_all].sum())
    original = max(people.before.nnz, 1)
    of_everybody = float(people.own.size * np.count_nonzero(share == 1) / original)
    truth = float(shown.having.sum() / entries)
    by_chance = float((shown.size * share[shown.feature]).sum() / entries)
    figures = [
        attack.AttackFigure("entries true of the whole class", sure / entries, unit, everybody),
        attack.AttackFigure("entries true, mean", truth, unit, by_chance),
        attack.AttackFigure(CERTAIN, sure / original, "share of original entries", of_everybody),
    ]
    missing: dict[str, str] = {}
    # Thresholds only if the release states a rule with a share below 1.
    theta = theta_of(situation.release)
    if theta is None:
        missing[THRESHOLD] = (
            "the release guarantees no share below 1 of the members of a class who have an entry"
        )
    else:
        figures.extend(_thresholds(people, profiles, theta, missing))
    return attack.Outcome(figures, *_risks(people, shown.only(of_all), share), missing)


PASSES = 6
"""How many times as long as `seconds_of_passes` it takes."""


def seconds(
    situation: attack.AttackInput[BipartiteComparison], options: attack.AttackOptions
) -> float:
    """Return about how long it takes."""
    return PASSES * attack.seconds_of_passes(situation, options)


def theta_of(release: Release[Any]) -> str | None:
    """Return the share of a class that has each of its entries, if one below 1 is guaranteed."""
    promise = release.guarantee
    stated = [c.theta for c in release.conditions if isinstance(c, TrueOfShare)]
    if isinstance(promise, SmoothKAnonymity):
        stated.append(promise.theta)
    return next((theta for theta in stated if share_in(theta) < 1), None)


def least_counts(sizes: Ints, theta: str) -> Ints:
    """Return how many members of classes of these sizes must have what is published.

    >>> least_counts(np.array([8, 9]), "1/2").tolist()
    [4, 5]
    """
    share = share_in(theta)
    return np.asarray(-(-sizes * share.numerator // share.denominator))


def _thresholds(
    people: People, profiles: ClassProfiles, theta: str, missing: dict[str, str]
) -> Iterator[attack.AttackFigure]:
    """Yield what an attacker who has the rows of all others of a class is sure of.

    An entry that just as many have as must is published only if the last one has it, too. If one
    more would have been published, the last one does not have it.
    """
    # Exactly as many as required have it: each of these is proved by the others.
    least = least_counts(profiles.size, theta)
    proving = profiles.only(profiles.shown & (profiles.having == least))
    entries = float(proving.having.sum() / max(people.before.nnz, 1))
    having = _number_of(people, proving, having=True)
    unit = "share of people"
    part = "threshold, entries proved"
    yield attack.AttackFigure(part, entries, "share of original entries", 0.0)
    part = "threshold, people with a proved entry"
    yield attack.AttackFigure(part, float((having > 0).mean()), unit, 0.0)
    # If entries are also suppressed for other reasons, silence proves nothing.
    if (~profiles.shown & (profiles.having >= least)).any():
        missing[ABSENT] = "some entries that enough members have are suppressed as well"
        return
    # One fewer than required: the members who lack it are proved to.
    absent = profiles.only(~profiles.shown & (profiles.having == least - 1))
    part = "threshold, people with an item proved absent"
    lacking = _number_of(people, absent, having=False)
    yield attack.AttackFigure(part, float((lacking > 0).mean()), unit, 0.0)


def _number_of(people: People, profiles: ClassProfiles, *, having: bool) -> Ints:
    """Return for each person how many of the pairs of their class they have, or lack.

    int64, shape (people,).
    """
    shape = (people.classes.sizes.size, people.before.shape[1])
    pairs = sparse.csr_array(
        (np.ones(profiles.group.size), (profiles.group, profiles.feature)), shape=shape
    )
    of_class = np.diff(pairs.indptr)[people.own]
    own = np.diff(sparse.csr_array(people.before.multiply(pairs[people.own])).indptr)
    return np.asarray(own if having else of_class - own)


def _risks(people: People, certain: ClassProfiles, share: Floats) -> tuple[Floats, Floats]:
    """Return the share of each person's rare features that their class makes certain.

    Next to it, the mean frequency of these features: what guessing reaches.
    """
    rare = np.nonzero(share <= RARE)[0]
    own = people.before[:, rare]
    number = np.diff(own.indptr)
    is_rare = np.isin(certain.feature, rare)
    sure = _number_of(people, certain.only(is_rare), having=True)
    with np.errstate(invalid="ignore"):
        return sure / np.where(number, number, np.nan), own @ share[rare] / np.where(
            number, number, np.nan
        )


CLASS_TRUTH = attack.Attack(
    name="class-truth",
    kind=Bipartite,
    knows="the equivalence class of a person; for thresholds also the rows of all other "
    "members, and the rule",
    definition="share of published entries that are true of every member of their class, and the "
    "mean share of members of whom an entry is true. Thresholds: entries proved by the rows of the "
    "other members, because exactly the required number have them; and items proved absent, "
    "because one too few have them. Risk: the share of a person's rare items that is certain",
    source="Machanavajjhala et al. 2007; thresholds: after Wong et al. 2007",
    compute=class_truth,
    seconds=seconds,
    said=(
        inferred(
            "entries true, mean",
            does="reads a published item and assumes it is true",
            line=None,
            label="a published item",
            says="it is true of {n} of the people it may refer to; of all, if nothing is false",
            as_published=True,
        ),
        inferred(CERTAIN, line="entries that are certain for everyone in a known class"),
    ),
)
