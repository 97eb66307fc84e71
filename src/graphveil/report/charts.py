"""Pictures of a page: marks of our own as inline SVG, drawn without a script.

Every picture is drawn twice: 640 units wide, and 340 for a phone, with labels above the rows. The
style sheet shows one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from markupsafe import Markup

from graphveil.report.bins import Bin
from graphveil.report.numbers import percent
from graphveil.terminal import printable

LABEL_LETTERS = 36


class Mark(NamedTuple):
    """One row of a picture: shares in 0..1, None for what is not there."""

    label: str
    after: float
    before: float | None = None
    low: float | None = None
    high: float | None = None
    guess: float | None = None


class _Frame(NamedTuple):
    """Where a picture draws: its width, the ends of its axis, the height of a row."""

    name: str
    width: int
    left: int
    right: int
    row: int
    label_above: bool


_DOTS = (
    _Frame("wide", 640, 232, 612, 34, label_above=False),
    _Frame("narrow", 340, 18, 316, 48, label_above=True),
)
_STEPS = (
    _Frame("wide", 640, 56, 624, 0, label_above=False),
    _Frame("narrow", 340, 48, 330, 0, label_above=False),
)


def dots(marks: Sequence[Mark], *, title: str) -> Markup:
    """Return a row a mark: before as an open disc, after as a filled one, the guess as a bar.

    Examples
    --------
    >>> picture = dots([Mark("<ties>", 0.5)], title="Right guesses")
    >>> "&lt;ties&gt;" in picture, "<script" in picture
    (True, False)
    """
    return Markup("").join(_svg(f, _dots_height(marks, f), title, _dots(marks, f)) for f in _DOTS)


def _dots_height(marks: Sequence[Mark], frame: _Frame) -> int:
    return frame.row * len(marks) + 34


def _dots(marks: Sequence[Mark], frame: _Frame) -> Iterator[str]:
    bottom = frame.row * len(marks) + 10

    def x(share: float) -> float:
        return round(frame.left + min(max(share, 0.0), 1.0) * (frame.right - frame.left), 1)

    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield _line("grid", x(tick), 6, x(tick), bottom)
        yield _text("tick", x(tick), bottom + 18, f"{100 * tick:.0f} %", "middle")
    for number, mark in enumerate(marks):
        y = frame.row * number + (34 if frame.label_above else 24)
        label = printable(mark.label, LABEL_LETTERS)
        if frame.label_above:
            yield _text("lab", frame.left, y - 13, label, "start")
        else:
            yield _text("lab", frame.left - 14, y + 4, label, "end")
        if mark.before is not None:
            yield _line("link", x(mark.before), y, x(mark.after), y)
            yield f'<circle cx="{x(mark.before)}" cy="{y}" r="5" class="before"/>'
        if mark.low is not None and mark.high is not None:
            yield _line("ci", x(mark.low), y, x(mark.high), y)
        if mark.guess is not None:
            yield _line("guess", x(mark.guess), y - 7, x(mark.guess), y + 7)
        yield f'<circle cx="{x(mark.after)}" cy="{y}" r="6" class="after"/>'


def steps(bins: Sequence[Bin], *, title: str) -> Markup:
    """Return the share of people with at most a number, as steps: before wide and grey beneath.

    Examples
    --------
    >>> steps([Bin(0, 0, 2, 1), Bin(1, 1, 0, 1)], title="Ties").count("<polyline")
    4
    """
    return Markup("").join(_svg(frame, 236, title, _steps(bins, frame)) for frame in _STEPS)


def _steps(bins: Sequence[Bin], frame: _Frame) -> Iterator[str]:
    top, bottom, largest = 12.0, 198.0, max(bins[-1].high, 1)

    def x(number: float) -> float:
        share = math.log1p(number) / math.log1p(largest)
        return round(frame.left + share * (frame.right - frame.left), 1)

    def y(share: float) -> float:
        return round(bottom - share * (bottom - top), 1)

    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield _line("grid", frame.left, y(tick), frame.right, y(tick))
        yield _text("tick", frame.left - 8, y(tick) + 4, f"{100 * tick:.0f} %", "end")
    last = -math.inf
    for number in _round_numbers(largest):
        if x(number) - last > 30:
            yield _text("tick", x(number), bottom + 20, f"{number:,}", "middle")
            last = x(number)
    for name, values in (
        ("lbefore", [one.before for one in bins]),
        ("lafter", [one.after for one in bins]),
    ):
        counts = [number for number in values if number is not None]
        if len(counts) == len(bins) and any(counts):
            points = " ".join(f"{x(a)},{y(b)}" for a, b in _corners(bins, counts))
            yield f'<polyline points="{points}" class="{name}"/>'


def _corners(bins: Sequence[Bin], counts: Sequence[int]) -> Iterator[tuple[float, float]]:
    """Yield the corners of the steps: number and share of people with at most that."""
    whole, reached = sum(counts), 0
    yield bins[0].low, 0.0
    for one, number in zip(bins, counts, strict=True):
        yield one.low, reached / whole
        reached += number
        yield one.low, reached / whole
    yield bins[-1].high, 1.0


def _round_numbers(largest: int) -> Iterator[int]:
    yield 0
    power = 1
    while power <= largest:
        yield from (factor * power for factor in (1, 2, 5) if factor * power <= largest)
        power *= 10


def _svg(frame: _Frame, height: int, title: str, parts: Iterator[str]) -> Markup:
    head = escape(printable(title))
    return Markup(  # noqa: S704  every text in it is escaped above, everything else is a number
        f'<svg viewBox="0 0 {frame.width} {height}" role="img" class="chart {frame.name}">'
        f"<title>{head}</title>{''.join(parts)}</svg>"
    )


def _line(name: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{name}"/>'


def _text(name: str, x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" class="{name}" text-anchor="{anchor}">{escape(text)}</text>'


def described(mark: Mark) -> list[str]:
    """Return a mark as a row of the table behind its picture."""
    ends = (
        ""
        if mark.low is None or mark.high is None
        else f"{percent(mark.low)} to {percent(mark.high)}"
    )
    others = ["–" if share is None else percent(share) for share in (mark.before, mark.guess)]
    return [mark.label, others[0], percent(mark.after), ends or "–", others[1]]
