"""Checks of a released graph that do not depend on the claim: it is simple and canonical."""

from __future__ import annotations

from graphveil.verify.database import Database
from graphveil.verify.verdict import Check, counted, fails, holds, judged

IDS, SIMPLE, ENDPOINTS, ORDER = "ids", "simple graph", "endpoints", "canonical order"

_OUT_OF_ORDER = """
    SELECT number, source, target FROM (
        SELECT rowid + 1 AS number, source, target,
               lag(source) OVER () AS above_source, lag(target) OVER () AS above_target
        FROM edges)
    WHERE source >= target OR (number > 1 AND (
        source < above_source OR (source = above_source AND target <= above_target)))
    LIMIT 1
"""
_DUPLICATE = """
    SELECT least(source, target) AS u, greatest(source, target) AS v, count(*) AS copies
    FROM edges GROUP BY u, v HAVING count(*) > 1 ORDER BY u, v LIMIT 1
"""
_STRANGER = """
    SELECT end_node FROM (SELECT unnest([source, target]) AS end_node FROM edges)
    WHERE end_node NOT IN (SELECT node FROM nodes) ORDER BY end_node LIMIT 1
"""


def graph_shape(db: Database, keyed: bool) -> list[Check]:  # noqa: FBT001  one shape
    """Return the checks of ids, edges and their order."""
    ids = ids_check(db, "nodes", "node", keyed=keyed)
    order = _order(db, keyed=keyed)
    return [ids, _simple(db, order), _endpoints(db, ids, keyed=keyed), order]


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


def _order(db: Database, *, keyed: bool) -> Check:
    another = misplaced(db, "nodes", "node", keyed=keyed)
    if another:
        return fails(ORDER, another)
    row = db.first(_OUT_OF_ORDER)
    if row:
        return fails(ORDER, f"edge {row[0]}, ({row[1]}, {row[2]}), is not in ascending order")
    n = db.number("SELECT count(*) FROM edges")
    return holds(ORDER, f"{counted(n, 'edge')} in ascending order, the smaller end first")


def _simple(db: Database, order: Check) -> Check:
    n = db.number("SELECT count(*) FROM edges")
    otherwise = f"no self-loop and no repeat among {counted(n, 'edge')}"
    if order.outcome == "holds":
        return holds(SIMPLE, otherwise)
    problems = []
    loop = db.first("SELECT source FROM edges WHERE source = target ORDER BY source LIMIT 1")
    if loop:
        problems.append(f"node {loop[0]} is its own neighbor")
    repeat = db.first(_DUPLICATE)
    if repeat:
        problems.append(f"the edge ({repeat[0]}, {repeat[1]}) stands {repeat[2]} times")
    return judged(SIMPLE, problems, otherwise)


def _endpoints(db: Database, ids: Check, *, keyed: bool) -> Check:
    n = db.number("SELECT count(*) FROM nodes")
    low, high = db.rows(
        "SELECT least(min(source), min(target)), greatest(max(source), max(target)) FROM edges"
    )[0]
    otherwise = f"every end of an edge is one of {counted(n, 'listed node')}"
    if not keyed and ids.outcome == "holds" and (low is None or (low >= 0 and high < n)):
        return holds(ENDPOINTS, otherwise)
    stranger = db.first(_STRANGER)
    if stranger:
        return fails(ENDPOINTS, f"node {stranger[0]} has an edge but is not listed")
    return holds(ENDPOINTS, otherwise)
