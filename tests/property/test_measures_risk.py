"""Twins, fuzzy k-anonymity and the cascade against slow twins that read like their definitions."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.errors import ParameterError
from graphveil.data import Graph
from graphveil.measures import (
    MEASURES,
    candidate_set_sizes,
    cascade,
    measure,
    partition,
    twins,
)


@st.composite
def graphs(draw):
    n = 14 - draw(st.integers(0, 14))
    pairs = [(u, v) for u in range(n) for v in range(u)]
    density = draw(st.sampled_from([1, 2, 4]))
    kept = draw(st.lists(st.integers(0, 4), min_size=len(pairs), max_size=len(pairs)))
    edges = [pair for pair, value in zip(pairs, kept, strict=True) if value < density]
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=n)


def around(graph):
    return [set(graph.neighbors(v).tolist()) for v in range(graph.n_nodes)]


def are_twins(open_, u, v):
    return open_[u] == open_[v] or open_[u] | {u} == open_[v] | {v}


def groups(values):
    listed = list(values)
    return [listed.index(value) for value in listed]


@settings(deadline=None, max_examples=150)
@given(graph=graphs())
def test_twins_have_equal_open_or_equal_closed_neighborhoods(graph):
    open_ = around(graph)
    nodes = range(graph.n_nodes)
    expected = [next(u for u in nodes if are_twins(open_, u, v)) for v in nodes]
    labels = twins(graph)
    assert expected == groups(labels.tolist())
    assert sorted(set(labels.tolist())) == list(range(len(set(expected))))


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("name", MEASURES)
@settings(deadline=None, max_examples=25)
@given(graph=graphs())
def test_twins_look_alike_under_every_measure(name, distance, graph):
    far = min(distance, MEASURES[name].largest_distance or distance)
    labels, same = partition(graph, measure=name, distance=far), twins(graph)
    assert len(set(zip(labels.tolist(), same.tolist(), strict=True))) == len(set(same.tolist()))


@settings(deadline=None, max_examples=150)
@given(graph=graphs(), k=st.integers(2, 4), name=st.sampled_from(["degree", "count", "vrq"]))
def test_with_twins_aside_a_class_counts_one_node_for_all_its_twins(graph, k, name):
    measured = measure(graph, measure=name, k=k)
    open_, nodes = around(graph), range(graph.n_nodes)
    sizes = []
    for v in nodes:
        alike = [u for u in nodes if measured.labels[u] == measured.labels[v]]
        sizes.append(sum(not any(are_twins(open_, u, w) for w in alike if w < u) for u in alike))
    n = max(graph.n_nodes, 1)
    assert sizes == measured.sizes_without_twins.tolist()
    assert sum(size == 1 for size in sizes) / n == measured.twin_uniqueness
    assert sum(size < k for size in sizes) / n == measured.share_unprotected_without_twins
    assert measured.uniqueness <= measured.twin_uniqueness


def slow_candidate_set_sizes(graph, phi):
    open_ = around(graph)
    values = [(len(near), sum(len(open_[u] & near) for u in near) // 2) for near in open_]
    share = Decimal(str(phi))
    return [
        sum(100 * abs(c - a) <= share * a and 100 * abs(d - b) <= share * b for c, d in values)
        for a, b in values
    ]


@settings(deadline=None, max_examples=200)
@given(graph=graphs(), phi=st.sampled_from([0, 10, 12.5, 20, 25, 33.3, 50, 99.9, 100, 250, 1e30]))
def test_candidate_sets_hold_all_nodes_within_phi_percent(graph, phi):
    assert slow_candidate_set_sizes(graph, phi) == candidate_set_sizes(graph, phi=phi).tolist()


def test_phi_is_the_decimal_number_as_it_is_written():
    star = Graph.from_edges([0] * 1000, range(1, 1001), n=1001)
    ends = [(1001, v) for v in range(1, 1001)] + [(1002, v) for v in range(1, 978)]
    both = Graph.from_edges(
        np.concatenate([star.edges()[:, 0], [u for u, _ in ends]]),
        np.concatenate([star.edges()[:, 1], [v for _, v in ends]]),
        n=1003,
    )
    assert [2, 2, 1] == candidate_set_sizes(both, phi=2.29)[[0, 1001, 1002]].tolist()
    assert [3, 3, 1] == candidate_set_sizes(both, phi=2.3)[[0, 1001, 1002]].tolist()


def test_being_similar_goes_one_way():
    one = [(0, v) for v in range(2, 10)]
    other = [(1, v) for v in range(10, 20)]
    ends = np.array(one + other)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], n=20)
    assert [1, 2] == candidate_set_sizes(graph, phi=20)[:2].tolist()


@settings(deadline=None, max_examples=40)
@given(graph=graphs(), k=st.integers(2, 5))
def test_knowledge_that_is_right_is_fuzzy_by_nothing(graph, k):
    measured = measure(graph, measure="count", k=k, phi=0)
    assert measured.own_sizes.tolist() == measured.fuzzy.candidate_set_sizes.tolist()
    summary = measured.summary()
    assert measured.uniqueness == summary["fuzzy"]["uniqueness"]
    assert summary["unprotected_nodes"] == summary["fuzzy"]["unprotected_nodes"]
    assert measured.share_unprotected == summary["fuzzy"]["share_unprotected"]


@pytest.mark.parametrize("phi", [-1, float("nan"), float("inf")])
def test_a_phi_that_is_no_percentage_is_refused(phi):
    graph = Graph.from_edges([0], [1], n=2)
    with pytest.raises(ParameterError, match="Give a percentage"):
        candidate_set_sizes(graph, phi=phi)


@pytest.mark.parametrize(("name", "distance"), [("degree", 1), ("count", 2), ("dk", 1)])
def test_phi_goes_with_count_at_distance_one_only(name, distance):
    graph = Graph.from_edges([0], [1], n=2)
    with pytest.raises(ParameterError, match=r"Use the measure count at distance 1"):
        measure(graph, measure=name, distance=distance, phi=5)


def slow_levels(graph, first, second):
    levels = [0 if first.count(label) == 1 else -1 for label in first]
    front = [v for v, level in enumerate(levels) if level == 0]
    while front:
        new = []
        for v in front:
            near = graph.neighbors(v).tolist()
            for w in near:
                alone = sum(second[x] == second[w] for x in near) == 1
                if alone and levels[w] == -1:
                    levels[w] = levels[v] + 1
                    new.append(w)
        front = new
    return levels


SECOND = [("degree", 1), ("count", 1), ("count", 2), ("vrq", 1), ("dk", 2)]


@pytest.mark.parametrize(("second", "distance"), SECOND)
@settings(deadline=None, max_examples=60)
@given(graph=graphs(), name=st.sampled_from(["degree", "count", "vrq"]))
def test_a_cascade_finds_neighbors_that_are_alone_in_their_class(second, distance, graph, name):
    first = partition(graph, measure=name).tolist()
    apart = partition(graph, measure=second, distance=distance).tolist()
    expected = slow_levels(graph, first, apart)
    spread = cascade(graph, measure=name, second=second, second_distance=distance)
    assert expected == spread.levels.tolist()
    assert [expected.count(level) for level in range(max(expected, default=-1) + 1)] == (
        spread.per_level()
    )
    reached = sum(level >= 0 for level in expected)
    assert reached / max(graph.n_nodes, 1) == spread.share_identified
    assert reached == spread.summary()["identified_nodes"]


def test_classes_that_are_known_already_are_taken():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    assert [-1, -1, -1, -1] == cascade(graph, measure="count").levels.tolist()
    spread = cascade(graph, measure="count", labels=np.array([0, 1, 1, 1]))
    assert [0, 1, 2, 3] == spread.levels.tolist()
