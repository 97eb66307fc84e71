"""Containers refuse what breaks their rules, and name what is wrong."""

from __future__ import annotations

from decimal import Decimal

import duckdb
import igraph as ig
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from graphveil.core.errors import DataError, GraphveilWarning
from graphveil.data import Bipartite, Graph, Table
from graphveil.data.ids import as_ids, check_distinct, distinct, positions, text


@pytest.mark.parametrize(
    ("indptr", "indices", "expected"),
    [
        ([0, 1], [0], "node 0 is its own neighbor"),
        ([0, 1, 1], [1], "one direction only"),
        ([0, 2, 4], [1, 1, 0, 0], "node 0 are not sorted"),
        ([0, 2, 3, 4], [2, 1, 0, 0], "node 0 are not sorted"),
        ([0, 1, 2], [1, 5], "outside 0..1"),
        ([0, 1, 2], [1, -1], "outside 0..1"),
        ([0, 2, 1], [1, 0], "indptr must rise"),
        ([1, 2], [0], "indptr must rise"),
        ([0, 1, 2, 3, 4], [1, 2, 3, 0], "one direction only"),
    ],
)
def test_arrays_that_are_no_simple_graph_are_refused(indptr, indices, expected):
    with pytest.raises(DataError, match=expected):
        Graph(np.array(indptr), np.array(indices))


def test_a_graph_cannot_be_written_to():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(ValueError, match="read-only"):
        graph.indices[0] = 5
    with pytest.raises(AttributeError):
        graph.ids = None


def test_dropped_loops_and_repeats_are_told():
    with pytest.warns(GraphveilWarning, match="dropped 1 self-loops and 1 repeated edges"):
        Graph.from_edges([0, 0, 0], [0, 1, 1])


def test_arcs_in_both_directions_are_one_edge_and_no_repeat():
    graph, dropped = Graph.assemble([0, 1], [1, 0])
    assert (1, (0, 0, 1)) == (graph.n_edges, tuple(dropped))


@pytest.mark.parametrize(
    ("source", "target", "options", "expected"),
    [
        ([0, 1], [1], {"n": 2}, "2 sources but 1 targets"),
        ([0], [5], {"n": 3}, "position 5 is outside 0..2"),
        ([-1], [0], {"n": 3}, "position -1 is outside"),
        ([0.5], [1.0], {"n": 3}, "positions must be integers"),
        ([0], [1], {"ids": ["a", "a"]}, "occurs more than once"),
        ([0], [1], {"n": 3, "ids": ["a", "b"]}, "2 ids for 3 positions"),
        ([-1], [2], {}, "-1 is negative"),
        ([1.5], [2.0], {}, "1.5 is not an id"),
        ([None], ["a"], {}, "missing"),
        ([True], [False], {}, "not an id"),
    ],
)
def test_edges_that_cannot_be_used_are_refused(source, target, options, expected):
    with pytest.raises(DataError, match=expected):
        Graph.from_edges(source, target, **options)


LARGE = 2**63


@pytest.mark.parametrize(
    "values",
    [
        [LARGE, 1],
        [2**70, 1],
        np.array([LARGE, 1], dtype=np.uint64),
        np.array([LARGE, 1], dtype=object),
        pa.array([LARGE, 1], type=pa.uint64()),
        pa.array([Decimal(2**70), Decimal(1)]),
    ],
)
def test_integers_beyond_int64_are_text(values):
    assert [str(int(values[0].as_py() if isinstance(values, pa.Array) else values[0])), "1"] == (
        as_ids(values, what="ids").tolist()
    )


@pytest.mark.parametrize("value", [1e300, 2.0**53 + 2, np.inf, -1.0, 0.5])
def test_floats_that_are_no_exact_integers_are_no_ids(value):
    with pytest.raises(DataError, match="is not a valid id"):
        as_ids(np.array([value]), what="ids")


def test_tuples_are_no_ids_and_the_message_shows_one():
    with pytest.raises(DataError, match=r"\(0, 0\) is not an id"):
        Graph.from_networkx(nx.grid_2d_graph(2, 2))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a"], dtype="category"),
        pl.Series(["b", "a"]).cast(pl.Categorical),
        pl.Series(["b", "a"]),
        pa.array(["b", "a"]).dictionary_encode(),
        pa.array(["b", "a"], type=pa.large_string()),
        pa.array(["b", "a"], type=pa.string_view()),
    ],
)
def test_text_is_taken_from_every_kind_of_column(column):
    table = pa.table({"u": pa.array(column) if isinstance(column, pd.Series) else column})
    assert ["b", "a"] == as_ids(table["u"], what="u").tolist()


def test_distinct_ids_are_in_the_order_of_values_or_code_points():
    assert [2, 10] == distinct(as_ids([10, 2, 10], what="ids")).tolist()
    assert ["10", "2", "B", "a", "é"] == distinct(text(["é", "a", "B", "2", "10"])).tolist()


@pytest.mark.parametrize("span", [1, 10**15])
def test_positions_are_found_in_narrow_and_wide_ids(span):
    ids = np.array([0, 5, 7], dtype=np.int64) * span
    assert [2, 0, 1] == positions(ids[[2, 0, 1]], ids, what="ids").tolist()
    with pytest.raises(DataError, match="is not among the 3 ids"):
        positions(np.array([1]), ids, what="ids")


def test_directed_objects_are_refused_with_the_way_out():
    with pytest.raises(DataError, match=r'0 of 1 edge is mutual .*directed="symmetrize"'):
        Graph.from_networkx(nx.DiGraph([(0, 1)]))
    with pytest.raises(DataError, match="0 of 1 edge is mutual"):
        Graph.from_igraph(ig.Graph([(0, 1)], directed=True))
    with pytest.raises(DataError, match="0 of 1 edge is mutual"):
        Graph.from_scipy(sparse.csr_array([[0, 1], [0, 0]]))
    with pytest.raises(DataError, match="square"):
        Graph.from_scipy(sparse.csr_array([[0, 1, 0], [0, 0, 1]]))


def test_an_igraph_without_names_is_numbered():
    assert Graph.from_edges([0], [1], n=3) == Graph.from_igraph(ig.Graph(3, [(0, 1)]))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}),
        pl.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}),
        duckdb.sql("SELECT * FROM (VALUES ('x', 'y'), ('y', 'z')) AS edges(a, b)"),
        pa.table({"a": ["x", "y"], "b": ["y", "z"]}),
    ],
    ids=["pandas", "polars", "duckdb", "arrow"],
)
def test_a_frame_of_any_library_gives_the_same_graph(frame):
    expected = Graph.from_edges([0, 1], [1, 2], ids=["x", "y", "z"])
    assert expected == Graph.from_arrow(frame)
    assert expected == Graph.from_arrow(frame, source="b", target="a")


def test_a_frame_without_the_column_is_refused():
    with pytest.raises(DataError, match="no column 'x'"):
        Graph.from_arrow(pl.DataFrame({"a": [0], "b": [1]}), source="x")
    with pytest.raises(DataError, match="two columns, but the frame has 1"):
        Graph.from_arrow(pl.DataFrame({"a": [0]}))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_index_types_make_no_difference(dtype):
    graph = Graph(np.array([0, 1, 2], dtype=dtype), np.array([1, 0], dtype=dtype))
    assert (np.int64, np.int32) == (graph.indptr.dtype, graph.indices.dtype)


def test_containers_are_as_long_as_the_ids_that_they_yield():
    graph = Graph.from_edges(["bob", "ann"], ["ann", "cyd"])
    users = Bipartite.from_pairs(["ann", "ann", "bob"], ["tea", "rye", "rye"])
    table = Table.from_columns({"color": ["red", "red", "blue"]})
    assert [["ann", "bob", "cyd"], ["ann", "bob"], [0, 1, 2]] == list(
        map(list, (graph, users, table))
    )
    assert [3, 2, 3] == list(map(len, (graph, users, table)))
    assert ("ann" in graph, "dan" in graph) == (True, False)


def test_ids_are_shown_by_no_repr():
    graph = Graph.from_edges(["secret"], ["name"])
    table = Table.from_columns({"disease": ["flu"]}, ids=["secret"])
    rows = Bipartite.from_pairs(["secret"], ["tea"])
    assert "secret" not in f"{graph!r}{table!r}{rows!r}"


@pytest.mark.parametrize(
    ("indptr", "indices", "expected"),
    [
        ([0, 2], [1, 0], "features of user 0 are not sorted"),
        ([0, 1], [5], "feature 5 is outside 0..2"),
        ([0, 5], [0], "indptr must rise"),
    ],
)
def test_arrays_that_are_no_rows_are_refused(indptr, indices, expected):
    with pytest.raises(DataError, match=expected):
        Bipartite(np.array(indptr), np.array(indices), 3)


def test_repeated_pairs_are_told():
    with pytest.warns(GraphveilWarning, match="dropped 1 repeated pairs"):
        assert 1 == Bipartite.from_pairs(["a", "a"], ["x", "x"]).n_entries


def test_many_repeats_of_a_pair_are_one_entry():
    data, repeats = Bipartite.assemble([0] * 256, [0] * 256)
    assert (1, 255) == (data.n_entries, repeats)


def test_an_edge_between_users_is_no_pair():
    with pytest.raises(DataError, match="does not connect a user and a feature"):
        Bipartite.from_networkx(nx.Graph([("ann", "bob")]), users=["ann", "bob"])


def test_a_label_that_names_a_user_and_a_feature_has_no_networkx_form():
    with pytest.raises(DataError, match="names both a user and a feature"):
        Bipartite.from_pairs(["x"], ["x"]).to_networkx()


@pytest.mark.parametrize("odd", [-5, 1 << 63, 10**30])
def test_numbers_that_are_no_ids_are_categories_as_text(odd):
    table = Table.from_columns({"shift": [odd, 3, None]})
    assert {"shift": [str(odd), "3", None]} == table.to_arrow().to_pydict()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.5, 2.0], "numeric"),
        ([float("inf")], "numeric|inf"),
        ([1e300], "numeric"),
        (pa.array([[1], [2]]), "not categorical"),
        ([1, "a"], "mixes types"),
    ],
)
def test_columns_that_are_no_categories_are_refused(values, expected):
    with pytest.raises(DataError, match=expected):
        Table.from_columns({"a": values})


def test_whole_floats_with_gaps_are_integers():
    table = Table.from_arrow(pd.DataFrame({"age": [30.0, None, 40.0]}))
    assert {"age": [30, None, 40]} == table.to_arrow().to_pydict()


def test_truth_values_and_dates_are_categories():
    frame = pl.DataFrame({"smokes": [True, False], "day": ["2020-01-02", "2020-01-03"]})
    table = Table.from_arrow(frame.with_columns(pl.col("day").str.to_date()))
    expected = {"smokes": ["true", "false"], "day": ["2020-01-02", "2020-01-03"]}
    assert expected == table.to_arrow().to_pydict()


@pytest.mark.parametrize(
    ("codes", "columns", "categories", "expected"),
    [
        ([[0], [2]], ("a",), (["x", "y"],), "row 1: code 2 has no category"),
        ([[-2]], ("a",), (["x"],), "code -2 has no category"),
        ([[0, 0]], ("a",), (["x"],), "Give one of each per column"),
        ([[0, 0]], ("a", "a"), (["x"], ["y"]), "same name"),
        ([[0]], ("a",), (["x", "x"],), "occurs more than once"),
    ],
)
def test_codes_without_a_meaning_are_refused(codes, columns, categories, expected):
    with pytest.raises(DataError, match=expected):
        Table(np.array(codes), columns, categories)


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(DataError, match="different lengths"):
        Table.from_columns({"a": ["x"], "b": ["y", "z"]})


@pytest.mark.parametrize("half", [chr(0xD83D), chr(0xDE00)])
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda name: Graph.from_edges([name, "bob"], ["bob", "cyd"]), "source"),
        (lambda name: Graph.from_edges(np.array([name]), np.array(["bob"])), "source"),
        (lambda name: Graph.from_edges([0], [1], n=2, ids=["bob", name]), "node ids"),
        (lambda name: Bipartite.from_pairs([name, "bob"], ["tea", "milk"]), "users"),
        (lambda name: Bipartite.from_lists([[name], ["milk"]]), "features"),
        (lambda name: Table.from_columns({"sex": [name, "f"]}), "column sex"),
        (lambda name: Table.from_columns({name: ["m", "f"]}), "the column names"),
    ],
)
def test_half_of_a_surrogate_pair_is_refused_where_it_comes_in(make, expected, half):
    name = f"an{half}n"
    with pytest.raises(DataError) as refused:
        make(name)
    assert str(refused.value) == (
        f"{expected}: {name!r} contains half of a surrogate pair, which no file "
        f"can store. Give valid Unicode text."
    )


def test_ids_that_stand_twice_are_counted_beyond_the_first():
    with pytest.raises(DataError, match="'a' occurs more than once; in total, 3 are repeated"):
        check_distinct(np.array(["a", "b", "a", "a", "b"]), n=5, what="users")
