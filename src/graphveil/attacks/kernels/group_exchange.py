"""Exchanges of people between groups, until the edges of a copy fit published numbers of edges.

The state is which group every person is in, and by how many edges each block exceeds its published
number: a block is a group, or a pair of groups. The misfit is the sum of the squared excesses. Two
people of different groups change places, so that groups keep their sizes; an exchange is made if it
raises the misfit by less than a limit, which is random under simulated annealing.

Cost of an exchange: the number of groups to judge it, and the edges of both people to make it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints, Nodes
from graphveil.core.kernels.leaf import leaf, wide
from graphveil.core.kernels.tiers import tiered


class Placement(NamedTuple):
    """Which group everybody is in, and how the numbers of edges differ from the published ones.

    Parameters
    ----------
    groups
        int64, shape (n,): the group of every person.
    near
        int32, shape (n, groups): how many edges each person has to the people of each group.
    excess
        int64, shape (groups, groups), symmetric: the edges of each block less the published number;
        inside a group every edge counts once.
    """

    groups: Ints
    near: NDArray[np.int32]
    excess: Ints


@leaf
def _raised(placement: Placement, u: int, v: int, adjacent: int) -> int:
    """Return by how much the misfit rises if u and v change places.

    `adjacent`: 1 if the two have an edge, else 0; it stays between their groups.
    """
    groups, near, excess = placement.groups, placement.near, placement.excess
    a, b = groups[u], groups[v]
    # Pairs with a third group: what the group of u gains, that of v loses.
    total = wide(0)
    for other in range(excess.shape[0]):
        by = wide(near[v, other]) - wide(near[u, other])
        total += by * (excess[a, other] - excess[b, other] + by)
    for other in (a, b):  # which are no third groups
        by = wide(near[v, other]) - wide(near[u, other])
        total -= by * (excess[a, other] - excess[b, other] + by)
    # (x + d)^2 - x^2 for both blocks of each third group is twice what was added up.
    total *= 2
    # The two groups themselves, and the pair of them.
    by_a = wide(near[v, a]) - wide(near[u, a]) - adjacent
    by_b = wide(near[u, b]) - wide(near[v, b]) - adjacent
    total += by_a * (2 * excess[a, a] + by_a) + by_b * (2 * excess[b, b] + by_b)
    across = -by_a - by_b
    rise: int = total + across * (2 * excess[a, b] + across)
    return rise


@leaf
def _exchanged(
    indptr: Ints, indices: Nodes, placement: Placement, u: int, v: int, adjacent: int
) -> None:
    """Let u and v change places, and write all three arrays of the placement."""
    groups, near, excess = placement.groups, placement.near, placement.excess
    a, b = groups[u], groups[v]
    for other in range(excess.shape[0]):
        if other not in (a, b):
            by = wide(near[v, other]) - wide(near[u, other])
            excess[a, other] += by
            excess[other, a] += by
            excess[b, other] -= by
            excess[other, b] -= by
    by_a = wide(near[v, a]) - wide(near[u, a]) - adjacent
    by_b = wide(near[u, b]) - wide(near[v, b]) - adjacent
    excess[a, a] += by_a
    excess[b, b] += by_b
    excess[a, b] -= by_a + by_b
    excess[b, a] = excess[a, b]
    for edge in range(indptr[u], indptr[u + 1]):
        near[indices[edge], a] -= 1
        near[indices[edge], b] += 1
    for edge in range(indptr[v], indptr[v + 1]):
        near[indices[edge], b] -= 1
        near[indices[edge], a] += 1
    groups[u], groups[v] = b, a


def _steps(*given: Any) -> int:
    """Return about how many steps the exchanges take: a few for every group each."""
    placement, draws = given[2], given[3]
    return len(draws) * (4 * int(placement.excess.shape[0]) + 20)


@tiered(_steps)
@leaf
def fit(
    indptr: Ints,
    indices: Nodes,
    placement: Placement,
    draws: Ints,
    limits: NDArray[np.float64],
) -> int:
    """Exchange pairs of people if that raises the misfit by little; return how much it rose.

    Parameters
    ----------
    indptr, indices
        int64, shape (n + 1,), and int32: the copy in compressed rows, neighbors ascending.
    placement
        Who is in which group. Written.
    draws
        int64, shape (exchanges, 2): the pairs of people to try.
    limits
        float64, shape (exchanges,): an exchange is made if the misfit rises by less than this.
    """
    total = wide(0)
    for turn in range(limits.size):
        u, v = draws[turn, 0], draws[turn, 1]
        if placement.groups[u] == placement.groups[v]:
            continue
        # Whether the two have an edge: a binary search among the neighbors of u.
        low, high = indptr[u], indptr[u + 1]
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < v:
                low = middle + 1
            else:
                high = middle
        adjacent = wide(low < indptr[u + 1] and indices[low] == v)
        rise = _raised(placement, u, v, adjacent)
        if rise < limits[turn]:
            _exchanged(indptr, indices, placement, u, v, adjacent)
            total += rise
    return total
