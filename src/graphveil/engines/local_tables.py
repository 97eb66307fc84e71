"""Tables of one machine: pieces that are computed when they are asked for, and files of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyarrow import parquet

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.engines.database import database, stream
from graphveil.engines.engine import MOST_ANSWERS, Answer, Dialect, Query, gone
from graphveil.engines.pieces import (
    Chosen,
    Filed,
    Groups,
    InFile,
    InParquet,
    Mapped,
    Piece,
    Spread,
    written,
)
from graphveil.io.parquet_files import opened_parquet
from graphveil.progress import stage

Run: TypeAlias = "Callable[[Iterable[Callable[[], Any]]], Iterable[Any]]"
"""Does tasks, and yields what they give in their order."""

PIECE_ROWS = 1 << 18
PIECE_BYTES = 1 << 26
NOTE = "done.json"


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
    apart = False

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
        return self.kept_as(name)

    def kept_as(self, name: str) -> LocalRows:
        """Return the rows that this run has kept under a name."""
        folder = self._folder / name
        if not (folder / NOTE).is_file():
            raise gone(name, self._folder)
        n = json.loads((folder / NOTE).read_bytes())["files"]
        return [InFile(folder / f"{number:06d}.arrow") for number in range(n)]

    def batches(self, rows: LocalRows, by: str | None) -> Iterator[pa.RecordBatch]:
        """Yield rows to this process, a piece at a time.

        Groups, which are large, are made here one after the other: results that wait for their
        turn would lie in memory.
        """
        del by  # groups are in order
        if not isinstance(rows, Groups):
            for table in self._tables(rows):
                yield from table.to_batches()
            return
        folder = self._new_folder("spread")
        for piece in self._spread(rows, folder):
            yield from piece().to_batches()
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

    def _tables(self, pieces: Sequence[Piece]) -> Iterator[pa.Table]:
        """Yield what pieces give: files are mapped here, and works run where tasks do.

        So what works compile and load takes no memory of this process, unless it runs them.
        """
        if all(isinstance(piece, InFile) for piece in pieces):
            yield from (piece() for piece in pieces)
        else:
            yield from self._run(pieces)

    def _reader(self, pieces: Sequence[Piece], names: tuple[str, ...]) -> pa.RecordBatchReader:
        """Return columns of pieces, to be read once."""
        tables = self._tables(pieces)
        first = next(tables)
        kept = [name for name in first.schema.names if name in names]
        schema = first.select(kept).schema

        def batches() -> Iterator[pa.RecordBatch]:
            yield from first.select(kept).to_batches()
            for table in tables:
                yield from table.select(kept).to_batches()

        return pa.RecordBatchReader.from_batches(schema, batches())


def _filed(table: pa.Table, path: Path) -> Piece:
    with written(path, table.schema) as writer:
        writer.write_table(table)
    return InFile(path)


def _note(path: Path, said: dict[str, int]) -> None:
    with whole_file(path, mode=OWNER_ONLY) as part:
        part.write_bytes(json.dumps(said).encode())


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
