"""One item of one person, for someone who knows everything else and runs the method again.

A release of the same method that some people are not in: what it tells of them is no leak.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.features.scoring import People, people_of
from graphveil.attacks.registry import run_again, seconds_of_one
from graphveil.attacks.wording import Said
from graphveil.core.errors import GraphveilError
from graphveil.core.parameters import parameter
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Setting
from graphveil.core.text import counted
from graphveil.data import Bipartite, Data, Table
from graphveil.data.ids import Ids, column_and_value
from graphveil.data.kinds import encoded
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError, wilson
from graphveil.release import Release

FEWEST_FEATURES, ONE_OUT_IN = 3, 20
"""People with fewer features are not drawn: about them there is little to learn."""

_PEOPLE_ARE_ITEMS = "items are people, so no one can be excluded without changing the others"


class MethodRerun:
    """The method, run again on what the original was: a table where features are its one-hot ones.

    `situation`: what the attack is computed from. Raises `NotMeasuredError` where this version does
    not know the method, or its parameters lie with an owner's record that is not there.
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


def twin(situation: AttackInput[BipartiteComparison], out: NDArray[np.int64], seed: int) -> People:
    """Return the people of the original beside a release that some of them are not in.

    `situation`: what the attack is computed from; `out`: who is not in it; `seed`: of the run.
    Raises `NotMeasuredError` where the method cannot be run again, or items are people.
    `GraphveilError` where it refuses the smaller data.
    """
    again = MethodRerun(situation)
    pair = situation.comparison
    refuse_people(pair)
    inside = np.setdiff1d(np.arange(pair.original.n_users), out)
    with stage("running the method again"):
        return beside_without(again, pair, inside, seed)


def refuse_people(pair: BipartiteComparison) -> None:
    """Refuse items that are people.

    Raises `NotMeasuredError` where they are.
    """
    if pair.original.items == "people":
        raise NotMeasuredError(_PEOPLE_ARE_ITEMS)


def beside_without(
    again: MethodRerun, pair: BipartiteComparison, inside: NDArray[np.int64], seed: int
) -> People:
    """Return the people of the original beside a release of some of them.

    Raises `GraphveilError` where the method refuses the smaller data.

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
        raise TypeError("a run of a method must return its linkage")
    position = np.full(rows.n_users, -1, dtype=np.int64)
    position[inside] = linkage.positions_of(labels, release.data.labels())
    beside = BipartiteComparison(
        original=rows, released=features_of(release.data), position=None, randomness=randomness
    )
    return people_of(beside, position)


def people_to_leave_out(people: People, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return whom the twin leaves out: few of those with three features or more.

    `people`: the people of the release; `most`: the most to draw; `rng`: draws them. Raises
    `NotMeasuredError` where there are too few.
    """
    known = np.nonzero(people.numbers >= FEWEST_FEATURES)[0]
    number = min(most, people.own.size // ONE_OUT_IN, known.size // 2)
    if number < 1:
        raise NotMeasuredError(
            f"too few rows to exclude some ({counted(people.own.size, 'row')}, "
            f"{known.size} with at "
            f"least {FEWEST_FEATURES} features)"
        )
    drawn: NDArray[np.int64] = np.sort(rng.choice(known, number, replace=False))
    return drawn


GUESS, SEED_UNKNOWN = 0.5, "seed unknown, right guess"
_TRIES = 1_000
_SUPPRESSED = -1


@dataclass(frozen=True, kw_only=True)
class RerunOptions(AttackOptions):
    """How often the method is run."""

    label: ClassVar[str] = "re-run"

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
    whether the true one was guessed under seeds of the adversary.
    """

    person: int
    differs: bool
    right: bool


class Changed(NamedTuple):
    """Data in which one item of one person is another."""

    person: int
    data: Table | Bipartite


def re_run(situation: AttackInput[BipartiteComparison], options: RerunOptions) -> Outcome:
    """Return how often one unknown item is guessed by running the method with either.

    Raises `NotMeasuredError` where the method cannot be run again, items are people, or no item
    could be another.
    """
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
    """Return about how long it takes: that of one run, times the runs.

    The method is run twice on as many people, and the second time counts: the first one may
    compile. 0 where it cannot be run.
    """
    try:
        again, data, _ = _data(situation, options)
    except NotMeasuredError:
        return 0.0
    run, rng = _rows_of_runs(again), situation.rng("re-run: how long it takes")
    one = seconds_of_one(lambda: run(data, int(rng.integers(1 << 62))))
    return options.trials * (2 + 2 * options.releases) * one


def foreseen(situation: AttackInput[BipartiteComparison], options: RerunOptions) -> float:
    """Return about how long it takes, by the run that made the release.

    Raises `NotMeasuredError`: as `re_run`.
    """
    _data(situation, options)
    size = max(situation.comparison.original.size, 1)
    people = min(options.people, size) / size
    return options.trials * (2 + 2 * options.releases) * people * run_again(situation)


def _data(
    situation: AttackInput[BipartiteComparison], options: RerunOptions
) -> tuple[MethodRerun, Table | Bipartite, NDArray[np.int64]]:
    """Return the method, the people whom it is run on, and who of the original they are.

    Raises `NotMeasuredError` where the method cannot be run again, or items are people.
    """
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

    `data`: the release; `numbers`: the number of every feature by its name; new names are added.

    Examples
    --------
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

    Examples
    --------
    >>> overlap(Counter({b"a": 2, b"b": 1}), Counter({b"a": 1, b"c": 2}))
    1
    """
    return (one & other).total()


def with_another_item(data: Table | Bipartite, rng: np.random.Generator) -> Changed:
    """Return the data with one item of one person replaced by one that they do not have.

    `data`: in a table, and in features named ``column=value`` of which everybody has one a column,
    another value of the column is drawn; else another feature. By how often they occur; `rng`:
    draws person and items. Raises `NotMeasuredError` where no item could be replaced.
    """
    for _ in range(_TRIES):
        made = _other_cell(data, rng) if isinstance(data, Table) else _other_feature(data, rng)
        if made is not None:
            return Changed(*made)
    raise NotMeasuredError("no item could be replaced by a different item that occurs in the data")


def _other_cell(table: Table, rng: np.random.Generator) -> tuple[int, Table] | None:
    """Return the table with the value of one cell drawn from another row; None where it is none."""
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
    """Return the data with one entry's feature drawn from another entry; None where it is none."""
    if not data.n_entries:
        return None
    entry = int(rng.integers(data.n_entries))
    person = int(np.searchsorted(data.indptr, entry, side="right")) - 1
    start, end = data.indptr[person : person + 2]
    donors = _alike(data, int(data.indices[entry]))
    new = int(donors[rng.integers(donors.size)])
    if new in data.indices[start:end]:
        return None
    indices = data.indices.copy()
    indices[entry] = new
    indices[start:end].sort()
    return person, dataclasses.replace(data, indices=indices)


def _alike(data: Bipartite, feature: int) -> NDArray[np.int32]:
    """Return the features of all entries that a feature could be replaced by."""
    columns = column_of_features(data)
    if columns is None:
        return data.indices
    donors: NDArray[np.int32] = data.indices[columns[data.indices] == columns[feature]]
    return donors


def column_of_features(data: Bipartite) -> NDArray[np.int64] | None:
    """Return the column of every feature, where features are a table's, one a column and value.

    Examples
    --------
    >>> data = Bipartite.from_lists([["age=3", "sex=f"], ["age=4", "sex=f"]])
    >>> column_of_features(data).tolist()
    [0, 0, 1]
    >>> column_of_features(Bipartite.from_lists([["tea"]])) is None
    True
    """
    names = [str(name) for name in data.feature_labels().tolist()]
    heads = [named[0] for name in names if (named := column_and_value(name))]
    if len(heads) < len(names):
        return None
    columns: NDArray[np.int64] = np.unique(heads, return_inverse=True)[1]
    keys = data.rows().astype(np.int64) * (max(columns, default=0) + 1) + columns[data.indices]
    return columns if np.unique(keys).size == keys.size else None


def _risks(
    trials: list[RerunTrial], drawn: NDArray[np.int64], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
        Said(
            "inferred",
            SEED_UNKNOWN,
            line="which of two items is a person's, guessed by re-running the method",
        ),
    ),
)
"""The entry of this attack."""
