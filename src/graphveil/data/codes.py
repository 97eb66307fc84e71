"""The values of a column as codes of categories; numbers are binned by rule.

The edges of bins are published. Those derived from the data are rounded to two digits of the
spread. If values have few digits, such as ages in years, an edge can still be somebody's exact
value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, ParameterError, mapping
from graphveil.core.lazy import lazy_module
from graphveil.core.text import printable
from graphveil.data.ids import (
    LARGEST,
    Ids,
    as_ids,
    distinct,
    not_unicode,
    written_out,
)
from graphveil.data.ids import to_arrow as ids_to_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")


def binned(values: pa.Array, rule: str, *, name: str) -> pa.Array:
    """Return each number as the text of its interval; null stays null.

    Parameters
    ----------
    values
        An Arrow column of numbers.
    rule
        ``median``, ``quantiles:N`` or ``edges:a,b,c``; an interval holds its upper end. The first
        two are rounded, as `rounded` says. Of two values in all the median is the middle.
    name
        The column, for messages.

    Raises
    ------
    ParameterError
        Where the rule is none of these.

    Examples
    --------
    >>> import pyarrow as pa
    >>> binned(pa.array([1.0, 2.0, 9.0, None]), "edges:1.5", name="age").to_pylist()
    ['<=1.5', '>1.5', '>1.5', None]
    """
    import pyarrow as pa  # noqa: PLC0415  heavy: not for help
    import pyarrow.compute as pc  # noqa: PLC0415  heavy: not for help

    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    known = np.isfinite(numbers)
    edges = _edges(numbers[known], rule, name)
    labels = _labels(edges)
    intervals = np.searchsorted(edges, numbers, side="left")
    return pc.take(pa.array(labels), pa.array(intervals, mask=~known))


def _edges(numbers: NDArray[np.float64], rule: str, name: str) -> NDArray[np.float64]:
    kind, _, detail = rule.partition(":")
    if kind == "edges":
        try:
            edges = [float(edge) for edge in detail.split(",")]
        except ValueError:
            edges = []
        if edges and np.all(np.isfinite(edges)) and np.all(np.diff(edges) > 0):
            return np.array(edges)
    elif kind == "median" and not detail:
        return _middle(numbers)
    elif kind == "quantiles" and detail.isascii() and detail.isdigit() and 2 <= int(detail) <= 1000:
        return _quantiles(numbers, int(detail))
    raise ParameterError(
        f"column {name}: unknown bins {rule!r}. Use median, quantiles:N (2 to 1000) or "
        "edges:a,b,c (increasing)."
    )


def _middle(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median; between two values that are all there are, so that both are kept."""
    values = np.unique(numbers)
    return _quantiles(values if values.size == 2 else numbers, 2)


def _quantiles(numbers: NDArray[np.float64], parts: int) -> NDArray[np.float64]:
    if numbers.size == 0:
        return np.empty(0)
    return rounded(np.quantile(numbers, np.arange(1, parts) / parts), numbers)


def rounded(edges: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return edges to two digits of the spread of the numbers: distinct, in order.

    The spread is what the middle 80% of the numbers cover; where that is nothing, all of them;
    where that is nothing, the largest of them.

    Examples
    --------
    >>> ages = np.array([18.0, 31.0, 37.5, 44.0, 90.0])
    >>> rounded(np.array([37.5]), ages).tolist(), rounded(np.array([37.5]), ages * 100).tolist()
    ([38.0], [0.0])
    """
    low, high = np.quantile(numbers, [0.1, 0.9])
    spread = (high - low) or np.ptp(numbers) or np.abs(numbers).max()
    if not spread:
        return np.unique(edges)
    step = 10.0 ** (np.floor(np.log10(spread)) - 1)
    return np.unique([float(f"{edge:.12g}") for edge in np.round(edges / step) * step])


def _labels(edges: NDArray[np.float64]) -> list[str]:
    if edges.size == 0:
        return ["any"]
    written = [f"{edge:.12g}" for edge in edges]
    between = [f"{low}<x<={high}" for low, high in pairwise(written)]
    return [f"<={written[0]}", *between, f">{written[-1]}"]


SUPPRESSED = -1
"""The code of a suppressed cell, shown as ``*``."""

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""Any spelling of a decimal number."""

LONGEST_CELL = 40
"""The most characters of a cell that a message shows."""


def codes_of_column(
    values: Any, name: str, suppressed: Sequence[str], rule: str | None
) -> tuple[NDArray[np.int32], Ids]:
    """Return the code of every cell, -1 where it is suppressed or missing, and the categories.

    Parameters
    ----------
    values
        An Arrow column, or anything that can be listed.
    name
        The column's, for messages.
    suppressed
        Texts that stand for a suppressed cell.
    rule
        How numbers are binned; None where they are whole or the column is text.

    Raises
    ------
    DataError
        Where the values are no categories, or no numbers and a rule is given.
    """
    column = values if isinstance(values, pa.ChunkedArray | pa.Array) else _arrow(values, name)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    column = written_out(column)
    if rule is not None:
        column = binned(numbers_of(column, suppressed, name=name), rule, name=name)
    if pa.types.is_floating(column.type):
        column = _whole_or_refuse(column, name)
    if not _is_plain_integer(column):
        column = without_suppressed(_as_text(column, name), suppressed)
    values_shown = as_ids(column.drop_null(), what=f"column {name}")
    categories = distinct(values_shown)
    index = pc.index_in(column, value_set=ids_to_arrow(categories).cast(column.type))
    codes = pc.fill_null(index, SUPPRESSED).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32), categories


def numbers_of(column: pa.Array, suppressed: Sequence[str], *, name: str) -> pa.DoubleArray:
    """Return a column as numbers, to be binned; suppressed cells are null.

    Parameters
    ----------
    column
        Numbers, or text that spells some.
    suppressed
        Texts that stand for a suppressed cell.
    name
        The column's, for messages.

    Raises
    ------
    DataError
        Where a text is neither a decimal number nor suppressed, or the column holds neither.

    Examples
    --------
    >>> numbers_of(pa.array(["3", "*", "1e2"]), ["*"], name="age").to_pylist()
    [3.0, None, 100.0]
    """
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if any(is_text(column.type) for is_text in texts):
        column = without_suppressed(column.cast(pa.string()), suppressed)
        others = column.filter(pc.invert(pc.match_substring_regex(column, NUMBER)))
        if len(others):
            raise DataError(
                f"column {name}: {printable(others[0], LONGEST_CELL)} is not a number, so the "
                "column cannot be binned. Mark the value as suppressed, or remove the bins."
            )
    try:
        return column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name} has type {column.type}, which cannot be binned "
            f"({printable(error, LONGEST_CELL)}). Remove the bins."
        ) from error


def without_suppressed(column: pa.Array, suppressed: Sequence[str]) -> pa.Array:
    """Return a column of text with null where a cell is one of these texts.

    Examples
    --------
    >>> without_suppressed(pa.array(["f", "*"]), ["*"]).to_pylist()
    ['f', None]
    """
    hidden = pc.is_in(column, value_set=pa.array(list(suppressed), type=pa.string()))
    return pc.if_else(hidden, pa.scalar(None, type=pa.string()), column)


def _is_plain_integer(column: pa.Array) -> bool:
    """Whether the column holds integers that can be ids: from 0 to the largest int64."""
    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    return ends["min"] is None or (ends["min"] >= 0 and ends["max"] <= LARGEST)


def _as_text(column: pa.Array, name: str) -> pa.Array:
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name} has type {column.type}, which is not categorical. Convert it to "
            "integers or text."
        ) from error


def _arrow(values: Any, name: str) -> pa.Array:
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    try:
        return pa.array(listed, from_pandas=True)
    except UnicodeEncodeError as error:
        raise not_unicode(error, what=f"column {name}") from error
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        if all(value is None or isinstance(value, int) for value in listed):  # beyond int64
            return pa.array([None if value is None else str(value) for value in listed])
        raise DataError(
            f"column {name} mixes types. Make all values integers, or all text."
        ) from error


def _whole_or_refuse(column: pa.Array, name: str) -> pa.Array:
    column = pc.if_else(pc.is_nan(column), pa.scalar(None, type=column.type), column)
    fractions = pc.or_(pc.not_equal(pc.floor(column), column), pc.greater(pc.abs(column), 2.0**53))
    if pc.any(fractions).as_py():
        first = column.filter(fractions)[0].as_py()
        raise DataError(
            f"column {name} is numeric ({first}) and needs bins, for example "
            f"{mapping('bins', name, 'median')}; or quantiles:4 or edges:1,2,3. A level must be "
            "an integer."
        )
    return column.cast(pa.int64())
