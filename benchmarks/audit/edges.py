"""A bound on epsilon for every method for networks, by running it with and without one edge.

    python benchmarks/audit/edges.py [--runs 600] [--epsilon 2]

The attack `edge-re-run` on a release of a random network in which half of 120 pairs are edges: in a
sparse one so few releases show an edge that they bound nothing. A row a method is appended to
``results/edges.parquet``; a method that stands there with these numbers is not run again. It ends
with an error where a bound is above a claim.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows, write_rows

RESULTS = Path(__file__).parent / "results" / "edges.parquet"

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "asymmetric-response": ("asymmetric-response", {}),
    "randomized-response": ("randomized-response", {}),
    "degree-prior-response": ("degree-prior-response", {}),
    "mixing-prior-response": ("mixing-prior-response", {}),
    "dp-1k": ("dp-1k", {}),
    "top-m-filter": ("top-m-filter", {}),
    "top-m-filter, published": ("top-m-filter", {"variant": "published"}),
}


def network() -> gv.Graph:
    """Return a random network of 16 nodes and 60 edges."""
    source, target = np.triu_indices(16, k=1)
    some = np.sort(np.random.default_rng(1).permutation(source.size)[:60])
    return gv.Graph.from_edges(source[some], target[some], n=16)


def row_of(name: str, epsilon: float, runs: int) -> dict[str, Any]:
    """Return what one method's releases with and without an edge show."""
    method, parameters = METHODS[name]
    graph = network()
    anonymizer = gv.METHODS[method].from_parameters({"epsilon": epsilon, **parameters})
    started = time.process_time()
    told = gv.attack_release(
        anonymizer.anonymize(graph),
        original=graph,
        attacks=["edge-re-run"],
        seed=1,
        options={"edge-re-run": {"runs": runs}},
    )
    figures = {row.part: row.value for row in told}
    return {
        "method": name,
        "epsilon": epsilon,
        "runs": runs,
        "bound": next(value for part, value in figures.items() if "lower bound" in part),
        "most": figures["epsilon, largest that so many runs can show"],
        "claimed": figures.get("epsilon, claimed"),
        "with": figures["published, with the edge"],
        "without": next(r.guess for r in told if r.part == "published, with the edge"),
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=600)
    parser.add_argument("--epsilon", type=float, default=2.0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = read_rows(RESULTS)
    numbers = (asked.epsilon, asked.runs)
    known = {row["method"] for row in rows if (row["epsilon"], row["runs"]) == numbers}
    for name in METHODS:
        if name in known:
            continue
        row = row_of(name, *numbers)
        rows.append(row)
        print(json.dumps(row), flush=True)
        write_rows(RESULTS, rows)
    above = [row for row in rows if row["claimed"] is not None and row["bound"] > row["claimed"]]
    if above:
        raise SystemExit(f"above their claim: {[row['method'] for row in above]}")


if __name__ == "__main__":
    main()
