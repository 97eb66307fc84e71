"""The marks of a page drawn by matplotlib, for papers; it is imported when a figure asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from graphveil.core.text import printable
from graphveil.pages.charts import LABEL_LETTERS, Bin, Mark
from graphveil.pages.frontiers import Panel

RELEASE, ORIGINAL, GUESS = "#1f5fa8", "#9aa5b1", "#9a5b00"
"""The colors of a page in light, which colorblind people tell apart."""
SERIES = (RELEASE, GUESS, "#0b6b57", "#8a2f6b", "#b03a2e", "#4a5460")
SHAPES = ("o", "s", "^", "D", "v")
"""Colors and shapes of methods, as the page of a sweep has them."""
INCHES = 6.5
"""The width of a figure: a page of a paper."""


def dots(marks: Sequence[Mark]) -> Figure:
    """Return a row a mark: the original an open disc, the release a filled one, a guess a bar."""
    figure = Figure(figsize=(INCHES, 0.8 + 0.27 * len(marks)), layout="constrained")
    axes = figure.add_subplot()
    for y, mark in enumerate(marks):
        if mark.before is not None:
            axes.plot([mark.before, mark.after], [y, y], color=ORIGINAL, lw=1, zorder=1)
            [disc] = axes.plot(mark.before, y, "o", ms=5, label="original", zorder=2)
            disc.set(markerfacecolor="white", markeredgecolor=ORIGINAL, markeredgewidth=1.5)
        if mark.low is not None and mark.high is not None:
            ends = [mark.low, mark.high]
            axes.plot(ends, [y, y], color=RELEASE, lw=5, alpha=0.3, label="95% interval", zorder=2)
        if mark.guess is not None:
            axes.plot(
                mark.guess, y, "|", ms=11, mew=2, color=GUESS, label=("guess without the release")
            )
        axes.plot(mark.after, y, "o", ms=5, color=RELEASE, label="release", zorder=3)
    labels = [printable(mark.label, LABEL_LETTERS) for mark in marks]
    for text in axes.set_yticks(range(len(marks)), labels):
        text.label1.set_parse_math(False)
    axes.set(xlim=(-0.02, 1.02), ylim=(len(marks) - 0.4, -0.6))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(axis="x", lw=0.4)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    handles = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def steps(bins: Sequence[Bin], axis: str) -> Figure:
    """Return the share of people with at most a number, the original wide and grey beneath."""
    figure = Figure(figsize=(INCHES, 2.8), layout="constrained")
    axes = figure.add_subplot()
    lows = [one.low for one in bins]
    for name, counts, color, width in (
        ("original", [one.before or 0 for one in bins], ORIGINAL, 4),
        ("release", [one.after for one in bins], RELEASE, 1.6),
    ):
        if any(counts):
            shares = [reached / sum(counts) for reached in accumulate(counts)]
            ends = [*lows, bins[-1].high]
            axes.step(ends, [*shares, 1.0], where="post", color=color, lw=width, label=name)
    axes.set_xscale("symlog", linthresh=1)
    axes.set(xlim=(0, max(bins[-1].high, 1)), ylim=(0, 1.02), ylabel="share")
    axes.set_xlabel(axis, parse_math=False)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(lw=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    if any(one.before for one in bins):
        axes.legend(frameon=False)
    return figure


def scatter(panel: Panel, methods: Sequence[str]) -> Figure:
    """Return two figures of every point, a mark and a line a method; a cross has no release."""
    figure = Figure(figsize=(INCHES, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for series in sorted({dot.series for dot in panel.dots}):
        color, shape = SERIES[series % len(SERIES)], SHAPES[series % len(SHAPES)]
        own = [(d, d.y) for d in panel.dots if d.series == series and d.y is not None]
        line = sorted((dot.x, y) for dot, y in own if dot.on_line)
        axes.plot([x for x, _ in line], [y for _, y in line], color=color, lw=1, alpha=0.55)
        xs, ys = [dot.x for dot, _ in own], [y for _, y in own]
        for dot, y in own:
            across, up = dot.x_ends or (dot.x, dot.x), dot.y_ends or (y, y)
            axes.hlines(y, *across, color=color, lw=3.5, alpha=0.35)
            axes.vlines(dot.x, *up, color=color, lw=3.5, alpha=0.35)
        axes.plot(xs, ys, shape, color=color, ms=5, label=methods[series])
    without = [dot.x for dot in panel.dots if dot.y is None]
    if without:
        ground = axes.get_xaxis_transform()
        axes.plot(without, [0.02] * len(without), "x", color=GUESS, transform=ground)
        axes.lines[-1].set_label("no release")
    if panel.x.logarithmic:
        axes.set_xscale("log")
    for axis, side in ((axes.xaxis, panel.x), (axes.yaxis, panel.y)):
        axis.set_label_text(side.name, parse_math=False)
        if side.share:
            axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(lw=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    return figure
