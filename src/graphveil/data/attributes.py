"""People's attributes as objects and files show them: cells under names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphveil.data.frames import arrow_table
from graphveil.data.table import Table

SUPPRESSED_TEXT = "*"
"""How a suppressed cell is written where a library has one value for all kinds of cells."""


def people_of(frame: Any, node: str | None, bins: Mapping[str, str] | None) -> Table:
    """Return the rows of people, whose ids are those of a column."""
    table = arrow_table(frame)
    node = node or table.column_names[0]
    return Table.from_arrow(table, ids=node, bins=bins)


def cells_of(people: Table) -> dict[str, list[Any]]:
    """Return the cells of every attribute; a suppressed one is ``*``."""
    cells = {}
    for column, (name, values) in enumerate(zip(people.columns, people.categories, strict=True)):
        listed = [*values.tolist(), SUPPRESSED_TEXT]
        cells[name] = [listed[code] for code in people.codes[:, column].tolist()]
    return cells


def cells_by_node(people: Table | None, n: int) -> list[dict[str, Any]]:
    """Return what is said of each of n nodes, by the names of attributes."""
    cells = {} if people is None else cells_of(people)
    rows = zip(*cells.values(), strict=True) if cells else [()] * n
    return [dict(zip(cells, row, strict=True)) for row in rows]
