"""Compiled kernels are kept where their sources are known, and what is old is removed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphveil.kernels.cache import ROOM, digest_of, folder_for

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


def test_the_folder_of_an_earlier_digest_is_removed_and_that_of_another_owner_stays(tmp_path):
    other = tmp_path / "kernels-00000000-0123"
    other.mkdir()
    old, _ = folder_for("a" * 16, iter([tmp_path]), without_scratch)
    new, kept = folder_for("b" * 16, iter([tmp_path]), without_scratch)
    assert kept
    assert [other, new] == sorted(tmp_path.iterdir())
    assert old != new


def test_the_first_folder_that_can_be_written_is_used(tmp_path):
    (tmp_path / "file").write_text("")
    homes = [tmp_path / "file" / "below", tmp_path / "free"]
    folder, kept = folder_for("a" * 16, iter(homes), without_scratch)
    assert (tmp_path / "free", True) == (folder.parent, kept)


def test_where_nothing_can_be_written_a_scratch_folder_serves_one_run(tmp_path):
    (tmp_path / "file").write_text("")
    homes = iter([tmp_path / "file" / "below"])
    assert (tmp_path, False) == folder_for("a" * 16, homes, lambda: tmp_path)


def test_a_filled_folder_that_cannot_be_written_is_copied(tmp_path, monkeypatch):
    image, user = tmp_path / "image", tmp_path / "user"
    filled, _ = folder_for("a" * 16, iter([image]), without_scratch)
    (filled / "compiled").write_text("code")
    writable = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path) != filled and writable(path, mode)
    )
    folder, kept = folder_for("a" * 16, iter([image, user]), without_scratch)
    assert kept
    assert "code" == (folder / "compiled").read_text()
    assert user == folder.parent


FOLLOW = """
import numpy as np
from graphveil.kernels.hashing import find, new_table
from graphveil.progress import heard
with heard(print):
    table, shift = new_table(1)
    find(table, shift, 0)
"""


def said(home):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", FOLLOW], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_first_run_says_that_it_compiles_and_the_second_has_nothing_to_say(tmp_path):
    assert "compiling once for this machine, about 3 s\n" == said(tmp_path)
    assert "" == said(tmp_path)


def run_command(home, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "graphveil", *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_warmed_method_compiles_nothing_more(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("user,item\n" + "".join(f"u{i},i{i % 3}\n" for i in range(30)))
    anonymize = ("anonymize", "mondrian", rows, "--k", "3", "--out")
    cold = run_command(tmp_path / "cold", *anonymize, tmp_path / "one")
    assert "graphveil: compiling once for this machine, about 3 s." in cold.stderr.splitlines()
    warmed = run_command(tmp_path / "warm", "warm", "mondrian")
    assert (0, "mondrian: compiled") == (warmed.returncode, warmed.stderr.splitlines()[-1])
    after = run_command(tmp_path / "warm", *anonymize, tmp_path / "two")
    assert 0 == after.returncode
    assert "compiling" not in after.stderr


def test_what_cannot_be_warmed_is_named(tmp_path):
    done = run_command(tmp_path, "warm", "mondriaan")
    assert 2 == done.returncode
    assert "mondriaan" in done.stderr
