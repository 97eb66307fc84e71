"""How many edits k-degree anonymity needs, how many are made, and what the proof costs.

    python benchmarks/k_degree/bounds.py --data FOLDER

FOLDER holds the networks as ``anonet/NAME``. Every network, k and kind of edits is run once without
the search for a proof and once with it, from one seed, in one process: seconds are those of the
CPU, after a first run that compiles. Degrees are counted again from the two edge lists. Raw rows go
to ``results/bounds.parquet``, the sums are printed.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import write_rows

HERE = Path(__file__).parent
KS = (2, 5, 10, 20)
TUNED = ("calls.edges", "out.gene_fusion.edges", "out.dimacs10-netscience.edges")
"""Networks on which limits of the search were chosen."""
OTHERS = (
    "out.maayan-faa.edges",
    "out.moreno_innovation.edges",
    "out.moreno_health_health.edges",
    "fb_friends.edges",
)
"""Networks that nobody tuned on."""


def measured(graph: gv.Graph, k: int, edits: str, prove: str) -> dict[str, object]:
    """Return the edits of a run, counted again, its bound and its CPU seconds."""
    start = time.process_time()
    release = gv.KDegree(k=k, edits=edits, prove=prove).anonymize(graph, seed=1)
    seconds = time.process_time() - start
    place = np.empty(graph.n_nodes, dtype=np.int64)
    place[release.private.linkage.released] = np.arange(graph.n_nodes)
    after = {tuple(e) for e in np.sort(place[release.data.edges()], axis=1).tolist()}
    before = {tuple(e) for e in graph.edges().tolist()}
    classes = np.bincount(release.data.degrees())
    if classes[classes > 0].min() < k or (edits == "add" and before - after):
        raise AssertionError(f"k={k} {edits}: the promise does not hold")
    return {
        "edits": len(before ^ after),
        "at_least": release.private.cost["edits_lower_bound"],
        "seconds": round(seconds, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    warnings.simplefilter("ignore")
    rows = []
    for name in (*TUNED, *OTHERS):
        form = {"format": "text"} if name.startswith("out.") else {}
        graph = gv.read_graph(
            data / "anonet" / name, directed="symmetrize", ignore_weights=True, **form
        )
        gv.KDegree(k=2).anonymize(graph, seed=1)
        for k in KS:
            for edits in ("any", "add"):
                for prove in ("never", "auto"):
                    row = {"network": name, "tuned": name in TUNED, "edges": graph.n_edges}
                    row |= {"k": k, "kind": edits, "prove": prove}
                    rows.append(row | measured(graph, k, edits, prove))
                    print(rows[-1], flush=True)
                write_rows(HERE / "results" / "bounds.parquet", rows)
    for tuned in (True, False):
        for edits in ("any", "add"):
            for prove in ("never", "auto"):
                some = [
                    row
                    for row in rows
                    if (row["tuned"], row["kind"], row["prove"]) == (tuned, edits, prove)
                ]
                total = [sum(row[name] for row in some) for name in ("edits", "at_least")]
                proved = sum(row["edits"] == row["at_least"] for row in some)
                seconds = sum(row["seconds"] for row in some)
                print(tuned, edits, prove, len(some), *total, proved, f"{seconds:.1f} s")


if __name__ == "__main__":
    main()
