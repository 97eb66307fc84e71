"""What was kept, by question: rows of metrics become a line a question.

Terminal and page print from these lines. They round, and keep nothing back: rows hold all figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from graphveil.core.rows import Row, Rows
from graphveil.core.text import of_hundred, percent, printable

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
    "NS08 named": "re-identified",
    "named": "re-identified",
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
    for paper, plain in _PARTS.items():
        part = part.replace(paper, plain)
    return part


class _Question(NamedTuple):
    """A question, the row that its figure comes from, and how figure and unit are written."""

    words: str
    metric: str
    part: str
    written: Callable[[Rows, float], tuple[str, str]]
    said: str
    """The sentence, around ``figure`` and ``unit``."""


def _share(unit: str) -> Callable[[Rows, float], tuple[str, str]]:
    return lambda _, value: (percent(value), unit)


def _with_before(
    metric: str, before: str, unit: str, spelled: Callable[[float], str]
) -> Callable[[Rows, float], tuple[str, str]]:
    """Return what writes a figure and, behind its unit, that of the original."""

    def written(rows: Rows, value: float) -> tuple[str, str]:
        was = value_of(rows, metric, before)
        return spelled(value), unit if was is None else f"{unit}; before {spelled(was)}"

    return written


def _kept(_: Rows, suppressed: float) -> tuple[str, str]:
    return percent(1 - suppressed), "of the original entries"


def _false_entries(rows: Rows, created: float) -> tuple[str, str]:
    """Return the share of released entries that are false, from shares of the original's."""
    kept = 1 - (value_of(rows, "entries-suppressed", "share") or 0.0)
    released = kept + created
    return percent(created / released if released else 0.0), "of the released entries"


def _central(rows: Rows, overlap: float) -> tuple[str, str]:
    row = row_of(rows, "betweenness", "overlap")
    top = None if row is None else row.setting.top
    most = "of the most central people" if top is None else f"of the {top:,} most central people"
    chance = value_of(rows, "betweenness", "by chance")
    guess = "" if chance is None else f"; by chance {percent(chance)}"
    return percent(overlap), f"{most} still are{guess}"


def _groups(rows: Rows, likeness: float) -> tuple[str, str]:
    itself = value_of(rows, "communities", "original against itself")
    most = "" if itself is None else f"; the original with itself {of_hundred(itself)}"
    return of_hundred(likeness), f"of 100 alike{most}"


def _popular(rows: Rows, change: float) -> tuple[str, str]:
    most = value_of(rows, "feature-frequency", "largest change")
    worst = "" if most is None else f"; at most {percent(most)}"
    return percent(change), f"of people more or fewer have an item, on average{worst}"


def _outside(rows: Rows, share: float) -> tuple[str, str]:
    was = value_of(rows, "largest-component", "original")
    before = "" if was is None else f"; before {percent(1 - was)}"
    return percent(1 - share), f"of people are outside the largest connected part{before}"


GRAPH = (
    _Question("ties kept", "edges-kept", "share", _share("of the original ties"), "{} {} are kept"),
    _Question(
        "ties that are false",
        "edges-added",
        "share",
        _share("of the released ties"),
        "{} {} are false",
    ),
    _Question(
        "ties kept as they lead",
        "arcs-kept",
        "share",
        _share("of the original ties, in their direction"),
        "{} {} are kept",
    ),
    _Question(
        "ties both ways",
        "reciprocity",
        "released",
        _with_before("reciprocity", "original", "of ties have one the other way", percent),
        "{} {}",
    ),
    _Question(
        "how many ties people have",
        "degree-distribution",
        "half L1",
        _share("of the people, at least, have another number of ties"),
        "{} {}",
    ),
    _Question(
        "closed groups (clustering)",
        "clustering",
        "released",
        _with_before(
            "clustering", "original", "of two friends of a person are friends too", percent
        ),
        "{} {}",
    ),
    _Question("groups (communities)", "communities", "released against original", _groups, "{} {}"),
    _Question("who is central", "betweenness", "overlap", _central, "{} {}"),
    _Question(
        "how far people are apart",
        "shortest-path",
        "released",
        _with_before("shortest-path", "original", "steps from person to person", number),
        "{} {}",
    ),
    _Question("how many are cut off", "largest-component", "released", _outside, "{} {}"),
)

FEATURES = (
    _Question("entries kept", "entries-suppressed", "share", _kept, "{} {} are kept"),
    _Question(
        "entries that are false", "entries-created", "share", _false_entries, "{} {} are false"
    ),
    _Question(
        "how many items people have",
        "empty-rows",
        "released",
        _with_before("empty-rows", "original", "people have no item", number),
        "{} {}",
    ),
    _Question("how popular items are", "feature-frequency", "mean change", _popular, "{} {}"),
    _Question(
        "items that go together",
        "pair-frequency",
        "mean relative error",
        _share("is the error of how many people have both of two popular items"),
        "{} {}",
    ),
    _Question(
        "a person's own items",
        "user-jaccard",
        "mean",
        _share("of a person's items, before or after, are the same, on average"),
        "{} {}",
    ),
)

TABLE = (
    _Question(
        "cells kept",
        "cells-shown",
        "all",
        _share("of the cells"),
        "{} {} are published, the others are hidden by *",
    ),
    _Question(
        "cells with *",
        "stars",
        "released",
        _with_before("stars", "original", "cells are hidden by *", number),
        "{} {}",
    ),
    _Question(
        "rows with * alone",
        "stars-by-row",
        "nothing shown",
        _share("of the rows show nothing"),
        "{} {}",
    ),
    _Question(
        "rows that are alike",
        "class-sizes",
        "released average",
        _with_before("class-sizes", "original average", "rows are equal, on average", number),
        "{} {}",
    ),
    _Question(
        "what columns still tell",
        "column-entropy",
        "mean of columns",
        lambda _, lost: (number(lost), "bits of a column are lost, on average"),
        "{} {}",
    ),
)

QUESTIONS = (*GRAPH, *FEATURES, *TABLE)
_ANSWERS = (
    (GRAPH[0], GRAPH[1]),
    (FEATURES[0], FEATURES[1]),
    (TABLE[0],),
)
"""The questions of a kind of data that its first line answers."""


def answers(rows: Rows, *, phrase: Phrase = unfelt) -> tuple[Line, ...]:
    """Return a line a question that these rows answer, in the order in which people ask.

    Parameters
    ----------
    rows
        Rows of metrics.
    phrase
        Gives how the figure of a row feels.

    Examples
    --------
    >>> row = Row(release="a", question="edges-kept", part="share", value=0.984, unit="share")
    >>> [(line.question, line.figure, line.unit) for line in answers(Rows([row]))]
    [('ties kept', '98.4 %', 'of the original ties')]
    """
    lines = [line for one in QUESTIONS for line in _line(one, rows, phrase)]
    return (*lines, *_columns(rows, phrase), *_tasks(rows))


def headline(rows: Rows) -> str:
    """Return what was kept in one sentence; of other rows, the first figure.

    Examples
    --------
    >>> kept = Row(release="a", question="cells-shown", part="all", value=0.79, unit="share")
    >>> headline(Rows([kept]))
    '79 % of the cells are published, the others are hidden by *.'
    """
    for pair in _ANSWERS:
        lines = [line for one in pair for line in _line(one, rows, unfelt) if line.figure]
        if lines:
            return f"{', and '.join(line.sentence for line in lines)}."
    lines = list(answers(rows)) or list(named(rows))
    first = next((line for line in lines if line.figure), None)
    if first is None:
        return "Nothing could be measured."
    return f"{first.question}: {first.figure} {first.unit}."


def named(rows: Rows) -> tuple[Line, ...]:
    """Return a line a row, for metrics that were asked for by name.

    Examples
    --------
    >>> row = Row(release="a", question="edge-jaccard", part="all", value=0.98, unit="ratio")
    >>> [(line.question, line.figure, line.unit) for line in named(Rows([row]))]
    [('edge-jaccard, all', '0.98', 'ratio')]
    """
    return tuple(_of_row(row) for row in rows)


def _of_row(row: Row) -> Line:
    value = "" if row.value is None else f"{row.value:,.4g}"
    part = plain_part(row.part)
    question = f"{row.question}, {part}" if part else row.question
    judged = "" if row.direction in {"", "for comparison"} else f" ({row.direction})"
    unit = f"{row.unit}{judged}"
    return Line(question=question, figure=value, unit=unit, sentence=f"{question}: {value} {unit}")


def _line(question: _Question, rows: Rows, phrase: Phrase) -> Iterator[Line]:
    """Yield the line of a question; one that says why, where its metric could not be measured."""
    row = row_of(rows, question.metric, question.part)
    if row is None or row.value is None:
        reason = _reason(rows, question.metric, question.part)
        if reason is not None:
            unit = f"not measured: {reason}"
            sentence = f"{question.words}: {unit}"
            yield Line(question=question.words, unit=unit, sentence=sentence, answer="not measured")
        return
    figure, unit = question.written(rows, row.value)
    yield Line(
        question=question.words,
        figure=figure,
        unit=unit,
        sentence=question.said.format(figure, unit),
        felt=phrase(row),
    )


def _reason(rows: Rows, metric: str, part: str) -> str | None:
    fitting = (row for row in rows.missing if row.question == metric and row.part in {"", part})
    return next((row.reason for row in fitting), None)


def _columns(rows: Rows, phrase: Phrase) -> Iterator[Line]:
    """Yield the column that lost most."""
    lost = [row for row in rows if row.question == "stars-by-column" and row.value is not None]
    if lost:
        worst = max(lost, key=lambda row: row.value or 0.0)
        unit = f"of the cells of {name_from_data(worst.part)} are hidden, the most of all columns"
        figure = percent(worst.value or 0.0)
        yield Line(
            question="each column's values",
            figure=figure,
            unit=unit,
            sentence=f"{figure} {unit}",
            felt=phrase(worst),
        )


def _tasks(rows: Rows) -> Iterator[Line]:
    """Yield what learning from the release comes to, where it was asked for."""
    for metric, words, what in (
        ("classification", "prediction", "of the test people are predicted rightly"),
        ("recommendation", "recommendation", "of the left-out items are among ten recommended"),
    ):
        scored = [row for row in rows if row.question == metric and row.value is not None]
        learned = [row for row in scored if "released" in row.part]
        if not learned:
            continue
        best = max(learned, key=lambda row: row.value or 0.0)
        from_original = best.part.replace("released", "original")
        was = value_of(rows, metric, from_original)
        before = "" if was is None else f"; learned from the original {percent(was)}"
        figure, unit = percent(best.value or 0.0), f"{what}{before}"
        yield Line(question=words, figure=figure, unit=unit, sentence=f"{figure} {unit}")
