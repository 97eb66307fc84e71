"""`measure`: how identifiable people are in data as it is, whatever kind of data that is.

One function for graphs, networks, tables and user-item data. It checks the parameters, reads the
object, and hands over to the module for its kind. `finer` says what an attacker finds who knows one
thing more than the measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

from graphveil.claims.knowledge import ROWS_AS_ROWS
from graphveil.core.errors import ParameterError
from graphveil.core.text import counted
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.data.kinds import CONTAINERS, as_container, kind_of, read_anew
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
"""The measures that include the degrees of neighbors already."""


def finer(
    data: Graph | Bipartite | Table, measured: Identifiability | EqualRows
) -> Identifiability | EqualRows | None:
    """Return what an attacker finds who knows more: the measure, and one thing in addition.

    For a graph that is the degree of each neighbor (vrq at distance 1), for a table the rest of the
    row.

    Parameters
    ----------
    data
        What was measured.
    measured
        The result of `measure` for it.

    Returns
    -------
    Identifiability or EqualRows or None
        The classes of people who are equal in both; None if nothing more is known.

    Raises
    ------
    ParameterError
        If the result is not of this data.

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
        # A graph: the degrees of the neighbors in addition.
        if measured.measure in _KNOW_IT:
            return None
        around = degrees_around(data, 1)
        return replace(measured, labels=classes_of(measured.labels, around), fuzzy=None)
    if isinstance(measured, EqualRows) and isinstance(data, Table) and measured.columns is not None:
        return replace(measured, labels=equal_rows(data), columns=None)
    return None


def check_parameters(measure: str, k: int, *, distance: int = 1, phi: float | None = None) -> None:
    """Refuse parameters that `measure` cannot use, before any data is read.

    Parameters
    ----------
    measure
        A name of `MEASURES`.
    k
        At least 2.
    distance
        How far the measure reaches, in hops; at least 1.
    phi
        The uncertainty in percent; only for count at distance 1.

    Raises
    ------
    ParameterError
        If one of them is not valid, or they do not go together.

    Examples
    --------
    >>> check_parameters("count", 2, phi=5)
    >>> check_parameters("count", 1)
    Traceback (most recent call last):
        ...
    graphveil.core.errors.ParameterError: k=1 would leave no node unprotected. Choose k >= 2.
    """
    check_distance(entry_of(measure), distance)
    if k < 2:
        raise ParameterError(f"k={k} would leave no node unprotected. Choose k >= 2.")
    if phi is None:
        return
    # Candidate sets are defined for degree and triangles, that is, for count at distance 1.
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
        For a graph: a name of `MEASURES`. Default: ``degree``. For a network also ``profile``, the
        degrees in each layer (out-degree and in-degree if it is directed), which is the default
        unless there is a single undirected layer; and, for directed edges of one type,
        ``directed-count``: the degrees, the number of neighbors, and the number of edges among a
        person and these.
    distance
        For a graph: how far the attacker's knowledge reaches around a person, in hops; 1 for the
        degree.
    k
        People in equivalence classes smaller than k are unprotected; at least 2.
    phi
        For a graph: how far off the attacker's knowledge is, in percent; only for the measure count
        at distance 1.
    columns
        For a table: the columns that the attacker knows. Default: all.
    known
        For a network: the attributes that the attacker knows of a person, in addition to edges.

    Returns
    -------
    Identifiability or EqualRows or NetworkRisk
        The equivalence classes and their figures: `Identifiability` for a graph, `NetworkRisk` for
        a network, `EqualRows` for a table or user-item data. All are `EquivalenceClasses`.

    Raises
    ------
    ParameterError
        If the measure is unknown or cannot reach that far, k is below 2, phi does not go with the
        measure, a column is unknown, or a parameter belongs to a different kind of data.
    UsageError
        If the object can be read in more than one way, or in none.

    Notes
    -----
    The measures are those of Table 1 of de Jong, van der Loo and Takes, *The anonymization problem
    in social networks*; uniqueness is their equation 3. `MEASURES` names the source of each.
    Classes are exact, but for comparisons of neighborhoods that were given up (dk and hybrid):
    these are counted in ``undecided``, and count as different.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> star_as_it_is = measure(star, k=2)
    >>> star_as_it_is.uniqueness, star_as_it_is.unprotected().tolist()
    (0.25, [0])
    >>> measure(Table.from_columns({"sex": ["f", "m", "f"]})).uniqueness
    0.3333333333333333
    """
    # Step 1: read the object, whatever library it is from.
    container = as_container(data, CONTAINERS, wanted_by="measure")
    # Step 2: by kind, check the parameters that apply, and refuse those that do not.
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
    # Step 3: tables and user-item data have one measure, equality of rows. What a row is must be
    # decided before rows are counted.
    if isinstance(container, Table):
        with read_anew(data, container):
            container.check()
    return EqualRows(
        k=k,
        ids=container.labels(),
        labels=equal_rows(container, columns=columns),
        noun=kind_of(container).people,
        columns=None if columns is None else tuple(columns),
        counted="rows" if container.person in ROWS_AS_ROWS else "people",
        units=getattr(container, "units", None),
    )


def _refuse_known(names: Sequence[str]) -> None:
    """Refuse known attributes where there are none."""
    if names:
        raise ParameterError("known applies to attributes of a network only. Remove it.")


def _of_nodes(
    graph: Graph, entry: Measure, distance: int, k: int, phi: float | None
) -> Identifiability:
    """Return the result for a graph, with candidate sets if phi is given."""
    labels, values, undecided = entry.classes_and_values(graph, distance)
    # With phi also the candidate sets, and what they leave to inexact knowledge.
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
