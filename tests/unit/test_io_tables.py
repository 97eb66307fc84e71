"""Tables: names, suppressed cells, and numbers in explicit bins."""

from __future__ import annotations

import warnings

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from graphveil.core.errors import DataError, GraphveilWarning, InputError, ParameterError
from graphveil.data import Table
from graphveil.data.codes import binned
from graphveil.io import TableOptions, load_table, read_table, write


def cells(table: Table) -> dict[str, list[object]]:
    return table.to_arrow().to_pydict()


def read(tmp_path, content: str, **options):
    path = tmp_path / "people.csv"
    path.write_text(content)
    return load_table(path, TableOptions(**options))


def test_columns_of_integers_and_of_text_are_told_apart(tmp_path):
    table = read(tmp_path, "sex,age\nf,30\nm,4\n").data
    assert {"sex": ["f", "m"], "age": [30, 4]} == cells(table)
    assert [4, 30] == table.categories[1].tolist()


def test_stars_and_empty_cells_are_suppressed(tmp_path):
    table, report = read(tmp_path, "sex,age\n*,30\nm,\n")
    assert {"sex": [None, "m"], "age": [30, None]} == cells(table)
    assert 2 == report.suppressed_cells


def test_what_is_suppressed_may_be_told(tmp_path):
    table = read(tmp_path, "sex,age\n?,30\n*,0\n", suppressed=("?", "0")).data
    assert {"sex": [None, "*"], "age": [30, None]} == cells(table)


def test_spaces_behind_every_comma_are_no_part_of_the_cells(tmp_path):
    table = read(tmp_path, "sex, work, age\nf, State-gov, 39\nm, *, 40\n").data
    assert {"sex": ["f", "m"], "work": ["State-gov", None], "age": [39, 40]} == cells(table)


def test_a_cell_may_hold_quotes_commas_and_lines(tmp_path):
    table = read(tmp_path, 'sex,note\nf,"a, ""b""\nc"\nm,#x\n').data
    assert ['a, "b"\nc', "#x"] == cells(table)["note"]


def test_leading_zeros_and_signs_keep_a_column_text(tmp_path):
    table = read(tmp_path, "code,shift\n007,-5\n8,3\n").data
    assert {"code": ["007", "8"], "shift": ["-5", "3"]} == cells(table)


def test_columns_without_names_are_numbered_when_told(tmp_path):
    table = read(tmp_path, "39,Private\n50,Self\n", header="no").data
    assert ("column_1", "column_2") == table.columns


def test_numbers_may_be_names_when_told(tmp_path):
    assert ("2019", "sex") == read(tmp_path, "2019,sex\n1,f\n", header="yes").data.columns


def test_a_column_may_name_the_rows(tmp_path):
    table = read(tmp_path, "name,sex,age\nzoe,f,3\nann,f,4\n", ids="name").data
    assert (("sex", "age"), ["zoe", "ann"]) == (table.columns, table.labels().tolist())


@pytest.mark.parametrize("options", [{"ids": "x"}, {"bins": {"x": "median"}}])
def test_an_option_that_names_no_column_is_refused(tmp_path, options):
    with pytest.raises(InputError, match="no column 'x'"):
        read(tmp_path, "sex,age\nf,3\n", **options)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("median", ["<=2.5", "<=2.5", ">2.5", ">2.5", None]),
        ("quantiles:4", ["<=1.8", "1.8<x<=2.5", "2.5<x<=3.2", ">3.2", None]),
        ("quantiles:3", ["<=2", "<=2", "2<x<=3", ">3", None]),
        ("edges:2,3", ["<=2", "<=2", "2<x<=3", ">3", None]),
    ],
)
def test_numbers_are_binned_by_an_explicit_rule(tmp_path, rule, expected):
    content = "sex,size\nf,1.0\nf,2\nf,3\nf,4.0\nf,*\n"
    table, report = read(tmp_path, content, bins={"size": rule})
    assert expected == cells(table)["size"]
    assert ("size",) == report.binned


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ("median", [None, None], [None, None]),
        ("quantiles:3", [float("nan"), float("inf")], [None, "any"]),
        ("quantiles:3", [7.0, 7.0], ["<=7", "<=7"]),
        ("median", [-0.0, -0.0, -0.0, 2.0, 4.0], ["<=0", "<=0", "<=0", ">0", ">0"]),
        ("edges:-0,3", [-0.0, 1.0], ["<=0", "0<x<=3"]),
        ("median", [0.0, 0.0, 0.0], ["<=0"] * 3),
        ("median", [1.0, 1.0, 1.0, 3.0], ["<=2", "<=2", "<=2", ">2"]),  # 1 is the median
        ("median", [1.0, 1.0, 1.0, 3.0, 4.0], ["<=1", "<=1", "<=1", ">1", ">1"]),
        (
            "quantiles:4",
            [100.0, 262.0, 424.0, 593.0],
            ["<=220", "220<x<=340", "340<x<=470", ">470"],
        ),
        ("median", [-1200.0, -300.0, 900.0], ["<=-300", "<=-300", ">-300"]),
    ],
)
def test_bins_of_few_numbers_have_these_edges(rule, values, expected):
    assert expected == binned(pa.array(values, pa.float64()), rule, name="x").to_pylist()


def test_parquet_and_text_are_binned_alike(tmp_path):
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "size": [1.5, 2.5, None]})
    frame.to_parquet(tmp_path / "a.parquet")
    options = TableOptions(bins={"size": "median"})
    binned_parquet = load_table(tmp_path / "a.parquet", options).data
    assert read(tmp_path, frame.to_csv(index=False), bins={"size": "median"}).data == binned_parquet


TEXTS = (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()))


@pytest.mark.parametrize("kind", TEXTS, ids=str)
@pytest.mark.parametrize(
    ("sizes", "suppressed", "refused"),
    [
        (["31", "50.5", "*", "", "007"], ("*", ""), False),
        (["31", "?", "1e2"], ("?",), False),
        (["*", "*"], ("*",), False),
        (["1", "tall"], ("*", ""), True),
        (["1", "?"], ("*", ""), True),
        (["1", "inf"], ("*", ""), True),
        (["1", " 2"], ("*", ""), True),
    ],
)
def test_numbers_in_texts_of_parquet_and_frames_are_binned_or_refused_as_those_of_csv(
    tmp_path, kind, sizes, suppressed, refused
):
    (tmp_path / "a.csv").write_text("sex,size\n" + "".join(f"f,{size}\n" for size in sizes))
    cells = {"sex": ["f"] * len(sizes), "size": pa.array(sizes).cast(kind)}
    parquet.write_table(pa.table(cells), tmp_path / "a.parquet")
    answers = []
    for name in ("a.csv", "a.parquet"):
        try:
            table, report = load_table(
                tmp_path / name, TableOptions(bins={"size": "edges:40"}, suppressed=suppressed)
            )
            answers.append((table.to_arrow().to_pydict(), report.suppressed_cells, report.binned))
        except InputError as error:
            answers.append(str(error).removeprefix(name))
    assert answers[0] == answers[1]
    assert refused == isinstance(answers[1], str)
    bins = {"size": "edges:40"}
    if refused:
        with pytest.raises(DataError) as caught:
            Table.from_arrow(pa.table(cells), bins=bins, suppressed=suppressed)
        assert f": {caught.value}" == answers[1]
    else:
        frame = Table.from_arrow(pa.table(cells), bins=bins, suppressed=suppressed)
        assert answers[1][0] == frame.to_arrow().to_pydict()


def test_a_column_of_parquet_that_cannot_be_binned_is_refused_with_its_type(tmp_path):
    lists = pa.table({"size": pa.array([[1], [2]])})
    parquet.write_table(lists, tmp_path / "a.parquet")
    options = TableOptions(bins={"size": "median"})
    with pytest.raises(InputError, match=r"size has type list.*, which cannot be binned"):
        load_table(tmp_path / "a.parquet", options)


def test_fractions_in_parquet_ask_for_bins(tmp_path):
    pl.DataFrame({"a": ["x"], "size": [1.5]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r'bins=\{"size": "median"\}'):
        load_table(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    "rule", ["mean", "quantiles:1", "quantiles:x", "edges:", "edges:3,2", "edges:nan"]
)
def test_an_unknown_rule_is_refused_with_the_known_ones(rule):
    with pytest.raises(ParameterError, match="Use median, quantiles:N"):
        binned(pa.array([1.0, 2.0]), rule, name="age")


def test_text_cannot_be_binned(tmp_path):
    with pytest.raises(InputError, match=r"column sex: f \(1x\) is not a number"):
        read(tmp_path, "sex,age\nf,3\n", bins={"sex": "median"})


def test_a_column_of_nothing_is_wholly_suppressed(tmp_path):
    assert [None, None] == cells(read(tmp_path, "sex,age\n*,1\n*,2\n").data)["sex"]


def test_a_star_as_a_category_is_refused_in_text_and_kept_in_parquet(tmp_path):
    table = Table.from_columns({"a": ["*", "x"], "b": [1, 2]}, suppressed=())
    with pytest.raises(InputError, match="cannot be distinguished from a suppressed cell"):
        write(table, tmp_path / "a.csv")
    write(table, tmp_path / "a.parquet")
    options = TableOptions(suppressed=())
    assert table == load_table(tmp_path / "a.parquet", options).data


def test_suppressed_cells_are_stars_in_text_and_null_in_parquet(tmp_path):
    table = Table.from_columns({"sex": ["f", None], "age": [3, None]})
    write(table, tmp_path / "a.csv")
    write(table, tmp_path / "a.parquet")
    assert "sex,age\nf,3\n*,*\n" == (tmp_path / "a.csv").read_text()
    assert (None, None) == pl.read_parquet(tmp_path / "a.parquet").row(1)


def test_reading_a_table_warns_of_nothing_where_nothing_is_dropped(tmp_path, recwarn):
    path = tmp_path / "a.csv"
    path.write_text("sex,age\nf,3\n")
    assert 1 == read_table(path).n_rows
    assert [] == [warning for warning in recwarn if warning.category is GraphveilWarning]


def test_columns_that_look_like_ids_or_ungrouped_numbers_are_asked_about(tmp_path):
    rows = "".join(f"P{n:03d},{n % 25},{n % 3},{n % 2}\n" for n in range(50))
    file = tmp_path / "people.csv"
    file.write_text(f"name,age,rooms,sex\n{rows}")
    with pytest.warns(GraphveilWarning) as caught:
        read_table(file)
    expected = (
        'name has a different value in nearly every row: if it identifies people, give ids="name", '
        "or drop it; every distinct number in age is its own category. To group them: "
        'bins={"age": "quantiles:4"}'
    )
    assert [expected] == [str(warning.message) for warning in caught]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(file, ids="name", bins={"age": "quantiles:4"})


def questions(tmp_path, text, **options):
    """Return what is asked when a table of this text is read."""
    file = tmp_path / "people.csv"
    file.write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_table(file, **options)
    return "; ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("odd", ["M0", "*"])
def test_one_repeat_or_one_suppressed_cell_does_not_hide_a_column_that_names_people(tmp_path, odd):
    mails = "".join(f"M{n},{n % 5}\n" for n in range(25)).replace("M24", odd)
    assert "mail has a different value in nearly every row: if it identifies people" in questions(
        tmp_path, f"mail,age\n{mails}", person="row"
    )


def test_a_second_column_that_names_people_is_asked_about_where_ids_are_given(tmp_path):
    rows = "".join(f"m{n},t{n},{n % 5}\n" for n in range(25))
    asked = questions(tmp_path, f"mail,phone,age\n{rows}", ids="mail")
    assert "phone has a different value" in asked
    assert "mail has a different value" not in asked


def test_numbers_of_people_are_grouped_only_where_they_measure_something(tmp_path):
    rows = "".join(f"{1000 + n % 24},{n % 5}\n" for n in range(25))
    assert (
        'ssn has a different value in nearly every row: if it identifies people, give ids="ssn", '
        'or drop it; if it measures something, use bins={"ssn": "quantiles:4"}'
    ) == questions(tmp_path, f"ssn,age\n{rows}", person="row")


def test_small_tables_raise_no_question(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("name,age\n" + "".join(f"P{n},{n}\n" for n in range(9)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(file)
