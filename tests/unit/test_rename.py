from __future__ import annotations

import hashlib
import hmac
import json
import os
import pickle
import shutil
import traceback
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphveil as gv
from forged.kit import parquet_of
from graphveil.core.errors import (
    DataError,
    GraphveilError,
    InfeasibleError,
    InputError,
    ParameterError,
    UsageError,
)
from graphveil.verify.promises.renaming import FREE, FROM_KEY, SAME

SECRET = bytes(range(32))
FRIENDS = gv.Graph.from_edges(["ann", "bob", "cyd", "ann"], ["bob", "cyd", "dan", "eve"])
LIKES = gv.Bipartite.from_pairs(["ann", "cyd", "fay"], ["tea", "rye", "tea"])
PEOPLE = gv.Table.from_columns(
    {"sex": ["f", "m", "*", "f"], "age": [30, 40, None, 50]}, ids=["ann", "bob", "cyd", "gil"]
)
EVERY = {"graph": FRIENDS, "bipartite": LIKES, "table": PEOPLE}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.GraphveilWarning)
        yield


@pytest.fixture
def key(tmp_path):
    return gv.Key.new(tmp_path / "people.key")


def renamed(data, **how):
    return gv.Rename(**how).anonymize(data)


def new_id_of(release):
    linkage = release.private.linkage
    return dict(zip(linkage.original.tolist(), linkage.released.tolist(), strict=True))


def outcomes(verdict):
    return {check.name: check.outcome for check in verdict.checks}


def advice_of(release, words):
    return [text for text in release.private.warnings if words in text]


@pytest.mark.parametrize("kind", EVERY)
def test_a_person_has_the_same_new_id_in_every_file_of_a_key(kind, key):
    ids = [new_id_of(renamed(data, key=key)) for data in EVERY.values()]
    again = new_id_of(renamed(EVERY[kind], key=key))
    assert again in ids
    assert 1 == len({each["ann"] for each in ids})
    assert ids[0]["cyd"] == ids[1]["cyd"] == ids[2]["cyd"]
    everyone = {name: new for each in ids for name, new in each.items()}
    assert len(everyone) == len(set(everyone.values()))


def test_another_key_gives_other_ids_and_no_key_gives_the_first_numbers(key):
    with_key, with_other = (new_id_of(renamed(FRIENDS, key=k)) for k in (key, SECRET))
    assert set() == set(with_key.values()) & set(with_other.values())
    assert [0, 1, 2, 3, 4] == sorted(new_id_of(renamed(FRIENDS)).values())


def test_a_new_id_is_63_bits_of_hmac_sha256_of_the_id_as_text():
    message = b"graphveil rename 1\0" + "Zoë".encode()
    digest = hmac.new(SECRET, message, hashlib.sha256).digest()
    ids = gv.Key.parse(SECRET).new_ids(np.array(["Zoë", "7"], dtype=np.dtypes.StringDType()))
    assert int.from_bytes(digest[:8], "big") // 2 == ids[0]
    assert gv.Key.parse(SECRET).new_ids(np.array([7])).tolist() == ids[1:].tolist()
    assert ids.min() >= 0


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("kind", EVERY)
def test_a_release_with_a_key_verifies_and_is_read_back_as_written(tmp_path, key, kind, form):
    release = renamed(EVERY[kind], key=key)
    folder = release.write(tmp_path / "out", format=form)
    back = gv.read_release(folder)
    assert release.data == back.data
    assert sorted(back.data.labels().tolist()) == back.data.labels().tolist()
    assert gv.verify_release(folder, original=EVERY[kind], key=key).complete
    without = gv.verify_release(folder, original=EVERY[kind])
    assert without.ok
    assert "not checked" == outcomes(without)[FROM_KEY]


@pytest.mark.parametrize("kind", EVERY)
def test_another_key_than_the_one_used_fails(tmp_path, key, kind):
    folder = renamed(EVERY[kind], key=key).write(tmp_path / "out")
    verdict = gv.verify_release(folder, original=EVERY[kind], key=SECRET)
    assert [FROM_KEY] == [check.name for check in verdict.failures()]


def test_the_key_is_nowhere_but_in_its_file(tmp_path, key):
    digits = (tmp_path / "people.key").read_text().strip()
    release = renamed(FRIENDS, key=key)
    release.write(tmp_path / "out")
    written = [p for p in tmp_path.rglob("*") if p.is_file() and p.name != "people.key"]
    assert 5 == len(written)
    for path in written:
        assert digits.encode() not in path.read_bytes()
        assert bytes.fromhex(digits) not in path.read_bytes()
    manifest = (tmp_path / "out" / "release.json").read_text()
    assert "people.key" not in manifest
    for shown in (
        repr(gv.Key.parse(SECRET)),
        str(gv.Key.parse(SECRET)),
        repr(gv.Rename(key=SECRET)),
    ):
        assert SECRET.hex() not in shown
        assert repr(SECRET) not in shown


def test_the_order_of_a_release_with_a_key_is_that_of_the_new_ids(tmp_path, key):
    folder = renamed(PEOPLE, key=key).write(tmp_path / "out")
    lines = [line.split(",") for line in (folder / "data.csv").read_text().splitlines()]
    assert ["id", "sex", "age"] == lines[0]
    ids = [int(line[0]) for line in lines[1:]]
    assert sorted(ids) == ids
    moved = PEOPLE.permuted(np.array([2, 0, 3, 1]), ids=PEOPLE.labels()[[2, 0, 3, 1]])
    again = renamed(moved, key=key).write(tmp_path / "again")
    assert (folder / "data.csv").read_bytes() == (again / "data.csv").read_bytes()


def test_items_that_are_people_get_the_ids_of_the_key_too(tmp_path, key):
    who_follows_whom = gv.Bipartite.from_pairs(["ann", "bob"], ["bob", "hal"], items="people")
    release = renamed(who_follows_whom, key=key)
    ids = new_id_of(release)
    assert {ids["bob"], ids["hal"]} == set(release.data.feature_labels().tolist())
    assert ids["ann"] == new_id_of(renamed(FRIENDS, key=key))["ann"]
    folder = release.write(tmp_path / "out")
    assert gv.verify_release(folder, original=who_follows_whom, key=key).complete
    assert gv.evaluate_release(folder, original=who_follows_whom)


def test_it_claims_nothing_with_a_seed_or_without_and_says_why(tmp_path):
    for seed in (None, 7):
        release = gv.Rename().anonymize(FRIENDS, seed=seed)
        assert gv.NotClaimed(reasons=("renamed",)) == release.guarantee
    folder = release.write(tmp_path / "out")
    claim = json.loads((folder / "release.json").read_text())["claim"]
    assert "not claimed" == claim["check"]
    assert "Only the ids were replaced" in claim["why"]
    assert advice_of(release, "anyone who knows the seed and the original ids")
    assert gv.verify_release(folder, original=FRIENDS).complete


def test_the_owner_is_told_how_many_are_unique():
    star = gv.Graph.from_edges([0] * 5, range(1, 6))
    cost = renamed(star).private.cost
    assert (1, 1) == (cost["unique_by_degree"], cost["unique_by_vrq"])
    paths = gv.Graph.from_edges([0, 1, 3, 4, 5], [1, 2, 4, 5, 6])
    release = renamed(paths)
    assert (0, 1) == (
        release.private.cost["unique_by_degree"],
        release.private.cost["unique_by_vrq"],
    )
    assert advice_of(
        release, "0 (0.0%) by their degree, 1 (14.3%) by the degrees of their neighbors"
    )
    assert 1 == renamed(LIKES).private.cost["unique_by_items"]
    assert 4 == renamed(PEOPLE).private.cost["unique_by_row"]


def test_a_column_that_may_name_people_is_pointed_out():
    names = [f"name {number}" for number in range(12)]
    listed = gv.Table.from_columns({"name": names, "sex": ["f", "m"] * 6})
    (advice,) = advice_of(renamed(listed), "a different value in nearly every row")
    assert (
        'name has a different value in nearly every row: if it identifies people, give ids="name"'
        in advice
    )
    assert [] == advice_of(renamed(gv.Table.from_columns({"sex": ["f", "m"] * 6})), "nearly every")


def tampered(tmp_path, data, change, **how):
    """Return the verdict on a release whose data file was changed, with all digests made anew."""
    folder = renamed(data, **how).write(tmp_path / "out")
    path = folder / "data.csv"
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{line}\n" for line in change(lines)))
    reseal(folder)
    return gv.verify_release(folder, original=data)


def reseal(folder):
    """Make digests and seal of the manifest, and of the owner's record, fit what stands there."""
    import msgspec  # noqa: PLC0415  for this alone

    def written(value):
        return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"

    manifest = json.loads((folder / "release.json").read_bytes())
    for file in manifest["data"]["files"]:
        raw = (folder / file["name"]).read_bytes()
        file["bytes"], file["sha256"] = len(raw), hashlib.sha256(raw).hexdigest()
    manifest["seal"] = ""
    manifest["seal"] = hashlib.sha256(written(manifest)).hexdigest()
    (folder / "release.json").write_bytes(written(manifest))
    record = folder.with_name("out.private") / "record.json"
    known = json.loads(record.read_bytes())
    known["manifest_sha256"] = hashlib.sha256(written(manifest)).hexdigest()
    record.write_bytes(written(known))


def failed(verdict):
    return {check.name: check.detail for check in verdict.failures()}


@pytest.mark.parametrize("with_key", [True, False])
def test_a_changed_cell_is_noticed_with_its_row_and_column(tmp_path, with_key):
    def change(lines):
        place = next(i for i, line in enumerate(lines) if line.endswith("f,30"))
        return [*lines[:place], lines[place].replace("f,30", "m,30"), *lines[place + 1 :]]

    how = {"key": SECRET} if with_key else {}
    problems = failed(tampered(tmp_path, PEOPLE, change, **how))
    assert [SAME] == [name for name in problems if name != "cost"]  # which needs no key
    assert (
        "a different value of 'sex' than in the original; 1 cell changed or suppressed in all"
        in problems[SAME]
    )


@pytest.mark.parametrize("with_key", [True, False])
def test_a_suppressed_cell_is_noticed(tmp_path, with_key):
    def change(lines):
        place = next(i for i, line in enumerate(lines) if line.endswith("f,30"))
        return [*lines[:place], lines[place].replace("f,30", "*,30"), *lines[place + 1 :]]

    how = {"key": SECRET} if with_key else {}
    problems = failed(tampered(tmp_path, PEOPLE, change, **how))
    assert "1 cell of the original suppressed" == problems[SAME]


@pytest.mark.parametrize("new", ["{next}", "{first}", "", "ann", "gone", "more"])
def test_a_linked_row_that_the_release_does_not_have_is_named(tmp_path, new):
    """The last row gets a different id, one of another row, none or a word, or is deleted."""
    last = ""

    def change(lines):
        nonlocal last
        last, _, cells = lines[-1].partition(",")
        other = new.format(next=int(last) + 1, first=lines[1].partition(",")[0])
        if new == "more":
            return [*lines, lines[-1]]
        return lines[:-1] + ([] if new == "gone" else [f"{other},{cells}"])

    problems = failed(tampered(tmp_path, PEOPLE, change, key=SECRET))
    if new == "more":
        assert f"2 rows of the release with id {last}" == problems["linkage"]
    elif new != "":  # the reader refuses a row without id
        assert f"the release does not have the id {last}, which is linked" in problems["linkage"]
    assert problems


@pytest.mark.parametrize("kind", ["graph", "bipartite"])
def test_a_linked_id_without_a_row_fails(tmp_path, kind):
    def change(lines):
        ids = {int(cell) for line in lines[1:] for cell in line.split(",") if cell.isdigit()}
        last = str(max(ids))
        rows = [[str(max(ids) + 1) if c == last else c for c in x.split(",")] for x in lines[1:]]
        return [lines[0], *map(",".join, rows)]

    assert failed(tampered(tmp_path, EVERY[kind], change, key=SECRET))


def test_an_edge_that_is_no_edge_of_the_original_is_noticed(tmp_path):
    whole = renamed(gv.Graph.from_edges(range(5), [1, 2, 3, 4, 0])).data.edges().tolist()

    def change(lines):
        pairs = [line.split(",") for line in lines[1:]]
        every = [(u, v) for u in range(5) for v in range(u + 1, 5)]
        missing = next(p for p in every if [str(x) for x in p] not in pairs)
        edges = sorted([*(tuple(map(int, p)) for p in pairs[1:]), missing])
        return [lines[0], *(f"{u},{v}" for u, v in edges)]

    ring = gv.Graph.from_edges(range(5), [1, 2, 3, 4, 0])
    assert 5 == len(whole)
    problems = failed(tampered(tmp_path, ring, change))
    assert "1 edge added and 1 removed, of 5" in problems[SAME]


def test_ids_of_a_key_out_of_order_twice_or_misspelled_are_noticed(tmp_path):
    changes = {
        "canonical order": lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        "ids": lambda lines: [lines[0], lines[1], lines[1], *lines[3:]],
    }
    for number, (name, change) in enumerate(changes.items()):
        (tmp_path / f"{number}").mkdir()
        verdict = tampered(tmp_path / f"{number}", PEOPLE, change, key=SECRET)
        assert name in failed(verdict)
    for number, before in enumerate(["0", "x"]):
        (tmp_path / f"spelled-{number}").mkdir()

        def spelled(lines, before=before):
            return [lines[0], f"{before}{lines[1]}", *lines[2:]]

        verdict = tampered(tmp_path / f"spelled-{number}", PEOPLE, spelled, key=SECRET)
        assert f"line 2 of data.csv has the id '{before}" in failed(verdict)["ids"]


def test_ids_of_a_key_beside_a_claim_are_refused(tmp_path):
    ring = gv.Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    folder = gv.KDegree(k=2).anonymize(ring).write(tmp_path / "out")
    manifest = json.loads((folder / "release.json").read_bytes())
    manifest["claim"]["conditions"].append({"type": "keyed-ids"})
    (folder / "release.json").write_text(json.dumps(manifest))
    assert "cannot be combined with a guarantee" in failed(gv.verify_release(folder))[FREE]


FURTHER = {
    "graph": [
        {"type": "same-degrees"},
        {"type": "exact-size", "size": "4"},
        {"type": "supergraph"},
        {
            "type": "block-flips",
            "cells": "10",
            "epsilon_cells": "2",
            "noisy_count": "3",
            "sizes": [5],
            "weights": ["1000000000000"],
        },
    ],
    "bipartite": [{"type": "nothing-added"}, {"type": "true-of-share", "theta": "2/3"}],
    "table": [{"type": "nothing-added"}, {"type": "stars-by-row", "rows": [[0, 3], [2, 1]]}],
}
"""Conditions that are checked of ids 0, 1, 2, by the kind of data."""


@pytest.mark.parametrize(
    ("kind", "condition"),
    [(kind, condition) for kind, listed in FURTHER.items() for condition in listed],
    ids=str,
)
def test_no_other_condition_stands_beside_ids_of_a_key(tmp_path, kind, condition):
    folder = renamed(EVERY[kind], key=SECRET).write(tmp_path / "out")
    manifest = json.loads((folder / "release.json").read_bytes())
    manifest["claim"]["conditions"].append(condition)
    (folder / "release.json").write_text(json.dumps(manifest))
    reseal(folder)
    verdict = gv.verify_release(folder, original=EVERY[kind], key=SECRET)
    assert "cannot be combined with this condition" in failed(verdict)[FREE]
    assert {"holds"} == {outcomes(verdict)[name] for name in (SAME, FROM_KEY)}


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("with_original", [True, False])
def test_the_column_of_ids_has_the_one_name(tmp_path, form, with_original):
    folder = renamed(PEOPLE, key=SECRET).write(tmp_path / "out", format=form)
    given = {"original": PEOPLE, "key": SECRET} if with_original else {}
    reseal(folder)
    assert gv.verify_release(folder, **given).ok
    path = next(folder.glob("data.*"))
    if form == "parquet":
        content = parquet_of(pq.read_table(path).rename_columns(["ann is 0", "sex", "age"]))
    else:
        content = path.read_bytes().replace(b"id", b"ann is 0", 1)
    path.write_bytes(content)
    manifest = json.loads((folder / "release.json").read_bytes())
    manifest["data"]["files"][0]["columns"][0] = "ann is 0"
    manifest["data"]["cells"][0]["name"] = "ann is 0"
    (folder / "release.json").write_text(json.dumps(manifest))
    reseal(folder)
    assert {FREE: "the column of ids is named 'ann is 0', not 'id'"} == failed(
        gv.verify_release(folder, **given)
    )


def test_ids_of_ones_own_without_the_condition_are_refused(tmp_path):
    folder = renamed(FRIENDS, key=SECRET).write(tmp_path / "out")
    manifest = json.loads((folder / "release.json").read_bytes())
    manifest["claim"]["conditions"] = [{"type": "same-data"}]
    (folder / "release.json").write_text(json.dumps(manifest))
    assert "ids" in failed(gv.verify_release(folder))


def test_a_linkage_that_swaps_two_people_is_noticed(tmp_path):
    folder = renamed(PEOPLE, key=SECRET).write(tmp_path / "out")
    path = folder.with_name("out.private") / "linkage.parquet"
    table = pq.read_table(path)
    released = table["released"].to_pylist()
    released[0], released[1] = released[1], released[0]
    pq.write_table(pa.table({"original": table["original"], "released": released}), path)
    verdict = gv.verify_release(folder, original=PEOPLE, key=SECRET)
    assert {SAME, FROM_KEY, "linkage file"} == set(failed(verdict))


def test_a_format_without_room_for_ids_of_a_key_is_refused(tmp_path):
    with pytest.raises(InputError, match="Use csv, tsv or parquet"):
        renamed(FRIENDS, key=SECRET).write(tmp_path / "out", format="graphml")
    assert [] == list(tmp_path.iterdir())


def test_rows_without_ids_or_with_a_column_in_the_way_are_refused():
    for data, words in (
        (gv.Table.from_columns({"sex": ["f"]}), "these rows have only their numbers"),
        (gv.Table.from_columns({"id": ["f"]}, ids=["ann"]), "column id"),
    ):
        with pytest.raises(UsageError, match=words):
            renamed(data, key=SECRET)
    with pytest.raises(DataError, match="no columns other than ids"):
        renamed(gv.Table(np.zeros((1, 0)), (), (), ["ann"]), key=SECRET)


def test_a_seed_beside_a_key_is_refused():
    with pytest.raises(UsageError, match="a seed has no effect"):
        gv.Rename(key=SECRET).anonymize(FRIENDS, seed=3)


def test_two_people_with_one_new_id_are_refused(monkeypatch):
    monkeypatch.setattr(gv.Key, "new_ids", lambda _, ids: np.zeros(ids.size, dtype=np.int64))
    with pytest.raises(InfeasibleError, match="Create a different key"):
        renamed(FRIENDS, key=SECRET)


def test_a_new_key_is_random_for_its_owner_alone_and_replaces_nothing(tmp_path):
    one, two = (gv.Key.new(tmp_path / name) for name in ("one", "two"))
    assert one.secret() != two.secret()
    assert 32 == len(one.secret())
    if os.name == "posix":
        assert 0o600 == (tmp_path / "one").stat().st_mode & 0o777
    with pytest.raises(UsageError, match="exists"):
        gv.Key.new(tmp_path / "one")
    assert one.secret() != two.secret()


def test_what_is_no_key_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "short").write_text("abc\n")
    for name in ("short", "absent"):
        with pytest.raises(InputError, match="graphveil key FILE"):
            renamed(FRIENDS, key=tmp_path / name)
    with pytest.raises(ParameterError, match="5 bytes"):
        gv.Rename(key=b"short")
    with pytest.raises(ParameterError, match="key=<empty>"):
        gv.Rename(key="")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: gv.Rename(key=bytearray(SECRET)),
        lambda: gv.Rename(key=int.from_bytes(SECRET)),
        lambda: gv.Rename(key=list(SECRET)),
        lambda: renamed(FRIENDS, key=SECRET.hex()),
        lambda: renamed(FRIENDS, key=SECRET[:31].hex()),
        lambda: gv.Key(held_in_memory=SECRET.hex()),
        lambda: gv.Key(held_in_memory=bytearray(SECRET)),
        lambda: gv.Key(file=SECRET),
        lambda: gv.Key(file=Path("people.key"), held_in_memory=SECRET),
        gv.Key,
    ],
)
def test_no_message_shows_what_may_be_the_key(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GraphveilError, match="key") as refused:
        wrong()
    shown = "".join(traceback.format_exception_only(refused.value))
    for secret in (SECRET[:31].hex(), repr(SECRET)[2:-1], "1, 2, 3", str(int.from_bytes(SECRET))):
        assert secret not in shown


def test_the_name_of_the_file_may_be_text(key):
    assert gv.Key(file=str(key.file)) == key
    assert new_id_of(renamed(FRIENDS, key=gv.Key(file=str(key.file)))) == new_id_of(
        renamed(FRIENDS, key=key)
    )


@pytest.mark.skipif(os.name != "posix", reason="pipes have names under POSIX alone")
def test_a_key_is_read_once_so_a_pipe_can_bring_it(tmp_path, key):
    folder = renamed(FRIENDS, key=key).write(tmp_path / "out")

    def piped():
        end, start = os.pipe()
        os.write(start, key.file.read_bytes())
        os.close(start)
        return end

    for_ids, for_checks = piped(), piped()
    release = renamed(FRIENDS, key=f"/dev/fd/{for_ids}")
    assert new_id_of(renamed(FRIENDS, key=key)) == new_id_of(release)
    assert gv.verify_release(folder, original=FRIENDS, key=f"/dev/fd/{for_checks}").complete
    os.close(for_ids)
    os.close(for_checks)


def test_a_pickle_of_a_key_in_a_file_does_not_hold_the_key(key):
    secret = key.secret()
    assert secret not in pickle.dumps(key)
    assert secret == pickle.loads(pickle.dumps(key)).secret()  # noqa: S301  our own


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_key_that_others_can_read_is_pointed_out(tmp_path, key):
    assert [] == advice_of(renamed(FRIENDS, key=key), "can read the key")
    (tmp_path / "people.key").chmod(0o644)
    assert advice_of(renamed(FRIENDS, key=key), "chmod 600")


def test_numbered_people_are_pointed_out_with_a_key():
    ring = gv.Graph.from_edges(range(4), [1, 2, 3, 0])
    assert advice_of(renamed(ring, key=SECRET), "must mean the same people in every file")
    assert [] == advice_of(renamed(FRIENDS, key=SECRET), "must mean the same people")


def test_without_the_linkage_what_needs_it_is_not_checked(tmp_path):
    folder = renamed(PEOPLE, key=SECRET).write(tmp_path / "out", linkage=False)
    verdict = gv.verify_release(folder, original=PEOPLE, key=SECRET)
    assert verdict.ok
    assert {"not checked"} == {outcomes(verdict)[name] for name in (SAME, FROM_KEY)}
    shutil.rmtree(tmp_path / "out.private")
    assert gv.verify_release(folder).ok


def test_it_is_called_by_name_with_a_key(tmp_path, key):
    release = gv.anonymize(FRIENDS, "rename", key=tmp_path / "people.key")
    assert new_id_of(release) == new_id_of(renamed(FRIENDS, key=key))
    with pytest.raises(GraphveilError, match="key=<int>"):
        gv.anonymize(FRIENDS, "rename", key=3)
