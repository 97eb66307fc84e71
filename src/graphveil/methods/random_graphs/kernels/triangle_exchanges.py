"""Exchanges of edges that keep all degrees, until there are about as many triangles as wanted.

An exchange replaces the edges u-x and v-y by u-v and x-y: every node keeps its degree. With groups
it also keeps the number of edges between every two groups, if x and v, or u and y, are in the same
group. The graph is sampled in three steps:

1. `deal` pairs the stubs (ends of edges) of the nodes at random, with the wanted number of edges
   between any two groups: the configuration model, with loops and doubles;
2. `repair_edges` exchanges loops and doubles with other edges;
3. `approach` proposes exchanges that close or open triangles of a class that lacks some or has too
   many. It keeps those that bring the counts nearer, and others that bring them r further away with
   a probability of a tenth of e^-r.

All of it reads noisy numbers and a public seed alone: no privacy depends on it. It is computed in
whole numbers only, so that `verify` can sample the same graph again.

Edges are in a hash table (`core.kernels.arrays`), and the neighbors of a node in slots that it
owns: an exchange changes two entries of the table and four slots. Cost: O(m) for dealing; per
proposal, the neighbors of up to four nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.arrays import FREE, below, delete, find, insert, new_table
from graphveil.core.kernels.leaf import ONE, leaf
from graphveil.core.kernels.tiers import tiered

REPAIR_TRIES = 200
"""How many edges are tried as partners of a loop or a double edge, in each round."""

REPAIR_ROUNDS = 3
"""Rounds of repair. In the last one partners are from all groups.

What three rounds do not repair is dropped, and stated in the release.
"""


class EdgeRewiring(NamedTuple):
    """A graph without loops and double edges, for exchanges.

    Parameters
    ----------
    pointers
        int64, shape (n + 1,): the slots of node u are ``pointers[u]`` to ``pointers[u + 1]`` - 1.
    slots
        int64, shape (2m,): the neighbor in every slot. Written by `exchange`.
    owners
        int64, shape (2m,): the node that owns every slot.
    table, shift
        int64, shape (2**b, 2): the hash table of edges, and 64 - b. Written by all that exchange.
    """

    pointers: Ints
    slots: Ints
    owners: Ints
    table: Ints
    shift: int


def wired(n: int, ends: Ints, *, filled: bool = True) -> EdgeRewiring:
    """Return the wiring of these edges; if the table is not filled, they may be loops and doubles.

    `ends`: int64, shape (m, 2): the nodes of every edge.
    """
    owners = ends.ravel()
    order = np.argsort(owners, kind="stable")
    pointers = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners, minlength=n), out=pointers[1:])
    table, shift = new_table(2 * len(ends) + 1)
    wiring = EdgeRewiring(pointers, ends[:, ::-1].ravel()[order], owners[order], table, shift)
    if filled:
        fill(wiring, ends)
    return wiring


@tiered()
@leaf
def fill(wiring: EdgeRewiring, ends: Ints) -> None:
    """Write every edge into the table of the wiring; `ends` as in `wired`."""
    for i in range(len(ends)):
        insert(wiring.table, wiring.shift, _key(wiring, ends[i, 0], ends[i, 1]), ONE)


@leaf
def _key(wiring: EdgeRewiring, u: int, v: int) -> int:
    n = wiring.pointers.size - 1
    return int(u * n + v) if u < v else int(v * n + u)


@leaf
def connected(wiring: EdgeRewiring, u: int, v: int) -> bool:
    """Return whether there is an edge between u and v."""
    row = find(wiring.table, wiring.shift, _key(wiring, u, v))
    return bool(wiring.table[row, 0] != FREE)


@leaf
def add_common(
    wiring: EdgeRewiring, classes: Ints, edge: tuple[int, int], skipped: tuple[int, int], out: Ints
) -> None:
    """Add the common neighbors of two nodes to `out`, by the lowest class of the three.

    These are the triangles of the edge u-v. Without skips (-1, -1) they are subtracted: the edge is
    to be removed. Otherwise the edge is to be added, and the two nodes in `skipped` are not common
    neighbors then, since the edges to them are removed in the same exchange.

    Parameters
    ----------
    wiring
        The graph before the exchange.
    classes
        int64, shape (n,): the class of every node.
    edge, skipped
        Two nodes each.
    out
        int64, shape (classes,). Written.
    """
    # Walk the neighbors of the node that has fewer.
    u, v = edge
    pointers = wiring.pointers
    if pointers[u + 1] - pointers[u] > pointers[v + 1] - pointers[v]:
        u, v = v, u
    sign = -1 if skipped[0] < 0 else 1
    lower = min(classes[u], classes[v])
    for slot in range(pointers[u], pointers[u + 1]):
        w = wiring.slots[slot]
        if w != skipped[0] and w != skipped[1] and w != v and connected(wiring, w, v):
            out[min(lower, classes[w])] += sign


@leaf
def exchange(wiring: EdgeRewiring, u: int, x: int, v: int, y: int) -> None:
    """Replace the edges u-x and v-y by u-v and x-y in the table and in the slots."""
    delete(wiring.table, wiring.shift, _key(wiring, u, x))
    delete(wiring.table, wiring.shift, _key(wiring, v, y))
    insert(wiring.table, wiring.shift, _key(wiring, u, v), ONE)
    insert(wiring.table, wiring.shift, _key(wiring, x, y), ONE)
    _replace(wiring, u, x, v)
    _replace(wiring, x, u, y)
    _replace(wiring, v, y, u)
    _replace(wiring, y, v, x)


@leaf
def _replace(wiring: EdgeRewiring, u: int, old: int, new: int) -> None:
    slot = wiring.pointers[u]
    while wiring.slots[slot] != old:
        slot += 1
    wiring.slots[slot] = new


@tiered()
@leaf
def deal(stubs: Ints, starts: Ints, between: Ints, ends: Ints, rng: Generator) -> None:
    """Pair the stubs of groups at random, with a given number of edges for each pair of groups.

    Parameters
    ----------
    stubs
        int64, shape (2m,): nodes by group, each as often as its degree. Written: shuffled in
        groups.
    starts
        int64, shape (groups + 1,): where each group begins in ``stubs``. Written.
    between
        int64, shape (groups, groups): the edges between groups g <= h. They use up all stubs.
    ends
        int64, shape (m, 2): the edges, by pair of groups. Written.
    rng
        The generator of the public seed.
    """
    # Shuffle the stubs of each group (Fisher-Yates), then take them from the front.
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
def repair_edges(
    ends: Ints, blocks: Ints, wiring: EdgeRewiring, good: NDArray[np.bool_], rng: Generator
) -> None:
    """Exchange loops and double edges with other edges, at first of the same pair of groups.

    Parameters
    ----------
    ends
        int64, shape (m, 2): the edges. Written.
    blocks
        int64, shape (m, 2): for every edge the first edge of its pair of groups, and the one after
        the last.
    wiring
        Of these edges, with an empty table, which is filled. Written.
    good
        bool, shape (m,): False at first; True for edges that are neither loop nor double. Written.
    rng
        The generator of the public seed.
    """
    # The first of equal edges is good; loops and repetitions are not. Only good ones are in the
    # table.
    for i in range(len(ends)):
        u, v = ends[i, 0], ends[i, 1]
        if u != v and not connected(wiring, u, v):
            insert(wiring.table, wiring.shift, _key(wiring, u, v), ONE)
            good[i] = True
    # Rounds of repair: inside the pair of groups, and in the last round among all edges.
    for attempt in range(REPAIR_ROUNDS):
        for i in range(len(ends)):
            if not good[i]:
                last = attempt == REPAIR_ROUNDS - 1
                first, stop = (0, len(ends)) if last else (blocks[i, 0], blocks[i, 1])
                _repair_edge(ends, i, (first, stop), wiring, good, rng)


@leaf
def _repair_edge(
    ends: Ints,
    i: int,
    block: tuple[int, int],
    wiring: EdgeRewiring,
    good: NDArray[np.bool_],
    rng: Generator,
) -> None:
    """Exchange one loop or double a-b with an edge c-d of a range: they become a-d and c-b.

    `block`: the first edge of the range, and the one after the last. The partner must be good, and
    the two new edges must be different, no loops, and not in the graph.
    """
    a, b = ends[i, 0], ends[i, 1]
    for _ in range(REPAIR_TRIES):
        j = block[0] + below(rng, block[1] - block[0])
        if not good[j]:
            continue
        c, d = ends[j, 0], ends[j, 1]
        if a == d or b == c or connected(wiring, a, d) or connected(wiring, b, c):
            continue
        if min(a, d) == min(b, c) and max(a, d) == max(b, c):
            continue
        delete(wiring.table, wiring.shift, _key(wiring, c, d))
        insert(wiring.table, wiring.shift, _key(wiring, a, d), ONE)
        insert(wiring.table, wiring.shift, _key(wiring, b, c), ONE)
        ends[i, 1], ends[j, 0], ends[j, 1] = d, c, b
        good[i] = True
        return


TRIES = 8
"""How many pairs of edges are tried for one pair of nodes, until one may be exchanged."""

ODDS_BITS = 30
"""Acceptance probabilities are multiples of 2^-30: whole numbers, to be sampled again exactly."""


class Marks(NamedTuple):
    """The classes and groups of the nodes; no kernel writes any of it.

    Parameters
    ----------
    classes, groups
        int64, shape (n,): the class, and the group, of every node.
    members
        int64, shape (2m,): the nodes by class, each as often as its degree.
    starts
        int64, shape (classes + 1,): where each class begins in ``members``.
    """

    classes: Ints
    groups: Ints
    members: Ints
    starts: Ints


class Tally(NamedTuple):
    """Triangles by class: how many there are, and how many there should be.

    Parameters
    ----------
    counts
        int64, shape (classes,): the triangles that there are. Written.
    aims
        int64, shape (classes,): the triangles that are wanted.
    change
        int64, shape (classes,): scratch space, the change of one exchange.
    odds
        int64: the probability of keeping an exchange after which the counts are r further from the
        aims, for r = 0, 1, ..., in units of 2^-30; 0 beyond the last.
    """

    counts: Ints
    aims: Ints
    change: Ints
    odds: Ints


def _steps_of_exchanges(
    wiring: EdgeRewiring, marks: Marks, tally: Tally, proposals: int, *_rest: object
) -> int:
    # A proposal samples about ten numbers.
    return 50 * proposals + wiring.slots.size + marks.classes.size + tally.aims.size


@tiered(_steps_of_exchanges)
@leaf
def approach(
    wiring: EdgeRewiring, marks: Marks, tally: Tally, proposals: int, grouped: int, rng: Generator
) -> int:
    """Exchange edges until the triangles are near the aims; return how far they are in the end.

    Parameters
    ----------
    wiring
        The graph. Written.
    marks
        Its classes and groups.
    tally
        Its triangles and the aims. Written.
    proposals
        The most exchanges that are proposed.
    grouped
        1 if the number of edges between any two groups must stay, otherwise 0.
    rng
        The generator of the public seed.

    Returns
    -------
    int
        The sum of the absolute differences between counts and aims.
    """
    # Stop within 0.3% of the sum of all aims.
    near = tally.aims.sum() * 3 // 1000
    off = _apart(tally)
    for _ in range(proposals):
        if off <= near:
            break
        # A class in proportion to its difference, and in it a node in proportion to its degree:
        # `members` lists nodes by class, each once per edge.
        c = _chosen(tally, off, rng)
        first = marks.starts[c]
        size = marks.starts[c + 1] - first
        if size == 0:
            continue
        u = marks.members[first + below(rng, size)]
        # Too few triangles: close one at u; too many: exchange an edge of u for any other.
        if tally.counts[c] < tally.aims[c]:
            off += _close(wiring, marks, tally, u, grouped, rng)
        else:
            off += _open(wiring, marks, tally, u, grouped, rng)
    return int(off)


@leaf
def _apart(tally: Tally) -> int:
    off = 0
    for c in range(tally.aims.size):
        off += abs(tally.counts[c] - tally.aims[c])
    return off


@leaf
def _chosen(tally: Tally, off: int, rng: Generator) -> int:
    """Return a class, in proportion to the difference of its triangles from the aim.

    Differences beyond 30 bits are rounded to fewer, since `below` takes bounds of 32 bits.
    """
    coarse = 0
    while off >> coarse >= 1 << 30:
        coarse += 1
    index = below(rng, off >> coarse) << coarse
    for c in range(tally.aims.size - 1):
        index -= abs(tally.counts[c] - tally.aims[c])
        if index < 0:
            return c
    return int(tally.aims.size - 1)


@leaf
def _neighbor(wiring: EdgeRewiring, u: int, rng: Generator) -> int:
    first = wiring.pointers[u]
    return int(wiring.slots[first + below(rng, wiring.pointers[u + 1] - first)])


@leaf
def _close(
    wiring: EdgeRewiring, marks: Marks, tally: Tally, u: int, grouped: int, rng: Generator
) -> int:
    """Connect u to a neighbor of a neighbor by an exchange; return the change of the difference."""
    # A path u-w-v without the edge u-v, which u-v would close to a triangle; then the edges u-x and
    # v-y, which become u-v and x-y. Neither may be an edge of the path, or the triangle is not
    # closed.
    w = _neighbor(wiring, u, rng)
    v = _neighbor(wiring, w, rng)
    if u == v or connected(wiring, u, v):
        return 0
    for _ in range(TRIES):
        x, y = _neighbor(wiring, u, rng), _neighbor(wiring, v, rng)
        if x == w or y == w:  # noqa: PLR1714  a tuple takes longer to compile
            continue
        if _fits(wiring, marks, u, x, v, y, grouped):
            return _try_exchange(wiring, marks, tally, (u, x, v, y), rng)
    return 0


@leaf
def _open(
    wiring: EdgeRewiring, marks: Marks, tally: Tally, u: int, grouped: int, rng: Generator
) -> int:
    """Exchange an edge of u with a random edge; return the change of the difference."""
    x = _neighbor(wiring, u, rng)
    for _ in range(TRIES):
        slot = below(rng, wiring.slots.size)
        v, y = wiring.owners[slot], wiring.slots[slot]
        if u != v and not connected(wiring, u, v) and _fits(wiring, marks, u, x, v, y, grouped):
            return _try_exchange(wiring, marks, tally, (u, x, v, y), rng)
    return 0


@leaf
def _fits(wiring: EdgeRewiring, marks: Marks, u: int, x: int, v: int, y: int, grouped: int) -> bool:
    """Return whether u-x and v-y may become u-v and x-y, if u-v is not an edge.

    With `grouped` 1, x and v, or u and y, must be in the same group.
    """
    of = marks.groups
    if grouped == 1 and of[x] != of[v] and of[u] != of[y]:
        return False
    return bool(x != v and y != u and x != y and not connected(wiring, x, y))  # noqa: PLR1714  as above


@leaf
def _try_exchange(
    wiring: EdgeRewiring,
    marks: Marks,
    tally: Tally,
    nodes: tuple[int, int, int, int],
    rng: Generator,
) -> int:
    """Exchange u-x and v-y for u-v and x-y if that brings the counts nearer, otherwise rarely.

    Return the change of the difference from the aims: 0 if nothing was exchanged.
    """
    # The change of the triangles: those of two edges are lost, those of two others gained.
    u, x, v, y = nodes
    change = tally.change
    change[:] = 0
    add_common(wiring, marks.classes, (u, x), (-1, -1), change)
    add_common(wiring, marks.classes, (v, y), (-1, -1), change)
    add_common(wiring, marks.classes, (u, v), (x, y), change)
    add_common(wiring, marks.classes, (x, y), (u, v), change)
    # Fewer differences in all: exchange. Otherwise with the probability of the rise.
    rise = 0
    for c in range(change.size):
        gap = tally.counts[c] - tally.aims[c]
        rise += abs(gap + change[c]) - abs(gap)
    if rise >= tally.odds.size:
        return 0
    if rise >= 0 and below(rng, 1 << ODDS_BITS) >= tally.odds[rise]:
        return 0
    for c in range(change.size):
        tally.counts[c] += change[c]
    exchange(wiring, u, x, v, y)
    return rise
