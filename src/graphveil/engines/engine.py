"""The seam between methods and machines: three methods, and which engine is in use."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

    from graphveil.io import Format

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Sorts, maps and writes; what it runs on never changes the result."""

    @property
    def memory_mib(self) -> int:
        """The memory that sorting may take, in MiB."""

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
        sources
            Files of the same columns, together perhaps larger than memory.
        folder
            Where to write; it exists, and scratch files go there too.
        by
            The columns that decide the order; no two rows may agree in all of them, unless they
            are equal.
        keep
            The columns that are written.
        chunk_rows
            The rows of a chunk; a last one below half of that joins the one before.
        """

    def map_chunks(self, work: Callable[[T], R], chunks: Iterable[T]) -> Generator[R]:
        """Yield what the work gives for every chunk, in the order of the chunks.

        Chunks are asked for as they are needed, so that few are in memory at a time. Closing the
        generator ends the work.
        """

    def write(
        self, tables: Iterable[pa.Table], path: Path, *, form: Format, names: pa.Array | None
    ) -> None:
        """Write pairs of users and items into one file, a table after the other.

        Parameters
        ----------
        tables
            The columns ``user`` and ``item``.
        path
            The file; an extension of a compression is obeyed.
        form
            Its format.
        names
            Every item that may occur where they are text, None where they are integers.
        """


_engine: ContextVar[Engine | None] = ContextVar("engine", default=None)


@contextmanager
def using(engine: Engine) -> Iterator[Engine]:
    """Run the chunks of methods called inside this block through an engine.

    Which engine runs them never changes a release. Without this, they run one after the other in
    the process that calls: a library starts no processes unless asked.

    Examples
    --------
    >>> from graphveil.engines import LocalEngine
    >>> with using(LocalEngine(jobs=1)) as engine:
    ...     list(engine.map_chunks(len, ["a", "bc"]))
    [1, 2]
    """
    token = _engine.set(engine)
    try:
        yield engine
    finally:
        _engine.reset(token)


def current() -> Engine:
    """Return the engine in use.

    Examples
    --------
    >>> current().jobs
    1
    """
    from graphveil.engines.local import LocalEngine  # noqa: PLC0415  local is one of several

    return _engine.get() or LocalEngine(jobs=1)
