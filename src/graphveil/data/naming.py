"""Columns of a table that may name people: nearly every row has a value of its own."""

from __future__ import annotations

import numpy as np

from graphveil.data.table import Table
from graphveil.errors import option

MOSTLY_DIFFERENT = 0.9
"""The share of different values above which a column is taken for one that names people."""

FEW = 10
"""Fewer values do not show what a column holds."""


def naming_columns(table: Table) -> tuple[str, ...]:
    """Return the columns in which nearly every row has another value; suppressed cells aside.

    Examples
    --------
    >>> names = [f"P{number}" for number in range(10)]
    >>> naming_columns(Table.from_columns({"name": names, "sex": ["f", "m"] * 5}))
    ('name',)
    """
    return tuple(
        name for number, name in enumerate(table.columns) if _differs(table.codes[:, number])
    )


def _differs(codes: np.ndarray[tuple[int], np.dtype[np.int32]]) -> bool:
    shown = codes[codes >= 0]
    different = int(np.count_nonzero(np.bincount(shown)))
    return shown.size >= FEW and different > MOSTLY_DIFFERENT * shown.size


def naming_question(name: str) -> str:
    """Return what is to be asked of such a column.

    Examples
    --------
    >>> from graphveil.errors import Message
    >>> print(Message(naming_question("name")))
    nearly every row has another value of name: if it names people, say ids="name" or take it out
    """
    return (
        f"nearly every row has another value of {name}: if it names people, say "
        f"{option('ids', name)} or take it out"
    )
