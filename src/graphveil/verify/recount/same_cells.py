"""Whether the cells of a released table are those of the original, row by linked row."""

from __future__ import annotations

from typing import NamedTuple

from graphveil.data import Table
from graphveil.verify.database import Database
from graphveil.verify.recount.linked import released_ids


class ReleasedCells(NamedTuple):
    """How a released table is to be read.

    Parameters
    ----------
    keyed
        Whether the first column holds the ids: else they are the numbers of the rows.
    starred
        Whether a suppressed cell is ``*``: else it is null.
    """

    keyed: bool
    starred: bool

    def sql(self, column: int) -> str:
        """Return a cell of a column of the original, null where it is suppressed."""
        name = f"c{column + self.keyed}"
        return f"nullif({name}, '*')" if self.starred else name

    @property
    def id_sql(self) -> str:
        """The published id of a row."""
        return "TRY_CAST(c0 AS BIGINT)" if self.keyed else "rowid"


class OtherRow(NamedTuple):
    """A row that is not the original's.

    Parameters
    ----------
    released
        Its published id.
    column
        The number of the first of its columns that differs.
    rows
        How many rows differ.
    """

    released: int
    column: int
    rows: int


def first_other_row(db: Database, original: Table, cells: ReleasedCells) -> OtherRow | None:
    """Return the first row that says another thing than the original's; None where none does.

    Parameters
    ----------
    db
        The release, and a linkage that is one to one.
    original
        The original, with the columns of the release.
    cells
        How the release is to be read.
    """
    _put_original(db, original)
    differ = [f"{cells.sql(n)} IS DISTINCT FROM o{n}" for n in range(original.n_columns)]
    which = " ".join(f"WHEN {other} THEN {number}" for number, other in enumerate(differ))
    row = db.first(
        f"SELECT id, CASE {which} END, count(*) OVER () FROM before "
        f"JOIN (SELECT *, {cells.id_sql} AS id FROM cells) USING (id) "
        f"WHERE {' OR '.join(differ)} ORDER BY id LIMIT 1"
    )
    return None if row is None else OtherRow(*row)


def _put_original(db: Database, original: Table) -> None:
    """Create `before(id, o0, o1, ...)` of the original's cells as text, under the published ids."""
    columns = original.to_arrow().columns
    texts = {f"o{number}": column.cast("string") for number, column in enumerate(columns)}
    db.put("before", {"id": released_ids(db), **texts})
