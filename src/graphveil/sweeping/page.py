"""From a sweep to its page: pictures, rows and commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from graphveil._version import __version__
from graphveil.errors import UsageError
from graphveil.methods.registry import METHODS
from graphveil.report import frontiers
from graphveil.report.commands import anonymize_command, command_line
from graphveil.report.figures import Figure
from graphveil.report.frontiers import Dot, Panel
from graphveil.report.sweep_pages import Row, SweepPage, picture_html, sweep_html
from graphveil.sweeping.answers import SHARES, answer_of, figure_text, words_of
from graphveil.sweeping.figures import STRENGTHS, Axis, Setting, SweptPoints, unbeaten

PLAIN = ("largest class risk", "kept", "false")


def page_text(sweep: SweptPoints) -> str:
    """Return the page of a sweep as one HTML file, for its owner alone."""
    methods = _methods(sweep)
    plan = sweep.plan
    name = "" if sweep.folder is None else sweep.folder.resolve().name
    file = plan.original[0] if plan.original else "INPUT"
    counts = sweep.counts
    page = SweepPage(
        title=name or f"A sweep of {file}",
        answer=answer_of(sweep, (), None),
        facts=[
            ("Combinations", f"{len(sweep.settings):,}"),
            ("Releases", f"{counts.get('finished', 0):,}"),
            ("Without a release", f"{len(plan.points) - counts.get('finished', 0):,}"),
            ("Methods", f"{len(methods):,}"),
            ("Repeats", f"{plan.repeats:,}"),
            ("Seed", "entropy" if plan.seed is None else "given"),
        ],
        methods=methods,
        panels=panels_of(sweep),
        rows=list(_rows(sweep, methods)),
        figures=_figures(sweep),
        commands=_commands(sweep, name),
        versions=[f"Made by graphveil {plan.tool}, the page by graphveil {__version__}."],
    )
    return sweep_html(page)


def figure_of(sweep: SweptPoints, across: Axis, up: Axis) -> Figure:
    """Return one picture that stands alone.

    Raises
    ------
    UsageError
        Where no point has both figures.
    """
    panel = panel_of(sweep, across, up)
    if not panel.dots:
        raise UsageError("No point has both figures. Name others, or sweep other points.")
    return Figure(title=panel.title, panel=panel, methods=tuple(_methods(sweep)))


def figures_of(sweep: SweptPoints) -> dict[str, Figure]:
    """Return the pictures of the page, each of which stands alone, by a name for its file."""
    methods = tuple(_methods(sweep))
    return {
        f"frontier-{number}": Figure(title=panel.title, panel=panel, methods=methods)
        for number, panel in enumerate(panels_of(sweep), start=1)
    }


def picture_text(sweep: SweptPoints) -> str:
    """Return the pictures of a sweep, for a notebook."""
    return picture_html(panels_of(sweep), _methods(sweep))


def _methods(sweep: SweptPoints) -> list[str]:
    return list(dict.fromkeys(point.method for point in sweep.plan.points))


def panels_of(sweep: SweptPoints) -> list[Panel]:
    """Return the pictures: each strength, and a measured attack, against what is kept and true."""
    _, attack, use = sweep.usual
    if use is None:
        return []
    across = [Axis("strength", part) for part in STRENGTHS]
    every = [panel_of(sweep, axis, use) for axis in [*across, *([attack] if attack else [])]]
    return [panel for panel in every if panel.dots]


def panel_of(sweep: SweptPoints, across: Axis, up: Axis) -> Panel:
    """Return one picture: two figures of every point."""
    if across.question == "strength":
        title = f"What is promised against what is kept: {across.part}"
    elif (across, up) == sweep.usual[1:]:
        title = "A measured attack against what is kept"
    else:
        title = f"{words_of(across)} against {words_of(up)}"
    return Panel(title, _axis(across), _axis(up), _with_lines(sweep, across, up))


def _axis(axis: Axis) -> frontiers.Axis:
    powers = axis == Axis("strength", "k")
    return frontiers.Axis(words_of(axis), share=str(axis) in SHARES, logarithmic=powers)


def _with_lines(sweep: SweptPoints, across: Axis, up: Axis) -> list[Dot]:
    """Return the points of a picture: lines go through those that no other of a method beats."""
    dots = list(_dots(sweep, across, up))
    directions = (sweep.axes.get(across, ""), sweep.axes[up])
    on_line = set()
    for series in {dot.series for dot in dots}:
        own = [dot for dot in dots if dot.series == series and dot.y is not None]
        best = unbeaten([(dot.x, dot.y or 0.0) for dot in own], directions)
        on_line |= {dot.number for dot, flag in zip(own, best, strict=True) if flag}
    return [dot._replace(on_line=dot.number in on_line) for dot in dots]


def _dots(sweep: SweptPoints, across: Axis, up: Axis) -> Iterator[Dot]:
    """Yield what has both figures, and what has no release where its strength is known."""
    methods = _methods(sweep)
    for number, setting in enumerate(sweep.settings, start=1):
        series, words = methods.index(setting.first.method), setting.first.words
        if setting.failure is not None:
            strength = _strength(setting, across)
            if strength is not None:
                yield Dot(number, series, f"{words}: {setting.failure.status}", strength, None)
            continue
        x, y = setting.figure(across), setting.figure(up)
        if x is not None and y is not None:
            ends = (x.low, x.high), (y.low, y.high)
            yield Dot(number, series, words, x.mean, y.mean, *ends)


def _strength(setting: Setting, axis: Axis) -> float | None:
    """Return the strength that a point without a release was asked for; None where it has none."""
    if axis.question != "strength":
        return None
    parameters = setting.first.parameters
    names = ("k", "levels") if axis.part == "k" else (axis.part,)
    values = (parameters.get(name) for name in names)
    return next((float(v) for v in values if isinstance(v, int | float) and v > 0), None)


def _rows(sweep: SweptPoints, methods: list[str]) -> Iterator[Row]:
    _, attack, use = sweep.usual
    best = _best(sweep)
    shown = [Axis(name) for name in PLAIN]
    shown += [axis for axis in (use, attack) if axis is not None and axis not in shown]
    for number, setting in enumerate(sweep.settings, start=1):
        failure, first = setting.failure, setting.first
        figures = [(axis, setting.figure(axis)) for axis in shown]
        yield Row(
            number=number,
            series=methods.index(first.method),
            words=first.words,
            status="finished" if failure is None else failure.status,
            reason="" if failure is None else failure.reason,
            promise=setting.results[0].promise,
            figures=[(words_of(a), _mean_text(a, f.mean)) for a, f in figures if f is not None],
            best=first.number in best,
            command=_command(sweep, setting),
        )


def _mean_text(axis: Axis, value: float) -> str:
    return figure_text(Axis("kept"), value) if axis.question in PLAIN else figure_text(axis, value)


def _best(sweep: SweptPoints) -> set[int]:
    _, attack, use = sweep.usual
    if attack is None or use is None:
        return set()
    return {row["point"] for row in sweep.frontier().to_pylist() if row["best"]}


def _command(sweep: SweptPoints, setting: Setting) -> str:
    """Return what makes a release anew; empty where this version knows no such method."""
    method = METHODS.get(setting.first.method)
    if method is None:
        return ""
    file, *flags = sweep.plan.original or ["INPUT"]
    stem = Path(file).stem if file != "-" else "stdin"
    command = anonymize_command(
        method, setting.first.parameters, file, f"{stem}-{setting.first.method}"
    )
    return " ".join([command, *map(shlex.quote, flags)])


def _figures(sweep: SweptPoints) -> dict[str, list[float | None]]:
    """Return every figure of every point by its name: the worst of its repeats, as bounds ask."""
    plain = [Axis(name) for name in PLAIN]
    others = [
        axis
        for axis, direction in sweep.axes.items()
        if axis not in plain
        and axis.question not in {"strength", "cost"}
        and direction != "for comparison"
    ]
    chosen = [axis for axis in (*plain, *others) if axis in sweep.axes]
    figures: dict[str, list[float | None]] = {}
    for axis in chosen:
        lower = sweep.axes[axis] == "lower is better"
        figures[str(axis)] = [_worst(setting, axis, lower=lower) for setting in sweep.settings]
    return figures


def _worst(setting: Setting, axis: Axis, *, lower: bool) -> float | None:
    figure = setting.figure(axis)
    if figure is None:
        return None
    return figure.high if lower else figure.low


def _commands(sweep: SweptPoints, name: str) -> list[str]:
    if sweep.folder is None:
        return []
    seed = str(sweep.plan.measuring_seed)
    points = sweep.plan.points
    first = next((p for p in points if sweep.results[p.number].status == "finished"), None)
    lines = [command_line("report", name)]
    if first is not None:
        file = sweep.plan.original[0] if sweep.plan.original else "INPUT"
        given = (f"{name}/points/{first.name}", "--original", file, "--seed", seed)
        lines += [command_line("evaluate", *given), command_line("attack", *given)]
    return lines
