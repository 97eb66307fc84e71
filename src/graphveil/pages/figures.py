"""Figures for papers and notebooks: the marks of a page, as a picture that stands alone.

SVG is drawn by the code that draws pages. PDF and PNG are drawn by matplotlib from the same marks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.neighbors import check_outside
from graphveil.core.atomic import OWNER_ONLY, whole_folders
from graphveil.core.errors import UsageError
from graphveil.core.rows import Row, Rows
from graphveil.core.text import counted, printable
from graphveil.pages.charts import Bin, Mark, binned, dots_alone, steps_alone, write_new
from graphveil.pages.frontiers import Axis, Dot, Panel, scatter_alone
from graphveil.pages.html import Page
from graphveil.pages.report.legal_questions import marks_of

NO_LIBRARY = "matplotlib is required. Install the extra: pip install 'graphveil[figures]'"
PAPER = (".pdf", ".png")
COMPARED = ("original", "released", "absolute difference", "relative error")
"""Figures that a mark before and after shows."""
TITLE_LETTERS = 80
MOST_MARKS = 30
"""The most rows of one picture: more cannot be read on a page."""


class Classes(Protocol):
    """People in equivalence classes, as `measure` returns them."""

    @property
    def own_sizes(self) -> NDArray[np.int64]:
        """The class size of every person, int64, shape (n,)."""


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A picture of figures that are there already: nothing is measured for it.

    One of `marks`, `bins` and `panel` is there. In a notebook a figure shows itself.

    Parameters
    ----------
    title
        What it shows, in a sentence that a reader who sees nothing else understands.
    marks
        Shares in 0..1, a row each: before, after, a guess, an interval.
    bins
        A distribution: the share of people with at most a number, as steps.
    axis
        What the number of a distribution is.
    panel, methods
        Two figures of every point of a sweep, and its methods.

    Examples
    --------
    >>> import graphveil as gv
    >>> figure = gv.plot(gv.measure(gv.Graph.from_edges([0, 1], [1, 2]), k=2))
    >>> figure
    Plot('Sizes of equivalence classes: 3 people', 3 steps)
    >>> figure.svg.startswith("<svg")
    True
    """

    title: str
    marks: tuple[Mark, ...] = ()
    bins: tuple[Bin, ...] = ()
    axis: str = ""
    panel: Panel | None = None
    methods: tuple[str, ...] = ()

    @property
    def svg(self) -> str:
        """The picture as SVG, light and dark by what the reader prefers."""
        title, axis = (printable(text, TITLE_LETTERS) for text in (self.title, self.axis))
        if self.panel is not None:
            return str(scatter_alone(self.panel._replace(title=title), self.methods))
        if self.bins:
            return str(steps_alone(self.bins, title=title, axis=axis))
        return str(dots_alone(self.marks, title=title))

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write an SVG, PDF or PNG, by its ending; its owner alone can read it.

        What compares with an original is its owner's. Who publishes the figure changes the mode.

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
            Where the ending is another, there is such a file and `force` is off, or matplotlib is
            needed and missing.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> figure = gv.plot(gv.measure(gv.Graph.from_edges([0, 1], [1, 2]), k=2))
        >>> with TemporaryDirectory() as folder:
        ...     figure.write(Path(folder, "classes.svg")).read_text()[:4]
        '<svg'
        """
        file = Path(path)
        ending = file.suffix.lower()
        if ending not in {".svg", *PAPER}:
            raise UsageError(f"{file.name} does not end in .svg, .pdf or .png. Use one of these.")
        content = self.svg.encode() if ending == ".svg" else self._drawn(ending)
        return write_new(file, content, mode=OWNER_ONLY, force=force)

    def _drawn(self, ending: str) -> bytes:
        """Return the picture as matplotlib draws it, the same bytes each time."""
        try:
            from graphveil.pages import print_figures as paper  # noqa: PLC0415  an extra
        except ModuleNotFoundError as error:
            raise UsageError(f"{ending} cannot be drawn: {NO_LIBRARY}") from error
        title, axis = (printable(text, TITLE_LETTERS) for text in (self.title, self.axis))
        if self.panel is not None:
            drawn = paper.scatter(self.panel, self.methods)
        else:
            drawn = paper.steps(self.bins, axis) if self.bins else paper.dots(self.marks)
        drawn.axes[0].set_title(title, parse_math=False, loc="left", fontsize=10)
        stream = BytesIO()
        nothing: dict[str, Any] = {"CreationDate": None} if ending == ".pdf" else {"Software": None}
        drawn.savefig(stream, format=ending[1:], metadata=nothing, dpi=200, bbox_inches="tight")
        return stream.getvalue()

    def _repr_html_(self) -> str:
        """Return the picture for notebooks."""
        return self.svg

    def __repr__(self) -> str:
        """Return what it shows, and how much of it."""
        what = counted(len(self.bins), "step") if self.bins else counted(len(self.marks), "mark")
        if self.panel is not None:
            what = counted(len(self.panel.dots), "point")
        return f"Plot({self.title!r}, {what})"


def of_page(page: Page) -> dict[str, Plot]:
    """Return the pictures of a page, each of which stands alone, by a name for its file."""
    figures = {}
    for test in page.tests:
        marks = tuple(line.mark for line in test.lines if line.mark is not None)
        if marks:
            title = f"{test.heading} Share of {test.counted}: guess, release, original"
            figures[test.test.replace(" ", "-")] = Plot(title=title, marks=marks)
    if page.distribution:
        figures["distribution"] = Plot(
            title=f"Share of {page.counted} with at most this many: {page.distribution_of}",
            bins=tuple(page.distribution),
            axis=page.distribution_of,
        )
    return figures


def write_figures(figures: Mapping[str, Plot], folder: str | Path) -> list[Path]:
    """Write pictures into a new folder of their owner: SVG, and PDF where matplotlib is there."""
    if not figures:
        raise UsageError(
            "There are no figures in this report. Remove the folder of figures from the call."
        )
    check_outside(Path(folder))
    endings = [".svg", *([".pdf"] if find_spec("matplotlib") else [])]
    try:
        with whole_folders({Path(folder): 0o700}) as [part]:
            for name, figure in figures.items():
                for ending in endings:
                    figure.write(part / f"{name}{ending}")
    except FileExistsError as error:
        raise UsageError(f"{folder} exists. Choose another name.") from error
    return [Path(folder, f"{name}{ending}") for name in figures for ending in endings]


class Illustrated:
    """A page with pictures that can be written alone."""

    @abstractmethod
    def _pictures(self) -> Mapping[str, Plot]:
        """Return the pictures, by the names of their files."""

    def write_figures(self, folder: str | Path) -> list[Path]:
        """Write the pictures of the page into a new folder, as SVG, and PDF with matplotlib.

        `folder`: a new folder; only its owner can read it. Raises `UsageError` where there is no
        picture, or something stands there.
        """
        return write_figures(self._pictures(), folder)


def of_classes(classes: Classes) -> Plot:
    """Return how many people have at most so many look-alikes."""
    sizes = classes.own_sizes
    if not sizes.size:
        raise UsageError("There are no people in this data. Give data with people to plot it.")
    counted = getattr(classes, "counted", "people")
    who = counted if sizes.size != 1 else {"people": "person", "rows": "row"}[counted]
    return Plot(
        title=f"Sizes of equivalence classes: {sizes.size:,} {who}",
        bins=tuple(binned(sizes)),
        axis="size of the equivalence class, at most",
    )


def of_rows(rows: Rows) -> Plot:
    """Return attacks next to a guess, or what was kept, whichever the rows are of."""
    if rows and all(row.setting.edits is not None for row in rows):
        return _of_trajectories(rows)
    attacked = [row for row in rows if row.guess is not None]
    marks = marks_of(rows) if attacked else list(_kept(rows))
    if attacked and not marks:
        marks = [_mark(f"{row.question}: {row.part}", row) for row in attacked if _is_share(row)]
    if not marks:
        raise UsageError("No row is a share from 0 to 1. Plot the others from to_pandas().")
    title = "What an attacker achieves" if attacked else "What was kept"
    more = len(marks) - MOST_MARKS
    title += f": the first {MOST_MARKS} of {len(marks)}" if more > 0 else ""
    return Plot(title=title, marks=tuple(marks[:MOST_MARKS]))


def _of_trajectories(rows: Rows) -> Plot:
    """Return a curve for each heuristic: unique nodes over edits."""
    names = list(dict.fromkeys(row.release for row in rows))
    dots = [
        Dot(number, names.index(row.release), row.part, float(row.setting.edits or 0), row.value)
        for number, row in enumerate(rows, start=1)
    ]
    axes = Axis("edges changed"), Axis("unique nodes", share=True)
    title = "Unique nodes after so many edits"
    return Plot(title=title, panel=Panel(title, *axes, dots), methods=tuple(names))


def _kept(rows: Rows) -> Iterator[Mark]:
    """Yield a mark for what was measured before and after, one for every other share."""
    for question in dict.fromkeys(row.question for row in rows):
        mine = {(row.setting, row.figure): row for row in rows if row.question == question}
        for (setting, figure), row in mine.items():
            before = mine.get((setting, "original")) if figure == "released" else None
            if not _is_share(row):
                continue
            if before is not None and _is_share(before):
                label = f"{question}: {setting.of}" if setting.of else question
                yield _mark(label, row, before=before.value)
            elif row.direction and figure not in COMPARED:
                label = question if row.part in {"all", "released"} else f"{question}: {row.part}"
                yield _mark(label, row)


def _is_share(row: Row) -> bool:
    named = row.unit.startswith("share") or row.unit == "ratio"
    return named and row.value is not None and 0.0 <= row.value <= 1.0


def _mark(label: str, row: Row, *, before: float | None = None) -> Mark:
    return Mark(label, row.value or 0.0, before, row.low, row.high, row.guess)
