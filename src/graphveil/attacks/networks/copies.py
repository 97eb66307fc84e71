"""What an adversary holds who knows the ties of all people, more or less: a copy of the network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
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
    """

    copy: Graph
    released: Graph
    truth: NDArray[np.int64]
    person: NDArray[np.int64]
    present: NDArray[np.bool_]

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
) -> Pairing:
    """Return a copy of the original that shares some edges with it, beside the release.

    Parameters
    ----------
    pair
        The original and the release, linked.
    overlap
        The share of the edges between people of the copy that stand in it, drawn evenly.
    rng
        Draws edges, and an order for either graph: ties are then broken by chance.
    filled
        Whether random pairs stand in place of the others, so that the copy has as many edges.
    people
        The share of the people whom the copy has, drawn evenly.
    """
    original = pair.original
    those = _present(original.n_nodes, people, rng)
    number = np.full(original.n_nodes, -1, dtype=np.int32)
    number[those] = np.arange(those.size)
    edges: NDArray[np.int32] = number[original.edges()]
    edges = edges[(edges >= 0).all(axis=1)]
    kept = edges[rng.permutation(len(edges))[: round(overlap * len(edges))]]
    if filled:
        kept = np.concatenate([kept, random_pairs(kept, those.size, len(edges), rng)])
    copy = Graph.from_edges(those[kept[:, 0]], those[kept[:, 1]], n=original.n_nodes)
    person, order = (rng.permutation(original.n_nodes) for _ in range(2))
    shuffled = np.empty_like(order)
    shuffled[order] = np.arange(order.size)
    return Pairing(
        copy=copy.permuted(person),
        released=pair.released.permuted(order),
        truth=shuffled[pair.linked[person]],
        person=person,
        present=number[person] >= 0,
    )


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
    edges: NDArray[np.int32], n: int, size: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return pairs of nodes, evenly drawn among those that are no edge, to fill edges up to a size.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> random_pairs(np.array([[0, 1], [0, 2]]), 3, 3, rng).tolist()
    [[1, 2]]
    """
    known = edges[:, 0].astype(np.int64) * n + edges[:, 1]
    cells = n * (n - 1) // 2
    if cells <= 4 * size:
        source, target = np.triu_indices(n, k=1)
        free = np.setdiff1d(source * n + target, known)
        new = free[rng.permutation(free.size)[: size - known.size]]
    else:
        new = _by_rejection(known, n, size, rng)
    return np.column_stack([new // n, new % n]).astype(np.int32)


def _by_rejection(
    known: NDArray[np.int64], n: int, size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return new pairs, drawn one after another and drawn again where they are there already."""
    new = np.empty(0, dtype=np.int64)
    while (missing := size - known.size - new.size) > 0:
        ends = np.sort(rng.integers(0, n, size=(2, missing)), axis=0)
        drawn = (ends[0] * n + ends[1])[ends[0] < ends[1]]
        new = np.union1d(new, np.setdiff1d(drawn, known))
    return new
