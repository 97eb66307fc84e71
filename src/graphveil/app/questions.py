"""What is open about a file, as the page asks it, and the answers that its buttons give."""

from __future__ import annotations

import re

from graphveil.core.errors import GraphveilError
from graphveil.core.questions import Problem
from graphveil.data.codes import DATE_FORMS
from graphveil.io.encodings import SINGLE_BYTE

DATES = "dates:"
"""How an answer begins that says in which form a column writes dates."""

_MARKS = {"%d": "DD", "%m": "MM", "%Y": "YYYY", "%y": "YY", "%b": "Mon"}
_MARKS |= {"%B": "Month", "%H": "hh", "%M": "mm", "%S": "ss"}

_MARKS_OF_NUMBERS = {",": "The comma begins the fraction", ".": "The comma separates thousands"}
"""What a comma in numbers can be, by the mark of decimals that follows from it."""


def asked_by(error: GraphveilError, column: str) -> Problem:
    """Return what a refusal asks about a column; of dates, in which form they are written."""
    text = str(error).removeprefix(f"column {column}: ")
    text, forms = text.removeprefix(f"column {column}, "), _forms_in(str(error))
    if not (column and forms):
        return Problem(column, "", "", text, "")
    return Problem(column, "dates", forms[0], text.rpartition(". ")[0], " or ".join(forms))


def answers_to(asked: Problem) -> dict[str, str]:
    """Return what can be answered to a question, with the words of its button."""
    if asked.option in ("person", "encoding", "decimal"):
        return _about_reading(asked)
    if asked.option in ("suppressed", "categories", "missing"):
        return {"missing": "It is missing", "value": "It is a value"}
    if asked.column and asked.option == "dates":
        said = {
            form: re.sub("%.", lambda at: _MARKS[at[0]], form) for form in _forms_in(asked.choices)
        }
        read = {f"{DATES}{form}": f"Read it as {words}" for form, words in said.items()}
        return {**read, "drop": "Do not publish it"}
    if asked.column and asked.option in ("levels", "bins", "drop"):
        return {"levels": "Make it coarser", "drop": "Do not publish it"}
    return {"use": f"Use: {asked.option.replace('_', ' ')} {asked.value}"} if asked.option else {}


def _about_reading(asked: Problem) -> dict[str, str]:
    """Return the answers to what a row is, and in which way a file is written."""
    if asked.option == "encoding":
        return {name: f"Read it as {name}" for name in dict.fromkeys((asked.value, *SINGLE_BYTE))}
    if asked.option == "decimal":
        return dict(sorted(_MARKS_OF_NUMBERS.items(), key=lambda one: one[0] != asked.value))
    same = {"column": f"Rows with the same {asked.column} are one person"}
    return {"row": "Every row is a different person"} | (same if asked.value != "row" else {})


def _forms_in(text: str) -> list[str]:
    """Return the forms of dates that a text names, but those that are part of another.

    >>> _forms_in("dates birth=%d/%m/%Y or birth=%m/%d/%Y"), _forms_in("seen=%Y-%m-%d %H:%M")
    (['%d/%m/%Y', '%m/%d/%Y'], ['%Y-%m-%d %H:%M'])
    """
    forms = [form for form in DATE_FORMS if form in text]
    return [one for one in forms if not any(one != more and one in more for more in forms)]
