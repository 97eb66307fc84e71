"""A sweep as users see it: an answer, a line for each point, rows, pictures and its page."""

from __future__ import annotations

import math
import operator
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, get_args

from graphveil.attacks.registry import ATTACKS
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.manifest import check_outside
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import UsageError, visible
from graphveil.core.lazy import AsStream, above
from graphveil.core.rows import Rows
from graphveil.core.text import Wording, counted, percent, worded_for_page
from graphveil.core.version import __version__
from graphveil.data.kinds import KINDS
from graphveil.methods import METHODS
from graphveil.methods.registry import known_method
from graphveil.verbs.report import frontiers
from graphveil.verbs.report.charts import NONE, plain, write_new
from graphveil.verbs.report.document import anonymize_command, command_line
from graphveil.verbs.report.figures import Figure, Illustrated
from graphveil.verbs.report.frontiers import Dot, Panel
from graphveil.verbs.report.pages import Row, SweepPage, picture_html, sweep_html
from graphveil.verbs.sweep.figures import (
    STRENGTHS,
    Axis,
    Setting,
    SweptPoints,
    pareto_front,
    write_table,
)
from graphveil.verbs.sweep.grid import Status

if TYPE_CHECKING:
    import pyarrow as pa

WORDS: dict[str, str] = {
    "k": "equivalence class size, at least",
    "epsilon": "epsilon (lower is more private)",
    "edge-jaccard: all": "edges kept and true",
    "entry-jaccard: all": "items kept and true",
    "cells-shown: all": "cells shown",
    "kept": "kept",
    "candidate-set: degree and triangles, right guess": (
        "re-identified by an attacker who knows degree and triangles"
    ),
    "linkage: 4 known, 0 false: own row": (
        "re-identified by an attacker who knows 4 items or cells"
    ),
    "matching: best guess, mean": "re-identified by an attacker who has the original table",
}
"""What a reader calls a figure."""

SHARES = frozenset(WORDS) - {"k", "epsilon"}
"""Figures among them that are shares: they are shown in percent."""


def words_of(axis: Axis) -> str:
    """Return what a reader calls a figure.

    >>> words_of(Axis("edge-jaccard", "all")), words_of(Axis("diameter", "original"))
    ('edges kept and true', 'diameter: original')
    """
    return WORDS.get(str(axis), str(axis))


def figure_text(axis: Axis, value: float) -> str:
    """Return a figure as a person reads it: shares in percent.

    >>> figure_text(Axis("kept"), 0.98), figure_text(Axis("strength", "k"), 5.0)
    ('98%', '5')
    """
    return percent(value) if str(axis) in SHARES else plain(value)


def answer_of(sweep: SweptPoints, until: Sequence[str], met: Collection[int] | None) -> str:
    """Return the answer in a sentence: how many points keep the bounds, or how points ended."""
    whole = len(sweep.results)
    counts = sweep.counts
    ended = ", ".join(f"{counts[one]} {one}" for one in get_args(Status) if one in counts)
    points = counted(whole, "point")
    if met is None:
        return f"{points}: {ended}."
    bounds = " and ".join(until)
    some = "No point meets" if not met else "1 point meets" if len(met) == 1 else ""
    return f"{some or counted(len(met), 'point', 'meet')} {bounds}. {points}: {ended}."


LARGER = ("k", "levels")
"""Parameters of which a larger value protects more."""


class _Pair(NamedTuple):
    """Settings that differ in one parameter alone, and what the strongest attack reaches."""

    name: str
    weak: Setting
    strong: Setting
    before: float
    after: float


_Found = Mapping[tuple[str, str], tuple[float, float]]
"""What each attack re-identifies, and what a guess does."""


def warning_of(sweep: SweptPoints) -> str:
    """Return where a larger k hardly lowers the strongest attack, and what to use instead.

    It says one pair of settings a method, which differ in nothing else: that of the largest share.
    Attacks count that ran at both ends and on every repeat. Empty where there is no such pair.
    """
    worst: dict[str, _Pair] = {}
    for pair in (pair for name in LARGER for pair in _hardly(sweep, name)):
        method = pair.weak.first.method
        worst[method] = max(pair, worst.get(method, pair), key=lambda one: one.after)
    if not worst:
        return ""
    said = [
        f"The strongest attack here re-identifies {percent(pair.before)} of its targets with "
        f"{pair.weak.first.words}, and {percent(pair.after)} with {pair.strong.first.words}. "
        f"A larger {pair.name} hardly lowers this share."
        for pair in worst.values()
    ]
    return " ".join([*said, _instead(sweep)])


def _hardly(sweep: SweptPoints, name: str) -> Iterator[_Pair]:
    """Yield the least and the largest value of a parameter where the second hardly helps."""
    from graphveil.verbs.advise.page import hardly_lowers  # noqa: PLC0415  few sweeps get so far

    alike: dict[str, list[tuple[int, Setting]]] = {}
    for setting in sweep.settings:
        parameters = dict(setting.first.parameters)
        value = parameters.pop(name, None)
        if isinstance(value, int) and setting.failure is None:
            alike.setdefault(f"{setting.first.method} {parameters!r}", []).append((value, setting))
    for ends in alike.values():
        (least, weak), (most, strong) = (
            choose(ends, key=lambda end: end[0]) for choose in (min, max)
        )
        if least == most:
            continue
        first, last = (_found(sweep, one) for one in (weak, strong))
        both = first.keys() & last.keys()
        before, guess = max((first[key] for key in both), default=(0.0, 0.0))
        after = max((last[key][0] for key in both), default=0.0)
        if hardly_lowers(before, after, guess):
            yield _Pair(name, weak, strong, before, after)


def _found(sweep: SweptPoints, setting: Setting) -> _Found:
    """Return the mean share that each attack re-identifies, and that of a guess."""
    from graphveil.core.rows import Row as Figured  # noqa: PLC0415  as above
    from graphveil.core.rows import Setting as Measured  # noqa: PLC0415  as above
    from graphveil.verbs.advise.page import re_identifying  # noqa: PLC0415  as above

    repeats: list[dict[tuple[str, str], tuple[float, float]]] = []
    for result in setting.results:
        rows = [
            Figured(**{**row, "setting": Measured(**row["setting"])})
            for row in result.rows
            if row["question"] in ATTACKS and row["value"] is not None
        ]
        most: dict[tuple[str, str], tuple[float, float]] = {}
        of_table = sweep.plan.kind == "table"
        for key, row in re_identifying(Rows(rows), "people", of_table=of_table):
            share = (row.value or 0.0, row.guess or 0.0)
            most[key] = max(share, most.get(key, share))
        repeats.append(most)
    common = [key for key in repeats[0] if all(key in one for one in repeats)]
    return {
        key: (fmean(one[key][0] for one in repeats), fmean(one[key][1] for one in repeats))
        for key in common
    }


def _instead(sweep: SweptPoints) -> str:
    """Return the method with differential privacy to try: of the sweep that with least risk."""
    from graphveil.verbs.advise.page import NONE_IS_PRIVATE  # noqa: PLC0415  as above

    container = KINDS[sweep.plan.kind].container
    fitting = [
        name
        for name, method in METHODS.items()
        if container in method.accepts
        and isinstance(method.from_parameters(method.example).guarantee, EdgeDP | NodeDP)
    ]
    if not fitting:
        return NONE_IS_PRIVATE
    reached = {
        one.first.words: max(share for share, _ in found.values())
        for one in sweep.settings
        if one.first.method in fitting and one.failure is None and (found := _found(sweep, one))
    }
    words = min(reached, key=lambda words: reached[words], default=fitting[0])
    measured = f" (here {percent(reached[words])})" if words in reached else ""
    return f"Consider a method with differential privacy, such as {words}{measured}."


def lines_of(sweep: SweptPoints, met: Collection[int] | None = None) -> Iterator[tuple[str, str]]:
    """Yield the figures and the words of each point, and the reason of each without a release.

    First come points that keep the bounds, then those that no other beats; last, those without one.
    """
    _, *axes = sweep.usual
    for nth, axis in zip(("first", "second"), axes, strict=True):
        if axis is not None:
            yield "", f"{nth} figure: {words_of(axis)}"
    best = _best(sweep)
    lines = []
    for setting in sweep.settings:
        first, failure = setting.first, setting.failure
        is_met = met is not None and all(point.number in met for point in setting.points)
        means = [axis and (figure := setting.figure(axis)) and figure.mean for axis in axes]
        rank = (failure is not None, not is_met, first.number not in best)
        order = (*rank, math.inf if means[0] is None else means[0])
        if failure is not None:
            lines.append((order, f"  {failure.status}: ", f"{first.words}: {failure.reason}"))
            continue
        cells = (
            NONE if axis is None or mean is None else figure_text(axis, mean)
            for axis, mean in zip(axes, means, strict=True)
        )
        notes = ["meets every bound"] * is_met
        notes += ["no other point dominates it"] * (first.number in best)
        note = f" ({', '.join(notes)})" if notes else ""
        shown = "  {:>9} {:>9}  ".format(*cells)
        lines.append((order, shown, f"{first.words}{note}"))
    yield from (line[1:] for line in sorted(lines, key=operator.itemgetter(0)))


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


def figure_of(sweep: SweptPoints, across: Axis, up: Axis) -> Figure:
    """Return one picture that stands alone."""
    panel = panel_of(sweep, across, up)
    if not panel.dots:
        raise UsageError(
            "No point has both figures. Choose others, or run a sweep with other points."
        )
    return Figure(title=panel.title, panel=panel, methods=sweep.methods)


def figures_of(sweep: SweptPoints) -> dict[str, Figure]:
    """Return the pictures of the page, each of which stands alone, by a name for its file."""
    return {
        f"frontier-{number}": Figure(title=panel.title, panel=panel, methods=sweep.methods)
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
    best = _best(sweep)
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


def _best(sweep: SweptPoints) -> set[int]:
    _, attack, use = sweep.usual
    if attack is None or use is None:
        return set()
    return {row["point"] for row in sweep.frontier().to_pylist() if row["best"]}


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


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Sweep(SweptPoints, Illustrated, AsStream):
    """What every point of a sweep came to; each has rows, or its reason why not.

    Parameters
    ----------
    plan
        What was run.
    results
        What became of every point, by its number.
    folder
        Where its releases lie; None where they were not kept.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    >>> sweep = gv.sweep(
    ...     {"k-degree": {"k": [2, 5, 9]}}, graph, metrics=["edge-jaccard"], attacks=[], jobs=1
    ... )
    >>> sweep.rows.num_rows > 3, [setting.first.given for setting in sweep.settings]
    (True, ['k=2', 'k=5', 'k=9'])
    """

    def to_arrow(self) -> pa.Table:
        """Return the rows."""
        return self.rows

    def plot(self, x: str | None = None, y: str | None = None) -> Figure:
        """Return two figures of every point as a picture that stands alone: SVG, PDF, PNG.

        Parameters
        ----------
        x, y
            As `frontier` takes them; without them, a measured attack against what is kept.

        Raises
        ------
        ParameterError
            Where no point has such a figure.
        UsageError
            Where no point has both.

        Examples
        --------
        >>> import graphveil as gv
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
        >>> grid = {"k-degree": {"k": [2, 5]}}
        >>> gv.sweep(grid, ring, metrics=["edge-jaccard"], attacks=[], jobs=1).plot("k", "kept")
        Figure('Guarantee and what is kept: k', 2 points)
        """
        return figure_of(self, *self.chosen(x, y))

    def _pictures(self) -> Mapping[str, Figure]:
        return figures_of(self)

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the table (``.parquet``) or the page (``.html``), for its owner alone.

        Parameters
        ----------
        path
            The file; its extension says what is written.
        force
            Whether a file of that name is replaced.

        Raises
        ------
        UsageError
            Where the extension is another one, or there is such a file and `force` is off.
        """
        file = Path(path)
        if file.suffix not in {".parquet", ".html"}:
            raise UsageError(f"{file.name} is neither .parquet nor .html. Choose one of them.")
        check_outside(file)
        if file.exists() and not force:
            raise UsageError(f"{file} exists. Choose another name, or set force.")
        if file.suffix == ".parquet":
            return write_table(self.rows, file)
        return write_new(file, page_text(self).encode(), mode=OWNER_ONLY, force=True)

    def write_paper(self, folder: str | Path) -> list[Path]:
        """Write what a paper needs into a new folder, for its owner alone; return the files.

        A table for LaTeX (mean and standard deviation, the best in bold), every figure as CSV, PDF
        figures over the strength, BibTeX entries, and seeds, versions and digests. A seed is a
        secret of the owner: it is in ``origin.json``.

        Parameters
        ----------
        folder
            A new folder.

        Raises
        ------
        UsageError
            Where something stands there, no point has a release, or matplotlib is missing.
        """
        files: list[Path] = above("Sweep.write_paper")(self, folder)
        return files

    def _repr_html_(self) -> str:
        """Return the picture of the frontier, for notebooks."""
        return picture_html(panels_of(self), self.methods)

    def __repr__(self) -> str:
        """Return how many points ended in which way, and a line for each of the first ten."""
        ended = ", ".join(f"{number} {status}" for status, number in self.counts.items())
        lines = [f"Sweep of {counted(len(self.results), 'point')}: {ended}; see rows"]
        lines += [f"  {text}" for text in list(self._lines())[:10]]
        more = len(self.settings) - 10
        lines += [f"  and {more} more"] if more > 0 else []
        warning = warning_of(self)
        return "\n".join(map(visible, lines + ([warning] if warning else [])))

    def _lines(self) -> Iterator[str]:
        _, attack, use = self.usual
        for setting in self.settings:
            failure = setting.failure
            if failure is not None:
                yield f"{setting.first.words}: {failure.status}: {failure.reason}"
                continue
            axes = [axis for axis in (attack, use) if axis is not None]
            figures = [(axis, setting.figure(axis)) for axis in axes]
            shown = [f"{axis} {figure.mean:.3g}" for axis, figure in figures if figure]
            yield f"{setting.first.words}: {', '.join(shown)}"
