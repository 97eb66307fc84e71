"""Every method at three strengths against every attack that fits.

    python benchmarks/attacks/matrix.py --data FOLDER [--sets NAME ...] [--methods NAME ...]

A point is a data set, a method, a strength and the seed of a release; attacks run under the same
seed. The rows of every attack are appended to ``results/matrix.parquet`` as soon as they are
measured, what could not be measured with its reason, and an attack that stands there is not run
again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import graphveil as gv
from graphveil.attacks import Attached

HERE = Path(__file__).parent
for beside in ("", "adaptive_anonymity", "smooth_anonymity"):
    sys.path.append(str(HERE.parent / beside))
import data as sets  # noqa: E402  the data of another comparison
import tables  # noqa: E402

from raw_rows import append_rows, read_rows  # noqa: E402

RESULTS = HERE / "results" / "matrix.parquet"
SEEDS = (1, 2, 3)
ADULT, HEART, ARENAS = "adult, 2,000 people", "heart", "arenas-email"
PEOPLE = 2_000
LN_N = math.log(1133)

Parameters = dict[str, Any]


class Played(NamedTuple):
    """An attack, its options, and under how many seeds it is run."""

    attack: str
    options: Parameters
    seeds: int = len(SEEDS)


class Method(NamedTuple):
    """A method on a data set: its parameters at each strength, and how often it is run."""

    name: str
    strengths: tuple[Parameters, ...]
    seeds: int = len(SEEDS)


def by(name: str, parameter: str, values: tuple[float, ...], **common: Any) -> Method:
    return Method(name, tuple({parameter: value, **common} for value in values))


FEW_RUNS = {"trials": 30, "releases": 3, "people": 300}
ON_FEATURES = (
    Played("linkage", {"known": "2,4,8", "wrong": "0"}),
    Played("membership", {}),
    Played("class-truth", {}),
    Played("homogeneity", {}),
    Played("intersection", {}),
    Played("re-run", FEW_RUNS, seeds=1),
)
ON_NETWORKS = (
    Played("candidate-set", {}),
    Played("fake-edge", {}),
    Played("edge-gain", {}),
    Played("edge-membership", {}),
    *(Played("seed-propagation", {"overlap": 1.0, "known": known}) for known in (0, 20)),
    Played("seed-propagation", {"overlap": 0.8, "known": 20}),
    Played("alignment", {"overlap": 1.0, "draws": 1}, seeds=1),
)
ATTACKS = {
    ADULT: (*ON_FEATURES, Played("entry-membership", {})),
    HEART: (*ON_FEATURES, Played("matching", {})),
    ARENAS: ON_NETWORKS,
}
NOISY = (2.0, 4.0, LN_N)
METHODS = {
    ADULT: (
        Method("rename", ({},)),
        *(by(name, "k", (2, 8, 16)) for name in ("smooth-k", "suppress-k", "mondrian")),
        *(
            by(name, "epsilon", (2.0, 4.0, 8.0))
            for name in ("randomized-response", "asymmetric-response")
        ),
    ),
    HEART: (
        Method("rename", ({},)),
        by("cluster-k", "k", (2, 5, 20)),
        by("adaptive", "levels", (2, 5, 20)),
    ),
    ARENAS: (
        Method("rename", ({},)),
        by("k-degree", "k", (2, 5, 20), edits="add"),
        by("structural", "k", (2, 5, 20), measure="count"),
        *(
            by(name, "epsilon", NOISY)
            for name in (
                "randomized-response",
                "asymmetric-response",
                "degree-prior-response",
                "mixing-prior-response",
                "top-m-filter",
                "dp-1k",
                "hrg-mcmc",
                "density-explore-reconstruct",
            )
        ),
        by("degree-triangle-model", "epsilon", (1.0, 2.0)),
    ),
}


class Subject(NamedTuple):
    """Data, and a column that is published beside its release."""

    data: gv.Graph | gv.Bipartite | gv.Table
    attached: Attached | None = None


@cache
def read(name: str, folder: Path) -> Subject:
    """Return a data set of `METHODS`."""
    if name == ARENAS:
        path = folder / "anonet" / "out.arenas-email.edges"
        return Subject(gv.read_graph(path, directed="symmetrize"))
    if name == HEART:
        codes = tables.codes_of(folder, "heart")
        names = tuple(f"c{number}" for number in range(codes.shape[1]))
        return Subject(gv.Table(codes, names, (["no", "yes"],) * len(names)))
    adult = sets.adult(folder)
    labels = np.array(sets.adult_columns(folder / "adult" / "adult.data.gz")[1])
    chosen = np.sort(np.random.default_rng(0).choice(adult.n_users, PEOPLE, replace=False))
    people = adult.permuted(chosen).without_unused()
    return Subject(people, Attached("income", labels[chosen]))


def key_of(row: Parameters) -> tuple[str, ...]:
    """Return what tells the runs of attacks from each other."""
    fields = ("data", "method", "parameters", "seed", "attack", "options")
    return tuple(json.dumps(row[field], sort_keys=True) for field in fields)


def points(only_sets: list[str] | None, only: list[str] | None) -> Iterator[Parameters]:
    """Yield every run of an attack: all releases of one seed, slow attacks last; then the next."""
    for seed in SEEDS:
        runs = [
            {
                "data": name,
                "method": method.name,
                "parameters": parameters,
                "seed": seed,
                "attack": played.attack,
                "options": played.options,
            }
            for name, methods in METHODS.items()
            for method in methods
            for parameters in method.strengths
            for played in ATTACKS[name]
            if seed <= min(played.seeds, method.seeds)
            and (not only_sets or name in only_sets)
            and (not only or method.name in only)
        ]
        yield from sorted(runs, key=_when)


def _when(run: Parameters) -> tuple[bool, float]:
    """Slow runs come last, of those the releases that tell most first."""
    slow = run["attack"] == "alignment"
    return slow, -run["parameters"].get("epsilon", 0.0) if slow else 0.0


@cache
def released(name: str, method: str, parameters: str, seed: int, folder: Path) -> gv.Release:
    """Return the release of a point; that of a second seed is its second release."""
    made = gv.METHODS[method].from_parameters(json.loads(parameters))
    return made.anonymize(read(name, folder).data, seed=seed)


def measured(point: Parameters, folder: Path) -> list[Parameters]:
    """Return the rows of an attack, with its CPU time and that of the release."""
    subject = read(point["data"], folder)
    named = (point["data"], point["method"], json.dumps(point["parameters"]))
    start = time.process_time()
    release = released(*named, point["seed"], folder)
    of_release = round(time.process_time() - start, 3)
    second = None
    if point["attack"] == "intersection":
        second = released(*named, point["seed"] + 1_000, folder)
    start = time.process_time()
    attacked = gv.attack_release(
        release,
        original=subject.data,
        attacks=[point["attack"]],
        seed=point["seed"],
        options={point["attack"]: point["options"]},
        second=second,
        attached=subject.attached if point["attack"] == "homogeneity" else None,
    )
    times = {
        "cpu_seconds": round(time.process_time() - start, 3),
        "release_cpu_seconds": of_release,
    }
    named = {"baseline": "guess", "ci_low": "low", "ci_high": "high"}
    fields = ("part", "value", "baseline", "unit", "sample_size", "ci_low", "ci_high")
    rows = [
        {**point, **{f: getattr(row, named.get(f, f)) for f in fields}, **times} for row in attacked
    ]
    missing = attacked.not_measured.items()
    return rows + [{**point, "part": part, "not_measured": why, **times} for part, why in missing]


def main() -> None:
    """Run what was not run yet."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", choices=METHODS)
    parser.add_argument("--methods", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore", gv.GraphveilWarning)
    known = {key_of(row) for row in read_rows(RESULTS)}
    for point in points(given.sets, given.methods):
        if key_of(point) in known:
            continue
        rows = measured(point, given.data)
        append_rows(RESULTS, *rows)
        shown = (point[name] for name in ("data", "method", "parameters", "seed", "attack"))
        print(*shown, rows[0]["release_cpu_seconds"], rows[0]["cpu_seconds"], flush=True)


if __name__ == "__main__":
    main()
