"""Measures by isomorphism, center to center: d-k-anonymity (dk) and hybrid.

Two nodes are equal under dk if an isomorphism of their neighborhoods N maps one center to the
other. De Jong, van der Loo and Takes decide this by a canonical labeling of N. Here nodes are split
by ever finer invariants, and only what these do not separate is compared exactly:

1. degree, number of nodes and number of edges of N (for hybrid also the degrees around, vrq);
2. at distance 1, some of these decide: see `_settled`;
3. a hash of the colors of N after refinement (the kernel `neighborhood_hashes`);
4. VF2, with colors, against one representative of each class found so far in the bucket.

Departure from the paper's program: there the center is not marked, which at distance 2 and beyond
merges nodes that this module keeps apart. A comparison of VF2 that takes too many steps is given
up, and counted: its nodes count as different, so that no class is too large.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphveil.core.libraries import rx
from graphveil.data import Graph
from graphveil.measures.values import Labels, classes_of, degrees_around, nodes_and_edges

MOST_STEPS = 2_000_000
"""The most pairs of nodes that VF2 may try in one comparison before it is given up.

It bounds time, which may be exponential for regular neighborhoods. With a smaller value more
comparisons are given up, which reports more nodes as distinguishable.
"""

CENTRE = -1
"""The color of the center in VF2: no other node has it, since colors are unsigned."""


class OutOfStepsError(Exception):
    """VF2 has tried as many pairs of nodes as it may: see `MOST_STEPS`."""


class Neighborhood:
    """The neighborhood of a node, its nodes in the order of their colors, the center first.

    Isomorphic neighborhoods have equal colors; equal colors prove nothing. At distance 1 the center
    is omitted: it is joined to all others, so that nothing is lost without it.

    Parameters
    ----------
    colors
        uint64, shape (size,): the refined color of each node, the center's first.
    edges
        int64, shape (edges, 2): positions of the ends.
    with_center
        Whether the center is kept.
    """

    def __init__(
        self, colors: NDArray[np.uint64], edges: NDArray[np.int64], *, with_center: bool
    ) -> None:
        skipped = 0 if with_center else 1
        # Step 1: order the nodes by color, the center in front or omitted.
        order = np.append(0, 1 + np.argsort(colors[1:], kind="stable"))[skipped:]
        position = np.empty(colors.size, dtype=np.int64)
        position[order] = np.arange(order.size)
        # Step 2: the edges under that order, as sorted keys. If the keys of two neighborhoods are
        # equal, the identity is an isomorphism.
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
        """Return whether an isomorphism keeps all colors, and so maps center to center.

        Raises
        ------
        OutOfStepsError
            If VF2 takes too many steps.
        """
        # Cheap answers first: different colors or numbers of edges say no, equal keys say yes.
        if not np.array_equal(self.colors, other.colors) or self.keys.size != other.keys.size:
            return False
        if np.array_equal(self.keys, other.keys):
            return True
        steps = 0

        def same_color(color: int, other_color: int) -> bool:
            nonlocal steps
            steps += 1
            if steps > MOST_STEPS:
                raise OutOfStepsError
            return color == other_color

        isomorphic: bool = rx.is_isomorphic(
            self._graph, other._graph, node_matcher=same_color, id_order=False
        )
        return isomorphic


def compared(arounds: Iterable[Neighborhood]) -> tuple[list[int], int]:
    """Return the class of each neighborhood, and how many comparisons were given up.

    Each is compared with the first of every class so far. What is given up counts as different.
    """
    models: list[Neighborhood] = []
    classes = []
    given_up = 0
    for around in arounds:
        # Compare with the first of each class; a new class if none is isomorphic.
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
    """Return the classes of dk, int64, shape (n,), and how many comparisons were given up."""
    return _split(graph, distance, np.zeros(graph.n_nodes, dtype=np.int64))


def isomorphic_and_degrees_around(graph: Graph, distance: int) -> tuple[Labels, int]:
    """Return the classes of hybrid (dk and vrq), and how many comparisons were given up."""
    return _split(graph, distance, degrees_around(graph, distance))


def _split(graph: Graph, distance: int, known: Labels) -> tuple[Labels, int]:
    """Return the classes of isomorphic neighborhoods inside each of the known classes.

    `known` is int64, shape (n,). Steps 1 to 4 of the module.
    """
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    # Step 1: sizes and degree. A node that is unique by them needs no comparison.
    sizes = nodes_and_edges(graph, distance)
    coarse = classes_of(known, graph.degrees(), sizes["nodes"], sizes["edges"])
    alone = np.bincount(coarse)[coarse] == 1
    # Step 2: nor does one whose neighborhood is determined by them.
    unsettled = np.flatnonzero(~alone & ~_settled(graph, distance, sizes["edges"]))
    # Step 3: hashes of refined colors for the others.
    room = kernels.new_color_buffers(graph.n_nodes, graph.indices.size)
    lists = (graph.indptr, graph.indices, distance)
    hashes = np.zeros(graph.n_nodes, dtype=np.uint64)
    hashes[unsettled] = kernels.neighborhood_hashes(*lists, unsettled, room)
    finer = classes_of(coarse, hashes)

    def around(node: int) -> Neighborhood:
        colors, edges = kernels.neighborhood(*lists, node, room)
        return Neighborhood(colors, edges, with_center=distance > 1)

    # Step 4: compare exactly inside each bucket of equal hashes.
    part = np.zeros(graph.n_nodes, dtype=np.int64)
    given_up = 0
    order = unsettled[np.argsort(finer[unsettled], kind="stable")]
    for bucket in np.split(order, np.flatnonzero(np.diff(finer[order])) + 1):
        if bucket.size > 1:
            part[bucket], missed = compared(around(node) for node in bucket.tolist())
            given_up += missed
    return classes_of(finer, part), given_up


def _settled(graph: Graph, distance: int, edges: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where the numbers of nodes and edges determine the neighborhood. bool, shape (n,).

    At distance 1 the center is joined to all others and can be omitted. What remains is determined
    if it has no edge or all of them, or at most three nodes: a graph of three nodes is given by its
    number of edges.
    """
    if distance > 1:
        return np.zeros(graph.n_nodes, dtype=np.bool_)
    degrees = graph.degrees()
    inner = edges - degrees
    complete = 2 * inner == degrees * (degrees - 1)
    settled: NDArray[np.bool_] = (inner == 0) | complete | (degrees <= 3)
    return settled
