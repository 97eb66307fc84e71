"""Columns that may name people one row each: nearly every row has a different value.

`naming_columns` finds them. Each ends in a question to the owner of the data. Columns whose values
may be people with several rows are found by `graphveil.data.persons`.
"""

from __future__ import annotations

import re
from itertools import compress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.hints import option
from graphveil.data.ids import Ids

MOSTLY_DIFFERENT = 0.9
"""The share of different values above which a column is taken for one that names people."""

FEW = 10
"""The fewest values that show what a column holds."""

FEW_ATTACHED = 3
"""The fewest values that show that a column names people which would be published as it is: there
the cost of a wrong question is small."""

_NAMES_OF_IDS = re.compile(r"(?:.* )?(?:[pu]?ids?|uuid|guid|key)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|[^\w]+|_+")


class CodedRows(Protocol):
    """What of a table is looked at: names, the code of every cell, and what codes stand for."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names."""

    @property
    def codes(self) -> NDArray[np.int32]:
        """The cells, shape (rows, columns); -1 is suppressed."""

    @property
    def categories(self) -> tuple[Ids, ...]:
        """The values of every column."""


def naming_columns(table: CodedRows, few: int = FEW) -> tuple[str, ...]:
    """Return the columns in which nearly every row has another value; suppressed cells aside.

    `few`: the fewest cells of a column that counts.
    """
    in_rows = [sizes(table, at) for at in range(len(table.columns))]
    each = [(int(size.sum()), np.count_nonzero(size)) for size in in_rows]
    differs = [rows >= few and values > MOSTLY_DIFFERENT * rows for rows, values in each]
    return tuple(compress(table.columns, differs))


def numbers_people(name: str, values: Ids) -> bool:
    """Whether a column of numbers, one for each row, counts or names people, measuring nothing."""
    whole = values.dtype.kind == "i" and values.size > 0
    counts = whole and int(values.max()) - int(values.min()) + 1 == values.size
    return counts or bool(_NAMES_OF_IDS.fullmatch(plain_name(name)))


def naming_question(name: str) -> str:
    """Return what is to be asked of such a column.

    >>> from graphveil.core.hints import Message
    >>> print(Message(naming_question("name")))
    name has a different value in nearly every row: if it identifies people, give ids="name", \
or drop it
    """
    return (
        f"{name} has a different value in nearly every row: if it identifies people, give "
        f"{option('ids', name)}, or drop it"
    )


def sizes(table: CodedRows, at: int) -> Ints:
    """Return in how many rows each value of a column is."""
    shown = table.codes[:, at][table.codes[:, at] >= 0]
    return np.bincount(shown, minlength=table.categories[at].size)


def plain_name(name: str) -> str:
    """Return a name in lower case, with one blank between its words."""
    return " ".join(filter(None, _HUMP.split(name))).lower()
