from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.errors import DataError, ParameterError, UsageError
from graphveil.evaluate import METRICS, evaluate, rows_to_arrow
from graphveil.evaluate.metrics import average_clustering
from graphveil.guarantees import StructuralKAnonymity
from graphveil.release import Private, Provenance, Release
from graphveil.release.release import Linkage

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def plain_graph(n, edges):
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    return graph


@st.composite
def graphs(draw, nodes=None):
    n = draw(st.integers(0, 10)) if nodes is None else nodes
    pairs = [(u, v) for v in range(n) for u in range(v)]
    return plain_graph(n, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [])


@st.composite
def pairs_of_graphs(draw):
    """Draw an original, a release of as many nodes, and the released id of every node."""
    n = draw(st.integers(1, 10))
    return draw(graphs(n)), draw(graphs(n)), draw(st.permutations(range(n)))


def release_of(released, place=None):
    linkage = None
    if place is not None:
        linkage = Linkage(np.arange(len(place)), np.array(place, dtype=np.int64))
    return Release(
        data=gv.Graph.from_networkx(released),
        guarantee=StructuralKAnonymity(k=1),
        provenance=Provenance(method="k-degree", source="a test", parameters={}),
        private=Private(input_sha256="0" * 64, linkage=linkage),
    )


def figures(found):
    return {(row.metric, row.part): row.value for row in found.rows}


@settings(deadline=None, max_examples=120)
@given(graph=graphs())
def test_clustering_is_that_of_networkx_where_degrees_below_two_count_as_zero(graph):
    values = nx.clustering(graph).values()
    expected = sum(values) / len(values) if values else 0.0
    assert expected == pytest.approx(average_clustering(gv.Graph.from_networkx(graph)), abs=1e-12)


@settings(deadline=None, max_examples=120)
@given(case=pairs_of_graphs())
def test_edges_are_compared_person_by_person_as_sets_are(case):
    original, released, place = case
    before = {frozenset((place[u], place[v])) for u, v in original.edges()}
    after = {frozenset(edge) for edge in released.edges()}
    found = figures(
        evaluate(release_of(released, place), original=gv.Graph.from_networkx(original))
    )
    kept, union = len(before & after), len(before | after)
    assert kept == found["edges-kept", "count"]
    assert len(after - before) == found["edges-added", "count"]
    assert len(before - after) == found["edges-removed", "count"]
    assert (kept / union if union else 1.0) == found["edge-jaccard", "all"]
    assert (kept / len(before) if before else 1.0) == found["edges-kept", "share"]
    assert len(after - before) / max(len(after), 1) == found["edges-added", "share"]
    assert len(before - after) / max(len(before), 1) == found["edges-removed", "share"]


@settings(deadline=None, max_examples=120)
@given(case=pairs_of_graphs())
def test_degree_distributions_are_compared_as_by_counting(case):
    original, released, _ = case
    n = original.number_of_nodes()
    shares = [
        [count / n for count in nx.degree_histogram(graph) + [0] * n][:n]
        for graph in (original, released)
    ]
    differences = [x - y for x, y in zip(*shares, strict=True)]
    found = figures(evaluate(release_of(released), original=gv.Graph.from_networkx(original)))
    half_l1 = sum(map(abs, differences)) / 2
    furthest = max(abs(sum(differences[: i + 1])) for i in range(n))
    assert half_l1 == pytest.approx(found["degree-distribution", "half L1"])
    assert furthest == pytest.approx(found["degree-distribution", "Kolmogorov-Smirnov"])


def test_clustering_is_given_before_and_after_with_the_difference():
    triangle, path = nx.complete_graph(3), nx.path_graph(3)
    found = figures(evaluate(release_of(path), original=gv.Graph.from_networkx(triangle)))
    parts = [found["clustering", part] for part in ("original", "released", "absolute difference")]
    assert [1.0, 0.0, 1.0] == parts


def test_a_release_that_changed_nothing_kept_everything():
    graph = nx.gnp_random_graph(30, 0.2, seed=4)
    found = figures(
        evaluate(release_of(graph, list(range(30))), original=gv.Graph.from_networkx(graph))
    )
    assert 1.0 == found["edge-jaccard", "all"]
    assert [0.0, 0.0] == [found["edges-added", "count"], found["edges-removed", "count"]]
    assert 0.0 == found["degree-distribution", "half L1"]
    assert 0.0 == found["clustering", "absolute difference"]


def test_figures_agree_with_what_the_method_says_it_did():
    graph = gv.Graph.from_networkx(nx.gnp_random_graph(60, 0.1, seed=2))
    release = gv.KDegree(k=6, edits="any").anonymize(graph)
    found = figures(evaluate(release, original=graph))
    assert release.private.cost["edges_added"] == found["edges-added", "count"]
    assert release.private.cost["edges_deleted"] == found["edges-removed", "count"]


def test_without_the_linkage_a_metric_says_why_it_is_missing():
    graph = nx.path_graph(4)
    found = evaluate(release_of(graph), original=gv.Graph.from_networkx(graph))
    needing = {name for name, metric in METRICS.items() if metric.needs_linkage}
    assert needing == set(found.not_measured)
    assert all("linkage" in reason for reason in found.not_measured.values())
    assert set(METRICS) - needing == {row.metric for row in found.rows}


def test_a_folder_gives_the_same_figures_as_the_release(tmp_path):
    graph = gv.Graph.from_networkx(nx.gnp_random_graph(20, 0.2, seed=1))
    release = gv.KDegree(k=3).anonymize(graph)
    folder = release.write(tmp_path / "release")
    from_folder = evaluate(folder, original=graph)
    assert figures(evaluate(release, original=graph)) == figures(from_folder)
    assert {"release"} == {row.release for row in from_folder.rows}


def test_only_the_metrics_asked_for_are_computed():
    graph = gv.Graph.from_networkx(nx.path_graph(4))
    found = evaluate(gv.KDegree(k=2).anonymize(graph), original=graph, metrics=["edge-jaccard"])
    assert ["edge-jaccard"] == [row.metric for row in found.rows]


def test_an_unknown_metric_is_refused_with_the_known_ones():
    graph = gv.Graph.from_networkx(nx.path_graph(4))
    with pytest.raises(ParameterError, match=r"'beauty'.*edge-jaccard"):
        evaluate(gv.KDegree(k=2).anonymize(graph), original=graph, metrics=["beauty"])


def test_the_original_of_another_release_is_refused():
    graph = gv.Graph.from_networkx(nx.path_graph(4))
    release = gv.KDegree(k=2).anonymize(graph)
    with pytest.raises(UsageError, match=r"5 nodes.*4"):
        evaluate(release, original=gv.Graph.from_networkx(nx.path_graph(5)))
    renamed = gv.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    with pytest.raises((DataError, UsageError), match="linkage"):
        evaluate(release, original=renamed)


def test_a_table_has_no_graph_metrics():
    table = gv.Table.from_columns({"sex": ["f", "m", "f", "m"]})
    graph = gv.Graph.from_networkx(nx.path_graph(4))
    with pytest.raises(UsageError, match="Table"):
        evaluate(gv.KDegree(k=2).anonymize(graph), original=table)


def test_every_row_is_tidy():
    graph = gv.Graph.from_networkx(nx.gnp_random_graph(20, 0.2, seed=1))
    rows = evaluate(gv.KDegree(k=3).anonymize(graph), original=graph).rows
    table = rows_to_arrow(rows)
    assert table.num_rows == len(rows) == len({(row.metric, row.part) for row in rows})
    assert {"exact"} == set(table["exact"].to_pylist())
    assert all(row.unit and row.direction for row in rows)
    assert [row.value for row in rows] == table["value"].to_pylist()
    assert all(np.isfinite(row.value) for row in rows)
    json.dumps(table.to_pylist(), allow_nan=False)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_says_what_it_is(name):
    metric = METRICS[name]
    assert name == metric.name
    assert all([metric.direction, metric.definition, metric.source, metric.cost])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_graph_without_edges_gives_finite_figures(n):
    graph = plain_graph(n, [])
    found = evaluate(release_of(graph, list(range(n))), original=gv.Graph.from_networkx(graph))
    assert {} == found.not_measured
    assert all(np.isfinite(row.value) for row in found.rows)
