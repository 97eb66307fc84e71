"""Whose record is whose, for an attacker with the original table: the attack `matching`.

Choromanski, Jebara and Tang, *Adaptive anonymity via b-matching*, NIPS 2013, section 4: a record
with suppressed cells fits a person if each of its other cells is that person's; the attacker counts
the full assignments of records to people that fit. Steps: (1) find all pairs of a record and a
person that fit; (2) compute how likely each pair is if all full assignments are equally likely
(one-time attack, section 4.1), exactly or by belief propagation (Huang and Jebara, 2009), in
``measures/matchings.py``; (3) count candidates: records that a person could own in some full
assignment, also when the records of one to three others are known (sustained attack, sections 4.2
to 4.4), or all levels; (4) run the method again, once and several times, in random orders of the
rows: whose new record is nearest to which published one; over several runs, the likeliest full
assignment.

Departures: chances are those of full assignments, by which a true pair may be likelier than one in
the level, other than the paper's corollary 4.1 has it; attackers who know the levels, and re-runs,
are graphveil's own. The baseline is 1/n. Chances of step 2 are about all people and have no
interval; re-runs have a bootstrap over people. Cost: pairs of rows times columns, pairs that fit,
and the runs.
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
from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import GraphveilError
from graphveil.core.parameters import parameter
from graphveil.core.progress import in_time, stage
from graphveil.core.rows import Setting
from graphveil.data import Table
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import Int32s, TableComparison
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.measures import matchings
from graphveil.release import Release
from graphveil.verify.recount.rows.fitting_pairs import CodedCells, fitting_persons, members

MOST_ROWS, MOST_PAIRS = 20_000, 3_000_000
"""Larger tables are refused: by rows, and by pairs of a record and a person that fit, which the
forecast puts at a minute for the latter."""

SMALLER = "Use a release with fewer rows"
"""The way out that refusals name."""

MOST_PEOPLE = 3_000
"""Up to this many people there are several re-runs: the assignment over several runs compares all
people with all records."""

SLACK = 1e-5
"""How far a chance may be above 1/level before it counts: estimates are rounded."""

RIGHT = "right guess"
"""The name of the figure of re-runs."""

RERUNS = 8
"""How many times the method is run again by default."""

DRAWS = 10
"""How often known people are sampled for each number of them."""
_BLOCK = 1 << 16
"""Pairs whose cells are compared at once; it bounds memory alone."""


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
    """Return how likely people's own records are: by the release, with known pairs, by re-runs.

    A person's risk is the chance of their own record by the release alone.
    """
    pair = situation.comparison
    # Step 1: which records fit whom.
    pairs = _fitting(pair)
    with stage("counting assignments"):
        # Step 2: how likely each pair is.
        found = matchings.posteriors(pairs)
    chances = found.true_pairs()
    # Step 3: chances and candidates, also with known levels or pairs.
    figures = [
        *chance_figures(found, chances, situation.levels),
        *_candidate_figures(found, situation.levels),
        *_known_pair_figures(pairs, situation),
    ]
    missing = {}
    # Step 4: re-runs.
    try:
        figures.extend(_rerun_figures(found.pairs, situation, options.reruns))
    except (NotMeasuredError, GraphveilError) as error:
        missing[Setting(times=1).part(RIGHT)] = str(error)
    return Outcome(figures, chances, np.full(chances.size, 1 / chances.size), missing)


def _fitting(pair: TableComparison) -> matchings.NodePairs:
    """Return which records fit which persons, record i being that of person i."""
    n = pair.original.n_rows
    if n == 0:
        raise NotMeasuredError("the data has no rows")
    _refuse_changed(pair)
    # A bit per record and person; counted before lists are made, as there may be too many.
    masks = fitting_persons(CodedCells(pair.after[pair.linked], pair.before))
    numbers = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
    if numbers.sum() > MOST_PAIRS:
        raise TooLargeError(
            f"{int(numbers.sum()):,} consistent pairs exceed the limit of {MOST_PAIRS:,}. {SMALLER}"
        )
    indptr = np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64)
    return matchings.NodePairs(indptr, np.concatenate([members(mask) for mask in masks]))


def _refuse_changed(pair: TableComparison) -> None:
    """Refuse records that do not fit their owners: no assignment is then consistent."""
    records = pair.after[pair.linked]
    if not ((records == pair.before) | (records < 0)).all():
        raise NotMeasuredError(
            "some records do not fit their owners, because cells were changed and not only "
            "suppressed"
        )


PER_CELL, PER_PAIR, TRIED = 3e-9, 2e-5, 200
"""Seconds for every pair of rows and column, and for every pair that fits; and the number of
records by which the number of these pairs is estimated."""


def seconds(situation: AttackInput[TableComparison], options: MatchingOptions) -> float:
    """Return about how long it takes; with it the runs of the method."""
    pair = situation.comparison
    n = pair.original.n_rows
    if n > MOST_ROWS:
        raise TooLargeError(f"{n:,} rows exceed the limit of {MOST_ROWS:,}. {SMALLER}")
    if n == 0:
        return 0.0
    _refuse_changed(pair)
    # Estimate how many pairs fit from every so many-th record.
    tried = pair.after[:: max(n // TRIED, 1)]
    fitting = [int(((row == pair.before) | (row < 0)).all(axis=1).sum()) for row in tried]
    pairs = min(sum(fitting) / len(fitting) * n, MOST_PAIRS)
    cells = n * n * len(pair.released.columns)
    runs = options.reruns if n <= MOST_PEOPLE else 1
    return PER_CELL * cells + PER_PAIR * pairs + runs * run_again(situation)


def chance_figures(
    found: matchings.Posteriors, chances: Floats, levels: Ints | None
) -> Iterator[AttackFigure]:
    """Yield how likely the true pairs are, and the pairs that the attacker would guess.

    `chances`: float64, shape (n,): of the true pairs; `levels`: see `AttackInput`.
    """
    rough = not found.exact
    guess = 1 / chances.size
    unit = "probability"
    best = found.best_guesses()
    yield AttackFigure("true pair, mean", float(chances.mean()), unit, guess, estimated=rough)
    yield AttackFigure("true pair, largest", float(chances.max()), unit, guess, estimated=rough)
    # Above one in the level, beyond rounding; before the release only if 1/n already is.
    if levels is not None:
        above = chances > 1 / levels + SLACK
        before = guess > 1 / levels + SLACK
        part = "true pair above 1/level"
        yield AttackFigure(
            part, float(above.mean()), "share of people", float(before.mean()), estimated=rough
        )
    yield AttackFigure("best guess, mean", float(best.mean()), unit, guess, estimated=rough)


def _candidate_figures(found: matchings.Posteriors, levels: Ints | None) -> Iterator[AttackFigure]:
    """Yield how many records people could own, and how many people have fewer than guaranteed."""
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


def short_where_levels_are_known(every: matchings.NodePairs, levels: Ints) -> float:
    """Return the share of people below their level for an attacker who knows all levels.

    A record belongs to nobody who asked for more people than it could belong to.

    Parameters
    ----------
    every : NodePairs
        Pairs of a record and a person that fit.
    levels : int64, shape (n,)
        How many candidates each person was guaranteed.

    Returns
    -------
    float
        The share.
    """
    # Drop pairs in which a person asked for more than the record could belong to; then keep those
    # that some full assignment has.
    of_record = np.diff(every.indptr)[every.records]
    kept = (levels[every.indices] <= of_record) | (every.indices == every.records)
    sizes = np.bincount(every.records[kept], minlength=every.n)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rest = matchings.allowed(matchings.NodePairs(indptr, every.indices[kept]))
    return float((np.bincount(rest.indices, minlength=every.n) < levels).mean())


class _Remaining(NamedTuple):
    """What is left if some pairs are known: people below, of how many, and the least margin."""

    below: int
    people: int
    margin: int


def _known_pair_figures(
    pairs: matchings.NodePairs, situation: AttackInput[TableComparison]
) -> Iterator[AttackFigure]:
    """Yield how many people are below their level, less the known pairs, with 1 to 3 known.

    Known people are sampled from all, or from the owners of one person's candidates ("nearby").
    """
    levels, n = situation.levels, pairs.n
    if levels is None:
        return
    rng = situation.comparison.randomness.stream("matching: known pairs")
    every = matchings.allowed(pairs)
    for number in range(1, min(3, n - 1) + 1):
        for who in ("known", "known nearby"):
            # Sample whose records are known, several times; take these pairs away and count what is
            # left.
            chosen = [
                rng.choice(n, number, replace=False)
                if who == "known"
                else _candidates_of(every, int(rng.integers(n)), number, rng)
                for _ in in_time(range(DRAWS))
            ]
            remaining = [
                _remaining_candidates(pairs, levels, some) for some in chosen if some.size == number
            ]
            if not remaining:
                continue
            part = f"{number} {who}"
            share = sum(d.below for d in remaining) / sum(d.people for d in remaining)
            least = min(d.margin for d in remaining)
            short = AttackFigure(f"{part}, short", share, "share of people")
            margin = AttackFigure(f"{part}, margin", least, "records", None, "higher is better")
            yield from (
                figure._replace(sample=Sample(len(remaining))) for figure in (short, margin)
            )


def _candidates_of(
    pairs: matchings.NodePairs, victim: int, number: int, rng: np.random.Generator
) -> Ints:
    """Return some people whose records the victim could own; fewer if there are fewer."""
    owners = pairs.records[pairs.indices == victim]
    owners = owners[owners != victim]
    return np.asarray(rng.choice(owners, min(number, owners.size), replace=False))


def _remaining_candidates(pairs: matchings.NodePairs, levels: Ints, known: Ints) -> _Remaining:
    """Return how many candidates the others have left once some pairs are known."""
    without = np.zeros(pairs.n, dtype=bool)
    without[known] = True
    rest = matchings.allowed(pairs, without)
    number = np.bincount(rest.indices, minlength=pairs.n)
    margin = (number - (levels - known.size))[~without]
    return _Remaining(int(np.count_nonzero(margin < 0)), margin.size, int(margin.min()))


def _rerun_figures(
    pairs: matchings.NodePairs, situation: AttackInput[TableComparison], reruns: int
) -> list[AttackFigure]:
    """Return how often people get their own record by one re-run, and by several."""
    if situation.rerun is None:
        raise NotMeasuredError(situation.not_again)
    pair = situation.comparison
    rng = pair.randomness.stream("matching: re-run")
    # Rows in a new order each time: a method that depends on the order must not give it away.
    work = _ShuffledRerun(situation.rerun, pair)
    seeds = rng.integers(1 << 62, size=reruns if pairs.n <= MOST_PEOPLE else 1).tolist()
    tasks = [
        (pair.randomness.permutation(pairs.n) if not run else rng.permutation(pairs.n), seed)
        for run, seed in enumerate(seeds)
    ]
    runs = shadow_results(work, tasks)
    records = pair.after[pair.linked]
    # One run: the candidate nearest to a person's new record, equal ones sharing the guess.
    hits = [(1, nearest_candidates(pairs, records, runs[0]))]
    if len(runs) > 1:
        # Several runs: how often each cell was suppressed says how likely each pair is; one full
        # assignment is sampled to break ties by chance.
        chances = matchings.log_chances(pairs, records, np.array(runs) == SUPPRESSED)
        given = matchings.given_records(pairs, chances, rng)
        hits.append((len(runs), matchings.hits_of(given, records)))
    of_times = [
        (float(some.mean()), bootstrap_mean(some, rng), Setting(times=n)) for n, some in hits
    ]
    unit, guess = "share of people", 1 / pairs.n
    return [
        AttackFigure(RIGHT, share, unit, guess, sample=sample, setting=setting)
        for share, sample, setting in of_times
    ]


@dataclass(frozen=True)
class _ShuffledRerun:
    """Runs the method on the rows in another order, under a seed."""

    rerun: Rerun
    pair: TableComparison

    def __call__(self, run: tuple[Ints, int]) -> Int32s:
        """Return what the run gives everybody, in the order and codes of the original."""
        original, (order, seed) = self.pair.original, run
        moved = original.permuted(order, ids=original.labels()[order])
        return _rows_of(self.rerun(moved, seed), self.pair)


def _rows_of(release: Release[Any], pair: TableComparison) -> Int32s:
    """Return what a further release gives each person, in the order and codes of the original."""
    linkage = release.private.linkage if release.private else None
    if linkage is None or not isinstance(release.data, Table):
        raise TypeError("a run of a method for tables must return a table with its linkage")
    position = linkage.positions_of(pair.original.labels(), release.data.labels())
    again = TableComparison.of(pair.original, release.data, position, pair.randomness)
    return again.after[again.linked]


def nearest_candidates(pairs: matchings.NodePairs, records: Int32s, guesses: Int32s) -> Floats:
    """Return for each person how likely the candidate nearest to a guess is theirs.

    Parameters
    ----------
    pairs : NodePairs
        Pairs of a record and a person that fit.
    records : int32, shape (n, columns)
        The published records, record i being that of person i.
    guesses : int32, shape (n, columns)
        What the attacker expects each person's record to be.

    Returns
    -------
    float64, shape (n,)
        1 if the own record alone is nearest, a share if several are, else 0.
    """
    owners = pairs.records
    distance = np.empty(owners.size, dtype=np.int64)
    for start in in_time(range(0, owners.size, _BLOCK)):
        block = slice(start, start + _BLOCK)
        # In how many cells record and guess differ.
        distance[block] = (records[owners[block]] != guesses[pairs.indices[block]]).sum(axis=1)
    least = np.full(pairs.n, np.iinfo(np.int64).max)
    np.minimum.at(least, pairs.indices, distance)
    # Of several nearest candidates each is guessed equally often.
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
