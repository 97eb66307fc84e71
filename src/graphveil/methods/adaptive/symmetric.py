"""Algorithm 2: pairs in which record i fits person j and record j fits person i."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.adaptive import pruning, rounding
from graphveil.methods.adaptive import exact
from graphveil.methods.adaptive.bipartite import (
    PRUNING_PASSES,
    Iteration,
    LevelSchedule,
    Solver,
    best_of,
    cells_to_try,
    cost_of,
    factor_of,
    fitting_pairs,
    iterations,
    needs_of,
    solution_of,
    step,
    whole,
)
from graphveil.methods.adaptive.clusters import clusters
from graphveil.methods.adaptive.problem import Problem, Solution

Ints = NDArray[np.int64]
PairMatrix = NDArray[np.int8]

WARM = (2, 5, 10)
"""The steps that also start from the best pairs of Algorithm 1, and from clusters."""


class SymmetricSolver(Solver):
    """Solves for pairs both ways: rounds the cheapest flow, in which a pair may be half.

    Examples
    --------
    >>> from graphveil.methods.adaptive.problem import UNIT
    >>> rows = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)
    >>> solver = SymmetricSolver(rows.T.copy(), np.array([2, 2, 2]))
    >>> solver.cheapest(np.full((3, 2), UNIT)).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """

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
            raise TypeError("what was solved has a tree")
        known = exact.bounds(cost, flow, self._network)
        pairs = exact.improved(known, self._rounded(cost, flow), self._needs)
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


def solve(problem: Problem, schedule: LevelSchedule, rng: np.random.Generator) -> Solution:
    """Return pairs both ways that suppress little.

    Parameters
    ----------
    problem
        The rows, levels and prices.
    schedule
        The steps: from the prices as they are, and some of them from other pairs.
    rng
        The order in which local search visits rows.
    """
    best = min(_tried(problem, schedule, rng), key=lambda one: cost_of(problem, one.needs))
    return solution_of(problem, best.pairs)


def _tried(
    problem: Problem, schedule: LevelSchedule, rng: np.random.Generator
) -> Iterator[Iteration]:
    """Yield every solve from the prices as they are, then from other pairs, clusters themselves.

    The last ones begin with exact pairs: what was come to before stays, and where it is as cheap
    it is what `min` takes.
    """
    solver = SymmetricSolver(problem.columns, problem.levels)
    yield from iterations(problem, schedule, solver, rng)
    for other in _others(problem, schedule, rng):
        if (other.pairs == other.pairs.T).all():
            yield other
        for number in (number for number in WARM if number <= schedule.steps):
            factor = factor_of(number)
            powers = factor ** other.needs.astype(np.float64)
            pairs = solver.cheapest(whole(problem.prices * powers))
            begun = Iteration(factor, pairs, solver.passed.copy(), needs_of(problem, pairs))
            yield from step(problem, schedule, solver, begun)
    if problem.levels.size > exact.MOST_ROWS:
        return
    solver = SymmetricSolver(problem.columns, problem.levels)
    pairs = solver.exact(whole(problem.prices))
    begun = Iteration(factor_of(1), pairs, solver.passed.copy(), needs_of(problem, pairs))
    yield from step(problem, schedule, solver, begun)


def _others(
    problem: Problem, schedule: LevelSchedule, rng: np.random.Generator
) -> Iterator[Iteration]:
    """Yield the best pairs of Algorithm 1, and those of clusters where all levels are the same."""
    yield best_of(problem, schedule, rng)
    level = int(problem.levels[0])
    if level > 1 and (problem.levels == level).all():
        labels = clusters(problem.rows, level, "local", rng).labels
        pairs = (labels[:, np.newaxis] == labels).astype(np.int8)
        np.fill_diagonal(pairs, 0)
        passed = pairs.sum(axis=1, dtype=np.int64) - level + 1
        yield Iteration(0.0, pairs, passed, needs_of(problem, pairs))


def pruned(problem: Problem, solution: Solution) -> Solution:
    """Return a solution from which stars are gone without which all keep enough pairs both ways.

    Parameters
    ----------
    problem, solution
        What was solved, and how.
    """
    stars, pairs = solution.stars.copy(), fitting_pairs(problem, solution.stars)
    pairs &= pairs.T.copy()
    np.fill_diagonal(pairs, 0)
    spare = pairs.sum(axis=1, dtype=np.int64) - problem.levels + 1
    for _ in range(PRUNING_PASSES):
        cells = cells_to_try(problem, stars, needs_of(problem, pairs))
        if pruning.prune_mutual(problem.rows, stars, pairs, spare, cells) == 0:
            break
    return Solution(pairs, stars)
