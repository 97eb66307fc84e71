"""Measuring data as it is: from what an attacker knows to the people who are unprotected.

What an attacker finds who knows one thing more than the measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

from graphveil.core.errors import ParameterError
from graphveil.core.text import counted
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.data.kinds import CONTAINERS, as_container, kind_of
from graphveil.measures.matchings import candidate_set_sizes, check_phi, noisy_share
from graphveil.measures.network import NetworkRisk, measure_network
from graphveil.measures.registry import Measure, check_distance
from graphveil.measures.registry import known as entry_of
from graphveil.measures.risk import EqualRows, Fuzzy, Identifiability
from graphveil.measures.rows import equal_rows
from graphveil.measures.values import classes_of, degrees_around, twins

NEIGHBORS = "the degrees of a person's neighbors"
WHOLE_ROW = "the complete row of a person"
_KNOW_IT = {"vrq", "hybrid"}
"""The measures that know the degrees of neighbors already."""


def finer(
    data: Graph | Bipartite | Table, measured: Identifiability | EqualRows
) -> Identifiability | EqualRows | None:
    """Return what an attacker finds who knows more: the measure, and one thing in addition.

    Of a graph that is how many neighbors each neighbor has, of a table the rest of the row.

    Parameters
    ----------
    data
        What was measured.
    measured
        The result.

    Returns
    -------
    Identifiability or EqualRows or None
        The classes of people who are equal in both; None if nothing more is known.

    Raises
    ------
    ParameterError
        Where the result is not of this data.

    Examples
    --------
    >>> from graphveil.measures import measure
    >>> paths = Graph.from_edges([0, 1, 3, 4, 5], [1, 2, 4, 5, 6], n=7)
    >>> by_degree = measure(paths)
    >>> by_degree.uniqueness, finer(paths, by_degree).uniqueness
    (0.0, 0.14285714285714285)
    """
    if measured.labels.size != data.size:
        raise ParameterError(
            f"the measurement covers {counted(measured.labels.size, 'person')}, but the data has "
            f"{data.size}. Measure this data."
        )
    if isinstance(measured, Identifiability) and isinstance(data, Graph):
        if measured.measure in _KNOW_IT:
            return None
        around = degrees_around(data, 1)
        return replace(measured, labels=classes_of(measured.labels, around), fuzzy=None)
    if isinstance(measured, EqualRows) and isinstance(data, Table) and measured.columns is not None:
        return replace(measured, labels=equal_rows(data), columns=None)
    return None


def check_parameters(measure: str, k: int, *, distance: int = 1, phi: float | None = None) -> None:
    """Refuse what `measure` cannot use, before any data is read."""
    check_distance(entry_of(measure), distance)
    if k < 2:
        raise ParameterError(f"k={k} would leave no node unprotected. Choose k >= 2.")
    if phi is None:
        return
    check_phi(phi)
    if (measure, distance) != ("count", 1):
        raise ParameterError(
            f"phi={phi} does not apply to {measure} at distance {distance}. Use the measure "
            "count at distance 1, or remove phi."
        )


@overload
def measure(  # type: ignore[overload-overlap]  # more is measured of a plain graph
    data: Graph, *, measure: str = "degree", distance: int = 1, k: int = 2, phi: float | None = None
) -> Identifiability: ...


@overload
def measure(
    data: Bipartite | Table, *, k: int = 2, columns: Sequence[str] | None = None
) -> EqualRows: ...


@overload
def measure(
    data: Network,
    *,
    measure: str | None = None,
    distance: int = 1,
    k: int = 2,
    known: Sequence[str] = (),
) -> NetworkRisk: ...


@overload
def measure(
    data: Any,
    *,
    measure: str | None = None,
    distance: int = 1,
    k: int = 2,
    phi: float | None = None,
    columns: Sequence[str] | None = None,
    known: Sequence[str] = (),
) -> Any: ...


def measure(
    data: Any,
    *,
    measure: str | None = None,
    distance: int = 1,
    k: int = 2,
    phi: float | None = None,
    columns: Sequence[str] | None = None,
    known: Sequence[str] = (),
) -> Identifiability | EqualRows | NetworkRisk:
    """Return how identifiable the people of some data are as it stands, exactly.

    Parameters
    ----------
    data
        A `Graph`, `Bipartite`, `Table` or `Network`, or an object of another library that holds one
        (NetworkX, igraph, SciPy, pandas, polars, DuckDB, Arrow).
    measure
        Of a graph: a name of `MEASURES`, the degree where not given. Of a network also ``profile``,
        the numbers of edges out and in, which is taken where edges are directed; and, of directed
        edges of one kind, ``directed-count``: the numbers of edges out and in, of people at their
        other ends, and of edges among all of these.
    distance
        Of a graph: how far the attacker's knowledge reaches around a person, in hops; 1 for the
        degree.
    k
        People in equivalence classes smaller than k are unprotected; at least 2.
    phi
        For a graph: how far off the attacker's knowledge is, in percent; for the measure count at
        distance 1.
    columns
        Of a table: the columns that the attacker knows, all where not given.
    known
        For a network: the attributes that the attacker knows of a person, in addition to edges.

    Raises
    ------
    ParameterError
        Where the measure is unknown or cannot reach that far, k is below 2, phi does not go with
        the measure, a column is unknown, or a parameter is of another kind of data.
    UsageError
        Where the object can be read in more than one way, or in none.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> star_as_it_is = measure(star, k=2)
    >>> star_as_it_is.uniqueness, star_as_it_is.unprotected().tolist()
    (0.25, [0])
    >>> measure(Table.from_columns({"sex": ["f", "m", "f"]})).uniqueness
    0.3333333333333333
    """
    container = as_container(data, CONTAINERS, wanted_by="measure")
    if isinstance(container, Graph):
        if columns is not None:
            raise ParameterError("columns applies to tables only. Remove it for a graph.")
        name = measure or "degree"
        check_parameters(name, k, distance=distance, phi=phi)
        _refuse_known(known)
        return _of_nodes(container, entry_of(name), distance, k, phi)
    if isinstance(container, Network):
        if columns is not None or phi is not None:
            raise ParameterError("columns and phi do not apply to a network. Remove them.")
        check_parameters("degree", k)
        return measure_network(container, measure, distance, k, known)
    _refuse_known(known)
    if measure is not None or distance != 1 or phi is not None:
        kind = type(container).__name__
        raise ParameterError(f"measure, distance and phi apply to a graph, not to a {kind}.")
    check_parameters("degree", k)
    return EqualRows(
        k=k,
        ids=container.labels(),
        labels=equal_rows(container, columns=columns),
        noun=kind_of(container).people,
        columns=None if columns is None else tuple(columns),
        counted="rows" if container.person == "assumed" else "people",
    )


def _refuse_known(names: Sequence[str]) -> None:
    if names:
        raise ParameterError("known applies to attributes of a network only. Remove it.")


def _of_nodes(
    graph: Graph, entry: Measure, distance: int, k: int, phi: float | None
) -> Identifiability:
    labels, values, undecided = entry.classes_and_values(graph, distance)
    fuzzy = None
    if phi is not None:
        sizes, share = candidate_set_sizes(graph, phi=phi), noisy_share(graph, phi=phi, k=k)
        fuzzy = Fuzzy(phi=phi, candidate_set_sizes=sizes, noisy_share_unprotected=share)
    return Identifiability(
        measure=entry.name,
        distance=distance,
        k=k,
        ids=graph.labels(),
        labels=labels,
        values=values,
        twins=twins(graph),
        undecided=undecided,
        fuzzy=fuzzy,
    )
