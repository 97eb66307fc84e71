"""What one noisy release shows of single edges and entries, and of epsilon."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import graphveil as gv
from graphveil.attacks import cell_membership
from graphveil.attacks.cell_membership import AttackedCells, clopper_pearson, epsilon_bound
from graphveil.claims.conditions import ExactSize, RandomizedCells

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N = 120


def graph(share=0.1, seed=1):
    rng = np.random.Generator(np.random.PCG64(seed))
    pairs = [pair for pair in combinations(range(N), 2) if rng.random() < share]
    source, target = np.array(pairs).T
    return gv.Graph.from_edges(source, target, n=N)


def attacked(release, original, name="edge-membership"):
    return gv.attack_release(release, original=original, attacks=[name], seed=1)


def values(told):
    return {row.part: row.value for row in told}


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0])
def test_hits_and_false_alarms_are_counted_pair_by_pair_and_the_bound_keeps_to_the_claim(epsilon):
    original = graph()
    release = gv.RandomizedResponse(epsilon=epsilon).anonymize(original, seed=1)
    back = release.private.linkage.released
    edges = {frozenset(edge) for edge in original.edges().tolist()}
    shown = {frozenset(edge) for edge in release.data.edges().tolist()}
    true, false = [], []
    for pair in combinations(range(N), 2):
        is_shown = frozenset(int(back[node]) for node in pair) in shown
        (true if frozenset(pair) in edges else false).append(is_shown)
    told = values(attacked(release, original))
    assert (np.mean(true), np.mean(false)) == pytest.approx((told["hits"], told["false alarms"]))
    assert epsilon == told["epsilon of a cell, stated"]
    assert 0.4 * epsilon < told["epsilon, lower bound at 99.9%"] <= epsilon


def test_entries_are_counted_as_edges_are():
    rng = np.random.Generator(np.random.PCG64(1))
    data = gv.Bipartite.from_scipy(rng.random((60, 40)) < 0.2, items="things")
    release = gv.RandomizedResponse(epsilon=3.0).anonymize(data, seed=1)
    told = values(attacked(release, data, "entry-membership"))
    order = release.private.linkage.positions_of(data.labels(), release.data.labels())
    before, after = data.to_scipy().toarray() > 0, release.data.to_scipy().toarray()[order] > 0
    assert (after[before].mean(), after[~before].mean()) == pytest.approx(
        (told["hits"], told["false alarms"])
    )
    assert 1 < told["epsilon, lower bound at 99.9%"] <= 3


def test_a_release_that_hides_nothing_shows_more_than_it_states():
    original = graph()
    release = gv.RandomizedResponse(epsilon=1.0).anonymize(original, seed=1)
    plain = gv.Rename().anonymize(original, seed=1)
    forged = dataclasses.replace(plain, conditions=release.conditions)
    told = values(attacked(forged, original))
    assert told["epsilon, lower bound at 99.9%"] > 4 > told["epsilon of a cell, stated"]


def test_what_bounds_no_epsilon_says_why():
    original = graph()
    for release in (
        gv.Rename().anonymize(original, seed=1),
        gv.AsymmetricResponse(epsilon=4.0, exact_size=True).anonymize(original, seed=1),
    ):
        reason = attacked(release, original).not_measured["edge-membership"]
        assert "one of two probabilities" in reason
    stated = (RandomizedCells(cells="3", epsilon_cells="1", T0="1", T1="2"),)
    empty = gv.Graph.from_edges([], [], n=3)
    release = dataclasses.replace(gv.Rename().anonymize(empty, seed=1), conditions=stated)
    assert "0 of 3 cells are true" in attacked(release, empty).not_measured["edge-membership"]
    both = (*stated, ExactSize(size="1"))
    with pytest.raises(cell_membership.NotMeasuredError):
        cell_membership._one_chance(dataclasses.replace(release, conditions=both))


@pytest.mark.parametrize(("number", "size"), [(0, 9), (9, 9), (3, 50), (4_000, 9_000)])
def test_intervals_end_where_the_binomial_tails_are_half_the_doubt(number, size):
    low, high = clopper_pearson(number, size)
    tail = cell_membership.DOUBT / 2
    if number:
        assert tail == pytest.approx(stats.binom.sf(number - 1, size, low))
    if number < size:
        assert tail == pytest.approx(stats.binom.cdf(number, size, high))
    assert 0 <= low <= number / size <= high <= 1


def test_the_bound_exceeds_the_truth_almost_never():
    rng = np.random.Generator(np.random.PCG64(1))
    hits, alarms = rng.binomial(300, 0.5, 2_000), rng.binomial(900, 0.2, 2_000)
    truth = np.log(0.5 / 0.2)
    bounds = [
        epsilon_bound(AttackedCells(1_200, 300, int(hit + alarm), int(hit)))
        for hit, alarm in zip(hits, alarms, strict=True)
    ]
    assert 0.2 < np.median(bounds) < truth
    assert 10 >= np.count_nonzero(np.array(bounds) > truth)
