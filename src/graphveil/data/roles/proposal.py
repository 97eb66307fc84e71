"""The role that is proposed for a column, by its name, its content and its structure.

Nothing is attached on its own, and each proposal has its reason. The
evidence counts in this order: check digits and forms of values, which are certain; the name of the
column if its values fit it; the structure (a different value in every row, dates, measures). A
column of which nothing is known is protected as known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from graphveil.data.roles.names import Meaning, meanings_of
from graphveil.data.roles.person_numbers import are_phones, number_kind

Role = Literal["drop", "known", "sensitive", "weight", "household", "ask"]
"""What can be proposed: dropped (identifiers), known to an attacker, sensitive, a sampling weight,
the number of a household, and what the owner must say. People with several rows are found by
`graphveil.data.persons` alone."""

MOSTLY = 0.9
"""A column in which so large a share of the rows has a value of its own names rows."""

LEAST_ROWS = 20
"""So many rows show what a column holds by its structure alone."""

MOST_SIZE, LEAST_GROUPS = 20.0, 10
"""Numbers of households and people are in so many rows on average at most, and so many at least are
different; fewer of them are sizes and kinds."""

SEVERAL = 1.5
"""Values that are in more rows than this on average are not phone numbers of single people."""

LEAST_WORDS, LEAST_LENGTH = 3, 15
"""A free text has so many words, and so many characters, in the median."""

LARGEST_BODY, LEAST_BODY = 160.0, 30.0
"""Between these many kilograms is the median of weights of bodies, children's aside."""

SURE_COLLISIONS = 5.0
"""Random whole numbers of a range would repeat so often at least; if none does, they number."""


class ColumnValues(NamedTuple):
    """What is looked at in a column.

    Parameters
    ----------
    name
        Its name.
    kind
        What its values are: text, number (also as text), date or constant.
    values
        Different values, as text, without words for missing ones: all, or a part of them.
    distinct
        How many different ones there are.
    rows
        How many rows have a value.
    largest
        How many rows have the commonest one.
    """

    name: str
    kind: str
    values: Sequence[str]
    distinct: int
    rows: int
    largest: int

    @property
    def is_unique(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.rows >= LEAST_ROWS // 2 and self.distinct > MOSTLY * self.rows

    @property
    def in_groups(self) -> bool:
        """Whether its values are those of many groups of few rows each."""
        few = self.rows <= MOST_SIZE * self.distinct and self.largest <= max(self.rows / 10, 2)
        return self.distinct >= LEAST_GROUPS and few


class ProposedRole(NamedTuple):
    """A role, and why it is proposed."""

    role: Role
    reason: str


_NAME = re.compile(r"[^\W\d_][^\d_@]*")
_FULL_NAME = re.compile(r"(?:[^\W\d_]+\.? )*[^\W\d_]\S*(?:,? [^\W\d_]\S*){1,3}")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_LINK = re.compile(r"(?:https?://|www\.)\S+")
_STREET = re.compile(
    r"(?P<name>[^\W\d_][^\d]{3,}?),?\s+\d+\s*[\w/. -]*"
    r"|\d+[a-zA-Z]?,?\s+(?P<after>[^\W\d_][^\d]{3,}).*"
)
_DATE_WITH_TIME = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")


def proposed_role(column: ColumnValues) -> ProposedRole:
    """Return the role proposed for a column.

    Parameters
    ----------
    column
        Its name and values.

    Returns
    -------
    ProposedRole
        The role, and the reason in words.

    Examples
    --------
    >>> mails = [f"p{i}@example.org" for i in range(20)]
    >>> proposed_role(ColumnValues("kontakt", "text", mails, 20, 20, 1))
    ProposedRole(role='drop', reason='its values are e-mail addresses')
    >>> proposed_role(ColumnValues("Geschlecht", "text", ["m", "w"], 2, 20, 11))
    ProposedRole(role='known', reason='its name says a trait that people know of each other')
    """
    # Step 1: values of a form that nothing else has.
    form = _form_of(column)
    if form:
        return ProposedRole("drop", f"its values are {form}")
    # Step 2: the name, if the values are such.
    named = meanings_of(column.name)
    for meaning in named:
        if _fits(column, meaning, named):
            return _as_named(column, meaning)
    # Step 3: the structure alone.
    return _by_structure(column)


def _form_of(column: ColumnValues) -> str:
    """Return what the values are by their form; empty if it says nothing."""
    values = column.values
    if column.kind in ("date", "constant") or len(values) < 2:
        return ""
    for pattern, words in ((_MAIL, "e-mail addresses"), (_LINK, "links")):
        if _share(values, pattern) >= MOSTLY:
            return words
    kind = number_kind(values)
    if kind and (column.is_unique or not column.in_groups):
        return f"each {kind} by form or check digits"
    if column.kind == "number" and not column.is_unique:
        return ""
    repeated = column.rows > SEVERAL * column.distinct
    if not repeated and are_phones(values) and column.kind != "date":
        return "phone numbers"
    return ""


def _as_named(column: ColumnValues, meaning: Meaning) -> ProposedRole:
    role, reason = meaning.role, f"its name says {meaning.words}"
    if meaning.key == "ambiguous_weight":
        return _weight(column)
    return ProposedRole(role, reason)  # type: ignore[arg-type]


def _weight(column: ColumnValues) -> ProposedRole:
    """Return the role of a weight, of a sample or of a body, by the values."""
    numbers = sorted(float(text) for text in column.values if _is_number(text))
    if not numbers:
        return ProposedRole("ask", "it may be a weight of a sample or of a body")
    fine = sum(len(text.partition(".")[2]) > 1 for text in column.values) > len(numbers) / 2
    median = numbers[len(numbers) // 2]
    body = LEAST_BODY <= median <= LARGEST_BODY and numbers[-1] < 4 * median
    if body and not fine:
        return ProposedRole("sensitive", "its name and values say a weight of a body")
    if not body:
        return ProposedRole("weight", "its name and values say a sampling weight")
    return ProposedRole("ask", "it may be a weight of a sample or of a body")


def _fits(column: ColumnValues, meaning: Meaning, named: Sequence[Meaning]) -> bool:
    """Whether the values are such as a meaning needs."""
    if column.kind == "constant":
        return not meaning.needs
    return _NEEDS[meaning.needs](column, meaning, named)


def _is_plain(column: ColumnValues, meaning: Meaning, _: Sequence[Meaning]) -> bool:
    return column.kind != "date" or meaning.key == "birth"  # else what happened at some time


def _numbers_people(column: ColumnValues, _: Meaning, named: Sequence[Meaning]) -> bool:
    others = any(not one.needs for one in named)
    counts = column.kind != "date" and not _has_fractions(column)
    return column.is_unique and counts and not others


_NEEDS: dict[str, Callable[[ColumnValues, Meaning, Sequence[Meaning]], bool]] = {
    "": _is_plain,
    "number": lambda column, *_: column.kind == "number",
    "id": lambda column, *_: column.kind != "date" and (column.is_unique or column.in_groups),
    "unique": _numbers_people,
    "name": lambda column, *_: column.kind == "text" and _share(column.values, _NAME) >= MOSTLY,
    "text": lambda column, *_: column.kind == "text" and _is_text(column.values),
    "place": lambda column, *_: column.kind != "date",
}
"""What values a meaning needs, as `words.toml` says it."""


def _by_structure(column: ColumnValues) -> ProposedRole:
    """Return the role by what the values are, whatever the name says."""
    if column.kind == "constant":
        return ProposedRole("known", "it has one value")
    if column.kind == "date" or _share(column.values, _DATE_WITH_TIME) >= MOSTLY:
        return ProposedRole("ask", "a date: known if anybody can know when it was")
    if column.kind == "number":
        if column.is_unique and _numbers_rows(column):
            return ProposedRole("drop", "it numbers the rows")
        measure = "a measure: sensitive, or known if anybody can know it"
        return ProposedRole("ask", measure) if _has_fractions(column) else _UNKNOWN
    found = next((words for words, holds in _TEXTS.items() if holds(column)), "")
    return ProposedRole("drop", found) if found else _UNKNOWN


_UNKNOWN = ProposedRole("known", "")
"""What nothing is known of is protected."""


def _share(values: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(bool(pattern.fullmatch(text.strip())) for text in values) / max(len(values), 1)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _has_fractions(column: ColumnValues) -> bool:
    return column.kind == "number" and any("." in text or "e" in text for text in column.values)


def _is_text(values: Sequence[str]) -> bool:
    """Whether most values are of several words."""
    if not values:
        return False
    words = sorted(len(text.split()) for text in values)
    lengths = sorted(map(len, values))
    half = len(values) // 2
    return words[half] >= LEAST_WORDS and lengths[half] >= LEAST_LENGTH


def _are_streets(column: ColumnValues) -> bool:
    """Whether most values are a street and a number, with streets that differ."""
    found = [match for text in column.values if (match := _STREET.fullmatch(text.strip()))]
    names = {(match["name"] or match["after"]).strip() for match in found}
    many = column.distinct >= LEAST_ROWS and column.distinct > column.rows / 2
    return many and len(found) >= MOSTLY * len(column.values) and 2 * len(names) >= len(found)


def _are_full_names(column: ColumnValues) -> bool:
    """Whether most values are two words or more with capitals, of which the last ones differ."""
    names = [t for t in column.values if _FULL_NAME.fullmatch(t) and t[:1].isupper()]
    names = [t for t in names if t.split()[-1][:1].isupper()]
    last = {name.split()[-1] for name in names}
    many = column.distinct >= LEAST_ROWS and 3 * column.distinct > column.rows
    return many and len(names) > 0.8 * len(column.values) and 2 * len(last) >= len(names)


def _numbers_rows(column: ColumnValues) -> bool:
    """Whether whole numbers count rows, or are all different where chance would repeat some."""
    numbers = [int(text) for text in column.values if re.fullmatch(r"[+-]?\d{1,18}", text)]
    if len(numbers) < len(column.values) or len(numbers) < LEAST_ROWS:
        return False
    spread = max(numbers) - min(numbers) + 1
    if spread == column.distinct:
        return True
    no_repeats = column.distinct == column.rows
    return no_repeats and column.rows * (column.rows - 1) / (2 * spread) >= SURE_COLLISIONS


_TEXTS: dict[str, Callable[[ColumnValues], bool]] = {
    "its values are free texts": lambda column: (
        2 * column.distinct > column.rows and _is_text(column.values)
    ),
    "its values are addresses": _are_streets,
    "its values are like names of people": _are_full_names,
    "nearly every row has a value of its own": lambda column: column.is_unique,
}
"""Texts that identify people, and how they are found."""
