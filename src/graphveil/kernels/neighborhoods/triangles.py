"""Triangles of a graph: one pass finds every triangle once, from its end of least degree.

Nodes are ordered by (degree, position). An edge points forward, from the earlier end to the later,
so that no node has more than sqrt(2 m) forward neighbors, and all triangles are found in
O(m sqrt(m)) steps. Taking edges out keeps that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import allocating, leaf
from graphveil.kernels.tiers import tiered

Indptr = NDArray[np.int64]
Indices = NDArray[np.int32]
Flags = NDArray[np.bool_]
Weights = NDArray[np.int8]


class Forward(NamedTuple):
    """Forward neighbors: those of u are ``ends[start[u]:start[u + 1]]``, sorted."""

    start: Indptr
    ends: Indices


@leaf
def _points(indptr: Indptr, u: int, w: int) -> bool:
    """Return whether the edge points from u to w."""
    of_u = indptr[u + 1] - indptr[u]
    of_w = indptr[w + 1] - indptr[w]
    return bool(of_u < of_w or (of_u == of_w and u < w))


@allocating
def _forward(indptr: Indptr, indices: Indices) -> Forward:
    """Return the forward neighbors of every node."""
    n = indptr.size - 1
    start = np.zeros(n + 1, dtype=np.int64)
    ends = np.empty(indices.size // 2, dtype=np.int32)
    filled = 0
    for u in range(n):
        for arc in range(indptr[u], indptr[u + 1]):
            if _points(indptr, u, indices[arc]):
                ends[filled] = indices[arc]
                filled += 1
        start[u + 1] = filled
    return Forward(start, ends)


@allocating
def _pass(forward: Forward, flag: Flags | None, of_edge: Indptr | None, out: Indptr) -> None:
    """Add every triangle to `out`: to its nodes, or where nodes are flagged to its edges.

    Each edge gets one for the third corner if that is flagged; each node one, or where edges have
    weights that of the edge on the other side. Which of the three it is, is known when the pass is
    compiled.
    """
    start, ends = forward
    position = np.empty(start.size - 1, dtype=np.int64)
    position[:] = -1
    for u in range(start.size - 1):
        if start[u + 1] - start[u] < 2:
            continue
        for e in range(start[u], start[u + 1]):
            position[ends[e]] = e
        for e in range(start[u], start[u + 1]):
            v = ends[e]
            for f in range(start[v], start[v + 1]):
                third = position[ends[f]]
                if third < 0:
                    continue
                if of_edge is not None:
                    out[u] += of_edge[f]
                    out[v] += of_edge[third]
                    out[ends[f]] += of_edge[e]
                elif flag is None:
                    out[u] += 1
                    out[v] += 1
                    out[ends[f]] += 1
                else:
                    out[e] += flag[ends[f]]
                    out[third] += flag[v]
                    out[f] += flag[u]
        for e in range(start[u], start[u + 1]):
            position[ends[e]] = -1


def _steps_of_pass(forward: Forward, *_flags: Flags) -> int:
    """Return about how many steps a pass over all pairs of neighbors of later ones takes."""
    later = np.diff(forward.start)
    return 2 * int((later * later).sum()) + forward.ends.size


def _steps_of_all(indptr: Indptr, indices: Indices) -> int:
    """Return about how many steps it takes with the making of the forward edges."""
    degrees = np.diff(indptr)
    return int((degrees * degrees).sum()) // 3 + 3 * indices.size


@tiered(_steps_of_pass)
@allocating
def triangles_of_nodes(forward: Forward) -> NDArray[np.int64]:
    """Return the number of triangles at every node."""
    out = np.zeros(forward.start.size - 1, dtype=np.int64)
    _pass(forward, None, None, out)
    return out


@tiered(_steps_of_pass)
@allocating
def flagged_thirds(forward: Forward, flag: Flags) -> NDArray[np.int64]:
    """Return for every edge how many common neighbors of its ends are flagged."""
    out = np.zeros(forward.ends.size, dtype=np.int64)
    _pass(forward, flag, None, out)
    return out


@tiered(_steps_of_all)
@allocating
def triangles(indptr: Indptr, indices: Indices) -> NDArray[np.int64]:
    """Return the number of triangles at every node."""
    return triangles_of_nodes(_forward(indptr, indices))


@tiered(_steps_of_all)
@allocating
def common_neighbors(indptr: Indptr, indices: Indices) -> NDArray[np.int32]:
    """Return, for every entry of indices, how many neighbors the two ends of its edge share."""
    everybody = np.ones(indptr.size - 1, dtype=np.bool_)
    shared = flagged_thirds(_forward(indptr, indices), everybody)
    return _on_both_entries(indptr, indices, shared)


@allocating
def _on_both_entries(indptr: Indptr, indices: Indices, of_edge: Indptr) -> NDArray[np.int32]:
    """Return for every entry the value of its edge, given in the order of the forward edges.

    The nodes u are passed in order, so the entries that point back from a node w to some u are met
    in their order too: cursor[w] only moves on.
    """
    out = np.empty(indices.size, dtype=np.int32)
    cursor = indptr[:-1].copy()
    e = 0
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            w = indices[arc]
            if not _points(indptr, u, w):
                continue
            while _points(indptr, w, indices[cursor[w]]):
                cursor[w] += 1
            out[arc] = of_edge[e]
            out[cursor[w]] = of_edge[e]
            cursor[w] += 1
            e += 1
    return out


@allocating
def _forward_weights(indptr: Indptr, indices: Indices, weight: Weights) -> NDArray[np.int64]:
    """Return the weights of the forward edges, in their order."""
    out = np.empty(indices.size // 2, dtype=np.int64)
    filled = 0
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            if _points(indptr, u, indices[arc]):
                out[filled] = weight[arc]
                filled += 1
    return out


@tiered(lambda indptr, indices, _weight: _steps_of_all(indptr, indices))
@allocating
def weight_around(indptr: Indptr, indices: Indices, weight: Weights) -> NDArray[np.int64]:
    """Return for every node what the edges between its neighbors weigh together.

    Both entries of an edge have its weight.
    """
    forward = _forward(indptr, indices)
    out = np.zeros(indptr.size - 1, dtype=np.int64)
    _pass(forward, None, _forward_weights(indptr, indices, weight), out)
    return out
