"""Checks on released data whatever is claimed: its shape, and the counts of the manifest."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from graphveil.records.manifest import MANIFEST, Described
from graphveil.verify.database import Database
from graphveil.verify.recount.graph_shape import (
    ENDPOINTS,
    IDS,
    ORDER,
    SIMPLE,
    graph_shape,
    ids_check,
    misplaced,
)
from graphveil.verify.verdict import Check, counted, fails, holds, judged, not_checked, shown

COUNTS, ENTRIES = "counts", "entries"

_OUT_OF_ORDER = """
    SELECT number, person, item FROM (
        SELECT rowid + 1 AS number, person, item,
               lag(person) OVER () AS above_person, lag({key}) OVER () AS above, {key} AS key
        FROM entries)
    WHERE person < above_person OR (person = above_person AND key <= above)
    ORDER BY number LIMIT 1
"""
_IS_ID = (
    "coalesce(regexp_full_match(c0, '0|[1-9][0-9]{0,18}') "
    "AND TRY_CAST(c0 AS BIGINT) IS NOT NULL, false)"
)
_REPEATED = """
    SELECT person, item, count(*) FROM entries GROUP BY person, item HAVING count(*) > 1
    ORDER BY person, item LIMIT 1
"""
_STRANGER = "SELECT person FROM entries WHERE person NOT IN (SELECT person FROM users) LIMIT 1"


class Shape(NamedTuple):
    """What is recomputed of a kind of data: names of the checks, the checks, the counts."""

    names: tuple[str, ...]
    checks: Callable[[Database, bool], list[Check]]
    counts: Callable[[Database, Described], dict[str, int]]
    rows: dict[str, str]


def counts_check(db: Database, described: Described) -> Check:
    """Return whether counts and numbers of rows are those of the data."""
    shape = SHAPES[described.kind]
    counts = shape.counts(db, described)
    problems = [
        f"{counts[name]} {name}, {MANIFEST} says {described.counts.get(name, 'nothing')}"
        for name in counts
        if counts[name] != described.counts.get(name)
    ]
    problems += [
        f"{shown(name)} is no count of a {described.kind}"
        for name in described.counts
        if name not in counts
    ]
    problems += [
        f"{shown(file.name)} has {counts[shape.rows[file.role]]} rows, {MANIFEST} says {file.rows}"
        for file in described.files
        if file.role in shape.rows and counts[shape.rows[file.role]] != file.rows
    ]
    listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
    return judged(COUNTS, problems, listed)


def _graph_counts(db: Database, described: Described) -> dict[str, int]:  # noqa: ARG001  one shape
    return {
        "nodes": db.number("SELECT count(*) FROM nodes"),
        "edges": db.number("SELECT count(*) FROM edges"),
    }


def _bipartite_counts(db: Database, described: Described) -> dict[str, int]:  # noqa: ARG001  one shape
    return {
        "users": db.number("SELECT count(*) FROM users"),
        "items": db.number("SELECT count(DISTINCT item) FROM entries"),
        "entries": db.number("SELECT count(*) FROM entries"),
    }


def _table_counts(db: Database, described: Described) -> dict[str, int]:
    data = next(file for file in described.files if file.role == "data")
    cells = [f"count(*) FILTER (c{number} IS NULL)" for number in range(len(data.columns))]
    return {
        "rows": db.number("SELECT count(*) FROM cells"),
        "columns": len(cells),
        "suppressed_cells": sum(db.rows(f"SELECT {', '.join(cells)} FROM shown")[0]),
    }


def _bipartite_shape(db: Database, keyed: bool) -> list[Check]:  # noqa: FBT001  one shape
    problems = []
    stranger = db.first(_STRANGER)
    if stranger:
        problems.append(f"user {stranger[0]} has an item but is not listed")
    order = _user_order(db, keyed=keyed)
    repeated = None if order.outcome == "holds" else db.first(_REPEATED)
    if repeated:
        problems.append(f"user {repeated[0]} has the item {shown(repeated[1])} {repeated[2]} times")
    n = db.number("SELECT count(*) FROM entries")
    entries = judged(ENTRIES, problems, f"{counted(n, 'entry')}, none twice, each of a listed user")
    return [ids_check(db, "users", "person", keyed=keyed), entries, order]


def _user_order(db: Database, *, keyed: bool) -> Check:
    """Whether users stand in the order of their published ids: another may be the original's.

    The items of a user stand in the order of their names: of numbers, where all are numbers.
    """
    another = misplaced(db, "users", "person", keyed=keyed)
    if another:
        return fails(ORDER, another)
    key = "CAST(item AS BIGINT)" if db.only_numbers("entries", "item") else "item"
    row = db.first(_OUT_OF_ORDER.format(key=key))
    if row:
        where = f"row {row[0]} of the entries, user {row[1]} and item {shown(row[2])},"
        return fails(ORDER, f"{where} is not in ascending order")
    return holds(ORDER, "users and their items stand in ascending order")


def _table_shape(db: Database, keyed: bool) -> list[Check]:  # noqa: FBT001  one shape
    """Return the checks of the rows: they have an order to check only where they have ids."""
    if not keyed:
        return []
    db.run("CREATE VIEW people AS SELECT TRY_CAST(c0 AS BIGINT) AS person FROM cells")
    strange = db.first(f"SELECT rowid + 1, c0 FROM cells WHERE NOT {_IS_ID} ORDER BY rowid LIMIT 1")
    if strange:
        no_id = f"row {strange[0]} has the id {shown(strange[1])}, which is none"
        return [fails(IDS, no_id), not_checked(ORDER, "the ids are none")]
    another = misplaced(db, "people", "person", keyed=True)
    in_order = "rows stand in ascending order of their ids"
    return [
        ids_check(db, "people", "person", keyed=True),
        fails(ORDER, another) if another else holds(ORDER, in_order),
    ]


SHAPES: dict[str, Shape] = {
    "graph": Shape(
        (IDS, SIMPLE, ENDPOINTS, ORDER),
        graph_shape,
        _graph_counts,
        {"data": "edges", "nodes": "nodes"},
    ),
    "bipartite": Shape(
        (IDS, ENTRIES, ORDER),
        _bipartite_shape,
        _bipartite_counts,
        {"data": "entries", "users": "users"},
    ),
    "table": Shape((), _table_shape, _table_counts, {"data": "rows"}),
}
"""Every kind of data."""
