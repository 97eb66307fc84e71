"""Pictures of a page as inline SVG without a script: 640 units wide, and 340 for a phone.

The style sheet shows one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from graphveil.claims.neighbors import check_outside
from graphveil.core.atomic import whole_file
from graphveil.core.errors import UsageError
from graphveil.core.text import NO_FIGURE, per_hundred, percent, printable


def write_new(path: str | Path, content: bytes, *, mode: int, force: bool) -> Path:
    """Write a file whole or not at all; refuse one that exists, unless it is to be replaced."""
    file = Path(path)
    check_outside(file)
    try:
        with whole_file(file, mode=mode, replace=force) as part:
            part.write_bytes(content)
    except FileExistsError as error:
        raise UsageError(f"{file} exists. Choose another name, or set force.") from error
    return file


def count(number: float) -> str:
    """Return a count with commas."""
    return f"{round(number):,}"


def odds_of_hundred(odds: float) -> str:
    """Return how sure someone is at these odds against 1, of 100.

    >>> odds_of_hundred(1.0), odds_of_hundred(2.718)
    ('50 of 100', '73 of 100')
    """
    return f"{per_hundred(1.0 if odds > 1e15 else odds / (1 + odds), places=0)} of 100"


MOST_BINS = 60


class Bin(NamedTuple):
    """How many people have a number from `low` to `high`, before and after.

    `before` is None where there is no original.
    """

    low: int
    high: int
    before: int | None
    after: int

    @property
    def name(self) -> str:
        """The numbers of the bin, as a table shows them."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


def binned(after: NDArray[np.int64], before: NDArray[np.int64] | None = None) -> list[Bin]:
    """Return at most 60 bins that hold every number, narrow where numbers are small.

    >>> [(one.name, one.after) for one in binned(np.array([0, 1, 1, 3]))]
    [('0', 1), ('1', 2), ('2', 0), ('3', 1)]
    >>> len(binned(np.arange(100_000)))
    60
    """
    every = after if before is None else np.concatenate([after, before])
    if not every.size:
        return []
    largest = int(every.max())
    starts = _starts(largest)
    edges = np.append(starts, largest + 1)
    counts = np.histogram(after, bins=edges)[0]
    earlier = [None] * starts.size if before is None else np.histogram(before, edges)[0].tolist()
    ends = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), earlier, counts.tolist(), strict=True)
    return [Bin(*one) for one in ends]


def _starts(largest: int) -> NDArray[np.int64]:
    """Return where bins begin: every number while they suffice, then in growing steps."""
    if largest < MOST_BINS:
        return np.arange(largest + 1, dtype=np.int64)
    starts = np.arange(MOST_BINS, dtype=np.int64)
    for number in range(MOST_BINS // 2, 4 * MOST_BINS):
        steps = np.geomspace(1, largest + 1, number).astype(np.int64)
        distinct = np.unique(np.concatenate([[0], steps[:-1]]))
        if distinct.size > MOST_BINS:
            break
        starts = distinct
    return starts


LABEL_LETTERS = 36
"""The most letters of a label in a picture for a paper or a phone."""


class Mark(NamedTuple):
    """One row of a picture: shares in 0..1, None for what is not there."""

    label: str
    after: float
    before: float | None = None
    low: float | None = None
    high: float | None = None
    guess: float | None = None


class _Frame(NamedTuple):
    """Where a picture draws: its width, the ends of its axis, the height of a row.

    Labels are above their rows, because fonts differ in width.
    """

    name: str
    width: int
    left: int
    right: int
    row: int = 0
    letters: int = 0


_DOTS = (_Frame("wide", 640, 18, 612, 44, 72), _Frame("narrow", 340, 18, 316, 48, LABEL_LETTERS))
_LONG_LABELS = _Frame("alone", 720, 18, 692, 44, 80)
_STEPS = (_Frame("wide", 640, 56, 624), _Frame("narrow", 340, 48, 330))


def dots(marks: Sequence[Mark], *, title: str) -> Markup:
    """Return one row per mark: an open disc before, a filled one after, a bar for the guess.

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
        yield drawn_line("grid", x(tick), 6, x(tick), bottom)
        yield drawn_text("tick", x(tick), bottom + 18, f"{100 * tick:.0f}%", "middle")
    for number, mark in enumerate(marks):
        y = frame.row * number + 34
        label = printable(mark.label, frame.letters)
        yield drawn_text("lab", frame.left, y - 13, label, "start")
        if mark.before is not None:
            yield drawn_line("link", x(mark.before), y, x(mark.after), y)
            yield f'<circle cx="{x(mark.before)}" cy="{y}" r="5" class="before"/>'
        if mark.low is not None and mark.high is not None:
            yield drawn_line("ci", x(mark.low), y, x(mark.high), y)
        if mark.guess is not None:
            yield drawn_line("guess", x(mark.guess), y - 7, x(mark.guess), y + 7)
        yield f'<circle cx="{x(mark.after)}" cy="{y}" r="6" class="after"/>'


def steps(bins: Sequence[Bin], *, title: str) -> Markup:
    """Return the share of people with at most a number, as steps: before wide and grey beneath.

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
        yield drawn_line("grid", frame.left, y(tick), frame.right, y(tick))
        yield drawn_text("tick", frame.left - 8, y(tick) + 4, f"{100 * tick:.0f}%", "end")
    last = -math.inf
    for number in _round_numbers(largest):
        if x(number) - last > 30:
            yield drawn_text("tick", x(number), bottom + 20, f"{number:,}", "middle")
            last = x(number)
    for name in ("before", "after"):
        counts = [number for one in bins if (number := getattr(one, name)) is not None]
        if len(counts) == len(bins) and any(counts):
            points = " ".join(f"{x(a)},{y(b)}" for a, b in _corners(bins, counts))
            yield f'<polyline points="{points}" class="l{name}"/>'


def _corners(bins: Sequence[Bin], counts: Sequence[int]) -> Iterator[tuple[float, float]]:
    """Yield the corners of the steps: number and share of people with at most that."""
    whole, reached = sum(counts), 0
    yield bins[0].low, 0.0
    for one, number in zip(bins, counts, strict=True):
        yield one.low, reached / whole
        reached += number
        yield one.low, reached / whole
    yield bins[-1].high, 1.0


TEMPLATES = Path(__file__).with_name("templates")


def style_alone(name: str) -> str:
    """Return the style of a picture that stands alone: the colors of a page, for its classes."""
    return "".join((TEMPLATES / name).read_text(encoding="utf-8").split("\n"))


ALONE = style_alone("chart_alone.css")


def dots_alone(marks: Sequence[Mark], *, title: str) -> Markup:
    """Return the wide picture of `dots` with its title, its style and what stands for what.

    >>> picture = dots_alone([Mark("ties", 0.5, guess=0.1)], title="Right guesses")
    >>> "guess without the release" in picture, "original" in picture
    (True, False)
    """
    frame, height = _LONG_LABELS, _dots_height(marks, _LONG_LABELS)
    key = "".join(_key(marks, height + 14))
    return _alone(frame, height + 26, title, "".join(_dots(marks, frame)) + key)


def _key(marks: Sequence[Mark], y: float) -> Iterator[str]:
    """Yield what stands for what, from left to right, of what is in the picture."""
    x = 20.0
    names = {"before": "original", "after": "release", "low": "95% interval"}
    for field, name in (names | {"guess": "guess without the release"}).items():
        if all(getattr(mark, field) is None for mark in marks):
            continue
        if field == "low":
            yield drawn_line("ci", x - 4, y, x + 6, y)
        elif field == "guess":
            yield drawn_line("guess", x, y - 7, x, y + 7)
        else:
            yield f'<circle cx="{x}" cy="{y}" r="{5 if field == "before" else 6}" class="{field}"/>'
        yield drawn_text("tick", x + 14, y + 4, name, "start")
        x += 44 + 7 * len(name)


def steps_alone(bins: Sequence[Bin], *, title: str, axis: str) -> Markup:
    """Return the wide picture of `steps` with its title, its style and the name of its axis.

    >>> steps_alone([Bin(0, 0, None, 1)], title="Ties", axis="number of ties").count("<svg")
    1
    """
    frame = _STEPS[0]
    below = drawn_text("tick", (frame.left + frame.right) / 2, 240, axis, "middle")
    return _alone(frame, 250, title, "".join(_steps(bins, frame)) + below)


def _alone(frame: _Frame, height: float, title: str, parts: str) -> Markup:
    text = printable(title)
    return Markup(  # noqa: S704  every text in it is escaped, everything else is a number
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -30 {frame.width} {height + 30}" '
        f'width="{frame.width}" role="img" class="gvf"><title>{escape(text)}</title>'
        f"<style>{ALONE}</style>{drawn_text('head', 8, -10, text, 'start')}{parts}</svg>"
    )


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


def drawn_line(name: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a line of a picture."""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{name}"/>'


def drawn_text(name: str, x: float, y: float, text: str, anchor: str) -> str:
    """Return a text of a picture, escaped."""
    return f'<text x="{x}" y="{y}" class="{name}" text-anchor="{anchor}">{escape(text)}</text>'


def described(mark: Mark) -> list[str]:
    """Return a mark as a row of the table behind its picture."""
    interval = NO_FIGURE
    if mark.low is not None and mark.high is not None:
        interval = f"{percent(mark.low)} to {percent(mark.high)}"
    before, guess = (
        NO_FIGURE if one is None else percent(one) for one in (mark.before, mark.guess)
    )
    return [mark.label, before, percent(mark.after), interval, guess]
