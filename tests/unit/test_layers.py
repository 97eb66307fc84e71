"""The rooms of the package import each other in one direction only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import graphveil

PACKAGE = Path(graphveil.__file__).parent
GENERATORS = {"Generator", "SeedSequence", "BitGenerator", "PCG64DXSM"}

FORBIDDEN = {
    "verify": ("methods", "kernels", "measures", "evaluate", "io", "randomness", "anonymizer"),
    "evaluate": ("methods", "kernels"),
    "report": ("methods", "kernels"),
    "release": ("methods", "kernels"),
    "data": ("methods", "release", "verify", "evaluate", "io"),
    "io": ("methods", "release", "verify", "evaluate"),
    "kernels": ("methods", "data", "io", "release", "verify", "evaluate", "measures"),
}
"""What the files of a room may not import, at their top or inside a function."""

VERIFY_TAKES = {
    "graphveil.data",
    "graphveil.errors",
    "graphveil.claims.guarantees",
    "graphveil.limits",
    "graphveil.records.manifest",
    "graphveil.records.record",
    "graphveil.verify",
}


class Import(NamedTuple):
    """One name that a file imports."""

    line: int
    name: str


def imports_of(source: str, package: str) -> list[Import]:
    """Return the full name of everything that is imported anywhere in the source."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [base])])
            found += [Import(node.lineno, f"{base}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Call) and _name(node.func) in {
            "importlib.import_module",
            "import_module",
            "lazy_module",
            "__import__",
        }:
            found += [
                Import(node.lineno, argument.value)
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
    return found


def random_uses(source: str) -> list[int]:
    """Return the lines that use the standard random module, or functions of numpy.random."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            name = _name(node)
            if name.startswith(("np.random.", "numpy.random.")):
                lines += [node.lineno] if name.split(".")[2] not in GENERATORS else []
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for line, name in imports_of(ast.unparse(node), "graphveil"):
                del line
                root = name.split(".")
                bad = root[0] == "random" or (
                    root[:2] == ["numpy", "random"] and (root[2:] or [""])[0] not in GENERATORS
                )
                lines += [node.lineno] if bad else []
    return lines


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _files(room: str = "") -> Iterator[tuple[Path, str, str]]:
    """Yield path, source and package of every file in a room."""
    place = PACKAGE / room
    single = place.with_suffix(".py")
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [single] * single.exists():
        package = ".".join(("graphveil", *path.relative_to(PACKAGE).parts[:-1]))
        yield path, path.read_text(encoding="utf-8"), package


def _is_in(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


@pytest.mark.parametrize("room", FORBIDDEN)
def test_a_room_imports_no_room_that_it_must_not_know(room):
    if not list(_files(room)):
        pytest.skip(f"there is no room {room} yet")
    banned = [f"graphveil.{name}" for name in FORBIDDEN[room]]
    found = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path, source, package in _files(room)
        for line, name in imports_of(source, package)
        if any(_is_in(name, module) for module in banned)
    ]
    assert not found


def test_nothing_outside_kernels_imports_numba():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path, source, package in _files()
        for line, name in imports_of(source, package)
        if _is_in(name, "numba") and path.relative_to(PACKAGE).parts[0] != "kernels"
    ]
    assert not found


def test_the_checker_takes_of_graphveil_only_containers_constants_and_the_manifest():
    found = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path, source, package in _files("verify")
        for line, name in imports_of(source, package)
        if _is_in(name, "graphveil") and not any(_is_in(name, home) for home in VERIFY_TAKES)
    ]
    assert not found


def test_only_one_file_holds_a_source_of_randomness():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path, source, _ in _files()
        for line in random_uses(source)
        if path.relative_to(PACKAGE).as_posix() != "randomness.py"
    ]
    assert not found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from graphveil.methods import KDegree", "graphveil.methods.KDegree"),
        ("import graphveil.kernels.degree", "graphveil.kernels.degree"),
        ("from graphveil import methods", "graphveil.methods"),
        ("from ..methods import k_degree", "graphveil.methods.k_degree"),
        ("def f():\n    from numba import njit", "numba.njit"),
        ("nb = lazy_module('numba')", "numba"),
        ("importlib.import_module('graphveil.methods')", "graphveil.methods"),
    ],
)
def test_an_import_is_found_however_it_is_written(source, expected):
    assert [expected] == [name for _, name in imports_of(source, "graphveil.verify")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import random", [1]),
        ("from random import shuffle", [1]),
        ("import numpy as np\nnp.random.default_rng(1)", [2]),
        ("import numpy as np\ndef f(g: np.random.Generator): ...", []),
        ("from numpy.random import default_rng", [1]),
        ("from numpy.random import Generator", []),
        ("from graphveil.randomness import Randomness", []),
    ],
)
def test_a_use_of_global_randomness_is_found_however_it_is_written(source, expected):
    assert expected == random_uses(source)
