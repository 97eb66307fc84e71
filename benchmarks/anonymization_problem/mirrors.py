"""What `mirror`, and wearing down a last few after `cut`, change for full and partial goals.

    python benchmarks/anonymization_problem/mirrors.py --data FOLDER [--seeds 3] [--networks NAME]
    python benchmarks/anonymization_problem/mirrors.py --table

A row is one run of `auto`, ``before`` these two or ``now``. Before is the same code with both
switched off; with effort 4 it gets about the time of now, or more. Ties kept, people left and
clustering are counted here by SciPy from the released edges; nothing the method says of itself is
used. A row is
written as soon as it is measured, to ``results/mirrors.parquet``, and a run that was stopped goes
on where it was.

The constants were looked at on the networks of `TUNED`. The others were run once, at the end.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp

import graphveil as gv
from graphveil.methods.structural import run as runs
from graphveil.methods.structural import starts

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "mirrors.parquet"
TUNED = ("radoslaw", "primaryschool", "arenas", "polblogs")
FILES = {
    "radoslaw": "anonet/out.radoslaw_email.edges",
    "primaryschool": "anonet/primaryschool.edges",
    "arenas": "anonet/out.arenas-email.edges",
    "polblogs": "polblogs/edges.tsv.gz",
    "moreno-innovation": "anonet/out.moreno_innovation.edges",
    "polbooks": "polbooks/edges.tsv.gz",
    "chameleon": "privgraph-Chameleon/edges.tsv.gz",
    "maayan-faa": "anonet/out.maayan-faa.edges",
    "wiki-vote": "wiki-Vote/edges.tsv.gz",
}
CASES = (
    *product(("count",), (2, 5), ("full", "partial:0.95"), ("before", "now"), (1.0,)),
    *product(("count",), (2,), ("full", "partial:0.95"), ("before",), (4.0,)),
    *product(("vrq",), (2,), ("full",), ("before", "now"), (1.0,)),
)
LARGE = 50_000
"""Edges from which on only count is measured, at the usual effort."""


def read(name: str, folder: Path) -> gv.Graph:
    """Return a network; of plain edge lists nodes are 0 to the largest id."""
    path = folder / FILES[name]
    if path.suffix == ".gz":
        return gv.read_graph(path, directed="symmetrize")
    edges = np.loadtxt(path, dtype=np.int64)
    n = int(edges.max()) + 1
    return gv.Graph.from_edges(edges[:, 0], edges[:, 1], n=n, directed="symmetrize")


def counted(graph: gv.Graph) -> tuple[np.ndarray, np.ndarray, sp.csr_array]:
    """Return degrees and triangles, from the edges alone."""
    edges, n = graph.edges().astype(np.int64), graph.n_nodes
    ends = np.concatenate((edges, edges[:, ::-1]))
    joined = sp.csr_array((np.ones(len(ends), dtype=np.int64), ends.T), shape=(n, n))
    return joined.sum(1), (joined @ joined).multiply(joined).sum(1) // 2, joined


def left(graph: gv.Graph, measure: str, k: int) -> int:
    """Return how many nodes fewer than k look like: by counts, or by degrees around them."""
    degrees, triangles, joined = counted(graph)
    if measure == "count":
        seen = list(zip(degrees.tolist(), triangles.tolist(), strict=True))
    else:
        around = np.split(degrees[joined.indices], joined.indptr[1:-1])
        seen = [
            (int(own), *sorted(near.tolist())) for own, near in zip(degrees, around, strict=True)
        ]
    sizes: dict[tuple[int, ...], int] = defaultdict(int)
    for each in seen:
        sizes[each] += 1
    return sum(sizes[each] < k for each in seen)


def clustering(graph: gv.Graph) -> float:
    """Return the mean local clustering; 0 for nodes with fewer than two neighbors."""
    degrees, triangles, _ = counted(graph)
    pairs = degrees * (degrees - 1) / 2
    return float(np.mean(np.divide(triangles, pairs, out=np.zeros(len(pairs)), where=pairs > 0)))


def without_both() -> ExitStack:
    """Switch off what is measured: no mirrors, and nobody is worn down after cut."""
    chosen = runs._chosen  # noqa: SLF001  the choice as it was, without one name

    def as_before(task: Any, settings: Any) -> tuple[Any, ...]:
        return tuple(name for name in chosen(task, settings) if name != "mirror")

    stack = ExitStack()
    stack.enter_context(patch.object(runs, "_chosen", as_before))
    stack.enter_context(patch.object(starts, "WORN_DOWN", 0))
    return stack


def measured(
    graph: gv.Graph, measure: Any, k: int, goal: str, which: str, effort: float, seed: int
) -> dict[str, Any]:
    """Return the row of one run."""
    method = gv.StructuralAnonymity(measure=measure, k=k, goal=goal, effort=effort)
    with without_both() if which == "before" else ExitStack():
        busy = time.process_time()
        release = method.anonymize(graph, seed=seed)
        busy = time.process_time() - busy
    return {
        "measure": measure,
        "k": k,
        "goal": goal,
        "which": which,
        "effort": effort,
        "seed": seed,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "left_before": left(graph, measure, k),
        "left": left(release.data, measure, k),
        "kept": release.data.n_edges / graph.n_edges,
        "clustering_before": clustering(graph),
        "clustering": clustering(release.data),
        "cpu_seconds": busy,
    }


def todo(graph: gv.Graph, seeds: int) -> Iterator[tuple[Any, ...]]:
    """Yield the runs of a network."""
    for seed, case in product(range(1, seeds + 1), CASES):
        if graph.n_edges < LARGE or (case[0] == "count" and case[-1] == 1 and seed == 1):
            yield (*case, seed)


def table() -> None:
    """Print means over seeds: kept, clustering, seconds; marked where the goal was missed."""
    groups: dict[tuple[Any, ...], dict[str, list[dict[str, Any]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in read_rows(RESULTS):
        if "kept" in row:
            key = (row["network"], row["measure"], row["k"], row["goal"])
            groups[key][f"{row['which']} x{row['effort']:g}"].append(row)
    for key, ways in groups.items():
        for way, rows in ways.items():
            kept, close, cpu, alone = (
                np.mean([row[name] for row in rows])
                for name in ("kept", "clustering", "cpu_seconds", "left")
            )
            before = rows[0]["clustering_before"]
            print(
                *key,
                way,
                f"n={len(rows)} left {alone:.1f} kept {kept:.3f}",
                f"clustering {before:.2f} -> {close:.2f}, {cpu:.1f} s",
            )


def main() -> None:
    """Measure what is missing, or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--networks", nargs="*", default=[*FILES])
    parser.add_argument("--measures", nargs="*", default=["count", "vrq"])
    parser.add_argument("--goals", nargs="*", default=["full", "partial:0.95"])
    parser.add_argument("--k", nargs="*", type=int, default=[2, 5])
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    if arguments.table or arguments.data is None:
        table()
        return
    warnings.simplefilter("ignore")
    small = gv.datasets.load("copenhagen-calls")
    gv.precompile()
    for measure in ("count", "vrq"):
        measured(small, measure, 2, "full", "now", 1.0, 1)
    for name in arguments.networks:
        graph = read(name, arguments.data)
        for case in todo(graph, arguments.seeds):
            key = "/".join(map(str, (name, *case)))
            done = {row["key"] for row in read_rows(RESULTS)}
            measure, k, goal, *_ = case
            wanted = measure in arguments.measures and k in arguments.k
            if key not in done and wanted and goal in arguments.goals:
                append_rows(RESULTS, {"key": key, "network": name} | measured(graph, *case))


if __name__ == "__main__":
    main()
