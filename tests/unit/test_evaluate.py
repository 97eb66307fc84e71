from __future__ import annotations

import dataclasses
import json
import math
import shutil
from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import graphveil as gv
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.cli import run
from graphveil.core.errors import DataError, ParameterError, UsageError
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows
from graphveil.data.kinds import kind_of
from graphveil.evaluate import METRICS, measuring, preserved
from graphveil.evaluate.metrics import betweenness, communities
from graphveil.methods import METHODS
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verbs.evaluate import evaluate_release as evaluate

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

UNDEFINED = {
    *("mean-degree", "largest-degree", "degree-variance", "power-law", "transitivity"),
    *("characteristic-length", "effective-diameter", "diameter", "distance-distribution"),
    *("shortest-path", "stars-by-column", "assortativity", "clustering", "largest-component"),
    *("graphlets", "core-numbers", "core-correlation", "spectral-radius", "spectral-gap"),
    *("pagerank-correlation", "eigenvector-correlation", "modularity"),
    *("user-jaccard", "feature-jaccard", "feature-frequency", "pair-frequency"),
    *("stars-by-row", "class-sizes", "column-entropy", "granularity", "reidentification-risk"),
}
"""What data without people, edges, entries, rows or columns does not have."""
GRAPH = {name for name, metric in METRICS.items() if metric.kind is gv.Graph}
BIPARTITE = {
    name for name, metric in METRICS.items() if metric.kind is gv.Bipartite and not metric.by_name
}
TABLE = {name for name, metric in METRICS.items() if metric.kind is gv.Table and not metric.by_name}


def release_of(data, linkage=None, *, original=None):
    """Return a release whose record is of this original, of the released data where not given."""
    return Release(
        data=data,
        guarantee=StructuralKAnonymity(k=1),
        provenance=Provenance(method="k-degree", source="a test", limits="all", parameters={}),
        private=Private(input_sha256=digest_of(original or data), linkage=linkage),
    )


def some_graph(n=20):
    return gv.Graph.from_networkx(nx.gnp_random_graph(n, 0.2, seed=1))


def some_users():
    return gv.Bipartite.from_pairs(
        ["ann", "ann", "bob", "cyd"], ["tea", "rye", "tea", "oat"], features=["oat", "rye", "tea"]
    )


def released_users(*, linkage=True):
    """Bob lost tea, ann got oat; ann is 2, bob 0, cyd 1."""
    data = gv.Bipartite.from_pairs(
        [2, 2, 2, 1], ["tea", "rye", "oat", "oat"], users=range(3), features=["tea", "oat", "rye"]
    )
    people = Linkage(np.array(["cyd", "bob", "ann"], dtype="T"), np.array([1, 0, 2]))
    return release_of(data, people if linkage else None, original=some_users())


def figures(evaluation):
    return {(row.question, row.part): row.value for row in evaluation}


def test_a_graph_is_compared_by_the_metrics_of_graphs_alone():
    graph = some_graph()
    evaluation = evaluate(gv.KDegree(k=2, edits="add").anonymize(graph), original=graph)
    assert GRAPH == {row.question for row in evaluation}
    assert {} == evaluation.not_measured


def test_users_by_features_are_compared_by_their_own_metrics_alone():
    evaluation = evaluate(released_users(), original=some_users())
    assert BIPARTITE == {row.question for row in evaluation}
    assert {} == evaluation.not_measured


def test_users_are_matched_by_the_linkage_and_features_by_name():
    values = figures(evaluate(released_users(), original=some_users()))
    assert 3 / 5 == values["entry-jaccard", "all"]
    assert 1 == values["entries-suppressed", "count"]
    assert 1 / 4 == values["entries-suppressed", "share"]
    assert 1 == values["entries-created", "count"]
    assert 1 / 4 == values["entries-created", "share"]
    assert [0.0, 2 / 3] == [values["user-jaccard", p] for p in ("minimum", "median")]
    assert [0.5, 0.5] == [values["feature-jaccard", p] for p in ("minimum", "median")]
    assert [0, 1] == [values["empty-rows", p] for p in ("original", "released")]
    assert 1 / 3 == values["feature-frequency", "largest change"]
    assert 0.0 == values["pair-frequency", "largest relative error"]


def test_a_table_stands_for_its_features_where_the_release_is_of_users_by_features():
    table = gv.Table.from_columns({"sex": ["f", "m"], "age": ["30", "*"]})
    same = release_of(table.one_hot(), Linkage(np.arange(2), np.arange(2)))
    assert 1.0 == figures(evaluate(same, original=table))["entry-jaccard", "all"]


def test_figures_agree_with_what_the_method_says_it_did():
    graph = gv.Graph.from_networkx(nx.gnp_random_graph(60, 0.1, seed=2))
    release = gv.KDegree(k=6, edits="any").anonymize(graph)
    values = figures(evaluate(release, original=graph))
    cost = release.private.cost
    assert cost["edges_added"] == values["edges-added", "count"]
    assert cost["edges_deleted"] == values["edges-removed", "count"]
    edits = cost["edges_added"] + cost["edges_deleted"]
    assert edits == values["edge-edit-distance", "count"]


def test_figures_of_users_by_features_agree_with_what_the_method_says_it_did():
    rng = Randomness(seed=1).stream("a test")
    users, items = rng.integers(0, 80, 600), rng.integers(0, 9, 600) ** 2
    original = gv.Bipartite.from_pairs(users, items, users=range(80), items="things")
    release = METHODS["mondrian"](k=3, release="majority").anonymize(original)
    values = figures(evaluate(release, original=original))
    cost = release.private.cost
    assert cost["jaccard"] == values["entry-jaccard", "all"]
    assert cost["entries_suppressed"] == values["entries-suppressed", "count"]
    assert cost["entries_created"] == values["entries-created", "count"] > 0


@pytest.mark.parametrize(
    ("release", "original", "every"),
    [
        (release_of(some_graph()), some_graph(), GRAPH),
        (released_users(linkage=False), some_users(), BIPARTITE),
    ],
)
def test_without_the_linkage_a_metric_says_why_it_is_missing(release, original, every):
    evaluation = evaluate(release, original=original)
    needing = {name for name in every if METRICS[name].needs_linkage}
    assert needing == set(evaluation.not_measured)
    assert all("linkage" in reason for reason in evaluation.not_measured.values())
    assert every - needing == {row.question for row in evaluation}


def test_a_folder_gives_the_same_figures_as_the_release(tmp_path):
    graph = some_graph()
    release = gv.KDegree(k=3).anonymize(graph)
    folder = release.write(tmp_path / "graph")
    from_folder = evaluate(folder, original=graph, seed=1)
    assert figures(evaluate(release, original=graph, seed=1)) == figures(from_folder)
    assert {"graph"} == {row.release for row in from_folder}

    folder = released_users().write(tmp_path / "users")
    expected = evaluate(released_users(), original=some_users())
    assert figures(expected) == figures(evaluate(folder, original=some_users()))


def test_numbers_are_the_same_features_when_a_file_makes_text_of_them():
    numbers = gv.Bipartite.from_pairs([0, 1], [7, 30])
    text = gv.Bipartite.from_pairs([0, 1], ["7", "30"])
    same = release_of(text, Linkage(np.arange(2), np.arange(2)), original=numbers)
    assert 1.0 == figures(evaluate(same, original=numbers))["entry-jaccard", "all"]


def test_only_the_metrics_asked_for_are_computed_and_each_once():
    graph = some_graph()
    asked = ["edge-jaccard", "clustering", "edge-jaccard"]
    evaluation = evaluate(gv.KDegree(k=2).anonymize(graph), original=graph, metrics=asked)
    assert ["edge-jaccard", "clustering"] == list(dict.fromkeys(r.question for r in evaluation))
    assert 5 == len(evaluation)


def few_are_many(monkeypatch, container, most):
    """Leave heavy metrics out of data of this kind that has more edges or entries than these."""
    kind = kind_of(container)
    small = dataclasses.replace(kind, measured=(kind.measured[0], most))
    monkeypatch.setattr(measuring, "kind_of", lambda _: small)


def test_heavy_metrics_are_left_out_where_the_release_alone_is_large(monkeypatch):
    original, dense = some_graph(), gv.Graph.from_networkx(nx.complete_graph(20))
    few_are_many(monkeypatch, gv.Graph, original.n_edges)
    linkage = Linkage(np.arange(20), np.arange(20))
    evaluation = evaluate(release_of(dense, linkage, original=original), original=original)
    assert "190 edges exceed" in evaluation.not_measured["modularity"]


@pytest.mark.parametrize("kind", [gv.Graph, gv.Bipartite])
def test_heavy_metrics_are_left_out_of_large_data_unless_asked_for(kind, monkeypatch):
    release, original = {
        gv.Graph: (release_of(some_graph(), Linkage(np.arange(20), np.arange(20))), some_graph()),
        gv.Bipartite: (released_users(), some_users()),
    }[kind]
    edges = original.n_edges if kind is gv.Graph else original.n_entries
    heavy = [
        name
        for name, metric in METRICS.items()
        if metric.kind is kind and metric.cost == "heavy" and not metric.by_name
    ]
    few_are_many(monkeypatch, kind, edges - 1)
    evaluation = evaluate(release, original=original)
    assert heavy == list(evaluation.not_measured)
    assert all(f"{edges:,}" in reason for reason in evaluation.not_measured.values())
    assert not set(heavy) & {row.question for row in evaluation}
    asked = evaluate(release, original=original, metrics=heavy)
    assert set(heavy) == {row.question for row in asked}
    few_are_many(monkeypatch, kind, edges)
    assert {} == evaluate(release, original=original).not_measured


def test_a_seed_repeats_what_is_sampled_whatever_else_is_computed():
    graph = gv.Graph.from_networkx(nx.gnp_random_graph(60, 0.08, seed=3))
    release = gv.KDegree(k=4).anonymize(graph)
    every = figures(evaluate(release, original=graph, seed=5))
    alone = figures(evaluate(release, original=graph, seed=5, metrics=["communities"]))
    assert alone.items() <= every.items()
    partitions = {
        evaluate(release, original=graph, seed=seed, metrics=["communities"])[0].value
        for seed in range(8)
    }
    assert 1 < len(partitions)


def test_distances_of_a_large_graph_are_sampled_and_come_with_an_interval():
    n = 20_001
    ring = np.arange(n)
    original = gv.Graph.from_edges(
        np.concatenate([ring, ring]), np.concatenate([(ring + 1) % n, (7 * ring + 3) % n]), n=n
    )
    cut = original.edges()[::20]
    released = gv.Graph.from_edges(cut[:, 0], cut[:, 1], n=n)
    evaluation = evaluate(
        release_of(released, original=original), original=original, metrics=["shortest-path"]
    )
    assert {"sampled"} == {row.known for row in evaluation}
    assert {1_024} == {row.sample_size for row in evaluation}
    lengths = [row for row in evaluation if row.part != "relative error"]
    assert 3 == len(lengths)
    assert all(0 <= row.low < row.value < row.high for row in lengths)


def test_estimated_betweenness_of_a_release_that_changed_nothing_overlaps_whole(monkeypatch):
    graph = gv.Graph.from_networkx(nx.gnp_random_graph(300, 0.02, seed=3))
    monkeypatch.setattr(betweenness, "EXACT_UP_TO", 0)
    monkeypatch.setattr(betweenness, "PIVOTS", 64)
    same = release_of(
        graph.permuted(np.arange(300)[::-1]),
        Linkage(np.arange(300), np.arange(300)[::-1]),
        original=graph,
    )
    row, chance = evaluate(same, original=graph, metrics=["betweenness"])
    assert ("sampled", 64, 1.0) == (row.known, row.sample_size, row.value)
    assert (1.0, 1.0) == (row.low, row.high)
    assert 100 / 300 == chance.value


def test_an_unknown_metric_is_refused_with_the_known_ones():
    graph = some_graph()
    with pytest.raises(ParameterError, match=r"'beauty'.*edge-jaccard"):
        evaluate(gv.KDegree(k=2).anonymize(graph), original=graph, metrics=["beauty"])


def test_a_metric_of_another_kind_is_refused_with_those_of_this_kind():
    graph = some_graph()
    release = gv.KDegree(k=2).anonymize(graph)
    with pytest.raises(UsageError, match=r"empty-rows requires a Bipartite.*Graph.*edge-jaccard"):
        evaluate(release, original=graph, metrics=["edge-jaccard", "empty-rows"])
    with pytest.raises(UsageError, match=r"clustering requires a Graph.*Bipartite.*entry-jaccard"):
        evaluate(released_users(), original=some_users(), metrics=["clustering"])


def test_the_original_of_another_release_is_refused():
    graph = gv.Graph.from_networkx(nx.path_graph(4))
    release = gv.KDegree(k=2).anonymize(graph)
    with pytest.raises(UsageError, match=r"5 nodes.*4"):
        evaluate(release, original=gv.Graph.from_networkx(nx.path_graph(5)))
    renamed = gv.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
    with pytest.raises(UsageError, match=r"not the original.*Give the file that the release was"):
        evaluate(release, original=renamed)
    rewired = gv.Graph.from_edges([0, 2, 1], [2, 1, 3])
    with pytest.raises(UsageError, match="not the original"):
        evaluate(release, original=rewired)
    assert evaluate(dataclasses.replace(release, private=None), original=rewired)
    with pytest.raises(UsageError, match=r"2 users.*3"):
        evaluate(released_users(), original=gv.Bipartite.from_pairs([0, 1], [0, 0]))


@pytest.mark.parametrize("ids", [[0, 0, 1], [0, 1, 9]])
def test_a_linkage_that_names_no_person_or_one_twice_is_refused(ids):
    graph = gv.Graph.from_networkx(nx.path_graph(3))
    release = release_of(graph, Linkage(np.arange(3), np.array(ids)))
    with pytest.raises((DataError, UsageError), match="linkage"):
        evaluate(release, original=graph)


@pytest.mark.parametrize("metrics", [None, ["clustering"]])
def test_data_of_another_kind_is_refused(metrics):
    table = gv.Table.from_columns({"sex": ["f", "m", "f", "m"]})
    graph = gv.Graph.from_networkx(nx.path_graph(4))
    for release, original in (
        (gv.KDegree(k=2).anonymize(graph), table),
        (release_of(table), graph),
        (released_users(), graph),
    ):
        with pytest.raises(UsageError, match="evaluate requires two of the same kind: Graph, Bip"):
            evaluate(release, original=original, metrics=metrics)


def test_every_row_is_tidy():
    graph = some_graph()
    of_graph = evaluate(gv.KDegree(k=3).anonymize(graph), original=graph)
    rows = Rows([*of_graph, *evaluate(released_users(), original=some_users())])
    table = rows.to_arrow()
    assert table.num_rows == len(rows) == len({(row.question, row.part) for row in rows})
    assert [row.sample_size is None for row in rows] == [row.known == "exact" for row in rows]
    assert {"communities", "modularity"} == {row.question for row in rows if row.known == "sampled"}
    assert all(row.unit and row.direction for row in rows)
    assert [row.value for row in rows] == table["value"].to_pylist()
    json.dumps(table.to_pylist(), allow_nan=False)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_says_what_it_is(name):
    metric = METRICS[name]
    assert name == metric.name
    assert all([metric.direction, metric.definition, metric.source, metric.cost])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_data_without_edges_or_entries_gives_finite_figures(n):
    same = Linkage(np.arange(n), np.arange(n))
    graph = gv.Graph.from_edges([], [], n=n)
    users = gv.Bipartite(np.zeros(n + 1, np.int64), np.empty(0, np.int32), 0)
    table = gv.Table(np.zeros((n, 0), np.int32), (), ())
    one = gv.Table(np.full((n, 1), -1, np.int32), ("sex",), (np.empty(0, dtype="T"),))
    every_kind = ((graph, GRAPH), (users, BIPARTITE), (table, TABLE))
    for data, every in (*every_kind, (one, TABLE)):
        evaluation = evaluate(release_of(data, same), original=data)
        measured = {row.question for row in evaluation}
        assert set() == measured & set(evaluation.not_measured)
        assert every == measured | set(evaluation.not_measured)
        assert n == 0 or set(evaluation.not_measured) <= UNDEFINED
        assert all(evaluation.not_measured.values())
        assert all(np.isfinite(row.value) for row in evaluation)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([5, 4, 5], [0, 0, 1, 1]),  # the middle edge is below 1/2 and nobody's heaviest
        ([5, 5, 9], [0, 0, 0, 0]),  # all are kept
        ([3, 9, 9], [0, 0, 0, 0]),  # the first edge is the heaviest of its end
        ([0, 9, 9], [0, 1, 1, 1]),  # never together
    ],
)
def test_edges_below_the_threshold_are_dropped_unless_an_end_has_no_heavier(
    runs, expected, monkeypatch
):
    path = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    rounds, all_runs = iter([np.array(runs, dtype=np.float64)]), float(communities.COMMUNITY_RUNS)
    monkeypatch.setattr(
        communities, "_together", lambda _, edges, __: next(rounds, np.full(len(edges), all_runs))
    )
    rng = Randomness(seed=1).stream("a test")
    assert expected == communities.consensus_communities(path, rng).tolist()


def test_searches_for_communities_get_whole_numbers_as_weights(monkeypatch):
    given, real = [], communities.to_weighted
    monkeypatch.setattr(
        communities, "to_weighted", lambda *some: given.append(some[1].copy()) or real(*some)
    )
    ring = gv.Graph.from_edges(range(12), [*range(1, 12), 0], n=12)
    communities.consensus_communities(ring, Randomness(seed=2).stream("a test"))
    assert any(np.any(weights > 1) for weights in given)
    assert [] == [weights for weights in given if np.any(weights != weights.round())]


@pytest.mark.parametrize(
    ("original", "values", "expected"),
    [
        (100.0, [100.0], True),
        (100.0, [95.0], False),
        (100.0, [95.1], True),
        (100.0, [104.9, 104.9, 104.9], True),
        (100.0, [98.0, 102.0], True),  # sd 2.83
        (100.0, [96.0, 104.0], False),  # sd 5.66
        (100.0, [99.0, 95.0], False),  # change 3, sd 2.83
        (-0.5, [-0.49, -0.49], True),
        (0.0, [0.0, 0.0], True),
        (0.0, [0.0, 1e-9], False),
    ],
)
def test_a_property_is_preserved_while_change_and_deviation_stay_below_five_percent(
    original, values, expected
):
    assert expected is preserved(original, values)


def test_nothing_can_be_said_of_no_runs():
    with pytest.raises(ParameterError, match="one value"):
        preserved(1.0, [])


def test_the_command_prints_a_line_a_figure_and_writes_the_rows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    nx.write_edgelist(nx.gnp_random_graph(12, 0.4, seed=1), "friends.csv", ",", data=False)
    original = gv.read_graph("friends.csv")
    gv.KDegree(k=2).anonymize(original).write("out")
    words = ["evaluate", "out", "--original", "friends.csv", "--seed", "3"]
    expected = evaluate("out", original=original, seed=3, as_sample=True)

    assert 0 == run([*words, "--all", "--out", "rows.parquet"])
    shown = capsys.readouterr()
    lines = shown.out.splitlines()[2:]
    assert len(expected) == len(lines)
    assert all(row.part in line for row, line in zip(expected, lines, strict=True))
    assert 1 == sum("clustering" in line for line in lines)
    assert "written: rows.parquet" in shown.err
    assert expected.to_arrow().equals(pq.read_table("rows.parquet"))

    assert 0 == run([*words, "--json", "--out", "rows.json"])
    printed = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "rows.json").read_text()) == printed
    assert [row.value for row in expected] == [row["value"] for row in printed["rows"]]

    assert 2 == run([*words, "--metrics", "empty-rows"])
    assert "empty-rows requires a Bipartite" in capsys.readouterr().err


def test_rows_print_what_they_hold_and_become_frames_of_every_library():
    graph = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=4)
    release = gv.KDegree(k=2).anonymize(graph)
    rows = release.evaluate(graph, metrics=["edges-kept", "mean-degree"])
    first, second, *_ = repr(rows).splitlines()
    assert "6 rows for 2 questions; see to_pandas()" == first
    assert "  edges-kept, count: 4 edges" == second
    missing = Rows([*rows, Row(release="release", question="diameter", reason="no edges")])
    assert "6 rows for 2 questions, 1 not measured" in repr(missing)
    assert "and 188 more" in repr(Rows([rows[0]] * 200))
    names = [field.name for field in dataclasses.fields(Row)]
    assert names == list(pd.DataFrame(rows).columns) == missing.to_polars().columns
    assert [4.0, None] == missing.to_arrow()["value"].to_pylist()[::6]
    assert names == pl.DataFrame(missing).columns
    assert rows["edges-kept", "count"] is rows[0] is rows["edges-kept"][0]
    with pytest.raises(KeyError):
        rows["edges-kept", "color"]


def test_metrics_may_be_separated_by_commas_and_have_other_usual_names():
    graph = gv.Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    release = gv.KDegree(k=2).anonymize(graph, seed=1)
    rows = evaluate(release, graph, metrics="average-degree, max-degree", as_sample=False)
    before = {row.question: row.value for row in rows if row.part == "original"}
    assert {"mean-degree": 1.5, "largest-degree": 3.0} == before
    with pytest.raises(ParameterError, match="unknown metric 'colour'"):
        evaluate(release, graph, metrics=["max-degree,colour"])


def test_the_kind_of_the_original_is_compared_with_the_record(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.csv").write_text("source,target\na,b\nb,c\nc,a\n")
    assert 0 == run(["anonymize", "k-degree", "ring.csv", "--k", "2", "--out", "r"])
    asked = ["evaluate", "r", "--original", "ring.csv", "--metrics", "edges-kept", "--kind"]
    assert 0 == run([*asked, "graph"])
    capsys.readouterr()
    assert 2 == run([*asked, "table"])
    assert (
        "--kind table, but the release was made from a network (--kind graph)"
        in capsys.readouterr().err
    )


AGES = ["23", "27", "31", "38", "23", "35"]
ILL = ["flu", "cold", "flu", "flu", "gout", "flu"]


def generalized(**changed):
    table = gv.Table.from_columns({"age": AGES, "ill": ILL}, exact=True, person="row")
    asked = {"k": 2, "known": "age", "attach": "ill", "levels": {"age": "10,20"}, **changed}
    return gv.Generalize(**asked).anonymize(table, seed=1), table


def test_granularity_and_its_bound_are_those_counted_by_hand():
    release, table = generalized()
    values = {
        (row.question, row.part): row.value
        for row in evaluate(release, table, metrics=["granularity", "granularity-bound"])
    }
    # the range 20-39 has 19 steps, 10 values of a class lose 9 of them; 23 is there twice
    shown = Counter(release.data.to_arrow()["age"].to_pylist())
    assert {"20-29": 3, "30-39": 3} == shown
    assert values["granularity", "all"] == pytest.approx(1 - 9 / 19)
    assert values["granularity", "column age"] == pytest.approx(1 - 9 / 19)
    assert values["granularity-bound", "at most"] == pytest.approx(1 - (4 * 9 / 19) / 6)


def test_a_more_general_value_is_no_other_value():
    release, table = generalized()
    rows = {row.part: row.value for row in evaluate(release, table, metrics=["cells-replaced"])}
    assert {"count": 0, "share": 0} == rows


def test_levels_that_nobody_can_read_again_are_named(tmp_path):
    jobs = tmp_path / "ages.csv"
    jobs.write_text("".join(f"{age};{age[0]}\n" for age in sorted(set(AGES))))
    release, table = generalized(levels={"age": str(jobs)})
    [before, _] = evaluate(release, table, metrics=["granularity"])
    assert before.value == pytest.approx(1 - (3 * 1 / 4 + 3 * 2 / 4) / 6)
    jobs.unlink()
    missing = evaluate(release, table, metrics=["granularity"]).not_measured
    assert "the levels cannot be read again: the levels" in missing["granularity"]
    folder = release.write(tmp_path / "release")
    shutil.rmtree(tmp_path / "release.private")
    missing = evaluate(folder, table, metrics=["granularity"]).not_measured
    assert "requires the owner's record" in missing["granularity"]


def test_risks_are_those_of_classes_of_known_columns():
    release, table = generalized()
    asked = ["reidentification-risk", "class-sizes"]
    values = {row.part: row.value for row in evaluate(release, table, metrics=asked)}
    assert 3 == values["released smallest"]
    assert 1 == values["original prosecutor, highest"]
    assert 5 / 6 == values["original marketer"]
    assert 1 / 3 == values["released prosecutor, highest"]
    assert 2 / 6 == values["released marketer"]
    assert not any("journalist" in part for part in values)


def test_the_risk_in_a_population_is_that_of_the_rows_that_are_not_seen():
    release, table = generalized()
    rows = evaluate(release, table, metrics=["reidentification-risk"], population=12)
    values = {row.part: row.value for row in rows}
    # F = 3 + a negative binomial number: the mean of 1 / F is summed term by term
    mean = sum(math.comb(h - 1, 2) * 0.5**h / h for h in range(3, 200))
    assert values["released journalist, highest"] == pytest.approx(mean)
    assert values["released journalist, mean"] == pytest.approx(mean)
    assert values["original alone in the population"] == pytest.approx(4 / 12)
    assert 0 == values["released alone in the population"]
    with pytest.raises(ParameterError, match="population=5 is below the 6 rows"):
        evaluate(release, table, population=5)
    graph = some_graph()
    with pytest.raises(UsageError, match="population=50 describes a table"):
        evaluate(gv.KDegree(k=2).anonymize(graph), graph, population=50)
