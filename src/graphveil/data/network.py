"""A network of people: what is said of everyone, and ties of one or several kinds between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data.codes import SUPPRESSED
from graphveil.data.graph import Graph
from graphveil.data.ids import Ids, same_ids, stored
from graphveil.data.layers import Layer
from graphveil.data.network_objects import NetworkObjects
from graphveil.data.table import Table
from graphveil.errors import DataError, did_you_mean, mapping, option

if TYPE_CHECKING:
    from graphveil.data.public_lists import PublicLists

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
