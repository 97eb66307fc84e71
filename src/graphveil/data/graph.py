"""A simple undirected graph: sorted neighbor lists, and ids beside them.

Graphs from objects of other libraries, and back.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import DataError
from graphveil.core.lazy import lazy_module
from graphveil.data.columns import (
    Directed,
    Frames,
    Ties,
    arrow_table,
    chosen_names,
    column_of_types,
    types_say_directed,
)
from graphveil.data.csr import (
    Dropped,
    SortedLists,
    check_lists,
    neighbor_lists,
    sorted_lists,
    warn_dropped,
)
from graphveil.data.ids import (
    Ids,
    as_ids,
    as_text,
    distinct,
    frozen,
    positions,
    same_ids,
    stored,
    to_arrow,
)
from graphveil.data.origin import (
    List,
    PublicLists,
    attributes_of,
    checked_lists,
    noting,
    of_frame,
    of_pattern,
    read_from,
    warn_left_out,
)

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


MAX_NODES = 2**31 - 2


@dataclass(frozen=True, eq=False)
class Graph(GraphObjects):
    """A simple undirected graph; every neighbor list is sorted, every edge stands in both lists.

    Parameters
    ----------
    indptr
        int64, shape (n + 1,): the neighbors of node v are ``indices[indptr[v]:indptr[v + 1]]``.
    indices
        int32, shape (2 m,).
    ids
        int64 or text, shape (n,); None stands for 0..n-1. No method reads them.
    left_out
        The names of attributes and weights that the data came with and that are not in here.
    origins
        What it was read from (`graphveil.data.origin`).
    public_lists
        ``("people",)`` where the owner says that the list of nodes is public and not collected
        from the edges; see `with_public_lists`.

    Raises
    ------
    DataError
        Where the arrays are no simple undirected graph; the message names the first reason.

    Examples
    --------
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])
    >>> graph.n_nodes, graph.n_edges, graph.degrees().tolist(), graph.labels().tolist()
    (3, 2, [1, 2, 1], ['ann', 'bob', 'cyd'])
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    ids: Ids | None = None
    left_out: tuple[str, ...] = ()
    origins: tuple[object, ...] = ()
    public_lists: PublicLists = ()

    def __post_init__(self) -> None:
        """Validate once; everything after trusts."""
        indptr = np.ascontiguousarray(self.indptr, dtype=np.int64)
        indices = np.ascontiguousarray(self.indices, dtype=np.int32)
        check_lists(SortedLists(indptr, indices))
        object.__setattr__(self, "indptr", frozen(indptr))
        object.__setattr__(self, "indices", frozen(indices))
        object.__setattr__(self, "ids", stored(self.ids, n=self.n_nodes, what="node ids"))

    @property
    def n_nodes(self) -> int:
        """The number of nodes, isolated ones included."""
        return int(self.indptr.size - 1)

    @property
    def size(self) -> int:
        """The number of nodes: of people, in most data."""
        return self.n_nodes

    @property
    def n_edges(self) -> int:
        """The number of edges, each counted once."""
        return int(self.indices.size // 2)

    @cached_property
    def _degrees(self) -> NDArray[np.int64]:
        return frozen(np.diff(self.indptr))

    def degrees(self) -> NDArray[np.int64]:
        """Return the degree of every node, int64, shape (n,)."""
        return self._degrees

    def neighbors(self, node: int) -> NDArray[np.int32]:
        """Return the sorted neighbors of one node."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    def edges(self) -> NDArray[np.int32]:
        """Return every edge once as (u, v) with u < v, sorted, int32, shape (m, 2).

        Examples
        --------
        >>> Graph.from_edges([2, 0], [1, 1], n=3).edges().tolist()
        [[0, 1], [1, 2]]
        """
        out = np.empty((self.n_edges, 2), dtype=np.int32)
        source = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.degrees())
        forward = source < self.indices
        out[:, 0] = source[forward]
        out[:, 1] = self.indices[forward]
        return out

    def labels(self) -> Ids:
        """Return the id of every node; 0..n-1 where none were given."""
        return np.arange(self.n_nodes, dtype=np.int64) if self.ids is None else self.ids

    def permuted(self, order: NDArray[np.int64], *, ids: Ids | None = None) -> Graph:
        """Return the same graph with node ``order[j]`` at position j, under the ids given.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
        >>> path.permuted(np.array([1, 0, 2])).edges().tolist()
        [[0, 1], [0, 2]]
        """
        new = np.empty(self.n_nodes, dtype=np.int32)
        new[order] = np.arange(self.n_nodes, dtype=np.int32)
        row = np.repeat(new, np.diff(self.indptr))
        return Graph._trusted(*sorted_lists(row, new[self.indices], self.n_nodes), ids)

    def part(self, people: NDArray[np.int64]) -> Graph:
        """Return the edges among some nodes, without ids; `people` are positions, ascending.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2], n=3).part(np.array([1, 2])).edges().tolist()
        [[0, 1]]
        """
        number = np.full(self.n_nodes, -1, dtype=np.int64)
        number[people] = np.arange(people.size)
        edges = number[self.edges()]
        inside = edges[(edges >= 0).all(axis=1)]
        return Graph.from_edges(inside[:, 0], inside[:, 1], n=people.size)

    def with_public_lists(self, *lists: List) -> Graph:
        """Return the same graph, once its owner says that the list of nodes is public.

        Claims of differential privacy are about edges, given that list. Where it was collected
        from the edges, a node that one edge alone puts there shows that edge.

        Parameters
        ----------
        *lists
            ``"people"``.

        Raises
        ------
        DataError
            Where a list is named that a graph has not.

        Examples
        --------
        >>> graph = Graph.from_edges([0], [1], n=4).with_public_lists("people")
        >>> graph.public_lists
        ('people',)
        """
        return replace(self, public_lists=checked_lists(lists, ("people",), "a graph"))

    def with_entries(self, kept: NDArray[np.bool_]) -> Graph:
        """Return the graph of some entries of the neighbor lists, without ids.

        Parameters
        ----------
        kept
            bool, shape (2 m,): of each edge both entries, or none.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1], [1, 2], n=3)  # lists: [1], [0, 2], [1]
        >>> path.with_entries(np.array([True, True, False, False])).edges().tolist()
        [[0, 1]]
        """
        before = np.concatenate([[0], np.cumsum(kept)])
        return Graph._trusted(before[self.indptr], self.indices[kept], None)

    def without_unused(self) -> Graph:
        """Return the graph itself: it has no names but those of its nodes."""
        return self

    @classmethod
    def mapped(
        cls,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        *,
        ids: Ids | None = None,
        left_out: tuple[str, ...] = (),
        origins: tuple[object, ...] = (),
        public_lists: PublicLists = (),
    ) -> Self:
        """Return a graph of lists that are known to be valid and may be mapped from a file.

        Parameters
        ----------
        indptr, indices, ids, left_out, origins, public_lists
            As of a graph; the lists are not looked at.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
        >>> Graph.mapped(path.indptr, path.indices) == path
        True
        """
        graph = cls._trusted(indptr, indices, ids)
        object.__setattr__(graph, "left_out", left_out)
        object.__setattr__(graph, "origins", origins)
        object.__setattr__(graph, "public_lists", public_lists)
        return graph

    @classmethod
    def _trusted(cls, indptr: Any, indices: Any, ids: Ids | None) -> Self:
        """Return a graph of arrays that were made from a valid graph; only the ids are checked."""
        graph = object.__new__(cls)
        object.__setattr__(graph, "indptr", frozen(indptr.astype(np.int64, copy=False)))
        object.__setattr__(graph, "indices", frozen(indices.astype(np.int32, copy=False)))
        object.__setattr__(graph, "ids", stored(ids, n=graph.n_nodes, what="node ids"))
        return graph

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        *,
        n: int | None = None,
        ids: object = None,
        directed: Directed = "refuse",
    ) -> Self:
        """Return the graph of these edges; self-loops and repeats are dropped.

        Parameters
        ----------
        source, target
            With `n` or `ids`: positions 0..n-1. Without: labels (integers or text); the nodes are
            the distinct ones, in order.
        n
            The number of nodes.
        ids
            The id of every position.
        directed
            What to do with edges of which some stand in both directions and others in one:
            ``refuse`` them, or ``symmetrize`` them.

        Raises
        ------
        DataError
            Where the lengths differ, a position is outside 0..n-1, or directions matter.

        Warns
        -----
        GraphveilWarning
            Where self-loops or repeated arcs were dropped, with their number.
        """
        graph, dropped = cls.assemble(source, target, n=n, ids=ids)
        Ties(n=graph.n_edges, mutual=dropped.reciprocal_pairs).check(directed)
        warn_dropped(dropped)
        return graph

    @classmethod
    def assemble(
        cls, source: ArrayLike, target: ArrayLike, *, n: int | None = None, ids: object = None
    ) -> tuple[Self, Dropped]:
        """Return the graph of these arcs and the count of what was dropped; see `from_edges`."""
        if n is None and ids is None:
            left = as_ids(source, what="source")
            right = as_ids(target, what="target")
            if left.dtype.kind != right.dtype.kind:
                left, right = as_text(left), as_text(right)
            nodes = distinct(np.concatenate([distinct(left), distinct(right)]))
            u = positions(left, nodes, what="source")
            v = positions(right, nodes, what="target")
            return _assemble(cls, u, v, nodes.size, nodes)
        labels = None if ids is None else as_ids(ids, what="node ids")
        size = n if n is not None else 0 if labels is None else labels.size
        u = _positions(source, size, "source")
        v = _positions(target, size, "target")
        return _assemble(cls, u, v, size, labels)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes in the same order, edges and ids."""
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and same_ids(self.ids, other.ids)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no cheap hash

    def _sizes(self) -> dict[str, object]:
        return {"nodes": self.n_nodes, "edges": self.n_edges}

    def __repr__(self) -> str:
        """Return the size; never an id."""
        return f"Graph(n_nodes={self.n_nodes:,}, n_edges={self.n_edges:,})"


def _positions(values: ArrayLike, n: int, what: str) -> NDArray[np.int32]:
    array = np.asarray(values)
    if array.size == 0:
        return np.empty(0, dtype=np.int32)
    if array.dtype.kind not in "iu":
        raise DataError(f"{what}: positions must be integers, not {array.dtype}.")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= n:
        bad = low if low < 0 else high
        raise DataError(f"{what}: position {bad} is outside 0..{n - 1}. Give n > {high}.")
    return array.astype(np.int32, copy=False)


G = TypeVar("G", bound=Graph)


def _assemble(
    cls: type[G], u: NDArray[np.int32], v: NDArray[np.int32], n: int, ids: Ids | None
) -> tuple[G, Dropped]:
    if u.shape != v.shape:
        raise DataError(f"{u.size} sources but {v.size} targets. Give one target a source.")
    if n > MAX_NODES:
        raise DataError(f"{n} nodes are more than {MAX_NODES}. Split the graph.")
    lists, dropped = neighbor_lists([u, v], n)
    return cls(*lists, ids), dropped
