"""What an engine does with rows, and the pool of processes that end with the run.

An engine selects, maps, groups and keeps rows of a table. It knows neither methods nor releases,
and what it runs on never changes a result: a work is a function of the set of rows that it gets, so
it may run twice, anywhere, in any order.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from graphveil.core.errors import ResourceError
from graphveil.core.progress import heard, notice

if TYPE_CHECKING:
    import pyarrow as pa

    from graphveil.core.storage import Place

T = TypeVar("T")
R = TypeVar("R")

GRACE_SECONDS = 5.0
"""How long an idle worker may take to end when it is no longer needed."""

STARTING = -1
"""Stands for the task of a process that has not said yet that it is up."""

AHEAD = 4
"""How many tasks a process may be ahead of the next result to yield: results wait in memory."""

ENDED = (
    "a worker process ended before its work was done. If memory ran out, use fewer jobs or smaller "
    "chunks; in a script, call this under if __name__ == '__main__'."
)


def available_cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


class _Worker(NamedTuple):
    process: SpawnProcess
    pipe: Connection


class WorkerPool(Generic[T, R]):
    """Up to some number of processes that do the same work on one task at a time."""

    def __init__(self, work: Callable[[T], R], jobs: int) -> None:
        self._work = work
        self._jobs = jobs
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._starting: list[_Worker] = []
        self._noticed: set[str] = set()

    def __enter__(self) -> WorkerPool[T, R]:
        """Return the crew; processes start when there are tasks for them."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the processes: idle ones may finish, others are stopped."""
        try:
            if kind is None and len(self._idle) + len(self._starting) == len(self._workers):
                self._dismiss()
        finally:
            self._stop()

    def mapped(self, tasks: Iterable[T]) -> Generator[R]:
        """Yield the result of every task, in the order of the tasks.

        The processes stay for further tasks. Where nobody reads on, those that are at work end.
        """
        numbered = enumerate(tasks)
        first = list(islice(numbered, self._jobs))
        waiting = chain(first, numbered)
        idle, self._idle = self._idle, []
        starting, self._starting = self._starting, []
        busy = dict.fromkeys(starting, STARTING)
        busy |= {self._hired(): STARTING for _ in first[len(idle) + len(busy) :]}
        done: dict[int, R] = {}
        expected, upcoming = 0, next(waiting, None)
        try:
            while upcoming is not None or max(busy.values(), default=STARTING) != STARTING:
                while upcoming is not None and idle and upcoming[0] < expected + AHEAD * self._jobs:
                    worker = idle.pop()
                    _send(worker.pipe, upcoming[1])
                    busy[worker] = upcoming[0]
                    upcoming = next(waiting, None)
                ready = wait([worker.pipe for worker in busy])
                for worker in [worker for worker in busy if worker.pipe in ready]:
                    number, answer = busy.pop(worker), _answer(worker.pipe, self._noticed)
                    idle.append(worker)
                    if number != STARTING:
                        done[number] = answer
                while expected in done:
                    yield done.pop(expected)
                    expected += 1
        finally:
            self._idle.extend(idle)
            for worker, number in busy.items():
                if number == STARTING:
                    self._starting.append(worker)
                else:
                    self._end(worker)

    def _hired(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._work), daemon=True)
        worker = _Worker(process, ours)
        self._workers.append(worker)
        process.start()
        theirs.close()
        return worker

    def _end(self, worker: _Worker) -> None:
        """End a worker whose result nobody waits for, unless the crew has ended it."""
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.terminate()
        worker.process.join()

    def _dismiss(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
        for worker in self._workers:
            worker.process.join(GRACE_SECONDS)

    def _stop(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
            if worker.process.pid is not None and worker.process.is_alive():
                worker.process.terminate()
        for worker in self._workers:
            if worker.process.pid is not None:
                worker.process.join()
        self._workers.clear()
        self._idle.clear()
        self._starting.clear()


def done(task: Callable[[], R]) -> R:
    """Return the result of a task that says itself what is done."""
    return task()


def _send(pipe: Connection, task: Any) -> None:
    try:
        pipe.send(task)
    except BrokenPipeError as error:
        raise ResourceError(ENDED) from error


def _answer(pipe: Connection, noticed: set[str]) -> Any:
    """Return the result of a task; what the process notices meanwhile is heard here, once."""
    succeeded: bool | None = None
    while succeeded is None:
        try:
            succeeded, value = pipe.recv()
        except (EOFError, ConnectionResetError) as error:
            raise ResourceError(ENDED) from error
        if succeeded is None and value not in noticed:
            noticed.add(value)
            notice(value)
    if not succeeded:
        raise value
    return value


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """Say that one is up, then do tasks until the other end of the pipe is closed.

    An interrupt is the parent's business.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer: tuple[bool, Any] = (True, None)
    with heard(lambda text: pipe.send((None, text))):
        while True:
            try:
                pipe.send(answer)
                task = pipe.recv()
            except (EOFError, BrokenPipeError, ConnectionResetError):
                return
            try:
                answer = (True, work(task))
            except Exception as error:  # noqa: BLE001  it is raised again by the parent
                answer = (False, _portable(error))


def _portable(error: Exception) -> Exception:
    """Return the error with its traceback as a note, or a stand-in if it cannot be pickled."""
    text = traceback.format_exc()
    error.add_note(text)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    except Exception:  # noqa: BLE001  pickling runs the error's own code
        return RuntimeError(text)
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
    """Eight verbs on the tables of one run."""

    @property
    def dialect(self) -> Dialect:
        """The dialect of its SQL."""

    @property
    def apart(self) -> bool:
        """Whether works run on other machines, which see addresses and none of its folders."""

    def rows(self, source: Any) -> Rows:
        """Return the rows of a source of this engine, one that it can read again and again."""

    def select(self, query: Query, **rows: Rows) -> Rows:
        """Return what a query chooses from rows, by the names that it has for them."""

    def ask(self, query: Query, **rows: Rows) -> Answer:
        """Return what a query answers, at most `MOST_ANSWERS` rows."""

    def map(
        self, rows: Rows, work: Callable[[pa.RecordBatch], pa.RecordBatch], schema: pa.Schema
    ) -> Rows:
        """Return what a work makes of rows, of any number of them at a time."""

    def grouped(
        self,
        rows: Rows,
        by: str,
        n: int,
        work: Callable[[int, pa.Table], pa.Table],
        schema: pa.Schema,
    ) -> Rows:
        """Return what a work makes of groups of rows, each with all of its rows, in no order.

        `by`: the column that says the group of a row, an int32 from 0 to n - 1; groups without rows
        are not asked for; `work`: a value that can be pickled.
        """

    def kept(self, rows: Rows, name: str, doing: str) -> Rows:
        """Return the same rows, computed once: done and there, also for a run that goes on."""

    def kept_as(self, name: str) -> Rows:
        """Return the rows that this run has kept under a name."""

    def batches(self, rows: Rows, by: str | None) -> Iterator[pa.RecordBatch]:
        """Yield rows to this process, some at a time, in the order of the column `by`, or any."""


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
        deletes both. `run` is the same when it goes on; it tells nothing of root or seed.
        """
