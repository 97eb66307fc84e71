"""Several strengths of one method, each tried and attacked in the same way.

At every strength the same attacks run. What is reported for it is the largest share of people whom
one attack re-identifies, of the attacks that ran at every strength.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphveil.attacks.registry import ATTACKS
from graphveil.attacks.row_selection import FEWEST_TARGETS
from graphveil.attacks.wording import Counted, counted_in, words_of
from graphveil.core.errors import DataError, GraphveilWarning, UsageError
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows
from graphveil.core.text import Wording, percent
from graphveil.data import Data
from graphveil.data.kinds import as_released, kind_of
from graphveil.methods import METHODS
from graphveil.verbs.advise.trials import SEED, Advice, Choice, roles_of, sample_of, shares_of
from graphveil.verbs.attack import attack_release

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
    sample = sample_of(released, method.card.trial_size, Randomness(seed=SEED))
    name = next(one for one in STRENGTHS if one in choice.parameters)
    values = STRENGTHS[name][:: -1 if name == "epsilon" else 1]
    fixed = {key: value for key, value in choice.parameters.items() if key != name}
    fixed |= roles_of(method, sample.data)
    of_table = kind_of(data).name == "table"
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
