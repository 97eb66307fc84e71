"""Items of the papers on networks: the Top-m Filter, the anonymization problem, k-degree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import exp, log
from statistics import fmean

import numpy as np

from graphveil.data import Graph
from graphveil.evaluate.measuring import averaged
from graphveil.evaluate.metrics.registry import PRESETS
from graphveil.io import datasets, read_graph
from graphveil.measures import class_sizes_of_nodes, partition
from graphveil.methods import METHODS
from graphveil.methods.annealing.task import Task
from graphveil.methods.k_degree.paper import (
    construct_graph,
    dp_graph_anonymization,
    greedy_rec_algorithm,
)
from graphveil.methods.random_graphs.hierarchy import paired_tree
from graphveil.methods.random_graphs.kernels.hierarchy import log_likelihood
from graphveil.methods.structural.paper import sample_edits
from graphveil.verbs.evaluate import evaluate_release
from graphveil.verbs.reproduce.reproduce import Asked, By, Reproduced

TABLE_1 = {
    "polbooks": (105, 441, -1248.0),
    "polblogs": (1124, 16715, -74e3),
    "as20graph": (6474, 12572, -100e3),
    "wiki-Vote": (7115, 100762, -618e3),
    "ca-HepPh": (12006, 118489, -876e3),
    "ca-AstroPh": (18771, 198050, -1.54e6),
    "amazon": (334_000, 925_000, -2.88e6),
    "youtube": (1_134_000, 2_987_000, -11.14e6),
}
"""Nodes, edges and the second log-likelihood, as the paper rounds them."""

LARGE = 100_000
"""So many nodes are run once, and at one epsilon."""

FILTERS: dict[By, str] = {"published": "published", "default": "independent"}
"""The variants of the filter."""

EPSILONS = ("2", "ln n", "8", "16")


def _graphs(asked: Asked) -> Iterator[tuple[str, Graph]]:
    """Yield the networks of the folder, without nodes that have no edge, as the paper counts."""
    for name, path in asked.files.items():
        edges = read_graph(path, directed="symmetrize").edges()
        yield name, Graph.from_edges(edges[:, 0], edges[:, 1])


def _filter(epsilon: float, variant: str) -> str:
    return f"top-m-filter, epsilon={epsilon:g}, variant={variant}"


def sizes(asked: Asked) -> Iterator[Reproduced]:
    """Yield table I: nodes, edges, and the log-likelihood of the tree that pairs nodes in order."""
    for name, graph in _graphs(asked):
        tree = paired_tree(graph, np.arange(graph.n_nodes))
        found = (graph.n_nodes, graph.n_edges, log_likelihood(tree))
        for figure, paper, ours in zip(
            ("nodes", "edges", "logLK2"), TABLE_1[name], found, strict=True
        ):
            yield Reproduced(name, figure, "paper", paper)
            words = "nodes in the order of their labels" if figure == "logLK2" else ""
            yield Reproduced(name, figure, "published", ours, variant=words)


def kept(asked: Asked) -> Iterator[Reproduced]:
    """Yield figure 2: the share of edges kept, which depends on nodes and edges alone.

    Graphs with all edges equally likely are drawn in the sizes of table I.
    """
    for name, (n, m, _) in TABLE_1.items():
        shares = (1 / 3,) if n > LARGE else (1 / 6, 1 / 3, 1 / 2, 1.0)
        for share in shares:
            figure = f"edges kept at {share:.2f} of 3 ln n"
            epsilon = float(f"{3 * log(n) * share:.4g}")
            x = log(n * (n - 1) / 2 / m - 1)
            if epsilon >= x:
                equation = 1 - exp(-epsilon * (0.5 - x / (2 * epsilon))) / 2
                yield Reproduced(name, figure, "paper", equation, variant="equations 2, 3")
            for run, seed in asked.runs():
                if n > LARGE and run > 1:
                    continue
                graph = datasets.erdos_renyi(n, m, seed=seed)
                for by, variant in FILTERS.items():
                    whole = float(f"{epsilon + 0.5:.5g}")  # 0.5 of it is for the count
                    parameters = {"epsilon": whole, "variant": variant}
                    method = METHODS["top-m-filter"].from_parameters(parameters)
                    release = method.anonymize(graph, seed=seed)
                    rows = evaluate_release(release, original=graph, metrics=["edges-kept"])
                    value = next(row.value for row in rows if row.part == "share") or 0.0
                    words = _filter(whole, variant)
                    yield Reproduced(name, figure, by, value, "share of edges", words, run)


def errors(asked: Asked) -> Iterator[Reproduced]:
    """Yield figure 3: the mean error of ten metrics of the mean of the releases."""
    metrics = [name for name in PRESETS["top-m-filter"] if name != "power-law"]
    for name, graph in _graphs(asked):
        for label, (by, variant) in product(EPSILONS, FILTERS.items()):
            epsilon = float(f"{log(graph.n_nodes):.5g}" if label == "ln n" else label)
            parameters = {
                "epsilon": epsilon,
                "epsilon_count": float(f"{epsilon / 20:.4g}"),
                "variant": variant,
            }
            method = METHODS["top-m-filter"].from_parameters(parameters)
            releases = [method.anonymize(graph, seed=seed) for _, seed in asked.runs()]
            rows = averaged(releases, original=graph, metrics=metrics, seed=asked.seed)
            found = [row.value or 0.0 for row in rows if row.part in {"relative error", "half L1"}]
            figure = f"mean error of {len(found)} metrics, epsilon {label}"
            unit, words = f"mean of {asked.repeats} releases", _filter(epsilon, variant)
            yield Reproduced(name, figure, by, fmean(found), unit, words)


def threshold(_: Asked) -> Iterator[Reproduced]:
    """Yield algorithm 1: how many cells pass the threshold as printed, and as corrected."""
    n, m, epsilon = 10, 5, 1.0
    data = f"{n} nodes, {m} edges, epsilon {epsilon:g}"
    cells, x = n * (n - 1) / 2, log(n * (n - 1) / 2 / m - 1)
    thetas: dict[By, float] = {
        "paper": x / (2 * epsilon),
        "published": log(cells / (2 * m) + (exp(epsilon) - 1) / 2) / epsilon,
    }
    for by, theta in thetas.items():
        passing = m * exp(-epsilon * (theta - 1)) / 2 + (cells - m) * exp(-epsilon * theta) / 2
        words = "as printed" if by == "paper" else "corrected"
        yield Reproduced(data, "threshold", by, theta, variant=words)
        yield Reproduced(data, "cells that pass", by, passing, variant=words)


# ---- the anonymization problem

TABLE_2 = {"Copnet calls": (0.024, 5.5, 1.0, 8.6), "GRQC collab.": (0.054, 42.2, 1.4, 3.1)}
"""Uniqueness under count, and ua over es: full, partial, budgeted."""

GOALS = {"full": "full", "partial": "partial:0.95", "budgeted": "budget:0.05"}
HEURISTICS = ("es", "degree", "affected", "unique", "ua")
OPERATIONS = ("delete", "add", "rewire")
DEGREES = (2, 4, 16, 64)
MODEL_NODES = 500
SHARES = (0.0, 0.05, 0.2, 0.5)


def _networks(asked: Asked) -> Iterator[tuple[str, Graph]]:
    yield "Copnet calls", datasets.load("copenhagen-calls")
    for _, graph in _graphs(asked):
        yield "GRQC collab.", graph


def alone(graph: Graph) -> int:
    """Return how many nodes are alone in their class under count.

    >>> alone(Graph.from_edges([0, 1], [1, 2], n=3))
    1
    """
    return int(np.count_nonzero(class_sizes_of_nodes(partition(graph, measure="count")) == 1))


def reached(graph: Graph, goal: str, heuristic: str, seed: int) -> float:
    """Return the share of edges kept, or with a budget the share of nodes made anonymous."""
    method = METHODS["structural"].from_parameters(
        {"measure": "count", "k": 2, "goal": goal, "heuristic": heuristic}
    )
    data = method.anonymize(graph, seed=seed).data
    if goal.startswith("budget"):
        return 1 - alone(data) / alone(graph)
    return float(data.n_edges / graph.n_edges)


def gains(asked: Asked) -> Iterator[Reproduced]:
    """Yield table 2: uniqueness, what es, ua and the default reach, and the ratios to es."""
    heuristics: dict[By, str] = {"published": "ua", "default": "auto"}
    for name, graph in _networks(asked):
        printed = TABLE_2[name]
        yield Reproduced(name, "uniqueness", "paper", printed[0])
        uniqueness = alone(graph) / graph.n_nodes
        yield Reproduced(name, "uniqueness", "published", uniqueness)
        for (words, goal), ratio in zip(GOALS.items(), printed[1:], strict=True):
            base = []
            for run, seed in asked.runs():
                base.append(reached(graph, goal, "es", seed))
                yield _reached(name, words, "es", "published", base[-1], run)
            yield Reproduced(name, f"{words}: over es", "paper", ratio)
            for by, heuristic in heuristics.items():
                values = []
                for run, seed in asked.runs():
                    values.append(reached(graph, goal, heuristic, seed))
                    yield _reached(name, words, heuristic, by, values[-1], run)
                if fmean(base):
                    gain = fmean(values) / fmean(base)
                    how = f"structural, heuristic={heuristic}"
                    yield Reproduced(name, f"{words}: over es", by, gain, variant=how)


def _reached(data: str, goal: str, heuristic: str, by: By, value: float, run: int) -> Reproduced:
    what = "nodes made anonymous" if goal == "budgeted" else "edges kept"
    return Reproduced(
        data,
        f"{goal}: {what}, {heuristic}",
        by,
        value,
        "share",
        f"structural, goal={GOALS[goal]}, heuristic={heuristic}",
        run,
    )


def heuristics(asked: Asked) -> Iterator[Reproduced]:
    """Yield figure 3: what the paper's five heuristics and the default reach."""
    for name, graph in _networks(asked):
        for (words, goal), heuristic in product(GOALS.items(), (*HEURISTICS, "auto")):
            by: By = "default" if heuristic == "auto" else "published"
            for run, seed in asked.runs():
                value = reached(graph, goal, heuristic, seed)
                yield _reached(name, words, heuristic, by, value, run)


def _model(name: str, degree: int, seed: int) -> Graph:
    if name == "ER":
        return datasets.erdos_renyi(MODEL_NODES, MODEL_NODES * degree // 2, seed=seed)
    if name == "BA":
        return datasets.barabasi_albert(MODEL_NODES, degree // 2, seed=seed)
    return datasets.watts_strogatz(MODEL_NODES, degree, seed=seed)


def operations(asked: Asked) -> Iterator[Reproduced]:
    """Yield figure 1: uniqueness after random deletion, addition and rewiring on three models."""
    for model, degree in product(("ER", "BA", "WS"), DEGREES):
        for run, seed in asked.runs():
            graph, data = _model(model, degree, seed), f"{model}, mean degree {degree}"
            for operation in OPERATIONS:
                points = uniqueness_after(graph, operation, seed)
                for share, value in zip(SHARES, points, strict=True):
                    figure, how = f"{operation} {share:.0%}: uniqueness", f"es, edits={operation}"
                    unit = "share of nodes"
                    yield Reproduced(data, figure, "published", value, unit, how, run)


def uniqueness_after(graph: Graph, operation: str, seed: int) -> list[float]:
    """Return the uniqueness after each of `SHARES` of the edges were edited at random."""
    curve = [(0.0, alone(graph) / graph.n_nodes)]

    def watch(left: int, edits: int) -> bool:
        curve.append((edits / graph.n_edges, left / graph.n_nodes))
        return False

    budget = int(max(SHARES) * graph.n_edges)
    task = Task(graph, "count", 1, 2, operation, budget, -1)
    rng = np.random.Generator(np.random.PCG64DXSM(seed))
    gap = -(-graph.n_edges // 100)
    sample_edits(task._replace(by_budget=True), "es", gap=gap, rng=rng, watch=watch)
    shares, values = zip(*curve, strict=True)
    return [values[int(np.argmin(np.abs(np.array(shares) - share)))] for share in SHARES]


# ---- k-degree anonymity

KS = (2, 5, 10, 20)


def degrees(asked: Asked) -> Iterator[Reproduced]:
    """Yield algorithm 1 and the two degree sequences, and the edits of releases."""
    graphs = {"Copnet calls": datasets.load("copenhagen-calls")}
    sequences = {"least": dp_graph_anonymization, "greedy": greedy_rec_algorithm}
    for (name, graph), k in product(graphs.items(), KS):
        for words, sequence in sequences.items():
            target = sequence(graph.degrees(), k)
            cost = int((target - graph.degrees()).sum())
            figure, how = f"k={k}: {words} increase of degrees", sequence.__name__
            yield Reproduced(name, figure, "published", cost, variant=how)
            if target.sum() % 2 == 0 and words == "least":
                built = construct_graph(target, seed=asked.seed)
                same = built is not None and np.array_equal(built.degrees(), target)
                figure, how = f"k={k}: degrees met by ConstructGraph", "construct_graph"
                yield Reproduced(name, figure, "published", float(same), variant=how)
        edited: dict[By, str] = {"published": "add", "default": "any"}
        for run, seed in asked.runs():
            for by, edits in edited.items():
                method = METHODS["k-degree"].from_parameters({"k": k, "edits": edits})
                private = method.anonymize(graph, seed=seed).private
                cost_of = {} if private is None else private.cost
                figure, how = f"k={k}: edits of the release", f"k-degree, k={k}, edits={edits}"
                yield Reproduced(name, figure, by, cost_of["edits"], "edges", how, run)
