"""The table of k-degree anonymity on real networks, beside the figures of the reference prototype.

    python benchmarks/k_degree/table.py --data FOLDER

FOLDER holds the networks as ``NAME/edges.tsv.gz`` or ``anonet/NAME``. Every (network, k, edits)
is one fresh process, so that its peak memory is its own; the first call in it is *cold* (compiled
code is loaded from Numba's cache), the second *warm*. The time to compile into an empty cache is
measured once. Raw rows go to ``results/table.parquet``; scores are recomputed here from the two
edge lists, never taken from what the method says of itself.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import write_rows

HERE = Path(__file__).parent
KS = (2, 5, 10, 50)
SEEDS = (1, 2)

# Cells: L1* and mean edits with edits=add, then with edits=any, of the reference prototype.
PROTOTYPE = {
    "ca-GrQc/edges.tsv.gz": {
        2: (13, 8, 13, 9),
        5: (88, 64, 59, 40),
        10: (232, 175, 121, 68),
        50: (2031, 1216, 763, 413),
    },
    "power/edges.tsv.gz": {
        2: (1, 1, 1, 2),
        5: (16, 12, 9, 10),
        10: (55, 28, 19, 17),
        50: (449, 225, 92, 72),
    },
    "anonet/out.dnc-temporalGraph.edges": {
        2: (128, 103, 125, 94),
        5: (921, 807, 579, 524),
        10: (2582, 2314, 963, 867),
        50: (16965, 15840, 2244, 2254),
    },
}


def one(path: str, k: int, edits: str) -> None:
    """Run one cell in this process and print its raw rows as JSON lines."""
    warnings.simplefilter("ignore")
    graph = gv.read_graph(path, directed="symmetrize")
    for call, seed in enumerate((SEEDS[0], *SEEDS)):
        started = time.perf_counter()
        release = gv.KDegree(k=k, edits=edits).anonymize(graph, seed=seed)
        seconds = time.perf_counter() - started
        place = np.empty(graph.n_nodes, dtype=np.int64)
        place[:] = release.private.linkage.released
        moved = np.sort(place[graph.edges()], axis=1)
        before = set(map(tuple, moved.tolist()))
        after = set(map(tuple, release.data.edges().tolist()))
        row = {
            "data": path,
            "nodes": graph.n_nodes,
            "edges": graph.n_edges,
            "k": k,
            "edits": edits,
            "seed": seed,
            "call": "cold" if call == 0 else "warm",
            "seconds": seconds,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "l1_optimum": release.private.cost["degree_change_optimum"],
            "added": len(after - before),
            "deleted": len(before - after),
            "smallest_class": int(np.unique(release.data.degrees(), return_counts=True)[1].min()),
        }
        print(json.dumps(row))


def compile_seconds() -> float:
    """Return how much longer the first call takes when nothing is compiled yet."""
    code = (
        "import time, warnings; warnings.simplefilter('ignore'); import graphveil as gv; "
        "g = gv.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 4, 2], n=5); t = time.perf_counter(); "
        "[gv.KDegree(k=2, edits=e).anonymize(g, seed=1) for e in ('add', 'any')]; "
        "print(time.perf_counter() - t)"
    )
    with tempfile.TemporaryDirectory() as cache:
        env = os.environ | {"NUMBA_CACHE_DIR": cache}
        times = [
            float(
                subprocess.run(
                    [sys.executable, "-c", code],
                    env=env,
                    check=True,
                    text=True,
                    capture_output=True,
                ).stdout
            )
            for _ in range(2)
        ]
    return times[0] - times[1]


def run_all(folder: Path) -> list[dict[str, object]]:
    """Return the raw rows of every cell."""
    rows = []
    for name in PROTOTYPE:
        for k in KS:
            for edits in ("add", "any"):
                command = [sys.executable, __file__, "--one", str(folder / name), str(k), edits]
                done = subprocess.run(command, check=True, text=True, capture_output=True)
                rows += [json.loads(line) | {"data": name} for line in done.stdout.splitlines()]
    return rows


def report(rows: list[dict[str, object]], compiled: float) -> None:
    """Print the table: prototype and ours, side by side."""
    print(f"compiling into an empty cache takes {compiled:.1f} s; it is not in the times below\n")
    print(
        f"{'data':36} {'k':>3} {'edits':>5} {'L1* proto':>9} {'ours':>6} {'edits proto':>11} "
        f"{'ours':>8} {'ratio':>6} {'cold s':>7} {'warm s':>7} {'MiB':>5}"
    )
    for name, cells in PROTOTYPE.items():
        for k, figures in cells.items():
            for place, edits in enumerate(("add", "any")):
                mine = [r for r in rows if (r["data"], r["k"], r["edits"]) == (name, k, edits)]
                warm = [r for r in mine if r["call"] == "warm"]
                cold = next(r for r in mine if r["call"] == "cold")
                mean = sum(r["added"] + r["deleted"] for r in warm) / len(warm)
                l1, proto = figures[2 * place : 2 * place + 2]
                print(
                    f"{name:36} {k:3} {edits:>5} {l1:9} {cold['l1_optimum']:6} {proto:11} "
                    f"{mean:8.1f} {mean / proto:6.3f} {cold['seconds']:7.3f} "
                    f"{min(r['seconds'] for r in warm):7.3f} {cold['peak_mib']:5.0f}"
                )


def main() -> None:
    """Run one cell, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--one", nargs=3, metavar=("FILE", "K", "EDITS"))
    arguments = parser.parse_args()
    if arguments.one:
        path, k, edits = arguments.one
        one(path, int(k), edits)
        return
    compiled = compile_seconds()
    rows = run_all(arguments.data)
    write_rows(HERE / "results" / "table.parquet", [{"compile_seconds": compiled}, *rows])
    report(rows, compiled)


if __name__ == "__main__":
    main()
