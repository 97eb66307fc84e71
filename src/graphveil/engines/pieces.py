"""Pieces of tables on one machine, and the tasks that write them.

A piece is a value that can be pickled and whose call gives a table. Rows are grouped without a sort
of the whole: every piece writes its rows once, in the order of their groups, a batch for some
groups; gathering a group maps that batch of every file into memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.io.parquet_files import opened_parquet

Piece: TypeAlias = "Callable[[], pa.Table]"

MOST_BATCHES = 256
"""The most batches that the rows of a piece are written in."""

_PACKED = ipc.IpcWriteOptions(compression="lz4")
"""How rows are kept; groups are not compressed, since they are mapped into memory."""


@dataclass(frozen=True)
class InFile:
    """Rows in an Arrow file, mapped into memory."""

    path: Path

    def __call__(self) -> pa.Table:
        """Return the rows."""
        with mapped(self.path) as reader:
            return reader.read_all()


@dataclass(frozen=True)
class InParquet:
    """Some row groups of a Parquet file."""

    path: Path
    groups: range

    def __call__(self) -> pa.Table:
        """Return the rows."""
        with opened_parquet(self.path) as file:
            return file.read_row_groups(list(self.groups), use_threads=False)


@dataclass(frozen=True)
class Chosen:
    """Some columns of a piece."""

    piece: Piece
    columns: tuple[str, ...]

    def __call__(self) -> pa.Table:
        """Return the rows."""
        return self.piece().select(list(self.columns))


@dataclass(frozen=True)
class Mapped:
    """What a work makes of a piece."""

    piece: Piece
    work: Callable[[pa.RecordBatch], pa.RecordBatch]

    def __call__(self) -> pa.Table:
        """Return the rows."""
        return pa.Table.from_batches([self.work(one_batch(self.piece()))])


@dataclass(frozen=True)
class Gathered:
    """What a work makes of some groups, out of the batch of this number of every file."""

    sources: Path
    number: int
    groups: range
    by: str
    work: Callable[[int, pa.Table], pa.Table]
    schema: pa.Schema

    def __call__(self) -> pa.Table:
        """Return the rows, group by group."""
        tables = []
        for path in sorted(self.sources.glob("*.arrow")):
            with mapped(path) as reader:
                tables.append(pa.Table.from_batches([reader.get_batch(self.number)]))
        rows = pa.concat_tables(tables)
        numbers = rows[self.by].to_numpy()
        if len(self.groups) > 1:
            order = np.argsort(numbers, kind="stable")
            rows, numbers = rows.take(pa.array(order)), numbers[order]
        made = [self.schema.empty_table()]
        for group in self.groups:
            start, end = np.searchsorted(numbers, [group, group + 1]).tolist()
            if start < end:
                made.append(self.work(group, rows.slice(start, end - start).combine_chunks()))
        return pa.concat_tables(made)


@dataclass(frozen=True)
class Spread:
    """Writes the rows of a piece into a file, a batch for every `together` groups."""

    piece: Piece
    path: Path
    by: str
    n: int
    together: int

    def __call__(self) -> None:
        """Write the file."""
        rows = self.piece()
        batch_of = rows[self.by].to_numpy() // self.together
        n_batches = -(-self.n // self.together)
        narrow = batch_of.astype(np.uint16)  # sorted by its digits
        order = np.argsort(narrow, kind="stable")
        whole = one_batch(rows.take(pa.array(order)))
        ends = np.searchsorted(narrow[order], np.arange(n_batches + 1)).tolist()
        with written(self.path, rows.schema) as writer:
            for start, end in pairwise(ends):
                writer.write_batch(whole.slice(start, end - start))


@dataclass(frozen=True)
class Filed:
    """Writes the rows of a piece into an Arrow file, and returns their number."""

    piece: Piece
    path: Path

    def __call__(self) -> int:
        """Write the file."""
        rows = self.piece()
        with written(self.path, rows.schema, _PACKED) as writer:
            writer.write_table(rows)
        return int(rows.num_rows)


@dataclass(frozen=True)
class Groups:
    """Groups of rows whose pieces are not spread yet: as they are when somebody asks for them."""

    rows: Sequence[Piece] | Groups
    by: str
    n: int
    work: Callable[[int, pa.Table], pa.Table]
    schema: pa.Schema

    @property
    def together(self) -> int:
        """How many groups share a batch."""
        return -(-self.n // MOST_BATCHES)

    def gathered(self, folder: Path) -> list[Piece]:
        """Return the pieces of all groups, in their order, of rows that lie in a folder."""
        t = self.together
        starts = range(0, self.n, t)
        return [
            Gathered(
                folder, number, range(at, min(at + t, self.n)), self.by, self.work, self.schema
            )
            for number, at in enumerate(starts)
        ]


@contextmanager
def mapped(path: Path) -> Iterator[Any]:
    """Open an Arrow file whose rows are mapped into memory."""
    with pa.memory_map(os.fsencode(path)) as file, ipc.open_file(file) as reader:
        yield reader


@contextmanager
def written(
    path: Path, schema: pa.Schema, options: ipc.IpcWriteOptions | None = None
) -> Iterator[Any]:
    """Open an Arrow file that appears whole."""
    with (
        whole_file(path, mode=OWNER_ONLY) as part,
        part.open("wb") as file,
        ipc.new_file(file, schema, options=options) as writer,
    ):
        yield writer


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """Return a table as one batch."""
    whole = table.combine_chunks()
    batches = whole.to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
