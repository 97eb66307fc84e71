"""The owner's file of text, read a second time by DuckDB.

The program's reader decides what the original is, both for the method and for the checker. If it
lost a line or merged two values, release and record would agree on the wrong data. So plain text
is read here again, by other code: DuckDB's reader with explicit settings, and `csv` for the first
row.

Lines above the first row that begin with ``#`` or ``%`` are comments; between rows they are so
where blanks separate the cells. What is uncertain (a header to be guessed, blanks around cells)
is left to the program's own reader, and the check is *not checked*.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from graphveil.core.libraries import pa
from graphveil.verify import verdict
from graphveil.verify.database import Database, literal
from graphveil.verify.verdict import Check, not_checked, one_line

NO_CELL = "\x01"
"""What stands for no cell: text that reads so is left to the reader."""

BLANKS = " "
"""Stands for any run of blanks and tabs between two cells."""

_FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "text", ".edges": "text"}
"""Formats of text by the extension of a file's name."""

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_BETWEEN = ("\t", ",", ";", BLANKS)
"""What may stand between cells: the first that the first row has."""

_HEAD_BYTES = 1 << 20
"""So much of the beginning of a file is looked at to find its first row."""


_OF_THE_TEXT = ("encoding", "decimal", "missing", "column_names")
"""Options that change what the text of a file says, or name its columns: not repeated here."""

_UTF_8 = ("utf-8", "utf8", "utf_8")


def read_with_options(reading: Mapping[str, Any]) -> Check | None:
    """Return the check that is not made because of options that change the text; None if none.

    DuckDB reads UTF-8 and gives the cells as they are written. Another encoding, numbers that
    become plain and missing codes of one column would each differ from the original without a
    fault of the first reader.
    """
    used = [name for name in _OF_THE_TEXT if reading.get(name)]
    if str(reading.get("encoding")).lower() in _UTF_8:
        used.remove("encoding")
    if not used:
        return None
    named = " and ".join(filter(None, (", ".join(used[:-1]), used[-1])))
    options = "the option" if len(used) == 1 else "the options"
    return not_checked(f"{verdict.SHARED}: the second reader does not apply {options} {named}")


def read_once(needs: str = "delimited text whose first row has numbers or known names") -> Check:
    """Return that a file was read by the program's reader alone."""
    return not_checked(verdict.SHARED, needs=needs)


class PlainFile(NamedTuple):
    """A delimited text file: how it is read, and its first row."""

    path: Path
    delimiter: str
    compression: str
    skipped: int
    first: list[str]


def plain_file(path: Path, reading: Mapping[str, Any]) -> PlainFile | None:
    """Return how the file is to be read, or None if it is not such a text file."""
    # Step 1: format and compression by the name of the file.
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = next((suffix for suffix in suffixes[-1:] if suffix in _COMPRESSIONS), "")
    extension = next(iter(suffixes[: len(suffixes) - bool(packed)][-1:]), "")
    if (reading.get("format") or _FORMATS.get(extension)) not in _FORMATS.values():
        return None
    file = PlainFile(path, BLANKS, _COMPRESSIONS.get(packed, "none"), 0, [])
    # Step 2: the first row behind comments and blank lines.
    lines = _head(file)
    rows = (n for n, line in enumerate(lines) if line.strip() and line.lstrip()[0] not in "#%")
    skipped = next(rows, len(lines))
    if skipped == len(lines):
        return None
    # Step 3: the delimiter: the one that was asked for, else the first of `_BETWEEN` in the row.
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

    Where blanks part cells, rows must have as many of them as the first.
    """
    # Blanks of any number between cells: read lines as one column and split them by SQL.
    n, blanks = len(file.first), file.delimiter == BLANKS
    cell = "cells[{} + 1] AS f{}" if blanks else "c{} AS f{}"
    named = ", ".join(cell.format(at, number) for number, at in enumerate(cells))
    source = f"{literal(db.link(file.path.resolve()))}, auto_detect = false, hive_partitioning = "
    source += f"false, compression = '{file.compression}'"
    if blanks:
        rows = (
            f"(SELECT regexp_split_to_array(trim(line, ' \t'), '[ \t]+') AS cells FROM read_csv("
            f"{source}, header = false, delim = '\x02', quote = '', escape = '', nullstr = '\x03', "
            "columns = {line: 'VARCHAR'}) WHERE line IS NOT NULL AND NOT "
            f"regexp_matches(line, '^[ \t]*([#%]|$)') {'OFFSET 1' if header else ''})"
        )
        named += f", len(cells) = {n} AS whole"
    else:
        # Any other delimiter: DuckDB's reader with nothing to guess.
        columns = ", ".join(f"c{number}: 'VARCHAR'" for number in range(n))
        rows = (
            f"read_csv({source}, header = {str(header).lower()}, skip = {file.skipped}, delim = "
            f"{literal(file.delimiter)}, quote = '\"', escape = '\"', nullstr = '{NO_CELL}', "
            f"columns = {{{columns}}})"
        )
    # What DuckDB refuses is not wrong, just not read twice.
    try:
        db.run(f"CREATE TABLE {table} AS SELECT {named} FROM {rows}")
        if blanks and db.first(f"SELECT 1 FROM {table} WHERE NOT whole LIMIT 1"):
            raise duckdb.InvalidInputException("that rows have different numbers of cells")
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        return not_checked(f"{verdict.SHARED}: the second reader reports {one_line(error)}")
    return None


def _head(file: PlainFile) -> list[str]:
    """Return the complete lines at the beginning of a file; none if it is not text."""
    try:
        with pa.OSFile(os.fsencode(file.path)) as raw:
            packed = file.compression != "none"
            stream = pa.CompressedInputStream(raw, file.compression) if packed else raw
            text = stream.read(_HEAD_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return []
    lines: list[str] = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if len(text) < _HEAD_BYTES else lines[:-1])]


def _cells(row: str, delimiter: str) -> list[str]:
    if delimiter == BLANKS:
        return row.split()
    try:
        return next(csv.reader([row], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        return []
