"""Edge privacy of the statistics that `degree-triangle-model` draws its graphs from, measured.

    python benchmarks/audit/degree_triangle.py [--runs 10000] [--ladders 100000] [--epsilons .5 2]

A graph and the same with one more edge are given to the method's own code, so many times each. What
comes out is told apart by the likelihood ratio of the four statistics, which no test can beat: its
threshold is chosen on half of the runs, the other half bounds epsilon from below, with a confidence
of 99.9 % (Clopper-Pearson). In `clique` the edge closes as many triangles as there can be; in
`paw`, of six nodes, it closes one and makes the first pair with two common neighbors.

The triangles alone, of one class, are drawn more often: with the rate that the floor of the ladder
allows, and, as a flaw, with their whole part of epsilon as the rate and no floor. The bound of the
flaw must be above that part, no other bound may be. A row is written as soon as it is there, to
``results/degree_triangle.parquet``; it ends with an error where a bound is not as it should be.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import graphveil as gv
from graphveil.core.randomness import Randomness
from graphveil.methods.noise import ladder as ladders
from graphveil.methods.noise import laws as laplace
from graphveil.methods.noise.ladder import Steps, ladder, rate_of
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells.noisy_statistics import edges_between
from graphveil.methods.random_graphs.degree_triangle import SHARES
from graphveil.methods.random_graphs.triangle_statistics import (
    Statistics,
    noisy_statistics,
    triangles_and_steps,
)

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows, write_rows

RESULTS = Path(__file__).parent / "results" / "degree_triangle.parquet"
ERROR = 2.5e-4
"""Of each side of each of two bounds: 99.9 % together."""


def pairs_of_graphs() -> dict[str, tuple[gv.Graph, gv.Graph]]:
    """Return each graph, without and with the edge 0-1."""
    source, target = np.triu_indices(12, k=1)
    paw = ([0, 1, 2, 1], [2, 2, 3, 3])
    graphs = {}
    for name, (u, v), n in (("clique", (source[1:], target[1:]), 12), ("paw", paw, 6)):
        without = gv.Graph.from_edges(np.asarray(u), np.asarray(v), n=n)
        graphs[name] = (without, gv.Graph.from_edges([0, *u], [1, *v], n=n))
    return graphs


@cache
def log_constant(first: int, most: int, counts: int, rate: Fraction) -> float:
    """Return the logarithm of the sum over all vectors of e^(-rate steps)."""
    reached, total, term, step = 0, 0.0, 1.0, 0
    factor = math.exp(-rate)
    while True:
        inside = sum(2**i * math.comb(counts, i) * math.comb(reached, i) for i in range(counts + 1))
        term = factor**step * inside
        total += term
        if step > 10 and term < 1e-13 * total:
            return math.log((1 - factor) * total)
        reached += min(first + step, most)
        step += 1


def log_of_triangles(
    noisy: Sequence[int], true: Sequence[int], steps: Steps, rate: Fraction
) -> float:
    """Return the logarithm of the chance of these noisy triangles."""
    distance, reached, step = int(np.abs(np.subtract(noisy, true)).sum()), 0, 0
    while reached < distance:
        reached += min(steps.first + step, steps.most)
        step += 1
    return -float(rate) * step - log_constant(steps.first, steps.most, len(true), rate)


def log_chance(seen: Statistics, graph: gv.Graph, parts: dict[str, Fraction]) -> float:
    """Return the logarithm of the chance of the statistics, but for what no graph changes."""
    cells = graph.n_nodes * (graph.n_nodes - 1) // 2
    q = math.exp(-parts["epsilon_count"])
    off = abs(seen.edges - graph.n_edges)
    count = off * math.log(q) - (math.log1p(-q) if seen.edges in (1, cells - 1) else 0.0)
    degrees = -float(parts["epsilon_degrees"]) / 2 * np.abs(seen.degrees - graph.degrees()).sum()
    mixing = np.abs(seen.mixing - edges_between(graph, seen.groups.of_node, seen.groups.least.size))
    true, steps = triangles_and_steps(graph, seen.classes, seen.floor)
    return (
        count
        + degrees
        - float(parts["epsilon_mixing"]) * np.triu(mixing).sum()
        + log_of_triangles(seen.triangles, true, steps, seen.rate)
    )


def all_statistics(epsilon: Fraction, graphs: tuple[gv.Graph, gv.Graph], run: int) -> list[float]:
    """Return the likelihood ratio, with over without, of one draw from each graph."""
    parts = {name: share * epsilon for name, share in SHARES.items()}
    seen = [
        noisy_statistics(graph, Randomness(seed=2 * run + which), parts)
        for which, graph in enumerate(graphs)
    ]
    return [log_chance(s, graphs[1], parts) - log_chance(s, graphs[0], parts) for s in seen]


def triangles_alone(
    rate: Fraction, floor: int, graphs: tuple[gv.Graph, gv.Graph], run: int
) -> list[float]:
    """Return that of the triangles alone, in one class, above a floor, at a rate."""
    ladders = [(np.array([triangles_of(graph)]), steps_above(floor, graph)) for graph in graphs]
    ratios = []
    for which, (true, steps) in enumerate(ladders):
        words = words_from(Randomness(seed=2 * run + which), "triangles alone")
        noisy = ladder(words, true, steps, rate)
        without, with_edge = (log_of_triangles(noisy, t, s, rate) for t, s in ladders)
        ratios.append(with_edge - without)
    return ratios


def above_the_floor(epsilon: Fraction, graphs: tuple[gv.Graph, gv.Graph], run: int) -> list[float]:
    """Return that of the triangles alone at the rate that the highest floor here allows."""
    floor = graphs[0].n_nodes - 2
    return triangles_alone(rate_of(epsilon, 1, floor), floor, graphs, run)


def ladder_for_nothing(
    epsilon: Fraction, graphs: tuple[gv.Graph, gv.Graph], run: int
) -> list[float]:
    """Return that of the flaw: no floor, and the whole part of epsilon as the rate."""
    return triangles_alone(epsilon, 0, graphs, run)


def matrix_of(graph: gv.Graph) -> np.ndarray:
    """Return the adjacency matrix."""
    matrix = np.zeros((graph.n_nodes, graph.n_nodes), dtype=np.int64)
    for u, v in graph.edges().tolist():
        matrix[u, v] = matrix[v, u] = 1
    return matrix


def triangles_of(graph: gv.Graph) -> int:
    """Return how many triangles there are."""
    return int(np.trace(np.linalg.matrix_power(matrix_of(graph), 3))) // 6


def steps_above(floor: int, graph: gv.Graph) -> Steps:
    """Return the ladder whose first step is what two nodes share, or the floor."""
    shared = matrix_of(graph) @ matrix_of(graph)
    np.fill_diagonal(shared, 0)
    return Steps(first=max(int(shared.max()), floor), most=graph.n_nodes - 2)


def bound_of(without: np.ndarray, with_edge: np.ndarray) -> float:
    """Return the lower bound that these likelihood ratios give, by a threshold of half."""
    half = without.size // 2
    best = 0.0
    for low, high in ((without, with_edge), (-with_edge, -without)):
        cuts = np.unique(np.quantile(high[:half], np.linspace(0.001, 0.999, 400)))
        found = [_bound(low[:half] >= cut, high[:half] >= cut) for cut in cuts]
        cut = cuts[int(np.argmax(found))]
        best = max(best, _bound(low[half:] >= cut, high[half:] >= cut))
    return best


def _bound(rare: np.ndarray, common: np.ndarray) -> float:
    n, few, many = rare.size, int(rare.sum()), int(common.sum())
    high = stats.beta.isf(ERROR, few + 1, n - few) if few < n else 1.0
    low = stats.beta.ppf(ERROR, many, n - many + 1) if many else 0.0
    return math.log(low / high) if low else -math.inf


MECHANISMS: dict[str, Callable[..., list[float]]] = {
    "degree-triangle-model": all_statistics,
    "triangles alone": above_the_floor,
    "flaw: ladder for nothing": ladder_for_nothing,
}
PLAN = (
    ("degree-triangle-model", "clique"),
    ("degree-triangle-model", "paw"),
    ("triangles alone", "clique"),
    ("flaw: ladder for nothing", "paw"),
)


def row_of(name: str, graphs: str, epsilon: str, runs: int) -> dict[str, Any]:
    """Return what so many runs on each of two graphs show."""
    started = time.process_time()
    pair, exact = pairs_of_graphs()[graphs], Fraction(epsilon)
    ratios = np.array([MECHANISMS[name](exact, pair, run) for run in range(runs)])
    bound = bound_of(ratios[:, 0], ratios[:, 1])
    return {
        "mechanism": name,
        "graphs": graphs,
        "epsilon": epsilon,
        "runs": runs,
        "lower_bound": bound,
        "largest_ratio": float(np.abs(ratios).max()),
        "as_expected": (bound > float(exact)) == name.startswith("flaw"),
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def main() -> None:
    """Run what has no row yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--ladders", type=int, default=100_000)
    parser.add_argument("--epsilons", nargs="+", default=["0.5", "2"])
    asked = parser.parse_args()
    laplace.geometric_law = cache(laplace.geometric_law)
    ladders.ladder_law = cache(ladders.ladder_law)
    rows = read_rows(RESULTS)
    known = {(r["mechanism"], r["graphs"], r["epsilon"], r["runs"]) for r in rows}
    for epsilon in asked.epsilons:
        for name, graphs in PLAN:
            runs = asked.runs if name == PLAN[0][0] else asked.ladders
            if (name, graphs, epsilon, runs) in known:
                continue
            row = row_of(name, graphs, epsilon, runs)
            rows.append(row)
            print(row, flush=True)
            write_rows(RESULTS, rows)
    wrong = [row for row in rows if not row["as_expected"]]
    if wrong:
        raise SystemExit(f"not as expected: {wrong}")


if __name__ == "__main__":
    main()
