"""Statistics of degrees, and triangles: each before and after, with the relative error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import Figures, before_and_after, relative_error
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = lazy_module("scipy.sparse")


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
    return compared(pair, closed_wedges, "ratio")


def closed_wedges(graph: Graph) -> float | None:
    """Return three times the triangles over the wedges; None where there is no wedge.

    Every triangle is counted once, at its two nodes of least degree: each edge points from the
    node of less degree to the other.

    Examples
    --------
    >>> closed_wedges(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))
    0.6
    """
    degrees = graph.degrees()
    wedges = int((degrees * (degrees - 1)).sum()) // 2
    if not wedges:
        return None
    rank = np.empty(graph.n_nodes, dtype=np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(graph.n_nodes)
    ends = np.sort(rank[graph.edges()], axis=1)
    shape = (graph.n_nodes, graph.n_nodes)
    upward = sparse.csr_array((np.ones(len(ends), dtype=np.int64), tuple(ends.T)), shape=shape)
    return 3 * int((upward @ upward).multiply(upward).sum()) / wedges


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
