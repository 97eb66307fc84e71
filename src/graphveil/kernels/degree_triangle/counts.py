"""Triangles by class, and the most neighbors that any two nodes have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import allocating
from graphveil.kernels.tiers import tiered

Indptr = NDArray[np.int64]
Indices = NDArray[np.int32]


def _steps(indptr: Indptr, *_rest: object) -> int:
    """Return how many ways of two steps there are."""
    degrees = np.diff(indptr)
    return int((degrees * degrees).sum()) + degrees.size


@tiered(_steps)
@allocating
def most_in_common(indptr: Indptr, indices: Indices) -> int:
    """Return the most neighbors that two different nodes share, whether they are tied or not."""
    shared = np.zeros(indptr.size - 1, dtype=np.int64)
    most = 0
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            w = indices[arc]
            for back in range(indptr[w], indptr[w + 1]):
                v = indices[back]
                if v > u:
                    shared[v] += 1
                    most = max(most, shared[v])
        for arc in range(indptr[u], indptr[u + 1]):
            w = indices[arc]
            for back in range(indptr[w], indptr[w + 1]):
                shared[indices[back]] = 0
    return most


@tiered(_steps)
@allocating
def triangles_by_class(
    indptr: Indptr, indices: Indices, classes: Indptr, number: int
) -> NDArray[np.int64]:
    """Return how many triangles have each class as the lowest of their three nodes: each once."""
    out = np.zeros(number, dtype=np.int64)
    marked = np.zeros(indptr.size - 1, dtype=np.bool_)
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            marked[indices[arc]] = True
        for arc in range(indptr[u], indptr[u + 1]):
            v = indices[arc]
            if v < u:
                continue
            for onward in range(indptr[v], indptr[v + 1]):
                w = indices[onward]
                if w > v and marked[w]:
                    out[min(classes[u], classes[v], classes[w])] += 1
        for arc in range(indptr[u], indptr[u + 1]):
            marked[indices[arc]] = False
    return out
