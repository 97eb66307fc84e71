"""The textbook constructions: a graph of given degrees, beside, over, or close to another graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import below, sort
from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.methods.k_degree.kernels.edits import DegreeEdits, adjacent, cut, in_graph, make
from graphveil.methods.k_degree.kernels.match import Queue, lower, make_queue

ANYBODY = 0
STRANGERS = 1
NEIGHBORS_FIRST = 2


@leaf
def _partners(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    queue: Queue,
    v: int,
    wanted: int,
    choice: int,
    out: NDArray[np.int64],
) -> int:
    """Write into out the ascending queue positions of v's partners; returns how many were found."""
    live = queue.bound[1]
    found = 0
    if choice == NEIGHBORS_FIRST:
        for j in range(indptr[v], indptr[v + 1]):
            position = queue.position[indices[j]]
            if 0 <= position < live:
                out[found] = position
                found += 1
        sort(out[:found])
        found = min(found, wanted)
    index = 0
    while found < wanted and index < live:
        w = queue.order[index]
        if choice == ANYBODY or not in_graph(indptr, indices, v, w):
            out[found] = index
            found += 1
        index += 1
    sort(out[:found])
    return found


@allocating
def join_by_degrees(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    order: NDArray[np.int64],
    need: NDArray[np.int64],
    choice: int,
    out: NDArray[np.int32],
    rng: np.random.Generator,
) -> int:
    """Join random nodes to the neediest others until nobody needs an edge.

    The order holds the needy nodes by descending need. Writes the pairs into out[i]; need is used
    up. Returns the number of pairs, or -1 where a node finds too few partners.
    """
    queue = make_queue(order, need)
    partners = np.empty(order.size, dtype=np.int64)
    pairs = 0
    while order.size and queue.bound[1] > 0:
        v = queue.order[below(rng, queue.bound[1])]
        wanted = need[v]
        while need[v] > 0:
            lower(queue, queue.position[v], need[v])
            need[v] -= 1
        found = _partners(indptr, indices, queue, v, wanted, choice, partners)
        if found < wanted:
            return -1
        for i in range(found - 1, -1, -1):
            w = queue.order[partners[i]]
            lower(queue, partners[i], need[w])
            need[w] -= 1
            out[pairs, 0], out[pairs, 1] = v, w
            pairs += 1
    return pairs


@allocating
def some_prefix_needs_too_much(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    order: NDArray[np.int64],
    need: NDArray[np.int64],
) -> bool:
    """Return whether the l neediest nodes, for some l, need more than all pairs can give them.

    The order holds the needy nodes by descending need.
    """
    inside = np.zeros(need.size, dtype=np.bool_)
    contacts = np.zeros(need.size, dtype=np.int64)
    needed, within = 0, 0
    for i in range(order.size):
        v, size = order[i], i + 1
        within += 2 * (i - contacts[v])
        inside[v] = True
        for j in range(indptr[v], indptr[v + 1]):
            contacts[indices[j]] += 1
        needed += need[v]
        outside = 0
        for j in range(size, order.size):
            outside += min(size - contacts[order[j]], need[order[j]])
        if needed > within + outside:
            return True
    return False


@leaf
def _gain(edits: DegreeEdits, kept: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """Return how many more edges of `kept` the pairs (a, c), (b, d) hold; -9 if not allowed."""
    a, c, b, d = ends
    if adjacent(edits, a, c) or adjacent(edits, b, d):
        return -9
    n = edits.residual.size
    total = 0
    for u, v in ((a, c), (b, d)):
        key = min(u, v) * n + max(u, v)
        place = np.searchsorted(kept, key)
        total += place < kept.size and kept[place] == key
    return total


@allocating
def best_swap(
    edits: DegreeEdits,
    kept: NDArray[np.int64],
    pairs: NDArray[np.int64],
    is_kept: NDArray[np.bool_],
    sample: NDArray[np.int64],
) -> bool:
    """Carry out the swap of two sampled edges that keeps most more of an old graph.

    `pairs` are the edges of the new graph, `is_kept` whether the old one has them, `kept` the
    sorted keys of the old one's edges. Returns False where no swap keeps more.
    """
    best, best_i, best_j = 0, 0, 0
    best_ends = np.zeros(4, dtype=np.int64)
    ends = np.zeros(4, dtype=np.int64)
    for s in range(sample.size):
        i = sample[s]
        for t in range(s + 1, sample.size):
            j = sample[t]
            lost = int(is_kept[i]) + int(is_kept[j])
            if 2 - lost <= best:
                continue
            for turn in range(2):
                ends[0], ends[2] = pairs[i, 0], pairs[i, 1]
                ends[1], ends[3] = pairs[j, turn], pairs[j, 1 - turn]
                gain = _gain(edits, kept, ends) - lost
                if gain > best:
                    best, best_i, best_j = gain, i, j
                    best_ends[:] = ends
    if best == 0:
        return False
    _replace(edits, kept, pairs, is_kept, np.array([best_i, best_j]), best_ends)
    return True


@allocating
def _replace(
    edits: DegreeEdits,
    kept: NDArray[np.int64],
    pairs: NDArray[np.int64],
    is_kept: NDArray[np.bool_],
    where: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> None:
    """Replace two pairs by (ends 0, 1) and (ends 2, 3)."""
    n = edits.residual.size
    for i in where:
        cut(edits, pairs[i, 0], pairs[i, 1])
    for i, u, v in ((where[0], ends[0], ends[1]), (where[1], ends[2], ends[3])):
        make(edits, u, v)
        pairs[i, 0], pairs[i, 1] = u, v
        key = min(u, v) * n + max(u, v)
        place = np.searchsorted(kept, key)
        is_kept[i] = place < kept.size and kept[place] == key
