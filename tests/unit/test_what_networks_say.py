"""What a file of a network says of itself: counts, kinds of nodes, layouts, missing numbers."""

import json
import re

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.cli import run
from graphveil.core.errors import DataError, InputError
from graphveil.io.formats import GraphOptions, NetworkOptions
from graphveil.io.reading import load_graph, load_network
from graphveil.scale import graph_on_disk

SNAP = "# Nodes: 9 Edges: 7\n1\t2\n1\t3\n3\t4\n"
KONECT = "% sym unweighted\n% 7 9 9\n1 2\n1 3\n3 4\n"
GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<graph edgedefault="undirected" parse.nodes="9" parse.edges="7">'
    '<node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
)
GEXF = (
    '<gexf><graph><nodes count="9"><node id="a"/><node id="b"/></nodes>'
    '<edges count="7"><edge source="a" target="b"/></edges></graph></gexf>'
)
PAJEK = '*Vertices 9\n1 "a"\n2 "b"\n*Edges\n1 2\n'
TWO_MODES = '*Vertices 5 3\n1 "ann"\n2 "bob"\n3 "cy"\n4 "x"\n5 "y"\n*Edges\n1 4\n2 4\n3 5\n'


TWO = "--source-column 1 --target-column 2 --ignore-weights"


def written(folder, name, content):
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "unlike"),
    [
        ("a.txt", SNAP, "9 nodes and 7 edges, but lists 4 nodes and 3 edges"),
        ("a.txt", KONECT, "9 nodes and 7 edges, but lists 4 nodes and 3 edges"),
        ("a.graphml", GRAPHML, "9 nodes and 7 edges, but lists 2 nodes and 1 edge"),
        ("a.gexf", GEXF, "9 nodes and 7 edges, but lists 2 nodes and 1 edge"),
        ("a.net", PAJEK, "9 nodes, but lists 2 nodes"),
        ("a.txt", SNAP.replace("9", "4").replace("7", "3"), ""),
        ("a.txt", "# Nodes: 2 Edges: 2\n1 2\n2 1\n", ""),
    ],
)
def test_counts_that_a_file_declares_are_compared(tmp_path, name, content, unlike):
    report = load_graph(written(tmp_path, name, content)).report
    assert unlike == report.unlike
    assert bool(unlike) == any("the file declares" in line for line in report.dropped())


@pytest.mark.parametrize("word", ["{}", "[]"])
def test_an_empty_dictionary_in_a_csv_is_no_person(tmp_path, word):
    path = written(tmp_path, "a.csv", f"source,target\nann,{word}\nann,bob\n")
    with pytest.raises(InputError, match="is an empty list or dictionary of a program, not an id"):
        load_graph(path)


def test_one_id_that_is_not_an_integer_is_said_in_the_singular(tmp_path):
    path = written(tmp_path, "a.csv", "source,target\n01,2\n2,3\n")
    assert "read all ids as text: 01 is not an integer" in load_graph(path).report.lines()


def test_a_first_line_that_may_be_counts_is_asked_about(tmp_path):
    path = written(tmp_path, "a.txt", "9 12\n1 2\n1 3\n3 4\n")
    with pytest.raises(InputError, match=r"first line .9 12. gives the numbers"):
        load_graph(path)
    assert 4 == load_graph(path, GraphOptions(header="no")).data.n_edges
    assert 3 == load_graph(path, GraphOptions(header="yes")).data.n_edges


def test_a_two_mode_network_is_asked_about_and_read_as_either(tmp_path):
    path = written(tmp_path, "a.net", TWO_MODES)
    with pytest.raises(InputError, match=r"marks two kinds of nodes .3 with 1, 2 with 2."):
        gv.read_graph(path)
    users = gv.read_bipartite(path, user_column="mode=1")
    assert (3, 2, 3) == (users.n_users, users.n_features, users.n_entries)
    assert ["ann", "bob", "cy"] == users.labels().tolist()
    assert 2 == gv.read_bipartite(path, user_column="mode=2").n_users
    assert 5 == gv.read_graph(path, one_mode=True).n_nodes


@pytest.mark.parametrize("write", [nx.write_gml, nx.write_graphml, nx.write_gexf])
def test_an_attribute_that_marks_two_modes_is_asked_about(tmp_path, write):
    graph = nx.Graph([("ann", "x"), ("bob", "x")])
    nx.set_node_attributes(graph, {"ann": "person", "bob": "person", "x": "event"}, "type")
    path = tmp_path / f"a.{write.__name__.split('_')[1]}"
    write(graph, path)
    with pytest.raises(InputError, match="1 with event, 2 with person"):
        gv.read_network(path)
    assert 2 == gv.read_bipartite(path, user_column="type=person").n_users
    graph.add_edge("ann", "bob")
    write(graph, path)
    assert 3 == gv.read_network(path).n_nodes


def test_relations_before_ties_are_kinds(tmp_path):
    path = written(tmp_path, "a.net", "*Vertices 3\n*Edges\n1: 1 2 1\n2: 2 3 1\n")
    with pytest.raises(InputError, match=r"2 types .1, 2."):
        gv.read_graph(path)
    assert 2 == gv.read_network(path, kind_column="relation").n_layers


@pytest.mark.parametrize("write", [nx.write_edgelist, nx.write_adjlist, nx.write_multiline_adjlist])
def test_the_lists_of_networkx_are_read(tmp_path, write):
    path = tmp_path / "a.txt"
    write(nx.path_graph(5), path)
    graph = gv.read_graph(path)
    assert ([0, 1, 2, 3, 4], 4) == (graph.labels().tolist(), graph.n_edges)


def test_lgl_is_read_by_its_extension(tmp_path):
    graph = gv.read_graph(written(tmp_path, "a.lgl", "# w\nx\n# x\ny\n# z\n"))
    assert (["w", "x", "y", "z"], 2) == (graph.labels().tolist(), graph.n_edges)


def test_nan_and_infinity_are_missing_values(tmp_path):
    node = 'node [ id {} label "n{}" score NAN lim +INF ]'
    nodes = " ".join(node.format(number, number) for number in range(3))
    gml = f"graph [ {nodes} edge [ source 0 target 1 ] edge [ source 1 target 2 ] ]"
    assert 6 == load_network(written(tmp_path, "a.gml", gml)).report.suppressed_cells
    json = '{"nodes":[{"id":"a","x":NaN},{"id":"b","x":1}],"links":[{"source":"a","target":"b"}]}'
    read = load_network(written(tmp_path, "a.json", json), NetworkOptions())
    assert 1 == read.report.suppressed_cells


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [("a.dat", "1 2\n2 3\n", "text"), ("a.data", "1,2\n2,3\n", "csv"), ("out.x", PAJEK, "pajek")],
)
def test_an_unknown_extension_is_answered_by_one_option(tmp_path, name, content, form):
    with pytest.raises(InputError, match=f'Use format="{form}"'):
        gv.read_graph(written(tmp_path, name, content))


def test_a_matrix_without_sizes_is_named_and_read_as_pairs(tmp_path):
    head = "%%MatrixMarket matrix coordinate pattern symmetric\n"
    path = written(tmp_path, "a.mtx", f"{head}2 1\n3 1\n4 3\n")
    with pytest.raises(InputError, match="the line of sizes is missing"):
        gv.read_graph(path)
    assert 3 == gv.read_graph(path, format="text").n_edges


KINDS = nx.Graph()
KINDS.add_edge("a", "b", relation="friend")
KINDS.add_edge("b", "c", relation="work")


@pytest.mark.parametrize("form", ["graphml", "gexf", "gml", "json"])
def test_kinds_of_edges_are_asked_about_and_read_apart_or_as_one(tmp_path, form):
    path = tmp_path / f"a.{form}"
    if form == "json":
        path.write_text(json.dumps(nx.node_link_data(KINDS, edges="links")))
    else:
        getattr(nx, f"write_{form}")(KINDS, path)
    for read in (gv.read_graph, gv.read_network):
        with pytest.raises(
            InputError, match=r'2 types .friend, work.\. Use kind_column="relation"'
        ):
            read(path)
        assert 2 == sum(one.n_ties for one in read(path, ignore_weights=True).layers)
    network = gv.read_network(path, kind_column="relation")
    assert [("friend", 1), ("work", 1)] == [(one.name, one.n_ties) for one in network.layers]


@pytest.mark.parametrize("write", [nx.write_edgelist, nx.write_adjlist, nx.write_multiline_adjlist])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.adjlist", "a.edgelist"])
def test_the_lists_of_networkx_are_read_with_commas(tmp_path, write, name):
    if name == "a.adjlist" and write is nx.write_edgelist:
        return
    graph = nx.relabel_nodes(nx.path_graph(4), {0: 8})
    graph.add_node(9)
    write(graph, tmp_path / name, delimiter=",")
    read = gv.read_graph(tmp_path / name)
    edges = {frozenset(read.labels()[list(pair)].tolist()) for pair in read.edges().tolist()}
    assert {frozenset(pair) for pair in graph.edges} == edges
    assert write is nx.write_edgelist or read.n_nodes == 5


def test_a_first_entry_that_is_taken_for_the_sizes_of_a_matrix_is_named(tmp_path):
    head = "%%MatrixMarket matrix coordinate integer symmetric\n"
    path = written(tmp_path, "a.mtx", f"{head}2 1 7\n3 1 2\n4 3 1\n")
    with pytest.raises(
        InputError, match=r"2 entries, but line 2 declares 7.*If line 2 is an entry"
    ):
        gv.read_graph(path)
    path = written(tmp_path, "b.mtx", f"{head}2 2 7\n2 1 2\n")
    with pytest.raises(InputError, match=r"1 entry, but line 2 declares 7.*If line 2 is an entry"):
        gv.read_graph(path)
    path = written(tmp_path, "c.mtx", f"{head.replace('integer', 'real')}2 1 0.5\n")
    with pytest.raises(InputError, match=r"found 2 1 0\.5\. Add that line\.$"):
        gv.read_graph(path)


def test_a_square_matrix_that_may_hold_users_by_items_is_asked_about(tmp_path):
    head = "%%MatrixMarket matrix coordinate pattern general\n"
    path = written(tmp_path, "a.mtx", f"{head}3 3 3\n1 1\n1 2\n3 1\n")
    with pytest.raises(InputError, match=r'If its rows are users.*use kind="bipartite"'):
        gv.read_graph(path)
    assert (3, 3) == (gv.read_bipartite(path).n_users, gv.read_bipartite(path).n_entries)


PARTS = ["source,target\nann,bob\n", "", "source,target\nbob,cyd\ncyd,dan"]


def in_parts(folder, contents, extension="csv"):
    path = folder / "parts"
    path.mkdir()
    for number, content in enumerate(contents):
        written(path, f"part-{number}.{extension}", content)
    written(path, "_SUCCESS", "")
    return path


def test_a_folder_of_parts_is_read_as_one_file(tmp_path):
    read = load_network(in_parts(tmp_path, PARTS))
    assert (4, 3) == (read.data.n_nodes, read.report.rows)
    assert "read 3 rows of csv in 2 parts as a network" in read.report.lines()[0].text
    assert 2 == len(read.data.origins)


def test_a_folder_of_parts_is_read_on_disk_as_in_memory(tmp_path):
    path = in_parts(tmp_path, PARTS)
    with graph_on_disk(path) as (graph, report):
        assert gv.read_graph(path) == graph
    assert (2, 3) == (report.parts, report.rows)
    rows = tmp_path / "rows"
    rows.mkdir()
    for number, user in enumerate("ab"):
        frame = pa.table({"user": [f"{user}1", f"{user}2"], "item": ["tea", "rye"]})
        parquet.write_table(frame, rows / f"{number}.parquet")
    users = gv.read_bipartite(rows)
    assert (["a1", "a2", "b1", "b2"], 4) == (users.labels().tolist(), users.n_entries)
    gv.anonymize_rows(gv.SuppressK(k=2), rows, tmp_path / "out")
    assert 4 == gv.read_release(tmp_path / "out").data.n_users


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (["source,target\na,b\n", "target,source\nc,d\n"], "part-1.csv, line 1: the first line is"),
        (["source,target\na,b\n", "source,target\nb,c\nc,d,e\n"], "part-1.csv, line 3: 3 cells"),
        (["ann,bob\na,b\n", "ann,bob\nc,d\n"], "each of the 2 parts begins with ann,bob"),
    ],
)
def test_parts_that_do_not_fit_are_named(tmp_path, contents, said):
    with pytest.raises(InputError, match=said):
        gv.read_graph(in_parts(tmp_path, contents))


def test_names_that_come_again_are_left_out_and_data_never(tmp_path):
    path = in_parts(tmp_path, ["ann,bob\na,b\n", "ann,bob\nc,d\n"])
    assert 2 == gv.read_graph(path, header="yes").n_edges
    assert 3 == gv.read_graph(path, header="no").n_edges
    numbers = tmp_path / "numbers"
    numbers.mkdir()
    assert 3 == gv.read_graph(in_parts(numbers, ["1,2\n2,3\n", "1,2\n5,6\n"])).n_edges
    split = tmp_path / "split"
    split.mkdir()
    assert 2 == gv.read_graph(in_parts(split, ["source,target\na,b\n", "c,d\n"])).n_edges


def test_a_table_in_parts_needs_the_same_names_in_each(tmp_path):
    path = in_parts(tmp_path, ["sex,age\nf,3\n", "sex,age\nm,4\nf,3\n"])
    assert (("sex", "age"), 3) == (gv.read_table(path).columns, gv.read_table(path).n_rows)
    written(path, "part-1.csv", "m,4\nf,3\n")
    with pytest.raises(InputError, match=r"part-1\.csv, line 1: the first line is m,4"):
        gv.read_table(path)


def test_parts_of_other_types_or_formats_are_named(tmp_path):
    path = in_parts(tmp_path, [])
    for number, ids in enumerate((["a", "b"], [1, 2])):
        parquet.write_table(pa.table({"user": ids, "item": ids}), path / f"{number}.parquet")
    with pytest.raises(InputError, match=r"^1.parquet: column user is int64, but string in 0.parq"):
        gv.read_bipartite(path)
    written(path, "notes.txt", "x y\n")
    with pytest.raises(InputError, match=r"different formats \(0.parquet, notes.txt\)|1.parquet"):
        gv.read_bipartite(path)
    (path / "city=Oslo").mkdir()
    with pytest.raises(InputError, match=r"another one inside .city=Oslo."):
        gv.read_bipartite(path)


def test_a_release_of_people_by_people_becomes_a_graph_of_people():
    graph = nx.relabel_nodes(nx.path_graph(6), {at: f"p{at}" for at in range(6)})
    release = gv.SuppressK(k=2).anonymize(gv.Graph.from_networkx(graph), seed=1)
    people = release.to_networkx()
    pairs = list(zip(*(column.to_pylist() for column in release.to_arrow()), strict=True))
    assert (True, sorted(pairs)) == (people.is_directed(), sorted(people.edges))
    assert set(release.data.labels().tolist()) == set(people.nodes)
    assert (6, 6) == release.to_scipy().shape
    assert sorted(pairs) == sorted(release.to_igraph().get_edgelist())


@pytest.mark.parametrize(
    ("name", "content", "proposed"),
    [
        ("a.dat", "1 2\n2 3\n", "--input-format text"),
        ("a.data", "1,2\n2,3\n", "--input-format csv"),
        ("a.dat", "1::2::5\n1::3::4\n", f"--input-format text {TWO}"),
        ("w.dat", "1 2 0.5\n2 3 1\n", f"--input-format text {TWO}"),
        ("w.edgelist", "1 2 0.5\n2 3 1\n", TWO),
        ("w.ncol", "a b 0.5\nb c 1\n", "--ignore-weights"),
        ("w.lgl", "# a\nb 0.5\n", "--ignore-weights"),
        ("out.sym", "% sym\n1 2\n2 3\n", "--input-format text"),
        ("out.asym", "% asym\n1 2\n2 3\n", "--input-format text --directed symmetrize"),
        (
            "out.bip",
            "% bip\n1 1 4\n2 1 3\n",
            "--input-format text --kind bipartite --ignore-weights",
        ),
    ],
)
def test_the_one_command_that_is_proposed_works(tmp_path, capsys, name, content, proposed):
    path = written(tmp_path, name, content)
    assert 2 == run(["measure", str(path)])
    assert f" {proposed}\n" in capsys.readouterr().err.replace(" to ignore them.", "").replace(
        ".\n", "\n"
    )
    assert 0 == run(["measure", str(path), *proposed.split()])


@pytest.mark.parametrize("name", ["a.ncol", "a.lgl", "a.adjlist", "a.edgelist"])
def test_extensions_of_lists_need_no_option(tmp_path, name):
    content = {"a.lgl": "# ann\nbob\ncyd\n", "a.ncol": "ann bob\nann cyd\n"}
    path = written(tmp_path, name, content.get(name, "1 2\n1 3\n"))
    graph = gv.read_graph(path)
    assert (3, 2) == (graph.n_nodes, graph.n_edges)


WITH_WORDS = nx.MultiGraph()
WITH_WORDS.add_edges_from(
    [("ann", "bob", "calls"), ("ann", "bob", "visits"), ("bob", "cyd", "calls")]
)


@pytest.mark.parametrize(
    ("end", "write", "column"),
    [
        ("graphml", nx.write_graphml, "id"),
        ("gml", nx.write_gml, "key"),
        ("gexf", nx.write_gexf, "networkx_key"),
        ("json", lambda graph, path: path.write_text(json.dumps(nx.node_link_data(graph))), "key"),
    ],
)
def test_keys_of_a_multigraph_that_are_words_are_asked_about(tmp_path, end, write, column):
    path = tmp_path / f"ties.{end}"
    write(WITH_WORDS, path)
    with pytest.raises(InputError, match=rf"2 types \(calls, visits\).*kind_column=.{column}"):
        gv.read_graph(path)
    assert 2 == gv.read_network(path, kind_column=column).n_layers
    counted = nx.MultiGraph([("ann", "bob"), ("ann", "bob"), ("bob", "cyd")])
    write(counted, path)
    with pytest.warns(gv.GraphveilWarning, match="dropped 1 duplicate"):
        assert 2 == gv.read_graph(path).n_edges


def test_keys_of_an_object_that_are_words_are_asked_about():
    with pytest.raises(DataError, match=r"2 types in 'key' \(calls, visits\).*kinds='key'"):
        gv.Graph.from_networkx(WITH_WORDS)
    assert 2 == gv.Network.from_networkx(WITH_WORDS, kinds="key").n_layers


def test_kinds_of_edges_in_gexf_are_asked_about(tmp_path):
    edges = [f'<edge source="a" target="b" kind="{kind}"/>' for kind in ("calls", "visits")]
    path = tmp_path / "ties.gexf"
    path.write_text(
        '<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph><nodes><node id="a"/><node id="b"/>'
        f"</nodes><edges>{''.join(edges)}</edges></graph></gexf>"
    )
    with pytest.raises(InputError, match=r"2 types \(calls, visits\)"):
        gv.read_graph(path)
    assert 2 == gv.read_network(path, kind_column="kind").n_layers


def test_a_square_matrix_that_may_be_users_by_items_is_said_to_be_read_as_a_network(tmp_path):
    path = tmp_path / "likes.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 2\n")
    said = [str(line) for line in load_graph(path).report.lines()]
    assert any("took the square matrix for a network; if its rows are users" in one for one in said)
    pairs = gv.read_bipartite(path).to_scipy().toarray().astype(int).tolist()
    assert [[1, 1, 0], [1, 0, 1], [0, 1, 0]] == pairs
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n")
    assert not any("square" in str(line) for line in load_graph(path).report.lines())


def test_a_file_of_ucinet_is_named_before_its_lines_are_taken_for_edges(tmp_path):
    path = written(tmp_path, "a.dl", "DL n=3 format=edgelist1\nlabels embedded\ndata:\na b\nb c\n")
    with pytest.raises(InputError, match=r"a.dl is a UCINET file. Export it as Pajek"):
        load_graph(path)


@pytest.mark.parametrize("word", ["{}", "[]"])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_an_empty_dictionary_or_list_is_no_id_in_frames_either(frame, word):
    said = f"{re.escape(word)} is an empty list or dictionary of a program, not an id"
    with pytest.raises(DataError, match=f"source: {said}"):
        gv.KDegree(k=2).anonymize(frame({"source": ["a", word], "target": ["b", "c"]}))
    with pytest.raises(DataError, match=f"users: {said}"):
        gv.SmoothK(k=2).anonymize(frame({"user": ["a", word], "item": ["b", "c"]}))
    with pytest.raises(DataError, match=f"target: {said}"):
        gv.Graph.from_edges(["a"], [word])


def test_a_value_of_a_table_may_be_an_empty_list():
    assert ("[]",) == tuple(gv.Table.from_columns({"tags": ["[]", "[]"]}).categories[0])
