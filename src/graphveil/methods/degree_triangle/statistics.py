"""The four noisy statistics: all that is ever asked of the original."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.kernels.degree_triangle.counts import most_in_common, triangles_by_class
from graphveil.methods.degree_triangle.cuts import CLASSES, GROUPS, Cuts, cut, floor_of
from graphveil.methods.noisy import noisy_count
from graphveil.methods.priors.degrees import expected_degrees
from graphveil.noise import discrete_laplace, words_from
from graphveil.noise.cells import number_of_cells
from graphveil.noise.ladder import Steps, ladder, rate_of
from graphveil.randomness import Randomness


class Statistics(NamedTuple):
    """What was released under epsilon, and what follows from it.

    Parameters
    ----------
    edges
        The noisy number of edges.
    degrees
        int64, shape (n,): noisy degrees.
    groups, classes
        Nodes by noisy degree.
    mixing
        int64, shape (groups, groups): noisy numbers of edges between groups g <= h; else 0.
    floor
        The least first step of the ladder.
    rate
        That of the ladder.
    triangles
        int64: noisy numbers of triangles by their lowest class.
    """

    edges: int
    degrees: NDArray[np.int64]
    groups: Cuts
    classes: Cuts
    mixing: NDArray[np.int64]
    floor: int
    rate: Fraction
    triangles: NDArray[np.int64]


def noisy_statistics(
    data: Graph, randomness: Randomness, parts: Mapping[str, Fraction]
) -> Statistics:
    """Return the statistics of a graph with at least three nodes.

    Parameters
    ----------
    data
        The original.
    randomness
        The run's.
    parts
        The parts of epsilon, by name.
    """
    words = words_from(randomness, "noisy count")
    count = noisy_count(words, data.n_edges, number_of_cells(data), parts["epsilon_count"])
    half = parts["epsilon_degrees"] / 2
    words = words_from(randomness, "noisy degrees")
    degrees = data.degrees() + discrete_laplace(words, half, data.n_nodes)
    expected = expected_degrees(degrees, half, count)
    groups, classes = cut(degrees, expected, GROUPS), cut(degrees, np.sqrt(expected), CLASSES)
    mixing = _noisy_mixing(data, groups, parts["epsilon_mixing"], randomness)
    floor = floor_of(degrees)
    rate = rate_of(parts["epsilon_triangles"], classes.least.size, floor)
    counts, steps = triangles_and_steps(data, classes, floor)
    triangles = ladder(words_from(randomness, "noisy triangles"), counts, steps, rate)
    return Statistics(count, degrees, groups, classes, mixing, floor, rate, triangles)


def edges_between_groups(data: Graph, groups: Cuts) -> NDArray[np.int64]:
    """Return how many edges there are between groups g <= h: an edge is counted in one place.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> edges_between_groups(path, Cuts(np.array([0, 2]), np.array([0, 1, 0]))).tolist()
    [[0, 2], [0, 0]]
    """
    size = groups.least.size
    ends = np.sort(groups.of_node[data.edges()], axis=1)
    counts = np.bincount(ends[:, 0] * size + ends[:, 1], minlength=size * size)
    return counts.reshape(size, size)


def triangles_and_steps(data: Graph, classes: Cuts, floor: int) -> tuple[NDArray[np.int64], Steps]:
    """Return the triangles by lowest class, and the ladder of this graph.

    Notes
    -----
    An edge changes the sum of the triangles by the neighbors that its ends share, which are at
    most as many as any two nodes share, tied or not; and that number by one at most.

    Examples
    --------
    >>> triangle = Graph.from_edges([0, 0, 1], [1, 2, 2], n=4)
    >>> triangles_and_steps(triangle, Cuts(np.array([0]), np.zeros(4, dtype=np.int64)), 1)
    (array([1]), Steps(first=1, most=2))
    """
    indptr, indices, most = data.indptr, data.indices, data.n_nodes - 2
    counts = triangles_by_class(indptr, indices, classes.of_node, classes.least.size)
    shared = int(most_in_common(indptr, indices))
    return counts, Steps(first=min(max(shared, floor), most), most=most)


def _noisy_mixing(
    data: Graph, groups: Cuts, part: Fraction, randomness: Randomness
) -> NDArray[np.int64]:
    """Return the edges between groups with noise; 0 below the diagonal."""
    counts = edges_between_groups(data, groups)
    upper = np.triu_indices(len(counts))
    words = words_from(randomness, "noisy mixing")
    counts[upper] += discrete_laplace(words, part, upper[0].size)
    return counts
