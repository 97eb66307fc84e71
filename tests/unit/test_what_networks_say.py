"""What a file of a network says of itself: counts, kinds of nodes, layouts, missing numbers."""

import networkx as nx
import pytest

import graphveil as gv
from graphveil.core.errors import InputError
from graphveil.io.options import GraphOptions, NetworkOptions
from graphveil.io.reading import load_graph, load_network

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


def written(folder, name, content):
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "unlike"),
    [
        ("a.txt", SNAP, "9 nodes and 7 edges, but lists 4 nodes and 3 edges"),
        ("a.txt", KONECT, "9 nodes and 7 edges, but lists 4 nodes and 3 edges"),
        ("a.graphml", GRAPHML, "9 nodes and 7 edges, but lists 2 nodes and 1 edges"),
        ("a.gexf", GEXF, "9 nodes and 7 edges, but lists 2 nodes and 1 edges"),
        ("a.net", PAJEK, "9 nodes, but lists 2 nodes"),
        ("a.txt", SNAP.replace("9", "4").replace("7", "3"), ""),
        ("a.txt", "# Nodes: 2 Edges: 2\n1 2\n2 1\n", ""),
    ],
)
def test_counts_that_a_file_declares_are_compared(tmp_path, name, content, unlike):
    report = load_graph(written(tmp_path, name, content)).report
    assert unlike == report.unlike
    assert bool(unlike) == any("the file declares" in line for line in report.dropped())


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
