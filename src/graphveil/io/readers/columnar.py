"""Parquet and Arrow files: frames of edges, of pairs, of lists, of cells.

Arrow takes some names for addresses, and DuckDB some for patterns or columns (``user=1``). So
neither is given a name: both get open files, Arrow's own, since its threads read them.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ipc, parquet

from graphveil.core.errors import DataError
from graphveil.core.hints import option
from graphveil.core.text import counted
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.data.arrow_values import written_out
from graphveil.data.columns import arrow_table, column_of_types, is_text, types_say_directed
from graphveil.data.ids import Ids, as_ids, as_text
from graphveil.data.ids import to_arrow as ids_to_arrow
from graphveil.io.edge_types import parsed_kinds
from graphveil.io.formats import BipartiteOptions, Ends, Format, GraphOptions, TableOptions
from graphveil.io.parsed import (
    ParsedArcs,
    ParsedCells,
    ParsedColumn,
    ParsedKinds,
    ParsedPairs,
    ReadCounts,
    binning,
    encoded,
    joined,
)
from graphveil.io.source import Source, shown
from graphveil.io.text.chosen_columns import Offered, kind_column, refuse_columns, two_columns
from graphveil.io.text.columns import merged_text, native_file
from graphveil.io.text.compact_integers import Growing, compact, distinct_integers
from graphveil.io.text.table_cells import check_columns

_ROWS = 1 << 20

_FAILURES = (pa.ArrowException, ValueError, OSError, OverflowError, MemoryError)
"""What reading a damaged file may raise."""


class Frame:
    """A Parquet or Arrow file, or several that are its parts."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._n_rows = 0
        schemas = []
        # Every part must have the columns of the first, in its types; the index of pandas is not
        # data.
        for part in source.parts:
            with _opened(part) as file:
                of_part = file.schema_arrow if hasattr(file, "schema_arrow") else file.schema
                is_parquet = isinstance(file, parquet.ParquetFile)
                self._n_rows += file.metadata.num_rows if is_parquet else 0
            if len(set(of_part.names)) != len(of_part.names):
                part.refuse("two columns have the same name. Rename one.")
            kept = [field for field in of_part if not field.name.startswith("__index_level_")]
            schemas.append(pa.schema(kept))
            _check_same(source.parts[0], part, schemas[0], schemas[-1])
        self.schema = schemas[0]
        self.names: list[str] = self.schema.names

    def batches(self, names: tuple[str, ...], rows: int = _ROWS) -> Iterator[pa.RecordBatch]:
        """Yield the chosen columns, some rows at a time."""
        for part in self.source.parts:
            with _opened(part) as file:
                for batch in _batches(file, list(names), rows):
                    yield batch.select(list(names))

    def table(self, names: tuple[str, ...]) -> pa.Table:
        """Return all rows of the chosen columns."""
        schema = pa.schema([self.schema.field(name) for name in names])
        table = pa.Table.from_batches(self.batches(names), schema)
        table.validate(full=True)
        return arrow_table(table)

    def columns(
        self, names: tuple[str, ...], notes: ReadCounts, *, share_labels: bool
    ) -> list[ParsedColumn]:
        """Return columns of ids, over one list of labels or over one each."""
        # Text, floats and categories: all batches at once, over dictionaries.
        integers = all(pa.types.is_integer(self.schema.field(name).type) for name in names)
        if not integers:
            batches = list(self.batches(names))
            notes.rows = sum(batch.num_rows for batch in batches)
            every = [
                self._text_or_whole(name, [batch.column(name) for batch in batches])
                for name in names
            ]
            return list(joined(*every)) if share_labels else every
        # Integers: into growing arrays, a batch at a time.
        grown = [Growing() for _ in names]
        notes.rows = 0
        for batch in self.batches(names):
            notes.rows += batch.num_rows
            for number, column in enumerate(grown):
                column.extend(self._integers(batch.column(number), names[number]))
        arrays = [column.finish() for column in grown]
        shared = distinct_integers(*arrays) if share_labels else None
        return [compact(array, labels=shared) for array in arrays]

    def offered(self, ends: Ends) -> Offered:
        """Return the columns as what options choose the ends of a row from."""
        return Offered(self.source, tuple(self.names), len(self.names), ends)

    def is_text(self, name: str) -> bool:
        """Whether a column holds text, or categories of text."""
        return is_text(self.schema.field(name).type)

    def ids(self, column: pa.Array, name: str) -> pa.Array:
        """Return a column of a batch as ids: int64, or text of whole words; refuse others."""
        if not self.is_text(name):
            return pa.array(self._integers(column, name))
        column = written_out(column)
        self._check_none_missing(name, column.null_count)
        return column.cast(pa.string())

    def n_rows(self) -> int | None:
        """Return the number of rows where the file says it; None where it must be read."""
        return self._n_rows if self.source.format.name == "parquet" else None

    def _integers(self, column: pa.Array, name: str) -> NDArray[np.int64]:
        try:
            return as_ids(column, what=f"column {name}")
        except DataError as error:
            self.source.refuse(error.message.text)

    def _text_or_whole(self, name: str, parts: list[pa.Array]) -> ParsedColumn:
        """Return a column of text, of whole floats, or of categories of these."""
        if self.is_text(name):
            parts = [written_out(part) for part in parts]
            self._check_none_missing(name, sum(part.null_count for part in parts))
            return merged_text([part.cast(pa.string()).dictionary_encode() for part in parts])
        values = [self._integers(part, name) for part in parts]
        if len({ids.dtype.kind for ids in values}) > 1:
            values = list(map(as_text, values))
        return encoded(np.concatenate(values or [np.empty(0, dtype=np.int64)]))

    def _check_none_missing(self, name: str, count: int) -> None:
        if count:
            self.source.refuse(
                f"column {name}: {counted(count, 'id', 'is')} missing. Remove such rows."
            )


@contextmanager
def opened_frame(source: Source) -> Iterator[Frame]:
    """Give the frame in a Parquet or Arrow file; what is wrong with it is said of the file."""
    with damage_refused(source):
        yield Frame(source)


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    """Open one file with Arrow's reader of its format."""
    with source.open(), native_file(source.path) as stream, damage_refused(source):
        if source.format.name == "parquet":
            yield parquet.ParquetFile(stream, pre_buffer=False)
            return
        start = stream.read(6)
        stream.seek(0)
        yield (ipc.open_file if start == b"ARROW1" else ipc.open_stream)(stream)


def _batches(file: Any, names: list[str], rows: int) -> Iterator[pa.RecordBatch]:
    if isinstance(file, parquet.ParquetFile):
        yield from file.iter_batches(rows, columns=names)
        return
    stream = hasattr(file, "read_next_batch")
    for batch in file if stream else map(file.get_batch, range(file.num_record_batches)):
        batch.validate(full=True)
        yield batch


def _check_same(first: Source, part: Source, schema: pa.Schema, other: pa.Schema) -> None:
    """Refuse a part that does not have the columns of the first one, in their types."""
    if schema.names != other.names:
        said = (shown(", ".join(names)) for names in (other.names, schema.names))
        part.refuse(f"the columns are {next(said)}, but {first.name} has {next(said)}.")
    for one, another in zip(schema, other, strict=True):
        if one.type != another.type:
            part.refuse(
                f"column {shown(one.name)} is {another.type}, but {one.type} in {first.name}. "
                "Write it in one type."
            )


@contextmanager
def damage_refused(source: Source) -> Iterator[None]:
    """Refuse a Parquet or Arrow file that is damaged, saying what is wrong with it."""
    try:
        yield
    except _FAILURES as error:
        source.refuse(
            f"this is not a complete {source.format.name} file ({shown(error)}). Write it again."
        )


BATCH_ROWS = 1 << 16
"""How many rows of a Parquet file of ours are read at a time."""


@contextmanager
def opened_parquet(path: Path) -> Iterator[parquet.ParquetFile]:
    """Open a Parquet file that is read some rows at a time."""
    with native_file(path) as stream, parquet.ParquetFile(stream, pre_buffer=False) as file:
        yield file


@contextmanager
def parquet_writer(path: Path, schema: pa.Schema, **options: Any) -> Iterator[Any]:
    """Open a Parquet file to be written a table at a time; an old file of the name is emptied."""
    with path.open("wb") as stream, parquet.ParquetWriter(stream, schema, **options) as writer:
        yield writer


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write a table into a Parquet file."""
    with path.open("wb") as stream:
        parquet.write_table(table, stream)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the table in a Parquet file, or some of its columns."""
    with opened_parquet(path) as file:
        return file.read(None if columns is None else list(columns))


def schema_of(path: Path) -> pa.Schema:
    """Return the columns of a Parquet file, with its metadata."""
    with opened_parquet(path) as file:
        return file.schema_arrow


def rows_in(paths: Sequence[Path]) -> int:
    """Return how many rows some Parquet files have together."""
    total = 0
    for path in paths:
        with opened_parquet(path) as file:
            total += file.metadata.num_rows
    return total


def batches_in(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file some at a time; no more of it is in memory."""
    with opened_parquet(path) as file:
        yield from file.iter_batches(BATCH_ROWS, columns=columns)


def write_batches(path: Path, batches: Iterator[pa.RecordBatch | pa.Table]) -> None:
    """Write batches of the same columns into one file; no batch makes no file."""
    first = next(batches, None)
    if first is None:
        return
    with parquet_writer(path, first.schema) as writer:
        writer.write(first)
        for batch in batches:
            writer.write(batch)


_WRITER = b"graphveil version 1.0.0"
_CREATED_BY = b"\x28"
"""The header of the writer's name in a footer: a text, two fields behind the one before."""

_PARQUET: dict[str, Any] = {
    "compression": "none",
    "write_statistics": False,
    "store_schema": False,
    "version": "2.6",
    "data_page_version": "1.0",
    "data_page_size": 1 << 20,
    "dictionary_pagesize_limit": 1 << 24,
    "write_batch_size": 1024,
}
"""What decides on the bytes of a Parquet file apart from its cells; `verify` has the same list."""

_FEW_ROWS = 1 << 16
"""How many rows of lists are read at a time: lists may be long."""


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a frame of edges."""
    with opened_frame(source) as frame:
        notes = ReadCounts()
        chosen = two_of_frame(frame, notes, options)
        left, right = frame.columns(chosen, notes, share_labels=True)
        said = frame_says_directed(frame, chosen) or None
        kinds = _kinds(frame, options)
    return ParsedArcs(
        kinds=kinds,
        source=left.codes,
        target=right.codes,
        labels=left.labels,
        directed=said,
        names=chosen,
        notes=notes,
    )


def _kinds(frame: Frame, options: GraphOptions) -> ParsedKinds | None:
    """Return the kinds of edges, where a column says them."""
    column = kind_column(frame.offered(options.ends))
    if column is None:
        return None
    batches = frame.batches((frame.names[column],))
    return parsed_kinds(
        frame.source,
        [
            None if value is None else str(value)
            for batch in batches
            for value in written_out(batch.column(0)).to_pylist()
        ],
    )


def frame_says_directed(frame: Frame, chosen: tuple[str, str]) -> bool:
    """Return whether a column of types, as Gephi writes it, calls some edge directed."""
    column = column_of_types(frame.names, [frame.names.index(name) for name in chosen])
    if column is None:
        return False
    batches = frame.batches((frame.names[column],))
    return any(types_say_directed(batch.column(0)) for batch in batches)


def read_bipartite(source: Source, options: BipartiteOptions) -> ParsedPairs:
    """Return the pairs of a frame with one row per pair, or with a list of items in each row."""
    with opened_frame(source) as frame:
        notes = ReadCounts()
        nested = _list_column(frame, options)
        if nested is not None:
            return _lists(frame, nested, options)
        chosen = two_of_frame(frame, notes, options)
        left, right = frame.columns(chosen, notes, share_labels=False)
    return ParsedPairs.of(left, right, notes)


def bipartite_batches(
    source: Source, options: BipartiteOptions, notes: ReadCounts
) -> Iterator[pa.RecordBatch]:
    """Yield users with items; lists without a column of users belong to users 0, 1, 2 and so on."""
    with opened_frame(source) as frame:
        nested = _list_column(frame, options)
        chosen: tuple[str, ...]
        if nested is None:
            chosen = two_of_frame(frame, notes, options)
            names = ["user", "item"]
        else:
            user = _user_column(frame, nested, notes, options)
            notes.nameless = user is None
            chosen = (nested,) if user is None else (user, nested)
            names = ["user", "items"]
        notes.rows = 0
        for batch in frame.batches(chosen, _FEW_ROWS):
            columns = [batch.column(number) for number in range(len(chosen))]
            if len(chosen) == 1:
                columns = [pa.array(np.arange(notes.rows, notes.rows + batch.num_rows)), *columns]
            notes.rows += batch.num_rows
            yield pa.RecordBatch.from_arrays(columns, names=names)


def read_table(source: Source, options: TableOptions) -> ParsedCells:
    """Return the columns of a frame that are not dropped."""
    with opened_frame(source) as frame:
        names = check_columns(source, tuple(frame.names), options)
        table = frame.table(tuple(frame.names))
    if table.num_rows == 0:
        source.refuse("the file has column names but no rows.")
    columns = {name: table[name].combine_chunks() for name in names}
    binned = tuple(binning(columns, options).bins)
    dropped = {name: table[name] for name in frame.names if name not in names}
    notes = ReadCounts(rows=table.num_rows, binned=binned)
    return ParsedCells(columns=columns, dropped=dropped, notes=notes)


def read_ids(source: Source) -> ParsedColumn:
    """Return the first column of a frame that lists ids."""
    with opened_frame(source) as frame:
        if not frame.names:
            source.refuse("the file has no columns. Give a file with a column of ids.")
        (column,) = frame.columns((frame.names[0],), ReadCounts(), share_labels=False)
    return column


def write_container(
    data: Graph | Network | Bipartite | Table, stream: IO[bytes], form: Format
) -> None:
    """Write the rows of `to_arrow`, one per edge, pair or row; a suppressed cell is null."""
    write_tables([data.to_arrow()], stream, form)


write_graph = write_network = write_bipartite = write_table = write_container


def write_ids(ids: Ids, name: str, stream: IO[bytes], form: Format) -> None:
    """Write ids in one column."""
    write_tables([pa.table([ids_to_arrow(ids)], names=[name])], stream, form)


def write_tables(tables: Iterable[pa.Table], stream: IO[bytes], form: Format) -> None:
    """Write tables of the same columns one below the other, however they are divided.

    A Parquet file follows from its cells alone: it is uncompressed and names no library version.
    """
    groups = _row_groups(tables)
    first = next(groups)
    if form.name == "arrow":
        with ipc.new_file(stream, first.schema) as writer:
            for group in itertools.chain([first], groups):
                writer.write_table(group)
        return
    with parquet.ParquetWriter(stream, first.schema, **_settings(first.schema)) as writer:
        for group in itertools.chain([first], groups):
            writer.write_table(group, row_group_size=_ROWS)
    name_no_version(stream)


def _settings(schema: pa.Schema) -> dict[str, Any]:
    """Return how columns are written."""
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    return settings_of([field.name for field in schema if field.name not in texts], texts)


def settings_of(numbers: list[str], texts: list[str]) -> dict[str, Any]:
    """Return how columns are written: integers by their differences, text by its words."""
    settings: dict[str, Any] = {"use_dictionary": texts or False}
    if "max_rows_per_page" in signature(parquet.ParquetWriter.__init__).parameters:
        settings["max_rows_per_page"] = _ROWS
    return _PARQUET | settings | {"column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED")}


def name_no_version(stream: IO[bytes]) -> None:
    """Give the footer of a Parquet file one name for every version of what wrote it."""
    # The footer is at the end of the file, before its length and the magic bytes.
    named = parquet.ParquetFile(stream).metadata.created_by.encode()
    stream.seek(-8, io.SEEK_END)
    size = int.from_bytes(stream.read(4), "little")
    stream.seek(-8 - size, io.SEEK_END)
    # Replace the name of the writer in it, and write the new length.
    before, _, behind = stream.read(size).rpartition(_CREATED_BY + bytes([len(named)]) + named)
    footer = before + _CREATED_BY + bytes([len(_WRITER)]) + _WRITER + behind
    stream.seek(-8 - size, io.SEEK_END)
    stream.truncate()
    stream.write(footer + len(footer).to_bytes(4, "little") + b"PAR1")


def _row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the same rows in tables of so many rows, the last one apart; one at least."""
    waiting = None
    for table in tables:
        waiting = table if waiting is None else pa.concat_tables([waiting, table])
        while waiting.num_rows > _ROWS:
            yield waiting.slice(0, _ROWS).combine_chunks()
            waiting = waiting.slice(_ROWS)
    if waiting is not None:
        yield waiting.combine_chunks()


def two_of_frame(
    frame: Frame, notes: ReadCounts, options: GraphOptions | BipartiteOptions
) -> tuple[str, str]:
    """Return the names of the columns of both ends of a row."""
    first, second = two_columns(frame.offered(options.ends), notes)
    return frame.names[first], frame.names[second]


def _list_column(frame: Frame, options: BipartiteOptions) -> str | None:
    nested = [field for field in frame.schema if pa.types.is_nested(field.type)]
    asked = [field for field in nested if field.name == options.item_column]
    if not nested:
        return None
    if len(nested) > 1 and not asked:
        named = ", ".join(shown(field.name) for field in nested)
        say = option("item_column", str(nested[0].name))
        frame.source.refuse(
            f"several columns contain lists: {named}. Choose one, for example {say}."
        )
    name, kind = (asked or nested)[0].name, (asked or nested)[0].type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        frame.source.refuse(
            f"column {name} has type {shown(kind)}, not a list of items. Use list<string>."
        )
    return str(name)


def _user_column(
    frame: Frame, nested: str, notes: ReadCounts, options: BipartiteOptions
) -> str | None:
    """Return the column of users next to a column of lists, if there is one."""
    beside = [name for name in frame.names if name != nested]
    if len(beside) > 1 or options.user_column is not None:
        asked = options.item_column if options.item_column is not None else nested
        ends = options.ends._replace(asked=(options.user_column, asked))
        if options.user_column is None:
            refuse_columns(frame.offered(ends), "including one that holds lists")
        user, _ = two_columns(frame.offered(ends), notes)
        return frame.names[user]
    return beside[0] if beside else None


def _lists(frame: Frame, name: str, options: BipartiteOptions) -> ParsedPairs:
    notes = ReadCounts()
    user = _user_column(frame, name, notes, options)
    table = frame.table(tuple(frame.names))
    notes.rows, notes.nameless = table.num_rows, user is None
    # A missing list is a user without items.
    column = table[name].combine_chunks()
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    sizes = pc.fill_null(column.value_lengths(), 0).to_numpy(zero_copy_only=False)
    ids = as_ids(table[user], what=f"column {user}") if user is not None else None
    user_column = encoded(np.arange(table.num_rows) if ids is None else ids)
    if user_column.labels.size != table.num_rows:
        frame.source.refuse(f"column {user}: a user appears in two rows. Merge their lists.")
    item_column = encoded(as_ids(column.flatten(), what=f"column {name}"))
    return ParsedPairs.of(user_column, item_column, notes, sizes)
