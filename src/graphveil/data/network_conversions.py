"""Networks from objects of other libraries, and back, with attributes and directions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from graphveil.core.errors import DataError
from graphveil.core.hints import did_you_mean
from graphveil.core.lazy import needs_library
from graphveil.core.libraries import pa, sparse
from graphveil.data.columns import (
    Frames,
    arrow_table,
    chosen_names,
    frame_says_directed,
)
from graphveil.data.csr import warn_dropped
from graphveil.data.ids import Ids, as_ids, as_text, distinct, ids_in_ties, positions, to_arrow
from graphveil.data.layers import (
    TIES,
    Layer,
    ListedTies,
    ask_kinds,
    ask_kinds_in,
    ask_modes,
    kind_of_value,
    labels_of_ends,
    refuse_where_directions_matter,
    said_of_ties,
    with_keys,
)
from graphveil.data.origin import (
    noting,
    of_frame,
    of_pattern,
    read_from,
    warn_left_out,
    warn_of_missing,
)
from graphveil.data.spellings import check_ids, warn_of_spellings
from graphveil.data.table import Table

if TYPE_CHECKING:
    import igraph as ig
    import networkx as nx

D = TypeVar("D")

SUPPRESSED_TEXT = "*"
"""How a suppressed cell is written where a library has one value for all kinds of cells."""


def cells_of(people: Table | None) -> dict[str, list[Any]]:
    """Return the cells of every attribute; a suppressed one is ``*``."""
    cells: dict[str, list[Any]] = {}
    if people is None:
        return cells
    for column, (name, values) in enumerate(zip(people.columns, people.categories, strict=True)):
        listed = [*values.tolist(), SUPPRESSED_TEXT]
        cells[name] = [listed[code] for code in people.codes[:, column].tolist()]
    return cells


def _known(value: Any) -> Any:
    """Return a value of an attribute; None for one that `cells_of` wrote for a suppressed cell."""
    return None if isinstance(value, str) and value == SUPPRESSED_TEXT else value


def rows_of(cells: Mapping[str, Sequence[D]], n: int) -> Iterable[tuple[D, ...]]:
    """Return what is said of each of n nodes, in the order of the attributes."""
    return zip(*cells.values(), strict=True) if cells else [()] * n


class NetworkObjects(Frames):
    """The conversions of `graphveil.data.Network`, which says what the rest means."""

    people: Table | None
    ids: Ids | None

    if TYPE_CHECKING:

        @property
        def layers(self) -> tuple[Layer, ...]:
            """As of a network, like the others."""

        def __init__(
            self, layers: Any, people: Table | None = None, ids: Ids | None = None
        ) -> None: ...

        @property
        def n_layers(self) -> int:
            """The number of layers."""

        @property
        def is_directed(self) -> bool:
            """Whether some edges are directed."""

        @property
        def columns_of_ties(self) -> tuple[str, ...]:
            """The columns of edges in a frame."""

        def labels(self) -> Ids:
            """Return all ids."""

        def ties(self) -> Any:
            """Return all edges."""

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        kinds: str | None = None,
        undirected: Collection[str] = (),
        attributes: Sequence[str] | None = None,
        bins: Mapping[str, str] | None = None,
        one_mode: bool = False,
        ignore_weights: bool = False,
    ) -> Self:
        """Return a NetworkX graph with the attributes of its nodes and the directions of its edges.

        Raises `DataError` where an edge has no kind, or an attribute holds fractions and no bins
        are given; where an attribute marks two kinds of nodes or several of edges, and nobody said
        what they are. Warns `GraphveilWarning` where attributes of edges, or of nodes, are omitted;
        where self-loops or repeated edges are dropped.

        Parameters
        ----------
        graph
            Any NetworkX graph; one that is directed gives arcs.
        kinds
            The attribute of edges that says of which kind they are: one layer per value. In a
            multigraph ``"key"`` stands for their keys.
        undirected
            The kinds of edges of a directed graph that have no direction.
        attributes
            The attributes of nodes that are kept; None keeps all. A node without one is suppressed.
        bins
            As `Table.from_columns` takes them.
        one_mode
            Whether all nodes are people although an attribute marks two kinds of them.
        ignore_weights
            Whether edges become one layer although an attribute says of which kind each is.
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
        if not one_mode:
            ask_modes(rows, ends, "from_networkx")
        if kinds is None and not ignore_weights:
            ask_kinds(said_of_ties(graph), "from_networkx")
        of_kind = [kind_of_value(values.get(kinds), kinds) for values in said]
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
        one_mode: bool = False,
        ignore_weights: bool = False,
    ) -> Self:
        """Return an igraph graph with the attributes of its vertices, and its directions.

        `graph`: any igraph graph; vertex names become ids where there are any; `kinds, undirected,
        attributes, bins, one_mode, ignore_weights`: as `from_networkx` takes them.
        """
        named = "name" in graph.vs.attributes()
        names = graph.vs["name"] if named else list(range(graph.vcount()))
        kept = [name for name in graph.vs.attributes() if name != "name"]
        rows = [{name: vertex[name] for name in kept} for vertex in graph.vs]
        said = [edge.attributes() for edge in graph.es]
        if not one_mode:
            ask_modes(rows, graph.get_edgelist(), "from_igraph")
        if kinds is None and not ignore_weights:
            ask_kinds(said, "from_igraph")
        of_kind = [kind_of_value(values.get(kinds), kinds) for values in said]
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
        """Return the network of nodes and their attributes, and of edges between positions."""
        # Nodes are put in the canonical order of their ids.
        ids = as_ids(names, what="node ids")
        labels = distinct(ids)
        if labels.size != ids.size:
            raise DataError("two nodes have the same id. Make the ids distinct.")
        check_ids(labels)
        # Only the attributes asked for are kept, in columns by that order.
        every = list(dict.fromkeys(name for said in rows for name in said))
        chosen = every if attributes is None else list(attributes)
        for name in chosen:
            if name not in every:
                raise DataError(
                    f"no node has the attribute {name!r}. "
                    f"{did_you_mean(str(name), map(str, every))}"
                    f"Attributes: {', '.join(map(str, every)) or 'none'}."
                )
        position = positions(ids, labels, what="node ids")
        order = np.argsort(position)
        columns = {
            str(name): [_known(rows[number].get(name)) for number in order.tolist()]
            for name in chosen
        }
        people = Table.from_columns(columns, bins=bins) if columns else None
        if people is not None:
            warn_of_spellings(people.columns, people.categories)
        layers, dropped = ties.layers(position, labels.size)
        warn_dropped(dropped)
        others = [name for name in every if name not in chosen]
        return noting(cls(layers, people, labels), warn_left_out([*others, *left_out]))

    @classmethod
    def from_scipy(
        cls, matrix: Any, *, people: Any = None, ids: object = None, name: str = TIES
    ) -> Self:
        """Return the network of a square sparse matrix: of arcs where it is not symmetric.

        Raises `DataError` where the matrix is not square.

        Parameters
        ----------
        matrix
            Square; row v lists those to whom v is connected. Its values are not kept.
        people
            The attributes, one row per row of the matrix: a `Table` or a frame.
        ids
            The id of every row.
        name
            What the edges are called.
        """
        coo = sparse.coo_array(matrix)
        if coo.shape[0] != coo.shape[1]:
            raise DataError(
                f"a network needs a square matrix; this one is {coo.shape[0]} x {coo.shape[1]}."
            )
        weighted = bool(np.any((coo.data != 0) & (coo.data != 1)))
        left_out = warn_left_out(["values"] if weighted else [])
        pattern = sparse.csr_array(coo != 0)
        n = int(coo.shape[0])
        if (pattern != pattern.T).nnz:
            layer, dropped = Layer.assemble(*pattern.tocoo().coords, n=n, name=name)
        else:
            upper = sparse.coo_array(sparse.triu(pattern))
            layer, dropped = Layer.undirected(*upper.coords, n=n, name=name)
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
        ignore_weights: bool = False,
    ) -> Self:
        """Return the network of frames (pandas, polars, DuckDB, Arrow) of edges and of people.

        Raises `DataError` where it is not clear which columns are meant, an end of an edge is
        nobody of `people`, directions may matter and `directed` is not given, or a column says
        several kinds of edges and nobody said what becomes of them.

        Parameters
        ----------
        ties
            One row per edge.
        people
            One row per person, with a column of ids: everybody is in it, people without edges
            included. None where nothing is said of people.
        source, target
            The columns of both ends. Without them, those of known names, or the only two.
        node
            The column of ids of `people`; its first one where not given.
        kinds
            The column of kinds of edges: one layer per value.
        directed
            Whether an edge leads from one person to the other; None refuses where it may matter.
        undirected
            The kinds of edges without a direction, where others have one.
        bins
            As `Table.from_columns` takes them.
        ignore_weights
            Whether edges become one layer although a column says of which kind each is.

        Examples
        --------
        >>> import pyarrow as pa
        >>> calls = pa.table({"source": ["ann", "bob"], "target": ["bob", "cyd"]})
        >>> who = pa.table({"id": ["ann", "bob", "cyd"], "sex": ["f", "m", "f"]})
        >>> from graphveil import Network
        >>> Network.from_arrow(calls, who, directed=True)
        Network(3 nodes, ties: 2 arcs, attributes: sex)
        """
        # Step 1: which columns are the ends and the edge type; others are dropped with a warning.
        table = arrow_table(ties)
        others = [name for name in table.column_names if name != kinds]
        names = chosen_names(others, (source, target), ("source", "target"))
        further = [n for n in table.column_names if n not in (*names, kinds)]
        if kinds is not None and kinds not in table.column_names:
            raise DataError(
                f"no column {kinds!r}. {did_you_mean(kinds, table.column_names)}Columns: "
                f"{table.column_names}."
            )
        if kinds is None and not ignore_weights:
            ask_kinds_in(table, further)
        # Step 2: the nodes: those of the frame of people, else the ends that occur.
        who = None if people is None else arrow_table(people)
        rows = None
        if who is not None:
            rows = Table.from_arrow(who, ids=node or who.column_names[0], bins=bins)
        ends = [ids_in_ties(table[name], what=name) for name in names]
        warn_of_missing(*(table[name] for name in names))
        labels = labels_of_ends(ends, None if rows is None else rows.labels())
        check_ids(labels)
        if labels.dtype.kind == "T":
            ends = [as_text(end) for end in ends]
        # Step 3: edges by positions, with their types; directions that matter are asked about.
        at = [positions(end, labels, what=name) for end, name in zip(ends, names, strict=True)]
        kind = [TIES] * len(table) if kinds is None else table[kinds].to_pylist()
        if directed is None:
            said = frame_says_directed(table, names) or None
            refuse_where_directions_matter(at, labels.size, names, said=said)
        # Step 4: layers, and attributes in the order of the nodes.
        listed = ListedTies(
            list(zip(*(end.tolist() for end in at), strict=True)),
            [kind_of_value(value, kinds) for value in kind],
            bool(directed),
            undirected,
        )
        layers, dropped = listed.layers(np.arange(labels.size), labels.size)
        warn_dropped(dropped)
        if rows is not None:
            order = positions(labels, rows.labels(), what="ids")
            rows = rows.permuted(order.astype(np.int64))
        network = noting(cls(layers, rows, labels), warn_left_out(further))
        return read_from(network, of_frame(table), None if who is None else of_frame(who))

    def to_arrow(self) -> pa.Table:
        """Return every edge once as an Arrow table of the ids in `source` and `target`.

        Where there are several layers, a third column `layer` has their names.
        """
        labels, ties = self.labels(), self.ties()
        columns = [to_arrow(labels[ties.source]), to_arrow(labels[ties.target])]
        if self.n_layers > 1:
            names = pa.array([layer.name for layer in self.layers], type=pa.string())
            columns.append(names.take(pa.array(ties.layer)))
        return pa.table(columns, names=list(self.columns_of_ties))

    def people_to_arrow(self) -> pa.Table:
        """Return one row per person as an Arrow table: the id in `node`, and the attributes.

        A suppressed cell is null.
        """
        ids = pa.table({"node": to_arrow(self.labels())})
        said = None if self.people is None else self.people.to_arrow()
        if said is not None:
            for name in said.column_names:
                ids = ids.append_column(name, said[name])
        return ids

    @needs_library
    def to_networkx(self) -> nx.Graph[Any]:
        """Return a NetworkX graph: directed where edges are, a multigraph where there are layers.

        Attributes of nodes are kept; a suppressed cell is ``*``. In a multigraph the key of an edge
        is the name of its layer. Where some layers are directed and others not, an edge without
        direction stands in both.
        """
        import networkx as nx  # noqa: PLC0415  an optional library, accepted but never required

        several, directed = self.n_layers > 1, self.is_directed
        kinds = {
            (False, False): nx.Graph,
            (False, True): nx.DiGraph,
            (True, False): nx.MultiGraph,
            (True, True): nx.MultiDiGraph,
        }
        graph: Any = kinds[several, directed]()
        labels = self.labels().tolist()
        cells = cells_of(self.people)
        for name, said in zip(labels, rows_of(cells, len(self)), strict=True):
            graph.add_node(name, **dict(zip(cells, said, strict=True)))
        for layer, u, v in self.listed_ties(both_ways=directed):
            key = {"key": layer} if several else {}
            graph.add_edge(labels[u], labels[v], **key)
        return graph

    @needs_library
    def to_igraph(self) -> ig.Graph:
        """Return an igraph graph: directed where edges are; ids become the vertex attribute `name`.

        Where there are several layers, the edge attribute `layer` has their names.
        """
        import igraph as ig  # noqa: PLC0415  an optional library, accepted but never required

        directed = self.is_directed
        listed = list(self.listed_ties(both_ways=directed))
        graph = ig.Graph(n=len(self), edges=[(u, v) for _, u, v in listed], directed=directed)
        if self.ids is not None:
            graph.vs["name"] = self.ids.tolist()
        for name, values in cells_of(self.people).items():
            graph.vs[name] = values
        if self.n_layers > 1:
            graph.es["layer"] = [layer for layer, _, _ in listed]
        return graph

    def listed_ties(self, *, both_ways: bool) -> Iterator[tuple[str, int, int]]:
        """Yield the layer's name and both ends of every edge; undirected ones twice if asked."""
        for layer in self.layers:
            source, target = (end.tolist() for end in layer.ties())
            for u, v in zip(source, target, strict=True):
                yield layer.name, u, v
                if both_ways and not layer.directed:
                    yield layer.name, v, u
