"""A sweep in few lines: the answer in a sentence, and a line a point, the best first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from graphveil.report.numbers import NONE, percent, plain
from graphveil.sweeping.figures import Axis, Setting, SweptPoints, unbeaten

WORDS: dict[str, str] = {
    "k": "people who look alike, at least",
    "epsilon": "epsilon, which less of is more private",
    "edge-jaccard: all": "ties kept and true",
    "entry-jaccard: all": "items kept and true",
    "cells-shown: all": "cells shown",
    "kept": "kept",
    "candidate-set: degree and triangles, right guess": (
        "re-identified by someone who knows ties and closed triangles"
    ),
    "linkage: 4 known, 0 false: own row": "re-identified by someone who knows 4 items or cells",
    "matching: best guess, mean": "re-identified by someone who has the original table",
}
"""What a reader calls a figure."""

SHARES = frozenset(WORDS) - {"k", "epsilon"}
"""Figures among them that are shares: they are shown in percent."""


def words_of(axis: Axis) -> str:
    """Return what a reader calls a figure.

    Examples
    --------
    >>> words_of(Axis("edge-jaccard", "all")), words_of(Axis("diameter", "original"))
    ('ties kept and true', 'diameter: original')
    """
    return WORDS.get(str(axis), str(axis))


def figure_text(axis: Axis, value: float) -> str:
    """Return a figure as a person reads it: shares in percent.

    Examples
    --------
    >>> figure_text(Axis("kept"), 0.98), figure_text(Axis("strength", "k"), 5.0)
    ('98.0 %', '5')
    """
    return percent(value) if str(axis) in SHARES else plain(value)


ENDED = {
    "finished": "finished",
    "infeasible": "infeasible",
    "failed": "failed",
    "out of time": "out of time",
}


def answer_of(sweep: SweptPoints, until: Sequence[str], met: Collection[int] | None) -> str:
    """Return the answer in a sentence: how many points keep the bounds, or how points ended."""
    whole = len(sweep.results)
    counts = sweep.counts
    ended = ", ".join(
        f"{counts[status]} {word}" for status, word in ENDED.items() if status in counts
    )
    points = "1 point" if whole == 1 else f"{whole} points"
    if met is None:
        return f"{points}: {ended}."
    bounds = " and ".join(until)
    some = "No point keeps" if not met else "1 point keeps" if len(met) == 1 else ""
    return f"{some or f'{len(met)} points keep'} {bounds}. {points}: {ended}."


class _Line(NamedTuple):
    """A point with what it is sorted by: whether it is unbeaten, and its figures."""

    setting: Setting
    first: float | None
    second: float | None
    best: bool


def lines_of(sweep: SweptPoints, met: Collection[int] | None = None) -> Iterator[tuple[str, str]]:
    """Yield the figures and the words of each point: first those that keep the bounds.

    Then come those that no other beats.

    SweptPoints without a release come last, each with its reason.

    Parameters
    ----------
    sweep
        The sweep.
    met
        The points that keep bounds; None where there are none.
    """
    _, attack, use = sweep.usual
    if attack is not None:
        yield "", f"first figure: {words_of(attack)}"
    if use is not None:
        yield "", f"second figure: {words_of(use)}"
    ordered = sorted(_lines(sweep, attack, use), key=lambda line: _rank(line, met))
    for line in ordered:
        setting = line.setting
        failure = setting.failure
        if failure is not None:
            yield f"  {failure.status}: ", f"{setting.first.words}: {failure.reason}"
            continue
        cells = [
            NONE if axis is None or value is None else figure_text(axis, value)
            for axis, value in ((attack, line.first), (use, line.second))
        ]
        notes = [
            *(["keeps every bound"] if _is_met(setting, met) else []),
            *(["no other beats it"] if line.best else []),
        ]
        note = f" ({', '.join(notes)})" if notes else ""
        yield f"  {cells[0]:>9} {cells[1]:>9}  ", f"{setting.first.words}{note}"


def _is_met(setting: Setting, met: Collection[int] | None) -> bool:
    return met is not None and all(point.number in met for point in setting.points)


def _rank(line: _Line, met: Collection[int] | None) -> tuple[bool, bool, bool, float]:
    failed = line.setting.failure is not None
    value = line.first if line.first is not None else float("inf")
    return failed, not _is_met(line.setting, met), not line.best, value


def _lines(sweep: SweptPoints, attack: Axis | None, use: Axis | None) -> list[_Line]:
    lines = []
    for setting in sweep.settings:
        values = [
            None if axis is None or (figure := setting.figure(axis)) is None else figure.mean
            for axis in (attack, use)
        ]
        lines.append(_Line(setting, values[0], values[1], best=False))
    if attack is None or use is None:
        return lines
    both = [line for line in lines if line.first is not None and line.second is not None]
    pairs = [(line.first or 0.0, line.second or 0.0) for line in both]
    best = unbeaten(pairs, (sweep.axes[attack], sweep.axes[use]))
    chosen = {line.setting.first.number for line, flag in zip(both, best, strict=True) if flag}
    return [line._replace(best=line.setting.first.number in chosen) for line in lines]
