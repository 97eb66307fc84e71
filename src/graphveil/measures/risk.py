"""How identifiable people are: equivalence classes of nodes or rows, and the anonymity cascade.

The results of `measure` are of these classes. Everything is counted from `labels`, the class of
every node or row: uniqueness (equation 3 of de Jong, van der Loo and Takes) is the share of classes
of size 1, and a person in a class smaller than k is unprotected. The paper prints "equivalence
class of size k" for k-anonymous; what is meant, and done here, is at least k.

The cascade starts from unique nodes, and asks who is identified through an identified neighbor: the
*anonymity cascade* of de Jong, van der Loo and Takes, Scientific Reports 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.rows import Row, Rows
from graphveil.core.text import counted, printable
from graphveil.data import Graph
from graphveil.data.ids import Ids
from graphveil.measures.registry import check_distance, known
from graphveil.measures.values import Columns, Labels


class Partition(NamedTuple):
    """The classes of a measure; undecided pairs count as different, so no class is too large.

    Parameters
    ----------
    labels
        int64, shape (n,): the class of every node, 0..C-1.
    undecided
        The comparisons of neighborhoods that were given up.

    Examples
    --------
    >>> Partition(np.array([0, 1, 1]), undecided=0).labels.tolist()
    [0, 1, 1]
    """

    labels: Labels
    undecided: int


def partition(graph: Graph, *, measure: str, distance: int = 1) -> Labels:
    """Return the class of every node: equal exactly if the measure cannot distinguish two nodes.

    Parameters
    ----------
    graph
        The network.
    measure
        A name of `MEASURES`.
    distance
        How far the measure reaches, in hops.

    Returns
    -------
    labels
        int64, shape (n,), 0..C-1. The classes are in an order that does not depend on that of the
        nodes, except for classes of `dk` and `hybrid` that no invariant distinguishes.

    Raises
    ------
    ParameterError
        If the measure is unknown, or cannot reach that far.

    Notes
    -----
    P_M of de Jong, van der Loo and Takes, section 3.2. For dk and hybrid, comparisons that are
    given up count as different: `divided` returns their number.

    Examples
    --------
    >>> kite = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    >>> partition(kite, measure="count").tolist()
    [2, 1, 1, 0]
    """
    return divided(graph, measure=measure, distance=distance).labels


def divided(graph: Graph, *, measure: str, distance: int = 1) -> Partition:
    """Return the classes of a measure, and how many comparisons were given up; see `partition`.

    Parameters
    ----------
    graph
        The network.
    measure
        A name of `MEASURES`.
    distance
        How far the measure reaches, in hops.

    Returns
    -------
    Partition
        The classes, and the comparisons given up; 0 for all measures but dk and hybrid.

    Raises
    ------
    ParameterError
        If the measure is unknown, or cannot reach that far.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> labels, undecided = divided(star, measure="dk")
    >>> labels.tolist(), undecided
    ([1, 0, 0, 0], 0)
    """
    entry = known(measure)
    check_distance(entry, distance)
    return Partition(*entry.classes(graph, distance))


def class_sizes_of_nodes(labels: Labels) -> NDArray[np.int64]:
    """Return the size of every node's class, int64, shape (n,).

    Parameters
    ----------
    labels
        int64, shape (n,): the class of every node, 0..C-1.

    Examples
    --------
    >>> class_sizes_of_nodes(np.array([0, 1, 1])).tolist()
    [1, 2, 2]
    """
    return np.bincount(labels).astype(np.int64)[labels] if labels.size else labels


Ints: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Fuzzy:
    """The candidate set of every node, for an attacker whose knowledge is a little off.

    Parameters
    ----------
    phi
        How far off, in percent.
    candidate_set_sizes
        int64, shape (n,): how many nodes each is similar to, itself included.
    noisy_share_unprotected
        The share of nodes for which fewer than k candidates are left to an attacker with inexact
        numbers: see `noisy_share`.

    Notes
    -----
    The definition is the package's own, and may differ from that of de Jong, van der Loo and Takes,
    *Fuzzy k-anonymity in complex networks* (arXiv 2605.12062), which the notion is from.

    Examples
    --------
    >>> from graphveil import measure
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> measure(star, measure="count", phi=10).fuzzy.candidate_set_sizes.tolist()
    [1, 3, 3, 3]
    """

    phi: float
    candidate_set_sizes: Ints
    noisy_share_unprotected: float

    def summary(self, k: int) -> dict[str, Any]:
        """Return the figures as JSON can hold them, by name.

        Parameters
        ----------
        k
            Nodes with fewer candidates are unprotected.

        Examples
        --------
        >>> fuzzy = Fuzzy(
        ...     phi=10, candidate_set_sizes=np.array([1, 3, 3, 3]), noisy_share_unprotected=0.25
        ... )
        >>> fuzzy.summary(k=2)["share_unprotected"]
        0.25
        """
        n = max(self.candidate_set_sizes.size, 1)
        unique = np.count_nonzero(self.candidate_set_sizes == 1)
        unprotected = np.count_nonzero(self.candidate_set_sizes < k)
        return {
            "phi": self.phi,
            "unique_nodes": int(unique),
            "uniqueness": float(unique / n),
            "unprotected_nodes": int(unprotected),
            "share_unprotected": float(unprotected / n),
            "noisy_share_unprotected": self.noisy_share_unprotected,
        }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EquivalenceClasses:
    """People in equivalence classes: who cannot be distinguished from whom.

    Parameters
    ----------
    k
        People in smaller classes are unprotected.
    ids
        The id of every person, shape (n,).
    labels
        int64, shape (n,): the class of every person, 0..C-1.

    Notes
    -----
    Uniqueness is U of de Jong, van der Loo and Takes, *The anonymization problem in social
    networks*, section 3.2, equation 3.

    Examples
    --------
    >>> from graphveil import measure
    >>> star = measure(Graph.from_edges([0, 0, 0], [1, 2, 3], n=4), k=2)
    >>> star.sizes.tolist(), star.own_sizes.tolist()
    ([3, 1], [1, 3, 3, 3])
    >>> star.uniqueness, star.share_unprotected
    (0.25, 0.25)
    """

    k: int
    ids: Ids
    labels: Labels

    @cached_property
    def sizes(self) -> Ints:
        """The number of people in every class, int64, shape (C,)."""
        return np.bincount(self.labels).astype(np.int64)

    @cached_property
    def own_sizes(self) -> Ints:
        """The class size of every person, int64, shape (n,)."""
        return class_sizes_of_nodes(self.labels)

    @property
    def uniqueness(self) -> float:
        """The share of people who are unique: the only ones in their class."""
        return self._share(self.own_sizes == 1)

    @property
    def share_unprotected(self) -> float:
        """The share of people in classes smaller than k."""
        return self._share(self.own_sizes < self.k)

    def _share(self, chosen: NDArray[np.bool_]) -> float:
        return float(np.count_nonzero(chosen) / max(chosen.size, 1))

    def unprotected(self) -> Ids:
        """Return the ids of the people in classes smaller than k, smallest classes first.

        Examples
        --------
        >>> from graphveil import measure
        >>> measure(Graph.from_edges([0, 0, 0], [1, 2, 3], n=4), k=2).unprotected().tolist()
        [0]
        """
        # Sorted stably, so that people in classes of one size stay in the order of the data.
        positions = np.flatnonzero(self.own_sizes < self.k)
        return self.ids[positions[np.argsort(self.own_sizes[positions], kind="stable")]]

    def size_distribution(self) -> list[tuple[int, int, int]]:
        """Return (class size, number of such classes, people in them), smallest size first.

        Examples
        --------
        >>> from graphveil import measure
        >>> measure(Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)).size_distribution()
        [(1, 1, 1), (3, 1, 3)]
        """
        sizes, classes = np.unique(self.sizes, return_counts=True)
        everyone = np.unique(self.own_sizes, return_counts=True)[1]
        return list(zip(sizes.tolist(), classes.tolist(), everyone.tolist(), strict=True))

    def rows(self) -> Rows:
        """Return the shares of people who are unique, and who are unprotected, as rows.

        Examples
        --------
        >>> from graphveil import measure
        >>> star = measure(Graph.from_edges([0, 0, 0], [1, 2, 3], n=4))
        >>> [(row.part, row.value) for row in star.rows()]
        [('uniqueness', 0.25), ('share unprotected', 0.25), ('twin uniqueness', 1.0)]
        """
        figures = self.summary()
        # Twin uniqueness exists for graphs only.
        parts = ("uniqueness", "share_unprotected", "twin_uniqueness")
        return Rows(
            Row(
                release="",
                question=figures["measure"],
                part=part.replace("_", " "),
                value=figures[part],
                unit="share of people",
                direction="lower is better",
            )
            for part in parts
            if part in figures
        )

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON can hold them, by name; ids are not among them.

        Examples
        --------
        >>> from graphveil import measure
        >>> figures = measure(Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)).summary()
        >>> figures["classes"], figures["smallest_class"]
        (2, 1)
        """
        return {"measure": "class", **self._summary("people")}

    def _described(self, known: str, noun: str) -> str:
        """Return what is known to an attacker, and the counts; never an id."""
        unprotected = int(np.count_nonzero(self.own_sizes < self.k))
        counts = f"{self.ids.size:,} {noun} in {counted(self.sizes.size, 'class', spec=',')}"
        return (
            f"{type(self).__name__}({known}: {counts}, {unprotected:,} unprotected at k={self.k})"
        )

    def _summary(self, noun: str) -> dict[str, Any]:
        """Return the figures of the classes; `noun` is what a person is in this data."""
        return {
            "k": self.k,
            noun: int(self.ids.size),
            "classes": int(self.sizes.size),
            "smallest_class": int(self.sizes.min()) if self.sizes.size else 0,
            f"unique_{noun}": int(np.count_nonzero(self.sizes == 1)),
            "uniqueness": self.uniqueness,
            # Classes smaller than k, counted by their people.
            f"unprotected_{noun}": int(self.sizes[self.sizes < self.k].sum()),
            "share_unprotected": self.share_unprotected,
            "class_sizes": [
                {"size": size, "classes": classes, noun: people}
                for size, classes, people in self.size_distribution()
            ],
        }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EqualRows(EquivalenceClasses):
    """How identifiable people are to an attacker who knows their row, or some columns of it.

    Parameters
    ----------
    k, ids, labels
        As in `EquivalenceClasses`: a class is of rows that are equal in these columns.
    noun
        What a row is: users, or rows of a table.
    columns
        The columns of a table that are compared; None if complete rows are compared.
    counted
        What is counted: people, or rows of a table that nobody declared to be people.
    units
        int32, shape (n,): the person or household of each row, if these have several rows; the size
        of a class is then how many different ones it has. None if each row is one.

    Examples
    --------
    >>> from graphveil import Table, measure
    >>> measure(Table.from_columns({"sex": ["f", "m", "f"]}))
    EqualRows(complete rows: 3 rows in 2 classes, 1 unprotected at k=2)
    """

    noun: str
    columns: tuple[str, ...] | None = None
    counted: Literal["people", "rows"] = "people"
    units: NDArray[np.int32] | None = None

    @property
    def sizes(self) -> Ints:
        """The size of every class, in people or households if these have several rows."""
        if self.units is None:
            return super().sizes
        pairs = np.unique(np.column_stack([self.labels, self.units]), axis=0)
        return np.bincount(pairs[:, 0]).astype(np.int64)

    @property
    def own_sizes(self) -> Ints:
        """The size of the class of every row: int64, shape (n,)."""
        return super().own_sizes if self.units is None else self.sizes[self.labels]

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON can hold them; ids are not among them."""
        compared = {} if self.columns is None else {"columns": list(self.columns)}
        return {"measure": "row", **compared, **self._summary(self.noun)}

    def __repr__(self) -> str:
        """Return what is compared and how many are unprotected; never an id."""
        known = "complete rows" if self.columns is None else ", ".join(map(printable, self.columns))
        return self._described(known, self.noun)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Identifiability(EquivalenceClasses):
    """How identifiable the people of a network are under one measure, as it stands.

    Parameters
    ----------
    k, ids, labels
        As in `EquivalenceClasses`: a class is of nodes that the measure cannot distinguish.
    measure
        The measure's name.
    distance
        How far it reaches, in hops.
    values
        The measure's value of every node in integers, by what they count; the class if the value is
        not a fixed number of integers.
    twins
        int64, shape (n,): the class of twins of every node, 0..T-1.
    undecided
        The comparisons of neighborhoods that were given up; they count as different.
    fuzzy
        The candidate sets of an attacker whose knowledge is a little off, if phi was given.

    Examples
    --------
    >>> from graphveil import measure
    >>> star = measure(Graph.from_edges([0, 0, 0], [1, 2, 3], n=4), measure="count")
    >>> star
    Identifiability(count at distance 1: 4 nodes in 2 classes, 1 unprotected at k=2)
    >>> star.twin_uniqueness
    1.0
    """

    measure: str
    distance: int
    values: Columns
    twins: Labels
    undecided: int = 0
    fuzzy: Fuzzy | None = None

    @cached_property
    def sizes_without_twins(self) -> Ints:
        """The class size of every node, one node counted for all its twins, int64, shape (n,).

        A class of twins alone has size 1: its nodes are distinguished from all nodes but each
        other.
        """
        if not self.labels.size:
            return self.labels
        # The class of each class of twins; all twins are in the same class.
        member = np.empty(int(self.twins.max()) + 1, dtype=np.int64)
        member[self.twins] = self.labels
        return np.bincount(member).astype(np.int64)[self.labels]

    @property
    def twin_uniqueness(self) -> float:
        """The share of nodes that are in a class with nobody but their twins."""
        return self._share(self.sizes_without_twins == 1)

    @property
    def share_unprotected_without_twins(self) -> float:
        """The share of nodes in classes smaller than k, one node counted for all its twins."""
        return self._share(self.sizes_without_twins < self.k)

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON can hold them; ids are not among them."""
        figures = {
            "measure": self.measure,
            "distance": self.distance,
            **self._summary("nodes"),
            "twin_unique_nodes": int(np.count_nonzero(self.sizes_without_twins == 1)),
            "twin_uniqueness": self.twin_uniqueness,
            "share_unprotected_without_twins": self.share_unprotected_without_twins,
            "undecided_comparisons": self.undecided,
        }
        return figures | ({"fuzzy": self.fuzzy.summary(self.k)} if self.fuzzy else {})

    def __repr__(self) -> str:
        """Return the measure and how many nodes are unprotected; never an id."""
        return self._described(f"{self.measure} at distance {self.distance}", "nodes")


NEVER = -1
"""The level of a node that the cascade does not reach."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cascade:
    """Which nodes are identified by a cascade, and in how many steps.

    Parameters
    ----------
    measure, distance
        What identifies the nodes of level 0.
    second, second_distance
        What distinguishes the neighbors of an identified node.
    levels
        int64, shape (n,): 0 for unique nodes, then one more per step; -1 for nodes not reached.

    Examples
    --------
    >>> comet = Graph.from_edges([0, 0, 0, 3, 4], [1, 2, 3, 4, 5], n=6)
    >>> found = cascade(comet, measure="degree")
    >>> found.per_level(), round(found.share_identified, 3)
    ([1, 1, 1, 1], 0.667)
    """

    measure: str
    distance: int
    second: str
    second_distance: int
    levels: NDArray[np.int64]

    def per_level(self) -> list[int]:
        """Return how many nodes are identified at level 0, 1, and so on.

        Examples
        --------
        >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
        >>> cascade(star, measure="degree").per_level()
        [1]
        """
        counts: list[int] = np.bincount(self.levels[self.levels != NEVER]).tolist()
        return counts

    @property
    def share_identified(self) -> float:
        """The share of nodes that are identified at any level."""
        return float(np.count_nonzero(self.levels != NEVER) / max(self.levels.size, 1))

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON can hold them, by name.

        Examples
        --------
        >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
        >>> cascade(star, measure="degree").summary()["identified_nodes"]
        1
        """
        return {
            "measure": self.second,
            "distance": self.second_distance,
            "identified_nodes": int(np.count_nonzero(self.levels != NEVER)),
            "share_identified": self.share_identified,
            "nodes_per_level": self.per_level(),
        }


def cascade(
    graph: Graph,
    *,
    measure: str = "count",
    distance: int = 1,
    second: str = "degree",
    second_distance: int = 1,
    labels: Labels | None = None,
) -> Cascade:
    """Return which nodes are identified once unique nodes are, then their neighbors, and so on.

    Level 0 are the nodes that are unique under the measure. A node is identified one level after a
    neighbor if no other neighbor of that neighbor is in its class under the second measure.

    Parameters
    ----------
    graph
        The network as it stands.
    measure, distance
        What the attacker knows of everybody.
    second, second_distance
        What the attacker knows of the neighbors of an identified person.
    labels
        The classes of the measure, int64, shape (n,), if they are known already.

    Returns
    -------
    Cascade
        The level of every node.

    Raises
    ------
    ParameterError
        If a measure is unknown, or cannot reach that far.

    Notes
    -----
    De Jong, van der Loo and Takes, Scientific Reports 2024 (anonymity cascade). O(n + m) after the
    two partitions.

    Examples
    --------
    >>> comet = Graph.from_edges([0, 0, 0, 3, 4], [1, 2, 3, 4, 5], n=6)
    >>> cascade(comet, measure="degree").levels.tolist()
    [0, -1, -1, 1, 2, 3]
    """
    from graphveil.measures.kernels import neighborhoods as kernels  # noqa: PLC0415  heavy: not for help

    # Step 1: level 0 are the nodes that are unique under the first measure.
    if labels is None:
        labels = partition(graph, measure=measure, distance=distance)
    apart = partition(graph, measure=second, distance=second_distance)
    # Step 2: follow edges to neighbors that are unique among the neighbors of an identified node.
    levels = np.where(class_sizes_of_nodes(labels) == 1, 0, NEVER)
    kernels.follow(graph.indptr, graph.indices, apart, levels)
    return Cascade(
        measure=measure,
        distance=distance,
        second=second,
        second_distance=second_distance,
        levels=levels,
    )
