"""The engine of one machine: DuckDB sorts past memory, processes share the chunks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from graphveil.engines.database import database, identifier, rows_of, stream
from graphveil.engines.engine import Engine
from graphveil.engines.processes import Crew, available_cores
from graphveil.errors import ParameterError
from graphveil.io import Format
from graphveil.io.blocks import write_pairs
from graphveil.io.parquet_files import parquet_writer, rows_in
from graphveil.progress import context, stage, within

T = TypeVar("T")
R = TypeVar("R")

LEAST_MEMORY_MIB = 64


@dataclass(frozen=True, kw_only=True)
class LocalEngine:
    """Runs chunks over the processors of this machine.

    Parameters
    ----------
    jobs
        The most processes at a time; as many as there are processors where not given. With one,
        no process is started.
    memory_mib
        The memory that sorting may take, in MiB; what is larger goes to the disk.

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
            raise ParameterError(f"jobs={self.jobs} is below 1. Give a number of processes.")
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

        Raises
        ------
        ResourceError
            Where a process dies.
        """
        if self._jobs == 1:
            yield from map(work, chunks)
        else:
            yield from Crew(work, self._jobs).mapped(chunks)

    def sorted_chunks(
        self,
        sources: Sequence[Path],
        folder: Path,
        *,
        by: Sequence[str],
        keep: Sequence[str],
        chunk_rows: int,
    ) -> list[Path]:
        """Write the rows of Parquet files, sorted by some columns, into one file a chunk.

        Parameters
        ----------
        sources, folder, by, keep, chunk_rows
            As in `graphveil.engines.Engine`.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from graphveil.io.parquet_files import read_parquet, write_parquet
        >>> with TemporaryDirectory() as folder:
        ...     source = Path(folder, "numbers.parquet")
        ...     write_parquet(pa.table({"x": [3, 1, 2]}), source)
        ...     chunks = LocalEngine(jobs=1).sorted_chunks(
        ...         [source], Path(folder), by=["x"], keep=["x"], chunk_rows=2
        ...     )
        ...     [read_parquet(chunk)["x"].to_pylist() for chunk in chunks]
        [[1, 2], [3]]
        """
        total = rows_in(sources)
        paths = []
        with database(folder, memory_mib=self.memory_mib, threads=self._jobs) as db:
            rows = rows_of(db, sources, list(dict.fromkeys([*by, *keep])))
            batches = _Batches(stream(rows.order(_quoted(by)).project(_quoted(keep))))
            with stage("sorting", total=total) as advance:
                for number, size in enumerate(piece_sizes(total, chunk_rows)):
                    paths.append(folder / f"chunk-{number:06d}.parquet")
                    batches.write(size, paths[-1])
                    advance(size)
        return paths

    def write(
        self, tables: Iterable[pa.Table], path: Path, *, form: Format, names: pa.Array | None
    ) -> None:
        """Write pairs of users and items into one file, a table after the other.

        Parameters
        ----------
        tables, path, form, names
            As in `graphveil.engines.Engine`.
        """
        write_pairs(tables, path, form=form, names=names)


@contextmanager
def using(engine: Engine) -> Iterator[Engine]:
    """Run the chunks of methods called inside this block through an engine.

    Which engine runs them never changes a release. Without this, they run one after the other in
    the process that calls: a library starts no processes unless asked.

    Examples
    --------
    >>> with using(LocalEngine(jobs=1)) as engine:
    ...     list(engine.map_chunks(len, ["a", "bc"]))
    [1, 2]
    """
    with within(engine=engine):
        yield engine


def current() -> Engine:
    """Return the engine that runs the chunks of methods called here.

    Examples
    --------
    >>> current().jobs
    1
    """
    engine: Engine = context().engine or LocalEngine(jobs=1)
    return engine


def piece_sizes(n: int, chunk_rows: int) -> list[int]:
    """Return the rows of every piece: nearly equal ones, as those of a run in memory.

    Examples
    --------
    >>> piece_sizes(24, 10), piece_sizes(25, 10), piece_sizes(3, 10)
    ([12, 12], [13, 12], [3])
    """
    n_pieces = max(1, round(n / chunk_rows))
    least, more = divmod(n, n_pieces)
    return [least + 1] * more + [least] * (n_pieces - more if least else 0)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(identifier, names))


class _Batches:
    """Rows that come in batches, and are written in other numbers."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._rest: pa.RecordBatch | None = None

    def write(self, rows: int, path: Path) -> None:
        """Write the next so many rows, one at least, into a file."""
        first = self._next()
        with parquet_writer(path, first.schema) as writer:
            batch = first
            while True:
                size = min(rows, batch.num_rows)
                writer.write_batch(batch.slice(0, size))
                rows -= size
                if size < batch.num_rows:
                    self._rest = batch.slice(size)
                if not rows:
                    return
                batch = self._next()

    def _next(self) -> pa.RecordBatch:
        batch, self._rest = self._rest, None
        return next(self._batches) if batch is None else batch
