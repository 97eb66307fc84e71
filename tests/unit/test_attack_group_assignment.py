"""The attack on super-nodes: the people of a copy are assigned to groups by numbers of edges."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.attacks.kernels.group_exchange import fit
from graphveil.attacks.networks.assignment import group_counts
from graphveil.core.progress import Deadline, OutOfTimeError, within
from networks_data import random_graph, rng_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
NAME = "group-assignment"


def slow_excess(graph, groups, counts):
    """Return by how much the edges of every block exceed its number, counted edge by edge."""
    excess = -counts
    for u, v in graph.edges().tolist():
        a, b = groups[u], groups[v]
        excess[a, b] += 1
        if a != b:
            excess[b, a] += 1
    return excess


def slow_misfit(graph, groups, counts):
    return int((np.triu(slow_excess(graph, groups, counts)) ** 2).sum())


def block_graph(n_groups, size, seed):
    """Return a graph whose node i is in group ``i % n_groups``: dense and sparse blocks."""
    rng = rng_of(seed)
    blocks = np.where(rng.random((n_groups, n_groups)) < 0.5, 0.95, 0.05)
    n = n_groups * size
    pairs = [
        (u, v)
        for u, v in combinations(range(n), 2)
        if rng.random() < blocks[min(u % n_groups, v % n_groups), max(u % n_groups, v % n_groups)]
    ]
    return gv.Graph.from_edges(*np.array(pairs).T, n=n)


def target_of(graph, n_groups, known=()):
    """Return the numbers of a graph whose node i is in group ``i % n_groups``."""
    own = np.arange(graph.n_nodes) % n_groups
    told = np.full(graph.n_nodes, -1)
    told[list(known)] = own[list(known)]
    published = gv.GeneralizedGraph.counted(graph, own)
    return group_counts.Target.of(published, told), own


@settings(max_examples=20, deadline=None)
@given(st.integers(4, 10), st.integers(2, 4), st.integers(0, 45), st.integers(0, 99))
def test_exchanges_are_those_that_whole_misfits_decide(n, n_groups, edges, seed):
    graph = random_graph(n, min(edges, n * (n - 1) // 2), seed=seed)
    target, own = target_of(random_graph(n, n, seed=seed + 1), n_groups)
    rng = rng_of(seed)
    groups = rng.permutation(own)
    placement = group_counts.placed(graph, target, groups)
    draws, limits = rng.integers(0, n, (30, 2)), rng.exponential(4, 30) - 2.3
    slow, before = groups.copy(), slow_misfit(graph, groups, target.counts)
    for (u, v), limit in zip(draws.tolist(), limits.tolist(), strict=True):
        then = slow.copy()
        then[u], then[v] = slow[v], slow[u]
        rise = slow_misfit(graph, then, target.counts) - slow_misfit(graph, slow, target.counts)
        if slow[u] != slow[v] and rise < limit:
            slow = then
    rise = fit(graph.indptr.astype(np.int64), graph.indices, placement, draws, limits)
    assert slow.tolist() == placement.groups.tolist()
    assert before + rise == slow_misfit(graph, slow, target.counts)
    assert placement.excess.tolist() == slow_excess(graph, slow, target.counts).tolist()
    near = np.zeros((n, n_groups), dtype=int)
    for u, v in graph.edges().tolist():
        near[u, slow[v]] += 1
        near[v, slow[u]] += 1
    assert near.tolist() == placement.near.tolist()
    assert group_counts.misfit(graph, target, slow) == slow_misfit(graph, slow, target.counts)


@pytest.mark.parametrize("seed", range(3))
def test_no_partition_fits_better_than_the_one_found(seed):
    """All partitions of 7 nodes into groups of 3, 2 and 2 are tried, under numbers of a copy."""
    graph, copy = random_graph(7, 10, seed=seed), random_graph(7, 11, seed=seed + 50)
    target, _ = target_of(graph, 3, known=[2])
    found = group_counts.best_groups(copy, target, 300, rng_of(seed))
    assert np.bincount(found.groups).tolist() == [3, 2, 2]
    assert found.groups[2] == 2
    everyone, fits = set(range(7)) - {2}, []
    for first in combinations(sorted(everyone), 3):
        for second in combinations(sorted(everyone - set(first)), 2):
            groups = np.full(7, 2)
            groups[list(first)], groups[list(second)] = 0, 1
            fits.append(slow_misfit(copy, groups, target.counts))
    assert min(fits) == found.misfit == slow_misfit(copy, found.groups, target.counts)


def test_a_copy_with_the_published_numbers_ends_the_search():
    graph = block_graph(8, 4, seed=3)
    target, own = target_of(graph, 8)
    found = group_counts.best_groups(graph, target, 64_000, rng_of(1))
    assert found.misfit == 0
    assert own.tolist() == found.groups.tolist()


def test_restarts_find_groups_that_the_first_search_does_not():
    graph = random_graph(40, 120, seed=1)
    target, own = target_of(graph, 20)
    assert group_counts.best_groups(graph, target, group_counts.SWEEPS, rng_of(1)).misfit > 0
    found = group_counts.best_groups(graph, target, 200_000, rng_of(1))
    assert found.misfit == 0
    assert own.tolist() == found.groups.tolist()


def test_a_random_start_keeps_the_sizes_of_groups_and_known_people():
    graph = random_graph(11, 20, seed=1)
    target, own = target_of(graph, 3, known=[4, 9])
    start = group_counts._random(graph, target, rng_of(2))
    assert np.bincount(start.groups).tolist() == np.bincount(own).tolist()
    assert start.groups[[4, 9]].tolist() == own[[4, 9]].tolist()
    assert start.misfit == slow_misfit(graph, start.groups, target.counts) > 0


def test_when_the_time_is_over_the_best_so_far_counts():
    graph = random_graph(60, 400, seed=3)
    target, _ = target_of(graph, 12)
    with within(deadline=Deadline(0.0)), pytest.raises(OutOfTimeError):
        group_counts.best_groups(graph, target, 64_000, rng_of(1))
    with within(deadline=Deadline(0.05)):
        found = group_counts.best_groups(random_graph(60, 400, seed=4), target, 10**7, rng_of(1))
    first = group_counts.by_degree(random_graph(60, 400, seed=4), target, rng_of(1))
    assert 0 < found.misfit <= slow_misfit(random_graph(60, 400, seed=4), first, target.counts)


@pytest.fixture(scope="module")
def dense():
    graph = block_graph(10, 4, seed=2)
    return graph, gv.SuperNodes(k=4, certain="allow").anonymize(graph, seed=1)


def attacked(release, graph, **options):
    rows = release.attack(graph, attacks=[NAME], options={NAME: options}, seed=1)
    return {row.figure: row for row in rows if row.value is not None}


def test_everybodys_group_is_found_and_one_guess_in_k_is_right(dense):
    graph, release = dense
    told = attacked(release, graph, known=0)
    assert told["misfit"].value == 0
    assert (told["right group"].value, told["right group"].guess) == (1, 0.1)
    assert (told["right"].value, told["right"].guess) == (0.25, 1 / 40)
    general = release.generalized_graph()
    shown = [name for name in ("shown edges", "shown non-edges") if name in told]
    assert bool(general.certain_edges) == ("shown edges" in shown)
    assert {told[name].value for name in shown} <= {1.0}


def test_known_people_leave_fewer_nodes_for_the_others(dense):
    """Of a group of 4 with m known people, each of the others is one of 4 - m."""
    graph, release = dense
    told = attacked(release, graph, known=20)
    assert told["right group"].value == 1
    # Everybody is right with 1 / (free nodes of the group): each group with free ones adds up to 1.
    assert told["right"].value * 20 == pytest.approx(round(told["right"].value * 20))
    assert told["right"].value > 0.25
    assert told["right"].guess == 1 / 20


def test_groups_of_a_copy_with_false_edges_correct_some_of_them():
    """In two complete halves every pair is certain, so that the right groups correct all of it."""
    halves = [(u, v) for u, v in combinations(range(12), 2) if (u < 6) == (v < 6)]
    graph = gv.Graph.from_edges(*np.array(halves).T, n=12)
    release = gv.SuperNodes(k=6, certain="allow").anonymize(graph, seed=1)
    told = attacked(release, graph, known=1, overlap=0.9)
    assert told["right group"].value == told["shown edges"].value == told["corrected"].value == 1
    assert told["shown non-edges"].value == 1
    assert told["misfit"].value > 0  # of six false and missing edges


def test_an_unrelated_copy_and_a_release_without_groups_give_nothing(dense):
    graph, release = dense
    told = attacked(release, graph, known=0, overlap=0.0, sweeps=100)
    assert told["right group"].value < 0.4
    assert told["misfit"].value > 0
    plain = gv.Rename().anonymize(graph, seed=1)
    rows = plain.attack(graph, attacks=[NAME], seed=1)
    assert "no groups" in str(rows.not_measured[NAME])


def test_each_setting_has_its_share_of_the_time(dense):
    """No assignment of a copy with wrong edges fits: the first search takes all the time it has."""
    graph, release = dense
    began = time.process_time()
    options = {NAME: {"overlap": 0.5, "sweeps": 10**8}}
    rows = release.attack(graph, attacks=[NAME], options=options, seed=1, seconds=0.4)
    assert time.process_time() - began < 4
    known = [row.setting.known for row in rows if row.figure == "misfit" and row.value > 0]
    assert known == [0, 20]
