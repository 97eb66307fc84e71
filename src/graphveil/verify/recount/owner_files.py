"""The owner's files of adaptive anonymity: the level of every person, and chosen pairs.

Neither file is trusted: types, ranges, missing and unknown ids make the claim fail.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.verify.database import Database
from graphveil.verify.recount.linkage import put_originals
from graphveil.verify.verdict import one_line, shown


class ChosenPairs(NamedTuple):
    """Pairs of a record and a person, each once: int64, shape (pairs,)."""

    records: Ints
    persons: Ints


class BadFileError(Exception):
    """An owner's file that is not valid; the message says why."""


def levels_of(db: Database, path: Path, original: Table) -> Ints:
    """Return the level of every person, in the order of the original."""
    n = original.n_rows
    # Step 1: levels are whole numbers from 1 to n.
    columns = _load(db, path, "levels", ("original", "level"))
    if n and columns["level"] != "BIGINT":
        raise BadFileError(
            f"{path.name} contains levels of type {shown(columns['level'])}, not whole numbers"
        )
    strange = db.first(
        "SELECT level FROM levels WHERE level IS NULL OR NOT level BETWEEN 1 AND ?", [n]
    )
    if strange:
        raise BadFileError(
            f"{path.name} contains the level {strange[0]}, which is outside 1 to {n}"
        )
    # Step 2: exactly one for each person of the original.
    put_originals(db, original)
    rows = db.first(
        "SELECT count(*), (SELECT count(DISTINCT original) FROM levels) FROM originals "
        "JOIN levels ON levels.original = originals.id"
    )
    if rows != (n, n) or db.number("SELECT count(*) FROM levels") != n:
        raise BadFileError(
            f"{path.name} does not contain exactly one level for each of {counted(n, 'person')}"
        )
    levels: Ints = db.column(
        "SELECT level FROM originals JOIN levels ON levels.original = originals.id "
        "ORDER BY originals.rowid"
    )
    return levels.astype(np.int64)


def chosen_pairs(db: Database, path: Path, original: Table) -> ChosenPairs:
    """Return the chosen pairs; a record by its published id, a person by its position."""
    # Each pair once; a person who is not in the original becomes null, and is refused.
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
        raise BadFileError(
            f"{path.name} contains a pair for record {strange[0]} whose record "
            "or person does not exist"
        )
    records = db.column("SELECT record FROM chosen_pairs ORDER BY record, person")
    persons = db.column("SELECT person FROM chosen_pairs ORDER BY record, person")
    return ChosenPairs(records.astype(np.int64), persons.astype(np.int64))


def _load(db: Database, path: Path, table: str, columns: tuple[str, str]) -> dict[str, str]:
    """Create a table of a file, and return the types of its columns."""
    if db.holds(table):
        db.run(f"DROP TABLE {table}")  # an earlier check has read the file
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
    return db.column_types(table)
