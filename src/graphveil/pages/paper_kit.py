"""What a paper needs of a sweep: tables for LaTeX, figures, references and where figures come from.

The best figure of a column is in bold; a figure over several releases has its standard deviation.
"""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from graphveil.claims.neighbors import check_outside
from graphveil.core.atomic import whole_folders
from graphveil.core.errors import UsageError
from graphveil.core.stated_parameters import concealed_parameters
from graphveil.core.version import __version__
from graphveil.io.datasets import DATASETS, load
from graphveil.methods.registry import known_method
from graphveil.pages.figures import NO_LIBRARY, Plot
from graphveil.pages.sweep import panel_of
from graphveil.release import digest_of
from graphveil.verbs.sweep.points import STRENGTHS, Axis, Setting, value_of
from graphveil.verbs.sweep.results import Sweep, words_of

TABLE, EVERY, BIB, ORIGIN = "results.tex", "figures.csv", "references.bib", "origin.json"
"""The files of a kit apart from its pictures."""

DIGITS = 3
"""Decimals of a figure below 10; a larger one has fewer."""

HEAD = "2.4cm"
"""How wide the head of a figure is: its words are set in lines."""

PACKAGES = ("numpy", "scipy", "numba", "duckdb", "pyarrow", "rustworkx")
"""Libraries whose versions can change a figure."""

_SPECIAL = {
    **{one: f"\\{one}" for one in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # \textquotedbl needs another encoding than LaTeX's own
}


def tex(text: str) -> str:
    r"""Return a text as LaTeX sets it, whatever is in it.

    >>> print(tex("k=5, 50% of a_b --flag"))
    k=5, 50\% of a\_b -{}-flag
    """
    letters = (_SPECIAL.get(letter, letter if letter.isprintable() else " ") for letter in text)
    return "".join(letters).replace("--", "-{}-").replace("--", "-{}-")  # no dash is made of them


class Cell(NamedTuple):
    """A figure of a setting over its releases."""

    mean: float
    deviation: float | None  # the sample standard deviation; None where there is one release
    releases: int

    @property
    def text(self) -> str:
        r"""The figure as LaTeX sets it.

        >>> print(Cell(0.98765, 0.0123, 5).text)
        0.988 \(\pm\) 0.012
        """
        if self.deviation is None and self.mean == int(self.mean):
            return f"{self.mean:.0f}"
        places = max(DIGITS + 1 - len(str(int(abs(self.mean)))), 0)
        if self.deviation is None:
            return f"{self.mean:.{places}f}"
        return rf"{self.mean:.{places}f} \(\pm\) {self.deviation:.{places}f}"


def cell_of(setting: Setting, axis: Axis) -> Cell | None:
    """Return a figure of a setting; None where one of its releases lacks it."""
    values = [value_of(result, axis) for result in setting.results]
    known = [value for value in values if value is not None]
    if setting.failure is not None or len(known) < len(values):
        return None
    return Cell(fmean(known), stdev(known) if len(known) > 1 else None, len(known))


def _shown(setting: Setting, axis: Axis) -> Cell | None:
    """Return a figure as the table has it: a strength is asked for, so it does not deviate."""
    cell = cell_of(setting, axis)
    return cell._replace(deviation=None) if cell and axis.question == "strength" else cell


def columns_of(sweep: Sweep) -> list[Axis]:
    """Return the figures of the table: strengths, what is kept, what is false, an attack."""
    _, attack, use = sweep.usual
    asked = [Axis("strength", part) for part in STRENGTHS]
    asked += [axis for axis in (use, Axis("false"), attack) if axis is not None]
    return [axis for axis in asked if axis in sweep.axes]


def best_of(cells: Sequence[Cell | None], direction: str) -> set[int]:
    """Return which cells are best by their printed digits; none where nothing is better.

    >>> best_of([Cell(0.5, None, 1), None, Cell(0.9, None, 1)], "higher is better")
    {2}
    """
    sign = {"higher is better": 1, "lower is better": -1}.get(direction)
    known = {number: cell for number, cell in enumerate(cells) if cell is not None}
    if sign is None or len(known) < 2:
        return set()
    most = max(sign * cell.mean for cell in known.values())
    first = next(cell for cell in known.values() if sign * cell.mean == most)
    shown = first.text.partition(" ")[0]
    return {number for number, cell in known.items() if cell.text.partition(" ")[0] == shown}


def table_text(sweep: Sweep) -> str:
    """Return the table of the settings, for a document that uses booktabs."""
    axes = columns_of(sweep)
    columns = [[_shown(setting, axis) for setting in sweep.settings] for axis in axes]
    best = [
        set() if axis.question == "strength" else best_of(cells, sweep.axes[axis])
        for axis, cells in zip(axes, columns, strict=True)
    ]
    heads = [
        rf"\multicolumn{{1}}{{p{{{HEAD}}}}}{{\raggedleft {tex(words_of(one))}}}" for one in axes
    ]
    head = " & ".join(["method", "parameters", *heads])
    lines = []
    for number, setting in enumerate(sweep.settings):
        cells = [
            rf"\textbf{{{cell.text}}}" if cell and number in own else cell.text if cell else "--"
            for cells, own in zip(columns, best, strict=True)
            for cell in [cells[number]]
        ]
        first = setting.first
        lines.append(" & ".join([tex(first.method), tex(first.given), *cells]) + r" \\")
    repeats = sweep.plan.repeats
    mean = "one release" if repeats == 1 else f"mean and standard deviation of {repeats} releases"
    return "\n".join(
        (
            r"% needs \usepackage{booktabs}",
            r"\begin{tabular}{ll" + "r" * len(axes) + "}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            f"% {mean}; bold: the best of a column, of those that are measured",
            "",
        )
    )


def figures_text(sweep: Sweep) -> str:
    """Return every figure of every setting as CSV: mean, standard deviation, releases."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = ["method", "parameters", "figure", "direction", "mean", "deviation", "releases"]
    writer.writerow(names)
    for setting in sweep.settings:
        for axis, direction in sweep.axes.items():
            cell = cell_of(setting, axis)
            if cell is not None:
                first = setting.first
                writer.writerow([first.method, first.given, str(axis), direction, *cell])
    return stream.getvalue()


def pictures_of(sweep: Sweep) -> dict[str, Plot]:
    """Return the figures as papers draw them: a figure over the strength, a line a method."""
    columns = columns_of(sweep)
    across = [axis for axis in columns if axis.question == "strength"]
    made = {}
    for x in across:
        for y in (axis for axis in columns if axis.question != "strength"):
            panel = panel_of(sweep, x, y)
            dots = [dot._replace(on_line=dot.y is not None) for dot in panel.dots]
            if any(dot.y is not None for dot in dots):
                title = f"{words_of(y)} by {x.part}"
                panel = panel._replace(title=title, dots=dots)
                name = f"{x.part}-{y.question.replace(' ', '-')}"
                made[name] = Plot(title=title, panel=panel, methods=sweep.methods)
    return made


ENTRIES = {
    entry.partition("{")[2].partition(",")[0]: f"{entry.rstrip()}\n"
    for entry in Path(__file__).with_name("papers.bib").read_text(encoding="utf-8").split("\n\n")
}
"""The papers of the published systems, as BibTeX, by their keys."""

PAPERS = {
    "k-degree": "liu2008",
    "structural": "dejong2024",
    "adaptive": "choromanski2013",
    "cluster-k": "choromanski2013",
    "top-m-filter": "nguyen2015",
    "dp-1k": "nguyen2015",
    "smooth-k": "esfandiari",
    "suppress-k": "esfandiari",
    "randomized-response": "esfandiari",
}
"""The paper of each method that has one of them; others are cited by the words of their source."""


def references_text(sweep: Sweep) -> str:
    """Return BibTeX entries of the methods, the data and the program."""
    cited = dict.fromkeys(PAPERS[name] for name in sweep.methods if name in PAPERS)
    entries = [ENTRIES[key] for key in cited]
    for name in sweep.methods:
        method = known_method(name)
        if name not in PAPERS and method is not None:
            entries.append(_entry(name, name, note=tex(method.card.source)))
    entries.append(_data_entry(sweep))
    entries.append(_entry("graphveil", "graphveil", note=tex(f"version {__version__}")))
    return "\n".join(entries)


def _data_entry(sweep: Sweep) -> str:
    digest = sweep.plan.input_sha256
    for name, item in DATASETS.items():
        if item.kind == sweep.plan.kind and digest_of(load(name)) == digest:
            return _entry("data", name, note=tex(item.source), url=item.url)
    title = Path(sweep.plan.original[0]).name if sweep.plan.original else "data of the sweep"
    return _entry("data", tex(title), note=f"SHA-256 as read: {digest}")


def _entry(key: str, title: str, **fields: str) -> str:
    """Return an entry without authors, which is sorted by its title."""
    named = {"key": title, "title": f"{{{title}}}", **fields}
    lines = [f"  {name} = {{{value}}}," for name, value in named.items()]
    return "\n".join((f"@misc{{{key},", *lines, "}", ""))


def origin_of(sweep: Sweep) -> dict[str, Any]:
    """Return where the figures come from: seeds, versions and digests."""
    plan, points = sweep.plan, []
    for one in plan.points:
        method, given = known_method(one.method), one.parameters
        if method is not None:  # as a manifest would state them, if it withholds any
            given = given | concealed_parameters(method.from_parameters(given))
        own = {"method": one.method, "parameters": given, "draw": one.draw, "seed": one.seed}
        points.append(own | {"status": sweep.results[one.number].status})
    return {
        "graphveil": plan.tool,
        "kit": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries_when_the_kit_was_made": {name: version(name) for name in PACKAGES},
        "data": {"sha256": plan.input_sha256, "kind": plan.kind, "read_as": plan.reading},
        "seed": plan.seed,
        "measuring_seed": plan.measuring_seed,
        "repeats": plan.repeats,
        "points": points,
    }


def write_paper(sweep: Sweep, folder: str | Path) -> list[Path]:
    """Write the kit of a sweep into a new folder of its owner, and return its files.

    Parameters
    ----------
    sweep
        A sweep with at least one release.
    folder
        A new folder; only its owner can read it.

    Returns
    -------
    list of Path
        The files: a table for LaTeX (mean and standard deviation, the best in bold), every figure
        as csv, PDF figures over the strength, BibTeX entries, and ``origin.json`` with seeds,
        versions and digests. A seed is a secret of the owner.

    Raises
    ------
    UsageError
        If the folder exists, no point has a release, or matplotlib is missing.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import graphveil as gv
    >>> ring = gv.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    >>> done = gv.sweep(
    ...     {"k-degree": {"k": [2, 5]}}, ring, metrics=["edge-jaccard"], attacks=[], jobs=1
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     made = write_paper(done, Path(folder, "paper"))
    >>> [file.name for file in made][:4]
    ['results.tex', 'figures.csv', 'references.bib', 'origin.json']
    """
    if "finished" not in sweep.counts:
        raise UsageError("No point of this sweep has a release. Run it with other points.")
    if find_spec("matplotlib") is None:
        raise UsageError(f"The figures of a paper are PDF: {NO_LIBRARY}")
    check_outside(Path(folder))
    texts = {
        TABLE: table_text(sweep),
        EVERY: figures_text(sweep),
        BIB: references_text(sweep),
        ORIGIN: json.dumps(origin_of(sweep), indent=2) + "\n",
    }
    pictures = pictures_of(sweep)
    try:
        with whole_folders({Path(folder): 0o700}) as [part]:
            for name, text in texts.items():
                (part / name).write_text(text, encoding="utf-8", newline="\n")
                (part / name).chmod(0o600)
            for name, picture in pictures.items():
                picture.write(part / f"{name}.pdf")
    except FileExistsError as error:
        raise UsageError(f"{folder} exists. Choose another name.") from error
    return [Path(folder, name) for name in (*texts, *(f"{name}.pdf" for name in pictures))]
