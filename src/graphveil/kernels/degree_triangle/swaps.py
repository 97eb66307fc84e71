"""Exchanges of edges that keep all degrees, until there are as many triangles as are aimed at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.degree_triangle.wiring import Wiring, add_common, exchange, tied
from graphveil.kernels.draws import below
from graphveil.kernels.leaf import leaf
from graphveil.kernels.tiers import tiered

Ints = NDArray[np.int64]

TRIES = 8
"""How many pairs of edges are looked at for one pair of nodes."""

ODDS_BITS = 30


class Marks(NamedTuple):
    """What is known of the nodes.

    Parameters
    ----------
    classes, groups
        int64, shape (n,): their classes, by which triangles are counted, and their groups.
    members, starts
        int64: the nodes of class c, each as often as it has edges, are
        ``members[starts[c]:starts[c + 1]]``.
    """

    classes: Ints
    groups: Ints
    members: Ints
    starts: Ints


class Tally(NamedTuple):
    """Triangles by class.

    Parameters
    ----------
    counts
        int64: how many there are; written over.
    aims
        int64: how many there should be.
    change
        int64: scratch.
    odds
        int64: with which chance, in units of 2^-30, an exchange is kept that brings the counts so
        much further away in sum.
    """

    counts: Ints
    aims: Ints
    change: Ints
    odds: Ints


def _steps(wiring: Wiring, marks: Marks, tally: Tally, proposals: int, *_rest: object) -> int:
    # A proposal draws about ten times.
    return 50 * proposals + wiring.slots.size + marks.classes.size + tally.aims.size


@tiered(_steps)
@leaf
def approach(
    wiring: Wiring,
    marks: Marks,
    tally: Tally,
    proposals: int,
    grouped: int,
    rng: np.random.Generator,
) -> int:
    """Exchange edges until the triangles are near those aimed at; return how far they are.

    `grouped` is 1 where the number of edges between any two groups has to stay.
    """
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
def _chosen(tally: Tally, off: int, rng: np.random.Generator) -> int:
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
def _neighbor(wiring: Wiring, u: int, rng: np.random.Generator) -> int:
    first = wiring.pointers[u]
    return int(wiring.slots[first + below(rng, wiring.pointers[u + 1] - first)])


@leaf
def _close(
    wiring: Wiring, marks: Marks, tally: Tally, u: int, grouped: int, rng: np.random.Generator
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
    wiring: Wiring, marks: Marks, tally: Tally, u: int, grouped: int, rng: np.random.Generator
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
def _fits(wiring: Wiring, marks: Marks, u: int, x: int, v: int, y: int, grouped: int) -> bool:
    """Return whether u-x and v-y may become u-v and x-y, of which u-v is no edge."""
    of = marks.groups
    if grouped == 1 and of[x] != of[v] and of[u] != of[y]:
        return False
    return bool(x != v and y != u and x != y and not tied(wiring, x, y))  # noqa: PLR1714  as above


@leaf
def _kept_or_not(
    wiring: Wiring,
    marks: Marks,
    tally: Tally,
    nodes: tuple[int, int, int, int],
    rng: np.random.Generator,
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
