"""Triangles of a graph, counted in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from graphveil.data import Graph

if TYPE_CHECKING:
    from scipy import sparse

STEPS = 20_000_000
"""The most pairs of edges that are followed at once, unless one node has more."""


def triangles_of(graph: Graph) -> int:
    """Return the number of triangles.

    Every triangle is counted once, at its two nodes of least degree: each edge points from the
    node of less degree to the other.

    Examples
    --------
    >>> triangles_of(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))
    1
    """
    from scipy import sparse  # noqa: PLC0415  heavy: not for help

    rank = np.empty(graph.n_nodes, dtype=np.int64)
    rank[np.argsort(graph.degrees(), kind="stable")] = np.arange(graph.n_nodes)
    ends = np.sort(rank[graph.edges()], axis=1)
    shape = (graph.n_nodes, graph.n_nodes)
    upward = sparse.csr_array((np.ones(len(ends), dtype=np.int64), tuple(ends.T)), shape=shape)
    total = 0
    for start, end in _blocks(upward):
        block = upward[start:end]
        total += int((block @ upward).multiply(block).sum())
    return total


def wedges_of(graph: Graph) -> int:
    """Return the number of pairs of edges that share a node.

    Examples
    --------
    >>> wedges_of(Graph.from_edges([0, 0, 0], [1, 2, 3], n=4))
    3
    """
    degrees = graph.degrees()
    return int((degrees * (degrees - 1)).sum()) // 2


def _blocks(upward: sparse.csr_array) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows, each of about so many steps."""
    sizes = np.diff(upward.indptr)
    of_entries = np.concatenate([[0], np.cumsum(sizes[upward.indices], dtype=np.int64)])
    steps = of_entries[upward.indptr]
    start = 0
    while start < sizes.size:
        end = int(np.searchsorted(steps, steps[start] + STEPS, side="right")) - 1
        end = max(end, start + 1)
        yield start, end
        start = end
