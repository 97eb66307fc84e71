"""What is written is read again, in every format and compression."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphveil.core.errors import InputError
from graphveil.data import Bipartite, Graph, Table
from graphveil.io import (
    FORMATS,
    BipartiteOptions,
    GraphOptions,
    TableOptions,
    load_bipartite,
    load_graph,
    load_table,
    write,
)
from graphveil.io.parsed import EVERY_WORD

CALM = settings(deadline=None, max_examples=25)
LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"])
NAMES = st.text(LETTERS, min_size=1, max_size=6).map(str.strip).filter(bool)
MISSING = {"nan", "na", "none", "null"}
NUMBERLIKE = [
    *("1e5", "1E5", "1.5", ".5", "+3", "-0", "-5", "007", "00", "0x1", "0X1F", "0b1", "1_0", " 5"),
    *(
        "5 ",
        "\xa05",
        "\u20285",
        "inf",
        "nan",
        "null",
        "NA",
        "true",
        "9" * 20,
        str(2**63),
        "\u06635",
    ),
]
"""Text that one reader or another takes for a number, for a missing value, or for another text."""

AWKWARD = st.sampled_from(
    [
        *NUMBERLIKE,
        *("#1", "%x", "a,b", 'say "x"', "a;b", "a\tb", "x y", "source", "-x", "'", "*", "=1"),
        *("&lt;", "&#38;", "&amp;lt;"),
    ]
)


def _holding(kind: str) -> list[str]:
    return [name for name, entry in FORMATS.items() if kind in entry.kinds]


@st.composite
def named_graphs(draw):
    """A graph whose ids are text or sparse integers."""
    n = draw(st.integers(2, 8))
    integers = st.sets(st.integers(0, 2**63 - 1), min_size=n, max_size=n)
    texts = st.sets(st.one_of(NAMES, AWKWARD), min_size=n, max_size=n)
    return draw(graphs_over(sorted(draw(st.one_of(integers, texts)))))


def _some_text(names: list[str]) -> bool:
    """Whether some name is no number and not missing, so that all are read as text."""
    return any(name[0].isalpha() and name.lower() not in MISSING for name in names)


def _confused(names: list[str], form: str) -> bool:
    """Whether two names look the same, or a reader of lines would end one inside a name."""
    same = len({name.strip() for name in names}) < len(names)
    return same or (form in ("csv", "tsv", "text") and any("\u2028" in name for name in names))


def _joined(*ids: str) -> Graph:
    """A path over these ids."""
    ends = np.arange(len(ids))
    return Graph.assemble(ends[:-1], ends[1:], ids=sorted(ids))[0]


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


class Refused(Exception):  # noqa: N818  it says what happened to the data, not what went wrong
    """The data was not written, as its ids would not be read again."""


def graph_again(graph: Graph, name: str, compression: str) -> Graph:
    """Write a graph and read it."""
    entry = FORMATS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data{entry.extensions[0]}{compression}")
        own = name if name in ("parquet", "arrow") else "csv"
        nodes = None if entry.keeps_isolated else Path(folder, f"nodes.{own}")
        try:
            write(graph, path, ids_path=nodes)
        except InputError as error:
            raise Refused from error
        try:
            return load_graph(path, GraphOptions(nodes=nodes)).data
        except InputError as error:
            if "look the same" not in str(error):
                raise
            raise Refused from error


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
@example(graph=_joined("1e5", "2e5"))
@example(graph=_joined("1e5", "7"))
@example(graph=_joined("1e5", " 5"))
@example(graph=_joined("007", " 5"))
@example(graph=_joined("0x1", "1_0"))
@example(graph=_joined("+3", "-0", "nan"))
@example(graph=_joined("nan", "7"))
@example(graph=_joined("true", "7"))
@example(graph=_joined("-5", "-6"))
@example(graph=_joined("&lt;", "&amp;lt;"))
def test_ids_come_back_from_every_format_that_can_carry_them(name, graph):
    labels = list(map(str, graph.labels()))
    try:
        again = graph_again(graph, name, "")
    except Refused:
        linked = [label for label, degree in zip(labels, graph.degrees(), strict=True) if degree]
        quoted = name == "pajek" and '"' in "".join(labels)
        assert not _some_text(linked) or quoted or _confused(labels, name)
        return
    assert sorted(labels) == sorted(map(str, again.labels()))
    assert _named_edges(graph) == _named_edges(again)


@pytest.mark.parametrize("name", [name for name in _holding("graph") if FORMATS[name].text_ids])
def test_whatever_looks_like_a_number_comes_back_beside_a_word(name):
    for odd in NUMBERLIKE:
        if name in ("csv", "tsv", "text") and "\u2028" in odd:
            continue  # refused: some programs end the line there
        again = graph_again(_joined(odd, "ann"), name, "")
        assert {odd, "ann"} == set(again.labels().tolist())


@pytest.mark.parametrize("name", ["csv", "tsv", "text"])
@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        (["1e5", "7"], "'1e5' could not be read back from .*is not an integer"),
        (["-5", "7"], "'-5' could not be read back from .*is negative"),
        (["nan", "7"], "'nan' could not be read back from .*is missing"),
        (["1.0", "7"], "'1.0' could not be read back from .*is read as an integer"),
        (["", "ann"], "is empty or holds a line break|is missing"),
        (["a\0b", "ann"], "NUL"),
        (["a\vb", "ann"], "contains a character that some programs treat as the end of a line"),
        (["a\fb", "ann"], "contains a character that some programs treat as the end of a line"),
        (["\x1cb", "ann"], "contains a character that some programs treat as the end of a line"),
        (["b\x1e", "ann"], "contains a character that some programs treat as the end of a line"),
        (["a\x85b", "ann"], "contains a character that some programs treat as the end of a line"),
        (["a\u2028b", "ann"], "contains a character that some programs treat as the end of a line"),
        (["a\u2029b", "ann"], "contains a character that some programs treat as the end of a line"),
        (["ann\\", "b,c"], "ends in a backslash, so that some programs read past"),
    ],
)
def test_ids_that_would_not_be_read_again_are_refused_before_anything_is_written(
    tmp_path, name, ids, problem
):
    path = tmp_path / f"data{FORMATS[name].extensions[0]}"
    with pytest.raises(InputError, match=f'{problem}.*format="parquet"'):
        write(_joined(*ids), path)
    with pytest.raises(InputError, match=f'{problem}.*format="parquet"'):
        write(Bipartite.from_pairs([0, 1], ids), path)
    assert [] == list(tmp_path.iterdir())


def _named_edges(graph: Graph) -> set[frozenset[str]]:
    labels = list(map(str, graph.labels()))
    return {frozenset((labels[u], labels[v])) for u, v in graph.edges().tolist()}


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
        names = sorted(data.draw(wanted))
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
        try:
            write(before, path, ids_path=users)
        except InputError:
            assert not _some_text(names) or _confused(names, name)
            return
        after = load_bipartite(path, BipartiteOptions(users=users)).data
    assert before.labels().tolist() == after.labels().tolist()
    pairs = [
        sorted((pair["user"], str(pair["item"])) for pair in some.to_arrow().to_pylist())
        for some in (before, after)
    ]
    assert pairs[0] == pairs[1]


CELLS = st.one_of(st.none(), NAMES, AWKWARD.filter(lambda cell: cell != "*"), st.just("a\nb"))


def _whole(cell: str | None) -> bool:
    """Whether a cell is suppressed or spells an integer, so that it is read again as one."""
    return cell is None or re.fullmatch("0|[1-9][0-9]*", cell) is not None


def _may_be_a_number(cell: str | None) -> bool:
    return cell is None or cell[0] in "+-.0123456789"


@pytest.mark.parametrize("name", _holding("table"))
@settings(deadline=None, max_examples=60)
@given(
    text=st.lists(CELLS, min_size=1, max_size=7).filter(lambda cells: not all(map(_whole, cells))),
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
        try:
            write(before, path)
        except InputError:
            breaks = name in ("csv", "tsv") and "\u20285" in text
            assert breaks or all(map(_may_be_a_number, text))
            return
        after = load_table(path, TableOptions(header="yes", categories=EVERY_WORD)).data
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
                write(graph, path, ids_path=Path(folder, "nodes.csv"))
                written.append(path.read_bytes())
            assert written[0] == written[1]
