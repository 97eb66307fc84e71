"""structural with and without phi: who is left alone, to whom, and for how many edges.

    python benchmarks/fuzzy_anonymity/run.py --data FOLDER [--networks NAME ...]
    python benchmarks/fuzzy_anonymity/run.py --table

A row is a release by one of

    exact     the search for exact look-alikes, with the proposals that it makes by default: 50 an
              edge, at least 100,000
    longer    the same with ten times as many
    phi       the search for similar nodes, phi = 10 %
    unhalved  the same without half of phi: it counts who is unprotected at phi and exactly

for a budget, or (phi alone) for everybody. Weights and temperatures were tuned on the networks of
`TUNED`; those of `OTHERS` were not looked at before. On `EASY` ones exact search reaches everybody
within 5 % of the edges, and nothing is left to gain. Everything is counted again here from released
edges by code that shares nothing with the package: degrees and triangles from the adjacency matrix,
boxes over all pairs of nodes, and an adversary who hears each number multiplied by a random factor
in 1 -+ phi (20 draws).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest import mock

import numpy as np
from scipy.sparse import csr_array

import graphveil as gv
from graphveil.methods.annealing.task import NEARLY

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "anonymization_problem")]
from networks import NETWORKS, read  # noqa: E402  beside this folder

from raw_rows import append_rows, read_rows  # noqa: E402  as above

RAW = HERE / "results" / "uncertainty.parquet"
TUNED = ("Arenas email", "GRQC collab.", "Radoslaw emails", "DNC emails")
OTHERS = ("Primary school", "Moreno innov.")
EASY = ("Moreno health", "Air traffic control")
PHI = 10.0
DRAWS = 20
BLOCK = 512


def looks(graph: gv.Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the degree and the triangles of every node, from the adjacency matrix."""
    edges = graph.edges()
    ends = np.concatenate([edges, edges[:, ::-1]]).T
    n = graph.n_nodes
    links = csr_array((np.ones(ends.shape[1], dtype=np.int64), ends), shape=(n, n))
    degrees = np.asarray(links.sum(axis=1)).ravel()
    triangles = np.asarray((links @ links * links).sum(axis=1)).ravel() // 2
    return degrees, triangles


def in_boxes(degrees: np.ndarray, triangles: np.ndarray, phi: float) -> np.ndarray:
    """Return how many nodes are within phi percent of each, over all pairs of nodes."""
    part = round(1000 * phi)  # of 100,000: whole numbers below
    sizes = []
    for first in range(0, degrees.size, BLOCK):
        a, b = (each[first : first + BLOCK, None] for each in (degrees, triangles))
        near = np.abs(degrees - a) * 100_000 <= part * a
        near &= np.abs(triangles - b) * 100_000 <= part * b
        sizes.append(near.sum(axis=1))
    return np.concatenate(sizes)


def noisy(degrees: np.ndarray, triangles: np.ndarray, phi: float, k: int) -> float:
    """Return the share of nodes left with fewer than k candidates by who hears inexact numbers."""
    rng, share, few = np.random.default_rng(1), phi / 100, 0
    for _ in range(DRAWS):
        heard = [
            each * rng.uniform(1 - share, 1 + share, each.size) for each in (degrees, triangles)
        ]
        for first in range(0, degrees.size, BLOCK):
            a, b = (each[first : first + BLOCK, None] for each in heard)
            near = np.abs(a - degrees) <= share * degrees + 1e-9
            near &= np.abs(b - triangles) <= share * triangles + 1e-9
            few += int(np.count_nonzero(near.sum(axis=1) < k))
    return few / (DRAWS * degrees.size)


def figures(graph: gv.Graph, k: int) -> dict[str, float]:
    """Return what is left in a graph: at phi, exactly, and to who hears inexact numbers."""
    known = looks(graph)
    return {
        "left_phi": int(np.count_nonzero(in_boxes(*known, PHI) < k)),
        "left_exactly": int(np.count_nonzero(in_boxes(*known, 0) < k)),
        "noisy": noisy(*known, PHI, k),
    }


def released(graph: gv.Graph, variant: str, goal: str, k: int, seed: int) -> dict[str, Any]:
    """Return the row of a release."""
    steps = min(max(50 * graph.n_edges, 100_000), 5_000_000)
    chosen = {
        "exact": {"iterations": steps},
        "longer": {"iterations": 10 * steps},
        "phi": {"phi": PHI},
        "unhalved": {"phi": PHI},
    }[variant]
    method = gv.StructuralAnonymity(measure="count", k=k, goal=goal, heuristic="search", **chosen)
    weights = (0, NEARLY[1]) if variant == "unhalved" else NEARLY
    with mock.patch("graphveil.methods.annealing.task.NEARLY", weights):
        busy = time.process_time()
        release = method.anonymize(graph, seed=seed)
        cpu = time.process_time() - busy
    return figures(release.data, k) | {
        "edits": graph.n_edges - release.data.n_edges,
        "cpu_seconds": cpu,
    }


Run = tuple[str, str, int, int]


def todo(seeds: int) -> Iterator[tuple[Run, ...]]:
    """Yield variant, goal, k and seed of runs, those that matter most first."""
    for seed in range(1, seeds + 1):
        yield ("exact", "budget:0.05", 2, seed), ("phi", "budget:0.05", 2, seed)
    yield (("longer", "budget:0.05", 2, 1),)
    yield ("phi", "full", 2, 1), ("exact", "budget:0.01", 2, 1), ("phi", "budget:0.01", 2, 1)
    yield ("exact", "budget:0.05", 5, 1), ("phi", "budget:0.05", 5, 1)
    yield ("unhalved", "budget:0.05", 2, 1), ("unhalved", "budget:0.05", 2, 2)
    yield ("phi", "full", 5, 1), ("phi", "budget:0.0025", 2, 1), ("phi", "budget:0.0025", 5, 1)
    yield (("phi", "budget:0.01", 5, 1),)


def measure(data: Path, names: list[str], seeds: int) -> None:
    """Append the rows that are missing."""
    done = {row["key"] for row in read_rows(RAW)}
    small = gv.datasets.load("copenhagen-calls")
    for variant in ("exact", "phi"):
        for goal in ("budget:0.05", "full"):
            released(small, variant, goal, 2, 1)
    graphs = {item.name: read(item, data) for item in NETWORKS if item.name in names}
    inputs: Iterator[tuple[Run, ...]] = iter([(("input", "", 2, 0), ("input", "", 5, 0))])
    for runs in chain(inputs, todo(seeds)):
        for (name, graph), run in product(graphs.items(), runs):
            variant, goal, k, seed = run
            key = "/".join(map(str, (name, *run)))
            if key in done:
                continue
            row = {"key": key, "network": name, "nodes": graph.n_nodes, "edges": graph.n_edges}
            row |= {"variant": variant, "goal": goal, "k": k, "seed": seed}
            if variant == "input":
                row |= figures(graph, k) | {"edits": 0, "cpu_seconds": 0.0}
            else:
                row |= released(graph, *run)
            append_rows(RAW, row)


def table() -> None:
    """Print left at phi / left exactly / share that hearsay finds, in percent, and edits."""
    groups = defaultdict(list)
    for row in read_rows(RAW):
        groups[row["network"], row["k"], row["goal"], row["variant"]].append(row)
    print(
        "| network | k | goal | which | left at 10 % | left exactly | noisy, % | edits | CPU, s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for (network, k, goal, variant), rows in sorted(groups.items()):
        mean = {name: fmean(row[name] for row in rows) for name in ("left_phi", "left_exactly")}
        few = 100 * fmean(row["noisy"] for row in rows)
        edits, cpu = (fmean(row[name] for row in rows) for name in ("edits", "cpu_seconds"))
        print(
            f"| {network} | {k} | {goal} | {variant} | {mean['left_phi']:.1f} | "
            f"{mean['left_exactly']:.1f} | {few:.2f} | {edits:.0f} | {cpu:.1f} |"
        )
    for network in (*TUNED, *OTHERS, None):
        _ratios(groups, [network] if network else [*TUNED, *OTHERS])


def _ratios(groups: dict[Any, list[dict[str, Any]]], names: list[str]) -> None:
    """Print phi over exact at 5 % and k=2: means over networks of their means over seeds."""
    for against in ("exact", "longer"):
        ratios = []
        for name in names:
            one, other = (groups[name, 2, "budget:0.05", each] for each in ("phi", against))
            if not one or not other:
                return
            ratios.append(
                [
                    fmean(r[part] for r in one) / fmean(r[part] for r in other)
                    for part in ("noisy", "left_exactly", "cpu_seconds")
                ]
                + [fmean(1 - r["left_phi"] / r["nodes"] for r in one)]
            )
        few, exactly, cpu, share = np.mean(ratios, axis=0)
        label = names[0] if len(names) == 1 else "mean of all"
        print(
            f"{label}: phi over {against}: noisy {few:.2f}, exactly alone {exactly:.2f}, CPU "
            f"{cpu:.1f}; share protected at phi {share:.4f}"
        )


def main() -> None:
    """Measure what is missing, or print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path)
    parser.add_argument("--networks", nargs="*", default=[*TUNED, *OTHERS, *EASY])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.table:
        table()
    else:
        measure(arguments.data, arguments.networks, arguments.seeds)


if __name__ == "__main__":
    main()
