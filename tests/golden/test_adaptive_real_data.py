"""Stars on the paper's tables: the first solve exactly, everything else as good as the reference.

The reference is a prototype that was run once; ties fall elsewhere here. Three percent more stars
are allowed for the plain clusters and for both algorithms, five for local search and for pruning.
Of the networks, and for Algorithm 2, levels up to 10 are kept here: level 20 takes as long as all
else together.
"""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from tests.adaptive_data import codes_of, in_order
from tests.shared_data import shared

from graphveil.methods.adaptive import bipartite, regular_search, symmetric
from graphveil.methods.adaptive.adaptive import chances
from graphveil.methods.adaptive.clusters import clusters, stars_of
from graphveil.methods.adaptive.kernels import flow
from graphveil.methods.adaptive.kernels import regular_search as search
from graphveil.methods.adaptive.problem import UNIT, packed, problem_of

TABLE = """
    wine,2,184,214,214,185,184,184
    wine,5,1036,846,686,763,768,703
    wine,10,3098,1273,1133,1237,1168,1073
    wine,20,8434,1831,1600,1537,1424,1384
    heart,2,542,596,581,548,542,542
    heart,5,2606,1987,1639,1793,1818,1734
    heart,20,16920,3449,3148,3112,2884,2859
    bupa,5,188,174,147,140,131,120
    bupa,20,4068,854,771,865,709,654
    hepatitis,5,548,455,375,398,416,365
    ecoli,5,248,198,159,157,157,151
    ecoli,20,3438,793,776,753,693,649
    forest,5,7188,5784,4592,5222,5288,5050
    forest,20,48084,11939,9895,10488,9419,9200
"""
ROWS = [line.strip().split(",") for line in TABLE.split()]
FRIENDS = """
    Caltech,10,5969,13886,11594,8903,7953,7531
    Reed,10,7412,18430,16579,12103,10943,10511
"""
NETWORKS = [line.strip().split(",") for line in FRIENDS.split()]
FOLDERS = {"Caltech": "fb100-Caltech36", "Reed": "fb100-Reed98"}
SCHEDULE = bipartite.PriceSchedule(steps=10, max_iterations=20)


def count(stars):
    return int(np.bitwise_count(stars).sum())


def clustered(codes, k, search):
    rng = np.random.Generator(np.random.PCG64(1))
    return stars_of(clusters(packed(codes), k, search, rng))


def levels_by_friends(name, n, delta):
    """Return the paper's levels: who has more friends asks for more."""
    with gzip.open(shared(f"{FOLDERS[name]}/edges.tsv.gz"), "rt") as file:
        ends = np.loadtxt(file, dtype=np.int64, ndmin=2)
    friends = np.bincount(ends.ravel(), minlength=n)[:n]
    logarithm = np.floor(np.log(np.maximum(friends, 1))).astype(np.int64)
    return np.maximum(1, delta - (5 - logarithm))


def solved(codes, levels):
    """Return the first solve's errors, the stars of Algorithm 1 and after pruning; check the rest.

    The function that a step brings down never rises, nor do the stars; degrees are balanced.
    """
    problem = problem_of(codes, levels, np.ones(codes.shape[1]))
    before = None
    best, first = None, None
    solver = bipartite.Solver(problem.columns, problem.levels)
    rng = np.random.Generator(np.random.PCG64(1))
    for one in bipartite.iterations(problem, SCHEDULE, solver, rng):
        first = int(one.needs.sum()) if first is None else first
        value = float((1.0 - one.factor ** one.needs.astype(float)).sum())
        stars = bipartite.cost_of(problem, one.needs)
        if before is not None and before[0] == one.factor:
            assert value <= before[1] + 1e-4
            assert stars <= before[2]
        before = (one.factor, value, stars)
        assert (one.pairs.sum(axis=0) == one.pairs.sum(axis=1)).all()
        assert (one.pairs.sum(axis=0) >= levels - 1).all()
        best = one if best is None or stars < bipartite.cost_of(problem, best.needs) else best
    start = bipartite.solution_of(problem, best.pairs)
    return first, count(start.stars), count(bipartite.pruned(problem, start).stars)


@pytest.mark.parametrize("row", ROWS, ids="-".join)
def test_tables_of_the_paper_need_no_more_stars_than_the_reference(row):
    name, *numbers = row
    delta, errors, plain, local, _, algorithm_1, pruned = map(int, numbers)
    codes = in_order(codes_of(name))
    found = solved(codes, np.full(codes.shape[0], delta))
    assert errors == found[0]
    assert found[1] <= 1.03 * algorithm_1
    assert found[2] <= 1.05 * pruned
    assert clustered(codes, delta, "plain") <= 1.03 * plain
    assert clustered(codes, delta, "local") <= 1.05 * local


@pytest.mark.parametrize("row", [row for row in ROWS if int(row[1]) <= 10], ids="-".join)
def test_pairs_both_ways_need_no_more_stars_than_the_reference(row, monkeypatch):
    """The start from clusters, which the reference lacks, is left out: it hides what is worse."""
    monkeypatch.setattr(symmetric, "_other_starts", lambda *given: [bipartite.best_of(*given[:3])])
    name, *numbers = row
    delta, *_, algorithm_2, _, _ = map(int, numbers)
    codes = in_order(codes_of(name))
    problem = problem_of(codes, np.full(codes.shape[0], delta), np.ones(codes.shape[1]))
    rng = np.random.Generator(np.random.PCG64(1))
    solution = symmetric.solve(problem, SCHEDULE, rng)
    assert (solution.pairs == solution.pairs.T).all()
    assert solution.pairs.sum(axis=1).min() >= delta - 1
    assert count(solution.stars) <= 1.03 * algorithm_2


@pytest.mark.parametrize(("name", "errors", "stars"), [("wine", 184, 184), ("heart", 544, 543)])
def test_exact_pairs_both_ways_err_in_no_more_cells_than_the_reference(name, errors, stars):
    """Rounded, they err in 184 to 192 cells of wine, and 548 to 556 of the hearts."""
    codes = in_order(codes_of(name))
    problem = problem_of(codes, np.full(codes.shape[0], 2), np.ones(codes.shape[1]))
    prices = bipartite.integer_prices(problem.prices)
    pairs = symmetric.SymmetricSolver(problem.columns, problem.levels).exact(prices)
    rounded = symmetric.SymmetricSolver(problem.columns, problem.levels).cheapest(prices)
    assert errors == bipartite.needs_of(problem, pairs).sum()
    assert errors < bipartite.needs_of(problem, rounded).sum()
    rng = np.random.Generator(np.random.PCG64(1))
    assert stars == count(symmetric.solve(problem, SCHEDULE, rng).stars)


@pytest.mark.parametrize("row", NETWORKS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_networks_of_friends_need_no_more_stars_than_the_reference(row):
    name, *numbers = row
    delta, total, errors, plain, local, algorithm_1, pruned = map(int, numbers)
    codes = codes_of(name)
    levels = levels_by_friends(name, codes.shape[0], delta)
    order = np.lexsort((levels, *codes.T))
    codes, levels = np.ascontiguousarray(codes[order]), levels[order]
    assert total == levels.sum()
    found = solved(codes, levels)
    assert errors == found[0]
    assert found[1] <= 1.03 * algorithm_1
    assert found[2] <= 1.05 * pruned
    k = int(levels.max())
    assert clustered(codes, k, "plain") <= 1.03 * plain
    assert clustered(codes, k, "local") <= 1.05 * local


@pytest.mark.parametrize(
    ("name", "reference"), [("wine", 632), ("heart", 1520), ("hepatitis", 339)]
)
def test_regular_search_needs_no_more_stars_than_the_reference(name, reference, monkeypatch):
    """A part of the trials is enough for that."""
    monkeypatch.setattr(regular_search, "TRIALS", 50)
    codes = in_order(codes_of(name))
    problem = problem_of(codes, np.full(codes.shape[0], 5), np.ones(codes.shape[1]))
    rng = np.random.Generator(np.random.PCG64(1))
    end = regular_search.searched(problem, SCHEDULE, rng)
    assert {4} == set(end.pairs.sum(axis=0)) == set(end.pairs.sum(axis=1))
    assert count(end.stars) <= 1.05 * reference


def test_search_with_degrees_of_at_least_the_level_must_not_be_offered_as_equal_privacy():
    """On the hearts every count is kept with far fewer stars, and somebody is all but certain."""
    codes = in_order(codes_of("heart"))
    n = codes.shape[0]
    problem = problem_of(codes, np.full(n, 5), np.ones(codes.shape[1]))
    rng = np.random.Generator(np.random.PCG64(1))
    start = bipartite.solve(problem, bipartite.PriceSchedule(steps=3, max_iterations=5), rng)
    stars = start.stars.copy()
    passed = start.pairs.sum(axis=1, dtype=np.int64) - 4
    chosen = flow.flow_of(problem.rows, passed)
    flow.load(problem.rows, stars, start.pairs, chosen)
    prices, near = regular_search.prices_by_bit(problem), regular_search.nearest_rows(problem)
    room = search.buffers_for(chosen, stars, prices, near)
    search.search(problem.rows, stars, chosen, room, 5 * n, regular_search.HEAT, UNIT, rng)
    compatible = bipartite.fitting_pairs(problem, stars)
    assert min(compatible.sum(axis=0).min(), compatible.sum(axis=1).min()) >= 5
    assert count(stars) < 0.8 * count(start.stars)
    before = dict(chances(bipartite.fitting_pairs(problem, start.stars)))
    after = dict(chances(compatible))
    assert before["largest_chance_estimated"] < 0.4
    assert after["largest_chance_estimated"] > 0.99
