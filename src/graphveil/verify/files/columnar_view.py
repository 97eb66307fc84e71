"""Parquet files of whole numbers, read some rows at a time: compared byte by byte, then a view.

What `graphveil.verify.files.columnar` does in memory is done here a group of rows at a time: each
is written again in the one form, and what is written is compared with the file as it comes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.files.canonical import first_difference
from graphveil.verify.files.columnar import (
    CREATED_BY,
    ROWS,
    named_writer,
    refuse_packed,
    refuse_types,
    settings_of,
)
from graphveil.verify.verdict import shown

_BYTES_PER_CELL = 8


def view_columnar(db: Database, path: Path, view: str, names: Sequence[str]) -> None:
    """Create a view of a Parquet file of whole numbers.

    Parameters
    ----------
    db, path
        Where, and the file.
    view, names
        The view, and what it and the file call their columns.

    Raises
    ------
    UnreadableError
        Where a column has another name or type, a number is missing or negative, or a byte is not
        as it would be written.
    """
    with _opened(path) as file:
        refuse_types(path.name, file.schema_arrow, [(name, "BIGINT") for name in names], names)
        n_rows = file.metadata.num_rows
        content = n_rows * len(names) * _BYTES_PER_CELL
        db.refuse_unrolled(content, path.stat().st_size, path.name)
        refuse_packed(db, path)
        odd = _compared(file, path, names)
    if odd is not None:
        raise odd
    listed = ", ".join(names)
    link = literal(db.link(path))
    db.run(f"CREATE VIEW {view} AS SELECT {listed} FROM read_parquet({link})")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file without reading ahead."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and text needs none of it
    from pyarrow import parquet  # noqa: PLC0415  as above

    with pa.OSFile(os.fsencode(path)) as stream:
        yield parquet.ParquetFile(stream, pre_buffer=False)


def _compared(file: Any, path: Path, names: Sequence[str]) -> UnreadableError | None:
    """Refuse a file of other bytes than its rows have; return what is wrong with one of these."""
    import pyarrow as pa  # noqa: PLC0415  heavy, as above
    from pyarrow import parquet  # noqa: PLC0415  as above

    schema = pa.schema([(name, pa.int64()) for name in names])
    odd: UnreadableError | None = None
    with path.open("rb") as stream:
        sink = _ComparingSink(stream)
        target = pa.PythonFile(sink, mode="w")
        writer = parquet.ParquetWriter(target, schema, **settings_of(names))
        first = 0
        for rows in _groups(file, names, schema):
            odd = odd or _strange(rows, first, path.name)
            first += rows.num_rows
            writer.write_table(rows, row_group_size=ROWS)
        sink.hold()
        writer.close()
        sink.end(_renamed(sink.held()))
    if sink.differs_at is not None:
        raise UnreadableError(
            f"{path.name}, byte {sink.differs_at} of {path.stat().st_size}: not as these cells are "
            f"written, in the one form of {sink.size} bytes"
        )
    return odd


def _groups(file: Any, names: Sequence[str], schema: Any) -> Iterator[Any]:
    """Yield the rows so many at a time as a group of the one form has; once where there are none.

    However the file is divided, no more of it is in memory.
    """
    import pyarrow as pa  # noqa: PLC0415  heavy, as above

    waiting, n, some = [], 0, False
    for batch in file.iter_batches(ROWS, columns=list(names), use_threads=False):
        batch.validate(full=True)
        waiting.append(batch.select(list(names)))
        n += batch.num_rows
        while n >= ROWS:
            table = pa.Table.from_batches(waiting)
            some = True
            yield table.slice(0, ROWS).combine_chunks()
            waiting, n = table.slice(ROWS).to_batches(), n - ROWS
    if n or not some:
        yield pa.Table.from_batches(waiting, schema).combine_chunks()


def _strange(rows: Any, first: int, name: str) -> UnreadableError | None:
    """Return that a number is missing, or below 0; None where none is."""
    import pyarrow.compute as pc  # noqa: PLC0415  heavy, as above

    for column in rows.column_names:
        if rows[column].null_count:
            row = pc.index(pc.is_null(rows[column]), True).as_py()
            return UnreadableError(f"{name}: row {first + row + 1} has no {column}")
    for column in rows.column_names:
        least = pc.min(rows[column]).as_py()
        if least is not None and least < 0:
            return UnreadableError(f"{name}: {least} in the column {shown(column)} is below 0")
    return None


def _renamed(tail: bytes) -> bytes:
    """Return the end of a file with one name for every version of what wrote it."""
    size = int.from_bytes(tail[-8:-4], "little")
    body, footer = tail[: -8 - size], tail[-8 - size : -8]
    before, _, behind = footer.rpartition(named_writer(_library()))
    footer = before + named_writer(CREATED_BY) + behind
    return body + footer + len(footer).to_bytes(4, "little") + tail[-4:]


def _library() -> bytes:
    """Return what the library calls itself in the files that it writes."""
    import pyarrow as pa  # noqa: PLC0415  heavy, as above
    from pyarrow import parquet  # noqa: PLC0415  as above

    sink = BytesIO()
    parquet.write_table(pa.table({"one": pa.array([], pa.int64())}), sink)
    called: bytes = parquet.ParquetFile(BytesIO(sink.getvalue())).metadata.created_by.encode()
    return called


class _ComparingSink:
    """A file to be written that keeps nothing but where it first differs from another one."""

    def __init__(self, other: Any) -> None:
        self.differs_at: int | None = None
        self.size = 0
        self.closed = False
        self._other = other
        self._held: bytearray | None = None

    def write(self, content: Any) -> int:
        """Compare some bytes, or hold them."""
        raw = bytes(content)
        if self._held is None:
            self._compare(raw)
        else:
            self._held += raw
        return len(raw)

    def hold(self) -> None:
        """Keep what is written from now on."""
        self._held = bytearray()

    def held(self) -> bytes:
        """Return what was kept."""
        return bytes(self._held or b"")

    def end(self, rest: bytes) -> None:
        """Compare the last bytes; the other file must end with them."""
        self._compare(rest)
        if self.differs_at is None and self._other.read(1):
            self.differs_at = self.size

    def _compare(self, raw: bytes) -> None:
        if self.differs_at is None:
            there = self._other.read(len(raw))
            if there != raw:
                self.differs_at = self.size + first_difference(there, raw)
        self.size += len(raw)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size + len(self._held or b"")

    def flush(self) -> None:
        """Do nothing: nothing waits."""

    def close(self) -> None:
        """Say that it is closed."""
        self.closed = True
