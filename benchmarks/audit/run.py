"""The audit of edge privacy at full length: more runs than the suite has time for.

    python benchmarks/audit/run.py [--runs 1500] [--epsilons .1 1 2]

``measured``: lower bounds on epsilon, of confidence 99.9 %, from releases of a graph of the size of
polbooks at a noisy count equal to the true one, by method; with the planted flaws that must be
caught, the printed threshold of the Top-m Filter and its picking of failed edges again.
``exhaustive``: the largest factor over all releases of all graphs on four nodes, exactly, for a
grid of epsilons; the cells' and the count's noise together.

The functions are those of the suite (``tests/privacy``). A row is written as soon as it is there,
to ``results/audit.parquet``; a run that was stopped goes on where it was. It ends with an error
where an honest method is above its epsilon, or a flaw is not found.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "privacy"))
from mechanisms import (
    PAIRS,
    M,
    asymmetric,
    filtered,
    lower_bound,
    picked_again,
    printed_threshold,
)

import graphveil as gv
from audit import below_exp, largest_factor
from graphveil.methods.noise.cells import channel, flipped
from graphveil.methods.noisy_cells.top_m_filter import thresholds_of

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import read_rows, write_rows

RESULTS = Path(__file__).parent / "results"
GRID = (*(f"{0.1 * k:.1f}" for k in range(1, 41)), "5", "7.3", "10", "20", "39")
Point = tuple[str, Callable[[], dict[str, Any]]]


def measured(epsilon: str, name: str, runs: int) -> dict[str, Any]:
    """Return the lower bound that releases give, and whether it is as it should be."""
    exact, ones = Fraction(epsilon), np.arange(M)
    even, filter_one = channel(Fraction(M, PAIRS), exact), thresholds_of(PAIRS, M, exact)
    draws: dict[str, Callable[[Any], Any]] = {
        "asymmetric-response": lambda w: flipped(w, ones, PAIRS, even)[0],
        "top-m-filter": lambda w: flipped(w, ones, PAIRS, filter_one)[0],
        "flaw: printed threshold": lambda w: picked_again(w, printed_threshold(float(exact))),
        "flaw: picked again": lambda w: picked_again(w, filter_one.one),
    }
    found = lower_bound(draws[name], ones, PAIRS, runs)
    caught = found > float(exact)
    return {"lower_bound": found, "runs": runs, "as_expected": caught == name.startswith("flaw")}


def exhaustive(epsilon: str, name: str) -> dict[str, Any]:
    """Return the largest factor over all releases of neighbors on four nodes, as its logarithm."""
    if name == "asymmetric-response":
        worst = largest_factor(asymmetric(gv.AsymmetricResponse(epsilon=float(epsilon))))
    else:
        part = {"epsilon_count": float(Fraction(epsilon) / 20)}
        worst = largest_factor(filtered(gv.TopMFilter(epsilon=float(epsilon), **part)))
    kept = worst is not None and worst <= below_exp(Fraction(epsilon))
    return {"largest": None if worst is None else math.log(worst), "as_expected": kept}


NAMES = (
    "asymmetric-response",
    "top-m-filter",
    "flaw: printed threshold",
    "flaw: picked again",
)


def points(epsilons: list[str], runs: int) -> Iterator[Point]:
    """Yield everything that is audited."""
    for epsilon in GRID:
        for name in NAMES[:2]:
            yield f"exhaustive/{name}/{epsilon}", partial(exhaustive, epsilon, name)
    for epsilon in epsilons:
        for name in NAMES:
            key = f"measured/{name}/{epsilon}/{runs}"
            yield key, partial(measured, epsilon, name, runs)


def main() -> None:
    """Audit what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1500)
    parser.add_argument("--epsilons", nargs="*", default=["0.1", "1", "2"])
    asked = parser.parse_args()
    path = RESULTS / "audit.parquet"
    rows = read_rows(path)
    done = {row["key"] for row in rows}
    for key, audited in points(asked.epsilons, asked.runs):
        if key not in done:
            started = time.process_time()
            row = {"key": key, "epsilon": key.split("/")[2], **audited()}
            row["cpu_seconds"] = time.process_time() - started
            rows.append(row)
            write_rows(path, rows)
    wrong = [row["key"] for row in rows if not row["as_expected"]]
    print(f"{len(rows)} rows, {len(wrong)} not as expected")
    for row in rows:
        print(row["key"], row.get("largest", row.get("lower_bound")))
    if wrong:
        raise SystemExit(f"not as expected: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
