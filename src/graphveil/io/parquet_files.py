"""Parquet files of ours, opened by their names alone.

Arrow takes some names for addresses (``file:``, ``s3:``, ``~``), and DuckDB some for patterns
(``*``, ``?``, ``[``) or for columns (``user=1``). So neither is given a name: both get open files.
Files that are read are Arrow's own (`graphveil.io.native`), since its threads read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from graphveil.io.native import native_file

BATCH_ROWS = 1 << 16


@contextmanager
def opened_parquet(path: Path) -> Iterator[parquet.ParquetFile]:
    """Open a Parquet file that is read some rows at a time."""
    with native_file(path) as stream, parquet.ParquetFile(stream, pre_buffer=False) as file:
        yield file


@contextmanager
def parquet_writer(path: Path, schema: pa.Schema, **options: Any) -> Iterator[Any]:
    """Open a Parquet file to be written a table at a time; an old file of the name is emptied."""
    with path.open("wb") as stream, parquet.ParquetWriter(stream, schema, **options) as writer:
        yield writer


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table into a Parquet file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_parquet(pa.table({"x": [3, 1]}), Path(folder, "x=[1].parquet"))
    ...     read_parquet(Path(folder, "x=[1].parquet")).to_pydict()
    {'x': [3, 1]}
    """
    with path.open("wb") as stream:
        parquet.write_table(table, stream)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the table in a Parquet file, or some of its columns."""
    with opened_parquet(path) as file:
        return file.read(None if columns is None else list(columns))


def schema_of(path: Path) -> pa.Schema:
    """Return the columns of a Parquet file, with its metadata."""
    with opened_parquet(path) as file:
        return file.schema_arrow


def rows_in(paths: Sequence[Path]) -> int:
    """Return how many rows some Parquet files have together."""
    total = 0
    for path in paths:
        with opened_parquet(path) as file:
            total += file.metadata.num_rows
    return total


def batches_in(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file some at a time; no more of it is in memory.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_parquet(pa.table({"x": [3, 1]}), Path(folder, "numbers.parquet"))
    ...     [batch.num_rows for batch in batches_in(Path(folder, "numbers.parquet"))]
    [2]
    """
    with opened_parquet(path) as file:
        yield from file.iter_batches(BATCH_ROWS, columns=columns)


def write_batches(path: Path, batches: Iterator[pa.RecordBatch | pa.Table]) -> None:
    """Write batches of the same columns into one file; no batch makes no file."""
    first = next(batches, None)
    if first is None:
        return
    with parquet_writer(path, first.schema) as writer:
        writer.write(first)
        for batch in batches:
            writer.write(batch)
