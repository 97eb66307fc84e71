"""Structural measures: which nodes look alike to someone who knows a little of the network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.data.ids import Ids
from graphveil.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What an adversary knows of a node, and the value that all nodes alike share.

    Parameters
    ----------
    name
        As on the command line.
    knows
        The adversary's knowledge, in words.
    definition
        The value, in words.
    source
        Where it is defined.
    signature
        Graph to one integer a node; equal integers mean that the nodes look alike.
    """

    name: str
    knows: str
    definition: str
    source: str
    signature: Callable[[Graph], NDArray[np.int64]]


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            name="degree",
            knows="how many neighbours a person has",
            definition="the number of neighbours",
            source="Liu & Terzi, SIGMOD 2008",
            signature=Graph.degrees,
        ),
    )
}
"""Every measure by its name."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Identifiability:
    """How identifiable the people of a network are under one measure, as it stands.

    Parameters
    ----------
    measure
        The measure's name.
    k
        The class size below which a node counts as at risk.
    ids
        The id of every node.
    node_values
        int64, shape (n,): the measure's value of every node.
    values, sizes
        int64, shape (classes,): each distinct value, and how many nodes share it.
    """

    measure: str
    k: int
    ids: Ids
    node_values: NDArray[np.int64]
    values: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @cached_property
    def node_sizes(self) -> NDArray[np.int64]:
        """The class size of every node, int64, shape (n,)."""
        return self.sizes[np.searchsorted(self.values, self.node_values)]

    @property
    def uniqueness(self) -> float:
        """The share of nodes that nobody else looks like."""
        return float(np.count_nonzero(self.sizes == 1) / max(self.ids.size, 1))

    @property
    def share_at_risk(self) -> float:
        """The share of nodes in classes smaller than k."""
        return float(self.sizes[self.sizes < self.k].sum() / max(self.ids.size, 1))

    def at_risk(self) -> Ids:
        """Return the ids of the nodes in classes smaller than k, smallest classes first."""
        risky = np.flatnonzero(self.node_sizes < self.k)
        return self.ids[risky[np.argsort(self.node_sizes[risky], kind="stable")]]

    def size_distribution(self) -> list[tuple[int, int, int]]:
        """Return (class size, number of such classes, nodes in them), smallest size first."""
        sizes, classes = np.unique(self.sizes, return_counts=True)
        pairs = zip(sizes.tolist(), classes.tolist(), strict=True)
        return [(size, count, size * count) for size, count in pairs]

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON can hold them; ids are not among them."""
        return {
            "measure": self.measure,
            "k": self.k,
            "nodes": int(self.ids.size),
            "classes": int(self.sizes.size),
            "smallest_class": int(self.sizes.min()) if self.sizes.size else 0,
            "unique_nodes": int(np.count_nonzero(self.sizes == 1)),
            "uniqueness": self.uniqueness,
            "nodes_at_risk": int(self.sizes[self.sizes < self.k].sum()),
            "share_at_risk": self.share_at_risk,
            "class_sizes": [
                {"size": size, "classes": classes, "nodes": nodes}
                for size, classes, nodes in self.size_distribution()
            ],
        }


def check_parameters(measure: str, k: int) -> None:
    """Refuse what `measure` cannot use, before any data is read.

    Raises
    ------
    ParameterError
        Where the measure is unknown, or k is below 2.
    """
    if measure not in MEASURES:
        raise ParameterError(f"no measure {measure!r}. Use one of {', '.join(MEASURES)}.")
    if k < 2:
        raise ParameterError(f"k={k} puts nobody at risk. Give k >= 2.")


def measure(graph: Graph, *, measure: str = "degree", k: int = 2) -> Identifiability:
    """Return how identifiable the nodes of a graph are, exactly.

    Parameters
    ----------
    graph
        The network as it stands.
    measure
        A name of `MEASURES`.
    k
        Nodes in classes smaller than k are at risk; at least 2.

    Raises
    ------
    ParameterError
        Where the measure is unknown, or k is below 2.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> found = measure(star, k=2)
    >>> found.uniqueness, found.at_risk().tolist()
    (0.25, [0])
    """
    check_parameters(measure, k)
    node_values = MEASURES[measure].signature(graph)
    values, sizes = np.unique(node_values, return_counts=True)
    return Identifiability(
        measure=measure,
        k=k,
        ids=graph.labels(),
        node_values=node_values,
        values=values,
        sizes=sizes.astype(np.int64),
    )
