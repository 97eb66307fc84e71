"""Whether a strength that ``advise --until`` names keeps its bound at other draws, and is the last.

    python benchmarks/advise/until.py [--data FOLDER] [--only NAME]

Under each bound the strength of every method is searched. Then releases are made at that strength
with ten other seeds, and at the next strength beyond it: one that promises less where the bound is
on what is learned, one that promises more where it is on what is lost. The bound should hold at
the first and not at the second. The data ships with graphveil; FOLDER adds networks that nothing
here was tuned to. One row per release goes to ``results/until.parquet``.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graphveil as gv
from graphveil.core.bounds import Bound, read_bound
from graphveil.methods import METHODS
from graphveil.verbs.advise.until import FINE_EPSILONS

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from raw_rows import read_rows, write_rows  # noqa: E402

RESULTS = HERE / "results" / "until.parquet"
SEEDS = range(101, 111)
NETWORKS = ("kept >= 0.95", "false <= 0.05", "candidate-set: degree, right guess <= 0.05")
ROWS = ("kept >= 0.8", "linkage: 4 known, 0 false: own row <= 0.1")
SHIPPED = {"copenhagen-calls": NETWORKS, "spect-heart": ROWS, "adult-sample": ROWS[:1]}
FILES = {"polbooks": NETWORKS}
SECONDS = 60.0


def cases(folder: Path | None) -> Iterator[tuple[str, Any, str]]:
    """Yield name, data and bound."""
    for name, bounds in SHIPPED.items():
        yield from ((name, gv.datasets.load(name), bound) for bound in bounds)
    for name, bounds in FILES.items() if folder else ():
        data = gv.read_graph(folder / name / "edges.tsv.gz")
        yield from ((name, data, bound) for bound in bounds)


def beyond(parameters: dict[str, Any], *, private: bool) -> dict[str, Any] | None:
    """Return the next strength that should miss the bound; None where there is none."""
    for name in ("k", "levels"):
        if name in parameters:
            value = parameters[name] + (-1 if private else 1)
            return parameters | {name: value} if value >= 2 else None
    at = FINE_EPSILONS.index(parameters["epsilon"]) + (-1 if private else 1)
    return parameters | {"epsilon": FINE_EPSILONS[at]} if 0 <= at < len(FINE_EPSILONS) else None


def value_of(method: str, parameters: dict[str, Any], data: Any, bound: Bound, seed: int) -> Any:
    """Return the figure of a bound, counted on a release that is made here."""
    try:
        release = METHODS[method].from_parameters(parameters).anonymize(data, seed=seed)
    except gv.core.errors.GraphveilError:
        return None
    if bound.question in ("kept", "false"):
        question, part, lost = SHARES[bound.question, type(release.data).__name__]
        rows = gv.evaluate_release(release, data, seed=seed, metrics=[question])
    else:
        question, part, lost = bound.question, bound.part, False
        rows = gv.attack_release(release, data, attacks=[question], seed=seed)
    value = next((row.value for row in rows if row.part == part), None)
    return 1 - value if lost and value is not None else value


SHARES = {
    ("kept", "Graph"): ("edges-kept", "share", False),
    ("kept", "Bipartite"): ("entries-suppressed", "share", True),
    ("kept", "Table"): ("cells-shown", "all", False),
    ("false", "Graph"): ("edges-added", "share", False),
}
"""The metric that counts a share anew, its part, and whether it counts what is lost."""


def measured(name: str, data: Any, text: str) -> Iterator[dict[str, Any]]:
    """Yield one row per release, for every method that meets the bound."""
    bound = read_bound(text)
    private = bound.question not in ("kept", "false")
    begun = time.process_time()
    advice = gv.advise(data, until=[text], seconds=SECONDS)
    seconds = time.process_time() - begun
    for one in advice.met:
        if one.measured_on != "all of the data":
            continue
        for where, parameters in (
            ("found", dict(one.parameters)),
            ("beyond", beyond(dict(one.parameters), private=private)),
        ):
            for seed in SEEDS if parameters else ():
                value = value_of(one.method, parameters, data, bound, seed)
                yield {
                    "data": name,
                    "bound": text,
                    "method": one.method,
                    "where": where,
                    "parameters": str(parameters),
                    "seed": seed,
                    "value": value,
                    "holds": value is not None and bound.holds(value),
                    "search_seconds": seconds,
                }


def main() -> None:
    """Search, run, keep the rows and print how often each holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = [row for row in read_rows(RESULTS) if asked.only and row["data"] != asked.only]
    for name, data, bound in cases(asked.data):
        if asked.only in (None, name):
            kept += measured(name, data, bound)
            write_rows(RESULTS, kept)
    table: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    for row in kept:
        table[row["data"], row["bound"], row["method"], row["where"]].append(row["holds"])
    for key, held in table.items():
        print(*key, f"{sum(held)} of {len(held)}", sep=" | ")


if __name__ == "__main__":
    main()
