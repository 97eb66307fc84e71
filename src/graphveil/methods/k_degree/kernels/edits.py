"""Edge edits over an immutable graph: a hash of the pairs that differ from it.

A pair u < v has the key ``u * n + v``. Its value in the table, its state, is +1 (added), -1
(deleted) or 0 (as in the graph). Every kernel of the realization reads adjacency through
`adjacent` and writes through `make` and `cut`, which keep the residuals in step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.hashing import find, insert
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, allocating, leaf
from graphveil.core.kernels.tiers import tiered

SHIFT = 3


class DegreeEdits(NamedTuple):
    """The graph, what was changed, and what is still owed to every node.

    ``table`` is a hash table of keys and their states. ``added`` and ``deleted`` log every key that
    ever got that state; an entry counts only while the state in the table still says so. ``final``
    holds keys of additions that no later step asks for, and that are not in the table. ``tally``
    holds the lengths of the three and the shift of the hash. ``touched`` tells the nodes that ever
    had an edit.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    table: NDArray[np.int64]
    added: NDArray[np.int64]
    deleted: NDArray[np.int64]
    final: NDArray[np.int64]
    tally: NDArray[np.int64]
    residual: NDArray[np.int64]
    touched: NDArray[np.bool_]


class DegreeClasses(NamedTuple):
    """The target of every node, and how many nodes share each.

    A target is a cell, ``color * span + degree``; the last cell of a color is empty, so that no
    step leads out of it.
    """

    target: NDArray[np.int64]
    members: NDArray[np.int64]
    span: int


@leaf
def _key_of(edits: DegreeEdits, u: int, v: int) -> int:
    """Return the key of the pair."""
    return int(min(u, v) * (edits.indptr.size - 1) + max(u, v))


@leaf
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


@leaf
def state_of(edits: DegreeEdits, u: int, v: int) -> int:
    """Return +1 if the edge was added, -1 if it was deleted, 0 if it is as in the graph."""
    if not (edits.touched[u] and edits.touched[v]):
        return 0
    return int(edits.table[find(edits.table, edits.tally[SHIFT], _key_of(edits, u, v)), 1])


@leaf
def adjacent(edits: DegreeEdits, u: int, v: int) -> bool:
    """Return whether u and v are joined now; a node counts as joined to itself."""
    if u == v:
        return True
    state = state_of(edits, u, v)
    if state != 0:
        return state > 0
    return in_graph(edits.indptr, edits.indices, u, v)


@leaf
def still_there(edits: DegreeEdits, u: int, v: int) -> bool:
    """Return whether u and v, which are joined in the graph, are joined now."""
    return state_of(edits, u, v) == 0


@leaf
def make(edits: DegreeEdits, u: int, v: int) -> None:
    """Join u and v, which are not joined now; each is owed one less."""
    key, shift = _key_of(edits, u, v), edits.tally[SHIFT]
    row = find(edits.table, shift, key)
    if edits.table[row, 1] < 0:
        edits.table[row, 1] = 0
    else:
        insert(edits.table, shift, key, ONE)
        edits.added[edits.tally[0]] = key
        edits.tally[0] += 1
    edits.residual[u] -= 1
    edits.residual[v] -= 1
    edits.touched[u] = True
    edits.touched[v] = True


@leaf
def cut(edits: DegreeEdits, u: int, v: int) -> None:
    """Part u and v, which are joined now; each is owed one more."""
    key, shift = _key_of(edits, u, v), edits.tally[SHIFT]
    row = find(edits.table, shift, key)
    if edits.table[row, 1] > 0:
        edits.table[row, 1] = 0
    else:
        insert(edits.table, shift, key, MINUS_ONE)
        edits.deleted[edits.tally[1]] = key
        edits.tally[1] += 1
    edits.residual[u] += 1
    edits.residual[v] += 1
    edits.touched[u] = True
    edits.touched[v] = True


@leaf
def set_pair(edits: DegreeEdits, u: int, v: int, sign: int) -> None:
    """Join (sign > 0) or part (sign < 0) u and v."""
    if sign > 0:
        make(edits, u, v)
    else:
        cut(edits, u, v)


@tiered()
@allocating
def changed_pairs(edits: DegreeEdits, sign: int) -> NDArray[np.int64]:
    """Return the keys in this state (+1 added, -1 deleted), in no order, some twice."""
    log = edits.added if sign > 0 else edits.deleted
    logged = edits.tally[0] if sign > 0 else edits.tally[1]
    final = edits.tally[2] if sign > 0 else 0
    out = np.empty(logged + final, dtype=np.int64)
    count = 0
    for i in range(logged):
        if edits.table[find(edits.table, edits.tally[SHIFT], log[i]), 1] == sign:
            out[count] = log[i]
            count += 1
    for i in range(final):
        out[count + i] = edits.final[i]
    return out[: count + final]


@tiered()
@allocating
def pairs_in_graph(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], keys: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return for every key whether the graph has its edge."""
    n = indptr.size - 1
    out = np.empty(keys.size, dtype=np.bool_)
    for i in range(keys.size):
        out[i] = in_graph(indptr, indices, keys[i] // n, keys[i] % n)
    return out


@leaf
def marked_neighbors(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    marked: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Write into out[v] how many neighbors of v stand in the list `marked`."""
    out[:] = 0.0
    for v in marked:
        for j in range(indptr[v], indptr[v + 1]):
            out[indices[j]] += 1.0


@tiered()
@leaf
def pull_of_neighbors(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    goal: NDArray[np.int64],
    falls: NDArray[np.bool_],
    rises: NDArray[np.bool_],
    out: NDArray[np.float64],
) -> None:
    """Write into out[v] the share of their edges that v's neighbors change, summed.

    Falling neighbors count where nodes of v's degree may fall, rising ones where they may rise.
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


@tiered()
@leaf
def edited_csr(
    edits: tuple[NDArray[np.int64], NDArray[np.int32]],
    added: tuple[NDArray[np.int64], NDArray[np.int32]],
    deleted: tuple[NDArray[np.int64], NDArray[np.int32]],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
) -> None:
    """Write into (indptr, indices) the first graph with the second's edges and without the third's.

    All three hold sorted neighbors in both directions; added ones are no edges of the graph,
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
