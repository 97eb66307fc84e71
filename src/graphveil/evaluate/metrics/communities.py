"""Communities by Leiden, their modularity, and how frequent graphlets of four nodes are.

Graphlets are estimated from 3-paths: an edge with a further edge at either end. Every connected
graph of four nodes but the star has some, so evenly drawn 3-paths tell how many there are of each;
the stars follow from the degrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from graphveil.core.lazy import lazy_module
from graphveil.data import Graph
from graphveil.evaluate.comparison import (
    Bools,
    Floats,
    GraphComparison,
    Int32s,
    Ints,
    csgraph,
    sparse,
)
from graphveil.evaluate.metric import (
    Estimate,
    Figure,
    Figures,
    NotMeasuredError,
    Sample,
    Z,
    difference,
    estimates_compared,
    half_l1_sampled,
    of_one,
)
from graphveil.evaluate.metrics.graph_entries import COMMUNITY_RUNS, GRAPHLET_PATHS, MODULARITY_RUNS

if TYPE_CHECKING:
    import graspologic_native
else:
    graspologic_native = lazy_module("graspologic_native")

ITERATIONS = 10
"""Rounds of one Leiden run."""

RANDOMNESS = 0.01
"""How freely a round may refine communities: above 0, where only the best move is made."""

MOST_SWEEPS = 1_000
"""After so many passes over all nodes a round stops moving them: each run ends, come what may."""

THRESHOLD = 0.5
"""Edges whose ends are together in a smaller share of the runs are dropped."""

MOST_ROUNDS = 20

Partition: TypeAlias = "Ints"
"""The community of every node, shape (n,)."""


def agreement(pair: GraphComparison) -> Figures:
    """Yield how far the communities agree, and how far two searches of the original do."""
    before, again, after = (
        consensus_communities(graph, pair.randomness.stream(f"communities: {purpose}"))
        for graph, purpose in (
            (pair.original, "original"),
            (pair.original, "original again"),
            (pair.aligned, "released"),
        )
    )
    sample = Sample(COMMUNITY_RUNS)
    released, own = (normalized_mutual_information(before, other) for other in (after, again))
    yield Figure("released against original", released, "NMI", sample=sample)
    yield Figure("original against itself", own, "NMI", judged=False, sample=sample)


def consensus_communities(graph: Graph, rng: np.random.Generator) -> Partition:
    """Return communities that ten runs of the Leiden algorithm agree on.

    Lancichinetti and Fortunato 2012, on the edges of the graph alone so that nothing of n x n is
    formed: ten runs (modularity, Traag et al. 2019); an edge's weight becomes the number of runs in
    which its ends are together; edges below half of them are dropped unless no edge of one of their
    ends is heavier; again, until the runs agree on every edge left. The threshold is ours, the
    paper names none. Weights are whole numbers: with shares, a search may go back and forth
    between two moves whose gains differ by rounding.
    """
    edges = graph.edges()
    weights = np.ones(graph.n_edges)
    for _ in range(MOST_ROUNDS if graph.n_edges else 0):
        weights = _together(to_weighted(edges, weights, graph.n_nodes), edges, rng)
        heaviest = np.zeros(graph.n_nodes)
        np.maximum.at(heaviest, edges, weights[:, None])
        heavy = weights >= np.minimum(THRESHOLD * COMMUNITY_RUNS, heaviest[edges].min(axis=1))
        heavy &= weights > 0
        edges, weights = edges[heavy], weights[heavy]
        if np.all(weights == COMMUNITY_RUNS):
            break
    shape = (graph.n_nodes, graph.n_nodes)
    joined = sparse.coo_array((np.ones(len(edges)), edges.T), shape=shape)
    return np.asarray(csgraph.connected_components(joined, directed=False)[1], dtype=np.int64)


def _together(matrix: sparse.csr_array, edges: Int32s, rng: np.random.Generator) -> Floats:
    """Return the number of runs in which the ends of every edge are in one community."""
    times = np.zeros(len(edges))
    for _ in range(COMMUNITY_RUNS):
        community = leiden(matrix, rng).community
        times += community[edges[:, 0]] == community[edges[:, 1]]
    return times


def to_weighted(edges: Int32s, weights: Floats, n: int) -> sparse.csr_array:
    """Return the weights of edges, shape (m, 2), as a symmetric matrix of n nodes.

    >>> to_weighted(np.array([[0, 1]], dtype=np.int32), np.array([0.5]), 2).toarray().tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    ends = np.concatenate([edges, edges[:, ::-1]]).T
    return sparse.csr_array((np.concatenate([weights, weights]), tuple(ends)), shape=(n, n))


class Communities(NamedTuple):
    """What a run of the Leiden algorithm found: communities and their modularity."""

    community: Partition
    modularity: float


def leiden(matrix: sparse.csr_array, rng: np.random.Generator) -> Communities:
    """Return the communities that one run finds; nodes without edges have one each.

    >>> pairs = to_weighted(np.array([[0, 1], [2, 3]], dtype=np.int32), np.ones(2), 4)
    >>> leiden(pairs, np.random.Generator(np.random.PCG64DXSM(1))).modularity
    0.5
    """
    n = matrix.shape[0]
    modularity, found = graspologic_native.leiden_csr(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data,
        n,
        iterations=ITERATIONS,
        randomness=RANDOMNESS,
        seed=int(rng.integers(2**31)),
        max_local_moving_iterations=MOST_SWEEPS,
    )
    return Communities(np.array([found[node] for node in range(n)]), modularity)


def normalized_mutual_information(left: Partition, right: Partition) -> float:
    """Return the mutual information of two partitions over the mean of their entropies.

    Danon et al. 2005; 1 where neither divides anything, and 0 where only one of them does.
    """
    left, right = (np.unique(labels, return_inverse=True)[1] for labels in (left, right))
    both = _entropy(left * (right.max(initial=0) + 1) + right)
    entropies = _entropy(left) + _entropy(right)
    if entropies == 0:
        return 1.0
    return float(np.clip(2 * (entropies - both) / entropies, 0.0, 1.0))


def _entropy(labels: Partition) -> float:
    sizes = np.unique(labels, return_counts=True)[1]
    shares = sizes / max(labels.size, 1)
    return float(-np.dot(shares, np.log(shares)))


def of_own_communities(pair: GraphComparison) -> Figures:
    """Yield the modularity of each graph's own communities; nothing where one has no edges."""
    if pair.original.n_edges and pair.released.n_edges:
        before, after = (
            median_run(modularities(graph, pair.randomness.stream(f"modularity: {purpose}")))
            for graph, purpose in ((pair.original, "original"), (pair.released, "released"))
        )
        yield from estimates_compared(before, after, "modularity")


def modularities(graph: Graph, rng: np.random.Generator, runs: int = MODULARITY_RUNS) -> Floats:
    """Return the modularity of the communities that each run of the Leiden algorithm finds."""
    matrix = graph.to_scipy().astype(np.float64)
    return np.array([leiden(matrix, rng).modularity for _ in range(runs)])


def median_run(values: Floats) -> Estimate:
    """Return the median of ten runs, between the second-lowest and the second-highest.

    Both hold the median of all runs between them in at least 97.8% of cases, whatever the
    distribution of runs is: at most one of ten falls below it, or above, in 1.1% each.
    """
    ordered = np.sort(values)
    sample = Sample(values.size, float(ordered[1]), float(ordered[-2]))
    return Estimate(float(np.median(ordered)), sample)


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
