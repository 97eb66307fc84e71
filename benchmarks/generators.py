"""Graphs of any size for the benchmarks: made, not collected, and named so."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph


def chung_lu(
    n: int, *, mean_degree: float, exponent: float = 2.3, seed: int = 0
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return about n * mean_degree / 2 arcs of a Chung-Lu graph with power-law weights.

    Parameters
    ----------
    n
        The number of nodes.
    mean_degree
        The mean degree aimed at; loops and repeats are left in for the reader to drop.
    exponent
        The exponent of the degree distribution.
    seed
        The same seed gives the same graph.
    """
    rng = np.random.default_rng(seed)
    weights = (np.arange(n) + 10.0) ** (-1 / (exponent - 1))
    cumulative = np.cumsum(weights / weights.sum())
    m = round(n * mean_degree / 2)
    ends = np.searchsorted(cumulative, rng.random((2, m))).astype(np.int32)
    np.minimum(ends, n - 1, out=ends)
    return ends[0], ends[1]


def chung_lu_graph(n: int, *, mean_degree: float, exponent: float = 2.3, seed: int = 0) -> Graph:
    """Return the simple graph of `chung_lu` arcs."""
    source, target = chung_lu(n, mean_degree=mean_degree, exponent=exponent, seed=seed)
    return Graph.assemble(source, target, n=n)[0]
