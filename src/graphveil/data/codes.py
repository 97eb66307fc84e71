"""The values of a column as codes of categories; numbers are binned by rule.

The edges of bins are published. Those derived from the data are rounded to two digits of the
spread. If values have few digits, such as ages in years, an edge can still be someone's exact
value.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, ParameterError
from graphveil.core.hints import mapping, option
from graphveil.core.libraries import pa, pc
from graphveil.core.questions import Problem
from graphveil.core.text import printable
from graphveil.data.arrow_values import written_out
from graphveil.data.id_columns import numbers_people
from graphveil.data.ids import EXACT, LARGEST, Ids, as_ids, distinct, not_unicode
from graphveil.data.ids import to_arrow as ids_to_arrow


def binned(values: pa.Array, rule: str, *, name: str) -> pa.Array:
    """Return each number as the text of its interval, which holds its upper end; null stays null.

    A number is compared in its own type: integers, decimals and text exactly, floats with the edge
    as a float of their width.
    """
    # Step 1: every number as the nearest float, with the order of the numbers.
    numbers = _nearest(values)
    known = ~np.isnan(numbers)
    # Step 2: the edges by the rule, from all numbers that are finite.
    edges = _edges(numbers[np.isfinite(numbers)], rule, name)
    # Step 3: the interval of each number, exactly if its float is that of an edge.
    labels = _labels(edges)
    intervals = _intervals(values, numbers, edges)
    return pc.take(pa.array(labels), pa.array(intervals, mask=~known))


def _nearest(values: pa.Array) -> NDArray[np.float64]:
    """Return the nearest float of every number, whose order is theirs; null is NaN."""
    kind = values.type
    if pa.types.is_floating(kind):
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        whole = values.cast(pa.uint8()) if pa.types.is_boolean(kind) else values
        numbers = np.array(pc.fill_null(whole, 0).to_numpy(zero_copy_only=False), dtype=np.float64)
        numbers[values.is_null().to_numpy(zero_copy_only=False)] = np.nan
        return numbers
    coded = values.dictionary_encode()
    each = [float(value) for value in coded.dictionary.to_pylist()]
    codes = pc.fill_null(coded.indices, len(each)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*each, np.nan])[codes], dtype=np.float64)


def _intervals(
    values: pa.Array, numbers: NDArray[np.float64], edges: list[Decimal]
) -> NDArray[np.int64]:
    """Return how many edges every number exceeds.

    The nearest float of a number decides, unless it is that of an edge as well.
    """
    # Floats are compared with the edges as floats of their own width.
    if pa.types.is_floating(values.type):
        own = values.type.to_pandas_dtype()
        below = np.array([float(edge) for edge in edges]).astype(own).astype(np.float64)
        return np.searchsorted(below, numbers, side="left")
    # Other numbers by their nearest floats, unless such a float is that of an edge, too.
    near = np.array([float(edge) for edge in edges])
    intervals = np.searchsorted(near, numbers, side="left")
    # These few are compared exactly, as decimals.
    unsure = np.flatnonzero(intervals != np.searchsorted(near, numbers, side="right"))
    if unsure.size:
        coded = values.take(pa.array(unsure)).dictionary_encode()
        exact = [bisect_left(edges, Decimal(value)) for value in coded.dictionary.to_pylist()]
        intervals[unsure] = np.array(exact)[coded.indices.to_numpy()]
    return intervals


def _edges(numbers: NDArray[np.float64], rule: str, name: str) -> list[Decimal]:
    """Return the edges, each as the number that its label spells."""
    kind, _, detail = rule.partition(":")
    if kind == "edges":
        try:
            edges = [Decimal(edge.strip()) for edge in detail.split(",")]
        except InvalidOperation:
            edges = []
        finite = all(edge.is_finite() and np.isfinite(float(edge)) for edge in edges)
        if edges and finite and all(low < high for low, high in pairwise(edges)):
            return edges
    elif kind == "median" and not detail:
        values = np.unique(numbers)  # between two values that are all there are, both are kept
        return _spelled(_quantiles(values if values.size == 2 else numbers, 2))
    elif kind == "quantiles" and detail.isascii() and detail.isdigit() and 2 <= int(detail) <= 1000:
        return _spelled(_quantiles(numbers, int(detail)))
    raise ParameterError(
        f"column {name}: unknown bins {rule!r}. Use median, quantiles:N (2 to 1000) or "
        "edges:a,b,c (increasing)."
    )


def _spelled(edges: NDArray[np.float64]) -> list[Decimal]:
    return sorted({Decimal(f"{edge:.12g}") for edge in edges.tolist()})


def _quantiles(numbers: NDArray[np.float64], parts: int) -> NDArray[np.float64]:
    if numbers.size == 0:
        return np.empty(0)
    shares = np.arange(1, parts) / parts
    if np.abs(numbers).max() > _HUGE:  # sums and differences would be infinite
        small = numbers * _SMALLER
        with np.errstate(over="ignore"):
            edges = rounded(np.quantile(small, shares), small) / _SMALLER
        return edges[np.isfinite(edges)]
    return rounded(np.quantile(numbers, shares), numbers)


_HUGE, _SMALLER = 2.0**1000, 2.0**-60
"""Numbers above the first are scaled by the second before quantiles are computed, since their sums
and differences would be infinite."""


def rounded(edges: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return edges to two digits of the spread of the numbers: distinct, in order.

    It is that of the middle 80%; where that is nothing, of all, and then the largest number.
    """
    low, high = np.quantile(numbers, [0.1, 0.9])
    spread = (high - low) or np.ptp(numbers) or np.abs(numbers).max()
    step = 10.0 ** (np.floor(np.log10(spread)) - 1) if spread else 0.0
    if step < np.finfo(np.float64).tiny:
        return np.unique(edges)
    return np.unique([float(f"{edge:.12g}") for edge in np.round(edges / step) * step])


def _labels(edges: list[Decimal]) -> list[str]:
    if not edges:
        return ["any"]
    written = [_written(edge) for edge in edges]
    between = [f"{low}<x<={high}" for low, high in pairwise(written)]
    return [f"<={written[0]}", *between, f">{written[-1]}"]


def _written(edge: Decimal) -> str:
    """Return an edge in up to twelve digits where these say it exactly, else in all of its own."""
    short = f"{float(edge) or 0.0:.12g}"  # without the sign of -0
    return short if Decimal(short) == edge else str(edge)


SUPPRESSED = -1
"""The code of a suppressed cell, shown as ``*``."""

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""Any spelling of a decimal number."""

EVERY = "all"
"""What bins name for every column of numbers that has no rule of its own."""

CODE = r"^[+-]?0[0-9]"
"""How a code such as 02139 begins: its digits are not a number."""

LONGEST_CELL = 40
"""The most characters of a cell that a message shows."""


def codes_of_column(
    values: Any, name: str, suppressed: Sequence[str], rule: str | None, *, exact: bool = False
) -> tuple[NDArray[np.int32], Ids]:
    """Return the code of every cell, -1 where it is suppressed or missing, and the categories."""
    column = _as_column(values, name)
    # Step 1: numbers with a rule become intervals.
    if rule is not None:
        column = binned(numbers_of(column, suppressed, name=name), rule, name=name)
    # Step 2: floats and decimals must be whole, unless exact values are asked for.
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        column = _whole_or_refuse(column, name, exact=exact)
    # Step 3: all but plain integers are text; some texts mark suppressed cells.
    if not _is_plain_integer(column):
        column = without_suppressed(_as_text(column, name), suppressed)
    # Step 4: the distinct values in order are the categories, and positions among them the codes.
    values_shown = as_ids(column.drop_null(), what=f"column {name}")
    categories = distinct(values_shown)
    index = pc.index_in(column, value_set=ids_to_arrow(categories).cast(column.type))
    codes = pc.fill_null(index, SUPPRESSED).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32), categories


def rules_of(
    columns: Mapping[str, Any],
    bins: Mapping[str, str],
    suppressed: Sequence[str],
    apart: Collection[str | None] = (),
) -> dict[str, str]:
    """Return the rule of every column that is binned, where `EVERY` is not a column's name.

    Its rule is that of each other column whose cells are all numbers, none of them a code such as
    02139.

    >>> columns = {"age": ["31", "*"], "zip": ["02139", "10001"], "sex": ["f", "m"]}
    >>> rules_of(columns, {"all": "median"}, ["*"])
    {'age': 'median'}
    """
    if EVERY not in bins or EVERY in columns:
        return dict(bins)
    own = {name: rule for name, rule in bins.items() if name != EVERY}
    others = {name: values for name, values in columns.items() if name not in {*own, *apart}}
    return own | {
        name: bins[EVERY]
        for name, values in others.items()
        if _holds_numbers(values, name, suppressed)
    }


def _holds_numbers(values: Any, name: str, suppressed: Sequence[str]) -> bool:
    """Whether a column has cells, and each is a number or text that spells one."""
    try:
        column = _as_column(values, name)
    except DataError:  # said where the column is read
        return False
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        cells = without_suppressed(column.cast(pa.string()), suppressed).drop_null().unique()
        codes = pc.match_substring_regex(cells, CODE)
        numbers = pc.and_not(pc.match_substring_regex(cells, NUMBER), codes)
        return len(cells) > 0 and bool(pc.all(numbers).as_py())
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(is_one(kind) for is_one in numeric) and column.null_count < len(column)


def _as_column(values: Any, name: str) -> pa.Array:
    """Return values as one Arrow array."""
    column = values if isinstance(values, pa.ChunkedArray | pa.Array) else _arrow(values, name)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return written_out(column)


def numbers_of(column: pa.Array, suppressed: Sequence[str], *, name: str) -> pa.Array:
    """Return a column as numbers, or as text that spells them, to be binned."""
    column = written_out(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = without_suppressed(column.cast(pa.string()), suppressed)
        distinct = column.drop_null().unique()
        others = distinct.filter(pc.invert(pc.match_substring_regex(distinct, NUMBER)))
        if len(others):
            raise DataError.asking(
                [_no_number(column, value, name) for value in others.to_pylist()],
                {"suppressed": suppressed},
            )
        return column
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    if not any(is_number(column.type) for is_number in (*numbers, pa.types.is_null)):
        raise DataError(
            f"column {name} has type {column.type}, which cannot be binned. Remove the bins."
        )
    return column.cast(pa.float64()) if pa.types.is_null(column.type) else column


def _no_number(column: pa.Array, value: str, name: str) -> Problem:
    """Return the question about a text among numbers that are to be binned."""
    times = pc.sum(pc.equal(column, value)).as_py()
    seen = f"{printable(value, LONGEST_CELL)} ({times:,}x)"
    found = f"column {name}: {seen} is not a number, so the column cannot be binned"
    say = "mark such values as suppressed, or remove the bins"
    return Problem(name, "suppressed", value, found, say)


def without_suppressed(column: pa.Array, suppressed: Sequence[str]) -> pa.Array:
    """Return a column of text with null where a cell is one of these texts."""
    hidden = pc.is_in(column, value_set=pa.array(list(suppressed), type=pa.string()))
    return pc.if_else(hidden, pa.scalar(None, type=pa.string()), column)


def _is_plain_integer(column: pa.Array) -> bool:
    """Whether the column holds integers that can be ids: from 0 to the largest int64."""
    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    return ends["min"] is None or (ends["min"] >= 0 and ends["max"] <= LARGEST)


def _as_text(column: pa.Array, name: str) -> pa.Array:
    kind = column.type
    if pa.types.is_timestamp(kind):
        column = _shortest(column)
    try:
        if pa.types.is_fixed_size_binary(kind) or isinstance(kind, pa.BaseExtensionType):
            raise pa.ArrowNotImplementedError
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise _unreadable(name, f"has type {kind}, which is not categorical") from error


def _unreadable(name: str, what: str) -> DataError:
    """Return the error of a column that cannot be read as it is."""
    say = "convert it to integers or text, for example with astype(str), or drop it"
    return DataError.asking([Problem(name, "drop", name, f"column {name} {what}", say)], {})


def _shortest(column: pa.Array) -> pa.Array:
    """Return times as days where all begin one, and without parts of a second that all lack."""
    for kind in (pa.date32(), pa.timestamp("s", column.type.tz)):
        if pa.types.is_date(kind) and column.type.tz is not None:
            continue
        shorter = column.cast(kind, safe=False)
        if shorter.cast(column.type).equals(column):  # nothing is lost
            return shorter
    return column


def _arrow(values: Any, name: str) -> pa.Array:
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    try:
        return pa.array(listed, from_pandas=True)
    except UnicodeEncodeError as error:
        raise not_unicode(error, what=f"column {name}") from error
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if all(value is None or isinstance(value, int) for value in listed):  # beyond int64
            return pa.array([None if value is None else str(value) for value in listed])
        raise mixed_types(name) from error


def mixed_types(name: str) -> DataError:
    """Return the error of a column in which some values are text and others are not."""
    return _unreadable(name, "mixes types or holds objects")


FRACTIONS = (
    "numbers with fractions need bins (median, quantiles:N or edges:A,B,C), as a level must be an "
    "integer"
)
"""What can be done with a column of numbers that are not whole."""


def fractions_in(name: str, value: object) -> Problem:
    """Return the question about a column of numbers, one of which is not whole."""
    return Problem(name, "bins", "median", f"column {name} is numeric ({value})", FRACTIONS)


def _whole_or_refuse(column: pa.Array, name: str, *, exact: bool) -> pa.Array:
    if pa.types.is_decimal(column.type):
        digits = min(column.type.precision + 1, 76)  # a floor may have one digit more
        wide = column.cast(pa.decimal256(digits, column.type.scale))
        fractions = pc.not_equal(pc.floor(wide), wide)
    else:
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, type=column.type), column)
        large = pc.greater(pc.abs(column), EXACT)
        fractions = pc.or_(pc.not_equal(pc.floor(column), column), large)
    if exact and pc.any(fractions).as_py():
        return column
    if pc.any(fractions).as_py():
        first = column.filter(fractions)[0].as_py()
        raise DataError.asking([fractions_in(name, first)], {})
    return column.cast(pa.int64())


DAY = r"^\d{4}-\d{2}-\d{2}$"

DATE = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$"
"""A date, with or without its time, as ISO 8601 writes it."""


ISO = "%Y-%m-%d"
"""How ISO 8601 writes a day."""

DATE_FORMS = (
    *(ISO, "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"),
    *("%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y%m%d"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%y"),
)
"""How dates are often written; the last ones do not say the century."""


def day_of(text: str, form: str) -> dt.date | None:
    """Return the day that a text in a form of `datetime.datetime.strptime` names; None if none."""
    try:
        return dt.datetime.strptime(text, form).date()  # noqa: DTZ007  a date has no zone
    except ValueError:
        return None


class WrittenDates(NamedTuple):
    """How a column writes dates, and the levels that are right in each way to read it."""

    forms: tuple[str, ...]
    levels: str
    example: str

    def questions(self, name: str) -> list[Problem]:
        """Return the question how the dates of this column are read; none if ISO 8601 says it."""
        if self.forms[0] == ISO:
            return []
        ways = " or ".join(mapping("dates", name, form) for form in self.forms)
        unsure = " The proposed levels are the same in both." if len(self.forms) > 1 else ""
        found = f"column {name} writes dates as {printable(self.example, LONGEST_CELL)}"
        return [Problem(name, "dates", self.forms[0], found, f"use {ways}.{unsure}".rstrip("."))]


def written_dates(values: Ids) -> WrittenDates | None:
    """Return how these texts write dates; None if they are not all dates of one form.

    Two forms may fit all of them. If these differ in a year, there are no levels that suit both.

    >>> written_dates(as_ids(["03/04/1990", "25/04/1990"], what="days"))[:2]
    (('%d/%m/%Y',), 'month,year')
    >>> written_dates(as_ids(["03/04/1990", "05/06/1990"], what="days"))[:2]
    (('%d/%m/%Y', '%m/%d/%Y'), 'year,decade')
    >>> written_dates(as_ids(["1989-12-31", "1990-01-01"], what="days")).levels
    'month,year,decade'
    """
    if values.dtype.kind == "i" or not values.size:
        return None
    texts = [str(value) for value in values.tolist()]
    fitting = {}
    for form in DATE_FORMS:
        if not form.endswith("y") and all(day_of(text, form) is not None for text in texts):
            fitting[form] = [day_of(text, form) for text in texts]
    years = {tuple(day.year for day in days if day is not None) for days in fitting.values()}
    if len(years) != 1:
        return None
    decades = {year // 10 for year in next(iter(years))}
    units = ["month", "year"] if len(fitting) == 1 else ["year"]
    units += ["decade"] if len(decades) > 1 or len(fitting) > 1 else []
    return WrittenDates(tuple(fitting), ",".join(units), texts[0])


def measures(name: str, values: Ids) -> bool:
    """Whether a column has numbers, which do not count or name people."""
    if not values.size:
        return False
    whole = values.dtype.kind == "i"
    numeric = whole or pc.all(pc.match_substring_regex(ids_to_arrow(values), NUMBER)).as_py()
    return bool(numeric) and not numbers_people(name, values)


AMONG_NUMBERS = (
    *("", ".", "-", "?", "na", "n/a", "nan", "null", "none", "#null!", "#n/a", "<na>"),
    *(f"{sign}{word}" for sign in ("", "+", "-") for word in ("inf", "infinity")),
)
"""What a cell says, in lower case and without space, that may stand for no number."""

AMONG_TEXTS = (".", "-", "?", "na", "n/a", "nan", "null", "#null!", "#n/a", "<na>", "\\n")
"""As before, for no text: `none` is one that people give as an answer."""


def missing_in(
    name: str, column: pa.Array, suppressed: Collection[str], categories: Collection[str]
) -> Iterator[Problem]:
    """Yield a question for each word of a text column that may stand for no value."""
    counts = {
        pair["values"]: pair["counts"]
        for pair in column.drop_null().value_counts().to_pylist()
        if pair["values"] not in suppressed
    }
    meant = {folded(word) for word in categories}
    others = pa.array([v for v in counts if folded(v) not in AMONG_NUMBERS], type=pa.string())
    numbers = len(others) > 0 and pc.all(pc.match_substring_regex(others, NUMBER)).as_py()
    words = AMONG_NUMBERS if numbers else AMONG_TEXTS
    for value, count in counts.items():
        is_sign = folded(value) == "-" and "+" in counts
        if folded(value) in words and folded(value) not in meant and not is_sign:
            seen = printable(value, LONGEST_CELL) if value.strip() else repr(value)
            say = f'if such a value means "missing", list it in {option("suppressed")}; if it is a '
            say += f"value, use {option('categories')} instead"
            yield Problem(name, "suppressed", value, f"column {name} has {seen} ({count:,}x)", say)


def questions_of_text(
    name: str, values: Any, suppressed: Collection[str], categories: Collection[str]
) -> list[Problem]:
    """Return the questions of `missing_in` about a column; none where it is not text."""
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    column = written_out(column) if isinstance(column, pa.Array) else _arrow(column, name)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return []
    return list(missing_in(name, column.cast(pa.string()), suppressed, categories))


def folded(word: str) -> str:
    """Return a word as it is compared: without space, in lower case."""
    return word.strip().lower()
