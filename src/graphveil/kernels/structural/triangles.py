"""Triangle passes over the edges that are alive, for rounds that delete edges between passes.

The nodes are numbered by rising degree of the input, so that an edge points from its smaller end to
its larger and no node has more than sqrt(2 m) forward neighbours. Deleting edges keeps that: a
round only takes entries out. A pass finds every triangle once, in O(m sqrt(m)) steps.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphveil.kernels.neighbourhoods.triangles import Forward, Indices, Indptr

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def forward_by_rank(indptr: Indptr, indices: Indices, order: Ints, rank: Indices) -> Forward:
    """Return the forward neighbours under new numbers: node ``order[r]`` becomes r.

    Larger ends are met in their order, so that every row comes out sorted.
    """
    n = indptr.size - 1
    start = np.zeros(n + 1, dtype=np.int64)
    for u in range(n):
        for arc in range(indptr[u], indptr[u + 1]):
            if rank[indices[arc]] > rank[u]:
                start[rank[u] + 1] += 1
    for r in range(n):
        start[r + 1] += start[r]
    ends = np.empty(start[n], dtype=np.int32)
    free = start[:-1].copy()
    for larger in range(n):
        u = order[larger]
        for arc in range(indptr[u], indptr[u + 1]):
            smaller = rank[indices[arc]]
            if smaller < larger:
                ends[free[smaller]] = larger
                free[smaller] += 1
    return Forward(start, ends)


@njit(cache=True, nogil=True)
def count_triangles(forward: Forward) -> Ints:
    """Return the number of triangles at every node."""
    start, ends = forward
    n = start.size - 1
    found = np.zeros(n, dtype=np.int64)
    near = np.zeros(n, dtype=np.bool_)
    for u in range(n):
        if start[u + 1] - start[u] < 2:
            continue
        for e in range(start[u], start[u + 1]):
            near[ends[e]] = True
        for e in range(start[u], start[u + 1]):
            v = ends[e]
            for f in range(start[v], start[v + 1]):
                if near[ends[f]]:
                    found[u] += 1
                    found[v] += 1
                    found[ends[f]] += 1
        for e in range(start[u], start[u + 1]):
            near[ends[e]] = False
    return found


@njit(cache=True, nogil=True)
def flagged_affected(forward: Forward, flag: Flags) -> Ints:
    """Return for every edge how many of its ends and their common neighbours are flagged."""
    start, ends = forward
    n = start.size - 1
    score = np.empty(ends.size, dtype=np.int64)
    place = np.full(n, -1, dtype=np.int64)
    for u in range(n):
        for e in range(start[u], start[u + 1]):
            score[e] = np.int64(flag[u]) + np.int64(flag[ends[e]])
    for u in range(n):
        if start[u + 1] - start[u] < 2:
            continue
        for e in range(start[u], start[u + 1]):
            place[ends[e]] = e
        for e in range(start[u], start[u + 1]):
            v = ends[e]
            for f in range(start[v], start[v + 1]):
                third = place[ends[f]]
                if third >= 0:
                    score[e] += flag[ends[f]]
                    score[third] += flag[v]
                    score[f] += flag[u]
        for e in range(start[u], start[u + 1]):
            place[ends[e]] = -1
    return score


@njit(cache=True, nogil=True)
def flagged_near(forward: Forward, flag: Flags) -> Ints:
    """Return for every node how many of itself and its neighbours are flagged."""
    start, ends = forward
    near = flag.astype(np.int64)
    for u in range(start.size - 1):
        for e in range(start[u], start[u + 1]):
            near[u] += flag[ends[e]]
            near[ends[e]] += flag[u]
    return near
