"""A copy of the network next to a release, in orders that say nothing about people.

Attacks with a copy model an attacker who holds other data about the same people: a crawl, an
earlier version, a part. The copy has a share `people` of the people and a share `overlap` of the
edges between them; random pairs replace the other edges (`filled`), so that the copy has as many
edges as the original has between these people, some of them false. This noise model is graphveil's
own.

Both graphs come in a random order: a search that takes the first of equal candidates is then right
by chance alone. The copy is padded to n nodes with nodes without edges, for people whom it lacks.
Cost: linear in nodes and edges, for dense graphs n squared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks.networks.copies.side_information import CopyOf, SideInformation, layers_of
from graphveil.attacks.networks.signatures import KnownRows, published_attributes
from graphveil.core.array_types import Ints
from graphveil.core.parameters import parameter
from graphveil.data import Graph, Layer, Network
from graphveil.evaluate.comparison import Bools, GraphComparison, Int32s

OVERLAP = (
    "share of the original edges between the people in the copy that the copy has; random pairs "
    "replace the others"
)
"""Help texts of two options of attacks by copies."""

PEOPLE = "share of the people who are in the copy"
"""What is said of two options of attacks by copies."""


def overlaps_parameter(tried: Sequence[float]) -> Any:
    """Return the option of the overlap of a copy, which has all of `tried` if it is not set."""
    every = ", ".join(f"{overlap:g}" for overlap in tried)
    return parameter(default=None, text=OVERLAP, minimum=0, maximum=1, unset=every)


def known_parameter(tried: Sequence[int]) -> Any:
    """Return the option of how many people are known: all of `tried` if it is not set."""
    text = "number of people whose released node is known; 0 for none"
    return parameter(default=None, text=text, minimum=0, unset=", ".join(map(str, tried)))


NOT_KNOWN = np.int32(-1)
"""The code of an attribute that the copy does not say."""

NOBODY = -1
"""In a match: the node of nobody."""


class Pairing(NamedTuple):
    """A copy next to a release, both in orders of their own that say nothing of people.

    Searches read neither `person` nor, except for people known beforehand, `truth`: these score the
    names that they give.

    Parameters
    ----------
    copy, released : Graph
        The two graphs, of n nodes each.
    truth : int64, shape (n,)
        The released node of every node of the copy.
    person : int64, shape (n,)
        Whose node every node of the copy is, in the order of the original.
    present : bool, shape (n,)
        Which nodes of the copy are people whom it has; the others have no edge in it, and pad it to
        the size of the release.
    side_information : SideInformation
        Edges by type and direction, and attributes; without these, the edges of both graphs.
    """

    copy: Graph
    released: Graph
    truth: Ints
    person: Ints
    present: Bools
    side_information: SideInformation

    @property
    def active(self) -> Bools:
        """Which nodes of the copy have an edge in it and in the release: only these are counted."""
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

    Parameters
    ----------
    pair : GraphComparison
        Original and release, linked.
    overlap : float
        The share of the edges between people of the copy that are in it, by edge type.
    rng : numpy.random.Generator
        Draws people, edges, false edges and both orders.
    filled : bool
        Whether random pairs replace the other edges.
    people : float
        The share of the people whom the copy has.
    copy : {"network", "ties"}
        Whether it has directions, types and attributes, or only who is connected.

    Returns
    -------
    Pairing
        Both graphs in random orders.
    """
    n = pair.original.n_nodes
    # Step 1: who is in the copy, and which edges, layer by layer.
    complete = people == 1  # nothing is drawn then
    members = np.arange(n) if complete else np.sort(rng.choice(n, round(people * n), replace=False))
    layers = layers_of(pair) if copy == "network" else None
    before = (Layer.of(pair.original),) if layers is None else layers[0]
    copied = [_copied_layer(layer, members, overlap, rng, filled=filled) for layer in before]
    # Step 2: random orders of both sides; `truth` is the linkage in these orders.
    person, order = (rng.permutation(n) for _ in range(2))
    shuffled = np.empty_like(order)
    shuffled[order] = np.arange(order.size)
    present = np.zeros(n, dtype=np.bool_)
    present[members] = True
    graphs = Network(tuple(copied)).undirected().permuted(person), pair.released.permuted(order)
    # Step 3: attributes, and edges by type and direction, in the same orders; nothing is known of
    # people who are not in the copy.
    rows = published_attributes(pair) if copy == "network" else None
    if rows is not None:
        known = np.where(present[person, None], rows.known[person], NOT_KNOWN)
        rows = KnownRows(known, rows.shown[order])
    if layers is None:
        both = SideInformation.of_graphs(*graphs, rows)
    else:
        sides = [layer.permuted(person) for layer in copied], [e.permuted(order) for e in layers[1]]
        both = SideInformation.of_layers(*sides, rows)
    return Pairing(*graphs, shuffled[pair.linked[person]], person, present[person], both)


def _copied_layer(
    layer: Layer, members: Ints, overlap: float, rng: np.random.Generator, *, filled: bool
) -> Layer:
    """Return some edges of a layer between people of a copy, and random pairs for the others.

    Nodes keep their numbers; people who are not in the copy have no edges.
    """
    n = layer.n_nodes
    # Number the people of the copy, so that random pairs are among these alone.
    number = np.full(n, -1, dtype=np.int32)
    number[members] = np.arange(members.size)
    edges: Int32s = number[np.column_stack(layer.ties())]
    edges = edges[(edges >= 0).all(axis=1)]
    kept = edges[rng.permutation(len(edges))[: round(overlap * len(edges))]]
    if filled:
        new = random_pairs(kept, members.size, len(edges), rng, directed=layer.directed)
        kept = np.concatenate([kept, new])
    source, target = members[kept[:, 0]], members[kept[:, 1]]
    if layer.directed:
        return Layer.from_arcs(source, target, n=n, name=layer.name)
    return Layer.of(Graph.from_edges(source, target, n=n), name=layer.name)


def random_pairs(
    edges: Int32s, n: int, size: int, rng: np.random.Generator, *, directed: bool = False
) -> Int32s:
    """Return uniformly sampled pairs of nodes that are not edges, to fill edges up to a size.

    Parameters
    ----------
    edges : int32, shape (edges, 2)
        The edges that are kept.
    n : int
        Number of nodes.
    size : int
        How many pairs, edges and new ones together, there should be.
    rng : numpy.random.Generator
        Draws the pairs.
    directed : bool
        Whether (u, v) and (v, u) differ.

    Returns
    -------
    int32, shape (new pairs, 2)
        The new pairs; fewer if the graph is full.
    """
    known = edges[:, 0].astype(np.int64) * n + edges[:, 1]
    cells = n * (n - 1) // (1 if directed else 2)
    # In dense graphs all free pairs are listed and shuffled; else pairs are sampled and repeated
    # ones rejected, which needs few rounds as long as most pairs are free.
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
    """Return new pairs as numbers u * n + v: sampled uniformly, repeated ones sampled again."""
    new = np.empty(0, dtype=np.int64)
    while (missing := size - known.size - new.size) > 0:
        ends = rng.integers(0, n, size=(2, missing))
        if not directed:
            ends = np.sort(ends, axis=0)
        sampled = (ends[0] * n + ends[1])[ends[0] != ends[1]]
        new = np.union1d(new, np.setdiff1d(sampled, known))
    return new
