"""Loops of the graph constructions of Liu and Terzi that make no release, in plain Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import below
from graphveil.methods.k_degree.kernels.edits import (
    DegreeEdits,
    Queue,
    adjacent,
    cut,
    in_graph,
    lower,
    make,
    make_queue,
)

Ints = NDArray[np.int64]
Nodes = NDArray[np.int32]


STRANGERS = 1
"""Partners are joined by no edge of the graph: Supergraph."""

NEIGHBORS_FIRST = 2
"""Partners are first the neighbors in the graph, then the others: Priority."""


def _partners(
    indptr: Ints, indices: Nodes, queue: Queue, v: int, wanted: int, choice: int, out: Ints
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
        out[:found].sort()
        found = min(found, wanted)
    index = 0
    while found < wanted and index < live:
        w = queue.order[index]
        if not in_graph(indptr, indices, v, w):
            out[found] = index
            found += 1
        index += 1
    out[:found].sort()
    return found


def join_by_degrees(
    indptr: Ints,
    indices: Nodes,
    order: Ints,
    need: Ints,
    choice: int,
    out: Nodes,
    rng: np.random.Generator,
) -> int:
    """Join random nodes to the neediest others until nobody needs an edge; -1 if one cannot."""
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


def some_prefix_needs_too_much(indptr: Ints, indices: Nodes, order: Ints, need: Ints) -> bool:
    """Return whether the l neediest, for some l, need more than pairs can give."""
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


def _gain(edits: DegreeEdits, kept: Ints, ends: Ints) -> int:
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


def best_swap(
    edits: DegreeEdits, kept: Ints, pairs: Ints, is_kept: NDArray[np.bool_], sample: Ints
) -> bool:
    """Carry out the swap of two sampled edges that keeps most more of an old graph, if one does."""
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


def _replace(
    edits: DegreeEdits, kept: Ints, pairs: Ints, is_kept: NDArray[np.bool_], where: Ints, ends: Ints
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
