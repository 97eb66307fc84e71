"""What the ends of an edge have in common: scores by which added edges can be recognized.

People who are connected mostly share neighbors; ends of an edge that a method added mostly do not.
Four scores are judged by themselves: Jaccard, resource allocation (sum of 1/degree over common
neighbors; Zhou, Lü and Zhang, 2009), the product of the degrees, and the cosine in a spectral
embedding. The sum of ranks of three of them, with paths of three edges, flags edges
(`fake_edge.py`); that sum is graphveil's own. Cost: the sum of squared degrees, and an eigenproblem
of `DIMENSIONS` vectors.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from graphveil.attacks.networks.assignment.mutual_best import row_blocks
from graphveil.core.array_types import Floats
from graphveil.core.libraries import linalg
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.evaluate.comparison import sparse

Scores: TypeAlias = "Floats"
"""A number for every edge, float64, shape (m,), in the order of `Graph.edges`."""

DIMENSIONS = 32
"""How many leading directions of the normalized adjacency are used. Fewer would miss small
communities; more would also describe single edges."""

SMALL = 200
"""Up to this many nodes the singular values are computed exactly, from a dense matrix."""

_TOLERANCE = 1e-3
"""The relative accuracy of the eigenvalues of larger networks."""

CELLS = 20_000_000
"""Cells of a dense block of rows at once; it bounds memory (8 bytes each) alone."""


def common_neighbors(graph: Graph) -> tuple[Scores, Scores]:
    """Return the common neighbors of the ends of every edge: number, and sum of 1/degree.

    Both are float64, shape (m,).
    """
    near, degrees, ends = graph.to_scipy(), graph.degrees(), graph.edges()
    # One product per block of edges gives both: columns of ones and of 1/degree.
    worth = np.column_stack([np.ones(graph.n_nodes), 1 / np.maximum(degrees, 1)])
    out = np.zeros((len(ends), 2))
    work = np.concatenate([[0], np.cumsum(degrees[ends].sum(axis=1))])
    for start, end in in_time(row_blocks(work)):
        both = near[ends[start:end, 0]].multiply(near[ends[start:end, 1]])
        out[start:end] = both @ worth
    return out[:, 0], out[:, 1]


def jaccard(graph: Graph, common: Scores) -> Scores:
    """Return the common neighbors over all neighbors of both ends, float64, shape (m,)."""
    ends = graph.degrees()[graph.edges()].sum(axis=1)
    scores: Scores = common / np.maximum(ends - common, 1)
    return scores


def three_paths(graph: Graph) -> Scores:
    """Return the number of paths of three edges between both ends, over the root of the degrees."""
    near, degrees, ends = graph.to_scipy().astype(np.float64), graph.degrees(), graph.edges()
    walks = np.zeros(len(ends))
    rows = max(CELLS // max(graph.n_nodes, 1), 1)
    for first in in_time(range(0, graph.n_nodes, rows)):
        # Walks of two steps from a block of nodes, as a dense matrix.
        two_steps = (near[first : first + rows] @ near).toarray()
        start, end = np.searchsorted(ends[:, 0], [first, first + rows])
        source, target = ends[start:end, 0] - first, ends[start:end, 1]
        # For every edge from the block: these walks, one step on, to the neighbors of its other
        # end.
        for low, high in row_blocks(np.concatenate([[0], np.cumsum(degrees[target])])):
            around = near[target[low:high]]
            edge = np.repeat(np.arange(high - low), np.diff(around.indptr))
            reached = two_steps[source[low:high][edge], around.indices]
            walks[start + low : start + high] = np.bincount(edge, reached, minlength=high - low)
    # Walks of three steps between the ends that use the edge itself are no paths: d(u) + d(v) - 1
    # of them.
    both = degrees[ends]
    paths: Scores = (walks - both.sum(axis=1) + 1) / np.sqrt(both.prod(axis=1))
    return paths


def spectral_cosine(graph: Graph, rng: np.random.Generator) -> Scores:
    """Return the cosine between both ends in the leading directions of the normalized adjacency."""
    roots = 1 / np.sqrt(np.maximum(graph.degrees(), 1))
    # D^(-1/2) A D^(-1/2), whose largest eigenvalues in size are its singular values.
    scale = sparse.diags_array(roots)
    normalized = scale @ graph.to_scipy().astype(np.float64) @ scale
    if graph.n_nodes <= SMALL:
        left, sizes, _ = np.linalg.svd(normalized.toarray())
    else:
        begin = rng.standard_normal(graph.n_nodes)
        values, left = linalg.eigsh(normalized, k=DIMENSIONS, v0=begin, tol=_TOLERANCE)
        sizes = np.abs(values)
    leading = np.argsort(-sizes, kind="stable")[:DIMENSIONS]
    # Nodes as points, scaled by the root of each singular value, then to length 1: a product is a
    # cosine.
    points = left[:, leading] * np.sqrt(sizes[leading])
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), np.finfo(float).tiny)
    ends = graph.edges()
    cosine: Scores = np.einsum("ed,ed->e", points[ends[:, 0]], points[ends[:, 1]])
    return cosine


class EdgeSimilarity(NamedTuple):
    """What the ends of every released edge have in common; less at added edges.

    Parameters
    ----------
    judged : dict of str to float64 array, shape (m,)
        The scores of every test that is judged by itself, by its name.
    flagging : tuple of float64 arrays, shape (m,)
        The scores by whose sum of ranks edges are flagged.
    """

    judged: dict[str, Scores]
    flagging: tuple[Scores, ...]


def edge_similarity(released: Graph, rng: np.random.Generator) -> EdgeSimilarity:
    """Return what the ends of every edge have in common; `rng` starts the eigenvectors."""
    number, weight = common_neighbors(released)
    degrees = released.degrees()[released.edges()]
    alike, cosine = jaccard(released, number), spectral_cosine(released, rng)
    judged = {
        "Jaccard": alike,
        "resource allocation": weight,
        "product of degrees": -np.log(degrees).sum(axis=1),
        "spectral cosine": cosine,
    }
    return EdgeSimilarity(judged, (alike, cosine, three_paths(released)))
