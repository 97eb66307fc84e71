"""The experiments of *The anonymization problem in social networks*, on the networks at hand.

    python benchmarks/anonymization_problem/run.py --data FOLDER PART [--seeds 5] [--networks NAME]

PART is one of

    variants      full, partial (95 %) and budgeted (5 %) anonymization by every heuristic, with
                  what was kept and the time: table 2, figures 3, 4 and 6
    trajectories  uniqueness while edges are deleted, under four measures: figure 2
    tradeoff      utility at several budgets: figure 5
    arcs          es, ua and ua-only at 5 and at 10 % of the edges. The program that came with the
                  paper counts each edge twice, once a direction: its 5 % are 10 % of the edges
    keep          utility and people left with 5 % of the edges: es, ua, auto without and with
                  keep=all, and with spend-least
    deleted       how well common neighbors in a release tell deleted pairs from those that
                  never were edges: the runs of keep, on networks that prices were not tuned on
    steps         the search for a budget of 5 %: as many proposals as before it went on while it
                  gained, and as now

A row is written as soon as it is measured, to ``results/PART.parquet``, and a run that was stopped
goes on where it was. The first call of every kind compiles, or loads compiled code; it is made
once on a small graph before anything is timed, and its time stands in the row ``warm-up``. Edges
kept and nodes left are recounted here from the released graphs. ``report.py`` prints the tables,
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

import numpy as np
from networks import NETWORKS, UNTUNED, Network, read
from scipy.sparse import csr_matrix

import graphveil as gv
from graphveil.measures import partition as classes_of
from graphveil.methods.annealing.task import Task
from graphveil.methods.structural.paper import sample_edits

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results"
PAPERS = ("es", "degree", "affected", "unique", "ua")
GOALS = ("full", "partial:0.95", "budget:0.05")
UTILITY = ("clustering", "shortest-path", "largest-component", "betweenness", "communities")
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
MEASURES = ("degree", "count", "dk", "vrq")
FIGURE_2 = ("es", "degree", "ua")
ON_THE_WAY = {"Radoslaw emails", "Arenas email", "Moreno innov.", "Moreno health", "GRQC collab."}
Todo = tuple[tuple[Any, ...], Callable[[], dict[str, Any]]]

STEPPED = {
    "Arenas email",
    "GRQC collab.",
    "DNC emails",
    "Moreno innov.",
    "Radoslaw emails",
    "Primary school",
}
"""The constants were looked at on the first four."""

OPTIONS: dict[str, dict[str, Any]] = {
    "es": {"heuristic": "es"},
    "ua": {"heuristic": "ua"},
    "auto": {"keep": "none"},
    "keep": {"keep": "all"},
    "spend-least": {"spend_least": True},
}
"""What a run of the part keep asks for."""

TRADED = {"Radoslaw emails", "Moreno innov.", "Arenas email", "DNC emails", "Air traffic control"}


def anonymized(
    graph: gv.Graph, heuristic: str, goal: str, seed: int
) -> tuple[gv.Release, dict[str, Any]]:
    """Return a release, and its row: what it kept, recounted, and the time."""
    options = OPTIONS.get(heuristic, {"heuristic": heuristic})
    method = gv.StructuralAnonymity(measure="count", k=2, goal=goal, **options)
    started, busy = time.perf_counter(), time.process_time()
    release = method.anonymize(graph, seed=seed)
    return release, {
        "heuristic": heuristic,
        "goal": goal,
        "seed": seed,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "left_before": unprotected_in(graph),
        "left": unprotected_in(release.data),
        "edges_after": release.data.n_edges,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - busy,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def kept(graph: gv.Graph, heuristic: str, goal: str, seed: int) -> dict[str, Any]:
    """Return the row of a run."""
    return anonymized(graph, heuristic, goal, seed)[1]


def useful(graph: gv.Graph, heuristic: str, goal: str, seed: int) -> dict[str, Any]:
    """Return the row of a run with the utility metrics of its release."""
    release, row = anonymized(graph, heuristic, goal, seed)
    found = gv.evaluate_release(release, original=graph, metrics=UTILITY, seed=seed)
    return row | {f"{item.question}: {item.part}": item.value for item in found}


def unprotected_in(graph: gv.Graph, k: int = 2) -> int:
    """Return how many nodes are in classes below k under count."""
    sizes = np.bincount(classes_of(graph, measure="count"))
    return int(sizes[sizes < k].sum())


def variants(network: Network, graph: gv.Graph, seeds: int) -> Iterator[Todo]:
    """Yield every run of table 2 and figures 3, 4 and 6; large networks by budget alone."""
    goals = GOALS[2:] if network.large else GOALS
    for key in product((*PAPERS, "auto"), goals, range(1, seeds + 1)):
        yield key, partial(kept if network.large else useful, graph, *key)


def trajectories(network: Network, graph: gv.Graph, seeds: int) -> Iterator[Todo]:
    """Yield every curve of figure 2."""
    if network.name in ON_THE_WAY:
        for key in product(MEASURES, FIGURE_2, range(1, seeds + 1)):
            yield key, partial(curve, graph, *key)


def tradeoff(network: Network, graph: gv.Graph, seeds: int) -> Iterator[Todo]:
    """Yield every point of figure 5."""
    if network.name in TRADED:
        goals = [f"budget:{share}" for share in SHARES]
        for key in product((*PAPERS, "auto"), goals, range(1, seeds + 1)):
            yield key, partial(useful, graph, *key)


def keep(network: Network, graph: gv.Graph, seeds: int) -> Iterator[Todo]:
    """Yield what is kept beside the people that are left, with 5 % of the edges."""
    if not network.large:
        for key in product(OPTIONS, ("budget:0.05",), range(1, seeds + 1)):
            yield key, partial(useful, graph, *key)


def arcs(network: Network, graph: gv.Graph, seeds: int) -> Iterator[Todo]:
    """Yield es and both ways of unique-affected at two budgets in edges."""
    if not network.large:
        for key in product(
            ("es", "ua", "ua-only"), ("budget:0.05", "budget:0.1"), range(1, seeds + 1)
        ):
            yield key, partial(kept, graph, *key)


def steps(network: Network, graph: gv.Graph, seeds: int) -> Iterator[Todo]:
    """Yield searches of one stretch, and of more while they gain."""
    if network.name in STEPPED:
        for key in product(("search",), (2, 5), ("one stretch", "by slope"), range(1, seeds + 1)):
            yield key, partial(stepped, graph, *key[1:])


def stepped(graph: gv.Graph, k: int, which: str, seed: int) -> dict[str, Any]:
    """Return the row of a search for 5 % of the edges."""
    fixed = min(max(50 * graph.n_edges, 100_000), 5_000_000)
    method = gv.StructuralAnonymity(
        measure="count",
        k=k,
        goal="budget:0.05",
        heuristic="search",
        iterations=fixed if which == "one stretch" else None,
    )
    busy = time.process_time()
    release = method.anonymize(graph, seed=seed)
    cpu = time.process_time() - busy
    left = {
        f"left{when}": unprotected_in(one, k)
        for when, one in (("_before", graph), ("", release.data))
    }
    return {"k": k, "which": which, "seed": seed, "cpu_seconds": cpu} | left


def curve(graph: gv.Graph, measure: str, heuristic: Any, seed: int) -> dict[str, Any]:
    """Return the share of edges deleted and the uniqueness after every hundredth of the edges."""
    classes = np.bincount(classes_of(graph, measure=measure))
    points = [(0.0, float(np.count_nonzero(classes == 1)) / graph.n_nodes)]

    def watch(left: int, edits: int) -> bool:
        points.append((edits / graph.n_edges, left / graph.n_nodes))
        return False

    task = Task(graph, measure, 1, 2, "delete", graph.n_edges, -1)
    rng = np.random.Generator(np.random.PCG64(seed))
    gap = -(-graph.n_edges // 100)
    sample_edits(task._replace(by_budget=True), heuristic, gap=gap, rng=rng, watch=watch)
    return {"measure": measure, "heuristic": heuristic, "seed": seed, "curve": points}


def deleted(network: Network, graph: gv.Graph, seeds: int) -> Iterator[Todo]:
    """Yield how well deleted pairs are told from pairs that never were edges."""
    if network.name in UNTUNED:
        for key in product(OPTIONS, ("budget:0.05",), range(1, seeds + 1)):
            yield key, partial(told_apart, graph, *key)


def told_apart(graph: gv.Graph, heuristic: str, goal: str, seed: int) -> dict[str, Any]:
    """Return the row of a run with the AUC of common neighbors: deleted pairs, and never edges."""
    release, row = anonymized(graph, heuristic, goal, seed)
    place = release.private.linkage.released
    ones = csr_matrix(release.data.to_scipy(), dtype=np.int64)[place][:, place]
    was, common, rng = csr_matrix(graph.to_scipy()), ones @ ones, np.random.default_rng(seed)
    pairs = np.sort(rng.integers(0, graph.n_nodes, (20_000, 2)), axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    never = pairs[np.asarray(was[pairs[:, 0], pairs[:, 1]]).ravel() == 0]
    edges = graph.edges()
    gone = edges[np.asarray(ones[edges[:, 0], edges[:, 1]]).ravel() == 0]
    if not len(gone):
        return row | {"deleted": 0, "auc": None}
    one, other = (np.asarray(common[p[:, 0], p[:, 1]]).ravel() for p in (gone, never))
    ordered = np.sort(other)
    below = np.searchsorted(ordered, one, "left") + np.searchsorted(ordered, one, "right")
    return row | {"deleted": len(gone), "auc": float(below.mean() / (2 * len(other)))}


PARTS = {
    "variants": variants,
    "trajectories": trajectories,
    "tradeoff": tradeoff,
    "arcs": arcs,
    "keep": keep,
    "deleted": deleted,
    "steps": steps,
}


def warm_up() -> float:
    """Return the seconds of one run of everything on a small graph: compiling, loading."""
    graph = gv.datasets.load("copenhagen-calls")
    started = time.perf_counter()
    for heuristic in (*PAPERS, "auto"):
        for goal in GOALS:
            method = gv.StructuralAnonymity(goal=goal, heuristic=heuristic, iterations=1000)
            method.anonymize(graph, seed=1)
    return time.perf_counter() - started


def main() -> None:
    """Measure what is missing of one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--heuristics", nargs="*", default=[*PAPERS, *OPTIONS, "ua-only", "search"])
    parser.add_argument("--networks", nargs="*", default=[item.name for item in NETWORKS])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / f"{arguments.part}.parquet"
    done = {row["key"] for row in read_rows(path)}
    seconds = warm_up()
    if "warm-up" not in done:
        append_rows(path, {"key": "warm-up", "seconds": seconds})
    for network in NETWORKS:
        if network.name not in arguments.networks:
            continue
        graph = read(network, arguments.data)
        for parts, run in PARTS[arguments.part](network, graph, arguments.seeds):
            key = "/".join(map(str, (network.name, *parts)))
            if key not in done and set(parts) & set(arguments.heuristics):
                append_rows(path, {"key": key, "network": network.name} | run())


if __name__ == "__main__":
    main()
