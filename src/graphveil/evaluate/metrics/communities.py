"""Communities by Leiden: agreement before and after, and modularity.

A run takes about O(m) for each of at most `ITERATIONS` rounds; metrics of communities take tens of
runs, so they are heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.core.lazy import lazy_module
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison, Int32s, csgraph, sparse
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
"""Rounds of one Leiden run, each with local moves, refinement and aggregation."""

RANDOMNESS = 0.01
"""How freely a round may refine communities: above 0, where only the best move is made."""

MOST_SWEEPS = 1_000
"""After this many passes over all nodes, a round stops moving them: it bounds the time of a run
whose moves go back and forth."""

THRESHOLD = 0.5
"""Edges whose ends are together in a smaller share of the runs are dropped. Our choice, the paper
names none: half of the runs, so that an edge is kept if most runs agree on it."""

MOST_ROUNDS = 20
"""The most rounds of the consensus: it bounds the time if runs do not come to agree."""

Partition: TypeAlias = "Ints"
"""The community of every node, shape (n,)."""


def agreement(pair: GraphComparison) -> Figures:
    """Yield the normalized mutual information (NMI) of the communities before and after.

    From 0 to 1, and 1 if the communities are equal; next to it, the NMI of two searches on the
    original: what remains of 1 there is the randomness of the search. Each search is a consensus of
    10 runs. De Jong et al., The anonymization problem in social networks.
    """
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
    # The first round has weights of 1; later rounds, the numbers of runs that agreed on each edge.
    edges = graph.edges()
    weights = np.ones(graph.n_edges)
    for _ in range(MOST_ROUNDS if graph.n_edges else 0):
        # Step 1: ten runs on the weighted graph; the new weight of an edge counts the runs that
        # join it.
        weights = _together(to_weighted(edges, weights, graph.n_nodes), edges, rng)
        # Step 2: drop edges below the threshold, except the heaviest of a node, so that none is cut
        # off.
        heaviest = np.zeros(graph.n_nodes)
        np.maximum.at(heaviest, edges, weights[:, None])
        heavy = weights >= np.minimum(THRESHOLD * COMMUNITY_RUNS, heaviest[edges].min(axis=1))
        heavy &= weights > 0
        edges, weights = edges[heavy], weights[heavy]
        # Step 3: stop once all runs agree on every edge that is left.
        if np.all(weights == COMMUNITY_RUNS):
            break
    # The communities are the components of the edges that are left.
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

    `left`, `right`: int64, shape (n,): the community of every node; numbers do not matter. Danon et
    al. 2005; 1 if neither divides anything, and 0 if only one of them does.
    """
    left, right = (np.unique(labels, return_inverse=True)[1] for labels in (left, right))
    # The joint partition: nodes that are together in both.
    both = _entropy(left * (right.max(initial=0) + 1) + right)
    # I(X, Y) = H(X) + H(Y) - H(X, Y), over (H(X) + H(Y)) / 2; rounding may leave 0..1.
    entropies = _entropy(left) + _entropy(right)
    if entropies == 0:
        return 1.0
    return float(np.clip(2 * (entropies - both) / entropies, 0.0, 1.0))


def _entropy(labels: Partition) -> float:
    sizes = np.unique(labels, return_counts=True)[1]
    shares = sizes / max(labels.size, 1)
    return float(-np.dot(shares, np.log(shares)))


def of_own_communities(pair: GraphComparison) -> Figures:
    """Yield the modularity of each graph's own communities: the median of 10 Leiden runs.

    From -1/2 to 1; nothing if a side has no edges. Newman and Girvan 2004; Traag et al. 2019.
    """
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
