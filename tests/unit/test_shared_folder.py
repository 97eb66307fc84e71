"""The folder of one run in a place that other machines see is its own, and goes with the run."""

from __future__ import annotations

import os
import shutil
import stat
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphveil.core.atomic import kept_elsewhere, stale_temporaries, working_folder
from graphveil.core.errors import (
    GraphveilWarning,
    InputError,
    ReleaseError,
    ResourceError,
    UsageError,
)
from graphveil.core.storage import place_of
from graphveil.engines import SparkEngine
from graphveil.engines import spark as shared_folder
from graphveil.engines.spark import SparkTables, write_note
from graphveil.release.publishing import leftovers_beside
from graphveil.scale.working import kept_where_interrupted, opened

FLAWS = [
    {
        "name": "a password is noted with the rows of a run",
        "means": "An address with a password is taken as a place of rows, which cannot be deleted.",
        "file": "src/graphveil/engines/spark.py",
        "old": "    if isinstance(place, Address) and place.has_secrets:",
        "new": "    if isinstance(place, Address) and not place.key:",
    },
]

SEED = 918273645546372819
SESSION = SimpleNamespace(version="4.0.0")


FOLDER, ADDRESS = "{}", "file://{}"
both = pytest.mark.parametrize("spelled", [FOLDER, ADDRESS])


def begun(tmp_path, *, fingerprint="0" * 64, seed=None, force=False, spelled=FOLDER):
    """Return a run, and its folder in the other place."""
    working = opened(tmp_path / "out", fingerprint, seed=seed, force=force)
    engine = SparkEngine(spark=SESSION, working=spelled.format(tmp_path / "shared"))
    with engine.at(working.folder, working.name):
        pass
    named = kept_elsewhere(working.folder)
    assert named.startswith(spelled.format(""))
    return working, Path(named.removeprefix("file://"))


@both
def test_the_folder_has_a_name_of_this_run_alone_that_tells_no_secret(tmp_path, spelled):
    working, folder = begun(tmp_path, spelled=spelled, seed=SEED)
    assert [folder] == list((tmp_path / "shared").iterdir())
    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert (folder.parent, True) == (tmp_path / "shared", folder.name.startswith("out.working-"))
    root = working.randomness._root
    for secret in (f"{root:x}", str(root), str(SEED), f"{SEED:x}"):
        assert secret not in folder.name
    working.close()
    again, same = begun(tmp_path, spelled=spelled, seed=SEED)
    assert (working.name, folder) == (again.name, same)
    again.remove()
    anew, other = begun(tmp_path, spelled=spelled, seed=SEED)
    assert working.name != anew.name
    assert folder != other
    assert [other] == list((tmp_path / "shared").iterdir())


@both
def test_another_run_deletes_it_with_force_alone(tmp_path, spelled):
    working, folder = begun(tmp_path, spelled=spelled)
    working.close()
    with pytest.raises(
        ReleaseError, match=rf"working \(with {spelled.format(folder)}\) holds an unfinished run"
    ):
        begun(tmp_path, spelled=spelled, fingerprint="1" * 64)
    assert folder.is_dir()
    _, other = begun(tmp_path, spelled=spelled, fingerprint="1" * 64, force=True)
    assert [other] == list((tmp_path / "shared").iterdir())


@both
def test_it_goes_where_the_run_is_refused_and_stays_and_is_named_where_it_may_go_on(
    tmp_path, spelled
):
    working, folder = begun(tmp_path, spelled=spelled)
    with pytest.raises(InputError), kept_where_interrupted(working):
        raise InputError("no rows")
    assert [] == list((tmp_path / "shared").iterdir())
    assert not working.folder.exists()
    for error, reason in (
        (ResourceError("no space"), "continues from there. Delete both"),
        (ReleaseError("something is there"), "once the obstacle is removed. Delete both"),
        (KeyboardInterrupt(), "continues from there. Delete"),
    ):
        working, folder = begun(tmp_path, spelled=spelled)
        with (
            pytest.warns(GraphveilWarning, match=rf"\(with {spelled.format(folder)}\).*{reason}"),
            pytest.raises(type(error)),
            kept_where_interrupted(working),
        ):
            raise error
        assert folder.is_dir()
        assert [working.folder] == stale_temporaries(tmp_path / "out")
        [said] = leftovers_beside(tmp_path / "out")
        assert f"and so does {spelled.format(folder)}. No run is using it: to resume" in str(said)
        assert "otherwise delete both" in str(said)


def test_rows_that_another_run_has_kept_are_never_taken(tmp_path):
    tables = SparkTables(None, tmp_path, "one run")
    with pytest.raises(
        ResourceError, match="no longer contains the rows that the unfinished run kept"
    ):
        tables.kept_as("rows")
    (tmp_path / "rows.done.json").write_bytes(tables._note("rows"))
    for name, run in (("rows", "another"), ("rows", ""), ("released", "one run")):
        other = SparkTables(None, tmp_path, run)
        (tmp_path / "released.done.json").write_bytes(tables._note("rows"))
        with pytest.raises(ReleaseError, match=f"holds {name} of a different run"):
            other.kept_as(name)


@both
def test_a_folder_that_others_may_write_into_is_not_taken_up(tmp_path, spelled):
    working, folder = begun(tmp_path, spelled=spelled)
    working.close()
    folder.chmod(0o770)
    with pytest.raises(ReleaseError, match=r"accessible to others \(mode 770; a run sets 700\)"):
        begun(tmp_path, spelled=spelled)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ReleaseError, match="is a link"):
        begun(tmp_path, spelled=spelled)


def test_a_mount_that_tells_neither_owner_nor_mode_is_taken(tmp_path, monkeypatch):
    working, folder = begun(tmp_path)
    working.close()
    monkeypatch.setattr(shared_folder, "_is_own", lambda _: False)
    again, same = begun(tmp_path)
    assert (working.name, folder) == (again.name, same)


@both
def test_a_run_whose_rows_are_elsewhere_says_where(tmp_path, spelled):
    working, folder = begun(tmp_path, spelled=spelled)
    working.close()
    other = SparkEngine(spark=SESSION, working=tmp_path / "other")
    with (
        pytest.raises(ReleaseError, match=f"keeps its rows in {spelled.format(folder)}, not in "),
        other.at(working.folder, working.name),
    ):
        pass
    assert not (tmp_path / "other").exists()


@pytest.mark.skipif(os.name == "nt", reason="modes")
def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "shared").write_text("a file")
    with pytest.raises(ResourceError, match=r"cannot write .* \(Not a directory\)"):
        begun(tmp_path)


@both
def test_what_a_run_whose_private_folder_is_gone_has_left_is_named_and_stays(tmp_path, spelled):
    working, folder = begun(tmp_path, spelled=spelled)
    working.close()
    shutil.rmtree(working.folder)
    (tmp_path / "shared" / "out.working-of-somebody").mkdir()
    with pytest.warns(GraphveilWarning, match="rows of people from a different run") as said:
        _, other = begun(tmp_path, spelled=spelled)
    assert [spelled.format(folder)] == [str(one.message).split()[0] for one in said]
    assert folder.is_dir()
    assert other.is_dir()


def test_what_cannot_be_deleted_is_named(tmp_path, monkeypatch):
    working, folder = begun(tmp_path)
    monkeypatch.setattr("graphveil.scale.working.shutil.rmtree", lambda *_, **__: None)
    with pytest.warns(GraphveilWarning) as said:
        working.remove()
    assert [str(folder), str(working.folder)] == [str(one.message).split()[0] for one in said]
    assert all("holds rows of people, and could not be deleted" in str(one.message) for one in said)


@pytest.mark.parametrize("note", ["", "[]", '{"folder": 3}', "\xff"])
def test_a_note_that_is_torn_names_nothing(tmp_path, note):
    working, _ = begun(tmp_path)
    (working.folder / "elsewhere.json").write_text(note, encoding="latin-1")
    assert kept_elsewhere(working.folder) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        working.remove()
    assert not working_folder(tmp_path / "out").exists()


def test_what_cannot_be_deleted_at_an_address_is_named(tmp_path):
    working, folder = begun(tmp_path, spelled=ADDRESS)
    shutil.rmtree(folder)
    folder.write_text("a file, where a folder should be")
    with pytest.warns(GraphveilWarning, match="file://.* could not be deleted"):
        working.remove()
    assert not working.folder.exists()


@both
def test_rows_behind_a_link_are_not_thought_to_be_deleted(tmp_path, spelled):
    working, folder = begun(tmp_path, spelled=spelled)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    with pytest.warns(GraphveilWarning, match=f"{spelled.format(folder)} .*could not be deleted"):
        working.remove()
    assert (tmp_path / "moved").is_dir()


def test_what_is_deleted_at_an_address_is_what_lies_beneath_its_name(tmp_path):
    working, folder = begun(tmp_path, spelled=ADDRESS)
    tables = SparkTables(None, place_of(f"file://{folder}"), working.name)
    with pytest.raises(ResourceError, match=f"{folder} no longer contains the rows"):
        tables.kept_as("rows")
    write_note(place_of(f"file://{folder}"), "rows.done.json", tables._note("rows"))
    assert tables._is_kept("rows")
    beside = folder.with_name(f"{folder.name}-beside")
    beside.mkdir()
    (folder / "rows").mkdir()
    (folder / "rows" / "part-0").write_text("rows")
    working.remove()
    assert [beside] == list((tmp_path / "shared").iterdir())


@pytest.mark.parametrize("secret", ["s3a://key:hush@owner/run", "s3a://owner/run?region=eu"])
def test_an_address_with_what_no_note_has_is_refused_as_a_place_of_rows(secret):
    with pytest.raises(UsageError, match="which are never stored") as refused:
        SparkEngine(spark=SESSION, working=secret)
    assert "hush" not in str(refused.value)
