"""Delimited text read by DuckDB, and compared with the one form of its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.files.canonical import compare_cells
from graphveil.verify.verdict import one_line, shown

DELIMITERS = {"csv": ",", "tsv": "\t", "text": "\t"}
_REMARKS = {"text": "# "}
"""What stands before the header of a format: programs that read edges take it for a comment."""

_WHERE = re.compile(r"CSV Error on Line: (\d+)\s+Original Line: ?(.*)")
_NO_NULL = "\x01no text\x01"


def load_delimited(
    db: Database,
    path: Path,
    table: str,
    columns: Sequence[tuple[str, str]],
    *,
    names: Sequence[str],
    form: str = "csv",
) -> None:
    """Create a table of a delimited file.

    Parameters
    ----------
    table, columns
        The table and its (column, SQL type): names of this program.
    names
        What the header must say.
    form
        A name of `DELIMITERS`.

    Raises
    ------
    UnreadableError
        Where header or a row is not as it must be; the message names file and line.
    """
    if not columns:
        raise UnreadableError(f"{path.name} has no columns")
    delimiter, remark = DELIMITERS[form], _REMARKS.get(form, "")
    quote = literal('"' if any(kind == "VARCHAR" for _, kind in columns) else "")
    first = "header = false, skip = 1" if remark else "header = true"
    struct = ", ".join(f"{name}: {literal(kind)}" for name, kind in columns)
    with _explained(path.name, ",".join(names)):
        db.run(
            f"CREATE TABLE {table} AS SELECT * FROM read_csv(?, auto_detect = false, "
            f"delim = {literal(delimiter)}, quote = {quote}, escape = {quote}, "
            f"nullstr = {literal(_NO_NULL)}, new_line = '\\n', {first}, "
            f"compression = 'none', hive_partitioning = false, columns = {{{struct}}})",
            [db.link(path)],
        )
    compare_cells(db, path, table, columns, header=names, delimiter=delimiter, remark=remark)


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
