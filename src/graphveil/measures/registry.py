"""The structural measures: what each knows, how its classes are computed, what edits affect.

The measures are those of de Jong, van der Loo and Takes (Table 1 of *The anonymization problem in
social networks*, and their comparison of measures), each with its source. N is the neighborhood of
a node: all nodes within the distance, and the edges between them.

A measure is finer than another one if its classes are never larger. For any distance: hybrid, dk,
degree-distribution, count, edge-count; hybrid, vrq; dk, degree. At distance 1 also count, degree
and vrq, degree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.knowledge import OF_DIRECTED_TIES
from graphveil.core.errors import ParameterError
from graphveil.core.hints import one_of, option
from graphveil.data import Graph
from graphveil.measures.isomorphism import isomorphic, isomorphic_and_degrees_around
from graphveil.measures.values import (
    Columns,
    Labels,
    classes_of,
    degree,
    degrees_around,
    degrees_inside,
    edges_alone,
    nodes_and_edges,
)

Nodes: TypeAlias = "NDArray[np.int64]"


def the_ends(_graph: Graph, _distance: int, u: int, v: int) -> Nodes:
    """Return the two ends of the edge, sorted: the nodes whose degree it changes."""
    return np.array(sorted((u, v)), dtype=np.int64)


def within_of_both(graph: Graph, distance: int, u: int, v: int) -> Nodes:
    """Return the nodes within the distance of both ends, sorted: their N contains the edge."""
    return np.intersect1d(within(graph, u, distance), within(graph, v, distance))


def within_of_either(graph: Graph, distance: int, u: int, v: int) -> Nodes:
    """Return the nodes within the distance of either end, sorted: their N contains an end."""
    return np.union1d(within(graph, u, distance), within(graph, v, distance))


def within(graph: Graph, center: int, distance: int) -> Nodes:
    """Return the nodes within the distance of the center, itself included, sorted."""
    reached = rim = np.array([center], dtype=np.int64)
    for _ in range(distance):
        # The rim moves outwards by one hop.
        around = [graph.neighbors(node) for node in rim.tolist()]
        rim = np.setdiff1d(np.concatenate(around).astype(np.int64), reached)
        if rim.size == 0:
            break
        reached = np.union1d(reached, rim)
    return reached


PROFILE, DIRECTED_COUNT = OF_DIRECTED_TIES
"""The measures of directed edges: how many lead away from a person, and how many to that person;
and also how many people that are, and how many edges there are among them all.
"""

ClassesOfNodes = Callable[[Graph, int], tuple[Labels, int]]
Affected: TypeAlias = Callable[[Graph, int, int, int], "NDArray[np.int64]"]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What an attacker knows of a node, and the value that equal nodes share.

    Parameters
    ----------
    name
        As on the command line.
    knows
        The attacker's knowledge, in words.
    definition
        The value, in words; N is the neighborhood: the nodes within the distance and all edges
        between them.
    source
        Where it is defined.
    classes
        From graph and distance to the class of every node, and the number of comparisons given up.
    values
        From graph and distance to the value in integers; None if it is not a fixed number of
        integers.
    affected
        From graph, distance and the ends of one of its edges to the nodes, sorted, whose value may
        change when that edge is removed: A_M of Table 1.
    degree_is_fixed
        Whether two nodes in one class are sure to have the same degree.
    largest_distance
        How far it can reach, in hops; None if any distance is possible.

    Examples
    --------
    >>> MEASURES["count"].definition
    'the numbers of nodes and of edges of N'
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> MEASURES["count"].affected(star, 1, 0, 1).tolist()
    [0, 1]
    """

    name: str
    knows: str
    definition: str
    source: str
    classes: ClassesOfNodes
    values: Callable[[Graph, int], Columns] | None = None
    affected: Affected
    degree_is_fixed: Literal["always", "at distance 1", "never"]
    largest_distance: int | None = None

    def fixes_degree(self, distance: int) -> bool:
        """Return whether nodes in one class at this distance are sure to have the same degree.

        Then the degrees of a release form groups of at least k, and bounds for k-degree anonymity
        hold.

        Parameters
        ----------
        distance
            How far the measure reaches, in hops.

        Examples
        --------
        >>> count = MEASURES["count"]
        >>> count.fixes_degree(1), count.fixes_degree(2)
        (True, False)
        """
        return self.degree_is_fixed == "always" or (
            self.degree_is_fixed == "at distance 1" and distance == 1
        )

    def classes_and_values(self, graph: Graph, distance: int) -> tuple[Labels, Columns, int]:
        """Return the classes, the values, and how many comparisons were given up.

        Parameters
        ----------
        graph
            The network.
        distance
            How far the measure reaches, in hops.

        Returns
        -------
        labels
            int64, shape (n,): the class of every node, 0..C-1.
        values
            Integers of every node by what they count; the class itself under ``class`` if the value
            is not a fixed number of integers.
        given_up
            Comparisons of neighborhoods that were given up, and count as different.

        Examples
        --------
        >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
        >>> labels, values, _ = MEASURES["count"].classes_and_values(star, 1)
        >>> labels.tolist(), values["edges"].tolist()
        ([1, 0, 0, 0], [3, 1, 1, 1])
        """
        if self.values is None:
            labels, undecided = self.classes(graph, distance)
            return labels, {"class": labels}, undecided
        values = self.values(graph, distance)
        return classes_of(*values.values()), values, 0


def _by_value(values: Callable[[Graph, int], Columns]) -> ClassesOfNodes:
    """Return the function that gives the classes of equal integers."""

    def classes(graph: Graph, distance: int) -> tuple[Labels, int]:
        return classes_of(*values(graph, distance).values()), 0

    return classes


def _by_multiset(labels: Callable[[Graph, int], Labels]) -> ClassesOfNodes:
    """Return the function that gives the classes; none of its comparisons is given up."""

    def classes(graph: Graph, distance: int) -> tuple[Labels, int]:
        return labels(graph, distance), 0

    return classes


_COMPARISON = "de Jong, van der Loo & Takes, A systematic comparison of measures, arXiv 2407.02290"

_ALL = (
    # By a few integers: equal numbers are equal values.
    Measure(
        name="degree",
        knows="the number of a person's neighbors",
        definition="the number of neighbors",
        source="Liu & Terzi, SIGMOD 2008",
        classes=_by_value(degree),
        values=degree,
        affected=the_ends,
        degree_is_fixed="always",
        largest_distance=1,
    ),
    Measure(
        name="count",
        knows="the number of people near a person, and the number of edges among them all",
        definition="the numbers of nodes and of edges of N",
        source=_COMPARISON,
        classes=_by_value(nodes_and_edges),
        values=nodes_and_edges,
        affected=within_of_both,
        degree_is_fixed="at distance 1",
    ),
    Measure(
        name="edge-count",
        knows="the number of edges among a person and the people nearby",
        definition="the number of edges of N",
        source=_COMPARISON,
        classes=_by_value(edges_alone),
        values=edges_alone,
        affected=within_of_both,
        degree_is_fixed="never",
    ),
    # By a multiset of integers, counted inside the neighborhood.
    Measure(
        name="degree-distribution",
        knows="the degrees of a person and the people nearby, counted among them",
        definition="the multiset of the degrees of the nodes of N, counted inside N",
        source=_COMPARISON,
        classes=_by_multiset(degrees_inside),
        affected=within_of_both,
        degree_is_fixed="at distance 1",
    ),
    # By isomorphism: compared exactly, center to center.
    Measure(
        name="dk",
        knows="how all the people near a person are connected to each other and to the person",
        definition="N up to isomorphism, node to node",
        source="de Jong, van der Loo & Takes, Scientific Reports 2024 (d-k-anonymity)",
        classes=isomorphic,
        affected=within_of_both,
        degree_is_fixed="always",
    ),
    # By a multiset of degrees in the entire graph: edits one hop farther matter.
    Measure(
        name="vrq",
        knows="the degrees of the people near a person, counted in the entire network",
        definition="the multiset of the degrees of the nodes of N, counted in the entire graph",
        source="Hay et al., PVLDB 2008 (vertex refinement queries)",
        classes=_by_multiset(degrees_around),
        affected=within_of_either,
        degree_is_fixed="at distance 1",
    ),
    # By both.
    Measure(
        name="hybrid",
        knows=(
            "how the people near a person are connected, and their degrees in the entire network"
        ),
        definition="the pair of the values of dk and vrq",
        source=_COMPARISON,
        classes=isomorphic_and_degrees_around,
        affected=within_of_either,
        degree_is_fixed="always",
    ),
)

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL}
"""Every measure of undirected edges by its name, in the order in which they are listed to users."""


def known(name: str) -> Measure:
    """Return the measure of this name.

    Raises
    ------
    ParameterError
        If there is none, or it is for directed edges.
    """
    if name in OF_DIRECTED_TIES:
        raise ParameterError(
            f"measure={name} is for directed edges, but these are undirected. Read them with "
            f"{option('directed', 'keep')}, or use one of {', '.join(MEASURES)}."
        )
    if name not in MEASURES:
        raise ParameterError(f"unknown measure {name!r}. {one_of(name, MEASURES)}")
    return MEASURES[name]


def check_distance(measure: Measure, distance: int) -> None:
    """Refuse a distance that the measure cannot reach.

    Raises
    ------
    ParameterError
        If it is below 1, or above the measure's largest distance.
    """
    if distance < 1:
        raise ParameterError(f"distance={distance} reaches no one. Choose distance >= 1.")
    if measure.largest_distance is not None and distance > measure.largest_distance:
        raise ParameterError(
            f"distance={distance} is too large for {measure.name}. Use "
            f"distance={measure.largest_distance}, or a different measure."
        )
