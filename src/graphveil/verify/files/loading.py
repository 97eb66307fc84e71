"""Released files into tables: one loader for each kind of data and format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb

from graphveil.records.manifest import DataFile, Described
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.columnar import load_columnar, refuse_missing
from graphveil.verify.files.delimited import DELIMITERS, load_delimited
from graphveil.verify.files.folder import inside
from graphveil.verify.files.graph_text import FORMS, load_graph, load_matrix
from graphveil.verify.verdict import one_line, shown

Loader = Callable[[Database, Path, DataFile], None]
Columns = Sequence[tuple[str, str]]

EDGES = (("source", "BIGINT"), ("target", "BIGINT"))
ENTRIES = (("person", "BIGINT"), ("item", "VARCHAR"))
MOST_COLUMNS = 2000
"""The columns of a table that are read: SQL over more of them takes minutes."""
COMPANIONS = {"nodes": ("nodes", "node"), "users": ("users", "person")}


def load(db: Database, folder: Path, described: Described) -> None:
    """Create the tables of the released data.

    Raises
    ------
    UnreadableError
        Where a file is missing or is not what its format asks for; the message names it.
    """
    for file in described.files:
        path = inside(folder, file.name)
        if path is None:
            raise UnreadableError(f"{shown(file.name)} is not a regular file in the folder")
        known = LOADERS.get((described.kind, file.format))
        loader = known if file.role == "data" else _companion
        if loader is None:
            raise UnreadableError(f"a {described.kind} does not come as {shown(file.format)}")
        db.refuse_beyond(path.stat().st_size, path.name)
        try:
            loader(db, path, file)
        except (UnreadableError, MemoryError, duckdb.OutOfMemoryException):
            raise
        except Exception as error:  # broken input makes libraries raise anything
            raise UnreadableError(f"{file.name} cannot be read: {one_line(error)}") from error
    missing = {"graph": ("nodes", "edges"), "bipartite": ("users", "entries"), "table": ("cells",)}
    for table in missing[described.kind]:
        if not db.holds(table):
            raise UnreadableError(f"no file lists the {table}")


def _companion(db: Database, path: Path, file: DataFile) -> None:
    table, column = COMPANIONS[file.role]
    columns = [(column, "BIGINT")]
    load_delimited(db, path, table, columns, names=[file.role.removesuffix("s")])
    refuse_missing(db, table, [column], path.name)


def _delimited_edges(db: Database, path: Path, file: DataFile) -> None:
    load_delimited(db, path, "edges", EDGES, names=["source", "target"], form=file.format)
    refuse_missing(db, "edges", ["source", "target"], path.name)


def _delimited_entries(db: Database, path: Path, file: DataFile) -> None:
    load_delimited(db, path, "entries", ENTRIES, names=["user", "item"], form=file.format)
    row = db.first("SELECT rowid + 2 FROM entries WHERE item = '' LIMIT 1")
    if row:
        raise UnreadableError(f"{path.name}, line {row[0]}: there is no item")


def _delimited_cells(db: Database, path: Path, file: DataFile) -> None:
    columns = _cell_columns(file)
    load_delimited(db, path, "cells", columns, names=file.columns, form=file.format)
    _refuse_empty_cells(db, path, file)
    _show(db, [f"nullif({name}, '*') AS {name}" for name, _ in columns])


def _columnar_edges(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    load_columnar(db, path, "edges", EDGES, names=["source", "target"])
    refuse_missing(db, "edges", ["source", "target"], path.name)


def _columnar_entries(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    load_columnar(db, path, "entries", ENTRIES, names=["user", "item"])
    refuse_missing(db, "entries", ["person", "item"], path.name)


def _columnar_cells(db: Database, path: Path, file: DataFile) -> None:
    columns = _cell_columns(file)
    load_columnar(db, path, "cells", columns, names=file.columns)
    _refuse_empty_cells(db, path, file)
    for name, _ in columns:
        row = db.first(f"SELECT rowid FROM cells WHERE {name} = '*' LIMIT 1")
        if row:
            raise UnreadableError(f"{path.name}: row {row[0]} says `*` where it should be null")
    _show(db, [name for name, _ in columns])


def _show(db: Database, columns: Sequence[str]) -> None:
    """Create the view `shown`: the cells by row, a suppressed one null."""
    db.run(f"CREATE VIEW shown AS SELECT rowid AS row, {', '.join(columns)} FROM cells")


def _refuse_empty_cells(db: Database, path: Path, file: DataFile) -> None:
    """Refuse a table with a cell of no text: a reader takes it for a suppressed one."""
    for number, named in enumerate(file.columns):
        row = db.first(f"SELECT rowid FROM cells WHERE c{number} = '' LIMIT 1")
        if row:
            raise UnreadableError(f"{path.name}: row {row[0]} has an empty cell in {shown(named)}")


def _cell_columns(file: DataFile) -> Columns:
    if len(file.columns) > MOST_COLUMNS:
        raise UnreadableError(f"{file.name} has {len(file.columns)} columns, over {MOST_COLUMNS}")
    return [(f"c{number}", "VARCHAR") for number in range(len(file.columns))]


LOADERS: dict[tuple[str, str], Loader] = {
    **{("graph", name): _delimited_edges for name in DELIMITERS},
    **{("bipartite", name): _delimited_entries for name in DELIMITERS},
    **{("table", name): _delimited_cells for name in ("csv", "tsv")},
    **{("graph", name): load_graph for name in FORMS},
    ("graph", "parquet"): _columnar_edges,
    ("bipartite", "parquet"): _columnar_entries,
    ("bipartite", "mtx"): load_matrix,
    ("table", "parquet"): _columnar_cells,
}
"""What a kind of data in a format is loaded with."""
