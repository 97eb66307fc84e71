"""The page of a sweep: what it shows, as values, and the one HTML file that a template makes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from graphveil.report.frontiers import SYMBOLS, Panel, mark_of, scatter
from graphveil.report.pages import TEMPLATES, room
from graphveil.terminal import visible_json

MOST_FIGURES_BYTES = 300_000
"""So much of the page may be figures that its filter reads."""

WORDS: tuple[tuple[str, str], ...] = (
    (
        "Best",
        "No other one is better in one of the two figures and not worse in the other.",
    ),
    (
        "Epsilon",
        "How much one tie or item can change the chances of a release: the less, the more private.",
    ),
    ("Infeasible", "The data cannot keep the promise with these parameters."),
    (
        "Kept and true",
        "Of all that stands in the original or in the release, the share that stands in both.",
    ),
    ("Look-alikes", "People of whom the release shows the same; k is the fewest."),
    ("Out of time", "The point used more CPU time than it was given."),
    ("Point", "One release, by one method with its parameters."),
    ("Re-identified", "An attacker who has to name one person for a record names the right one."),
    ("Repeat", "One release of a point; figures are means over the repeats, bars span them."),
    (
        "Trial",
        "A release that was made to be compared with others. One of them may be published at most.",
    ),
)
"""The glossary."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One point as the page lists it.

    Parameters
    ----------
    number, series, words
        As in `graphveil.report.frontiers.Dot`.
    status, reason
        How it ended, and why it has no release.
    promise
        What its release claims.
    figures
        Name and text of what is shown of it.
    best
        Whether no other point is better.
    command
        What makes such a release anew.
    """

    number: int
    series: int
    words: str
    status: str
    reason: str
    promise: str
    figures: Sequence[tuple[str, str]]
    best: bool
    command: str


@dataclass(frozen=True, kw_only=True)
class SweepPage:
    """Everything that the page of a sweep shows.

    Parameters
    ----------
    title, answer
        What it is about, and how its points ended.
    facts
        Words and values of the first screen.
    methods
        The methods, in the order of their marks.
    panels
        The pictures.
    rows
        The points.
    figures
        Of every figure its values, one a row; None where a point lacks it. The filter reads them.
    commands, versions
        Lines that repeat it, and on versions.
    """

    title: str
    answer: str
    facts: Sequence[tuple[str, str]]
    methods: Sequence[str]
    panels: Sequence[Panel]
    rows: Sequence[Row]
    figures: Mapping[str, Sequence[float | None]]
    commands: Sequence[str]
    versions: Sequence[str] = ()

    @property
    def without(self) -> list[Row]:
        """The points that have no release."""
        return [row for row in self.rows if row.status != "finished"]


def sweep_html(page: SweepPage) -> str:
    """Return the page as one self-contained HTML file; its script only hides what bounds leave out.

    Every text is escaped, and what a reader would not see is made visible.

    Examples
    --------
    >>> page = SweepPage(
    ...     title="<script>",
    ...     answer="0 points.",
    ...     facts=[],
    ...     methods=[],
    ...     panels=[],
    ...     rows=[],
    ...     figures={"</script>": []},
    ...     commands=[],
    ... )
    >>> text = sweep_html(page)
    >>> "&lt;script&gt;" in text, text.count("</script>")
    (True, 2)
    """
    script = (TEMPLATES / "sweep.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        room()
        .get_template("sweep.html")
        .render(
            page=page,
            words=WORDS,
            script=Markup(script),  # noqa: S704  a file of this package
            digest=digest,
            data=_data(fitting_figures(page.figures, len(page.rows))),
            names=list(fitting_figures(page.figures, len(page.rows))),
            symbols=SYMBOLS,
            pictures=[(panel, scatter(panel)) for panel in page.panels],
            mark_of=mark_of,
        )
    )


def fitting_figures(
    figures: Mapping[str, Sequence[float | None]], rows: int
) -> dict[str, Sequence[float | None]]:
    """Return as many figures as a page has room for, the first ones.

    Examples
    --------
    >>> list(fitting_figures({"kept": [1.0], "false": [0.0]}, 1))
    ['kept', 'false']
    """
    most = MOST_FIGURES_BYTES // (10 * max(rows, 1) + 80)
    return dict(list(figures.items())[:most])


def _data(figures: Mapping[str, Sequence[float | None]]) -> Markup:
    """Return figures as JSON that ends no script and hides no character."""
    short = {
        name: [None if value is None else float(f"{value:.6g}") for value in values]
        for name, values in figures.items()
    }
    text = visible_json(json.dumps(short, separators=(",", ":"), ensure_ascii=True))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))  # noqa: S704  escaped here


def picture_html(panels: Sequence[Panel], methods: Sequence[str]) -> str:
    """Return pictures alone, with the style that they need, for a notebook."""
    parts: dict[str, Any] = {
        "symbols": SYMBOLS,
        "pictures": [(panel, scatter(panel)) for panel in panels],
        "methods": methods,
        "mark_of": mark_of,
    }
    return room().get_template("sweep_picture.html").render(**parts)
