"""What the checker says of levels: of all pairs, of chosen pairs, and of what is done to them."""

from __future__ import annotations

import hashlib

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from levels import (
    BEFORE,
    BIPARTITE,
    ORDER,
    PEOPLE,
    SYMMETRIC,
    allowed_of,
    fits_of,
    keeps,
    people,
    release_of,
    table_of,
)
from tampering import failed, private

import graphveil as gv
from graphveil.claims.record import Record
from graphveil.data import Table
from graphveil.release import digest_of
from graphveil.verify import verify
from graphveil.verify.promises.rows import adaptive

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

PAIRS = "allowed pairs"


def original(before=BEFORE):
    return table_of(before, ids=people(len(before)))


def checks(folder, before=BEFORE):
    return {check.name: check for check in verify(folder, original=original(before)).checks}


def rewrite(folder, name, columns):
    """Write one of the owner's files anew, and its digest into the record: a careful forger."""
    path = private(folder) / name
    pq.write_table(pa.table(columns), path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    field = {"witness.parquet": "witness_sha256", "levels.parquet": "levels_sha256"}[name]
    put_into_record(folder, **{field: digest})


def put_into_record(folder, **fields):
    path = private(folder) / "record.json"
    record = msgspec.json.decode(path.read_bytes(), type=Record)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(record, **fields)))


@pytest.fixture
def by_chosen_pairs(monkeypatch):
    monkeypatch.setattr(adaptive, "WHOLE_ROWS", 0)


@pytest.mark.parametrize("after", [BIPARTITE, SYMMETRIC], ids=["bipartite", "symmetric"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_worked_example_keeps_level_2(tmp_path, after, form):
    release = release_of(BEFORE, after, order=ORDER)
    verdict = verify(release.write(tmp_path / "out", format=form), original=original())
    assert {} == failed(verdict)
    assert verdict.complete
    assert 8 == sum(row.count("*") for row in after)


def test_of_the_worked_example_nobody_is_said_to_have_more_than_the_fewest(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, order=ORDER).write(tmp_path / "out")
    said = checks(folder)[PAIRS].detail
    degrees = allowed_of(fits_of(BEFORE, BIPARTITE)).sum(axis=0)
    assert f"own {degrees.min()} to {degrees.max()} records" in said


def test_a_level_that_is_not_kept_is_refused_with_record_and_person_named(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, order=ORDER, level=3).write(tmp_path / "out")
    check = checks(folder)[PAIRS]
    allowed = allowed_of(fits_of(BEFORE, BIPARTITE))
    short = [ORDER.index(i) for i in np.flatnonzero(allowed.sum(axis=1) < 3)]
    assert "fails" == check.outcome
    assert f"record {min(short)} could belong to 2 people, but 3 are guaranteed" in check.detail


def test_star_after_star_is_removed_until_the_claim_breaks_and_that_is_what_fails(tmp_path):
    outcomes = set()
    for place, row in enumerate(BIPARTITE):
        for column in [c for c, cell in enumerate(row) if cell == "*"]:
            after = list(BIPARTITE)
            after[place] = row[:column] + BEFORE[place][column] + row[column + 1 :]
            folder = release_of(BEFORE, after, order=ORDER).write(tmp_path / f"{place}-{column}")
            kept = keeps(BEFORE, after, [2] * 6)
            failures = failed(verify(folder, original=original()))
            assert (set() if kept else {PAIRS}) == set(failures)
            outcomes.add(kept)
    assert {False} == outcomes
    wasteful = ["*000", "****", "*011", "**11", "1*00", "0*11"]
    assert keeps(BEFORE, wasteful, [2] * 6)
    folder = release_of(BEFORE, wasteful, order=ORDER).write(tmp_path / "wasteful")
    assert {} == failed(verify(folder, original=original()))


@settings(deadline=None, max_examples=12)
@given(st.data(), st.integers(1, 5))
def test_the_check_agrees_with_trying_all_assignments(tmp_path_factory, data, n):
    before = data.draw(st.lists(st.text("012*", min_size=2, max_size=2), min_size=n, max_size=n))
    stars = data.draw(st.lists(st.booleans(), min_size=2 * n, max_size=2 * n))
    after = ["".join("*" if stars[2 * i + c] else before[i][c] for c in range(2)) for i in range(n)]
    levels = data.draw(st.lists(st.integers(1, min(n, 3)), min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))
    release = release_of(before, after, level=1, levels=levels, order=order)
    folder = release.write(tmp_path_factory.mktemp("one") / "out")
    expected = "holds" if keeps(before, after, levels) else "fails"
    assert expected == checks(folder, before)[PAIRS].outcome
    (private(folder) / "linkage.parquet").unlink()
    without = checks(folder, before)[PAIRS]
    if expected == "holds":
        assert "holds" == without.outcome
        assert "in complete assignments" in without.detail


def test_each_person_has_their_own_level_whatever_the_order_of_levels(tmp_path):
    rows, levels = ["0", "0", "1"], [2, 2, 1]
    assert keeps(rows, rows, levels)
    assert not keeps(rows, rows, sorted(levels))
    folder = release_of(rows, rows, level=1, levels=levels).write(tmp_path / "out")
    assert "holds" == checks(folder, rows)[PAIRS].outcome


def test_without_the_linkage_a_record_that_fits_fewer_than_any_owner_asked_for_is_named(tmp_path):
    before, after = ["0", "0", "1"], ["0", "0", "*"]
    folder = release_of(before, after, level=1, levels=[2, 2, 2]).write(tmp_path / "out")
    (private(folder) / "linkage.parquet").unlink()
    said = checks(folder, before)[PAIRS]
    assert "fails" == said.outcome
    assert "record 2 could belong to 1 person, fewer than its owner requested" in said.detail


def test_without_the_linkage_a_common_level_needs_none(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, order=ORDER).write(tmp_path / "out", linkage=False)
    assert "holds" == checks(folder)[PAIRS].outcome
    assert not (private(folder) / "witness.parquet").exists()


def test_records_that_no_full_assignment_gives_to_people_are_refused(tmp_path):
    folder = release_of(["0", "1"], ["0", "0"], level=1).write(tmp_path / "out")
    said = checks(folder, ["0", "1"])
    assert (
        "no complete assignment of records to people is consistent with the data"
        in said[PAIRS].detail
    )
    assert "fails" == said["nothing added"].outcome


def test_without_the_original_levels_are_never_a_tick(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, order=ORDER).write(tmp_path / "out")
    check = next(check for check in verify(folder).checks if check.name == PAIRS)
    assert ("not checked", "--original") == (check.outcome, check.needs)


@pytest.mark.usefixtures("by_chosen_pairs")
def test_many_rows_are_checked_by_the_chosen_pairs_alone(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, order=ORDER).write(tmp_path / "out")
    assert "chosen pairs, each of which fits" in checks(folder)[PAIRS].detail
    assert "holds" == checks(folder)[PAIRS].outcome
    (private(folder) / "witness.parquet").unlink()
    check = checks(folder)[PAIRS]
    assert ("not checked", "the private file of chosen pairs") == (check.outcome, check.needs)


@pytest.mark.usefixtures("by_chosen_pairs")
@settings(deadline=None, max_examples=8)
@given(st.data())
def test_chosen_pairs_count_only_within_full_assignments_of_their_own(tmp_path_factory, data):
    fits = fits_of(BEFORE, BIPARTITE)
    drawn = st.lists(st.booleans(), min_size=36, max_size=36)
    chosen = fits & np.array(data.draw(drawn)).reshape(6, 6)
    folder = release_of(BEFORE, BIPARTITE, order=ORDER, pairs=chosen).write(
        tmp_path_factory.mktemp("one") / "out"
    )
    allowed = allowed_of(chosen)
    kept = (allowed.sum(axis=0) >= 2).all() and (allowed.sum(axis=1) >= 2).all()
    assert ("holds" if kept else "fails") == checks(folder)[PAIRS].outcome


@pytest.mark.usefixtures("by_chosen_pairs")
def test_chosen_pairs_that_are_forged_are_noticed(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, order=ORDER).write(tmp_path / "out")
    written = pq.read_table(private(folder) / "witness.parquet").to_pydict()
    record, person = written["record"], written["person"]
    rewrite(folder, "witness.parquet", {"record": record * 2, "person": person * 2})
    assert "holds" == checks(folder)[PAIRS].outcome
    own = {r: p for r, p in zip(record, person, strict=True) if PEOPLE[ORDER[r]] == p}
    repeated = {"record": [*own] * 3, "person": [*own.values()] * 3}
    rewrite(folder, "witness.parquet", repeated)
    assert "could belong to 1 person, but 2 are guaranteed" in checks(folder)[PAIRS].detail
    rewrite(folder, "witness.parquet", {"record": [*record, 0], "person": [*person, "fred"]})
    assert "1 of 15 chosen pairs do not fit, the first is record 0" in checks(folder)[PAIRS].detail
    rewrite(folder, "witness.parquet", {"record": [*record, 0], "person": [*person, "zoe"]})
    assert "a pair for record 0 whose record or person" in checks(folder)[PAIRS].detail
    rewrite(folder, "witness.parquet", {"record": [*record, 6], "person": [*person, "fred"]})
    assert "a pair for record 6" in checks(folder)[PAIRS].detail
    rewrite(folder, "witness.parquet", {"who": record})
    assert "witness.parquet cannot be read" in checks(folder)[PAIRS].detail


@pytest.mark.usefixtures("by_chosen_pairs")
def test_owners_files_with_ids_of_another_type_are_refused_in_one_line(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, levels=[2] * 6, order=ORDER).write(tmp_path / "out")
    rewrite(folder, "witness.parquet", {"record": [0, 1], "person": [5, 6]})
    check = checks(folder)[PAIRS]
    assert ("fails", 1) == (check.outcome, len(check.detail.splitlines()))
    rewrite(folder, "witness.parquet", {"record": ["a", "b"], "person": PEOPLE[:2]})
    assert "fails" == checks(folder)[PAIRS].outcome
    rewrite(folder, "levels.parquet", {"original": list(range(6)), "level": [2] * 6})
    check = checks(folder)[PAIRS]
    assert ("fails", 1) == (check.outcome, len(check.detail.splitlines()))


LEVELS = {
    "nobody's level is below the least of the claim": ({}, [1, 2, 2, 2, 2, 2], "below 2"),
    "a fraction": ({}, [2.5, 2, 2, 2, 2, 2], "levels of type 'DOUBLE'"),
    "above n": ({}, [7, 2, 2, 2, 2, 2], "the level 7, which is outside 1 to 6"),
    "no level at all": ({}, [None, 2, 2, 2, 2, 2], "the level None, which is outside 1 to 6"),
    "somebody twice": ({0: "bob"}, [2] * 6, "one level for each of 6 people"),
    "a stranger": ({0: "zoe"}, [2] * 6, "one level for each of 6 people"),
}


@pytest.mark.parametrize(("renamed", "levels", "says"), LEVELS.values(), ids=LEVELS)
def test_levels_that_are_none_are_refused(tmp_path, renamed, levels, says):
    folder = release_of(BEFORE, BIPARTITE, levels=[2] * 6, order=ORDER).write(tmp_path / "out")
    assert "holds" == checks(folder)[PAIRS].outcome
    names = [renamed.get(place, name) for place, name in enumerate(PEOPLE)]
    rewrite(folder, "levels.parquet", {"original": names, "level": levels})
    check = checks(folder)[PAIRS]
    assert "fails" == check.outcome
    assert says in check.detail


def test_levels_that_are_gone_or_changed_are_no_tick(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, levels=[2] * 6, order=ORDER).write(tmp_path / "out")
    path = private(folder) / "levels.parquet"
    pq.write_table(pa.table({"original": PEOPLE, "level": [3, 2, 2, 2, 2, 2]}), path)
    said = checks(folder)
    assert "fails" == said["levels file"].outcome
    path.unlink()
    said = checks(folder)
    assert ("not checked", "the private levels file") == (said[PAIRS].outcome, said[PAIRS].needs)
    assert "not checked" == said["levels file"].outcome


def test_a_record_without_its_owner_is_noticed_by_how_many_there_are(tmp_path):
    folder = release_of(BEFORE, BIPARTITE, order=ORDER).write(tmp_path / "out")
    (private(folder) / "record.json").unlink()
    (private(folder) / "linkage.parquet").unlink()
    fewer = table_of(BEFORE[:5], ids=PEOPLE[:5])
    said = {check.name: check for check in verify(folder, original=fewer).checks}
    assert "6 records for 5 people, so there is no complete assignment" == said[PAIRS].detail


REQUESTED, COLUMN = "requested levels", "asked"


def people_who_ask(levels):
    """Return 24 people: two columns of three values, and the level that each asks for."""
    cells = {"a": [i % 3 for i in range(24)], "b": [i // 3 % 3 for i in range(24)]}
    return Table.from_columns({**cells, COLUMN: levels})


LOW, HIGH = [2] * 24, [2, 3, 4, 5] * 6


@pytest.fixture
def forged(tmp_path):
    """A release made with every level 2, whose record has the digests of a table of levels 2-5."""
    folder = gv.Adaptive(levels=COLUMN).anonymize(people_who_ask(LOW), seed=1)
    folder = folder.write(tmp_path / "out")
    digest = digest_of(people_who_ask(HIGH))
    put_into_record(folder, input_sha256=digest, origins_sha256=(digest,))
    return folder


def against(folder, original):
    return {check.name: check for check in gv.verify_release(folder, original=original).checks}


def test_levels_of_another_table_are_refused_though_both_digests_are_replaced(forged):
    said = against(forged, people_who_ask(HIGH))
    assert "holds" == said["original"].outcome
    assert "holds" == said["levels file"].outcome
    assert "fails" == said[REQUESTED].outcome
    assert "states other levels for 18 people than the column 'asked'" in said[REQUESTED].detail
    assert "fails" == said[PAIRS].outcome


def test_people_are_judged_by_the_levels_of_the_original_where_the_copy_states_these_too(forged):
    written = pq.read_table(private(forged) / "levels.parquet").to_pydict()
    rewrite(forged, "levels.parquet", {**written, "level": HIGH})
    said = against(forged, people_who_ask(HIGH))
    assert "holds" == said[REQUESTED].outcome
    assert "fails" == said[PAIRS].outcome
    (private(forged) / "levels.parquet").unlink()
    assert "fails" == against(forged, people_who_ask(HIGH))[PAIRS].outcome


def test_levels_lowered_in_a_genuine_release_are_refused(tmp_path):
    original = people_who_ask(HIGH)
    folder = gv.Adaptive(levels=COLUMN).anonymize(original, seed=1).write(tmp_path / "out")
    genuine = gv.verify_release(folder, original=original)
    assert genuine.complete
    assert genuine.ok
    written = pq.read_table(private(folder) / "levels.parquet").to_pydict()
    rewrite(folder, "levels.parquet", {**written, "level": [2, *HIGH[1:3], 2, *HIGH[4:]]})
    said = against(folder, original)
    assert ["fails", "holds"] == [said[REQUESTED].outcome, said[PAIRS].outcome]
    assert "states other levels for 1 person" in said[REQUESTED].detail


def test_levels_below_the_least_level_are_raised_as_the_claim_states(tmp_path):
    original = people_who_ask(HIGH)
    method = gv.Adaptive(levels=COLUMN, least_level=3)
    folder = method.anonymize(original, seed=1).write(tmp_path / "out")
    assert gv.verify_release(folder, original=original).complete


def test_levels_that_no_column_of_the_original_holds_are_not_checked_and_it_is_said(tmp_path):
    original = people_who_ask(HIGH)
    folder = gv.Adaptive(levels=COLUMN).anonymize(original, seed=1).write(tmp_path / "out")
    without = original.without([COLUMN])
    put_into_record(folder, input_sha256=digest_of(without))
    said = against(folder, without)
    assert {"not checked"} == {said[REQUESTED].outcome, said[PAIRS].outcome}
    assert "the original has no column 'asked'" in said[PAIRS].detail
    assert not gv.verify_release(folder, original=without).ok
    # Levels of an array are in no original: the owner's file is all there is.
    folder = gv.Adaptive().anonymize(without, levels=np.array(HIGH), seed=1).write(tmp_path / "two")
    verdict = gv.verify_release(folder, original=without)
    said = {check.name: check for check in verdict.checks}
    assert ("not checked", "holds") == (said[REQUESTED].outcome, said[PAIRS].outcome)
    assert "levels.parquet alone states them" in str(verdict)


@pytest.mark.parametrize("cell", ["2.5", "0", "25", "two", None])
def test_a_cell_that_is_not_a_level_is_refused(forged, cell):
    strange = people_who_ask([cell, *map(str, HIGH[1:])])
    digest = digest_of(strange)
    put_into_record(forged, input_sha256=digest)
    said = against(forged, strange)
    assert "fails" == said[REQUESTED].outcome
    assert "not a whole number from 1 to 24" in said[REQUESTED].detail
    assert "fails" == said[PAIRS].outcome


@pytest.mark.parametrize("name", ["column", "level", "node", "parent", "leaves"])
def test_the_header_of_the_file_of_levels_is_not_a_published_column(tmp_path, name):
    original = people_who_ask(HIGH).to_pandas().rename(columns={COLUMN: name})
    method = gv.Adaptive(levels=name, known=("a",), attach=("b",))
    folder = method.anonymize(original, seed=1).write(tmp_path / "out")
    assert (folder / "levels.csv").exists()
    assert gv.verify_release(folder, original=original).complete
