"""Columns of ids, and lists of items, from a text file: Arrow parses it chunk by chunk.

What a thread of Arrow can reach belongs to Arrow: no Python bytes, no Python file. Such a thread
may drop the last reference to its input late. If it then needs the lock of an interpreter that has
begun to exit, the process ends with SIGABRT.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from graphveil.core.errors import DataError, InputError, did_you_mean, leave_out, option, options
from graphveil.core.text import counted
from graphveil.data.codes import binned
from graphveil.data.columns import NODE_LISTS, TOO_SHORT, Ties, known_pairs, named_columns, plain
from graphveil.data.csr import Dropped, blocks, neighbor_lists
from graphveil.data.ids import NO_IDS, Ids, as_ids, distinct, no_id, positions
from graphveil.data.layers import KINDS_OF_EDGES, TIES, Layer
from graphveil.data.spellings import alike, in_quotes
from graphveil.io.formats import Ends, NetworkOptions
from graphveil.io.parsed import (
    ParsedArcs,
    ParsedColumn,
    ParsedKinds,
    ParsedPairs,
    ReadCounts,
    as_integers,
    encoded,
    ids_listed,
    ids_of,
    other_than_integers,
    problem_of,
)
from graphveil.io.source import Source, shown
from graphveil.io.text.dialect import (
    DOUBLE,
    STANDS_FOR_DOUBLE,
    USE_A_TABLE,
    WHITESPACE,
    Dialect,
    comments_below_rows,
    expect_width,
    may_not_be_plain,
    refuse_undecided,
    rows_below,
    single_spaced,
    without_blank_lines,
    without_comments,
)


def native_buffer(content: bytes) -> pa.Buffer:
    """Return a copy of some bytes that no Python object owns."""
    buffer = pa.allocate_buffer(len(content))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(content, dtype=np.uint8)
    return buffer


def native_file(path: Path) -> pa.OSFile:
    """Open a file to be read; its name is taken for nothing else, whatever its bytes are."""
    return pa.OSFile(os.fsencode(path))


_WIDE = 1 << 23


class Growing:
    """Integers that are appended in chunks; int32 as long as they fit."""

    def __init__(self) -> None:
        self._array: NDArray[Any] = np.empty(1 << 16, dtype=np.int32)
        self._size = 0

    def extend(self, values: NDArray[np.int64]) -> None:
        """Append the values."""
        if values.size and values.max() > np.iinfo(np.int32).max:
            self._array = self._array.astype(np.int64, copy=False)
        end = self._size + values.size
        if end > self._array.size:
            self._array.resize(max(end, self._array.size * 5 // 4), refcheck=False)
        self._array[self._size : end] = values
        self._size = end

    def finish(self) -> NDArray[Any]:
        """Return the values; the object is used up."""
        self._array.resize(self._size, refcheck=False)
        return self._array


def compact(values: NDArray[Any], *, labels: Ids | None = None) -> ParsedColumn:
    """Return integers as positions into their distinct values, or into the labels given.

    int32 input is overwritten, so that no second array of its size is needed.
    """
    if labels is None:
        labels = distinct_integers(values)
    if values.size == 0 or labels[-1] == labels.size - 1:
        return ParsedColumn(values.astype(np.int32, copy=False), labels)
    top = int(labels[-1])
    table = None
    if top < max(values.size // 2, 1 << 24):
        table = np.zeros(top + 1, dtype=np.int32)
        table[labels] = np.arange(labels.size, dtype=np.int32)
    out = values if values.dtype == np.int32 else np.empty(values.size, dtype=np.int32)
    for part in blocks(values.size):
        position = np.searchsorted(labels, values[part]) if table is None else table[values[part]]
        out[part] = position
    return ParsedColumn(out, labels)


def distinct_integers(*columns: NDArray[Any]) -> Ids:
    """Return the distinct values of all columns in order, as int64, a block at a time."""
    size = sum(values.size for values in columns)
    top = max((int(values.max()) for values in columns if values.size), default=-1)
    if top < 2 * size + (1 << 20):
        seen = np.zeros(top + 1, dtype=np.bool_)
        for values in columns:
            for part in blocks(values.size):
                seen[values[part]] = True
        return np.flatnonzero(seen)
    distinct = np.empty(0, dtype=np.int64)
    for values in columns:
        for start in range(0, values.size, _WIDE):
            distinct = np.union1d(distinct, values[start : start + _WIDE])
    return distinct


class NotIntegersError(Exception):
    """A cell is not a plain integer, so the columns are to be read as text."""


def read_columns(
    dialect: Dialect, chosen: tuple[int, ...], notes: ReadCounts, *, share_labels: bool
) -> list[ParsedColumn]:
    """Return the chosen columns of a text file, over one list of labels or over one each."""
    try:
        arrays = _read_integers(dialect, chosen, notes)
    except NotIntegersError:
        return _read_text(dialect, chosen, notes, share_labels=share_labels)
    shared = distinct_integers(*arrays) if share_labels else None
    return [compact(array, labels=shared) for array in arrays]


def _read_integers(
    dialect: Dialect, chosen: tuple[int, ...], notes: ReadCounts
) -> list[NDArray[Any]]:
    columns = [Growing() for _ in chosen]
    for table in tables(dialect, chosen, notes, pa.int64()):
        for number, column in enumerate(columns):
            values = table.column(number).to_numpy()
            if values.size and values.min() < 0:
                refuse_value(dialect, chosen, str(values.min()), "is negative")
            column.extend(values)
    pa.default_memory_pool().release_unused()
    return [column.finish() for column in columns]


def tables(
    dialect: Dialect, chosen: tuple[int, ...], notes: ReadCounts, kind: pa.DataType
) -> Iterator[pa.Table]:
    """Yield the chosen columns a chunk at a time, as Arrow columns of this kind."""
    notes.rows = notes.comment_lines = 0
    numbers = not pa.types.is_dictionary(kind)
    for first, raw, chunk in _cleaned(dialect, notes):
        if dialect.plain_only and numbers and may_not_be_plain(chunk):
            raise NotIntegersError
        try:
            table = _parse(chunk, dialect, chosen, kind)
        except pa.ArrowInvalid as error:
            if numbers:
                raise NotIntegersError from error
            _explain(raw, first, dialect, error)
        notes.rows += table.num_rows
        yield table


def _cleaned(dialect: Dialect, notes: ReadCounts) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield (first line, lines as they stand, lines without names, comments and extra space)."""
    named = bool(dialect.header)
    begun = False
    for first, raw in dialect.source.chunks():
        chunk, comments = without_comments(raw)
        notes.comment_lines += comments
        if comments:
            _check_comments(dialect, first, raw, begun=begun)
        begun = begun or bool(chunk.strip())
        spaced = dialect.delimiter == WHITESPACE
        chunk = single_spaced(chunk) if spaced else without_blank_lines(chunk)
        if dialect.delimiter == DOUBLE:
            chunk = chunk.replace(DOUBLE.encode(), STANDS_FOR_DOUBLE.encode())
        if named and chunk.strip():
            chunk, named = _after_header(chunk), False
        if chunk.strip():
            yield first, raw, chunk


def _check_comments(dialect: Dialect, first: int, raw: bytes, *, begun: bool) -> None:
    """Refuse a comment below the first row that has as many cells as a row: it may be one."""
    for number, comment in comments_below_rows(raw, begun=begun):
        text = dialect.source.decoded(comment, first + number).strip()
        if not text[1:2].strip() or len(dialect.cells(text)) != dialect.n_columns:
            continue
        dialect.source.refuse(
            f"{shown(text)} could be a comment or a row. For a comment, put a space after "
            f"{text[0]}; for a row, quote the id and separate cells by commas or tabs.",
            line=first + number,
        )


def _after_header(chunk: bytes) -> bytes:
    start = len(chunk) - len(chunk.lstrip())
    end = chunk.find(b"\n", start)
    return b"" if end < 0 else chunk[end + 1 :]


def _parse(chunk: bytes, dialect: Dialect, chosen: tuple[int, ...], kind: pa.DataType) -> pa.Table:
    names = [str(number) for number in range(dialect.n_columns)]
    kept = [str(number) for number in chosen]
    quotes = b'"' in chunk and dialect.delimiter not in (WHITESPACE, DOUBLE)
    delimiter = STANDS_FOR_DOUBLE if dialect.delimiter == DOUBLE else dialect.delimiter
    return csv.read_csv(
        pa.BufferReader(native_buffer(chunk)),
        read_options=csv.ReadOptions(column_names=names, block_size=1 << 20),
        parse_options=csv.ParseOptions(delimiter=delimiter, quote_char='"' if quotes else False),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(kept, kind),
            include_columns=kept,
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _explain(raw: bytes, first: int, dialect: Dialect, error: Exception) -> NoReturn:
    """Find the line that Arrow could not read, and say what is wrong with it."""
    waiting = bool(dialect.header) and first == 1
    for offset, line in enumerate(raw.split(b"\n")):
        text = dialect.source.decoded(line, first + offset)
        if not text.strip() or text.lstrip()[0] in "#%":
            continue
        if not waiting:
            expect_width(first + offset, text, dialect)
        waiting = False
    last = first + raw.count(b"\n")
    dialect.source.refuse(
        f"cannot parse lines {first} to {last} ({shown(error)}). Check the quotes."
    )


def _read_text(
    dialect: Dialect, chosen: tuple[int, ...], notes: ReadCounts, *, share_labels: bool
) -> list[ParsedColumn]:
    seen: list[dict[str, int]] = [{} for _ in chosen]
    if share_labels:
        seen = [seen[0]] * len(chosen)
    codes = [Growing() for _ in chosen]
    kind = pa.dictionary(pa.int32(), pa.string())
    for table in tables(dialect, chosen, notes, kind):
        for number, (known, column) in enumerate(zip(seen, codes, strict=True)):
            for block in table.column(number).chunks:
                values = trimmed(block.dictionary, dialect)
                column.extend(_numbered(values, known)[block.indices.to_numpy()])
    columns: list[ParsedColumn] = []
    for number, known in enumerate(seen):
        values = pa.array(known, type=pa.string())
        labels = columns[0].labels if share_labels and columns else None
        if labels is None:
            labels = labels_of(dialect, chosen, values, notes)
        columns.append(_in_order(codes[number].finish(), values, labels))
    return columns


def _numbered(values: pa.Array, known: dict[str, int]) -> NDArray[np.int32]:
    """Return the number of each value; those not seen before get the next ones."""
    numbers = (known.setdefault(value, len(known)) for value in values.to_pylist())
    return np.fromiter(numbers, dtype=np.int32, count=len(values))


def trimmed(dictionary: pa.Array, dialect: Dialect) -> pa.Array:
    """Return text without the space that follows every delimiter, where one does."""
    return pc.utf8_ltrim_whitespace(dictionary) if dialect.spaced else dictionary


def _in_order(codes: NDArray[np.int32], values: pa.Array, labels: Ids) -> ParsedColumn:
    """Overwrite codes into values by positions into labels, the same values in order."""
    typed = as_integers(values) if labels.dtype.kind == "i" else values
    position = positions(as_ids(typed, what="ids"), labels, what="ids")
    for part in blocks(codes.size):
        codes[part] = position[codes[part]]
    return ParsedColumn(codes, labels)


def labels_of(
    dialect: Dialect, chosen: tuple[int, ...], values: pa.Array, notes: ReadCounts
) -> Ids:
    """Return the labels in order: integers if all spell one, else text; refuse other labels."""
    problem, source = problem_of(values), dialect.source
    if problem is not None:
        refuse_value(dialect, chosen, *problem)
    others = other_than_integers(values)
    pair = alike(values) if len(others) else None
    if pair is not None:
        source.refuse(f"the ids {in_quotes(*pair)} look the same. Merge them, or rename one.")
    spelled = alike(values, accents=True) if len(others) else None
    notes.look_alike = notes.look_alike if spelled is None else in_quotes(*spelled)
    empty = others.filter(pc.is_in(others, value_set=pa.array(NO_IDS)))
    if len(empty):
        source.refuse(f"{no_id(empty[0].as_py())} Remove that column, or correct the line.")
    broken = others.filter(pc.match_substring(others, "\n"))
    if len(broken):
        source.refuse(f"a cell contains a line break ({shown(broken[0])}). Close its quotes.")
    labels = distinct(ids_of(values))
    if labels.dtype.kind != "i" and 0 < len(others) < len(values):
        notes.odd_ids += len(others)
        notes.example = notes.example or shown(others[0].as_py())
    return labels


def refuse_value(dialect: Dialect, chosen: tuple[int, ...], value: str, problem: str) -> NoReturn:
    """Refuse an id, with the first line on which it stands."""
    quoted = f"the id {shown(value)}" if value else "an id"
    advice = "Use an integer >= 0, or text."
    for number, line in rows_below(dialect):
        cells = dialect.cells(line)
        if value.strip() in [cells[column] for column in chosen if column < len(cells)]:
            dialect.source.refuse(f"{quoted} {problem}. {advice}", line=number)
    raise InputError(f"{dialect.source.name}: {quoted} {problem}. {advice}")


def merged_text(parts: list[pa.DictionaryArray]) -> ParsedColumn:
    """Return text in parts, each with its own dictionary, as one column."""
    known: dict[str, int] = {}
    codes = Growing()
    for part in parts:
        codes.extend(_numbered(part.dictionary, known)[part.indices.to_numpy()])
    values = pa.array(known, type=pa.string())
    return _in_order(codes.finish(), values, distinct(as_ids(values, what="ids")))


def read_lists(dialect: Dialect, *, named: bool) -> ParsedPairs:
    """Return the pairs of a file with one line a user; its first cell names the user if `named`.

    A user without items is kept. Lines without a name are users 0, 1, 2 and so on.
    """
    notes = ReadCounts(header=dialect.header, nameless=not named)
    users: list[str] = []
    items: list[str] = []
    sizes: list[int] = []
    seen: dict[str, int] = {}
    waiting = bool(dialect.header)
    for number, line in dialect.source.lines():
        if not line.strip() or line.lstrip()[0] in "#%":
            notes.comment_lines += bool(line.strip())
            if users:
                _check_comment(dialect, line.strip(), number)
            continue
        if waiting:
            waiting = False
            continue
        cells = [cell for cell in dialect.cells(line) if cell]
        user = cells.pop(0) if named and cells else str(len(users))
        if user in seen:
            dialect.source.refuse(
                f"the user {shown(user)} is already in line {seen[user]}. Merge the lines, or "
                "read them as pairs.",
                line=number,
            )
        _check(dialect.source, [user, *cells], number)
        seen[user] = number
        users.append(user)
        items.extend(cells)
        sizes.append(len(cells))
    if dialect.undecided:
        _check_first_line(dialect.source, items, sizes)
    notes.rows = len(users)
    return ParsedPairs.of(encoded(ids_listed(users)), encoded(ids_listed(items)), notes, sizes)


def _check_comment(dialect: Dialect, text: str, number: int) -> None:
    """Refuse a comment below the first user that may be a user with items."""
    if text[1:2].strip() and len(dialect.cells(text)) > 1:
        dialect.source.refuse(
            f"{shown(text)} could be a comment or a user. For a comment, put a space after "
            f"{text[0]}; for a user, quote the id and separate cells by commas or tabs.",
            line=number,
        )


def _check_first_line(source: Source, items: list[str], sizes: list[int]) -> None:
    """Refuse a first line that may be names: no other line is the only one with all its items."""
    counts = Counter(items)
    ends = np.cumsum(sizes).tolist()
    alone = [
        all(counts[item] == 1 for item in items[end - size : end])
        for end, size in zip(ends, sizes, strict=True)
        if size
    ]
    if len(alone) > 2 and alone[0] and sizes[0] and sum(alone) == 1:
        refuse_undecided(source, items[: sizes[0]])


def _check(source: Source, cells: list[str], number: int) -> None:
    for cell in cells:
        digits = cell.removeprefix("-")
        if digits.isascii() and digits.isdigit() and digits != cell:
            source.refuse(f"{shown(cell)} is not an id. Use integers >= 0, or text.", line=number)
        if cell.lower() == "nan":
            source.refuse("missing id (nan). Remove it.", line=number)


MOST_COLUMNS_OF_PAIRS = 3
"""A file of more columns is not a list of pairs, unless names of columns or options say so."""

_LABELS = re.compile(r"((edge|tie|link)[ _-]?)?labels?", re.IGNORECASE)
"""Names of columns that may say of which kind an edge is, and may as well name each."""


class Offered(NamedTuple):
    """The columns that a file offers, and what options say of the ends of its rows."""

    source: Source
    header: tuple[str, ...]
    n: int
    ends: Ends


def two_columns(of: Offered, notes: ReadCounts, *, by_position: bool = False) -> tuple[int, int]:
    """Return the columns of the two ends of a row; refuse further ones unless they are ignored."""
    if of.n < 2:
        of.source.refuse(
            "only one column found, but each row needs two ids. Set the separator with "
            f"{option('delimiter')}."
        )
    if of.header and len(of.header) != of.n:
        of.source.refuse(
            f"{len(of.header)} column names ({shown(', '.join(of.header))}) for rows of {of.n} "
            "cells. Give one name per column."
        )
    beside = kind_column(of)
    chosen = _asked(of)
    named = known_pairs(of.header, graph=True)
    if chosen is None and beside is not None and of.n == 3 and not named:
        first, second = (column for column in range(3) if column != beside)
        chosen = first, second
    if chosen is None:
        chosen = _recognized(of, by_position=by_position)
    if beside in chosen:
        of.source.refuse(
            f"{option('kind_column')} names an end of the edges. Choose a different column."
        )
    numbered = [f"column {number}" for number in range(1, of.n + 1)]
    names = [name or number for name, number in zip(of.header or numbered, numbered, strict=True)]
    used = (*chosen, beside)
    further = tuple(name for column, name in enumerate(names) if column not in used)
    if further and not of.ends.ignore_weights:
        needed = "two" if beside is None else "three"
        out = leave_out()
        named_kinds = [
            name
            for name in further
            if any(one.fullmatch(name) for one in (KINDS_OF_EDGES, _LABELS))
        ]
        if of.ends.of_ties and beside is None and named_kinds:
            kind = option("kind_column", named_kinds[0])
            out = f"{out.removesuffix('.')}; or, if it contains the type of each edge, use {kind}."
        of.source.refuse(
            f"{counted(of.n, 'column')} found, {needed} needed. Extra: "
            f"{shown(', '.join(further))}. {out}"
        )
    notes.columns_ignored = further
    return chosen


def kind_column(of: Offered) -> int | None:
    """Return the column that says of which kind an edge is, where there is one."""
    if of.ends.kind_column is None:
        return None
    return _column(of, "kind_column", of.ends.kind_column)


def _asked(of: Offered) -> tuple[int, int] | None:
    """Return the columns that the options name; None where they name none."""
    first, second = (
        None if value is None else _column(of, name, value)
        for name, value in zip(of.ends.names, of.ends.asked, strict=True)
    )
    if first is None and second is None:
        return None
    if first is None or second is None:
        given, lacking = of.ends.names if second is None else of.ends.names[::-1]
        of.source.refuse(f"{option(given)} requires {option(lacking)}. Give both.")
    if first == second:
        of.source.refuse(
            f"{' and '.join(map(option, of.ends.names))} name the same column. Choose "
            "two different columns."
        )
    return first, second


def _column(of: Offered, name: str, value: str | int) -> int:
    """Return the column of this name, or else of this number."""
    if isinstance(value, str) and value in of.header:
        return of.header.index(value)
    text = str(value)
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= of.n:
        return int(text[:9]) - 1
    return of.source.refuse(
        f"{option(name)}: no column {shown(text)}. "
        f"{did_you_mean(text, map(shown, of.header))}Columns: {_listed(of.header, of.n)}."
    )


def _recognized(of: Offered, *, by_position: bool) -> tuple[int, int]:
    """Return the columns of known names, or the only two; refuse what is not clear."""
    graph = of.ends.names[0] == "source_column"
    pairs = known_pairs(of.header, graph=graph)
    if (
        pairs
        and not all(of.header)
        and (plain(of.header[pairs[0][0]]), plain(of.header[pairs[0][1]])) in TOO_SHORT
    ):
        return refuse_columns(of, "like those of a matrix")
    if len(pairs) == 1:
        return pairs[0]
    if graph and tuple(map(plain, of.header)) in NODE_LISTS:
        say = options(**dict(zip(of.ends.names, of.header, strict=True)))
        of.source.refuse(
            f"this looks like a list of nodes (columns: {shown(', '.join(of.header))}). Give the "
            f"file of edges, or, if these are edges, give {say}"
        )
    if of.n == 2 or (by_position and not of.header):
        return 0, 1
    why = "with no known pair of names" if of.header else "without names"
    if pairs:
        why = "with several possible pairs"
    return refuse_columns(of, why)


def refuse_columns(of: Offered, why: str) -> NoReturn:
    """Refuse columns of which nobody said which two count, with what to copy.

    Of many columns none are proposed: they are a table more likely than not.
    """
    if of.n > MOST_COLUMNS_OF_PAIRS:
        first, second = map(option, of.ends.names)
        say = f"{first} and {second} to name them, with {option('ignore_weights', value=True)}"
    else:
        examples: list[str | int] = (
            [of.header[0], of.header[1]] if of.header and all(of.header[:2]) else [1, 2]
        )
        named = dict(zip(of.ends.names, examples, strict=True))
        say = f"options that name the two, such as {options(**named, ignore_weights=True)}"
    pairs = "the ends of edges" if of.ends.names[0] == "source_column" else "users and items"
    table = (
        f" If each row is a person, use {option('kind', 'table')} and {USE_A_TABLE}."
        if "table" in of.source.format.kinds
        else ""
    )
    of.source.refuse(
        f"{counted(of.n, 'column')} {why}: {_listed(of.header, of.n)}.{table} If two "
        f"columns are {pairs}, use {say}"
    )


def _listed(header: tuple[str, ...], n_columns: int) -> str:
    """Return the names of the columns, or their numbers."""
    if not header:
        return f"columns 1 to {n_columns}"
    named = [shown(name) if name else f"(no name, number {i})" for i, name in enumerate(header, 1)]
    return ", ".join(named[:20]) + (f" and {len(named) - 20} more" if len(named) > 20 else "")


MOST_SHOWN = 8
"""So many kinds of edges stand in a message."""


def parsed_kinds(source: Source, named: Sequence[str | None]) -> ParsedKinds:
    """Return the kinds of edges that a file names, one name per edge."""
    kept = [name.strip() for name in named if name is not None]
    missing = len(named) - len(kept) + kept.count("")
    if missing:
        row = next(at for at, name in enumerate(named, start=1) if not (name or "").strip())
        source.refuse(
            f"{counted(missing, 'edge', 'has')} no type, starting with row {row}. Add "
            "the type, or remove these edges."
        )
    return ParsedKinds.of(kept)


class ReadLayers(NamedTuple):
    """What the edges of a file became; `symmetrized`: how many arcs lost their direction."""

    layers: tuple[Layer, ...]
    dropped: Dropped
    symmetrized: int
    left_out: tuple[str, ...]


def layers_of(source: Source, arcs: ParsedArcs, n: int, options: NetworkOptions) -> ReadLayers:
    """Return the layers of a file."""
    kinds = _grouped(source, arcs.kinds, options)
    every = (TIES,) if kinds is None else kinds.names or (TIES,)
    asked, plain = (
        _asked_kind(source, flag, getattr(options, flag), every, named=kinds is not None)
        for flag in ("kinds", "undirected")
    )
    chosen = [name for name in every if not asked or name in asked]
    layers, counts, symmetrized = [], np.zeros(3, dtype=np.int64), 0
    for name in chosen:
        of_kind = slice(None) if kinds is None else kinds.codes == every.index(name)
        how = replace(options, undirected=plain)
        layer, dropped, forgotten = _layer(source, arcs, of_kind, n, how, name)
        layers.append(layer)
        counts += dropped
        symmetrized += forgotten
    left_out = tuple(f"edges of type {name}" for name in every if name not in chosen)
    return ReadLayers(tuple(layers), Dropped(*counts.tolist()), symmetrized, left_out)


def _grouped(
    source: Source, kinds: ParsedKinds | None, options: NetworkOptions
) -> ParsedKinds | None:
    """Return the kinds, where numbers are grouped those of the groups."""
    column = options.kind_column
    rule = None if column is None else options.bins.get(column)
    if kinds is None or rule is None:
        return kinds
    try:
        numbers = np.array([float(name) for name in kinds.names])
    except ValueError:
        source.refuse(
            f"the edge types, {_listed_kinds(kinds.names)}, are not numbers, so they "
            "cannot be grouped."
        )
    groups = binned(pa.array(numbers[kinds.codes]), rule, name=str(column))
    return parsed_kinds(source, groups.to_pylist())


def _asked_kind(
    source: Source, flag: str, asked: Sequence[str], every: Sequence[str], *, named: bool
) -> tuple[str, ...]:
    """Return the kinds that an option names, one by one or with commas between."""
    names = named_columns(asked, every)
    for name in names:
        if not named:
            source.refuse(
                f"{option(flag, name)} names an edge type, but no column with edge types is "
                f"set. Use {option('kind_column')}."
            )
        if name not in every:
            source.refuse(
                f"no edges of type {shown(name)}. {did_you_mean(name, every)}Types: "
                f"{_listed_kinds(every)}."
            )
    return names


def _layer(
    source: Source,
    arcs: ParsedArcs,
    of_kind: slice | NDArray[np.bool_],
    n: int,
    options: NetworkOptions,
    name: str,
) -> tuple[Layer, Dropped, int]:
    """Return the edges of one kind, what was dropped, and how many arcs lost their direction."""
    ends = [arcs.source[of_kind], arcs.target[of_kind]]
    what = "" if arcs.kinds is None else f"{name}: "
    one_way = None if arcs.one_way is None else arcs.one_way[of_kind]
    said = arcs.directed if one_way is None or one_way.any() else False
    plain = said is False or name in options.undirected
    try:
        if options.directed == "keep" and not plain:
            if one_way is not None and not one_way.all():
                source.refuse(
                    f"{what}some edges are directed and others are not. Mark all of them as "
                    f"directed, or drop directions with {option('directed', 'symmetrize')}."
                )
            return *Layer.assemble(*ends, n=n, name=name), 0
        lists, dropped = neighbor_lists([end.copy() for end in ends], n)
        layer = Layer(name=name, directed=False, indptr=lists.indptr, indices=lists.indices)
    except DataError as error:
        source.refuse(error.message.text)
    if one_way is not None:  # edges stand there both ways, as the file does not
        dropped = dropped._replace(reciprocal_pairs=dropped.reciprocal_pairs * int(one_way.any()))
    ties = Ties(n=layer.n_ties, mutual=dropped.reciprocal_pairs, said=said, names=arcs.names)
    if not ties.matter or name in options.undirected:
        return layer, dropped, 0
    if options.directed == "refuse":
        source.refuse(f"{what}{ties.refusal} To keep directions, use {option('directed', 'keep')}.")
    return layer, dropped, ties.n - ties.mutual


def _listed_kinds(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(map(shown, names[:MOST_SHOWN])) + more
