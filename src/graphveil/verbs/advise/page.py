"""The page of advice: one file that needs no server, with a slider over strengths that were tried.

At every strength the same attacks run. What stands next to it is the most people whom one of the
attacks re-identifies that ran at every strength.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from graphveil.attacks.registry import ATTACKS
from graphveil.attacks.wording import FEWEST_TARGETS, Counted, counted_in, reworded, words_of
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import DataError, GraphveilWarning, UsageError
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows
from graphveil.core.text import Wording, per_hundred, percent, printable, worded_for_page
from graphveil.data import Data, Network, Table
from graphveil.data.kinds import CONTAINERS, as_container, as_released
from graphveil.methods import METHODS
from graphveil.verbs.advise.advise import advise
from graphveil.verbs.advise.trials import SEED, Advice, Choice, Risk, roles_of, sample_of, shares_of
from graphveil.verbs.attack import attack_release
from graphveil.verbs.report.charts import NONE, count, write_new
from graphveil.verbs.report.frontiers import SYMBOLS, Axis, Dot, Panel, scatter
from graphveil.verbs.report.pages import rendered

STRENGTHS: Mapping[str, tuple[float, ...]] = {
    "k": (2, 3, 5, 10, 20),
    "levels": (2, 3, 5, 10, 20),
    "epsilon": (1.0, 2.0, 4.0, 8.0),
}
"""What is tried of a method's main parameter; of an epsilon the smallest protects most."""

ATTACK_SECONDS = 10.0
"""The CPU time that attacks may take at one strength, about."""

HARDLY = 0.3
"""Where the strongest setting re-identifies less than this share fewer people, that is said."""


OF_TARGETS = "share of targets"

NONE_IS_PRIVATE = (
    "No method with differential privacy reads this kind of data. Publish fewer columns, or give "
    "the release to fewer people."
)
"""What is offered where noise is not."""


class Point(NamedTuple):
    """One strength of a method, tried.

    Parameters
    ----------
    value
        The strength.
    kept, false
        The share of the data that is kept, and that of what is false in the release; None where it
        is not counted.
    found
        The share of people whom the strongest attack re-identifies, of those that ran at every
        strength; None where none did.
    guess
        What guessing without the release reaches.
    of
        How many people it is a share of: those whom the attacker looks for.
    by
        What that attacker knows or does.
    reason
        Why there is no release; else empty.
    """

    value: float
    kept: float | None = None
    false: float | None = None
    found: float | None = None
    guess: float | None = None
    of: int = 0
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Strengths:
    """Several strengths of one method, each tried and attacked in the same way.

    Parameters
    ----------
    method, name
        The method, and its parameter.
    points
        What was tried, the weakest protection first.
    people, counted
        How many people or rows there are in what it was tried on.
    measured_on
        What that was, in words.
    """

    method: str
    name: str
    points: tuple[Point, ...]
    people: int
    counted: Counted
    measured_on: str

    @property
    def tried(self) -> list[Point]:
        """The points with a release."""
        return [point for point in self.points if not point.reason]

    @property
    def hardly(self) -> bool:
        """Whether more protection lowers what attacks reach by less than 30%, and they do reach."""
        found = [point for point in self.tried if point.found is not None]
        if len(found) < 2:
            return False
        return hardly_lowers(found[0].found or 0.0, found[-1].found or 0.0, found[0].guess or 0.0)

    def people_found(self, point: Point) -> int | None:
        """Return how many people the strongest attack re-identifies; None where none ran."""
        return None if point.found is None else round(point.found * point.of)

    @property
    def warning(self) -> str:
        """That a larger strength hardly helps, with both ends; empty where it helps."""
        if not self.hardly:
            return ""
        found = [point for point in self.tried if point.found is not None]
        ends = [f"{percent(one.found or 0)} at {self.named(one)}" for one in (found[0], found[-1])]
        return (
            f"More protection lowers this figure by less than {percent(HARDLY, places=0)}: "
            f"{' and '.join(ends)}."
        )

    def named(self, point: Point) -> str:
        """Return a strength with its name."""
        return f"{self.name} = {point.value:g}"


def strengths_of(data: Data, choice: Choice, *, word: Wording = str) -> Strengths:
    """Return what each strength of a method keeps and what attacks on it reach.

    `word`: how the surface says who attacks.
    """
    method = METHODS[choice.method]
    released = as_released(data, method.accepts[0])
    sample = sample_of(released, method.trial_size, Randomness(seed=SEED))
    name = next(one for one in STRENGTHS if one in choice.parameters)
    values = STRENGTHS[name][:: -1 if name == "epsilon" else 1]
    fixed = {key: value for key, value in choice.parameters.items() if key != name}
    fixed |= roles_of(method, sample.data)
    of_table = isinstance(data, Table)
    counted = counted_in(data)
    made: list[tuple[Point, dict[tuple[str, str], Row]]] = []
    for value in values:
        with stage(f"trying {choice.method}, {name} = {value:g}"), warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphveilWarning)
            try:
                made_by = method.from_parameters(fixed | {name: value})
                release = made_by.anonymize(sample.data, seed=SEED)
                rows = attack_release(release, sample.data, seed=SEED, seconds=ATTACK_SECONDS)
            except (UsageError, DataError) as error:
                made.append((Point(value, reason=str(error)), {}))
                continue
        kept, false = shares_of(release.cost)
        most = most_found(rows, counted, of_table=of_table, word=word)
        made.append((Point(value, kept, false), most))
    return compared(made, sample.data, choice.method, name, measured_on=sample.words)


def compared(
    made: Sequence[tuple[Point, Mapping[tuple[str, str], Row]]],
    data: Data,
    method: str,
    name: str,
    measured_on: str = "",
) -> Strengths:
    """Return strengths that were tried, with the most that an attack reaches that ran at all."""
    return Strengths(
        method=method,
        name=name,
        points=tuple(strongest_everywhere(made, int(data.size))),
        people=int(data.size),
        counted=counted_in(data),
        measured_on=measured_on,
    )


def hardly_lowers(weak: float, strong: float, guess: float) -> bool:
    """Return whether the strongest protection leaves most of what the weakest does.

    >>> hardly_lowers(0.38, 0.34, 0.002), hardly_lowers(0.38, 0.2, 0.002)
    (True, False)
    """
    return weak > guess and strong > (1 - HARDLY) * weak


def most_found(
    rows: Rows, counted: Counted, *, of_table: bool, word: Wording = str
) -> dict[tuple[str, str], Row]:
    """Return of each attack and attacker the row that re-identifies most."""
    found: dict[tuple[str, str], Row] = {}
    for key, row in re_identifying(rows, counted, of_table=of_table, word=word):
        if key not in found or (found[key].value or 0.0) < (row.value or 0.0):
            found[key] = row
    return found


def re_identifying(
    rows: Rows, counted: Counted, *, of_table: bool, word: Wording = str
) -> Iterator[tuple[tuple[str, str], Row]]:
    """Yield the rows that say whom an attack re-identifies of everybody, by attack and attacker."""
    for name in dict.fromkeys(row.question for row in rows):
        every = [row for row in rows if row.question == name]
        for said in ATTACKS[name].said:
            if not said.re_identifies:
                continue
            own = said.about(counted, of_table=of_table, word=word)
            for row in every:
                few = row.unit == OF_TARGETS and (row.sample_size or 0) < FEWEST_TARGETS
                if said.fits(row) and not (few or row.setting.among or row.value is None):
                    words = words_of(row.setting, of_table=of_table, word=word)
                    yield (name, own.who.format(**words) + own.by), row


def strongest_everywhere(
    made: Sequence[tuple[Point, Mapping[tuple[str, str], Row]]], people: int
) -> Iterator[Point]:
    """Yield the points with the most that an attack reaches that ran at all of them."""
    ran = [found for point, found in made if not point.reason]
    common = [key for key in (ran[0] if ran else {}) if all(key in found for found in ran)]
    for point, found in made:
        if point.reason or not common:
            yield point
            continue
        most = max(common, key=lambda key: found[key].value or 0.0)
        row = found[most]
        known = (row.setting.known or 0) if row.setting.overlap is not None else 0
        of = (row.sample_size or people) if row.unit == OF_TARGETS else people - known
        yield point._replace(found=row.value, guess=row.guess, of=of, by=most[1])


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
    """

    text: str
    advice: Advice
    strengths: tuple[Strengths, ...]

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the file whole or not at all; only its owner can read it.

        Raises
        ------
        UsageError
            Where there is one of that name and `force` is off.
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
    names: list[str] = []
    if isinstance(data, Network):
        names = [*data.attributes, *(layer.name for layer in data.layers)]
    return worded_for_page("table" if isinstance(data, Table) else "", names)


def private_choice(advice: Advice) -> Choice | None:
    """Return the method with differential privacy that loses least; None where none fits."""
    private = [one for one in advice.choices if "epsilon" in one.parameters and one.is_possible]
    return min(private, key=lambda one: one.lost, default=None)


def instead_of(advice: Advice) -> str:
    """Return what is offered where more protection hardly lowers what attacks reach."""
    other = private_choice(advice)
    if other is None:
        return NONE_IS_PRIVATE
    return (
        f"Consider a method with differential privacy, such as {other.method}. Its guarantee: "
        f"{other.promise}"
    )


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
        found = NONE
        if people is not None:
            whole = f"{count(people)} of {count(point.of)} {tried.counted}"
            guess = "" if point.guess is None else f"; guessing: {per_hundred(point.guess)} of 100"
            found = f"{whole} ({percent(point.found or 0.0)}{guess})"
        kept = NONE if point.kept is None else percent(point.kept)
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
