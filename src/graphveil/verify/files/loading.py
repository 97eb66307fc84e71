"""Loading the files of a release into tables, each by the loader of its role and format.

A file that is not what its format asks for is *unreadable*, which fails the check of the data:
any error of a library on broken input is turned into one line that names the file. Sizes are
compared with the limit before anything is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from graphveil.claims import parts
from graphveil.claims.manifest import LEVELS_ROLE, DataFile, Described
from graphveil.data.kinds import KINDS
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.evidence import CheckedKind, Loader
from graphveil.verify.files.canonical_parquet import load_columnar
from graphveil.verify.files.canonical_text import Columns, load_delimited
from graphveil.verify.files.listed_files import no_file
from graphveil.verify.files.released import Released
from graphveil.verify.verdict import one_line, shown


def load_rows(
    db: Database, path: Path, form: str, table: str, columns: Columns, names: Sequence[str]
) -> None:
    """Create a table of a file, of text or Parquet."""
    if form == "parquet":
        load_columnar(db, path, table, columns, names=names)
    else:
        load_delimited(db, path, table, columns, names=names, form=form)


def refuse_missing(db: Database, table: str, columns: Sequence[str], name: str) -> None:
    """Refuse a table in which one of these columns is null; the message names the row."""
    for column in columns:
        row = db.first(f"SELECT rowid + 1 FROM {table} WHERE {column} IS NULL LIMIT 1")
        if row:
            what = "user" if column == "person" else column
            at = f": row {row[0]}" if name.endswith(".parquet") else f", line {row[0] + 1}"
            raise UnreadableError(f"{name}{at} has no {what}")


def load(db: Database, released: Released, described: Described, kind: CheckedKind) -> None:
    """Create the tables of the released data."""
    # Step 1: sizes, before anything is read or copied: a small file may unpack to a large one.
    files = []
    for file in described.files:
        size = released.size(file.name)
        if size is None:
            raise UnreadableError(no_file(released, file.name))
        if released.folder is None and size != file.bytes:  # it would be copied
            raise UnreadableError(
                f"{file.name} has {size} bytes, but the manifest states {file.bytes}"
            )
        if file.role != "data" or file.format not in kind.unrolled:
            db.refuse_beyond(size, file.name)
        with broken(file.name):
            files.append((released.path(file.name), file))
    # Step 2: parts are loaded together, each checked as its rows pass by.
    if parts.in_parts(described.files):
        if kind.parts is None:
            raise UnreadableError(f"data of kind {described.kind} cannot be in parts")
        kind.parts(db, files)
        return
    # Step 3: otherwise each file by the loader of its role and format.
    for path, file in files:
        with broken(file.name):
            _loader(described, kind, file)(db, path, file)
    # Step 4: a graph without a list of nodes, or the like, is no release.
    for table in kind.tables:
        if not db.holds(table):
            raise UnreadableError(f"no file lists the {table}")


@contextmanager
def broken(name: str) -> Iterator[None]:
    """Turn any error within the block into one that says that this file cannot be read."""
    try:
        yield
    except (UnreadableError, MemoryError, duckdb.OutOfMemoryException):
        raise
    except Exception as error:  # broken input makes libraries raise anything
        raise UnreadableError(f"{name} cannot be read: {one_line(error)}") from error


def _loader(described: Described, kind: CheckedKind, file: DataFile) -> Loader:
    """Return the loader of a file: by its role, or for the data by its format."""
    if file.role == KINDS[described.kind].everyone:
        return kind.everyone or _everyone(*kind.people)
    if file.role == LEVELS_ROLE and kind.levels is not None:
        return kind.levels
    if file.format not in kind.loaders:
        raise UnreadableError(
            f"data of kind {described.kind} cannot have the format {shown(file.format)}"
        )
    return kind.loaders[file.format]


def _everyone(table: str, column: str) -> Loader:
    def load_ids(db: Database, path: Path, file: DataFile) -> None:
        columns = [(column, "BIGINT")]
        load_delimited(db, path, table, columns, names=[file.role.removesuffix("s")])
        refuse_missing(db, table, [column], path.name)

    return load_ids
