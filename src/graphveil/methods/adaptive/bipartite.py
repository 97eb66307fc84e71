"""Algorithm 1: the cheapest pairs under prices that fall with every pair that needs the cell.

Choromanski, Jebara & Tang, *Adaptive Anonymity via b-Matching*, section 3, Algorithm 1 (variational
bipartite b-matching). Each iteration

1. finds the graph G of least cost, where the pair (i, j) costs the prices W_ik of the cells in
which rows i and j differ, and every record and person has at least its level of partners;
2. sets ``W_ik = w_ik (e / (1 + e))^z_ik``, where z_ik is the number of chosen pairs that need cell
(i, k) suppressed: a cell that is suppressed anyway becomes nearly free;

until the stars do not become fewer. The first iteration minimizes the Hamming error h(G); Theorem 1
bounds its stars by the largest level times the optimum, and Theorem 2 says that iterations never
add stars. The paper tries e = 1/2, 1/4, ..., 1/1024 and takes the solution with the fewest stars
(section 5).

Why the factor: the number of stars is not a sum over pairs, since two pairs that need the same cell
need one star. The sum over cells of ``1 - (e / (1 + e))^z`` approaches it as e falls. It is concave
in z, so the prices of step 2, in proportion to its slope at the present z, give a linear upper
bound (section 3). The next G minimizes that bound, so the sum never rises. Theorem 2 states this of
the stars themselves; here the cheapest solve of all counts in any case.

Departures: the pair of a person and the own record is always chosen and free. Degrees may exceed
the level and then are balanced, which puts every chosen pair into a full assignment; for equal
degrees this is Lemma 4.2. Every e starts from other pairs among the cheapest, so equal optima
differ. The permutation of the last line is the order of the release. `pruned` is graphveil's own.

A solve costs the network simplex's pivots times O(n), with O(n n d) for the costs of all pairs;
memory is O(n n), about 9 bytes for each pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.adaptive.kernels import costs, flow, network_simplex, pruning
from graphveil.methods.adaptive.problem import UNIT, Problem, Solution, position_of_columns

PairMatrix = NDArray[np.int8]

PRICED_RECORDS = 4
"""How many records are priced before a pivot of the network simplex: of 1 to n the fastest on most
data. It decides about time and about which of several optima is found."""

PRUNING_PASSES = 5
"""Passes over all stars at most; a pass that removes none is the last."""


class PriceSchedule(NamedTuple):
    """Which prices are tried.

    Parameters
    ----------
    steps
        How many values of e: 1/2, 1/4, ...
    max_iterations
        The most solves for each of them.
    """

    steps: int
    max_iterations: int

    @property
    def factors(self) -> list[float]:
        """What a price is multiplied by for each pair that needs the cell, step by step."""
        return [factor_of(number) for number in range(1, self.steps + 1)]


def factor_of(number: int) -> float:
    """Return e / (1 + e) for e = 2^-number: what a price is multiplied by for each pair."""
    return 1.0 / (2.0**number + 1.0)


class Solver:
    """Solve for the cheapest pairs, each time from where the last solve ended.

    Parameters
    ----------
    columns
        int32, shape (d, n): the codes by column.
    levels
        int64, shape (n,): the level of every row, itself included.
    may_exceed
        Whether degrees may exceed the levels; a record then fits as many persons as its person fits
        records. If False, all degrees are exactly the levels.

    Attributes
    ----------
    passed
        int64, shape (n,): by how much each degree exceeds its level, after a solve.
    """

    def __init__(
        self, columns: NDArray[np.int32], levels: Ints, *, may_exceed: bool = True
    ) -> None:
        n = levels.size
        self._columns = columns
        # How many partners everyone needs: one less than the level, as the own pair is always
        # chosen.
        self._partners = levels - 1
        self._passes = int(may_exceed)
        self._costs = np.empty((n, n), dtype=np.int64)
        self._network: network_simplex.FlowNetwork | None = None
        self._order = np.arange(n)
        self.passed = np.zeros(n, dtype=np.int64)

    def start_anew(self, rng: np.random.Generator) -> None:
        """Forget where the last solve ended, and start from other pairs among the cheapest."""
        self._network = None
        self._order = rng.permutation(self._partners.size)

    def costs(self, prices: Ints) -> Ints:
        """Return what every pair costs: int64, shape (n, n), with the diagonal out of reach.

        `prices`: int64, shape (n, d), by the record's row.
        """
        costs.pair_costs(self._columns, prices, self._costs)
        return self._with_diagonal()

    def _with_diagonal(self) -> Ints:
        np.fill_diagonal(self._costs, 0)
        # The price of an arc to the root of the simplex: more than any path costs, since a path
        # leads to each of n persons at most once. So no optimum uses the root.
        too_much = (int(self._costs.max(initial=0)) + 1) * self._partners.size
        np.fill_diagonal(self._costs, too_much * network_simplex.OWN)
        return self._costs

    def cheapest(self, prices: Ints) -> PairMatrix:
        """Return the pairs that cost least, exactly: int8, shape (n, n), 1 for a chosen pair."""
        return self.cheapest_at(self.costs(prices))

    def cheapest_at(self, cost: Ints) -> PairMatrix:
        """Return the pairs that cost least, exactly, if every pair has this cost."""
        if self._network is None:
            # A first solve starts from the cheapest pairs of every record; equal costs are decided
            # by the order of the columns.
            most = int(self._partners.max(initial=0))
            near = np.argpartition(cost[:, self._order], most, axis=1)[:, :most]
            self._network = network_simplex.network(self._partners, self._order[near])
        network_simplex.solve(self._network, cost, PRICED_RECORDS, self._passes)
        pairs = np.empty(cost.shape, dtype=np.int8)
        if network_simplex.flows(self._network, pairs, self.passed):
            raise TypeError("levels up to the number of rows can always be satisfied")
        return pairs


class Iteration(NamedTuple):
    """One solve.

    Parameters
    ----------
    factor
        The factor of its step.
    pairs
        int8, shape (n, n): its graph G.
    passed
        int64, shape (n,): by how much each degree exceeds its level.
    needs
        int64, shape (n, d): z, how many pairs need each cell suppressed. These are not the partners
        that a row needs.
    """

    factor: float
    pairs: PairMatrix
    passed: Ints
    needs: Ints


def iterations(
    problem: Problem, schedule: PriceSchedule, solver: Solver, rng: np.random.Generator
) -> Iterator[Iteration]:
    """Yield every solve of the schedule; each step starts from a tree of its own."""
    for factor in schedule.factors:
        solver.start_anew(rng)
        yield from step(problem, schedule, solver, solved(problem, solver, factor))


def solved(
    problem: Problem, solver: Solver, factor: float, powers: float | NDArray[np.float64] = 1.0
) -> Iteration:
    """Return the solve at the prices times these powers of a factor (one per cell, or 1)."""
    pairs = solver.cheapest(integer_prices(problem.prices * powers))
    return Iteration(factor, pairs, solver.passed.copy(), needs_of(problem, pairs))


def step(
    problem: Problem, schedule: PriceSchedule, solver: Solver, first: Iteration
) -> Iterator[Iteration]:
    """Yield the solves of one step, which ends once the stars cost no less than before."""
    # The first solve is given; its needs set the next prices (second line of Algorithm 1's loop).
    yield first
    factor, needs, before = first.factor, first.needs, cost_of(problem, first.needs)
    for _ in range(schedule.max_iterations - 1):
        # Line 2 of the loop: the price of a cell falls by the factor for every pair that needs it.
        iteration = solved(problem, solver, factor, factor ** needs.astype(np.float64))
        yield iteration
        needs = iteration.needs
        now = cost_of(problem, needs)
        # Theorem 2: the stars never cost more in a later iteration; if they cost no less, the step
        # ends.
        if now >= before:
            break
        before = now


def cost_of(problem: Problem, needs: Ints) -> float:
    """Return what the stars cost that some pair needs."""
    return float(problem.prices[needs > 0].sum())


def integer_prices(prices: NDArray[np.float64]) -> Ints:
    """Return prices as integers: int64, with 1 as `UNIT`."""
    return np.rint(prices * UNIT).astype(np.int64)


def needs_of(problem: Problem, pairs: PairMatrix) -> Ints:
    """Return how many pairs need each cell suppressed: int64, shape (n, d).

    With classes, the pairs of all rows of the class count.
    """
    needs = np.empty(problem.codes.shape, dtype=np.int64)
    costs.count_needs(problem.columns, pairs, needs)
    if problem.classes is None:
        return needs
    # A class is published as equal rows, so the needs of all its rows add up.
    of_class = np.zeros(
        (int(problem.classes.max(initial=-1)) + 1, problem.codes.shape[1]), dtype=np.int64
    )
    np.add.at(of_class, problem.classes, needs)
    return of_class[problem.classes]


def solve(problem: Problem, schedule: PriceSchedule, rng: np.random.Generator) -> Solution:
    """Return the pairs of the schedule whose stars cost least."""
    return solution_of(problem, best_of(problem, schedule, rng).pairs)


def best_of(
    problem: Problem, schedule: PriceSchedule, rng: np.random.Generator, *, may_exceed: bool = True
) -> Iteration:
    """Return the solve of the schedule whose stars cost least."""
    solver = Solver(problem.columns, problem.levels, may_exceed=may_exceed)
    tried = iterations(problem, schedule, solver, rng)
    return min(tried, key=lambda iteration: cost_of(problem, iteration.needs))


def fitting_pairs(problem: Problem, stars: NDArray[np.uint64]) -> PairMatrix:
    """Return 1 if record i, with these stars, fits person j: int8, shape (n, n), 1 for i = j."""
    pairs = np.empty((problem.levels.size, problem.levels.size), dtype=np.int8)
    flow.fitting(problem.rows, stars, pairs)
    return pairs


def solution_of(problem: Problem, pairs: PairMatrix) -> Solution:
    """Return these pairs with the cells that they need suppressed (Algorithm 1, Y)."""
    stars = np.empty_like(problem.rows.stars)
    flow.cover(problem.rows, pairs, stars)
    return Solution(pairs, stars)


def pruned(problem: Problem, solution: Solution) -> Solution:
    """Return a solution without the stars that no record and no person needs.

    graphveil's own: see the kernel `pruning`.
    """
    # Step 1: the pairs as a flow within all pairs that fit.
    pairs, stars = solution.pairs.copy(), solution.stars.copy()
    passed = pairs.sum(axis=1, dtype=np.int64) - problem.levels + 1
    chosen = flow.flow_of(problem.rows, passed)
    flow.load(problem.rows, stars, pairs, chosen)
    # Step 2: try the stars that the fewest pairs need first; what is removed changes the needs.
    for _ in range(PRUNING_PASSES):
        cells = cells_to_try(problem, stars, needs_of(problem, pairs))
        gone = pruning.prune(problem.rows, stars, chosen, cells)
        flow.unload(chosen, pairs)
        if gone == 0:
            break
    return Solution(pairs, stars)


def cells_to_try(problem: Problem, stars: NDArray[np.uint64], needs: Ints) -> Ints:
    """Return the added stars, those that the fewest pairs need first, then the expensive ones.

    int64, shape (m, 2): rows, and columns by their position among the bits. `needs`: from
    `needs_of`.
    """
    positions = position_of_columns(problem.codes)
    added = (stars & ~problem.rows.stars)[:, positions >> 6] >> (positions & 63).astype(np.uint64)
    rows, columns = np.nonzero(added & np.uint64(1))
    order = np.lexsort((-problem.prices[rows, columns], needs[rows, columns]))
    return np.column_stack([rows, positions[columns]])[order]
