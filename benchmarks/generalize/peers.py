"""What ANJANA keeps of adult with the hierarchies of ARX, at every limit of suppressed rows.

    pip install anjana==1.2.3    # in an environment of its own
    python benchmarks/generalize/peers.py --data adult.csv --levels FOLDER

Writes ``results/anjana.csv``: granularity by the definition of ``generalize``, rows left out
counted as lost.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
import pandas as pd

LIMITS = (0, 1, 5, 10, 15, 20, 30, 40)
OUT = Path(__file__).parent / "results" / "anjana.csv"


def hierarchies(folder: Path, columns: list[str]) -> dict[str, list[list[str]]]:
    """Return the lines of each column's hierarchy, each from a value to the root."""
    read = {}
    for column in columns:
        with (folder / f"adult_hierarchy_{column}.csv").open(newline="") as file:
            read[column] = list(csv.reader(file, delimiter=";"))
    return read


def granularity(rows: pd.DataFrame, lines: dict[str, list[list[str]]], size: int) -> float:
    """Return 1 less the mean loss of all cells of a table of so many rows."""
    lost = 0.0
    for column, listed in lines.items():
        leaves: dict[str, set[str]] = {"*": {line[0] for line in listed}}
        for line in listed:
            for node in line:
                leaves.setdefault(node, set()).add(line[0])
        losses = {node: (len(below) - 1) / (len(listed) - 1) for node, below in leaves.items()}
        lost += rows[column].map(losses).sum() + size - len(rows)
    return 1 - lost / (size * len(lines))


def main() -> None:
    """Run it at k=5 and 10."""
    from anjana.anonymity import k_anonymity  # noqa: PLC0415  in an environment of its own

    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True)
    asked.add_argument("--levels", type=Path, required=True)
    given = asked.parse_args()
    table = pd.read_csv(given.data, sep=";", dtype=str, keep_default_na=False)
    columns = [name for name in table.columns if name != "salary-class"]
    lines = hierarchies(given.levels, columns)
    levels = {
        name: {n: np.array([line[n] for line in listed]) for n in range(len(listed[0]))}
        for name, listed in lines.items()
    }
    with OUT.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["k", "limit_percent", "rows_kept", "granularity", "cpu_seconds"])
        for k in (5, 10):
            for limit in LIMITS:
                started = time.process_time()
                made = k_anonymity(table.copy(), [], columns, k, limit, levels)
                spent = time.process_time() - started
                kept = granularity(made, lines, len(table))
                rows.writerow([k, limit, len(made), f"{kept:.4f}", f"{spent:.1f}"])


if __name__ == "__main__":
    main()
