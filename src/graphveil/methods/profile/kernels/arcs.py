"""Edits of arcs over immutable lists: a hash of the arcs that differ from them.

The arc from u to v has the key ``u * n + v``; its state is +1 (added), -1 (deleted) or 0. `turned`
edits are the same edits seen the other way round, so that every step is written once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import below, find, insert, sort
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.k_degree.kernels.edits import lower, make_queue

Ints = NDArray[np.int64]


class ArcEdits(NamedTuple):
    """Arcs, what was changed, and what is still owed to everyone.

    ``added`` and ``deleted`` log every key that ever got that state, ``tally`` holds their lengths
    and the shift of the hash. ``owed`` is how many arcs out a person still needs (below 0: has too
    many), ``owed_back`` of those in. ``turned`` is 1 where both sides are exchanged.
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
    """The cell of everyone, how many people each has, and which lie one step away, or -1."""

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
    """Return whether an arc leads from u to v now; everyone counts as connected to oneself."""
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


@tiered()
@allocating
def join_owed(edits: ArcEdits, sources: Ints, targets: Ints) -> None:
    """Let arcs lead from those owed arcs out to those owed arcs in, neediest first."""
    queue = make_queue(targets, edits.owed_back)
    partners = np.empty(targets.size, dtype=np.int64)
    for u in sources:
        count, index = 0, 0
        while count < edits.owed[u] and index < queue.bound[1]:
            if not has_arc(edits, u, queue.order[index]):
                partners[count] = index
                count += 1
            index += 1
        for i in range(count - 1, -1, -1):
            v = queue.order[partners[i]]
            lower(queue, partners[i], edits.owed_back[v])
            make(edits, u, v)


@tiered()
@allocating
def cut_surplus(edits: ArcEdits, sources: Ints, targets: Ints) -> None:
    """Take arcs away from those with too many out to those with too many in, by need as above."""
    queue = make_queue(targets, -edits.owed_back)
    for u in sources:
        first, last = edits.pointers[u], edits.pointers[u + 1]
        candidates = np.empty(last - first, dtype=np.int64)
        count = 0
        for j in range(first, last):
            v = wide(edits.lists[j])
            if edits.owed_back[v] < 0 and has_arc(edits, u, v):
                candidates[count] = queue.position[v]
                count += 1
        sort(candidates[:count])
        for i in range(min(count, -edits.owed[u]) - 1, -1, -1):
            v = queue.order[candidates[i]]
            lower(queue, candidates[i], -edits.owed_back[v])
            cut(edits, u, v)


@leaf
def _reroute(edits: ArcEdits, u: int, v: int, sign: int, start: int, tries: int) -> bool:
    """Undo one edit (x, y) of this sign and edit (u, y), (x, v) instead, if any allows it."""
    log = edits.added if sign > 0 else edits.deleted
    size = edits.tally[0] if sign > 0 else edits.tally[1]
    n = edits.owed.size
    there = sign < 0
    for step in range(min(tries, size)):
        key = log[(start + step) % size]
        x, y = key // n, key % n
        if edits.turned:
            x, y = y, x
        if x in (u, v) or y in (u, v) or has_arc(edits, x, y) == there:
            continue
        if has_arc(edits, u, y) != there or has_arc(edits, x, v) != there:
            continue
        if sign > 0:
            cut(edits, x, y)
            make(edits, u, y)
            make(edits, x, v)
        else:
            make(edits, x, y)
            cut(edits, u, y)
            cut(edits, x, v)
        return True
    return False


@tiered()
@leaf
def reroute(
    edits: ArcEdits,
    sources: Ints,
    targets: Ints,
    sign: int,
    tries: int,
    budget: int,
    rng: Generator,
) -> None:
    """Pay a unit out and one in by leading an edit of this sign another way, within a budget."""
    for u in sources:
        for v in targets:
            while edits.owed[u] * sign > 0 and edits.owed_back[v] * sign > 0:
                size = edits.tally[0] if sign > 0 else edits.tally[1]
                if size == 0 or budget <= 0:
                    return
                if not _reroute(edits, u, v, sign, below(rng, size), tries):
                    budget -= tries
                    break


@tiered()
@leaf
def change_tails(edits: ArcEdits, owed: Ints, surplus: Ints, rng: Generator) -> None:
    """Let arcs of those with too many out lead from those who are owed arcs out instead."""
    for u in owed:
        for w in surplus:
            if edits.owed[u] <= 0:
                break
            first = edits.pointers[w]
            size = edits.pointers[w + 1] - first
            start = below(rng, size)
            for step in range(size):
                if edits.owed[u] <= 0 or edits.owed[w] >= 0:
                    break
                y = wide(edits.lists[first + (start + step) % size])
                if not has_arc(edits, u, y) and has_arc(edits, w, y):
                    cut(edits, w, y)
                    make(edits, u, y)


@leaf
def _step(cells: Cells, x: int, way: int, k: int) -> int:
    """Return the cell that x may change to this way, or -1."""
    cell = cells.of_person[x]
    return int(cells.beside[cell, way]) if cells.members[cell] > k else -1


@leaf
def _change(cells: Cells, x: int, to: int) -> None:
    cells.members[cells.of_person[x]] -= 1
    cells.members[to] += 1
    cells.of_person[x] = to


@tiered()
@leaf
def change_own(edits: ArcEdits, cells: Cells, left: Ints, k: int) -> None:
    """Let people to whom something is owed into the next cell that asks for less of it."""
    for v in left:
        moved = True
        while moved:
            moved = False
            for side in range(2):
                owed = edits.owed if side == 0 else edits.owed_back
                if owed[v] == 0:
                    continue
                up = owed[v] > 0
                way = (LESS if up else MORE) if side == 0 else (LESS_BACK if up else MORE_BACK)
                to = _step(cells, v, way, k)
                if to >= 0:
                    _change(cells, v, to)
                    owed[v] += -1 if up else 1
                    moved = True


@tiered()
@leaf
def absorb_owed(edits: ArcEdits, cells: Cells, left: Ints, able: Ints, k: int) -> None:
    """Let arcs lead from those who are owed arcs out to settled people, who change cells."""
    for u in left:
        at = wide(0)
        while edits.owed[u] > 0 and at < able.size:
            x = able[at]
            at += 1
            to = _step(cells, x, MORE_BACK, k)
            if to >= 0 and settled(edits, x) and not has_arc(edits, u, x):
                _change(cells, x, to)
                edits.owed_back[x] += 1
                make(edits, u, x)


@tiered()
@leaf
def absorb_surplus(edits: ArcEdits, cells: Cells, left: Ints, k: int, rng: Generator) -> None:
    """Take arcs away from those with too many out to settled people, who change cells."""
    for u in left:
        first = edits.pointers[u]
        size = edits.pointers[u + 1] - first
        start = below(rng, size)
        for step in range(size):
            if edits.owed[u] >= 0:
                break
            x = wide(edits.lists[first + (start + step) % size])
            to = _step(cells, x, LESS_BACK, k)
            if to >= 0 and settled(edits, x) and has_arc(edits, u, x):
                _change(cells, x, to)
                edits.owed_back[x] -= 1
                cut(edits, u, x)


@tiered()
@leaf
def hand_over(
    edits: ArcEdits, cells: Cells, left: Ints, able: Ints, k: int, rng: Generator
) -> None:
    """Let arcs of those with too many out lead from settled people instead, who change cells."""
    for u in left:
        first = edits.pointers[u]
        size = edits.pointers[u + 1] - first
        at = wide(0)
        while edits.owed[u] < 0 and at < able.size:
            x = able[at]
            at += 1
            to = _step(cells, x, MORE, k)
            if to < 0 or x == u or not settled(edits, x):
                continue
            start = below(rng, size)
            for step in range(size):
                y = wide(edits.lists[first + (start + step) % size])
                if has_arc(edits, u, y) and not has_arc(edits, x, y):
                    _change(cells, x, to)
                    edits.owed[x] += 1
                    cut(edits, u, y)
                    make(edits, x, y)
                    break


@tiered()
@leaf
def transfer_arcs(
    edits: ArcEdits, cells: Cells, left: Ints, able: Ints, k: int, rng: Generator
) -> None:
    """Let arcs of settled people, who change cells, lead from those who are owed arcs out."""
    for u in left:
        at = wide(0)
        while edits.owed[u] > 0 and at < able.size:
            x = able[at]
            at += 1
            to = _step(cells, x, LESS, k)
            if to < 0 or x == u or not settled(edits, x):
                continue
            first = edits.pointers[x]
            size = edits.pointers[x + 1] - first
            start = below(rng, size)
            for step in range(size):
                y = wide(edits.lists[first + (start + step) % size])
                if has_arc(edits, x, y) and not has_arc(edits, u, y):
                    _change(cells, x, to)
                    edits.owed[x] -= 1
                    cut(edits, x, y)
                    make(edits, u, y)
                    break


@leaf
def _through(edits: ArcEdits, u: int, v: int, x: int, start: int) -> bool:
    """Pay u out and v in by an arc from x, which leads to v afterwards, and u to its old end."""
    first = edits.pointers[x]
    size = edits.pointers[x + 1] - first
    for step in range(size):
        y = wide(edits.lists[first + (start + step) % size])
        if has_arc(edits, x, y) and y != v and not has_arc(edits, u, y):
            cut(edits, x, y)
            make(edits, x, v)
            make(edits, u, y)
            return True
    return False


@tiered()
@leaf
def balance_via_neighbors(
    edits: ArcEdits, sources: Ints, targets: Ints, tries: int, rng: Generator
) -> None:
    """Pay a unit out and a unit in through an arc (x, y): it becomes (x, v), and (u, y) comes."""
    n = edits.owed.size
    for u in sources:
        for v in targets:
            left = tries
            while edits.owed[u] > 0 and edits.owed_back[v] > 0 and left > 0:
                left -= 1
                x = below(rng, n)
                if x != u and not has_arc(edits, x, v):
                    size = edits.pointers[x + 1] - edits.pointers[x]
                    _through(edits, u, v, x, below(rng, size))


@tiered()
@leaf
def part_through_others(edits: ArcEdits, sources: Ints, targets: Ints, rng: Generator) -> None:
    """Take (u, y) and (x, v) away and let an arc lead from x to y, where both have too many."""
    for u in sources:
        for v in targets:
            first, back = edits.pointers[u], edits.back_pointers[v]
            size, back_size = edits.pointers[u + 1] - first, edits.back_pointers[v + 1] - back
            start, back_start = below(rng, size), below(rng, back_size)
            for step in range(size):
                y = wide(edits.lists[first + (start + step) % size])
                if edits.owed[u] >= 0 or edits.owed_back[v] >= 0:
                    break
                if y == v or not has_arc(edits, u, y):
                    continue
                for other in range(back_size):
                    x = wide(edits.back_lists[back + (back_start + other) % back_size])
                    if x != u and has_arc(edits, x, v) and not has_arc(edits, x, y):
                        cut(edits, u, y)
                        cut(edits, x, v)
                        make(edits, x, y)
                        break
