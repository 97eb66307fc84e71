"""The kinds of data there are: one table of what differs between them.

`KINDS` answers every question whose answer depends on the kind alone: how it is called, counted
and digested. How it is read, compared and verified is in tables of `graphveil.io`,
`graphveil.evaluate` and `graphveil.verify`.
`as_container` reads objects of other libraries; an object with two readings is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, overload

import numpy as np

from graphveil.core.errors import UsageError
from graphveil.core.libraries import pa
from graphveil.core.warning_channel import as_argument_of
from graphveil.data.bipartite import Bipartite
from graphveil.data.columns import EDGE_NAMES, PAIR_NAMES, TOO_SHORT, arrow_table, is_frame, plain
from graphveil.data.ids import Ids, text
from graphveil.data.layers import may_mark_modes, two_modes
from graphveil.data.network import Graph, Network
from graphveil.data.origin import LISTS, PublicLists
from graphveil.data.table import Table

Data = Graph | Bipartite | Table | Network
Container = type[Graph | Bipartite | Table | Network]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of data: what it is called, how it is in files and how it is counted.

    `people`: what the rows of the container are called: one per person; `measured`: what its size
    is counted in, and how many of these are too many for what is heavy; `known_columns`: names by
    which a file says that it holds this kind; `everyone`: the role of a further file that lists
    everyone; `counts`: for its manifest; `sizes`: for its owner: a word and an attribute of the
    container; `cells, cells_of_one`: how many there are, and how many belong to one person;
    `lists`: those that count as public, whatever noise is added; `whole`: all that can be known of
    a person; `content`: what a digest is made of.
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
    """Return which kinds of data the names of columns indicate."""
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
    """Return the kind that metrics and attacks read of data of a kind: of networks, the edges."""
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
    """Return an original as the kind of data of its release, where it can be."""
    if people:
        features = encoded(original, Bipartite)
        return features if features.items else features.with_items("people")
    if not isinstance(original, Network):
        return encoded(original, wanted)
    if wanted is Network and isinstance(original, Graph):
        return original.with_people(None)
    return original.graph() if wanted is Graph and original.is_bare else original


class _Reading(NamedTuple):
    """One way to read an object: as this container, by this call with these further arguments.

    Where the object marks two kinds of nodes, `modes` is the attribute that does so.
    """

    kind: Container
    call: str
    further: str = ""
    modes: str = ""

    def __str__(self) -> str:
        return f"graphveil.{self.kind.__name__}.{self.call}(data{self.further})"


def as_container(
    data: Any, kinds: tuple[Container, ...], *, wanted_by: str, exact: bool = False
) -> Data:
    """Return what was handed in as a container of one of these kinds; refuse what has two readings.

    It is a container; a graph of NetworkX or igraph; a sparse matrix of SciPy (square is a graph,
    other shapes are users by features); or a frame that speaks the Arrow C stream: columns of known
    names, or a column of lists, say whether it is a graph or users by features; others are a table.
    `exact`: whether a frame is a table whose numbers and dates keep their values.
    """
    # Step 1: a container is taken as it is, if its kind is wanted.
    wants = f"{wanted_by} takes a {' or a '.join(kind.__name__ for kind in kinds)}"
    if isinstance(data, CONTAINERS):
        if isinstance(data, Graph) and Graph not in kinds and Network in kinds:
            return data.with_people(None)  # its layer has a name, which is published
        if isinstance(data, kinds):
            return data
        kind = type(data).__name__
        raise UsageError(
            f"{wants}, not a {kind}. Convert it, or choose a method for this kind of data ({kind})."
        )
    if exact and is_frame(data):
        return Table.from_arrow(data, exact=True)
    # Step 2: file names and lazy frames are refused with the call that reads them.
    if isinstance(data, str | os.PathLike):
        calls = " or ".join(
            f"graphveil.read_{kind_of(kind).name}({os.fspath(data)!r})" for kind in kinds
        )
        raise UsageError(f"{wants}, not a file name. Read the file first: {calls}.")
    if type(data).__name__ == "LazyFrame":
        raise UsageError(f"{wants}, not {_named(data)}. Pass data.collect().")
    # Step 3: the ways to read the object, and those that give a wanted kind.
    frame = arrow_table(data) if is_frame(data) else None
    possible = _readings(data) if frame is None else _readings_of_frame(frame, kinds)
    if Network in kinds and Graph not in kinds:
        possible = [one._replace(kind=Network) if one.kind is Graph else one for one in possible]
    fitting = [reading for reading in possible if reading.kind in kinds]
    # Step 4: exactly one way that leaves nothing open: read it.
    if len(fitting) == 1 and not (fitting[0].further or fitting[0].modes):
        made, call, *_ = fitting[0]
        with as_argument_of(f"graphveil.{made.__name__}.{call}(data, "):
            container: Data = getattr(made, call)(data if frame is None else frame)
        return container
    # Step 5: otherwise say why, with the calls to choose from.
    if fitting:
        raise UsageError(_choices(data, fitting, possible))
    read_as = "".join(f" It can be read as a {reading.kind.__name__}." for reading in possible[:1])
    calls = " or ".join(f"graphveil.{kind.__name__}" for kind in kinds)
    raise UsageError(f"{wants}, not {_named(data)}.{read_as} Convert it to a {calls}.")


def _choices(data: Any, fitting: list[_Reading], possible: list[_Reading]) -> str:
    """Return that an object can be read in several ways, with the call of each."""
    if possible[0].modes:
        one, *others = map(str, possible)
        return (
            f"the attribute {possible[0].modes!r} of {_named(data)} marks two kinds of nodes, "
            f"as in a two-mode network. If all nodes are people, pass {one}. If one kind is "
            f"people, use a method for user-item data and pass {' or '.join(others)}."
        )
    return f"it is not clear how to read {_named(data)}. Pass {' or '.join(map(str, fitting))}."


def read_anew(data: Any, container: Data | None = None) -> AbstractContextManager[None]:
    """Spell options in messages as arguments of the call that makes users by features of this.

    >>> from graphveil.core.hints import option
    >>> try:
    ...     with read_anew(Bipartite.from_pairs(["ann"], ["tea"])):
    ...         raise UsageError(f"say {option('items', 'things')}")
    ... except UsageError as error:
    ...     print(error)
    say data.with_items(items="things")
    """
    if isinstance(data, Network | Table):
        # Options about columns are arguments of the method, or of the call that read the data.
        return nullcontext()
    if isinstance(data, CONTAINERS):
        return as_argument_of("data.with_items(")
    call = "from_arrow" if is_frame(data) else "from_scipy"
    kind = Bipartite if container is None else type(container)
    return as_argument_of(f"graphveil.{kind.__name__}.{call}(data, ")


def as_original(data: Any, released: Container, *, wanted_by: str, exact: bool = False) -> Data:
    """Return what was handed in next to a release of this kind; containers as they are."""
    if isinstance(data, CONTAINERS):
        return data
    kinds = (Bipartite, Table, Graph) if released is Bipartite else (released,)
    return as_container(data, kinds, wanted_by=wanted_by, exact=exact)


def _readings(data: Any) -> list[_Reading]:
    """Return the ways to read an object that is not a frame."""
    library = type(data).__module__.partition(".")[0]
    if library == "networkx" and hasattr(data, "is_directed"):
        return _with_modes("from_networkx", _modes_of_networkx(data))
    if library == "igraph" and hasattr(data, "is_directed"):
        edges = data.get_edgelist()
        marks = (name for name in data.vs.attributes() if two_modes(name, data.vs[name], edges))
        return _with_modes("from_igraph", next(marks, ""))
    if library == "scipy" and hasattr(data, "tocoo"):
        matrix = _Reading(Bipartite, "from_scipy")
        square = len(set(data.shape)) == 1
        return [_Reading(Graph, "from_scipy"), matrix] if square else [matrix]
    return []


def _with_modes(call: str, modes: str) -> list[_Reading]:
    """Return the ways to read a graph of another library; two where it marks two modes."""
    users = [_Reading(Bipartite, call, ", users=[...]", modes)] if modes else []
    return [_Reading(Graph, call, ", one_mode=True" if modes else "", modes), *users]


def _modes_of_networkx(graph: Any) -> str:
    """Return the attribute by which a NetworkX graph marks two kinds of nodes, if it does."""
    said = [attributes for _, attributes in graph.nodes(data=True)]
    names = {str(name): name for attributes in said for name in attributes}
    number = {node: at for at, node in enumerate(graph.nodes)}
    for name, key in names.items():
        if may_mark_modes(name):
            ends = ((number[u], number[v]) for u, v in graph.edges())
            if two_modes(name, [attributes.get(key) for attributes in said], ends):
                return name
    return ""


def _readings_of_frame(frame: pa.Table, kinds: tuple[Container, ...]) -> list[_Reading]:
    """Return the ways to read a frame, by its columns, with the arguments that it leaves open."""
    names = frame.column_names
    for kind in KINDS.values():
        if kind.columns and {*kind.columns} <= {*names}:
            return [_Reading(kind.container, "from_arrow")]
    if any(pa.types.is_nested(field.type) for field in frame.schema):
        return [_Reading(Bipartite, "from_arrow")]
    named = [kind.container for kind in kinds_named(names)]
    if len(names) == 2 and len(named) == 1:
        return [_Reading(named[0], "from_arrow")]
    if len(names) == 2 and set(kinds) <= {Graph, Network}:
        return [_Reading(Graph, "from_arrow")]
    if len(names) < 2 or (len(names) > 2 and Table in kinds and not named):
        return [_Reading(Table, "from_arrow")]
    pairs = [
        _Reading(Graph, "from_arrow", f", source={names[0]!r}, target={names[1]!r}"),
        _Reading(Bipartite, "from_arrow", f", user={names[0]!r}, item={names[1]!r}"),
    ]
    return [*pairs, _Reading(Table, "from_arrow")]


def _named(data: Any) -> str:
    kind = type(data)
    library = kind.__module__.partition(".")[0]
    name = kind.__name__ if library == "builtins" else f"{library}.{kind.__name__}"
    shape = getattr(data, "shape", None)
    return f"a {name}" if shape is None else f"a {name} of shape {tuple(shape)}"
