"""The private folder in a place of its own: what lies there, what is refused, what is probed."""

from __future__ import annotations

import errno
import json
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.cli import run as command_line
from graphveil.core.errors import GraphveilWarning, ReleaseError, ResourceError, UsageError
from graphveil.engines import LocalEngine, SparkEngine
from graphveil.engines.spark import check_executors
from graphveil.io import BipartiteOptions
from graphveil.methods.smooth_k import Chunks, Greedy, SmoothK
from graphveil.release import read_record
from odd_engines import Interrupted, ScrambledEngine, Session

THINGS = BipartiteOptions(items="things")
METHOD = SmoothK(k=2, chunks=Chunks(rows=10), algorithm=Greedy(refine=None))
ALONE = LocalEngine(jobs=1)

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


@pytest.fixture
def lists(tmp_path):
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((40, 12)) < 0.25]
    path = tmp_path / "lists.parquet"
    parquet.write_table(pa.table({"user": list(range(100, 140)), "items": pa.array(rows)}), path)
    return path


@pytest.fixture
def sides(tmp_path):
    """Return a place to publish from, and one of the owner."""
    folders = tmp_path / "public", tmp_path / "owner"
    for folder in folders:
        folder.mkdir()
    return folders


def release(lists, out, **options):
    options = {"engine": ALONE, "reading": THINGS, "seed": 3, **options}
    return gv.anonymize_rows(METHOD, lists, out, **options)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def bytes_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# what lies where


@pytest.mark.parametrize("engine", [ALONE, ScrambledEngine(0)])
def test_the_release_is_the_same_and_nothing_private_lies_beside_it(lists, sides, engine):
    public, owner = sides
    here = release(lists, public / "here")
    there = release(lists, public / "there", private=owner / "lists", engine=engine)
    assert bytes_in(here) == bytes_in(there)
    assert ["here", "here.private", "there"] == names_in(public)
    assert ["lists"] == names_in(owner)
    assert ["linkage.parquet", "record.json"] == names_in(owner / "lists")
    assert 0o700 == stat.S_IMODE((owner / "lists").stat().st_mode)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in (owner / "lists").iterdir()}
    linked = (owner / "lists" / "linkage.parquet").read_bytes()
    assert (public / "here.private" / "linkage.parquet").read_bytes() == linked
    assert 3 == read_record(there, owner / "lists").seed
    assert read_record(there) is None


def test_an_unfinished_run_and_its_root_lie_beside_the_private_folder(lists, sides):
    public, owner = sides
    options = {"private": owner / "lists", "seed": None}
    with pytest.raises(KeyboardInterrupt), pytest.warns(GraphveilWarning, match="unfinished"):
        release(lists, public / "out", engine=Interrupted(), **options)
    assert [] == names_in(public)
    assert [".lists.working"] == names_in(owner)
    assert "root" in json.loads((owner / ".lists.working" / "run.json").read_bytes())
    out = release(lists, public / "out", **options)
    assert ["out"] == names_in(public)
    assert ["lists"] == names_in(owner)
    assert gv.verify_release(out).ok


def test_the_owner_checks_with_the_original_once_it_is_linked(lists, sides):
    public, owner = sides
    out = release(lists, public / "out", private=owner / "lists")
    original = gv.read_bipartite(lists, items="things")
    without = gv.verify_release(out, original=original)
    (public / "out.private").symlink_to(owner / "lists")
    verdict = gv.verify_release(out, original=original)
    assert without.ok
    assert verdict.ok
    unchecked = [check for check in without.checks if check.outcome == "not checked"]
    assert len(unchecked) > len([c for c in verdict.checks if c.outcome == "not checked"])


def test_other_releases_of_the_same_rows_are_seen_beside_both_folders(lists, sides):
    public, owner = sides
    release(lists, public / "one")
    release(lists, public / "two", private=owner / "of two")
    with pytest.warns(
        GraphveilWarning, match="2 other releases of this input .* the first is one:"
    ):
        release(lists, public / "three", private=owner / "of three")


def test_both_are_replaced_together_where_one_forces(lists, sides):
    public, owner = sides
    out = release(lists, public / "out", private=owner / "lists")
    before = bytes_in(owner / "lists")
    with pytest.raises(ReleaseError, match="exists"):
        release(lists, out, private=owner / "lists")
    release(lists, out, private=owner / "lists", seed=4, force=True)
    assert before.keys() == bytes_in(owner / "lists").keys()
    assert before["linkage.parquet"] != bytes_in(owner / "lists")["linkage.parquet"]


def test_a_release_is_no_other_one_of_itself_where_it_is_linked(lists, sides, recwarn):
    public, owner = sides
    release(lists, public / "k2", private=owner / "k2")
    (public / "k2.private").symlink_to(owner / "k2")
    recwarn.clear()
    release(lists, public / "k2", private=owner / "k2", force=True)
    assert [] == [w for w in recwarn if "other release" in str(w.message)]
    release(lists, public / "k2b", private=owner / "k2b")
    assert 1 == sum("1 other release of" in str(w.message) for w in recwarn)


@pytest.mark.parametrize("more", [[], ["--on-disk"]])
def test_the_command_writes_there_in_memory_and_on_the_disk(lists, sides, capsys, more):
    public, owner = sides
    words = ["anonymize", "suppress-k", lists, "--k=2", "--items=things", "--jobs=1", *more]
    words += [f"--out={public / 'out'}", f"--private={owner / 'lists'}"]
    assert 0 == command_line([str(word) for word in words])
    said = capsys.readouterr().out
    assert f"Keep private: {owner / 'lists'}" in said
    assert f"link it as: {public / 'out.private'}" in said
    assert ["out"] == names_in(public)
    assert ["linkage.parquet", "record.json"] == names_in(owner / "lists")


# what is refused before rows are read


@pytest.mark.parametrize(
    ("out", "private", "says"),
    [
        ("out", "out/owner", r"out/owner \(private\) is inside .*out \(out\)"),
        ("out", "out", r"\(out\) is .*\(private\)"),
        ("owner/out", "owner", r"owner/out \(out\) is inside .*owner \(private\)"),
        ("owner/../out", "out/owner", r"\(private\) is inside .*\(out\)"),
        ("out", "link/out/owner", r"\(private\) is inside .*\(out\)"),
    ],
)
def test_folders_in_one_another_are_refused(tmp_path, out, private, says):
    for name in ("out", "owner"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match=says):
        release(tmp_path / "none", tmp_path / out, private=tmp_path / private)
    assert before == sorted(tmp_path.rglob("*"))


@pytest.mark.parametrize(
    ("working", "says"),
    [
        ("out/run", r"\(working\) is inside .*\(out\)"),
        ("owner/run", r"\(working\) is inside .*\(private\)"),
        (".", r"\((out|private)\) is inside .*\(working\)"),
    ],
)
def test_what_executors_see_lies_apart_from_both(tmp_path, working, says):
    engine = SparkEngine(spark=SimpleNamespace(version="4.1.0"), working=tmp_path / working)
    with pytest.raises(UsageError, match=says):
        release(None, tmp_path / "out", private=tmp_path / "owner", engine=engine)
    assert [] == names_in(tmp_path)


def test_an_older_private_folder_beside_the_release_is_not_left_there(lists, sides):
    public, owner = sides
    out = release(lists, public / "out")
    with pytest.raises(ReleaseError, match="would be taken for its private folder"):
        release(lists, out, private=owner / "lists", force=True)
    assert [] == names_in(owner)


def test_what_is_no_private_folder_is_not_replaced(lists, sides):
    public, owner = sides
    (owner / "lists").mkdir()
    (owner / "lists" / "letters.txt").write_text("mine")
    with pytest.raises(ReleaseError, match="is not a release's private folder"):
        release(lists, public / "out", private=owner / "lists", force=True)
    assert ["letters.txt"] == names_in(owner / "lists")


@pytest.mark.parametrize("side", ["public", "owner"])
def test_a_place_that_cannot_be_written_is_named_before_rows_are_read(
    lists, sides, monkeypatch, side
):
    public, owner = sides

    def made(*, dir):  # noqa: A002  as in the library
        if Path(dir).name == side:
            raise OSError(errno.EROFS, "Read-only file system")
        return (public.parent / "probe").open("wb")

    monkeypatch.setattr("graphveil.release.publishing.tempfile.TemporaryFile", made)
    with pytest.raises(ResourceError, match=f"{side} is not writable"):
        release(lists.with_name("none"), public / "out", private=owner / "lists")


@pytest.mark.parametrize(
    ("side", "address", "says"),
    [
        ("out", "ftp://lake/lists", "ftp://lake/lists is not a supported address. Give"),
        ("private", "s3a://lake/lists", "s3a://lake/lists is an address, but .* is a folder"),
    ],
)
def test_an_address_is_refused_in_one_line(lists, sides, capsys, side, address, says):
    public, owner = sides
    places = {"out": public / "out", "private": owner / "lists", side: address}
    with pytest.raises(UsageError, match=says):
        release(lists, places["out"], private=places["private"])
    words = ["anonymize", "suppress-k", lists, "--k=2", "--on-disk"]
    words += [f"--{name}={place}" for name, place in places.items()]
    assert 2 == command_line([str(word) for word in words])
    assert f"{address} is " in capsys.readouterr().err
    assert [] == names_in(public) + names_in(owner)


# executors


def test_executors_that_share_the_folder_pass_and_leave_nothing(tmp_path):
    check_executors(Session())
    check_executors(Session(), tmp_path / "a" / "run")
    assert [] == names_in(tmp_path / "a" / "run")


def test_executors_that_see_another_folder_are_refused(tmp_path):
    def another():
        for path in tmp_path.iterdir():
            path.rmdir()

    with pytest.raises(ResourceError, match="executors cannot see what this process writes to"):
        check_executors(Session(another), tmp_path)
    assert [] == names_in(tmp_path)


def test_whoever_cannot_write_the_folder_is_named(tmp_path, monkeypatch):
    make = "graphveil.engines.spark.tempfile.mkdtemp"

    def refuse(**_):
        raise OSError(errno.EACCES, "Permission denied")

    with pytest.raises(ResourceError, match=r"executors cannot write to what .*Permission denied"):
        check_executors(Session(lambda: monkeypatch.setattr(make, refuse)), tmp_path)
    with pytest.raises(ResourceError, match="this process cannot write"):
        check_executors(Session(), tmp_path)
    assert [] == names_in(tmp_path)
