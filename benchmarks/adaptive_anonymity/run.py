"""The experiments of *Adaptive Anonymity via b-Matching*, and what the paper does not measure.

    python benchmarks/adaptive_anonymity/run.py PART [--data FOLDER] [--sets NAME ...]

PART is one of

    tables     figure 3 (a): six tables, the same level for all
    friends    figure 3 (b): levels that rise with ties, on a network that is drawn
    seeds      three of the six tables at level 5, refined both ways, with 24 seeds
    auto       the six tables: the choice `auto` beside the paper's algorithms, attacked by re-runs
    scale      blocks of 128 rows: 10,000, 100,000 and a million rows by 101 columns

A row is written as soon as it is measured, to ``results/PART.parquet``, and a run that was stopped
goes on where it was. Stars, chances and guesses are counted here from the released rows and the
linkage: nothing that a method says of itself is used. Chances count all full assignments as equally
likely; above 20 records that hang together they are estimated by belief propagation. ``rerun`` is
the share of people who are given their record by someone who holds the original, permutes it, runs
the method anew and takes the record that fits and is nearest to the new one. ``hits`` of the part
``auto`` is the attack ``matching``, which runs the whole method again, its choice included, so
often as ``reruns`` says; ``short`` is the share of people left with fewer records than their level
once all levels are known.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import synthetic
import tables
from numpy.typing import NDArray

import graphveil as gv
from graphveil.measures.matchings import NodePairs, posteriors

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results"
LEVELS = (2, 3, 5, 8, 10, 15, 20)
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "k-anonymity (forest)": ("cluster-k", {"search": "forest"}),
    "k-anonymity (plain)": ("cluster-k", {"search": "plain"}),
    "k-anonymity (local search)": ("cluster-k", {}),
    "symmetric": ("adaptive", {"compatibility": "symmetric"}),
    "bipartite": ("adaptive", {"compatibility": "bipartite"}),
    "bipartite, pruned": ("adaptive", {"compatibility": "bipartite", "refine": "prune"}),
    "bipartite, regular search": (
        "adaptive",
        {"compatibility": "bipartite", "refine": "regular-search"},
    ),
}
ONE_LEVEL = "bipartite, regular search"
"""Is measured where all have the same level."""
REFINED = ("bipartite, pruned", "bipartite, regular search")
SEEDED = ("wine", "heart", "hepatitis")
SEEDS = 24
"""So many runs show how far chances depend on the seed."""
DRAWN = "drawn"
"""Levels 2, 5, 10 and 20, drawn with .4, .3, .2 and .1."""
CHOSEN = ("auto", "symmetric", "bipartite")
CHOICES = [(5, CHOSEN[::2]), (10, CHOSEN[::2]), (DRAWN, CHOSEN)]
SUPPRESSED = -1
MOST_FRIENDS = 5
Codes = NDArray[np.int32]


def table_of(codes: Codes) -> gv.Table:
    """Return codes as a table."""
    n_values = codes.max(axis=0) + 1
    names = tuple(f"c{number}" for number in range(codes.shape[1]))
    return gv.Table(codes, names, tuple(np.arange(size) for size in n_values))


def release_of(variant: str, codes: Codes, levels: NDArray[np.int64], seed: int) -> Codes:
    """Return the released rows in the order of the original."""
    method, parameters = VARIANTS[variant]
    data = table_of(codes)
    if method == "cluster-k":
        release = gv.ClusterK(k=int(levels.max()), **parameters).anonymize(data, seed=seed)
    else:
        release = gv.Adaptive(**parameters).anonymize(data, seed=seed, levels=levels)
    columns = release.data.to_arrow().to_pydict().values()
    listed = [[SUPPRESSED if cell is None else cell for cell in column] for column in columns]
    return np.array(listed, dtype=np.int32).T[release.private.linkage.released]


def fits(published: Codes, codes: Codes) -> NDArray[np.bool_]:
    """Return which record fits which person."""
    n = codes.shape[0]
    matrix = np.empty((n, n), dtype=np.bool_)
    for i in range(n):
        shown = published[i] != SUPPRESSED
        matrix[i] = (codes[:, shown] == published[i, shown]).all(axis=1)
    return matrix


def guessed(published: Codes, again: Codes, matrix: NDArray[np.bool_]) -> float:
    """Return the share of people whose record is the nearest that fits; ties are shared."""
    hits = 0.0
    for person in range(published.shape[0]):
        candidates = np.flatnonzero(matrix[:, person])
        distance = (published[candidates] != again[person]).sum(axis=1)
        best = candidates[distance == distance.min()]
        hits += float(np.any(best == person)) / best.size
    return hits / published.shape[0]


def measured(variant: str, codes: Codes, levels: NDArray[np.int64], seed: int) -> dict[str, Any]:
    """Return the row of a run."""
    busy = time.process_time()
    published = release_of(variant, codes, levels, seed)
    seconds = time.process_time() - busy
    matrix = fits(published, codes)
    indptr = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int64)
    scored = posteriors(NodePairs(indptr, np.nonzero(matrix)[1].astype(np.int64)))
    own = scored.true_pairs()
    order = np.random.Generator(np.random.PCG64(seed)).permutation(levels.size)
    again = np.empty_like(published)
    again[order] = release_of(variant, codes[order], levels[order], seed + 1000)
    stars = int(np.count_nonzero(published == SUPPRESSED))
    return {
        "stars": stars,
        "kept": 1 - stars / codes.size,
        "least_candidates_above_level": int((matrix.sum(axis=0) - levels).min()),
        "largest_chance": float(own.max()),
        "mean_chance": float(own.mean()),
        "share_above_one_in_level": float((own > 1 / levels + 1e-3).mean()),
        "exact": scored.exact,
        "rerun": guessed(published, again, matrix),
        "cpu_seconds": seconds,
    }


def friends_levels(degrees: NDArray[np.int64], delta: int) -> NDArray[np.int64]:
    """Return the paper's levels: who has more ties asks for more."""
    logarithm = np.floor(np.log(np.maximum(degrees, 1))).astype(np.int64)
    return np.maximum(1, delta - (MOST_FRIENDS - logarithm))


def todo(part: str, arguments: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield what a row is about, and what measures it."""
    if part == "tables":
        for name in arguments.sets or tables.FILES:
            codes = tables.codes_of(arguments.data, name)
            for level in LEVELS:
                yield from _variants(
                    {"set": name, "level": level}, codes, np.full(len(codes), level)
                )
    elif part == "seeds":
        yield from _seeded(arguments.data, arguments.sets or SEEDED)
    elif part == "auto":
        yield from _choices(arguments)
    elif part == "friends":
        codes, degrees = synthetic.network(800, seed=1)
        for delta in LEVELS[3:]:
            about = {"set": "drawn network", "level": delta}
            yield from _variants(about, codes, friends_levels(degrees, delta))
    else:
        variants = ("bipartite", "bipartite, pruned", "k-anonymity (local search)")
        for n, variant in [*product((10_000, 100_000), variants), (1_000_000, variants[0])]:
            yield {"rows": n, "variant": variant}, lambda n=n, v=variant: scaled(n, v)


def _variants(
    about: dict[str, Any], codes: Codes, levels: NDArray[np.int64]
) -> Iterator[tuple[dict[str, Any], Any]]:
    for variant in VARIANTS:
        if variant == ONE_LEVEL and levels.min() < levels.max():
            continue
        yield {**about, "variant": variant}, lambda v=variant: measured(v, codes, levels, 1)


def _choices(arguments: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Any]]:
    for seed, name in product(arguments.seeds, arguments.sets or tables.FILES):
        codes = tables.codes_of(arguments.data, name)
        for level, variants in CHOICES:
            levels = np.full(len(codes), level) if level != DRAWN else drawn_levels(len(codes))
            for variant in variants:
                about = {"set": name, "level": str(level), "seed": seed, "variant": variant}
                yield (
                    about | {"reruns": arguments.reruns},
                    lambda c=codes, of=levels, a=about, r=arguments.reruns: attacked(c, of, a, r),
                )


def drawn_levels(n: int) -> NDArray[np.int64]:
    """Return levels that differ, the same for every seed of a method."""
    return np.random.default_rng(1).choice([2, 5, 10, 20], size=n, p=[0.4, 0.3, 0.2, 0.1])


def attacked(
    codes: Codes, levels: NDArray[np.int64], about: dict[str, Any], reruns: int
) -> dict[str, Any]:
    """Return stars, and what re-runs of the whole method find."""
    column = {"level": levels.tolist()} if about["level"] == DRAWN else {}
    cells = {f"c{number}": values.tolist() for number, values in enumerate(codes.T)}
    data = gv.Table.from_columns(cells | column)
    asked = "level" if column else int(levels[0])
    method = gv.Adaptive(levels=asked, compatibility=about["variant"])
    busy = time.process_time()
    release = method.anonymize(data, seed=about["seed"])
    seconds = time.process_time() - busy
    if not release.verify(data).ok:
        raise RuntimeError(f"{about} does not verify")
    told = gv.attack_release(
        release,
        original=data,
        attacks=["matching"],
        seed=about["seed"],
        options={"matching": {"reruns": str(reruns)}},
    )
    values = {row.part: row.value for row in told}
    cost = release.private.cost
    return {
        "stars": cost["stars_added"],
        "guess": float((1 / levels).mean()),
        "hits": values[f"re-run {reruns} times, right guess"],
        "largest_chance": values["true pair, largest"],
        "short": values.get("levels known, short", 0.0),
        "taken": next((n.removesuffix("_taken") for n in cost if n.endswith("_taken")), ""),
        "cpu_seconds": seconds,
    }


def _seeded(folder: Path, names: Iterable[str]) -> Iterator[tuple[dict[str, Any], Any]]:
    named = {name: tables.codes_of(folder, name) for name in names}
    for seed, name, variant in product(range(SEEDS), named, REFINED):
        codes = named[name]
        levels = np.full(len(codes), 5)
        yield (
            {"set": name, "level": 5, "seed": seed, "variant": variant},
            lambda v=variant, c=codes, of=levels, s=seed: measured(v, c, of, s),
        )


def scaled(n: int, variant: str) -> dict[str, Any]:
    """Return stars and time of a run in blocks of 128, level 10, two steps of the schedule."""
    method, parameters = VARIANTS[variant]
    data = table_of(synthetic.indicator_table(n, 1))
    quick = (
        {"levels": 10, "schedule": 2, "max_iterations": 6} if method == "adaptive" else {"k": 10}
    )
    chosen = gv.METHODS[method].from_parameters({**parameters, **quick, "block_rows": 128})
    busy = cpu_seconds()
    release = chosen.anonymize(data, seed=1)
    return {
        "stars": release.data.n_suppressed,
        "cpu_seconds": cpu_seconds() - busy,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "peak_mib_of_a_worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }


def cpu_seconds() -> float:
    """Return the CPU time of this process and of the workers that it waited for."""
    return sum(os.times()[:4])


def warm_up() -> None:
    """Compile, or load what was compiled, before anything is timed."""
    codes = synthetic.indicator_table(40, 1)
    for variant in VARIANTS:
        measured(variant, codes, np.full(40, 3), 1)


def main() -> None:
    """Measure what is still missing of a part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["tables", "friends", "seeds", "auto", "scale"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--reruns", type=int, default=8)
    arguments = parser.parse_args()
    if arguments.part in {"tables", "seeds", "auto"} and arguments.data is None:
        parser.error(f"{arguments.part} needs --data FOLDER")
    warnings.simplefilter("ignore", gv.GraphveilWarning)
    path = RESULTS / f"{arguments.part}.parquet"
    done = read_rows(path)
    if arguments.part != "auto":
        warm_up()
    for about, run in todo(arguments.part, arguments):
        if any(about.items() <= row.items() for row in done):
            continue
        row = about | run()
        append_rows(path, row)


if __name__ == "__main__":
    main()
