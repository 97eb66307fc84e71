"""How smooth k-anonymity grows with the data: lists of users, in chunks, at three sizes and more.

    python benchmarks/smooth_anonymity/scale.py [--sizes 250000 500000 1000000] [--jobs 2]
    python benchmarks/smooth_anonymity/scale.py --disk FILE_FOLDER [--sizes ...]

Every (size, variant) is one fresh process, so that its peak memory is its own. A worker's peak is
the largest of all children and counts what the caller held when it started them, so it is an
upper bound. Compiled code is loaded by a small run first. With ``--disk`` the lists are written to
Parquet files in a folder and anonymized through the disk; its use is looked at ten times a second.
Raw rows go to ``results/scale.parquet``.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import data as sets
import pyarrow.parquet as pq

import graphveil as gv
from graphveil.engines import LocalEngine, using
from graphveil.io import BipartiteOptions
from graphveil.verbs.anonymize import anonymize_rows

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows

RESULTS = Path(__file__).parent / "results"
VARIANTS: dict[str, dict[str, Any]] = {
    "facility": {"algorithm": "facility"},
    "greedy only": {"refine": False},
    "list_cap 200, 3 passes": {"list_cap": 200, "passes": 3},
}


def one(size: int, variant: str, chunk_rows: int, jobs: int, folder: str) -> dict[str, Any]:
    """Return the row of one run in this process."""
    warnings.simplefilter("ignore")
    options = VARIANTS[variant]
    method = gv.SmoothK.from_parameters({"k": 8, "chunk_rows": chunk_rows, **options})
    with using(LocalEngine(jobs=jobs)):
        small = gv.SmoothK.from_parameters({"k": 4, "chunk_rows": 100, **options})
        small.anonymize(sets.userlists(400), seed=1)
        row: dict[str, Any] = {"size": size, "variant": variant, "chunk_rows": chunk_rows}
        row |= {"jobs": jobs, "way": "disk" if folder else "memory"}
        if folder:
            return row | on_disk(size, method, Path(folder), jobs)
        data = sets.userlists(size)
        row["entries"] = data.n_entries
        started = time.perf_counter()
        release = method.anonymize(data, seed=1)
        row["seconds"] = time.perf_counter() - started
        row["jaccard"] = release.private.cost["jaccard"]
        row["input_mib"] = (data.indptr.nbytes + data.indices.nbytes) / 2**20
    return row | peaks(jobs)


def on_disk(size: int, method: gv.SmoothK, folder: Path, jobs: int) -> dict[str, Any]:
    """Return what a run through the disk took; the file is written by another process."""
    path = folder / f"lists-{size}.parquet"
    out = folder / f"released-{size}"
    started = time.perf_counter()
    engine, reading = LocalEngine(jobs=jobs), BipartiteOptions(items="things")
    for left in (out, out.with_name(f"{out.name}.private")):
        shutil.rmtree(left, ignore_errors=True)
    before = used(folder)
    with peak_of(lambda: used(folder) - before, 0.1) as peak:
        anonymize_rows(method, path, out, engine=engine, seed=1, reading=reading)
    seconds = time.perf_counter() - started
    record = json.loads((folder / f"{out.name}.private" / "record.json").read_text())
    row = {"seconds": seconds, "jaccard": record["cost"]["jaccard"], "disk_mib": peak[0] / 2**20}
    return row | {"file_mib": path.stat().st_size / 2**20} | peaks(jobs)


@contextmanager
def peak_of(look: Callable[[], int], every: float) -> Iterator[list[int]]:
    """Give the largest number that is seen where one looks every so many seconds."""
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(every):
            peak[0] = max(peak[0], look())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def used(folder: Path) -> int:
    """Return the bytes in a folder, at any depth; what goes away meanwhile counts nothing."""
    total = 0
    for entry in folder.iterdir():
        try:
            total += used(entry) if entry.is_dir() else entry.stat().st_size
        except OSError:
            continue
    return total


def peaks(jobs: int) -> dict[str, float]:
    """Return the peak memory of this process and of its largest child, and CPU seconds."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "peak_mib": own.ru_maxrss / 1024,
        "worker_peak_mib": children.ru_maxrss / 1024 if jobs > 1 else 0.0,
        "cpu_seconds": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
    }


def write_lists(size: int, path: Path, piece: int = 500_000) -> None:
    """Write lists of so many users, some at a time, each piece from a seed of its own."""
    writer = None
    for number, first in enumerate(range(0, size, piece)):
        data = sets.userlists(min(piece, size - first), seed=number)
        table = data.to_lists()
        users = range(first, first + data.n_users)
        table = table.set_column(0, "user", [list(users)])
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def main() -> None:
    """Run every size and variant, each in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", nargs="*", type=int, default=[250_000, 500_000, 1_000_000])
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--chunk-rows", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--disk", default="")
    parser.add_argument("--one", nargs=2)
    arguments = parser.parse_args()
    fixed = (arguments.chunk_rows, arguments.jobs, arguments.disk)
    if arguments.one:
        print(json.dumps(one(int(arguments.one[0]), arguments.one[1], *fixed)))
        return
    for size in arguments.sizes:
        path = Path(arguments.disk) / f"lists-{size}.parquet"
        if arguments.disk and not path.exists():
            write_lists(size, path)
        for variant in arguments.variants:
            command = [sys.executable, __file__, "--one", str(size), variant]
            command += ["--chunk-rows", str(fixed[0]), "--jobs", str(fixed[1]), "--disk", fixed[2]]
            done = subprocess.run(command, check=True, text=True, capture_output=True)
            row = done.stdout.splitlines()[-1]
            append_rows(RESULTS / "scale.parquet", json.loads(row))
            print(row, flush=True)


if __name__ == "__main__":
    main()
