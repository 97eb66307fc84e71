"""The engine of one machine: processes share the work, files hold what memory does not."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from graphveil.engines.engine import Chunkwise
from graphveil.engines.local_tables import LocalTables
from graphveil.engines.processes import Crew, available_cores, done
from graphveil.errors import ParameterError
from graphveil.progress import context, within

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
            with Crew(work, self._jobs) as crew:
                yield from crew.mapped(chunks)

    @contextmanager
    def at(self, folder: Path, run: str = "") -> Iterator[LocalTables]:
        """Give the tables of one run, which lie in a folder; its processes end with the block.

        Parameters
        ----------
        folder
            A folder that is there, private to the run.
        run
            Not used: nothing lies in another place.
        """
        del run
        if self._jobs == 1:
            yield LocalTables(folder, self.memory_mib, lambda tasks: map(done, tasks))
            return
        crew: Crew[Callable[[], Any], Any]
        with Crew(done, self._jobs) as crew:
            yield LocalTables(folder, self.memory_mib, crew.mapped)


@contextmanager
def using(engine: Chunkwise) -> Iterator[Chunkwise]:
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


def current() -> LocalEngine:
    """Return the engine that runs the chunks of methods called here.

    Examples
    --------
    >>> current().jobs
    1
    """
    engine: LocalEngine = context().engine or LocalEngine(jobs=1)
    return engine
