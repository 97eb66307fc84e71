"""Attacks on users by features: what is measured on real data, beside the prototype's figures.

    python benchmarks/attacks/features.py --data FOLDER [--seeds 3] [--only CASE ...]
    python benchmarks/attacks/features.py --report

A case is a data set, a method, its parameters and attacks. Rows are written as soon as they are
measured, one a figure and seed, to ``results/features.parquet``; a run that was stopped goes on
where it was. The report takes the mean over seeds.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import graphveil as gv
from graphveil.attacks import Attached

HERE = Path(__file__).parent
sys.path += [str(HERE.parent), str(HERE.parent / "smooth_anonymity")]
import data as sets  # noqa: E402  the data of another comparison

from raw_rows import append_rows, read_rows  # noqa: E402

RESULTS = HERE / "results" / "features.parquet"
ADULT_SAMPLE = 1_000
USERS = 20_000


class Case(NamedTuple):
    """Attacks on releases of one data set by one method."""

    data: str
    method: str
    parameters: dict[str, Any]
    attacks: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the rows call it."""
        given = " ".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.data}: {self.method} {given}".strip()


ROWS = ("linkage", "membership", "class-truth")
CASES = [
    Case("play", "rename", {}, ("linkage", "membership")),
    *(Case("play", "smooth-k", {"k": k}, (*ROWS, "intersection")) for k in (4, 8, 16)),
    Case("play", "smooth-k", {"k": 8, "algorithm": "facility"}, ("linkage",)),
    Case("lists", "rename", {}, ("linkage",)),
    Case("lists", "smooth-k", {"k": 8}, (*ROWS, "intersection")),
    Case("adult", "smooth-k", {"k": 8}, (*ROWS, "homogeneity", "intersection")),
    Case("adult", "suppress-k", {"k": 8}, ("class-truth", "linkage")),
    Case("adult sample", "smooth-k", {"k": 8}, ("re-run",)),
    *(Case("play", "randomized-response", {"epsilon": e}, ("entry-membership",)) for e in (4, 6)),
    Case("play", "asymmetric-response", {"epsilon": 4}, ("entry-membership",)),
]

ROW, KLASS = "8 known, 0 false: own row", "8 known, 0 false: own class"
RECALL = "8 known: rare other items, recall of people"
ALL, MEAN = "entries true of the whole class", "entries true, mean"
PROVED = "threshold, people with a proved entry"
WHOLE = "a whole row, by one score of the release"
"""What the prototype did; the attack compares likelihoods over releases beside that."""

SHORT, ALONE = "joint class smaller than promised", "alone in the joint class"


def _acceptance() -> list[tuple[str, str, float, float]]:
    """Return case, part, the prototype's figure and the tolerance."""
    listed = [
        ("play: rename", ROW, 0.89, 0.03),
        ("play: smooth-k k=4", ROW, 0.168, 0.03),
        ("play: smooth-k k=8", ROW, 0.057, 0.03),
        ("play: smooth-k k=16", ROW, 0.028, 0.03),
        ("lists: rename", ROW, 1.0, 0.03),
        ("lists: smooth-k k=8", ROW, 0.038, 0.03),
        ("adult: smooth-k k=8", ROW, 0.038, 0.03),
        ("play: rename", KLASS, 0.97, 0.06),
        ("play: smooth-k k=8", KLASS, 0.48, 0.06),
        ("play: smooth-k k=8 algorithm=facility", KLASS, 0.38, 0.06),
        ("adult: smooth-k k=8", KLASS, 0.83, 0.06),
    ]
    for k, inside, out in ((4, 0.41, 0.20), (8, 0.21, 0.14), (16, 0.15, 0.12)):
        listed.append((f"play: smooth-k k={k}", f"{RECALL} inside", inside, 0.06))
        listed.append((f"play: smooth-k k={k}", f"{RECALL} left out", out, 0.06))
    listed.append(("play: rename", WHOLE, 0.92, 0.04))
    for k, area in ((4, 0.72), (8, 0.63), (16, 0.55)):
        listed.append((f"play: smooth-k k={k}", WHOLE, area, 0.04))
    listed.append(("lists: smooth-k k=8", WHOLE, 0.56, 0.04))
    for name, of_all, mean in (
        ("adult", 0.78, 0.973),
        ("play", 0.63, 0.894),
        ("lists", 0.185, 0.718),
    ):
        listed.append((f"{name}: smooth-k k=8", ALL, of_all, 0.03))
        listed.append((f"{name}: smooth-k k=8", MEAN, mean, 0.03))
    listed += [("adult: suppress-k k=8", part, 1.0, 0.0) for part in (ALL, MEAN)]
    listed.append(("adult: suppress-k k=8", "entries that the class makes certain", 0.90, 0.03))
    listed += [
        (f"{name}: smooth-k k=8", PROVED, share, 0.05)
        for name, share in (("adult", 0.022), ("play", 0.25))
    ]
    listed.append(("adult: smooth-k k=8", "in a class of one value", 0.317, 0.03))
    listed.append(("adult: smooth-k k=8", "commonest value of the class", 0.838, 0.03))
    for name, short, alone in (("adult", 0.27, 0.08), ("play", 0.85, 0.24), ("lists", 0.65, 0.22)):
        listed.append((f"{name}: smooth-k k=8", SHORT, short, 0.05))
        listed.append((f"{name}: smooth-k k=8", ALONE, alone, 0.05))
    listed.append(("adult sample: smooth-k k=8", "seed known, releases differ", 0.96, 0.11))
    listed.append(("adult sample: smooth-k k=8", "seed unknown, right guess", 0.52, 0.12))
    return listed


def read(name: str, folder: Path) -> tuple[gv.Bipartite, Attached | None]:
    """Return a data set, and a column that is published beside it."""
    if name == "play":
        return sets.playstore(folder), None
    if name == "lists":
        return sets.userlists(USERS), None
    adult = sets.adult(folder)
    if name == "adult sample":
        chosen = np.sort(
            np.random.default_rng(0).choice(adult.n_users, ADULT_SAMPLE, replace=False)
        )
        return adult.permuted(chosen), None
    labels = sets.adult_columns(folder / "adult" / "adult.data.gz")[1]
    return adult, Attached("income", np.array(labels))


def measure(case: Case, folder: Path, seed: int) -> list[dict[str, Any]]:
    """Return the figures of one case under one seed, with the CPU time of the attacks."""
    data, column = read(case.data, folder)
    method = gv.METHODS[case.method].from_parameters(case.parameters)
    release = method.anonymize(data, seed=seed)
    second = method.anonymize(data, seed=seed + 1_000) if "intersection" in case.attacks else None
    rows = []
    for name in case.attacks:
        start = time.process_time()
        told = gv.attack_release(
            release, original=data, attacks=[name], seed=seed, second=second, attached=column
        )
        seconds = round(time.process_time() - start, 2)
        rows += [
            {
                "case": case.name,
                "seed": seed,
                "attack": name,
                "part": row.part,
                "value": row.value,
                "baseline": row.guess,
                "ci_low": row.low,
                "ci_high": row.high,
                "sample_size": row.sample_size,
                "cpu_seconds": seconds,
            }
            for row in told
        ]
    return rows


def run(folder: Path, seeds: int, only: list[str] | None) -> None:
    known = {(row["case"], row["seed"]) for row in read_rows(RESULTS)}
    for case in CASES:
        repeated = 1 if "re-run" in case.attacks else seeds
        for seed in range(1, repeated + 1):
            if (case.name, seed) in known or (only and case.name not in only):
                continue
            rows = measure(case, folder, seed)
            append_rows(RESULTS, *rows)
            print(case.name, seed, {row["attack"]: row["cpu_seconds"] for row in rows}, flush=True)


def report() -> None:
    """Print ours, the prototype's figure, and whether they are as near as they should be."""
    values = defaultdict(list)
    for row in read_rows(RESULTS):
        values[row["case"], row["part"]].append(row["value"])
    print("| case | part | ours | prototype | within |")
    print("|---|---|---|---|---|")
    for case, part, figure, tolerance in _acceptance():
        ours = values.get((case, part))
        if not ours:
            print(f"| {case} | {part} | not measured | {figure:g} | |")
            continue
        mean = sum(ours) / len(ours)
        near = "yes" if abs(mean - figure) <= tolerance + 1e-9 else f"no (±{tolerance:g})"
        print(f"| {case} | {part} | {mean:.3f} | {figure:g} | {near} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", gv.GraphveilWarning)
    if given.data is not None:
        run(given.data, given.seeds, given.only)
    if given.report:
        report()
