"""Compiled kernels are kept where their sources are known, and what is old is removed."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from types import SimpleNamespace

import pytest
from numba.core import caching
from numba.core.errors import NumbaWarning

from graphveil.core.kernels import arrays, cache
from graphveil.core.kernels._numba import Announcer, Locator
from graphveil.core.kernels.cache import ROOM, UNUSED_SECONDS, digest_of, folder_for
from graphveil.core.progress import heard

CHAIN = {"callee.py": "VALUE = 1\n", "caller.py": "from callee import VALUE\n"}


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    for name, text in CHAIN.items():
        (folder / name).write_text(text)
    return folder


def without_scratch():
    raise AssertionError("a folder can be written")


def test_an_edit_of_any_file_changes_the_digest(sources):
    before = digest_of(sources)
    assert before == digest_of(sources)
    (sources / "callee.py").write_text("VALUE = 2\n")
    assert before != digest_of(sources)


def test_a_name_and_an_end_of_a_file_belong_to_the_digest(sources):
    before = digest_of(sources)
    (sources / "callee.py").rename(sources / "other.py")
    assert before != digest_of(sources)


def test_the_digest_costs_little():
    digest_of(ROOM)
    begun = time.process_time()
    digest_of(ROOM)
    assert time.process_time() - begun < 0.05


def lay_by(folder):
    """Make a folder look as if no run had used it for more than a week."""
    last = time.time() - UNUSED_SECONDS - 60
    os.utime(folder, (last, last))


def test_the_folder_of_another_digest_is_removed_once_it_was_not_used_for_a_week(tmp_path):
    old, _ = folder_for("a" * 16, iter([tmp_path]), without_scratch)
    new, kept = folder_for("b" * 16, iter([tmp_path]), without_scratch)
    assert kept
    assert [old, new] == sorted(tmp_path.iterdir())
    lay_by(old)
    folder_for("b" * 16, iter([tmp_path]), without_scratch)
    assert [new] == list(tmp_path.iterdir())


def test_a_run_notes_that_its_folder_is_used(tmp_path):
    old, _ = folder_for("a" * 16, iter([tmp_path]), without_scratch)
    lay_by(old)
    folder_for("a" * 16, iter([tmp_path]), without_scratch)
    folder_for("b" * 16, iter([tmp_path]), without_scratch)
    assert old.is_dir()


def test_folders_of_another_python_and_of_others_stay(tmp_path, monkeypatch):
    other = tmp_path / "kernels-00000000-0123"
    other.mkdir()
    ours, _ = folder_for("a" * 16, iter([tmp_path]), without_scratch)
    lay_by(other)
    lay_by(ours)
    monkeypatch.setattr(sys, "version", "4.0")
    theirs, _ = folder_for("b" * 16, iter([tmp_path]), without_scratch)
    assert sorted([other, ours, theirs]) == sorted(tmp_path.iterdir())


def test_what_is_made_can_be_written_by_its_owner_alone(tmp_path):
    home = tmp_path / "home"
    folder, _ = folder_for("a" * 16, iter([home]), without_scratch)
    assert [0, 0] == [path.stat().st_mode & 0o022 for path in (home, folder)]


@pytest.mark.parametrize("mode", [0o777, 0o775])
@pytest.mark.parametrize("which", ["home", "folder", "entry", "entry below"])
def test_what_others_can_write_is_neither_used_nor_copied(tmp_path, which, mode):
    home, user = tmp_path / "home", tmp_path / "user"
    folder, _ = folder_for("a" * 16, iter([home]), without_scratch)
    below = folder / "below"
    below.mkdir(mode=0o755)
    for path in (folder / "compiled", below / "compiled"):
        path.write_text("code")
        path.chmod(0o644)
    paths = {"home": home, "folder": folder, "entry": folder / "compiled"}
    paths.get(which, below / "compiled").chmod(mode)
    chosen, kept = folder_for("a" * 16, iter([home, user]), without_scratch)
    assert (user, True, []) == (chosen.parent, kept, list(chosen.iterdir()))


@pytest.mark.parametrize("which", ["home", "folder", "entry"])
def test_what_another_user_owns_is_neither_used_nor_copied(tmp_path, which, monkeypatch):
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    scratch.mkdir()
    folder, _ = folder_for("a" * 16, iter([home]), without_scratch)
    (folder / "compiled").write_text("code")
    if os.geteuid() == 0:
        os.chown({"home": home, "folder": folder}.get(which, folder / "compiled"), 12_345, -1)
    else:
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert (scratch, False) == folder_for("a" * 16, iter([home]), lambda: scratch)
    assert [] == list(scratch.iterdir())


@pytest.fixture
def shared():
    """A folder that everybody may enter, and only its owner may change."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        if not all(path.stat().st_mode & 0o001 for path in folder.parents):
            pytest.skip("nobody else enters the folder for temporary files")
        folder.chmod(0o755)
        yield folder


def test_who_runs_with_the_home_of_another_user_keeps_kernels_below_the_own_one(
    shared, monkeypatch
):
    theirs, own = shared / "theirs", shared / "own"
    theirs.mkdir()
    own.mkdir()
    theirs.chmod(0o777)
    monkeypatch.setenv("HOME", str(theirs))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(cache.pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir=str(own)))
    homes = list(cache._homes())
    assert [theirs / ".cache/graphveil", own / ".cache/graphveil"] == homes[1:]
    folder, kept = folder_for("a" * 16, iter(homes[1:]), without_scratch)
    assert (own / ".cache/graphveil", True) == (folder.parent, kept)
    assert [] == list(theirs.iterdir())


def test_a_user_whom_the_system_does_not_know_has_one_home_alone(monkeypatch):
    def nobody(_):
        raise KeyError

    monkeypatch.setattr(cache.pwd, "getpwuid", nobody)
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert Path("/home/somebody/.cache/graphveil") == list(cache._homes())[-1]


def changed_by_others(folder):
    folder.chmod(0o777)


def of_another_user(folder):
    if os.geteuid() != 0:
        pytest.skip("only root gives folders away")
    os.chown(folder, 12_345, -1)


@pytest.mark.parametrize("spoil", [changed_by_others, of_another_user])
@pytest.mark.parametrize("made", [0, 1, 2])
def test_nothing_is_made_or_used_below_a_folder_that_others_could_exchange(shared, spoil, made):
    top = shared / "top"
    home, scratch = top / "home" / "cache", shared / "scratch"
    (top, home.parent, home)[made].mkdir(parents=True)
    spoil(top)
    before = sorted(top.rglob("*"))
    assert (scratch, False) == folder_for("a" * 16, iter([home]), lambda: scratch)
    assert before == sorted(top.rglob("*"))


def test_folders_on_the_way_are_made_for_their_owner_alone(shared):
    before = os.umask(0)
    try:
        folder, kept = folder_for("a" * 16, iter([shared / "x" / "y" / "z"]), without_scratch)
    finally:
        os.umask(before)
    assert kept
    assert [0o700, 0o700] == [folder.parents[n].stat().st_mode & 0o777 for n in (1, 2)]


def test_a_group_may_write_below_a_folder_that_it_cannot_enter(shared):
    (shared / "closed").mkdir(mode=0o700)
    (shared / "closed" / "open").mkdir()
    (shared / "closed" / "open").chmod(0o775)
    home = shared / "closed" / "open" / "home"
    assert home == folder_for("a" * 16, iter([home]), without_scratch)[0].parent


def test_a_link_is_not_used(tmp_path):
    home, user = tmp_path / "home", tmp_path / "user"
    folder, _ = folder_for("a" * 16, iter([home]), without_scratch)
    elsewhere = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(elsewhere)
    chosen, _ = folder_for("a" * 16, iter([home, user]), without_scratch)
    assert user == chosen.parent


def test_a_folder_may_lie_where_all_write_and_nobody_renames_what_others_have(tmp_path):
    tmp_path.chmod(0o1777)
    folder, kept = folder_for("a" * 16, iter([tmp_path]), without_scratch)
    assert (tmp_path, True) == (folder.parent, kept)


def test_who_lets_a_group_write_new_files_keeps_a_folder_that_no_other_enters(tmp_path):
    before = os.umask(0o002)
    try:
        folder, _ = folder_for("a" * 16, iter([tmp_path]), without_scratch)
        (folder / "compiled").write_text("code")
        again, kept = folder_for("a" * 16, iter([tmp_path]), without_scratch)
    finally:
        os.umask(before)
    assert 0o700 == folder.stat().st_mode & 0o777
    assert (folder, True) == (again, kept)


def test_the_first_folder_that_can_be_written_is_used(tmp_path):
    (tmp_path / "file").write_text("")
    homes = [tmp_path / "file" / "below", tmp_path / "free"]
    folder, kept = folder_for("a" * 16, iter(homes), without_scratch)
    assert (tmp_path / "free", True) == (folder.parent, kept)


def test_where_nothing_can_be_written_a_scratch_folder_serves_one_run(tmp_path):
    (tmp_path / "file").write_text("")
    homes = iter([tmp_path / "file" / "below"])
    assert (tmp_path, False) == folder_for("a" * 16, homes, lambda: tmp_path)


@pytest.fixture
def image(tmp_path, monkeypatch):
    """A folder of kernels that cannot be written, as in the image of a container."""
    filled, _ = folder_for("a" * 16, iter([tmp_path / "image"]), without_scratch)
    writable = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path) != filled and writable(path, mode)
    )
    return filled


def fill(folder):
    (folder / "below").mkdir()
    for path in (folder / "compiled", folder / "below" / "compiled"):
        path.write_text("code")


def test_a_filled_folder_that_cannot_be_written_is_copied(tmp_path, image):
    fill(image)
    folder, kept = folder_for("a" * 16, iter([image.parent, tmp_path / "user"]), without_scratch)
    assert (True, [folder]) == (kept, list((tmp_path / "user").iterdir()))
    assert "code" == (folder / "below" / "compiled").read_text()
    assert 0 == folder.stat().st_mode & 0o022


def test_half_a_copy_is_none(tmp_path, image, monkeypatch):
    fill(image)
    copied = []

    def fail_later(source, target, copy=shutil.copyfile):
        if copied:
            raise PermissionError(source)
        copied.append(copy(source, target))

    monkeypatch.setattr(shutil, "copyfile", fail_later)
    folder, kept = folder_for("a" * 16, iter([image.parent, tmp_path / "user"]), without_scratch)
    assert (1, True) == (len(copied), kept)
    assert [folder] == list((tmp_path / "user").iterdir())
    assert [] == list(folder.iterdir())


def test_a_copy_that_was_cut_off_is_removed_after_a_week(tmp_path):
    folder, _ = folder_for("a" * 16, iter([tmp_path]), without_scratch)
    part = tmp_path / f".{folder.name}-cut"
    part.mkdir()
    folder_for("a" * 16, iter([tmp_path]), without_scratch)
    assert part.is_dir()
    lay_by(part)
    folder_for("a" * 16, iter([tmp_path]), without_scratch)
    assert not part.exists()


def test_a_folder_that_only_serves_as_a_model_keeps_nothing_of_a_run(tmp_path, image):
    assert (tmp_path, False) == folder_for("a" * 16, iter([image.parent]), lambda: tmp_path)


def test_a_kernel_that_cannot_be_kept_is_a_warning_that_names_its_file():
    kernel = getattr(arrays.count_bits, "py_func", arrays.count_bits)
    made = caching.CompileResultCacheImpl(kernel)
    assert isinstance(made.locator, Locator)
    library = SimpleNamespace(has_dynamic_globals=True)
    compiled = SimpleNamespace(
        lifted=[], library=library, fndesc=SimpleNamespace(qualname="arrays.count_bits")
    )
    with pytest.warns(NumbaWarning, match='Cannot cache compiled function "count_bits"') as caught:
        assert not made.check_cachable(compiled)
    assert str(Path(arrays.__file__).resolve()) == caught[0].filename


def compiling(module):
    """Return what Numba says when it begins or ends to compile a function of this module."""
    return SimpleNamespace(
        data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))}
    )


OURS = compiling("graphveil.core.kernels.arrays")


def test_a_thread_in_which_nobody_listens_does_not_use_up_the_notice():
    announcer, notices = Announcer("compiling"), []

    def compile_once():
        announcer.on_start(OURS)
        announcer.on_end(OURS)

    thread = Thread(target=compile_once)
    with heard(notices.append):
        thread.start()
        thread.join()
        for _ in range(2):
            compile_once()
    assert ["compiling"] == notices


def test_garbage_waits_while_our_kernels_compile_and_no_longer():
    announcer, before = Announcer("compiling"), gc.get_threshold()
    for _ in range(2):
        announcer.on_start(OURS)
        assert before[0] < gc.get_threshold()[0]
    for expected in (False, True):
        announcer.on_end(OURS)
        assert expected == (before == gc.get_threshold())


def test_what_others_compile_is_not_ours_to_announce_or_to_hurry():
    announcer, before, theirs = Announcer("compiling"), gc.get_threshold(), compiling("umap.layout")
    with heard(pytest.fail):
        announcer.on_start(theirs)
        assert before == gc.get_threshold()
        announcer.on_end(theirs)
    assert before == gc.get_threshold()


FOLLOW = """
import numpy as np
from graphveil.core.kernels.arrays import find, new_table
from graphveil.core.progress import heard
with heard(print):
    table, shift = new_table(1)
    find(table, shift, 0)
"""


def said(home, script=FOLLOW):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def once(home):
    said = "compiling the code that this run needs, once for this machine; the result is kept in"
    return f"{said} {home}"


def test_the_first_run_says_that_it_compiles_and_the_second_has_nothing_to_say(tmp_path):
    assert f"{once(tmp_path)}\n" == said(tmp_path)
    assert "" == said(tmp_path)


def test_where_nothing_can_be_kept_every_run_says_so(tmp_path):
    nowhere = "import os\nos.access = lambda *_: False\n"
    text = said(tmp_path, nowhere + FOLLOW)
    assert text.startswith(
        "compiling the code that this run needs, again in every run: no cache folder is writable "
        "by you and nobody else. Set NUMBA_CACHE_DIR to such a folder"
    )
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]
