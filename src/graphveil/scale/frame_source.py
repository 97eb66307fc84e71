"""Rows of a DataFrame of Spark, of Parquet files or of a table, as a source that can be read again.

A run that continues must read the same rows: the digest has the columns, the files with sizes and
times of change, and the query behind a DataFrame or view.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote

import msgspec

from graphveil.core.errors import InputError, UsageError
from graphveil.core.hints import option
from graphveil.core.text import counted
from graphveil.engines.processes import Tables
from graphveil.engines.spark import first_line, is_of_spark, read_at, translated_errors
from graphveil.io import BipartiteOptions
from graphveil.scale.intake import Facts, InputRows, counted_rows

TABLE = "table:"
"""The prefix of a path that is the name of a table in the session's catalog."""

WHOLE = {"tinyint", "smallint", "int", "bigint"}
"""The types of Spark that are whole numbers."""

VIEWS = {"VIEW", "TEMPORARY"}
"""What a table of a catalog is called that is a query in truth."""


class FrameSource(NamedTuple):
    """A DataFrame, what it is called in messages, and what tells it from others.

    `digest`: of columns, files and, of a DataFrame or view, its query: the same rows give the same
    digest in this session, and files or a table in any; `origins`: of its files alone.
    """

    frame: Any
    name: str
    digest: str
    origins: tuple[str, ...]

    @classmethod
    def of(cls, source: Any, spark: Any) -> FrameSource:
        """Return what a path, the name of a table, or a DataFrame stands for."""
        name = _name_of(source)
        with _readable(name):
            # What decides which rows there are: the query, and the state of all files.
            frame, is_query = _frame_of(source, spark)
            if frame.isStreaming:
                raise UsageError(f"{name} is a stream. Give a complete set of rows.")
            names, shape = frame.columns, frame.schema.json()
            states = "".join(map(_state_of, sorted(frame.inputFiles())))
            query = str(frame.semanticHash()) if is_query else ""
        lower = [column.lower() for column in names]
        repeated = sorted({column for column in lower if lower.count(column) > 1})
        if repeated:
            raise InputError(f"{name}: two columns are named {repeated[0]!r}. Rename one.")
        origins = (_digest_of(states),) if states else ()
        return cls(frame, name, _digest_of(f"{shape}\n{query}\n{states}"), origins)

    def take(self, tables: Tables, options: BipartiteOptions) -> Facts:
        """Keep the rows under the name `ROWS`, and return what is known of them."""
        facts = counted_rows(self.given(tables, options), options, tables)
        chosen = self._columns(options)
        left_out = tuple(name for name in self.frame.columns if name not in chosen)
        return msgspec.structs.replace(facts, left_out=left_out)

    def given(self, tables: Tables, options: BipartiteOptions) -> InputRows:
        """Return the rows as they stand, once their columns and ids are such that they run."""
        # Ids are whole numbers or text, and items may be lists of these.
        types = dict(self.frame.dtypes)
        user, item = self._columns(options)
        lists = types[item].startswith("array<")
        kind = types[item].removeprefix("array<").removesuffix(">") if lists else types[item]
        for name, one in ((user, types[user]), (item, kind)):
            if one not in WHOLE and one != "string":
                self._refuse(
                    f"column {name} has type {one}, but ids are integers or text. Cast it."
                )
        # Cast to BIGINT or STRING, so that the rest of a run knows two types only.
        integers = types[user] in WHOLE, kind in WHOLE
        spelled = ["BIGINT" if one else "STRING" for one in integers]
        wanted = f"ARRAY<{spelled[1]}>" if lists else spelled[1]
        rows = self.frame.selectExpr(
            f"CAST({_quoted(user)} AS {spelled[0]}) AS user",
            f"CAST({_quoted(item)} AS {wanted}) AS {'items' if lists else 'item'}",
        )
        return InputRows(
            rows=tables.rows(rows),
            n=self._checked(rows, integers, lists=lists),
            lists=lists,
            user_is_integer=integers[0],
            item_is_integer=integers[1],
            refuse=self._refuse,
        )

    def _columns(self, options: BipartiteOptions) -> tuple[str, str]:
        """Return the columns of users and of items: those asked for, or of known names."""
        names = self.frame.columns
        known = [name for name in ("items", "item") if name in names][:1] or ["items"]
        chosen = []
        for asked, name, flag in (
            (options.user_column, "user", "user_column"),
            (options.item_column, known[0], "item_column"),
        ):
            column = name if asked is None else asked
            if isinstance(column, int) and 1 <= column <= len(names):
                column = names[column - 1]
            if column not in names:
                self._refuse(
                    f"no column {column!r}, but {', '.join(map(repr, names))}. Name the column "
                    f"with {option(flag, 'NAME')}."
                )
            chosen.append(str(column))
        further = [name for name in names if name not in chosen]
        asked_for = None not in (options.user_column, options.item_column)
        if further and not (asked_for or options.ignore_weights):
            self._refuse(
                f"there are columns other than users and items: {', '.join(further)}. Drop them "
                f"with {option('ignore_weights', value=True)}."
            )
        return chosen[0], chosen[1]

    def _checked(self, rows: Any, integers: tuple[bool, bool], *, lists: bool) -> int:
        """Return the number of rows, once no id is missing or below zero."""
        missing = "exists(items, x -> x IS NULL)" if lists else "item IS NULL"
        least = "array_min(items)" if lists else "item"
        counts = (
            "count(*)",
            "count_if(user IS NULL)",
            f"count_if({missing})",
            "min(user)" if integers[0] else "0",
            f"min({least})" if integers[1] else "0",
        )
        with translated_errors("counting rows"):
            [(n, no_user, no_item, least_user, least_item)] = rows.selectExpr(*counts).collect()
        if not n:
            self._refuse("no users found. The file needs at least one row.")
        for name, count in (("user", no_user), ("items", no_item)):
            if count:
                self._refuse(
                    f"column {name}: {counted(count, 'id', 'is')} missing. Remove such rows."
                )
        for name, number in (("user", least_user), ("items", least_item)):
            if number is not None and number < 0:
                self._refuse(f"column {name}: the id {number} is negative. Give ids >= 0, or text.")
        return int(n)

    def _refuse(self, problem: str) -> NoReturn:
        raise InputError(f"{self.name}: {problem}")


def _name_of(source: Any) -> str:
    if not isinstance(source, str | Path):
        return "the DataFrame"
    return str(source) if str(source).startswith(TABLE) else Path(source).name


def _frame_of(source: Any, spark: Any) -> tuple[Any, bool]:
    """Return a DataFrame, and whether a query stands behind it, next to columns and files."""
    if not isinstance(source, str | Path):
        return source, True
    if str(source).startswith(TABLE):
        name = str(source).removeprefix(TABLE)
        return spark.table(name), spark.catalog.getTable(name).tableType in VIEWS
    return _read(source, spark), False


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say in a line that rows cannot be read."""
    try:
        yield
    except Exception as error:
        if not is_of_spark(error):
            raise
        raise InputError(
            f"cannot read {name}: {first_line(error)}. Give rows that this session can read."
        ) from error


def _read(source: str | Path, spark: Any) -> Any:
    """Return the DataFrame of Parquet files."""
    text = str(source)
    local = "://" not in text
    path = Path(text)
    if local and not path.exists():
        raise InputError(f"{path.name}: file not found. Check the path.")
    if local and path.is_file() and path.suffix != ".parquet":
        raise UsageError(
            f"{path.name} is not Parquet, the only format that Spark reads here. Convert it, or "
            f"use {option('engine', 'local')}."
        )
    return spark.read.parquet(read_at(path) if local else text)


def _state_of(file: str) -> str:
    """Return what tells a file from what stood there before, as far as it is seen from here."""
    path = Path(unquote(file.removeprefix("file://")))
    try:
        status = path.stat()
    except OSError:
        return f"{file}\n"
    return f"{file} {status.st_size} {status.st_mtime_ns}\n"


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
