"""Algorithm 2: pairs in which record i fits person j and record j fits person i.

The cheapest pairs both ways, exactly, where few of all pairs can be in any that are cheaper.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.adaptive import bipartite
from graphveil.methods.adaptive.clusters import clusters
from graphveil.methods.adaptive.kernels import network
from graphveil.methods.adaptive.kernels import search as pruning
from graphveil.methods.adaptive.problem import Problem, Solution

Ints = NDArray[np.int64]
PairMatrix = NDArray[np.int8]

MOST_ROWS = 1_000
"""Of more rows no pair is looked at: every one takes some memory."""

MOST_UNDECIDED = 1_000
"""Where more pairs are neither in nor out, the search is given up before it begins."""

OPTIONS = {"mip_rel_gap": 0.0, "node_limit": 1}
"""For HiGHS: only an optimum that the root of the tree proves counts. No limit is a time."""

PARTS, WIDER = 8, 4
"""The search begins within this part of the gap, and widens so many times."""

MOST_UNITS = 1e6
"""The costs that HiGHS sees are whole numbers up to here, or fractions of it."""


class Bounds(NamedTuple):
    """What the cheapest flow costs, and how much more at least with each pair, and without it."""

    ends: Ints
    costs: Ints
    chosen: Ints
    left_out: Ints
    least: int


def bounds(cost: Ints, flow: PairMatrix, net: network.FlowNetwork) -> Bounds:
    """Return what the cheapest flow says of pairs both ways."""
    ends = np.column_stack(np.triu_indices(cost.shape[0], 1))
    i, j = ends.T
    reduced = network.reduced_costs(net, cost)
    one, other = reduced[i, j], reduced[j, i]
    return Bounds(
        ends=ends,
        costs=2 * cost[i, j],
        chosen=np.maximum(one, 0) + np.maximum(other, 0),
        left_out=np.maximum(-one, 0) + np.maximum(-other, 0),
        least=int(cost[flow > 0].sum()),
    )


def improved(known: Bounds, rounded: PairMatrix, needs: Ints) -> PairMatrix:
    """Return pairs both ways that cost least, or what was come to where HiGHS proves no optimum.

    Pairs without which nothing is cheaper, and pairs with which nothing is, are decided by the
    flow. The others are searched within a part of the gap first: few are left there, and what it
    gives makes the gap smaller.
    """
    best, unit = rounded, max(int(np.gcd.reduce(known.costs)), 1)
    gap = _price(known, best) - unit - known.least
    reach = max(gap // PARTS, unit // 2)
    while gap >= 0:
        reach = min(reach, gap)
        ended = _solved_within(known, reach, needs)
        if ended.status not in (OPTIMAL, INFEASIBLE):
            break
        if ended.pairs is not None and _price(known, ended.pairs) < _price(known, best):
            best = ended.pairs
            gap = _price(known, best) - unit - known.least
        if gap <= reach:
            break
        reach *= WIDER
    return best


def _price(known: Bounds, pairs: PairMatrix) -> int:
    return int(known.costs[pairs[known.ends[:, 0], known.ends[:, 1]] > 0].sum())


OPTIMAL, GIVEN_UP, INFEASIBLE = 0, 1, 2
"""As `scipy.optimize.milp` numbers its ends."""


class ExactSolution(NamedTuple):
    """How a search ended, and with which pairs."""

    status: int
    pairs: PairMatrix | None = None


def _solved_within(known: Bounds, reach: int, needs: Ints) -> ExactSolution:
    """Return the cheapest pairs of those that may cost so much more than the flow."""
    undecided = (known.chosen <= reach) & (known.left_out <= reach)
    sure = known.left_out > reach
    ends, m = known.ends[undecided], int(np.count_nonzero(undecided))
    if m > MOST_UNDECIDED:
        return ExactSolution(GIVEN_UP)
    given = np.bincount(known.ends[sure].ravel(), minlength=needs.size)
    ended = _integer_program(ends, known.costs[undecided], needs - given)
    if ended.x is None or ended.status != OPTIMAL:
        return ExactSolution(int(ended.status))
    pairs = np.zeros((needs.size, needs.size), dtype=np.int8)
    both = np.concatenate([known.ends[sure], ends[ended.x > 0.5]])
    pairs[both[:, 0], both[:, 1]] = 1
    return ExactSolution(OPTIMAL, pairs | pairs.T)


def _integer_program(ends: Ints, costs: Ints, needs: Ints) -> Any:
    """Return what HiGHS says of the cheapest edges at which everybody has enough."""
    from scipy.optimize import LinearConstraint, milp  # noqa: PLC0415  slow to import
    from scipy.sparse import csr_array  # noqa: PLC0415  the same

    m = costs.size
    incident = csr_array(
        (np.ones(2 * m), (ends.T.ravel(), np.tile(np.arange(m), 2))), shape=(needs.size, m)
    )
    unit = max(np.gcd.reduce(costs), costs.max(initial=0) / MOST_UNITS, 1)
    return milp(
        costs / unit,
        constraints=LinearConstraint(incident, lb=needs),
        integrality=np.ones(m),
        bounds=(0, 1),
        options=OPTIONS,
    )


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
        network.make_symmetric(cost, pairs, network.tour_for(pairs))
        edges = np.argwhere(np.triu(pairs))
        dearest = np.argsort(-cost[edges[:, 0], edges[:, 1]], kind="stable")
        self.passed = pairs.sum(axis=1, dtype=np.int64) - self._needs
        network.drop(pairs, edges[dearest], self.passed)
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
