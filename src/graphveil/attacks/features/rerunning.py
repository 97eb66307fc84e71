"""One item of one person, for an attacker who knows all else and runs the method again: `re-run`.

The attacker has the original except one item of one person, which is one of two, and the method
with its parameters. Per trial: (1) replace one item of one random person by one that they do not
have; (2) with the seed known, run the method on both: if the releases differ, the published one
tells which is true; (3) with the seed unknown, run it several times on each and guess the item
whose releases share more rows with the published one. graphveil's own.

Baselines: 0 for releases that differ under one seed, 1/2 for a guess. Intervals: Wilson's over
trials. Data of more than `people` rows is sampled. Cost: 2 + 2 * releases runs per trial, 1,800 by
default.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.features.cells.published_cells import column_of_features
from graphveil.attacks.features.counterfactual import MethodRerun, features_of
from graphveil.attacks.wording import inferred
from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import GraphveilError
from graphveil.core.parameters import parameter
from graphveil.core.progress import stage
from graphveil.core.rows import Setting
from graphveil.data import Bipartite, Table
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError, wilson

GUESS, SEED_UNKNOWN = 0.5, "seed unknown, right guess"
"""What guessing one of two items reaches; and the name of the figure without the seed."""

_TRIES = 1_000
"""How often an item is sampled until it can be replaced, before there is no trial."""

_SUPPRESSED = -1
"""The code of a cell that the original lacks."""


@dataclass(frozen=True, kw_only=True)
class RerunOptions(attack.AttackOptions, label="re-run"):
    """How often the method is run."""

    trials: int = parameter(default=100, text="number of items to guess", minimum=1)
    releases: int = parameter(
        default=8, text=("number of runs of the method for each of the two items"), minimum=1
    )
    people: int = parameter(
        default=2_000, text="number of people to sample from larger data", minimum=2
    )


class RerunTrial(NamedTuple):
    """One item of a person against one that they might have.

    Parameters
    ----------
    person : int
        Who it is.
    differs : bool
        Whether the two give different releases under one seed.
    right : bool
        Whether the true one was guessed under seeds of the attacker.
    """

    person: int
    differs: bool
    right: bool


class Changed(NamedTuple):
    """Data in which one item of one person is a different one."""

    person: int
    data: Table | Bipartite


def re_run(
    situation: attack.AttackInput[BipartiteComparison], options: RerunOptions
) -> attack.Outcome:
    """Return how often one unknown item is guessed by running the method with either."""
    # Sample the rows that the method is run on; trials change one item of one of them.
    again, data, sampled = _data(situation, options)
    rng, n = situation.rng("re-run: trials"), again.original.size
    run = _rows_of_runs(again)
    try:
        with stage("running the method again"):
            trials = [_trial(data, run, options.releases, rng) for _ in range(options.trials)]
    except GraphveilError as error:
        raise NotMeasuredError(str(error)) from error
    setting = Setting(drawn=sampled.size if sampled.size < n else None)
    size, unit = len(trials), "share of trials"
    differs, right = (sum(t.differs for t in trials), sum(t.right for t in trials))
    figures = [
        attack.AttackFigure(
            part, hits / size, unit, guess, sample=wilson(hits, size), setting=setting
        )
        for part, hits, guess in (
            ("seed known, releases differ", differs, 0.0),
            (SEED_UNKNOWN, right, GUESS),
        )
    ]
    return attack.Outcome(figures, *_risks(trials, sampled, n))


def seconds(situation: attack.AttackInput[BipartiteComparison], options: RerunOptions) -> float:
    """Return about how long it takes: that of one run, times the runs."""
    try:
        again, data, _ = _data(situation, options)
    except NotMeasuredError:
        return 0.0
    run, rng = _rows_of_runs(again), situation.rng("re-run: how long it takes")
    seconds_of_run = attack.seconds_of_one(lambda: run(data, int(rng.integers(1 << 62))))
    return options.trials * (2 + 2 * options.releases) * seconds_of_run


def foreseen(situation: attack.AttackInput[BipartiteComparison], options: RerunOptions) -> float:
    """Return about how long it takes, by the run that made the release."""
    _data(situation, options)
    size = max(situation.comparison.original.size, 1)
    people = min(options.people, size) / size
    return options.trials * (2 + 2 * options.releases) * people * attack.run_again(situation)


def _data(
    situation: attack.AttackInput[BipartiteComparison], options: RerunOptions
) -> tuple[MethodRerun, Table | Bipartite, Ints]:
    """Return the method, the people whom it is run on, and who of the original they are."""
    again = MethodRerun(situation)
    if situation.comparison.original.items == "people":
        raise NotMeasuredError("items are people, so their names differ in every run")
    n = again.original.size
    rng = situation.rng("re-run: people")
    sampled = np.sort(rng.choice(n, min(n, options.people), replace=False))
    return again, again.original.permuted(sampled, ids=again.original.labels()[sampled]), sampled


def _trial(
    data: Table | Bipartite,
    run: Callable[[Table | Bipartite, int], Counter[bytes]],
    releases: int,
    rng: np.random.Generator,
) -> RerunTrial:
    """Return what becomes of one item of one person: see the module's docstring."""
    # Step 1: data with either item.
    changed = with_another_item(data, rng)
    either = (data, changed.data)

    def seed() -> int:
        return int(rng.integers(1 << 62))

    # Step 2: both under one seed.
    common = seed()
    published = [run(some, common) for some in either]
    # Step 3: one of the two is published; the attacker's own runs use other seeds. Equal overlaps
    # are a coin flip.
    true = int(rng.integers(2))
    overlaps = [
        sum(overlap(published[true], run(some, seed())) for _ in range(releases)) for some in either
    ]
    guess = int(np.argmax(overlaps)) if overlaps[0] != overlaps[1] else int(rng.integers(2))
    return RerunTrial(changed.person, published[0] != published[1], guess == true)


def _rows_of_runs(again: MethodRerun) -> Callable[[Table | Bipartite, int], Counter[bytes]]:
    """Return a function that runs the method and gives the multiset of released rows."""
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
    # Features are numbered by name over all runs: each run publishes them in an order of its own.
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

    In a table, and for features of columns, a different value of the column is sampled, by how
    often it occurs; else a different feature.
    """
    # Sample an item and a replacement until they differ.
    for _ in range(_TRIES):
        change = _other_cell(data, rng) if isinstance(data, Table) else _other_feature(data, rng)
        if change is not None:
            return Changed(*change)
    raise NotMeasuredError("no item could be replaced by a different item that occurs in the data")


def _other_cell(table: Table, rng: np.random.Generator) -> tuple[int, Table] | None:
    """Return the table with one cell's value from another row; None if it is the old one."""
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
    """Return the data with one entry's feature sampled from another; None if the person has it."""
    if not data.n_entries:
        return None
    # An entry uniformly among all, so that people with many items are chosen more often.
    entry = int(rng.integers(data.n_entries))
    person = int(np.searchsorted(data.indptr, entry, side="right")) - 1
    start, end = data.indptr[person : person + 2]
    # The feature of another entry, of the same column if features belong to columns.
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


def _risks(trials: list[RerunTrial], sampled: Ints, n: int) -> tuple[Floats, Floats]:
    """Return how often everybody's item was guessed right if the seed is not known."""
    people = sampled[[trial.person for trial in trials]]
    number = np.bincount(people, minlength=n)
    right = np.bincount(people, weights=[trial.right for trial in trials], minlength=n)
    with np.errstate(invalid="ignore"):
        return right / np.where(number, number, np.nan), np.where(number, GUESS, np.nan)


RE_RUN = attack.Attack(
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
