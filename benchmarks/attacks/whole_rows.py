"""Whose class is whose in released tables, for an attacker who knows whole rows.

    python benchmarks/attacks/whole_rows.py --data FOLDER [--only DATA]
    python benchmarks/attacks/whole_rows.py --show

`linkage` on tables: each person alone, and all people at once. It was tuned on ``adult-sample``,
which ships with graphveil, and on other people of adult; on none of the data here. The census is
2,000 people of the test part of adult, in eight columns, with age in addition where there are
levels, and income attached where a method takes it. Rows go to ``results/whole_rows.parquet``; what
stands there is not run again.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "whole_rows.parquet"
SEEDS = (1, 2, 3, 4, 5)
CENSUS, AGES = "census", "census with ages"
COLUMNS = {
    "age": 0,
    "workclass": 1,
    "education": 3,
    "marital-status": 5,
    "occupation": 6,
    "relationship": 7,
    "race": 8,
    "sex": 9,
    "native-country": 13,
    "income": 14,
}
OTHERS = {
    "bupa": "bupa/bupa.data.gz",
    "ecoli": "ecoli/ecoli.csv.gz",
    "hepatitis": "hepatitis/hepatitis.data.gz",
    "forestfires": "forestfires/forestfires.csv.gz",
    "heart": "spect-heart/SPECT.test.gz",
    "wine": "wine/wine.csv.gz",
}
HEADERS = ("bupa", "hepatitis", "heart")
"""The first line is no row."""
FEW_VALUES = 30
"""Columns of numbers with more values have levels `auto` where a method takes levels."""
PEOPLE = 2_000

Parameters = dict[str, Any]


@cache
def table_of(name: str, folder: Path, *, numbers: bool) -> gv.Table:
    """Return a table; numbers in thousandths, or as they are written."""
    if name in {CENSUS, AGES}:
        with gzip.open(folder / "adult-test" / "adult-test.csv.gz", "rt") as stream:
            rows = [
                [cell.strip(" .") for cell in row] for row in csv.reader(stream) if len(row) > 14
            ]
        chosen = np.sort(np.random.default_rng(0).choice(len(rows), PEOPLE, replace=False))
        columns = [column for column in COLUMNS if name == AGES or column != "age"]
        cells = {c: [rows[row][COLUMNS[c]] for row in chosen] for c in columns}
        return gv.Table.from_columns(
            {c: list(map(int, v)) if c == "age" else v for c, v in cells.items()}
        )
    with gzip.open(folder / OTHERS[name], "rt") as stream:
        rows = list(csv.reader(stream))[name in HEADERS :]
    width = max(map(len, rows))
    rows = [row for row in rows if len(row) == width]
    return gv.Table.from_columns(
        {
            f"c{place}": (_numbers if numbers else _texts)([row[place] for row in rows])
            for place in range(width)
        },
        person="row",
    )


def _texts(cells: list[str]) -> list[str]:
    return [f"={cell}" for cell in cells]  # no numbers, which some methods want in bins


def _numbers(cells: list[str]) -> list[Any]:
    try:
        numbers = [round(1_000 * float(cell)) for cell in cells]
    except ValueError:
        return cells
    return numbers if len(set(numbers)) > FEW_VALUES else _texts(cells)


def points() -> Iterator[tuple[str, str, Parameters]]:
    """Yield data, method and parameters."""
    known = [column for column in COLUMNS if column not in {"age", "income"}]
    others = {"known": known, "attach": "income"}
    for method in ("suppress-k", "smooth-k", "mondrian", "cluster-k"):
        for k in (5, 2, 20) if method == "cluster-k" else (5, 2, 8, 16):
            yield CENSUS, method, {"k": k, **others}
    ages = {"known": ["age", *known], "attach": "income", "levels": {"age": "5,10,20,40"}}
    for k in (5, 2, 20):
        yield CENSUS, "generalize", {"k": k, **others}
        yield AGES, "generalize", {"k": k, **ages}
    for name in OTHERS:
        for method in ("generalize", "suppress-k", "smooth-k", "mondrian", "cluster-k"):
            yield name, method, {"k": 5}


def measured(
    name: str, method: str, parameters: Parameters, seed: int, folder: Path
) -> list[dict[str, Any]]:
    """Return the figures of one release."""
    original = table_of(name, folder, numbers=method == "generalize")
    settings = dict(parameters)
    if method == "generalize" and name in OTHERS:
        levels = {
            column: "auto"
            for column, values in zip(original.columns, original.categories, strict=True)
            if values.dtype.kind not in "OTU"
        }
        settings |= {"levels": levels} if levels else {}
    if method not in {"generalize", "suppress-k"} and "attach" in settings:
        original = original.without([settings.pop("attach")])
        settings.pop("known")
    release = gv.METHODS[method](**settings).anonymize(original, seed=seed)
    started = time.process_time()
    rows = gv.attack_release(
        release, original, attacks=["linkage", "class-truth"], seed=seed, rerun=None
    )
    seconds = round(time.process_time() - started, 2)
    point = {"data": name, "method": method, "parameters": parameters, "seed": seed}
    return [
        {**point, "people": original.n_rows, "attack_seconds": seconds, "attack": row.question}
        | {"part": row.part, "value": row.value}
        | ({} if row.guess is None else {"guess": row.guess})
        for row in rows
    ]


def show() -> None:
    """Print a line for each point: the mean over releases, and a 95% interval of Student."""
    from scipy import stats  # noqa: PLC0415  only here

    table: dict[str, list[float]] = {}
    for row in read_rows(RESULTS):
        if "each person alone" in row["part"] or "all people at once" in row["part"]:
            k = row["parameters"]["k"]
            key = f"{row['data']} | {row['method']} k={k} | {row['part']} | {row.get('guess'):.3f}"
            table.setdefault(key, []).append(row["value"])
    for key, values in sorted(table.items()):
        half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values) if len(values) > 1 else 0.0
        print(f"{key} | {np.mean(values):.3f} +- {half:.3f} | {len(values)}")


def main() -> None:
    """Run what is not there yet, or print what is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    if asked.show:
        show()
        return
    warnings.simplefilter("ignore", gv.GraphveilWarning)
    there = {
        json.dumps([row["data"], row["method"], row["parameters"], row["seed"]])
        for row in read_rows(RESULTS)
    }
    for seed in SEEDS:
        for name, method, parameters in points():
            point = json.dumps([name, method, parameters, seed])
            if point not in there and asked.only in name:
                rows = measured(name, method, parameters, seed, asked.data)
                append_rows(RESULTS, *rows)
                print(name, method, parameters["k"], seed, len(rows), flush=True)


if __name__ == "__main__":
    main()
