"""What the checker says of generalized tables: honest ones, and those that somebody changed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tampering import failed, manifest_of, recount_cells, reseal

import graphveil as gv
from graphveil.core.errors import GraphveilError
from graphveil.core.warnings import HeldBackWarning
from graphveil.methods.generalize import recode
from graphveil.release import read_release
from graphveil.verify import verify

DIGESTS = {"owner's record", "linkage file"}
ROWS = [
    "23 01067 1990-03-04 nurse 1.5 flu",
    "27 01069 1990-03-08 cook 2.5 cold",
    "25 01067 1990-03-21 nurse 1.5 flu",
    "31 10115 1981-07-01 clerk 2.25 flu",
    "38 10117 1981-08-01 clerk 3 gout",
    "33 10119 1981-08-01 clerk 3 gout",
]
COLUMNS = ["age", "zip", "birth", "job", "income", "ill"]
KNOWN = COLUMNS[:4]


def original():
    cells = zip(*(row.split() for row in ROWS * 2), strict=True)
    columns = dict(zip(COLUMNS, map(list, cells), strict=True))
    return gv.Table.from_columns(columns, exact=True, person="row")


def method_of(folder, **changed):
    jobs = folder / "job.csv"
    jobs.write_text("nurse;Care;*\ncook;Care;*\nclerk;Office;*\nbroker;Office;*\n")
    levels = {"age": "10,20", "zip": "prefix:4,2", "birth": "month,year", "job": str(jobs)}
    asked = {
        "k": 5,
        "known": KNOWN,
        "attach": "income",
        "label": "ill",
        "levels": levels,
        "diverse": {"ill": 2},
        "close": {"ill": 0.5},
    }
    return gv.Generalize(**{**asked, **changed})


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return method_of(tmp_path_factory.mktemp("levels")).anonymize(original(), seed=1)


@pytest.fixture
def folder(honest, tmp_path):
    return honest.write(tmp_path / "release")


def failures(folder, **given):
    return {n: d for n, d in failed(verify(folder, **given)).items() if n not in DIGESTS}


def rows_in(folder, name="data.csv"):
    return list(csv.reader(io.StringIO((folder / name).read_text())))


def write_rows(folder, rows, name="data.csv"):
    """Write other rows into a file, and a manifest that describes them."""
    awkward = any(set(cell) & set('",;#% ') or not cell for row in rows[1:] for cell in row)
    lines = [",".join(f'"{cell}"' if awkward else cell for cell in row) for row in rows[1:]]
    content = "".join(f"{line}\n" for line in [",".join(rows[0]), *lines]).encode()
    (folder / name).write_bytes(content)
    manifest = manifest_of(folder)
    place = {"data.csv": 0, "levels.csv": 1}[name]
    digest = hashlib.sha256(content).hexdigest()
    manifest["data"]["files"][place] |= {
        "bytes": len(content),
        "sha256": digest,
        "rows": len(rows) - 1,
    }
    if place == 0:
        manifest["data"]["counts"]["suppressed_cells"] = sum(r.count("*") for r in rows[1:])
    recount_cells(folder, manifest)
    reseal(folder, manifest)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_an_honest_release_holds_and_reads_back(tmp_path, form):
    release = method_of(tmp_path).anonymize(original(), seed=1)
    folder = release.write(tmp_path / "release", format=form)
    verdict = verify(folder, original=original())
    assert {} == failed(verdict)
    said = {check.name: check.detail for check in verdict.checks}
    assert said["classes"].startswith("12 rows in 2 classes of equal rows; the smallest holds 6")
    assert "at least 2 known values of 'ill' per class" == said["diversity"]
    assert "each of 48 cells is or includes the original's" == said["true cells"]
    assert "everybody's values fit at least 6 rows" == said["consistent rows"]
    back = read_release(folder)
    assert back.data.columns == tuple(COLUMNS)
    assert back.generalized == release.generalized
    assert (back.write(tmp_path / "again", format=form) / "levels.csv").read_bytes() == (
        folder / "levels.csv"
    ).read_bytes()


def test_the_public_folder_alone_verifies(folder, tmp_path):
    folder.rename(tmp_path / "received")
    verdict = gv.verify_release(tmp_path / "received")
    assert (True, []) == (verdict.ok, verdict.failures())
    assert gv.read_release(tmp_path / "received").private is None


@pytest.mark.parametrize("what", ["values", "generalized", "suppressed"])
def test_a_share_of_a_column_that_the_files_do_not_show_fails(folder, what):
    manifest = manifest_of(folder)
    manifest["data"]["cells"][0][what] += 1
    reseal(folder, manifest)
    assert {"counts"} == {*failures(folder)}
    del manifest["data"]["cells"]
    reseal(folder, manifest)
    assert "does not state the cells of each column" in failures(folder)["counts"]


def test_only_published_nodes_and_those_above_are_listed(folder):
    listed = {tuple(row[:1] + row[2:]) for row in rows_in(folder, "levels.csv")[1:]}
    assert ("age", "20-29", "20-39", "*") in listed
    assert ("zip", "0106*", "01***", "*") in listed
    assert ("birth", "1990-03", "1990", "*") in listed
    assert {("job", "Care", "*", "2"), ("job", "clerk", "Office", "1")} <= listed
    assert ("job", "*", "*", "4") in listed
    assert not any(row[1] in {"nurse", "broker", "23"} for row in listed)


def test_files_of_levels_are_published_whole_where_it_is_asked_for(tmp_path):
    release = method_of(tmp_path, publish_levels=True).anonymize(original(), seed=1)
    folder = release.write(tmp_path / "release")
    assert {} == failed(verify(folder, original=original()))
    received = shutil.copytree(folder, tmp_path / "received")  # without the private folder
    assert gv.verify_release(received).ok
    head, *rows = rows_in(folder, "levels.csv")
    jobs = [tuple(row[2:]) for row in rows if row[0] == "job"]
    assert {("nurse", "Care", "1"), ("broker", "Office", "1"), ("Office", "*", "2")} <= {*jobs}
    assert not any(row[2] == "23" for row in rows)  # values of other columns are those of people
    assert gv.read_release(folder).generalized == release.generalized
    assert release.provenance.limits.endswith("published whole, with all of their values.")
    manifest = manifest_of(folder)
    described = next(one for one in manifest["data"]["columns"] if one["name"] == "job")
    assert ("file", "given", True) == tuple(described[n] for n in ("levels", "origin", "whole"))
    lacking = [row for row in rows if row[2] != "broker"]
    write_rows(folder, [head, *lacking], "levels.csv")
    assert "'Office' has 2 leaves, but not all of them are listed" in failures(folder)["levels"]
    del described["whole"]
    write_rows(folder, [head, *rows], "levels.csv")
    manifest["data"]["files"] = manifest_of(folder)["data"]["files"]
    reseal(folder, manifest)
    assert "neither published nor above a published one" in failures(folder)["levels"]
    for column in manifest["data"]["columns"]:
        column["whole"] = True  # values of a column of dates would be those of people
    (folder / "release.json").write_text(json.dumps(manifest))
    assert "whole levels of the kind" in failures(folder)["manifest"]
    with pytest.raises(GraphveilError, match="no column has levels from a file"):
        method_of(tmp_path, publish_levels=True, levels={"age": "10"})


def test_an_id_in_a_file_of_levels_that_nobody_has_is_said(tmp_path):
    (tmp_path / "town.csv").write_text("Oslo,Norway\nBergen,Norway\nann3,Norway\n")
    (tmp_path / "t.csv").write_text(
        "id,town\n" + "".join(f"ann{n},{('Oslo', 'Bergen')[n % 2]}\n" for n in range(4))
    )
    data = gv.read_table(tmp_path / "t.csv", ids="id", exact=True)
    levels = {"town": str(tmp_path / "town.csv")}
    for whole, outcome in ((True, "not checked"), (False, "holds")):
        method = gv.Generalize(k=2, known="town", levels=levels, publish_levels=whole)
        folder = method.anonymize(data, seed=1).write(tmp_path / f"release-{whole}")
        checks = gv.verify_release(folder, data).checks
        said = next(one for one in checks if one.name == "no original ids")
        assert outcome == said.outcome
        assert whole == ("1 of 4 original ids are nodes of the file of levels" in said.detail)


def test_a_table_without_roles_is_known_as_a_whole_and_a_frame_is_read_as_it_is_written():
    frame = pd.DataFrame({"age": [1.5, 2.5, 7.25, 8.0], "sex": ["f", None, "m", "m"]})
    release = gv.Generalize(k=2, levels={"age": "5,10"}).anonymize(frame, seed=3)
    assert ["[0, 5)", "[0, 5)", "[5, 10)", "[5, 10)"] == sorted(
        release.data.to_arrow()["age"].to_pylist()
    )
    assert [] == release.verify(frame).failures()


def test_every_verb_reads_a_frame_with_fractions_as_the_method_read_it(tmp_path):
    ages, pay = [1.5, 2.5, 7.25, 8.0] * 6, [10.5, 11.25, 3.0, 7.5] * 6
    frame = pd.DataFrame({"age": ages, "sex": ["f", "f", "m", "m"] * 6, "pay": pay})
    method = gv.Generalize(k=3, known=["age", "sex"], attach="pay", levels={"age": "5,10"})
    release = method.anonymize(frame, seed=3)
    for one in (release, release.write(tmp_path / "release")):
        assert [] == gv.verify_release(one, frame).failures()
        with pytest.warns(HeldBackWarning):
            kept = gv.evaluate_release(one, frame, metrics=["cells-shown"], test=frame)
        assert {"cells-shown"} == {row.question for row in kept}
        learned = gv.attack_release(one, frame, attacks=["matching"], seed=1)
        assert {"matching"} == {row.question for row in learned}


def column(name):
    return COLUMNS.index(name)


def first_of(rows, name, value):
    return next(row for row in rows if row[column(name)] == value)


def forged_cell(name, old, new, *, every=True):
    def change(rows):
        for row in rows if every else [first_of(rows, name, old)]:
            if row[column(name)] == old:
                row[column(name)] = new

    return change


@pytest.mark.all_cases
@pytest.mark.parametrize(
    ("change", "check", "said"),
    [
        (forged_cell("job", "Care", "*", every=False), "classes", "holds 1 row"),
        (forged_cell("age", "20-29", "30-39"), "true cells", "'30-39' in 'age'"),
        (forged_cell("zip", "0106*", "1011*"), "true cells", "'1011*' in 'zip'"),
        (forged_cell("zip", "0106*", "1011*"), "consistent rows", "fit 0 rows, fewer than k=5"),
        (forged_cell("birth", "1990-03", "1981"), "true cells", "'1981' in 'birth'"),
        (forged_cell("job", "clerk", "Care"), "true cells", "'Care' in 'job'"),
        (forged_cell("job", "Care", "20-29"), "levels", "'20-29' is not a node"),
        (forged_cell("age", "20-29", "20-39"), "levels", "neither published nor above"),
        (forged_cell("ill", "cold", "flu"), "diversity", "1 known value of 'ill', fewer than 2"),
        (forged_cell("income", "1.5", "3"), "attached cells", "'3' in 'income'"),
    ],
)
def test_forged_cells_are_noticed(folder, change, check, said):
    head, *rows = rows_in(folder)
    change(rows)
    write_rows(folder, [head, *rows])
    assert said in failures(folder, original=original())[check]


def test_rows_that_fit_a_person_are_those_counted_one_by_one():
    ages = [5, 6, 7, 8, 15, 16, 17, 18, 25, 26, 35, 36]
    frame = pd.DataFrame({"age": [str(a) for a in ages], "sex": ["f", "m"] * 5 + [None, "f"]})
    levels = {"age": "10,20,40"}
    for seed in range(4):
        table = gv.Table.from_arrow(pa.Table.from_pandas(frame), exact=True, person="row")
        release = gv.Generalize(k=2, levels=levels).anonymize(table, seed=seed)
        shown = release.data.to_arrow().to_pylist()

        def fits(age, sex, row):
            low, _, high = (row["age"] or "0-99").partition("-")
            return int(low) <= age <= int(high or low) and row["sex"] in {sex, None}

        people = zip(ages, frame["sex"], strict=True)
        least = min(sum(fits(*one, row) for row in shown) for one in people)
        said = {check.name: check.detail for check in release.verify(table).checks}
        assert f"everybody's values fit at least {least} rows" == said["consistent rows"]


def test_classes_are_counted_after_equal_ones_were_merged(monkeypatch):
    whole = recode.recode

    def in_halves(leaves, *args, **given):
        done = whole(leaves, *args, **given)
        halves = 2 * done.labels + (np.arange(len(leaves)) % 2)
        return done._replace(labels=halves)

    monkeypatch.setattr(recode, "recode", in_halves)
    table = gv.Table.from_columns({"sex": ["f"] * 4 + ["m"] * 4})
    release = gv.Generalize(k=4).anonymize(table, seed=1)
    assert 4 == release.cost["smallest_class"]


def test_a_bound_of_closeness_that_is_not_met_is_noticed(folder):
    manifest = manifest_of(folder)
    close = next(c for c in manifest["claim"]["conditions"] if c["type"] == "close")
    close["most"] = "0.3"
    reseal(folder, manifest)
    assert "is 0.333333, above 0.3" in failures(folder)["closeness"]


def test_an_entropy_that_is_not_met_is_noticed(folder):
    manifest = manifest_of(folder)
    diverse = next(c for c in manifest["claim"]["conditions"] if c["type"] == "diverse")
    diverse |= {"least": "1.95", "measure": "entropy"}
    reseal(folder, manifest)
    assert "is that of 1.88988 values, below 1.95" in failures(folder)["diversity"]
    diverse["least"] = "1.88"
    reseal(folder, manifest)
    assert {} == failures(folder)


@pytest.mark.parametrize("rule", ["2", "entropy:1.8"])
def test_words_for_missing_and_missing_cells_are_no_values_of_a_class(tmp_path, rule):
    folder = (
        method_of(tmp_path, diverse={"ill": rule}, close=None)
        .anonymize(original())
        .write(tmp_path / "release")
    )
    assert {} == failures(folder)
    head, *rows = rows_in(folder)
    mine = [row for row in rows if row[0] == rows[0][0]]
    # One known value, next to three words and a suppressed cell, is one value; none is none.
    for known, counted in (("flu", "1 known value"), ("?", "0 known values")):
        words = [known, "N.A.", " Unknown\u200b", "wei\u00df nicht", "*"]
        for place, row in enumerate(mine):
            row[column("ill")] = words[place % 5]
        write_rows(folder, [head, *rows])
        said = failures(folder)["diversity"]
        assert (counted if rule == "2" else "that of 1 values, below 1.8") in said


def test_an_attached_column_of_names_is_noticed(folder):
    head, *rows = rows_in(folder)
    for number, row in enumerate(rows):
        row[column("ill")] = f"p{number}"
    write_rows(folder, [head, *rows])
    assert "'ill' has 12 values for 12 rows" in failures(folder)["attached columns"]


@pytest.mark.all_cases
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows.insert(0, ["name", "0", "ann", "*", "*"]), "'name' is listed"),
        (lambda rows: rows.insert(0, ["age", "0", "70-79", "*", "*"]), "neither published nor"),
        (lambda rows: rows.insert(1, [*rows[0][:3], "*", "*"]), "listed twice"),
        (lambda rows: set_node(rows, "20-29", 3, "30-39"), "not on a higher level"),
        (lambda rows: set_node(rows, "20-29", 3, "50-59"), "is not listed"),
        (lambda rows: rename(rows, "20-39", "40-59"), "does not include '20-29'"),
        (lambda rows: rename(rows, "01***", "02***"), "does not include '0106*'"),
        (lambda rows: rename(rows, "1990", "1991"), "does not include '1990-03'"),
        (lambda rows: set_node(rows, "Care", 4, "9"), "4 leaves, but"),
        (lambda rows: set_node(rows, "clerk", 4, "2"), "2 leaves on level 0"),
        (lambda rows: set_node(rows, "20-29", 4, "10"), "10' leaves"),
        (lambda rows: rows.reverse(), "not listed by column"),
    ],
)
def test_forged_levels_are_noticed(folder, change, said):
    head, *rows = rows_in(folder, "levels.csv")
    change(rows)
    write_rows(folder, [head, *rows], "levels.csv")
    assert said in failures(folder)["levels"]


def set_node(rows, node, cell, text):
    next(row for row in rows if row[2] == node)[cell] = text


def rename(rows, old, new):
    for row in rows:
        row[2:4] = [new if cell == old else cell for cell in row[2:4]]


@pytest.mark.all_cases
@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda m: m["claim"]["guarantee"].update(known=KNOWN[:3]), "levels"),
        (lambda m: m["claim"]["guarantee"].update(known=[]), "levels"),
        (lambda m: m["claim"]["guarantee"].update(known=[*KNOWN, "shoe"]), "classes"),
        (lambda m: m["claim"]["conditions"].pop(0), "levels"),
        (lambda m: m["claim"]["conditions"][0].update(attach=["ill"], label=["income"]), "levels"),
        (lambda m: m["claim"]["conditions"][1].update(column="job"), "diversity"),
        (lambda m: m["data"]["columns"][0].update(levels="prefix"), "levels"),
        (lambda m: m["data"]["columns"].reverse(), "description"),
        (lambda m: m["data"].pop("columns"), "manifest"),
        (lambda m: m["data"]["columns"][0].update(origin="from the data"), "manifest"),
    ],
)
def test_a_forged_claim_about_columns_is_noticed(folder, change, check):
    manifest = manifest_of(folder)
    change(manifest)
    if check == "manifest":
        (folder / "release.json").write_text(json.dumps(manifest))
    else:
        reseal(folder, manifest)
    assert check in failures(folder)


def test_nodes_of_a_file_are_not_checked_without_the_owners_levels(folder):
    record = folder.with_name("release.private") / "record.json"
    text = record.read_text()
    record.write_text(text.replace('"ancestors"', '"forgotten"'))
    verdict = verify(folder, original=original())
    open_ = {check.name: check.detail for check in verdict.checks if check.outcome == "not checked"}
    assert "levels of 'job' are from a file" in open_["true cells"]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"known": KNOWN[:3]}, ["no role for job", "--known", "--attach", "--label", "--drop"]),
        ({"label": "income"}, ["'income' is listed twice, in attach and label"]),
        ({"known": [*KNOWN[:3], "jbo"]}, ["'jbo' for known", "Did you mean job?"]),
        ({"known": None}, ["none of the 6 columns", "--known"]),
        ({"diverse": {"job": 2}}, ["'job'", "not attached", "--attach job"]),
        ({"diverse": {"ill": 4}}, ["ill=4", "3 values"]),
        ({"weight": {"age": 0}}, ["weight age=0", "positive"]),
        ({"k": 13}, ["needs at least 13 rows; the data has 12"]),
        ({"levels": {"age": "auto", "income": "5"}}, ["'income', which is not a known column"]),
    ],
)
def test_roles_and_conditions_that_do_not_suit_the_table_are_refused(tmp_path, changed, named):
    with pytest.raises(GraphveilError) as refused:
        method_of(tmp_path, **changed).anonymize(original(), seed=1)
    for one in named:
        assert one in refused.value.message.flags


def test_an_attached_column_of_names_is_refused(tmp_path):
    columns = {name: [f"{name}{i // 6}" for i in range(12)] for name in COLUMNS}
    columns["income"] = [f"p{i}" for i in range(12)]
    with pytest.raises(GraphveilError, match="income has 12 values in 12 rows, so it nearly"):
        method_of(tmp_path, levels=None).anonymize(gv.Table.from_columns(columns))


def test_no_class_is_smaller_than_k():
    table = gv.Table.from_columns({"sex": ["f"] * 3 + ["m"] * 4 + ["x"] * 2})
    release = gv.Generalize(k=3).anonymize(table, seed=1)
    assert [] == release.verify(table).failures()


DATES = {
    "%Y-%m-%d": ("1973-04-11", "1982-05-07"),
    "%d/%m/%Y": ("11/04/1973", "07/05/1982"),
    "%m-%Y": ("04-1973", "05-1982"),
    "%m%y": ("0473", "0582"),
    "%y-%m-%d": ("73-04-11", "82-05-07"),
}


@pytest.mark.parametrize("form", DATES)
@pytest.mark.parametrize("record", [True, False], ids=["record", "no record"])
def test_dates_in_a_form_that_resembles_a_unit_hold_and_forged_ones_fail(tmp_path, form, record):
    """Rows of the first date publish it; those of another have its decade."""
    kept, other = DATES[form]
    third = other.replace("82", "83")
    births = [kept] * 6 + [other, third] * 2
    table = gv.Table.from_columns({"birth": births, "sex": ["f"] * 10}, exact=True, person="row")
    levels = {"birth": "year,decade"}
    release = gv.Generalize(k=3, levels=levels, dates={"birth": form}).anonymize(table, seed=1)
    folder = release.write(tmp_path / "release")
    if not record:
        shutil.rmtree(tmp_path / "release.private")
    rows = rows_in(folder)
    assert {kept, "1980-1989"} == {row[0] for row in rows[1:]}
    assert {} == failures(folder) == failures(folder, original=table)
    listed = [["1970-1979" if c == "1980-1989" else c for c in r] for r in rows]
    nodes = rows_in(folder, "levels.csv")
    forged = [row for row in nodes if row[2] != "1980-1989"]
    write_rows(folder, listed)
    write_rows(folder, forged, "levels.csv")
    known = record or form == "%Y-%m-%d"
    expected = {"consistent rows", *(["true cells"] if record else [])} if known else {*()}
    assert expected == {*failures(folder, original=table)}
    if known:
        nodes = [[c.replace("1970-1979", "1960-1969") for c in row] for row in nodes]
        write_rows(folder, rows)
        write_rows(folder, nodes, "levels.csv")
        assert "levels" in failures(folder)


def test_prefixes_of_codes_of_several_lengths_hide_the_length_and_forged_ones_fail(tmp_path):
    codes = ["E11", "E110", "E1165", "I10", "I1", "I109", "E12", "E129"]
    data = gv.Table.from_columns({"code": codes, "sex": ["f"] * 8}, exact=True, person="row")
    release = gv.Generalize(k=3, levels={"code": "prefix:3,1"}).anonymize(data)
    folder = release.write(tmp_path / "release")
    shown = set(release.to_pandas()["code"])
    assert "I*" in shown
    assert shown <= {"I*", "E*", "E11*"}
    assert {} == failures(folder) == failures(folder, original=data)
    # A node of several stars would say how long the code was: it includes no code of other lengths.
    rows, nodes = rows_in(folder), rows_in(folder, "levels.csv")
    write_rows(folder, [[c.replace("I*", "I***") for c in row] for row in rows])
    write_rows(folder, [[c.replace("I*", "I***") for c in row] for row in nodes], "levels.csv")
    assert "'I***' in 'code'" in failures(folder, original=data)["true cells"]
