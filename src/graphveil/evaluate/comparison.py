"""An original next to its release, aligned as far as linkage and names allow.

A comparison also keeps what several metrics share, such as distances and triangles, so that each
is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import UsageError
from graphveil.core.libraries import csgraph, sparse, special
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.ids import Ids, as_text, distinct, positions
from graphveil.evaluate.distances import Distances, distances
from graphveil.evaluate.graph_structure import share_of_largest_component, triangles_at

__all__ = ["Bools", "Floats", "Int32s", "Ints", "csgraph", "sparse", "special"]

Bools: TypeAlias = NDArray[np.bool_]
Int32s: TypeAlias = NDArray[np.int32]


class Attached(NamedTuple):
    """A column that is published next to a release, joined by the released ids.

    Parameters
    ----------
    name
        What it is called.
    value
        Text, shape (n,): the value of everybody, in the order of the original.

    Examples
    --------
    >>> Attached("income", np.array(["high", "low"])).name
    'income'
    """

    name: str
    value: NDArray[Any]


class HeldBack(NamedTuple):
    """People whom no release was made from.

    `people`: their features; a table as its one-hot ones, with those of the label among them;
    `label`: the column to predict from the others; None where none is; `attached`: that column for
    the people of the original, where it is published next to the release.
    """

    people: Bipartite
    label: str | None = None
    attached: Attached | None = None


D = TypeVar("D", Graph, Bipartite, Table)


@dataclass(frozen=True, kw_only=True)
class Comparison(Generic[D]):
    """An original and its release, of one kind and as many people.

    `original, released`: two containers of one kind; `position`: int64, shape (n,): the released
    position of every original one, or None without linkage; `randomness`: for metrics that sample;
    each asks for a stream of its own; `held_back`: people whom the release was not made from, on
    whom tasks are tested; None where there are none.
    """

    original: D
    released: D
    position: Ints | None
    randomness: Randomness
    held_back: HeldBack | None = None

    @classmethod
    def of(
        cls, original: Any, released: Any, position: Ints | None, randomness: Randomness
    ) -> Self:
        """Return the comparison of an original and its release, which are of one kind.

        Parameters
        ----------
        original, released
            Two containers of the kind of this class.
        position
            int64, shape (n,): the released position of every original one; None without linkage.
        randomness
            For metrics that sample.

        Returns
        -------
        Comparison
            Of this class.

        Examples
        --------
        >>> ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
        >>> GraphComparison.of(ring, ring, np.arange(4), Randomness(seed=1)).edges_kept
        4
        """
        return cls(original=original, released=released, position=position, randomness=randomness)

    @property
    def linked(self) -> Ints:
        """The released position of every original one; metrics that need the linkage ask here."""
        if self.position is None:
            raise TypeError("requires the linkage")
        return self.position


class GraphComparison(Comparison[Graph]):
    """Two graphs.

    >>> path, star = Graph.from_edges([0, 1], [1, 2], n=3), Graph.from_edges([0, 0], [1, 2], n=3)
    >>> pair = GraphComparison(
    ...     original=path, released=star, position=np.r_[1, 0, 2], randomness=Randomness(seed=1)
    ... )
    >>> pair.edges_kept, pair.aligned == path
    (2, True)
    """

    @cached_property
    def aligned(self) -> Graph:
        """The release with every node at its original position; needs the linkage."""
        # From released positions back to original ones.
        back = np.empty_like(self.linked)
        back[self.linked] = np.arange(back.size)
        source, target = back[self.released.edges().T]
        return Graph.from_edges(source, target, n=back.size)

    @cached_property
    def distances(self) -> tuple[Distances, Distances]:
        """The distances in the original and in the release: one search for all metrics of them."""
        rng = self.randomness.stream("shortest paths")
        return distances(self.original, rng), distances(self.released, rng)

    @cached_property
    def triangles_at(self) -> tuple[Ints, Ints]:
        """How many triangles every node is in, on both sides: one count for all metrics."""
        return triangles_at(self.original), triangles_at(self.released)

    @property
    def triangles(self) -> tuple[int, int]:
        """How many triangles the original and the release have."""
        before, after = (int(at.sum()) // 3 for at in self.triangles_at)
        return before, after

    @cached_property
    def share_before(self) -> float | None:
        """The share of the original's nodes in its largest component; None without nodes."""
        return share_of_largest_component(self.original)

    @cached_property
    def edges_kept(self) -> int:
        """How many original edges stand in the release, too; needs the linkage."""
        # Edges as integers u n + v in order: an original edge is kept if bisection finds it.
        n = max(self.original.n_nodes, 1)
        before, after = (
            ends[:, 0].astype(np.int64) * n + ends[:, 1]
            for ends in (self.original.edges(), self.aligned.edges())
        )
        if after.size == 0:
            return 0
        nearest = np.minimum(np.searchsorted(after, before), after.size - 1)
        return int(np.count_nonzero(after[nearest] == before))


@dataclass(frozen=True, kw_only=True)
class NetworkComparison(GraphComparison):
    """Two networks: who is connected to whom as two graphs, with directions and attributes.

    >>> from graphveil.data import Layer
    >>> calls = Layer.from_arcs([0, 1, 2], [1, 0, 0], n=3)
    >>> network = Network((calls,))
    >>> pair = NetworkComparison.of(network, network, None, Randomness(seed=1))
    >>> pair.original.n_edges, pair.networks[0].n_ties, pair.people
    (2, 3, None)
    """

    networks: tuple[Network, Network]

    @classmethod
    def of(
        cls, original: Network, released: Network, position: Ints | None, randomness: Randomness
    ) -> Self:
        """Return the comparison of two networks of one kind of edges."""
        return cls(
            original=original.undirected(),
            released=released.undirected(),
            position=position,
            randomness=randomness,
            networks=(original, released),
        )

    @cached_property
    def people(self) -> TableComparison | None:
        """The attributes that the release shows, and these of the original; None for none."""
        before, after = self.networks
        known = before.with_attributes(after.attributes).people
        if known is None or after.people is None:
            return None
        return TableComparison.of(known, after.people, self.position, self.randomness)


class BipartiteComparison(Comparison[Bipartite]):
    """Two sets of users by features; features are matched by name, users by the linkage.

    >>> before = Bipartite.from_pairs(["ann", "bob"], ["tea", "rye"])
    >>> after = Bipartite.from_pairs([1, 0], ["tea", "tea"])
    >>> pair = BipartiteComparison(
    ...     original=before, released=after, position=np.r_[1, 0], randomness=Randomness(seed=1)
    ... )
    >>> pair.before.toarray().tolist(), pair.after.toarray().tolist()  # columns: rye, tea
    ([[0, 1], [1, 0]], [[0, 1], [0, 1]])
    >>> pair.kept.toarray().tolist()
    [[0, 1], [0, 0]]
    """

    @cached_property
    def _numbers(self) -> tuple[Int32s, Int32s, int]:
        # Features of both sides in one numbering, in the order of their names, and their number.
        named = [self._features_of_original(), self.released.feature_labels()]
        if named[0].dtype.kind != named[1].dtype.kind:
            named = [as_text(names) for names in named]
        every = distinct(np.concatenate(named))
        before, after = (positions(names, every, what="features") for names in named)
        return before, after, every.size

    @property
    def numbers_before(self) -> Int32s:
        """The column in `before` of every feature of the original, int32."""
        return self._numbers[0]

    @cached_property
    def _matrices(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        *numbers, width = self._numbers
        before, after = (
            _under(data, columns, width)
            for data, columns in zip((self.original, self.released), numbers, strict=True)
        )
        return before, after

    def _features_of_original(self) -> Ids:
        """Return the features' names; those of people are the ids that they have in the release."""
        if self.original.items == "people" and self.position is None:
            raise UsageError(
                "items are people, so comparing them requires the linkage in the private folder."
            )
        if self.original.items == "people":
            return self.released.labels()[self.linked]
        return self.original.feature_labels()

    @property
    def before(self) -> sparse.csr_array:
        """The original: int32 ones, users by the features of either, in the order of names."""
        return self._matrices[0]

    @property
    def after(self) -> sparse.csr_array:
        """The release, over the same features; rows in released order."""
        return self._matrices[1]

    @cached_property
    def kept(self) -> sparse.csr_array:
        """The original entries that stand in the release, in original order; needs the linkage."""
        kept = sparse.csr_array(self.before.multiply(self.after[self.linked]))
        kept.sort_indices()
        return kept

    @cached_property
    def popularity(self) -> tuple[Ints, Ints]:
        """How many users have each feature in the original, and in the release."""
        return column_sizes(self.before), column_sizes(self.after)

    @cached_property
    def popularity_kept(self) -> Ints:
        """How many users have each feature in both; needs the linkage."""
        return column_sizes(self.kept)


class Levels(Protocol):
    """The levels of the known columns of a table."""

    def losses(self, column: str) -> Mapping[str, float]:
        """Return what a cell loses that is published as a text, from 0 to 1."""

    def most_granular(self, k: int, rng: np.random.Generator) -> float:
        """Return a granularity that no table of true nodes in classes of k exceeds."""

    def nested(self, column: str) -> Nested:
        """Return the nodes of a column, and the leaf of every row."""


Nested = tuple[Int32s, tuple[tuple[str, ...], ...], Ints]
"""The node of every leaf at every level, the texts of the nodes of every level, and the leaf of
every row. Level 0 has the leaves, a missing value with the text ``*``; in the last all agree."""


class ClaimedTable(NamedTuple):
    """What a release of a table claims, and what it was generalized by.

    `known`: the columns that the guarantee is about; None for all; `k`: the smallest class that is
    guaranteed; None if none is; `generalized`: whether it publishes more general values, such as
    30-39, which no original has; `levels`: reads the levels of the known columns again; None if
    nobody can; `population`: how many people the table is a random sample of; None if nobody said.
    """

    known: tuple[str, ...] | None = None
    k: int | None = None
    generalized: bool = False
    levels: Callable[[], Levels] | None = None
    population: int | None = None


NOTHING_CLAIMED = ClaimedTable()


@dataclass(frozen=True, eq=False, kw_only=True)
class TableComparison(Comparison[Table]):
    """Two tables; columns are matched by name, values by their text, rows by the linkage.

    A column of the original that was not released is omitted.

    >>> before = Table.from_columns({"asked": ["2", "3"], "sex": ["f", "m"]})
    >>> after = Table.from_columns({"sex": ["m", "*"]})
    >>> pair = TableComparison(
    ...     original=before, released=after, position=np.r_[1, 0], randomness=Randomness(seed=1)
    ... )
    >>> pair.before.tolist(), pair.after.tolist()
    ([[0], [1]], [[1], [-1]])
    """

    claimed: ClaimedTable = NOTHING_CLAIMED

    @property
    def known(self) -> list[int]:
        """The positions of the known columns among those of the release."""
        known = self.claimed.known
        names = self.released.columns
        return [at for at, name in enumerate(names) if known is None or name in known]

    @cached_property
    def before(self) -> Int32s:
        """The codes of the released columns in the original, -1 where a cell is suppressed."""
        return self.original.codes[:, self.released_columns]

    @cached_property
    def after(self) -> Int32s:
        """The codes of the release, a value that the original has under its code there."""
        codes = np.full_like(self.released.codes, -1)
        # Values of both sides in one numbering; those that the original lacks come after its own.
        for column, place in enumerate(self.released_columns):
            own = as_text(self.released.categories[column]).tolist()
            known = as_text(self.original.categories[place]).tolist()
            numbers = {value: number for number, value in enumerate(known)}
            new = [numbers.setdefault(value, len(numbers)) for value in own]
            shown = self.released.codes[:, column]
            codes[:, column] = np.array([*new, -1], dtype=np.int32)[shown]
        return codes

    def one_hot(self) -> BipartiteComparison:
        """Return the same two as users by features: one per column and value, none if suppressed.

        >>> pair = TableComparison(
        ...     original=Table.from_columns({"sex": ["f", "m"]}),
        ...     released=Table.from_columns({"sex": ["*", "m"]}),
        ...     position=None,
        ...     randomness=Randomness(seed=1),
        ... )
        >>> pair.one_hot().before.toarray().tolist(), pair.one_hot().after.toarray().tolist()
        ([[1, 0], [0, 1]], [[0, 0], [0, 1]])

        Returns
        -------
        BipartiteComparison
            With the same linkage and held-back people.
        """
        both = self.original.one_hot(), self.released.one_hot()
        pair = BipartiteComparison.of(*both, self.position, self.randomness)
        return replace(pair, held_back=self.held_back)

    @property
    def released_columns(self) -> list[int]:
        """The positions in the original of the columns of the release."""
        names = self.original.columns
        for name in self.released.columns:
            if name not in names:
                raise UsageError(
                    f"the original has no column {name!r}, but the release does. Give the file "
                    "that the release was made from, read in the same way."
                )
        return [names.index(name) for name in self.released.columns]


COMPARISONS: Mapping[type[Data], type[Comparison[Any]]] = {
    Graph: GraphComparison,
    Network: NetworkComparison,
    Bipartite: BipartiteComparison,
    Table: TableComparison,
}
"""How each container is compared with a release of it."""


def column_sizes(matrix: sparse.csr_array) -> Ints:
    """Return how many rows have each feature, int64, shape (features,)."""
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


def _under(data: Bipartite, columns: Int32s, n_columns: int) -> sparse.csr_array:
    ones = np.ones(data.n_entries, dtype=np.int32)
    shape = (data.n_users, n_columns)
    matrix = sparse.csr_array((ones, columns[data.indices], data.indptr.copy()), shape=shape)
    matrix.sort_indices()
    return matrix
