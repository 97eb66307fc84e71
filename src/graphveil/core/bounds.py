"""Bounds on what a release may cost and tell: a line of text each, as ``kept >= 0.9``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from graphveil.core.errors import ParameterError
from graphveil.core.hints import did_you_mean

Relation = Literal["<=", ">="]

KEPT, FALSE, RISK = "kept", "false", "largest class risk"
PLAIN: tuple[str, ...] = (KEPT, FALSE, RISK)
"""What can be bounded in addition to parts of metrics and of attacks: shares, all of them."""

_FORM = re.compile(
    r"\s*(?P<what>.+?)\s*(?P<relation><=|>=|≤|≥)\s*(?P<number>\S+?)\s*(?P<percent>%?)\s*"
)
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?|\.[0-9]+")
_USUAL: dict[str, Relation] = {"≤": "<=", "≥": ">="}
_LONGEST = 200


class NoPartError(ParameterError):
    """A bound names a part that a metric or an attack has not, on this data."""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One number that must not be passed.

    `question`: ``kept`` and ``false`` (the share of what is kept, and of what is published and
    false), ``largest class risk`` (1 divided by the smallest class of the guarantee), or the name
    of a metric or of an attack; `part`: the part of a metric or an attack; empty where there is
    none; `relation`: which side is allowed; `value`: the bound itself: a share where percent were
    given.

    >>> bound = read_bound("clustering: relative error <= 10%")
    >>> bound.question, bound.part, bound.value, bound.holds(0.1)
    ('clustering', 'relative error', 0.1, True)
    >>> print(bound)
    clustering: relative error <= 0.1
    """

    question: str
    part: str = ""
    relation: Relation
    value: float

    @property
    def what(self) -> str:
        """What is bounded."""
        return f"{self.question}: {self.part}" if self.part else self.question

    def holds(self, figure: float) -> bool:
        """Whether a figure keeps the bound."""
        return figure <= self.value if self.relation == "<=" else figure >= self.value

    def missed_by(self, figure: float) -> float:
        """Return how far a figure is on the wrong side; 0 where it is on the right one."""
        excess = figure - self.value if self.relation == "<=" else self.value - figure
        return max(excess, 0.0)

    def __str__(self) -> str:
        """Return the line that says it."""
        return f"{self.what} {self.relation} {self.value:.12g}"


def read_bound(text: str) -> Bound:
    """Return the bound that a line states: ``WHAT <= NUMBER`` or ``>=``; percent are shares.

    >>> read_bound("kept >= 90%") == read_bound("kept>=0.9")
    True
    """
    match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or not _NUMBER.fullmatch(match["number"]):
        raise ParameterError(
            f"cannot read the bound {text[:_LONGEST]!r}. Write WHAT <= NUMBER or WHAT >= "
            "NUMBER, such as 'kept >= 0.9' or 'clustering: relative error <= 10%'."
        )
    question, _, part = (word.strip() for word in match["what"].partition(":"))
    number = share_of_text(match["number"] + match["percent"])
    if not math.isfinite(number):
        raise ParameterError(
            f"the bound {text!r} does not contain a finite number. Use one such as 0.1."
        )
    relation = match["relation"]
    sign = _USUAL.get(relation, "<=" if relation == "<=" else ">=")
    return Bound(question=question.lower(), part=part, relation=sign, value=number)


def share_of_text(text: str) -> float:
    """Return a number, or the share that percent are.

    >>> share_of_text("0.07"), share_of_text("7%"), share_of_text("0.7%")
    (0.07, 0.07, 0.007)
    """
    number = text.removesuffix("%")
    return float(number if number == text else f"{number}e-2")


def check_bound(bound: Bound, metrics: Sequence[str], attacks: Sequence[str]) -> None:
    """Refuse a bound that nothing measures on this kind of data."""
    known = (*PLAIN, *metrics, *attacks)
    if bound.question not in known:
        raise ParameterError(
            f"{bound.question!r} is not measured on this data. "
            f"{did_you_mean(bound.question, known)}Choose one of {', '.join(PLAIN)}, or a part "
            f"of {', '.join((*metrics, *attacks))}."
        )
    if bound.question in PLAIN and bound.part:
        raise ParameterError(f"{bound.question!r} has no part {bound.part!r}. Remove the part.")
    if bound.question in PLAIN and bound.value > 1:
        share = f"{bound.value / 100:.12g} or {bound.value:.12g}%" if bound.value <= 100 else "0.9"
        raise ParameterError(f"{bound}: {bound.question} is a share. Use {share}.")
    if bound.question == RISK and (bound.relation == ">=" or not 0 < bound.value <= 1):
        raise ParameterError(f"{bound} is not a bound on a risk. Use, for example, {RISK} <= 0.09.")


def part_of(bound: Bound, parts: Iterable[str]) -> str:
    """Return the part that is bounded, the only one where none is named; refuse one that is not.

    >>> part_of(read_bound("cells-shown >= 0.8"), ["all"])
    'all'
    """
    known = [*parts]
    if bound.part in known:
        return bound.part
    if not bound.part and len(known) == 1:
        return known[0]
    named = [one for one in known if one]
    listed = ", ".join(named) or "none"
    if bound.part or not named:
        raise NoPartError(
            f"{bound.question} has no part {bound.part!r} here. Use one of: {listed}."
        )
    raise NoPartError(
        f"{bound.question!r} has several parts: {listed}. Choose one, for example "
        f"'{bound.question}: {named[0]} {bound.relation} {bound.value:.12g}'."
    )


def smallest_class(bound: Bound) -> int:
    """Return the smallest class that a bound on the largest risk allows."""
    return math.ceil(1 / bound.value - 1e-9)
