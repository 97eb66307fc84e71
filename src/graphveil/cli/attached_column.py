"""A column that is published beside a release: read from a file, one value for everybody."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphveil import io
from graphveil.cli.console import say
from graphveil.cli.flags import flag
from graphveil.data import Data, Table
from graphveil.errors import UsageError
from graphveil.evaluate import Attached
from graphveil.io.questioned import EVERY_WORD
from graphveil.terminal import printable

COLUMN_FLAGS = [
    flag(
        "attached",
        Path | None,
        "A table with a column that is published beside the release. Its ids are those of the "
        "original.",
        default=None,
    ),
    flag("attached_column", str | None, "That column, by its name.", default=None),
    flag(
        "attached_ids",
        str | None,
        "The column of that table that holds the ids; its first one without this.",
        default=None,
    ),
]


class AttachedColumn(NamedTuple):
    """Where the column stands; all None where there is none.

    Parameters
    ----------
    attached
        The file.
    attached_column, attached_ids
        Its columns of values and of ids; None for the only other one, and the first one.
    """

    attached: Path | None
    attached_column: str | None
    attached_ids: str | None

    def check(self) -> None:
        """Refuse the name of a column without a file."""
        if self.attached is None and (self.attached_column or self.attached_ids):
            raise UsageError(
                "--attached-column and --attached-ids are columns of a file. Give it: "
                "--attached FILE."
            )

    def read(self, original: Data) -> Attached | None:
        """Return the value of everybody in the original; None where there is no column.

        Raises
        ------
        UsageError
            Where there is no such column, or somebody has no value, or two.
        """
        if self.attached is None:
            return None
        table = io.read_table(self.attached, categories=EVERY_WORD)  # whoever published it says so
        ids, column = self._names(table)
        value_of = self._values(table, ids, column)
        people = [str(name) for name in original.labels().tolist()]
        for person in people:
            if person not in value_of:
                raise UsageError(
                    f"{self.attached.name} has no value of {column!r} for {printable(person)}. "
                    "Everybody in the original needs one; a cell that is empty or * is none."
                )
        if len(value_of) > len(people):
            more = len(value_of) - len(people)
            say(f"{self.attached.name}: ids that are not in the original: {more}")
        return Attached(column, np.array([value_of[person] for person in people], dtype=np.str_))

    def _names(self, table: Table) -> tuple[str, str]:
        """Return the names of the columns of ids and of values."""
        ids = self.attached_ids or table.columns[0]
        others = [name for name in table.columns if name != ids]
        column = self.attached_column or (others[0] if len(others) == 1 else None)
        if column is None:
            raise UsageError(
                f"which column is attached? Name it by --attached-column: {', '.join(others)}."
            )
        for name in (ids, column):
            if name not in table.columns:
                raise UsageError(
                    f"{self.attached and self.attached.name} has no column {name!r}. It has "
                    f"{', '.join(table.columns)}."
                )
        return ids, column

    def _values(self, table: Table, ids: str, column: str) -> dict[str, str]:
        """Return the values by the ids."""
        people, values = (_texts(table, name) for name in (ids, column))
        named = [person for person in people if person is not None]
        person, number = next(iter(Counter(named).most_common(1)), (None, 0))
        if number > 1:
            raise UsageError(
                f"{printable(person)} stands {number} times in the column {ids!r}. Give one value "
                "for everybody."
            )
        pairs = zip(people, values, strict=True)
        return {p: v for p, v in pairs if p is not None and v is not None}


def _texts(table: Table, name: str) -> list[str | None]:
    """Return the cells of a column; None where they are suppressed."""
    number = table.columns.index(name)
    names = [*(str(value) for value in table.categories[number].tolist()), None]
    return [names[code] for code in table.codes[:, number].tolist()]
