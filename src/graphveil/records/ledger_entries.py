"""What a ledger of epsilons holds: its entries, its limit, and how they add up."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Literal

import msgspec

from graphveil.errors import ParameterError

Unit = Literal["edge", "value", "node"]

PLACES = 12
"""Decimal places of a printed total, which is rounded up."""

_DECIMAL = re.compile(r"[0-9]{1,3}(\.[0-9]{1,400})?(e-[0-9]{1,3})?")


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One release.

    Parameters
    ----------
    id
        Drawn at random; the private record of the release has it, too.
    method
        The method's name.
    unit
        What its epsilon is about; None where nothing was claimed.
    epsilon
        As it was printed; None where nothing was claimed.
    person_cells
        How many cells one person has: what an edge's epsilon is multiplied with for a node. A
        value is two cells.
    """

    id: str
    method: str
    unit: Unit | None
    epsilon: str | None
    person_cells: int

    def __post_init__(self) -> None:
        """Check that what is claimed has a unit and a number."""
        if (self.unit is None) != (self.epsilon is None) or self.person_cells < 0:
            raise ParameterError(f"the entry {self.id} is none.")
        if self.epsilon is not None and not _DECIMAL.fullmatch(self.epsilon):
            raise ParameterError(f"epsilon={self.epsilon!r} is no number.")

    def spent(self, unit: Unit) -> Fraction | None:
        """Return what it counts for in this unit; None where it has no bound."""
        if self.epsilon is None:
            return None
        return Fraction(self.epsilon) * self.times(unit)

    def times(self, unit: Unit) -> Fraction:
        """Return what its epsilon is multiplied with in this unit.

        Examples
        --------
        >>> entry = Entry(id="a", method="m", unit="value", epsilon="1.0", person_cells=10)
        >>> [str(entry.times(unit)) for unit in ("edge", "value", "node")]
        ['1/2', '1', '5']
        """
        if self.unit == "node" or self.unit is None:
            return Fraction(1)
        cells = {"edge": 1, "value": 2, "node": max(self.person_cells, 1)}
        return Fraction(cells[unit], cells[self.unit])


class Composed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a ledger holds, this release included: public.

    Parameters
    ----------
    releases
        How many releases.
    unit
        What the total is about, as the claim of this release.
    epsilon
        Their total, as decimal text, rounded up.
    """

    releases: int
    unit: Unit
    epsilon: str


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What the private record says of the ledger: its file, and the entry of the release."""

    file: str
    entry: str


class Limit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most that the total of a ledger may reach; once set it stays.

    Parameters
    ----------
    epsilon
        As it was given, in decimal text.
    unit
        What it is about: the unit of the first release that was entered under it.
    """

    epsilon: str
    unit: Unit

    def __post_init__(self) -> None:
        """Check that it is a number above 0."""
        if not _DECIMAL.fullmatch(self.epsilon) or not Fraction(self.epsilon):
            raise ParameterError(f"the limit {self.epsilon!r} is no epsilon.")


class LedgerFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a ledger."""

    schema: int
    entries: list[Entry]
    limit: Limit | None = None


def rounded_up(total: Fraction) -> str:
    """Return a total as decimal text that is not below it.

    Examples
    --------
    >>> rounded_up(Fraction(7, 5)), rounded_up(Fraction(1, 3))
    ('1.4', '0.333333333334')
    """
    return _printed(math.ceil(total * 10**PLACES))


def rounded_down(remainder: Fraction) -> str:
    """Return what remains as decimal text that is not above it.

    Examples
    --------
    >>> rounded_down(Fraction(7, 5)), rounded_down(Fraction(1, 3))
    ('1.4', '0.333333333333')
    """
    return _printed(math.floor(remainder * 10**PLACES))


def _printed(units: int) -> str:
    whole, places = divmod(units, 10**PLACES)
    return f"{whole}.{places:0{PLACES}d}".rstrip("0").rstrip(".")


def total_of(entries: list[Entry], unit: Unit) -> Fraction | None:
    """Return the exact total in this unit; None where an entry claims nothing."""
    total = Fraction(0)
    for entry in entries:
        spent = entry.spent(unit)
        if spent is None:
            return None
        total += spent
    return total


def composed_of(entries: list[Entry], unit: Unit | None) -> Composed | None:
    """Return what a manifest states of these releases; None where they have no total."""
    total = None if unit is None else total_of(entries, unit)
    if unit is None or total is None:
        return None
    return Composed(releases=len(entries), unit=unit, epsilon=rounded_up(total))
