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
from graphveil.methods.equivalence_classes.rows import CollapsedRows, Labels, collapse
from graphveil.methods.equivalence_classes.rule import profiles_of
from graphveil.methods.smooth_k.options import Chunks
from graphveil.methods.smooth_k.orders import minhash_order, order_of
from graphveil.progress import stage
from graphveil.randomness import Randomness

Cluster = Callable[[CollapsedRows, np.random.Generator], Labels]
"""Puts rows together; as a value that can be pickled."""

Refine = Callable[[CollapsedRows, Labels, np.random.Generator], Labels]
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

    def rows(self, columns: NDArray[np.int32] | None = None) -> CollapsedRows:
        """Return the distinct rows, over the features that occur in them.

        Parameters
        ----------
        columns
            As in `CollapsedRows`, of all features of the data.
        """
        used, indices = np.unique(self.indices, return_inverse=True)
        rows = collapse(Bipartite(self.indptr, indices.astype(np.int32), used.size))
        return rows if columns is None else rows._replace(columns=columns[used])


@dataclass(frozen=True)
class ClusteredChunk:
    """Clusters the rows of a chunk."""

    cluster: Cluster
    columns: NDArray[np.int32] | None = None

    def __call__(self, chunk: Chunk) -> Labels:
        """Return the cluster of every row of the chunk."""
        return self.cluster(chunk.rows(self.columns), chunk.rng)


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
    chunks: Chunks,
    cluster: Cluster,
    refine: Refine | None = None,
    columns: NDArray[np.int32] | None = None,
    randomness: Randomness,
) -> Labels:
    """Return the cluster of every row; no cluster reaches over two chunks.

    The chunks run through the engine in use (`graphveil.engines.using`), which never changes the
    result.

    Parameters
    ----------
    data
        The rows.
    chunks
        How many rows a chunk has, how like rows come together, and how often the clusters are
        sorted anew and refined inside chunks of whole clusters.
    cluster, refine
        What is done with a chunk first, and in every round, where there are any.
    columns
        The column of every feature, where the rows are of a table.
    randomness
        Every chunk draws from a stream of its own.

    Examples
    --------
    >>> data = Bipartite.from_lists([[0], [1], [0], [1], [0], [1], [0], [1]])
    >>> together = lambda rows, rng: np.zeros(rows.n_rows, dtype=np.int32)
    >>> labels = in_chunks(
    ...     data, chunks=Chunks(rows=4), cluster=together, randomness=Randomness(seed=1)
    ... )
    >>> bool(labels[0] == labels[2] != labels[1])
    True
    """
    with stage("sorting rows"):
        rows = order_of(data, chunks.order, chunks.rows, randomness.stream("order of rows"))
    pieces = np.array_split(rows, max(1, round(data.n_users / chunks.rows)))
    work = ClusteredChunk(cluster, columns)
    labels = _clusters("clusters of chunk", work, data, pieces, randomness)
    if refine is None:
        return labels
    for number in range(1, chunks.rounds + 1):
        rng = randomness.stream(f"order of clusters, round {number}")
        pieces = whole_clusters(data, labels, chunks.rows, rng)
        purpose = f"round {number}, chunk"
        labels = _clusters(purpose, Refined(refine), data, pieces, randomness, labels)
    return labels


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
    profiles = profiles_of(collapse(data), labels)
    frequent = FREQUENT * profiles.counts >= profiles.sizes[profiles.clusters]
    degrees = np.bincount(profiles.clusters[frequent], minlength=profiles.sizes.size)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    lists = indptr, profiles.features[frequent], data.n_features
    order = minhash_order(Bipartite(*lists, features=data.features), rng)
    sizes = profiles.sizes[order]
    n_pieces = max(1, round(data.n_users / chunk_rows))
    piece = np.empty_like(order)
    piece[order] = (2 * np.cumsum(sizes) - sizes) * n_pieces // (2 * data.n_users)
    piece_of_row = piece[labels]
    rows = np.argsort(piece_of_row, kind="stable")
    cuts = np.flatnonzero(np.diff(piece_of_row[rows])) + 1
    return np.split(rows, cuts)


def _clusters(
    purpose: str,
    work: ClusteredChunk | Refined,
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
        for piece, of_chunk in zip(pieces, results, strict=True):
            labels[piece] = of_chunk + n_clusters
            n_clusters += int(of_chunk.max()) + 1
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
    entries = np.repeat(data.indptr[piece] - indptr[:-1], degrees) + np.arange(indptr[-1])
    labels = None
    if known is not None:
        labels = np.unique(known[piece], return_inverse=True)[1].astype(np.int32)
    return Chunk(indptr, data.indices[entries], rng, labels)
