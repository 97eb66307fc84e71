"""A simple undirected graph: sorted neighbor lists, and ids beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.data.csr import (
    Dropped,
    SortedLists,
    check_lists,
    neighbor_lists,
    sorted_lists,
    warn_dropped,
)
from graphveil.data.directions import Directed, Ties
from graphveil.data.graph_objects import GraphObjects
from graphveil.data.ids import (
    Ids,
    as_ids,
    as_text,
    distinct,
    frozen,
    positions,
    same_ids,
    stored,
)
from graphveil.data.public_lists import List, PublicLists, checked_lists
from graphveil.errors import DataError

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
