"""A sweep that is ended at random moments goes on, and comes to the same table in the end.

The sweep, one of its workers, or both at once are killed, or it is interrupted. After each such end
nothing may look finished; after the last one the sweep is run to its end, and its table compared
with that of a sweep that nobody disturbed.

    python tests/fuzz/sweeps.py --ends 10
"""

from __future__ import annotations

import argparse
import os
import random  # noqa: TID251  which moments are tried hangs on nothing private
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyarrow import parquet

from graphveil.io import datasets

TIMES = ["seconds", "cpu_seconds"]
GRID = ("--k", "2,3,4,5", "--edits", "add,any", "--seed", "7", "--jobs", "2", "--kind", "graph")
HOW = ("the sweep", "a worker", "both", "an interrupt")


def command(folder: Path, out: str) -> list[str]:
    """Return the command of the sweep."""
    words = [sys.executable, "-m", "graphveil", "sweep", "k-degree", str(folder / "friends.csv")]
    return [*words, *GRID, "--attacks", "candidate-set", "--out", str(folder / out)]


def workers_of(process: int) -> list[int]:
    """Return the processes that a process started and that still run (Linux)."""
    try:
        listed = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")]
    except OSError:  # a thread, or the process, ended meanwhile
        return []
    return [int(number) for text in listed for number in text.split()]


def ended(folder: Path, out: str, how: str, seconds: float) -> int | None:
    """Start the sweep, end it after so long, and return its exit code."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command(folder, out), **quiet) as process:
        time.sleep(seconds)
        workers = workers_of(process.pid)
        if how in {"a worker", "both"}:
            for number in workers[:1]:
                os.kill(number, signal.SIGKILL)
        if how in {"the sweep", "both"}:
            process.kill()
        if how == "an interrupt":
            process.send_signal(signal.SIGINT)
        return process.wait()


def looks_finished(out: Path) -> list[str]:
    """Return what looks finished of a sweep that is not, and is not whole."""
    if not out.is_dir():
        return []
    done = {path.stem for path in (out / "results").glob("*.json")}
    strange = [] if len(done) == 8 else [path.name for path in out.glob("sweep.parquet")]
    for number in done:
        folders = list((out / "points").glob(f"{number}-*"))
        if len(folders) != 2:
            strange.append(f"results/{number}.json without a release")
    return strange


def run(folder: Path, ends: int, seed: int) -> list[str]:
    """Return what went wrong: nothing, where every end was survived."""
    shutil.copy(datasets.path_of("copenhagen-calls"), folder / "friends.csv")
    generator, wrong = random.Random(seed), []  # noqa: S311  as above
    started = time.monotonic()
    subprocess.run(command(folder, "whole"), check=True, capture_output=True)
    whole = time.monotonic() - started
    expected = parquet.read_table(folder / "whole" / "sweep.parquet").drop_columns(TIMES)
    for number in range(ends):
        how = HOW[number % len(HOW)]
        code = ended(folder, "cut", how, generator.uniform(0.02, 1.0) * whole)
        allowed = {"an interrupt": {0, 3}, "a worker": {0, 3}}.get(how, {0, -signal.SIGKILL})
        if code not in allowed:
            wrong.append(f"{how} ended with exit code {code}")
        wrong += looks_finished(folder / "cut")
        again = subprocess.run(command(folder, "cut"), check=False, capture_output=True)
        if again.returncode:
            wrong.append(f"after {how} it did not go on: {again.stderr.decode()[-300:]}")
        elif not expected.equals(
            parquet.read_table(folder / "cut" / "sweep.parquet").drop_columns(TIMES)
        ):
            wrong.append(f"after {how} the table is another one")
        shutil.rmtree(folder / "cut", ignore_errors=True)
    return wrong


def main() -> None:
    """Print everything that went wrong; exit with 1 where something did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ends", type=int, default=10)
    parser.add_argument("--seed", type=int, default=None)
    asked = parser.parse_args()
    seed = int.from_bytes(os.urandom(4)) if asked.seed is None else asked.seed
    with tempfile.TemporaryDirectory(prefix="graphveil-") as folder:
        wrong = run(Path(folder), asked.ends, seed)
    for line in wrong:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{asked.ends} sweeps were ended (seed {seed}), {len(wrong)} went wrong\n")
    sys.exit(int(bool(wrong)))


if __name__ == "__main__":
    main()
