"""Columns whose values may identify people: evidence in names, in values and in other columns.

`naming_columns` finds columns in which nearly every row has a different value. `repeated_people`
finds columns whose values may be people with several rows. Evidence comes in three steps: the name
of the column and the form of its values, then the other columns that it determines (as a patient's
number determines the date of birth), then the form of codes. No step is proof: each ends in a
question to the owner of the data.
"""

from __future__ import annotations

import re
from itertools import compress
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphveil.core.hints import mapping, option
from graphveil.core.questions import Problem
from graphveil.core.text import counted
from graphveil.data.ids import Ids, as_text

MOSTLY_DIFFERENT = 0.9
"""The share of different values above which a column is taken for one that names people."""

FEW = 10
"""The fewest values that show what a column holds."""

FEW_ATTACHED = 3
"""The fewest values that show that a column names people which would be published as it is: there
the cost of a wrong question is small."""


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
    sizes = [_sizes(table, at) for at in range(len(table.columns))]
    each = [(int(size.sum()), np.count_nonzero(size)) for size in sizes]
    differs = [rows >= few and values > MOSTLY_DIFFERENT * rows for rows, values in each]
    return tuple(compress(table.columns, differs))


def numbers_people(name: str, values: Ids) -> bool:
    """Whether a column of numbers, one for each row, counts or names people, measuring nothing."""
    whole = values.dtype.kind == "i" and values.size > 0
    counts = whole and int(values.max()) - int(values.min()) + 1 == values.size
    return counts or bool(_NAMES_OF_IDS.fullmatch(_plain(name)))


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


AGREE, BEYOND_CHANCE, EVIDENCE = 0.9, 0.8, 7.0
"""Rows with one value agree on another column if so many do, if so much of what chance leaves is
gone, and if chance alone would do it less often than e^-7."""

FIRST_CELLS, MOST_CELLS, MOST_VALUES = 1 << 17, 1 << 22, 10_000
"""So many cells are compared for each column, at first and if these rule nothing out; and so many
of its values are read."""

LEAST_PEOPLE, MOST_ROWS, MOST_ROWS_OF_CODES, LARGEST_SHARE = 20, 100, 20, 0.1
"""Where a name such as `country_id` or the form of codes alone speaks for people: the fewest of
them, the most rows that they have on average, and the largest share of all rows that one has."""

MOST_NAMED = 5
"""How many columns that follow from another are named in a message."""

LEAST_DIGITS = 5
"""The fewest digits of codes of one form that look like numbers of people; a smaller value would
take more codes for people."""

_PERSON = (
    r"(?:patient|pat|paciente|patiente|versicherte|insured|customer|client|cliente|kunde|member"
    r"|mitglied|person|persona|personne|subject|subj|respondent|participant|participante"
    r"|teilnehmer|proband|employee|empleado|mitarbeiter|student|pupil|schueler|schüler|user"
    r"|usuario|usuária|usuário|utilisateur|benutzer|nutzer|account|konto|citizen|resident"
    r"|beneficiary|voter|tenant|donor|worker|applicant|borrower)(?:en|n|in|innen)?"
)
_NUMBER = r"(?:id|ids|nr|no|num|number|nummer|numero|número|code|key|hash|ref|pseudonym)"
_DOCUMENT = (
    r"(?:mrn|ssn|nhs|nino|cpf|curp|dni|nie|nif|bsn|pesel|aadhaar|avs|ahv|passport|passeport"
    r"|pasaporte|passaporto|reisepass|ausweis|e ?mail|mail|phone|mobile|telephone|telefon"
    r"|telefono|teléfono|msisdn|imsi|imei|login|username|nickname|pseudonym)"
)
_NAME = (
    r"(?:(?:full|first|last|family|given|sur|middle|user|nick) ?)?name|nachname|vorname|nombre"
    r"|apellidos?|nom|pr[eé]nom|nome|cognome|sobrenome|naam|imi[eę]|nazwisko"
)
_COUNT = r"(?!(?:n|no|nr|num|number|count|total|is|has|per|by|avg|max|min) )"
_NAMES_OF_PEOPLE = re.compile(
    rf"{_COUNT}(?:.* )?(?:{_PERSON}|{_DOCUMENT})(?: ?{_NUMBER})*|(?:.* )?{_PERSON} ?(?:{_NAME})"
    rf"|[pu]?ids?|uuid|guid|{_NAME}"
)
_NAMES_OF_IDS = re.compile(r"(?:.* )?(?:[pu]?ids?|uuid|guid|key)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|[^\w]+|_+")
_FULL_NAME = re.compile(r"[^\W\d_]\S*(?:,? [^\W\d_]\S*){1,3}")


class RepeatedPeople(NamedTuple):
    """A column that looks as if each of its values were a person who has several rows."""

    name: str
    values: int
    rows: int
    sign: str

    @property
    def question(self) -> Problem:
        """What must be decided of the column."""
        return Problem(
            self.name,
            "drop",
            self.name,
            f"column {self.name} may identify people with several rows ({self.values:,} values in "
            f"{self.rows:,} rows, {self.sign})",
            f"use {option('person', self.name)} to merge each person's rows, "
            f"{option('person', 'row')} if every row is a different person, or {option('drop')}",
        )

    def with_levels(self, levels: str, what: str = "date") -> Problem:
        """Return the same if its values are dates, or numbers: proposed are their levels."""
        more = f"use {mapping('levels', self.name, levels)} if it is a {what} of the person, "
        choices = f"{more}{self.question.choices.removeprefix('use ')}"
        return self.question._replace(option="levels", value=levels, choices=choices)

    @property
    def refusal(self) -> str:
        """What is said where nobody said what a row is."""
        values, rows = counted(self.values, "value", spec=","), counted(self.rows, "row", spec=",")
        return (
            f"a row must be one person, but {self.name} may identify people with several rows: "
            f"{values} in {rows}, {self.sign}. Use {option('person', self.name)} to merge each "
            f"person's rows, {option('person', 'row')} if every row is a different person, or "
            f"{option('drop', self.name)} to drop the column."
        )


def repeated_people(table: CodedRows) -> RepeatedPeople | None:
    """Return the column that may hold people of whom some have several rows; None without one."""
    # Only columns in which some value has several rows can be people with several rows.
    repeated = [
        at
        for at in range(len(table.columns))
        if np.bincount(table.codes[:, at][table.codes[:, at] >= 0]).max(initial=0) > 1
    ]
    # Evidence 1: the name of the column, and the form of its values.
    for at in repeated:
        sign = sign_of_people(table.columns[at], table.categories[at], _sizes(table, at))
        if sign:
            return _found(table, at, sign)
    # Evidence 2: the column determines other columns, as a person determines the date of birth.
    agreed = {at: _agreed(table, at) for at in repeated if np.count_nonzero(_sizes(table, at)) > 2}
    most = max(agreed, key=lambda at: len(agreed[at]), default=-1)
    if most >= 0 and agreed[most]:
        names = [table.columns[other] for other in agreed[most]]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        sign = f"and rows with the same value agree on {', '.join(names[:MOST_NAMED])}{more}"
        return _found(table, most, sign)
    # Evidence 3: many values of few rows each that look like codes.
    for at in repeated:
        sign = _sign_of_codes(table.columns[at], table.categories[at], _sizes(table, at))
        if sign:
            return _found(table, at, sign)
    return None


def _sizes(table: CodedRows, at: int) -> NDArray[np.int64]:
    """Return in how many rows each value of a column is."""
    shown = table.codes[:, at][table.codes[:, at] >= 0]
    return np.bincount(shown, minlength=table.categories[at].size)


def _found(table: CodedRows, at: int, sign: str) -> RepeatedPeople:
    sizes = _sizes(table, at)
    return RepeatedPeople(table.columns[at], int(np.count_nonzero(sizes)), int(sizes.sum()), sign)


def _plain(name: str) -> str:
    """Return a name in lower case, with one blank between its words."""
    return " ".join(filter(None, _HUMP.split(name))).lower()


def named_as_people(name: str) -> bool:
    """Whether the name of a column is one for the ids or names of people."""
    return bool(_NAMES_OF_PEOPLE.fullmatch(_plain(name)))


def sign_of_people(name: str, values: Ids, sizes: NDArray[np.int64]) -> str:
    """Return why the values of a column look like people, however few or frequent they are."""
    texts = as_text(values[sizes > 0][:MOST_VALUES]).tolist()
    numbered = len(texts) > 2 and all(re.search(r"\d", text) for text in texts)
    some = len(texts) >= FEW or numbered  # fewer words are kinds of people: student: no, yes
    if some and named_as_people(name):
        return "with the name of an id"
    if 2 * sum("@" in text for text in texts) >= len(texts):
        return "with an @"
    return "like names of people" if len(texts) >= FEW and _are_names(texts) else ""


def _are_names(texts: list[str]) -> bool:
    """Whether texts are capitalized words of which the last differ: those of jobs repeat."""
    names = [text for text in texts if _FULL_NAME.fullmatch(text) and text.istitle()]
    last = {name.split()[-1] for name in names}
    return len(names) > AGREE * len(texts) and 2 * len(last) >= len(names)


def _sign_of_codes(name: str, values: Ids, sizes: NDArray[np.int64]) -> str:
    """Return why many values, each in few rows, look like ids; empty where they do not."""
    used, rows = np.count_nonzero(sizes), sizes.sum()
    few = used < LEAST_PEOPLE or sizes.max() > max(LARGEST_SHARE * rows, 2)
    if few or rows > MOST_ROWS * used:
        return ""
    if _NAMES_OF_IDS.fullmatch(_plain(name)):
        return "with the name of an id"
    shown = as_text(values[sizes > 0][:MOST_VALUES]).tolist()
    forms = {re.sub(r"\d", "0", re.sub(r"[^\W\d_]", "A", text)) for text in shown}
    one_form = len(forms) == 1 and forms.pop().count("0") >= LEAST_DIGITS
    return "digits of one form" if one_form and rows <= MOST_ROWS_OF_CODES * used else ""


def _agreed(table: CodedRows, at: int) -> tuple[int, ...]:
    """Return the other columns that a column determines; none if they are few.

    A column that follows from another of these, as a state from its city, does not count. Cost: at
    most `MOST_CELLS` compared cells.
    """
    # Columns that name rows follow from anything, and constant ones say nothing.
    naming = {table.columns.index(name) for name in naming_columns(table)}
    others = [
        other
        for other in range(len(table.columns))
        if other not in {at, *naming} and np.count_nonzero(_sizes(table, other)) > 1
    ]
    # Compare rows with the first row of their value: a few, then more if these leave candidates.
    determined: list[int] = []
    for cells in (FIRST_CELLS, MOST_CELLS):
        rows, first = _some_rows(table.codes[:, at], cells // max(len(others), 1))
        codes = table.codes[:, others]
        determined = [others[i] for i in _determined(codes[rows], codes[first])]
        if len(determined) < 2:
            return ()
    # Of columns that determine each other, as city and state, only one is evidence.
    people = table.codes[np.unique(first)]
    for other in tuple(determined):
        if other not in determined:
            continue
        rest = [one for one in determined if one != other]
        rows, first = _some_rows(people[:, other], len(people))
        for i in _determined(people[rows][:, rest], people[first][:, rest]):
            determined.remove(rest[i])
            others.remove(rest[i])
    return tuple(determined) if len(determined) > 1 and 2 * len(determined) >= len(others) else ()


def _some_rows(codes: NDArray[np.int32], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows whose value stood in a row before, and the first row of that value."""
    shown = np.flatnonzero(codes >= 0)
    first = np.full(codes.max(initial=-1) + 1, -1)
    first[codes[shown[::-1]]] = shown[::-1]
    later = shown[first[codes[shown]] != shown][:most]
    return later, first[codes[later]]


def _determined(own: NDArray[np.int32], of_first: NDArray[np.int32]) -> list[int]:
    """Return the columns on which two rows agree, in nearly every pair and by more than chance."""
    found = []
    for column in range(own.shape[1]):
        # Pairs of rows in which both cells are known.
        both = (own[:, column] >= 0) & (of_first[:, column] >= 0)
        values, pairs = own[both, column], int(both.sum())
        agree = int((values == of_first[both, column]).sum())
        # How often two rows agree by chance: the sum of squared shares of the values.
        chance = float(((np.bincount(values) / max(pairs, 1)) ** 2).sum())
        # Nearly always; most of what chance leaves; and too often for chance: chance^agree < e^-7.
        if (
            0 < chance < 1
            and agree >= AGREE * pairs
            and agree / pairs - chance >= BEYOND_CHANCE * (1 - chance)
            and agree * -np.log(chance) >= EVIDENCE
        ):
            found.append(column)
    return found
