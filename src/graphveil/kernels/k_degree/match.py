"""Steps 1-3 of the realization: match nodes that are owed the same sign among themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.draws import below
from graphveil.kernels.k_degree.edits import (
    DegreeEdits,
    adjacent,
    cut,
    in_graph,
    make,
    set_pair,
    state_of,
)
from graphveil.kernels.leaf import allocating, leaf, wide
from graphveil.kernels.sorting import sort
from graphveil.kernels.tiers import tiered

SWAP_PARTNERS = 16


class Queue(NamedTuple):
    """Nodes by descending need: ``bound[q]`` positions hold a need of at least q."""

    order: NDArray[np.int64]
    position: NDArray[np.int64]
    bound: NDArray[np.int64]


@allocating
def make_queue(order: NDArray[np.int64], need: NDArray[np.int64]) -> Queue:
    """Return the queue of these nodes, which stand by descending positive need."""
    position = np.empty(need.size, dtype=np.int64)
    position[:] = -1
    highest = need[order[0]] if order.size else 0
    bound = np.zeros(highest + 2, dtype=np.int64)
    for index in range(order.size):
        position[order[index]] = index
        bound[need[order[index]]] += 1
    for q in range(highest - 1, -1, -1):
        bound[q] += bound[q + 1]
    return Queue(order.copy(), position, bound)


@leaf
def lower(queue: Queue, index: int, need: int) -> None:
    """Move the node at this position, of this need, to a need one less."""
    last = queue.bound[need] - 1
    node, other = queue.order[index], queue.order[last]
    queue.order[index], queue.order[last] = other, node
    queue.position[node], queue.position[other] = last, index
    queue.bound[need] = last


@tiered()
@allocating
def match_additions(edits: DegreeEdits, order: NDArray[np.int64]) -> None:
    """Havel-Hakimi on the residuals of these nodes, by descending residual, joining non-edges."""
    residual = edits.residual
    queue = make_queue(order, residual)
    partners = np.empty(order.size, dtype=np.int64)
    for head in range(order.size):
        v = queue.order[head]
        if residual[v] <= 0:
            return
        found = 0
        index = head + 1
        while found < residual[v] and index < queue.bound[1]:
            if not in_graph(edits.indptr, edits.indices, v, queue.order[index]):
                partners[found] = index
                found += 1
            index += 1
        for i in range(found - 1, -1, -1):
            w = queue.order[partners[i]]
            lower(queue, partners[i], residual[w])
            make(edits, v, w)


@tiered()
@allocating
def match_deletions(edits: DegreeEdits, order: NDArray[np.int64]) -> None:
    """Havel-Hakimi on what these nodes have too much, by descending need, parting edges."""
    residual = edits.residual
    queue = make_queue(order, -residual)
    for head in range(order.size):
        v = queue.order[head]
        if residual[v] >= 0:
            return
        first, last = edits.indptr[v], edits.indptr[v + 1]
        candidates = np.empty(last - first, dtype=np.int64)
        count = 0
        for j in range(first, last):
            w = wide(edits.indices[j])
            if residual[w] < 0 and queue.position[w] > head:
                candidates[count] = queue.position[w]
                count += 1
        sort(candidates[:count])
        for i in range(min(count, -residual[v]) - 1, -1, -1):
            w = queue.order[candidates[i]]
            lower(queue, candidates[i], -residual[w])
            cut(edits, v, w)


class Nearness(NamedTuple):
    """What rules pairs out without a look-up: neighbors in the graph of two nodes, v and w.

    ``of_v[x]`` is v where the graph has the edge (v, x), ``of_w`` likewise. ``crossed`` tells the
    nodes that ever had an edit of the other sign: between two of them the graph says nothing.
    """

    of_v: NDArray[np.int32]
    of_w: NDArray[np.int32]
    crossed: NDArray[np.bool_]


@allocating
def _nearness(edits: DegreeEdits, sign: int) -> Nearness:
    """Return the nearness of no nodes yet."""
    n = edits.indptr.size - 1
    of_v = np.empty(n, dtype=np.int32)
    of_v[:] = -1
    crossed = np.zeros(n, dtype=np.bool_)
    log = edits.deleted if sign > 0 else edits.added
    for i in range(edits.tally[1] if sign > 0 else edits.tally[0]):
        crossed[log[i] // n] = True
        crossed[log[i] % n] = True
    return Nearness(of_v, of_v.copy(), crossed)


@leaf
def _mark(edits: DegreeEdits, v: int, near: NDArray[np.int32]) -> None:
    """Write v at its neighbors in the graph."""
    for j in range(edits.indptr[v], edits.indptr[v + 1]):
        near[edits.indices[j]] = v


@leaf
def _try_swap(
    edits: DegreeEdits, near: Nearness, v: int, w: int, sign: int, start: int, tries: int
) -> bool:
    """Undo one edit (x, y) of this sign and edit (v, x), (w, y) instead, if any allows it.

    Most tries fail, so what the graph alone rules out is not looked up in the table.
    """
    log = edits.added if sign > 0 else edits.deleted
    size = edits.tally[0] if sign > 0 else edits.tally[1]
    n = edits.indptr.size - 1
    joined = sign < 0
    of_v, of_w, crossed = near
    at = start
    for _step in range(min(tries, size)):
        key = log[at]
        at = at + 1 if at + 1 < size else 0
        x = key // n
        y = key - x * n
        if v in (x, y) or w in (x, y):
            continue
        for _turn in range(2):
            if (
                ((of_v[x] == v) == joined or (crossed[v] and crossed[x]))
                and ((of_w[y] == w) == joined or (crossed[w] and crossed[y]))
                and state_of(edits, x, y) == sign
                and adjacent(edits, v, x) == joined
                and adjacent(edits, w, y) == joined
            ):
                set_pair(edits, x, y, -sign)
                set_pair(edits, v, x, sign)
                set_pair(edits, w, y, sign)
                return True
            x, y = y, x
    return False


@tiered()
@allocating
def swap(
    edits: DegreeEdits,
    left: NDArray[np.int64],
    sign: int,
    tries: int,
    budget: int,
    rng: np.random.Generator,
) -> None:
    """Pay two units a time by re-routing one edit of this sign, within a budget of tries."""
    residual = edits.residual
    near = _nearness(edits, sign)
    for i in range(left.size):
        v = left[i]
        if residual[v] * sign > 0:
            _mark(edits, v, near.of_v)
        for j in range(i, min(left.size, i + SWAP_PARTNERS)):
            w = left[j]
            both = 2 if v == w else 1
            if residual[v] * sign >= both and residual[w] * sign >= both:
                _mark(edits, w, near.of_w)
            while residual[v] * sign >= both and residual[w] * sign >= both:
                size = edits.tally[0] if sign > 0 else edits.tally[1]
                if size == 0 or budget <= 0:
                    return
                if not _try_swap(edits, near, v, w, sign, below(rng, size), tries):
                    budget -= tries
                    break
