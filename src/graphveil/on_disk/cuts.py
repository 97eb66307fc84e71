"""Chunks without a sort of the whole: their cuts are keys of sampled rows.

The chunk of a row is the number of cuts that are at most its key. Where every row is sampled, the
chunks are those of a run in memory.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.methods.smooth_k.orders import MinHash, in_order, piece_of
from graphveil.on_disk import columns
from graphveil.on_disk.lists import ItemLists, name_hashes

SAMPLED_OF_A_CHUNK = 64
"""How many rows of a chunk are sampled at least, on average."""

SAMPLED = 10**6
"""How many rows are sampled at least, where there are as many."""

RATES = 1 << 16
"""Rates of sampling are multiples of 1 / RATES."""


@dataclass(frozen=True)
class ByWords:
    """Rows in the order of words of 64 bits: of their smallest hashes, or of integers as users.

    Parameters
    ----------
    hashes
        None for the order of users.
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
        words = np.stack([key.to_numpy() for key in keys.columns], axis=1).view(np.uint64)
        order = np.argsort(words[:, 0], kind="stable")
        leading = words[order, 0]
        cuts = np.empty((n_chunks - 1, words.shape[1]), dtype=np.uint64)
        for number, at in enumerate(starts(keys.num_rows, n_chunks)):
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
    """Return where all chunks of n rows but the first begin: they have nearly equal sizes.

    Examples
    --------
    >>> starts(25, 2), starts(3, 1)
    ([13], [])
    """
    least, more = divmod(n, n_chunks)
    return [number * least + min(number, more) for number in range(1, n_chunks)]


class Sampling(NamedTuple):
    """How many chunks there are, and which share of the rows their cuts come from.

    Parameters
    ----------
    n_chunks
        The number of chunks.
    rate
        The share of rows, in `RATES` parts; `RATES` for all.
    least
        How many rows have to be sampled, so that no chunk is below k.
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


@dataclass(frozen=True)
class Keyed:
    """Makes keys of rows; a work on batches."""

    order: RowKeys

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the key of every row."""
        return self.order.keys(ItemLists.of(batch))


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
