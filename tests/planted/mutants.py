"""Change random places of chosen rooms one by one, and say which changes no test notices.

Each mutant changes one operator, number, condition or term. It is tried in a copy in ``build``, by
the tests that import its module or a module that does, and those that CONTRIBUTING lists for its
room: a folder of the package or, where none has the name, a module. Of a file that has been run to
its end before, only the tests that call the changed function are run again (`planted.calls`).
Docstrings, words, annotations, some keyword arguments, large numbers and kernels stay as they are.

A mutant is killed by a test that fails with it and passes without it. One with which the tests take
too long is not. Exit code 1 where too few are killed.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy as copying
import hashlib
import importlib
import json
import os
import random  # noqa: TID251  as old mutants are drawn again, whatever the package draws
import re
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, TypedDict

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from planted.calls import WANTED, WRITTEN  # noqa: E402  a script finds it there
from planted.run import changed, failed_test, fill  # noqa: E402  a script finds it there

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

GUESSED = {"unit": 4.0, "property": 6.0, "cli": 8.0}
"""How long a test file of a folder is thought to take that has not been run to its end."""

LIBRARIES = ("hypothesis", "networkx", "numba", "pandas", "pyarrow.parquet", "scipy.sparse")
LIBRARIES += ("scipy.stats", "duckdb", "polars", "msgspec", "_pytest.doctest", "scipy.optimize")
"""What most tests need, imported once."""

START_SECONDS = 20.0
LATE = "TAKES TOO LONG"
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
NO_FIGURES = {
    "strict",
    "copy",
    "kind",
    "frozen",
    "kw_only",
    "slots",
    "repr",
    "stacklevel",
    "daemon",
}
"""Keyword arguments that say how, not what: their change alters no result."""


class Mutant(NamedTuple):
    """One change of one expression: the file, the line, and the file's text with it."""

    file: str
    line: int
    function: str
    """The module and the function that hold it; the module and a colon if it is in none."""
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
    trial, survivors, late = Trial(ROOT, given.seconds), [], []
    for number, mutant in enumerate(drawn, 1):
        started = time.monotonic()
        noticed = trial.noticed_by(mutant)
        said = noticed if noticed == LATE else f"killed by {noticed}" if noticed else "SURVIVED"
        head = f"{number:4} {time.monotonic() - started:5.0f} s  {mutant.place}  {said}"
        print(head if noticed else f"{head}\n{shown(mutant)}", flush=True)  # noqa: T201
        if not noticed:
            survivors.append(mutant)
        elif noticed == LATE:
            late.append(mutant)
    killed = len(drawn) - len(survivors) - len(late)
    print(  # noqa: T201
        f"{killed} of {len(drawn)} mutants are killed; with {len(late)} more the tests take too "
        "long. The others survive:"
    )
    for mutant in survivors:
        print(shown(mutant))  # noqa: T201
    return int(killed < given.least * len(drawn))


def shown(mutant: Mutant) -> str:
    """Return the place of a mutant, its line, and the line as it is changed."""
    return f"{mutant.place}\n  - {mutant.before}\n  + {mutant.after}"


def draw(root: Path, rooms: Iterable[str], number: int, seed: int) -> list[Mutant]:
    """Return mutants of the modules in these rooms in turn, at most one for each expression.

    Fewer with the same seed are the first of them: a run that is ended early has tried all rooms.
    """
    package = root / "src" / "graphveil"
    taken: set[Path] = set()
    by_room = []
    for room in rooms:
        folders, modules = package.rglob(f"{room}/**/*.py"), package.rglob(f"{room}.py")
        inside = set(folders) or set(modules)
        if not inside:
            raise SystemExit(f"{room} is no folder or module of {package}.")
        files = {path for path in inside - taken if "kernels" not in path.parts}
        taken |= files
        places = [
            (path.relative_to(root).as_posix(), place)
            for path in sorted(files)
            for place in range(len(_places(_tree(path))))
        ]
        rng = random.Random(f"{seed} {room}")  # noqa: S311  to repeat it, not to hide anything
        rng.shuffle(places)
        by_room.append([(*place, rng.random()) for place in places[:number]])
    in_turn = [drawn for turn in zip_longest(*by_room) for drawn in turn if drawn is not None]
    return [_mutant(root, *drawn) for drawn in in_turn[:number]]


def _mutant(root: Path, file: str, place: int, share: float) -> Mutant:
    """Return the text of a file with one of its expressions changed."""
    text = (root / file).read_text(encoding="utf-8")
    tree = _tree(root / file)
    node = _places(tree)[place]
    changes = list(_changes(node))
    new = changes[int(share * len(changes))]
    lines = text.encode().splitlines(keepends=True)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    whole = text.encode()
    mutated = (whole[:start] + f"({ast.unparse(new)})".encode() + whole[end:]).decode()
    function = _function_of(tree, node)
    _check(mutated, tree, node, new)
    before = " ".join(part.strip() for part in text.splitlines()[node.lineno - 1 : node.end_lineno])
    extra = mutated.count("\n") - text.count("\n")
    until = node.end_lineno + extra
    after = " ".join(part.strip() for part in mutated.splitlines()[node.lineno - 1 : until])
    module = file.removeprefix("src/")
    return Mutant(
        *(file, node.lineno, f"{module}:{function}"),
        *(before, after, mutated),
    )


def _check(mutated: str, tree: ast.Module, node: ast.expr, new: ast.expr) -> None:
    """Refuse a text that is not the module with one expression changed, or no module at all."""
    found = ast.parse(mutated)
    list(_run(found))  # it leaves format specifications, as in the tree
    new = ast.parse(ast.unparse(new), mode="eval").body
    assert ast.dump(found) == ast.dump(_Replaced(node, new).visit(tree)), ast.unparse(new)


class _Replaced(ast.NodeTransformer):
    """Puts an expression in the place of another."""

    def __init__(self, node: ast.expr, new: ast.expr) -> None:
        self.node, self.new = node, new

    def visit(self, node: ast.AST) -> ast.AST:
        """Return a node or what replaces it."""
        return self.new if node is self.node else super().generic_visit(node)


def _function_of(tree: ast.AST, node: ast.expr) -> str:
    """Return the qualified name of the outermost function around an expression, if any."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            assert child.end_lineno is not None
            if child.lineno <= node.lineno <= child.end_lineno:
                if isinstance(child, ast.FunctionDef):
                    return child.name
                inside = _function_of(child, node)
                return inside and f"{child.name}.{inside}"
    return ""


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
        case ast.BinOp() if not any(
            isinstance(part, ast.Name | ast.Call) for part in ast.walk(node)
        ):
            return _is_large(node)
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _is_large(node: ast.BinOp) -> bool:
    """Whether an expression of numbers alone is a large one, as `1 << 20`."""
    try:
        value = eval(ast.unparse(node), {"__builtins__": {}})  # noqa: S307  numbers of our own
    except (ArithmeticError, TypeError):
        return False
    return isinstance(value, int | float) and abs(value) > MOST_NUMBER


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
        (self.home / "calls").mkdir(exist_ok=True)
        for library in LIBRARIES:
            importlib.import_module(library)
        self.known: dict[str, _Known] = {}
        self.sound: dict[str | tuple[str, ...], bool] = {}
        self.late: set[str] = set()
        self.waited = False

    def noticed_by(self, mutant: Mutant) -> str:
        """Return the test that fails with a mutant and not without it; nothing if none does."""
        is_late = ""
        for batch in self._batches(mutant):
            failed = self._failed_with(mutant, batch)
            if failed == LATE:
                hangs = self.waited
                if not self._passes(tuple(batch)):
                    continue
                if hangs:  # nothing was computed for long
                    return LATE
                # It may have compiled kernels, which its second run finds compiled.
                failed = self._failed_with(mutant, batch)
            if failed == LATE:
                is_late = LATE
            elif failed and self._passes(failed if "::" in failed else tuple(batch)):
                return failed
        return is_late

    def _batches(self, mutant: Mutant) -> Iterator[dict[str, list[str] | None]]:
        """Yield test files, with those of their tests that call the changed function if known.

        Fast ones, near ones and those of the room come first, some at a time. Where no test calls
        the function itself, a process that a test starts may: all files are then tried.
        """
        yield {mutant.file: None}  # its docstrings
        near = {t: far for t, far in tests_of(self.copy, mutant.file).items() if t not in self.late}
        words = Path(mutant.file).with_suffix("").parts[2:]
        listed = listed_for(self.copy, mutant.file)
        own = {test for test in near if test in listed or _named(test, words)}
        calling = {test: self._calling(test, mutant, imports=near[test] == 0) for test in near}
        cost = {test: self._seconds_of(test, some) for test, some in calling.items()}
        order = sorted(near, key=lambda t: (cost[t] + 3 * near[t] + 2 * (t not in own), t))
        left, batch, called = self.seconds, _Batch({}, 0.0), False
        for test in order:
            some = calling[test]
            if some == [] or cost[test] > left:
                continue
            if some:  # those that are known are run together
                batch.tests[test], called = some, True
                batch = batch._replace(seconds=batch.seconds + cost[test])
                left -= cost[test]
            if batch.tests and (not some or batch.seconds > self.seconds / 3):
                yield batch.tests
                batch = _Batch({}, 0.0)
            if not some:
                started = _used()
                yield {test: None}
                left -= _used() - started
                called = called or bool(self._calling(test, mutant, imports=False))
        if batch.tests:
            yield batch.tests
        for test in [] if called else [test for test in order if calling[test] == []]:
            if left > 0:
                started = _used()
                yield {test: None}
                left -= _used() - started

    def _known_of(self, test: str) -> _Known | None:
        """Return what is known of a test file that has been run to its end as it is."""
        digest = hashlib.sha256((self.copy / test).read_bytes()).hexdigest()
        kept = self._kept(test)
        if test not in self.known and kept.exists():
            self.known[test] = _Known(**json.loads(kept.read_text()))
        known = self.known.get(test)
        return known if known and known.digest == digest else None

    def _kept(self, test: str) -> Path:
        return self.home / "calls" / f"{test.replace('/', '-')}.json"

    def _calling(self, test: str, mutant: Mutant, *, imports: bool) -> list[str] | None:
        """Return the tests of a file that call what a mutant changes; nothing if not known.

        What is no part of a function may change all that the module has, and what imports it.
        """
        known = self._known_of(test)
        if known is None:
            return None
        whole = imports and mutant.function.endswith(":")
        if whole or any(_is_of(name, mutant.function) for name in known.calls.get("", ())):
            return list(known.seconds)
        return [
            one
            for one, names in known.calls.items()
            if one and any(_is_of(name, mutant.function) for name in names)
        ]

    def _seconds_of(self, test: str, some: list[str] | None) -> float:
        """Return how long tests of a file take, guessed by its folder where it has not been run."""
        known = self._known_of(test)
        if known is None or some is None:
            return GUESSED.get(test.split("/")[1], 15.0)
        return sum(known.seconds.get(one, 0.0) for one in some)

    def _failed_with(self, mutant: Mutant, tests: dict[str, list[str] | None]) -> str:
        """Return the first test that fails with a mutant; nothing if all pass."""
        with changed(self.copy / mutant.file, mutant.text):
            return self._failed(tests)

    def _failed(self, tests: dict[str, list[str] | None] | tuple[str, ...]) -> str:
        """Return the first test that fails, or what else went wrong; nothing if all pass."""
        written, wanted = self.home / "calls.json", self.home / "wanted.json"
        environment = {WRITTEN: str(written)}
        if isinstance(tests, dict) and any(tests.values()):
            wanted.write_text(json.dumps([one for some in tests.values() for one in some or ()]))
            environment[WANTED] = str(wanted)
        most = START_SECONDS + 2 * self.seconds
        if WANTED in environment and isinstance(tests, dict):  # their seconds are known
            most = START_SECONDS + 3 * sum(self._seconds_of(*one) for one in tests.items())
        code, said = self._run([*tests, "-p", "planted.calls"], environment, round(most))
        if code in {PASSED, NO_TESTS}:
            if isinstance(tests, dict) and WANTED not in environment:
                self._note(json.loads(written.read_text()), list(tests))
            return ""
        return LATE if code < 0 else failed_test(said) or _broken(said)

    def _run(
        self, arguments: list[str], environment: Mapping[str, str], seconds: int
    ) -> tuple[int, str]:
        """Run tests until one fails, in a process that need not import all libraries again.

        Returns
        -------
        tuple of int and str
            The exit code of pytest, negative where it took too long, and what it said.
        """
        output = self.home / "said.txt"
        child = os.fork()
        if child == 0:
            with output.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            os.setsid()
            os.chdir(self.copy)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            paths = [str(self.copy / name) for name in ("src", "tests")]
            sys.path[:0] = paths
            more = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
            os.environ |= more | environment
            sys.dont_write_bytecode = True
            code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", *arguments])
            sys.stdout.flush()
            os._exit(code)
        until, status = time.monotonic() + max(60, 3 * seconds), (0, 0)
        while status[0] == 0 and time.monotonic() < until:
            time.sleep(0.05)
            status = os.waitpid(child, os.WNOHANG)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what it started, too
        self.waited = status[0] == 0
        if self.waited:
            status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status[1]), output.read_text(errors="replace")

    def _note(self, found: _Found, tests: list[str]) -> None:
        """Keep what each test file called."""
        for test in tests:
            seconds = {one: s for one, s in found["seconds"].items() if one.startswith(f"{test}::")}
            digest = hashlib.sha256((self.copy / test).read_bytes()).hexdigest()
            known = _Known(digest, seconds, found["calls"].get(test, {}))
            self.known[test] = known
            self._kept(test).write_text(json.dumps(known._asdict()))

    def _passes(self, tests: str | tuple[str, ...]) -> bool:
        """Whether tests pass without any mutant; each is asked once."""
        if tests not in self.sound:
            arguments = (tests,) if isinstance(tests, str) else tests
            failed = self._failed(arguments)
            self.sound[tests] = not failed
            if failed and not isinstance(tests, str):  # left out from now on
                self.late |= {one for one in arguments if one.startswith("tests/")}
        return self.sound[tests]


class _Known(NamedTuple):
    """The tests of a file, when its text had this digest: their seconds, and what they call."""

    digest: str
    seconds: dict[str, float]
    calls: dict[str, list[str]]


class _Batch(NamedTuple):
    """Test files, with some of their tests, that are run together: how long they take."""

    tests: dict[str, list[str] | None]
    seconds: float


class _Found(TypedDict):
    """What `planted.calls` writes."""

    calls: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]


def _broken(said: str) -> str:
    """Return what pytest says it could not begin: a fixture, or a file that is not imported."""
    found = re.search(r"^ERROR (.+?)(?: - |$)", said, re.MULTILINE)
    return f"ERROR {found[1]}".replace("::", " ") if found else "tests that do not start"


def _named(test: str, words: Iterable[str]) -> bool:
    """Whether a test file has the name of one of these."""
    name = f"{Path(test).stem}_"
    return any(f"_{word.strip('_')}" in name or word.removesuffix("s") in name for word in words)


def _used() -> float:
    """Return the processor time of all runs of tests so far: others may use the machine, too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _is_of(name: str, function: str) -> bool:
    """Whether a function is another, or inside it, or in the module where none is named."""
    return name == function or name.startswith(function if function[-1] == ":" else f"{function}.")


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
