"""The database of one check: in memory, without network, seeing no file but those handed to it."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb
import numpy as np

from graphveil.core.errors import ResourceError
from graphveil.core.libraries import pa
from graphveil.verify.verdict import LIMIT_BYTES, beyond

NEVER_UNPACKED = 40
MOST_PACKED = 1000
"""A file that holds a thousand times its bytes may hold a fortieth of the limit only: unpacked, a
few kilobytes would be many gigabytes of memory."""

UNPACKED = 8
"""So many times its bytes a released file takes in memory, as a rule. It decides when DuckDB gets
a memory limit of its own; a larger factor would set that limit for smaller files."""

LEAST_MEMORY = 64 << 20
"""No check gets less memory than this, whatever the limit."""

SMALL_BYTES = 1 << 20
FEW_FILES = 100
"""Up to here a check is small: files are copied, and one thread is quicker than several."""

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}

COLUMNS_AT_ONCE = 64
"""So many columns stand in one query: one per column is slow where there are thousands."""

_HEAD_ROWS = 1000
"""So many rows are looked at first, to see which columns of text may hold numbers alone."""

_PLAIN = re.compile(r"[\w/. +@-]*")
"""Names of folders that mean nothing but themselves, to SQL too."""

_MADE_OR_DROPPED = re.compile(r"\b(CREATE|DROP) (TABLE|VIEW) (?!IF\b)(\w+)\b")
_MAKES_OR_DROPS = re.compile(r"\b(?:CREATE|DROP)\b", re.IGNORECASE)
_SUFFIX = re.compile(r"(\.[a-z0-9]{1,10}){0,2}")
_NO_NUMBER = "({0} LIKE '-%' OR CAST(TRY_CAST({0} AS BIGINT) AS VARCHAR) IS DISTINCT FROM {0})"
"""Whether a cell is not a whole number of 64 bits, as such are written."""


class UnreadableError(Exception):
    """A released file that cannot be read as its format; the message names file and line."""

    needs: str | None = None
    """The option without which it is not read."""


class Database:
    """Released data as tables, and SQL over them.

    A graph is `nodes(node)` and `edges(source, target)`, which may be a view of a file; users by
    items are `users(person)` and `entries(person, item)`; rows by columns are `cells(c0, c1, ...)`
    and, with null for suppressed cells, `shown(row, c0, c1, ...)`. Rows stand in file order.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        folder: Path,
        limit_bytes: int,
        *,
        copies: bool = False,
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._copies = copies
        self._tables: dict[str, str] = {}

    @property
    def scratch(self) -> Path:
        """A folder for files of the checker's own, which SQL may read."""
        return self._folder

    @property
    def limit_bytes(self) -> int:
        """The most that the content of one file may take, and that of neighborhoods in links."""
        return self._limit_bytes

    def refuse_beyond(self, size: int, name: str) -> None:
        """Refuse a file whose content takes more bytes than the limit."""
        if size > self._limit_bytes:
            error = UnreadableError(beyond(name, size, self._limit_bytes))
            error.needs = "--limit"
            raise error

    def refuse_unpacked(self, size: int, of: int, name: str) -> None:
        """Refuse a small file that unpacks to much content: hardly any data compresses so well."""
        self.refuse_beyond(size, name)
        if size > max(self._limit_bytes // NEVER_UNPACKED, of * MOST_PACKED):
            error = UnreadableError(
                f"{name} has {of} bytes and unpacks to {size}; at this compression ratio, at "
                f"most {self._limit_bytes // NEVER_UNPACKED} bytes are read under the limit of "
                f"{self._limit_bytes}"
            )
            error.needs = "--limit"
            raise error

    def refuse_unrolled(self, size: int, of: int, name: str) -> None:
        """Refuse a file that is read some rows at a time, where few bytes stand for many rows."""
        if size > of * MOST_PACKED:
            self.refuse_beyond(size, name)

    def link(self, path: Path) -> str:
        r"""Return a plain name for this file in the one folder SQL may read.

        A file whose own name is not plain is copied: SQL follows a link to where it leads, and
        takes ``a\b`` for ``a/b``. So is every file of a small check.
        """
        # The alias keeps the suffix, by which DuckDB recognizes compression; its name is a number.
        suffix = "".join(path.suffixes)
        suffix = suffix if _SUFFIX.fullmatch(suffix) else ""
        alias = self._folder / f"{len(list(self._folder.iterdir()))}{suffix}"
        if not self._copies and _is_plain(path.resolve()):
            alias.symlink_to(path)
        else:
            shutil.copyfile(path, alias)
        return str(alias)

    def named(self, frame: Any) -> str:
        """Return a name under which SQL sees an Arrow table."""
        self._connection.register("handed_over", frame)
        return "handed_over"

    def holds(self, table: str) -> bool:
        """Whether a table of this name was made: asking DuckDB takes a tenth of a small check."""
        return table in self._tables

    def column_types(self, table: str) -> dict[str, str]:
        """Return the types of a table's columns by their names; none if there is no such table."""
        here = "database_name = current_database() AND table_name = ?"
        sql = f"SELECT column_name, data_type FROM duckdb_columns() WHERE {here}"
        return {str(name): str(kind) for name, kind in self.rows(sql, [table])}

    def run(self, sql: str, values: list[Any] | None = None) -> None:
        """Run statements, and note the tables that they make."""
        # Tables are noted as they are made: asking DuckDB's catalog takes a tenth of a small check.
        changes = _MADE_OR_DROPPED.findall(sql)
        if len(changes) != len(_MAKES_OR_DROPS.findall(sql)):
            raise ValueError(f"no plain CREATE or DROP of a table or view: {sql[:200]}")
        # Within one release two files of one role, or ids next to a format that holds them.
        twice = [table for verb, _, table in changes if verb == "CREATE" and table in self._tables]
        if twice:
            raise UnreadableError(f"more than one file of the release lists the {twice[0]}")
        self._connection.execute(sql, values)
        for verb, kind, table in changes:
            if verb == "CREATE":
                self._tables[table] = kind
            else:
                self._tables.pop(table, None)

    def rows(self, sql: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
        """Return every row of a query."""
        return self._connection.execute(sql, values).fetchall()

    def first(self, sql: str, values: list[Any] | None = None) -> tuple[Any, ...] | None:
        """Return the first row of a query that gives few, or None."""
        return next(iter(self.rows(sql, values)), None)

    def found(self, sql: str, words: str) -> list[str]:
        """Return the words with the cells of the first row of a query; none if it has no rows."""
        row = self.first(sql)
        return [words.format(*row)] if row else []

    def number(self, sql: str, values: list[Any] | None = None) -> int:
        """Return the one integer that a query gives; 0 for null."""
        row = self.first(sql, values)
        return int(row[0] or 0) if row else 0

    def first_cell(
        self, table: str, columns: Sequence[str], condition: str
    ) -> tuple[str, int] | None:
        """Return the first column with a cell that meets a condition, and its first such row."""
        for names in some_at_once(columns):
            conditions = (condition.replace("{}", name) for name in names)
            least = ", ".join(
                f"min(CASE WHEN {condition_of} THEN rowid END)" for condition_of in conditions
            )
            rows = self.first(f"SELECT {least} FROM {table}") or ()
            for name, row in zip(names, rows, strict=True):
                if row is not None:
                    return name, int(row)
        return None

    def only_numbers(self, table: str, column: str) -> bool:
        """Whether all text of a column is a whole number of 64 bits, as such are written."""
        other = _NO_NUMBER.format(column)
        return self.first(f"SELECT 1 FROM {table} WHERE {other} LIMIT 1") is None

    def columns_of_numbers(self, table: str, columns: Sequence[str]) -> list[str]:
        """Return the columns of text whose cells are all whole numbers, as `only_numbers` tells."""
        # A column with other text among its first rows is settled cheaply; the rest is scanned.
        candidates = []
        for names in some_at_once(columns):
            some = ", ".join(f"bool_or({_NO_NUMBER.format(name)})" for name in names)
            head = f"SELECT {', '.join(names)} FROM {table} LIMIT {_HEAD_ROWS}"
            others = self.first(f"SELECT {some} FROM ({head})") or ()
            candidates += [n for n, other in zip(names, others, strict=True) if not other]
        return [name for name in candidates if self.only_numbers(table, name)]

    def blocks(self, sql: str, rows: int) -> Iterator[Any]:
        """Yield the result of a query as Arrow record batches of so many rows at most, in order."""
        relation: Any = self._connection.sql(sql)
        older = not hasattr(relation, "to_arrow_reader")
        yield from (relation.fetch_arrow_reader if older else relation.to_arrow_reader)(rows)

    def column(self, sql: str) -> Any:
        """Return the first column of a query as a NumPy array."""
        return next(iter(self._connection.execute(sql).fetchnumpy().values()))

    def pairs(self, table: str, u: str, v: str) -> Any:
        """Return two columns of whole numbers, shape (rows, 2), row by row in ascending order."""
        found = self._connection.execute(f"SELECT {u}, {v} FROM {table} ORDER BY 1, 2").fetchnumpy()
        return np.column_stack([found[u], found[v]])

    def put(self, name: str, columns: Mapping[str, Any]) -> None:
        """Create a table of arrays or Arrow columns."""
        frame = self.named(pa.table(dict(columns)))
        self.run(f"CREATE TABLE {name} AS SELECT * FROM {frame}")
        self._connection.unregister(frame)


@contextmanager
def database(
    folders: Sequence[Path] = (), *, limit_bytes: int = LIMIT_BYTES, size: int | None = None
) -> Iterator[Database]:
    """Give an empty database that can read files in these folders; nothing of it stays.

    Small checks of a process share one engine, since starting one takes longer than most of them:
    each has a catalog of its own, and a folder with copies of its files.
    """
    # Small checks share an engine: starting one takes longer than most of them.
    if size is not None and size * UNPACKED <= limit_bytes and _are_small(folders, size):
        # A process that was forked must not use its parent's engine.
        here = os.getpid(), tempfile.gettempdir()
        engine = _ENGINES.setdefault(here, _ENGINES.get(here) or _Engine(here[1]))
        name = engine.begun()
        if not name:
            engine = _ENGINES[here] = _Engine(here[1])
            name = engine.begun()
        with engine.database(name, limit_bytes) as small:
            yield small
        return
    with tempfile.TemporaryDirectory(prefix="graphveil-verify-") as name:
        folder = _plain_folder(name)
        (folder / "files").mkdir()
        connection = duckdb.connect(":memory:", config=CONFIG)
        try:
            if size is not None and size * UNPACKED > limit_bytes:
                connection.execute(f"SET memory_limit = '{max(limit_bytes, LEAST_MEMORY)}B'")
            _lock(connection, folder, folders)
            yield Database(connection, folder / "files", limit_bytes)
        finally:
            connection.close()


def _are_small(folders: Sequence[Path], size: int) -> bool:
    """Whether files are stated to be small, and the files in the folders are few and small."""
    paths = (
        Path(at, name) for folder in folders for at, _, names in os.walk(folder) for name in names
    )
    sizes = [path.stat().st_size for path in islice(paths, FEW_FILES + 1) if path.exists()]
    return size <= SMALL_BYTES and len(sizes) <= FEW_FILES and max(sizes, default=0) <= SMALL_BYTES


def _plain_folder(name: str) -> Path:
    if not _is_plain(Path(name)):
        raise ResourceError(
            f"the path of the temporary folder, {tempfile.gettempdir()}, could be taken for "
            "a pattern. Set TMPDIR to a folder whose name has only letters and digits."
        )
    return Path(name)


def _lock(connection: duckdb.DuckDBPyConnection, scratch: Path, folders: Sequence[Path]) -> None:
    """Let a database see nothing but these folders, for good."""
    # Order matters: once external access is off and the configuration locked, SQL from a release
    # (there is none, but names and paths are hostile) can reach nothing else.
    connection.execute(f"SET temp_directory = {literal(str(scratch / 'spill'))}")
    plain = [path.resolve() for path in folders if _is_plain(path.resolve())]
    allowed = ", ".join(literal(str(path)) for path in (scratch.resolve(), *plain))
    connection.execute(f"SET allowed_directories = [{allowed}]")
    with suppress(duckdb.InvalidInputException):  # a notebook may have no bar
        connection.execute("SET enable_progress_bar = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


class _Engine:
    """The engine of the small checks of a process: one thread, and one folder that it may see.

    The folder is there while a check runs; each has its files and its catalog.
    """

    def __init__(self, temporary: str) -> None:
        self._folder = _plain_folder(tempfile.mkdtemp(prefix="graphveil-verify-", dir=temporary))
        self._folder.rmdir()
        self._connection = duckdb.connect(":memory:", config=CONFIG | {"threads": 1})
        _lock(self._connection, self._folder, ())
        self._changing, self._numbers, self._running = Lock(), count(), 0

    def begun(self) -> str:
        """Return the name of a new check; the empty text if there is no folder for its files."""
        with self._changing:
            name = f"check_{next(self._numbers)}"
            try:
                if self._running == 0:
                    self._folder.mkdir(mode=0o700)
                (self._folder / name).mkdir()
            except OSError:  # the folder for temporary files has gone, or another has this name
                return ""
            self._connection.execute(f"ATTACH ':memory:' AS {name}")
            self._running += 1
        return name

    @contextmanager
    def database(self, name: str, limit_bytes: int) -> Iterator[Database]:
        """Give the database of a check that has begun; its files and its catalog do not stay."""
        connection = self._connection.cursor()
        try:
            connection.execute(f"USE {name}")
            yield Database(connection, self._folder / name, limit_bytes, copies=True)
        finally:
            connection.close()
            with self._changing:
                self._running -= 1
                gone = self._folder if self._running == 0 else self._folder / name
                shutil.rmtree(gone, ignore_errors=True)
                with suppress(duckdb.Error):  # a result that is still read keeps the catalog
                    self._connection.execute(f"DETACH {name}")


_ENGINES: dict[tuple[int, str], _Engine] = {}
"""Engines by process, as a forked one must not use that of the other, and by `TMPDIR`."""


def _is_plain(path: Path) -> bool:
    return os.sep == "\\" or _PLAIN.fullmatch(str(path)) is not None


def some_at_once(columns: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield columns in groups of at most `COLUMNS_AT_ONCE`, so that no query names more."""
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        yield columns[start : start + COLUMNS_AT_ONCE]


def identifier(name: str) -> str:
    """Return the name of a column as SQL spells it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
