"""The verb advise: the risk of data as it stands, and the methods that fit."""

from __future__ import annotations

import time
from typing import Any

from graphveil.advising.answers import Advice
from graphveil.advising.risks import risks_of
from graphveil.advising.trials import choice_of
from graphveil.data import Data, Graph
from graphveil.data.kinds import CONTAINERS, accepted_kinds, encoded, kind_of
from graphveil.data.objects import as_container
from graphveil.methods import METHODS

MEASURING_SECONDS, ALL_SECONDS = 10.0, 20.0
"""The CPU after which no further measure, and no further trial, is begun."""


def advise(data: Any) -> Advice:
    """Return how identifiable people are, and what a release with each method would be.

    Every method that fits is tried on a part of the data, with several values of its main
    parameter. All of it takes about 30 s of CPU at most; what was not begun by then says so.

    Parameters
    ----------
    data
        A `Graph`, `Bipartite` or `Table`, or an object of another library that holds one (NetworkX,
        igraph, SciPy, pandas, polars, DuckDB, Arrow).

    Raises
    ------
    UsageError
        Where the object can be read in more than one way, or in none.
    DataError
        Where items may be people and nobody said whether they are.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], n=6)
    >>> advice = advise(path)
    >>> advice.risks[0].unique, advice.choices[0].call
    (0, 'gv.KDegree(k=5).anonymize(data)')
    """
    container: Data = as_container(data, CONTAINERS, wanted_by="advise")
    kind = kind_of(container)
    kind.check(container)
    started = time.process_time()
    risks = risks_of(container, until=started + MEASURING_SECONDS)
    return Advice(
        kind=kind.name,
        sizes={word: getattr(container, size) for word, size in kind.sizes.items()},
        risks=risks,
        choices=tuple(
            choice_of(method, encoded(container, method.accepts), until=started + ALL_SECONDS)
            for method in METHODS.values()
            if _fits(method.accepts, container)
        ),
    )


def _fits(accepts: Any, data: Data) -> bool:
    """Whether a method is for this data: a graph as users by features is another question."""
    kinds = accepted_kinds(accepts)
    own = type(data)
    return own in kinds and (own is not Graph or kinds[0] is Graph)
