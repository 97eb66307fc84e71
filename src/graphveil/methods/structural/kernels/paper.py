"""The loops of the paper's five heuristics: classes of a batch, affected nodes, differences.

De Jong, van der Loo and Takes, section 5: Algorithm 1 deletes a batch of edges, drawn by a weight,
and then recomputes the classes (section 5.2). These kernels compute what the weights of section 5.3
need: which nodes are in classes below k (``V_u``), and how many flagged nodes each edge affects,
``|A_M(e)|`` or ``|A_M(e) ∩ V_u|`` (Table 1). The driver is `graphveil.methods.structural.paper`.

Nodes are numbered by rising degree of the input, their *rank*, and an edge points from the lower
rank to the higher. Under this order all triangles are found in O(m sqrt(m)), and deleting edges
keeps that: see `Forward`. For deletions at distance 1 the affected nodes of all edges come from one
triangle pass (`flagged_thirds`), and only other edits and distances are looked at one by one:

- `affected_beside`: distance 1; merges two sorted lists for each pair flipped.
- `affected_by`: any distance; two breadth-first searches for each pair flipped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Flags, Ints
from graphveil.core.kernels.arrays import FREE, find
from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.core.kernels.tiers import for_each_entry, tiered
from graphveil.measures.kernels.neighborhoods import Forward, Indices, Indptr

GALLOP = 8
"""From this ratio of lengths on, the longer list is searched instead of merged.

The results are the same at any value: see the module `classes` of annealing.
"""


class NeighborLists(NamedTuple):
    """Sorted neighbors in both directions: those of v are ``indices[indptr[v]:indptr[v + 1]]``."""

    indptr: Indptr
    indices: Indices


class Flips(NamedTuple):
    """Edits of one kind: edit c flips the pairs ``nodes[c, ends[i]]``, one after the other.

    Parameters
    ----------
    nodes
        int32, shape (edits, 2), or (edits, 4) for rewirings: the nodes of each edit.
    ends
        int64, shape (flips, 2): the columns of `nodes` that are the ends of each flip.
    joins
        bool, shape (flips,): whether the flip joins the pair; else it parts it.
    """

    nodes: NDArray[np.int32]
    ends: Ints
    joins: Flags


class PaperSearch(NamedTuple):
    """Room for one breadth-first search at a time.

    Parameters
    ----------
    seen
        int64, shape (n + 1,): the number of the last search that saw each node; the last entry is
        the number of the present search. So nothing is cleared between searches.
    queue
        int32, shape (n,): the nodes seen, by rising distance.
    """

    seen: Ints
    queue: NDArray[np.int32]


@tiered(for_each_entry(0.5))
@leaf
def small_classes(codes: Ints, k: int, table: Ints, shift: int, small: Flags) -> None:
    """Write into small[v] whether fewer than k nodes share the code of v. O(n).

    Parameters
    ----------
    codes
        int64, shape (n,). Read.
    k
        The smallest size of a class whose nodes are protected.
    table, shift
        An empty hash table with room for n codes. Written.
    small
        bool, shape (n,). Written.
    """
    for v in range(codes.size):
        row = find(table, shift, codes[v])
        if table[row, 0] == FREE:
            table[row, 0], table[row, 1] = codes[v], 0
        table[row, 1] += 1
    for v in range(codes.size):
        small[v] = table[find(table, shift, codes[v]), 1] < k


@tiered()
@allocating
def forward_by_rank(indptr: Indptr, indices: Indices, order: Ints, rank: Indices) -> Forward:
    """Return the forward neighbors, sorted, under new numbers: node ``order[r]`` becomes r. O(m).

    Parameters
    ----------
    indptr, indices
        The neighbor lists of the input. Read.
    order
        int64, shape (n,): the nodes by rising degree. Read.
    rank
        int32, shape (n,): its inverse. Read.
    """
    n = indptr.size - 1
    start = np.zeros(n + 1, dtype=np.int64)
    # Step 1: count the edges that start at each rank.
    for u in range(n):
        for arc in range(indptr[u], indptr[u + 1]):
            if rank[indices[arc]] > rank[u]:
                start[rank[u] + 1] += 1
    for r in range(n):
        start[r + 1] += start[r]
    ends = np.empty(start[n], dtype=np.int32)
    free = start[:-1].copy()
    # Step 2: pass the larger ends in ascending order, so that every list is sorted without sorting.
    for larger in range(n):
        u = order[larger]
        for arc in range(indptr[u], indptr[u + 1]):
            smaller = rank[indices[arc]]
            if smaller < larger:
                ends[free[smaller]] = larger
                free[smaller] += 1
    return Forward(start, ends)


@tiered()
@allocating
def lists_of(forward: Forward) -> NeighborLists:
    """Return the sorted neighbor lists, in both directions, of the forward edges. O(m)."""
    start, ends = forward
    n = start.size - 1
    indptr = np.zeros(n + 1, dtype=np.int64)
    # Step 1: count the entries of each node.
    for u in range(n):
        indptr[u + 1] += start[u + 1] - start[u]
        for e in range(start[u], start[u + 1]):
            indptr[ends[e] + 1] += 1
    for u in range(n):
        indptr[u + 1] += indptr[u]
    indices = np.empty(2 * ends.size, dtype=np.int32)
    free = indptr[:-1].copy()
    # Step 2: smaller neighbors first, in ascending order, since u ascends.
    for u in range(n):
        for e in range(start[u], start[u + 1]):
            indices[free[ends[e]]] = u
            free[ends[e]] += 1
    # Step 3: larger neighbors behind them.
    for u in range(n):
        for e in range(start[u], start[u + 1]):
            indices[free[u] + e - start[u]] = ends[e]
    return NeighborLists(indptr, indices)


@tiered(for_each_entry(0.3))
@allocating
def missing_from(forward: Forward, other: Forward) -> NDArray[np.int32]:
    """Return the edges of the first graph that the second does not have, as rows (smaller, larger).

    One merge of the sorted lists of each node. int32, shape (edges, 2).
    """
    out = np.empty((forward.ends.size, 2), dtype=np.int32)
    filled = 0
    for u in range(forward.start.size - 1):
        f, end = other.start[u], other.start[u + 1]
        for e in range(forward.start[u], forward.start[u + 1]):
            # Both lists ascend: skip what only the other graph has.
            while f < end and other.ends[f] < forward.ends[e]:
                f += 1
            if f == end or other.ends[f] != forward.ends[e]:
                out[filled, 0] = u
                out[filled, 1] = forward.ends[e]
                filled += 1
    return out[:filled].copy()


@allocating
def _flag_shared(
    lists: NeighborLists, v: int, w: int, flag: Flags, counted: Ints, stamp: int
) -> int:
    """Return how many flagged common neighbors of v and w have no such stamp yet; stamp them.

    Parameters
    ----------
    lists
        The neighbor lists. Read.
    v, w
        The nodes.
    flag
        bool, shape (n,): which nodes count. Read.
    counted
        int64, shape (n,): the last edit that counted each node. Written.
    stamp
        The number of this edit.
    """
    indptr, indices = lists
    if indptr[v + 1] - indptr[v] > indptr[w + 1] - indptr[w]:
        v, w = w, v
    at, end = indptr[w], indptr[w + 1]
    gallop = GALLOP * (indptr[v + 1] - indptr[v]) < end - at
    shared = 0
    # Pass the shorter list; follow it in the longer one by a merge, or by search if much longer.
    for arc in range(indptr[v], indptr[v + 1]):
        x = indices[arc]
        if not flag[x] or counted[x] == stamp:
            continue
        if gallop:
            at += np.searchsorted(indices[at:end], x)
        else:
            while at < end and indices[at] < x:
                at += 1
        if at < end and indices[at] == x:
            counted[x] = stamp
            shared += 1
    return shared


def _steps_beside(lists: NeighborLists, flips: Flips, *_others: object) -> int:
    """Return about how many steps it takes to see the neighbors of the ends of all edits."""
    return flips.nodes.size * int(np.diff(lists.indptr).max(initial=0)) + lists.indptr.size


@tiered(_steps_beside)
@allocating
def affected_beside(lists: NeighborLists, flips: Flips, needed: int, flag: Flags) -> Ints:
    """Return what `affected_by` returns at distance 1, from the present lists alone.

    Valid for edits of which no flip changes the common neighbors of a later one, other than the
    edit's own nodes; these are always counted. That holds for single pairs and for rewirings.

    Parameters
    ----------
    lists, flips, needed, flag
        As for `affected_by`.
    """
    counted = np.empty(flag.size, dtype=np.int64)
    counted[:] = -1
    score = np.zeros(flips.nodes.shape[0], dtype=np.int64)
    for c in range(score.size):
        nodes = flips.nodes[c]
        # The ends of a flip are always affected.
        for i in range(nodes.size):
            score[c] += flag[nodes[i]]
            counted[nodes[i]] = c
        # Neighborhood measures: the nodes near both ends are the ends and their common neighbors.
        if needed == 2:
            for i in range(flips.ends.shape[0]):
                v, w = nodes[flips.ends[i, 0]], nodes[flips.ends[i, 1]]
                score[c] += _flag_shared(lists, v, w, flag, counted, c)
            continue
        # Measures of degrees of neighbors: all neighbors of both ends.
        for i in range(nodes.size):
            for arc in range(lists.indptr[nodes[i]], lists.indptr[nodes[i] + 1]):
                x = lists.indices[arc]
                if flag[x] and counted[x] != c:
                    counted[x] = c
                    score[c] += 1
    return score


@allocating
def _see(search: PaperSearch, node: int, number: int, size: int) -> int:
    """Append the node to the queue unless this search has seen it; return the queue's size."""
    if search.seen[node] == number:
        return size
    search.seen[node], search.queue[size] = number, node
    return size + 1


@allocating
def _is_parted(flips: Flips, c: int, done: int, x: int, y: int) -> bool:
    """Return whether one of the first `done` flips of edit c parts x and y."""
    for i in range(done):
        if flips.joins[i]:
            continue
        a, b = flips.nodes[c, flips.ends[i, 0]], flips.nodes[c, flips.ends[i, 1]]
        if (a == x and b == y) or (a == y and b == x):
            return True
    return False


@allocating
def _touches(flips: Flips, c: int, x: int) -> bool:
    """Return whether x is one of the nodes of edit c."""
    for i in range(flips.nodes.shape[1]):  # noqa: SIM110  Numba has no generator expressions
        if flips.nodes[c, i] == x:
            return True
    return False


@allocating
def _fill(
    lists: NeighborLists,
    flips: Flips,
    at: tuple[int, int],
    center: int,
    distance: int,
    search: PaperSearch,
) -> int:
    """Search from the center after some flips of an edit; return how many nodes are in reach.

    Parameters
    ----------
    lists
        The neighbor lists before the edit. Read.
    flips
        The edits. Read.
    at
        The edit, and how many of its flips are made.
    center, distance
        The search.
    search
        Written: `seen` and `queue`.
    """
    c, done = at
    search.seen[-1] += 1
    number = search.seen[-1]
    size = _see(search, center, number, 0)
    head = 0
    for _hop in range(distance):
        last = size
        while head < last:
            x = search.queue[head]
            head += 1
            # Neighbors of x before the edit, without those it parts, then those it joins. Only the
            # nodes of the edit need the comparison.
            plain = done == 0 or not _touches(flips, c, x)
            for arc in range(lists.indptr[x], lists.indptr[x + 1]):
                y = lists.indices[arc]
                if plain or not _is_parted(flips, c, done, x, y):
                    size = _see(search, y, number, size)
            if plain:
                continue
            for i in range(done):
                a, b = flips.nodes[c, flips.ends[i, 0]], flips.nodes[c, flips.ends[i, 1]]
                if flips.joins[i] and x == a:
                    size = _see(search, b, number, size)
                elif flips.joins[i] and x == b:
                    size = _see(search, a, number, size)
    return size


def _steps_around(lists: NeighborLists, flips: Flips, distance: int, *_others: object) -> int:
    """Return about how many steps it takes to search around the ends of all edits."""
    if distance > 1:
        return flips.nodes.size * lists.indices.size
    return _steps_beside(lists, flips)


@tiered(_steps_around)
@allocating
def affected_by(
    lists: NeighborLists, flips: Flips, distance: int, needed: int, flag: Flags
) -> Ints:
    """Return for every edit how many flagged nodes it affects: ``|A_M(e) ∩ flagged|`` of Table 1.

    A flip affects the nodes within the distance of at least `needed` of its two ends, in the graph
    that has the edge: before it is parted, after it is joined. An edit of several flips affects the
    union. Cost: two searches per flip.

    Parameters
    ----------
    lists
        The neighbor lists of the present graph. Read.
    flips
        The edits. Read.
    distance
        The distance of the measure.
    needed
        2 for the intersection of both neighborhoods (count and others), 1 for the union (vrq,
        hybrid).
    flag
        bool, shape (n,): which nodes count. Read.

    Returns
    -------
    int64, shape (edits,)
    """
    n = lists.indptr.size - 1
    edits = flips.nodes.shape[0]
    score = np.zeros(edits, dtype=np.int64)
    counted = np.empty(n, dtype=np.int64)
    counted[:] = -1
    from_v = PaperSearch(np.zeros(n + 1, dtype=np.int64), np.empty(n, dtype=np.int32))
    from_w = PaperSearch(np.zeros(n + 1, dtype=np.int64), np.empty(n, dtype=np.int32))
    for c in range(edits):
        for i in range(flips.ends.shape[0]):
            # The graph that has the edge: with this flip if it joins, before it if it parts.
            at = (c, i + 1 if flips.joins[i] else i)
            v, w = flips.nodes[c, flips.ends[i, 0]], flips.nodes[c, flips.ends[i, 1]]
            of_v = _fill(lists, flips, at, v, distance, from_v)
            of_w = _fill(lists, flips, at, w, distance, from_w)
            # Every node that one of the searches saw; `counted` counts it once per edit.
            for j in range(of_v + of_w):
                x = from_v.queue[j] if j < of_v else from_w.queue[j - of_v]
                in_both = from_v.seen[x] == from_v.seen[-1] and from_w.seen[x] == from_w.seen[-1]
                if flag[x] and counted[x] != c and (needed == 1 or in_both):
                    counted[x] = c
                    score[c] += 1
    return score


@tiered(for_each_entry(0.5))
@allocating
def flagged_near(forward: Forward, flag: Flags) -> Ints:
    """Return for every node how many of itself and its neighbors are flagged. int64, shape (n,)."""
    start, ends = forward
    near = flag.astype(np.int64)
    for u in range(start.size - 1):
        for e in range(start[u], start[u + 1]):
            near[u] += flag[ends[e]]
            near[ends[e]] += flag[u]
    return near
