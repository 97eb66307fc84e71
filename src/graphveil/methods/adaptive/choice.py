"""The choice `auto`: of several ways, the one with the fewest stars that resists a re-run.

graphveil's own. Every way is a method to suppress cells so that the guarantee holds; they differ in
how many cells they suppress, and in how much is learned by an attacker with the original table who
runs the method again: cells that are suppressed in many runs point to the record. So each way is
run again as its own attacker would run it, and what that attacker gets right is counted. From the
fewest stars up, the first way is taken that is hardly better for the attacker than guessing.
Clusters by level need no such count: their rows are equal, and equal records are exchangeable.

Time is that of all ways plus up to four further runs of each that is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.data.codes import SUPPRESSED
from graphveil.measures.matchings import NodePairs, given_records, hits_of, log_chances
from graphveil.methods.adaptive import bipartite, symmetric
from graphveil.methods.adaptive.bipartite import PRUNING_PASSES, PriceSchedule, best_of
from graphveil.methods.adaptive.clusters import clusters_by_level, hidden_by
from graphveil.methods.adaptive.kernels import class_pruning, flow
from graphveil.methods.adaptive.problem import (
    Problem,
    Solution,
    mask_of,
    position_of_columns,
    words_of,
)

Way: TypeAlias = Callable[[Problem, PriceSchedule, Generator], Solution]
"""A way to suppress cells: it returns the chosen pairs and what is suppressed."""

RERUNS = 4
"""How often a way is run again at most; fewer times if that already finds too many people."""

MARGIN, DEVIATIONS = 1.25, 2
"""An attacker may be right this many times as often as by guessing one in the level, and this many
standard deviations of that share more: among few people the share of hits varies by chance. A
larger margin accepts ways that suppress less and reveal more. How both were chosen is not
recorded."""


def level_clusters(problem: Problem, schedule: PriceSchedule, rng: Generator) -> Solution:
    """Return clusters of as many equal rows as the largest level in them."""
    del schedule
    labels = clusters_by_level(problem.rows, problem.levels, rng)
    stars = words_of(hidden_by(problem.codes, labels), problem.codes)
    return Solution(symmetric.pairs_within(labels), stars)


def pruned_bipartite(problem: Problem, schedule: PriceSchedule, rng: Generator) -> Solution:
    """Return the pairs of Algorithm 1, pruned."""
    return bipartite.pruned(problem, bipartite.solve(problem, schedule, rng))


def symmetric_pairs(problem: Problem, schedule: PriceSchedule, rng: Generator) -> Solution:
    """Return the pairs of Algorithm 2, with clusters by level as one of its starts."""
    labels = clusters_by_level(problem.rows, problem.levels, rng)
    return symmetric.solve(problem, schedule, rng, labels=labels)


@dataclass(frozen=True)
class EqualClasses:
    """Classes of equal records, and pairs between them.

    Everyone is in a class of as many equal records as the level, or `rows` at most; Algorithm 1
    adds the pairs that are still missing, with stars that all rows of a class share. A re-run then
    names at most about one in min(level, rows).

    Parameters
    ----------
    rows
        The largest number of equal records that a class is required to have.
    """

    rows: int

    def __call__(self, problem: Problem, schedule: PriceSchedule, rng: Generator) -> Solution:
        """Return the pairs of Algorithm 1 between classes, pruned by class."""
        # Step 1: the classes, and the cells in which their rows differ: these stars are paid for.
        labels = clusters_by_level(problem.rows, np.minimum(problem.levels, self.rows), rng)
        base = hidden_by(problem.codes, labels)
        # Step 2: Algorithm 1, with the needs of a class in place of those of a row.
        free = problem._replace(prices=np.where(base, 0.0, problem.prices), classes=labels)
        best = best_of(free, schedule, rng)
        # Step 3: the stars of both, then those that nobody needs are removed class by class.
        stars = words_of(base | (best.needs > 0), problem.codes)
        return pruned_by_class(free, base, Solution(best.pairs, stars))


def pruned_by_class(problem: Problem, base: NDArray[np.bool_], solution: Solution) -> Solution:
    """Return a solution without the stars that no record of a class and no person needs.

    Parameters
    ----------
    problem
        With classes.
    base
        bool, shape (n, d): the cells in which rows of a class differ; they stay suppressed.
    solution
        The pairs and stars to prune.
    """
    labels = problem.classes
    if labels is None:
        raise TypeError("expected classes")
    pairs, stars = solution.pairs.copy(), solution.stars.copy()
    # Step 1: the rows of every class, and the pairs as a flow.
    members, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    chosen = flow.flow_of(problem.rows, pairs.sum(axis=1, dtype=np.int64) - problem.levels + 1)
    flow.load(problem.rows, stars, pairs, chosen)
    lost = np.empty((int(sizes.max()) * labels.size, 2), dtype=np.int32)
    # Step 2: one row stands for its class; the price of a star is that of the entire class.
    first, positions = members[starts[:-1]], position_of_columns(problem.codes)
    prices = np.add.reduceat(problem.prices[members], starts[:-1], axis=0)
    # Step 3: try the stars that the fewest pairs need first.
    for _ in range(PRUNING_PASSES):
        needs = bipartite.needs_of(problem, pairs)[first]
        a, k = np.nonzero((mask_of(stars, problem.codes) & ~base)[first])
        order = np.lexsort((-prices[a, k], needs[a, k]))
        cells = np.column_stack([a, positions[k]])[order]
        gone = class_pruning.prune_classes(
            problem.rows, stars, chosen, members, starts, cells, lost
        )
        flow.unload(chosen, pairs)
        if gone == 0:
            break
    return Solution(pairs, stars)


CLUSTERS = "clusters"
"""The name of the way that bounds what a re-run finds without a measurement."""

WAYS: Mapping[str, Way] = {
    CLUSTERS: level_clusters,
    "equal_5": EqualClasses(5),
    "equal_3": EqualClasses(3),
    "equal_2": EqualClasses(2),
    "symmetric": symmetric_pairs,
    "bipartite": pruned_bipartite,
}
"""What `auto` chooses from. Of ways that suppress as much, the first one listed is taken."""


class Choice(NamedTuple):
    """The way that was taken, and what the owner's record says of all that were looked at.

    Parameters
    ----------
    way
        Its name in `WAYS`.
    solutions
        What it gives, block by block.
    figures
        By the name of each way: the cells that it would suppress, and the share of people that a
        re-run found; and the largest share allowed.
    """

    way: str
    solutions: tuple[Solution, ...]
    figures: Mapping[str, float]


def choose(problems: Sequence[Problem], schedule: PriceSchedule, rng: Generator) -> Choice:
    """Return the way with the fewest stars of those that resist a re-run.

    Parameters
    ----------
    problems
        One block, or two that stand for all.
    schedule
        The steps of the algorithms.
    rng
        The random stream: each way has one of its own.
    """
    # Step 1: run every way. Classes that are to be as large as the largest level are clusters by
    # level.
    most = most_hits(np.concatenate([problem.levels for problem in problems]))
    streams = dict(zip(WAYS, rng.spawn(len(WAYS)), strict=True))
    found, largest = dict[str, tuple[Solution, ...]](), max(int(p.levels.max()) for p in problems)
    for name, way in WAYS.items():
        if not (isinstance(way, EqualClasses) and way.rows >= largest):
            found[name] = tuple(way(problem, schedule, streams[name]) for problem in problems)
    # Step 2: what each would suppress.
    totals = {name: _totals(problems, solutions) for name, solutions in found.items()}
    figures = {f"{name}_cells": float(cells) for name, (_, cells) in totals.items()}
    figures["rerun_most"] = most
    # Step 3: from the cheapest up, run each again, and stop at the first that resists. Clusters by
    # level need no re-run: they are taken once it is their turn, so the loop always ends early.
    for name in sorted(found, key=lambda way: totals[way][0]):
        if name == CLUSTERS:
            break
        reached = _rerun_share(problems, found[name], WAYS[name], schedule, most, streams[name])
        figures[f"{name}_rerun"] = reached
        if reached <= most:
            break
    return Choice(name, found[name], figures | {f"{name}_taken": 1.0})


def most_hits(levels: Ints) -> float:
    """Return the largest share of people whom a re-run may find.

    The guess is the mean of 1 / level; see `MARGIN`.
    """
    # The share of hits by guessing, and the deviation of a binomial share with that probability.
    guess = float((1 / levels).mean())
    return MARGIN * guess + DEVIATIONS * float(np.sqrt(guess * (1 - guess) / levels.size))


def _totals(problems: Sequence[Problem], solutions: Sequence[Solution]) -> tuple[float, int]:
    """Return what the added stars cost, and how many they are."""
    # Missing cells are suppressed anyway and do not count.
    masks = [
        mask_of(solution.stars, problem.codes) & (problem.codes >= 0)
        for problem, solution in zip(problems, solutions, strict=True)
    ]
    cost = sum(
        float(problem.prices[mask].sum()) for problem, mask in zip(problems, masks, strict=True)
    )
    return cost, sum(int(mask.sum()) for mask in masks)


def _rerun_share(
    problems: Sequence[Problem],
    solutions: Sequence[Solution],
    way: Way,
    schedule: PriceSchedule,
    most: float,
    rng: Generator,
) -> float:
    """Return the share of people whom re-runs of a way find; stop early once it is too large.

    The way is re-run alone. An attacker who re-runs `auto` runs the choice as well, which may take
    another way; so this compares ways and is not a figure of `auto`.
    """
    runs: list[list[NDArray[np.bool_]]] = [[] for _ in problems]
    share = 0.0
    # The attacker sees one more run each time, on fresh randomness, and uses all seen so far.
    for _ in range(RERUNS):
        hits = []
        for problem, solution, seen in zip(problems, solutions, runs, strict=True):
            stars = way(problem, schedule, rng.spawn(1)[0]).stars
            seen.append(mask_of(stars, problem.codes))
            hits.append(_hits(problem, solution, np.array(seen), rng))
        share = float(np.concatenate(hits).mean())
        if share > most:
            break
    return share


def _hits(
    problem: Problem, solution: Solution, runs: NDArray[np.bool_], rng: Generator
) -> NDArray[np.float64]:
    """Return how likely an attacker who saw these runs assigns each person the own record.

    `runs`: bool, shape (runs, n, d): the cells that each re-run suppressed. Returns float64, shape
    (n,): 1 / c if the assigned record equals the own one, and c records do; else 0.
    """
    # The attack of `graphveil.measures.matchings`, on the pairs that fit and the cells that runs
    # suppressed.
    fits = bipartite.fitting_pairs(problem, solution.stars)
    indptr = np.concatenate([[0], np.cumsum(fits.sum(axis=1, dtype=np.int64))])
    pairs = NodePairs(indptr, np.nonzero(fits)[1])
    hidden = mask_of(solution.stars, problem.codes)
    records = np.where(hidden, np.int32(SUPPRESSED), problem.codes)
    given = given_records(pairs, log_chances(pairs, records, runs), rng)
    return hits_of(given, records)
