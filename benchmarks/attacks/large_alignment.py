"""Who is named in large networks by an assignment among the nearest candidates.

    python benchmarks/attacks/large_alignment.py --data FOLDER [--part large] [--networks NAME ...]

FOLDER holds the networks as ``NAME/edges.tsv.gz`` or ``anonet/NAME.edges``; those whose names begin
with ``made`` are drawn here, by Chung and Lu with weights of a power law. The part ``small``
compares it on networks of which all pairs of nodes can be held with `seeded-matching` and
`alignment`, of which it is one of the starts there, and with the starts of all pairs alone, on the
same copies and known people; the part ``large`` runs it alone. It was tuned on `TUNED`, and what
begins with it on `TUNED_SMALL`, with other draws. Raw rows, with CPU time of one thread, are
appended to ``results/large_alignment.parquet``; what stands there is not run again.
``--show`` prints a table.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import graphveil as gv
from graphveil.attacks.networks import seeded_matching
from graphveil.attacks.networks.alignment import aligned
from graphveil.attacks.networks.assignment.frank_wolfe import Ties
from graphveil.attacks.networks.assignment.near_candidates import near_match
from graphveil.attacks.networks.assignment.one_to_one import best_assignment
from graphveil.attacks.networks.copies.paired_copy import Pairing, pairing
from graphveil.attacks.networks.copies.reidentification import NodeKinds
from graphveil.attacks.networks.propagation import known_people
from graphveil.attacks.networks.seeded_matching import best_match
from graphveil.core.randomness import Randomness
from graphveil.evaluate import comparison_of

sys.path.append(str(Path(__file__).resolve().parents[1]))
from generators import chung_lu_graph
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results" / "large_alignment.parquet"
ARENAS = "out.arenas-email"
TUNED = (ARENAS, "CA-GrQc", "wiki-Vote", "ca-AstroPh", "as20graph")
MAAYAN, NETSCIENCE, INNOVATION = (
    "out.maayan-faa",
    "out.dimacs10-netscience",
    "out.moreno_innovation",
)
TUNED_SMALL = (ARENAS, MAAYAN, INNOVATION)
SMALL = (ARENAS, MAAYAN, INNOVATION, "primaryschool", "calls", NETSCIENCE, "polblogs")
LN_N = {
    "as20graph": 8.78,
    "ca-HepPh": 9.39,
    "email-Enron": 10.51,
    "loc-Brightkite": 10.97,
    "made-100000": 11.51,
    "partial-com-youtube": 10.76,
}
"""The logarithm of the number of people: an epsilon that was proposed for asymmetric response."""

SEED = 7
ALL_PAIRS, NEAR_START = "all pairs alone", 1
"""The attacker without the search among candidates, and which of its starts that is."""
ALIGNED = {(0.8, "rename"), (0.8, "k-degree"), (1.0, "asymmetric-response")}

Known = NDArray[np.int64]


class Case(NamedTuple):
    """A release of a network, and what the adversary has."""

    network: str
    method: str
    parameters: dict[str, Any]
    overlap: float = 1.0
    known: int = 0


K_DEGREE = ("k-degree", {"k": 20, "edits": "add"})
STRUCTURAL = ("structural", {"measure": "count", "k": 2})
RENAMED = ("rename", {})


def response(epsilon: float) -> tuple[str, dict[str, Any]]:
    """Return asymmetric response at an epsilon."""
    return "asymmetric-response", {"epsilon": epsilon}


def small_cases() -> Iterator[Case]:
    """Yield the cases in which attackers are compared."""
    for network in SMALL:
        for overlap in (1.0, 0.9, 0.8):
            yield Case(network, *RENAMED, overlap)
        yield Case(network, *K_DEGREE, 0.8)
        yield Case(network, *STRUCTURAL, 0.8)
        yield Case(network, *response(7.0))
        yield Case(network, *response(5.0), known=20)


def large_cases() -> Iterator[Case]:
    """Yield the cases of large networks."""
    for network in ("as20graph", "ca-HepPh", "email-Enron"):
        for overlap in (1.0, 0.9, 0.8):
            yield Case(network, *RENAMED, overlap)
        yield Case(network, *RENAMED, 0.8, 100)
        yield Case(network, *K_DEGREE, 0.8)
        yield Case(network, *STRUCTURAL, 0.8)
        yield Case(network, *response(7.0))
        yield Case(network, *response(7.0), known=20)
        yield Case(network, *response(LN_N[network]))
    for network in ("loc-Brightkite", "made-100000", "partial-com-youtube"):
        yield Case(network, *RENAMED)
        yield Case(network, *RENAMED, 0.8)
        yield Case(network, *response(LN_N[network]))
    for network in ("wiki-Vote", "ca-AstroPh"):
        for overlap in (1.0, 0.8):
            yield Case(network, *RENAMED, overlap)
        yield Case(network, *STRUCTURAL, 0.8)
        yield Case(network, *response(5.0))


def network_of(name: str, folder: Path) -> gv.Graph:
    """Return a network by its name, without its ids."""
    if name.startswith("made"):
        return chung_lu_graph(int(name.partition("-")[2]), mean_degree=10, seed=1)
    if (path := folder / "anonet" / f"{name}.edges").exists():
        ends = np.loadtxt(path, dtype=np.int64)
    else:
        with gzip.open(folder / name / "edges.tsv.gz", "rt") as file:
            ends = np.loadtxt(file, dtype=np.int64)
    people, ends = np.unique(ends, return_inverse=True)
    ends = np.sort(ends.reshape(-1, 2), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    return gv.Graph.from_edges(*ends.T, n=people.size)


class Prepared(NamedTuple):
    """A copy beside a release, who is known, and who can be told apart."""

    two: Pairing
    known: Known
    kinds: NodeKinds


def prepared(case: Case, folder: Path) -> Prepared:
    """Return what every attacker of a case gets."""
    graph = network_of(case.network, folder)
    method = gv.METHODS[case.method].from_parameters(case.parameters)
    release = method.anonymize(graph, seed=None if case.method == "rename" else SEED)
    pair = comparison_of(release, graph, Randomness(seed=1), wanted_by="attack")
    rng = np.random.Generator(np.random.PCG64(SEED))
    two = pairing(pair, case.overlap, rng)
    known = known_people(two, case.known, rng)
    return Prepared(two, known, NodeKinds.of(graph))


def match_of(attacker: str, two: Pairing, known: Known) -> NDArray[np.int64]:
    """Return what an attacker names."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    if attacker == "alignment":
        return aligned(two, rng)
    if attacker == "seeded-matching":
        return best_match(two, known, rng)
    seeds = np.full(two.truth.size, -1, dtype=np.int64)
    seeds[known] = two.truth[known]
    if attacker == ALL_PAIRS:
        ties = Ties.of(two, seeds, rng)
        starts = enumerate(seeded_matching._starts(ties, two, rng))  # noqa: SLF001  all but one
        return best_assignment(ties, (start for at, start in starts if at != NEAR_START))
    return near_match(two, seeds, rng)


def attackers(case: Case, part: str) -> list[str]:
    """Return who attacks a case; the slowest one attacks three cases of most networks."""
    if part == "large":
        return ["nearest candidates"]
    slow = case.network != "polblogs" and not case.known
    slow = slow and (case.overlap, case.method) in ALIGNED
    return ["nearest candidates", ALL_PAIRS, "seeded-matching", *(["alignment"] if slow else [])]


def row_of(case: Case, attacker: str, some: Prepared) -> dict[str, Any]:
    """Return what one attacker came to."""
    two = some.two
    started = time.process_time()
    match = match_of(attacker, two, some.known)
    seconds = time.process_time() - started
    asked = two.active.copy()
    asked[some.known] = False
    right = asked & (match == two.truth)
    owner = np.empty_like(two.person)
    owner[two.truth] = two.person
    given = np.where(match >= 0, owner[np.maximum(match, 0)], -1)
    twins = some.kinds.twins
    alike = asked & (match >= 0) & (twins[np.maximum(given, 0)] == twins[two.person])
    distinct = asked & some.kinds.distinct[two.person]
    return {
        "case": json.dumps(case),
        **case._asdict(),
        "release_seed": SEED,
        "attacker": attacker,
        "nodes": two.copy.n_nodes,
        "ties": two.copy.n_edges,
        "released_ties": two.released.n_edges,
        "people_asked": int(np.count_nonzero(asked)),
        "right": int(np.count_nonzero(right)),
        "right_or_twin": int(np.count_nonzero(alike)),
        "without_twins": int(np.count_nonzero(distinct)),
        "right_without_twins": int(np.count_nonzero(right & distinct)),
        "cpu_seconds": round(seconds, 2),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def show() -> None:
    """Print a table: shares that are right, of all and of those of 3 ties without a twin."""
    table: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in read_rows(RESULTS):
        table[row["case"]][row["attacker"]] = row
    names = ("nearest candidates", ALL_PAIRS, "seeded-matching", "alignment")
    print("| network | people, ties | release | copy |", " | ".join(names), "|")
    print("|---|---|---|---|", "---|" * len(names), sep="")
    for key, by_name in table.items():
        case = Case(*json.loads(key))
        some = next(iter(by_name.values()))
        tuned = " (tuned on)" if case.network in {*TUNED, *TUNED_SMALL} else ""
        given = ", ".join(f"{name} {value}" for name, value in case.parameters.items())
        copy = f"overlap {case.overlap:g}, {case.known or 'nobody'} known"
        cells = " | ".join(_cell(by_name[name]) if name in by_name else "" for name in names)
        size = f"{some['nodes']:,}, {some['ties']:,}"
        how = f"{case.method}, {given}" if given else case.method
        print(f"| {case.network}{tuned} | {size} | {how} | {copy} | {cells} |")


def _cell(row: dict[str, Any]) -> str:
    every, distinct = (
        f"{row[right] / max(row[asked], 1):.3f}".lstrip("0")
        for right, asked in (("right", "people_asked"), ("right_without_twins", "without_twins"))
    )
    return f"{every}, {distinct} ({row['cpu_seconds']:.0f} s)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--part", choices=["small", "large"], nargs="*", default=["small", "large"])
    parser.add_argument("--networks", nargs="*")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    if asked.show:
        show()
        return
    warnings.simplefilter("ignore")
    there = {(row["case"], row["attacker"]) for row in read_rows(asked.out)}
    for part, cases in (("small", small_cases), ("large", large_cases)):
        for case in cases() if part in asked.part else ():
            names = [n for n in attackers(case, part) if (json.dumps(case), n) not in there]
            if not names or case.network not in (asked.networks or (case.network,)):
                continue
            some = prepared(case, asked.data)
            for name in names:
                row = row_of(case, name, some)
                share = row["right"] / max(row["people_asked"], 1)
                print(row["case"], name, f"{share:.3f}", row["cpu_seconds"], flush=True)
                append_rows(asked.out, row)


if __name__ == "__main__":
    main()
