"""One item of one person, for an attacker who knows all else and runs the method again.

Also releases that some people are not in: what these tell of them is not a leak.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    run_again,
    seconds_of_one,
)
from graphveil.attacks.features.scoring import People, people_of
from graphveil.attacks.wording import inferred
from graphveil.core.errors import GraphveilError
from graphveil.core.parameters import parameter
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Setting
from graphveil.core.text import counted
from graphveil.data import Bipartite, Data, Table
from graphveil.data.feature_names import column_and_value
from graphveil.data.ids import Ids
from graphveil.data.kinds import encoded
from graphveil.evaluate.comparison import BipartiteComparison, Floats, Ints
from graphveil.evaluate.metric import NotMeasuredError, wilson
from graphveil.release import Release

FEWEST_FEATURES, ONE_OUT_IN = 3, 20
"""People with fewer features are not drawn: about them there is little to learn."""

_PEOPLE_ARE_ITEMS = "items are people, so no one can be excluded without changing the others"


class MethodRerun:
    """The method, run again on the original: a table where features are its one-hot ones."""

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


def twin(situation: AttackInput[BipartiteComparison], out: Ints, seed: int) -> People:
    """Return the people of the original next to a release that some of them are not in."""
    again = MethodRerun(situation)
    pair = situation.comparison
    refuse_people(pair)
    inside = np.setdiff1d(np.arange(pair.original.n_users), out)
    with stage("running the method again"):
        return beside_without(again, pair, inside, seed)


def refuse_people(pair: BipartiteComparison) -> None:
    """Refuse items that are people."""
    if pair.original.items == "people":
        raise NotMeasuredError(_PEOPLE_ARE_ITEMS)


def beside_without(
    again: MethodRerun, pair: BipartiteComparison, inside: Ints, seed: int
) -> People:
    """Return the people of the original next to a release of some of them."""
    labels = again.original.labels()[inside]
    release = again(again.original.permuted(inside, ids=labels), seed)
    return people_of_run(release, pair.original, inside, labels, pair.randomness)


def people_of_run(
    release: Release[Any], rows: Bipartite, inside: Ints, labels: Ids, randomness: Randomness
) -> People:
    """Return rows next to a release of some of them."""
    linkage = release.private.linkage if release.private else None
    if linkage is None:
        raise TypeError("a run of a method must return its linkage")
    position = np.full(rows.n_users, -1, dtype=np.int64)
    position[inside] = linkage.positions_of(labels, release.data.labels())
    beside = BipartiteComparison.of(rows, features_of(release.data), None, randomness)
    return people_of(beside, position)


def people_to_leave_out(people: People, most: int, rng: np.random.Generator) -> Ints:
    """Return whom the twin omits: few of those with three features or more."""
    known = np.nonzero(people.numbers >= FEWEST_FEATURES)[0]
    number = min(most, people.own.size // ONE_OUT_IN, known.size // 2)
    if number < 1:
        raise NotMeasuredError(
            f"too few rows to exclude some ({counted(people.own.size, 'row')}, {known.size} with "
            f"at least {FEWEST_FEATURES} features)"
        )
    return np.asarray(np.sort(rng.choice(known, number, replace=False)))


GUESS, SEED_UNKNOWN = 0.5, "seed unknown, right guess"
_TRIES = 1_000
_SUPPRESSED = -1


@dataclass(frozen=True, kw_only=True)
class RerunOptions(AttackOptions, label="re-run"):
    """How often the method is run."""

    trials: int = parameter(default=100, text="number of items to guess", minimum=1)
    releases: int = parameter(
        default=8, text=("number of runs of the method for each of the two items"), minimum=1
    )
    people: int = parameter(
        default=2_000, text="number of people to sample from larger data", minimum=2
    )


class RerunTrial(NamedTuple):
    """One item of a person against another that they might have.

    `person`: who it is; `differs`: whether the two give different releases under one seed; `right`:
    whether the true one was guessed under seeds of the attacker.
    """

    person: int
    differs: bool
    right: bool


class Changed(NamedTuple):
    """Data in which one item of one person is another."""

    person: int
    data: Table | Bipartite


def re_run(situation: AttackInput[BipartiteComparison], options: RerunOptions) -> Outcome:
    """Return how often one unknown item is guessed by running the method with either."""
    again, data, drawn = _data(situation, options)
    rng, n = situation.rng("re-run: trials"), again.original.size
    run = _rows_of_runs(again)
    try:
        with stage("running the method again"):
            trials = [_trial(data, run, options.releases, rng) for _ in range(options.trials)]
    except GraphveilError as error:
        raise NotMeasuredError(str(error)) from error
    setting = Setting(drawn=drawn.size if drawn.size < n else None)
    size, unit = len(trials), "share of trials"
    differs, right = (sum(t.differs for t in trials), sum(t.right for t in trials))
    figures = [
        AttackFigure(part, hits / size, unit, guess, sample=wilson(hits, size), setting=setting)
        for part, hits, guess in (
            ("seed known, releases differ", differs, 0.0),
            (SEED_UNKNOWN, right, GUESS),
        )
    ]
    return Outcome(figures, *_risks(trials, drawn, n))


def seconds(situation: AttackInput[BipartiteComparison], options: RerunOptions) -> float:
    """Return about how long it takes: that of one run, times the runs."""
    try:
        again, data, _ = _data(situation, options)
    except NotMeasuredError:
        return 0.0
    run, rng = _rows_of_runs(again), situation.rng("re-run: how long it takes")
    one = seconds_of_one(lambda: run(data, int(rng.integers(1 << 62))))
    return options.trials * (2 + 2 * options.releases) * one


def foreseen(situation: AttackInput[BipartiteComparison], options: RerunOptions) -> float:
    """Return about how long it takes, by the run that made the release."""
    _data(situation, options)
    size = max(situation.comparison.original.size, 1)
    people = min(options.people, size) / size
    return options.trials * (2 + 2 * options.releases) * people * run_again(situation)


def _data(
    situation: AttackInput[BipartiteComparison], options: RerunOptions
) -> tuple[MethodRerun, Table | Bipartite, Ints]:
    """Return the method, the people whom it is run on, and who of the original they are."""
    again = MethodRerun(situation)
    if situation.comparison.original.items == "people":
        raise NotMeasuredError("items are people, so their names differ in every run")
    n = again.original.size
    rng = situation.rng("re-run: people")
    drawn = np.sort(rng.choice(n, min(n, options.people), replace=False))
    return again, again.original.permuted(drawn, ids=again.original.labels()[drawn]), drawn


def _trial(
    data: Table | Bipartite,
    run: Callable[[Table | Bipartite, int], Counter[bytes]],
    releases: int,
    rng: np.random.Generator,
) -> RerunTrial:
    """Return what becomes of one item of one person."""
    changed = with_another_item(data, rng)
    either = (data, changed.data)

    def seed() -> int:
        return int(rng.integers(1 << 62))

    common = seed()
    published = [run(some, common) for some in either]
    true = int(rng.integers(2))
    overlaps = [
        sum(overlap(published[true], run(some, seed())) for _ in range(releases)) for some in either
    ]
    guess = int(np.argmax(overlaps)) if overlaps[0] != overlaps[1] else int(rng.integers(2))
    return RerunTrial(changed.person, published[0] != published[1], guess == true)


def _rows_of_runs(again: MethodRerun) -> Callable[[Table | Bipartite, int], Counter[bytes]]:
    """Return what runs the method and gives the rows of the release, features by their names."""
    numbers: dict[str, int] = {}

    def run(data: Table | Bipartite, seed: int) -> Counter[bytes]:
        return rows_of(features_of(again(data, seed).data), numbers)

    return run


def rows_of(data: Bipartite, numbers: dict[str, int]) -> Counter[bytes]:
    """Return how often every row stands in a release, without the ids of its people.

    >>> data = Bipartite.from_lists([["tea"], ["rye"], ["tea"]])
    >>> sorted(rows_of(data, {}).values())
    [1, 2]
    """
    names = [str(name) for name in data.feature_labels().tolist()]
    number = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int32)
    features, rows = number[data.indices], data.rows()
    features = features[np.lexsort((features, rows))]
    ends = data.indptr.tolist()
    return Counter(features[a:b].tobytes() for a, b in pairwise(ends))


def overlap(one: Counter[bytes], other: Counter[bytes]) -> int:
    """Return how many rows two releases have in common, equal ones one by one.

    >>> overlap(Counter({b"a": 2, b"b": 1}), Counter({b"a": 1, b"c": 2}))
    1
    """
    return (one & other).total()


def with_another_item(data: Table | Bipartite, rng: np.random.Generator) -> Changed:
    """Return the data with one item of one person replaced by one that they do not have.

    In a table, and in features of columns, another value of the column is drawn, by how often it
    occurs; else another feature.
    """
    for _ in range(_TRIES):
        made = _other_cell(data, rng) if isinstance(data, Table) else _other_feature(data, rng)
        if made is not None:
            return Changed(*made)
    raise NotMeasuredError("no item could be replaced by a different item that occurs in the data")


def _other_cell(table: Table, rng: np.random.Generator) -> tuple[int, Table] | None:
    """Return the table with one cell's value drawn from another row; None if it is the old one."""
    n, width = table.codes.shape
    if not n or not width:
        return None
    row, donor, column = int(rng.integers(n)), int(rng.integers(n)), int(rng.integers(width))
    old, new = table.codes[row, column], table.codes[donor, column]
    if old == new or _SUPPRESSED in (old, new):
        return None
    codes = table.codes.copy()
    codes[row, column] = new
    return row, dataclasses.replace(table, codes=codes)


def _other_feature(data: Bipartite, rng: np.random.Generator) -> tuple[int, Bipartite] | None:
    """Return the data with one entry's feature drawn from another; None if it is the old one."""
    if not data.n_entries:
        return None
    entry = int(rng.integers(data.n_entries))
    person = int(np.searchsorted(data.indptr, entry, side="right")) - 1
    start, end = data.indptr[person : person + 2]
    donors, columns = data.indices, column_of_features(data)
    if columns is not None:
        donors = donors[columns[donors] == columns[donors[entry]]]
    new = int(donors[rng.integers(donors.size)])
    if new in data.indices[start:end]:
        return None
    indices = data.indices.copy()
    indices[entry] = new
    indices[start:end].sort()
    return person, dataclasses.replace(data, indices=indices)


def column_of_features(data: Bipartite) -> Ints | None:
    """Return the column of every feature, if features are a table's, one per column and value."""
    names = [str(name) for name in data.feature_labels().tolist()]
    heads = [named[0] for name in names if (named := column_and_value(name))]
    if len(heads) < len(names):
        return None
    columns: Ints = np.unique(heads, return_inverse=True)[1]
    keys = data.rows().astype(np.int64) * (max(columns, default=0) + 1) + columns[data.indices]
    return columns if np.unique(keys).size == keys.size else None


def _risks(trials: list[RerunTrial], drawn: Ints, n: int) -> tuple[Floats, Floats]:
    """Return how often everybody's item was guessed right where the seed is not known."""
    people = drawn[[trial.person for trial in trials]]
    number = np.bincount(people, minlength=n)
    right = np.bincount(people, weights=[trial.right for trial in trials], minlength=n)
    with np.errstate(invalid="ignore"):
        return right / np.where(number, number, np.nan), np.where(number, GUESS, np.nan)


RE_RUN = Attack(
    name="re-run",
    kind=Bipartite,
    knows="the complete original except one item of one person, which is one of two, and the "
    "method with its parameters; with and without its seed",
    definition="how often the two items give different releases with the same seed; and how "
    "often the true item is guessed if the seed is unknown. The guess is the item "
    "whose releases share more rows with the published one on average",
    source="graphveil's own",
    needs_linkage=False,
    cost="heavy, 1,800 runs of the method, on at most 2,000 people (sampled from larger data)",
    compute=re_run,
    seconds=seconds,
    foreseen=foreseen,
    options=RerunOptions,
    by_name=True,
    said=(
        inferred(
            SEED_UNKNOWN, line="which of two items is a person's, guessed by re-running the method"
        ),
    ),
)
