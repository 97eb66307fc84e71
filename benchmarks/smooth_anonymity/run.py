"""The experiments of *Smooth Anonymity for Sparse Graphs*, on the data at hand.

    python benchmarks/smooth_anonymity/run.py --data FOLDER PART [--seeds 10] [--sets NAME ...]

PART is one of

    methods    every method at k=8: tables 1 and 3
    by-k       k from 2 to 64: figures 3 and 5
    chunks     chunks of rows, in several orders, on lists made for the purpose
    response   randomized response at several epsilon: figures 3 (c) and 6
    learning   a classifier trained on anonymous data: figures 4 and 7

A row is written as soon as it is measured, to ``results/PART.parquet``, and a run that was stopped
goes on where it was. Jaccard coefficient, suppressed and created entries are recounted here from
the released data and the linkage. The first call of every kind compiles, or loads compiled code;
it is made once on small data before anything is timed. ``report.py`` prints the tables,
``plots.py`` draws the figures.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import data as sets
import learning

import graphveil as gv

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results"
SETS: dict[str, Callable[[Path], gv.Bipartite]] = {
    "adult": sets.adult,
    "stochastic": lambda _: sets.stochastic(0),
    "playstore": sets.playstore,
    "web-notredame": sets.web_notredame,
    "email-enron": sets.email_enron,
    "ca-astroph": sets.ca_astroph,
    "ca-hepph": sets.ca_hepph,
}
LISTS = {"lists-100k": 100_000}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "mondrian (first)": ("mondrian", {"split": "first"}),
    "mondrian (balanced)": ("mondrian", {"split": "balanced"}),
    "suppress (published, cut)": ("suppress-k", {"algorithm": "facility"}),
    "suppress (published, uncut)": ("suppress-k", {"algorithm": "facility", "cut": False}),
    "suppress (ours)": ("suppress-k", {}),
    "smooth (published)": ("smooth-k", {"algorithm": "facility"}),
    "smooth (ours, greedy only)": ("smooth-k", {"refine": False}),
    "smooth (ours)": ("smooth-k", {}),
    "smooth (ours, annealed)": ("smooth-k", {"anneal": 0.3}),
}
CURVES = (
    "mondrian (first)",
    "suppress (published, cut)",
    "suppress (ours)",
    "smooth (published)",
    "smooth (ours)",
)
KS = (2, 4, 8, 16, 32, 64)
EPSILONS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0)
CHUNKS = (
    {},
    {"chunk_rows": 20_000},
    {"chunk_rows": 20_000, "order": "label-propagation"},
    {"chunk_rows": 5_000},
    {"chunk_rows": 5_000, "order": "label-propagation"},
)

Todo = tuple[tuple[Any, ...], Callable[[], dict[str, Any]]]


def measured(
    data: gv.Bipartite, method: str, parameters: dict[str, Any], seed: int
) -> dict[str, Any]:
    """Return the row of a run: what it kept, recounted from the release, and the time."""
    anonymizer = gv.METHODS[method].from_parameters(parameters)
    started, busy = time.perf_counter(), time.process_time()
    release = anonymizer.anonymize(data, seed=seed)
    seconds, cpu = time.perf_counter() - started, time.process_time() - busy
    evaluated = gv.evaluate_release(
        release,
        original=data,
        metrics=["entry-jaccard", "entries-suppressed", "entries-created", "empty-rows"],
        seed=seed,
    )
    figures = {f"{row.question}: {row.part}": row.value for row in evaluated}
    return {
        "method": method,
        "parameters": parameters,
        "seed": seed,
        "users": data.n_users,
        "features": data.n_features,
        "entries": data.n_entries,
        "jaccard": figures["entry-jaccard: all"],
        "suppressed": figures["entries-suppressed: share"],
        "created": figures["entries-created: share"],
        "seconds": seconds,
        "cpu_seconds": cpu,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def methods(name: str, data: gv.Bipartite, seeds: int) -> Iterator[Todo]:
    """Yield every method at k=8."""
    for variant, seed in product(VARIANTS, range(1, seeds + 1)):
        method, parameters = VARIANTS[variant]
        if not (name == "web-notredame" and method == "mondrian"):
            yield (
                (name, variant, seed),
                partial(measured, data, method, {"k": 8, **parameters}, seed),
            )


def by_k(name: str, data: gv.Bipartite, seeds: int) -> Iterator[Todo]:
    """Yield the curves over k."""
    for variant, k, seed in product(CURVES, KS, range(1, seeds + 1)):
        method, parameters = VARIANTS[variant]
        if not (name == "web-notredame" and method == "mondrian"):
            yield (
                (name, variant, k, seed),
                partial(measured, data, method, {"k": k, **parameters}, seed),
            )


def chunks(name: str, data: gv.Bipartite, seeds: int) -> Iterator[Todo]:
    """Yield chunked runs at k=8."""
    for number, parameters in enumerate(CHUNKS):
        if parameters.get("chunk_rows", 0) < data.n_users:
            for algorithm, seed in product(("facility", "greedy"), range(1, seeds + 1)):
                whole = {"k": 8, "algorithm": algorithm, **parameters}
                run = partial(measured, data, "smooth-k", whole, seed)
                yield (name, algorithm, number, seed), run


def response(name: str, data: gv.Bipartite, seeds: int) -> Iterator[Todo]:
    """Yield randomized response over epsilon, where its expected output fits."""
    cells = data.n_users * data.n_features
    for epsilon, seed in product(EPSILONS, range(1, seeds + 1)):
        if cells / (1 + 2.718281828**epsilon) < 2e7:
            run = partial(measured, data, "randomized-response", {"epsilon": epsilon}, seed)
            yield (name, epsilon, seed), run


PARTS: dict[str, Callable[[str, gv.Bipartite, int], Iterator[Todo]]] = {
    "methods": methods,
    "by-k": by_k,
    "chunks": chunks,
    "response": response,
}


def warm_up() -> float:
    """Return the seconds of one run of every variant on small data: compiling, loading."""
    data = sets.stochastic(0, n=64, block=16)
    started = time.perf_counter()
    for method, parameters in VARIANTS.values():
        gv.METHODS[method].from_parameters({"k": 4, **parameters}).anonymize(data, seed=1)
    return time.perf_counter() - started


def todo(part: str, folder: Path, names: list[str], seeds: int) -> Iterator[Todo]:
    """Yield every run of a part."""
    if part == "learning":
        yield from learning.runs(folder, seeds)
        return
    lists = {name: partial(lambda n, _: sets.userlists(n), n) for name, n in LISTS.items()}
    every = {**SETS, **lists} if part == "chunks" else SETS
    for name, load in every.items():
        if name in names or (not names and (part != "chunks" or name in {"adult", *LISTS})):
            yield from PARTS[part](name, load(folder), seeds)


def main() -> None:
    """Measure what is missing of one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=[*PARTS, "learning"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", nargs="*", default=[])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / f"{arguments.part}.parquet"
    done = {row["key"] for row in read_rows(path)}
    seconds = warm_up()
    if "warm-up" not in done:
        append_rows(path, {"key": "warm-up", "seconds": seconds})
    for parts, run in todo(arguments.part, arguments.data, arguments.sets, arguments.seeds):
        key = "/".join(map(str, parts))
        if key not in done:
            append_rows(path, {"key": key, "set": parts[0]} | run())


if __name__ == "__main__":
    main()
