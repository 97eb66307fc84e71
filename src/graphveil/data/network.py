"""A network of people: what is said of everyone, and edges of one or several kinds between them.

A graph is the simplest one: sorted neighbor lists, and ids next to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import starmap
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import DataError
from graphveil.core.hints import did_you_mean, mapping, option
from graphveil.core.libraries import pa, sparse
from graphveil.core.text import counted
from graphveil.data import csr
from graphveil.data.codes import SUPPRESSED
from graphveil.data.columns import Directed, Ties
from graphveil.data.graph_conversions import GraphObjects
from graphveil.data.ids import (
    Ids,
    as_ids,
    as_text,
    distinct,
    frozen,
    ids_in_ties,
    positions,
    same_ids,
    stored,
    to_arrow,
)
from graphveil.data.layers import Layer
from graphveil.data.network_conversions import NetworkObjects
from graphveil.data.origin import List, PublicLists, checked_lists, noting, read_from
from graphveil.data.table import Table

ID_OF_PERSON = "node"
"""The column of ids in the file of people: no attribute is called so."""

MOST_LAYERS = 100
"""More kinds of edges are a column of something else."""

LAYER = "layer"
"""The column that names the layer of an edge, where there are several."""


class TiesOfLayers(NamedTuple):
    """Every edge once, ascending by source, target and layer; undirected ones smaller end first."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    layer: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Network(NetworkObjects):
    """People with attributes, and layers of edges between them, each directed or not.

    Parameters
    ----------
    layers
        The layers; or, by their names, `Graph` objects (edges without directions) and layers. They
        are kept in the order of their names.
    people
        The attributes: one row per person, in the order of the nodes; None for none.
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
        given: Any = self.layers
        named = starmap(_named, given.items()) if isinstance(given, Mapping) else given
        layers = tuple(sorted(named, key=lambda layer: layer.name))
        if not layers:
            raise DataError("a network needs at least one layer of edges, which may be empty.")
        if len(layers) > MOST_LAYERS:
            raise DataError(
                f"{len(layers)} edge types are more than {MOST_LAYERS}. Choose those to read with "
                f"{option('kinds')}, or group numbers ({mapping('bins', 'COLUMN', 'median')})."
            )
        n = layers[0].n_nodes
        for layer in layers:
            if layer.n_nodes != n:
                raise DataError(
                    f"{layer.name!r} has {counted(layer.n_nodes, 'node')}, but "
                    f"{layers[0].name!r} has {n}"
                )
        names = [layer.name for layer in layers]
        if len(set(names)) < len(names):
            raise DataError(f"two layers have the same name, among {', '.join(names)}. Rename one.")
        ids, people = self.ids, self.people
        if people is not None:
            if people.n_rows != n:
                raise DataError(
                    f"{counted(people.n_rows, 'row')} of attributes for {counted(n, 'node')}. "
                    "Give one row per node."
                )
            if ID_OF_PERSON in people.columns or not all(people.columns):
                raise DataError(
                    f"an attribute has no name, or the name {ID_OF_PERSON!r}, which a release "
                    "uses for the ids. Rename it."
                )
            ids = people.ids if ids is None else ids
            people = Table(people.codes, people.columns, people.categories)
            people = people if people.columns else None
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "people", people)
        object.__setattr__(self, "ids", stored(ids, n=n, what="node ids"))

    @property
    def n_nodes(self) -> int:
        """The number of people, those without edges included."""
        return self.layers[0].n_nodes

    @property
    def size(self) -> int:
        """The number of people."""
        return self.n_nodes

    @property
    def n_ties(self) -> int:
        """The number of edges of all layers: arcs where they are directed, else edges."""
        return sum(layer.n_ties for layer in self.layers)

    @property
    def n_edges(self) -> int:
        """The number of edges of all layers, `n_ties` by another name."""
        return self.n_ties

    @property
    def is_directed(self) -> bool:
        """Whether some edges lead from one person to another."""
        return any(layer.directed for layer in self.layers)

    @property
    def n_layers(self) -> int:
        """The number of kinds of edges."""
        return len(self.layers)

    @property
    def columns_of_ties(self) -> tuple[str, ...]:
        """The columns of edges in files and frames: the third has the names of several layers."""
        return ("source", "target", *([LAYER] if self.n_layers > 1 else []))

    def ties(self) -> TiesOfLayers:
        """Return every edge of every layer once, in order.

        Returns
        -------
        TiesOfLayers
            Three int32 arrays of shape (edges,): `source` and `target` are positions of nodes,
            `layer` is the position of the layer.

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
    def quoted_names(self) -> tuple[str, ...]:
        """The names of attributes and layers."""
        return (*self.attributes, *(layer.name for layer in self.layers))

    @property
    def n_attributes(self) -> int:
        """The number of attributes."""
        return len(self.attributes)

    @property
    def is_bare(self) -> bool:
        """Whether it is a graph: one layer without directions, and nothing is said of people."""
        return self.people is None and len(self.layers) == 1 and not self.layers[0].directed

    def graph(self) -> Graph:
        """Return the graph of the only layer, under the ids of the network.

        Returns
        -------
        Graph
            Attributes are not part of it.

        Raises
        ------
        DataError
            If there are several layers, or edges are directed, as in `only_layer`.

        Examples
        --------
        >>> Network({"ties": Graph.from_edges([0], [1], n=2)}).graph()
        Graph(n_nodes=2, n_edges=1)
        """
        only = self.only_layer()
        return Graph.mapped(
            only.indptr, only.indices, ids=self.ids, left_out=self.left_out, origins=self.origins
        )

    def only_layer(self) -> Layer:
        """Return the edges of the only kind, which have no direction.

        Returns
        -------
        Layer
            The layer, which is not directed.

        Raises
        ------
        DataError
            Where there are several layers, or edges are directed: the message says what would be
            lost.

        Examples
        --------
        >>> Network({"ties": Graph.from_edges([0], [1], n=2)}).only_layer().n_ties
        1
        """
        if len(self.layers) > 1:
            names = ", ".join(layer.name for layer in self.layers)
            raise DataError(
                f"the network has several edge types ({names}), but this method takes one. "
                f"Choose one with {option('kinds')}."
            )
        only = self.layers[0]
        only.refuse_directions()
        return only

    def undirected(self) -> Graph:
        """Return the graph in which two people are connected that any edge joins, in any direction.

        An edge of any kind counts.

        Returns
        -------
        Graph
            The same nodes and ids, and at most one edge for each pair.

        Examples
        --------
        >>> calls = Layer.from_arcs([0, 1, 2], [1, 0, 1], n=3)
        >>> Network((calls,)).undirected().edges().tolist()
        [[0, 1], [1, 2]]
        """
        if len(self.layers) == 1 and not self.layers[0].directed:
            return self.graph()
        ties = self.ties()
        both, _ = Layer.undirected(ties.source, ties.target, n=self.n_nodes)
        return Network((both,), None, self.ids, self.left_out, self.origins).graph()

    def labels(self) -> Ids:
        """Return the id of every node; 0..n-1 where none were given.

        Returns
        -------
        NDArray
            int64 or text, shape (n,).

        Examples
        --------
        >>> ties = Graph.from_edges(["ann"], ["bob"])
        >>> Network({"calls": ties}, ids=["ann", "bob"]).labels().tolist()
        ['ann', 'bob']
        """
        return np.arange(self.n_nodes, dtype=np.int64) if self.ids is None else self.ids

    def profiles(self) -> NDArray[np.int64]:
        """Return the profile of every node: its numbers of edges, layer by layer.

        A layer without directions gives one number, a directed one the out-degree and the
        in-degree.

        Returns
        -------
        NDArray[np.int64]
            Shape (n, c), where c counts a directed layer twice.

        Examples
        --------
        >>> calls = Layer.from_arcs([0, 0], [1, 2], n=3)
        >>> Network((calls,)).profiles().tolist()
        [[2, 0], [0, 1], [0, 1]]
        """
        return np.column_stack([one for layer in self.layers for one in layer.degrees()])

    def codes_of(self, attribute: str) -> NDArray[np.int32]:
        """Return the code of an attribute for everyone; -1 where it is suppressed.

        Parameters
        ----------
        attribute
            The name of the attribute.

        Returns
        -------
        NDArray[np.int32]
            Shape (n,): positions in the categories of the attribute; -1 is suppressed.

        Raises
        ------
        DataError
            Where there is no such attribute.

        Examples
        --------
        >>> people = Table.from_columns({"sex": ["m", "f"]})
        >>> Network({"calls": Graph.from_edges([0], [1], n=2)}, people).codes_of("sex").tolist()
        [1, 0]
        """
        chosen = self._chosen([attribute])
        return np.full(self.n_nodes, SUPPRESSED) if chosen is None else chosen.codes[:, 0]

    def with_attributes(self, names: Sequence[str]) -> Network:
        """Return the same network with some of its attributes, in this order.

        Parameters
        ----------
        names
            The attributes to keep.

        Returns
        -------
        Network
            The same nodes, ids and edges.

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
        return self.with_people(self._chosen(names))

    def without(self, *names: str) -> Network:
        """Return the same network without some attributes.

        Parameters
        ----------
        *names
            The attributes to drop.

        Returns
        -------
        Network
            The same nodes, ids and edges.

        Raises
        ------
        DataError
            Where there is no such attribute.

        Examples
        --------
        >>> people = Table.from_columns({"sex": ["f", "m"]})
        >>> Network({"calls": Graph.from_edges([0], [1], n=2)}, people).without("sex").attributes
        ()
        """
        self._chosen(names)
        return self.with_attributes([name for name in self.attributes if name not in names])

    def with_people(self, people: Table | None) -> Network:
        """Return the same edges and ids with other attributes, one row per node.

        Parameters
        ----------
        people
            The attributes, one row per node in the order of the nodes; None for none.

        Returns
        -------
        Network
            The same nodes, ids and edges.

        Examples
        --------
        >>> network = Network({"calls": Graph.from_edges([0], [1], n=2)})
        >>> network.with_people(Table.from_columns({"sex": ["f", "m"]})).attributes
        ('sex',)
        """
        return Network(self.layers, people, self.ids, self.left_out, self.origins)

    def _chosen(self, names: Sequence[str]) -> Table | None:
        for name in names:
            if name not in self.attributes:
                raise DataError(
                    f"no attribute {name!r}. {did_you_mean(name, self.attributes)}Attributes: "
                    f"{', '.join(self.attributes) or 'none'}."
                )
        if self.people is None or not names:
            return None
        at = [self.attributes.index(name) for name in names]
        categories = tuple(self.people.categories[column] for column in at)
        return Table(self.people.codes[:, at], tuple(names), categories)

    def permuted(self, order: NDArray[np.int64], *, ids: Ids | None = None) -> Network:
        """Return the same network with node ``order[j]`` at position j, under the ids given.

        Parameters
        ----------
        order
            int64, shape (n,): a permutation of the positions.
        ids
            The new ids, by new position; None for 0..n-1.

        Returns
        -------
        Network
            What a release publishes: without origins and dropped names.

        Examples
        --------
        >>> calls = Network((Layer.from_arcs([0], [1], n=2),))
        >>> calls.permuted(np.array([1, 0])).ties().source.tolist()
        [1]
        """
        people = None if self.people is None else self.people.permuted(order)
        return Network(tuple(layer.permuted(order) for layer in self.layers), people, ids)

    def part(self, people: NDArray[np.int64]) -> Network:
        """Return some people with the edges among them, without ids.

        Parameters
        ----------
        people
            int64: the positions of the nodes to keep, ascending.

        Returns
        -------
        Network
            The induced network, with the attributes of these nodes.

        Examples
        --------
        >>> calls = Network((Layer.from_arcs([0, 1], [1, 2], n=3),))
        >>> calls.part(np.array([1, 2])).n_ties
        1
        """
        rows = None if self.people is None else self.people.part(people)
        return Network(tuple(layer.part(people) for layer in self.layers), rows)

    def without_unused(self) -> Network:
        """Return the same network without the categories that no node shows.

        Returns
        -------
        Network
            The same nodes, ids, edges and cells.

        Examples
        --------
        >>> people = Table([[0], [-1]], ("sex",), (["f", "m"],))
        >>> network = Network({"calls": Graph.from_edges([0], [1], n=2)}, people)
        >>> network.without_unused().people.categories[0].tolist()
        ['f']
        """
        return self.with_people(None if self.people is None else self.people.without_unused())

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes in the same order, attributes, edges and ids."""
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self.layers == other.layers
            and self.people == other.people
            and same_ids(self.ids, other.ids)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no cheap hash

    def _sizes(self) -> dict[str, object]:
        ties = {f"edges: {layer.name}": layer.n_ties for layer in self.layers}
        return {"nodes": self.n_nodes, **ties, "attributes": ", ".join(self.attributes) or "none"}

    def __repr__(self) -> str:
        """Return the size, and the names of layers and attributes; never an id."""
        ties = "".join(
            f", {layer.name}: {layer.n_ties:,} {'arcs' if layer.directed else 'edges'}"
            for layer in self.layers
        )
        said = f", attributes: {', '.join(self.attributes)}" if self.attributes else ""
        return f"Network({counted(self.n_nodes, 'node', spec=',')}{ties}{said})"


def _named(name: str, value: Any) -> Layer:
    if isinstance(value, Network) and value.is_bare:
        return Layer.of(value.layers[0], name=name)
    if isinstance(value, Layer):
        return replace(value, name=name)
    raise DataError(
        f"the layer {name!r} is a {type(value).__name__}. Give a Graph, or Layer.from_arcs(...)."
    )


MAX_NODES = 2**31 - 2
"""The most nodes of a graph: positions are int32, and one more than the last must fit, too."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Graph(GraphObjects, Network):  # type: ignore[misc]  # it asks of directions
    """A simple undirected graph: the network with one layer, no directions and no attributes.

    Every neighbor list is sorted, every edge stands in both lists.

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
        Where the arrays are not a simple undirected graph; the message names the first reason.

    Examples
    --------
    >>> graph = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])
    >>> graph.n_nodes, graph.n_edges, graph.degrees().tolist(), graph.labels().tolist()
    (3, 2, [1, 2, 1], ['ann', 'bob', 'cyd'])
    """

    indptr: NDArray[np.int64] = field(kw_only=True)
    indices: NDArray[np.int32] = field(kw_only=True)
    public_lists: PublicLists = ()

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        ids: Ids | None = None,
        left_out: tuple[str, ...] = (),
        origins: tuple[object, ...] = (),
        public_lists: PublicLists = (),
    ) -> None:
        """Validate once; everything after trusts."""
        starts = np.ascontiguousarray(indptr, dtype=np.int64)
        lists = csr.SortedLists(starts, np.ascontiguousarray(indices, dtype=np.int32))
        csr.check_lists(lists)
        self._set(lists, ids, left_out, origins, public_lists)

    def _set(
        self,
        lists: csr.SortedLists,
        ids: Ids | None,
        left_out: tuple[str, ...] = (),
        origins: tuple[object, ...] = (),
        public_lists: PublicLists = (),
    ) -> None:
        """Set the fields; of the lists nothing is checked."""
        object.__setattr__(self, "indptr", frozen(lists.indptr))
        object.__setattr__(self, "indices", frozen(lists.indices))
        kept = {"ids": stored(ids, n=self.n_nodes, what="node ids"), "left_out": left_out}
        for name, value in {**kept, "origins": origins, "public_lists": public_lists}.items():
            object.__setattr__(self, name, value)

    @cached_property  # type: ignore[misc]  # it is made when it is asked for
    def layers(self) -> tuple[Layer, ...]:
        """The only layer, without directions."""
        return (Layer.of(self),)

    @property
    def n_nodes(self) -> int:
        """The number of nodes, isolated ones included."""
        return int(self.indptr.size - 1)

    @property
    def n_edges(self) -> int:
        """The number of edges, each counted once."""
        return int(self.indices.size // 2)

    @property
    def n_ties(self) -> int:
        """The number of edges."""
        return self.n_edges

    @property
    def n_layers(self) -> int:
        """One: no edge is of another kind."""
        return 1

    @property
    def is_directed(self) -> bool:
        """False: no edge has a direction."""
        return False

    @property
    def is_bare(self) -> bool:
        """True: nothing is said of nodes but who is connected to whom."""
        return True

    def graph(self) -> Graph:
        """Return the graph itself.

        Returns
        -------
        Graph
            The same object.

        Examples
        --------
        >>> Graph.from_edges([0], [1], n=2).graph().n_edges
        1
        """
        return self

    def undirected(self) -> Graph:
        """Return the graph itself.

        Returns
        -------
        Graph
            The same object.

        Examples
        --------
        >>> Graph.from_edges([0], [1], n=2).undirected().n_edges
        1
        """
        return self

    @cached_property
    def _degrees(self) -> NDArray[np.int64]:
        return frozen(np.diff(self.indptr))

    def degrees(self) -> NDArray[np.int64]:
        """Return the degree of every node.

        Returns
        -------
        NDArray[np.int64]
            Shape (n,), read-only.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2], n=4).degrees().tolist()
        [1, 2, 1, 0]
        """
        return self._degrees

    def profiles(self) -> NDArray[np.int64]:
        """Return the degree of every node as its profile.

        Returns
        -------
        NDArray[np.int64]
            Shape (n, 1): a graph has one layer without directions.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2], n=3).profiles().tolist()
        [[1], [2], [1]]
        """
        return self._degrees[:, None]

    def neighbors(self, node: int) -> NDArray[np.int32]:
        """Return the sorted neighbors of one node.

        Parameters
        ----------
        node
            The position of the node.

        Returns
        -------
        NDArray[np.int32]
            Positions, ascending; a view.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2], n=3).neighbors(1).tolist()
        [0, 2]
        """
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    def edges(self) -> NDArray[np.int32]:
        """Return every edge once as (u, v) with u < v, sorted.

        Returns
        -------
        NDArray[np.int32]
            Shape (m, 2): positions.

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

    def to_arrow(self) -> pa.Table:
        """Return every edge once as an Arrow table of the ids in `source` and `target`.

        Returns
        -------
        pyarrow.Table
            One row per edge, in the order of `edges`.

        Examples
        --------
        >>> Graph.from_edges(["ann"], ["bob"]).to_arrow().to_pylist()
        [{'source': 'ann', 'target': 'bob'}]
        """
        columns = [to_arrow(self.labels()[ends]) for ends in self.edges().T]
        return pa.table(columns, names=["source", "target"])

    def to_scipy(self) -> sparse.csr_array:
        """Return the symmetric adjacency matrix.

        Returns
        -------
        scipy.sparse.csr_array
            int8 ones, shape (n, n), with sorted indices; a copy.

        Examples
        --------
        >>> Graph.from_edges([0], [1], n=2).to_scipy().toarray().tolist()
        [[0, 1], [1, 0]]
        """
        ones = np.ones(self.indices.size, dtype=np.int8)
        shape = (self.n_nodes, self.n_nodes)
        return sparse.csr_array((ones, self.indices.copy(), self.indptr.copy()), shape=shape)

    def permuted(self, order: NDArray[np.int64], *, ids: Ids | None = None) -> Graph:
        """Return the same graph with node ``order[j]`` at position j, under the ids given.

        Parameters
        ----------
        order
            int64, shape (n,): a permutation of the positions.
        ids
            The new ids, by new position; None for 0..n-1.

        Returns
        -------
        Graph
            What a release publishes: without origins, dropped names and public lists.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
        >>> path.permuted(np.array([1, 0, 2])).edges().tolist()
        [[0, 1], [0, 2]]
        """
        return Graph.mapped(*csr.permuted_lists(self, order), ids=ids)

    def part(self, people: NDArray[np.int64]) -> Graph:
        """Return the edges among some nodes, without ids.

        Parameters
        ----------
        people
            int64: the positions of the nodes to keep, ascending.

        Returns
        -------
        Graph
            The induced subgraph.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2], n=3).part(np.array([1, 2])).edges().tolist()
        [[0, 1]]
        """
        return Graph.mapped(*csr.lists_among(self, people))

    def with_public_lists(self, *lists: List) -> Graph:
        """Return the same graph, once its owner says that the list of nodes is public.

        Claims of differential privacy are about edges, given that list. Where it was collected
        from the edges, a node that one edge alone puts there shows that edge.

        Parameters
        ----------
        *lists
            ``"people"``.

        Returns
        -------
        Graph
            The same graph, with the lists named in `public_lists`.

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
        public = checked_lists(lists, ("people",), "a graph")
        graph = Graph.mapped(self.indptr, self.indices, ids=self.ids, public_lists=public)
        return read_from(noting(graph, self.left_out), *self.origins)

    def with_entries(self, kept: NDArray[np.bool_]) -> Graph:
        """Return the graph of some entries of the neighbor lists, without ids.

        Parameters
        ----------
        kept
            bool, shape (2 m,): of each edge both entries, or none.

        Returns
        -------
        Graph
            As many nodes, and the edges that were kept.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1], [1, 2], n=3)  # lists: [1], [0, 2], [1]
        >>> path.with_entries(np.array([True, True, False, False])).edges().tolist()
        [[0, 1]]
        """
        before = np.concatenate([[0], np.cumsum(kept)])
        return Graph.mapped(before[self.indptr], self.indices[kept])

    def with_attributes(self, names: Sequence[str]) -> Graph:
        """Return the graph itself: it has no attributes, so any name is refused.

        Parameters
        ----------
        names
            Must be empty.

        Returns
        -------
        Graph
            The same object.

        Raises
        ------
        DataError
            If any attribute is named.

        Examples
        --------
        >>> Graph.from_edges([0], [1], n=2).with_attributes([]).n_edges
        1
        """
        self._chosen(names)
        return self

    def without_unused(self) -> Graph:
        """Return the graph itself: it has no names but those of its nodes.

        Returns
        -------
        Graph
            The same object.

        Examples
        --------
        >>> Graph.from_edges([0], [1], n=2).without_unused().n_edges
        1
        """
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

        Returns
        -------
        Graph
            A graph over these very arrays.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
        >>> Graph.mapped(path.indptr, path.indices) == path
        True
        """
        graph = object.__new__(cls)
        graph._set(csr.SortedLists(indptr, indices), ids, left_out, origins, public_lists)
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

        Returns
        -------
        Graph
            Nodes in the order of their positions, or of their labels.

        Raises
        ------
        DataError
            Where the lengths differ, a position is outside 0..n-1, or directions matter.

        Warns
        -----
        GraphveilWarning
            Where self-loops or repeated arcs were dropped, with their number.

        Examples
        --------
        >>> Graph.from_edges([0, 1], [1, 2], n=4).degrees().tolist()
        [1, 2, 1, 0]
        >>> Graph.from_edges(["bob", "ann"], ["cyd", "bob"]).labels().tolist()
        ['ann', 'bob', 'cyd']
        """
        graph, dropped = cls.assemble(source, target, n=n, ids=ids)
        Ties(n=graph.n_edges, mutual=dropped.reciprocal_pairs).check(directed)
        csr.warn_dropped(dropped)
        return graph

    @classmethod
    def assemble(
        cls, source: ArrayLike, target: ArrayLike, *, n: int | None = None, ids: object = None
    ) -> tuple[Self, csr.Dropped]:
        """Return the graph of these arcs and the count of what was dropped.

        Parameters
        ----------
        source, target, n, ids
            As of `from_edges`.

        Returns
        -------
        tuple[Graph, Dropped]
            The graph; and the numbers of self-loops, of repeated arcs, and of edges that are there
            in both directions. Nothing is refused for its directions.

        Raises
        ------
        DataError
            If the lengths differ, or a position is outside 0..n-1.

        Examples
        --------
        >>> Graph.assemble([0, 1, 1], [1, 0, 1], n=2)[1]
        Dropped(self_loops=1, duplicates=0, reciprocal_pairs=1)
        """
        if n is None and ids is None:
            left = ids_in_ties(source, what="source")
            right = ids_in_ties(target, what="target")
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

    __hash__ = None

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
) -> tuple[G, csr.Dropped]:
    if u.shape != v.shape:
        raise DataError(f"{u.size} sources but {v.size} targets. Give one target per source.")
    if n > MAX_NODES:
        raise DataError(f"{counted(n, 'node', 'is')} more than {MAX_NODES}. Split the graph.")
    lists, dropped = csr.neighbor_lists([u, v], n)
    return cls(*lists, ids), dropped
