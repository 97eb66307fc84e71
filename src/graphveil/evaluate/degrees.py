"""Statistics of degrees, and triangles: each before and after, with the relative error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import Figures, before_and_after, relative_error
from graphveil.evaluate.triangles import wedges_of


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
