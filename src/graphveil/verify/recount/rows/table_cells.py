"""Released cells of a table next to those of the original under the published ids.

Cells of `shown(row, c0, ...)` are text, null where suppressed; those of `cells` have ``*`` there.
The row of a person in the release comes from the linkage, so columns of the original are put into
the order of the release and compared position by position.

Cost: O(cells) in one query per group of columns; memory for at most `_CELLS_AT_ONCE` cells, or 16
columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.libraries import pa
from graphveil.data import Table
from graphveil.data.ids import as_text, to_arrow
from graphveil.verify.database import COLUMNS_AT_ONCE, Database
from graphveil.verify.recount.linkage import released_ids

# Classes of equal rows: of some columns, or of the list of all cells where these are many.
_CLASSES = (
    "CREATE TABLE row_classes AS "
    "SELECT min(row) AS first_row, count(*) AS size FROM {rows} GROUP BY {columns}"
)

# How many rows have how many suppressed cells: null cells of the list.
_STARS = (
    "SELECT len(listed) - list_count(listed) AS stars, count(*) "
    "FROM {rows} GROUP BY stars ORDER BY stars"
)

# For each column: published cells that differ from the original's, and the first row with one;
# suppressed cells; cells the original suppresses; cells that the release alone suppresses; and
# cells that it publishes though the original suppresses them.
_COUNTS = ("n_strange", "first_strange", "stars", "before", "added", "filled")
_OTHER = "{now} IS NOT NULL AND {now} IS DISTINCT FROM {had}"

_COMPARED = f"""
    count(CASE WHEN {_OTHER} THEN 1 END), min(CASE WHEN {_OTHER} THEN row END),
    count(CASE WHEN {{now}} IS NULL THEN 1 END), count(CASE WHEN {{had}} IS NULL THEN 1 END),
    count(CASE WHEN {{now}} IS NULL AND {{had}} IS NOT NULL THEN 1 END),
    count(CASE WHEN {{now}} IS NOT NULL AND {{had}} IS NULL THEN 1 END)
"""

_CELLS_AT_ONCE = 1 << 24
"""So many cells of the original are compared in one query, of 16 columns at least: bounds the
memory for them."""


class Mismatch(NamedTuple):
    """A published cell that differs from the original's; `row` is the published id."""

    row: int
    column: str
    published: str


class Compared(NamedTuple):
    """The released cells next to those of the original.

    `stars`: suppressed cells of the release; `before, added`: suppressed in the original, and in
    the release alone; `n_strange, filled`: published cells that are not the original's, and those
    of them that it suppresses; `strange`: the first of them, column by column.
    """

    cells: int
    stars: int
    before: int
    added: int
    n_strange: int
    filled: int
    strange: Mismatch | None


def column_names(db: Database) -> list[str]:
    """Return the names of the columns of `cells`, in order; none where there is no such table."""
    number = len(db.column_types("cells"))
    return [f"c{column}" for column in range(number)]


def table_classes(db: Database, numbers: Sequence[int] | None = None) -> str:
    """Create `row_classes(first_row, size)` once, and return its name.

    Rows are equal where they are in the columns of these numbers; in all without any.
    """
    if not db.holds("row_classes"):
        # More columns than one query should name are compared as lists.
        names = column_names(db) if numbers is None else [f"c{number}" for number in numbers]
        wide = len(names) > COLUMNS_AT_ONCE  # lists are equal where all cells of theirs are
        rows = _rows_as_lists(names) if wide else "shown"
        columns = "listed" if wide else ", ".join(names)
        db.run(_CLASSES.format(rows=rows, columns=columns))
    return "row_classes"


def known_cells(known: Sequence[str], columns: Sequence[str]) -> str:
    """Return SQL for the list of some cells of a row of `shown`."""
    return f"[{', '.join(f'c{columns.index(name)}' for name in known)}]::VARCHAR[]"


def had_and_shown(
    db: Database, original: Table, number: int, place: int
) -> list[tuple[str | None, str | None, int, int]]:
    """Return each pair of an original and a released value of a column once.

    With it come its first row, by the published id, and how often it occurs. The linkage must be
    there, one to one.
    """
    db.put("had", {"had": _column_of(original, place, released_ids(db))})
    # Each pair of an original and a released cell once, with the first row and how often it occurs.
    pairs = db.rows(
        f"SELECT had, c{number}, min(row) AS first, count(*) FROM shown POSITIONAL JOIN had "
        f"GROUP BY had, c{number} ORDER BY first"
    )
    db.run("DROP TABLE had")
    return pairs


def put_own_and_shown(
    db: Database, original: Table, name: str, columns: Sequence[str], attached: Sequence[str]
) -> None:
    """Create `own_and_shown` for a known column, as `narrowed_cells` reads it."""
    db.put("had", {"own": _column_of(original, original.columns.index(name), released_ids(db))})
    cells = [f"c{columns.index(one)} AS a{number}" for number, one in enumerate(attached)]
    db.run(
        f"CREATE TABLE own_and_shown AS SELECT own, c{columns.index(name)} AS shown, "
        f"{', '.join(cells)} FROM shown POSITIONAL JOIN had WHERE own IS NOT NULL"
    )
    db.run("DROP TABLE had")


def rows_by_stars(db: Database) -> tuple[tuple[int, int], ...]:
    """Return (suppressed cells, rows that have as many), ascending."""
    counts = db.rows(_STARS.format(rows=_rows_as_lists(column_names(db))))
    return tuple((int(cells), int(rows)) for cells, rows in counts)


def _rows_as_lists(names: Sequence[str]) -> str:
    """Return SQL for the rows as `row` and the list of their cells, a suppressed one null."""
    cells = ", ".join(f"nullif({name}, '*')" for name in names)
    return f"(SELECT rowid AS row, [{cells}]::VARCHAR[] AS listed FROM cells)"


def compare_with_original(
    db: Database, original: Table, columns: Sequence[str], *, keyed: bool = False
) -> Compared:
    """Return how the released cells differ from those of the original."""
    if not db.holds("compared"):
        _compare_columns(db, original, columns, keyed=keyed)
    sums = "sum(stars), sum(before), sum(added), sum(n_strange), sum(filled)"
    row = db.first(f"SELECT {sums} FROM compared") or ()
    stars, before, added, n_strange, filled = (int(total or 0) for total in row)
    strange = db.first(
        "SELECT column_number, first_strange FROM compared WHERE n_strange > 0 "
        "ORDER BY column_number LIMIT 1"
    )
    return Compared(
        original.n_rows * len(columns),
        stars,
        before,
        added,
        n_strange,
        filled,
        None if strange is None else _strange(db, columns, *map(int, strange), keyed=keyed),
    )


def _compare_columns(db: Database, original: Table, columns: Sequence[str], *, keyed: bool) -> None:
    """Create `compared`, a row of counts for each column."""
    rows = released_ids(db)
    if keyed:
        ids = db.column("SELECT TRY_CAST(c0 AS BIGINT) AS id FROM cells ORDER BY rowid")
        order = np.argsort(ids)
        rows = order[np.searchsorted(ids, rows, sorter=order)]
    counted: list[int | None] = []
    # Columns are compared in groups, so that neither memory nor the query grows with the table.
    at_once = min(max(_CELLS_AT_ONCE // max(original.n_rows, 1), 16), COLUMNS_AT_ONCE)
    for start in range(0, len(columns), at_once):
        numbers = range(start, min(start + at_once, len(columns)))
        places = [original.columns.index(columns[number]) for number in numbers]
        cells = [_column_of(original, place, rows) for place in places]
        # Position by position: the original's columns are in the order of the release.
        db.put("had", {f"h{n}": column for n, column in zip(numbers, cells, strict=True)})
        counts = ", ".join(_COMPARED.format(now=f"r{n}", had=f"h{n}") for n in numbers)
        some = ", ".join(f"nullif(c{number + keyed}, '*') AS r{number}" for number in numbers)
        released_cells = f"(SELECT rowid AS row, {some} FROM cells)"
        counted += db.first(f"SELECT {counts} FROM {released_cells} POSITIONAL JOIN had") or ()
        db.run("DROP TABLE had")
    arrays = {
        name: pa.array(counted[place :: len(_COUNTS)], type=pa.int64())
        for place, name in enumerate(_COUNTS)
    }
    db.put("compared", {"column_number": np.arange(len(columns)), **arrays})


def publish_cells(db: Database, original: Table, columns: Mapping[str, int]) -> None:
    """Create `published(class, size, first_user, item, holders)` of cells, once.

    A row is a class of equal rows and a cell that it shows; `holders` of its members have that
    value in the original. The linkage must be there, one to one, and ids be numbers of rows.
    """
    if db.holds("published"):
        return
    rows = released_ids(db)
    # Step 1: the class of each row, named by its first row.
    listed = _rows_as_lists([f"c{number}" for number in columns.values()])
    db.run(
        "CREATE TABLE row_members AS SELECT row, min(row) OVER (PARTITION BY listed) AS class "
        f"FROM {listed} ORDER BY row"
    )
    db.run(
        "CREATE TABLE published (class BIGINT, size BIGINT, first_user BIGINT, item VARCHAR, "
        "holders BIGINT)"
    )
    # Step 2: for each column and class, the published value and how many members have it in the
    # original. Within a class the value is the same, so any of them names it.
    for name, number in columns.items():
        cells = _column_of(original, original.columns.index(name), rows)
        db.put("had", {"had": cells})
        db.run(
            "INSERT INTO published SELECT class, count(*), class, any_value(? || '=' || now), "
            "count(CASE WHEN now = had THEN 1 END) "
            f"FROM (SELECT rowid AS row, nullif(c{number}, '*') AS now FROM cells) "
            "JOIN row_members USING (row) JOIN (SELECT rowid AS row, had FROM had) USING (row) "
            "WHERE now IS NOT NULL GROUP BY class",
            [name],
        )
        db.run("DROP TABLE had")


def _strange(
    db: Database, columns: Sequence[str], number: int, row: int, *, keyed: bool
) -> Mismatch:
    id_of_row = "coalesce(TRY_CAST(c0 AS BIGINT), rowid)" if keyed else "rowid"
    cells = f"{id_of_row}, c{number + keyed}"
    released, published = db.rows(f"SELECT {cells} FROM cells WHERE rowid = ?", [row])[0]
    return Mismatch(int(released), columns[number], published)


def _column_of(original: Table, column: int, rows: NDArray[np.int64]) -> Any:
    """Return the cells of a column as Arrow text in the order of the release; missing is null."""
    # Original codes in the order of the release; missing cells have a negative code and become
    # null.
    codes = np.empty(original.n_rows, dtype=np.int32)
    codes[rows] = original.codes[:, column]
    categories = to_arrow(as_text(original.categories[column]))
    if not len(categories):  # a column without any cell: Arrow takes nothing from nothing
        return pa.nulls(len(codes), categories.type)
    return categories.take(pa.array(codes, mask=codes < 0))
