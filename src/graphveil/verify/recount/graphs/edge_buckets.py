"""The edges of a large original compared with the released ones in buckets on disk.

An edge is one number, ``smaller end * 2^32 + larger end``. Original edges (under their published
ids) and released edges are divided into files by the range of that number; each pair of files is
sorted and compared in memory. This replaces one anti join over all edges, whose hash table would
need many times the memory.

Cost: O(m log m) time, two passes over the edges on disk, and memory for one bucket of each side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.libraries import pa, parquet
from graphveil.verify.database import Database, literal

Keys = NDArray[np.int64]
MOST_AT_ONCE = 1 << 24
"""Up to so many edges of the original are compared at once, in SQL tables; more of them in
buckets."""

MOST_IDS = 1 << 31
"""Published ids are below this, where they are compared in buckets."""

BUCKET_EDGES = 1 << 23
"""Edges per bucket, about: 64 MiB of keys on each side."""

MOST_BUCKETS = 400
"""Files that are open at once, at most: larger data has larger buckets."""

BLOCK = 1 << 21
"""Edges that are read or written at once."""

_BITS = 32
"""Bits for an end of an edge within its key, which `MOST_IDS` fits."""

_LOW = (1 << _BITS) - 1


def link_in_buckets(
    db: Database, lists: tuple[NDArray[np.int64], NDArray[np.int32]], released: NDArray[np.int64]
) -> None:
    """Create the view `placed(u, v)` of original edges, and `missing` of those not released."""
    # Step 1: divide the keys of both sides into files by the same ranges.
    cuts = _cuts(released.size, lists[1].size // 2)
    original = _divided(db.scratch, "original", _placed(lists, released), cuts)
    published = _divided(db.scratch, "released", _published(db), cuts)
    # Step 2: compare a range at a time. Original keys that are not among the released ones are
    # missing; all original keys go into one sorted file that SQL reads as `placed`.
    missing = [np.empty(0, dtype=np.int64)]
    file = db.scratch / "placed.parquet"

    def kept() -> Iterator[Keys]:
        for mine, theirs in zip(original, published, strict=True):
            keys, there = (np.sort(np.fromfile(path, dtype=np.int64)) for path in (mine, theirs))
            missing.append(_only_in(keys, there))
            mine.unlink()
            theirs.unlink()
            yield keys

    _write(kept(), file)
    db.run(f"CREATE VIEW placed AS SELECT u, v FROM read_parquet({literal(str(file))})")
    # Step 3: the missing edges, as a table of both ends.
    lost = np.concatenate(missing)
    db.put("missing", {"source": lost >> _BITS, "target": lost & _LOW})


def _cuts(n_nodes: int, n_edges: int) -> Keys:
    """Return the upper ends of buckets, as keys: buckets have about equal numbers of edges."""
    # Of uniformly random ids, the smaller end is below x * n with probability 1 - (1 - x)^2. Cuts
    # at the quantiles of that give buckets of about equal size.
    n_buckets = min(MOST_BUCKETS, max(1, -(-n_edges // BUCKET_EDGES)))
    shares = 1 - np.sqrt(1 - np.arange(1, n_buckets + 1) / n_buckets)
    ends: Keys = np.ceil(shares * n_nodes).astype(np.int64) << _BITS
    ends[-1] = np.iinfo(np.int64).max
    return ends


def _placed(
    lists: tuple[NDArray[np.int64], NDArray[np.int32]], released: NDArray[np.int64]
) -> Iterator[Keys]:
    """Yield the original's edges under their published ids, some at a time, each once."""
    indptr, indices = lists
    # Blocks of whole rows with about `BLOCK` entries; each edge is taken from the row of its
    # smaller original end.
    inner = np.searchsorted(indptr, np.arange(BLOCK, int(indptr[-1]), BLOCK))
    starts = np.unique(np.concatenate([[0], inner, [indptr.size - 1]])).tolist()
    for start, stop in pairwise(starts):
        here = indices[indptr[start] : indptr[stop]]
        owner = np.repeat(np.arange(start, stop), np.diff(indptr[start : stop + 1]))
        later = here > owner
        # The key of an edge: smaller published end in the upper 32 bits, larger in the lower.
        one, other = released[owner[later]], released[here[later]]
        yield (np.minimum(one, other) << _BITS) | np.maximum(one, other)


def _published(db: Database) -> Iterator[Keys]:
    """Yield the released edges, some at a time."""
    for block in db.blocks("SELECT source, target FROM edges", BLOCK):
        source, target = (column.to_numpy(zero_copy_only=False) for column in block.columns)
        usual = (source < MOST_IDS) & (target < MOST_IDS)  # no others are ids of a linkage
        yield (source[usual] << _BITS) | target[usual]


def _divided(folder: Path, name: str, blocks: Iterable[Keys], ends: Keys) -> list[Path]:
    """Write keys into files by the range that they are in, and return these in order."""
    paths = [folder / f"{name}-{number:04d}" for number in range(ends.size)]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for block in blocks:
            keys = np.sort(block)
            parts = pairwise([0, *np.searchsorted(keys, ends).tolist()])
            for file, (start, stop) in zip(files, parts, strict=True):
                if stop > start:
                    keys[start:stop].tofile(file)
    return paths


def _only_in(keys: Keys, others: Keys) -> Keys:
    """Return the sorted keys that are not among other sorted keys."""
    if not others.size:
        return keys
    at = np.minimum(np.searchsorted(others, keys), others.size - 1)
    only: Keys = keys[others[at] != keys]
    return only


def _write(buckets: Iterable[Keys], path: Path) -> None:
    """Write edges into a scratch file that SQL reads."""
    schema: Any = pa.schema([("u", pa.int64()), ("v", pa.int64())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for keys in buckets:
            for start in range(0, max(keys.size, 1), BLOCK):
                some = keys[start : start + BLOCK]
                columns = [pa.array(some >> _BITS), pa.array(some & _LOW)]
                writer.write_table(pa.table(columns, schema=schema))
