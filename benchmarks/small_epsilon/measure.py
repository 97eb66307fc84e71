"""Noise at small epsilon: `degree-triangle-model` beside the other methods with an epsilon.

    python benchmarks/small_epsilon/measure.py --data FOLDER [--releases 5] [--networks NAME ...]
        [--methods NAME ...] [--epsilons 0.5 1 2]

A row is written as soon as it is measured, to ``results/releases.parquet``, and a run that was
stopped goes on where it was: first the first release of every point, then the second. What is known
of a release is counted here from its data. ``tables.py`` prints the tables.

Releases are drawn with a seed that follows from the row's key, so that a row can be made again; a
seeded run claims nothing. ``TUNED`` are the networks on which the method was tuned.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv
from graphveil.evaluate.metrics.communities import median_run, modularities
from graphveil.evaluate.metrics.structure import average_clustering

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1]), str(HERE.parents[1] / "top_m_filter")]
from communities import degree_communities  # noqa: E402  of this folder
from networks import read  # noqa: E402  of the folder beside this one
from run import method_of, seed_of, statistics  # noqa: E402  as above

from raw_rows import append_rows, read_rows  # noqa: E402  as above

RESULTS = HERE.parent / "results" / "releases.parquet"
TUNED = ("polblogs", "privgraph-Chameleon", "as20graph")
OTHERS = ("ca-GrQc", "wiki-Vote", "polbooks")
METHODS = (
    "degree-triangle-model",
    "degree-prior-response",
    "mixing-prior-response",
    "dp-1k",
    "asymmetric-response",
    "top-m-filter independent",
)
PEER = "degree communities"


def counted(graph: gv.Graph) -> dict[str, Any]:
    """Return what is compared: the statistics of eleven metrics, clustering and modularity."""
    runs = modularities(graph, np.random.default_rng(1))
    return statistics(graph) | {
        "edges": graph.n_edges,
        "average_clustering": average_clustering(graph),
        "modularity": median_run(runs).value,
    }


def measured(graph: gv.Graph, method: str, epsilon: float, seed: int) -> dict[str, Any]:
    """Return the row of one release."""
    busy = time.process_time()
    if method == PEER:
        data = degree_communities(graph, epsilon, np.random.default_rng(seed))
    else:
        data = method_of(method, epsilon).anonymize(graph, seed=seed).data
    busy = time.process_time() - busy
    point = {"method": method, "epsilon": epsilon, "seed": seed, "cpu_seconds": busy}
    return point | counted(data)


def main() -> None:
    """Measure every point that was asked for and is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--networks", nargs="*", default=[*TUNED, *OTHERS])
    parser.add_argument("--methods", nargs="*", default=[*METHODS, PEER])
    parser.add_argument("--epsilons", nargs="*", type=float, default=[1.0, 2.0, 0.5])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    done = {row["key"] for row in read_rows(RESULTS)}
    graphs = {name: read(name, asked.data) for name in asked.networks}
    for name, graph in graphs.items():
        if name not in done:
            append_rows(RESULTS, {"key": name, "network": name} | counted(graph))
    every = product(range(asked.releases), asked.networks, asked.epsilons, asked.methods)
    for number, name, epsilon, method in every:
        key = f"{name}/{method}/{epsilon}/{number}"
        if key not in done:
            row = measured(graphs[name], method, epsilon, seed_of(key))
            append_rows(RESULTS, {"key": key, "network": name} | row)


if __name__ == "__main__":
    main()
