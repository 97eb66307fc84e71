"""Metrics of path lengths: mean, harmonic mean, effective diameter, diameter, and distribution.

All of them read one count of pairs by distance (`graphveil.evaluate.distances`), in which only
pairs that a path joins appear. Up to `EXACT_UP_TO_NODES` nodes every node is a source, which takes
O(n m) steps, 64 sources to a machine word. Above, 1,024 sources are sampled without replacement,
and the figures carry a 95% interval from the scatter of the groups of 64 sources (random groups).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.evaluate.comparison import GraphComparison, special
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
"""How often an interval may miss: 1 minus its coverage of 95%."""


def average_of(found: Distances, n: int) -> Estimate:
    """Return the mean distance of pairs, with its interval if sources were sampled.

    Sampled sources are drawn without replacement, in groups of 64. The estimate is the ratio of all
    distances to all pairs. The scatter of the groups about it gives the interval (random groups,
    Student's t).
    """
    depths = np.arange(found.counts.shape[1])
    # A row of counts is a group of sources, so both sums are one number per group.
    return ratio(found.counts @ depths, found.counts.sum(axis=1), found.sources, n)


def ratio(above: NDArray[Any], below: NDArray[Any], sources: int | None, n: int) -> Estimate:
    """Return the ratio of two sums over groups of sources, with its interval.

    `above`, `below`: one number per group, shape (groups,); `sources`: how many were sampled, None
    if all n nodes are sources and the ratio is exact.
    """
    value = float(above.sum() / below.sum())
    if sources is None:
        return Estimate(value)
    # Linearization: a group is off by what its numerator exceeds the ratio of its denominator.
    width = float(_half_width(above - value * below, below, sources / n, off=OFF))
    return Estimate(value, Sample(sources, max(value - width, 0.0), value + width))


def _half_width(apart: Floats, below: NDArray[Any], share: float, *, off: float) -> Floats:
    """Return half the width of the interval of ratios, from how far each group is off.

    `apart`: shape (groups, ...): the numerator of each group less the ratio times its denominator;
    `below`: shape (groups,): the denominators; `share`: the share of nodes that are sources; `off`:
    how often the interval may miss.
    """
    groups = below.size
    # The variance of the sum over groups, from the scatter among them.
    scatter = np.square(apart).sum(axis=0) * groups / (groups - 1)
    # Sources are drawn without replacement: the finite population correction is 1 - share.
    deviation = np.sqrt(scatter * (1 - share)) / below.sum()
    # Few groups: Student's t, with as many degrees of freedom as groups less one.
    return np.asarray(special.stdtrit(groups - 1, 1 - off / 2) * deviation)


def shortest_path(pair: GraphComparison) -> Figures:
    """Yield the mean distance over connected pairs, before and after; nothing without such pairs.

    At least 1. Sources, intervals and cost: see the module. De Jong et al., The anonymization
    problem in social networks; Top-m Filter, S_APD.
    """
    return _compared(pair, average_of)


def _compared(pair: GraphComparison, statistic: Callable[[Distances, int], Estimate]) -> Figures:
    """Yield a statistic of distances before and after; nothing if a side has no connected pair."""
    if all(found.pairs.any() for found in pair.distances):
        before, after = (statistic(found, pair.original.n_nodes) for found in pair.distances)
        yield from estimates_compared(before, after, "edges")


def characteristic_length(pair: GraphComparison) -> Figures:
    """Yield the harmonic mean of distances over connected pairs, before and after.

    At least 1. Unlike the mean, it weighs near pairs most. Top-m Filter, S_CL.
    """
    return _compared(pair, harmonic_of)


def harmonic_of(found: Distances, n: int) -> Estimate:
    """Return the number of pairs over the sum of their inverse distances."""
    # Column 0 counts no pair, so the 1 in its place does not matter.
    inverse = 1 / np.maximum(np.arange(found.counts.shape[1]), 1)
    return ratio(found.counts.sum(axis=1), found.counts @ inverse, found.sources, n)


def effective_diameter(pair: GraphComparison) -> Figures:
    """Yield the least whole distance that covers 90% of connected pairs, before and after.

    A whole number of at least 1, without interpolation. Top-m Filter, S_EDiam.
    """
    return _compared(pair, within_90_percent)


def within_90_percent(found: Distances, n: int) -> Estimate:
    """Return the least whole distance within which 90% of the pairs are.

    Sampled: its interval holds the distances at which that share may be reached, going by the
    interval of the share within each distance (Woodruff 1952).
    """
    # Step 1: the pairs within each distance; integers, so that 90% is compared exactly.
    within = np.cumsum(found.pairs)
    value = float(np.argmax(10 * within >= 9 * within[-1]))
    if found.sources is None:
        return Estimate(value)
    # Step 2: for each distance, the interval of the share of pairs within it, from the groups.
    shares = within / within[-1]
    of_groups = np.cumsum(found.counts, axis=1)
    below = of_groups[:, -1]
    width = _half_width(of_groups - below[:, None] * shares, below, found.sources / n, off=OFF)
    # Step 3: the distances at which the ends of these intervals reach 90% bound the quantile.
    low, high = (float(np.argmax(shares + side >= 0.9)) for side in (width, -width))
    return Estimate(value, Sample(found.sources, min(low, value), max(high, value)))


def diameter(pair: GraphComparison) -> Figures:
    """Yield the largest distance between connected nodes, before and after.

    At least 1. If sources are sampled, it is a lower bound of the diameter. Top-m Filter, S_Diam.
    """
    return _compared(pair, largest)


def largest(found: Distances, _n: int) -> Estimate:
    """Return the largest distance; from sampled sources a lower bound, without an interval."""
    value = float(np.flatnonzero(found.pairs)[-1])
    return Estimate(value, None if found.sources is None else Sample(found.sources))


def distance_distribution(pair: GraphComparison) -> Figures:
    """Yield half the L1 distance of the distributions of distances over connected pairs.

    From 0 (equal distributions) to 1 (no distance in common); nothing if a side has no connected
    pair. If sources are sampled, each share has an interval that misses with probability 5% divided
    by the number of distances (Bonferroni), so that all hold together. Top-m Filter, S_PDD.
    """
    if not all(found.pairs.any() for found in pair.distances):
        return
    n, sources = pair.original.n_nodes, pair.distances[0].sources
    # Exact: the distributions themselves, as for one release of several.
    if sources is None:
        yield from mean_distance_distribution([pair])
        return
    # Sampled: the errors of both sides of each share add up as independent ones do.
    size = max(found.pairs.size for found in pair.distances)
    before, after = (_shares(found.pairs, size) for found in pair.distances)
    off = OFF / int(np.count_nonzero(before + after))
    errors = np.hypot(*(_errors(found, size, n, off) for found in pair.distances))
    apart = half_l1_sampled(before, after, errors, [sources])
    yield Figure("half L1", apart.value, "share of pairs", sample=apart.sample)


def _errors(found: Distances, size: int, n: int, off: float) -> Floats:
    """Return half the interval of the share of each distance.

    `size`: the length to pad to; `n`: the number of nodes; `off`: how often each interval misses.
    """
    below = found.counts.sum(axis=1)
    apart = found.counts - below[:, None] * (found.pairs / found.pairs.sum())
    width = _half_width(apart, below, (found.sources or n) / n, off=off)
    return np.pad(width, (0, size - width.size))


def mean_distance_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same for the mean distribution of several releases, if all have pairs.

    Distributions are averaged before they are compared: deviations that cancel over releases are
    not an error of the method.
    """
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
