"""Attributes have one type in every format and object: declared text is text, codes stay codes."""

import csv
import datetime as dt
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape, quoteattr

import igraph as ig
import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import graphveil as gv
from graphveil.core.errors import DataError, InputError
from graphveil.core.missing_words import UNKNOWN, plain
from graphveil.io.parsed import EVERY_WORD

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


@pytest.mark.parametrize("form", ["graphml", "gexf", "gml", "json"])
def test_a_written_network_is_read_back_with_the_same_types(tmp_path, form):
    network = READERS["arrow"](None)
    gv.io.write(network, tmp_path / f"a.{form}")
    assert values_of(network) == values_of(gv.read_network(tmp_path / f"a.{form}"))


def test_objects_give_back_the_types_that_they_took():
    network = READERS["arrow"](None)
    for library in ("networkx", "igraph"):
        graph = getattr(network, f"to_{library}")()
        assert values_of(network) == values_of(getattr(gv.Network, f"from_{library}")(graph))


CELLS = st.text("0179.-+eE tTrufalse_<&\"'", min_size=1, max_size=5).filter(
    lambda text: plain(text) not in UNKNOWN
)


@settings(max_examples=40)
@given(st.lists(st.none() | CELLS, min_size=2, max_size=6), st.data())
def test_any_text_and_integers_are_read_back_as_they_were(texts, data):
    n = len(texts)
    numbers = data.draw(st.lists(st.none() | st.integers(0, 2**40), min_size=n, max_size=n))
    people = gv.Table.from_columns(
        {"code": pa.array(texts, pa.string()), "number": pa.array(numbers, pa.int64())}
    )
    network = gv.Network({"ties": gv.Graph.from_edges([0], [1], n=n)}, people)
    kept = {"code": values_of(network)["code"], "number": values_of(network)["number"]}
    for form in ("graphml", "gexf", "gml", "json"):
        with TemporaryDirectory() as folder:
            gv.io.write(network, Path(folder, f"a.{form}"))
            read = values_of(gv.read_network(Path(folder, f"a.{form}"), categories=EVERY_WORD))
        for name, expected in kept.items():
            if any(code >= 0 for code in expected[2]):
                assert expected == read[name]


def of_one_attribute(form, values):
    """Return a file whose nodes have these values without quotes or a declared type."""
    numbers = range(len(values))
    if form == "graphml":
        data = '<node id="n{}"><data key="x">{}</data></node>'
        nodes = "".join(data.format(n, escape(values[n])) for n in numbers)
        return f'<graphml><key id="x" attr.name="x" for="node"/><graph>{nodes}</graph></graphml>'
    if form == "gexf":
        data = '<node id="n{}"><attvalues><attvalue for="x" value={}/></attvalues></node>'
        nodes = "".join(data.format(n, quoteattr(values[n])) for n in numbers)
        return f"<gexf><graph><nodes>{nodes}</nodes></graph></gexf>"
    if form == "gml":
        nodes = "".join(f"node [ id {n} x {values[n]} ] " for n in numbers)
        return f"graph [ {nodes} ]"
    labels = "".join(f'{n + 1} "n{n}"\n' for n in numbers)
    clusters = "".join(f"{value}\n" for value in values)
    return f"*Vertices {len(values)}\n{labels}*Edges\n1 2\n*Partition x\n{clusters}"


@pytest.mark.parametrize("form", ["graphml", "gexf", "gml", "net"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["02139", "2139", "5"], ("T", ["02139", "2139", "5"], [0, 1, 2])),
        (["007", "7", "7"], ("T", ["007", "7"], [0, 1, 1])),
        (["10", "9", "10"], ("i", [9, 10], [1, 0, 1])),
    ],
)
def test_undeclared_values_are_integers_only_if_all_are_written_so(
    tmp_path, form, values, expected
):
    path = tmp_path / f"a.{form}"
    path.write_text(of_one_attribute(form, values))
    assert {"x": expected} == values_of(gv.read_network(path))


def test_a_value_that_contradicts_its_declared_type_keeps_its_spelling(tmp_path):
    text = as_graphml().replace(
        'attr.name="zip" attr.type="string"', 'attr.name="zip" attr.type="int"'
    )
    assert EXPECTED["zip"] == values_of(read_text(tmp_path, "a.graphml", text))["zip"]


def in_every_form(folder, values):
    """Yield how to read a network whose nodes have these values as an attribute x."""
    graph = nx.path_graph(len(values))
    nx.set_node_attributes(graph, dict(enumerate(values)), "x")
    yield lambda **_: gv.Network.from_networkx(graph)
    (folder / "a.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    yield lambda **options: gv.read_network(folder / "a.json", **options)
    quoted = (f'"{v}"' if isinstance(v, str) else v for v in values)
    (folder / "a.gml").write_text(of_one_attribute("gml", list(quoted)))
    yield lambda **options: gv.read_network(folder / "a.gml", **options)


def test_text_among_numbers_is_refused_in_every_format_and_can_be_dropped(tmp_path):
    for read in in_every_form(tmp_path, [1, "1", 2]):
        with pytest.raises((DataError, InputError), match="column x mixes types"):
            read()
    for name in ("a.json", "a.gml"):
        assert gv.read_network(tmp_path / name, drop=["x"]).people is None


def test_numbers_with_fractions_are_refused_in_every_format(tmp_path):
    for read in in_every_form(tmp_path, [1.5, 2.5, 2.5]):
        with pytest.raises((DataError, InputError), match=r"column x is numeric \(1\.5\)"):
            read()
    for form in ("graphml", "gexf", "gml"):
        (tmp_path / f"u.{form}").write_text(of_one_attribute(form, ["1.5", "2.5", "2.5"]))
        with pytest.raises((DataError, InputError), match=r"column x is numeric \(1\.5\)"):
            gv.read_network(tmp_path / f"u.{form}")


@pytest.mark.parametrize("form", ["graphml", "gexf", "gml", "json"])
def test_words_for_missing_values_are_asked_about_as_in_csv_files(tmp_path, form):
    path = tmp_path / f"a.{form}"
    network = gv.Network.from_networkx(nx.Graph([("ann", "bob"), ("bob", "cyd")]))
    people = gv.Table.from_columns({"town": ["Oslo", "n/a", "n/a"]})
    gv.io.write(gv.Network(network.layers, people, network.ids), path)
    with pytest.raises((DataError, InputError), match=r"column town has n/a \(2x\)"):
        gv.read_network(path)
    read = gv.read_network(path, suppressed=["*", "", "n/a"])
    assert ("T", ["Oslo"], [0, -1, -1]) == values_of(read)["town"]
