"""How a figure of an attack is said: which question it answers, in which words, and when.

Every attack has a few of these in its entry. Terminal and page print from them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

from graphveil.claims.guarantees import Guarantee, KAnonymity, SmoothKAnonymity
from graphveil.core.rows import Row, Setting
from graphveil.core.text import Wording, percent
from graphveil.data import Data, Table

Question = Literal["singled out", "linked", "inferred"]


Counted = Literal["people", "rows"]
"""What is counted: rows of a table of which nobody said that they are people are rows."""

_OF_PEOPLE = re.compile(r"\b(people|person|participant)\b(?: (who)\b)?")
_OF_ROWS = {"people": "rows", "person": "row", "participant": "row in the data"}


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


_OF_CELLS = {"item": "value", "items": "values", "entry": "cell", "entries": "cells"}
_ITEMS = re.compile(rf"(?<!\{{)\b({'|'.join(_OF_CELLS)})\b(?!\}})")  # else what is filled in


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

GUESSED = "{n} people are identified correctly"
LARGEST, EXTREMES = "largest", ("least", "median", "largest")
"""Which of several draws have figures of their own."""


class Taken(NamedTuple):
    """A row that is shown; where draws differ much it is the strongest, next to the weakest."""

    row: Row
    least: float | None = None


Take = Callable[[Sequence[Row], Sequence[Row]], Iterator[Taken]]
"""Chooses among the rows that fit what the terminal shows; the second are all of the attack."""


def each(fitting: Sequence[Row], _every: Sequence[Row]) -> Iterator[Taken]:
    """Yield every row."""
    yield from map(Taken, fitting)


FEWEST_TARGETS = 20
"""Settings of fewer targets stand in the rows alone."""


def most_known(fitting: Sequence[Row], _every: Sequence[Row]) -> Iterator[Taken]:
    """Yield the row of the most that was tried to be known, of enough targets."""
    large = [r for r in fitting if r.sample_size is None or r.sample_size >= FEWEST_TARGETS]
    yield from map(Taken, [max(large, key=lambda row: row.setting.known or 0)] if large else [])


DIFFER, DOUBLED = 0.1, 0.02
"""Both ends of the draws are said where they lie so far apart; or where the strongest is twice the
mean, and so much above it."""


def strongest(fitting: Sequence[Row], _every: Sequence[Row]) -> Iterator[Taken]:
    """Yield the setting of the largest share.

    Where its draws differ much, that is the strongest of them: a mean of all or nothing is neither.
    """
    draws = {(row.setting._replace(draw=""), row.setting.draw): row for row in fitting}
    best: Taken | None = None
    for (setting, draw), row in draws.items():
        if draw:
            continue
        least, most = draws.get((setting, EXTREMES[0])), draws.get((setting, LARGEST))
        apart = least is not None and most is not None and _apart(least, row, most)
        shown = most if most is not None and apart else row
        if best is None or (shown.value or 0.0) > (best.row.value or 0.0):
            best = Taken(shown, None if least is None or shown is row else least.value)
    yield from () if best is None else (best,)


def _apart(least: Row, mean: Row, most: Row) -> bool:
    """Whether a mean of draws says too little of the strongest one."""
    low, middle, high = (row.value or 0.0 for row in (least, mean, most))
    return high - low > DIFFER or (high >= 2 * middle and high - middle > DOUBLED)


@dataclass(frozen=True)
class Said:
    """How one figure of an attack is said.

    Words in braces are filled from the setting, see `words_of`.

    - `question`: which of the three questions it answers.
    - `does`: what the attacker knows or does, as a predicate: the words behind "who".
    - `line`: what a line of the terminal asks; None for no line. Where not given: by an attacker
      who knows that, which re-identifies people.
    - `by`: how, where several attacks have the same attacker; the page says it behind both.
    - `label`: what the page calls it in a picture; empty where the page does not show it.
    - `says`: what it means, with ``{n}`` for "31 of 100".
    - `when`: in which settings.
    - `take`: which rows the terminal shows.
    - `left_out`: the figure that says the same of people who are omitted; empty for none.
    - `picks`: whether it is the mean probability of picking a person's own record: the first line
      says it if it is above every share of people who are re-identified.
    - `harm`: the figure that says the difference; the answer is by it.
    - `worst`: whether the last line of the page says who is worst off by the attack.
    - `if_measured`: nothing is said of it without a figure: few data have what it asks about.
    - `as_published`: it says how true the release is, and not what more an attacker learns; another
      figure answers the question in short.
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
        """The attacker, from "who" on; empty where nothing is said of one."""
        return f"who {self.does}" if self.does else ""

    def fits(self, row: Row) -> bool:
        """Return whether a row is said in this way."""
        return row.figure == self.figure and self.when(row.setting)

    def about(self, counted: Counted, *, of_table: bool = False, word: Wording = str) -> Said:
        """Return the same about people or rows, in the words of a surface; names stay."""
        if counted == "people" and not of_table and word is str:
            return self

        def said(text: str) -> str:
            return word(reworded(in_cells(text) if of_table else text, counted))

        does, label, says = map(said, (self.does, self.label, self.says))
        line = None if self.line is None else said(self.line)
        return replace(self, does=does, line=line, label=label, says=says)

    @property
    def re_identifies(self) -> bool:
        """Whether it is the share of people who are re-identified."""
        return self.line == ""


singled_out, linked = partial(Said, "singled out"), partial(Said, "linked")
inferred = partial(Said, "inferred")
"""How figures are said that answer each of the three questions."""


def of_equal_rows(guarantee: Guarantee) -> bool:
    """Whether rows are guaranteed to be equal: knowing features does not tell them apart."""
    return isinstance(guarantee, KAnonymity | SmoothKAnonymity)


RIGHT = "right"
"""The figure of attacks that name people by a copy: the share of those whose name is right."""


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
    draws = 1 if row.setting.draw else row.sample_size or 1
    return value - 5 / math.sqrt(draws) * (row.guess or 0.0)


def above_guess(row: Row) -> bool:
    """Return whether a figure, or all of its interval, lies above the guess without the release."""
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
