"""New ids and their order: those of genuine releases say nothing, others are noticed."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.methods import METHODS
from graphveil.release import Linkage
from graphveil.verify.recount.order_leaks import order_leaks, tail_of_ascents, tail_of_equal

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

ORDER = "order says nothing"
N = 40
NAMED = [f"p{number:02d}" for number in range(N)]
RING = gv.Graph.from_edges(range(N), [*range(1, N), 0], n=N)
ARCS = gv.Network((gv.Layer.from_arcs(range(N), [*range(1, N), 0], n=N),), None, RING.labels())
TABLE = gv.Table.from_columns({"sex": ["f", "m"] * (N // 2), "age": [30] * N}, ids=NAMED)
USERS = gv.Bipartite.from_lists([["tea"], ["rye"]] * (N // 2))


def in_the_old_order(release):
    """Return the release as a forger makes it: everybody in the place of the original."""
    own = release.private.linkage
    labels = own.original
    back = np.argsort(np.argsort(own.released))
    data = release.data.permuted(back)
    linkage = Linkage(labels, np.arange(labels.size))
    return dataclasses.replace(
        release, data=data, private=msgspec.structs.replace(release.private, linkage=linkage)
    )


def order_of(verdict):
    return next(check for check in verdict.checks if check.name == ORDER)


@pytest.mark.parametrize(
    ("method", "data"),
    [
        (gv.KDegree(k=3), RING),
        (gv.Profile(k=3), ARCS),
        (gv.Rename(), RING),
        (gv.RandomizedResponse(epsilon=3.0), RING),
        (gv.SuppressK(k=3), USERS),
        (gv.ClusterK(k=3), TABLE),
        (gv.Adaptive(levels=3), TABLE),
        (gv.Rename(), TABLE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_everybody_in_the_old_place_is_noticed_and_the_genuine_release_is_not(method, data):
    release = method.anonymize(data)
    genuine = release.verify(data)
    assert "holds" == order_of(genuine).outcome
    forged = in_the_old_order(release).verify(data)
    assert [ORDER] == [check.name for check in forged.failures()], forged
    assert (
        "39 of 39 consecutive pairs of the original are in the same order"
        in order_of(forged).detail
    )


def test_published_ids_that_are_the_original_ones_are_noticed_whatever_their_order():
    shuffled = np.random.default_rng(3).permutation(N)
    assert [] == order_leaks(shuffled, None)
    (problem,) = order_leaks(shuffled, shuffled)
    assert f"{N} of {N} published ids equal the original id" == problem


def test_the_reverse_of_the_old_order_is_noticed():
    assert order_leaks(np.arange(N)[::-1], None)


def test_of_few_people_every_order_is_one_that_chance_gives():
    for n in range(7):
        for order in itertools.permutations(range(n)):
            assert [] == order_leaks(np.array(order, dtype=np.int64), None)


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_tails_of_ascents_are_those_of_all_permutations(n):
    ascents = Counter(
        sum(one < other for one, other in itertools.pairwise(order))
        for order in itertools.permutations(range(n))
    )
    for count in range(n):
        low = min(count, n - 1 - count)
        expected = sum(times for other, times in ascents.items() if other <= low)
        assert tail_of_ascents(count, n) == min(1.0, 2 * expected / math.factorial(n))


@given(n=st.integers(41, 400), share=st.floats(0, 1))
def test_the_bound_for_many_people_is_above_the_normal_tail(n, share):
    ascents = round(share * (n - 1))
    apart = max(abs(ascents - (n - 1) / 2) - 0.5, 0.0)
    normal = math.erfc(apart / math.sqrt((n + 1) / 12) / math.sqrt(2))
    assert tail_of_ascents(ascents, n) >= 0.3 * normal


def test_equal_places_are_as_rare_as_the_bound_says():
    rng = np.random.default_rng(5)
    counts = [int((rng.permutation(60) == np.arange(60)).sum()) for _ in range(4000)]
    for fixed in (1, 2, 3, 4):
        share = sum(count >= fixed for count in counts) / len(counts)
        assert share <= tail_of_equal(fixed) + 0.03


def test_random_orders_are_hardly_ever_taken_for_telling_ones():
    rng = np.random.default_rng(6)
    for n in (3, 20, 41, 300):
        orders = (rng.permutation(n) for _ in range(2000))
        assert [] == [order for order in orders if order_leaks(order, np.arange(n))]


def test_every_method_shuffles(sample_of_each):
    for name, release, data in sample_of_each:
        assert "holds" == order_of(release.verify(data)).outcome, name


@pytest.fixture
def sample_of_each():
    """Return a release by every method with its example, and what it was made from."""
    made = []
    for name, method in METHODS.items():
        one = method.from_parameters(method.card.example)
        for data in (RING, ARCS, USERS, TABLE):
            try:
                release = one.anonymize(data, seed=None)
            except gv.GraphveilError:
                continue
            made.append((name, release, data))
            break
    assert {name for name, _, _ in made} == set(METHODS)
    return made


def test_the_tail_of_many_ascents_is_that_of_the_formula():
    # apart = 500 - 461 = 39, and 6 * 39 * 39 / 1000 = 9.126
    assert 2 * math.exp(-9.126) == pytest.approx(tail_of_ascents(460, 1000), rel=1e-12)
    assert tail_of_ascents(460, 1000) == tail_of_ascents(999 - 460, 1000)
