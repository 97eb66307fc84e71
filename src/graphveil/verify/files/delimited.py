"""Delimited text read strictly, by DuckDB: a header, then rows, and nothing else."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import duckdb

from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.verdict import one_line, shown

DELIMITERS = {"csv": ",", "tsv": "\t", "text": "\t"}
_WHERE = re.compile(r"CSV Error on Line: (\d+)\s+Original Line: ?(.*)")
_NO_NULL = "\x01"


def load_delimited(
    db: Database,
    path: Path,
    table: str,
    columns: Sequence[tuple[str, str]],
    *,
    names: Sequence[str],
    delimiter: str = ",",
) -> None:
    """Create a table of a delimited file.

    Parameters
    ----------
    table, columns
        The table and its (column, SQL type): names of this program.
    names
        What the header must say.
    delimiter
        The character between cells.

    Raises
    ------
    UnreadableError
        Where header or a row is not as it must be; the message names file and line.
    """
    if not columns:
        raise UnreadableError(f"{path.name} has no columns")
    quote = '"' if any(kind == "VARCHAR" for _, kind in columns) else ""
    if quote:
        _whole_text(path)
    options = _options(delimiter, quote)
    alias = db.link(path)
    as_text = _struct([(name, "VARCHAR") for name, _ in columns])
    with _explained(path.name, ",".join(names)):
        header = db.first(
            f"SELECT * FROM read_csv(?, {options}, header = false, columns = {as_text}) LIMIT 1",
            [alias],
        )
        if header is None or list(header) != list(names):
            says = "nothing" if header is None else shown(list(header))
            raise UnreadableError(f"{path.name}, line 1 says {says}, not {shown(list(names))}")
        db.run(
            f"CREATE TABLE {table} AS SELECT * FROM "
            f"read_csv(?, {options}, header = true, columns = {_struct(columns)})",
            [alias],
        )
    if not quote:
        _nothing_else(db, path, table, [name for name, _ in columns], len(",".join(names)) + 1)


def load_body(
    db: Database, path: Path, table: str, columns: Sequence[str], *, skip: int, lines: int
) -> None:
    """Create a table of a file of integers with one blank between them.

    Parameters
    ----------
    skip, lines
        The number of bytes and of lines before the first row.

    Raises
    ------
    UnreadableError
        Where a row is not as it must be; the message names file and line.
    """
    struct = _struct([(name, "BIGINT") for name in columns])
    with _explained(path.name, f"{len(columns)} integers"):
        db.run(
            f"CREATE TABLE {table} AS SELECT * FROM read_csv(?, {_options(' ', '')}, "
            f"header = false, skip = {lines}, columns = {struct})",
            [db.link(path)],
        )
    _nothing_else(db, path, table, columns, skip)


def _options(delimiter: str, quote: str) -> str:
    return (
        f"auto_detect = false, delim = {literal(delimiter)}, quote = {literal(quote)}, "
        f"escape = {literal(quote)}, nullstr = {literal(_NO_NULL)}, new_line = '\\n'"
    )


def _struct(columns: Sequence[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{name}: {literal(kind)}" for name, kind in columns) + "}"


@contextmanager
def _explained(name: str, expected: str) -> Iterator[None]:
    """Turn what DuckDB says of a file into one line with file and line."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        match = _WHERE.search(str(error))
        if not match:
            raise UnreadableError(f"{name} cannot be read: {one_line(error)}") from error
        problem = f"{shown(match[2])} is no row of {expected}"
        raise UnreadableError(f"{name}, line {match[1]}: {problem}") from error


def _nothing_else(
    db: Database, path: Path, table: str, columns: Sequence[str], before: int
) -> None:
    """Refuse a file of integers that is longer or shorter than its rows written plainly."""
    lengths = " + ".join(f"length({name}::VARCHAR)" for name in columns)
    expected = before + db.number(f"SELECT sum({lengths} + {len(columns)}) FROM {table}")
    size = text_size(path)
    if size != expected:
        raise UnreadableError(
            f"{path.name} holds {size} bytes of text, its rows are {expected}: "
            "blanks, signs, leading zeros or empty lines stand between them"
        )


def _whole_text(path: Path) -> None:
    """Refuse a file with NUL bytes, or one whose compression does not add up: SQL takes both."""
    try:
        with unpacked(path) as stream:
            for block in iter(lambda: stream.read(1 << 22), b""):
                if b"\0" in block:
                    raise UnreadableError(f"{path.name} holds a NUL byte: this is no text")
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(f"{path.name} cannot be unpacked: {one_line(error)}") from error


def text_size(path: Path) -> int:
    """Return the number of bytes of a file once its compression is undone."""
    if path.suffix not in {".gz", ".zst"}:
        return path.stat().st_size
    with unpacked(path) as stream:
        return sum(len(block) for block in iter(lambda: stream.read(1 << 22), b""))


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file and undo its compression, which its last extension names."""
    if path.suffix == ".gz":
        with gzip.open(path, "rb") as stream:
            yield cast("IO[bytes]", stream)
    elif path.suffix == ".zst":
        import pyarrow as pa  # noqa: PLC0415  heavy, and only this compression needs it

        with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
            yield stream
    else:
        with path.open("rb") as stream:
            yield stream
