"""The tables of noise at small epsilon, counted from the raw rows.

    python benchmarks/small_epsilon/tables.py

The mean of ten metrics: statistics are averaged over the releases of a point before their error is
taken, as for the Top-m Filter. Closed wedges, mean clustering and modularity: the error of every
release, then the mean.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "top_m_filter")]
from measure import METHODS, OTHERS, PEER, RESULTS, TUNED  # noqa: E402  of this folder
from report import errors, table, ten  # noqa: E402  of the folder beside

from raw_rows import Row, read_rows  # noqa: E402  as above

EVERY = (*METHODS, PEER)
SINGLE = ("transitivity", "average_clustering", "modularity")


def points() -> tuple[dict[str, Row], dict[tuple[str, float, str], list[Row]]]:
    """Return the originals, and the releases by network, epsilon and method."""
    originals, grouped = {}, defaultdict(list)
    for row in read_rows(RESULTS):
        if "method" in row:
            grouped[row["network"], row["epsilon"], row["method"]].append(row)
        else:
            originals[row["network"]] = row
    return originals, grouped


def relative(original: Row, releases: list[Row], name: str) -> float:
    """Return the mean relative error of a number over releases."""
    apart = [abs(row[name] - original[name]) / abs(original[name]) for row in releases]
    return float(np.mean(apart))


def cell(original: Row, releases: list[Row]) -> str:
    """Return the errors of a point: ten metrics, closed wedges, clustering, modularity."""
    single = (relative(original, releases, name) for name in SINGLE)
    return " ".join(
        f"{error:.3f}".lstrip("0") for error in (ten(errors(original, releases)), *single)
    )


def main() -> None:
    """Print a table for each epsilon, and the CPU seconds."""
    originals, grouped = points()
    for epsilon in (0.5, 1.0, 2.0):
        print(
            f"epsilon {epsilon:g}: ten metrics, closed wedges, clustering, modularity (releases)\n"
        )
        rows: list[list[Any]] = []
        for network in (*TUNED, *OTHERS):
            row = [network]
            for method in EVERY:
                releases = grouped.get((network, epsilon, method), [])
                shown = (
                    f"{cell(originals[network], releases)} ({len(releases)})" if releases else "-"
                )
                row.append(shown)
            rows.append(row)
        table(("network", *EVERY), rows)
    print("CPU seconds of a release, median over all epsilons:\n")
    rows = []
    for network in (*TUNED, *OTHERS):
        seconds = [
            [
                row["cpu_seconds"]
                for key, of in grouped.items()
                if key[::2] == (network, m)
                for row in of
            ]
            for m in EVERY
        ]
        rows.append([network, *(f"{np.median(s):.2f}" if s else "-" for s in seconds)])
    table(("network", *EVERY), rows)


if __name__ == "__main__":
    main()
