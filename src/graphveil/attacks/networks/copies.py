"""What an adversary holds who knows the ties of all people, more or less: a copy of the network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.besides import (
    Besides,
    CopyOf,
    layers_of,
    published_attributes,
)
from graphveil.attacks.networks.signatures import KnownRows
from graphveil.data import Graph, Layer, Network
from graphveil.evaluate.comparison import GraphComparison


class Pairing(NamedTuple):
    """A copy beside a release, both in orders of their own that say nothing of people.

    Parameters
    ----------
    copy, released
        The two graphs.
    truth
        int64, shape (n,): the released node of every node of the copy.
    person
        int64, shape (n,): whose node every node of the copy is, in the order of the original.
    present
        bool, shape (n,): which nodes of the copy are people whom it has; the others have no tie in
        it, and pad it to the size of the release.
    more
        What both say beside who is tied to whom; None for nothing.
    """

    copy: Graph
    released: Graph
    truth: NDArray[np.int64]
    person: NDArray[np.int64]
    present: NDArray[np.bool_]
    more: Besides | None = None

    @property
    def besides(self) -> Besides:
        """Ties by kind and direction, and attributes; where nothing is said of these, ties."""
        return Besides.of_graphs(self.copy, self.released) if self.more is None else self.more

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which nodes of the copy have a tie in it and one in the release: no others are named."""
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
    """Return a copy of the original that shares some ties with it, beside the release.

    Parameters
    ----------
    pair
        The original and the release, linked.
    overlap
        The share of the ties between people of the copy that stand in it, drawn evenly; of each
        kind.
    rng
        Draws ties, and an order for either graph: ties are then broken by chance.
    filled
        Whether random pairs stand in place of the others, so that the copy has as many ties.
    people
        The share of the people whom the copy has, drawn evenly.
    copy
        Whether it says of which kind and direction ties are and which attributes people have, as
        far as the release does.
    """
    n = pair.original.n_nodes
    those = _present(n, people, rng)
    layers = layers_of(pair) if copy == "network" else None
    before = (Layer.of(pair.original),) if layers is None else layers[0]
    drawn = [_drawn(layer, those, overlap, rng, filled=filled) for layer in before]
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
        return two._replace(more=Besides.of_layers(*sides, rows))
    if rows is not None:
        return two._replace(more=Besides.of_graphs(two.copy, two.released, rows))
    return two


NOT_KNOWN = np.int32(-1)
"""The code of an attribute that the copy does not say."""


def _drawn(
    layer: Layer,
    those: NDArray[np.int64],
    overlap: float,
    rng: np.random.Generator,
    *,
    filled: bool,
) -> Layer:
    """Return some ties of a layer between the people of a copy, and random pairs for the others."""
    n = layer.n_nodes
    number = np.full(n, -1, dtype=np.int32)
    number[those] = np.arange(those.size)
    edges: NDArray[np.int32] = number[np.column_stack(layer.ties())]
    edges = edges[(edges >= 0).all(axis=1)]
    kept = edges[rng.permutation(len(edges))[: round(overlap * len(edges))]]
    if filled:
        new = random_pairs(kept, those.size, len(edges), rng, directed=layer.directed)
        kept = np.concatenate([kept, new])
    source, target = those[kept[:, 0]], those[kept[:, 1]]
    if layer.directed:
        return Layer.from_arcs(source, target, n=n, name=layer.name)
    return Layer.of(Graph.from_edges(source, target, n=n), name=layer.name)


def of_people(people: float) -> str:
    """Return the words of a copy that has a share of the people; none where it has all.

    Examples
    --------
    >>> of_people(1.0), of_people(0.6)
    ('', ', 0.6 of the people')
    """
    return "" if people == 1 else f", {people:.3g} of the people"


def _present(n: int, people: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the people whom a copy has, in their order; nothing is drawn where it has all."""
    if people == 1:
        return np.arange(n)
    return np.sort(rng.choice(n, round(people * n), replace=False))


def random_pairs(
    edges: NDArray[np.int32],
    n: int,
    size: int,
    rng: np.random.Generator,
    *,
    directed: bool = False,
) -> NDArray[np.int32]:
    """Return pairs of nodes, evenly drawn among those that are no edge, to fill edges up to a size.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> random_pairs(np.array([[0, 1], [0, 2]]), 3, 3, rng).tolist()
    [[1, 2]]
    """
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
    known: NDArray[np.int64], n: int, size: int, rng: np.random.Generator, *, directed: bool
) -> NDArray[np.int64]:
    """Return new pairs, drawn one after another and drawn again where they are there already."""
    new = np.empty(0, dtype=np.int64)
    while (missing := size - known.size - new.size) > 0:
        ends = rng.integers(0, n, size=(2, missing))
        if not directed:
            ends = np.sort(ends, axis=0)
        drawn = (ends[0] * n + ends[1])[ends[0] != ends[1]]
        new = np.union1d(new, np.setdiff1d(drawn, known))
    return new
