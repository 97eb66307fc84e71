"""Users with lists of items into Parquet files that follow from their rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from graphveil.io.columnar import name_no_version, settings_of
from graphveil.io.formats import FORMATS
from graphveil.io.writing import opened

GROUP_ROWS = 1 << 17
"""So many rows has every row group of a file but the last."""

_LEAVES = "items.list.element"
_ONE_PAGE = {"data_page_size": 1 << 30, "dictionary_pagesize_limit": 1 << 30}
"""A group has one page a column: where versions of the library end a page of lists differs."""


def list_schema(item: pa.DataType) -> pa.Schema:
    """Return the columns of users with lists of items, which may be long.

    Examples
    --------
    >>> list_schema(pa.string()).field("items").type
    LargeListType(large_list<item: large_string>)
    """
    leaf = item if pa.types.is_integer(item) else pa.large_string()
    return pa.schema([("user", pa.int64()), ("items", pa.large_list(leaf))])


def write_lists(groups: Iterable[pa.Table], path: Path) -> None:
    """Write users with their items into a file, a row group a table.

    Parameters
    ----------
    groups
        Tables of `list_schema`, one at least, a row group each; all but the last have `GROUP_ROWS`
        rows.
    path
        The file.

    Raises
    ------
    ResourceError
        Where it cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = pa.table({"user": [0, 1], "items": [[7], []]}, schema=list_schema(pa.int64()))
    >>> with TemporaryDirectory() as folder:
    ...     write_lists([rows], Path(folder, "likes.parquet"))
    ...     parquet.read_table(Path(folder, "likes.parquet")).to_pydict()
    {'user': [0, 1], 'items': [[7], []]}
    """
    waiting = iter(groups)
    first = next(waiting)
    with opened(path, FORMATS["parquet"]) as stream:
        with parquet.ParquetWriter(stream, first.schema, **_settings(first.schema)) as writer:
            for group in chain([first], waiting):
                writer.write_table(group, row_group_size=max(group.num_rows, 1))
        name_no_version(stream)


def _settings(schema: pa.Schema) -> dict[str, Any]:
    if pa.types.is_integer(schema.field("items").type.value_type):
        return settings_of(["user", _LEAVES], []) | _ONE_PAGE
    return settings_of(["user"], [_LEAVES]) | _ONE_PAGE


def in_sizes(tables: Iterable[pa.Table], sizes: Iterable[int]) -> Iterator[pa.Table]:
    """Yield the same rows in tables of these sizes, however they come.

    Raises
    ------
    ValueError
        Where there are fewer rows, or, behind the last table, more.

    Examples
    --------
    >>> tables = [pa.table({"x": [0, 1, 2]}), pa.table({"x": [3]})]
    >>> [table["x"].to_pylist() for table in in_sizes(tables, [1, 3])]
    [[0], [1, 2, 3]]
    """
    coming = iter(tables)
    waiting: list[pa.Table] = []
    n = 0
    for size in sizes:
        while n < size or not waiting:
            table = next(coming, None)
            if table is None:
                raise ValueError(f"{n} rows are left where {size} are needed")
            waiting.append(table)
            n += table.num_rows
        rows = pa.concat_tables(waiting)
        yield rows.slice(0, size).combine_chunks()
        waiting, n = [rows.slice(size)], n - size
    n += sum(table.num_rows for table in coming)
    if n:
        raise ValueError(f"{n} rows are left where none is needed")
