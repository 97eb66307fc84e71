"""Tables generalized by levels: what is published, and what is refused in which words."""

from __future__ import annotations

import datetime as dt
import gzip
import io
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from msgspec.structs import astuple

import graphveil as gv
from graphveil.claims.manifest import read_manifest
from graphveil.core.errors import DataError, GraphveilError, UsageError
from graphveil.methods.generalize import generalize, read_levels, vectors
from graphveil.methods.generalize.levels import column_of, values_of
from shared_data import shared

JOBS = "nurse;Care;*\nclerk;Office;*\ncook;Care;*\n"


def levels_of(values, levels, date_format=None):
    column = column_of(values_of("x", pa.array(values), ["*"]), levels, date_format)
    return [
        [column.hierarchy.texts[v][column.hierarchy.nodes[v, leaf]] for leaf in column.leaves]
        for v in range(1, len(column.hierarchy.texts))
    ]


@pytest.mark.parametrize(
    ("values", "levels", "expected"),
    [
        ([3, 12, 19], "5,10", [["0-4", "10-14", "15-19"], ["0-9", "10-19", "10-19"], ["*"] * 3]),
        ([-3, 12, 19], "10", [["[-10, 0)", "[10, 20)", "[10, 20)"], ["*"] * 3]),
        (
            [0.3, 0.95, 1.0],
            "0.1,0.5",
            [
                ["[0.3, 0.4)", "[0.9, 1)", "[1, 1.1)"],
                ["[0, 0.5)", "[0.5, 1)", "[1, 1.5)"],
                ["*"] * 3,
            ],
        ),
        ([9, 18, 64, 65], "edges:18,65", [["<18", "18-64", "18-64", ">=65"], ["*"] * 4]),
        (
            ["01067", "01099", "10115"],
            "prefix:4,2",
            [["0106*", "0109*", "1011*"], ["01***", "01***", "10***"], ["*"] * 3],
        ),
        (
            ["E1", "E11", "E110", "E1165", "I10"],
            "prefix:4,3,1",
            [
                ["E1", "E11", "E110*", "E116*", "I10"],
                ["E1", "E11*", "E11*", "E11*", "I10*"],
                ["E*", "E*", "E*", "E*", "I*"],
                ["*"] * 5,
            ],
        ),
        (
            ["2024-02-29", "2024-12-31"],
            "month,quarter,year,decade",
            [
                ["2024-02", "2024-12"],
                ["2024-Q1", "2024-Q4"],
                ["2024"] * 2,
                ["2020-2029"] * 2,
                ["*"] * 2,
            ],
        ),
        ([dt.date(2024, 12, 30), dt.date(2025, 1, 2)], "week", [["2025-W01"] * 2, ["*"] * 2]),
        (["f", "m", None], "stars", [["*"] * 3]),
    ],
)
def test_a_rule_gives_these_levels(values, levels, expected):
    assert expected == levels_of(values, levels)


def test_dates_are_read_as_the_owner_says():
    assert [["2024-04"], ["*"]] == levels_of(["03/04/2024"], "month", "%d/%m/%Y")


def test_automatic_edges_hold_their_values_nest_and_are_said_to_come_from_the_data():
    column = column_of(values_of("x", pa.array([*range(100)] * 2), ["*"]), "auto")
    assert column.hierarchy.from_the_data
    assert 2 <= len(set(column.hierarchy.texts[-2])) <= 3
    for level in column.hierarchy.texts[1:-1]:
        for text in level:
            assert "-" in text or text[0] in "<>" or text.isdigit()


def test_missing_cells_are_published_as_a_star_and_equal_those_that_lost_everything():
    frame = pd.DataFrame({"sex": ["f", "f", None, "m", "*"], "n": [1, 2, 3, 4, 5]})
    done = generalize(frame, k=2, known=["sex"], attach=["n"], seed=1)
    cells = done.to_pandas()["sex"].tolist()
    assert ["f", "f", "*", "*", "*"] == cells
    assert [2, 3] == sorted(Counter(done.classes.tolist()).values())
    assert [1, 2, 3, 4, 5] == done.to_pandas()["n"].tolist()


def test_columns_keep_the_order_of_the_input_and_categories_are_ordered_with_the_star_last():
    frame = pd.DataFrame(
        {"d": [1, 2, 3, 4], "age": [20, 25, 31, 99], "b": ["x"] * 4, "c": [1.5] * 4}
    )
    done = generalize(
        frame, k=2, known=["b", "age"], attach=["c"], drop=["d"], levels={"age": "10,20"}, seed=0
    )
    shown = done.to_pandas()
    assert ["age", "b", "c"] == shown.columns.tolist()
    assert shown["age"].cat.ordered
    assert ["20-29", "*"] == shown["age"].cat.categories.tolist()


def refusal(**arguments):
    with pytest.raises(GraphveilError) as refused:
        generalize(**arguments)
    return refused.value.message.flags


AGES = pd.DataFrame({"age": [3, 4, 5, 6], "sex": ["f", "m", "f", "m"]})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"known": ["age"]}, ["no role for sex", "--known", "--attach", "--drop"]),
        ({"known": ["age", "sex"], "drop": ["sex"]}, ["'sex'", "known and drop"]),
        ({"known": ["age"], "attach": ["sxe"]}, ["'sxe' for attach", "Did you mean sex?"]),
        ({"known": [], "attach": ["age", "sex"]}, ["none of the 2 columns"]),
        ({"attach": ["age", "sex"]}, ["none of the 2 columns"]),
        ({"k": 5}, ["k=5", "4 rows"]),
        ({"k": 1}, ["k=1"]),
        (
            {},
            [
                "age has numbers and no levels",
                "--levels age=auto",
                "--levels age=5,10,20",
                "--attach age",
                "--drop age",
            ],
        ),
        ({"levels": {"age": "5,8"}}, ["age=5,8: 8 is not a multiple of 5"]),
        ({"levels": {"age": "5,1.5"}}, ["age=5,1.5: 1.5 is not a multiple of 5"]),
        ({"levels": {"age": "0"}}, ["age=0", "positive"]),
        ({"levels": {"age": "edges:9,4"}}, ["edges:9,4"]),
        ({"levels": {"sex": "prefix:2,3", "age": "5"}}, ["prefix:2,3"]),
        ({"levels": {"age": "deciles"}}, ["age: deciles", "auto"]),
        ({"levels": {"agee": "5"}}, ["'agee' for levels", "Did you mean age?"]),
        (
            {"levels": {"sex": "5", "age": "5"}},
            ["column sex: f (row 0) is not a number", "prefix:2"],
        ),
        (
            {"levels": {"age": "5"}, "diverse": {"sex": 2}},
            ["'sex'", "not attached", "--attach sex"],
        ),
        ({"levels": {"age": "5"}, "attach": ["sex"], "diverse": {"sex": 3}}, ["sex=3", "2 values"]),
        (
            {"levels": {"age": "5"}, "attach": ["sex"], "diverse": {"sex": "entropy:3"}},
            ["2 values"],
        ),
        ({"levels": {"age": "5"}, "attach": ["sex"], "close": {"sex": 1.5}}, ["sex=1.5"]),
        ({"levels": {"age": "5"}, "attach": ["sex"], "close": {"sex": ".12345"}}, ["4 digits"]),
    ],
)
def test_what_is_wrong_is_named(arguments, named):
    said = refusal(**{"frame": AGES, "k": 2, **arguments})
    for one in named:
        assert one in said
    assert "\n" not in said


def released(values, levels):
    """Return a release of one column in classes of two."""
    frame = pd.DataFrame({"size": values})
    return gv.Generalize(k=2, levels={"size": levels}).anonymize(frame)


@pytest.mark.parametrize(
    ("values", "levels", "bounds"),
    [
        ([3, 40], "stars", {(3, 3), (40, 40)}),
        ([-5, 40], "stars", {(-5, -5), (40, 40)}),
        ([0.5, 40.25], "stars", {(0.5, 0.5), (40.25, 40.25)}),
    ],
)
def test_bounds_of_values_are_the_values(values, levels, bounds):
    release = released([*values, *values], levels)
    ends = release.bounds("size")
    assert ["size_low", "size_high"] == ends.column_names
    assert bounds == set(zip(*(ends[name].to_pylist() for name in ends.column_names), strict=True))
    assert {low for low, _ in bounds} == set(release.midpoints("size").tolist())


@pytest.mark.parametrize(
    ("values", "levels", "low", "high", "middle"),
    [
        ([21, 38], "20", 20, 39, 29.5),
        ([-3, -8], "10", -10, 0, -5),
        ([0.25, 0.5], "1", 0, 1, 0.5),
        ([3, 4], "edges:18,65", -np.inf, 18, np.nan),
        ([70, 80], "edges:18,65", 65, np.inf, np.nan),
        ([20, 60], "edges:18,65", 18, 64, 41),
        ([1, 2], "stars", np.nan, np.nan, np.nan),
    ],
)
def test_bounds_of_intervals_are_their_ends(values, levels, low, high, middle):
    release = released(values, levels)
    ends = release.bounds("size")
    assert np.array_equal([low] * 2, ends["size_low"].to_numpy(), equal_nan=True)
    assert np.array_equal([high] * 2, ends["size_high"].to_numpy(), equal_nan=True)
    assert np.array_equal([middle] * 2, release.midpoints("size"), equal_nan=True)


@pytest.mark.parametrize(
    ("values", "levels", "shown"),
    [
        (["2024-03-01", "2024-03-02"], "month", "2024-03"),
        (["10115", "10117"], "prefix:4", "1011\\*"),
        (["10-12", "10-12"], "stars", "10-12"),
    ],
)
def test_what_is_no_number_has_no_bounds(values, levels, shown):
    release = released(values, levels)
    with pytest.raises(DataError, match=f"column size publishes {shown}"):
        release.bounds("size")
    with pytest.raises(UsageError, match="no column 'sise'"):
        release.midpoints("sise")


def test_suppressed_cells_are_null_where_the_owner_asks():
    people = gv.Table.from_columns({"age": [23, 27, 31, 64], "ill": list("abba")})
    method = gv.Generalize(k=2, known="age", attach="ill", levels={"age": "10"})
    release = method.anonymize(people)
    assert 2 == (release.to_pandas()["age"] == "*").sum()
    frame = release.to_pandas(null=True)
    assert (2, ["20-29"]) == (frame["age"].isna().sum(), frame["age"].cat.categories.tolist())
    assert [True] == [frame["age"].cat.ordered]
    frame = release.to_polars(null=True)
    assert (2, {"20-29", None}) == (frame["age"].null_count(), set(frame["age"].to_list()))


def test_a_weaker_entropy_is_named():
    frame = pd.DataFrame({"sex": ["f"] * 4, "ill": ["a", "a", "a", "b"]})
    said = refusal(frame=frame, k=2, attach=["ill"], diverse={"ill": "entropy:2"})
    assert "whole table is 1.75477" in said


def test_a_condition_that_only_the_whole_table_meets_is_named_with_its_rows():
    frame = pd.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["a", "a", "a", "b"]})
    said = refusal(frame=frame, k=2, attach=["ill"], close={"ill": "0.01"})
    assert "all 4 rows was found that meets the conditions: close ill=0.01" in said
    assert "differ from the table by up to 0.25 (a, the commonest value of ill, is in 3" in said
    said = refusal(frame=frame, k=2, attach=["ill"], diverse={"ill": 2})
    assert "classes have at least 1 value" in said


def test_a_column_of_names_is_named_with_its_count():
    frame = pd.DataFrame({"name": [f"p{i}" for i in range(30)], "sex": ["f", "m"] * 15})
    said = refusal(frame=frame, k=2)
    for one in ("name has 30 values in 30 rows", "--drop name", "--levels", "--attach name"):
        assert one in said


@pytest.mark.parametrize(
    ("values", "levels", "named"),
    [
        (
            ["2024-01-05", "05.01.2024"],
            "month",
            ["2024-01-05 (row 0)", "05.01.2024 (row 1)", "--dates"],
        ),
        (["03/04/2024"], "month", ["03/04/2024 (row 0)", "--dates x=%d/%m/%Y"]),
        (
            ["2024-01-31", "2024-02-01"],
            "week,month",
            ["2024-W05 is under 2024-01", "under 2024-02"],
        ),
        ([1067, 10115], "prefix:2", ["x: 1067 and 10115", "as text"]),
        (["ab", "a*"], "prefix:1", ["a* is the text of two nodes", "Rename one"]),
    ],
)
def test_values_that_do_not_suit_their_levels_are_named(values, levels, named):
    with pytest.raises(GraphveilError) as refused:
        levels_of(values, levels)
    for one in named:
        assert one in refused.value.message.flags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nurse;Care;*\nclerk;Office\n", "job.csv line 2 has 2 levels, line 1 has 3"),
        (
            "clerk,Office\ncook,Care\nclerk,Sales\n",
            "job.csv: clerk is on line 1 under Office and on line 3 under Sales",
        ),
        (
            "a;Office;Indoor\nb;Care;Work\nc;Office;Work\n",
            "job.csv: Office is under Indoor (line 1) and under Work (line 3)",
        ),
        (
            "a;b\nb;c\n",
            "job.csv: b is the text of two nodes with different values (line 2, and line 1",
        ),
        ("", "job.csv is empty"),
    ],
)
def test_a_file_that_holds_no_levels_is_refused_with_its_lines(tmp_path, text, expected):
    path = tmp_path / "job.csv"
    path.write_text(text)
    with pytest.raises(GraphveilError) as refused:
        read_levels(path)
    assert expected in str(refused.value)


def test_a_value_that_a_file_lacks_is_named_with_its_count_and_first_row(tmp_path):
    path = tmp_path / "job.csv"
    path.write_text(JOBS)
    frame = pd.DataFrame({"job": ["nurse", "smith", "clerk", "smith"]})
    said = refusal(frame=frame, k=2, levels={"job": str(path)})
    for one in ("job.csv lacks smith", "count 2, first in row 1", "--levels", "--suppressed"):
        assert one in said


def test_a_bound_of_many_columns_is_added_up_and_bounds_the_exact_one(monkeypatch):
    rng = np.random.default_rng(3)
    columns = {f"c{j}": rng.integers(0, 30, 40) for j in range(4)}
    levels = dict.fromkeys(columns, "5,10")
    release = gv.Generalize(k=3, levels=levels).anonymize(pd.DataFrame(columns), seed=1)

    def bound():
        rows = release.evaluate(pd.DataFrame(columns), metrics=["granularity-bound"], seed=1)
        return next(row.value for row in rows)

    whole = bound()
    monkeypatch.setattr(vectors, "MOST_VECTORS", 20)
    assert release.cost["granularity"] <= whole < bound() < 1


def test_what_is_left_of_a_column_is_exact_generalized_or_suppressed(tmp_path):
    people = gv.Table.from_columns({"age": [23, 23, 27, 31, 64], "ill": [*"abbab"]})
    method = gv.Generalize(k=2, known="age", attach="ill", levels={"age": "10"})
    release = method.anonymize(people, seed=1)
    shown = Counter(release.to_pandas()["age"].astype(str))
    release.write(tmp_path / "out")
    above = sum(n for node, n in shown.items() if "-" in node)
    cells = map(astuple, read_manifest(tmp_path / "out").data.cells)
    age = ("age", 5 - above - shown["*"], above, shown["*"])
    assert [age, ("ill", 5, 0, 0)] == [*cells]


def test_intervals_that_a_spreadsheet_reads_as_dates_are_warned_of(tmp_path):
    people = gv.Table.from_columns({"age": [10, 11, 12, 34, 36, 37]})
    release = gv.Generalize(k=3, levels={"age": "10"}).anonymize(people)
    assert {"10-19", "30-39"} == {*release.to_pandas()["age"]}
    folder = release.write(tmp_path / "out")
    said = [one for one in gv.read_release(folder).for_owner().warnings if "as dates" in one]
    assert ["1 of them (first: 10-19)"] == [one.partition("dates: ")[2][:24] for one in said]
    columns = release.write(tmp_path / "columns", format="parquet")
    assert not [one for one in gv.read_release(columns).for_owner().warnings if "dates" in one]


def test_every_attached_column_has_its_figures():
    frame = pd.DataFrame({"sex": [*"ffmm"], "ill": [*"aaab"], "pay": [1, 2, 1, 1]})
    release = gv.SuppressK(k=2, known="sex", label="ill", attach="pay").anonymize(frame, seed=1)
    with pytest.warns(gv.GraphveilWarning, match="pay"):
        rows = release.attack(frame, attacks=["homogeneity"])
    told = {(r.setting.column, r.figure): r.value for r in rows}
    assert 0.5 == told["ill", "in a class of one value"] == told["pay", "in a class of one value"]
    assert 0.75 == told["ill", "commonest value of the class"]
    one = gv.SuppressK(k=2, known="sex,pay", label="ill").anonymize(frame, seed=1)
    assert {""} == {r.setting.column or "" for r in one.attack(frame, attacks=["homogeneity"])}


@pytest.fixture(scope="module")
def adult_and_levels(tmp_path_factory):
    """Return adult, its known columns and the file of the levels of each."""
    folder = shared("arx-adult")
    adult = pd.read_csv(
        io.BytesIO(gzip.decompress((folder / "adult.csv.gz").read_bytes())),
        sep=";",
        dtype=str,
        keep_default_na=False,
    )
    known = [name for name in adult.columns if name != "salary-class"]
    files = {name: str(folder / f"adult_hierarchy_{name}.csv") for name in known}
    with pytest.raises(gv.GraphveilError, match="0-4 does not include 5, which"):
        generalize(adult, k=5, known=known, attach=["salary-class"], levels=files)
    # The file has 20 below 15-19, and so on: groups without numbers state no interval.
    spelled = str.maketrans("0123456789", "abcdefghij")
    lines = (line.split(";", 1) for line in Path(files["age"]).read_text().splitlines())
    files["age"] = str(tmp_path_factory.mktemp("levels") / "age.csv")
    Path(files["age"]).write_text("".join(f"{age};{up.translate(spelled)}\n" for age, up in lines))
    return adult, known, files


def test_adult_keeps_what_the_levels_of_its_files_allow(adult_and_levels):
    adult, known, files = adult_and_levels
    done = generalize(adult, k=5, known=known, attach=["salary-class"], levels=files, seed=1)
    cells = done.to_pandas()
    assert done.granularity >= 0.951
    assert cells.groupby(known, observed=True).size().min() >= 5
    for name in known:
        fits = {
            (line.split(";")[0], node)
            for line in Path(files[name]).read_text().splitlines()
            for node in line.split(";")
        }
        assert set(zip(adult[name], cells[name].astype(str), strict=True)) <= fits


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_minimality_guesses_on_adult_what_the_limits_say(adult_and_levels):
    adult, known, files = adult_and_levels
    table = gv.Table.from_arrow(pa.Table.from_pandas(adult, preserve_index=False))
    method = gv.Generalize(k=5, known=known, attach=["salary-class"], levels=files)
    release = method.anonymize(table, seed=1)
    told = gv.attack_release(release, original=table, attacks=["minimality"], seed=1)
    guessed = next(row for row in told if row.part == "generalized cells, right guess")
    assert (0.25, 0.25) == pytest.approx((guessed.value, guessed.guess), abs=0.01)
