"""Parquet files of whole numbers, read some rows at a time: compared byte by byte, then a view.

What `graphveil.verify.files.columnar` does in memory is done here a group of rows at a time: each
is written again in the one form, and what is written is compared with the file as it comes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
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
    with opened_columnar(path) as file:
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
def opened_columnar(path: Path) -> Iterator[Any]:
    """Open a Parquet file without reading ahead."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and text needs none of it
    from pyarrow import parquet  # noqa: PLC0415  as above

    with pa.OSFile(os.fsencode(path)) as stream:
        yield parquet.ParquetFile(stream, pre_buffer=False)


def _compared(file: Any, path: Path, names: Sequence[str]) -> UnreadableError | None:
    """Refuse a file of other bytes than its rows have; return what is wrong with one of these."""
    import pyarrow as pa  # noqa: PLC0415  heavy, as above

    schema = pa.schema([(name, pa.int64()) for name in names])
    odd: list[UnreadableError] = []

    def looked_at() -> Iterator[Any]:
        first = 0
        batches = file.iter_batches(ROWS, columns=list(names), use_threads=False)
        for rows in in_groups(_whole(batches, names), schema, ROWS):
            strange = None if odd else _strange(rows, first, path.name)
            odd.extend([] if strange is None else [strange])
            first += rows.num_rows
            yield rows

    compare_groups(path, looked_at(), schema, settings_of(names), ROWS)
    return odd[0] if odd else None


def compare_groups(
    path: Path, groups: Iterable[Any], schema: Any, settings: dict[str, Any], n_rows: int
) -> None:
    """Refuse a Parquet file whose bytes are not those of these row groups, written one by one.

    Parameters
    ----------
    path
        The file.
    groups
        Tables of this schema, of so many rows each but the last.
    schema, settings
        How they are written.
    n_rows
        The rows of a group.

    Raises
    ------
    UnreadableError
        Where a byte differs; the message names file and byte.
    """
    import pyarrow as pa  # noqa: PLC0415  heavy, as above
    from pyarrow import parquet  # noqa: PLC0415  as above

    with path.open("rb") as stream:
        sink = _ComparingSink(stream)
        writer = parquet.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, **settings)
        try:
            for rows in groups:
                writer.write_table(rows, row_group_size=n_rows)
        finally:
            sink.hold()  # also what a writer that is given up says
        writer.close()
        sink.end(_renamed(sink.held()))
    if sink.differs_at is not None:
        raise UnreadableError(
            f"{path.name}, byte {sink.differs_at} of {path.stat().st_size}: not as these cells are "
            f"written, in the one form of {sink.size} bytes"
        )


def in_groups(batches: Iterable[Any], schema: Any, n_rows: int) -> Iterator[Any]:
    """Yield rows so many at a time as a group of the one form has; once where there are none.

    However the file is divided, no more of it is in memory.
    """
    import pyarrow as pa  # noqa: PLC0415  heavy, as above

    waiting: list[Any] = []
    n, some = 0, False
    for batch in batches:
        waiting.append(batch)
        n += batch.num_rows
        while n >= n_rows:
            table = pa.Table.from_batches(waiting)
            some = True
            yield table.slice(0, n_rows).combine_chunks()
            waiting, n = table.slice(n_rows).to_batches(), n - n_rows
    if n or not some:
        yield pa.Table.from_batches(waiting, schema).combine_chunks()


def _whole(batches: Iterable[Any], names: Sequence[str]) -> Iterator[Any]:
    for batch in batches:
        batch.validate(full=True)
        yield batch.select(list(names))


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
    parquet.ParquetWriter(sink, pa.schema([("one", pa.int64())])).close()
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
