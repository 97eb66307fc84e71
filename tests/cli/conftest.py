"""The command line as people run it: a process, its exit code, its two streams, its folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from typing import NamedTuple

import pytest

from graphveil.cli import run

FRIENDS = "source,target\nann,bob\nbob,cyd\ncyd,dan\ndan,ann\nann,cyd\neve,ann\n"
"""Five people; ann has four friends, cyd three, bob and dan two, eve one."""


MANY = """
import contextlib, io, json, os, sys
from graphveil.cli import run
done = []
for folder, arguments in json.loads(sys.argv[1]):
    os.chdir(folder)
    streams = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = run(arguments)
    done.append([code, *(stream.getvalue() for stream in streams)])
print(json.dumps(done))
"""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def cwd(tmp_path):
    """A folder with one input file, in which commands run."""
    (tmp_path / "friends.csv").write_text(FRIENDS)
    return tmp_path


@pytest.fixture
def graphveil(cwd):
    """Return a function that runs a command in `cwd`."""

    def command(*arguments, script=None, env=None, umask=-1):
        start = ["-m", "graphveil"] if script is None else ["-c", script]
        done = subprocess.run(
            [sys.executable, *start, *map(str, arguments)],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            env=os.environ | (env or {}),
            umask=umask,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return command


@pytest.fixture
def graphveil_here(cwd, monkeypatch, capsys):
    """Return a function that runs a command in `cwd` in this process: quick, and patchable."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def command(*arguments):
        with monkeypatch.context() as patched:
            patched.chdir(cwd)
            code = run([str(word) for word in arguments])
        shown = capsys.readouterr()
        return Done(code, shown.out, shown.err)

    with warnings.catch_warnings():
        yield command
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def graphveil_many(graphveil):
    """Return a function that runs commands, given as (folder, arguments), in one process."""

    def many(commands):
        listed = [[str(folder), [str(word) for word in words]] for folder, words in commands]
        done = graphveil(json.dumps(listed), script=MANY)
        assert (0, "") == (done.code, done.err)
        return [Done(*each) for each in json.loads(done.out)]

    return many


@pytest.fixture
def listing(cwd):
    """Return a function that lists everything in `cwd`, hidden files too."""
    return lambda: sorted(str(path.relative_to(cwd)) for path in cwd.rglob("*"))


@pytest.fixture
def assert_one_line():
    """Return a function that asserts the one line of a failure, with these words."""

    def check(done, *words):
        assert "" == done.out
        lines = done.err.splitlines()
        assert 1 == len(lines), done.err
        assert lines[0].startswith("graphveil: error: ")
        assert all(word in lines[0] for word in words), lines[0]
        assert "Traceback" not in done.err

    return check
