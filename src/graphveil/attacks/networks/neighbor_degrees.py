"""What the degrees of a person's neighbors say after edits: quantiles, ranks, and exclusion.

A `Signature` for `candidate_set.py`, for an attacker who knows the degrees of one person and of all
neighbors, and reads in the manifest which edits were allowed. Three ideas, all graphveil's own:

1. **Quantiles.** Edits change the length of a list of neighbors' degrees more than its shape.
   Sorted lists are compared by `QUANTILES` of their quantiles on a logarithmic scale, and the own
   degree counts as much as their mean.
2. **Ranks.** Methods that anonymize degrees move everybody, but hardly change who has more edges
   than whom. An attacker who also knows how often each degree occurs in the original, which is
   public for many networks, replaces a known degree by the mean released degree of the same ranks.
   The own degree is compared in both forms, as some methods keep most degrees.
3. **Exclusion.** If edges were only added, the sorted list of a person's own node is nowhere below
   the known one; if edges were only deleted, nowhere above. Other nodes are excluded for certain.

With directions and edge types there is a list for each (out-neighbors and in-neighbors), and it has
both degrees of each neighbor in the same layer.

Cost: targets times nodes times columns, and for exclusion targets times ends of edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from graphveil.attacks.networks.copies.side_information import Relations, degrees
from graphveil.attacks.networks.signatures import Profiles
from graphveil.claims.conditions import AnyCondition, SameDegrees, Subgraph, Supergraph
from graphveil.core.array_types import Floats, Ints
from graphveil.data.csr import SortedLists
from graphveil.evaluate.comparison import Bools

QUANTILES = 11
"""The quantiles 0, 0.1, ..., 1 of each list: 30 or 100 of them found as many people."""

UNIT = 1_000
"""Logarithms are rounded to whole thousandths, so that equal lists are equally far everywhere."""


class SortedDegrees(NamedTuple):
    """The degrees of everybody's neighbors in one list, by one kind of degree.

    Parameters
    ----------
    kind : int
        Which degree of the neighbors it is: a row of `NeighborDegrees.own`.
    indptr : int64, shape (n + 1,)
        Where each node's part of the other arrays begins.
    values : int64, shape (ends,)
        The degrees, largest first within each node's part.
    rank : int64, shape (ends,)
        The place of each value in its part, from 0.
    """

    kind: int
    indptr: Ints
    values: Ints
    rank: Ints

    @classmethod
    def of(cls, lists: SortedLists, kind: int, of_nodes: Ints) -> SortedDegrees:
        """Return the sorted degrees of the neighbors in some lists."""
        length = np.diff(lists.indptr)
        node = np.repeat(np.arange(length.size), length)
        near = of_nodes[lists.indices]
        rank = np.arange(node.size) - np.repeat(lists.indptr[:-1], length)
        return cls(kind, lists.indptr, near[np.lexsort((-near, node))], rank)

    def part(self, node: int) -> Ints:
        """Return the degrees of one node's neighbors, largest first."""
        return self.values[self.indptr[node] : self.indptr[node + 1]]

    def quantiles(self, becomes: Floats) -> Floats:
        """Return the quantiles of every list, float64, shape (n, QUANTILES); 0 for an empty list.

        Between two values they are interpolated; `becomes` translates degrees and keeps their
        order.
        """
        last = np.maximum(np.diff(self.indptr) - 1, 0)[:, None]
        place = np.linspace(0, 1, QUANTILES) * last
        before = np.floor(place).astype(np.int64)
        # One value behind the end, for empty lists there.
        values = np.append(becomes[self.values], 0.0)
        low, high = (
            values[np.minimum(self.indptr[:-1, None] + at, self.values.size)]
            for at in (before, np.minimum(before + 1, last))
        )
        quantiles = low + (high - low) * (place - before)
        return np.where(np.diff(self.indptr)[:, None] > 0, quantiles, 0.0)


class NeighborDegrees(NamedTuple):
    """Everybody's own degrees, and those of their neighbors.

    `own`: int64, shape (kinds, n): one degree per neighbor list; `lists`: per neighbor list and
    degree of the same layer.
    """

    own: Ints
    lists: tuple[SortedDegrees, ...]

    @classmethod
    def of(cls, relations: Relations, turned: Sequence[int]) -> NeighborDegrees:
        """Return the degrees of a network.

        Parameters
        ----------
        relations : tuple of SortedLists
            Its neighbor lists: one per layer, two (out, in) if it is directed.
        turned : sequence of int
            For each list, the place of the list the other way round.

        Examples
        --------
        >>> from graphveil.data import Graph
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> lists = (SortedLists(path.indptr, path.indices),)
        >>> NeighborDegrees.of(lists, (0,)).lists[0].part(1).tolist()
        [2, 1]
        """
        own = degrees(relations)
        return cls(
            own,
            tuple(
                SortedDegrees.of(lists, kind, own[kind])
                for at, lists in enumerate(relations)
                for kind in sorted({at, turned[at]})
            ),
        )

    def numbers(self, becomes: Sequence[Floats] | None = None) -> Profiles:
        """Return the numbers to compare: quantiles of all lists, and the own degrees twice.

        Parameters
        ----------
        becomes : sequence of float64 arrays, optional
            For each kind, what every degree from 0 on becomes in the release; by default itself.

        Returns
        -------
        Profiles
            int32, shape (n, columns): logarithms in units of 1/1,000, times their weights. An L1
            distance is twice the sum of all differences of quantiles; each own degree, as it is
            and as it becomes, weighs half of the quantiles of one of its layer's lists.
        """
        same = [np.arange(own.max(initial=0) + 1, dtype=np.float64) for own in self.own]
        becomes = same if becomes is None else becomes
        columns = [2 * _scaled(lists.quantiles(becomes[lists.kind])) for lists in self.lists]
        # Lists by the same kind of degree: their number is that of the layer's neighbor lists, and
        # so the mean over these quantiles weighs as much as the degree.
        for kind, own in enumerate(self.own):
            weight = QUANTILES * sum(lists.kind == kind for lists in self.lists)
            columns += [weight * _scaled(some[kind][own])[:, None] for some in (same, becomes)]
        return Profiles(np.hstack(columns).astype(np.int32))


def _scaled(numbers: Floats) -> Ints:
    thousandths: Ints = np.rint(UNIT * np.log1p(numbers)).astype(np.int64)
    return thousandths


def at_same_ranks(known: NeighborDegrees, released: NeighborDegrees) -> list[Floats]:
    """Return what each degree of the original becomes: the mean released degree of its ranks.

    Parameters
    ----------
    known, released : NeighborDegrees
        Original and release of as many nodes; only how often each degree occurs is read of the
        original.

    Returns
    -------
    list of float64 arrays
        For each kind, by degree from 0 to the largest of the original; it never falls. Degrees that
        do not occur stay as they are and are not looked up.

    Examples
    --------
    >>> before, after = (NeighborDegrees(np.array([own]), ()) for own in ([1, 1, 2], [2, 3, 3]))
    >>> at_same_ranks(before, after)[0].tolist()
    [0.0, 2.5, 3.0]
    """
    becomes = []
    for own, own_after in zip(known.own, released.own, strict=True):
        often = np.bincount(own)
        behind = np.cumsum(often)
        summed = np.concatenate([[0], np.cumsum(np.sort(own_after))])
        total = summed[behind] - summed[behind - often]
        itself = np.arange(often.size, dtype=np.float64)
        becomes.append(np.where(often > 0, total / np.maximum(often, 1), itself))
    return becomes


class PossibleNodes(NamedTuple):
    """Which released nodes the allowed edits permit for a person, by degrees of neighbors.

    `known, released`: the degrees of original and release; `edits`: "add", "delete", or "rewire"
    if every node keeps its degree.
    """

    known: NeighborDegrees
    released: NeighborDegrees
    edits: str

    def fits(self, person: int) -> Bools:
        """Return which released nodes can be a person, bool, shape (n,).

        The person's own node is always one of them, if the manifest is right about the edits.
        """
        return np.asarray(np.logical_and.reduce([*self._conditions(person)]))

    def _conditions(self, person: int) -> Iterator[Bools]:
        own, others = self.known.own[:, person, None], self.released.own
        if self.edits == "rewire":
            yield from others == own
            return
        added = self.edits == "add"
        yield from others >= own if added else others <= own
        for known, released in zip(self.known.lists, self.released.lists, strict=True):
            part = known.part(person)
            # The known value at the same place; behind the known list there is room for nothing.
            padded = np.zeros(max(int(released.rank.max(initial=0)) + 1, part.size), dtype=np.int64)
            padded[: part.size] = part
            limit = padded[released.rank]
            # An own neighbor never has fewer edges than before if edges were only added. So each of
            # the known places needs a value that is at least as large; never more if deleted.
            in_order = (
                (released.values >= limit) & (released.rank < part.size)
                if added
                else released.values <= limit
            )
            summed = np.concatenate([[0], np.cumsum(in_order)])
            fitting = np.diff(summed[released.indptr])
            yield fitting == (part.size if added else np.diff(released.indptr))


def allowed_edits(conditions: Sequence[AnyCondition], layers: int) -> str:
    """Return in which direction a release may differ, as its manifest says; empty for any.

    >>> allowed_edits([Subgraph()], 1)
    'delete'
    """
    if Supergraph() in conditions:
        return "add"
    if Subgraph() in conditions:
        return "delete"
    # Degrees that are kept are those over all edges, without directions and types.
    return "rewire" if SameDegrees() in conditions and layers == 1 else ""
