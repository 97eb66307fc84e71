"""The original under the published ids, as tables beside the released data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphveil.data import Data
from graphveil.data.ids import to_arrow
from graphveil.verify.database import Database


def load_linkage(db: Database, paths: Sequence[Path], original: Data) -> None:
    """Create `linkage(original, released)` and `originals(id)`."""
    db.run(
        "CREATE TABLE linkage AS SELECT original, CAST(released AS BIGINT) AS released "
        "FROM read_parquet(?, hive_partitioning = false)",
        [[db.link(path) for path in paths]],
    )
    put_originals(db, original)


def put_originals(db: Database, original: Data) -> None:
    """Create `originals(id)` once: the ids of the original, in its order."""
    if not db.holds("originals"):
        db.put("originals", {"id": to_arrow(original.labels())})


def linkage_problems(db: Database, name: str, published: str | None = None) -> list[str]:
    """Return why the linkage is not one to one between the originals and the published ids.

    Parameters
    ----------
    db
        With the tables of `load_linkage`.
    name
        What the linkage's file is called.
    published
        SQL that gives the published ids in a column `i`; 0..n-1 where not given.
    """
    n = db.number("SELECT count(*) FROM originals")
    rows = db.number("SELECT count(*) FROM linkage")
    problems = [] if rows == n else [f"{name} has {rows} rows for {n} original ids"]
    linked = db.first("SELECT typeof(any_value(original)) FROM linkage") or ("",)
    given = db.first("SELECT typeof(any_value(id)) FROM originals") or ("",)
    if rows and n and linked != given:
        return [*problems, f"the linkage holds ids of type {linked[0]}, the original {given[0]}"]
    shared = db.first(
        "SELECT released, count(*) FROM linkage GROUP BY released HAVING count(*) > 1 "
        "ORDER BY released LIMIT 1"
    )
    if shared:
        problems.append(f"the published id {shared[0]} stands for {shared[1]} original ids")
    nobody = db.first(
        f"SELECT i FROM ({published or f'SELECT range AS i FROM range({n})'}) "
        "WHERE i NOT IN (SELECT released FROM linkage WHERE released IS NOT NULL) "
        "ORDER BY i LIMIT 1"
    )
    if nobody:
        problems.append(f"the published id {nobody[0]} stands for nobody")
    strange = db.first(
        "SELECT released FROM linkage ANTI JOIN originals ON linkage.original = originals.id "
        "ORDER BY released LIMIT 1"
    )
    if strange:
        problems.append(f"the published id {strange[0]} stands for an id not in the original")
    twice = db.first(
        "SELECT min(released), count(*) FROM linkage GROUP BY original HAVING count(*) > 1 "
        "ORDER BY 1 LIMIT 1"
    )
    if twice:
        problems.append(f"the original id of {twice[0]} has {twice[1]} published ids")
    return problems


def released_ids(db: Database) -> Any:
    """Return the published id of every original one, in the order of the original."""
    return db.column(
        "SELECT linkage.released FROM originals JOIN linkage ON linkage.original = originals.id "
        "ORDER BY originals.rowid"
    )
