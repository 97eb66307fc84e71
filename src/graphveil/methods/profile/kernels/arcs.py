"""Turn target degrees of a directed layer into added and deleted arcs, step by step.

Every node is *owed* arcs: its target out-degree minus its present one, and likewise for the
in-degree (``owed_back``); below 0 it has too many. Each kernel is one step of the realization. It
takes nodes that are owed something, and changes arcs so that they are owed less. A node that is
owed nothing on either side is *settled*. The order in which `realize` calls the steps, with the
arcs that each unit costs:

- CUT (`cut_surplus`): delete u -> v if u has too many out and v too many in.
- JOIN (`join_owed`): add u -> v if u is owed one out and v one in; like Havel and Hakimi, the
  neediest partners first.
- REROUTE (`reroute`): replace an added x -> y by u -> y and x -> v; the same with deletions.
- TAIL (`change_tails`): w -> y becomes u -> y if w has too many out and u too few. HEAD is the same
  step seen the other way round.
- OWN CELL (`change_own`): the owed node itself changes to a neighboring cell of k nodes.
- ABSORB (`absorb_owed`, `absorb_surplus`): an arc to or from a settled node, which changes to a
  neighboring cell.
- THREE (`balance_via_neighbors`, `part_through_others`): three arcs pay a unit out and one in.
- HAND OVER, TRANSFER (`hand_over`, `transfer_arcs`): an arc changes its tail between an owed node
  and a settled one, which changes cells.

The input lists are never written. A hash holds the arcs that differ from them: the arc from u to v
has the key ``u * n + v``, and the state +1 (added), -1 (deleted) or 0. Every step is written once,
for tails; with ``turned`` edits, the same arrays with the roles of tails and heads exchanged, it
does the same for heads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.arrays import below, find, first_not_below, sort
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.k_degree.kernels.edits import lower, make_queue, set_state


class ArcEdits(NamedTuple):
    """The arcs, what was changed, and what is still owed to every node.

    Parameters
    ----------
    pointers, lists
        int64 (n + 1,), int32 (m,): the heads of the arcs out of u are
        ``lists[pointers[u]:pointers[u + 1]]``, ascending. Fixed: those of the input.
    back_pointers, back_lists
        The same for the tails of the arcs into each node.
    table
        int64, shape (2**b, 2): a hash table from key to state.
    added, deleted
        int64: logs of every key that ever got that state, some twice; those that are not in it any
        longer are skipped.
    tally
        int64, shape (3,): the lengths of both logs, and the shift of the hash.
    owed, owed_back
        int64, shape (n,): arcs out, and in, that a node still needs; below 0: has too many.
    turned
        1 if all arrays are those of the reversed arcs, else 0. Keys are the same in both.
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
    """The cells that nodes are in: one for each color and target, with at least k nodes. All int64.

    ``of_person``, shape (n,), is the cell of each node, and ``members``, shape (cells,), the number
    of nodes in each; both are written by steps in which a node changes cells. ``next_cell``, shape
    (cells, 4), is the cell whose target is one larger or smaller on one side, by `MORE`, `LESS`,
    `MORE_BACK` and `LESS_BACK`, or -1 if no node has that target. It is fixed.
    """

    of_person: Ints
    members: Ints
    next_cell: Ints


# Columns of `Cells.next_cell`: one arc out more, one less, one arc in more, one less.
MORE, LESS, MORE_BACK, LESS_BACK = 0, 1, 2, 3


@leaf
def key_of(edits: ArcEdits, u: int, v: int) -> int:
    """Return the key of the arc from u to v."""
    n = edits.owed.size
    return int(v * n + u) if edits.turned else int(u * n + v)


@leaf
def has_arc(edits: ArcEdits, u: int, v: int) -> bool:
    """Return whether an arc leads from u to v now; True for a node and itself."""
    if u == v:
        return True
    # Arcs that were edited are in the hash, with a state other than 0; the input decides about all
    # others, and about arcs whose edit was undone.
    state = edits.table[find(edits.table, edits.tally[2], key_of(edits, u, v)), 1]
    if state != 0:
        return bool(state > 0)
    end = edits.pointers[u + 1]
    at = first_not_below(edits.lists, edits.pointers[u], end, v)
    return bool(at < end and edits.lists[at] == v)


@leaf
def make(edits: ArcEdits, u: int, v: int) -> None:
    """Add the arc from u to v, which does not exist now."""
    key, shift = key_of(edits, u, v), edits.tally[2]
    # A deleted arc comes back: no edit is left, and its key in the log is skipped while this is so.
    # Otherwise the edit is put into the hash and logged.
    set_state(edits.table, shift, key, ONE, edits.added, edits.tally, ZERO)
    edits.owed[u] -= 1
    edits.owed_back[v] -= 1


@leaf
def cut(edits: ArcEdits, u: int, v: int) -> None:
    """Delete the arc from u to v, which exists now."""
    # As in `make`, with the opposite signs.
    key, shift = key_of(edits, u, v), edits.tally[2]
    set_state(edits.table, shift, key, MINUS_ONE, edits.deleted, edits.tally, ONE)
    edits.owed[u] += 1
    edits.owed_back[v] += 1


@leaf
def settled(edits: ArcEdits, x: int) -> bool:
    """Return whether x is owed nothing, and has nothing too many."""
    return bool(edits.owed[x] == 0 and edits.owed_back[x] == 0)


@tiered()
@allocating
def changed_arcs(edits: ArcEdits, sign: int) -> Ints:
    """Return the keys in this state (+1 added, -1 deleted), in no order, some of them twice."""
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
    """JOIN: add arcs from nodes owed arcs out to nodes owed arcs in, the neediest first.

    Parameters
    ----------
    edits
        Written.
    sources, targets
        int64: nodes owed arcs out, and nodes owed arcs in, each by falling need. Read.
    """
    queue = make_queue(targets, edits.owed_back)
    partners = np.empty(targets.size, dtype=np.int64)
    for u in sources:
        count, index = 0, 0
        # Step 1: the neediest targets that u does not lead to yet, as many as u is owed.
        while count < edits.owed[u] and index < queue.bound[1]:
            if not has_arc(edits, u, queue.order[index]):
                partners[count] = index
                count += 1
            index += 1
        # Step 2: add the arcs, from the last partner on: `lower` moves a node only backwards in the
        # queue, so that the earlier positions stay valid.
        for i in range(count - 1, -1, -1):
            v = queue.order[partners[i]]
            lower(queue, partners[i], edits.owed_back[v])
            make(edits, u, v)


@tiered()
@allocating
def cut_surplus(edits: ArcEdits, sources: Ints, targets: Ints) -> None:
    """CUT: delete arcs from nodes with too many out to nodes with too many in, by need as in JOIN.

    Parameters
    ----------
    edits
        Written.
    sources, targets
        int64: nodes with too many arcs out, and in, each by falling surplus. Read.
    """
    queue = make_queue(targets, -edits.owed_back)
    for u in sources:
        first, last = edits.pointers[u], edits.pointers[u + 1]
        candidates = np.empty(last - first, dtype=np.int64)
        count = 0
        # Step 1: heads of u in the input that have too many and are still joined, by their place in
        # the queue.
        for j in range(first, last):
            v = wide(edits.lists[j])
            if edits.owed_back[v] < 0 and has_arc(edits, u, v):
                candidates[count] = queue.position[v]
                count += 1
        # Step 2: the neediest first, as many as u has too many; deleted from the last one on, as in
        # JOIN.
        sort(candidates[:count])
        for i in range(min(count, -edits.owed[u]) - 1, -1, -1):
            v = queue.order[candidates[i]]
            lower(queue, candidates[i], -edits.owed_back[v])
            cut(edits, u, v)


@leaf
def _reroute(edits: ArcEdits, u: int, v: int, sign: int, start: int, tries: int) -> bool:
    """Undo one edit (x, y) of this sign and make edits (u, y) and (x, v) instead, if one allows it.

    Looks at no more than `tries` edits of the log, from position `start` on.
    """
    log = edits.added if sign > 0 else edits.deleted
    size = edits.tally[0] if sign > 0 else edits.tally[1]
    n = edits.owed.size
    wanted = sign < 0
    for step in range(min(tries, size)):
        # The edit must still be in this state (an added arc exists now, a deleted one does not),
        # and share no node with u and v.
        key = log[(start + step) % size]
        x, y = key // n, key % n
        if edits.turned:
            x, y = y, x
        if x in (u, v) or y in (u, v) or has_arc(edits, x, y) == wanted:
            continue
        # Both new edits must be possible: an arc to be added does not exist now, one to be deleted
        # does (`wanted`).
        if has_arc(edits, u, y) != wanted or has_arc(edits, x, v) != wanted:
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
    """REROUTE: pay units by replacing an edit (x, y) with the edits (u, y) and (x, v).

    Parameters
    ----------
    edits
        Written.
    sources, targets
        int64: nodes owed arcs of this sign, out and in. Read.
    sign
        +1: owed arcs, by added ones; -1: too many arcs, by deleted ones.
    tries
        The most edits of the log that are looked at for one pair.
    budget
        What failed pairs may spend in all: each costs `tries`.
    rng
        Where in the log to start.
    """
    for u in sources:
        for v in targets:
            while edits.owed[u] * sign > 0 and edits.owed_back[v] * sign > 0:
                # Start anywhere in the log, so that the same edits are not tried for every pair.
                size = edits.tally[0] if sign > 0 else edits.tally[1]
                if size == 0 or budget <= 0:
                    return
                if not _reroute(edits, u, v, sign, below(rng, size), tries):
                    budget -= tries
                    break


@tiered()
@leaf
def change_tails(edits: ArcEdits, owed: Ints, surplus: Ints, rng: Generator) -> None:
    """TAIL: arcs of nodes with too many out lead from nodes owed arcs out instead.

    Parameters
    ----------
    edits
        Written.
    owed, surplus
        int64: nodes owed arcs out, and nodes with too many. Read.
    rng
        At which arc of a node to start.
    """
    for u in owed:
        for w in surplus:
            if edits.owed[u] <= 0:
                break
            first = edits.pointers[w]
            size = edits.pointers[w + 1] - first
            # From a random arc of w on.
            start = below(rng, size)
            for step in range(size):
                if edits.owed[u] <= 0 or edits.owed[w] >= 0:
                    break
                y = wide(edits.lists[first + (start + step) % size])
                # The head y loses the arc from w and gets that from u: only the tails are paid.
                if not has_arc(edits, u, y) and has_arc(edits, w, y):
                    cut(edits, w, y)
                    make(edits, u, y)


@leaf
def _step(cells: Cells, x: int, way: int, k: int) -> int:
    """Return the cell that x may change to this way, or -1; its own cell must keep k nodes."""
    cell = cells.of_person[x]
    return int(cells.next_cell[cell, way]) if cells.members[cell] > k else -1


@leaf
def _change(cells: Cells, x: int, to: int) -> None:
    """Move x to another cell."""
    cells.members[cells.of_person[x]] -= 1
    cells.members[to] += 1
    cells.of_person[x] = to


@tiered()
@leaf
def change_own(edits: ArcEdits, cells: Cells, left: Ints, k: int) -> None:
    """OWN CELL: owed nodes change to the next cell whose target asks for one arc less of it.

    Parameters
    ----------
    edits
        `owed` and `owed_back` are written; no arc changes.
    cells
        Written.
    left
        int64: the nodes that are not settled. Read.
    k
        The smallest size of a cell.
    """
    for v in left:
        moved = True
        # Until no step on either side helps any more.
        while moved:
            moved = False
            for side in range(2):
                owed = edits.owed if side == 0 else edits.owed_back
                if owed[v] == 0:
                    continue
                up = owed[v] > 0
                # Owed arcs: a cell with fewer of them; too many: a cell with more.
                way = (LESS if up else MORE) if side == 0 else (LESS_BACK if up else MORE_BACK)
                to = _step(cells, v, way, k)
                if to >= 0:
                    _change(cells, v, to)
                    owed[v] += -1 if up else 1
                    moved = True


@tiered()
@leaf
def absorb_owed(edits: ArcEdits, cells: Cells, left: Ints, able: Ints, k: int) -> None:
    """ABSORB: add arcs from nodes owed arcs out to settled nodes, which change cells.

    Parameters
    ----------
    edits, cells
        Written.
    left
        int64: nodes owed arcs out. Read.
    able
        int64: nodes that may change to a cell with one arc in more; checked again. Read.
    k
        The smallest size of a cell.
    """
    for u in left:
        at = wide(0)
        while edits.owed[u] > 0 and at < able.size:
            x = able[at]
            at += 1
            to = _step(cells, x, MORE_BACK, k)
            # x stays settled: its new cell asks for exactly the arc that it gets.
            if to >= 0 and settled(edits, x) and not has_arc(edits, u, x):
                _change(cells, x, to)
                edits.owed_back[x] += 1
                make(edits, u, x)


@tiered()
@leaf
def absorb_surplus(edits: ArcEdits, cells: Cells, left: Ints, k: int, rng: Generator) -> None:
    """ABSORB: delete arcs from nodes with too many out to settled nodes, which change cells.

    Parameters
    ----------
    edits, cells
        Written.
    left
        int64: nodes with too many arcs out. Read.
    k
        The smallest size of a cell.
    rng
        At which arc of a node to start.
    """
    for u in left:
        first = edits.pointers[u]
        size = edits.pointers[u + 1] - first
        start = below(rng, size)
        for step in range(size):
            if edits.owed[u] >= 0:
                break
            x = wide(edits.lists[first + (start + step) % size])
            to = _step(cells, x, LESS_BACK, k)
            # x stays settled: its new cell asks for exactly one arc in less.
            if to >= 0 and settled(edits, x) and has_arc(edits, u, x):
                _change(cells, x, to)
                edits.owed_back[x] -= 1
                cut(edits, u, x)


@tiered()
@leaf
def hand_over(
    edits: ArcEdits, cells: Cells, left: Ints, able: Ints, k: int, rng: Generator
) -> None:
    """HAND OVER: arcs of nodes with too many lead from settled nodes, which change cells.

    Parameters
    ----------
    edits, cells
        Written.
    left
        int64: nodes with too many arcs out. Read.
    able
        int64: nodes that may change to a cell with one arc out more; checked again. Read.
    k
        The smallest size of a cell.
    rng
        At which arc of a node to start.
    """
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
            # An arc of u whose head x does not lead to yet becomes an arc of x.
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
    """TRANSFER: arcs of settled nodes, which change cells, lead from nodes owed arcs out.

    Parameters
    ----------
    edits, cells
        Written.
    left
        int64: nodes owed arcs out. Read.
    able
        int64: nodes that may change to a cell with one arc out less; checked again. Read.
    k
        The smallest size of a cell.
    rng
        At which arc of a node to start.
    """
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
            # An arc of x whose head u does not lead to yet becomes an arc of u.
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
    """Replace an arc x -> y by x -> v and u -> y, if one of x allows it; return whether it did."""
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
    """THREE: pay a unit out of u and one into v: an arc x -> y becomes x -> v and u -> y.

    Parameters
    ----------
    edits
        Written.
    sources, targets
        int64: nodes owed arcs out, and nodes owed arcs in. Read.
    tries
        Random nodes x that are tried for one pair.
    rng
        The random numbers.
    """
    n = edits.owed.size
    for u in sources:
        for v in targets:
            left = tries
            while edits.owed[u] > 0 and edits.owed_back[v] > 0 and left > 0:
                left -= 1
                # A random x without an arc to v gives the arc; its old head gets one from u.
                x = below(rng, n)
                if x != u and not has_arc(edits, x, v):
                    size = edits.pointers[x + 1] - edits.pointers[x]
                    _through(edits, u, v, x, below(rng, size))


@tiered()
@leaf
def part_through_others(edits: ArcEdits, sources: Ints, targets: Ints, rng: Generator) -> None:
    """THREE: delete u -> y and x -> v, and add x -> y, if u has too many out and v too many in.

    Parameters
    ----------
    edits
        Written.
    sources, targets
        int64: nodes with too many arcs out, and nodes with too many in. Read.
    rng
        At which arcs to start.
    """
    for u in sources:
        for v in targets:
            first, back = edits.pointers[u], edits.back_pointers[v]
            size, back_size = edits.pointers[u + 1] - first, edits.back_pointers[v + 1] - back
            start, back_start = below(rng, size), below(rng, back_size)
            # Any arc u -> y, with any arc x -> v, such that x -> y does not exist: y and x keep
            # their numbers.
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
