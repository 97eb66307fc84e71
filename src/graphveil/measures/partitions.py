"""The nodes that look alike: the equivalence classes of a measure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.measures.registry import check_distance, known
from graphveil.measures.scalars import Labels


class Partition(NamedTuple):
    """The classes of a measure, and how many comparisons were given up.

    Parameters
    ----------
    labels
        int64, shape (n,): the class of every node, 0..C-1.
    undecided
        The number of pairs of neighborhoods whose isomorphism was not decided within the limit of
        steps. They count as different, so no class is larger than it should be.
    """

    labels: Labels
    undecided: int


def partition(graph: Graph, *, measure: str, distance: int = 1) -> Labels:
    """Return the class of every node: equal where, and only where, two nodes look alike.

    Parameters
    ----------
    graph
        The network.
    measure
        A name of `MEASURES`.
    distance
        How far the measure reaches, in hops.

    Returns
    -------
    labels
        int64, shape (n,), 0..C-1. The classes are in an order that does not depend on that of the
        nodes, but for classes of `dk` and `hybrid` that no invariant tells apart.

    Raises
    ------
    ParameterError
        Where the measure is unknown, or cannot reach that far.

    Examples
    --------
    >>> kite = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    >>> partition(kite, measure="count").tolist()
    [2, 1, 1, 0]
    """
    return divided(graph, measure=measure, distance=distance).labels


def divided(graph: Graph, *, measure: str, distance: int = 1) -> Partition:
    """Return the classes of a measure, and how many comparisons were given up; see `partition`.

    Examples
    --------
    >>> divided(Graph.from_edges([0], [1], n=3), measure="dk").undecided
    0
    """
    entry = known(measure)
    check_distance(entry, distance)
    return Partition(*entry.classes(graph, distance))


def class_sizes_of_nodes(labels: Labels) -> NDArray[np.int64]:
    """Return the size of every node's class, int64, shape (n,).

    Examples
    --------
    >>> class_sizes_of_nodes(np.array([0, 1, 1])).tolist()
    [1, 2, 2]
    """
    return np.bincount(labels).astype(np.int64)[labels] if labels.size else labels
