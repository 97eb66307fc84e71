"""The noisy statistics of `degree-triangle-model`: the only part of it that reads the original.

Four statistics are released, each under its own part of epsilon; a later one may depend on those
before it (sequential, adaptive composition). The sensitivity of each is given where its noise is
added. What is derived from them, groups, classes and the floor of the ladder, follows from noisy
degrees alone.

Cost: O(sum of squared degrees) for the triangles and the ladder; O(n log n + m) for the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.noise.ladder import Steps, ladder, rate_of
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells.degree_estimation import expected_degrees
from graphveil.methods.noisy_cells.noisy_statistics import noisy_degrees, noisy_mixing
from graphveil.methods.random_graphs.kernels import triangles
from graphveil.methods.random_graphs.placement import GROUPS, Cuts, cut

CLASSES = 4
"""The most classes by which triangles are counted.

One count has the least noise, but nothing of where triangles are. Each class costs a little of the
ladder's rate (`noise.ladder.rate_of`).
"""


def second_largest(noisy: Ints) -> int:
    """Return the second-largest noisy degree, at least 0."""
    return max(int(np.partition(noisy, -2)[-2]), 0)


def floor_of(noisy: Ints) -> int:
    """Return the least first step of the ladder: a quarter of the second-largest noisy degree.

    Two nodes share at most as many neighbors as the second-largest degree. How a quarter of it was
    chosen is not recorded: a larger floor leaves more of epsilon to the rate, but widens the steps
    of graphs with fewer shared neighbors. The floor follows from released degrees, so no edge
    changes it. No step may be above n - 2 (`triangles_and_steps`).
    """
    return min(max(second_largest(noisy) // 4, 1), noisy.size - 2)


class Statistics(NamedTuple):
    """What was released under epsilon, and what follows from it.

    Parameters
    ----------
    edges
        The noisy number of edges.
    degrees
        int64, shape (n,): the noisy degrees.
    groups, classes
        Parts of the nodes by noisy degree, for the mixing and for triangles.
    mixing
        int64, shape (groups, groups): the noisy edges between groups g <= h; 0 below the diagonal.
    floor
        The least first step of the ladder.
    rate
        The rate of the ladder.
    triangles
        int64, shape (classes,): the noisy triangles, by the lowest class of their nodes.
    """

    edges: int
    degrees: Ints
    groups: Cuts
    classes: Cuts
    mixing: Ints
    floor: int
    rate: Fraction
    triangles: Ints


def noisy_statistics(
    data: Graph, randomness: Randomness, parts: Mapping[str, Fraction]
) -> Statistics:
    """Return the noisy statistics of a graph with at least three nodes.

    `parts`: the parts of epsilon by name, which sum to it: sequential composition. Each statistic
    may depend on those released before it.
    """
    # The number of edges: sensitivity 1. Degrees: L1 sensitivity 2.
    count, degrees = noisy_degrees(data, randomness, parts)
    expected = expected_degrees(degrees, parts["epsilon_degrees"] / 2, count)
    # Groups and classes follow from noisy degrees, so an edge does not change them. Classes are by
    # the roots of degrees, which gives the lower ones more room.
    groups, classes = cut(degrees, expected, GROUPS), cut(degrees, np.sqrt(expected), CLASSES)
    # Edges between groups: one count changes by 1.
    mixing = noisy_mixing(data, groups.of_node, parts["epsilon_mixing"], randomness)
    # Triangles by class: an edge changes them by the common neighbors of its ends, in all, which
    # the ladder covers step by step. The rate pays for both factors of its law. It depends on the
    # floor, which is released, never on the true first step.
    floor = floor_of(degrees)
    rate = rate_of(parts["epsilon_triangles"], classes.least.size, floor)
    counts, steps = triangles_and_steps(data, classes, floor)
    noisy_triangles = ladder(words_from(randomness, "noisy triangles"), counts, steps, rate)
    return Statistics(count, degrees, groups, classes, mixing, floor, rate, noisy_triangles)


def triangles_and_steps(data: Graph, classes: Cuts, floor: int) -> tuple[Ints, Steps]:
    """Return the true triangles by lowest class, and the ladder of this graph.

    Neither is ever released. An edge u-v changes the triangles, in L1 norm, by the common neighbors
    of u and v. The first step is at least the most that any two nodes share, adjacent or not, and
    so at least this change. An edge changes that maximum by at most 1, as the ladder needs: it adds
    or removes one neighbor of u, and one of v. No two nodes share more than n - 2.
    """
    indptr, indices, most = data.indptr, data.indices, data.n_nodes - 2
    counts = triangles.triangles_by_class(indptr, indices, classes.of_node, classes.least.size)
    shared = int(triangles.most_in_common(indptr, indices))
    return counts, Steps(first=min(max(shared, floor), most), most=most)
