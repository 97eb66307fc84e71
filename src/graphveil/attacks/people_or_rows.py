"""Whether words are about people or about rows, and about items or about cells.

Texts of attacks are written once, about people and their items. A row of a table counts as a person
only if the owner said so; otherwise the same text is reworded to be about rows, and for tables
items become values and entries become cells. Only these words change: names of figures and settings
stay as they are.
"""

from __future__ import annotations

import re
from typing import Literal

from graphveil.data import Data, Table

Counted = Literal["people", "rows"]
"""What is counted: rows of a table are people only if the owner said so."""

_OF_PEOPLE = re.compile(r"\b(people|person|participant)\b(?: (who)\b)?")
"""The words to replace; "who" directly after one of them becomes "that"."""

_OF_ROWS = {"people": "rows", "person": "row", "participant": "row in the data"}

_OF_CELLS = {"item": "value", "items": "values", "entry": "cell", "entries": "cells"}

_ITEMS = re.compile(rf"(?<!\{{)\b({'|'.join(_OF_CELLS)})\b(?!\}})")  # else what is filled in
"""Words about items, but not the placeholders in braces that have the same names."""


def counted_in(data: Data) -> Counted:
    """Return what is counted in this data.

    >>> counted_in(Table.from_columns({"sex": ["f", "m"]}))
    'rows'
    """
    return "rows" if isinstance(data, Table) and data.person == "assumed" else "people"


def reworded(text: str, counted: Counted) -> str:
    """Return words about people, or the same about rows.

    >>> reworded("people who differ from a person's own record", "rows")
    "rows that differ from a row's own record"
    >>> reworded("a person", "people")
    'a person'
    """
    if counted == "people":
        return text
    return _OF_PEOPLE.sub(lambda one: _OF_ROWS[one[1]] + (" that" if one[2] else ""), text)


def in_cells(text: str) -> str:
    """Return words about the items of users as words about a table, which has cells.

    >>> in_cells("entries that prove one item of a person")
    'cells that prove one value of a person'
    """
    return _ITEMS.sub(lambda one: _OF_CELLS[one[1]], text)
