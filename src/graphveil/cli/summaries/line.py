"""What a summary is made of: lines that answer one question each, and how numbers are written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from graphveil.core.rows import Row, Rows
from graphveil.core.text import printable

Answer = Literal["", "yes", "not shown", "not measured", "not run"]
"""Of a question with a guess beside it: whether the figure lies above that guess."""

Phrase = Callable[[Row], str]
"""Gives how a figure feels ("as far off as keeping 95 % of the ties at random"), or nothing."""

LONGEST_NAME = 40
"""The most characters of a name from the data."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One question of a reader, answered by one figure.

    Parameters
    ----------
    question
        What is asked, in a few words.
    figure
        The number as it is shown; empty where there is none.
    unit
        What the number counts, and what it was before.
    sentence
        Both in a sentence that can stand alone.
    guess
        What a guess without the release reaches, in the same unit; empty where there is none.
    answer
        Whether the figure lies above the guess, or why there is no figure.
    felt
        How the figure feels, where the row says so.

    Examples
    --------
    >>> Line(question="ties kept", figure="98 %", unit="of the ties").felt
    ''
    """

    question: str
    figure: str = ""
    unit: str = ""
    sentence: str = ""
    guess: str = ""
    answer: Answer = ""
    felt: str = ""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Lines under one heading.

    Parameters
    ----------
    heading
        What they have in common; empty for none.
    lines
        The lines.
    """

    heading: str
    lines: tuple[Line, ...]


def percent(share: float) -> str:
    """Return a share as a percentage that is never rounded to all or nothing.

    Examples
    --------
    >>> percent(0.98389), percent(0.0), percent(1.0), percent(0.0001), percent(0.99999)
    ('98.4 %', '0 %', '100 %', '< 0.1 %', '> 99.9 %')
    """
    return f"{of_hundred(share)} %"


def of_hundred(share: float) -> str:
    """Return a share as a number of 100, as `percent` does.

    Examples
    --------
    >>> of_hundred(0.233), of_hundred(0.00187), of_hundred(0.72)
    ('23.3', '0.2', '72')
    """
    value = 100 * share
    text = f"{value:.1f}"
    if text == "0.0" and value > 0:
        return "< 0.1"
    if text == "100.0" and value < 100:
        return "> 99.9"
    return text.removesuffix(".0")


def number(value: float) -> str:
    """Return a count, or a mean with one decimal.

    Examples
    --------
    >>> number(1234.0), number(6.9166), number(0.0166)
    ('1,234', '6.9', '0.017')
    """
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 1 else f"{value:.2g}"


def name_from_data(name: str) -> str:
    r"""Return a name of the data, such as that of a column, quoted, visible and short.

    Examples
    --------
    >>> print(name_from_data("age"), name_from_data("a\x1b[2J"))
    "age" "a\x1b[2J"
    """
    return f'"{printable(name, LONGEST_NAME)}"'


def value_of(rows: Rows, question: str, part: str) -> float | None:
    """Return the value of a row; None where there is none.

    Examples
    --------
    >>> value_of(Rows([]), "edges-kept", "share") is None
    True
    """
    row = row_of(rows, question, part)
    return None if row is None else row.value


def row_of(rows: Rows, question: str, part: str) -> Row | None:
    """Return a row that has a value; None where there is none."""
    return next((row for row in rows if (row.question, row.part) == (question, part)), None)


def unfelt(row: Row) -> str:
    """Return that nobody said how a figure feels."""
    del row
    return ""


_PARTS = {
    "half L1": "share that differs",
    "Kolmogorov-Smirnov": "largest difference",
    "vrq": "ties of the neighbors",
    "Spearman": "likeness of the order",
    "AUC": "right of two",
}


def plain_part(part: str) -> str:
    """Return the name of a row's part without the words of papers.

    Examples
    --------
    >>> plain_part("vrq, right guess"), plain_part("path, half L1")
    ('ties of the neighbors, right guess', 'path, share that differs')
    """
    part = re.sub(r"NS08 named|named", "re-identified", part)
    for paper, plain in _PARTS.items():
        part = part.replace(paper, plain)
    return part
