"""What can be known of one person in a network, and what a copy says apart from edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from graphveil.core.progress import in_time
from graphveil.data import Graph, Layer
from graphveil.data.csr import SortedLists, sorted_lists
from graphveil.evaluate.comparison import (
    Bools,
    Comparison,
    Floats,
    GraphComparison,
    Int32s,
    Ints,
    NetworkComparison,
    sparse,
)
from graphveil.measures.values import triangles

SIGNATURES = ("degree", "degree and triangles", "vrq")
"""The names of the signatures, from the least knowledge to the most."""


class Signatures(NamedTuple):
    """The signatures of all nodes of a graph.

    `degrees, triangles`: int64, shape (n,); `indptr`: int64, shape (n + 1,): where the list of
    every node begins in `around`; `around`: int64, shape (2 m,): the degrees of every node's
    neighbors, largest first.
    """

    degrees: Ints
    triangles: Ints
    indptr: Ints
    around: Ints

    @classmethod
    def of(cls, graph: Graph) -> Signatures:
        """Return the signatures of a graph.

        >>> Signatures.of(Graph.from_edges([0, 1, 1], [1, 2, 3], n=4)).around.tolist()
        [3, 1, 1, 1, 3, 3]
        """
        degrees = graph.degrees()
        values = degrees[graph.indices]
        node = np.repeat(np.arange(graph.n_nodes), degrees)
        around = values[np.lexsort((-values, node))]
        return cls(degrees, triangles(graph), graph.indptr, around)

    def distances_to(self, known: Signatures, node: int) -> Ints:
        """Return how far every node's signatures are from those that are known of one node."""
        degree = np.abs(self.degrees - known.degrees[node])
        both = degree + np.abs(self.triangles - known.triangles[node])
        known_list = known.around[known.indptr[node] : known.indptr[node + 1]]
        return np.stack([degree, both, degree + self._from_list(known_list)])

    def _from_list(self, known: Ints) -> Ints:
        """Return the distance of every node's list of neighbors' degrees to one such list."""
        rank = np.arange(self.around.size) - np.repeat(self.indptr[:-1], self.degrees)
        padded = np.zeros(max(int(self.degrees.max(initial=0)), known.size), dtype=np.int64)
        padded[: known.size] = known
        summed = _sums_before(np.abs(self.around - padded[rank]))
        beyond = known.sum() - _sums_before(padded)[self.degrees]
        return np.asarray(np.diff(summed[self.indptr]) + beyond)


class Profiles(NamedTuple):
    """Numbers that are known of everyone, as of directed edges out and in."""

    numbers: Ints

    def distances_to(self, known: Profiles, node: int) -> Ints:
        """Return how far every profile is from one that is known, int64, shape (1, n).

        >>> profiles = Profiles(np.array([[0, 2], [1, 1]]))
        >>> profiles.distances_to(profiles, 0).tolist()
        [[0, 2]]
        """
        distance: Ints = np.abs(self.numbers - known.numbers[node]).sum(axis=1)
        return distance[None, :]


def _sums_before(values: Ints) -> Ints:
    """Return the sum of all values before each position, and the sum of all."""
    return np.concatenate([[0], np.cumsum(values)])


class KnownRows(NamedTuple):
    """Attributes that are known of people, and those that a release shows.

    `known`: int32, shape (n, d): in the order of the original; -1 where nothing is known; `shown`:
    int32, shape (n, d): in the order of the release, in the same codes; -1 where a cell is
    suppressed.
    """

    known: Int32s
    shown: Int32s

    def fits(self, person: int) -> Bools:
        """Return which released nodes can be a person, by their attributes alone.

        >>> KnownRows(np.array([[1], [0]]), np.array([[1], [-1], [0]])).fits(0).tolist()
        [True, True, False]
        """
        own = self.known[person]
        agree = np.equal(self.shown, own) | (self.shown < 0) | (own < 0)
        return np.asarray(np.logical_and.reduce(agree, axis=1))

    def fit(self, people: Ints, nodes: Ints) -> Bools:
        """Return whether each of some pairs of a person and a released node can be the same.

        >>> rows = KnownRows(np.array([[1], [0]]), np.array([[1], [-1], [0]]))
        >>> rows.fit(np.array([0, 0]), np.array([0, 2])).tolist()
        [True, False]
        """
        own, shown = self.known[people], self.shown[nodes]
        return np.asarray(((own == shown) | (own < 0) | (shown < 0)).all(axis=1))

    def excluded(self) -> Bools:
        """Return which released nodes cannot be which people, bool, shape (people, nodes).

        >>> KnownRows(np.array([[1], [0]]), np.array([[1], [-1], [0]])).excluded().tolist()
        [[False, False, True], [True, False, False]]
        """
        known, person = np.unique(self.known, axis=0, return_inverse=True)
        shown, node = np.unique(self.shown, axis=0, return_inverse=True)
        of_rows = KnownRows(known, shown)
        apart = np.array([~of_rows.fits(row) for row in range(len(known))], dtype=np.bool_)
        return apart.reshape(len(known), len(shown))[np.ix_(person.ravel(), node.ravel())]


class CandidateSets(NamedTuple):
    """How many released nodes are near what is known of some targets.

    Every array is int64, shape (signatures, targets), in the order of `SIGNATURES`; of profiles
    there is one.

    `nearer`: nodes that are nearer than the target's own; `ties`: nodes that are as near as the
    target's own, which is one of them; `nearest`: nodes that are nearest, whether or not the
    target's own is one of them.
    """

    nearer: Ints
    ties: Ints
    nearest: Ints

    def only(self, signature: int) -> CandidateSets:
        """Return the arrays of one signature, each of shape (targets,)."""
        return CandidateSets(*(counts[signature] for counts in self))

    @property
    def right(self) -> Floats:
        """How likely a guess among the nearest is right."""
        return np.where(self.nearer == 0, 1 / self.ties, 0.0)


class Signature(Protocol):
    """What is known of everybody, in a form of its own."""

    def distances_to(self, known: Self, node: int) -> Ints:
        """Return how far everybody is from one node, int64, shape (signatures, n)."""


S = TypeVar("S", bound=Signature)


def candidates(
    known: S, released: S, position: Ints, targets: Ints, rows: KnownRows | None = None
) -> CandidateSets:
    """Return how many released nodes are near the known signatures of each target.

    Nodes that show an attribute other than what `rows` know of the target are not candidates.

    >>> path = Signatures.of(Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    >>> candidates(path, path, np.arange(4), np.array([0])).ties[:, 0].tolist()
    [2, 2, 2]
    """
    counts = []
    for target in in_time(targets.tolist()):
        distance = released.distances_to(known, target)
        if rows is not None:
            distance[:, ~rows.fits(target)] = np.iinfo(np.int64).max
        own = distance[:, position[target]][:, None]
        least = distance.min(axis=1, keepdims=True)
        near = distance < own, distance == own, distance == least
        counts.append([which.sum(axis=1) for which in near])
    return CandidateSets(*np.moveaxis(np.array(counts, dtype=np.int64), 0, -1))


CopyOf: TypeAlias = Literal["network", "ties"]
"""What a copy is of: all that is published of a network, or who is connected to whom alone."""

Relations: TypeAlias = "tuple[SortedLists, ...]"
"""Neighbor lists of everybody: of every kind of edges, out and in apart where they are directed."""


COPY = (
    "contents of the copy: everything published about a network (edge directions, edge types, "
    "node attributes), or only its edges"
)
"""What is said of the option of attacks by copies that chooses one."""


class SideInformation(NamedTuple):
    """Edges by kind and direction, and attributes, of a copy and of a release.

    `copy, released`: the neighbor lists of both, in one order; without directions and kinds those
    of the graphs; `turned`: for each of them, where the lists the other way round stand; its own
    place where edges have no direction; `rows`: what the copy knows of people and what the release
    shows of nodes, in the orders of both; None where no attribute is known.
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
        turned: list[int] = []
        for layer in copy:
            at = len(turned)
            turned += [at + 1, at] if layer.directed else [at]
        return cls(_relations(copy), _relations(released), tuple(turned), rows)

    def matrices(
        self, dtype: DTypeLike
    ) -> tuple[list[sparse.csr_array], list[sparse.csr_array], list[sparse.csr_array]]:
        """Return the matrices of the copy, of the release, and the latter the other way round."""
        first, second = (
            [matrix(lists, dtype) for lists in relations]
            for relations in (self.copy, self.released)
        )
        return first, second, [second[at] for at in self.turned]


def _relations(layers: Sequence[Layer]) -> Relations:
    lists = []
    for layer in layers:
        lists.append(SortedLists(layer.indptr, layer.indices))
        if layer.directed:
            source, target = layer.ties()
            lists.append(sorted_lists(target, source, layer.n_nodes))
    return tuple(lists)


def matrix(lists: SortedLists, dtype: DTypeLike) -> sparse.csr_array:
    """Return neighbor lists as a matrix of ones."""
    n = lists.indptr.size - 1
    ones = np.ones(lists.indices.size, dtype=dtype)
    return sparse.csr_array((ones, lists.indices.copy(), lists.indptr.copy()), shape=(n, n))


def degrees(relations: Relations) -> Ints:
    """Return how many neighbors everyone has in each of some lists, int64, shape (lists, n)."""
    return np.stack([np.diff(lists.indptr) for lists in relations])


def totals(relations: Relations) -> Ints:
    """Return how many neighbors everyone has in all lists, int64, shape (n,)."""
    return np.asarray(degrees(relations).sum(axis=0))


def published_attributes(pair: Comparison[Any]) -> KnownRows | None:
    """Return what is published of people, and what the original says of it; None for nothing."""
    people = pair.people if isinstance(pair, NetworkComparison) else None
    return None if people is None else KnownRows(people.before, people.after)


def layers_of(pair: GraphComparison) -> tuple[Sequence[Layer], Sequence[Layer]] | None:
    """Return the layers of original and release; None where they say no more than edges."""
    if not isinstance(pair, NetworkComparison):
        return None
    before, after = (network.layers for network in pair.networks)
    if [(one.name, one.directed) for one in before] != [(one.name, one.directed) for one in after]:
        return None
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
