"""Frames in, frames out: a generalized table as pandas, polars and Arrow, and from its folder."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.methods.generalize import generalize

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.core.warnings.GraphveilWarning")

METHOD = gv.Generalize(k=2, known="age,sex,band", attach="visits,ill", levels={"age": "10,20"})


def people(ages):
    return pd.DataFrame(
        {
            "visits": [number % 2 for number in range(len(ages))],
            "age": ages,
            "ill": ["flu", "cold"] * (len(ages) // 2) + ["flu"] * (len(ages) % 2),
            "sex": pd.Categorical(["f" if age % 3 else "m" for age in ages]),
            "band": pd.cut(ages, [0, 30, 60, 200], right=False),
        }
    )


def lowest(cell):
    return float("inf") if cell == "*" else int(cell.partition("-")[0])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(5, 120), min_size=4, max_size=30))
def test_every_frame_has_the_columns_of_the_input_and_ordered_categories(ages):
    frame = people(ages)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = METHOD.anonymize(frame, seed=1)
        arrow = gv.as_estimator(METHOD).fit_transform(
            pa.Table.from_pandas(frame.astype({"band": str})), seed=1
        )
        with tempfile.TemporaryDirectory() as folder:
            read = gv.read_release(release.write(Path(folder, "out")))
    shown, polars, cells = release.to_pandas(), release.to_polars(), release.to_arrow()
    assert list(frame) == list(shown) == polars.columns == cells.column_names
    assert shown["visits"].dtype == frame["visits"].dtype
    assert sorted(shown["visits"]) == sorted(frame["visits"])
    for name in ("age", "sex", "band"):
        values = shown[name].cat.categories.tolist()
        assert shown[name].cat.ordered == cells.schema.field(name).type.ordered == (name != "sex")
        assert values[-1] == "*"
        assert not shown[name].isna().any()
        assert polars.schema[name] == pl.Enum(values)
        assert not read.to_pandas()[name].cat.ordered
        assert set(read.to_pandas()[name].cat.categories) == set(values)
    ends = [lowest(value) for value in shown["age"].cat.categories]
    assert ends == sorted(ends)
    bands = [*map(str, frame["band"].cat.categories), "*"]
    assert shown["band"].cat.categories.tolist() == [
        one for one in bands if one in {*shown["band"], "*"}
    ]
    assert list(range(len(frame))) == shown.index.tolist()
    rows = cells.to_pylist()
    assert rows == polars.to_dicts() == shown.to_dict("records") == arrow.to_pylist()
    assert rows == read.to_arrow().to_pylist()


@pytest.mark.parametrize("method", [gv.Generalize, gv.SuppressK])
def test_attached_columns_keep_their_types_and_only_published_categories(method):
    sizes = pd.Categorical(["low", "high"] * 4, categories=["low", "middle", "high"], ordered=True)
    frame = pd.DataFrame(
        {
            "sex": ["f", "f", "m", "m"] * 2,
            "rate": [1.5, 2.0, float("nan"), -0.25] * 2,
            "yes": [True, False] * 4,
            "day": pd.to_datetime(["2024-01-02", "2023-05-06"] * 4),
            "size": sizes,
            "visits": pd.array([-1, None, 3, 4] * 2, dtype="Int64"),
            "band": pd.cut([3, 40, 40, 70] * 2, [0, 30, 60, 200]),
        }
    )
    attach = [name for name in frame if name != "sex"]
    release = method(k=2, known="sex", attach=attach).anonymize(frame, seed=1)
    shown = release.to_pandas()
    for name in ("rate", "yes", "day", "visits"):
        assert frame[name].dtype == shown[name].dtype, name
        assert sorted(frame[name].dropna()) == sorted(shown[name].dropna())
    assert ["(0, 30]", "(30, 60]", "(60, 200]"] == shown["band"].cat.categories.tolist()
    assert shown["band"].cat.ordered
    assert ["low", "high"] == shown["size"].cat.categories.tolist()
    assert shown["size"].cat.ordered
    polars = gv.as_estimator(method(k=2, known="sex", attach=attach)).fit_transform(
        pl.DataFrame(frame), seed=1
    )
    assert [pl.Float64, pl.Boolean, pl.Int64] == [
        polars.schema[name] for name in ("rate", "yes", "visits")
    ]
    assert polars.schema["day"] == pl.DataFrame(frame).schema["day"]
    assert release.verify(frame).ok


@pytest.mark.parametrize("method", [gv.Generalize, gv.SuppressK])
def test_a_relation_comes_back_as_a_relation(method):
    connection = duckdb.connect()
    people = connection.sql(
        "SELECT * FROM (VALUES (23, 'f', 1.5, DATE '2024-01-02'), (27, 'f', 2.5, NULL), "
        "(31, 'm', 1.5, NULL), (38, NULL, 2.5, NULL)) AS t(age, \"se x\", rate, day)"
    )
    levels = {"levels": {"age": "10"}} if method is gv.Generalize else {}
    anonymizer = method(k=2, known=["age", "se x"], attach=["rate", "day"], **levels)
    release = anonymizer.anonymize(people, seed=1)
    shown = release.to_duckdb(connection)
    assert people.columns == shown.columns
    assert people.types[2:] == shown.types[2:]
    assert list(map(tuple, map(dict.values, release.to_arrow().to_pylist()))) == shown.fetchall()
    texts = [str(one) for one in shown.types[:2]]
    assert all(one.startswith("ENUM(") and one.endswith("'*')") for one in texts)
    if method is gv.Generalize:
        assert "ENUM('20-29', '30-39', '*')" == texts[0]
        assert [("*",)] == shown.aggregate('max("se x")').fetchall()
    again = gv.as_estimator(anonymizer).fit_transform(people, seed=1)
    assert (shown.columns, shown.fetchall()) == (again.columns, again.fetchall())
    assert release.verify(people).ok


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(6)))
def test_the_index_of_a_frame_is_kept_where_its_rows_are(places):
    frame = pd.DataFrame({"age": [20, 25, 31, 34, 40, 41], "n": range(6)}, index=list(places))
    done = generalize(frame, k=2, known=["age"], attach=["n"], levels={"age": "10"}, seed=1)
    shown = done.to_pandas()
    assert frame.index.equals(shown.index)
    assert frame["n"].equals(shown["n"])
