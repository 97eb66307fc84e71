"""What can be known of one person in a network, and how many released nodes are as near to it."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.measures.scalars import triangles

SIGNATURES = ("degree", "degree and triangles", "vrq")
"""The names of the signatures, from the least knowledge to the most."""


class Signatures(NamedTuple):
    """The signatures of all nodes of a graph.

    Parameters
    ----------
    degrees, triangles
        int64, shape (n,).
    indptr
        int64, shape (n + 1,): where the list of every node begins in `around`.
    around
        int64, shape (2 m,): the degrees of every node's neighbors, largest first.
    """

    degrees: NDArray[np.int64]
    triangles: NDArray[np.int64]
    indptr: NDArray[np.int64]
    around: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph) -> Signatures:
        """Return the signatures of a graph.

        Examples
        --------
        >>> Signatures.of(Graph.from_edges([0, 1, 1], [1, 2, 3], n=4)).around.tolist()
        [3, 1, 1, 1, 3, 3]
        """
        degrees = graph.degrees()
        values = degrees[graph.indices]
        node = np.repeat(np.arange(graph.n_nodes), degrees)
        around = values[np.lexsort((-values, node))]
        return cls(degrees, triangles(graph), graph.indptr, around)

    def distances_to(self, known: Signatures, node: int) -> NDArray[np.int64]:
        """Return how far every node's signatures are from those that are known of one node.

        Parameters
        ----------
        known
            The signatures of the graph that the adversary knows.
        node
            The node of that graph.

        Returns
        -------
        int64, shape (3, n): sums of absolute differences, in the order of `SIGNATURES`. Lists of
        neighbors' degrees are compared largest with largest, the shorter one with zeros behind,
        and the difference of the two degrees is added.
        """
        degree = np.abs(self.degrees - known.degrees[node])
        both = degree + np.abs(self.triangles - known.triangles[node])
        known_list = known.around[known.indptr[node] : known.indptr[node + 1]]
        return np.stack([degree, both, degree + self._from_list(known_list)])

    def _from_list(self, known: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the distance of every node's list of neighbors' degrees to one such list."""
        rank = np.arange(self.around.size) - np.repeat(self.indptr[:-1], self.degrees)
        padded = np.zeros(max(int(self.degrees.max(initial=0)), known.size), dtype=np.int64)
        padded[: known.size] = known
        summed = _sums_before(np.abs(self.around - padded[rank]))
        beyond = known.sum() - _sums_before(padded)[self.degrees]
        distance: NDArray[np.int64] = np.diff(summed[self.indptr]) + beyond
        return distance


class Profiles(NamedTuple):
    """Numbers that are known of everyone, as of directed ties out and in.

    Parameters
    ----------
    numbers
        int64, shape (n, c).
    """

    numbers: NDArray[np.int64]

    def distances_to(self, known: Profiles, node: int) -> NDArray[np.int64]:
        """Return how far every profile is from one that is known, int64, shape (1, n).

        Examples
        --------
        >>> profiles = Profiles(np.array([[0, 2], [1, 1]]))
        >>> profiles.distances_to(profiles, 0).tolist()
        [[0, 2]]
        """
        distance: NDArray[np.int64] = np.abs(self.numbers - known.numbers[node]).sum(axis=1)
        return distance[None, :]


def _sums_before(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of all values before each position, and the sum of all."""
    return np.concatenate([[0], np.cumsum(values)])


class KnownRows(NamedTuple):
    """Attributes that are known of people, and those that a release shows.

    Attributes
    ----------
    known
        int32, shape (n, d): in the order of the original; -1 where nothing is known.
    shown
        int32, shape (n, d): in the order of the release, in the same codes; -1 where a cell is
        suppressed.
    """

    known: NDArray[np.int32]
    shown: NDArray[np.int32]

    def fits(self, person: int) -> NDArray[np.bool_]:
        """Return which released nodes can be a person, by their attributes alone.

        Examples
        --------
        >>> KnownRows(np.array([[1], [0]]), np.array([[1], [-1], [0]])).fits(0).tolist()
        [True, True, False]
        """
        own = self.known[person]
        agree = np.equal(self.shown, own) | (self.shown < 0) | (own < 0)
        fitting: NDArray[np.bool_] = np.logical_and.reduce(agree, axis=1)
        return fitting

    def fit(self, people: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each of some pairs of a person and a released node can be the same.

        Examples
        --------
        >>> rows = KnownRows(np.array([[1], [0]]), np.array([[1], [-1], [0]]))
        >>> rows.fit(np.array([0, 0]), np.array([0, 2])).tolist()
        [True, False]
        """
        own, shown = self.known[people], self.shown[nodes]
        fitting: NDArray[np.bool_] = ((own == shown) | (own < 0) | (shown < 0)).all(axis=1)
        return fitting

    def excluded(self) -> NDArray[np.bool_]:
        """Return which released nodes cannot be which people, bool, shape (people, nodes).

        Examples
        --------
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

    Parameters
    ----------
    nearer
        Nodes that are nearer than the target's own.
    ties
        Nodes that are as near as the target's own, which is one of them.
    nearest
        Nodes that are nearest, whether or not the target's own is one of them.
    """

    nearer: NDArray[np.int64]
    ties: NDArray[np.int64]
    nearest: NDArray[np.int64]

    def only(self, signature: int) -> CandidateSets:
        """Return the arrays of one signature, each of shape (targets,)."""
        return CandidateSets(*(counts[signature] for counts in self))

    @property
    def right(self) -> NDArray[np.float64]:
        """How likely a guess among the nearest is right."""
        return np.where(self.nearer == 0, 1 / self.ties, 0.0)


class Signature(Protocol):
    """What is known of everybody, in a form of its own."""

    def distances_to(self, known: Self, node: int) -> NDArray[np.int64]:
        """Return how far everybody is from one node, int64, shape (signatures, n)."""


S = TypeVar("S", bound=Signature)


def candidates(
    known: S,
    released: S,
    position: NDArray[np.int64],
    targets: NDArray[np.int64],
    rows: KnownRows | None = None,
) -> CandidateSets:
    """Return how many released nodes are near the known signatures of each target.

    Parameters
    ----------
    known, released
        Of the graph that the adversary knows something of, and of the release.
    position
        int64, shape (n,): the released node of every known one.
    targets
        int64: the nodes whose signatures are known.
    rows
        What is known of their attributes: nodes that show another value are no candidates. None
        where nothing is.

    Examples
    --------
    >>> path = Signatures.of(Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    >>> candidates(path, path, np.arange(4), np.array([0])).ties[:, 0].tolist()
    [2, 2, 2]
    """
    counts = []
    for target in targets.tolist():
        distance = released.distances_to(known, target)
        if rows is not None:
            distance[:, ~rows.fits(target)] = np.iinfo(np.int64).max
        own = distance[:, position[target]][:, None]
        least = distance.min(axis=1, keepdims=True)
        near = distance < own, distance == own, distance == least
        counts.append([which.sum(axis=1) for which in near])
    return CandidateSets(*np.moveaxis(np.array(counts, dtype=np.int64), 0, -1))
