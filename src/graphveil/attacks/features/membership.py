"""Who took part, for someone who knows a whole row, and runs the method on people like these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackInput, AttackOptions, Outcome
from graphveil.attacks.features.classes import people_of
from graphveil.attacks.features.scoring import MOST_CELLS, classes_in
from graphveil.attacks.features.taking_part import CHOICES, evidence
from graphveil.attacks.features.twin import FEWEST_FEATURES, Again, beside_without, refuse_people
from graphveil.attacks.likelihood_ratio import (
    FEWEST_RELEASES,
    GUESS,
    ShadowScores,
    figures_of,
    ratios,
    risks_of,
)
from graphveil.attacks.shadows import (
    SHADOWS,
    Half,
    halves_of,
    seconds_of_shadows,
    shadow_results,
)
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.parameters import parameter

FEWEST_PEOPLE = 20


@dataclass(frozen=True, kw_only=True)
class MembershipOptions(AttackOptions):
    """How many people are attacked, and by how many releases."""

    label: ClassVar[str] = "membership"

    shadows: int = parameter(
        default=SHADOWS,
        text="releases of a random half of the people each",
        minimum=FEWEST_RELEASES,
        maximum=1_000,
    )
    people: int = parameter(
        default=2_000, text="the most people who are attacked", minimum=FEWEST_PEOPLE
    )


@dataclass(frozen=True)
class _Attacked:
    """Makes releases of a part of the people, and scores rows in them."""

    again: Again
    pair: BipartiteComparison
    targets: NDArray[np.int64]

    def __call__(self, half: Half) -> NDArray[np.float64]:
        """Return what a release says of every target: see `evidence`."""
        beside = beside_without(self.again, self.pair, np.flatnonzero(half.inside), half.seed)
        share = self.targets.size / self.pair.original.n_users
        return evidence(beside.before[self.targets], beside.classes, share)


def membership(situation: AttackInput[BipartiteComparison], options: MembershipOptions) -> Outcome:
    """Return how well people who took part are told from people who did not.

    Raises
    ------
    NotMeasuredError
        Where the method cannot be run again, or people are too few.
    """
    rng = situation.rng("membership: people")
    work = _attacked(situation, options, rng)
    n = situation.comparison.original.n_users
    halves = halves_of(n, options.shadows, rng)
    scores = np.array(shadow_results(work, halves))
    shadows = ShadowScores(scores, np.array([half.inside[work.targets] for half in halves]))
    made = ratios(shadows, CHOICES)
    figures = figures_of(shadows, made, ("a whole row", "share of people who took part"), rng)
    risk, baseline = (np.full(n, np.nan) for _ in range(2))
    risk[work.targets], baseline[work.targets] = risks_of(made, shadows.inside), GUESS
    return Outcome(figures, risk, baseline)


def _attacked(
    situation: AttackInput[BipartiteComparison],
    options: MembershipOptions,
    rng: np.random.Generator,
) -> _Attacked:
    """Return what makes the releases, of targets drawn of people with some features.

    Raises
    ------
    NotMeasuredError
        As `membership`.
    """
    pair = situation.comparison
    people = people_of(pair)
    known = np.nonzero(people.numbers >= FEWEST_FEATURES)[0]
    if known.size < FEWEST_PEOPLE:
        raise NotMeasuredError(
            f"{known.size} of {people.own.size} people have {FEWEST_FEATURES} features or more, "
            f"{FEWEST_PEOPLE} are needed"
        )
    again = Again(situation)
    refuse_people(pair)
    targets = np.sort(rng.choice(known, min(options.people, known.size), replace=False))
    return _Attacked(again, pair, targets)


PER_CELL, PER_SCORE = 1e-7, 1e-5
"""Seconds for every target, class and release, and for every target and release."""


def seconds(situation: AttackInput[BipartiteComparison], options: MembershipOptions) -> float:
    """Return about how long it takes, most of it the runs of the method.

    Raises
    ------
    TooLargeError
        Where classes and features are too many.
    """
    pair = situation.comparison
    classes = classes_in(pair)
    targets = min(options.people, pair.original.n_users)
    counted = options.shadows * targets * (PER_CELL * classes + PER_SCORE)
    try:
        rng = situation.rng("membership: how long it takes")
        work = _attacked(situation, options, rng)
    except NotMeasuredError:
        return counted
    half = halves_of(pair.original.n_users, 1, rng)[0]
    return counted + seconds_of_shadows(situation, lambda: work(half), options.shadows, 0.5)


MEMBERSHIP = Attack(
    name="membership",
    kind=Bipartite,
    knows="the rows of all people who may have taken part, of whom half did, and the method with "
    "its parameters",
    definition="how often somebody in a release of half of the people scores higher than somebody "
    "who is not, ties being a half: the area under the curve; and the share of people inside who "
    "are found at 1 % and 0.1 % false alarms",
    source="likelihood ratio of Carlini et al., Membership inference attacks from first "
    "principles, 2022; scores of classes are graphveil's own",
    needs_linkage=True,
    cost="24 runs of the method on half of the people each. 2,000 people are attacked at most; up "
    f"to {MOST_CELLS:,} distinct rows and features together",
    compute=membership,
    seconds=seconds,
    options=MembershipOptions,
)
"""The entry of this attack."""
