"""Plant each flaw in a copy, run the tests that must notice it, and write down which one did.

Where `verify` or an attack is said to notice it, each of them must. The table is ``caught.csv``:
rows of flaws that were not tried are left as they are. Exit code 1 where a flaw survives or does
not apply.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from planted.collection import (  # noqa: E402  a script finds it there
    Caught,
    DoesNotApplyError,
    Flaw,
    flaws,
    write_caught,
)

COPIED = ("src", "tests", "docs", "benchmarks", "tools", "conftest.py", "pyproject.toml")
COPIED += ("README.md", "NOTICE", "Makefile", "CONTRIBUTING.md", "CITATION.cff", "CHANGELOG.md")
FAILED = 1
"""The exit code of pytest where a test failed; others tell of no test, or of one that broke."""


class Outcome(NamedTuple):
    """What became of a flaw: which tests noticed it, by their kind, and what went wrong."""

    flaw: Flaw
    caught_by: dict[str, str]
    problem: str
    seconds: float

    @property
    def rows(self) -> list[Caught]:
        """What the table says of it."""
        methods = " ".join(self.flaw.methods)
        return [Caught(self.flaw.name, methods, *item) for item in self.caught_by.items()]


def main() -> int:
    """Plant every flaw, or those named, and say which survive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout that is copied")
    parser.add_argument("names", nargs="*", help="flaws to plant; all where none is named")
    given = parser.parse_args()
    chosen = [flaw for flaw in flaws() if not given.names or flaw.name in given.names]
    outcomes = []
    with copies(given.root, given.workers) as free, ThreadPoolExecutor(given.workers) as pool:
        for outcome in pool.map(lambda flaw: tried(flaw, free), chosen):
            outcomes.append(outcome)
            print(line_of(outcome), flush=True)  # noqa: T201  a command that prints
    write_caught(row for outcome in outcomes for row in outcome.rows)
    wrong = [outcome for outcome in outcomes if outcome.problem]
    print(f"{len(outcomes) - len(wrong)} of {len(outcomes)} flaws are noticed")  # noqa: T201
    return int(bool(wrong))


@contextmanager
def copies(root: Path, number: int) -> Iterator[SimpleQueue[Path]]:
    """Give folders that hold a copy of the checkout each, with the caches of its kernels."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        free: SimpleQueue[Path] = SimpleQueue()
        for copy in (Path(folder, str(count)) for count in range(number)):
            fill(copy, root)
            free.put(copy)
        yield free


def fill(copy: Path, root: Path) -> None:
    """Make a new folder that holds what the tests of a checkout need."""
    copy.mkdir(parents=True)
    for name in COPIED:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, copy / name)
        elif source.is_file():
            shutil.copy2(source, copy / name)


@contextmanager
def changed(path: Path, text: str) -> Iterator[None]:
    """Let a file of a copy hold another text for a while."""
    content, stat = path.read_bytes(), path.stat()
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_bytes(content)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def tried(flaw: Flaw, free: SimpleQueue[Path]) -> Outcome:
    """Plant a flaw in a free copy, run its tests kind by kind, and take it out again."""
    copy = free.get()
    path, started = copy / flaw.file, time.monotonic()
    caught_by: dict[str, str] = {}
    problems: list[str] = []
    try:
        with changed(path, flaw.planted(copy)):
            for kind, arguments in flaw.checks.items():
                done = run_tests(arguments, copy, own_kernels="/kernels/" in flaw.file)
                failed = failed_test(done.stdout)
                if done.returncode == FAILED and failed:
                    caught_by[kind] = failed.partition("[")[0]
                else:
                    survives = done.returncode == 0
                    said = "SURVIVES" if survives else f"no test failed: {last_line(done.stdout)}"
                    problems.append(f"{kind}: {said}")
    except DoesNotApplyError as error:
        problems.append(str(error))
    finally:
        free.put(copy)
    return Outcome(flaw, caught_by, "; ".join(problems), time.monotonic() - started)


def failed_test(printed: str) -> str:
    """Return the test that pytest says has failed; nothing where none has."""
    found = re.search(r"^FAILED (\S+::[^\s\[]+(?:\[.*?\](?= - |$))?)", printed, re.MULTILINE)
    return found[1] if found else ""


def run_tests(
    arguments: Iterable[str],
    copy: Path,
    *,
    own_kernels: bool = False,
    seconds: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy until one fails.

    Raises
    ------
    TimeoutExpired
        Where that took longer than it may.
    """
    with tempfile.TemporaryDirectory(dir=copy) as kernels:
        environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        if own_kernels:
            environment["NUMBA_CACHE_DIR"] = kernels  # a caller's cache knows nothing of the flaw
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, *arguments],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )


def last_line(text: str) -> str:
    """Return what pytest said last."""
    return next(iter(text.strip().splitlines()[::-1]), "it said nothing")


def line_of(outcome: Outcome) -> str:
    """Return a line of the table."""
    noticed = "; ".join(f"{kind}: {test}" for kind, test in outcome.caught_by.items())
    ended = outcome.problem or f"noticed by {noticed}"
    return f"{outcome.seconds:6.1f} s  {outcome.flaw.name:34}  {ended}"


if __name__ == "__main__":
    sys.exit(main())
