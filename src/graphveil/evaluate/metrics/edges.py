"""Metrics of edges, compared one by one: kept, added, removed, Jaccard index, edit distance.

All need the linkage, and one count of the edges that are in both graphs: O(m log m).
"""

from __future__ import annotations

from graphveil.evaluate.comparison import (
    GraphComparison,
)
from graphveil.evaluate.metric import (
    Figure,
    Figures,
    counted,
)


def kept(pair: GraphComparison) -> Figures:
    """Yield how many original edges are in the release, and their share: 1 if all are kept."""
    return counted(pair.edges_kept, pair.original.n_edges, "edges", "share of original edges")


def added(pair: GraphComparison) -> Figures:
    """Yield how many released edges are not original, and their share: 0 if no edge is false."""
    number = pair.released.n_edges - pair.edges_kept
    return counted(number, pair.released.n_edges, "edges", "share of released edges")


def removed(pair: GraphComparison) -> Figures:
    """Yield how many original edges are not in the release, and their share: 0 if all are kept."""
    number = pair.original.n_edges - pair.edges_kept
    return counted(number, pair.original.n_edges, "edges", "share of original edges")


def jaccard(pair: GraphComparison) -> Figures:
    """Yield the edges in both graphs over those in either: from 0 to 1, and 1 if neither has any.

    Jaccard 1912.
    """
    union = pair.original.n_edges + pair.released.n_edges - pair.edges_kept
    yield Figure("all", pair.edges_kept / union if union else 1.0, "ratio")


def edit_distance(pair: GraphComparison) -> Figures:
    """Yield the number of edges to add and to delete to get from the original to the release.

    0 for equal graphs; as a share of the original edges it may exceed 1. A rewiring of two edges
    counts 4. De Jong et al., The anonymization problem in social networks.
    """
    number = pair.original.n_edges + pair.released.n_edges - 2 * pair.edges_kept
    return counted(number, pair.original.n_edges, "edges", "share of original edges")
