"""Parquet and Arrow files read by column, names and types checked first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphveil.verify.database import Database, UnreadableError, identifier, literal
from graphveil.verify.verdict import shown

_ARROW = b"ARROW1\0\0"
_WRITER = re.compile(
    r"(parquet-cpp-arrow|DuckDB) version v?[0-9.]{1,20}( \(build [0-9a-f]{1,40}\))?"
)
_INTEGERS = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
)


def load_columnar(
    db: Database,
    path: Path,
    table: str,
    columns: Sequence[tuple[str, str]],
    *,
    names: Sequence[str],
) -> None:
    """Create a table of a Parquet or Arrow file.

    Parameters
    ----------
    table, columns
        The table and its (column, SQL type): names of this program.
    names
        What the file must call its columns.

    Raises
    ------
    UnreadableError
        Where a column has another name or type, or an id is missing.
    """
    relation, columns_read = _relation(db, path)
    described = db.rows(f"DESCRIBE SELECT * FROM {relation}")
    if columns_read != list(names):
        raise UnreadableError(
            f"{path.name} has the columns {shown(columns_read)}, not {shown(list(names))}"
        )
    for row, (_, kind) in zip(described, columns, strict=True):  # SQL calls A, a: A, a_1
        if kind == "BIGINT" and row[1] not in _INTEGERS:
            raise UnreadableError(f"{path.name}: {row[0]} holds {shown(row[1])}, not integers")
        if row[1] in _INTEGERS:
            _refuse_negative(db, relation, row[0], path.name)
    listed = ", ".join(name for name, _ in columns)
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in columns)
    db.run(f"CREATE TABLE {table} AS SELECT {casts} FROM {relation} AS raw({listed})")


def _relation(db: Database, path: Path) -> tuple[str, list[str]]:
    """Return what SQL reads a file from, and the names of its columns as they stand there."""
    if path.suffix == ".parquet":
        names = _parquet_names(path)
        return f"read_parquet({literal(db.link(path))}, hive_partitioning = false)", names
    import pyarrow as pa  # noqa: PLC0415

    with path.open("rb") as stream:
        if stream.read(len(_ARROW)) != _ARROW:
            raise UnreadableError(f"{path.name} does not begin as an Arrow file")
        stream.seek(0)
        frame = _arrow_table(pa.ipc.open_file(stream), path.name)
    frame.validate(full=True)
    return db.named(frame), frame.column_names


def _refuse_negative(db: Database, relation: str, column: str, name: str) -> None:
    least = db.first(f"SELECT min({identifier(column)}) FROM {relation}")
    if least and least[0] is not None and least[0] < 0:
        raise UnreadableError(f"{name}: {least[0]} in the column {column} is below 0")


def _parquet_names(path: Path) -> list[str]:
    """Return the names of the columns of a file that says no more than its columns.

    SQL passes over what others read there.
    """
    from pyarrow import parquet  # noqa: PLC0415  heavy, and only this format needs it

    with path.open("rb") as stream, parquet.ParquetFile(stream) as file:
        footer, schema = file.metadata, file.schema_arrow
        if footer.metadata:
            raise UnreadableError(f"{path.name} carries metadata: {shown(sorted(footer.metadata))}")
        if not _WRITER.fullmatch(footer.created_by or ""):
            raise UnreadableError(f"{path.name} was created by {shown(footer.created_by)}")
        _refuse_schema_metadata(schema, path.name)
        return list(schema.names)


def _arrow_table(reader: Any, name: str) -> Any:
    """Return the table of an Arrow file that says no more than its columns."""
    import pyarrow as pa  # noqa: PLC0415  heavy, as above

    _refuse_schema_metadata(reader.schema, name)
    if getattr(reader, "metadata", None):
        raise UnreadableError(f"{name} carries metadata")
    batches = []
    for number in range(reader.num_record_batches):
        batch, metadata = reader.get_batch_with_custom_metadata(number)
        if metadata:
            raise UnreadableError(f"{name} carries metadata in part {number + 1}")
        batches.append(batch)
    return pa.Table.from_batches(batches, schema=reader.schema)


def _refuse_schema_metadata(schema: Any, name: str) -> None:
    if schema.metadata:
        raise UnreadableError(f"{name} carries metadata: {shown(sorted(schema.metadata))}")
    for field in schema:
        extra = {key for key in field.metadata or {} if key != b"PARQUET:field_id"}
        if extra:
            raise UnreadableError(f"{name} carries metadata in the column {shown(field.name)}")


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
