"""The way to NetworKit: its graphs, and its random numbers and threads kept in hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import networkit
else:
    networkit = lazy_module("networkit")


def to_networkit(graph: Graph) -> Any:
    """Return a NetworKit graph with the same nodes and edges.

    Examples
    --------
    >>> to_networkit(Graph.from_edges([0, 1], [1, 2], n=4)).numberOfNodes()
    4
    """
    return _from_edges(graph.edges(), np.ones(graph.n_edges), graph.n_nodes, weighted=False)


def to_weighted(edges: NDArray[np.int32], weights: NDArray[np.float64], n: int) -> Any:
    """Return a NetworKit graph of n nodes with these edges, shape (m, 2), and their weights.

    Examples
    --------
    >>> to_weighted(np.array([[0, 1]], dtype=np.int32), np.array([0.5]), 2).weight(0, 1)
    0.5
    """
    return _from_edges(edges, weights, n, weighted=True)


def _from_edges(
    edges: NDArray[np.int32], weights: NDArray[np.float64], n: int, *, weighted: bool
) -> Any:
    # networkit reads the ends as 64-bit numbers, whatever type they have
    source, target = np.ascontiguousarray(edges.T, dtype=np.uint64)
    return networkit.graph.GraphFromCoo((weights, (source, target)), n=n, weighted=weighted)


@contextmanager
def seeded(rng: np.random.Generator) -> Iterator[None]:
    """Run NetworKit on one thread from a seed drawn here, so that a run can be repeated.

    The seed is a setting of the whole process and is not put back.

    Examples
    --------
    >>> with seeded(np.random.Generator(np.random.PCG64DXSM(1))):
    ...     networkit.engineering.getMaxNumberOfThreads()
    1
    """
    with one_thread():
        networkit.engineering.setSeed(int(rng.integers(2**31)), False)
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Run NetworKit on one thread, so that sums are formed in one order; then put it back.

    Examples
    --------
    >>> with one_thread():
    ...     networkit.engineering.getMaxNumberOfThreads()
    1
    """
    threads = networkit.engineering.getMaxNumberOfThreads()
    networkit.engineering.setNumberOfThreads(1)
    try:
        yield
    finally:
        networkit.engineering.setNumberOfThreads(threads)
