"""Tables of one machine: pieces that are computed when they are asked for, and files of them.

A piece is a value that can be pickled and whose call gives a table. Rows are grouped without a sort
of the whole: every piece writes its rows once, in the order of their groups, a batch for some
groups; gathering a group maps that batch of every file into memory.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import ipc, parquet

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.engines.database import database, stream
from graphveil.engines.engine import MOST_ANSWERS, Answer, Dialect, Query
from graphveil.io.parquet_files import opened_parquet
from graphveil.progress import stage

Piece: TypeAlias = "Callable[[], pa.Table]"
Run: TypeAlias = "Callable[[Iterable[Callable[[], Any]]], Iterable[Any]]"
"""Does tasks, and yields what they give in their order."""

PIECE_ROWS = 1 << 18
PIECE_BYTES = 1 << 26
MOST_BATCHES = 256
"""The most batches that the rows of a piece are written in."""

NOTE = "done.json"
_PACKED = ipc.IpcWriteOptions(compression="lz4")
"""How rows are kept; groups are not compressed, since they are mapped into memory."""


@dataclass(frozen=True)
class InFile:
    """Rows in an Arrow file, mapped into memory."""

    path: Path

    def __call__(self) -> pa.Table:
        """Return the rows."""
        with _mapped(self.path) as reader:
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
        return pa.Table.from_batches([self.work(_one_batch(self.piece()))])


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
            with _mapped(path) as reader:
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
        whole = _one_batch(rows.take(pa.array(order)))
        ends = np.searchsorted(narrow[order], np.arange(n_batches + 1)).tolist()
        with _written(self.path, rows.schema) as writer:
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
        with _written(self.path, rows.schema, _PACKED) as writer:
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


LocalRows: TypeAlias = "Sequence[Piece] | Groups"


class LocalTables:
    """The tables of one run on one machine.

    Parameters
    ----------
    folder
        Where files lie; private to the run.
    memory_mib
        The memory that a query may take.
    run
        What does the tasks.
    """

    dialect: Dialect = "duckdb"

    def __init__(self, folder: Path, memory_mib: int, run: Run) -> None:
        self._folder = folder
        self._memory_mib = memory_mib
        self._run = run
        self._n_spread = 0

    def rows(self, source: Sequence[Path]) -> LocalRows:
        """Return the rows of Parquet files."""
        return [piece for path in source for piece in _pieces_of(path)]

    def select(self, query: Query, **rows: LocalRows) -> LocalRows:
        """Return what a query chooses; anything but columns is chosen at once, into files."""
        if query.plain:
            return [Chosen(piece, query.columns) for piece in self._pieces(rows["rows"])]
        folder = self._new_folder("selected")
        with self._database(query, rows) as db:
            relation = db.sql(query.spelled(self.dialect))
            return [
                _filed(table, folder / f"{number:06d}.arrow")
                for number, table in enumerate(_by_size(stream(relation)))
            ]

    def ask(self, query: Query, **rows: LocalRows) -> Answer:
        """Return what a query answers."""
        with self._database(query, rows) as db:
            answer: Answer = db.execute(query.spelled(self.dialect)).fetchmany(MOST_ANSWERS + 1)
        if len(answer) > MOST_ANSWERS:
            raise RuntimeError(f"a query answered with more than {MOST_ANSWERS} rows")
        return answer

    def map(
        self,
        rows: LocalRows,
        work: Callable[[pa.RecordBatch], pa.RecordBatch],
        schema: pa.Schema,
    ) -> LocalRows:
        """Return what a work makes of rows."""
        del schema
        return [Mapped(piece, work) for piece in self._pieces(rows)]

    def grouped(
        self,
        rows: LocalRows,
        by: str,
        n: int,
        work: Callable[[int, pa.Table], pa.Table],
        schema: pa.Schema,
    ) -> LocalRows:
        """Return what a work makes of groups of rows."""
        return Groups(rows, by, n, work, schema)

    def kept(self, rows: LocalRows, name: str, doing: str) -> LocalRows:
        """Return the same rows in files; those that an interrupted run has written stay."""
        folder = self._folder / name
        note = folder / NOTE
        if not note.is_file():
            folder.mkdir(exist_ok=True)
            spread = folder / "spread"
            pieces = self._spread(rows, spread) if isinstance(rows, Groups) else rows
            files = [folder / f"{number:06d}.arrow" for number in range(len(pieces))]
            missing = [
                Filed(piece, path)
                for piece, path in zip(pieces, files, strict=True)
                if not path.is_file()
            ]
            with stage(doing, total=len(pieces)) as advance:
                advance(len(pieces) - len(missing))
                for _ in self._run(missing):
                    advance(1)
            _note(note, {"files": len(pieces)})
            shutil.rmtree(spread, ignore_errors=True)
        n = json.loads(note.read_bytes())["files"]
        return [InFile(folder / f"{number:06d}.arrow") for number in range(n)]

    def batches(self, rows: LocalRows, by: str | None) -> Iterator[pa.RecordBatch]:
        """Yield rows to this process, a piece at a time."""
        del by  # groups are in order
        folder = None
        if isinstance(rows, Groups):
            folder = self._new_folder("spread")
            rows = self._spread(rows, folder)
        for piece in rows:
            yield from piece().to_batches()
        if folder is not None:
            shutil.rmtree(folder)

    def _pieces(self, rows: LocalRows) -> Sequence[Piece]:
        """Return pieces, where they are of groups after their rows are spread."""
        if isinstance(rows, Groups):
            return self._spread(rows, self._new_folder("spread"))
        return rows

    def _spread(self, rows: Groups, folder: Path) -> Sequence[Piece]:
        """Return the pieces of groups once all rows are written into a folder by their groups."""
        if not (folder / NOTE).is_file():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            tasks = [
                Spread(piece, folder / f"{number:06d}.arrow", rows.by, rows.n, rows.together)
                for number, piece in enumerate(self._pieces(rows.rows))
            ]
            for _ in self._run(tasks):
                pass
            _note(folder / NOTE, {"files": len(tasks)})
        return rows.gathered(folder)

    def _new_folder(self, name: str) -> Path:
        self._n_spread += 1
        folder = self._folder / f"{name}-{self._n_spread:03d}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    @contextmanager
    def _database(self, query: Query, rows: dict[str, LocalRows]) -> Iterator[Any]:
        with database(self._folder, memory_mib=self._memory_mib, threads=1) as db:
            for name, table in rows.items():
                db.register(name, self._reader(self._pieces(table), query.columns))
            yield db

    def _reader(self, pieces: Sequence[Piece], names: tuple[str, ...]) -> pa.RecordBatchReader:
        """Return columns of pieces, to be read once; those that are computed are in memory."""
        if all(isinstance(piece, InFile) for piece in pieces):
            tables = (piece() for piece in pieces)
        else:
            tables = (table for table in self._run(pieces))
        first = next(tables)
        kept = [name for name in first.schema.names if name in names]
        schema = first.select(kept).schema

        def batches() -> Iterator[pa.RecordBatch]:
            yield from first.select(kept).to_batches()
            for table in tables:
                yield from table.select(kept).to_batches()

        return pa.RecordBatchReader.from_batches(schema, batches())


@contextmanager
def _mapped(path: Path) -> Iterator[Any]:
    with pa.memory_map(os.fsencode(path)) as file, ipc.open_file(file) as reader:
        yield reader


@contextmanager
def _written(
    path: Path, schema: pa.Schema, options: ipc.IpcWriteOptions | None = None
) -> Iterator[Any]:
    """Open an Arrow file that appears whole."""
    with (
        whole_file(path, mode=OWNER_ONLY) as part,
        part.open("wb") as file,
        ipc.new_file(file, schema, options=options) as writer,
    ):
        yield writer


def _filed(table: pa.Table, path: Path) -> Piece:
    with _written(path, table.schema) as writer:
        writer.write_table(table)
    return InFile(path)


def _note(path: Path, said: dict[str, int]) -> None:
    with whole_file(path, mode=OWNER_ONLY) as part:
        part.write_bytes(json.dumps(said).encode())


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    whole = table.combine_chunks()
    batches = whole.to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def _by_size(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield batches together, about a piece at a time."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= PIECE_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _pieces_of(path: Path) -> Iterator[Piece]:
    """Yield the rows of a Parquet file in pieces of about the same size."""
    with opened_parquet(path) as file:
        metadata: parquet.FileMetaData = file.metadata
    start, rows, size = 0, 0, 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if number > start and (
            rows + group.num_rows > PIECE_ROWS or size + group.total_byte_size > PIECE_BYTES
        ):
            yield InParquet(path, range(start, number))
            start, rows, size = number, 0, 0
        rows, size = rows + group.num_rows, size + group.total_byte_size
    yield InParquet(path, range(start, metadata.num_row_groups))
