"""What it takes to verify a release in parts: CPU and memory, of reading and of counting classes.

    python benchmarks/smooth_anonymity/parts.py FOLDER [--sizes 1000000 5000000]

Lists as in ``scale.py`` are released through the disk with k=8, without the local search, and each
step is measured in a fresh process: memory is its peak. ``load`` reads every part, writes it again
and compares bytes; ``classes`` groups the rows of all parts; ``verify`` is all checks without the
original. Raw rows go to ``results/parts.parquet``.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import graphveil as gv
from graphveil.claims.manifest import read_manifest
from graphveil.verify.database import database
from graphveil.verify.files.loading import load
from graphveil.verify.files.released import Released
from graphveil.verify.recount.rows.row_classes import equal_classes, sizes_of_classes

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows

RESULTS = Path(__file__).parent / "results"
STEPS = ("nothing", "load", "classes", "verify")


def release(size: int, folder: Path) -> Path:
    """Return the release of lists of this many users; one that is there is taken."""
    from scale import write_lists  # noqa: PLC0415  heavy: what is measured needs none of it

    from graphveil.engines import LocalEngine  # noqa: PLC0415  as above
    from graphveil.io import BipartiteOptions  # noqa: PLC0415  as above
    from graphveil.verbs.anonymize import anonymize_rows  # noqa: PLC0415  as above

    out = folder / f"lists-{size}"
    if not out.is_dir():
        path = folder / f"lists-{size}.parquet"
        write_lists(size, path)
        method = gv.SmoothK.from_parameters({"k": 8, "chunk_rows": 20_000, "refine": False})
        reading, engine = BipartiteOptions(items="things"), LocalEngine(jobs=2)
        anonymize_rows(
            method, path, out, engine=engine, seed=1, reading=reading, parts=True, linkage=False
        )
        path.unlink()
        shutil.rmtree(folder / f"{out.name}.private")
    return out


def one(out: Path, step: str) -> dict[str, Any]:
    """Return the row of one step in this process."""
    manifest = read_manifest(out)
    row: dict[str, Any] = {"users": manifest.data.counts["users"], "step": step}
    row["entries"] = manifest.data.counts["entries"]
    row["file_bytes"] = sum(file.bytes for file in manifest.data.files)
    size = row["file_bytes"]
    before = time.process_time()
    if step == "verify":
        row["ok"] = gv.verify_release(out).ok
    elif step != "nothing":
        with database([out], size=size) as db:
            load(db, Released(out), manifest.data)
            if step == "classes":
                before = time.process_time()
                found = equal_classes(db, sizes_of_classes(db), 2)
                row["classes"], row["smallest"] = found.number, found.smallest
    row["cpu_s"] = time.process_time() - before
    row["peak_mib"] = peak_kib() / 1024
    return row


def peak_kib() -> int:
    """Return the peak of this process's memory; ``getrusage`` counts that of its parent, too."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+([0-9]+) kB", status)[1])  # type: ignore[index]  # Linux


def main() -> None:
    """Measure every step of every size, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", nargs="*", type=int, default=[1_000_000, 5_000_000])
    parser.add_argument("--one", nargs=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.one:
        out, step = given.one
        sys.stdout.write(json.dumps(one(Path(out), step)) + "\n")
        return
    for size in given.sizes:
        out = release(size, given.folder)
        rows = []
        for step in STEPS:
            command = [sys.executable, __file__, str(given.folder), "--one", str(out), step]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            sys.stderr.write(f"{rows[-1]}\n")
        append_rows(RESULTS / "parts.parquet", *rows)


if __name__ == "__main__":
    main()
