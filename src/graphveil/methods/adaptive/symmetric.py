"""Algorithm 2: pairs in which record i fits person j and record j fits person i.

Choromanski, Jebara & Tang, *Adaptive Anonymity via b-Matching*, section 3, Algorithm 2 (variational
symmetric b-matching): Algorithm 1 with G_ij = G_ji. By Lemma 4.5, an attacker who knows c pairs of
the full assignment still has at least (level - c) candidates for every other person.

Departures: in place of a general b-matching with blossoms, the linear relaxation is solved as a
flow and rounded (see the kernel `rounding`), and one start is exact where HiGHS proves it (see
`exact`). The paper starts the algorithm from the stars of Algorithm 1 to converge faster; here the
schedule runs from its own prices, then some steps also start from the best pairs of Algorithm 1 and
from clusters, and the best solve counts. So the stars never cost more than those of the clusters. A
solve costs what it costs in `bipartite`, and the rounding O(n n).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.adaptive import bipartite
from graphveil.methods.adaptive.clusters import clusters
from graphveil.methods.adaptive.exact import bounds, improved
from graphveil.methods.adaptive.kernels import pruning, rounding
from graphveil.methods.adaptive.problem import Problem, Solution

PairMatrix = NDArray[np.int8]

MOST_ROWS = 1_000
"""The number of rows above which the exact start is skipped: it lists every pair, which takes
memory."""

WARM = (2, 5, 10)
"""The steps (e = 2^-2, 2^-5, 2^-10) that also start from the best pairs of Algorithm 1, and from
clusters: from a mild to a steep discount, instead of all ten."""


class SymmetricSolver(bipartite.Solver):
    """Solve for pairs both ways by rounding the cheapest flow, in which a pair may be half."""

    def cheapest(self, prices: Ints) -> PairMatrix:
        """Return pairs that cost little, each both ways: int8, shape (n, n).

        No pair can be dropped: one of its two sides would have too few. No pairs both ways cost
        less than the flow that is rounded, which is the linear relaxation.
        """
        cost = self._both_ways(prices)
        return self._rounded(cost, self.cheapest_at(cost))

    def exact(self, prices: Ints) -> PairMatrix:
        """Return the cheapest pairs both ways; those of `cheapest` if that is not proved."""
        # The relaxation, what it says about single pairs, and an integer program for the rest.
        cost = self._both_ways(prices)
        flow = self.cheapest_at(cost)
        if self._network is None:
            raise TypeError("expected a network that was solved")
        limits = bounds(cost, flow, self._network)
        pairs = improved(limits, self._rounded(cost, flow), self._partners)
        self.passed = pairs.sum(axis=1, dtype=np.int64) - self._partners
        return pairs

    def _both_ways(self, prices: Ints) -> Ints:
        """Return what pairs cost both ways: symmetric, with the diagonal out of reach."""
        cost = self.costs(prices)
        cost += cost.T.copy()
        return self._with_diagonal()

    def _rounded(self, cost: Ints, pairs: PairMatrix) -> PairMatrix:
        """Turn a flow into pairs both ways; `pairs` is overwritten."""
        # Step 1: half pairs, chosen one way, become pairs both ways or go. No degree falls.
        rounding.make_symmetric(cost, pairs, rounding.tour_for(pairs))
        # Step 2: drop what nobody needs, the most expensive first.
        edges = np.argwhere(np.triu(pairs))
        dearest = np.argsort(-cost[edges[:, 0], edges[:, 1]], kind="stable")
        self.passed = pairs.sum(axis=1, dtype=np.int64) - self._partners
        rounding.drop(pairs, edges[dearest], self.passed)
        return pairs


def solve(
    problem: Problem,
    schedule: bipartite.PriceSchedule,
    rng: np.random.Generator,
    *,
    labels: Ints | None = None,
) -> Solution:
    """Return pairs both ways that suppress little.

    `labels`: int64, shape (n,): clusters that give one more start; None for those made here.
    """
    tried = _tried(problem, schedule, rng, labels)
    best = min(tried, key=lambda iteration: bipartite.cost_of(problem, iteration.needs))
    return bipartite.solution_of(problem, best.pairs)


def _tried(
    problem: Problem,
    schedule: bipartite.PriceSchedule,
    rng: np.random.Generator,
    labels: Ints | None,
) -> Iterator[bipartite.Iteration]:
    """Yield every solve: from the prices as they are, from other pairs, and from clusters."""
    # Step 1: the schedule, as in Algorithm 1.
    solver = SymmetricSolver(problem.columns, problem.levels)
    yield from bipartite.iterations(problem, schedule, solver, rng)
    # Step 2: other starts. Pairs that are symmetric already count as they are. The prices that
    # follow from their needs begin some steps again.
    for other in _other_starts(problem, schedule, rng, labels):
        if (other.pairs == other.pairs.T).all():
            yield other
        for number in (number for number in WARM if number <= schedule.steps):
            factor = bipartite.factor_of(number)
            first = bipartite.solved(
                problem, solver, factor, factor ** other.needs.astype(np.float64)
            )
            yield from bipartite.step(problem, schedule, solver, first)
    # Step 3: the first iteration solved exactly, then further ones.
    if problem.levels.size > MOST_ROWS:
        return
    solver = SymmetricSolver(problem.columns, problem.levels)
    pairs = solver.exact(bipartite.integer_prices(problem.prices))
    first = bipartite.Iteration(
        bipartite.factor_of(1), pairs, solver.passed.copy(), bipartite.needs_of(problem, pairs)
    )
    yield from bipartite.step(problem, schedule, solver, first)


def _other_starts(
    problem: Problem,
    schedule: bipartite.PriceSchedule,
    rng: np.random.Generator,
    labels: Ints | None,
) -> Iterator[bipartite.Iteration]:
    """Yield the best pairs of Algorithm 1, and those of clusters.

    If no clusters are given, some are made if all levels are equal.
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
    """Return 1 for every two rows of a cluster, 0 on the diagonal: int8, shape (n, n)."""
    pairs: PairMatrix = (labels[:, np.newaxis] == labels).astype(np.int8)
    np.fill_diagonal(pairs, 0)
    return pairs


def pruned(problem: Problem, solution: Solution) -> Solution:
    """Return a solution without the stars that no one needs to keep enough pairs both ways.

    graphveil's own: see `prune_mutual` of the kernel `pruning`.
    """
    # All pairs that fit both ways count, not only the chosen ones.
    stars, pairs = solution.stars.copy(), bipartite.fitting_pairs(problem, solution.stars)
    pairs &= pairs.T.copy()
    np.fill_diagonal(pairs, 0)
    spare = pairs.sum(axis=1, dtype=np.int64) - problem.levels + 1
    for _ in range(bipartite.PRUNING_PASSES):
        cells = bipartite.cells_to_try(problem, stars, bipartite.needs_of(problem, pairs))
        if pruning.prune_mutual(problem.rows, stars, pairs, spare, cells) == 0:
            break
    return Solution(pairs, stars)
