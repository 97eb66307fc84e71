"""The pages of a release and of a sweep: what they show, and the HTML that a template makes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from graphveil.attacks.wording import Counted
from graphveil.core.text import NO_FIGURE, percent, printable
from graphveil.core.visible import visible, visible_json
from graphveil.evaluate.wording import Line
from graphveil.pages.charts import TEMPLATES, Bin, Mark, count, described, dots, steps
from graphveil.pages.frontiers import SYMBOLS, Panel, mark_of, scatter
from graphveil.pages.report.legal_questions import Answers

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
    ("Node", "A point of the released network, published under a new id."),
    ("Not in the data", "The same figure for people who are not in the data."),
    ("Triangle", "Three people who are all connected to each other."),
    ("Verified", "Recomputed from the published files, by code independent of the method."),
    (
        "Worst 1%",
        "Mean chance of identification, for the 1% of people most at risk, over everything tried.",
    ),
)
"""The glossary: at most 15 words."""


@dataclass(frozen=True, kw_only=True)
class UniquenessRow:
    """How many people can be singled out by an attacker who knows one thing about each.

    Shares are in 0..1; None where there is no original, or no k.
    """

    known: str
    alone: float
    alone_before: float | None = None
    few: float | None = None
    few_before: float | None = None


@dataclass(frozen=True, kw_only=True)
class Page:
    """Everything that a page shows."""

    public: bool
    title: str
    answer: str
    # whether the release keeps what it claims and no attack that was run succeeded; None where
    # there is not enough to say, or an attack succeeded although the guarantee holds
    good: bool | None
    attacked: str = ""
    because: str = ""
    quote: str = ""
    unit: str = ""
    checks: Sequence[tuple[str, str]] = ()
    facts: Sequence[tuple[str, str]] = ()
    recipient: str | None = None  # to whom it is released; None where that was not declared
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
        """Whether there is an original next to the release."""
        return any(one.alone_before is not None for one in self.standing)


def html_of(page: Page) -> str:
    """Return the page as one self-contained HTML file without a script.

    Every text is escaped, and what a reader would not see is made visible.

    >>> text = html_of(Page(public=True, title="<script>", answer="{{7*7}}", good=True))
    >>> "&lt;script&gt;" in text, "{{7*7}}" in text, "<script" in text
    (True, True, False)
    """
    return rendered("page.html", page=page, pictures=_pictures(page), dash=NO_FIGURE)


def rendered(template: str, *, script: str | None = None, **values: Any) -> str:
    """Return a page made of a template: every text is escaped, and none hides a character.

    A script of ours stands in it with the digest that lets the browser run it and no other one.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  for pages

    jinja = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= {"count": count}
    jinja.filters["percent"] = lambda share: NO_FIGURE if share is None else percent(share)
    if script is not None:
        text = (TEMPLATES / script).read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        values |= {"script": Markup(text), "digest": digest}  # noqa: S704  a file of this package
    return jinja.get_template(template).render(**values)


def _shown(value: Any) -> Any:
    """Return a text as a page shows it: no character hides, none of them all alone is endless."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable(visible(value), LONGEST_TEXT)
    return value


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
    """One point as the page lists it."""

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
    """Everything that the page of a sweep shows."""

    title: str
    answer: str
    facts: Sequence[tuple[str, str]]
    methods: Sequence[str]
    panels: Sequence[Panel]
    rows: Sequence[Row]
    # of every figure its values, one a row; None where a point lacks it. The filter reads them
    figures: Mapping[str, Sequence[float | None]]
    commands: Sequence[str]
    versions: Sequence[str] = ()
    warning: str = ""  # that a larger k hardly protects more; empty where it does

    @property
    def without(self) -> list[Row]:
        """The points that have no release."""
        return [row for row in self.rows if row.status != "finished"]


def sweep_html(page: SweepPage) -> str:
    """Return the page as one self-contained HTML file; its script only hides what bounds omit.

    Every text is escaped, and what a reader would not see is made visible.

    >>> shown = dict.fromkeys(("facts", "methods", "panels", "rows", "commands"), [])
    >>> page = SweepPage(title="<script>", answer="", figures={"</script>": []}, **shown)
    >>> text = sweep_html(page)
    >>> "&lt;script&gt;" in text, text.count("</script>")
    (True, 2)
    """
    figures = fitting_figures(page.figures, len(page.rows))
    return rendered(
        "sweep.html",
        script="sweep.js",
        page=page,
        words=WORDS_OF_SWEEPS,
        data=_data(figures),
        names=list(figures),
        symbols=SYMBOLS,
        pictures=[(panel, scatter(panel)) for panel in page.panels],
        mark_of=mark_of,
    )


def fitting_figures(
    figures: Mapping[str, Sequence[float | None]], rows: int
) -> dict[str, Sequence[float | None]]:
    """Return as many figures as a page has room for, the first ones.

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
