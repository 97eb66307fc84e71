"""What a copy of a network says in addition to its edges: types, directions, attributes.

All attacks with a copy read one form: a tuple of neighbor lists (`Relations`), one per undirected
edge type and two per directed one (out, in), in the same order for copy and release, and the
attributes known of people next to those that nodes show (`KnownRows`). Searches match within each
list and exclude pairs with different attributes. A further kind of knowledge about pairs of a
person and a node, which can only exclude, belongs into `KnownRows`; one about pairs of people is
one more list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from graphveil.attacks.networks.signatures import KnownRows, published_attributes
from graphveil.core.array_types import Ints
from graphveil.data import Graph, Layer
from graphveil.data.csr import SortedLists, sorted_lists
from graphveil.evaluate.comparison import GraphComparison, NetworkComparison, sparse

CopyOf: TypeAlias = Literal["network", "ties"]
"""What a copy has: all that is published about a network, or only who is connected."""

Relations: TypeAlias = "tuple[SortedLists, ...]"
"""Neighbor lists of everybody: one per edge type, two (out, in) if it is directed."""

COPY = (
    "contents of the copy: everything published about a network (edge directions, edge types, "
    "node attributes), or only its edges"
)
"""The help text of the option `copy` of attacks by copies."""


class SideInformation(NamedTuple):
    """Edges by type and direction, and attributes, of a copy and of a release.

    Parameters
    ----------
    copy, released : tuple of SortedLists
        The neighbor lists of both, in one order; without directions and types those of the graphs.
    turned : tuple of int
        For each list, the place of the list the other way round; its own place if edges have no
        direction.
    rows : KnownRows, optional
        What the copy knows of people and what the release shows of nodes, in the orders of both;
        None if no attribute is known.
    """

    copy: Relations
    released: Relations
    turned: tuple[int, ...] = (0,)
    rows: KnownRows | None = None

    @classmethod
    def of_graphs(
        cls, copy: Graph, released: Graph, rows: KnownRows | None = None
    ) -> SideInformation:
        """Return what two graphs say: who is connected to whom.

        >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
        >>> totals(SideInformation.of_graphs(path, path).copy).tolist()
        [1, 2, 1]
        """
        one, two = (SortedLists(graph.indptr, graph.indices) for graph in (copy, released))
        return cls((one,), (two,), rows=rows)

    @classmethod
    def of_layers(
        cls, copy: Sequence[Layer], released: Sequence[Layer], rows: KnownRows | None
    ) -> SideInformation:
        """Return what layers of the same names say.

        >>> calls = Layer.from_arcs([0, 1], [1, 2], n=3)
        >>> both = SideInformation.of_layers([calls], [calls], None)
        >>> both.turned, [numbers.tolist() for numbers in degrees(both.copy)]
        ((1, 0), [[1, 1, 0], [0, 1, 1]])
        """
        # A directed layer has two lists, out and in; turned round, each becomes the other. `turned`
        # has the place of that list, for a layer without direction its own.
        turned: list[int] = []
        for layer in copy:
            at = len(turned)
            turned += [at + 1, at] if layer.directed else [at]
        return cls(_relations(copy), _relations(released), tuple(turned), rows)

    def matrices(
        self, dtype: DTypeLike
    ) -> tuple[list[sparse.csr_array], list[sparse.csr_array], list[sparse.csr_array]]:
        """Return the matrices of the copy, of the release, and the latter the other way round.

        Each is a list of sparse n times n matrices of ones, one per neighbor list.
        """
        # One matrix per list: entry (u, v) is 1 if v is in the list of u. The matrix of the list
        # turned round is its transpose, and needs no second copy.
        first, second = (
            [matrix(lists, dtype) for lists in relations]
            for relations in (self.copy, self.released)
        )
        return first, second, [second[at] for at in self.turned]


def _relations(layers: Sequence[Layer]) -> Relations:
    lists = []
    # Directed layers have a second list, the edges into each node.
    for layer in layers:
        lists.append(SortedLists(layer.indptr, layer.indices))
        if layer.directed:
            source, target = layer.ties()
            lists.append(sorted_lists(target, source, layer.n_nodes))
    return tuple(lists)


def matrix(lists: SortedLists, dtype: DTypeLike) -> sparse.csr_array:
    """Return neighbor lists as a sparse n times n matrix of ones of the given type."""
    n = lists.indptr.size - 1
    ones = np.ones(lists.indices.size, dtype=dtype)
    return sparse.csr_array((ones, lists.indices.copy(), lists.indptr.copy()), shape=(n, n))


def degrees(relations: Relations) -> Ints:
    """Return how many neighbors everyone has in each of some lists, int64, shape (lists, n)."""
    return np.stack([np.diff(lists.indptr) for lists in relations])


def totals(relations: Relations) -> Ints:
    """Return how many neighbors everyone has in all lists, int64, shape (n,)."""
    return np.asarray(degrees(relations).sum(axis=0))


def layers_of(pair: GraphComparison) -> tuple[Sequence[Layer], Sequence[Layer]] | None:
    """Return the layers of original and release; None if they say no more than edges.

    None also if names or directions of the layers differ: they cannot be compared then.
    """
    if not isinstance(pair, NetworkComparison):
        return None
    before, after = (network.layers for network in pair.networks)
    # Lists are compared in order, so layers must be the same ones in the same order.
    if [(one.name, one.directed) for one in before] != [(one.name, one.directed) for one in after]:
        return None
    # One undirected layer is the plain graph, which attacks read without layers.
    return (before, after) if len(before) > 1 or before[0].directed else None


def words_of(pair: GraphComparison, copy: CopyOf) -> str:
    """Return what a copy has apart from edges, in words; empty if it has edges alone.

    >>> from graphveil.data import Network
    >>> from graphveil.core.randomness import Randomness
    >>> calls = Network((Layer.from_arcs([0, 1], [1, 2], n=3),))
    >>> words_of(NetworkComparison.of(calls, calls, None, Randomness(seed=1)), "network")
    'directions'
    """
    if copy == "ties":
        return ""
    layers = layers_of(pair)
    both = [] if layers is None else layers[0]
    named = ["kinds"] if len(both) > 1 else []
    named += ["directions"] if any(layer.directed for layer in both) else []
    named += ["attributes"] if published_attributes(pair) is not None else []
    *first, last = named or [""]
    return f"{', '.join(first)} and {last}" if first else last
