"""Ids, stored next to the structure: distinct integers or texts in a canonical order.

The canonical order (integers by value, text by code point) makes a container independent of the
order in which a file lists its rows. `naming_columns` and `repeated_id` find columns that may
name people.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, option
from graphveil.core.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")

Ids: TypeAlias = "NDArray[Any]"
"""One id a position: int64, or NumPy's variable-length text. None stands for 0..n-1."""

LARGEST = 2**63 - 1


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_ids(values: object, *, what: str) -> Ids:
    """Return values as int64 or text, whatever they came in.

    Raises
    ------
    DataError
        Where a value is missing, negative, or neither an integer nor text.
    """
    if isinstance(values, pa.ChunkedArray | pa.Array):
        return _from_arrow(values, what=what)
    array = values if isinstance(values, np.ndarray) else _from_iterable(values)
    if array.dtype.kind == "b":
        raise DataError(f"{what}: the ids are true/false values. Give integers or text.")
    if array.dtype.kind in "iu":
        if array.size and array.dtype.kind == "i" and array.min() < 0:
            raise DataError(f"{what}: the id {array.min()} is negative. Give ids >= 0, or text.")
        if array.size and array.dtype.kind == "u" and array.max() > LARGEST:
            raise DataError(f"{what}: the id {array.max()} exceeds {LARGEST}. Give it as text.")
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f":
        return _whole_numbers(array, what=what)
    if array.dtype.kind == "O":
        return _from_objects(array, what=what)
    if array.dtype.kind in "TU":
        return _encoded(array, what=what)
    raise DataError(f"{what}: ids of type {array.dtype} are not supported. Give integers or text.")


def _from_iterable(values: object) -> NDArray[Any]:
    if not isinstance(values, Iterable):
        raise DataError(f"ids of type {type(values).__name__} are not a list. Give a sequence.")
    listed = list(values)
    return np.fromiter(listed, dtype=object, count=len(listed))


def _whole_numbers(array: NDArray[Any], *, what: str) -> Ids:
    bad = ~((array >= 0) & (array < LARGEST) & (array == np.floor(array)))
    if bad.any():
        raise DataError(f"{what}: {array[bad][0]} is not a valid id. Use integers >= 0, or text.")
    return array.astype(np.int64)


def _from_objects(array: NDArray[Any], *, what: str) -> Ids:
    if all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in array):
        large = max(array, default=0)
        if large > LARGEST or min(array, default=0) < -LARGEST:
            raise DataError(f"{what}: the id {large} exceeds {LARGEST}. Give it as text.")
        return as_ids(array.astype(np.int64), what=what)
    for value in array:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            raise DataError(f"{what}: missing id. Remove the row, or add an id.")
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
    if column.null_count:
        raise DataError(f"{what}: {column.null_count} ids are missing. Remove these rows.")
    column = written_out(column)
    if pa.types.is_integer(column.type):
        return as_ids(column.to_numpy(zero_copy_only=False), what=what)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        values = column.to_numpy(zero_copy_only=False) if len(column) else np.empty(0, dtype=str)
        return values.astype(np.dtypes.StringDType())
    if pa.types.is_string_view(column.type):
        return _from_arrow(column.cast(pa.large_string()), what=what)
    if pa.types.is_floating(column.type):
        return _whole_numbers(column.to_numpy(), what=what)
    raise DataError(f"{what}: ids of type {column.type} are not supported. Give integers or text.")


def written_out(column: Any) -> Any:
    """Return an Arrow column with its categories, if it has any, written out."""
    if not pa.types.is_dictionary(column.type):
        return column
    kind = column.type.value_type
    kind = pa.string() if pa.types.is_string_view(kind) else kind
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([written_out(chunk) for chunk in column.chunks], type=kind)
    return column.dictionary.cast(kind).take(column.indices)


def text(values: Iterable[str]) -> Ids:
    """Return values as NumPy's variable-length text."""
    return np.array(list(values), dtype=np.dtypes.StringDType())


def to_arrow(ids: Ids) -> pa.Array:
    """Return ids as an Arrow array of int64 or string."""
    if ids.dtype.kind == "i":
        return pa.array(ids)
    return pa.array(ids.tolist(), type=pa.string())


def as_numbers(names: pa.Array) -> pa.Array:
    """Return names as integers where each is written as one, and unchanged otherwise.

    Examples
    --------
    >>> as_numbers(pa.array(["10", "9"])).to_pylist()
    [10, 9]
    >>> as_numbers(pa.array(["10", "09"])).to_pylist()
    ['10', '09']
    """
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
    """Return ids as integers where each is written as one, and unchanged otherwise.

    Examples
    --------
    >>> numbers_where_all(text(["10", "9"])).tolist()
    [10, 9]
    """
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
    top = int(values.max())
    if top <= 8 * values.size + 1024:
        seen = np.zeros(top + 1, dtype=np.bool_)
        seen[values] = True
        return np.flatnonzero(seen)
    return np.unique(values)


def positions(values: Ids, ids: Ids, *, what: str) -> NDArray[np.int32]:
    """Return where each value stands in ids.

    Raises
    ------
    DataError
        Where a value is not among the ids; the message names the first.
    """
    if values.dtype.kind != ids.dtype.kind:
        values, ids = as_text(values), as_text(ids)
    if ids.dtype.kind == "i":
        position = _integer_positions(values, ids)
    else:
        index = pc.index_in(to_arrow(values), value_set=to_arrow(ids))
        position = pc.fill_null(index, -1).to_numpy(zero_copy_only=False).astype(np.int32)
    if position.size and position.min() < 0:
        value = values[int(np.argmax(position < 0))]
        raise DataError(f"{what}: {value} is not among the {ids.size} ids. Add it, or drop it.")
    return position


def as_text(ids: Ids) -> Ids:
    """Return ids as text."""
    return ids if ids.dtype.kind == "T" else text(str(value) for value in ids.tolist())


def _integer_positions(values: Ids, ids: Ids) -> NDArray[np.int32]:
    if ids.size == 0:
        return np.full(values.shape, -1, dtype=np.int32)
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
    """Return ids frozen, once they are n and distinct.

    Raises
    ------
    DataError
        Where their number is not n, or one stands twice.
    """
    if ids.shape != (n,):
        raise DataError(f"{what}: {ids.size} ids for {n} positions. Give one id per position.")
    unique = distinct(ids)
    if unique.size != n:
        first = next(name for name, number in Counter(ids.tolist()).items() if number > 1)
        raise DataError(
            f"{what}: {first!r} occurs more than once; in total, {n - unique.size} are "
            "repeated. Make them distinct."
        )
    return frozen(ids)


def stored(values: object, *, n: int, what: str) -> Ids | None:
    """Return the ids of n positions as a container keeps them: None where they are 0..n-1.

    Raises
    ------
    DataError
        Where they are no ids, not n, or not distinct.

    Examples
    --------
    >>> stored([0, 1, 2], n=3, what="ids") is None
    True
    """
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


MOSTLY_DIFFERENT = 0.9
"""The share of different values above which a column is taken for one that names people."""

FEW = 10
"""Fewer values do not show what a column holds."""

LEAST_PEOPLE = 20
"""The fewest values that are taken for ids of people who have several rows."""

MOST_ROWS, MOST_ROWS_OF_DIGITS = 100, 20
"""The rows that such an id has on average at most; where digits alone speak for it, fewer."""

LARGEST_SHARE = 0.1
"""The share of all rows above which no id of a person has rows."""

LEAST_DIGITS = 5
"""So many digits, all of one length, look like the numbers of people."""

_NAMES_OF_IDS = re.compile(
    r"(.*[ _.-])?(id|ids|uuid|guid|key|ssn|e?-?mail|phone|user|username|customer|client|patient"
    r"|member|person|people|subject|respondent|employee|student|account)|[a-z]+Id|[a-z]+ID",
)


class CodedRows(Protocol):
    """What of a table is looked at: names, the code of every cell, and what codes stand for."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names."""

    @property
    def codes(self) -> NDArray[np.int32]:
        """The cells, shape (rows, columns); -1 is suppressed."""

    @property
    def categories(self) -> tuple[Ids, ...]:
        """The values of every column."""


def naming_columns(table: CodedRows) -> tuple[str, ...]:
    """Return the columns in which nearly every row has another value; suppressed cells aside.

    Examples
    --------
    >>> from graphveil import Table
    >>> names = [f"P{number}" for number in range(10)]
    >>> naming_columns(Table.from_columns({"name": names, "sex": ["f", "m"] * 5}))
    ('name',)
    """
    return tuple(
        name for number, name in enumerate(table.columns) if _differs(table.codes[:, number])
    )


def _differs(codes: np.ndarray[tuple[int], np.dtype[np.int32]]) -> bool:
    shown = codes[codes >= 0]
    different = int(np.count_nonzero(np.bincount(shown)))
    return shown.size >= FEW and different > MOSTLY_DIFFERENT * shown.size


def naming_question(name: str) -> str:
    """Return what is to be asked of such a column.

    Examples
    --------
    >>> from graphveil.core.errors import Message
    >>> print(Message(naming_question("name")))
    name has a different value in nearly every row: if it identifies people, give ids="name", \
or drop it
    """
    return (
        f"{name} has a different value in nearly every row: if it identifies people, give "
        f"{option('ids', name)}, or drop it"
    )


class RepeatedId(NamedTuple):
    """A column that looks as if each of its values were a person who has several rows.

    Parameters
    ----------
    name
        The column.
    values, rows
        How many distinct values it has, in how many rows.
    sign
        Why it is taken for one.
    """

    name: str
    values: int
    rows: int
    sign: str

    @property
    def refusal(self) -> str:
        """What is said where nobody said that a row is a person."""
        several = f"{self.values:,} values in {self.rows:,} rows, {self.sign}"
        return (
            f"a row must be one person, but {self.name} may identify people with several rows: "
            f"{several}. Use {option('person', self.name)} to merge each person's rows, or "
            f"{option('drop', self.name)} to drop the column. Use {option('ids', 'COLUMN')} for a "
            f"column with one value per person, or {option('person', 'row')} if every row is a "
            "different person."
        )


def repeated_id(table: CodedRows) -> RepeatedId | None:
    """Return the first column that may hold the ids of people who have several rows.

    It has many values, each in few rows, and looks like an id: by its name, or by digits of one
    length; or its values have an @, however many they are.

    Examples
    --------
    >>> from graphveil import Table
    >>> mails = [f"p{number}@example.org" for number in range(30)]
    >>> bought = {"mail": mails * 4, "product": ["tea", "rye"] * 60}
    >>> repeated_id(Table.from_columns(bought)).name
    'mail'
    """
    for number, name in enumerate(table.columns):
        shown = table.codes[:, number][table.codes[:, number] >= 0]
        sizes = np.bincount(shown)
        sizes = sizes[sizes > 0]
        if not sizes.size or sizes.max() == 1:
            continue
        rows = shown.size / sizes.size
        few = sizes.size < LEAST_PEOPLE or sizes.max() > max(LARGEST_SHARE * shown.size, 2)
        unlike = few or rows > MOST_ROWS
        values = table.categories[number]
        sign = _sign_of_an_id(name, values, rows)
        if _are_mails(values) or (sign and not unlike):
            return RepeatedId(name, int(sizes.size), int(shown.size), sign or "with an @")
    return None


def _are_mails(values: Ids) -> bool:
    """Whether half of the values or more have an @: then they name people, however few they are."""
    texts = as_text(values).tolist() if values.dtype.kind != "i" else []
    return bool(texts) and 2 * sum("@" in text for text in texts) >= len(texts)


def _sign_of_an_id(name: str, values: Ids, rows: float) -> str:
    """Return why the values of a column look like ids; empty where they do not."""
    if _NAMES_OF_IDS.fullmatch(name) or _NAMES_OF_IDS.fullmatch(name.lower()):
        return "with the name of an id"
    texts = as_text(values).tolist()
    lengths = {len(text) if text.isdecimal() else 0 for text in texts}
    one_length = len(lengths) == 1 and min(lengths) >= LEAST_DIGITS
    return "all digits of one length" if one_length and rows <= MOST_ROWS_OF_DIGITS else ""
