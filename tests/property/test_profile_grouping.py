"""Groups of profiles against every partition and a slow count of their costs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.methods.profile.kernels.grouping import (
    NEVER,
    Costs,
    Cuts,
    Groups,
    best_cuts,
    cut_anew,
    fill,
    improve,
    nearest_above,
    ranges,
)
from graphveil.methods.profile.targets import ADDITIONS, Prices, classes, hilbert, plan_of_profiles

PRICES = st.sampled_from([Prices(1, 1), Prices(2, 3), ADDITIONS])


def spread(values, prices):
    """Return the least cost at which values become one of them."""
    costs = []
    for goal in values:
        steps = [goal - value for value in values]
        if prices.rises and min(steps) < 0:
            continue
        costs.append(sum(prices.up * s if s > 0 else -prices.down * s for s in steps))
    return min(costs)


def cost_of(points, prices):
    return sum(spread([point[c] for point in points], prices) for c in range(2))


@st.composite
def people(draw, most=12, colors=2):
    n = draw(st.integers(1, most))
    number = st.integers(0, 6)
    points = draw(st.lists(st.tuples(number, number), min_size=n, max_size=n))
    of_person = draw(st.lists(st.integers(0, colors - 1), min_size=n, max_size=n))
    return np.array(points, dtype=np.int64), np.array(of_person, dtype=np.int64)


def costs_of(points, colors, prices, alone):
    return Costs(points, colors, np.array(alone, dtype=np.int64), prices.up, prices.down)


def slow_cuts(points, colors, order, alone, k, prices):
    """Return the least cost of any cut of an order into groups of k to 2k-1 and single people."""

    @cache
    def least(end):
        if end == 0:
            return 0
        ways = [least(end - 1) + alone[order[end - 1]]]
        for size in range(k, min(2 * k - 1, end) + 1):
            group = order[end - size : end]
            if len({colors[person] for person in group}) == 1:
                ways.append(least(end - size) + cost_of([points[p] for p in group], prices))
        return min(*ways, NEVER) if len(ways) > 1 else min(ways[0], NEVER)

    return least(len(order))


def empty_groups(n, k):
    rows, most = max(n // k, 1), 3 * k + 2
    return Groups(
        np.full((rows, most), -1, dtype=np.int64),
        np.zeros(rows, dtype=np.int64),
        np.zeros(rows, dtype=np.int64),
        np.full(n, -1, dtype=np.int64),
        np.zeros((rows, 2, most + 1), dtype=np.int64),
        np.zeros((rows, 2, most + 2), dtype=np.int64),
    )


def new_cuts(n, k):
    sizes = (n + 1, n + 1, n + 1, (2, k + 1), 2 * k, 2 * k)
    return Cuts(*(np.empty(size, dtype=np.int64) for size in sizes))


def cut_and_filled(costs, order, k):
    cuts = new_cuts(order.size, k)
    best_cuts(costs, order, k, cuts, NEVER)
    groups = empty_groups(costs.colors.size, k)
    fill(costs, groups, order, cuts.size_at)
    return groups


def assert_counted(costs, groups, k, prices):
    """Every group is of one color and of at least k, and costs what it says."""
    members = [groups.members[g, :size].tolist() for g, size in enumerate(groups.sizes.tolist())]
    for g, inside in enumerate(members):
        if inside:
            assert len(inside) >= k
            assert 1 == len({int(costs.colors[person]) for person in inside})
            assert groups.costs[g] == cost_of([costs.points[p] for p in inside], prices)
        else:
            assert 0 == groups.costs[g]
    grouped = sorted(person for inside in members for person in inside)
    assert grouped == np.flatnonzero(groups.group_of >= 0).tolist()
    for g, inside in enumerate(members):
        assert all(groups.group_of[person] == g for person in inside)
        for c in range(2):
            values = sorted(costs.points[inside, c].tolist())
            assert values == groups.values[g, c, : len(values)].tolist()
            sums = [sum(values[:i]) for i in range(len(values) + 1)]
            assert not inside or sums == groups.sums[g, c, : len(sums)].tolist()


def total(costs, groups):
    return int(groups.costs.sum() + costs.alone[groups.group_of < 0].sum())


@settings(deadline=None)
@given(people(), st.integers(1, 4), PRICES, st.data())
def test_the_cut_of_an_order_costs_the_least_that_any_cut_does(some, k, prices, data):
    points, colors = some
    alone = data.draw(
        st.lists(st.sampled_from([1, 3, 9, NEVER]), min_size=len(points), max_size=len(points))
    )
    order = np.array(data.draw(st.permutations(range(len(points)))), dtype=np.int64)
    costs = costs_of(points, colors, prices, alone)
    expected = slow_cuts(points, colors, order.tolist(), alone, k, prices)
    assert expected == best_cuts(costs, order, k, new_cuts(order.size, k), NEVER)
    if expected < NEVER:
        groups = cut_and_filled(costs, order, k)
        assert_counted(costs, groups, k, prices)
        assert expected == total(costs, groups)


@settings(deadline=None)
@given(people(), st.integers(1, 4), PRICES, st.data())
def test_a_cut_is_given_up_only_where_none_costs_less_than_the_bound(some, k, prices, data):
    points, colors = some
    alone = data.draw(
        st.lists(st.sampled_from([1, 3, 9, NEVER]), min_size=len(points), max_size=len(points))
    )
    order = np.lexsort((data.draw(st.permutations(range(len(points)))), colors))
    costs = costs_of(points, colors, prices, alone)
    cuts = new_cuts(order.size, k)
    least = best_cuts(costs, order, k, cuts, NEVER)
    sizes = cut_sizes(cuts.size_at)
    for bound in {least // 2, least, min(least + 1, NEVER), min(2 * least, NEVER)}:
        expected = least if least < bound else NEVER
        assert expected == best_cuts(costs, order, k, cuts, bound)
        assert expected == NEVER or sizes == cut_sizes(cuts.size_at)


def cut_sizes(size_at):
    sizes, end = [], size_at.size - 1
    while end > 0:
        sizes.append(int(size_at[end]))
        end -= max(sizes[-1], 1)
    return sizes


@settings(deadline=None)
@given(people(most=24, colors=1), st.integers(1, 4), PRICES, st.integers(0, 2**32))
def test_every_improvement_gains_what_it_says_and_keeps_groups_of_k(some, k, prices, seed):
    points, colors = some
    if len(points) < k:
        return
    rng = np.random.Generator(np.random.PCG64(seed))
    alone = rng.choice([2, 5, NEVER], size=len(points))
    costs = costs_of(points, colors, prices, alone)
    groups = cut_and_filled(costs, np.arange(len(points)), k)
    near = np.tile(np.arange(min(4, groups.sizes.size)), (len(points), 1))
    for step in (
        lambda order: improve(costs, groups, near, order, k),
        lambda order: cut_anew(costs, groups, near, order, k, rng),
    ):
        before = total(costs, groups)
        gain = step(rng.permutation(len(points)))
        assert gain >= 0
        assert before - gain == total(costs, groups)
        assert_counted(costs, groups, k, prices)


@settings(deadline=None)
@given(people(most=16), st.integers(1, 3), PRICES)
def test_between_low_and_high_a_group_costs_the_same_and_above_more(some, k, prices):
    points, _ = some
    colors = np.zeros(len(points), dtype=np.int64)
    if len(points) < k:
        return
    costs = costs_of(points, colors, prices, [NEVER] * len(points))
    groups = cut_and_filled(costs, np.arange(len(points)), k)
    low, high = (np.zeros((groups.sizes.size, 2), dtype=np.int64) for _ in range(2))
    ranges(costs, groups, low, high)
    for g in np.flatnonzero(groups.sizes).tolist():
        inside = points[groups.members[g, : groups.sizes[g]]]
        for goal in (low[g], high[g]):
            assert prices.of(goal - inside).sum() == groups.costs[g]
        for side in range(2):
            above = high[g].copy()
            above[side] += 1
            assert prices.of(above - inside).sum() > groups.costs[g]


@settings(deadline=None)
@given(people(), st.data())
def test_the_nearest_cell_above_is_the_first_that_is_nowhere_below(some, data):
    points, colors = some
    n = len(points)
    cells = np.array(data.draw(st.lists(st.integers(0, n - 1), unique=True)), dtype=np.int64)
    out = np.empty(n, dtype=np.int64)
    nearest_above(points, colors, cells, np.arange(n), out)
    for person in range(n):
        above = [
            x
            for x in cells.tolist()
            if colors[x] == colors[person] and (points[x] >= points[person]).all()
        ]
        assert out[person] == (above[0] if above else -1)


@pytest.mark.parametrize("side", [2, 4, 16])
def test_a_hilbert_curve_visits_every_point_once_by_steps_of_one(side):
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(side), np.arange(side)))
    order = np.argsort(hilbert(x, y))
    assert list(range(side * side)) == np.sort(hilbert(x, y)).tolist()
    steps = np.abs(np.diff(x[order])) + np.abs(np.diff(y[order]))
    assert (steps == 1).all()


def partitions(items, k):
    """Yield every way to put items into groups of at least k."""
    if not items:
        yield []
        return
    first, *others = items
    for mask in range(1 << len(others)):
        group = [first, *(other for i, other in enumerate(others) if mask >> i & 1)]
        if len(group) >= k:
            rest = [other for other in others if other not in group]
            for groups in partitions(rest, k):
                yield [group, *groups]


@settings(deadline=None)
@given(people(most=8, colors=1), st.integers(1, 3), PRICES, st.integers(0, 2**32))
def test_a_plan_is_anonymous_and_no_better_than_the_best_partition(some, k, prices, seed):
    points, colors = some
    if len(points) < k:
        return
    rng = np.random.Generator(np.random.PCG64(seed))
    plan = plan_of_profiles(points, colors, k, prices, rng)
    assert classes(*plan.target.T)[1].min() >= k
    assert not prices.rises or (plan.target >= points).all()
    assert best_partition(points, k, prices) <= prices.of(plan.target - points).sum()


def best_partition(points, k, prices):
    """Return the least price of all partitions into groups of at least k."""
    return min(
        sum(cost_of([points[p] for p in group], prices) for group in groups)
        for groups in partitions(list(range(len(points))), k)
    )


@pytest.mark.parametrize("prices", [Prices(), ADDITIONS])
@pytest.mark.parametrize("k", [2, 3])
def test_plans_cost_2_percent_more_than_the_best_partitions_at_most(k, prices):
    spent = best = 0
    for seed in range(12):
        rng = np.random.Generator(np.random.PCG64(seed))
        points = rng.integers(0, 7, size=(8, 2))
        points[:2] *= 3
        plan = plan_of_profiles(points, np.zeros(8, dtype=np.int64), k, prices, rng)
        spent += int(prices.of(plan.target - points).sum())
        best += best_partition(points, k, prices)
    assert best <= spent <= 1.02 * best


@settings(deadline=None)
@given(people(most=20), st.integers(1, 4), PRICES, st.integers(0, 2**32))
def test_people_of_other_colors_never_share_a_target_on_purpose(some, k, prices, seed):
    points, colors = some
    if np.bincount(colors)[np.unique(colors)].min() < k:
        return
    plan = plan_of_profiles(points, colors, k, prices, np.random.Generator(np.random.PCG64(seed)))
    assert classes(colors, *plan.target.T)[1].min() >= k
    for group in np.unique(plan.group).tolist():
        assert 1 == len(set(colors[plan.group == group].tolist()))
        assert 1 == len(set(map(tuple, plan.target[plan.group == group].tolist())))
        assert 1 == len(set(map(tuple, plan.high[plan.group == group].tolist())))
