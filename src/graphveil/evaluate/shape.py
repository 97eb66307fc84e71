"""Properties of a graph's shape: degrees, clustering, components."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.components import share_of_largest_component
from graphveil.evaluate.metric import Figure, Figures, before_and_after
from graphveil.evaluate.toolkit import to_networkit
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import networkit
else:
    networkit = lazy_module("networkit")


def degree_distribution(pair: GraphComparison) -> Figures:
    """Yield two distances between the degree distributions."""
    yield from mean_degree_distribution([pair])


def mean_degree_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same of the mean distribution of several releases, which have as many nodes."""
    before = pairs[0].original.degrees()
    after = np.concatenate([pair.released.degrees() for pair in pairs])
    yield Figure("half L1", half_l1(before, after), "share of nodes")
    yield Figure("Kolmogorov-Smirnov", kolmogorov_smirnov(before, after), "share of nodes")


def half_l1(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Return half the sum of absolute differences of two distributions of numbers >= 0.

    Examples
    --------
    >>> half_l1(np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2]))
    0.25
    """
    return float(np.abs(_differences(before, after)).sum() / 2)


def kolmogorov_smirnov(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Return the largest difference of the cumulative distributions of numbers >= 0.

    Examples
    --------
    >>> kolmogorov_smirnov(np.array([1, 1, 2, 2]), np.array([1, 1, 1, 2]))
    0.25
    """
    return float(np.abs(np.cumsum(_differences(before, after))).max(initial=0.0))


def _differences(before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return, for every number, the share of it before less that after."""
    top = int(max(before.max(initial=0), after.max(initial=0))) + 1
    shares = [
        np.bincount(values, minlength=top) / max(values.size, 1) for values in (before, after)
    ]
    return shares[0] - shares[1]


def assortativity(pair: GraphComparison) -> Figures:
    """Yield the correlation of the degrees at both ends of an edge, before and after."""
    return _compared(pair, degree_assortativity, "correlation")


def _compared(
    pair: GraphComparison, statistic: Callable[[Graph], float | None], unit: str
) -> Figures:
    """Yield a property before and after; nothing where it is undefined on either side."""
    before, after = statistic(pair.original), statistic(pair.released)
    if before is not None and after is not None:
        yield from before_and_after(before, after, unit)


def degree_assortativity(graph: Graph) -> float | None:
    """Return the correlation of the degrees at the ends of an edge; None where none of them differ.

    Examples
    --------
    >>> degree_assortativity(Graph.from_edges([0, 0, 0], [1, 2, 3], n=4))  # a star
    -1.0
    """
    edges, degrees = graph.edges(), graph.degrees()
    ends = degrees[np.concatenate([edges[:, 0], edges[:, 1]])]
    if ends.size == 0 or ends.min() == ends.max():
        return None
    mean = ends.mean()
    left, right = degrees[edges[:, 0]] - mean, degrees[edges[:, 1]] - mean
    return float(2 * np.dot(left, right) / np.square(ends - mean).sum())


def clustering(pair: GraphComparison) -> Figures:
    """Yield the average local clustering coefficient before and after."""
    return _compared(pair, average_clustering, "ratio")


def average_clustering(graph: Graph) -> float | None:
    """Return the mean local clustering coefficient; nodes of degree below 2 count as 0.

    None where all nodes are such.

    Examples
    --------
    >>> average_clustering(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))  # 1, 1, 1/3, 0
    0.5833333333333334
    """
    if graph.degrees().max(initial=0) < 2:
        return None
    score = networkit.centrality.LocalClusteringCoefficient(to_networkit(graph), turbo=True)
    scores = np.array(score.run().scores())
    return float(np.where(graph.degrees() >= 2, scores, 0.0).mean())


def largest_component(pair: GraphComparison) -> Figures:
    """Yield the share of nodes in the largest component, before and after."""
    before, after = pair.share_before, share_of_largest_component(pair.released)
    if before is not None and after is not None:
        yield from before_and_after(before, after, "share of nodes")
