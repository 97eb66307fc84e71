"""Measures by isomorphism, center to center: d-k-anonymity and hybrid.

Degree, size and color refinement distinguish most neighborhoods. The others are compared exactly,
by VF2, one node against one representative of each class.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.core.lazy import lazy_module
from graphveil.data import Graph
from graphveil.measures.values import Labels, classes_of, degrees_around, nodes_and_edges

if TYPE_CHECKING:
    import rustworkx as rx
else:
    rx = lazy_module("rustworkx")

MOST_STEPS = 2_000_000
"""How many pairs of nodes VF2 may try on each other before a comparison is given up."""

CENTRE = -1
"""The color of the center, which no other node has."""


class OutOfStepsError(Exception):
    """VF2 has tried as many pairs of nodes as it may."""


class Neighborhood:
    """What is around a node, its nodes in the order of their colors, the center's first.

    Isomorphic neighborhoods have equal colors; equal colors prove nothing. The center is omitted
    where everybody else is its neighbor: nothing is lost without it.
    """

    def __init__(
        self, colors: NDArray[np.uint64], edges: NDArray[np.int64], *, with_center: bool
    ) -> None:
        skipped = 0 if with_center else 1
        order = np.append(0, 1 + np.argsort(colors[1:], kind="stable"))[skipped:]
        position = np.empty(colors.size, dtype=np.int64)
        position[order] = np.arange(order.size)
        ends = position[edges[edges.min(axis=1) >= skipped]] if len(edges) else edges
        self.colors = colors[order]
        self.keys = np.sort(ends.min(axis=1) * order.size + ends.max(axis=1))
        self.with_center = with_center

    @cached_property
    def _graph(self) -> rx.PyGraph[int, None]:
        payloads = self.colors.tolist()
        if self.with_center:
            payloads[0] = CENTRE
        graph = rx.PyGraph(multigraph=False)
        graph.add_nodes_from(payloads)
        ends = np.divmod(self.keys, self.colors.size)
        graph.add_edges_from_no_data(list(zip(*(end.tolist() for end in ends), strict=True)))
        return graph

    def is_like(self, other: Neighborhood) -> bool:
        """Whether there is an isomorphism that keeps colors, and so maps center to center."""
        if not np.array_equal(self.colors, other.colors) or self.keys.size != other.keys.size:
            return False
        if np.array_equal(self.keys, other.keys):
            return True
        steps = 0

        def same_color(one: int, another: int) -> bool:
            nonlocal steps
            steps += 1
            if steps > MOST_STEPS:
                raise OutOfStepsError
            return one == another

        isomorphic: bool = rx.is_isomorphic(
            self._graph, other._graph, node_matcher=same_color, id_order=False
        )
        return isomorphic


def compared(arounds: Iterable[Neighborhood]) -> tuple[list[int], int]:
    """Return the class of each, and how many comparisons were given up: those count as unlike."""
    models: list[Neighborhood] = []
    classes = []
    given_up = 0
    for around in arounds:
        for number, model in enumerate(models):
            try:
                if around.is_like(model):
                    classes.append(number)
                    break
            except OutOfStepsError:
                given_up += 1
        else:
            classes.append(len(models))
            models.append(around)
    return classes, given_up


def isomorphic(graph: Graph, distance: int) -> tuple[Labels, int]:
    """Return the classes of isomorphic neighborhoods, and how many comparisons were given up."""
    return _split(graph, distance, np.zeros(graph.n_nodes, dtype=np.int64))


def isomorphic_and_degrees_around(graph: Graph, distance: int) -> tuple[Labels, int]:
    """Return the classes of nodes that are equal under dk and under vrq, and what was given up."""
    return _split(graph, distance, degrees_around(graph, distance))


def _split(graph: Graph, distance: int, known: Labels) -> tuple[Labels, int]:
    """Return the classes of isomorphic neighborhoods inside each of the classes known."""
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    sizes = nodes_and_edges(graph, distance)
    coarse = classes_of(known, graph.degrees(), sizes["nodes"], sizes["edges"])
    alone = np.bincount(coarse)[coarse] == 1
    unsettled = np.flatnonzero(~alone & ~_settled(graph, distance, sizes["edges"]))
    room = kernels.new_color_buffers(graph.n_nodes, graph.indices.size)
    lists = (graph.indptr, graph.indices, distance)
    hashes = np.zeros(graph.n_nodes, dtype=np.uint64)
    hashes[unsettled] = kernels.neighborhood_hashes(*lists, unsettled, room)
    finer = classes_of(coarse, hashes)

    def around(node: int) -> Neighborhood:
        colors, edges = kernels.neighborhood(*lists, node, room)
        return Neighborhood(colors, edges, with_center=distance > 1)

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

    At distance 1 the center has an edge to everyone and can be omitted. What remains is settled if
    it has no edge or all of them, or at most three nodes.
    """
    if distance > 1:
        return np.zeros(graph.n_nodes, dtype=np.bool_)
    degrees = graph.degrees()
    inner = edges - degrees
    complete = 2 * inner == degrees * (degrees - 1)
    settled: NDArray[np.bool_] = (inner == 0) | complete | (degrees <= 3)
    return settled
