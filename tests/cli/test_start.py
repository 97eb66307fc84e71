"""Help comes at once, and imports nothing heavy."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from graphveil.cli.app import COMMANDS
from graphveil.methods import METHODS

PATIENCE_SECONDS = 1.5
"""The promise is 0.3 s on a common machine; this one may be slow and busy."""

HEAVY = ["numpy", "scipy", "numba", "pyarrow", "duckdb", "networkit", "rustworkx", "pooch"]

PAGES = [[], *([name] for name in COMMANDS), *(["anonymize", name] for name in METHODS)]

LOADED = """
import json, sys
from graphveil.cli import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted({{name.partition(".")[0] for name in sys.modules}} & {heavy})]),
      file=sys.stderr)
"""


def seconds_of_children():
    """Return what ended children used of the processor: waiting for it is not their fault."""
    used = os.times()
    return used.children_user + used.children_system


@pytest.mark.parametrize("page", PAGES, ids=lambda page: " ".join(page) or "graphveil")
def test_help_comes_at_once(page):
    command = [sys.executable, "-m", "graphveil", *page, "--help"]
    for _ in range(3):
        before = seconds_of_children()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        if seconds_of_children() - before < PATIENCE_SECONDS:
            break
    else:
        pytest.fail("three runs took too long")
    assert done.stdout.startswith("Usage: graphveil")
    assert "" == done.stderr
    shown = " ".join(done.stdout.split())
    if page in ([], ["anonymize"]):
        assert all(name in shown for name in (COMMANDS if not page else METHODS))
    else:
        assert f"Example: graphveil {' '.join(page)}" in shown


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_imports_nothing_heavy(arguments):
    script = LOADED.format(heavy=set(HEAVY))
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert 0 == code
    assert [] == loaded
