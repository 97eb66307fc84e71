"""Which of two items is a person's, to an attacker who knows all the rest and runs it again.

Every release is made of data in which a random half of some people have an item of theirs, and the
others one that they do not have in its place: see `graphveil.attacks.likelihood_ratio`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    run_again,
)
from graphveil.attacks.features import rerunning
from graphveil.attacks.features.linkage import TWIN, popular_items
from graphveil.attacks.features.membership import evidence
from graphveil.attacks.features.scoring import (
    MOST_CELLS,
    People,
    ReleasedClasses,
    chances,
    classes_in,
    people_of,
)
from graphveil.attacks.intervals import of_paired_area, positives_above
from graphveil.attacks.likelihood_ratio import (
    FEWEST_RELEASES,
    GUESS,
    SHADOWS,
    ShadowReleases,
    ShadowSplit,
)
from graphveil.attacks.wording import Taken, inferred
from graphveil.core.errors import GraphveilError
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row
from graphveil.core.text import counted
from graphveil.data import Bipartite, Table
from graphveil.data.ids import Ids
from graphveil.evaluate.comparison import BipartiteComparison, Bools, Floats, Ints, sparse
from graphveil.evaluate.metric import NotMeasuredError

FEWEST_PEOPLE, ONE_IN = 20, 5
"""People who are asked about: so many at least, and at most one in so many, so that the data stays
what it is."""

CHOICES = ([0], [1], [2], [4], [0, 1], [0, 3], [1, 3, 5], [3, 5], [4, 6], [0, 3, 5])
"""Scores that are used together: see `seen_of`."""

_TRIES = 50
"""So often another item is drawn, until it is one that the person does not have."""


class Swapped(NamedTuple):
    """The data, and behind its rows those of some people once more, each with another item.

    `rows`: a table or users by features: n people, then the targets; `people`: int64, shape
    (targets,): who they are, ascending.
    """

    rows: Table | Bipartite
    people: Ints

    def of_half(self, own: Bools) -> Ints:
        """Return the rows of data in which these targets have their own item."""
        n = self.rows.size - self.people.size
        rows = np.arange(n)
        rows[self.people[~own]] = n + np.flatnonzero(~own)
        return rows


def swapped(data: Table | Bipartite, order: Ints, most: int, rng: np.random.Generator) -> Swapped:
    """Return the data with another item of some people: of tables another value of the column.

    >>> data = Table.from_columns({"sex": ["f", "m"] * 30})
    >>> made = swapped(data, np.arange(60), 20, np.random.Generator(np.random.PCG64(1)))
    >>> made.rows.codes[60:62, 0].tolist(), data.codes[:2, 0].tolist()
    ([1, 0], [0, 1])
    """
    draw = _OtherCell(data) if isinstance(data, Table) else _OtherFeature(data)
    changes: dict[int, tuple[int, int]] = {}
    for person in in_time(order.tolist()):
        change = draw(person, rng)
        if change is not None:
            changes[person] = change
        if len(changes) == most:
            break
    if len(changes) < FEWEST_PEOPLE:
        raise NotMeasuredError(
            f"only {counted(len(changes), 'row')} can be tested (at most one in {ONE_IN}); "
            f"{FEWEST_PEOPLE} are needed"
        )
    people = np.array(sorted(changes))
    n = data.size
    rows = data.permuted(np.concatenate([np.arange(n), people]))
    where = np.array([changes[person] for person in people.tolist()])
    if isinstance(rows, Table):
        codes = rows.codes.copy()
        codes[n + np.arange(people.size), where[:, 0]] = where[:, 1]
        return Swapped(dataclasses.replace(rows, codes=codes), people)
    indices = rows.indices.copy()
    for number, (place, feature) in enumerate(where.tolist()):
        start, end = rows.indptr[n + number : n + number + 2]
        indices[start + place] = feature
        indices[start:end].sort()
    return Swapped(dataclasses.replace(rows, indices=indices), people)


class _OtherCell:
    """Draws a column and another value of it, as often as it occurs."""

    def __init__(self, table: Table) -> None:
        """Keep the cells."""
        self._codes = table.codes

    def __call__(self, person: int, rng: np.random.Generator) -> tuple[int, int] | None:
        """Return the column and the code of the value; None where there is none."""
        n, width = self._codes.shape
        for _ in range(_TRIES if width else 0):
            column, donor = int(rng.integers(width)), int(rng.integers(n))
            own, other = self._codes[[person, donor], column].tolist()
            if own != other and own >= 0 and other >= 0:
                return column, other
        return None


class _OtherFeature:
    """Draws an entry of a person and a feature in its place, of the same column if it has one."""

    def __init__(self, data: Bipartite) -> None:
        """Find which features are of which column."""
        self._data, self._columns = data, rerunning.column_of_features(data)

    def __call__(self, person: int, rng: np.random.Generator) -> tuple[int, int] | None:
        """Return the entry's place in the row and the other feature; None where there is none."""
        data = self._data
        own = data.row(person)
        for _ in range(_TRIES if own.size else 0):
            place = int(rng.integers(own.size))
            other = int(data.indices[rng.integers(data.indices.size)])
            alike = self._columns is None or self._columns[other] == self._columns[own[place]]
            if alike and other not in own:
                return place, other
        return None


BY_RELEASES = "one of two items"
INSIDE, LEFT_OUT = "one item of people inside", "one item of people left out"
"""What is asked of those of whose releases an attacker makes some."""


@dataclass(frozen=True)
class EitherItem(ShadowReleases):
    """Makes releases of data in which targets have one item or the other, and scores both."""

    choices = CHOICES
    words = (BY_RELEASES, "share of people")

    again: rerunning.MethodRerun
    data: Swapped
    features: Bipartite
    """The same rows as users by features."""
    labels: Ids
    randomness: Randomness

    @property
    def size(self) -> int:
        """How many people have another item in half of the releases."""
        return self.data.people.size

    def __call__(self, half: ShadowSplit) -> Floats:
        """Return what a release says of every target: see `seen_of`."""
        rows = self.data.of_half(half.inside)
        release = self.again(self.data.rows.permuted(rows, ids=self.labels), half.seed)
        people = rerunning.people_of_run(release, self.features, rows, self.labels, self.randomness)
        n, before = rows.size, people.before
        own, other = before[self.data.people], before[n:]
        return seen_of(own, other, people.classes, self.size / n)


def seen_of(
    own: sparse.csr_array, other: sparse.csr_array, classes: ReleasedClasses, share: float
) -> Floats:
    """Return by how much a release speaks for the first rows and against the second.

    Rows differ by one item each; `share` is how many of all people these are.
    """
    common = sparse.csr_array(own.multiply(other))
    first, second = (sparse.csr_array(some - common) for some in (own, other))
    for some in (common, first, second):
        some.eliminate_zeros()
        some.sort_indices()
    shown = np.column_stack([chances(common, some.indices, classes) for some in (first, second)])
    seen = np.log(shown[:, :1]) - np.log(shown[:, 1:])
    return np.hstack([seen, evidence(own, classes, share) - evidence(other, classes, share)])


@dataclass(frozen=True, kw_only=True)
class ItemMembershipOptions(AttackOptions, label="item-membership"):
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

    `people`: int64, shape (targets,): who they are; `known`: float64 ones, targets by features: all
    their items but one; `item, other`: int64, shape (targets,): the item that is not known, and one
    that they do not have.
    """

    people: Ints
    known: sparse.csr_array
    item: Ints
    other: Ints


def item_membership(
    situation: AttackInput[BipartiteComparison], options: ItemMembershipOptions
) -> Outcome:
    """Return how well an item that a person has is distinguished from one that they do not have.

    By the release alone, and by what releases of data with either item teach of it.
    """
    people = people_of(situation.comparison)
    rng = situation.rng("item-membership")
    asked = asked_of(people, rng.permutation(people.own.size), options.targets, rng)
    figures = list(_figures(INSIDE, asked, people))
    missing = {}
    try:
        out = rerunning.people_to_leave_out(people, options.targets, rng)
        beside = rerunning.twin(situation, out, int(rng.integers(1 << 62)))
        asked_out = asked_of(beside, rng.permutation(out), options.targets, rng)
        figures.extend(_figures(LEFT_OUT, asked_out, beside))
    except (NotMeasuredError, GraphveilError) as error:
        missing[TWIN] = str(error)
    risk, baseline = (np.full(people.own.size, np.nan) for _ in range(2))
    risk[asked.people] = _above(asked, people).mean(axis=1)
    baseline[asked.people] = _above_by_frequency(asked, people).mean(axis=1)
    try:
        rng = situation.rng("item-membership: releases")
        work = _either(situation, options, rng)
        learned, risks = work.told_apart(options.shadows, rng)
        targets = work.data.people
        figures.extend(learned)
        risk[targets] = np.fmax(risk[targets], risks)
        baseline[targets] = np.fmax(baseline[targets], GUESS)
    except NotMeasuredError as error:
        missing[BY_RELEASES] = str(error)
    return Outcome(figures, risk, baseline, missing)


def _either(
    situation: AttackInput[BipartiteComparison],
    options: ItemMembershipOptions,
    rng: np.random.Generator,
) -> EitherItem:
    """Return what makes the releases, of people drawn among those with some features."""
    if options.shadows < FEWEST_RELEASES:
        raise NotMeasuredError(
            f"{options.shadows} shadow releases are too few; {FEWEST_RELEASES} are needed. Use "
            f"--item-membership.shadows {SHADOWS} (default {SHADOWS})"
        )
    pair, again = situation.comparison, rerunning.MethodRerun(situation)
    rerunning.refuse_people(pair)
    known = np.flatnonzero(np.diff(pair.before.indptr) >= rerunning.FEWEST_FEATURES)
    most = min(options.targets, pair.original.n_users // ONE_IN)
    data = swapped(again.original, rng.permutation(known), most, rng)
    features = rerunning.features_of(data.rows)
    return EitherItem(again, data, features, again.original.labels(), pair.randomness)


def asked_of(
    people: People, order: Ints, targets: int, rng: np.random.Generator
) -> ChallengedPairs:
    """Return what is asked of the first people in an order."""
    used = int(np.count_nonzero(np.bincount(people.before.indices)))
    numbers = people.numbers[order]
    chosen = order[(numbers >= rerunning.FEWEST_FEATURES) & (numbers < used)][:targets]
    if not chosen.size:
        raise NotMeasuredError(
            f"no one has at least {rerunning.FEWEST_FEATURES} items and lacks one that others have"
        )
    item, other = (np.empty(chosen.size, dtype=np.int64) for _ in range(2))
    known = people.before[chosen].copy()
    for number, person in enumerate(in_time(chosen.tolist())):
        own = people.row(person)
        item[number] = rng.choice(own)
        other[number] = popular_items(people, own, 1, rng)[0]
        start, end = known.indptr[number : number + 2]
        known.data[start:end] = known.indices[start:end] != item[number]
    known.eliminate_zeros()
    return ChallengedPairs(chosen, known, item, other)


def _above(asked: ChallengedPairs, people: People) -> Floats:
    """Return whether everybody's item scores above everybody's other; equal scores are a half."""
    classes = people.classes
    own, other = (chances(asked.known, items, classes) for items in (asked.item, asked.other))
    return positives_above(own, other)


def _above_by_frequency(asked: ChallengedPairs, people: People) -> Floats:
    """Return the same by how frequent the items are in the release, for every target."""
    frequency = people.classes.frequency
    return positives_above(frequency[asked.item], frequency[asked.other])


def _figures(name: str, asked: ChallengedPairs, people: People) -> Iterator[AttackFigure]:
    """Yield the area under the curve, compared with that of the items' frequencies."""
    above = _above(asked, people)
    area, by_frequency = float(above.mean()), float(_above_by_frequency(asked, people).mean())
    unit, sample = "area under the curve", of_paired_area(above)
    yield AttackFigure(name, area, unit, by_frequency, sample=sample)


PER_CELL, PER_PAIR = 4.5e-8, 4e-8
"""Seconds for every target and class, and for every pair of targets."""

PER_SHADOW_CELL, PER_SCORE = 4e-7, 2e-5
"""Seconds for every target, class and release, and for every target and release."""


def seconds(situation: AttackInput[BipartiteComparison], options: ItemMembershipOptions) -> float:
    """Return about how long it takes, most of it the runs of the method."""
    pair = situation.comparison
    classes = classes_in(pair)
    targets = min(options.targets, pair.original.n_users)
    out = min(options.targets, pair.original.n_users // rerunning.ONE_OUT_IN)
    alone = run_again(situation)
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

    Much of the former may be known of people who were omitted, so it is not in place of the other.
    """
    of = {row.figure: row.value or 0.0 for row in every}
    alone = of.get(INSIDE, 0.0)
    if BY_RELEASES not in of or alone > of[BY_RELEASES]:
        yield from map(Taken, fitting)


ITEM_MEMBERSHIP = Attack(
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
    f"to {MOST_CELLS:,} distinct rows and features in total",
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
