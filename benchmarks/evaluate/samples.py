"""CPU time of the command evaluate with the shares kept at random and without them.

    python benchmarks/evaluate/samples.py

A row a run in `results/samples.parquet`: seconds of CPU of the whole command, reading included, on
10^6 ties, entries and cells under new ids, by turns with and without. `--show` prints the ratios.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import scale
from pyarrow import csv

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "samples.parquet"
NAMES = ("chung-lu", "users", "table")
PEOPLE, RUNS = 100_000, 3


def command(*words: str) -> float:
    """Run a command and return its seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "graphveil", *words], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name: str, place: Path) -> None:
    file, folder = place / f"{name}.csv", place / name
    frame = scale.DATA[name][0](PEOPLE).original.to_arrow()
    if name == "table":
        frame = frame.append_column("id", pa.array(range(PEOPLE)))
    csv.write_csv(frame, file)
    given = {"users": ["--items", "things"], "table": ["--ids", "id"]}.get(name, [])
    command("anonymize", "rename", str(file), *given, "--out", str(folder))
    for run in range(RUNS):
        for flag in ("--no-as-sample", "--as-sample"):
            seconds = command("evaluate", str(folder), "--original", str(file), flag, "--seed", "1")
            row = {"data": name, "run": run, "as_sample": flag == "--as-sample"}
            append_rows(RESULTS, row | {"cpu_s": round(seconds, 2)})


def show() -> None:
    rows = read_rows(RESULTS)
    for name in NAMES:
        means = [
            statistics.mean(r["cpu_s"] for r in rows if (r["data"], r["as_sample"]) == (name, on))
            for on in (False, True)
        ]
        print(f"{name}: {means[0]:.2f} s, {means[1]:.2f} s, ratio {means[1] / means[0]:.2f}")


if __name__ == "__main__":
    if "--show" not in sys.argv:
        with tempfile.TemporaryDirectory() as scratch:
            for one in NAMES:
                measure(one, Path(scratch))
    show()
