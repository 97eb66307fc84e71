"""A temporary name, then a rename: files and folders appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from graphveil.core.atomic import OWNER_ONLY, whole_file, whole_folders


def contents(folder):
    """Return the text of every file below a folder, hidden ones included."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.fixture
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def write_half(path, error):
    with whole_file(path) as part:
        part.write_text("half")
        raise error


def test_a_file_keeps_its_old_content_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "likes.csv"
    path.write_text("old")
    with whole_file(path) as part:
        part.write_text("new")
        assert "old" == path.read_text()
    assert {"likes.csv": "new"} == contents(tmp_path)


@pytest.mark.parametrize("before", [{}, {"likes.csv": "old"}])
@pytest.mark.parametrize("error", [ValueError("a bug"), OSError("a disk"), KeyboardInterrupt()])
def test_a_file_that_is_not_finished_leaves_what_was_there(tmp_path, before, error):
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(type(error)):
        write_half(tmp_path / "likes.csv", error)
    assert before == contents(tmp_path)


def test_a_file_that_cannot_take_its_name_leaves_nothing(tmp_path):
    (tmp_path / "likes.csv").mkdir()
    with pytest.raises(OSError, match="directory"), whole_file(tmp_path / "likes.csv") as part:
        part.write_text("new")
    assert ["likes.csv"] == [path.name for path in tmp_path.iterdir()]


def test_a_file_in_a_missing_folder_is_an_error_of_the_operating_system(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "missing" / "likes.csv"):
        pytest.fail("the block ran")


@pytest.mark.usefixtures("no_umask")
def test_a_file_has_its_permissions_before_its_content(tmp_path):
    with whole_file(tmp_path / "secret", mode=OWNER_ONLY) as part:
        assert {part.name: 0o600} == modes(tmp_path)
    assert {"secret": 0o600} == modes(tmp_path)
    with whole_file(tmp_path / "secret") as part:
        part.write_text("")
    assert {"secret": 0o666} == modes(tmp_path)


def test_two_writers_of_one_file_do_not_meet(tmp_path):
    with whole_file(tmp_path / "x") as one, whole_file(tmp_path / "x") as other:
        one.write_text("one")
        other.write_text("other")
    assert {"x": "one"} == contents(tmp_path)


def test_what_is_not_finished_is_hidden_and_beside_its_place(tmp_path):
    folder = tmp_path / "out"
    with whole_file(tmp_path / "x") as part, whole_folders({folder: 0o700}) as parts:
        for path in (part, *parts):
            assert path.name.startswith(".")
            assert tmp_path == path.parent


@pytest.mark.usefixtures("no_umask")
def test_folders_appear_together_with_their_permissions(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    with whole_folders({one: 0o755, two: 0o700}) as parts:
        for part in parts:
            (part / "x").write_text(part.name[1:4])
        assert not one.exists()
        assert not two.exists()
    assert {"one/x": "one", "two/x": "two"} == contents(tmp_path)
    assert {"one": 0o755, "two": 0o700} == modes(tmp_path)


def test_files_reach_the_disk_before_any_folder_has_its_name(tmp_path, monkeypatch):
    steps = []
    flush, rename = os.fsync, Path.rename
    monkeypatch.setattr(os, "fsync", lambda file: (steps.append("flush"), flush(file)))
    monkeypatch.setattr(Path, "rename", lambda *way: (steps.append("rename"), rename(*way)))
    with whole_folders({tmp_path / "one": 0o700, tmp_path / "two": 0o700}) as parts:
        for part in parts:
            (part / "x").write_text("")
            (part / "y").write_text("")
    assert ["flush"] * 4 + ["rename"] * 2 == steps


def test_an_empty_folder_does_not_appear_and_its_old_one_goes(tmp_path):
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "x").write_text("old")
    modes = {tmp_path / "one": 0o700, tmp_path / "two": 0o700}
    with whole_folders(modes, replacing=lambda *_: None) as parts:
        (parts[0] / "x").write_text("new")
    assert {"one/x": "new"} == contents(tmp_path)
    assert ["one"] == [path.name for path in tmp_path.iterdir()]


def no_links(*_):
    raise PermissionError("this file system has no links")


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_new_file_never_takes_the_name_of_another(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "risk.csv"
    with whole_file(path, mode=OWNER_ONLY, replace=False) as part:
        part.write_text("new")
    assert "new" == path.read_text()
    with pytest.raises(FileExistsError), whole_file(path, replace=False) as part:
        part.write_text("newer")
    assert ["risk.csv"] == sorted(p.name for p in tmp_path.iterdir())
    assert "new" == path.read_text()


def test_a_new_file_is_whole_as_soon_as_it_has_its_name(tmp_path, monkeypatch):
    path, seen = tmp_path / "risk.csv", []
    touch = Path.touch

    def noting(self, *args, **kwargs):
        seen.append(self.name)
        return touch(self, *args, **kwargs)

    monkeypatch.setattr(Path, "touch", noting)
    with whole_file(path, replace=False) as part:
        part.write_text("new")
    assert "risk.csv" not in seen
