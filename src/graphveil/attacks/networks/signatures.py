"""What can be known of one person in a network, and how many released nodes are near to it.

A *signature* is what an attacker knows of a person: the degree; degree and triangles; the degrees
of the person and of all neighbors (Hay et al., PVLDB 2008, section 3, as vertex refinement queries
H1 and H2); in directed networks or networks with several edge types a profile of numbers.
`candidates` counts how many released nodes are at least as near to it as the person's own.

Departure from Hay et al.: nearness instead of equality. A method that edits the network changes the
signature of many nodes; exact matching would miss them and flatter the method. Distances are sums
of absolute differences (L1).

A new kind of knowledge is a class with `distances_to`, see `Signature`; `candidate_set.py` then
counts and words it. Cost: targets times ends of edges for vrq, targets times nodes else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.evaluate.comparison import Bools, Comparison, Int32s, NetworkComparison
from graphveil.measures.values import triangles

SIGNATURES = ("degree", "degree and triangles", "vrq")
"""Names of the rows of `Signatures.distances_to`, from the least knowledge to the most."""


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
        """Return how far every node's signatures are from those known of one node.

        Returns int64, shape (3, n), in the order of `SIGNATURES`. Lists of neighbors' degrees are
        sorted, the shorter one padded with zeros, and compared entry by entry.
        """
        # Both larger signatures contain the degree: their distances are its own and more.
        degree = np.abs(self.degrees - known.degrees[node])
        both = degree + np.abs(self.triangles - known.triangles[node])
        known_list = known.around[known.indptr[node] : known.indptr[node + 1]]
        return np.stack([degree, both, degree + self._from_list(known_list)])

    def _from_list(self, known: Ints) -> Ints:
        """Return the distance of every node's list of neighbors' degrees to one such list."""
        # Entry by entry: the largest neighbor degree with the largest known one, and so on; what a
        # node has beyond the known list counts in full, as `padded` is 0 there.
        rank = np.arange(self.around.size) - np.repeat(self.indptr[:-1], self.degrees)
        padded = np.zeros(max(int(self.degrees.max(initial=0)), known.size), dtype=np.int64)
        padded[: known.size] = known
        summed = _sums_before(np.abs(self.around - padded[rank]))
        # What the known list has beyond a node's own list counts in full, too.
        beyond = known.sum() - _sums_before(padded)[self.degrees]
        return np.asarray(np.diff(summed[self.indptr]) + beyond)


class Profiles(NamedTuple):
    """Numbers that are known of everybody, such as the out-degree and the in-degree.

    `numbers`: int64 or int32, shape (n, d).
    """

    numbers: Ints | Int32s

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

    A pair of a person and a node fits if no attribute is known on both sides and differs: a
    suppressed cell fits everybody.

    Parameters
    ----------
    known : int32, shape (n, d)
        Codes in the order of the original; -1 where nothing is known.
    shown : int32, shape (n, d)
        In the order of the release, in the same codes; -1 where a cell is suppressed.
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
        # Distinct rows only: networks have many more pairs of nodes than pairs of different rows.
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
        """Return the arrays of one signature by its number, each of shape (targets,)."""
        return CandidateSets(*(counts[signature] for counts in self))

    @property
    def right(self) -> Floats:
        """How likely a guess among the nearest nodes is correct, float64, shape as the counts.

        If the person's own node is among the nearest, every one of them is picked equally often.
        """
        return np.where(self.nearer == 0, 1 / self.ties, 0.0)


class Signature(Protocol):
    """What is known of everybody, in a form of its own: what a new kind of knowledge implements."""

    def distances_to(self, known: Self, node: int) -> Ints:
        """Return how far everybody is from one node, int64, shape (signatures, n)."""


S = TypeVar("S", bound=Signature)


class Fits(Protocol):
    """What can only exclude nodes: attributes (`KnownRows`), or edits that were not allowed."""

    def fits(self, person: int) -> Bools:
        """Return which released nodes can be a person, bool, shape (n,)."""


def candidates(
    known: S, released: S, position: Ints, targets: Ints, fitting: Sequence[Fits] = ()
) -> CandidateSets:
    """Return how many released nodes are near the known signatures of each target.

    Nodes that do not fit a target, such as those that show other attributes, are not candidates.

    Parameters
    ----------
    known, released : Signature
        What is known of people, and the same of released nodes.
    position : int64, shape (n,)
        The released node of every person: read only to count.
    targets : int64, shape (targets,)
        The people to look for.
    fitting : sequence of Fits, optional
        What is known in addition, and can exclude nodes.

    Returns
    -------
    CandidateSets
        Counts of shape (signatures, targets).

    Examples
    --------
    >>> path = Signatures.of(Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    >>> candidates(path, path, np.arange(4), np.array([0])).ties[:, 0].tolist()
    [2, 2, 2]
    """
    counts = []
    for target in in_time(targets.tolist()):
        # How far every released node is from what is known of the target; what cannot be the target
        # is farthest.
        distance = released.distances_to(known, target)
        for some in fitting:
            distance[:, ~some.fits(target)] = np.iinfo(np.int64).max
        # The linkage enters here alone, to see how near the target's own node is.
        own = distance[:, position[target]][:, None]
        least = distance.min(axis=1, keepdims=True)
        near = distance < own, distance == own, distance == least
        counts.append([which.sum(axis=1) for which in near])
    return CandidateSets(*np.moveaxis(np.array(counts, dtype=np.int64), 0, -1))


def published_attributes(pair: Comparison[Any]) -> KnownRows | None:
    """Return what is published of people, and what the original says of it; None for nothing."""
    people = pair.people if isinstance(pair, NetworkComparison) else None
    return None if people is None else KnownRows(people.before, people.after)
