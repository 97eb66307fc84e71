"""What CONTRIBUTING and CITATION say of the tree is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphveil as gv

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "graphveil"
TEXT = (ROOT / "CONTRIBUTING.md").read_text() + (ROOT / "docs/how-to/extending.md").read_text()
PATHS = sorted(set(re.findall(r"`((?:src|tests|docs|tools|benchmarks)/[^\s`]+)", TEXT)))


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_is_named_is_there(path):
    assert list(ROOT.glob(path))


def test_the_table_names_every_room_and_no_other():
    table = re.findall(r"^\| (.*?) \|", TEXT, re.MULTILINE)
    named = {name for cell in table for name in re.findall(r"`(\w+)`", cell)}
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    inside = {path.stem for path in PACKAGE.glob("*/*")} | {"kernels"}
    assert rooms <= named <= rooms | inside


def test_the_version_to_cite_is_this_one():
    assert f"\nversion: {gv.__version__}\n" in (ROOT / "CITATION.cff").read_text()
