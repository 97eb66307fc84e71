"""The owner's linkage between original and published ids: loaded, and tested to be one to one.

Nothing in the owner's files is trusted: types, numbers, repeated and unknown ids are looked for
by SQL, and the first of each is named by its published id (an original id is never repeated).

Cost: a few groupings and anti joins over n rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphveil.core.text import counted
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
    """Return why the linkage is not one to one between original and published ids.

    `published` is SQL that gives the published ids in a column `i`; without it they are 0..n-1.
    """
    # One row for each original id, of the same type.
    n, rows = (db.number(f"SELECT count(*) FROM {table}") for table in ("originals", "linkage"))
    sizes = f"{name} has {counted(rows, 'row')} for {counted(n, 'original id')}"
    problems = [] if rows == n else [sizes]
    linked = db.first("SELECT typeof(any_value(original)) FROM linkage") or ("",)
    given = db.first("SELECT typeof(any_value(id)) FROM originals") or ("",)
    if rows and n and linked != given:
        other = f"the linkage contains ids of type {linked[0]}, but the original has {given[0]}"
        return [*problems, other]
    # A published id that two original ids share.
    problems += db.found(
        "SELECT released, count(*) FROM linkage GROUP BY released HAVING count(*) > 1 "
        "ORDER BY released LIMIT 1",
        "the published id {} is linked to {} original ids",
    )
    # A published id without an original one; and, where ids come from a key, the other way round.
    problems += db.found(
        f"SELECT i FROM ({published or f'SELECT range AS i FROM range({n})'}) WHERE i NOT IN "
        "(SELECT released FROM linkage WHERE released IS NOT NULL) ORDER BY i LIMIT 1",
        "the published id {} is linked to nobody",
    )
    if published:
        problems += db.found(
            f"SELECT released FROM linkage ANTI JOIN ({published}) ON released = i "
            "ORDER BY released LIMIT 1",
            "the release does not have the id {}, which is linked",
        )
    rows_of_id = published and db.first(
        f"SELECT i, count(*) FROM ({published}) GROUP BY i HAVING count(*) > 1 OR i IS NULL LIMIT 1"
    )
    if rows_of_id:
        problems.append(f"{counted(rows_of_id[1], 'row')} of the release with id {rows_of_id[0]}")
    # A published id of someone who is not in the original.
    problems += db.found(
        "SELECT released FROM linkage ANTI JOIN originals ON linkage.original = originals.id "
        "ORDER BY released LIMIT 1",
        "the published id {} is linked to an id that is not in the original",
    )
    # An original id with two published ones, named by the first of these.
    problems += db.found(
        "SELECT min(released), count(*) FROM linkage GROUP BY original HAVING count(*) > 1 "
        "ORDER BY 1 LIMIT 1",
        "the original id linked to {} has {} published ids",
    )
    return problems


def released_ids(db: Database) -> Any:
    """Return the published id of every original one, in the order of the original."""
    return db.column(
        "SELECT linkage.released FROM originals JOIN linkage ON linkage.original = originals.id "
        "ORDER BY originals.rowid"
    )
