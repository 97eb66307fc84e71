"""A page: what it shows, as values, and the one HTML file that a template makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.report.bins import Bin
from graphveil.report.charts import Mark, described, dots, steps
from graphveil.report.kept import Kept
from graphveil.report.numbers import NONE, count, percent
from graphveil.report.tests import Answers
from graphveil.terminal import printable, visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")
LONGEST_TEXT = 4_000
"""The most characters of a text that others wrote which a page shows."""

WORDS: tuple[tuple[str, str], ...] = (
    ("After", "In the release."),
    ("Before", "The original under new ids and nothing else, attacked in the same way."),
    (
        "Bounded",
        "The way the release was made limits what anybody can learn, whatever else they know.",
    ),
    ("Guess", "What someone reaches who has not seen the release."),
    ("Interval", "With other draws the figure lies here 95 times in 100."),
    ("Left out", "The same, of people whose data the release was made without."),
    ("Look-alikes", "People of whom the release shows the same."),
    ("Not shown", "An attack was tried and failed. That proves nothing."),
    ("Promise", "What can be said of every person, whatever an attacker tries that it covers."),
    (
        "Recomputed",
        "Counted again from the published files, by code that shares nothing with the method.",
    ),
    ("Tie", "Two people who stand in the network as connected."),
    ("Closed triangle", "Three people who all have ties to each other."),
    (
        "Worst 1 %",
        "The mean risk of the hundredth of people who are worst off, by all that the attack tried.",
    ),
)
"""The glossary: at most 15 words."""


@dataclass(frozen=True, kw_only=True)
class Standing:
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
    title, answer, quote, unit
        What it is about, the verdict in a sentence, the promise, and its unit.
    good
        Whether the release keeps what it claims, None where there is not enough to say.
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
    quote: str = ""
    unit: str = ""
    checks: Sequence[tuple[str, str]] = ()
    facts: Sequence[tuple[str, str]] = ()
    recipient: str | None = None
    declared: Sequence[tuple[str, str]] = ()
    tests: Sequence[Answers] = ()
    standing: Sequence[Standing] = ()
    fewer_than: int | None = None
    kept: Sequence[Kept] = ()
    distribution: Sequence[Bin] = ()
    distribution_of: str = ""
    kinds: Sequence[str] = ()
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
            title = f"{test.heading} Share of people: guess, release, original"
            rows = [described(mark) for mark in marks]
            pictures[test.test] = {"svg": dots(marks, title=title), "rows": rows}
    if page.distribution:
        title = f"Share of people with at most so many: {page.distribution_of}"
        pictures["distribution"] = {"svg": steps(page.distribution, title=title)}
    return pictures
