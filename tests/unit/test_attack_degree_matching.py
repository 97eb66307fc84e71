"""Sorting by degree: whom it finds, what it reads, and what drawn graphs leave to it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import graphveil as gv
from degree_triangle_data import clustered_graph
from graphveil.attacks.networks.degree_matching import right_by_rank
from graphveil.core.rows import Row, Rows, Setting
from graphveil.pages.report.legal_questions import Findings, lines_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "nodes say whose noisy degree is theirs",
        "means": "Sorted noisy degrees name the people with most edges: nodes are in their order.",
        "methods": ["degree-triangle-model", "dp-1k"],
        "file": "src/graphveil/methods/random_graphs/placement.py",
        "old": "people = ranked[np.lexsort((words, groups))]",
        "new": "people = ranked",
        "attack": ["tests/unit/test_attack_degree_matching.py", "-k", "hubs_of_a_group"],
    },
    {
        "name": "sorting reads no manifest",
        "means": "What a manifest states of every node is not attacked.",
        "file": "src/graphveil/attacks/networks/degree_matching.py",
        "old": "        if isinstance(condition, Drawing):",
        "new": "        if isinstance(condition, int):",
        "tests": ["tests/unit/test_attack_degree_matching.py", "-k", "reads_the_manifest"],
    },
]

ALL, TWENTY, FIVE = "right guess", "the 20 largest: right guess", "the 5 largest: right guess"


def found(release, original, **asked):
    rows = gv.attack_release(release, original, attacks=["degree-matching"], **asked)
    return {row.part: row.value for row in rows}


def test_who_is_matched_by_rank_is_counted_over_all_orders_of_equals():
    rng = np.random.default_rng(3)
    orders = list(itertools.permutations(range(4)))
    for _ in range(20):
        known, published = rng.integers(0, 3, (2, 4))
        right = np.zeros(4)
        for first, second in itertools.product(orders, orders):
            people = sorted(first, key=lambda one, known=known: known[one])
            nodes = sorted(second, key=lambda one, published=published: published[one])
            right[[p for p, q in zip(people, nodes, strict=True) if p == q]] += 1
        assert right_by_rank(known, published) == pytest.approx(right / len(orders) ** 2)


def test_of_unlike_degrees_all_are_found_and_of_equal_ones_one_in_all():
    stars = [
        (hub, leaf) for hub in range(6) for leaf in range(30 + 2**hub - 1, 30 + 2 ** (hub + 1))
    ]
    graph = gv.Graph.from_edges(*np.array(stars).T, n=100)
    release = gv.Rename().anonymize(graph)
    assert 1 == found(release, graph)[FIVE]
    ring = gv.Graph.from_edges(range(50), [(v + 1) % 50 for v in range(50)], n=50)
    told = found(gv.Rename().anonymize(ring), ring)
    assert {ALL: 1 / 50, TWENTY: 1 / 50, FIVE: 1 / 50} == pytest.approx(told)


def test_it_runs_where_nobody_asks_for_it():
    graph = clustered_graph(60)
    for release in (gv.KDegree(k=2).anonymize(graph), gv.OneKSeries(epsilon=2.0).anonymize(graph)):
        assert {ALL, TWENTY, FIVE} <= {
            row.part
            for row in gv.attack_release(release, graph)
            if row.question == "degree-matching"
        }


@pytest.mark.parametrize("method", [gv.OneKSeries, gv.DegreeTriangleModel])
def test_it_reads_the_manifest_where_that_states_noisy_degrees(method):
    """A node's own number is found there although its edges say another."""
    graph = clustered_graph()
    release = method(epsilon=4.0).anonymize(graph)
    [said] = release.conditions
    places = said.place_of_id()[release.private.linkage.released]
    noisy = np.array(said.numbers("noisy_degrees"))
    right = right_by_rank(graph.degrees().astype(np.int64), noisy[places])
    other = right_by_rank(
        graph.degrees().astype(np.int64),
        release.data.degrees()[release.private.linkage.released].astype(np.int64),
    )
    assert found(release, graph)[ALL] == pytest.approx(right.mean()) != pytest.approx(other.mean())


@pytest.mark.parametrize("method", [gv.OneKSeries, gv.DegreeTriangleModel])
def test_hubs_of_a_group_are_not_told_apart_by_their_noisy_degrees(method):
    """At epsilon 40 noisy degrees are nearly the true ones, and all of them unlike."""
    n = 400
    rng = np.random.default_rng(5)
    hubs = [(h, v) for h in range(30) for v in rng.permutation(np.arange(30, n))[: 60 + 6 * h]]
    graph = gv.Graph.from_edges(*np.array(hubs).T, n=n)
    shares = [found(method(epsilon=40.0).anonymize(graph), graph)[TWENTY] for _ in range(3)]
    assert np.mean(shares) < 0.5


def test_a_page_has_a_label_for_every_share_of_people_who_are_re_identified():
    for name, attack in gv.ATTACKS.items():
        assert all(said.label for said in attack.said if said.re_identifies), name


def test_a_page_shows_how_many_of_the_largest_are_found():
    [said] = gv.ATTACKS["degree-matching"].said
    rows = [
        Row(release="a", question="degree-matching", figure="right guess", value=value,
            setting=Setting(among=among), unit="share of people", known="exact", guess=0.01)
        for among, value in (("", 0.03), ("the 20 largest", 0.82), ("the 5 largest", 1.0))
    ]  # fmt: skip
    [line] = lines_of("degree-matching", said, Findings(after=Rows(rows)))
    assert (line.label, line.evidence.value) == ("the 20 most connected people", 0.82)
    assert line.reason == (
        "82 of 100 people are identified correctly, among the 20 with the largest degrees"
    )
