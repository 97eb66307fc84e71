"""Every type of pandas, polars, Arrow and DuckDB, as a column, as ids and as ends of ties.

A type is read by its meaning, or refused by an error of ours that names the column.
"""

from __future__ import annotations

import datetime as dt
import decimal
import subprocess
import sys
import uuid
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.core.errors import GraphveilError

ONE = uuid.UUID(int=7)
DAY = dt.datetime(2024, 3, 1)  # noqa: DTZ001  times without a zone are a type of their own
D = decimal.Decimal

PANDAS = {
    "months": (pd.period_range("2024-01", periods=2, freq="M"), ["2024-01", "2024-02"]),
    "quarters": (pd.period_range("2024-01", periods=2, freq="Q"), ["2024Q1", "2024Q2"]),
    "years": (pd.period_range("2024-01", periods=2, freq="Y"), ["2024", "2025"]),
    "weeks": (pd.period_range("2024-01", periods=2, freq="W"), None),
    "durations": (pd.to_timedelta([24, 36], unit="h"), ["24 hours", "36 hours"]),
    "days that last": (pd.to_timedelta([1, 2], unit="D"), ["1 days", "2 days"]),
    "cut": (pd.cut([1, 9], [0, 5, 10]), ["(0, 5]", "(5, 10]"]),
    "qcut": (pd.qcut([1, 9], 2, precision=0), ["(0.0, 5.0]", "(5.0, 9.0]"]),
    "intervals": (pd.arrays.IntervalArray.from_breaks([0, 1, 2], "left"), ["[0, 1)", "[1, 2)"]),
    "uuids": ([ONE, ONE], [str(ONE)]),
    "whole decimals": ([D(5), D(6)], [5, 6]),
    "decimals": ([D("5.5"), D(6)], None),
    "days": (pd.to_datetime(["2024-03-01", "2024-03-02"]), ["2024-03-01", "2024-03-02"]),
    "times": (pd.to_datetime(["2024-03-01 10:00", None]), ["2024-03-01 10:00:00"]),
    "dates": ([DAY.date()] * 2, ["2024-03-01"]),
    "times of a day": ([dt.time(3, 4)] * 2, ["03:04:00.000000"]),
    "zones": (pd.to_datetime(["2024-03-01"] * 2).tz_localize("UTC"), ["2024-03-01 00:00:00Z"]),
    "nullable": (pd.array([1, None], dtype="Int64"), [1]),
    "booleans": ([True, False], ["false", "true"]),
    "large": ([2**70, 1], ["1", str(2**70)]),
    "unsigned": (np.array([2**64 - 1, 1], np.uint64), ["1", str(2**64 - 1)]),
    "half": (np.array([1, 2], np.float16), [1, 2]),
    "mixed": ([1, "a"], None),
    "sets": ([{1}, {2}], None),
    "complex": ([1j, 2j], None),
    "tuples": ([(1, 2)] * 2, None),
    "bytes": ([b"a", b"b"], ["a", "b"]),
    "bytes of no text": ([b"\xff", b"b"], None),
    "sparse": (pd.arrays.SparseArray([1, 0]), None),
    "strings": (pd.array(["a", "b"], dtype="string"), ["a", "b"]),
    "categories": (pd.Categorical(["b", None]), ["b"]),
}

POLARS = {
    "128 bits": (pl.Series([1, 2], dtype=pl.Int128), None),
    "unsigned": (pl.Series([1, 2**64 - 1], dtype=pl.UInt64), ["1", str(2**64 - 1)]),
    "durations": (pl.Series([dt.timedelta(days=1)] * 2), ["1 days"]),
    "times of a day": (pl.Series([dt.time(1)] * 2), ["01:00:00.000000000"]),
    "categorical": (pl.Series(["a", "b"], dtype=pl.Categorical), ["a", "b"]),
    "enum": (pl.Series(["a", "a"], dtype=pl.Enum(["a", "b"])), ["a"]),
    "objects": (pl.Series([object(), object()], dtype=pl.Object), None),
    "decimals": (pl.Series([D(1), D(2)]), [1, 2]),
    "lists": (pl.Series([[1], [2]]), None),
    "structs": (pl.Series([{"a": 1}, {"a": 2}]), None),
    "nothing": (pl.Series([None, None]), []),
    "bytes": (pl.Series([b"a", b"b"]), ["a", "b"]),
    "arrays": (pl.Series([[1, 2]] * 2, dtype=pl.Array(pl.Int8, 2)), None),
    "days": (pl.Series([DAY] * 2), ["2024-03-01"]),
}

ARROW = {
    "dictionary with a null": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None])),
        ["a"],
    ),
    "runs": (pa.RunEndEncodedArray.from_arrays([1, 2], ["a", "b"]), ["a", "b"]),
    "views": (pa.array(["a", "b"], pa.string_view()), ["a", "b"]),
    "large": (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
    "fixed bytes": (pa.array([b"ab", b"cd"], pa.binary(2)), None),
    "maps": (pa.array([[("a", 1)]] * 2, pa.map_(pa.string(), pa.int64())), None),
    "unions": (pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]), None),
    "wide decimals": (pa.array([D(1), D(2)], pa.decimal256(70, 0)), [1, 2]),
    "months and days": (pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval()), None),
    "uuids": (pa.array([ONE.bytes] * 2, pa.uuid()), [str(ONE)]),
    "json": (pa.array(["{}", "[]"], pa.json_()), ["[]", "{}"]),
}

DUCKDB = {
    "1::HUGEINT": [1],
    "1::UHUGEINT": ["1"],
    "'00000000-0000-0000-0000-000000000007'::UUID": [str(ONE)],
    "INTERVAL '1' MONTH": None,
    "TIME '01:00'": ["01:00:00.000000"],
    "DATE '2024-03-01'": ["2024-03-01"],
    "TIMESTAMP_S '2024-03-01'": ["2024-03-01"],
    "[1]": None,
    "{'a': 1}": None,
    "MAP {'a': 1}": None,
    "union_value(a := 1)": None,
    "'x'::BLOB": ["x"],
    "1.50::DECIMAL(30, 2)": None,
    "2.00::DECIMAL(30, 2)": [2],
    "TRUE": ["true"],
    "123::BIGNUM": None,
}


def cases():
    """Yield a frame with the column x, and the values that it shows, None where it is refused."""
    for name, (values, shown) in PANDAS.items():
        yield pytest.param(pd.DataFrame({"x": values}), shown, id=f"pandas {name}")
    for name, (values, shown) in POLARS.items():
        yield pytest.param(pl.DataFrame({"x": values}), shown, id=f"polars {name}")
    for name, (values, shown) in ARROW.items():
        yield pytest.param(pa.table({"x": values}), shown, id=f"Arrow {name}")
    for value, shown in DUCKDB.items():
        frame = duckdb.sql(f"SELECT {value} AS x FROM range(2)")  # noqa: S608  values of ours
        yield pytest.param(frame, shown, id=f"DuckDB {value}")


@pytest.mark.parametrize(("frame", "shown"), list(cases()))
def test_a_column_is_read_by_its_meaning_or_refused_by_its_name(frame, shown):
    if shown is None:
        with pytest.raises(GraphveilError, match=r"\bx\b") as caught:
            gv.Table.from_arrow(frame)
        assert "\n" not in str(caught.value)
    else:
        assert shown == gv.Table.from_arrow(frame).categories[0].tolist()


def as_column(frame):
    if isinstance(frame, pa.Table):
        return frame.append_column("y", pa.array(["p", "q"]))
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return frame.project("x, 'p' AS y")
    return frame.assign(y="p") if isinstance(frame, pd.DataFrame) else frame.with_columns(y="x")


@pytest.mark.parametrize(("frame", "shown"), list(cases()))
def test_ids_and_ties_of_every_type_are_read_or_refused_by_us(frame, shown):
    reads = [
        lambda data: gv.Table.from_arrow(data, ids="x"),
        lambda data: gv.Graph.from_arrow(data, source="x", target="y"),
        lambda data: gv.Bipartite.from_arrow(data, user="x", item="y"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for read in reads:
            try:
                labels = read(as_column(frame)).labels().tolist()
            except GraphveilError as error:
                assert "\n" not in str(error)  # noqa: PT017  any error of ours will do
            else:
                assert set(map(str, shown)) <= set(map(str, labels)), labels


def test_a_file_of_pandas_is_read_by_its_meaning_where_pandas_is_not_there(tmp_path):
    told = {
        b"ARROW:extension:name": b"pandas.period",
        b"ARROW:extension:metadata": b'{"freq": "M"}',
    }
    schema = pa.schema([pa.field("born", pa.int64(), metadata=told), ("sex", pa.string())])
    parquet.write_table(pa.table([[648, 649], ["f", "m"]], schema=schema), tmp_path / "a.parquet")
    code = f"""
import graphveil as gv
print(gv.read_table({str(tmp_path / "a.parquet")!r}).categories[0].tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "['2024-01', '2024-02']\n" == done.stdout


def test_what_is_dropped_need_not_be_readable():
    mixed = pd.DataFrame({"x": [1, "a"], "sex": ["f", "m"]})
    assert ("sex",) == gv.Table.from_arrow(mixed, drop=["x"]).columns
    objects = pl.DataFrame({"x": pl.Series([object(), {}], dtype=pl.Object), "sex": ["f", "m"]})
    assert ("sex",) == gv.Table.from_arrow(objects, drop=["x"]).columns
    lists = duckdb.sql("SELECT [1] AS x, 'f' AS sex")
    assert ("sex",) == gv.Table.from_arrow(lists, drop=["x"]).columns
