"""Columns of ids, and lists of items, from a text file: Arrow parses it chunk by chunk.

What a thread of Arrow can reach belongs to Arrow: no Python bytes, no Python file. Such a thread
may drop the last reference to its input late. If it then needs the lock of an interpreter that has
begun to exit, the process ends with SIGABRT.
"""

from __future__ import annotations

import os
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
from graphveil.data.ids import NO_IDS, Ids, as_ids, distinct, no_id, positions
from graphveil.io.parsed import (
    ParsedColumn,
    ReadCounts,
    as_integers,
    ids_of,
    note_look_alikes,
    other_than_integers,
    problem_of,
)
from graphveil.io.source import shown
from graphveil.io.text.cleaning import (
    comments_below_rows,
    may_not_be_plain,
    single_spaced,
    without_blank_lines,
    without_comments,
)
from graphveil.io.text.compact_integers import Growing, compact, distinct_integers
from graphveil.io.text.dialect import DOUBLE, STANDS_FOR_DOUBLE, WHITESPACE, Dialect, expect_width
from graphveil.io.text.header import rows_below


def native_buffer(content: bytes) -> pa.Buffer:
    """Return a copy of some bytes that no Python object owns."""
    buffer = pa.allocate_buffer(len(content))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(content, dtype=np.uint8)
    return buffer


def native_file(path: Path) -> pa.OSFile:
    """Open a file to be read; its name is taken for nothing else, whatever its bytes are."""
    return pa.OSFile(os.fsencode(path))


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
    # Comments, blank lines and extra space go; lines stay at their numbers, for messages.
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
    # Codes per column, and the number of every text that was seen, over one numbering if shared.
    seen: list[dict[str, int]] = [{} for _ in chosen]
    if share_labels:
        seen = [seen[0]] * len(chosen)
    codes = [Growing() for _ in chosen]
    kind = pa.dictionary(pa.int32(), pa.string())
    # Arrow gives each block its own dictionary: its values get their numbers once per block.
    for table in tables(dialect, chosen, notes, kind):
        for number, (known, column) in enumerate(zip(seen, codes, strict=True)):
            for block in table.column(number).chunks:
                values = trimmed(block.dictionary, dialect)
                column.extend(_numbered(values, known)[block.indices.to_numpy()])
    # Labels in canonical order replace the order in which texts were seen.
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
    if len(others):
        note_look_alikes(source, values, notes)
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
