"""Which of two items is a person's, for an attacker who knows all others: `item-membership`.

Two attackers. The first has the release alone: (1) of each target all items but one are known; (2)
the item is compared with one the person does not have, sampled by popularity, by the chance that
the release gives to each (`released_classes.chances`); (3) the area under the curve over all pairs
of people says how often the true item of one scores above the false item of another; (4) the same
on a release that excludes the targets, since much of it is known of people who are not in the data.
The second attacker also knows all other people's items and runs the method on data with either item
(`swapped_items.py`), with likelihood ratios after Carlini et al., 2022.

Baselines: the area by frequencies of the items alone, and 1/2. Intervals:
`intervals.of_paired_area`, and those of `likelihood_ratio.py`. The likelihood of the first attacker
is graphveil's own. Cost: one run of the method per release, 24 by default, and one for the excluded
people; targets times classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.features import counterfactual, released_classes
from graphveil.attacks.features.counterfactual import TWIN
from graphveil.attacks.features.linkage import popular_items
from graphveil.attacks.features.swapped_items import BY_RELEASES, ONE_IN, EitherItem, swapped
from graphveil.attacks.intervals import of_paired_area, positives_above
from graphveil.attacks.likelihood_ratio import FEWEST_RELEASES, GUESS, SHADOWS
from graphveil.attacks.row_selection import Taken
from graphveil.attacks.wording import inferred
from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import GraphveilError
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time
from graphveil.core.rows import Row
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison, sparse
from graphveil.evaluate.metric import NotMeasuredError

INSIDE, LEFT_OUT = "one item of people inside", "one item of people left out"
"""What is asked by the release alone, about people in it and about people whom it excludes."""


@dataclass(frozen=True, kw_only=True)
class ItemMembershipOptions(attack.AttackOptions, label="item-membership"):
    """How many people are attacked, and by how many releases."""

    targets: int = parameter(
        default=500, text="number of people to attack, with one item each", minimum=1, maximum=5_000
    )
    shadows: int = parameter(
        default=SHADOWS,
        text="number of releases of data in which a random half of these items are replaced; 0 for "
        "none",
        minimum=0,
        maximum=1_000,
    )


class ChallengedPairs(NamedTuple):
    """What the attacker knows of some people, and asks.

    Parameters
    ----------
    people : int64, shape (targets,)
        Who they are.
    known : sparse float64 array of ones, shape (targets, features)
        All their items but one.
    item, other : int64, shape (targets,)
        The item that is not known, and one that they do not have.
    """

    people: Ints
    known: sparse.csr_array
    item: Ints
    other: Ints


def item_membership(
    situation: attack.AttackInput[BipartiteComparison], options: ItemMembershipOptions
) -> attack.Outcome:
    """Return how well an item that a person has is distinguished from one that they do not have.

    By the release alone, and by what releases of data with either item teach about it. A person's
    risk is the larger of both.
    """
    # Attacker 1, on people in the release.
    people = released_classes.people_of(situation.comparison)
    rng = situation.rng("item-membership")
    asked = asked_of(people, rng.permutation(people.own.size), options.targets, rng)
    figures = list(_figures(INSIDE, asked, people))
    missing = {}
    # The same on people whom a second run excludes.
    try:
        out = counterfactual.people_to_exclude(people, options.targets, rng)
        excluded = counterfactual.without_people(situation, out, int(rng.integers(1 << 62)))
        asked_out = asked_of(excluded, rng.permutation(out), options.targets, rng)
        figures.extend(_figures(LEFT_OUT, asked_out, excluded))
    except (NotMeasuredError, GraphveilError) as error:
        missing[TWIN] = str(error)
    # Everybody's risk: how often their item scores above other people's false ones.
    risk, baseline = (np.full(people.own.size, np.nan) for _ in range(2))
    risk[asked.people] = _above(asked, people).mean(axis=1)
    baseline[asked.people] = _above_by_frequency(asked, people).mean(axis=1)
    # Attacker 2: releases with either item.
    try:
        rng = situation.rng("item-membership: releases")
        work = _either(situation, options, rng)
        learned, risks = work.distinguished(options.shadows, rng)
        targets = work.data.people
        figures.extend(learned)
        risk[targets] = np.fmax(risk[targets], risks)
        baseline[targets] = np.fmax(baseline[targets], GUESS)
    except NotMeasuredError as error:
        missing[BY_RELEASES] = str(error)
    return attack.Outcome(figures, risk, baseline, missing)


def _either(
    situation: attack.AttackInput[BipartiteComparison],
    options: ItemMembershipOptions,
    rng: np.random.Generator,
) -> EitherItem:
    """Return what makes the releases, for people sampled from those with some features."""
    # Targets are people with some items, few enough that the data stays as it is.
    if options.shadows < FEWEST_RELEASES:
        raise NotMeasuredError(
            f"{options.shadows} shadow releases are too few; {FEWEST_RELEASES} are needed. Use "
            f"--item-membership.shadows {SHADOWS} (default {SHADOWS})"
        )
    pair, again = situation.comparison, counterfactual.MethodRerun(situation)
    counterfactual.refuse_people(pair)
    known = np.flatnonzero(np.diff(pair.before.indptr) >= counterfactual.FEWEST_FEATURES)
    most = min(options.targets, pair.original.n_users // ONE_IN)
    data = swapped(again.original, rng.permutation(known), most, rng)
    features = counterfactual.features_of(data.rows)
    return EitherItem(again, data, features, again.original.labels(), pair.randomness)


def asked_of(
    people: released_classes.People, order: Ints, targets: int, rng: np.random.Generator
) -> ChallengedPairs:
    """Return what is asked about the first people in an order, see `ChallengedPairs`."""
    # People with some items, and who lack one that others have.
    used = int(np.count_nonzero(np.bincount(people.before.indices)))
    numbers = people.numbers[order]
    chosen = order[(numbers >= counterfactual.FEWEST_FEATURES) & (numbers < used)][:targets]
    if not chosen.size:
        raise NotMeasuredError(
            f"no one has at least {counterfactual.FEWEST_FEATURES} items and lacks one that others "
            "have"
        )
    item, other = (np.empty(chosen.size, dtype=np.int64) for _ in range(2))
    known = people.before[chosen].copy()
    for number, person in enumerate(in_time(chosen.tolist())):
        # The item asked about is taken off what is known.
        own = people.row(person)
        item[number] = rng.choice(own)
        other[number] = popular_items(people, own, 1, rng)[0]
        start, end = known.indptr[number : number + 2]
        known.data[start:end] = known.indices[start:end] != item[number]
    known.eliminate_zeros()
    return ChallengedPairs(chosen, known, item, other)


def _above(asked: ChallengedPairs, people: released_classes.People) -> Floats:
    """Return whether each person's item scores above each other item; equal scores are a half.

    float64, shape (targets, targets).
    """
    classes = people.classes
    own, other = (
        released_classes.chances(asked.known, items, classes) for items in (asked.item, asked.other)
    )
    return positives_above(own, other)


def _above_by_frequency(asked: ChallengedPairs, people: released_classes.People) -> Floats:
    """Return the same by how frequent the items are in the release, for every target."""
    frequency = people.classes.frequency
    return positives_above(frequency[asked.item], frequency[asked.other])


def _figures(
    name: str, asked: ChallengedPairs, people: released_classes.People
) -> Iterator[attack.AttackFigure]:
    """Yield the area under the curve, compared with that of the items' frequencies."""
    above = _above(asked, people)
    area, by_frequency = float(above.mean()), float(_above_by_frequency(asked, people).mean())
    unit, sample = "area under the curve", of_paired_area(above)
    yield attack.AttackFigure(name, area, unit, by_frequency, sample=sample)


PER_CELL, PER_PAIR = 4.5e-8, 4e-8
"""Seconds for every target and class, and for every pair of targets."""

PER_SHADOW_CELL, PER_SCORE = 4e-7, 2e-5
"""Seconds per release for every target and class, and for every target."""


def seconds(
    situation: attack.AttackInput[BipartiteComparison], options: ItemMembershipOptions
) -> float:
    """Return about how long it takes, most of it the runs of the method."""
    pair = situation.comparison
    # The release alone: scores of targets against classes, and all pairs of targets; then the runs.
    classes = released_classes.classes_in(pair)
    targets = min(options.targets, pair.original.n_users)
    out = min(options.targets, pair.original.n_users // counterfactual.ONE_OUT_IN)
    alone = attack.run_again(situation)
    alone += sum(some * (PER_CELL * classes + PER_PAIR * some) for some in (targets, out))
    rng = situation.rng("item-membership: how long it takes")
    try:
        work = _either(situation, options, rng)
    except NotMeasuredError:
        return alone
    alone += options.shadows * work.size * (PER_SHADOW_CELL * classes + PER_SCORE)
    return alone + work.seconds(situation, options.shadows, rng)


def _telling_more(fitting: Sequence[Row], every: Sequence[Row]) -> Iterator[Taken]:
    """Yield what the release alone tells, unless making releases tells as much.

    Much of the former may be known of excluded people, too, so it does not replace the other.
    """
    # The stronger of both attackers is shown.
    of = {row.figure: row.value or 0.0 for row in every}
    alone = of.get(INSIDE, 0.0)
    if BY_RELEASES not in of or alone > of[BY_RELEASES]:
        yield from map(Taken, fitting)


ITEM_MEMBERSHIP = attack.Attack(
    name="item-membership",
    kind=Bipartite,
    knows="all items of a person except one, and how accurate the release is overall; or also "
    "the items of all others, the two items of which one is the person's, and the method "
    "with its parameters",
    definition="how often an item that one person has scores higher than an item, sampled by "
    "popularity, that another person does not have; equal scores count half (area under the "
    "curve). Compared with the items' frequencies alone, and with people whom a second run "
    "excludes. With releases of data with either item: how often a person with the item scores "
    "higher than one with the other item. Also the share found at 1% and 0.1% false-positive rates",
    source="graphveil's own likelihood; likelihood ratio: Carlini et al., Membership inference "
    "attacks from first principles, 2022",
    cost=f"{SHADOWS + 1} runs of the method, on 500 sampled people, at most one in {ONE_IN}; up "
    f"to {released_classes.MOST_CELLS:,} distinct rows and features in total",
    compute=item_membership,
    options=ItemMembershipOptions,
    said=(
        inferred(
            INSIDE,
            does="tests for one item of a person",
            line="which of two items is a person's",
            label="one item",
            says="given one person who has the item and one who does not, the right one is "
            "recognized {n} times",
            left_out=LEFT_OUT,
            take=_telling_more,
        ),
        inferred(LEFT_OUT, line="the same, for people who are not in the data", take=_telling_more),
        inferred(
            BY_RELEASES,
            does="knows everything else, tests which of two items a person has, and runs the "
            "method",
            line="which of two items is a person's, everything else known",
            label="one of two items",
            says="between a person with the item and one with the other item, the correct one is "
            "chosen {n} times",
            if_measured=True,
        ),
        inferred(
            f"{BY_RELEASES}, found at 1% false alarms",
            line="people whose item is found at a 1% false-positive rate",
        ),
    ),
    seconds=seconds,
    shorter=ItemMembershipOptions(shadows=0),
)
