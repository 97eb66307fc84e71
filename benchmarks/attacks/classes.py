"""What the classes of a table give away: statements, insiders, and runs of the method again.

    python benchmarks/attacks/classes.py --data FOLDER
    python benchmarks/attacks/classes.py --show

Five releases each, of the test part of SPECT heart (187 people, 23 columns of two values; in
FOLDER) and of the sample of adult that ships with the package; for what hidden cells say also of
2,000 people of the test part of adult, drawn once, with their income. A row is a figure of a
release; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import graphveil as gv

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from raw_rows import append_rows, read_rows  # noqa: E402

RESULTS = HERE / "results" / "classes.parquet"
SEEDS = range(1, 6)
COLUMNS = 23
CATEGORIES = (
    *("workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"),
    *("native-country", "income"),
)
ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
OF_CLASSES = ("singling-out", "insider")
OF_HIDDEN = ("minimality", "refinement")
SECRETS = ("income=>50K", "marital-status=Widowed")
CLASSES = [
    (name, {"k": k}) for name in ("suppress-k", "cluster-k", "mondrian") for k in (2, 3, 5, 10)
]
HIDING = [
    (name, {"k": k})
    for name in ("suppress-k", "cluster-k", "mondrian", "smooth-k")
    for k in (2, 5, 8)
]
HIDING += [("mondrian", {"k": k, "split": "balanced"}) for k in (2, 5, 8)]
AGAIN = [
    *(("adaptive", {"levels": level, "compatibility": "bipartite"}) for level in (2, 5, 20)),
    ("adaptive", {"levels": 5, "compatibility": "bipartite", "refine": "regular-search"}),
    *(("adaptive", {"levels": level, "compatibility": "auto"}) for level in (2, 5, 20)),
    ("adaptive", {"levels": 5, "compatibility": "symmetric"}),
    ("cluster-k", {"k": 5}),
]


def hearts(folder: Path) -> gv.Table:
    """Return the test part as a table."""
    packed = (folder / "spect-heart" / "SPECT.test.gz").read_bytes()
    text = gzip.decompress(packed).decode().split()
    lines = [line.split(",") for line in text if line[0].isdigit()]
    cells = np.array([line for line in lines if len(line) == COLUMNS], dtype=np.int32)
    columns = tuple(f"f{number}" for number in range(COLUMNS))
    return gv.Table(cells, columns, (["no", "yes"],) * COLUMNS)


def census(folder: Path) -> gv.Table:
    """Return people of the test part of adult, none of whom is in the sample of the package."""
    text = gzip.decompress((folder / "adult-test" / "adult-test.csv.gz").read_bytes()).decode()
    lines = [line.rstrip(".").split(", ") for line in text.splitlines()]
    people = [line for line in lines if len(line) == len(ADULT)]
    chosen = np.sort(np.random.default_rng(0).choice(len(people), 2_000, replace=False))
    cells = zip(*(people[person] for person in chosen.tolist()), strict=True)
    columns = dict(zip(ADULT, cells, strict=True))
    return gv.Table.from_columns({name: list(columns[name]) for name in CATEGORIES})


def measured(
    data: tuple[str, gv.Table],
    method: tuple[str, dict[str, Any]],
    attacks: tuple[str, ...],
    options: dict[str, dict[str, str]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the figures of one method under every seed."""
    (called, original), (name, parameters) = data, method
    for seed in SEEDS:
        release = gv.METHODS[name].from_parameters(parameters).anonymize(original, seed=seed)
        told = gv.attack_release(
            release, original=original, attacks=list(attacks), seed=seed, options=options
        )
        named = "".join(
            f"{secret}: " for some in (options or {}).values() for secret in some.values()
        )
        for row in told:
            yield {
                "data": called,
                "method": name,
                "parameters": parameters,
                "release_seed": seed,
                "attack": row.question,
                "part": f"{named}{row.part}",
                "value": row.value,
                "guess": row.guess,
            }


def show() -> None:
    """Print the mean over releases of every figure."""
    values = defaultdict(list)
    for row in read_rows(RESULTS):
        key = (row["data"], row["method"], str(row["parameters"]), row["part"])
        values[key].append((row["value"], row.get("guess") or 0.0))
    shown = (
        "true of one",
        "whole row",
        "hidden cells",
        "re-run",
        "cells with",
        "a value",
        *SECRETS,
    )
    for key, pairs in values.items():
        if key[3].startswith(shown):
            value, guess = np.mean(pairs, axis=0)
            print(f"| {' | '.join(key)} | {value:.3f} | {guess:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.data:
        done = {
            (row["data"], row["method"], str(row["parameters"]), row["attack"])
            for row in read_rows(RESULTS)
        }
        heart = ("heart", hearts(asked.data))
        adult = ("adult", gv.datasets.load("adult-sample"))
        plan = [(data, method, OF_CLASSES) for data in (heart, adult) for method in CLASSES]
        plan += [(heart, method, ("matching",)) for method in AGAIN]
        other = ("adult, test part", census(asked.data))
        plan += [(data, method, OF_HIDDEN) for data in (heart, adult, other) for method in HIDING]
        for data, method, attacks in plan:
            if (data[0], method[0], str(method[1]), attacks[0]) not in done:
                append_rows(RESULTS, *measured(data, method, attacks))
                for secret in SECRETS if data is other and attacks is OF_HIDDEN else ():
                    named = {"minimality": {"secret": secret}}
                    append_rows(RESULTS, *measured(data, method, ("minimality",), named))
    show()


if __name__ == "__main__":
    main()
