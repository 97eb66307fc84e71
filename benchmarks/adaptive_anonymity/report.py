"""The raw rows as tables for a page: stars, chances of the own record, re-runs, growth.

python benchmarks/adaptive_anonymity/report.py > tables.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows

RESULTS = Path(__file__).parent / "results"
VARIANTS = (
    "k-anonymity (forest)",
    "k-anonymity (plain)",
    "k-anonymity (local search)",
    "symmetric",
    "bipartite",
    "bipartite, pruned",
    "bipartite, regular search",
)
NOT_RUN = "-"
Row = dict[str, Any]
FIGURES: dict[str, Callable[[Row], str]] = {
    "stars": lambda row: f"{row['stars']:,}",
    "largest chance of the own record / mean": lambda row: (
        f"{row['largest_chance']:.2f} / {row['mean_chance']:.2f}"
    ),
    "share of people matched by a re-run": lambda row: f"{row['rerun']:.2f}",
}


def rows_of(part: str) -> list[Row]:
    """Return the raw rows of a part; none where it was not run."""
    return read_rows(RESULTS / f"{part}.parquet")


def table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table of Markdown."""
    listed = list(columns)
    print("| " + " | ".join(listed) + " |")
    print("|" + "---|" * len(listed))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def by_level(part: str) -> None:
    """Print each figure by data set, level and variant."""
    cells = {(row["set"], row["level"], row["variant"]): row for row in rows_of(part)}
    variants = [one for one in VARIANTS if any(key[2] == one for key in cells)]
    points = sorted({key[:2] for key in cells})
    for title, shown in FIGURES.items():
        print(f"{title}:\n")
        table(
            ("data", "level", *variants),
            (
                (*point, *(shown(cells[key]) if key in cells else NOT_RUN for key in keys))
                for point in points
                for keys in [[(*point, variant) for variant in variants]]
            ),
        )


def by_seed() -> None:
    """Print the least, the middle and the most that several seeds gave."""
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows_of("seeds"):
        cells.setdefault((row["set"], row["variant"]), []).append(row)
    table(
        ("data", "variant", "seeds", "stars", "largest chance of the own record", "re-run"),
        (
            (
                *key,
                len(rows),
                _spread([row["stars"] for row in rows], ",.0f"),
                _spread([row["largest_chance"] for row in rows], ".2f"),
                _spread([row["rerun"] for row in rows], ".2f"),
            )
            for key, rows in cells.items()
        ),
    )


def _spread(values: list[float], form: str) -> str:
    points = (min(values), median(values), max(values))
    return " / ".join(f"{value:{form}}" for value in points)


def growth() -> None:
    """Print stars, time and memory in blocks of 128 rows."""
    print("blocks of 128 rows, 101 columns, level 10, two steps of the schedule, six iterations:\n")
    table(
        ("rows", "variant", "stars", "CPU seconds", "peak MiB"),
        (
            (f"{r['rows']:,}", r["variant"], f"{r['stars']:,}", f"{r['cpu_seconds']:.1f}", mib)
            for r in rows_of("scale")
            for mib in [r["peak_mib"]]
        ),
    )


if __name__ == "__main__":
    print("### Tables of the paper's figure 3 (a)\n")
    by_level("tables")
    print("### Levels that rise with ties, on a network that is drawn\n")
    by_level("friends")
    print("### Seeds, at level 5: least / median / most\n")
    by_seed()
    print("### Growth\n")
    growth()
