"""Ids, stored next to the structure: distinct integers or texts in a canonical order.

The canonical order (integers by value, text by code point) makes a container independent of the
order in which a file lists its rows. `naming_columns` and `repeated_people` find columns
that may name people: what a column determines decides, next to its name and its values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, Problem, mapping, option
from graphveil.core.lazy import lazy_module
from graphveil.core.text import counted

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
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


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


def text(values: Iterable[str]) -> Ids:
    """Return values as NumPy's variable-length text."""
    return np.array(list(values), dtype=np.dtypes.StringDType())


_ESCAPED = re.compile(r"\\(?=[\\=]|\Z)|=")
_FEATURE = re.compile(r"((?:\\[\\=]|[^=])*)=(.*)", re.DOTALL)


def feature_named(column: str, value: object) -> str:
    r"""Return the name of the feature for a value of a column, ``column=value``.

    `column_and_value` reads it back, whatever both hold: an equals sign in the name of the column
    has a backslash before it.

    >>> feature_named("age", 30), feature_named("age>=18", "yes")
    ('age=30', 'age>\\=18=yes')
    """
    escaped = _ESCAPED.sub(lambda match: "\\" + match.group(), column)
    return f"{escaped}={value}"


def column_and_value(feature: object) -> tuple[str, str] | None:
    r"""Return the column and the value that a feature is named after; None where it is not.

    >>> column_and_value("age>\\=18=yes"), column_and_value("a=b=c"), column_and_value("tea")
    (('age>=18', 'yes'), ('a', 'b=c'), None)
    """
    read = _FEATURE.fullmatch(str(feature))
    return None if read is None else (re.sub(r"\\([\\=])", r"\1", read[1]), read[2])


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
    top = int(values.max())
    if top <= 8 * values.size + 1024:
        seen = np.zeros(top + 1, dtype=np.bool_)
        seen[values] = True
        return np.flatnonzero(seen)
    return np.unique(values)


def positions(values: Ids, ids: Ids, *, what: str) -> NDArray[np.int32]:
    """Return where each value stands in ids."""
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


MOSTLY_DIFFERENT = 0.9
"""The share of different values above which a column is taken for one that names people."""

FEW = 10
"""Fewer values do not show what a column holds."""


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
    """Return the columns in which nearly every row has another value; suppressed cells aside."""
    sizes = [_sizes(table, at) for at in range(len(table.columns))]
    each = [(int(size.sum()), np.count_nonzero(size)) for size in sizes]
    differs = [rows >= FEW and values > MOSTLY_DIFFERENT * rows for rows, values in each]
    return tuple(compress(table.columns, differs))


def numbers_people(name: str, values: Ids) -> bool:
    """Whether a column of numbers, one for each row, counts or names people, measuring nothing."""
    whole = values.dtype.kind == "i" and values.size > 0
    counts = whole and int(values.max()) - int(values.min()) + 1 == values.size
    return counts or bool(_NAMES_OF_IDS.fullmatch(_plain(name)))


def naming_question(name: str) -> str:
    """Return what is to be asked of such a column.

    >>> from graphveil.core.errors import Message
    >>> print(Message(naming_question("name")))
    name has a different value in nearly every row: if it identifies people, give ids="name", \
or drop it
    """
    return (
        f"{name} has a different value in nearly every row: if it identifies people, give "
        f"{option('ids', name)}, or drop it"
    )


AGREE, BEYOND_CHANCE, EVIDENCE = 0.9, 0.8, 7.0
"""Rows with one value agree on another column if so many do, if so much of what chance leaves is
gone, and if chance alone would do it less often than e^-7."""

FIRST_CELLS, MOST_CELLS, MOST_VALUES = 1 << 17, 1 << 22, 10_000
"""So many cells are compared for each column, at first and if these rule nothing out; and so many
of its values are read."""

LEAST_PEOPLE, MOST_ROWS, MOST_ROWS_OF_CODES, LARGEST_SHARE = 20, 100, 20, 0.1
"""Where a name such as `country_id` or the form of codes alone speaks for people: the fewest of
them, the most rows that they have on average, and the largest share of all rows that one has."""

MOST_NAMED = 5
"""So many columns are named that follow from another."""

LEAST_DIGITS = 5
"""So many digits in codes of one form look like the numbers of people."""

_PERSON = (
    r"(?:patient|pat|paciente|patiente|versicherte|insured|customer|client|cliente|kunde|member"
    r"|mitglied|person|persona|personne|subject|subj|respondent|participant|participante"
    r"|teilnehmer|proband|employee|empleado|mitarbeiter|student|pupil|schueler|schüler|user"
    r"|usuario|usuária|usuário|utilisateur|benutzer|nutzer|account|konto|citizen|resident"
    r"|beneficiary|voter|tenant|donor|worker|applicant|borrower)(?:en|n|in|innen)?"
)
_NUMBER = r"(?:id|ids|nr|no|num|number|nummer|numero|número|code|key|hash|ref|pseudonym)"
_DOCUMENT = (
    r"(?:mrn|ssn|nhs|nino|cpf|curp|dni|nie|nif|bsn|pesel|aadhaar|avs|ahv|passport|passeport"
    r"|pasaporte|passaporto|reisepass|ausweis|e ?mail|mail|phone|mobile|telephone|telefon"
    r"|telefono|teléfono|msisdn|imsi|imei|login|username|nickname|pseudonym)"
)
_NAME = (
    r"(?:(?:full|first|last|family|given|sur|middle|user|nick) ?)?name|nachname|vorname|nombre"
    r"|apellidos?|nom|pr[eé]nom|nome|cognome|sobrenome|naam|imi[eę]|nazwisko"
)
_COUNT = r"(?!(?:n|no|nr|num|number|count|total|is|has|per|by|avg|max|min) )"
_NAMES_OF_PEOPLE = re.compile(
    rf"{_COUNT}(?:.* )?(?:{_PERSON}|{_DOCUMENT})(?: ?{_NUMBER})*|(?:.* )?{_PERSON} ?(?:{_NAME})"
    rf"|[pu]?ids?|uuid|guid|{_NAME}"
)
_NAMES_OF_IDS = re.compile(r"(?:.* )?(?:[pu]?ids?|uuid|guid|key)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|[^\w]+|_+")
_FULL_NAME = re.compile(r"[^\W\d_]\S*(?:,? [^\W\d_]\S*){1,3}")


class RepeatedPeople(NamedTuple):
    """A column that looks as if each of its values were a person who has several rows."""

    name: str
    values: int
    rows: int
    sign: str

    @property
    def question(self) -> Problem:
        """What must be decided of the column."""
        return Problem(
            self.name,
            "drop",
            self.name,
            f"column {self.name} may identify people with several rows ({self.values:,} values in "
            f"{self.rows:,} rows, {self.sign})",
            f"use {option('person', self.name)} to merge each person's rows, "
            f"{option('person', 'row')} if every row is a different person, or {option('drop')}",
        )

    def with_levels(self, levels: str, what: str = "date") -> Problem:
        """Return the same if its values are dates, or numbers: proposed are their levels."""
        more = f"use {mapping('levels', self.name, levels)} if it is a {what} of the person, "
        choices = f"{more}{self.question.choices.removeprefix('use ')}"
        return self.question._replace(option="levels", value=levels, choices=choices)

    @property
    def refusal(self) -> str:
        """What is said where nobody said what a row is."""
        values, rows = counted(self.values, "value", spec=","), counted(self.rows, "row", spec=",")
        return (
            f"a row must be one person, but {self.name} may identify people with several rows: "
            f"{values} in {rows}, {self.sign}. Use {option('person', self.name)} to merge each "
            f"person's rows, {option('person', 'row')} if every row is a different person, or "
            f"{option('drop', self.name)} to drop the column."
        )


def repeated_people(table: CodedRows) -> RepeatedPeople | None:
    """Return the column that may hold people of whom some have several rows; None without one."""
    repeated = [
        at
        for at in range(len(table.columns))
        if np.bincount(table.codes[:, at][table.codes[:, at] >= 0]).max(initial=0) > 1
    ]
    for at in repeated:
        sign = sign_of_people(table.columns[at], table.categories[at], _sizes(table, at))
        if sign:
            return _found(table, at, sign)
    agreed = {at: _agreed(table, at) for at in repeated if np.count_nonzero(_sizes(table, at)) > 2}
    most = max(agreed, key=lambda at: len(agreed[at]), default=-1)
    if most >= 0 and agreed[most]:
        names = [table.columns[other] for other in agreed[most]]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        sign = f"and rows with the same value agree on {', '.join(names[:MOST_NAMED])}{more}"
        return _found(table, most, sign)
    for at in repeated:
        sign = _sign_of_codes(table.columns[at], table.categories[at], _sizes(table, at))
        if sign:
            return _found(table, at, sign)
    return None


def _sizes(table: CodedRows, at: int) -> NDArray[np.int64]:
    """Return in how many rows each value of a column is."""
    shown = table.codes[:, at][table.codes[:, at] >= 0]
    return np.bincount(shown, minlength=table.categories[at].size)


def _found(table: CodedRows, at: int, sign: str) -> RepeatedPeople:
    sizes = _sizes(table, at)
    return RepeatedPeople(table.columns[at], int(np.count_nonzero(sizes)), int(sizes.sum()), sign)


def _plain(name: str) -> str:
    """Return a name in lower case, with one blank between its words."""
    return " ".join(filter(None, _HUMP.split(name))).lower()


def named_as_people(name: str) -> bool:
    """Whether the name of a column is one for the ids or names of people."""
    return bool(_NAMES_OF_PEOPLE.fullmatch(_plain(name)))


def sign_of_people(name: str, values: Ids, sizes: NDArray[np.int64]) -> str:
    """Return why the values of a column look like people, however few or frequent they are."""
    texts = as_text(values[sizes > 0][:MOST_VALUES]).tolist()
    numbered = len(texts) > 2 and all(re.search(r"\d", text) for text in texts)
    some = len(texts) >= FEW or numbered  # fewer words are kinds of people: student: no, yes
    if some and named_as_people(name):
        return "with the name of an id"
    if 2 * sum("@" in text for text in texts) >= len(texts):
        return "with an @"
    return "like names of people" if len(texts) >= FEW and _are_names(texts) else ""


def _are_names(texts: list[str]) -> bool:
    """Whether texts are capitalized words of which the last differ: those of jobs repeat."""
    names = [text for text in texts if _FULL_NAME.fullmatch(text) and text.istitle()]
    last = {name.split()[-1] for name in names}
    return len(names) > AGREE * len(texts) and 2 * len(last) >= len(names)


def _sign_of_codes(name: str, values: Ids, sizes: NDArray[np.int64]) -> str:
    """Return why many values, each in few rows, look like ids; empty where they do not."""
    used, rows = np.count_nonzero(sizes), sizes.sum()
    few = used < LEAST_PEOPLE or sizes.max() > max(LARGEST_SHARE * rows, 2)
    if few or rows > MOST_ROWS * used:
        return ""
    if _NAMES_OF_IDS.fullmatch(_plain(name)):
        return "with the name of an id"
    shown = as_text(values[sizes > 0][:MOST_VALUES]).tolist()
    forms = {re.sub(r"\d", "0", re.sub(r"[^\W\d_]", "A", text)) for text in shown}
    one_form = len(forms) == 1 and forms.pop().count("0") >= LEAST_DIGITS
    return "digits of one form" if one_form and rows <= MOST_ROWS_OF_CODES * used else ""


def _agreed(table: CodedRows, at: int) -> tuple[int, ...]:
    """Return the other columns that a column determines; none where they are few.

    A column that follows from another of these, as a state from its city, does not count.
    """
    naming = {table.columns.index(name) for name in naming_columns(table)}
    others = [
        other
        for other in range(len(table.columns))
        if other not in {at, *naming} and np.count_nonzero(_sizes(table, other)) > 1
    ]
    determined: list[int] = []
    for cells in (FIRST_CELLS, MOST_CELLS):
        rows, first = _some_rows(table.codes[:, at], cells // max(len(others), 1))
        codes = table.codes[:, others]
        determined = [others[i] for i in _determined(codes[rows], codes[first])]
        if len(determined) < 2:
            return ()
    people = table.codes[np.unique(first)]
    for other in tuple(determined):
        if other not in determined:
            continue
        rest = [one for one in determined if one != other]
        rows, first = _some_rows(people[:, other], len(people))
        for i in _determined(people[rows][:, rest], people[first][:, rest]):
            determined.remove(rest[i])
            others.remove(rest[i])
    return tuple(determined) if len(determined) > 1 and 2 * len(determined) >= len(others) else ()


def _some_rows(codes: NDArray[np.int32], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows whose value stood in a row before, and the first row of that value."""
    shown = np.flatnonzero(codes >= 0)
    first = np.full(codes.max(initial=-1) + 1, -1)
    first[codes[shown[::-1]]] = shown[::-1]
    later = shown[first[codes[shown]] != shown][:most]
    return later, first[codes[later]]


def _determined(own: NDArray[np.int32], of_first: NDArray[np.int32]) -> list[int]:
    """Return the columns on which two rows agree, in nearly every pair and by more than chance."""
    found = []
    for column in range(own.shape[1]):
        both = (own[:, column] >= 0) & (of_first[:, column] >= 0)
        values, pairs = own[both, column], int(both.sum())
        agree = int((values == of_first[both, column]).sum())
        chance = float(((np.bincount(values) / max(pairs, 1)) ** 2).sum())
        if (
            0 < chance < 1
            and agree >= AGREE * pairs
            and agree / pairs - chance >= BEYOND_CHANCE * (1 - chance)
            and agree * -np.log(chance) >= EVIDENCE
        ):
            found.append(column)
    return found


_UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0]"
)
"""Characters that no eye sees: of Unicode's default ignorable ones those that change no neighbor's
form. Joiners and selectors of variants do, in emoji and in Persian."""


def alike(values: pa.Array, *, accents: bool = False, case: bool = False) -> tuple[str, str] | None:
    """Return two of some texts that no eye can distinguish, None where there are none.

    They differ in spaces at their ends or in characters without width; where asked, also in how an
    accent is written, or in case and zeros in front of a number.
    """
    values = values.unique()
    seen = pc.utf8_trim_whitespace(pc.replace_substring_regex(values, _UNSEEN, ""))
    seen = pc.utf8_normalize(seen, "NFC") if accents else seen
    if case:
        folded = pc.utf8_lower(pc.utf8_upper(seen))
        seen = pc.replace_substring_regex(folded, "^0+([0-9]+)$", r"\1")
    if seen.equals(values) or pc.count_distinct(seen).as_py() == len(values):
        return None
    counts = seen.value_counts()
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))[0]
    first, second, *_ = sorted(values.filter(pc.equal(seen, repeated)).to_pylist(), key=len)
    return first, second


def in_quotes(*values: str) -> str:
    """Return texts that look the same so that they do not."""
    spelled = map(repr if all(value.isascii() for value in values) else ascii, values)
    return " and ".join(spelled)


def spelled_twice(texts: Iterable[str]) -> str:
    """Return two of some texts that may be one in two spellings, in quotes; "" if there are none.

    >>> spelled_twice(["Ann", "ann", "bob"]), spelled_twice(["7", "007"]), spelled_twice(["ann"])
    ("'Ann' and 'ann'", "'7' and '007'", '')
    """
    pair = alike(pa.array(texts, type=pa.string()), accents=True, case=True)
    return "" if pair is None else in_quotes(*pair)
