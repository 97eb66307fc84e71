"""What describe says of a file follows from its cells, and its answers leave nothing open."""

from __future__ import annotations

import shlex
from unicodedata import normalize
from zlib import crc32

import numpy as np
import pandas as pd
import pytest

import graphveil as gv
from graphveil.cli import run
from graphveil.core.errors import GraphveilError
from graphveil.data import Table
from graphveil.verbs import describe as verb

NAMES = ("Ann Ash", "Bob Birch", "Cyd Cole", "Dan Dale", "Eve Ely")
TOWNS = ("Oslo", "Oslo", "Bergen", "?")


@pytest.fixture
def messy(tmp_path):
    """Forty people: ids, names, ages, words for missing values, amounts, a constant."""
    path = tmp_path / "messy.csv"
    rows = ["id,name,age,town,income,birth,land"]
    for i in range(40):
        name = f"{NAMES[i % 5]} {'abcdefgh'[i // 5].upper()}x"
        income = "NA" if i % 10 == 0 else f"{i % 7}.5"
        birth = f"19{50 + i % 9}-03-{10 + i % 13}"
        rows.append(f"{i + 7},{name},{20 + i % 11},{TOWNS[i % 4]},{income},{birth},NO")
    path.write_text("\n".join(rows) + "\n")
    return path


def test_every_column_is_counted(messy):
    found = gv.describe(messy, kind="table")
    columns = {column.name: column for column in found.columns}
    assert (40, True, "csv", "table") == (found.rows, found.complete, found.format, found.kind)
    assert (("Oslo", 20), ("Bergen", 10)) == columns["town"].common
    assert (("?", 10),) == columns["town"].missing
    assert (("NA", 4),) == columns["income"].missing
    kinds = {name: column.kind for name, column in columns.items()}
    assert kinds == {
        "id": "id",
        "name": "id",
        "age": "number",
        "town": "text",
        "income": "number",
        "birth": "date",
        "land": "constant",
    }
    assert "drop" == columns["id"].role == columns["name"].role
    assert "its name says a name of a person" == columns["name"].role_reason
    assert (11, 7, 1) == tuple(columns[name].distinct for name in ("age", "income", "land"))


def test_its_answers_leave_nothing_open(messy):
    found = gv.describe(messy)
    assert {"kind", "suppressed", "drop", "levels"} <= {asked.option for asked in found.problems}
    table = gv.read_table(messy, **found.options)
    release = gv.Generalize(k=3, levels=found.levels).anonymize(table)
    assert release.verify(table).ok
    again = gv.describe(messy, kind="table", levels=found.levels, **found.options)
    assert () == again.problems


def test_a_file_is_asked_what_reading_it_asks(messy):
    with pytest.raises(GraphveilError) as refused:
        gv.read_table(messy)
    found = gv.describe(messy, kind="table", exact=False)
    asked = {(one.column, one.option, one.value) for one in refused.value.problems}
    assert asked == {(one.column, one.option, one.value) for one in found.problems}


def test_no_question_has_a_flag_or_an_argument(messy):
    with pytest.raises(GraphveilError) as refused:
        gv.read_table(messy, exact=True)
    for one in (*gv.describe(messy).problems, *refused.value.problems):
        said = f"{one.text} {one.choices}"
        assert not {"=", "\ufdd0", "\ufdd1"} & {*said}
        assert "--" not in said


def test_three_columns_of_words_are_a_table_whose_first_line_has_names(tmp_path, capsys):
    path, rows = tmp_path / "uni.csv", ["name,town,ill"]
    for i in range(40):
        name = normalize(("NFC", "NFD")[i % 2], f"Andr\u00e9 {chr(65 + i)}")
        rows.append(f"{name},{('Oslo', 'Bonn', 'Rome')[i % 3]},{('flu', 'none')[i % 2]}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = gv.describe(path)
    assert ("table", 40) == (found.kind, found.rows)
    assert ["name", "town", "ill"] == [column.name for column in found.columns]
    assert run(["advise", str(path)]) == 2
    assert "3 columns of words do not show what kind" in " ".join(capsys.readouterr().err.split())
    path.write_text("ann,bob,tie\nbob,cyd,tie\ncyd,dan,kin\ndan,ann,tie\n")
    assert "graph" == gv.describe(path).kind


def test_rows_of_one_person_are_a_problem_of_a_container():
    visits = {"who": [1, 2, 3, 4, 5] * 9, "sex": [*"ffmmf"] * 9, "born": [*"abcba"] * 9}
    table = Table.from_columns(visits)
    with pytest.raises(GraphveilError) as refused:
        table.check()
    assert [("who", "person")] == [(one.column, one.option) for one in refused.value.problems]


def test_a_long_file_is_read_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr(verb, "FIRST_ROWS", 10)
    monkeypatch.setattr(verb, "MOST_ROWS", 25)
    path = tmp_path / "long.csv"
    path.write_text("sex,town\n" + "f,Oslo\nm,Bergen\n" * 20)
    found = gv.describe(path, kind="table")
    assert (25, False) == (found.rows, found.complete)
    assert 25 == sum(count for _, count in found.columns[0].common)
    assert "the first 25 rows" in repr(found)


def test_directions_of_edges_are_a_question(tmp_path):
    path = tmp_path / "calls.csv"
    path.write_text("source,target\na,b\nb,a\nc,a\n")
    found = gv.describe(path)
    assert [("directed", "symmetrize")] == [(one.option, one.value) for one in found.problems]
    assert ["source", "target"] == [column.role for column in found.columns]
    assert 3 == gv.read_graph(path, **found.options).n_nodes


def test_a_frame_is_described_like_its_file(messy):
    frame = pd.read_csv(messy, dtype=str, keep_default_na=False)
    of_file, of_frame = gv.describe(messy, kind="table"), gv.describe(frame, kind="table")
    names = ("name", "distinct", "common", "missing", "role")
    for one, other in zip(of_file.columns, of_frame.columns, strict=True):
        assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]


def test_the_command_ends_with_one_that_works(messy, capsys, monkeypatch):
    monkeypatch.chdir(messy.parent)
    assert 0 == run(["describe", messy.name])
    out = capsys.readouterr().out
    command = out.strip().splitlines()[-1].removeprefix("next: ")
    assert command.startswith("graphveil anonymize generalize messy.csv --k 5")
    assert 0 == run(shlex.split(command)[1:])
    assert (messy.parent / "messy-generalize" / "release.json").is_file()


def test_an_option_of_another_kind_is_refused(messy):
    with pytest.raises(GraphveilError, match="directed"):
        gv.describe(messy, kind="table", directed="keep")


def test_numbers_agree_with_their_nouns_and_pairs_between_spaces_are_no_column(tmp_path):
    file = tmp_path / "one.csv"
    file.write_text("age,town\n31,Oslo\n")
    assert next(gv.describe(file, kind="table").lines()).startswith("csv, 1 row, ")
    assert "constant, 1 value; " in repr(gv.describe(file, kind="table"))
    pairs = tmp_path / "pairs.txt"
    pairs.write_text("1 2\n2 3\n3 1\n")
    assert () == gv.describe(pairs).columns


def test_types_of_edges_that_a_file_numbers_are_a_question_whose_answer_can_be_read(tmp_path):
    file = tmp_path / "two.net"
    file.write_text('*Vertices 3\n1 "Ann"\n2 "Bob"\n3 "Cy"\n*Edges\n1: 1 2 1\n2: 2 3 1\n')
    found = gv.describe(file)
    assert ["ignore_weights"] == [one.option for one in found.problems]
    assert 2 == gv.read_graph(file, ignore_weights=True).n_edges


@pytest.mark.parametrize(
    ("rows", "kind", "asked"),
    [
        ("ann,tea\nann,rye\nbob,tea\nbob,oat\ncyd,rye\n", "bipartite", 1),
        ("ann,bob\nbob,cyd\ncyd,dan\ndan,ann\n", "graph", 0),  # values are in both columns
        ("ann,tea\nbob,tea\n", "graph", 0),  # too few values to say anything
    ],
)
def test_pairs_without_names_that_share_no_value_are_asked_about(tmp_path, rows, kind, asked):
    file = tmp_path / "pairs.csv"
    file.write_text(rows)
    found = gv.describe(file)
    assert (kind, asked) == (found.kind, len(found.problems))
    assert all("no value is in both columns" in one.text for one in found.problems)
    assert not gv.describe(file, kind="graph").problems


PAIRS = [f"{a} {b}" for a in range(30) for b in (a - 1, a + 1) if 0 <= b < 30]
"""A path, each edge in both directions."""


def test_comment_lines_do_not_end_the_look_at_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(verb, "FIRST_ROWS", 10)
    path = tmp_path / "pairs.txt"
    path.write_text("\n".join(["# source target", *PAIRS]) + "\n")
    found = gv.describe(path)
    assert (58, True, ()) == (found.rows, found.complete, found.problems)


def test_a_part_of_a_file_does_not_say_whether_its_edges_are_directed(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(verb, "FIRST_ROWS", 10)
    monkeypatch.setattr(verb, "MOST_ROWS", 25)
    path = tmp_path / "pairs.txt"
    path.write_text("\n".join(PAIRS) + "\n")
    found = gv.describe(path)
    assert (False, ()) == (found.complete, found.problems)
    assert 0 == run(["describe", str(path)])
    out = capsys.readouterr().out
    assert "directed symmetrize" not in out
    assert "Whether the edges are directed is not known from a part." in out
    assert "Nothing is open in these rows." in out


def test_a_question_of_several_columns_is_asked_once_and_the_last_column_shown(tmp_path, capsys):
    path = tmp_path / "many.csv"
    names = [f"size{i}" for i in range(22)]
    drawn = [[str(crc32(f"{name} {row}".encode()) % 9) for name in names] for row in range(40)]
    rows = [",".join(row) for row in drawn]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    found = gv.describe(path, kind="table")
    assert 22 == len(found.problems)
    (asked,) = found.questions
    assert asked.startswith(f"columns {', '.join(names)}: each has numbers and no levels: ")
    assert 'drop "COLUMN"' in asked
    assert 0 == run(["describe", str(path), "--kind", "table"])
    out = " ".join(capsys.readouterr().out.split())
    assert "size18: number" in out
    assert "size19: number" not in out
    assert "and 2 more columns (--all) size21: number" in out
    assert "1 open question, answered" in out
    assert "The command counts every column that it keeps as known to an attacker." in out
    assert "To name the columns" not in out


def test_a_file_without_names_says_how_to_name_its_columns(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_text("".join(f" {i % 9},x{i % 3},{i % 2}\n" for i in range(20)))
    assert 0 == run(["describe", str(path), "--kind", "table", "--header", "no"])
    out = capsys.readouterr().out
    assert "To name the columns, add a first line with their names to the file." in out
    assert "column_1: number, 9 values" in out


def test_a_wide_table_is_asked_what_a_row_is_once_for_each_reading(tmp_path, monkeypatch):
    """The question compares all columns with all others: it is the dearest of a wide table."""
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 6, (20, 60))
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(60)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in [names, *cells]))
    readings, asked = [], []
    ask, read = Table.questions_of_rows, verb.table_of
    monkeypatch.setattr(verb, "table_of", lambda *how: readings.append(how) or read(*how))

    def counted(table):
        asked.extend([] if table.settled else [table])
        return ask(table)

    monkeypatch.setattr(Table, "questions_of_rows", counted)
    found = gv.describe(path, kind="table")
    assert 60 == len(found.columns)
    assert 0 < len(asked) <= len(readings)


@pytest.mark.parametrize("content", [b"PAR1abc", b"PAR1" + 60 * b"x" + b"PAR1", 99 * b"-"])
def test_a_broken_parquet_file_is_refused_as_every_command_refuses_it(tmp_path, content):
    path = tmp_path / "broken.parquet"
    path.write_bytes(content)
    with pytest.raises(GraphveilError, match="this is not a complete parquet file"):
        gv.describe(path)
