"""Communities by Leiden: whether the same people form them, and their modularity."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.lazy import lazy_module
from graphveil.data import Graph
from graphveil.evaluate.comparison import COMMUNITY_RUNS as RUNS
from graphveil.evaluate.comparison import MODULARITY_RUNS as COMPARISON_RUNS
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import Estimate, Figure, Figures, Sample, compared

if TYPE_CHECKING:
    import graspologic_native
    from scipy import sparse
    from scipy.sparse import csgraph
else:
    graspologic_native = lazy_module("graspologic_native")
    sparse = lazy_module("scipy.sparse")
    csgraph = lazy_module("scipy.sparse.csgraph")

ITERATIONS = 10
"""Rounds of one Leiden run."""

RANDOMNESS = 0.01
"""How freely a round may refine communities: above 0, where only the best move is made."""

MOST_SWEEPS = 1_000
"""After so many passes over all nodes a round stops moving them: each run ends, come what may."""

THRESHOLD = 0.5
"""Edges whose ends are together in a smaller share of the runs are dropped."""

MOST_ROUNDS = 20

Partition: TypeAlias = "NDArray[np.int64]"
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
    sample = Sample(RUNS)
    released, own = (normalized_mutual_information(before, other) for other in (after, again))
    yield Figure("released against original", released, "NMI", sample=sample)
    yield Figure("original against itself", own, "NMI", judged=False, sample=sample)


def consensus_communities(graph: Graph, rng: np.random.Generator) -> Partition:
    """Return communities that ten runs of the Leiden algorithm agree on.

    Parameters
    ----------
    graph
        A graph, connected or not; nodes without edges are communities of their own.
    rng
        Gives every run its seed.

    Notes
    -----
    Lancichinetti and Fortunato 2012, on the edges of the graph alone so that nothing of n x n is
    formed: ten runs (modularity, Traag et al. 2019); an edge's weight becomes the number of runs in
    which its ends are together; edges below half of them are dropped unless no edge of one of their
    ends is heavier; again, until the runs agree on every edge left. The threshold is ours, the
    paper names none. Weights are whole numbers: with shares, a search may go back and forth
    between two moves whose gains differ by rounding.

    Examples
    --------
    >>> triangles = Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3], n=6)
    >>> consensus_communities(triangles, np.random.Generator(np.random.PCG64DXSM(1))).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    edges = graph.edges()
    weights = np.ones(graph.n_edges)
    for _ in range(MOST_ROUNDS if graph.n_edges else 0):
        weights = _together(to_weighted(edges, weights, graph.n_nodes), edges, rng)
        heaviest = np.zeros(graph.n_nodes)
        np.maximum.at(heaviest, edges, weights[:, None])
        heavy = weights >= np.minimum(THRESHOLD * RUNS, heaviest[edges].min(axis=1))
        heavy &= weights > 0
        edges, weights = edges[heavy], weights[heavy]
        if np.all(weights == RUNS):
            break
    shape = (graph.n_nodes, graph.n_nodes)
    joined = sparse.coo_array((np.ones(len(edges)), edges.T), shape=shape)
    return np.asarray(csgraph.connected_components(joined, directed=False)[1], dtype=np.int64)


def _together(
    matrix: sparse.csr_array, edges: NDArray[np.int32], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the number of runs in which the ends of every edge are in one community."""
    times = np.zeros(len(edges))
    for _ in range(RUNS):
        community = leiden(matrix, rng).community
        times += community[edges[:, 0]] == community[edges[:, 1]]
    return times


def to_weighted(edges: NDArray[np.int32], weights: NDArray[np.float64], n: int) -> sparse.csr_array:
    """Return the weights of edges, shape (m, 2), as a symmetric matrix of n nodes.

    Examples
    --------
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

    Parameters
    ----------
    matrix
        The weights of edges, float64 and symmetric.
    rng
        Gives the run its seed.

    Examples
    --------
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

    1 where they are the same, whatever their labels; 1 also where neither divides anything, and 0
    where only one of them does.

    Notes
    -----
    Danon et al. 2005.

    Examples
    --------
    >>> normalized_mutual_information(np.array([0, 0, 1, 1]), np.array([5, 5, 2, 2]))
    1.0
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
        yield from compared(before, after, "modularity")


def modularities(
    graph: Graph, rng: np.random.Generator, runs: int = COMPARISON_RUNS
) -> NDArray[np.float64]:
    """Return the modularity of the communities of every run of the Leiden algorithm.

    Parameters
    ----------
    graph
        A graph with an edge.
    rng
        Gives every run its seed.
    runs
        How many.

    Notes
    -----
    Newman and Girvan 2004; Traag et al. 2019.

    Examples
    --------
    >>> triangles = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5], n=6)
    >>> modularities(triangles, np.random.Generator(np.random.PCG64DXSM(1)), 2).tolist()
    [0.5, 0.5]
    """
    matrix = graph.to_scipy().astype(np.float64)
    return np.array([leiden(matrix, rng).modularity for _ in range(runs)])


def median_run(values: NDArray[np.float64]) -> Estimate:
    """Return the median of ten runs, between the second-lowest and the second-highest.

    Both hold the median of all runs between them in at least 97.8% of cases, whatever the
    distribution of runs is: at most one of ten falls below it, or above, in 1.1% each.

    Examples
    --------
    >>> median_run(np.arange(10.0))
    Estimate(value=4.5, sample=Sample(size=10, low=1.0, high=8.0))
    """
    ordered = np.sort(values)
    sample = Sample(values.size, float(ordered[1]), float(ordered[-2]))
    return Estimate(float(np.median(ordered)), sample)
