"""Text of the owner's, read a second time by DuckDB: cells between delimiters or blanks.

Lines above the first row that begin with ``#`` or ``%`` are comments; between rows they are so
where blanks part the cells. What cannot be told for certain is left to the program's own reader.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from graphveil.verify.database import Database, literal
from graphveil.verify.verdict import SHARED, TWICE, Check, not_checked, one_line

NO_CELL = "\x01"
"""What stands for no cell: text that reads so is left to the reader."""

BLANKS = " "
"""Stands for any run of blanks and tabs between two cells."""

_FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "text", ".edges": "text"}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_BETWEEN = ("\t", ",", ";", BLANKS)
"""What may stand between cells: the first that the first row has."""

_HEAD_BYTES = 1 << 20


def read_once(needs: str = "delimited text, and a first row of numbers or of known names") -> Check:
    """Return what is said of a file that no other code reads in the same way."""
    return not_checked(TWICE, SHARED, needs=needs)


class PlainFile(NamedTuple):
    """A file of text.

    Parameters
    ----------
    path
        Where it lies.
    delimiter
        What stands between cells, or `BLANKS`.
    compression
        As DuckDB calls it.
    skipped
        How many lines stand above the first row.
    first
        The cells of the first row.
    """

    path: Path
    delimiter: str
    compression: str
    skipped: int
    first: list[str]


def plain_file(path: Path, reading: Mapping[str, Any]) -> PlainFile | None:
    """Return how the file is to be read, or None where it is no such text.

    Parameters
    ----------
    path
        The file.
    reading
        The options that the program read it with.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = next((suffix for suffix in suffixes[-1:] if suffix in _COMPRESSIONS), "")
    extension = next(iter(suffixes[: len(suffixes) - bool(packed)][-1:]), "")
    if (reading.get("format") or _FORMATS.get(extension)) not in _FORMATS.values():
        return None
    file = PlainFile(path, BLANKS, _COMPRESSIONS.get(packed, "none"), 0, [])
    lines = _head(file)
    skipped = next((n for n, line in enumerate(lines) if not _is_comment(line)), len(lines))
    if skipped == len(lines):
        return None
    row, asked = lines[skipped].removeprefix("\ufeff"), reading.get("delimiter")
    delimiter = {"tab": "\t", "space": BLANKS}.get(asked, asked) if asked else None
    delimiter = delimiter or next((mark for mark in _BETWEEN if mark in row), None)
    if delimiter is None or len(delimiter) != 1:
        return None
    return file._replace(delimiter=delimiter, skipped=skipped, first=_cells(row, delimiter))


def read_again(
    db: Database, file: PlainFile, cells: list[int], *, header: bool, table: str = "again"
) -> Check | None:
    """Create a table of some cells f0, f1, ... of every row, or say why it cannot be.

    Parameters
    ----------
    db
        The database.
    file
        The file.
    cells
        The columns, by their numbers from 0.
    header
        Whether the first row names columns.
    table
        What is created.
    """
    try:
        if file.delimiter == BLANKS:
            _read_blanks(db, file, cells, header=header, table=table)
        else:
            _read_delimited(db, file, cells, header=header, table=table)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        return not_checked(TWICE, f"{SHARED}: a second one says {one_line(error)}")
    return None


def _read_delimited(
    db: Database, file: PlainFile, cells: list[int], *, header: bool, table: str
) -> None:
    columns = ", ".join(f"c{number}: 'VARCHAR'" for number in range(len(file.first)))
    named = ", ".join(f"c{cell} AS f{number}" for number, cell in enumerate(cells))
    db.run(
        f"CREATE TABLE {table} AS SELECT {named} FROM read_csv(?, auto_detect = false, "
        f"header = {str(header).lower()}, skip = {file.skipped}, "
        f"delim = {literal(file.delimiter)}, quote = '\"', escape = '\"', "
        f"nullstr = '{NO_CELL}', compression = '{file.compression}', "
        f"hive_partitioning = false, columns = {{{columns}}})",
        [db.link(file.path.resolve())],
    )


def _read_blanks(
    db: Database, file: PlainFile, cells: list[int], *, header: bool, table: str
) -> None:
    """Create the table of rows whose cells blanks part; all have as many as the first."""
    n = len(file.first)
    named = ", ".join(f"cells[{cell + 1}] AS f{number}" for number, cell in enumerate(cells))
    rows = (
        f"SELECT regexp_split_to_array(trim(line, ' \t'), '[ \t]+') AS cells "
        f"FROM ({_lines(db, file)}) "
        "WHERE line IS NOT NULL AND NOT regexp_matches(line, '^[ \t]*([#%]|$)')"
    )
    first = "OFFSET 1" if header else ""
    db.run(
        f"CREATE TABLE {table} AS SELECT {named}, len(cells) = {n} AS whole FROM ({rows} {first})"
    )
    ragged = db.first(f"SELECT 1 FROM {table} WHERE NOT whole LIMIT 1")
    if ragged:
        raise duckdb.InvalidInputException("that rows have not all as many cells")


def _lines(db: Database, file: PlainFile) -> str:
    """Return SQL that gives every line in a column `line`."""
    return (
        f"SELECT line FROM read_csv({literal(db.link(file.path.resolve()))}, auto_detect = false, "
        "header = false, delim = '\x02', quote = '', escape = '', nullstr = '\x03', "
        f"compression = '{file.compression}', hive_partitioning = false, "
        "columns = {line: 'VARCHAR'})"
    )


def _head(file: PlainFile) -> list[str]:
    """Return the whole lines at the beginning of a file; none where they are no text."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and a release alone needs none of it

    try:
        with pa.OSFile(os.fsencode(file.path)) as raw:
            packed = file.compression != "none"
            stream = pa.CompressedInputStream(raw, file.compression) if packed else raw
            text = stream.read(_HEAD_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return []
    lines: list[str] = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if len(text) < _HEAD_BYTES else lines[:-1])]


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(("#", "%"))


def _cells(row: str, delimiter: str) -> list[str]:
    if delimiter == BLANKS:
        return row.split()
    try:
        return next(csv.reader([row], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        return []
