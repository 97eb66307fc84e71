"""Whatever the bytes, a reader gives a container or an InputError, and soon."""

from __future__ import annotations

import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
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

SLOWEST = 5.0
PLAIN = Graph.from_edges([0, 1, 2, 5], [1, 2, 0, 4], n=7)
NAMED = Graph.from_edges(["ann", "bob", "é x"], ["bob", "cyd", "007"])
LIKES = Bipartite.from_pairs([0, 1, 2, 2], [1, 0, 0, 2])
PEOPLE = Table.from_columns({"sex": ["f", "m", "*", "f"], "age": [30, 40, 30, 50]})

LOADERS = {
    "graph": (
        load_graph,
        (GraphOptions(), GraphOptions(directed="symmetrize", ignore_weights=True)),
    ),
    "bipartite": (
        load_bipartite,
        (
            BipartiteOptions(),
            BipartiteOptions(layout="lists"),
            BipartiteOptions(ignore_weights=True),
        ),
    ),
    "table": (load_table, (TableOptions(), TableOptions(header="no"))),
}
CASES = [
    (entry.name, kind, compression)
    for entry in FORMATS.values()
    for kind in LOADERS
    if kind in entry.kinds
    for compression in (("", ".gz", ".zst") if entry.compressible else ("",))
]


@cache
def seeds(name: str, kind: str, compression: str) -> list[bytes]:
    """Return valid files of this format."""
    with tempfile.TemporaryDirectory() as folder:
        return written(name, kind, compression, Path(folder))


def written(name: str, kind: str, compression: str, folder: Path) -> list[bytes]:
    """Write valid files into a folder and return their bytes."""
    path = folder / f"seed{FORMATS[name].extensions[0]}{compression}"
    nodes = folder / "nodes.csv"
    found = []
    if kind == "table":
        write(PEOPLE, path)
    elif kind == "bipartite":
        write(LIKES, path, ids_path=nodes)
    else:
        write(PLAIN, path, ids_path=nodes)
        if FORMATS[name].text_ids:
            found.append(path.read_bytes())
            write(NAMED, path, ids_path=nodes)
    return [*found, path.read_bytes()]


def mutated(data: st.DataObject, content: bytes) -> bytes:
    """Return the content after a few small or large accidents."""
    text = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4), label="accidents")):
        place = data.draw(st.integers(0, len(text)), label="place")
        kind = data.draw(
            st.sampled_from(["flip", "cut", "insert", "drop", "repeat", "digits"]), label="kind"
        )
        if kind == "flip" and place < len(text):
            text[place] = data.draw(st.integers(0, 255), label="byte")
        elif kind == "cut":
            del text[place:]
        elif kind == "insert":
            text[place:place] = data.draw(
                st.sampled_from(
                    [b"\0", b"\n", b'"', b",", b"\xff", b"nan", b"-1", b"[", b"<", b"*"]
                )
            )
        elif kind == "drop":
            del text[place : place + data.draw(st.integers(1, 20))]
        elif kind == "repeat":
            text[place:place] = text[place : place + 30]
        elif kind == "digits":
            text[place:place] = b"9" * data.draw(st.sampled_from([1, 5, 19, 30]))
    return bytes(text)


def read(path: Path, kind: str) -> None:
    """Read in every way; whatever comes must be a sound container or an InputError of one line."""
    load, ways = LOADERS[kind]
    for options in ways:
        start = time.process_time()
        message, container = "", None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                container = load(path, options).data
        except InputError as error:
            message = str(error)
        assert (container is None) == bool(message)
        assert isinstance(container, Graph | Bipartite | Table | None)
        assert "\n" not in message
        assert len(message) < 500
        assert time.process_time() - start < SLOWEST


@pytest.mark.parametrize(("name", "kind", "compression"), CASES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_a_damaged_file_gives_a_container_or_one_clear_line(name, kind, compression, data):
    content = data.draw(st.sampled_from(seeds(name, kind, compression)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data{FORMATS[name].extensions[0]}{compression}")
        path.write_bytes(mutated(data, content))
        read(path, kind)


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=25)
@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)))
def test_random_bytes_give_a_container_or_one_clear_line(name, content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data{FORMATS[name].extensions[0]}")
        path.write_bytes(content)
        for kind in FORMATS[name].kinds:
            if kind in LOADERS:
                read(path, kind)


@settings(deadline=None, max_examples=80)
@given(
    rows=st.lists(
        st.lists(
            st.sampled_from(
                ["0", "1", "2", "-1", "nan", "", "x", "1.5", "007", '"a b"', '"', "#c"]
            ),
            min_size=1,
            max_size=3,
        ),
        max_size=6,
    ),
    delimiter=st.sampled_from([",", "\t", ";", " ", "  ", ", "]),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_odd_rows_of_text_give_a_container_or_one_clear_line(rows, delimiter, ending):
    content = ending.join(delimiter.join(row) for row in rows)
    with tempfile.TemporaryDirectory() as folder:
        for extension in (".csv", ".tsv", ".txt"):
            path = Path(folder, f"data{extension}")
            path.write_text(content, newline="")
            for kind in FORMATS["csv" if extension == ".csv" else "text"].kinds:
                if kind in LOADERS:
                    read(path, kind)


def test_sizes_that_no_file_could_fill_are_refused_before_memory_is_taken(tmp_path):
    huge = {
        "a.mtx": "%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 2\n",
        "b.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 99999999999\n1 2\n",
        "c.nauty": "!n=2000000000\n0: 1;\n",
        "d.net": "*Vertices 2000000000\n*Edges\n1 2\n",
        "e.graph": "2000000000 1\n2\n1\n",
    }
    for name, content in huge.items():
        path = tmp_path / name
        path.write_text(content)
        with pytest.raises(InputError):
            load_graph(path)
