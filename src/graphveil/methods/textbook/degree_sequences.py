"""The two degree anonymizations of Liu and Terzi as the paper's slides write them: node by node.

`graphveil.methods.k_degree.sequence` reaches the same costs on runs of equal degrees.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.methods.k_degree.kernels.sequence import cheapest_raise_by_window

Ints = NDArray[np.int64]


def dp_graph_anonymization(degrees: ArrayLike, k: int) -> Ints:
    """Every new degree is held by at least k nodes, none is lower, and the increase is minimal.

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
    """Every new degree is held by at least k nodes, none is lower; the increase may not be least.

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
    Liu and Terzi, SIGMOD 2008, section 5, as a loop. A node is compared with the first of the
    current group, windows are cut at n, fewer than k last nodes join the last group, ties merge.
    O(n) after sorting.

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
