"""How frequent graphlets, the connected graphs of four nodes, are: exact, or by 3-path sampling.

Graphlets are estimated from 3-paths: an edge with a further edge at either end. Every connected
graph of four nodes but the star contains some, so uniformly sampled 3-paths give the frequency of
each (Jha, Seshadhri and Pinar 2015); the stars follow from the degrees. A path takes O(log m) to
classify; at most `GRAPHLET_PATHS` are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.data import Graph
from graphveil.evaluate.comparison import Bools, GraphComparison, Int32s
from graphveil.evaluate.metric import (
    Estimate,
    Figure,
    Figures,
    NotMeasuredError,
    Sample,
    Z,
    difference,
    half_l1_sampled,
    of_one,
)
from graphveil.evaluate.metrics.graph_entries import GRAPHLET_PATHS

NAMES = ("path", "paw", "cycle", "diamond", "clique", "star")
"""The paw is a triangle with a tail, the diamond a clique that lacks an edge."""

UNIT = "share of graphlets"

OPEN = 1_000
"""The fewest sampled 3-paths that must not close to a triangle: shares of fewer have wide
intervals."""

Z_OF_ALL = 2.638257273476751
"""The quantile of the normal distribution that 2.5% / 6 exceed: intervals of six shares that hold
together (Bonferroni)."""

ADDED = 2
"""How many draws of a graphlet, and of the others, are added for its interval: a rare one has an
interval, too (Agresti and Coull 1998)."""

_PATHS_IN = (1, 2, 4, 6, 12)
"""How many 3-paths each of the first five graphlets contains, in the order of `NAMES`."""

_STARS_IN = (0, 1, 0, 2, 4)
"""How many stars, not necessarily induced, each of the first five graphlets contains."""

_NAMES_OF_EXTRA = (0, 1, 3, 4)
"""The graphlet of a 3-path with this many further edges among its nodes, unless one edge closes a
cycle."""


class Frequencies(NamedTuple):
    """The share of each graphlet among all connected ones of four nodes, in the order of `NAMES`.

    `shares`: float64, shape (6,); `low, high`: float64, shape (6,): the 95% interval of each; the
    shares themselves where all was counted; `errors`: float64, shape (6,): by how much each is off
    at most, in 95% of samples for all together; `size`: how many 3-paths were drawn; None where all
    were looked at.
    """

    shares: Floats
    low: Floats
    high: Floats
    errors: Floats
    size: int | None

    def estimate(self, graphlet: int) -> Estimate:
        """Return the share of one graphlet."""
        value = float(self.shares[graphlet])
        if self.size is None:
            return Estimate(value)
        low, high = float(self.low[graphlet]), float(self.high[graphlet])
        return Estimate(value, Sample(self.size) if np.isnan(low) else Sample(self.size, low, high))


def compared(pair: GraphComparison) -> Figures:
    """Yield the share of every graphlet before and after, and half the L1 distance of the shares.

    Half L1 is from 0 (equal) to 1; nothing if a side has no connected set of four nodes.
    """
    return mean_compared([pair])


def mean_compared(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same for the mean shares of several releases; nothing if one has none."""
    # The shares on both sides; each graph has a stream of its own.
    every = [
        frequencies(graph, pair.randomness.stream(f"graphlets: {side}"))
        for side in ("original", "released")
        for pair in pairs
        for graph in (getattr(pair, side),)
    ]
    known = [each for each in every if each is not None]
    if len(known) < len(every):
        return
    before, after = _mean(known[: len(pairs)]), _mean(known[len(pairs) :])
    # Each graphlet before and after, with the interval of the difference.
    for number, name in enumerate(NAMES):
        sides = before.estimate(number), after.estimate(number)
        figures = [
            Figure(part, side.value, UNIT, judged=False, sample=side.sample)
            for part, side in zip(("original", "released"), sides, strict=True)
        ]
        apart = difference(*sides)
        figures.append(Figure("absolute difference", apart.value, UNIT, sample=apart.sample))
        yield from of_one(name, iter(figures))
    # The distance of both distributions; the errors of both sides add up as independent ones do.
    sizes = [side.size for side in (before, after) if side.size is not None]
    whole = half_l1_sampled(
        before.shares, after.shares, np.hypot(before.errors, after.errors), sizes
    )
    yield Figure("half L1", whole.value, UNIT, sample=whole.sample)


def _mean(each: Sequence[Frequencies]) -> Frequencies:
    """Return mean shares; for several samples no interval is known, and the errors are NaN."""
    if len(each) == 1:
        return each[0]
    shares = np.mean([one.shares for one in each], axis=0)
    sizes = [one.size for one in each if one.size is not None]
    if not sizes:
        return Frequencies(shares, shares, shares, np.zeros(len(NAMES)), None)
    unknown = np.full(len(NAMES), np.nan)
    return Frequencies(shares, unknown, unknown, unknown, min(sizes))


def frequencies(graph: Graph, rng: np.random.Generator) -> Frequencies | None:
    """Return the share of each connected graph of four nodes; None where there is none.

    Jha, Seshadhri and Pinar 2015 (3-path sampling). A 3-path whose ends are one node is a triangle
    and counts for no graphlet. Intervals: the delta method for a ratio of sums over draws, two
    draws added of the graphlet and two of the others (Agresti and Coull 1998).
    """
    # Stars, induced or not, are triples of neighbors of a node.
    degrees = graph.degrees()
    stars = int((degrees * (degrees - 1) * (degrees - 2)).sum()) // 6
    # Step 1: sample 3-paths uniformly, or take all of them if they are few.
    paths = _Paths.of(graph)
    drawn = (
        None if paths.number <= GRAPHLET_PATHS else rng.integers(0, paths.number, GRAPHLET_PATHS)
    )
    # Step 2: the graphlet that the four nodes of each induce; the last count is of triangles.
    which = paths.graphlets(np.arange(paths.number) if drawn is None else drawn)
    counts = np.bincount(which, minlength=len(NAMES))
    # All were looked at: counts give numbers, exactly.
    if drawn is None:
        numbers = _counted() @ counts[:5] + np.append(np.zeros(5), stars)
        if not numbers.sum():
            return None
        shares = numbers / numbers.sum()
        return Frequencies(shares, shares, shares, np.zeros(6), None)
    # A sample: refuse one that says too little, and give intervals.
    if counts[:5].sum() < OPEN:
        raise NotMeasuredError(
            f"fewer than {OPEN:,} of {GRAPHLET_PATHS:,} sampled paths of three edges are open; "
            "nearly all close to triangles"
        )
    return estimated(counts, paths.number, stars)


def estimated(counts: Ints, paths: int, stars: int) -> Frequencies:
    """Return the shares of graphlets from counts of drawn 3-paths, of which the last are triangles.

    >>> estimated(np.array([90, 0, 0, 0, 0, 10]), 1_000, 300).shares.tolist()
    [0.75, 0.0, 0.0, 0.0, 0.0, 0.25]
    """
    shares = np.clip(_shares(counts / counts.sum(), paths, stars)[0], 0.0, 1.0)
    each = [_around(number, counts, paths, stars) for number in range(len(NAMES))]
    middle, deviation = np.array(each).T
    low, high = (np.clip(middle + side * deviation, 0.0, 1.0) for side in (-Z, Z))
    errors = np.abs(shares - middle) + Z_OF_ALL * deviation
    return Frequencies(
        shares, np.minimum(low, shares), np.maximum(high, shares), errors, int(counts.sum())
    )


def _around(graphlet: int, counts: Ints, paths: int, stars: int) -> tuple[float, float]:
    """Return the center of the interval of a share, and the standard deviation of the share."""
    # Agresti and Coull: add two draws of the graphlet and two of the others.
    size = counts.sum() + 2 * ADDED
    added = counts + _added(graphlet, counts)
    chances = added / added.sum()
    # The share as a function of the chances of draws, and its gradient (delta method).
    shares, graphlets = _shares(chances, paths, stars)
    of_draw = paths * np.hstack([_counted(), np.zeros((len(NAMES), 1))])
    pull = (of_draw[graphlet] - shares[graphlet] * of_draw.sum(axis=0)) / graphlets
    # The variance of the gradient over one draw, divided by the number of draws.
    return shares[graphlet], np.sqrt(max(pull**2 @ chances - (pull @ chances) ** 2, 0.0) / size)


def _counted() -> Floats:
    """Return what one 3-path in each graphlet adds to the count of each, float64, shape (6, 5).

    A graphlet with k 3-paths counts 1/k for each of them. Stars inside other graphlets are
    subtracted from the stars that the degrees give, so that only induced ones remain.
    """
    paths = np.array(_PATHS_IN)
    return np.vstack([np.diag(1 / paths), -np.array(_STARS_IN) / paths])


def _added(graphlet: int, counts: Ints) -> Floats:
    """Return two draws of this graphlet and two of the others; none for stars.

    No 3-path is a star, so nothing is drawn of it.
    """
    added = np.zeros(counts.size)
    if NAMES[graphlet] != "star":
        others = np.where(np.arange(counts.size) == graphlet, 0, counts)
        added = ADDED * others / max(others.sum(), 1)
        added[graphlet] = ADDED
    return added


def _shares(chances: Floats, paths: int, stars: int) -> tuple[Floats, float]:
    """Return the share of each graphlet, and the number of all, if 3-paths have these chances."""
    numbers = paths * (_counted() @ chances[:5])
    numbers[5] += stars
    return numbers / numbers.sum(), float(numbers.sum())


class _Paths(NamedTuple):
    """The 3-paths of a graph by number: all of the first middle edge, then all of the next.

    `edges`: int32, shape (m, 2): the middle edges; `ends`: int64, shape (m,): how many 3-paths
    there are up to each of them; `keys`: int64, shape (2 m,): every arc as source * n + target,
    ascending.
    """

    graph: Graph
    edges: Int32s
    ends: Ints
    keys: Ints

    @classmethod
    def of(cls, graph: Graph) -> _Paths:
        """Return the 3-paths of a graph."""
        edges, degrees = graph.edges(), graph.degrees().astype(np.int64)
        ends = np.cumsum((degrees[edges] - 1).prod(axis=1), dtype=np.int64)
        sources = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), degrees)
        return cls(graph, edges, ends, sources * graph.n_nodes + graph.indices)

    @property
    def number(self) -> int:
        """How many there are, those included that close to a triangle."""
        return int(self.ends[-1]) if self.ends.size else 0

    def graphlets(self, paths: Ints) -> Ints:
        """Return the graphlet that each path is in, by its place in `NAMES`; 5 for a triangle."""
        # The middle edge (u, v) of each path, and the number of the path among those of that edge.
        edge = np.searchsorted(self.ends, paths, side="right")
        u, v = self.edges[edge].T.astype(np.int64)
        # That number gives the other neighbor a of u, and the other neighbor b of v.
        within = paths - np.concatenate([[0], self.ends])[edge]
        choices = np.diff(self.graph.indptr)[v] - 1
        a = self._other(u, v, within // np.maximum(choices, 1))
        b = self._other(v, u, within % np.maximum(choices, 1))
        # The further edges among the four nodes name the graphlet.
        across = self._joined(a, b)
        extra = self._joined(a, v).astype(np.int64) + self._joined(u, b) + across
        graphlets = np.where(
            (extra == 1) & across, NAMES.index("cycle"), np.array(_NAMES_OF_EXTRA)[extra]
        )
        # If a and b are one node, the path is a triangle, which counts as the last number.
        return np.where(a == b, NAMES.index("star"), graphlets)

    def _other(self, node: Ints, but: Ints, number: Ints) -> Ints:
        """Return the neighbor of this number of each node, not counting the neighbor `but`."""
        at = self._position(node, but)
        start = self.graph.indptr[node]
        ends = self.graph.indices[start + number + (start + number >= at)]
        return np.asarray(ends, dtype=np.int64)

    def _joined(self, one: Ints, other: Ints) -> Bools:
        at = np.minimum(self._position(one, other), self.keys.size - 1)
        return np.asarray(self.keys[at] == one * self.graph.n_nodes + other)

    def _position(self, one: Ints, other: Ints) -> Ints:
        return np.asarray(np.searchsorted(self.keys, one * self.graph.n_nodes + other))
