"""Whose group and node are found in releases by super-nodes, by a copy of the network.

    python benchmarks/attacks/groups.py --data FOLDER [--networks NAME ...]
    python benchmarks/attacks/groups.py --show

Releases are attacked by `group-assignment`, with nobody known and with 20 known people. The search
was tuned on three networks, and results on polbooks were seen before it had its last form: ``seen``
says so. A circle is the neighbors of the person with the most of them, of those with at most 200,
and the edges among them. Rows go to ``results/groups.parquet``; what stands there is not run again.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows, write_rows

RESULTS = Path(__file__).parent / "results" / "groups.parquet"
ATTACK = "group-assignment"
CIRCLE, MOST_FRIENDS = "circle in ", 200
NETWORKS = {
    "circle in ca-GrQc": "ca-GrQc/edges.tsv.gz",
    "circle in ca-AstroPh": "ca-AstroPh/edges.tsv.gz",
    "circle in email-Enron": "email-Enron/edges.tsv.gz",
    "circle in wiki-Vote": "wiki-Vote/edges.tsv.gz",
    "polbooks": "polbooks/edges.tsv.gz",
    "primary school": "anonet/primaryschool.edges",
    "radoslaw": "anonet/out.radoslaw_email.edges",
    "innovation": "anonet/out.moreno_innovation.edges",
}
TUNED = ("primary school", "radoslaw", "innovation")
SEEN = (*TUNED, "polbooks")
"""Networks on which results were seen before the search had its last form, tuned on or not."""
SECONDS = 20.0
"""How long an attack may take."""
SEEDS = range(1, 6)
FIGURES = ("right", "right group", "misfit")
KEY = ("network", "k", "seed", "known")


def settings() -> Iterator[dict[str, Any]]:
    """Yield releases and attackers."""
    for values in product(NETWORKS, (2, 5), SEEDS, (0, 20)):
        yield dict(zip(KEY, values, strict=True))


def network(name: str, folder: Path) -> gv.Graph:
    """Return a network, without directions and weights."""
    path = folder / NETWORKS[name]
    if not name.startswith(CIRCLE):
        return gv.read_graph(path, directed="symmetrize", ignore_weights=True)
    edges = np.loadtxt(path, dtype=np.int64)
    degrees = np.bincount(edges.ravel())
    person = np.argmax(np.where(degrees <= MOST_FRIENDS, degrees, 0))
    friends = np.setdiff1d(edges[(edges == person).any(axis=1)], person)
    among = edges[np.isin(edges, friends).all(axis=1)]
    people, ends = np.unique(among, return_inverse=True)
    return gv.Graph.from_edges(*ends.reshape(among.shape).T, n=people.size)


def measured(graph: gv.Graph, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one row for each figure of one attack on one release."""
    release = gv.SuperNodes(k=asked["k"]).anonymize(graph, seed=asked["seed"])
    began = time.process_time()
    rows = gv.attack_release(
        release,
        graph,
        attacks=[ATTACK],
        options={ATTACK: {"known": asked["known"]}},
        seed=asked["seed"],
        seconds=SECONDS,
    )
    took = time.process_time() - began
    size = {"nodes": graph.n_nodes, "edges": graph.n_edges, "seen": asked["network"] in SEEN}
    for row in rows:
        if row.figure in FIGURES:
            yield asked | size | {
                "figure": row.figure, "value": row.value, "guess": row.guess, "CPU seconds": took
            }  # fmt: skip


def show(rows: list[dict[str, Any]]) -> None:
    """Print the mean of each figure over releases, with its 95% interval by Student's t."""
    from scipy import stats  # noqa: PLC0415  only to print

    cells = defaultdict(list)
    for row in rows:
        at = *(row[name] for name in KEY if name != "seed"), row["figure"]
        cells[at].append((row["value"], row["guess"], row["CPU seconds"]))
    for at, some in cells.items():
        values = np.array([value for value, _, _ in some])
        half = stats.sem(values) * stats.t.ppf(0.975, values.size - 1) if values.size > 1 else 0
        guess = "-" if some[0][1] is None else f"{some[0][1]:.4f}"
        took = np.mean([seconds for _, _, seconds in some])
        print(*at, f"{values.mean():.4f} ± {half:.4f}", f"n={values.size}", guess, f"{took:.1f} s")


def main() -> None:
    """Run what is not there yet, and print the means."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = read_rows(RESULTS) if RESULTS.exists() else []
    done = {tuple(row[name] for name in KEY) for row in rows}
    graphs: dict[str, gv.Graph] = {}
    for asked in [] if given.show else settings():
        name = asked["network"]
        if tuple(asked.values()) in done or name not in given.networks:
            continue
        if name not in graphs:
            graphs[name] = network(name, given.data)
        rows += measured(graphs[name], asked)
        write_rows(RESULTS, rows)
    show(rows)


if __name__ == "__main__":
    main()
