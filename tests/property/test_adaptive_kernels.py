"""The compiled loops of `adaptive` and `cluster-k` against slow twins."""

from __future__ import annotations

from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, linprog, milp

from graphveil.methods.adaptive import exact, regular_search
from graphveil.methods.adaptive.bipartite import PriceSchedule, Solver, integer_prices, solution_of
from graphveil.methods.adaptive.choice import EqualClasses, pruned_by_class
from graphveil.methods.adaptive.clusters import clusters_by_level
from graphveil.methods.adaptive.clusters import stars_of as suppressed_by
from graphveil.methods.adaptive.kernels import (
    costs,
    exchange,
    flow,
    merging,
    network_simplex,
    planes,
    pruning,
    rounding,
)
from graphveil.methods.adaptive.kernels import regular_search as search
from graphveil.methods.adaptive.problem import (
    Solution,
    mask_of,
    packed,
    position_of_columns,
    problem_of,
)
from graphveil.methods.adaptive.symmetric import SymmetricSolver


@st.composite
def tables(draw, most_rows=7, most_columns=4, least_rows=1):
    """Return codes of a few rows, some cells of which are missing."""
    n = draw(st.integers(least_rows, most_rows))
    d = draw(st.integers(1, most_columns))
    cells = draw(st.lists(st.integers(-1, 2), min_size=n * d, max_size=n * d))
    return np.array(cells, dtype=np.int32).reshape(n, d)


def differ(codes, i, j):
    """Return in which columns rows i and j do not agree: a missing cell agrees with nothing."""
    return (codes[i] != codes[j]) | (codes[i] < 0) | (codes[j] < 0)


def shown_by(codes, rows):
    """Return the columns in which rows differ, or that are missing in one of them."""
    rows = list(rows)
    return (codes[rows] != codes[rows[0]]).any(axis=0) | (codes[rows] < 0).any(axis=0)


def clusters_in(labels):
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]


def stars_of(codes, labels):
    return sum(rows.size * shown_by(codes, rows).sum() for rows in clusters_in(labels))


@given(tables(most_columns=70))
def test_rows_differ_in_the_columns_in_which_their_codes_do(codes):
    rows = packed(codes)
    n = codes.shape[0]
    for i, j in [(0, n - 1), (n // 2, 0)]:
        words = [planes.differing(rows, i, rows, j, w) for w in range(rows.stars.shape[1])]
        bits = np.array([words], dtype=np.uint64)
        assert differ(codes, i, j).tolist() == mask_of(bits, codes)[0].tolist()
        assert differ(codes, i, j).sum() == planes.distance(rows, i, rows, j)
        assert (codes[i] < 0).sum() == planes.starred(rows, i)
    one = planes.Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets)
    planes.put(one, 0, rows, n - 1)
    planes.meet(one, 0, rows, n // 2)
    assert shown_by(codes, [n - 1, n // 2]).tolist() == mask_of(one.stars, codes)[0].tolist()


@given(tables())
def test_bits_come_back_as_cells(codes):
    assert (codes < 0).tolist() == mask_of(packed(codes).stars, codes).tolist()


def merged_slowly(codes, k):
    """Return clusters merged as `PLAIN` without shrinking, from rows that are all different."""
    groups = [(row,) for row in range(codes.shape[0])]
    done = []

    def cost(rows):
        return len(rows) * int(shown_by(codes, rows).sum())

    while len(groups) > 1:
        pairs = list(combinations(groups, 2))
        prices = [cost(one + two) - cost(one) - cost(two) for one, two in pairs]
        one, two = pairs[int(np.argmin(prices))]
        union = one + two
        slot = min(groups.index(one), groups.index(two))
        groups = [g for g in groups if g not in (one, two)]
        if len(union) >= k:
            done.append(union)
        else:
            groups.insert(slot, union)
    for row in [row for group in groups for row in group]:
        prices = [cost((*group, row)) - cost(group) for group in done]
        place = int(np.argmin(prices))
        done[place] = (*done[place], row)
    return done


@given(tables(least_rows=3), st.integers(2, 3), st.integers(0, 2), st.booleans())
def test_merged_clusters_are_large_enough_and_their_common_values_are_known(
    codes, k, divisor, shrink
):
    rows = packed(codes)
    work = merging.merging(rows, np.arange(codes.shape[0]))
    merging.merge(rows, work, merging.MergeRule(k, divisor, 0.0, int(shrink)))
    for members in clusters_in(work.labels):
        assert members.size >= k
        common = mask_of(work.common.stars[work.labels[members[:1]]], codes)[0]
        assert shown_by(codes, members).tolist() == common.tolist()


@pytest.mark.parametrize("k", [5, 7, 12])
def test_equal_rows_that_a_cluster_gives_back_stay_together(k):
    codes = np.repeat(np.array([[0, 0, 1], [0, 1, 0]], dtype=np.int32), 6, axis=0)
    rows = packed(codes)
    work = merging.merging(rows, np.repeat([0, 6], 6))
    merging.merge(rows, work, merging.MergeRule(k, merging.PLAIN, 0.0, 1))
    labels = np.repeat([0, 1], 6) if k <= 6 else np.zeros(12, dtype=np.int64)
    assert labels.tolist() == np.unique(work.labels, return_inverse=True)[1].tolist()


@given(tables(least_rows=2, most_columns=70))
def test_what_all_members_but_one_have_in_common_is_known(codes):
    rows = packed(codes)
    n = codes.shape[0]
    without, before = (
        planes.Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets) for _ in "12"
    )
    members = np.arange(n)[::-1].copy()
    planes.meets_without(rows, members, n, without, before)
    for row in range(n):
        others = np.setdiff1d(members, row)
        assert shown_by(codes, others).tolist() == mask_of(without.stars, codes)[row].tolist()


def test_the_cheapest_union_is_merged_first():
    rng = np.random.Generator(np.random.PCG64(7))
    for _ in range(20):
        codes = rng.integers(0, 40, size=(9, 5)).astype(np.int32) % 3
        rows = packed(codes)
        work = merging.merging(rows, np.arange(9))
        merging.merge(rows, work, merging.MergeRule(3, merging.PLAIN, 0.0, 0))
        slow = merged_slowly(codes, 3)
        assert sorted(map(sorted, slow)) == sorted(map(list, clusters_in(work.labels)))


def is_full(labels, levels):
    return all(rows.size >= levels[rows].max() for rows in clusters_in(labels))


def improved_slowly(codes, labels, levels, orders):
    """Return labels after the moves and exchanges of `improve`, each found by trying them all."""
    labels = labels.copy()
    for order in orders:
        changed = False
        for row in order:
            before, tried = stars_of(codes, labels), []
            for label in np.unique(labels):
                other = labels.copy()
                other[row] = label
                if is_full(other, levels):
                    tried.append(other)
            if not any(stars_of(codes, one) < before for one in tried):
                for partner in range(labels.size):
                    other = labels.copy()
                    other[[row, partner]] = other[[partner, row]]
                    if is_full(other, levels):
                        tried.append(other)
            best = min(tried, key=lambda one: stars_of(codes, one))
            if stars_of(codes, best) < before:
                labels, changed = best, True
        if not changed:
            break
    return labels


@pytest.mark.parametrize(("level", "expected"), [(2, [0, 0, 0, 1, 1]), (3, [0, 0, 0, 0, 1])])
def test_of_moves_that_save_none_is_into_a_cluster_below_the_level(level, expected):
    codes = np.array([[0, 0], [0, 0], [0, 0], [1, 1], [1, 1]], dtype=np.int32)
    rows = packed(codes)
    clusters = exchange.clusters_of(rows, np.array([0, 0, 0, 0, 1]))
    levels = np.array([3, 3, 3, level, 1])
    saved = exchange.improve(rows, clusters, levels, np.tile(np.arange(5, dtype=np.int32), (2, 1)))
    assert (8 if level == 2 else 0, expected) == (saved, clusters.labels.tolist())


@settings(max_examples=60)
@given(tables(least_rows=4, most_rows=9), st.booleans(), st.integers(0, 10_000))
def test_local_search_makes_the_moves_that_save_most(codes, differ, seed):
    n, k = codes.shape[0], 2
    rng = np.random.Generator(np.random.PCG64(seed))
    labels = rng.permutation(np.arange(n) % (n // k)).astype(np.int64)
    orders = rng.permuted(np.tile(np.arange(n, dtype=np.int32), (3, 1)), axis=1)
    levels = np.full(n, k)
    if differ:
        sizes = np.bincount(labels)
        levels = rng.integers(1, sizes[labels] + 1)
    rows = packed(codes)
    clusters = exchange.clusters_of(rows, labels)
    before = stars_of(codes, labels)
    saved = exchange.improve(rows, clusters, levels, orders)
    assert improved_slowly(codes, labels, levels, orders).tolist() == clusters.labels.tolist()
    assert before - saved == suppressed_by(clusters) == stars_of(codes, clusters.labels)
    for row in range(n):
        others = np.setdiff1d(np.flatnonzero(clusters.labels == clusters.labels[row]), row)
        if others.size:
            without = mask_of(clusters.without.stars[row : row + 1], codes)[0]
            assert shown_by(codes, others).tolist() == without.tolist()


@st.composite
def levels_of(draw, codes):
    n = codes.shape[0]
    return np.array(draw(st.lists(st.integers(1, n), min_size=n, max_size=n)))


@settings(max_examples=150)
@given(st.data(), st.integers(0, 10_000))
def test_clusters_by_level_have_as_many_rows_as_anybody_in_them_asked_for(data, seed):
    codes = data.draw(tables(most_rows=12))
    levels = data.draw(levels_of(codes))
    labels = clusters_by_level(packed(codes), levels, np.random.Generator(np.random.PCG64(seed)))
    assert is_full(labels, levels)
    assert set(range(labels.max() + 1)) == set(labels.tolist())


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([2, 3]), st.integers(0, 10_000))
def test_equal_classes_stay_equal_and_everybody_keeps_enough_pairs(data, size, seed):
    codes = data.draw(tables(most_rows=8))
    levels = data.draw(levels_of(codes))
    problem = problem_of(codes, levels, np.ones(codes.shape[1]))
    rng = np.random.Generator(np.random.PCG64(seed))
    found = EqualClasses(size)(problem, PriceSchedule(2, 3), rng)
    hidden = mask_of(found.stars, codes)
    shown = np.where(hidden, -1, codes)
    equal = (shown[:, None, :] == shown[None, :, :]).all(axis=2).sum(axis=1)
    assert (equal >= np.minimum(levels, size)).all()
    assert hidden[codes < 0].all()
    pairs = found.pairs + np.eye(len(codes), dtype=np.int8)
    assert (pairs.sum(axis=0) == pairs.sum(axis=1)).all(), "balanced: every pair is allowed"
    assert (pairs.sum(axis=0) >= levels).all()
    for i, j in np.argwhere(found.pairs):
        assert not (differ(codes, i, j) & ~hidden[i]).any()


def test_pruning_by_class_takes_what_nobody_needs():
    codes = np.array([[0, 0], [0, 0], [0, 1], [0, 1]], dtype=np.int32)
    problem = problem_of(codes, np.full(4, 2), np.ones(2))
    problem = problem._replace(classes=np.array([0, 0, 1, 1]))
    pairs = 1 - np.eye(4, dtype=np.int8)
    stars = words_of(np.tile([False, True], (4, 1)), codes)
    base = np.zeros((4, 2), dtype=np.bool_)
    assert not mask_of(pruned_by_class(problem, base, Solution(pairs, stars)).stars, codes).any()
    problem = problem._replace(levels=np.full(4, 3))
    left = mask_of(pruned_by_class(problem, base, Solution(pairs, stars)).stars, codes)
    assert [[False, True]] * 4 == left.tolist()


@given(tables(), st.integers(0, 10_000))
def test_a_pair_costs_the_cells_of_the_record_in_which_both_differ(codes, seed):
    n, d = codes.shape
    rng = np.random.Generator(np.random.PCG64(seed))
    prices = rng.integers(0, 5, size=(n, d))
    cost = np.empty((n, n), dtype=np.int64)
    columns = np.ascontiguousarray(codes.T)
    costs.pair_costs(columns, prices, cost)
    pairs = rng.integers(0, 2, size=(n, n)).astype(np.int8)
    needs = np.empty((n, d), dtype=np.int64)
    costs.count_needs(columns, pairs, needs)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        expected = [int(prices[i][differ(codes, i, j)].sum()) for j in others]
        assert expected == cost[i, others].tolist()
        chosen = [differ(codes, i, j) for j in others if pairs[i, j]]
        assert np.sum([np.zeros(d), *chosen], axis=0).tolist() == needs[i].tolist()


def cheapest_by_linear_programming(cost, needs, *, may_exceed):
    """Return the least cost of pairs that give each record i, and person i, needs[i] or more."""
    n = needs.size
    arcs = [(i, j) for i in range(n) for j in range(n) if i != j]
    rows = np.zeros((2 * n, len(arcs) + n))
    for number, (i, j) in enumerate(arcs):
        rows[i, number] += 1
        rows[n + j, number] += 1
    rows[range(n), range(len(arcs), len(arcs) + n)] = -1
    rows[range(n, 2 * n), range(len(arcs), len(arcs) + n)] = -1
    objective = np.array([float(cost[i, j]) for i, j in arcs] + [0.0] * n)
    bounds = [(0, 1)] * len(arcs) + [(0, None if may_exceed else 0)] * n
    found = linprog(objective, A_eq=rows, b_eq=np.tile(needs, 2), bounds=bounds, method="highs")
    return None if found.status == 2 else round(found.fun)


@settings(max_examples=60)
@given(tables(least_rows=1, most_rows=7), st.integers(0, 10_000), st.booleans())
def test_the_cheapest_pairs_are_those_of_linear_programming(codes, seed, may_exceed):
    n = codes.shape[0]
    rng = np.random.Generator(np.random.PCG64(seed))
    levels = rng.integers(1, n + 1, size=n)
    if not may_exceed:
        levels[:] = levels[0]
    solver = Solver(np.ascontiguousarray(codes.T), levels, may_exceed=may_exceed)
    for _ in range(3):
        cost = solver.costs(rng.integers(0, 4, size=codes.shape))
        pairs = solver.cheapest_at(cost)
        sums = pairs.sum(axis=1)
        assert sums.tolist() == pairs.sum(axis=0).tolist()
        assert (levels - 1 + solver.passed).tolist() == sums.tolist()
        assert 0 == np.trace(pairs)
        expected = cheapest_by_linear_programming(cost, levels - 1, may_exceed=may_exceed)
        assert expected == cost[pairs > 0].sum()


def test_a_tree_is_solved_for_other_costs_from_where_it_ended():
    rng = np.random.Generator(np.random.PCG64(5))
    needs = np.full(30, 3)
    cost = rng.integers(0, 100, size=(30, 30))
    np.fill_diagonal(cost, 3100 * network_simplex.OWN)
    near = np.argpartition(cost, 3, axis=1)[:, :3]
    net = network_simplex.network(needs, near)
    first = network_simplex.solve(net, cost, 4, 1)
    assert 0 == network_simplex.solve(net, cost, 4, 1)
    off_diagonal = ~np.eye(30, dtype=bool)
    cost[off_diagonal] += rng.integers(0, 3, size=30 * 29)
    again = network_simplex.solve(net, cost, 4, 1)
    pairs, passed = np.empty((30, 30), dtype=np.int8), np.empty(30, dtype=np.int64)
    assert 0 == network_simplex.flows(net, pairs, passed)
    assert cheapest_by_linear_programming(cost, needs, may_exceed=True) == cost[pairs > 0].sum()
    assert again < first


def fits(codes, hidden):
    """Return which record fits which person."""
    n = codes.shape[0]
    return np.array(
        [[not (differ(codes, i, j) & ~hidden[i]).any() for j in range(n)] for i in range(n)]
    )


def can_be_met(compatible, needs, *, may_exceed):
    """Whether pairs that fit give each record i, and each person i, needs[i], or more."""
    cost = np.where(compatible, 0, 1)
    return cheapest_by_linear_programming(cost, needs, may_exceed=may_exceed) == 0


@settings(max_examples=60)
@given(tables(least_rows=2, most_rows=6, most_columns=3), st.integers(0, 10_000), st.booleans())
def test_a_star_goes_where_pairs_that_fit_without_it_suffice_and_only_there(
    codes, seed, may_exceed
):
    n = codes.shape[0]
    rng = np.random.Generator(np.random.PCG64(seed))
    levels = rng.integers(1, n + 1, size=n)
    if not may_exceed:
        levels[:] = levels[0]
    solver = Solver(np.ascontiguousarray(codes.T), levels, may_exceed=may_exceed)
    pairs = solver.cheapest(rng.integers(1, 4, size=codes.shape))
    rows = packed(codes)
    stars = np.empty_like(rows.stars)
    flow.cover(rows, pairs, stars)
    hidden = mask_of(stars, codes)
    for i in range(n):
        needed = [differ(codes, i, j) for j in range(n) if pairs[i, j]] + [codes[i] < 0]
        assert np.any(needed, axis=0).tolist() == hidden[i].tolist()
    chosen = flow.flow_of(rows, solver.passed, may_exceed=may_exceed)
    flow.load(rows, stars, pairs, chosen)
    cells = np.argwhere(hidden & (codes >= 0))
    rng.shuffle(cells)
    bits = np.column_stack([cells[:, 0], position_of_columns(codes)[cells[:, 1]]])
    gone = pruning.prune(rows, stars, chosen, np.ascontiguousarray(bits))
    expected = hidden.copy()
    for i, k in cells:
        expected[i, k] = False
        if not can_be_met(fits(codes, expected), levels - 1, may_exceed=may_exceed):
            expected[i, k] = True
    assert expected.tolist() == mask_of(stars, codes).tolist()
    assert gone == hidden.sum() - expected.sum()
    flow.unload(chosen, pairs)
    assert pairs.sum(axis=0).tolist() == pairs.sum(axis=1).tolist()
    excess = pairs.sum(axis=0) - (levels - 1)
    assert (excess >= 0).all() if may_exceed else (excess == 0).all()
    assert not (pairs.astype(bool) & ~fits(codes, expected)).any()


def test_a_unit_that_is_sent_and_sent_back_leaves_the_pairs_as_they_were():
    n = 70
    rng = np.random.Generator(np.random.PCG64(3))
    codes = rng.integers(0, 2, size=(n, 3)).astype(np.int32)
    rows = packed(codes)
    pairs = np.roll(np.eye(n, dtype=np.int8), 66, axis=1)
    stars = np.empty_like(rows.stars)
    flow.cover(rows, pairs, stars)
    hidden = mask_of(stars, codes)
    i, j = 2, 69
    assert fits(codes, hidden)[i, j] == flow.fits(rows, stars, i, j)
    chosen = flow.flow_of(rows, np.ones(n, dtype=np.int64))
    flow.load(rows, stars, pairs, chosen)
    if not flow.is_set(chosen.free[i], j):
        flow.turn(chosen.free[i], j)
    flow.send(chosen, i, n + j)
    assert (0, 1) == (flow.is_set(chosen.free[i], j), flow.is_set(chosen.senders[j], i))
    flow.send(chosen, n + j, j)
    assert 2 == chosen.passed[j]
    flow.send(chosen, j, n + j)
    flow.send(chosen, n + j, i)
    assert (1, 0) == (flow.is_set(chosen.free[i], j), flow.is_set(chosen.senders[j], i))
    after = np.empty_like(pairs)
    flow.unload(chosen, after)
    assert pairs.tolist() == after.tolist()


def cheapest_by_trying_all(problem):
    """Return the least price of stars with which each of a few rows fits exactly one other."""
    n = problem.levels.size
    stars = [[differ(problem.codes, i, j) for j in range(n)] for i in range(n)]
    prices = integer_prices(problem.prices)
    price = np.array([[int(prices[i][stars[i][j]].sum()) for j in range(n)] for i in range(n)])
    return min(
        price[range(n), others].sum()
        for others in permutations(range(n))
        if not any(i == other for i, other in enumerate(others))
    )


def test_a_search_keeps_every_degree_and_ends_near_the_fewest_stars_of_small_tables():
    total, least = 0, 0
    for seed in range(12):
        rng = np.random.Generator(np.random.PCG64(seed))
        codes = rng.integers(-1, 2, size=(6, 5)).astype(np.int32)
        weights = rng.integers(0, 3, size=5).astype(float)
        problem = problem_of(codes, np.full(6, 2), weights)
        start = solution_of(problem, np.roll(np.eye(6, dtype=np.int8), 1, axis=1))
        end = regular_search.improved(problem, start, rng, trials=300)
        hidden = mask_of(end.stars, codes)
        price = integer_prices(problem.prices)[hidden].sum()
        assert price == search.price_of(
            problem.rows, end.stars, regular_search.prices_by_bit(problem)
        )
        assert [1] * 6 == end.pairs.sum(axis=0).tolist() == end.pairs.sum(axis=1).tolist()
        assert not (end.pairs.astype(bool) & ~fits(codes, hidden)).any()
        optimum = cheapest_by_trying_all(problem)
        assert optimum <= price
        total, least = total + price, least + optimum
    assert total <= 1.1 * least


def test_a_search_returns_what_its_stars_cost_and_its_pairs_fit_where_degrees_may_differ():
    rng = np.random.Generator(np.random.PCG64(2))
    codes = rng.integers(0, 2, size=(30, 6)).astype(np.int32)
    problem = problem_of(codes, np.full(30, 3), np.ones(6))
    solver = Solver(problem.columns, problem.levels)
    pairs = solver.cheapest(integer_prices(problem.prices))
    stars = solution_of(problem, pairs).stars
    chosen = flow.flow_of(problem.rows, solver.passed)
    flow.load(problem.rows, stars, pairs, chosen)
    room = search.buffers_for(
        chosen, stars, regular_search.prices_by_bit(problem), regular_search.nearest_rows(problem)
    )
    price = search.search(problem.rows, stars, chosen, room, 200, 0.8, 1 << 26, rng)
    hidden = mask_of(stars, codes)
    assert price == hidden.sum() << 26
    flow.unload(chosen, pairs)
    assert (2 + chosen.passed).tolist() == pairs.sum(axis=1).tolist()
    assert (2 + chosen.passed).tolist() == pairs.sum(axis=0).tolist()
    assert 0 <= chosen.passed.min() < chosen.passed.max()
    compatible = fits(codes, hidden)
    assert not (pairs.astype(bool) & ~compatible).any()
    free = [[flow.is_set(chosen.free[i], j) for j in range(30)] for i in range(30)]
    expected = compatible & (pairs == 0) & ~np.eye(30, dtype=bool)
    assert expected.astype(int).tolist() == free
    fitting = [
        [flow.is_set(chosen.words[flow.FITTING, j], i) for j in range(30)] for i in range(30)
    ]
    senders = [[flow.is_set(chosen.senders[j], i) for j in range(30)] for i in range(30)]
    assert free == fitting
    assert pairs.tolist() == senders


def cheapest_both_ways(cost, needs):
    """Return the least cost of pairs both ways that give each person i needs[i] or more."""
    edges = list(combinations(range(needs.size), 2))
    ends = np.array([[i in edge for edge in edges] for i in range(needs.size)], dtype=float)
    objective = np.array([float(cost[i, j] + cost[j, i]) for i, j in edges])
    enough = LinearConstraint(ends, lb=needs)
    solved = milp(objective, constraints=enough, integrality=np.ones(len(edges)), bounds=(0, 1))
    return round(solved.fun)


def test_rounded_pairs_cost_no_less_than_the_cheapest_both_ways_and_little_more():
    rounded, cheapest = 0, 0
    for seed in range(30):
        rng = np.random.Generator(np.random.PCG64(seed))
        codes = rng.integers(0, 3, size=(8, 4)).astype(np.int32)
        levels = rng.integers(1, 5, size=8)
        solver = SymmetricSolver(np.ascontiguousarray(codes.T), levels)
        prices = rng.integers(1, 4, size=codes.shape)
        cost = solver.costs(prices).copy()
        np.fill_diagonal(cost, 0)
        pairs = solver.cheapest(prices)
        assert pairs.tolist() == pairs.T.tolist()
        assert (pairs.sum(axis=1) >= levels - 1).all()
        exact = cheapest_both_ways(cost, levels - 1)
        flow_alone = cheapest_by_linear_programming(cost + cost.T, levels - 1, may_exceed=True)
        assert flow_alone / 2 <= exact <= cost[pairs > 0].sum()
        rounded, cheapest = rounded + cost[pairs > 0].sum(), cheapest + exact
    assert cheapest < rounded <= 1.02 * cheapest


def cheapest_of_all_subsets(cost, needs):
    """Return the least cost of pairs both ways with enough for everybody, by trying them all."""
    edges = np.array(list(combinations(range(needs.size), 2)))
    subsets = (np.arange(1 << len(edges))[:, np.newaxis] >> np.arange(len(edges))) & 1
    ends = np.array([[i in edge for edge in edges] for i in range(needs.size)])
    enough = (subsets @ ends.T >= needs).all(axis=1)
    return (subsets @ (cost + cost.T)[edges[:, 0], edges[:, 1]])[enough].min()


@settings(max_examples=60)
@given(tables(least_rows=2, most_rows=6), st.integers(0, 10_000), st.booleans())
def test_exact_pairs_both_ways_cost_as_little_as_any(codes, seed, alike):
    n = codes.shape[0]
    rng = np.random.Generator(np.random.PCG64(seed))
    levels = rng.integers(1, n + 1, size=n)
    prices = rng.integers(0, 2 if alike else 1 << 26, size=codes.shape)
    solver = SymmetricSolver(np.ascontiguousarray(codes.T), levels)
    cost = solver.costs(prices).copy()
    pairs = solver.exact(prices)
    assert pairs.tolist() == pairs.T.tolist()
    assert (levels - 1 + solver.passed).tolist() == pairs.sum(axis=1).tolist()
    assert (solver.passed >= 0).all()
    assert cheapest_of_all_subsets(cost, levels - 1) == cost[pairs > 0].sum()


@pytest.mark.parametrize("most", ["MOST_UNDECIDED", "node_limit"])
def test_pairs_that_are_not_proved_to_be_the_cheapest_are_those_that_were_rounded(
    monkeypatch, most
):
    rng = np.random.Generator(np.random.PCG64(1))
    codes = rng.integers(0, 4, size=(27, 6)).astype(np.int32)
    columns, levels = np.ascontiguousarray(codes.T), np.full(27, 2)
    prices = np.ones(codes.shape, dtype=np.int64)
    rounded = SymmetricSolver(columns, levels).cheapest(prices)
    solver = SymmetricSolver(columns, levels)
    cost = solver.costs(prices).copy()
    assert cost[solver.exact(prices) > 0].sum() < cost[rounded > 0].sum()
    if most == "node_limit":
        ended = SimpleNamespace(x=None, status=exact.GIVEN_UP)
        monkeypatch.setattr(exact, "_integer_program", lambda *_: ended)
    else:
        monkeypatch.setattr(exact, most, 0)
    given_up = SymmetricSolver(columns, levels).exact(prices)
    assert rounded.tolist() == given_up.tolist()


def balanced_pairs(n, rng):
    """Return pairs of which as many lead to everyone as away: a union of closed walks."""
    pairs = np.zeros((n, n), dtype=np.int8)
    for _ in range(rng.integers(1, 4)):
        walk = rng.permutation(n)[: rng.integers(2, n + 1)]
        arcs = list(zip(walk, np.roll(walk, -1), strict=True))
        if not any(pairs[one, other] for one, other in arcs):
            for one, other in arcs:
                pairs[one, other] = 1
    return pairs


@given(st.integers(2, 8), st.integers(0, 10_000))
def test_pairs_become_mutual_and_nobody_has_fewer(n, seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    pairs = balanced_pairs(n, rng)
    cost = rng.integers(0, 9, size=(n, n))
    cost += cost.T
    before, kept = pairs.sum(axis=1), pairs & pairs.T
    half = (cost * pairs).sum() / 2
    rounding.make_symmetric(cost, pairs, rounding.tour_for(pairs))
    assert set(np.unique(pairs)) <= {0, 1}
    assert pairs.tolist() == pairs.T.tolist()
    assert (pairs >= kept).all()
    assert (pairs.sum(axis=1) >= before).all()
    assert pairs.sum() <= before.sum() + n
    if pairs.sum() == before.sum():
        assert (cost * pairs).sum() / 2 <= half


def test_an_odd_tour_keeps_the_cheapest_of_all_ways_to_take_every_other_pair():
    cost = np.zeros((5, 5), dtype=np.int64)
    pairs = np.zeros((5, 5), dtype=np.int8)
    for i, price in enumerate([7, 3, 9, 2, 8]):
        j = (i + 1) % 5
        cost[i, j] = cost[j, i] = price
        pairs[i, j] = 1
    ways = [[(s + 2 * t) % 5 for t in range(3)] for s in range(5)]
    prices = [7, 3, 9, 2, 8]
    rounding.make_symmetric(cost, pairs, rounding.tour_for(pairs))
    assert min(sum(prices[i] for i in way) for way in ways) == (cost * pairs).sum() // 2


@given(st.integers(2, 7), st.integers(0, 10_000))
def test_pairs_are_given_up_in_order_where_both_sides_have_more_than_they_need(n, seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    pairs = np.triu(rng.integers(0, 2, size=(n, n)), 1).astype(np.int8)
    edges = rng.permutation(np.argwhere(pairs))
    pairs += pairs.T
    needs = rng.integers(0, pairs.sum(axis=1) + 1)
    expected = pairs.copy()
    for i, j in edges:
        if expected[i].sum() > needs[i] and expected[j].sum() > needs[j]:
            expected[i, j] = expected[j, i] = 0
    rounding.drop(pairs, np.ascontiguousarray(edges), pairs.sum(axis=1) - needs)
    assert expected.tolist() == pairs.tolist()


@given(tables(least_rows=2, most_rows=6, most_columns=3), st.integers(0, 10_000))
def test_a_star_goes_where_all_keep_enough_mutual_pairs_and_only_there(codes, seed):
    n = codes.shape[0]
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = packed(codes)
    hidden = (rng.random(codes.shape) < 0.7) | (codes < 0)
    stars = words_of(hidden, codes)
    pairs = np.empty((n, n), dtype=np.int8)
    flow.fitting(rows, stars, pairs)
    alone = np.eye(n, dtype=bool)
    assert (fits(codes, hidden) | alone).tolist() == pairs.astype(bool).tolist()
    pairs &= pairs.T.copy()
    np.fill_diagonal(pairs, 0)
    degrees = pairs.sum(axis=1, dtype=np.int64)
    needs = rng.integers(0, degrees + 1)
    cells = np.argwhere(hidden & (codes >= 0))
    bits = np.column_stack([cells[:, 0], position_of_columns(codes)[cells[:, 1]]])
    gone = pruning.prune_mutual(rows, stars, pairs, degrees - needs, np.ascontiguousarray(bits))
    after = hidden.copy()
    for i, k in cells:
        after[i, k] = False
        mutual = fits(codes, after) & fits(codes, after).T
        if (mutual.sum(axis=1) - 1 < needs).any():
            after[i, k] = True
    assert after.tolist() == mask_of(stars, codes).tolist()
    assert gone == hidden.sum() - after.sum()


def words_of(hidden, codes):
    """Return suppressed cells as words, in the order in which the codes' columns are packed."""
    words = np.zeros_like(packed(codes).stars)
    for column, bit in enumerate(position_of_columns(codes).tolist()):
        words[:, bit >> 6] |= hidden[:, column].astype(np.uint64) << np.uint64(bit & 63)
    return words
