"""Columns of a table that may name people: a value of its own a row, or an id of several rows."""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphveil.data.ids import Ids, as_text
from graphveil.errors import option

MOSTLY_DIFFERENT = 0.9
"""The share of different values above which a column is taken for one that names people."""

FEW = 10
"""Fewer values do not show what a column holds."""

LEAST_PEOPLE = 20
"""The fewest values that are taken for ids of people who have several rows."""

MOST_ROWS, MOST_ROWS_OF_DIGITS = 100, 20
"""The rows that such an id has on average at most; where digits alone speak for it, fewer."""

LARGEST_SHARE = 0.1
"""The share of all rows above which no id of a person has rows."""

LEAST_DIGITS = 5
"""So many digits, all of one length, look like the numbers of people."""

_NAMES_OF_IDS = re.compile(
    r"(.*[ _.-])?(id|ids|uuid|guid|key|ssn|e?-?mail|phone|user|username|customer|client|patient"
    r"|member|person|people|subject|respondent|employee|student|account)|[a-z]+Id|[a-z]+ID",
)


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


def naming_columns(table: CodedRows) -> tuple[str, ...]:
    """Return the columns in which nearly every row has another value; suppressed cells aside.

    Examples
    --------
    >>> from graphveil import Table
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


class RepeatedId(NamedTuple):
    """A column that looks as if each of its values were a person who has several rows.

    Parameters
    ----------
    name
        The column.
    values, rows
        How many distinct values it has, in how many rows.
    sign
        Why it is taken for one.
    """

    name: str
    values: int
    rows: int
    sign: str

    @property
    def refusal(self) -> str:
        """What is said where nobody said that a row is a person."""
        several = f"{self.values:,} values in {self.rows:,} rows, {self.sign}"
        return (
            f"a row must be a person, and the column {self.name} may hold people who have several "
            f"rows: {several}. Say {option('person', self.name)} to make the rows of one person "
            f"one, {option('drop', self.name)} to leave it out, {option('ids', 'COLUMN')} with a "
            f"column that has another value a person, or {option('person', 'row')} where every row "
            "is a person all the same."
        )


def repeated_id(table: CodedRows) -> RepeatedId | None:
    """Return the first column that may hold the ids of people who have several rows.

    It has many values, each in few rows, and looks like an id: by its name, or by digits of one
    length; or its values have an @, however many they are.

    Examples
    --------
    >>> from graphveil import Table
    >>> mails = [f"p{number}@example.org" for number in range(30)]
    >>> bought = {"mail": mails * 4, "product": ["tea", "rye"] * 60}
    >>> repeated_id(Table.from_columns(bought)).name
    'mail'
    """
    for number, name in enumerate(table.columns):
        shown = table.codes[:, number][table.codes[:, number] >= 0]
        sizes = np.bincount(shown)
        sizes = sizes[sizes > 0]
        if not sizes.size or sizes.max() == 1:
            continue
        rows = shown.size / sizes.size
        few = sizes.size < LEAST_PEOPLE or sizes.max() > max(LARGEST_SHARE * shown.size, 2)
        unlike = few or rows > MOST_ROWS
        values = table.categories[number]
        sign = _sign_of_an_id(name, values, rows)
        if _are_mails(values) or (sign and not unlike):
            return RepeatedId(name, int(sizes.size), int(shown.size), sign or "with an @")
    return None


def _are_mails(values: Ids) -> bool:
    """Whether half of the values or more have an @: then they name people, however few they are."""
    texts = as_text(values).tolist() if values.dtype.kind != "i" else []
    return bool(texts) and 2 * sum("@" in text for text in texts) >= len(texts)


def _sign_of_an_id(name: str, values: Ids, rows: float) -> str:
    """Return why the values of a column look like ids; empty where they do not."""
    if _NAMES_OF_IDS.fullmatch(name) or _NAMES_OF_IDS.fullmatch(name.lower()):
        return "under the name of an id"
    texts = as_text(values).tolist()
    lengths = {len(text) if text.isdecimal() else 0 for text in texts}
    one_length = len(lengths) == 1 and min(lengths) >= LEAST_DIGITS
    return "digits of one length" if one_length and rows <= MOST_ROWS_OF_DIGITS else ""
