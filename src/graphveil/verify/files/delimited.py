"""Delimited text read strictly, by DuckDB: a header, then rows, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.files.canonical import compare_text
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
    compare_text(db, path, table, columns, header=names, delimiter=delimiter)


def load_body(
    db: Database, path: Path, table: str, columns: Sequence[str], *, before: Sequence[str]
) -> None:
    """Create a table of a file of integers with one blank between them.

    Parameters
    ----------
    before
        The lines before the first row.

    Raises
    ------
    UnreadableError
        Where a row is not as it must be; the message names file and line.
    """
    struct = _struct([(name, "BIGINT") for name in columns])
    with _explained(path.name, f"{len(columns)} integers"):
        db.run(
            f"CREATE TABLE {table} AS SELECT * FROM read_csv(?, {_options(' ', '')}, "
            f"header = false, skip = {len(before)}, columns = {struct})",
            [db.link(path)],
        )
    above = "".join(f"{line}\n" for line in before).encode()
    typed = [(name, "BIGINT") for name in columns]
    compare_text(db, path, table, typed, before=above, delimiter=" ")


def _options(delimiter: str, quote: str) -> str:
    return (
        f"auto_detect = false, delim = {literal(delimiter)}, quote = {literal(quote)}, "
        f"escape = {literal(quote)}, nullstr = {literal(_NO_NULL)}, new_line = '\\n', "
        "hive_partitioning = false"
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
