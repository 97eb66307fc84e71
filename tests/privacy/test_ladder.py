"""The noise on triangles keeps its part of epsilon: enumerated, and drawn as its law says."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import stats

import graphveil as gv
from graphveil.claims.conditions import as_printed
from graphveil.core.randomness import Randomness
from graphveil.methods.noise.ladder import (
    Steps,
    ladder,
    ladder_law,
    point_within,
    rate_of,
    vectors_within,
)
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells.degree_estimation import expected_degrees
from graphveil.methods.noisy_cells.noisy_statistics import edges_between
from graphveil.methods.random_graphs.placement import GROUPS, Cuts, cut
from graphveil.methods.random_graphs.triangle_statistics import (
    CLASSES,
    floor_of,
    triangles_and_steps,
)
from thorough import FUZZ

HALF = Fraction(1, 2)
"""q: the rate is ln 2, and all sums are fractions."""

FLAWS = [
    {
        "name": "a first step that is one too narrow",
        "means": "An edge may change the triangles by more than the ladder's first step.",
        "methods": ["degree-triangle-model"],
        "file": "src/graphveil/methods/random_graphs/kernels/triangles.py",
        "old": "most = max(most, shared[v])",
        "new": "most = max(most, shared[v] - 1)",
        "tests": ["tests/privacy/test_ladder.py"],
    },
    {
        "name": "the ladder's constant for nothing",
        "means": "The sum of all chances changes from graph to graph, and epsilon does not pay.",
        "methods": ["degree-triangle-model"],
        "file": "src/graphveil/methods/noise/ladder.py",
        "old": "return max(epsilon / 2, epsilon - Fraction(counts, floor - counts + 1))",
        "new": "return epsilon",
        "tests": ["tests/privacy/test_ladder.py", "-k", "above_the_floor_no_vector"],
    },
]


def graphs(n):
    """Yield every graph of so many nodes, and each with one pair of nodes turned over."""
    pairs = list(itertools.combinations(range(n), 2))
    made = {}
    for mask in range(1 << len(pairs)):
        ends = [pair for k, pair in enumerate(pairs) if mask >> k & 1]
        made[mask] = gv.Graph.from_edges([u for u, _ in ends], [v for _, v in ends], n=n)
    for mask, graph in made.items():
        yield graph, [made[mask ^ (1 << k)] for k in range(len(pairs))]


@cache
def steps_to(steps, distance):
    """Return the least number of steps that reach so far, one after the other."""
    reach = count = 0
    while reach < distance:
        reach += min(steps.first + count, steps.most)
        count += 1
    return count


@cache
def constant(steps, counts, q):
    """Return bounds of the sum over all vectors of q^t: what is left out is below 10^-15 of it.

    Once all steps are `most` wide, a term is at most q (1 + most / (R - counts + 1))^counts of the
    one before, and this factor falls.
    """
    one = low = high = 1 << 256
    least = most = before = step = 0
    while True:
        radius = steps.radius(step)
        vectors = vectors_within(counts, radius)
        least, most = least + low * (vectors - before), most + high * (vectors - before)
        if step >= steps.most - steps.first and radius >= counts:
            factor = q * (1 + Fraction(steps.most, radius - counts + 1)) ** counts
            if factor < 1 and (tail := high * vectors * factor / (1 - factor)) * 10**15 < least:
                return Fraction(least, one), (most + tail) / one
        low, high = math.floor(low * q), math.ceil(high * q)
        before, step = vectors, step + 1


@cache
def around(counts, reach):
    return np.array(list(itertools.product(range(-reach, reach + 1), repeat=counts)))


def worst_factor(one, other, q, reach=4):
    """Return the largest factor between the chances of any near vector, rounded up."""
    (truth, steps), (truth_2, steps_2) = one, other
    return _worst_factor(tuple(truth), steps, tuple(truth_2), steps_2, q, reach)


@cache
def _worst_factor(truth, steps, truth_2, steps_2, q, reach):
    low, high = constant(steps, len(truth), q)[0], constant(steps_2, len(truth), q)[1]
    near = around(len(truth), reach)
    far = [np.abs(near - center).sum(axis=1) for center in (truth, truth_2)]
    pairs = set(zip(*(distances.tolist() for distances in far), strict=True))
    nearer = max(steps_to(steps_2, d_2) - steps_to(steps, d) for d, d_2 in pairs)
    return q**-nearer * high / low


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("floor", [1, 2])
def test_on_every_graph_and_neighbor_the_ladder_keeps_twice_its_rate(n, floor):
    """For one class, and for two."""
    for parts in ([0] * n, [0, 1, 1, 1][:n], [0, 0, 1, 1][:n]):
        classes = Cuts(np.unique(parts), np.array(parts))
        bottom = min(floor, n - 2)
        for graph, neighbors in graphs(n):
            one = triangles_and_steps(graph, classes, bottom)
            for neighbor in neighbors:
                other = triangles_and_steps(neighbor, classes, bottom)
                assert np.abs(one[0] - other[0]).sum() <= one[1].first
                assert abs(one[1].first - other[1].first) <= 1
                assert worst_factor(one, other, HALF) <= HALF**-2


def test_a_floor_pays_for_the_constant_as_the_rate_says():
    """Above it, Z changes by at most e^(counts / (floor - counts + 1)), whatever the first step."""
    q = Fraction(9, 10)
    for counts, floor in ((1, 2), (2, 5), (4, 9)):
        most = Fraction(counts, floor - counts + 1)
        for first, last in ((floor, floor + 1), (floor + 3, floor + 60), (floor, floor + 200)):
            low = constant(Steps(first, last), counts, q)
            high = constant(Steps(first + 1, last), counts, q)
            assert 1 <= high[0] / low[1]
            assert math.log(high[1] / low[0]) <= most
            epsilon = Fraction(2)
            assert rate_of(epsilon, counts, floor) == max(epsilon / 2, epsilon - most)


def worst_factor_beyond(one, other, apart, counts, q):
    """Return the largest factor between the chances of any vector, of truths so far apart.

    Of all vectors so far from one truth those behind it, seen from the other, are farthest from
    that one. Once all steps are equally wide, what comes after repeats.
    """
    widths = one.most - min(one.first, other.first) + 4
    reach = max(one.radius(widths), other.radius(widths))
    low, high = constant(one, counts, q)[0], constant(other, counts, q)[1]
    nearer = max(steps_to(other, d + apart) - steps_to(one, d) for d in range(reach))
    return q**-nearer * high / low


@pytest.mark.parametrize(
    ("counts", "floor", "epsilon"),
    [(1, 9, 1), (1, 2, 3), (2, 5, 2), (3, 20, 1), (4, 9, 2), (4, 103, 1), (4, 103, Fraction(1, 8))],
)
def test_above_the_floor_no_vector_is_likelier_by_more_than_epsilon(counts, floor, epsilon):
    """On the narrowest ladder and on its neighbor, whose truth is a whole step away."""
    rate = rate_of(Fraction(epsilon), counts, floor)
    assert rate > Fraction(epsilon) / 2
    q = Fraction(round(math.exp(-rate) * 2**50), 2**50)
    for first in (floor, floor + 1):
        ladders = Steps(first, floor + 5), Steps(first + 1, floor + 5)
        for one, other in itertools.permutations(ladders):
            worst = worst_factor_beyond(one, other, first, counts, q)
            assert math.log(worst) <= epsilon + 1e-9
        whole = Fraction(round(math.exp(-epsilon) * 2**50), 2**50)
        assert math.log(worst_factor_beyond(*ladders, first, counts, whole)) > epsilon


def test_without_the_floor_the_whole_of_epsilon_as_rate_breaks_it():
    """On a path of four nodes whose ends are tied, or not: found out by enumeration."""
    classes = Cuts(np.array([0]), np.zeros(4, dtype=np.int64))
    worst = max(
        worst_factor(
            triangles_and_steps(graph, classes, 1), triangles_and_steps(other, classes, 1), HALF
        )
        for graph, neighbors in graphs(4)
        for other in neighbors
    )
    assert HALF**-1 < worst <= HALF**-2


def released_parts(method, graph, noisy):
    """Return what the mechanism asks of a graph, once noisy degrees are out."""
    parts, count = method.parts, 3
    expected = expected_degrees(noisy, parts["epsilon_degrees"] / 2, count)
    groups, classes = cut(noisy, expected, GROUPS), cut(noisy, np.sqrt(expected), CLASSES)
    floor = floor_of(noisy)
    rate = rate_of(parts["epsilon_triangles"], classes.least.size, floor)
    return (
        edges_between(graph, groups.of_node, groups.least.size),
        triangles_and_steps(graph, classes, floor),
        rate,
    )


@pytest.mark.all_cases
@pytest.mark.thorough
@pytest.mark.parametrize("n", [3, 4])
def test_over_all_four_statistics_no_edge_changes_a_chance_by_more_than_epsilon(n):
    """Noisy degrees are any; what follows from them is the mechanism's own code."""
    method = gv.DegreeTriangleModel(epsilon=1.0)
    rng = np.random.default_rng(3)
    every = list(itertools.product(range(-1, 4), repeat=n))
    drawn = [np.array(every[i]) for i in rng.choice(len(every), 6, replace=False)]
    if n == 4 and not FUZZ:
        drawn = drawn[:1]
    for noisy in drawn:
        for graph, neighbors in graphs(n):
            mixing, one, rate = released_parts(method, graph, noisy)
            for other_graph in neighbors:
                mixing_2, other, rate_2 = released_parts(method, other_graph, noisy)
                assert rate == rate_2
                loss = method.parts["epsilon_count"]
                changed = int(np.abs(graph.degrees() - other_graph.degrees()).sum())
                loss += changed * method.parts["epsilon_degrees"] / 2
                loss += int(np.abs(mixing - mixing_2).sum()) * method.parts["epsilon_mixing"]
                q = Fraction(math.exp(-rate)).limit_denominator(10**9)
                found = float(loss) + math.log(worst_factor(one, other, q))
                assert found <= 1.0 + 1e-7


def test_the_parts_are_the_whole_of_the_printed_epsilon():
    for epsilon in (0.1, 0.3, 1.0, 2.7):
        parts = gv.DegreeTriangleModel(epsilon=epsilon).parts
        assert as_printed(epsilon) == sum(parts.values())


@pytest.mark.all_cases
@pytest.mark.parametrize(("counts", "radius"), [(1, 0), (1, 5), (2, 3), (3, 2), (4, 1)])
def test_vectors_within_a_radius_are_counted_and_drawn_evenly(counts, radius):
    around = range(-radius, radius + 1)
    listed = [v for v in itertools.product(around, repeat=counts) if sum(map(abs, v)) <= radius]
    assert len(listed) == vectors_within(counts, radius)
    words = words_from(Randomness(seed=4), "test")
    drawn = [tuple(point_within(words, counts, radius).tolist()) for _ in range(40 * len(listed))]
    assert set(drawn) == set(listed)
    if len(listed) > 1:
        observed = [drawn.count(vector) for vector in listed]
        assert stats.chisquare(observed).pvalue > 1e-6


@pytest.mark.all_cases
@pytest.mark.parametrize("rate", [Fraction(31, 200), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("counts", [1, 4])
def test_the_table_encloses_the_law_of_the_steps_and_is_narrow(counts, rate):
    steps = Steps(first=2, most=6)
    table = ladder_law(steps, rate, counts, 384)
    weights = [
        math.exp(-rate * tau) * vectors_within(counts, steps.radius(tau)) for tau in range(2000)
    ]
    exact = np.cumsum(weights) / math.fsum(weights)
    for k in range(min(len(table.lower), 300)):
        assert table.lower[k] <= table.upper[k] < table.lower[k] + 2**290
        assert table.lower[k] / 2**384 == pytest.approx(exact[k], rel=1e-9)
    assert not table.whole
    assert table.lower[-1] > 2**384 - 2**300


def test_a_wider_table_encloses_closer():
    rough, fine = (ladder_law(Steps(1, 3), Fraction(1), 2, bits) for bits in (384, 768))
    for k in range(20):
        assert rough.lower[k] << 384 <= fine.lower[k]
        assert fine.upper[k] <= rough.upper[k] << 384


def test_draws_of_the_ladder_follow_its_law():
    steps, rate, truth = Steps(first=1, most=3), Fraction(1), np.array([2, 5])
    words = words_from(Randomness(seed=5), "test")
    far = [int(np.abs(ladder(words, truth, steps, rate) - truth).sum()) for _ in range(1500)]
    before, chances = 0, []
    for step in range(40):
        vectors = vectors_within(2, steps.radius(step))
        chances.append(math.exp(-step) * (vectors - before))
        before = vectors
    observed = np.bincount([steps_to(steps, one) for one in far], minlength=8)
    expected = np.array(chances[:7]) / math.fsum(chances)
    observed = np.append(observed[:7], observed[7:].sum())
    expected = np.append(expected, 1 - expected.sum()) * len(far)
    assert stats.chisquare(observed, expected).pvalue > 1e-6
