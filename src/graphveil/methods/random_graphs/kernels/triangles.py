"""Exchanges of edges that keep all degrees, until there are as many triangles as are aimed at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import FREE, below, delete, find, insert, new_table
from graphveil.core.kernels.leaf import ONE, allocating, leaf
from graphveil.core.kernels.tiers import tiered

Ints = NDArray[np.int64]

Indptr = NDArray[np.int64]
Indices = NDArray[np.int32]


def _steps(indptr: Indptr, *_rest: object) -> int:
    """Return how many ways of two steps there are."""
    degrees = np.diff(indptr)
    return int((degrees * degrees).sum()) + degrees.size


@tiered(_steps)
@allocating
def most_in_common(indptr: Indptr, indices: Indices) -> int:
    """Return the most neighbors that two different nodes share, connected or not."""
    shared = np.zeros(indptr.size - 1, dtype=np.int64)
    most = 0
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            w = indices[arc]
            for back in range(indptr[w], indptr[w + 1]):
                v = indices[back]
                if v > u:
                    shared[v] += 1
                    most = max(most, shared[v])
        for arc in range(indptr[u], indptr[u + 1]):
            w = indices[arc]
            for back in range(indptr[w], indptr[w + 1]):
                shared[indices[back]] = 0
    return most


@tiered(_steps)
@allocating
def triangles_by_class(indptr: Indptr, indices: Indices, classes: Indptr, number: int) -> Ints:
    """Return how many triangles have each class as the lowest of their three nodes: each once."""
    out = np.zeros(number, dtype=np.int64)
    marked = np.zeros(indptr.size - 1, dtype=np.bool_)
    for u in range(indptr.size - 1):
        for arc in range(indptr[u], indptr[u + 1]):
            marked[indices[arc]] = True
        for arc in range(indptr[u], indptr[u + 1]):
            v = indices[arc]
            if v < u:
                continue
            for onward in range(indptr[v], indptr[v + 1]):
                w = indices[onward]
                if w > v and marked[w]:
                    out[min(classes[u], classes[v], classes[w])] += 1
        for arc in range(indptr[u], indptr[u + 1]):
            marked[indices[arc]] = False
    return out


MENDING_TRIES = 200
"""How many edges are tried as partners of a loop or a double, of a round."""

MENDING_ROUNDS = 3


class EdgeRewiring(NamedTuple):
    """A graph without loops and doubles: neighbors in owned slots, and a hash table of edges."""

    pointers: Ints
    slots: Ints
    owners: Ints
    table: Ints
    shift: int


def wired(n: int, ends: Ints, *, filled: bool = True) -> EdgeRewiring:
    """Return the wiring of these edges; where not filled, they may be loops and doubles."""
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
    """Write every edge into the table."""
    for i in range(len(ends)):
        insert(wiring.table, wiring.shift, _key(wiring, ends[i, 0], ends[i, 1]), ONE)


@leaf
def _key(wiring: EdgeRewiring, u: int, v: int) -> int:
    n = wiring.pointers.size - 1
    return int(u * n + v) if u < v else int(v * n + u)


@leaf
def tied(wiring: EdgeRewiring, u: int, v: int) -> bool:
    """Return whether there is an edge between u and v."""
    row = find(wiring.table, wiring.shift, _key(wiring, u, v))
    return bool(wiring.table[row, 0] != FREE)


@leaf
def add_common(
    wiring: EdgeRewiring, classes: Ints, edge: tuple[int, int], skipped: tuple[int, int], out: Ints
) -> None:
    """Add the triangles over two nodes to `out`, by their lowest class; without skips take off."""
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
def exchange(wiring: EdgeRewiring, u: int, x: int, v: int, y: int) -> None:
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
def _replace(wiring: EdgeRewiring, u: int, old: int, new: int) -> None:
    slot = wiring.pointers[u]
    while wiring.slots[slot] != old:
        slot += 1
    wiring.slots[slot] = new


@tiered()
@leaf
def deal(stubs: Ints, starts: Ints, between: Ints, ends: Ints, rng: Generator) -> None:
    """Pair shuffled stubs at random: so many edges for each pair of groups; writes the ends."""
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
    """Exchange loops and doubles with other edges, at first of the same pair of groups.

    `blocks` has the first edge of the same pair of groups, and the one behind its last; `good` is
    written.
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
    wiring: EdgeRewiring,
    good: NDArray[np.bool_],
    rng: Generator,
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


TRIES = 8
"""How many pairs of edges are looked at for one pair of nodes."""

ODDS_BITS = 30


class Marks(NamedTuple):
    """The classes and groups of the nodes; nodes by class, once per edge, and their starts."""

    classes: Ints
    groups: Ints
    members: Ints
    starts: Ints


class Tally(NamedTuple):
    """Triangles by class: how many there are and should be; `odds` in units of 2^-30."""

    counts: Ints
    aims: Ints
    change: Ints
    odds: Ints


def _steps_of_swaps(
    wiring: EdgeRewiring, marks: Marks, tally: Tally, proposals: int, *_rest: object
) -> int:
    # A proposal draws about ten times.
    return 50 * proposals + wiring.slots.size + marks.classes.size + tally.aims.size


@tiered(_steps_of_swaps)
@leaf
def approach(
    wiring: EdgeRewiring, marks: Marks, tally: Tally, proposals: int, grouped: int, rng: Generator
) -> int:
    """Exchange edges until the triangles are near those aimed at; return how far they are."""
    near = tally.aims.sum() * 3 // 1000
    off = _apart(tally)
    for _ in range(proposals):
        if off <= near:
            break
        c = _chosen(tally, off, rng)
        first = marks.starts[c]
        size = marks.starts[c + 1] - first
        if size == 0:
            continue
        u = marks.members[first + below(rng, size)]
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
    """Return a class, in proportion to what it lacks or has too many."""
    coarse = 0
    while off >> coarse >= 1 << 30:
        coarse += 1
    drawn = below(rng, off >> coarse) << coarse
    for c in range(tally.aims.size - 1):
        drawn -= abs(tally.counts[c] - tally.aims[c])
        if drawn < 0:
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
    """Tie u to a neighbor of a neighbor, by an exchange; return what it changed."""
    w = _neighbor(wiring, u, rng)
    v = _neighbor(wiring, w, rng)
    if u == v or tied(wiring, u, v):
        return 0
    for _ in range(TRIES):
        x, y = _neighbor(wiring, u, rng), _neighbor(wiring, v, rng)
        if x == w or y == w:  # noqa: PLR1714  a tuple takes longer to compile
            continue
        if _fits(wiring, marks, u, x, v, y, grouped):
            return _kept_or_not(wiring, marks, tally, (u, x, v, y), rng)
    return 0


@leaf
def _open(
    wiring: EdgeRewiring, marks: Marks, tally: Tally, u: int, grouped: int, rng: Generator
) -> int:
    """Exchange an edge of u with any other; return what it changed."""
    x = _neighbor(wiring, u, rng)
    for _ in range(TRIES):
        slot = below(rng, wiring.slots.size)
        v, y = wiring.owners[slot], wiring.slots[slot]
        if u != v and not tied(wiring, u, v) and _fits(wiring, marks, u, x, v, y, grouped):
            return _kept_or_not(wiring, marks, tally, (u, x, v, y), rng)
    return 0


@leaf
def _fits(wiring: EdgeRewiring, marks: Marks, u: int, x: int, v: int, y: int, grouped: int) -> bool:
    """Return whether u-x and v-y may become u-v and x-y, of which u-v is not an edge."""
    of = marks.groups
    if grouped == 1 and of[x] != of[v] and of[u] != of[y]:
        return False
    return bool(x != v and y != u and x != y and not tied(wiring, x, y))  # noqa: PLR1714  as above


@leaf
def _kept_or_not(
    wiring: EdgeRewiring,
    marks: Marks,
    tally: Tally,
    nodes: tuple[int, int, int, int],
    rng: Generator,
) -> int:
    """Exchange u-x and v-y for u-v and x-y where that brings the counts nearer, else by chance."""
    u, x, v, y = nodes
    change = tally.change
    change[:] = 0
    add_common(wiring, marks.classes, (u, x), (-1, -1), change)
    add_common(wiring, marks.classes, (v, y), (-1, -1), change)
    add_common(wiring, marks.classes, (u, v), (x, y), change)
    add_common(wiring, marks.classes, (x, y), (u, v), change)
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
