"""A network of people: what is said of everyone, and ties of one or several kinds between them.

People's attributes as objects and files show them: cells under names.

Networks from objects of other libraries, and back: attributes and directions are kept.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, did_you_mean, mapping, option
from graphveil.core.lazy import lazy_module
from graphveil.data.codes import SUPPRESSED
from graphveil.data.columns import (
    Frames,
    arrow_table,
    chosen_names,
    column_of_types,
    types_say_directed,
)
from graphveil.data.csr import warn_dropped
from graphveil.data.graph import Graph
from graphveil.data.ids import Ids, as_ids, as_text, distinct, positions, same_ids, stored, to_arrow
from graphveil.data.layers import (
    TIES,
    Layer,
    ListedTies,
    as_text_like,
    kind_of_tie,
    kind_of_value,
    labels_of_ends,
    refuse_where_directions_matter,
    with_keys,
)
from graphveil.data.origin import noting, of_frame, of_pattern, read_from, warn_left_out
from graphveil.data.table import Table

if TYPE_CHECKING:
    import igraph as ig
    import networkx as nx
    import pyarrow as pa
    from scipy import sparse

    from graphveil.data.origin import PublicLists
else:
    pa = lazy_module("pyarrow")
    sparse = lazy_module("scipy.sparse")

SUPPRESSED_TEXT = "*"
"""How a suppressed cell is written where a library has one value for all kinds of cells."""


def people_of(frame: Any, node: str | None, bins: Mapping[str, str] | None) -> Table:
    """Return the rows of people, whose ids are those of a column."""
    table = arrow_table(frame)
    node = node or table.column_names[0]
    return Table.from_arrow(table, ids=node, bins=bins)


def cells_of(people: Table) -> dict[str, list[Any]]:
    """Return the cells of every attribute; a suppressed one is ``*``."""
    cells = {}
    for column, (name, values) in enumerate(zip(people.columns, people.categories, strict=True)):
        listed = [*values.tolist(), SUPPRESSED_TEXT]
        cells[name] = [listed[code] for code in people.codes[:, column].tolist()]
    return cells


def cells_by_node(people: Table | None, n: int) -> list[dict[str, Any]]:
    """Return what is said of each of n nodes, by the names of attributes."""
    cells = {} if people is None else cells_of(people)
    rows = zip(*cells.values(), strict=True) if cells else [()] * n
    return [dict(zip(cells, row, strict=True)) for row in rows]


class NetworkObjects(Frames):
    """The conversions of `graphveil.data.Network`, which says what the rest means."""

    layers: tuple[Layer, ...]
    people: Table | None
    ids: Ids | None

    if TYPE_CHECKING:

        def __init__(
            self, layers: Any, people: Table | None = None, ids: Ids | None = None
        ) -> None: ...

    @abstractmethod
    def labels(self) -> Ids:
        """Return the id of every node."""

    @abstractmethod
    def ties(self) -> Any:
        """Return both ends and the layer of every tie."""

    @property
    @abstractmethod
    def columns_of_ties(self) -> tuple[str, ...]:
        """The columns of ties in a frame."""

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        kinds: str | None = None,
        undirected: Collection[str] = (),
        attributes: Sequence[str] | None = None,
        bins: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a NetworkX graph with the attributes of its nodes and the directions of its ties.

        Parameters
        ----------
        graph
            Any NetworkX graph; one that is directed gives arcs.
        kinds
            The attribute of ties that says of which kind they are: a layer a value. In a multigraph
            ``"key"`` stands for their keys.
        undirected
            The kinds of ties of a directed graph that have no direction.
        attributes
            The attributes of nodes that are kept; None keeps all. A node without one is suppressed.
        bins
            As `Table.from_columns` takes them.

        Raises
        ------
        DataError
            Where a tie has no kind, or an attribute holds fractions and no bins are given.

        Warns
        -----
        GraphveilWarning
            Where attributes of ties, or of nodes, are left out; where self-loops or repeated ties
            are dropped.
        """
        names = list(graph.nodes)
        rows = [dict(said) for _, said in graph.nodes(data=True)]
        position = {name: number for number, name in enumerate(names)}
        if graph.is_multigraph() and kinds == "key":
            listed = [(u, v, {**values, "key": key}) for u, v, key, values in with_keys(graph)]
        else:
            listed = list(graph.edges(data=True))
        ends = [(position[u], position[v]) for u, v, _ in listed]
        said = [dict(values) for *_, values in listed]
        of_kind = [kind_of_tie(values, kinds) for values in said]
        ties = ListedTies(ends, of_kind, graph.is_directed(), undirected)
        left_out = [name for values in said for name in values if name != kinds]
        return cls._listed(names, rows, ties, attributes, bins, left_out)

    @classmethod
    def from_igraph(
        cls,
        graph: ig.Graph,
        *,
        kinds: str | None = None,
        undirected: Collection[str] = (),
        attributes: Sequence[str] | None = None,
        bins: Mapping[str, str] | None = None,
    ) -> Self:
        """Return an igraph graph with the attributes of its vertices, and its directions.

        Parameters
        ----------
        graph
            Any igraph graph; vertex names become ids where there are any.
        kinds, undirected, attributes, bins
            As `from_networkx` takes them.
        """
        named = "name" in graph.vs.attributes()
        names = graph.vs["name"] if named else list(range(graph.vcount()))
        kept = [name for name in graph.vs.attributes() if name != "name"]
        rows = [{name: vertex[name] for name in kept} for vertex in graph.vs]
        said = [edge.attributes() for edge in graph.es]
        of_kind = [kind_of_tie(values, kinds) for values in said]
        ties = ListedTies(graph.get_edgelist(), of_kind, graph.is_directed(), undirected)
        left_out = [name for name in graph.es.attributes() if name != kinds]
        return cls._listed(names, rows, ties, attributes, bins, left_out)

    @classmethod
    def _listed(
        cls,
        names: Sequence[Any],
        rows: list[dict[Any, Any]],
        ties: ListedTies,
        attributes: Sequence[str] | None,
        bins: Mapping[str, str] | None,
        left_out: Sequence[Any],
    ) -> Self:
        """Return the network of nodes and their attributes, and of ties between positions."""
        ids = as_ids(names, what="node ids")
        labels = distinct(ids)
        if labels.size != ids.size:
            raise DataError("two nodes have the same id. Make the ids distinct.")
        every = list(dict.fromkeys(name for said in rows for name in said))
        chosen = every if attributes is None else list(attributes)
        for name in chosen:
            if name not in every:
                raise DataError(
                    f"no node has {name!r}. {did_you_mean(str(name), map(str, every))}There are "
                    f"{', '.join(map(str, every)) or 'no attributes'}."
                )
        position = positions(ids, labels, what="node ids")
        order = np.argsort(position)
        columns = {
            str(name): [rows[number].get(name) for number in order.tolist()] for name in chosen
        }
        people = Table.from_columns(columns, bins=bins) if columns else None
        layers, dropped = ties.layers(position, labels.size)
        warn_dropped(dropped)
        others = [name for name in every if name not in chosen]
        return noting(cls(layers, people, labels), warn_left_out([*others, *left_out]))

    @classmethod
    def from_scipy(
        cls, matrix: Any, *, people: Any = None, ids: object = None, name: str = TIES
    ) -> Self:
        """Return the network of a square sparse matrix: of arcs where it is not symmetric.

        Parameters
        ----------
        matrix
            Square; row v lists those to whom v is tied. Its values are not kept.
        people
            What is said of everyone, a row a row of the matrix: a `Table` or a frame.
        ids
            The id of every row.
        name
            What the ties are called.

        Raises
        ------
        DataError
            Where the matrix is not square.
        """
        coo = sparse.coo_array(matrix)
        if coo.shape[0] != coo.shape[1]:
            raise DataError(
                f"a network needs a square matrix, this one is {coo.shape[0]} x {coo.shape[1]}."
            )
        weighted = bool(np.any((coo.data != 0) & (coo.data != 1)))
        left_out = warn_left_out(["values"] if weighted else [])
        pattern = sparse.csr_array(coo != 0)
        n = int(coo.shape[0])
        if (pattern != pattern.T).nnz:
            layer, dropped = Layer.assemble(*pattern.tocoo().coords, n=n, name=name)
        else:
            upper = sparse.coo_array(sparse.triu(pattern))
            graph, dropped = Graph.assemble(*upper.coords, n=n)
            layer = Layer.of(graph, name=name)
        warn_dropped(dropped)
        rows = people if people is None or isinstance(people, Table) else Table.from_arrow(people)
        labels = None if ids is None else as_ids(ids, what="node ids")
        return read_from(noting(cls((layer,), rows, labels), left_out), of_pattern(pattern))

    @classmethod
    def from_arrow(  # noqa: PLR0913  one a column that frames have
        cls,
        ties: Any,
        people: Any = None,
        *,
        source: str | None = None,
        target: str | None = None,
        node: str | None = None,
        kinds: str | None = None,
        directed: bool | None = None,
        undirected: Collection[str] = (),
        bins: Mapping[str, str] | None = None,
    ) -> Self:
        """Return the network of frames (pandas, polars, DuckDB, Arrow) of ties and of people.

        Parameters
        ----------
        ties
            A row a tie.
        people
            A row a person, with a column of ids: everybody is in it, also who has no tie. None
            where nothing is said of people.
        source, target
            The columns of both ends. Without them, those of known names, or the only two.
        node
            The column of ids of `people`; its first one where not given.
        kinds
            The column of kinds of ties: a layer a value.
        directed
            Whether a tie leads from one person to the other; None refuses where it may matter.
        undirected
            The kinds of ties without a direction, where others have one.
        bins
            As `Table.from_columns` takes them.

        Raises
        ------
        DataError
            Where it is not clear which columns are meant, an end of a tie is nobody of `people`, or
            directions may matter and `directed` is not given.

        Examples
        --------
        >>> import pyarrow as pa
        >>> calls = pa.table({"source": ["ann", "bob"], "target": ["bob", "cyd"]})
        >>> who = pa.table({"id": ["ann", "bob", "cyd"], "sex": ["f", "m", "f"]})
        >>> from graphveil import Network
        >>> Network.from_arrow(calls, who, directed=True)
        Network(3 nodes, ties: 2 arcs, attributes: sex)
        """
        table = arrow_table(ties)
        others = [name for name in table.column_names if name != kinds]
        names = chosen_names(others, (source, target), ("source", "target"))
        further = [n for n in table.column_names if n not in (*names, kinds)]
        if kinds is not None and kinds not in table.column_names:
            raise DataError(
                f"no column {kinds!r}. {did_you_mean(kinds, table.column_names)}The frame has "
                f"{table.column_names}."
            )
        rows = None if people is None else people_of(people, node, bins)
        ends = [as_ids(table[name], what=name) for name in names]
        labels = labels_of_ends(ends, None if rows is None else rows.labels())
        if labels.dtype.kind == "T":
            ends = [as_text(end) for end in ends]
        at = [positions(end, labels, what=name) for end, name in zip(ends, names, strict=True)]
        kind = [TIES] * len(table) if kinds is None else table[kinds].to_pylist()
        if directed is None:
            column = column_of_types(
                table.column_names, [table.column_names.index(n) for n in names]
            )
            said = True if column is not None and types_say_directed(table[column]) else None
            refuse_where_directions_matter(at, labels.size, names, said=said)
        listed = ListedTies(
            list(zip(*(end.tolist() for end in at), strict=True)),
            [kind_of_value(value, kinds) for value in kind],
            bool(directed),
            undirected,
        )
        layers, dropped = listed.layers(np.arange(labels.size), labels.size)
        warn_dropped(dropped)
        if rows is not None:
            order = positions(labels, as_text_like(rows.labels(), labels), what="ids")
            rows = rows.permuted(order.astype(np.int64))
        origins = [of_frame(table), None if people is None else of_frame(arrow_table(people))]
        return read_from(noting(cls(layers, rows, labels), warn_left_out(further)), *origins)

    def to_arrow(self) -> pa.Table:
        """Return every tie once as an Arrow table of the ids in `source` and `target`.

        Where there are several layers, a third column `layer` has their names.
        """
        labels, ties = self.labels(), self.ties()
        columns = [to_arrow(labels[ties.source]), to_arrow(labels[ties.target])]
        if len(self.layers) > 1:
            names = pa.array([layer.name for layer in self.layers], type=pa.string())
            columns.append(names.take(pa.array(ties.layer)))
        return pa.table(columns, names=list(self.columns_of_ties))

    def people_to_arrow(self) -> pa.Table:
        """Return a row a person as an Arrow table: the id in `node`, and the attributes.

        A suppressed cell is null.
        """
        ids = pa.table({"node": to_arrow(self.labels())})
        said = None if self.people is None else self.people.to_arrow()
        if said is not None:
            for name in said.column_names:
                ids = ids.append_column(name, said[name])
        return ids

    def to_networkx(self) -> nx.Graph[Any]:
        """Return a NetworkX graph: directed where ties are, a multigraph where there are layers.

        Attributes of nodes are kept; a suppressed cell is ``*``. In a multigraph the key of a tie
        is the name of its layer. Where some layers are directed and others not, a tie without
        direction stands in both.
        """
        import networkx as nx  # noqa: PLC0415  an optional library, accepted but never required

        several, directed = len(self.layers) > 1, self.is_directed
        kinds = {
            (False, False): nx.Graph,
            (False, True): nx.DiGraph,
            (True, False): nx.MultiGraph,
            (True, True): nx.MultiDiGraph,
        }
        graph: Any = kinds[several, directed]()
        labels = self.labels().tolist()
        for name, said in zip(labels, cells_by_node(self.people, len(self)), strict=True):
            graph.add_node(name, **said)
        for layer, u, v in self.listed_ties(both_ways=directed):
            key = {"key": layer} if several else {}
            graph.add_edge(labels[u], labels[v], **key)
        return graph

    def to_igraph(self) -> ig.Graph:
        """Return an igraph graph: directed where ties are; ids become the vertex attribute `name`.

        Where there are several layers, the edge attribute `layer` has their names.
        """
        import igraph as ig  # noqa: PLC0415  an optional library, accepted but never required

        directed = self.is_directed
        listed = list(self.listed_ties(both_ways=directed))
        graph = ig.Graph(n=len(self), edges=[(u, v) for _, u, v in listed], directed=directed)
        if self.ids is not None:
            graph.vs["name"] = self.ids.tolist()
        if self.people is not None:
            for name, values in cells_of(self.people).items():
                graph.vs[name] = values
        if len(self.layers) > 1:
            graph.es["layer"] = [layer for layer, _, _ in listed]
        return graph

    @property
    def is_directed(self) -> bool:
        """Whether some ties lead from one person to another."""
        return any(layer.directed for layer in self.layers)

    def listed_ties(self, *, both_ways: bool) -> Iterator[tuple[str, int, int]]:
        """Yield the name of its layer and both ends of every tie.

        Parameters
        ----------
        both_ways
            Whether a tie without direction comes once in each, as a directed multigraph has it.
        """
        for layer in self.layers:
            source, target = (end.tolist() for end in layer.ties())
            for u, v in zip(source, target, strict=True):
                yield layer.name, u, v
                if both_ways and not layer.directed:
                    yield layer.name, v, u


ID_OF_PERSON = "node"
"""The column of ids in the file of people: no attribute is called so."""

MOST_LAYERS = 100
"""More kinds of ties are a column of something else."""

LAYER = "layer"
"""The column that names the layer of a tie, where there are several."""


class TiesOfLayers(NamedTuple):
    """Every tie once, ascending by source, target and the name of its layer.

    Attributes
    ----------
    source, target
        int32: positions of people; without direction the smaller one comes first.
    layer
        int32: the position of its layer.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    layer: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Network(NetworkObjects):
    """People with attributes, and layers of ties between them, each directed or not.

    Parameters
    ----------
    layers
        The layers; or, by their names, `Graph` objects (ties without directions) and layers. They
        are kept in the order of their names.
    people
        What is said of everyone: a row a person, in the order of the nodes; None for nothing.
    ids
        int64 or text, shape (n,); None stands for 0..n-1, or for the ids of `people`. No method
        reads them.
    left_out
        The names of attributes and weights that the data came with and that are not in here.
    origins
        What it was read from (`graphveil.data.origin`).

    Raises
    ------
    DataError
        Where there is no layer, sizes differ, two layers have one name, or an attribute is called
        ``node``, as the column of ids is.

    Examples
    --------
    >>> ties = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> network = Network({"friends": ties}, Table.from_columns({"sex": ["f", "m", "f"]}))
    >>> network
    Network(3 nodes, friends: 2 edges, attributes: sex)
    """

    layers: tuple[Layer, ...]
    people: Table | None = None
    ids: Ids | None = None
    left_out: tuple[str, ...] = ()
    origins: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        """Validate once; everything after trusts."""
        layers = tuple(sorted(_layers(self.layers), key=lambda layer: layer.name))
        if not layers:
            raise DataError("a network needs a layer of ties. Give one, which may be empty.")
        if len(layers) > MOST_LAYERS:
            raise DataError(
                f"{len(layers)} kinds of ties are over {MOST_LAYERS}. Name those that are read "
                f"with {option('kinds')}, or group numbers ({mapping('bins', 'COLUMN', 'median')})."
            )
        n = layers[0].n_nodes
        for layer in layers:
            if layer.n_nodes != n:
                raise DataError(f"{layer.name!r} has {layer.n_nodes} nodes, {layers[0].name!r} {n}")
        names = [layer.name for layer in layers]
        if len(set(names)) < len(names):
            raise DataError(f"two layers have one name, of {', '.join(names)}. Rename one.")
        ids, people = self.ids, self.people
        if people is not None:
            if people.n_rows != n:
                raise DataError(f"{people.n_rows} rows of people for {n} nodes. Give one a node.")
            if ID_OF_PERSON in people.columns or not all(people.columns):
                raise DataError(
                    f"an attribute has no name, or is called {ID_OF_PERSON!r} as the ids are in a "
                    "release. Rename it."
                )
            ids = people.ids if ids is None else ids
            people = Table(people.codes, people.columns, people.categories)
            people = people if people.columns else None
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "people", people)
        object.__setattr__(self, "ids", stored(ids, n=n, what="node ids"))

    @property
    def n_nodes(self) -> int:
        """The number of people, those without ties included."""
        return self.layers[0].n_nodes

    @property
    def size(self) -> int:
        """The number of people."""
        return self.n_nodes

    @property
    def n_ties(self) -> int:
        """The number of ties of all layers: arcs where they are directed, else edges."""
        return sum(layer.n_ties for layer in self.layers)

    @property
    def columns_of_ties(self) -> tuple[str, ...]:
        """The columns of ties in files and frames: of several layers, their names are the third."""
        return ("source", "target", *([LAYER] if len(self.layers) > 1 else []))

    def ties(self) -> TiesOfLayers:
        """Return every tie of every layer once, in order.

        Examples
        --------
        >>> calls, mails = (Layer.from_arcs([0, 1], [1, 0], n=2, name=n) for n in ("call", "mail"))
        >>> [end.tolist() for end in Network((mails, calls)).ties()]
        [[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
        """
        each = [layer.ties() for layer in self.layers]
        source, target = (np.concatenate(ends) for ends in zip(*each, strict=True))
        layer = np.repeat(
            np.arange(len(each), dtype=np.int32), [layer.n_ties for layer in self.layers]
        )
        if len(each) == 1:
            return TiesOfLayers(source, target, layer)
        order = np.lexsort((layer, target, source))
        return TiesOfLayers(source[order], target[order], layer[order])

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of what is said of people."""
        return () if self.people is None else self.people.columns

    @property
    def n_attributes(self) -> int:
        """The number of attributes."""
        return len(self.attributes)

    @property
    def public_lists(self) -> PublicLists:
        """The lists that count as public: none, since no noise is added to networks."""
        return ()

    @property
    def is_bare(self) -> bool:
        """Whether it is a graph: one layer without directions, and nothing is said of people."""
        return self.people is None and len(self.layers) == 1 and not self.layers[0].directed

    def graph(self) -> Graph:
        """Return the graph of the only layer, under the ids of the network.

        Raises
        ------
        DataError
            As `only_layer`.
        """
        only = self.only_layer()
        return Graph.mapped(
            only.indptr,
            only.indices,
            ids=self.ids,
            left_out=self.left_out,
            origins=self.origins,
        )

    def only_layer(self) -> Layer:
        """Return the ties of the only kind, which have no direction.

        Raises
        ------
        DataError
            Where there are several layers, or ties are directed: the message says what would be
            lost.

        Examples
        --------
        >>> Network({"ties": Graph.from_edges([0], [1], n=2)}).only_layer().n_ties
        1
        """
        if len(self.layers) > 1:
            names = ", ".join(layer.name for layer in self.layers)
            raise DataError(
                f"the network has several kinds of ties, {names}, and this takes one. Read one of "
                f"them with {option('kinds')}."
            )
        only = self.layers[0]
        only.refuse_directions()
        return only

    def undirected(self) -> Graph:
        """Return the graph in which two people are tied that any tie joins, in any direction.

        A tie of any kind counts.

        Examples
        --------
        >>> calls = Layer.from_arcs([0, 1, 2], [1, 0, 1], n=3)
        >>> Network((calls,)).undirected().edges().tolist()
        [[0, 1], [1, 2]]
        """
        if len(self.layers) == 1 and not self.layers[0].directed:
            return self.graph()
        ties = self.ties()
        both, _ = Graph.assemble(ties.source, ties.target, n=self.n_nodes)
        return Graph(both.indptr, both.indices, self.ids, self.left_out, self.origins)

    def labels(self) -> Ids:
        """Return the id of every node; 0..n-1 where none were given."""
        return np.arange(self.n_nodes, dtype=np.int64) if self.ids is None else self.ids

    def degrees(self) -> NDArray[np.int64]:
        """Return the profile of everyone: the numbers of ties, layer by layer, shape (n, c).

        A layer without directions gives one number, a directed one those out and those in.
        """
        return np.column_stack([one for layer in self.layers for one in layer.degrees()])

    def codes_of(self, attribute: str) -> NDArray[np.int32]:
        """Return the code of an attribute for everyone; -1 where it is suppressed.

        Raises
        ------
        DataError
            Where there is no such attribute.
        """
        chosen = self._chosen([attribute])
        return np.full(self.n_nodes, SUPPRESSED) if chosen is None else chosen.codes[:, 0]

    def with_attributes(self, names: Sequence[str]) -> Network:
        """Return the same network with some of its attributes, in this order.

        Raises
        ------
        DataError
            Where there is no such attribute.

        Examples
        --------
        >>> ties = Graph.from_edges([0], [1], n=2)
        >>> network = Network({"calls": ties}, Table.from_columns({"sex": ["f", "m"], "a": [1, 2]}))
        >>> network.with_attributes(["a"]).attributes
        ('a',)
        """
        return replace(self, people=self._chosen(names), ids=self.ids)

    def without(self, *names: str) -> Network:
        """Return the same network without some attributes.

        Raises
        ------
        DataError
            Where there is no such attribute.
        """
        self._chosen(names)
        return self.with_attributes([name for name in self.attributes if name not in names])

    def with_people(self, people: Table | None) -> Network:
        """Return the same ties and ids with other attributes, a row a node."""
        return replace(self, people=people, ids=self.ids)

    def _chosen(self, names: Sequence[str]) -> Table | None:
        for name in names:
            if name not in self.attributes:
                raise DataError(
                    f"no attribute {name!r}. {did_you_mean(name, self.attributes)}There are "
                    f"{', '.join(self.attributes) or 'none'}."
                )
        if self.people is None or not names:
            return None
        at = [self.attributes.index(name) for name in names]
        categories = tuple(self.people.categories[column] for column in at)
        return Table(self.people.codes[:, at], tuple(names), categories)

    def permuted(self, order: NDArray[np.int64], *, ids: Ids | None = None) -> Network:
        """Return the same network with node ``order[j]`` at position j, under the ids given."""
        people = None if self.people is None else self.people.permuted(order)
        return Network(tuple(layer.permuted(order) for layer in self.layers), people, ids)

    def part(self, people: NDArray[np.int64]) -> Network:
        """Return some people with the ties among them, without ids; positions, ascending."""
        rows = None if self.people is None else self.people.part(people)
        return Network(tuple(layer.part(people) for layer in self.layers), rows)

    def without_unused(self) -> Network:
        """Return the same network without the categories that nobody has."""
        people = None if self.people is None else self.people.without_unused()
        return Network(self.layers, people, self.ids, self.left_out, self.origins)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes in the same order, attributes, ties and ids."""
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self.layers == other.layers
            and self.people == other.people
            and same_ids(self.ids, other.ids)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no cheap hash

    def _sizes(self) -> dict[str, object]:
        ties = {f"ties: {layer.name}": layer.n_ties for layer in self.layers}
        return {"nodes": self.n_nodes, **ties, "attributes": ", ".join(self.attributes) or "none"}

    def __repr__(self) -> str:
        """Return the size, and the names of layers and attributes; never an id."""
        ties = "".join(
            f", {layer.name}: {layer.n_ties:,} {'arcs' if layer.directed else 'edges'}"
            for layer in self.layers
        )
        said = f", attributes: {', '.join(self.attributes)}" if self.attributes else ""
        return f"Network({self.n_nodes:,} nodes{ties}{said})"


def _layers(given: Any) -> tuple[Layer, ...]:
    """Return the layers, of which graphs and layers may come by name."""
    if isinstance(given, Mapping):
        return tuple(_named(name, value) for name, value in given.items())
    return tuple(given)


def _named(name: str, value: Any) -> Layer:
    if isinstance(value, Graph):
        return Layer.of(value, name=name)
    if isinstance(value, Layer):
        return replace(value, name=name)
    raise DataError(
        f"the layer {name!r} is a {type(value).__name__}. Give a Graph, or Layer.from_arcs(...)."
    )
