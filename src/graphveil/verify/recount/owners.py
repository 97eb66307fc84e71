"""The owner's levels and chosen pairs, by positions of the original; nothing in them is trusted."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from graphveil.data import Table
from graphveil.verify.database import Database
from graphveil.verify.recount.linked import put_originals
from graphveil.verify.verdict import one_line, shown

Ints = NDArray[np.int64]


class ChosenPairs(NamedTuple):
    """Pairs of a record and a person, each once: int64, shape (pairs,)."""

    records: Ints
    persons: Ints


class BadFileError(Exception):
    """An owner's file is not what it should be; the message says what is wrong with it."""


def levels_of(db: Database, path: Path, original: Table) -> Ints:
    """Return the level of every person, in the order of the original.

    Raises
    ------
    BadFileError
        Where somebody has no level, or several, or one that is no whole number from 1 to n.
    """
    n = original.n_rows
    columns = _load(db, path, "levels", ("original", "level"))
    if n and columns["level"] != "BIGINT":
        raise BadFileError(f"{path.name} holds levels of type {shown(columns['level'])}")
    strange = db.first(
        "SELECT level FROM levels WHERE level IS NULL OR NOT level BETWEEN 1 AND ?", [n]
    )
    if strange:
        raise BadFileError(f"{path.name} holds the level {strange[0]}, outside 1 to {n}")
    put_originals(db, original)
    rows = db.first(
        "SELECT count(*), (SELECT count(DISTINCT original) FROM levels) FROM originals "
        "JOIN levels ON levels.original = originals.id"
    )
    if rows != (n, n) or db.number("SELECT count(*) FROM levels") != n:
        raise BadFileError(f"{path.name} does not hold one level for each of {n} people")
    levels: Ints = db.column(
        "SELECT level FROM originals JOIN levels ON levels.original = originals.id "
        "ORDER BY originals.rowid"
    )
    return levels.astype(np.int64)


def chosen_pairs(db: Database, path: Path, original: Table) -> ChosenPairs:
    """Return the chosen pairs; a record by its published id, a person by its position.

    Raises
    ------
    BadFileError
        Where a pair names no record or no person.
    """
    n = original.n_rows
    _load(db, path, "chosen", ("record", "person"))
    put_originals(db, original)
    db.run(
        "CREATE TABLE chosen_pairs AS SELECT DISTINCT CAST(record AS BIGINT) AS record, "
        "originals.rowid AS person FROM chosen LEFT JOIN originals ON chosen.person = originals.id"
    )
    strange = db.first(
        "SELECT record FROM chosen_pairs WHERE person IS NULL OR record IS NULL "
        "OR NOT record BETWEEN 0 AND ? LIMIT 1",
        [n - 1],
    )
    if strange:
        raise BadFileError(f"{path.name} pairs the record {strange[0]} with nobody of the original")
    records = db.column("SELECT record FROM chosen_pairs ORDER BY record, person")
    persons = db.column("SELECT person FROM chosen_pairs ORDER BY record, person")
    return ChosenPairs(records.astype(np.int64), persons.astype(np.int64))


def _load(db: Database, path: Path, table: str, columns: tuple[str, str]) -> dict[str, str]:
    """Create a table of a file, and return the types of its columns."""
    try:
        db.run(
            f"CREATE TABLE {table} AS SELECT {', '.join(columns)} "
            "FROM read_parquet(?, hive_partitioning = false)",
            [db.link(path)],
        )
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise BadFileError(f"{path.name} cannot be read: {one_line(error)}") from error
    types = db.rows(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?", [table]
    )
    return {str(name): str(kind) for name, kind in types}
