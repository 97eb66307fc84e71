"""What `generalize` keeps of tables beside methods that publish a value or nothing.

    python benchmarks/generalize/run.py --data FOLDER [--levels FOLDER]
    python benchmarks/generalize/run.py --table

Every cell that a release publishes is scored here: a node loses what its levels say, ``*``
everything, and granularity is 1 less the mean. All methods are scored by the levels of
`generalize`. FOLDER holds ``bupa``, ``forestfires`` and ``adult-test``, on none of which the method
was made; ``--levels`` holds the hierarchies of ARX for adult, as ``age.csv`` and so on. Numbers
have the levels ``auto``. Seconds are CPU of the call, warm.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import graphveil as gv
from graphveil.methods.generalize.frames import ReadAgain
from graphveil.methods.generalize.recode import most_granular

sys.path.insert(0, str(Path(__file__).parents[1]))
from raw_rows import Row, read_rows, write_rows

ROWS = Path(__file__).resolve().parent / "results" / "runs.parquet"
BUPA = ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]
FIRES = ["x", "y", "month", "day", "ffmc", "dmc", "dc", "isi", "temp", "rh", "wind", "rain", "area"]
CENSUS = {
    "sex": 9,
    "age": 0,
    "race": 8,
    "marital-status": 5,
    "education": 3,
    "native-country": 13,
    "workclass": 1,
    "occupation": 6,
}
TEXT = {"month", "day", *CENSUS} - {"age"}
STRENGTHS = (5, 10)
SEEDS = (1, 2, 3)


def records(path: Path) -> list[list[str]]:
    """Return the lines of a file that have no missing value, but for a header."""
    with gzip.open(path, "rt") as lines:
        read = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    return [row for row in read if row and row[-1][:1].isdigit() and "?" not in row]


def columns_of(folder: Path, name: str) -> dict[str, list[str]]:
    """Return a table's known columns as text."""
    [path] = (folder / name).glob("*.gz")
    if name == "adult-test":
        with gzip.open(path, "rt") as lines:
            read = [[cell.strip() for cell in row] for row in csv.reader(lines)]
        rows = [row for row in read if len(row) == 15 and row[0].isdigit() and "?" not in row]
        return {column: [row[at] for row in rows] for column, at in CENSUS.items()}
    names = BUPA if name == "bupa" else FIRES
    rows = records(path)
    return {column: [row[at] for row in rows] for at, column in enumerate(names)}


def measured(columns: dict[str, list[str]], levels: dict[str, str], name: str, k: int) -> Row:
    """Return what a method keeps: the mean over seeds, counted from what it publishes."""
    table = gv.Table.from_columns(columns, exact=True, person="row")
    given = {"levels": levels} if name == "generalize" else {}
    method = gv.methods.METHODS[name](k=k, **given)
    again = ReadAgain(table.to_arrow(), list(columns), levels, {})
    kept, exact, smallest, seconds = [], [], [], []
    method.anonymize(table, seed=0)
    for seed in SEEDS:
        started = time.process_time()
        release = method.anonymize(table, seed=seed)
        seconds.append(time.process_time() - started)
        shown = release.data.to_arrow().to_pydict()
        losses = [
            again.losses(column)["*" if cell is None else str(cell)]
            for column, cells in shown.items()
            for cell in cells
        ]
        kept.append(1 - float(np.mean(losses)))
        exact.append(float(np.mean(np.array(losses) == 0)))
        smallest.append(min(Counter(zip(*shown.values(), strict=True)).values()))
    leaves = np.stack([column.leaves for column in again.columns.values()], axis=1)
    hierarchies = [column.hierarchy for column in again.columns.values()]
    rng = np.random.Generator(np.random.PCG64(0))
    return {
        "rows": table.n_rows,
        "columns": len(columns),
        "granularity": float(np.mean(kept)),
        "exact": float(np.mean(exact)),
        "smallest": min(smallest),
        "most": most_granular(leaves, hierarchies, k=k, rng=rng),
        "seconds": float(np.mean(seconds)),
    }


def run(folder: Path, hierarchies: Path | None) -> None:
    """Measure every table, method and strength."""
    rows: list[Row] = []
    for name in ("bupa", "forestfires", *(["adult-test"] if hierarchies else [])):
        columns = columns_of(folder, name)
        levels = {column: "auto" for column in columns if column not in TEXT}
        if name == "adult-test" and hierarchies is not None:
            levels = {column: str(hierarchies / f"{column}.csv") for column in columns}
        for k in STRENGTHS:
            for method in ("generalize", "suppress-k", "mondrian"):
                key = {"table": name, "k": k, "method": method}
                rows.append(key | measured(columns, levels, method, k))
                print(rows[-1], flush=True)
                write_rows(ROWS, rows)


def table() -> None:
    """Print the rows as a table."""
    print("| table | rows x columns | k | method | granularity | at most | exact cells | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for row in read_rows(ROWS):
        most = "-" if row["most"] is None else f"{row['most']:.4f}"
        print(
            f"| {row['table']} | {row['rows']:,} x {row['columns']} | {row['k']} | {row['method']} "
            f"| {row['granularity']:.4f} | {most} | {row['exact']:.3f} | {row['seconds']:.2f} |"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--levels", type=Path)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    table() if given.table else run(given.data, given.levels)
