"""The choice `auto`: of several ways the one that hides the fewest cells and resists a re-run.

Each way is run again as its own attacker would run it, and what that attacker gets right is
counted. Clusters by level need no such count: their rows are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.data.codes import SUPPRESSED
from graphveil.measures.matchings import NodePairs, given_records, hits_of, log_chances
from graphveil.methods.adaptive import bipartite, symmetric
from graphveil.methods.adaptive.bipartite import PRUNING_PASSES, Ints, LevelSchedule, best_of
from graphveil.methods.adaptive.clusters import clusters_by_level, hidden_by
from graphveil.methods.adaptive.kernels import class_pruning, flow
from graphveil.methods.adaptive.problem import (
    Problem,
    Solution,
    mask_of,
    position_of_columns,
    words_of,
)

Way: TypeAlias = Callable[[Problem, LevelSchedule, np.random.Generator], Solution]
"""A way to suppress cells: it gives what is suppressed, and the chosen pairs."""

RERUNS = 4
"""So often each way is run again, or fewer times where that finds too many."""

MARGIN, DEVIATIONS = 1.25, 2
"""An attacker may be right so many times as often as by guessing, and so many deviations more."""


def level_clusters(problem: Problem, schedule: LevelSchedule, rng: np.random.Generator) -> Solution:
    """Return clusters of as many equal rows as the largest level in them."""
    del schedule
    labels = clusters_by_level(problem.rows, problem.levels, rng)
    stars = words_of(hidden_by(problem.codes, labels), problem.codes)
    return Solution(symmetric.pairs_within(labels), stars)


def pruned_bipartite(
    problem: Problem, schedule: LevelSchedule, rng: np.random.Generator
) -> Solution:
    """Return the pairs of Algorithm 1, pruned."""
    return bipartite.pruned(problem, bipartite.solve(problem, schedule, rng))


def symmetric_pairs(
    problem: Problem, schedule: LevelSchedule, rng: np.random.Generator
) -> Solution:
    """Return the pairs of Algorithm 2, with clusters by level as one of its starts."""
    labels = clusters_by_level(problem.rows, problem.levels, rng)
    return symmetric.solve(problem, schedule, rng, labels=labels)


@dataclass(frozen=True)
class EqualClasses:
    """Classes of equal records, as many as the level or `rows` at most, and pairs between them."""

    rows: int

    def __call__(
        self, problem: Problem, schedule: LevelSchedule, rng: np.random.Generator
    ) -> Solution:
        """Return the pairs of Algorithm 1 between classes, pruned by class."""
        labels = clusters_by_level(problem.rows, np.minimum(problem.levels, self.rows), rng)
        base = hidden_by(problem.codes, labels)
        free = problem._replace(prices=np.where(base, 0.0, problem.prices), classes=labels)
        best = best_of(free, schedule, rng)
        stars = words_of(base | (best.needs > 0), problem.codes)
        return pruned_by_class(free, base, Solution(best.pairs, stars))


def pruned_by_class(problem: Problem, base: NDArray[np.bool_], solution: Solution) -> Solution:
    """Return a solution without stars that no record of a class and no person needs."""
    labels = problem.classes
    if labels is None:
        raise TypeError("expected classes")
    pairs, stars = solution.pairs.copy(), solution.stars.copy()
    members, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    chosen = flow.flow_of(problem.rows, pairs.sum(axis=1, dtype=np.int64) - problem.levels + 1)
    flow.load(problem.rows, stars, pairs, chosen)
    lost = np.empty((int(sizes.max()) * labels.size, 2), dtype=np.int32)
    first, positions = members[starts[:-1]], position_of_columns(problem.codes)
    prices = np.add.reduceat(problem.prices[members], starts[:-1], axis=0)
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
"""The way that bounds what a re-run finds without a measurement."""

WAYS: Mapping[str, Way] = {
    CLUSTERS: level_clusters,
    "equal_5": EqualClasses(5),
    "equal_3": EqualClasses(3),
    "equal_2": EqualClasses(2),
    "symmetric": symmetric_pairs,
    "bipartite": pruned_bipartite,
}
"""What `auto` chooses from: of ways that hide as much, it takes the first."""


class Choice(NamedTuple):
    """The way that was taken, and what the owner's record says of all that were looked at.

    Parameters
    ----------
    way
        Its name.
    solutions
        What it gives, block by block.
    figures
        The cells that each way would have hidden, by its name, what a re-run found, and the most
        that it may find.
    """

    way: str
    solutions: tuple[Solution, ...]
    figures: Mapping[str, float]


def choose(
    problems: Sequence[Problem], schedule: LevelSchedule, rng: np.random.Generator
) -> Choice:
    """Return the way that hides least of those that resist a re-run."""
    most = most_hits(np.concatenate([one.levels for one in problems]))
    streams = dict(zip(WAYS, rng.spawn(len(WAYS)), strict=True))
    found, largest = dict[str, tuple[Solution, ...]](), max(int(p.levels.max()) for p in problems)
    for name, way in WAYS.items():
        if not (isinstance(way, EqualClasses) and way.rows >= largest):
            found[name] = tuple(way(one, schedule, streams[name]) for one in problems)
    cells = {name: _cells(problems, solutions) for name, solutions in found.items()}
    figures = {f"{name}_cells": float(hidden) for name, (_, hidden) in cells.items()}
    figures["rerun_most"] = most
    for name in sorted(found, key=lambda one: cells[one][0]):
        if name == CLUSTERS:
            break
        reached = _rerun_share(problems, found[name], WAYS[name], schedule, most, streams[name])
        figures[f"{name}_rerun"] = reached
        if reached <= most:
            break
    else:
        name = CLUSTERS
    return Choice(name, found[name], figures | {f"{name}_taken": 1.0})


def most_hits(levels: Ints) -> float:
    """Return the largest share of people whom a re-run may find."""
    guess = float((1 / levels).mean())
    return MARGIN * guess + DEVIATIONS * float(np.sqrt(guess * (1 - guess) / levels.size))


def _cells(problems: Sequence[Problem], solutions: Sequence[Solution]) -> tuple[float, int]:
    """Return what the suppressed cells cost, and how many were added."""
    masks = [
        mask_of(one.stars, problem.codes) & (problem.codes >= 0)
        for problem, one in zip(problems, solutions, strict=True)
    ]
    cost = sum(
        float(problem.prices[mask].sum()) for problem, mask in zip(problems, masks, strict=True)
    )
    return cost, sum(int(mask.sum()) for mask in masks)


def _rerun_share(
    problems: Sequence[Problem],
    solutions: Sequence[Solution],
    way: Way,
    schedule: LevelSchedule,
    most: float,
    rng: np.random.Generator,
) -> float:
    """Return the share of people whom re-runs of a way find; a few are enough to find too many."""
    runs: list[list[NDArray[np.bool_]]] = [[] for _ in problems]
    share = 0.0
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
    problem: Problem, solution: Solution, runs: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return how often everybody is given the own record by an attacker who saw what runs hid."""
    fits = bipartite.fitting_pairs(problem, solution.stars)
    indptr = np.concatenate([[0], np.cumsum(fits.sum(axis=1, dtype=np.int64))])
    pairs = NodePairs(indptr, np.nonzero(fits)[1])
    hidden = mask_of(solution.stars, problem.codes)
    records = np.where(hidden, np.int32(SUPPRESSED), problem.codes)
    given = given_records(pairs, log_chances(pairs, records, runs), rng)
    return hits_of(given, records)
