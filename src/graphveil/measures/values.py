"""Measures whose value for a node is a few integers, or a multiset.

Integers: degree, count, edge-count, directed counts. Multisets: degree-distribution, vrq, and the
neighbors themselves.
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
"""Integers a node, by what they count."""


def degree(graph: Graph, _distance: int) -> Columns:
    """Return the number of neighbors."""
    return {"degree": graph.degrees()}


def nodes_and_edges(graph: Graph, distance: int) -> Columns:
    """Return the numbers of nodes and edges of every neighborhood.

    At distance 1 a neighborhood has an edge to every neighbor and one for every triangle.
    """
    if distance == 1:
        degrees = graph.degrees()
        return {"nodes": degrees + 1, "edges": degrees + triangles(graph)}
    nodes, edges = kernels.ball_sizes(graph.indptr, graph.indices, distance)
    return {"nodes": nodes, "edges": edges}


def edges_alone(graph: Graph, distance: int) -> Columns:
    """Return the number of edges of every neighborhood."""
    return {"edges": nodes_and_edges(graph, distance)["edges"]}


def triangles(graph: Graph) -> NDArray[np.int64]:
    """Return the number of triangles at every node."""
    counts: NDArray[np.int64] = kernels.triangles(graph.indptr, graph.indices)
    return counts


def classes_of(*columns: NDArray[np.int64] | NDArray[np.uint64]) -> Labels:
    """Return the class of every node: equal where all columns are; in the order of the values."""
    labels = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        values, ranks = np.unique(column, return_inverse=True)
        labels = np.unique(labels * values.size + ranks, return_inverse=True)[1]
    return labels


AWAY, BACK = 1, 2
"""The ways of an edge in the row of a person: it leads away from that person, or back."""


class UndirectedView(NamedTuple):
    """Who is connected to whom, in one direction or in both: `ways` sums `AWAY` and `BACK`."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ways: NDArray[np.int8]


def either_way(layer: Layer) -> UndirectedView:
    """Return who is connected to whom in a directed layer, and which ways."""
    n = layer.n_nodes
    source, target = (end.astype(np.int64) for end in layer.ties())
    away, back = source * n + target, target * n + source
    keys = np.union1d(away, back)
    ways = np.zeros(keys.size, dtype=np.int8)
    ways[np.searchsorted(keys, away)] += AWAY
    ways[np.searchsorted(keys, back)] += BACK
    person, neighbor = np.divmod(keys, max(n, 1))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(person, minlength=n), out=indptr[1:])
    return UndirectedView(indptr, neighbor.astype(np.int32), ways)


def directed_count(layer: Layer) -> Columns:
    """Return of everyone the edges out and in, the neighbors, and the edges among them all."""
    out, into = layer.degrees()
    indptr, indices, ways = either_way(layer)
    mutual = (ways == AWAY + BACK).astype(np.int8)
    among = kernels.weight_around(indptr, indices, mutual + np.int8(1))
    return {"out": out, "in": into, "neighbors": np.diff(indptr), "ties": out + into + among}


def degrees_around(graph: Graph, distance: int) -> Labels:
    """Return the classes of equal multisets of the degrees of the nodes within the distance."""
    if distance > 1:
        return _classes(_farther(graph, distance, inside=False))
    degrees = graph.degrees().astype(np.int32)
    return _classes(_adjacent(graph, degrees, degrees[graph.indices]))


def degrees_inside(graph: Graph, distance: int) -> Labels:
    """Return the classes of equal multisets of the degrees that nodes have in a neighborhood.

    At distance 1 the degree of a neighbor is 1 and the number of neighbors it shares with the
    node.
    """
    if distance > 1:
        return _classes(_farther(graph, distance, inside=True))
    shared = kernels.common_neighbors(graph.indptr, graph.indices)
    shared += 1
    return _classes(_adjacent(graph, graph.degrees().astype(np.int32), shared))


def twins(graph: Graph) -> Labels:
    """Return the classes of twins: nodes with equal open or equal closed neighborhoods.

    No node has a twin of both kinds, so the two relations together are one equivalence.

    Examples
    --------
    >>> kite = twins(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4))
    >>> bool(kite[1] == kite[2]), bool(kite[2] == kite[3])
    (True, False)
    """
    nodes = np.arange(graph.n_nodes, dtype=np.int32)
    nobody = np.full(graph.n_nodes, graph.n_nodes, dtype=np.int32)
    adjacent = _classes(_adjacent(graph, nodes, graph.indices))
    apart = _classes(_adjacent(graph, nobody, graph.indices))
    joined = np.where(np.bincount(adjacent)[adjacent] > 1, adjacent, graph.n_nodes + apart)
    return np.unique(joined, return_inverse=True)[1]


def _adjacent(
    graph: Graph, own: NDArray[np.int32], values: NDArray[np.int32]
) -> kernels.MultisetRows:
    largest = max(own.max(initial=0), values.max(initial=0))
    lists = (graph.indptr, graph.indices, frozen(own), frozen(values))
    return kernels.MultisetRows(*lists, distance=1, inside=False, largest=int(largest))


def _farther(graph: Graph, distance: int, *, inside: bool) -> kernels.MultisetRows:
    largest = int(graph.degrees().max(initial=0))
    nothing = frozen(np.empty(0, dtype=np.int32))
    lists = (graph.indptr, graph.indices, nothing, nothing)
    return kernels.MultisetRows(*lists, distance=distance, inside=inside, largest=largest)


def _classes(rows: kernels.MultisetRows) -> Labels:
    """Return the classes of equal multisets; the hash only says which to compare."""
    hashes = kernels.row_hashes(rows)
    model = np.empty(hashes.size, dtype=np.int64)
    pending = np.argsort(hashes, kind="stable")
    while pending.size:
        first = _bounds(hashes[pending])
        equal = np.zeros(pending.size, dtype=np.bool_)
        kernels.same_as_first(rows, pending, first, equal)
        firsts = np.repeat(pending[first[:-1]], np.diff(first))
        model[pending[equal]] = firsts[equal]
        pending = pending[~equal]
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
    """Return the order of the classes by hash, and by the sorted multiset where hashes are equal.

    It does not depend on the order of the nodes.
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
