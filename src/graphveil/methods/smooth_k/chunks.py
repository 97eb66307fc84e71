"""Rows in chunks, each clustered for itself: processes share them, and memory is a chunk's.

Orders of rows in which like ones stand near each other, so that chunks hold like rows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.data.ids import Ids
from graphveil.engines import current
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, collapse, profiles_of
from graphveil.methods.smooth_k.kernels import candidates as kernel
from graphveil.methods.smooth_k.options import Chunks, Order

Ints = NDArray[np.int64]

HASHES = 8
ITERATIONS = 6
SAMPLE = 200
COMMUNITIES = 64
SHARE_OF_CHUNK = 8
SPLITMIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))


def hashes_of(ids: Ids) -> NDArray[np.uint64]:
    """Return a hash of every id, 64 bits: of what it says, wherever it stands.

    Of an integer splitmix64, of text splitmix64 of the FNV-1a hash of its UTF-8.
    """
    if ids.dtype.kind == "i":
        return _mixed(np.asarray(ids, dtype=np.int64).view(np.uint64))
    texts = [text.encode("utf-8", "surrogatepass") for text in ids.tolist()]
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return hashes_of_texts(starts, np.frombuffer(b"".join(texts), dtype=np.uint8))


def hashes_of_texts(starts: Ints, letters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return what `hashes_of` gives for texts that lie one after the other.

    `starts`: int64, shape (n + 1,): text i is ``letters[starts[i]:starts[i + 1]]``; `letters`:
    uint8: the UTF-8 of all.

    >>> letters = np.frombuffer(b"tearye", dtype=np.uint8)
    >>> texts = np.array(["tea", "rye"], dtype=np.dtypes.StringDType())
    >>> bool((hashes_of_texts(np.array([0, 3, 6]), letters) == hashes_of(texts)).all())
    True
    """
    hashes = np.empty(starts.size - 1, dtype=np.uint64)
    kernel.text_hashes(_read_only(starts), _read_only(letters), hashes)
    return _mixed(hashes)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return splitmix64 of every word."""
    step, first, second = SPLITMIX
    words = words + step
    words = (words ^ (words >> np.uint64(30))) * first
    words = (words ^ (words >> np.uint64(27))) * second
    return words ^ (words >> np.uint64(31))


@dataclass(frozen=True)
class MinHash:
    """Eight random hashes of features; the smallest ones of a row are its signature.

    Rows agree in a hash with probability equal to their Jaccard similarity, so like rows tend to
    stand together. x of ``(A x + B) mod (2**31 - 1)`` is 1 more than the leading 31 bits of a
    name's hash.
    """

    multipliers: tuple[int, ...]
    offsets: tuple[int, ...]

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> MinHash:
        """Return hashes that are drawn from a stream."""
        multipliers = rng.integers(1, kernel.PRIME, HASHES)
        return cls(
            tuple(multipliers.tolist()), tuple(rng.integers(0, kernel.PRIME, HASHES).tolist())
        )

    def signatures(self, indptr: Ints, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return every row's smallest value of each hash; without features 2**31 - 1, above all."""
        smallest = np.full((indptr.size - 1, HASHES), kernel.PRIME, dtype=np.int32)
        factors = np.array(self.multipliers, dtype=np.int64), np.array(self.offsets, dtype=np.int64)
        kernel.row_signatures(_read_only(indptr), _read_only(hashes), *factors, smallest)
        return smallest

    def words(
        self, indptr: Ints, hashes: NDArray[np.uint64], users: NDArray[np.uint64]
    ) -> NDArray[np.uint64]:
        """Return five words a row, uint64, shape (n, 5): by them, in turn, rows are in order.

        The first four are the signature; the last is the hash of the user.
        """
        smallest = self.signatures(indptr, hashes).astype(np.uint64)
        words = np.empty((users.size, HASHES // 2 + 1), dtype=np.uint64)
        words[:, :-1] = (smallest[:, 0::2] << np.uint64(31)) | smallest[:, 1::2]
        words[:, -1] = users
        return words


def in_order(words: NDArray[np.uint64]) -> Ints:
    """Return the rows in the order of their words, int64, shape (n,); of equal ones the first.

    Few rows agree in their first word, so few are compared by the others.
    """
    order = np.argsort(words[:, 0], kind="stable")
    first = words[order, 0]
    like_last = np.concatenate([[False], first[1:] == first[:-1]])
    tied = np.flatnonzero(like_last | np.concatenate([like_last[1:], [False]]))
    order[tied] = order[tied][np.lexsort(words[order[tied]].T[::-1])]
    return order.astype(np.int64, copy=False)


def piece_of(words: NDArray[np.uint64], cuts: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Return the piece of every row, int32: how many cuts are at most its words.

    `words`: uint64, shape (n, w); `cuts`: uint64, shape (c, w), in order.
    """
    pieces = np.empty(words.shape[0], dtype=np.int32)
    kernel.pieces_of(_read_only(words), _read_only(cuts), pieces)
    return pieces


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array as one that cannot be written: one compiled version serves all callers."""
    view = array.view()
    view.flags.writeable = False
    return view


def order_of(data: Bipartite, order: Order, chunk_rows: int, rng: np.random.Generator) -> Ints:
    """Return the rows in the order that was asked for, int64, shape (n,)."""
    if order == "minhash":
        return minhash_order(data, rng)
    if order == "label-propagation":
        return label_propagation_order(data, chunk_rows, rng)
    return np.arange(data.n_users, dtype=np.int64)


def minhash_order(data: Bipartite, rng: np.random.Generator) -> Ints:
    """Return the rows in lexicographic order of their smallest hashes, those without features last.

    Hashes are of the names of features, and rows of equal signature stand in order of the hashes of
    their users: the order depends on what the rows say, not on how they stand in the data.
    """
    hashes = hashes_of(data.feature_labels())[data.indices]
    return in_order(MinHash.drawn(rng).words(data.indptr, hashes, hashes_of(data.labels())))


def label_propagation_order(data: Bipartite, chunk_rows: int, rng: np.random.Generator) -> Ints:
    """Return the rows so that communities stand together, nested three deep; empty ones last.

    Rows form communities of at most an eighth of a chunk by spreading labels over shared features;
    these form larger ones of at most 64 each, and those once more.
    """
    entry_rows, entry_features = data.rows().astype(np.int64), data.indices
    fine = _communities(entry_rows, entry_features, data, max(chunk_rows // SHARE_OF_CHUNK, 1), rng)
    middle = _communities(fine[entry_rows], entry_features, data, COMMUNITIES, rng)[fine]
    coarse = _communities(middle[entry_rows], entry_features, data, COMMUNITIES, rng)[middle]
    empty = np.diff(data.indptr) == 0
    return np.lexsort((fine, middle, coarse, empty))


def _communities(
    units: Ints, features: NDArray[np.int32], data: Bipartite, cap: int, rng: np.random.Generator
) -> Ints:
    """Return the label of every unit; units are numbered below the number of rows."""
    n, width = data.n_users, max(data.n_features, 1)
    keys = np.unique(units * width + features)
    by_unit, by_feature = keys // width, (keys % width).astype(np.int32)
    turned = np.argsort(by_feature, kind="stable")
    degrees = np.bincount(by_feature, minlength=data.n_features)
    incidence = kernel.Incidence(
        row_starts=np.searchsorted(by_unit, np.arange(n + 1)),
        features=by_feature,
        feature_starts=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
        rows=by_unit[turned].astype(np.int32),
    )
    weights = 1 / np.log2(2.0 + degrees)
    return kernel.spread_labels(incidence, weights, cap, SAMPLE, ITERATIONS, rng).astype(np.int64)


Cluster = Callable[[CollapsedRows, np.random.Generator], Labels]
"""Puts rows together; as a value that can be pickled."""

Refine = Callable[[CollapsedRows, Labels, np.random.Generator], Labels]
"""Improves clusters; as a value that can be pickled."""

FREQUENT = 3
"""A cluster is compared with others by the features that a third of its rows have."""


class Chunk(NamedTuple):
    """Some rows over the features that they have, and the chunk's own random stream."""

    indptr: Ints
    indices: NDArray[np.int32]
    rng: np.random.Generator
    labels: Labels | None = None

    def rows(self, columns: NDArray[np.int32] | None = None) -> CollapsedRows:
        """Return the distinct rows, over the features that occur in them."""
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

    The chunks run through the engine in use (`graphveil.engines.using`), which never changes
    the result.
    """
    with stage("sorting rows"):
        rows = order_of(data, chunks.order, chunks.rows, randomness.stream("order of rows"))
    pieces = np.array_split(rows, max(1, round(data.n_users / chunks.rows)))
    work = partial(_clustered, cluster, columns)
    labels = _clusters("clusters of chunk", work, data, pieces, randomness)
    if refine is None:
        return labels
    for number in range(1, chunks.rounds + 1):
        rng = randomness.stream(f"order of clusters, round {number}")
        pieces = whole_clusters(data, labels, chunks.rows, rng)
        purpose = f"round {number}, chunk"
        labels = _clusters(purpose, partial(_refined, refine), data, pieces, randomness, labels)
    return labels


def whole_clusters(
    data: Bipartite, labels: Labels, chunk_rows: int, rng: np.random.Generator
) -> list[Ints]:
    """Return the rows of pieces of about a chunk each, in which like clusters stand whole.

    Clusters are sorted by the smallest hashes of the features that a third of their rows have.
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
    work: Callable[[Chunk], Labels],
    data: Bipartite,
    pieces: list[Ints],
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


def chunk_of(data: Bipartite, piece: Ints, rng: np.random.Generator, known: Labels | None) -> Chunk:
    """Return some rows as a chunk, with the clusters that they have already.

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
