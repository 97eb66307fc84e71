"""Graph constructions of Liu and Terzi that make no release, as paper and slides say.

Supergraph and Probing are of section 5, Greedy_Swap and Priority of section 6 of *Towards identity
anonymization on graphs*, SIGMOD 2008. A construction that fails returns None, which means
*unknown*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree.assignment import targets_per_node
from graphveil.methods.k_degree.edit_state import edits_over
from graphveil.methods.k_degree.sequence import optimal_plan, runs_of
from textbook import loops

Ints = NDArray[np.int64]


def supergraph(graph: Graph, degrees: ArrayLike, *, seed: int | None = None) -> Graph | None:
    """Return a graph with exactly these degrees that has every edge of this one, or None.

    Parameters
    ----------
    graph
        The graph whose edges are kept.
    degrees
        n integers, the degree of every node.
    seed
        None draws from entropy.

    Returns
    -------
    Graph | None
        None means *unknown*, and *no* where `supergraph_ruled_out` says so.

    Raises
    ------
    DataError
        Where there is not one degree per node.

    Notes
    -----
    As `construct_graph` on what the degrees exceed the present ones by, between strangers.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> supergraph(path, [2, 2, 2, 2]).edges().tolist()
    [[0, 1], [0, 3], [1, 2], [2, 3]]
    """
    need = _whole(degrees, graph) - graph.degrees()
    added = _joined(graph, need, loops.STRANGERS, seed)
    if added is None:
        return None
    edges = np.concatenate((graph.edges(), added.edges()))
    return Graph.from_edges(edges[:, 0], edges[:, 1], n=graph.n_nodes, ids=graph.ids)


def supergraph_ruled_out(graph: Graph, degrees: ArrayLike) -> bool:
    """Return True only where no graph with these degrees has every edge of this one.

    The paper's necessary condition on the l nodes that need most, for every l: False decides
    nothing.
    """
    need = _whole(degrees, graph) - graph.degrees()
    if need.sum() % 2 or np.any(need < 0):
        return True
    order = np.flatnonzero(need)
    order = order[np.argsort(-need[order], kind="stable")]
    return loops.some_prefix_needs_too_much(graph.indptr, graph.indices, order, need)


def priority(graph: Graph, degrees: ArrayLike, *, seed: int | None = None) -> Graph | None:
    """Return a graph with exactly these degrees that prefers edges of this one, or None.

    Parameters
    ----------
    graph
        The graph whose edges are preferred.
    degrees
        n integers, the degree of every node.
    seed
        None draws from entropy.

    Returns
    -------
    Graph | None
        None means *unknown*.

    Raises
    ------
    DataError
        Where there is not one degree per node.

    Notes
    -----
    `construct_graph` from no edges, but a node's partners are first its neighbors in the graph,
    those that need most first, then the others.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> priority(path, [1, 1, 1, 1], seed=3).degrees().tolist()
    [1, 1, 1, 1]
    """
    return _joined(graph, _whole(degrees, graph), loops.NEIGHBORS_FIRST, seed)


def probing(graph: Graph, k: int, *, seed: int | None = None) -> Graph:
    """Return a graph with every edge of this one in which every degree is shared by k nodes.

    Parameters
    ----------
    graph
        The graph whose edges are kept.
    k
        1 <= k <= n.
    seed
        None draws from entropy.

    Raises
    ------
    InfeasibleError
        Where the graph has fewer than k nodes.

    Notes
    -----
    The degrees are anonymized and `supergraph` is tried. Each time it fails, the lowest degrees
    are taken to be one higher, of max(1, n // 1000) nodes first, then of twice as many. At the
    latest the complete graph is met.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> sorted(probing(star, 2, seed=1).degrees().tolist())
    [2, 2, 3, 3]
    """
    n = graph.n_nodes
    if k < 1:
        raise ParameterError(f"k={k} is below 1. Give an integer k >= 1.")
    if n < k:
        raise InfeasibleError(f"k={k} needs at least {k} nodes; the graph has {n}. Lower k.")
    rng = Randomness(seed).stream("probing")
    noisy = graph.degrees().copy()
    amount = max(1, n // 1000)
    while True:
        plan = optimal_plan(runs_of(noisy), k, edits="add")
        degrees = targets_per_node(noisy, plan, rng.permutation(n))
        found = supergraph(graph, degrees, seed=int(rng.integers(2**62)))
        if found is not None:
            return found
        lowest = np.argsort(noisy + rng.random(n), kind="stable")[:amount]
        noisy[lowest] = np.minimum(noisy[lowest] + 1, n - 1)
        amount = min(2 * amount, n)


def greedy_swap(
    graph: Graph,
    realization: Graph,
    *,
    sample_size: int | None = 200,
    rounds: int = 100,
    seed: int | None = None,
) -> Graph:
    """Return a graph with the realization's degrees and at least as many edges of this graph.

    Parameters
    ----------
    graph
        The original graph.
    realization
        Any graph on the same nodes.
    sample_size
        How many edges a round looks at, all pairs of them; None stands for all edges.
    rounds
        The most rounds, each of one swap.
    seed
        None draws from entropy.

    Raises
    ------
    DataError
        Where the graphs have different numbers of nodes.
    ParameterError
        Where a size is below 1.

    Notes
    -----
    A round replaces two edges (i, j), (k, l) by (i, k), (j, l) or (i, l), (j, k), the swap of the
    sample that gives most edges of the graph back; time is quadratic in the sample. With all edges
    it ends where no swap helps.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> twisted = Graph.from_edges([0, 2, 1], [2, 1, 3], n=4)
    >>> greedy_swap(path, twisted, seed=1).edges().tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    if graph.n_nodes != realization.n_nodes:
        raise DataError(
            f"the graph has {graph.n_nodes} nodes, but its realization has "
            f"{realization.n_nodes}. Give two graphs on the same nodes."
        )
    if rounds < 1 or (sample_size is not None and sample_size < 1):
        raise ParameterError(f"sample_size={sample_size} and rounds={rounds} must be at least 1.")
    n = graph.n_nodes
    pairs = realization.edges().astype(np.int64)
    kept = _keys(graph.edges(), n)
    is_kept = np.isin(_keys(pairs, n), kept)
    nothing, room = np.zeros(n, dtype=np.int64), 4 * rounds + 64
    lists = realization.indptr, realization.indices
    state = edits_over(*lists, nothing, room, additions=False)
    rng = Randomness(seed).stream("greedy swap")
    for _ in range(rounds):
        whole = sample_size is None or sample_size >= len(pairs)
        size = len(pairs) if sample_size is None else min(sample_size, len(pairs))
        sample = rng.choice(len(pairs), size=size, replace=False)
        if not loops.best_swap(state, kept, pairs, is_kept, sample) and whole:
            break
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, ids=graph.ids)


def _whole(degrees: ArrayLike, graph: Graph) -> Ints:
    array = np.asarray(degrees)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"degrees of type {array.dtype} are not a list of integers. Give integers.")
    if array.size != graph.n_nodes:
        raise DataError(
            f"{array.size} degrees for {graph.n_nodes} nodes. Give one degree per node."
        )
    return array.astype(np.int64)


def _joined(graph: Graph, need: Ints, choice: int, seed: int | None) -> Graph | None:
    """Return the graph of the edges that meet the need exactly, or None."""
    n = need.size
    if need.sum() % 2 or np.any(need < 0) or np.any(need >= n):
        return None
    rng = Randomness(seed).stream("construct graph")
    order = rng.permutation(np.flatnonzero(need))
    order = order[np.argsort(-need[order], kind="stable")]
    out = np.empty((int(need.sum()) // 2, 2), dtype=np.int32)
    args = (graph.indptr, graph.indices, order, need.copy(), choice, out, rng)
    if loops.join_by_degrees(*args) < 0:
        return None
    return Graph.from_edges(out[:, 0], out[:, 1], n=n, ids=graph.ids)


def _keys(edges: NDArray[np.integer], n: int) -> Ints:
    ends = np.sort(edges.astype(np.int64), axis=1)
    return ends[:, 0] * n + ends[:, 1]
