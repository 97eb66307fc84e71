"""What the reader of a format hands over; `graphveil.io.reading` makes the container of it.

How ids are spelled in text: as integers, as text, or in a way that no reader accepts.

An integer has one spelling, digits without a leading zero. Ids that are all spelled so are
integers; any other makes them all text. What looks like damaged numbers is refused, so a writer
asks here, too, whether its ids will be read again.

Cells of a table that may be no value of a person: missing ones, and sums in the last row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import several
from graphveil.core.lazy import lazy_module
from graphveil.data.codes import NUMBER
from graphveil.data.columns import named_columns
from graphveil.data.ids import LARGEST, Ids, as_ids, as_text, distinct, positions, text, written_out
from graphveil.data.network import MAX_NODES
from graphveil.io.options import TableOptions
from graphveil.io.source import Source, shown

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")

_INTEGER = r"^(0|[1-9][0-9]*)$"
_MISSING = ("nan", "null", "none", "na", "n/a", "#n/a", "<na>", "\\n", ".", "")
_MAY_BE_MISSING = (
    "nan",
    "NaN",
    "NAN",
    "null",
    "NULL",
    "Null",
    "None",
    "NONE",
    "NA",
    "N/A",
    "#N/A",
    "\\N",
)
_UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0]"
)
"""Characters that no eye sees: of Unicode's default ignorable ones those that change no neighbor's
form. Joiners and selectors of variants do, in emoji and in Persian."""


class SpellingProblem(NamedTuple):
    """An id that cannot be read, and what is wrong with it."""

    value: str
    what: str


def other_than_integers(values: pa.Array) -> pa.Array:
    """Return those of some texts that do not spell an integer in the one way.

    Examples
    --------
    >>> other_than_integers(pa.array(["7", "007", "ann"])).to_pylist()
    ['007', 'ann']
    """
    return values.filter(pc.invert(pc.match_substring_regex(values, _INTEGER)))


def problem_of(values: pa.Array) -> SpellingProblem | None:
    """Return the first of a column's distinct ids that is refused in text, None where all are read.

    Refused are empty ids, missing values beside integers, integers that are too large, and negative
    or fractional numbers where all ids are numbers.

    Examples
    --------
    >>> problem_of(pa.array(["7", "1e5"]))
    SpellingProblem(value='1e5', what='is not an integer')
    >>> problem_of(pa.array(["ann", "1e5"])) is None
    True
    """
    others = other_than_integers(values)
    if len(others) == 0:
        large = [value for value in values.to_pylist() if len(value) > 18 and int(value) > LARGEST]
        return SpellingProblem(max(large, key=len), f"is larger than {LARGEST}") if large else None
    missing = pc.is_in(pc.utf8_lower(others), value_set=pa.array(_MISSING))
    integers = len(others) < len(values)
    if pc.any(pc.equal(others, "")).as_py() or (integers and pc.all(missing).as_py()):
        return SpellingProblem(others.filter(missing)[0].as_py(), "is missing")
    if pc.all(pc.match_substring_regex(others, NUMBER)).as_py():
        for value in others.to_pylist():
            if value.startswith("-"):
                return SpellingProblem(value, "is negative")
            if not re.fullmatch(r"[0-9]+", value):
                return SpellingProblem(value, "is not an integer")
    return None


def alike(values: pa.Array, *, accents: bool = False) -> tuple[str, str] | None:
    """Return two of some texts that no eye can distinguish, None where there are none.

    They differ in spaces at their ends or in characters without width; where asked, also in how an
    accent is written.

    Examples
    --------
    >>> alike(pa.array(["ann", "bob", "ann "])), alike(pa.array(["ann", "Ann"]))
    (('ann', 'ann '), None)
    """
    values = values.unique()
    seen = pc.utf8_trim_whitespace(pc.replace_substring_regex(values, _UNSEEN, ""))
    seen = pc.utf8_normalize(seen, "NFC") if accents else seen
    if seen.equals(values) or pc.count_distinct(seen).as_py() == len(values):
        return None
    counts = seen.value_counts()
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))[0]
    first, second, *_ = sorted(values.filter(pc.equal(seen, repeated)).to_pylist(), key=len)
    return first, second


def in_quotes(*values: str) -> str:
    """Return texts that look the same so that they do not.

    Examples
    --------
    >>> in_quotes("ann", "ann ")
    "'ann' and 'ann '"
    """
    spelled = map(repr if all(value.isascii() for value in values) else ascii, values)
    return " and ".join(spelled)


def may_be_missing(labels: Ids) -> str:
    """Return a text among ids that often stands for a missing one; empty where none does.

    Examples
    --------
    >>> may_be_missing(text(["ann", "NULL"])), may_be_missing(text(["ann", "bob"]))
    ('NULL', '')
    """
    if labels.dtype.kind != "T":
        return ""
    return next((word for word in _MAY_BE_MISSING if np.any(labels == word)), "")


def problem_of_some(values: pa.Array) -> SpellingProblem | None:
    """Return a problem that `problem_of` has with some of a column's ids, None where with none.

    Before a run it is not known which ids will be released together.

    Examples
    --------
    >>> problem_of_some(pa.array(["ann", "1e5"]))
    SpellingProblem(value='1e5', what='is not an integer')
    >>> problem_of_some(pa.array(["ann", "007", "7"])) is None
    True
    """
    others = other_than_integers(values)
    integers = values.filter(pc.match_substring_regex(values, _INTEGER))
    missing = others.filter(pc.is_in(pc.utf8_lower(others), value_set=pa.array(_MISSING)))
    numbers = others.filter(pc.match_substring_regex(others, NUMBER))
    odd = numbers.filter(pc.invert(pc.match_substring_regex(numbers, "^[0-9]+$")))
    suspects = [odd.slice(0, 1), integers, pa.concat_arrays([missing.slice(0, 1), integers])]
    suspects.append(missing.filter(pc.equal(missing, "")))
    return next((problem for ids in suspects if (problem := problem_of(ids))), None)


def ids_of(values: pa.Array) -> Ids:
    """Return texts that `problem_of` accepts as ids: integers where all spell one, else text.

    Examples
    --------
    >>> ids_of(pa.array(["7", "12"])).tolist(), ids_of(pa.array(["7", "007"])).tolist()
    ([7, 12], ['7', '007'])
    """
    is_text = len(other_than_integers(values)) > 0
    return as_ids(values if is_text else values.cast(pa.int64()), what="ids")


def ids_listed(values: Sequence[str]) -> Ids:
    """Return the names of a format that knows names alone as ids: integers where all spell one.

    Examples
    --------
    >>> ids_listed(["7", "12"]).tolist(), ids_listed(["7", "-12"]).tolist()
    ([7, 12], ['7', '-12'])
    """
    if all(re.fullmatch(_INTEGER, value) and len(value) < 20 for value in values):
        numbers = [int(value) for value in values]
        if max(numbers, default=0) <= LARGEST:
            return np.array(numbers, dtype=np.int64)
    return text(values)


def negative_among(values: Sequence[str]) -> str | None:
    """Return a negative integer where all values are integers: such ids are refused.

    Examples
    --------
    >>> negative_among(["7", "-5"]), negative_among(["ann", "-5"])
    ('-5', None)
    """
    if not all(re.fullmatch("-?[0-9]+", value) for value in values):
        return None
    return next((value for value in values if value.startswith("-")), None)


@dataclass
class Notes:
    """What a reader counted; the names are those of the reading report.

    `nameless` says besides that users are numbers of rows, and no ids of the file; `declared` how
    many nodes, edges, users, items or entries the file says that it holds; `counted` how many it
    lists, where that is not what was read.
    """

    rows: int = 0
    header: tuple[str, ...] = ()
    comment_lines: int = 0
    count_line: str | None = None
    columns_ignored: tuple[str, ...] = ()
    attributes_ignored: tuple[str, ...] = ()
    inferred: bool = False
    nameless: bool = False
    odd_ids: int = 0
    example: str = ""
    suppressed_cells: int = 0
    binned: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    many_numbers: tuple[str, ...] = ()
    odd_cells: tuple[tuple[str, str], ...] = ()
    empty_rows: int = 0
    maybe_missing: str = ""
    look_alike: str = ""
    declared: dict[str, int] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of the columns and attributes that are not in the data."""
        return (*self.columns_ignored, *self.attributes_ignored)

    def reported(self) -> dict[str, Any]:
        """Return what the reading report takes over."""
        return {name: value for name, value in asdict(self).items() if name not in OF_READERS}

    def unlike(self, found: Mapping[str, Collection[int]]) -> str:
        """Return what the file declares and how much of it is there; empty where both agree.

        Parameters
        ----------
        found
            By the same names, the numbers that were found: the first is said, and any fits.

        Examples
        --------
        >>> notes = Notes(declared={"nodes": 9, "edges": 7})
        >>> notes.unlike({"nodes": [4], "edges": [3, 6]})
        '9 nodes and 7 edges, but lists 4 nodes and 3 edges'
        >>> notes.unlike({"nodes": [9], "edges": [3, 7]})
        ''
        """
        found = {**found, **{name: [number] for name, number in self.counted.items()}}
        both = [name for name in found if name in self.declared]
        if all(self.declared[name] in found[name] for name in both):
            return ""
        said = " and ".join(f"{self.declared[name]:,} {name}" for name in both)
        there = " and ".join(f"{next(iter(found[name])):,} {name}" for name in both)
        return f"{said}, but lists {there}"


OF_READERS = ("nameless", "declared", "counted")
"""The notes that the reading report does not take over."""


def gives_counts(n: int, m: int, rows: int, n_others: int, largest: int) -> bool | None:
    """Return whether a first row gives numbers of nodes and edges; None where nobody can tell.

    Parameters
    ----------
    n, m
        What the first row says.
    rows, n_others, largest
        Of the other rows: their number, that of their ids, and the largest id.

    Examples
    --------
    >>> gives_counts(4, 3, 3, 4, 4), gives_counts(4, 3, 6, 4, 4)
    (True, True)
    >>> gives_counts(9, 7, 3, 4, 4) is None, gives_counts(1, 2, 3, 4, 4)
    (True, False)
    """
    if n < n_others:
        return False
    if rows and m in (rows, rows / 2):
        return True
    return None if rows > 1 and m > rows and n >= largest and m > largest else False


class ParsedKinds(NamedTuple):
    """Of which kind every arc is: a position into the names of kinds, which are in order."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    @classmethod
    def of(cls, named: Sequence[str]) -> ParsedKinds:
        """Return the kinds of arcs that have these names.

        Examples
        --------
        >>> ParsedKinds.of(["mail", "call", "mail"])
        ParsedKinds(codes=array([1, 0, 1], dtype=int32), names=('call', 'mail'))
        """
        names = tuple(sorted(set(named)))
        number = {name: at for at, name in enumerate(names)}
        codes = np.fromiter((number[name] for name in named), dtype=np.int32, count=len(named))
        return cls(codes, names)


@dataclass(kw_only=True)
class ParsedArcs:
    """The arcs of a graph file: positions into `labels`, which are distinct and in order.

    `directed` says whether the file calls itself directed, None where it says nothing; `twice`
    that the format lists every edge at both ends; `names` are those of the columns of both ends;
    `kinds` says of which kind every arc is, and `people` has the attributes of nodes, a value a
    label, where they were asked for. `one_way` says of every arc of a directed file whether it is
    one, and not an edge that the file lists as such; None where all are.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    labels: Ids
    directed: bool | None = None
    twice: bool = False
    names: tuple[str, ...] = ()
    kinds: ParsedKinds | None = None
    one_way: NDArray[np.bool_] | None = None
    people: dict[str, list[Any]] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)

    def take_ends(self) -> list[NDArray[np.int32]]:
        """Return sources and targets, and keep none of them, so that their memory can be freed."""
        ends = [self.source, self.target]
        self.source = self.target = np.empty(0, dtype=np.int32)
        return ends


@dataclass(kw_only=True)
class ParsedPairs:
    """The pairs of a user-item file: positions into `users` and `items`, distinct and in order."""

    user: NDArray[np.int32]
    item: NDArray[np.int32]
    users: Ids
    items: Ids
    notes: Notes = field(default_factory=Notes)


@dataclass(kw_only=True)
class ParsedCells:
    """The columns of a table file, Arrow columns by name."""

    columns: dict[str, Any]
    notes: Notes = field(default_factory=Notes)


class ParsedColumn(NamedTuple):
    """One column of ids: positions into distinct labels in order."""

    codes: NDArray[np.int32]
    labels: Ids


def joined(left: ParsedColumn, right: ParsedColumn) -> tuple[ParsedColumn, ParsedColumn]:
    """Return both columns over the union of their labels; text where either one is text."""
    labels = (left.labels, right.labels)
    if labels[0].dtype.kind != labels[1].dtype.kind:
        labels = (as_text(labels[0]), as_text(labels[1]))
    union = distinct(np.concatenate(labels))
    return recoded(left.codes, labels[0], union), recoded(right.codes, labels[1], union)


def recoded(codes: NDArray[np.int32], labels: Ids, union: Ids) -> ParsedColumn:
    """Return the codes as positions into a list of labels that holds them all.

    Raises
    ------
    DataError
        Where a label is not in that list.
    """
    if np.array_equal(labels, union):
        return ParsedColumn(codes, union)
    return ParsedColumn(positions(labels, union, what="ids")[codes], union)


def encoded(values: Ids) -> ParsedColumn:
    """Return ids as positions into their distinct values, in order."""
    labels = distinct(values)
    return ParsedColumn(positions(values, labels, what="ids"), labels)


def listed_arcs(
    labels: Ids,
    source: list[int],
    target: list[int],
    *,
    directed: bool,
    notes: Notes,
    people: Mapping[str, Mapping[int, Any]] = MappingProxyType({}),
    kinds: list[str] | None = None,
    one_way: list[bool] | None = None,
) -> ParsedArcs:
    """Return the arcs of a format that lists its nodes; ends are positions in that list.

    The labels are distinct; they are put in order here. Attributes come by their names, and by
    positions in the list; kinds, one an arc.
    """
    order = distinct(labels)
    position = positions(labels, order, what="ids")
    listed = np.argsort(position).tolist()
    return ParsedArcs(
        source=position[np.array(source, dtype=np.int64)],
        target=position[np.array(target, dtype=np.int64)],
        labels=order,
        directed=directed,
        kinds=None if kinds is None else ParsedKinds.of(kinds),
        one_way=None if one_way is None else np.array(one_way, dtype=np.bool_),
        people={name: [said.get(node) for node in listed] for name, said in people.items()},
        notes=notes,
    )


def check_size(source: Source, n: int, entries: int) -> None:
    """Refuse a number of nodes or users that what is listed cannot explain."""
    if n > 10_000_000 + 1000 * entries or n > MAX_NODES:
        source.refuse(
            f"the file declares {n:,} rows and columns but lists {entries:,} entries. Check the "
            "first lines."
        )


AMONG_NUMBERS = ("", ".", "-", "?", "na", "n/a", "nan", "null", "none", "#null!", "#n/a", "<na>")
"""What a cell says, in lower case and without space, that may stand for no number."""

AMONG_TEXTS = (".", "-", "?", "na", "n/a", "nan", "null", "#null!", "#n/a", "<na>", "\\n")
"""As before, for no text: `none` is one that people give as an answer."""

SUMS = (
    *("total", "totals", "grand total", "overall total", "subtotal", "sum", "sums"),
    *("average", "mean", "gesamt", "summe", "insgesamt", "somme", "suma"),
)
"""What stands in a row below the people that adds them up, in lower case."""

EVERY_WORD = tuple(sorted({*AMONG_NUMBERS, *AMONG_TEXTS, *SUMS}))
"""All that is asked about: whoever gives it as categories is asked nothing."""


def ask_about_cells(source: Source, columns: Mapping[str, Any], options: TableOptions) -> None:
    """Refuse a table with cells that may be no values, unless options say what they mean.

    Parameters
    ----------
    source
        The file, for messages.
    columns
        Arrow columns by name.
    options
        Which texts are suppressed cells, which are categories, and which columns are left out.

    Raises
    ------
    InputError
        Where a column of text has a word for no value, or the last row one for a sum.
    """
    dropped = named_columns(options.drop, columns)
    texts = {
        name: column
        for name, values in columns.items()
        if name not in dropped and pa.types.is_string((column := _as_array(values)).type)
    }
    meant = {_folded(word) for word in options.categories}
    _ask_about_the_last_row(source, texts, meant)
    missing = [
        (name, cell)
        for name, column in texts.items()
        if name != options.ids
        for cell in _missing_in(column, {*options.suppressed}, meant)
    ]
    if not missing:
        return
    cells = list(dict.fromkeys(cell for _, cell in missing))
    names = list(dict.fromkeys(name for name, _ in missing))
    more = f" and in {len(names) - 1} more" if len(names) > 1 else ""
    source.refuse(
        f"ambiguous values {', '.join(map(shown, cells))}, first in column "
        f'{shown(names[0])}{more}. If they mean "missing", use '
        f"{several('suppressed', *options.suppressed, *cells)}; if they are values, use "
        f"{several('categories', *options.categories, *cells)}"
    )


def _as_array(values: Any) -> pa.Array:
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    column = written_out(column)
    is_text = pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type)
    return column.cast(pa.string()) if is_text else column


def _folded(word: str) -> str:
    return word.strip().lower()


def _missing_in(column: pa.Array, suppressed: Collection[str], meant: set[str]) -> Iterator[str]:
    """Yield the words of a column for no value, as they are spelled."""
    values = [value for value in column.drop_null().unique().to_pylist() if value not in suppressed]
    others = pa.array([v for v in values if _folded(v) not in AMONG_NUMBERS], type=pa.string())
    numbers = len(others) > 0 and pc.all(pc.match_substring_regex(others, NUMBER)).as_py()
    words = AMONG_NUMBERS if numbers else AMONG_TEXTS
    for value in values:
        is_sign = _folded(value) == "-" and "+" in values
        if _folded(value) in words and _folded(value) not in meant and not is_sign:
            yield value


def _ask_about_the_last_row(
    source: Source, texts: Mapping[str, pa.Array], meant: Collection[str]
) -> None:
    """Refuse a last row that seems to add up the others: its word stands nowhere above."""
    for name, column in texts.items():
        last = column[-1].as_py() if len(column) > 1 else None
        word = _folded(last or "").removesuffix(":")
        if word not in SUMS or word in meant:
            continue
        if pc.sum(pc.equal(column, last)).as_py() == 1:
            source.refuse(
                f"the last row has {shown(last)} in column {shown(name)}, so it may be a total "
                "rather than a person. Remove it, or, if it is a value, use "
                f"{several('categories', word)}"
            )
