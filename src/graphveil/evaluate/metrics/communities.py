"""Communities by Leiden, their modularity, and how frequent graphlets of four nodes are.

Graphlets are estimated from 3-paths: an edge with a further edge at either end. Every connected
graph of four nodes but the star has some, so evenly drawn 3-paths tell how many there are of each;
the stars follow from the degrees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from graphveil.core.lazy import lazy_module
from graphveil.data import Graph
from graphveil.evaluate.comparison import (
    Floats,
    GraphComparison,
    Int32s,
    Ints,
    csgraph,
    sparse,
)
from graphveil.evaluate.metric import (
    Estimate,
    Figure,
    Figures,
    Sample,
    estimates_compared,
)
from graphveil.evaluate.metrics.graph_entries import COMMUNITY_RUNS, MODULARITY_RUNS

if TYPE_CHECKING:
    import graspologic_native
else:
    graspologic_native = lazy_module("graspologic_native")

ITERATIONS = 10
"""Rounds of one Leiden run."""

RANDOMNESS = 0.01
"""How freely a round may refine communities: above 0, where only the best move is made."""

MOST_SWEEPS = 1_000
"""After so many passes over all nodes a round stops moving them: each run ends, come what may."""

THRESHOLD = 0.5
"""Edges whose ends are together in a smaller share of the runs are dropped."""

MOST_ROUNDS = 20

Partition: TypeAlias = "Ints"
"""The community of every node, shape (n,)."""


def agreement(pair: GraphComparison) -> Figures:
    """Yield how far the communities agree, and how far two searches of the original do."""
    before, again, after = (
        consensus_communities(graph, pair.randomness.stream(f"communities: {purpose}"))
        for graph, purpose in (
            (pair.original, "original"),
            (pair.original, "original again"),
            (pair.aligned, "released"),
        )
    )
    sample = Sample(COMMUNITY_RUNS)
    released, own = (normalized_mutual_information(before, other) for other in (after, again))
    yield Figure("released against original", released, "NMI", sample=sample)
    yield Figure("original against itself", own, "NMI", judged=False, sample=sample)


def consensus_communities(graph: Graph, rng: np.random.Generator) -> Partition:
    """Return communities that ten runs of the Leiden algorithm agree on.

    Lancichinetti and Fortunato 2012, on the edges of the graph alone so that nothing of n x n is
    formed: ten runs (modularity, Traag et al. 2019); an edge's weight becomes the number of runs in
    which its ends are together; edges below half of them are dropped unless no edge of one of their
    ends is heavier; again, until the runs agree on every edge left. The threshold is ours, the
    paper names none. Weights are whole numbers: with shares, a search may go back and forth
    between two moves whose gains differ by rounding.
    """
    edges = graph.edges()
    weights = np.ones(graph.n_edges)
    for _ in range(MOST_ROUNDS if graph.n_edges else 0):
        weights = _together(to_weighted(edges, weights, graph.n_nodes), edges, rng)
        heaviest = np.zeros(graph.n_nodes)
        np.maximum.at(heaviest, edges, weights[:, None])
        heavy = weights >= np.minimum(THRESHOLD * COMMUNITY_RUNS, heaviest[edges].min(axis=1))
        heavy &= weights > 0
        edges, weights = edges[heavy], weights[heavy]
        if np.all(weights == COMMUNITY_RUNS):
            break
    shape = (graph.n_nodes, graph.n_nodes)
    joined = sparse.coo_array((np.ones(len(edges)), edges.T), shape=shape)
    return np.asarray(csgraph.connected_components(joined, directed=False)[1], dtype=np.int64)


def _together(matrix: sparse.csr_array, edges: Int32s, rng: np.random.Generator) -> Floats:
    """Return the number of runs in which the ends of every edge are in one community."""
    times = np.zeros(len(edges))
    for _ in range(COMMUNITY_RUNS):
        community = leiden(matrix, rng).community
        times += community[edges[:, 0]] == community[edges[:, 1]]
    return times


def to_weighted(edges: Int32s, weights: Floats, n: int) -> sparse.csr_array:
    """Return the weights of edges, shape (m, 2), as a symmetric matrix of n nodes.

    >>> to_weighted(np.array([[0, 1]], dtype=np.int32), np.array([0.5]), 2).toarray().tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    ends = np.concatenate([edges, edges[:, ::-1]]).T
    return sparse.csr_array((np.concatenate([weights, weights]), tuple(ends)), shape=(n, n))


class Communities(NamedTuple):
    """What a run of the Leiden algorithm found: communities and their modularity."""

    community: Partition
    modularity: float


def leiden(matrix: sparse.csr_array, rng: np.random.Generator) -> Communities:
    """Return the communities that one run finds; nodes without edges have one each.

    >>> pairs = to_weighted(np.array([[0, 1], [2, 3]], dtype=np.int32), np.ones(2), 4)
    >>> leiden(pairs, np.random.Generator(np.random.PCG64DXSM(1))).modularity
    0.5
    """
    n = matrix.shape[0]
    modularity, found = graspologic_native.leiden_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data,
        n,
        iterations=ITERATIONS,
        randomness=RANDOMNESS,
        seed=int(rng.integers(2**31)),
        max_local_moving_iterations=MOST_SWEEPS,
    )
    return Communities(np.array([found[node] for node in range(n)]), modularity)


def normalized_mutual_information(left: Partition, right: Partition) -> float:
    """Return the mutual information of two partitions over the mean of their entropies.

    Danon et al. 2005; 1 where neither divides anything, and 0 where only one of them does.
    """
    left, right = (np.unique(labels, return_inverse=True)[1] for labels in (left, right))
    both = _entropy(left * (right.max(initial=0) + 1) + right)
    entropies = _entropy(left) + _entropy(right)
    if entropies == 0:
        return 1.0
    return float(np.clip(2 * (entropies - both) / entropies, 0.0, 1.0))


def _entropy(labels: Partition) -> float:
    sizes = np.unique(labels, return_counts=True)[1]
    shares = sizes / max(labels.size, 1)
    return float(-np.dot(shares, np.log(shares)))


def of_own_communities(pair: GraphComparison) -> Figures:
    """Yield the modularity of each graph's own communities; nothing where one has no edges."""
    if pair.original.n_edges and pair.released.n_edges:
        before, after = (
            median_run(modularities(graph, pair.randomness.stream(f"modularity: {purpose}")))
            for graph, purpose in ((pair.original, "original"), (pair.released, "released"))
        )
        yield from estimates_compared(before, after, "modularity")


def modularities(graph: Graph, rng: np.random.Generator, runs: int = MODULARITY_RUNS) -> Floats:
    """Return the modularity of the communities that each run of the Leiden algorithm finds."""
    matrix = graph.to_scipy().astype(np.float64)
    return np.array([leiden(matrix, rng).modularity for _ in range(runs)])


def median_run(values: Floats) -> Estimate:
    """Return the median of ten runs, between the second-lowest and the second-highest.

    Both hold the median of all runs between them in at least 97.8% of cases, whatever the
    distribution of runs is: at most one of ten falls below it, or above, in 1.1% each.
    """
    ordered = np.sort(values)
    sample = Sample(values.size, float(ordered[1]), float(ordered[-2]))
    return Estimate(float(np.median(ordered)), sample)
