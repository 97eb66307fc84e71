"""People who are unique by the attributes of their neighbors, which no guarantee covers.

The attacker knows, for one person, how many neighbors there are and how many of them have each
value of each published attribute, per edge type and direction; or this and the person's own
attributes. Candidates are counted as in `candidate_set.py`. In addition it is counted how many
people are unique by the multiset of their neighbors' complete rows, in the original and in the
release.

The attack is graphveil's own; without attributes it is Hay et al., PVLDB 2008. The baseline of a
right guess is 1/n; intervals are those of `candidate-set`. Cost: targets times ends of edges times
attributes, since only counts above zero are compared.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.networks import candidate_set
from graphveil.attacks.networks.copies.side_information import (
    Relations,
    SideInformation,
    layers_of,
    matrix,
)
from graphveil.attacks.networks.signatures import KnownRows, candidates, published_attributes
from graphveil.core.array_types import Ints
from graphveil.core.progress import in_time
from graphveil.data import Network
from graphveil.evaluate.comparison import Int32s, NetworkComparison, sparse
from graphveil.evaluate.metric import NotMeasuredError

NEIGHBORS = "attributes of the neighbors"
"""The name of this kind of knowledge."""


class NeighborAttributesOptions(candidate_set.CandidateSetOptions, label="neighbor-attributes"):
    """How many people are looked for by the attributes of their neighbors."""


class Neighborhood(NamedTuple):
    """How many neighbors of everybody have each value of each attribute, and how many there are.

    A `Signature`: an L1 distance between such counts is the sum of both less twice what they have
    in common, so that only the columns in which the known node has something are read.

    Parameters
    ----------
    counts : int64, sparse, by column
        Per list of neighbors: their number, then one column per attribute and value.
    sums : int64, shape (n,)
        The sum of each row.
    """

    counts: sparse.csc_array
    sums: Ints

    @classmethod
    def of(cls, relations: Relations, rows: Int32s, values: Ints) -> Neighborhood:
        """Return the counts of a network.

        Parameters
        ----------
        relations : tuple of SortedLists
            Its neighbor lists.
        rows : int32, shape (n, d)
            The attributes of its nodes, below 0 if one is not known.
        values : int64, shape (d,)
            How many values each attribute has, on both sides.
        """
        n = len(rows)
        # One column of ones counts the neighbors themselves, then one column per value of each
        # attribute.
        shown = [np.ones((n, 1), dtype=np.int64)]
        for codes, size in zip(rows.T, values, strict=True):
            who = np.flatnonzero(codes >= 0)
            ones = np.ones(who.size, dtype=np.int64)
            shown.append(sparse.csr_array((ones, (who, codes[who])), shape=(n, size)))
        indicators = sparse.hstack(shown, format="csr")
        # Neighbor lists times indicators: how many neighbors show each value.
        counts = sparse.hstack(
            [matrix(lists, np.int64) @ indicators for lists in relations], format="csc"
        )
        return cls(counts, np.asarray(counts.sum(axis=1)).ravel())

    def distances_to(self, known: Neighborhood, node: int) -> Ints:
        """Return how far everybody's counts are from those of one node, int64, shape (1, n)."""
        # |a - b| summed is sum a + sum b - 2 sum min(a, b), and min is 0 outside the known node's
        # columns.
        row = known.counts[[node]].tocoo()
        common = np.zeros(self.sums.size, dtype=np.int64)
        for column, number in zip(row.col.tolist(), row.data.tolist(), strict=True):
            some = slice(*self.counts.indptr[column : column + 2])
            common[self.counts.indices[some]] += np.minimum(self.counts.data[some], number)
        distance: Ints = self.sums + known.sums[node] - 2 * common
        return distance[None, :]


def neighbor_attributes(
    situation: attack.AttackInput[NetworkComparison], options: NeighborAttributesOptions
) -> attack.Outcome:
    """Return how many people are unique, and found again, by what their neighbors are like.

    A person's risk is the larger chance of a right guess, without and with the own attributes.
    """
    pair = situation.comparison
    rows, n = published_attributes(pair), pair.original.n_nodes
    if n == 0:
        raise NotMeasuredError("the network has no nodes")
    if rows is None:
        raise NotMeasuredError("no attributes are published")
    layers = layers_of(pair)
    both = (
        SideInformation.of_graphs(pair.original, pair.released)
        if layers is None
        else SideInformation.of_layers(*layers, rows)
    )
    rng = situation.rng("neighbor-attributes")
    targets = np.sort(rng.permutation(n)[: options.of_nodes(n)])
    # Codes of both sides have the same columns.
    values = np.maximum(rows.known.max(axis=0), rows.shown.max(axis=0)).astype(np.int64) + 1
    known = Neighborhood.of(both.copy, rows.known, values)
    released = Neighborhood.of(both.released, rows.shown, values)
    risk = np.full(n, np.nan)
    # Who is unique, then who is found: without the person's own attributes, and with them.
    figures = list(_unique_figures(both, rows))
    for name, own in ((NEIGHBORS, ()), (f"{NEIGHBORS}{candidate_set.WITH_ATTRIBUTES}", (rows,))):
        near = candidates(known, released, pair.linked, targets, own).only(0)
        figures += candidate_set.figures_of(name, near, n, rng)
        risk[targets] = np.fmax(risk[targets], near.right)
    return attack.Outcome(figures, risk, np.where(np.isnan(risk), np.nan, 1 / n))


def _unique_figures(both: SideInformation, rows: KnownRows) -> list[attack.AttackFigure]:
    """Return how many people have a multiset of neighbors' rows that no other person has."""
    every = np.concatenate([rows.known, rows.shown])
    classes = np.unique(every, axis=0, return_inverse=True)[1].reshape(2, -1)
    return [
        attack.AttackFigure(
            f"alone by them, {where}", unique_share(relations, of_person), "share of people"
        )
        for where, relations, of_person in (
            ("original", both.copy, classes[0]),
            ("release", both.released, classes[1]),
        )
    ]


def unique_share(relations: Relations, classes: Ints) -> float:
    """Return the share of people whose multiset of neighbors' classes is that of no other person.

    `classes`: int64, shape (n,): the class of each node's own row. Multisets are kept per list of
    neighbors (edge type and direction) and compared exactly, as sorted bytes.
    """
    n = classes.size
    multisets: list[list[bytes]] = [[] for _ in range(n)]
    for lists in in_time(relations):
        node = np.repeat(np.arange(n), np.diff(lists.indptr))
        near = classes[lists.indices]
        ordered = near[np.lexsort((near, node))]
        for person, some in enumerate(np.split(ordered, lists.indptr[1:-1])):
            multisets[person].append(some.tobytes())
    counted = Counter(map(tuple, multisets))
    return sum(number == 1 for number in counted.values()) / max(n, 1)


PER_END = 2e-8
"""Seconds for every end of an edge and attribute that a target is compared with."""


def seconds(
    situation: attack.AttackInput[NetworkComparison], options: NeighborAttributesOptions
) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    n = pair.original.n_nodes
    attack.refuse_more_nodes(n, candidate_set.MOST_NODES, "Use a release with fewer nodes")
    columns = max(len(pair.networks[1].attributes), 1)
    return PER_END * options.of_nodes(n) * attack.ends_of(pair) * columns


NEIGHBOR_ATTRIBUTES = attack.Attack(
    name="neighbor-attributes",
    kind=Network,
    knows="for one person, in the original: the number of neighbors and how many of them have "
    "each value of each published attribute, separately for each edge type and direction; "
    "or this and the person's own attributes",
    definition="the share of people whose list of neighbors' attributes is unique, in the original "
    "and in the release; and how many released nodes are at least as close to what is known as the "
    "person's own node, counted as in candidate-set. No method gives a guarantee against this",
    source="graphveil's own; without attributes: Hay et al., PVLDB 2008",
    cost=f"targets times edges times attributes, up to {candidate_set.MOST_NODES:,} nodes",
    compute=neighbor_attributes,
    seconds=seconds,
    options=NeighborAttributesOptions,
    said=(
        candidate_set.known_of_people(
            NEIGHBORS, "the published attributes of a person's neighbors", NEIGHBORS
        ),
        candidate_set.known_of_people(
            f"{NEIGHBORS}{candidate_set.WITH_ATTRIBUTES}",
            "the published attributes of a person and of the neighbors",
            "own attributes and those of the neighbors",
        ),
    ),
)
