"""Released files into tables, by the loaders of their kind of data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from graphveil.data.kinds import KINDS
from graphveil.records import parts
from graphveil.records.manifest import DataFile, Described
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.columnar import refuse_missing
from graphveil.verify.files.delimited import load_delimited
from graphveil.verify.files.released import Released
from graphveil.verify.kinds.kind import Loader, checked_kind
from graphveil.verify.verdict import one_line, shown


def load(db: Database, released: Released, described: Described) -> None:
    """Create the tables of the released data.

    Raises
    ------
    UnreadableError
        Where a file is missing or is not what its format asks for; the message names it.
    """
    kind = checked_kind(described.kind)
    files = []
    for file in described.files:
        size = released.size(file.name)
        if size is None:
            raise UnreadableError(f"{shown(file.name)} is not a regular file in the folder")
        if released.folder is None and size != file.bytes:  # it would be copied
            raise UnreadableError(f"{file.name} has {size} bytes, not the {file.bytes} described")
        if file.role != "data" or file.format not in kind.unrolled:
            db.refuse_beyond(size, file.name)
        with broken(file.name):
            files.append((released.path(file.name), file))
    if parts.in_parts(described.files):
        if kind.parts is None:
            raise UnreadableError(f"a {described.kind} does not come in parts")
        kind.parts(db, files)
        return
    for path, file in files:
        with broken(file.name):
            _loader(described, file)(db, path, file)
    for table in kind.tables:
        if not db.holds(table):
            raise UnreadableError(f"no file lists the {table}")


@contextmanager
def broken(name: str) -> Iterator[None]:
    """Say of any error that this file cannot be read."""
    try:
        yield
    except (UnreadableError, MemoryError, duckdb.OutOfMemoryException):
        raise
    except Exception as error:  # broken input makes libraries raise anything
        raise UnreadableError(f"{name} cannot be read: {one_line(error)}") from error


def _loader(described: Described, file: DataFile) -> Loader:
    """Return what loads a file: of the role of everyone, a list of ids; else by its format."""
    kind = checked_kind(described.kind)
    if file.role == KINDS[described.kind].everyone:
        return kind.everyone or _everyone(*kind.people)
    if file.format not in kind.loaders:
        raise UnreadableError(f"a {described.kind} does not come as {shown(file.format)}")
    return kind.loaders[file.format]


def _everyone(table: str, column: str) -> Loader:
    def load_ids(db: Database, path: Path, file: DataFile) -> None:
        columns = [(column, "BIGINT")]
        load_delimited(db, path, table, columns, names=[file.role.removesuffix("s")])
        refuse_missing(db, table, [column], path.name)

    return load_ids
