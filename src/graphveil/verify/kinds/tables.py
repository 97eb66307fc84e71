"""Tables: rows of categories, of which a suppressed one is null, or `*` in text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphveil.claims.changes import CellChanges
from graphveil.claims.manifest import LEVELS_COLUMNS, ColumnCells, DataFile, Described
from graphveil.claims.tables import Generalized
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.data.ids import as_text, to_arrow
from graphveil.verify.database import Database, UnreadableError, literal, some_at_once
from graphveil.verify.files.canonical import load_delimited
from graphveil.verify.files.columnar import load_columnar
from graphveil.verify.files.second_table import table_reading_check
from graphveil.verify.kinds.kind import (
    COST,
    SAME,
    CheckedKind,
    ComparedNames,
    Cost,
    Evidence,
    IdsAsNames,
)
from graphveil.verify.recount.linked import IDS, ORDER, compare_with_original, ids_check, misplaced
from graphveil.verify.verdict import Check, fails, holds, not_checked, shown

COLUMNS = "columns"

MOST_COLUMNS = 10_000
"""The columns of a table that are read: SQL over more of them takes minutes."""

_IS_ID = (
    "coalesce(regexp_full_match(c0, '0|[1-9][0-9]{0,18}') "
    "AND TRY_CAST(c0 AS BIGINT) IS NOT NULL, false)"
)


def _delimited(db: Database, path: Path, file: DataFile) -> None:
    columns = _cell_columns(file)
    load_delimited(db, path, "cells", columns, names=file.columns, form=file.format)
    _refuse_empty_cells(db, path, file)
    _show(db, [f"nullif({name}, '*') AS {name}" for name, _ in columns])


def _columnar(db: Database, path: Path, file: DataFile) -> None:
    columns = _cell_columns(file)
    load_columnar(db, path, "cells", columns, names=file.columns)
    _refuse_empty_cells(db, path, file)
    star = db.first_cell("cells", [name for name, _ in columns], "{} = '*'")
    if star is not None:
        raise UnreadableError(f"{path.name}: row {star[1]} contains `*` instead of null")
    _show(db, [name for name, _ in columns])


def _load_levels(db: Database, path: Path, file: DataFile) -> None:
    """Create `nodes` of the file of levels, all of it text."""
    columns = [(f"n{number}", "VARCHAR") for number in range(len(LEVELS_COLUMNS))]
    load_delimited(db, path, "nodes", columns, names=LEVELS_COLUMNS, form="csv")
    rows = db.number("SELECT count(*) FROM nodes")
    if rows != file.rows:
        raise UnreadableError(f"{path.name} has {counted(rows, 'row')}, but {file.rows} are stated")


def _show(db: Database, columns: Sequence[str]) -> None:
    """Create the view `shown`: the cells by row, a suppressed one null."""
    db.run(f"CREATE VIEW shown AS SELECT rowid AS row, {', '.join(columns)} FROM cells")


def _refuse_empty_cells(db: Database, path: Path, file: DataFile) -> None:
    """Refuse a table with a cell of no text: a reader takes it for a suppressed one."""
    cell = db.first_cell("cells", [name for name, _ in _cell_columns(file)], "{} = ''")
    if cell is not None:
        named = file.columns[int(cell[0].removeprefix("c"))]
        raise UnreadableError(f"{path.name}: row {cell[1]} has an empty cell in {shown(named)}")


def _cell_columns(file: DataFile) -> Sequence[tuple[str, str]]:
    if len(file.columns) > MOST_COLUMNS:
        raise UnreadableError(
            f"{file.name} has {len(file.columns)} columns, more than {MOST_COLUMNS}"
        )
    return [(f"c{number}", "VARCHAR") for number in range(len(file.columns))]


def _counts(db: Database, described: Described) -> dict[str, int]:
    data = next(file for file in described.files if file.role == "data")
    rows = db.number("SELECT count(*) FROM cells")
    published = 0
    for names in some_at_once([f"c{number}" for number in range(len(data.columns))]):
        counts = ", ".join(f"count(nullif({name}, '*'))" for name in names)
        published += sum(db.rows(f"SELECT {counts} FROM cells")[0])
    return {
        "rows": rows,
        "columns": len(data.columns),
        "suppressed_cells": rows * len(data.columns) - published,
    }


def _cells(db: Database, described: Described) -> list[ColumnCells]:
    """Return how many cells of each column show a value, a node above the values, or nothing."""
    data = next(file for file in described.files if file.role == "data")
    rows = db.number("SELECT count(*) FROM cells")
    listed = {one.name for one in described.columns or [] if one.levels is not None}
    found: list[int] = []
    for names in some_at_once([f"c{number}" for number in range(len(data.columns))]):
        counts = ", ".join(f"count({name})" for name in names)
        found += db.rows(f"SELECT {counts} FROM shown")[0]
    cells = []
    for number, (name, published) in enumerate(zip(data.columns, found, strict=True)):
        above = 0
        if name in listed and db.holds("nodes"):
            above = db.number(
                f"SELECT count(*) FROM shown WHERE c{number} IN (SELECT n2 FROM nodes "
                f"WHERE n0 = {literal(name)} AND n1 <> '0')"
            )
        cells.append(
            ColumnCells(
                name=name, values=published - above, generalized=above, suppressed=rows - published
            )
        )
    return cells


def _shape(db: Database, _described: Described, keyed: bool) -> list[Check]:  # noqa: FBT001  one shape
    """Return the checks of the rows: they have an order to check only where they have ids."""
    if not keyed:
        return []
    db.run("CREATE VIEW people AS SELECT TRY_CAST(c0 AS BIGINT) AS person FROM cells")
    strange = db.first(f"SELECT rowid + 1, c0 FROM cells WHERE NOT {_IS_ID} ORDER BY rowid LIMIT 1")
    if strange:
        no_id = f"row {strange[0]} has the id {shown(strange[1])}, which is not valid"
        return [fails(IDS, no_id), not_checked(ORDER, "the ids are not valid")]
    another = misplaced(db, "people", "person", keyed=True)
    in_order = "rows are in ascending order of their ids"
    return [
        ids_check(db, "people", "person", keyed=True),
        fails(ORDER, another) if another else holds(ORDER, in_order),
    ]


def _shared(evidence: Evidence) -> ComparedNames:
    check = _columns(evidence.columns, evidence.original_as(Table))
    return ComparedNames([check], check.detail if check.outcome == "fails" else None)


def _columns(published: list[str], original: Table) -> Check:
    """Whether every released column is one of the original; the claim says nothing of others."""
    strange = [name for name in published if name not in original.columns]
    if strange:
        return fails(COLUMNS, f"the original has no column {shown(strange[0])}")
    beyond = [name for name in original.columns if name not in published]
    unpublished = f"; not published: {', '.join(map(shown, beyond[:3]))}" if beyond else ""
    more = ", ..." if len(beyond) > 3 else ""
    n = counted(len(published), "column")
    return holds(COLUMNS, f"{n} of the release are columns of the original{unpublished}{more}")


def _ids_among_names(evidence: Evidence, original: Table) -> list[IdsAsNames]:
    """Return the ids of people that are values of published columns, or nodes of levels."""
    db, names = evidence.db, evidence.columns
    if db is None or not db.holds("cells") or original.ids is None:
        return []
    db.put("ids_of_people", {"id": to_arrow(as_text(original.labels()))})
    among = []
    for number, name in enumerate(names, start=int(evidence.keyed)):
        rows = db.rows(
            f"SELECT DISTINCT c{number} FROM cells SEMI JOIN ids_of_people ON c{number} = id"
        )
        if rows:
            among.append(IdsAsNames({value for (value,) in rows}, f"values of {shown(name)}"))
    if db.holds("nodes"):  # a node of levels may be the value of nobody
        rows = db.rows("SELECT DISTINCT n2 FROM nodes SEMI JOIN ids_of_people ON n2 = id")
        if rows:
            among.append(IdsAsNames({value for (value,) in rows}, "nodes of the file of levels"))
    return among


def _changes(evidence: Evidence) -> CellChanges:
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
        return fails(SAME, "the release has different columns than the original")
    found = compare_with_original(evidence.tables, original, columns, keyed=evidence.keyed)
    if not found.n_strange + found.added:
        return holds(SAME, f"{counted(found.cells, 'cell')} in both, under new ids")
    if found.strange is None:
        return fails(SAME, f"{counted(found.added, 'cell')} of the original suppressed")
    where = (
        f"row {found.strange.row} has a different value of {shown(found.strange.column)} "
        "than in the original"
    )
    return fails(
        SAME,
        (f"{where}; {counted(found.n_strange + found.added, 'cell')} changed or suppressed in all"),
    )


TABLE = CheckedKind(
    loaders={"csv": _delimited, "tsv": _delimited, "parquet": _columnar},
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
