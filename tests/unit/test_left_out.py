"""Directions, attributes and weights are never forgotten in silence."""

from __future__ import annotations

import json
import warnings

import igraph as ig
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

import graphveil as gv
from graphveil.core.errors import DataError, GraphveilWarning, InputError
from graphveil.data import Bipartite, Graph, Network
from graphveil.engines.local import LocalEngine
from graphveil.io import GraphOptions, load_graph
from graphveil.methods.smooth_k import Chunks, SuppressK

ARCS = [(0, 1), (1, 0), (1, 2), (2, 3)]
TIES = [[0, 1], [1, 2], [2, 3]]
MUTUAL = "the edges are directed: 1 of 3 edges are mutual (33.3%). "
SEEM = "the edges seem to be directed: 1 of 3 edges are mutual (33.3%). "
WAY_OUT = 'Graphs here are undirected; to drop the directions, use directed="symmetrize".'
JOINED = (
    "the release does not cover them, and anyone who joins them back can single people out again"
)


def matrix():
    source, target = np.array(ARCS).T
    return sparse.csr_array((np.ones(4), (source, target)), shape=(4, 4))


def frame():
    source, target = np.array(ARCS).T
    return pa.table({"source": source, "target": target})


OBJECTS = {
    "networkx": (lambda **o: Graph.from_networkx(nx.DiGraph(ARCS), **o), MUTUAL),
    "igraph": (lambda **o: Graph.from_igraph(ig.Graph(ARCS, directed=True), **o), MUTUAL),
    "scipy": (lambda **o: Graph.from_scipy(matrix(), **o), MUTUAL),
    "arrow": (lambda **o: Graph.from_arrow(frame(), **o), SEEM),
    "pandas": (lambda **o: Graph.from_arrow(pd.DataFrame(ARCS, columns=["a", "b"]), **o), SEEM),
    "arrays": (lambda **o: Graph.from_edges(*np.array(ARCS).T, **o), SEEM),
}


@pytest.mark.parametrize(("made", "expected"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_with_directions_is_refused_until_they_may_be_forgotten(made, expected):
    for options in ({}, {"directed": "refuse"}):
        with pytest.raises(DataError) as caught:
            made(**options)
        assert expected + WAY_OUT == str(caught.value)
    assert TIES == made(directed="symmetrize").edges().tolist()
    with pytest.raises(DataError, match="directed='both' is unknown"):
        made(directed="both")


def test_objects_whose_every_tie_is_mutual_are_undirected():
    arcs = [(0, 1), (1, 0), (1, 2), (2, 1)]
    graph = Graph.from_edges([0, 1], [1, 2], n=3)
    assert graph == Graph.from_networkx(nx.DiGraph(arcs))
    assert graph == Graph.from_igraph(ig.Graph(arcs, directed=True))
    assert graph == Graph.from_edges(*np.array(arcs).T)


def ties_of_gephi(types):
    return pa.table({"Source": [1, 2], "Target": [2, 3], "Type": types})


TYPES = {
    "text": pa.array(["Undirected", "Directed"]),
    "categories": pa.array(["Undirected", " directed"]).dictionary_encode(),
    "large text": pa.array(["Undirected", "Directed"], type=pa.large_string()),
}


@pytest.mark.parametrize("types", TYPES.values(), ids=TYPES)
def test_a_column_of_types_that_calls_a_tie_directed_is_believed_in_frames_and_files(
    tmp_path, types
):
    path = tmp_path / "a.parquet"
    parquet.write_table(ties_of_gephi(types), path)
    expected = "the edges are directed: 0 of 2 edges are mutual (0.0%). " + WAY_OUT
    with pytest.warns(GraphveilWarning), pytest.raises(DataError) as caught:
        Graph.from_arrow(ties_of_gephi(types))
    assert expected == str(caught.value)
    with pytest.raises(InputError) as refused:
        load_graph(path, GraphOptions(ignore_weights=True))
    assert f"a.parquet: {expected}" == str(refused.value)
    _, report = load_graph(path, GraphOptions(ignore_weights=True, directed="symmetrize"))
    assert 2 == report.symmetrized


@pytest.mark.parametrize("types", [["friend", None], [1, 1], [["Directed"], []]])
def test_other_columns_of_types_say_nothing_of_directions(types):
    with pytest.warns(GraphveilWarning, match="dropped Type"):
        assert 2 == Graph.from_arrow(ties_of_gephi(types)).n_edges


KINDS = ("relation", "edge_type", "Link types", "relationship")


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_edges_in_a_column_are_asked_about_in_frames_as_in_objects_and_files(
    tmp_path, name
):
    pairs, said = [("a", "b"), ("b", "c"), ("c", "d")], ["friend", "foe", "foe"]
    frame = pa.table({"source": ["a", "b", "c"], "target": ["b", "c", "d"], name: said})
    graph = nx.Graph()
    graph.add_edges_from((*pair, {name: word}) for pair, word in zip(pairs, said, strict=True))
    for ask in (
        lambda: Graph.from_arrow(frame),
        lambda: Network.from_arrow(frame, directed=False),
        lambda: Graph.from_networkx(graph),
    ):
        with pytest.raises(DataError, match=rf"2 types in '{name}' \(foe, friend\)") as caught:
            ask()
        assert str(caught.value).endswith("ignore_weights=True to merge them.")
    with pytest.warns(GraphveilWarning, match=f"dropped {name}"):
        assert 3 == Graph.from_arrow(frame, ignore_weights=True).n_edges
    with pytest.warns(GraphveilWarning, match=f"dropped {name}"):
        assert 1 == len(Network.from_arrow(frame, directed=False, ignore_weights=True).layers)
    apart = Network.from_arrow(frame, directed=False, kinds=name)
    assert {"foe": 2, "friend": 1} == {layer.name: layer.n_ties for layer in apart.layers}
    path = tmp_path / "a.csv"
    path.write_text(f"source,target,{name}\na,b,friend\nb,c,foe\nc,d,foe\n")
    with pytest.raises(InputError, match=f"Extra: {name}.*kind_column=.{name}"):
        load_graph(path, GraphOptions())


FILES = {
    "GraphML": (
        "a.graphml",
        (
            '<graphml><graph edgedefault="directed"><node id="0"/><node id="1"/><node id="2"/>'
            '<edge source="0" target="1"/><edge source="1" target="0"/>'
            '<edge source="1" target="2"/></graph></graphml>'
        ),
    ),
    "GML": (
        "a.gml",
        (
            "graph [ directed 1 node [ id 0 ] node [ id 1 ] node [ id 2 ] "
            "edge [ source 0 target 1 ] edge [ source 1 target 0 ] edge [ source 1 target 2 ] ]"
        ),
    ),
    "Pajek": ("a.net", "*Vertices 3\n*Arcs\n1 2\n2 1\n2 3\n"),
    "SNAP": ("a.txt", "# Directed graph: x\n0 1\n1 0\n1 2\n"),
    "KONECT": ("a.txt", "% asym unweighted\n1 2\n2 1\n2 3\n"),
    "Matrix Market": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 1\n2 3\n",
    ),
    "METIS": ("a.graph", "4 2\n2 3\n1\n4\n\n"),
}


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES)
def test_a_file_that_says_it_is_directed_is_refused_with_the_share_of_mutual_ties(
    tmp_path, name, content
):
    path = tmp_path / name
    path.write_text(content)
    for options in (GraphOptions(), GraphOptions(directed="refuse")):
        with pytest.raises(InputError) as caught:
            load_graph(path, options)
        said = str(caught.value)
        assert said.startswith(f"{name}: the edges are directed: 1 of ")
        assert WAY_OUT in said
        assert said.endswith(WAY_OUT) or 'kind="bipartite"' in said
    graph, report = load_graph(path, GraphOptions(directed="symmetrize"))
    assert graph.n_edges - 1 == report.symmetrized


def test_an_undirected_file_may_list_some_edges_twice(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("# Undirected graph: x\n0 1\n1 0\n1 2\n")
    assert 2 == load_graph(path).data.n_edges


def attributed() -> nx.Graph:
    graph = nx.cycle_graph(["ann", "bob", "cyd", "dan"])
    nx.set_node_attributes(graph, {"ann": "f", "bob": "m"}, "gender")
    nx.set_node_attributes(graph, {"ann": 1990}, "year")
    graph.add_edge("ann", "bob", weight=3)
    return graph


def left_out(names: str) -> str:
    return f"dropped {names}: {JOINED}"


def from_igraph() -> Graph:
    graph = ig.Graph.from_networkx(attributed())
    graph.vs["name"] = graph.vs["_nx_name"]
    del graph.vs["_nx_name"]
    return Graph.from_igraph(graph)


def from_pandas() -> Graph:
    edges = [(u, v, 1, 2) for u, v in attributed().edges()]
    return Graph.from_arrow(pd.DataFrame(edges, columns=["source", "target", "weight", "since"]))


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (lambda: Graph.from_networkx(attributed()), "gender, year, weight"),
        (from_igraph, "gender, year, weight"),
        (from_pandas, "weight, since"),
        (lambda: Graph.from_scipy(3 * (matrix() + matrix().T)), "values"),
    ],
    ids=["networkx", "igraph", "pandas", "scipy"],
)
def test_attributes_of_objects_are_named_in_a_warning_and_in_the_private_record(
    tmp_path, made, names
):
    with pytest.warns(GraphveilWarning) as caught:
        graph = made()
    assert [left_out(names)] == [str(warning.message) for warning in caught]
    release = gv.KDegree(k=2).anonymize(graph)
    assert left_out(names) in release.private.warnings
    release.write(tmp_path / "out")
    record = json.loads((tmp_path / "out.private" / "record.json").read_bytes())
    assert left_out(names) in record["warnings"]
    assert b"gender" not in (tmp_path / "out" / "release.json").read_bytes()


@pytest.mark.parametrize("write", [nx.write_graphml, nx.write_gml])
def test_attributes_of_files_are_named_in_a_warning_and_in_the_private_record(tmp_path, write):
    path = tmp_path / ("a.graphml" if write is nx.write_graphml else "a.gml")
    write(attributed(), path)
    with pytest.warns(GraphveilWarning, match=left_out("weight, gender, year")) as caught:
        graph = gv.read_graph(path, ignore_weights=True)
    assert 1 == len(caught)
    assert left_out("weight, gender, year") in gv.KDegree(k=2).anonymize(graph).private.warnings


XML = {
    "a.gexf": "<gexf><graph><nodes>{}</nodes><edges>{}</edges></graph></gexf>",
    "a.graphml": "<graphml><graph>{}{}</graph></graphml>",
}


@pytest.mark.parametrize("name", XML)
@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("0", "1"), ()),
        (("e1", "e2"), ()),
        (("1", "3"), ("edge id",)),
        (("call-77", "call-78"), ("edge id",)),
    ],
)
@pytest.mark.filterwarnings("ignore::graphveil.core.errors.GraphveilWarning")
def test_ids_of_edges_are_named_where_they_are_more_than_a_count(tmp_path, name, ids, expected):
    nodes = "".join(f'<node id="{node}"/>' for node in "abc")
    ends = ("ab", "bc")
    edges = "".join(
        f'<edge id="{i}" source="{v}" target="{w}"/>' for i, (v, w) in zip(ids, ends, strict=True)
    )
    (tmp_path / name).write_text(XML[name].format(nodes, edges))
    assert expected == gv.read_graph(tmp_path / name).left_out


def test_columns_of_pairs_are_named_in_a_warning_and_in_the_private_record(tmp_path):
    rows = "user,item,rating\n" + "".join(f"u{n},i{n % 2},5\n" for n in range(8))
    (tmp_path / "likes.csv").write_text(rows)
    with pytest.warns(GraphveilWarning, match=left_out("rating")):
        data = gv.read_bipartite(tmp_path / "likes.csv", ignore_weights=True)
    assert left_out("rating") in gv.SuppressK(k=2).anonymize(data).private.warnings


def test_columns_of_pairs_are_named_on_the_disk_too(tmp_path):
    rows = "user,item,rating\n" + "".join(f"u{n},i{n % 2},5\n" for n in range(8))
    (tmp_path / "likes.csv").write_text(rows)
    with pytest.warns(GraphveilWarning, match=left_out("rating")):
        gv.anonymize_rows(
            SuppressK(k=2, chunks=Chunks(rows=4)),
            tmp_path / "likes.csv",
            tmp_path / "out",
            engine=LocalEngine(jobs=1),
            reading=gv.io.BipartiteOptions(ignore_weights=True),
        )
    record = json.loads((tmp_path / "out.private" / "record.json").read_bytes())
    assert left_out("rating") in record["warnings"]


def test_a_header_is_recognized_on_the_disk_as_in_memory(tmp_path):
    rows = "person,likes\n" + "".join(f"u{n % 4},i{n % 2}\n" for n in range(12))
    (tmp_path / "likes.csv").write_text(rows)
    with pytest.warns(
        GraphveilWarning, match=r"read the first line as column names \(person, likes\)"
    ):
        folder = gv.anonymize_rows(
            SuppressK(k=2, chunks=Chunks(rows=4)),
            tmp_path / "likes.csv",
            tmp_path / "out",
            engine=LocalEngine(jobs=1),
        )
    assert 4 == gv.read_release(folder).data.n_users


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "person,likes\nann,tea\nbob,rye\n",
            (
                "cannot tell whether the first line (person, likes) holds names or data: its ids "
                "occur "
                'nowhere else. Use header="yes" or header="no".'
            ),
        ),
        (
            "user,item\nann,tea\nuser,item\n",
            "line 3: the header is repeated here",
        ),
    ],
)
def test_what_is_no_clear_header_is_refused_on_the_disk(tmp_path, content, expected):
    (tmp_path / "likes.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        gv.anonymize_rows(
            SuppressK(k=2, chunks=Chunks(rows=4)),
            tmp_path / "likes.csv",
            tmp_path / "out",
            engine=LocalEngine(jobs=1),
        )
    assert expected in str(caught.value)


def test_attributes_of_users_and_items_are_named():
    graph = nx.Graph()
    graph.add_nodes_from(["ann", "bob"], bipartite=0, age=3)
    graph.add_edges_from([("ann", "tea"), ("bob", "tea")], since=1999)
    with pytest.warns(GraphveilWarning, match=left_out("age, since")):
        assert ("age", "since") == Bipartite.from_networkx(graph, users=["ann", "bob"]).left_out


def test_which_columns_of_a_frame_are_meant_is_never_guessed():
    table = pa.table({"id": [1], "x": [2], "y": [3]})
    with pytest.raises(DataError, match=r"cannot tell which two .* Name them, for example source="):
        Graph.from_arrow(table)
    with pytest.raises(DataError, match=r"cannot tell which two .* Name them, for example user="):
        Bipartite.from_arrow(table)
    with pytest.warns(GraphveilWarning, match="dropped id"):
        assert [2, 3] == Graph.from_arrow(table, source="x", target="y").labels().tolist()


def test_a_list_beside_several_columns_needs_the_user(tmp_path):
    lists = pa.table({"day": ["mon", "tue"], "who": ["ann", "bob"], "items": [["tea"], ["rye"]]})
    parquet.write_table(lists, tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r'including one that holds lists.*user_column="day"'):
        gv.read_bipartite(tmp_path / "a.parquet", ignore_weights=True)
    with pytest.warns(GraphveilWarning, match="dropped day"):
        data = gv.read_bipartite(tmp_path / "a.parquet", user_column="who", ignore_weights=True)
    assert ["ann", "bob"] == data.labels().tolist()


def test_nothing_is_said_where_nothing_is_left_out():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Graph.from_networkx(nx.path_graph(3))
        Graph.from_igraph(ig.Graph([(0, 1)]))
        Graph.from_arrow(pa.table({"x": [1], "y": [2]}))
