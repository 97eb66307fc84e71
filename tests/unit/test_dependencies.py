"""What the package imports is what it declares: no more, no less."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from graphveil import __version__
from graphveil.io.datasets import DATASETS

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = CONFIG["project"]
HANDED_IN = {"igraph", "networkx", "pandas", "polars"}
"""Libraries whose objects are accepted: whoever hands one in has the library."""
OF_EXTRAS = {"stdnum": "python-stdnum"}
"""Modules of libraries that a developer need not have, and the names of these libraries."""


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
            for argument in node.args[:1]:
                start = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
                if isinstance(start, ast.Constant):
                    yield start.value.partition(".")[0]


@pytest.fixture(scope="module")
def needed():
    """Return the distributions that the package imports."""
    files = (ROOT / "src").rglob("*.py")
    modules = {name for path in files for name in imported(path.read_text(encoding="utf-8"))}
    known = {name: [library] for name, library in OF_EXTRAS.items()} | packages_distributions()
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


def test_the_bill_of_materials_the_recipe_and_the_citation_are_of_this_version_and_its_needs():
    bill = json.loads((ROOT / "graphveil.cdx.json").read_text(encoding="utf-8"))
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert __version__ == bill["metadata"]["component"]["version"]
    assert bill["metadata"]["component"]["purl"].endswith(f"@{__version__}")
    assert f"\n  version: {__version__}\n" in recipe
    assert f"\nversion: {__version__}\n" in citation
    libraries = {one["name"] for one in bill["components"] if one["type"] == "library"}
    assert declared([PROJECT["dependencies"]]) == libraries
    files = {file for item in DATASETS.values() for file in item.files}
    assert files == {one["name"] for one in bill["components"] if one["type"] == "data"}
    wanted = {
        CONDA.get(name, name) + limits for name, limits in map(split, PROJECT["dependencies"])
    }
    run = recipe.partition("\n  run:\n")[2].partition("\n\n")[0]
    assert wanted | {"python" + PROJECT["requires-python"]} == {
        line.removeprefix("    - ").replace(" ", "") for line in run.splitlines()
    }


CONDA = {"duckdb": "python-duckdb", "pyarrow": "pyarrow-core"}
"""What conda-forge calls otherwise, or has a smaller part of."""


def split(requirement):
    """Return the name of a requirement, and its limits."""
    name = distribution(requirement)
    return name, requirement[len(name) :]


def test_imports_are_found_wherever_they_stand():
    source = (
        "import numpy.linalg as la, os\nfrom . import here\nfrom rich.text import Text\n"
        "sparse = lazy_module('scipy.sparse')\ndef later():\n    import numba\n"
    )
    assert ["numba", "numpy", "os", "rich", "scipy"] == sorted(imported(source))
