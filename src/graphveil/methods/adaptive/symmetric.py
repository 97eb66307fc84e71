"""Algorithm 2: pairs in which record i fits person j and record j fits person i."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.adaptive import bipartite
from graphveil.methods.adaptive.clusters import clusters
from graphveil.methods.adaptive.exact import bounds, improved
from graphveil.methods.adaptive.kernels import pruning, rounding
from graphveil.methods.adaptive.problem import Problem, Solution

Ints = NDArray[np.int64]
PairMatrix = NDArray[np.int8]

MOST_ROWS = 1_000
"""Of more rows no pair is looked at: every one takes some memory."""

WARM = (2, 5, 10)
"""The steps that also start from the best pairs of Algorithm 1, and from clusters."""


class SymmetricSolver(bipartite.Solver):
    """Solves for pairs both ways: rounds the cheapest flow, in which a pair may be half."""

    def cheapest(self, prices: Ints) -> PairMatrix:
        """Return pairs that cost little, each both ways; nobody could give one up with its partner.

        No pairs both ways cost less than the flow that is rounded.
        """
        cost = self._both_ways(prices)
        return self._rounded(cost, self.cheapest_at(cost))

    def exact(self, prices: Ints) -> PairMatrix:
        """Return pairs both ways that cost least; those of `cheapest` where that is not settled."""
        cost = self._both_ways(prices)
        flow = self.cheapest_at(cost)
        if self._network is None:
            raise TypeError("expected a network that was solved")
        known = bounds(cost, flow, self._network)
        pairs = improved(known, self._rounded(cost, flow), self._needs)
        self.passed = pairs.sum(axis=1, dtype=np.int64) - self._needs
        return pairs

    def _both_ways(self, prices: Ints) -> Ints:
        cost = self.costs(prices)
        cost += cost.T.copy()
        return self._with_diagonal()

    def _rounded(self, cost: Ints, pairs: PairMatrix) -> PairMatrix:
        """Make a flow pairs both ways; it is overwritten."""
        rounding.make_symmetric(cost, pairs, rounding.tour_for(pairs))
        edges = np.argwhere(np.triu(pairs))
        dearest = np.argsort(-cost[edges[:, 0], edges[:, 1]], kind="stable")
        self.passed = pairs.sum(axis=1, dtype=np.int64) - self._needs
        rounding.drop(pairs, edges[dearest], self.passed)
        return pairs


def solve(
    problem: Problem,
    schedule: bipartite.LevelSchedule,
    rng: np.random.Generator,
    *,
    labels: Ints | None = None,
) -> Solution:
    """Return pairs both ways that suppress little."""
    tried = _tried(problem, schedule, rng, labels)
    best = min(tried, key=lambda one: bipartite.cost_of(problem, one.needs))
    return bipartite.solution_of(problem, best.pairs)


def _tried(
    problem: Problem,
    schedule: bipartite.LevelSchedule,
    rng: np.random.Generator,
    labels: Ints | None,
) -> Iterator[bipartite.Iteration]:
    """Yield every solve from the prices as they are, then from other pairs, clusters themselves."""
    solver = SymmetricSolver(problem.columns, problem.levels)
    yield from bipartite.iterations(problem, schedule, solver, rng)
    for other in _others(problem, schedule, rng, labels):
        if (other.pairs == other.pairs.T).all():
            yield other
        for number in (number for number in WARM if number <= schedule.steps):
            factor = bipartite.factor_of(number)
            begun = bipartite.solved(
                problem, solver, factor, factor ** other.needs.astype(np.float64)
            )
            yield from bipartite.step(problem, schedule, solver, begun)
    if problem.levels.size > MOST_ROWS:
        return
    solver = SymmetricSolver(problem.columns, problem.levels)
    pairs = solver.exact(bipartite.whole(problem.prices))
    begun = bipartite.Iteration(
        bipartite.factor_of(1), pairs, solver.passed.copy(), bipartite.needs_of(problem, pairs)
    )
    yield from bipartite.step(problem, schedule, solver, begun)


def _others(
    problem: Problem,
    schedule: bipartite.LevelSchedule,
    rng: np.random.Generator,
    labels: Ints | None,
) -> Iterator[bipartite.Iteration]:
    """Yield the best pairs of Algorithm 1, and those of clusters.

    Without clusters to start from there are some where all levels are the same.
    """
    yield bipartite.best_of(problem, schedule, rng)
    level = int(problem.levels[0])
    if labels is None and level > 1 and (problem.levels == level).all():
        labels = clusters(problem.rows, level, "local", rng).labels
    if labels is not None:
        pairs = pairs_within(labels)
        passed = pairs.sum(axis=1, dtype=np.int64) - problem.levels + 1
        yield bipartite.Iteration(0.0, pairs, passed, bipartite.needs_of(problem, pairs))


def pairs_within(labels: Ints) -> PairMatrix:
    """Return 1 for every two rows of a cluster; nothing on the diagonal."""
    pairs: PairMatrix = (labels[:, np.newaxis] == labels).astype(np.int8)
    np.fill_diagonal(pairs, 0)
    return pairs


def pruned(problem: Problem, solution: Solution) -> Solution:
    """Return a solution from which stars are gone without which all keep enough pairs both ways."""
    stars, pairs = solution.stars.copy(), bipartite.fitting_pairs(problem, solution.stars)
    pairs &= pairs.T.copy()
    np.fill_diagonal(pairs, 0)
    spare = pairs.sum(axis=1, dtype=np.int64) - problem.levels + 1
    for _ in range(bipartite.PRUNING_PASSES):
        cells = bipartite.cells_to_try(problem, stars, bipartite.needs_of(problem, pairs))
        if pruning.prune_mutual(problem.rows, stars, pairs, spare, cells) == 0:
            break
    return Solution(pairs, stars)
