"""Triangles of a graph: every triangle is found once, from its end of least degree.

Nodes are ordered by (degree, position). An edge points forward, from the earlier end to the later,
so that no node has more than sqrt(2 m) forward neighbours, and all triangles are found in
O(m sqrt(m)) steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Indptr = NDArray[np.int64]
Indices = NDArray[np.int32]


class Forward(NamedTuple):
    """Forward neighbours: those of u are ``ends[start[u]:start[u + 1]]``, sorted."""

    start: Indptr
    ends: Indices


@njit(cache=True, nogil=True)
def _points(indptr: Indptr, u: int, w: int) -> bool:
    """Return whether the edge points from u to w."""
    of_u = indptr[u + 1] - indptr[u]
    of_w = indptr[w + 1] - indptr[w]
    return bool(of_u < of_w or (of_u == of_w and u < w))


@njit(cache=True, nogil=True)
def forward(indptr: Indptr, indices: Indices) -> Forward:
    """Return the forward neighbours of every node."""
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


@njit(cache=True, nogil=True)
def triangles(indptr: Indptr, indices: Indices) -> NDArray[np.int64]:
    """Return the number of triangles at every node."""
    n = indptr.size - 1
    start, ends = forward(indptr, indices)
    found = np.zeros(n, dtype=np.int64)
    mark = np.full(n, -1, dtype=np.int32)
    for u in range(n):
        for e in range(start[u], start[u + 1]):
            mark[ends[e]] = u
        for e in range(start[u], start[u + 1]):
            v = ends[e]
            for f in range(start[v], start[v + 1]):
                if mark[ends[f]] == u:
                    found[u] += 1
                    found[v] += 1
                    found[ends[f]] += 1
    return found


@njit(cache=True, nogil=True)
def common_neighbours(indptr: Indptr, indices: Indices) -> NDArray[np.int32]:
    """Return, for every entry of indices, how many neighbours the two ends of its edge share."""
    n = indptr.size - 1
    start, ends = forward(indptr, indices)
    shared = np.zeros(ends.size, dtype=np.int32)
    place = np.full(n, -1, dtype=np.int64)
    for u in range(n):
        for e in range(start[u], start[u + 1]):
            place[ends[e]] = e
        for e in range(start[u], start[u + 1]):
            v = ends[e]
            for f in range(start[v], start[v + 1]):
                third = place[ends[f]]
                if third >= 0:
                    shared[e] += 1
                    shared[f] += 1
                    shared[third] += 1
        for e in range(start[u], start[u + 1]):
            place[ends[e]] = -1
    return _on_both_entries(indptr, indices, shared)


@njit(cache=True, nogil=True)
def _on_both_entries(indptr: Indptr, indices: Indices, of_edge: Indices) -> NDArray[np.int32]:
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
