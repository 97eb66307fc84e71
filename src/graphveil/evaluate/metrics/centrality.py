"""Who is central: betweenness, core numbers, PageRank, and eigenvalues, before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.lazy import lazy_module
from graphveil.data import Graph
from graphveil.evaluate.comparison import Floats, GraphComparison, Ints
from graphveil.evaluate.graph_structure import to_rustworkx
from graphveil.evaluate.metric import Figure, Figures, NotMeasuredError
from graphveil.evaluate.metrics.degrees import kolmogorov_smirnov
from graphveil.evaluate.metrics.graph_entries import DAMPING
from graphveil.evaluate.metrics.spectra import leading_vector

if TYPE_CHECKING:
    import rustworkx as rx
else:
    rx = lazy_module("rustworkx")


CHANGE = 1e-12
"""The sum of changes of all scores below which PageRank ends; a round multiplies it by 0.85."""

DIGITS = 9
"""Scores that are equal when rounded to so many digits after the point share their rank."""


def core_distribution(pair: GraphComparison) -> Figures:
    """Yield how far the distributions of core numbers are apart."""
    return mean_core_distribution([pair])


def mean_core_distribution(pairs: Sequence[GraphComparison]) -> Figures:
    """Yield the same of the mean distribution of several releases, which have as many nodes."""
    if pairs[0].original.n_nodes:
        before = core_numbers(pairs[0].original)
        after = np.concatenate([core_numbers(pair.released) for pair in pairs])
        yield Figure("Kolmogorov-Smirnov", kolmogorov_smirnov(before, after), "share of nodes")


def core_correlation(pair: GraphComparison) -> Figures:
    """Yield the rank correlation of core numbers before and after."""
    return _correlated(pair, core_numbers)


def pagerank_correlation(pair: GraphComparison) -> Figures:
    """Yield the rank correlation of PageRank before and after."""
    return _correlated(pair, lambda graph: np.round(pagerank(graph) * graph.n_nodes, DIGITS))


def eigenvector_correlation(pair: GraphComparison) -> Figures:
    """Yield the rank correlation of eigenvector centrality; nothing where a side has no edges."""
    if pair.original.n_edges and pair.released.n_edges:
        yield from _correlated(pair, lambda graph: np.round(leading_vector(graph), DIGITS))


def _correlated(pair: GraphComparison, scores: Callable[[Graph], NDArray[Any]]) -> Figures:
    """Yield the rank correlation of scores, which people who all score the same do not have."""
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
    """Return the PageRank of every node: where a random walk is that begins anew at times.

    The walk goes on with probability 0.85; it begins anew at a node drawn evenly, and so it does
    from a node without edges.

    Page, Brin, Motwani and Winograd 1999; iterated until the scores change by 1e-12 in sum.
    """
    n, degrees = graph.n_nodes, graph.degrees()
    alone = degrees == 0
    adjacency = graph.to_scipy().astype(np.float64)
    shares = DAMPING / np.maximum(degrees, 1)
    scores = np.full(n, 1 / max(n, 1))
    while n:
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
    """Return the rank of every score, less the mean rank."""
    _, which, times = np.unique(scores, return_inverse=True, return_counts=True)
    middles = np.cumsum(times) - (times + 1) / 2
    return np.asarray(middles[which] - (scores.size - 1) / 2)
