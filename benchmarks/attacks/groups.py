"""Whose group and node are found in releases by super-nodes, by a copy of the network.

    python benchmarks/attacks/groups.py --data FOLDER [--networks NAME ...]
    python benchmarks/attacks/groups.py --show

Releases are attacked by `group-assignment`, with nobody known, with 20 known people, and with a
copy in which 5% of the edges are wrong. The search was tuned on two networks: ``tuned`` says so.
Rows go to ``results/groups.parquet``; what stands there is not run again.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows, write_rows

RESULTS = Path(__file__).parent / "results" / "groups.parquet"
ATTACK = "group-assignment"
NETWORKS = {
    "primary school": "anonet/primaryschool.edges",
    "radoslaw": "anonet/out.radoslaw_email.edges",
    "polbooks": "polbooks/edges.tsv.gz",
    "innovation": "anonet/out.moreno_innovation.edges",
    "copenhagen-calls": "anonet/calls.edges",
    "polblogs": "polblogs/edges.tsv.gz",
}
TUNED = ("primary school", "radoslaw")
SECONDS = 60.0
"""How long an attack may take."""
MOST_SEEDS = 5
RELEASES = (
    *((k, "avoid", MOST_SEEDS) for k in (2, 5)),
    (20, "avoid", 2),
    *((k, "allow", 2) for k in (2, 5, 20)),
)
OTHERS = ((5, "avoid", 2),)
"""Strength, option, and number of releases."""
KEY = ("network", "k", "certain", "seed", "overlap", "known")


def settings() -> Iterator[dict[str, Any]]:
    """Yield releases and attackers: those of the dense network in full, which takes less time."""
    for network in NETWORKS:
        for k, certain, seeds in RELEASES if network == "primary school" else OTHERS:
            for seed in range(1, seeds + 1):
                for overlap, known in ((1.0, 0), (1.0, 20), (0.95, 0)):
                    if overlap == 1 or (seeds == MOST_SEEDS and k == 5):
                        values = (network, k, certain, seed, overlap, known)
                        yield dict(zip(KEY, values, strict=True))


def measured(graph: gv.Graph, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one row for each figure of one attack on one release."""
    release = gv.SuperNodes(k=asked["k"], certain=asked["certain"]).anonymize(
        graph, seed=asked["seed"]
    )
    began = time.process_time()
    rows = gv.attack_release(
        release,
        graph,
        attacks=[ATTACK],
        options={ATTACK: {"overlap": asked["overlap"], "known": asked["known"]}},
        seed=asked["seed"],
        seconds=SECONDS,
    )
    took = time.process_time() - began
    size = {"nodes": graph.n_nodes, "edges": graph.n_edges, "tuned": asked["network"] in TUNED}
    for row in rows:
        if row.value is not None:
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
            graphs[name] = gv.read_graph(
                given.data / NETWORKS[name], directed="symmetrize", ignore_weights=True
            )
        rows += measured(graphs[name], asked)
        write_rows(RESULTS, rows)
    show(rows)


if __name__ == "__main__":
    main()
