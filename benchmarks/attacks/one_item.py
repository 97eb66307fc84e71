"""Which of two items is a person's: by releases of data with either, beside the release alone.

    python benchmarks/attacks/one_item.py [--only DATA]
    python benchmarks/attacks/one_item.py --show

`item-membership` as it stands, on the data and methods of ``membership.py``, on none of which it
was tuned. Of one game, *one of two items*, there are two figures: of the likelihood ratio, and of
the score of one release that the attack used to be. The other game, over pairs of different people,
is the one that it was measured in before. Rows go to ``results/one_item.parquet``; what stands
there is not run again.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from membership import DATA

from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "one_item.parquet"
SHADOWS = 24
PARTS = {
    "either": "one of two items",
    "at 1 %": "one of two items, found at 1 % false alarms",
    "one score": "one of two items, by one score of the release",
    "pairs": "one item of people inside",
    "pairs, left out": "one item of people left out",
}


def measured(data: str, method: str, parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the figures of one release."""
    made, original = gv.METHODS[method].from_parameters(parameters), DATA[data][0]()
    release = made.anonymize(original, seed=1)
    started = time.process_time()
    rows = gv.attack_release(
        release,
        original,
        attacks=["item-membership"],
        seed=1,
        options={"item-membership": {"shadows": SHADOWS}},
    )
    seconds = round(time.process_time() - started, 2)
    named = {"data": data, "method": method, "parameters": parameters, "attack_seconds": seconds}
    for row in rows:
        figures = {"value": row.value, "guess": row.guess, "low": row.low, "high": row.high}
        yield {**named, "part": row.part, "sample_size": row.sample_size} | {
            name: figure for name, figure in figures.items() if figure is not None
        }
    for row in rows.missing:
        yield {**named, "part": row.part or "", "not_measured": row.reason}


def show() -> None:
    """Print a line a release."""
    table: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in read_rows(RESULTS):
        given = ", ".join(f"{name}={value}" for name, value in row["parameters"].items())
        key = row["data"], f"{row['method']} {given}".rstrip()
        table.setdefault(key, {})[row["part"]] = row
    print("| release |", " | ".join(PARTS), "|")
    print("|---|", "---|" * len(PARTS), sep="")
    for (data, release), rows in table.items():
        cells = []
        for part in PARTS.values():
            row = rows.get(part)
            shown = "-" if row is None else _figure(row["value"])
            if row is not None and "low" in row and part == PARTS["either"]:
                shown += f" ({_figure(row['low'])} to {_figure(row['high'])})"
            cells.append(shown)
        print(f"| {data}, {release} |", " | ".join(cells), "|")


def _figure(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def main() -> None:
    """Run what is not there yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=list(DATA))
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    there = [(row["data"], row["method"], row["parameters"]) for row in read_rows(RESULTS)]
    for data, (_, methods) in DATA.items():
        if asked.show or asked.only not in {None, data}:
            continue
        for method, parameters in methods:
            if (data, method, parameters) not in there:
                append_rows(RESULTS, *measured(data, method, parameters))
    show()


if __name__ == "__main__":
    main()
