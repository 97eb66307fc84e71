"""Measuring a network: from a graph and what an adversary knows to who is unprotected."""

from __future__ import annotations

from typing import Any

from graphveil.data import Graph
from graphveil.data.objects import as_container
from graphveil.errors import ParameterError
from graphveil.measures.fuzziness import candidate_set_sizes, check_phi
from graphveil.measures.multisets import twins
from graphveil.measures.registry import Measure, check_distance, known
from graphveil.measures.risk import Fuzzy, Identifiability
from graphveil.measures.scalars import Columns, Labels, classes_of


def check_parameters(measure: str, k: int, *, distance: int = 1, phi: float | None = None) -> None:
    """Refuse what `measure` cannot use, before any data is read.

    Raises
    ------
    ParameterError
        Where the measure is unknown or cannot reach that far, k is below 2, or phi does not go with
        the measure.

    Examples
    --------
    >>> check_parameters("count", 2, phi=5)
    """
    check_distance(known(measure), distance)
    if k < 2:
        raise ParameterError(f"k={k} leaves no node unprotected. Give k >= 2.")
    if phi is None:
        return
    check_phi(phi)
    if (measure, distance) != ("count", 1):
        raise ParameterError(
            f"phi={phi} does not go with {measure} at distance {distance}. "
            "Use the measure count at distance 1, or leave phi out."
        )


def measure(
    graph: Any,
    *,
    measure: str = "degree",
    distance: int = 1,
    k: int = 2,
    phi: float | None = None,
) -> Identifiability:
    """Return how identifiable the nodes of a graph are, exactly.

    Parameters
    ----------
    graph
        The network as it stands: a `Graph`, or an object of another library (NetworkX, igraph,
        SciPy, pandas, polars, DuckDB, Arrow).
    measure
        A name of `MEASURES`.
    distance
        How far the adversary's knowledge reaches around a person, in hops; 1 for the degree.
    k
        Nodes in equivalence classes smaller than k are unprotected; at least 2.
    phi
        How far off the adversary's knowledge is, in percent; for the measure count at distance 1.

    Raises
    ------
    ParameterError
        Where the measure is unknown or cannot reach that far, k is below 2, or phi does not go with
        the measure.
    UsageError
        Where the object is no graph.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> star_as_it_is = measure(star, k=2)
    >>> star_as_it_is.uniqueness, star_as_it_is.unprotected().tolist()
    (0.25, [0])
    """
    check_parameters(measure, k, distance=distance, phi=phi)
    graph = as_container(graph, (Graph,), wanted_by="measure")
    labels, values, undecided = _classes_and_values(graph, known(measure), distance)
    fuzzy = None
    if phi is not None:
        fuzzy = Fuzzy(phi=phi, candidate_set_sizes=candidate_set_sizes(graph, phi=phi))
    return Identifiability(
        measure=measure,
        distance=distance,
        k=k,
        ids=graph.labels(),
        labels=labels,
        values=values,
        twins=twins(graph),
        undecided=undecided,
        fuzzy=fuzzy,
    )


def _classes_and_values(graph: Graph, entry: Measure, distance: int) -> tuple[Labels, Columns, int]:
    """Return classes, values and the comparisons given up; values that are known are used."""
    if entry.values is None:
        labels, undecided = entry.classes(graph, distance)
        return labels, {"class": labels}, undecided
    values = entry.values(graph, distance)
    return classes_of(*values.values()), values, 0
