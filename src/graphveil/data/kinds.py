"""The kinds of data there are: one table of what differs between them.

Rooms that come later are named by strings, ``module:name``, which they load themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, overload

import numpy as np

from graphveil.data.bipartite import Bipartite
from graphveil.data.columns import EDGE_NAMES, PAIR_NAMES, TOO_SHORT, plain
from graphveil.data.ids import Ids, text
from graphveil.data.network import Graph, Network
from graphveil.data.origin import LISTS, PublicLists
from graphveil.data.table import Table

Data = Graph | Bipartite | Table | Network
Container = type[Graph | Bipartite | Table | Network]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of data: what it is called, how it lies in files, how it is loaded and counted.

    `name`: as flags, formats and manifests write it; `container`: the class that holds it; `words`:
    what a message calls it; `people`: what the rows of the container are called: one a person;
    `measured`: what its size is counted in, and how many of these are too many for what is heavy;
    `columns`: the columns of a released file; empty where the data has names of its own;
    `known_columns`: pairs of names, plain, by which a file says that it holds this kind; `ids`: the
    attribute that holds the ids of people; `everyone`: the role of a further file that lists
    everyone; None where none is needed; `suppressed_cells`: what stands for a suppressed cell in a
    release; `loader, options`: the function that reads a file, and the class of its options;
    `comparison`: the class that holds an original beside a release; `checked`: what the checker
    knows of it; `as_features`: makes users by features of it; `check`: refuses what is no data to
    anonymize; `counts`: how much a release holds of what, for its manifest; `sizes`: how much there
    is of what, for its owner: a word and an attribute of the container; `cells, cells_of_one`: how
    many cells there are, each 1 or 0 or a category, and how many belong to one person; `lists`: the
    lists that count as public, whatever noise is added; none where nobody adds noise; `whole`: all
    that can be known of a person; `content`: what a digest is made of: the bytes of the structure,
    and the names in it; `as_table`: gives the table that the data is, or shows; None where it is
    none.
    """

    name: str
    container: Container
    words: str
    people: str
    measured: tuple[str, int]
    columns: tuple[str, ...]
    known_columns: frozenset[tuple[str, str]]
    ids: str
    everyone: str | None
    suppressed_cells: str
    loader: str
    options: str
    comparison: str
    checked: str
    as_features: Callable[[Any], Bipartite]
    check: Callable[[Any], None]
    counts: Callable[[Any], dict[str, int]]
    sizes: Mapping[str, str]
    cells: Callable[[Any], int]
    cells_of_one: Callable[[Any], int]
    lists: PublicLists = ()
    whole: str
    content: Callable[[Any], tuple[list[bytes], list[Ids]]]
    as_table: Callable[[Any], Table] | None

    def amount(self, data: Data) -> int:
        """Return the size of some data, counted as `measured` says."""
        size: int = getattr(data, f"n_{self.measured[0]}")
        return size


def _bipartite_counts(data: Bipartite) -> dict[str, int]:
    items = int(np.unique(data.indices).size)
    return {"users": data.n_users, "items": items, "entries": data.n_entries}


def _table_counts(table: Table) -> dict[str, int]:
    suppressed = table.n_suppressed
    return {"rows": table.n_rows, "columns": table.n_columns, "suppressed_cells": suppressed}


def _network_counts(network: Network) -> dict[str, int]:
    counts = {"nodes": network.n_nodes, "ties": network.n_ties, "columns": network.n_attributes}
    suppressed = 0 if network.people is None else network.people.n_suppressed
    return {**counts, "suppressed_cells": suppressed}


def _network_content(network: Network) -> tuple[list[bytes], list[Ids]]:
    structure = [np.int64(len(network.layers)).tobytes()]
    for layer in network.layers:
        shape = np.array([layer.n_nodes, layer.directed, layer.indices.size], dtype=np.int64)
        structure += [shape.tobytes(), layer.indptr.tobytes(), layer.indices.tobytes()]
    names = [text([layer.name for layer in network.layers])]
    if network.people is not None:
        cells, listed = _table_content(network.people)
        structure, names = structure + cells, names + listed
    return structure, [*names, network.labels()]


def _lists(data: Graph | Bipartite) -> list[bytes]:
    return [np.int64(data.size).tobytes(), data.indptr.tobytes(), data.indices.tobytes()]


def _table_content(table: Table) -> tuple[list[bytes], list[Ids]]:
    shape = np.array([table.n_rows, table.n_columns], dtype=np.int64).tobytes()
    names = text(table.columns)
    return [shape, table.codes.tobytes()], [names, *table.categories, table.labels()]


_NETWORK = Kind(
    name="network",
    container=Network,
    words="a network with attributes or directions",
    people="nodes",
    measured=("edges", 200_000),
    columns=("source", "target"),
    known_columns=frozenset(),
    ids="ids",
    everyone="people",
    suppressed_cells="a suppressed attribute is `*`; `*` equals only `*`",
    loader="graphveil.io:load_network",
    options="graphveil.io.options:NetworkOptions",
    comparison="graphveil.evaluate.comparison:NetworkComparison",
    checked="graphveil.verify.kinds.networks:NETWORK",
    as_features=lambda network: Bipartite.from_graph(network.graph()),
    check=lambda _network: None,
    counts=_network_counts,
    sizes={"people": "n_nodes", "ties": "n_ties", "attributes": "n_attributes"},
    cells=lambda network: network.n_nodes * (network.n_nodes - 1) // 2,
    cells_of_one=lambda network: max(network.n_nodes - 1, 0),
    whole="all their edges and attributes",
    content=_network_content,
    as_table=None,
)
_GRAPH = replace(  # the network of which nothing more is said has a name of its own in manifests
    _NETWORK,
    name="graph",
    container=Graph,
    words="a network",
    measured=("edges", 200_000),
    known_columns=frozenset(EDGE_NAMES) - frozenset(TOO_SHORT),
    everyone="nodes",
    suppressed_cells="none: a graph has no cells",
    options="graphveil.io.options:GraphOptions",
    comparison="graphveil.evaluate.comparison:GraphComparison",
    checked="graphveil.verify.kinds.networks:GRAPH",
    counts=lambda graph: {"nodes": graph.n_nodes, "edges": graph.n_edges},
    sizes={"people": "n_nodes", "ties": "n_edges"},
    lists=("people",),
    whole="all their edges",
    content=lambda graph: (_lists(graph), [graph.labels()]),
)

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "graph": _GRAPH,
        "bipartite": Kind(
            name="bipartite",
            container=Bipartite,
            words="user-item data",
            people="users",
            measured=("entries", 10_000_000),
            columns=("user", "item"),
            known_columns=frozenset(PAIR_NAMES),
            ids="users",
            everyone="users",
            suppressed_cells="an entry that is not published is absent, not marked",
            loader="graphveil.io:load_bipartite",
            options="graphveil.io.options:BipartiteOptions",
            comparison="graphveil.evaluate.comparison:BipartiteComparison",
            checked="graphveil.verify.kinds.features:FEATURES",
            as_features=lambda data: data,
            check=Bipartite.check_items,
            counts=_bipartite_counts,
            sizes={"people": "n_users", "items": "n_features", "entries": "n_entries"},
            cells=lambda data: data.n_users * data.n_features,
            cells_of_one=lambda data: (  # of a row; where items are people, of a column, too
                max(2 * data.n_users - 1, 0) if data.items == "people" else data.n_features
            ),
            lists=LISTS,
            whole="all their items",
            content=lambda data: (_lists(data), [data.labels(), data.feature_labels()]),
            as_table=Table.from_one_hot,
        ),
        "table": Kind(
            name="table",
            container=Table,
            words="a table",
            people="rows",
            measured=("rows", 1_000_000),
            columns=(),
            known_columns=frozenset(),
            ids="ids",
            everyone=None,
            suppressed_cells=(
                "a suppressed cell is `*` in text files and null in others; `*` equals only `*`"
            ),
            loader="graphveil.io:load_table",
            options="graphveil.io.options:TableOptions",
            comparison="graphveil.evaluate.comparison:TableComparison",
            checked="graphveil.verify.kinds.tables:TABLE",
            as_features=Table.one_hot,
            check=Table.check,
            counts=_table_counts,
            sizes={"rows": "n_rows", "columns": "n_columns"},
            cells=lambda table: table.n_rows * table.n_columns,
            cells_of_one=lambda table: table.n_columns,
            whole="the complete row",
            content=_table_content,
            as_table=lambda table: table,
        ),
        "network": _NETWORK,
    }
)
"""Every kind of data by its name."""

CONTAINERS: tuple[Container, ...] = tuple(kind.container for kind in KINDS.values())
"""The class of every kind."""


def kind_of(data: Data | Container) -> Kind:
    """Return the kind of some data, or of its class."""
    container = data if isinstance(data, type) else type(data)
    return next(kind for kind in KINDS.values() if kind.container is container)


def kinds_named(names: Sequence[str]) -> list[Kind]:
    """Return which kinds of data the names of columns speak of."""
    plains = {plain(name) for name in names}
    return [
        kind for kind in KINDS.values() if any({*pair} <= plains for pair in kind.known_columns)
    ]


def released_kind(kind: Container, first: Container) -> Container:
    """Return the kind of a release: where a method takes features first, a graph becomes features.

    A table stays a table, though it is read as features.
    """
    return Bipartite if first is Bipartite and kind is not Table else kind


def as_released(data: Data, first: Container) -> Data:
    """Return data as the kind of its releases; for `first` see `released_kind`."""
    return encoded(data, released_kind(type(data), first))


def compared_kind(kind: Container) -> Container:
    """Return the kind that metrics and attacks read of data of a kind: of networks, the ties."""
    return Graph if kind is Network else kind


@overload
def encoded(data: Data, wanted: type[Bipartite]) -> Bipartite: ...


@overload
def encoded(data: Data, wanted: Container) -> Data: ...


def encoded(data: Data, wanted: Container) -> Data:
    """Return the data as the kind wanted where it can be.

    A table becomes its one-hot features, a graph the neighbors of everyone.
    """
    return kind_of(data).as_features(data) if wanted is Bipartite else data


def beside(original: Data, wanted: Container, *, people: bool) -> Data:
    """Return an original as the kind of data of its release, where it can be.

    A graph becomes users by features only where a release says that items are people, and a network
    of which nothing more is said a graph.
    """
    if people:
        features = encoded(original, Bipartite)
        return features if features.items else features.with_items("people")
    if not isinstance(original, Network):
        return encoded(original, wanted)
    if wanted is Network and isinstance(original, Graph):
        return original.with_people(None)
    return original.graph() if wanted is Graph and original.is_bare else original
