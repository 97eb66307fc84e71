"""A page: what it shows, as values, and the one HTML file that a template makes of them.

The page of a sweep: what it shows, as values, and the one HTML file that a template makes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from graphveil.attacks.wording import Counted
from graphveil.core.text import percent, printable, visible, visible_json
from graphveil.evaluate.wording import Line
from graphveil.verbs.report.charts import NONE, Bin, Mark, count, described, dots, steps
from graphveil.verbs.report.frontiers import SYMBOLS, Panel, mark_of, scatter
from graphveil.verbs.report.legal_questions import Answers

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
LONGEST_TEXT = 4_000
"""The most characters of a text that others wrote which a page shows."""

WORDS: tuple[tuple[str, str], ...] = (
    ("After", "In the release."),
    ("Before", "The original with new ids only, attacked in the same way."),
    ("Bounded", "The release process limits what anyone can learn, whatever else they know."),
    ("Connection", "Two people who are connected in the network."),
    ("Guarantee", "What holds for every person covered, against the attacker it names."),
    ("Guess", "What someone achieves without seeing the release."),
    (
        "Interval",
        "Confidence interval: in repeated sampling, 95% of such intervals contain the true value.",
    ),
    ("Look-alikes", "People whom the release does not distinguish."),
    ("No attack succeeded", "An attack was run and did not succeed. This proves nothing."),
    ("Not in the data", "The same figure for people who are not in the data."),
    ("Triangle", "Three people who are all connected to each other."),
    ("Verified", "Recomputed from the published files, by code independent of the method."),
    ("Worst 1%", "Mean risk of the 1% of people most at risk, over everything the attack tried."),
)
"""The glossary: at most 15 words."""


@dataclass(frozen=True, kw_only=True)
class UniquenessRow:
    """How many people stand out, to someone who knows one thing of each.

    Shares are in 0..1; None where there is no original, or no k.
    """

    known: str
    alone: float
    alone_before: float | None = None
    few: float | None = None
    few_before: float | None = None


@dataclass(frozen=True, kw_only=True)
class Page:
    """Everything that a page shows.

    Parameters
    ----------
    public
        Whether it may be published.
    title, answer, because, quote, unit
        What it is about, the verdict in a sentence, how many checks stand behind it, the promise,
        and its unit.
    good
        Whether the release keeps what it claims and no attack that was run succeeded; None where
        there is not enough to say, or an attack succeeded although the guarantee holds.
    attacked
        The strongest attack that was run, in a sentence.
    checks
        The checks that fail or that the promise hangs on: name and detail.
    facts
        Words and values of the first screen.
    recipient
        To whom it is released; None where that was not declared.
    declared
        What else was declared: name and text.
    tests
        The three tests.
    standing, fewer_than
        Who stands out, and the k that `few` counts below.
    kept
        What was kept.
    distribution, distribution_of
        Bins, and what they count.
    kinds
        The kinds of people who stand out most.
    counted
        What is counted: people, or rows where nobody said that they are people.
    limits
        What it does not protect against.
    commands
        Lines that repeat it.
    versions
        Lines on version and digests.
    missing
        Sections that could not be made: name and reason.
    """

    public: bool
    title: str
    answer: str
    good: bool | None
    attacked: str = ""
    because: str = ""
    quote: str = ""
    unit: str = ""
    checks: Sequence[tuple[str, str]] = ()
    facts: Sequence[tuple[str, str]] = ()
    recipient: str | None = None
    declared: Sequence[tuple[str, str]] = ()
    tests: Sequence[Answers] = ()
    standing: Sequence[UniquenessRow] = ()
    fewer_than: int | None = None
    kept: Sequence[Line] = ()
    distribution: Sequence[Bin] = ()
    distribution_of: str = ""
    kinds: Sequence[str] = ()
    counted: Counted = "people"
    limits: str = ""
    commands: Sequence[str] = ()
    versions: Sequence[str] = ()
    missing: Sequence[tuple[str, str]] = ()
    words: Sequence[tuple[str, str]] = field(default=WORDS)

    @property
    def has_before(self) -> bool:
        """Whether there is an original beside the release."""
        return any(one.alone_before is not None for one in self.standing)


def html_of(page: Page) -> str:
    """Return the page as one self-contained HTML file without a script.

    Every text is escaped, and what a reader would not see is made visible.

    Examples
    --------
    >>> text = html_of(Page(public=True, title="<script>", answer="{{7*7}}", good=True))
    >>> "&lt;script&gt;" in text, "{{7*7}}" in text, "<script" in text
    (True, True, False)
    """
    jinja = room()
    jinja.filters |= {"percent": _percent, "count": count}
    jinja.globals |= {"pictures": _pictures(page), "dash": NONE}
    return jinja.get_template("page.html").render(page=page)


def room() -> Environment:
    """Return what makes pages of templates: every text is escaped, and none hides a character."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  for pages

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: Any) -> Any:
    """Return a text as a page shows it: no character hides, none of them all alone is endless."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable(visible(value), LONGEST_TEXT)
    return value


def _percent(share: float | None) -> str:
    return NONE if share is None else percent(share)


def _pictures(page: Page) -> dict[str, Any]:
    """Return the pictures, and the rows behind each, by section."""
    pictures: dict[str, Any] = {}
    for test in page.tests:
        marks: list[Mark] = [line.mark for line in test.lines if line.mark is not None]
        if marks:
            title = f"{test.heading} Share of {test.counted}: guess, release, original"
            rows = [described(mark) for mark in marks]
            pictures[test.test] = {"svg": dots(marks, title=title), "rows": rows}
    if page.distribution:
        title = f"Share of {page.counted} with at most this many: {page.distribution_of}"
        pictures["distribution"] = {"svg": steps(page.distribution, title=title)}
    return pictures


MOST_FIGURES_BYTES = 300_000
"""So much of the page may be figures that its filter reads."""

WORDS_OF_SWEEPS: tuple[tuple[str, str], ...] = (
    (
        "Best",
        "No other point is better in one of the two figures and at least as good in the other.",
    ),
    (
        "Epsilon",
        (
            "How much one connection or item can change the probability of a release: the lower, "
            "the more private."
        ),
    ),
    ("Infeasible", "The data cannot meet the guarantee with these parameters."),
    ("Kept and true", "Share of everything in the original or in the release that is in both."),
    (
        "Look-alikes",
        ("People whom the release does not tell apart; k is the smallest number of them."),
    ),
    ("Out of time", "The point used more CPU time than it was allowed."),
    ("Point", "One release, by one method with its parameters."),
    ("Re-identified", "An attacker who must name one person for a record names the right one."),
    (
        "Repeat",
        ("One release of a point; figures are means over the repeats, and bars show their range."),
    ),
    ("Trial", "A release made for comparison with others. At most one of them may be published."),
)
"""The glossary."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One point as the page lists it.

    Parameters
    ----------
    number, series, words
        As in `graphveil.verbs.report.frontiers.Dot`.
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
    warning
        That a larger k hardly protects more; empty where it does.
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
    warning: str = ""

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
            words=WORDS_OF_SWEEPS,
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
