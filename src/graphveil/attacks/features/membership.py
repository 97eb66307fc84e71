"""Who took part, for someone who knows a whole row: people inside against people left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.costs import run_again
from graphveil.attacks.features.classes import FALSE_SHARE, People, ReleasedClasses, people_of
from graphveil.attacks.features.scoring import MOST_CELLS, batches, classes_in, scores
from graphveil.attacks.features.twin import FEWEST_FEATURES, people_to_leave_out, twin
from graphveil.attacks.intervals import bootstrap_auc, positives_above
from graphveil.data import Bipartite
from graphveil.errors import GraphveilError
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.parameters import parameter

GUESS = 0.5


@dataclass(frozen=True, kw_only=True)
class MembershipOptions(AttackOptions):
    """How many people are attacked."""

    label: ClassVar[str] = "membership"

    out: int = parameter(
        default=1_000,
        text="the most people that the second release leaves out",
        minimum=1,
        maximum=5_000,
    )


def membership(situation: AttackInput[BipartiteComparison], options: MembershipOptions) -> Outcome:
    """Return how well people who took part are told from people whom a second run left out.

    Raises
    ------
    NotMeasuredError
        Where the method cannot be run again, or people are too few.
    """
    rng = situation.rng("membership: people")
    out = people_to_leave_out(people_of(situation.comparison), options.out, rng)
    try:
        beside = twin(situation, out, int(rng.integers(1 << 62)))
    except GraphveilError as error:
        raise NotMeasuredError(str(error)) from error
    taking_part = np.nonzero((beside.own >= 0) & (beside.numbers >= FEWEST_FEATURES))[0]
    inside = rng.choice(taking_part, min(out.size, taking_part.size), replace=False)
    of_inside, of_out = (likelihoods(beside, people) for people in (inside, out))
    above = positives_above(of_inside, of_out)
    sample = bootstrap_auc(of_inside, of_out, rng)
    risk, baseline = (np.full(beside.own.size, np.nan) for _ in range(2))
    risk[inside], baseline[inside] = above.mean(axis=1), GUESS
    unit = "area under the curve"
    figure = AttackFigure("a whole row", float(above.mean()), unit, GUESS, sample=sample)
    return Outcome([figure], risk, baseline)


PER_CELL, PER_PAIR = 3e-8, 1e-6
"""Seconds for every person and class, and for every pair of people, mostly to draw them again."""


def seconds(situation: AttackInput[BipartiteComparison], options: MembershipOptions) -> float:
    """Return about how long it takes; with it one more run of the method.

    Raises
    ------
    TooLargeError
        Where classes and features are too many.
    """
    pair = situation.comparison
    classes = classes_in(pair)
    out = min(options.out, pair.original.n_users // 20)
    return out * (2 * PER_CELL * classes + PER_PAIR * out) + run_again(situation)


def likelihoods(people: People, whom: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much likelier rows are if their people took part, as logarithms.

    Parameters
    ----------
    people
        Everybody beside the release.
    whom
        int64: the people whose rows are scored.

    Notes
    -----
    The likeliest class explains a row: features in both, features that the row has alone, and
    features that the class shows alone; without the release features are independent.
    """
    classes = people.classes
    items = people.before[whom]
    weights = classes.weights(FALSE_SHARE)
    untrue = np.log1p(-classes.truth)
    shown = np.diff(classes.rows.indptr) * untrue
    best = [
        (scores(items[some], classes, weights - untrue) + shown).max(axis=1)
        for some in batches(whom.size, classes)
    ]
    of_rows: NDArray[np.float64] = np.concatenate(best) + items @ _of_features(classes)
    return of_rows


def _of_features(classes: ReleasedClasses) -> NDArray[np.float64]:
    """Return how much likelier a feature is of who took part and whose class lacks it."""
    _, background = classes.chances(FALSE_SHARE)
    ratio: NDArray[np.float64] = np.log(background) - np.log(classes.frequency)
    return ratio


MEMBERSHIP = Attack(
    name="membership",
    kind=Bipartite,
    knows="a person's whole row, and how true the release is on the whole",
    definition="how often somebody who took part scores higher than somebody whom a second run of "
    "the method left out, ties being a half: the area under the curve",
    source="graphveil's own likelihood ratio",
    needs_linkage=True,
    cost="near-linear, one run of the method, on 1,000 people drawn and 1,000 left out; up to "
    f"{MOST_CELLS:,} distinct rows and features together",
    compute=membership,
    seconds=seconds,
    options=MembershipOptions,
)
"""The entry of this attack."""
