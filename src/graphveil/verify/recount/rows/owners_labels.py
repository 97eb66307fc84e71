"""Whether a node of an owner's file of levels includes what is below it, as far as texts say.

Claim checked: a label that reads as an interval, a prefix or a date includes every value and node
below it that reads as such. What other labels include is the owner's word.

Means: a label is split into its numbers and the signs around them; the signs decide what it is.
The method that wrote the release reads labels by other code.
"""

from __future__ import annotations

import calendar
import re
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

_ALL = "*"
_TOKEN = re.compile(r"[0-9]{1,25}(?:\.[0-9]{1,25})?")
_DASHES = {"-", "\u2013", "\u2014", "..", "to"}
_LISTED = {",", ";", "-", "\u2013", ".."}
_FROM, _ABOVE = {">=", "\u2265"}, ">"
_UP_TO, _BELOW = {"<=", "\u2264"}, "<"
_TIME = re.compile(r"[T ][0-9:.+Z-]*")
_FAR = Fraction(10**30)
"""Beyond every number that a label can hold: it has 25 digits at most."""


class Range(NamedTuple):
    """The numbers from one end to another.

    Each end is a pair of a number and -1, 0 or 1: just below, at, or just above the number, so
    that ends compare as pairs. `whole`: whether it is of whole numbers, as ``20-39``.
    """

    first: tuple[Fraction, int]
    last: tuple[Fraction, int]
    whole: bool = False


class Days(NamedTuple):
    """The days from one to another, as year, month and day; `sure`: if it cannot be a number."""

    first: tuple[int, int, int]
    last: tuple[int, int, int]
    sure: bool = True


def label_includes(node: str, below: str) -> bool | None:
    """Return whether a node includes a value or a node below it; None if the texts do not say.

    >>> label_includes("40-49", "30"), label_includes("[20, 40)", "20-39")
    (False, True)
    >>> print(label_includes("North", "Oslo"))
    None
    """
    node, below = node.strip(), below.strip()
    if node == below:
        return True
    if node.endswith(_ALL):
        stem = node.rstrip(_ALL)
        known = bool(stem) and _ALL not in stem
        return below.rstrip(_ALL)[: len(stem)] == stem if known else None
    # Dates first: a month such as 2024-05 has two numbers, too.
    outer, inner = days_of_label(node), days_of_label(below)
    if outer and inner and (outer.sure or inner.sure):
        return outer.first <= inner.first and inner.last <= outer.last
    around, own = range_of_label(node), _value_or_range(below)
    if around is None or own is None:
        return None
    last = own.last
    if around.whole and last[1] < 0 and last[0].denominator == 1:
        last = (last[0] - 1, 0)  # the last whole number below an open end
    return around.first <= own.first and last <= around.last


def _signed_numbers(text: str) -> tuple[list[Fraction], list[str]] | None:
    """Return the numbers of a text with their signs, and what is before, between and after them.

    None if there are more than two.
    """
    found = list(_TOKEN.finditer(text))
    if not 1 <= len(found) <= 2:
        return None
    numbers, around, at = [], [], 0
    for match in found:
        before = text[at : match.start()]
        # A sign that touches its number, with nothing or another sign before it, belongs to it.
        signed = before[-1:] in {"-", "+"} and (before[:-1].strip() != "" or at == 0)
        numbers.append(Fraction(match[0]) * (-1 if signed and before[-1] == "-" else 1))
        around.append((before[:-1] if signed else before).strip())
        at = match.end()
    return numbers, [*around, text[at:].strip()]


@lru_cache(maxsize=1 << 16)
def range_of_label(text: str) -> Range | None:
    """Return the range that a label reads as; None if it does not read as one."""
    parts = _signed_numbers(text)
    if parts is None:
        return None
    numbers, around = parts
    if len(numbers) == 1:
        found = _one_sided(numbers[0], *around)
    else:
        first, last = numbers
        found = _two_sided(first, last, *around)
    return found if found is not None and found.first <= found.last else None


def _one_sided(number: Fraction, before: str, after: str) -> Range | None:
    if after in {"", "+"} and before in ({""} if after else {*_FROM, _ABOVE, *_UP_TO, _BELOW}):
        if after or before in _FROM:
            return Range((number, 0), (_FAR, 0))
        if before == _ABOVE:
            return Range((number, 1), (_FAR, 0))
        return Range((-_FAR, 0), (number, -1 if before == _BELOW else 0))
    return None


def _two_sided(low: Fraction, high: Fraction, before: str, middle: str, after: str) -> Range | None:
    if before in {"[", "(", "]"} and after in {"]", ")", "["} and middle in _LISTED:
        return Range((low, int(before != "[")), (high, -int(after != "]")))
    if before or after:
        return None
    if middle in _DASHES:
        return Range((low, 0), (high, 0), whole=low.denominator == high.denominator == 1)
    if re.sub(r"\s", "", middle) == "<x<=":
        return Range((low, 1), (high, 0))
    return None


@lru_cache(maxsize=1 << 16)
def _value_or_range(text: str) -> Range | None:
    """Return a number as a range, or a label's range; digits with a zero before them are a code."""
    digits = text[1:] if text[:1] in {"+", "-"} else text
    if _TOKEN.fullmatch(digits):
        if len(digits) > 1 and digits[0] == "0" and digits[1] != ".":
            return None
        number = Fraction(text)
        return Range((number, 0), (number, 0))
    return range_of_label(text)


@lru_cache(maxsize=1 << 16)
def days_of_label(text: str) -> Days | None:
    """Return the days that a label reads as: of a day, a unit of dates, or years; else None."""
    if not re.fullmatch(r"[0-9]{4}", text[:4]) or text[:4] == "0000":
        return None
    year, rest = int(text[:4]), text[4:]
    found = None
    if rest == "":
        found = _of_months(year, 1, 12, sure=False)
    elif rest == "s" and year % 10 == 0:
        found = Days((year, 1, 1), (year + 9, 12, 31))
    elif re.fullmatch(r"[-/.][0-9]{2}", rest):
        month = int(rest[1:])
        found = _of_months(year, month, 1) if 1 <= month <= 12 else None
    elif re.match(r"([-/.])[0-9]{2}\1", rest):
        found = _one_day(year, rest[1:3], rest[4:6], rest[6:])
    elif match := re.fullmatch(r"[- ]?Q([1-4])", rest):
        found = _of_months(year, 3 * int(match[1]) - 2, 3)
    elif match := re.fullmatch(r"-?W([0-9]{2})", rest):
        found = _of_week(year, int(match[1]))
    elif match := re.fullmatch(r"\s*[-\u2013]\s*([0-9]{4})", rest):
        last = int(match[1])
        found = Days((year, 1, 1), (last, 12, 31), sure=False) if year <= last else None
    return found


def _of_months(year: int, month: int, count: int, *, sure: bool = True) -> Days:
    last = month + count - 1
    return Days((year, month, 1), (year, last, calendar.monthrange(year, last)[1]), sure)


def _one_day(year: int, month: str, day: str, rest: str) -> Days | None:
    if not re.fullmatch(r"[0-9]{2}", day) or (rest and not _TIME.fullmatch(rest)):
        return None
    number, of_month = int(day), int(month)
    if not 1 <= of_month <= 12 or not 1 <= number <= calendar.monthrange(year, of_month)[1]:
        return None
    return Days((year, of_month, number), (year, of_month, number))


def _of_week(year: int, week: int) -> Days | None:
    """Return the days of an ISO week, counted from the Monday of the week with January 4."""
    january_4 = _ordinal(year, 1, 4)
    monday = january_4 - (january_4 - 1) % 7 + 7 * (week - 1)
    next_january_4 = _ordinal(year + 1, 1, 4)
    if week < 1 or monday >= next_january_4 - (next_january_4 - 1) % 7:
        return None
    return Days(_date(monday), _date(monday + 6))


def _ordinal(year: int, month: int, day: int) -> int:
    """Return the number of days since the day before January 1 of the year 1, a Monday."""
    before = year - 1
    of_years = 365 * before + before // 4 - before // 100 + before // 400
    return of_years + sum(calendar.monthrange(year, m)[1] for m in range(1, month)) + day


def _date(ordinal: int) -> tuple[int, int, int]:
    year = (ordinal - 1) // 366 + 1
    while _ordinal(year + 1, 1, 1) <= ordinal:
        year += 1
    month = 1
    while month < 12 and _ordinal(year, month + 1, 1) <= ordinal:
        month += 1
    return year, month, ordinal - _ordinal(year, month, 1) + 1


def overlapping_labels(labels: list[str]) -> tuple[str, str] | None:
    """Return two labels that read as ranges and have a number in common; None without such."""
    spans = [(span.first, span.last, label) for label in labels if (span := range_of_label(label))]
    spans.sort()
    for (_, last, label), (first, _, later) in pairwise(spans):
        if first <= last:
            return label, later
    return None
