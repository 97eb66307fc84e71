"""Whose record is whose, to an attacker with the original: candidates and their chances.

A record of a table with suppressed cells fits a person where each of its other cells is that
person's. The attacker counts the full assignments of records to people that fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    Rerun,
    TooLargeError,
    run_again,
)
from graphveil.attacks.intervals import bootstrap_mean
from graphveil.attacks.likelihood_ratio import shadow_results
from graphveil.attacks.wording import linked, of_equal_rows, singled_out
from graphveil.core.errors import GraphveilError
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time, stage
from graphveil.core.rows import Setting
from graphveil.data import Table
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import Floats, Int32s, Ints, TableComparison
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.measures.matchings import (
    NodePairs,
    Posteriors,
    allowed,
    given_records,
    hits_of,
    log_chances,
    posteriors,
)
from graphveil.release import Release
from graphveil.verify.recount.rows.fitting_pairs import CodedCells, fitting_persons, members

MOST_ROWS, MOST_PAIRS = 20_000, 3_000_000
"""Up to so many rows, and pairs of a record and a person that fit, chances are computed."""

SMALLER = "Use a release with fewer rows"

MOST_PEOPLE = 3_000
"""Up to so many people: the assignment looks at all of them with all records."""

SLACK = 1e-5
"""How far a chance may lie above one in the level: estimates are rounded."""

RIGHT = "right guess"

RERUNS = 8

DRAWS = 10
_BLOCK = 1 << 16


@dataclass(frozen=True, kw_only=True)
class MatchingOptions(AttackOptions, label="matching"):
    """How often the method is run again."""

    reruns: int = parameter(
        default=RERUNS,
        text=f"number of runs of the method; one if there are more than {MOST_PEOPLE:,} rows",
        minimum=1,
        maximum=100,
    )


def matching(situation: AttackInput[TableComparison], options: MatchingOptions) -> Outcome:
    """Return how likely people's own records are: alone, with known pairs, by a re-run."""
    pair = situation.comparison
    pairs = _fitting(pair)
    with stage("counting assignments"):
        found = posteriors(pairs)
    chances = found.true_pairs()
    figures = [
        *_chances(found, chances, situation.levels),
        *_candidates(found, situation.levels),
        *_known_pairs(pairs, situation),
    ]
    missing = {}
    try:
        figures.extend(_again(found.pairs, situation, options.reruns))
    except (NotMeasuredError, GraphveilError) as error:
        missing[Setting(times=1).part(RIGHT)] = str(error)
    return Outcome(figures, chances, np.full(chances.size, 1 / chances.size), missing)


def _fitting(pair: TableComparison) -> NodePairs:
    """Return which records fit which persons, record i being that of person i."""
    n = pair.original.n_rows
    if n == 0:
        raise NotMeasuredError("the data has no rows")
    _refuse_changed(pair)
    masks = fitting_persons(CodedCells(pair.after[pair.linked], pair.before))
    numbers = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
    if numbers.sum() > MOST_PAIRS:
        raise TooLargeError(
            f"{int(numbers.sum()):,} consistent pairs exceed the limit of {MOST_PAIRS:,}. {SMALLER}"
        )
    indptr = np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64)
    return NodePairs(indptr, np.concatenate([members(mask) for mask in masks]))


def _refuse_changed(pair: TableComparison) -> None:
    """Refuse records that do not fit their owners: no assignment is then consistent."""
    records = pair.after[pair.linked]
    if not ((records == pair.before) | (records < 0)).all():
        raise NotMeasuredError(
            "some records do not fit their owners, because cells were changed and not only "
            "suppressed"
        )


PER_CELL, PER_PAIR, TRIED = 3e-9, 2e-5, 200
"""Seconds for every pair of rows and column, and for every pair that fits; by how many records the
number of these is judged."""


def seconds(situation: AttackInput[TableComparison], options: MatchingOptions) -> float:
    """Return about how long it takes; with it the runs of the method."""
    pair = situation.comparison
    n = pair.original.n_rows
    if n > MOST_ROWS:
        raise TooLargeError(f"{n:,} rows exceed the limit of {MOST_ROWS:,}. {SMALLER}")
    if n == 0:
        return 0.0
    _refuse_changed(pair)
    tried = pair.after[:: max(n // TRIED, 1)]
    fitting = [int(((row == pair.before) | (row < 0)).all(axis=1).sum()) for row in tried]
    pairs = min(sum(fitting) / len(fitting) * n, MOST_PAIRS)
    cells = n * n * len(pair.released.columns)
    runs = options.reruns if n <= MOST_PEOPLE else 1
    return PER_CELL * cells + PER_PAIR * pairs + runs * run_again(situation)


def _chances(found: Posteriors, chances: Floats, levels: Ints | None) -> Iterator[AttackFigure]:
    """Yield how likely the true pairs are, and the pairs that the attacker would guess."""
    rough = not found.exact
    guess = 1 / chances.size
    unit = "probability"
    best = found.best_guesses()
    yield AttackFigure("true pair, mean", float(chances.mean()), unit, guess, estimated=rough)
    yield AttackFigure("true pair, largest", float(chances.max()), unit, guess, estimated=rough)
    if levels is not None:
        above = chances > 1 / levels + SLACK
        before = guess > 1 / levels + SLACK
        part = "true pair above 1/level"
        yield AttackFigure(
            part, float(above.mean()), "share of people", float(before.mean()), estimated=rough
        )
    yield AttackFigure("best guess, mean", float(best.mean()), unit, guess, estimated=rough)


def _candidates(found: Posteriors, levels: Ints | None) -> Iterator[AttackFigure]:
    """Yield how many records people could own."""
    number = np.bincount(found.pairs.indices, minlength=found.pairs.n)
    n = found.pairs.n
    for part, value in (("fewest", number.min()), ("mean", number.mean())):
        name = f"allowed records, {part}"
        yield AttackFigure(name, float(value), "records", n, direction="higher is better")
    if levels is not None:
        short = float((number < levels).mean())
        yield AttackFigure("allowed records, short", short, "share of people", 0.0)
    if levels is not None and (levels != levels[0]).any():
        short = short_where_levels_are_known(found.pairs, levels)
        yield AttackFigure("levels known, short", short, "share of people", 0.0)


def short_where_levels_are_known(every: NodePairs, levels: Ints) -> float:
    """Return the share of people below their level for an attacker who knows all levels.

    A record belongs to nobody who asked for more people than it could belong to.
    """
    of_record = np.diff(every.indptr)[every.records]
    kept = (levels[every.indices] <= of_record) | (every.indices == every.records)
    sizes = np.bincount(every.records[kept], minlength=every.n)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rest = allowed(NodePairs(indptr, every.indices[kept]))
    return float((np.bincount(rest.indices, minlength=every.n) < levels).mean())


class _Drawn(NamedTuple):
    """What is left where some pairs are known: people below, of how many, and the least margin."""

    below: int
    people: int
    margin: int


def _known_pairs(
    pairs: NodePairs, situation: AttackInput[TableComparison]
) -> Iterator[AttackFigure]:
    """Yield what becomes of levels, less the number of known pairs, where 1 to 3 are known."""
    levels, n = situation.levels, pairs.n
    if levels is None:
        return
    rng = situation.comparison.randomness.stream("matching: known pairs")
    every = allowed(pairs)
    for number in range(1, min(3, n - 1) + 1):
        for who in ("known", "known nearby"):
            chosen = [
                rng.choice(n, number, replace=False)
                if who == "known"
                else _candidates_of(every, int(rng.integers(n)), number, rng)
                for _ in in_time(range(DRAWS))
            ]
            drawn = [_left(pairs, levels, some) for some in chosen if some.size == number]
            if not drawn:
                continue
            part = f"{number} {who}"
            share = sum(d.below for d in drawn) / sum(d.people for d in drawn)
            least = min(d.margin for d in drawn)
            short = AttackFigure(f"{part}, short", share, "share of people")
            margin = AttackFigure(f"{part}, margin", least, "records", None, "higher is better")
            yield from (one._replace(sample=Sample(len(drawn))) for one in (short, margin))


def _candidates_of(pairs: NodePairs, victim: int, number: int, rng: np.random.Generator) -> Ints:
    """Return some people whose records the victim could own; fewer than asked for where so few."""
    owners = pairs.records[pairs.indices == victim]
    owners = owners[owners != victim]
    return np.asarray(rng.choice(owners, min(number, owners.size), replace=False))


def _left(pairs: NodePairs, levels: Ints, known: Ints) -> _Drawn:
    """Return how many candidates the others have left once some pairs are known."""
    without = np.zeros(pairs.n, dtype=bool)
    without[known] = True
    rest = allowed(pairs, without)
    number = np.bincount(rest.indices, minlength=pairs.n)
    margin = (number - (levels - known.size))[~without]
    return _Drawn(int(np.count_nonzero(margin < 0)), margin.size, int(margin.min()))


def _again(
    pairs: NodePairs, situation: AttackInput[TableComparison], reruns: int
) -> list[AttackFigure]:
    """Return how often people get their own record by one re-run, and by several."""
    if situation.rerun is None:
        raise NotMeasuredError(situation.not_again)
    pair = situation.comparison
    rng = pair.randomness.stream("matching: re-run")
    work = _Again(situation.rerun, pair)
    seeds = rng.integers(1 << 62, size=reruns if pairs.n <= MOST_PEOPLE else 1).tolist()
    tasks = [
        (pair.randomness.permutation(pairs.n) if not run else rng.permutation(pairs.n), seed)
        for run, seed in enumerate(seeds)
    ]
    runs = shadow_results(work, tasks)
    records = pair.after[pair.linked]
    hits = [(1, nearest_candidates(pairs, records, runs[0]))]
    if len(runs) > 1:
        chances = log_chances(pairs, records, np.array(runs) == SUPPRESSED)
        given = given_records(pairs, chances, rng)
        hits.append((len(runs), hits_of(given, records)))
    of_times = [
        (float(some.mean()), bootstrap_mean(some, rng), Setting(times=n)) for n, some in hits
    ]
    unit, guess = "share of people", 1 / pairs.n
    return [
        AttackFigure(RIGHT, share, unit, guess, sample=sample, setting=setting)
        for share, sample, setting in of_times
    ]


@dataclass(frozen=True)
class _Again:
    """Runs the method on the rows in another order, under a seed."""

    rerun: Rerun
    pair: TableComparison

    def __call__(self, run: tuple[Ints, int]) -> Int32s:
        """Return what the run gives everybody, in the order and codes of the original."""
        original, (order, seed) = self.pair.original, run
        moved = original.permuted(order, ids=original.labels()[order])
        return _rows_of(self.rerun(moved, seed), self.pair)


def _rows_of(release: Release[Any], pair: TableComparison) -> Int32s:
    """Return what another release gives everybody, in the order and codes of the original."""
    linkage = release.private.linkage if release.private else None
    if linkage is None or not isinstance(release.data, Table):
        raise TypeError("a run of a method for tables must return a table with its linkage")
    position = linkage.positions_of(pair.original.labels(), release.data.labels())
    again = TableComparison.of(pair.original, release.data, position, pair.randomness)
    return again.after[again.linked]


def nearest_candidates(pairs: NodePairs, records: Int32s, guesses: Int32s) -> Floats:
    """Return for each person whether the candidate nearest to a guess is theirs, or a share."""
    owners = pairs.records
    distance = np.empty(owners.size, dtype=np.int64)
    for start in in_time(range(0, owners.size, _BLOCK)):
        some = slice(start, start + _BLOCK)
        distance[some] = (records[owners[some]] != guesses[pairs.indices[some]]).sum(axis=1)
    least = np.full(pairs.n, np.iinfo(np.int64).max)
    np.minimum.at(least, pairs.indices, distance)
    nearest = distance == least[pairs.indices]
    ties = np.bincount(pairs.indices[nearest], minlength=pairs.n)
    own = nearest & (owners == pairs.indices)
    hits = np.bincount(pairs.indices[own], minlength=pairs.n)
    return np.asarray(hits / np.maximum(ties, 1))


MATCHING = Attack(
    name="matching",
    kind=Table,
    knows="the complete original table and the method, but not the order of the release",
    definition="the probability of a person's own record if all complete consistent assignments "
    "of records to people are equally likely; how many records a person could own, "
    "also when all levels, or the records of 1 to 3 others, are known; how often the "
    "candidate nearest to a re-run of the method is correct, and how often the most "
    "likely assignment over several re-runs is",
    source="Choromanski, Jebara and Tang 2013; belief propagation: Huang and Jebara 2009",
    cost=f"heavy, up to {MOST_ROWS:,} rows and {MOST_PAIRS:,} consistent pairs",
    compute=matching,
    seconds=seconds,
    options=MatchingOptions,
    said=(
        singled_out(
            "true pair, mean",
            does="has the complete original table",
            line="mean probability of picking a person's own record",
            picks=True,
            label="the complete original table",
            covered=of_equal_rows,
        ),
        singled_out(
            "true pair, largest", line="largest probability of picking a person's own record"
        ),
        linked(
            RIGHT,
            does="has the original and runs the method {again}",
            label="the original, method run {again}",
            if_measured=True,
        ),
    ),
)
