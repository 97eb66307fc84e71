"""Average length of shortest paths, and what else follows from distances: one search for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import hypot, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import Figure, Figures, Sample, relative_error
from graphveil.evaluate.searches import Distances
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import special
else:
    special = lazy_module("scipy.special")


class Average(NamedTuple):
    """An average distance; where it is sampled, from how many sources, and half its interval."""

    value: float
    sources: int | None = None
    half_width: float | None = 0.0


def average_of(found: Distances, n: int) -> Average:
    """Return the mean distance of pairs, with its interval where sources were sampled.

    Parameters
    ----------
    found
        The distances that searches counted.
    n
        The number of nodes.

    Notes
    -----
    Sampled: sources are drawn without replacement, in groups of 64. The ratio of all distances to
    all pairs is the estimate, the scatter of the groups about it gives the interval (random groups,
    Student's t).

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> from graphveil.evaluate.searches import distances
    >>> path = Graph.from_edges([0, 1], [1, 2], n=4)
    >>> average_of(distances(path, np.random.Generator(np.random.PCG64DXSM(1))), 4).value
    1.3333333333333333
    """
    depths = np.arange(found.counts.shape[1])
    return ratio(found.counts @ depths, found.counts.sum(axis=1), found.sources, n)


def ratio(above: NDArray[Any], below: NDArray[Any], sources: int | None, n: int) -> Average:
    """Return the ratio of two sums over groups of sources, with half its interval.

    Parameters
    ----------
    above, below
        The parts of both sums, a group each; not all of `below` are 0.
    sources, n
        How many sources were drawn, and of how many nodes; None where every node is one.
    """
    value = float(above.sum() / below.sum())
    if sources is None:
        return Average(value)
    groups = below.size
    scatter = np.square(above - value * below).sum() * groups / (groups - 1)
    deviation = sqrt(scatter * (1 - sources / n)) / below.sum()
    width = float(special.stdtrit(groups - 1, 0.975) * deviation)
    return Average(value, sources, width)


def shortest_path(pair: GraphComparison) -> Figures:
    """Yield the mean distance before and after, sampled or not; nothing where no pair is joined."""
    if all(found.pairs.any() for found in pair.distances):
        n = pair.original.n_nodes
        before, after = (average_of(found, n) for found in pair.distances)
        yield from compared(before, after, "edges")


def compared(before: Average, after: Average, unit: str) -> Figures:
    """Yield both averages and how far they are apart, with intervals where they are sampled."""
    apart = Average(
        abs(after.value - before.value),
        before.sources,
        None
        if before.half_width is None or after.half_width is None
        else hypot(before.half_width, after.half_width),
    )
    for part, average in (
        ("original", before),
        ("released", after),
        ("absolute difference", apart),
    ):
        sample = None
        if average.sources is not None:
            sample = _sample(average.sources, average)
        yield Figure(part, average.value, unit, judged=average is apart, sample=sample)
    sample = None if before.sources is None else Sample(before.sources)
    yield from relative_error(before.value, after.value, sample=sample)


def _sample(sources: int, average: Average) -> Sample:
    if average.half_width is None:
        return Sample(sources)
    low, high = average.value - average.half_width, average.value + average.half_width
    return Sample(sources, max(low, 0.0), high)


def characteristic_length(pair: GraphComparison) -> Figures:
    """Yield the harmonic mean of distances, before and after; nothing where no pair is joined."""
    if all(found.pairs.any() for found in pair.distances):
        n = pair.original.n_nodes
        before, after = (harmonic_of(found, n) for found in pair.distances)
        yield from compared(before, after, "edges")


def harmonic_of(found: Distances, n: int) -> Average:
    """Return pairs over the sum of inverse distances."""
    inverse = 1 / np.maximum(np.arange(found.counts.shape[1]), 1)
    return ratio(found.counts.sum(axis=1), found.counts @ inverse, found.sources, n)


def effective_diameter(pair: GraphComparison) -> Figures:
    """Yield the least distance within which 90 % of joined pairs are, before and after."""
    return _of_pairs(pair, within_90_percent)


def diameter(pair: GraphComparison) -> Figures:
    """Yield the largest distance, before and after: a lower bound where sources are sampled."""
    return _of_pairs(pair, lambda pairs: pairs.size - 1)


def within_90_percent(pairs: NDArray[np.int64]) -> int:
    """Return the least whole distance within which 90 % of these pairs are.

    Examples
    --------
    >>> within_90_percent(np.array([0, 8, 1, 1])), within_90_percent(np.array([0, 9, 1]))
    (2, 1)
    """
    return int(np.argmax(10 * np.cumsum(pairs) >= 9 * pairs.sum()))


def _of_pairs(pair: GraphComparison, statistic: Callable[[NDArray[np.int64]], int]) -> Figures:
    if all(found.pairs.any() for found in pair.distances):
        before, after = (
            Average(float(statistic(np.trim_zeros(found.pairs, "b"))), found.sources, None)
            for found in pair.distances
        )
        yield from compared(before, after, "edges")


def distance_distribution(pair: GraphComparison) -> Figures:
    """Yield half the L1 distance of the distributions of distances; nothing without pairs."""
    return mean_distance_distribution([pair])


def mean_distance_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same of the mean distribution of several releases; nothing where one has none."""
    found = [pair.distances for pair in pairs]
    if not all(each.pairs.any() for both in found for each in both):
        return
    size = max(each.pairs.size for both in found for each in both)
    shares = [[_shares(each.pairs, size) for each in both] for both in found]
    before, after = np.mean(shares, axis=0)
    sources = found[0][0].sources
    sample = None if sources is None else Sample(sources)
    value = float(np.abs(before - after).sum() / 2)
    yield Figure("half L1", value, "share of pairs", sample=sample)


def _shares(pairs: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """Return the shares of all pairs by distance, up to the largest of `size` distances."""
    return np.pad(pairs / pairs.sum(), (0, size - pairs.size))
