"""Which generalized value includes which other: intervals, prefixes, dates, stars, hierarchies.

Both are texts of a release, and are parsed here anew: ``20-39`` holds whole numbers alone, ``[20,
30)`` is half open, ``101**`` and ``E11*`` are prefixes, ``2024-Q1`` a unit of dates, ``*``
everything. A hierarchy from a file has the owner's own texts: the owner's record lists the nodes
above a value, and a text that reads as an interval, a prefix or a date must include it
(`owners_labels`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from graphveil.verify.recount.rows.owners_labels import label_includes

ALL = "*"
ISO = "%Y-%m-%d"
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_CLOSED = re.compile(r"([0-9]+)-([0-9]+)")
_HALF_OPEN = re.compile(rf"\[({_NUMBER}), ({_NUMBER})\)")
_BELOW, _FROM = re.compile(rf"<({_NUMBER})"), re.compile(rf">=({_NUMBER})")
_NUMBER_ALONE = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_QUARTER = re.compile(r"([0-9]{4})-Q([1-4])")
_WEEK = re.compile(r"([0-9]{4})-W([0-9]{2})")
_YEAR = re.compile(r"[0-9]{4}")
_YEARS = re.compile(r"([0-9]{1,4})-([0-9]{4})")
_INFINITE = Decimal("Infinity")


class Span(NamedTuple):
    """What an interval holds: from its lower end to below its upper one.

    An interval of whole numbers, ``20-39``, holds these alone and ends below 40.
    """

    low: Decimal
    high: Decimal
    whole: bool = False

    def holds(self, other: Span) -> bool:
        """Whether another span is in this one."""
        inside = self.low <= other.low and other.high <= self.high
        return inside and (other.whole or not self.whole)


def span_of(text: str) -> Span | None:
    """Return what a number or an interval holds; None where a text is neither.

    >>> span_of("20-39").holds(span_of("34")), span_of("[20, 30)").holds(span_of("30"))
    (True, False)
    """
    # The forms that a release has: 20-39, [20, 30), <20, >=20, or a number.
    if closed := _CLOSED.fullmatch(text):
        span = Span(Decimal(closed[1]), Decimal(closed[2]) + 1, whole=True)
    elif half_open := _HALF_OPEN.fullmatch(text):
        span = Span(Decimal(half_open[1]), Decimal(half_open[2]))
    elif below := _BELOW.fullmatch(text):
        span = Span(-_INFINITE, Decimal(below[1]))
    elif start := _FROM.fullmatch(text):
        span = Span(Decimal(start[1]), _INFINITE)
    elif _NUMBER_ALONE.fullmatch(text):
        number = Decimal(text)
        whole = number == number.to_integral_value()
        span = Span(number, number + 1 if whole else number.next_plus(), whole=whole)
    else:
        return None
    return span if span.low < span.high else None


def _interval_holds(node: str, below: str) -> bool:
    outer, inner = span_of(node), span_of(below)
    return outer is not None and inner is not None and _is_in(outer, inner, below)


def _is_in(outer: Span, inner: Span, below: str) -> bool:
    """Whether a span is in another; a number is in an interval of all numbers by its value."""
    # A number with a fraction lies in an interval if its value does.
    if _NUMBER_ALONE.fullmatch(below) and not outer.whole:
        return outer.low <= inner.low < outer.high
    return outer.holds(inner)


def _prefix_holds(node: str, below: str) -> bool:
    # One star stands for any rest, of no or several characters: E11* holds E11, E1165 and E116*.
    # Several stars stand for a character each: 101** holds 10115.
    kept = node.rstrip(ALL)
    stars = len(node) - len(kept)
    return (
        bool(kept)
        and below.startswith(kept)
        and (stars == 1 or (stars > 1 and len(node) == len(below)))
    )


class Days(NamedTuple):
    """The first and the last day of a unit of dates."""

    first: dt.date
    last: dt.date


def days_of(text: str) -> Days | None:
    """Return the days that a unit of dates holds; None where a text is not one.

    >>> days_of("2024-02").last, days_of("2024-Q1").last, days_of("2020-2029").first
    (datetime.date(2024, 2, 29), datetime.date(2024, 3, 31), datetime.date(2020, 1, 1))
    """
    try:
        return _days(text)
    except (ValueError, OverflowError):
        return None


def _days(text: str) -> Days:
    # The units that a release has: months, quarters, ISO weeks, years, and ranges of years.
    if month := _MONTH.fullmatch(text):
        return _months(int(month[1]), int(month[2]), 1)
    if quarter := _QUARTER.fullmatch(text):
        return _months(int(quarter[1]), 3 * int(quarter[2]) - 2, 3)
    if week := _WEEK.fullmatch(text):
        monday = dt.date.fromisocalendar(int(week[1]), int(week[2]), 1)
        return Days(monday, monday + dt.timedelta(days=6))
    if _YEAR.fullmatch(text):
        return Days(dt.date(int(text), 1, 1), dt.date(int(text), 12, 31))
    if years := _YEARS.fullmatch(text):
        return Days(dt.date(int(years[1]), 1, 1), dt.date(int(years[2]), 12, 31))
    raise ValueError(text)


def day_of(text: str, form: str) -> Days | None:
    """Return the one day of an original value; None where it is not a date of this form."""
    try:
        day = dt.datetime.strptime(text, form).date()  # noqa: DTZ007  a date has no zone
    except (ValueError, OverflowError):
        return None
    return Days(day, day)


def _months(year: int, month: int, count: int) -> Days:
    after = dt.date(year + (month + count - 1) // 12, (month + count - 1) % 12 + 1, 1)
    return Days(dt.date(year, month, 1), after - dt.timedelta(days=1))


def _dates_hold(form: str) -> Callable[[str, str], bool]:
    # A node includes a value if all of its days are among the node's.
    def holds(node: str, below: str) -> bool:
        outer, inner = days_of(node), day_of(below, form) or days_of(below)
        if outer is None or inner is None:
            return False
        return outer.first <= inner.first and inner.last <= outer.last

    return holds


def holding(
    kind: str, *, form: str = ISO, above: Mapping[str, Sequence[str]] | None = None
) -> Callable[[str, str], bool] | None:
    """Return a predicate whether a node includes a value or node; None if nobody can tell.

    >>> holding("prefix")("101**", "10115"), holding("dates")("2024-03", "2024-04-01")
    (True, False)
    >>> holding("prefix")("E11*", "E1165"), holding("prefix")("E11*", "E1")
    (True, False)
    """
    # Intervals of any origin have one meaning, which their text says.
    if kind in {"widths", "edges", "auto"}:
        return _interval_holds
    if kind == "prefix":
        return _prefix_holds
    if kind == "dates":
        return _dates_hold(form)
    if kind == "stars":
        return lambda *_: False
    # A hierarchy from a file: nobody can tell without the list of nodes above a value.
    if above is None:
        return None
    return lambda node, value: (
        node in above.get(value, ()) and label_includes(node, value) is not False
    )
