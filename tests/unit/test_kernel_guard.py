"""Kernels need nothing of Numba that is not public: what builds on more has a way round it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graphveil.core.kernels import seams
from thorough import first_of

ROOT = Path(__file__).resolve().parents[2]
TWINS = ["tests/property/test_kernel_helpers.py", "tests/property/test_hashing.py"]

WITHOUT = {
    "another version": "import numba; numba.__version__ = '0.999.1'",
    "a class is gone": "from numba.core import codegen; del codegen.JITCodeLibrary",
    "a method is gone": "from numba.core.caching import CacheImpl; del CacheImpl._locator_classes",
    "an option is gone": "from numba.core.options import DefaultOptions; del DefaultOptions._nrt",
    "no compiler": "import os; os.environ['NUMBA_DISABLE_JIT'] = '1'",
}
"""What happens to Numba before a kernel is imported."""


def test_only_one_file_knows_private_names_of_numba():
    knowing = [
        path.name
        for path in (ROOT / "src/graphveil").rglob("kernels/**/*.py")
        if re.search(r"(from|import) numba\.(?!extending)", path.read_text(encoding="utf-8"))
    ]
    assert ["_numba.py"] == knowing


def test_this_version_of_numba_is_tried_and_has_all_of_it():
    assert seams is not None


@pytest.fixture
def run(tmp_path):
    """Return what runs code in a process in which something happened to Numba."""

    def run_without(what, code):
        return subprocess.run(
            [sys.executable, "-c", f"{WITHOUT[what]}\n{code}"],
            cwd=ROOT,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run_without


@pytest.mark.parametrize("what", WITHOUT)
def test_where_something_of_numba_is_gone_nothing_builds_on_it(what, run):
    done = run(what, "from graphveil.core.kernels import seams, leaf, tiers; print(seams)")
    assert ("None\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize("what", first_of(["no compiler", "a class is gone"]))
def test_kernels_do_the_same_without_it(what, run):
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = run(what, f"import sys, pytest; sys.exit(pytest.main({options + TWINS}))")
    assert 0 == done.returncode, done.stdout + done.stderr
    assert " passed" in done.stdout
