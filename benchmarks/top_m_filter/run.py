"""The experiments of *Differentially Private Publication of Social Graphs at Linear Cost*.

    python benchmarks/top_m_filter/run.py --data FOLDER PART [--releases 10] [--networks NAME ...]
        [--methods NAME ...] [--epsilons 2 ln 8 16]

PART is one of

    networks   nodes, edges and the log-likelihood of a tree that pairs nodes in order: table I
    releases   the statistics of releases by every method: figure 3
    kept       the edges that the filter and its successor keep: figure 2
    scale      degrees and kept edges alone, and the time, on a made graph of youtube's size
    drafts     the time of the mechanism alone on that graph, from container to container

A row is written as soon as it is measured, to ``results/PART.parquet``, and a run that was stopped
goes on where it was: first the first release of every point, then the second. What is known of a
release is recounted here from its data. ``report.py`` prints the tables, ``plots.py`` draws the
figures.

Releases are drawn with a seed that follows from the row's key, so that a row can be made again; a
seeded run claims nothing. Those of ``scale``, which are timed, are drawn from entropy.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from networks import MADE, PAPER, read

import graphveil as gv
from graphveil.core.randomness import Randomness
from graphveil.evaluate import comparison_of
from graphveil.evaluate.distances import distances
from graphveil.evaluate.graph_structure import triangles_at
from graphveil.evaluate.metrics.degrees import exponent
from graphveil.evaluate.metrics.structure import closed_share
from graphveil.methods.random_graphs.hierarchy import paired_tree
from graphveil.methods.random_graphs.kernels.hierarchy import log_likelihood

sys.path.append(str(Path(__file__).resolve().parents[1]))
from raw_rows import append_rows, read_rows

RESULTS = Path(__file__).parent / "results"
EPSILONS = ("2", "ln", "8", "16", "1", "4", "12")
"""Those of the acceptance table first; ``ln`` is the logarithm of the number of nodes."""
METHODS = (
    "top-m-filter published",
    "asymmetric-response",
    "degree-prior-response",
    "mixing-prior-response",
    "dp-1k",
    "top-m-filter independent",
    "hrg-mcmc",
    "density-explore-reconstruct",
)
CELL_BY_CELL = {"top-m-filter published", "top-m-filter independent", "asymmetric-response"}
FOR_COMPARISON = {"hrg-mcmc": 8_000, "density-explore-reconstruct": 20_000}
"""What is there for comparison, and below how many nodes it is run."""
FEW = 3
"""Its releases."""
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Of 3 ln n: the epsilons of figure 2; at 1 the made graph would need more than 40."""
Point = tuple[str, Callable[[], dict[str, Any]]]


def method_of(name: str, epsilon: float) -> Any:
    """Return a method; the filter's count has a twentieth of epsilon, not its default of .5."""
    base, _, variant = name.partition(" ")
    more = {"epsilon_count": epsilon / 20, "variant": variant} if variant else {}
    return gv.METHODS[base].from_parameters({"epsilon": epsilon, **more})


def epsilon_of(label: str, graph: gv.Graph) -> float:
    """Return an epsilon of four decimals."""
    return round(log(graph.n_nodes), 4) if label == "ln" else float(label)


def released(graph: gv.Graph, name: str, epsilon: float, seed: int | None) -> Any:
    """Return a release, and its row: what it kept, recounted, and the time."""
    method, busy = method_of(name, epsilon), time.process_time()
    release = method.anonymize(graph, seed=seed)
    busy = time.process_time() - busy
    pair = comparison_of(release, graph, Randomness(seed=1), wanted_by="the benchmark")
    return release.data, {
        "method": name,
        "epsilon": epsilon,
        "seed": seed,
        "nodes": release.data.n_nodes,
        "edges": release.data.n_edges,
        "edges_before": graph.n_edges,
        "edges_kept": pair.edges_kept,
        "cpu_seconds": busy,
    }


def statistics(graph: gv.Graph) -> dict[str, Any]:
    """Return histograms of degrees and distances, the power law and the transitivity."""
    degrees = graph.degrees()
    values, nodes = np.unique(degrees, return_counts=True)
    pairs = distances(graph, np.random.default_rng(1)).pairs
    return {
        "degrees": values.tolist(),
        "nodes_of_degree": nodes.tolist(),
        "pairs_at_distance": pairs.tolist(),
        "power_law": exponent(degrees),
        "transitivity": closed_share(graph, int(triangles_at(graph).sum()) // 3),
    }


def of_degrees(graph: gv.Graph) -> dict[str, Any]:
    """Return what is cheap on a large graph."""
    degrees = graph.degrees()
    return {
        "mean_degree": float(degrees.mean()),
        "largest_degree": int(degrees.max()),
        "degree_variance": float(degrees.var()),
    }


def seed_of(key: str) -> int:
    """Return a seed that no other row has, as good as surely."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=6).digest())


def one(
    load: Callable[[str], gv.Graph], name: str, method: str, label: str, seed: int
) -> dict[str, Any]:
    """Return the row of a release with its statistics."""
    graph = load(name)
    data, row = released(graph, method, epsilon_of(label, graph), seed)
    return row | {"label": label} | statistics(data)


def networks(asked: Any, load: Callable[[str], gv.Graph]) -> Iterator[Point]:
    """Yield every row of table I."""
    for name in (*PAPER, MADE):
        if name in asked.networks:
            yield name, partial(row_of_table_1, load, name)


def row_of_table_1(load: Callable[[str], gv.Graph], name: str) -> dict[str, Any]:
    """Return the size of a network, and the log-likelihood of its tree of pairs."""
    graph = load(name)
    tree = paired_tree(graph, np.arange(graph.n_nodes))
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "log_likelihood_by_pairs": log_likelihood(tree),
    }


def releases(asked: Any, load: Callable[[str], gv.Graph]) -> Iterator[Point]:
    """Yield every point of figure 3, and the original of every network."""
    names = [name for name in PAPER if name in asked.networks]
    for name in names:
        yield f"{name}/original", lambda name=name: statistics(load(name))
    for number, name, label, method in product(
        range(1, asked.releases + 1), names, asked.epsilons, asked.methods
    ):
        most = FOR_COMPARISON.get(method)
        if most is not None and (number > FEW or PAPER[name].nodes >= most):
            continue
        key = f"{name}/{method}/{label}/{number}"
        yield key, partial(one, load, name, method, label, seed_of(key))


def kept(asked: Any, load: Callable[[str], gv.Graph]) -> Iterator[Point]:
    """Yield every point of figure 2."""
    methods = [name for name in METHODS[:2] if name in asked.methods]
    for number, name, share, method in product(
        range(1, asked.releases + 1), (*PAPER, MADE), SHARES, methods
    ):
        if name in asked.networks and (name != MADE or number == 1):
            key = f"{name}/{method}/{share}/{number}"
            yield key, partial(kept_at, load, name, method, share, seed_of(key))


def kept_at(
    load: Callable[[str], gv.Graph], name: str, method: str, share: float, seed: int
) -> dict[str, Any]:
    """Return the row of a release at a share of 3 ln n, without statistics."""
    graph = load(name)
    epsilon = float(f"{3 * log(graph.n_nodes) * share:.5g}")
    return {"share": share} | released(graph, method, epsilon, seed)[1]


def scale(asked: Any, load: Callable[[str], gv.Graph]) -> Iterator[Point]:
    """Yield every method on the made graph, with the time of making that graph from its arrays."""
    for number, label in product(range(1, asked.releases + 1), asked.epsilons):
        yield f"{MADE}/from_edges/{label}/{number}", lambda: made_again(load(MADE))
        for method in asked.methods:
            if method not in FOR_COMPARISON:
                key = f"{MADE}/{method}/{label}/{number}"
                yield key, lambda b=method, c=label: large(load(MADE), b, c)


def large(graph: gv.Graph, method: str, label: str) -> dict[str, Any]:
    """Return the row of a release of the made graph, drawn from entropy."""
    data, row = released(graph, method, epsilon_of(label, graph), None)
    return row | {"label": label} | of_degrees(data)


def made_again(graph: gv.Graph) -> dict[str, Any]:
    """Return the time of a graph from an array of its edges, and what the graph is like."""
    ends, busy = graph.edges(), time.process_time()
    again = gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=graph.n_nodes)
    return {"cpu_seconds": time.process_time() - busy, "edges": again.n_edges} | of_degrees(again)


def drafts(asked: Any, load: Callable[[str], gv.Graph]) -> Iterator[Point]:
    """Yield every cell-by-cell and prior method on the made graph, without new ids and linkage."""
    for number, label, method in product(
        range(1, asked.releases + 1), ("2", "8", "16"), ("from_edges", *METHODS[1:4])
    ):
        key = f"{MADE}/{method}/{label}/{number}"
        yield key, partial(drafted, load, method, label)


def drafted(load: Callable[[str], gv.Graph], name: str, label: str) -> dict[str, Any]:
    """Return the time of a draft, compiled before, or of the graph from an array of its edges."""
    graph = load(MADE)
    row = {"label": label}
    if name == "from_edges":
        return row | made_again(graph)
    method = method_of(name, epsilon_of(label, graph))
    method.anonymize(gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    busy = time.process_time()
    draft = method._anonymize(graph, Randomness(seed=None))  # noqa: SLF001  the mechanism alone
    busy = time.process_time() - busy
    return row | {"method": name, "edges": draft.data.n_edges, "cpu_seconds": busy}


PARTS = {
    "networks": networks,
    "releases": releases,
    "kept": kept,
    "scale": scale,
    "drafts": drafts,
}


def main() -> None:
    """Measure what is missing of one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--networks", nargs="*", default=[*PAPER, MADE])
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--epsilons", nargs="*", default=EPSILONS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / f"{asked.part}.parquet"
    done = {row["key"] for row in read_rows(path)}
    load = cache(partial(read, folder=asked.data))
    for key, measured in PARTS[asked.part](asked, load):
        if key not in done:
            append_rows(path, {"key": key, "network": key.partition("/")[0]} | measured())


if __name__ == "__main__":
    main()
