"""How many people are unique in a network: by attributes, by edges, and by both together.

A `Network` may have directed edges, several layers and attributes. What is known of edges is a
measure of `MEASURES`, if there is one undirected layer, or the profile: the degrees in each layer,
out-degree and in-degree if it is directed. A class is of people who are equal in that and in all
known attributes. The figures are also given for each part of that knowledge, so that the owner sees
what makes people unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from graphveil.core.errors import ParameterError
from graphveil.core.hints import did_you_mean, option
from graphveil.core.text import printable
from graphveil.data import Network
from graphveil.measures.registry import DIRECTED_COUNT, MEASURES, PROFILE, known
from graphveil.measures.risk import EquivalenceClasses, class_sizes_of_nodes
from graphveil.measures.values import Columns, Labels, classes_of, directed_count

_PROFILE = "the out-degree and in-degree of a person"
_PROFILE_OF_LAYERS = "the degree of a person in each layer"
_DIRECTED_COUNT = (
    "the out-degree and in-degree of a person, and the numbers of people and edges around"
)


class UniqueShare(NamedTuple):
    """How many people are unique or unprotected by one kind of knowledge alone.

    Parameters
    ----------
    knows
        What is known of a person, in words.
    uniqueness
        The share of people who are unique by it.
    share_unprotected
        The share of people in classes smaller than k.
    """

    knows: str
    uniqueness: float
    share_unprotected: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NetworkRisk(EquivalenceClasses):
    """How identifiable people are to an attacker who knows attributes and something of edges.

    Parameters
    ----------
    k, ids, labels
        As in `EquivalenceClasses`: a class is of people who are equal in everything that is known.
    measure, distance
        What is known of edges, and how far that reaches; ``profile`` or ``directed-count`` if they
        are directed.
    known
        The attributes that are known.
    values
        The measure's value of everyone in integers, by what they count.
    parts
        The same figures for each part of the knowledge: each attribute, all of them, edges.

    Examples
    --------
    >>> from graphveil import Layer, measure
    >>> calls = Network((Layer.from_arcs([0, 0, 1], [1, 2, 0], n=3),))
    >>> measure(calls)
    NetworkRisk(profile: 3 nodes in 3 classes, 3 unprotected at k=2)
    """

    measure: str
    distance: int
    known: tuple[str, ...]
    values: Columns
    parts: tuple[UniqueShare, ...]

    @property
    def knows(self) -> str:
        """What is known of a person, in words."""
        return " and ".join(filter(None, [_listed(self.known), knowledge_of_ties(self)]))

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON can hold them, by name; ids are not among them.

        Examples
        --------
        >>> from graphveil import Layer, measure
        >>> calls = Network((Layer.from_arcs([0, 0, 1], [1, 2, 0], n=3),))
        >>> figures = measure(calls).summary()
        >>> figures["measure"], figures["unique_nodes"]
        ('profile', 3)
        """
        return {
            "measure": self.measure,
            "distance": self.distance,
            "known": list(self.known),
            **self._summary("nodes"),
            "alone": [each._asdict() for each in self.parts],
        }

    def __repr__(self) -> str:
        """Return what is known and how many are unprotected; never an id."""
        return self._described(", ".join([*map(printable, self.known), self.measure]), "nodes")


def knowledge_of_ties(measured: NetworkRisk) -> str:
    """Return what is known of a person's edges, in words."""
    if measured.measure == DIRECTED_COUNT:
        return _DIRECTED_COUNT
    if measured.measure != PROFILE:
        return MEASURES[measured.measure].knows
    of_one = {("out", "in"): _PROFILE, ("degree",): MEASURES["degree"].knows}
    return of_one.get(tuple(measured.values), _PROFILE_OF_LAYERS)


def measure_network(
    network: Network, measure: str | None, distance: int, k: int, known_columns: Sequence[str]
) -> NetworkRisk:
    """Return how identifiable the people of a network are; see `graphveil.measure`."""
    for name in known_columns:
        if name not in network.attributes:
            raise ParameterError(
                f"no attribute {name!r} for known. "
                f"{did_you_mean(name, network.attributes)}Attributes: "
                f"{', '.join(network.attributes) or 'none'}."
            )
    # Step 1: the classes by edges, in the finest way that the layers allow unless a measure is
    # given.
    plain = len(network.layers) == 1 and not network.layers[0].directed
    name = measure or ("degree" if plain else PROFILE)
    ties, values = _of_ties(network, name, distance)
    # Step 2: the classes by edges and all known attributes.
    rows = [network.codes_of(column).astype(np.int64) for column in known_columns]
    every = classes_of(ties, *rows) if rows else ties
    of_ties = NetworkRisk(
        k=k, ids=network.labels(), labels=ties, measure=name, distance=distance, known=(),
        values=values, parts=(),
    )  # fmt: skip
    # Step 3: the figures of each attribute, of all of them, and of edges.
    parts = [
        _alone(column, classes_of(row), k) for column, row in zip(known_columns, rows, strict=True)
    ]
    if len(rows) > 1:
        parts.append(_alone(_listed(known_columns), classes_of(*rows), k))
    if rows:
        parts.append(_alone(knowledge_of_ties(of_ties), ties, k))
    return replace(of_ties, labels=every, known=tuple(known_columns), parts=tuple(parts))


def _of_ties(network: Network, name: str, distance: int) -> tuple[Labels, Columns]:
    """Return the classes of people by what is known of their edges, and the values."""
    if name == DIRECTED_COUNT:
        _check_directed_count(network, distance)
        values = directed_count(network.layers[0])
        return classes_of(*values.values()), values
    if name != PROFILE:
        return known(name).classes_and_values(network.graph(), distance)[:2]
    # The profile: one or two degrees in each layer, named by the layer if there are several.
    columns: dict[str, Labels] = {}
    for layer in network.layers:
        prefix = "" if len(network.layers) == 1 else f"{layer.name} "
        names = ("out", "in") if layer.directed else ("degree",)
        columns |= {f"{prefix}{n}": v for n, v in zip(names, layer.degrees(), strict=True)}
    return classes_of(*columns.values()), columns


def _check_directed_count(network: Network, distance: int) -> None:
    """Refuse undirected edges, several edge types, and a distance beyond 1."""
    if len(network.layers) > 1:
        names = ", ".join(layer.name for layer in network.layers)
        raise ParameterError(
            f"measure={DIRECTED_COUNT} is for a single edge type, but there are {names}. Read "
            f"one of them with {option('kinds')}, or use measure={PROFILE}."
        )
    if not network.is_directed:
        raise ParameterError(
            f"measure={DIRECTED_COUNT} is for directed edges, but these are undirected. Read "
            f"them with {option('directed', 'keep')}, or use measure=count."
        )
    if distance != 1:
        raise ParameterError(
            f"distance={distance} does not apply to {DIRECTED_COUNT}. Leave it at 1."
        )


def _alone(knows: str, labels: Labels, k: int) -> UniqueShare:
    """Return the figures of one kind of knowledge."""
    sizes = class_sizes_of_nodes(labels)
    n = max(sizes.size, 1)
    return UniqueShare(knows, float(np.sum(sizes == 1) / n), float(np.sum(sizes < k) / n))


def _listed(names: Sequence[str]) -> str:
    """Return names as a list in words: "a, b and c"."""
    *first, last = [printable(name) for name in names] or [""]
    return f"{', '.join(first)} and {last}" if first else last
