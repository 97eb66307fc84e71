"""Metrics of edges, compared one by one: kept, added, removed."""

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
    """Yield how many original edges stand in the release."""
    return counted(pair.edges_kept, pair.original.n_edges, "edges", "share of original edges")


def added(pair: GraphComparison) -> Figures:
    """Yield how many released edges are not original."""
    number = pair.released.n_edges - pair.edges_kept
    return counted(number, pair.released.n_edges, "edges", "share of released edges")


def removed(pair: GraphComparison) -> Figures:
    """Yield how many original edges are not in the release."""
    number = pair.original.n_edges - pair.edges_kept
    return counted(number, pair.original.n_edges, "edges", "share of original edges")


def jaccard(pair: GraphComparison) -> Figures:
    """Yield the edges in both graphs over those in either."""
    union = pair.original.n_edges + pair.released.n_edges - pair.edges_kept
    yield Figure("all", pair.edges_kept / union if union else 1.0, "ratio")


def edit_distance(pair: GraphComparison) -> Figures:
    """Yield the edges to add and delete that lead from one graph to the other."""
    number = pair.original.n_edges + pair.released.n_edges - 2 * pair.edges_kept
    return counted(number, pair.original.n_edges, "edges", "share of original edges")
