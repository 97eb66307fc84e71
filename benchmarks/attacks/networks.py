"""Attacks on released networks, beside the figures of the reference prototype.

    python benchmarks/attacks/networks.py --data FOLDER [--attacks NAME ...]

FOLDER holds the networks as ``anonet/NAME`` or ``NAME/edges.tsv.gz``. Every case anonymizes one
network under a seed, 1 unless it says otherwise, except by `rename`, and runs one attack under
seed 1. Raw rows, with the user time of the attack, are appended to ``results/networks.parquet``; a
case that stands there is not run again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "networks.parquet"
ARENAS, GRQC = "anonet/out.arenas-email.edges", "anonet/CA-GrQc.edges"

AS_IT_IS: tuple[str, dict[str, Any]] = ("rename", {})
SEARCH = ("structural", {"measure": "count", "k": 2, "goal": "budget:0.05", "heuristic": "search"})
FULL = ("structural", {"measure": "count", "k": 2})
DEGREE = ("k-degree", {"k": 10, "edits": "add"})


def response(epsilon: float) -> tuple[str, dict[str, Any]]:
    return "asymmetric-response", {"epsilon": epsilon}


LN_N = response(round(math.log(1133), 4))


class Case(NamedTuple):
    """An attack on a release; the reference has the prototype's figure of some parts."""

    attack: str
    network: str
    method: tuple[str, dict[str, Any]]
    options: dict[str, Any]
    reference: dict[str, float]
    release_seed: int = 1


def counted(network: str, method: tuple[str, dict[str, Any]], count: float, vrq: float) -> Case:
    parts = {"degree and triangles, right guess": count, "vrq, right guess": vrq}
    return Case("candidate-set", network, method, {}, parts)


def grown(
    network: str,
    method: tuple[str, dict[str, Any]],
    known: int,
    overlap: float = 1.0,
    **parts: float,
) -> Case:
    label = f"overlap {overlap:g}, {known or 'nobody'} known: "
    reference = {label + PARTS[name]: value for name, value in parts.items()}
    return Case(
        "seed-propagation", network, method, {"known": known, "overlap": overlap}, reference
    )


PARTS = {
    "precision": "precision",
    "alike": "precision up to twins",
    "right": "right",
    "frequent": "right, of degree 3",
    "distinct": "right, without twins",
}


def aligned(
    method: tuple[str, dict[str, Any]], overlap: float, right: float, frequent: float
) -> Case:
    label = f"overlap {overlap:g}: right"
    reference = {label: right, f"{label}, of degree 3": frequent}
    return Case("alignment", ARENAS, method, {"overlap": overlap}, reference)


def gained(method: tuple[str, dict[str, Any]], *figures: float) -> Case:
    names = ("precision", "recall")
    return Case("edge-gain", ARENAS, method, {}, dict(zip(names, figures, strict=False)))


def again(case: Case, seeds: Iterable[int]) -> list[Case]:
    """Return the case on a release of each seed; a copy that shares all edges is drawn once."""
    options = dict(case.options)
    if case.attack == "alignment":
        options["draws"] = 1
    return [case._replace(options=options, release_seed=seed) for seed in seeds]


CASES = (
    counted(ARENAS, AS_IT_IS, 0.36, 0.90),
    counted(ARENAS, SEARCH, 0.09, 0.57),
    counted(ARENAS, FULL, 0.014, 0.075),
    Case("candidate-set", ARENAS, DEGREE, {}, {}),
    grown(ARENAS, SEARCH, 0, precision=0.998, right=0.845),
    grown(ARENAS, SEARCH, 0, overlap=0.9),
    grown(ARENAS, SEARCH, 0, overlap=0.8),
    grown(ARENAS, FULL, 20, precision=0.995, right=0.84),
    grown(ARENAS, DEGREE, 0, right=0.85),
    grown(ARENAS, LN_N, 0, right=0.81),
    grown(ARENAS, LN_N, 10, precision=0.995, right=0.82),
    grown(ARENAS, response(5.0), 20, right=0.005),
    grown(ARENAS, response(5.0), 50, right=0.50),
    grown(ARENAS, response(4.0), 50, right=0.05),
    grown(GRQC, SEARCH, 10, precision=0.81, alike=0.972, distinct=0.88),
    gained(SEARCH, 0.995, 0.80),
    gained(FULL),
    gained(LN_N, 0.69, 0.71),
    gained(response(4.0), 0.05, 0.05),
    Case("fake-edge", ARENAS, DEGREE, {}, {"AUC, product of degrees": 0.92}),
    aligned(SEARCH, 0.8, 0.801, 0.918),
    aligned(FULL, 0.8, 0.733, 0.865),
    aligned(LN_N, 1.0, 0.879, 0.970),
    aligned(FULL, 1.0, 0.971, 0.995),
    aligned(response(4.0), 1.0, 0.019, 0.022),
    aligned(response(5.0), 1.0, 0.637, 0.775),
    aligned(SEARCH, 0.6, 0.637, 0.751),
    aligned(SEARCH, 0.7, 0.748, 0.874),
    *again(aligned(response(6.0), 1.0, 0.814, 0.931), range(1, 4)),
    *again(aligned(response(5.0), 1.0, 0.637, 0.775), range(2, 6)),
    *again(grown(ARENAS, response(5.0), 20, right=0.005), range(2, 6)),
    *again(grown(ARENAS, response(5.0), 50, right=0.50), range(2, 6)),
)


def key_of(case: Case) -> str:
    name, parameters = case.method
    key = [case.attack, case.network, name, parameters, case.options]
    return json.dumps(key if case.release_seed == 1 else [*key, case.release_seed])


def rows_of(case: Case, folder: Path) -> list[dict[str, Any]]:
    """Return the raw rows of a case, with what it could not measure."""
    name, parameters = case.method
    graph = gv.read_graph(folder / case.network, directed="symmetrize")
    method = gv.METHODS[name].from_parameters(parameters)
    release = method.anonymize(graph, seed=None if name == "rename" else case.release_seed)
    busy = time.process_time()
    attacked = gv.attack_release(
        release,
        original=graph,
        attacks=[case.attack],
        seed=1,
        options={case.attack: case.options},
    )
    seconds = round(time.process_time() - busy, 2)
    shared = {
        "case": key_of(case),
        "network": case.network,
        "method": name,
        "parameters": parameters,
        "options": case.options,
        "release_seed": case.release_seed,
        "attack": case.attack,
        "user_seconds": seconds,
    }
    rows = [
        {
            **shared,
            "part": row.part,
            "value": row.value,
            "baseline": row.guess,
            "sample_size": row.sample_size,
            "ci_low": row.low,
            "ci_high": row.high,
            "reference": case.reference.get(row.part),
        }
        for row in attacked
    ]
    missing = [
        {**shared, "part": part, "not_measured": why} for part, why in attacked.not_measured.items()
    ]
    return [*rows, *missing]


def shown(row: dict[str, Any]) -> str:
    """Return a row as a line: what was measured beside the prototype's figure."""
    if "not_measured" in row:
        return f"    {row['part']}: not measured: {row['not_measured']}"
    figures = [f"{row['value']:.3f}"]
    if row["baseline"] is not None:
        figures.append(f"without {row['baseline']:.4f}")
    if row["ci_low"] is not None:
        figures.append(f"95 % {row['ci_low']:.3f} to {row['ci_high']:.3f}")
    if row["reference"] is not None:
        figures.append(f"prototype {row['reference']:.3f}")
    return f"    {row['part']}: {', '.join(figures)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--attacks", nargs="*", default=None)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    known = {row["case"] for row in read_rows(RESULTS)}
    for case in CASES:
        if key_of(case) in known or (asked.attacks and case.attack not in asked.attacks):
            continue
        rows = rows_of(case, asked.data)
        print(f"{case.attack} {case.network} {case.method} {case.options}", rows[0]["user_seconds"])
        print("\n".join(map(shown, rows)), flush=True)
        append_rows(RESULTS, *rows)


if __name__ == "__main__":
    main()
