"""What an engine does: it sorts, maps and writes, and knows neither methods nor releases."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
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
            About how many rows a chunk has: all have nearly as many as each other.
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
