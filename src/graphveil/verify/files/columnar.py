"""Parquet files: read, written again with the settings of a release, and compared byte by byte.

Everything in such a file but its cells is the writer's: encodings, the order of words in a
dictionary, sizes of pages, the footer. Without compression these follow from the cells alone, in
every version of the library from 20 on, so that a file of equal bytes has no room for more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any

from graphveil.verify.database import Database, UnreadableError, identifier, some_at_once
from graphveil.verify.files.canonical import first_difference
from graphveil.verify.verdict import shown

ROWS = 1 << 20
CREATED_BY = b"graphveil version 1.0.0"
_BYTES_PER_CELL = 8
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


def load_columnar(
    db: Database,
    path: Path,
    table: str,
    columns: Sequence[tuple[str, str]],
    *,
    names: Sequence[str],
) -> None:
    """Create a table of a Parquet file.

    Parameters
    ----------
    table, columns
        The table and its (column, SQL type): names of this program.
    names
        What the file must call its columns.

    Raises
    ------
    UnreadableError
        Where a column has another name or type, text holds nothing but whole numbers, a number is
        negative, or a byte is not as it would be written.
    """
    frame = _read(db, path, columns, names)
    _compare(path, _written(frame))
    listed = ", ".join(name for name, _ in columns)
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in columns)
    texts = _texts(frame.schema)
    relation = db.named(frame)
    _refuse_negative(db, relation, [name for name in names if name not in texts], path.name)
    db.run(f"CREATE TABLE {table} AS SELECT {casts} FROM {relation} AS raw({listed})")
    called = {column: name for (column, _), name in zip(columns, names, strict=True)}
    of_text = [column for column, name in called.items() if name in texts]
    for column in db.columns_of_numbers(table, of_text)[:1]:
        raise UnreadableError(
            f"{path.name}: the column {shown(called[column])} holds whole numbers as string, not "
            "as int64"
        )


def _read(
    db: Database, path: Path, columns: Sequence[tuple[str, str]], names: Sequence[str]
) -> Any:
    """Return the cells under their names, once they are known to fit into memory.

    Nothing else that the file says of its columns goes with them.
    """
    import pyarrow as pa  # noqa: PLC0415  heavy, and text needs none of it
    from pyarrow import parquet  # noqa: PLC0415  as above

    plain = os.fsencode(path)
    with pa.OSFile(plain) as stream, parquet.ParquetFile(stream, pre_buffer=False) as file:
        refuse_types(path.name, file.schema_arrow, columns, names)
        content = file.metadata.num_rows * len(names) * _BYTES_PER_CELL
        db.refuse_unpacked(content, path.stat().st_size, path.name)
        refuse_packed(db, path)
        words = _texts(file.schema_arrow)
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


def refuse_types(
    name: str, schema: Any, columns: Sequence[tuple[str, str]], names: Sequence[str]
) -> None:
    """Refuse columns of other names or types than these (column, SQL type)."""
    if schema.names != list(names):
        raise UnreadableError(
            f"{name} has the columns {shown(schema.names)}, not {shown(list(names))}"
        )
    for field, (_, kind) in zip(schema, columns, strict=True):
        allowed = ("int64",) if kind == "BIGINT" else ("int64", "string")
        if str(field.type) not in allowed:
            raise UnreadableError(
                f"{name}: {field.name} holds {shown(str(field.type))}, not {' or '.join(allowed)}"
            )


def refuse_packed(db: Database, path: Path) -> None:
    """Refuse compressed pages before they are unpacked: one content has many packings.

    SQL asks, since pyarrow ends the process on some broken descriptions of a column.
    """
    packed = db.first(
        "SELECT compression FROM parquet_metadata(?) WHERE compression <> 'UNCOMPRESSED' LIMIT 1",
        [db.link(path)],
    )
    if packed:
        raise UnreadableError(f"{path.name} is compressed with {shown(packed[0])}")


def _refuse_long(db: Database, column: Any, name: str) -> None:
    """Refuse text that few words of a dictionary make longer than memory holds."""
    import pyarrow.compute as pc  # noqa: PLC0415  heavy, as above

    size = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary).cast("int64").take(chunk.indices)
        size += pc.sum(lengths).as_py() or 0
    db.refuse_beyond(size, name)


def _written(frame: Any) -> bytes:
    """Return the bytes of a table in the one form."""
    from pyarrow import parquet  # noqa: PLC0415  heavy, as above

    sink = BytesIO()
    texts = _texts(frame.schema)
    numbers = [name for name in frame.column_names if name not in texts]
    settings = settings_of(numbers, list(texts))
    with parquet.ParquetWriter(sink, frame.schema, **settings) as writer:
        for start in range(0, max(frame.num_rows, 1), ROWS):
            group = frame.slice(start, ROWS).combine_chunks()
            writer.write_table(group, row_group_size=ROWS)
    content = sink.getvalue()
    size = int.from_bytes(content[-8:-4], "little")
    written_by = parquet.ParquetFile(BytesIO(content)).metadata.created_by.encode()
    footer, _, behind = content[-8 - size : -8].rpartition(named_writer(written_by))
    footer += named_writer(CREATED_BY) + behind
    return content[: -8 - size] + footer + len(footer).to_bytes(4, "little") + content[-4:]


def settings_of(numbers: Sequence[str], texts: Sequence[str] = ()) -> dict[str, Any]:
    """Return what decides on the bytes of a file with these columns, beside its cells."""
    from pyarrow import parquet  # noqa: PLC0415  heavy, as above

    settings = {
        **_SETTINGS,
        "use_dictionary": list(texts) or False,
        "column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
    }
    if "max_rows_per_page" in signature(parquet.ParquetWriter.__init__).parameters:
        settings["max_rows_per_page"] = ROWS
    return settings


def named_writer(writer: bytes) -> bytes:
    """Return the name of a writer as a footer holds it."""
    return bytes([0x28, len(writer)]) + writer


def _compare(path: Path, expected: bytes) -> None:
    content = path.read_bytes()
    if content == expected:
        return
    position = first_difference(content, expected)
    raise UnreadableError(
        f"{path.name}, byte {position} of {len(content)}: not as these cells are written, in the "
        f"one form of {len(expected)} bytes"
    )


def _refuse_negative(db: Database, relation: str, columns: Sequence[str], name: str) -> None:
    for names in some_at_once(columns):
        least = ", ".join(f"min({identifier(column)})" for column in names)
        values = db.first(f"SELECT {least} FROM {relation}") or ()
        for column, value in zip(names, values, strict=True):
            if (value or 0) < 0:
                raise UnreadableError(f"{name}: {value} in the column {shown(column)} is below 0")


def refuse_missing(db: Database, table: str, columns: Sequence[str], name: str) -> None:
    """Refuse a table in which one of these columns is null; the message names the row.

    Raises
    ------
    UnreadableError
        Where a cell is missing.
    """
    for column in columns:
        row = db.first(f"SELECT rowid + 1 FROM {table} WHERE {column} IS NULL LIMIT 1")
        if row:
            what = "user" if column == "person" else column
            raise UnreadableError(f"{name}: row {row[0]} has no {what}")
