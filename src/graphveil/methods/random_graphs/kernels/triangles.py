"""What `degree-triangle-model` reads of the true triangles: counts by class, and a sensitivity.

Both enter the ladder mechanism (`graphveil.methods.noise.ladder`), so their exact definition
carries the guarantee. Each triangle is counted once, by the lowest class of its nodes: an edge u-v
that appears or vanishes changes the counts by the common neighbors of u and v, in all. Their
maximum over all pairs of nodes, adjacent or not, bounds that, and changes by at most 1 with an
edge. A maximum over edges alone would not bound what a new edge adds.

Cost: O(sum of squared degrees), the number of paths of two edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import allocating
from graphveil.core.kernels.tiers import tiered

Indptr = NDArray[np.int64]
Indices = NDArray[np.int32]


def _steps(indptr: Indptr, *_rest: object) -> int:
    """Return about how many steps a count takes: the number of paths of two edges."""
    degrees = np.diff(indptr)
    return int((degrees * degrees).sum()) + degrees.size


@tiered(_steps)
@allocating
def most_in_common(indptr: Indptr, indices: Indices) -> int:
    """Return the largest number of neighbors that two different nodes share, adjacent or not.

    Parameters
    ----------
    indptr, indices
        int64, shape (n + 1,), and int32: the graph in compressed rows, each edge in both.
    """
    # `shared[v]` counts the paths from u to v over one other node. It is cleared after each u by
    # walking the same paths again.
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
def triangles_by_class(indptr: Indptr, indices: Indices, classes: Indptr, number: int) -> Ints:
    """Return how many triangles have each class as the lowest of their three nodes: each once.

    Parameters
    ----------
    indptr, indices
        The graph, as in `most_in_common`.
    classes
        int64, shape (n,): the class of every node.
    number
        The number of classes.

    Returns
    -------
    int64 array, shape (number,)
        The counts.
    """
    # With the neighbors of u marked, a triangle u < v < w is an edge v-w to a marked node.
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
