"""Users with lists of items, and pairs of both, written block by block.

Data may be larger than memory. Parquet files depend on their rows alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from graphveil.core.text import counted
from graphveil.io.formats import FORMATS, Format
from graphveil.io.readers.columnar import name_no_version, settings_of, write_tables
from graphveil.io.readers.delimited import block_writer, check_spelling
from graphveil.io.writing import opened

WRITABLE = ("csv", "tsv", "text", "parquet", "arrow")
"""The formats that can be written a block at a time."""


def write_pairs(
    tables: Iterable[pa.Table], path: Path, *, form: Format, names: pa.Array | None
) -> None:
    """Write tables of users and items one below the other, as `write_bipartite` writes one."""
    waiting = iter(tables)
    first = next(waiting)
    with opened(path, form) as stream:
        if form.module == "columnar":
            write_tables(chain([first], waiting), stream, form)
            return
        if names is not None:
            check_spelling(names, form)
        write = block_writer([names], tuple(first.column_names), stream, form)
        for table in chain([first], waiting):
            write(table)


GROUP_ROWS = 1 << 17
"""So many rows has every row group of a file but the last."""

_LEAVES = "items.list.element"
_ONE_PAGE = {"data_page_size": 1 << 30, "dictionary_pagesize_limit": 1 << 30}
"""A group has one page a column: where versions of the library end a page of lists differs."""


def list_schema(item: pa.DataType) -> pa.Schema:
    """Return the columns of users with lists of items, which may be long."""
    leaf = item if pa.types.is_integer(item) else pa.large_string()
    return pa.schema([("user", pa.int64()), ("items", pa.large_list(leaf))])


def write_lists(groups: Iterable[pa.Table], path: Path) -> None:
    """Write users with their items into a file, a row group a table."""
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
    """Yield the same rows in tables of these sizes, however they come."""
    coming = iter(tables)
    waiting: list[pa.Table] = []
    n = 0
    for size in sizes:
        while n < size or not waiting:
            table = next(coming, None)
            if table is None:
                raise ValueError(f"{counted(n, 'row', 'is')} left, but {size} are needed")
            waiting.append(table)
            n += table.num_rows
        rows = pa.concat_tables(waiting)
        yield rows.slice(0, size).combine_chunks()
        waiting, n = [rows.slice(size)], n - size
    n += sum(table.num_rows for table in coming)
    if n:
        raise ValueError(f"{counted(n, 'row', 'is')} left, but none is needed")
