"""Rows in chunks, each clustered by itself: processes share them, and memory is that of a chunk.

Esfandiari et al., appendix D: rows are sorted so that similar ones are neighbors, the sequence is
divided into nearly equal pieces, and every piece is anonymized independently. No cluster reaches
over two chunks, so the guarantee holds in each and in all together. Every chunk has a random stream
of its own, so the result does not depend on who works on it, or in which order.

graphveil's own: rounds. After the first clustering, entire clusters are sorted and divided into
chunks again, and the local search goes on inside each.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.data.csr import taken
from graphveil.engines import current
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, collapse, profiles_of
from graphveil.methods.smooth_k.options import Chunks
from graphveil.methods.smooth_k.row_orders import minhash_order, order_of

Cluster = Callable[[CollapsedRows, np.random.Generator], Labels]
"""Puts the rows of a chunk together; a value that can be pickled."""

Refine = Callable[[CollapsedRows, Labels, np.random.Generator], Labels]
"""Improves the clusters of a chunk; a value that can be pickled."""

FREQUENT = 3
"""Between rounds, clusters are compared by the features that at least one row in this many has: a
third of the rows. These include everything that a cluster publishes, since theta is at least 1/2,
and features that it nearly publishes. A larger value compares by rarer features too."""


class Chunk(NamedTuple):
    """Some rows over the features that they have, and the chunk's own random stream.

    Parameters
    ----------
    indptr, indices
        int64 and int32: the rows of the chunk over the features of the data.
    rng
        The chunk's stream.
    labels
        int32: the clusters of its rows, numbered from 0; None if there are none yet.
    """

    indptr: Ints
    indices: NDArray[np.int32]
    rng: np.random.Generator
    labels: Labels | None = None

    def rows(self, columns: NDArray[np.int32] | None = None) -> CollapsedRows:
        """Return the distinct rows, over the features that occur in them, numbered anew.

        `columns`: the column of every feature of the data, if rows are put together by columns.
        """
        used, indices = np.unique(self.indices, return_inverse=True)
        rows = collapse(Bipartite(self.indptr, indices.astype(np.int32), used.size))
        return rows if columns is None else rows._replace(columns=columns[used])


def _clustered(cluster: Cluster, columns: NDArray[np.int32] | None, chunk: Chunk) -> Labels:
    return cluster(chunk.rows(columns), chunk.rng)


def _refined(refine: Refine, chunk: Chunk) -> Labels:
    if chunk.labels is None:
        raise TypeError("a chunk without clusters cannot be refined")
    return refine(chunk.rows(), chunk.labels, chunk.rng)


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
        All rows.
    chunks
        The size of a chunk, the order of the rows, and the number of rounds.
    cluster, refine
        What works on a chunk; `refine` is None without rounds.
    columns
        int32, shape (n_features,): the column of every feature, or None.
    randomness
        From it every order and every chunk has a stream by name.

    Returns
    -------
    ndarray
        int32, shape (n,).
    """
    # Step 1 (appendix D): sort the rows, and divide the sequence into nearly equal pieces.
    with stage("sorting rows"):
        rows = order_of(data, chunks.order, chunks.rows, randomness.stream("order of rows"))
    pieces = np.array_split(rows, max(1, round(data.n_users / chunks.rows)))
    # Step 2: cluster every piece by itself.
    work = partial(_clustered, cluster, columns)
    labels = _clusters("clusters of chunk", work, data, pieces, randomness)
    if refine is None:
        return labels
    # Step 3: rounds. Clusters stay entire, but meet others than before.
    for number in range(1, chunks.rounds + 1):
        rng = randomness.stream(f"order of clusters, round {number}")
        pieces = whole_clusters(data, labels, chunks.rows, rng)
        purpose = f"round {number}, chunk"
        labels = _clusters(purpose, partial(_refined, refine), data, pieces, randomness, labels)
    return labels


def whole_clusters(
    data: Bipartite, labels: Labels, chunk_rows: int, rng: np.random.Generator
) -> list[Ints]:
    """Return the rows of pieces of about a chunk each, in which similar clusters are entire.

    Clusters are sorted by the min-hashes of the features that at least a third of their rows have.
    """
    # Step 1: the frequent features of every cluster, as a data set whose rows are clusters.
    profiles = profiles_of(collapse(data), labels)
    frequent = FREQUENT * profiles.counts >= profiles.sizes[profiles.clusters]
    degrees = np.bincount(profiles.clusters[frequent], minlength=profiles.sizes.size)
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    lists = indptr, profiles.features[frequent], data.n_features
    # Step 2: sort the clusters, and put each into the piece in which the middle of its rows falls:
    # with c rows up to its end and s of its own, the middle is at c - s / 2 of n rows.
    order = minhash_order(Bipartite(*lists, features=data.features), rng)
    sizes = profiles.sizes[order]
    n_pieces = max(1, round(data.n_users / chunk_rows))
    piece = np.empty_like(order)
    piece[order] = (2 * np.cumsum(sizes) - sizes) * n_pieces // (2 * data.n_users)
    # Step 3: the rows of every piece.
    piece_of_row = piece[labels]
    rows = np.argsort(piece_of_row, kind="stable")
    cuts = np.flatnonzero(np.diff(piece_of_row[rows])) + 1
    return np.split(rows, cuts)


def _clusters(
    purpose: str,
    work: Callable[[Chunk], Labels],
    data: Bipartite,
    pieces: list[Ints],
    randomness: Randomness,
    start: Labels | None = None,
) -> Labels:
    """Return the cluster of every row after all pieces are done, each as a chunk.

    `start`: the clusters to start from, which pieces never divide; None for the first clustering.
    """
    # Chunks are made one by one, as the engine takes them, each with its own stream.
    chunks = (
        chunk_of(data, piece, randomness.stream(f"{purpose} {number}"), start)
        for number, piece in enumerate(pieces)
    )
    # Clusters of later chunks are numbered after those of earlier ones.
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


def chunk_of(data: Bipartite, piece: Ints, rng: np.random.Generator, start: Labels | None) -> Chunk:
    """Return some rows as a chunk, with the clusters that they have already.

    >>> data = Bipartite.from_lists([[0], [1, 2], [0]])
    >>> rng = Randomness(seed=1).stream("chunk")
    >>> chunk_of(data, np.array([1, 0]), rng, None).indices.tolist()
    [1, 2, 0]
    """
    indptr, entries = taken(data.indptr, piece)
    labels = None
    if start is not None:
        labels = np.unique(start[piece], return_inverse=True)[1].astype(np.int32)
    return Chunk(indptr, data.indices[entries], rng, labels)
