"""An original next to its release, aligned as far as linkage and names allow.

Also what metrics share: distances, triangles and components, counted once for all of them, and
short names for the types of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import UsageError
from graphveil.core.lazy import lazy_module
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.data.ids import Ids, as_text, distinct, positions

if TYPE_CHECKING:
    from scipy import sparse, special
    from scipy.sparse import csgraph
else:
    sparse, special = lazy_module("scipy.sparse"), lazy_module("scipy.special")
    csgraph = lazy_module("scipy.sparse.csgraph")

__all__ = ["Bools", "Floats", "Int32s", "Ints", "csgraph", "sparse", "special"]

Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Int32s: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]


def share_of_largest_component(graph: Graph) -> float | None:
    """Return the share of nodes in the largest connected component; None without nodes.

    >>> share_of_largest_component(Graph.from_edges([0, 1], [1, 2], n=4))
    0.75
    """
    if graph.n_nodes == 0:
        return None
    # every tie stands in both directions, so that strong is connected, and costs half as much
    _, component = csgraph.connected_components(graph.to_scipy(), connection="strong")
    return float(np.bincount(component).max() / graph.n_nodes)


EXACT_UP_TO_NODES, SAMPLED_SOURCES = 20_000, 1_024
"""Up to so many nodes all distances are counted; above, those from so many sources."""

STEPS = 20_000_000
"""The most pairs of edges that are followed at once, unless one node has more."""


def triangles_at(graph: Graph) -> Ints:
    """Return how many triangles every node is in.

    Every edge points from the node of less degree to the other, so that a triangle has one lowest,
    one middle and one highest node. Pairs of edges are followed from the lowest node, and again
    from the middle one.
    """
    rank = np.empty(graph.n_nodes, dtype=np.int64)
    rank[np.argsort(graph.degrees(), kind="stable")] = np.arange(graph.n_nodes)
    ends = np.sort(rank[graph.edges()], axis=1)
    shape = (graph.n_nodes, graph.n_nodes)
    upward = sparse.csr_array((np.ones(len(ends), dtype=np.int64), tuple(ends.T)), shape=shape)
    found = np.zeros(graph.n_nodes, dtype=np.int64)
    for first in (upward, sparse.csr_array(upward.T)):
        for start, end in _blocks(first, np.diff(upward.indptr)):
            closed = (first[start:end] @ upward).multiply(upward[start:end])
            found[start:end] += closed.sum(axis=1)
            if first is upward:
                found += closed.sum(axis=0)
    return found[rank]


def wedges_of(graph: Graph) -> int:
    """Return the number of pairs of edges that share a node."""
    degrees = graph.degrees()
    return int((degrees * (degrees - 1)).sum()) // 2


def _blocks(matrix: sparse.csr_array, sizes: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows, each of about so many steps: as many for an entry as its size."""
    of_entries = np.concatenate([[0], np.cumsum(sizes[matrix.indices], dtype=np.int64)])
    steps = of_entries[matrix.indptr]
    start = 0
    while start < sizes.size:
        end = int(np.searchsorted(steps, steps[start] + STEPS, side="right")) - 1
        end = max(end, start + 1)
        yield start, end
        start = end


TOGETHER = 64
"""Sources of one search: one bit of a word each."""

DEEP = 500
"""Where searches go deeper than this, levels hold few nodes, and single searches are quicker."""

FEW = 4
"""Where fewer than one of so many arcs starts at the last level, these alone are followed."""


class Distances(NamedTuple):
    """How many pairs of a source and another node are how far apart.

    `counts`: int64, shape (groups of sources, largest distance + 1): pairs by distance; none at 0;
    `sources`: how many sources were drawn; None where every node is one.
    """

    counts: Ints
    sources: int | None = None

    @property
    def pairs(self) -> Ints:
        """Pairs by distance, over all sources."""
        return np.asarray(self.counts.sum(axis=0))


def distances(
    graph: Graph,
    rng: np.random.Generator,
    *,
    exact_up_to: int = EXACT_UP_TO_NODES,
    n_sources: int = SAMPLED_SOURCES,
) -> Distances:
    """Return the distances of all pairs of nodes that a path joins, or those of sampled sources."""
    n = graph.n_nodes
    if n <= exact_up_to:
        return Distances(searched(graph, np.arange(n)))
    return Distances(searched(graph, rng.choice(n, n_sources, replace=False)), n_sources)


def searched(graph: Graph, sources: Ints) -> Ints:
    """Return pairs by distance from these distinct sources, a row for each group of 64."""
    groups: list[list[int]] = []
    matrix: sparse.csr_array | None = None
    for start in range(0, sources.size, TOGETHER):
        group = sources[start : start + TOGETHER]
        at_once = _at_once(graph, group) if matrix is None else None
        if at_once is None:
            matrix = graph.to_scipy().astype(np.float64) if matrix is None else matrix
            at_once = _one_by_one(matrix, group)
        groups.append(at_once)
    counts = np.zeros((len(groups), max(map(len, groups), default=1)), dtype=np.int64)
    for row, found in zip(counts, groups, strict=True):
        row[: len(found)] = found
    return counts


def _at_once(graph: Graph, sources: Ints) -> list[int] | None:
    """Return pairs by distance from at most 64 sources, or None where searches go deep."""
    joined = np.flatnonzero(graph.degrees())
    if joined.size == 0:
        return [0]
    seen = np.zeros(graph.n_nodes, dtype=np.uint64)
    seen[sources] = np.left_shift(np.uint64(1), np.arange(sources.size, dtype=np.uint64))
    front = seen.copy()
    counts = [0]
    for depth in count(1):
        following = _next_to(front, graph, joined) & ~seen
        new = int(np.bitwise_count(following).sum())
        if new == 0:
            break
        if depth > DEEP:
            return None
        counts.append(new)
        seen |= following
        front = following
    return counts


def _next_to(front: NDArray[np.uint64], graph: Graph, joined: Ints) -> NDArray[np.uint64]:
    """Return for every node from which sources a neighbor was just reached, a bit each."""
    following = np.zeros_like(front)
    active = np.flatnonzero(front)
    sizes = graph.degrees()[active]
    if FEW * int(sizes.sum()) > graph.indices.size:
        following[joined] = np.bitwise_or.reduceat(front[graph.indices], graph.indptr[joined])
        return following
    ends = np.cumsum(sizes)
    arcs = np.arange(sizes.sum()) + np.repeat(graph.indptr[active] - ends + sizes, sizes)
    np.bitwise_or.at(following, graph.indices[arcs], np.repeat(front[active], sizes))
    return following


def _one_by_one(matrix: sparse.csr_array, sources: Ints) -> list[int]:
    counts = np.zeros(1, dtype=np.int64)
    for source in sources.tolist():
        more = np.diff(searched_from(matrix, source).starts)
        more[0] = 0  # the source itself
        shorter, longer = sorted((counts, more), key=len)
        longer[: shorter.size] += shorter
        counts = longer
    return [int(pairs) for pairs in counts]


class Search(NamedTuple):
    """What a breadth-first search reaches.

    `order`: the nodes, nearest first; `starts`: those at distance d are ``order[starts[d]:starts[d
    + 1]]``.
    """

    order: Int32s
    starts: list[int]


def searched_from(matrix: sparse.csr_array, source: int) -> Search:
    """Return the nodes that a path joins to a source, by their distance.

    >>> path = Graph.from_edges([0, 1], [1, 2], n=4).to_scipy().astype(np.float64)
    >>> search = searched_from(path, 1)
    >>> search.order.tolist(), search.starts
    ([1, 0, 2], [0, 1, 3])
    """
    order, reached_from = csgraph.breadth_first_order(matrix, source)
    place = np.empty(matrix.shape[0], dtype=np.int64)
    place[order] = np.arange(order.size)
    found = np.bincount(place[reached_from[order[1:]]], minlength=order.size)
    behind = (1 + np.cumsum(found) - found).tolist()  # where the nodes found from each one start
    starts = [0, 1]
    while starts[-1] < order.size:
        starts.append(behind[starts[-1]])
    return Search(order, starts)


class Attached(NamedTuple):
    """A column that is published next to a release, joined by the released ids.

    Parameters
    ----------
    name
        What it is called.
    value
        Text, shape (n,): the value of everybody, in the order of the original.
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
        """Return the comparison of an original and its release, which are of one kind."""
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
    def _matrices(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        named = [self._features_of_original(), self.released.feature_labels()]
        if named[0].dtype.kind != named[1].dtype.kind:
            named = [as_text(names) for names in named]
        every = distinct(np.concatenate(named))
        before, after = (
            _under(data, positions(names, every, what="features"), every.size)
            for data, names in zip((self.original, self.released), named, strict=True)
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
        return self.original.codes[:, self._places]

    @cached_property
    def after(self) -> Int32s:
        """The codes of the release, a value that the original has under its code there."""
        codes = np.full_like(self.released.codes, -1)
        for column, place in enumerate(self._places):
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
        """
        both = self.original.one_hot(), self.released.one_hot()
        pair = BipartiteComparison.of(*both, self.position, self.randomness)
        return replace(pair, held_back=self.held_back)

    @property
    def _places(self) -> list[int]:
        names = self.original.columns
        for name in self.released.columns:
            if name not in names:
                raise UsageError(
                    f"the original has no column {name!r}, but the release does. Give the file "
                    "that the release was made from, read in the same way."
                )
        return [names.index(name) for name in self.released.columns]


def column_sizes(matrix: sparse.csr_array) -> Ints:
    """Return how many rows have each feature, int64, shape (features,)."""
    return np.bincount(matrix.indices, minlength=matrix.shape[1])


def _under(data: Bipartite, columns: Int32s, n_columns: int) -> sparse.csr_array:
    ones = np.ones(data.n_entries, dtype=np.int32)
    shape = (data.n_users, n_columns)
    matrix = sparse.csr_array((ones, columns[data.indices], data.indptr.copy()), shape=shape)
    matrix.sort_indices()
    return matrix
