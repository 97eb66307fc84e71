"""How the cost of k-degree anonymity grows, as ratios measured in one run.

    python benchmarks/k_degree/speed.py [--quick]

Parts: the exact dynamic program on the degree histogram against sorting the sequence and against
the textbook's O(nk) program; the edge edits of a 10-million-edge Chung-Lu graph against building
its neighbor lists; and the whole way of such a graph (read, anonymize, write, verify) against
reading it. All times are warm, after a small run that compiles; raw rows go to
``results/speed.parquet``.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import graphveil as gv
from graphveil import io
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree.assignment import targets_per_node
from graphveil.methods.k_degree.kernels.paper import cheapest_raise_by_window
from graphveil.methods.k_degree.parity import settle_parity
from graphveil.methods.k_degree.realize import realize
from graphveil.methods.k_degree.sequence import optimal_plan, runs_of

sys.path.insert(0, str(Path(__file__).parents[1]))
from generators import chung_lu
from raw_rows import write_rows

Row = dict[str, object]


def seconds(work: Callable[[], object], *, repeat: int = 3) -> float:
    """Return the least time of a few calls."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def degrees_of(n: int) -> np.ndarray:
    """Return n Pareto degrees in random order."""
    rng = np.random.default_rng(0)
    return np.minimum(1 + rng.pareto(1.3, n) * 3, n // 100).astype(np.int64)


def anonymized(degrees: np.ndarray, k: int, edits: str) -> np.ndarray:
    """Return the anonymous sequence, from degrees to targets."""
    plan = optimal_plan(runs_of(degrees), k, edits=edits)
    plan = settle_parity(plan, k, degrees.size, edits=edits)
    keys = np.random.default_rng(1).permutation(degrees.size)
    return targets_per_node(degrees, plan, keys)


def against_the_textbook(n: int, k: int) -> Row:
    """Return the row of both exact programs on one sorted sequence."""
    degrees = -np.sort(-degrees_of(n))
    prefix = np.concatenate(([0], np.cumsum(degrees)))
    cost = np.empty(n + 1, dtype=np.int64)
    previous = np.zeros_like(cost)
    cheapest_raise_by_window(degrees, prefix, k, cost, previous)
    slow = seconds(lambda: cheapest_raise_by_window(degrees, prefix, k, cost, previous))
    plan = optimal_plan(runs_of(degrees), k, edits="add")
    if plan.cost != cost[-1]:
        raise SystemExit(f"the programs disagree: {plan.cost} and {cost[-1]}")
    fast = seconds(lambda: optimal_plan(runs_of(degrees), k, edits="add"))
    return {
        "part": "textbook",
        "n": n,
        "k": k,
        "textbook_seconds": slow,
        "histogram_seconds": fast,
        "ratio": slow / fast,
    }


def sequences(sizes: tuple[int, ...]) -> list[Row]:
    """Return the rows of the degree sequence: from degrees to a plan, and to targets."""
    rows: list[Row] = []
    anonymized(degrees_of(1000), 5, "add"), anonymized(degrees_of(1000), 5, "any")
    for n in sizes:
        degrees = degrees_of(n)
        sort = seconds(lambda d=degrees: np.sort(d))
        for edits in ("add", "any"):
            for k in (2, 10, 100):
                plan = seconds(lambda d=degrees, k=k, e=edits: optimal_plan(runs_of(d), k, edits=e))
                rows.append(
                    {
                        "part": "sequence",
                        "n": n,
                        "k": k,
                        "edits": edits,
                        "sort_seconds": sort,
                        "plan_seconds": plan,
                        "targets_seconds": seconds(
                            lambda d=degrees, k=k, e=edits: anonymized(d, k, e), repeat=1
                        ),
                    }
                )
    return rows


def realization(n: int) -> list[Row]:
    """Return the rows of the edge edits of a Chung-Lu graph."""
    source, target = chung_lu(n, mean_degree=10)
    small = Graph.assemble(*chung_lu(1000, mean_degree=6), n=1000)[0]
    rows: list[Row] = []

    def edited(graph: Graph, k: int, edits: str) -> object:
        return realize(
            (graph.indptr, graph.indices),
            k,
            edits=edits,
            target="exact",
            near=True,
            restarts=1,
            randomness=Randomness(seed=1),
        )

    build = seconds(lambda: Graph.assemble(source, target, n=n))
    graph = Graph.assemble(source, target, n=n)[0]
    for edits in ("add", "any"):
        edited(small, 5, edits)
        for k in (5, 50):
            started = time.perf_counter()
            found = edited(graph, k, edits)
            spent = time.perf_counter() - started
            count = len(found.added) + len(found.deleted)
            rows.append(
                {
                    "part": "realization",
                    "nodes": graph.n_nodes,
                    "edges": graph.n_edges,
                    "k": k,
                    "edits": edits,
                    "build_seconds": build,
                    "realize_seconds": spent,
                    "edit_count": count,
                    "lower_bound_for_targets": found.target_bound,
                    "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                }
            )
    return rows


def whole_way(n: int) -> list[Row]:
    """Return the rows of reading, anonymizing, writing and verifying one graph."""
    source, target = chung_lu(n, mean_degree=10.4)
    with tempfile.TemporaryDirectory() as place:
        path, nodes = Path(place) / "graph.csv", Path(place) / "nodes.csv"
        io.write(Graph.assemble(source, target, n=n)[0], path, ids_path=nodes)
        steps: dict[str, float] = {}

        def timed(step: str, work: Callable[[], object]) -> object:
            started = time.perf_counter()
            value = work()
            steps[step] = time.perf_counter() - started
            return value

        graph = timed("read", lambda: gv.read_graph(path, nodes=nodes))
        release = timed("anonymize", lambda: gv.KDegree(k=5, edits="add").anonymize(graph))
        folder = timed("write", lambda: release.write(Path(place) / "release"))
        verdict = timed("verify", lambda: gv.verify_release(folder, original=graph))
        if not verdict.ok:
            raise SystemExit("\n".join(verdict.lines()))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return [
            {
                "part": "whole way",
                "nodes": graph.n_nodes,
                "edges": graph.n_edges,
                "step": step,
                "seconds": spent,
                "over_reading": spent / steps["read"],
                "peak_mib_of_process": peak,
            }
            for step, spent in steps.items()
        ]


def main() -> None:
    """Run the parts, print the rows and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    scale = 10 if parser.parse_args().quick else 1
    warnings.simplefilter("ignore")
    rows = [
        against_the_textbook(1_000_000 // scale, 10),
        *sequences((1_000_000 // scale, 10_000_000 // scale)),
        *realization(2_000_000 // scale),
        *whole_way(2_000_000 // scale),
    ]
    if scale == 1:
        write_rows(Path(__file__).parent / "results" / "speed.parquet", rows)
    for row in rows:
        shown = (f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items())
        print("  ".join(shown))


if __name__ == "__main__":
    main()
