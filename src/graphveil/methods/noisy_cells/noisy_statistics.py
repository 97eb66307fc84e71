"""Noisy statistics of a graph: the number of edges, the degrees, the edges between groups.

Each has discrete Laplace noise under its own part of epsilon; the parts add up by sequential
composition. The sensitivity of each is given where its noise is added. Neighbors are graphs that
differ in one edge; the number of nodes is public.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.noise.cells import number_of_cells
from graphveil.methods.noise.laws import discrete_laplace, words_from
from graphveil.methods.noisy_cells.noisy import noisy_count


def noisy_degrees(
    data: Graph, randomness: Randomness, parts: Mapping[str, Fraction]
) -> tuple[int, Ints]:
    """Return a noisy count of edges, and noisy degrees: int64, shape (n,), of any sign.

    `parts` has the parts of epsilon by name: ``epsilon_count`` and ``epsilon_degrees``.
    """
    # One edge changes the count by 1 (`noisy_count`).
    words, n_cells = words_from(randomness, "noisy count"), number_of_cells(data)
    count = noisy_count(words, data.n_edges, n_cells, parts["epsilon_count"])
    # One edge changes two degrees by 1 each: the L1 sensitivity is 2, so each degree has half of
    # the part.
    words, part = words_from(randomness, "noisy degrees"), parts["epsilon_degrees"] / 2
    noisy = data.degrees() + discrete_laplace(words, part, data.n_nodes)
    return count, noisy


def edges_between(data: Graph, groups: Ints, size: int) -> Ints:
    """Return how many edges there are between groups g <= h: int64, shape (size, size).

    `groups`: int64, shape (n,): the group of every node. Each edge is counted in one place, on or
    above the diagonal.
    """
    ends = np.sort(groups[data.edges()], axis=1)
    counts = np.bincount(ends[:, 0] * size + ends[:, 1], minlength=size * size)
    return counts.reshape(size, size)


def noisy_mixing(data: Graph, groups: Ints, part: Fraction, randomness: Randomness) -> Ints:
    """Return noisy numbers of edges between the groups of nodes; 0 below the diagonal.

    `groups`: int64, shape (n,), as in `edges_between`; `part`: of epsilon. The groups must follow
    from released numbers alone: with groups of true degrees, one edge would move nodes, and with
    them all of their edges.
    """
    # Groups do not change with an edge, and it is counted once: the L1 sensitivity is 1, so every
    # count has noise of the whole part.
    counts = edges_between(data, groups, int(groups.max()) + 1)
    upper = np.triu_indices(len(counts))
    words = words_from(randomness, "noisy mixing")
    counts[upper] += discrete_laplace(words, part, upper[0].size)
    return counts
