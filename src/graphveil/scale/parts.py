"""Rows under new ids into the parts of a release, and the classes that these hold.

New ids follow the order of random keys. Some rows are packed into one value, column by column:
shuffled singly, each would carry its id and its part, with eight bytes a field.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ipc, parquet

from graphveil.claims import parts
from graphveil.claims.facts import digest_of_file
from graphveil.claims.manifest import DataFile
from graphveil.claims.record import digest_of_parts, linkage_part
from graphveil.core.errors import UsageError
from graphveil.core.hints import option
from graphveil.core.storage import Address, Place, reached
from graphveil.engines.processes import Rows, Tables
from graphveil.io import Format
from graphveil.io import parts as list_parts
from graphveil.io.readers.columnar import BATCH_ROWS, batches_in
from graphveil.release.files import described_file, write_owners
from graphveil.scale import columns
from graphveil.scale.columns import ItemLists, starts_of, whole

BUCKET_ROWS = 250_000
BUCKET_ENTRIES = 1 << 25
"""About how many rows and entries a bucket has; a list of Arrow holds 2^31 entries."""

LISTED_IDS = 1 << 16
"""How many ids are written at a time."""


def n_buckets_of(n_rows: int, n_entries: int) -> int:
    """Return how many buckets of keys there are.

    >>> n_buckets_of(10**6, 8 * 10**6), n_buckets_of(3, 0)
    (4, 1)
    """
    return max(1, round(n_rows / BUCKET_ROWS), round(n_entries / BUCKET_ENTRIES))


def all_ids(n: int, name: str) -> Iterator[pa.Table]:
    """Yield the new ids of all in order, as tables of one column.

    >>> [table.to_pydict() for table in all_ids(3, "node")]
    [{'node': [0, 1, 2]}]
    """
    for start in range(0, n, LISTED_IDS):
        ids = np.arange(start, min(start + LISTED_IDS, n))
        yield pa.table([pa.array(ids)], names=[name])


@dataclass(frozen=True)
class Numbered:
    """Gives the rows of a bucket their new ids, in the order of their keys; a work on buckets.

    `starts`: the id of the first row of every bucket.
    """

    starts: tuple[int, ...]

    def __call__(self, number: int, rows: pa.Table) -> pa.Table:
        """Return the rows of the bucket in the order of their ids.

        Raises `RuntimeError` where two rows have one key: their order would be that in which they
        came.
        """
        high, low = (rows[name].to_numpy().view(np.uint64) for name in columns.KEY)
        # Sort by the 128-bit keys; equal keys would leave the order to chance, so they are an
        # error.
        order = np.lexsort((low, high))
        high, low = high[order], low[order]
        if np.any((high[1:] == high[:-1]) & (low[1:] == low[:-1])):
            raise RuntimeError(f"two rows of bucket {number} have the same 128-bit key")
        ids = np.arange(self.starts[number], self.starts[number] + order.size)
        chosen = pa.array(order)
        user, items = (whole(rows[name]).take(chosen) for name in ("user", "items"))
        schema = columns.numbered(user.type, items.type.value_type)
        return pa.table([pa.array(ids), user, items], schema=schema)


MOST_ROWS = 1 << 14
"""The most rows that are packed together, about: small packs let readers take part of a bucket."""

MOST_ENTRIES = 1 << 20
"""About so many rows and entries at most are packed together; a row stays whole."""

_SMALL = ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True)
class Packed:
    """Gives the rows of a bucket their new ids, and packs them, those of one part together."""

    numbered: Numbered
    part_users: int
    most_rows: int
    most_entries: int

    def __call__(self, number: int, rows: pa.Table) -> pa.Table:
        """Return packed rows, see `graphveil.scale.columns.PACKED`."""
        table = self.numbered(number, rows)
        del rows
        ids = table["id"].to_numpy()
        table = table.drop_columns(["id"]).combine_chunks()
        entries = starts_of(table["items"].combine_chunks())[:-1]
        # Cut at the ends of parts, after so many rows, and after so many entries.
        part = ids // self.part_users
        changes = np.zeros(ids.size, dtype=np.bool_)
        for of_row in (part, np.arange(ids.size) // self.most_rows, entries // self.most_entries):
            changes[1:] |= of_row[1:] != of_row[:-1]
        changes[:1] = True
        starts = np.flatnonzero(changes)
        sizes = np.diff(starts, append=ids.size)
        # Each piece is an Arrow stream in one cell, under the id of its first row.
        values = [
            _packed(table.slice(start, size))
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        ]
        cells = [part[starts].astype(np.int32), ids[starts], pa.array(values, pa.binary())]
        return pa.table(cells, schema=columns.PACKED)


def packed(numbered: Numbered) -> Packed:
    """Return the work that packs rows, with the sizes that parts and packed values have."""
    return Packed(numbered, parts.PART_USERS, MOST_ROWS, MOST_ENTRIES)


def unpacked(rows: pa.Table) -> tuple[NDArray[np.int64], pa.Table]:
    """Return the ids of packed rows, those of the lowest first ones first, and the rows."""
    rows = rows.sort_by("first")
    tables = [ipc.open_stream(cell.as_buffer()).read_all() for cell in rows["rows"]]
    firsts = rows["first"].to_pylist()
    ids = [np.arange(first, first + t.num_rows) for first, t in zip(firsts, tables, strict=True)]
    return np.concatenate(ids), pa.concat_tables(tables)


def _packed(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, rows.schema, options=_SMALL) as writer:
        writer.write_table(rows)
    value: bytes = sink.getvalue().to_pybytes()
    return value


@dataclass(frozen=True)
class PublishedNames:
    """The names of items as they are published: whole numbers.

    `people`: the names of all people in order, and their new ids; None where items are not people.
    """

    people: tuple[pa.Array, NDArray[np.int64]] | None

    def of(self, rows: ItemLists) -> NDArray[np.int64]:
        """Return the numbers of all items, in order in every row."""
        # Items that are things have whole numbers as names; people get their new ids.
        if self.people is None:
            numbers = rows.values.cast(pa.int64()).to_numpy()
            if pa.types.is_integer(rows.values.type):
                # Items in order within each row, so that their order shows nothing.
                return np.asarray(numbers)
        else:
            names, new_ids = self.people
            numbers = new_ids[pc.index_in(rows.values, value_set=names).to_numpy()]
        return np.asarray(numbers[np.lexsort((numbers, rows.rows()))])


def new_ids(tables: Tables, numbered: Rows) -> PublishedNames:
    """Return the new id of everyone by name."""
    users = [batch["user"] for batch in tables.batches(numbered, "id")]
    ids = np.arange(sum(map(len, users)), dtype=np.int64)
    return PublishedNames((pa.concat_arrays(users), ids))


class WrittenParts(NamedTuple):
    """Parts that were written, the digest of the linkage if it is at an address, the entries."""

    files: list[DataFile]
    linkage_sha256: str | None
    n_entries: int


def check_parts(
    wanted: bool | None,  # noqa: FBT001  an option's value
    form: Format,
    target: Place | None = None,
) -> None:
    """Refuse parts of a format that has none, and anything else at an address."""
    if isinstance(target, Address) and (wanted is False or form.name != "parquet"):
        raise UsageError(
            f"{target} is an address, where a release is written in Parquet parts. Use "
            f"{option('format', 'parquet')}, and write it in parts; or name a folder."
        )
    if wanted and form.name != "parquet":
        raise UsageError(
            f"{form.name} cannot be written in parts, which are Parquet files. Use "
            f"{option('format', 'parquet')}, or write it without parts."
        )


def comes_in_parts(
    wanted: bool | None,  # noqa: FBT001  as above
    form: Format,
    n_users: int,
    target: Place | None = None,
) -> bool:
    """Whether a release comes in parts: as asked for, else where it has more than one.

    At an address it does.

    >>> from graphveil.io import FORMATS
    >>> [comes_in_parts(None, FORMATS["parquet"], n) for n in (2**20, 2**20 + 1)]
    [False, True]
    """
    if isinstance(target, Address):
        return True
    if wanted is None:
        return form.name == "parquet" and n_users > parts.PART_USERS
    return wanted


def write_parts(
    rows: Iterable[pa.Table], n_users: int, public: Place, scratch: Path | None = None
) -> list[DataFile]:
    """Write all parts, and return what is said of them."""
    # Rows are cut into row groups, and row groups into parts of fixed sizes.
    sizes = [parts.part_size(number, n_users) for number in range(parts.n_parts(n_users))]
    each = list_parts.GROUP_ROWS
    groups = list_parts.in_sizes(rows, (g for size in sizes for g in groups_of(size, each)))
    described = []
    for number, size in enumerate(sizes):
        tables = (next(groups) for _ in groups_of(size, each))
        described.append(write_part(tables, number, size, public, scratch))
    next(groups, None)  # what comes behind the last row is done, and is no further row
    return described


def write_part(
    groups: Iterable[pa.Table], number: int, size: int, public: Place, scratch: Path | None = None
) -> DataFile:
    """Write a part of so many rows, a row group a table, and return what is said of it."""
    name = parts.part_name(number)
    with file_at(public, name, scratch) as path:
        list_parts.write_lists(groups, path)
        file = described_file(path, "data", "parquet", parts.COLUMNS, size)
    return msgspec.structs.replace(file, name=name)


@contextmanager
def file_at(place: Place, name: str, scratch: Path | None = None) -> Iterator[Path]:
    """Give the path of a file to be written; at the end it is in a place, under a name.

    For an address it is written here first, for its owner alone, in `scratch` if given.
    """
    if isinstance(place, Path):
        path = place / name
        path.parent.mkdir(exist_ok=True)
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="graphveil-", dir=scratch) as folder:
        path = Path(folder, name.rpartition("/")[2])
        yield path
        place.put(name, path)


def groups_of(size: int, each: int) -> list[int]:
    """Return the rows of every row group of a part."""
    return [min(each, size - start) for start in range(0, max(size, 1), each)]


def rows_in_parts(public: Place, files: Iterable[DataFile]) -> Iterator[pa.RecordBatch]:
    """Yield the lists of items in parts, some at a time, as they were written."""
    for file in files:
        for batch in _batches(public, file.name):
            yield batch.select(["items"])


def _batches(public: Place, name: str) -> Iterator[pa.RecordBatch]:
    if isinstance(public, Path):
        yield from batches_in(public / name, ["items"])
        return
    with (
        reached(public / name, "counted"),
        public.open(name) as stream,
        parquet.ParquetFile(stream, pre_buffer=False) as file,
    ):
        yield from file.iter_batches(BATCH_ROWS, columns=["items"], use_threads=False)


def write_linkage_parts(
    rows: Iterable[pa.Table], n_users: int, private: Address, scratch: Path
) -> str:
    """Write who became whom in parts of the data's users at an address; return their one digest.

    `rows` are in the order of new ids. A part is first written in `scratch`, the run's own folder:
    what a killed run leaves goes with it.
    """
    numbers = range(parts.n_parts(n_users))
    tables = list_parts.in_sizes(rows, (parts.part_size(number, n_users) for number in numbers))
    each = zip(tables, numbers, strict=False)  # tables first: what is left behind them is refused
    return digest_of_parts([write_linkage_part(table, n, private, scratch) for table, n in each])


def write_linkage_part(
    rows: pa.Table, number: int, private: Address, scratch: Path | None = None
) -> str:
    """Write a part of the linkage, and return its digest."""
    with file_at(private, linkage_part(number), scratch) as path:
        write_owners([rows], path)
        return digest_of_file(path)


def as_lists(ids: pa.Array, indptr: Any, items: pa.Array) -> pa.Table:
    """Return users with their items as parts have them."""
    schema = list_parts.list_schema(items.type)
    leaves = items.cast(schema.field("items").type.value_type)
    lists = pa.LargeListArray.from_arrays(pa.array(indptr, pa.int64()), leaves)
    return pa.table([ids.cast(pa.int64()), lists], schema=schema)
