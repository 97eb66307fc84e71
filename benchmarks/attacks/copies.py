"""Who is named by whom on the same copies of the same networks, beside SciPy's FAQ.

    python benchmarks/attacks/copies.py --data FOLDER [--networks NAME ...] [--out FILE]

FOLDER holds the networks as ``anonet/NAME.edges``; those whose names begin with ``made`` are drawn
here, by Chung and Lu with weights of a power law. The attacks were tuned on `TUNED`, and on made
networks of other kinds. Every case anonymizes a network under two seeds and draws one copy and one
set of known people for each; every attacker gets the same. Raw rows, with CPU time of one thread,
are appended to ``results/copies.parquet``; what stands there is not run again. ``--show``
prints the table.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import graphveil as gv
from graphveil.attacks.networks.alignment import aligned
from graphveil.attacks.networks.assignment.fugal import assigned, relaxed_alignment
from graphveil.attacks.networks.copies.paired_copy import Pairing, pairing
from graphveil.attacks.networks.propagation import guess, known_people
from graphveil.attacks.networks.seeded_matching import STARTS, best_match
from graphveil.core.randomness import Randomness
from graphveil.evaluate import comparison_of

sys.path.append(str(Path(__file__).resolve().parents[1]))
from generators import chung_lu_graph
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "copies.parquet"
ARENAS, MAAYAN, NETSCIENCE = "out.arenas-email", "out.maayan-faa", "out.dimacs10-netscience"
TUNED = (ARENAS, MAAYAN)
SEEDS = (1, 2)

Known = np.ndarray[Any, np.dtype[np.int64]]


class Case(NamedTuple):
    """A release of a network, and what the adversary has."""

    network: str
    method: str
    parameters: dict[str, Any]
    overlap: float = 1.0
    people: float = 1.0
    known: int = 0


FULL = {"measure": "count", "k": 2}
ADDED = {"k": 20, "edits": "add"}
SEARCH = {"measure": "count", "k": 2, "goal": "budget:0.05", "heuristic": "search"}


def cases() -> Iterator[Case]:
    """Yield every case."""
    for network in ("made-1", "made-2", "made-3"):
        for known in (20, 0):
            yield Case(network, "asymmetric-response", {"epsilon": 3.0}, known=known)
    for network in (ARENAS, MAAYAN, NETSCIENCE):
        yield Case(network, "randomized-response", {"epsilon": 2.5})
        yield Case(network, "randomized-response", {"epsilon": 2.0}, known=100)
        for method in (
            "asymmetric-response",
            "degree-prior-response",
            "mixing-prior-response",
            "top-m-filter",
        ):
            yield Case(network, method, {"epsilon": 7.03})
        yield Case(network, "structural", FULL, overlap=0.8)
        yield Case(network, "k-degree", ADDED, overlap=0.8)
        yield Case(network, "structural", SEARCH, people=0.6)
        yield Case(network, "k-degree", {"k": 10, "edits": "add"}, people=0.6)
        yield Case(network, "asymmetric-response", {"epsilon": 6.0}, people=0.6)

    for method, parameters, known in LIMITS:
        yield Case(ARENAS, method, parameters, known=known)


LIMITS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("rename", {}, 0),
    ("structural", FULL, 0),
    ("k-degree", ADDED, 0),
    ("k-degree", {"k": 20, "edits": "any"}, 0),
    ("asymmetric-response", {"epsilon": 5.0}, 0),
    ("asymmetric-response", {"epsilon": 4.0}, 0),
    ("asymmetric-response", {"epsilon": 4.0}, 20),
    ("asymmetric-response", {"epsilon": 3.0}, 20),
    ("randomized-response", {"epsilon": 4.0}, 0),
    ("randomized-response", {"epsilon": 7.03}, 0),
    ("randomized-response", {"epsilon": 2.0}, 0),
    ("randomized-response", {"epsilon": 2.0}, 20),
    ("degree-prior-response", {"epsilon": 4.0}, 20),
    ("degree-prior-response", {"epsilon": 4.0}, 0),
    ("mixing-prior-response", {"epsilon": 4.0}, 20),
    ("mixing-prior-response", {"epsilon": 7.03}, 20),
    ("top-m-filter", {"epsilon": 4.0}, 20),
    ("dp-1k", {"epsilon": 7.03}, 20),
    ("degree-triangle-model", {"epsilon": 2.0}, 20),
    ("hrg-mcmc", {"epsilon": 7.03}, 0),
    ("hrg-mcmc", {"epsilon": 7.03}, 20),
    ("density-explore-reconstruct", {"epsilon": 7.03}, 0),
    ("density-explore-reconstruct", {"epsilon": 7.03}, 20),
)
"""What the limits of methods quote."""


def network_of(name: str, folder: Path) -> gv.Graph:
    """Return a network by its name."""
    if name.startswith("made"):
        return chung_lu_graph(1_000, mean_degree=35, seed=int(name.partition("-")[2]))
    return gv.read_graph(folder / "anonet" / f"{name}.edges", directed="symmetrize")


def copy_of(case: Case, release_seed: int, folder: Path) -> tuple[Pairing, Known]:
    """Return a copy beside a release, and the nodes of the copy that are known."""
    graph = network_of(case.network, folder)
    method = gv.METHODS[case.method].from_parameters(case.parameters)
    release = method.anonymize(graph, seed=None if case.method == "rename" else release_seed)
    pair = comparison_of(release, graph, Randomness(seed=1), wanted_by="attack")
    rng = np.random.Generator(np.random.PCG64(release_seed))
    two = pairing(pair, case.overlap, rng, people=case.people)
    return two, known_people(two, case.known, rng)


def scipy_faq(two: Pairing, known: Known) -> Known:
    """Return what SciPy's FAQ names from the barycenter, known people given."""
    from scipy.optimize import quadratic_assignment  # noqa: PLC0415  one attacker of several

    first, second = (graph.to_scipy().astype(float).toarray() for graph in (two.copy, two.released))
    options = {"maximize": True, "partial_match": np.column_stack([known, two.truth[known]])}
    found = quadratic_assignment(first, second, method="faq", options=options)
    return np.asarray(found.col_ind, dtype=np.int64)


def fugal_alone(two: Pairing) -> Known:
    """Return what the relaxation alone names: the attack `alignment` as it was."""
    return assigned(relaxed_alignment(two.copy, two.released, two.side_information))


def attackers(case: Case, seed: int) -> dict[str, Callable[[Pairing, Known], Known]]:
    """Return who attacks a case; the slow ones, of nobody known, attack the first release."""

    def rng() -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(seed))

    every: dict[str, Callable[[Pairing, Known], Known]] = {
        "seeded-matching": lambda two, known: best_match(two, known, rng()),
        "seed-propagation": lambda two, known: guess(two, known.size, _giving(known)).match,
        "SciPy FAQ": scipy_faq,
    }
    if (case.method, case.parameters, case.known) in LIMITS and case.overlap == case.people == 1:
        return every
    slow = case.network == ARENAS or case.overlap < 1
    if slow and not case.known and seed == SEEDS[0]:
        every["alignment"] = lambda two, _: aligned(two, rng())
        every["FUGAL alone"] = lambda two, _: fugal_alone(two)
    return every


class _giving:  # noqa: N801  used as a function
    """Stands for a generator that draws these known people."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def choice(self, *_: Any, **__: Any) -> Known:
        return self.known


def row_of(case: Case, seed: int, name: str, two: Pairing, known: Known) -> dict[str, Any]:
    """Return what one attacker came to."""
    started = time.process_time()
    match = attackers(case, seed)[name](two, known)
    seconds = time.process_time() - started
    asked = two.active.copy()
    asked[known] = False
    matching = name in {"seeded-matching", "alignment"}
    return {
        "case": json.dumps(case),
        **case._asdict(),
        "release_seed": seed,
        "attacker": name,
        **({"starts": STARTS} if matching else {}),
        "people_asked": int(np.count_nonzero(asked)),
        "right": int(np.count_nonzero(match[asked] == two.truth[asked])),
        "cpu_seconds": round(seconds, 2),
    }


def show() -> None:
    """Print the table: shares that are right, one a release, and the seconds of all."""
    table: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in read_rows(RESULTS):
        share = row["right"] / max(row["people_asked"], 1)
        table[row["case"]][row["attacker"]].append(f"{share:.3f}".lstrip("0"))
    names = ("seeded-matching", "alignment", "FUGAL alone", "seed-propagation", "SciPy FAQ")
    print("| network | release | copy |", " | ".join(names), "|")
    print("|---|---|---|", "---|" * len(names), sep="")
    for key, by_name in table.items():
        case = Case(*json.loads(key))
        tuned = " (tuned on)" if case.network in TUNED else ""
        given = ", ".join(f"{name} {value}" for name, value in case.parameters.items())
        copy = f"overlap {case.overlap:g}, people {case.people:g}, {case.known or 'nobody'} known"
        cells = " | ".join(" ".join(by_name[name]) for name in names)
        print(f"| {case.network}{tuned} | {case.method}, {given} | {copy} | {cells} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--networks", nargs="*")
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--seeds", type=int, nargs="*", default=SEEDS)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    if asked.show:
        show()
        return
    warnings.simplefilter("ignore")
    there = {(row["case"], row["release_seed"], row["attacker"]) for row in read_rows(asked.out)}
    for case in cases():
        if case.network not in (asked.networks or (case.network,)):
            continue
        if case.method not in (asked.methods or (case.method,)):
            continue
        for seed in asked.seeds:
            names = [
                name
                for name in attackers(case, seed)
                if (json.dumps(case), seed, name) not in there
            ]
            if not names:
                continue
            two, known = copy_of(case, seed, asked.data)
            for name in names:
                row = row_of(case, seed, name, two, known)
                share = row["right"] / max(row["people_asked"], 1)
                print(row["case"], seed, name, f"{share:.3f}", row["cpu_seconds"], flush=True)
                append_rows(asked.out, row)


if __name__ == "__main__":
    main()
