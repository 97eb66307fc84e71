"""Rows: one number each, with its unit, what is better, how it is known, or why it is missing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, overload

from graphveil.core.lazy import AsStream
from graphveil.core.libraries import pa
from graphveil.core.text import counted, html_table, percent
from graphveil.core.visible import visible

Known = Literal["exact", "estimate", "sampled"]

SHOWN = 12
"""So many rows stand in a repr."""

WIDE = 0.1
"""An interval of shares that is wider than this is said with the share."""


class Setting(NamedTuple):
    """What a figure was measured under; None, or empty, for what does not apply.

    - `knows`: what the attacker knows of a person, or what a copy has apart from edges.
    - `overlap`: the share of the edges of a copy that are right.
    - `people`: the share of the people whom a copy has.
    - `known`: how many people or items the attacker knows.
    - `wrong`: how many of the known items are false.
    - `column`: the attribute that is asked for.
    - `among`: of whom it is asked: those of whom it is suppressed, or everybody.
    - `times`: how often the method was run again.
    - `search`: how the attacker searched.
    - `capped`: in how many draws the search was stopped before its end.
    - `drawn`: how many people were drawn of larger data.
    - `top`: of how many of the first it is.
    - `of`: what it is a figure of, of several: a kind of edges, an attribute, a classifier.
    - `draw`: which of several draws it is: the least, the median or the largest; empty for their
      mean.
    - `edits`: after how many edits it was counted.

    >>> Setting(overlap=0.9, known=20).given
    {'overlap': 0.9, 'known': 20}
    """

    knows: str = ""
    overlap: float | None = None
    people: float | None = None
    known: int | None = None
    wrong: int | None = None
    column: str = ""
    among: str = ""
    times: int | None = None
    search: str = ""
    capped: int | None = None
    drawn: int | None = None
    top: int | None = None
    of: str = ""
    draw: str = ""
    edits: int | None = None

    @property
    def given(self) -> dict[str, str | float]:
        """The fields that apply."""
        return {name: value for name, value in self._asdict().items() if value not in (None, "")}

    @property
    def text(self) -> str:
        """The setting in words, without the draw."""
        copy = "" if self.overlap is None else f"overlap {self.overlap:g}"
        words = (
            f"{copy} with {self.knows}" if copy and self.knows else copy or self.knows,
            "" if self.people in {None, 1} else f"{self.people:.3g} of the people",
            "" if self.known is None else f"{self.known or 'nobody'} known",
            "" if self.wrong is None else f"{self.wrong} false",
            self.column,
            self.among,
            {None: "", 1: "re-run"}.get(self.times, f"re-run {self.times} times"),
            self.search,
            f"capped in {counted(self.capped, 'draw')}" if self.capped and copy else "",
            "" if self.drawn is None else f"capped at {counted(self.drawn, 'person', spec=',')}",
        )
        return ", ".join(filter(None, words))

    def part(self, figure: str) -> str:
        """Return the name of a figure in this setting.

        >>> Setting(overlap=0.9, known=20, draw="least").part("right")
        'overlap 0.9, 20 known: right, least of the draws'
        >>> Setting(knows="degree").part("right guess")
        'degree, right guess'
        """
        draw = f", {self.draw} of the draws" if self.draw else ""
        if self.capped and self.overlap is None:
            draw += f", capped in {counted(self.capped, 'draw')}"
        comma = self.times is not None or (self.knows and self.overlap is None)
        return (", " if comma else ": ").join(filter(None, (self.text, figure))) + draw


ANY = Setting()
"""What a figure has that was measured under nothing in particular."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number, or the reason why there is none.

    Parameters
    ----------
    release
        What it is about.
    question
        The measure, metric or attack.
    part
        Which of its numbers this is, with its setting in words. Where not given: made of both.
    figure, setting
        Which number it is, and what it was measured under, as fields. Where not given: the part.
    value, unit
        The number; None where there is none.
    direction
        Which way is better, or worse.
    known
        Whether it was counted (exact), approximated by an algorithm (estimate), or drawn (sampled).
    sample_size
        How many draws it depends on.
    low, high
        The ends of its 95% interval.
    guess
        What a guess without the release reaches.
    reason
        Why there is no value.
    seconds
        About how much CPU time it takes, where that is the reason.
    as_sample, as_sample_low, as_sample_high
        The share of the original, 0..1, that is as far off when it is kept at random, and what
        single draws of it say: 0.99 stands for that or more, 0 for less than 0.1. None where it was
        not asked for, or the number does not compare.
    as_sample_of
        What is kept: edges, entries or rows.

    Examples
    --------
    >>> Row(release="a", question="edges-kept", part="count", value=3.0, unit="edges").known
    'exact'
    """

    release: str
    question: str
    part: str = ""
    figure: str = ""
    setting: Setting = ANY
    value: float | None = None
    unit: str = ""
    direction: str = ""
    known: Known = "exact"
    sample_size: int | None = None
    low: float | None = None
    high: float | None = None
    guess: float | None = None
    reason: str | None = None
    seconds: float | None = None
    as_sample: float | None = None
    as_sample_low: float | None = None
    as_sample_high: float | None = None
    as_sample_of: str = ""

    def __post_init__(self) -> None:
        """Make the part of figure and setting, or take it as the figure."""
        if not self.part:
            object.__setattr__(self, "part", self.setting.part(self.figure))
        elif not self.figure:
            object.__setattr__(self, "figure", self.part)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields; of the setting those that apply.

        Returns
        -------
        dict
            The values by the name of their field.

        Examples
        --------
        >>> setting = Setting(overlap=0.9)
        >>> row = Row(release="a", question="candidate-set", value=0.25, setting=setting)
        >>> row.as_dict()["value"], row.as_dict()["setting"]
        (0.25, {'overlap': 0.9})
        """
        named = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return named | {"setting": self.setting.given}

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval, where one is known."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def felt(row: Row) -> str:
    """Return how far off a row is in words that people feel; empty where that is not known.

    The interval is said where its ends are more than ten percent apart.

    Parameters
    ----------
    row
        A row of `graphveil.evaluate_release`, which was asked for `as_sample`.

    Returns
    -------
    str
        A phrase, such as ``comparable to keeping 95% of the edges at random``.

    Examples
    --------
    >>> felt(Row(release="a", question="edges-kept", as_sample=0.95, as_sample_of="edges"))
    'comparable to keeping 95% of the edges at random'
    >>> felt(Row(release="a", question="edges-kept", as_sample=0.99, as_sample_of="edges"))
    'comparable to keeping 99% or more of the edges at random'
    """
    if row.as_sample is None:
        return ""
    share = percent(row.as_sample, places=0)
    if row.as_sample >= 0.99:
        share += " or more"
    elif row.as_sample < 0.1:
        share = "less than 10%"
    low, high = row.as_sample_low, row.as_sample_high
    if low is not None and high is not None and high - low > WIDE:
        share += f" ({percent(low, places=0)} to "
        share += f"{percent(1.0 if high >= 0.99 else high, places=0)})"
    return f"comparable to keeping {share} of the {row.as_sample_of} at random"


class Rows(AsStream, Sequence[Row]):
    """Rows that have a value, in order; and which could not be measured, with the reason.

    Parameters
    ----------
    rows
        Any rows; those without a value are `missing`.

    Examples
    --------
    >>> kept = Row(release="a", question="edges-kept", part="share", value=0.5, unit="share")
    >>> rows = Rows([kept, Row(release="a", question="diameter", reason="no edges")])
    >>> len(rows), rows["edges-kept", "share"].value, rows.not_measured
    (1, 0.5, {'diameter': 'no edges'})
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        every = tuple(rows)
        self._measured = tuple(row for row in every if row.reason is None)
        self.missing = tuple(row for row in every if row.reason is not None)

    def __len__(self) -> int:
        """Return the number of rows that have a value."""
        return len(self._measured)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows that have a value."""
        return iter(self._measured)

    @overload
    def __getitem__(self, key: int | tuple[str, str]) -> Row: ...

    @overload
    def __getitem__(self, key: slice | str) -> Rows: ...

    def __getitem__(self, key: int | slice | str | tuple[str, str]) -> Row | Rows:
        """Return a row by its position, or by question and part; several by a question.

        Raises `KeyError` where there is no such question or part.
        """
        if isinstance(key, int):
            return self._measured[key]
        if isinstance(key, slice):
            return Rows(self._measured[key])
        question, part = (key, None) if isinstance(key, str) else key
        fitting = [r for r in self if r.question == question and part in (None, r.part)]
        if not fitting:
            raise KeyError(key)
        return Rows(fitting) if part is None else fitting[0]

    def __eq__(self, other: object) -> bool:
        """Whether the other one has the same rows."""
        if not isinstance(other, Rows):
            return NotImplemented
        return self._measured == other._measured and self.missing == other.missing

    __hash__ = None  # type: ignore[assignment]

    @property
    def not_measured(self) -> dict[str, str]:
        """The reason for every question, or part of one, that has no value."""
        return {": ".join(filter(None, (r.question, r.part))): r.reason or "" for r in self.missing}

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, a column a field; those without a value come last."""
        kinds = {"value": pa.float64(), "low": pa.float64(), "high": pa.float64()}
        kinds |= {"guess": pa.float64(), "sample_size": pa.int64(), "as_sample": pa.float64()}
        kinds |= {"as_sample_low": pa.float64(), "as_sample_high": pa.float64()}
        of_setting = dict.fromkeys(Setting._fields, pa.string())
        of_setting |= dict.fromkeys(("overlap", "people"), pa.float64())
        of_setting |= dict.fromkeys(
            ("known", "wrong", "times", "capped", "drawn", "top", "edits"), pa.int64()
        )
        kinds |= {"seconds": pa.float64(), "setting": pa.struct(list(of_setting.items()))}
        names = [field.name for field in dataclasses.fields(Row)]
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
        records = [row.as_dict() for row in (*self, *self.missing)]
        return pa.Table.from_pylist(records, schema=schema)

    def summary(self) -> dict[str, Any]:
        """Return the rows, and what is missing, as JSON can hold them.

        Returns
        -------
        dict
            ``rows``, a list of `Row.as_dict`, and ``not_measured``, reasons by question.

        Examples
        --------
        >>> rows = Rows([Row(release="a", question="diameter", reason="no edges")])
        >>> rows.summary()
        {'rows': [], 'not_measured': {'diameter': 'no edges'}}
        """
        return {"rows": [row.as_dict() for row in self], "not_measured": self.not_measured}

    def __repr__(self) -> str:
        """Return the first rows, a line each, and how many more there are."""
        questions = len({row.question for row in self})
        missing = f", {len(self.missing)} not measured" if self.missing else ""
        number = f"{counted(len(self), 'row')} for {counted(questions, 'question')}"
        lines = [f"{number}{missing}; see to_pandas()"]
        lines += [
            f"  {row.question}, {row.part}: {row.value:.6g} {row.unit}" for row in self[:SHOWN]
        ]
        more = len(self) - SHOWN
        return "\n".join(map(visible, lines + ([f"  and {more} more"] if more > 0 else [])))

    def _repr_html_(self) -> str:
        """Return the rows, and what was not measured, as tables for notebooks."""
        guessed = any(row.guess is not None for row in self)
        columns = ("question", "part", "value", *(("guess",) if guessed else ()), "unit", "")
        rows = [
            [
                *(row.question, row.part, f"{row.value:g}"),
                *(("" if row.guess is None else f"{row.guess:g}",) if guessed else ()),
                *(row.unit, row.direction if row.known == "exact" else row.known),
            ]
            for row in self
        ]
        measured = html_table("Measured", columns, rows)
        if not self.missing:
            return measured
        return measured + html_table(
            "Not measured", ("question", "reason"), list(self.not_measured.items())
        )
