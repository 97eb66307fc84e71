"""Objects of other libraries are read as what they say they are, or refused with the way out."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from contextlib import nullcontext

import duckdb
import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import graphveil as gv
from graphveil.core.errors import DataError, ParameterError, UsageError
from graphveil.data.kinds import CONTAINERS, as_container
from graphveil.io import columns_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

ENDS = {"source": ["ann", "bob", "cyd"], "target": ["bob", "cyd", "dan"]}
PAIRS = {"user": ["ann", "ann", "bob"], "item": ["tea", "rye", "tea"]}
CELLS = {"sex": ["f", "m", "f"], "age": ["30", "30", "40"], "town": ["x", "x", "y"]}

PATH = gv.Graph.from_edges(*ENDS.values())
TASTES = gv.Bipartite.from_pairs(*PAIRS.values())
PEOPLE = gv.Table.from_columns(CELLS)

FRAMES = {
    "pandas": pd.DataFrame,
    "pandas with an index": lambda columns: pd.DataFrame(columns, index=[7, 9, 2]),
    "Arrow, from pandas": lambda columns: pa.Table.from_pandas(pd.DataFrame(columns)),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "Arrow, batch by batch": lambda columns: pa.table(columns).to_reader(),
    "DuckDB": lambda columns: duckdb.connect().from_arrow(pa.table(columns)),
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize(("columns", "expected"), [(ENDS, PATH), (PAIRS, TASTES), (CELLS, PEOPLE)])
def test_a_frame_is_read_by_its_columns(library, columns, expected):
    assert expected == as_container(FRAMES[library](columns), CONTAINERS, wanted_by="measure")


def test_columns_that_pandas_wrote_as_its_index_are_columns_of_an_arrow_table():
    table = pa.Table.from_pandas(pd.DataFrame(ENDS).set_index("source"))
    assert ["target", "source"] == table.column_names
    assert PATH == as_container(table, CONTAINERS, wanted_by="measure")
    with pytest.raises(DataError, match="each row needs two columns"):
        gv.Graph.from_arrow(table.select(["target"]))


def test_an_index_with_a_name_is_asked_for():
    frame = pd.DataFrame({"target": ENDS["target"]}, index=pd.Index(ENDS["source"], name="source"))
    with pytest.raises(DataError, match=r"^the index of the frame is named 'source'\. Make it a"):
        gv.anonymize(frame, "k-degree", k=2)
    assert PATH == as_container(frame.reset_index(), CONTAINERS, wanted_by="measure")


NO_FRAMES = {
    "a Series of pandas": (
        lambda: pd.Series([1, 2]),
        "a Series of pandas is a single column. Pass a frame with all columns.",
    ),
    "a Series of polars": (
        lambda: pl.Series([1, 2]),
        "a Series of polars is a single column. Pass a frame with all columns.",
    ),
    "two columns of one name": (
        lambda: pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"]),
        "two columns of the frame are named 'a'. Rename one.",
    ),
    "numbers beside text": (
        lambda: pd.DataFrame({"source": [1, "ann"], "target": [2, 3]}),
        (
            "column source of the frame mixes types or holds objects (Could not convert 'ann' with "
            "type str: tried to convert to int64). Use one type, such as text with astype(str), or "
            "leave the column out."
        ),
    ),
    "a lazy frame": (
        lambda: pl.LazyFrame(ENDS),
        (
            "measure takes a Graph or a Bipartite or a Table or a Network, not a polars.LazyFrame. "
            "Pass "
            "data.collect()."
        ),
    ),
}


@pytest.mark.parametrize(("frame", "expected"), NO_FRAMES.values(), ids=NO_FRAMES)
def test_what_is_no_frame_or_half_of_one_is_refused_with_the_way_out(frame, expected):
    with pytest.raises(gv.GraphveilError) as caught:
        gv.measure(frame())
    assert expected == str(caught.value)


NAMES = {
    "caller,callee": gv.Graph,
    "customer,product": gv.Bipartite,
    "source,target,when": gv.Graph,
    "user_id,item_id": gv.Bipartite,
    "sex,age,town": gv.Table,
    "from,to,medium": None,
    "a,b": None,
    "sex,age": None,
}


@pytest.mark.parametrize("names", NAMES)
def test_frames_and_files_are_read_alike_by_the_names_of_their_columns(names, tmp_path):
    columns, kind = names.split(","), NAMES[names]
    frame = pl.DataFrame({name: [f"{name}1", f"{name}2"] for name in columns})
    frame.write_csv(tmp_path / "frame.csv")
    named = columns_of(tmp_path / "frame.csv", None, header="yes").kind
    if kind is None:
        with pytest.raises(UsageError, match="it is not clear how to read"):
            as_container(frame, CONTAINERS, wanted_by="measure")
        assert named is (gv.Graph if names == "from,to,medium" else None)
    else:
        assert kind is type(as_container(frame, CONTAINERS, wanted_by="measure"))
        assert named is (None if kind is gv.Table else kind)


def test_a_network_of_two_sides_is_asked_for():
    two_sides = TASTES.to_networkx()
    with pytest.raises(
        UsageError, match=r"pass graphveil.Graph.from_networkx\(data, one_mode=True\)\. If"
    ) as caught:
        gv.anonymize(two_sides, "suppress-k", k=2)
    assert "Bipartite.from_networkx(data, users=[...])" in str(caught.value)
    with pytest.raises(UsageError, match="marks two kinds of nodes"):
        gv.anonymize(two_sides, "k-degree", k=2)
    users = gv.Bipartite.from_networkx(two_sides, users=["ann", "bob"])
    assert users == TASTES
    everyone = gv.Graph.from_networkx(two_sides, one_mode=True)
    assert 4 == gv.anonymize(everyone, "k-degree", k=2).data.n_nodes


@pytest.mark.parametrize("library", ["networkx", "igraph"])
@pytest.mark.parametrize("kind", [gv.Graph, gv.Network])
def test_kinds_of_nodes_and_of_edges_are_asked_about_as_on_the_command_line(kind, library):
    read = getattr(kind, f"from_{library}")
    nodes = nx.Graph([("ann", "ball"), ("bob", "ball")])
    nx.set_node_attributes(nodes, {"ann": "person", "bob": "person", "ball": "event"}, "type")
    ties = nx.Graph([("ann", "bob", {"relation": "calls"}), ("bob", "cyd", {"relation": "visits"})])
    if library == "igraph":
        nodes, ties = igraph.Graph.from_networkx(nodes), igraph.Graph.from_networkx(ties)
        for graph in (nodes, ties):
            graph.vs["name"] = graph.vs["_nx_name"]
            del graph.vs["_nx_name"]
    both = rf"1 with 'event', 2 with 'person'.*graphveil.Bipartite.from_{library}\(data, users="
    with pytest.raises(DataError, match=both):
        read(nodes)
    with pytest.warns(gv.GraphveilWarning) if kind is gv.Graph else nullcontext():
        assert 3 == read(nodes, one_mode=True).n_nodes
    several = r"2 types in 'relation' \(calls, visits\).*kinds='relation'.*ignore_weights=True"
    with pytest.raises(DataError, match=several):
        read(ties)
    with pytest.warns(gv.GraphveilWarning, match="relation"):
        assert 3 == read(ties, ignore_weights=True).n_nodes
    assert 2 == getattr(gv.Network, f"from_{library}")(ties, kinds="relation").n_layers


def test_a_column_of_lists_is_users_by_features():
    lists = {"user": ["ann", "bob"], "items": [["rye", "tea"], ["tea"]]}
    for build in (pa.table, pl.DataFrame, pd.DataFrame):
        assert TASTES == as_container(build(lists), CONTAINERS, wanted_by="measure")


GRAPHS = {
    "NetworkX": PATH.to_networkx,
    "igraph": PATH.to_igraph,
    "pandas": lambda: pd.DataFrame(ENDS),
    "DuckDB": lambda: duckdb.connect().from_arrow(pa.table(ENDS)),
}


@pytest.mark.parametrize("library", GRAPHS)
def test_every_way_of_a_graph_takes_objects_and_gives_the_same(library):
    handed = GRAPHS[library]()
    expected = gv.KDegree(k=2).anonymize(PATH, seed=1)
    release = gv.anonymize(handed, "k-degree", k=2, seed=1)
    assert expected.data == release.data
    assert gv.measure(PATH).summary() == gv.measure(handed).summary()
    assert release.verify(handed).complete
    rows = gv.evaluate_release(release, original=handed, metrics=["edges-kept"])
    assert [3.0, 1.0] == [row.value for row in rows]


def test_a_matrix_is_a_graph_where_it_is_square_and_users_by_features_otherwise():
    square = gv.anonymize(PATH.to_scipy(), "k-degree", k=2, seed=1)
    plain = gv.Graph(PATH.indptr, PATH.indices)
    assert gv.KDegree(k=2).anonymize(plain, seed=1).data == square.data
    wide = sparse.csr_matrix(np.ones((4, 2)))
    released = gv.anonymize(wide, "suppress-k", k=2, seed=1).data
    assert (4, 2) == (released.n_users, released.n_features)
    assert wide.shape == gv.anonymize(wide, "randomized-response", epsilon=40).to_scipy().shape


@pytest.mark.parametrize("columns", [PAIRS, CELLS])
@pytest.mark.parametrize("library", FRAMES)
def test_methods_for_features_take_frames_of_pairs_and_of_cells(library, columns):
    expected = gv.Mondrian(k=2).anonymize(TASTES if columns is PAIRS else PEOPLE, seed=1)
    release = gv.anonymize(FRAMES[library](columns), "mondrian", k=2, seed=1)
    assert expected.data == release.data
    assert release.verify(FRAMES[library](columns)).complete


WEIGHTED = pd.DataFrame({"a": ["ann"], "b": ["bob"], "weight": [3]})
REFUSED = {
    "a container of another kind": (
        PEOPLE,
        "k-degree",
        (
            "k-degree takes a Graph or a Network, not a Table. Convert it, or "
            "choose a method for this kind of data (Table)."
        ),
    ),
    "a path": (
        "friends.csv",
        "k-degree",
        (
            "k-degree takes a Graph or a Network, not a file name. Read the file first: "
            "graphveil.read_graph('friends.csv') or graphveil.read_network('friends.csv')."
        ),
    ),
    "an object that holds data of another kind": (
        sparse.csr_array((2, 3)),
        "k-degree",
        (
            "k-degree takes a Graph or a Network, not a scipy.csr_array of shape (2, 3). It can be "
            "read as a Bipartite. Convert it to a graphveil.Graph or graphveil.Network."
        ),
    ),
    "a matrix that may be both": (
        sparse.csr_array((3, 3)),
        "randomized-response",
        (
            "it is not clear how to read a scipy.csr_array of shape (3, 3). Pass "
            "graphveil.Graph.from_scipy(data) or graphveil.Bipartite.from_scipy(data)."
        ),
    ),
    "two columns that may be anything": (
        pd.DataFrame({"x": ["ann"], "y": ["bob"]}),
        "mondrian",
        (
            "it is not clear how to read a pandas.DataFrame of shape (1, 2). Pass "
            "graphveil.Graph.from_arrow(data, source='x', target='y') or "
            "graphveil.Bipartite.from_arrow(data, user='x', item='y') or "
            "graphveil.Table.from_arrow(data)."
        ),
    ),
    "more columns than ends": (
        WEIGHTED,
        "k-degree",
        (
            "it is not clear how to read a pandas.DataFrame of shape (1, 3). Pass "
            "graphveil.Graph.from_arrow(data, source='a', target='b')."
        ),
    ),
    "an array": (
        np.zeros((3, 2)),
        "k-degree",
        (
            "k-degree takes a Graph or a Network, not a numpy.ndarray of shape (3, 2). Convert "
            "it to a graphveil.Graph or graphveil.Network."
        ),
    ),
    "a list": (
        [(1, 2)],
        "k-degree",
        (
            "k-degree takes a Graph or a Network, not a list. Convert it to a "
            "graphveil.Graph or graphveil.Network."
        ),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_named_with_the_way_out(case):
    data, method, message = REFUSED[case]
    parameters = {"epsilon": 1} if method == "randomized-response" else {"k": 2}
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        gv.anonymize(data, method, **parameters)


def test_two_columns_of_any_name_are_a_graph_to_a_method_for_graphs_alone():
    frame = pl.DataFrame({"x": ENDS["source"], "y": ENDS["target"]})
    expected = gv.KDegree(k=2).anonymize(PATH, seed=1)
    assert expected.data == gv.anonymize(frame, "k-degree", k=2, seed=1).data
    with pytest.raises(UsageError, match="it is not clear how to read"):
        gv.measure(frame)


def test_a_directed_graph_is_refused_by_its_own_constructor():
    with pytest.raises(DataError, match="directed"):
        gv.anonymize(nx.DiGraph([(1, 2)]), "k-degree", k=2)


def test_an_unknown_method_is_named_with_the_known_ones():
    with pytest.raises(
        ParameterError,
        match=r"^unknown method 'k_degree'\. Did you mean k-degree\? Use one of k-degree, ",
    ):
        gv.anonymize(PATH, "k_degree", k=2)


def test_a_release_gives_its_data_to_every_library():
    release = gv.anonymize(PATH, "k-degree", k=2, seed=1)
    edges = {frozenset(edge) for edge in release.data.edges().tolist()}
    ways = {
        "NetworkX": release.to_networkx().edges,
        "igraph": release.to_igraph().get_edgelist(),
        "SciPy": list(zip(*sparse.triu(release.to_scipy()).nonzero(), strict=True)),
        "pandas": release.to_pandas().to_numpy().tolist(),
        "polars": release.to_polars().rows(),
        "Arrow": release.to_arrow().to_pandas().to_numpy().tolist(),
    }
    for library, rows in ways.items():
        assert edges == {frozenset(map(int, row)) for row in rows}, library
    assert isinstance(release.to_igraph(), igraph.Graph)


def test_what_a_kind_of_data_cannot_become_is_refused():
    release = gv.anonymize(TASTES, "suppress-k", k=2)
    assert ["user", "item"] == list(release.to_pandas().columns)
    with pytest.raises(UsageError, match=r"^to_igraph does not apply to a Bipartite\."):
        release.to_igraph()


def test_containers_have_a_length_and_give_a_size_and_no_id_to_notebooks():
    assert (4, 2, 3) == tuple(map(len, (PATH, TASTES, PEOPLE)))
    for data in (PATH, TASTES, PEOPLE):
        shown = data._repr_html_()
        assert shown.startswith("<table><caption>")
        assert not re.search("ann|bob|tea|<script|http", shown)


def test_a_verdict_is_true_where_no_check_fails(tmp_path):
    folder = gv.anonymize(PATH, "k-degree", k=2).write(tmp_path / "release")
    assert gv.verify_release(folder)
    with (folder / "data.csv").open("a") as file:
        file.write("0,0\n")
    broken = gv.verify_release(folder)
    assert not broken
    assert "<td>fails</td>" in broken._repr_html_()


def test_notebooks_show_a_release_and_its_evaluation():
    release = gv.anonymize(PEOPLE, "mondrian", k=2)
    assert "at least 1 other" in release._repr_html_()
    assert "ann" not in release._repr_html_()
    evaluation = gv.evaluate_release(release, original=PEOPLE)
    assert len(evaluation) == len(list(evaluation)) == len(evaluation.to_pandas())
    assert "<th>question</th>" in evaluation._repr_html_()


def test_one_hot_rows_read_as_the_table_they_came_from():
    back = gv.Table.from_one_hot(PEOPLE.one_hot())
    assert ("age", "sex", "town") == back.columns
    frame = pl.DataFrame(PEOPLE.to_arrow()).with_columns(pl.all().cast(str))
    assert frame.select(back.columns).equals(back.to_polars())


def test_a_release_of_a_table_reads_as_a_table_in_which_equal_rows_stay_equal():
    table = gv.datasets.load("adult-sample")
    release = gv.anonymize(table, "smooth-k", k=8, seed=1)
    shown = release.to_table()
    assert set(table.columns) >= set(shown.columns)
    for k in (2, 8):
        assert (
            gv.measure(release.data, k=k).share_unprotected
            >= gv.measure(shown, k=k).share_unprotected
        )


def test_a_row_with_two_values_of_a_column_or_none_shows_no_value():
    data = gv.Bipartite.from_lists([["sex=f", "sex=m", "town=x"], ["town=y"], ["sex=f"]])
    assert [[None, "x"], [None, "y"], ["f", None]] == [
        list(row.values()) for row in gv.Table.from_one_hot(data).to_arrow().to_pylist()
    ]


def test_features_that_are_no_cells_are_refused():
    with pytest.raises(DataError, match=r"^the feature 'rye' is not named column=value\."):
        gv.Table.from_one_hot(TASTES)


def test_integers_of_duckdb_beyond_128_bits_and_zones_of_times_stay_what_they_are():
    large = duckdb.sql(
        "select (2::UHUGEINT ** 127)::UHUGEINT + i::UHUGEINT as x, "
        "'01:02:03+02'::TIMETZ as t from range(2) r(i)"
    )
    table = gv.Table.from_arrow(large)
    assert [str(2**127), str(2**127 + 1)] == table.categories[0].tolist()
    assert ["01:02:03+02"] == table.categories[1].tolist()


def test_times_with_and_without_a_zone_are_no_one_value():
    times = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=dt.UTC)]  # noqa: DTZ001
    with pytest.raises(DataError, match="column when of the frame has times with a time zone"):
        gv.Table.from_arrow(pd.DataFrame({"when": pd.Series(times, dtype=object)}))


@pytest.mark.parametrize("kind", [gv.Graph, gv.Network, gv.Bipartite])
def test_words_for_a_missing_id_in_a_frame_are_named_with_their_counts(kind):
    frame = pd.DataFrame({"one": ["ann", "NA", "NA"], "other": ["bob", "cyd", "none"]})
    ends = ("user", "item") if kind is gv.Bipartite else ("source", "target")
    directed = {"directed": False} if kind is gv.Network else {}
    with pytest.warns(gv.GraphveilWarning, match=r"read NA \(2x\), none \(1x\) as ids"):
        kind.from_arrow(frame, **dict(zip(ends, frame.columns, strict=True)), **directed)


def test_a_missing_library_is_named_with_its_installation():
    script = """
names = ("pandas", "polars", "networkx", "igraph")
import graphveil as gv
from graphveil.core.lazy import absent
graph = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
release = gv.KDegree(k=2).anonymize(graph, seed=0)
for made in (graph, release):
    for name in names:
        try:
            with absent(*names):
                getattr(made, f"to_{name}")()
        except gv.GraphveilError as error:
            print(error)
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    names = ["pandas", "polars", "networkx", "igraph"]
    told = [f"to_{name} needs {name}. Install it: pip install {name}" for name in names]
    assert 2 * told == ran.stdout.splitlines(), ran.stderr
