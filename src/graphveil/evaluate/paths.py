"""Average length of shortest paths: breadth-first search from 64 sources at a time."""

from __future__ import annotations

from itertools import count
from math import hypot, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import Figure, Figures, Sample
from graphveil.evaluate.toolkit import to_networkit
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import networkit
    from scipy import special
else:
    networkit = lazy_module("networkit")
    special = lazy_module("scipy.special")

EXACT_UP_TO_NODES = 20_000
SAMPLED_SOURCES = 1_024
TOGETHER = 64
"""Sources of one search: one bit of a word each."""

DEEP = 500
"""Where searches go deeper than this, levels hold few nodes, and single searches are quicker."""

SINGLE = 8
"""Sources whose distances are in memory at once in single searches."""


class Reached(NamedTuple):
    """What groups of sources reach: pairs of a source and another node, and their distances."""

    pairs: NDArray[np.int64]
    total: NDArray[np.int64]


class Average(NamedTuple):
    """An average distance; where it is sampled, from how many sources, and half its interval."""

    value: float
    sources: int | None = None
    half_width: float = 0.0


def average_distance(
    graph: Graph,
    rng: np.random.Generator,
    *,
    exact_up_to: int = EXACT_UP_TO_NODES,
    n_sources: int = SAMPLED_SOURCES,
) -> Average:
    """Return the mean distance of all pairs of nodes that a path joins; 0 where there are none.

    Parameters
    ----------
    graph
        A graph, connected or not.
    rng
        Draws the sources where they are sampled.
    exact_up_to
        The most nodes whose distances are all counted.
    n_sources
        How many sources are drawn above that: more than 64, and no more than there are nodes.

    Notes
    -----
    Sampled: sources are drawn without replacement, in groups of 64. The ratio of all distances to
    all pairs is the estimate, the scatter of the groups about it gives the interval (random groups,
    Student's t).

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=4)
    >>> average_distance(path, np.random.Generator(np.random.PCG64DXSM(1))).value
    1.3333333333333333
    """
    n = graph.n_nodes
    if n <= exact_up_to:
        pairs, total = reached(graph, np.arange(n))
        return Average(float(total.sum() / max(pairs.sum(), 1)))
    sources = rng.choice(n, n_sources, replace=False)
    pairs, total = reached(graph, sources)
    if not pairs.any():
        return Average(0.0, n_sources)
    value = total.sum() / pairs.sum()
    groups = pairs.size
    scatter = np.square(total - value * pairs).sum() * groups / (groups - 1)
    deviation = sqrt(scatter * (1 - n_sources / n)) / pairs.sum()
    width = float(special.stdtrit(groups - 1, 0.975) * deviation)
    return Average(float(value), n_sources, width)


def reached(graph: Graph, sources: NDArray[np.int64]) -> Reached:
    """Return pairs and distances from these distinct sources, summed over groups of 64."""
    groups: list[tuple[int, int]] = []
    converted: Any = None
    for start in range(0, sources.size, TOGETHER):
        group = sources[start : start + TOGETHER]
        at_once = _at_once(graph, group) if converted is None else None
        if at_once is None:
            converted = converted or to_networkit(graph)
            at_once = _one_by_one(converted, group)
        groups.append(at_once)
    pairs, total = np.array(groups, dtype=np.int64).reshape(-1, 2).T
    return Reached(pairs, total)


def _at_once(graph: Graph, sources: NDArray[np.int64]) -> tuple[int, int] | None:
    """Return pairs and distances from at most 64 sources, or None where searches go deep."""
    joined = np.flatnonzero(graph.degrees())
    if joined.size == 0:
        return 0, 0
    starts = graph.indptr[joined]
    seen = np.zeros(graph.n_nodes, dtype=np.uint64)
    seen[sources] = np.left_shift(np.uint64(1), np.arange(sources.size, dtype=np.uint64))
    front = seen.copy()
    pairs = total = 0
    for depth in count(1):
        following = np.zeros_like(seen)
        following[joined] = np.bitwise_or.reduceat(front[graph.indices], starts)
        following &= ~seen
        new = int(np.bitwise_count(following).sum())
        if new == 0:
            break
        if depth > DEEP:
            return None
        pairs, total = pairs + new, total + new * depth
        seen |= following
        front = following
    return pairs, total


def _one_by_one(graph: Any, sources: NDArray[np.int64]) -> tuple[int, int]:
    pairs = total = 0
    for start in range(0, sources.size, SINGLE):
        some = sources[start : start + SINGLE].tolist()
        distances = np.asarray(networkit.distance.SPSP(graph, some).run().getDistances())
        joined = distances[distances < graph.numberOfNodes()]
        pairs += joined.size - len(some)
        total += int(joined.sum())
    return pairs, total


def shortest_path(pair: GraphComparison) -> Figures:
    """Yield the average distance before and after, with intervals where it is sampled."""
    rng = pair.randomness.stream("shortest paths")
    before, after = (average_distance(graph, rng) for graph in (pair.original, pair.released))
    apart = Average(
        abs(after.value - before.value),
        before.sources,
        hypot(before.half_width, after.half_width),
    )
    for part, average in (
        ("original", before),
        ("released", after),
        ("absolute difference", apart),
    ):
        sample = None
        if average.sources is not None:
            low, high = average.value - average.half_width, average.value + average.half_width
            sample = Sample(average.sources, max(low, 0.0), high)
        yield Figure(part, average.value, "edges", judged=average is apart, sample=sample)
