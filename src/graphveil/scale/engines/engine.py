"""What an engine does: rows of a table somewhere, selected, mapped, grouped and kept.

It knows neither methods nor releases, and what it runs on never changes a result: a work is a
function of the set of rows that it gets, so it may run twice, anywhere, in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

from graphveil.core.errors import ResourceError

if TYPE_CHECKING:
    import pyarrow as pa

    from graphveil.core.storage import Place

T = TypeVar("T")
R = TypeVar("R")

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
    """A statement for both dialects, over tables by their names.

    Parameters
    ----------
    text
        The statement; words in braces are those of `WORDS`.
    columns
        The columns of every table that it reads.
    plain
        Whether it does nothing but choose these columns.

    Examples
    --------
    >>> query = Query("SELECT {explode}(items) FROM {rows}", ("items",))
    >>> query.spelled("duckdb"), query.spelled("spark")
    ('SELECT unnest(items) FROM rows', 'SELECT explode(items) FROM {rows}')
    """

    text: str
    columns: tuple[str, ...]
    plain: bool = False

    def spelled(self, dialect: Dialect) -> str:
        """Return the statement in a dialect."""
        return self.text.format_map(WORDS[dialect])


def columns(*names: str) -> Query:
    """Return the query that chooses columns of ``rows``.

    Examples
    --------
    >>> columns("bucket", "items").text
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
        """Return what a work makes of rows, of any number of them at a time.

        Parameters
        ----------
        rows
            The rows.
        work
            A value that can be pickled.
        schema
            The columns of what it makes.
        """

    def grouped(
        self,
        rows: Rows,
        by: str,
        n: int,
        work: Callable[[int, pa.Table], pa.Table],
        schema: pa.Schema,
    ) -> Rows:
        """Return what a work makes of groups of rows, each with all of its rows.

        Parameters
        ----------
        rows, schema
            As of `map`.
        by
            The column that says the group of a row, an int32 from 0 to n - 1.
        n
            How many groups there may be; those without rows are not asked for.
        work
            A value that can be pickled; it gets the number of the group and its rows, which stand
            in no order.
        """

    def kept(self, rows: Rows, name: str, doing: str) -> Rows:
        """Return the same rows, computed once: done and there, also for a run that goes on.

        Parameters
        ----------
        rows
            The rows.
        name
            What they are called inside the run.
        doing
            What is going on meanwhile, for whoever waits.
        """

    def kept_as(self, name: str) -> Rows:
        """Return the rows that this run has kept under a name.

        Parameters
        ----------
        name
            The name.

        Raises
        ------
        ResourceError
            Where none are there.
        """

    def batches(self, rows: Rows, by: str | None) -> Iterator[pa.RecordBatch]:
        """Yield rows to this process, some at a time.

        Parameters
        ----------
        rows
            The rows, those of groups if they come in an order.
        by
            The int64 column whose order they come in, which rises from group to group as well.
            None: any order.
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
        """Yield what the work gives for every chunk, in the order of the chunks.

        Chunks are asked for as they are needed, so that few are in memory at a time. Closing the
        generator ends the work.
        """


class Engine(Protocol):
    """Rows of tables somewhere; what they lie and run on never changes the result."""

    @property
    def memory_mib(self) -> int:
        """The memory that sorting in this process may take, in MiB."""

    def at(self, folder: Path, run: str) -> AbstractContextManager[Tables]:
        """Give the tables of one run, which may keep what is private to it in this folder.

        What is kept in another place is noted there, see `graphveil.core.atomic.kept_elsewhere`:
        the
        run deletes both.

        Parameters
        ----------
        folder
            The private folder of the run.
        run
            What this run alone has, the same when it goes on; it tells nothing of root or seed.
        """
