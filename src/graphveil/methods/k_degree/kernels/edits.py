"""Edge edits over an immutable graph, and steps 1 to 3 of the realization.

A pair u < v has the key ``u * n + v``; its state is +1 (added), -1 (deleted) or 0 (as in the
graph). A hash table holds the pairs that ever changed; all adjacency is read through `adjacent`,
written through `make` and `cut`. So a run costs memory in its edits, and the graph may be mapped
from the disk.

Steps 1 to 3 pay units by edges between nodes that have units of the same sign. `match_deletions`
(step 1) and `match_additions` (step 2) are the construction of Havel and Hakimi on the units, as in
Liu and Terzi's Supergraph, with a queue that keeps the nodes sorted in O(1) per edge; what they
cannot pay, `swap` (step 3) pays by re-routing an edit that was made.

The residual of a node is the number of edges that it lacks, negative if it has too many. The
arguments `indptr` (int64, shape (n + 1,)) and `indices` (int32, sorted within a node) are the
neighbor lists of the graph, which no kernel writes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Flags, Ints, Nodes
from graphveil.core.kernels.arrays import below, find, first_not_below, insert, sort
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered

SHIFT = 3
"""Where `tally` holds the shift of the hash."""


class DegreeEdits(NamedTuple):
    """The graph, what was changed, and how many edges every node still lacks.

    ``table`` is the hash of pairs (int64, shape (size, 2): key, state). ``added`` and ``deleted``
    (int64) log every key that ever got that state; an entry counts only while the state in the
    ``table`` still says so. ``final`` (int64; empty unless edges are only added) holds additions
    that no later step asks for, not in the table. ``tally`` (int64, shape (4,)) holds the lengths
    of the three and the shift of the hash. ``residual`` (int64, shape (n,)) is how many edges a
    node lacks, ``touched`` (bool, shape (n,)) whether it is an end of any edit. The kernels write
    all of them but the graph.
    """

    indptr: Ints
    indices: Nodes
    table: Ints
    added: Ints
    deleted: Ints
    final: Ints
    tally: Ints
    residual: Ints
    touched: Flags


class DegreeClasses(NamedTuple):
    """The target cell of every node, ``color * span + degree``, and how many nodes share each.

    ``target`` is int64, shape (n,); ``members`` int64, one entry per cell. The absorption steps
    write both.
    """

    target: Ints
    members: Ints
    span: int


@leaf
def _key_of(edits: DegreeEdits, u: int, v: int) -> int:
    """Return the key of the pair."""
    return int(min(u, v) * (edits.indptr.size - 1) + max(u, v))


@leaf
def in_graph(indptr: Ints, indices: Nodes, u: int, v: int) -> bool:
    """Return whether the graph has the edge, by bisection in the shorter list."""
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        u, v = v, u
    end = indptr[u + 1]
    at = first_not_below(indices, indptr[u], end, v)
    return bool(at < end and indices[at] == v)


@leaf
def state_of(edits: DegreeEdits, u: int, v: int) -> int:
    """Return +1 if the edge was added, -1 if it was deleted, 0 if it is as in the graph."""
    # Most pairs have an end without any edit, so that the table need not be asked.
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
def set_state(
    table: Ints, shift: int, key: int, sign: int, log: Ints, tally: Ints, place: int
) -> None:
    """Give a key the state +1 or -1 and log it; one with the other state is as in the input again.

    `table`, `log` and `tally` are written; ``tally[place]`` is the length of the log.
    """
    row = find(table, shift, key)
    if table[row, 1] == -sign:
        table[row, 1] = 0
    else:
        insert(table, shift, key, sign)
        log[tally[place]] = key
        tally[place] += 1


@leaf
def make(edits: DegreeEdits, u: int, v: int) -> None:
    """Add the edge of u and v, which are not joined now; each lacks one less."""
    # A deleted pair returns to the state of the graph; any other is logged as added.
    key, shift = _key_of(edits, u, v), edits.tally[SHIFT]
    set_state(edits.table, shift, key, ONE, edits.added, edits.tally, ZERO)
    edits.residual[u] -= 1
    edits.residual[v] -= 1
    edits.touched[u], edits.touched[v] = True, True


@leaf
def cut(edits: DegreeEdits, u: int, v: int) -> None:
    """Delete the edge of u and v, which are joined now; each lacks one more."""
    # An added pair returns to the state of the graph; any other is logged as deleted.
    key, shift = _key_of(edits, u, v), edits.tally[SHIFT]
    set_state(edits.table, shift, key, MINUS_ONE, edits.deleted, edits.tally, ONE)
    edits.residual[u] += 1
    edits.residual[v] += 1
    edits.touched[u], edits.touched[v] = True, True


@leaf
def set_pair(edits: DegreeEdits, u: int, v: int, sign: int) -> None:
    """Add (sign > 0) or delete (sign < 0) the edge of u and v."""
    if sign > 0:
        make(edits, u, v)
    else:
        cut(edits, u, v)


@tiered()
@allocating
def changed_pairs(edits: DegreeEdits, sign: int) -> Ints:
    """Return the keys in this state (+1 added, -1 deleted), in no order, some twice."""
    # Entries of the log whose pair still has this state, and the additions that are only logged.
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
def pairs_in_graph(indptr: Ints, indices: Nodes, keys: Ints) -> Flags:
    """Return for every key whether the graph has its edge."""
    n = indptr.size - 1
    out = np.empty(keys.size, dtype=np.bool_)
    for i in range(keys.size):
        out[i] = in_graph(indptr, indices, keys[i] // n, keys[i] % n)
    return out


@leaf
def marked_neighbors(indptr: Ints, indices: Nodes, marked: Ints, out: NDArray[np.float64]) -> None:
    """Write into out[v] how many neighbors of v are in the list `marked` (int64)."""
    out[:] = 0.0
    for v in marked:
        for j in range(indptr[v], indptr[v + 1]):
            out[indices[j]] += 1.0


@tiered()
@leaf
def pull_of_neighbors(
    indptr: Ints, indices: Nodes, goal: Ints, falls: Flags, rises: Flags, out: NDArray[np.float64]
) -> None:
    """Write into out[v] the share of their edges that v's neighbors change, summed.

    Falling neighbors count if nodes of v's degree may fall, rising ones if they may rise. `goal`
    (int64) is the degree that every node shall have, `falls` and `rises` (bool) are per node; the
    kernel writes `out` (float64, shape (n,)). O(edges of the nodes that change).
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
    edits: tuple[Ints, Nodes],
    added: tuple[Ints, Nodes],
    deleted: tuple[Ints, Nodes],
    indptr: Ints,
    indices: Nodes,
) -> None:
    """Write the first graph with the second's edges and without the third's.

    Each of the three is a pair of sorted neighbor lists; the kernel writes `indptr` (int64) and
    `indices` (int32) of the result. O(n + m).
    """
    old_ptr, old = edits
    add_ptr, add = added
    del_ptr, delete = deleted
    out = 0
    indptr[0] = 0
    for v in range(old_ptr.size - 1):
        a, a_end = add_ptr[v], add_ptr[v + 1]
        d, d_end = del_ptr[v], del_ptr[v + 1]
        # Merge the old and the added neighbors of v in order, without the deleted ones.
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


SWAP_PARTNERS = 16
"""Step 3: with how many of the nodes that follow in the list of those left a node is paired.

Also how many times `tries` a log may have entries for a list of those that fit v to be worth
making. More pairs cost more tries; how 16 was chosen is not recorded.
"""


class Queue(NamedTuple):
    """Nodes by descending need: the first ``bound[q]`` positions hold a need of at least q.

    ``order`` (int64) is the node at every position, ``position`` (int64, shape (n,)) the position
    of every node, -1 for nodes without need. The kernels write all three.
    """

    order: Ints
    position: Ints
    bound: Ints


@allocating
def make_queue(order: Ints, need: Ints) -> Queue:
    """Return the queue of these nodes, which are ordered by descending positive need."""
    position = np.empty(need.size, dtype=np.int64)
    position[:] = -1
    highest = need[order[0]] if order.size else 0
    bound = np.zeros(highest + 2, dtype=np.int64)
    for index in range(order.size):
        position[order[index]] = index
        bound[need[order[index]]] += 1
    # From "a need of q" to "a need of at least q".
    for q in range(highest - 1, -1, -1):
        bound[q] += bound[q + 1]
    return Queue(order.copy(), position, bound)


@leaf
def lower(queue: Queue, index: int, need: int) -> None:
    """Move the node at this position, of this need, to a need one less, in O(1)."""
    # It changes places with the last node of the same need, and that position changes need.
    last = queue.bound[need] - 1
    node, other = queue.order[index], queue.order[last]
    queue.order[index], queue.order[last] = other, node
    queue.position[node], queue.position[other] = last, index
    queue.bound[need] = last


@tiered()
@allocating
def match_additions(edits: DegreeEdits, order: Ints) -> None:
    """Step 2: Havel-Hakimi on the residuals of these nodes, adding edges between them.

    `order` (int64) lists the nodes with a positive residual, the largest first. Each in turn is
    joined to those that lack most and are not its neighbors. A node that finds too few keeps
    a residual for the next steps. It is enough to ask the graph: a pair is looked at once only, at
    the node that comes first in the queue, so no pair was added before.
    """
    residual = edits.residual
    queue = make_queue(order, residual)
    partners = np.empty(order.size, dtype=np.int64)
    for head in range(order.size):
        v = queue.order[head]
        if residual[v] <= 0:
            return
        # The nodes that lack most among those without an edge to v.
        found = 0
        index = head + 1
        while found < residual[v] and index < queue.bound[1]:
            if not in_graph(edits.indptr, edits.indices, v, queue.order[index]):
                partners[found] = index
                found += 1
            index += 1
        # From the last to the first, so that the positions of those still to come do not change.
        for i in range(found - 1, -1, -1):
            w = queue.order[partners[i]]
            lower(queue, partners[i], residual[w])
            make(edits, v, w)


@tiered()
@allocating
def match_deletions(edits: DegreeEdits, order: Ints) -> None:
    """Step 1: Havel-Hakimi on what these nodes have too much, deleting edges between them.

    `order` (int64) lists the nodes with a negative residual, the largest surplus first.
    """
    residual = edits.residual
    queue = make_queue(order, -residual)
    for head in range(order.size):
        v = queue.order[head]
        if residual[v] >= 0:
            return
        # Neighbors of v that have too many edges themselves, by their position in the queue.
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
    """The present neighbors of two nodes, v and w, and every node's edits, for step 3.

    ``of_v[x]`` is v if v and x are joined, ``of_w`` likewise. ``ends`` holds both ends of every
    logged key, deletions behind additions, so that ``end ^ 1`` is the other end; a node's ends are
    a chain from ``first[v]`` through ``after``, -1 ends it. ``worth`` lists the ends whose edit v
    may take over, ``listed`` (int64, shape (1,)) how many, or -1 if there is no list. The others
    are int32; this module's kernels write all of them.
    """

    of_v: Nodes
    of_w: Nodes
    ends: Nodes
    first: Nodes
    after: Nodes
    worth: Nodes
    listed: Ints


@leaf
def _logged(edits: DegreeEdits, sign: int) -> int:
    """Return how many keys the log of this sign has."""
    return int(edits.tally[0] if sign > 0 else edits.tally[1])


@leaf
def _first_end(edits: DegreeEdits, sign: int) -> int:
    """Return the number of the first end of this sign."""
    return 0 if sign > 0 else 2 * edits.added.size


@leaf
def _link(edits: DegreeEdits, near: Nearness, sign: int, begin: int) -> None:
    """Chain the keys of the log of this sign, from the one numbered `begin` on."""
    log = edits.added if sign > 0 else edits.deleted
    n = edits.indptr.size - 1
    shift = _first_end(edits, sign)
    for i in range(begin, _logged(edits, sign)):
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
    chains = nobody.copy(), np.empty_like(ends)
    worth = np.empty(2 * max(edits.added.size, edits.deleted.size), dtype=np.int32)
    near = Nearness(nobody, nobody.copy(), ends, *chains, worth, np.empty(1, dtype=np.int64))
    _link(edits, near, ONE, 0)
    _link(edits, near, MINUS_ONE, 0)
    return near


@leaf
def _mark(edits: DegreeEdits, near: Nearness, v: int, marks: Nodes) -> None:
    """Write v into the marks of all nodes that are joined to it now, and of no others."""
    # First the neighbors in the graph, then the corrections by v's own edits. Only pairs without an
    # edge are ever logged as added, only edges as deleted: an added pair is joined while its state
    # says so, a deleted one again once its state is back at 0.
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
def _list_worth(edits: DegreeEdits, near: Nearness, v: int, sign: int, begin: int) -> None:
    """List the ends that v could take over, of the keys from the one numbered `begin` on.

    To add edges, v must not be joined to the end yet; to delete edges, it must be.
    """
    shift = _first_end(edits, sign)
    count = near.listed[0]
    for end in range(2 * begin, 2 * _logged(edits, sign)):
        x, y = near.ends[shift + end], near.ends[shift + (end ^ 1)]
        if v not in (x, y) and (near.of_v[x] == v) == (sign < 0):
            near.worth[count] = end
            count += 1
    near.listed[0] = count


@leaf
def _found(
    edits: DegreeEdits, near: Nearness, v: int, w: int, sign: int, start: int, tries: int
) -> int:
    """Return an end x of an edit (x, y) of this sign that (v, x) and (w, y) may replace, or -1.

    Looks at `tries` edits of the log from number `start` on, in both directions.
    """
    size = _logged(edits, sign)
    shift = _first_end(edits, sign)
    joined = sign < 0
    ends, of_v, of_w = near.ends, near.of_v, near.of_w
    at = start
    for _step in range(min(tries, size)):
        for turn in range(2):
            x = ends[shift + 2 * at + turn]
            y = ends[shift + 2 * at + 1 - turn]
            if (
                (of_v[x] == v) == joined
                and (of_w[y] == w) == joined
                and v not in (x, y)
                and w not in (x, y)
                and state_of(edits, wide(x), wide(y)) == sign
            ):
                return int(shift + 2 * at + turn)
        at = at + 1 if at + 1 < size else 0
    return -1


@leaf
def _found_worth(
    edits: DegreeEdits, near: Nearness, v: int, w: int, sign: int, start: int, tries: int
) -> int:
    """Return what `_found` returns, looking only at the ends in the list `worth`.

    The list is ascending: start at the first end that `_found` would look at, and stop where it
    would stop.
    """
    size = _logged(edits, sign)
    shift = _first_end(edits, sign)
    joined = sign < 0
    worth, ends, of_v, of_w = near.worth, near.ends, near.of_v, near.of_w
    count = near.listed[0]
    # The first listed end from number 2 * start on, by bisection; the list goes round.
    at = first_not_below(worth, ZERO, count, 2 * start)
    for _step in range(count):
        if at == count:
            at = 0
        end = worth[at]
        at += 1
        if end - 2 * start + (2 * size if end < 2 * start else 0) >= 2 * tries:
            return -1
        x = ends[shift + end]
        y = ends[shift + (end ^ 1)]
        if (
            (of_w[y] == w) == joined
            and (of_v[x] == v) == joined
            and w not in (x, y)
            and state_of(edits, wide(x), wide(y)) == sign
        ):
            return int(shift + end)
    return -1


@leaf
def _reroute(edits: DegreeEdits, near: Nearness, v: int, w: int, sign: int, end: int) -> None:
    """Undo the edit (x, y) whose end x this is, and edit (v, x), (w, y) instead.

    Keeps the marks, the chains and the list up to date.
    """
    size = _logged(edits, sign)
    x, y = wide(near.ends[end]), wide(near.ends[end ^ 1])
    set_pair(edits, x, y, -sign)
    set_pair(edits, v, x, sign)
    set_pair(edits, w, y, sign)
    near.of_v[x] = v if sign > 0 else -1
    near.of_w[y] = w if sign > 0 else -1
    # A node that is paired with itself has two rows of marks, each of which lacks the other's end.
    if v == w:
        near.of_v[y], near.of_w[x] = near.of_w[y], near.of_v[x]
    _link(edits, near, sign, size)
    if near.listed[0] >= 0:
        _list_worth(edits, near, v, sign, size)


@tiered()
@allocating
def swap(
    edits: DegreeEdits, left: Ints, sign: int, tries: int, budget: int, rng: np.random.Generator
) -> None:
    """Step 3: pay two units at a time by re-routing one edit of this sign.

    `left` (int64) lists the nodes with units of this sign. For two units of v and w (or both of v),
    an edit (x, y) is undone and (v, x), (w, y) take its place: one edit more, two units fewer. Each
    search looks at `tries` edits; failed searches use up the `budget`.
    """
    residual = edits.residual
    near = _nearness(edits)
    for i in range(left.size):
        v = left[i]
        # Marks of v are made once, those of each partner w anew.
        near.listed[0] = -1
        if residual[v] * sign > 0:
            _mark(edits, near, v, near.of_v)
        for j in range(i, min(left.size, i + SWAP_PARTNERS)):
            w = left[j]
            # A node that is paired with itself gives two units. An empty list: nothing fits v.
            both = 2 if v == w else 1
            if residual[v] * sign >= both and residual[w] * sign >= both and near.listed[0] != 0:
                _mark(edits, near, w, near.of_w)
            while residual[v] * sign >= both and residual[w] * sign >= both:
                size = _logged(edits, sign)
                if size == 0 or budget <= 0:
                    return
                # From a random edit on, so that no edit is preferred.
                start = below(rng, size)
                if near.listed[0] >= 0:
                    end = _found_worth(edits, near, v, w, sign, start, tries)
                else:
                    end = _found(edits, near, v, w, sign, start, tries)
                if end >= 0:
                    _reroute(edits, near, v, w, sign, end)
                    continue
                # Once a search fails for v, the ends that fit v are listed, if the log is short.
                budget -= tries
                if near.listed[0] < 0 and size <= SWAP_PARTNERS * tries:
                    near.listed[0] = 0
                    _list_worth(edits, near, v, sign, 0)
                break
