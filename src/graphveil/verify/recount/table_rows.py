"""Rows of a released table: which are equal, what they suppress, and what the original has there.

`shown(row, c0, c1, ...)` are the cells as text; a suppressed one is null. A row's published id is
its number from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Table
from graphveil.data.ids import as_text, to_arrow
from graphveil.verify.database import COLUMNS_AT_ONCE, Database
from graphveil.verify.recount.linked import released_ids

_CLASSES = (
    "CREATE TABLE row_classes AS "
    "SELECT min(row) AS first_row, count(*) AS size FROM {rows} GROUP BY {columns}"
)
_STARS = (
    "SELECT len(listed) - list_count(listed) AS stars, count(*) "
    "FROM {rows} GROUP BY stars ORDER BY stars"
)
_COUNTS = ("n_strange", "first_strange", "stars", "before", "added")
_COMPARED = """
    count(CASE WHEN {strange} THEN 1 END), min(CASE WHEN {strange} THEN row END),
    count(CASE WHEN {now} IS NULL THEN 1 END), count(CASE WHEN {had} IS NULL THEN 1 END),
    count(CASE WHEN {now} IS NULL AND {had} IS NOT NULL THEN 1 END)
"""
_CELLS_AT_ONCE = 1 << 24
"""So many cells of the original are compared in one query, of 16 columns at least."""


class RowClasses(NamedTuple):
    """What the classes of equal rows come to; `smallest` is 0 where there are none."""

    rows: int
    number: int
    smallest: int


class SmallRowClasses(NamedTuple):
    """The classes that are smaller than they must be.

    Parameters
    ----------
    rows, number
        The rows in them, and how many there are.
    first
        The first row of the smallest, of the first one among equals.
    """

    rows: int
    number: int
    first: int


class Strange(NamedTuple):
    """A published cell that is not the original's."""

    row: int
    column: str
    published: str


class Compared(NamedTuple):
    """The released cells beside those of the original.

    Parameters
    ----------
    cells, stars
        All cells of the release, and those that are suppressed.
    before, added
        Suppressed in the original, and suppressed in the release alone.
    n_strange
        Published cells that are not the original's.
    strange
        The first of them, column by column.
    """

    cells: int
    stars: int
    before: int
    added: int
    n_strange: int
    strange: Strange | None


def column_names(db: Database) -> list[str]:
    """Return the names of the columns of `cells`, in order.

    A database that holds no table of cells has none.
    """
    number = db.number("SELECT count(*) FROM duckdb_columns() WHERE table_name = 'cells'")
    return [f"c{column}" for column in range(number)]


def table_classes(db: Database) -> RowClasses:
    """Create `row_classes(first_row, size)` once, and return what the classes come to."""
    if not db.holds("row_classes"):
        names = column_names(db)
        wide = len(names) > COLUMNS_AT_ONCE  # lists are equal where all cells of theirs are
        rows = _rows_as_lists(names) if wide else "shown"
        columns = "listed" if wide else ", ".join(names)
        db.run(_CLASSES.format(rows=rows, columns=columns))
    row = db.first("SELECT sum(size), count(*), min(size) FROM row_classes") or ()
    return RowClasses(*(int(number or 0) for number in row))


def small_classes(db: Database, k: int) -> SmallRowClasses:
    """Return the classes smaller than k; those of `table_classes` must be there."""
    row = db.first(
        "SELECT sum(size), count(*), arg_min(first_row, (size, first_row)) "
        "FROM row_classes WHERE size < ?",
        [k],
    )
    return SmallRowClasses(*(int(number or 0) for number in row or ()))


def rows_by_stars(db: Database) -> tuple[tuple[int, int], ...]:
    """Return (suppressed cells, rows that have as many), ascending."""
    counts = db.rows(_STARS.format(rows=_rows_as_lists(column_names(db))))
    return tuple((int(cells), int(rows)) for cells, rows in counts)


def _rows_as_lists(names: Sequence[str]) -> str:
    """Return SQL for the rows as `row` and the list of their cells, a suppressed one null."""
    cells = ", ".join(f"nullif({name}, '*')" for name in names)
    return f"(SELECT rowid AS row, [{cells}]::VARCHAR[] AS listed FROM cells)"


def compare_with_original(db: Database, original: Table, columns: Sequence[str]) -> Compared:
    """Return how the released cells differ from those of the original.

    Parameters
    ----------
    db
        The released data; the linkage must be there, one to one.
    original
        The original; it has every released column.
    columns
        The names of the released columns.
    """
    if not db.holds("compared"):
        _compare_columns(db, original, columns)
    row = db.first("SELECT sum(stars), sum(before), sum(added), sum(n_strange) FROM compared") or ()
    stars, before, added, n_strange = (int(total or 0) for total in row)
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
        None if strange is None else _strange(db, columns, *map(int, strange)),
    )


def _compare_columns(db: Database, original: Table, columns: Sequence[str]) -> None:
    """Create `compared`, a row of counts for each column."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and a release alone needs none of it

    released = released_ids(db)
    counted: list[int | None] = []
    at_once = min(max(_CELLS_AT_ONCE // max(original.n_rows, 1), 16), COLUMNS_AT_ONCE)
    for start in range(0, len(columns), at_once):
        numbers = range(start, min(start + at_once, len(columns)))
        places = [original.columns.index(columns[number]) for number in numbers]
        cells = [_column_of(original, place, released) for place in places]
        db.put("had", {f"h{n}": column for n, column in zip(numbers, cells, strict=True)})
        counts = ", ".join(_counts_of(f"c{number}", f"h{number}") for number in numbers)
        some = ", ".join(f"nullif(c{number}, '*') AS c{number}" for number in numbers)
        released_cells = f"(SELECT rowid AS row, {some} FROM cells)"
        counted += db.first(f"SELECT {counts} FROM {released_cells} POSITIONAL JOIN had") or ()
        db.run("DROP TABLE had")
    arrays = {
        name: pa.array(counted[place :: len(_COUNTS)], type=pa.int64())
        for place, name in enumerate(_COUNTS)
    }
    db.put("compared", {"column_number": np.arange(len(columns)), **arrays})


def _counts_of(now: str, had: str) -> str:
    strange = f"{now} IS NOT NULL AND {now} IS DISTINCT FROM {had}"
    return _COMPARED.format(now=now, had=had, strange=strange)


def _strange(db: Database, columns: Sequence[str], number: int, row: int) -> Strange:
    published = db.first(f"SELECT c{number} FROM shown WHERE row = ?", [row]) or ("",)
    return Strange(row, columns[number], published[0])


def _column_of(original: Table, column: int, released: NDArray[np.int64]) -> Any:
    """Return the cells of a column as Arrow text in the order of the release; missing is null."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and a release alone needs none of it

    codes = np.empty(original.n_rows, dtype=np.int32)
    codes[released] = original.codes[:, column]
    categories = to_arrow(as_text(original.categories[column]))
    return categories.take(pa.array(codes, mask=codes < 0))
