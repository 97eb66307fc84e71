"""What an engine does with rows, and the pool of processes that end with the run.

An engine selects, maps, groups and keeps rows of a table. It knows neither methods nor releases,
and what it runs on never changes a result: a work is a function of the set of rows that it gets, so
it may run twice, anywhere, in any order. Processes are spawned, not forked: a fork would copy locks
that threads of the parent hold.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from graphveil.core.errors import ResourceError
from graphveil.core.progress import heard, notice

if TYPE_CHECKING:
    import pyarrow as pa

    from graphveil.core.storage import Place

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4
"""How many results per process may wait for an earlier one: more would take memory, fewer would
leave processes idle behind a long task."""

HEAR_SECONDS = 0.2
"""How long the parent waits for a result before it passes on what processes have noticed."""

ENDED = (
    "a worker process ended before its work was done. If memory ran out, use fewer jobs or smaller "
    "chunks; in a script, call this under if __name__ == '__main__'."
)


def available_cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


class WorkerPool(Generic[T, R]):
    """Up to `jobs` processes that do the same work, each on one task at a time.

    A process starts when a task finds no idle one. It ends with the pool, or with the process that
    started it, whatever ends that one.
    """

    def __init__(self, work: Callable[[T], R], jobs: int) -> None:
        self._work = work
        self._jobs = jobs
        self._noticed: set[str] = set()

    def __enter__(self) -> WorkerPool[T, R]:
        """Return the pool; processes start when there are tasks for them."""
        spawn = multiprocessing.get_context("spawn")
        self._notices = spawn.SimpleQueue()
        self._pool = ProcessPoolExecutor(self._jobs, spawn, _begin, (self._work, self._notices))
        self._abandoned: set[Future[R]] = set()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the processes: idle ones may finish, others are stopped."""
        # A private attribute: a pool has no public way to end its processes before Python 3.14.
        processes = list((self._pool._processes or {}).values())  # noqa: SLF001
        # After an error, or with tasks that nobody waits for, do not wait for their ends.
        if kind is not None or any(not future.done() for future in self._abandoned):
            for process in processes:
                process.kill()
        self._pool.shutdown(cancel_futures=True)

    def mapped(self, tasks: Iterable[T]) -> Generator[R]:
        """Yield the result of every task, in the order of the tasks.

        The processes stay for further tasks. If the generator is closed early, tasks that have
        begun are finished, and others are not begun.
        """
        waiting: deque[Future[R]] = deque()
        upcoming = iter(tasks)
        try:
            while True:
                # One task more than processes is on its way, so that none is idle: tasks and
                # results may be large, and both wait in memory.
                unfinished = sum(not future.done() for future in waiting)
                room = min(self._jobs + 1 - unfinished, AHEAD * self._jobs - len(waiting))
                for task in islice(upcoming, max(room, 0)):
                    waiting.append(self._pool.submit(_answer, task))
                if not waiting:
                    return
                if not waiting[0].done():
                    running = [future for future in waiting if not future.done()]
                    wait(running, HEAR_SECONDS, FIRST_COMPLETED)
                # A process writes its notices before its result, so those of the task are here.
                self._hear()
                if waiting[0].done():
                    yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise ResourceError(ENDED) from error
        finally:
            self._abandoned.update(future for future in waiting if not future.cancel())

    def _hear(self) -> None:
        """Pass on what processes noticed, each text once."""
        while not self._notices.empty():
            if (text := self._notices.get()) not in self._noticed:
                self._noticed.add(text)
                notice(text)


def done(task: Callable[[], R]) -> R:
    """Return the result of a task that is a function without arguments."""
    return task()


_ASSIGNED: list[tuple[Callable[[Any], Any], Callable[[str], None]]] = []
"""In a process of a pool: its work, and where its notices go."""


def _begin(work: Callable[[Any], Any], notices: SimpleQueue[str]) -> None:
    """Prepare a process for tasks; an interrupt is handled by the parent alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _ASSIGNED.append((work, notices.put))


def _end_with_parent() -> None:
    # The queue of tasks stays open when the parent is killed: nothing else would end this process.
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _answer(task: Any) -> Any:
    work, report = _ASSIGNED[0]
    with heard(report):
        try:
            return work(task)
        except Exception as error:  # noqa: BLE001  the parent raises it again
            raise portable(error) from error.__cause__


def portable(error: Exception) -> Exception:
    """Return the error, or a stand-in if another process could not read it."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    except Exception:  # noqa: BLE001  pickling runs the error's own code
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


Dialect = Literal["duckdb", "spark"]

MOST_ANSWERS = 10**6
"""The most rows that a query may answer with."""

TABLES = ("rows", "again", "released", "published")
"""The names that queries have for tables."""

WORDS: Mapping[Dialect, Mapping[str, str]] = {
    "duckdb": {
        **{name: name for name in TABLES},
        "explode": "unnest",
        "text": "VARCHAR",
        "size": "len",
        "at": "list_extract",
        "sha256_of_user": "sha256(CAST(user AS VARCHAR))",
        "user": '"user"',
    },
    "spark": {
        **{name: f"{{{name}}}" for name in TABLES},  # for `SparkSession.sql`
        "explode": "explode",
        "text": "STRING",
        "size": "size",
        "at": "element_at",
        "sha256_of_user": "sha2(CAST(user AS STRING), 256)",
        "user": "`user`",
    },
}
"""What the two dialects spell in two ways."""


@dataclass(frozen=True)
class Query:
    """A statement for both dialects, over tables by names; `plain`: it only chooses columns."""

    text: str
    columns: tuple[str, ...]
    plain: bool = False

    def spelled(self, dialect: Dialect) -> str:
        """Return the statement in a dialect."""
        return self.text.format_map(WORDS[dialect])


def selected(*names: str) -> Query:
    """Return the query that chooses columns of ``rows``.

    >>> selected("bucket", "items").text
    'SELECT bucket, items FROM {rows}'
    """
    chosen = ", ".join(names)
    return Query(f"SELECT {chosen} FROM {{rows}}", names, plain=True)  # noqa: S608  our own names


Rows: TypeAlias = Any
"""Rows of a table somewhere, an engine's own: nothing is computed before they are asked for."""

Answer: TypeAlias = "list[tuple[Any, ...]]"


class Tables(Protocol):
    """Eight operations on the tables of one run; each engine has its own kind of rows.

    Rows are lazy: nothing is computed before they are kept, asked for, or yielded.
    """

    @property
    def dialect(self) -> Dialect:
        """The dialect of its SQL."""

    @property
    def apart(self) -> bool:
        """Whether works run on other machines, which see addresses and none of its folders."""

    def rows(self, source: Any) -> Rows:
        """Return the rows of a source of this engine, one that it can read again and again.

        Parameters
        ----------
        source
            Parquet files, or a DataFrame of Spark.

        Returns
        -------
        Rows
            The rows, not read yet.
        """

    def select(self, query: Query, **rows: Rows) -> Rows:
        """Return what a query chooses from rows.

        Parameters
        ----------
        query
            The statement.
        **rows
            The rows, by the names that the query has for them.

        Returns
        -------
        Rows
            The chosen rows.
        """

    def ask(self, query: Query, **rows: Rows) -> Answer:
        """Return the answer of a query.

        Parameters
        ----------
        query
            The statement, whose answer is small.
        **rows
            The rows, by the names that the query has for them.

        Returns
        -------
        list[tuple]
            At most `MOST_ANSWERS` rows.

        Raises
        ------
        RuntimeError
            If there are more.
        """

    def map(
        self, rows: Rows, work: Callable[[pa.RecordBatch], pa.RecordBatch], schema: pa.Schema
    ) -> Rows:
        """Return what a work makes of rows, of any number of them at a time.

        Parameters
        ----------
        rows
            The rows.
        work
            A value that can be pickled: from a batch to a batch.
        schema
            The columns of what it makes.

        Returns
        -------
        Rows
            The results.
        """

    def grouped(
        self,
        rows: Rows,
        by: str,
        n: int,
        work: Callable[[int, pa.Table], pa.Table],
        schema: pa.Schema,
    ) -> Rows:
        """Return what a work makes of groups of rows, each with all of its rows, in no order.

        Parameters
        ----------
        rows
            The rows.
        by
            The column with the group of a row, an int32 from 0 to n - 1.
        n
            The number of groups; those without rows are not handed to the work.
        work
            A value that can be pickled: from the number of a group and its rows to a table.
        schema
            The columns of what it makes.

        Returns
        -------
        Rows
            The results.
        """

    def kept(self, rows: Rows, name: str, doing: str) -> Rows:
        """Return the same rows, computed once and stored, also for a run that continues later.

        Parameters
        ----------
        rows
            The rows.
        name
            What the stored rows are called in this run.
        doing
            What the computation is called on the screen.

        Returns
        -------
        Rows
            The stored rows.
        """

    def kept_as(self, name: str) -> Rows:
        """Return the rows that this run has stored under a name.

        Parameters
        ----------
        name
            The name.

        Returns
        -------
        Rows
            The stored rows.

        Raises
        ------
        ResourceError
            If they are no longer there.
        """

    def batches(self, rows: Rows, by: str | None) -> Iterator[pa.RecordBatch]:
        """Yield rows to this process, some at a time.

        Parameters
        ----------
        rows
            The rows.
        by
            The column in whose order they come, with the numbers of the rows from 0 on; None for
            any order.

        Returns
        -------
        Iterator[pyarrow.RecordBatch]
            The rows.
        """


def gone(name: str, folder: Place) -> ResourceError:
    """Return the error of rows that a run has kept, and that are there no more."""
    return ResourceError(
        f"{folder} no longer contains the {name} that the unfinished run kept there. Restore "
        "them, or delete what is left of the run and start again."
    )


class Chunkwise(Protocol):
    """Runs chunks that are in memory."""

    def map_chunks(self, work: Callable[[T], R], chunks: Iterable[T]) -> Generator[R]:
        """Yield what the work gives for every chunk, in order; few chunks are in memory at a time.

        Closing the generator ends the work.
        """


class Engine(Protocol):
    """Rows of tables somewhere; what they lie and run on never changes the result."""

    @property
    def memory_mib(self) -> int:
        """The memory that sorting in this process may take, in MiB."""

    def at(self, folder: Path, run: str) -> AbstractContextManager[Tables]:
        """Give the tables of one run, which may keep what is private to it in this folder.

        What is kept elsewhere is noted there (`graphveil.core.atomic.kept_elsewhere`): the run
        deletes both.

        Parameters
        ----------
        folder
            The private folder of the run.
        run
            A name that is the same when the run continues; it shows nothing of root or seed.

        Returns
        -------
        ContextManager[Tables]
            The tables, for the length of the block.
        """
