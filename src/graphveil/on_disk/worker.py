"""What a worker does with a chunk: rows in, released rows under random keys out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rows import Labels, collapse
from graphveil.methods.equivalence_classes.rule import Profiles, profiles_of, released
from graphveil.methods.smooth_k.clustered import Clustered
from graphveil.on_disk import columns
from graphveil.on_disk.cuts import RowKeys
from graphveil.on_disk.lists import ItemLists, coded
from graphveil.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class Released:
    """Releases the rows of a chunk; a work on chunks.

    Parameters
    ----------
    method
        The method with its parameters.
    order
        The order of the rows inside a chunk, as in memory.
    n_buckets
        How many buckets of keys there are.
    by_columns
        Whether all items are values of columns, and rows are put together by columns.
    randomness
        That of the run: any worker may get any chunk, or the same one again.
    """

    method: Clustered
    order: RowKeys
    n_buckets: int
    by_columns: bool
    randomness: Randomness

    def __call__(self, number: int, table: pa.Table) -> pa.Table:
        """Return the released rows of a chunk with their keys, and what its clusters keep."""
        rows = ItemLists.of(table)
        rows = rows.taken(self.order.in_order(rows))
        names, codes = coded(rows.values)
        data = Bipartite(rows.indptr, codes, len(names))
        distinct = collapse(data)
        if self.by_columns:
            distinct = distinct._replace(columns=self.method.columns_of(names.to_pylist()))
        rng = self.randomness.stream(f"clusters of chunk {number}")
        labels = self.method.clustering()(distinct, rng)
        clusters = profiles_of(distinct, labels)
        rest = self.randomness.stream(f"rest of chunk {number}").bytes(32)
        published = self.method.published(clusters, Randomness(seed=int.from_bytes(rest, "big")))
        out = released(data, clusters, published, labels)
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
    """Return a key of 128 bits a row, shape (2, n): the order of the release.

    The same secret gives the same keys: a chunk that runs twice, wherever it runs, loses no row and
    repeats none. Without the secret they cannot be told from random bits (SHAKE-256).

    Examples
    --------
    >>> bool((keys_of(b"of chunk 1", 3) == keys_of(b"of chunk 1", 3)).all())
    True
    """
    keys = np.frombuffer(hashlib.shake_256(secret).digest(16 * n), dtype="<u8")
    return keys.astype(np.uint64, copy=False).reshape(2, n)


def buckets_of(high: NDArray[np.uint64], n: int) -> NDArray[np.int32]:
    """Return the bucket of every key by its leading 32 bits; buckets are in the order of keys.

    Examples
    --------
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
    firsts[labels[::-1]] = np.arange(n)[::-1]  # the last one stays
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
