"""A file larger than memory into rows: sorted by user, features numbered, digested."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ipc

from graphveil.data.ids import as_ids
from graphveil.data.people import SharedIds, counted
from graphveil.engines.database import database, identifier, rows_of, stream
from graphveil.engines.engine import Engine
from graphveil.io import BipartiteOptions, ReadingReport
from graphveil.io.parquet_files import batches_in, write_batches
from graphveil.io.source import Source
from graphveil.methods.smooth_k.orders import HASHES, MinHash, hashes_of, hashes_of_texts
from graphveil.on_disk.lists import ItemLists, grouped, lists_of, starts_of
from graphveil.on_disk.raw_rows import Raw, raw_rows
from graphveil.progress import stage
from graphveil.records.digest import RowsPart, digest_of_parts

ROWS, FEATURES = "rows.parquet", "features.arrow"
SIGNATURE = tuple(f"h{number}" for number in range(HASHES))
TIES = "user_hash"
"""The hash of the user, which decides among rows of equal signature."""

PIECE_ROWS = 1 << 20
NOTHING = -1
"""The number that stands for no feature, in the one pair of a user who has none."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the rows.

    Parameters
    ----------
    n_rows, n_entries, n_features
        Their numbers.
    duplicates
        Repeated entries that were dropped.
    people
        Whether features are people, the users themselves.
    ids_as_items
        How many items are ids of users, where both are text and items are things.
    said
        What the owner should know of the reading.
    left_out
        The names of columns that were left out.
    input_sha256
        What `graphveil.records.digest.digest_of` gives for the data in memory.
    """

    n_rows: int
    n_entries: int
    n_features: int
    duplicates: int
    people: bool
    ids_as_items: int
    said: tuple[str, ...]
    left_out: tuple[str, ...]
    input_sha256: str


def intake(
    source: Source,
    options: BipartiteOptions,
    folder: Path,
    engine: Engine,
    hashes: np.random.Generator,
) -> Facts:
    """Write rows and names of features into a folder, and return their numbers.

    `ROWS` gets the columns position, user, items, the eight smallest hashes and `TIES`, sorted by
    user as in a container; `FEATURES` the names in order.

    Parameters
    ----------
    source, options
        The file and how it is read.
    folder
        An empty folder.
    engine
        What sorts.
    hashes
        Draws the hashes of features.
    """
    with stage(f"reading {source.name}"):
        raw = raw_rows(source, options, folder, engine.memory_mib)
    if not raw.path.exists():
        source.refuse("no user. Give at least one row.")
    people = options.items == "people"
    if people and raw.user_is_integer != raw.item_is_integer:
        raw = raw._replace(user_is_integer=False, item_is_integer=False)
    with stage("numbering features"):
        shared = None if people else _shared_ids(raw, folder, engine.memory_mib)
        if shared is not None and options.items is None and shared.refusal:
            source.refuse(shared.refusal)
        _write_features(raw, folder, engine.memory_mib, people=people)
    names = features_of(folder)
    new_users = _item_only(raw, folder, engine.memory_mib) if people else iter(())
    duplicates = _write_coded(raw, Numbering(names), folder, new_users)
    raw.path.unlink()
    (folder / "sorted").mkdir()
    columns = ["user", "items"] if raw.lists else ["user", "item"]
    by = columns[:1] if raw.lists else columns
    sources = [folder / "coded.parquet"]
    pieces = engine.sorted_chunks(
        sources, folder / "sorted", by=by, keep=columns, chunk_rows=PIECE_ROWS
    )
    sources[0].unlink()
    features = as_ids(names, what="items")
    signatures = MinHash(features, hashes)
    n_rows, n_entries, repeated = _write_rows(source, pieces, signatures, folder)
    for piece in pieces:
        piece.unlink()
    return Facts(
        n_rows=n_rows,
        n_entries=n_entries,
        n_features=len(names),
        duplicates=duplicates + repeated,
        people=people,
        ids_as_items=0 if shared is None or _are_numbers(raw) else shared.n,
        said=tuple(m.text for m in _report(source, raw, duplicates + repeated).dropped()),
        left_out=raw.notes.columns_ignored,
        input_sha256=digest_of_parts(lambda: _parts(folder / ROWS), features),
    )


def features_of(folder: Path) -> pa.Array:
    """Return the names of the features in order, mapped into memory."""
    table = ipc.open_file(pa.memory_map(os.fsencode(folder / FEATURES))).read_all()
    return table["item"].combine_chunks()


def _report(source: Source, raw: Raw, duplicates: int) -> ReadingReport:
    noted = raw.notes.reported() | {"duplicates": duplicates}
    return ReadingReport(format=source.format.name, **noted)


def _are_numbers(raw: Raw) -> bool:
    return raw.user_is_integer or raw.item_is_integer


def _users_of(db: duckdb.DuckDBPyConnection, raw: Raw, kind: str) -> duckdb.DuckDBPyRelation:
    """Return the distinct users as `id`, to be read once."""
    return rows_of(db, [raw.path], ["user"]).project(f'CAST("user" AS {kind}) AS id').distinct()


def _items_of(db: duckdb.DuckDBPyConnection, raw: Raw, kind: str) -> duckdb.DuckDBPyRelation:
    """Return the distinct items as `id`, to be read once."""
    column = "items" if raw.lists else "item"
    value = f"unnest({identifier(column)})" if raw.lists else identifier(column)
    return rows_of(db, [raw.path], [column]).project(f"CAST({value} AS {kind}) AS id").distinct()


def _shared_ids(raw: Raw, folder: Path, memory_mib: int) -> SharedIds:
    """Return which ids stand for users and for items."""
    integers = raw.user_is_integer and raw.item_is_integer
    kind, largest = ("BIGINT", "max(id)") if integers else ("VARCHAR", "0")
    with database(folder, memory_mib=memory_mib, threads=1) as db:
        counts = [
            side(db, raw, kind).aggregate(f"count(*), coalesce({largest}, 0)").fetchall()[0]
            for side in (_users_of, _items_of)
        ]
        users = _users_of(db, raw, kind).set_alias("u")
        items = _items_of(db, raw, kind).set_alias("i")
        common = users.join(items, "u.id = i.id", how="semi")
        (shared,) = common.aggregate("count(*)").fetchall()[0]
    both = integers and all(counted(n, top) for n, top in counts)
    return SharedIds(shared, counts[1][0], counted=both)


def _item_only(raw: Raw, folder: Path, memory_mib: int) -> Iterator[pa.Array]:
    """Yield the people who are items and no users."""
    with database(folder, memory_mib=memory_mib, threads=1) as db:
        users = _users_of(db, raw, "VARCHAR")
        for batch in stream(_items_of(db, raw, "VARCHAR").except_(users)):
            yield batch.column(0).cast(pa.string())


def _write_features(raw: Raw, folder: Path, memory_mib: int, *, people: bool) -> None:
    kind = "BIGINT" if raw.item_is_integer else "VARCHAR"
    schema = pa.schema([("item", pa.int64() if raw.item_is_integer else pa.string())])
    with (
        database(folder, memory_mib=memory_mib, threads=1) as db,
        (folder / FEATURES).open("wb") as file,
        ipc.new_file(file, schema) as writer,
    ):
        items = _items_of(db, raw, kind)
        if people:
            items = items.union(_users_of(db, raw, kind))
        for batch in stream(items.distinct().project("id AS item").order("item")):
            writer.write_table(pa.Table.from_batches([batch]).cast(schema))


class Numbering:
    """Names of features to their numbers: their positions in order."""

    def __init__(self, names: pa.Array) -> None:
        self._names = names
        self._table: NDArray[np.int32] | None = None
        self._numbers: NDArray[np.int64] | None = None
        if pa.types.is_integer(names.type):
            self._numbers = numbers = names.to_numpy(zero_copy_only=False)
            if numbers.size and numbers[-1] < 8 * numbers.size + (1 << 20):
                self._table = np.zeros(int(numbers[-1]) + 1, dtype=np.int32)
                self._table[numbers] = np.arange(numbers.size, dtype=np.int32)

    def numbers_of(self, values: pa.Array) -> NDArray[np.int32]:
        """Return the number of every value."""
        if self._numbers is None:
            positions = pc.index_in(values, value_set=self._names)
            return np.asarray(positions.to_numpy(zero_copy_only=False), dtype=np.int32)
        numbers = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
        if self._table is not None:
            return np.asarray(self._table[numbers])
        return np.asarray(np.searchsorted(self._numbers, numbers), dtype=np.int32)


def _write_coded(
    raw: Raw, numbering: Numbering, folder: Path, new_users: Iterator[pa.Array]
) -> int:
    """Write the raw rows with numbers for features, and return the repeats that were dropped.

    Further users have no features: an empty list, or one pair with the number `NOTHING`.
    """
    dropped = 0
    user_kind = pa.int64() if raw.user_is_integer else pa.string()

    def coded() -> Iterator[pa.RecordBatch]:
        nonlocal dropped
        for batch in batches_in(raw.path):
            user = batch.column("user").cast(user_kind)
            if not raw.lists:
                item = numbering.numbers_of(batch.column("item"))
                yield pa.RecordBatch.from_arrays([user, pa.array(item)], names=["user", "item"])
                continue
            column = batch.column("items")
            indices = numbering.numbers_of(column.flatten())
            rows, repeated = ItemLists(user, starts_of(column), indices).in_order()
            dropped += repeated
            yield pa.RecordBatch.from_arrays([user, rows.column()], names=["user", "items"])
        for more in new_users:
            yield _without_features(more.cast(user_kind), lists=raw.lists)

    write_batches(folder / "coded.parquet", coded())
    return dropped


def _without_features(users: pa.Array, *, lists: bool) -> pa.RecordBatch:
    n = len(users)
    if not lists:
        nothing = pa.array(np.full(n, NOTHING, dtype=np.int32))
        return pa.RecordBatch.from_arrays([users, nothing], names=["user", "item"])
    rows = ItemLists(users, np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    return pa.RecordBatch.from_arrays([users, rows.column()], names=["user", "items"])


def _write_rows(
    source: Source, pieces: list[Path], hashes: MinHash, folder: Path
) -> tuple[int, int, int]:
    """Write sorted rows with their smallest hashes; return rows, entries and repeats dropped."""
    counts = np.zeros(3, dtype=np.int64)
    last: list[object] = []

    def signed() -> Iterator[pa.RecordBatch]:
        for rows, repeated in map(ItemLists.in_order, _sorted_rows(pieces)):
            n = len(rows.users)
            ends = [*last, *(rows.users[at].as_py() for at in (0, n - 1))]
            equal = pc.equal(rows.users.slice(1), rows.users.slice(0, n - 1))
            if pc.any(equal).as_py() or (last and ends[0] == ends[1]):
                source.refuse("a user stands in two rows. Merge their lists.")
            last[:] = ends[-1:]
            signatures = hashes.signatures(rows.indptr, rows.indices)
            position = pa.array(np.arange(counts[0], counts[0] + n))
            counts[:] += (n, rows.indices.size, repeated)
            hashed = [*signatures.T.copy(), _hashes_of_users(rows.users)]
            columns = [position, rows.users, rows.column(), *map(pa.array, hashed)]
            names = ["position", "user", "items", *SIGNATURE, TIES]
            yield pa.RecordBatch.from_arrays(columns, names=names)

    write_batches(folder / ROWS, signed())
    n_rows, n_entries, dropped = counts.tolist()
    return n_rows, n_entries, dropped


def _hashes_of_users(users: pa.Array) -> NDArray[np.uint64]:
    if pa.types.is_integer(users.type):
        return hashes_of(users.to_numpy())
    texts = users.cast(pa.large_string())
    _, starts, letters = texts.buffers()
    ends = np.frombuffer(starts, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return hashes_of_texts(ends, np.frombuffer(letters or b"", dtype=np.uint8))


def _sorted_rows(pieces: list[Path]) -> Iterator[ItemLists]:
    batches = (batch for piece in pieces for batch in batches_in(piece))
    first = next(batches, None)
    if first is None:
        return

    def every() -> Iterator[pa.RecordBatch]:
        yield first
        yield from batches

    if "items" in first.schema.names:
        for batch in every():
            yield lists_of(batch.column("user"), batch.column("items"))
        return
    pairs = ((b.column("user"), b.column("item").to_numpy()) for b in every())
    yield from map(_without_nothing, grouped(pairs))


def _without_nothing(rows: ItemLists) -> ItemLists:
    """Return rows without the number that stands for no feature."""
    kept = rows.indices != NOTHING
    if kept.all():
        return rows
    ends = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    return ItemLists(rows.users, ends[rows.indptr], rows.indices[kept])


def _parts(path: Path) -> Iterator[RowsPart]:
    """Yield the rows as their digest takes them."""
    for batch in batches_in(path, ["user", "items"]):
        users = batch.column("user")
        rows = lists_of(users, batch.column("items"))
        text = pa.types.is_string(users.type)
        yield RowsPart(
            users.to_pylist() if text else users.to_numpy(), np.diff(rows.indptr), rows.indices
        )
