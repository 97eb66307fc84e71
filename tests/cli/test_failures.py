"""Interrupted, out of space, a target that cannot be written, a bug: nothing is left behind."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import time
from itertools import cycle

import pytest

import graphveil as gv
import graphveil.cli as gv_cli

ANONYMIZE = ("anonymize", "k-degree", "friends.csv", "--k", "2", "--out", "out")

CRASH = """
import sys, graphveil.methods
def crash(*_, **__):
    raise IndexError("off\\nby one")
graphveil.methods.KDegree.draft = crash
from graphveil.cli import main
main(sys.argv[1:])
"""


def test_a_bug_of_ours_is_70_with_a_request_to_report_it(graphveil, listing):
    done = graphveil(*ANONYMIZE, script=CRASH)
    assert 70 == done.code
    line = done.err.splitlines()[-1]
    assert line.startswith("graphveil: error: internal error: IndexError: off by one.")
    assert "This is a bug in graphveil" in line
    assert "report" in line
    assert "Traceback" not in done.err
    assert ["friends.csv"] == listing()

    shown = graphveil(*ANONYMIZE, "--debug", script=CRASH)
    assert 70 == shown.code
    assert "Traceback" in shown.err
    assert "in crash" in shown.err
    assert ["friends.csv"] == listing()


def out_of_space(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def out_of_memory(*_, **__):
    raise MemoryError


def read_only(*_, **__):
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def forbidden(*_, **__):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "out")


def interrupted_inside_a_library(*_, **__):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise RuntimeError("Query interrupted") from None


SHORTAGES = {
    "no space for the data": ("graphveil.io.write", out_of_space, "no space left"),
    "no space for the manifest": ("pathlib.Path.write_bytes", out_of_space, "no space left"),
    "no space for the record": (
        "graphveil.release.publishing.write_private_folder",
        out_of_space,
        "no space left",
    ),
    "no space when it reaches the disk": (
        "graphveil.core.atomic._flush",
        out_of_space,
        "no space left",
    ),
    "no memory": ("graphveil.methods.KDegree.draft", out_of_memory, "out of memory"),
    "a disk that is read only": ("pathlib.Path.mkdir", read_only, "not writable"),
    "no permission to rename": ("pathlib.Path.rename", forbidden, "not writable"),
    "an interrupt that a library made its own error of": (
        "graphveil.methods.KDegree.draft",
        interrupted_inside_a_library,
        "interrupted",
    ),
}


@pytest.mark.parametrize("kind", SHORTAGES)
def test_a_shortage_is_exit_code_3_one_line_and_nothing_left(
    kind, graphveil_here, listing, monkeypatch
):
    target, crash, words = SHORTAGES[kind]
    with monkeypatch.context() as patched:
        patched.setattr(target, crash)
        done = graphveil_here(*ANONYMIZE)
    assert (3, "") == (done.code, done.out)
    errors = [line for line in done.err.splitlines() if line.startswith("graphveil: error: ")]
    assert 1 == len(errors)
    assert done.err.endswith(errors[0] + "\n")
    assert words in errors[0]
    assert ["friends.csv"] == listing()


MS_RDONLY, MS_REMOUNT = 1, 32


@pytest.fixture
def tiny_disk(cwd):
    """Mount a file system of 64 KiB at `cwd`/disk, or skip where that is not allowed."""
    if sys.platform != "linux":
        pytest.skip("mounting a small file system is done on Linux only")
    libc = ctypes.CDLL(None, use_errno=True)
    disk = cwd / "disk"
    disk.mkdir()
    if libc.mount(b"none", bytes(disk), b"tmpfs", 0, b"size=64k,mode=755"):
        pytest.skip(f"may not mount a small file system: {os.strerror(ctypes.get_errno())}")
    try:
        yield disk, libc
    finally:
        libc.umount2(bytes(disk), 2)


def test_a_full_disk_leaves_nothing(graphveil, cwd, tiny_disk):
    disk, _ = tiny_disk
    rows = "".join(f"{i},{(i + 1) % 9000}\n" for i in range(9000))
    (cwd / "ring.csv").write_text(rows)
    done = graphveil("anonymize", "k-degree", "ring.csv", "--k", 2, "--out", "disk/out")
    assert (3, "") == (done.code, done.out)
    assert "o space left" in done.err.splitlines()[-1]
    assert [] == list(disk.rglob("*"))


def test_a_read_only_folder_is_left_alone(graphveil, tiny_disk):
    disk, libc = tiny_disk
    if libc.mount(b"none", bytes(disk), b"tmpfs", MS_REMOUNT | MS_RDONLY, None):
        pytest.skip("may not remount read-only")
    done = graphveil(*ANONYMIZE[:-1], "disk/out")
    assert (3, "") == (done.code, done.out)
    assert 1 == len(done.err.splitlines())
    assert "not writable" in done.err
    assert [] == list(disk.rglob("*"))


def test_a_folder_without_permission_is_left_alone(graphveil, cwd, listing):
    if os.geteuid() == 0:
        pytest.skip("nothing is forbidden to root")
    (cwd / "locked").mkdir(mode=0o500)
    done = graphveil(*ANONYMIZE[:-1], "locked/out")
    assert (3, "") == (done.code, done.out)
    assert 1 == len(done.err.splitlines())
    assert ["friends.csv", "locked"] == listing()


def test_results_that_nobody_can_take_are_no_bug():
    command = [sys.executable, "-m", "graphveil", "methods", "--json"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (0, b"") == (done.returncode, done.stderr)
    if os.path.exists("/dev/full"):  # noqa: PTH110  a device
        with open("/dev/full", "wb") as full:  # noqa: PTH123  the same
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert 3 == done.returncode
        assert b"no space left" in done.stderr
        assert 1 == len(done.stderr.splitlines())


SLOW = """
import sys, time
import {module} as module
real = module.{name}
def slowly(*given, **named):
    result = real(*given, **named) if {after} else None
    print("now", flush=True)
    for _ in range(6000):
        time.sleep(0.01)
    return result
module.{name} = slowly
from graphveil.cli import main
main(sys.argv[1:])
"""

MOMENTS = {
    "while the input is read": ("graphveil.io.reading", "source_of", True),
    "while it is anonymized": ("graphveil.methods.k_degree.realize", "realize", True),
    "while the data is written": ("graphveil.io", "write", True),
    "while the record is written": ("graphveil.release.publishing", "write_private_folder", True),
    "before the folders are put in place": ("graphveil.core.atomic", "_put_in_place", False),
}


@pytest.mark.parametrize(
    ("moment", "number"),
    list(zip(MOMENTS, cycle([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]), strict=False)),
)
@pytest.mark.usefixtures("heeded_hangup")
def test_an_interrupt_at_any_moment_leaves_nothing(cwd, listing, moment, number):
    module, name, after = MOMENTS[moment]
    script = SLOW.format(module=module, name=name, after=after)
    done = interrupted([sys.executable, "-c", script, *ANONYMIZE], cwd, number)
    assert 3 == done.returncode
    assert done.last.startswith("graphveil: error: interrupted. ")
    assert ["friends.csv"] == listing()


@pytest.fixture
def heeded_hangup():
    """Heed a terminal that closes: what starts us under nohup ignores it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


class Interrupted:
    """How an interrupted command ended."""

    def __init__(self, process):
        _, err = process.communicate(timeout=120)
        self.returncode = process.returncode
        self.last = err.decode().splitlines()[-1] if err else ""
        assert b"Traceback" not in err


def interrupted(command, cwd, number):
    """Start a command, send it a signal once it has printed a line, and return how it ended."""
    with subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert b"now\n" == process.stdout.readline()
        process.send_signal(number)
        return Interrupted(process)


def test_an_interrupt_while_a_release_is_replaced_keeps_the_old_one(graphveil_here, cwd):
    assert 0 == graphveil_here(*ANONYMIZE).code
    before = {path: path.read_bytes() for path in cwd.rglob("*") if path.is_file()}
    script = SLOW.format(module="graphveil.core.atomic", name="_put_in_place", after=False)
    command = [sys.executable, "-c", script, *ANONYMIZE, "--force"]
    assert 3 == interrupted(command, cwd, signal.SIGINT).returncode
    assert before == {path: path.read_bytes() for path in cwd.rglob("*") if path.is_file()}
    assert 0 == graphveil_here("verify", "out", "--original", "friends.csv").code


INTERRUPTED_TEXT = """
import graphveil.cli
graphveil.cli.run = lambda tokens, debug: exec("raise KeyboardInterrupt")
graphveil.cli.main([])
"""


def test_an_interrupt_of_text_that_python_runs_is_one_like_any_other(cwd):
    """Importing runs such text: CPython remembers its interrupt, although it was handled."""
    (cwd / "interrupted.py").write_text(INTERRUPTED_TEXT)
    command = [sys.executable, "-m", "interrupted"]
    done = subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    assert 3 == done.returncode
    assert b"graphveil: error: interrupted." in done.stderr


@pytest.mark.parametrize(
    ("tokens", "said"),
    [(["anonymize", "k-degree"], True), (["measure", "a.csv"], False), ([], False)],
)
def test_only_commands_that_write_a_release_speak_of_one_when_interrupted(
    tokens, said, monkeypatch, capsys
):
    def interrupt(_tokens):
        raise KeyboardInterrupt

    monkeypatch.setattr("graphveil.cli.app.call", interrupt)
    assert 3 == gv_cli.run(tokens)
    assert said == ("No incomplete release was written" in capsys.readouterr().err)


@pytest.mark.parametrize("seconds", [1.2, 2.4])
def test_a_big_run_that_is_stopped_anywhere_leaves_a_whole_release_or_nothing(cwd, seconds):
    rows = "".join(f"{i * 7919 % 60000},{i * i % 59999}\n" for i in range(120_000))
    (cwd / "big.csv").write_text(rows)
    command = [sys.executable, "-m", "graphveil", "anonymize", "k-degree", "big.csv", "--k", "20"]
    command += ["--directed", "symmetrize"]
    with subprocess.Popen(
        [*command, "--out", "out"], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
    left = {path.name for path in cwd.iterdir()} - {"big.csv", "friends.csv"}
    assert process.returncode in {0, 3, -signal.SIGTERM}
    if process.returncode == 0 or left:
        assert {"out", "out.private"} == left
        assert gv.verify_release(cwd / "out").ok
