"""What was kept, by question: rows of metrics become one line for each question.

The entry of a metric says in which words. Terminal and page print from these lines. They round;
the rows hold all figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graphveil.core.rows import Row, Rows, felt
from graphveil.core.text import Wording, printable
from graphveil.evaluate.metric import Said, value_of
from graphveil.evaluate.metrics.registry import METRICS

Answer = Literal["", "yes", "not shown", "not measured", "not run"]
"""For a question with a guess next to it: whether the figure lies above that guess."""

LONGEST_NAME = 40
"""The most characters of a name from the data."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One question of a reader, answered by one figure.

    `question`: what is asked, in a few words; `figure`: the number as it is shown; empty where
    there is none; `unit`: what the number counts, and what it was before; `sentence`: both in a
    sentence that can stand alone; `guess`: what a guess without the release reaches, in the same
    unit; empty where there is none; `answer`: whether the figure lies above the guess, or why there
    is not a figure; `felt`: how the figure feels, where the row says so.

    >>> Line(question="ties kept", figure="98%", unit="of the ties").felt
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
    """Lines under one heading."""

    heading: str
    lines: tuple[Line, ...]


def name_from_data(name: str) -> str:
    r"""Return a name of the data, such as that of a column, quoted, visible and short.

    >>> print(name_from_data("age"), name_from_data("a\x1b[2J"))
    "age" "a\x1b[2J"
    """
    return f'"{printable(name, LONGEST_NAME)}"'


def answers(rows: Rows, *, word: Wording = str) -> tuple[Line, ...]:
    """Return one line for each question that these rows answer, in the order people ask them.

    `word`: how the surface says it.
    """
    return tuple(line for _, line in _said(rows, word))


def headline(rows: Rows, *, word: Wording = str) -> str:
    """Return what was kept in one sentence; of other rows, the first figure."""
    shown = [(said, line) for said, line in _said(rows, word) if line.figure]
    first = [line.sentence for said, line in shown if said.headline]
    if first:
        return f"{', and '.join(first)}."
    for line in (*(line for _, line in shown), *named(rows)):
        return f"{line.question}: {line.figure} {line.unit}."
    return "Nothing was measured."


def named(rows: Rows) -> tuple[Line, ...]:
    """Return one line for each row, for metrics that were asked for by name.

    >>> row = Row(release="a", question="edge-jaccard", part="all", value=0.98, unit="ratio")
    >>> [(line.question, line.figure, line.unit) for line in named(Rows([row]))]
    [('edge-jaccard, all', '0.98', 'ratio')]
    """
    return tuple(_of_row(row) for row in rows)


def _of_row(row: Row) -> Line:
    value = "" if row.value is None else f"{row.value:,.4g}"
    question = f"{row.question}, {row.part}" if row.part else row.question
    judged = "" if row.direction in {"", "for comparison"} else f" ({row.direction})"
    unit = f"{row.unit}{judged}"
    return Line(question=question, figure=value, unit=unit, sentence=f"{question}: {value} {unit}")


def _said(rows: Rows, word: Wording) -> list[tuple[Said, Line]]:
    """Return the lines of all metrics with how they are said, in their order."""
    entries = ((metric, metric.said) for metric in METRICS.values() if metric.said is not None)
    lines = ((said, _line(metric.name, said, rows, word)) for metric, said in entries)
    there = [(said, line) for said, line in lines if line is not None]
    return sorted(there, key=lambda one: one[0].place)


def _line(metric: str, said: Said, rows: Rows, word: Wording) -> Line | None:
    """Return the line of a figure, one that says why it is missing, or None."""
    question = word(said.question)
    own = [row for row in rows if row.question == metric]
    fitting = [row for row in own if row.part in said.compared or not said.figures]
    if not fitting:
        missing = (row for row in rows.missing if row.question == metric)
        reason = next((r.reason for r in missing if r.part in {"", *said.compared}), None)
        if reason is None:
            return None
        unit = f"not measured: {word(reason)}"
        sentence = f"{question}: {unit}"
        return Line(question=question, unit=unit, sentence=sentence, answer="not measured")
    row = max(fitting, key=lambda row: row.value or 0.0)
    figure = said.spelled(said.value(rows, row.value or 0.0))
    unit = word(said.unit).format(top=row.setting.top, part=name_from_data(row.part))
    compared = value_of(rows, metric, said.compared.get(row.part, ""))
    unit += "" if compared is None else word(said.beside).format(said.spelled(compared))
    return Line(
        question=question,
        figure=figure,
        unit=unit,
        sentence=f"{figure} {unit}{word(said.ending)}",
        felt=word(felt(row)),
    )
