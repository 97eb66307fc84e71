"""Graphs from objects of other libraries; what a graph cannot hold is named and omitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import DataError
from graphveil.core.libraries import sparse
from graphveil.data.columns import (
    Directed,
    Ties,
    arrow_table,
    chosen_names,
    frame_says_directed,
)
from graphveil.data.csr import Dropped, warn_dropped
from graphveil.data.ids import Ids, as_ids, distinct, ids_in_ties, positions
from graphveil.data.layers import (
    ask_kinds,
    ask_kinds_in,
    ask_modes,
    said_of_ties,
)
from graphveil.data.origin import (
    attributes_of,
    noting,
    of_frame,
    of_pattern,
    read_from,
    warn_left_out,
    warn_of_missing,
)
from graphveil.data.spellings import check_ids

if TYPE_CHECKING:
    import igraph as ig
    import networkx as nx


class GraphObjects:
    """The conversions of `graphveil.data.Graph`, which says what the rest means."""

    if TYPE_CHECKING:
        ids: Ids | None

        @property
        def n_edges(self) -> int:
            """The number of edges."""

        @classmethod
        def from_edges(
            cls, source: ArrayLike, target: ArrayLike, *, n: int | None = None, ids: object = None
        ) -> Self:
            """Return the graph of these edges."""

        @classmethod
        def assemble(
            cls, source: ArrayLike, target: ArrayLike, *, n: int | None = None, ids: object = None
        ) -> tuple[Self, Dropped]:
            """Return the graph of these edges, and what was dropped."""

    @classmethod
    def from_scipy(cls, matrix: Any, *, ids: object = None, directed: Directed = "refuse") -> Self:
        """Return the graph of a square sparse matrix; stored zeros are not edges.

        `matrix`: square; its values are not kept; `ids`: the id of every row; `directed`: what to
        do with a matrix that is not symmetric: ``refuse`` it, or ``symmetrize`` it. Raises
        `DataError` where it is not square, or not symmetric and not to be symmetrized. Warns
        `GraphveilWarning` where values other than 0 and 1 are omitted.
        """
        coo = sparse.coo_array(matrix)
        if coo.shape[0] != coo.shape[1]:
            raise DataError(
                f"a graph needs a square matrix; this one is {coo.shape[0]} x {coo.shape[1]}. "
                "Read it as user-item data instead."
            )
        weighted = bool(np.any((coo.data != 0) & (coo.data != 1)))
        left_out = warn_left_out(["values"] if weighted else [])
        # Edges above the diagonal, of either triangle; mutual ones are in both.
        pattern = sparse.csr_array(coo != 0)
        there, back = sparse.triu(pattern, k=1), sparse.tril(pattern, k=-1).T
        upper = sparse.coo_array(there + back)
        Ties(n=upper.nnz, mutual=there.multiply(back).nnz, said=True).check(directed)
        loops = np.flatnonzero(pattern.diagonal())
        ends = [np.concatenate([axis, loops]) for axis in upper.coords]
        graph = cls.from_edges(*ends, n=int(coo.shape[0]), ids=ids)
        return read_from(noting(graph, left_out), of_pattern(pattern))

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        directed: Directed = "refuse",
        one_mode: bool = False,
        ignore_weights: bool = False,
    ) -> Self:
        """Return the structure of a NetworkX graph; node names become ids.

        Raises `DataError` where it is directed and not to be symmetrized; where an attribute marks
        two kinds of nodes or several of edges, and nobody said what they are. Warns
        `GraphveilWarning` where attributes of nodes or edges are omitted, with their names; where
        self-loops or repeated edges are dropped.

        Parameters
        ----------
        graph
            Any NetworkX graph.
        directed
            What to do with a directed one some of whose edges are not mutual: ``refuse`` it, or
            ``symmetrize`` it.
        one_mode
            Whether all nodes are people although an attribute marks two kinds of them.
        ignore_weights
            Whether edges are merged although an attribute says of which kind each is.
        """
        names = list(graph.nodes)
        position = {name: number for number, name in enumerate(names)}
        pairs = [(position[u], position[v]) for u, v in graph.edges()]
        if not one_mode:
            ask_modes([said for _, said in graph.nodes(data=True)], pairs, "from_networkx")
        if not ignore_weights:
            ask_kinds(said_of_ties(graph), "from_networkx")
        ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        left_out = warn_left_out(attributes_of(graph))
        built = cls._in_canonical_order(ends, names, said=graph.is_directed(), directed=directed)
        return noting(built, left_out)

    @classmethod
    def from_igraph(
        cls,
        graph: ig.Graph,
        *,
        directed: Directed = "refuse",
        one_mode: bool = False,
        ignore_weights: bool = False,
    ) -> Self:
        """Return the structure of an igraph graph; vertex names become ids where there are any.

        Raises `DataError` where it is directed and not to be symmetrized; where an attribute marks
        two kinds of nodes or several of edges, and nobody said what they are. Warns
        `GraphveilWarning` where attributes of vertices or edges are omitted, with their names;
        where self-loops or repeated edges are dropped.

        Parameters
        ----------
        graph
            Any igraph graph.
        directed
            What to do with a directed one some of whose edges are not mutual: ``refuse`` it, or
            ``symmetrize`` it.
        one_mode
            Whether all nodes are people although an attribute marks two kinds of them.
        ignore_weights
            Whether edges are merged although an attribute says of which kind each is.
        """
        ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        named = "name" in graph.vs.attributes()
        attributes = [name for name in graph.vs.attributes() if name != "name"]
        if not one_mode:
            ask_modes([v.attributes() for v in graph.vs], graph.get_edgelist(), "from_igraph")
        if not ignore_weights:
            ask_kinds([edge.attributes() for edge in graph.es], "from_igraph")
        left_out = warn_left_out([*attributes, *graph.es.attributes()])
        names = graph.vs["name"] if named else range(graph.vcount())
        built = cls._in_canonical_order(ends, names, said=graph.is_directed(), directed=directed)
        return noting(built, left_out)

    @classmethod
    def _in_canonical_order(
        cls, ends: NDArray[np.int64], names: object, *, said: bool, directed: Directed
    ) -> Self:
        ids = as_ids(names, what="node ids")
        labels = distinct(ids)
        if labels.size != ids.size:
            raise DataError("two nodes have the same id. Make the ids distinct.")
        check_ids(labels)
        position = positions(ids, labels, what="node ids")
        graph, dropped = cls.assemble(position[ends[:, 0]], position[ends[:, 1]], ids=labels)
        Ties(n=graph.n_edges, mutual=dropped.reciprocal_pairs, said=said).check(directed)
        warn_dropped(dropped)
        return graph

    @classmethod
    def from_arrow(
        cls,
        frame: Any,
        *,
        source: str | None = None,
        target: str | None = None,
        nodes: object = None,
        directed: Directed = "refuse",
        ignore_weights: bool = False,
    ) -> Self:
        """Return the graph whose edges are the rows of a frame (pandas, polars, DuckDB, Arrow).

        Raises `DataError` where it is not clear which columns are meant, directions matter, or a
        column says several kinds of edges. Warns `GraphveilWarning` where further columns are
        omitted, with their names; where self-loops or repeated edges are dropped.

        Parameters
        ----------
        frame
            Anything that speaks the Arrow C stream.
        source, target
            The columns. Without them, those of known names such as ``source`` and ``target``, or
            the only two.
        nodes
            All ids, so that isolated nodes are not lost.
        directed
            What to do with rows of which some stand in both directions and others in one:
            ``refuse`` them, or ``symmetrize`` them.
        ignore_weights
            Whether the rows are one graph although a column says of which kind each edge is.
        """
        table = arrow_table(frame)
        names = chosen_names(table.column_names, (source, target), ("source", "target"))
        further = [name for name in table.column_names if name not in names]
        if not ignore_weights:
            ask_kinds_in(table, further)
        left_out = warn_left_out(further)
        left, right = (ids_in_ties(table[name], what=name) for name in names)
        warn_of_missing(*(table[name] for name in names))
        if nodes is None:
            graph, dropped = cls.assemble(left, right)
        else:
            labels = distinct(as_ids(nodes, what="nodes"))
            graph, dropped = cls.assemble(
                positions(left, labels, what=names[0]),
                positions(right, labels, what=names[1]),
                ids=labels,
            )
        check_ids(graph.ids)
        said = frame_says_directed(table, names) or None
        mutual = dropped.reciprocal_pairs
        Ties(n=graph.n_edges, mutual=mutual, said=said, names=names).check(directed)
        warn_dropped(dropped)
        return read_from(noting(graph, left_out), of_frame(table))
