"""The graph, drawn in whole numbers: the stated numbers and the seed give it again."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.kernels.degree_triangle.counts import triangles_by_class
from graphveil.kernels.degree_triangle.swaps import Marks, Tally, approach
from graphveil.kernels.degree_triangle.wiring import deal, mend, wired
from graphveil.methods.degree_triangle.cuts import second_largest
from graphveil.methods.degree_triangle.shape import Shape
from graphveil.methods.degree_triangle.statistics import Statistics
from graphveil.randomness import public_stream

PROPOSALS, MORE_PROPOSALS = 100, 25
"""How many exchanges are proposed, for each edge; and further ones, without groups."""

ODDS = (107374182, 39500754, 14531515, 5345845, 1966626, 723481, 266153)
"""With which chance an exchange is kept that brings triangles no nearer, by how much: 0, 1,
..., in units of 2^-30: a tenth of e^-k."""


class Drawn(NamedTuple):
    """A graph, and what it was drawn towards.

    Parameters
    ----------
    ends
        int64, shape (edges, 2).
    aims
        int64: the triangles by class that were aimed at.
    unmended
        How many edges were left out: loops and doubles of which no exchange made an edge.
    """

    ends: NDArray[np.int64]
    aims: NDArray[np.int64]
    unmended: int


def drawn(noisy: Statistics, shape: Shape, seed: int) -> Drawn:
    """Return a graph with these degrees, edges between groups, and about these triangles.

    Parameters
    ----------
    noisy
        The noisy statistics.
    shape
        Its degrees, and edges between groups.
    seed
        Of everything that is drawn here: it is public.
    """
    rng = public_stream(seed)
    n, classes = noisy.degrees.size, noisy.classes.of_node
    ends, unmended = started(noisy.groups.of_node, shape, rng)
    there = _triangles(n, ends, classes, noisy.triangles.size)
    aims = aimed_at(noisy, there)
    wiring = wired(n, ends)
    marks = Marks(classes, noisy.groups.of_node, *_members(classes, aims.size, wiring.pointers))
    tally = Tally(there, aims, np.zeros_like(aims), np.array(ODDS, dtype=np.int64))
    off = approach(wiring, marks, tally, PROPOSALS * len(ends), 1, rng)
    if 50 * off > aims.sum():
        approach(wiring, marks, tally, MORE_PROPOSALS * len(ends), 0, rng)
    edges = np.column_stack([wiring.owners, wiring.slots])
    return Drawn(edges[edges[:, 0] < edges[:, 1]], aims, unmended)


def started(
    groups: NDArray[np.int64], shape: Shape, rng: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """Return the edges of a graph with this shape and no more triangles than chance gives.

    Returns
    -------
    ends
        int64, shape (edges, 2).
    unmended
        How many edges it lacks.
    """
    by_group = np.argsort(groups, kind="stable")
    stubs = np.repeat(by_group, shape.degrees[by_group])
    sizes = np.bincount(groups, weights=shape.degrees).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.zeros((stubs.size // 2, 2), dtype=np.int64)
    deal(stubs, starts, shape.between, ends, rng)
    counts = shape.between[np.triu_indices(sizes.size)]
    behind = np.repeat(np.cumsum(counts), counts)
    blocks = np.column_stack([behind - np.repeat(counts, counts), behind])
    good = np.zeros(len(ends), dtype=np.bool_)
    mend(ends, blocks, wired(groups.size, ends, filled=False), good, rng)
    return ends[good], int(np.count_nonzero(~good))


def aimed_at(noisy: Statistics, there: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the triangles to aim at: the noisy ones, drawn towards the start as noise is large.

    Parameters
    ----------
    noisy
        The noisy statistics.
    there
        The triangles by class of a graph that was drawn without them.
    """
    scale = max(second_largest(noisy.degrees) * Fraction(3, 5), Fraction(12, 5)) / noisy.rate
    aims = []
    for noisy_one, start in zip(noisy.triangles.tolist(), there.tolist(), strict=True):
        apart = noisy_one - start
        kept = max(apart * apart - scale * scale / 2, Fraction(0)) / (apart or 1)
        aims.append(max(start + round(kept), 0))
    return np.array(aims, dtype=np.int64)


def _triangles(
    n: int, ends: NDArray[np.int64], classes: NDArray[np.int64], number: int
) -> NDArray[np.int64]:
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], n=n)
    return triangles_by_class(graph.indptr, graph.indices, classes, number)


def _members(
    classes: NDArray[np.int64], number: int, pointers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes by class, each as often as it has edges, and where each class begins."""
    nodes = np.repeat(np.arange(classes.size), np.diff(pointers))
    nodes = nodes[np.argsort(classes[nodes], kind="stable")]
    return nodes, np.searchsorted(classes[nodes], np.arange(number + 1))
