"""How a figure of an attack is worded: which question it answers, in which words, and when.

Every attack has a few `Said` in its entry. Terminal and page print from them: a row is worded by
the first one that fits its figure and its setting. `above_guess` decides whether a figure counts as
an answer: the lower end of its interval has to be above the guess without the release.

Texts of attacks are written once, about people and their items. A row of a table counts as a person
only if the owner said so; otherwise the same text is reworded to be about rows, and for tables
items become values and entries become cells (`reworded`, `in_cells`). Only these words change:
names of figures and settings stay as they are. Which rows are shown is in `row_selection.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

from graphveil.attacks.row_selection import Take, each
from graphveil.claims.guarantees import Guarantee, KAnonymity, SmoothKAnonymity
from graphveil.claims.knowledge import ROWS_AS_ROWS
from graphveil.core.rows import Row, Setting
from graphveil.core.text import Wording, percent
from graphveil.data import Data

Counted = Literal["people", "rows"]
"""What is counted: rows of a table are people only if the owner said so."""

_OF_PEOPLE = re.compile(r"\b(people|person|participant)\b(?: (who)\b)?")
"""The words to replace; "who" directly after one of them becomes "that"."""

_OF_ROWS = {"people": "rows", "person": "row", "participant": "row in the data"}

_OF_CELLS = {"item": "value", "items": "values", "entry": "cell", "entries": "cells"}

_ITEMS = re.compile(rf"(?<!\{{)\b({'|'.join(_OF_CELLS)})\b(?!\}})")  # else what is filled in
"""Words about items, but not the placeholders in braces that have the same names."""


Question = Literal["singled out", "linked", "inferred"]
"""The three questions of WP29 opinion 05/2014 on anonymization techniques."""

GUESSED = "{n} people are identified correctly"
"""What most figures mean; ``{n}`` becomes "31 of 100"."""

RIGHT = "right"
"""The figure of attacks that name people by a copy: the share of those whose name is right."""


def counted_in(data: Data) -> Counted:
    """Return what is counted in this data.

    >>> from graphveil.data import Table
    >>> counted_in(Table.from_columns({"sex": ["f", "m"]}))
    'rows'
    """
    return "rows" if data.people is data and data.person in ROWS_AS_ROWS else "people"


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


class Asked(NamedTuple):
    """One of the three questions of WP29 05/2014, as the terminal and as a page ask it."""

    short: str
    heading: str
    caption: str


QUESTIONS: dict[Question, Asked] = {
    "singled out": Asked(
        "Can someone be singled out?",
        "Can a person be singled out?",
        "Share of people identified correctly",
    ),
    "linked": Asked(
        "Can people be linked to another data set?",
        "Can a person be linked to other data?",
        "The attacker holds other data about the same people, or another release.",
    ),
    "inferred": Asked(
        "What can be inferred about a person?",
        "Can something be inferred about a person?",
        "What a reader of the release can learn about someone.",
    ),
}
"""Each question as the terminal asks it, and as a page heads and explains it."""


@dataclass(frozen=True)
class Said:
    """How one figure of an attack is worded.

    Words in braces are filled from the setting, see `words_of`.

    - `question`: which of the three questions it answers.
    - `figure`: the name of the figure, as in the rows.
    - `does`: what the attacker knows or does, as a predicate: the words after "who".
    - `line`: what a line of the terminal asks; None for no line. Default: "by an attacker who ..."
      with `does`, about people who are re-identified.
    - `by`: how, if several attacks have the same attacker; the page adds it to both.
    - `label`: what the page calls it in a picture; empty if the page does not show it.
    - `says`: what it means, with ``{n}`` for "31 of 100".
    - `when`: in which settings.
    - `take`: which rows the terminal shows: a function of `row_selection.py`.
    - `left_out`: the name of the same figure for people who are excluded; empty for none.
    - `picks`: whether it is the mean probability of picking a person's own record: the first line
      shows it if it is above every share of people who are re-identified.
    - `harm`: the name of the figure with the difference to excluded people; the answer goes by it.
    - `worst`: whether the last line of the page names the people who are worst off by the attack.
    - `if_measured`: without a figure it is not mentioned at all: few data have what it asks about.
    - `as_published`: it shows how true the release is, and not what more an attacker learns; a
      different figure answers the question in short.
    - `covered`: whether a guarantee of k look-alikes bounds the figure by 1/k: the attacker uses
      nothing by which these differ.
    """

    question: Question
    figure: str
    _: KW_ONLY
    does: str = ""
    line: str | None = ""
    by: str = ""
    label: str = ""
    says: str = GUESSED
    when: Callable[[Setting], bool] = lambda _: True
    take: Take = each
    left_out: str = ""
    picks: bool = False
    harm: str = ""
    worst: bool = False
    if_measured: bool = False
    as_published: bool = False
    covered: Callable[[Guarantee], bool] = lambda _: False

    @property
    def who(self) -> str:
        """The attacker, from "who" on; empty if the figure has none."""
        return f"who {self.does}" if self.does else ""

    def fits(self, row: Row) -> bool:
        """Return whether a row has this figure, in a setting for which this wording is meant."""
        return row.figure == self.figure and self.when(row.setting)

    def about(self, counted: Counted, *, of_table: bool = False, word: Wording = str) -> Said:
        """Return the same about people or rows, in the words of a surface; names stay."""
        if counted == "people" and not of_table and word is str:
            return self

        def said(text: str) -> str:
            return word(reworded(in_cells(text) if of_table else text, counted))

        does, label, says = map(said, (self.does, self.label, self.says))
        line = None if self.line is None else said(self.line)
        # Figures, settings and conditions stay as they are: only texts change.
        return replace(self, does=does, line=line, label=label, says=says)

    @property
    def re_identifies(self) -> bool:
        """Whether it is the share of people who are re-identified."""
        return self.line == ""


singled_out, linked = partial(Said, "singled out"), partial(Said, "linked")
"""How figures are worded that answer each of the three questions."""

inferred = partial(Said, "inferred")
"""How figures are said that answer each of the three questions."""


def of_equal_rows(guarantee: Guarantee) -> bool:
    """Whether rows are guaranteed to be equal: knowing features does not distinguish them."""
    return isinstance(guarantee, KAnonymity | SmoothKAnonymity)


def least_shown(row: Row) -> float:
    """Return what a figure shows at least: the lower end of its interval, or the figure itself.

    If everybody is named by guessing, about one name is right in each draw. Few draws give no
    interval: five standard deviations above one are taken for luck, since many settings are tried.

    >>> two = Row(release="", question="", figure="right", value=0.05, guess=1 / 40, sample_size=1)
    >>> least_shown(two), least_shown(replace(two, known="sampled")) < 1 / 40
    (0.05, True)
    """
    value = row.value or 0.0
    if row.low is not None:
        return row.low
    if row.known != "sampled" or row.figure != RIGHT:
        return value
    # Guessing names about one person in each draw, a Poisson number: five of its standard
    # deviations, over the number of draws, may be luck.
    draws = 1 if row.setting.draw else row.sample_size or 1
    return value - 5 / math.sqrt(draws) * (row.guess or 0.0)


def above_guess(row: Row) -> bool:
    """Return whether a figure, or its entire interval, is above the guess without the release."""
    return least_shown(row) > (row.guess or 0.0)


def words_of(setting: Setting, *, of_table: bool = False, word: Wording = str) -> dict[str, str]:
    """Return what may stand in braces; of a table, with values as the items of a row.

    `word`: how the surface says it.

    >>> words_of(Setting(overlap=0.9, knows="attributes"))["copy"]
    'a copy of the network with attributes, 90% of its edges correct'
    >>> words_of(Setting(known=1, wrong=2))["items"], words_of(Setting(wrong=2))["wrong_ones"]
    ('1 item', '2 false ones')
    """
    known, wrong, times = setting.known or 0, setting.wrong or 0, setting.times or 1
    # Parts of a description of a copy: of whom it is, what it has, how much of it is correct.
    some = setting.people not in {None, 1}
    whom = f"{percent(setting.people or 0)} of the people" if some else "the network"
    beside = f" with {setting.knows}" if setting.knows else ""
    right = 1.0 if setting.overlap is None else setting.overlap
    ties = "" if right == 1 else word(f", {percent(right)} of its edges correct")
    return {
        "known": f"{known}",
        "items": f"{known} {'value' if of_table else 'item'}{'s' * (known != 1)}",
        "wrong_ones": f"{wrong} false one{'s' * (wrong != 1)}",
        "column": setting.column,
        "again": "again" if times == 1 else f"{times} times",
        "copy": f"a copy of {whom}{beside}{ties}",
    }
