"""Objects of other libraries, as the containers that methods, measures and checks read.

An object says of itself what it is: by its class, its shape, the names of its columns. Where that
leaves two readings open it is refused, with the calls that say which is meant.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from graphveil.core.errors import UsageError, as_argument_of
from graphveil.data.bipartite import Bipartite
from graphveil.data.columns import arrow_table
from graphveil.data.kinds import CONTAINERS, KINDS, Container, Data, kind_of, kinds_named
from graphveil.data.layers import may_mark_modes, two_modes
from graphveil.data.network import Graph, Network
from graphveil.data.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


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


def as_container(data: Any, kinds: tuple[Container, ...], *, wanted_by: str) -> Data:
    """Return what was handed in as a container of one of these kinds; refuse what has two readings.

    It is a container; a graph of NetworkX or igraph; a sparse matrix of SciPy (square is a graph,
    other shapes are users by features); or a frame that speaks the Arrow C stream: columns of known
    names, or a column of lists, say whether it is a graph or users by features; others are a table.
    """
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
    if isinstance(data, str | os.PathLike):
        calls = " or ".join(
            f"graphveil.read_{kind_of(kind).name}({os.fspath(data)!r})" for kind in kinds
        )
        raise UsageError(f"{wants}, not a file name. Read the file first: {calls}.")
    if type(data).__name__ == "LazyFrame":
        raise UsageError(f"{wants}, not {_named(data)}. Pass data.collect().")
    frame = arrow_table(data) if hasattr(data, "__arrow_c_stream__") else None
    possible = _readings(data) if frame is None else _readings_of_frame(frame, kinds)
    if Network in kinds and Graph not in kinds:
        possible = [one._replace(kind=Network) if one.kind is Graph else one for one in possible]
    fitting = [reading for reading in possible if reading.kind in kinds]
    if len(fitting) == 1 and not (fitting[0].further or fitting[0].modes):
        made, call, *_ = fitting[0]
        with as_argument_of(f"graphveil.{made.__name__}.{call}(data, "):
            container: Data = getattr(made, call)(data if frame is None else frame)
        return container
    if fitting and possible[0].modes:
        one, *others = map(str, possible)
        raise UsageError(
            f"the attribute {possible[0].modes!r} of {_named(data)} marks two kinds of nodes, "
            f"as in a two-mode network. If all nodes are people, pass {one}. If one kind is "
            f"people, use a method for user-item data and pass {' or '.join(others)}."
        )
    if fitting:
        calls = " or ".join(map(str, fitting))
        raise UsageError(f"it is not clear how to read {_named(data)}. Pass {calls}.")
    read_as = "".join(f" It can be read as a {reading.kind.__name__}." for reading in possible[:1])
    calls = " or ".join(f"graphveil.{kind.__name__}" for kind in kinds)
    raise UsageError(f"{wants}, not {_named(data)}.{read_as} Convert it to a {calls}.")


def read_anew(data: Any, container: Data | None = None) -> AbstractContextManager[None]:
    """Spell options in messages as arguments of the call that makes users by features of this.

    Examples
    --------
    >>> from graphveil.core.errors import option
    >>> try:
    ...     with read_anew(Bipartite.from_pairs(["ann"], ["tea"])):
    ...         raise UsageError(f"say {option('items', 'things')}")
    ... except UsageError as error:
    ...     print(error)
    say data.with_items(items="things")
    """
    if isinstance(data, Network):
        return nullcontext()  # what is said of attributes are arguments of the method
    if isinstance(data, CONTAINERS):
        return as_argument_of("data.with_items(")
    call = "from_arrow" if hasattr(data, "__arrow_c_stream__") else "from_scipy"
    kind = Bipartite if container is None else type(container)
    return as_argument_of(f"graphveil.{kind.__name__}.{call}(data, ")


def as_original(data: Any, released: Container, *, wanted_by: str, exact: bool = False) -> Data:
    """Return what was handed in beside a release of this kind; containers as they are."""
    if isinstance(data, CONTAINERS):
        return data
    if exact and hasattr(data, "__arrow_c_stream__"):
        return Table.from_arrow(data, exact=True)
    kinds = (Bipartite, Table, Graph) if released is Bipartite else (released,)
    return as_container(data, kinds, wanted_by=wanted_by)


def _readings(data: Any) -> list[_Reading]:
    """Return the ways to read an object that is no frame."""
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
    import pyarrow as pa  # noqa: PLC0415  heavy: not for help

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
