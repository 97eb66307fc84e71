"""CPU time and memory of every metric that is no heavy one, and of singling out, on large data.

A row a metric in `results/scale.parquet`: seconds of CPU on one thread, warm, and the largest
memory of the process until then. Figures that several metrics share are in the row of the first.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import graphveil as gv
from generators import chung_lu_graph
from graphveil.core.randomness import Randomness
from graphveil.evaluate import METRICS, BipartiteComparison, GraphComparison, TableComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures import singled_out
from raw_rows import append_rows

RESULTS = Path(__file__).parent / "results" / "scale.parquet"
rng = np.random.default_rng(1)


def ring(n: int, reach: int) -> gv.Graph:
    """Return a ring whose nodes are joined to the next ones: long paths, eigenvalues that meet."""
    source = np.tile(np.arange(n), reach)
    target = (source + np.repeat(np.arange(1, reach + 1), n)) % n
    return gv.Graph.assemble(source.astype(np.int32), target.astype(np.int32), n=n)[0]


def rewired(graph: gv.Graph, share: float) -> GraphComparison:
    """Return a graph beside a release under new ids, in which this share of edges is another."""
    n, edges = graph.n_nodes, graph.edges()
    kept = rng.random(len(edges)) > share
    extra = rng.integers(0, n, (2, int((~kept).sum())))
    extra = extra[:, extra[0] != extra[1]]
    position = rng.permutation(n)
    source, target = position[np.concatenate([edges[kept].T, extra], axis=1)].astype(np.int32)
    return GraphComparison(
        original=graph,
        released=gv.Graph.assemble(source, target, n=n)[0],
        position=position,
        randomness=Randomness(seed=1),
    )


def users(n: int, features: int, pairs: int) -> BipartiteComparison:
    """Return two draws of users by features, a few features far more frequent than others."""
    weights = np.cumsum((np.arange(features) + 3.0) ** -0.9)

    def draw() -> gv.Bipartite:
        chosen = np.searchsorted(weights, rng.random(pairs) * weights[-1])
        return gv.Bipartite.assemble(
            rng.integers(0, n, pairs), chosen, users=range(n), features=range(features)
        )[0]

    return BipartiteComparison(
        original=draw(), released=draw(), position=rng.permutation(n), randomness=Randomness(seed=1)
    )


def rows(n: int, columns: int, values: int) -> TableComparison:
    """Return two draws of a table, one cell of 21 suppressed."""
    names = np.array([f"v{value}" for value in range(values)], dtype="T")

    def draw() -> gv.Table:
        codes = rng.integers(-1, values, (n, columns)).astype(np.int32)
        return gv.Table(codes, tuple(f"c{column}" for column in range(columns)), (names,) * columns)

    return TableComparison(
        original=draw(), released=draw(), position=rng.permutation(n), randomness=Randomness(seed=1)
    )


DATA: dict[str, tuple[Callable[[int], Any], int]] = {
    "chung-lu": (lambda n: rewired(chung_lu_graph(n, mean_degree=22.0, seed=1), 0.05), 100_000),
    "ring": (lambda n: rewired(ring(n, 10), 1e-4), 100_000),
    "users": (lambda n: users(n, n // 5, 21 * n // 2), 100_000),
    "table": (lambda n: rows(n, 10, 20), 100_000),
}
"""How a comparison of n people is made, and the n of the rows: 10^6 edges, entries and cells."""


def timed(task: Callable[[], object]) -> dict[str, object]:
    start, reason = time.process_time(), None
    try:
        task()
    except NotMeasuredError as why:
        reason = str(why)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"cpu_s": round(seconds, 3), "peak_gib": round(peak, 3), "not_measured": reason}


def main(name: str) -> None:
    make, size = DATA[name]
    for n in (500, size):  # the first one loads libraries
        pair = make(n)
        done = []
        for metric in METRICS.values():
            if metric.kind is type(pair.original) and metric.cost != "heavy":
                figures = timed(lambda metric=metric: list(metric.compute(pair)))  # noqa: B023
                done.append({"metric": metric.name, "cost": metric.cost} | figures)
        if not isinstance(pair, GraphComparison):
            figures = timed(lambda: singled_out(pair.original, seed=1))  # noqa: B023
            done.append({"metric": "singled_out", "cost": "near-linear"} | figures)
    append_rows(RESULTS, *({"data": name, "people": size} | row for row in done))
    print(name, "seconds of CPU:", round(sum(row["cpu_s"] for row in done), 1))


if __name__ == "__main__":
    for chosen in sys.argv[1:] or DATA:
        main(chosen)
