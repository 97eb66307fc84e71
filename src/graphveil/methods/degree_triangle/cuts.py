"""Groups and classes of nodes by noisy degree: what follows from released numbers alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

GROUPS = 8
"""The most groups, between which edges are counted."""

CLASSES = 4
"""The most classes, by which triangles are counted."""


class Cuts(NamedTuple):
    """Nodes in parts of like noisy degree.

    Parameters
    ----------
    least
        int64, rising: the least noisy degree of each part.
    of_node
        int64, shape (n,): the part of every node.
    """

    least: NDArray[np.int64]
    of_node: NDArray[np.int64]


def cut(noisy: NDArray[np.int64], weights: NDArray[np.float64], most: int) -> Cuts:
    """Return at most so many parts of about equal weight; nodes of one noisy degree stay together.

    Examples
    --------
    >>> cut(np.array([5, 1, 1, 9]), np.array([2.0, 1.0, 1.0, 4.0]), 2)
    Cuts(least=array([1, 9]), of_node=array([0, 0, 0, 1]))
    """
    values, of_value = np.unique(noisy, return_inverse=True)
    mass = np.bincount(of_value, weights=weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    part = np.minimum((middle * most).astype(np.int64), most - 1)
    _, firsts, dense = np.unique(part, return_index=True, return_inverse=True)
    return Cuts(values[firsts], dense.astype(np.int64)[of_value])


def second_largest(noisy: NDArray[np.int64]) -> int:
    """Return the second-largest noisy degree, at least 0.

    Examples
    --------
    >>> second_largest(np.array([7, 2, 9]))
    7
    """
    return max(int(np.partition(noisy, -2)[-2]), 0)


def floor_of(noisy: NDArray[np.int64]) -> int:
    """Return the least first step of the ladder: a number that no edge changes, once these are out.

    Examples
    --------
    >>> floor_of(np.array([1, 2, 40, 41, 3])), floor_of(np.array([0, -4, 0]))
    (3, 1)
    """
    return min(max(second_largest(noisy) // 4, 1), noisy.size - 2)
