"""From which noise on a whole copy of a network names people: the rule of the owner's warning.

    python benchmarks/attacks/noisy_copies.py --data FOLDER [NETWORK ...]

Releases of asymmetric and randomized response, attacked by `seeded-matching` with a whole copy,
with nobody known and with 20 known people. ``strength`` is what `graphveil.core.warnings`
computes; the owner is warned from `MATCHED_FROM` on, which was chosen on polbooks and on random
graphs (``random-NODESxTIES``) and looked at on the others. Networks above 1,300 nodes: the 800
nodes nearest to the one of largest degree. Rows go to ``results/noisy_copies.parquet``; what
stands there is not run again.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv
from graphveil.core.warnings import strength_of_ties
from graphveil.methods.noise.cells import channel

sys.path.append(str(Path(__file__).resolve().parents[1]))
from fractions import Fraction

from raw_rows import read_rows, write_rows

RESULTS = Path(__file__).parent / "results" / "noisy_copies.parquet"
FULL = 1 << 64
TUNED = ("polbooks", "random-600x8", "random-600x30", "random-900x16")
OTHERS = ("copenhagen-calls", "polblogs", "ca-GrQc")
GRID = {"asymmetric-response": (2.0, 3.0, 4.0, 5.0), "randomized-response": (2.0, 2.5, 3.0, 4.0)}
MOST_NODES, NEAREST, KNOWN = 1300, 800, 20


def network(name: str, data: Path) -> gv.Graph:
    """Return a network by its name, without ids."""
    if name.startswith("random-"):
        n, mean = map(int, name.removeprefix("random-").split("x"))
        rng = np.random.default_rng(n + mean)
        u, v = rng.integers(0, n, 4 * n * mean // 2), rng.integers(0, n, 4 * n * mean // 2)
        keys = np.unique(np.minimum(u, v)[u != v] * n + np.maximum(u, v)[u != v])
        keys = rng.permutation(keys)[: n * mean // 2]
        return gv.Graph.from_edges(keys // n, keys % n, n=n)
    if name == "copenhagen-calls":
        return gv.datasets.load(name)
    graph = gv.read_graph(data / name / "edges.tsv.gz", directed="symmetrize", ignore_weights=True)
    return nearest(graph) if graph.n_nodes > MOST_NODES else graph


def nearest(graph: gv.Graph) -> gv.Graph:
    """Return the subgraph of the nodes nearest to the one of largest degree."""
    order = [int(np.argmax(graph.degrees()))]
    seen = set(order)
    for node in order:
        for other in graph.neighbors(node).tolist():
            if other not in seen and len(order) < NEAREST:
                seen.add(other)
                order.append(other)
    return graph.part(np.array(sorted(order)))


def measured(graph: gv.Graph, name: str, method: str, epsilon: float) -> dict[str, Any]:
    """Return what a whole copy names of one release, and how strong its true ties are."""
    prior = Fraction(1, 2)
    cell = Fraction(repr(epsilon))
    pairs = graph.n_nodes * (graph.n_nodes - 1) // 2
    if method == "asymmetric-response":
        prior, cell = Fraction(graph.n_edges, pairs), cell - min(cell / 20, Fraction(1, 10))
    through = channel(prior, cell)
    chances = (through.zero / FULL, through.one / FULL)
    release = gv.METHODS[method](epsilon=epsilon).anonymize(graph)
    row: dict[str, Any] = {
        "network": name,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "method": method,
        "epsilon": epsilon,
        "strength": strength_of_ties(graph.n_nodes, graph.n_edges, chances),
    }
    began = time.process_time()
    for known in (0, KNOWN):
        options = {"seeded-matching": {"known": known, "overlap": 1.0, "draws": 1}}
        rows = gv.attack_release(
            release, graph, attacks=["seeded-matching"], options=options, seed=1
        )
        row[f"right, {known} known"] = next(r.value for r in rows if r.part.endswith(": right"))
    return row | {"CPU seconds": time.process_time() - began}


def main() -> None:
    """Run what is not there yet, and print every row by its strength."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("networks", nargs="*", default=[*TUNED, *OTHERS])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = read_rows(RESULTS)
    done = {(row["network"], row["method"], row["epsilon"]) for row in rows}
    for name in given.networks:
        graph = network(name, given.data)
        for method, epsilons in GRID.items():
            for epsilon in epsilons:
                if (name, method, epsilon) not in done:
                    rows.append(measured(graph, name, method, epsilon))
                    write_rows(RESULTS, rows)
    for row in sorted(rows, key=lambda row: row["strength"]):
        print(*(f"{v:.3g}" if isinstance(v, float) else v for v in row.values()))


if __name__ == "__main__":
    main()
