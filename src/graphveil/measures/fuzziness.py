"""Fuzzy k-anonymity: what an adversary knows of a person is off by some percent."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.errors import ParameterError
from graphveil.measures.scalars import classes_of, triangles

Ints: TypeAlias = "NDArray[np.int64]"


def candidate_set_sizes(graph: Graph, *, phi: float) -> Ints:
    """Return the size of every node's candidate set under count, itself included.

    A node of degree a in b triangles is similar to one of degree a' in b' triangles if a' is at
    most phi percent of a away from a, and b' at most phi percent of b away from b. That is not
    symmetric.

    Parameters
    ----------
    graph
        The network.
    phi
        Percent, at least 0. The decimal number as it is written is meant, so 0.1 is a thousandth.

    Returns
    -------
    sizes
        int64, shape (n,).

    Raises
    ------
    ParameterError
        Where phi is negative, or no number.

    Examples
    --------
    >>> fan = Graph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 2, 3, 5], n=6)
    >>> [candidate_set_sizes(fan, phi=phi).tolist() for phi in (0, 50)]
    [[2, 2, 2, 2, 2, 2], [4, 4, 2, 2, 2, 2]]
    """
    from graphveil.kernels.neighborhoods import boxes as kernels  # noqa: PLC0415  heavy: not for help

    check_phi(phi)
    degrees, inner = graph.degrees(), triangles(graph)
    labels = classes_of(degrees, inner)
    sizes = np.bincount(labels)
    model = np.empty(sizes.size, dtype=np.int64)
    model[labels] = np.arange(graph.n_nodes)
    first, second = degrees[model], inner[model]
    distinct, start = np.unique(first, return_index=True)
    before = np.concatenate([[0], np.cumsum(sizes)])
    pairs = kernels.NeighborPairs(np.append(start, first.size), second, before)
    reach, reach_inside = _reach(first, phi), _reach(second, phi)
    boxes = kernels.Boxes(
        np.searchsorted(distinct, first - reach, side="left"),
        np.searchsorted(distinct, first + reach, side="right"),
        second - reach_inside,
        second + reach_inside,
    )
    sizes_of_nodes: Ints = kernels.nodes_in_boxes(pairs, boxes)[labels]
    return sizes_of_nodes


def check_phi(phi: float) -> None:
    """Refuse what is no percentage.

    Raises
    ------
    ParameterError
        Where phi is negative, or no number.

    Examples
    --------
    >>> check_phi(2.5)
    """
    if not (math.isfinite(phi) and phi >= 0):
        raise ParameterError(f"phi={phi} is no uncertainty. Give a percentage, 0 or more.")


def _reach(values: Ints, phi: float) -> Ints:
    """Return the largest whole number that is at most phi percent of every value, exactly."""
    share = Fraction(str(phi)) / 100
    distinct, ranks = np.unique(values, return_inverse=True)
    most = 2**40
    reaches = [min(int(share * value), most) for value in distinct.tolist()]
    return np.array(reaches, dtype=np.int64)[ranks]
