"""Attributes of released nodes: classes of equal rows, and values that are not their owner's.

Cells of `people_rows` are text, c0 the ids, with ``*`` for suppressed ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Network
from graphveil.verify.database import Database
from graphveil.verify.recount.linkage import released_ids

STAR = "'*'"


class StrangeAttributes(NamedTuple):
    """A published attribute that is not that of the node's person."""

    node: int
    column: str
    published: str
    original: str | None
    cells: int


def classes_of_rows(db: Database, columns: Sequence[int]) -> NDArray[np.int64]:
    """Return the class of every node by these columns, int64, ascending by id."""
    # Rows get the rank of their combination of values: equal ranks, equal rows.
    cells = ", ".join(f"c{number}" for number in columns)
    classes: NDArray[np.int64] = db.column(
        f"SELECT dense_rank() OVER (ORDER BY {cells}) - 1 AS class, CAST(c0 AS BIGINT) AS node "
        "FROM people_rows ORDER BY node"
    )
    return np.asarray(classes, dtype=np.int64)


def put_own_and_shown(
    db: Database, original: Network, name: str, columns: dict[str, int], attached: Sequence[str]
) -> None:
    """Create `own_and_shown` for a known attribute, as `narrowed_cells` reads it."""
    people = original.people
    own = [] if people is None else people.to_arrow()[name].cast("string")
    db.put("had", {"id": released_ids(db), "own": own})
    cells = [f"nullif(c{columns[one]}, {STAR}) AS a{n}" for n, one in enumerate(attached)]
    db.run(
        f"CREATE TABLE own_and_shown AS SELECT own, nullif(c{columns[name]}, {STAR}) AS shown, "
        f"{', '.join(cells)} FROM had JOIN (SELECT *, CAST(c0 AS BIGINT) AS id FROM people_rows) "
        "USING (id) WHERE own IS NOT NULL"
    )
    db.run("DROP TABLE had")


def strange_cell(
    db: Database, original: Network, columns: dict[str, int], *, stars: bool
) -> StrangeAttributes | None:
    """Return the first attribute that is not its person's; None if there is none."""
    people = original.people
    if people is None or not columns:
        return None
    # Original attributes as text under the published ids.
    cells = people.to_arrow()
    texts = {f"o{number}": cells[name].cast("string") for name, number in columns.items()}
    db.put("attributes_before", {"id": released_ids(db), **texts})
    for name, number in columns.items():
        # A missing original value must be published as a star; with `stars`, a star may hide any
        # value.
        other = f"c{number} IS DISTINCT FROM coalesce(o{number}, {STAR})"
        if stars:
            other = f"c{number} <> {STAR} AND ({other})"
        row = db.first(
            f"SELECT id, c{number}, o{number}, count(*) OVER () FROM attributes_before "
            f"JOIN (SELECT *, CAST(c0 AS BIGINT) AS id FROM people_rows) USING (id) "
            f"WHERE {other} ORDER BY id LIMIT 1"
        )
        if row is not None:
            db.run("DROP TABLE attributes_before")
            return StrangeAttributes(row[0], name, row[1], row[2], row[3])
    db.run("DROP TABLE attributes_before")
    return None
