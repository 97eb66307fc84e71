"""The page of a sweep and its pictures: what each point keeps against what it guarantees."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from graphveil.claims.neighbors import check_outside
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import UsageError
from graphveil.core.text import Wording, worded_for_page
from graphveil.core.version import __version__
from graphveil.methods.registry import known_method
from graphveil.pages import frontiers
from graphveil.pages.charts import write_new
from graphveil.pages.figures import Illustrated, Plot
from graphveil.pages.frontiers import Dot, Panel
from graphveil.pages.html import Row, SweepPage, sweep_html
from graphveil.pages.report.document import anonymize_command, command_line
from graphveil.verbs.sweep.points import STRENGTHS, Axis, Setting, SweptPoints, pareto_front
from graphveil.verbs.sweep.results import (
    SHARES,
    Sweep,
    answer_of,
    best_of,
    figure_text,
    warning_of,
    words_of,
)
from graphveil.verbs.sweep.sweep import read_sweep

PLAIN = ("largest class risk", "kept", "false")


def page_text(sweep: SweptPoints) -> str:
    """Return the page of a sweep as one HTML file, for its owner alone."""
    methods, plan = sweep.methods, sweep.plan
    name = "" if sweep.folder is None else sweep.folder.resolve().name
    file = plan.original[0] if plan.original else "INPUT"
    counts = sweep.counts
    known = [one for point in plan.points for one in point.parameters.get("known") or ()]
    word = worded_for_page(plan.kind, known)
    page = SweepPage(
        title=name or f"A sweep of {file}",
        answer=answer_of(sweep, (), None),
        warning=word(warning_of(sweep)),
        facts=[
            ("Combinations", f"{len(sweep.settings):,}"),
            ("Releases", f"{counts.get('finished', 0):,}"),
            ("No release", f"{len(plan.points) - counts.get('finished', 0):,}"),
            ("Methods", f"{len(methods):,}"),
            ("Repeats", f"{plan.repeats:,}"),
            ("Seed", "entropy" if plan.seed is None else "given"),
        ],
        methods=methods,
        panels=[panel.worded(word) for panel in panels_of(sweep)],
        rows=list(_rows(sweep, word)),
        figures=_figures(sweep),
        commands=_commands(sweep, name),
        versions=[f"Made by graphveil {plan.tool}, the page by graphveil {__version__}."],
    )
    return sweep_html(page)


def figure_of(sweep: SweptPoints, across: Axis, up: Axis) -> Plot:
    """Return one picture that stands alone."""
    panel = panel_of(sweep, across, up)
    if not panel.dots:
        raise UsageError(
            "No point has both figures. Choose others, or run a sweep with other points."
        )
    return Plot(title=panel.title, panel=panel, methods=sweep.methods)


def figures_of(sweep: SweptPoints) -> dict[str, Plot]:
    """Return the pictures of the page, each of which stands alone, by a name for its file."""
    return {
        f"frontier-{number}": Plot(title=panel.title, panel=panel, methods=sweep.methods)
        for number, panel in enumerate(panels_of(sweep), start=1)
    }


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
        title = f"Guarantee and what is kept: {across.part}"
    elif (across, up) == sweep.usual[1:]:
        title = "A measured attack and what is kept"
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
        best = pareto_front([(dot.x, dot.y or 0.0) for dot in own], directions)
        on_line |= {dot.number for dot, flag in zip(own, best, strict=True) if flag}
    return [dot._replace(on_line=dot.number in on_line) for dot in dots]


def _dots(sweep: SweptPoints, across: Axis, up: Axis) -> Iterator[Dot]:
    """Yield what has both figures, and what has no release where its strength is known."""
    for number, setting in enumerate(sweep.settings, start=1):
        series, words = sweep.methods.index(setting.first.method), setting.first.words
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


def _rows(sweep: SweptPoints, word: Wording = str) -> Iterator[Row]:
    _, attack, use = sweep.usual
    best = best_of(sweep)
    shown = [Axis(name) for name in PLAIN]
    shown += [axis for axis in (use, attack) if axis is not None and axis not in shown]
    for number, setting in enumerate(sweep.settings, start=1):
        failure, first = setting.failure, setting.first
        means = [(axis, one.mean) for axis in shown if (one := setting.figure(axis)) is not None]
        share = Axis("kept")
        figures = [
            (word(words_of(axis)), figure_text(share if axis.question in PLAIN else axis, mean))
            for axis, mean in means
        ]
        yield Row(
            number=number,
            series=sweep.methods.index(first.method),
            words=first.words,
            status="finished" if failure is None else failure.status,
            reason="" if failure is None else word(failure.reason),
            promise=word(setting.results[0].promise),
            figures=figures,
            best=first.number in best,
            command=_command(sweep, setting),
        )


def _command(sweep: SweptPoints, setting: Setting) -> str:
    """Return what makes a release anew; empty where this version knows no such method."""
    method = known_method(setting.first.method)
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
    first = [Axis(name) for name in PLAIN]
    others = [
        axis
        for axis, direction in sweep.axes.items()
        if axis.question not in {"strength", "cost"} and direction != "for comparison"
    ]
    figures: dict[str, list[float | None]] = {}
    for axis in dict.fromkeys((*first, *others)):
        if axis in sweep.axes:
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


@dataclass(frozen=True, kw_only=True, repr=False)
class SweepReport(Illustrated):
    """The page of a sweep, for its owner.

    Parameters
    ----------
    text
        The whole file, HTML.
    figures
        The pictures of the page, by name: each can be written alone.

    Examples
    --------
    `graphveil.report_sweep` makes it.

    >>> SweepReport(text="<!doctype html>", figures={})
    SweepReport(15 characters, 0 figures)
    """

    text: str
    figures: Mapping[str, Plot]

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the page whole or not at all; only its owner can read it.

        Parameters
        ----------
        path
            The file.
        force
            Whether a file of that name is replaced.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If the file does not end in ``.html``, or exists and `force` is off.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> page = SweepReport(text="<!doctype html>", figures={})
        >>> with TemporaryDirectory() as folder:
        ...     oct(page.write(Path(folder, "ring.html")).stat().st_mode)[-3:]
        '600'
        """
        file = Path(path)
        if file.suffix != ".html":
            raise UsageError(f"{file.name} is not .html. Choose a name that ends in .html.")
        check_outside(file)
        if file.exists() and not force:
            raise UsageError(f"{file} exists. Choose another name, or set force.")
        return write_new(file, self.text.encode(), mode=OWNER_ONLY, force=True)

    def _pictures(self) -> Mapping[str, Plot]:
        return self.figures

    def _repr_html_(self) -> str:
        """Return the pictures of the page, for notebooks."""
        return "".join(figure.svg for figure in self.figures.values())

    def __repr__(self) -> str:
        """Return what it is, and its size."""
        return f"SweepReport({len(self.text):,} characters, {len(self.figures)} figures)"


def report_sweep(sweep: Sweep | str | Path) -> SweepReport:
    """Return the page of a sweep: its answer, its frontiers, and one row for each point.

    The page is for the owner of the data: it states costs and attacks on the original.

    Parameters
    ----------
    sweep
        A sweep, or the folder of one.

    Returns
    -------
    SweepReport
        The page with its pictures; `write` and `write_figures` write them.

    Raises
    ------
    UsageError
        If the folder is not a sweep.

    Examples
    --------
    >>> import graphveil as gv
    >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    >>> grid = {"k-degree": {"k": [2, 5]}}
    >>> page = gv.report_sweep(
    ...     gv.sweep(grid, ring, metrics=["edge-jaccard"], attacks=[], jobs=1)
    ... )
    >>> page.text[:15], list(page.figures)
    ('<!doctype html>', ['frontier-1'])
    """
    done = sweep if isinstance(sweep, Sweep) else read_sweep(sweep)
    return SweepReport(text=page_text(done), figures=figures_of(done))
