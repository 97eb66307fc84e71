"""Who lies on the shortest paths: the top 100 by betweenness, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import Figure, Figures, Sample
from graphveil.evaluate.toolkit import seeded, to_networkit
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import networkit
else:
    networkit = lazy_module("networkit")

TOP = 100
EXACT_UP_TO = 500_000_000
"""The most nodes times edges of the original up to which the scores are exact."""

PIVOTS = 1_024
TIED = 1e-9
"""Scores whose relative difference is below this are equal but for rounding."""


def overlap(pair: GraphComparison) -> Figures:
    """Yield the overlap of the top 100, and what a ranking by chance would give.

    Where it is estimated both graphs are searched from the same people, so that the error of the
    sample is the same on both sides.
    """
    n = pair.original.n_nodes
    top = min(TOP, n)
    pivots = None if n * pair.original.n_edges <= EXACT_UP_TO else PIVOTS
    before, after = (
        betweenness(graph, pair.randomness.stream("betweenness"), pivots=pivots)
        for graph in (pair.original, pair.aligned)
    )
    unit = f"share of the top {top}"
    sample = None if pivots is None else Sample(pivots)
    yield Figure("overlap", overlap_of_top(before, after, top), unit, sample=sample)
    yield Figure("by chance", top / n if n else 1.0, unit, judged=False)


def betweenness(
    graph: Graph, rng: np.random.Generator, *, pivots: int | None = None
) -> NDArray[np.float64]:
    """Return the betweenness of every node, every path counted both ways.

    Parameters
    ----------
    graph
        A graph, connected or not.
    rng
        Draws the pivots; the same state draws the same positions of graphs of one size.
    pivots
        None is exact; otherwise it is estimated from the paths of so many nodes.

    Notes
    -----
    Exact: Brandes 2001. Estimated: Geisberger, Sanders and Schultes 2008.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> betweenness(path, np.random.Generator(np.random.PCG64DXSM(1))).tolist()
    [0.0, 2.0, 0.0]
    """
    if graph.n_edges == 0:
        return np.zeros(graph.n_nodes)
    converted = to_networkit(graph)
    with seeded(rng):
        if pivots is None:
            scored = networkit.centrality.Betweenness(converted)
        else:
            scored = networkit.centrality.EstimateBetweenness(converted, pivots)
        return np.array(scored.run().scores())


def overlap_of_top(before: NDArray[np.float64], after: NDArray[np.float64], top: int) -> float:
    """Return the share of the top ranks that the same nodes have in both rankings.

    Nodes tied for the last ranks share them evenly: of three nodes tied for the last rank each
    has a third of it. So the overlap depends on the scores alone.

    Parameters
    ----------
    before, after
        float64, shape (n,).
    top
        The number of ranks, at most n; without any the overlap is 1.

    Examples
    --------
    >>> overlap_of_top(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]), 2)
    0.5
    """
    if top == 0:
        return 1.0
    common = np.minimum(_shares_of_top(before, top), _shares_of_top(after, top))
    return float(min(common.sum() / top, 1.0))


def _shares_of_top(scores: NDArray[np.float64], top: int) -> NDArray[np.float64]:
    """Return which share of a top rank every node has."""
    last = float(np.partition(scores, -top)[-top])
    tied = np.abs(scores - last) <= TIED * abs(last)
    above = (scores > last) & ~tied
    return above + tied * ((top - np.count_nonzero(above)) / np.count_nonzero(tied))
