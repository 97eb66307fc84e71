"""What the checker says of tables that were changed, sealed anew by a careful hand."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import (
    BEFORE,
    COLUMNS,
    original,
    release_of,
    replace_data,
    replace_rows,
    rows_of,
    table_of,
)
from tampering import failed, linkage_of, manifest_of, private, reseal, write_linkage

from graphveil.claims.conditions import SuppressionHistogram
from graphveil.claims.guarantees import KAnonymity
from graphveil.data import Table
from graphveil.io import write
from graphveil.methods import SuppressK
from graphveil.release import Provenance, Release, digest_of
from graphveil.verify import verify

DIGESTS = {"owner's record", "linkage file"}
"""Checks that the owner's digests decide; what they notice must show elsewhere, too."""


@pytest.fixture
def folder(tmp_path):
    return release_of().write(tmp_path / "release")


def failures(folder, **given):
    return {n: d for n, d in failed(verify(folder, **given)).items() if n not in DIGESTS}


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_an_untouched_release_of_a_table_holds_in_every_condition(tmp_path, form):
    folder = release_of().write(tmp_path / "release", format=form)
    verdict = verify(folder, original=original())
    assert {} == failed(verdict)
    assert verdict.complete
    said = {check.name: check.detail for check in verdict.checks}
    assert "6 rows in 3 classes of equal rows; the smallest holds 2 rows, k=2" == said["classes"]
    assert "every published cell has its original value, 14 in all" == said["nothing added"]
    assert "4 suppressed cells in 6 rows" == said["stars by row"]
    assert "3 cells suppressed, as the record states" == said["cost"]
    assert "6 rows in both" == said["same size"]


def test_without_the_original_nothing_is_said_of_what_was_added(folder):
    verdict = verify(folder)
    unchecked = {check.name for check in verdict.checks if check.outcome == "not checked"}
    assert {"original", "same size", "columns", "linkage", "nothing added", "cost"} <= unchecked
    assert verdict.ok


def test_a_star_equals_only_a_star(folder):
    rows = rows_of(folder)
    rows[1] = ["f", "*", "*"]
    replace_rows(folder, rows)
    assert {"classes"} == set(failures(folder))
    assert (
        "the class of line 3 of data.csv holds 1 row, fewer than k=2" in failures(folder)["classes"]
    )


def test_a_cell_of_somebody_else_is_noticed_with_its_row_and_column(folder):
    rows = rows_of(folder)
    for row in rows:
        if row == ["m", "40", "x"]:
            row[1] = "30"
    replace_rows(folder, rows)
    problems = failures(folder, original=original())
    assert {"nothing added"} == set(problems)
    assert "2 of 14 published cells" in problems["nothing added"]
    assert "line 2 of data.csv, column 'age': '30'" in problems["nothing added"]


def test_a_value_where_the_original_has_none_is_noticed(folder):
    rows = [[*row[:2], "z"] if row[:2] == ["f", "40"] else row for row in rows_of(folder)]
    replace_rows(folder, rows)
    problems = failures(folder, original=original())
    assert {"nothing added", "cost"} == set(problems)
    assert "1 of 16 published cells" in problems["nothing added"]


def test_rows_with_other_numbers_of_stars_than_the_claim_says_are_noticed(folder):
    manifest = manifest_of(folder)
    manifest["claim"]["conditions"][0]["rows"] = [[0, 3], [1, 3]]
    reseal(folder, manifest)
    assert (
        "2 rows with 0 suppressed cells, but the claim states 3" == failures(folder)["stars by row"]
    )


def test_two_people_who_change_places_in_the_linkage_are_noticed(folder):
    originals, released = linkage_of(folder)
    released[0], released[2] = released[2], released[0]
    write_linkage(folder, originals, released)
    assert "nothing added" in failures(folder, original=original())


def test_a_record_that_says_another_number_of_stars_is_noticed(tmp_path):
    release = release_of()
    release.private.cost["stars_added"] = 2
    folder = release.write(tmp_path / "release")
    said = failures(folder, original=original())["cost"]
    assert "3 cells suppressed, but the record states 2 cells suppressed, stars_added=2" == said


def test_another_table_is_not_the_original(folder):
    other = table_of(BEFORE[::-1], ids=original().labels().tolist())
    assert {"original"} == set(failures(folder, original=other))


def test_an_original_without_a_released_column_is_named(folder):
    (private(folder) / "record.json").unlink()
    less = Table.from_columns({"sex": ["f"] * 6, "age": ["30"] * 6}, ids=original().labels())
    problems = failures(folder, original=less)
    assert {"columns": "the original has no column 'town'"} == problems


def test_a_column_that_is_not_released_is_named(tmp_path):
    whole = original()
    columns = {n: c.to_pylist() for n, c in zip(COLUMNS, whole.to_arrow().columns, strict=True)}
    wider = Table.from_columns({**columns, "asked": ["2"] * 6}, ids=whole.labels())
    release = release_of()
    known = msgspec.structs.replace(release.private, input_sha256=digest_of(wider))
    folder = Release(**{**vars(release), "private": known}).write(tmp_path / "release")
    verdict = verify(folder, original=wider)
    assert {} == failed(verdict)
    said = next(check.detail for check in verdict.checks if check.name == "columns")
    assert said.endswith("not published: 'asked'")


@pytest.mark.parametrize("cell", ["", "?"])
def test_a_cell_without_text_is_refused(folder, cell):
    rows = [[*row[:2], row[2].replace("*", cell)] for row in rows_of(folder)]
    replace_rows(folder, rows)
    if cell:
        assert {"nothing added", "cost"} == set(failures(folder, original=original()))
    else:
        quoted = "".join(f'"{row[0]}","{row[1]}","{row[2]}"\n' for row in rows)
        replace_data(folder, f"{','.join(COLUMNS)}\n{quoted}")
        assert "has an empty cell in 'town'" in failures(folder)["data"]


def test_a_star_that_a_table_without_text_marks_holds_as_text_is_refused(tmp_path):
    release = Release(
        data=Table([[0], [0]], ("sex",), (["x"],)),
        guarantee=KAnonymity(k=2),
        provenance=Provenance(method="by-hand", source="a test", limits="None.", parameters={}),
    )
    folder = release.write(tmp_path / "release", format="parquet")
    path, manifest = folder / "data.parquet", manifest_of(folder)
    write(Table([[0], [0]], ("sex",), (["*"],)), path)
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    manifest["data"]["files"][0] |= {"bytes": len(content), "sha256": digest}
    reseal(folder, manifest)
    assert "row 1 of data.parquet contains `*` instead of null" in failures(folder)["data"]


cells = st.sampled_from(["a", "b", "*"])


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=9), st.integers(1, 4))
def test_classes_and_stars_are_those_of_a_count_by_hand(tmp_path_factory, rows, k):
    sizes = Counter(rows)
    stars = tuple(sorted(Counter(row.count("*") for row in rows).items()))
    release = Release(
        data=table_of([list(row) for row in rows]),
        guarantee=KAnonymity(k=k),
        conditions=(SuppressionHistogram(rows=stars),),
        provenance=Provenance(method="by-hand", source="a test", limits="None.", parameters={}),
    )
    folder = release.write(tmp_path_factory.mktemp("one") / "release")
    expected = {"classes"} if min(sizes.values()) < k else set()
    assert expected == set(failures(folder))


def say_of_rows(folder, person):
    """Let the claim say this of the rows, in words and in its type."""
    manifest = manifest_of(folder)
    claim = KAnonymity(k=manifest["claim"]["guarantee"]["k"]).of_rows(person)
    said = {"sentence": claim.sentence, "threat_model": claim.threat_model}
    manifest["claim"] |= {"guarantee": msgspec.to_builtins(claim), **said}
    reseal(folder, manifest)


def test_a_table_whose_claim_does_not_say_whether_rows_are_people_is_refused(folder):
    say_of_rows(folder, None)
    said = "the guarantee does not say whether the rows of the table are people"
    assert {"claim and parameters": said} == failures(folder)


def test_a_table_that_is_published_as_users_and_items_says_what_its_rows_are(tmp_path):
    table = Table.from_columns({"sex": ["f", "f", "m", "m"]})
    folder = SuppressK(k=2).anonymize(table.one_hot()).write(tmp_path / "release")
    assert {} == failures(folder, original=table)
    say_of_rows(folder, None)
    assert {"rows and people": "the original is a table, but the guarantee is of users"} == {
        name: said for name, said in failures(folder, original=table).items() if name != "method"
    }


@pytest.mark.parametrize(
    ("said", "reading", "problem"),
    [
        ("row", None, "the guarantee says row, but the owner's data says assumed"),
        ("row", "patient", "the guarantee says row, but the owner's data says column"),
        ("column", "row", "the guarantee says column, but the owner's data says row"),
        ("column", "patient", None),
        ("row", "row", None),
        ("assumed", "row", None),
    ],
)
def test_that_rows_are_people_is_claimed_only_where_the_owner_said_so(
    tmp_path, said, reading, problem
):
    folder = release_of().write(tmp_path / "release", reading={"person": reading})
    say_of_rows(folder, said)
    assert ({} if problem is None else {"rows and people": problem}) == failures(
        folder, original=original()
    )


def test_an_original_that_says_nothing_of_its_rows_does_not_show_that_they_are_people(folder):
    say_of_rows(folder, "row")
    for beside, outcome in (
        (original(), "not checked"),
        (None, "not checked"),
        (replace(original(), person="row"), "holds"),
        (replace(original(), person="column"), "fails"),
    ):
        checks = {check.name: check.outcome for check in verify(folder, original=beside).checks}
        assert outcome == checks["rows and people"]
    say_of_rows(folder, "assumed")
    assert "rows and people" not in {check.name for check in verify(folder).checks}
