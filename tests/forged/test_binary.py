"""Parquet follows from its cells alone, and what a hostile file asks for has a limit."""

from __future__ import annotations

import gzip
import io
import json
import resource
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from forged.kit import (
    COLUMNAR,
    WORDS,
    data_file,
    forge,
    parquet_of,
    read_manifest,
    reseal,
)
from forged.test_text import GRAPH, ROWS, assert_whole, written
from graphveil.core.errors import ResourceError
from graphveil.io import FORMATS
from graphveil.io.readers.columnar import write_tables
from graphveil.verify import verify

TABLE = gv.Table.from_columns({"a.b": ["x", "y", "*", "x"], "zip=code": [7, 8, 7, None]})
EXPECTED = (
    "50415231150015b00115b0012c1508150a150615061c000000020000000801800204040000090000000002ac04"
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000001504151c151c4c150415001200000300000074656103"
    "0000007279651500151215122c15081510150615061c0000000200000003070103041504193c35001806736368"
    "656d61150400150425021806736f7572636500150c250218046974656d25004c1c0000001608191c192c26001c"
    "15041925060a191806736f757263651500160816da0116da012608491c1500150a1502003c2906192600080000"
    "0026001c150c19350006101918046974656d1500160816701670269a0226e201292c1504150015020015001510"
    "1502003c161219061926020600000016ca021608260816ca0200281767726170687665696c2076657273696f6e"
    "20312e302e30192c1c00001c000000ce00000050415231"
)
"""A small table in the one form, as pyarrow 20, 22, 24 and 26 wrote it."""


def in_one_form(tables) -> bytes:
    sink = io.BytesIO()
    write_tables(tables, sink, FORMATS["parquet"])
    return sink.getvalue()


@pytest.mark.parametrize("data", [GRAPH, ROWS], ids=["graph", "users"])
@pytest.mark.parametrize("forgery", [*COLUMNAR, *WORDS])
def test_what_a_parquet_file_says_beside_its_cells_is_refused(tmp_path, data, forgery):
    if data is GRAPH and forgery in WORDS:
        return
    folder = written(data, tmp_path, "parquet")
    before = data_file(folder).read_bytes()
    reseal(folder)
    assert_whole(folder)
    forge(data_file(folder), {**COLUMNAR, **WORDS}[forgery])
    assert before != data_file(folder).read_bytes()
    assert ["data"] == [check.name for check in verify(folder).failures()][:1]


@pytest.mark.parametrize("data", [GRAPH, ROWS], ids=["graph", "users"])
def test_parquet_written_again_is_the_same_file(tmp_path, data):
    path = data_file(written(data, tmp_path, "parquet"))
    table = parquet.read_table(path)
    assert path.read_bytes() == in_one_form([table])
    assert path.read_bytes() == parquet_of(table)
    assert "graphveil version 1.0.0" == parquet.read_metadata(path).created_by


def test_a_file_is_the_same_however_its_rows_came():
    n = (1 << 20) + 5
    table = pa.table(
        {"user": np.arange(n), "item": pa.array([f"item {i % 70_000}" for i in range(n)])}
    )
    parts = [table.slice(start, 300_001) for start in range(0, n, 300_001)]
    whole = in_one_form([table])
    assert whole == in_one_form(parts)
    assert whole == in_one_form([table.slice(0, 0), *parts, table.slice(0, 0)])
    assert [1 << 20, 5] == [
        parquet.ParquetFile(io.BytesIO(whole)).metadata.row_group(group).num_rows
        for group in range(2)
    ]


def test_a_release_of_more_than_one_group_of_rows_verifies(tmp_path):
    n = (1 << 20) + 7
    wide = gv.Bipartite(np.arange(n + 1), np.zeros(n, np.int32), 1, None, np.array(["tea"]))
    folder = written(wide, tmp_path, "parquet")
    assert [] == verify(folder).failures()


def test_names_of_columns_with_dots_and_signs_verify(tmp_path):
    folder = written(TABLE, tmp_path, "parquet")
    assert "data" not in {check.name for check in verify(folder).failures()}


def test_every_version_of_the_library_from_20_on_writes_these_bytes():
    cells = {"source": [0, 0, 1, 300], "item": ["tea", "tea", "rye", None]}
    raw = in_one_form([pa.table(cells)])
    assert (b"PAR1", b"PAR1") == (raw[:4], raw[-4:])
    assert EXPECTED == raw.hex()


def failed(folder, **limits):
    return {check.name: check.detail for check in verify(folder, **limits).failures()}


NUMBERS = {
    "users": gv.Bipartite.from_lists([[3, 10], [3, 10], []]),
    "rows": gv.Table.from_columns({"town": ["x", "y", "x"], "zip": [7, 12, None]}),
    "text": gv.Table.from_columns({"town": ["x", "y"], "zip": ["7", "12"]}).without_unused(),
    "nothing": gv.Table.from_columns({"town": ["x", "y"], "zip": [None] * 2}).without_unused(),
}


@pytest.mark.parametrize("data", NUMBERS.values(), ids=NUMBERS)
def test_whole_numbers_stand_as_integers_in_parquet(tmp_path, data):
    folder = written(data, tmp_path, "parquet")
    reseal(folder)
    assert "data" not in failed(folder)
    path = data_file(folder)
    table = parquet.read_table(path)
    texts = table.set_column(1, table.column_names[1], table.column(1).cast(pa.string()))
    path.write_bytes(parquet_of(texts))
    reseal(folder)
    assert "stores whole numbers as string instead of int64" in failed(folder)["data"]


def test_a_file_above_the_limit_is_not_read(tmp_path):
    folder = written(GRAPH, tmp_path, "csv")
    size = (folder / "data.csv").stat().st_size
    assert {} == failed(folder, limit_bytes=size)
    expected = f"data.csv contains {size} bytes, above the limit of {size - 1}. Raise limit_bytes"
    with pytest.raises(ResourceError, match=expected):
        verify(folder, limit_bytes=size - 1)
    with pytest.raises(ResourceError) as caught:
        gv.verify_release(folder, limit_bytes=size - 1)
    assert "Raise --limit if you trust it" in caught.value.message.flags


def bomb_of_rows() -> bytes:
    """Return a small Parquet file of 2^23 rows: one number, over and over."""
    n = 1 << 20
    table = pa.table({"source": np.zeros(n, np.int64), "target": np.zeros(n, np.int64)})
    sink = io.BytesIO()
    with parquet.ParquetWriter(sink, table.schema, compression="none") as writer:
        for _ in range(8):
            writer.write_table(table, row_group_size=n)
    return sink.getvalue()


def test_few_bytes_of_parquet_that_stand_for_many_rows_are_refused(tmp_path):
    folder = written(GRAPH, tmp_path, "parquet")
    raw = bomb_of_rows()
    assert len(raw) < 1 << 17
    forge(data_file(folder), lambda _: raw)
    expected = f"contains {1 << 27} bytes, above the limit"
    assert expected in failed(folder, limit_bytes=(1 << 27) - 1)["data"]


def test_a_long_word_that_stands_for_many_cells_is_refused(tmp_path):
    folder = written(ROWS, tmp_path, "parquet")
    n = 20_000
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array(["a" * 10**6]))
    forge(data_file(folder), lambda _: parquet_of(pa.table({"user": np.arange(n), "item": word})))
    assert (folder / "data.parquet").stat().st_size < 2 << 20
    tracemalloc.start()
    assert f"contains {n * 10**6} bytes, above the limit" in failed(folder)["data"]
    assert tracemalloc.get_traced_memory()[1] < 1 << 28
    tracemalloc.stop()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 6 << 20


def with_broken_levels(content: bytes) -> bytes:
    """Return a Parquet file whose footer counts fewer levels of a column than there are."""
    size = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - size : -8]
    start = footer.index(b"\x19\x26")
    footer = footer[: start + 1] + b"\x16" + footer[start + 2 : start + 3] + footer[start + 4 :]
    return content[: -8 - size] + footer + len(footer).to_bytes(4, "little") + content[-4:]


def test_a_footer_that_would_end_the_process_is_a_check_that_fails(tmp_path):
    folder = written(ROWS, tmp_path, "parquet")
    forge(data_file(folder), with_broken_levels)
    assert "data.parquet" in failed(folder)["data"]


def test_text_packed_under_its_own_name_is_not_unpacked(tmp_path):
    folder = written(GRAPH, tmp_path, "csv")
    forge(folder / "data.csv", lambda content: gzip.compress(content + bytes(1 << 27)))
    assert (folder / "data.csv").stat().st_size < 1 << 20
    assert "data.csv" in failed(folder)["data"]


@pytest.mark.parametrize("form", ["arrow", "npz", "csv.gz", "csv.zst"])
def test_a_manifest_that_names_a_format_with_many_forms_is_refused(tmp_path, form):
    folder = written(GRAPH, tmp_path, "csv")
    manifest = read_manifest(folder)
    name = f"data.{form}"
    (folder / "data.csv").rename(folder / name)
    manifest["data"]["files"][0] |= {"name": name, "format": form.partition(".")[0]}
    reseal(folder, manifest)
    assert "description" in failed(folder)


def test_a_manifest_of_many_columns_is_refused_in_bounded_time(tmp_path):
    folder = written(TABLE, tmp_path, "csv")
    manifest = read_manifest(folder)
    manifest["data"]["files"][0]["columns"] = [f"c{number}" for number in range(200_000)]
    reseal(folder, manifest)
    assert "data.csv" in failed(folder)["data"]


def test_a_huge_manifest_is_not_decoded(tmp_path):
    folder = written(GRAPH, tmp_path, "csv")
    with (folder / "release.json").open("ab") as stream:
        stream.truncate(1 << 30)
    assert ["manifest"] == list(failed(folder))
    assert "more than 16777216 bytes" in failed(folder)["manifest"]
    with pytest.raises(gv.GraphveilError, match="more than"):
        gv.read_release(folder)


@pytest.mark.parametrize("form", ["npz", "arrow", "csv.gz", "tsv.zst", "gml.gz"])
def test_a_format_with_many_forms_is_refused_where_it_is_asked_for(tmp_path, form):
    with pytest.raises(gv.GraphveilError, match=f"{form} is not a format of a release.*convert"):
        written(GRAPH, tmp_path, form)


def test_the_manifest_says_no_more_than_it_must(tmp_path):
    folder = written(GRAPH, tmp_path, "csv")
    manifest = read_manifest(folder)
    assert gv.__version__ == manifest["version"]
    assert "tool" not in failed(folder)
    for version in ("0.1.182736455463728190", "1.0+ann.knows.bob", "0.1.1827", "0.1.00"):
        manifest["version"] = version
        reseal(folder, manifest)
        assert "is not a version" in failed(folder)["tool"]
        assert json.loads((folder / "release.json").read_bytes())["version"] == version


def test_a_release_of_another_version_is_undecided(tmp_path):
    folder = written(GRAPH, tmp_path, "csv")
    manifest = read_manifest(folder)
    manifest["version"] = "12.3"
    reseal(folder, manifest)
    verdict = gv.verify_release(folder)
    assert {} == failed(folder)
    assert 4 == verdict.exit_code
    assert {"tool": "version '12.3'"} == {c.name: c.needs for c in verdict.undecided}
    manifest["claim"]["sentence"] = "Nobody can be found."
    reseal(folder, manifest)
    verdict = gv.verify_release(folder)
    assert 4 == verdict.exit_code
    assert {"tool", "claim in words"} == {c.name for c in verdict.undecided}
    assert "Nobody can be found." not in str(verdict).partition("\n")[0]
    manifest["version"] = gv.__version__
    reseal(folder, manifest)
    assert ["claim in words"] == list(failed(folder))
