"""What a worker does with a chunk on the disk: rows in, released rows under random keys out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphveil.atomic import whole_file
from graphveil.data import Bipartite
from graphveil.engines.database import database, rows_of
from graphveil.io.parquet_files import read_parquet, schema_of, write_parquet
from graphveil.methods.equivalence_classes.rule import Profiles, kept_of, profiles_of, released
from graphveil.methods.smooth_k.chunks import Chunk
from graphveil.methods.smooth_k.clustered import Clustered
from graphveil.on_disk.lists import ItemLists, lists_of
from graphveil.randomness import Randomness

KEY = ("key_high", "key_low")
TALLY = b"graphveil tally"


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What the clusters of some chunks keep, by sums.

    Parameters
    ----------
    entries, shared, created
        As in `Kept`.
    empty
        The rows released without features.
    clusters
        How many there are.
    """

    entries: int = 0
    shared: int = 0
    created: int = 0
    empty: int = 0
    clusters: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Return the sums of both."""
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Tally(**dict(zip(self.__struct_fields__, (a + b for a, b in pairs), strict=True)))


class ChunkTask(NamedTuple):
    """A chunk whose rows are to be released.

    Parameters
    ----------
    source, target, clusters
        The rows of the chunk, and where its released rows and its clusters go.
    rng
        What its clusters are drawn from.
    secret
        What everything else of this chunk but its order is drawn from.
    order
        The secret that the order of the released rows comes from.
    """

    source: Path
    target: Path
    clusters: Path
    rng: np.random.Generator
    secret: int
    order: bytes


@dataclass(frozen=True, kw_only=True)
class Worker:
    """Releases the rows of a chunk on the disk.

    Parameters
    ----------
    method
        The method with its parameters.
    n_features
        The number of features.
    columns
        The column of every feature, where rows are put together by columns.
    """

    method: Clustered
    n_features: int
    columns: NDArray[np.int32] | None = None

    def __call__(self, task: ChunkTask) -> Tally:
        """Write the clusters of a chunk, then its released rows, and return what they keep.

        A chunk whose released rows are there is done.
        """
        table = read_parquet(task.source).combine_chunks()
        rows = lists_of(table["user"], table["items"].combine_chunks())
        chunk = Chunk(rows.indptr, rows.indices, task.rng)
        data = Bipartite(rows.indptr, rows.indices, self.n_features)
        distinct = chunk.rows(self.columns)
        labels = self.method.clustering()(distinct, task.rng)
        clusters = profiles_of(distinct, labels)
        clusters = clusters._replace(features=np.unique(rows.indices)[clusters.features])
        draws = Randomness(seed=task.secret)
        published = self.method.published(clusters, draws)
        out = released(data, clusters, published, labels)
        tally = _tally(data, out, clusters, published)
        with whole_file(task.clusters) as part:
            write_parquet(_as_table(clusters, published), part)
        columns = [
            table["position"],
            table["user"],
            ItemLists(table["user"], out.indptr, out.indices).column(),
            *map(pa.array, keys_of(task.order, data.n_users)),
        ]
        names = ["position", "user", "items", *KEY]
        metadata = {TALLY: msgspec.json.encode(tally)}
        with whole_file(task.target) as part:
            write_parquet(pa.table(columns, names=names, metadata=metadata), part)
        return tally


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


def tally_of(part: Path) -> Tally:
    """Return the sums that a written part carries."""
    metadata = schema_of(part).metadata
    return msgspec.json.decode(metadata[TALLY], type=Tally)


def _tally(
    data: Bipartite, out: Bipartite, clusters: Profiles, published: NDArray[np.bool_]
) -> Tally:
    kept = kept_of(clusters, published, data.n_entries)
    return Tally(
        entries=kept.original,
        shared=kept.shared,
        created=kept.created,
        empty=int(np.count_nonzero(np.diff(out.indptr) == 0)),
        clusters=int(clusters.sizes.size),
    )


def _as_table(clusters: Profiles, published: NDArray[np.bool_]) -> pa.Table:
    """Return a row for every cluster: its size, its published features, and the certain ones."""
    certain = published & (clusters.counts == clusters.sizes[clusters.clusters])
    columns = [clusters.sizes, _by_cluster(clusters, published), _by_cluster(clusters, certain)]
    return pa.table(columns, names=["size", "items", "certain"])


def _by_cluster(clusters: Profiles, chosen: NDArray[np.bool_]) -> pa.Array:
    numbers = np.bincount(clusters.clusters[chosen], minlength=clusters.sizes.size)
    starts = np.concatenate([[0], np.cumsum(numbers)]).astype(np.int32)
    return pa.ListArray.from_arrays(starts, clusters.features[chosen])


def certain_entries(clusters: list[Path], scratch: Path, memory_mib: int) -> int:
    """Return how many published entries are of features that all of their class have.

    Clusters that publish the same features form one class.

    Parameters
    ----------
    clusters
        The clusters of every chunk.
    scratch
        A folder for scratch files.
    memory_mib
        The memory that counting may take.
    """
    with database(scratch, memory_mib=memory_mib, threads=1) as db:
        rows_of(db, clusters, ["size", "items", "certain"]).create("clusters")
        (entries,) = db.execute(
            """
            WITH classes AS (
                SELECT items, sum(size) AS size, count(*) AS n FROM clusters GROUP BY items
            ), features AS (
                SELECT items, feature, count(*) AS n
                FROM (SELECT items, unnest(certain) AS feature FROM clusters)
                GROUP BY items, feature
            )
            SELECT coalesce(sum(size), 0)
            FROM features JOIN classes USING (items, n)
            """
        ).fetchall()[0]
    return int(entries)
