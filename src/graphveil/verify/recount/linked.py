"""Released rows, people and ids next to the original under the published ids.

Cells of `shown(row, c0, ...)` are text, null where suppressed; those of `people_rows`, c0 the ids,
have ``*`` there. Nothing in the owner's files is trusted. New ids must be a permutation as chance
gives it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from graphveil.claims.manifest import DataFile
from graphveil.core.text import counted
from graphveil.data import Data, Network, Table
from graphveil.data.ids import as_text, to_arrow
from graphveil.verify.database import COLUMNS_AT_ONCE, Database
from graphveil.verify.verdict import Check, holds, judged, one_line, row_of, shown


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

    `published` is SQL that gives the published ids in a column `i`; without it they are 0..n-1.
    """
    n, rows = (db.number(f"SELECT count(*) FROM {table}") for table in ("originals", "linkage"))
    said = f"{name} has {counted(rows, 'row')} for {counted(n, 'original id')}"
    problems = [] if rows == n else [said]
    linked = db.first("SELECT typeof(any_value(original)) FROM linkage") or ("",)
    given = db.first("SELECT typeof(any_value(id)) FROM originals") or ("",)
    if rows and n and linked != given:
        other = f"the linkage contains ids of type {linked[0]}, but the original has {given[0]}"
        return [*problems, other]
    shared = db.first(
        "SELECT released, count(*) FROM linkage GROUP BY released HAVING count(*) > 1 "
        "ORDER BY released LIMIT 1"
    )
    if shared:
        problems.append(f"the published id {shared[0]} is linked to {shared[1]} original ids")
    nobody = db.first(
        f"SELECT i FROM ({published or f'SELECT range AS i FROM range({n})'}) WHERE i NOT IN "
        "(SELECT released FROM linkage WHERE released IS NOT NULL) ORDER BY i LIMIT 1"
    )
    if nobody:
        problems.append(f"the published id {nobody[0]} is linked to nobody")
    absent = published and db.first(
        f"SELECT released FROM linkage ANTI JOIN ({published}) ON released = i "
        "ORDER BY released LIMIT 1"
    )
    if absent:
        problems.append(f"the release does not have the id {absent[0]}, which is linked")
    rows_of_id = published and db.first(
        f"SELECT i, count(*) FROM ({published}) GROUP BY i HAVING count(*) > 1 OR i IS NULL LIMIT 1"
    )
    if rows_of_id:
        problems.append(f"{counted(rows_of_id[1], 'row')} of the release with id {rows_of_id[0]}")
    strange = db.first(
        "SELECT released FROM linkage ANTI JOIN originals ON linkage.original = originals.id "
        "ORDER BY released LIMIT 1"
    )
    if strange:
        other = "is linked to an id that is not in the original"
        problems.append(f"the published id {strange[0]} {other}")
    twice = db.first(
        "SELECT min(released), count(*) FROM linkage GROUP BY original HAVING count(*) > 1 "
        "ORDER BY 1 LIMIT 1"
    )
    if twice:
        problems.append(f"the original id linked to {twice[0]} has {twice[1]} published ids")
    return problems


def released_ids(db: Database) -> Any:
    """Return the published id of every original one, in the order of the original."""
    return db.column(
        "SELECT linkage.released FROM originals JOIN linkage ON linkage.original = originals.id "
        "ORDER BY originals.rowid"
    )


_CLASSES = (
    "CREATE TABLE row_classes AS "
    "SELECT min(row) AS first_row, count(*) AS size FROM {rows} GROUP BY {columns}"
)
_STARS = (
    "SELECT len(listed) - list_count(listed) AS stars, count(*) "
    "FROM {rows} GROUP BY stars ORDER BY stars"
)
_COUNTS = ("n_strange", "first_strange", "stars", "before", "added", "filled")
_OTHER = "{now} IS NOT NULL AND {now} IS DISTINCT FROM {had}"
_COMPARED = f"""
    count(CASE WHEN {_OTHER} THEN 1 END), min(CASE WHEN {_OTHER} THEN row END),
    count(CASE WHEN {{now}} IS NULL THEN 1 END), count(CASE WHEN {{had}} IS NULL THEN 1 END),
    count(CASE WHEN {{now}} IS NULL AND {{had}} IS NOT NULL THEN 1 END),
    count(CASE WHEN {{now}} IS NOT NULL AND {{had}} IS NULL THEN 1 END)
"""
_CELLS_AT_ONCE = 1 << 24
"""So many cells of the original are compared in one query, of 16 columns at least."""


class Mismatch(NamedTuple):
    """A published cell that is not the original's; a row goes by its published id."""

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
        names = column_names(db) if numbers is None else [f"c{number}" for number in numbers]
        wide = len(names) > COLUMNS_AT_ONCE  # lists are equal where all cells of theirs are
        rows = _rows_as_lists(names) if wide else "shown"
        columns = "listed" if wide else ", ".join(names)
        db.run(_CLASSES.format(rows=rows, columns=columns))
    return "row_classes"


def known_cells(known: Sequence[str], columns: Sequence[str]) -> str:
    """Return SQL for the list of some cells of a row of `shown`: equal where all of them are."""
    return f"[{', '.join(f'c{columns.index(name)}' for name in known)}]::VARCHAR[]"


def had_and_shown(
    db: Database, original: Table, number: int, place: int
) -> list[tuple[str | None, str | None, int, int]]:
    """Return what the original has in a column and the release shows there, each pair once.

    With it come its first row, by the published id, and how often it occurs. The linkage must be
    there, one to one.
    """
    db.put("had", {"had": _column_of(original, place, released_ids(db))})
    pairs = db.rows(
        f"SELECT had, c{number}, min(row) AS first, count(*) FROM shown POSITIONAL JOIN had "
        f"GROUP BY had, c{number} ORDER BY first"
    )
    db.run("DROP TABLE had")
    return pairs


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
    import pyarrow as pa  # noqa: PLC0415  heavy, and a release alone needs none of it

    rows = released_ids(db)
    if keyed:
        ids = db.column("SELECT TRY_CAST(c0 AS BIGINT) AS id FROM cells ORDER BY rowid")
        order = np.argsort(ids)
        rows = order[np.searchsorted(ids, rows, sorter=order)]
    counted: list[int | None] = []
    at_once = min(max(_CELLS_AT_ONCE // max(original.n_rows, 1), 16), COLUMNS_AT_ONCE)
    for start in range(0, len(columns), at_once):
        numbers = range(start, min(start + at_once, len(columns)))
        places = [original.columns.index(columns[number]) for number in numbers]
        cells = [_column_of(original, place, rows) for place in places]
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
    listed = _rows_as_lists([f"c{number}" for number in columns.values()])
    db.run(
        "CREATE TABLE row_members AS SELECT row, min(row) OVER (PARTITION BY listed) AS class "
        f"FROM {listed} ORDER BY row"
    )
    db.run(
        "CREATE TABLE published (class BIGINT, size BIGINT, first_user BIGINT, item VARCHAR, "
        "holders BIGINT)"
    )
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
    import pyarrow as pa  # noqa: PLC0415  heavy, and a release alone needs none of it

    codes = np.empty(original.n_rows, dtype=np.int32)
    codes[rows] = original.codes[:, column]
    categories = to_arrow(as_text(original.categories[column]))
    if not len(categories):  # a column without any cell: Arrow takes nothing from nothing
        return pa.nulls(len(codes), categories.type)
    return categories.take(pa.array(codes, mask=codes < 0))


STAR = "'*'"


class StrangeAttributes(NamedTuple):
    """A published cell that is not that of the person in the original."""

    node: int
    column: str
    published: str
    original: str | None
    cells: int


def classes_of_rows(db: Database, columns: Sequence[int]) -> NDArray[np.int64]:
    """Return a number for everyone, ascending by id: equal where all of these columns are."""
    cells = ", ".join(f"c{number}" for number in columns)
    classes: NDArray[np.int64] = db.column(
        f"SELECT dense_rank() OVER (ORDER BY {cells}) - 1 AS class, CAST(c0 AS BIGINT) AS node "
        "FROM people_rows ORDER BY node"
    )
    return np.asarray(classes, dtype=np.int64)


def strange_cell(
    db: Database, original: Network, columns: dict[str, int], *, stars: bool
) -> StrangeAttributes | None:
    """Return the first cell that is not its owner's, None where there is none."""
    people = original.people
    if people is None or not columns:
        return None
    cells = people.to_arrow()
    texts = {f"o{number}": cells[name].cast("string") for name, number in columns.items()}
    db.put("attributes_before", {"id": released_ids(db), **texts})
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
            return StrangeAttributes(row[0], name, row[1], row[2], row[3])
    db.run("DROP TABLE attributes_before")
    return None


Ints = NDArray[np.int64]


class ChosenPairs(NamedTuple):
    """Pairs of a record and a person, each once: int64, shape (pairs,)."""

    records: Ints
    persons: Ints


class BadFileError(Exception):
    """An owner's file is not what it should be; the message says what is wrong with it."""


def levels_of(db: Database, path: Path, original: Table) -> Ints:
    """Return the level of every person, in the order of the original."""
    n = original.n_rows
    columns = _load(db, path, "levels", ("original", "level"))
    if n and columns["level"] != "BIGINT":
        raise BadFileError(
            f"{path.name} contains levels of type {shown(columns['level'])}, not whole numbers"
        )
    strange = db.first(
        "SELECT level FROM levels WHERE level IS NULL OR NOT level BETWEEN 1 AND ?", [n]
    )
    if strange:
        raise BadFileError(
            f"{path.name} contains the level {strange[0]}, which is outside 1 to {n}"
        )
    put_originals(db, original)
    rows = db.first(
        "SELECT count(*), (SELECT count(DISTINCT original) FROM levels) FROM originals "
        "JOIN levels ON levels.original = originals.id"
    )
    if rows != (n, n) or db.number("SELECT count(*) FROM levels") != n:
        raise BadFileError(
            f"{path.name} does not contain exactly one level for each of {counted(n, 'person')}"
        )
    levels: Ints = db.column(
        "SELECT level FROM originals JOIN levels ON levels.original = originals.id "
        "ORDER BY originals.rowid"
    )
    return levels.astype(np.int64)


def chosen_pairs(db: Database, path: Path, original: Table) -> ChosenPairs:
    """Return the chosen pairs; a record by its published id, a person by its position."""
    n = original.n_rows
    _load(db, path, "chosen", ("record", "person"))
    put_originals(db, original)
    db.run(
        "CREATE TABLE chosen_pairs AS SELECT DISTINCT CAST(record AS BIGINT) AS record, "
        "originals.rowid AS person FROM chosen LEFT JOIN originals ON chosen.person = originals.id"
    )
    strange = db.first(
        "SELECT record FROM chosen_pairs WHERE person IS NULL OR record IS NULL "
        "OR NOT record BETWEEN 0 AND ? LIMIT 1",
        [n - 1],
    )
    if strange:
        raise BadFileError(
            f"{path.name} contains a pair for record {strange[0]} whose record "
            "or person does not exist"
        )
    records = db.column("SELECT record FROM chosen_pairs ORDER BY record, person")
    persons = db.column("SELECT person FROM chosen_pairs ORDER BY record, person")
    return ChosenPairs(records.astype(np.int64), persons.astype(np.int64))


def _load(db: Database, path: Path, table: str, columns: tuple[str, str]) -> dict[str, str]:
    """Create a table of a file, and return the types of its columns."""
    try:
        db.run(
            f"CREATE TABLE {table} AS SELECT {', '.join(columns)} "
            "FROM read_parquet(?, hive_partitioning = false)",
            [db.link(path)],
        )
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise BadFileError(f"{path.name} cannot be read: {one_line(error)}") from error
    return db.column_types(table)


IDS, ORDER = "ids", "canonical order"


def ids_check(db: Database, table: str, column: str, *, keyed: bool) -> Check:
    """Return whether the column holds exactly 0..n-1, each once; keyed, any integers from 0 on."""
    n, what = db.number(f"SELECT count(*) FROM {table}"), _one_of(table)
    if keyed:
        low, ids = db.first(f"SELECT min({column}), count(DISTINCT {column}) FROM {table}") or (
            0,
            0,
        )
        other = f"{n - ids} of {counted(n, 'id')} are duplicates, or an id is negative"
        is_other = n and (low < 0 or ids != n)
        return judged([other] if is_other else [], f"{counted(n, 'id')} from a key, each once")
    listed = f"the one id in {table} is 0" if n else "no ids"
    listed = f"the {n} {table} are 0..{n - 1}, each once" if n > 1 else listed
    if misplaced(db, table, column, keyed=False) is None:
        return holds(listed)
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
        problems.append(f"{what} {repeated[0]} appears {repeated[1]} times in {table}")
    if missing:
        problems.append(f"{what} {missing[0]} is missing among {counted(n, what)}")
    return judged(problems, listed)


def _one_of(table: str) -> str:
    """Return what a row of a table is."""
    return {"people": "person"}.get(table, table.removesuffix("s"))


def misplaced(
    db: Database, table: str, column: str, *, keyed: bool, file: DataFile | None = None
) -> str | None:
    """Return the first row whose id is not in its place; None where there is none.

    The place of an id is its number, counted from 0. Ids from a key stand in ascending order.
    """
    if keyed:
        row = db.first(
            f"SELECT number, id FROM (SELECT row_number() OVER () AS number, {column} AS id, "
            f"lag({column}) OVER () AS above FROM {table}) WHERE id <= above "
            "ORDER BY number LIMIT 1"
        )
        if row is None:
            return None
        at = row_of(file, row[0] - 1)
        return f"{at}, {_one_of(table)} {row[1]}, is not in ascending order"
    row = db.first(
        f"SELECT rowid, {column} FROM {table} WHERE {column} <> rowid ORDER BY rowid LIMIT 1"
    )
    what = _one_of(table)
    return f"{row_of(file, row[0])} is {what} {row[1]}, which is out of place" if row else None


CHANCE = 3e-10
"""A count that chance gives more rarely speaks: three are looked at, 10^-9 in all."""

_EXACT_UP_TO = 40
"""The people up to whom tails are counted exactly; above, a bound is close to them."""


def order_leaks(released: NDArray[np.int64], labels: NDArray[Any] | None) -> list[str]:
    """Return what the new ids say of the old order; nothing where chance explains it."""
    n = released.size
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(released, kind="stable")] = np.arange(n)
    problems = []
    ascents = int(np.count_nonzero(np.diff(rank) > 0))
    if n > 1 and tail_of_ascents(ascents, n) < CHANCE:
        same = f"{ascents} of {n - 1} consecutive pairs of the original are in the same order"
        problems.append(f"{same} in the release")
    fixed = int(np.count_nonzero(rank == np.arange(n)))
    if tail_of_equal(fixed) < CHANCE:
        problems.append(f"{fixed} of {counted(n, 'person')} have the same position in both")
    equal = 0 if labels is None else int(np.count_nonzero(labels == released))
    if tail_of_equal(equal) < CHANCE:
        problems.append(f"{equal} of {n} published ids equal the original id")
    return problems


def tail_of_equal(count: int) -> float:
    """Return at most how likely a uniform permutation has so many equal places, or more.

    The expected number of sets of f equal places is 1/f!, whatever the number of people.
    """
    return 1 / math.factorial(min(count, 170))


def tail_of_ascents(ascents: int, n: int) -> float:
    """Return how likely a uniform permutation is as far from n/2 ascents, or farther, at most.

    Ascents are distributed as the whole part of a sum of n uniform numbers (Stanley, Eulerian
    partitions of a unit hypercube, 1977), a sum that is sub-Gaussian with variance n/12.
    """
    low = min(ascents, n - 1 - ascents)
    if n <= _EXACT_UP_TO:
        below = sum(_eulerian(n)[: low + 1])
        return min(1.0, 2 * below / math.factorial(n))
    apart = max(n / 2 - (low + 1), 0.0)
    return min(1.0, 2 * math.exp(-6 * apart * apart / n))


@cache
def _eulerian(n: int) -> tuple[int, ...]:
    """Return how many permutations of n have 0, 1, ..., n-1 ascents."""
    row = [1]
    for size in range(2, n + 1):
        padded = [0, *row, 0]
        row = [(k + 1) * padded[k + 1] + (size - k) * padded[k] for k in range(size)]
    return tuple(row)
