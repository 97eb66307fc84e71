"""The tables of *Smooth Anonymity for Sparse Graphs*: the paper's column and ours.

    python benchmarks/smooth_anonymity/report.py

Reads the raw rows that `run.py` wrote. Data sets whose paper column stands in brackets are not
the paper's: its app data is a sample that the paper does not describe, its web graph is another.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows

RESULTS = Path(__file__).parent / "results"

PAPER = {
    ("adult", "mondrian (first)"): "59.9/40.1/0",
    ("adult", "suppress (published, cut)"): "64.8/35.2/0",
    ("adult", "smooth (published)"): "85.0/8.9/7.2",
    ("stochastic", "mondrian (first)"): "2.2/97.8/0",
    ("stochastic", "suppress (published, cut)"): "16.4/83.6/0",
    ("stochastic", "smooth (published)"): "68.1/17.7/21.0",
    ("playstore", "mondrian (first)"): "(51.2/48.8/0)",
    ("playstore", "suppress (published, cut)"): "(39.2/60.8/0)",
    ("playstore", "smooth (published)"): "(66.1/26.2/11.6)",
    ("web-notredame", "suppress (published, cut)"): "(48.0/52.0/0)",
    ("web-notredame", "smooth (published)"): "(52.6/46.1/2.4)",
}
"""Tables 1 and 3: Jaccard, suppressed, created in per cent."""


def rows_of(part: str) -> list[dict[str, Any]]:
    """Return the raw rows of a part, without the warm-up's; none where it was not run."""
    rows = [row for row in read_rows(RESULTS / f"{part}.parquet") if row["key"] != "warm-up"]
    return [row | {"parts": row["key"].split("/")[:-1]} for row in rows]


def grouped(rows: list[dict[str, Any]]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Return the rows that differ in the seed alone."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[tuple(row["parts"])].append(row)
    return groups


def mean(rows: list[dict[str, Any]], name: str) -> float:
    """Return the mean of one column."""
    return statistics.fmean(row[name] for row in rows)


def deviation(rows: list[dict[str, Any]], name: str) -> float:
    """Return the standard deviation of one column; 0 for one row."""
    return statistics.stdev(row[name] for row in rows) if len(rows) > 1 else 0.0


def table_3() -> None:
    """Print Jaccard, suppressed and created at k=8, in per cent."""
    print("Tables 1 and 3, k=8: Jaccard/suppressed/created in %, sd of Jaccard, CPU seconds")
    for (name, variant), rows in grouped(rows_of("methods")).items():
        shares = [100 * mean(rows, column) for column in ("jaccard", "suppressed", "created")]
        ours = "/".join(f"{share:.1f}" for share in shares)
        print(
            f"{name:14} {variant:28} {PAPER.get((name, variant), '-'):>18} {ours:>16} "
            f"± {100 * deviation(rows, 'jaccard'):.2f} {mean(rows, 'cpu_seconds'):8.1f} s"
        )


def figures_3_and_5() -> None:
    """Print Jaccard by k, in per cent."""
    print("\nFigures 3 and 5: Jaccard in % by k")
    groups = grouped(rows_of("by-k"))
    ks = sorted({int(key[2]) for key in groups})
    print(f"{'':14} {'':20} " + " ".join(f"{k:>6}" for k in ks))
    for name, variant in dict.fromkeys(key[:2] for key in groups):
        cells = [groups.get((name, variant, str(k)), []) for k in ks]
        shown = [f"{100 * mean(rows, 'jaccard'):6.1f}" if rows else "     -" for rows in cells]
        print(f"{name:14} {variant:20} " + " ".join(shown))


def chunks() -> None:
    """Print what chunks cost and how fast they run."""
    print("\nChunks, k=8: Jaccard in %, rows a CPU second")
    for (name, algorithm, _), rows in grouped(rows_of("chunks")).items():
        parameters = rows[0]["parameters"]
        pieces = parameters.get("chunk_rows", "whole"), parameters.get("order", "minhash")
        speed = rows[0]["users"] / mean(rows, "cpu_seconds")
        print(
            f"{name:14} {algorithm:10} {pieces[0]!s:>7} {pieces[1]:18} "
            f"{100 * mean(rows, 'jaccard'):5.1f} {speed:10,.0f}"
        )


def response() -> None:
    """Print the Jaccard of randomized response, and the epsilon that matches smooth k-anonymity."""
    groups = grouped(rows_of("response"))
    print("\nFigure 3 (c): Jaccard in % of randomized response, edge unit, by epsilon")
    for name in dict.fromkeys(key[0] for key in groups):
        curve = {
            float(key[1]): mean(rows, "jaccard") for key, rows in groups.items() if key[0] == name
        }
        print(f"{name:14} " + " ".join(f"{e:g}: {100 * j:.1f}" for e, j in sorted(curve.items())))
    print("\nFigure 6: the epsilon at which randomized response keeps as much as smooth (ours)")
    for (name, variant, k), rows in grouped(rows_of("by-k")).items():
        if variant == "smooth (ours)":
            epsilon = matching(groups, name, mean(rows, "jaccard"))
            print(f"{name:14} k={k:>3} epsilon {epsilon}")


def matching(groups: dict[tuple[str, ...], list[dict[str, Any]]], name: str, aim: float) -> str:
    """Return the epsilon whose Jaccard is this, between two that were measured."""
    curve = sorted(
        (mean(rows, "jaccard"), float(key[1])) for key, rows in groups.items() if key[0] == name
    )
    for (low, before), (high, after) in pairwise(curve):
        if low <= aim <= high:
            return f"{before + (after - before) * (aim - low) / (high - low):.2f}"
    return f"outside {curve[0][1]:g} to {curve[-1][1]:g}" if curve else "not measured"


def learning() -> None:
    """Print the accuracy on the original test data: mean and 95 % interval."""
    print("\nFigures 4 and 7: accuracy of the classifier, mean ± 1.96 sd / sqrt(runs)")
    for (_, name, k), rows in grouped(rows_of("learning")).items():
        half = 1.96 * deviation(rows, "accuracy") / len(rows) ** 0.5
        print(f"{name:40} k={k:>3} {mean(rows, 'accuracy'):.4f} ± {half:.4f}")


def main() -> None:
    """Print every table whose rows are there."""
    table_3()
    figures_3_and_5()
    chunks()
    response()
    learning()


if __name__ == "__main__":
    main()
