"""Algorithm 1: the cheapest pairs under prices that fall with every pair that needs the cell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.adaptive.kernels import costs, flow, network_simplex, pruning
from graphveil.methods.adaptive.problem import UNIT, Problem, Solution, position_of_columns

Ints = NDArray[np.int64]
PairMatrix = NDArray[np.int8]

ROWS = 4
"""The records whose arcs are looked at before a pivot: of 1 to n the quickest on most data."""

PRUNING_PASSES = 5


class LevelSchedule(NamedTuple):
    """How sharply a star that is needed anyway gets cheaper, step after step."""

    steps: int
    max_iterations: int

    @property
    def factors(self) -> list[float]:
        """What a price is multiplied by, per step."""
        return [factor_of(number) for number in range(1, self.steps + 1)]


def factor_of(number: int) -> float:
    """Return what a step multiplies a price by for every pair that needs the cell.

    It is e / (1 + e) for e = 1/2, 1/4, ...
    """
    return 1.0 / (2.0**number + 1.0)


class Solver:
    """Solves for the cheapest pairs, each time from where the last solve ended.

    `balanced`: degrees may exceed the levels; a record then fits as many as its person.
    """

    def __init__(
        self, columns: NDArray[np.int32], levels: Ints, *, may_exceed: bool = True
    ) -> None:
        n = levels.size
        self._columns = columns
        self._needs = levels - 1
        self._passes = int(may_exceed)
        self._costs = np.empty((n, n), dtype=np.int64)
        self._network: network_simplex.FlowNetwork | None = None
        self._order = np.arange(n)
        self.passed = np.zeros(n, dtype=np.int64)

    def start_anew(self, rng: np.random.Generator) -> None:
        """Forget where the last solve ended, and begin with other pairs among the cheapest."""
        self._network = None
        self._order = rng.permutation(self._needs.size)

    def costs(self, prices: Ints) -> Ints:
        """Return what every pair costs; on the diagonal what nobody would pay."""
        costs.pair_costs(self._columns, prices, self._costs)
        return self._with_diagonal()

    def _with_diagonal(self) -> Ints:
        np.fill_diagonal(self._costs, 0)
        too_much = (int(self._costs.max(initial=0)) + 1) * self._needs.size
        np.fill_diagonal(self._costs, too_much * network_simplex.OWN)
        return self._costs

    def cheapest(self, prices: Ints) -> PairMatrix:
        """Return the pairs that cost least, exactly."""
        return self.cheapest_at(self.costs(prices))

    def cheapest_at(self, cost: Ints) -> PairMatrix:
        """Return the pairs that cost least, exactly, where every pair has this cost."""
        if self._network is None:
            most = int(self._needs.max(initial=0))
            near = np.argpartition(cost[:, self._order], most, axis=1)[:, :most]
            self._network = network_simplex.network(self._needs, self._order[near])
        network_simplex.solve(self._network, cost, ROWS, self._passes)
        pairs = np.empty(cost.shape, dtype=np.int8)
        if network_simplex.flows(self._network, pairs, self.passed):
            raise TypeError("levels up to the number of rows can always be satisfied")
        return pairs


class Iteration(NamedTuple):
    """One solve: the factor of its step, its pairs, how many of them need each cell."""

    factor: float
    pairs: PairMatrix
    passed: Ints
    needs: Ints


def iterations(
    problem: Problem, schedule: LevelSchedule, solver: Solver, rng: np.random.Generator
) -> Iterator[Iteration]:
    """Yield every solve of the schedule, each from a tree of its own: it may choose other pairs."""
    for factor in schedule.factors:
        solver.start_anew(rng)
        yield from step(problem, schedule, solver, solved(problem, solver, factor))


def solved(
    problem: Problem, solver: Solver, factor: float, powers: float | NDArray[np.float64] = 1.0
) -> Iteration:
    """Return the solve at the prices times these powers of a factor."""
    pairs = solver.cheapest(whole(problem.prices * powers))
    return Iteration(factor, pairs, solver.passed.copy(), needs_of(problem, pairs))


def step(
    problem: Problem, schedule: LevelSchedule, solver: Solver, first: Iteration
) -> Iterator[Iteration]:
    """Yield the solves of a step, which ends where the stars cost no less than before."""
    yield first
    factor, needs, before = first.factor, first.needs, cost_of(problem, first.needs)
    for _ in range(schedule.max_iterations - 1):
        one = solved(problem, solver, factor, factor ** needs.astype(np.float64))
        yield one
        needs = one.needs
        now = cost_of(problem, needs)
        if now >= before:
            break
        before = now


def cost_of(problem: Problem, needs: Ints) -> float:
    """Return what the stars cost that are needed by some pair."""
    return float(problem.prices[needs > 0].sum())


def whole(prices: NDArray[np.float64]) -> Ints:
    """Return prices as whole numbers, 1 as `UNIT`."""
    return np.rint(prices * UNIT).astype(np.int64)


def needs_of(problem: Problem, pairs: PairMatrix) -> Ints:
    """Return how many pairs need each cell suppressed: pairs of its row, or of its row's class."""
    needs = np.empty(problem.codes.shape, dtype=np.int64)
    costs.count_needs(problem.columns, pairs, needs)
    if problem.classes is None:
        return needs
    of_class = np.zeros(
        (int(problem.classes.max(initial=-1)) + 1, problem.codes.shape[1]), dtype=np.int64
    )
    np.add.at(of_class, problem.classes, needs)
    return of_class[problem.classes]


def solve(problem: Problem, schedule: LevelSchedule, rng: np.random.Generator) -> Solution:
    """Return the pairs of the schedule that suppress least."""
    return solution_of(problem, best_of(problem, schedule, rng).pairs)


def best_of(
    problem: Problem, schedule: LevelSchedule, rng: np.random.Generator, *, may_exceed: bool = True
) -> Iteration:
    """Return the solve of the schedule whose stars cost least."""
    solver = Solver(problem.columns, problem.levels, may_exceed=may_exceed)
    tried = iterations(problem, schedule, solver, rng)
    return min(tried, key=lambda one: cost_of(problem, one.needs))


def fitting_pairs(problem: Problem, stars: NDArray[np.uint64]) -> PairMatrix:
    """Return 1 where record i, with these stars, fits person j, itself among them."""
    pairs = np.empty((problem.levels.size, problem.levels.size), dtype=np.int8)
    flow.fitting(problem.rows, stars, pairs)
    return pairs


def solution_of(problem: Problem, pairs: PairMatrix) -> Solution:
    """Return what these pairs suppress."""
    stars = np.empty_like(problem.rows.stars)
    flow.cover(problem.rows, pairs, stars)
    return Solution(pairs, stars)


def pruned(problem: Problem, solution: Solution) -> Solution:
    """Return a solution from which stars are gone that no record and no person needs."""
    pairs, stars = solution.pairs.copy(), solution.stars.copy()
    passed = pairs.sum(axis=1, dtype=np.int64) - problem.levels + 1
    chosen = flow.flow_of(problem.rows, passed)
    flow.load(problem.rows, stars, pairs, chosen)
    for _ in range(PRUNING_PASSES):
        cells = cells_to_try(problem, stars, needs_of(problem, pairs))
        gone = pruning.prune(problem.rows, stars, chosen, cells)
        flow.unload(chosen, pairs)
        if gone == 0:
            break
    return Solution(pairs, stars)


def cells_to_try(problem: Problem, stars: NDArray[np.uint64], needs: Ints) -> Ints:
    """Return the stars that were added, those first that the fewest pairs need, dear ones first.

    Rows, and columns by the bits that stand for them, shape (m, 2).
    """
    positions = position_of_columns(problem.codes)
    added = (stars & ~problem.rows.stars)[:, positions >> 6] >> (positions & 63).astype(np.uint64)
    rows, columns = np.nonzero(added & np.uint64(1))
    order = np.lexsort((-problem.prices[rows, columns], needs[rows, columns]))
    return np.column_stack([rows, positions[columns]])[order]
