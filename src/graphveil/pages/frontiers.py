"""The picture of a sweep: two figures of every point, a line a method, drawn without a script.

What has no release is crossed out, on a strip of its own. A point is a link to its row: its words
and its figures stand above the picture while the pointer or the keyboard is on it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import NamedTuple

from markupsafe import Markup

from graphveil.core.text import Wording, percent, plain, printable
from graphveil.pages.charts import drawn_line, drawn_text, style_alone

COLORS, SHAPES = 6, 5
"""So many colors and shapes there are: together they tell 30 methods apart."""

TOP, BOTTOM, STEP = 46.0, 300.0, 15.0
TICKS = 5
MOST_CROSSES = 4
"""So many crosses stand above each other; further ones stand over the last."""


class Dot(NamedTuple):
    """One point: means over its repeats, and their ends."""

    number: int
    series: int
    words: str
    x: float  # x, y: its figures; None for `y` where it has no release, which crosses it out
    y: float | None
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None
    on_line: bool = True


class Axis(NamedTuple):
    """What an axis shows, whether as a share, and whether in powers."""

    name: str
    share: bool = False
    logarithmic: bool = False

    def text(self, value: float) -> str:
        """Return a value as the axis writes it."""
        return percent(value) if self.share else plain(value)

    def tick(self, value: float) -> str:
        """Return a round value as it stands next to the axis."""
        return self.text(value).replace(".0%", "%")


class Panel(NamedTuple):
    """One picture."""

    title: str
    x: Axis
    y: Axis
    dots: Sequence[Dot]

    def worded(self, word: Wording) -> Panel:
        """Return the picture as a surface says it."""
        x, y = (axis._replace(name=word(axis.name)) for axis in (self.x, self.y))
        return self._replace(title=word(self.title), x=x, y=y)


class _Frame(NamedTuple):
    """Where a picture draws: its width, the ends of its axis, and the letters of a line."""

    name: str
    width: int
    left: int
    right: int
    letters: int


_FRAMES = (_Frame("wide", 640, 66, 620, 84), _Frame("narrow", 340, 62, 326, 40))
_ALONE = _Frame("alone", 640, 66, 620, 84)

KEY_COLUMNS = 3
"""So many names of methods stand next to each other under a picture that stands alone."""

_DEFINED = (
    '<defs><circle id="m0" r="6"/><rect id="m1" x="-5.5" y="-5.5" width="11" height="11"/>'
    '<path id="m2" d="M0-7L7 5H-7Z"/><path id="m3" d="M0-7.5L7.5 0L0 7.5L-7.5 0Z"/>'
    '<path id="m4" d="M0 7L7-5H-7Z"/>'
    '<path id="mx" d="M-5-5L5 5M-5 5L5-5"/></defs>'
)
SYMBOLS = Markup(  # noqa: S704  constants
    f'<svg width="0" height="0" class="symbols" aria-hidden="true">{_DEFINED}</svg>'
)
"""The marks, drawn once for all pictures of a page."""


def mark_of(series: int) -> tuple[str, str]:
    """Return the color and the shape of a method, as classes and ids.

    >>> mark_of(0), mark_of(7)
    (('c0', 'm0'), ('c1', 'm2'))
    """
    return f"c{series % COLORS}", f"m{series % SHAPES}"


def scatter(panel: Panel) -> Markup:
    """Return a picture in two widths; the style sheet shows one of them.

    >>> dots = [Dot(1, 0, "<a> k=2", 2.0, 0.9), Dot(2, 0, "<a> k=5", 5.0, None)]
    >>> picture = scatter(Panel("Title", Axis("k"), Axis("kept", share=True), dots))
    >>> "&lt;a&gt;" in picture, picture.count('href="#mx"'), "<script" in picture
    (True, 2, False)
    """
    return Markup("").join(_svg(panel, frame) for frame in _FRAMES)


ALONE = style_alone("frontier_alone.css")


def scatter_alone(panel: Panel, methods: Sequence[str]) -> Markup:
    """Return the wide picture with its title, its style and what stands for which method.

    >>> dots = [Dot(1, 0, "a k=2", 2.0, 0.9), Dot(2, 1, "b k=5", 5.0, None)]
    >>> picture = scatter_alone(Panel("Title", Axis("k"), Axis("kept", share=True), dots), "ab")
    >>> picture.count("<svg"), "<a " in picture, ">kept<" in picture
    (1, False, True)
    """
    frame, crosses = _ALONE, _crosses(panel)
    height, title = _height(crosses), printable(panel.title)
    marks = "".join(_parts(panel, frame, crosses))
    named = sorted({dot.series for dot in panel.dots})
    key = "".join(_key(named, methods, height))
    lines = math.ceil(len(named) / KEY_COLUMNS)
    whole = height + 22 * lines + 40
    head = drawn_text("head", 8, -28, title, "start") + drawn_text(
        "lab", 8, -6, panel.y.name, "start"
    )
    return Markup(  # noqa: S704  every text in it is escaped, everything else is a number
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -45 {frame.width} {whole:.0f}" '
        f'width="{frame.width}" role="img" class="gvp"><title>{escape(title)}</title>'
        f"<style>{ALONE}</style>{_DEFINED}{head}{marks}{key}</svg>"
    )


def _key(named: Sequence[int], methods: Sequence[str], height: float) -> Iterator[str]:
    """Yield the mark and the name of every method in the picture, some in a line."""
    for place, series in enumerate(named):
        row, column = divmod(place, KEY_COLUMNS)
        x, y = 20 + 205 * column, height + 10 + 22 * row
        color, shape = mark_of(series)
        yield f'<use href="#{shape}" x="{x}" y="{y}" class="{color}"/>'
        yield drawn_text("tick", x + 14, y + 4, printable(methods[series], 26), "start")


def _height(crosses: int) -> float:
    return BOTTOM + 58 + (STEP * crosses + 14 if crosses else 0)


def _svg(panel: Panel, frame: _Frame) -> Markup:
    crosses = _crosses(panel)
    height = _height(crosses)
    title = escape(printable(panel.title))
    parts = "".join(_parts(panel, frame, crosses))
    return Markup(  # noqa: S704  every text in it is escaped, everything else is a number
        f'<svg viewBox="0 0 {frame.width} {height:.0f}" role="group" aria-label="{title}" '
        f'class="chart frontier {frame.name}">{parts}</svg>'
    )


def _crosses(panel: Panel) -> int:
    """Return how many crosses stand above each other at most."""
    places = Counter(dot.x for dot in panel.dots if dot.y is None)
    return min(max(places.values(), default=0), MOST_CROSSES)


class _Scale(NamedTuple):
    """Values from one number to another, on a line from one place to another."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    def at(self, value: float) -> float:
        """Return the place of a value."""
        low, high, given = self.low, self.high, value
        if self.logarithmic:
            low, high, given = math.log(low), math.log(high), math.log(value)
        share = (given - low) / (high - low)
        return round(self.start + share * (self.end - self.start), 1)


def _scale(values: Sequence[float], axis: Axis, start: float, end: float) -> _Scale:
    """Return a scale that holds every value, with some space around them."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if axis.logarithmic and low > 0:
        factor = max((high / low) ** 0.06, 1.08)
        return _Scale(low / factor, high * factor, start, end, logarithmic=True)
    space = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    least, most = low - space, high + space
    if axis.share:
        least, most = max(least, 0.0), min(most, 1.0)
    return _Scale(least, max(most, least + 1e-9), start, end, logarithmic=False)


def _ticks(scale: _Scale) -> list[float]:
    """Return round numbers of a scale, about five."""
    if scale.logarithmic:
        powers = range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1)
        rounds = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    else:
        raw = (scale.high - scale.low) / TICKS
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
        first = math.ceil(scale.low / step - 1e-9)
        rounds = [number * step for number in range(first, first + 2 * TICKS + 2)]
    return [one for one in rounds if scale.low - 1e-12 <= one <= scale.high + 1e-12]


def _parts(panel: Panel, frame: _Frame, crosses: int) -> Iterator[str]:
    shown = [dot for dot in panel.dots if dot.y is not None]
    across = [value for dot in panel.dots for value in (dot.x, *(dot.x_ends or ()))]
    up = [value for dot in shown for value in (dot.y or 0.0, *(dot.y_ends or ()))]
    x = _scale(across, panel.x, frame.left, frame.right)
    y = _scale(up, panel.y, BOTTOM, TOP)
    yield from _axes(panel, frame, x, y)
    for series in sorted({dot.series for dot in shown}):
        own = [dot for dot in shown if dot.series == series and dot.on_line]
        line = sorted((dot.x, dot.y or 0.0) for dot in own)
        points = " ".join(f"{x.at(a)},{y.at(b)}" for a, b in line)
        yield f'<polyline points="{points}" class="line {mark_of(series)[0]}"/>'
    if crosses:
        yield drawn_text("tick", frame.left, BOTTOM + 58, "no release, crossed out:", "start")
    used: dict[float, int] = {}
    for dot in panel.dots:
        if dot.y is None:
            row = min(used.get(dot.x, 0), MOST_CROSSES - 1)
            used[dot.x] = row + 1
            yield _link(dot, panel, frame, (x.at(dot.x), BOTTOM + 72 + STEP * row))
        else:
            yield from _ends(dot, x, y)
            yield _link(dot, panel, frame, (x.at(dot.x), y.at(dot.y)))


def _axes(panel: Panel, frame: _Frame, x: _Scale, y: _Scale) -> Iterator[str]:
    last = -math.inf
    for value in _ticks(x):
        if x.at(value) - last > 42:
            last = x.at(value)
            yield drawn_line("grid", last, TOP, last, BOTTOM)
            yield drawn_text("tick", last, BOTTOM + 18, panel.x.tick(value), "middle")
    for value in _ticks(y):
        yield drawn_line("grid", frame.left, y.at(value), frame.right, y.at(value))
        yield drawn_text("tick", frame.left - 8, y.at(value) + 4, panel.y.tick(value), "end")
    for number, words in enumerate(_broken(f"{panel.x.name} →", frame.letters)):
        yield drawn_text("lab", frame.right, BOTTOM + 36 + 15 * number, words, "end")


def _broken(text: str, letters: int) -> list[str]:
    """Return a text in two lines at most; a number stays on the line of what it counts.

    >>> _broken("an attacker who knows 4 items", 24)
    ['an attacker who knows', '4 items']
    """
    joined = re.sub(r"(?<=\d) (?=\S)", "\N{NO-BREAK SPACE}", text)
    lines = wrap(joined, letters, max_lines=2, placeholder="…", break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _ends(dot: Dot, x: _Scale, y: _Scale) -> Iterator[str]:
    """Yield the bars of a point that has several repeats."""
    color, up, across = mark_of(dot.series)[0], y.at(dot.y or 0.0), x.at(dot.x)
    if dot.x_ends and dot.x_ends[0] < dot.x_ends[1]:
        yield drawn_line(f"ends {color}", x.at(dot.x_ends[0]), up, x.at(dot.x_ends[1]), up)
    if dot.y_ends and dot.y_ends[0] < dot.y_ends[1]:
        low, high = map(y.at, dot.y_ends)
        yield drawn_line(f"ends {color}", across, low, across, high)


def _link(dot: Dot, panel: Panel, frame: _Frame, at: tuple[float, float]) -> str:
    color, shape = mark_of(dot.series)
    words = printable(dot.words, frame.letters)
    figures = f"{panel.x.text(dot.x)}; {'no release' if dot.y is None else panel.y.text(dot.y)}"
    shape = "mx" if dot.y is None else shape
    use = f'<title>{escape(words)}</title><use href="#{shape}" x="{at[0]}" y="{at[1]}"/>'
    if frame is _ALONE:
        return f'<g class="{color}">{use}</g>'
    return (
        f'<a href="#p{dot.number}" data-s="{dot.number}" class="{color}">'
        f'{use}<text class="tip" y="15">{escape(words)}</text>'
        f'<text class="tip" y="34">{escape(figures)}</text></a>'
    )
