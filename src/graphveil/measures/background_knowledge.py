"""What somebody finds who knows one thing more than the measure."""

from __future__ import annotations

from dataclasses import replace

from graphveil.data import Bipartite, Graph, Table
from graphveil.errors import ParameterError
from graphveil.measures.multisets import degrees_around
from graphveil.measures.risk import EqualRows, Identifiability
from graphveil.measures.rows import equal_rows
from graphveil.measures.scalars import classes_of

NEIGHBORS = "how many neighbors each neighbor of a person has"
WHOLE_ROW = "the whole row of a person"
_KNOW_IT = {"vrq", "hybrid"}
"""The measures that know the degrees of neighbors already."""


def finer(
    data: Graph | Bipartite | Table, measured: Identifiability | EqualRows
) -> Identifiability | EqualRows | None:
    """Return what somebody finds who knows more: the measure, and one thing besides.

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
        The classes of people who are alike in both; None where nothing more is known.

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
            f"{measured.labels.size} people were measured, the data has {data.size}. Measure it."
        )
    if isinstance(measured, Identifiability) and isinstance(data, Graph):
        if measured.measure in _KNOW_IT:
            return None
        around = degrees_around(data, 1)
        return replace(measured, labels=classes_of(measured.labels, around), fuzzy=None)
    if isinstance(measured, EqualRows) and isinstance(data, Table) and measured.columns is not None:
        return replace(measured, labels=equal_rows(data), columns=None)
    return None
