"""Regular search: fewer stars, while every degree stays exactly the level.

graphveil's own, from the pairs of Algorithm 1 of Choromanski, Jebara & Tang with degrees equal to
the level, their family G_b. The search is in the kernel of the same name. All levels must be equal:
otherwise exact degrees may be infeasible. A trial costs O(n n) at most for each pair that it
reroutes, and there are a fixed number of trials, never a time, so that a seed repeats.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.adaptive.bipartite import PriceSchedule, best_of, integer_prices, solution_of
from graphveil.methods.adaptive.kernels import costs, flow
from graphveil.methods.adaptive.kernels import regular_search as kernel
from graphveil.methods.adaptive.problem import UNIT, Problem, Solution, position_of_columns

TRIALS, LEAST_TRIALS = 250, 10
"""Trials per row are `TRIALS` over the level, but at least `LEAST_TRIALS`: a trial costs about the
square of the level. More trials save more stars, for proportional time."""

HEAT = 0.8
"""The temperature of the first trials, in stars: how readily a trial that costs more is kept."""

NEAREST = 40
"""How many of the rows that are most similar to a row may lose stars together with it."""


def searched(problem: Problem, schedule: PriceSchedule, rng: Generator) -> Solution:
    """Return pairs that give everyone exactly the level, and suppress little."""
    start = solve_regularly(problem, schedule, rng)
    return improved(problem, start, rng, trials=trials_of(problem))


def solve_regularly(problem: Problem, schedule: PriceSchedule, rng: Generator) -> Solution:
    """Return the pairs of Algorithm 1 with all degrees exactly the level, without the search."""
    return solution_of(problem, best_of(problem, schedule, rng, may_exceed=False).pairs)


def trials_of(problem: Problem) -> int:
    """Return how many changes are tried; all levels are equal."""
    return problem.levels.size * max(TRIALS // int(problem.levels[0]), LEAST_TRIALS)


def improved(problem: Problem, start: Solution, rng: Generator, *, trials: int) -> Solution:
    """Return the end of a search from pairs whose degrees are all exactly the level.

    `trials`: how many changes are tried.
    """
    n = problem.levels.size
    if n == 1:
        return start
    # Step 1: the pairs as a flow in which nothing is passed on, so degrees stay.
    stars, pairs = start.stars.copy(), start.pairs.copy()
    chosen = flow.flow_of(problem.rows, np.zeros(n, dtype=np.int64), may_exceed=False)
    flow.load(problem.rows, stars, pairs, chosen)
    # Step 2: the search, in whole prices, and the pairs it ends with.
    work = kernel.buffers_for(chosen, stars, prices_by_bit(problem), nearest_rows(problem))
    kernel.search(problem.rows, stars, chosen, work, trials, HEAT, UNIT, rng)
    flow.unload(chosen, pairs)
    return Solution(pairs, stars)


def prices_by_bit(problem: Problem) -> Ints:
    """Return the prices as integers by bit: int64, shape (n, bits), -1 for unused bits."""
    n, d = problem.codes.shape
    # Bits behind the last column stand for no cell: they have no price.
    prices = np.full((n, problem.rows.stars.shape[1] * 64), -1)
    prices[:, position_of_columns(problem.codes)[:d]] = integer_prices(problem.prices)
    return prices


def nearest_rows(problem: Problem) -> NDArray[np.int32]:
    """Return for each row those that differ from it in the fewest columns: int32, shape (n, m)."""
    n = problem.levels.size
    # With a price of 1 for every cell, the cost of a pair is the number of columns in which it
    # differs.
    apart = np.empty((n, n), dtype=np.int64)
    costs.pair_costs(problem.columns, np.ones(problem.codes.shape, dtype=np.int64), apart)
    np.fill_diagonal(apart, np.iinfo(np.int64).max)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, : min(NEAREST, n - 1)]
    return np.ascontiguousarray(nearest.astype(np.int32))
