"""What `smooth-k` takes and keeps where items are popular, before and after a change of the code.

    python benchmarks/smooth_anonymity/popular.py --data FOLDER --before EARLIER/src
    python benchmarks/smooth_anonymity/popular.py --table

``EARLIER`` is a checkout of an earlier commit. Every run is one fresh process of one thread that
loads compiled code by small runs first; before and after follow each other, so that a busy machine
slows both. CPU seconds are of `anonymize` alone, k=8; what is kept is recounted from the release.
Raw rows go to ``results/popular.parquet``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data as sets

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "popular.parquet"
SIZES = (10_000, 31_600, 100_000, 316_000)
TUNED_ON = "popular"

MADE: dict[str, dict[str, Any]] = {
    "popular": {},
    "many groups": {"groups": 2000, "liked": 20, "share": 0.8},
    "many items": {"items": 50_000, "exponent": 0.7, "groups": 50},
    "few items": {"items": 1000, "exponent": 1.1, "groups": 1000, "draws": 12},
}
READ: dict[str, Callable[[Path], gv.Bipartite]] = {
    "adult": sets.adult,
    "playstore": sets.playstore,
    "ego-twitter": sets.ego_twitter,
    "email-enron": sets.email_enron,
}


def one(name: str, size: int, folder: Path) -> dict[str, Any]:
    """Return the row of one run in this process."""
    warnings.simplefilter("ignore")
    gv.precompile()
    method = gv.SmoothK(k=8)
    for small in (sets.popular(21_000), sets.userlists(500)):
        method.anonymize(small, seed=1)
    data = sets.popular(size, **MADE[name]) if size else READ[name](folder)
    started = time.process_time()
    release = method.anonymize(data, seed=1)
    cpu_seconds = time.process_time() - started
    kept = gv.evaluate_release(release, original=data, metrics=["entry-jaccard"], seed=1)
    return {
        "name": name,
        "users": data.n_users,
        "entries": data.n_entries,
        "cpu_seconds": cpu_seconds,
        "jaccard": next(row.value for row in kept if row.part == "all"),
    }


def measured(code: str, source: str, name: str, size: int, folder: str) -> None:
    """Run one, in a process of its own that imports the code from `source`, and keep the row."""
    command = [sys.executable, __file__, "--one", name, str(size), "--data", folder]
    variables = os.environ | ({"PYTHONPATH": source} if source else {})
    done = subprocess.run(command, check=True, text=True, capture_output=True, env=variables)
    row = {"code": code, **json.loads(done.stdout.splitlines()[-1])}
    append_rows(RESULTS, row)
    print(row, flush=True)


def table() -> None:
    """Print every pair of rows, and by which power of the users the time grows."""
    latest = {(row["name"], row["users"], row["code"]): row for row in read_rows(RESULTS)}
    print("| data | users | CPU s before | after | ratio | J before | after |")
    print("|---|---|---|---|---|---|---|")
    for name, users in dict.fromkeys((name, users) for name, users, _ in latest):
        before, after = (latest.get((name, users, code)) for code in ("before", "after"))
        if before and after:
            times = [before["cpu_seconds"], after["cpu_seconds"]]
            kept = [before["jaccard"], after["jaccard"]]
            print(
                f"| {name} | {users:,} | {times[0]:.1f} | {times[1]:.1f} "
                f"| {times[1] / times[0]:.2f} | {kept[0]:.4f} | {kept[1]:.4f} |"
            )
    for code in ("before", "after"):
        of_code = {u: row for (name, u, c), row in latest.items() if (name, c) == (TUNED_ON, code)}
        ends = [of_code[size]["cpu_seconds"] for size in (31_600, 100_000) if size in of_code]
        if len(ends) > 1:
            power = math.log(ends[1] / ends[0]) / math.log(100 / 31.6)
            print(f"\n{code}: CPU grows with users^{power:.2f} from 31,600 to 100,000")


def main() -> None:
    """Run every data set before and after, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="")
    parser.add_argument("--before", default="")
    parser.add_argument("--sets", nargs="*", default=[*MADE, *READ], choices=[*MADE, *READ])
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--one", nargs=2)
    arguments = parser.parse_args()
    if arguments.table:
        table()
        return
    if arguments.one:
        name, size = arguments.one
        print(json.dumps(one(name, int(size), Path(arguments.data))))
        return
    for name in arguments.sets:
        sizes = arguments.sizes if name == TUNED_ON else [50_000 if name in MADE else 0]
        for size in sizes:
            if arguments.before:
                measured("before", arguments.before, name, size, arguments.data)
            measured("after", "", name, size, arguments.data)


if __name__ == "__main__":
    main()
