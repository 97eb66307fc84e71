"""Values that are one or two integers a node: degree, count, edge-count."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph

Labels: TypeAlias = "NDArray[np.int64]"
"""The class of every node, 0..C-1."""

Columns: TypeAlias = dict[str, "NDArray[np.int64]"]
"""Integers a node, by what they count."""


def degree(graph: Graph, distance: int) -> Columns:
    """Return the number of neighbors."""
    del distance
    return {"degree": graph.degrees()}


def nodes_and_edges(graph: Graph, distance: int) -> Columns:
    """Return the numbers of nodes and edges of every neighborhood.

    At distance 1 a neighborhood has an edge to every neighbor and one for every triangle.
    """
    from graphveil.kernels.neighborhoods import balls  # noqa: PLC0415  heavy: not for help

    if distance == 1:
        degrees = graph.degrees()
        return {"nodes": degrees + 1, "edges": degrees + triangles(graph)}
    nodes, edges = balls.ball_sizes(graph.indptr, graph.indices, distance)
    return {"nodes": nodes, "edges": edges}


def edges_alone(graph: Graph, distance: int) -> Columns:
    """Return the number of edges of every neighborhood."""
    return {"edges": nodes_and_edges(graph, distance)["edges"]}


def triangles(graph: Graph) -> NDArray[np.int64]:
    """Return the number of triangles at every node.

    Examples
    --------
    >>> triangles(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)).tolist()
    [1, 1, 1, 0]
    """
    from graphveil.kernels.neighborhoods import triangles as kernels  # noqa: PLC0415  heavy: not for help

    counts: NDArray[np.int64] = kernels.triangles(graph.indptr, graph.indices)
    return counts


def classes_of(*columns: NDArray[np.int64] | NDArray[np.uint64]) -> Labels:
    """Return the class of every node: equal where all columns are; in the order of the values.

    Examples
    --------
    >>> classes_of(np.array([7, 3, 7, 3]), np.array([1, 0, 1, 5])).tolist()
    [2, 0, 2, 1]
    """
    labels = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        values, ranks = np.unique(column, return_inverse=True)
        labels = np.unique(labels * values.size + ranks, return_inverse=True)[1]
    return labels
