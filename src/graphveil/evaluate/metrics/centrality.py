"""Core numbers, PageRank and eigenvector centrality: distributions and rank correlations.

Correlations compare node by node, so they need the linkage. Core numbers take O(n + m); PageRank
takes O(n + m) for each of about 170 rounds, since a round shrinks the change by the damping 0.85.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.core.libraries import rx
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.graph_structure import to_rustworkx
from graphveil.evaluate.metric import Figure, Figures, NotMeasuredError
from graphveil.evaluate.metrics.degrees import kolmogorov_smirnov
from graphveil.evaluate.metrics.graph_entries import DAMPING
from graphveil.evaluate.metrics.spectra import leading_vector

CHANGE = 1e-12
"""PageRank ends once the changes of all scores sum to at most this; a round multiplies it by
0.85."""

DIGITS = 9
"""Scores that are equal when rounded to so many digits after the point share their rank."""


def core_distribution(pair: GraphComparison) -> Figures:
    """Yield the Kolmogorov-Smirnov distance of the distributions of core numbers.

    From 0 (equal) to 1. Seidman 1983 (core numbers).
    """
    return mean_core_distribution([pair])


def mean_core_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same for the mean distribution of several releases of equally many nodes."""
    if pairs[0].original.n_nodes:
        before = core_numbers(pairs[0].original)
        after = np.concatenate([core_numbers(pair.released) for pair in pairs])
        yield Figure("Kolmogorov-Smirnov", kolmogorov_smirnov(before, after), "share of nodes")


def core_correlation(pair: GraphComparison) -> Figures:
    """Yield Spearman's correlation of core numbers before and after.

    From -1 to 1, and 1 if the ranks agree.
    """
    return _correlated(pair, core_numbers)


def pagerank_correlation(pair: GraphComparison) -> Figures:
    """Yield Spearman's correlation of PageRank before and after.

    From -1 to 1, and 1 if the ranks agree. Scores are multiplied by n and rounded to 9 digits, so
    that rounding errors make no ranks. Page et al. 1999.
    """
    return _correlated(pair, lambda graph: np.round(pagerank(graph) * graph.n_nodes, DIGITS))


def eigenvector_correlation(pair: GraphComparison) -> Figures:
    """Yield Spearman's correlation of eigenvector centrality before and after.

    From -1 to 1, and 1 if the ranks agree; nothing if a side has no edges. Scores are rounded to 9
    digits. Bonacich 1972.
    """
    if pair.original.n_edges and pair.released.n_edges:
        yield from _correlated(pair, lambda graph: np.round(leading_vector(graph), DIGITS))


def _correlated(pair: GraphComparison, scores: Callable[[Graph], NDArray[Any]]) -> Figures:
    """Yield the rank correlation of scores; undefined if all nodes of a side score the same."""
    correlation = rank_correlation(scores(pair.original), scores(pair.aligned))
    if correlation is None:
        raise NotMeasuredError(
            "undefined: all nodes have the same score in the original or in the release"
        )
    yield Figure("Spearman", correlation, "rank correlation")


def core_numbers(graph: Graph) -> Ints:
    """Return the core number of every node: the largest k with it in the k-core (Seidman 1983)."""
    numbers: Any = rx.core_number(to_rustworkx(graph))
    return np.array([numbers[node] for node in range(len(numbers))], dtype=np.int64)


def pagerank(graph: Graph) -> Floats:
    """Return the PageRank of every node, float64, shape (n,); the scores sum to 1.

    With probability 0.85 the walk follows a random edge; otherwise, and always from a node without
    edges, it jumps to a node drawn uniformly. Page, Brin, Motwani and Winograd 1999, by power
    iteration until the scores change by 1e-12 in sum.
    """
    n, degrees = graph.n_nodes, graph.degrees()
    alone = degrees == 0
    adjacency = graph.to_scipy().astype(np.float64)
    # Each node passes its score on in equal shares to its neighbors.
    shares = DAMPING / np.maximum(degrees, 1)
    scores = np.full(n, 1 / max(n, 1))
    while n:
        # What is jumped: the share 1 - damping of all scores, and all of nodes without edges.
        anew = (1 - DAMPING + DAMPING * scores[alone].sum()) / n
        following = adjacency @ (scores * shares) + anew
        change = np.abs(following - scores).sum()
        scores = following
        if change <= CHANGE:
            break
    return np.asarray(scores)


def rank_correlation(before: NDArray[Any], after: NDArray[Any]) -> float | None:
    """Return Spearman's correlation of the ranks of two scores, equal ones at their mean rank.

    None where all scores of one side are equal, or nobody has one.
    """
    left, right = _ranks(before), _ranks(after)
    lengths = float(np.sqrt((left @ left) * (right @ right)))
    if lengths == 0:
        return None
    return float(np.clip(left @ right / lengths, -1.0, 1.0))


def _ranks(scores: NDArray[Any]) -> Floats:
    """Return the rank of every score less the mean rank; equal scores have their mean rank."""
    # Equal scores share the middle of the ranks that they take together.
    _, which, times = np.unique(scores, return_inverse=True, return_counts=True)
    middles = np.cumsum(times) - (times + 1) / 2
    return np.asarray(middles[which] - (scores.size - 1) / 2)
