"""The shape of a graph, before and after: degrees, clustering, components, triangles.

Also its edges compared one by one, which needs the linkage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.evaluate.comparison import (
    GraphComparison,
    share_of_largest_component,
    wedges_of,
)
from graphveil.evaluate.metric import Figure, Figures, before_and_after, relative_error, share_of


def compared(
    pair: GraphComparison, statistic: Callable[[Graph], float | None], unit: str
) -> Figures:
    """Yield a statistic before and after, how far apart, and that over the first.

    A statistic that is undefined on either side is missing, and so is an error relative to 0.
    """
    before, after = statistic(pair.original), statistic(pair.released)
    if before is None or after is None:
        return
    yield from before_and_after(before, after, unit)
    yield from relative_error(before, after)


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


def transitivity(pair: GraphComparison) -> Figures:
    """Yield the share of wedges that are closed."""
    before, after = map(closed_share, (pair.original, pair.released), pair.triangles)
    if before is not None and after is not None:
        yield from before_and_after(before, after, "ratio")
        yield from relative_error(before, after)


def triangles(pair: GraphComparison) -> Figures:
    """Yield the number of triangles."""
    yield from before_and_after(*pair.triangles, "triangles")
    yield from relative_error(*pair.triangles)


def wedges(pair: GraphComparison) -> Figures:
    """Yield the number of pairs of edges that share a node."""
    return compared(pair, lambda graph: float(wedges_of(graph)), "wedges")


def closed_share(graph: Graph, triangles: int) -> float | None:
    """Return three times the triangles over the wedges; None where there is no wedge.

    Parameters
    ----------
    graph, triangles
        A graph, and how many triangles it has.

    Examples
    --------
    >>> closed_share(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4), 1)
    0.6
    """
    wedges = wedges_of(graph)
    return 3 * triangles / wedges if wedges else None


def exponent(degrees: NDArray[np.int64]) -> float | None:
    """Return the exponent of the power law that fits degrees above 0 best; None without a fit.

    Notes
    -----
    For every distinct degree as the least one, xmin: 1 + k / sum ln(x / xmin) over the k degrees
    from xmin on, and the largest distance of both distribution functions, on both sides of every
    step. The exponent of least distance is given.

    Examples
    --------
    >>> round(exponent(np.array([1, 1, 1, 1, 2, 2, 4])), 3)
    3.525
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
    before, after = map(average_clustering, (pair.original, pair.released), pair.triangles_at)
    if before is not None and after is not None:
        yield from before_and_after(before, after, "ratio")
        yield from relative_error(before, after)


def average_clustering(graph: Graph, triangles: NDArray[np.int64]) -> float | None:
    """Return the mean local clustering coefficient; nodes of degree below 2 count as 0.

    None where all nodes are such.

    Parameters
    ----------
    graph, triangles
        A graph, and how many triangles every node is in.

    Examples
    --------
    >>> paw = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> average_clustering(paw, np.array([1, 1, 1, 0]))  # 1, 1, 1/3, 0
    0.5833333333333334
    """
    degrees = graph.degrees()
    if degrees.max(initial=0) < 2:
        return None
    pairs = degrees * (degrees - 1) // 2
    return float((triangles / np.maximum(pairs, 1)).mean())


def largest_component(pair: GraphComparison) -> Figures:
    """Yield the share of nodes in the largest component, before and after."""
    before, after = pair.share_before, share_of_largest_component(pair.released)
    if before is not None and after is not None:
        yield from before_and_after(before, after, "share of nodes")
        yield from relative_error(before, after)


def kept(pair: GraphComparison) -> Figures:
    """Yield how many original edges stand in the release."""
    yield Figure("count", pair.edges_kept, "edges")
    yield from share_of(pair.edges_kept, pair.original.n_edges, "share of original edges")


def added(pair: GraphComparison) -> Figures:
    """Yield how many released edges are not original."""
    number = pair.released.n_edges - pair.edges_kept
    yield Figure("count", number, "edges")
    yield from share_of(number, pair.released.n_edges, "share of released edges")


def removed(pair: GraphComparison) -> Figures:
    """Yield how many original edges are not in the release."""
    number = pair.original.n_edges - pair.edges_kept
    yield Figure("count", number, "edges")
    yield from share_of(number, pair.original.n_edges, "share of original edges")


def jaccard(pair: GraphComparison) -> Figures:
    """Yield the edges in both graphs over those in either."""
    union = pair.original.n_edges + pair.released.n_edges - pair.edges_kept
    yield Figure("all", pair.edges_kept / union if union else 1.0, "ratio")


def edit_distance(pair: GraphComparison) -> Figures:
    """Yield the edges to add and delete that lead from one graph to the other."""
    number = pair.original.n_edges + pair.released.n_edges - 2 * pair.edges_kept
    yield Figure("count", number, "edges")
    yield from share_of(number, pair.original.n_edges, "share of original edges")
