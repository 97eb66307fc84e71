"""The degree anonymizations and graph constructions of Liu and Terzi, as paper and slides say.

They are to be read and taught; a release goes through `graphveil.methods.k_degree`. A construction
that fails returns None. For `construct_graph` this means that no such graph exists; for the others
it means *unknown*.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree.kernels import sequence as kernel
from graphveil.methods.k_degree.kernels.sequence import cheapest_raise_by_window
from graphveil.methods.k_degree.realize import edits_over
from graphveil.methods.k_degree.sequence import optimal_plan, runs_of, targets_per_node


def construct_graph(degrees: ArrayLike, *, seed: int | None = None) -> Graph | None:
    """Return a graph with exactly these degrees, or None where there is none.

    Parameters
    ----------
    degrees
        n integers.
    seed
        None draws from entropy.

    Notes
    -----
    Algorithm 1 of the slides: a random node is joined to the others that need most. It is exact:
    None means that the sequence is not graphical.

    Examples
    --------
    >>> construct_graph([2, 2, 1, 1], seed=1).degrees().tolist()
    [2, 2, 1, 1]
    >>> construct_graph([3, 3, 1, 1]) is None
    True
    """
    need = _whole(degrees)
    nobody = Graph(np.zeros(need.size + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    return _joined(nobody, need, kernel.ANYBODY, seed)


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
    added = _joined(graph, need, kernel.STRANGERS, seed)
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
    return kernel.some_prefix_needs_too_much(graph.indptr, graph.indices, order, need)


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
    return _joined(graph, _whole(degrees, graph), kernel.NEIGHBORS_FIRST, seed)


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
        if not kernel.best_swap(state, kept, pairs, is_kept, sample) and whole:
            break
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, ids=graph.ids)


def _whole(degrees: ArrayLike, graph: Graph | None = None) -> Ints:
    array = np.asarray(degrees)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"degrees of type {array.dtype} are not a list of integers. Give integers.")
    if graph is not None and array.size != graph.n_nodes:
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
    if kernel.join_by_degrees(*args) < 0:
        return None
    return Graph.from_edges(out[:, 0], out[:, 1], n=n, ids=graph.ids)


def _keys(edges: NDArray[np.integer], n: int) -> Ints:
    ends = np.sort(edges.astype(np.int64), axis=1)
    return ends[:, 0] * n + ends[:, 1]


Ints = NDArray[np.int64]


def dp_graph_anonymization(degrees: ArrayLike, k: int) -> Ints:
    """Raise degrees at the least total increase until at least k nodes share each: exact.

    Every new degree is held by at least k nodes, and none is lower. `greedy_rec_algorithm` is
    faster, and may raise more.

    Parameters
    ----------
    degrees
        n integers >= 0 in any order; ``n * largest`` must stay below 2**62.
    k
        The least number of nodes per degree, 1 <= k <= n.

    Returns
    -------
    Ints
        int64 array of n new degrees, in the order of `degrees`.

    Raises
    ------
    InfeasibleError
        There are fewer than k nodes.

    Notes
    -----
    Liu and Terzi, SIGMOD 2008, section 5, with groups of at most 2k - 1 nodes: a larger one
    splits at no cost. O(n k) after sorting.

    Examples
    --------
    >>> dp_graph_anonymization([2, 1, 3, 2, 1, 2], 3).tolist()
    [3, 2, 3, 3, 2, 2]
    """
    order, d = _descending(degrees, k)
    prefix = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(d)))
    cost = np.empty(d.size + 1, dtype=np.int64)
    previous = np.zeros_like(cost)
    cheapest_raise_by_window(d, prefix, k, cost, previous)
    cuts = [d.size]
    while cuts[-1] > 0:
        cuts.append(int(previous[cuts[-1]]))
    return _raise_groups(order, d, cuts[::-1])


def greedy_rec_algorithm(degrees: ArrayLike, k: int) -> Ints:
    """Raise degrees in one greedy pass until at least k nodes share each: may not raise least.

    It takes, returns and refuses what `dp_graph_anonymization` does, and gives every new degree to
    at least k nodes, none of them lower. Instead of comparing all groupings it decides for each
    node in turn, once, whether it joins the group before it.

    Notes
    -----
    Liu and Terzi, SIGMOD 2008, section 5, as a loop. A node is compared with the first of the
    current group, windows are cut at n, fewer than k last nodes join the last group, equal costs
    merge. O(n) after sorting.

    Examples
    --------
    >>> greedy_rec_algorithm([2, 1, 3, 2, 1, 2], 3).tolist()
    [3, 3, 3, 3, 3, 3]
    """
    order, ordered = _descending(degrees, k)
    n = ordered.size
    d = ordered.tolist()
    prefix = list(accumulate(d, initial=0))

    def group_cost(t: int, i: int) -> int:
        return (i - t) * d[t] - (prefix[i] - prefix[t]) if i > t else 0

    cuts = [0]
    i = k
    while n - i >= k:
        merge = d[cuts[-1]] - d[i] + group_cost(i + 1, min(i + 1 + k, n))
        if merge > group_cost(i, i + k):
            cuts.append(i)
            i += k
        else:
            i += 1
    return _raise_groups(order, ordered, [*cuts, n])


def _descending(degrees: ArrayLike, k: int) -> tuple[NDArray[np.intp], Ints]:
    """Return the order that sorts the degrees, highest first, and the sorted degrees."""
    given = np.asarray(degrees)
    if k < 1:
        raise ParameterError(f"k={k} is below 1. Give an integer k >= 1.")
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise DataError(
            f"The degrees have shape {given.shape} and type {given.dtype}. Give a flat list of "
            "integers."
        )
    if given.size < k:
        raise InfeasibleError(
            f"k={k} needs at least {k} nodes; the data has {given.size}. Lower k, or add data."
        )
    if int(given.min()) < 0:
        raise DataError(f"A degree is {int(given.min())}. Use degrees >= 0.")
    if int(given.max()) * given.size >= 2**62:
        raise DataError(
            f"{given.size} nodes with degrees up to {int(given.max())} have sums that exceed 64 "
            "bits. Use degrees below the number of nodes."
        )
    d = given.astype(np.int64)
    order = np.argsort(-d, kind="stable")
    return order, d[order]


def _raise_groups(order: NDArray[np.intp], d: Ints, cuts: list[int]) -> Ints:
    """Give every group between two cuts its highest degree, in the caller's order."""
    out = np.empty_like(d)
    for start, end in pairwise(cuts):
        out[order[start:end]] = d[start]
    return out
