"""Who took part, for an attacker who knows a whole row and runs the method on similar people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackInput, AttackOptions, Outcome
from graphveil.attacks.features.counterfactual import (
    FEWEST_FEATURES,
    MethodRerun,
    refuse_people,
    release_of_some,
)
from graphveil.attacks.features.released_classes import (
    MOST_CELLS,
    ReleasedClasses,
    batches,
    classes_in,
    people_of,
    scores,
)
from graphveil.attacks.likelihood_ratio import (
    FEWEST_RELEASES,
    GUESS,
    SHADOWS,
    ShadowReleases,
    ShadowSplit,
)
from graphveil.attacks.wording import inferred
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time
from graphveil.core.text import counted
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison, Bools, Floats, Ints, sparse
from graphveil.evaluate.metric import NotMeasuredError

TRUTHS = (0.6, 0.5, 0.75, 0.99)
"""How often a published entry is taken for true of a member of its class."""

JOINT = {0.75: 4, 0.99: 5}
"""Truths for which members are shared out among the classes, and the column of their scores."""

MOST_JOINT_CELLS = 5_000_000
"""Up to so many people and classes they are."""

ROUNDS, STRIDE = 30, 1.5
"""Rounds of Sinkhorn's scaling, and how far each goes: beyond 1 it converges sooner."""

LEAST_ODDS = np.float32(1e-20)

CHOICES = ([1], [0], [0, 2, 4], [2, 4], [3, 5])
"""Scores that are used together."""


def evidence(items: sparse.csr_array, classes: ReleasedClasses, share: float = 1.0) -> Floats:
    """Return scores of rows that grow with how likely their people took part.

    `share`: how many of all people who may be in the release these are.
    """
    made = np.zeros((items.shape[0], len(TRUTHS) + len(JOINT)))
    joint = items.shape[0] * classes.sizes.size <= MOST_JOINT_CELLS
    whole = [slice(None)] if joint else batches(items.shape[0], classes)
    frequency = np.minimum(classes.frequency, 0.999)
    rarity = np.log1p(-frequency) - np.log(frequency)
    members: Floats = share * classes.sizes.astype(np.float64)
    shown = np.diff(classes.rows.indptr)
    absent = classes.rows @ np.log1p(-frequency)
    for some in whole:
        common = scores(items[some], classes, np.ones(frequency.size))
        rare = scores(items[some], classes, rarity) - absent
        for column, truth in enumerate(TRUTHS):
            fit = np.log(truth / (1 - truth)) * common + rare
            fit += np.log1p(-truth) * shown
            made[some, column] = fit.max(axis=1)
            if joint and truth in JOINT:
                made[some, JOINT[truth]] = _shared_out(fit, members)
    return made


def _shared_out(fit: Floats, sizes: Floats) -> Floats:
    """Return the logarithm of the odds that people are members of any class.

    Every class has as many members as it shows, everybody is in one class or in none. Sinkhorn's
    scaling, overrelaxed: Thibault et al., 2021.
    """
    fit = fit - fit.max(axis=0)
    weight = np.exp(np.maximum(fit, -60.0, out=fit), dtype=np.float32)
    free: NDArray[np.float32] = np.ones(len(weight), dtype=np.float32)
    scale = sizes / (free @ weight)
    for _ in in_time(range(ROUNDS)):
        odds: NDArray[np.float32] = weight @ scale.astype(np.float32)
        free = np.float32(1) / (1 + odds)
        scale *= (sizes / (free @ weight) / scale) ** STRIDE
    return np.asarray(np.log(np.maximum(odds, LEAST_ODDS), dtype=np.float64))


FEWEST_PEOPLE = 20


@dataclass(frozen=True, kw_only=True)
class MembershipOptions(AttackOptions, label="membership"):
    """How many people are attacked, and by how many releases."""

    shadows: int = parameter(
        default=SHADOWS,
        text="number of releases, each of a random half of the people",
        minimum=FEWEST_RELEASES,
        maximum=1_000,
    )
    people: int = parameter(
        default=2_000, text="maximum number of people to attack", minimum=FEWEST_PEOPLE
    )


@dataclass(frozen=True)
class _Attacked(ShadowReleases):
    """Makes releases of a half of the people, and scores rows in them."""

    choices = CHOICES
    words = ("a whole row", "share of people in the data")
    share_of_run = 0.5

    again: MethodRerun
    pair: BipartiteComparison
    targets: Ints

    @property
    def size(self) -> int:
        """How many people there are."""
        return self.pair.original.n_users

    def of_targets(self, inside: Bools) -> Bools:
        """Return which targets are in a half of all people."""
        return inside[self.targets]

    def __call__(self, half: ShadowSplit) -> Floats:
        """Return what a release says of every target: see `evidence`."""
        people = release_of_some(self.again, self.pair, np.flatnonzero(half.inside), half.seed)
        share = self.targets.size / self.size
        return evidence(people.before[self.targets], people.classes, share)


def membership(situation: AttackInput[BipartiteComparison], options: MembershipOptions) -> Outcome:
    """Return how well people who took part are distinguished from people who did not."""
    rng = situation.rng("membership: people")
    work = _attacked(situation, options, rng)
    figures, risks = work.distinguished(options.shadows, rng)
    risk, baseline = (np.full(work.size, np.nan) for _ in range(2))
    risk[work.targets], baseline[work.targets] = risks, GUESS
    return Outcome(figures, risk, baseline)


def _attacked(
    situation: AttackInput[BipartiteComparison],
    options: MembershipOptions,
    rng: np.random.Generator,
) -> _Attacked:
    """Return what makes the releases, of targets drawn of people with some features."""
    pair = situation.comparison
    people = people_of(pair)
    known = np.nonzero(people.numbers >= FEWEST_FEATURES)[0]
    if known.size < FEWEST_PEOPLE:
        raise NotMeasuredError(
            f"only {known.size} of {counted(people.own.size, 'row', 'has')} at least "
            f"{FEWEST_FEATURES} features; {FEWEST_PEOPLE} are needed"
        )
    again = MethodRerun(situation)
    refuse_people(pair)
    targets = np.sort(rng.choice(known, min(options.people, known.size), replace=False))
    return _Attacked(again, pair, targets)


PER_CELL, PER_SCORE = 1e-7, 1e-5
"""Seconds for every target, class and release, and for every target and release."""


def seconds(situation: AttackInput[BipartiteComparison], options: MembershipOptions) -> float:
    """Return about how long it takes, most of it the runs of the method."""
    pair = situation.comparison
    classes = classes_in(pair)
    targets = min(options.people, pair.original.n_users)
    counted = options.shadows * targets * (PER_CELL * classes + PER_SCORE)
    rng = situation.rng("membership: how long it takes")
    work = _attacked(situation, options, rng)
    return counted + work.seconds(situation, options.shadows, rng)


MEMBERSHIP = Attack(
    name="membership",
    kind=Bipartite,
    knows="the rows of all people who may be in the data, of whom half are, and the method with "
    "its parameters",
    definition="how often a person whose data is in a release of half of the people scores higher "
    "than one whose data is not; equal scores count half (area under the curve). And the share of "
    "people in the data who are found at 1% and 0.1% false-positive rates",
    source="likelihood ratio: Carlini et al., Membership inference attacks from first "
    "principles, 2022; the scores of classes are graphveil's own",
    cost="24 runs of the method, each on half of the people. At most 2,000 people are attacked; "
    f"up to {MOST_CELLS:,} distinct rows and features in total",
    compute=membership,
    seconds=seconds,
    options=MembershipOptions,
    said=(
        inferred(
            "a whole row",
            does="tests whether a person is in the data",
            line="which of two rows is in the data",
            label="who is in the data",
            says="given one participant and one non-participant, the participant is recognized {n} "
            "times",
        ),
        inferred(
            "a whole row, found at 1% false alarms",
            line="people found to be in the data at a 1% false-positive rate",
        ),
    ),
)
