"""What is published of people in a network, recounted from the table `people_rows`.

Its column c0 holds the ids, c1, c2, ... the attributes as text; a suppressed one is ``*``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Network, Table
from graphveil.verify.database import Database
from graphveil.verify.recount.linked import released_ids

STAR = "'*'"


class Strange(NamedTuple):
    """A published cell that is not that of the person in the original.

    Attributes
    ----------
    node
        The published id of the person.
    column
        The name of the attribute.
    published, original
        The cell here and there; None where it is suppressed there.
    cells
        How many such cells there are of the attribute.
    """

    node: int
    column: str
    published: str
    original: str | None
    cells: int


def classes_of_rows(db: Database, columns: Sequence[int]) -> NDArray[np.int64]:
    """Return a number for everyone, ascending by id: equal where all of these columns are.

    Parameters
    ----------
    db
        The database.
    columns
        Their numbers, from 1 on.
    """
    cells = ", ".join(f"c{number}" for number in columns)
    classes: NDArray[np.int64] = db.column(
        f"SELECT dense_rank() OVER (ORDER BY {cells}) - 1 AS class, CAST(c0 AS BIGINT) AS node "
        "FROM people_rows ORDER BY node"
    )
    return np.asarray(classes, dtype=np.int64)


def strange_cell(
    db: Database, original: Network, columns: dict[str, int], *, stars: bool
) -> Strange | None:
    """Return the first cell that is not its owner's, None where there is none.

    Parameters
    ----------
    db
        The release, and a linkage that is one to one.
    original
        The original.
    columns
        The attributes that are compared, and the numbers of their columns in the release.
    stars
        Whether a cell that is not suppressed in the original may be so in the release.
    """
    people = original.people
    if people is None or not columns:
        return None
    _put_original(db, people, columns)
    for name, number in columns.items():
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
            return Strange(row[0], name, row[1], row[2], row[3])
    db.run("DROP TABLE attributes_before")
    return None


def _put_original(db: Database, people: Table, columns: dict[str, int]) -> None:
    """Create `attributes_before(id, o1, ...)` of the original's cells under the published ids."""
    cells = people.to_arrow()
    texts = {f"o{number}": cells[name].cast("string") for name, number in columns.items()}
    db.put("attributes_before", {"id": released_ids(db), **texts})
