"""Runs on Spark that lose a process, a store or their disk end with the files of any other run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import graphveil as gv
from faulty_works import Killed
from graphveil.claims.parts import UNFINISHED
from graphveil.cli import run as command_line
from graphveil.core.storage import Address
from graphveil.engines import LocalEngine, SparkEngine
from graphveil.engines.spark import SparkTables
from graphveil.io import BipartiteOptions
from graphveil.methods.smooth_k import Chunks, Greedy, SmoothK
from graphveil.scale.chunks import Released
from graphveil.scale.parts import Packed
from graphveil.scale.working import WorkingFolder
from graphveil.scale.writing import PartOfUsers
from thorough import in_fuzz_alone

pytestmark = [
    pytest.mark.spark,
    pytest.mark.thorough,
    in_fuzz_alone,
    pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning"),
]
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "smooth_anonymity" / "faults.py"
METHOD = SmoothK(k=2, chunks=Chunks(rows=60), algorithm=Greedy(refine=None))
THINGS = BipartiteOptions(items="things")
POINTS = ("rows", "facts", "released", UNFINISHED, "record.json")
"""Kept, noted, or about to be put; the last one needs force, as the page says."""


def write_likes(path, n=240):
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(row).tolist() for row in rng.random((n, 12)) < 0.25]
    users = (rng.permutation(n) + 100).tolist()
    parquet.write_table(pa.table({"user": users, "items": pa.array(rows)}), path)


def files_at(folder):
    files = [*folder.glob("out/data/*"), *folder.glob("owner/linkage/*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(files)}


def release(path, folder, engine, **options):
    return gv.anonymize_rows(
        METHOD,
        str(path),
        f"file://{folder}/out",
        private=f"file://{folder}/owner",
        engine=engine,
        seed=5,
        reading=THINGS,
        **options,
    )


@pytest.fixture
def lists(tmp_path, monkeypatch):
    """Write a file of lists, and make parts and buckets small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("graphveil.claims.parts.PART_USERS", 100)
    monkeypatch.setattr("graphveil.scale.parts.BUCKET_ROWS", 120)
    path = tmp_path / "lists.parquet"
    write_likes(path)
    return path


@pytest.fixture
def undisturbed(lists, tmp_path):
    """Return the files of a run that loses nothing."""
    release(lists, tmp_path / "undisturbed", LocalEngine(jobs=1))
    files = files_at(tmp_path / "undisturbed")
    assert 6 == len(files)
    return files


@pytest.mark.parametrize("killed", [Released, Packed, PartOfUsers])
def test_a_worker_that_is_killed_changes_no_byte(
    killed, spark, lists, undisturbed, tmp_path, monkeypatch
):
    marks = tmp_path / "marks"
    marks.mkdir()

    class Faulty(SparkTables):
        def grouped(self, rows, by, n, work, schema):
            work = Killed(work, marks) if isinstance(work, killed) else work
            return super().grouped(rows, by, n, work, schema)

    monkeypatch.setattr("graphveil.engines.spark.SparkTables", Faulty)
    release(lists, tmp_path, SparkEngine(spark=spark, working=tmp_path / "working"))
    assert ["killed-0"] == [path.name for path in marks.iterdir()]
    assert undisturbed == files_at(tmp_path)
    assert [] == list((tmp_path / "working").iterdir())


def stop_at(point, monkeypatch):
    """Let a run be interrupted once it has kept or noted something, or when it is about to put."""

    class Stopped(SparkTables):
        def kept(self, rows, name, doing):
            kept = super().kept(rows, name, doing)
            if name == point:
                raise KeyboardInterrupt
            return kept

    put, finish = Address.put_bytes, WorkingFolder.finish

    def stopped_put(self, name, content):
        if name == point:
            raise KeyboardInterrupt
        put(self, name, content)

    def stopped_finish(self, name, result):
        finish(self, name, result)
        if name == point:
            raise KeyboardInterrupt

    monkeypatch.setattr("graphveil.engines.spark.SparkTables", Stopped)
    monkeypatch.setattr(Address, "put_bytes", stopped_put)
    monkeypatch.setattr(WorkingFolder, "finish", stopped_finish)


@pytest.mark.parametrize("point", POINTS)
def test_a_driver_that_stops_goes_on_to_the_same_files(
    point, spark, lists, undisturbed, tmp_path, monkeypatch
):
    engine = SparkEngine(spark=spark, working=tmp_path / "working")
    with monkeypatch.context() as patched:
        stop_at(point, patched)
        with pytest.raises(KeyboardInterrupt):
            release(lists, tmp_path, engine)
    assert not (tmp_path / "out" / "release.json").exists()
    release(lists, tmp_path, engine, force=point == "record.json")
    assert undisturbed == files_at(tmp_path)
    assert [] == list((tmp_path / "working").iterdir())


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder that is a file system of a few pages, and a function that enlarges it."""
    folder = tmp_path / "small"
    folder.mkdir()

    def mount(options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        return subprocess.run(command, check=False, capture_output=True).returncode

    if shutil.which("mount") is None or os.geteuid() or mount("size=96k,mode=700"):
        pytest.skip("nothing may be mounted here")
    try:
        yield folder, lambda: mount("remount,size=64m")
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.usefixtures("spark")
def test_a_full_disk_under_the_working_folder_is_one_line_and_the_run_goes_on(
    lists, tmp_path, small_disk, capsys
):
    folder, enlarge = small_disk
    write_likes(lists, 4000)
    words = ["anonymize", "smooth-k", str(lists), "--k=2", "--chunk-rows=400", "--no-refine"]
    words += ["--items=things", "--seed=5", "--parts"]
    assert 0 == command_line([*words, "--on-disk", f"--out={tmp_path / 'here'}"])
    words += ["--engine=spark", f"--working={folder / 'run'}", f"--out={tmp_path / 'there'}"]
    capsys.readouterr()
    assert 3 == command_line(words)
    [said] = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert "No space left on device" in said
    assert "run the same command again" in said
    assert not (tmp_path / "there").exists()
    assert 0 == enlarge()
    assert 0 == command_line(words)
    for name in ("release.json", "data/part-00000.parquet", "data/part-00039.parquet"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("spark")
def test_executors_and_drivers_that_are_killed_change_no_byte(tmp_path):
    faults = ["executor-chunks", "executor-parts", "driver-chunks", "driver-parts"]
    command = [sys.executable, SCRIPT, tmp_path, "--rows=4000", "--no-results", "--only", *faults]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (0, 5) == (done.returncode, done.stdout.count("sha256")), done.stderr
