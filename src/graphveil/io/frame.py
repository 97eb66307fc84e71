"""A Parquet or Arrow file that is open: its columns, checked, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc, parquet

from graphveil.data.ids import as_ids, written_out
from graphveil.errors import DataError
from graphveil.io.columns import merged_text
from graphveil.io.integers import Growing, compact, distinct_integers
from graphveil.io.native import native_file
from graphveil.io.parsed import (
    Notes,
    ParsedColumn,
    encoded,
    joined,
)
from graphveil.io.source import Source, shown

_ROWS = 1 << 20

_FAILURES = (pa.ArrowException, ValueError, OSError, OverflowError, MemoryError)


class Frame:
    """An open Parquet or Arrow file."""

    def __init__(self, source: Source, stream: pa.NativeFile) -> None:
        self.source = source
        self._parquet = self._arrow = None
        if source.format.name == "parquet":
            self._parquet = parquet.ParquetFile(stream, pre_buffer=False)
            schema = self._parquet.schema_arrow
        else:
            start = stream.read(6)
            stream.seek(0)
            opened = ipc.open_file if start == b"ARROW1" else ipc.open_stream
            self._arrow = opened(stream)
            schema = self._arrow.schema
        kept = [field for field in schema if not field.name.startswith("__index_level_")]
        self.schema = pa.schema(kept)
        self.names: list[str] = self.schema.names
        if len(set(schema.names)) != len(schema.names):
            source.refuse("two columns have the same name. Rename one.")

    def batches(self, names: tuple[str, ...], rows: int = _ROWS) -> Iterator[pa.RecordBatch]:
        """Yield the chosen columns, some rows at a time."""
        if self._parquet is not None:
            for batch in self._parquet.iter_batches(rows, columns=list(names)):
                yield batch.select(list(names))
            return
        arrow: Any = self._arrow
        stream = hasattr(arrow, "read_next_batch")
        every = arrow if stream else map(arrow.get_batch, range(arrow.num_record_batches))
        for batch in every:
            batch.validate(full=True)
            yield batch.select(list(names))

    def table(self) -> pa.Table:
        """Return all of it."""
        schema = pa.schema([self.schema.field(name) for name in self.names])
        table = pa.Table.from_batches(self.batches(tuple(self.names)), schema)
        table.validate(full=True)
        return table

    def columns(
        self, names: tuple[str, ...], notes: Notes, *, share_labels: bool
    ) -> list[ParsedColumn]:
        """Return columns of ids, over one list of labels or over one each."""
        integers = all(pa.types.is_integer(self.schema.field(name).type) for name in names)
        if not integers:
            batches = list(self.batches(names))
            notes.rows = sum(batch.num_rows for batch in batches)
            every = [
                self._text_or_whole(name, [batch.column(name) for batch in batches])
                for name in names
            ]
            return list(joined(*every)) if share_labels else every
        grown = [Growing() for _ in names]
        notes.rows = 0
        for batch in self.batches(names):
            notes.rows += batch.num_rows
            for number, column in enumerate(grown):
                column.extend(self._integers(batch.column(number), names[number]))
        arrays = [column.finish() for column in grown]
        shared = distinct_integers(*arrays) if share_labels else None
        return [compact(array, labels=shared) for array in arrays]

    def is_text(self, name: str) -> bool:
        """Whether a column holds text, or categories of text."""
        kind = self.schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        textual = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        return any(check(kind) for check in textual)

    def ids(self, column: pa.Array, name: str) -> pa.Array:
        """Return a column of a batch as ids: int64, or text of whole words; refuse what is none."""
        if not self.is_text(name):
            return pa.array(self._integers(column, name))
        if column.null_count:
            self.source.refuse(f"column {name}: an id is missing. Remove the row.")
        return written_out(column).cast(pa.string())

    def n_rows(self) -> int | None:
        """Return the number of rows where the file says it; None where it must be read."""
        return None if self._parquet is None else int(self._parquet.metadata.num_rows)

    def _integers(self, column: pa.Array, name: str) -> NDArray[np.int64]:
        try:
            return as_ids(column, what=f"column {name}")
        except DataError as error:
            self.source.refuse(error.message.text)

    def _text_or_whole(self, name: str, parts: list[pa.Array]) -> ParsedColumn:
        """Return a column of text, of whole floats, or of categories of these."""
        if self.is_text(name):
            if any(part.null_count for part in parts):
                self.source.refuse(f"column {name}: an id is missing. Remove the row.")
            return merged_text([_encoded(part) for part in parts])
        values = [self._integers(part, name) for part in parts]
        return encoded(np.concatenate([np.empty(0, dtype=np.int64), *values]))


def _encoded(part: pa.Array) -> pa.DictionaryArray:
    return written_out(part).cast(pa.string()).dictionary_encode()


@contextmanager
def opened_frame(source: Source) -> Iterator[Frame]:
    """Open a Parquet or Arrow file; what is wrong with it is said of the file."""
    with source.open(), native_file(source.path) as stream:
        try:
            yield Frame(source, stream)
        except _FAILURES as error:
            source.refuse(
                f"this is no whole {source.format.name} file ({shown(error)}). Write it again."
            )
