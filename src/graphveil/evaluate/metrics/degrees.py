"""Metrics of degrees: mean, largest, variance, distribution, power law and assortativity.

All take O(n + m) time but the power law, which fits every distinct degree as the least one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import (
    Figure,
    Figures,
    before_and_after,
    compared,
)


def mean_degree(pair: GraphComparison) -> Figures:
    """Yield the mean degree, isolated nodes included, before and after. Top-m Filter, S_AD."""
    return compared(pair, lambda g: float(g.degrees().mean()) if g.n_nodes else None, "edges")


def largest_degree(pair: GraphComparison) -> Figures:
    """Yield the largest degree, before and after. Top-m Filter, S_MD."""
    return compared(pair, lambda g: float(g.degrees().max()) if g.n_nodes else None, "edges")


def degree_variance(pair: GraphComparison) -> Figures:
    """Yield the population variance of degrees, before and after. Top-m Filter, S_DV."""
    return compared(pair, lambda g: float(g.degrees().var()) if g.n_nodes else None, "edges^2")


def power_law(pair: GraphComparison) -> Figures:
    """Yield the exponent of the power law that fits the degrees best, before and after.

    Above 1. Top-m Filter, S_PL; the fit is described in `exponent`.
    """
    return compared(pair, lambda graph: exponent(graph.degrees()), "exponent")


def exponent(degrees: Ints) -> float | None:
    """Return the exponent of the power law that fits degrees above 0 best; None without a fit.

    The least degree xmin at which the law begins is chosen as in Clauset, Shalizi and Newman 2009:
    for every distinct degree as xmin, the maximum-likelihood exponent of the continuous law is 1 +
    k / sum ln(x / xmin) over the k degrees from xmin on; the xmin of the least Kolmogorov-Smirnov
    distance is taken. O(n d) for d distinct degrees.
    """
    # Every distinct degree but the largest may be xmin: above the largest nothing is left to fit.
    ordered = np.sort(degrees[degrees > 0])
    starts = np.flatnonzero(np.diff(ordered, prepend=0))
    best: tuple[float, float] | None = None
    for start in starts[:-1].tolist():
        # Maximum likelihood of the exponent for this xmin.
        values = ordered[start:] / ordered[start]
        alpha = 1 + values.size / float(np.log(values).sum())
        # Kolmogorov-Smirnov distance, on both sides of every step of the empirical distribution.
        law = 1 - values ** (1 - alpha)
        steps = np.arange(values.size + 1) / values.size
        distance = float(max(np.abs(law - steps[:-1]).max(), np.abs(law - steps[1:]).max()))
        if best is None or distance < best[0]:
            best = distance, alpha
    return None if best is None else best[1]


def degree_distribution(pair: GraphComparison) -> Figures:
    """Yield two distances between the degree distributions, each from 0 (equal) to 1.

    Half the L1 distance is the least share of nodes whose degree differs from before in any
    matching of the nodes; the Kolmogorov-Smirnov distance is the largest difference of the
    cumulative shares. Source: Top-m Filter, S_DD (half L1).
    """
    yield from mean_degree_distribution([pair])


def mean_degree_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same for the mean distribution of several releases of equally many nodes."""
    # With equally many nodes each, the mean of distributions is that of all degrees together.
    before = pairs[0].original.degrees()
    after = np.concatenate([pair.released.degrees() for pair in pairs])
    yield Figure("half L1", half_l1(before, after), "share of nodes")
    yield Figure("Kolmogorov-Smirnov", kolmogorov_smirnov(before, after), "share of nodes")


def half_l1(before: Ints, after: Ints) -> float:
    """Return half the sum of absolute differences of two distributions of numbers >= 0.

    `before`, `after`: int64, one number per node; they may have different lengths.

    >>> half_l1(np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2]))
    0.25
    """
    return float(np.abs(_differences(before, after)).sum() / 2)


def kolmogorov_smirnov(before: Ints, after: Ints) -> float:
    """Return the largest difference of the cumulative distributions of numbers >= 0.

    >>> kolmogorov_smirnov(np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2]))
    0.25
    """
    return float(np.abs(np.cumsum(_differences(before, after))).max(initial=0.0))


def _differences(before: Ints, after: Ints) -> Floats:
    """Return for every number from 0 on the share of it before less that after."""
    top = int(max(before.max(initial=0), after.max(initial=0))) + 1
    one, other = (np.bincount(v, minlength=top) / max(v.size, 1) for v in (before, after))
    return np.asarray(one - other)


def assortativity(pair: GraphComparison) -> Figures:
    """Yield the correlation of the degrees at both ends of an edge, before and after.

    From -1 to 1; undefined if all ends have one degree. Newman 2002.
    """
    before, after = map(degree_assortativity, (pair.original, pair.released))
    if before is not None and after is not None:
        yield from before_and_after(before, after, "correlation")


def degree_assortativity(graph: Graph) -> float | None:
    """Return the correlation of the degrees at the ends of an edge; None if all are equal."""
    edges, degrees = graph.edges(), graph.degrees()
    # Both directions of every edge: the two ends then have one mean and one variance.
    ends = degrees[np.concatenate([edges[:, 0], edges[:, 1]])]
    if ends.size == 0 or ends.min() == ends.max():
        return None
    # The covariance counts each edge twice, as the variance does.
    mean = ends.mean()
    left, right = degrees[edges[:, 0]] - mean, degrees[edges[:, 1]] - mean
    return float(2 * np.dot(left, right) / np.square(ends - mean).sum())
