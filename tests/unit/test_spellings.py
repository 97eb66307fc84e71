"""Ids that look the same are one question in every format; values of columns are warned of."""

from __future__ import annotations

import json
import warnings

import igraph as ig
import networkx as nx
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil import io
from graphveil.core.errors import GraphveilError, GraphveilWarning, InputError
from graphveil.data.spellings import spelled_columns

PAIRS = [("ann", "ann "), ("ann", "ann\xa0"), ("ann", "an\u200bn")]
"""Two ids of which a reader of a page sees one."""

APART = [("ann", "Ann"), ("7a", "07a"), ("ann", "anne")]
"""Two ids that differ to the eye, so that nothing is said of them."""


def edges_of(pair):
    """Return three edges: both ids know bob, who knows cyd."""
    return [(pair[0], "bob"), (pair[1], "bob"), ("bob", "cyd")]


def frame_of(pair, names=("source", "target")):
    return pa.table(list(zip(*edges_of(pair), strict=True)), names=list(names))


def graph_of(pair):
    return nx.Graph(edges_of(pair))


def as_csv(pair, path):
    rows = "".join(f'"{left}","{right}"\n' for left, right in edges_of(pair))
    path.write_text("source,target\n" + rows, encoding="utf-8")


FILES = {
    "csv": as_csv,
    "parquet": lambda pair, path: parquet.write_table(frame_of(pair), path),
    "graphml": lambda pair, path: nx.write_graphml(graph_of(pair), path),
    "gexf": lambda pair, path: nx.write_gexf(graph_of(pair), path),
    "json": lambda pair, path: path.write_text(
        json.dumps(nx.node_link_data(graph_of(pair), edges="links"))
    ),
}

OBJECTS = {
    "networkx, as a graph": lambda pair: gv.Graph.from_networkx(graph_of(pair)),
    "networkx, as a network": lambda pair: gv.Network.from_networkx(graph_of(pair)),
    "igraph": lambda pair: gv.Graph.from_igraph(ig.Graph.TupleList(edges_of(pair))),
    "a frame, as a graph": lambda pair: gv.Graph.from_arrow(frame_of(pair)),
    "a frame, as a network": lambda pair: gv.Network.from_arrow(frame_of(pair), directed=False),
    "a frame of users": lambda pair: gv.Bipartite.from_arrow(frame_of(pair, ("user", "item"))),
    "a frame of items": lambda pair: gv.Bipartite.from_arrow(frame_of(pair, ("item", "user"))),
    "a frame of rows": lambda pair: gv.Table.from_arrow(
        pa.table({"who": [*pair, "bob"], "sex": ["f", "m", "f"]}), ids="who", person="row"
    ),
}


def names_in(data):
    """Return the ids of nodes and rows, or of users and items."""
    lists = (data.users, data.features) if isinstance(data, gv.Bipartite) else (data.labels(),)
    return {name for ids in lists for name in ids.tolist()}


def ways(tmp_path):
    """Return each way in which ids come in, as a function of two of them."""

    def of_a_file(name, kind, pair):
        path = tmp_path / f"a.{name}"
        FILES[name](pair, path)
        return {"graph": io.read_graph, "network": io.read_network}[kind](path)

    for name in FILES:
        for kind in ("graph", "network"):
            yield f"{name}, {kind}", lambda pair, name=name, kind=kind: of_a_file(name, kind, pair)
    yield from OBJECTS.items()


@pytest.mark.parametrize("pair", PAIRS, ids=ascii)
def test_ids_that_look_the_same_are_refused_in_every_format_and_object(tmp_path, pair):
    for name, read in ways(tmp_path):
        with pytest.raises(GraphveilError, match=r"the ids .* look the same\.") as caught:
            read(pair)
        assert "'ann'" in str(caught.value), name


@pytest.mark.parametrize("pair", APART)
def test_ids_that_do_not_are_read_without_a_word(tmp_path, pair):
    for name, read in ways(tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("error", GraphveilWarning)
            assert {*pair} < names_in(read(pair)), name


def test_ids_that_only_an_accent_tells_apart_are_named_in_every_format_and_object(tmp_path):
    for name, read in ways(tmp_path):
        said = "read 'Jos.xe9' and 'Jose.u0301' as two different ids"
        with pytest.warns(GraphveilWarning, match=said):
            assert "Jos\xe9" in names_in(read(("Jos\xe9", "Jose\u0301"))), name


SPELLINGS = [("Male", "male"), ("Male", "Male "), ("Jos\xe9", "Jose\u0301"), ("a\xa0", "a")]


@pytest.mark.parametrize("values", SPELLINGS, ids=ascii)
def test_values_of_a_column_that_may_be_one_are_warned_of_in_files_and_objects(tmp_path, values):
    # A file or frame with two columns, and a network with one.
    frame = pa.table({"sex": [*values, "other"] * 2, "age": [30, 30, 40] * 2})
    parquet.write_table(frame, tmp_path / "a.parquet")
    rows = "".join(f"{row['sex']},{row['age']}\n" for row in frame.to_pylist())
    (tmp_path / "a.csv").write_text("sex,age\n" + rows, encoding="utf-8")
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, dict(enumerate([*values, "other"])), "sex")
    for read in (
        lambda: io.read_table(tmp_path / "a.csv", person="row"),
        lambda: io.read_table(tmp_path / "a.parquet", person="row"),
        lambda: gv.Table.from_arrow(frame, person="row"),
        lambda: gv.Network.from_networkx(graph),
    ):
        with pytest.warns(GraphveilWarning, match="in sex count as two different values") as said:
            people = read().people
        assert 1 == len(said)
        assert 3 == people.categories[people.columns.index("sex")].size


def test_words_for_a_missing_value_and_numbers_are_not_compared():
    table = gv.Table.from_columns({"sex": ["f", "NA", "na"], "age": [1, 10, 100]}, person="row")
    assert [] == spelled_columns(table.columns, table.categories)


def test_a_release_of_spellings_keeps_them_apart_and_holds(tmp_path):
    table = gv.Table.from_columns({"sex": ["Male", "male"] * 3}, person="row")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphveilWarning)
        gv.SuppressK(k=3).anonymize(table, seed=1).write(tmp_path / "out")
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphveilWarning)
        back = gv.read_release(tmp_path / "out").data
    assert ["Male", "male"] == back.categories[0].tolist()
    assert [] == gv.verify_release(tmp_path / "out").failures()


def test_two_ids_that_look_the_same_in_a_list_of_nodes_are_refused(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nann,bob\nbob,cyd\n")
    (tmp_path / "nodes.csv").write_text('node,town\nann,x\n"ann ",y\nbob,x\ncyd,y\n')
    with pytest.raises(InputError, match=r"nodes\.csv: the ids 'ann' and 'ann ' look the same"):
        io.read_network(tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv")
