"""What `--estimate` says a run costs, beside what the run then takes.

    python benchmarks/smooth_anonymity/estimate.py FOLDER [--sizes 100000 1000000]
        [--engines local spark address] [--variants greedy search] [--forms lists pairs]

FOLDER gets a Parquet file of users for every size and form, a row a user with a list, or a row a
pair (k=8, chunks of 20,000). Every (size,
engine, variant) is one fresh process of two cores; a small run before compiles and warms up a
session, and is not counted. Engine ``address`` is Spark with a release at an address of the same
disk. Seconds are those of the CPU, of all processes. Raw rows go to
``results/estimate.parquet``: figures of the estimate end in ``_low`` and ``_high``. Linux alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scale import RESULTS, peak_of, used, write_lists

import graphveil as gv
from graphveil.engines import LocalEngine, SparkEngine
from graphveil.io import BipartiteOptions
from spark import (
    CHUNK_ROWS,
    CORES,
    SEED,
    WARM_CHUNK,
    WARM_ROWS,
    K,
    peak_kib,
    peak_of_workers,
    processes,
    seconds,
    session_in,
    shuffled,
)

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows

VARIANTS: dict[str, dict[str, Any]] = {"greedy": {"refine": False}, "search": {}}
PAIRS = pa.schema([("user", pa.int64()), ("item", pa.int64())])
THINGS = BipartiteOptions(items="things")


def method_of(variant: str, chunk_rows: int) -> gv.SmoothK:
    """Return the method."""
    return gv.SmoothK.from_parameters({"k": K, "chunk_rows": chunk_rows, **VARIANTS[variant]})


def one(size: int, engine: str, variant: str, form: str, folder: Path) -> dict[str, Any]:
    """Return the row of an estimate and its run in this process."""
    warnings.simplefilter("ignore")
    scratch = folder / f"{engine}-{size}-{variant}-{form}"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    working = scratch / "runs"
    working.mkdir()
    spark = None if engine == "local" else session_in(scratch)
    runs: Any = LocalEngine(jobs=CORES)
    if spark is not None:
        runs = SparkEngine(spark=spark, working=working / "shared")

    def target(rows: int) -> dict[str, Any]:
        out = scratch / f"released-{rows}"
        if engine == "address":
            return {"out": f"file://{out}", "private": f"file://{out}.private"}
        return {"out": working / out.name}

    def release(rows: int, chunk_rows: int) -> None:
        path, method = folder / f"{form}-{rows}.parquet", method_of(variant, chunk_rows)
        given = {"engine": runs, "seed": SEED, "reading": THINGS, **target(rows)}
        gv.anonymize_rows(method, str(path), **given)

    release(WARM_ROWS, WARM_CHUNK)
    before, began = spent(), time.perf_counter()
    path = str(folder / f"{form}-{size}.parquet")
    method, out = method_of(variant, CHUNK_ROWS), target(size)["out"]
    cost = gv.estimate_rows(method, path, out=out, engine=runs, reading=THINGS)
    row: dict[str, Any] = {"size": size, "engine": engine, "variant": variant, "form": form}
    row["cores"] = CORES
    row |= {"estimate_wall": time.perf_counter() - began, "estimate_cpu": spent() - before}
    for name in ("cpu_seconds", "working_bytes", "worker_mib", "shuffle_bytes"):
        low, high = getattr(cost, name) or (None, None)
        row |= {f"{name}_low": low, f"{name}_high": high}
    before, since, lying = spent(), time.time(), used(working)
    with (
        peak_of(peak_of_workers if spark else peak_of_children, 0.3) as memory,
        peak_of(lambda: used(working) - lying, 0.2) as disk,
    ):
        release(size, CHUNK_ROWS)
    row |= {"cpu_seconds": spent() - before, "working_bytes": disk[0]}
    row["worker_mib"] = memory[0] / 1024
    if spark is not None:
        spark.stop()
        row["shuffle_bytes"] = shuffled(scratch, since)
    shutil.rmtree(scratch)
    return {name: value for name, value in row.items() if value is not None}


def peak_of_children() -> int:
    """Return the largest peak of memory of a process that this one started, in KiB."""
    ours = [number for number, process in processes().items() if process.parent == os.getpid()]
    return max(map(peak_kib, ours), default=0)


def write_pairs(lists: Path, pairs: Path) -> None:
    """Write the users and items of a file of lists, a row a pair."""
    with pq.ParquetFile(lists) as file, pq.ParquetWriter(pairs, PAIRS) as writer:
        for batch in file.iter_batches():
            users = batch["user"].take(pc.list_parent_indices(batch["items"]))
            writer.write_table(pa.table([users, batch["items"].flatten()], schema=PAIRS))


def spent() -> float:
    """Return the seconds of CPU until now: of this process, and of all that it started."""
    return sum(seconds().values())


def main() -> None:
    """Price and run every size on every engine, each in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--engines", nargs="*", default=["local", "spark"])
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--forms", nargs="*", default=["lists"], choices=["lists", "pairs"])
    parser.add_argument("--one", nargs=4)
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    if arguments.one:
        size, *asked = arguments.one
        print(json.dumps(one(int(size), *asked, folder)))
        return
    for size in (WARM_ROWS, *arguments.sizes):
        lists, pairs = (folder / f"{form}-{size}.parquet" for form in ("lists", "pairs"))
        if not lists.exists():
            write_lists(size, lists)
        if "pairs" in arguments.forms and not pairs.exists():
            write_pairs(lists, pairs)
    asked = product(arguments.sizes, arguments.engines, arguments.variants, arguments.forms)
    for given in asked:
        command = [sys.executable, __file__, str(folder), "--one", *map(str, given)]
        done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
        row = json.loads(done.stdout.splitlines()[-1])
        append_rows(RESULTS / "estimate.parquet", row)
        print(row, flush=True)


if __name__ == "__main__":
    main()
