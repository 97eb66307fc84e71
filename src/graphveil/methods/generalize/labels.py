"""What the labels of a file of levels say by themselves: intervals, prefixes and dates.

A file may put a value under any node. Where both texts can be read, the node must include the
value; an owner's own words, such as ``Scandinavia``, say nothing that could be compared. Read are:

- prefixes: ``021**``, ``E11*``: all texts that begin so;
- intervals: ``20-39``, ``20 to 39``, ``[20, 40)``, ``]20;40]``, ``<18``, ``>=65``, ``65+``,
  ``2<x<=9``;
- dates: days, months, quarters, ISO weeks, years, decades such as ``1990s``, and ranges of years.

`graphveil.verify` reads labels by code of its own.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

_STAR = "*"
_NUMBER = r"[+-]?[0-9]{1,25}(?:\.[0-9]{1,25})?"
_BETWEEN = re.compile(rf"({_NUMBER})\s*(?:-|\u2013|\u2014|\.\.|to)\s*({_NUMBER})")
_BRACKETS = re.compile(
    rf"([\[\](])\s*({_NUMBER})\s*(?:[,;-]|\u2013|\.\.)\s*({_NUMBER})\s*([\]\[)])"
)
_BOUND = re.compile(rf"(<=|>=|<|>|\u2264|\u2265)\s*({_NUMBER})")
_AND_MORE = re.compile(rf"({_NUMBER})\s*\+")
_BIN = re.compile(rf"({_NUMBER})\s*<\s*x\s*<=\s*({_NUMBER})")
_ALONE = re.compile(_NUMBER)
_CODE = re.compile(r"[+-]?0[0-9].*")
"""Digits with a zero before them are a code, not a number."""

_DAY = re.compile(r"([0-9]{4})([-/.])([0-9]{2})\2([0-9]{2})(?:[T ][0-9:.+Z-]*)?")
_MONTH = re.compile(r"([0-9]{4})[-/.]([0-9]{2})")
_QUARTER = re.compile(r"([0-9]{4})[- ]?Q([1-4])")
_WEEK = re.compile(r"([0-9]{4})-?W([0-9]{2})")
_YEAR, _DECADE = re.compile(r"([0-9]{4})"), re.compile(r"([0-9]{3}0)s")
_YEARS = re.compile(r"([0-9]{4})\s*[-\u2013]\s*([0-9]{4})")


class Interval(NamedTuple):
    """What an interval holds: its ends, and whether each of them is in it."""

    low: Decimal
    high: Decimal
    has_low: bool = True
    has_high: bool = True
    whole: bool = False

    def includes(self, other: Interval) -> bool:
        """Whether the other interval is in this one; ``20-29`` is of whole numbers."""
        # [20, 30) holds the whole numbers of 20-29.
        if self.whole and not other.has_high and other.high == other.high.to_integral_value():
            other = other._replace(high=other.high - 1, has_high=True)
        above = other.low > self.low or (
            other.low == self.low and (self.has_low or not other.has_low)
        )
        below = other.high < self.high or (
            other.high == self.high and (self.has_high or not other.has_high)
        )
        return above and below


@lru_cache(maxsize=1 << 16)
def interval(text: str) -> Interval | None:
    """Return the interval that a label reads as; None if it does not.

    >>> interval("20-39").high, interval("[20, 40)").has_high, interval("39-20"), interval("Oslo")
    (Decimal('39'), False, None, None)
    """
    infinite = Decimal("Infinity")
    found: Interval | None = None
    # Step 1: the first form that the complete text has. Brackets come first: their ends say whether
    # they are included, which a dash between two numbers does not.
    if match := _BRACKETS.fullmatch(text):
        opening, low, high, closing = match.groups()
        found = Interval(Decimal(low), Decimal(high), opening == "[", closing == "]")
    elif match := _BETWEEN.fullmatch(text):
        first, last = (Decimal(end) for end in match.groups())
        # 20-39 in whole numbers is [20, 40): see `Interval.includes`.
        whole = first == first.to_integral_value() and last == last.to_integral_value()
        found = Interval(first, last, whole=whole)
    elif match := _BIN.fullmatch(text):
        found = Interval(Decimal(match[1]), Decimal(match[2]), has_low=False)
    elif match := _AND_MORE.fullmatch(text):
        found = Interval(Decimal(match[1]), infinite)
    elif match := _BOUND.fullmatch(text):
        sign, end = match[1], Decimal(match[2])
        closed = sign not in "<>"
        below = sign in {"<", "<=", "\u2264"}
        found = (
            Interval(-infinite, end, has_high=closed)
            if below
            else Interval(end, infinite, has_low=closed)
        )
    # Step 2: an interval that holds nothing, such as 39-20 or (5, 5), is not read as one.
    if found is None or found.low > found.high:
        return None
    return None if found.low == found.high and not (found.has_low and found.has_high) else found


@lru_cache(maxsize=1 << 16)
def _number(text: str) -> Interval | None:
    if _CODE.fullmatch(text) or not _ALONE.fullmatch(text):
        return None
    number = Decimal(text)
    return Interval(number, number)


class Days(NamedTuple):
    """The first and the last day of a unit of dates, and whether its text can be nothing else."""

    first: dt.date
    last: dt.date
    sure: bool = True


@lru_cache(maxsize=1 << 16)
def days(text: str) -> Days | None:
    """Return the days that a label reads as; None if it does not.

    >>> days("1990s").last.year, days("2024-Q1").last.isoformat(), days("2024-13"), days("Oslo")
    (1999, '2024-03-31', None, None)
    """
    try:
        return _days(text)
    except (ValueError, OverflowError):
        return None


def _days(text: str) -> Days | None:
    # No text fits two of the forms, each of which reads all of it.
    for form, read in _UNITS:
        if match := form.fullmatch(text):
            found = read(*(int(part) for part in match.groups() if part.isdecimal()))
            return found if found.first <= found.last else None
    return None


def _day(year: int, month: int, day: int) -> Days:
    return Days(dt.date(year, month, day), dt.date(year, month, day))


def _week(year: int, week: int) -> Days:
    monday = dt.date.fromisocalendar(year, week, 1)
    return Days(monday, monday + dt.timedelta(days=6))


def _years(first: int, last: int, *, sure: bool = False) -> Days:
    return Days(dt.date(first, 1, 1), dt.date(last, 12, 31), sure)


def _months(year: int, month: int, count: int = 1) -> Days:
    first = dt.date(year, month, 1)
    after = dt.date(year + (month + count - 1) // 12, (month + count - 1) % 12 + 1, 1)
    return Days(first, after - dt.timedelta(days=1))


_UNITS: tuple[tuple[re.Pattern[str], Callable[..., Days]], ...] = (
    (_DAY, _day),
    (_MONTH, _months),
    (_QUARTER, lambda year, quarter: _months(year, 3 * quarter - 2, 3)),
    (_WEEK, _week),
    (_DECADE, lambda year: _years(year, year + 9, sure=True)),
    # Four digits may be any number, and two of them an interval of numbers.
    (_YEAR, lambda year: _years(year, year)),
    (_YEARS, _years),
)
"""How each form of dates is written, and what it holds."""


def includes(node: str, below: str) -> bool | None:
    """Return whether a node includes what is below it, by their texts; None if they do not say.

    Parameters
    ----------
    node
        The label of a node.
    below
        A value, or the label of a node, that is listed under it.

    Examples
    --------
    >>> includes("40-49", "30"), includes("021**", "02139"), includes("1991", "1990-05-01")
    (False, True, False)
    >>> print(includes("Scandinavia", "Oslo"), includes("20-39", "unknown"))
    None None
    """
    # Step 1: equal texts, whatever they mean.
    node, below = node.strip(), below.strip()
    if node == below:
        return True
    # Step 2: a prefix, with stars at its end alone; * includes everything and says nothing.
    stem = node.rstrip(_STAR)
    if stem != node:
        return None if not stem or _STAR in stem else below.rstrip(_STAR).startswith(stem)
    # Step 3: dates, if one of both can be nothing else: 2024-05 is also two numbers.
    outer, inner = days(node), days(below)
    if outer is not None and inner is not None and (inner.sure or outer.sure):
        return outer.first <= inner.first and inner.last <= outer.last
    # Step 4: an interval around a number or an interval.
    span, own = interval(node), _number(below) or interval(below)
    return None if span is None or own is None else span.includes(own)


def overlapping(labels: Iterable[str]) -> tuple[str, str] | None:
    """Return two labels of one level that read as intervals and overlap; None if there are none.

    Examples
    --------
    >>> overlapping(["[0-50]", "[40-60]"]), overlapping(["0-19", "20-39", "unknown"])
    (('[0-50]', '[40-60]'), None)
    """
    # In order of their lower ends, two intervals overlap only if two that follow each other do.
    read = {label: interval(label.strip()) for label in labels}
    spans = sorted(
        (span.low, not span.has_low, span.high, label)
        for label, span in read.items()
        if span is not None
    )
    for (_, _, high, label), (low, is_open, _, later) in pairwise(spans):
        own = read[label]
        # Closed ends that meet, as of [0, 10] and [10, 20], have that number in common.
        touches = own is not None and own.has_high and not is_open and low == high
        if low < high or touches:
            return label, later
    return None
