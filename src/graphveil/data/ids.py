"""Ids, stored next to the structure: distinct integers or texts in a canonical order.

The canonical order (integers by value, text by code point) makes a container independent of the
order in which a file lists its rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError
from graphveil.core.libraries import pa, pc
from graphveil.core.text import counted
from graphveil.data.arrow_values import written_out

Ids: TypeAlias = "NDArray[Any]"
"""One id a position: int64, or NumPy's variable-length text. None stands for 0..n-1."""

LARGEST = 2**63 - 1
"""The largest integer id, that of int64; larger ones are text."""


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_ids(values: object, *, what: str) -> Ids:
    """Return values as int64 or text, whatever they came in; integers from 2**63 on are text."""
    if isinstance(values, pa.ChunkedArray | pa.Array):
        return _from_arrow(values, what=what)
    array = values if isinstance(values, np.ndarray) else _from_iterable(values)
    if array.dtype.kind == "b":
        raise DataError(f"{what}: the ids are true/false values. Give integers or text.")
    if array.dtype.kind in "iu":
        if array.size and array.dtype.kind == "i" and array.min() < 0:
            raise DataError(f"{what}: the id {array.min()} is negative. Give ids >= 0, or text.")
        if array.size and array.dtype.kind == "u" and array.max() > LARGEST:
            return text(map(str, array.tolist()))
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f":
        return _whole_numbers(array, what=what)
    if array.dtype.kind == "O":
        return _from_objects(array, what=what)
    if array.dtype.kind in "TU":
        return _encoded(array, what=what)
    raise DataError(f"{what}: ids of type {array.dtype} are not supported. Give integers or text.")


NO_IDS = ("{}", "[]")
"""What programs write for an empty dictionary or list, which is nobody's id."""


def no_id(value: str) -> str:
    """Return that a value is not an id; see `NO_IDS`."""
    return f"{value} is an empty list or dictionary of a program, not an id."


def ids_in_ties(values: object, *, what: str) -> Ids:
    """Return the ids of the ends of edges or entries; refuse what programs write for nothing."""
    ids = as_ids(values, what=what)
    found = next((one for one in NO_IDS if ids.dtype.kind == "T" and (ids == one).any()), None)
    if found is not None:
        raise DataError(f"{what}: {no_id(found)} Remove such rows, or correct them.")
    return ids


def _from_iterable(values: object) -> NDArray[Any]:
    if not isinstance(values, Iterable):
        raise DataError(f"ids of type {type(values).__name__} are not a list. Give a sequence.")
    listed = list(values)
    return np.fromiter(listed, dtype=object, count=len(listed))


EXACT = 2.0**53
"""From here on, a float of 64 bits may stand for several integers."""


def _whole_numbers(array: NDArray[Any], *, what: str) -> Ids:
    missing = int(np.count_nonzero(np.isnan(array)))
    if missing:
        raise _missing(missing, what)
    bad = ~((array >= 0) & (array <= EXACT) & (array == np.floor(array)))
    if bad.any():
        raise DataError(f"{what}: {array[bad][0]} is not a valid id. Use integers >= 0, or text.")
    return array.astype(np.int64)


def _missing(count: int, what: str) -> DataError:
    """Return the error of ids that are missing."""
    return DataError(f"{what}: {counted(count, 'id', 'is')} missing. Remove such rows.")


def _from_objects(array: NDArray[Any], *, what: str) -> Ids:
    if all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in array):
        least = min(array, default=0)
        if least < 0:
            raise DataError(f"{what}: the id {least} is negative. Give ids >= 0, or text.")
        if max(array, default=0) > LARGEST:
            return text(map(str, array))
        return array.astype(np.int64)
    missing = sum(
        value is None or (isinstance(value, float) and np.isnan(value)) for value in array
    )
    if missing:
        raise _missing(missing, what)
    if all(isinstance(x, UUID) for x in array):
        return text(map(str, array))
    for value in array:
        if not isinstance(value, str | int | np.integer) or isinstance(value, bool):
            raise DataError(f"{what}: {value!r} is not an id. Give integers or text.")
    return _encoded([str(value) for value in array], what=what)


def _encoded(values: list[str] | NDArray[Any], *, what: str) -> Ids:
    try:
        return np.array(values, dtype=np.dtypes.StringDType())
    except UnicodeEncodeError as error:
        raise not_unicode(error, what=what) from error
    except TypeError:  # text of a fixed width, whose error does not name the value
        return _encoded(np.asarray(values).tolist(), what=what)


def not_unicode(error: UnicodeEncodeError, *, what: str) -> DataError:
    """Return the error of text that cannot be encoded: it holds one of two surrogates."""
    return DataError(
        f"{what}: {error.object!r} contains half of a surrogate pair, which no file can store. "
        "Give valid Unicode text."
    )


def _from_arrow(column: pa.ChunkedArray | pa.Array, *, what: str) -> Ids:
    column = written_out(column)
    if column.null_count:
        raise _missing(column.null_count, what)
    if pa.types.is_integer(column.type):
        return as_ids(column.to_numpy(zero_copy_only=False), what=what)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values = column.to_numpy(zero_copy_only=False) if len(column) else np.empty(0, dtype=str)
        return values.astype(np.dtypes.StringDType())
    if pa.types.is_floating(column.type):
        return _whole_numbers(column.to_numpy(zero_copy_only=False), what=what)
    raise DataError(
        f"{what}: ids of type {column.type} are not supported. Give integers or text, for example "
        "with astype(str)."
    )


def text(values: Iterable[str]) -> Ids:
    """Return values as NumPy's variable-length text."""
    return np.array(list(values), dtype=np.dtypes.StringDType())


def to_arrow(ids: Ids) -> pa.Array:
    """Return ids as an Arrow array of int64 or string."""
    if ids.dtype.kind == "i":
        return pa.array(ids)
    return pa.array(ids.tolist(), type=pa.string())


def as_numbers(names: pa.Array) -> pa.Array:
    """Return names as integers where each is written as one, and unchanged otherwise."""
    if pa.types.is_integer(names.type):
        return names
    written = pc.match_substring_regex(names, r"\A(0|[1-9][0-9]{0,18})\z")
    if not pc.all(written, min_count=0).as_py():
        return names
    try:
        return names.cast(pa.int64())
    except pa.ArrowInvalid:
        return names


def numbers_where_all(ids: Ids) -> Ids:
    """Return ids as integers where each is written as one, and unchanged otherwise."""
    return ids if ids.dtype.kind == "i" else _from_arrow(as_numbers(to_arrow(ids)), what="ids")


def distinct(values: Ids) -> Ids:
    """Return the distinct values in canonical order."""
    if values.dtype.kind == "i":
        return _distinct_integers(values)
    unique = pc.unique(to_arrow(values))
    return _from_arrow(unique.take(pc.sort_indices(unique)), what="ids")


def _distinct_integers(values: Ids) -> Ids:
    if values.size == 0:
        return values
    # A small range: mark what occurs, O(n + range); otherwise sort.
    top = int(values.max())
    if top <= 8 * values.size + 1024:
        seen = np.zeros(top + 1, dtype=np.bool_)
        seen[values] = True
        return np.flatnonzero(seen)
    return np.unique(values)


def positions(values: Ids, ids: Ids, *, what: str) -> NDArray[np.int32]:
    """Return the position of each value in ids, int32; refuse a value that is not among them."""
    if values.dtype.kind != ids.dtype.kind:
        values, ids = as_text(values), as_text(ids)
    if ids.dtype.kind == "i":
        position = _integer_positions(values, ids)
    else:
        index = pc.index_in(to_arrow(values), value_set=to_arrow(ids))
        position = pc.fill_null(index, -1).to_numpy(zero_copy_only=False).astype(np.int32)
    if position.size and position.min() < 0:
        value = values[int(np.argmax(position < 0))]
        raise DataError(
            f"{what}: {value} is not among the {counted(ids.size, 'id')}. Add it, or drop it."
        )
    return position


def as_text(ids: Ids) -> Ids:
    """Return ids as text."""
    return ids if ids.dtype.kind == "T" else text(str(value) for value in ids.tolist())


def _integer_positions(values: Ids, ids: Ids) -> NDArray[np.int32]:
    if ids.size == 0:
        return np.full(values.shape, -1, dtype=np.int32)
    # A small range: a table from value to position; otherwise binary search in sorted ids.
    low, high = int(ids.min()), int(ids.max())
    inside = (values >= low) & (values <= high)
    if high - low <= 8 * (ids.size + values.size) + 1024:
        table = np.full(high - low + 1, -1, dtype=np.int32)
        table[ids - low] = np.arange(ids.size, dtype=np.int32)
        return np.where(inside, table[np.where(inside, values - low, 0)], np.int32(-1))
    order = np.argsort(ids, kind="stable")
    nearest = np.minimum(np.searchsorted(ids, values, sorter=order), ids.size - 1)
    candidate = order[nearest]
    return np.where(ids[candidate] == values, candidate, -1).astype(np.int32)


def check_distinct(ids: Ids, *, n: int, what: str) -> Ids:
    """Return ids frozen, once they are n and distinct."""
    if ids.shape != (n,):
        raise DataError(
            f"{what}: {counted(ids.size, 'id')} for {counted(n, 'position')}. Give one id per "
            "position."
        )
    unique = distinct(ids)
    if unique.size != n:
        first = next(name for name, number in Counter(ids.tolist()).items() if number > 1)
        raise DataError(
            f"{what}: {first!r} occurs more than once; in total, {n - unique.size} are "
            "repeated. Make them distinct."
        )
    return frozen(ids)


def stored(values: object, *, n: int, what: str) -> Ids | None:
    """Return the ids of n positions as a container keeps them: None where they are 0..n-1."""
    if values is None:
        return None
    ids = check_distinct(as_ids(values, what=what), n=n, what=what)
    plain = ids.dtype.kind == "i" and np.array_equal(ids, np.arange(n))
    return None if plain else ids


def same_ids(left: Ids | None, right: Ids | None) -> bool:
    """Whether both are the same ids in the same order."""
    if left is None or right is None:
        return left is right
    if left.size == right.size == 0:
        return True
    return left.dtype.kind == right.dtype.kind and bool(np.array_equal(left, right))
