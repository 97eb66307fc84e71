"""Arrow columns as plain values: categories written out, extension types as text.

Libraries hand over periods, intervals, UUIDs and categories as types of their own; the containers
hold integers and text alone.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import numpy as np

from graphveil.core.libraries import pa, pc


def written_out(column: Any) -> Any:
    """Return an Arrow column as what its values mean: categories written out, and no storage.

    Periods, intervals, durations and UUIDs are text; decimals that are all whole are integers, or
    text where one is too large. Other types are as they are.

    >>> import decimal
    >>> written_out(pa.array([decimal.Decimal(7), None])).to_pylist()
    [7, None]
    >>> written_out(pa.array([3600], type=pa.duration("s"))).to_pylist()
    ['1 hours']
    """
    if isinstance(column, pa.ChunkedArray):
        chunks = column.chunks or [pa.nulls(0, column.type)]
        column = pa.chunked_array([_spelled_out(chunk) for chunk in chunks])
    else:
        column = _spelled_out(column)
    if pa.types.is_duration(column.type):
        return _durations(column)
    if pa.types.is_decimal(column.type):
        return _whole_decimals(column)
    return column


def _spelled_out(column: pa.Array) -> pa.Array:
    """Return a column without categories and runs; types of other libraries as text."""
    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        return _spelled_out(pc.run_end_decode(column))
    if pa.types.is_dictionary(kind):
        return _spelled_out(column.dictionary).take(column.indices)
    if pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if isinstance(kind, pa.BaseExtensionType):
        how = getattr(kind, "__arrow_ext_serialize__", bytes)()  # some of Arrow's own have none
        read = of_extension(kind.extension_name, how, column.storage)
        return column if read is None else read
    return column


_CLOSED = {"left": ("[", ")"), "right": ("(", "]"), "both": ("[", "]"), "neither": ("(", ")")}
"""The brackets around an interval, by the ends that belong to it."""

_PERIODS = {"M": "M", "D": "D", "Y": "Y", "A": "Y", "Q": "Q"}
"""The lengths of periods that are read, as NumPy calls them; quarters are counted here."""


def of_extension(name: str, how: bytes, storage: pa.Array) -> pa.Array | None:
    """Return the text of what an Arrow extension stores, None where the extension is not known.

    >>> of_extension("pandas.period", b'{"freq": "Q-DEC"}', pa.array([216])).to_pylist()
    ['2024Q1']
    """
    if name == "arrow.json":
        return storage.cast(pa.string())
    values = storage.to_pylist()
    if name == "arrow.uuid":
        texts = [None if value is None else str(UUID(bytes=value)) for value in values]
        return pa.array(texts, type=pa.string())
    if name == "pandas.interval":
        opened, closed = _CLOSED[json.loads(how)["closed"]]
        return pa.array(
            [v if v is None else f"{opened}{v['left']}, {v['right']}{closed}" for v in values],
            type=pa.string(),
        )
    freq = json.loads(how)["freq"] if name == "pandas.period" else ""
    length, _, anchor = freq.partition("-")
    if length not in _PERIODS or anchor not in ("", "DEC"):
        return None
    if length == "Q":
        texts = [v if v is None else f"{1970 + v // 4}Q{v % 4 + 1}" for v in values]
    else:
        unit: Any = _PERIODS[length]
        texts = [v if v is None else str(np.datetime64(v, unit)) for v in values]
    return pa.array(texts, type=pa.string())


_UNITS = (("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1))
"""The units in which durations are written, longest first, in seconds."""

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of an Arrow time unit are in a second."""


def _durations(column: Any) -> Any:
    """Return durations as text, in the longest unit that divides them all."""
    per_second = _PER_SECOND[column.type.unit]
    counts = column.cast(pa.int64()).to_pylist()
    known = [count for count in counts if count is not None]
    units = [(name, seconds * per_second) for name, seconds in _UNITS]
    named = {1: "seconds", 10**3: "milliseconds", 10**6: "microseconds", 10**9: "nanoseconds"}
    units += [(name, per_second // part) for part, name in named.items() if 1 < part <= per_second]
    whole = (unit for unit in units if not any(count % unit[1] for count in known))
    name, size = next(whole, (named[per_second], 1))
    texts = [None if count is None else f"{count // size} {name}" for count in counts]
    return pa.array(texts, type=pa.string())


def _whole_decimals(column: Any) -> Any:
    """Return decimals that are all whole as integers, or as text where one is too large."""
    distinct = column.unique()
    if not all(
        value is None or value == value.to_integral_value() for value in distinct.to_pylist()
    ):
        return column
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        texts = [None if value is None else f"{value:.0f}" for value in column.to_pylist()]
        return pa.array(texts, type=pa.string())
