"""What the classes of a table give away: statements, insiders, and runs of the method again.

    python benchmarks/attacks/classes.py --data FOLDER
    python benchmarks/attacks/classes.py --show

Five releases each, of the test part of SPECT heart (187 people, 23 columns of two values; in
FOLDER) and of the sample of adult that ships with the package. A row is a figure of a release; a
run that was stopped goes on where it was.
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
OF_CLASSES = ("singling-out", "insider")
CLASSES = [
    (name, {"k": k}) for name in ("suppress-k", "cluster-k", "mondrian") for k in (2, 3, 5, 10)
]
AGAIN = [
    *(("adaptive", {"levels": level}) for level in (2, 5, 20)),
    ("adaptive", {"levels": 5, "refine": "regular-search"}),
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


def measured(
    data: tuple[str, gv.Table], method: tuple[str, dict[str, Any]], attacks: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield the figures of one method under every seed."""
    (called, original), (name, parameters) = data, method
    for seed in SEEDS:
        release = gv.METHODS[name].from_parameters(parameters).anonymize(original, seed=seed)
        for row in gv.attack_release(release, original=original, attacks=list(attacks), seed=seed):
            yield {
                "data": called,
                "method": name,
                "parameters": parameters,
                "release_seed": seed,
                "attack": row.question,
                "part": row.part,
                "value": row.value,
                "guess": row.guess,
            }


def show() -> None:
    """Print the mean over releases of every figure."""
    values = defaultdict(list)
    for row in read_rows(RESULTS):
        key = (row["data"], row["method"], str(row["parameters"]), row["part"])
        values[key].append((row["value"], row.get("guess") or 0.0))
    shown = ("true of one", "whole row", "hidden cells", "re-run")
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
        for data, method, attacks in plan:
            if (data[0], method[0], str(method[1]), attacks[0]) not in done:
                append_rows(RESULTS, *measured(data, method, attacks))
    show()


if __name__ == "__main__":
    main()
