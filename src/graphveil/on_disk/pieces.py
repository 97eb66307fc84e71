"""What a worker does with a chunk on the disk: rows in, released rows under random keys out."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from graphveil.data import Bipartite
from graphveil.data.ids import Ids, as_ids
from graphveil.methods.equal_rows.rule import Profiles, kept_of, profiles_of, released
from graphveil.methods.smooth_k.chunks import Chunk
from graphveil.methods.smooth_k.clustered import Clustered
from graphveil.on_disk.intake import features_of
from graphveil.on_disk.lists import Lists, lists_of
from graphveil.randomness import Randomness

KEY = ("key_high", "key_low")
TALLY = b"graphveil tally"


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What the clusters of some chunks keep, by sums.

    Parameters
    ----------
    entries, shared, created
        As in `Kept`.
    certain
        The published entries that are true of all of their cluster.
    empty
        The rows released without features.
    clusters
        How many there are.
    """

    entries: int = 0
    shared: int = 0
    created: int = 0
    certain: int = 0
    empty: int = 0
    clusters: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Return the sums of both."""
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Tally(**dict(zip(self.__struct_fields__, (a + b for a, b in pairs), strict=True)))


class Piece(NamedTuple):
    """A chunk to be done.

    Parameters
    ----------
    source, target
        The rows of the chunk, and where its released rows go.
    rng
        What its clusters are drawn from.
    secret
        What everything else of this chunk is drawn from.
    """

    source: Path
    target: Path
    rng: np.random.Generator
    secret: int


@dataclass(frozen=True, kw_only=True)
class Worker:
    """Releases the rows of a chunk on the disk.

    Parameters
    ----------
    method
        The method with its parameters.
    features
        The folder with the names of the features.
    n_features
        Their number.
    seeded
        Whether new ids repeat with the seed, else they come from the operating system.
    """

    method: Clustered
    features: Path
    n_features: int
    seeded: bool

    def __call__(self, piece: Piece) -> Tally:
        """Write the released rows of a chunk under a temporary name, then under theirs."""
        table = parquet.read_table(piece.source).combine_chunks()
        rows = lists_of(table["user"], table["items"].combine_chunks())
        chunk = Chunk(rows.indptr, rows.indices, piece.rng)
        data = Bipartite(rows.indptr, rows.indices, self.n_features, None, self._names())
        distinct = chunk.rows()
        labels = self.method.clustering()(distinct, piece.rng)
        found = profiles_of(distinct, labels)
        found = found._replace(features=np.unique(rows.indices)[found.features])
        draws = Randomness(seed=piece.secret)
        held = self.method.published(data, found, draws)
        out = released(data, found, held, labels)
        tally = _tally(data, out, found, held)
        columns = [
            table["position"],
            table["user"],
            Lists(table["user"], out.indptr, out.indices).column(),
            *map(pa.array, self._keys(data.n_users, draws)),
        ]
        names = ["position", "user", "items", *KEY]
        _write_whole(pa.table(columns, names=names), tally, piece.target)
        return tally

    def _names(self) -> Ids | None:
        if not self.method.reads_names:
            return None
        return as_ids(features_of(self.features), what="items")

    def _keys(self, n: int, draws: Randomness) -> NDArray[np.uint64]:
        """Return a random key of 128 bits a row: the order of the release."""
        if not self.seeded:
            return np.frombuffer(secrets.token_bytes(16 * n), dtype=np.uint64).reshape(2, n)
        stream = draws.stream("release ids")
        return stream.integers(0, 2**64, size=(2, n), dtype=np.uint64, endpoint=False)


def tally_of(part: Path) -> Tally:
    """Return the sums that a written part carries."""
    metadata = parquet.read_schema(part).metadata
    return msgspec.json.decode(metadata[TALLY], type=Tally)


def _tally(data: Bipartite, out: Bipartite, found: Profiles, held: NDArray[np.bool_]) -> Tally:
    kept = kept_of(found, held, data.n_entries)
    counts, sizes = found.counts[held], found.sizes[found.clusters[held]]
    return Tally(
        entries=kept.original,
        shared=kept.shared,
        created=kept.created,
        certain=int(sizes[counts == sizes].sum()),
        empty=int(np.count_nonzero(np.diff(out.indptr) == 0)),
        clusters=int(found.sizes.size),
    )


def _write_whole(table: pa.Table, tally: Tally, path: Path) -> None:
    part = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    parquet.write_table(table.replace_schema_metadata({TALLY: msgspec.json.encode(tally)}), part)
    part.replace(path)
