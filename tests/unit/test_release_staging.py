from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

import graphveil as gv
from graphveil.claims.manifest import MANIFEST
from graphveil.claims.neighbors import check_outside
from graphveil.claims.record import RECORD
from graphveil.core.errors import ReleaseError, ResourceError, UsageError
from graphveil.core.storage import place_of
from graphveil.release.publishing import check_target, staged


def write(target, text, *, force=False):
    with staged(target, force=force) as stage:
        (stage.public / MANIFEST).write_text(text)
        (stage.private / RECORD).write_text(f"private {text}")


def contents(folder):
    """Return every file below a folder, hidden ones included, and every empty folder."""
    texts = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            texts[str(path.relative_to(folder))] = path.read_text()
        elif not any(path.iterdir()):
            texts[str(path.relative_to(folder))] = None
    return texts


def whole(text):
    return {f"out.private/{RECORD}": f"private {text}", f"out/{MANIFEST}": text}


def failing_rename(at, error, calls):
    """Return a `Path.rename` that notes its calls and fails at one of them."""
    rename = Path.rename

    def renamed(source, target):
        calls.append(source)
        if len(calls) == at + 1:
            raise error
        return rename(source, target)

    return renamed


def test_both_folders_appear_whole(tmp_path):
    write(tmp_path / "out", "new")
    assert whole("new") == contents(tmp_path)


def test_nothing_is_in_place_before_the_end(tmp_path):
    with staged(tmp_path / "out", force=False) as stage:
        (stage.public / MANIFEST).write_text("half")
        assert not (tmp_path / "out").exists()
        assert not (tmp_path / "out.private").exists()
        assert all(path.name.startswith(".") for path in tmp_path.iterdir())


@pytest.mark.parametrize("error", [ValueError("a bug"), KeyboardInterrupt(), MemoryError()])
def test_whatever_goes_wrong_in_the_middle_leaves_nothing(tmp_path, error):
    def half():
        with staged(tmp_path / "out", force=False) as stage:
            (stage.public / MANIFEST).write_text("half")
            raise error

    with pytest.raises(type(error)):
        half()
    assert {} == contents(tmp_path)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", range(4))
def test_a_failed_rename_leaves_the_old_release_or_nothing(tmp_path, monkeypatch, force, error, at):
    before = {}
    if force:
        write(tmp_path / "out", "old")
        before = whole("old")
    calls = []
    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", failing_rename(at, error, calls))
        try:
            write(tmp_path / "out", "new", force=force)
        except (ResourceError, KeyboardInterrupt):
            assert before == contents(tmp_path)
            assert len(calls) > at
        else:
            assert whole("new") == contents(tmp_path)
            assert len(calls) <= at


def test_force_replaces_a_release_and_leaves_no_trace_of_it(tmp_path):
    write(tmp_path / "out", "old")
    (tmp_path / "out" / "data.parquet").write_text("old data")
    write(tmp_path / "out", "new", force=True)
    assert whole("new") == contents(tmp_path)


def test_the_old_release_stands_until_the_new_one_is_whole(tmp_path):
    write(tmp_path / "out", "old")
    with staged(tmp_path / "out", force=True) as stage:
        (stage.public / MANIFEST).write_text("new")
        assert "old" == (tmp_path / "out" / MANIFEST).read_text()


@pytest.mark.parametrize("name", ["out", "out.private"])
def test_an_existing_folder_is_refused_without_force(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(ReleaseError, match=r"exists.*force=True"):
        write(tmp_path / "out", "new")
    assert {name: None} == contents(tmp_path)


@pytest.mark.parametrize("name", ["out", "out.private"])
def test_force_never_deletes_a_folder_that_is_not_a_release(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.txt").write_text("years of work")
    with pytest.raises(ReleaseError, match="not replaced"):
        write(tmp_path / "out", "new", force=True)
    assert {f"{name}/thesis.txt": "years of work"} == contents(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        *("out/friends.ledger", "out/record.json", "out/attacks/risk.parquet", "out/data/data.csv"),
        *("out.private/people.key", "out.private/release.json", "out.private/data.csv"),
        *("out.private/attacks/friends.ledger", "out.private/attacks/a/b.parquet"),
        *("out.private/more/linkage.parquet",),
    ],
)
def test_force_never_deletes_what_no_release_wrote(tmp_path, name):
    write(tmp_path / "out", "old")
    own = tmp_path / name
    own.parent.mkdir(exist_ok=True, parents=True)
    own.write_text("all that was spent")
    before = contents(tmp_path)
    with pytest.raises(ReleaseError, match="which graphveil did not write"):
        check_target(tmp_path / "out", force=True)
    with pytest.raises(ReleaseError, match=r"Move .* away"):
        write(tmp_path / "out", "new", force=True)
    assert before == contents(tmp_path)


def test_force_never_deletes_a_link_in_a_release(tmp_path):
    write(tmp_path / "out", "old")
    (tmp_path / "out.private" / "linkage.parquet").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ReleaseError, match=r"contains linkage\.parquet"):
        write(tmp_path / "out", "new", force=True)


def test_what_is_put_into_a_release_while_it_is_replaced_is_not_deleted(tmp_path):
    def spending():
        with staged(tmp_path / "out", force=True) as stage:
            (stage.public / MANIFEST).write_text("new")
            (tmp_path / "out.private" / "friends.ledger").write_text("spent")

    write(tmp_path / "out", "old")
    with pytest.raises(ReleaseError, match=r"contains friends\.ledger"):
        spending()
    assert whole("old") | {"out.private/friends.ledger": "spent"} == contents(tmp_path)


def test_force_replaces_what_attacks_wrote_too(tmp_path):
    write(tmp_path / "out", "old")
    (tmp_path / "out.private" / "attacks").mkdir()
    (tmp_path / "out.private" / "attacks" / "degree.parquet").write_text("risks")
    write(tmp_path / "out", "new", force=True)
    assert whole("new") == contents(tmp_path)


def test_force_never_replaces_a_file(tmp_path):
    (tmp_path / "out").write_text("years of work")
    with pytest.raises(ReleaseError):
        write(tmp_path / "out", "new", force=True)
    assert {"out": "years of work"} == contents(tmp_path)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", ["a release", "nothing"])
def test_a_link_is_never_followed_nor_replaced(tmp_path, force, kind):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if kind == "a release":
        (elsewhere / MANIFEST).write_text("theirs")
    before = contents(elsewhere)
    folder = tmp_path / "folder"
    folder.mkdir()
    target = elsewhere if kind == "a release" else tmp_path / "gone"
    (folder / "out").symlink_to(target)
    with pytest.raises(ReleaseError):
        write(folder / "out", "new", force=force)
    assert before == contents(elsewhere)
    assert [folder / "out"] == list(folder.iterdir())


def test_a_missing_parent_is_named_with_the_way_out(tmp_path):
    with pytest.raises(ResourceError, match=r"missing does not exist\. Create it"):
        check_target(tmp_path / "missing" / "out", force=False)
    assert [] == list(tmp_path.iterdir())


def test_a_parent_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError):
        check_target(tmp_path / "file" / "out", force=False)


def test_a_parent_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ResourceError, match="is not writable"):
        check_target(tmp_path / "out", force=False)


@pytest.mark.parametrize("name", [".", "..", "/"])
@pytest.mark.parametrize("force", [False, True])
def test_a_target_that_is_no_name_is_refused(tmp_path, monkeypatch, name, force):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ReleaseError, ResourceError)):
        check_target(Path(name), force=force)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space left"),
        (errno.EDQUOT, "no space left"),
        (errno.EROFS, "is not writable"),
        (errno.EACCES, "is not writable"),
        (errno.EIO, "could not be written"),
    ],
)
def test_an_error_of_the_disk_is_one_line_and_leaves_nothing(tmp_path, number, words):
    def fails():
        with staged(tmp_path / "out", force=False) as stage:
            (stage.public / "data.csv").write_text("half")
            raise OSError(number, os.strerror(number))

    with pytest.raises(ResourceError, match=words) as caught:
        fails()
    assert "\n" not in str(caught.value)
    assert {} == contents(tmp_path)


def test_the_private_folder_is_the_owners_alone_even_while_written(tmp_path):
    before = os.umask(0)
    try:
        with staged(tmp_path / "out", force=False) as stage:
            (stage.public / MANIFEST).write_text("")
            (stage.private / RECORD).write_text("")
            assert 0o700 == stat.S_IMODE(stage.private.stat().st_mode)
    finally:
        os.umask(before)
    assert 0o700 == stat.S_IMODE((tmp_path / "out.private").stat().st_mode)


def test_nothing_private_leaves_no_private_folder(tmp_path):
    with staged(tmp_path / "out", force=False) as stage:
        (stage.public / MANIFEST).write_text("new")
    assert {f"out/{MANIFEST}": "new"} == contents(tmp_path)


def test_a_replaced_release_does_not_leave_its_private_folder_to_the_new_one(tmp_path):
    write(tmp_path / "out", "old")
    with staged(tmp_path / "out", force=True) as stage:
        (stage.public / MANIFEST).write_text("new")
    assert {f"out/{MANIFEST}": "new"} == contents(tmp_path)


# what appears while a release is made


def make(path, kind):
    """Let something appear at a path."""
    if kind == "a link":
        path.symlink_to(path.parent / "elsewhere")
    elif kind == "a file":
        path.write_text("years of work")
    else:
        path.mkdir()
        if kind == "a folder":
            (path / "thesis.txt").write_text("years of work")
        if kind == "a release":
            own = RECORD if path.suffix == ".private" else MANIFEST
            (path / own).write_text("theirs")


KINDS = ["an empty folder", "a folder", "a file", "a link", "a release"]


def names_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("name", ["out", "out.private"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_appears_at_the_target_is_not_replaced_without_force(tmp_path, kind, name):
    def appearing():
        with staged(tmp_path / "out", force=False) as stage:
            (stage.public / MANIFEST).write_text("new")
            (stage.private / RECORD).write_text("new")
            make(tmp_path / name, kind)
            before.extend(path for path in names_in(tmp_path) if not path.startswith("."))

    before = []
    with pytest.raises(ReleaseError, match=rf"{name} appeared while .* force=True"):
        appearing()
    assert before == names_in(tmp_path)


@pytest.mark.parametrize("name", ["out", "out.private"])
@pytest.mark.parametrize("kind", KINDS)
def test_force_replaces_nothing_but_a_release_even_at_the_last_moment(tmp_path, kind, name):
    def appearing():
        with staged(tmp_path / "out", force=True) as stage:
            (stage.public / MANIFEST).write_text("new")
            (stage.private / RECORD).write_text("new")
            make(tmp_path / name, kind)
            before.extend(path for path in names_in(tmp_path) if not path.startswith("."))

    before = []
    if kind == "a release":
        appearing()
        assert "new" == (tmp_path / "out" / MANIFEST).read_text()
        return
    with pytest.raises(ReleaseError, match="not replaced"):
        appearing()
    assert before == names_in(tmp_path)


RING = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])


def names(folder):
    return sorted(folder.rglob("*"))


def writers_of(place):
    """Return what writes something of a release, or a private folder, at a place, from Python."""
    release = gv.KDegree(k=2).anonymize(RING, seed=0)
    report = release.report(public=True)
    grid = {"k-degree": {"k": [2]}}
    return {
        "release": lambda: release.write(place, force=True),
        "report": lambda: report.write(place, force=True),
        "figure": lambda: gv.plot(gv.measure(RING, k=2)).write(place.with_suffix(".svg")),
        "key": lambda: gv.Key.new(place),
        "sweep": lambda: gv.sweep(grid, RING, out=place, metrics=[], attacks=[], jobs=1),
    }


@pytest.mark.filterwarnings("ignore::graphveil.core.errors.GraphveilWarning")
@pytest.mark.parametrize("name", ["out/inner", "out/deep/inner", "link/inner"])
def test_nothing_is_written_inside_a_release(tmp_path, name):
    gv.KDegree(k=2).anonymize(RING, seed=0).write(tmp_path / "out")
    (tmp_path / "out" / "deep").mkdir()
    (tmp_path / "link").symlink_to("out")
    before = names(tmp_path)
    for writes in writers_of(tmp_path / name).values():
        with pytest.raises(UsageError, match=r"inner.* is inside a release, which is public\."):
            writes()
    assert before == names(tmp_path)


@pytest.mark.filterwarnings("ignore::graphveil.core.errors.GraphveilWarning")
def test_no_release_is_written_inside_a_private_folder(tmp_path):
    gv.KDegree(k=2).anonymize(RING, seed=0).write(tmp_path / "out")
    before = names(tmp_path)
    writers = writers_of(tmp_path / "out.private" / "inner")
    for what in ("release", "sweep"):
        with pytest.raises(UsageError, match=r"is inside the private folder of a release\. Choose"):
            writers[what]()
    assert before == names(tmp_path)


def test_a_file_that_only_has_the_name_of_a_manifest_makes_no_release(tmp_path):
    (tmp_path / MANIFEST).write_text('{"version": 3}')
    check_outside(tmp_path / "out", is_folder=True)


def test_an_address_inside_a_release_is_refused_like_its_folder(tmp_path):
    (tmp_path / MANIFEST).write_text('{"tool": "graphveil"}')
    with pytest.raises(UsageError, match="is inside a release"):
        check_outside(place_of(f"file://{tmp_path}/deep/out"), is_folder=True)
