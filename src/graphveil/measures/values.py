"""Measures whose value for a node is a few integers, or a multiset of integers.

Integers: degree, count, edge-count, and directed-count. Multisets: degree-distribution, vrq, and
the neighbors themselves (twins). Definitions are those of Table 1 of de Jong, van der Loo and
Takes; vrq counts nodes *within* the distance, as the paper says, where its program takes those at
exactly the distance.

Integers become classes by sorting (`classes_of`). Multisets are hashed, and equality is decided by
counting values in each bucket of equal hashes (`_classes`), so that no unequal nodes share a class.
The order of classes depends on values and hashes alone, never on the order of the nodes.

Cost: O(m sqrt(m)) at distance 1 for measures that need triangles, O(m) for the others; O(n m) at
most beyond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.lazy import lazy_module
from graphveil.data import Graph, Layer
from graphveil.data.ids import frozen

if TYPE_CHECKING:
    from graphveil.measures.kernels import neighborhoods as kernels
else:
    kernels = lazy_module("graphveil.measures.kernels.neighborhoods")

Labels: TypeAlias = "NDArray[np.int64]"
"""The class of every node, 0..C-1."""

Columns: TypeAlias = dict[str, "NDArray[np.int64]"]
"""Integers of every node, int64, shape (n,), by what they count."""


def degree(graph: Graph, _distance: int) -> Columns:
    """Return the number of neighbors, under ``degree``; the distance is not used."""
    return {"degree": graph.degrees()}


def nodes_and_edges(graph: Graph, distance: int) -> Columns:
    """Return the numbers of nodes and of edges of every neighborhood.

    At distance 1 these are the degree plus 1, and the degree plus the triangles at the node.
    """
    if distance == 1:
        degrees = graph.degrees()
        return {"nodes": degrees + 1, "edges": degrees + triangles(graph)}
    nodes, edges = kernels.ball_sizes(graph.indptr, graph.indices, distance)
    return {"nodes": nodes, "edges": edges}


def edges_alone(graph: Graph, distance: int) -> Columns:
    """Return the number of edges of every neighborhood, under ``edges``."""
    return {"edges": nodes_and_edges(graph, distance)["edges"]}


def triangles(graph: Graph) -> NDArray[np.int64]:
    """Return the number of triangles at every node, int64, shape (n,)."""
    counts: NDArray[np.int64] = kernels.triangles(graph.indptr, graph.indices)
    return counts


def classes_of(*columns: NDArray[np.int64] | NDArray[np.uint64]) -> Labels:
    """Return the class of every node: equal exactly if all columns are equal.

    Parameters
    ----------
    *columns
        Integers of every node, shape (n,) each; at least one.

    Returns
    -------
    labels
        int64, shape (n,), 0..C-1, in the lexicographic order of the values.
    """
    labels = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        # Ranks keep the combined number below (classes so far) * (values), so that it cannot
        # overflow.
        values, ranks = np.unique(column, return_inverse=True)
        labels = np.unique(labels * values.size + ranks, return_inverse=True)[1]
    return labels


# The directions of an edge in the row of a node: bits that are summed if both exist.
AWAY, BACK = 1, 2
"""The ways of an edge in the row of a person: it leads away from that person, or back."""


class UndirectedView(NamedTuple):
    """The undirected graph of a directed layer, and the directions of each of its edges.

    Parameters
    ----------
    indptr, indices
        int64 (n + 1,), int32: the neighbors of v, in either direction, are
        ``indices[indptr[v]:indptr[v + 1]]``, ascending.
    ways
        int8, as long as `indices`: `AWAY` if an arc leads to that neighbor, `BACK` if one comes
        from it, or the sum of both.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ways: NDArray[np.int8]


def either_way(layer: Layer) -> UndirectedView:
    """Return the undirected view of a directed layer. O(m log m)."""
    n = layer.n_nodes
    source, target = (end.astype(np.int64) for end in layer.ties())
    away, back = source * n + target, target * n + source
    # Each pair twice, once from either side; `ways` says which arcs of it exist.
    keys = np.union1d(away, back)
    ways = np.zeros(keys.size, dtype=np.int8)
    ways[np.searchsorted(keys, away)] += AWAY
    ways[np.searchsorted(keys, back)] += BACK
    person, neighbor = np.divmod(keys, max(n, 1))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(person, minlength=n), out=indptr[1:])
    return UndirectedView(indptr, neighbor.astype(np.int32), ways)


def directed_count(layer: Layer) -> Columns:
    """Return the four integers of directed-count for every node.

    ``out`` and ``in``, the degrees; ``neighbors``, in either direction; ``ties``, the arcs among
    the node and its neighbors, those of the node included. It is the package's own measure: count
    for directed edges, at distance 1.
    """
    out, into = layer.degrees()
    indptr, indices, ways = either_way(layer)
    # An edge of the undirected view stands for one arc, or for two if it goes both ways.
    mutual = (ways == AWAY + BACK).astype(np.int8)
    among = kernels.weight_around(indptr, indices, mutual + np.int8(1))
    return {"out": out, "in": into, "neighbors": np.diff(indptr), "ties": out + into + among}


def degrees_around(graph: Graph, distance: int) -> Labels:
    """Return the classes of vrq: equal multisets of the degrees of the nodes of N."""
    if distance > 1:
        return _classes(_farther(graph, distance, inside=False))
    degrees = graph.degrees().astype(np.int32)
    return _classes(_adjacent(graph, degrees, degrees[graph.indices]))


def degrees_inside(graph: Graph, distance: int) -> Labels:
    """Return the classes of degree-distribution: equal multisets of degrees inside N.

    At distance 1 a neighbor has degree 1, to the center, plus the neighbors it shares with it.
    """
    if distance > 1:
        return _classes(_farther(graph, distance, inside=True))
    shared = kernels.common_neighbors(graph.indptr, graph.indices)
    shared += 1
    return _classes(_adjacent(graph, graph.degrees().astype(np.int32), shared))


def twins(graph: Graph) -> Labels:
    """Return the classes of twins: nodes with equal open or equal closed neighborhoods.

    Twins can be exchanged without changing the graph: no structural knowledge distinguishes them.
    No node has a twin of both kinds, so that the two relations together are one equivalence.

    Parameters
    ----------
    graph
        The network.

    Returns
    -------
    labels
        int64, shape (n,), 0..T-1.

    Examples
    --------
    >>> kite = twins(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4))
    >>> bool(kite[1] == kite[2]), bool(kite[2] == kite[3])
    (True, False)
    """
    nodes = np.arange(graph.n_nodes, dtype=np.int32)
    nobody = np.full(graph.n_nodes, graph.n_nodes, dtype=np.int32)
    # Closed neighborhoods: the neighbors and the node itself. Open ones: with the same extra value
    # for every node.
    adjacent = _classes(_adjacent(graph, nodes, graph.indices))
    apart = _classes(_adjacent(graph, nobody, graph.indices))
    joined = np.where(np.bincount(adjacent)[adjacent] > 1, adjacent, graph.n_nodes + apart)
    return np.unique(joined, return_inverse=True)[1]


def _adjacent(
    graph: Graph, own: NDArray[np.int32], values: NDArray[np.int32]
) -> kernels.MultisetRows:
    """Return the multisets at distance 1: one own value, and one for each neighbor."""
    largest = max(own.max(initial=0), values.max(initial=0))
    lists = (graph.indptr, graph.indices, frozen(own), frozen(values))
    return kernels.MultisetRows(*lists, distance=1, inside=False, largest=int(largest))


def _farther(graph: Graph, distance: int, *, inside: bool) -> kernels.MultisetRows:
    """Return the multisets of degrees beyond distance 1, which the kernel makes."""
    largest = int(graph.degrees().max(initial=0))
    nothing = frozen(np.empty(0, dtype=np.int32))
    lists = (graph.indptr, graph.indices, nothing, nothing)
    return kernels.MultisetRows(*lists, distance=distance, inside=inside, largest=largest)


def _classes(rows: kernels.MultisetRows) -> Labels:
    """Return the classes of equal multisets, exactly; the hash only says which to compare."""
    hashes = kernels.row_hashes(rows)
    model = np.empty(hashes.size, dtype=np.int64)
    pending = np.argsort(hashes, kind="stable")
    # In each bucket of equal hashes, nodes equal to the first one join it. The others, if hashes
    # collide, are compared again among themselves.
    while pending.size:
        first = _bounds(hashes[pending])
        equal = np.zeros(pending.size, dtype=np.bool_)
        kernels.same_as_first(rows, pending, first, equal)
        firsts = np.repeat(pending[first[:-1]], np.diff(first))
        model[pending[equal]] = firsts[equal]
        pending = pending[~equal]
    # Number the classes in an order that does not depend on that of the nodes.
    models, labels = np.unique(model, return_inverse=True)
    rank = np.empty(models.size, dtype=np.int64)
    rank[_in_order(rows, models, hashes[models])] = np.arange(models.size)
    return rank[labels]


def _bounds(ordered: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return where each run of equal values begins, and the end."""
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return np.append(starts, ordered.size)


def _in_order(
    rows: kernels.MultisetRows, models: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the order of the classes: by hash, and by sorted multiset among equal hashes.

    Parameters
    ----------
    rows
        The multisets.
    models
        int64: one node of each class.
    hashes
        uint64: the hash of each class.
    """
    order = np.argsort(hashes, kind="stable")
    if order.size == 0:
        return order
    first = _bounds(hashes[order])
    for run in np.flatnonzero(np.diff(first) > 1).tolist():
        tied = order[first[run] : first[run + 1]]
        at, values = kernels.rows_of(rows, models[tied])
        lists = [values[at[i] : at[i + 1]].tolist() for i in range(tied.size)]
        order[first[run] : first[run + 1]] = tied[sorted(range(tied.size), key=lists.__getitem__)]
    return order
