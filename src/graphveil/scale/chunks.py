"""Chunks of rows: where they are cut, what a worker does with one; and rows of Spark as input.

Cuts are keys of sampled rows, so that nothing is sorted in full. If every row is sampled, the
chunks are those of a run in memory.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import (
    Labels,
    Profiles,
    collapse,
    profiles_of,
    released,
)
from graphveil.methods.smooth_k.row_orders import MinHash, in_order, piece_of
from graphveil.methods.smooth_k.smooth_k import Clustered
from graphveil.scale import columns
from graphveil.scale.columns import ItemLists, coded, name_hashes

SAMPLED_OF_A_CHUNK = 64
"""How many rows of a chunk are sampled at least, on average: with more, chunks have more equal
sizes."""

SAMPLED = 10**6
"""How many rows are sampled at least, where there are as many."""

RATES = 1 << 16
"""Rates of sampling are multiples of 1 / RATES."""


@dataclass(frozen=True)
class ByWords:
    """Rows in the order of words of 64 bits: of their smallest hashes, or of integers as users.

    `hashes`: the MinHash of a row's items, which puts rows with many items in common next to each
    other; None for rows in the order of their users.
    """

    hashes: MinHash | None

    @property
    def schema(self) -> pa.Schema:
        """The columns of a key."""
        n = 1 if self.hashes is None else len(self.hashes.offsets) // 2 + 1
        return pa.schema([(f"word{number}", pa.int64()) for number in range(n)])

    def words(self, rows: ItemLists) -> NDArray[np.uint64]:
        """Return the key of every row, uint64, shape (n, words)."""
        if self.hashes is None:
            return np.asarray(rows.users.to_numpy(), dtype=np.uint64).reshape(-1, 1)
        return self.hashes.words(rows.indptr, name_hashes(rows.values), name_hashes(rows.users))

    def keys(self, rows: ItemLists) -> pa.RecordBatch:
        """Return the key of every row as columns."""
        words = self.words(rows).view(np.int64)
        return pa.RecordBatch.from_arrays([pa.array(word) for word in words.T], schema=self.schema)

    def in_order(self, rows: ItemLists) -> NDArray[np.int64]:
        """Return the rows in the order of their keys."""
        return in_order(self.words(rows))

    def cuts(self, keys: pa.Table, n_chunks: int) -> NDArray[np.uint64]:
        """Return the keys at which all chunks but the first begin, in order."""
        # Sort by the leading word alone: most cuts are decided by it.
        words = np.stack([key.to_numpy() for key in keys.columns], axis=1).view(np.uint64)
        order = np.argsort(words[:, 0], kind="stable")
        leading = words[order, 0]
        cuts = np.empty((n_chunks - 1, words.shape[1]), dtype=np.uint64)
        for number, at in enumerate(starts(keys.num_rows, n_chunks)):
            # Among rows with the same leading word, the full keys decide.
            first = int(np.searchsorted(leading, leading[at], side="left"))
            end = int(np.searchsorted(leading, leading[at], side="right"))
            alike = words[order[first:end]]
            cuts[number] = alike[in_order(alike)[at - first]]
        return cuts

    def chunk_of(self, rows: ItemLists, cuts: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the chunk of every row."""
        return piece_of(self.words(rows), cuts)


@dataclass(frozen=True)
class ByNames:
    """Rows in the order of their users, which are text."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a key."""
        return pa.schema([("user", pa.string())])

    def keys(self, rows: ItemLists) -> pa.RecordBatch:
        """Return the key of every row as columns."""
        return pa.RecordBatch.from_arrays([rows.users], schema=self.schema)

    def in_order(self, rows: ItemLists) -> NDArray[np.int64]:
        """Return the rows in the order of their keys."""
        return np.asarray(pc.sort_indices(rows.users).to_numpy(), dtype=np.int64)

    def cuts(self, keys: pa.Table, n_chunks: int) -> list[str]:
        """Return the keys at which all chunks but the first begin, in order."""
        users = keys["user"].combine_chunks()
        ordered = users.take(pc.sort_indices(users))
        return [ordered[at].as_py() for at in starts(len(users), n_chunks)]

    def chunk_of(self, rows: ItemLists, cuts: list[str]) -> NDArray[np.int32]:
        """Return the chunk of every row; text is compared by code points, as by its bytes."""
        chunks = (bisect_right(cuts, user) for user in rows.users.to_pylist())
        return np.fromiter(chunks, dtype=np.int32, count=len(rows.users))


RowKeys: TypeAlias = ByWords | ByNames


def starts(n: int, n_chunks: int) -> list[int]:
    """Return where all chunks of n rows but the first begin: they have nearly equal sizes."""
    least, more = divmod(n, n_chunks)
    return [number * least + min(number, more) for number in range(1, n_chunks)]


class Sampling(NamedTuple):
    """How many chunks there are, and which share of the rows their cuts come from.

    `rate` is in `RATES` parts; `least` rows have to be sampled, so that no chunk is below k.
    """

    n_chunks: int
    rate: int
    least: int

    @classmethod
    def of(cls, n: int, chunk_rows: int, k: int) -> Sampling:
        """Return the sampling of so many rows.

        Examples
        --------
        >>> Sampling.of(10**6, 20_000, 8)
        Sampling(n_chunks=50, rate=65536, least=1600)
        >>> Sampling.of(10**9, 20_000, 8).rate / RATES
        0.0032...
        """
        n_chunks = max(1, round(n / chunk_rows))
        share = max(SAMPLED_OF_A_CHUNK / chunk_rows, 4 * k / chunk_rows, SAMPLED / max(n, 1))
        rate = min(RATES, math.ceil(share * RATES))
        return cls(n_chunks, rate, 4 * k * n_chunks if n_chunks > 1 else 0)

    @property
    def below(self) -> str:
        """Rows are sampled whose user has a SHA-256 that begins with less than these digits."""
        return f"{self.rate:04x}"

    @property
    def is_enough(self) -> bool:
        """Whether every row is sampled."""
        return self.rate >= RATES

    def doubled(self) -> Sampling:
        """Return the sampling of twice as many rows."""
        return self._replace(rate=min(RATES, 2 * self.rate))


def keyed(order: RowKeys, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the key of every row; a work on batches."""
    return order.keys(ItemLists.of(batch))


@dataclass(frozen=True)
class InChunks:
    """Says in which chunk a row is; a work on batches."""

    order: RowKeys
    cuts: Any

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return users and items with the number of their chunk."""
        rows = ItemLists.of(batch)
        chunk = pa.array(self.order.chunk_of(rows, self.cuts))
        schema = columns.in_chunks(rows.users.type, rows.values.type)
        return pa.RecordBatch.from_arrays([batch["user"], batch["items"], chunk], schema=schema)


@dataclass(frozen=True, kw_only=True)
class Released:
    """Releases the rows of a chunk; a work on chunks."""

    method: Clustered
    order: RowKeys
    n_buckets: int
    by_columns: bool
    randomness: Randomness

    def __call__(self, number: int, table: pa.Table) -> pa.Table:
        """Return the released rows of a chunk with their keys, and what its clusters keep."""
        # Rows in the order of their keys, whatever order they come in: the work may run twice.
        rows = ItemLists.of(table)
        rows = rows.taken(self.order.in_order(rows))
        # Items by number, and equal rows once, as the method does in memory.
        names, codes = coded(rows.values)
        data = Bipartite(rows.indptr, codes, len(names))
        distinct = collapse(data)
        if self.by_columns:
            distinct = distinct._replace(columns=self.method.columns_of(names.to_pylist()))
        # Cluster, with randomness of this chunk alone.
        rng = self.randomness.stream(f"clusters of chunk {number}")
        labels = self.method.clustering()(distinct, rng)
        clusters = profiles_of(distinct, labels)
        # What each cluster publishes, and the released rows.
        rest = self.randomness.stream(f"rest of chunk {number}").bytes(32)
        published = self.method.published(clusters, Randomness(seed=int.from_bytes(rest, "big")))
        out = released(data, clusters, published, labels)
        # Keys of 128 random bits give the order of the release: buckets first, then the words.
        lists = ItemLists(rows.users, out.indptr, names.take(pa.array(out.indices)))
        keys = keys_of(self.randomness.secret(f"keys of chunk {number}"), data.n_users)
        arrays = [
            pa.array(buckets_of(keys[0], self.n_buckets)),
            *(pa.array(word.view(np.int64)) for word in keys),
            rows.users,
            lists.column(),
            *_of_clusters(names, clusters, published, labels),
        ]
        return pa.table(arrays, schema=columns.released(rows.users.type, names.type))


def keys_of(secret: bytes, n: int) -> NDArray[np.uint64]:
    """Return a key of 128 bits per row, uint64, shape (2, n): the order of the release.

    The same secret gives the same keys: a chunk that runs twice, wherever it runs, loses no row and
    repeats none. Without the secret they cannot be distinguished from random bits (SHAKE-256).
    """
    keys = np.frombuffer(hashlib.shake_256(secret).digest(16 * n), dtype="<u8")
    return keys.astype(np.uint64, copy=False).reshape(2, n)


def buckets_of(high: NDArray[np.uint64], n: int) -> NDArray[np.int32]:
    """Return the bucket of every key by its leading 32 bits; buckets are in the order of keys.

    >>> buckets_of(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), 4).tolist()
    [0, 2, 3]
    """
    leading = high >> np.uint64(32)
    return ((leading * np.uint64(n)) >> np.uint64(32)).astype(np.int32)


def _of_clusters(
    names: pa.Array, clusters: Profiles, published: NDArray[np.bool_], labels: Labels
) -> list[pa.Array]:
    """Return, at the first row of every cluster, its size and what it keeps and is certain of."""
    n, n_clusters = labels.size, clusters.sizes.size
    firsts = np.empty(n_clusters, dtype=np.int64)
    # The first row of every cluster: later assignments win, so rows are assigned from the end.
    firsts[labels[::-1]] = np.arange(n)[::-1]  # the last one stays
    # Per cluster: entries that are published and true, and published entries that are false.
    of_pair, counts = clusters.clusters[published], clusters.counts[published]
    shared = np.bincount(of_pair, weights=counts, minlength=n_clusters)
    lacking = clusters.sizes[of_pair] - counts
    created = np.bincount(of_pair, weights=lacking, minlength=n_clusters)
    sums = []
    for numbers in (clusters.sizes, shared, created):
        column = np.zeros(n, dtype=np.int32)
        column[firsts] = numbers
        sums.append(pa.array(column))
    certain = published & (clusters.counts == clusters.sizes[clusters.clusters])
    in_rows = np.argsort(firsts[clusters.clusters[certain]], kind="stable")
    sizes = np.bincount(firsts[clusters.clusters[certain]], minlength=n)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    values = names.take(pa.array(clusters.features[certain][in_rows]))
    return [*sums, pa.ListArray.from_arrays(starts, values)]
