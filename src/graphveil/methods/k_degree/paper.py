"""The degree anonymizations of Liu and Terzi as printed, and Algorithm 1, ConstructGraph.

For reading along with the paper, for comparison and for `graphveil reproduce k-degree`. They make
no release: `graphveil.methods.k_degree.KDegree` does, by an equivalent program over the degree
histogram (`sequence.py`) and by edits of the given graph (`realize.py`).

Source: Liu and Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008: the Dynamic
Programming algorithm (equations 2 and 3), the Greedy algorithm, and ConstructGraph (Algorithm 1).

Departures: both degree anonymizations are loops instead of recursions; what the paper leaves open
about the end of the greedy algorithm is settled as its docstring says. Costs: O(nk) for the dynamic
program, O(n) for the greedy algorithm, both after sorting, and O(m + n log n) for ConstructGraph.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.array_types import Ints
from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree.kernels.paper import cheapest_raise_by_window, join_by_degrees


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
    ParameterError
        k is below 1.
    DataError
        The degrees are not a flat list of integers >= 0, or their sums exceed 64 bits.
    InfeasibleError
        There are fewer than k nodes.

    Notes
    -----
    Liu and Terzi, SIGMOD 2008, equations 2 and 3. With d in descending order and
    ``I(t, i) = sum of d[t] - d[l] over t <= l < i``, the cost of one group,

        DA(i) = I(0, i)                                                 for i < 2k,
        DA(i) = min(I(0, i), min over k <= t <= i - k of DA(t) + I(t, i))   otherwise.

    Only groups of at most 2k - 1 nodes are compared: a larger one splits in two at no cost, since
    the second part then gets a degree that is not higher. O(nk) after sorting.

    Examples
    --------
    >>> dp_graph_anonymization([2, 1, 3, 2, 1, 2], 3).tolist()
    [3, 2, 3, 3, 2, 2]
    """
    order, d = _descending(degrees, k)
    # Equations 2 and 3: the least cost of the first i nodes, and where its last group starts.
    prefix = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(d)))
    cost = np.empty(d.size + 1, dtype=np.int64)
    previous = np.zeros_like(cost)
    cheapest_raise_by_window(d, prefix, k, cost, previous)
    # Follow the starts of the groups back from the last node to the first.
    cuts = [d.size]
    while cuts[-1] > 0:
        cuts.append(int(previous[cuts[-1]]))
    return _raise_groups(order, d, cuts[::-1])


def greedy_rec_algorithm(degrees: ArrayLike, k: int) -> Ints:
    """Raise degrees in one greedy pass until at least k nodes share each: may not raise least.

    It takes, returns and refuses what `dp_graph_anonymization` does, and gives every new degree to
    at least k nodes, none of them lower. Instead of comparing all groupings it decides for each
    node in turn, once, whether it joins the group before it.

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
    ParameterError
        k is below 1.
    DataError
        The degrees are not a flat list of integers >= 0, or their sums exceed 64 bits.
    InfeasibleError
        There are fewer than k nodes.

    Notes
    -----
    Liu and Terzi, SIGMOD 2008, the Greedy algorithm, as a loop. A node is compared with the first
    of the current group, windows are cut at n, fewer than k last nodes join the last group, equal
    costs merge. O(n) after sorting.

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
        """Return I(t, i): what raising nodes t to i - 1 to the degree of node t costs."""
        return (i - t) * d[t] - (prefix[i] - prefix[t]) if i > t else 0

    # The k nodes of highest degree form the first group. Fewer than k nodes at the end cannot form
    # a group of their own, so that the loop ends before them and they join the last group.
    cuts = [0]
    i = k
    while n - i >= k:
        # C_merge: node i joins the group at hand, and the next k nodes form one of their own.
        # C_new: node i starts a group of k nodes.
        merge = d[cuts[-1]] - d[i] + group_cost(i + 1, min(i + 1 + k, n))
        if merge > group_cost(i, i + k):
            cuts.append(i)
            i += k
        else:
            i += 1
    return _raise_groups(order, ordered, [*cuts, n])


def construct_graph(degrees: ArrayLike, *, seed: int | None = None) -> Graph | None:
    """Return a graph with exactly these degrees, or None where there is none.

    Parameters
    ----------
    degrees
        n integers.
    seed
        None draws from entropy.

    Returns
    -------
    Graph | None
        A graph of n nodes whose ids are their positions. None stands for the paper's "No": the
        sequence is not graphical.

    Raises
    ------
    DataError
        The degrees are not a flat list of integers.

    Notes
    -----
    Liu and Terzi, SIGMOD 2008, Algorithm 1: a random node is joined to the others that
    need most. It is exact, since it is the construction of Havel and Hakimi with a free choice of
    the node.

    Examples
    --------
    >>> construct_graph([2, 2, 1, 1], seed=1).degrees().tolist()
    [2, 2, 1, 1]
    >>> construct_graph([3, 3, 1, 1]) is None
    True
    """
    array = np.asarray(degrees)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"degrees of type {array.dtype} are not a list of integers. Give integers.")
    need, n = array.astype(np.int64), array.size
    # Lines 2 to 6: an odd sum and a negative entry have no graph. Nor has a degree of n or more.
    if need.sum() % 2 or np.any(need < 0) or np.any(need >= n):
        return None
    # Among equal degrees the order is random: it decides which nodes are joined.
    rng = Randomness(seed).stream("construct graph")
    order = rng.permutation(np.flatnonzero(need))
    order = order[np.argsort(-need[order], kind="stable")]
    out = np.empty((int(need.sum()) // 2, 2), dtype=np.int32)
    if join_by_degrees(order, need, out, rng) < 0:
        return None
    return Graph.from_edges(out[:, 0], out[:, 1], n=n)


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
