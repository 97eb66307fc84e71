"""The formats that list their nodes, the table of formats, and the files it writes."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import io as scipy_io
from scipy import sparse

from graphveil.core.errors import GraphveilWarning, InputError, ResourceError, UsageError
from graphveil.data import Bipartite, Graph
from graphveil.io import (
    FORMATS,
    GraphOptions,
    ReadingReport,
    columns_of,
    compression_of,
    format_of,
    load_bipartite,
    load_graph,
    write,
)

PATH = Graph.from_edges([0, 1], [1, 2], n=4)


def written(tmp_path, name: str, content: str):
    path = tmp_path / name
    path.write_text(content)
    return path


def test_every_format_has_a_reader_and_a_writer_for_what_it_holds():
    for entry in FORMATS.values():
        module = importlib.import_module(f"graphveil.io.readers.{entry.module}")
        for kind in entry.kinds:
            read = "graph" if kind == "network" else kind  # ties are read as those of a graph
            assert entry.reader(kind) is getattr(module, f"read_{read}")
            write = getattr(module, f"write_{kind}", None)  # a graph is written as a network, too
            assert entry.writer(kind) is (write or module.write_network)


def test_no_two_formats_share_an_extension():
    extensions = [extension for entry in FORMATS.values() for extension in entry.extensions]
    assert sorted(set(extensions)) == sorted(extensions)


@pytest.mark.parametrize(
    ("path", "name", "compression"),
    [
        ("a.csv", "csv", None),
        ("a.CSV.GZ", "csv", "gzip"),
        ("a.b.edges.zst", "text", "zstd"),
        ("a.graph", "metis", None),
        ("a.net", "pajek", None),
    ],
)
def test_the_extension_gives_format_and_compression(path, name, compression):
    assert (name, compression) == (format_of(path).name, compression_of(path))


def test_a_format_that_is_told_wins_over_the_extension(tmp_path):
    path = written(tmp_path, "a.gr", "0\t1\n1\t2\n")
    assert 2 == load_graph(path, GraphOptions(format="text")).data.n_edges
    with pytest.raises(InputError, match="unknown format 'gr'"):
        format_of(path, "gr")


def test_a_format_says_what_can_hold_what_it_cannot():
    with pytest.raises(
        InputError, match=r"gml cannot store a table\. Use one of csv, tsv, parquet"
    ):
        format_of("a.gml").reader("table")


def test_gml_takes_labels_for_ids_and_names_attributes(tmp_path):
    content = """Creator "x"
    graph
    [
      directed 0
      node [ id 7 label "zoe &amp; &quot;co&quot;" value 1 graphics [ x 1.5 y -2e3 ] ]
      node [ id 3 label "ann" # a comment
      ]
      node [ id 5 label "&#233;" ]
      edge [ source 7 target 3 label "x" ]
    ]
    """
    graph, report = load_graph(written(tmp_path, "a.gml", content))
    assert ["ann", 'zoe & "co"', "é"] == graph.labels().tolist()
    expected = ([[0, 1]], ("graphics", "value"))
    assert expected == (graph.edges().tolist(), report.attributes_ignored)


def test_gml_takes_numbers_for_ids_where_labels_repeat(tmp_path):
    content = 'graph [ node [ id 7 label "x" ] node [ id 3 label "x" ] edge [ source 7 target 3 ] ]'
    assert [3, 7] == load_graph(written(tmp_path, "a.gml", content)).data.labels().tolist()


def test_graphml_of_networkx_is_read(tmp_path):
    graph = nx.Graph([("ann", "bob"), ("bob", "cyd")])
    graph.add_node("zoe")
    nx.set_node_attributes(graph, {"ann": {"age": 3}})
    nx.write_graphml(graph, tmp_path / "a.graphml")
    read, report = load_graph(tmp_path / "a.graphml")
    with pytest.warns(GraphveilWarning, match="dropped age"):
        assert Graph.from_networkx(graph) == read
    assert ("age",) == report.attributes_ignored


def test_weights_in_graphml_are_refused_or_left_out(tmp_path):
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=2.5)
    nx.write_graphml(graph, tmp_path / "a.graphml")
    with pytest.raises(InputError, match="ignore_weights=True"):
        load_graph(tmp_path / "a.graphml")
    report = load_graph(tmp_path / "a.graphml", GraphOptions(ignore_weights=True)).report
    assert ("weight",) == report.columns_ignored


@pytest.mark.parametrize("name", ["a.graphml", "a.gml", "a.net"])
def test_directed_files_of_networkx_are_refused_or_symmetrized(tmp_path, name):
    graph = nx.DiGraph([(0, 1), (1, 2)])
    write = {"a.graphml": nx.write_graphml, "a.gml": nx.write_gml, "a.net": nx.write_pajek}[name]
    write(graph, tmp_path / name)
    with pytest.raises(InputError, match="0 of 2 edges are mutual"):
        load_graph(tmp_path / name, GraphOptions(ignore_weights=True))
    options = GraphOptions(ignore_weights=True, directed="symmetrize")
    assert [[0, 1], [1, 2]] == load_graph(tmp_path / name, options).data.edges().tolist()


def read_node_link(path):
    return nx.node_link_graph(json.loads(path.read_text()), edges="edges")


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("a.graphml", nx.read_graphml),
        ("a.gml", nx.read_gml),
        ("a.gexf", nx.read_gexf),
        ("a.json", read_node_link),
    ],
)
def test_networkx_reads_what_is_written(tmp_path, name, reader):
    before = Graph.from_edges(["ann", 'say "x"', "é"], [" b", "é", "ann"])
    write(before, tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphveilWarning)
        assert before == Graph.from_networkx(reader(tmp_path / name))


@pytest.mark.parametrize("name", ["a.gexf", "a.json"])
def test_ids_of_other_formats_of_networkx_are_those_of_the_nodes(tmp_path, name):
    graph = nx.Graph([("ann", "bob"), ("bob", "cyd")])
    graph.add_node("zoe", label="Zoe", age=3)
    if name == "a.gexf":
        nx.write_gexf(graph, tmp_path / name)
    else:
        (tmp_path / name).write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    read, report = load_graph(tmp_path / name)
    assert ["ann", "bob", "cyd", "zoe"] == read.labels().tolist()
    assert [[0, 1], [1, 2]] == read.edges().tolist()
    assert {"age", "label"} == set(report.attributes_ignored)


@pytest.mark.parametrize("odd", ["a\x01b", "a\0b", "\ufffe", "a\nb"])
def test_json_carries_ids_that_xml_cannot(tmp_path, odd):
    graph = Graph.from_edges([odd], ["bob"])
    write(graph, tmp_path / "a.json")
    assert graph == load_graph(tmp_path / "a.json").data


@pytest.mark.parametrize("name", ["a.json", "a.gexf", "a.graphml"])
def test_ids_that_would_be_negative_numbers_are_not_written(tmp_path, name):
    with pytest.raises(InputError, match="the id -5 could not be read back"):
        write(Graph.from_edges(["-5"], ["-7"]), tmp_path / name)
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["a.gexf", "a.graphml"])
def test_control_characters_are_not_written_into_xml(tmp_path, name):
    with pytest.raises(InputError, match="contains a control character"):
        write(Graph.from_edges(["a\x01b"], ["bob"]), tmp_path / name)


def write_weighted(graph, path):
    if path.suffix == ".gexf":
        nx.write_gexf(graph, path)
    else:
        path.write_text(json.dumps(nx.node_link_data(graph, edges="edges")))


@pytest.mark.parametrize("name", ["a.gexf", "a.json"])
def test_weights_other_than_one_are_refused_or_left_out(tmp_path, name):
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=1)
    write_weighted(graph, tmp_path / name)
    assert 1 == load_graph(tmp_path / name).data.n_edges
    graph.add_edge(1, 2, weight=2.5)
    write_weighted(graph, tmp_path / name)
    with pytest.raises(InputError, match="ignore_weights=True"):
        load_graph(tmp_path / name)
    report = load_graph(tmp_path / name, GraphOptions(ignore_weights=True)).report
    assert ("weight",) == report.columns_ignored


@pytest.mark.parametrize("name", ["a.gexf", "a.json"])
def test_directions_are_not_forgotten_unasked(tmp_path, name):
    write_weighted(nx.DiGraph([(0, 1), (1, 2)]), tmp_path / name)
    with pytest.raises(InputError, match="0 of 2 edges are mutual"):
        load_graph(tmp_path / name)
    read = load_graph(tmp_path / name, GraphOptions(directed="symmetrize")).data
    assert [[0, 1], [1, 2]] == read.edges().tolist()


def test_edges_of_a_multigraph_in_node_link_json_are_counted_once(tmp_path):
    graph = nx.MultiGraph([(5, 7), (5, 7), (7, 9)])
    write_weighted(graph, tmp_path / "a.json")
    read, report = load_graph(tmp_path / "a.json")
    assert ([5, 7, 9], 2, 1) == (read.labels().tolist(), read.n_edges, report.duplicates)


def gexf(tmp_path, edges, *, attributes="", nodes="", kind="undirected", **options):
    """Return how a GEXF file with nodes a, b and c and these edges is read."""
    listed = nodes or '<node id="a"/><node id="b"/><node id="c"/>'
    content = (
        f'<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="{kind}">'
        f"{attributes}<nodes>{listed}</nodes><edges>{edges}</edges></graph></gexf>"
    )
    return load_graph(written(tmp_path, "a.gexf", content), GraphOptions(**options))


EDGE = '<edge source="a" target="b"/>'
WEIGHT = '<attributes class="edge"><attribute id="0" title="{}" type="double">{}</attribute>'


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({"edges": '<edge source="a" target="b" label="married"/>'}, ("label",)),
        ({"nodes": '<node id="a" type="x" weight="9"/><node id="b"/>'}, ("type", "weight")),
        (
            {
                "attributes": '<attributes class="node"><attribute id="0" title="sick">'
                "<default>true</default></attribute></attributes>"
            },
            ("sick",),
        ),
        ({"nodes": '<node id="a"><nodes><node id="b"/></nodes></node>'}, ("parent",)),
        ({"nodes": '<node id="a"/><node id="b" pid="a"/>'}, ("pid",)),
        (
            {"nodes": '<node id="a"/><node id="b"><parents><parent for="a"/></parents></node>'},
            ("parent",),
        ),
        ({"edges": '<edge source="a" target="b"><shape/></edge>'}, ("shape",)),
    ],
)
def test_whatever_gexf_says_of_nodes_and_edges_is_named(tmp_path, parts, names):
    assert names == gexf(tmp_path, **{"edges": EDGE, **parts}).report.attributes_ignored


@pytest.mark.parametrize("name", ["weight", "Weight"])
def test_weights_in_gexf_are_refused_wherever_they_stand(tmp_path, name):
    weighted = '<edge source="a" target="b"><attvalues><attvalue for="0" value="{}"/></attvalues>'
    described = WEIGHT.format(name, "") + "</attributes>"
    by_default = WEIGHT.format(name, "<default>5</default>") + "</attributes>"
    for edges, attributes in (
        (f"{weighted.format(5)}</edge>", described),
        (EDGE, by_default),
    ):
        with pytest.raises(InputError, match=rf"weights \({name}\)"):
            gexf(tmp_path, edges, attributes=attributes)
        report = gexf(tmp_path, edges, attributes=attributes, ignore_weights=True).report
        assert (name,) == report.columns_ignored
    assert (
        () == gexf(tmp_path, f"{weighted.format(1)}</edge>", attributes=described).report.left_out
    )


def test_directions_in_gexf_are_read_in_any_case_of_letters(tmp_path):
    for kind, edge in (
        ("Directed", EDGE),
        ("undirected", EDGE.replace("/>", ' type="DIRECTED"/>')),
    ):
        with pytest.raises(InputError, match="0 of 1 edge is mutual"):
            gexf(tmp_path, edge, kind=kind)
    for kind in ("mutual", "Undirected"):
        assert 1 == gexf(tmp_path, EDGE.replace("/>", f' type="{kind}"/>'), kind=kind).data.n_edges
    for wrong in ({"kind": "both"}, {"edges": EDGE.replace("/>", ' type="one-way"/>')}):
        with pytest.raises(
            InputError, match=r"is not a valid edge direction\. Use one of directed"
        ):
            gexf(tmp_path, **{"edges": EDGE, **wrong})


def graphml(tmp_path, edge, *, keys="", kind="undirected"):
    content = (
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}<graph edgedefault="{kind}">'
        f'<node id="a"/><node id="b"/>{edge}</graph></graphml>'
    )
    return load_graph(written(tmp_path, "a.graphml", content))


def test_directions_and_defaults_in_graphml_are_read(tmp_path):
    for kind, edge in (
        ("DIRECTED", EDGE),
        ("undirected", EDGE.replace("/>", ' directed="True"/>')),
    ):
        with pytest.raises(InputError, match="0 of 1 edge is mutual"):
            graphml(tmp_path, edge, kind=kind)
    with pytest.raises(InputError, match="yes is not a valid boolean"):
        graphml(tmp_path, EDGE.replace("/>", ' directed="yes"/>'))
    key = '<key id="s" for="{}" attr.name="{}"><default>1</default></key>'
    assert ("sick",) == graphml(
        tmp_path, EDGE, keys=key.format("node", "sick")
    ).report.attributes_ignored
    assert () == graphml(tmp_path, EDGE, keys=key.format("graph", "year")).report.left_out
    with pytest.raises(InputError, match=r"weights \(weight\)"):
        graphml(tmp_path, EDGE, keys=key.format("edge", "weight"))


def node_link(tmp_path, *edges, **whole):
    content = {"nodes": [{"id": "a"}, {"id": "b"}], "edges": edges, **whole}
    return load_graph(written(tmp_path, "a.json", json.dumps(content)))


TIE = {"source": "a", "target": "b"}


def test_directed_in_node_link_json_is_true_or_false(tmp_path):
    for wrong in (1, "true", None):
        with pytest.raises(InputError, match=r"for directed. Write true or false"):
            node_link(tmp_path, TIE, directed=wrong)
        with pytest.raises(InputError, match=r"edge 1 has the value .* for directed"):
            node_link(tmp_path, {**TIE, "directed": wrong})
    assert 1 == node_link(tmp_path, {**TIE, "directed": False}, directed=True).data.n_edges
    with pytest.raises(InputError, match="0 of 1 edge is mutual"):
        node_link(tmp_path, {**TIE, "directed": True})


def test_keys_of_edges_in_node_link_json_are_named_unless_they_only_count(tmp_path):
    counted = [{**TIE, "key": 0}, {**TIE, "key": 1}, {"source": "b", "target": "a", "key": 0}]
    assert () == node_link(tmp_path, *counted, multigraph=True).report.left_out
    for keys in (("married",), (0, 2020), (False,)):
        edges = [{**TIE, "key": key} for key in keys]
        assert ("key",) == node_link(tmp_path, *edges, multigraph=True).report.left_out


def test_gephi_names_its_nodes_by_labels_and_numbers_them_by_ids(tmp_path):
    content = (
        '<gexf xmlns="http://gexf.net/1.3" xmlns:viz="http://gexf.net/1.3/viz" version="1.3">\n'
        '<graph defaultedgetype="undirected"><attributes class="node">'
        '<attribute id="modularity_class" title="Modularity Class" type="integer"/></attributes>'
        '<nodes><node id="0" label="Ann"><attvalues><attvalue for="modularity_class" value="1"/>'
        '</attvalues><viz:size value="3"/></node><node id="1" label="Bob"/></nodes>'
        '<edges><edge id="0" source="0" target="1" weight="1.0"/></edges></graph></gexf>'
    )
    read, report = load_graph(written(tmp_path, "a.gexf", content))
    assert ([0, 1], [[0, 1]]) == (read.labels().tolist(), read.edges().tolist())
    assert {"label", "Modularity Class", "size"} == set(report.attributes_ignored)


def test_pajek_reads_edges_arcs_and_lists(tmp_path):
    content = '*Vertices 5\n1 "a b" 0.1 0.2\n2 b\n3 c\n4 d\n5 e\n*Edges\n1 2 1\n*Arcslist\n2 3 4\n'
    content += "*Edgeslist\n1 5\n"
    graph, report = load_graph(
        written(tmp_path, "a.net", content), GraphOptions(directed="symmetrize")
    )
    assert ["a b", "b", "c", "d", "e"] == graph.labels().tolist()
    assert [[0, 1], [0, 4], [1, 2], [1, 3]] == graph.edges().tolist()
    cells = ("cell 3 of a vertex", "cell 4 of a vertex")
    assert (cells, 2) == (report.attributes_ignored, report.symmetrized)


def test_pajek_without_labels_numbers_from_one(tmp_path):
    graph = load_graph(written(tmp_path, "a.net", "*Vertices 3\n*Edges\n1 2\n")).data
    assert ([1, 2, 3], [[0, 1]]) == (graph.labels().tolist(), graph.edges().tolist())


def test_metis_reads_weights_where_they_are_ignored(tmp_path):
    content = "% x\n3 2 11 1\n5 2 7\n5 1 7 3 9\n5 2 9\n"
    graph, report = load_graph(
        written(tmp_path, "a.graph", content), GraphOptions(ignore_weights=True)
    )
    assert [[0, 1], [1, 2]] == graph.edges().tolist()
    assert (("weights",), 1) == (report.columns_ignored, report.comment_lines)


def test_metis_is_written_as_its_manual_says(tmp_path):
    write(PATH, tmp_path / "a.graph")
    assert "4 2\n2\n1 3\n2\n\n" == (tmp_path / "a.graph").read_text()


def test_nauty_is_written_as_in_the_data_sets_of_ano_net(tmp_path):
    write(PATH, tmp_path / "a.nauty")
    assert "!n=4\n!m=4\n0: 1;\n1: 0 2;\n2: 1;\n3:;\n" == (tmp_path / "a.nauty").read_text()


@pytest.mark.parametrize(
    "content",
    [
        "!n=3\n!m=4\n0: 1;\n1: 0 2;\n2: 1;\n",
        "n=3 $=0 g\n0: 1;\n1: 2.\n",
        "n=3 $=1 g\n1 : 2;\n2 : 3;\n3 : .\nanything",
        "n=3 g\n1;\n2;\n;",
    ],
)
def test_nauty_reads_both_dialects(tmp_path, content):
    graph = load_graph(written(tmp_path, "a.nauty", content)).data
    assert (3, [[0, 1], [1, 2]]) == (graph.n_nodes, graph.edges().tolist())


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("field", ["pattern", "real", "integer"])
def test_matrix_market_of_scipy_is_read(tmp_path, symmetry, field):
    path = tmp_path / "a.mtx"
    scipy_io.mmwrite(path, PATH.to_scipy().astype(float), field=field, symmetry=symmetry)
    graph, report = load_graph(path)
    assert (PATH, 0) == (graph, report.symmetrized)


def test_scipy_reads_the_matrix_market_that_is_written(tmp_path):
    write(PATH, tmp_path / "a.mtx")
    assert PATH == Graph.from_scipy(scipy_io.mmread(tmp_path / "a.mtx"))


def test_stored_zeros_are_no_edges(tmp_path):
    path = written(
        tmp_path, "a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 1 0\n"
    )
    assert [[0, 1]] == load_graph(path).data.edges().tolist()


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.int8, np.float64, np.bool_])
def test_npz_of_scipy_is_read_in_any_form(tmp_path, form, dtype):
    path = tmp_path / "a.npz"
    sparse.save_npz(path, PATH.to_scipy().astype(dtype).asformat(form))
    assert PATH == load_graph(path).data


def test_matrices_hold_users_by_items(tmp_path):
    rows = Bipartite.from_scipy(sparse.csr_array([[1, 0, 0], [0, 0, 0], [1, 1, 0]]))
    for name in ("a.mtx", "a.npz"):
        write(rows, tmp_path / name)
        assert rows == load_bipartite(tmp_path / name).data


def test_parquet_of_pandas_and_polars_is_read(tmp_path):
    frame = {"source": ["ann", "bob"], "target": ["bob", "cyd"]}
    pd.DataFrame(frame, index=[5, 9]).to_parquet(tmp_path / "pandas.parquet")
    pl.DataFrame(frame).write_parquet(tmp_path / "polars.parquet")
    pl.DataFrame(frame).write_ipc(tmp_path / "polars.arrow")
    pl.DataFrame(frame).with_columns(pl.all().cast(pl.Categorical)).write_ipc(
        tmp_path / "categories.arrow"
    )
    pl.DataFrame(frame).write_ipc_stream(tmp_path / "stream.arrow")
    for path in sorted(tmp_path.iterdir()):
        assert ["ann", "bob", "cyd"] == load_graph(path).data.labels().tolist()


def test_whole_floats_are_ids_and_two_kinds_become_text(tmp_path):
    pd.DataFrame({"u": [0.0, 1.0], "v": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    assert [0, 1, 2] == load_graph(tmp_path / "a.parquet").data.labels().tolist()
    pd.DataFrame({"u": [0, 1], "v": ["x", "1"]}).to_parquet(tmp_path / "b.parquet")
    assert ["0", "1", "x"] == load_graph(tmp_path / "b.parquet").data.labels().tolist()


def test_isolated_nodes_are_never_lost_in_silence(tmp_path):
    with pytest.raises(UsageError, match="1 nodes without edges would be lost in csv"):
        write(PATH, tmp_path / "a.csv")
    assert [] == list(tmp_path.iterdir())


def test_users_without_items_are_never_lost_in_silence(tmp_path):
    rows = Bipartite.from_pairs([0], [0], users=[0, 1])
    with pytest.raises(UsageError, match="1 users without entries would be lost in parquet"):
        write(rows, tmp_path / "a.parquet")


def test_ids_are_never_lost_in_silence(tmp_path):
    with pytest.raises(InputError, match="metis numbers its rows"):
        write(Graph.from_edges([5], [6]), tmp_path / "a.graph")


@pytest.mark.parametrize(
    ("name", "label"), [("a.csv", "x\ny"), ("a.net", 'x"y'), ("a.graphml", "x\x01y"), ("a.csv", "")]
)
def test_ids_that_a_format_cannot_carry_are_refused(tmp_path, name, label):
    graph = Graph.from_edges([0], [1], ids=[label, "zoe"])
    with pytest.raises(InputError, match="Use format="):
        write(graph, tmp_path / name)
    assert [] == list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ResourceError, match="cannot write"):
        write(PATH, tmp_path / "absent" / "a.gml")


def test_parquet_takes_no_second_compression(tmp_path):
    with pytest.raises(UsageError, match="is already compressed"):
        write(PATH, tmp_path / "a.parquet.gz", ids_path=tmp_path / "n.csv")


def test_released_files_have_the_promised_headers(tmp_path):
    write(PATH, tmp_path / "a.csv", ids_path=tmp_path / "nodes.csv")
    write(PATH, tmp_path / "a.edges", ids_path=tmp_path / "nodes.csv")
    rows = Bipartite.from_pairs([0], ["tea"], users=[0, 1])
    write(rows, tmp_path / "b.tsv", ids_path=tmp_path / "users.csv")
    assert "source,target\n0,1\n1,2\n" == (tmp_path / "a.csv").read_text()
    assert "# source\ttarget\n0\t1\n1\t2\n" == (tmp_path / "a.edges").read_text()
    assert "node\n0\n1\n2\n3\n" == (tmp_path / "nodes.csv").read_text()
    assert "user\titem\n0\ttea\n" == (tmp_path / "b.tsv").read_text()
    assert "user\n0\n1\n" == (tmp_path / "users.csv").read_text()


def test_a_report_says_nothing_of_what_did_not_happen():
    assert ["read 0 rows of csv"] == ReadingReport(format="csv").lines()
    assert [] == ReadingReport(format="csv", rows=3, comment_lines=2).dropped()


def test_options_cost_no_heavy_import():
    heavy = ("pyarrow", "scipy", "duckdb", "numpy", "numba")
    code = (
        "import sys, graphveil.io.formats, graphveil.io.formats; "
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "['numpy']" == result.stdout.strip()


TEXT_IDS = [["ann", "zoe"], ["bob", "cyd"], ["bob", "dan"], ["cyd", "dan"]]
"""No id of the first edge stands in another one: without a mark it would be taken for names."""


@pytest.mark.parametrize("name", ["a.txt", "a.edges"])
def test_networkx_reads_an_edge_list_that_is_written_as_text(tmp_path, name):
    graph = Graph.from_edges(*zip(*TEXT_IDS, strict=True))
    write(graph, tmp_path / name)
    assert sorted(TEXT_IDS) == sorted(map(sorted, nx.read_edgelist(tmp_path / name).edges))
    numbered = Graph.from_edges([0, 1], [1, 2], n=3)
    write(numbered, tmp_path / name)
    read = nx.read_edgelist(tmp_path / name, nodetype=int)
    assert {(0, 1), (1, 2)} == set(read.edges)


@pytest.mark.parametrize("odd", ["a b", 'a"b', "a,b", "a;b", "#a", "a%"])
def test_odd_ids_are_read_from_graphml_and_from_text_by_readers_of_csv(tmp_path, odd):
    graph = Graph.from_edges([odd, "bob"], ["bob", "cyd"])
    write(graph, tmp_path / "a.graphml")
    assert {odd, "bob", "cyd"} == set(nx.read_graphml(tmp_path / "a.graphml"))
    write(graph, tmp_path / "a.txt")
    assert graph == load_graph(tmp_path / "a.txt").data
    frame = pd.read_csv(tmp_path / "a.txt", sep="\t", skiprows=1, header=None)
    assert {odd, "bob", "cyd"} == set(frame.to_numpy().ravel())


def test_what_is_written_as_text_is_read_again_whatever_its_first_row(tmp_path):
    path = tmp_path / "a.txt"
    many = [*TEXT_IDS, *([f"p{u}", f"p{u + 1}"] for u in range(20))]
    for edges in (TEXT_IDS, many, [["10", "12"], *([str(u), str(u + 1)] for u in range(10, 22))]):
        graph = Graph.from_edges(*zip(*edges, strict=True))
        write(graph, path)
        read, report = load_graph(path)
        assert (graph.n_edges, None) == (read.n_edges, report.count_line)
    likes = Bipartite.from_pairs(["ann", "bob"], ["tea", "rye"])
    write(likes, path)
    assert likes == load_bipartite(path).data
    assert Bipartite is columns_of(path, None).kind


def test_a_text_file_without_an_edge_is_read_with_its_nodes(tmp_path):
    alone = Graph.from_edges([], [], ids=np.array([3, 5]), n=2)
    write(alone, tmp_path / "a.txt", ids_path=tmp_path / "nodes.csv")
    read = load_graph(tmp_path / "a.txt", GraphOptions(nodes=tmp_path / "nodes.csv")).data
    assert alone == read


def test_the_same_remark_above_other_cells_is_only_a_remark(tmp_path):
    path = written(tmp_path, "a.txt", "# source\ttarget\n0 1\n1 2\n")
    assert [[0, 1], [1, 2]] == load_graph(path).data.edges().tolist()
    path = written(tmp_path, "a.txt", "# source\ttarget\nfrom\tto\n0\t1\n1\t2\n")
    options = GraphOptions(header="yes")
    assert [[0, 1], [1, 2]] == load_graph(path, options).data.edges().tolist()
