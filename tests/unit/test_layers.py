"""The rooms of the package import each other in one direction only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import pytest

import graphveil

PACKAGE = Path(graphveil.__file__).parent
GENERATORS = {"Generator", "SeedSequence", "BitGenerator", "PCG64DXSM"}

ROOMS = (
    *("core", "data", "claims", "measures", "io", "verify", "release", "engines", "methods"),
    *("evaluate", "attacks", "scale", "verbs", "pages", "app", "cli", "__main__", "__init__"),
)
"""Every folder of the package, from the ground up, then its two files. Files of a room import, at
their top, inside a function or for types alone, rooms that come before it."""

DOORS = {
    "release.release": {
        *("verbs.verify", "verbs.evaluate", "verbs.attack", "pages.report.report"),
        *("attacks.attack", "evaluate.comparison", "methods.rename", "pages.report.document"),
    },
}
"""The only imports that run against the order: of `Release.verify`, `.evaluate`, `.attack` and
`.report`, each of one verb inside the method; and, for type checkers alone, of what the signatures
of these four name."""

KERNELS = "kernels"
"""Stands for every folder of this name: kernels belong to the room that they stand in."""

KEPT_APART = {
    "claims": (KERNELS,),
    "claims.conditions": ("data",),
    "claims.guarantees": ("data",),
    "io": (KERNELS, "claims"),
    "verify": (KERNELS, "io", "measures", "methods", "core.randomness"),
    "release": (KERNELS, "measures", "methods"),
    "evaluate": (KERNELS, "methods", "scale", "io"),
    "attacks": ("methods", "scale.ties", "scale.run", "scale.stages", "io"),
    "pages": (KERNELS, "scale"),
    "pages.report": (KERNELS, "scale", "io"),
    "io.datasets": ("methods", "release"),
}
"""Rooms and modules that another does not import although they stand before it."""


class Import(NamedTuple):
    """One name that a file imports."""

    line: int
    name: str


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def imports_of(source: str, package: str) -> list[Import]:
    """Return the full name of everything that is imported anywhere, also for types alone."""
    found = []
    for node in ast.walk(parsed(source)):
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
    for node in ast.walk(parsed(source)):
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
    place = PACKAGE.joinpath(*room.split("."))
    single = place.with_suffix(".py")
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [single] * single.exists():
        package = ".".join(("graphveil", *path.relative_to(PACKAGE).parts[:-1]))
        yield path, path.read_text(encoding="utf-8"), package


def _is_in(name: str, module: str) -> bool:
    return name == module or name.startswith(f"{module}.")


def _room_of(name: str) -> str:
    """Return the room of a module of the package: the longest name that fits."""
    inner = name.removeprefix("graphveil").removeprefix(".")
    fitting = [room for room in ROOMS if _is_in(inner, room)]
    return max(fitting, key=len, default=inner.partition(".")[0] or "__init__")


def _is_apart(name: str, room: str) -> bool:
    """Return whether a name is in what a room is kept apart from."""
    if not _is_in(name, "graphveil"):
        return False
    inner = name.removeprefix("graphveil.")
    if room == KERNELS:
        return KERNELS in inner.split(".")
    return _is_in(inner, room)


def _is_door(module: str, name: str) -> bool:
    """Return whether an import is one of the doors, which lead from a release up to its verbs."""
    targets = DOORS.get(module.removeprefix("graphveil."), set())
    return any(_is_in(name, f"graphveil.{target}") for target in targets)


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


def test_the_rooms_are_the_folders():
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    files = {path.stem for path in PACKAGE.glob("*.py")}
    assert folders | files == set(ROOMS)
    assert len(ROOMS) == len(set(ROOMS))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_above_it(room):
    allowed = ROOMS[: ROOMS.index(room) + 1]
    strange = [
        f"{module} line {line} imports {name}"
        for module, (_, source, package) in _modules().items()
        if _room_of(module) == room
        for line, name in imports_of(source, package)
        if name.split(".")[0] == "graphveil" and _room_of(name) not in allowed
        if not _is_door(module, name)
    ]
    assert not strange


def test_every_door_is_used():
    modules = _modules()
    for name, targets in DOORS.items():
        _, source, package = modules[f"graphveil.{name}"]
        imported = _imported_modules(f"graphveil.{name}", source, package, set(modules))
        assert {f"graphveil.{target}" for target in targets} <= imported


@pytest.mark.parametrize("room", KEPT_APART)
def test_a_room_is_kept_apart_from_others(room):
    strange = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path, source, package in _files(room)
        for line, name in imports_of(source, package)
        for other in KEPT_APART[room]
        if _is_apart(name, other) and not _is_apart(name, room)
        if not _is_door(f"{package}.{path.stem}", name)
    ]
    assert not strange


def test_no_chain_of_imports_comes_back_to_where_it_began():
    modules = _modules()
    arrows = {
        name: {
            target
            for target in _imported_modules(name, source, package, set(modules))
            if not _is_door(name, target)
        }
        for name, (_, source, package) in modules.items()
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
        if _is_in(name, "numba") and "kernels" not in path.relative_to(PACKAGE).parts
    ]
    assert not found


def test_only_one_file_holds_a_source_of_randomness():
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path, source, _ in _files()
        for line in random_uses(source)
        if path.relative_to(PACKAGE).as_posix() != "core/randomness.py"
    ]
    assert not found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from graphveil.methods import KDegree", "graphveil.methods.KDegree"),
        ("import graphveil.core.kernels.degree", "graphveil.core.kernels.degree"),
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
        ("from graphveil.core.randomness import Randomness", []),
    ],
)
def test_a_use_of_global_randomness_is_found_however_it_is_written(source, expected):
    assert expected == random_uses(source)
