"""Loops behind the structural measures: triangles, neighborhoods, multisets, colors, the cascade.

The measures are those of Table 1 of de Jong, van der Loo and Takes, *The anonymization problem in
social networks*; N is the neighborhood of a node: all nodes within the distance, and the edges
between them. The module has six parts, in this order:

1. Triangles. One pass finds every triangle once, from its end of least degree. Nodes are ordered by
   (degree, position), and an edge points *forward*, from the earlier end to the later. Then no node
   has more than sqrt(2m) forward neighbors, and all triangles are found in O(m sqrt(m)). Deleting
   edges keeps that bound. Used by count, edge-count and degree-distribution at distance 1, and by
   the paper's heuristics.
2. Balls: neighborhoods of any distance, one node at a time. O(n m) in all beyond distance 1.
3. Multisets of integers, one per node (degree-distribution, vrq, twins). A hash only selects the
   pairs that may be equal. Equality is decided by counting: no two unequal multisets are merged.
4. Color refinement of neighborhoods: an invariant that separates most of those that are not
   isomorphic (dk, hybrid). What it does not separate is compared exactly elsewhere.
5. The anonymity cascade: from identified nodes to neighbors that are unique among their neighbors.
6. Boxes: how many nodes have a pair of values inside each of many rectangles (phi).

Graphs are sorted neighbor lists: `indptr` is int64, shape (n + 1,), and `indices` is int32, shape
(2m,); the neighbors of u are ``indices[indptr[u]:indptr[u + 1]]``. No kernel writes them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Flags, Ints
from graphveil.core.kernels.arrays import first_not_below, sort
from graphveil.core.kernels.leaf import ZERO, allocating, leaf
from graphveil.core.kernels.tiers import for_each_call, for_each_entry, tiered

Indptr = NDArray[np.int64]
Indices = NDArray[np.int32]
Weights = NDArray[np.int8]


class Forward(NamedTuple):
    """Forward neighbors: those of u are ``ends[start[u]:start[u + 1]]``, sorted.

    Parameters
    ----------
    start
        int64, shape (n + 1,).
    ends
        int32, shape (m,): each edge once. Its position is the number of the edge.
    """

    start: Indptr
    ends: Indices


@leaf
def _points(indptr: Indptr, u: int, w: int) -> bool:
    """Return whether the edge points from u to w: by degree, then by position."""
    of_u = indptr[u + 1] - indptr[u]
    of_w = indptr[w + 1] - indptr[w]
    return bool(of_u < of_w or (of_u == of_w and u < w))


@allocating
def _forward(indptr: Indptr, indices: Indices) -> Forward:
    """Return the forward neighbors of every node."""
    n = indptr.size - 1
    start = np.zeros(n + 1, dtype=np.int64)
    ends = np.empty(indices.size // 2, dtype=np.int32)
    filled = 0
    for u in range(n):
        # Rows are sorted, so that forward rows are too.
        for arc in range(indptr[u], indptr[u + 1]):
            if _points(indptr, u, indices[arc]):
                ends[filled] = indices[arc]
                filled += 1
        start[u + 1] = filled
    return Forward(start, ends)


@allocating
def _pass(forward: Forward, flag: Flags | None, of_edge: Indptr | None, out: Indptr) -> None:
    """Find every triangle once, and add what it stands for to `out`.

    What is added depends on which argument is not None; that is known when the pass is compiled.

    - Neither: 1 to each of the three nodes. `out` has shape (n,).
    - `flag`: 1 to each of the three edges if the node opposite to it is flagged. Shape (m,).
    - `of_edge`: to each of the three nodes the weight of the edge opposite to it. Shape (n,).

    Parameters
    ----------
    forward
        The graph. Read.
    flag
        bool, shape (n,), or None. Read.
    of_edge
        int64, shape (m,): the weight of every forward edge, or None. Read.
    out
        int64: written.
    """
    start, ends = forward
    position = np.empty(start.size - 1, dtype=np.int64)
    position[:] = -1
    for u in range(start.size - 1):
        if start[u + 1] - start[u] < 2:
            continue
        # Step 1: note which edge leads from u to each forward neighbor.
        for e in range(start[u], start[u + 1]):
            position[ends[e]] = e
        # Step 2: u, v and a forward neighbor of v that u also has are a triangle, with the edges e
        # (u to v), third (u to it) and f (v to it).
        for e in range(start[u], start[u + 1]):
            v = ends[e]
            for f in range(start[v], start[v + 1]):
                third = position[ends[f]]
                if third < 0:
                    continue
                if of_edge is not None:
                    out[u] += of_edge[f]
                    out[v] += of_edge[third]
                    out[ends[f]] += of_edge[e]
                elif flag is None:
                    out[u] += 1
                    out[v] += 1
                    out[ends[f]] += 1
                else:
                    out[e] += flag[ends[f]]
                    out[third] += flag[v]
                    out[f] += flag[u]
        # Step 3: forget the edges of u.
        for e in range(start[u], start[u + 1]):
            position[ends[e]] = -1


def _steps_of_pass(forward: Forward, *_flags: Flags) -> int:
    """Return about how many steps a pass takes: pairs of forward neighbors, and edges."""
    later = np.diff(forward.start)
    return 2 * int((later * later).sum()) + forward.ends.size


def _steps_of_all(indptr: Indptr, indices: Indices) -> int:
    """Return about how many steps a pass takes together with making the forward edges."""
    degrees = np.diff(indptr)
    return int((degrees * degrees).sum()) // 3 + 3 * indices.size


@tiered(_steps_of_pass)
@allocating
def triangles_of_nodes(forward: Forward) -> NDArray[np.int64]:
    """Return the number of triangles at every node, int64, shape (n,)."""
    out = np.zeros(forward.start.size - 1, dtype=np.int64)
    _pass(forward, None, None, out)
    return out


@tiered(_steps_of_pass)
@allocating
def flagged_thirds(forward: Forward, flag: Flags) -> NDArray[np.int64]:
    """Return for every forward edge how many common neighbors of its ends are flagged.

    With all flags set: in how many triangles it is.

    Parameters
    ----------
    forward
        The graph. Read.
    flag
        bool, shape (n,). Read.

    Returns
    -------
    int64, shape (m,), in the order of `forward.ends`
    """
    out = np.zeros(forward.ends.size, dtype=np.int64)
    _pass(forward, flag, None, out)
    return out


@tiered(_steps_of_all)
@allocating
def triangles(indptr: Indptr, indices: Indices) -> NDArray[np.int64]:
    """Return the number of triangles at every node, int64, shape (n,)."""
    return triangles_of_nodes(_forward(indptr, indices))


@tiered(_steps_of_all)
@allocating
def common_neighbors(indptr: Indptr, indices: Indices) -> NDArray[np.int32]:
    """Return, for every entry of `indices`, how many neighbors the two ends of its edge share.

    int32, shape (2m,).
    """
    everybody = np.ones(indptr.size - 1, dtype=np.bool_)
    shared = flagged_thirds(_forward(indptr, indices), everybody)
    return _on_both_entries(indptr, indices, shared)


@allocating
def _on_both_entries(indptr: Indptr, indices: Indices, of_edge: Indptr) -> NDArray[np.int32]:
    """Return for every entry the value of its edge, given in the order of the forward edges.

    The nodes u are passed in order, so the entries that point back from a node w to some u are met
    in their order too: cursor[w] only moves on.
    """
    out = np.empty(indices.size, dtype=np.int32)
    cursor = indptr[:-1].copy()
    e = 0
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            w = indices[arc]
            if not _points(indptr, u, w):
                continue
            # Skip the forward entries of w: the next backward one is that of u.
            while _points(indptr, w, indices[cursor[w]]):
                cursor[w] += 1
            out[arc] = of_edge[e]
            out[cursor[w]] = of_edge[e]
            cursor[w] += 1
            e += 1
    return out


@allocating
def _forward_weights(indptr: Indptr, indices: Indices, weight: Weights) -> NDArray[np.int64]:
    """Return the weights of the forward edges, in their order, from those of all entries."""
    out = np.empty(indices.size // 2, dtype=np.int64)
    filled = 0
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            if _points(indptr, u, indices[arc]):
                out[filled] = weight[arc]
                filled += 1
    return out


@tiered(lambda indptr, indices, _weight: _steps_of_all(indptr, indices))
@allocating
def weight_around(indptr: Indptr, indices: Indices, weight: Weights) -> NDArray[np.int64]:
    """Return for every node the total weight of the edges between its neighbors.

    Parameters
    ----------
    indptr, indices
        The graph. Read.
    weight
        int8, shape (2m,): the weight of each entry; both entries of an edge have the same. Read.

    Returns
    -------
    int64, shape (n,)
    """
    forward = _forward(indptr, indices)
    out = np.zeros(indptr.size - 1, dtype=np.int64)
    _pass(forward, None, _forward_weights(indptr, indices, weight), out)
    return out


class Ball(NamedTuple):
    """Room for one neighborhood at a time.

    Parameters
    ----------
    nodes
        int32, shape (n,): its nodes in the order they are met, by rising distance; the center is
        first.
    hops
        int32, shape (n,): the distance of each of them from the center.
    place
        int32, shape (n,): the position of each node of the graph in `nodes`, -1 if it is outside.
        All -1 between neighborhoods.
    """

    nodes: Indices
    hops: Indices
    place: Indices


@tiered(for_each_call(10))
@allocating
def make_ball(n: int) -> Ball:
    """Return empty room for a neighborhood in a graph of n nodes."""
    place = np.empty(n, dtype=np.int32)
    place[:] = -1
    return Ball(np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), place)


@leaf
def fill_ball(indptr: Indptr, indices: Indices, center: int, distance: int, ball: Ball) -> int:
    """Write the nodes within this distance of the center into the ball; return how many there are.

    Breadth-first search. `clear_ball` must follow before the next one.

    Parameters
    ----------
    indptr, indices
        The graph. Read.
    center, distance
        Which nodes.
    ball
        Written; `place` is all -1 before.
    """
    ball.nodes[0] = center
    ball.hops[0] = 0
    ball.place[center] = 0
    size = 1
    head = 0
    # Breadth-first: nodes at the distance itself are not followed further.
    while head < size and ball.hops[head] < distance:
        x = ball.nodes[head]
        for arc in range(indptr[x], indptr[x + 1]):
            y = indices[arc]
            if ball.place[y] < 0:
                ball.nodes[size] = y
                ball.hops[size] = ball.hops[head] + 1
                ball.place[y] = size
                size += 1
        head += 1
    return size


@leaf
def clear_ball(ball: Ball, size: int) -> None:
    """Empty the ball after a neighborhood of this size."""
    for i in range(size):
        ball.place[ball.nodes[i]] = -1


@leaf
def inner_degree(indptr: Indptr, indices: Indices, i: int, distance: int, ball: Ball) -> int:
    """Return how many neighbors the node at position i of the ball has inside it."""
    x = ball.nodes[i]
    # All neighbors of a node that is not at the rim are inside.
    if ball.hops[i] < distance:
        return int(indptr[x + 1] - indptr[x])
    inside = 0
    for arc in range(indptr[x], indptr[x + 1]):
        if ball.place[indices[arc]] >= 0:
            inside += 1
    return inside


def steps_of_balls(degrees: NDArray[np.int64], distance: int) -> int:
    """Return about how many steps it takes to walk over the neighborhoods of all nodes."""
    entries = int(degrees.sum())
    return degrees.size * entries if distance > 1 else int((degrees * degrees).sum()) + entries


@tiered(lambda indptr, _indices, distance: steps_of_balls(np.diff(indptr), distance))
@allocating
def ball_sizes(
    indptr: Indptr, indices: Indices, distance: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of nodes and of edges of every neighborhood, each int64, shape (n,)."""
    n = indptr.size - 1
    nodes = np.empty(n, dtype=np.int64)
    edges = np.empty(n, dtype=np.int64)
    ball = make_ball(n)
    for v in range(n):
        size = fill_ball(indptr, indices, v, distance, ball)
        # Every edge of the neighborhood is counted from both ends.
        ends = np.int64(0)
        for i in range(size):
            ends += inner_degree(indptr, indices, i, distance, ball)
        nodes[v] = size
        edges[v] = ends // 2
        clear_ball(ball, size)
    return nodes, edges


Hashes = NDArray[np.uint64]

# Constants of SplitMix64 (Steele, Lea and Flood 2014): two odd multipliers, and the step of its
# counter, 2**64 divided by the golden ratio.
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)


class MultisetRows(NamedTuple):
    """Where the multiset of every node comes from.

    At distance 1 it is ``own[v]`` and ``values[indptr[v]:indptr[v + 1]]``. Farther away it is the
    degrees of the nodes of the neighborhood; `own` and `values` are empty then.

    Parameters
    ----------
    indptr, indices
        The graph.
    own
        int32, shape (n,): one value for each node.
    values
        int32, shape (2m,): one value for each entry of `indices`.
    distance
        How far the neighborhood reaches, in hops.
    inside
        Beyond distance 1: whether degrees count neighbors inside the neighborhood, or in the graph.
    largest
        The largest value in any multiset. Values are 0 or more.
    """

    indptr: Indptr
    indices: Indices
    own: Indices
    values: Indices
    distance: int
    inside: bool
    largest: int


@leaf
def mixed(value: np.uint64) -> np.uint64:
    """Return the value with its bits mixed: one step of the generator SplitMix64.

    A bijection of 64 bits in which each bit of the input affects all bits of the output.
    """
    x = value + STEP
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@allocating
def _room(rows: MultisetRows) -> tuple[Ball, Indices]:
    """Return room for one neighborhood, and for the longest multiset."""
    n = rows.indptr.size - 1
    if rows.distance > 1:
        return make_ball(n), np.empty(n, dtype=np.int32)
    longest = np.int64(0)
    for v in range(n):
        longest = max(longest, rows.indptr[v + 1] - rows.indptr[v])
    return make_ball(ZERO), np.empty(longest + 1, dtype=np.int32)


@leaf
def _fill(rows: MultisetRows, v: int, ball: Ball, out: Indices) -> int:
    """Write the multiset of node v into `out`, in any order; return its size."""
    indptr = rows.indptr
    if rows.distance == 1:
        out[0] = rows.own[v]
        size = 1
        for arc in range(indptr[v], indptr[v + 1]):
            out[size] = rows.values[arc]
            size += 1
        return size
    # Beyond distance 1: the degrees of the nodes of the neighborhood.
    size = fill_ball(indptr, rows.indices, v, rows.distance, ball)
    for i in range(size):
        if rows.inside:
            out[i] = inner_degree(indptr, rows.indices, i, rows.distance, ball)
        else:
            out[i] = indptr[ball.nodes[i] + 1] - indptr[ball.nodes[i]]
    clear_ball(ball, size)
    return size


@tiered(for_each_entry(1.5))
@allocating
def row_hashes(rows: MultisetRows) -> Hashes:
    """Return a hash of the multiset of every node: equal if the multisets are equal.

    The sum of mixed values does not depend on their order. uint64, shape (n,).
    """
    n = rows.indptr.size - 1
    out = np.empty(n, dtype=np.uint64)
    ball, row = _room(rows)
    for v in range(n):
        size = _fill(rows, v, ball, row)
        total = mixed(np.uint64(size))
        for i in range(size):
            total += mixed(np.uint64(row[i]))
        out[v] = total
    return out


@tiered(for_each_entry(0.3))
@allocating
def same_as_first(rows: MultisetRows, order: Ints, first: Ints, equal: NDArray[np.bool_]) -> None:
    """Write whether each node has the multiset of the first node of its bucket, exactly.

    O(total size of the multisets), by counting.

    Parameters
    ----------
    rows
        The multisets. Read.
    order
        int64: nodes, bucket after bucket. Read.
    first
        int64, shape (buckets + 1,): bucket b is ``order[first[b]:first[b + 1]]``. Read.
    equal
        bool, as long as `order`: ``equal[i]`` is written for node ``order[i]``.
    """
    ball, row = _room(rows)
    count = np.zeros(rows.largest + 1, dtype=np.int64)
    for b in range(first.size - 1):
        if first[b + 1] == first[b] + 1:
            equal[first[b]] = True
            continue
        # Count the values of the first node; each other node is equal if it uses up exactly these
        # counts.
        size = _fill(rows, order[first[b]], ball, row)
        model = row[:size].copy()
        for i in range(size):
            count[model[i]] += 1
        equal[first[b]] = True
        for at in range(first[b] + 1, first[b + 1]):
            equal[at] = _fill(rows, order[at], ball, row) == size and _takes_all(count, row, size)
        for i in range(size):
            count[model[i]] = 0


@leaf
def _takes_all(count: Ints, row: Indices, size: int) -> bool:
    """Return whether the row uses up all counts, one for each entry; the counts are restored.

    The caller has checked that the row is as long as what was counted.
    """
    taken = 0
    while taken < size and count[row[taken]] > 0:
        count[row[taken]] -= 1
        taken += 1
    for i in range(taken):
        count[row[i]] += 1
    return taken == size


@allocating
def rows_of(rows: MultisetRows, nodes: Ints) -> tuple[Ints, Indices]:
    """Return the sorted multisets of these nodes, one after the other.

    Parameters
    ----------
    rows
        The multisets. Read.
    nodes
        int64. Read.

    Returns
    -------
    start
        int64, shape (nodes + 1,): where each begins.
    values
        int32: the multisets.
    """
    ball, row = _room(rows)
    start = np.zeros(nodes.size + 1, dtype=np.int64)
    # Step 1: how long each multiset is.
    for i in range(nodes.size):
        start[i + 1] = start[i] + _fill(rows, nodes[i], ball, row)
    out = np.empty(start[-1], dtype=np.int32)
    # Step 2: write and sort each.
    for i in range(nodes.size):
        size = _fill(rows, nodes[i], ball, row)
        for j in range(size):
            out[start[i] + j] = row[j]
        sort(out[start[i] : start[i + 1]])
    return start, out


ROUNDS = 3
"""Rounds of color refinement.

A round separates nodes by what is one hop farther. More rounds leave fewer pairs to compare
exactly, and cost one pass over the edges of each neighborhood.
"""


class ColorBuffers(NamedTuple):
    """Room for one neighborhood at a time, its edges and the colors of its nodes.

    Inside, nodes go by their positions in ``ball.nodes``; the center is at 0.

    Parameters
    ----------
    ball
        The nodes.
    start, ends
        int64 (n + 1,), int32 (2m,): neighbors of position i are ``ends[start[i]:start[i + 1]]``.
    color
        uint64, shape (n,): the color of each position.
    before
        uint64, shape (n,): the hashed colors of the last round.
    """

    ball: Ball
    start: Ints
    ends: Indices
    color: Hashes
    before: Hashes


def new_color_buffers(n: int, entries: int) -> ColorBuffers:
    """Return room for any neighborhood of a graph of n nodes and `entries` = 2m entries."""
    return ColorBuffers(
        make_ball(n),
        np.zeros(n + 1, dtype=np.int64),
        np.empty(entries, dtype=np.int32),
        np.empty(n, dtype=np.uint64),
        np.empty(n, dtype=np.uint64),
    )


@leaf
def _enter(indptr: Indptr, indices: Indices, center: int, distance: int, room: ColorBuffers) -> int:
    """Write a neighborhood, its edges and its colors into the room; return its size.

    The first color of a node is its distance from the center, so that colors are those of the
    neighborhood with its center marked. Each round mixes in the colors of the neighbors.
    """
    ball = room.ball
    size = fill_ball(indptr, indices, center, distance, ball)
    filled = 0
    # Step 1: the edges inside, by position.
    for i in range(size):
        x = ball.nodes[i]
        for arc in range(indptr[x], indptr[x + 1]):
            if ball.place[indices[arc]] >= 0:
                room.ends[filled] = ball.place[indices[arc]]
                filled += 1
        room.start[i + 1] = filled
    # Step 2: first colors.
    for i in range(size):
        room.color[i] = np.uint64(ball.hops[i])
    # Step 3: refine. The own color is multiplied, so that it is not exchanged for a neighbor's.
    for _ in range(ROUNDS):
        for i in range(size):
            room.before[i] = mixed(room.color[i])
        for i in range(size):
            total = room.before[i] * STEP
            for at in range(room.start[i], room.start[i + 1]):
                total += room.before[room.ends[at]]
            room.color[i] = mixed(total)
    clear_ball(ball, size)
    return size


def _steps_of_hashes(
    indptr: Indptr, _indices: Indices, distance: int, _nodes: Ints, _room: ColorBuffers
) -> int:
    """Return about how many steps it takes to color the neighborhoods of all nodes."""
    return steps_of_balls(np.diff(indptr), distance)


@tiered(_steps_of_hashes)
@allocating
def neighborhood_hashes(
    indptr: Indptr, indices: Indices, distance: int, nodes: Ints, room: ColorBuffers
) -> Hashes:
    """Return a hash of the neighborhood of every given node: equal if they are isomorphic.

    Isomorphic with the center mapped to the center.

    Parameters
    ----------
    indptr, indices
        The graph. Read.
    distance
        How far neighborhoods reach.
    nodes
        int64: the centers. Read.
    room
        Written; its ball is empty before and after.

    Returns
    -------
    uint64, as long as `nodes`
    """
    out = np.empty(nodes.size, dtype=np.uint64)
    for at in range(nodes.size):
        size = _enter(indptr, indices, nodes[at], distance, room)
        total = np.uint64(0)
        for i in range(size):
            total += mixed(room.color[i])
        out[at] = total
    return out


def _steps_of_one(
    indptr: Indptr, indices: Indices, distance: int, center: int, _room: ColorBuffers
) -> int:
    """Return about how many steps it takes to walk over one neighborhood."""
    if distance > 1:
        return indices.size
    beside = indices[indptr[center] : indptr[center + 1]]
    return int((indptr[beside + 1] - indptr[beside]).sum()) + beside.size


@tiered(_steps_of_one)
@allocating
def neighborhood(
    indptr: Indptr, indices: Indices, distance: int, center: int, room: ColorBuffers
) -> tuple[Hashes, NDArray[np.int64]]:
    """Return the colors of one neighborhood, the center's first, and its edges by position.

    Parameters
    ----------
    indptr, indices
        The graph. Read.
    distance, center
        Which neighborhood.
    room
        Written; its ball is empty before and after.

    Returns
    -------
    colors
        uint64, shape (size,).
    edges
        int64, shape (edges, 2): pairs of positions, the smaller first.
    """
    size = _enter(indptr, indices, center, distance, room)
    edges = np.empty((room.start[size] // 2, 2), dtype=np.int64)
    filled = 0
    for i in range(size):
        for at in range(room.start[i], room.start[i + 1]):
            if i < room.ends[at]:
                edges[filled, 0] = i
                edges[filled, 1] = room.ends[at]
                filled += 1
    return room.color[:size].copy(), edges


@allocating
def follow(indptr: Indptr, indices: Indices, labels: Ints, levels: Ints) -> None:
    """Write the levels at which the cascade identifies nodes. O(n + m).

    An identified node leads to each neighbor whose label no other of its neighbors has. Nodes are
    passed in the order in which they are identified, so that levels are as low as possible.

    Parameters
    ----------
    indptr, indices
        The graph. Read.
    labels
        int64, shape (n,): the class of every node under the second measure. Read.
    levels
        int64, shape (n,): 0 for nodes identified at the start, else -1. Written: one more than the
        level of the neighbor by which a node is identified; -1 stays for the others.
    """
    n = indptr.size - 1
    queue = np.empty(n, dtype=np.int64)
    filled = 0
    classes = np.int64(0)
    # Step 1: the nodes of level 0 are first in the queue.
    for v in range(n):
        classes = max(classes, labels[v] + 1)
        if levels[v] == 0:
            queue[filled] = v
            filled += 1
    count = np.zeros(classes, dtype=np.int64)
    head = 0
    while head < filled:
        v = queue[head]
        head += 1
        # Step 2: count the classes of the neighbors of v; those that occur once are identified.
        for arc in range(indptr[v], indptr[v + 1]):
            count[labels[indices[arc]]] += 1
        for arc in range(indptr[v], indptr[v + 1]):
            w = indices[arc]
            if count[labels[w]] == 1 and levels[w] < 0:
                levels[w] = levels[v] + 1
                queue[filled] = w
                filled += 1
        # Step 3: clear the counts.
        for arc in range(indptr[v], indptr[v + 1]):
            count[labels[indices[arc]]] = 0


class NeighborPairs(NamedTuple):
    """Distinct pairs (first value, second value), sorted, and how many nodes have each. All int64.

    Parameters
    ----------
    start
        Shape (distinct first values + 1,): the pairs of the a-th smallest first value are at
        ``start[a] .. start[a + 1] - 1``.
    second
        Shape (pairs,): the second value of each pair, ascending within a first value.
    before
        Shape (pairs + 1,): the number of nodes with an earlier pair.
    """

    start: Ints
    second: Ints
    before: Ints


class Boxes(NamedTuple):
    """Rectangles of pairs. All int64, one entry per box.

    Parameters
    ----------
    first_from, first_to
        Places ``first_from .. first_to - 1`` among the distinct first values.
    second_from, second_to
        The least and the greatest second value, both inside.
    """

    first_from: Ints
    first_to: Ints
    second_from: Ints
    second_to: Ints


@allocating
def nodes_in_boxes(pairs: NeighborPairs, boxes: Boxes) -> Ints:
    """Return for every box the number of nodes whose pair is in it, int64.

    Two binary searches for each first value in each box.
    """
    out = np.zeros(boxes.first_from.size, dtype=np.int64)
    for box in range(out.size):
        for a in range(boxes.first_from[box], boxes.first_to[box]):
            # Pairs of one first value are sorted, so that those in the box are a range.
            start, end = pairs.start[a], pairs.start[a + 1]
            low = first_not_below(pairs.second, start, end, boxes.second_from[box])
            high = first_not_below(pairs.second, start, end, boxes.second_to[box] + 1)
            out[box] += pairs.before[high] - pairs.before[low]
    return out
