"""Rows in chunks, each clustered for itself: processes share them, and memory is a chunk's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite
from graphveil.engines import current
from graphveil.errors import ParameterError
from graphveil.methods.equal_rows.rows import Labels, Rows, collapse
from graphveil.methods.equal_rows.rule import profiles
from graphveil.methods.smooth_k.orders import Order, minhash_order, order_of
from graphveil.progress import stage
from graphveil.randomness import Randomness

Cluster = Callable[[Rows, np.random.Generator], Labels]
"""Puts rows together; as a value that can be pickled."""

Refine = Callable[[Rows, Labels, np.random.Generator], Labels]
"""Improves clusters; as a value that can be pickled."""

FREQUENT = 3
"""A cluster is compared with others by the features that a third of its rows have."""


class Chunk(NamedTuple):
    """Some rows over the features that they have, and the chunk's own random stream.

    Parameters
    ----------
    indptr, indices
        As in `Bipartite`.
    rng
        What its clusters are drawn from.
    labels
        The clusters of the rows, where there are some already.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    rng: np.random.Generator
    labels: Labels | None = None

    def rows(self) -> Rows:
        """Return the distinct rows, over the features that occur in them."""
        used, indices = np.unique(self.indices, return_inverse=True)
        return collapse(Bipartite(self.indptr, indices.astype(np.int32), used.size))


@dataclass(frozen=True)
class Clustered:
    """Clusters the rows of a chunk."""

    cluster: Cluster

    def __call__(self, chunk: Chunk) -> Labels:
        """Return the cluster of every row of the chunk."""
        return self.cluster(chunk.rows(), chunk.rng)


@dataclass(frozen=True)
class Refined:
    """Refines the clusters of a chunk."""

    refine: Refine

    def __call__(self, chunk: Chunk) -> Labels:
        """Return the new cluster of every row of the chunk."""
        if chunk.labels is None:
            raise TypeError("a chunk without clusters cannot be refined")
        return self.refine(chunk.rows(), chunk.labels, chunk.rng)


def in_chunks(
    data: Bipartite,
    *,
    k: int,
    chunk_rows: int,
    order: Order,
    rounds: int,
    cluster: Cluster,
    refine: Refine | None,
    randomness: Randomness,
) -> Labels:
    """Return the cluster of every row; no cluster reaches over two chunks.

    The chunks run through the engine in use (`graphveil.engines.using`), which never changes the
    result.

    Parameters
    ----------
    data
        The rows.
    k
        The smallest cluster.
    chunk_rows
        About how many rows a chunk has, at least 2k.
    order
        How like rows come together.
    rounds
        How often the clusters are sorted anew and refined inside chunks of whole clusters.
    cluster, refine
        What is done with a chunk; `refine` may be None where there are no rounds.
    randomness
        Every chunk draws from a stream of its own.

    Raises
    ------
    ParameterError
        Where `chunk_rows` is below 2k, or there are rounds of nothing.

    Examples
    --------
    >>> data = Bipartite.from_lists([[0], [1], [0], [1], [0], [1], [0], [1]])
    >>> together = lambda rows, rng: np.zeros(rows.n_rows, dtype=np.int32)
    >>> labels = in_chunks(
    ...     data, k=2, chunk_rows=4, order="minhash", rounds=0, cluster=together, refine=None,
    ...     randomness=Randomness(seed=1),
    ... )
    >>> bool(labels[0] == labels[2] != labels[1])
    True
    """
    check_chunk_rows(chunk_rows, k)
    if rounds and refine is None:
        raise ParameterError(f"rounds={rounds} need the local search. Turn it on, or say rounds=0.")
    with stage("sorting rows"):
        rows = order_of(data, order, chunk_rows, randomness.stream("order of rows"))
    pieces = np.array_split(rows, max(1, round(data.n_users / chunk_rows)))
    labels = _clusters("clusters of chunk", Clustered(cluster), data, pieces, randomness)
    if refine is None:
        return labels
    for number in range(1, rounds + 1):
        rng = randomness.stream(f"order of clusters, round {number}")
        pieces = whole_clusters(data, labels, chunk_rows, rng)
        purpose = f"round {number}, chunk"
        labels = _clusters(purpose, Refined(refine), data, pieces, randomness, labels)
    return labels


def check_chunk_rows(chunk_rows: int, k: int) -> None:
    """Refuse chunks in which there is no choice of clusters.

    Raises
    ------
    ParameterError
        Where `chunk_rows` is below 2k.
    """
    if chunk_rows < 2 * k:
        raise ParameterError(
            f"chunk_rows={chunk_rows} is below 2k={2 * k}. Raise it, or leave it out."
        )


def whole_clusters(
    data: Bipartite, labels: Labels, chunk_rows: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return the rows of pieces of about a chunk each, in which like clusters stand whole.

    Clusters are sorted by the smallest hashes of the features that a third of their rows have.

    Examples
    --------
    >>> data = Bipartite.from_lists([[0], [1], [0], [1]])
    >>> rng = Randomness(seed=1).stream("order")
    >>> sorted(piece.tolist() for piece in whole_clusters(data, np.array([0, 1, 0, 1]), 2, rng))
    [[0, 2], [1, 3]]
    """
    found = profiles(collapse(data), labels)
    frequent = FREQUENT * found.counts >= found.sizes[found.clusters]
    degrees = np.bincount(found.clusters[frequent], minlength=found.sizes.size)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    order = minhash_order(Bipartite(indptr, found.features[frequent], data.n_features), rng)
    sizes = found.sizes[order]
    n_pieces = max(1, round(data.n_users / chunk_rows))
    place = np.empty_like(order)
    place[order] = (2 * np.cumsum(sizes) - sizes) * n_pieces // (2 * data.n_users)
    of_row = place[labels]
    rows = np.argsort(of_row, kind="stable")
    cuts = np.flatnonzero(np.diff(of_row[rows])) + 1
    return np.split(rows, cuts)


def _clusters(
    purpose: str,
    work: Clustered | Refined,
    data: Bipartite,
    pieces: list[NDArray[np.int64]],
    randomness: Randomness,
    known: Labels | None = None,
) -> Labels:
    """Return the cluster of every row after all pieces are done, each as a chunk."""
    chunks = (
        chunk_of(data, piece, randomness.stream(f"{purpose} {number}"), known)
        for number, piece in enumerate(pieces)
    )
    labels = np.empty(data.n_users, dtype=np.int32)
    n_clusters = 0
    with (
        stage(f"{purpose}s", total=len(pieces)) as advance,
        closing(current().map_chunks(work, chunks)) as results,
    ):
        for piece, found in zip(pieces, results, strict=True):
            labels[piece] = found + n_clusters
            n_clusters += int(found.max()) + 1
            advance(1)
    return labels


def chunk_of(
    data: Bipartite, piece: NDArray[np.int64], rng: np.random.Generator, known: Labels | None
) -> Chunk:
    """Return some rows as a chunk, with the clusters that they have already.

    Examples
    --------
    >>> data = Bipartite.from_lists([[0], [1, 2], [0]])
    >>> rng = Randomness(seed=1).stream("chunk")
    >>> chunk_of(data, np.array([1, 0]), rng, None).indices.tolist()
    [1, 2, 0]
    """
    degrees = np.diff(data.indptr)[piece]
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    places = np.repeat(data.indptr[piece] - indptr[:-1], degrees) + np.arange(indptr[-1])
    labels = None
    if known is not None:
        labels = np.unique(known[piece], return_inverse=True)[1].astype(np.int32)
    return Chunk(indptr, data.indices[places], rng, labels)
