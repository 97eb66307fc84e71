from __future__ import annotations

import json
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.errors import ParameterError
from graphveil.measures import MEASURES, isomorphism, measure


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 12))
    pairs = [(u, v) for u in range(n) for v in range(u)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    graph = nx.Graph()
    graph.add_nodes_from(f"person-{name}" for name in range(n))
    graph.add_edges_from((f"person-{u}", f"person-{v}") for u, v in edges)
    return graph


def slow_class_sizes(graph):
    """Return how many nodes share each node's degree, counted one by one."""
    degrees = dict(graph.degree())
    return {node: sum(d == degrees[node] for d in degrees.values()) for node in degrees}


@settings(deadline=None, max_examples=150)
@given(graph=graphs(), k=st.integers(2, 6))
def test_every_figure_equals_that_of_counting_one_by_one(graph, k):
    measured = measure(gv.Graph.from_networkx(graph), k=k)
    sizes = slow_class_sizes(graph)
    unprotected = {node for node, size in sizes.items() if size < k}
    unique = sum(size == 1 for size in sizes.values())
    n = max(len(sizes), 1)
    assert sizes == dict(zip(measured.ids.tolist(), measured.own_sizes.tolist(), strict=True))
    assert unprotected == set(measured.unprotected().tolist())
    assert unique / n == measured.uniqueness
    assert len(unprotected) / n == measured.share_unprotected
    per_degree = Counter(Counter(dict(graph.degree()).values()).values())
    assert [(s, c, s * c) for s, c in sorted(per_degree.items())] == measured.size_distribution()


@settings(deadline=None, max_examples=60)
@given(graph=graphs(), k=st.integers(2, 6))
def test_people_in_the_smallest_classes_come_first(graph, k):
    sizes = slow_class_sizes(graph)
    order = [sizes[name] for name in measure(gv.Graph.from_networkx(graph), k=k).unprotected()]
    assert sorted(order) == order


@settings(deadline=None, max_examples=60)
@given(graph=graphs())
def test_the_summary_says_the_same_and_names_nobody(graph):
    measured = measure(gv.Graph.from_networkx(graph), k=3)
    summary = measured.summary()
    assert graph.number_of_nodes() == summary["nodes"]
    assert summary["nodes"] == sum(entry["nodes"] for entry in summary["class_sizes"])
    assert summary["classes"] == sum(entry["classes"] for entry in summary["class_sizes"])
    assert measured.unprotected().size == summary["unprotected_nodes"]
    assert summary == json.loads(json.dumps(summary))
    assert "person-" not in json.dumps(summary)


def test_isolated_nodes_are_a_class_of_their_own():
    graph = gv.Graph.from_edges([0], [1], n=5)
    assert [(2, 1, 2), (3, 1, 3)] == measure(graph, k=2).size_distribution()


def test_a_measure_does_not_depend_on_names():
    named = gv.Graph.from_edges(["ann", "bob", "bob"], ["bob", "cyd", "dan"])
    plain = gv.Graph.from_edges([0, 1, 1], [1, 2, 3], n=4)
    assert measure(named).summary() == measure(plain).summary()


def test_k_of_one_is_refused_since_no_node_would_be_unprotected():
    with pytest.raises(ParameterError, match=r"k=1 .*k >= 2"):
        measure(gv.Graph.from_edges([0], [1], n=2), k=1)


@pytest.mark.parametrize("name", MEASURES)
def test_the_values_of_a_node_are_those_of_its_class(name):
    measured = measure(gv.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], n=6), measure=name)
    rows = list(zip(*(column.tolist() for column in measured.values.values()), strict=True))
    labels = measured.labels.tolist()
    assert [rows.index(row) for row in rows] == [labels.index(label) for label in labels]


def test_the_values_of_count_are_nodes_and_edges_of_the_neighborhood():
    kite = gv.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    near, far = (measure(kite, measure="count", distance=d).values for d in (1, 2))
    assert [3, 3, 4, 2] == near["nodes"].tolist()
    assert [3, 3, 4, 1] == near["edges"].tolist()
    assert [4, 4, 4, 4] == far["nodes"].tolist()
    assert [4, 4, 4, 4] == far["edges"].tolist()


def test_a_summary_says_measure_distance_and_what_was_given_up():
    graph = gv.Graph.from_edges([0, 1], [1, 2], n=4)
    summary = measure(graph, measure="dk", distance=2).summary()
    assert ("dk", 2, 0) == tuple(
        summary[name] for name in ("measure", "distance", "undecided_comparisons")
    )
    assert "fuzzy" not in summary


def test_an_unknown_measure_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"'fame'.*degree"):
        measure(gv.Graph.from_edges([0], [1], n=2), measure="fame")


@pytest.mark.parametrize("name", MEASURES)
def test_every_entry_of_the_table_is_complete(name):
    entry = MEASURES[name]
    assert name == entry.name
    assert all([entry.knows, entry.definition, entry.source])
    graph = gv.Graph.from_edges([0], [1], n=3)
    labels, given_up = entry.classes(graph, 1)
    assert ([0, 0, 2], 0) == ([labels.tolist().index(label) for label in labels], given_up)


def test_the_short_form_counts_and_names_nobody():
    star = gv.Graph.from_edges(["ann"] * 3, ["bob", "cyd", "dan"])
    shown = "Identifiability(degree at distance 1: 4 nodes in 2 classes, 1 unprotected at k=2)"
    assert shown == repr(gv.measure(star, k=2))
    rows = gv.measure(gv.Table.from_columns({"sex": ["f", "m", "m"]}), k=2)
    assert "EqualRows(complete rows: 3 rows in 2 classes, 1 unprotected at k=2)" == repr(rows)


def test_what_is_measured_comes_as_rows():
    star = gv.Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    rows = gv.measure(star, k=2).rows()
    assert (0.25, "share of people") == (rows["degree", "uniqueness"].value, rows[0].unit)
    assert ["uniqueness", "share unprotected"] == [
        row.part for row in gv.measure(gv.Table.from_columns({"sex": ["f", "m"]})).rows()
    ]


class Unlike:
    """A neighborhood of which some comparisons take too many steps."""

    def __init__(self, kind, late=()):
        self.kind, self.late = kind, late

    def is_like(self, other):
        if other.kind in self.late:
            raise isomorphism.OutOfStepsError
        return self.kind == other.kind


def test_each_comparison_that_is_given_up_is_counted_and_settles_nothing():
    arounds = [Unlike("a"), Unlike("b", "a"), Unlike("c", "ab"), Unlike("b", "a"), Unlike("c", "c")]
    # b and a; c and a, c and b; b and a, then alike; c and c, so that it stands alone
    assert ([0, 1, 2, 1, 3], 5) == isomorphism.compared(arounds)
