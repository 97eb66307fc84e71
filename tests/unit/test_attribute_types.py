"""Attributes have one type in every format and object: declared text is text, codes stay codes."""

import csv
import datetime as dt
import json
from xml.sax.saxutils import escape, quoteattr

import igraph as ig
import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.cli import run
from graphveil.core.errors import DataError

NODES = ["ann", "bob", "cyd", "dan"]
TIES = [("ann", "bob"), ("bob", "cyd"), ("cyd", "dan")]
COLUMNS = {
    "zip": ["02139", "2139", "10001", "02139"],
    "room": ["007", "7", "7", "8"],
    "version": ["1.0", "1", "1.0", "2"],
    "digits": ["10", "9", "10", "9"],
    "town": ["New York", " Oslo", "Oslo ", "a,b"],
    "born": [dt.date(1990, 5, 1), dt.date(1990, 5, 2), dt.date(1990, 5, 1), dt.date(1991, 1, 1)],
    "age": [31, 4, 31, 100],
    "balance": [-5, 0, 5, 5],
    "height": [1.5, 2.5, 1.5, 1.7],
    "member": [True, False, True, True],
    "gap": ["02139", None, "5", "5"],
    "gap_of_ages": [31, None, 4, 4],
}
"""Of each column the values of the nodes, in their order, as Python has them."""

BINS = {"height": "edges:1.6,2"}
ASKED_IN_CSV = "version"
"""Undeclared numbers with a point are asked about in csv files."""

UNDECLARED = {"digits": ("i", [9, 10], [1, 0, 1, 0])}
"""A csv file does not say that these are text."""

EXPECTED = {
    "zip": ("T", ["02139", "10001", "2139"], [0, 2, 1, 0]),
    "room": ("T", ["007", "7", "8"], [0, 1, 1, 2]),
    "version": ("T", ["1", "1.0", "2"], [1, 0, 1, 2]),
    "digits": ("T", ["10", "9"], [0, 1, 0, 1]),
    "town": ("T", [" Oslo", "New York", "Oslo ", "a,b"], [1, 0, 2, 3]),
    "born": ("T", ["1990-05-01", "1990-05-02", "1991-01-01"], [0, 1, 0, 2]),
    "age": ("i", [4, 31, 100], [1, 0, 1, 2]),
    "balance": ("T", ["-5", "0", "5"], [0, 1, 2, 2]),
    "height": ("T", ["1.6<x<=2", "<=1.6", ">2"], [1, 2, 1, 0]),
    "member": ("T", ["false", "true"], [1, 0, 1, 1]),
    "gap": ("T", ["02139", "5"], [0, -1, 1, 1]),
    "gap_of_ages": ("i", [4, 31], [1, -1, 0, 0]),
}
"""Of each column: text or integers, its categories, and the code of every node."""


def spelled(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def declared(name, integer, real):
    return {"age": integer, "balance": integer, "gap_of_ages": integer, "height": real}.get(
        name, "boolean" if name == "member" else "string"
    )


def cells(node):
    """Yield the name and the value of what is said of a node."""
    for name, values in COLUMNS.items():
        if values[node] is not None:
            yield name, values[node]


def as_graphml():
    keys = "".join(
        f'<key id="{name}" for="node" attr.name="{name}" '
        f'attr.type="{declared(name, "long", "double")}"/>'
        for name in COLUMNS
    )
    nodes = "".join(
        f'<node id="{node}">'
        + "".join(f'<data key="{k}">{escape(spelled(v))}</data>' for k, v in cells(number))
        + "</node>"
        for number, node in enumerate(NODES)
    )
    ties = "".join(f'<edge source="{u}" target="{v}"/>' for u, v in TIES)
    return f'<graphml>{keys}<graph edgedefault="undirected">{nodes}{ties}</graph></graphml>'


def as_gexf():
    titles = "".join(
        f'<attribute id="{name}" title="{name}" type="{declared(name, "integer", "float")}"/>'
        for name in COLUMNS
    )
    nodes = "".join(
        f'<node id="{node}"><attvalues>'
        + "".join(f'<attvalue for="{k}" value={quoteattr(spelled(v))}/>' for k, v in cells(number))
        + "</attvalues></node>"
        for number, node in enumerate(NODES)
    )
    ties = "".join(f'<edge source="{u}" target="{v}"/>' for u, v in TIES)
    head = f'<attributes class="node">{titles}</attributes>'
    return f"<gexf><graph>{head}<nodes>{nodes}</nodes><edges>{ties}</edges></graph></gexf>"


def as_gml():
    def said(name, value):
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        return f"{name} {value}" if plain else f'{name} "{spelled(value)}"'

    nodes = " ".join(
        f'node [ id {number} label "{node}" {" ".join(said(*cell) for cell in cells(number))} ]'
        for number, node in enumerate(NODES)
    )
    ties = " ".join(f"edge [ source {NODES.index(u)} target {NODES.index(v)} ]" for u, v in TIES)
    return f"graph [ {nodes} {ties} ]"


def as_json():
    nodes = [{"id": node, **dict(cells(number))} for number, node in enumerate(NODES)]
    links = [{"source": u, "target": v} for u, v in TIES]
    return json.dumps({"nodes": nodes, "links": links}, default=str)


def frame_of_people():
    return pa.table({"id": NODES, **COLUMNS})


def read_text(folder, name, content):
    (folder / name).write_text(content)
    return gv.read_network(folder / name, bins=BINS)


def read_pair(folder, people):
    """Read the ties as csv and the people from another file."""
    (folder / "ties.csv").write_text("source,target\n" + "".join(f"{u},{v}\n" for u, v in TIES))
    drop = [ASKED_IN_CSV] if people.suffix == ".csv" else []
    return gv.read_network(folder / "ties.csv", nodes=people, bins=BINS, drop=drop)


def from_csv(folder):
    rows = [["" if v is None else spelled(v) for v in values] for values in COLUMNS.values()]
    lines = [["id", *COLUMNS], *([node, *row] for node, *row in zip(NODES, *rows, strict=True))]
    with (folder / "people.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(lines)
    return read_pair(folder, folder / "people.csv")


def from_parquet(folder):
    parquet.write_table(frame_of_people(), folder / "people.parquet")
    return read_pair(folder, folder / "people.parquet")


def from_frame(convert):
    def read(_folder):
        ties = pa.table({"source": [u for u, _ in TIES], "target": [v for _, v in TIES]})
        people = convert(frame_of_people())
        return gv.Network.from_arrow(ties, people, node="id", bins=BINS, directed=False)

    return read


def networkx_graph():
    graph = nx.Graph(TIES)
    for number, node in enumerate(NODES):
        graph.nodes[node].update(cells(number))
    return graph


def from_igraph(_folder):
    graph = ig.Graph(n=4, edges=[(NODES.index(u), NODES.index(v)) for u, v in TIES])
    graph.vs["name"] = NODES
    for name, values in COLUMNS.items():
        graph.vs[name] = values
    return gv.Network.from_igraph(graph, bins=BINS)


READERS = {
    "csv": from_csv,
    "graphml": lambda folder: read_text(folder, "a.graphml", as_graphml()),
    "gexf": lambda folder: read_text(folder, "a.gexf", as_gexf()),
    "gml": lambda folder: read_text(folder, "a.gml", as_gml()),
    "json": lambda folder: read_text(folder, "a.json", as_json()),
    "parquet": from_parquet,
    "arrow": from_frame(lambda table: table),
    "pandas": from_frame(lambda table: table.to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": from_frame(pl.from_arrow),
    "networkx": lambda _: gv.Network.from_networkx(networkx_graph(), bins=BINS),
    "igraph": from_igraph,
}


def values_of(network):
    """Return of each attribute: text or integers, its categories, and the code of every node."""
    people = network.people
    return {
        name: (values.dtype.kind, values.tolist(), codes)
        for name, values, codes in zip(
            people.columns, people.categories, people.codes.T.tolist(), strict=True
        )
    }


@pytest.mark.parametrize("form", READERS)
def test_an_attribute_has_one_type_in_every_format_and_object(tmp_path, form):
    expected = dict(EXPECTED)
    if form == "csv":
        expected = {**expected, **UNDECLARED}
        del expected[ASKED_IN_CSV]
    assert expected == values_of(READERS[form](tmp_path))
