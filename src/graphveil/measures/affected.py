"""Which nodes may look different once an edge is gone: the last column of the paper's Table 1."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph

Nodes: TypeAlias = "NDArray[np.int64]"


def the_ends(graph: Graph, distance: int, u: int, v: int) -> Nodes:
    """Return the two ends of the edge, sorted."""
    del graph, distance
    return np.array(sorted((u, v)), dtype=np.int64)


def near_both(graph: Graph, distance: int, u: int, v: int) -> Nodes:
    """Return the nodes within the distance of both ends, sorted."""
    return np.intersect1d(within(graph, u, distance), within(graph, v, distance))


def near_either(graph: Graph, distance: int, u: int, v: int) -> Nodes:
    """Return the nodes within the distance of one end or the other, sorted."""
    return np.union1d(within(graph, u, distance), within(graph, v, distance))


def within(graph: Graph, center: int, distance: int) -> Nodes:
    """Return the nodes within the distance of the center, itself included, sorted.

    Examples
    --------
    >>> within(Graph.from_edges([0, 1, 2], [1, 2, 3], n=4), 0, 2).tolist()
    [0, 1, 2]
    """
    reached = rim = np.array([center], dtype=np.int64)
    for _ in range(distance):
        around = [graph.neighbors(node) for node in rim.tolist()]
        rim = np.setdiff1d(np.concatenate(around).astype(np.int64), reached)
        if rim.size == 0:
            break
        reached = np.union1d(reached, rim)
    return reached
