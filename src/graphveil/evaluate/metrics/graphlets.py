"""How frequent graphlets of four nodes are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphveil.data import Graph
from graphveil.evaluate.comparison import (
    Bools,
    Floats,
    GraphComparison,
    Int32s,
    Ints,
)
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
"""The fewest of these that must not close to a triangle: shares of fewer say too little."""

Z_OF_ALL = 2.638257273476751
"""The one that 2.5% over six exceed: intervals of six shares that hold together."""

ADDED = 2
"""Draws of a graphlet, and of others, that are added in its interval: a rare one has one, too."""

_PATHS_IN = (1, 2, 4, 6, 12)
_STARS_IN = (0, 1, 0, 2, 4)
_NAMES_OF_EXTRA = (0, 1, 3, 4)


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
    """Yield the share of every graphlet before and after; nothing where a side has none."""
    return mean_compared([pair])


def mean_compared(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same of the mean shares of several releases; nothing where one has none."""
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
    for number, name in enumerate(NAMES):
        sides = before.estimate(number), after.estimate(number)
        figures = [
            Figure(part, side.value, UNIT, judged=False, sample=side.sample)
            for part, side in zip(("original", "released"), sides, strict=True)
        ]
        apart = difference(*sides)
        figures.append(Figure("absolute difference", apart.value, UNIT, sample=apart.sample))
        yield from of_one(name, iter(figures))
    sizes = [side.size for side in (before, after) if side.size is not None]
    whole = half_l1_sampled(
        before.shares, after.shares, np.hypot(before.errors, after.errors), sizes
    )
    yield Figure("half L1", whole.value, UNIT, sample=whole.sample)


def _mean(each: Sequence[Frequencies]) -> Frequencies:
    """Return mean shares; of several samples no interval is known, and the errors are NaN."""
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
    degrees = graph.degrees()
    stars = int((degrees * (degrees - 1) * (degrees - 2)).sum()) // 6
    paths = _Paths.of(graph)
    drawn = (
        None if paths.number <= GRAPHLET_PATHS else rng.integers(0, paths.number, GRAPHLET_PATHS)
    )
    which = paths.graphlets(np.arange(paths.number) if drawn is None else drawn)
    counts = np.bincount(which, minlength=len(NAMES))
    if drawn is None:
        numbers = _counted() @ counts[:5] + np.append(np.zeros(5), stars)
        if not numbers.sum():
            return None
        shares = numbers / numbers.sum()
        return Frequencies(shares, shares, shares, np.zeros(6), None)
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
    """Return the middle of the interval of a share, and the deviation of the share."""
    size = counts.sum() + 2 * ADDED
    added = counts + _added(graphlet, counts)
    chances = added / added.sum()
    shares, graphlets = _shares(chances, paths, stars)
    of_draw = paths * np.hstack([_counted(), np.zeros((len(NAMES), 1))])
    pull = (of_draw[graphlet] - shares[graphlet] * of_draw.sum(axis=0)) / graphlets
    return shares[graphlet], np.sqrt(max(pull**2 @ chances - (pull @ chances) ** 2, 0.0) / size)


def _counted() -> Floats:
    """Return what a 3-path in each graphlet adds to the count of each; stars in the last row."""
    paths = np.array(_PATHS_IN)
    return np.vstack([np.diag(1 / paths), -np.array(_STARS_IN) / paths])


def _added(graphlet: int, counts: Ints) -> Floats:
    """Return two draws of this graphlet and two of the others; none of stars, which no path is."""
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
    """The 3-paths of a graph by number: all of the first edge, then all of the next."""

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
        """Return the graphlet that each of these is in; the last number for a triangle."""
        edge = np.searchsorted(self.ends, paths, side="right")
        u, v = self.edges[edge].T.astype(np.int64)
        within = paths - np.concatenate([[0], self.ends])[edge]
        choices = np.diff(self.graph.indptr)[v] - 1
        a = self._other(u, v, within // np.maximum(choices, 1))
        b = self._other(v, u, within % np.maximum(choices, 1))
        across = self._joined(a, b)
        extra = self._joined(a, v).astype(np.int64) + self._joined(u, b) + across
        graphlets = np.where(
            (extra == 1) & across, NAMES.index("cycle"), np.array(_NAMES_OF_EXTRA)[extra]
        )
        return np.where(a == b, NAMES.index("star"), graphlets)

    def _other(self, node: Ints, but: Ints, number: Ints) -> Ints:
        """Return the neighbor of this number of each node, one neighbor omitted."""
        at = self._position(node, but)
        start = self.graph.indptr[node]
        ends = self.graph.indices[start + number + (start + number >= at)]
        return np.asarray(ends, dtype=np.int64)

    def _joined(self, one: Ints, other: Ints) -> Bools:
        at = np.minimum(self._position(one, other), self.keys.size - 1)
        return np.asarray(self.keys[at] == one * self.graph.n_nodes + other)

    def _position(self, one: Ints, other: Ints) -> Ints:
        return np.asarray(np.searchsorted(self.keys, one * self.graph.n_nodes + other))
