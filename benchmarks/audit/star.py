"""How many released edges are true of a star: what everybody's degrees give away.

    python benchmarks/audit/star.py

One person of 600 edges among 1,000 people, at epsilon 2, ten seeds. A pattern of many edges is
learned, no matter which of them takes part: differential privacy of one edge does not hide it.
The rows are kept in ``results/star.parquet``; pages quote means over seeds.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import graphveil as gv

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from raw_rows import write_rows  # noqa: E402  a script beside this folder

PEOPLE, EDGES, EPSILON, SEEDS = 1_000, 600, 2.0, range(1, 11)
METHODS = (
    "degree-prior-response",
    "mixing-prior-response",
    "dp-1k",
    "degree-triangle-model",
    "density-explore-reconstruct",
    "hrg-mcmc",
)


def main() -> None:
    """Release the star with each method and each seed, and keep what is true of the releases."""
    warnings.simplefilter("ignore", gv.GraphveilWarning)
    star = gv.Graph.from_edges([0] * EDGES, list(range(1, EDGES + 1)), n=PEOPLE)
    rows = []
    for name in METHODS:
        for seed in SEEDS:
            release = gv.METHODS[name](epsilon=EPSILON).anonymize(star, seed=seed)
            rows.append(
                {
                    "method": name,
                    "epsilon": EPSILON,
                    "people": PEOPLE,
                    "edges": EDGES,
                    "seed": seed,
                    "true": release.private.cost["edges_kept"],
                    "released": release.data.n_edges,
                }
            )
        last = [row["true"] / row["released"] for row in rows[-len(SEEDS) :]]
        print(f"{name:30} {sum(last) / len(last):.3f} {min(last):.3f} {max(last):.3f}", flush=True)
    write_rows(HERE / "results" / "star.parquet", rows)


if __name__ == "__main__":
    main()
