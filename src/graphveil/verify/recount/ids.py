"""Whether published ids are 0..n-1, or integers from a key, and stand in order."""

from __future__ import annotations

from graphveil.verify.database import Database
from graphveil.verify.verdict import Check, counted, fails, holds, judged

IDS, ORDER = "ids", "canonical order"


def ids_check(db: Database, table: str, column: str, *, keyed: bool) -> Check:
    """Return whether the column holds exactly 0..n-1, each once; keyed, any integers from 0 on.

    Parameters
    ----------
    table, column
        Names of this program, never of the release.
    keyed
        Whether the ids come from a key.
    """
    if keyed:
        return _keyed_ids(db, table, column)
    n, what = db.number(f"SELECT count(*) FROM {table}"), table.removesuffix("s")
    if misplaced(db, table, column, keyed=False) is None:
        return holds(IDS, _all_ids(n, table))
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
        problems.append(f"{what} {repeated[0]} stands {repeated[1]} times in {table}")
    if missing:
        problems.append(f"{what} {missing[0]} is missing among {counted(n, what)}")
    return judged(IDS, problems, _all_ids(n, table))


def _keyed_ids(db: Database, table: str, column: str) -> Check:
    n = db.number(f"SELECT count(*) FROM {table}")
    low = db.first(f"SELECT min({column}), count(DISTINCT {column}) FROM {table}") or (0, 0)
    if n and (low[0] < 0 or low[1] != n):
        return fails(
            IDS, f"{n - low[1]} of {counted(n, 'id')} stand more than once, or are negative"
        )
    return holds(IDS, f"{counted(n, 'id')} from a key, each once")


def misplaced(db: Database, table: str, column: str, *, keyed: bool) -> str | None:
    """Return the first row whose id is not in its place; None where there is none.

    The place of an id is its number, counted from 0. Ids from a key stand in ascending order.
    """
    if keyed:
        return _not_ascending(db, table, column)
    row = db.first(
        f"SELECT rowid + 1, {column} FROM {table} WHERE {column} <> rowid ORDER BY rowid LIMIT 1"
    )
    what = table.removesuffix("s")
    return f"row {row[0]} of the {table} is {what} {row[1]}" if row else None


def _not_ascending(db: Database, table: str, column: str) -> str | None:
    row = db.first(
        f"SELECT number, id FROM (SELECT row_number() OVER () AS number, {column} AS id, "
        f"lag({column}) OVER () AS above FROM {table}) WHERE id <= above ORDER BY number LIMIT 1"
    )
    return f"row {row[0]} of the {table}, {row[1]}, is not in ascending order" if row else None


def _all_ids(n: int, table: str) -> str:
    if n > 1:
        return f"the {n} {table} are 0..{n - 1}, each once"
    return f"the one id in {table} is 0" if n else "no ids"
