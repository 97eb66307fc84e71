"""What a run on the disk leaves when it is killed is named by every later run to the same place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from functools import cache

import pytest

import graphveil as gv
from graphveil.cli import run as command_line
from graphveil.core.atomic import stale_temporaries, working_folder
from graphveil.core.errors import GraphveilWarning, ReleaseError
from graphveil.engines import LocalEngine
from graphveil.methods.smooth_k import Chunks, SuppressK
from graphveil.scale.working import opened

METHOD = SuppressK(k=2, chunks=Chunks(rows=4, order="none"))
KILLED = """
import os, signal, sys, warnings
from pathlib import Path
from graphveil.engines import LocalEngine
from graphveil.methods.smooth_k import Chunks, SuppressK
from graphveil import anonymize_rows
from graphveil.release import pipeline
from graphveil.scale import run

warnings.simplefilter("ignore")
kill = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "reading":
    run.intake.__globals__["counted_rows"] = kill
else:
    pipeline.publish = kill
method = SuppressK(k=2, chunks=Chunks(rows=4, order="none"))
anonymize_rows(method, sys.argv[2], sys.argv[3], engine=LocalEngine(jobs=1), seed=1)
"""


def written(folder):
    path = folder / "likes.csv"
    path.write_text("user,item\nann,tea\nbob,tea\ncyd,rye\ndan,rye\n")
    return path


@pytest.fixture
def file(tmp_path):
    return written(tmp_path)


@pytest.fixture(scope="module")
def left_by(tmp_path_factory):
    """Return a function from a stage to the folder in which a run was killed at it."""

    @cache
    def left(stage):
        folder = tmp_path_factory.mktemp(stage)
        arguments = [sys.executable, "-c", KILLED, stage, written(folder), folder / "out"]
        assert -9 == subprocess.run(arguments, check=False).returncode
        return folder

    return left


@pytest.fixture(params=["reading", "publishing"])
def killed(request, left_by, file, tmp_path):
    """Return the folder that a run left which was killed at this stage, and the release folder."""
    shutil.copytree(left_by(request.param), tmp_path, dirs_exist_ok=True)
    assert file.exists()
    out = tmp_path / "out"
    working = working_folder(out)
    assert (working / "raw" / "raw.parquet").exists() == (request.param == "reading")
    return working, out


def said_by(action):
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        action()
    texts = [str(w.message) for w in raised if issubclass(w.category, GraphveilWarning)]
    return [text for text in texts if "killed" in text]


def test_a_run_in_memory_names_what_a_run_on_the_disk_left_and_leaves_it(killed, file):
    working, out = killed
    before = sorted(working.rglob("*"))
    assert [working] == stale_temporaries(out)
    release = METHOD.anonymize(gv.read_bipartite(file))
    (said,) = said_by(lambda: release.write(out))
    assert said.startswith(f"{working} was left behind by a run that was killed")
    assert "people's rows" in said
    assert before == sorted(working.rglob("*"))
    (said,) = said_by(lambda: release.write(out, force=True))
    assert working.is_dir()


def test_the_command_in_memory_names_it_once_and_a_release_of_another_name_does_not(
    killed, file, capsys
):
    working, out = killed
    words = ["anonymize", "suppress-k", str(file), "--k=2", "--jobs=1", "--seed=1"]
    assert 0 == command_line([*words, f"--out={out.with_name('other')}"])
    assert "killed" not in capsys.readouterr().err
    assert 0 == command_line([*words, f"--out={out}"])
    lines = [line for line in capsys.readouterr().err.splitlines() if "killed" in line]
    assert 1 == len(lines)
    assert str(working) in lines[0]


def test_the_same_run_goes_on_from_it_and_another_one_on_the_disk_names_and_refuses_it(
    killed, file
):
    working, out = killed
    alone = LocalEngine(jobs=1)
    with pytest.raises(ReleaseError, match=r"\.out\.working holds an unfinished run of different"):
        gv.anonymize_rows(METHOD, file, out, engine=alone, seed=2)
    assert [] == said_by(lambda: gv.anonymize_rows(METHOD, file, out, engine=alone, seed=1))
    assert not working.exists()
    assert gv.verify_release(out, original=gv.read_bipartite(file)).ok


def test_the_folder_of_a_run_that_goes_on_is_not_named(tmp_path):
    out = tmp_path / "out"
    with opened(out, "0" * 64, seed=None, force=False).lock:
        assert [] == stale_temporaries(out)
    assert [working_folder(out)] == stale_temporaries(out)


@pytest.mark.parametrize("what", ["a link", "a file", "a folder without a run", "a pipe as lock"])
def test_whatever_stands_where_an_unfinished_run_would_is_named(what, tmp_path):
    working = working_folder(tmp_path / "out")
    if what == "a link":
        working.symlink_to(tmp_path)
    elif what == "a file":
        working.write_text("people")
    else:
        working.mkdir()
    if what == "a pipe as lock":
        os.mkfifo(working / "lock")
    assert [working] == stale_temporaries(tmp_path / "out")
