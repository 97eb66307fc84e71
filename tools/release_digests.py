# ruff: noqa: INP001  a script that is run by hand, not a package
"""Record digests of seeded releases, to show that a refactoring changes none of them.

    python tools/release_digests.py record FILE
    python tools/release_digests.py compare FILE

The commands are in `release_runs.py`, and the inputs in `release_inputs.py`.

`record` makes small inputs, runs every method on them through the command line with a fixed seed,
and writes one line per run. `compare` runs everything again and lists the lines that differ from
such a file. Nothing but the command line and the public names of the package is used, so both also
work on versions whose modules are arranged differently. Another version is run with its `src`
folder in PYTHONPATH. The digests depend on the versions of NumPy and pyarrow, so record and compare
in the same environment.

The columns are: input and method; exit code of `anonymize`; SHA-256 of the published data files and
of `release.json` (the first 16 digits); exit codes of `verify` without and with the original; the
error line of a refused run, or the first line that each of the two prints. A dash means that there
is no release, or that this release is not verified: only some of the releases of each run are.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import io
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from release_inputs import Input, write_inputs
from release_runs import RUNS

from graphveil.cli import main as command_line

SEED = "20"
STOPPED = 3
"""The exit code of a command that was interrupted or ran out of resources: no result."""

VERIFIED = 4
"""At least this many releases of each run are verified, spread over its inputs."""

SPARK_OPTIONS = (
    "--master local[2] --driver-memory 700m --conf spark.ui.enabled=false "
    "--conf spark.ui.showConsoleProgress=false --conf spark.sql.shuffle.partitions=2 "
    "--conf spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 "
    "--conf spark.log.level=OFF pyspark-shell"
)


class Task(NamedTuple):
    """A command on an input, and whether its release is verified."""

    command: str
    data: Input
    verified: bool

    @property
    def name(self) -> str:
        """The name of the line in the file of digests."""
        return f"{self.data.file} {self.command}"

    @property
    def on_spark(self) -> bool:
        """Whether this needs a Spark session."""
        return "--engine spark" in self.command


class Line(NamedTuple):
    """What is recorded of a task; every field is text."""

    name: str
    code: str = "-"
    data: str = "-"
    manifest: str = "-"
    verify: str = "-"
    original: str = "-"
    words: str = "-"
    words_original: str = "-"


FIELDS = {
    "data": ("code", "data"),
    "manifest": ("manifest",),
    "verdict": ("verify", "original"),
    "words": ("words", "words_original"),
}
"""The fields of a line that are compared together."""


def tasks_on(inputs: list[Input]) -> list[Task]:
    """Return every task, each command on the inputs that it is for."""
    tasks = {}
    for runs in RUNS:
        chosen = [data for data in inputs if set(runs.tags.split()) <= set(data.tags.split())]
        step = max(1, len(chosen) // runs.most) if runs.most else 1
        for number, command in enumerate(runs.expanded()):
            some = chosen[number % step :: step][: runs.most or None]
            every = max(1, len(some) // VERIFIED)
            for place, data in enumerate(some):
                task = Task(command, data, verified=(place + number) % every == 0)
                tasks.setdefault(task.name, task)
    return list(tasks.values())


def run(words: list[str]) -> tuple[int, str, str]:
    """Return the exit code of a command, and what it writes to its two streams."""
    out, err = io.StringIO(), io.StringIO()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = [signal.getsignal(number) for number in numbers]
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            command_line(words)
        except SystemExit as end:
            code = end.code
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)
    return int(code or 0), out.getvalue(), err.getvalue()


def digest(contents: Iterable[bytes]) -> str:
    """Return the first digits of the SHA-256 of some contents and their lengths."""
    total = hashlib.sha256()
    for content in contents:
        total.update(len(content).to_bytes(8, "big") + content)
    return total.hexdigest()[:16]


def published(release: Path) -> Iterator[bytes]:
    """Yield the name and the bytes of every file of a release but the manifest."""
    for file in sorted(release.rglob("*")):
        if file.is_file() and file.name != "release.json":
            yield file.relative_to(release).as_posix().encode()
            yield file.read_bytes()


def words_of(task: Task, inputs: str, folder: str) -> tuple[list[str], list[str]]:
    """Return the words of a task after `anonymize METHOD`, and those that `verify` shares."""
    command = task.command.replace("@roles", task.data.roles).replace("@spark", f"{folder}/spark")
    given = command.replace("@key", f"{inputs}/people.key").split()[1:]
    lists = task.data.lists.replace("@", inputs).split()
    reading = [] if "--kind" in given else task.data.reading.split()
    if "--key" in given:  # a key decides all ids, and a seed beside it is refused
        return [*given, *lists, *reading], [*lists, "--key", f"{inputs}/people.key"]
    return [*given, *lists, *reading, "--seed", SEED], lists


def first_line(text: str, *folders: str) -> str:
    """Return the first line of a text without the names of folders, or a dash."""
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return next(iter(text.strip().splitlines()), "-").replace("\t", " ")


def perform(task: Task, inputs: str, work: str) -> Line:
    """Run a task in a folder of its own, and return its line."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        method, file, out = task.command.split()[0], f"{inputs}/{task.data.file}", f"{folder}/out"
        words, shared = words_of(task, inputs, folder)
        code, _, err = run(["anonymize", method, file, *words, "--out", out])
        line = Line(task.name, str(code))
        if code == STOPPED:
            raise RuntimeError(f"{task.name}: {err.strip()}")
        if code:
            error = err[max(0, err.find("graphveil: error:")) :]
            return line._replace(words=first_line(error, folder, inputs))
        manifest = Path(out, "release.json").read_bytes()
        line = line._replace(data=digest(published(Path(out))), manifest=digest([manifest]))
        if not task.verified:
            return line
        key = shared[shared.index("--key") :] if "--key" in shared else []
        alone, said, _ = run(["verify", out, *key])
        line = line._replace(verify=str(alone), words=first_line(said, folder))
        again, said, _ = run(["verify", out, "--original", file, *shared])
        return line._replace(original=str(again), words_original=first_line(said, folder, inputs))


def has_spark() -> bool:
    """Tell whether Spark can run here, and say so if it cannot."""
    if importlib.util.find_spec("pyspark") is None:
        say("Spark runs are skipped: pyspark is missing. Install graphveil[spark].")
        return False
    if shutil.which("java") is None:
        say("Spark runs are skipped: Java is missing. Install Java 17 or later.")
        return False
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": SPARK_OPTIONS}
    return True


def say(text: str) -> None:
    """Print a line at once, and apart from the results."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def outcomes(tasks: list[Task], inputs: str, work: str, jobs: int) -> Iterator[Line]:
    """Yield the lines of tasks as they end; those on Spark share this process and come last."""
    local = [task for task in tasks if not task.on_spark]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = [pool.submit(perform, task, inputs, work) for task in local]
        yield from (future.result() for future in as_completed(futures))
    yield from (perform(task, inputs, work) for task in tasks if task.on_spark)


def lines_now(only: str, jobs: int, *, spark: bool) -> list[Line]:
    """Run every task whose name matches, and return the lines in the order of their names."""
    spark = spark and has_spark()
    os.environ["COLUMNS"] = "100"  # messages are wrapped
    with tempfile.TemporaryDirectory() as made:
        inputs, work = Path(made) / "inputs", Path(made) / "work"
        inputs.mkdir()
        work.mkdir()
        tasks = [
            task
            for task in tasks_on(write_inputs(inputs))
            if re.search(only, task.name) and (spark or not task.on_spark)
        ]
        started, lines = time.monotonic(), []
        for line in outcomes(tasks, str(inputs), str(work), jobs):
            lines.append(line)
            if len(lines) % 100 == 0 or len(lines) == len(tasks):
                say(f"{len(lines)} of {len(tasks)} runs, {time.monotonic() - started:.0f} s")
    return sorted(lines)


def record(file: Path, lines: list[Line]) -> int:
    """Write lines to a file, under their names."""
    rows = ["\t".join(row) for row in (Line._fields, *lines)]
    file.write_text("\n".join([*rows, ""]), encoding="utf-8")
    return 0


def recorded(file: Path) -> dict[str, Line]:
    """Return the lines of a file by name."""
    _, *rows = file.read_text(encoding="utf-8").splitlines()
    return {line.name: line for line in (Line(*row.split("\t")) for row in rows)}


def compare(before: list[Line], after: list[Line], counted: set[str]) -> int:
    """Print what differs, and return 1 if something does that counts."""
    old, new = ({line.name: line for line in lines} for lines in (before, after))
    differing, missing = dict.fromkeys(FIELDS, 0), Line("")
    for name in sorted({*old, *new}):
        for kind, fields in FIELDS.items():
            was, is_now = (
                [getattr(lines.get(name, missing), field) for field in fields]
                for lines in (old, new)
            )
            if was != is_now:
                differing[kind] += 1
                sys.stdout.write(f"{kind}: {name}: {' '.join(was)} -> {' '.join(is_now)}\n")
    counts = ", ".join(f"{number} {kind}" for kind, number in differing.items())
    sys.stdout.write(f"{len(new)} runs compared with {len(old)}; they differ in: {counts}\n")
    return int(any(differing[kind] for kind in counted))


def main() -> int:
    """Record digests, or compare them with those of a file."""
    parser = argparse.ArgumentParser(description="Record digests of seeded releases.")
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", metavar="PATTERN", help="runs whose names match")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default: 2)")
    parser.add_argument("--spark", action="store_true", help="run on Spark, too")
    parser.add_argument("--manifest", action="store_true", help="manifests must be equal, too")
    parser.add_argument("--words", action="store_true", help="messages must be equal, too")
    given = parser.parse_args()
    old = recorded(given.file) if given.action == "compare" else {}
    lines = lines_now(given.only, given.jobs, spark=given.spark)
    if given.action == "record":
        return record(given.file, lines)
    optional = {kind for kind in ("manifest", "words") if getattr(given, kind)}
    asked = [
        line
        for line in old.values()
        if re.search(given.only, line.name) and (given.spark or "--engine spark" not in line.name)
    ]
    return compare(asked, lines, {"data", "verdict"} | optional)


if __name__ == "__main__":
    sys.exit(main())
