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
    count
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

    count: int
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
    triangles = _noisy_triangles(data, classes, floor, rate, randomness)
    return Statistics(count, degrees, groups, classes, mixing, floor, rate, triangles)


def _noisy_mixing(
    data: Graph, groups: Cuts, part: Fraction, randomness: Randomness
) -> NDArray[np.int64]:
    """Return the edges between groups with noise: an edge is counted in one place."""
    size = groups.least.size
    ends = np.sort(groups.of_node[data.edges()], axis=1)
    counts = np.bincount(ends[:, 0] * size + ends[:, 1], minlength=size * size)
    upper = np.triu_indices(size)
    noise = discrete_laplace(words_from(randomness, "noisy mixing"), part, upper[0].size)
    noisy = np.zeros((size, size), dtype=np.int64)
    noisy[upper] = counts.reshape(size, size)[upper] + noise
    return noisy


def _noisy_triangles(
    data: Graph, classes: Cuts, floor: int, rate: Fraction, randomness: Randomness
) -> NDArray[np.int64]:
    """Return the triangles by lowest class with noise, whose steps the original decides."""
    indptr, indices = data.indptr, data.indices
    counts = triangles_by_class(indptr, indices, classes.of_node, classes.least.size)
    most = data.n_nodes - 2
    first = min(max(int(most_in_common(indptr, indices)), floor), most)
    words = words_from(randomness, "noisy triangles")
    return ladder(words, counts, Steps(first=first, most=most), rate)
