"""Metrics of degrees: moments, distribution, power law and assortativity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphveil.data import Graph
from graphveil.evaluate.comparison import (
    Floats,
    GraphComparison,
    Ints,
)
from graphveil.evaluate.metric import (
    Figure,
    Figures,
    before_and_after,
    compared,
)


def mean_degree(pair: GraphComparison) -> Figures:
    """Yield the mean degree, nodes without edges included."""
    return compared(pair, lambda g: float(g.degrees().mean()) if g.n_nodes else None, "edges")


def largest_degree(pair: GraphComparison) -> Figures:
    """Yield the largest degree."""
    return compared(pair, lambda g: float(g.degrees().max()) if g.n_nodes else None, "edges")


def degree_variance(pair: GraphComparison) -> Figures:
    """Yield the population variance of degrees."""
    return compared(pair, lambda g: float(g.degrees().var()) if g.n_nodes else None, "edges^2")


def power_law(pair: GraphComparison) -> Figures:
    """Yield the exponent of the power law that is nearest to the degrees."""
    return compared(pair, lambda graph: exponent(graph.degrees()), "exponent")


def exponent(degrees: Ints) -> float | None:
    """Return the exponent of the power law that fits degrees above 0 best; None without a fit.

    For every distinct degree as the least one, xmin: 1 + k / sum ln(x / xmin) over the k degrees
    from xmin on, and the largest distance of both distribution functions, on both sides of every
    step. The exponent of least distance is given.
    """
    ordered = np.sort(degrees[degrees > 0])
    starts = np.flatnonzero(np.diff(ordered, prepend=0))
    best: tuple[float, float] | None = None
    for start in starts[:-1].tolist():
        values = ordered[start:] / ordered[start]
        alpha = 1 + values.size / float(np.log(values).sum())
        law = 1 - values ** (1 - alpha)
        steps = np.arange(values.size + 1) / values.size
        distance = float(max(np.abs(law - steps[:-1]).max(), np.abs(law - steps[1:]).max()))
        if best is None or distance < best[0]:
            best = distance, alpha
    return None if best is None else best[1]


def degree_distribution(pair: GraphComparison) -> Figures:
    """Yield two distances between the degree distributions."""
    yield from mean_degree_distribution([pair])


def mean_degree_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same of the mean distribution of several releases, which have as many nodes."""
    before = pairs[0].original.degrees()
    after = np.concatenate([pair.released.degrees() for pair in pairs])
    yield Figure("half L1", half_l1(before, after), "share of nodes")
    yield Figure("Kolmogorov-Smirnov", kolmogorov_smirnov(before, after), "share of nodes")


def half_l1(before: Ints, after: Ints) -> float:
    """Return half the sum of absolute differences of two distributions of numbers >= 0.

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
    """Return, for every number, the share of it before less that after."""
    top = int(max(before.max(initial=0), after.max(initial=0))) + 1
    one, other = (np.bincount(v, minlength=top) / max(v.size, 1) for v in (before, after))
    return np.asarray(one - other)


def assortativity(pair: GraphComparison) -> Figures:
    """Yield the correlation of the degrees at both ends of an edge, before and after."""
    before, after = map(degree_assortativity, (pair.original, pair.released))
    if before is not None and after is not None:
        yield from before_and_after(before, after, "correlation")


def degree_assortativity(graph: Graph) -> float | None:
    """Return the correlation of the degrees at the ends of an edge; None where all are equal."""
    edges, degrees = graph.edges(), graph.degrees()
    ends = degrees[np.concatenate([edges[:, 0], edges[:, 1]])]
    if ends.size == 0 or ends.min() == ends.max():
        return None
    mean = ends.mean()
    left, right = degrees[edges[:, 0]] - mean, degrees[edges[:, 1]] - mean
    return float(2 * np.dot(left, right) / np.square(ends - mean).sum())
