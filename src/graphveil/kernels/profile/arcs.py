"""Edits of arcs over immutable lists: a hash of the arcs that differ from them.

The arc from u to v has the key ``u * n + v``; its state is +1 (added), -1 (deleted) or 0 (as in the
lists). `turned` edits are the same edits seen the other way round: lists, needs and keys change
sides, so that every step is written once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.hashing import find, insert
from graphveil.kernels.leaf import MINUS_ONE, ONE, allocating, leaf
from graphveil.kernels.tiers import tiered

Ints = NDArray[np.int64]


class ArcEdits(NamedTuple):
    """Arcs, what was changed, and what is still owed to everyone.

    ``pointers`` and ``lists`` hold where arcs lead, ``back_pointers`` and ``back_lists`` from where
    they come. ``table`` is a hash table of keys and states; ``added`` and ``deleted`` log every
    key that ever got that state, ``tally`` holds their lengths and the shift of the hash. ``owed``
    is how many arcs out a person still needs (below 0: has too many), ``owed_back`` of those in.
    ``turned`` is 1 where both sides are exchanged.
    """

    pointers: Ints
    lists: NDArray[np.int32]
    back_pointers: Ints
    back_lists: NDArray[np.int32]
    table: Ints
    added: Ints
    deleted: Ints
    tally: Ints
    owed: Ints
    owed_back: Ints
    turned: int


class Cells(NamedTuple):
    """The cell of everyone, how many people each has, and which lie one step away.

    ``beside`` has shape (cells, 4): the cell of one more out, one less out, one more in, one less
    in; -1 where there is none.
    """

    of_person: Ints
    members: Ints
    beside: Ints


MORE, LESS, MORE_BACK, LESS_BACK = 0, 1, 2, 3


@leaf
def key_of(edits: ArcEdits, u: int, v: int) -> int:
    """Return the key of the arc from u to v."""
    n = edits.owed.size
    return int(v * n + u) if edits.turned else int(u * n + v)


@leaf
def _listed(pointers: Ints, lists: NDArray[np.int32], u: int, v: int) -> bool:
    low, high = pointers[u], pointers[u + 1]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if lists[middle] < v:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and lists[low] == v)


@leaf
def has_arc(edits: ArcEdits, u: int, v: int) -> bool:
    """Return whether an arc leads from u to v now; everyone counts as tied to oneself."""
    if u == v:
        return True
    state = edits.table[find(edits.table, edits.tally[2], key_of(edits, u, v)), 1]
    if state != 0:
        return bool(state > 0)
    return _listed(edits.pointers, edits.lists, u, v)


@leaf
def make(edits: ArcEdits, u: int, v: int) -> None:
    """Let an arc lead from u to v, which it does not now."""
    key, shift = key_of(edits, u, v), edits.tally[2]
    row = find(edits.table, shift, key)
    if edits.table[row, 1] < 0:
        edits.table[row, 1] = 0
    else:
        insert(edits.table, shift, key, ONE)
        edits.added[edits.tally[0]] = key
        edits.tally[0] += 1
    edits.owed[u] -= 1
    edits.owed_back[v] -= 1


@leaf
def cut(edits: ArcEdits, u: int, v: int) -> None:
    """Take the arc from u to v away, which is there now."""
    key, shift = key_of(edits, u, v), edits.tally[2]
    row = find(edits.table, shift, key)
    if edits.table[row, 1] > 0:
        edits.table[row, 1] = 0
    else:
        insert(edits.table, shift, key, MINUS_ONE)
        edits.deleted[edits.tally[1]] = key
        edits.tally[1] += 1
    edits.owed[u] += 1
    edits.owed_back[v] += 1


@leaf
def settled(edits: ArcEdits, x: int) -> bool:
    """Return whether nothing is owed to x."""
    return bool(edits.owed[x] == 0 and edits.owed_back[x] == 0)


@tiered()
@allocating
def changed_arcs(edits: ArcEdits, sign: int) -> Ints:
    """Return the keys in this state (+1 added, -1 deleted), in no order, some twice."""
    log = edits.added if sign > 0 else edits.deleted
    logged = edits.tally[0] if sign > 0 else edits.tally[1]
    out = np.empty(logged, dtype=np.int64)
    count = 0
    for i in range(logged):
        if edits.table[find(edits.table, edits.tally[2], log[i]), 1] == sign:
            out[count] = log[i]
            count += 1
    return out[:count]
