"""A copy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.attacks.networks.copies.side_information import CopyOf, SideInformation, layers_of
from graphveil.attacks.networks.signatures import KnownRows, published_attributes
from graphveil.data import Graph, Layer, Network
from graphveil.evaluate.comparison import Bools, GraphComparison, Int32s, Ints

OVERLAP = (
    "share of the original edges between the people in the copy that the copy has; random pairs "
    "replace the others"
)

PEOPLE = "share of the people who are in the copy"
"""What is said of two options of attacks by copies."""


class Pairing(NamedTuple):
    """A copy next to a release, both in orders of their own that say nothing of people.

    `copy, released`: the two graphs; `truth`: int64, shape (n,): the released node of every node of
    the copy; `person`: int64, shape (n,): whose node every node of the copy is, in the order of the
    original; `present`: bool, shape (n,): which nodes of the copy are people whom it has; the
    others have no edge in it, and pad it to the size of the release; `more`: what both say apart
    from edges; None for nothing.
    """

    copy: Graph
    released: Graph
    truth: Ints
    person: Ints
    present: Bools
    more: SideInformation | None = None

    @property
    def side_information(self) -> SideInformation:
        """Edges by kind and direction, and attributes; where nothing is said of these, edges."""
        return (
            SideInformation.of_graphs(self.copy, self.released) if self.more is None else self.more
        )

    @property
    def active(self) -> Bools:
        """Which nodes of the copy have an edge in it and in the release: only these are named."""
        released = self.released.degrees()[self.truth]
        return (self.copy.degrees() > 0) & (released > 0)


def pairing(
    pair: GraphComparison,
    overlap: float,
    rng: np.random.Generator,
    *,
    filled: bool = True,
    people: float = 1.0,
    copy: CopyOf = "network",
) -> Pairing:
    """Return a copy of the original that shares some edges with it, next to the release.

    `overlap`: the share of the edges between people of the copy that stand in it, by kind; where
    `filled`, random pairs stand in place of the others. Both graphs come in a random order, so that
    equal ones are chosen by chance.
    """
    n = pair.original.n_nodes
    whole = people == 1  # nothing is drawn then
    those = np.arange(n) if whole else np.sort(rng.choice(n, round(people * n), replace=False))
    layers = layers_of(pair) if copy == "network" else None
    before = (Layer.of(pair.original),) if layers is None else layers[0]
    drawn = [_copied_layer(layer, those, overlap, rng, filled=filled) for layer in before]
    person, order = (rng.permutation(n) for _ in range(2))
    shuffled = np.empty_like(order)
    shuffled[order] = np.arange(order.size)
    present = np.zeros(n, dtype=np.bool_)
    present[those] = True
    two = Pairing(
        copy=Network(tuple(drawn)).undirected().permuted(person),
        released=pair.released.permuted(order),
        truth=shuffled[pair.linked[person]],
        person=person,
        present=present[person],
    )
    rows = published_attributes(pair) if copy == "network" else None
    if rows is not None:
        known = np.where(two.present[:, None], rows.known[person], NOT_KNOWN)
        rows = KnownRows(known, rows.shown[order])
    if layers is not None:
        sides = [layer.permuted(person) for layer in drawn], [e.permuted(order) for e in layers[1]]
        return two._replace(more=SideInformation.of_layers(*sides, rows))
    if rows is not None:
        return two._replace(more=SideInformation.of_graphs(two.copy, two.released, rows))
    return two


NOT_KNOWN = np.int32(-1)
"""The code of an attribute that the copy does not say."""


def _copied_layer(
    layer: Layer, those: Ints, overlap: float, rng: np.random.Generator, *, filled: bool
) -> Layer:
    """Return some edges of a layer between people of a copy, and random pairs for the others."""
    n = layer.n_nodes
    number = np.full(n, -1, dtype=np.int32)
    number[those] = np.arange(those.size)
    edges: Int32s = number[np.column_stack(layer.ties())]
    edges = edges[(edges >= 0).all(axis=1)]
    kept = edges[rng.permutation(len(edges))[: round(overlap * len(edges))]]
    if filled:
        new = random_pairs(kept, those.size, len(edges), rng, directed=layer.directed)
        kept = np.concatenate([kept, new])
    source, target = those[kept[:, 0]], those[kept[:, 1]]
    if layer.directed:
        return Layer.from_arcs(source, target, n=n, name=layer.name)
    return Layer.of(Graph.from_edges(source, target, n=n), name=layer.name)


def random_pairs(
    edges: Int32s, n: int, size: int, rng: np.random.Generator, *, directed: bool = False
) -> Int32s:
    """Return evenly drawn pairs of nodes that are not edges, to fill edges up to a size."""
    known = edges[:, 0].astype(np.int64) * n + edges[:, 1]
    cells = n * (n - 1) // (1 if directed else 2)
    if cells <= 4 * size:
        source, target = np.triu_indices(n, k=1)
        if directed:
            source, target = np.concatenate([source, target]), np.concatenate([target, source])
        free = np.setdiff1d(source * n + target, known)
        new = free[rng.permutation(free.size)[: size - known.size]]
    else:
        new = _by_rejection(known, n, size, rng, directed=directed)
    return np.column_stack([new // n, new % n]).astype(np.int32)


def _by_rejection(
    known: Ints, n: int, size: int, rng: np.random.Generator, *, directed: bool
) -> Ints:
    """Return new pairs, drawn one after another and drawn again where they are there already."""
    new = np.empty(0, dtype=np.int64)
    while (missing := size - known.size - new.size) > 0:
        ends = rng.integers(0, n, size=(2, missing))
        if not directed:
            ends = np.sort(ends, axis=0)
        drawn = (ends[0] * n + ends[1])[ends[0] != ends[1]]
        new = np.union1d(new, np.setdiff1d(drawn, known))
    return new


NOBODY = -1
