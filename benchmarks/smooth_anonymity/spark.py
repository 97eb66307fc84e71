"""What rows cost on a Spark session of two cores, beside the same file on this machine alone.

    python benchmarks/smooth_anonymity/spark.py FOLDER [--sizes 1000000 2000000] [--parts]

With ``--parts`` Spark alone runs, twice: the driver writes the parts of a release into a folder,
then executors write them, at an address of the same disk.

FOLDER gets a Parquet file of lists of users for every size, and both releases of it (k=8, chunks of
20,000, without the local search), which must be equal. Every (size, engine) is one fresh process; a
small run before compiles and warms the session up, and is not counted. Seconds are those of the
CPU: of the JVM, of the processes of Python that it starts, and of the calling process, of which the
peak of memory is kept as well. Shuffled bytes are those that the event log says. Raw rows go to
``results/spark.parquet``. Linux alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scale import RESULTS, peak_of, write_lists

import graphveil as gv
from graphveil.engines import LocalEngine, SparkEngine
from graphveil.io import BipartiteOptions

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows

CORES, PARTITIONS = 2, 8
WARM_ROWS, WARM_CHUNK = 20_000, 2_000
CHUNK_ROWS, K, SEED = 20_000, 8, 1
TICKS = os.sysconf("SC_CLK_TCK")
ENGINES = ("spark", "local")
WRITERS = ("spark, parts by the driver", "spark, parts by executors")


class Process(NamedTuple):
    """A process: whose child it is, what it is called, and its seconds of CPU.

    Parameters
    ----------
    parent
        The number of its parent.
    name
        Its name.
    own, ended
        Its seconds, and those of its children that ended.
    """

    parent: int
    name: str
    own: float
    ended: float


def processes() -> dict[int, Process]:
    """Return all processes of this machine."""
    seen = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text().rpartition(")")
        except OSError:  # it ended
            continue
        number, _, name = head.partition(" (")
        cells = tail.split()
        own, ended = (sum(map(int, cells[at : at + 2])) / TICKS for at in (11, 13))
        seen[int(number)] = Process(int(cells[1]), name, own, ended)
    return seen


def of_spark() -> tuple[dict[int, Process], dict[int, Process]]:
    """Return the JVM of this process, and the processes below it."""
    seen = processes()

    def below(number: int) -> Iterator[int]:
        for child, process in seen.items():
            if process.parent == number:
                yield child
                yield from below(child)

    under = list(below(os.getpid()))
    jvm = {number: seen[number] for number in under if seen[number].name == "java"}
    workers = {number: seen[number] for root in jvm for number in below(root)}
    return jvm, workers


def seconds() -> dict[str, float]:
    """Return the seconds of CPU until now."""
    jvm, workers = of_spark()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "jvm_seconds": sum(process.own for process in jvm.values()),
        "worker_seconds": sum(process.own + process.ended for process in workers.values()),
        "own_seconds": time.process_time(),
        "ended_seconds": ended.ru_utime + ended.ru_stime,
    }


def peak_of_workers() -> int:
    """Return the largest peak of memory of a process of Python below the JVM, in KiB.

    Others are copies of the JVM that are about to run a command.
    """
    workers = (number for number, process in of_spark()[1].items() if "python" in process.name)
    return max(map(peak_kib, workers), default=0)


def peak_kib(number: int) -> int:
    """Return the peak of memory of a process in KiB; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def session_in(folder: Path) -> Any:
    """Return a session of so many threads that logs its events."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  an extra

    os.environ["PYSPARK_PYTHON"] = sys.executable
    (folder / "events").mkdir()
    builder = SparkSession.builder.master(f"local[{CORES}]")
    for name, value in {
        "spark.driver.memory": "2g",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.eventLog.enabled": "true",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def shuffled(folder: Path, since: float) -> int:
    """Return the bytes that tasks begun since then have written for others."""
    total = 0
    for path in (folder / "events").rglob("events_*"):
        for line in path.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] != "SparkListenerTaskEnd":
                continue
            if event["Task Info"]["Launch Time"] >= 1000 * since and "Task Metrics" in event:
                total += event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    return total


def one(size: int, engine: str, folder: Path) -> dict[str, Any]:
    """Return the row of one run in this process."""
    warnings.simplefilter("ignore")
    scratch = folder / f"{engine}-{size}"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    spark = session_in(scratch) if engine.startswith("spark") else None
    runs: Any = LocalEngine(jobs=CORES)
    if spark is not None:
        runs = SparkEngine(spark=spark, working=scratch / "working")
    release(WARM_ROWS, WARM_CHUNK, runs, folder, scratch, engine)
    began, before = time.time(), seconds()
    with peak_of(peak_of_workers, 0.5) as peak:
        out = release(size, CHUNK_ROWS, runs, folder, scratch, engine)
    taken = {name: after - before[name] for name, after in seconds().items()}
    row: dict[str, Any] = {"size": size, "engine": engine, "cores": CORES, "k": K}
    row |= {"chunk_rows": CHUNK_ROWS, "wall_seconds": time.time() - began}
    if spark is None:
        taken = {"own_seconds": taken["own_seconds"], "worker_seconds": taken["ended_seconds"]}
    else:
        spark.stop()
        del taken["ended_seconds"]
        row |= {"partitions": PARTITIONS}
        row |= {"shuffled_bytes": shuffled(scratch, began), "worker_mib": peak[0] / 1024}
    record = json.loads(Path(f"{out}.private", "record.json").read_bytes())
    data = hashlib.sha256()
    for path in sorted(out.rglob("*.parquet")):
        data.update(path.read_bytes())
    row |= {"own_mib": peak_kib(os.getpid()) / 1024}
    row |= {**taken, "jaccard": record["cost"]["jaccard"], "data_sha256": data.hexdigest()}
    shutil.rmtree(scratch)
    return row


def release(
    size: int, chunk_rows: int, engine: Any, folder: Path, scratch: Path, name: str
) -> Path:
    """Release a file of lists, and return the folder."""
    out: Any = scratch / f"released-{size}"
    target: dict[str, Any] = {}
    if name == WRITERS[1]:
        target = {"out": f"file://{out}", "private": f"file://{out}.private"}
    elif name == WRITERS[0]:
        target = {"out": out, "parts": True}
    parameters = {"k": K, "chunk_rows": chunk_rows, "refine": False}
    gv.anonymize_rows(
        gv.SmoothK.from_parameters(parameters),
        str(folder / f"lists-{size}.parquet"),
        target.pop("out", out),
        engine=engine,
        seed=SEED,
        reading=BipartiteOptions(items="things"),
        **target,
    )
    return out


def main() -> None:
    """Run every size on both engines, each in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", nargs="*", type=int, default=[1_000_000, 2_000_000])
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--one", nargs=2)
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    if arguments.one:
        print(json.dumps(one(int(arguments.one[0]), arguments.one[1], folder)))
        return
    for size in (WARM_ROWS, *arguments.sizes):
        if not (folder / f"lists-{size}.parquet").exists():
            write_lists(size, folder / f"lists-{size}.parquet")
    for size in arguments.sizes:
        rows = []
        for engine in WRITERS if arguments.parts else ENGINES:
            command = [sys.executable, __file__, str(folder), "--one", str(size), engine]
            done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            print(rows[-1], flush=True)
        if len({row["data_sha256"] for row in rows}) > 1:
            raise SystemExit(f"{size} rows: the two releases differ")
        append_rows(RESULTS / "spark.parquet", *rows)


if __name__ == "__main__":
    main()
