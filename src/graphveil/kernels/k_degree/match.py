"""Steps 1-3 of the realization: match nodes that are owed the same sign among themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.draws import below
from graphveil.kernels.k_degree.edits import (
    DegreeEdits,
    cut,
    in_graph,
    make,
    set_pair,
    state_of,
)
from graphveil.kernels.leaf import MINUS_ONE, ONE, allocating, leaf, wide
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
    """Whom two nodes, v and w, are joined to now, and every node's edits.

    ``of_v[x]`` is v where v and x are joined, ``of_w`` likewise. ``ends`` holds both ends of every
    key of the two logs: 2 i and 2 i + 1 are those of key i of the additions, deletions come behind
    them. A node's ends are a chain: ``first[v]``, and what ``after`` says of each; -1 ends it.
    """

    of_v: NDArray[np.int32]
    of_w: NDArray[np.int32]
    ends: NDArray[np.int32]
    first: NDArray[np.int32]
    after: NDArray[np.int32]


@leaf
def _link(edits: DegreeEdits, near: Nearness, sign: int, begin: int) -> None:
    """Chain the keys of the log of this sign, from the one numbered `begin` on."""
    log = edits.added if sign > 0 else edits.deleted
    size = edits.tally[0] if sign > 0 else edits.tally[1]
    shift = 0 if sign > 0 else 2 * edits.added.size
    n = edits.indptr.size - 1
    for i in range(begin, size):
        u = log[i] // n
        at = shift + 2 * i
        near.ends[at], near.ends[at + 1] = u, log[i] - u * n
        for end in range(at, at + 2):
            near.after[end] = near.first[near.ends[end]]
            near.first[near.ends[end]] = end


@allocating
def _nearness(edits: DegreeEdits) -> Nearness:
    """Return the nearness of no nodes yet."""
    n = edits.indptr.size - 1
    nobody = np.empty(n, dtype=np.int32)
    nobody[:] = -1
    ends = np.empty(2 * (edits.added.size + edits.deleted.size), dtype=np.int32)
    near = Nearness(nobody, nobody.copy(), ends, nobody.copy(), np.empty_like(ends))
    _link(edits, near, ONE, 0)
    _link(edits, near, MINUS_ONE, 0)
    return near


@leaf
def _mark(edits: DegreeEdits, near: Nearness, v: int, marks: NDArray[np.int32]) -> None:
    """Write v at those who are joined to it now, and at nobody else.

    Of the nodes that it ever had an edit with, those of the additions are no neighbors in the
    graph, those of the deletions are.
    """
    for j in range(edits.indptr[v], edits.indptr[v + 1]):
        marks[edits.indices[j]] = v
    end = near.first[v]
    while end >= 0:
        x = near.ends[end ^ 1]
        state = state_of(edits, v, x)
        joined = state > 0 if end < 2 * edits.added.size else state == 0
        marks[x] = v if joined else -1
        end = near.after[end]


@leaf
def _try_swap(
    edits: DegreeEdits, near: Nearness, v: int, w: int, sign: int, start: int, tries: int
) -> bool:
    """Undo one edit (x, y) of this sign and edit (v, x), (w, y) instead, if any allows it.

    Most tries fail, so the table is asked only where the marks of v and w allow it.
    """
    size = edits.tally[0] if sign > 0 else edits.tally[1]
    shift = 0 if sign > 0 else 2 * edits.added.size
    joined = sign < 0
    of_v, of_w = near.of_v, near.of_w
    at = start
    for _step in range(min(tries, size)):
        x = wide(near.ends[shift + 2 * at])
        y = wide(near.ends[shift + 2 * at + 1])
        at = at + 1 if at + 1 < size else 0
        if v in (x, y) or w in (x, y):
            continue
        for _turn in range(2):
            if (
                (of_v[x] == v) == joined
                and (of_w[y] == w) == joined
                and state_of(edits, x, y) == sign
            ):
                set_pair(edits, x, y, -sign)
                set_pair(edits, v, x, sign)
                set_pair(edits, w, y, sign)
                _link(edits, near, sign, size)
                _mark(edits, near, v, of_v)
                _mark(edits, near, w, of_w)
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
    near = _nearness(edits)
    for i in range(left.size):
        v = left[i]
        if residual[v] * sign > 0:
            _mark(edits, near, v, near.of_v)
        for j in range(i, min(left.size, i + SWAP_PARTNERS)):
            w = left[j]
            both = 2 if v == w else 1
            if residual[v] * sign >= both and residual[w] * sign >= both:
                _mark(edits, near, w, near.of_w)
            while residual[v] * sign >= both and residual[w] * sign >= both:
                size = edits.tally[0] if sign > 0 else edits.tally[1]
                if size == 0 or budget <= 0:
                    return
                if not _try_swap(edits, near, v, w, sign, below(rng, size), tries):
                    budget -= tries
                    break
