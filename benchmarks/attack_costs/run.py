"""How long attacks take, beside what they say beforehand: three sizes each, CPU time.

    python benchmarks/attack_costs/run.py [ATTACK ...]

The data is made up: networks of Chung and Lu, users by features of a Zipf law, tables of random
columns. Every case runs the attack once to compile it and once to be measured. Raw rows are
appended to ``results/costs.parquet``; a ratio outside 1/2..2 is marked.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

import graphveil as gv
from graphveil.attacks import ATTACKS, Attached
from graphveil.attacks.attack import AttackInput
from graphveil.core.randomness import Randomness
from graphveil.evaluate import comparison_of
from graphveil.verbs import attack as rows
from graphveil.verbs.attack import rerun_of, seen_by

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows

RESULTS = Path(__file__).parent / "results" / "costs.parquet"


class Case(NamedTuple):
    """An attack on a release of made-up data of some size."""

    attack: str
    data: Callable[[], Any]
    size: int
    method: tuple[str, dict[str, Any]]
    options: dict[str, Any]


def network(n: int, mean: float = 10.0) -> gv.Graph:
    """Return a network of Chung and Lu whose weights have a tail of exponent 2.5."""
    rng = np.random.default_rng(n)
    weights = (1 - rng.random(n)) ** (-1 / 1.5)
    weights = np.minimum(weights, np.sqrt(n))
    chance = weights / weights.sum()
    ends = np.sort(rng.choice(n, (2, round(n * mean / 2)), p=chance), axis=0)
    pairs = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    return gv.Graph.from_edges(*pairs, n=n)


def lists(n: int, features: int = 2_000, mean: float = 12.0) -> gv.Bipartite:
    """Return users of Poisson many features each, which are drawn by a Zipf law."""
    rng = np.random.default_rng(n)
    sizes = 1 + rng.poisson(mean - 1, n)
    users = np.repeat(np.arange(n), sizes)
    items = np.minimum(rng.zipf(1.6, users.size) - 1, features - 1)
    pairs = np.unique(users * features + items)
    data = gv.Bipartite.from_pairs(pairs // features, pairs % features, users=np.arange(n))
    return data.with_items("things")


def table(n: int, columns: int = 8) -> gv.Table:
    """Return a table of columns with few values."""
    rng = np.random.default_rng(n)
    cells = {f"c{c}": rng.integers(0, 2 + c % 4, n) for c in range(columns)}
    return gv.Table.from_columns({name: values.astype(str) for name, values in cells.items()})


ARR = ("asymmetric-response", {"epsilon": 7.0})
HIDDEN = ("asymmetric-response", {"epsilon": 2.0})
K_DEGREE = ("k-degree", {"k": 10, "edits": "add"})
SMOOTH = ("smooth-k", {"k": 8})
ONE_DRAW = {"known": 20, "draws": 1}
CLUSTERS = ("cluster-k", {"k": 5})
SUPPRESS = ("suppress-k", {"k": 3})


def cases() -> Iterator[Case]:
    """Yield three sizes of every attack."""
    for n in (2_000, 20_000, 80_000):
        yield Case("candidate-set", lambda n=n: network(n), n, K_DEGREE, {})
        yield Case("fake-edge", lambda n=n: network(n), n, K_DEGREE, {})
        yield Case("edge-membership", lambda n=n: network(n), n, ARR, {})
    for n in (2_000, 8_000, 30_000):
        known = {"known": 20, "overlap": 0.9, "draws": 2}
        yield Case("seed-propagation", lambda n=n: network(n), n, ARR, known)
        yield Case("edge-gain", lambda n=n: network(n), n, ARR, {"draws": 2})
        yield Case("seeded-matching", lambda n=n: network(n), n, K_DEGREE, ONE_DRAW)
    for n in (1_000, 2_500, 5_500):
        nobody = {"known": 0, "overlap": 1.0, "draws": 2}
        yield Case("seed-propagation", lambda n=n: network(n), n, ARR, nobody)
    for n in (300, 900, 1_800):
        yield Case("alignment", lambda n=n: network(n), n, ARR, {"overlap": 1.0, "draws": 1})
    yield Case("alignment", lambda: network(900), 900, HIDDEN, {"overlap": 1.0, "draws": 1})
    yield Case("seeded-matching", lambda: network(8_000), 8_000, HIDDEN, {"known": 0})
    yield Case("seeded-matching", lambda: network(700), 700, K_DEGREE, {})
    for n in (300, 1_000, 2_500):
        yield Case("seeded-matching", lambda n=n: network(n), n, ARR, ONE_DRAW)
        yield Case("seeded-matching", lambda n=n: network(n), n, HIDDEN, {"known": 0})
    for n in (2_000, 8_000, 30_000):
        yield Case("linkage", lambda n=n: lists(n), n, SMOOTH, {})
        yield Case("linkage", lambda n=n: lists(n), n, ("rename", {}), {})
        yield Case("linkage", lambda n=n: table(n, 10), n, ("mondrian", {"k": 3}), {})
        yield Case("item-membership", lambda n=n: lists(n), n, SMOOTH, {})
        yield Case("item-membership", lambda n=n: lists(n), n, ("rename", {}), {"shadows": 0})
        yield Case("class-truth", lambda n=n: lists(n), n, SMOOTH, {})
        yield Case("homogeneity", lambda n=n: lists(n), n, SMOOTH, {})
        yield Case("intersection", lambda n=n: lists(n), n, SMOOTH, {})
        yield Case("entry-membership", lambda n=n: lists(n), n, ("rename", {}), {})
    for n in (500, 2_000, 8_000):
        yield Case("membership", lambda n=n: lists(n), n, SMOOTH, {})
        yield Case("tie-membership", lambda n=n: network(n), n, K_DEGREE, {})
        yield Case("singling-out", lambda n=n: table(n), n, CLUSTERS, {})
        yield Case("insider", lambda n=n: table(n), n, CLUSTERS, {})
        yield Case("minimality", lambda n=n: table(n), n, CLUSTERS, {})
        yield Case("refinement", lambda n=n: table(n), n, CLUSTERS, {})
        yield Case("minimality", lambda n=n: table(2 * n, 10), 2 * n, SUPPRESS, {})
        yield Case("refinement", lambda n=n: table(2 * n, 10), 2 * n, SUPPRESS, {})
        yield Case("refinement", lambda n=n: table(2 * n, 10), 2 * n, ("mondrian", {"k": 3}), {})
    for n in (100, 300, 1_000):
        yield Case("re-run", lambda n=n: lists(n), n, SMOOTH, {"trials": 5})
        yield Case("edge-re-run", lambda n=n: network(n), n, ARR, {"runs": 100})
    for n in (500, 1_000, 2_500):
        yield Case("matching", lambda n=n: table(n), n, ("cluster-k", {"k": 5}), {})


def situation_of(case: Case) -> tuple[Any, Any]:
    """Return what an attack reads, with a second release and a column, and its options."""
    data = case.data()
    name, parameters = case.method
    if case.attack == "entry-membership":
        name, parameters = ARR
    method = gv.METHODS[name].from_parameters(parameters)
    started = time.process_time()
    release = method.anonymize(data)
    if release.private is None:
        raise TypeError("a new release has its private part")
    seconds = {"anonymize": time.process_time() - started}  # as on a machine that does nothing else
    release = dataclasses.replace(
        release, private=msgspec.structs.replace(release.private, seconds=seconds)
    )
    pair = comparison_of(release, data, Randomness(seed=1), wanted_by="attack")
    second = None
    if case.attack == "intersection":
        again = method.anonymize(data)
        second = comparison_of(again, data, Randomness(seed=1), wanted_by="attack")
    situation = AttackInput(
        comparison=pair,
        release=release,
        levels=rows._levels(release, pair.original),  # noqa: SLF001  as the command does
        rerun=rerun_of(release),
        second=second,
        attached=Attached("group", np.arange(data.size) % 3),
    )
    entry = ATTACKS[case.attack]
    situation = seen_by(entry, situation)
    return situation, entry.options.of(case.attack, case.options)


def measure(case: Case) -> dict[str, Any]:
    """Return the row of a case."""
    entry = ATTACKS[case.attack]
    situation, options = situation_of(case)
    said = entry.seconds(situation, options)
    situation, options = situation_of(case)
    started = time.process_time()
    entry.compute(situation, options)
    took = time.process_time() - started
    return {
        "attack": case.attack,
        "n": case.size,
        "method": case.method,
        "options": case.options,
        "said": round(said, 3),
        "cpu_seconds": round(took, 3),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    asked = sys.argv[1:]
    compiled = set()
    for case in cases():
        if asked and case.attack not in asked:
            continue
        if case.attack not in compiled:
            measure(case)
            compiled.add(case.attack)
        row = measure(case)
        ratio = row["said"] / max(row["cpu_seconds"], 1e-3)
        mark = "" if 0.5 <= ratio <= 2 or max(row["said"], row["cpu_seconds"]) < 1 else "  <--"
        print(json.dumps(row), f"ratio {ratio:.2f}{mark}", flush=True)
        append_rows(RESULTS, row)


if __name__ == "__main__":
    main()
