"""A graph with given degrees, groups and triangles, generated again from the stated seed.

The steps are those of a release with noisy statistics (docs/methods/degree-triangle-model.md):
(1) a first graph by pairing stubs between groups, with loops and double edges repaired; (2)
targets for triangles, the noisy ones shrunk towards the first graph's; (3) exchanges of edges,
accepted like in simulated annealing, until triangles are close to the targets. Every random
number comes from the seed, so the result must be the released graph edge by edge. This is written
one exchange at a time, in plain Python, and shares nothing with the method's kernels.

Random numbers are those of PCG64DXSM, halved into words of 32 bits, the lower one first; a number
below a bound is made of them by Lemire's method (Fast random integer generation in an interval,
2019), as NumPy does it.

Cost: up to `FOR_EACH_EDGE` + `WITHOUT_GROUPS` proposals per edge, each the neighbors of four
nodes: minutes above 50,000 edges in Python, where the caller stops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Edge = tuple[int, int]
KEPT_ODDS = (107374182, 39500754, 14531515, 5345845, 1966626, 723481, 266153)
"""In 2^30 cases so often is an exchange kept that brings triangles 0, 1, 2, ... further away: a
tenth of e^-0, e^-1, e^-2, ...; one that brings them further away than that is never kept."""

FOR_EACH_EDGE, WITHOUT_GROUPS = 100, 25
"""Proposals per edge, within groups and then without: part of how a release is generated, so they
must be the method's."""

PARTNERS, ROUNDS, PAIRS = 200, 3, 8
"""Partners that are tried for an invalid edge, rounds of repair, and pairs of edges that are
tried for an exchange: part of how a release is generated."""

Words = Iterator[NDArray[np.uint64]]


class Model(NamedTuple):
    """What a graph is generated from.

    `groups, classes`: of every node; `degrees`: how many edges every node is to have; `stubs`: how
    many edges between groups g <= h, row by row; `triangles`: with noise, by class; `scale`: about
    how large that noise is.
    """

    groups: Sequence[int]
    classes: Sequence[int]
    degrees: Sequence[int]
    stubs: Sequence[int]
    triangles: Sequence[int]
    scale: Fraction


class Redrawn(NamedTuple):
    """The generated graph: edges, smaller end first; target triangles; dropped edges."""

    edges: set[Edge]
    aims: list[int]
    unmended: int


class BoundedIntegers:
    """Whole numbers below bounds, from words of 64 bits."""

    def __init__(self, words: Words) -> None:
        self._next = _halves(words).__next__

    def below(self, bound: int) -> int:
        """Return a number from 0 to bound - 1.

        >>> rolls = BoundedIntegers(iter([np.arange(9, dtype=np.uint64) << np.uint64(29)]))
        >>> 0 <= rolls.below(6) < 6
        True
        """
        if bound <= 1:
            return 0
        product = self._next() * bound
        if product & 0xFFFFFFFF < bound:
            least = (1 << 32) % bound
            while product & 0xFFFFFFFF < least:
                product = self._next() * bound
        return product >> 32


def _halves(words: Words) -> Iterator[int]:
    for block in words:
        yield from block.astype("<u8").view("<u4").tolist()


def redrawn(model: Model, words: Words) -> Redrawn:
    """Return the graph that follows from a model and the words of a seed."""
    # Step 1: a graph with the stated degrees and edges between groups.
    dice = BoundedIntegers(words)
    ends, unmended = _first_graph(model, dice)
    graph = _Graph(model, ends)
    # Step 2: the triangles to aim at in each class.
    aims = aims_of(model, graph.triangles)
    # Step 3: exchanges within groups; if triangles are still more than 2% off, exchanges anywhere.
    search = _Search(graph, model, aims, dice)
    search.run(FOR_EACH_EDGE * len(ends), within_groups=True)
    if 50 * search.apart() > sum(aims):
        search.run(WITHOUT_GROUPS * len(ends), within_groups=False)
    edges = {(u, v) for u, ties in enumerate(graph.ties) for v in ties if u < v}
    return Redrawn(edges, aims, unmended)


def aims_of(model: Model, there: Sequence[int]) -> list[int]:
    """Return the target number of triangles of each class."""
    aims = []
    for noisy, first in zip(model.triangles, there, strict=True):
        # Noisy counts are shrunk towards the first graph's by scale^2 / (2 difference);
        # small differences are noise and are ignored.
        difference = noisy - first
        kept = Fraction(0)
        if 2 * difference * difference > model.scale**2:
            kept = difference - model.scale**2 / (2 * difference)
        aims.append(max(0, first + round(kept)))
    return aims


def _first_graph(model: Model, dice: BoundedIntegers) -> tuple[list[Edge], int]:
    """Return proper edges with these degrees and groups, and the number of dropped ones."""
    size = max(model.groups) + 1
    # A deck for each group with every node as often as its degree, shuffled (Fisher-Yates).
    decks: list[list[int]] = [[] for _ in range(size)]
    for node, (group, degree) in enumerate(zip(model.groups, model.degrees, strict=True)):
        decks[group] += [node] * degree
    for deck in decks:
        for last in range(len(deck) - 1, 0, -1):
            other = dice.below(last + 1)
            deck[last], deck[other] = deck[other], deck[last]
    # Deal pairs of nodes for each pair of groups; edges of one pair of groups stand together.
    hands = [iter(deck) for deck in decks]
    ends: list[Edge] = []
    ranges: list[Edge] = []
    pairs = [(g, h) for g in range(size) for h in range(g, size)]
    for (g, h), count in zip(pairs, model.stubs, strict=True):
        block = (len(ends), len(ends) + count)
        ends += [(next(hands[g]), next(hands[h])) for _ in range(count)]
        ranges += [block] * count
    # Loops and double edges are exchanged with others of their pair of groups.
    good = _mended(ends, ranges, dice)
    return [end for end, is_good in zip(ends, good, strict=True) if is_good], good.count(False)


def _mended(ends: list[Edge], ranges: list[Edge], dice: BoundedIntegers) -> list[bool]:
    """Exchange loops and doubles with other edges; return for each edge whether it is proper."""
    # The first of several equal edges is kept; the others are invalid, as loops are.
    good, there = [], set()
    for u, v in ends:
        good.append(u != v and frozenset((u, v)) not in there)
        if u != v:
            there.add(frozenset((u, v)))
    for attempt in range(ROUNDS):
        for i, block in enumerate(ranges):
            if not good[i]:
                # The last round may exchange with any edge.
                low, high = block if attempt < ROUNDS - 1 else (0, len(ends))
                good[i] = _exchanged(ends, i, (low, high), good, there, dice)
    return good


def _exchanged(
    ends: list[Edge],
    i: int,
    block: Edge,
    good: list[bool],
    there: set[frozenset[int]],
    dice: BoundedIntegers,
) -> bool:
    """Exchange an edge with one of a range; return whether it worked."""
    a, b = ends[i]
    for _ in range(PARTNERS):
        j = block[0] + dice.below(block[1] - block[0])
        if not good[j]:
            continue
        c, d = ends[j]
        # Replace a-b and c-d by a-d and c-b, if both are new and proper.
        one, other = frozenset((a, d)), frozenset((b, c))
        if len(one) < 2 or len(other) < 2 or one == other or {one, other} & there:
            continue
        there.remove(frozenset((c, d)))
        there |= {one, other}
        ends[i], ends[j] = (a, d), (c, b)
        return True
    return False


class _Graph:
    """Neighbors of every node, as a set and as a list with fixed positions."""

    def __init__(self, model: Model, ends: list[Edge]) -> None:
        n = len(model.degrees)
        self.places: list[list[int]] = [[] for _ in range(n)]
        for u, v in ends:
            self.places[u].append(v)
            self.places[v].append(u)
        self.ties = [set(places) for places in self.places]
        self.classes = model.classes
        counts = [0] * len(model.triangles)
        for u, v in ends:
            for w in self.ties[u] & self.ties[v]:
                counts[min(self.classes[u], self.classes[v], self.classes[w])] += 1
        self.triangles = [count // 3 for count in counts]

    def exchange(self, u: int, x: int, v: int, y: int) -> None:
        """Replace the edges u-x and v-y by u-v and x-y."""
        for node, old, new in ((u, x, v), (x, u, y), (v, y, u), (y, v, x)):
            places = self.places[node]
            places[places.index(old)] = new
            self.ties[node].remove(old)
            self.ties[node].add(new)


class _Search:
    """A search by exchanges of edges that brings triangles closer to their targets."""

    def __init__(self, graph: _Graph, model: Model, aims: list[int], dice: BoundedIntegers) -> None:
        self.graph, self.groups, self.aims = graph, model.groups, aims
        self.roll = dice.below
        self.found = list(graph.triangles)
        self.arcs = [(u, k) for u, places in enumerate(graph.places) for k in range(len(places))]
        self.ends_in: list[list[int]] = [[] for _ in aims]
        for u, _ in self.arcs:
            self.ends_in[model.classes[u]].append(u)

    def apart(self) -> int:
        """Return the sum of distances of triangles from their targets."""
        return sum(abs(a - b) for a, b in zip(self.found, self.aims, strict=True))

    def run(self, proposals: int, *, within_groups: bool) -> None:
        """Propose exchanges, until triangles are close enough or proposals are used up."""
        # Done when triangles are off by 0.3% of the targets in sum.
        enough = sum(self.aims) * 3 // 1000
        for _ in range(proposals):
            distance = self.apart()
            if distance <= enough:
                return
            # A class in proportion to how far off it is, an end of an edge in it, and an exchange
            # there.
            c = self._class(distance)
            if self.ends_in[c]:
                u = self.ends_in[c][self.roll(len(self.ends_in[c]))]
                lacks = self.found[c] < self.aims[c]
                propose = self._closing if lacks else self._any
                exchange = propose(u, within_groups=within_groups)
                if exchange is not None:
                    self._try(*exchange)

    def _class(self, distance: int) -> int:
        # Numbers below 2^30 alone are sampled, so large sums lose their lower bits.
        shift = max(distance.bit_length() - 30, 0)
        remaining = self.roll(distance >> shift) << shift
        for c in range(len(self.aims) - 1):
            remaining -= abs(self.found[c] - self.aims[c])
            if remaining < 0:
                return c
        return len(self.aims) - 1

    def _of(self, u: int) -> int:
        places = self.graph.places[u]
        return places[self.roll(len(places))]

    def _closing(self, u: int, *, within_groups: bool) -> tuple[int, int, int, int] | None:
        # To close a triangle: a path u-w-v whose ends are not linked yet.
        w = self._of(u)
        v = self._of(w)
        if u == v or v in self.graph.ties[u]:
            return None
        for _ in range(PAIRS):
            x = self._of(u)
            y = self._of(v)
            if w not in {x, y} and self._is_possible(u, x, v, y, within_groups=within_groups):
                return u, x, v, y
        return None

    def _any(self, u: int, *, within_groups: bool) -> tuple[int, int, int, int] | None:
        # To lose triangles: any edge v-y in exchange for u-x.
        x = self._of(u)
        for _ in range(PAIRS):
            v, k = self.arcs[self.roll(len(self.arcs))]
            y = self.graph.places[v][k]
            is_absent = u != v and v not in self.graph.ties[u]
            if is_absent and self._is_possible(u, x, v, y, within_groups=within_groups):
                return u, x, v, y
        return None

    def _is_possible(self, u: int, x: int, v: int, y: int, *, within_groups: bool) -> bool:
        groups = self.groups
        if within_groups and groups[x] != groups[v] and groups[u] != groups[y]:
            return False
        return u != y and x not in {v, y} and y not in self.graph.ties[x]

    def _try(self, u: int, x: int, v: int, y: int) -> None:
        ties, classes = self.graph.ties, self.graph.classes
        # Triangles that both removed and both added edges belong to, by class of the lowest node.
        change = [0] * len(self.aims)
        for a, b, sign in ((u, x, -1), (v, y, -1), (u, v, 1), (x, y, 1)):
            third = ties[a] & ties[b]
            if sign > 0:
                third -= {u, x, v, y}
            lower = min(classes[a], classes[b])
            for w in third:
                change[min(lower, classes[w])] += sign
        after = [count + more for count, more in zip(self.found, change, strict=True)]
        # Metropolis: an exchange that brings triangles closer is kept, another one with the odds of
        # its rise.
        rise = sum(
            abs(new - aim) - abs(old - aim)
            for new, old, aim in zip(after, self.found, self.aims, strict=True)
        )
        if rise >= len(KEPT_ODDS) or (rise >= 0 and self.roll(1 << 30) >= KEPT_ODDS[rise]):
            return
        self.found = after
        self.graph.exchange(u, x, v, y)
