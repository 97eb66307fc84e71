"""Edge edits over an immutable graph: a hash of the pairs that differ from it.

A pair u < v has the key ``u * n + v``, never 0, which marks a free slot. Its state is +1 (added),
-1 (deleted) or 0 (as in the graph). Every kernel of the realisation reads adjacency through
`adjacent` and writes through `make` and `cut`, which keep the residuals in step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

FREE = 0
FIBONACCI = np.uint64(0x9E3779B97F4A7C15)


class Edits(NamedTuple):
    """The graph, what was changed, and what is still owed to every node.

    ``added`` and ``deleted`` log every key that ever got that state; an entry counts only while the
    state in the hash still says so. ``final`` holds keys of additions that no later step asks for,
    and that are not in the hash. ``tally`` holds the lengths of the three. ``touched`` tells the
    nodes that ever had an edit.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    keys: NDArray[np.int64]
    states: NDArray[np.int8]
    added: NDArray[np.int64]
    deleted: NDArray[np.int64]
    final: NDArray[np.int64]
    tally: NDArray[np.int64]
    residual: NDArray[np.int64]
    touched: NDArray[np.bool_]


class Classes(NamedTuple):
    """The target degree of every node, and how many nodes share each."""

    target: NDArray[np.int64]
    members: NDArray[np.int64]


@njit(cache=True, nogil=True)
def slot_of(keys: NDArray[np.int64], key: int) -> int:
    """Return the slot that holds the key, or the free slot where it belongs."""
    mask = keys.size - 1
    slot = np.int64((np.uint64(key) * FIBONACCI) >> np.uint64(20)) & mask
    while keys[slot] != FREE and keys[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@njit(cache=True, nogil=True)
def in_graph(indptr: NDArray[np.int64], indices: NDArray[np.int32], u: int, v: int) -> bool:
    """Return whether the graph has the edge, by bisection in the shorter list."""
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    low, high = indptr[u], indptr[u + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and indices[low] == v)


@njit(cache=True, nogil=True)
def state_of(edits: Edits, u: int, v: int) -> int:
    """Return +1 if the edge was added, -1 if it was deleted, 0 if it is as in the graph."""
    if not (edits.touched[u] and edits.touched[v]):
        return 0
    n = edits.indptr.size - 1
    return int(edits.states[slot_of(edits.keys, min(u, v) * n + max(u, v))])


@njit(cache=True, nogil=True)
def adjacent(edits: Edits, u: int, v: int) -> bool:
    """Return whether u and v are joined now; a node counts as joined to itself."""
    if u == v:
        return True
    state = state_of(edits, u, v)
    if state != 0:
        return state > 0
    return in_graph(edits.indptr, edits.indices, u, v)


@njit(cache=True, nogil=True)
def make(edits: Edits, u: int, v: int) -> None:
    """Join u and v, which are not joined now; each is owed one less."""
    n = edits.indptr.size - 1
    key = min(u, v) * n + max(u, v)
    slot = slot_of(edits.keys, key)
    if edits.keys[slot] == key and edits.states[slot] < 0:
        edits.states[slot] = 0
    else:
        edits.keys[slot] = key
        edits.states[slot] = 1
        edits.added[edits.tally[0]] = key
        edits.tally[0] += 1
    edits.residual[u] -= 1
    edits.residual[v] -= 1
    edits.touched[u] = True
    edits.touched[v] = True


@njit(cache=True, nogil=True)
def cut(edits: Edits, u: int, v: int) -> None:
    """Part u and v, which are joined now; each is owed one more."""
    n = edits.indptr.size - 1
    key = min(u, v) * n + max(u, v)
    slot = slot_of(edits.keys, key)
    if edits.keys[slot] == key and edits.states[slot] > 0:
        edits.states[slot] = 0
    else:
        edits.keys[slot] = key
        edits.states[slot] = -1
        edits.deleted[edits.tally[1]] = key
        edits.tally[1] += 1
    edits.residual[u] += 1
    edits.residual[v] += 1
    edits.touched[u] = True
    edits.touched[v] = True


@njit(cache=True, nogil=True)
def set_pair(edits: Edits, u: int, v: int, sign: int) -> None:
    """Join (sign > 0) or part (sign < 0) u and v."""
    if sign > 0:
        make(edits, u, v)
    else:
        cut(edits, u, v)


@njit(cache=True, nogil=True)
def changed_pairs(edits: Edits, sign: int) -> NDArray[np.int64]:
    """Return the keys in this state (+1 added, -1 deleted), in no order, some twice."""
    log = edits.added if sign > 0 else edits.deleted
    logged = edits.tally[0] if sign > 0 else edits.tally[1]
    final = edits.tally[2] if sign > 0 else 0
    out = np.empty(logged + final, dtype=np.int64)
    count = 0
    for i in range(logged):
        if edits.states[slot_of(edits.keys, log[i])] == sign:
            out[count] = log[i]
            count += 1
    out[count : count + final] = edits.final[:final]
    return out[: count + final]


@njit(cache=True, nogil=True)
def pairs_in_graph(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], keys: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return for every key whether the graph has its edge."""
    n = indptr.size - 1
    out = np.empty(keys.size, dtype=np.bool_)
    for i in range(keys.size):
        out[i] = in_graph(indptr, indices, keys[i] // n, keys[i] % n)
    return out


@njit(cache=True, nogil=True)
def marked_neighbours(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    marked: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Write into out[v] how many neighbours of v stand in the list `marked`."""
    out[:] = 0.0
    for v in marked:
        for j in range(indptr[v], indptr[v + 1]):
            out[indices[j]] += 1.0


@njit(cache=True, nogil=True)
def pull_of_neighbours(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    goal: NDArray[np.int64],
    falls: NDArray[np.bool_],
    rises: NDArray[np.bool_],
    out: NDArray[np.float64],
) -> None:
    """Write into out[v] the share of their edges that v's neighbours change, summed.

    Falling neighbours count where nodes of v's degree may fall, rising ones where they may rise.
    """
    out[:] = 0.0
    for v in range(indptr.size - 1):
        degree = indptr[v + 1] - indptr[v]
        if goal[v] < degree:
            share = (degree - goal[v]) / degree
            for j in range(indptr[v], indptr[v + 1]):
                if falls[indices[j]]:
                    out[indices[j]] += share
        elif goal[v] > degree > 0:
            share = (goal[v] - degree) / degree
            for j in range(indptr[v], indptr[v + 1]):
                if rises[indices[j]]:
                    out[indices[j]] += share


@njit(cache=True, nogil=True)
def edited_csr(
    edits: tuple[NDArray[np.int64], NDArray[np.int32]],
    added: tuple[NDArray[np.int64], NDArray[np.int32]],
    deleted: tuple[NDArray[np.int64], NDArray[np.int32]],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
) -> None:
    """Write into (indptr, indices) the first graph with the second's edges and without the third's.

    All three hold sorted neighbours in both directions; added ones are no edges of the graph,
    deleted ones are.
    """
    old_ptr, old = edits
    add_ptr, add = added
    del_ptr, delete = deleted
    out = 0
    indptr[0] = 0
    for v in range(old_ptr.size - 1):
        a, a_end = add_ptr[v], add_ptr[v + 1]
        d, d_end = del_ptr[v], del_ptr[v + 1]
        for j in range(old_ptr[v], old_ptr[v + 1]):
            if d < d_end and delete[d] == old[j]:
                d += 1
                continue
            while a < a_end and add[a] < old[j]:
                indices[out] = add[a]
                out += 1
                a += 1
            indices[out] = old[j]
            out += 1
        while a < a_end:
            indices[out] = add[a]
            out += 1
            a += 1
        indptr[v + 1] = out
