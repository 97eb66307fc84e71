"""Metrics of triangles, wedges, clustering and the largest component.

Triangles are counted once for all metrics, from sparse products over oriented edges
(`graphveil.evaluate.graph_structure`); wedges and components take O(n + m).
"""

from __future__ import annotations

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.graph_structure import share_of_largest_component, wedges_of
from graphveil.evaluate.metric import (
    Figures,
    compared,
    with_error,
)


def transitivity(pair: GraphComparison) -> Figures:
    """Yield the share of wedges that are closed to triangles, before and after.

    From 0 to 1; undefined without wedges. Top-m Filter, S_CC.
    """
    before, after = map(closed_share, (pair.original, pair.released), pair.triangles)
    return with_error(before, after, "ratio")


def triangles(pair: GraphComparison) -> Figures:
    """Yield the number of triangles, before and after. Watts and Strogatz 1998."""
    return with_error(*pair.triangles, unit="triangles")


def wedges(pair: GraphComparison) -> Figures:
    """Yield the number of pairs of edges that share a node, before and after.

    Seshadhri, Pinar and Kolda 2014.
    """
    return compared(pair, lambda graph: float(wedges_of(graph)), "wedges")


def closed_share(graph: Graph, triangles: int) -> float | None:
    """Return three times the triangles over the wedges; None without wedges."""
    wedges = wedges_of(graph)
    return 3 * triangles / wedges if wedges else None


def clustering(pair: GraphComparison) -> Figures:
    """Yield the average local clustering coefficient, before and after.

    From 0 to 1: the share of pairs of neighbors that are connected, averaged over all nodes; a node
    of degree below 2 counts as 0. Watts and Strogatz 1998.
    """
    before, after = map(average_clustering, (pair.original, pair.released), pair.triangles_at)
    return with_error(before, after, "ratio")


def average_clustering(graph: Graph, triangles: Ints) -> float | None:
    """Return the mean local clustering coefficient; None if no node has degree 2 or more.

    `triangles`: int64, shape (n,): how many triangles each node is in.
    """
    degrees = graph.degrees()
    if degrees.max(initial=0) < 2:
        return None
    pairs = degrees * (degrees - 1) // 2
    return float((triangles / np.maximum(pairs, 1)).mean())


def largest_component(pair: GraphComparison) -> Figures:
    """Yield the share of nodes in the largest connected component, before and after.

    Above 0, at most 1. De Jong et al., The anonymization problem in social networks.
    """
    after = share_of_largest_component(pair.released)
    return with_error(pair.share_before, after, "share of nodes")
