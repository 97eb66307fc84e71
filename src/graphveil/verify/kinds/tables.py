"""Tables: rows of text cells, a suppressed one null in Parquet and `*` in text.

Claim checked: the shape of the data: no cell is empty, a suppressed cell has its one spelling,
and rows with ids from a key ascend by these. Rows of a table without ids have no order to check:
they are shuffled, and `original` looks at that.

Tables: `cells(c0, c1, ...)` as published; the view `shown(row, c0, ...)` with null for suppressed
cells; `nodes` of the file of levels.

Cost: scans, with at most `COLUMNS_AT_ONCE` columns in one query.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphveil.claims.conditions import Generalized
from graphveil.claims.facts import CellChanges
from graphveil.claims.manifest import LEVELS_COLUMNS, ColumnCells, DataFile, Described
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.data.ids import as_text, to_arrow
from graphveil.verify.changes import COST
from graphveil.verify.database import Database, UnreadableError, literal, some_at_once
from graphveil.verify.evidence import CheckedKind, Cost, Evidence, IdsAsNames
from graphveil.verify.files.canonical_text import load_delimited
from graphveil.verify.files.loading import load_rows
from graphveil.verify.kinds.text_cells import cell_columns, strange_id
from graphveil.verify.recount.ids import IDS, ORDER, ids_check, misplaced
from graphveil.verify.recount.rows.table_cells import compare_with_original
from graphveil.verify.second_reading.tables import table_reading_check
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, row_of, shown

COLUMNS = "columns"


def _load(db: Database, path: Path, file: DataFile) -> None:
    """Create `cells` and the view `shown`, with null for suppressed cells; refuse empty cells."""
    # Cells as they are written; `shown` turns the star of text into null, as Parquet has it.
    columns = cell_columns(file)
    load_rows(db, path, file.format, "cells", columns, file.columns)
    names, in_text = [name for name, _ in columns], file.format != "parquet"
    cell = db.first_cell("cells", names, "{} = ''")
    if cell is not None:
        named = file.columns[int(cell[0].removeprefix("c"))]
        raise UnreadableError(f"{row_of(file, cell[1])} has an empty cell in {shown(named)}")
    cells = ", ".join(f"nullif({name}, '*') AS {name}" if in_text else name for name in names)
    db.run(f"CREATE VIEW shown AS SELECT rowid AS row, {cells} FROM cells")
    # A star in Parquet would be a value that looks suppressed.
    star = None if in_text else db.first_cell("cells", names, "{} = '*'")
    if star is not None:
        raise UnreadableError(f"{row_of(file, star[1])} contains `*` instead of null")


def _load_levels(db: Database, path: Path, file: DataFile) -> None:
    """Create `nodes` of the file of levels, all of it text."""
    columns = [(f"n{number}", "VARCHAR") for number in range(len(LEVELS_COLUMNS))]
    load_delimited(db, path, "nodes", columns, names=LEVELS_COLUMNS, form="csv")
    rows = db.number("SELECT count(*) FROM nodes")
    if rows != file.rows:
        raise UnreadableError(f"{path.name} has {counted(rows, 'row')}, but {file.rows} are stated")


def _counts(db: Database, described: Described) -> dict[str, int]:
    cells = [f"c{number}" for number in range(len(_data(described).columns))]
    rows, published = db.number("SELECT count(*) FROM cells"), 0
    for names in some_at_once(cells):
        counts = ", ".join(f"count(nullif({name}, '*'))" for name in names)
        published += sum(db.rows(f"SELECT {counts} FROM cells")[0])
    suppressed = rows * len(cells) - published
    return {"rows": rows, "columns": len(cells), "suppressed_cells": suppressed}


def _data(described: Described) -> DataFile:
    return next(file for file in described.files if file.role == "data")


def _cells(db: Database, described: Described) -> list[ColumnCells]:
    """Return how many cells of each column show a value, a generalized one, or a star."""
    columns = _data(described).columns
    # For each column: cells that are shown, of these the ones above level 0, and suppressed ones.
    rows = db.number("SELECT count(*) FROM cells")
    listed = {one.name for one in described.columns or [] if one.levels is not None}
    found: list[int] = []
    for names in some_at_once([f"c{number}" for number in range(len(columns))]):
        counts = ", ".join(f"count({name})" for name in names)
        found += db.rows(f"SELECT {counts} FROM shown")[0]
    cells = []
    for number, (name, published) in enumerate(zip(columns, found, strict=True)):
        above = 0
        if name in listed and db.holds("nodes"):
            above = db.number(
                f"SELECT count(*) FROM shown WHERE c{number} IN (SELECT n2 FROM nodes "
                f"WHERE n0 = {literal(name)} AND n1 <> '0')"
            )
        own, none = published - above, rows - published
        cells.append(ColumnCells(name=name, values=own, generalized=above, suppressed=none))
    return cells


def _shape(db: Database, described: Described, keyed: bool) -> dict[str, Check]:  # noqa: FBT001  one shape
    """Return the checks of ids and order, which only rows with ids have."""
    # Rows without ids are in no order that could be checked.
    if not keyed:
        return {}
    db.run("CREATE VIEW people AS SELECT TRY_CAST(c0 AS BIGINT) AS person FROM cells")
    file = next((file for file in described.files if file.role == "data"), None)
    strange = strange_id(db, "cells", file)
    if strange is not None:
        return {IDS: fails(strange), ORDER: not_checked("the ids are not valid")}
    another = misplaced(db, "people", "person", keyed=True, file=file)
    in_order = "rows are in ascending order of their ids"
    order = judged([another] if another else [], in_order)
    return {IDS: ids_check(db, "people", "person", keyed=True), ORDER: order}


def _shared(evidence: Evidence) -> tuple[list[Check], str | None]:
    check = _columns(evidence.columns, evidence.original_as(Table))
    return [check], check.detail if check.outcome == "fails" else None


def _columns(published: list[str], original: Table) -> Check:
    """Whether every released column is a column of the original."""
    strange = [name for name in published if name not in original.columns]
    if strange:
        return fails(f"the original has no column {shown(strange[0])}")
    beyond = [name for name in original.columns if name not in published]
    unpublished = f"; not published: {', '.join(map(shown, beyond[:3]))}" if beyond else ""
    more = ", ..." if len(beyond) > 3 else ""
    n = counted(len(published), "column")
    return holds(f"{n} of the release are columns of the original{unpublished}{more}")


def _ids_among_names(evidence: Evidence, original: Table) -> list[IdsAsNames]:
    """Return the ids of people that are values of published columns, or nodes of levels."""
    db = evidence.db
    if db is None or not db.holds("cells") or original.ids is None:
        return []
    db.put("ids_of_people", {"id": to_arrow(as_text(original.labels()))})
    # Published values, and nodes of the file of levels, which nobody need have.
    places = [
        (f"c{number}", "cells", f"values of {shown(name)}")
        for number, name in enumerate(evidence.columns, start=int(evidence.keyed))
    ]
    if db.holds("nodes"):  # a node of levels may be the value of nobody
        places.append(("n2", "nodes", "nodes of the file of levels"))
    among = []
    for cell, table, published_as in places:
        sql = f"SELECT DISTINCT {cell} FROM {table} SEMI JOIN ids_of_people ON {cell} = id"
        ids = {value for (value,) in db.rows(sql)}
        among += [IdsAsNames(ids, published_as)] if ids else []
    return among


def _changes(evidence: Evidence) -> CellChanges:
    # A generalized cell counts as kept, since it is true; only suppressed cells count.
    compared = compare_with_original(evidence.tables, evidence.original_as(Table), evidence.columns)
    before = compared.cells - compared.before
    claim = evidence.manifest.claim
    if any(isinstance(one, Generalized) for one in (*claim.guarantee.implied, *claim.conditions)):
        return CellChanges(before, before - compared.added, missing=compared.before)
    kept = compared.cells - compared.stars - compared.n_strange
    return CellChanges(before, kept, compared.n_strange, compared.before, compared.filled)


def _in_words(figures: Mapping[str, Any]) -> str:
    words = f"{shown(figures.get('stars_added'))} cells suppressed"
    if "cells_replaced" not in figures:
        return words
    replaced, filled = (shown(figures.get(f"cells_{what}")) for what in ("replaced", "filled"))
    return f"{words}, {replaced} replaced and {filled} missing ones filled"


def _same(evidence: Evidence) -> Check:
    original, columns = evidence.original_as(Table), evidence.columns
    if columns != list(original.columns):
        return fails("the release has different columns than the original")
    # Under new ids, every cell must be the original's own, suppressed ones included.
    found = compare_with_original(evidence.tables, original, columns, keyed=evidence.keyed)
    changed, strange = found.n_strange + found.added, found.strange
    if not changed:
        return holds(f"{counted(found.cells, 'cell')} in both, under new ids")
    if strange is None:
        return fails(f"{counted(found.added, 'cell')} of the original suppressed")
    row = row_of(evidence.file(), strange.row)
    row = f"the row with the id {strange.row}" if evidence.keyed else row
    where = f"{row} has a different value of {shown(strange.column)}"
    in_all = f"{counted(changed, 'cell')} changed or suppressed in all"
    return fails(f"{where} than in the original; {in_all}")


TABLE = CheckedKind(
    loaders=dict.fromkeys(("csv", "tsv", "parquet"), _load),
    tables=("cells",),
    people=("people", "person"),
    entries=("cells", "cell"),
    shape_names=(),
    shape=_shape,
    counts=_counts,
    cells=_cells,
    rows={"data": "rows"},
    shared_names=(COLUMNS,),
    shared=_shared,
    ids_among_names=_ids_among_names,
    cost=Cost(COST, _changes, _in_words),
    same=_same,
    read_again=table_reading_check,
    levels=_load_levels,
)
