"""Change random places of chosen rooms one by one, and say which changes no test notices.

Each mutant changes one operator, number, condition or term. It is tried in a copy in ``build``, by
the tests that import its module or a module that does, and those that CONTRIBUTING lists for its
room: a folder of the package or, where none has the name, a module. Docstrings, words, annotations,
some keyword arguments and kernels stay as they are. Exit code 1 where too few are noticed.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy as copying
import json
import random  # noqa: TID251  as old mutants are drawn again, whatever the package draws
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from planted.run import changed, failed_test, fill, run_tests  # noqa: E402  a script finds it there

ROOMS = [
    "measures",
    "claims",
    "verify",
    "summaries",
    "report",
    "advise",
    "sweep",
    "attacks",
    "data",
]
NOT_HERE = ("tests/browser", "tests/spark", "tests/planted", "tests/fuzz")
"""Tests that need a browser or Java, and no tests."""

PASSED, NO_TESTS = 0, 5
"""Exit codes of pytest."""

UNKNOWN_SECONDS = 5.0
"""How long a test file is thought to take that has not been run to its end."""

START_SECONDS = 20.0
LATE = "the time limit"
MOST_NUMBER = 100
"""Larger numbers bound work, sizes or bytes: one more or less is no fault."""

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
CALCULATED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
NO_FIGURES = {"strict", "copy", "kind", "frozen", "kw_only", "slots", "repr", "stacklevel"}
"""Keyword arguments that say how, not what: their change alters no result."""


class Mutant(NamedTuple):
    """One change of one expression: the file, the line, and the file's text with it."""

    file: str
    line: int
    before: str
    after: str
    text: str

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.file}:{self.line}"


def main() -> int:
    """Try the mutants that were drawn, and list those that no test notices."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rooms", nargs="+", default=ROOMS, help="folders or modules")
    parser.add_argument("--mutants", type=int, default=200, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1, help="another seed draws others")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for each mutant")
    parser.add_argument("--least", type=float, default=0.85, help="share that must be noticed")
    parser.add_argument("--list", action="store_true", help="print the mutants, and try none")
    given = parser.parse_args()
    drawn = draw(ROOT, given.rooms, given.mutants, given.seed)
    if given.list:
        for mutant in drawn:
            print(shown(mutant))  # noqa: T201  a command that prints
        return 0
    trial, survivors = Trial(ROOT, given.seconds), []
    for number, mutant in enumerate(drawn, 1):
        started = time.monotonic()
        noticed = trial.noticed_by(mutant)
        said = f"killed by {noticed}" if noticed else "SURVIVED"
        head = f"{number:4} {time.monotonic() - started:5.0f} s  {mutant.place}  {said}"
        print(head if noticed else f"{head}\n{shown(mutant)}", flush=True)  # noqa: T201
        if not noticed:
            survivors.append(mutant)
    killed = len(drawn) - len(survivors)
    print(f"{killed} of {len(drawn)} mutants are killed. Survivors:")  # noqa: T201
    for mutant in survivors:
        print(shown(mutant))  # noqa: T201
    return int(killed < given.least * len(drawn))


def shown(mutant: Mutant) -> str:
    """Return the place of a mutant, its line, and the line as it is changed."""
    return f"{mutant.place}\n  - {mutant.before}\n  + {mutant.after}"


def draw(root: Path, rooms: Iterable[str], number: int, seed: int) -> list[Mutant]:
    """Return mutants of the modules in these rooms, at most one for each expression."""
    package = root / "src" / "graphveil"
    files = set()
    for room in rooms:
        folders, modules = package.rglob(f"{room}/**/*.py"), package.rglob(f"{room}.py")
        inside = set(folders) or set(modules)
        if not inside:
            raise SystemExit(f"{room} is no folder or module of {package}.")
        files |= {path for path in inside if "kernels" not in path.parts}
    rng = random.Random(seed)  # noqa: S311  to repeat it, not to hide anything
    places = [
        (path.relative_to(root).as_posix(), place)
        for path in sorted(files)
        for place in range(len(_places(_tree(path))))
    ]
    chosen = rng.sample(places, min(number, len(places)))
    return [_mutant(root, file, place, rng) for file, place in chosen]


def _mutant(root: Path, file: str, place: int, rng: random.Random) -> Mutant:
    """Return the text of a file with one of its expressions changed."""
    text = (root / file).read_text(encoding="utf-8")
    node = _places(_tree(root / file))[place]
    changes = list(_changes(node))
    new = rng.choice(changes)
    lines = text.encode().splitlines(keepends=True)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    whole = text.encode()
    mutated = (whole[:start] + f"({ast.unparse(new)})".encode() + whole[end:]).decode()
    before = " ".join(part.strip() for part in text.splitlines()[node.lineno - 1 : node.end_lineno])
    extra = mutated.count("\n") - text.count("\n")
    until = node.end_lineno + extra
    after = " ".join(part.strip() for part in mutated.splitlines()[node.lineno - 1 : until])
    return Mutant(file, node.lineno, before, after, mutated)


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _places(tree: ast.AST) -> list[ast.expr]:
    """Return the expressions that can be changed, in the order of the file."""
    return [node for node in _run(tree) if any(True for _ in _changes(node))]


def _run(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that decide what is computed: no annotations, no `__repr__`."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_idle(child):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from _run(child)


def _is_idle(node: ast.AST) -> bool:
    """Whether nothing in a part of a file is computed, or all of it says how."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.FunctionDef(name="__repr__" | "__hash__"):
            return True
        case ast.keyword(arg=str(name)):
            return name in NO_FIGURES
        case ast.FormattedValue(format_spec=spec) if spec is not None:
            node.format_spec = None
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _changes(node: ast.expr) -> Iterator[ast.expr]:  # noqa: C901  a table of cases
    """Yield an expression with one change each, those that are of its kind."""
    match node:
        case ast.Compare(ops=[kind]):
            for other in COMPARED[type(kind)]:
                yield _with(node, ops=[other()])
        case ast.BinOp(op=kind) if type(kind) in CALCULATED and not _is_words(node):
            for sign in CALCULATED[type(kind)]:
                yield _with(node, op=sign())
            if isinstance(kind, ORDERED):
                yield _with(node, left=node.right, right=node.left)
            if isinstance(kind, ast.Add | ast.Sub):
                yield node.left
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            yield from (
                _with(node, values=node.values[:place] + node.values[place + 1 :])
                for place in range(len(node.values))
            )
        case ast.UnaryOp(op=ast.Not() | ast.USub()) if not isinstance(node.operand, ast.Constant):
            yield node.operand
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            yield ast.Constant(0)
        case ast.IfExp():
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Constant(value=bool(truth)):
            yield ast.Constant(not truth)
        case ast.Constant(value=int() | float()) if abs(node.value) <= MOST_NUMBER:
            yield from (ast.Constant(node.value + step) for step in (1, -1))


def _with(node: ast.expr, **fields: object) -> ast.expr:
    """Return a copy of an expression with other fields."""
    changed_one = copying.copy(node)
    for name, value in fields.items():
        setattr(changed_one, name, value)
    return changed_one


def _is_words(node: ast.BinOp) -> bool:
    """Whether an operator joins texts, lists or types, and does not calculate."""
    inside = [*ast.walk(node.left), *ast.walk(node.right)]
    if any(isinstance(part, ast.JoinedStr | ast.List | ast.Tuple) for part in inside):
        return True
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in inside)


class Trial:
    """A copy of the checkout in which mutants are tried, and what is known of its tests.

    Parameters
    ----------
    root
        The checkout.
    seconds
        How long the tests of a mutant may take, as far as known before.
    """

    def __init__(self, root: Path, seconds: float) -> None:
        self.seconds = seconds
        self.home = root / "build" / "mutants"
        self.copy = self.home / "copy"  # at one place: compiled kernels are found again
        kernels, kept = self.copy / "src/graphveil/core/kernels/__pycache__", self.home / "kernels"
        if kernels.exists():
            shutil.rmtree(kept, ignore_errors=True)
            kernels.rename(kept)
        shutil.rmtree(self.copy, ignore_errors=True)
        fill(self.copy, root)
        if kept.exists():
            shutil.rmtree(kernels, ignore_errors=True)
            kept.rename(kernels)
        compileall.compile_dir(self.copy / "src", quiet=2)
        times = self.home / "seconds.json"
        self.times: dict[str, float] = json.loads(times.read_text()) if times.exists() else {}
        self.sound: dict[str | tuple[str, ...], bool] = {}

    def noticed_by(self, mutant: Mutant) -> str:
        """Return the test that fails with a mutant and not without it; nothing if none does."""
        for batch in self._batches(mutant.file):
            failed = self._failed_with(mutant, batch)
            if failed and self._passes(failed if "::" in failed else batch):
                # What was late may have compiled kernels, which its second run finds compiled.
                failed = failed if failed != LATE else self._failed_with(mutant, batch)
                if failed:
                    return failed
        return ""

    def _batches(self, file: str) -> Iterator[tuple[str, ...]]:
        """Yield the test files of a module, the nearest and fastest first, some at a time."""
        yield (file,)  # its docstrings
        near = tests_of(self.copy, file)
        left = self.seconds
        batch: list[str] = []
        for test in sorted(near, key=lambda test: (near[test], self._seconds_of(test), test)):
            if self._seconds_of(test) > left:
                continue
            left -= self._seconds_of(test)
            batch.append(test)
            if sum(map(self._seconds_of, batch)) > self.seconds / 4:
                yield tuple(batch)
                batch = []
        if batch:
            yield tuple(batch)

    def _seconds_of(self, test: str) -> float:
        return self.times.get(test, UNKNOWN_SECONDS)

    def _failed_with(self, mutant: Mutant, tests: tuple[str, ...]) -> str:
        """Return the first test that fails with a mutant; nothing if all pass."""
        with changed(self.copy / mutant.file, mutant.text):
            return self._failed(tests)

    def _failed(self, tests: tuple[str, ...]) -> str:
        """Return the first test that fails, or what else went wrong; nothing if all pass."""
        table = self.home / "times.xml"
        most = START_SECONDS + 2 * max(self.seconds / 2, sum(map(self._seconds_of, tests)))
        try:
            done = run_tests([*tests, f"--junit-xml={table}"], self.copy, seconds=most)
        except subprocess.TimeoutExpired:
            return LATE
        if done.returncode in {PASSED, NO_TESTS}:
            self._note(table, tests)
            return ""
        return failed_test(done.stdout) or "tests that do not start"

    def _note(self, table: Path, tests: tuple[str, ...]) -> None:
        """Write down how long each test file took."""
        taken = dict.fromkeys(tests, 0.0)
        for case in ET.parse(table).iter("testcase"):  # noqa: S314  pytest wrote it just now
            file = case.get("classname", "").replace(".", "/") + ".py"
            if file in taken:
                taken[file] += float(case.get("time", 0))
        self.times |= {file: round(seconds, 1) for file, seconds in taken.items()}
        (self.home / "seconds.json").write_text(json.dumps(self.times, indent=0, sort_keys=True))

    def _passes(self, tests: str | tuple[str, ...]) -> bool:
        """Whether tests pass without any mutant; each is asked once."""
        if tests not in self.sound:
            arguments = (tests,) if isinstance(tests, str) else tests
            failed = self._failed(arguments)
            self.sound[tests] = not failed
            if failed == LATE:  # it is left out from now on
                self.times |= dict.fromkeys(arguments, self.seconds + 1)
        return self.sound[tests]


@cache
def tests_of(root: Path, file: str) -> dict[str, int]:
    """Return the test files that may notice a change of a module, with how far they are from it.

    Those at 0 import it, at 1 a module that does or the room is theirs in CONTRIBUTING, at 2
    they import a module that imports one of the latter.
    """
    module = name_of(file)
    users = {0: {module}}
    imports = imports_by_file(root)
    source = {name_of(path): names for path, names in imports.items() if path.startswith("src/")}
    for distance in (1, 2):
        users[distance] = {name for name, used in source.items() if used & users[distance - 1]}
    far = {}
    for path, names in imports.items():
        if Path(path).name.startswith("test_"):
            near = [distance for distance, used in users.items() if names & used]
            near += [1] if path in listed_for(root, file) else []
            far |= {path: min(near)} if near else {}
    return far


@cache
def imports_by_file(root: Path) -> dict[str, set[str]]:
    """Return what each file of the package and of the tests imports, by itself or its helpers."""
    found = {}
    for path in [*root.glob("src/graphveil/**/*.py"), *root.glob("tests/**/*.py")]:
        file = path.relative_to(root).as_posix()
        if not file.startswith(NOT_HERE):
            found[file] = set(_imported(ast.parse(path.read_text(encoding="utf-8"))))
    for names in found.values():
        for name in sorted(names):
            names.update(found.get(f"tests/{name.replace('.', '/')}.py", ()))
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def name_of(file: str) -> str:
    """Return the name by which a file of the package is imported."""
    parts = Path(file).with_suffix("").parts[1:]
    return ".".join(part for part in parts if part != "__init__")


@cache
def listed_for(root: Path, file: str) -> set[str]:
    """Return the test files that CONTRIBUTING lists for the room of a module."""
    parts = {*Path(file).with_suffix("").parts[2:]}
    found = set()
    for line in (root / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        cells = line.split("|")
        if line.startswith("| ") and parts & set(re.findall(r"(?<!of )`(\w+)(?:\.py)?`", cells[1])):
            for pattern in re.findall(r"`(tests/[^`]+)`", cells[2]):
                for path in root.glob(pattern):
                    inside = path.rglob("test_*.py") if path.is_dir() else [path]
                    found |= {test.relative_to(root).as_posix() for test in inside}
    return found


if __name__ == "__main__":
    sys.exit(main())
