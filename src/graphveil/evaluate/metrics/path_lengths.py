"""Metrics of distances: mean, harmonic mean, effective diameter, diameter and distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.comparison import (
    Floats,
    GraphComparison,
    Ints,
    special,
)
from graphveil.evaluate.distances import Distances
from graphveil.evaluate.metric import (
    Estimate,
    Figure,
    Figures,
    Sample,
    estimates_compared,
    half_l1_sampled,
)

OFF = 0.05
"""How often an interval may miss."""


def average_of(found: Distances, n: int) -> Estimate:
    """Return the mean distance of pairs, with its interval where sources were sampled.

    Sampled: sources are drawn without replacement, in groups of 64. The ratio of all distances to
    all pairs is the estimate, the scatter of the groups about it gives the interval (random groups,
    Student's t).
    """
    depths = np.arange(found.counts.shape[1])
    return ratio(found.counts @ depths, found.counts.sum(axis=1), found.sources, n)


def ratio(above: NDArray[Any], below: NDArray[Any], sources: int | None, n: int) -> Estimate:
    """Return the ratio of two sums over groups of sources, with its interval."""
    value = float(above.sum() / below.sum())
    if sources is None:
        return Estimate(value)
    width = float(_half_width(above - value * below, below, sources / n, off=OFF))
    return Estimate(value, Sample(sources, max(value - width, 0.0), value + width))


def _half_width(apart: Floats, below: NDArray[Any], share: float, *, off: float) -> Floats:
    """Return half the interval of ratios from how far each group is off, shape (groups, ...)."""
    groups = below.size
    scatter = np.square(apart).sum(axis=0) * groups / (groups - 1)
    deviation = np.sqrt(scatter * (1 - share)) / below.sum()
    return np.asarray(special.stdtrit(groups - 1, 1 - off / 2) * deviation)


def shortest_path(pair: GraphComparison) -> Figures:
    """Yield the mean distance before and after, sampled or not; nothing where no pair is joined."""
    return _compared(pair, average_of)


def _compared(pair: GraphComparison, statistic: Callable[[Distances, int], Estimate]) -> Figures:
    """Yield a statistic of distances before and after; nothing where no pair is joined."""
    if all(found.pairs.any() for found in pair.distances):
        before, after = (statistic(found, pair.original.n_nodes) for found in pair.distances)
        yield from estimates_compared(before, after, "edges")


def characteristic_length(pair: GraphComparison) -> Figures:
    """Yield the harmonic mean of distances, before and after; nothing where no pair is joined."""
    return _compared(pair, harmonic_of)


def harmonic_of(found: Distances, n: int) -> Estimate:
    """Return pairs over the sum of inverse distances."""
    inverse = 1 / np.maximum(np.arange(found.counts.shape[1]), 1)
    return ratio(found.counts.sum(axis=1), found.counts @ inverse, found.sources, n)


def effective_diameter(pair: GraphComparison) -> Figures:
    """Yield the least distance within which 90% of joined pairs are, before and after."""
    return _compared(pair, within_90_percent)


def within_90_percent(found: Distances, n: int) -> Estimate:
    """Return the least whole distance within which 90% of the pairs are.

    Sampled: its interval holds the distances at which that share may be reached, going by the
    interval of the share within each distance (Woodruff 1952).
    """
    within = np.cumsum(found.pairs)
    value = float(np.argmax(10 * within >= 9 * within[-1]))
    if found.sources is None:
        return Estimate(value)
    shares = within / within[-1]
    of_groups = np.cumsum(found.counts, axis=1)
    below = of_groups[:, -1]
    width = _half_width(of_groups - below[:, None] * shares, below, found.sources / n, off=OFF)
    low, high = (float(np.argmax(shares + side >= 0.9)) for side in (width, -width))
    return Estimate(value, Sample(found.sources, min(low, value), max(high, value)))


def diameter(pair: GraphComparison) -> Figures:
    """Yield the largest distance, before and after: a lower bound where sources are sampled."""
    return _compared(pair, largest)


def largest(found: Distances, _n: int) -> Estimate:
    """Return the largest distance; that from the sources drawn is a bound, without an interval."""
    value = float(np.flatnonzero(found.pairs)[-1])
    return Estimate(value, None if found.sources is None else Sample(found.sources))


def distance_distribution(pair: GraphComparison) -> Figures:
    """Yield half the L1 distance of the distributions of distances; nothing without pairs."""
    if not all(found.pairs.any() for found in pair.distances):
        return
    n, sources = pair.original.n_nodes, pair.distances[0].sources
    if sources is None:
        yield from mean_distance_distribution([pair])
        return
    size = max(found.pairs.size for found in pair.distances)
    before, after = (_shares(found.pairs, size) for found in pair.distances)
    off = OFF / int(np.count_nonzero(before + after))
    errors = np.hypot(*(_errors(found, size, n, off) for found in pair.distances))
    apart = half_l1_sampled(before, after, errors, [sources])
    yield Figure("half L1", apart.value, "share of pairs", sample=apart.sample)


def _errors(found: Distances, size: int, n: int, off: float) -> Floats:
    """Return half the interval of the share of each distance, which misses so often."""
    below = found.counts.sum(axis=1)
    apart = found.counts - below[:, None] * (found.pairs / found.pairs.sum())
    width = _half_width(apart, below, (found.sources or n) / n, off=off)
    return np.pad(width, (0, size - width.size))


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


def _shares(pairs: Ints, size: int) -> Floats:
    """Return the shares of all pairs by distance, up to the largest of `size` distances."""
    return np.pad(pairs / pairs.sum(), (0, size - pairs.size))
