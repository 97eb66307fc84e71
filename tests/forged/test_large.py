"""Large files are compared to their last byte: an edit anywhere in them is noticed.

Every other forgery of these tests is of a folder of a few hundred bytes. A checker that looks at
the beginning of a file, or of a block of its rows, would notice all of them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from emptied import emptied_database
from forged.kit import (
    COLUMNAR,
    WORDS,
    data_file,
    parquet_of,
    read_manifest,
    reseal,
    rewritten,
    with_words,
)
from forged.test_text import written
from graphveil.verify import verify
from graphveil.verify.database import UnreadableError, database

LEAST_BYTES = 120_000
BLOCK = 1 << 18
"""The rows that the checker writes again at a time."""


@cache
def graph(n=30_000):
    """Return a graph in which each of n nodes has two neighbors, of n others."""
    low, one = np.arange(n), np.random.Generator(np.random.PCG64(6)).permutation(n)
    return gv.Graph.from_edges([*low, *low], [*(one + n), *((one + n // 2) % n + n)], n=2 * n)


@cache
def rows(mark="", n=6_000):
    """Return users of four items each; every item has a mark in its name."""
    first = np.random.Generator(np.random.PCG64(7)).integers(0, 1000, (n, 1))
    items = first + np.array([0, 7, 19, 40])
    return gv.Bipartite.from_lists([[f"item{mark} {i}" for i in row] for row in items.tolist()])


@cache
def cells(mark="", n=18_000):
    """Return a table of three columns; values of the first have a mark, and some are suppressed."""
    values = np.random.Generator(np.random.PCG64(8)).integers(0, 700, (3, n))
    columns = zip((f"a{mark}", "b", "c"), values.tolist(), strict=True)
    return gv.Table.from_columns(
        {word[0]: [f"{word}{v}" if v else "*" for v in column] for word, column in columns}
    )


TEXT = [
    *((graph, (), form) for form in ("csv", "tsv", "text", "graphml")),
    *((rows, mark, form) for form in ("csv", "tsv", "text") for mark in ((), (",",))),
    *((cells, mark, form) for form in ("csv", "tsv") for mark in ((), (",",))),
]
PARQUET = {graph: 20_000, rows: 9_000, cells: 16_000}
OF_NUMBERS = {"plain numbers", "narrow numbers", "numbers without a sign"}
"""Forgeries that change nothing in a table of text."""


@pytest.fixture(autouse=True)
def one_database(monkeypatch):
    monkeypatch.setattr("graphveil.verify.check.database", emptied_database)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Return the folder of a release of such data, made and verified once."""

    @cache
    def made(data, arguments, form):
        place = tmp_path_factory.mktemp("large")
        folder = written(data(*arguments), place, form)
        reseal(folder)
        assert [] == verify(folder).failures()
        return folder

    return made


def failed(folder):
    return {check.name: check.detail for check in verify(folder).failures()}


def places(content):
    """Return the numbers of lines with cells: the first, those at powers of two, the last.

    Lines are numbered from 1, as the checker does it.
    """
    size, first = len(content), content.index(b"\n") + 1
    bytes_ = [first, *(1 << power for power in range(12, size.bit_length())), size // 2, size - 2]
    assert size >= LEAST_BYTES
    return sorted({content.count(b"\n", 0, at) + 1 for at in bytes_ if first <= at < size})


def respelled(line):
    """Return a line whose cells are read as before: a nought, or other quotes."""
    digits = [at for at, byte in enumerate(line) if 48 <= byte < 58]
    if line[:1].isdigit() or line.lstrip().startswith(b"<"):
        return line[: digits[0]] + b"0" + line[digits[0] :]
    before, mark, last = line.rpartition(b"\t" if b"\t" in line else b",")
    return before + mark + (last[1:-1] if last.startswith(b'"') else b'"' + last + b'"')


def with_line(content, number, change):
    """Return text with one of its lines changed."""
    lines = content.split(b"\n")
    lines[number - 1] = change(lines[number - 1])
    return b"\n".join(lines)


def assert_noticed(folder, name, numbers, change):
    """Assert that a change of any of these lines is noticed, and that the line is named."""
    path = folder / name
    before = path.read_bytes()
    manifest = (folder / "release.json").read_bytes()
    try:
        for number in numbers:
            path.write_bytes(with_line(before, number, change))
            reseal(folder)
            assert f"{name}, line {number}" in failed(folder).get("data", "nothing fails")
    finally:
        path.write_bytes(before)
        (folder / "release.json").write_bytes(manifest)


def name_of(value):
    return getattr(value, "__name__", None) or ("quoted" if value == (",",) else None)


@pytest.mark.parametrize(("data", "mark", "form"), TEXT, ids=name_of)
def test_another_spelling_anywhere_in_a_large_file_is_noticed(data, mark, form, release):
    folder = release(data, mark, form)
    path = data_file(folder)
    content = path.read_bytes()
    ends = content.count(b"\n") - 2 if form == "graphml" else content.count(b"\n")
    numbers = {min(max(number, 4 if form == "graphml" else 2), ends) for number in places(content)}
    assert_noticed(folder, path.name, sorted(numbers), respelled)


@pytest.mark.parametrize(("data", "name"), [(graph, "nodes.csv"), (rows, "users.csv")])
def test_another_spelling_anywhere_in_a_long_list_of_ids_is_noticed(data, name, tmp_path):
    folder = written(data(n=30_000), tmp_path, "csv")
    assert_noticed(folder, name, places((folder / name).read_bytes()), respelled)


@pytest.mark.parametrize("name", ["data.csv", "nodes.csv"])
def test_another_spelling_in_any_block_of_rows_is_noticed(name, tmp_path):
    """Beyond so many rows a file is compared block by block."""
    folder = written(graph(BLOCK + 1), tmp_path, "csv")
    rows_ = (folder / name).read_bytes().count(b"\n") - 1
    assert 2 * BLOCK < rows_ <= 2 * BLOCK + 2
    at = {1, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK * 3 // 2, 2 * BLOCK, 2 * BLOCK + 1, rows_}
    assert_noticed(folder, name, sorted(row + 1 for row in at), respelled)


def at_the(place, words):
    """Return a list of words with one that no row has at its beginning, middle or end."""
    middle = {"beginning": 0, "middle": len(words) // 2, "end": len(words)}[place]
    return [*words[:middle], "ann is 0", *words[middle:]]


UNUSED = {
    f"an unused word at the {place}": rewritten(with_words(lambda w, place=place: at_the(place, w)))
    for place in ("beginning", "middle", "end")
}


@pytest.mark.parametrize("data", PARQUET, ids=name_of)
def test_what_a_large_parquet_file_says_beside_its_cells_is_noticed(data, tmp_path):
    folder = written(data(n=PARQUET[data]), tmp_path, "parquet")
    assert [] == verify(folder).failures()
    path = data_file(folder)
    before = path.read_bytes()
    assert len(before) > 1 << 16
    texts = {} if data is graph else {**WORDS, **UNUSED}
    for name, forgery in {**COLUMNAR, **texts}.items():
        path.write_bytes(forgery(before))
        reseal(folder)
        other = path.read_bytes() != before
        assert other == ("data.parquet" in failed(folder).get("data", "")), name
        assert other or name in OF_NUMBERS, name


@pytest.mark.parametrize(
    ("data", "form", "name"),
    [
        *((graph, form, None) for form in ("csv", "graphml", "parquet")),
        (cells, "parquet", None),
        (graph, "csv", "nodes.csv"),
    ],
    ids=name_of,
)
def test_another_byte_anywhere_in_a_large_file_is_noticed_by_its_digest(data, form, name, release):
    """The cells may be read as before, or as others of which the claim is true."""
    folder = release(data, (), form)
    path = data_file(folder) if name is None else folder / name
    before = path.read_bytes()
    size = len(before)
    powers = [1 << power for power in range(10, size.bit_length(), 2)]
    try:
        for at in sorted({0, *powers, size - powers[0], size // 2, size - 1}):
            path.write_bytes(before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])
            assert f"{path.name} has SHA-256" in failed(folder)["files"]
    finally:
        path.write_bytes(before)


def test_a_blank_anywhere_in_a_large_manifest_is_noticed(tmp_path):
    columns = {f"column {number} {'x' * 5000}": ["x", "x"] for number in range(30)}
    folder = written(gv.Table.from_columns(columns), tmp_path, "csv")
    path = folder / "release.json"
    before = path.read_bytes()
    assert [] == verify(folder).failures()
    for number in places(before):
        path.write_bytes(with_line(before, number, lambda line: b" " + line))
        assert f"release.json, line {number}:" in failed(folder)["manifest"]


def test_a_few_kilobytes_that_hold_millions_of_rows_are_not_unpacked(tmp_path, monkeypatch):
    n = 16_000_000
    table = gv.Table.from_columns({"town": ["ab"] * 20})
    folder = gv.ClusterK(k=5).anonymize(table).write(tmp_path / "out", format="parquet")
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array(["ab"]))
    data_file(folder).write_bytes(parquet_of(pa.table({"town": words})))
    assert data_file(folder).stat().st_size < 100_000
    manifest = read_manifest(folder)
    manifest["data"]["files"][0]["rows"] = n
    manifest["data"]["counts"]["rows"] = n
    reseal(folder, manifest)
    monkeypatch.setattr(parquet.ParquetFile, "read", lambda *_, **__: pytest.fail("unpacked"))
    verdict = verify(folder)
    [check] = [check for check in verdict.checks if check.name == "data"]
    assert ("fails", "--limit") == (check.outcome, check.needs)


def test_content_is_unpacked_up_to_a_fortieth_of_the_limit_or_a_thousandfold(tmp_path):
    with database([tmp_path], limit_bytes=40_000) as db:
        db.refuse_unpacked(1_000, of=1, name="data.parquet")
        db.refuse_unpacked(40_000, of=40, name="data.parquet")
        for size, of in ((1_001, 1), (39_001, 39), (40_001, 40_001)):
            with pytest.raises(UnreadableError, match=r"data\.parquet") as raised:
                db.refuse_unpacked(size, of=of, name="data.parquet")
            assert "--limit" == raised.value.needs
