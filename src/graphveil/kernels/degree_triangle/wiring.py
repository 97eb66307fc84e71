"""A graph whose edges are exchanged: neighbors in fixed slots, and a hash table of the edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.draws import below
from graphveil.kernels.hashing import FREE, delete, find, insert, new_table
from graphveil.kernels.leaf import ONE, leaf
from graphveil.kernels.tiers import tiered

Ints = NDArray[np.int64]

MENDING_TRIES = 200
"""How many edges are tried as partners of a loop or a double, of a round."""

MENDING_ROUNDS = 3


class Wiring(NamedTuple):
    """A graph without loops and doubles.

    Parameters
    ----------
    pointers, slots
        int64: the neighbors of u are ``slots[pointers[u]:pointers[u + 1]]``, in no order.
    owners
        int64: whose slot it is.
    table, shift
        A hash table of the keys ``u * n + v``, u < v.
    """

    pointers: Ints
    slots: Ints
    owners: Ints
    table: Ints
    shift: int


def wired(n: int, ends: Ints, *, filled: bool = True) -> Wiring:
    """Return the wiring of so many nodes and these edges, shape (edges, 2): slots in their order.

    Where it is not filled, its table is empty: of edges that may be loops and doubles.

    Examples
    --------
    >>> wired(3, np.array([[2, 0], [0, 1]])).slots.tolist()
    [2, 1, 0, 0]
    """
    owners = ends.ravel()
    order = np.argsort(owners, kind="stable")
    pointers = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners, minlength=n), out=pointers[1:])
    table, shift = new_table(2 * len(ends) + 1)
    wiring = Wiring(pointers, ends[:, ::-1].ravel()[order], owners[order], table, shift)
    if filled:
        fill(wiring, ends)
    return wiring


@tiered()
@leaf
def fill(wiring: Wiring, ends: Ints) -> None:
    """Write every edge into the table."""
    for i in range(len(ends)):
        insert(wiring.table, wiring.shift, _key(wiring, ends[i, 0], ends[i, 1]), ONE)


@leaf
def _key(wiring: Wiring, u: int, v: int) -> int:
    n = wiring.pointers.size - 1
    return int(u * n + v) if u < v else int(v * n + u)


@leaf
def tied(wiring: Wiring, u: int, v: int) -> bool:
    """Return whether there is an edge between u and v."""
    row = find(wiring.table, wiring.shift, _key(wiring, u, v))
    return bool(wiring.table[row, 0] != FREE)


@leaf
def add_common(
    wiring: Wiring, classes: Ints, edge: tuple[int, int], skipped: tuple[int, int], out: Ints
) -> None:
    """Add the triangles over two nodes to `out`, by their lowest class; two nodes are skipped.

    Where nothing is skipped (-1) they are taken off.
    """
    u, v = edge
    pointers = wiring.pointers
    if pointers[u + 1] - pointers[u] > pointers[v + 1] - pointers[v]:
        u, v = v, u
    sign = -1 if skipped[0] < 0 else 1
    lower = min(classes[u], classes[v])
    for slot in range(pointers[u], pointers[u + 1]):
        w = wiring.slots[slot]
        if w != skipped[0] and w != skipped[1] and w != v and tied(wiring, w, v):
            out[min(lower, classes[w])] += sign


@leaf
def exchange(wiring: Wiring, u: int, x: int, v: int, y: int) -> None:
    """Take the edges u-x and v-y out, and put u-v and x-y in."""
    delete(wiring.table, wiring.shift, _key(wiring, u, x))
    delete(wiring.table, wiring.shift, _key(wiring, v, y))
    insert(wiring.table, wiring.shift, _key(wiring, u, v), ONE)
    insert(wiring.table, wiring.shift, _key(wiring, x, y), ONE)
    _replace(wiring, u, x, v)
    _replace(wiring, x, u, y)
    _replace(wiring, v, y, u)
    _replace(wiring, y, v, x)


@leaf
def _replace(wiring: Wiring, u: int, old: int, new: int) -> None:
    slot = wiring.pointers[u]
    while wiring.slots[slot] != old:
        slot += 1
    wiring.slots[slot] = new


@tiered()
@leaf
def deal(stubs: Ints, starts: Ints, between: Ints, ends: Ints, rng: np.random.Generator) -> None:
    """Pair stubs at random: so many edges for each pair of groups.

    Parameters
    ----------
    stubs
        int64: the nodes, each as often as it has edges, group by group; it is shuffled in place.
    starts
        int64, shape (groups + 1,): where the stubs of each group begin; written over.
    between
        int64, shape (groups, groups): the edges between groups g <= h.
    ends
        int64, shape (edges, 2): written, pair of groups by pair of groups.
    """
    groups = starts.size - 1
    for g in range(groups):
        for i in range(starts[g + 1] - 1, starts[g], -1):
            j = starts[g] + below(rng, i - starts[g] + 1)
            stubs[i], stubs[j] = stubs[j], stubs[i]
    edge = 0
    for g in range(groups):
        for h in range(g, groups):
            for _ in range(between[g, h]):
                ends[edge, 0] = stubs[starts[g]]
                starts[g] += 1
                ends[edge, 1] = stubs[starts[h]]
                starts[h] += 1
                edge += 1


@tiered()
@leaf
def mend(
    ends: Ints,
    blocks: Ints,
    wiring: Wiring,
    good: NDArray[np.bool_],
    rng: np.random.Generator,
) -> None:
    """Exchange loops and doubles with other edges, at first of the same pair of groups.

    Parameters
    ----------
    ends
        int64, shape (edges, 2): the edges; written over.
    blocks
        int64, shape (edges, 2): the first edge of the same pair of groups, and the one behind its
        last.
    wiring
        Only its table is used and filled, and its number of nodes.
    good
        bool, shape (edges,), all False: written, whether the edge is no loop and no double.
    """
    for i in range(len(ends)):
        u, v = ends[i, 0], ends[i, 1]
        if u != v and not tied(wiring, u, v):
            insert(wiring.table, wiring.shift, _key(wiring, u, v), ONE)
            good[i] = True
    for attempt in range(MENDING_ROUNDS):
        for i in range(len(ends)):
            if not good[i]:
                last = attempt == MENDING_ROUNDS - 1
                first, behind = (0, len(ends)) if last else (blocks[i, 0], blocks[i, 1])
                _mend_one(ends, i, (first, behind), wiring, good, rng)


@leaf
def _mend_one(
    ends: Ints,
    i: int,
    block: tuple[int, int],
    wiring: Wiring,
    good: NDArray[np.bool_],
    rng: np.random.Generator,
) -> None:
    """Exchange one loop or double with an edge of a range of edges."""
    a, b = ends[i, 0], ends[i, 1]
    for _ in range(MENDING_TRIES):
        j = block[0] + below(rng, block[1] - block[0])
        if not good[j]:
            continue
        c, d = ends[j, 0], ends[j, 1]
        if a == d or b == c or tied(wiring, a, d) or tied(wiring, b, c):
            continue
        if min(a, d) == min(b, c) and max(a, d) == max(b, c):
            continue
        delete(wiring.table, wiring.shift, _key(wiring, c, d))
        insert(wiring.table, wiring.shift, _key(wiring, a, d), ONE)
        insert(wiring.table, wiring.shift, _key(wiring, b, c), ONE)
        ends[i, 1], ends[j, 0], ends[j, 1] = d, c, b
        good[i] = True
        return
