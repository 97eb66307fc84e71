"""Files whose cells are all text: their columns c0, c1, ... in SQL, and ids among them."""

from __future__ import annotations

from graphveil.claims.manifest import DataFile
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.verdict import row_of, shown

MOST_COLUMNS = 10_000
"""The columns of a table that are read: SQL over more of them takes minutes."""

_IS_ID = (
    "coalesce(regexp_full_match(c0, '0|[1-9][0-9]{0,18}') "
    "AND TRY_CAST(c0 AS BIGINT) IS NOT NULL, false)"
)
"""SQL that tells whether the text in c0 is an id: a whole number of 64 bits without a sign or a
leading zero."""


def cell_columns(file: DataFile) -> list[tuple[str, str]]:
    """Return the columns c0, c1, ... of a file of text, and their SQL type."""
    n = len(file.columns)
    if n > MOST_COLUMNS:
        raise UnreadableError(f"{file.name} has {n} columns, more than {MOST_COLUMNS}")
    return [(f"c{number}", "VARCHAR") for number in range(n)]


def strange_id(db: Database, table: str, file: DataFile | None) -> str | None:
    """Return the first row whose id, in c0, is not a whole number; None where there is none."""
    # The first row whose id is not written as a whole number.
    row = db.first(f"SELECT rowid, c0 FROM {table} WHERE NOT {_IS_ID} ORDER BY rowid LIMIT 1")
    return f"{row_of(file, row[0])} has the id {shown(row[1])}, which is not valid" if row else None
