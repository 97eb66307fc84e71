"""Whether runs on Spark that lose a process end with the files of one that loses none.

    python benchmarks/smooth_anonymity/faults.py FOLDER [--rows 200000] [--only FAULT ...]

FOLDER gets a Parquet file of lists of users, and releases of it with one seed, in parts at an
address of the same disk. The first run loses nothing, on one machine. Then each of these runs by
itself: a process of Python is killed behind its work, in each stage; an executor of
``local-cluster[2,1,1024]`` is killed so; the driver is killed at five points, and the same call is
made again, with ``force`` where it was about to write its private record. Every file of ``data``
and ``linkage`` must have the SHA-256 that it has in the first run. Raw rows go to
``results/faults.parquet``. Linux alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from scale import RESULTS, write_lists

import graphveil as gv
from graphveil.claims import parts
from graphveil.core.storage import Address
from graphveil.engines import LocalEngine, SparkEngine
from graphveil.engines import spark as engine_of_spark
from graphveil.io import BipartiteOptions
from graphveil.scale.chunks import Released
from graphveil.scale.parts import Numbered
from graphveil.scale.writing import PartOfUsers

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows

SEED, K, PARTS, CHUNKS = 1, 8, 4, 20
UNDISTURBED = "none"
STAGES = {"chunks": Released, "ids": Numbered, "parts": PartOfUsers}
"""The works in which a process is killed, by the stage."""


class Fault(NamedTuple):
    """What is killed, and where.

    Parameters
    ----------
    victim
        A worker, an executor, the driver, or nothing.
    point
        A stage, or what the driver has kept.
    """

    victim: str
    point: str

    @property
    def master(self) -> str:
        """The session: workers that die are forgiven, and executors need a cluster."""
        return "local-cluster[2,1,1024]" if self.victim == "executor" else "local[2,4]"


FAULTS = {
    f"{victim}-{point}": Fault(victim, point)
    for victim, points in (
        ("worker", STAGES),
        ("executor", STAGES),
        ("driver", ("rows", "chunks", "released", "parts", "record")),
    )
    for point in points
}


@dataclass(frozen=True)
class Deadly:
    """A work behind which a process is killed, once in a run.

    Parameters
    ----------
    work
        The work.
    mark
        A file that is there once it is done.
    victim, driver
        Who is killed, and the number of the driver.
    """

    work: Callable[[int, Any], Any]
    mark: str
    victim: str
    driver: int

    def __call__(self, number: int, rows: Any) -> Any:
        """Return what the work makes, where nobody is to be killed any more."""
        made = self.work(number, rows)
        try:
            Path(self.mark).touch(exist_ok=False)
        except FileExistsError:
            return made
        if self.victim == "driver":
            os.kill(self.driver, signal.SIGKILL)
        elif self.victim == "executor":
            os.kill(executor_above(os.getppid()), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
        return made


def executor_above(number: int) -> int:
    """Return the executor that a process of Python works for."""
    while number > 1:
        if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{number}/cmdline").read_bytes():
            return number
        number = int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
    raise RuntimeError("no executor is above this process")


def prepare(fault: Fault, mark: Path) -> None:
    """Let this process, or what works for it, be killed at a point; once, as long as a mark is."""

    def kill_once() -> None:
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    class Tables(engine_of_spark.SparkTables):
        """Tables in which somebody is killed."""

        def grouped(self, rows: Any, by: str, n: int, work: Any, schema: Any) -> Any:
            if fault.point in STAGES and isinstance(work, STAGES[fault.point]):
                work = Deadly(work, str(mark), fault.victim, os.getpid())
            return super().grouped(rows, by, n, work, schema)

        def kept(self, rows: Any, name: str, doing: str) -> Any:
            kept = super().kept(rows, name, doing)
            if fault.point == name:
                kill_once()
            return kept

    put_bytes = Address.put_bytes

    def put(address: Address, name: str, content: bytes) -> None:
        if fault.point == name.removesuffix(".json"):
            kill_once()
        put_bytes(address, name, content)

    engine_of_spark.SparkTables = Tables  # type: ignore[misc]
    Address.put_bytes = put  # type: ignore[method-assign]


def session_of(master: str, folder: Path) -> Any:
    """Return a session; executors import what this process imports."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  an extra

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master)
    for name, value in {
        "spark.driver.memory": "1g",
        "spark.executor.memory": "768m",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def run(name: str, n_rows: int, folder: Path) -> None:
    """Make the release of a fault in this process, or of none."""
    warnings.simplefilter("ignore")
    scratch = folder / name
    os.chdir(scratch)
    parts.PART_USERS = -(-n_rows // PARTS)
    engine: Any = LocalEngine(jobs=1)
    if name != UNDISTURBED:
        prepare(FAULTS[name], scratch / "killed")
        spark = session_of(FAULTS[name].master, scratch)
        engine = SparkEngine(spark=spark, working=scratch / "working")
    gv.anonymize_rows(
        gv.SmoothK.from_parameters({"k": K, "chunk_rows": n_rows // CHUNKS, "refine": False}),
        str(folder / f"lists-{n_rows}.parquet"),
        f"file://{scratch}/out",
        private=f"file://{scratch}/owner",
        engine=engine,
        seed=SEED,
        reading=BipartiteOptions(items="things"),
        force=name == "driver-record" and (scratch / "killed").exists(),
    )


def digests(scratch: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of data and linkage."""
    files = [*scratch.glob("out/data/*"), *scratch.glob("owner/linkage/*")]
    return {
        path.relative_to(scratch).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
    }


def row_of(name: str, n_rows: int, folder: Path) -> dict[str, Any]:
    """Run a fault in processes of its own, again where the driver is killed; say what came out."""
    scratch = folder / name
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    command = [sys.executable, __file__, str(folder), "--rows", str(n_rows), "--one", name]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    starts = 1
    if ended.returncode == -signal.SIGKILL:
        if (scratch / "out" / "release.json").exists():
            raise SystemExit(f"{name}: what was killed looks like a release")
        ended = subprocess.run(command, check=False, capture_output=True, text=True)
        starts = 2
    if ended.returncode or (starts == 2) != name.startswith("driver"):
        raise SystemExit(f"{name}: the run ended with {ended.returncode}\n{ended.stderr}")
    if (scratch / "killed").exists() != (name != UNDISTURBED):
        raise SystemExit(f"{name}: nobody was killed")
    found = digests(scratch)
    shutil.rmtree(scratch)
    fault = FAULTS.get(name, Fault(UNDISTURBED, UNDISTURBED))
    return {
        "size": n_rows,
        **fault._asdict(),
        "starts": starts,
        "files": len(found),
        "sha256": hashlib.sha256(json.dumps(found).encode()).hexdigest(),
    }


def main() -> None:
    """Run every fault, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--only", nargs="*", choices=FAULTS, default=[*FAULTS])
    parser.add_argument("--no-results", action="store_true")
    parser.add_argument("--one")
    given = parser.parse_args()
    folder = given.folder.absolute()
    if given.one:
        run(given.one, given.rows, folder)
        return
    if not (folder / f"lists-{given.rows}.parquet").exists():
        write_lists(given.rows, folder / f"lists-{given.rows}.parquet")
    rows = []
    for name in (UNDISTURBED, *given.only):
        rows.append(row_of(name, given.rows, folder))
        print(rows[-1], flush=True)
        if rows[-1]["sha256"] != rows[0]["sha256"]:
            raise SystemExit(f"{name}: other files than those of the run that lost nothing")
    if not given.no_results:
        append_rows(RESULTS / "faults.parquet", *rows)


if __name__ == "__main__":
    main()
