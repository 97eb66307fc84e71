"""All questions about a file in one refusal, with one command that answers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from graphveil.core.hints import (
    LIST_OPTIONS,
    MAPPING_OPTIONS,
    Hint,
    Message,
)

NUMBERS = ("may_narrow",)
"""The options among the answers that are numbers."""


class Problem(NamedTuple):
    """What must be decided about a column before data can be read, and one answer that works.

    Parameters
    ----------
    column
        Its name; empty where it is about the whole file.
    option
        The option that answers it.
    value
        What is proposed: the value of the option, one more of its values, or what it maps the
        column to.
    text
        What was found.
    choices
        What else can be done, or what the answer means.
    """

    column: str
    option: str
    value: str
    text: str
    choices: str

    @property
    def plain(self) -> Problem:
        """The question with its options in words, as it is shown next to a column.

        Examples
        --------
        >>> from graphveil.core.hints import option
        >>> Problem("age", "bins", "median", "age is odd", f"give {option('bins')}").plain.choices
        'give bins'
        """
        return self._replace(text=Message(self.text).plain, choices=Message(self.choices).plain)


def questions(problems: Iterable[Problem]) -> str:
    """Return all that must be decided, those with the same choices in one sentence.

    A name with which a sentence begins stays as it is.

    Examples
    --------
    >>> choices = "remove it, or keep it"
    >>> questions([Problem(name, "drop", name, f"{name} is odd", choices) for name in "ab"])
    'a is odd, b is odd: remove it, or keep it.'
    >>> questions([Problem("a", "drop", "a", text, text) for text in ("is it", "see", "a is odd")])
    'is it: is it. See: see. a is odd: a is odd.'
    """
    grouped: dict[str, list[Problem]] = {}
    for problem in problems:
        same = grouped.setdefault(problem.choices, [])
        same += [] if problem.text in [one.text for one in same] else [problem]
    sentences: list[str] = []
    for choices, (first, *others) in grouped.items():
        begin = first.text
        if sentences and not (first.column and begin.startswith(f"{first.column} ")):
            begin = begin[:1].upper() + begin[1:]
        sentences.append(f"{', '.join([begin, *(one.text for one in others)])}: {choices}.")
    return " ".join(sentences)


def answers(problems: Iterable[Problem], given: Mapping[str, Any]) -> tuple[Hint, ...]:
    """Return the options that answer every question at once.

    Parameters
    ----------
    problems
        The questions.
    given
        The options that were given: lists and mappings are extended.

    Examples
    --------
    >>> asked = [Problem(name, "bins", "median", "", "") for name in ("age", "height")]
    >>> answers(asked, {"bins": {"age": "quantiles:4"}})[0].argument
    'bins={"age": "median", "height": "median"}'
    """
    said: dict[str, Any] = {}
    for problem in problems:
        name = problem.option
        if name in MAPPING_OPTIONS:
            said.setdefault(name, dict(given.get(name) or {}))[problem.column] = problem.value
        elif name in LIST_OPTIONS:
            values = said.setdefault(name, list(given.get(name) or ()))
            values += [] if problem.value in values else [problem.value]
        else:
            said.setdefault(name, float(problem.value) if name in NUMBERS else problem.value)
    return tuple(Hint(name, value) for name, value in said.items())
