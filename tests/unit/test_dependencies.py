"""What the package imports is what it declares: no more, no less."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = CONFIG["project"]
HANDED_IN = {"igraph", "networkx", "pandas", "polars"}
"""Libraries whose objects are accepted: whoever hands one in has the library."""


def distribution(requirement):
    """Return the normalized name of a requirement such as ``numba>=0.61``."""
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def imported(source):
    """Return the first names of what a module imports, at its start or later, or lazily."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            ("lazy_module", "import_module", "find_spec")
        ):
            yield from (
                argument.value.partition(".")[0]
                for argument in node.args[:1]
                if isinstance(argument, ast.Constant)
            )


@pytest.fixture(scope="module")
def needed():
    """Return the distributions that the package imports."""
    files = (ROOT / "src").rglob("*.py")
    modules = {name for path in files for name in imported(path.read_text(encoding="utf-8"))}
    known = packages_distributions()
    return {
        known.get(name, [name])[0].lower().replace("_", "-")
        for name in modules - sys.stdlib_module_names - {"graphveil"}
    }


def declared(groups):
    return {distribution(requirement) for group in groups for requirement in group}


def test_every_import_is_declared(needed):
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    assert set() == needed - HANDED_IN - declared(lists)


def test_what_is_accepted_when_handed_in_is_there_for_the_tests(needed):
    group = [item for item in CONFIG["dependency-groups"]["dev"] if isinstance(item, str)]
    assert set() == (needed & HANDED_IN) - declared([group])


def test_every_dependency_and_every_extra_is_imported(needed):
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    assert set() == declared(lists) - needed


def test_imports_are_found_wherever_they_stand():
    source = (
        "import numpy.linalg as la, os\nfrom . import here\nfrom rich.text import Text\n"
        "sparse = lazy_module('scipy.sparse')\ndef later():\n    import numba\n"
    )
    assert ["numba", "numpy", "os", "rich", "scipy"] == sorted(imported(source))
