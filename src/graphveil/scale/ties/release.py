"""Neighbor lists on the disk into the files of a release: edited, under new ids, recomputed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from graphveil.claims.manifest import Described
from graphveil.core.array_types import Ints
from graphveil.core.errors import UsageError
from graphveil.core.progress import Advance, stage
from graphveil.data.kinds import KINDS
from graphveil.io import FORMATS, Format
from graphveil.io.parts import WRITABLE, write_pairs
from graphveil.io.readers.columnar import opened_parquet
from graphveil.release.files import TABULAR, described_file
from graphveil.scale.parts import all_ids
from graphveil.scale.ties.lists import MOST_BUCKETS, NODE_BITS, Buckets, NeighborLists

COLUMNS = ("source", "target")
BLOCK_ENTRIES = 1 << 21
"""How many entries of lists are looked at at a time."""

WRITTEN_ROWS = 1 << 20
"""How many edges are written at a time."""

_HIGH = (1 << NODE_BITS) - 1
"""The bits of the larger end in an edge ``u << 32 | v``."""

_FEW = 4
"""Ends that are this many times fewer than the nodes are counted one by one, others in a table."""

Ends = tuple[Ints, Ints]


class Changed(NamedTuple):
    """Edges that a release has more and has not: int32, shape (x, 2), the smaller end first."""

    added: NDArray[np.int32]
    deleted: NDArray[np.int32]


def edges_of(lists: NeighborLists) -> Iterator[Ints]:
    """Yield every edge once, in order, as ``u << 32 | v`` with u below v, some at a time."""
    indptr, indices = lists
    n = indptr.size - 1
    inner = np.searchsorted(indptr, np.arange(BLOCK_ENTRIES, int(indptr[-1]), BLOCK_ENTRIES))
    starts = np.unique(np.concatenate([[0], np.minimum(inner, n), [n]])).tolist()
    for start, stop in pairwise(starts):
        here = indices[indptr[start] : indptr[stop]]
        row = np.repeat(np.arange(start, stop, dtype=np.int32), np.diff(indptr[start : stop + 1]))
        later = here > row
        keys = row[later].astype(np.int64)
        keys <<= NODE_BITS
        keys |= here[later]
        yield keys


def changed_edges(edges: Iterable[Ints], changed: Changed) -> Iterator[Ints]:
    """Yield edges without the deleted ones, and then the added ones."""
    deleted = np.sort(_keys(changed.deleted))
    gone = 0
    # Both are in order: the deleted edges of this piece are a slice, found by bisection.
    for keys in edges:
        if deleted.size and keys.size:
            mine = deleted[slice(*np.searchsorted(deleted, [keys[0], keys[-1] + 1]))]
            at = np.searchsorted(keys, mine)
            gone += int(np.count_nonzero(keys[at] == mine))
            keys = np.delete(keys, at)  # noqa: PLW2901  the rest of them
        yield keys
    if gone != deleted.size:
        raise RuntimeError(f"{deleted.size - gone} edges were to be deleted but do not exist")
    yield np.sort(_keys(changed.added))


def _keys(pairs: NDArray[np.int32]) -> Ints:
    return (pairs[:, 0].astype(np.int64) << NODE_BITS) | pairs[:, 1]


def released_cuts(n_nodes: int, n_edges: int, bucket_keys: int) -> list[int]:
    """Return cuts of released edges by their smaller end.

    Low ids are the smaller end more often: of random pairs below n, the share 1 - (1 - x)^2 has its
    smaller end below x n. The cuts invert this, so that buckets have nearly equal size.

    >>> released_cuts(100, 40, 10)
    [0, 13, 29, 50, 100]
    """
    n_buckets = min(MOST_BUCKETS, max(1, -(-n_edges // bucket_keys)))
    shares = 1 - np.sqrt(1 - np.arange(n_buckets + 1) / n_buckets)
    cuts: list[int] = np.unique((shares * n_nodes).astype(np.int64)).tolist()
    return cuts


def renumber(edges: Iterable[Ints], new_ids: NDArray[np.int32], buckets: Buckets) -> int:
    """Write edges under new ids into buckets by their smaller end, and return how many."""
    n = 0
    for keys in edges:
        one, other = new_ids[keys >> NODE_BITS], new_ids[keys & _HIGH]
        low = np.minimum(one, other).astype(np.int64)
        low <<= NODE_BITS
        low |= np.maximum(one, other)
        buckets.add(low)
        n += low.size
    return n


@dataclass(frozen=True)
class Written:
    """Data files of a release, and what was counted in them again."""

    described: Described
    degrees: Ints


def check_form(form: Format) -> None:
    """Refuse a format that cannot be written some rows at a time."""
    if form.name not in WRITABLE:
        raise UsageError(
            f"{form.name} cannot be written in pieces. Use one of {', '.join(WRITABLE)}, or "
            "remove --on-disk."
        )


def write_files(
    public: Path, buckets: Buckets, n_nodes: int, n_edges: int, form: Format
) -> Written:
    """Write the files of a released graph, and count the degrees in what was written."""
    data, nodes = public / f"data{form.extensions[0]}", public / "nodes.csv"
    with stage(f"writing {data.name}", total=n_edges) as advance:
        write_pairs(_tables(buckets, advance), data, form=form, names=None)
    write_pairs(all_ids(n_nodes, "node"), nodes, form=FORMATS["csv"], names=None)
    with stage("counting degrees", total=n_edges) as advance:
        degrees = _degrees_in(data, form, n_nodes, n_edges, advance)
    described = Described(
        kind="graph",
        files=[
            described_file(
                data, "data", form.name, list(COLUMNS) if form.name in TABULAR else [], n_edges
            ),
            described_file(nodes, "nodes", "csv", ["node"], n_nodes),
        ],
        counts={"nodes": n_nodes, "edges": n_edges},
        suppressed_cells=KINDS["graph"].suppressed_cells,
    )
    return Written(described, degrees)


def _tables(buckets: Buckets, advance: Advance) -> Iterator[pa.Table]:
    """Yield all edges in order; a first table may be empty."""
    nothing = pa.array([], pa.int64())
    yield pa.table([nothing, nothing], names=COLUMNS)
    for _, _, keys in buckets.taken():
        for start in range(0, keys.size, WRITTEN_ROWS):
            some = keys[start : start + WRITTEN_ROWS]
            yield pa.table([pa.array(some >> NODE_BITS), pa.array(some & _HIGH)], names=COLUMNS)
            advance(some.size)


def _degrees_in(data: Path, form: Format, n_nodes: int, n_edges: int, advance: Advance) -> Ints:
    """Return how many edges of a written file every node has; edges must ascend strictly."""
    degrees = np.zeros(n_nodes, dtype=np.int64)
    last, n = np.int64(-1), 0
    # The written file is read again: edges must be in order, without repeats, and complete.
    for source, target in _ends_in(data, form):
        keys = (source << NODE_BITS) | target
        if not (np.all(source < target) and np.all(np.diff(keys, prepend=last) > 0)):
            raise RuntimeError("edges about to be published repeat, or are out of order")
        last = keys[-1] if keys.size else last
        n += keys.size
        _count(degrees, source)
        _count(degrees, target)
        advance(source.size)
    if n != n_edges:
        raise RuntimeError(f"{n} edges were about to be published, but {n_edges} are released")
    return degrees


def _count(degrees: Ints, ends: Ints) -> None:
    if _FEW * ends.size < degrees.size:
        np.add.at(degrees, ends, 1)
    else:
        degrees += np.bincount(ends, minlength=degrees.size)


def _ends_in(data: Path, form: Format) -> Iterator[Ends]:
    """Yield both columns of a written file, some rows at a time."""
    if form.name == "parquet":
        with opened_parquet(data) as file:
            for batch in file.iter_batches(WRITTEN_ROWS, columns=list(COLUMNS)):
                yield _arrays(batch)
        return
    convert = csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.int64()))
    read = csv.ReadOptions(
        column_names=list(COLUMNS), skip_rows=1, block_size=1 << 24, use_threads=False
    )
    parse = csv.ParseOptions(delimiter="," if form.name == "csv" else "\t")
    with pa.OSFile(os.fsencode(data)) as stream:
        if _one_line(data):
            return
        for batch in csv.open_csv(stream, read, parse, convert):
            yield _arrays(batch)


def _one_line(data: Path) -> bool:
    """Whether a file of text holds no row below its first line."""
    with data.open("rb") as stream:
        stream.readline()
        return not stream.read(1)


def _arrays(batch: pa.RecordBatch) -> Ends:
    source, target = (column.to_numpy() for column in batch.columns)
    return source, target
