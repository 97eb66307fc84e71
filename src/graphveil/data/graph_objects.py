"""Graphs from objects of other libraries, and back."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.data.columns import chosen_names
from graphveil.data.csr import Dropped, warn_dropped
from graphveil.data.directions import Directed, Ties, column_of_types, types_say_directed
from graphveil.data.frames import Frames, arrow_table
from graphveil.data.ids import Ids, as_ids, distinct, positions, to_arrow
from graphveil.data.left_out import attributes_of, noting, warn_left_out
from graphveil.data.origin import of_frame, of_pattern, read_from
from graphveil.errors import DataError
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import igraph as ig
    import networkx as nx
    import pyarrow as pa
    from scipy import sparse
else:
    pa = lazy_module("pyarrow")
    sparse = lazy_module("scipy.sparse")


class GraphObjects(Frames):
    """The conversions of `graphveil.data.Graph`, which says what the rest means."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ids: Ids | None

    @property
    @abstractmethod
    def n_nodes(self) -> int:
        """The number of nodes."""

    @property
    @abstractmethod
    def n_edges(self) -> int:
        """The number of edges."""

    @abstractmethod
    def edges(self) -> NDArray[np.int32]:
        """Return every edge once."""

    @abstractmethod
    def labels(self) -> Ids:
        """Return the id of every node."""

    @classmethod
    @abstractmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        *,
        n: int | None = None,
        ids: object = None,
        directed: Directed = "refuse",
    ) -> Self:
        """Return the graph of these edges."""

    @classmethod
    @abstractmethod
    def assemble(
        cls, source: ArrayLike, target: ArrayLike, *, n: int | None = None, ids: object = None
    ) -> tuple[Self, Dropped]:
        """Return the graph of these arcs and the count of what was dropped."""

    @classmethod
    def from_scipy(cls, matrix: Any, *, ids: object = None, directed: Directed = "refuse") -> Self:
        """Return the graph of a square sparse matrix; stored zeros are no edges.

        Parameters
        ----------
        matrix
            Square; its values are not kept.
        ids
            The id of every row.
        directed
            What to do with a matrix that is not symmetric: ``refuse`` it, or ``symmetrize`` it.

        Raises
        ------
        DataError
            Where it is not square, or not symmetric and not to be symmetrized.

        Warns
        -----
        GraphveilWarning
            Where values other than 0 and 1 are left out.
        """
        coo = sparse.coo_array(matrix)
        if coo.shape[0] != coo.shape[1]:
            raise DataError(
                f"a graph needs a square matrix, this one is {coo.shape[0]} x {coo.shape[1]}. "
                "Read it as user-feature data instead."
            )
        weighted = bool(np.any((coo.data != 0) & (coo.data != 1)))
        left_out = warn_left_out(["values"] if weighted else [])
        pattern = sparse.csr_array(coo != 0)
        there, back = sparse.triu(pattern, k=1), sparse.tril(pattern, k=-1).T
        upper = sparse.coo_array(there + back)
        Ties(n=upper.nnz, mutual=there.multiply(back).nnz, said=True).check(directed)
        loops = np.flatnonzero(pattern.diagonal())
        ends = [np.concatenate([axis, loops]) for axis in upper.coords]
        graph = cls.from_edges(*ends, n=int(coo.shape[0]), ids=ids)
        return read_from(noting(graph, left_out), of_pattern(pattern))

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], *, directed: Directed = "refuse") -> Self:
        """Return the structure of a NetworkX graph; node names become ids.

        Parameters
        ----------
        graph
            Any NetworkX graph.
        directed
            What to do with a directed one some of whose ties are not mutual: ``refuse`` it, or
            ``symmetrize`` it.

        Raises
        ------
        DataError
            Where it is directed and not to be symmetrized.

        Warns
        -----
        GraphveilWarning
            Where attributes of nodes or edges are left out, with their names; where self-loops or
            repeated edges are dropped.
        """
        names = list(graph.nodes)
        position = {name: number for number, name in enumerate(names)}
        pairs = [(position[u], position[v]) for u, v in graph.edges()]
        ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        left_out = warn_left_out(attributes_of(graph))
        built = cls._in_canonical_order(ends, names, said=graph.is_directed(), directed=directed)
        return noting(built, left_out)

    @classmethod
    def from_igraph(cls, graph: ig.Graph, *, directed: Directed = "refuse") -> Self:
        """Return the structure of an igraph graph; vertex names become ids where there are any.

        Parameters
        ----------
        graph
            Any igraph graph.
        directed
            What to do with a directed one some of whose ties are not mutual: ``refuse`` it, or
            ``symmetrize`` it.

        Raises
        ------
        DataError
            Where it is directed and not to be symmetrized.

        Warns
        -----
        GraphveilWarning
            Where attributes of vertices or edges are left out, with their names; where self-loops
            or repeated edges are dropped.
        """
        ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        named = "name" in graph.vs.attributes()
        attributes = [name for name in graph.vs.attributes() if name != "name"]
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
    ) -> Self:
        """Return the graph whose edges are the rows of a frame (pandas, polars, DuckDB, Arrow).

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

        Raises
        ------
        DataError
            Where it is not clear which columns are meant, or directions matter.

        Warns
        -----
        GraphveilWarning
            Where further columns are left out, with their names; where self-loops or repeated
            edges are dropped.
        """
        table = arrow_table(frame)
        names = chosen_names(table.column_names, (source, target), ("source", "target"))
        further = [name for name in table.column_names if name not in names]
        left_out = warn_left_out(further)
        left, right = (as_ids(table[name], what=name) for name in names)
        if nodes is None:
            graph, dropped = cls.assemble(left, right)
        else:
            labels = distinct(as_ids(nodes, what="nodes"))
            graph, dropped = cls.assemble(
                positions(left, labels, what=names[0]),
                positions(right, labels, what=names[1]),
                ids=labels,
            )
        said = _types_say_directed(table, names) or None
        mutual = dropped.reciprocal_pairs
        Ties(n=graph.n_edges, mutual=mutual, said=said, names=names).check(directed)
        warn_dropped(dropped)
        return read_from(noting(graph, left_out), of_frame(table))

    def to_arrow(self) -> pa.Table:
        """Return every edge once as an Arrow table of the ids in `source` and `target`."""
        edges = self.edges()
        labels = self.labels()
        columns = [to_arrow(labels[edges[:, 0]]), to_arrow(labels[edges[:, 1]])]
        return pa.table(columns, names=["source", "target"])

    def to_scipy(self) -> sparse.csr_array:
        """Return the symmetric adjacency matrix: int8 ones, shape (n, n)."""
        ones = np.ones(self.indices.size, dtype=np.int8)
        shape = (self.n_nodes, self.n_nodes)
        return sparse.csr_array((ones, self.indices.copy(), self.indptr.copy()), shape=shape)

    def to_networkx(self) -> nx.Graph[Any]:
        """Return a NetworkX graph with the ids as node names."""
        import networkx as nx  # noqa: PLC0415  an optional library, accepted but never required

        labels = self.labels().tolist()
        graph: nx.Graph[Any] = nx.Graph()
        graph.add_nodes_from(labels)
        graph.add_edges_from((labels[u], labels[v]) for u, v in self.edges().tolist())
        return graph

    def to_igraph(self) -> ig.Graph:
        """Return an igraph graph; the ids become the vertex attribute `name`."""
        import igraph as ig  # noqa: PLC0415  an optional library, accepted but never required

        graph = ig.Graph(n=self.n_nodes, edges=self.edges().tolist())
        if self.ids is not None:
            graph.vs["name"] = self.ids.tolist()
        return graph


def _types_say_directed(table: pa.Table, ends: tuple[str, str]) -> bool:
    """Return whether a column of types, as Gephi writes it, calls some tie directed."""
    names = table.column_names
    column = column_of_types(names, [names.index(name) for name in ends])
    return column is not None and types_say_directed(table[column])
