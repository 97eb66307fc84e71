"""What k-degree of a file of ties costs on the disk, stage by stage, and what its check costs.

    python benchmarks/k_degree/ties.py --ties 10000000 --folder FOLDER [--memory]

FOLDER gets a Parquet file of so many ties whose degrees are lognormal (about 167 a node), the
release of k=20 made on the disk, one of asymmetric response with epsilon 4, and with ``--memory``
the first made in memory, which is compared byte by byte; all of it is deleted at the end. Every run
is a process of its own, with one thread, after a small one that compiles. Seconds are those of the
CPU; memory is what is not mapped from files (RssAnon), at its peak, looked at 50 times a second.
Raw rows go to ``results/ties.parquet``. Linux alone says the memory.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import graphveil as gv
from graphveil.core.progress import within
from graphveil.io import GraphOptions
from graphveil.release.options import RunOptions
from graphveil.scale import anonymize_ties
from graphveil.verbs.anonymize import anonymize_file

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows, write_rows

HERE = Path(__file__).parent
MEAN_DEGREE, SIGMA = 167, 0.8
SLOTS = 1 << 24
BLOCK = 1 << 20
K, SEED = 20, 1


def write_ties(path: Path, n_ties: int) -> int:
    """Write so many ties, some of them loops and repeats, and return the number of people."""
    rng = np.random.default_rng(n_ties)
    n = max(100, 2 * n_ties // MEAN_DEGREE)
    weight = rng.lognormal(sigma=SIGMA, size=n)
    slots = np.floor(np.cumsum(weight) / weight.sum() * SLOTS).astype(np.int64)
    ends = np.repeat(rng.permutation(n), np.diff(slots, prepend=0))
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    options: dict[str, Any] = {
        "compression": "none",
        "use_dictionary": False,
        "column_encoding": dict.fromkeys(schema.names, "DELTA_BINARY_PACKED"),
    }
    with parquet.ParquetWriter(path, schema, **options) as writer:
        for start in range(0, n_ties, BLOCK):
            size = min(BLOCK, n_ties - start)
            both = np.sort(ends[rng.integers(0, ends.size, (size, 2))], axis=1)
            writer.write_table(pa.table([pa.array(side.copy()) for side in both.T], schema=schema))
    return n


class Watch:
    """The stages of a run: CPU, wall, bytes, and the peak of memory that is not mapped."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._peak = self.highest = 0
        self._over = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._over.wait(0.02):
            self._peak = max(self._peak, _anonymous_kib())
            self.highest = max(self.highest, self._peak)

    @contextmanager
    def display(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Measure one stage; what happens between stages counts for the next one."""
        del total
        self._peak = _anonymous_kib()
        cpu, wall, io = time.process_time(), time.perf_counter(), _io()
        yield lambda _: None
        after = _io()
        self.rows.append(
            {
                "stage": name,
                "cpu": round(time.process_time() - cpu, 2),
                "wall": round(time.perf_counter() - wall, 2),
                "mib": max(self._peak, _anonymous_kib()) >> 10,
                "read": after["rchar"] - io["rchar"],
                "written": after["wchar"] - io["wchar"],
            }
        )

    def close(self) -> None:
        """Stop looking."""
        self._over.set()


def _anonymous_kib() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1])
    return 0


def _io() -> dict[str, int]:
    lines = Path("/proc/self/io").read_text().splitlines()
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


def watched(work: str, folder: Path, pipe: Any) -> None:
    """Do some work in this process and send what it cost."""
    warnings.simplefilter("ignore")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    started, begun = time.process_time(), time.perf_counter()
    watch = Watch()
    with within(display=watch.display):
        said = WORK[work](folder)
    watch.close()
    total = {
        "stage": "whole",
        "cpu": round(time.process_time() - started, 2),
        "wall": round(time.perf_counter() - begun, 2),
        "mib": watch.highest >> 10,
        **said,
    }
    pipe.send([{"work": work, **row} for row in (*watch.rows, total)])


def on_disk(folder: Path) -> dict[str, Any]:
    free, least = shutil.disk_usage(folder).free, []
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            least.append(shutil.disk_usage(folder).free)

    threading.Thread(target=look, daemon=True).start()
    (folder / "disk").mkdir()
    ties, out = folder / "ties.parquet", folder / "disk" / "out"
    anonymize_ties(gv.KDegree(k=K), ties, out, seed=SEED)
    over.set()
    record = json.loads((folder / "disk" / "out.private" / "record.json").read_text())
    return {"disk": free - min(least), "edits": record["cost"]["edits"]}


def noisy(folder: Path) -> dict[str, Any]:
    (folder / "noise").mkdir()
    method = gv.AsymmetricResponse(epsilon=4.0)
    anonymize_ties(method, folder / "ties.parquet", folder / "noise" / "out")
    record = json.loads((folder / "noise" / "out.private" / "record.json").read_text())
    shutil.rmtree(folder / "noise")
    return {name: record["cost"][name] for name in ("edges_before", "edges_kept", "edges_added")}


def in_memory(folder: Path) -> dict[str, Any]:
    (folder / "memory").mkdir()
    anonymize_file(
        gv.KDegree(k=K),
        folder / "ties.parquet",
        RunOptions(out=folder / "memory" / "out", seed=SEED),
        options=GraphOptions(),
    )
    return {}


def verified(folder: Path) -> dict[str, Any]:
    verdict = gv.verify_release(folder / "disk" / "out")
    return {"ok": verdict.ok}


def verified_with_original(folder: Path) -> dict[str, Any]:
    out, ties = folder / "disk" / "out", folder / "ties.parquet"
    return {"ok": gv.verify_release(out, ties, on_disk=True).ok}


WORK = {
    "disk": on_disk,
    "noise": noisy,
    "memory": in_memory,
    "verify": verified,
    "verify with original": verified_with_original,
}


def measured(work: str, folder: Path) -> list[dict[str, Any]]:
    """Return what some work costs in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=watched, args=(work, folder, theirs))
    process.start()
    theirs.close()
    rows = ours.recv()
    process.join()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ties", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--only", nargs="*", choices=list(WORK), default=list(WORK))
    given = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    rows: list[dict[str, Any]] = []
    for size in (20_000, given.ties):
        folder = given.folder / f"ties-{size}"
        folder.mkdir(parents=True)
        try:
            people = write_ties(folder / "ties.parquet", size)
            works = [name for name in given.only if name != "memory" or given.memory]
            for work in works:
                for row in measured(work, folder):
                    rows.append({"ties": size, "people": people, **row})
                    print(rows[-1], flush=True)
            if given.memory:
                compare(folder)
        finally:
            shutil.rmtree(folder)
    results = HERE / "results" / "ties.parquet"
    results.parent.mkdir(exist_ok=True)
    measured_again = {(row["ties"], row["work"]) for row in rows}
    kept = [r for r in read_rows(results) if (r["ties"], r["work"]) not in measured_again]
    write_rows(results, [*kept, *(row for row in rows if row["ties"] == given.ties)])


def compare(folder: Path) -> None:
    """Refuse two releases that are not the same bytes."""
    for file in sorted((folder / "disk" / "out").iterdir()):
        other = folder / "memory" / "out" / file.name
        if file.read_bytes() != other.read_bytes():
            raise AssertionError(f"{file.name} is another in memory")
    print("the release in memory has the same bytes")


if __name__ == "__main__":
    main()
