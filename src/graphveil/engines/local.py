"""The engine of one machine: processes share the work, files hold what memory does not.

SQL runs in DuckDB, spilling into a private folder, without network. Rows are grouped without
sorting all of them: every piece writes its rows once, in the order of their groups; collecting a
group maps its batch of every file into memory. Selecting, mapping and grouping read and write each
row a constant number of times; memory holds one piece per process, at most `PIECE_ROWS` rows.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import ipc, parquet

from graphveil.core.atomic import OWNER_ONLY, whole_file
from graphveil.core.errors import ParameterError, ResourceError
from graphveil.core.lazy import lazy_module
from graphveil.core.progress import context, stage, within
from graphveil.engines.processes import (
    MOST_ANSWERS,
    Answer,
    Chunkwise,
    Dialect,
    Query,
    WorkerPool,
    available_cores,
    done,
    gone,
)
from graphveil.io.readers.columnar import BATCH_ROWS, batches_in, opened_parquet, schema_of

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = lazy_module("duckdb")

_PLAIN = re.compile(r"[\w/. +@-]*")
"""Names of folders that mean nothing but themselves."""

THREAD_MIB = 128
"""The memory that a thread of a sort needs to get on."""


@contextmanager
def database(folder: Path, *, memory_mib: int, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give an empty database that spills into this folder; nothing of it stays."""
    spill = folder / "spill"
    # An engine that waits has no data of an earlier run: each run attaches a database of its own.
    idle = _IDLE.setdefault((os.getpid(), memory_mib, threads), [])
    with _plainly_named(spill) as plain:
        engine = idle.pop() if idle else _started(memory_mib, threads)
        connection, clean = engine.cursor(), False
        try:
            connection.execute(f"SET temp_directory = '{plain}'")
            connection.execute("ATTACH ':memory:' AS run")
            connection.execute("USE run")
            yield connection
            clean = not spill.exists()  # once it has spilled, the folder cannot be changed
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            raise ResourceError(
                f"sorting needs more than {memory_mib} MiB of memory and the free disk space. "
                "Free some, give the engine more memory, or install DuckDB 2.0 or newer, which "
                "also counts on disk."
            ) from error
        finally:
            connection.close()
            # An engine is used again only if it has not spilled, since its folder cannot be changed
            # then.
            if clean:
                engine.execute("DETACH run")
                idle.append(engine)
            else:
                engine.close()
            shutil.rmtree(spill, ignore_errors=True)


_IDLE: dict[tuple[int, int, int], list[duckdb.DuckDBPyConnection]] = {}
"""Engines by process, memory and threads that wait for the next database: one starts in 18 ms."""


def _started(memory_mib: int, threads: int) -> duckdb.DuckDBPyConnection:
    """Return an engine that has no folder to spill into yet."""
    config: dict[str, Any] = {
        "threads": max(1, min(threads, memory_mib // THREAD_MIB)),
        "memory_limit": f"{memory_mib}MiB",
        "preserve_insertion_order": "true",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    engine = duckdb.connect(":memory:", config=config)
    # in a notebook that lacks what draws a bar, DuckDB draws none and refuses the setting
    with suppress(duckdb.InvalidInputException):
        engine.execute("SET enable_progress_bar = false")
    return engine


@contextmanager
def _plainly_named(folder: Path) -> Iterator[Path]:
    r"""Give a path to a folder that the database takes for nothing else: its own, or a link.

    Of ``a\b`` the database would make ``a/b``. Raises `ResourceError` where temporary files have no
    plain folder either.
    """
    path = Path(os.path.abspath(folder))  # noqa: PTH100  keeps links
    if os.sep == "\\" or _PLAIN.fullmatch(str(path)):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="graphveil-") as near:
        if not _PLAIN.fullmatch(near):
            raise ResourceError(
                f"sorting needs a folder with a plain name, which neither {folder} nor the "
                f"temporary folder {tempfile.gettempdir()} has. Set TMPDIR to a path of letters "
                "and digits."
            )
        path.mkdir(mode=0o700, exist_ok=True)
        link = Path(near, "spill")
        link.symlink_to(path)
        yield link


def rows_of(
    db: duckdb.DuckDBPyConnection, paths: Sequence[Path], columns: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    """Return columns of the rows of Parquet files, one file after the other, to be read once.

    The files are opened here: their names never reach the database, which takes some for patterns.
    """
    kept = [schema_of(paths[0]).field(name) for name in columns]

    def batches() -> Iterator[pa.RecordBatch]:
        for path in paths:
            for batch in batches_in(path, columns):
                yield batch.select(list(columns))

    return db.from_arrow(pa.RecordBatchReader.from_batches(pa.schema(kept), batches()))


def identifier(name: str) -> str:
    """Return the name of a column as SQL spells it.

    >>> print(identifier('5"-disk'))
    "5""-disk"
    """
    return '"' + name.replace('"', '""') + '"'


def stream(relation: duckdb.DuckDBPyRelation) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a relation, some at a time."""
    older = not hasattr(relation, "to_arrow_reader")
    yield from (relation.fetch_arrow_reader if older else relation.to_arrow_reader)(BATCH_ROWS)


Piece: TypeAlias = "Callable[[], pa.Table]"

MOST_BATCHES = 256
"""The most batches that the rows of a piece are written in: groups share a batch beyond that, so
that files with many small groups keep short indexes."""

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


def _row_groups(path: Path, groups: range) -> pa.Table:
    with opened_parquet(path) as file:
        return file.read_row_groups(list(groups), use_threads=False)


def _chosen(piece: Piece, columns: tuple[str, ...]) -> pa.Table:
    return piece().select(list(columns))


def _made_of(piece: Piece, work: Callable[[pa.RecordBatch], pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches([work(one_batch(piece()))])


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
        # Map the batch with these groups from every file; nothing else of the files is read.
        tables = []
        for path in sorted(self.sources.glob("*.arrow")):
            with mapped(path) as reader:
                tables.append(pa.Table.from_batches([reader.get_batch(self.number)]))
        rows = pa.concat_tables(tables)
        numbers = rows[self.by].to_numpy()
        # Groups that share a batch are separated by a stable sort, which keeps the order of files.
        if len(self.groups) > 1:
            order = np.argsort(numbers, kind="stable")
            rows, numbers = rows.take(pa.array(order)), numbers[order]
        # Each group that has rows goes to the work as one table.
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
        # The batch of every row; at most MOST_BATCHES, so that 16 bits hold it and radix sort
        # applies.
        rows = self.piece()
        batch_of = rows[self.by].to_numpy() // self.together
        n_batches = -(-self.n // self.together)
        narrow = batch_of.astype(np.uint16)  # sorted by its digits
        # Rows in the order of their batches, then as many batches as there are, empty ones
        # included.
        order = np.argsort(narrow, kind="stable")
        whole = one_batch(rows.take(pa.array(order)))
        ends = np.searchsorted(narrow[order], np.arange(n_batches + 1)).tolist()
        with written(self.path, rows.schema) as writer:
            for start, end in pairwise(ends):
                writer.write_batch(whole.slice(start, end - start))


@dataclass(frozen=True)
class ArrowFileWriter:
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
    """Groups of rows whose pieces are not spread yet: as they are when someone asks for them."""

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
        """Return the pieces of all groups, in their order, of rows that are in a folder."""
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


Run: TypeAlias = "Callable[[Iterable[Callable[[], Any]]], Iterable[Any]]"
"""Does tasks, and yields what they give in their order."""

PIECE_ROWS = 1 << 18
"""The most rows of a piece, the unit of work of a process: it bounds the memory of a task."""

PIECE_BYTES = 1 << 26
"""The most bytes of a piece in its Parquet file, for rows that are wide."""

NOTE = "done.json"
"""The file that says that a folder of rows is complete."""


LocalRows: TypeAlias = "Sequence[Piece] | Groups"


class LocalTables:
    """The tables of one run on one machine."""

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
            return [partial(_chosen, piece, query.columns) for piece in self._pieces(rows["rows"])]
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
            raise RuntimeError(f"a query returned more than {MOST_ANSWERS} rows")
        return answer

    def map(
        self, rows: LocalRows, work: Callable[[pa.RecordBatch], pa.RecordBatch], schema: pa.Schema
    ) -> LocalRows:
        """Return what a work makes of rows."""
        del schema
        return [partial(_made_of, piece, work) for piece in self._pieces(rows)]

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
        # The note says that the rows are complete: an earlier run has done all of it.
        note = folder / NOTE
        if not note.is_file():
            folder.mkdir(exist_ok=True)
            # Otherwise only the files that are missing are made; each appears whole, under its
            # name.
            spread = folder / "spread"
            pieces = self._spread(rows, spread) if isinstance(rows, Groups) else rows
            files = [folder / f"{number:06d}.arrow" for number in range(len(pieces))]
            missing = [
                ArrowFileWriter(piece, path)
                for piece, path in zip(pieces, files, strict=True)
                if not path.is_file()
            ]
            with stage(doing, total=len(pieces)) as advance:
                advance(len(pieces) - len(missing))
                for _ in self._run(missing):
                    advance(1)
            # What was spread to group the rows is not needed once the groups are written.
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
        """Yield rows a piece at a time; groups one by one: waiting results would fill memory."""
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
        # A folder without its note comes from an interrupted run: begin it anew.
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
            yield partial(_row_groups, path, range(start, number))
            start, rows, size = number, 0, 0
        rows, size = rows + group.num_rows, size + group.total_byte_size
    yield partial(_row_groups, path, range(start, metadata.num_row_groups))


T = TypeVar("T")
R = TypeVar("R")

LEAST_MEMORY_MIB = 64
"""The least memory, in MiB, that DuckDB is given."""


@dataclass(frozen=True, kw_only=True)
class LocalEngine:
    """Runs chunks over the processors of this machine.

    Parameters
    ----------
    jobs
        The most processes at a time; as many as there are processors where not given. With one,
        no process is started.
    memory_mib
        The memory that sorting and counting may take, in MiB; what is larger goes to the disk.
        DuckDB before 2.0 keeps what it counts in memory, and ends where that is too much.

    Examples
    --------
    >>> list(LocalEngine(jobs=1).map_chunks(sum, [[1, 2], [3]]))
    [3, 3]
    """

    jobs: int | None = None
    memory_mib: int = 1024

    def __post_init__(self) -> None:
        """Check both numbers, and count the processors where no number was given."""
        object.__setattr__(self, "jobs", available_cores() if self.jobs is None else self.jobs)
        if self._jobs < 1:
            raise ParameterError(f"jobs={self.jobs} is below 1. Give a number of processes >= 1.")
        if self.memory_mib < LEAST_MEMORY_MIB:
            raise ParameterError(
                f"memory_mib={self.memory_mib} is below {LEAST_MEMORY_MIB}. Raise it."
            )

    @property
    def _jobs(self) -> int:
        return self.jobs or 0

    def map_chunks(self, work: Callable[[T], R], chunks: Iterable[T]) -> Generator[R]:
        """Yield what the work gives for every chunk, in the order of the chunks.

        Parameters
        ----------
        work
            A function of a module, or a value with ``__call__``: it can be pickled.
        chunks
            The tasks; they can be pickled, and are asked for as they are needed.

        Returns
        -------
        Generator
            The results. Closing it early ends the processes.

        Raises
        ------
        ResourceError
            Where a process dies.

        Notes ----- With one job, no process is started. At most one task more than processes is on
        its way, and at most `graphveil.engines.processes.AHEAD` results per process wait.

        Examples
        --------
        >>> list(LocalEngine(jobs=1).map_chunks(len, ["a", "bc"]))
        [1, 2]
        """
        if self._jobs == 1:
            yield from map(work, chunks)
        else:
            with WorkerPool(work, self._jobs) as pool:
                yield from pool.mapped(chunks)

    @contextmanager
    def at(self, folder: Path, run: str = "") -> Iterator[LocalTables]:
        """Give the tables of one run, which are in a folder; its processes end with the block.

        Parameters
        ----------
        folder
            A folder that is there, private to the run.
        run
            Not used: nothing is in another place.

        Returns
        -------
        ContextManager[LocalTables]
            The tables, for the length of the block.

        Examples
        --------
        >>> engine = LocalEngine(jobs=1)
        >>> with tempfile.TemporaryDirectory() as folder, engine.at(Path(folder)) as tables:
        ...     tables.dialect
        'duckdb'
        """
        del run
        if self._jobs == 1:
            yield LocalTables(folder, self.memory_mib, lambda tasks: map(done, tasks))
            return
        pool: WorkerPool[Callable[[], Any], Any]
        with WorkerPool(done, self._jobs) as pool:
            yield LocalTables(folder, self.memory_mib, pool.mapped)


@contextmanager
def using(engine: Chunkwise) -> Iterator[Chunkwise]:
    """Run the chunks of methods called inside this block through an engine.

    Which engine runs them never changes a release. By default they run one after the other in the
    process that calls: a library starts no processes unless asked.

    Parameters
    ----------
    engine
        Anything with `map_chunks`, such as a `LocalEngine`.

    Returns
    -------
    ContextManager
        Gives the engine, for the length of the block.

    Examples
    --------
    >>> with using(LocalEngine(jobs=1)) as engine:
    ...     list(engine.map_chunks(len, ["a", "bc"]))
    [1, 2]
    """
    with within(engine=engine):
        yield engine


def current() -> LocalEngine:
    """Return the engine that runs the chunks of methods called here.

    Returns
    -------
    LocalEngine
        That of the innermost `using`; without one, an engine of one job.

    Examples
    --------
    >>> current().jobs
    1
    """
    engine: LocalEngine = context().engine or LocalEngine(jobs=1)
    return engine
