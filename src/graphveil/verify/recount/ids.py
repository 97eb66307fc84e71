"""Whether published ids are 0 to n - 1, each once and in place; from a key, distinct and ascending.

Ids that are free in any other way could carry a message, and ids out of place could tell the
order of the original.
"""

from __future__ import annotations

from graphveil.claims.manifest import DataFile
from graphveil.core.text import counted, singular
from graphveil.verify.database import Database
from graphveil.verify.verdict import Check, holds, judged, row_of

IDS, ORDER = "ids", "canonical order"


def ids_check(db: Database, table: str, column: str, *, keyed: bool) -> Check:
    """Return whether the column holds exactly 0..n-1, each once; keyed, any integers from 0 on."""
    n, what = db.number(f"SELECT count(*) FROM {table}"), singular(table)
    # Ids from a key are any integers from 0 on, each once.
    if keyed:
        low, ids = db.first(f"SELECT min({column}), count(DISTINCT {column}) FROM {table}") or (
            0,
            0,
        )
        other = f"{n - ids} of {counted(n, 'id')} are duplicates, or an id is negative"
        is_other = n and (low < 0 or ids != n)
        return judged([other] if is_other else [], f"{counted(n, 'id')} from a key, each once")
    listed = f"the one id in {table} is 0" if n else "no ids"
    listed = f"the {n} {table} are 0..{n - 1}, each once" if n > 1 else listed
    # Ids in place are 0..n-1 each once, which needs no grouping.
    if misplaced(db, table, column, keyed=False) is None:
        return holds(listed)
    # Otherwise name the first id that repeats, and the first that is missing.
    repeated = db.first(
        f"SELECT {column}, count(*) FROM {table} GROUP BY {column} HAVING count(*) > 1 "
        f"ORDER BY {column} LIMIT 1"
    )
    missing = db.first(
        f"SELECT i FROM range({n}) AS all_ids(i) WHERE i NOT IN (SELECT {column} FROM {table}) "
        "ORDER BY i LIMIT 1"
    )
    problems = []
    if repeated:
        problems.append(f"{what} {repeated[0]} appears {repeated[1]} times in {table}")
    if missing:
        problems.append(f"{what} {missing[0]} is missing among {counted(n, what)}")
    return judged(problems, listed)


def misplaced(
    db: Database, table: str, column: str, *, keyed: bool, file: DataFile | None = None
) -> str | None:
    """Return the first row whose id is not in its place; None where there is none.

    The place of an id is its number, counted from 0. Ids from a key stand in ascending order.
    """
    # The first id that is not above the one before it, in file order.
    if keyed:
        row = db.first(
            f"SELECT number, id FROM (SELECT row_number() OVER () AS number, {column} AS id, "
            f"lag({column}) OVER () AS above FROM {table}) WHERE id <= above "
            "ORDER BY number LIMIT 1"
        )
        if row is None:
            return None
        at = row_of(file, row[0] - 1)
        return f"{at}, {singular(table)} {row[1]}, is not in ascending order"
    row = db.first(
        f"SELECT rowid, {column} FROM {table} WHERE {column} <> rowid ORDER BY rowid LIMIT 1"
    )
    what = singular(table)
    return f"{row_of(file, row[0])} is {what} {row[1]}, which is out of place" if row else None
