"""What the reader of a format hands over; `graphveil.io.reading` makes the container of it.

Ids that are all digits without a leading zero are integers; any other makes them all text. What
looks like damaged numbers is refused, so a writer asks here whether its ids will be read again.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError, InputError
from graphveil.core.hints import mapping, option
from graphveil.core.libraries import pa, pc
from graphveil.core.questions import Problem, answers
from graphveil.core.text import counted
from graphveil.data.arrow_values import written_out
from graphveil.data.codes import (
    AMONG_NUMBERS,
    AMONG_TEXTS,
    NUMBER,
    WrittenDates,
    folded,
    questions_of_text,
    rules_of,
    written_dates,
)
from graphveil.data.id_columns import naming_columns, numbers_people
from graphveil.data.ids import LARGEST, Ids, as_ids, as_text, distinct, positions, text
from graphveil.data.network import MAX_NODES
from graphveil.data.origin import MAY_BE_MISSING, MISSING
from graphveil.data.spellings import accents_apart
from graphveil.data.table import Table
from graphveil.io.formats import TableOptions
from graphveil.io.source import Source, shown

_INTEGER = r"^(0|[1-9][0-9]*)$"
_WHOLE = r"^(0|[1-9][0-9]*)(\.0+)?$"
"""Texts that spell an integer in one way, also as 1.0."""


class SpellingProblem(NamedTuple):
    """An id that cannot be read, and what is wrong with it."""

    value: str
    what: str


def other_than_integers(values: pa.Array) -> pa.Array:
    """Return those of some texts that do not spell an integer in the one way."""
    return values.filter(pc.invert(pc.match_substring_regex(values, _INTEGER)))


def as_integers(values: pa.Array) -> pa.Array | None:
    """Return texts as integers of 64 bits where all spell one, also as 1.0; None where not.

    >>> as_integers(pa.array(["7", "12.0"])).to_pylist(), as_integers(pa.array(["7", "7.5"]))
    ([7, 12], None)
    """
    if not pc.all(pc.match_substring_regex(values, _WHOLE), min_count=0).as_py():
        return None
    try:
        return pc.replace_substring_regex(values, r"\.0+$", "").cast(pa.int64())
    except pa.ArrowInvalid:  # larger than 64 bits
        return None


def problem_of(values: pa.Array) -> SpellingProblem | None:
    """Return the first of a column's distinct ids that is refused in text, None where all are read.

    Refused are empty ids, missing values next to integers, and negative or fractional numbers where
    all ids are numbers.
    """
    others = values.filter(pc.invert(pc.match_substring_regex(values, _WHOLE)))
    missing = pc.is_in(pc.utf8_lower(others), value_set=pa.array(MISSING))
    integers = len(others) < len(values)
    if pc.any(pc.equal(others, "")).as_py() or (
        integers and len(others) and pc.all(missing).as_py()
    ):
        return SpellingProblem(others.filter(missing)[0].as_py(), "is missing")
    others = other_than_integers(values)
    numbers = pc.all(pc.match_substring_regex(others, NUMBER)).as_py()
    if len(others) and numbers and as_integers(values) is None:
        for value in others.to_pylist():
            if value.startswith("-"):
                return SpellingProblem(value, "is negative")
            if not re.fullmatch(r"[0-9]+", value):
                return SpellingProblem(value, "is not an integer")
    return None


def may_be_missing(labels: Ids, *columns: NDArray[Any]) -> str:
    """Return the texts among ids that often stand for a missing one, with their numbers."""
    if labels.dtype.kind != "T":
        return ""
    found = []
    for word in MAY_BE_MISSING:
        at = bisect_left(labels, word)
        if at < labels.size and labels[at] == word:
            times = sum(int(np.count_nonzero(column == at)) for column in columns)
            found.append(f"{word} ({times:,}x)" if columns else word)
    return ", ".join(found)


TOTALS = (
    *("total", "totals", "grand total", "subtotal", "sum", "summe", "gesamt", "gesamtsumme"),
    *("somme", "totale", "totaal", "suma", "razem", "soma"),
)
"""Words under the last row of a spreadsheet, next to a sum or a number of rows."""


def totals_among(labels: Ids, one: NDArray[Any], other: NDArray[Any]) -> str:
    """Return an id that is a word for a sum, and the number in its row; empty without one.

    `one, other`: int, the ends of each row, by their places among the labels.
    """
    if labels.dtype.kind != "T":
        return ""
    for word in (spelling for name in TOTALS for spelling in (name, name.capitalize())):
        at = bisect_left(labels, word)
        if at < labels.size and labels[at] == word:
            ends = [*other[one == at].tolist(), *one[other == at].tolist()]
            if len(ends) == 1 and re.fullmatch(r"[\d.,]+", str(labels[ends[0]])):
                return f"{word} and {labels[ends[0]]}"
    return ""


def problem_of_some(values: pa.Array) -> SpellingProblem | None:
    """Return a problem that `problem_of` has with some of a column's ids, None where with none.

    Before a run it is not known which ids will be released together.

    >>> problem_of_some(pa.array(["ann", "1e5"]))
    SpellingProblem(value='1e5', what='is not an integer')
    >>> problem_of_some(pa.array(["ann", "007", "7"])) is None
    True
    """
    others = other_than_integers(values)
    integers = values.filter(pc.match_substring_regex(values, _INTEGER))
    missing = others.filter(pc.is_in(pc.utf8_lower(others), value_set=pa.array(MISSING)))
    numbers = others.filter(pc.match_substring_regex(others, NUMBER))
    odd = numbers.filter(pc.invert(pc.match_substring_regex(numbers, "^[0-9]+$")))
    suspects = [odd.slice(0, 1), integers, pa.concat_arrays([missing.slice(0, 1), integers])]
    suspects.append(missing.filter(pc.equal(missing, "")))
    return next((problem for ids in suspects if (problem := problem_of(ids))), None)


def ids_of(values: pa.Array) -> Ids:
    """Return texts that `problem_of` accepts as ids: integers where all spell one, else text."""
    numbers = as_integers(values)
    return as_ids(values if numbers is None else numbers, what="ids")


def ids_listed(values: Sequence[str]) -> Ids:
    """Return the names of a format that knows names alone as ids: integers where all spell one.

    >>> ids_listed(["7", "12"]).tolist(), ids_listed(["7", "-12"]).tolist()
    ([7, 12], ['7', '-12'])
    """
    if all(re.fullmatch(_INTEGER, value) and len(value) < 20 for value in values):
        numbers = [int(value) for value in values]
        if max(numbers, default=0) <= LARGEST:
            return np.array(numbers, dtype=np.int64)
    return text(values)


def negative_among(values: Sequence[str]) -> str | None:
    """Return a negative integer where all values are integers: such ids are refused."""
    if not all(re.fullmatch("-?[0-9]+", value) for value in values):
        return None
    return next((value for value in values if value.startswith("-")), None)


@dataclass
class ReadCounts:
    """What a reader counted, by the names of the reading report.

    `declared`: how many the file says that it holds; `counted`: how many it lists, where that is
    not what was read.
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
    total: str = ""
    look_alike: str = ""
    spelled_twice: tuple[str, ...] = ()
    square: bool = False
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
        """Return what the file declares and how much of it is there; empty where both agree."""
        found = {**found, **{name: [number] for name, number in self.counted.items()}}
        both = [name for name in found if name in self.declared]
        if all(self.declared[name] in found[name] for name in both):
            return ""
        said, there = (
            " and ".join(counted(of(name), name.removesuffix("s"), spec=",") for name in both)
            for of in (self.declared.__getitem__, lambda name: next(iter(found[name])))
        )
        return f"{said}, but lists {there}"


OF_READERS = ("nameless", "declared", "counted")
"""The notes that the reading report does not take over."""


def note_look_alikes(source: Source, ids: pa.Array, notes: ReadCounts) -> None:
    """Refuse two text ids that look the same; note two that only an accent tells apart."""
    try:
        notes.look_alike = accents_apart(ids) or notes.look_alike
    except DataError as error:
        source.refuse(error.message.text)


def gives_counts(n: int, m: int, rows: int, n_others: int, largest: int) -> bool | None:
    """Return whether a first row gives numbers of nodes and edges; None where nobody can tell.

    It says n and m; below it are so many rows and others' ids, of which one is the largest.

    >>> gives_counts(4, 3, 3, 4, 4), gives_counts(4, 3, 6, 4, 4)
    (True, True)
    >>> gives_counts(9, 7, 3, 4, 4) is None, gives_counts(1, 2, 3, 4, 4)
    (True, False)
    """
    # More ids than nodes: not a count.
    if n < n_others:
        return False
    # The number of edges fits exactly, or every edge is listed twice.
    if rows and m in (rows, rows / 2):
        # It may be a count of a file that is incomplete, or an edge between the two largest ids.
        return True
    return None if rows > 1 and m > rows and n >= largest and m > largest else False


class ParsedKinds(NamedTuple):
    """Of which kind every arc is: a position into the names of kinds, which are in order."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    @classmethod
    def of(cls, named: Sequence[str]) -> ParsedKinds:
        """Return the kinds of arcs that have these names."""
        names = tuple(sorted(set(named)))
        number = {name: at for at, name in enumerate(names)}
        codes = np.fromiter((number[name] for name in named), dtype=np.int32, count=len(named))
        return cls(codes, names)


@dataclass(kw_only=True)
class ParsedArcs:
    """The arcs of a graph file: positions into `labels`, which are distinct and in order.

    `directed` is None where the file says nothing; `twice`: every edge is listed at both ends;
    `one_way`: which arcs of a directed file are one, and not listed as edges; None where all are.
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
    notes: ReadCounts = field(default_factory=ReadCounts)

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
    notes: ReadCounts = field(default_factory=ReadCounts)

    @classmethod
    def of(
        cls, user: ParsedColumn, item: ParsedColumn, notes: ReadCounts, sizes: Any = None
    ) -> ParsedPairs:
        """Return the pairs of two columns; with sizes, so many items in a row are of each user."""
        codes = user.codes if sizes is None else np.repeat(user.codes, sizes)
        ids = {"users": user.labels, "items": item.labels}
        return cls(user=codes, item=item.codes, **ids, notes=notes)


@dataclass(kw_only=True)
class ParsedCells:
    """The columns of a table file, Arrow columns by name, and what must be decided about them.

    `dropped`: the columns that are not read, which only tell what a row is.
    """

    columns: dict[str, Any]
    dropped: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    notes: ReadCounts = field(default_factory=ReadCounts)


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
    """Return the codes as positions into a list of labels that holds them all."""
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
    notes: ReadCounts,
    people: Mapping[str, Mapping[int, Any]] = MappingProxyType({}),
    kinds: list[str] | None = None,
    one_way: list[bool] | None = None,
) -> ParsedArcs:
    """Return the arcs of a format that lists distinct nodes; ends are positions in that list."""
    # Nodes in canonical order; ends and attributes follow them.
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
    """Refuse a number of nodes or users that the listed entries cannot explain.

    It bounds the memory that a damaged or hostile first line can ask for: 10 million, and 1,000
    more per listed entry.
    """
    if n > 10_000_000 + 1000 * entries or n > MAX_NODES:
        source.refuse(
            f"the file declares {counted(n, 'row', spec=',')} and columns but lists "
            f"{counted(entries, 'entry', spec=',')}. Check the first lines."
        )


SUMS = (
    *("total", "totals", "grand total", "overall total", "subtotal", "sum", "sums"),
    *("average", "mean", "gesamt", "summe", "insgesamt", "somme", "suma"),
)
"""What stands in a row below the people that adds them up, in lower case."""

EVERY_WORD = tuple(sorted({*AMONG_NUMBERS, *AMONG_TEXTS, *SUMS}))
"""All that is asked about: anyone who gives it as categories is asked nothing."""


def questions_about_cells(columns: Mapping[str, Any], options: TableOptions) -> list[Problem]:
    """Return the questions about cells that may be no values, unless options say what they mean.

    They are words for no value in columns of text, and one for a sum in the last row.
    """
    problems = [
        problem
        for name, column in columns.items()
        if name != options.ids and name not in options.bins
        for problem in questions_of_text(name, column, options.suppressed, options.categories)
    ]
    texts = {
        name: column
        for name, values in columns.items()
        if pa.types.is_string((column := _as_array(values)).type)
    }
    return [*problems, *_about_the_last_row(texts, {folded(word) for word in options.categories})]


def _as_array(values: Any) -> pa.Array:
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    column = written_out(column)
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def _about_the_last_row(texts: Mapping[str, pa.Array], meant: Collection[str]) -> Iterator[Problem]:
    """Yield the question about a last row that seems to add up the others.

    Its word stands nowhere above.
    """
    for name, column in texts.items():
        last = column[-1].as_py() if len(column) > 1 else None
        word = folded(last or "").removesuffix(":")
        if word not in SUMS or word in meant:
            continue
        if pc.sum(pc.equal(column, last)).as_py() == 1:
            found = f"the last row has {shown(last)} in column {shown(name)}, so it may be a total "
            found += "rather than a person"
            say = f"remove a total; if it is a value, use {option('categories')}"
            yield Problem(name, "categories", word, found, say)


def without_codes(columns: Mapping[str, Any], missing: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns with no value where a cell is a code of its column for that."""
    found = dict(columns)
    for name, listed in missing.items():
        if name not in columns:  # it is dropped
            continue
        column = _as_array(columns[name])
        codes = pa.array([code.strip() for code in listed.split(",")], type=pa.string())
        is_code = pc.is_in(column.cast(pa.string()), value_set=codes)
        found[name] = pc.if_else(is_code, pa.scalar(None, type=column.type), column)
    return found


def binning(columns: Mapping[str, Any], options: TableOptions) -> TableOptions:
    """Return the options with a rule for each column that they mean by ``all``."""
    apart = (options.ids, options.person, options.household, *options.one_hot)
    return replace(options, bins=rules_of(columns, options.bins, options.suppressed, apart))


def table_of(
    where: str, cells: ParsedCells, options: TableOptions, *, released: bool = False
) -> Table:
    """Return the table of cells that were read; of a released table nothing is asked about rows."""
    # Gather every question about cells, bins and columns, so that one refusal has them all.
    columns = without_codes(cells.columns, options.missing)
    rules = binning(columns, options)
    problems = [*cells.problems, *questions_about_cells(columns, rules)]
    ids = columns.pop(options.ids) if options.ids is not None else None
    try:
        ids = None if ids is None else as_ids(ids, what=f"column {options.ids}")
        table = Table.from_columns(
            columns,
            ids=ids,
            suppressed=options.suppressed,
            bins=rules.bins,
            one_hot=options.one_hot,
            person=options.person,
            household=options.household,
            exact=options.exact,
        )
    except DataError as error:
        problems += error.asked
        if not problems:
            raise InputError(f"{where}{error.message.text}") from error
    # Questions about people come last: they are asked of the table that the other answers give.
    if problems:
        problems += about_people(cells, rules, problems)
    elif released:
        table = replace(table, settled=True)
    else:
        table = table.cut_out_of(cells.dropped) if table.person == "assumed" else table
        problems = table.questions_of_rows()
    if problems:
        raise InputError.asking(problems, vars(options), where)
    return table


def about_people(
    cells: ParsedCells, options: TableOptions, problems: Sequence[Problem]
) -> list[Problem]:
    """Return what else will be asked: about columns that may name people, and what a row is.

    It is asked of the table that the answers to the problems give.
    """
    table = _answered_table(cells, options, problems)
    if table is None:
        return []
    # What a row is depends on every column of the input, dropped ones included; the column that
    # is proposed as the people's is asked about once.
    owned = options.person is not None or options.household is not None
    people = [] if owned else table.questions_of_rows()
    owners = {problem.column for problem in people[:1]}
    return [*_about_names(table, options, owners), *people]


def about_names(
    cells: ParsedCells, options: TableOptions, problems: Sequence[Problem]
) -> list[Problem]:
    """Return what will be asked about columns that may name people, if it is known what a row is.

    It is asked of the table that the answers to the problems give.
    """
    table = _answered_table(cells, options, problems)
    return [] if table is None else _about_names(table, options, set())


def _answered_table(
    cells: ParsedCells, options: TableOptions, problems: Sequence[Problem]
) -> Table | None:
    """Return the table that the answers to problems give; None if something has no answer."""
    columns = {name: values for name, values in cells.columns.items() if name != options.ids}
    said: dict[str, Any] = {hint.name: hint.value for hint in answers(problems, vars(options))}
    dropped = said.get("drop", ())
    try:
        return Table.from_columns(
            columns,
            drop=[name for name in columns if name in dropped],
            suppressed=said.get("suppressed", options.suppressed),
            bins=said.get("bins", options.bins),
            exact=options.exact,
        ).cut_out_of(cells.dropped)
    except DataError:  # something that no option answers, which is said in its turn
        return None


def _about_names(table: Table, options: TableOptions, owners: set[str]) -> list[Problem]:
    """Return the questions about columns that may name people; not about those of `owners`."""
    apart = {*owners, options.person, options.household}
    numbers = _numeric(table) if options.exact else many_numbers(table)
    measuring = {name for name in numbers if not numbers_people(*_column(table, name))}
    naming = [name for name in naming_columns(table) if name not in apart]
    if options.exact:  # whose numbers get levels, of which the method asks
        naming = [name for name in naming if name not in measuring]
    found = []
    for name in naming:
        dates = written_dates(_column(table, name)[1]) if options.exact else None
        about = _about_naming(name, measuring=name in measuring)
        found += _about_dates(name, dates) if dates else [about]
    return found


def _about_naming(name: str, *, measuring: bool) -> Problem:
    """Return the question about a column that may name people, or measures something."""
    proposed = ("bins", "quantiles:4") if measuring else ("drop", name)
    found = f"column {name} has a different value in nearly every row"
    say = f"drop a column that identifies people, or use it as {option('ids')}; bin what "
    return Problem(name, *proposed, found, f"{say}measures something")


def _about_dates(name: str, dates: WrittenDates) -> list[Problem]:
    """Return the questions about dates of which nearly every row has another one."""
    found = f"column {name} has a different date in nearly every row"
    say = f"use {mapping('levels', name, dates.levels)}, or {option('drop', name)}"
    return [Problem(name, "levels", dates.levels, found, say), *dates.questions(name)]


def _column(table: Table, name: str) -> tuple[str, Ids]:
    return name, table.categories[table.columns.index(name)]


def _numeric(table: Table) -> list[str]:
    """Return the columns of numbers, whole or as they are spelled."""
    return [
        name
        for name, values in zip(table.columns, table.categories, strict=True)
        if values.dtype.kind == "i" or all(map(re.compile(NUMBER).match, as_text(values).tolist()))
    ]


FEW_NUMBERS = 20
"""Columns of no more different numbers raise no question."""


def many_numbers(table: Table) -> tuple[str, ...]:
    """Return the columns of many different numbers."""
    columns = zip(table.columns, table.categories, strict=True)
    return tuple(
        name for name, values in columns if values.dtype.kind == "i" and values.size > FEW_NUMBERS
    )
