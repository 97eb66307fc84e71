"""Parquet and Arrow files: frames of edges, of pairs, of lists, of cells."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from inspect import signature
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc, parquet

from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.data.bins import binned
from graphveil.data.directions import column_of_types, types_say_directed
from graphveil.data.ids import Ids, as_ids, written_out
from graphveil.data.ids import to_arrow as ids_to_arrow
from graphveil.errors import option
from graphveil.io.column_choice import kind_column, refuse_columns, two_columns
from graphveil.io.formats import Format
from graphveil.io.frame import Frame, opened_frame
from graphveil.io.kinds_of_ties import parsed_kinds
from graphveil.io.options import BipartiteOptions, GraphOptions, TableOptions
from graphveil.io.parsed import (
    Notes,
    ParsedArcs,
    ParsedCells,
    ParsedColumn,
    ParsedKinds,
    ParsedPairs,
    encoded,
)
from graphveil.io.source import Source, shown
from graphveil.io.table_text import check_columns, numbers_to_bin, refuse_fractions

_ROWS = 1 << 20
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
"""What decides on the bytes of a Parquet file beside its cells; `verify` has the same list."""

_FEW_ROWS = 1 << 16


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a frame of edges."""
    with opened_frame(source) as frame:
        notes = Notes()
        chosen = two_of_frame(source, frame, notes, options)
        left, right = frame.columns(chosen, notes, share_labels=True)
        said = frame_says_directed(frame, chosen) or None
        kinds = _kinds(source, frame, options)
    return ParsedArcs(
        kinds=kinds,
        source=left.codes,
        target=right.codes,
        labels=left.labels,
        directed=said,
        names=chosen,
        notes=notes,
    )


def _kinds(source: Source, frame: Frame, options: GraphOptions) -> ParsedKinds | None:
    """Return the kinds of ties, where a column says them."""
    column = kind_column(source, tuple(frame.names), len(frame.names), options.ends)
    if column is None:
        return None
    batches = frame.batches((frame.names[column],))
    return parsed_kinds(
        source,
        [
            None if value is None else str(value)
            for batch in batches
            for value in written_out(batch.column(0)).to_pylist()
        ],
    )


def frame_says_directed(frame: Frame, chosen: tuple[str, str]) -> bool:
    """Return whether a column of types, as Gephi writes it, calls some tie directed."""
    column = column_of_types(frame.names, [frame.names.index(name) for name in chosen])
    if column is None:
        return False
    batches = frame.batches((frame.names[column],))
    return any(types_say_directed(batch.column(0)) for batch in batches)


def read_bipartite(source: Source, options: BipartiteOptions) -> ParsedPairs:
    """Return the pairs of a frame with a row a pair, or a list of items a row."""
    with opened_frame(source) as frame:
        notes = Notes()
        nested = _list_column(source, frame, options)
        if nested is not None:
            return _lists(source, frame, nested, options)
        chosen = two_of_frame(source, frame, notes, options)
        left, right = frame.columns(chosen, notes, share_labels=False)
    return ParsedPairs(
        user=left.codes, item=right.codes, users=left.labels, items=right.labels, notes=notes
    )


def bipartite_batches(
    source: Source, options: BipartiteOptions, notes: Notes
) -> Iterator[pa.RecordBatch]:
    """Yield users with their items some rows at a time, as the frame has them.

    The columns are user and item where a row is a pair, user and items where it is a list; lists
    without a column of users belong to users 0, 1, 2 and so on.
    """
    with opened_frame(source) as frame:
        nested = _list_column(source, frame, options)
        chosen: tuple[str, ...]
        if nested is None:
            chosen = two_of_frame(source, frame, notes, options)
            names = ["user", "item"]
        else:
            user = _user_column(source, frame, nested, notes, options)
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
    """Return the columns of a frame; numbers are binned where asked, and refused if fractional."""
    with opened_frame(source) as frame:
        names = tuple(frame.names)
        check_columns(source, names, options)
        table = frame.table()
    if table.num_rows == 0:
        source.refuse("there are names but no rows. Give at least one row.")
    columns = {name: _categorical(source, name, table[name], options) for name in names}
    return ParsedCells(
        columns=columns, notes=Notes(rows=table.num_rows, binned=tuple(options.bins))
    )


def read_ids(source: Source) -> ParsedColumn:
    """Return the first column of a frame that lists ids."""
    with opened_frame(source) as frame:
        if not frame.names:
            source.refuse("the file has no column. Give one of ids.")
        (column,) = frame.columns((frame.names[0],), Notes(), share_labels=False)
    return column


def write_graph(graph: Graph, stream: IO[bytes], form: Format) -> None:
    """Write every edge once, in the columns source and target."""
    _write(graph.to_arrow(), stream, form)


def write_network(network: Network, stream: IO[bytes], form: Format) -> None:
    """Write every tie once, in the columns source, target and, of several kinds, layer."""
    _write(network.to_arrow(), stream, form)


def write_bipartite(data: Bipartite, stream: IO[bytes], form: Format) -> None:
    """Write every pair, in the columns user and item."""
    _write(data.to_arrow(), stream, form)


def write_table(table: Table, stream: IO[bytes], form: Format) -> None:
    """Write the cells in their columns; a suppressed cell is null."""
    _write(table.to_arrow(), stream, form)


def write_ids(ids: Ids, name: str, stream: IO[bytes], form: Format) -> None:
    """Write ids in one column."""
    _write(pa.table([ids_to_arrow(ids)], names=[name]), stream, form)


def _write(table: pa.Table, stream: IO[bytes], form: Format) -> None:
    write_tables([table], stream, form)


def write_tables(tables: Iterable[pa.Table], stream: IO[bytes], form: Format) -> None:
    """Write tables of the same columns one below the other, however they are divided.

    A Parquet file follows from its cells alone: it is not compressed, since what is can be
    compressed in many ways, and it does not name the version of the library.

    Parameters
    ----------
    tables
        One at least; any may be empty.
    stream, form
        Where to write, and whether Parquet or Arrow.
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
    """Return how columns are written: integers by their differences, text by its words.

    Parameters
    ----------
    numbers, texts
        The columns of integers and of text; of lists the paths of their elements.
    """
    settings: dict[str, Any] = {"use_dictionary": texts or False}
    if "max_rows_per_page" in signature(parquet.ParquetWriter.__init__).parameters:
        settings["max_rows_per_page"] = _ROWS
    return _PARQUET | settings | {"column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED")}


def name_no_version(stream: IO[bytes]) -> None:
    """Give the footer of a Parquet file one name for every version of what wrote it."""
    named = parquet.ParquetFile(stream).metadata.created_by.encode()
    stream.seek(-8, io.SEEK_END)
    size = int.from_bytes(stream.read(4), "little")
    stream.seek(-8 - size, io.SEEK_END)
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
    source: Source, frame: Frame, notes: Notes, options: GraphOptions | BipartiteOptions
) -> tuple[str, str]:
    """Return the names of the columns of both ends of a row."""
    names = tuple(frame.names)
    first, second = two_columns(source, names, len(names), notes, options.ends)
    return frame.names[first], frame.names[second]


def _list_column(source: Source, frame: Frame, options: BipartiteOptions) -> str | None:
    """Return the column of lists, if there is one."""
    nested = [field for field in frame.schema if pa.types.is_nested(field.type)]
    asked = [field for field in nested if field.name == options.item_column]
    if not nested:
        return None
    if len(nested) > 1 and not asked:
        named = ", ".join(shown(field.name) for field in nested)
        say = option("item_column", str(nested[0].name))
        source.refuse(f"several columns hold lists: {named}. Say which one, such as {say}.")
    name, kind = (asked or nested)[0].name, (asked or nested)[0].type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        source.refuse(f"column {name} holds {shown(kind)}, no list of items. Use list<string>.")
    return str(name)


def _user_column(
    source: Source, frame: Frame, nested: str, notes: Notes, options: BipartiteOptions
) -> str | None:
    """Return the column of users beside a column of lists, if there is one."""
    beside = [name for name in frame.names if name != nested]
    if len(beside) > 1 or options.user_column is not None:
        asked = options.item_column if options.item_column is not None else nested
        ends = options.ends._replace(asked=(options.user_column, asked))
        if options.user_column is None:
            names = tuple(frame.names)
            refuse_columns(source, names, len(names), ends, "of which one holds lists")
        user, _ = two_columns(source, tuple(frame.names), len(frame.names), notes, ends)
        return frame.names[user]
    return beside[0] if beside else None


def _lists(source: Source, frame: Frame, name: str, options: BipartiteOptions) -> ParsedPairs:
    notes = Notes()
    user = _user_column(source, frame, name, notes, options)
    table = frame.table()
    notes.rows, notes.nameless = table.num_rows, user is None
    column = table[name].combine_chunks()
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    sizes = pc.fill_null(column.value_lengths(), 0).to_numpy(zero_copy_only=False)
    ids = as_ids(table[user], what=f"column {user}") if user is not None else None
    user_column = encoded(np.arange(table.num_rows) if ids is None else ids)
    if user_column.labels.size != table.num_rows:
        source.refuse(f"column {user}: a user stands in two rows. Merge their lists.")
    item_column = encoded(as_ids(column.flatten(), what=f"column {name}"))
    return ParsedPairs(
        user=np.repeat(user_column.codes, sizes),
        item=item_column.codes,
        users=user_column.labels,
        items=item_column.labels,
        notes=notes,
    )


def _categorical(source: Source, name: str, column: Any, options: TableOptions) -> Any:
    rule = options.bins.get(name)
    column = written_out(column.combine_chunks())
    if rule is not None:
        return binned(numbers_to_bin(source, name, column, options), rule, name=name)
    if pa.types.is_floating(column.type):
        whole = pc.or_kleene(pc.is_nan(column), pc.equal(pc.floor(column), column))
        fractions = column.filter(pc.fill_null(pc.invert(whole), False))
        if len(fractions):
            refuse_fractions(source, name, fractions[0].as_py())
    return column
