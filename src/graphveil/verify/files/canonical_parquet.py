"""The canonical form of Parquet: row groups are written again, and bytes are compared.

Claim checked: nothing hides in a file. Parquet has many encodings, page sizes, statistics and
free-text fields for the same cells; a release has one combination of them (`_SETTINGS`). A file
of another is refused at its first different byte.

Means: pyarrow decodes the cells, and writes them again into a sink that keeps nothing but the
first difference. The footer holds the version of the writing library, so its end is rewritten
with one fixed name before it is compared. Large files are compared one row group at a time and
become a view of the file; smaller ones become a table.

Cost: one decoding and one encoding of the file, O(bytes); memory for one row group (`ROWS` rows),
or for all cells where a table is made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any

from graphveil.core.libraries import pa, parquet, pc
from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.files.canonical_text import Columns, first_difference
from graphveil.verify.verdict import shown

ROWS = 1 << 20
"""Rows of one row group in the canonical form. Part of the format: another number gives other
bytes."""

CREATED_BY = b"graphveil version 1.0.0"
"""The writer that the footer of a release names, whatever the version of the library."""

_BYTES_PER_CELL = 8
"""Memory that a decoded cell takes, in bytes: an int64, or the code of a text."""

_SETTINGS: dict[str, Any] = {
    "compression": "none",
    "write_statistics": False,
    "store_schema": False,
    "version": "2.6",
    "data_page_version": "1.0",
    "data_page_size": 1 << 20,
    "dictionary_pagesize_limit": 1 << 24,
    "write_batch_size": 1024,
}
"""The choices that a Parquet writer has, all fixed: part of the format, as another choice gives
other bytes."""


def load_columnar(
    db: Database, path: Path, table: str, columns: Columns, *, names: Sequence[str]
) -> None:
    """Create a table of a Parquet file, whose columns have the given names and SQL types."""
    # Step 1: decode the cells, once their types and size are known to be acceptable.
    frame = _read(db, path, columns, names)
    # Step 2: write them again, group by group, and compare with the file's bytes.
    texts = _texts(frame.schema)
    numbers = [name for name in names if name not in texts]
    groups = (frame.slice(at, ROWS).combine_chunks() for at in range(0, frame.num_rows or 1, ROWS))
    compare_groups(path, groups, frame.schema, settings_of(numbers, list(texts)), ROWS)
    # Step 3: what canonical bytes can still get wrong: negative numbers, and whole numbers kept as
    # text.
    below = _below_zero(frame, numbers, path.name)
    if below is not None:
        raise below
    # Step 4: hand the cells to SQL under the names of the table.
    listed = ", ".join(name for name, _ in columns)
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in columns)
    db.run(f"CREATE TABLE {table} AS SELECT {casts} FROM {db.named(frame)} AS raw({listed})")
    called = {column: name for (column, _), name in zip(columns, names, strict=True)}
    of_text = [column for column, name in called.items() if name in texts]
    for column in db.columns_of_numbers(table, of_text)[:1]:
        raise UnreadableError(
            f"{path.name}: the column {shown(called[column])} stores whole numbers as string "
            "instead of int64"
        )


def _read(db: Database, path: Path, columns: Columns, names: Sequence[str]) -> Any:
    """Return the cells under their names, once they are known to fit into memory.

    Nothing else that the file says of its columns goes with them.
    """
    # First the schema and the sizes alone, from the footer: no page is unpacked yet.
    plain = os.fsencode(path)
    with pa.OSFile(plain) as stream, parquet.ParquetFile(stream, pre_buffer=False) as file:
        refuse_types(path.name, file.schema_arrow, columns, names)
        content = file.metadata.num_rows * len(names) * _BYTES_PER_CELL
        db.refuse_unpacked(content, path.stat().st_size, path.name)
        refuse_packed(db, path)
        words = _texts(file.schema_arrow)
    # Then the cells; text stays a dictionary until its length is known.
    with pa.OSFile(plain) as stream:
        file = parquet.ParquetFile(stream, pre_buffer=False, read_dictionary=list(words))
        frame = file.read(use_threads=False)
    frame.validate(full=True)
    for name in words:
        _refuse_long(db, frame[name], path.name)
    cells = [frame[name].cast("string") if name in words else frame[name] for name in names]
    return pa.Table.from_arrays(cells, names=list(names))


def _texts(schema: Any) -> dict[str, None]:
    """Return the names of the columns of text, in order."""
    return dict.fromkeys(field.name for field in schema if str(field.type) == "string")


def refuse_types(name: str, schema: Any, columns: Columns, names: Sequence[str]) -> None:
    """Refuse columns of other names or types than these (column, SQL type)."""
    if schema.names != list(names):
        raise UnreadableError(
            f"{name} has the columns {shown(schema.names)}, not {shown(list(names))}"
        )
    for field, (_, kind) in zip(schema, columns, strict=True):
        allowed = ("int64",) if kind == "BIGINT" else ("int64", "string")
        if str(field.type) not in allowed:
            raise UnreadableError(
                f"{name}: {field.name} has the type {shown(str(field.type))}, not "
                f"{' or '.join(allowed)}"
            )


def refuse_packed(db: Database, path: Path) -> None:
    """Refuse compressed pages before they are unpacked: one content has many packings.

    SQL asks, since pyarrow ends the process on some broken descriptions of a column.
    """
    # One content has many packings, so a release has none.
    packed = db.first(
        "SELECT compression FROM parquet_metadata(?) WHERE compression <> 'UNCOMPRESSED' LIMIT 1",
        [db.link(path)],
    )
    if packed:
        raise UnreadableError(f"{path.name} is compressed with {shown(packed[0])}")


def _refuse_long(db: Database, column: Any, name: str) -> None:
    """Refuse text whose length exceeds the limit, although its dictionary is small."""
    size = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary).cast("int64").take(chunk.indices)
        size += pc.sum(lengths).as_py() or 0
    db.refuse_beyond(size, name)


def settings_of(numbers: Sequence[str], texts: Sequence[str] = ()) -> dict[str, Any]:
    """Return the settings of the writer that, with the cells, determine the bytes of a file."""
    settings = {
        **_SETTINGS,
        "use_dictionary": list(texts) or False,
        "column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
    }
    if "max_rows_per_page" in signature(parquet.ParquetWriter.__init__).parameters:
        settings["max_rows_per_page"] = ROWS
    return settings


def named_writer(writer: bytes) -> bytes:
    """Return the name of a writer as it is encoded in a footer."""
    return bytes([0x28, len(writer)]) + writer


def view_columnar(db: Database, path: Path, view: str, names: Sequence[str]) -> None:
    """Create a view of a Parquet file of whole numbers."""
    with opened_columnar(path) as file:
        refuse_types(path.name, file.schema_arrow, [(name, "BIGINT") for name in names], names)
        # The file stays on disk: it is compared once, some rows at a time, and SQL then reads it.
        n_rows = file.metadata.num_rows
        content = n_rows * len(names) * _BYTES_PER_CELL
        db.refuse_unrolled(content, path.stat().st_size, path.name)
        refuse_packed(db, path)
        odd = _compared(file, path, names)
    if odd is not None:
        raise odd
    listed = ", ".join(names)
    link = literal(db.link(path))
    db.run(f"CREATE VIEW {view} AS SELECT {listed} FROM read_parquet({link})")


@contextmanager
def opened_columnar(path: Path) -> Iterator[Any]:
    """Open a Parquet file without reading ahead."""
    with pa.OSFile(os.fsencode(path)) as stream:
        yield parquet.ParquetFile(stream, pre_buffer=False)


def _compared(file: Any, path: Path, names: Sequence[str]) -> UnreadableError | None:
    """Compare the bytes of a file with its rows written again; return the first invalid number."""
    schema = pa.schema([(name, pa.int64()) for name in names])
    odd: list[UnreadableError] = []

    def whole() -> Iterator[Any]:
        for batch in file.iter_batches(ROWS, columns=list(names), use_threads=False):
            batch.validate(full=True)
            yield batch.select(list(names))

    def looked_at() -> Iterator[Any]:
        first = 0
        for rows in in_groups(whole(), schema, ROWS):
            strange = None if odd else _strange(rows, first, path.name)
            odd.extend([] if strange is None else [strange])
            first += rows.num_rows
            yield rows

    compare_groups(path, looked_at(), schema, settings_of(names), ROWS)
    return odd[0] if odd else None


def compare_groups(
    path: Path, groups: Iterable[Any], schema: Any, settings: dict[str, Any], n_rows: int
) -> None:
    """Refuse a Parquet file whose bytes differ from these row groups, written again."""
    with path.open("rb") as stream:
        # The writer is pyarrow's own; the sink compares what it writes instead of keeping it.
        sink = _ComparingSink(stream)
        writer = parquet.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, **settings)
        try:
            for rows in groups:
                writer.write_table(rows, row_group_size=n_rows)
        finally:
            sink.hold()  # also what a writer that is given up says
        writer.close()
        # The footer was held back: it names the version of the library, which is replaced by one
        # name.
        sink.end(_renamed(sink.held()))
    if sink.differs_at is not None:
        raise UnreadableError(
            f"{path.name}, byte {sink.differs_at} of {path.stat().st_size}: differs from the "
            f"canonical form of these cells, which has {sink.size} bytes"
        )


def in_groups(batches: Iterable[Any], schema: Any, n_rows: int) -> Iterator[Any]:
    """Yield rows in groups of the canonical size; one empty group if there are no rows.

    However the file is divided, no more of it is in memory.
    """
    waiting: list[Any] = []
    n, some = 0, False
    for batch in batches:
        waiting.append(batch)
        n += batch.num_rows
        while n >= n_rows:
            table = pa.Table.from_batches(waiting)
            some = True
            yield table.slice(0, n_rows).combine_chunks()
            waiting, n = table.slice(n_rows).to_batches(), n - n_rows
    if n or not some:
        yield pa.Table.from_batches(waiting, schema).combine_chunks()


def _strange(rows: Any, first: int, name: str) -> UnreadableError | None:
    """Return the first number that is missing or negative, as an error; None if there is none."""
    for column in rows.column_names:
        if rows[column].null_count:
            row = pc.index(pc.is_null(rows[column]), True).as_py()
            return UnreadableError(f"{name}: row {first + row + 1} has no {column}")
    return _below_zero(rows, rows.column_names, name)


def _below_zero(rows: Any, columns: Sequence[str], name: str) -> UnreadableError | None:
    for column in columns:
        least = pc.min(rows[column]).as_py()
        if least is not None and least < 0:
            return UnreadableError(f"{name}: {least} in the column {shown(column)} is below 0")
    return None


def _renamed(tail: bytes) -> bytes:
    """Return the end of a file with the writer's name replaced by the canonical one."""
    sink = BytesIO()
    parquet.ParquetWriter(sink, pa.schema([("one", pa.int64())])).close()
    # The writer's own name, taken from the footer of an empty file that it writes.
    library = parquet.ParquetFile(BytesIO(sink.getvalue())).metadata.created_by.encode()
    # A Parquet file ends with its footer, the footer's length in 4 bytes, and the letters PAR1.
    size = int.from_bytes(tail[-8:-4], "little")
    body, footer = tail[: -8 - size], tail[-8 - size : -8]
    before, _, behind = footer.rpartition(named_writer(library))
    footer = before + named_writer(CREATED_BY) + behind
    return body + footer + len(footer).to_bytes(4, "little") + tail[-4:]


class _ComparingSink:
    """A file to write to that compares with another file and keeps only the first difference."""

    def __init__(self, other: Any) -> None:
        self.differs_at: int | None = None
        self.size = 0
        self.closed = False
        self._other = other
        self._held: bytearray | None = None

    def write(self, content: Any) -> int:
        """Compare some bytes, or keep them after `hold`."""
        raw = bytes(content)
        if self._held is None:
            self._compare(raw)
        else:
            self._held += raw
        return len(raw)

    def hold(self) -> None:
        """Keep what is written from now on."""
        self._held = bytearray()

    def held(self) -> bytes:
        """Return the bytes that were kept since `hold`."""
        return bytes(self._held or b"")

    def end(self, rest: bytes) -> None:
        """Compare the last bytes; the other file must end with them."""
        self._compare(rest)
        if self.differs_at is None and self._other.read(1):
            self.differs_at = self.size

    def _compare(self, raw: bytes) -> None:
        if self.differs_at is None:
            there = self._other.read(len(raw))
            if there != raw:
                self.differs_at = self.size + first_difference(there, raw)
        self.size += len(raw)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size + len(self._held or b"")

    def flush(self) -> None:
        """Do nothing: bytes are compared at once."""

    def close(self) -> None:
        """Mark the file as closed."""
        self.closed = True
