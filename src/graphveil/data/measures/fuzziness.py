"""Fuzzy k-anonymity: what an adversary knows of a person is off by some percent."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import ParameterError
from graphveil.data import Graph
from graphveil.data.measures.values import classes_of, triangles

if TYPE_CHECKING:
    from graphveil.data.measures.kernels.neighborhoods import NeighborPairs

Ints: TypeAlias = "NDArray[np.int64]"

HEARD = 10
"""Factors by which a number is heard too small or too large, evenly spaced."""

ROUNDING = 1e-9

MOST = 2**40
"""No number of triangles or neighbors is larger."""


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
    from graphveil.data.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    check_phi(phi)
    labels, pairs, first = _distinct_pairs(graph)
    second = pairs.second
    distinct = first[pairs.start[:-1]]
    reach, reach_inside = _reach(first, phi), _reach(second, phi)
    boxes = kernels.Boxes(
        np.searchsorted(distinct, first - reach, side="left"),
        np.searchsorted(distinct, first + reach, side="right"),
        second - reach_inside,
        second + reach_inside,
    )
    sizes_of_nodes: Ints = kernels.nodes_in_boxes(pairs, boxes)[labels]
    return sizes_of_nodes


def _distinct_pairs(graph: Graph) -> tuple[Ints, NeighborPairs, Ints]:
    """Return the class of every node, the distinct pairs, and the degree of each pair."""
    from graphveil.data.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    degrees, inner = graph.degrees(), triangles(graph)
    labels = classes_of(degrees, inner)
    sizes = np.bincount(labels)
    model = np.empty(sizes.size, dtype=np.int64)
    model[labels] = np.arange(graph.n_nodes)
    first = degrees[model]
    start = np.unique(first, return_index=True)[1]
    before = np.concatenate([[0], np.cumsum(sizes)])
    pairs = kernels.NeighborPairs(np.append(start, first.size), inner[model], before)
    return labels, pairs, first


def noisy_share(graph: Graph, *, phi: float, k: int) -> float:
    """Return the share of nodes with fewer than k candidates for an attacker with inexact numbers.

    The degree and the triangles of a person reach this adversary each multiplied by a factor in
    1 - phi/100 .. 1 + phi/100, all equally likely. Candidates are the nodes that may have been
    heard so: those whose two numbers are each at most phi percent of their own away from what was
    heard. A mean over 10 x 10 pairs of factors, evenly spaced. Exact look-alikes are always
    candidates together.

    Parameters
    ----------
    graph
        The network.
    phi
        Percent, at least 0.
    k
        The candidates below which a node counts.

    Raises
    ------
    ParameterError
        Where phi is negative, or no number.

    Examples
    --------
    >>> fan = Graph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 2, 3, 5], n=6)
    >>> noisy_share(fan, phi=0, k=3), noisy_share(fan, phi=50, k=3)
    (1.0, 0.8866666666666667)
    """
    from graphveil.data.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    check_phi(phi)
    _, pairs, first = _distinct_pairs(graph)
    second = pairs.second
    sizes = np.diff(pairs.before)
    few = sizes < k
    distinct = first[pairs.start[:-1]]
    share, unprotected = phi / 100, 0
    factors = 1 + share * (2 * np.arange(HEARD) + 1 - HEARD) / HEARD
    for one, other in product(np.maximum(factors, 0).tolist(), repeat=2):
        low, high = _heard_as(first[few] * one, share)
        low_inside, high_inside = _heard_as(second[few] * other, share)
        boxes = kernels.Boxes(
            np.searchsorted(distinct, low, side="left"),
            np.searchsorted(distinct, high, side="right"),
            low_inside,
            high_inside,
        )
        found = kernels.nodes_in_boxes(pairs, boxes)
        unprotected += int(sizes[few][found < k].sum())
    return unprotected / (HEARD * HEARD * max(graph.n_nodes, 1))


def _heard_as(heard: NDArray[np.float64], share: float) -> tuple[Ints, Ints]:
    """Return the least and the greatest whole number that may be heard so."""
    low = np.ceil(heard / (1 + share) - ROUNDING)
    most = np.full(heard.size, MOST, dtype=np.int64)
    if share < 1:
        most = np.minimum(np.floor(heard / (1 - share) + ROUNDING), MOST).astype(np.int64)
    return low.astype(np.int64), most


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
        raise ParameterError(f"phi={phi} is not a valid uncertainty. Give a percentage >= 0.")


def _reach(values: Ints, phi: float) -> Ints:
    """Return the largest whole number that is at most phi percent of every value, exactly."""
    share = Fraction(str(phi)) / 100
    distinct, ranks = np.unique(values, return_inverse=True)
    reaches = [min(int(share * value), MOST) for value in distinct.tolist()]
    return np.array(reaches, dtype=np.int64)[ranks]
