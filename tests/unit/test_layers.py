"""The rooms of the package import each other in one direction only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import pytest

import graphveil

PACKAGE = Path(graphveil.__file__).parent
GENERATORS = {"Generator", "SeedSequence", "BitGenerator", "PCG64DXSM"}

ROOMS = (
    *("_version", "terminal", "errors", "warning_kinds", "lazy", "html", "rows", "bounds"),
    *("notebook", "progress", "atomic", "places", "randomness", "kernels", "data", "claims"),
    *("records", "io", "measures", "noise"),
    *("verify", "release", "engines", "owner_warnings", "parameters", "anonymizer"),
    *("methods", "on_disk", "evaluate", "attacks", "advising", "datasets", "summaries"),
    *("report", "sweeping", "verbs", "cli", "serve", "__main__", "__init__"),
)
"""Every room: its files import, at their top or inside a function, rooms that stand before it."""

KEPT_APART = {
    "kernels": ("data",),
    "data": ("progress",),
    "claims": ("data", "kernels"),
    "io": ("kernels", "claims", "records"),
    "verify": ("kernels", "io", "measures", "noise", "randomness"),
    "release": ("kernels", "measures", "noise"),
    "evaluate": ("kernels", "methods", "anonymizer", "on_disk", "io", "noise"),
    "attacks": ("methods", "anonymizer", "on_disk", "io", "noise"),
    "report": ("kernels", "methods", "anonymizer", "on_disk", "io", "noise", "evaluate", "attacks"),
    "sweeping": ("kernels", "on_disk", "io", "noise", "verify", "evaluate", "attacks"),
    "datasets": ("methods", "anonymizer", "release"),
}
"""Rooms that a room does not import although they stand before it, by the room."""

ARROWS_UP = {
    ("graphveil.release.release", "graphveil.verbs"),
    ("graphveil.release.release", "graphveil.report"),
    ("graphveil.rows", "graphveil.report"),
    ("graphveil.measures.risk", "graphveil.report"),
}
"""`Release.verify`, `.evaluate`, `.attack`, `.report` call the verbs: there is one of each. What is
measured draws itself with `plot`, by the marks of a page."""


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


def _room_of(name: str) -> str:
    """Return the room of a module of the package: its folder or file below the top."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def _modules() -> dict[str, tuple[Path, str, str]]:
    """Return path, source and package of every module by its full name."""
    modules = {}
    for path, source, package in _files():
        name = package if path.stem == "__init__" else f"{package}.{path.stem}"
        modules[name] = (path, source, package)
    return modules


def _imported_modules(name: str, source: str, package: str, known: set[str]) -> set[str]:
    """Return the modules of the package that a module names in an import, whole or in part."""
    imported = set()
    for _, target in imports_of(source, package):
        while target and target not in known:
            target = target.rpartition(".")[0]  # noqa: PLW2901  from module to package
        if target and target != name:
            imported.add(target)
    return imported


def test_every_room_is_listed_once():
    rooms = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir()}
    assert rooms - {"__pycache__", "py"} == set(ROOMS) | (rooms & {"py.typed"})
    assert len(ROOMS) == len(set(ROOMS))


def _goes_up(package: str, path: Path, name: str) -> bool:
    module = package if path.stem == "__init__" else f"{package}.{path.stem}"
    return any(module == one and _is_in(name, other) for one, other in ARROWS_UP)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_above_it(room):
    allowed = {*ROOMS[: ROOMS.index(room) + 1]} - {*KEPT_APART.get(room, ())}
    single = {"__init__", "__main__"}
    files = [PACKAGE / f"{room}.py"] if room in single else None
    strange = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path, source, package in _files("" if files else room)
        if files is None or path in files
        for line, name in imports_of(source, package)
        if name.split(".")[0] == "graphveil"
        and _room_of(name) not in allowed
        and not _goes_up(package, path, name)
    ]
    assert not strange


def test_no_chain_of_imports_comes_back_to_where_it_began():
    modules = _modules()
    arrows = {
        name: {
            other
            for other in _imported_modules(name, source, package, set(modules))
            if not _goes_up(package, path, other)
        }
        for name, (path, source, package) in modules.items()
        if name != "graphveil"
    }
    circles = list(_circles(arrows))
    assert not circles


def _circles(arrows: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield the groups of modules that reach each other."""
    graph = nx.DiGraph([(one, other) for one, others in arrows.items() for other in others])
    yield from (
        sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1
    )


def test_nothing_outside_kernels_imports_numba():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path, source, package in _files()
        for line, name in imports_of(source, package)
        if _is_in(name, "numba") and path.relative_to(PACKAGE).parts[0] != "kernels"
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
