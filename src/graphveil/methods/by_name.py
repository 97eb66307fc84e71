"""A method by its name: one call from data to release."""

from __future__ import annotations

from typing import Any

from graphveil.errors import ParameterError
from graphveil.methods import METHODS
from graphveil.records.ledger import Ledger
from graphveil.release import Release


def anonymize(
    data: Any,
    method: str,
    *,
    seed: int | None = None,
    ledger: Ledger | None = None,
    **parameters: Any,
) -> Release:
    """Return a release of the data by this method with these parameters.

    Parameters
    ----------
    data
        A container that the method accepts, or an object of another library that holds it
        (NetworkX, igraph, SciPy, pandas, polars, DuckDB, Arrow).
    method
        A name of `METHODS`, as on the command line.
    seed
        None draws from the operating system's entropy. A seed is a secret of the owner.
    ledger
        Where epsilon is entered before anything is drawn, of a method under differential privacy.
    parameters
        As the method's class takes them, or as the command line does.

    Raises
    ------
    ParameterError
        Where there is no such method, or a parameter is unknown, missing or out of range.
    UsageError
        Where the data is of another kind.
    InfeasibleError
        Where the data has too few rows.

    Warns
    -----
    GraphveilWarning
        What the owner should know before publishing.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> gv.anonymize(graph, "k-degree", k=2).guarantee.sentence
    'Every node of the release has the same degree as at least 1 other.'
    """
    known = METHODS.get(method)
    if known is None:
        raise ParameterError(f"no method {method!r}. Use one of {', '.join(METHODS)}.")
    return known.from_parameters(parameters).anonymize(data, seed=seed, ledger=ledger)
