"""Releases whose data lies in parts: written, read, verified, and forged."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import graphveil as gv
from forged.kit import read_manifest, reseal
from graphveil.claims import parts
from graphveil.cli import run as command_line
from graphveil.core.errors import InputError, ReleaseError, UsageError
from graphveil.engines import LocalEngine
from graphveil.io import FORMATS, BipartiteOptions
from graphveil.io import parts as list_parts
from graphveil.methods.smooth_k import Chunks, SmoothK
from graphveil.scale import parts as written_parts
from graphveil.verify.kinds import feature_parts
from odd_engines import Interrupted, ScrambledEngine

ALONE = LocalEngine(jobs=1)

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


@dataclass(frozen=True)
class InOrder:
    """Rows one after the other in groups of k."""

    k: int

    def __call__(self, rows, rng):
        del rng
        last = max(rows.n_rows // self.k, 1) - 1
        return np.minimum(np.arange(rows.n_rows) // self.k, last).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class Quick(SmoothK):
    """`SmoothK` without its search."""

    def clustering(self):
        return InOrder(self.k)


METHOD = Quick(k=2, chunks=Chunks(rows=6))


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    set_sizes(monkeypatch, users=15, group=4)


def set_sizes(monkeypatch, *, users, group):
    monkeypatch.setattr(parts, "PART_USERS", users)
    monkeypatch.setattr(list_parts, "GROUP_ROWS", group)
    monkeypatch.setattr(feature_parts, "GROUP_ROWS", group)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return {}, tmp_path_factory.mktemp("made")


@pytest.fixture
def released(made, tmp_path):
    """Give what copies a release of numbers or of text, which is made once."""
    known, folder = made

    def copy(*, text=False):
        if text not in known:
            known[text] = run(likes(text=text), folder, f"text-{text}")
        out = known[text]
        for name in (out.name, f"{out.name}.private"):
            shutil.copytree(out.with_name(name), tmp_path / name.replace(out.name, "out"))
        return tmp_path / "out"

    return copy


def likes(n=40, *, text=False, seed=0):
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((n, 12)) < 0.25]
    users = (rng.permutation(n) + 100).tolist()
    if text:
        rows = [[f"it'em {feature:02d}" for feature in row] for row in rows]
        users = [f"person-{user:03d}" for user in users]
    return pa.table({"user": users, "items": pa.array(rows)})


def run(table, folder, name="out", **options):
    path = folder / "likes.parquet"
    parquet.write_table(table, path)
    given = {"engine": ALONE, "seed": 4, "reading": BipartiteOptions(items="things"), **options}
    return gv.anonymize_rows(given.pop("method", METHOD), path, folder / name, **given)


def files_of(out):
    public = {p.relative_to(out).as_posix(): p for p in out.rglob("*") if p.is_file()}
    private = out.with_name(f"{out.name}.private") / "linkage.parquet"
    return {name: p.read_bytes() for name, p in {**public, "linkage": private}.items()}


def part(out, number):
    return out / parts.part_name(number)


def rows_of(out):
    """Return all rows of the parts, as another reader has them."""
    tables = [parquet.read_table(path) for path in sorted((out / "data").iterdir())]
    return pa.concat_tables(tables)


def failed(verdict):
    return {check.name: check.detail for check in verdict.checks if check.outcome == "fails"}


# written


@pytest.mark.parametrize("text", [False, True])
def test_a_release_in_parts_holds_what_one_file_would(tmp_path, text):
    table = likes(text=text)
    out = run(table, tmp_path)
    whole = run(table, tmp_path, "whole", parts=False)
    names = [parts.part_name(number) for number in range(3)]
    assert sorted([*names, "release.json", "linkage"]) == sorted(files_of(out))
    assert files_of(whole)["linkage"] == files_of(out)["linkage"]
    assert [15, 15, 10] == [len(parquet.read_table(out / name)) for name in names]
    assert list(range(40)) == rows_of(out)["user"].to_pylist()
    one, other = gv.read_release(out), gv.read_release(whole)
    assert one.data.to_lists().equals(other.data.to_lists())
    assert (one.data.items, one.guarantee) == (other.data.items, other.guarantee)
    assert one.private.cost == other.private.cost
    counts = [read_manifest(folder)["data"]["counts"] for folder in (out, whole)]
    assert counts[0] == counts[1]


def test_a_rows_items_stand_in_the_order_of_their_names_and_a_row_without_any_is_an_empty_list(
    released,
):
    rows = rows_of(released())["items"].to_pylist()
    assert [] in rows
    assert all(row == sorted(set(row)) for row in rows)


@settings(deadline=None, max_examples=8)
@given(
    st.lists(st.lists(st.integers(0, 9)), min_size=4, max_size=24),
    st.booleans(),
    st.integers(1, 9),
    st.integers(1, 5),
)
def test_any_rows_give_the_same_parts_on_any_engine(tmp_path_factory, rows, text, users, group):
    folder = tmp_path_factory.mktemp("rows")
    kind = pa.string() if text else pa.int64()
    items = [[f"item\n'{item}" for item in row] if text else row for row in rows]
    table = pa.table({"user": range(len(rows)), "items": pa.array(items, pa.list_(kind))})
    with pytest.MonkeyPatch.context() as patched:
        set_sizes(patched, users=users, group=group)
        out = run(table, folder, parts=True)
        there = run(table, folder, "there", parts=True, engine=ScrambledEngine(0))
        verdict = gv.verify_release(out, original=gv.read_bipartite(folder / "likes.parquet"))
        sizes = [len(parquet.read_table(path)) for path in sorted((out / "data").iterdir())]
    assert files_of(out) == files_of(there)
    assert verdict.ok, verdict
    full, rest = divmod(len(rows), users)
    assert [users] * full + [rest] * (rest > 0) == sizes
    assert list(range(len(rows))) == rows_of(out)["user"].to_pylist()
    assert gv.read_release(out).data.to_lists().to_pylist() == rows_of(out).to_pylist()


def test_boundaries_of_parts_know_nothing_of_chunks(tmp_path):
    sizes = set()
    for chunk_rows in (4, 6, 10, 40):
        method = Quick(k=2, chunks=Chunks(rows=chunk_rows))
        out = run(likes(), tmp_path, f"out-{chunk_rows}", method=method)
        sizes.add(tuple(file["rows"] for file in read_manifest(out)["data"]["files"]))
    assert {(15, 15, 10)} == sizes


def test_more_users_than_a_part_holds_come_in_parts_unless_one_file_is_wanted(tmp_path):
    assert parts.in_parts(gv.release.read_manifest(run(likes(16), tmp_path, "a")).data.files)
    for name, n, options in (
        ("b", 15, {}),
        ("c", 16, {"parts": False}),
        ("d", 16, {"format": "csv"}),
    ):
        manifest = gv.release.read_manifest(run(likes(n), tmp_path, name, **options))
        assert not parts.in_parts(manifest.data.files)


def test_parts_are_refused_where_there_are_none(tmp_path, capsys):
    with pytest.raises(UsageError, match="csv cannot be written in parts, which are Parquet files"):
        run(likes(), tmp_path, parts=True, format="csv")
    words = ["anonymize", "smooth-k", str(tmp_path / "likes.parquet"), "--k=2", "--items=things"]
    assert 2 == command_line([*words, "--parts", f"--out={tmp_path / 'out'}"])
    assert "a run in memory writes one file" in capsys.readouterr().err
    assert ["likes.parquet"] == [path.name for path in tmp_path.iterdir()]


def test_items_that_are_people_come_in_parts(tmp_path):
    rng = np.random.default_rng(1)
    rows = [sorted(rng.choice(40, 3, replace=False).tolist()) for _ in range(40)]
    table = pa.table({"user": range(40), "items": pa.array(rows)})
    out = run(table, tmp_path, reading=BipartiteOptions(items="people"))
    original = gv.read_bipartite(tmp_path / "likes.parquet", items="people")
    verdict = gv.verify_release(out, original=original)
    assert verdict.ok, verdict
    assert set(range(40)) >= set(rows_of(out)["items"].combine_chunks().flatten().to_pylist())


def test_a_run_that_was_interrupted_gives_the_same_parts(tmp_path):
    whole = run(likes(), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(likes(), tmp_path, "again", engine=Interrupted(jobs=1))
    assert files_of(whole) == files_of(run(likes(), tmp_path, "again"))


def test_nothing_is_left_where_a_part_cannot_be_written(tmp_path, monkeypatch):
    def full(groups, path):
        if path.name == "part-00001.parquet":
            raise OSError(28, "No space left on device")
        path.write_bytes(b"".join(b"." for _ in groups))

    monkeypatch.setattr(written_parts.list_parts, "write_lists", full)
    with pytest.raises(gv.core.errors.ResourceError, match="no space left"):
        run(likes(), tmp_path)
    assert [".out.working", "likes.parquet"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_release_in_parts_is_replaced_by_force_unless_it_holds_what_no_release_wrote(tmp_path):
    out = run(likes(), tmp_path)
    run(likes(), tmp_path, parts=False, force=True)
    assert ["data.parquet", "release.json", "users.csv"] == sorted(p.name for p in out.iterdir())
    run(likes(), tmp_path, force=True)
    (out / "data" / "notes.txt").write_text("mine")
    with pytest.raises(
        ReleaseError, match=r"contains data/notes\.txt, which graphveil did not write"
    ):
        run(likes(), tmp_path, force=True)


ONE_FORM = {
    "numbers": [[7, 9], [], [7]],
    "text": [["rye", "tea"], [], ["tea"]],
}
EXPECTED = {
    "numbers": (
        "504152311500152015202c1506150a150615061c00000002000000060180020403000200000000150015"
        "5e155e2c1508150a150615061c0000000200000003020300000003df00800204030e0303000000040000"
        "0000000000000000000000000000000000000000001504195c35001806736368656d6115040015042502"
        "18047573657200350218056974656d73150215064c3c000000350418046c697374150200150425021807"
        "656c656d656e74001606191c192c26001c15041925060a1918047573657215001606164616462608491c"
        "1500150a1502003c29061926000600000026001c15041925060a1938056974656d73046c69737407656c"
        "656d656e7415001608168401168401264e491c1500150a1502003c2926060219460002000600000016ca"
        "011606260816ca0100281767726170687665696c2076657273696f6e20312e302e30192c1c00001c0000"
        "00e800000050415231"
    ),
    "text": (
        "504152311500152015202c1506150a150615061c00000002000000060180020403000200000000150415"
        "1c151c4c1504150012000003000000727965030000007465611500152015202c15081510150615061c00"
        "00000200000003020300000003df000103061504195c35001806736368656d6115040015042502180475"
        "73657200350218056974656d73150215064c3c000000350418046c697374150200150c25021807656c65"
        "6d656e7425004c1c0000001606191c192c26001c15041925060a19180475736572150016061646164626"
        "08491c1500150a1502003c29061926000600000026001c150c19350006101938056974656d73046c6973"
        "7407656c656d656e7415001608167e167e268601264e292c15041500150200150015101502003c161219"
        "26060219460002000600000016c4011606260816c40100281767726170687665696c2076657273696f6e"
        "20312e302e30192c1c00001c000000f900000050415231"
    ),
}
"""Small parts in the one form, as pyarrow 20, 22, 24 and 26 wrote them."""


@pytest.mark.parametrize("kind", ONE_FORM)
def test_a_part_follows_from_its_rows_in_every_version_of_the_library(tmp_path, kind):
    items = pa.array(ONE_FORM[kind])
    rows = written_parts.as_lists(pa.array([0, 1, 2]), items.offsets, items.flatten())
    list_parts.write_lists([rows], tmp_path / "part")
    assert EXPECTED[kind] == (tmp_path / "part").read_bytes().hex()


# verified


def forged_rows(out, number, change):
    """Write a part anew in the one form, of other rows, and seal the release."""
    table = parquet.read_table(part(out, number))
    rows = change(table)
    items = rows["items"].combine_chunks()
    lists = written_parts.as_lists(
        rows["user"].combine_chunks(), items.offsets.to_numpy() - items.offset, items.flatten()
    )
    sizes = range(0, max(lists.num_rows, 1), list_parts.GROUP_ROWS)
    groups = [lists.slice(at, list_parts.GROUP_ROWS).combine_chunks() for at in sizes]
    list_parts.write_lists(groups, part(out, number))
    reseal(out)


def with_row(table, row, **values):
    columns = {**table.to_pydict()}
    for name, value in values.items():
        columns[name][row] = value
    return pa.table(columns, schema=table.schema)


def without_row(table, row):
    return table.take([at for at in range(table.num_rows) if at != row])


def changed_byte(out):
    content = bytearray(part(out, 1).read_bytes())
    content[len(content) // 2] ^= 1
    part(out, 1).write_bytes(content)


def swapped(out):
    one, other, away = part(out, 0), part(out, 1), out / "away"
    one.rename(away)
    other.rename(one)
    away.rename(other)


def listed(change):
    """Return what changes the list of files, sealed anew."""

    def forge(out):
        manifest = read_manifest(out)
        change(manifest["data"]["files"], out)
        reseal(out, manifest)

    return forge


def counted(out, **counts):
    manifest = read_manifest(out)
    manifest["data"]["counts"] |= counts
    reseal(out, manifest)


def _dropped(number):
    def change(files, out):
        part(out, number).unlink()
        del files[number]

    return listed(change)


def _too_many(files, out):
    shutil.copy(part(out, 2), part(out, 3))
    files.append({**files[2], "name": parts.part_name(3)})


def _as_one_file(files, out):
    part(out, 0).rename(out / "data.parquet")
    files[0] |= {"name": "data.parquet"}


def _longer(files, out):
    del out
    files[0]["rows"] += 1


def _of_spark(out, **options):
    """Write a part as another program would."""
    parquet.write_table(parquet.read_table(part(out, 1)), part(out, 1), **options)
    reseal(out)


FORGERIES = {
    "a changed byte": (changed_byte, "files", "data/part-00001.parquet has SHA-256"),
    "a part missing": (
        lambda out: part(out, 1).unlink(),
        "files",
        "data/part-00001.parquet is missing",
    ),
    "two parts swapped": (swapped, "files", "data/part-00000.parquet has"),
    "a part too many": (
        lambda out: shutil.copy(part(out, 2), part(out, 3)),
        "no other files",
        "'data/part-00003.parquet' is in the folder but is not listed",
    ),
    "a file beside the parts": (
        lambda out: (out / "data" / "who.txt").write_text("ann is 0"),
        "no other files",
        "'data/who.txt' is in the folder but is not listed",
    ),
    "a folder of parts that is a link": (
        lambda out: ((out / "data").rename(out.parent / "away"), (out / "data").symlink_to("away")),
        "no other files",
        "'data' is in the folder but is not listed",
    ),
    "a changed byte, sealed anew": (
        lambda out: (changed_byte(out), reseal(out)),
        "data",
        "part-00001.parquet",
    ),
    "a dropped row": (
        lambda out: forged_rows(out, 1, lambda rows: without_row(rows, 3)),
        "data",
        "data/part-00001.parquet: row 4 is user 19, but must be user 18",
    ),
    "a dropped last row": (
        lambda out: forged_rows(out, 2, lambda rows: without_row(rows, 9)),
        "data",
        "data/part-00002.parquet has 9 rows, but release.json states 10",
    ),
    "two parts swapped, sealed anew": (
        lambda out: (swapped(out), reseal(out)),
        "data",
        "data/part-00000.parquet: row 1 is user 15, but must be user 0",
    ),
    "a part taken off the list": (
        _dropped(1),
        "description",
        "'data/part-00002.parquet' is listed instead of data/part-00001.parquet",
    ),
    "the last part taken off the list": (
        _dropped(2),
        "description",
        "2 files listed, but 40 users must be in 3 parts",
    ),
    "a part too many on the list": (
        listed(_too_many),
        "description",
        "4 files listed, but 40 users must be in 3 parts",
    ),
    "more users than parts could be counted of": (
        lambda out: counted(out, users=1 << 62),
        "description",
        "3 files listed, but 4611686018427387904 users must be in 307445734561825861 parts",
    ),
    "fewer than no users": (
        lambda out: counted(out, users=-1),
        "description",
        "3 files listed, but -1 users must be in 1 part",
    ),
    "a part of another name": (
        listed(_as_one_file),
        "description",
        "'data.parquet' is listed instead of data/part-00000.parquet",
    ),
    "a part of another size": (
        listed(_longer),
        "description",
        "data/part-00000.parquet is listed with 16 rows, but must have 15",
    ),
    "a part as another program writes it": (_of_spark, "data", "compressed with 'SNAPPY'"),
    "a part as another program writes it, not packed": (
        lambda out: _of_spark(out, compression="none"),
        "data",
        "part-00001.parquet, byte",
    ),
    "items in another order": (
        lambda out: forged_rows(out, 0, lambda rows: with_row(rows, 2, items=[8, 3])),
        "data",
        "data/part-00000.parquet: row 3, user 2: the item 3 is not in ascending order",
    ),
    "an item twice": (
        lambda out: forged_rows(out, 0, lambda rows: with_row(rows, 2, items=[3, 3])),
        "data",
        "the item 3 is not in ascending order",
    ),
    "an item below 0": (
        lambda out: forged_rows(out, 0, lambda rows: with_row(rows, 2, items=[-3, 3])),
        "data",
        "the item -3 is below 0",
    ),
    "a user without a list": (
        lambda out: forged_null(out, "items"),
        "data",
        "a user in rows 1 to 15 has no list",
    ),
    "a user without an id": (
        lambda out: forged_null(out, "user"),
        "data",
        "a user in rows 1 to 15 has no id",
    ),
    "no Parquet": (
        lambda out: (part(out, 2).write_bytes(b"ann is 0"), reseal(out)),
        "data",
        "data/part-00002.parquet cannot be read",
    ),
}


def forged_null(out, name):
    table = parquet.read_table(part(out, 0))
    parquet.write_table(with_row(table, 7, **{name: None}), part(out, 0), compression="none")
    reseal(out)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_part_is_noticed_and_named(released, forgery):
    out = released()
    forge, check, said = FORGERIES[forgery]
    forge(out)
    verdict = gv.verify_release(out)
    assert not verdict.ok
    assert said in failed(verdict)[check]


def test_the_least_change_of_a_text_part_is_noticed(released):
    out = released(text=True)
    reseal(out)
    assert set() == set(failed(gv.verify_release(out))) - {"owner's record"}
    forged_rows(out, 1, lambda rows: with_row(rows, 0, items=["it'em 03", "it'em 01"]))
    assert 'row 1, user 15: the item "it\'em 01"' in failed(gv.verify_release(out))["data"]


def test_items_of_whole_numbers_as_text_are_refused(released):
    out = released(text=True)
    for number in range(3):
        numbers = pa.array([["7"]] * [15, 15, 10][number])
        forged_rows(out, number, lambda rows, n=numbers: rows.set_column(1, "items", n))
    assert (
        "items that are whole numbers are stored as string"
        in failed(gv.verify_release(out))["data"]
    )


def test_a_class_that_is_too_small_over_two_parts_is_named(tmp_path):
    out = run(likes(), tmp_path, method=Quick(k=3, chunks=Chunks(rows=12)))
    assert gv.verify_release(out).ok
    rows = rows_of(out)["items"].to_pylist()
    members = {tuple(row): [u for u, other in enumerate(rows) if other == row] for row in rows}
    three = next(users for users in members.values() if len(users) == 3 and users[1] // 15 == 0)
    one, leaving, other = three[0], three[1], three[2]
    assert (one // 15, other // 15) == (0, 2)
    large = list(max(members, key=lambda row: len(members[row])))
    forged_rows(out, 0, lambda table: with_row(table, leaving, items=large))
    manifest = read_manifest(out)
    manifest["data"]["counts"]["entries"] += len(large) - len(rows[leaving])
    reseal(out, manifest)
    problems = failed(gv.verify_release(out))
    assert {"classes", "owner's record"} == set(problems)
    assert (
        f"holds 2 users, fewer than k=3: {one}, {other} (2 users in 1 class" in problems["classes"]
    )


def test_classes_over_parts_are_those_of_one_file(tmp_path):
    folders = [run(likes(60), tmp_path), run(likes(60), tmp_path, "whole", parts=False)]
    said = [
        next(check.detail for check in gv.verify_release(out).checks if check.name == "classes")
        for out in folders
    ]
    assert said[0] == said[1]


def test_the_limit_is_that_of_a_part(released):
    out = released()
    sizes = [path.stat().st_size for path in (out / "data").iterdir()]
    gv.verify.verify(out, limit_bytes=max(sizes))
    with pytest.raises(gv.core.errors.ResourceError, match=r"data/part-0000\d\.parquet"):
        gv.verify.verify(out, limit_bytes=max(sizes) - 1)


def test_few_words_that_unpack_to_much_text_are_refused(released):
    out = released(text=True)
    forged_rows(out, 0, lambda rows: rows.set_column(1, "items", pa.array([["x" * 9000]] * 15)))
    verdict = gv.verify.verify(out, limit_bytes=100_000)
    assert "data/part-00000.parquet" in failed(verdict)["data"]
    assert part(out, 0).stat().st_size < 100_000


# read


def test_a_part_that_is_missing_or_odd_is_one_line(released):
    out = released()
    part(out, 2).write_bytes(b"no Parquet")
    with pytest.raises(
        InputError, match=r"data/part-00002\.parquet is not a valid part of a release"
    ):
        gv.read_release(out)
    part(out, 1).unlink()
    with pytest.raises(InputError, match=r"data/part-00001\.parquet is missing"):
        gv.read_release(out)


def test_every_verb_takes_a_release_in_parts(tmp_path, capsys):
    out, path = run(likes(), tmp_path), tmp_path / "likes.parquet"
    for words in (
        ["verify", out, "--original", path, "--strict"],
        ["evaluate", out, "--original", path],
        ["attack", out, "--original", path, "--attacks", "linkage"],
        ["measure", out],
        ["convert", out, "--out", tmp_path / "copy.csv", "--out-ids", tmp_path / "ids.csv"],
        ["report", out],
        ["report", out, "--as", "croissant", "--out", tmp_path / "croissant.json"],
        ["report", out, "--as", "datapackage", "--out", tmp_path / "package.json"],
    ):
        assert 0 == command_line([str(word) for word in words]), capsys.readouterr().err
    copy = gv.read_bipartite(tmp_path / "copy.csv", items="things")
    assert copy.n_entries == read_manifest(out)["data"]["counts"]["entries"]
    croissant = json.loads((tmp_path / "croissant.json").read_bytes())
    named = {one["@id"] for one in croissant["distribution"]}
    assert {"data", *(parts.part_name(number) for number in range(3))} == named
    (records,) = croissant["recordSet"]
    assert [{"@id": "data"}] * 2 == [f["source"]["fileSet"] for f in records["field"]]
    (resource,) = json.loads((tmp_path / "package.json").read_bytes())["resources"]
    assert [f"out/{parts.part_name(number)}" for number in range(3)] == resource["path"]


def test_the_command_writes_parts_on_the_disk(tmp_path, capsys):
    parquet.write_table(likes(), tmp_path / "likes.parquet")
    words = ["anonymize", "suppress-k", tmp_path / "likes.parquet", "--k=2", "--chunk-rows=20"]
    words += ["--items=things", "--on-disk", "--jobs=1"]
    for name, more in (("a", ["--parts"]), ("b", ["--no-parts"])):
        given = [*words, *more, f"--out={tmp_path / name}"]
        assert 0 == command_line([str(word) for word in given]), capsys.readouterr().err
    assert ["data", "release.json"] == sorted(path.name for path in (tmp_path / "a").iterdir())
    assert (tmp_path / "b" / "data.parquet").is_file()
    assert gv.verify_release(tmp_path / "a").ok


def test_a_graph_does_not_come_in_parts(tmp_path):
    graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    out = gv.KDegree(k=2).anonymize(graph).write(tmp_path / "out", format="parquet")
    manifest = read_manifest(out)
    (out / "data").mkdir()
    (out / "data.parquet").rename(part(out, 0))
    manifest["data"]["files"][0]["name"] = parts.part_name(0)
    reseal(out, manifest)
    problems = failed(gv.verify_release(out))
    assert "data of kind graph cannot be in parts" in problems["description"]
    assert "data of kind graph cannot be in parts" in problems["data"]
    with pytest.raises(ReleaseError, match="data of kind graph cannot be in parts"):
        gv.read_release(out)


def test_every_group_of_rows_has_its_size_however_rows_come():
    rows = pa.table({"x": range(10)})
    for cuts in ([10], [1] * 10, [0, 3, 0, 7]):
        starts = np.cumsum([0, *cuts])
        tables = [rows.slice(int(at), n) for at, n in zip(starts, cuts, strict=False)]
        made = list(list_parts.in_sizes(tables, [4, 4, 2]))
        assert [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] == [table["x"].to_pylist() for table in made]
    with pytest.raises(ValueError, match="2 rows are left, but 3 are needed"):
        list(list_parts.in_sizes([rows], [8, 3]))
    with pytest.raises(ValueError, match="13 rows are left, but none is needed"):
        list(list_parts.in_sizes([rows, rows], [4, 3]))


def test_no_row_is_left_out_of_the_parts_and_all_is_done_when_they_are_written(tmp_path):
    done = []

    def rows():
        for start in (0, 9):
            ids = pa.array(range(start, start + 9))
            yield written_parts.as_lists(ids, [0] * 10, pa.array([], pa.int64()))
        done.append("the last row")

    (tmp_path / "out").mkdir()
    with pytest.raises(ValueError, match="1 row is left"):
        written_parts.write_parts(rows(), 17, tmp_path / "out")
    (tmp_path / "again").mkdir()
    described = written_parts.write_parts(rows(), 18, tmp_path / "again")
    assert [15, 3] == [file.rows for file in described]
    assert 2 == len(done)


def test_parts_are_parquet_that_any_reader_reads(released):
    out = released()
    content = part(out, 0).read_bytes()
    file = parquet.ParquetFile(io.BytesIO(content))
    assert "graphveil version 1.0.0" == file.metadata.created_by
    assert file.metadata.metadata is None
    assert FORMATS["parquet"].extensions[0] == part(out, 0).suffix
    read = gv.read_bipartite(part(out, 0), items="things")
    assert read.n_users == 15
