"""Help comes at once and imports nothing heavy; a verb imports what its own work needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from typing import NamedTuple

import pytest

import graphveil
from graphveil.cli.app import COMMANDS
from graphveil.core import lazy
from graphveil.methods import METHODS

PATIENCE_SECONDS = 1.5
"""The promise is 0.4 s on a common machine; this one may be slow and busy."""

SPIN = "OPENBLAS_THREAD_TIMEOUT"
HEAVY = ["numpy", "scipy", "numba", "pyarrow", "duckdb", "rustworkx", "graspologic_native"]
PAGES = [[], *([name] for name in COMMANDS), *(["anonymize", name] for name in METHODS)]

EACH = f"""
import contextlib, io, json, os, sys
from graphveil.cli import run

def answer(words):
    before = sum(os.times()[:2])
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run(words)
    loaded = {{name.partition(".")[0] for name in sys.modules}} & set({HEAVY})
    return [code, out.getvalue(), sorted(loaded), sum(os.times()[:2]) - before]

for words in json.loads(sys.argv[2]):
    answer(words)
begun = sum(os.times()[:2])
for words in json.loads(sys.argv[1]):
    if os.fork() == 0:
        *said, seconds = answer(words)
        print(json.dumps([*said, begun + seconds]), flush=True)
        os._exit(0)
    os.wait()
"""
"""Runs commands, each in a copy of a process that ran others: its time includes all of theirs."""


VERBS = {
    "methods": {"numpy"},
    "key secret.key": {"numpy"},
    "measure table.csv --kind table": {"numpy", "pyarrow", "scipy"},
    "anonymize dp-1k network.csv --epsilon 4 --out a": {"numpy", "pyarrow"},
    "anonymize rename table.csv --kind table --out b": {"numpy", "pyarrow"},
    "verify a --original network.csv": {"numpy", "pyarrow", "duckdb", "scipy"},
    "verify b --original table.csv": {"numpy", "pyarrow", "duckdb"},
    "report a --public": {"numpy", "pyarrow", "duckdb", "scipy"},
    "report b --public": {"numpy", "pyarrow", "duckdb", "scipy"},
    "evaluate a --original network.csv": {
        *("numpy", "pyarrow", "scipy", "rustworkx", "graspologic_native"),
    },
    "evaluate b --original table.csv": {"numpy", "pyarrow", "scipy"},
    "attack b --original table.csv --attacks matching": {"numpy", "pyarrow", "scipy"},
    "convert network.csv --out network.gexf": {"numpy", "pyarrow"},
}
"""Commands on small data, in an order in which each finds its input, and what they may import."""

FOREIGN = ["pandas", "polars", "networkx", "igraph", "sklearn", "matplotlib"]
"""What is taken when it is handed in; the process of a command has none of it."""

EACH_VERB = f"""
import contextlib, io, json, os, sys
from graphveil.cli import main

for line in json.loads(sys.argv[1]):
    if os.fork() == 0:
        sys.argv = ["graphveil", *line.split()]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                main()
            except SystemExit as end:
                code = end.code
        loaded = {{name.partition(".")[0] for name in sys.modules}} & set({HEAVY + FOREIGN})
        print(json.dumps([code, sorted(loaded)]), flush=True)
        os._exit(0)
    os.wait()
"""
"""Runs commands as a shell does, each in a process of its own."""


class Answer(NamedTuple):
    """What a command said, the heavy packages that it imported, and its seconds of CPU."""

    code: int
    out: str
    loaded: list[str]
    seconds: float


def answers(commands, *, after=()):
    """Return what commands say in copies of a process that ran some others."""
    done = subprocess.run(
        [sys.executable, "-c", EACH, json.dumps(commands), json.dumps(after)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "" == done.stderr
    return [Answer(*json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def help_of():
    """Return what every page of help says, by its words."""
    commands = [[*page, "--help"] for page in PAGES]
    done = answers(commands, after=[["anonymize", "--help"], ["anonymize", "k-degree", "--help"]])
    return dict(zip(map(tuple, PAGES), done, strict=True))


def quick(seconds, again):
    """Whether it took less than the patience, at once or in one of two further runs."""
    return seconds < PATIENCE_SECONDS or any(again() < PATIENCE_SECONDS for _ in range(2))


def seconds_of_a_process(*words):
    """Return what a process uses of the processor: waiting for it is not its fault."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "graphveil", *words], capture_output=True, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


@pytest.mark.parametrize("words", [["--help"], ["anonymize", "--help"]])
def test_help_of_a_process_comes_at_once(words):
    assert quick(seconds_of_a_process(*words), lambda: seconds_of_a_process(*words))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: " ".join(page) or "graphveil")
def test_every_page_of_help_comes_at_once(page, help_of):
    done = help_of[tuple(page)]
    assert 0 == done.code
    assert set(done.loaded) <= {"numpy"}
    assert quick(done.seconds, lambda: answers([[*page, "--help"]])[0].seconds)
    assert done.out.startswith("Usage: graphveil")
    shown = " ".join(done.out.split())
    if page in ([], ["anonymize"]):
        assert all(name in shown for name in (COMMANDS if not page else METHODS))
    else:
        assert f"Example: graphveil {' '.join(page)}" in shown


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_what_is_said_without_a_verb_imports_nothing_heavy(words):
    done = answers([words])[0]
    assert (0, []) == (done.code, done.loaded)


@pytest.fixture(scope="module")
def loaded_by(tmp_path_factory):
    """Return the exit code of every verb and what it imported, by its words."""
    folder = tmp_path_factory.mktemp("verbs")
    ring = "".join(f"p{v},p{(v + step) % 12}\n" for v in range(12) for step in (1, 2, 3))
    (folder / "network.csv").write_text(f"source,target\n{ring}")
    rows = "".join(f"{'nurse' if n % 3 else 'judge'},{'f' if n % 2 else 'm'}\n" for n in range(12))
    (folder / "table.csv").write_text(f"job,sex\n{rows}")
    done = subprocess.run(
        [sys.executable, "-c", EACH_VERB, json.dumps(list(VERBS))],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(VERBS, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("line", VERBS)
def test_a_verb_imports_what_its_own_work_needs(line, loaded_by):
    code, loaded = loaded_by[line]
    assert 0 == code
    assert set() == set(loaded) - VERBS[line]


def test_after_it_was_left_out_a_library_can_be_imported():
    with lazy.absent("wave"), pytest.raises(ModuleNotFoundError, match="wave"):
        import_module("wave")
    assert import_module("wave").open


@pytest.mark.parametrize(
    ("named", "expected"), [({}, "4"), ({"OPENBLAS_THREAD_TIMEOUT": "9"}, "9")]
)
def test_idle_threads_of_a_command_do_not_spin_where_nobody_says_how_long(named, expected):
    script = """if 1:
        import atexit, os, sys
        from graphveil.cli import main
        atexit.register(lambda: print(os.environ["OPENBLAS_THREAD_TIMEOUT"]))
        sys.argv[1:] = ["--version"]
        main()
    """
    others = {name: os.environ[name] for name in os.environ if name != SPIN}
    environment = others | named
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, check=True
    )
    assert [graphveil.__version__, expected] == done.stdout.decode().split()[-2:]
