"""The page of advice: one file that needs no server, with a slider over tried strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from graphveil.attacks.wording import reworded
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.text import NO_FIGURE, Wording, per_hundred, percent, printable, worded_for_page
from graphveil.data import Data
from graphveil.data.kinds import CONTAINERS, as_container, kind_of
from graphveil.pages.charts import count, write_new
from graphveil.pages.frontiers import SYMBOLS, Axis, Dot, Panel, scatter
from graphveil.pages.html import rendered
from graphveil.verbs.advise.advise import advise
from graphveil.verbs.advise.strengths import (
    STRENGTHS,
    Strengths,
    instead_of,
    private_choice,
    strengths_of,
)
from graphveil.verbs.advise.trials import Advice, Risk


@dataclass(frozen=True, kw_only=True, repr=False)
class AdvicePage:
    """The page of advice, and what stands on it.

    Parameters
    ----------
    text
        The whole file.
    advice
        The risk as it stands, and the methods.
    strengths
        What was tried: the method that is recommended, and where more protection hardly helps a
        method with differential privacy.

    Examples
    --------
    `advise_page` makes the page of your data; this is an empty one.

    >>> import graphveil as gv
    >>> advice = gv.advise(gv.Graph.from_edges([0], [1]))
    >>> page = AdvicePage(text="<!doctype html>", advice=advice, strengths=())
    >>> page, page.advice.sizes["people"]
    (AdvicePage(15 characters), 2)
    """

    text: str
    advice: Advice
    strengths: tuple[Strengths, ...]

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the file whole or not at all; only its owner can read it.

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
            Where there is one of that name and `force` is off.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import graphveil as gv
        >>> advice = gv.advise(gv.Graph.from_edges([0], [1]))
        >>> page = AdvicePage(text="<!doctype html>", advice=advice, strengths=())
        >>> with TemporaryDirectory() as folder:
        ...     oct(page.write(Path(folder, "advice.html")).stat().st_mode)[-3:]
        '600'
        """
        return write_new(path, self.text.encode(), mode=OWNER_ONLY, force=force)

    def __repr__(self) -> str:
        """Return what it is, and its size."""
        return f"AdvicePage({len(self.text):,} characters)"


def advise_page(
    data: Any,
    *,
    advice: Advice | None = None,
    title: str = "data",
    commands: Mapping[str, str] | None = None,
) -> AdvicePage:
    """Return advice as one page without a server: risk, recommendation, and strengths to choose.

    Every strength was tried on the data, or on a sample of it, and attacked in the same way. The
    page is for the owner of the data: its figures are computed from the original.

    Parameters
    ----------
    data
        As `advise` takes it.
    advice
        What `advise` returned of it; made where not given.
    title
        What the page calls the data, such as the name of its file.
    commands
        What makes a release, by method; the calls in Python where not given.

    Returns
    -------
    AdvicePage
        The page, with the advice and the tried strengths.

    Raises
    ------
    UsageError, DataError
        As `advise`.

    Examples
    --------
    >>> from graphveil import Graph
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0], n=6)
    >>> page = advise_page(ring, title="<ring>")
    >>> [point.value for point in page.strengths[0].tried]
    [2, 3, 5]
    >>> "&lt;ring&gt;" in page.text
    True
    """
    container: Data = as_container(data, CONTAINERS, wanted_by="advise")
    advice, word = advice or advise(container), _words_for(container)
    tried: list[Strengths] = []
    best = advice.recommended
    if best is not None and {*STRENGTHS} & {*best.parameters}:
        tried.append(strengths_of(container, best, word=word))
    other = private_choice(advice)
    if tried and tried[0].hardly and other is not None:
        tried.append(strengths_of(container, other, word=word))
    text = _html(title, advice, tried, commands or {}, word)
    return AdvicePage(text=text, advice=advice, strengths=tuple(tried))


def _words_for(data: Data) -> Wording:
    """Return how the page says a text about this data: names from it stay."""
    return worded_for_page(kind_of(data).name, data.quoted_names)


def _html(
    title: str,
    advice: Advice,
    tried: Sequence[Strengths],
    commands: Mapping[str, str],
    word: Wording,
) -> str:
    worst = max(advice.risks, key=lambda risk: risk.share_unique, default=None)
    best = advice.recommended
    return rendered(
        "advice.html",
        script="advice.js",
        title=printable(title),
        risk="" if worst is None else word(_risk(worst, advice)),
        risks=[(word(one.known), percent(one.share_unique)) for one in advice.risks],
        recommendation=word(_recommended(advice)),
        command="" if best is None else commands.get(best.method, best.call),
        not_covered="" if best is None else word(best.leaves_open),
        sliders=[_slider(number, one, word) for number, one in enumerate(tried)],
        instead=word(instead_of(advice)) if tried and tried[0].hardly else "",
        symbols=SYMBOLS,
    )


def _risk(worst: Risk, advice: Advice) -> str:
    whole = next(iter(advice.sizes.values()), 0)
    what = next(iter(advice.sizes), "people")
    verb = "is" if worst.unique == 1 else "are"
    return (
        f"{count(worst.unique)} of {count(whole)} {what} ({percent(worst.share_unique)}) {verb} "
        f"unique to an attacker who knows {worst.known}."
    )


def _recommended(advice: Advice) -> str:
    """Return the recommendation and its reason, in two sentences at most."""
    best = advice.recommended
    others = [
        one
        for one in advice.choices
        if one is not best and one.is_possible and "k" in one.parameters
    ]
    if best is None or not others or best.lost > 1:
        return advice.answer
    second = min(others, key=lambda one: one.lost)
    return (
        f"{advice.answer} It loses least of the methods that guarantee groups of k; next "
        f"is {second.method}, {second.middle.words if second.middle else ''}."
    )


def _slider(number: int, tried: Strengths, word: Wording) -> dict[str, Any]:
    """Return the strengths of a method as the page shows them."""
    shown = []
    for place, point in enumerate(tried.points):
        people = tried.people_found(point)
        found = NO_FIGURE
        if people is not None:
            whole = f"{count(people)} of {count(point.of)} {tried.counted}"
            guess = "" if point.guess is None else f"; guessing: {per_hundred(point.guess)} of 100"
            found = f"{whole} ({percent(point.found or 0.0)}{guess})"
        kept = NO_FIGURE if point.kept is None else percent(point.kept)
        kept += f", {percent(point.false)} false" if point.false else ""
        texts = {"name": tried.name, "value": f"{point.value:g}", "kept": kept, "found": found}
        texts |= {"by": f"an attacker {point.by}" if point.by else "", "reason": word(point.reason)}
        shown.append({"number": 100 * number + place, **texts})
    dots = [
        Dot(100 * number + at, number, tried.named(one), one.kept, one.found, on_line=False)
        for at, one in enumerate(tried.points)
        if one.kept is not None
    ]
    reached = reworded("Share of people re-identified", tried.counted)
    axes = Axis("kept", share=True), Axis(reached, share=True)
    title = f"What {tried.method} keeps, and what is re-identified"
    return {
        "number": number,
        "method": tried.method,
        "name": tried.name,
        "shown": sorted(shown, key=lambda one: bool(one["reason"])),
        "middle": len(tried.tried) // 2,
        "warning": tried.warning,
        "measured_on": word(tried.measured_on),
        "picture": scatter(Panel(title, *axes, dots)) if dots else Markup(),
    }
