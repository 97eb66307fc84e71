"""Edges of one kind between the people of a network: directed or not.

Edges as objects and frames list them, each with its kind, and their ends; they become layers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphveil.core.errors import DataError
from graphveil.core.hints import did_you_mean, option
from graphveil.core.text import counted
from graphveil.data.columns import Ties
from graphveil.data.csr import (
    Dropped,
    SortedLists,
    check_lists,
    lists_among,
    neighbor_lists,
    permuted_lists,
    sorted_lists,
)
from graphveil.data.ids import Ids, as_text, distinct, frozen

if TYPE_CHECKING:
    import pyarrow as pa

TIES = "ties"
"""The name of the only layer, where nobody named it."""


class Lists(Protocol):
    """Sorted neighbor lists, as a graph has them."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Where the list of each node begins."""

    @property
    def indices(self) -> NDArray[np.int32]:
        """The lists."""


class Arcs(NamedTuple):
    """Both ends of every arc, as positions.

    `source, target`: int32, one entry an arc, ascending by source, then target.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class Layer:
    """Edges of one kind; every list is sorted, without self-loops and repeated edges.

    Parameters
    ----------
    name
        What the edges are called.
    directed
        Whether an edge leads from one person to another.
    indptr, indices
        int64, shape (n + 1,), and int32: those to whom person v is connected are
        ``indices[indptr[v]:indptr[v + 1]]``. Without directions every edge stands in both lists.

    Raises
    ------
    DataError
        Where the arrays are no such lists, or the name is empty.

    Examples
    --------
    >>> calls = Layer.from_arcs([0, 0, 1], [1, 2, 0], n=3, name="calls")
    >>> calls.n_ties, [numbers.tolist() for numbers in calls.degrees()]
    (3, [[2, 1, 0], [1, 1, 1]])
    """

    name: str = TIES
    directed: bool
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def __post_init__(self) -> None:
        """Validate once; everything after trusts."""
        indptr = np.ascontiguousarray(self.indptr, dtype=np.int64)
        indices = np.ascontiguousarray(self.indices, dtype=np.int32)
        _check_name(self.name)
        if self.directed:
            _check_arcs(SortedLists(indptr, indices))
        else:
            check_lists(SortedLists(indptr, indices))
        object.__setattr__(self, "indptr", frozen(indptr))
        object.__setattr__(self, "indices", frozen(indices))

    @classmethod
    def of(cls, graph: Lists, *, name: str = TIES) -> Layer:
        """Return the edges of a graph as a layer.

        Parameters
        ----------
        graph
            Anything with the sorted neighbor lists of a graph; they are not checked again.
        name
            What the edges are called.

        Returns
        -------
        Layer
            Not directed, over the same arrays.

        Raises
        ------
        DataError
            If the name is empty.

        Examples
        --------
        >>> from graphveil import Graph
        >>> Layer.of(Graph.from_edges([0], [1], n=2), name="calls").n_ties
        1
        """
        _check_name(name)
        return cls._trusted(name=name, directed=False, indptr=graph.indptr, indices=graph.indices)

    @classmethod
    def from_arcs(cls, source: ArrayLike, target: ArrayLike, *, n: int, name: str = TIES) -> Layer:
        """Return the directed edges from positions to positions; loops and repeats are dropped.

        Parameters
        ----------
        source, target
            Positions 0..n-1.
        n
            The number of people.
        name
            What the edges are called.

        Returns
        -------
        Layer
            Directed.

        Raises
        ------
        DataError
            If the lengths differ, a position is outside 0..n-1, or the name is empty.

        Examples
        --------
        >>> Layer.from_arcs([0, 0, 1], [1, 1, 1], n=2).n_ties
        1
        """
        return cls.assemble(source, target, n=n, name=name)[0]

    @classmethod
    def assemble(
        cls, source: ArrayLike, target: ArrayLike, *, n: int, name: str = TIES
    ) -> tuple[Layer, Dropped]:
        """Return the layer of these arcs and the count of what was dropped.

        Parameters
        ----------
        source, target, n, name
            As of `from_arcs`.

        Returns
        -------
        tuple[Layer, Dropped]
            The directed layer; and the numbers of self-loops and of repeated arcs.

        Raises
        ------
        DataError
            As `from_arcs`.

        Examples
        --------
        >>> Layer.assemble([0, 0, 1], [1, 1, 1], n=2)[1]
        Dropped(self_loops=1, duplicates=1, reciprocal_pairs=0)
        """
        u, v = _ends(source, target, n)
        other = u != v
        lists = sorted_lists(u[other], v[other], n)
        loops = int(u.size - np.count_nonzero(other))
        dropped = Dropped(loops, int(np.count_nonzero(other) - lists.indices.size), 0)
        return cls(name=name, directed=True, indptr=lists.indptr, indices=lists.indices), dropped

    @classmethod
    def undirected(
        cls, source: ArrayLike, target: ArrayLike, *, n: int, name: str = TIES
    ) -> tuple[Layer, Dropped]:
        """Return the layer of edges without directions, and the count of what was dropped.

        Parameters
        ----------
        source, target
            Positions 0..n-1.
        n
            The number of nodes.
        name
            What the edges are called.

        Returns
        -------
        tuple[Layer, Dropped]
            The layer, and the numbers of self-loops, of repeated edges, and of edges that are there
            in both directions.

        Raises
        ------
        DataError
            As `from_arcs`.

        Examples
        --------
        >>> Layer.undirected([0, 1], [1, 0], n=2)[1]
        Dropped(self_loops=0, duplicates=0, reciprocal_pairs=1)
        """
        _check_name(name)
        ends = [end.astype(np.int32, copy=False) for end in _ends(source, target, n)]
        lists, dropped = neighbor_lists(ends, n)
        indptr, indices = frozen(lists.indptr), frozen(lists.indices)
        return cls._trusted(name=name, directed=False, indptr=indptr, indices=indices), dropped

    @property
    def n_nodes(self) -> int:
        """The number of people, those without edges included."""
        return int(self.indptr.size - 1)

    @property
    def n_ties(self) -> int:
        """The number of edges: of arcs where they are directed, else of edges."""
        return int(self.indices.size if self.directed else self.indices.size // 2)

    def refuse_directions(self) -> None:
        """Refuse edges with directions.

        Returns
        -------
        None
            Nothing: the layer has no directions, or an error is raised.

        Raises
        ------
        DataError
            Where they have some.

        Examples
        --------
        >>> Layer.undirected([0], [1], n=2)[0].refuse_directions()
        """
        if self.directed:
            raise DataError(
                f"the edges {self.name!r} are directed, but a Graph is undirected. Read them "
                "with directed='symmetrize' to drop the directions."
            )

    def degrees(self) -> tuple[NDArray[np.int64], ...]:
        """Return the number of edges of every node: out-degree and in-degree if edges are directed.

        Returns
        -------
        tuple[NDArray[np.int64], ...]
            One array of shape (n,), or two.

        Examples
        --------
        >>> [degrees.tolist() for degrees in Layer.from_arcs([0, 0], [1, 2], n=3).degrees()]
        [[2, 0, 0], [0, 1, 1]]
        """
        out = np.diff(self.indptr)
        if not self.directed:
            return (out,)
        return out, np.bincount(self.indices, minlength=self.n_nodes).astype(np.int64)

    def ties(self) -> Arcs:
        """Return every edge once; one without direction has its smaller end first.

        Returns
        -------
        Arcs
            `source` and `target`: int32, shape (edges,), ascending by source, then target.

        Examples
        --------
        >>> [ends.tolist() for ends in Layer.undirected([2, 1], [0, 0], n=3)[0].ties()]
        [[0, 0], [1, 2]]
        """
        source = np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.indptr))
        if self.directed:
            return Arcs(source, self.indices)
        once = source < self.indices
        return Arcs(source[once], self.indices[once])

    def n_mutual(self) -> int:
        """Return how many arcs have an arc in the opposite direction; 0 if edges are undirected.

        Returns
        -------
        int
            A reciprocated pair counts twice.

        Examples
        --------
        >>> Layer.from_arcs([0, 1, 1], [1, 0, 2], n=3).n_mutual()
        2
        """
        if not self.directed:
            return 0
        source, target = (end.astype(np.int64) for end in self.ties())
        keys = source * self.n_nodes + target
        back = target * self.n_nodes + source
        return int(np.isin(back, keys, assume_unique=True).sum())

    def permuted(self, order: NDArray[np.int64]) -> Layer:
        """Return the same edges with person ``order[j]`` at position j.

        Parameters
        ----------
        order
            int64, shape (n,): a permutation of the positions.

        Returns
        -------
        Layer
            Of the same name.

        Examples
        --------
        >>> Layer.from_arcs([0], [1], n=2).permuted(np.array([1, 0])).ties().source.tolist()
        [1]
        """
        return self._with(*permuted_lists(self, order))

    def part(self, people: NDArray[np.int64]) -> Layer:
        """Return the edges among some people.

        Parameters
        ----------
        people
            int64: the positions of the nodes to keep, ascending.

        Returns
        -------
        Layer
            Of the same name.

        Examples
        --------
        >>> Layer.from_arcs([0, 1], [1, 2], n=3).part(np.array([1, 2])).n_ties
        1
        """
        return self._with(*lists_among(self, people))

    def _with(self, indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> Layer:
        """Return the layer with other lists, which are sorted and follow from valid ones."""
        return self._trusted(
            name=self.name, directed=self.directed, indptr=frozen(indptr), indices=frozen(indices)
        )

    @classmethod
    def _trusted(cls, **values: object) -> Layer:
        """Return a layer of these fields, which are as the constructor would leave them."""
        layer = object.__new__(cls)
        for field, value in values.items():
            object.__setattr__(layer, field, value)
        return layer

    def __eq__(self, other: object) -> bool:
        """Whether both have the same name, directions and edges."""
        if not isinstance(other, Layer):
            return NotImplemented
        return (
            (self.name, self.directed) == (other.name, other.directed)
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no cheap hash

    def __repr__(self) -> str:
        """Return the name and the size."""
        ties = "arcs" if self.directed else "edges"
        return (
            f"Layer({self.name!r}, {counted(self.n_nodes, 'node', spec=',')}, {self.n_ties:,} "
            f"{ties})"
        )


def _ends(source: ArrayLike, target: ArrayLike, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both ends of arcs as whole numbers below n."""
    u, v = (_positions(end) for end in (source, target))
    if u.shape != v.shape:
        raise DataError(f"{u.size} sources but {v.size} targets. Give one target per source.")
    if u.size and (min(u.min(), v.min()) < 0 or max(u.max(), v.max()) >= n):
        raise DataError(f"a position is outside 0..{n - 1}. Give n > {max(u.max(), v.max())}.")
    return u, v


def _positions(given: ArrayLike) -> NDArray[np.integer]:
    """Return ends of arcs as whole numbers."""
    ends = np.asarray(given)
    if ends.size and ends.dtype.kind not in "iu":
        raise DataError(
            f"ends of arcs must be positions 0..n-1, not {ends.dtype}. Number the nodes."
        )
    return ends if ends.size else np.zeros(ends.shape, dtype=np.int64)


def _check_name(name: str) -> None:
    if not name or name.strip() != name or not name.isprintable():
        raise DataError(f"{name!r} is not a valid name of an edge type. Give a word.")


def _check_arcs(lists: SortedLists) -> None:
    """Refuse lists that are not a simple directed graph."""
    indptr, indices = lists
    n = indptr.size - 1
    if n < 0 or indptr[0] != 0 or indptr[-1] != indices.size or np.any(np.diff(indptr) < 0):
        raise DataError("indptr must rise from 0 to the number of indices. Build with from_arcs.")
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise DataError(f"an end of an arc is outside 0..{n - 1}. Build with from_arcs.")
    row = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    if np.any(row == indices):
        node = int(row[row == indices][0])
        raise DataError(f"node {node} has an edge to itself. Drop self-loops: use from_arcs.")
    unsorted = (indices[1:] <= indices[:-1]) & (row[1:] == row[:-1])
    if unsorted.any():
        node = int(row[1:][unsorted][0])
        raise DataError(f"the list of node {node} is not sorted and distinct. Use from_arcs.")


class ListedTies:
    """Edges between positions, the kind of each, and whether they are directed."""

    def __init__(
        self,
        ends: Sequence[tuple[int, int]],
        kinds: Sequence[str],
        directed: bool,  # noqa: FBT001
        undirected: Collection[str],
    ) -> None:
        self._ends = np.array(ends, dtype=np.int64).reshape(-1, 2)
        self._kinds = np.array(kinds, dtype=object)
        self._directed = directed
        self._undirected = undirected
        every = sorted(set(kinds))
        for name in undirected:
            if name not in every:
                raise DataError(
                    f"no edges of type {name!r}. {did_you_mean(name, every)}Types: "
                    f"{', '.join(every) or 'none'}."
                )

    def layers(self, position: NDArray[Any], n: int) -> tuple[tuple[Layer, ...], Dropped]:
        """Return a layer a kind, in the order of names, and what was dropped."""
        layers, loops, twice = [], 0, 0
        for name in sorted(set(self._kinds.tolist())) or [TIES]:
            source, target = position[self._ends[self._kinds == name]].T
            if self._directed and name not in self._undirected:
                layer, dropped = Layer.assemble(source, target, n=n, name=name)
            else:
                layer, dropped = Layer.undirected(source, target, n=n, name=name)
            layers.append(layer)
            loops, twice = loops + dropped.self_loops, twice + dropped.duplicates
        return tuple(layers), Dropped(loops, twice, 0)


def with_keys(graph: Any) -> Iterator[tuple[Any, Any, Any, dict[Any, Any]]]:
    """Yield both ends, the key and the attributes of every edge of a multigraph."""
    yield from graph.edges(keys=True, data=True)


def kind_of_value(value: Any, kinds: str | None) -> str:
    """Return the kind that a value names, `TIES` without kinds; one that names none is refused."""
    if kinds is None:
        return TIES
    if value is None or str(value) == "":
        raise DataError(f"an edge has no {kinds}. Give its type, or remove it.")
    return str(value)


_MODES = frozenset(
    {"bipartite", "kind", "mode", "node_kind", "node_type", "nodetype", "part", "side", "type"}
)
"""What the attribute of nodes that marks two kinds of them is called, in lower case."""


def may_mark_modes(name: str) -> bool:
    """Whether an attribute of this name may mark two kinds of nodes."""
    return name.lower() in _MODES


def two_modes(
    name: str, values: Sequence[Any], ends: Iterable[tuple[int, int]]
) -> dict[str, int] | None:
    """Return how many nodes have either value of an attribute that marks two modes, else None.

    Under the name ``bipartite``, as NetworkX gives it, two values are enough; under other names
    every edge must join one with the other.
    """
    if not may_mark_modes(name):
        return None
    said = [mode_of(value) for value in values]
    counts = Counter(said)
    if len(counts) != 2 or None in counts:
        return None
    if name.lower() != "bipartite":
        joined = [said[u] != said[v] for u, v in ends]
        if not joined or not all(joined):
            return None
    return {str(value): counts[value] for value in sorted(counts, key=str)}


def mode_of(value: Any) -> str | None:
    """Return the value of an attribute as an option spells it; None where there is none."""
    if value is None or value == "":
        return None
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


KINDS_OF_EDGES = re.compile(
    r"((edge|tie|link|relation(ship)?)[ _-]?)?(kind|type|layer|relation(ship)?)s?", re.IGNORECASE
)
"""What the attribute that says of which kind an edge is may be called."""

DIRECTIONS = {"directed", "undirected", "mutual"}
"""What a column of types says where it says of no kind."""

KEY = "key"
"""What stands for the keys of a multigraph: words are kinds, numbers only count."""

MOST_KINDS = 20
"""An attribute with more values than this does not say of which kind edges are."""


def said_of_ties(graph: Any) -> list[dict[Any, Any]]:
    """Return what a NetworkX graph says of every edge; with it a key that is a word."""
    if not graph.is_multigraph():
        return [dict(values) for *_, values in graph.edges(data=True)]
    return [
        {**values, KEY: key} if isinstance(key, str) else dict(values)
        for *_, key, values in with_keys(graph)
    ]


def ask_kinds(said: Iterable[Mapping[Any, Any]], call: str) -> None:
    """Refuse edges of several kinds that nobody said are to be merged."""
    kinds: dict[Any, set[str]] = {}
    for values in said:
        for name, value in values.items():
            if name == KEY or KINDS_OF_EDGES.fullmatch(str(name)):
                kinds.setdefault(name, set()).add(str(value))
    for name, every in kinds.items():
        if 2 <= len(every) <= MOST_KINDS:
            raise DataError(
                f"the edges have {len(every)} types in {str(name)!r} "
                f"({', '.join(sorted(every))[:80]}). "
                f"Use graphveil.Network.{call}(data, kinds={str(name)!r}) to keep them apart, or "
                f"{option('ignore_weights', value=True)} to merge them."
            )


def ask_kinds_in(table: pa.Table, further: Sequence[str]) -> None:
    """Refuse a frame of edges of several kinds that nobody said are to be merged.

    A column that says which edges are directed, as Gephi writes it, says of no kind.
    """
    said = []
    for name in further:
        if KINDS_OF_EDGES.fullmatch(name) and table[name].type.num_fields == 0:
            values = table[name].unique().drop_null().to_pylist()
            if not {str(value).strip().lower() for value in values} <= DIRECTIONS:
                said += [{name: value} for value in values]
    ask_kinds(said, "from_arrow")


def ask_modes(
    rows: Sequence[Mapping[Any, Any]], ends: Sequence[tuple[int, int]], call: str
) -> None:
    """Refuse nodes that an attribute marks as of two kinds, since not all may be people."""
    for name in dict.fromkeys(name for values in rows for name in values):
        counts = two_modes(str(name), [values.get(name) for values in rows], ends)
        if counts is not None:
            listed = ", ".join(f"{n:,} with {value!r}" for value, n in counts.items())
            raise DataError(
                f"the attribute {str(name)!r} marks two kinds of nodes ({listed}), as in a "
                f"two-mode network. If one kind is people, use graphveil.Bipartite.{call}(data, "
                f"users=[...]). If all nodes are people, use {option('one_mode', value=True)}."
            )


def labels_of_ends(ends: Sequence[Ids], listed: Ids | None) -> Ids:
    """Return every id in order: those of people, among whom all ends of edges must be."""
    every = [*ends] if listed is None else [listed]
    if len({ids.dtype.kind for ids in (*ends, *every) if ids.size}) > 1:
        every = [as_text(ids) for ids in every]
    return distinct(np.concatenate(every))


def refuse_where_directions_matter(
    ends: Sequence[NDArray[Any]], n: int, names: tuple[str, ...], *, said: bool | None
) -> None:
    """Refuse edges of which most lead one way, or that a file says are directed."""
    layer, dropped = Layer.undirected(*ends, n=n)
    ties = Ties(n=layer.n_ties, mutual=dropped.reciprocal_pairs, said=said, names=names)
    if ties.matter:
        raise DataError(
            f"the edges seem to be directed: only {ties.mutual:,} of {ties.n:,} are mutual. Set "
            f"{option('directed', value=True)} or {option('directed', value=False)}."
        )
