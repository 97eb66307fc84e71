"""Every broken file gets one line: what, where, the value, the way out."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from graphveil.core.errors import InputError
from graphveil.io import GraphOptions, load_bipartite, load_graph, load_table, read_graph

EDGES = "source,target\n" + "".join(f"{u},{u + 1}\n" for u in range(200))

BROKEN_TEXT = {
    "ragged line": (
        "a.csv",
        "0,1\n1,2\n2\n3,4\n",
        "a.csv, line 3: 1 cell instead of 2",
    ),
    "a cell too many": ("a.txt", "0 1\n1 2\n2 3 9\n3 4\n", "line 3: 3 cells instead of"),
    "ragged below a comment": ("a.txt", "# x\n0 1\n\n# y\n1 2\n2\n", "line 6: 1 cell"),
    "ragged below a header": ("a.csv", "source,target\n0,1\n1,2,3\n", "line 3: 3 cells"),
    "empty": ("a.csv", "", "the file is empty"),
    "comments alone": ("a.txt", "# SNAP\n# nothing\n", "the file is empty"),
    "only names of columns": ("a.csv", "source,target\n", "a.csv: the file has no rows."),
    "one node": ("a.csv", "5,5\n", "1 node, but a graph needs two"),
    "one column": ("a.csv", "5\n6\n", "one column found, but each row needs two ids"),
    "negative id": ("a.csv", "0,1\n-5,2\n", "line 2: the id -5 is negative"),
    "not a number": ("a.csv", "0,1\n1,nan\n", "line 2: the id nan is missing"),
    "missing id": ("a.csv", "0,1\n1,\n", "line 2: an id is missing"),
    "missing among text": ("a.csv", "ann,bob\n,ann\n", "line 2: an id is missing"),
    "fraction": ("a.csv", "0,1\n1.5,2\n", "line 2: the id 1.5 is not an integer"),
    "weights": ("a.csv", "0,1,0.5\n1,2,0.7\n", "target_column=2, ignore_weights=True"),
    "named weights": ("a.csv", "source,target,weight\n0,1,0.5\n", "Extra: weight"),
    "more names than cells": (
        "a.csv",
        "weight,source,target\n0,1\n1,2\n",
        "3 column names .weight, source, target. for rows of 2 cells",
    ),
    "bipartite by KONECT": (
        "a.txt",
        "% bip unweighted\n1 1\n1 2\n",
        "marks a bipartite file .bip., not a graph",
    ),
    "directed": ("a.txt", "# Directed graph\n0 1\n1 2\n", "0 of 2 edges are mutual"),
    "bare carriage returns": ("a.csv", "0,1\r1,2\r", "bare carriage return"),
    "open quote": ("a.csv", '"ann","bob\n"cyd","dan"\n', "line break|cells instead|cannot parse"),
    "zip by name": ("a.zip", "PK", "Unzip it first"),
    "zip in a name": ("a.csv.zip", "PK", "Unzip it first"),
    "unknown extension": ("a.jlg", "01", "unknown extension .jlg.*Or set .*format"),
    "no extension": ("edges", "0,1", r"\(none\)"),
    "no banner": ("a.mtx", "1 1 1\n", "line 1: this is not a Matrix Market banner"),
    "dense matrix": ("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n", "dense"),
    "truncated matrix": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n",
        "1 entry, but line 2 declares 2",
    ),
    "index outside": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n4 1\n",
        "line 3: 4 is not between 1 and 3",
    ),
    "oblong matrix": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate pattern general\n3 2 1\n1 1\n",
        "3 x 2; an adjacency matrix must be square",
    ),
    "valued matrix": (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n2 1 0.5\n",
        "weights",
    ),
    "metis too short": ("a.graph", "3 1\n2\n1\n", "2 lines of neighbors for 3 nodes"),
    "metis outside": ("a.graph", "2 1\n2\n3\n", "line 3: 3 is not a node from 1 to 2"),
    "metis counts": ("a.graph", "2 2\n2\n1\n", "2 neighbors in the lists, but 2 edges require 4"),
    "metis weights": ("a.graph", "2 1 1\n2 7\n1 7\n", "ignore_weights=True"),
    "metis one way": ("a.graph", "3 1\n2 3\n\n\n", "0 of 2 edges are mutual"),
    "nauty without n": ("a.nauty", "0: 1;\n", "line 1: the lists start before !n="),
    "nauty outside": ("a.nauty", "!n=2\n0: 5;\n", "line 2: 5 is not a node from 0 to 1"),
    "nauty junk": ("a.nauty", "!n=2\n0: x;\n", "line 2: x; is not a list of neighbors"),
    "gml cut": ("a.gml", "graph [\n node [ id 1", "line 2: the file ends inside a list"),
    "gml no graph": ("a.gml", 'Creator "x"\n', "no graph"),
    "gml no id": ("a.gml", "graph [\n node [ label 1 ]\n]", "line 2: this node has no id"),
    "gml unknown end": (
        "a.gml",
        "graph [ node [ id 1 ]\n edge [ source 1 target 2 ] ]",
        "line 2: 2 is not in the list of nodes",
    ),
    "gml twice": (
        "a.gml",
        "graph [ node [ id 1 ]\n node [ id 1 ] ]",
        "line 2: two nodes have the id 1",
    ),
    "gml weights": (
        "a.gml",
        "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 weight 3 ] ]",
        "ignore_weights=True",
    ),
    "xml cut": ("a.graphml", "<graphml><graph>", "this is not complete XML"),
    "xml entity": (
        "a.graphml",
        '<!DOCTYPE x [<!ENTITY a "b">]>\n<graphml><graph/></graphml>',
        "line 1: the file declares a document type or an entity",
    ),
    "xml hyperedge": (
        "a.graphml",
        "<graphml><graph>\n<hyperedge/></graph></graphml>",
        "line 2: a hyperedge",
    ),
    "gexf cut": ("a.gexf", "<gexf><graph>", "this is not complete XML"),
    "gexf without a graph": ("a.gexf", "<gexf></gexf>", "no <graph> found"),
    "gexf without an end": (
        "a.gexf",
        '<gexf><graph><nodes>\n<node id="a"/></nodes><edges><edge source="a"/></edges>',
        "line 2: this edge has no target",
    ),
    "gexf entity": (
        "a.gexf",
        '<!DOCTYPE x [<!ENTITY a "b">]>\n<gexf/>',
        "line 1: the file declares a document type",
    ),
    "json cut": ("a.json", '{"nodes": [', "this is not complete JSON"),
    "json too deep": ("a.json", 5_000 * "[" + 5_000 * "]", "too deep inside each other"),
    "json that is a list": ("a.json", "[1, 2]", "not an object with nodes and edges"),
    "json without edges": ("a.json", '{"nodes": []}', "neither edges nor links"),
    "json with both": ("a.json", '{"nodes": [], "edges": [], "links": []}', "both edges and"),
    "json nodes": ("a.json", '{"nodes": [1], "edges": []}', "nodes is not a list of objects"),
    "json id": ("a.json", '{"nodes": [{"id": 1.5}], "edges": []}', "node 1 has 1.5 as id"),
    "json no id": ("a.json", '{"nodes": [{"name": "a"}], "edges": []}', "node 1 has no id"),
    "json two ids": (
        "a.json",
        '{"nodes": [{"id": 1}, {"id": "1"}], "edges": []}',
        "1 is used as a node id both as a number and as text",
    ),
    "json end": (
        "a.json",
        '{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": 0, "target": 1}]}',
        "edge 1: 0 is not a listed node",
    ),
    "pajek outside": (
        "a.net",
        "*Vertices 2\n*Edges\n1 3\n",
        "line 3: 3 is not a vertex from 1 to 2",
    ),
    "pajek matrix": ("a.net", "*Vertices 2\n*Matrix\n0 1\n", r"line 2: \*Matrix is not supported"),
    "pajek weights": ("a.net", "*Vertices 2\n*Edges\n1 2 7\n", "ignore_weights=True"),
    "pajek arcs": ("a.net", "*Vertices 2\n*Arcs\n1 2\n", "0 of 1 edge is mutual"),
}


def message(load, path: Path, *options) -> str:
    """Return what the reader says, which must be one line that names the file."""
    with pytest.raises(InputError) as caught:
        load(path, *options)
    said = str(caught.value)
    assert "\n" not in said
    assert path.name.split(".")[0] in said
    return said


@pytest.mark.parametrize(("name", "content", "expected"), BROKEN_TEXT.values(), ids=BROKEN_TEXT)
def test_a_broken_graph_file_is_refused_with_the_place_and_the_way_out(
    tmp_path, name, content, expected
):
    path = tmp_path / name
    path.write_text(content, newline="")
    assert re.search(expected, message(load_graph, path))


BROKEN_BYTES = {
    "NUL": ("a.csv", b"0,1\n1,\x002\n", "line 2: the file contains a NUL byte"),
    "latin-1": (
        "a.csv",
        "ann,bob\nann,jos\xe9\n".encode("latin-1"),
        'line 2: .* josé: if that is right, use encoding="windows-1252"',
    ),
    "UTF-16": ("a.csv", "0,1\n1,2\n".encode("utf-16"), 'Use encoding="utf-16"'),
    "truncated gzip": ("a.csv.gz", gzip.compress(EDGES.encode())[:-20], "is truncated"),
    "no gzip": ("a.csv.gz", b"0,1\n", "invalid gzip data"),
    "damaged gzip": ("a.csv.gz", gzip.compress(EDGES.encode())[:30] + b"x" * 30, "gzip|truncated"),
    "no zstd": ("a.csv.zst", b"0,1\n", "invalid zstd data"),
    "gzip under another name": ("a.csv", gzip.compress(b"0,1\n"), "Rename it to end in .gz"),
    "parquet under another name": ("a.csv", b"PAR1xxxx", 'or use format="parquet"'),
    "no parquet": ("a.parquet", b"0,1\n", "not a complete parquet file"),
    "no arrow": ("a.arrow", b"0,1\n", "not a complete arrow file"),
    "no npz": ("a.npz", b"0,1\n", "not a complete npz file"),
    "gml in UTF-16": ("a.gml", "graph [ ]".encode("utf-16"), "UTF-16"),
}


@pytest.mark.parametrize(("name", "content", "expected"), BROKEN_BYTES.values(), ids=BROKEN_BYTES)
def test_broken_bytes_are_refused_with_the_way_out(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content)
    assert re.search(expected, message(load_graph, path))


def test_a_missing_file_is_named(tmp_path):
    assert "file not found" in message(load_graph, tmp_path / "a.csv")


def test_a_directory_is_named(tmp_path):
    (tmp_path / "a.csv").mkdir()
    assert "is a folder" in message(load_graph, tmp_path / "a.csv")


def test_a_file_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("0,1\n")

    def refuse(*_arguments):
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert "permission denied. Change the permissions of the file" in message(load_graph, path)


def test_a_line_without_an_end_is_refused_before_memory_runs_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"7" * (70 << 20))
    assert "line 1: the line is longer than 64 MiB" in message(load_graph, path)


def test_a_long_value_is_shortened_in_the_message(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("0,1\n1," + "9" * 300 + ".5\n")
    assert len(message(load_graph, path)) < 200


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ann,bob\nbob,\x1b[31mcyd,x\n")
    assert "\x1b" not in message(load_graph, path)


def test_a_pickle_in_an_npz_is_not_loaded(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, format=np.array([{"code": 1}], dtype=object), shape=[2, 2])
    assert "not a complete npz file" in message(load_graph, path)


def test_an_npz_without_a_matrix_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, x=np.arange(3))
    assert "no SciPy matrix" in message(load_graph, path)


def test_an_npz_whose_indices_leave_the_matrix_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    matrix = sparse.csr_array(np.eye(3, dtype=np.int8))
    matrix.indices[0] = 7
    sparse.save_npz(path, matrix)
    assert "npz" in message(load_graph, path)


def test_an_npz_of_one_triangle_is_directed(tmp_path):
    path = tmp_path / "a.npz"
    sparse.save_npz(path, sparse.csr_array(np.triu(np.ones((3, 3)), 1)))
    assert 'directed="symmetrize"' in message(load_graph, path)
    assert 3 == load_graph(path, GraphOptions(directed="symmetrize")).data.n_edges


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"source": [0, None], "target": [1, 2]}, "1 id is missing"),
        ({"source": [0, -3], "target": [1, 2]}, "-3 is negative"),
        ({"source": [0.5, 1], "target": [1, 2]}, "0.5 is not a valid id"),
        ({"source": [0.0, float("nan")], "target": [1, 2]}, "1 id is missing"),
        ({"source": ["a", None], "target": ["b", "c"]}, "1 id is missing"),
        ({"source": [0, 1]}, "one column"),
        ({"source": [0], "target": [1], "weight": [0.5]}, "Extra: weight"),
        ({"source": [True], "target": [False]}, "bool"),
    ],
)
def test_a_frame_with_unusable_ids_is_refused(tmp_path, columns, expected):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table(columns), path)
    assert expected in message(load_graph, path)


def test_a_parquet_file_that_was_cut_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"u": [0, 1], "v": [1, 2]}), path)
    path.write_bytes(path.read_bytes()[:-9])
    assert "not a complete parquet file" in message(load_graph, path)


BROKEN_TABLES = {
    "data as names": (
        "39,Private\n50,Self\n",
        "first line has 39 instead of a column name",
    ),
    "ragged": ("sex,age\nf,30\nm\n", "line 3: 1 cell instead of 2"),
    "ragged after a cell of two lines": ('sex,age\n"f\nx",30\nm\n', "line 4: 1 cell"),
    "twice the same name": ("sex,sex\nf,m\n", "two columns are named sex"),
    "no name": ("sex,\nf,m\n", "column 2 has no name"),
    "names alone": ("sex,age\n", "no rows"),
    "numbers": (
        "sex,height\nf,1.75\nm,1.80\n",
        r'column height is numeric .*bins=\{"height": "median"\}',
    ),
    "edges": ("source,target\n0,1\n", "are pairs, not a table"),
    "pairs": ("user,item\nann,tea\n", "are pairs, not a table"),
}


@pytest.mark.parametrize(("content", "expected"), BROKEN_TABLES.values(), ids=BROKEN_TABLES)
def test_a_broken_table_is_refused_with_the_place_and_the_way_out(tmp_path, content, expected):
    path = tmp_path / "people.csv"
    path.write_text(content)
    assert re.search(expected, message(load_table, path))


def test_an_edge_list_in_text_is_no_table(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n1 2\n")
    with pytest.raises(InputError, match=r"text cannot store a table\. Use one of csv, tsv"):
        load_table(path)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("ann tea\nbob tea rye\nann rye\n", "line 3: the user ann is already in line 1"),
        ("1 2 3\n2 -4\n", "line 2: -4 is not an id"),
        ("1 2 3\n2 nan\n", "line 2: missing id"),
    ],
)
def test_broken_lists_of_items_are_refused(tmp_path, content, expected):
    path = tmp_path / "likes.txt"
    path.write_text(content)
    assert expected in message(load_bipartite, path)


def test_an_edge_to_a_node_that_the_nodes_file_lacks_is_refused(tmp_path):
    edges, nodes = tmp_path / "a.csv", tmp_path / "nodes.csv"
    edges.write_text("source,target\n0,1\n1,9\n")
    nodes.write_text("node\n0\n1\n2\n")
    with pytest.raises(InputError, match="9 is not among the 3 ids"):
        read_graph(edges, nodes=nodes)
