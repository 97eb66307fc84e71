"""Plant each flaw in a copy, run the tests that must notice it, and print a table.

Exit code 1 where a flaw survives, does not apply, or its tests fail without it.
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from planted.collection import DoesNotApplyError, Flaw, flaws  # noqa: E402  a script finds it there

COPIED = ("src", "tests", "docs", "benchmarks", "tools", "changes", "conftest.py", "pyproject.toml")
COPIED += ("README.md", "NOTICE", "Makefile")
FAILED = 1
"""The exit code of pytest where a test failed; others tell of no test, or of one that broke."""


class Outcome(NamedTuple):
    """What became of a flaw: which test noticed it, else what went wrong."""

    flaw: Flaw
    caught_by: str
    problem: str
    seconds: float


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
    wrong = [outcome for outcome in outcomes if outcome.problem]
    print(f"{len(outcomes) - len(wrong)} of {len(outcomes)} flaws are noticed")  # noqa: T201
    return int(bool(wrong))


@contextmanager
def copies(root: Path, number: int) -> Iterator[SimpleQueue[Path]]:
    """Give folders that hold a copy of the checkout each, with the caches of its kernels."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        free: SimpleQueue[Path] = SimpleQueue()
        for copy in (Path(folder, str(count)) for count in range(number)):
            copy.mkdir()
            for name in COPIED:
                source = root / name
                if source.is_dir():
                    shutil.copytree(source, copy / name)
                elif source.is_file():
                    shutil.copy2(source, copy / name)
            free.put(copy)
        yield free


def tried(flaw: Flaw, free: SimpleQueue[Path]) -> Outcome:
    """Plant a flaw in a free copy, run its tests, and take it out again."""
    copy = free.get()
    path, started = copy / flaw.file, time.monotonic()
    try:
        content, stat = (path.read_bytes(), path.stat()) if path.is_file() else (b"", None)
        text = flaw.planted(copy)
        path.write_text(text, encoding="utf-8")
        try:
            done = run_tests(flaw, copy)
        finally:
            path.write_bytes(content)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        caught = re.search(r"^FAILED (\S+::\S+)", done.stdout, re.MULTILINE)
        if done.returncode == FAILED and caught:
            return Outcome(flaw, caught[1], "", time.monotonic() - started)
        problem = (
            "SURVIVES" if done.returncode == 0 else f"no test failed: {last_line(done.stdout)}"
        )
    except DoesNotApplyError as error:
        problem = str(error)
    finally:
        free.put(copy)
    return Outcome(flaw, "", problem, time.monotonic() - started)


def run_tests(flaw: Flaw, copy: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests of a flaw in a copy, until one fails."""
    with tempfile.TemporaryDirectory(dir=copy) as kernels:
        environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        if flaw.file.startswith("src/graphveil/kernels/"):
            environment["NUMBA_CACHE_DIR"] = kernels  # a caller's cache knows nothing of the flaw
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, *flaw.tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )


def last_line(text: str) -> str:
    """Return what pytest said last."""
    return next(iter(text.strip().splitlines()[::-1]), "it said nothing")


def line_of(outcome: Outcome) -> str:
    """Return a line of the table."""
    ended = outcome.problem or f"noticed by {outcome.caught_by.partition('[')[0]}"
    return f"{outcome.seconds:6.1f} s  {outcome.flaw.name:34}  {ended}"


if __name__ == "__main__":
    sys.exit(main())
