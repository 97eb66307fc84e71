"""Data that stands for another kind: a table or a graph for users by features."""

from __future__ import annotations

from typing import Any, get_args, overload

from graphveil.data.bipartite import Bipartite
from graphveil.data.graph import Graph
from graphveil.data.table import Table

Container = type[Graph | Bipartite | Table]


def encoded_kind(kind: Container, wanted: Container) -> Container:
    """Return what data of a kind becomes where another is wanted: all becomes features.

    Examples
    --------
    >>> encoded_kind(Table, Bipartite).__name__, encoded_kind(Table, Graph).__name__
    ('Bipartite', 'Table')
    """
    return Bipartite if wanted is Bipartite else kind


@overload
def encoded(data: Graph | Bipartite | Table, wanted: type[Bipartite]) -> Bipartite: ...


@overload
def encoded(data: Graph | Bipartite | Table, wanted: Container) -> Graph | Bipartite | Table: ...


def encoded(data: Graph | Bipartite | Table, wanted: Container) -> Graph | Bipartite | Table:
    """Return the data as the kind wanted where it can be.

    A table becomes its one-hot features, a graph the neighbors of everyone.

    Parameters
    ----------
    data
        Any container.
    wanted
        The kind that a method accepts, or that a release has.

    Examples
    --------
    >>> encoded(Table.from_columns({"sex": ["f", "m"]}), Bipartite)
    Bipartite(n_users=2, n_features=2, n_entries=2)
    """
    if wanted is Bipartite and isinstance(data, Table):
        return data.one_hot()
    if wanted is Bipartite and isinstance(data, Graph):
        return Bipartite.from_graph(data)
    return data


def accepted_kinds(accepts: Any) -> tuple[Container, ...]:
    """Return every kind of data that stands for what a method accepts, the method's own first.

    Parameters
    ----------
    accepts
        A kind, several in a tuple, or their union. A method for features alone accepts all.

    Examples
    --------
    >>> [kind.__name__ for kind in accepted_kinds(Bipartite)]
    ['Bipartite', 'Table', 'Graph']
    """
    kinds: tuple[Container, ...]
    kinds = accepts if isinstance(accepts, tuple) else get_args(accepts) or (accepts,)
    return (*kinds, Table, Graph) if kinds == (Bipartite,) else kinds
