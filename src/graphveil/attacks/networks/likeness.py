"""How like the two ends of every edge are: real ties join people who have much in common."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.propagation import row_blocks
from graphveil.data import Graph

Scores: TypeAlias = "NDArray[np.float64]"
"""A number for every edge, in the order of `Graph.edges`."""

DIMENSIONS = 32
_SMALL = 200
_TOLERANCE = 1e-3
_CELLS = 20_000_000


def common_neighbors(graph: Graph) -> tuple[Scores, Scores]:
    """Return the common neighbors of both ends of every edge: their number, and their sum of 1/d.

    Examples
    --------
    >>> number, weight = common_neighbors(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))
    >>> number.tolist(), weight.round(2).tolist()
    ([1.0, 1.0, 1.0, 0.0], [0.33, 0.5, 0.5, 0.0])
    """
    near, degrees, ends = graph.to_scipy(), graph.degrees(), graph.edges()
    worth = np.column_stack([np.ones(graph.n_nodes), 1 / np.maximum(degrees, 1)])
    out = np.zeros((len(ends), 2))
    work = np.concatenate([[0], np.cumsum(degrees[ends].sum(axis=1))])
    for start, end in row_blocks(work):
        both = near[ends[start:end, 0]].multiply(near[ends[start:end, 1]])
        out[start:end] = both @ worth
    return out[:, 0], out[:, 1]


def jaccard(graph: Graph, common: Scores) -> Scores:
    """Return the common neighbors over all neighbors of both ends."""
    ends = graph.degrees()[graph.edges()].sum(axis=1)
    scores: Scores = common / np.maximum(ends - common, 1)
    return scores


def three_paths(graph: Graph) -> Scores:
    """Return the number of paths of three edges between both ends, over the root of the degrees.

    Examples
    --------
    >>> three_paths(Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], n=4)).tolist()  # a square
    [0.5, 0.5, 0.5, 0.5]
    """
    near, degrees, ends = graph.to_scipy().astype(np.float64), graph.degrees(), graph.edges()
    walks = np.zeros(len(ends))
    rows = max(_CELLS // max(graph.n_nodes, 1), 1)
    for first in range(0, graph.n_nodes, rows):
        two_steps = (near[first : first + rows] @ near).toarray()
        start, end = np.searchsorted(ends[:, 0], [first, first + rows])
        source, target = ends[start:end, 0] - first, ends[start:end, 1]
        for low, high in row_blocks(np.concatenate([[0], np.cumsum(degrees[target])])):
            around = near[target[low:high]]
            edge = np.repeat(np.arange(high - low), np.diff(around.indptr))
            reached = two_steps[source[low:high][edge], around.indices]
            walks[start + low : start + high] = np.bincount(edge, reached, minlength=high - low)
    both = degrees[ends]
    paths: Scores = (walks - both.sum(axis=1) + 1) / np.sqrt(both.prod(axis=1))
    return paths


def spectral_cosine(graph: Graph, rng: np.random.Generator) -> Scores:
    """Return the cosine between both ends in the leading directions of the normalized adjacency.

    Parameters
    ----------
    graph
        With one edge at least.
    rng
        Draws the vector with which the search for directions begins.
    """
    from scipy import sparse  # noqa: PLC0415  heavy: not for help
    from scipy.sparse import linalg  # noqa: PLC0415  heavy: not for help

    roots = 1 / np.sqrt(np.maximum(graph.degrees(), 1))
    scale = sparse.diags_array(roots)
    normalized = scale @ graph.to_scipy().astype(np.float64) @ scale
    if graph.n_nodes <= _SMALL:
        left, sizes, _ = np.linalg.svd(normalized.toarray())
    else:
        begin = rng.standard_normal(graph.n_nodes)
        values, left = linalg.eigsh(normalized, k=DIMENSIONS, v0=begin, tol=_TOLERANCE)
        sizes = np.abs(values)
    leading = np.argsort(-sizes, kind="stable")[:DIMENSIONS]
    points = left[:, leading] * np.sqrt(sizes[leading])
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), np.finfo(float).tiny)
    ends = graph.edges()
    cosine: Scores = np.einsum("ed,ed->e", points[ends[:, 0]], points[ends[:, 1]])
    return cosine
