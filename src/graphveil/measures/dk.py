"""d-k-anonymity and hybrid: which neighborhoods are isomorphic, center to center.

Degree, size and a color refinement tell most neighborhoods apart. What they do not tell apart is
compared exactly, one node against one representative of each class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.measures.isomorphism import Around, compared
from graphveil.measures.multisets import degrees_around
from graphveil.measures.scalars import Labels, classes_of, nodes_and_edges


def isomorphic(graph: Graph, distance: int) -> tuple[Labels, int]:
    """Return the classes of isomorphic neighborhoods, and how many comparisons were given up.

    Examples
    --------
    >>> isomorphic(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4), 1)
    (array([2, 1, 1, 0]), 0)
    """
    return _split(graph, distance, np.zeros(graph.n_nodes, dtype=np.int64))


def isomorphic_and_degrees_around(graph: Graph, distance: int) -> tuple[Labels, int]:
    """Return the classes of nodes that are alike under dk and under vrq, and what was given up.

    Examples
    --------
    >>> isomorphic_and_degrees_around(Graph.from_edges([0, 1, 2], [1, 2, 3], n=4), 1)
    (array([0, 1, 1, 0]), 0)
    """
    return _split(graph, distance, degrees_around(graph, distance))


def _split(graph: Graph, distance: int, known: Labels) -> tuple[Labels, int]:
    """Return the classes of isomorphic neighborhoods inside each of the classes known."""
    from graphveil.kernels.neighborhoods import refinement as kernels  # noqa: PLC0415  heavy: not for help

    sizes = nodes_and_edges(graph, distance)
    coarse = classes_of(known, graph.degrees(), sizes["nodes"], sizes["edges"])
    alone = np.bincount(coarse)[coarse] == 1
    unsettled = np.flatnonzero(~alone & ~_settled(graph, distance, sizes["edges"]))
    room = kernels.new_color_buffers(graph.n_nodes, graph.indices.size)
    lists = (graph.indptr, graph.indices, distance)
    hashes = np.zeros(graph.n_nodes, dtype=np.uint64)
    hashes[unsettled] = kernels.neighborhood_hashes(*lists, unsettled, room)
    finer = classes_of(coarse, hashes)

    def around(node: int) -> Around:
        colors, edges = kernels.neighborhood(*lists, node, room)
        return Around(colors, edges, with_center=distance > 1)

    part = np.zeros(graph.n_nodes, dtype=np.int64)
    given_up = 0
    order = unsettled[np.argsort(finer[unsettled], kind="stable")]
    for bucket in np.split(order, np.flatnonzero(np.diff(finer[order])) + 1):
        if bucket.size > 1:
            part[bucket], missed = compared(around(node) for node in bucket.tolist())
            given_up += missed
    return classes_of(finer, part), given_up


def _settled(graph: Graph, distance: int, edges: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where the numbers of nodes and edges alone settle the neighborhood.

    At distance 1 the center has an edge to everyone and can be left out. What remains is settled if
    it has no edge or all of them, or at most three nodes.
    """
    if distance > 1:
        return np.zeros(graph.n_nodes, dtype=np.bool_)
    degrees = graph.degrees()
    inner = edges - degrees
    complete = 2 * inner == degrees * (degrees - 1)
    settled: NDArray[np.bool_] = (inner == 0) | complete | (degrees <= 3)
    return settled
