"""Levels of a column by a rule: the text that an owner writes becomes a hierarchy of its values.

The rules are widths (``5,10,20``), edges (``edges:18,65``), prefixes (``prefix:4,3,2``), units of
dates (``month,year``), quantiles of the data (``auto``), suppression alone (``stars``), and a csv
file. Each gives for every level the text of the node of every distinct value, and its loss:

- intervals and dates: the width of the interval over the width of all intervals together, so that
  a loss does not depend on which values inside an interval the data has;
- prefixes, suppression and files: the share of the other leaves below the node.

Whole numbers have intervals with both ends in them (``20-39``): width minus 1 counts. Others are
half open (``[20, 40)``). Edges are decimal numbers, compared exactly with values that floats do not
hold. Only ``auto`` computes edges from the data, and says so (`Hierarchy.from_the_data`).

Cost: O(n log n) to find the distinct values, then O(values x levels).
"""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from graphveil.claims.manifest import LevelsKind
from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import DataError, ParameterError
from graphveil.core.hints import mapping, several
from graphveil.core.libraries import pa, pc
from graphveil.core.text import printable
from graphveil.data.codes import DATE_FORMS, ISO, day_of, numbers_of, rounded
from graphveil.data.ids import EXACT
from graphveil.methods.generalize.hierarchy import ALL, LONGEST, Hierarchy, read_levels

_LARGEST = 1e25
"""Larger numbers are refused: `Decimal` computes with 28 digits, and so exactly below this."""

FINEST_PARTS = 64
"""``auto`` cuts a column into this many parts of about as many rows, and joins them by twos.

A power of two, so that each level halves the parts: six levels of 64 to 2. More parts would publish
finer cells and more quantiles of the data.
"""

MOST_EDGES = 1_000_000
"""The most intervals of one width: their edges are listed, whether or not they hold values."""

UNITS = ("week", "month", "quarter", "year", "decade")

KINDS = (
    "widths such as 5,10, edges:18,65, prefix:3,2, month,year, auto, stars, or a csv file of levels"
)
"""The rules, as an error message lists them."""


class Values(NamedTuple):
    """The distinct values of a column in rising order, and which row has which.

    Parameters
    ----------
    name
        The name of the column.
    texts, array
        The m values, as texts and in the type of the column.
    first, counts
        int64, shape (m,): the first row that has a value, and the number of rows.
    codes
        int64, shape (n,): the value of every row; -1 is missing.
    """

    name: str
    texts: list[str]
    array: pa.Array
    first: Ints
    counts: Ints
    codes: Ints


class Column(NamedTuple):
    """The hierarchy of a column, and the leaf of every row: int64, shape (n,)."""

    hierarchy: Hierarchy
    leaves: Ints


def values_of(name: str, column: pa.ChunkedArray | pa.Array, suppressed: Sequence[str]) -> Values:
    """Return the distinct values of a column; null, NaN and the texts `suppressed` are missing.

    Raises `DataError` if values of its type cannot be written as text.
    """
    # Decode dictionaries; NaN becomes null.
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, type=array.type), array)
    try:
        spelled = pc.cast(array, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name} has type {array.type}, which cannot be generalized. Convert it to "
            "numbers, text or dates."
        ) from error
    # Texts that stand for a missing cell become null as well.
    missing = pc.is_in(spelled, value_set=pa.array(list(suppressed), type=pa.string()))
    array = pc.if_else(missing, pa.scalar(None, type=array.type), array)
    # Sort the distinct values in their own type: numbers as numbers, not as text.
    known = pc.drop_null(array)
    distinct = pc.unique(known)
    distinct = distinct.take(pc.sort_indices(distinct))
    codes = pc.fill_null(pc.index_in(array, value_set=distinct), -1).to_numpy(zero_copy_only=False)
    shown, first = np.unique(codes, return_index=True)
    texts = pc.cast(distinct, pa.string()).to_pylist()
    counts = np.bincount(codes[codes >= 0], minlength=len(distinct))
    return Values(name, texts, distinct, first[shown >= 0], counts, codes.astype(np.int64))


def column_of(values: Values, levels: str, date_format: str | None = None) -> Column:
    """Return the hierarchy of a column by a rule, with ``*`` for missing cells.

    Parameters
    ----------
    values
        The distinct values of the column.
    levels
        The rule: widths ``5,10,20``, each a multiple of the one before; ``edges:18,65``;
        ``prefix:4,3,2``; units of dates ``month,year,10``, with ``week``, ``quarter`` and
        ``decade``; ``auto``; ``stars``; or a csv file.
    date_format
        How the column writes dates, such as ``%d/%m/%Y``. Default: ISO 8601.

    Returns
    -------
    Column
        The hierarchy and the leaf of every row.

    Raises
    ------
    ParameterError
        If `levels` is not one of these rules.
    DataError
        If the values do not suit the rule.
    InputError
        If a file does not hold levels.
    """
    kind, detail = kind_of_levels(levels), levels.partition(":")[2]
    parts = [part.strip() for part in levels.split(",")]
    if kind == "file" and (levels.endswith(".csv") or Path(levels).exists()):
        return _by_file(values, levels)
    if kind == "file":
        raise ParameterError(
            f"levels of {values.name}: {printable(levels, LONGEST)} is not a kind of levels. "
            f"Use {KINDS}."
        )
    hierarchy = {
        "stars": lambda: Hierarchy.of([values.texts or [ALL]]),
        "auto": lambda: _by_quantiles(values),
        "edges": lambda: _by_edges(values, [_increasing(values.name, levels, detail)]),
        "prefix": lambda: _by_prefix(values, levels, detail),
        "dates": lambda: _by_dates(values, parts, date_format),
        "widths": lambda: _by_widths(values, parts),
    }[kind]()
    return _with_leaves(values, hierarchy, np.arange(len(values.texts)))


def kind_of_levels(levels: str) -> LevelsKind:
    """Return the kind of rule that `column_of` reads a text as: a file if it is no other.

    >>> kind_of_levels("month,year"), kind_of_levels("job.csv"), kind_of_levels("5,10")
    ('dates', 'file', 'widths')
    """
    kind, _, detail = levels.partition(":")
    if levels in {"stars", "auto"}:
        return cast("LevelsKind", levels)
    if kind in {"edges", "prefix"} and detail:
        return cast("LevelsKind", kind)
    parts = [part.strip() for part in levels.split(",")]
    if parts[0] in UNITS:
        return "dates"
    return "widths" if all(_decimal(part) is not None for part in parts) else "file"


def _with_leaves(values: Values, hierarchy: Hierarchy, leaves: Ints) -> Column:
    """Return the column, with one more leaf for missing cells if there are any.

    `leaves`: int64, shape (m,): the leaf of every distinct value.
    """
    # A missing cell agrees with others at ``*`` alone, so it never counts as fitting a class. A
    # column without any value has ``*`` as its only leaf. Otherwise code -1 finds the last leaf.
    if values.codes.min(initial=0) >= 0 or not leaves.size:
        return Column(hierarchy, leaves[values.codes] if leaves.size else values.codes * 0)
    extended = hierarchy.with_missing()
    return Column(extended, np.append(leaves, extended.nodes.shape[1] - 1)[values.codes])


def _by_file(values: Values, path: str) -> Column:
    """Return the column by the levels of a file, whose leaves are all values that it lists."""
    # Every value of the data must be listed; name the first that is not.
    listed = read_levels(path, column=values.name, values=values.texts)
    lacking = [i for i, value in enumerate(values.texts) if value not in listed.leaves]
    if lacking:
        i = min(lacking, key=lambda code: int(values.first[code]))
        value = values.texts[i]
        more = f" and {len(lacking) - 1} more values" if len(lacking) > 1 else ""
        raise DataError(
            f"{Path(path).name} lacks {printable(value, LONGEST)}{more} of column {values.name} "
            f"(count {values.counts[i]}, first in row {values.first[i]}). Add it to the file of "
            f"{mapping('levels', values.name, path)}, or use {several('suppressed', ALL, value)}."
        )
    leaves = np.array([listed.leaves[value] for value in values.texts], dtype=np.int64)
    return _with_leaves(values, listed.hierarchy, leaves)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _numbers(values: Values) -> Floats:
    """Return the values as numbers, or refuse them."""
    # Text or dates of which none is a number: suggest the rules for those.
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_temporal)
    no_numbers = all(_decimal(text) is None for text in values.texts)
    if no_numbers and any(of_kind(values.array.type) for of_kind in kinds):
        first = printable(values.texts[int(np.argmin(values.first))], LONGEST)
        raise DataError(
            f"column {values.name}: {first} (row {values.first.min()}) is not a number, nor is "
            f"any other value. Use {mapping('levels', values.name, 'month,year')} for dates, or "
            f"{mapping('levels', values.name, 'prefix:2')} or a file for text."
        )
    numbers = numbers_of(values.array, (), name=values.name)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _exact(values: Values, numbers: Floats) -> list[Decimal] | None:
    """Return the values as decimal numbers if floats may not hold them exactly, otherwise None."""
    # Floats hold whole numbers exactly up to 2^53 (`EXACT`); decimals are exact by themselves.
    kind = values.array.type
    large = np.isfinite(numbers).all() and np.abs(numbers).max(initial=0) >= EXACT
    if not large and not pa.types.is_decimal(kind):
        return None
    if np.abs(numbers).max(initial=0) >= _LARGEST:
        raise DataError(
            f"column {values.name} has {numbers.max():.3g}, which is too large for intervals. Use "
            f"{mapping('levels', values.name, 'prefix:2')} or a file."
        )
    if pa.types.is_floating(kind):
        return [Decimal(number) for number in numbers.tolist()]
    return [Decimal(text) for text in values.texts]


def _intervals_of(
    edges: Sequence[Decimal], numbers: Floats, exact: Sequence[Decimal] | None
) -> Ints:
    """Return how many of the rising edges each number reaches: its interval, int64, shape (m,)."""
    if exact is None:
        return np.searchsorted(np.array(edges, dtype=np.float64), numbers, side="right")
    return np.array([bisect_right(edges, number) for number in exact], dtype=np.int64)


def _are_whole(numbers: Floats) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def _by_widths(values: Values, parts: Sequence[str]) -> Hierarchy:
    """Return intervals of these widths, one level each, which begin at multiples of the widths."""
    # Each width divides the next, so that levels nest.
    given = ",".join(parts)
    widths = [Decimal(part) for part in parts]
    if widths[0] <= 0:
        raise ParameterError(
            f"levels {values.name}={given}: a width is positive. Remove {parts[0]}."
        )
    for width, wider in pairwise(widths):
        if wider % width or wider <= width:
            raise ParameterError(
                f"{values.name}={given}: {wider} is not a multiple of {width}. Use widths that are "
                "each a multiple of the one before."
            )
    numbers = _numbers(values)
    whole = _are_whole(numbers)
    if whole and any(width % 1 for width in widths):
        raise ParameterError(
            f"{values.name}={given}: the values are whole numbers. Use whole widths."
        )
    # Cover the values by intervals of the widest width. Losses are shares of their `span`, which is
    # 1 less for whole numbers and may be 0: 1e-300 keeps the division finite.
    exact = _exact(values, numbers)
    ends = exact or [Decimal(repr(float(end))) for end in (numbers.min(), numbers.max())]
    low, high = (math.floor(end / widths[-1]) for end in (min(ends), max(ends)))
    lowest, highest = low * widths[-1], (high + 1) * widths[-1]
    span = float(highest - lowest) - whole
    levels, losses = [values.texts], [np.zeros(numbers.size)]
    for width in widths:
        count = int((highest - lowest) / width)
        if count > MOST_EDGES:
            raise ParameterError(
                f"{values.name}={given}: width {width} makes {count:,} intervals. Use wider ones."
            )
        # The interval of every value, its text, and its width as a share of the span.
        edges = [lowest + width * i for i in range(count + 1)]
        at = _intervals_of(edges, numbers, exact) - 1
        plain = whole and lowest >= 0
        texts = {i: _interval(edges[i], edges[i + 1], plain=plain) for i in np.unique(at).tolist()}
        levels.append([texts[i] for i in at.tolist()])
        losses.append(np.full(numbers.size, min((float(width) - whole) / max(span, 1e-300), 1.0)))
    return Hierarchy.of(levels, losses=np.array(losses), source=f"levels of {values.name}")


def _interval(low: Decimal, high: Decimal, *, plain: bool) -> str:
    """Return ``20-39``, both ends included, for whole numbers from 0 on; otherwise ``[20, 40)``."""
    if not plain:
        return f"[{_spelled(low)}, {_spelled(high)})"
    last = high - 1
    return _spelled(low) if last == low else f"{_spelled(low)}-{_spelled(last)}"


def _spelled(number: Decimal) -> str:
    text = f"{number.normalize():f}"
    return "0" if text == "-0" else text


def _increasing(name: str, levels: str, detail: str) -> list[Decimal]:
    """Return the edges that a rule lists, or refuse it."""
    edges = [_decimal(part) for part in detail.split(",")]
    numbers = [edge for edge in edges if edge is not None]
    if len(numbers) < len(edges) or any(low >= high for low, high in pairwise(numbers)):
        raise ParameterError(
            f"levels of {name}: {printable(levels, LONGEST)} does not list rising numbers. Use "
            "edges such as edges:18,65."
        )
    return numbers


def _by_edges(
    values: Values, levels: Sequence[Sequence[Decimal]], *, from_the_data: bool = False
) -> Hierarchy:
    """Return intervals between edges, one level per list, each list a subset of the one before.

    An interval holds its lower edge. The outer ones are open: they end at the least and the
    greatest value for their losses alone.
    """
    numbers = _numbers(values)
    whole = _are_whole(numbers) and all(edge % 1 == 0 for edges in levels for edge in edges)
    listed, losses = [values.texts], [np.zeros(numbers.size)]
    all_edges = [float(edge) for edges in levels for edge in edges]
    exact = _exact(values, numbers)
    lowest, highest = min([*all_edges, numbers.min()]), max([*all_edges, numbers.max() + whole])
    for edges in levels:
        # The interval of every value, its text, and its width as a share of the span.
        ends = np.array(edges, dtype=np.float64)
        at = _intervals_of(edges, numbers, exact)
        plain = whole and edges[0] >= 0
        inner = [_interval(low, high, plain=plain) for low, high in pairwise(edges)]
        texts = [f"<{_spelled(edges[0])}", *inner, f">={_spelled(edges[-1])}"]
        listed.append([texts[i] for i in at.tolist()])
        width = np.diff([lowest, *ends, highest])[at] - whole
        losses.append(np.clip(width / max(highest - lowest - whole, 1e-300), 0.0, 1.0))
    return Hierarchy.of(
        listed,
        losses=np.array(losses),
        source=f"levels of {values.name}",
        from_the_data=from_the_data,
    )


def _by_quantiles(values: Values) -> Hierarchy:
    """Return intervals of about as many rows each, joined by twos from level to level.

    The edges are quantiles of the data, rounded to two digits of its spread. They are published: an
    edge can be the exact value of a row.
    """
    # Cut at quantiles of the rows, inside the range of the values.
    numbers = _numbers(values)
    rows = np.repeat(numbers, values.counts)
    cuts = rounded(np.quantile(rows, np.arange(1, FINEST_PARTS) / FINEST_PARTS), rows)
    if _are_whole(numbers):
        cuts = np.unique(np.ceil(cuts))
    cuts = cuts[(cuts > numbers.min()) & (cuts <= numbers.max())]
    # Every other cut stays at the next level, until there is none.
    levels = []
    while cuts.size:
        levels.append([Decimal(repr(float(cut))) for cut in cuts])
        cuts = cuts[1::2]
    if not levels:
        return Hierarchy.of([values.texts])
    return _by_edges(values, levels, from_the_data=True)


def _by_prefix(values: Values, levels: str, detail: str) -> Hierarchy:
    """Return the first characters of each text, one level per length, the others as ``*``.

    Where codes have several lengths, one star at the end hides the others, so that it does not show
    how long the code was: ``E11*`` for E11, E110 and E1165. A shorter code than a level's stays.
    """
    parts = detail.split(",")
    lengths = [int(part) for part in parts if part.strip().isascii() and part.strip().isdigit()]
    if len(lengths) < len(parts) or any(long <= short for long, short in pairwise([*lengths, 0])):
        raise ParameterError(
            f"levels of {values.name}: {printable(levels, LONGEST)} does not list falling lengths. "
            "Use a prefix such as prefix:4,3,2."
        )
    # Digits of different lengths, such as zip codes read as numbers, may lack leading zeros.
    shortest, longest = min(values.texts, key=len), max(values.texts, key=len)
    if len(shortest) != len(longest) and all(map(str.isdecimal, values.texts)):
        raise DataError(
            f"{values.name}: {shortest} and {longest} have different lengths, so leading zeros "
            f"may be lost. Read the column as text, with {shortest.zfill(len(longest))}, or use "
            f"{mapping('levels', values.name, f'{values.name}.csv')}, a file of levels."
        )
    one_length = len(shortest) == len(longest)
    cut = [
        [
            text[:length] + ALL * (len(text) - length if one_length else len(text) >= length)
            for text in values.texts
        ]
        for length in lengths
    ]
    return Hierarchy.of([values.texts, *cut], source=f"levels of {values.name}")


def _by_dates(values: Values, parts: Sequence[str], date_format: str | None) -> Hierarchy:
    """Return weeks, months, quarters, years or spans of years, one level per part of the rule."""
    # The unit of every value, level by level; nesting is checked with the texts.
    days = _days(values, date_format)
    listed, spans = [values.texts], []
    for part in parts:
        years = 10 if part == "decade" else int(part) if part.isdigit() else 0
        if part not in UNITS and years < 2:
            raise ParameterError(
                f"levels of {values.name}: {printable(part, LONGEST)} is not a unit of dates. Use "
                f"{', '.join(UNITS)} or a number of years, from fine to coarse."
            )
        nodes = [_unit(day, part, years) for day in days]
        listed.append([node.text for node in nodes])
        spans.append(nodes)
    # A unit's loss is its days over all days that the units of any level cover, less 1 each.
    low = min(node.first for nodes in spans for node in nodes).toordinal()
    high = max(node.last for nodes in spans for node in nodes).toordinal()
    lengths = [[(node.last - node.first).days for node in nodes] for nodes in spans]
    losses = np.array([[0] * len(days), *lengths]) / max(high - low, 1)
    return Hierarchy.of(listed, losses=losses, source=f"levels of {values.name}")


class _Span(NamedTuple):
    """A unit of dates: its text, its first and its last day."""

    text: str
    first: dt.date
    last: dt.date


def _unit(day: dt.date, unit: str, years: int) -> _Span:
    """Return the week, month, quarter, year or span of `years` years that holds a day.

    Weeks are those of ISO 8601. Spans of years begin at multiples of their length.
    """
    if unit == "week":
        year, week, weekday = day.isocalendar()
        first = day - dt.timedelta(days=weekday - 1)
        return _Span(f"{year}-W{week:02}", first, first + dt.timedelta(days=6))
    # Other units are a number of months, counted from the year 0, clipped to the dates of Python.
    months = {"month": 1, "quarter": 3, "year": 12}.get(unit, 12 * years)
    count = (day.year * 12 + day.month - 1) // months
    first = dt.date(max(count * months // 12, 1), count * months % 12 + 1, 1)
    after = (count + 1) * months
    last = dt.date.max
    if after // 12 <= last.year:
        last = dt.date(after // 12, after % 12 + 1, 1) - dt.timedelta(days=1)
    texts = {"month": f"{day:%Y-%m}", "quarter": f"{day:%Y}-Q{count % 4 + 1}", "year": f"{day:%Y}"}
    return _Span(texts.get(unit, f"{first.year}-{first.year + years - 1}"), first, last)


def _days(values: Values, date_format: str | None) -> list[dt.date]:
    """Return the values as dates, or refuse them."""
    if pa.types.is_temporal(values.array.type):
        return [day.as_py() for day in values.array.cast(pa.timestamp("us")).cast(pa.date32())]
    days = [day_of(text, date_format or ISO) for text in values.texts]
    read = [day for day in days if day is not None]
    if len(read) < len(days):
        _refuse_dates(values, [day is not None for day in days], date_format)
    return read


def _refuse_dates(values: Values, are_read: Sequence[bool], date_format: str | None) -> None:
    """Refuse values of which some are not dates of this form; name one that is and one that is not.

    If no value has the default form, the message names the forms that fit instead.
    """
    # No value has the default form: one of the common other forms may read all of them.
    if date_format is None and not any(are_read):
        _refuse_other_spellings(values)
    # Otherwise show the first value that is read and the first that is not, with their rows.
    first: dict[bool, int] = {}
    for i in np.argsort(values.first).tolist():
        first.setdefault(are_read[i], i)
    shown = {
        read: f"{printable(values.texts[i], LONGEST)} (row {values.first[i]})"
        for read, i in first.items()
    }
    form = date_format or "YYYY-MM-DD"
    way = f"Use {mapping('dates', values.name, '%d/%m/%Y')} or its like."
    if date_format is not None:
        way = f"Use the form of the values, such as {mapping('dates', values.name, '%Y-%m-%d')}."
    if len(first) == 1:
        raise DataError(f"column {values.name}: {shown[False]} is not a date written {form}. {way}")
    raise DataError(
        f"column {values.name}: {shown[True]} is a date written {form}, but {shown[False]} is not. "
        f"Use one spelling. {way}"
    )


def _refuse_other_spellings(values: Values) -> None:
    """Refuse values that another form of dates reads: name the forms that read all of them.

    If no form reads all, name the first value and one that the best form does not read. Values that
    do not look like dates are not refused here.
    """
    # Which of the other common forms reads which value, in the order of the rows.
    in_order = np.argsort(values.first).tolist()
    reads = {
        form: [day_of(values.texts[i], form) is not None for i in in_order]
        for form in DATE_FORMS[1:]
    }
    shown = [f"{printable(values.texts[i], LONGEST)} (row {values.first[i]})" for i in in_order]
    fitting = [form for form, are in reads.items() if all(are)]
    if fitting:
        # Show the value whose day depends most on the form, such as 03/04/2024.
        ways = " or ".join(mapping("dates", values.name, form) for form in fitting)
        days = [sorted({str(day_of(values.texts[i], form)) for form in fitting}) for i in in_order]
        at = max(range(len(days)), key=lambda row: len(days[row]))
        raise DataError(
            f"column {values.name}: {shown[at]} is not a date written YYYY-MM-DD, but may be "
            f"{' or '.join(days[at])}. Use {ways}."
        )
    # The form that reads most values reads the first one, but not all: two spellings.
    closest = max(reads.values(), key=sum)
    if closest[0]:
        raise DataError(
            f"column {values.name}: {shown[0]} and {shown[closest.index(False)]} are two spellings "
            "of dates. Write all dates in the same way, and use "
            f"{mapping('dates', values.name, '%d/%m/%Y')} or its like."
        )
