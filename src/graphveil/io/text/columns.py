"""Columns of ids, and lists of items, from a text file: Arrow parses it chunk by chunk.

A thread of Arrow's pool may drop the last reference to its input after the result is ready. If that
is a Python object, the thread asks for the interpreter's lock; if the interpreter has begun to
exit, that stops the thread inside a destructor, and the process with it (SIGABRT). So everything
that a thread of Arrow can reach belongs to Arrow: no Python bytes, no Python file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from graphveil.core.errors import InputError
from graphveil.data.csr import blocks
from graphveil.data.ids import Ids, as_ids, distinct, positions
from graphveil.io.parsed import (
    ParsedColumn,
    ParsedPairs,
    ReadCounts,
    alike,
    as_integers,
    encoded,
    ids_listed,
    ids_of,
    in_quotes,
    other_than_integers,
    problem_of,
)
from graphveil.io.source import Source, shown
from graphveil.io.text.dialect import (
    DOUBLE,
    STANDS_FOR_DOUBLE,
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
    """A cell is no plain integer, so the columns are to be read as text."""


def read_columns(
    source: Source,
    dialect: Dialect,
    chosen: tuple[int, ...],
    notes: ReadCounts,
    *,
    share_labels: bool,
) -> list[ParsedColumn]:
    """Return the chosen columns of a text file, over one list of labels or over one each."""
    try:
        arrays = _read_integers(source, dialect, chosen, notes)
    except NotIntegersError:
        return _read_text(source, dialect, chosen, notes, share_labels=share_labels)
    shared = distinct_integers(*arrays) if share_labels else None
    return [compact(array, labels=shared) for array in arrays]


def _read_integers(
    source: Source, dialect: Dialect, chosen: tuple[int, ...], notes: ReadCounts
) -> list[NDArray[Any]]:
    columns = [Growing() for _ in chosen]
    for table in tables(source, dialect, chosen, notes, pa.int64()):
        for number, column in enumerate(columns):
            values = table.column(number).to_numpy()
            if values.size and values.min() < 0:
                refuse_value(source, dialect, chosen, str(values.min()), "is negative")
            column.extend(values)
    pa.default_memory_pool().release_unused()
    return [column.finish() for column in columns]


def tables(
    source: Source, dialect: Dialect, chosen: tuple[int, ...], notes: ReadCounts, kind: pa.DataType
) -> Iterator[pa.Table]:
    """Yield the chosen columns a chunk at a time, as Arrow columns of this kind."""
    notes.rows = notes.comment_lines = 0
    numbers = not pa.types.is_dictionary(kind)
    for first, raw, chunk in _cleaned(source, dialect, notes):
        if dialect.plain_only and numbers and may_not_be_plain(chunk):
            raise NotIntegersError
        try:
            table = _parse(chunk, dialect, chosen, kind)
        except pa.ArrowInvalid as error:
            if numbers:
                raise NotIntegersError from error
            _explain(source, raw, first, dialect, error)
        notes.rows += table.num_rows
        yield table


def _cleaned(
    source: Source, dialect: Dialect, notes: ReadCounts
) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield (first line, lines as they stand, lines without names, comments and extra space)."""
    named = bool(dialect.header)
    begun = False
    for first, raw in source.chunks():
        chunk, comments = without_comments(raw)
        notes.comment_lines += comments
        if comments:
            _check_comments(source, dialect, first, raw, begun=begun)
        begun = begun or bool(chunk.strip())
        spaced = dialect.delimiter == WHITESPACE
        chunk = single_spaced(chunk) if spaced else without_blank_lines(chunk)
        if dialect.delimiter == DOUBLE:
            chunk = chunk.replace(DOUBLE.encode(), STANDS_FOR_DOUBLE.encode())
        if named and chunk.strip():
            chunk, named = _after_header(chunk), False
        if chunk.strip():
            yield first, raw, chunk


def _check_comments(
    source: Source, dialect: Dialect, first: int, raw: bytes, *, begun: bool
) -> None:
    """Refuse a comment below the first row that has as many cells as a row: it may be one."""
    for number, comment in comments_below_rows(raw, begun=begun):
        text = source.decoded(comment, first + number).strip()
        if not text[1:2].strip() or len(dialect.cells(text)) != dialect.n_columns:
            continue
        source.refuse(
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


def _explain(
    source: Source, raw: bytes, first: int, dialect: Dialect, error: Exception
) -> NoReturn:
    """Find the line that Arrow could not read, and say what is wrong with it."""
    waiting = bool(dialect.header) and first == 1
    for offset, line in enumerate(raw.split(b"\n")):
        text = source.decoded(line, first + offset)
        if not text.strip() or text.lstrip()[0] in "#%":
            continue
        if not waiting:
            expect_width(source, first + offset, text, dialect)
        waiting = False
    last = first + raw.count(b"\n")
    source.refuse(f"cannot parse lines {first} to {last} ({shown(error)}). Check the quotes.")


def _read_text(
    source: Source,
    dialect: Dialect,
    chosen: tuple[int, ...],
    notes: ReadCounts,
    *,
    share_labels: bool,
) -> list[ParsedColumn]:
    seen: list[dict[str, int]] = [{} for _ in chosen]
    if share_labels:
        seen = [seen[0]] * len(chosen)
    codes = [Growing() for _ in chosen]
    kind = pa.dictionary(pa.int32(), pa.string())
    for table in tables(source, dialect, chosen, notes, kind):
        for number, (known, column) in enumerate(zip(seen, codes, strict=True)):
            for block in table.column(number).chunks:
                values = trimmed(block.dictionary, dialect)
                column.extend(_numbered(values, known)[block.indices.to_numpy()])
    columns: list[ParsedColumn] = []
    for number, known in enumerate(seen):
        values = pa.array(known, type=pa.string())
        labels = columns[0].labels if share_labels and columns else None
        if labels is None:
            labels = labels_of(source, dialect, chosen, values, notes)
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
    source: Source, dialect: Dialect, chosen: tuple[int, ...], values: pa.Array, notes: ReadCounts
) -> Ids:
    """Return the labels in order: integers where all spell one, else text; refuse what is no id."""
    problem = problem_of(values)
    if problem is not None:
        refuse_value(source, dialect, chosen, *problem)
    others = other_than_integers(values)
    pair = alike(values) if len(others) else None
    if pair is not None:
        source.refuse(f"the ids {in_quotes(*pair)} look the same. Merge them, or rename one.")
    spelled = alike(values, accents=True) if len(others) else None
    notes.look_alike = notes.look_alike if spelled is None else in_quotes(*spelled)
    broken = others.filter(pc.match_substring(others, "\n"))
    if len(broken):
        source.refuse(f"a cell contains a line break ({shown(broken[0])}). Close its quotes.")
    labels = distinct(ids_of(values))
    if labels.dtype.kind != "i" and 0 < len(others) < len(values):
        notes.odd_ids += len(others)
        notes.example = notes.example or shown(others[0].as_py())
    return labels


def refuse_value(
    source: Source, dialect: Dialect, chosen: tuple[int, ...], value: str, problem: str
) -> NoReturn:
    """Refuse an id, with the first line on which it stands."""
    quoted = f"the id {shown(value)}" if value else "an id"
    advice = "Use an integer >= 0, or text."
    for number, line in rows_below(source, dialect):
        cells = dialect.cells(line)
        if value.strip() in [cells[column] for column in chosen if column < len(cells)]:
            source.refuse(f"{quoted} {problem}. {advice}", line=number)
    raise InputError(f"{source.name}: {quoted} {problem}. {advice}")


def merged_text(parts: list[pa.DictionaryArray]) -> ParsedColumn:
    """Return text in parts, each with its own dictionary, as one column."""
    known: dict[str, int] = {}
    codes = Growing()
    for part in parts:
        codes.extend(_numbered(part.dictionary, known)[part.indices.to_numpy()])
    values = pa.array(known, type=pa.string())
    return _in_order(codes.finish(), values, distinct(as_ids(values, what="ids")))


def read_lists(source: Source, dialect: Dialect, *, named: bool) -> ParsedPairs:
    """Return the pairs of a file with one line a user; its first cell names the user if `named`.

    A user without items is kept. Lines without a name are users 0, 1, 2 and so on.
    """
    notes = ReadCounts(header=dialect.header, nameless=not named)
    users: list[str] = []
    items: list[str] = []
    sizes: list[int] = []
    seen: dict[str, int] = {}
    waiting = bool(dialect.header)
    for number, line in source.lines():
        if not line.strip() or line.lstrip()[0] in "#%":
            notes.comment_lines += bool(line.strip())
            if users:
                _check_comment(source, dialect, line.strip(), number)
            continue
        if waiting:
            waiting = False
            continue
        cells = [cell for cell in dialect.cells(line) if cell]
        user = cells.pop(0) if named and cells else str(len(users))
        if user in seen:
            source.refuse(
                f"the user {shown(user)} is already in line {seen[user]}. Merge the lines, or "
                "read them as pairs.",
                line=number,
            )
        _check(source, [user, *cells], number)
        seen[user] = number
        users.append(user)
        items.extend(cells)
        sizes.append(len(cells))
    if dialect.undecided:
        _check_first_line(source, items, sizes)
    notes.rows = len(users)
    return ParsedPairs.of(encoded(ids_listed(users)), encoded(ids_listed(items)), notes, sizes)


def _check_comment(source: Source, dialect: Dialect, text: str, number: int) -> None:
    """Refuse a comment below the first user that may be a user with items."""
    if text[1:2].strip() and len(dialect.cells(text)) > 1:
        source.refuse(
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
