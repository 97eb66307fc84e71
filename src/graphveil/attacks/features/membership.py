"""Whether a person is in the data, for an attacker who knows complete rows: `membership`.

The attacker has the rows of all people who may be in the data, of whom a random half is, and the
method with its parameters. Steps: (1) make releases of random halves; (2) score every row in every
release by how well some class fits it (`evidence`); (3) likelihood ratios as in
`likelihood_ratio.py`, after Carlini et al., 2022. The scores are graphveil's own: for several
assumed shares of true entries, the best fit of any class, and for two of them the odds of being a
member if all rows compete for the places of all classes.

Baseline: an area of 1/2. Intervals: `likelihood_ratio.py`. Figures are about releases of half of
the people. Cost: one run of the method on half of the people per release, 24 by default, and
targets times classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks import likelihood_ratio
from graphveil.attacks.attack import Attack, AttackInput, AttackOptions, Outcome
from graphveil.attacks.features import counterfactual, released_classes
from graphveil.attacks.wording import inferred
from graphveil.core.array_types import Floats, Ints
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time
from graphveil.core.text import counted
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison, Bools, sparse
from graphveil.evaluate.metric import NotMeasuredError

TRUTHS = (0.6, 0.5, 0.75, 0.99)
"""How often a published entry is taken to be true of a member; each gives a column of scores. The
releases choose which columns are used."""

JOINT = {0.75: 4, 0.99: 5}
"""For these shares, the column of scores in which all rows compete for the places of all
classes."""

MOST_JOINT_CELLS = 5_000_000
"""If people times classes are more, rows are scored independently and those columns stay 0."""

ROUNDS, STRIDE = 30, 1.5
"""Rounds of Sinkhorn's scaling, and how far each goes: beyond 1 (overrelaxation) it converges
sooner."""

LEAST_ODDS = np.float32(1e-20)
"""The least odds of being a member, so that the logarithm is finite."""

CHOICES = ([1], [0], [0, 2, 4], [2, 4], [3, 5])
"""Columns that are used together: see `TRUTHS` and `JOINT`."""

FEWEST_PEOPLE = 20
"""With fewer people to attack nothing is measured."""


def evidence(
    items: sparse.csr_array, classes: released_classes.ReleasedClasses, share: float = 1.0
) -> Floats:
    """Return scores of rows that grow with how likely their people are in the data.

    Parameters
    ----------
    items : sparse float64 array of ones, shape (people, features)
        Complete rows.
    classes : ReleasedClasses
        The release.
    share : float
        How many of all people who may be in the release these are.

    Returns
    -------
    float64, shape (people, scores)
        A column per truth, then those of `JOINT`.
    """
    scored = np.zeros((items.shape[0], len(TRUTHS) + len(JOINT)))
    joint = items.shape[0] * classes.sizes.size <= MOST_JOINT_CELLS
    blocks = [slice(None)] if joint else released_classes.batches(items.shape[0], classes)
    # Log-likelihood of a class for a row: entries in common count by truth and rarity, entries of
    # the class that the row lacks against it.
    frequency = np.minimum(classes.frequency, 0.999)
    rarity = np.log1p(-frequency) - np.log(frequency)
    members: Floats = share * classes.sizes.astype(np.float64)
    shown = np.diff(classes.rows.indptr)
    absent = classes.rows @ np.log1p(-frequency)
    for block in blocks:
        common = released_classes.scores(items[block], classes, np.ones(frequency.size))
        # What the row would be by chance: rare items in common say more.
        rare = released_classes.scores(items[block], classes, rarity) - absent
        for column, truth in enumerate(TRUTHS):
            fit = np.log(truth / (1 - truth)) * common + rare
            fit += np.log1p(-truth) * shown
            # The best class; and, for some truths, all rows and classes together.
            scored[block, column] = fit.max(axis=1)
            if joint and truth in JOINT:
                scored[block, JOINT[truth]] = _shared_out(fit, members)
    return scored


def _shared_out(fit: Floats, sizes: Floats) -> Floats:
    """Return the logarithm of the odds that people are members of any class.

    Every class has as many members as it shows; everybody is in one class or in none. Sinkhorn's
    scaling, overrelaxed: Thibault, Chizat, Dossal and Papadakis, 2021. This is how an assignment of
    all people at once can respect sizes of classes.

    `fit`: float64, shape (people, classes): log-likelihoods; `sizes`: float64, shape (classes,):
    members, as many of them as are among these people. Returns float64, shape (people,).
    """
    fit = fit - fit.max(axis=0)
    # Relative to the best person of each class; what is 60 below it has no weight.
    weight = np.exp(np.maximum(fit, -60.0, out=fit), dtype=np.float32)
    free: NDArray[np.float32] = np.ones(len(weight), dtype=np.float32)
    scale = sizes / (free @ weight)
    for _ in in_time(range(ROUNDS)):
        # Rows: the odds of being in any class against none. Columns: as many members as the class
        # has.
        odds: NDArray[np.float32] = weight @ scale.astype(np.float32)
        free = np.float32(1) / (1 + odds)
        scale *= (sizes / (free @ weight) / scale) ** STRIDE
    return np.asarray(np.log(np.maximum(odds, LEAST_ODDS), dtype=np.float64))


@dataclass(frozen=True, kw_only=True)
class MembershipOptions(AttackOptions, label="membership"):
    """How many people are attacked, and by how many releases."""

    shadows: int = parameter(
        default=likelihood_ratio.SHADOWS,
        text="number of releases, each of a random half of the people",
        minimum=likelihood_ratio.FEWEST_RELEASES,
        maximum=1_000,
    )
    people: int = parameter(
        default=2_000, text="maximum number of people to attack", minimum=FEWEST_PEOPLE
    )


@dataclass(frozen=True)
class _Attacked(likelihood_ratio.ShadowReleases):
    """Makes releases of half of the people, and scores rows in them."""

    choices = CHOICES
    words = ("a whole row", "share of people in the data")
    share_of_run = 0.5

    again: counterfactual.MethodRerun
    pair: BipartiteComparison
    targets: Ints

    @property
    def size(self) -> int:
        """How many people there are: halves are of all people, targets or not."""
        return self.pair.original.n_users

    def of_targets(self, inside: Bools) -> Bools:
        """Return which targets are in a half of all people."""
        return inside[self.targets]

    def __call__(self, half: likelihood_ratio.ShadowSplit) -> Floats:
        """Return what a release says of every target: see `evidence`."""
        people = counterfactual.release_of_some(
            self.again, self.pair, np.flatnonzero(half.inside), half.seed
        )
        share = self.targets.size / self.size
        return evidence(people.before[self.targets], people.classes, share)


def membership(situation: AttackInput[BipartiteComparison], options: MembershipOptions) -> Outcome:
    """Return how well people who are in the data are distinguished from people who are not."""
    rng = situation.rng("membership: people")
    work = _attacked(situation, options, rng)
    figures, risks = work.distinguished(options.shadows, rng)
    risk, baseline = (np.full(work.size, np.nan) for _ in range(2))
    risk[work.targets], baseline[work.targets] = risks, likelihood_ratio.GUESS
    return Outcome(figures, risk, baseline)


def _attacked(
    situation: AttackInput[BipartiteComparison],
    options: MembershipOptions,
    rng: np.random.Generator,
) -> _Attacked:
    """Return what makes the releases, for targets sampled from people with some features."""
    pair = situation.comparison
    people = released_classes.people_of(pair)
    # Targets are sampled from people about whom there is something to learn.
    known = np.nonzero(people.numbers >= counterfactual.FEWEST_FEATURES)[0]
    if known.size < FEWEST_PEOPLE:
        raise NotMeasuredError(
            f"only {known.size} of {counted(people.own.size, 'row', 'has')} at least "
            f"{counterfactual.FEWEST_FEATURES} features; {FEWEST_PEOPLE} are needed"
        )
    again = counterfactual.MethodRerun(situation)
    counterfactual.refuse_people(pair)
    targets = np.sort(rng.choice(known, min(options.people, known.size), replace=False))
    return _Attacked(again, pair, targets)


PER_CELL, PER_SCORE = 1e-7, 1e-5
"""Seconds per release for every target and class, and for every target."""


def seconds(situation: AttackInput[BipartiteComparison], options: MembershipOptions) -> float:
    """Return about how long it takes, most of it the runs of the method."""
    pair = situation.comparison
    classes = released_classes.classes_in(pair)
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
    f"up to {released_classes.MOST_CELLS:,} distinct rows and features in total",
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
