"""What is written is read again, in every format and compression."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Bipartite, Graph, Table
from graphveil.io import (
    FORMATS,
    BipartiteOptions,
    GraphOptions,
    TableOptions,
    load_bipartite,
    load_graph,
    load_table,
    write_bipartite,
    write_graph,
    write_table,
)

CALM = settings(deadline=None, max_examples=25)
LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"])
NAMES = st.text(LETTERS, min_size=1, max_size=6).map(str.strip).filter(bool)
MISSING = {"nan", "na", "none", "null"}
AWKWARD = st.sampled_from(
    [
        "007",
        "#1",
        "%x",
        "a,b",
        'say "x"',
        "a;b",
        "a\tb",
        "x y",
        "nan",
        "source",
        "1e5",
        "-x",
        "'",
        "*",
    ]
)


def _holding(kind: str) -> list[str]:
    return [name for name, entry in FORMATS.items() if kind in entry.kinds]


@st.composite
def named_graphs(draw):
    """A graph whose ids are text or sparse integers."""
    n = draw(st.integers(2, 8))
    integers = st.sets(st.integers(0, 2**63 - 1), min_size=n, max_size=n)
    texts = st.sets(st.one_of(NAMES, AWKWARD), min_size=n, max_size=n).filter(_some_text)
    return draw(graphs_over(sorted(draw(st.one_of(integers, texts)))))


def _some_text(names: set[str]) -> bool:
    """Whether some name is no number and not missing, so that all are read as text."""
    return any(name[0].isalpha() and name.lower() not in MISSING for name in names)


@st.composite
def graphs_over(draw, ids):
    """A graph over these ids, isolated nodes among them."""
    ends = st.integers(0, len(ids) - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=15))
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Graph.assemble(array[:, 0], array[:, 1], ids=ids)[0]


@st.composite
def plain_graphs(draw):
    """A graph whose ids are 0..n-1."""
    return draw(graphs_over(range(draw(st.integers(2, 9)))))


def graph_again(graph: Graph, name: str, compression: str) -> Graph:
    """Write a graph and read it."""
    entry = FORMATS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data{entry.extensions[0]}{compression}")
        nodes = None if entry.keeps_isolated else Path(folder, "nodes.csv")
        write_graph(graph, path, nodes_path=nodes)
        return load_graph(path, GraphOptions(nodes=nodes)).data


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("name", _holding("graph"))
@settings(deadline=None, max_examples=15)
@given(graph=plain_graphs())
def test_a_plain_graph_comes_back_from_every_format(name, compression, graph):
    if compression and not FORMATS[name].compressible:
        compression = ""
    assert graph == graph_again(graph, name, compression)


@pytest.mark.parametrize("name", [name for name in _holding("graph") if FORMATS[name].text_ids])
@settings(deadline=None, max_examples=60)
@given(graph=named_graphs())
def test_ids_come_back_from_every_format_that_can_carry_them(name, graph):
    if name == "pajek" and any('"' in str(label) for label in graph.labels()):
        return
    again = graph_again(graph, name, "")
    assert list(map(str, graph.labels())) == list(map(str, again.labels()))
    assert graph.edges().tolist() == again.edges().tolist()


@pytest.mark.parametrize("name", _holding("bipartite"))
@CALM
@given(
    rows=st.lists(st.sets(st.integers(0, 6), max_size=4), min_size=1, max_size=6).filter(any),
    data=st.data(),
)
def test_users_and_items_come_back_from_every_format(name, rows, data):
    entry = FORMATS[name]
    items = sorted({item for row in rows for item in row})
    names = None
    if entry.text_ids:
        wanted = st.sets(st.one_of(NAMES, AWKWARD), min_size=len(items), max_size=len(items))
        names = sorted(data.draw(wanted.filter(_some_text)))
    pairs = [(user, items.index(item)) for user, row in enumerate(rows) for item in row]
    before = Bipartite.assemble(
        [user for user, _ in pairs],
        [item for _, item in pairs],
        users=range(len(rows)),
        features=range(len(items)),
    )[0]
    before = Bipartite(before.indptr, before.indices, len(items), None, names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data{entry.extensions[0]}")
        users = None if entry.keeps_isolated else Path(folder, "users.csv")
        write_bipartite(before, path, users_path=users)
        after = load_bipartite(path, BipartiteOptions(users=users)).data
    assert before.labels().tolist() == after.labels().tolist()
    assert before.to_arrow().to_pylist() == after.to_arrow().to_pylist()


CELLS = st.one_of(st.none(), NAMES, AWKWARD.filter(lambda cell: cell != "*"), st.just("a\nb"))


def _category(cells: list[str | None]) -> bool:
    """Whether some cell is neither suppressed nor a number, so that the column stays text."""
    return any(cell is not None and not cell[:1].isdigit() for cell in cells)


@pytest.mark.parametrize("name", _holding("table"))
@settings(deadline=None, max_examples=60)
@given(
    text=st.lists(CELLS, min_size=1, max_size=7).filter(_category),
    numbers=st.lists(st.one_of(st.none(), st.integers(0, 99)), min_size=7, max_size=7),
    names=st.lists(
        NAMES.filter(lambda name: not name[0].isdigit()), min_size=3, max_size=3, unique=True
    ),
)
def test_a_table_comes_back_from_every_format(name, text, numbers, names):
    columns = dict(zip(names, [text, numbers[: len(text)], text[::-1]], strict=True))
    before = Table.from_columns(columns)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data{FORMATS[name].extensions[0]}")
        write_table(before, path)
        after = load_table(path, TableOptions(header="yes")).data
    assert before == after


@pytest.mark.parametrize("name", _holding("graph"))
@settings(deadline=None, max_examples=5)
@given(graph=plain_graphs())
def test_the_same_graph_gives_the_same_bytes(name, graph):
    entry = FORMATS[name]
    with tempfile.TemporaryDirectory() as folder:
        for compression in ("", ".gz", ".zst") if entry.compressible else ("",):
            written = []
            for run in range(2):
                path = Path(folder, f"run{run}{entry.extensions[0]}{compression}")
                write_graph(graph, path, nodes_path=Path(folder, "nodes.csv"))
                written.append(path.read_bytes())
            assert written[0] == written[1]
