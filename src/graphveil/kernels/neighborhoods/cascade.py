"""The anonymity cascade: from nodes that are found to neighbors that are alone in their class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import allocating
from graphveil.kernels.neighborhoods.triangles import Indices, Indptr

Ints = NDArray[np.int64]


@allocating
def follow(indptr: Indptr, indices: Indices, labels: Ints, levels: Ints) -> None:
    """Raise levels that are -1 to one more than that of the neighbor by which a node is found.

    Nodes of level 0 are found at the start. A found node leads to each neighbor whose label no
    other of its neighbors has. Nodes are passed in the order they are found, so levels are least.
    """
    n = indptr.size - 1
    queue = np.empty(n, dtype=np.int64)
    filled = 0
    classes = np.int64(0)
    for v in range(n):
        classes = max(classes, labels[v] + 1)
        if levels[v] == 0:
            queue[filled] = v
            filled += 1
    count = np.zeros(classes, dtype=np.int64)
    head = 0
    while head < filled:
        v = queue[head]
        head += 1
        for arc in range(indptr[v], indptr[v + 1]):
            count[labels[indices[arc]]] += 1
        for arc in range(indptr[v], indptr[v + 1]):
            w = indices[arc]
            if count[labels[w]] == 1 and levels[w] < 0:
                levels[w] = levels[v] + 1
                queue[filled] = w
                filled += 1
        for arc in range(indptr[v], indptr[v + 1]):
            count[labels[indices[arc]]] = 0
